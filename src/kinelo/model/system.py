"""A rating system: how results come about, who meets whom, how far ratings move, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.model.law import built_in_names
from kinelo.model.outcome import CHESS_NU, Davidson, Outcome, Probit, Tanh, check_outcome
from kinelo.model.pairing import AllPlayAll, Pairing
from kinelo.model.schedule import Field, Schedule, checked_schedule
from kinelo.model.steps import DeviationSteps, FideSteps, StepRule
from kinelo.model.validation import Array, finite_array, is_list, positive, whole
from kinelo.runtime.limits import check_memory


@dataclass(frozen=True)
class RatingSystem:
    """After a match, ``R_i += γ (S − b(R_i − R_j))`` and ``R_j`` loses what ``R_i`` gains.

    Parameters
    ----------
    outcome
        The outcome function b.
    pairing
        The pairing function w.
    gamma
        The step size γ: a number, one per team, or a rule such as :class:`FideSteps`. On the chess scale, K = 2γ.
        With steps that differ a match conserves ``Σ R/γ``, not ``Σ R``.
    schedule
        None draws pairs at random and rates each match at once; :class:`Rounds` and :class:`Period` freeze ratings;
        in a :class:`Field` more than two meet at once.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> RatingSystem(Tanh(nu=0.5), gamma=0.05).gamma
    0.05
    """

    outcome: Outcome
    pairing: Pairing = AllPlayAll()
    gamma: float | Sequence[float] | NDArray[np.float64] | StepRule = 0.05
    schedule: Schedule | None = None

    def __post_init__(self) -> None:
        check_outcome(self.outcome)
        if not isinstance(self.pairing, Pairing):
            known = built_in_names(Pairing, ", ")
            raise InputError(f"pairing must be {known} or your own kinelo.model.Pairing, not {self.pairing!r}.")
        if isinstance(self.gamma, FideSteps):
            slope = float(self.outcome.b_prime(0.0))
            if not 0.8 * CHESS_NU < slope < 1.25 * CHESS_NU:
                raise InputError(
                    f"FideSteps is made for the chess scale, "
                    f"where b'(0) is {CHESS_NU:.5f} as in Tanh.elo(), not {slope:.5g}."
                )
        if is_list(self.gamma):
            each = finite_array("gamma", self.gamma, 1)  # type: ignore[arg-type]
            if (each <= 0).any():
                raise InputError(f"gamma must be greater than 0, but its smallest entry is {each.min():g}.")
            object.__setattr__(self, "gamma", tuple(each.tolist()))
        elif not isinstance(self.gamma, StepRule):
            object.__setattr__(self, "gamma", positive("gamma", self.gamma))
        field = checked_schedule(self.schedule)
        if self.sides == 2:
            return
        outcome = self.outcome
        if type(outcome) not in (Tanh, Probit) and not (type(outcome) is Davidson and outcome.kappa == 0):
            raise InputError(
                f"{field!r} ranks its teams by performances, which make up the outcomes Tanh and Probit, "
                f"not {outcome!r}."
            )
        if not isinstance(self.pairing, AllPlayAll):
            raise InputError(f"{field!r} draws its teams from the whole league: pairing must be AllPlayAll().")
        if isinstance(self.gamma, DeviationSteps):
            raise InputError(f"DeviationSteps are Glicko's, for matches of two, not for {field!r}.")

    @property
    def plain(self) -> bool:
        """Whether one number is the step of all and every match counts at once: what the paper's theory describes."""
        schedule = self.schedule
        return isinstance(self.gamma, float) and (
            schedule is None or (isinstance(schedule, Field) and schedule.size == 2)
        )

    @property
    def sides(self) -> int:
        """How many teams meet at once."""
        return 2 if self.schedule is None else self.schedule.sides

    @property
    def step(self) -> float:
        """γ where it is one number; otherwise a sentence that says so."""
        if not isinstance(self.gamma, float):
            raise InputError(
                f"gamma = {self.gamma!r} is not one number, and what depends on its size (noise, relaxation, "
                "advice) is known for one step only; the stationary map as gamma → 0 is the same for any steps."
            )
        if self.schedule is not None and not isinstance(self.schedule, Field):
            raise InputError(
                f"What depends on the size of gamma is not known for {self.schedule!r}, only for random pairing."
            )
        return self.gamma

    @property
    def deviations(self) -> DeviationSteps | None:
        """Glicko's rule, where ratings carry a deviation."""
        return self.gamma if isinstance(self.gamma, DeviationSteps) else None

    def gammas(self, teams: int) -> Array:
        """γ of every team; of a rule, its number."""
        teams = whole("teams", teams, 1)
        check_memory(16.0 * teams, f"A league of {teams:,} teams", "use fewer teams")
        if isinstance(self.gamma, StepRule):
            return np.full(teams, self.gamma.code[1])
        if isinstance(self.gamma, tuple) and len(self.gamma) != teams:
            raise InputError(f"gamma must be one number or one per team: {len(self.gamma)} for {teams} teams.")
        return np.array(np.broadcast_to(np.asarray(self.gamma, dtype=np.float64), teams))
