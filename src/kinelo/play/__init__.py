"""One match, compiled: the formulas of the model, each written once, for processor loops, raters and other devices.

What may be touched: a seed promises the same bytes for ever and on every device. In a function marked ``@formula``
neither an operation, nor the order of two of them, nor the number of a draw may change; the tests hold runs of earlier
versions. Names, words and functions without that mark are free. A new law adds a branch and leaves the others alone.
"""
