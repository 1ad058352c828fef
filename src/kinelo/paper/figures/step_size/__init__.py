"""Figure 7: Slope of the map against the step size γ, and the unbiased γ*."""
