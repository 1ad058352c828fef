"""The kinetic equation: the density of teams in (θ, σ, r) and how it moves."""
