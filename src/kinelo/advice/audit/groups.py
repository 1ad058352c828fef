"""The same questions by group (juniors, clubs, regions).

Where its sides enter, whether they grow stronger, whether their ratings inflate, and whether they are rated too high.

A side's group comes from a list of names and groups, or from a column of the matches: one for each side
(``home_region``, ``away_region``), or one for the match, of which a side has the value that it has most often.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.advice.audit.hindsight import FOUNDING, LEAST_SIDES, strengths_in_hindsight, years_since_entry
from kinelo.advice.audit.inflation import (
    FURTHEST,
    RatingInflation,
    Shift,
    appearances,
    in_frame_of_today,
    inflation_seen,
    mean_strength,
    per_year,
    plausible,
    settled_appearances,
    start_of,
)
from kinelo.advice.audit.kernels import YEAR, Array, Calendar, Parameters, Strengths
from kinelo.charts import Chart, Trace
from kinelo.errors import InputError
from kinelo.matches.columns import listed
from kinelo.matches.loading import load_table

if TYPE_CHECKING:
    from kinelo.matches.matches import Matches

MOST_GROUPS = 40
MOST_LETTERS = 70
"""Letters of all names that stand side by side below a chart."""


@dataclass(frozen=True)
class GroupFound:
    """What became of one group; each number with its standard error, None where too few sides tell it.

    Attributes
    ----------
    group, sides
        Its name, and how many sides it has.
    entry
        Rating at which those who entered should have started, on today's scale.
    gain
        Points a year by which its sides grow stronger, next to the reference, or to the average of all sides.
    inflation
        Points a year by which ratings of those who play rose above their strengths.
    bias
        Points by which its sides are rated too high today, next to the reference, or to the average of all sides.
    """

    group: str
    sides: int
    entry: Shift | None
    gain: Shift | None
    inflation: Shift | None
    bias: Shift | None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers; intervals hold 95 %."""
        plain: dict[str, Any] = {"group": self.group, "sides": self.sides}
        for name in ("entry", "gain", "inflation", "bias"):
            one: Shift | None = getattr(self, name)
            plain[name] = None if one is None else {**one._asdict(), "low": one.low, "high": one.high}
        return plain


def groups_of(by: Any, matches: Matches) -> dict[str, np.ndarray]:
    """Places of the sides in each group, in order of size; who is in none is left out."""
    label = _labels(by, matches)
    if not label:
        raise InputError("by names no group of these sides.")
    places = {name: np.array([n for n, team in enumerate(matches.teams) if label.get(team) == name]) for name in
              dict.fromkeys(label.values())}  # fmt: skip
    if len(places) > MOST_GROUPS:
        raise InputError(f"by makes {len(places):,} groups; at most {MOST_GROUPS} can be told apart.")
    return dict(sorted(places.items(), key=lambda pair: -pair[1].size))


def _labels(by: Any, matches: Matches) -> dict[str, str]:
    if isinstance(by, str) and not Path(by).is_file():
        return _labels_of_column(by, matches)
    if isinstance(by, Mapping) and not {"name", "group"} <= set(by):
        table = {"name": list(by), "group": list(by.values())}
    else:
        table = by
    if not isinstance(table, str | Path | Mapping | list) and not hasattr(table, "columns"):
        raise InputError(
            "by is a column of the matches, a mapping from names to groups, or a table with the columns name and "
            f"group, not {type(by).__name__}."
        )
    frame = load_table(table)
    missing = [name for name in ("name", "group") if name not in frame.columns]
    if missing:
        raise InputError(f"A list of groups has the columns name and group; this one has {listed(frame.columns)}.")
    rows = [(str(name), str(group)) for name, group in frame.select("name", "group").iter_rows() if group is not None]
    twice = {name for name, _ in rows if len({group for other, group in rows if other == name}) > 1}
    if twice:
        raise InputError(f"The list of groups puts {min(twice)!r} into two groups.")
    known = set(matches.teams)
    return {name: group for name, group in rows if name in known}


def columns_of(by: str, columns: list[str]) -> list[str]:
    """The columns of a file that tell groups: the one of this name, or one for each side."""
    if by in columns:
        return [by]
    pairs = [[name for name in columns if name.lower() in (f"{side}_{by}".lower(), f"{by}_{side}".lower())]
             for side in ("home", "away")]  # fmt: skip
    if all(pairs):
        return [pair[0] for pair in pairs]
    raise InputError(
        f"There is no column {by!r}, nor one for each side (home_{by}, away_{by}); there is "
        f"{listed(columns) or 'none'}. A list of names and groups is a file with these two columns; in Python columns "
        "are read with conditions=[…]."
    )


def _labels_of_column(by: str, matches: Matches) -> dict[str, str]:
    """The value that each side has most often."""
    names = columns_of(by, list(matches.conditions))
    both = [matches.conditions[name] for name in (names if len(names) == 2 else names * 2)]
    counts: dict[str, dict[str, int]] = {}
    for side, condition in zip((matches.home, matches.away), both):
        for team, code in zip(side.tolist(), condition.codes.tolist()):
            if code >= 0:
                own = counts.setdefault(matches.teams[team], {})
                own[condition.levels[code]] = own.get(condition.levels[code], 0) + 1
    return {team: max(sorted(own), key=own.__getitem__) for team, own in counts.items()}


def check_reference(reference: str, groups: dict[str, np.ndarray], calendar: Calendar) -> None:
    """Refuse a group that nothing can be held against."""
    if reference not in groups:
        raise InputError(f"There is no group {reference!r} to refer to; there is {listed(groups)}.")
    if not _tells(calendar, groups[reference]):
        raise InputError(
            f"The group {reference!r} has {groups[reference].size:,} sides: a reference needs at least {LEAST_SIDES} "
            "that have played for half a year or more."
        )


def _tells(calendar: Calendar, places: np.ndarray) -> bool:
    """Whether a group is large enough, and there for long enough, to tell what a year is worth to it."""
    return years_since_entry(calendar, [places]).shape[1] > 0


def groups_found(
    calendar: Calendar, parameters: Parameters, filtered: Strengths, groups: dict[str, np.ndarray],
    ratings: tuple[Array, float, float], reference: str | None = None,
) -> tuple[tuple[GroupFound, ...], RatingInflation | None]:  # fmt: skip
    """What became of each group, and of all ratings next to the ``reference``; without one, None and next to all sides.

    ``ratings`` are those before each match (n × 2, less where newcomers begin), the matches in which they follow 63 %
    of a change, and where newcomers begin.
    """
    before, memory, initial = ratings
    told = [name for name, places in groups.items() if _tells(calendar, places)]
    hindsight = strengths_in_hindsight(calendar, parameters, filtered, growing=[groups[name] for name in told])
    years, trend = float(calendar.day[-1] - calendar.day[0]) / YEAR, hindsight.trend
    size = np.array([groups[name].size for name in told], float)
    # Gains, biases and inflation count from here: who stands still.
    share = np.array([name == reference for name in told], float) if reference else size / max(size.sum(), 1.0)
    seen = appearances(calendar, hindsight, before)
    if trend is not None and (reference or size.sum() > calendar.sides - LEAST_SIDES):
        since = seen.year - years
        luck = seen.luck - np.multiply.outer(since, share @ trend.luck)
        seen = seen._replace(strength=seen.strength - since * float(share @ trend.per_year), luck=luck)
    seen = in_frame_of_today(seen, years)
    _, offset = settled_appearances(seen, years, memory)
    entered = np.flatnonzero((seen.number == 0) & (seen.match >= FOUNDING * calendar.size))
    last = np.flatnonzero(np.append(seen.side[1:] != seen.side[:-1], True))
    recent = last[seen.year[last] >= years - 2.0]
    middle = recent if reference is None else recent[np.isin(seen.side[recent], groups[reference])]
    nought, _ = mean_strength((seen.rating - seen.strength)[middle], seen.doubt[middle])
    furthest, answers = FURTHEST / parameters.nu, []
    for name, places in groups.items():
        members = np.isin(seen.side, places)
        today = recent[members[recent]]
        bias = gain = None
        if today.size >= LEAST_SIDES and name != reference:
            mean, error = mean_strength((seen.rating - seen.strength)[today], seen.doubt[today])
            # What luck the members share, next to the others, does not average out.
            shared = seen.luck[today].mean(axis=0) - seen.luck[middle].mean(axis=0)
            bias = Shift(mean - nought, math.hypot(error, math.sqrt(float((shared**2).mean()))), int(today.size))
        # Of one group of all sides there is nothing to hold it against.
        if trend is not None and name in told and name != reference and places.size < calendar.sides:
            against = np.array([other == name for other in told], float) - (share if len(told) > 1 else 0.0)
            error = math.sqrt(max(float(against @ trend.covariance @ against), 0.0))
            gain = Shift(float(against @ trend.per_year), error, int(places.size))
        inflation = per_year(seen, members, years) if years > 0 else None
        entry = start_of(seen, entered[members[entered]], offset, initial)
        found = (plausible(entry, furthest, initial), *(plausible(one, furthest) for one in (gain, inflation, bias)))
        answers.append(GroupFound(name, int(places.size), *found))
    return tuple(answers), inflation_seen(seen, calendar, memory, initial, furthest) if reference else None


def groups_chart(found: tuple[GroupFound, ...]) -> Chart:
    """How far each group is rated too high today, with its 95 % interval, and how much it gains a year."""
    place = np.arange(len(found), dtype=float)
    traces = [Trace("", "truth", "dashed", [-0.5, len(found) - 0.5], [0.0, 0.0])]
    parts = (
        ("bias", "rated too high today, points"),
        ("gain", "grows stronger, points a year"),
        ("inflation", "ratings rise above strengths, points a year"),
    )
    for role, (name, words) in enumerate(parts):
        answered = [(n, getattr(one, name)) for n, one in enumerate(found) if getattr(one, name) is not None]
        if answered:
            x = np.array([place[n] for n, _ in answered]) + {"bias": -0.15, "gain": 0.0, "inflation": 0.15}[name]
            y, error = (
                np.array([pick(one) for _, one in answered]) for pick in (lambda s: s.mean, lambda s: s.high - s.mean)
            )
            notes = tuple(f"{found[n].group}: {one.mean:.0f} ± {one.error:.0f}" for n, one in answered)
            traces.append(Trace(words, role, "markers", x, y, error=error, notes=notes))
    names = [one.group for one in found]
    label = f"Groups: {', '.join(names)}"
    if sum(map(len, names)) <= MOST_LETTERS:
        return Chart(label, "group", "points, with 95 % intervals", traces, x_names=tuple(names))
    # Names that would run into one another stand below the axis.
    listed = ", ".join(f"{n} {name}" for n, name in enumerate(names, 1))
    numbers = tuple(str(n) for n in range(1, len(names) + 1))
    return Chart(label, f"group: {listed}", "points, with 95 % intervals", traces, x_names=numbers)
