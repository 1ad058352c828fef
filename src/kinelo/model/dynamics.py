r"""How strengths move: by learning, by form, by chance, or because teams come and go.

Time T counts candidate matches per team. A match moves the strengths of its two sides (learning); the calendar moves
everyone's (form, walk), whether they play or not.

* Learning: ``ρ_i += γ[α(1 − b(d)) + βX] + √γ σξ``, with d = ρ_i − ρ_j and X = b(d) ("expected") or the result S.
* Form: ``dθ = −ω(θ − θ̄) dT + s dW`` with stationary variance ``V = s²/2ω``.
* Walk: ``dθ = s dW``.
* Turnover: each team is replaced at a constant rate by a newcomer with a strength and a rating of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from kinelo.errors import InputError
from kinelo.model.law import Law, built_in, built_in_names
from kinelo.model.validation import Array, finite_array, nonnegative, number, positive

Driver = Literal["expected", "result"]
Leaving = Literal["random", "weakest", "strongest"]


STILL, LEARNING, FORM, WALK, TURNOVER = 0, 1, 2, 3, 4
RANDOM, WEAKEST, STRONGEST = 0, 1, 2


class Dynamics(Law):
    """A law of motion for strengths; see :class:`Learning`, :class:`Form`, :class:`Walk`, :class:`Turnover`."""

    section: ClassVar[str] = "dynamics"
    replaces: ClassVar[bool] = False
    """Whether teams are replaced; otherwise their strengths move."""

    def numbers(self) -> dict[str, Any]:
        """The law as compiled code takes it: entries of :class:`kinelo.play.motion.Motion`."""
        raise NotImplementedError


@built_in("learning")
@dataclass(frozen=True)
class Learning(Dynamics):
    """Teams learn by playing, the weaker side more, and winners may gain what losers lose.

    Parameters
    ----------
    alpha
        α ≥ 0: what a match teaches both sides, ``γα(1 − b(d))`` each.
    beta
        β ≥ 0: what the side ahead gains on the other, ``γβX``.
    diffusion
        σ ≥ 0: random change of strength, ``√γ σ`` per match and side.
    on
        Whether X is the expected result b(d) or the result S itself. Both have the same limit of small γ.

    Examples
    --------
    >>> Learning(alpha=0.5, beta=0.2, diffusion=0.5).pull
    0.3
    """

    kind: ClassVar[int | None] = LEARNING
    alpha: float
    beta: float = 0.0
    diffusion: float = 0.0
    on: Driver = "expected"

    def __post_init__(self) -> None:
        for name in ("alpha", "beta", "diffusion"):
            object.__setattr__(self, name, nonnegative(name, getattr(self, name)))
        if not isinstance(self.on, str) or self.on not in ("expected", "result"):
            raise InputError(f'on must be "expected" or "result", not {self.on!r}.')

    @property
    def pull(self) -> float:
        """κ = α − β: positive where learning draws strengths together, negative where it drives them apart."""
        return self.alpha - self.beta

    def numbers(self) -> dict[str, Any]:
        """α, β, σ and whether X is the result."""
        rates = {"alpha": self.alpha, "beta": self.beta, "diffusion": self.diffusion}
        return {"kind": LEARNING, **rates, "on_result": self.on == "result"}


@built_in("form")
@dataclass(frozen=True)
class Form(Dynamics):
    """Form comes and goes about each team's own mean: an Ornstein–Uhlenbeck process.

    Parameters
    ----------
    rate
        ω > 0: how fast form is forgotten, per match of a team.
    spread
        √V > 0: standard deviation of a team's strength about its mean in the long run.

    Examples
    --------
    >>> round(Form(rate=0.01, spread=1.0).step, 6)
    0.141421
    """

    kind: ClassVar[int | None] = FORM
    rate: float
    spread: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", positive("rate", self.rate))
        object.__setattr__(self, "spread", positive("spread", self.spread))

    @property
    def step(self) -> float:
        """s = √(2ω) spread: standard deviation of the change of strength over one match, while it is small."""
        return math.sqrt(2 * self.rate) * self.spread

    def numbers(self) -> dict[str, Any]:
        """ω and V."""
        return {"kind": FORM, "rate": self.rate, "form": self.spread**2}


@built_in("walk")
@dataclass(frozen=True)
class Walk(Dynamics):
    """Strengths wander freely; a league of such teams spreads for ever.

    Parameters
    ----------
    spread
        s > 0: standard deviation of the change of strength from one match of a team to its next.

    Examples
    --------
    >>> Walk(spread=0.1).step
    0.1
    """

    kind: ClassVar[int | None] = WALK
    spread: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "spread", positive("spread", self.spread))

    @property
    def step(self) -> float:
        """s, the same number under the name it shares with :class:`Form`."""
        return self.spread

    def numbers(self) -> dict[str, Any]:
        """s²."""
        return {"kind": WALK, "walk": self.step**2}


@built_in("turnover", theta=float | list[float])
@dataclass(frozen=True, eq=False)
class Turnover(Dynamics):
    """An open league: teams leave and newcomers take their places.

    Parameters
    ----------
    rate
        Departures per team and match of a team, above 0 and at most ½.
    theta
        Strength of a newcomer: one number, or several to draw from with equal chances.
    start
        Rating of a newcomer.
    leaving
        Who leaves: a team drawn at random, the weakest or the strongest one by strength.

    Examples
    --------
    >>> Turnover(rate=0.001, theta=[4.0, 6.0], start=5.0).arriving
    5.0
    """

    kind: ClassVar[int | None] = TURNOVER
    replaces: ClassVar[bool] = True
    rate: float
    theta: ArrayLike
    start: float
    leaving: Leaving = "random"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", positive("rate", self.rate))
        if self.rate > 0.5:
            raise InputError(f"rate must be at most 0.5, one departure per match, not {self.rate:g}.")
        object.__setattr__(self, "start", number("start", self.start))
        pool = np.atleast_1d(finite_array("theta", self.theta, 0, 1))
        if pool.size == 0:
            raise InputError("theta must be the strength of a newcomer, or several to draw from; it is empty.")
        object.__setattr__(self, "theta", pool)
        if not isinstance(self.leaving, str) or self.leaving not in ("random", "weakest", "strongest"):
            raise InputError(f'leaving must be "random", "weakest" or "strongest", not {self.leaving!r}.')

    @property
    def pool(self) -> Array:
        """Strengths that newcomers have, each with the same chance."""
        return np.asarray(self.theta)

    @property
    def arriving(self) -> float:
        """Mean strength of a newcomer."""
        return float(self.pool.mean())

    def numbers(self) -> dict[str, Any]:
        """Departures per candidate match, who leaves, and the rating of newcomers."""
        who = {"random": RANDOM, "weakest": WEAKEST, "strongest": STRONGEST}[self.leaving]
        return {"leaving": 2 * self.rate, "who": who, "start": self.start}


def parts_of(dynamics: Dynamics | Sequence[Dynamics] | None) -> tuple[Learning | Form | Walk | None, Turnover | None]:
    """The one law of motion and the turnover of a league, each of which there is at most one."""
    given = () if dynamics is None else dynamics if isinstance(dynamics, tuple | list) else (dynamics,)
    known = [one for one in given if isinstance(one, Dynamics) and one.kind is not None]
    moving, open_ = ([one for one in known if one.replaces is replaces] for replaces in (False, True))
    if len(known) < len(given) or len(moving) > 1 or len(open_) > 1:
        names = built_in_names(Dynamics, " or ", compiled=True)
        raise InputError(f"dynamics must be {names}, or one that moves strengths with a Turnover, not {dynamics!r}.")
    motion, turnover = (part[0] if part else None for part in (moving, open_))
    return motion, turnover  # type: ignore[return-value]
