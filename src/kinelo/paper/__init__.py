"""The reproduction: every figure and claim of the paper, in one report."""
