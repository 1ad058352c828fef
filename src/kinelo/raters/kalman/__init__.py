"""Elo with its uncertainty: a Kalman filter."""
