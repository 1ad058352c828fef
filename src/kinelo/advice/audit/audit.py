"""One league, one question: is the rating system in use any good, and which K should it have?"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.advice.audit.advised import Advice, advise, differences_from, periods_of
from kinelo.advice.audit.backtest import Backtest, backtest, k_grid, lowest
from kinelo.advice.audit.calendar import Readable, readable
from kinelo.advice.audit.estimate import LeagueEstimate, estimate_league
from kinelo.advice.audit.findings import Comparison, Findings, Home
from kinelo.advice.audit.gaps import bands_of
from kinelo.advice.audit.in_use import SystemInUse, own_losses, played_again, system_of
from kinelo.advice.audit.kernels import Array, Calendar
from kinelo.advice.audit.other import other_system
from kinelo.advice.audit.recursion import KCurve, Prediction, Recursion, k_curve
from kinelo.advice.audit.replays import replays
from kinelo.advice.audit.table_in_use import compare_ratings, table_of
from kinelo.advice.audit.words import rows_of, verdict_of
from kinelo.advice.words import html_fragment
from kinelo.matches.matches import Matches, check_matches
from kinelo.model.dynamics import Form, Walk
from kinelo.model.outcome import Davidson, Tanh
from kinelo.model.strength import Fixed
from kinelo.model.system import RatingSystem
from kinelo.play.laws import points_scale
from kinelo.runtime.progress import Progress, speaker

if TYPE_CHECKING:
    from rich.table import Table

    from kinelo.advice.audit.check import PosteriorCheck
    from kinelo.advice.audit.performance import Performance
    from kinelo.advice.audit.recovered import Recovered
    from kinelo.advice.audit.variation import Variation
    from kinelo.raters.rater import Rater

ACTIVE_YEARS = 2.0
REPLAYS = 40
RUNG, RUNGS = 1.35, 5
"""K tried in each replay: this factor apart, so many on either side of K*."""


@dataclass(frozen=True, repr=False)
class Audit(Findings):
    """What a league's rating system does to it, and what K should be: everything in :class:`Findings`.

    ``verdict`` is the answer in one sentence; ``variation`` and ``check`` are computed when first asked for.
    """

    @cached_property
    def variation(self) -> Variation:
        """Whether performances of some sides vary more than those of others, against chance alone."""
        from kinelo.advice.audit.variation import variation_of

        return variation_of(self.matches, self.recursion)

    @cached_property
    def check(self) -> PosteriorCheck:
        """Leagues played again from the estimates on the same calendar, beside the real one."""
        from kinelo.advice.audit.check import posterior_check

        return posterior_check(self.recursion, self.in_use, self.matches, self.k or self.best.k)

    @cached_property
    def performance(self) -> Performance:
        """How much performances vary around strengths because line-ups do; needs matches with line-ups."""
        from kinelo.advice.audit.performance import performance_of

        return performance_of(self.matches, self.recursion, self.best.k)

    def recovered(self, sigma: float | None = None) -> Recovered:
        """Forecasts by bands of ratings, before and after :func:`kinelo.theory.recover_strength`.

        ``sigma`` is the spread of performances in points; without it, what line-ups tell (:attr:`performance`).
        """
        from kinelo.advice.audit.recovered import recovered_bands

        spread = self.performance.spread if sigma is None else sigma
        return recovered_bands(self.matches, self.since, self.in_use, self.before, spread)

    def __repr__(self) -> str:
        return f"Audit: {self.verdict}"

    def __str__(self) -> str:
        return "\n".join([self.verdict, *(f"{name}: {words}" for name, words in rows_of(self)), *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, words and lists, ready for JSON; what is undefined is None."""
        names = ("verdict", "k", "spread", "step", "rate", "memory", "newcomer_matches", "notes")
        plain = {name: getattr(self, name) for name in names}
        low, high = self.measured.interval
        plain |= {
            "matches": len(self.matches),
            "scored": len(self.matches) - self.since,
            "advice": asdict(self.advice),
            "periods": [asdict(one) | {"k": one.k} for one in self.periods],
            "league": self.league.parameters._asdict()
            | {"log_likelihood": self.league.log_likelihood, "standard_errors": self.league.standard_errors},
            "home": asdict(self.home),
            "tested": asdict(self.tested),
            "now": asdict(self.now) | {"lag": self.now.lag},
            "best": asdict(self.best) | {"lag": self.best.lag},
            "curve": self.curve.to_dict(),
            "theory": {"k": self.curve.best.k, "low": self.curve.low, "high": self.curve.high},
            "measured": {
                "best": self.measured.best, "low": low, "high": high,
                "k": self.measured.k.tolist(), "log_loss": self.measured.log_loss.tolist(),
            },
            "calibration": {"slope": self.slope[0], "standard_error": self.slope[1]},
            "other": None if self.other is None else asdict(self.other),
            "bands": [asdict(one) for one in self.bands],
            "misrated": [asdict(one) for one in self.misrated],
            "ratings": None if self.ratings is None else asdict(self.ratings),
        }  # fmt: skip
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
    progress: Progress = False,
) -> Audit:
    """Say what a league's rating system does to it, which K it should have, and what moving there buys.

    Parameters
    ----------
    matches
        The results of the league, in order of date: some hundred at least, thousands for a sharp answer.
    rater
        The system in use, a :meth:`TeamElo.classic` with a K or a rule of K; by default K = 32 with the home advantage
        of the earlier half, which any ``home_advantage=None`` stands for. Any other rater is fitted on the earlier
        half, and its forecasts of the later one are held against results and against Elo at its best K.
    ratings
        The table of ratings in use (name, rating, perhaps deviation): a frame, a mapping or a CSV file. It is
        held against what the matches say of strengths today.
    progress
        True says on the terminal what is being done; a function is called with the same words.

    Examples
    --------
    >>> import kinelo as kn
    >>> matches = kn.read_matches(kn.sample_league(seed=1).results)
    >>> found = kn.audit(matches, kn.TeamElo.classic(k=60, home_advantage=None))
    >>> found.best.k < 60, found.verdict.split(":")[0]
    (True, 'K = 60 is too large for this league')
    """
    check_matches(matches)
    read = readable(matches)
    matches, since = read.matches, read.since
    in_use, other_rater = system_of(rater, matches, since)
    table = None if ratings is None else table_of(ratings, matches)
    tell = speaker(progress)
    calendar = Calendar.of(matches)
    tell(f"Estimating strengths and their movement from {len(matches):,} matches")
    league = estimate_league(calendar, in_use.nu)
    in_use = in_use.with_ties(league.ties)
    recursion = Recursion(calendar, league.parameters, in_use.in_kernels(matches), since)
    tell("Asking the theory what every K would do")
    centre = recursion.best()
    ks = k_grid(centre, in_use.k or centre)
    tell("Holding every K against the later half of the matches")
    measured = backtest(lambda some: in_use.losses(matches, some), ks, since)
    tell(f"Playing the league {REPLAYS} times again, to see how sure that is")
    curve = k_curve(recursion, ks, replay_interval(recursion, league, in_use, matches, centre))
    advice = advise(curve, measured, len(matches))
    if not advice.agree:
        tell("Theory and backtest disagree: looking for the cause")
        advice = replace(advice, causes=causes_of(recursion, in_use, matches, advice.k))
    other = None
    if other_rater is not None:
        tell(f"Fitting {type(other_rater).__name__} on the earlier half")
        other = other_system(other_rater, matches, since, in_use, measured)
    return _assembled(read, in_use, recursion, league, curve, measured, advice, other, table)


def replay_interval(
    recursion: Recursion, league: LeagueEstimate, in_use: SystemInUse, matches: Matches, centre: float
) -> tuple[float, float]:
    """Where the best K lies in 95 % of replays: each draw of the parameters plays one, and that replay's best K counts.

    The logarithms of forty best K are taken as normal: their quantiles themselves would be the extremes.
    """
    ks = centre * RUNG ** np.arange(-RUNGS, RUNGS + 1.0)
    drawn = league.draw(recursion.calendar, REPLAYS)
    losses = [
        in_use.losses(played_again(matches, one.result), ks)[:, recursion.since :].sum(axis=1)
        for one in replays(recursion.calendar, drawn)
    ]
    found = np.log(lowest(ks, np.stack(losses, axis=1)))
    reach = 2.02 * float(found.std(ddof=1))
    return math.exp(found.mean() - reach), math.exp(found.mean() + reach)


def causes_of(recursion: Recursion, in_use: SystemInUse, matches: Matches, k: float) -> tuple[str, ...]:
    """How the league differs from its replays."""
    from kinelo.advice.audit.check import posterior_check

    return differences_from(posterior_check(recursion, in_use, matches, k))


def compare_in_use(in_use: SystemInUse, matches: Matches, measured: Backtest, advised: float) -> Comparison:
    """The system in use, rated by its own rater, against every K tried."""
    losses = own_losses(in_use.blank(), matches)
    all_tried = [(float(k), measured.against(losses, float(k))) for k in measured.k]
    better = [(k, one) for k, one in all_tried if one.low > 0]
    surest = max(better, key=lambda pair: pair[1].low, default=(None, None))
    return Comparison(measured.against(losses, advised), *surest)


def _assembled(
    read: Readable, in_use: SystemInUse, recursion: Recursion, league: LeagueEstimate, curve: KCurve,
    measured: Backtest, advice: Advice, other: Any, table: Any,
) -> Audit:  # fmt: skip
    matches, since = read.matches, read.since
    k = in_use.k or advice.k
    before, steps = in_use.trace(matches)
    result = matches.signed[since:]
    gaps = in_use.gaps(matches, before, since)
    strength, doubt, active = _today(recursion)
    spread = math.sqrt(max(float(strength[active].var() + doubt[active].mean()), 1e-6))
    step, rate = _per_match(recursion)
    dynamics = _dynamics(step, rate, spread)
    level = np.zeros(int(active.sum())) if isinstance(dynamics, Form) else strength[active]
    now = recursion.at(k if steps is None else steps)
    tested = compare_in_use(in_use, matches, measured, advice.k)
    rated = in_use.blank().update(matches).ratings_
    found = Audit(
        verdict="", advice=advice, periods=periods_of(matches, curve, measured), k=in_use.k if other is None else None,
        tested=tested, now=now, best=recursion.at(advice.k), curve=curve, measured=measured, league=league,
        home=_home(recursion, in_use, k), slope=gaps.slope(result), spread=spread, step=step, rate=rate,
        **_speeds(recursion, k, now), bands=bands_of(before[since:, 0], before[since:, 1], gaps, result),
        misrated=compare_ratings(matches.teams, rated, strength, doubt, active).extremes,
        ratings=None if table is None else compare_ratings(matches.teams, table, strength, doubt, active), other=other,
        notes=read.notes + _notes(advice, len(matches), matches.lineups is not None), in_use=in_use,
        strengths=Fixed(level, names=[matches.teams[i] for i in np.flatnonzero(active)]), dynamics=dynamics,
        system=RatingSystem(_law(league, in_use.nu), gamma=k / 2), recursion=recursion, before=before, matches=matches,
        since=since,
    )  # fmt: skip
    return replace(found, verdict=verdict_of(found))


def _law(league: LeagueEstimate, nu: float) -> Davidson | Tanh:
    return Davidson(nu=points_scale(nu, league.ties), kappa=league.ties) if league.ties > 0 else Tanh(nu=nu)


def _speeds(recursion: Recursion, k: float, now: Prediction) -> dict[str, float]:
    """How fast ratings follow, and how soon a newcomer's start is forgotten."""
    decay = -math.log1p(-min(k / 2 * recursion.slope, 0.999))
    settled = max(now.error - now.newcomers, 1e-9)
    left = math.log(recursion.parameters.newcomer_spread**2 / settled) / (2 * decay)
    return {"memory": 1 / decay, "newcomer_matches": max(left, 0.0)}


def _home(recursion: Recursion, in_use: SystemInUse, k: float) -> Home:
    """The home advantage at first and today, and what it buys to follow it."""
    own = recursion.strengths.home[~recursion.calendar.neutral]
    if own.size == 0:
        return Home(0.0, 0.0, 0.0, 0.0)
    tenth = max(own.size // 10, 1)
    # What was known before each match: to follow what only later results tell would be hindsight.
    following = recursion.with_home(np.where(recursion.calendar.neutral, 0.0, recursion.filtered.home_path[:, 0]))
    gain = recursion.loss(k) - following.loss(k)
    return Home(in_use.home_advantage, float(own[:tenth].mean()), float(own[-tenth:].mean()), gain)


def _today(recursion: Recursion) -> tuple[Array, Array, np.ndarray]:
    """Mean and variance of each strength today, about the mean of the sides that played within two years."""
    calendar, p, path = recursion.calendar, recursion.parameters, recursion.filtered.path
    mean, variance, last = (np.zeros(calendar.sides) for _ in range(3))
    for side, who in enumerate((calendar.home, calendar.away)):
        place = np.full(calendar.sides, -1)
        place[who] = np.arange(calendar.size)
        seen = np.flatnonzero((place >= 0) & (calendar.day[place] >= last))
        mean[seen], variance[seen] = path[place[seen], side, 3], path[place[seen], side, 4]
        last[seen] = calendar.day[place[seen]]
    active = last >= max(float(calendar.day[-1]) - ACTIVE_YEARS * 365.25, 0.0)
    keep = np.exp(-p.return_per_year * np.maximum(calendar.day[-1] - last, 0.0) / 365.25)
    grown = p.walk_per_year**2 * (1 - keep**2) / (2 * p.return_per_year)
    centre = recursion.filtered.centre
    now = centre + keep * (mean - centre)
    return now - now[active].mean(), variance * keep**2 + grown, active


def _per_match(recursion: Recursion) -> tuple[float, float]:
    """Mean change of a strength, and its return, from one match of a side to its next, over the matches scored."""
    p, path = recursion.parameters, recursion.filtered.path[recursion.since :]
    # φ is 1 where a side enters.
    phi = path[:, :, 0][path[:, :, 0] < 1.0]
    lost = 1 - phi**2 if phi.size else np.zeros(1)
    change = p.walk_per_match**2 + p.walk_per_year**2 * lost / (2 * p.return_per_year)
    return math.sqrt(float(change.mean())), float(lost.mean() / 2)


def _dynamics(step: float, rate: float, spread: float) -> Form | Walk:
    """Form about the league's mean where that explains the spread of today; else a walk."""
    if rate > 0 and step**2 / (2 * rate) <= 2 * spread**2:
        return Form(rate=rate, spread=step / math.sqrt(2 * rate))
    return Walk(spread=step)


def _notes(advice: Advice, matches: int, lineups: bool) -> tuple[str, ...]:
    notes = [
        "How much performances vary around strengths from match to match cannot be told from results alone: it "
        "flattens the scale of results, and strengths here are on that scale"
        + ("; the part that line-ups make is told by them (performance)." if lineups else "."),
    ]
    width = math.log(advice.high / advice.low)
    if width > math.log(2.0):
        wanted = matches * (width / math.log(1.25**2)) ** 2
        notes.append(
            f"The best K is uncertain by a factor {advice.high / advice.low:.1f}: about {_round(wanted):,} matches "
            "like these would tell it to ± 25 %."
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
