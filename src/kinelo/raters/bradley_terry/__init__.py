"""The batch estimate for contestants that do not change."""
