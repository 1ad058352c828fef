"""How long a test waits for what is bound to come."""

PATIENCE = 900.0
"""Seconds, on a machine that has twenty other things to do and compiles meanwhile: they bound a failure alone."""
