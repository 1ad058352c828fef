"""A subclass that says one_step_ahead anew: fit estimates and rates by what it says."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize_scalar

import kinelo as kn
from kinelo.forecasts.fit import says_anew
from kinelo.forecasts.parameters import estimated
from kinelo.forecasts.scores import log_loss

TEAM = {
    "home_advantage": 40.0, "newcomer_boost": 1.0, "settling_matches": 10.0, "ties": 0.5, "spread": 60.0,
    "margin_weight": 0.0, "margin_scale": 1.0, "contraction": 1.0, "regression": 0.1, "home_step": 0.0,
    "ties_walk": 0.0, "sharpness_walk": 0.0,
}  # fmt: skip
KALMAN = {
    "walk": 0.1, "prior_spread": 0.8, "noise": 1.0, "home_spread": 0.1, "venue_walk": 0.03, "newcomer": 0.0,
    "opponent_prior": 0.3, "regression": 0.05, "margin_power": 1.0, "ties": 0.4, "doubt": 1.0, "ties_walk": 0.0,
    "covariance": "diagonal", "sharpness_walk": 0.0,
}  # fmt: skip


class Careful:
    """Forecasts half as far from even chances; every match that was forecast is counted."""

    seen = 0

    def one_step_ahead(self, matches):
        said = super().one_step_ahead(matches)
        self.seen += len(matches)
        return kn.forecasts.Forecast(0.5 * said.probabilities + 1 / 6, said.unknown, matches)


class CarefulTeamElo(Careful, kn.TeamElo):
    pass


class CarefulKalmanElo(Careful, kn.KalmanElo):
    pass


@pytest.fixture(scope="module")
def matches():
    return kn.read_matches(kn.sample_league(teams=10, seasons=3, seed=2).results)


def best(make, matches, bounds):
    """The value whose forecasts lose least."""
    skipped = int(0.25 * len(matches))

    def loss(value):
        rater = make(value)
        rater._order = kn.raters.Rater._order
        rater._prepare(matches)
        said = rater.one_step_ahead(matches).probabilities
        return log_loss(said[skipped:], matches.result[skipped:]).sum()

    return minimize_scalar(loss, bounds=bounds, method="bounded").x


@pytest.mark.parametrize(
    ("kind", "own", "name", "given", "bounds"),
    [
        (CarefulTeamElo, kn.TeamElo, "step", TEAM, (0.5, 200.0)),
        (CarefulKalmanElo, kn.KalmanElo, "sharpness", KALMAN, (0.2, 5.0)),
    ],
)
def test_fit_estimates_by_what_the_subclass_says(matches, kind, own, name, given, bounds):
    assert says_anew(kind()) and not says_anew(own())
    rater = kind(**given).fit(matches)
    assert rater.seen == len(matches)  # rated once, by what it says; the search asks copies
    found, error = rater.parameters_[name], rater.estimates_.standard_errors[name]
    # A wide prior pulls by a part of a standard error.
    assert found == pytest.approx(best(lambda value: kind(**given, **{name: value}), matches, bounds), abs=0.5 * error)
    assert found > own(**given).fit(matches).parameters_[name] + 0.5 * error  # careful forecasts ask for bolder numbers


@dataclass(eq=False, repr=False)
class Draws(kn.raters.Rater):
    """Draws are likely, whoever plays."""

    share: float | None = estimated(0.2, 0.01, 0.9, True, "chance of a draw")

    def _fresh(self, values):
        return SimpleNamespace(latest=-(2**62))

    def one_step_ahead(self, matches):
        drawn = self.parameters_["share"]
        return kn.forecasts.Forecast(np.tile([(1 - drawn) / 2, drawn, (1 - drawn) / 2], (len(matches), 1)))

    @property
    def ratings_(self):
        return pl.DataFrame()


def test_a_rater_that_says_one_step_ahead_alone_is_fitted(matches):
    scored = matches.result[int(0.25 * len(matches)) :]
    drawn, rater = float(np.mean(scored == 0.5)), Draws().fit(matches)
    error = np.sqrt(drawn * (1 - drawn) / scored.size)
    assert rater.parameters_["share"] == pytest.approx(drawn, abs=0.1 * error)
    assert rater.update(matches).estimates_.standard_errors["share"] == pytest.approx(error, rel=0.2)


@pytest.mark.parametrize("kind", [kn.TeamElo, kn.TeamElo.classic, kn.Glicko, kn.KalmanElo, kn.PlayerElo, kn.RankElo])
def test_raters_of_kinelo_speak_for_themselves(kind):
    assert not says_anew(kind())
