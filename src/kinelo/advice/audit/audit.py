"""One league, one question: is the rating system in use any good, and which K should it have?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.advice.audit.calendar import Readable, readable
from kinelo.advice.audit.curve import KCurve, Theory, k_curve
from kinelo.advice.audit.estimate import NU, Calendar, estimate_league
from kinelo.advice.audit.findings import Findings
from kinelo.advice.audit.gaps import bands_of
from kinelo.advice.audit.in_use import system_k, table_of, tell_ratings
from kinelo.advice.audit.measured import (
    Measured,
    Venue,
    classic,
    gaps_of,
    measured_curve,
    ratings_before,
    venue_of,
)
from kinelo.advice.audit.other import OtherSystem, other_system
from kinelo.advice.audit.words import other_verdict, rows_of, verdict_of
from kinelo.advice.words import html_fragment
from kinelo.matches.matches import Matches, check_matches
from kinelo.model.dynamics import Form, Walk
from kinelo.model.outcome import Davidson, Tanh
from kinelo.model.strength import Fixed
from kinelo.model.system import RatingSystem

if TYPE_CHECKING:
    from rich.table import Table

    from kinelo.advice.audit.check import PosteriorCheck
    from kinelo.advice.audit.performance import Performance
    from kinelo.advice.audit.recovered import Recovered
    from kinelo.advice.audit.variation import Variation
    from kinelo.raters.rater import Rater

ACTIVE_YEARS = 2.0


@dataclass(frozen=True, repr=False)
class Audit(Findings):
    """What a league's rating system does to it, and what K should be: everything in :class:`Findings`.

    ``verdict`` is the answer in one sentence; ``variation`` and ``check`` are computed when first asked for.
    """

    @cached_property
    def variation(self) -> Variation:
        """Whether performances of some sides vary more than those of others, against chance alone."""
        from kinelo.advice.audit.variation import variation_of

        return variation_of(self.matches, self.league)

    @cached_property
    def check(self) -> PosteriorCheck:
        """Leagues played again from the estimates on the same calendar, beside the real one."""
        from kinelo.advice.audit.check import posterior_check

        # The leagues played again know their home advantage; so should the real one.
        return posterior_check(self.matches, self.league, self.since, self.k, self.later_venue)

    @cached_property
    def performance(self) -> Performance:
        """How much performances vary around strengths because line-ups do; needs matches with line-ups."""
        from kinelo.advice.audit.performance import performance_of

        theory = Theory(Calendar.of(self.matches), self.league, self.since)
        return performance_of(self.matches, theory, self.best.k)

    def recovered(self, sigma: float | None = None) -> Recovered:
        """Forecasts by bands of ratings, before and after :func:`kinelo.recover_strength`.

        ``sigma`` is the spread of performances in points; without it, what line-ups tell (:attr:`performance`).
        """
        from kinelo.advice.audit.recovered import recovered_bands

        spread = self.performance.spread if sigma is None else sigma
        return recovered_bands(self.matches, self.since, self.k, self.venue, spread)

    def __repr__(self) -> str:
        return f"Audit: {self.verdict}"

    def __str__(self) -> str:
        return "\n".join([self.verdict, *(f"{name}: {words}" for name, words in rows_of(self)), *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, words and lists, ready for JSON; what is undefined is None."""
        plain = {
            name: getattr(self, name)
            for name in ("verdict", "k", "spread", "step", "rate", "memory", "newcomer_matches", "notes")
        }
        league = {f.name: getattr(self.league, f.name) for f in fields(self.league)[:8]}
        plain |= {
            "matches": len(self.matches),
            "scored": len(self.matches) - self.since,
            "league": league | {"standard_errors": self.league.standard_errors},
            "now": asdict(self.now) | {"error": self.now.error},
            "best": asdict(self.best) | {"error": self.best.error, "low": self.curve.low, "high": self.curve.high},
            "curve": self.curve.to_dict(),
            "measured": {"best": self.measured.best, **{n: v.tolist() for n, v in vars(self.measured).items()}},
            "calibration": {"slope": self.slope[0], "standard_error": self.slope[1]},
            "calibration_later_venue": {"slope": self.later_slope[0], "standard_error": self.later_slope[1]},
            "venue": {"earlier": asdict(self.venue), "later": asdict(self.later_venue)},
            "other": None if self.other is None else asdict(self.other),
            "bands": [asdict(one) for one in self.bands],
            "misrated": [asdict(one) for one in self.misrated],
            "ratings": None if self.ratings is None else asdict(self.ratings),
        }
        return _json_ready(plain)

    def _repr_html_(self) -> str:
        return html_fragment([("Verdict", self.verdict), *rows_of(self)], self.notes, "What cannot be told")

    def __rich__(self) -> Table:
        from rich.table import Table

        table = Table(title=self.verdict, title_justify="left", show_header=False, show_lines=True)
        table.add_column(style="bold")
        table.add_column()
        for name, words in rows_of(self):
            table.add_row(name, words)
        return table


def audit(
    matches: Matches,
    rater: Rater | None = None,
    *,
    ratings: Any = None,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """Say what a league's rating system does to it, which K it should have, and what moving there buys.

    Parameters
    ----------
    matches
        The results of the league, in order of date: some hundred at least, thousands for a sharp answer.
    rater
        The system in use, a :meth:`TeamElo.classic`; by default chess's K = 32. Home advantage and ties left at 0 are
        taken from the earlier half. Any other rater is fitted on the earlier half and its forecasts of the later one
        are held against results and against Elo at K*; all that is said of a K is then said of K*.
    ratings
        The table of ratings in use (name, rating, perhaps deviation): a frame, a mapping or a CSV file. It is
        held against what the matches say of strengths today.
    progress
        Is told what is being done, in words.

    Examples
    --------
    >>> import kinelo as kn
    >>> matches = kn.read_matches(kn.sample_league(seed=1).results)
    >>> found = kn.audit(matches, kn.TeamElo.classic(k=60))
    >>> found.best.k < 60, found.verdict.split(":")[0]
    (True, 'K = 60 is too large for this league')
    """
    check_matches(matches)
    read = readable(matches)
    matches, since = read.matches, read.since
    k, given = system_k(rater)
    table = None if ratings is None else table_of(ratings, matches)
    tell = progress or (lambda words: None)
    calendar = Calendar.of(matches)
    tell(f"Estimating strengths and their movement from {len(matches):,} matches")
    league = estimate_league(calendar)
    theory = Theory(calendar, league, since)
    tell("Asking the theory what every K would do, and how sure that is")
    curve = k_curve(theory, k)
    in_use = curve.best.k if k is None else k
    tell("Holding every K against the later half of the matches")
    earlier = venue_of(matches[:since], curve.best.k)
    venue = Venue(given.home_advantage or earlier.home_advantage, given.ties or earlier.ties)
    measured = measured_curve(matches, since, curve.column("k"), venue)
    other = None
    if rater is not None and k is None:
        tell(f"Fitting {type(rater).__name__} on the earlier half")
        other = other_system(rater, matches, since, in_use, venue)
    later = venue_of(matches[since:], curve.best.k)
    return _assembled(read, theory, curve, measured, in_use, (venue, later), table, other)


def _assembled(
    read: Readable, theory: Theory, curve: KCurve, measured: Measured, k: float, venues: tuple[Venue, Venue],
    table: Any, other: OtherSystem | None,
) -> Audit:  # fmt: skip
    venue, later = venues
    matches, since, league = read.matches, read.since, theory.league
    now = theory.at(k)
    home, away = ratings_before(matches, k, venue)
    gaps, result = gaps_of(matches, since, home, away, venue), matches.signed[since:]
    strength, doubt, active = _today(theory)
    spread = math.sqrt(max(float(strength[active].var() + doubt[active].mean()), 1e-6))
    step, rate = _per_match(theory)
    law = Davidson(nu=NU, kappa=league.ties) if league.ties > 0 else Tanh(nu=NU)
    dynamics = _dynamics(step, rate, spread)
    level = np.zeros(int(active.sum())) if isinstance(dynamics, Form) else strength[active]
    names = [matches.teams[i] for i in np.flatnonzero(active)]
    in_use = classic(k, venue).update(matches).ratings_
    misrated = tell_ratings(matches.teams, in_use, strength, doubt, active)
    settled = max(now.noise + now.lag, 1e-9)
    decay = -math.log1p(-min(k / 2 * theory.slope, 0.999))
    facts: dict[str, Any] = {
        "k": k, "league": league, "now": now, "best": curve.best, "curve": curve, "measured": measured,
        "slope": gaps.slope(result), "later_slope": _later_slope(matches, since, k, later), "spread": spread,
        "step": step, "rate": rate, "memory": 1 / decay,
        "newcomer_matches": max(math.log(league.newcomer_spread**2 / settled) / (2 * decay), 0.0),
        "bands": bands_of(home[since:], away[since:], gaps, result), "misrated": misrated.extremes,
        "ratings": None if table is None else tell_ratings(matches.teams, table, strength, doubt, active),
        "notes": read.notes + _notes(curve, theory, matches.lineups is not None), "other": other,
    }  # fmt: skip
    return Audit(
        verdict=verdict_of(k, curve, measured, now) if other is None else other_verdict(other, curve.best.k),
        strengths=Fixed(level, names=names),
        dynamics=dynamics,
        system=RatingSystem(law, gamma=k / 2),
        venue=venue,
        later_venue=later,
        matches=matches,
        since=since,
        **facts,
    )


def _later_slope(matches: Matches, since: int, k: float, later: Venue) -> tuple[float, float]:
    home, away = ratings_before(matches, k, later)
    return gaps_of(matches, since, home, away, later).slope(matches.signed[since:])


def _today(theory: Theory) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance of each strength today, about the mean of the sides that played within two years."""
    known, league, day = theory.known, theory.league, theory.calendar.day
    active = known.last >= max(float(day[-1]) - ACTIVE_YEARS * 365.25, 0.0)
    years = np.maximum(day[-1] - known.last, 0.0) / 365.25
    keep = np.exp(-league.return_per_year * years)
    grown = league.walk_per_year**2 * (1 - keep**2) / (2 * league.return_per_year)
    mean = known.centre + keep * (known.mean - known.centre)
    return mean - mean[active].mean(), known.variance * keep**2 + grown, active


def _per_match(theory: Theory) -> tuple[float, float]:
    """Mean change of a strength, and its return, from one match of a side to its next, over the matches scored."""
    calendar, league = theory.calendar, theory.league
    last = np.full(calendar.sides, -1.0)
    rests = []
    for place, pair in enumerate(zip(calendar.home, calendar.away)):
        for side in pair:
            if last[side] >= 0 and place >= theory.since:
                rests.append(calendar.day[place] - last[side])
            last[side] = calendar.day[place]
    years = np.array(rests or [1.0]) / 365.25
    lost = 1 - np.exp(-2 * league.return_per_year * years)
    change = league.walk_per_match**2 + league.walk_per_year**2 * lost / (2 * league.return_per_year)
    return math.sqrt(float(change.mean())), float(lost.mean() / 2)


def _dynamics(step: float, rate: float, spread: float) -> Form | Walk:
    """Form about the league's mean where that explains the spread of today; else a walk."""
    if rate > 0 and step**2 / (2 * rate) <= 2 * spread**2:
        return Form(rate=rate, spread=step / math.sqrt(2 * rate))
    return Walk(spread=step)


def _notes(curve: KCurve, theory: Theory, lineups: bool) -> tuple[str, ...]:
    notes = [
        "How much performances vary around strengths from match to match cannot be told from results alone: it "
        "flattens the scale of results, and strengths here are on that scale"
        + ("; the part that line-ups make is told by them (performance)." if lineups else "."),
    ]
    width = math.log(curve.high / curve.low)
    if width > math.log(2.0):
        wanted = len(theory.calendar) * (width / math.log(1.25**2)) ** 2
        notes.append(
            f"K* is uncertain by a factor {curve.high / curve.low:.1f}: about {_round(wanted):,} matches like these "
            "would tell it to ± 25 %."
        )
    return tuple(notes)


def _round(number: float) -> int:
    digits = 10 ** max(int(math.log10(max(number, 1))) - 1, 0)
    return int(math.ceil(number / digits) * digits)


def _json_ready(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _json_ready(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_json_ready(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
