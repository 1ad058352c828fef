"""From a long table to rows of contests: names, dates, which rows belong together, and how each entrant ended."""

from __future__ import annotations

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.matches.columns import listed
from kinelo.matches.contest_columns import find_contest_columns, needed_columns
from kinelo.matches.contest_distance import read_distances, without_starters
from kinelo.matches.contest_notes import note_unused
from kinelo.matches.contest_rows import (
    CONTEST_REASONS,
    KEPT,
    UNKNOWN,
    ContestOptions,
    ContestRows,
    direction,
    read_endings,
    read_values,
)
from kinelo.matches.contest_titles import read_titles
from kinelo.matches.contests import DISQUALIFIED, FINISHED, NOT_STARTED, UNFINISHED
from kinelo.matches.dates import read_dates
from kinelo.matches.fields import read_numbers
from kinelo.matches.loading import Opened
from kinelo.matches.matches import LARGEST_WEIGHT
from kinelo.matches.names import as_text, encode_names, spelt_alike, without_stand_ins

SAME_CONTEST = np.timedelta64(31, "D")
"""Rows of one contest id that lie further apart are of different contests: ids repeat from season to season."""

SAME_ENTRANTS = 1.25
"""Days with an entrant under one name, for each entrant, from which on each day has a contest of its own."""


def interpret_contests(opened: Opened, options: ContestOptions, name: str) -> ContestRows:
    """Read every column of a long table and mark the rows that cannot be used."""
    table = opened.table
    found = find_contest_columns(table.columns, options.columns)
    needed_columns(found, table.columns, name, options.played)
    n = table.height
    team = _column(table, options.team, "team=") if options.team else found["entrant"]
    (entrant,), entrants = encode_names(table[team])
    rows = ContestRows(
        table, found, options, entrant, entrants, _read_slots(table, found, options), np.zeros(n, np.int8),
        list(opened.notes), np.zeros(n, "datetime64[D]"), np.full(n, -1), np.full(n, np.nan),
        np.zeros(n, np.int8), np.ones(n),
    )  # fmt: skip
    for row, reason in opened.broken.items():
        rows.fault[row] = CONTEST_REASONS.index(reason)
    _check_names(rows)
    _read_dates(rows)
    _read_weight(rows)
    _group(rows)
    read_titles(rows)
    if {"place", "score", "time"} & found.keys():
        _read_outcome(rows)
        read_distances(rows)
    else:
        rows.notes.append("there is no place, score or time: these contests have not taken place yet")
    note_unused(rows)
    return rows


def _column(table: pl.DataFrame, column: object, said: str) -> str:
    if column not in table.columns:
        raise InputError(f"{said} names {column!r:.60}, but the columns are {listed(table.columns)}.")
    return str(column)


def _read_slots(table: pl.DataFrame, found: dict[str, str], options: ContestOptions) -> dict:
    """Codes of what is rated, by kind; team-mates in several columns share the names of their kind."""
    wanted = options.slots or {found["entrant"]: (found["entrant"],)}
    both = [kind for kind in options.advantages if kind in wanted]
    if both:
        raise InputError(f"{both[0]!r:.60} is named among slots= and advantages=; it is one or the other.")
    slots = {}
    for kind, columns in (*wanted.items(), *options.advantages.items()):
        said = "advantages=" if kind in options.advantages else "slots="
        series = [table[_column(table, column, said)] for column in columns]
        codes, names = encode_names(*series)
        slots[kind] = np.stack(codes, axis=1), names
    return slots


def _check_names(rows: ContestRows) -> None:
    rows.blame(rows.entrant < 0, "missing entrant")
    if aliases := rows.options.aliases:
        used = [name for name in rows.entrants if name in aliases]
        rows.entrant, rows.entrants = _renamed(rows.entrant, rows.entrants, aliases)
        rows.slots = {kind: _renamed(*slots, aliases) for kind, slots in rows.slots.items()}
        rows.notes.append(f"{len(used):,} names were replaced by their aliases")
    rows.blame(~np.append(without_stand_ins(rows.entrants), True)[rows.entrant], "a name that stands for none")
    for kind, (codes, _) in rows.slots.items():
        if kind not in rows.options.advantages:
            rows.blame(codes.max(axis=1) < 0, "missing slot")
    for names in {rows.entrants, *(names for _, names in rows.slots.values())}:
        if alike := spelt_alike(names):
            shown = "; ".join(" and ".join(map(repr, group)) for group in alike[:3])
            rows.notes.append(
                f"names that differ only in case, blanks or accents count as different ({shown}"
                f"{f' and {len(alike) - 3:,} more' if len(alike) > 3 else ''}); aliases= joins them"
            )


def _renamed(codes, names, aliases):
    index: dict[str, int] = {}
    new = np.array([*(index.setdefault(aliases.get(name, name), len(index)) for name in names), -1], np.int32)
    return new[codes], tuple(index)


def _read_dates(rows: ContestRows) -> None:
    if "date" not in rows.found:
        rows.notes.append("there is no date column: contests count in the order of the file")
        return
    read = read_dates(rows.table[rows.found["date"]], rows.options.dates, played=rows.options.played)
    rows.date = read.days
    if read.form is not None and read.form != "%Y-%m-%d":
        rows.notes.append(f"dates were read in the format {read.form}")
    rows.notes += read.notes
    rows.blame(np.isnat(rows.date), "unreadable date")


def _read_weight(rows: ContestRows) -> None:
    if "weight" in rows.found:
        rows.weight = read_numbers(rows.table[rows.found["weight"]])
        rows.blame(~((rows.weight >= 0) & (rows.weight <= LARGEST_WEIGHT)), "impossible weight")


def _group(rows: ContestRows) -> None:
    """Number the contests: by their id (and season), apart where its dates lie apart, else by day."""
    found, table = rows.found, rows.table
    if "contest" in found:
        names = as_text(table[found["contest"]]).str.strip_chars()
        rows.blame(names.is_null().to_numpy() | (names == "").fill_null(True).to_numpy(), "missing contest")
        if "season" in found:
            season = as_text(table[found["season"]]).str.strip_chars().fill_null("?")
            names = season + " " + names.fill_null("")
    else:
        names = pl.Series(rows.date.astype(str))
        rows.notes.append("there is no column of contests: rows of one day are one contest")
    (codes,), keys = encode_names(names)
    contest = codes.astype(np.int64)
    if "date" in found and "contest" in found:
        contest, keys = _split_by_date(rows, contest, keys)
    rows.contest, rows.identifiers = contest, tuple(keys)


def _split_by_date(rows: ContestRows, contest: np.ndarray, keys: tuple[str, ...]) -> tuple[np.ndarray, list[str]]:
    """Contests whose rows lie more than a month apart, or whose entrants return from day to day as in Race 1 of every
    day, are several, each named with its day.
    """
    good = np.flatnonzero(rows.good)
    order = good[np.lexsort((rows.date[good], contest[good]))]
    same = contest[order][1:] == contest[order][:-1]
    gap = np.diff(rows.date[order])
    far = same & (gap > SAME_CONTEST)
    days = same & (gap > np.timedelta64(0, "D")) & ~far
    daily = days & _same_entrants(rows, order, np.concatenate([[0], np.cumsum(~same | far)]))[1:]
    apart = far | daily
    if (days & ~daily).any():
        number = np.unique(contest[order][1:][days & ~daily]).size
        rows.notes.append(f"{number:,} contests have rows of several days: each is dated by its last day")
    if not apart.any():
        return contest, list(keys)
    split = np.concatenate([[0], np.cumsum(~same | apart)])
    new = np.full(contest.size, -1)
    new[order] = split
    begins = order[np.flatnonzero(np.concatenate([[True], ~same | apart]))]
    often = np.zeros(len(keys), bool)
    often[contest[order][1:][apart]] = True
    names = [f"{keys[c]} on {rows.date[k]}" if often[c] else keys[c] for k, c in zip(begins, contest[begins])]
    month = f"after more than {int(SAME_CONTEST.astype(int))} days"
    for returns, how in ((far, month), (daily, "on other days with the same entrants")):
        number = np.unique(contest[order][1:][returns]).size
        if number:
            named = "1 name of a contest returns" if number == 1 else f"{number:,} names of contests return"
            rows.notes.append(f"{named} {how}: each time counts as a contest of its own")
    return new, names


def _same_entrants(rows: ContestRows, order: np.ndarray, run: np.ndarray) -> np.ndarray:
    """Which rows, in this order, belong to a run of days on which the same entrants return."""
    table = pl.DataFrame({"run": run, "entrant": rows.entrant[order], "day": rows.date[order]})
    entrants = table.unique(["run", "entrant"])["run"].to_numpy()
    entries = table.unique()["run"].to_numpy()
    size = int(run.max(initial=0)) + 1
    return (np.bincount(entries, minlength=size) >= SAME_ENTRANTS * np.bincount(entrants, minlength=size))[run]


def _read_outcome(rows: ContestRows) -> None:
    """Values of which less is better, and how entrants ended who have none."""
    table, found = rows.table, rows.found
    kind = next(kind for kind in ("place", "score", "time") if kind in found)
    column = table[found[kind]]
    sign, how = direction(kind, found[kind], rows.options.best)
    rows.notes.append(how)
    read = read_values(column, kind)
    if kind == "time" and column.dtype == pl.String:
        read = _with_gaps(rows, column, read)
    value = sign * (_without_zeros(rows, read, found[kind]) if kind == "place" and rows.options.best is None else read)
    words, says = read_endings(column) if column.dtype == pl.String else (np.full(len(column), UNKNOWN), None)
    blank = np.isnan(read) if says is None else ~says
    ended = np.where(np.isfinite(value), FINISHED, words)
    if "status" in found:
        status, said = read_endings(table[found["status"]])
        surely = (status > FINISHED) & said
        # A word such as "Engine" beside an empty place is why somebody did not finish.
        ended = np.where(surely, status, np.where((ended == UNKNOWN) & said & (status != FINISHED), UNFINISHED, ended))
    ended = without_starters(rows, ended)
    to_come = _to_come(rows, blank & (ended == UNKNOWN)) if not rows.options.played else np.zeros(len(value), bool)
    rows.blame((ended == UNKNOWN) & blank & ~to_come, "missing place")
    rows.blame((ended == UNKNOWN) & ~blank, "unreadable place")
    rows.ended = np.where(ended < 0, FINISHED, ended).astype(np.int8)
    rows.value = np.where(rows.ended == FINISHED, value, np.nan)
    for ending, kept, reason in (
        (NOT_STARTED, rows.options.not_started, "did not start"),
        (DISQUALIFIED, rows.options.disqualified, "disqualified"),
        (UNFINISHED, rows.options.unfinished, "did not finish"),
    ):
        _keep_or_not(rows, ending, kept, reason)


def _with_gaps(rows: ContestRows, column: pl.Series, times: np.ndarray) -> np.ndarray:
    """Times of which those written with a plus, such as +12.5, are behind the best of their contest."""
    text = column.str.strip_chars()
    behind = text.str.starts_with("+").fill_null(False).to_numpy()
    if not behind.any():
        return times
    gap = read_values(text.str.strip_prefix("+"), "time")
    best = np.full(len(rows.identifiers) + 1, np.inf)
    whole = ~behind & np.isfinite(times) & (rows.contest >= 0)
    np.minimum.at(best, rows.contest[whole], times[whole])
    rows.notes.append(f"times such as {text.filter(pl.Series(behind))[0]!r} were read as so much behind the shortest")
    return np.where(behind, np.where(np.isfinite(best), best, 0.0)[rows.contest] + gap, times)


def _without_zeros(rows: ContestRows, places: np.ndarray, column: str) -> np.ndarray:
    """Places from 1 on; a 0 stands for somebody without one, unless every contest has one, which is asked about."""
    zero = (places < 1.0) & rows.good
    if not zero.any():
        return places
    unexplained = zero
    if "status" in rows.found:
        status, said = read_endings(rows.table[rows.found["status"]])
        unexplained = zero & ~(said & (status != FINISHED))
    number = np.bincount(rows.contest[unexplained], minlength=len(rows.identifiers))
    present = np.unique(rows.contest[rows.good & np.isfinite(places)])
    if (places[zero] == 0.0).all() and (number[present] == 1).all():
        raise InputError(
            f"Every contest has one {column!r} of 0, which may be the first place or somebody without one: say "
            "best='lowest' (--best lowest) if 0 is first, or leave these cells empty."
        )
    shown = f"{places[zero][0]:g}"
    rows.notes.append(f"{int(zero.sum()):,} rows have a {column!r} below 1, such as {shown}, which is no place")
    return np.where(places < 1.0, np.nan, places)


def _to_come(rows: ContestRows, empty: np.ndarray) -> np.ndarray:
    """Rows of contests in which nobody has a place yet."""
    good = rows.good & (rows.contest >= 0)
    full = np.zeros(len(rows.identifiers) + 1, bool)
    full[rows.contest[good & ~empty]] = True
    return good & ~full[rows.contest]


def _keep_or_not(rows: ContestRows, ending: int, kept: str, reason: str) -> None:
    number = int(((rows.ended == ending) & rows.good).sum())
    if not number:
        return
    option = {NOT_STARTED: "not_started", DISQUALIFIED: "disqualified", UNFINISHED: "unfinished"}[ending]
    entries = "1 entry" if number == 1 else f"{number:,} entries"
    said = f"{entries} {'disqualified' if ending == DISQUALIFIED else reason}"
    choice = {how: f"{option}={how!r} (--{option.replace('_', '-')} {how})" for how in KEPT}
    if kept == "out":
        rows.blame(rows.ended == ending, reason)
        rows.notes.append(f"{said}: left out; {choice['behind']} puts such entries behind all who finished")
    elif kept == "last":
        rows.notes.append(f"{said}: counted like finishing last; {choice['out']} leaves such entries out")
    else:
        rows.notes.append(
            f"{said}: tied behind all who finished, which is partly luck and tells as much as RankElo finds; "
            f"{choice['last']} counts such entries like finishing last, {choice['out']} leaves them out"
        )
