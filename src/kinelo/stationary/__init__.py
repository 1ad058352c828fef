"""Where ratings end up, how noisy they are and how long it takes, without waiting for it."""
