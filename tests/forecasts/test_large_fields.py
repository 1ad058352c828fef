"""Forecasts and scores of large fields against those taken pair by pair, and place by place."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import kinelo as kn
from kinelo.forecasts import places
from kinelo.forecasts.contest_scores import order_log_loss, pairs_right, rank_deviation
from kinelo.forecasts.pair_sums import BLOCK
from kinelo.forecasts.places import ContestForecast


def forecast_of(size, *, ties=0, off=0.0, law="normal", seed=1, unfinished=0, luck_error=None):
    """A contest of so many, with unequal beliefs, of which some places tie; ``ties`` is how many levels there are."""
    rng = np.random.default_rng(seed)
    mean, deviation = 1.3 * rng.normal(size=size), np.where(rng.random(size) < 0.3, 1.02, rng.uniform(1.1, 1.7, size))
    deviation = np.ones(size) if law == "gumbel" else deviation
    order = np.argsort(-(mean + deviation * rng.normal(size=size)))
    level = np.arange(size) * (ties or size) // size
    place = [str(1 + int(np.searchsorted(level, one))) for one in level]
    place[size - unfinished :] = ["DNF"] * unfinished
    contests = kn.read_contests({"race": [1] * size, "driver": [f"D{k}" for k in range(size)], "place": place})
    luck = {} if luck_error is None else {"luck": np.full(size, 0.8), "luck_error": np.full(size, luck_error)}
    return ContestForecast(contests, mean[order], deviation[order], law=law, off=off, **luck)


def pair_by_pair(forecast):
    """Loss of the order and share of pairs right, by their definitions."""
    there = np.flatnonzero(forecast.contests.ended == 0)
    place, losses, right = forecast.contests.place, [], []
    for k, a in enumerate(there):
        others = there[k + 1 :]
        chance = forecast.pair_chance(np.full(others.size, a), others)
        happened = 0.5 + 0.5 * np.sign(place[others] - place[a])
        losses += (-happened * np.log(chance) - (1 - happened) * np.log(1 - chance)).tolist()
        named = 0.5 + 0.5 * np.sign(forecast.middle[a] - forecast.middle[others])
        right += (1 - np.abs(named - happened))[happened != 0.5].tolist()
    return np.mean(losses), np.mean(right)


@pytest.mark.parametrize("size", [BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"off": 0.09},
        {"ties": 2},
        {"ties": 60, "off": 0.05},
        {"law": "gumbel"},
        {"unfinished": 11},
        {"luck_error": 0.7},
    ],
    ids=["plain", "bad days", "two places", "some ties", "gumbel", "retirements", "unknown luck"],
)
def test_scores_of_any_size_are_those_of_all_pairs(size, kind):
    forecast = forecast_of(size, **kind, seed=size)
    loss, right = pair_by_pair(forecast)
    assert order_log_loss(forecast)[0] == pytest.approx(loss, abs=1e-9)
    assert pairs_right(forecast)[0] == pytest.approx(right, abs=1e-12)
    assert 0.55 < right < 0.95


def test_equal_forecasts_count_half():
    contests = kn.read_contests({"race": [1] * 4, "driver": list("ABCD"), "place": [1, 2, 2, 4]})
    forecast = ContestForecast(contests, np.array([1.0, 2.0, 0.0, 1.0]), np.ones(4))
    # of five pairs that do not tie, A before C and B before D are right, A and D are forecast equal
    assert pairs_right(forecast)[0] == pytest.approx(2.5 / 5)


def test_the_order_forecast_is_that_of_medians():
    forecast = forecast_of(5, off=0.1)
    rng = np.random.default_rng(2)
    bad = rng.random((200_000, 5)) < 0.1
    shown = forecast.mean + forecast.deviation * np.where(
        bad, -3.0 + 2.0 * rng.normal(size=bad.shape), rng.normal(size=bad.shape)
    )
    often = (shown < forecast.middle).mean(axis=0)  # each within 4.5 standard errors, missed once in 10,000
    assert np.abs(often - 0.5).max() < 4.5 * math.sqrt(0.25 / 200_000)


def test_luck_that_is_hardly_known_is_averaged_over():
    """A factor for all of a contest, drawn anew: chances within 4.5 standard errors of 200,000 contests of six."""
    forecast, draws = forecast_of(6, luck_error=0.6), 200_000
    rng = np.random.default_rng(4)
    factor = np.exp(0.6 * rng.normal(size=(draws, 1)))
    belief = np.sqrt(forecast.deviation**2 - 0.8)
    shown = forecast.mean + belief * rng.normal(size=(draws, 6)) + math.sqrt(0.8) * factor * rng.normal(size=(draws, 6))
    place = (-shown).argsort(axis=1).argsort(axis=1)
    for said, seen in (
        (forecast.win, place == 0),
        (forecast.top(0, 2), place < 2),
        (forecast.places(0)[:, 5], place == 5),
        (forecast.pair_chance(np.arange(5), np.arange(1, 6)), shown[:, :-1] > shown[:, 1:]),
    ):
        assert np.abs(said - seen.mean(axis=0)).max() < 4.5 * math.sqrt(0.25 / draws) + 0.002  # three points of luck
    assert np.abs(forecast.expected_place - 1.0 - place.mean(axis=0)).max() < 4.5 * 2.5 / math.sqrt(draws) + 0.005
    known = ContestForecast(forecast.contests, forecast.mean, forecast.deviation)
    assert forecast.win.min() > known.win.min() + 0.003  # an outsider has more of a chance


def test_losses_of_each_contest_know_its_own_luck():
    races = kn.read_contests({"race": [1] * 2 + [2] * 3, "driver": list("ABABC"), "place": [1, 2, 1, 2, 3]})
    luck, error = np.array([0.9, 0.9, 0.3, 0.3, 0.3]), np.array([0.1, 0.1, 0.9, 0.9, 0.9])
    mean, deviation = np.array([0.2, 0.9, -0.3, 1.1, 0.4]), np.array([1.2, 1.4, 1.1, 1.3, 1.6])
    forecast = ContestForecast(races, mean, deviation, luck=luck, luck_error=error)
    chance = forecast.pair_chance(np.array([0, 2, 2, 3]), np.array([1, 3, 4, 4]))
    assert order_log_loss(forecast) == pytest.approx([-math.log(chance[0]), -np.log(chance[1:]).mean()])


@pytest.mark.parametrize("size", [8, 9, 10, 150])
@pytest.mark.parametrize("off", [0.0, 0.08])
def test_the_first_three_are_those_of_all_places(size, off):
    forecast = forecast_of(size, off=off)
    assert forecast.top(0) == pytest.approx(forecast.places(0)[:, :3].sum(axis=1), abs=1e-6)
    assert forecast.top(0, 2) == pytest.approx(forecast.places(0)[:, :2].sum(axis=1), abs=1e-6)
    assert forecast.top(0, 1) == pytest.approx(forecast.win, abs=1e-6)
    assert forecast.top(0).sum() == pytest.approx(3.0, abs=1e-5)


def test_all_of_a_field_of_three_are_among_the_first_three():
    """Exactly: what is added up over a grid would be shown as more than 99.9 %."""
    small, rng = forecast_of(3), np.random.default_rng(1)
    for _ in range(20):
        forecast = ContestForecast(small.contests, rng.normal(size=3), 1.0 + rng.random(3), off=0.1)
        unsure = replace(forecast, luck=np.full(3, 0.5), luck_error=np.full(3, 0.3))
        assert forecast.top(0).tolist() == forecast.top(0, 9).tolist() == unsure.top(0).tolist() == [1.0] * 3


def test_the_first_three_of_a_field_with_one_far_ahead():
    """He is among them although at his worst points nobody else is near."""
    forecast = forecast_of(12)
    far = ContestForecast(forecast.contests, forecast.mean + np.eye(12)[4] * 14.0, forecast.deviation)
    assert far.top(0) == pytest.approx(far.places(0)[:, :3].sum(axis=1), abs=1e-6)
    assert far.top(0)[4] == pytest.approx(1.0, abs=1e-9)


def by_the_integral(forecast, entrant, number):
    """Chance of an entrant to be among the first, and expected place, on a grid of all points with all others."""
    mean, deviation, off, depth = forecast.mean, forecast.deviation, forecast.off, forecast.depth
    x = np.linspace(mean.min() - 40.0, mean.max() + 40.0, 2_000)
    parts = [(1.0 - off, mean, deviation)]
    parts += [(off, mean - depth * deviation, (3.0 - depth / 3.0) * deviation)] if off else []
    density = sum(w * norm.pdf(x, m[entrant], s[entrant]) for w, m, s in parts)
    ahead = sum(w * norm.sf(x[:, None], m, s) for w, m, s in parts)
    law = np.zeros((x.size, number))
    law[:, 0] = 1.0
    for other in np.delete(np.arange(mean.size), entrant):
        p = ahead[:, other, None]
        law = law * (1.0 - p) + p * np.pad(law, ((0, 0), (1, 0)))[:, :number]
    step, others = x[1] - x[0], ahead.sum(axis=1) - ahead[:, entrant]
    return (density * law.sum(axis=1)).sum() * step, 1.0 + (density * others).sum() * step


@pytest.mark.parametrize("off", [0.0, 0.08])
def test_fields_taken_some_points_at_a_time_are_the_integral(monkeypatch, off):
    """All points at once, a few of them, or one; low points where too many are ahead are left out of a few."""
    whole = forecast_of(150, off=off)
    win, expected, first, middle = whole.win, whole.expected_place, whole.top(0, 10), whole.places(0)[:, 75]
    assert whole.mean.size * 400 < places.VALUES_AT_ONCE
    for at_once in (150 * 7, 1):
        monkeypatch.setattr(places, "VALUES_AT_ONCE", at_once)
        parts = forecast_of(150, off=off)
        assert parts.win == pytest.approx(win, rel=1e-12)
        assert parts.expected_place == pytest.approx(expected, rel=1e-12)
        assert parts.top(0, 10) == pytest.approx(first, abs=1e-15)
        assert parts.places(0)[:, 75] == pytest.approx(middle, abs=1e-14)
        monkeypatch.undo()
    for entrant in (0, 20, 149):
        assert win[entrant] == pytest.approx(by_the_integral(whole, entrant, 1)[0], rel=1e-6, abs=1e-12)
        assert (first[entrant], expected[entrant]) == pytest.approx(
            by_the_integral(whole, entrant, 10), rel=1e-8, abs=1e-7
        )


@pytest.mark.long
def test_seventeen_thousand_are_forecast_and_scored():
    """Numbers grow with the field, not with its square: 17,000 squared would need gigabytes."""
    size = 17_000
    forecast = forecast_of(size, off=0.05)
    table = forecast.to_polars()
    assert table["win"].sum() == pytest.approx(1.0) and table["top_3"].sum() == pytest.approx(3.0, abs=1e-3)
    assert table["expected_place"].sum() == pytest.approx(size * (size + 1) / 2, rel=1e-6)
    assert 0.4 < order_log_loss(forecast)[0] < 0.6 and 0.1 < rank_deviation(forecast)[0] < 0.25
