"""One match, compiled."""
