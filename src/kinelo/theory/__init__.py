"""Where ratings end up, how noisy they are, how long it takes."""
