"""Strengths under conditions: what they are, where there are none, and what they gain."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.forecasts.scores import log_loss

NU = math.log(10) / 800
LEVELS = np.array(["clay", "grass", "hard"])
CONDITIONS = ["surface", "round"]
NODES, WEIGHTS = np.polynomial.hermite.hermgauss(9)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def surfaces(seed, spread, n=6000, sides=30, players=0):
    """Results of Davidson's law between sides whose strength, in points, depends on the surface; and the truth.

    With ``players`` a side is the mean of so many, drawn anew for every match from one pool.
    """
    rng = np.random.default_rng(seed)
    pool = 60 if players else sides
    own, under = rng.normal(0, 200, pool), rng.normal(0, spread, (pool, 3))
    surface = rng.integers(0, 3, n)
    if players:
        chosen = np.array([rng.permutation(pool)[: 2 * players] for _ in range(n)])
        i, j = chosen[:, :players], chosen[:, players:]
    else:
        first = rng.integers(0, sides, n)
        i, j = first[:, None], ((first + rng.integers(1, sides, n)) % sides)[:, None]
    strength = own[:, None] + under
    z = strength[i, surface[:, None]].mean(axis=1) - strength[j, surface[:, None]].mean(axis=1)
    up, kappa, u = np.exp(NU * z), 0.5, rng.random(n)
    chances = np.column_stack([up, np.full(n, kappa), 1 / up]) / (up + kappa + 1 / up)[:, None]
    result = np.where(u < chances[:, 0], 1.0, np.where(u < chances[:, 0] + chances[:, 1], 0.5, 0.0))
    table = {
        "date": np.datetime64("2010-01-01") + np.sort(rng.integers(0, 2000, n)),
        "home": [f"{k:03d}" for k in (np.arange(n) % 7 if players else i[:, 0])],
        "away": [f"{k:03d}" for k in (7 + np.arange(n) % 7 if players else j[:, 0])],
        "result": result,
        "neutral": [True] * n,
        "surface": LEVELS[surface],
    }
    if players:
        names = np.array([f"p{k:03d}" for k in range(pool)])
        table |= {"home_lineup": names[i].tolist(), "away_lineup": names[j].tolist()}
    return kn.read_matches(table, conditions=["surface"], ordered=True), under, chances


def loss(rater, matches):
    half = len(matches) // 2
    said = rater.fit(matches[:half]).one_step_ahead(matches[half:]).probabilities
    return log_loss(said, matches.result[half:]).mean()


def best_possible(matches, levels, spread, own=200.0, kappa=0.5):
    """Loss, over the second half, of one who knows the law and its spreads and keeps the covariance of everything.

    ``levels`` is 0 where strengths under surfaces are not heeded; strengths do not change here. The law's curvature is
    taken at the mean, so this is the best up to its own approximation.
    """
    names = len(matches.teams)
    surface = matches.conditions["surface"].codes
    x, C = np.zeros(names * (1 + levels)), np.diag(np.repeat([own**2, spread**2], [names, names * levels]))
    said = np.empty((len(matches), 3))
    for k, (i, j, result) in enumerate(zip(matches.home, matches.away, matches.result)):
        pick = [i, j] if not levels else [i, j, names + 3 * i + surface[k], names + 3 * j + surface[k]]
        signs = np.array([1.0, -1.0] * (len(pick) // 2))
        column = C[:, pick] @ signs
        z, doubt = signs @ x[pick], signs @ column[pick]
        z += np.sqrt(2 * doubt) * NODES
        up = np.exp(NU * z)
        p = np.column_stack([up, np.full(z.size, kappa), 1 / up]) / (up + kappa + 1 / up)[:, None]
        said[k] = WEIGHTS @ p
        b, either = p[4, 0] - p[4, 2], p[4, 0] + p[4, 2]
        information = NU**2 * (either - b * b)
        gain = column / (1 + information * doubt)
        x += gain * NU * (2 * result - 1 - b)
        C -= information * np.outer(gain, column)
    half = len(matches) // 2
    return log_loss(said[half:], matches.result[half:]).mean()


def test_team_elo_gains_what_can_be_gained():
    """Spreads of 100 points by surface: .0182 is there to be gained, .0180 is; without any .00002 is lost.

    The standard error of a difference is near .002 and .0002; fixed seeds.
    """
    matches, under, _ = surfaces(1, 100.0)
    rater = kn.TeamElo(conditions=["surface"])
    gain = loss(kn.TeamElo(), matches) - loss(rater, matches)
    assert gain > 0.85 * (best_possible(matches, 0, 0.0) - best_possible(matches, 3, 100.0)) > 0.01
    found, error = (one["spread by surface"] for one in (rater.estimates_.values, rater.estimates_.standard_errors))
    assert abs(found - under.std()) < 3 * error and error == pytest.approx(10, rel=0.4)
    table = rater.strengths_by("surface").sort("name", "surface")["rating"].to_numpy().reshape(-1, 3)
    assert np.corrcoef(table.ravel(), (under - under.mean(axis=1, keepdims=True)).ravel())[0, 1] > 0.6
    matches, _, _ = surfaces(2, 0.0)
    rater = kn.TeamElo(conditions=["surface"])
    assert loss(rater, matches) < loss(kn.TeamElo(), matches) + 0.0005
    assert rater.parameters_["spread by surface"] < 25


@pytest.mark.long
def test_players_take_along_what_they_are_good_at():
    """Pairs mixed anew for every match, players with spreads of 100 points: .012 gained, and nothing lost without."""
    matches, under, _ = surfaces(1, 100.0, players=2)
    rater = kn.PlayerElo(covariance="diagonal", conditions=["surface"])
    assert loss(rater, matches) < loss(kn.PlayerElo(covariance="diagonal"), matches) - 0.008
    assert 50 < rater._points_per_unit * rater.parameters_["spread by surface"] < 150
    table = rater.strengths_by("surface").sort("name", "surface")["rating"].to_numpy().reshape(-1, 3)
    assert np.corrcoef(table.ravel(), (under - under.mean(axis=1, keepdims=True)).ravel())[0, 1] > 0.55
    matches, _, _ = surfaces(2, 0.0, players=2)
    plain, by_surface = (kn.PlayerElo(covariance="diagonal", conditions=names) for names in ((), ["surface"]))
    assert loss(by_surface, matches) < loss(plain, matches) + 0.0005


def two_conditions(n=240, seed=3, blank=False, lineups=False):
    """A small league of ten sides with two conditions, some values missing and a level that comes late."""
    rng = np.random.default_rng(seed)
    home = rng.integers(0, 10, n)
    away = (home + rng.integers(1, 10, n)) % 10
    surface = rng.choice(["clay", "grass", ""], n, p=[0.5, 0.3, 0.2])
    surface[n // 2 :: 4] = "hard"
    table = {
        "date": np.datetime64("2020-01-01") + np.arange(n) // 3,
        "home": [f"s{k}" for k in home],
        "away": [f"s{k}" for k in away],
        "margin": rng.integers(-3, 4, n),
        "surface": [""] * n if blank else surface,
        "round": [""] * n if blank else rng.choice(["1", "2"], n),
    }
    if lineups:
        table |= {
            f"{side}_lineup": [[f"{name} {k}" for k in rng.permutation(4)[:3]] for name in table[side]]
            for side in ("home", "away")
        }
    return kn.read_matches(table, conditions=CONDITIONS, ordered=True)


def sides(matches):
    """Names of both sides of every match."""
    names = np.array(matches.teams)
    return names[matches.home].tolist(), names[matches.away].tolist()


def fixture(**levels):
    """The same fixture under given levels."""
    table = {"date": ["2020-06-01"], "home": ["s1"], "away": ["s2"], **{name: [v] for name, v in levels.items()}}
    return kn.read_matches(table, conditions=list(levels), played=False)


KINDS = {
    "team": lambda **k: kn.TeamElo(**k),
    "diagonal": lambda **k: kn.KalmanElo(covariance="diagonal", **k),
    "full": lambda **k: kn.KalmanElo(covariance="full", **k),
    "player": lambda **k: kn.PlayerElo(**k),
}


def rated(kind, **more):
    return KINDS[kind](conditions=CONDITIONS).update(two_conditions(lineups=kind == "player", **more))


@pytest.mark.parametrize("kind", KINDS)
def test_without_values_nothing_is_different(kind):
    """A side of unknown level plays with its own strength: a rater that heeds conditions is the one that does not."""
    matches = two_conditions(blank=True, lineups=kind == "player")
    plain, heeding = KINDS[kind](), KINDS[kind](conditions=CONDITIONS)
    one, other = (rater.one_step_ahead(matches).probabilities for rater in (plain, heeding))
    assert one.tobytes() == other.tobytes()
    assert plain.ratings_.equals(heeding.ratings_)


@pytest.mark.parametrize("kind", KINDS)
def test_a_level_never_met_is_the_own_strength(kind):
    rater = rated(kind)
    own, strange, clay = (
        rater.predict(fixture(surface=level, round="")).probabilities for level in ("", "carpet", "clay")
    )
    assert own.tobytes() == strange.tobytes()
    assert abs(own - clay).max() > 1e-4


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_end_at_the_bits_of_the_whole(kind):
    matches = two_conditions(lineups=kind == "player")
    whole, parts = (KINDS[kind](conditions=CONDITIONS) for _ in range(2))
    said = whole.one_step_ahead(matches).probabilities
    told = [parts.one_step_ahead(matches[k : k + 50]).probabilities for k in range(0, len(matches), 50)]
    assert np.concatenate(told).tobytes() == said.tobytes()
    for name in CONDITIONS:
        assert parts.strengths_by(name).equals(whole.strengths_by(name))
    kept = KINDS[kind](conditions=CONDITIONS)
    kept.from_arrays(whole.to_arrays())
    later = replace(matches, date=matches.date + np.timedelta64(1000, "D"))
    assert kept.update(later).ratings_.equals(whole.update(later).ratings_)
    assert kept.strengths_by("surface").equals(whole.strengths_by("surface"))


def test_team_elo_learns_levels_as_its_equations_say():
    """The update written out in plain numbers, with Davidson's chances from their definition."""
    matches = two_conditions(60)
    step, kappa, home, spread = 12.0, 0.4, 30.0, kn.TeamElo._condition_spread[0]
    nu = NU * (2 + kappa) / 2  # in points of expected score
    given = {"home_advantage": home, "ties": kappa, "spread": 0.0, "margin_weight": 0.0, "regression": 0.0}
    rater = kn.TeamElo(step, 0.0, 1.0, **given, conditions=CONDITIONS).update(matches)
    R, d, v = {}, {}, {}
    levels = list(zip(*(matches.conditions[name].names().to_list() for name in CONDITIONS)))
    for i, j, S, at in zip(*sides(matches), 2 * matches.result - 1, levels):
        keys = [(side, sign, c, level) for side, sign in ((i, 1), (j, -1)) for c, level in enumerate(at) if level]
        z = R.get(i, 1500) - R.get(j, 1500) + home + sum(s * d.get((t, c, x), 0) for t, s, c, x in keys)
        win, draw, loss_ = np.exp(nu * z), kappa, np.exp(-nu * z)
        total = win + draw + loss_
        b, both = (win - loss_) / total, (win + loss_) / total
        information = nu**2 * (both - b * b)
        G = 1 + information * sum(v.get((t, c, x), spread**2) for t, _, c, x in keys)
        for t, s, c, x in keys:
            before = v.get((t, c, x), spread**2)
            d[t, c, x] = d.get((t, c, x), 0) + s * before * nu * (S - b) / G
            v[t, c, x] = before - before**2 * information / G
        R[i], R[j] = R.get(i, 1500) + step * (S - b), R.get(j, 1500) - step * (S - b)
    assert {n: pytest.approx(r, abs=1e-9) for n, r in R.items()} == dict(rater.ratings_.select("name", "rating").rows())
    for c, name in enumerate(CONDITIONS):
        for side, level, added, doubt in rater.strengths_by(name).rows():
            key = (side, c, level)
            assert added == pytest.approx(d.get(key, 0), abs=1e-9)
            assert doubt == pytest.approx(math.sqrt(v.get(key, spread**2)))


def test_one_player_a_side_is_the_filter_of_sides():
    """Players of whom each is a side learn strengths and levels as the filter without covariance does.

    All meet on the first day, because the two have other ideas of those who come later.
    """
    table = two_conditions().to_polars()
    table = table.with_columns(
        date=pl.when(pl.int_range(pl.len()) < 60).then(pl.col("date").min()).otherwise("date"), neutral=pl.lit(True),
        home_lineup=pl.concat_list("home"), away_lineup=pl.concat_list("away"),
    )  # fmt: skip
    matches = kn.read_matches(table, conditions=CONDITIONS)
    shared = {"walk": 0.2, "prior_spread": 0.9, "noise": 1.1, "venue_walk": 0.01, "newcomer": 0.0, "regression": 0.3}
    alone = {"team_prior": 0.0, "newcomer_correlation": 0.0, "squad_spread": 0.0, "squad_walk": 0.0}
    players = kn.PlayerElo(**shared, **alone, conditions=CONDITIONS)
    teams = kn.KalmanElo(**shared, home_spread=0.0, opponent_prior=0.0, covariance="diagonal", conditions=CONDITIONS)
    for rater in (players, teams):
        rater._condition_spread = (0.4, 0.1, 1.0)
        rater.update(matches)
    for name in CONDITIONS:
        one, other = (r.strengths_by(name).sort("name", name) for r in (players, teams))
        assert one.select("name", name).equals(other.select("name", name))
        for column in ("rating", "uncertainty"):
            np.testing.assert_allclose(one[column], other[column], rtol=1e-9, atol=1e-9)


def test_one_match_after_the_other_says_its_levels():
    matches = two_conditions(60)
    rater, one = (kn.TeamElo(10.0, conditions=CONDITIONS) for _ in range(2))
    rater.update(matches)
    levels = [dict(zip(CONDITIONS, at)) for at in zip(*(matches.conditions[n].names().to_list() for n in CONDITIONS))]
    home, away = sides(matches)
    for k, at in enumerate(levels):
        given = {"date": matches.date[k], "conditions": at}
        one.update_one(home[k], away[k], float(matches.result[k]), **given)
    assert one.ratings_.sort("name").equals(rater.ratings_.sort("name"))
    told = [r.strengths_by("surface").sort("name", "surface") for r in (one, rater)]
    assert told[0].equals(told[1])
    with pytest.raises(kn.InputError, match="'weather' is no condition of this rater"):
        one.update_one("s1", "s2", 1, conditions={"weather": "rain"})


@pytest.mark.parametrize("kind", ["team", "diagonal", "player"])
def test_what_cannot_be_is_said(kind):
    rater = rated(kind)
    assert KINDS[kind](conditions=["surface"]).strengths_by("surface").height == 0
    with pytest.raises(kn.InputError, match="'weather' is no condition of this rater; it uses"):
        rater.strengths_by("weather")
    with pytest.raises(kn.InputError, match="'round' was not read"):
        rater.predict(fixture(surface="clay"))
    for wrong, why in (("surface", "must be a list"), ([1], "names of columns"), (["a", "a"], "names a column twice")):
        with pytest.raises(kn.InputError, match=why):
            KINDS[kind](conditions=wrong).update(two_conditions(9, lineups=kind == "player"))
    with pytest.raises(kn.InputError, match="leaves no room"):
        kn.TeamElo(system=kn.RatingSystem(kn.Tanh(nu=0.003), gamma=10.0), conditions=["surface"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_differs_in_every_match_is_refused_before_the_work(kind, monkeypatch):
    monkeypatch.setattr("kinelo.raters.state.MOST_STRENGTHS", 25)
    with pytest.raises(kn.InputError, match="5 levels of surface, round are too many for"):
        rated(kind)


def test_a_cup_is_played_with_own_strengths():
    rater = rated("team")
    cup = kn.knockout(rater, ["s1", "s2"], date="2020-06-01", realisations=4000, seed=1)
    p = rater.predict(
        kn.read_matches(
            {"date": ["2020-06-01"], "home": ["s1"], "away": ["s2"], "neutral": [True], "surface": [""], "round": [""]},
            conditions=CONDITIONS, played=False,
        )
    ).probabilities[0]  # fmt: skip
    # Five standard errors of 4,000 cups.
    assert cup.reached[0, 0] == pytest.approx(p[0] / (p[0] + p[2]), abs=5 * 0.5 / math.sqrt(4000))
