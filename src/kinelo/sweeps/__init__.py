"""Sweeps: one function at many points, here or on many machines, with every point stored as it ends."""
