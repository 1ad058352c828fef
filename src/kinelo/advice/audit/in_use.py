"""The system in use, rated by the rater itself at any K, over the real matches or over results drawn anew; and a system
that is no Elo with a K: its forecasts of the later half, against results and against Elo at its best.
"""

from __future__ import annotations

import copy
import math
import warnings
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

import numpy as np

from kinelo.advice.audit.backtest import Difference, KBacktest
from kinelo.advice.audit.gaps import Band, GapForecasts, bands_of, law_of
from kinelo.advice.audit.kernels import Array, System
from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches
from kinelo.play.laws import points_scale
from kinelo.raters.rater import Rater, traits_of
from kinelo.raters.sides import SideRater
from kinelo.raters.team.rater import ClassicElo, losses_by_k

USUAL_K = 32.0


@dataclass(frozen=True)
class SystemInUse:
    """A federation's Elo: what it is called, its one K if it has one, and the rater itself, ready to rate.

    ``rater`` has its home advantage settled: its own, or, where it was left open, that of the earlier half.
    :meth:`with_ties` settles the draws of its forecasts.
    """

    name: str
    k: float | None
    rater: ClassicElo = field(repr=False)

    @property
    def nu(self) -> float:
        """Slope of the expected score at equality."""
        return math.log(10.0) / (2.0 * self.rater.scale)

    @property
    def home_advantage(self) -> float:
        """Rating points that the expected score adds for the home side."""
        return float(self.rater.home_advantage or 0.0)

    @property
    def ties(self) -> float:
        """Davidson's κ of its forecasts."""
        return float(self.rater.ties or 0.0)

    def with_ties(self, ties: float) -> SystemInUse:
        """The same system; where its forecasts learn κ on the way, they know it, so that all K forecast draws alike."""
        return replace(self, rater=anew(self.rater, ties=ties)) if self.rater.ties is None else self

    def in_kernels(self, matches: Matches) -> System:
        """The system as the compiled recursion takes it."""
        ties = self.ties
        return System(self.nu, points_scale(self.nu, ties), ties, self.home(matches), self.start(matches))

    def at(self, k: float) -> ClassicElo:
        """The same system with this one K for all."""
        return anew(self.rater, k=k, k_of=None)

    def blank(self) -> ClassicElo:
        """The system as it is, before any match."""
        return anew(self.rater)

    def losses(self, matches: Matches, ks: Array) -> Array:
        """Log-loss of every match (columns) at every K (rows)."""
        return losses_by_k(self.rater, matches, ks)

    def ratings_before(self, matches: Matches, k: float) -> Array:
        """Ratings of both sides that each match is forecast from (n × 2), less where newcomers begin."""
        return ratings_before(self.at(k), matches)

    def trace(self, matches: Matches) -> tuple[Array, Array | None]:
        """Ratings before each match as they are in use, and the steps of both sides where a rule sets them."""
        if self.k is not None:
            return self.ratings_before(matches, self.k), None
        return ratings_before(self.blank(), matches), trace_steps(self.blank(), matches, self.nu, self.home(matches))

    def home(self, matches: Matches) -> Array:
        """What the expected score adds for the home side of each match: nothing on neutral ground."""
        return np.where(matches.neutral, 0.0, self.home_advantage)

    def start(self, matches: Matches) -> Array:
        """Where each side's rating begins, less where newcomers begin."""
        if self.rater.start is None:
            return np.zeros(len(matches.teams))
        blank = self.blank()
        blank._reset()
        return side_ratings(blank, matches.teams) - self.rater.initial

    def gaps(self, matches: Matches, before: Array, since: int) -> GapForecasts:
        """What ratings before each match forecast of the later half."""
        return GapForecasts((before[:, 0] - before[:, 1] + self.home(matches))[since:], law_of(self.nu, self.ties))


def anew(rater: ClassicElo, **changes: Any) -> ClassicElo:
    """A rater with these arguments that has seen no match."""
    return type(rater)(**(rater.get_params() | changes))


def own_losses(rater: Rater, matches: Matches) -> Array:
    """Log-loss of each match, forecast before it is used."""
    return log_loss(rater.one_step_ahead(matches).probabilities, matches.result)


def system_of(rater: Rater | None, matches: Matches, since: int) -> tuple[SystemInUse, Rater | None]:
    """The Elo to audit, and the rater to hold against it where that is no Elo with a K."""
    elo, other = (_usual(), rater) if not _is_plain(rater) else (rater or _usual(), None)
    k = None if elo.step is None else 2.0 * elo.step  # None where a rule sets it match by match
    if k is not None and k <= 0:
        raise InputError("K must be above 0: with K = 0 ratings never move.")
    settled = anew(elo)
    if elo.home_advantage is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KineloWarning)
            settled.fit(matches[:since])
        settled = anew(elo, home_advantage=settled.parameters_["home_advantage"])
    name = f"K = {k:g}" if k is not None else elo.label.removeprefix("plain Elo, ")
    return SystemInUse(name, k, settled), other


def _is_plain(rater: Rater | None) -> TypeGuard[ClassicElo | None]:
    """Whether this is a federation's Elo, for which none stands too; what is no rater is refused."""
    if rater is not None and not isinstance(rater, Rater):
        raise InputError(f"rater must be a rater, such as TeamElo.classic(k=32) or Glicko(), not {rater!r}.")
    return rater is None or traits_of(rater).plain_elo


def _usual() -> ClassicElo:
    return ClassicElo(USUAL_K, home_advantage=None)


def carried_on(rater: Rater | None, earlier: Matches | None) -> Rater | None:
    """The system in use with the ratings that it ends at after earlier matches; any other rater as it is."""
    if earlier is None or not _is_plain(rater):
        return rater
    elo = rater or _usual()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        table = anew(elo).fit(earlier).ratings_
    return anew(elo, start=table)


def ratings_before(rater: SideRater, matches: Matches) -> Array:
    """Ratings of both sides that each match is forecast from (n × 2), less where newcomers begin."""
    before = rater.one_step_ahead(matches).ratings_before
    assert before is not None
    return before - rater.initial


def trace_steps(rater: SideRater, matches: Matches, nu: float, home: Array) -> Array:
    """The step γ of both sides in each match (n × 2), under any rule of steps.

    What a rating moved by its side's next match, over the surprise that moved it, is the step. ``home`` is what the
    expected score adds in each match.
    """
    before = ratings_before(rater, replace(matches, unordered=None))
    side = np.column_stack([matches.home, matches.away]).ravel()
    order = np.argsort(side, kind="stable")
    own, last = before.ravel()[order], np.append(np.flatnonzero(np.diff(side[order])), side.size - 1)
    later = np.append(own[1:], 0.0)
    later[last] = (side_ratings(rater, matches.teams) - rater.initial)[side[order][last]]
    after = np.empty(side.size)
    after[order] = later
    surprise = matches.signed - np.tanh(nu * (before[:, 0] - before[:, 1] + home))
    # Between equals a draw surprises nobody and shows no step; whatever it is, it moves nothing.
    shown = np.where(np.abs(surprise) > 1e-9, surprise, np.inf)[:, None]
    return (after.reshape(-1, 2) - before) * np.array([1.0, -1.0]) / shown


def side_ratings(rater: SideRater, teams: tuple[str, ...]) -> Array:
    """Ratings of these sides as they stand."""
    table = rater.ratings_
    known = dict(zip(table["name"], table["rating"]))
    return np.array([known.get(name, rater.initial) for name in teams], dtype=np.float64)


def with_results(matches: Matches, signed: Array) -> Matches:
    """The same matches with other results in [−1, 1]."""
    return replace(matches, result=(signed + 1) / 2, margin=np.full(signed.size, np.nan), source=None)


@dataclass(frozen=True)
class OtherSystem:
    """Forecasts of the later half by a rater that was fitted on the earlier one.

    Attributes
    ----------
    name
        The kind of rater.
    k
        The best K of Elo on the later half, which it is held against.
    log_loss, elo_log_loss
        Of the rater, and of Elo at that K.
    difference
        How much more the rater loses than Elo, per match, with its 95 % interval.
    slope
        Slope of results on its forecasts, with its standard error: 1 is calibrated.
    bands
        Its forecasts by fifths of Elo's ratings.
    """

    name: str
    k: float
    log_loss: float
    elo_log_loss: float
    difference: Difference
    slope: tuple[float, float]
    bands: tuple[Band, ...]

    @property
    def better(self) -> bool | None:
        """Whether the rater forecasts better than Elo at its best K; None where these matches cannot tell."""
        return True if self.difference.high < 0 else False if self.difference.low > 0 else None


def other_system(rater: Rater, matches: Matches, since: int, system: SystemInUse, measured: KBacktest) -> OtherSystem:
    """Fit a rater on the earlier half and judge what it says of the later one."""
    name = type(rater).__name__
    copied = copy.deepcopy(rater)
    try:
        with warnings.catch_warnings():
            # What there is to say about these matches is said by the audit.
            warnings.simplefilter("ignore", KineloWarning)
            forecast = copied.fit(matches[:since]).one_step_ahead(matches[since:]).probabilities
    except InputError as error:
        raise InputError(f"{name} cannot be fitted on the earlier half: {error}") from error
    k = measured.best
    losses = np.zeros(len(matches))
    losses[since:] = log_loss(forecast, matches.result[since:])
    home, away = system.ratings_before(matches, k)[since:].T
    gaps = GapForecasts(
        implied_gap(forecast[:, 0] - forecast[:, 2], system.ties, system.nu), law_of(system.nu, system.ties)
    )
    signed = matches.signed[since:]
    difference = measured.against(losses, k)
    theirs = float(losses[since:].mean())
    return OtherSystem(
        name, k, theirs, theirs - difference.mean, difference, gaps.slope(signed), bands_of(home, away, gaps, signed)
    )


def implied_gap(expected: Array, ties: float, nu: float) -> Array:
    """The gap at which Davidson's law expects this result: sinh t − b cosh t = bκ/2 with t = ν_D z.

    Forecasts are judged here. They know venues, conditions and doubt, which a gap of ratings does not.

    >>> implied_gap(np.array([0.0, 0.5]), 0.0, np.log(10) / 800).round(1).tolist()
    [0.0, 190.8]
    """
    b = np.clip(expected, -1 + 1e-12, 1 - 1e-12)
    s = np.arctanh(b)
    return (s + np.arcsinh(b * ties / 2 * np.cosh(s))) / points_scale(nu, ties)
