"""Beliefs of a rater of contests as people read them: forecasts of matches of two sides, how even contests are,
and ratings in points.

A tie counts as half of each order, so that the chance ``E`` of the home side to come first is its expected score. How
much of it comes from draws is Davidson's law: with odds ``w² = P(win)/P(loss)`` and ``κ``,

    ``P(win) : P(draw) : P(loss) = w : κ : 1/w``, ``2E − 1 = (w − 1/w)/(w + 1/w + κ)``,

which is a quadratic equation of ``w``.

Who may not finish is followed from contest to contest: the chance is ``q = σ(a + b z)``, ``z`` the strength beside
those of the field in deviations of it, and ``a`` and ``b`` walk. Entries of one contest fail together, so that each
counts as a third of an observation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.pair_sums import sum_of_losses
from kinelo.forecasts.places import LUCK_NODES, LUCK_WEIGHTS, ContestForecast, mixed_chance
from kinelo.forecasts.scores import log_loss
from kinelo.matches.contests import FINISHED, Contests
from kinelo.play.formula import inner, kernel
from kinelo.raters.band import follow_band, fresh_band
from kinelo.raters.filter.belief import fade_all
from kinelo.raters.hermite import HERMITE_NODES, HERMITE_WEIGHTS
from kinelo.raters.qualifying import REFERENCE_DAYS
from kinelo.raters.rank.kernels import NOISE, POINTS_PER_UNIT, Expected
from kinelo.raters.reading import score_of
from kinelo.raters.state import NEVER
from kinelo.raters.team.kernels import PRIOR_DECISIVE, PRIOR_DRAWS

if TYPE_CHECKING:
    import polars as pl

    from kinelo.matches.matches import Matches

Array = NDArray[np.float64]
LEAST_SHARE_OF_POINTS = 1e-9
LEAST_SPREAD = 1e-9
PAIRS_AT_ONCE = 20_000
"""Pairs whose evenness is found at once, for the sake of memory."""
BEGUN = np.array([[-3.0, 0.0], [4.0, 0.0], [0.0, 1.0]])
"""``a`` and ``b`` before the first contest that somebody does not finish, and their covariance."""
PER_CONTEST, PER_ENTRY = (0.02, 0.005), 1.0 / 3.0
"""Variances by which they walk in a contest, and how much an entry of it tells of them."""
MOST_STEPS, SMALL_STEP = 30, 1e-4


def points_at_home(forecast: ContestForecast, matches: Matches) -> Array:
    """Expected points of the home sides of matches that are forecast as contests of two, in the order of places."""
    home = 2 * np.arange(len(matches)) + (matches.result < 0.5)
    return forecast.pair_chance(home, home ^ 1)


def chances_of_points(points: Array, ties: float | Array) -> Array:
    """Chances of home win, draw and away win (matches, 3) that have these expected points.

    >>> chances_of_points(np.array([0.5, 0.8]), 1.0).round(3).tolist()
    [[0.333, 0.333, 0.333], [0.682, 0.236, 0.082]]
    """
    signed = 2.0 * np.clip(points, LEAST_SHARE_OF_POINTS, 1.0 - LEAST_SHARE_OF_POINTS) - 1.0
    root = np.sqrt(signed**2 * ties**2 + 4.0 * (1.0 - signed**2))
    odds = (signed * ties + root) / (2.0 * (1.0 - signed))
    shares = np.column_stack([odds, np.full(odds.size, ties), 1.0 / odds])
    return shares / shares.sum(axis=1, keepdims=True)


def fresh_ties(kappa: float) -> Array:
    """What is known of draws before any match: none of them, and κ's logarithm about this."""
    return np.array([0.0, 0.0, *fresh_band(math.log(kappa) if kappa > 0.0 else 0.0)])


@kernel
def follow_ties(points, signed, weight, learns, walk, kappa, state):
    """Davidson's κ before each match (an array); ``state`` (14) runs on.

    Where nobody knows it (``learns``) it is learnt from the draws before, by the law of
    :mod:`kinelo.raters.team.kernels`: the state begins with draws and decisive matches. Else it follows the draws from
    where it was estimated (:mod:`kinelo.raters.band`): at the same points a draw has the chance ``δ``, and with
    ``s = 2E − 1``, ``∂δ/∂log κ = δ ((1 − δ)² − s²)/(1 − δ − s²)``, of which a half is taken from either win.
    """
    before = np.empty(points.size)
    for k in range(points.size):
        if learns:
            kappa = (state[0] + PRIOR_DRAWS) / (state[1] + PRIOR_DECISIVE) if state[0] > 0.0 else 0.0
        before[k] = kappa
        signed_points = 2.0 * min(max(points[k], LEAST_SHARE_OF_POINTS), 1.0 - LEAST_SHARE_OF_POINTS) - 1.0
        square = signed_points**2
        odds = signed_points * kappa + math.sqrt(square * kappa**2 + 4.0 * (1.0 - square))
        odds /= 2.0 * (1.0 - signed_points)
        win, draw, loss = odds, kappa, 1.0 / odds
        total, drawn = win + draw + loss, 1.0 - abs(signed[k])
        win, draw, loss = win / total, draw / total, loss / total
        if learns:
            state[0] += weight[k] * drawn
            state[1] += weight[k] * (1.0 - drawn) * math.sqrt(win * loss) / (win + loss)
        elif walk > 0.0 and kappa > 0.0 and weight[k] > 0.0:
            more = draw * ((1.0 - draw) ** 2 - square) / (1.0 - draw - square)
            score, information = score_of(signed[k], (win, draw, loss), -0.5 * more, -0.5 * more)
            kappa = math.exp(follow_band(walk, weight[k] * score, weight[k] * information, state, 2))
    return before


def follow_unfinished(contests: Contests, mean: Array, state: Array, learning: bool) -> tuple[Array, Array]:
    """Chance of each entry not to finish, before its contest is seen, and the ``state`` (``a`` and ``b``, then their
    covariance; empty until somebody did not finish) after all of them, where it learns; ``mean`` is of performances.
    """
    chance, failed = np.zeros(mean.size), contests.ended != FINISHED
    if not state.size and not (learning and failed.any()):
        return chance, state
    begun = np.array(state if state.size else BEGUN)
    follow_lines(contests.first, mean, failed, contests.weight, state.size > 0, learning, begun, chance)
    return chance, begun if learning else state


@kernel
def follow_lines(first, mean, failed, weight, known, learning, state, chance):
    """Chances by the line of each contest before it is seen, and the ``state`` after all of them, in place."""
    line = state[0]
    for c in range(weight.size):
        entries = range(first[c], first[c + 1])
        middle = mean[first[c] : first[c + 1]].mean()
        unit = max(mean[first[c] : first[c + 1]].std(), LEAST_SPREAD)
        if known:
            for k in entries:
                chance[k] = chance_on(line, (mean[k] - middle) / unit)
        known = known or (learning and failed[first[c] : first[c + 1]].any())
        if not (learning and known):
            continue
        # What is believed of the line before the contest: its middle, and the inverse of its covariance.
        a, b, both = state[1, 0] + PER_CONTEST[0], state[2, 1] + PER_CONTEST[1], state[1, 1]
        size = a * b - both * both
        begun_a, begun_b, next_a, next_b, next_both = line[0], line[1], b / size, a / size, -both / size
        for _ in range(MOST_STEPS):  # of Newton, towards the likeliest line
            off, turned = line[0] - begun_a, line[1] - begun_b
            up, along = -next_a * off - next_both * turned, -next_both * off - next_b * turned
            a, b, both, reach = next_a, next_b, next_both, 0.0
            for k in entries:
                z = (mean[k] - middle) / unit
                q = chance_on(line, z)
                miss, tells = weight[c] * PER_ENTRY * (failed[k] - q), weight[c] * PER_ENTRY * q * (1.0 - q)
                up, along = up + miss, along + miss * z
                a, both, b = a + tells, both + tells * z, b + tells * z * z
                reach = max(reach, abs(z))
            size = a * b - both * both
            step, turn = (b * up - both * along) / size, (a * along - both * up) / size
            furthest = abs(step) + reach * abs(turn)
            line[0] += step / max(furthest, 1.0)
            line[1] += turn / max(furthest, 1.0)
            if furthest < SMALL_STEP:
                break
        state[1, 0], state[2, 1] = b / size, a / size
        state[1, 1] = state[2, 0] = -both / size


@inner
def chance_on(line, z):
    """Chance not to finish of who is ``z`` deviations stronger than the field."""
    return 1.0 / (1.0 + math.exp(-(line[0] + line[1] * z)))


def likeliest_ties(points: Array, result: Array) -> float:
    """The κ under which results are likeliest, given the points expected; 0 where nobody drew."""
    if not np.any(result == 0.5):
        return 0.0
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda z: log_loss(chances_of_points(points, math.exp(z)), result).sum(), bounds=(-7.0, 3.0), method="bounded"
    )
    return math.exp(found.x)


def chance_ahead(gap: Array, luck: float = 1.0, *, off: float, depth: float) -> Array:
    """The chance to be ahead of another who is weaker by a difference of strength that is known, where the variance of
    performances is ``luck`` times the usual one.
    """
    noise = np.full(gap.shape, np.sqrt(NOISE * luck))
    return mixed_chance(gap, noise, noise, off, depth)


def contest_quality(expected: Expected, believed: Mapping[str, Array], *, off: float, depth: float) -> float:
    """How even one contest is believed to be, ``1 − E[(P(a before b) − P(b before a))²]``: the mean over strengths, of
    which so much is expected, over luck as forecasts are averaged, and over all pairs.
    """

    def evenness(luck: float, m: Array, s: Array, n: Array, t: Array) -> Array:
        even = np.empty(m.size)
        for begin in range(0, m.size, PAIRS_AT_ONCE):
            part = slice(begin, begin + PAIRS_AT_ONCE)
            spread = np.sqrt(np.maximum(s[part] ** 2 + t[part] ** 2 - 2.0 * NOISE * luck, 0.0))
            gap = (m[part] - n[part])[:, None] + spread[:, None] * HERMITE_NODES
            ahead = chance_ahead(gap, luck, off=off, depth=depth)
            even[part] = 1.0 - (2.0 * ahead - 1.0) ** 2 @ HERMITE_WEIGHTS
        return even

    mean, variance, quality = expected.mean[:, 0], expected.variance[:, 0], 0.0
    levels = [(1.0, 1.0, variance)]
    if believed:
        luck, error, levels = believed["luck"][0], believed["luck_error"][0], []
        for node, weight in zip(LUCK_NODES, LUCK_WEIGHTS, strict=True):
            other = luck * math.exp(2.0 * node * error)
            levels.append((weight, other, variance + NOISE * (other - luck)))
    pairs = mean.size * (mean.size - 1) / 2
    for weight, luck, spread in levels:
        total = sum_of_losses(partial(evenness, luck), mean, np.sqrt(spread), np.zeros(mean.size))
        quality += weight * (total / pairs)
    return quality


def slot_table(rater: Any, day: int | None) -> pl.DataFrame:
    """Every slot that took part, advantages too, on a day or as of its last contest; the best of each kind first."""
    import polars as pl

    state = rater._begun()
    size, known, entries, values = len(state), state.known, state.entries, rater.parameters_
    kind = known.kind[:size].astype(np.int64)
    x, v, last = known.x[:size, 0].copy(), known.v[:size, 0].copy(), known.last[:size]
    for number, name in enumerate(entries.kinds):
        members = kind == number
        then = known.clock[1] if day is None else day
        rho, walk = (entries.value(values, which, name) for which in ("regression", "walk"))
        f, added = fade_all(np.where(last[members] == NEVER, 0, then - last[members]), rho, walk**2)
        faded = f * x[members]
        if day is not None:
            x[members], v[members] = faded, f * f * v[members] + added
        if name in entries.advantages or rater.start is not None:
            continue
        active = ((last >= known.clock[1] - REFERENCE_DAYS) & (known.games[:size] > 0))[members]
        # One level for both, on the day; the sum is exact, so that it does not matter who was met first.
        x[members] -= math.fsum(faded[active]) / active.sum() if active.any() else 0.0
    shown = state.dated & (last != NEVER)
    supposed = np.zeros(size, np.int64)
    supposed[list(state.unseen)] = list(state.unseen.values())
    table = pl.DataFrame(
        {
            "kind": pl.Series(entries.kinds, dtype=pl.String).gather(kind),
            "name": pl.Series([name for _, name in state.names], dtype=pl.String),
            "rating": rater.initial + POINTS_PER_UNIT * x,
            "uncertainty": POINTS_PER_UNIT * np.sqrt(v),
            "matches": known.games[:size] - supposed,
            "last_played": np.where(shown, last.astype("datetime64[D]"), np.datetime64("NaT")),
        }
    )
    table = table.with_columns(_kind=kind).filter(known.games[:size] > 0)
    ranked = table.sort("_kind", "rating", descending=[False, True], maintain_order=True)
    return ranked.drop("_kind")
