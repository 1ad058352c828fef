"""Step rules: how far a rating moves after a match, where it is not one number for all.

``gamma`` of a :class:`kinelo.RatingSystem` is a number, one per team, or one of these. Two sides may then move by
different amounts: a match conserves ``Σ R/γ`` while steps stand still, not ``Σ R``. As γ → 0 the stationary map for
per-team steps is the same as for one step, because each team's drift is merely sped up; noise and relaxation are not.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.model.law import Law, built_in, no_formula
from kinelo.model.validation import Array, is_list, nonnegative, positive, whole
from kinelo.runtime.limits import check_memory

EACH, FALLING, FIDE, DEVIATION = 0, 1, 2, 3
K_NEW, K_SETTLED, K_ELITE = 40.0, 20.0, 10.0
"""K by FIDE's rules: of newcomers and juniors, of others, and for good of who has reached the highest line."""
NEW_GAMES, JUNIOR_LINE, ELITE = 30, 2300.0, 2400.0
"""How long one is a newcomer, below which rating a junior keeps the largest K, and that highest line."""
STEP_NEW, STEP_SETTLED, STEP_ELITE = K_NEW / 2.0, K_SETTLED / 2.0, K_ELITE / 2.0
GLICKO = 12 / math.pi**2
"""How much less a result says against an uncertain opponent, in units of ν²v."""


class StepRule(Law):
    """The step γ of each team from its rating, the matches it has played, and what it has reached.

    >>> rule = FallingSteps(0.05, boost=2.0, matches=30)
    >>> isinstance(rule, StepRule), rule.at(np.zeros(1), np.array([300]), np.zeros(1, bool)).round(4)
    (True, array([0.0591]))
    """

    section: ClassVar[str] = "gamma"

    @property
    def code(self) -> tuple[int, float, float, float]:
        """Kind, γ, and two numbers of a rule with a formula in ``play``; any other is refused."""
        if self.kind is None:
            raise no_formula(StepRule, "step rule", self)
        return (self.kind, *self._numbers())

    def _numbers(self) -> tuple[float, float, float]:
        """The numbers of :attr:`code`."""
        raise NotImplementedError

    @abstractmethod
    def at(self, rating: Array, matches: NDArray[np.integer], reached: NDArray[np.bool_]) -> Array:
        """γ of teams with these ratings after so many matches."""

    def juniors(self, teams: int) -> NDArray[np.bool_]:
        """Which teams are juniors, where the rule knows of any."""
        return np.zeros(teams, dtype=np.bool_)


@built_in("falling")
@dataclass(frozen=True)
class FallingSteps(StepRule):
    """``γ (1 + boost · m/(m + n))`` after n matches: a newcomer moves ``1 + boost`` times as far.

    >>> FallingSteps(0.05, boost=2.0, matches=30).at(np.zeros(2), np.array([0, 30]), np.zeros(2, bool)).round(3)
    array([0.15, 0.1 ])
    """

    kind: ClassVar[int | None] = FALLING
    gamma: float
    boost: float
    matches: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))
        object.__setattr__(self, "boost", nonnegative("boost", self.boost))
        object.__setattr__(self, "matches", positive("matches", self.matches))

    def _numbers(self) -> tuple[float, float, float]:
        return self.gamma, self.boost, self.matches

    def at(self, rating: Array, matches: NDArray[np.integer], reached: NDArray[np.bool_]) -> Array:
        """γ (1 + boost · m/(m + n))."""
        return self.gamma * (1.0 + self.boost * self.matches / (self.matches + matches.astype(np.float64)))


@built_in("fide", under_18=list[int])
@dataclass(frozen=True)
class FideSteps(StepRule):
    """FIDE's development coefficients, ``K = 2γ``, for ratings on the chess scale.

    K = 40 for the first 30 games; then 20; 10 for good once a rating of 2400 was reached. ``under_18`` lists the teams
    that are juniors throughout, by index in a simulation and by name for a rater: theirs is 40 while they are below
    2300.

    Source: FIDE Handbook B.02, Rating Regulations, on the development coefficient K (8.3.3 of the edition of 2022; the
    values are those in force since July 2014). Left out: nobody ages, so a junior stays one; K counts from the match
    after the line is crossed, not from the next published list; the 30 games need not be whole events; K is not lowered
    where a player's games in a list, times K, exceed 700; differences above 400 points are not cut to 400.

    >>> reached = np.array([False, False, True])
    >>> 2 * FideSteps().at(np.array([1800.0, 1800.0, 2350.0]), np.array([3, 30, 400]), reached)
    array([40., 20., 10.])
    """

    kind: ClassVar[int | None] = FIDE
    under_18: Sequence[int] | Sequence[str] = ()

    def __post_init__(self) -> None:
        if not is_list(self.under_18) and not isinstance(self.under_18, set | frozenset):
            raise InputError(f"under_18 must list teams by index, or by name, not {self.under_18!r}.")
        named = all(isinstance(team, str) for team in self.under_18)
        juniors = tuple(self.under_18) if named else tuple(whole("under_18", team, 0) for team in self.under_18)
        object.__setattr__(self, "under_18", juniors)

    def _numbers(self) -> tuple[float, float, float]:
        return STEP_SETTLED, 0.0, 1.0

    def juniors(self, teams: int) -> NDArray[np.bool_]:
        """The teams listed as under 18."""
        teams = whole("teams", teams, 1)
        check_memory(float(teams), f"A league of {teams:,} teams", "use fewer teams")
        young = np.zeros(teams, dtype=np.bool_)
        for team in self.under_18:
            if isinstance(team, str) or not 0 <= team < teams:
                raise InputError(f"under_18 must list teams by index from 0 to {teams - 1}, not {team!r}.")
            young[team] = True
        return young

    def at(self, rating: Array, matches: NDArray[np.integer], reached: NDArray[np.bool_]) -> Array:
        """20, 10 or 5."""
        fast = (matches < NEW_GAMES) | (self.juniors(len(rating)) & (rating < JUNIOR_LINE))
        return np.where(fast, STEP_NEW, np.where(reached, STEP_ELITE, STEP_SETTLED))


@built_in("deviation")
@dataclass(frozen=True)
class DeviationSteps(StepRule):
    """Glicko: each team carries a deviation RD, and its step ``νg v⁺`` (v = RD²) grows with it.

    ``g`` discounts opponents of uncertain rating, ``v⁺ = v/(1 + vI)`` is what a match of information I leaves, and v
    grows by ``growth²`` per match of a team, played or not. The outcome is Tanh.

    Parameters
    ----------
    growth
        c > 0: standard deviation that ignorance gains from one match of a team to its next.
    start
        RD of a newcomer.
    largest
        RD that rest never exceeds; by default ``start``.

    Examples
    --------
    >>> DeviationSteps(growth=5.0, start=350.0).largest
    350.0
    """

    kind: ClassVar[int | None] = DEVIATION
    growth: float
    start: float
    largest: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "growth", positive("growth", self.growth))
        object.__setattr__(self, "start", positive("start", self.start))
        largest = self.start if self.largest is None else positive("largest", self.largest)
        if largest < self.start:
            raise InputError(f"largest must be at least start = {self.start:g}, not {largest:g}.")
        object.__setattr__(self, "largest", largest)

    def _numbers(self) -> tuple[float, float, float]:
        return 0.0, self.growth, float(self.largest or self.start)

    def at(self, rating: Array, matches: NDArray[np.integer], reached: NDArray[np.bool_]) -> Array:
        """Refused: the step depends on deviations, which ratings and matches do not tell."""
        raise InputError("The step of DeviationSteps depends on each side's deviation, not on ratings and matches.")
