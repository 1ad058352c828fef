"""Figure 3: Ratings with a deviation: RD that settles, and a scale that travels."""
