"""Figure 2: Whole rounds at once: where ratings begin to alternate."""
