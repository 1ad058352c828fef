"""What 0.3 and 0.2 kept of their filters opens, forecasts as it did, and is carried on."""

from pathlib import Path

import numpy as np
import pytest

import kinelo as kn

KEPT = Path(__file__).parent / "states_of_0.3"
PLAYERS = {"squad_spread": 0.2, "squad_walk": 0.1, "sharpness_walk": 0.0, "conditions": ["surface"]}
RATERS = {
    "full": lambda: kn.KalmanElo(conditions=["surface"], covariance="full", home_spread=0.2),
    "diagonal": lambda: kn.KalmanElo(conditions=["surface"], covariance="diagonal", home_spread=0.2),
    "players": lambda: kn.PlayerElo(**PLAYERS),
}
SINCE_0_3 = ("reading", "margin_law", "kind", "ring_day", "stand_in", "effect")


def league(n=140, teams=8):
    """Line-ups of three that miss now and then, surfaces, neutral grounds, and sides that enter late."""
    rng = np.random.default_rng(11)
    pairs = [rng.choice(4 + g * (teams - 4) // n, 2, replace=False) for g in range(n)]
    lineups = [
        [[] if rng.random() < 0.3 else [f"p{t}{k}" for k in rng.permutation(5)[:3]] for t in two] for two in pairs
    ]
    table = {
        "date": (np.datetime64("2020-01-01") + np.sort(rng.integers(0, 900, n))).astype(str).tolist(),
        "home": [f"T{i}" for i, _ in pairs],
        "away": [f"T{j}" for _, j in pairs],
        "margin": rng.integers(-3, 4, n).tolist(),
        "neutral": (rng.random(n) < 0.2).tolist(),
        "surface": rng.choice(["clay", "grass"], n).tolist(),
        "home_lineup": [one for one, _ in lineups],
        "away_lineup": [two for _, two in lineups],
    }
    return kn.read_matches(table, conditions=["surface"])


def later():
    """Sides that are known and one that is not, with and without line-ups and surfaces."""
    table = {
        "date": ["2023-01-01"] * 4,
        "home": ["T0", "T1", "T2", "stranger"],
        "away": ["T1", "T2", "T3", "T0"],
        "neutral": [False, True, False, False],
        "surface": ["clay", "", "grass", "carpet"],
        "home_lineup": [["p00", "p01"], [], ["p21", "nobody"], []],
        "away_lineup": [["p10", "p14"], [], [], ["p00"]],
    }
    return kn.read_matches(table, played=False, conditions=["surface"])


def opened(kind, arrays):
    rater = RATERS[kind]()
    rater.from_arrays(arrays)
    return rater


@pytest.mark.parametrize("kind", RATERS)
def test_states_of_0_3_forecast_and_go_on_as_they_did(kind):
    kept = dict(np.load(KEPT / f"{kind}.npz"))
    said = {name: kept.pop(name) for name in list(kept) if name.startswith("said_")}
    rater = opened(kind, kept)
    ratings = rater.ratings_.sort("name")
    np.testing.assert_allclose(ratings["rating"], said["said_rating"], rtol=1e-12)
    np.testing.assert_allclose(ratings["uncertainty"], said["said_uncertainty"], rtol=1e-10)
    np.testing.assert_allclose(rater.predict(later()).probabilities, said["said_predict"], atol=1e-9)
    again = opened(kind, rater.to_arrays())
    for one in (rater, again):
        np.testing.assert_allclose(one.one_step_ahead(league()[100:]).probabilities, said["said_then"], atol=1e-9)


@pytest.mark.parametrize("kind", ["full", "players"])
def test_states_of_0_2_are_as_if_what_is_new_had_never_been(kind):
    """They have no reading, law, squads or drifting ties."""
    kept = dict(np.load(KEPT / f"{kind}.npz"))
    whole = opened(kind, kept)
    if kind == "players":
        order = np.flatnonzero(kept["kind"] == 0)
        place = np.full(kept["kind"].size, -1)
        place[order] = np.arange(order.size)
        for name in ("players", "x", "P", "last", "games", "usual", "seat", "team_of", "delta", "delta_v"):
            kept[name] = kept[name][order]
        kept["ring_ids"] = np.where(kept["ring_ids"] >= 0, place[kept["ring_ids"]], -1).astype(np.int32)
    gone = (*SINCE_0_3, "parameter_ties_step", "parameter_squad_spread", "parameter_squad_walk")
    rater = opened(kind, {name: values for name, values in kept.items() if name not in gone})
    assert rater.ratings_.sort("name").equals(whole.ratings_.sort("name"))
    np.testing.assert_allclose(rater.predict(later()).probabilities, whole.predict(later()).probabilities, atol=0.1)
    rater.update(league()[130:])
