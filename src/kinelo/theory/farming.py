r"""What a team gains by choosing its opponents.

A team that meets opponent j with weight q_j settles where ``Σ_j q_j (s_ij − b(R − R_j)) = 0``, the others rated as they
are. If ratings were strengths nobody could gain by choosing. Where performances vary, or results go round in circles,
each opponent alone would hold a team at another rating, ``R_j + b⁻¹(s_ij)``, and every mix at one between them. The
best choice is therefore a single opponent; of m that are met equally often, those with the largest
``s_ij − b(R − R_j)`` at the rating they lead to.

The others' ratings are held in that. In a league they react: points are only passed on, and who is no longer met by the
team settles without it. The balance is then solved with the matches that are played.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError
from scipy.optimize import root_scalar
from scipy.special import erfinv

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.expectation import expected_result, expected_tie
from kinelo.model.outcome import Outcome, Probit, Tanh
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, one_line, whole
from kinelo.presentation import html_facts
from kinelo.theory.balance import balance_pairs
from kinelo.theory.closure import LeagueClosure, settled_steps
from kinelo.theory.fixed_point import GOAL, few_threads
from kinelo.theory.limit import freeze, stationary
from kinelo.theory.pair_means import PairMeans
from kinelo.theory.state import Noise, StationaryState
from kinelo.theory.teams import as_system

GAP_HALVINGS = 80
FARMING_PASSES = 100


def gap_of(outcome: Outcome, result: ArrayLike) -> Array:
    """``b⁻¹``: the rating gap at which a result is expected; infinite where none is.

    >>> gap_of(Tanh(nu=0.5), [0.0, 0.5, 1.0]).round(6)
    array([0.      , 1.098612,      inf])
    """
    size, sign = np.abs(np.asarray(result, dtype=np.float64)), np.sign(result)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if type(outcome) is Tanh:
            return sign * np.arctanh(np.minimum(size, 1.0)) / outcome.nu
        if type(outcome) is Probit:
            return sign * erfinv(np.minimum(size, 1.0)) / outcome.nu
    high, top = np.full(size.shape, 1 / outcome.sharpness), size < outcome.supremum
    while (more := top & (outcome.b(high) < size) & (high < 1e12 / outcome.sharpness)).any():
        high = np.where(more, 2 * high, high)
    low = np.zeros_like(high)
    for _ in range(GAP_HALVINGS):
        middle = (low + high) / 2
        above = outcome.b(middle) >= size
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return sign * np.where(top, (low + high) / 2, math.inf)


@dataclass(frozen=True, repr=False)
class Farming:
    """What a team gains by choosing its opponents, others rated as they are.

    Attributes
    ----------
    team, opponents
        Its name, and those of all teams.
    rating
        Where it settles when it meets everybody alike.
    alone
        Where it settles when it meets one opponent only, one entry per team; not a number for itself.
    best, worst
        The opponents that lift it highest and press it lowest, by their numbers, met equally often.
    gain, loss
        What that changes while the others' ratings are held: points above 0, and below.
    reacting_gain, reacting_loss
        The same once the whole league has settled anew; not a number where it does not.

    >>> import kinelo as kn
    >>> found = kn.farming(kn.Tanh(nu=0.5), kn.Normal([0.0, 1.0, 5.0], sigma=1.0), team=2)
    >>> found.best, found.gain > 0 > found.loss
    ((0,), True)
    """

    team: str
    opponents: tuple[str, ...]
    rating: float
    alone: Array
    best: tuple[int, ...]
    worst: tuple[int, ...]
    gain: float
    loss: float
    reacting_gain: float
    reacting_loss: float

    @property
    def sentence(self) -> str:
        """Who to meet, and who not."""
        if max(self.gain, -self.loss) <= 1e-9 * max(1.0, abs(self.rating)):
            return f"{self.team} gains and loses nothing by choosing its opponents."
        gain = f"{self.gain:.3g} higher" if math.isfinite(self.gain) else "rises without end"
        loss = f"{-self.loss:.3g} lower" if math.isfinite(self.loss) else "falls without end"
        held = (
            f"{self.team} is rated {self.rating:.4g} when it meets everybody, {gain} when it meets only "
            f"{self._named(self.best)}, and {loss} when it meets only {self._named(self.worst)}, while the others' "
            "ratings are held."
        )
        if not math.isfinite(self.reacting_gain + self.reacting_loss):
            return held
        return f"{held} Once the league has reacted it is {self.reacting_gain:+.3g} and {self.reacting_loss:+.3g}."

    def __repr__(self) -> str:
        return f"Farming: {self.sentence}"

    def _repr_html_(self) -> str:
        return html_facts([(self.team, self.sentence)])

    def to_dict(self) -> dict[str, object]:
        """Plain numbers and names, ready for JSON."""
        named = {name: [self.opponents[k] for k in getattr(self, name)] for name in ("best", "worst")}
        numbers = {
            name: _finite(getattr(self, name)) for name in ("rating", "gain", "loss", "reacting_gain", "reacting_loss")
        }
        return {"team": self.team, **numbers, **named, "alone": [_finite(one) for one in self.alone.tolist()]}

    def _named(self, group: tuple[int, ...]) -> str:
        names = [self.opponents[k] for k in group]
        return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"


def farming(
    system: RatingSystem | Outcome,
    strengths: Strength,
    team: int | str,
    *,
    opponents: int = 1,
    noise: Noise = "none",
) -> Farming:
    """What a team gains or loses at most by choosing whom it meets.

    Parameters
    ----------
    system, strengths
        The rating system, or its outcome, and the league.
    team
        The team that chooses: its number from 0, or its name.
    opponents
        How many different opponents it must meet, equally often.
    noise
        ``"gaussian"`` lets ratings fluctuate as they do at the system's step.

    Examples
    --------
    >>> import numpy as np, kinelo as kn
    >>> league = kn.Normal(np.linspace(4, 10, 61), sigma=1.0)
    >>> found = farming(kn.Tanh(nu=0.5), league, team=60)
    >>> round(found.rating, 4), round(found.gain, 4), found.best
    (9.2869, 0.4613, (0,))
    """
    system = as_system(system)
    if not isinstance(strengths, Strength):
        raise InputError(f"strengths must be a league such as Normal or LineupLottery, not {one_line(strengths)}.")
    names = strengths.names or ()
    if isinstance(team, str):
        if team not in names:
            accepted = (
                f"one of {', '.join(names[:5])}{' …' * (len(names) > 5)}" if names else "a number: no team has a name"
            )
            raise InputError(f"team must be {accepted}, not {team!r}.")
        number = names.index(team)
    else:
        number = whole("team", team, 0)
        if number >= strengths.teams:
            raise InputError(f"team must be a number from 0 to {strengths.teams - 1}, not {number}.")
    most = whole("opponents", opponents, 1)
    if most > strengths.teams - 1:
        raise InputError(f"opponents must be at most {strengths.teams - 1}, the number of other teams, not {most}.")
    if isinstance(noise, str) and noise == "gaussian" and system.sides > 2:
        raise InputError(f'farming with noise="gaussian" is computed for matches of two, not for {system.schedule!r}.')
    choice = ChoosingTeam(stationary(system, strengths, noise=noise), number)
    best, worst = choice.group(most, 1), choice.group(most, -1)
    names = tuple(choice.state.teams.name(k) for k in range(strengths.teams))
    now = float(choice.state.rating[number])
    return Farming(
        names[number], names, now, freeze(choice.alone()), best, worst, choice.settle(best) - now,
        choice.settle(worst) - now, choice.reacting(best), choice.reacting(worst),
    )  # fmt: skip


def largest_gain(state: StationaryState) -> tuple[int, int, float, float]:
    """The team of a league that gains most by meeting one opponent only, that opponent, and the gain: while the others'
    ratings are held, and once they have reacted.
    """
    s = expected_result(state.system.outcome, state.teams.strengths, state.closure)
    gain = state.rating[None, :] + gap_of(state.system.outcome, s) - state.rating[:, None]
    np.fill_diagonal(gain, -np.inf)  # nobody meets itself
    own, other = np.unravel_index(int(np.argmax(gain)), gain.shape)
    reacting = ChoosingTeam(state, int(own)).reacting([int(other)])
    return int(own), int(other), float(gain[own, other]), reacting


class ChoosingTeam:
    """One team of a settled league, free to choose whom it meets."""

    def __init__(self, state: StationaryState, team: int) -> None:
        self.state, self._own, outcome = state, team, state.system.outcome
        self._outcome, strengths = outcome, state.teams.strengths
        self._results = expected_result(outcome, strengths, state.closure)[team]
        self._decided = 1 - expected_tie(outcome, strengths)[team]
        self._noisy = state.noise == "gaussian"
        if self._noisy:
            steps = settled_steps(state.system, state.theta)
            self._step = float(np.broadcast_to(np.asarray(steps, dtype=np.float64), state.rating.shape)[team])

    @property
    def _others(self) -> NDArray[np.intp]:
        return np.flatnonzero(np.arange(self._results.size) != self._own)

    def alone(self) -> Array:
        """Where it settles against each opponent alone."""
        if self._noisy:
            rating = np.array([math.nan if j == self._own else self.settle((j,)) for j in range(self._results.size)])
        else:
            rating = self.state.rating + gap_of(self._outcome, self._results)
        rating[self._own] = math.nan
        return rating

    def group(self, size: int, sign: int) -> tuple[int, ...]:
        """The opponents, so many of them, that lift the team highest (sign 1) or press it lowest (−1)."""
        others = self._others
        alone = self.state.rating[others] + gap_of(self._outcome, self._results[others])
        ends = np.sort(sign * alone)[::-1][:size] * sign
        if size == 1 or not np.isfinite(ends).all():
            return tuple(sorted(int(k) for k in others[np.argsort(-sign * alone, kind="stable")[:size]]))

        def pull(rating: float) -> Array:
            return sign * (self._results[others] - self._outcome.b(rating - self.state.rating[others]))

        low, high = float(ends.min()), float(ends.max())
        if high - low > 0:
            found = root_scalar(lambda r: float(np.sort(pull(r))[-size:].sum()), bracket=(low, high), xtol=1e-12)
            middle = float(found.root)
        else:
            middle = low
        chosen = others[np.argsort(-pull(middle), kind="stable")[:size]]
        return tuple(sorted(int(k) for k in chosen))

    def settle(self, group: Sequence[int], weights: Array | None = None) -> float:
        """Where it settles when it meets these opponents, with such weights."""
        chosen = np.array(group)
        share = np.full(chosen.size, 1 / chosen.size) if weights is None else weights / weights.sum()
        s, others = self._results[chosen], self.state.rating[chosen]
        ends = others + gap_of(self._outcome, s)
        if not np.isfinite(ends).all() and (np.isposinf(ends).all() or np.isneginf(ends).all()):
            return float(ends[0])
        if not self._noisy:
            return _root(lambda r: float(share @ (s - self._outcome.b(r - others))), ends)
        variance, rating = float(self.state.variance[self._own]), float(self.state.rating[self._own])
        for _ in range(FARMING_PASSES):
            spread = np.sqrt(variance + self.state.variance[chosen])
            rating = _root(lambda r, spread=spread: float(share @ (s - self._means(r - others, spread).mean)), ends)
            means = self._means(rating - others, spread)
            shake = share @ (self._decided[chosen] - 2 * s * means.mean + means.square)
            new = self._step * float(shake) / (2 * float(share @ means.slope))
            if abs(new / variance - 1) <= GOAL:
                break
            variance = new
        return rating

    def reacting(self, group: Sequence[int]) -> float:
        """What it gains by meeting only these opponents once the whole league has settled; not a number if it never
        does. It plays as often as before, and so do the others among themselves.
        """
        if not math.isfinite(self.settle(group)):  # whoever always wins rises, however the others react
            return math.nan
        state, size = self.state, self._results.size
        weight = np.full((size, size), 1 / (size - 1))
        weight[self._own, :] = weight[:, self._own] = 0.0
        weight[self._own, list(group)] = weight[list(group), self._own] = 1 / len(group)
        np.fill_diagonal(weight, 0.0)
        try:
            with few_threads(size):
                if self._noisy:
                    closure = LeagueClosure(state.system, state.teams, state.closure, opponents=weight)
                    rating = closure.solve(settled_steps(state.system, state.theta), state.rating).state.rating
                else:
                    s = expected_result(self._outcome, state.teams.strengths, state.closure)
                    rating = balance_pairs(self._outcome, s, weight, state.rating)
        except (NoStationaryState, LinAlgError):
            return math.nan
        moved = rating - rating.mean() - (state.rating - state.rating.mean())
        return float(moved[self._own])

    def _means(self, gap: Array, spread: Array) -> PairMeans:
        return PairMeans(self._outcome, gap, spread, products=False)


def _root(drift: Callable[[float], float], ends: Array) -> float:
    """Where a falling drift vanishes, near the ratings at which its parts do."""
    known = ends[np.isfinite(ends)]
    low, high = float(known.min()), float(known.max())
    width = max(high - low, 1e-6 * max(1.0, abs(low)))
    while drift(low) < 0:
        low, width = low - width, 2 * width
    while drift(high) > 0:
        high, width = high + width, 2 * width
    return low if low == high else float(root_scalar(drift, bracket=(low, high), xtol=1e-12).root)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
