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
        "walk": 0.085,
        "prior_spread": 1.0,
        "noise": 0.79,
        "home_spread": 0.15,
        "venue_walk": 0.015,
        "newcomer": -2.4,
        "opponent_prior": 0.57,
        "regression": 0.0,
        "margin_power": 0.72,
        "sharpness": 1.27,
        "ties": 0.43,
        "doubt": 1.75,
    }
    rater = kn.KalmanElo(**values, covariance="full").fit(matches.before("2005-01-01"))
    later = matches.since("2005-01-01")
    surprises = kn.raters.surprises(rater, later)
    assert np.mean(surprises**2) == pytest.approx(1.0, abs=0.08)
    assert np.mean(np.abs(surprises) < 1.2816) == pytest.approx(0.8, abs=0.02)
    p = rater.one_step_ahead(later).probabilities
    assert len(later) == 20_592
    assert log_loss(p, later.result).mean() < 0.8665
    for k, sign in enumerate((1, 0, -1)):
        # Two standard errors of a frequency over 20,592 matches are .007; draws have become rarer since 2005.
        assert p[:, k].mean() == pytest.approx(np.mean(later.signed == sign), abs=0.015)


@pytest.mark.long
def test_line_ups_help_on_basketball(match_data):
    folder = match_data / "nba"
    columns = {"home": "home_id", "away": "away_id"}
    matches = kn.read_matches(folder / "matches.csv", lineups=folder / "lineups.parquet", columns=columns)[-12_000:]
    values = {"walk": 0.4, "prior_spread": 0.95, "venue_walk": 0.03, "newcomer": -1.0, "team_prior": 0.2}
    values |= {"regression": 0.17, "margin_power": 0.8, "sharpness": 1.18, "ties": 0.0}
    values |= {"noise": 1.0, "doubt": 1.0, "newcomer_correlation": 0.25}
    half = len(matches) // 2
    losses = {}
    for known in ("minutes", "starters", "none"):
        rater = kn.PlayerElo(**values, known=known, covariance="diagonal").fit(matches[:half])
        losses[known] = log_loss(rater.one_step_ahead(matches[half:]).probabilities, matches.result[half:]).mean()
    assert losses["minutes"] < losses["starters"] < losses["none"] < 0.619
    assert losses["starters"] < 0.613


def test_club_football_with_few_matches_is_fitted(match_data):
    """One season of the five big leagues: defaults and estimates carry over to a small set with line-ups."""
    folder = match_data / "wyscout"
    matches = kn.read_matches(folder / "matches.csv", lineups=folder / "lineups.csv")
    halfway = matches.date[len(matches) // 2]
    raters = [kn.KalmanElo(), kn.PlayerElo(covariance="diagonal")]
    test = kn.backtest(matches, raters, train_until=halfway)
    constant = np.bincount((1 - test.matches.signed).astype(int), minlength=3) / len(test.matches)
    knowing_only_frequencies = -(constant * np.log(constant)).sum()
    assert (test.scores["log_loss"] < knowing_only_frequencies - 0.01).all()
