r"""Fair games against quick ratings: which pairing to choose.

Ratings settle fastest when results tell most of those who are far apart, and games are fair when they bring equals
together. Of a pairing w at the ratings that it settles at, *one-sidedness* is the mean ``|s_ij|`` of the games played,
and *quickness* the matches each team plays until the slowest disturbance is down to 1 %, ``p ln 100/(γλ₂)``, p being
the share of drawn pairs that play. A window alone leaves distant teams connected by long chains of neighbours, and
errors in the distance of its ends heal slowly; where it is narrow, a few games between strangers help.

All of it is meant at the step that is used: noise moves ratings, ratings choose opponents, and a narrow window
stretches the scale. So w, b and their products are averaged over the noise that ratings have under that very pairing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from kinelo.advice.check import SEED, Check, Quantity, check_state
from kinelo.advice.report import Report, Rows
from kinelo.errors import InputError, NoStationaryState
from kinelo.micro.simulate import simulate
from kinelo.model.expectation import expected_result
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import AllPlayAll, Local, LooseWindow, Pairing, Window
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, flag, nonnegative, number, one_line
from kinelo.presentation import json_ready, percent
from kinelo.theory.caveats import WIDEST_NOISE
from kinelo.theory.closure import LeagueClosure, State
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.limit import stationary
from kinelo.theory.relaxation import relaxation_of
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import as_system, teams_of

WINDOW_TOLERANCE = 0.01
WINDOWS_TRIED, FARS = 8, (0.02, 0.1, 0.3)
"""Windows that are tried, by the share of pairs within them, and chances of far pairs."""
FAIR_PASSES, FAIR_ENOUGH = 6, 0.01
"""Tries, and the share of what is allowed within which fairness is found."""
MOST_MATCHED_TEAMS = 600
STRETCH = 0.05
FAR_SCALE, FAR_FLOOR = 0.5, 0.01
"""How much a factor of the chance of far pairs counts beside a factor of the window, and the least that does."""
MOST_HALVINGS = 11
SOLVED = 1e-6
"""Relative change at which a pairing counts as solved: far less than theory is off by."""
QUIET = 20
"""How much narrower than its window a check of speed keeps the noise of a rating difference, as far as
``MOST_PLAYED`` goes."""
MOST_PLAYED = 50_000_000
NEARLY_NEVER = 1e-9
PLAYED = 10_000_000
"""Candidate matches of a check."""


@dataclass(frozen=True)
class PairingOption:
    """A pairing and what it does.

    Attributes
    ----------
    one_sided
        Mean of the absolute expected result, in [0, 1], of the games played: 0 for equals, 1 for certain wins.
    matches, candidates
        Matches that each team plays, and pairs of it that are drawn, until any disturbance is down to 1 %.
    slope, error
        Slope of mean ratings on strengths, and mean square of rating less strength about the league's means.
    stretched
        Whether ratings lie further apart than strengths by more than is allowed: it is then not recommended.
    state
        Where ratings settle, with their noise.
    """

    name: str
    pairing: Pairing
    one_sided: float
    matches: float
    candidates: float
    slope: float
    error: float
    stretched: bool
    state: StationaryState = field(repr=False)

    @property
    def favourite(self) -> float:
        """Points per game that the better team of a game expects."""
        return (1 + self.one_sided) / 2


@dataclass(frozen=True, repr=False)
class Matchmaking(Report):
    """The frontier between fair games and quick ratings.

    Attributes
    ----------
    options
        All pairings that were tried, fairest first.
    frontier
        Those that do not stretch and that no other of them beats in both.
    best
        The quickest pairing that is as fair as wanted and does not stretch; without a wish the one of the system.
    fairness, stretch
        The largest mean ``|expected result|``, and the largest slope less 1, that were wanted.
    small_step
        The largest step, to a tenth, at which ``best`` would not stretch; None where it does not, or where none is.
    check
        What leagues played with ``best`` showed, where asked for.

    >>> import kinelo as kn
    >>> found = kn.matchmaking(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), kn.Fixed([4.0, 5.0, 6.0, 7.0, 9.0]))
    >>> found.best.name, found.frontier[0].one_sided < found.best.one_sided
    ('all play all', True)
    """

    system: RatingSystem
    options: tuple[PairingOption, ...]
    frontier: tuple[PairingOption, ...]
    best: PairingOption
    fairness: float | None
    stretch: float = STRETCH
    small_step: float | None = None
    check: Check | None = None

    _heading = "What to choose"

    @property
    def advice(self) -> tuple[str, ...]:
        """The choice in a sentence, and a warning where it stretches."""
        everyone = next((one for one in self.options if isinstance(one.pairing, AllPlayAll)), None)
        best = self.best
        sentence = (
            f"{best.name}: at γ = {self.system.step:.3g} the better team of a game expects {percent(best.favourite)} "
            f"of the points, ratings settle in {best.matches:,.0f} matches of a team"
        )
        if everyone is not None and best is not everyone:
            ratio = best.matches / everyone.matches
            sentence += f" ({ratio:.2g} times as many as when all play all, {percent(everyone.favourite)})"
        sentence += f", slope {best.slope:.3f}, off by ± {math.sqrt(best.error):.3g}."
        if not best.stretched:
            return (sentence,)
        return sentence, (
            f"It stretches ratings by {percent(best.slope - 1)}: noise moves ratings, and ratings choose opponents. "
            f"Take {_smaller(self.small_step)}a wider pairing."
        )

    def rows(self) -> Rows:
        """Name and finding of every line."""
        shown = [*self.frontier, *([] if self.best in self.frontier else [self.best])]
        rows = [
            (
                each.name,
                f"{each.one_sided:.3f} one-sided, {each.matches:,.0f} matches of a team "
                f"({each.candidates:,.0f} drawn), slope {each.slope:.3f}{' (stretched)' * each.stretched}, "
                f"off by ± {math.sqrt(each.error):.3g}",
            )
            for each in shown
        ]
        left = sum(each.stretched for each in self.options)
        if left:
            words = f"{left} of {len(self.options)} pairings stretch ratings by more than {percent(self.stretch)}"
            rows.append(("Left out", f"{words} at γ = {self.system.step:.3g}"))
        return rows if self.check is None else [*rows, ("Played beside it", self.check.sentence)]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words, ready for JSON."""
        plain = {name: [_plain(one) for one in getattr(self, name)] for name in ("options", "frontier")}
        check = None if self.check is None else self.check.to_dict()
        return json_ready(
            {
                **plain,
                "gamma": self.system.step,
                "best": _plain(self.best),
                "fairness": self.fairness,
                "stretch": self.stretch,
                "small_step": self.small_step,
                "check": check,
            }
        )

    def _title(self) -> str:
        return "Fair games against quick ratings"

    def _sentences(self) -> tuple[str, ...]:
        return self.advice

    def __repr__(self) -> str:
        return f"Matchmaking: {' '.join(self.advice)}"

    def __str__(self) -> str:
        return "\n".join(
            f"{name}: {words}" for name, words in [*self.rows(), *((self._heading, s) for s in self.advice)]
        )


def matchmaking(
    system: RatingSystem | Outcome,
    strengths: Strength,
    *,
    fairness: float | None = None,
    stretch: float = STRETCH,
    pairings: Mapping[str, Pairing] | None = None,
    check: bool = False,
) -> Matchmaking:
    """The frontier between fair games and quick ratings over pairings, and the best for a wanted fairness.

    All numbers are those of the league that has settled at the system's own step, its noise included.

    Parameters
    ----------
    system, strengths
        The rating system, whose pairing is one of those compared, and the league.
    fairness
        Largest mean ``|expected result|`` of a game that is wanted, between 0 and 1: 0.2 lets the better team expect
        60 % of the points. ``best`` is then the quickest pairing that keeps to it.
    stretch
        By how much the slope of ratings on strengths may exceed 1. Pairings beyond it are marked and not recommended.
    pairings
        Further pairings to compare, by name.
    check
        Whether to play leagues with the best pairing, for a few seconds, and show scale, error, fairness and speed.

    Examples
    --------
    >>> import numpy as np, kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.005)
    >>> found = matchmaking(system, kn.Fixed(np.linspace(4, 10, 20)), fairness=0.3)
    >>> found.best.one_sided <= 0.3, found.best.slope < 1.05, type(found.best.pairing).__name__
    (True, True, 'LooseWindow')
    """
    system = as_system(system)
    _check_asked(system, strengths, fairness, pairings)
    check, allowed = flag("check", check), nonnegative("stretch", stretch)
    with few_threads(strengths.teams):
        bench = _Bench(system, strengths, allowed)
        named = {"all play all": AllPlayAll(), "local": Local(), **bench.family(), **(pairings or {})}
        if not system.pairing.constant:
            named["the system's own"] = system.pairing
        tried = [option for name, pairing in named.items() if (option := bench.option(name, pairing)) is not None]
        best = _own(bench, tried)
        if fairness is not None:
            tried += [option for c in bench.widths() if (option := bench.fairly(c, float(fairness))) is not None]
            best = _quickest(bench, tried, float(fairness))
        small = bench.small_step(best.pairing) if best.stretched else None
    tried.sort(key=lambda option: (option.one_sided, option.matches))
    frontier: list[PairingOption] = []  # fairest first, each quicker than every fairer one
    for option in tried:
        if not option.stretched and (not frontier or option.matches < frontier[-1].matches):
            frontier.append(option)
    played = _play(bench, best) if check else None
    return Matchmaking(system, tuple(tried), tuple(frontier), best, fairness, allowed, small, played)


def _own(bench: _Bench, tried: list[PairingOption]) -> PairingOption:
    """The system's own pairing."""
    system = bench.system
    option = next((one for one in tried if one.pairing == system.pairing), None)
    if option is None:
        raise NoStationaryState(
            f"Ratings do not settle with {system.pairing!r} at gamma = {system.step:g}: the league falls apart, or "
            "noise carries teams beyond the reach of those who would hold them. "
            f"Take {_smaller(bench.small_step(system.pairing))}a wider pairing."
        )
    return option


def _smaller(step: float | None) -> str:
    return "" if step is None else f"gamma = {step:.3g} or less, or "


def _quickest(bench: _Bench, tried: list[PairingOption], wanted: float) -> PairingOption:
    """The quickest of those that are as fair as wanted and do not stretch."""
    fair = [one for one in tried if one.one_sided <= wanted * (1 + 1e-9)]
    good = [one for one in fair if not one.stretched]
    if good:
        return min(good, key=lambda one: one.matches)
    if fair:
        least = min(fair, key=lambda one: one.slope)
        raise InputError(
            f"Every pairing that is as fair as {wanted:g} stretches ratings at gamma = {bench.system.step:g}, the "
            f"least by {percent(least.slope - 1)} ({least.name}). "
            f"Take {_smaller(bench.small_step(least.pairing))}a larger stretch=."
        )
    fairest = min(tried, key=lambda one: one.one_sided)
    raise InputError(
        f"No pairing that holds this league together is as fair as {wanted:g}; the fairest found has "
        f"{fairest.one_sided:.3f} ({fairest.name})."
    )


def _check_asked(system: RatingSystem, strengths: object, fairness: object, pairings: object) -> None:
    if not isinstance(strengths, Strength):
        raise InputError(f"strengths must be a league such as Fixed or Normal, not {one_line(strengths)}.")
    if system.schedule is not None:
        raise InputError(f"Matchmaking is computed for matches of two drawn at random, not for {system.schedule!r}.")
    if not isinstance(system.gamma, float):
        raise InputError(f"Matchmaking is computed for one gamma that all teams share, not {system.gamma!r}.")
    if strengths.teams > MOST_MATCHED_TEAMS:
        raise InputError(
            f"Matchmaking is computed for at most {MOST_MATCHED_TEAMS} teams, not {strengths.teams:,}; a league of "
            "fewer with the same spread has the same answer."
        )
    if fairness is not None and not 0 < number("fairness", fairness) <= 1:
        raise InputError(f"fairness must lie between 0 and 1, not {fairness}.")
    if pairings is not None and not (
        isinstance(pairings, Mapping) and all(isinstance(one, Pairing) for one in pairings.values())
    ):
        raise InputError(f"pairings must be Pairings by name, not {pairings!r}.")


class _Bench:
    """Pairings of one league at one step, tried from the ratings at which all play all."""

    def __init__(self, system: RatingSystem, strengths: Strength, stretch: float) -> None:
        self.system, self._teams, self._stretch = system, teams_of(strengths), stretch
        self.results = np.abs(expected_result(system.outcome, strengths))
        self._still = stationary(replace(system, pairing=AllPlayAll()), strengths)
        gap = self._still.rating[:, None] - self._still.rating[None, :]
        self._gap, self._apart = gap, ~np.eye(len(gap), dtype=bool)
        self._known: dict[tuple[float, float], State] = {}

    def widths(self, count: int = WINDOWS_TRIED) -> list[float]:
        """Windows between two gaps of teams, where on a gap the last bit would decide, and not within noise."""
        gaps = np.abs(self._gap[self._apart])
        known = np.unique(gaps.round(9))
        if known.size < 3:
            return []
        places = np.searchsorted(known, np.quantile(gaps, np.geomspace(0.04, 0.9, count)))
        found = [float(known[k - 1] + known[k]) / 2 for k in np.unique(np.clip(places, 1, known.size - 1))]
        # A window within the noise of ratings does not choose whom it means to.
        noise = math.sqrt(self.system.step / self.system.outcome.steepest)
        return [c for c in found if noise <= WIDEST_NOISE * c]

    def family(self) -> dict[str, Pairing]:
        """Windows, and windows with strangers."""
        pairings: dict[str, Pairing] = {}
        # From the widest: what is found of one is where the next begins.
        for c in reversed(self.widths()):
            for far in reversed(FARS):
                pairings[f"window {c:.3g}, others {far:.2g}"] = LooseWindow(c, far)
            pairings[f"window {c:.3g}"] = Window(c)
        return pairings

    def option(self, name: str, pairing: Pairing, gamma: float | None = None) -> PairingOption | None:
        """What a pairing does; None where it lets the league fall apart, or ratings do not settle."""
        system = replace(self.system, pairing=pairing, gamma=self.system.step if gamma is None else gamma)
        state = self._settle(system, again=gamma is None)
        if state is None:
            return None
        slowest = relaxation_of(state)
        chance = self.chances(state)
        if connected_components(chance > NEARLY_NEVER, directed=False)[0] > 1 or not slowest.gap > 0:
            return None
        matches = slowest.matches_per_team(WINDOW_TOLERANCE)
        one_sided = float((chance * self.results).sum() / chance.sum())
        stretched = bool(state.slope > 1 + self._stretch)
        candidates = matches / slowest.played
        return PairingOption(name, pairing, one_sided, matches, candidates, state.slope, state.error, stretched, state)

    def small_step(self, pairing: Pairing) -> float | None:
        """The largest step, to a tenth, at which a pairing lets ratings settle without stretching them."""

        def fits(gamma: float) -> bool:
            option = self.option("", pairing, gamma)
            return option is not None and not option.stretched

        reachable = next((step for k in range(1, MOST_HALVINGS) if fits(step := self.system.step / 2**k)), None)
        if reachable is not None:
            for share in (1 / 2, 1 / 4, 1 / 8):
                reachable = wider if fits(wider := reachable * 2**share) else reachable
        return reachable

    def chances(self, state: StationaryState) -> Array:
        """How often each pair plays when it is drawn, over the noise of ratings."""
        if state.system.pairing.constant:
            return self._apart.astype(np.float64)
        U = state.variance if state.covariance is None else state.covariance
        return np.where(self._apart, LeagueClosure(state.system, self._teams).meetings(state.rating, U)[1], 0.0)

    def _settle(self, system: RatingSystem, *, again: bool) -> StationaryState | None:
        """Ratings with their noise, from those of the pairing before where that leads there."""
        closure = LeagueClosure(system, self._teams)
        place = self._place(system.pairing)
        near = min(self._known, key=lambda one: math.dist(one, place), default=place) if again else place
        try:
            settled = closure.solve(system.step, self._still.rating, self._known.get(near), SOLVED)
        except NoStationaryState:
            return None
        if again:
            self._known[place] = settled.state
        noise = settled.fluctuation
        return replace(
            self._still, system=system, noise="gaussian", rating=noise.rating, variance=noise.variance,
            covariance=noise.covariance, kind=noise.kind, residual=noise.residual,
        )  # fmt: skip

    def _place(self, pairing: Pairing) -> tuple[float, float]:
        """How narrow a pairing is, and how often far pairs meet: on scales along which ratings move about as much."""
        c, far = pairing.box if pairing.box is not None else (float(np.ptp(self._still.rating)), 0.0)
        return math.log(c), FAR_SCALE * math.log(far + FAR_FLOOR)

    def fairly(self, c: float, wanted: float) -> PairingOption | None:
        """A window with just so many strangers that games are as one-sided as allowed at the ratings they lead to, by
        halving and a secant; None where the window alone is unfair.
        """
        excess = np.where(self._apart, self.results - wanted, 0.0)
        inside, everywhere = float((excess * (np.abs(self._gap) <= c)).sum()), float(excess.sum())
        if inside > 0 or everywhere <= 0:
            return None
        low, high, best = 0.0, 1.0, None
        far = inside / (inside - everywhere)
        for _ in range(FAIR_PASSES):
            window = self.option(f"window {c:.3g}, others {far:.2g}", LooseWindow(c, far))
            if window is None:
                return best
            if window.one_sided <= wanted:
                low, best = far, window
                if window.one_sided >= wanted * (1 - FAIR_ENOUGH):
                    return best
            else:
                high = far
            # As one-sidedness of small steps answers to strangers, and no further than is known.
            aim = far * (wanted * (1 - FAIR_ENOUGH / 2) / window.one_sided) ** 2
            far = aim if low < aim < high else (low + high) / 2
            if high < NEARLY_NEVER:
                return best
        return best


def _play(bench: _Bench, option: PairingOption) -> Check:
    """Leagues at the step that is used, their scale, error and fairness; and how fast small steps settle.

    For that, leagues start a little to both sides along the slowest disturbance, with the same draws, and it decays.
    Steps are so small that noise does not blur the pairing; the number of matches goes with 1/γ. The first of two lives
    of the disturbance is left out: what is not quite the slowest has died by then.
    """
    checked = check_state(option.state, fairness=(bench.results, option.one_sided))
    system, strengths = option.state.system, option.state.teams.strengths
    outcome, teams = system.outcome, strengths.teams
    scale = min([abs(jump) for jump in system.pairing.jumps] + [0.5 / outcome.sharpness])
    per_step, fewest = max(1, teams // 2), 8
    gap = relaxation_of(option.state).gap
    gamma = min(system.step, outcome.steepest * (scale / QUIET) ** 2)
    gamma = min(system.step, max(gamma, 4 * fewest * per_step / (MOST_PLAYED * gap)))
    quiet = bench.option(option.name, option.pairing, gamma)
    if quiet is None:
        return checked
    slowest = relaxation_of(quiet.state)
    push = 0.2 * scale * slowest.mode / np.abs(slowest.mode).max()
    life = max(2, round(1 / (gamma * slowest.gap)))
    leagues = int(np.clip(PLAYED // (4 * life * per_step), fewest, 200))
    runs = [
        simulate(
            replace(system, gamma=gamma), strengths, steps=2 * life, matches_per_step=per_step, realisations=leagues,
            seed=SEED, record_every=life, start=quiet.state.rating + sign * push,
        ).rating.values
        for sign in (1, -1)
    ]  # fmt: skip
    left = ((runs[0] - runs[1]) / 2 @ push / (push @ push))[:, 1:]
    before, after = np.maximum(left.mean(axis=0), 1e-12)
    rate = max(math.log(before / after), 1e-9) / (life * per_step * 2 / teams)
    played = quiet.matches * gamma * slowest.gap / rate
    # Leagues are alike: what is left of one after a life varies by its share of what was left before.
    doubt = float((left[:, 1] / after - left[:, 0] / before).std(ddof=1)) / math.sqrt(leagues)
    error = played * doubt / max(math.log(before / after), 1e-9)
    speed = Quantity(f"matches of a team at γ = {gamma:.3g}", quiet.matches, played, error)
    return replace(checked, quantities=(*checked.quantities, speed))


def _plain(one: PairingOption) -> dict[str, object]:
    names = ("name", "one_sided", "matches", "candidates", "slope", "error", "stretched")
    return {name: getattr(one, name) for name in names}
