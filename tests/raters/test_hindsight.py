"""Hindsight against one large regression over all moments, and against the truth of simulated leagues."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.errors import InputError
from kinelo.matches.matches import SideOrder

YEAR = 365.25
VALUES = {
    "walk": 0.5,
    "prior_spread": 1.3,
    "noise": 0.9,
    "home_spread": 0.0,
    "venue_walk": 0.1,
    "newcomer": -0.7,
    "opponent_prior": 0.4,
    "regression": 0.2,
    "margin_power": 1.0,
    "sharpness": 1.0,
    "ties": 0.0,
}


def league(matches=40, teams=5, seed=1):
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.choice(min(teams, 2 + k // 8), 2, replace=False) for k in range(matches)])
    table = {
        "date": (np.datetime64("2001-01-01") + np.cumsum(rng.integers(1, 90, matches))).astype(str).tolist(),
        "home": [f"T{k}" for k in pairs[:, 0]],
        "away": [f"T{k}" for k in pairs[:, 1]],
        "margin": rng.normal(0, 1.5, matches),
        "neutral": rng.random(matches) < 0.4,
        "weight": rng.choice([0.5, 1.0, 2.0], matches),
    }
    return kn.read_matches(table)


def all_moments(matches, v, stop, unit=1.0):
    """Every strength at every match as one Gaussian vector, conditioned on all margins at once."""
    pieces, rows = [], []  # each moment is (coefficients on independent standard normals, constant)

    def fresh(spread):
        pieces.append(spread)
        return len(pieces) - 1

    def grown(moment, years, rho, walk):
        f = math.exp(-rho * years)
        added = walk**2 * years if rho == 0 else walk**2 * (1 - f * f) / (2 * rho)
        coefficients = {k: f * c for k, c in moment[0].items()}
        coefficients[fresh(math.sqrt(added))] = 1.0
        return coefficients, f * moment[1]

    venue = [({fresh(v["noise"]): 1.0}, 0.0) for _ in range(2)]
    level = ({fresh(v["noise"]): 1.0}, v["newcomer"])
    strength, last, today, start = {}, {}, matches.day[0], matches.day[0]
    shown, seen = [], []
    for g in range(len(matches)):
        day, pair = matches.day[g], (matches.home[g], matches.away[g])
        years = (day - today) / YEAR
        venue = [grown(m, years, 0.0, v["venue_walk"]) for m in venue]
        level = grown(level, years, 0.0, v["walk"])
        today = day
        before = set(strength)
        for t in pair:
            if t in strength:
                strength[t] = grown(strength[t], (day - last[t]) / YEAR, v["regression"], v["walk"])
        for t, other in (pair, pair[::-1]):
            if t not in before:
                lean = v["opponent_prior"] if other in before else 0.0
                load = (1 - lean) * (1 - math.exp(-(day - start) / YEAR))
                given = {fresh(v["prior_spread"]): 1.0}
                for share, moment in ((load, level), (lean, strength.get(other, ({}, 0.0)))):
                    for k, c in moment[0].items():
                        given[k] = given.get(k, 0.0) + share * c
                base = load * level[1] + (lean * strength[other][1] if lean else 0.0)
                strength[t] = (given, base)
        last |= dict.fromkeys(pair, day)
        total, constant = {fresh(v["noise"] / math.sqrt(matches.weight[g])): 1.0}, 0.0
        for sign, moment in ((1, strength[pair[0]]), (-1, strength[pair[1]]), (1, venue[int(matches.neutral[g])])):
            constant += sign * moment[1]
            for k, c in moment[0].items():
                total[k] = total.get(k, 0.0) + sign * c
        rows.append((total, constant))
        shown.append(matches.margin[g] / unit)
        unit += (abs(matches.margin[g]) - unit) / 1000
        if g + 1 == stop:
            seen = [strength[t] for t in sorted(strength)]
    A = np.zeros((len(rows) + len(seen), len(pieces)))
    for k, (moment, _) in enumerate(rows + seen):
        A[k, list(moment)] = list(moment.values())
    cov = A @ np.diag(np.square(pieces)) @ A.T
    n = len(rows)
    gain = cov[n:, :n] @ np.linalg.inv(cov[:n, :n])
    mean = np.array([m[1] for m in seen]) + gain @ (np.array(shown) - np.array([m[1] for m in rows]))
    return mean, cov[n:, n:] - gain @ cov[:n, n:]


@pytest.mark.parametrize("stop", [6, 20, 40])
def test_hindsight_is_conditioning_on_everything(stop):
    matches = league()
    rater = kn.KalmanElo(**VALUES)
    rater._margin_unit = 1.0
    rater._order = SideOrder(home=True, neutral=True)
    rater._reset()
    tables = rater._hindsight(matches, [3, stop, 40] if stop < 40 else [3, 40])
    table = tables[1].sort("name")
    mean, cov = all_moments(matches, VALUES, stop)
    order = [int(name[1:]) for name in table["name"]]
    codes = [matches.teams.index(f"T{k}") for k in order]
    place = {code: k for k, code in enumerate(sorted({*matches.home[:stop].tolist(), *matches.away[:stop].tolist()}))}
    at = [place[code] for code in codes]
    active = table["last_played"].to_numpy() >= matches.date[stop - 1] - np.timedelta64(730, "D")
    share = active / active.sum()
    m, C = mean[at], cov[np.ix_(at, at)]
    M = np.eye(len(at)) - share[None, :]
    points = rater._points_per_unit
    np.testing.assert_allclose((table["rating"].to_numpy() - 1500) / points, m - share @ m, atol=1e-8)
    np.testing.assert_allclose(table["uncertainty"].to_numpy() / points, np.sqrt(np.diag(M @ C @ M.T)), atol=1e-8)


def test_hindsight_is_nearer_to_the_truth_and_knows_how_near():
    """12 sides, 6 years: the error of past strengths falls, and the bands hold them (mean square error near 1)."""
    rng = np.random.default_rng(2)
    days, sides, n = 6 * 365, 12, 1500
    truth = rng.normal(0, 1, sides) + np.zeros((days, 1))
    truth[1:] += np.cumsum(rng.normal(0, 0.6 / math.sqrt(YEAR), (days - 1, sides)), axis=0)
    day = np.sort(rng.integers(0, days, n))
    home = rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    margin = truth[day, home] - truth[day, away] + rng.normal(0, 1.5, n)
    table = {
        "date": (np.datetime64("2001-01-01") + day).astype(str).tolist(),
        "home": [f"{k:02d}" for k in home],
        "away": [f"{k:02d}" for k in away],
        "margin": margin,
        "neutral": [True] * n,
    }
    matches = kn.read_matches(table)
    unit = float(np.abs(margin).mean())
    known = {"walk": 0.6 / unit, "noise": 1.5 / unit, "prior_spread": 1.0 / unit, "regression": 0.0, "newcomer": 0.0}
    rater = kn.KalmanElo(**VALUES | known)
    rater._margin_unit, rater._memory = unit, 1e12  # one unit throughout, so that truth has one scale
    rater._reset()
    errors = {}
    for hindsight in (False, True):
        history = kn.rating_history(rater, matches, points=12, hindsight=hindsight)
        history = history.filter(history["date"] > history["date"].min())
        at = (history["last_played"].to_numpy() - np.datetime64("2001-01-01")).astype(int)
        true = (truth[at, history["name"].to_numpy().astype(int)] - truth[at].mean(axis=1)) / unit
        error = (history["rating"].to_numpy() - 1500) / rater._points_per_unit - true
        errors[hindsight] = np.sqrt(np.mean(error**2))
        assert 0.6 < np.mean((error / history["uncertainty"].to_numpy() * rater._points_per_unit) ** 2) < 1.5
    assert errors[True] < 0.85 * errors[False]


def test_no_hindsight_without_a_filter():
    with pytest.raises(InputError, match="has no hindsight"):
        kn.rating_history(kn.TeamElo.classic(), league(), hindsight=True)
