"""Elo of sides."""
