"""One match, compiled: the formulas of the model, each written once, for processor loops, raters and other devices."""
