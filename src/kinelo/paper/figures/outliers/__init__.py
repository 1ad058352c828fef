"""Figure 11: Germany and Brazil in set-up R2, against their assumed spread."""
