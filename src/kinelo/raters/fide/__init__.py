"""FIDE's rating lists: the printed rules, and the rater that follows them."""
