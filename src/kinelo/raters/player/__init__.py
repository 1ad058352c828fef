"""Ratings of players, from line-ups."""
