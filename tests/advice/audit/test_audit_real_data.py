"""The best K by theory against the backtest, on leagues that were played."""

import math

import pytest

import kinelo as kn

LATEST = 6000


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "columns"),
    [
        pytest.param("nba/matches.csv", {"home": "home_id", "away": "away_id"}, marks=pytest.mark.long),
        ("wyscout/matches.csv", {"result": "outcome_home_onpitch"}),
        pytest.param("worldcup/matches.csv", {"result": "outcome_home_onpitch"}, marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_k_is_near_the_best_one(match_data, file, columns):
    found = kn.audit(kn.read_matches(match_data / file, columns=columns)[-LATEST:])
    best, measured = found.curve.best.k, found.measured
    lost = measured.at(best) - measured.at(measured.best)
    assert abs(math.log(best / measured.best)) <= math.log(1.1) or lost < 0.0003
    assert found.advice.agree
