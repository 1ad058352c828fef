"""Elo of sides, and the scores of their matches."""
