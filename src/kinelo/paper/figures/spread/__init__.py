"""Figure 1: Spread of the teams' strength in set-ups R1 and R2."""
