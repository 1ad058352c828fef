"""Who meets at once and when results count, beside the paper's pairs drawn at random and rated one by one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from kinelo.errors import InputError
from kinelo.model.law import Law, built_in
from kinelo.model.validation import whole


class ScheduleLaw(Law):
    """How many meet at once, and for how many candidate matches ratings are frozen before all results count."""

    section: ClassVar[str] = "schedule"
    all_pairs: ClassVar[bool] = False
    """Whether all pairs come in order; otherwise those of random matchings."""

    @property
    def sides(self) -> int:
        """How many teams meet at once."""
        return 2

    @abstractmethod
    def period(self, teams: int) -> int:
        """Candidate matches after which results count; 0 where each counts at once."""


@built_in("rounds")
@dataclass(frozen=True)
class Rounds(ScheduleLaw):
    """Every pair meets once in a round with ratings frozen; at its end all results count together.

    ``R_i += γ Σ_j (S_ij − b(R_i − R_j))``. A round is ``N(N − 1)/2`` candidate matches; a pair still plays with
    probability w.

    >>> Rounds().period(4)
    6
    """

    all_pairs: ClassVar[bool] = True

    def period(self, teams: int) -> int:
        """Candidate matches after which results count."""
        return teams * (teams - 1) // 2


@built_in("period")
@dataclass(frozen=True)
class Period(ScheduleLaw):
    """Ratings are frozen while each team plays ``matches`` matches, then all results count.

    Pairs are those of random perfect matchings, one after the other: in each, every team plays once. If the number of
    teams is odd, one of them, drawn by lot, rests in each matching.

    >>> Period(10).period(4)
    20
    """

    matches: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "matches", whole("matches", self.matches, 1))

    def period(self, teams: int) -> int:
        """Candidate matches after which results count."""
        return self.matches * (teams // 2)


@built_in("field")
@dataclass(frozen=True)
class Field(ScheduleLaw):
    """``size`` teams, drawn at random, meet in one contest; their order counts at once.

    Each performs ``x = λ + G/2ν`` with λ from its strength law. For :class:`Tanh` G is Gumbel's (Plackett–Luce given
    λ), for :class:`Probit` standard normal, so that every two finish in either order as in a match of two. With
    ``S_ab`` = ±1 by order, 0 if level, ``R_a += γ/(k − 1) · Σ_b (S_ab − b(R_a − R_b))``. ``Field(2)`` is the paper's
    model.

    >>> Field(8).sides
    8
    """

    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", whole("size", self.size, 2))

    @property
    def sides(self) -> int:
        """How many teams meet at once."""
        return self.size

    def period(self, teams: int) -> int:
        """0: each contest counts at once."""
        self.check_teams(teams)
        return 0

    def check_teams(self, teams: int) -> None:
        """Refuse a league that is too small to fill a contest."""
        if self.size > teams:
            raise InputError(f"{self!r} needs at least {self.size} teams, not {teams}.")


Schedule = Rounds | Period | Field


def checked_schedule(schedule: object) -> Schedule | None:
    """Return a schedule, or None for random pairing."""
    if schedule is None or isinstance(schedule, Schedule):
        return schedule
    raise InputError(
        f"schedule must be None (random pairing), Rounds(), Period(matches) or Field(size), not {schedule!r}."
    )
