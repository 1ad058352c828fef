"""K* from theory against the best K by backtest, on leagues that were played."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice.audit.curve import Theory, k_grid
from kinelo.advice.audit.estimate import Calendar, estimate_league
from kinelo.advice.audit.measured import measured_curve, venue_of


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "columns"),
    [
        ("nba/matches.csv", {"home": "home_id", "away": "away_id"}),
        ("wyscout/matches.csv", {"result": "outcome_home_onpitch"}),
        ("worldcup/matches.csv", {"result": "outcome_home_onpitch"}),
    ],
)
def test_k_star_is_near_the_best_k(match_data, file, columns):
    matches = kn.read_matches(match_data / file, columns=columns)
    calendar = Calendar.of(matches)
    since = int(np.searchsorted(matches.day, matches.day[len(matches) // 2]))
    best = Theory(calendar, estimate_league(calendar), since).best().k
    measured = measured_curve(matches, since, k_grid(best), venue_of(matches[:since], best))
    lost = measured.at(best) - measured.log_loss.min()
    assert abs(math.log(best / measured.best)) <= math.log(1.25) or lost < 0.0005
