"""Raters of real matches: one folder each, on one protocol."""
