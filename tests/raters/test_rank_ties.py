"""Many who share a place: what that shows of each, against the likelihood of all orders that it allows."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from test_rank import GIVEN, by_quadrature, shown_by

import kinelo as kn

POINTS = 700


def field_of(groups, seed=1):
    """Means and variances in order of places, and the places: ``groups`` says how many share each."""
    rng = np.random.default_rng(seed)
    size, place = sum(groups), np.repeat(np.cumsum(groups) - (np.array(groups) - 1) / 2, groups)
    mean, variance = 0.8 * rng.normal(size=size), 1 + 0.4 * rng.random(size)
    order = np.argsort(-(mean + np.sqrt(variance) * rng.normal(size=size)))
    return mean[order], variance[order], place


def chance_below(z, off=0.0, lower=3.0, wide=2.0):
    return (1 - off) * norm.cdf(z) + off * norm.cdf((z + lower) / wide)


def by_all_orders(mean, variance, place, a, off=0.0):
    """How far a mean moves and the variance that is left, by derivatives of the chance that those ahead came before all
    who tie and those behind after them: a sum over where the last of those ahead and the first of those behind were.
    """
    sd = np.sqrt(variance)
    edges = np.linspace((mean - (8 + 6 * (off > 0)) * sd).min(), (mean + 8 * sd).max(), POINTS + 1)
    x = (edges[1:] + edges[:-1]) / 2
    at_edges, below = (chance_below((where[:, None] - mean) / sd, off) for where in (edges, x))
    ahead, behind, tied = place < place[a], place > place[a], place == place[a]
    tied[a] = False
    last_ahead = -np.diff(np.prod(1 - at_edges[:, ahead], axis=1))
    first_behind = np.diff(np.prod(at_edges[:, behind], axis=1))
    if not ahead.any():
        allowed = np.cumsum(first_behind * np.prod(1 - below[:, tied], axis=1))
    elif not behind.any():
        allowed = np.cumsum((last_ahead * np.prod(below[:, tied], axis=1))[::-1])[::-1]
    else:
        between = np.prod(np.clip(below[:, None, tied] - below[None, :, tied], 0, 1), axis=2)
        joint = last_ahead[:, None] * first_behind[None, :] * between * (x[:, None] > x[None, :])
        allowed = np.diag(np.cumsum(np.cumsum(joint[::-1], axis=0)[::-1], axis=1))
    h = 0.05
    log = [
        math.log((np.diff(chance_below((edges - mean[a] - moved) / sd[a], off)) * allowed).sum())
        for moved in (-2 * h, -h, 0.0, h, 2 * h)
    ]
    slope = (log[0] - 8 * log[1] + 8 * log[3] - log[4]) / (12 * h)
    bend = (-log[0] + 16 * log[1] - 30 * log[2] + 16 * log[3] - log[4]) / (12 * h * h)
    return variance[a] * slope, variance[a] + variance[a] ** 2 * bend


@pytest.mark.parametrize(
    ("groups", "off"),
    [([1] * 4 + [12], 0.0), ([1] * 4 + [12], 0.1), ([9, 4, 1], 0.0), ([9, 8, 10], 0.0), ([1, 1, 30, 1, 3], 0.0),
     ([1] * 10 + [290], 0.0), ([1, 1, 3], 0.0)],
)  # fmt: skip
def test_a_wide_tie_is_every_order_it_allows(groups, off):
    mean, variance, place = field_of(groups)
    shown = shown_by(mean, variance, place, off)
    wide = np.flatnonzero(np.repeat(groups, groups) >= (8 if max(groups) > 7 else 3))
    for a in wide[:: max(1, wide.size // 5)]:
        shift, left = by_all_orders(mean, variance, place, a, off)
        assert shown.shift[a] == pytest.approx(shift, abs=0.015)
        assert shown.variance[a] == pytest.approx(left, rel=0.02)


def test_who_ties_behind_the_first_ten_of_hundreds_is_hardly_better_known():
    """Half of each order would leave a hundredth of the variance of a performance, and draw everybody to one level."""
    mean, variance, place = field_of([1] * 10 + [390])
    shown = shown_by(mean, variance, place)
    assert np.all(shown.variance[10:] > 0.5 * variance[10:]) and np.mean(shown.variance[10:] / variance[10:]) > 0.85
    assert np.all(shown.shift[10:] < 0.0)
    assert np.polyfit(mean[10:], shown.shift[10:], 1)[0] > -0.25


@pytest.mark.parametrize(
    ("groups", "a", "between"),
    [([1, 2, 7, 1], 4, False), ([40, 8, 32], 41, False), ([40, 8, 31], 41, True), ([1, 1, 3], 3, True),
     ([1, 1, 2], 3, False), ([2, 1, 3], 4, False), ([1, 2, 3, 1], 4, False), ([1, 25, 3], 27, True),
     ([1, 26, 3], 28, False)],
)  # fmt: skip
def test_few_who_tie_count_half_of_each_order(groups, a, between):
    """Seven do, eight of eighty, two in the last place, and three in it who are a tenth or share it with two firsts."""
    mean, variance, place = field_of(groups)
    shown = shown_by(mean, variance, place)
    _, shift, left = by_quadrature(mean, variance, place, a, 0.0, 3.0, 2.0)
    as_half = shown.variance[a] == pytest.approx(left, rel=0.002) and shown.shift[a] == pytest.approx(shift, abs=0.002)
    assert as_half != between


def test_the_chance_of_a_wide_tie_is_that_of_its_cuts():
    """``∫ f g``, and half of the logarithms of the chances that those ahead, and those behind, are so of all."""
    groups = [3, 9, 2]
    mean, variance, place = field_of(groups)
    sd, a = np.sqrt(variance), 5
    x = np.linspace(-12, 12, 20_001)
    below = norm.cdf((x[:, None] - mean) / sd)
    rest = np.arange(mean.size) != a
    ahead, behind = place < place[a], place > place[a]
    upper = -np.gradient(np.prod(1 - below[:, ahead], axis=1)) * np.prod(below[:, rest & ~ahead], axis=1)
    lower = np.gradient(np.prod(below[:, behind], axis=1)) * np.prod(1 - below[:, rest & ~behind], axis=1)
    between = np.cumsum(lower) / lower.sum() - np.cumsum(upper) / upper.sum()
    chance = (norm.pdf((x - mean[a]) / sd[a]) / sd[a] * between).sum() * (x[1] - x[0])
    expected = math.log(chance) + 0.5 * math.log(lower.sum()) + 0.5 * math.log(upper.sum())
    assert shown_by(mean, variance, place).log_chance[a] == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(("groups", "a"), [([2, 9], 5), ([1, 8, 1], 5)])
@pytest.mark.parametrize("far", [7.0, 10.5, 16.0])
def test_who_is_far_stronger_than_all_and_ties_behind_them_is_read_as_well(groups, a, far):
    """Where the chance to lie between the cuts is far below rounding, and the other way round."""
    mean, variance, place = field_of(groups)
    mean[a] += far
    sd, x = np.sqrt(variance), np.linspace(-10, 24, 20_001)
    z = (x[:, None] - mean) / sd
    below, above, rest = norm.logcdf(z), norm.logsf(z), np.arange(mean.size) != a
    ahead, behind = place < place[a], place > place[a]
    rates = np.exp(norm.logpdf(z) - np.log(sd) - above)[:, ahead].sum(axis=1)
    upper = rates * np.exp(above[:, ahead].sum(axis=1) + below[:, rest & ~ahead].sum(axis=1))
    between = np.cumsum(upper[::-1])[::-1] / upper.sum()
    if behind.any():
        rates = np.exp(norm.logpdf(z) - np.log(sd) - below)[:, behind].sum(axis=1)
        lower = rates * np.exp(below[:, behind].sum(axis=1) + above[:, rest & ~behind].sum(axis=1))
        between -= np.cumsum(lower[::-1])[::-1] / lower.sum()
    density = norm.pdf(z[:, a]) * between
    density /= density.sum()
    shift = density @ x - mean[a]
    shown = shown_by(mean, variance, place)
    assert shown.shift[a] == pytest.approx(shift, rel=0.005) and abs(shift) > far / 3
    assert shown.variance[a] == pytest.approx(density @ (x - mean[a] - shift) ** 2, rel=0.05)
    back = shown_by(-mean[::-1], variance[::-1], place[-1] - place[::-1])  # the weakest of all ahead of them
    assert back.shift[-1 - a] == pytest.approx(-shown.shift[a], rel=1e-6)
    assert back.variance[-1 - a] == pytest.approx(shown.variance[a], rel=1e-6)


def test_everybody_in_one_place_shows_nothing():
    mean, variance, place = field_of([9])
    shown = shown_by(mean, variance, place)
    assert shown.shift == pytest.approx(np.zeros(9), abs=1e-4)
    assert shown.variance == pytest.approx(variance, rel=1e-4)
    assert shown.log_chance == pytest.approx(np.zeros(9), abs=1e-4)


def test_where_only_the_first_places_are_known_ratings_are_as_uncertain_as_they_say():
    """Thirty contests of 60 of which five places are known. Counting half of each order, the squared error was seven
    times what is said. The ratio has a standard error of 0.12 (150 strengths): three of them both ways.
    """
    rng = np.random.default_rng(4)
    given: dict[str, Any] = GIVEN | {"prior_spread": 1.0, "newcomer": 0.0, "walk": 0.01}
    strength, rater = rng.normal(size=150), kn.RankElo(**given)
    for c in range(30):
        own = rng.permutation(150)[:60]
        own = own[np.argsort(-(strength[own] + rng.normal(size=60)))]
        rater.update_one([f"P{k}" for k in own], ranks=[1, 2, 3, 4, 5] + [6] * 55, date=f"2024-05-{c + 1:02d}")
    known = rater._begun().known
    at = [rater._begun().index["entrant", f"P{k}"] for k in range(150)]
    error = known.x[at, 0] - strength
    ratio = float(np.mean((error - error.mean()) ** 2) / np.mean(known.v[at, 0]))
    assert 0.64 < ratio < 1.36
