"""RankElo after contests: a rating by the place that is finished in, and what a favourite loses by coming last."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.model.validation import Array
from kinelo.paper.claim import Finding, check, judged_under
from kinelo.paper.figure import FigureStudy
from kinelo.pictures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.raters.rank.rater import RankElo


SOURCE = "Ebtekar and Liu, arXiv 2101.00400, abstract"
GROWS = 0.1


@dataclass(frozen=True)
class MassiveEvidence:
    """Ratings of each entrant of a field by place, those before, and losses of a favourite by its lead."""

    names: tuple[str, ...]
    before: Array
    by_place: Array
    by_place_without_off: Array
    ahead: Array
    lost: Array
    lost_without_off: Array


def prepare(figure: FigureStudy, runs: Mapping[str, Any]) -> MassiveEvidence:
    """Play contests, then one more in every way."""
    p = figure.parameters
    generator = np.random.default_rng(p["seed"])
    strengths = {f"P{k}": strength for k, strength in enumerate(generator.normal(0, p["spread"], p["entrants"]))}
    results = _results(strengths, p, generator)
    raters = [_played(_rater(off), results) for off in (p["off"], 0.0)]
    ratings = _ratings(raters[0])
    field = [name for name in strengths if name in ratings][: p["field"]]  # who has taken part
    order = sorted(field, key=lambda name: -ratings[name])
    by_place, plain = np.empty((2, len(order), len(order)))
    for table, rater in zip((by_place, plain), raters):
        # One entrant's rating after a contest in which it finishes first, second, …, everybody else as before.
        for row, name in zip(table, order):
            for place in range(len(order)):
                again = deepcopy(rater).update_one(moved(order, name, place), date="2025-06-01")
                row[place] = _ratings(again)[name]
    lost, lost_plain = (
        np.array([_last_place(off, order, ratings, lead) for lead in p["ahead"]]) for off in (p["off"], 0.0)
    )
    before = np.array([ratings[name] for name in order])
    return MassiveEvidence(tuple(order), before, by_place, plain, np.array(p["ahead"]), lost, lost_plain)


def _rater(off: float, start: Mapping[str, float] | None = None) -> RankElo:
    from kinelo.raters.rank.rater import RankElo

    return RankElo(
        walk=0.3,
        prior_spread=1.0,
        newcomer=0.0,
        regression=0.0,
        retirement=0.0,
        off=off,
        depth=3.0,
        ties=0.0,
        start=start,
    )


def _results(strengths: Mapping[str, float], p: Mapping[str, Any], generator: np.random.Generator) -> list[list[str]]:
    """Orders of contests between entrants drawn at random."""
    names, results = np.array(list(strengths)), []
    for _ in range(p["contests"]):
        chosen = generator.choice(names, p["field"], replace=False)
        shown = [strengths[name] + generator.normal(0, 200.0) for name in chosen]
        results.append([str(chosen[k]) for k in np.argsort(shown)[::-1]])
    return results


def _played(rater: RankElo, results: list[list[str]]) -> RankElo:
    for day, order in enumerate(results):
        rater.update_one(order, date=_day(day))
    return rater


def _day(number: int) -> str:
    return str(np.datetime64("2024-01-01") + 7 * number)


def _ratings(rater: RankElo) -> dict[str, float]:
    return dict(rater.ratings_.select("name", "rating").iter_rows())


def moved(order: list[str], name: str, place: int) -> list[str]:
    """The order with one entrant at another place, everybody else as before."""
    rest = [other for other in order if other != name]
    return [*rest[:place], name, *rest[place:]]


def _last_place(off: float, order: list[str], ratings: Mapping[str, float], lead: float) -> float:
    """What a favourite, so far ahead of a field of known ratings, loses against the field by coming last."""
    favourite, *others = order
    before = {name: ratings[name] for name in others}
    before[favourite] = max(before.values()) + lead
    after = _ratings(_rater(off, before).update_one([*others, favourite], date="2025-06-01"))
    return _ahead(before, favourite) - _ahead(after, favourite)


def _ahead(ratings: Mapping[str, float], name: str) -> float:
    """How far a rating lies above the mean of the others'."""
    return ratings[name] - float(np.mean([rating for other, rating in ratings.items() if other != name]))


def draw(data: MassiveEvidence) -> Figure:
    """Two panels."""
    with style.journal_style():
        figure = style.new_figure(style.PAGE, 3.2)
        left, right = figure.subplots(1, 2)
        places = np.arange(1, len(data.names) + 1)
        for k, colour in zip((0, len(data.names) // 2, len(data.names) - 1), style.SERIES):
            left.plot(places, data.by_place[k], "o-", color=colour, markersize=3, label=f"{data.before[k]:.0f} before")
            left.axhline(data.before[k], color=colour, linestyle=":", linewidth=0.7)
        left.set(xlabel="place", ylabel="rating after the contest", title="(a) three entrants")
        left.legend()
        right.plot(data.ahead, data.lost, "o-", color=style.SERIES[0], markersize=4, label="with bad days")
        right.plot(data.ahead, data.lost_without_off, "--", color=style.GREY, label="without")
        right.set(xlabel="points ahead of the next", ylabel="points lost against the field", ylim=(0, None))
        right.set_title("(b) the favourite comes last")
        right.legend()
        return figure


@check(
    15, SOURCE, statement="who wants the highest rating never wants to finish worse (asked of RankElo)",
    criterion="no entrant's rating rises when it finishes one place lower and nobody else changes order; depends if so "
    "without bad days only",
)  # fmt: skip
def never_worse(evidence: MassiveEvidence) -> Finding:
    """Steps from place to place, with bad days and without."""
    steps, plain = np.diff(evidence.by_place, axis=1), np.diff(evidence.by_place_without_off, axis=1)
    gains = int((steps > 0).sum())
    return Finding(
        f"of {steps.size} steps down by one place {gains} raise the rating, by {steps.max():.1f} points at most; "
        f"without bad days {int((plain > 0).sum())}, and each costs {0 - plain.max():.1f} to {-plain.min():.1f}",
        judged_under(bool((steps <= 0).all()), bool((plain <= 0).all())),
        "The source proves it for its own system, Elo-MMR."
        + (" A place far below what was expected is taken for a bad day, which costs less." if gains else ""),
        on="whether performances may be off: with bad days a lower place can cost less than the one before",
        figures=(7,),
    )


@check(
    16, SOURCE, statement="one contest moves a rating by a bounded amount, however surprising (asked of RankElo)",
    criterion=f"what the last place costs a favourite grows by less than {GROWS:.0%} over the last three leads tried; "
    "depends if that is so with bad days only",
)  # fmt: skip
def bounded(evidence: MassiveEvidence) -> Finding:
    """Losses of a favourite over its lead, with bad days and without."""
    growth = [float(lost[-1] / lost[-3]) - 1 for lost in (evidence.lost, evidence.lost_without_off)]
    held = float(evidence.lost[-1] / evidence.lost_without_off[-1])
    return Finding(
        f"from a lead of {evidence.ahead[0]:.0f} to one of {evidence.ahead[-1]:.0f} points the last place costs "
        f"{evidence.lost[0]:.0f} to {evidence.lost[-1]:.0f} points ({growth[0]:+.0%} over the last two steps), without "
        f"bad days {evidence.lost_without_off[0]:.0f} to {evidence.lost_without_off[-1]:.0f} ({growth[1]:+.0%})",
        judged_under(growth[0] < GROWS, growth[1] < GROWS),
        f"With bad days the last place costs {100 * held:.0f} % of what it costs without, at the largest lead.",
        on="whether performances may be off: without bad days the loss grows with the lead",
        figures=(7,),
    )
