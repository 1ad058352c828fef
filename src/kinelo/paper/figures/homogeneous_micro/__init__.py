"""Figure 4: Homogeneous teams, match by match, for several σ."""
