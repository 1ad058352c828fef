"""Two sides: is one better than the other, in as few games as that takes?

Counts ``c_k`` of ``K = 3`` outcomes of games, worst first, or of 5 of pairs of games with sides reversed; ``x_k =
k/(K − 1)``, ``p̂ = c/N``. The logarithm of the likelihood ratio of two hypotheses is ``N Σ p̂ ln(p¹/p⁰)``, ``p^h``
the likeliest distribution of outcomes under each: ``p̂_k/(1 + θ a_k)`` with ``Σ p̂ a/(1 + θa) = 0``. Of logistic
points ``a_k = x_k − 1/(1 + 10^{−e/400})``; of normalised ones, where ``(mean − ½)/sd = t``, ``a_k = x_k − ½ − ½tσ(1 +
((x_k − m)/σ)²)``, the mean ``m`` and deviation ``σ`` of ``p^h`` iterated. The test stops at ``ln(β/(1 − α))`` or
``ln((1 − β)/α)``. Nothing is approximated: closed forms of this ratio err more often than they say where draws are
many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from kinelo.errors import InputError
from kinelo.forecasts.parameters import check_number
from kinelo.matches.matches import Matches, check_matches
from kinelo.model.validation import finite_array, flag, is_list, one_line
from kinelo.play.formula import inlined, kernel, part
from kinelo.presentation import counted, html_facts
from kinelo.raters.hermite import HERMITE_NODES, HERMITE_WEIGHTS
from kinelo.raters.one_match import signed_result

POINTS = ("logistic", "normalised")
EMPTY = 1e-3
"""What an outcome that has not been seen counts."""
UNIT = 800.0 / math.log(10.0)
MOST_ROUNDS, MOST_STEPS, CLOSE = 50, 100, 1e-9
STEEPEST_TILT = 500.0
FAR = 1e3
"""Points that no hypothesis lies beyond."""


@part
def tilt(p, a, theta):
    """θ where Σ p a/(1 + θa) = 0, near a guess; a has both signs."""
    low, high = -1.0 / max(a), -1.0 / min(a)
    if not low < theta < high:
        theta = 0.0
    for _ in range(MOST_STEPS):
        value, slope = 0.0, 0.0
        for k in range(p.size):
            share = a[k] / (1.0 + theta * a[k])
            value += p[k] * share
            slope += p[k] * share * share
        if value > 0.0:
            low = theta
        else:
            high = theta
        step = theta + value / slope
        if not low < step < high:
            step = 0.5 * (low + high)
        if abs(step - theta) <= CLOSE * (high - low) or abs(step - theta) <= 1e-13 * abs(theta):
            return step
        theta = step
    return theta


@part
def tilt_to(p, t, q):
    """Write ``p`` times powers into ``q``, so that its mean lies ``t`` deviations above ½."""
    last = p.size - 1.0
    low, high = -STEEPEST_TILT, STEEPEST_TILT
    for _ in range(MOST_STEPS):
        power = 0.5 * (low + high)
        total, m, square = 0.0, 0.0, 0.0
        for k in range(p.size):
            q[k] = p[k] * math.exp(power * (k / last - (1.0 if power > 0.0 else 0.0)))
            total += q[k]
        for k in range(p.size):
            q[k] /= total
            m += q[k] * k / last
        for k in range(p.size):
            square += q[k] * (k / last - m) ** 2
        if m - 0.5 < t * math.sqrt(square):
            low = power
        else:
            high = power


@inlined
def log_losses(p, points, normalised, theta):
    """Σ p̂ ln(p̂/p^h) of the likeliest distribution under a hypothesis, and its θ, sought near a guess."""
    size = p.size
    last = size - 1.0
    a = np.empty(size)
    if not normalised:
        mean = 1.0 / (1.0 + 10.0 ** (-points / 400.0))
        for k in range(size):
            a[k] = k / last - mean
        theta = tilt(p, a, theta)
    else:
        t = points / UNIT * math.sqrt(0.5 * last)
        q = np.full(size, 1.0 / size)
        for _ in range(MOST_ROUNDS):
            m, square = 0.0, 0.0
            for k in range(size):
                m += q[k] * k / last
            for k in range(size):
                square += q[k] * (k / last - m) ** 2
            sd = math.sqrt(square)
            for k in range(size):
                a[k] = k / last - 0.5 - 0.5 * t * sd * (1.0 + ((k / last - m) / sd) ** 2)
            if not min(a) < 0.0 < max(a):  # no distribution is near: begin anew at one that fits
                tilt_to(p, t, q)
                continue
            theta = tilt(p, a, theta)
            moved = 0.0
            for k in range(size):
                new = p[k] / (1.0 + theta * a[k])
                moved = max(moved, abs(new - q[k]))
                q[k] = new
            if moved <= CLOSE:
                break
    total = 0.0
    for k in range(size):
        total += p[k] * math.log(1.0 + theta * a[k])
    return total, theta


@inlined
def log_ratio(counts, low, high, normalised, guess):
    """The logarithm of the likelihood ratio of two hypotheses; both θ are sought near a guess (2), which is moved."""
    p = np.maximum(counts, EMPTY)
    games = p.sum()
    p /= games
    under_low, guess[0] = log_losses(p, low, normalised, guess[0])
    under_high, guess[1] = log_losses(p, high, normalised, guess[1])
    return games * (under_low - under_high)


@kernel
def walk(outcomes, counts, low, high, normalised, bounds):
    """Count outcomes one by one until a bound is met: how many that took, and the ratio then; −1 and the last ratio
    where none is."""
    guess = np.zeros(2)
    ratio = 0.0
    for n in range(outcomes.size):
        counts[outcomes[n]] += 1.0
        ratio = log_ratio(counts, low, high, normalised, guess)
        if not bounds[0] < ratio < bounds[1]:
            return n + 1, ratio
    return -1, ratio


class SequentialTest:
    """A test of two sides that is under way; :func:`kinelo.sequential_test` begins one.

    Attributes
    ----------
    counts
        Outcomes of the side that is tested, the worst first: losses, draws and wins, or of pairs of games how many
        brought 0, ½, 1, 1½ and 2 points.
    state
        ``"go on"``, or the decision: ``"accept"`` (the side is better by ``high`` rather than ``low``) or
        ``"refuse"``. The first one stands, whatever is played afterwards.
    decided_after
        Games (or pairs) after which it was made; None before, and where counts came at once.
    """

    def __init__(
        self, low: float, high: float, alpha: float, beta: float, points: Literal["logistic", "normalised"], pairs: bool
    ) -> None:
        owner = "sequential_test"
        self.low: float = float(check_number(owner, "low", low, -FAR, FAR))
        self.high: float = float(check_number(owner, "high", high, -FAR, FAR))
        if not self.low < self.high:
            raise InputError(f"low={low:g} must be less than high={high:g}.")
        self.alpha: float = float(check_number(owner, "alpha", alpha, 1e-12, 0.5))
        self.beta: float = float(check_number(owner, "beta", beta, 1e-12, 0.5))
        if not isinstance(points, str) or points not in POINTS:
            raise InputError(f"points={one_line(points)} is not known; it is 'logistic' or 'normalised'.")
        self.points: str = points
        self.pairs: bool = flag("pairs", pairs)
        self.counts: NDArray[np.float64] = np.zeros(5 if self.pairs else 3)
        self.state: str = "go on"
        self.decided_after: int | None = None

    @property
    def bounds(self) -> tuple[float, float]:
        """Ratios at which the test refuses and accepts."""
        return math.log(self.beta / (1.0 - self.alpha)), math.log((1.0 - self.beta) / self.alpha)

    @property
    def played(self) -> int:
        """Games (or pairs of games) so far."""
        return round(float(self.counts.sum()))

    @property
    def llr(self) -> float:
        """Logarithm of the likelihood ratio; 0 before any game."""
        if not self.counts.any():
            return 0.0
        return float(log_ratio(self.counts, self.low, self.high, self.points == "normalised", np.zeros(2)))

    def update(self, result: float | str, reversed_sides: float | str | None = None) -> SequentialTest:
        """Count a game as the tested side ended it (0, ½, 1, or in words), or a pair: both its games, in any order.

        >>> import kinelo as kn
        >>> kn.sequential_test(0, 100).update("win").update(0.5)
        SequentialTest: go on after 2 games, log-ratio +0.49 between -2.94 and +2.94
        """
        if self.pairs != (reversed_sides is not None):
            wanted = "both games of a pair" if self.pairs else "one game; pairs=True counts pairs"
            raise InputError(f"This test counts {wanted}.")
        both = (result,) if reversed_sides is None else (result, reversed_sides)
        outcome = sum(signed_result(one) + 1.0 for one in both)
        if outcome != int(outcome):
            raise InputError(f"A game counts as 0, 0.5 or 1 points of the side that is tested, not {both!r}.")
        self.counts[int(outcome)] += 1.0
        if self.state == "go on":
            self._stop_at(self.llr, self.played)
        return self

    def _stop_at(self, ratio: float, played: int | None) -> None:
        low, high = self.bounds
        if not low < ratio < high:
            self.state, self.decided_after = "accept" if ratio >= high else "refuse", played

    def update_counts(self, counts: Sequence[float]) -> SequentialTest:
        """Add counts of outcomes, the worst first; the ratio is looked at once, after all of them.

        >>> import kinelo as kn
        >>> test = kn.sequential_test(0, 3, points="normalised", pairs=True)
        >>> test = test.update_counts([398, 4112, 7672, 4336, 430])
        >>> round(test.llr, 2), test.state
        (2.96, 'accept')
        """
        added = finite_array("counts", counts, 1) if is_list(counts) else np.empty(0)
        if added.shape != self.counts.shape or (added < 0).any() or (added != np.floor(added)).any():
            raise InputError(f"counts={one_line(counts)} must be {self.counts.size} whole numbers, the worst first.")
        self.counts = self.counts + added
        if self.state == "go on":
            self._stop_at(self.llr, None)
        return self

    def update_matches(self, matches: Matches, side: str | None = None) -> SequentialTest:
        """Count the matches of a table in their order, seen from a side, by default the first that is named.

        Of pairs, each match and the one after it are a pair, with sides reversed.
        """
        check_matches(matches)
        if len(matches._appearing) != 2:
            raise InputError(
                f"A sequential test is between two sides; these matches name {len(matches._appearing)}, "
                "which next_matches and Elimination are for."
            )
        side = matches.teams[matches.home[0]] if side is None else side
        if side not in matches._appearing:
            raise InputError(f"side={one_line(side)} does not play; {' and '.join(map(repr, matches._appearing))} do.")
        if not np.isin(matches.signed, (-1.0, 0.0, 1.0)).all():
            raise InputError("A sequential test counts wins, draws and losses; other results have no place in it.")
        first = np.array([matches.teams[code] == side for code in matches.home.tolist()])
        outcome = np.where(first, matches.signed, -matches.signed).astype(np.int64) + 1
        if self.pairs:
            if first.size % 2 or (first[::2] == first[1::2]).any():
                odd = first.size // 2 if first.size % 2 else int(np.argmax(first[::2] == first[1::2]))
                raise InputError(
                    f"Matches {2 * odd + 1} and {2 * odd + 2} are no pair with sides reversed: give two after one "
                    "another, or count games."
                )
            outcome = outcome[::2] + outcome[1::2]
        before, done = self.played, -1
        if self.state == "go on":
            normalised = self.points == "normalised"
            done, ratio = walk(outcome, self.counts, self.low, self.high, normalised, np.array(self.bounds))
            if done > 0:
                self._stop_at(float(ratio), before + done)
            else:
                done = outcome.size
        self.counts += np.bincount(outcome[max(done, 0) :], minlength=self.counts.size)
        return self

    @property
    def expected_left(self) -> float:
        """Games (or pairs) that the test is expected to take from here, over what is believed of the difference; NaN
        where nothing has been played, 0 once it has stopped.

        The ratio moves on like a walk with the drift and spread that the outcomes show, the drift as uncertain as they
        leave it.
        """
        if self.state != "go on":
            return 0.0
        if not self.counts.any():
            return math.nan
        mean, variance = self._increments()
        low, high = self.bounds
        drift = mean + math.sqrt(variance / max(self.counts.sum(), 1.0)) * HERMITE_NODES
        return float(_until(self.llr, low, high, drift, variance) @ HERMITE_WEIGHTS)

    def _increments(self) -> tuple[float, float]:
        """Mean and variance of what a game adds to the ratio, of the outcomes so far."""
        p = np.maximum(self.counts, EMPTY)
        p = p / p.sum()
        grid = np.arange(p.size) / (p.size - 1.0)
        spread = p @ (grid - p @ grid) ** 2
        if self.points == "logistic":
            low, high = (1.0 / (1.0 + 10.0 ** (-e / 400.0)) for e in (self.low, self.high))
        else:  # deviations from one half
            low, high = (0.5 + e / UNIT * math.sqrt(0.5 * (p.size - 1) * spread) for e in (self.low, self.high))
        return self.llr / max(self.counts.sum(), 1.0), (high - low) ** 2 / spread

    @property
    def fixed_length(self) -> float:
        """Games (or pairs) of a test with the same errors that looks once, at the end; NaN before any."""
        if not self.counts.any():
            return math.nan
        return float((ndtri(1.0 - self.alpha) + ndtri(1.0 - self.beta)) ** 2 / self._increments()[1])

    def to_dict(self) -> dict[str, Any]:
        """Hypotheses, counts, the ratio and its bounds, the state and the games expected."""
        names = ("low", "high", "alpha", "beta", "points", "pairs", "state", "llr", "bounds", "played", "decided_after",
                 "expected_left", "fixed_length")  # fmt: skip
        return {name: getattr(self, name) for name in names} | {"counts": self.counts.tolist()}

    def lines(self) -> list[str]:
        """What the test says, in sentences."""
        noun = "pairs of games" if self.pairs else "games"
        low, high = self.bounds
        lines = [
            f"{self._games(self.played)}: {', '.join(f'{c:,.0f}' for c in self.counts)} (the worst outcome first)."
        ]
        lines.append(f"Log-ratio {self.llr:+.2f}; refused at {low:.2f}, accepted at {high:+.2f}.")
        if self.state == "go on":
            left = f" Some {self.expected_left:,.0f} more {noun} are expected" if self.played else ""
            fixed = f"; a test of fixed length would take {self.fixed_length:,.0f}." if self.played else ""
            return [*lines, f"Go on.{left}{fixed}"]
        after = "" if self.decided_after is None else f" after {self._games(self.decided_after)}"
        better = f"the side is better by {self.high:g} rather than {self.low:g} {self.points} points"
        worse = f"the side is better by {self.low:g} rather than {self.high:g} {self.points} points"
        return [*lines, f"Accepted{after}: {better}." if self.state == "accept" else f"Refused{after}: {worse}."]

    def _games(self, number: int) -> str:
        return counted(number, *(("pair of games", "pairs of games") if self.pairs else ("game", "games")))

    def __repr__(self) -> str:
        low, high = self.bounds
        return (
            f"SequentialTest: {self.state} after {self._games(self.played)}, log-ratio {self.llr:+.2f} between "
            f"{low:+.2f} and {high:+.2f}"
        )

    def _repr_html_(self) -> str:
        return html_facts([("State", self.state), *((f"{k + 1}", line) for k, line in enumerate(self.lines()))])


def _until(at: float, low: float, high: float, drift: NDArray[np.float64], variance: float) -> NDArray[np.float64]:
    """Steps until a walk from ``at`` leaves the bounds, for each drift.

    >>> _until(0.0, -1.0, 1.0, np.array([0.0, 1e-9, 10.0]), 1.0).round(6).tolist()
    [1.0, 1.0, 0.1]
    """
    up, down = high - at, at - low
    ahead, behind, speed = np.where(drift < 0.0, down, up), np.where(drift < 0.0, up, down), np.abs(drift)
    rate = 2.0 * speed / variance
    with np.errstate(divide="ignore", invalid="ignore"):
        reached = np.expm1(-rate * behind) / np.expm1(-rate * (ahead + behind))
        steps = (reached * ahead - (1.0 - reached) * behind) / speed
    return np.where(rate * (ahead + behind) < 1e-5, up * down / variance, steps)


def sequential_test(
    low: float,
    high: float,
    *,
    alpha: float = 0.05,
    beta: float = 0.05,
    points: Literal["logistic", "normalised"] = "logistic",
    pairs: bool = False,
) -> SequentialTest:
    """Begin a test whether a side is better by ``high`` points than by ``low``, to be fed until it stops.

    Parameters
    ----------
    low, high
        What the side is better by if it is to be refused, and if it is to be accepted.
    alpha, beta
        How often it may be accepted at ``low`` and refused at ``high``, however often one looks.
    points
        ``"logistic"``: points of the expected score; ``"normalised"``: of the score in units of its deviation, as it is
        in a single game, which makes tests equally long whatever the draws.
    pairs
        Whether results come as pairs of games with sides reversed, as engines play each opening twice: five outcomes,
        which take less than their games alone where openings favour a side.

    >>> import kinelo as kn
    >>> test = kn.sequential_test(0, 200)
    >>> while test.state == "go on":
    ...     test = test.update("win").update("draw")
    >>> test
    SequentialTest: accept after 10 games, log-ratio +3.45 between -2.94 and +2.94
    """
    return SequentialTest(low, high, alpha, beta, points, pairs)
