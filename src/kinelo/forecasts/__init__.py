"""What is said before a match and how good it was: forecasts, scores, estimation, backtests."""
