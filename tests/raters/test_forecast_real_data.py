"""Forecasts of real matches stay as good as they were measured to be; short spans keep this quick."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.forecasts.scores import log_loss

pytestmark = pytest.mark.data


def test_filter_on_internationals(match_data):
    """Parameters in the neighbourhood of the estimates on 1990–2004; the full fit is left to the benchmark."""
    matches = kn.read_matches(match_data / "intl_football" / "matches.csv").since("1990-01-01")
    values = {
        "walk": 0.13,
        "prior_spread": 2.6,
        "noise": 1.26,
        "home_spread": 0.24,
        "venue_walk": 0.03,
        "newcomer": -5.0,
        "regression": 0.0,
        "margin_power": 0.7,
        "sharpness": 1.34,
        "ties": 0.45,
    }
    rater = kn.KalmanElo(**values).fit(matches.before("2005-01-01"))
    later = matches.since("2005-01-01")
    p = rater.one_step_ahead(later).probabilities
    assert len(later) == 20_592
    assert log_loss(p, later.result).mean() < 0.868
    for k, sign in enumerate((1, 0, -1)):
        # Two standard errors of a frequency over 20,592 matches are .007; draws have become rarer since 2005.
        assert p[:, k].mean() == pytest.approx(np.mean(later.signed == sign), abs=0.015)


def test_line_ups_help_on_basketball(match_data):
    folder = match_data / "nba"
    columns = {"home": "home_id", "away": "away_id"}
    matches = kn.read_matches(folder / "matches.csv", lineups=folder / "lineups.parquet", columns=columns)
    values = {"walk": 0.4, "prior_spread": 0.95, "venue_walk": 0.03, "newcomer": -1.0, "team_prior": 0.2}
    values |= {"regression": 0.17, "margin_power": 0.8, "sharpness": 1.18, "ties": 0.0}
    half = len(matches) // 2
    losses = {}
    for known in ("minutes", "starters", "none"):
        rater = kn.PlayerElo(**values, known=known).fit(matches[:half])
        losses[known] = log_loss(rater.one_step_ahead(matches[half:]).probabilities, matches.result[half:]).mean()
    assert losses["minutes"] < losses["starters"] < losses["none"] < 0.619
    assert losses["starters"] < 0.613


def test_club_football_with_few_matches_is_fitted(match_data):
    """One season of the five big leagues: defaults and estimates carry over to a small set with line-ups."""
    folder = match_data / "wyscout"
    matches = kn.read_matches(folder / "matches.csv", lineups=folder / "lineups.csv")
    halfway = matches.date[len(matches) // 2]
    test = kn.backtest(matches, [kn.KalmanElo(), kn.PlayerElo()], train_until=halfway)
    constant = np.bincount((1 - test.matches.signed).astype(int), minlength=3) / len(test.matches)
    knowing_only_frequencies = -(constant * np.log(constant)).sum()
    assert (test.scores["log_loss"] < knowing_only_frequencies - 0.01).all()
