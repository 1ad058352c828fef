"""The Explore tab: a league that plays, and what theory says about it."""
