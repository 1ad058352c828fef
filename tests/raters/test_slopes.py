"""Derivatives of losses from batch, against central differences of the losses themselves."""

import copy
from functools import cache

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.forecasts.fit import estimate
from kinelo.forecasts.scores import log_loss

APART = 3e-4
"""Twins stand a hundred thousandth apart, which is how far their one-sided differences may be off, times curvatures."""

SKIPPED = 150
"""A quarter of the matches, as in fits."""


@cache
def league(n: int = 600, sides: int = 12, seed: int = 5, draws: bool = True) -> kn.matches.Matches:
    """Matches with margins (some missing), neutral venues, weights, rests of years and newcomers on the way."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, 1, sides)
    entered = 4 + np.arange(n) * (sides - 4) // n
    home = rng.integers(0, entered)
    away = (home + rng.integers(1, entered)) % entered
    margin = np.round(strength[home] - strength[away] + 0.3 + rng.normal(0, 1.5, n) + (0.0 if draws else 0.5)) - (
        0.0 if draws else 0.5
    )
    day = np.cumsum(np.where(rng.random(n) < 0.03, 200, 2))
    return kn.read_matches(
        {
            "date": np.datetime64("2000-01-01") + day,
            "home": [f"side {k}" for k in home],
            "away": [f"side {k}" for k in away],
            "result": (np.sign(margin) + 1) / 2,
            "margin": np.where(rng.random(n) < 0.1, np.nan, margin),
            "neutral": rng.random(n) < 0.2,
            "weight": rng.choice([0.5, 1.0, 2.0], n),
        }
    )


def with_conditions(matches: kn.matches.Matches, seed: int = 11, **more) -> kn.matches.Matches:
    """The same with two conditions, some values missing, one level late."""
    rng = np.random.default_rng(seed)
    surface = rng.choice(["clay", "grass", ""], len(matches), p=[0.5, 0.35, 0.15])
    surface[len(matches) // 2 :: 3] = "hard"
    columns = {"surface": surface, "round": rng.choice(["1", "2"], len(matches))}
    table = matches.to_polars().with_columns(**{name: pl.Series(values) for name, values in columns.items()})
    return kn.read_matches(table, conditions=["surface", "round"], **more)


SPREADS = {"spread by surface": 0.6, "spread by round": 0.2}


def losses(rater, matches, values):
    twin = copy.copy(rater)
    twin._reset(values)
    return log_loss(twin.one_step_ahead(matches).probabilities[SKIPPED:], matches.result[SKIPPED:])


def check(rater, matches, values):
    """Every slope is the central (at an end of the range: one-sided) difference of the losses."""
    twin = copy.copy(rater)
    twin._reset(values)
    found = twin._slopes(matches, SKIPPED)
    assert set(found.names) == {p.name for p in rater._open_parameters()}
    for name, slope in zip(found.names, found.by.T):
        value = values[name]
        h = 1e-4 * max(abs(value), 1e-2)
        if value == 0.0:
            low, middle, high = (losses(rater, matches, values | {name: k * h}) for k in range(3))
            difference = (4.0 * middle - 3.0 * low - high) / (2.0 * h)
        else:
            high, low = (losses(rater, matches, values | {name: value + side * h}) for side in (1, -1))
            difference = (high - low) / (2.0 * h)
        scale = max(np.abs(difference).max(), 1e-8)
        assert np.abs(slope - difference).max() < APART * scale + 1e-7, name


def prepared(rater, matches):
    """A rater as its search sees it: all that ``fit`` settles before, and nothing sought."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_learn", "_conclude"):
            patch.setattr(type(rater), name, lambda *_: None)
        return rater.fit(matches)


TEAM = {
    "usual": {},
    "at zero": {"regression": 0.0, "newcomer_boost": 0.0, "spread": 0.0},
    "far": {"spread": 160.0, "contraction": 3.0, "step": 60.0, "ties": 2.0, "home_step": 3.0},
}


@pytest.mark.parametrize("change", TEAM)
@pytest.mark.parametrize("draws", [True, False])
def test_slopes_of_team_elo(change, draws):
    matches = league(draws=draws)
    rater = prepared(kn.TeamElo(sharpness_walk=0.0, ties_walk=0.0), matches)
    values = {p.name: p.default for p in rater._declared_parameters} | TEAM[change] | rater._unidentified
    assert set(rater._open_parameters())
    check(rater, matches, values)


@pytest.mark.parametrize("change", ["usual", "far"])
def test_slopes_of_team_elo_under_conditions(change):
    matches = with_conditions(league())
    rater = prepared(kn.TeamElo(conditions=["surface", "round"], sharpness_walk=0.0, ties_walk=0.0), matches)
    values = {p.name: p.default for p in rater._open_parameters()} | TEAM[change]
    check(rater, matches, values | {name: 150.0 * spread for name, spread in SPREADS.items()})


def test_batches_and_single_passes_find_one_optimum():
    matches = league(1500)
    rater = prepared(kn.TeamElo(contraction=1.5, margin_scale=1.5, sharpness_walk=0.0, ties_walk=0.0), matches)

    class Blind:
        """The same rater without its batch."""

        _open_parameters = staticmethod(rater._open_parameters)

        def __init__(self):
            self.inner = copy.copy(rater)

        def _reset(self, estimated=None):
            self.inner = copy.copy(rater)
            self.inner._reset(estimated)

        def one_step_ahead(self, matches):
            return self.inner.one_step_ahead(matches)

    batch, passes = estimate(rater, matches), estimate(Blind(), matches)
    assert -0.1 < batch.log_likelihood - passes.log_likelihood < 0.3  # passes see slopes through differences


GAUSSIAN = {
    "usual": {},
    "at zero": {"regression": 0.0, "opponent_prior": 0.0},
    "far": {"regression": 1.0, "walk": 0.8, "prior_spread": 0.3, "doubt": 3.0, "sharpness": 0.5, "venue_walk": 0.2},
}


@pytest.mark.parametrize("change", GAUSSIAN)
@pytest.mark.parametrize("draws", [True, False])
@pytest.mark.parametrize("in_noises", [True, False])
def test_slopes_of_kalman_elo_without_covariance(change, draws, in_noises):
    matches = league(draws=draws)
    rater = prepared(kn.KalmanElo(noise=1.0, covariance="diagonal"), matches)
    rater._in_noises = in_noises
    values = {p.name: p.default for p in rater._declared_parameters} | GAUSSIAN[change] | rater._unidentified
    values.pop("noise")
    check(rater, matches, values)


@pytest.mark.parametrize("change", GAUSSIAN)
def test_slopes_of_kalman_elo_with_covariance(change):
    matches = league()
    rater = prepared(kn.KalmanElo(noise=1.0, covariance="full"), matches)
    values = {p.name: p.default for p in rater._declared_parameters} | GAUSSIAN[change] | rater._unidentified
    values.pop("noise")
    check(rater, matches, values)


def test_slopes_of_kalman_elo_under_conditions():
    matches = with_conditions(league())
    rater = prepared(kn.KalmanElo(noise=1.0, covariance="diagonal", conditions=["surface", "round"]), matches)
    check(rater, matches, {p.name: p.default for p in rater._open_parameters()} | SPREADS)


PLAYER = {
    "usual": {},
    "at zero": {"regression": 0.0, "team_prior": 0.0, "newcomer_correlation": 0.0},
    "far": {"regression": 1.0, "walk": 1.0, "newcomer": -2.0, "doubt": 3.0, "sharpness": 0.5, "venue_walk": 0.2},
}
# Each once and more; all together in `make test-long`.
TOGETHER = [("starters", "usual"), ("starters", "far"), ("minutes", "far"), ("none", "at zero")]
PLAYED_AS = {"usual": ("mean", "full"), "at zero": ("mean", "diagonal"), "far": ("sum", "full")}


def lineups_of(matches: kn.matches.Matches, seed: int = 8) -> dict:
    """Squads of seven of whom three to five play, some line-ups missing, some roles."""
    rng = np.random.default_rng(seed)
    table = matches.to_polars()
    rows = []
    for match in table.iter_rows(named=True):
        for side in ("home", "away"):
            if rng.random() < 0.15:
                continue
            players = rng.permutation(7)[: rng.integers(3, 6)]
            for place, player in enumerate(players):
                name, role = f"{match[side]} player {player}", "keeper" if player < 2 else "field"
                rows.append((match["match_id"], side, name, place < 3, float(rng.integers(10, 90)), role))
    columns = zip(*rows)
    names = ("match_id", "side", "player", "starter", "minutes", "role")
    return {name: list(values) for name, values in zip(names, columns)}


@cache
def with_lineups() -> kn.matches.Matches:
    return kn.read_matches(league().to_polars(), lineups=lineups_of(league()))


@pytest.mark.parametrize(
    ("known", "change"),
    [pytest.param(known, change, marks=() if (known, change) in TOGETHER else pytest.mark.long)
     for known in ("starters", "minutes", "none") for change in PLAYER],
)  # fmt: skip
def test_slopes_of_player_elo(change, known):
    matches = with_lineups()
    strength, covariance = PLAYED_AS[change]
    rater = kn.PlayerElo(noise=1.0, known=known, strength=strength, covariance=covariance)
    rater = prepared(rater, matches)
    open_names = {p.name for p in rater._open_parameters()}
    values = {p.name: p.default for p in rater._open_parameters()} | PLAYER[change]
    values = {name: value for name, value in values.items() if name in open_names}
    assert "weight of role keeper" in open_names
    check(rater, matches, values)


@pytest.mark.parametrize(
    ("known", "covariance"),
    [("starters", "full"), ("minutes", "diagonal"), pytest.param("none", "full", marks=pytest.mark.long)],
)
def test_slopes_of_player_elo_under_conditions(known, covariance):
    plain = league()
    matches = with_conditions(plain, lineups=lineups_of(plain))
    conditions = ["surface", "round"]
    rater = kn.PlayerElo(noise=1.0, known=known, role_weights={}, conditions=conditions, covariance=covariance)
    rater = prepared(rater, matches)
    check(rater, matches, {p.name: p.default for p in rater._open_parameters()} | SPREADS)
