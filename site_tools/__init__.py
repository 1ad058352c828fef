"""What the documentation site is made of beside its pages: reference, notebooks, checks."""
