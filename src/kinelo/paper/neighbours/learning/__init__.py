"""Figure 1: Strengths that learn: what ratings see of them."""
