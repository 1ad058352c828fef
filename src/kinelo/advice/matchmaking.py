r"""Fair games against quick ratings: which pairing to choose.

Ratings settle fastest when results tell most of those who are far apart, and games are fair when they bring equals
together. Of a pairing w at its stationary ratings, *one-sidedness* is the mean ``|s_ij|`` of the games played, and
*quickness* the matches each team plays until the slowest disturbance is down to 1 %, ``p ln 100/(γλ₂)``, p being the
share of drawn pairs that play, both for small steps. A window alone leaves distant teams connected by long chains of
neighbours, and errors in the distance of its ends heal slowly; where it is narrow, a few games between strangers help.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.csgraph import connected_components

from kinelo.advice.check import Check, Quantity
from kinelo.advice.report import Report, Rows
from kinelo.errors import InputError, NoStationaryState
from kinelo.micro.simulate import simulate
from kinelo.model.expectation import expected_result
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import AllPlayAll, Local, LooseWindow, Pairing, Window
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, flag, number, one_line
from kinelo.presentation import json_ready, percent
from kinelo.theory.caveats import WIDEST_NOISE
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.limit import stationary
from kinelo.theory.pair_means import mass_laplacian
from kinelo.theory.selective import drift_and_slope, equilibrium
from kinelo.theory.teams import as_system, teams_of

WINDOW_TOLERANCE = 0.01
WINDOWS_TRIED, FARS = 12, (0.01, 0.03, 0.1, 0.3)
"""Windows that are tried, by the share of pairs within them, and chances of far pairs."""
MOST_MATCHED_TEAMS = 600
QUIET = 20
"""How much narrower than its window a check keeps the noise of a rating difference, as far as ``MOST_PLAYED`` goes."""
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
    """

    name: str
    pairing: Pairing
    one_sided: float
    matches: float
    candidates: float

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
        Those of them that no other beats in both.
    best
        The quickest pairing that is as fair as wanted; without a wish the one of the system.
    fairness
        The largest mean ``|expected result|`` that was wanted.
    check
        What leagues played with ``best`` showed, where asked for.

    >>> import kinelo as kn
    >>> found = kn.matchmaking(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), kn.Fixed([4.0, 5.0, 6.0, 7.0, 9.0]))
    >>> found.best.name, found.frontier[0].one_sided < found.best.one_sided
    ('all play all', True)
    """

    system: RatingSystem
    options: tuple[PairingOption, ...] = field(repr=False)
    frontier: tuple[PairingOption, ...]
    best: PairingOption
    fairness: float | None
    check: Check | None = None

    _heading = "What to choose"

    @property
    def advice(self) -> tuple[str, ...]:
        """The choice in a sentence."""
        everyone = next(one for one in self.options if isinstance(one.pairing, AllPlayAll))
        best, ratio = self.best, self.best.matches / everyone.matches
        said = (
            f"{best.name}: the better team of a game expects {percent(best.favourite)} of the points, and ratings "
            f"settle in {best.matches:,.0f} matches of a team"
        )
        if best is everyone:
            return (f"{said}.",)
        return (f"{said}, {ratio:.2g} times as many as when all play all ({percent(everyone.favourite)}).",)

    def rows(self) -> Rows:
        """Name and finding of every line."""
        rows = [
            (
                one.name,
                f"{one.one_sided:.3f} one-sided, {one.matches:,.0f} matches of a team ({one.candidates:,.0f} drawn)",
            )
            for one in self.frontier
        ]
        return rows if self.check is None else [*rows, ("Played beside it", self.check.sentence)]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and words, ready for JSON."""
        plain = {name: [_plain(one) for one in getattr(self, name)] for name in ("options", "frontier")}
        check = None if self.check is None else self.check.to_dict()
        return json_ready({**plain, "best": _plain(self.best), "fairness": self.fairness, "check": check})

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
    pairings: Mapping[str, Pairing] | None = None,
    check: bool = False,
) -> Matchmaking:
    """The frontier between fair games and quick ratings over pairings, and the best for a wanted fairness.

    Parameters
    ----------
    system, strengths
        The rating system, whose pairing is one of those compared, and the league.
    fairness
        Largest mean ``|expected result|`` of a game that is wanted, between 0 and 1: 0.2 lets the better team expect
        60 % of the points. ``best`` is then the quickest pairing that keeps to it.
    pairings
        Further pairings to compare, by name.
    check
        Whether to play leagues with the best pairing, for a second or two, and show both speeds.

    Examples
    --------
    >>> import numpy as np, kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
    >>> found = matchmaking(system, kn.Fixed(np.linspace(4, 10, 40)), fairness=0.3)
    >>> found.best.one_sided <= 0.3, type(found.best.pairing).__name__
    (True, 'LooseWindow')
    """
    system = as_system(system)
    _check_asked(system, strengths, fairness, pairings)
    check = flag("check", check)
    with few_threads(strengths.teams):
        bench = _Bench(system, strengths)
        named = {"all play all": AllPlayAll(), "local": Local(), **bench.family(), **(pairings or {})}
        if not system.pairing.constant:
            named["the system's own"] = system.pairing
        tried = [one for name, pairing in named.items() if (one := bench.option(name, pairing)) is not None]
        best = next((one for one in tried if one.pairing == system.pairing), tried[0])
        if fairness is not None:
            wanted = float(fairness)
            tried += bench.as_fair_as(wanted)
            fair = [one for one in tried if one.one_sided <= wanted + 1e-9]
            if not fair:
                fairest = min(tried, key=lambda one: one.one_sided)
                raise InputError(
                    f"No pairing that holds this league together is as fair as {wanted:g}; the fairest found has "
                    f"{fairest.one_sided:.3f} ({fairest.name})."
                )
            best = min(fair, key=lambda one: one.matches)
    tried.sort(key=lambda one: (one.one_sided, one.matches))
    slowest, played = bench.slowest(best.pairing), None
    if check and slowest is not None:
        played = _play(replace(system, pairing=best.pairing), strengths, slowest, best)
    return Matchmaking(system, tuple(tried), tuple(_frontier(tried)), best, fairness, played)


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


def _frontier(options: list[PairingOption]) -> list[PairingOption]:
    """Options, fairest first, that are quicker than every fairer one."""
    kept: list[PairingOption] = []
    for one in options:
        if not kept or one.matches < kept[-1].matches:
            kept.append(one)
    return kept


class _Bench:
    """Pairings of one league, tried from the ratings at which all play all."""

    def __init__(self, system: RatingSystem, strengths: Strength) -> None:
        self._system, self._teams = system, teams_of(strengths)
        self._signed = expected_result(system.outcome, strengths)
        self._results = np.abs(self._signed)
        self._start = stationary(replace(system, pairing=AllPlayAll()), strengths).rating
        gap = self._start[:, None] - self._start[None, :]
        self._gap, self._apart = gap, ~np.eye(len(gap), dtype=bool)

    def widths(self, count: int = WINDOWS_TRIED) -> list[float]:
        """Windows between two gaps of teams: on a gap the last bit would decide."""
        gaps = np.abs(self._gap[self._apart])
        known = np.unique(gaps.round(9))
        if known.size < 3:
            return []
        places = np.unique(np.searchsorted(known, np.quantile(gaps, np.geomspace(0.03, 0.9, count))))
        found = [float(known[k - 1] + known[k]) / 2 for k in np.clip(places, 1, known.size - 1)]
        # A window within the noise of ratings does not choose whom it means to.
        noise = math.sqrt(self._system.step / self._system.outcome.steepest)
        return [c for c in found if noise <= WIDEST_NOISE * c]

    def family(self) -> dict[str, Pairing]:
        """Windows, and windows with strangers."""
        found: dict[str, Pairing] = {}
        for c in self.widths():
            found[f"window {c:.3g}"] = Window(c)
            for far in FARS:
                found[f"window {c:.3g}, others {far:.2g}"] = LooseWindow(c, far)
        return found

    def option(self, name: str, pairing: Pairing) -> PairingOption | None:
        """What a pairing does; None where it lets the league fall apart, or ratings do not rest."""
        mode = self.slowest(pairing)
        if mode is None:
            return None
        matches = mode.played * math.log(1 / WINDOW_TOLERANCE) / (self._system.step * mode.gap)
        return PairingOption(name, pairing, mode.one_sided, matches, matches / mode.played)

    def slowest(self, pairing: Pairing) -> Slowest | None:
        """The slowest disturbance under a pairing."""
        rating, mass = self._start, self._teams.mass
        if not pairing.constant:
            try:
                rating = equilibrium(replace(self._system, pairing=pairing), self._teams, "exact", rating).positions
            except NoStationaryState:
                return None
        _, slope = drift_and_slope(replace(self._system, pairing=pairing), self._signed, mass, rating)
        w = pairing.w(rating[:, None] - rating[None, :])
        w = np.where(self._apart, w, 0.0)
        if connected_components(w > NEARLY_NEVER, directed=False)[0] > 1:
            return None
        rates, modes = eigh(mass_laplacian(slope, mass))
        if not rates[1] > NEARLY_NEVER * rates[-1]:
            return None
        one_sided, played = float((w * self._results).sum() / w.sum()), float(w[self._apart].mean())
        return Slowest(float(rates[1]) * self._teams.crowding, modes[:, 1], rating, played, one_sided)

    def as_fair_as(self, wanted: float) -> list[PairingOption]:
        """Windows with just so many strangers that games are as one-sided as allowed."""
        found = []
        excess = np.where(self._apart, self._results - wanted, 0.0)
        for c in self.widths(2 * WINDOWS_TRIED):
            near = np.abs(self._gap) <= c
            inside, everywhere = float((near * excess).sum()), float(excess.sum())
            if inside > 0:
                continue
            far, one = 1.0 if everywhere <= 0 else inside / (inside - everywhere), None
            # Ratings answer to the pairing, and with them how one-sided its games are.
            for _ in range(4):
                one = self.option(f"window {c:.3g}, others {far:.2g}", LooseWindow(c, far))
                if one is None or one.one_sided <= wanted:
                    break
                far *= 0.98 * wanted / one.one_sided
            if one is not None:
                found.append(one)
        return found


@dataclass(frozen=True)
class Slowest:
    """The slowest disturbance of a league: its rate per match drawn and unit of γ, its shape, the ratings it is one of,
    the share of drawn pairs that play, and how one-sided their games are.
    """

    gap: float
    mode: Array
    rating: Array
    played: float
    one_sided: float


def _play(system: RatingSystem, strengths: Strength, found: Slowest, option: PairingOption, seed: int = 1) -> Check:
    """Start leagues a little to both sides along the slowest disturbance, with the same draws, and see it decay.

    Steps are so small that noise does not blur the pairing; the number of matches goes with 1/γ. The first of two lives
    of the disturbance is left out: what is not quite the slowest has died by then.
    """
    outcome, teams = system.outcome, strengths.teams
    scale = min([abs(jump) for jump in system.pairing.jumps] + [0.5 / outcome.sharpness])
    per_step, fewest = max(1, teams // 2), 8
    gamma = min(system.step, outcome.steepest * (scale / QUIET) ** 2)
    gamma = min(system.step, max(gamma, 4 * fewest * per_step / (MOST_PLAYED * found.gap)))
    push = 0.2 * scale * found.mode / np.abs(found.mode).max()
    life = max(2, round(1 / (gamma * found.gap)))
    leagues = int(np.clip(PLAYED // (4 * life * per_step), fewest, 200))
    runs = [
        simulate(
            replace(system, gamma=gamma), strengths, steps=2 * life, matches_per_step=per_step, realisations=leagues,
            seed=seed, record_every=life, start=found.rating + sign * push,
        ).rating.values
        for sign in (1, -1)
    ]  # fmt: skip
    left = ((runs[0] - runs[1]) / 2 @ push / (push @ push))[:, 1:]
    before, after = np.maximum(left.mean(axis=0), 1e-12)
    rate = max(math.log(before / after), 1e-9) / (life * per_step * 2 / teams)
    played = option.matches * gamma * found.gap / rate
    # Leagues are alike: what is left of one after a life varies by its share of what was left before.
    doubt = float((left[:, 1] / after - left[:, 0] / before).std(ddof=1)) / math.sqrt(leagues)
    error = played * doubt / max(math.log(before / after), 1e-9)
    return Check((Quantity("matches of a team", option.matches, played, error),), 2 * life, leagues)


def _plain(one: PairingOption) -> dict[str, object]:
    return {"name": one.name, "one_sided": one.one_sided, "matches": one.matches, "candidates": one.candidates}
