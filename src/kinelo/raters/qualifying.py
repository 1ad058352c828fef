"""Who counts as active, who has played enough and how much is told, in numbers: each stands here once, whoever shows
ratings.
"""

from __future__ import annotations

ACTIVE_DAYS = 365
"""Days without a match up to which somebody is active: leaderboards ask who plays now."""

REFERENCE_DAYS = 730
"""Who played within two years of the last match makes the average of a league: who rests for a season stays in it."""

LEAST_MATCHES = 10
"""Matches or contests from which on somebody is ranked."""

LAST_EXPLAINED = 10
"""Matches of somebody that are explained unless another number is asked for."""

CAUTION, CONTEST_CAUTION = 2.0, 0.0
"""Standard deviations taken off a rating before sides or players, and entrants of contests, are sorted."""
