"""Hindsight of player ratings against one large regression, the filter, and the truth of simulated leagues."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.matches.matches import SideOrder
from kinelo.raters.filter import messages

YEAR = 365.25
VALUES = {
    "walk": 0.5,
    "prior_spread": 1.1,
    "venue_walk": 0.1,
    "newcomer": -0.6,
    "team_prior": 0.0,
    "newcomer_correlation": 0.0,
    "squad_spread": 0.7,
    "squad_walk": 0.4,
    "regression": 0.3,
    "noise": 0.9,
    "margin_power": 1.0,
    "sharpness": 1.0,
    "ties": 0.0,
}


def league(matches=30, players=9, seed=1):
    """Sides of three drawn anew for every match; later matches know more players."""
    rng = np.random.default_rng(seed)
    lineups = [rng.choice(min(players, 6 + k // 6), 6, replace=False) for k in range(matches)]
    table = {
        "date": (np.datetime64("2001-01-01") + np.cumsum(rng.integers(0, 60, matches))).astype(str).tolist(),
        "home": ["A"] * matches,
        "away": ["B"] * matches,
        "margin": rng.normal(0, 1.5, matches),
        "neutral": rng.random(matches) < 0.4,
        "weight": rng.choice([0.0, 0.5, 1.0, 2.0], matches),
        "home_lineup": [[f"P{k}" for k in names[:3]] for names in lineups],
        "away_lineup": [[f"P{k}" for k in names[3:]] for names in lineups],
    }
    return kn.read_matches(table)


def rater_with(unit, **values):
    rater = kn.PlayerElo(**VALUES | values)
    rater._margin_unit = unit
    rater._order = SideOrder(home=True, neutral=True)
    rater._reset()
    return rater


def all_moments(matches, v, stop):
    """Every player at every match as one Gaussian vector, conditioned on all margins at once: means by name."""
    spread, rows, shown, unit = [], [], [], 1.0

    def fresh(size):
        spread.append(size)
        return len(spread) - 1

    def grown(moment, years, rho, walk):
        f = math.exp(-rho * years)
        added = walk**2 * years if rho == 0 else walk**2 * (1 - f * f) / (2 * rho)
        return {**{k: f * c for k, c in moment[0].items()}, fresh(math.sqrt(added)): 1.0}, f * moment[1]

    strength, last, seen, own = {}, {}, {}, {}
    venue, since = [({fresh(v["noise"]): 1.0}, 0.0) for _ in range(2)], [matches.day[0]] * 2
    for g in range(len(matches)):
        day, at = matches.day[g], int(matches.neutral[g])
        venue[at] = grown(venue[at], (day - since[at]) / YEAR, 0.0, v["venue_walk"])
        since[at] = day
        parts = [(1.0, venue[at])]
        for side in (0, 1):
            if side in own:
                own[side] = grown(own[side], (day - matches.day[g - 1]) / YEAR, 0.0, v["squad_walk"])
            else:
                own[side] = ({fresh(v["squad_spread"]): 1.0}, 0.0)
            parts.append((1.0 - 2.0 * side, own[side]))
            for name in matches.lineups.names(g, side):
                if name in strength:
                    strength[name] = grown(strength[name], (day - last[name]) / YEAR, v["regression"], v["walk"])
                else:
                    level = v["newcomer"] * (1 - math.exp(-(day - matches.day[0]) / YEAR))
                    strength[name] = ({fresh(v["prior_spread"]): 1.0}, level)
                last[name] = day
                parts.append(((1.0 - 2.0 * side) / 3.0, strength[name]))
        if g < stop:
            seen = dict(strength)
        if matches.weight[g] > 0:
            total = {fresh(v["noise"] / math.sqrt(matches.weight[g])): 1.0}
            for share, moment in parts:
                for k, c in moment[0].items():
                    total[k] = total.get(k, 0.0) + share * c
            rows.append((total, sum(share * moment[1] for share, moment in parts)))
            shown.append(matches.margin[g] / unit)
        unit += (abs(matches.margin[g]) - unit) / 1000
    moments = rows + list(seen.values())
    A = np.zeros((len(moments), len(spread)))
    for k, (moment, _) in enumerate(moments):
        A[k, list(moment)] = list(moment.values())
    A *= np.array(spread)
    n = len(rows)
    gain = A[n:] @ A[:n].T @ np.linalg.inv(A[:n] @ A[:n].T)
    constant = np.array([m[1] for m in moments])
    return dict(zip(seen, constant[n:] + gain @ (np.array(shown) - constant[:n])))


@pytest.mark.parametrize("stop", [4, 17, 30])
def test_means_are_those_of_conditioning_on_everything(stop, monkeypatch):
    monkeypatch.setattr(messages, "SETTLED_MOVE", 1e-10)
    matches, rater = league(), rater_with(1.0)
    table = rater._hindsight(matches, [stop])[0]
    exact = all_moments(matches, VALUES, stop)
    assert set(table["name"]) == set(exact)
    found = (table["rating"].to_numpy() - 1500) / rater._points_per_unit
    np.testing.assert_allclose(found, [exact[name] for name in table["name"]], atol=1e-7)


@pytest.mark.parametrize("away", [["R", "S", "T"], []])
@pytest.mark.parametrize("values", [{}, {"team_prior": 0.5, "newcomer_correlation": 0.4}])
def test_one_match_has_no_afterwards(values, away):
    """Where nothing comes later hindsight is the filter, line-ups of different sizes and shared newcomers included."""
    table = {
        "date": ["2001-01-01"],
        "home": ["A"],
        "away": ["B"],
        "margin": [2.0],
        "home_lineup": [["P", "Q"]],
        "away_lineup": [away],
    }
    matches, rater = kn.read_matches(table), rater_with(1.0, **values)
    now = rater._hindsight(matches, [1])[0].sort("name")
    then = rater.update(matches).ratings_.sort("name")
    assert now.drop("rating", "uncertainty").equals(then.drop("rating", "uncertainty"))
    for column in ("rating", "uncertainty"):
        np.testing.assert_allclose(now[column], then[column], rtol=1e-9)


def test_nearer_to_the_truth_with_bands_that_hold():
    """24 players in sides of three drawn anew, 5 years: the error falls by a seventh and more, and the bands hold."""
    rng = np.random.default_rng(4)
    days, players, n = 5 * 365, 24, 900
    truth = rng.normal(0, 1, players) + np.zeros((days, 1))
    truth[1:] += np.cumsum(rng.normal(0, 0.7 / math.sqrt(YEAR), (days - 1, players)), axis=0)
    day = np.sort(rng.integers(0, days, n))
    chosen = np.array([rng.choice(players, 6, replace=False) for _ in range(n)])
    sides = truth[day[:, None], chosen].reshape(n, 2, 3).mean(axis=2)
    margin = sides[:, 0] - sides[:, 1] + rng.normal(0, 0.8, n)
    names = [[f"{k:02d}" for k in row] for row in chosen]
    table = {
        "date": (np.datetime64("2001-01-01") + day).astype(str).tolist(),
        "home": ["A"] * n,
        "away": ["B"] * n,
        "margin": margin,
        "neutral": [True] * n,
        "home_lineup": [row[:3] for row in names],
        "away_lineup": [row[3:] for row in names],
    }
    unit = float(np.abs(margin).mean())
    known = {"walk": 0.7 / unit, "noise": 0.8 / unit, "prior_spread": 1.0 / unit, "regression": 0.0, "newcomer": 0.0}
    known |= {"squad_spread": 0.0, "squad_walk": 0.0}
    rater = rater_with(unit, **known)
    rater._order, rater._memory = SideOrder(home=False, neutral=False), 1e12  # one unit, so that truth has one scale
    errors = {}
    for hindsight_wanted in (False, True):
        history = kn.rating_history(rater, kn.read_matches(table), points=12, hindsight=hindsight_wanted)
        history = history.filter(history["date"] > history["date"].min())
        at = (history["last_played"].to_numpy() - np.datetime64("2001-01-01")).astype(int)
        true = truth[at, history["name"].to_numpy().astype(int)] / unit
        error = (history["rating"].to_numpy() - 1500) / rater._points_per_unit - true
        for date in history["date"].unique():  # only differences of strength show in matches
            here = (history["date"] == date).to_numpy()
            error[here] -= error[here].mean()
        scaled = error / history["uncertainty"].to_numpy() * rater._points_per_unit
        assert 0.6 < np.mean(scaled**2) < 1.4
        assert np.mean(np.abs(scaled) < 1.2816) == pytest.approx(0.8, abs=0.07)
        errors[hindsight_wanted] = np.sqrt(np.mean(error**2))
    assert errors[True] < 0.85 * errors[False]
