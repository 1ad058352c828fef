"""Glicko and Glicko-2."""
