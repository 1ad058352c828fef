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
from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from kinelo.matches.columns import ORDER_COLUMNS, find_columns
from kinelo.matches.dated import UNDATED
from kinelo.matches.matches import Matches
from kinelo.matches.names import as_text, encode_names, read_numbers
from kinelo.matches.rows import ContestRows, Rows

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


def order_days(rows: Rows, index: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """Rows in the order of their matches, and which of them have none; ``index`` is their order by date."""
    given = find_columns(rows.table.columns, ORDER_COLUMNS, rows.options.columns)
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
    keys = {name: key for name, key in _keys(rows, given, chosen).items() if _tells(key, day)}
    complete = [np.where(_missing_somewhere(key, day), 0.0, key) for key in keys.values()]
    order = _order_of(rows, chosen, [day, *complete])
    index, sorted_rows = index.copy(), chosen[order]
    index[places] = sorted_rows
    group = np.zeros(order.size, np.int64)
    for key in (day, *complete):
        group[1:] |= key[order][1:] != key[order][:-1]
    unordered = np.zeros(index.size, np.bool_)
    unordered[places] = clashes(np.cumsum(group), rows.home[sorted_rows], rows.away[sorted_rows], len(rows.teams))
    _tell(rows, [given.get(name, rows.found["date"]) for name in keys], unordered, rows.date[index])
    return index, unordered if unordered.any() else None


def _keys(rows: Rows, given: dict[str, str], chosen: NDArray[np.int64]) -> Keys:
    """What tells the order of matches of one day, the surest first; NaN where a row does not tell."""
    table = rows.table
    keys: Keys = {}
    if "order" in given and rows.named("order"):
        keys["order"] = read_numbers(table[given["order"]][chosen])
    keys["date"] = _times_by_value(table[rows.found["date"]][chosen])
    if "time" in given:
        keys["time"] = _times_by_value(table[given["time"]][chosen])
    if "round" in given:
        (codes,), names = encode_names(table[given["round"]][chosen])
        keys["round"] = np.array([*round_rank(names), np.nan])[codes]
    if "order" in given and not rows.named("order"):
        keys["order"] = read_numbers(table[given["order"]][chosen])
    return keys


def _times_by_value(column: pl.Series) -> NDArray[np.float64]:
    """The same as :func:`times_of_day`, which looks at each text once: a day has many matches."""
    if column.dtype != pl.String:
        return times_of_day(column)
    (codes,), values = encode_names(column)
    return np.append(times_of_day(pl.Series(values, dtype=pl.String)), np.nan)[codes]


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
    text = as_text(column)
    numbers = read_numbers(text)  # seconds since 1970, or days and parts of a day of a spreadsheet
    counted = np.where(numbers > LEAST_COUNTED, numbers, np.nan)
    if not text.str.contains(TIME).any():
        return counted
    parts = text.str.strip_chars().str.extract_groups(TIME).struct
    hour, minute, second = (read_numbers(parts.field(str(k))) for k in (1, 2, 3))
    half = parts.field("4").str.to_lowercase().fill_null("").to_numpy()
    hour = np.where(half == "", hour, hour % 12 + np.where(half == "p", 12, 0))
    time = hour * 3600.0 + minute * 60.0 + np.where(np.isnan(second), 0.0, second)
    return np.where(np.isnan(time), counted, time)


def _tells(key: NDArray[np.float64], day: NDArray[np.int64]) -> bool:
    """Whether a key parts the matches of some day; days with a gap in it do not count."""
    usable = ~_missing_somewhere(key, day)
    return bool(np.any(usable[1:] & (day[1:] == day[:-1]) & (key[1:] != key[:-1])))


def _missing_somewhere(key: NDArray[np.float64], day: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether some match of a match's day lacks the key, so that it orders none of them."""
    _, run = np.unique(day, return_inverse=True)
    return (np.bincount(run, weights=np.isnan(key)) > 0)[run]


def _order_of(rows: Rows, chosen: NDArray[np.int64], keys: Sequence[NDArray]) -> NDArray[np.int64]:
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
    part = order[alike]
    meeting = np.cumsum(~np.append(False, same)[alike])
    order[alike] = part[np.lexsort((*_by_content(rows, chosen[part]), meeting))]
    return order


def _by_content(rows: Rows, chosen: NDArray[np.int64]) -> tuple[NDArray, ...]:
    """Keys of rows that name the same sides, the least important first."""
    names = np.zeros(chosen.size)
    if rows.identifiers is not None:
        names = rows.identifiers[chosen].rank("ordinal").fill_null(0).to_numpy()
    numbers = (column[chosen] for column in (rows.weight, rows.neutral, rows.margin, rows.result))
    return *numbers, _scattered(rows, chosen), names


def _scattered(rows: Rows, chosen: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A number for each match that is as good as random: in order of results the first of a day would be the worst."""
    side = np.array([zlib.crc32(name.encode()) for name in rows.teams], np.uint64)
    numbers = [column[chosen] + 0.0 for column in (rows.result, rows.margin)]  # one zero instead of two
    key = rows.date[chosen].view(np.int64).astype(np.uint64)
    for part in (side[rows.home[chosen]], side[rows.away[chosen]], *(number.view(np.uint64) for number in numbers)):
        key = (key ^ part) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key


def _tell(rows: Rows, used: list[str], unordered: NDArray[np.bool_], date: NDArray[np.datetime64]) -> None:
    rows.order_columns = tuple(dict.fromkeys(used))
    if used:
        by = ", ".join(map(repr, rows.order_columns))
        rows.notes.append(f"where a side plays more than once on a day, matches were put in order by {by}")
    if number := int(unordered.sum()):
        days = np.unique(date[unordered]).size
        rows.notes.append(
            f"nothing tells the order of {number:,} matches on {days:,} days on which a side plays more than once: "
            "each is forecast from the ratings at the start of its day; name a column of times, rounds or numbers "
            "with columns={'order': ...}, or say ordered=True if rows stand in order"
        )


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


Ranks = NDArray[np.float64]

TIMES = (*ORDER_COLUMNS["time"], "off")
"""Columns of times of day; a horse race is off at 14:35, while in tables of matches `off` counts attacks."""


def within_day(rows: ContestRows, good: NDArray[np.int64]) -> list[NDArray]:
    """Ranks of the contests inside a day, the surest first; ``good`` are the rows that are used.

    A time or a round orders the contests of those days of which it is known for all.
    """
    contest = rows.contest[good]
    day = np.full(len(rows.identifiers), np.datetime64("0001-01-01"))
    np.maximum.at(day, contest, rows.date[good])
    shared = np.unique(day[np.unique(contest)]).size < np.unique(contest).size
    ranks = []
    for column, key in _contest_keys(rows, good).items():
        rank = _of_contests(key, contest, len(rows.identifiers))
        if rank is None:
            continue
        known = ~np.isnan(rank[np.unique(contest)])
        gaps = np.isin(day, day[np.unique(contest)][~known])
        rank = np.where(gaps, 0.0, rank)
        ranks.append(rank)
        if shared and column in rows.table.columns and column not in rows.found.values():
            rows.order_columns = (*rows.order_columns, column)
            rows.notes.append(f"contests of one day stand in the order of {column!r}")
    return [*ranks, _as_listed(rows, contest)]


def _contest_keys(rows: ContestRows, good: NDArray[np.int64]) -> dict[str, Ranks]:
    """What may tell the order of contests of one day, by column, for rows that are used; NaN where a row does not."""
    keys: dict[str, Ranks] = {}
    table, used = rows.table, {rows.outcome, rows.found.get("contest"), rows.found["entrant"]}
    if "date" in rows.found:
        keys[rows.found["date"]] = times_of_day(table[rows.found["date"]].gather(good))
    given = find_columns(table.columns, ORDER_COLUMNS | {"time": TIMES}, None)
    if given.get("time") not in (None, *used):
        keys[given["time"]] = times_of_day(table[given["time"]].gather(good))
    if given.get("round") not in (None, *used):
        (codes,), names = encode_names(table[given["round"]].gather(good))
        keys[given["round"]] = np.array([*round_rank(names), np.nan])[codes]
    if given.get("order") not in (None, *used):
        keys[given["order"]] = read_numbers(table[given["order"]].gather(good))
    return keys


def _of_contests(key: Ranks, contest: NDArray[np.int64], contests: int) -> Ranks | None:
    """The key of each contest; None where rows of one contest differ in it, or no two contests do."""
    least, most = np.full(contests, np.inf), np.full(contests, -np.inf)
    known = ~np.isnan(key)
    np.minimum.at(least, contest[known], key[known])
    np.maximum.at(most, contest[known], key[known])
    met = np.isfinite(least)
    if not met.any() or np.any(least[met] != most[met]) or np.unique(least[met]).size < 2:
        return None
    return np.where(met, least, np.nan)


def _as_listed(rows: ContestRows, contest: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order of the file where it lists one contest after the other, else that of their names.

    Rounds of a season without dates are numbers that count, in whichever order they are listed.
    """
    changes = np.flatnonzero(np.concatenate([[True], contest[1:] != contest[:-1]]))
    if changes.size == np.unique(contest).size and not _numbered(rows, contest):
        place = np.full(len(rows.identifiers), contest.size)
        np.minimum.at(place, contest, np.arange(contest.size))
        return place
    keys = [[(not part.isdigit(), int(part) if part.isdigit() else part) for part in re.findall(r"\d+|\D+", name)]
            for name in rows.identifiers]  # fmt: skip
    rank = np.empty(len(keys), np.int64)
    rank[sorted(range(len(keys)), key=lambda k: keys[k])] = np.arange(len(keys))
    return rank


def _numbered(rows: ContestRows, contest: NDArray[np.int64]) -> bool:
    """Whether contests of seasons without dates are numbers, which tell their order."""
    if "date" in rows.found or "season" not in rows.found:
        return False
    return all(rows.identifiers[k].rpartition(" ")[2].isdigit() for k in np.unique(contest).tolist())
