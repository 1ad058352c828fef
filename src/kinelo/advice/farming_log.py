"""Who gained by choosing opponents in a league that was played.

A rating gains, on average, where its opponent is rated above its strength. In every match the expected gain of a side,
``γ (b(x_i − x_j) − b(R_i − R_j))`` with ratings R as they stood and strengths x as all results tell them, is held
against the mean over the sides that it could have met that day: those who played within half a year. What a side's own
rating is off by counts in both alike. Summed over its matches this is what its choice, or its schedule, brought.
The interval holds what opponents drawn by chance might have brought as well, and luck in the strengths.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.advice.audit.estimate import estimate_league, filter_league, smooth_league
from kinelo.advice.audit.hindsight import strengths_in_hindsight
from kinelo.advice.audit.in_use import ratings_before, system_of
from kinelo.advice.audit.inputs import auditable
from kinelo.advice.audit.kernels import NORMAL_95, Array, Calendar
from kinelo.errors import InputError
from kinelo.matches.matches import Matches, check_matches
from kinelo.presentation import Table, json_ready, number, quoted, span, words

if TYPE_CHECKING:
    import polars as pl

    from kinelo.raters.rater import Rater

AROUND_DAYS = 183.0
MOST_OTHERS = 60
"""Sides that might have been met, drawn where there are more."""
FARMING_DRAWS = 16
LEAST_OWN_MATCHES = 10


@dataclass(frozen=True)
class FarmingLog:
    """What opponents brought to each side; ``table`` has name, matches, gained, error, low and high (95 %)."""

    table: pl.DataFrame
    k: float
    matches: int

    @property
    def verdict(self) -> str:
        """Who gained beyond chance, in a sentence."""
        sure = self.table.filter(self.table["low"] > 0).sort("gained", descending=True)
        if sure.height == 0:
            return "Nobody gained by the choice of opponents, beyond chance."
        best = ", ".join(
            f"{quoted(name)} {gained:+.0f} ({low:.0f} to {high:.0f})"
            for name, gained, low, high in sure.head(3).select("name", "gained", "low", "high").iter_rows()
        )
        # Of sides that chose nothing, one in forty seems to have gained.
        chance = self.table.height / 40
        sides = "side" if sure.height == 1 else "sides"
        return (
            f"{sure.height} {sides} of {self.table.height} gained by opponents that were rated above their strengths, "
            f"where {chance:.1f} would by chance: {best} points, against the schedule that they could have had."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return json_ready(
            {"verdict": self.verdict, "k": self.k, "matches": self.matches, "sides": self.table.to_dicts()}
        )


def farming_log(matches: Matches, rater: Rater | None = None) -> FarmingLog:
    """Say who gained by choosing opponents while plain Elo (K = 32 unless given) rated these matches.

    Sides with fewer than ten matches are left out.

    >>> import kinelo as kn
    >>> matches = kn.read_matches(kn.sample_league(teams=8, seasons=2, seed=3).results)
    >>> found = farming_log(matches, kn.TeamElo.classic(k=20))
    >>> found.table.columns
    ['name', 'matches', 'gained', 'error', 'low', 'high']
    """
    check_matches(matches)
    matches, since = auditable(matches, [])
    system, other = system_of(rater, matches, since)
    if other is not None or system.k is None:
        raise InputError("Farming is looked for under plain Elo with one K: TeamElo.classic(k=…).")
    calendar = Calendar.of(matches)
    parameters = estimate_league(calendar, system.nu).parameters
    filtered = smooth_league(calendar, filter_league(calendar, parameters))
    strength, luck = strengths_in_hindsight(calendar, parameters, filtered).of_matches()
    told = np.concatenate([strength[..., None], strength[..., None] + luck[..., :FARMING_DRAWS]], axis=2)
    gained, chance = gained_by_choice(calendar, ratings_before(system.blank(), matches), told, system.nu)
    return _log(matches, gained * system.k / 2, chance * (system.k / 2) ** 2, system.k)


def gained_by_choice(calendar: Calendar, before: Array, strength: Array, nu: float) -> tuple[Array, Array]:
    """Surplus of expected over average gains, summed by side, for each column of ``strength`` (n × 2 × columns), and
    its variance (sides) were opponents drawn by chance from those that could have been met.

    Gains are in units of the step, results in [−1, 1]; ``before`` are ratings before each match (n × 2).
    """
    generator = np.random.default_rng(0)
    rating, paths = np.zeros(calendar.sides), np.zeros((calendar.sides, strength.shape[2]))
    last = np.full(calendar.sides, -np.inf)
    total, chance = np.zeros((calendar.sides, strength.shape[2])), np.zeros(calendar.sides)
    for n in range(calendar.size):
        pair = (int(calendar.home[n]), int(calendar.away[n]))
        for side, team in enumerate(pair):
            rating[team], paths[team], last[team] = before[n, side], strength[n, side], calendar.day[n]
        others = np.flatnonzero(last >= calendar.day[n] - AROUND_DAYS)
        if others.size > MOST_OTHERS:
            others = generator.choice(others, MOST_OTHERS, replace=False)
        for side, team in enumerate(pair):
            could = others[others != team]
            if could.size < 2:
                continue
            # tanh νz is the expected result, by strengths less by ratings.
            won = np.tanh(nu * (paths[team] - paths[could])) - np.tanh(nu * (rating[team] - rating[could]))[:, None]
            met = pair[1 - side]
            gain = np.tanh(nu * (paths[team] - paths[met])) - np.tanh(nu * (rating[team] - rating[met]))
            total[team] += calendar.weight[n] * (gain - won.mean(axis=0))
            chance[team] += calendar.weight[n] ** 2 * float(won[:, 0].var())
    return total, chance


def _log(matches: Matches, gained: Array, chance: Array, k: float) -> FarmingLog:
    import polars as pl

    played = np.bincount(np.concatenate([matches.home, matches.away]), minlength=len(matches.teams))
    places = np.flatnonzero(played >= LEAST_OWN_MATCHES)
    mean, error = gained[places, 0], np.sqrt(gained[places, 1:].var(axis=1, ddof=1) + chance[places])
    table = pl.DataFrame(
        {
            "name": [matches.teams[n] for n in places], "matches": played[places], "gained": mean, "error": error,
            "low": mean - NORMAL_95 * error, "high": mean + NORMAL_95 * error,
        }
    ).sort("gained", descending=True)  # fmt: skip
    return FarmingLog(table, k, len(matches))


def farming_table(log: FarmingLog, top: int = 10) -> Table:
    """Those who gained most."""
    columns = [
        words("Name", "name"), number("Matches", "matches", ",.0f"), number("Gained", "gained", "+.0f"),
        span("95 %", "low", "high", ".0f"),
    ]  # fmt: skip
    title = f"Points gained by the choice of opponents, K = {log.k:g}"
    return Table(columns, log.table.head(top).to_dicts(), title)
