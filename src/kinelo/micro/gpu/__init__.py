"""Matches on a graphics processor: the same formulas, the same random stream, the same bytes."""
