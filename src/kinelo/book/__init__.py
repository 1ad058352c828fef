"""Ratings kept on disk."""
