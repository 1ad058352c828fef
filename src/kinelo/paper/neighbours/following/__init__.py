"""Figure 4: Form: the step that follows best, and what a deviation adds."""
