"""Runs on disk: atomic, resumable, with provenance."""
