"""Figure 10: How much the map shrinks, over ν and σ."""
