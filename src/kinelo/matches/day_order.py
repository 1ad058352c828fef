"""Matches of one day: the order in which they were played, or that it is not known.

A table that lists finals before semi-finals under one date tells who won the semi-finals before they are forecast.
Where a side plays more than once on a day, matches are therefore put in order by what the table says of them: a time of
day, a round, a number. Matches of one side that stay without an order are ``unordered``: raters forecast them
from what was known before any of them. Such days stand in an order of names, which is the same however a file lists
them. Days on which no side plays twice stay as they are.

Rounds are ranked whatever a file calls them: qualifying comes first, then groups, then numbered rounds, then rounds of
128, 64, …, quarter-finals, semi-finals, the match for the third place and the final.
"""

from __future__ import annotations

import math
import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from kinelo.matches.dated import UNDATED
from kinelo.matches.kind import counted
from kinelo.matches.matches import Matches
from kinelo.matches.names import encode_names, read_numbers
from kinelo.matches.rows import ContestRows, MatchRows, TableRows

Keys = dict[str, NDArray[np.float64]]
LEAST_COUNTED = 20_000
"""Numbers above this count days or seconds from some day on."""

TIME = r"(?i)(?:^|[t ])(\d{1,2})[:h.](\d{2})(?:[:.](\d{2}))?\s*([ap])?\.?m?"


@njit(cache=True, nogil=True)
def _mark_clashes(group, home, away, last, clash):
    """Mark all rows of a group in which a side stands twice; rows of a group stand together.

    ``last`` (int64) is (sides); all others are (matches), ``clash`` of bool.
    """
    begin = 0
    for k in range(group.size):
        if k > 0 and group[k] != group[k - 1]:
            begin = k
        for team in (home[k], away[k]):
            if last[team] == begin:
                clash[begin] = True
            last[team] = begin
    for k in range(1, group.size):
        if group[k] == group[k - 1] and clash[k - 1]:
            clash[k] = True


def clashes(
    group: NDArray[np.int64], home: NDArray[np.int32], away: NDArray[np.int32], sides: int
) -> NDArray[np.bool_]:
    """Whether each match belongs to a group (a day) in which some side plays more than once.

    >>> clashes(np.array([1, 1, 2, 2]), np.array([0, 1, 0, 2]), np.array([1, 2, 1, 3]), 4).tolist()
    [True, True, False, False]
    """
    clash = np.zeros(group.size, np.bool_)
    _mark_clashes(group, home, away, np.full(sides, -1, np.int64), clash)
    return clash


@njit(cache=True, nogil=True)
def _mark_firsts(day, home, away, unordered, last, first):
    """Mark matches before which no unordered one of the same day and side stands.

    ``last`` (int64) is (sides); all others are (matches), ``unordered`` and ``first`` of bool.
    """
    begin = 0
    for k in range(day.size):
        if k > 0 and day[k] != day[k - 1]:
            begin = k
        if unordered[k]:
            first[k] = last[home[k]] != begin and last[away[k]] != begin
            last[home[k]] = last[away[k]] = begin


def first_of_day(matches: Matches) -> NDArray[np.bool_]:
    """Whether no unordered match of the same day and of one of its sides stands before a match."""
    first = np.ones(len(matches), np.bool_)
    if matches.unordered is not None:
        last = np.full(len(matches.teams), -1, np.int64)
        _mark_firsts(matches.day, matches.home, matches.away, matches.unordered, last, first)
    return first


def order_days(rows: MatchRows, index: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """Rows in the order of their matches, and which of them have none; ``index`` is their order by date."""
    played = np.flatnonzero(np.isfinite(rows.result[index]))
    undated = "date" not in rows.found or bool(np.all(rows.date[index] == UNDATED))
    if undated or rows.options.ordered or played.size == 0:
        return index, None
    chosen = index[played]
    day = rows.date.view(np.int64)[chosen]
    clash = clashes(day, rows.home[chosen], rows.away[chosen], len(rows.teams))
    if not clash.any():
        return index, None
    places, chosen, day = played[clash], chosen[clash], day[clash]
    _, run = np.unique(day, return_inverse=True)
    keys: Keys = {}
    for column, key in order_keys(rows, chosen).items():
        # A key orders the matches of those days of which it is known for all, and tells something where it parts some.
        gap = (np.bincount(run, weights=np.isnan(key)) > 0)[run]
        if np.any(~gap[1:] & (day[1:] == day[:-1]) & (key[1:] != key[:-1])):
            keys[column] = np.where(gap, 0.0, key)
    order = _order_of(rows, chosen, [day, *keys.values()])
    index, sorted_rows = index.copy(), chosen[order]
    index[places] = sorted_rows
    group = np.zeros(order.size, np.int64)
    for key in (day, *keys.values()):
        group[1:] |= key[order][1:] != key[order][:-1]
    unordered = np.zeros(index.size, np.bool_)
    unordered[places] = clashes(np.cumsum(group), rows.home[sorted_rows], rows.away[sorted_rows], len(rows.teams))
    rows.order_columns = tuple(keys)
    if keys:
        by = ", ".join(map(repr, keys))
        rows.notes.append(f"where a side plays more than once on a day, matches were put in order by {by}")
    if not (number := int(unordered.sum())):
        return index, None
    days = counted(np.unique(rows.date[index][unordered]).size, "day", "days")
    rows.notes.append(
        f"nothing tells the order of {counted(number, 'match', 'matches')} on {days} on which a side plays more than "
        "once: each is forecast from the ratings at the start of its day; name a column of times, rounds or numbers "
        "with columns={'order': ...}, or say ordered=True if rows stand in order"
    )
    return index, unordered


def order_keys(rows: TableRows, chosen: NDArray[np.int64]) -> Keys:
    """What tells the order within a day of the chosen rows, by column, the surest first; NaN where a row does not."""
    table, given, keys = rows.table, rows.order_found, {}
    order = {given["order"]: read_numbers(table[given["order"]].gather(chosen))} if "order" in given else {}
    if "order" in rows.options.columns:
        keys |= order
    for column in (rows.found.get("date"), given.get("time")):
        if column is not None:
            keys[column] = times_of_day(table[column].gather(chosen))
    if "round" in given:
        (codes,), names = encode_names(table[given["round"]].gather(chosen))
        keys[given["round"]] = np.array([*round_rank(names), np.nan])[codes]
    return keys | order


def times_of_day(column: pl.Series) -> NDArray[np.float64]:
    """Seconds into the day as a column of times, of text or of numbers tells them; NaN where it does not."""
    if column.dtype == pl.Date:
        return np.full(len(column), np.nan)
    if isinstance(column.dtype, pl.Datetime):
        column = column.dt.replace_time_zone(None).dt.time()
    if column.dtype == pl.Time:
        return column.cast(pl.Int64).cast(pl.Float64).fill_null(np.nan).to_numpy() / 1e9
    if column.dtype.is_numeric():
        return read_numbers(column)
    # A day has many matches: each text is looked at once.
    (codes,), values = encode_names(column)
    text = pl.Series([*values, None], dtype=pl.String)
    numbers = read_numbers(text)  # seconds since 1970, or days and parts of a day of a spreadsheet
    counted_time = np.where(numbers > LEAST_COUNTED, numbers, np.nan)
    parts = text.str.extract_groups(TIME).struct
    hour, minute, second = (read_numbers(parts.field(str(k))) for k in (1, 2, 3))
    half = parts.field("4").str.to_lowercase().fill_null("").to_numpy()
    hour = np.where(half == "", hour, hour % 12 + np.where(half == "p", 12, 0))
    time = hour * 3600.0 + minute * 60.0 + np.where(np.isnan(second), 0.0, second)
    return np.where(np.isnan(time), counted_time, time)[codes]


def _order_of(rows: MatchRows, chosen: NDArray[np.int64], keys: Sequence[NDArray]) -> NDArray[np.int64]:
    """Order of some rows by keys, the first of them first, then by what rows say and not by where they stand.

    Of one day few rows name the same two sides: only those are compared by all the rest.
    """
    rank = np.empty(len(rows.teams), np.int64)
    rank[np.argsort(np.array(rows.teams, dtype=object), kind="stable")] = np.arange(len(rows.teams))
    keys = [*keys, rank[rows.home[chosen]] * len(rows.teams) + rank[rows.away[chosen]]]
    order = np.lexsort(keys[::-1])
    same = np.ones(order.size - 1, bool)
    for key in keys:
        same &= key[order[1:]] == key[order[:-1]]
    alike = np.flatnonzero(np.append(same, False) | np.append(False, same))
    part = chosen[order[alike]]
    meeting = np.cumsum(~np.append(False, same)[alike])
    names = np.zeros(part.size)
    if rows.identifiers is not None:
        names = rows.identifiers[part].rank("ordinal").fill_null(0).to_numpy()
    # A number for each match that is as good as random: in order of results the first of a day would be the worst.
    side = np.array([zlib.crc32(name.encode()) for name in rows.teams], np.uint64)
    numbers = [column[part] + 0.0 for column in (rows.result, rows.margin)]  # one zero instead of two
    scattered = rows.date[part].view(np.int64).astype(np.uint64)
    for word in (side[rows.home[part]], side[rows.away[part]], *(number.view(np.uint64) for number in numbers)):
        scattered = (scattered ^ word) * np.uint64(0x9E3779B97F4A7C15)
        scattered ^= scattered >> np.uint64(29)
    content = (column[part] for column in (rows.weight, rows.neutral, rows.margin, rows.result))
    order[alike] = order[alike][np.lexsort((*content, scattered, names, meeting))]
    return order


def order_contests(rows: ContestRows, good: NDArray[np.int64]) -> list[NDArray]:
    """Ranks of the contests inside a day, the surest first; ``good`` are the rows that are used.

    A time or a round orders the contests of those days of which it is known for all, where it says one thing of each
    contest. Else they stand as the file lists them one after the other, or in the order of their names: rounds of a
    season without dates are numbers that count, in whichever order they are listed.
    """
    contest, contests, keys = rows.contest[good], len(rows.identifiers), rows.identifiers
    met = np.unique(contest)
    day = np.full(contests, np.datetime64("0001-01-01"))
    np.maximum.at(day, contest, rows.date[good])
    shared = np.unique(day[met]).size < met.size
    ranks: list[NDArray] = []
    for column, key in order_keys(rows, good).items():
        if column in (rows.found.get("outcome"), rows.found.get("contest"), rows.found["entrant"]):
            continue
        least, most = np.full(contests, np.inf), np.full(contests, -np.inf)
        known = ~np.isnan(key)
        np.minimum.at(least, contest[known], key[known])
        np.maximum.at(most, contest[known], key[known])
        timed = np.isfinite(least)
        if not timed.any() or np.any(least[timed] != most[timed]) or np.unique(least[timed]).size < 2:
            continue
        gaps = np.isin(day, day[met][~timed[met]])
        ranks.append(np.where(gaps | ~timed, 0.0, least))
        if shared and column not in rows.found.values():
            rows.order_columns = (*rows.order_columns, column)
            rows.notes.append(f"contests of one day stand in the order of {column!r}")
    numbered = "date" not in rows.found and "season" in rows.found
    numbered = numbered and all(keys[k].rpartition(" ")[2].isdigit() for k in met.tolist())
    changes = np.flatnonzero(np.concatenate([[True], contest[1:] != contest[:-1]]))
    if changes.size == met.size and not numbered:
        place = np.full(contests, contest.size)
        np.minimum.at(place, contest, np.arange(contest.size))
        return [*ranks, place]
    parts = [[(not p.isdigit(), int(p) if p.isdigit() else p) for p in re.findall(r"\d+|\D+", key)] for key in keys]
    rank = np.empty(contests, np.int64)
    rank[sorted(range(contests), key=lambda k: parts[k])] = np.arange(contests)
    return [*ranks, rank]


QUALIFYING, GROUP_ORDER, NUMBERED, KNOCK_OUT = 0.0, 100.0, 200.0, 100_000.0
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
GROUP_STAGE = re.compile(
    r"(rr|round robin|league|liga|pool|group|groups|gruppe|gruppenphase|grupo|groupe|poule|girone|groep|fase de grupos)"
    r"( stage| phase| play)?( [a-z0-9]{1,2})?"
)
QUALIFIER = re.compile(r"(?:q|qual|qualif\w*|quali\w*|prelim\w*|vorrunde|preliminar\w*)(?: round| runde)? ?(\d*)")
ROUND_NUMBER = re.compile(
    r"(?:round|rd|r|matchday|match day|md|week|wk|w|gameweek|gw|game|stage|tour|runde|spieltag|rodada|jornada|ronda"
    r"|fecha|fase|journee|giornata|turno|speelronde|ronde)? ?#?(\d+)(?: ?(?:st|nd|rd|th|\.|a|o|e|eme|er))?"
    r"(?: ?(?:round|runde|rodada|jornada|ronda|fase|journee|tour|giornata|turno|ronde|spieltag|matchday|week))?"
)
SIDES = re.compile(r"(?:round of|last|r|letzte|top) ?(\d+)|1/(\d+)(?: ?(?:final\w*|de final\w*))?")
FINALS: dict[float, str] = {
    4.0: r"sixteenth ?finals?|sechzehntelfinale|seiziemes?( de finale)?|dieciseisavos( de final)?"
    r"|sedicesimi( di finale)?",
    3.0: r"eighth ?finals?|achtelfinale?|huitiemes?( de finale)?|octavos( de final)?|oitavas( de final)?"
    r"|ottavi( di finale)?|achtste ?finales?",
    2.0: r"qf|quarter ?finals?|quarters?|viertelfinale|quarts?( de finale)?|cuartos( de final)?|quartas( de final)?"
    r"|quarti( di finale)?|kwartfinales?",
    1.0: r"sf|semi ?finals?|semis?|halbfinale|demi ?finales?|semifinale?s?|semifinais|semifinali|halve ?finales?",
    0.5: r"br|bronze( medal)?( match)?|third place( play ?off| match)?|3rd place( play ?off| match)?|3p"
    r"|spiel um platz 3|petite finale|tercer puesto|terceiro lugar|finale 3 posto|troostfinale",
    0.0: r"f|finals?|the final|grand final|finale|endspiel|gold( medal)?( match)?",
}


def round_rank(names: Iterable[str]) -> list[float]:
    """Rank of each round, NaN for a name that tells none.

    >>> round_rank(["F", "SF", "R16", "Q2", "RR"])
    [100000.0, 99999.0, 99997.0, 2.0, 100.0]
    >>> round_rank(["Matchday 12", "Matchday 2", "R16", "?"])
    [212.0, 202.0, 216.0, nan]
    """
    plain = [_plain(name) for name in names]
    last_of_all = any(re.fullmatch(pattern, name) for name in plain for pattern in FINALS.values())
    return [_rank(name, last_of_all) for name in plain]


def _plain(name: str) -> str:
    name = unicodedata.normalize("NFKD", name.casefold().replace("ß", "ss"))
    name = "".join(letter for letter in name if not unicodedata.combining(letter))
    name = " ".join(re.sub(r"[-–_.,;:()]", " ", name).split())
    for number, word in enumerate(ORDINALS, 1):
        name = re.sub(rf"\b{word}\b(?! place)", str(number), name)
    return name


def _rank(name: str, knock_out: bool) -> float:
    """Rank of one name; ``r16`` is a round of sixteen only beside finals."""
    for before_final, pattern in FINALS.items():
        if re.fullmatch(pattern, name):
            return KNOCK_OUT - before_final
    if parts := SIDES.fullmatch(name):
        sides = int(parts[1]) if parts[1] else 2 * int(parts[2])
        if sides >= 2 and sides & (sides - 1) == 0 and (knock_out or not re.fullmatch(r"r ?\d+", name)):
            return KNOCK_OUT + 1.0 - math.log2(sides)
    if parts := QUALIFIER.fullmatch(name):
        return QUALIFYING + float(parts[1] or 0)
    if GROUP_STAGE.fullmatch(name) and not re.fullmatch(r"(?:poule|league|liga) \d+", name):
        return GROUP_ORDER
    parts = ROUND_NUMBER.fullmatch(name)
    return NUMBERED + float(parts[1]) if parts and len(parts[1]) < 5 else math.nan


def forecast_until(matches: Matches) -> NDArray[np.int64]:
    """Where the matches end that each is forecast with: unordered ones of a day together, every other by itself.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B", "A"], "away": ["B", "C", "C"], "result": [1, 0.5, 1]}
    >>> forecast_until(kn.read_matches(table | {"date": ["2024-05-01", "2024-05-01", "2024-05-02"]})).tolist()
    [2, 2, 3]
    """
    size, unordered, day = len(matches), matches.unordered, matches.day
    if unordered is None or not size:
        return np.arange(1, size + 1)
    joined = unordered[1:] & unordered[:-1] & (day[1:] == day[:-1])
    ends = np.append(np.flatnonzero(~joined) + 1, size)
    return np.repeat(ends, np.diff(ends, prepend=0))


def first_of_each(until: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the matches begin that each is forecast with, from where they end.

    >>> first_of_each(np.array([2, 2, 3])).tolist()
    [0, 0, 2]
    """
    ends, count = np.unique(until, return_counts=True)
    return np.repeat(ends - count, count)


def parts_of(matches: Any) -> Iterator[tuple[Any, bool]]:
    """The matches in parts, and whether each is forecast as a whole before it is used: each day's unordered matches
    together are, and what lies between them is not.
    """
    unordered = matches.unordered
    if unordered is None or not unordered.any():
        yield matches, False
        return
    until = forecast_until(matches)
    cut = (until[1:] != until[:-1]) & (unordered[1:] | unordered[:-1])
    for begin, end in pairwise([0, *(np.flatnonzero(cut) + 1).tolist(), len(matches)]):
        yield matches[begin:end], bool(unordered[begin])
