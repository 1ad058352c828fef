"""When matches are played and when they count, beside the paper's pairs drawn at random and rated one by one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from kinelo.errors import InputError
from kinelo.model.law import Law, built_in
from kinelo.model.validation import whole


class ScheduleLaw(Law):
    """Ratings are frozen for a while, then all results count together."""

    section: ClassVar[str] = "schedule"
    all_pairs: ClassVar[bool] = False
    """Whether all pairs come in order; otherwise those of random matchings."""

    @abstractmethod
    def period(self, teams: int) -> int:
        """Candidate matches after which results count."""


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


Schedule = Rounds | Period


def checked_schedule(schedule: object) -> Schedule | None:
    """Return a schedule, or None for random pairing."""
    if schedule is None or isinstance(schedule, Rounds | Period):
        return schedule
    raise InputError(f"schedule must be None (random pairing), Rounds() or Period(matches), not {schedule!r}.")
