"""Figure 9: What decays and what does not: E, the distance to R*, the second moment."""
