"""What to play next, and when to stop: tests of two sides, the choice of pairs, stops of rankings, wrong ratings."""
