"""A real league held against the theory: what its matches say, what its ratings do, what K should be."""
