"""``kn.design``: rating systems compared before there is a league, by how near their ratings come to strengths.

Numbers come from theory (:mod:`kinelo.advice.design_theory`), and with ``check=True`` from leagues that are played too;
this module compares them and says so in words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinelo.advice.check import Check, Quantity, as_walked, before_walk, last_records
from kinelo.advice.design_theory import expected_error
from kinelo.advice.report import with_error
from kinelo.advice.settling import Beginning, beginning
from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Dynamics, Walk
from kinelo.model.expectation import outcome_probabilities
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import AllPlayAll
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import flag, one_line, whole
from kinelo.presentation import Column, Table, number, words
from kinelo.theory.covariance import matches_together
from kinelo.theory.moving.best import BestGamma, best_gamma
from kinelo.theory.moving.following import Moments, Parts
from kinelo.theory.pair_means import normal_nodes

if TYPE_CHECKING:
    import polars as pl

    from kinelo.model.validation import Array

DESIGN_RECORDS = 24
MOST_PLAYED = 100_000_000
"""Matches of all leagues of one system that are played at most, those before a league has settled among them."""
DRIFTING = 4.0, 0.1
"""A league has not settled whose error still changes by more than so many standard errors, and by more than a tenth."""
MOST_PAIRS_LISTED = 1_000_000
"""Pairs, records and leagues taken together, over which log-loss is averaged at most."""
LEAST_CHANCE = 1e-300


@dataclass(frozen=True)
class Compared:
    """One system: the mean square of rating less strength, about the means of the league.

    Attributes
    ----------
    name, system
        What was asked.
    theory, parts
        E by theory and its parts; None where theory has no answer (:mod:`kinelo.advice.design_theory` says where).
    error, standard_error
        E by simulation; not a number where leagues had not settled.
    log_loss
        Expected log-loss of a match between any two teams, whose performances vary, forecast by their ratings, in the
        simulation; likewise.
    rating_slope, forecast_slope
        Slope of ratings on strengths, and of strengths on ratings (1 is calibrated), by simulation; likewise.
    settling
        Matches of a team that a league takes to settle: three times the memory of its slowest mode.
    check
        Theory and simulation of E side by side, where that was asked for.
    """

    name: str
    system: RatingSystem = field(repr=False)
    theory: float | None
    parts: Parts | None = field(repr=False)
    error: float
    standard_error: float
    log_loss: float
    rating_slope: float
    forecast_slope: float
    settling: float = 0.0
    check: Check | None = field(default=None, repr=False)

    @property
    def settled(self) -> bool:
        """Whether leagues had settled when they were judged."""
        return not math.isnan(self.error)

    @property
    def z(self) -> float | None:
        """Simulated less theoretical error in standard errors; None where one of them is missing."""
        if self.theory is None or not self.settled:
            return None
        return Quantity("E", self.theory, self.error, self.standard_error).z


@dataclass(frozen=True)
class Design:
    """Systems compared on one league, the best first.

    Attributes
    ----------
    systems
        What each does.
    best
        γ* and the curve E(γ) of constant steps, newcomers included, under outcome, pairing and schedule of the system
        that comes first; None where theory has none.

    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1)
    >>> found = kn.design(kn.Fixed([0.0] * 20), kn.model.Form(rate=0.01, spread=1.0), {"constant": system})
    >>> found.table.height, found.verdict.split(":")[0]
    (1, 'constant comes nearest to strengths')
    """

    systems: tuple[Compared, ...]
    best: BestGamma | None

    @property
    def verdict(self) -> str:
        """The answer in a few sentences: who comes nearest to strengths, among leagues that have settled."""
        judged = [one for one in self.systems if one.settled]
        sentences = [self._first(judged)] if judged else []
        waiting = [f"{one.name} (about {one.settling:,.0f})" for one in self.systems if not one.settled]
        if waiting:
            sentences.append(
                f"Not judged, because leagues take more matches of a team to settle than are played: "
                f"{', '.join(waiting)}{'; E by theory is in the table' * any(one.theory for one in self.systems)}."
            )
        apart = [one.name for one in self.systems if one.check is not None and not one.check.agrees]
        if apart:
            sentences.append(f"Theory and league disagree on {', '.join(apart)}; the league decides.")
        return " ".join(sentences)

    def _first(self, judged: Sequence[Compared]) -> str:
        first, *others = judged
        sentence = f"{first.name} comes nearest to strengths: off by ± {math.sqrt(first.error):.3g}"
        if others:
            second = others[0]
            doubt = 2 * math.hypot(first.standard_error, second.standard_error)
            tied = ", no surer than " if second.error - first.error < doubt else ", before "
            sentence += f"{tied}{second.name} with ± {math.sqrt(second.error):.3g}"
        if self.best is not None and self.best.gamma > 0:
            paired = "" if first.system.pairing.constant else " of its pairing"
            sentence += f"; the best constant step{paired} is γ = {self.best.gamma:.3g} (K = {2 * self.best.gamma:.3g})"
        elif self.best is not None:
            sentence += (
                "; of constant steps the smaller the better, and the price is patience: half the step takes twice as "
                f"long to settle ({first.name}: {first.settling:,.0f} matches of a team)"
            )
        return f"{sentence}."

    @property
    def table(self) -> pl.DataFrame:
        """One row per system."""
        import polars as pl

        return pl.DataFrame(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        names = (
            "name", "theory", "settling", "error", "standard_error", "z", "log_loss", "rating_slope", "forecast_slope",
        )  # fmt: skip
        return [{name: _known(getattr(one, name)) for name in names} for one in self.systems]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, words and lists, ready for JSON."""
        best = None if self.best is None else self.best.to_dict()
        return {"verdict": self.verdict, "systems": self._rows(), "best": best}

    def __repr__(self) -> str:
        return f"Design: {self.verdict}"

    def _repr_html_(self) -> str:
        return design_table(self).html()


def _known(value: Any) -> Any:
    """A value, or None for what is not a number or infinite: JSON and tables know neither."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def design_table(comparison: Design) -> Table:
    """The verdict above one row per system: E by theory and by simulation, log-loss and slopes."""
    simulated = Column(
        "E by simulation",
        lambda row: (
            "not settled" if row["error"] is None else with_error(row["error"], row["standard_error"], ".4g", ".3g")
        ),
        number=True,
    )
    columns = [words("System", "name"), number("E by theory", "theory", ".4g"), simulated]
    slopes = {"rating_slope": "ratings on strengths", "forecast_slope": "strengths on ratings"}
    columns += [number("log-loss", "log_loss", ".4f"), *(number(said, name, ".3f") for name, said in slopes.items())]
    return Table(columns, comparison.table.to_dicts(), comparison.verdict)


def design(
    strengths: Strength,
    dynamics: Dynamics | Sequence[Dynamics] | None,
    systems: Mapping[str, RatingSystem] | Sequence[RatingSystem],
    *,
    matches: int = 600,
    realisations: int = 8,
    seed: int = 1,
    check: bool = False,
) -> Design:
    """Compare rating systems on one league: constant steps, rules of steps, pairings, schedules.

    Parameters
    ----------
    strengths, dynamics
        The league, and how its strengths move (None: not at all). Strengths that walk are those halfway through the
        matches that are judged; before, they lay nearer together.
    systems
        What to compare, by name or in a list.
    matches, realisations, seed
        Matches per team that are judged, after the league was left to settle from the ratings that theory knows: for
        half as many, or for three times as long as its slowest mode remembers where that is longer; how many leagues
        are played; their random stream. Rounds and periods are judged at their ends. A league that takes too long to
        settle, or whose error still changes, is not judged.
    check
        Whether each system shows theory and simulation side by side, with a z-score, and the verdict says where they
        disagree.

    Examples
    --------
    >>> import kinelo as kn
    >>> slow, fast = (kn.RatingSystem(kn.Tanh(nu=0.5), gamma=g) for g in (0.1, 1.0))
    >>> found = kn.design(kn.Fixed([0.0] * 20), kn.model.Form(rate=0.01, spread=1.0), {"slow": slow, "fast": fast})
    >>> found.systems[0].name, round(found.best.gamma, 3)
    ('slow', 0.114)
    """
    if not isinstance(strengths, Strength):
        raise InputError(f"strengths must be a league such as Fixed or Normal, not {one_line(strengths)}.")
    named, asked = _name_systems(systems), flag("check", check)
    size = whole("matches", matches, 30), whole("realisations", realisations, 2), whole("seed", seed, 0)
    begin = {name: beginning(one, strengths, dynamics) for name, one in named.items()}
    settling = {name: max(size[0] / 2, one.settling) for name, one in begin.items()}
    if isinstance(dynamics, Walk):  # strengths go on spreading: all are judged at one moment
        settling = dict.fromkeys(named, max(settling.values()))
    judged = [
        _compare(name, one, strengths, dynamics, _Plan(*size, settling[name], begin[name]))
        for name, one in named.items()
    ]
    judged.sort(key=lambda one: one[0].error if one[0].settled else math.inf)
    compared = tuple(
        replace(one, check=Check((Quantity("mean square error", one.theory, one.error, one.standard_error),), 0, 0))
        if asked and one.theory is not None and one.settled
        else one
        for one, _ in judged
    )
    best = None
    with suppress(InputError, NoStationaryState):  # other leagues are played, and have no curve
        best = best_gamma(compared[0].system, judged[0][1], dynamics)
    return Design(compared, best)


def _name_systems(systems: object) -> dict[str, RatingSystem]:
    if isinstance(systems, RatingSystem):
        systems = [systems]
    if isinstance(systems, Mapping):
        named = {str(name): one for name, one in systems.items()}
    elif isinstance(systems, Sequence) and not isinstance(systems, str):
        named = {_name_of(one, place): one for place, one in enumerate(systems)}
    else:
        raise InputError(f"systems must be RatingSystems in a list or by name, not {systems!r}.")
    if not named:
        raise InputError("systems is empty: there is nothing to compare.")
    for name, one in named.items():
        if not isinstance(one, RatingSystem):
            raise InputError(f"systems must hold RatingSystems, but {name!r} is {one!r}.")
    return named


def _name_of(system: object, place: int) -> str:
    if not isinstance(system, RatingSystem):
        return f"system {place + 1}"
    step = f"γ = {system.gamma:g}" if isinstance(system.gamma, float) else type(system.gamma).__name__
    pairing = "" if isinstance(system.pairing, AllPlayAll) else f", {type(system.pairing).__name__}"
    schedule = "" if system.schedule is None else f", {type(system.schedule).__name__}"
    return f"{place + 1}: {step}{pairing}{schedule}"


class _Plan(NamedTuple):
    """Matches per team that are judged, leagues, their random stream, matches per team before those judged, and where
    the league begins.
    """

    matches: int
    realisations: int
    seed: int
    settling: float
    begin: Beginning


def _compare(
    name: str, system: RatingSystem, strengths: Strength, dynamics: Any, plan: _Plan
) -> tuple[Compared, Strength]:
    """What a system does, and the league that it was judged on: strengths that walk spread on the way."""
    teams = strengths.teams
    batch = matches_together(system.schedule, teams)
    every = max(round(plan.matches / DESIGN_RECORDS / batch), 1)
    judged = every * DESIGN_RECORDS
    # What is asked to be judged may be as long as a league can be played; what it waits for may not.
    waited = plan.settling if plan.settling > plan.matches / 2 else 0.0
    if not waited * teams * plan.realisations / system.sides <= MOST_PLAYED:
        theory = _known_error(system, plan) or expected_error(system, strengths, dynamics, plan.matches)
        return _unsettled(name, system, theory, plan), strengths
    settling = every * math.ceil(plan.settling / (every * batch))
    steps, middle = settling + judged, batch * (settling + judged / 2)
    begin, start, walks = strengths, plan.begin.rating, isinstance(dynamics, Walk)
    if walks:
        begin = before_walk(strengths, dynamics, middle)
        start = beginning(system, begin).rating
    records = steps, every, DESIGN_RECORDS
    played = last_records(system, begin, dynamics, records, plan.realisations, plan.seed, start)
    strengths = as_walked(strengths, played[1]) if walks else strengths
    rating, strength = (values - values.mean(axis=-1, keepdims=True) for values in played)
    freedom = teams / max(teams - 1, 1)
    errors = freedom * ((rating - strength) ** 2).mean(axis=2)
    theory = None if walks else _known_error(system, plan)
    theory = theory or expected_error(system, strengths, dynamics, middle)
    if not walks and _drifts(errors):
        return _unsettled(name, system, theory, plan), strengths
    each = errors.mean(axis=1)
    pairs = (strength, strength), (strength, rating), (rating, rating)
    moments = Moments(*(float((one * other).mean()) for one, other in pairs))
    total = None if theory is None else theory.total
    doubt = float(each.std(ddof=1)) / math.sqrt(plan.realisations)
    loss = log_loss(system.outcome, strengths, strength, rating)
    slopes = moments.rating_slope, moments.forecast_slope
    compared = Compared(name, system, total, theory, float(each.mean()), doubt, loss, *slopes, plan.begin.settling)
    return compared, strengths


def _known_error(system: RatingSystem, plan: _Plan) -> Parts | None:
    """The error that was found with the place where the league begins; steps that fall have another one later."""
    return plan.begin.error if isinstance(system.gamma, float) else None


def _unsettled(name: str, system: RatingSystem, theory: Parts | None, plan: _Plan) -> Compared:
    total = None if theory is None else theory.total
    unknown = math.nan, math.nan, math.nan, math.nan, math.nan
    return Compared(name, system, total, theory, *unknown, settling=plan.begin.settling)


def _drifts(errors: Array) -> bool:
    """Whether errors (leagues × records) are larger or smaller in the later half than chance explains."""
    half = errors.shape[1] // 2
    change = errors[:, half:].mean(axis=1) - errors[:, :half].mean(axis=1)
    doubt = float(change.std(ddof=1)) / math.sqrt(change.size)
    surprise, share = DRIFTING
    return abs(float(change.mean())) > max(surprise * doubt, share * float(errors.mean()))


def log_loss(outcome: Outcome, league: Strength, strength: Array, rating: Array) -> float:
    """Mean over all pairs of ``−Σ p log q``, p the chances of their varying performances, q those of their ratings.

    ``strength`` and ``rating`` are leagues × records × teams; performances vary about strengths as those of the league
    do about its means, normally where strengths move.
    """
    i, j = np.triu_indices(league.teams, 1)
    strength, rating = (one.reshape(-1, league.teams) for one in (strength, rating))
    # Where there are many pairs, some of the records say as much as all.
    thin = max(1, strength.shape[0] * i.size // MOST_PAIRS_LISTED)
    strength, rating = strength[::thin], rating[::thin]
    if np.ptp(strength, axis=0).max() == 0:
        true = tuple(one[i, j] for one in outcome_probabilities(outcome, league))
    else:
        spread = np.sqrt(league.sigma[i] ** 2 + league.sigma[j] ** 2)
        true = _chances(outcome, strength[:, i] - strength[:, j], spread)
    said = _chances(outcome, rating[:, i] - rating[:, j], np.zeros(i.size))
    return -sum(float((p * np.log(np.maximum(q, LEAST_CHANCE))).mean()) for p, q in zip(true, said))


def _chances(outcome: Outcome, gap: Array, spread: Array) -> tuple[Array, Array, Array]:
    """Win, tie and loss at gaps of strength, averaged over normal performances."""
    b, tie = np.zeros(gap.shape), np.zeros(gap.shape)
    nodes = normal_nodes(float(spread.max()) * outcome.nu) if spread.any() else (np.zeros(1), np.ones(1))
    for x, weight in zip(*nodes):
        z = gap + x * spread
        b += weight * outcome.b(z)
        if outcome.has_ties:
            tie += weight * outcome.tie_probability(z)
    return (1 - tie + b) / 2, tie, (1 - tie - b) / 2
