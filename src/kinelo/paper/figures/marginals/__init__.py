"""Figure 3: Marginals of the kinetic equation at t = 5."""
