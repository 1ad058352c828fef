"""A rating system: how results come about, who meets whom, and how far ratings move."""

from __future__ import annotations

from dataclasses import dataclass

from kinelo.errors import InputError
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import AllPlayAll, Pairing
from kinelo.model.validation import positive


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
        The step size γ. On the chess scale, K = 2γ.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> RatingSystem(Tanh(nu=0.5), gamma=0.05).gamma
    0.05
    """

    outcome: Outcome
    pairing: Pairing = AllPlayAll()
    gamma: float = 0.05

    def __post_init__(self) -> None:
        if not isinstance(self.outcome, Outcome):
            raise InputError(f"outcome must be Tanh, Probit or Davidson, not {self.outcome!r}.")
        if not isinstance(self.pairing, Pairing):
            raise InputError(f"pairing must be AllPlayAll, Local or Window, not {self.pairing!r}.")
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))
