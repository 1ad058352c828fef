"""Real matches: reading them, rating teams and players, forecasting, keeping a rating book."""
