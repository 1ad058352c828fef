"""Figure 2: Stationary team distributions, set-ups R1 and R2."""
