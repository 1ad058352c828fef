"""Figure 6: The scale ν at σ = 2, and how long small ν takes."""
