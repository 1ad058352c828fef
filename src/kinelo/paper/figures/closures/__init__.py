"""Figure 8: Expected results and stationary maps: exact against Taylor."""
