"""Figure 5: Homogeneous teams by the kinetic equation, for several σ."""
