"""The lab: a page in the browser that shows ratings move, rates a league, and holds the reproduction of the paper."""
