"""Ratings from contests of many entrants."""
