"""Glicko's uncertainty over several periods, against the steps that Glickman prescribes, done by hand."""

import math

import numpy as np
import pytest

import kinelo as kn

SCALE = 400 / math.log(10)


def played(*rows):
    names = ("date", "home", "away", "result")
    return kn.read_matches(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def after_one_match(phi2: float, other2: float, difference: float) -> float:
    g = 1 / math.sqrt(1 + 3 * other2 / math.pi**2)
    expected = 1 / (1 + math.exp(-g * difference))
    return 1 / (1 / phi2 + g * g * expected * (1 - expected))


def uncertainty(rater, name: str) -> float:
    table = rater.ratings_
    return float(table.filter(table["name"] == name)["uncertainty"][0])


def test_glicko_2_rests_once_for_every_period_without_a_match():
    """Matches in periods 0 and 4: φ² grows by σ² in the period of a match and once in each of the three between."""
    start, vol2, tau = (300 / SCALE) ** 2, 0.1**2, 1e-3
    rater = kn.Glicko2(300.0, 0.1, 0.0, 0.0, tau=tau, period=10.0, together=True)
    rater.fit(played(("1970-01-05", "A", "B", 1.0), ("1970-02-14", "A", "B", 0.0)))
    once = after_one_match(start + vol2, start, 0.0)
    lead = 2 * once * 0.5 / math.sqrt(1 + 3 * start / math.pi**2)
    rested = once + 3 * vol2
    assert rested < start
    assert uncertainty(rater, "A") == pytest.approx(
        SCALE * math.sqrt(after_one_match(rested + vol2, rested, lead)), rel=1e-4
    )


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("kind", [kn.Glicko, kn.Glicko2])
def test_rest_brings_nobody_beyond_a_newcomer(kind, together):
    """After a century of rest a side is as uncertain as on its first day, and knows more after the next match."""
    rater = kind(50.0, 30.0 if kind is kn.Glicko else 0.3, 0.0, 0.0, together=together)
    rater.fit(played(("1920-01-01", "A", "B", 1.0), ("2020-01-01", "A", "C", 1.0)))
    assert uncertainty(rater, "A") <= math.hypot(50.0, 0.3 * SCALE if kind is kn.Glicko2 else 0.0)
    # A newcomer gains q·RD²/2 from a win over an equal, at most; so does whoever has rested for a century.
    largest = 2 * (50.0**2 + (0.3 * SCALE if kind is kn.Glicko2 else 0.0) ** 2) / SCALE / 2
    assert 0 < float(rater.ratings_.filter(rater.ratings_["name"] == "A")["rating"][0]) - 1500 < largest


@pytest.mark.parametrize("days", [0, 45, 400])
def test_a_forecast_after_a_rest_knows_how_uncertain_sides_have_become(days):
    """RD² grows by growth² for each period of rest, up to that of a newcomer: a list written with these deviations on
    the day of the match gives the same forecast."""
    given = {
        "home_advantage": 40.0,
        "ties": 0.4,
        "home_step": 0.0,
        "ties_walk": 0.0,
        "sharpness": 1.0,
        "sharpness_walk": 0.0,
    }
    rater = kn.Glicko(deviation=200.0, growth=30.0, period=30.0, **given)
    rows = [("2024-01-01", "A", "B", 1), ("2024-01-20", "A", "B", 1), ("2024-02-01", "C", "A", 0)]
    table = dict(zip(("date", "home", "away", "result"), map(list, zip(*rows))))
    rater.update(kn.read_matches(table))
    last = {"A": "2024-02-01", "B": "2024-01-20", "C": "2024-02-01"}
    day = np.datetime64("2024-02-01") + days
    known = {row["name"]: row for row in rater.ratings_.to_dicts()}
    # the table shows everyone as of the last match: B has rested for twelve days there
    deviation = {
        name: min(math.sqrt(row["uncertainty"] ** 2 + 30.0**2 * days / 30.0), 200.0) for name, row in known.items()
    }
    listed = {"name": list(known), "rating": [row["rating"] for row in known.values()]}
    listed |= {"deviation": [deviation[name] for name in known], "date": [str(day)] * 3}
    fresh = kn.Glicko(deviation=200.0, growth=30.0, period=30.0, start=listed, **given)
    assert rater.ratings_.filter(name="B")["last_played"][0] == np.datetime64(last["B"]).item()
    said, expected = (one.predict_one("A", "B", date=str(day)).probabilities for one in (rater, fresh))
    np.testing.assert_allclose(said, expected, atol=1e-12)
    assert said[0, 0] > said[0, 2]
    if days:
        sooner = rater.predict_one("A", "B", date="2024-02-01").probabilities
        assert said[0, 0] < sooner[0, 0] - 1e-4, "less is known of both"


def test_strengths_that_stay_are_forecast_alike_after_any_rest():
    table = {"date": ["2024-01-01"] * 4, "home": list("ABCA"), "away": list("BCAC"), "result": [1, 0.5, 0, 1]}
    rater = kn.BradleyTerry().fit(kn.read_matches(table, ordered=True))
    soon, later = (rater.predict_one("A", "B", date=day).probabilities for day in ("2024-01-02", "2034-01-02"))
    assert soon.tobytes() == later.tobytes() and soon[0, 0] > soon[0, 2]


@pytest.mark.parametrize("days", [0, 45, 400])
def test_glicko_2_forecasts_after_a_rest_from_grown_deviations(days):
    """φ² grows by σ² for each period of rest, up to that of a newcomer; forecasts are those of a list written then."""
    given = {
        "home_advantage": 40.0,
        "ties": 0.4,
        "home_step": 0.0,
        "ties_walk": 0.0,
        "sharpness": 1.0,
        "sharpness_walk": 0.0,
    }
    made = {"deviation": 200.0, "volatility": 0.12, "period": 30.0, "tau": 0.5, **given}
    rater = kn.Glicko2(**made)
    rater.update(played(("2024-01-01", "A", "B", 1), ("2024-01-20", "A", "B", 1), ("2024-02-01", "B", "A", 0)))
    day = str(np.datetime64("2024-02-01") + days)
    known = rater.ratings_.to_dicts()
    deviation = [
        min(math.sqrt(row["uncertainty"] ** 2 + (SCALE * row["volatility"]) ** 2 * days / 30.0), 200.0) for row in known
    ]
    listed = {"name": [row["name"] for row in known], "rating": [row["rating"] for row in known]}
    listed |= {"deviation": deviation, "volatility": [row["volatility"] for row in known], "date": [day] * 2}
    fresh = kn.Glicko2(start=listed, **made)
    said, expected = (one.predict_one("A", "B", date=day).probabilities for one in (rater, fresh))
    np.testing.assert_allclose(said, expected, atol=1e-12)
    if days:
        assert said[0, 0] < rater.predict_one("A", "B", date="2024-02-01").probabilities[0, 0] - 1e-4


def test_a_mixture_forecasts_after_a_rest_as_its_raters_do():
    """The weights stay; each rater is asked about the day of the match."""
    rows, rng = [], np.random.default_rng(4)
    for k in range(120):
        a, b = rng.permutation(4)[:2]
        rows.append(
            (str(np.datetime64("2022-01-01") + 5 * k), "ABCD"[a], "ABCD"[b], float(rng.random() < 0.5 + 0.1 * (b - a)))
        )
    glicko = kn.Glicko(200.0, 60.0, 20.0, 0.3, 1.0, 0.0)
    mixture = kn.raters.Mixture({"glicko": glicko, "plain": kn.TeamElo.classic(k=24, ties=0.3)}).fit(played(*rows))
    assert len(mixture.weights_) == 2 and min(mixture.weights_.values()) > 0.02
    said = []
    for day in ("2023-09-01", "2033-09-01"):
        fixture = kn.read_matches({"date": [day] * 2, "home": ["A", "D"], "away": ["C", "B"]}, played=False)
        parts = [
            share * mixture.members_[name].predict(fixture).probabilities for name, share in mixture.weights_.items()
        ]
        np.testing.assert_allclose(mixture.predict(fixture).probabilities, sum(parts), atol=1e-12)
        said.append(mixture.predict(fixture).probabilities)
    assert abs(said[0] - said[1]).max() > 1e-3, "ten years of rest are known to one of them"
