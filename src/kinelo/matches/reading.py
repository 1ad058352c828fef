"""Reading matches and contests: whatever their columns are called and however dirty the table is.

A table is opened, its columns are given their meaning, its rows say what they say, and those that can be used become
Matches or Contests: by date, and within a day in the order in which they took place. A row that cannot be used is set
aside with its number and the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import check_contest_mapping, check_mapping
from kinelo.matches.contest_rows import interpret_contests, note_unused
from kinelo.matches.contests import DISQUALIFIED, FINISHED, NOT_STARTED, UNFINISHED, Contests, Slots
from kinelo.matches.dated import LONGEST_CONTENT, Condition, Rejects
from kinelo.matches.dates import DateOrder, check_date_order
from kinelo.matches.day_order import within_day
from kinelo.matches.lineup_reading import attach_lineups, attach_listed_lineups
from kinelo.matches.loading import load_table, open_table
from kinelo.matches.match_rows import interpret
from kinelo.matches.matches import Matches
from kinelo.matches.names import as_text, encode_names
from kinelo.matches.outcomes import check_scale
from kinelo.matches.rows import (
    CONTEST_REASONS,
    KEPT,
    REASONS,
    Best,
    ContestOptions,
    ContestRows,
    Kept,
    MatchOptions,
    NoMatches,
    Rows,
    Scale,
    check_losses,
)
from kinelo.matches.same_side import read_aliases
from kinelo.matches.words import LAST, read_meanings
from kinelo.model.validation import flag

OUTCOME = ("result", "score_line", "home_score", "away_score", "margin")
SHOWN_COLUMNS = {
    "date": ("date",),
    "score": OUTCOME,
    "result": OUTCOME,
    "a score that became a date": OUTCOME,
    "margin": OUTCOME,
    "weight": ("weight",),
    "a name that stands for none": ("home", "away"),
    "forfeit or awarded match": ("status", *OUTCOME, "forfeit"),
    "match not played to its end": ("status", *OUTCOME),
    "match not played yet": ("status", *OUTCOME),
}
"""Columns whose content is shown beside a reason."""

Value = TypeVar("Value", bound=np.generic)


def read_matches(
    source: Any,
    lineups: Any = None,
    columns: Mapping[str, str] | None = None,
    *,
    played: bool = True,
    results: Scale | None = None,
    conditions: Sequence[str] = (),
    aliases: Mapping[str, str] | str | Path | None = None,
    drop_repeats: bool = False,
    ordered: bool = False,
    dates: DateOrder | None = None,
    endings: Mapping[str, str] | None = None,
    sheet: str | int | None = None,
    accept_losses: bool = False,
) -> Matches:
    """Read matches, and line-ups if given, from a CSV or Parquet file or a frame.

    Parameters
    ----------
    source
        Path of a CSV (also compressed, ``.csv.gz``), Parquet or JSON-lines file, a pandas, polars or pyarrow table, a
        dictionary of columns or a list of dictionaries. Two rows per match, one for each team, are joined by match id.
    lineups
        The same for line-ups in long form: match, side (or team), player, and perhaps starter, minutes and role.
        Line-ups may also stand in the matches themselves, as lists in the columns ``home_lineup`` and ``away_lineup``.
    columns
        Which column means what, where the names are not common ones, for example ``{"home": "club_1"}``. Keys:
        date, home, away, home_score, away_score, result, margin, neutral, season, weight, match_id, home_lineup,
        away_lineup;
        time, round, order (which tell the order of matches of one day); home_games, away_games (games, sets or legs
        won, which decide a match whose scores are total points); home_place, away_place (1 for who came first);
        group (a column whose value is added to names, so that men's and women's sides of one name are two); retired;
        lineup_match, side, team, player, minutes, starter, played, role.
    played
        False keeps matches without a result (fixtures to forecast); their result is NaN.
    results
        Scale of a column of numbers: ``"points"`` for 0, ½, 1, ``"signed"`` for −1, 0, 1. Left open, a negative number
        means the signed scale; 0 and 1 alone are points.
    conditions
        Columns to keep as :attr:`Matches.conditions`, such as ``["surface"]``.
    aliases
        Names to be replaced, as ``{"Bombay": "Mumbai"}`` or a file of two columns: the name found, the name wanted.
    drop_repeats
        Drop rows that are alike an earlier one in every column. Without a match id they count as matches otherwise.
    ordered
        Whether matches of one day stand in the order in which they were played. Else those of a side that plays more
        than once on a day are put in order by their time, round or number; where none is there, they are
        :attr:`Matches.unordered`.
    dates
        Order of dates that are written in numbers alone, such as 01/02/03: ``"dmy"``, ``"mdy"`` or ``"ymd"``. Left
        open, the column decides where it can, and ``notes`` say where it cannot. Each cell is read by its own style.
    endings
        What words of a status mean that Kinelo does not know, as ``{"XYZ": "finished"}``, or ``"to come"``,
        ``"broken off"`` or ``"forfeit"``; also marks behind scores, as ``{"*": "finished"}``.
    sheet
        Which sheet of a workbook to read, by its name or number (from 1). Left open, all sheets that have the columns
        of the first are read together.
    accept_losses
        True goes on although more than half of the rows cannot be used. Where more than 5 % cannot, the first note
        says so.

    Returns
    -------
    Matches
        Sorted by date; ``rejected`` lists the rows that could not be used and why, ``notes`` how the file was read.

    >>> table = {"date": ["2024-02-01", "2024-01-01", "?"], "home": ["A", "B", "A"], "away": ["B", "A", "B"],
    ...          "home_score": [2, 1, 0], "away_score": [1, 1, 0]}
    >>> matches = read_matches(table)
    >>> matches.result, matches.rejected.counts(), matches.notes[-1]
    (array([0.5, 1. ]), {'unreadable date': 1}, 'the file was not in date order: it was sorted by date')
    """
    check_mapping(columns)
    check_scale(results)
    check_date_order(dates)
    name = _name_of(source)
    opened = open_table(source, sheet)
    if opened.table.height == 0:
        raise InputError(f"{name} contains no matches; at least one row below the header is needed.")
    for name_of_flag, value in (
        ("played", played), ("drop_repeats", drop_repeats), ("ordered", ordered), ("accept_losses", accept_losses)
    ):  # fmt: skip
        flag(name_of_flag, value)
    wanted = MatchOptions(
        columns, played, results, conditions, read_aliases(aliases), drop_repeats, ordered, dates, accept_losses,
        read_meanings(endings, "match"),
    )  # fmt: skip
    rows = interpret(opened, wanted, name)
    matches = _accept_matches(rows, name)
    if lineups is not None:
        return attach_lineups(matches, rows, load_table(lineups), columns)
    if "home_lineup" in rows.found and "away_lineup" in rows.found:
        return attach_listed_lineups(matches, rows)
    return matches


def _accept_matches(rows: Rows, name: str) -> Matches:
    bad = np.flatnonzero(rows.fault > 0)
    reasons = np.array(REASONS, object)[rows.fault[bad]]
    rejected = Rejects.of("matches", bad + 1, reasons, _contents(rows, bad, reasons))
    good = np.flatnonzero(rows.fault == 0)
    if good.size == 0:
        raise NoMatches(
            f"No match of {name} can be used, all {bad.size} rows were rejected ({rejected.in_words()}).", rejected
        )
    check_losses(rows, rejected, bad, name)
    rows.ask_about_years(~np.isnan(rows.result), np.arange(1, rows.fault.size + 1))
    index = rows.order
    return Matches(
        _owned(rows.date, index),
        _owned(rows.home, index),
        _owned(rows.away, index),
        rows.teams,
        _owned(rows.result, index),
        _owned(rows.margin, index),
        _owned(rows.neutral, index),
        _owned(rows.weight, index),
        np.arange(1, rows.fault.size + 1)[index],
        None if rows.identifiers is None else rows.identifiers[index],
        rejected=rejected,
        notes=tuple(rows.notes),
        conditions={name: condition[index] for name, condition in rows.conditions.items()},
        unordered=rows.unordered,
        season=_season(rows, index),
        side_headers=("home", "away") if rows.winners_first else (rows.found["home"], rows.found["away"]),
    )


def _season(rows: Rows, index: slice | NDArray) -> Condition | None:
    """The season of each match, where a column tells it."""
    if "season" not in rows.found:
        return None
    (codes,), levels = encode_names(rows.table[rows.found["season"]])
    return Condition(codes[index], levels)


def _contents(rows: Rows, bad: NDArray[np.int64], reasons: NDArray[np.object_]) -> NDArray[np.object_]:
    """What stands in the columns that made rows unusable."""
    contents = np.full(bad.size, "", object)
    for reason in dict.fromkeys(reasons.tolist()):
        places = np.flatnonzero(reasons == reason)
        first, _, last = reason.partition(" ")
        for name in SHOWN_COLUMNS.get(last if first in ("unreadable", "impossible") else reason, ()):
            if name in rows.found:
                cells = as_text(rows.table[rows.found[name]][bad[places]]).fill_null("").str.strip_chars()
                contents[places] = [
                    f"{one} {two}".strip()[:LONGEST_CONTENT] for one, two in zip(contents[places], cells.to_list())
                ]
    return contents


def _owned(column: NDArray[Value], index: slice | NDArray) -> NDArray[Value]:
    """Chosen rows as a writable array: compiled loops are made for those, and polars lends its own read-only."""
    chosen = column[index]
    return chosen if chosen.flags.writeable else chosen.copy()


def _name_of(source: Any) -> str:
    return str(source) if isinstance(source, str | Path) else "the table"


BEHIND_ALL = 1e300
"""The value of who comes behind all who have one, and before those who did not finish."""

CONTEST_COLUMNS_SHOWN = {
    "unreadable date": "date",
    "unreadable place": "place",
    "place given by redress": "place",
    "a name that stands for none": "entrant",
    "impossible weight": "weight",
}


def read_contests(
    source: Any,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    *,
    slots: Sequence[str] | Mapping[str, str | Sequence[str]] = (),
    advantages: Sequence[str] | Mapping[str, str | Sequence[str]] = (),
    team: str | None = None,
    best: Best | None = None,
    unfinished: Kept = "behind",
    disqualified: Kept = "out",
    not_started: Kept = "out",
    played: bool = True,
    aliases: Mapping[str, str] | str | Path | None = None,
    dates: DateOrder | None = None,
    endings: Mapping[str, str] | None = None,
    sheet: str | int | None = None,
    accept_losses: bool = False,
) -> Contests:
    """Read contests of many entrants from a long table: one row for each entrant in each contest.

    A wide sheet, with a row for each entrant and a column for each race, is recognised and read as well.

    Parameters
    ----------
    source
        Path of a CSV, Parquet or JSON-lines file, a pandas, polars or pyarrow table, a dictionary of columns or a list
        of dictionaries.
    columns
        Which column means what, where the names are not common ones, for example ``{"entrant": "pilot"}``. Keys: date,
        contest, season, entrant, place, score, time, status, distance, title, weight, group (a column whose value is
        added to names, so that two people of one name are two). A contest may be named by several columns:
        ``{"contest": ["event", "division"]}``.
    slots
        Columns to rate, such as ``["driver", "constructor"]``; by default the entrant alone. A mapping gives kinds
        their names, and several columns to one kind: ``{"player": ["player_1", "player_2"]}``.
    advantages
        Columns that help or hinder whoever has them, such as ``["lane"]``: what each value is worth is learnt. An
        empty cell is none.
    team
        Column of teams where the rows are players: rows of one team in one contest are one entrant.
    best
        ``"lowest"`` or ``"highest"``, which of the values is best. Places and times are best where they are lowest,
        points where they are highest; a column of scores must be asked about.
    unfinished, disqualified, not_started
        ``"behind"`` to rank who did not finish (was disqualified, did not start) as tied behind all who finished. That
        is partly luck: :class:`kinelo.RankElo` finds how much it tells. ``"last"`` counts it like finishing last,
        ``"out"`` leaves it out. A word such as DNF, DSQ or DNS tells, or a status beside an empty place. A column
        such as ``laps`` or ``distance`` says how far each came.
    played
        False keeps contests in which nobody has a place yet (to forecast them).
    aliases
        Names to be replaced, as ``{"J. Clark": "Jim Clark"}`` or a file of two columns.
    dates
        Order of dates that are written in numbers alone, such as 01/02/03: ``"dmy"``, ``"mdy"`` or ``"ymd"``. Left
        open, the column decides where it can, and ``notes`` say where it cannot. Each cell is read by its own style.
    endings
        What words mean, as ``{"XYZ": "unfinished"}``, or ``"last"`` (behind all who finished, as after a cut),
        ``"disqualified"``, ``"not started"`` or ``"finished"``.
    sheet
        Which sheet of a workbook to read, by its name or number (from 1). Left open, all sheets that have the columns
        of the first are read together.
    accept_losses
        True goes on although more than half of the rows cannot be used. Where more than 5 % cannot, the first note
        says so.

    Returns
    -------
    Contests
        In order of date; ``rejected`` lists the rows that could not be used and why, ``notes`` how the file was read.

    >>> table = {"race": [1, 1, 1, 2, 2, 2], "driver": ["Ann", "Bob", "Cid", "Cid", "Bob", "Ann"],
    ...          "place": ["2", "1", "DNF", "1", "1", "3"]}
    >>> races = read_contests(table)
    >>> races.to_polars()["entrant"].to_list(), races.place.tolist()
    (['Bob', 'Ann', 'Cid', 'Bob', 'Cid', 'Ann'], [1.0, 2.0, 3.0, 1.5, 1.5, 3.0])
    """
    check_contest_mapping(columns)
    check_date_order(dates)
    for option, value in (("unfinished", unfinished), ("disqualified", disqualified), ("not_started", not_started)):
        if not isinstance(value, str) or value not in KEPT:
            raise InputError(f"{option} must be 'behind', 'last' or 'out', not {value!r:.60}.")
    played, accept_losses = flag("played", played), flag("accept_losses", accept_losses)
    if team is not None and not isinstance(team, str):
        raise InputError(f"team must be the name of a column, not {team!r:.60}.")
    name = str(source) if isinstance(source, str | Path) else "the table"
    opened = open_table(source, sheet)
    if opened.table.height == 0:
        raise InputError(f"{name} contains no contests; at least two rows below the header are needed.")
    wanted = ContestOptions(
        columns, _kinds(slots), team, best, unfinished, disqualified, not_started, played, read_aliases(aliases),
        _kinds(advantages, "advantages"), dates, read_meanings(endings, "entrant"), accept_losses,
    )  # fmt: skip
    return accept_contests(interpret_contests(opened, wanted, name), name)


def _kinds(slots: object, said: str = "slots") -> dict[str, tuple[str, ...]]:
    """Kinds of slots and the columns of each, as the user names them."""
    if isinstance(slots, Mapping):
        named = {kind: (cols,) if isinstance(cols, str) else cols for kind, cols in slots.items()}
    elif isinstance(slots, list | tuple) and all(isinstance(column, str) for column in slots):
        named = {column: (column,) for column in slots}
    else:
        raise InputError(f"{said} must be a list of columns or map kinds to columns, not {slots!r:.60}.")
    for kind, cols in named.items():
        right = isinstance(cols, Sequence) and len(cols) > 0 and all(isinstance(one, str) for one in cols)
        if not isinstance(kind, str) or not right:
            raise InputError(f"{said} names {kind!r:.60} with {cols!r:.60}; a kind has one or several columns.")
    return {str(kind): tuple(cols) for kind, cols in named.items()}


def accept_contests(rows: ContestRows, name: str) -> Contests:
    """Contests of the rows that can be used, in order."""
    order = _in_order(rows)
    note_unused(rows)
    if rows.options.team is not None:
        order, codes = _join_teams(rows, order)
    else:
        order = _without_repeats(rows, order)
        codes = {kind: slots[0][order] for kind, slots in rows.slots.items()}
    kept = _without_lone(rows, order)
    order, codes = order[kept], {kind: code[kept] for kind, code in codes.items()}
    rejected, at = _rejects(rows)
    if order.size == 0:
        raise NoMatches(
            f"No contest of {name} can be used, all {len(rejected):,} rows were rejected ({rejected.in_words()}).",
            rejected,
        )
    check_losses(rows, rejected, at, name)
    rows.ask_about_years((rows.ended > FINISHED) | ~np.isnan(rows.value), rows.row + 1)
    begins = np.flatnonzero(np.concatenate([[True], rows.contest[order][1:] != rows.contest[order][:-1]]))
    first = np.append(begins, order.size).astype(np.int64)
    contest = np.repeat(np.arange(begins.size), np.diff(first))
    weight = np.zeros(begins.size)
    np.maximum.at(weight, contest, rows.weight[order])
    date = np.full(begins.size, np.datetime64("0001-01-01"))
    np.maximum.at(date, contest, rows.date[order])
    distance = None if rows.distance is None else rows.distance[order]
    number = rows.contest[order[begins]].tolist()
    return Contests(
        date, first, rows.entrant[order], rows.entrants, places_of(_strength_order(rows, order), contest),
        _endings(rows)[order],
        {kind: Slots(code, rows.slots[kind][1], kind in rows.options.advantages) for kind, code in codes.items()},
        weight, rows.row[order] + 1, tuple(rows.identifiers[c] for c in number), rejected,
        tuple(rows.notes), distance=None if distance is None or np.isnan(distance).all() else distance,
        titles=None if rows.titles is None else tuple(rows.titles[c] for c in number),
    )  # fmt: skip


def _endings(rows: ContestRows) -> NDArray[np.int8]:
    """How each row ended; who counts as last has finished."""
    options = rows.options
    kept = {UNFINISHED: options.unfinished, DISQUALIFIED: options.disqualified, NOT_STARTED: options.not_started}
    last = [LAST, *(ending for ending, how in kept.items() if how == "last")]
    return np.where(np.isin(rows.ended, last), FINISHED, rows.ended).astype(np.int8)


def _strength_order(rows: ContestRows, index: NDArray[np.int64]) -> NDArray[np.float64]:
    """Values of which less is better, infinite for who did not finish; NaN where nothing has been played yet."""
    ended = rows.ended[index]
    return np.select([ended == LAST, ended > FINISHED], [BEHIND_ALL, np.inf], rows.value[index])


def places_of(value: NDArray[np.float64], contest: NDArray[np.int64]) -> NDArray[np.float64]:
    """Places of entries that stand in order of contest and value; those who tie share the mean.

    >>> places_of(np.array([1.0, 2.0, 2.0, np.inf, 5.0, 7.0]), np.array([0, 0, 0, 0, 1, 1])).tolist()
    [1.0, 2.5, 2.5, 4.0, 1.0, 2.0]
    """
    n = value.size
    new = np.concatenate([[True], contest[1:] != contest[:-1]])
    begin = np.maximum.accumulate(np.where(new, np.arange(n), 0))
    group = np.cumsum(new | np.concatenate([[True], value[1:] != value[:-1]])) - 1
    size = np.bincount(group)
    ahead = (np.cumsum(size) - size)[group] - begin
    return np.where(np.isnan(value), np.nan, ahead + (size[group] + 1) / 2.0)


def _in_order(rows: ContestRows) -> NDArray[np.int64]:
    """Usable rows in order of their contest's day, of the contest, of value, and of the file."""
    good = np.flatnonzero(rows.good)
    if not good.size:
        return good
    contest = rows.contest[good]
    last = np.full(len(rows.identifiers), np.datetime64("0001-01-01"))
    np.maximum.at(last, contest, rows.date[good])
    if "date" in rows.found and np.any(rows.date[good][1:] < rows.date[good][:-1]):
        rows.notes.append("the file was not in date order: it was sorted by date")
    names = [_ranks(rows.entrants)[rows.entrant[good]]]
    names += [_ranks(slots)[codes[good]].T for codes, slots in rows.slots.values()]
    keys = (*np.vstack(names)[::-1], _strength_order(rows, good))
    keys += (*(rank[contest] for rank in reversed(within_day(rows, good))), last[contest])
    return good[np.lexsort(keys)]


def _ranks(names: tuple[str, ...]) -> NDArray[np.int64]:
    """Where each name stands in the alphabet, so that an order does not depend on the rows; the last is none."""
    ranks = np.empty(len(names) + 1, np.int64)
    ranks[np.argsort(np.array(names, object), kind="stable")] = np.arange(len(names))
    ranks[-1] = len(names)
    return ranks


def _without_repeats(rows: ContestRows, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of an entrant who stands in one contest more than once, the best row."""
    key = rows.contest[order] * (len(rows.entrants) + 1) + rows.entrant[order]
    _, at = np.unique(key, return_index=True)
    again = np.ones(order.size, bool)
    again[at] = False
    if again.any():
        wrong = np.zeros(rows.fault.size, bool)
        wrong[order[again]] = True
        number = rows.reject(wrong, "entrant twice in one contest")
        apart = (
            "two entries of one name may be a shared drive"
            if {"date", "season"} & rows.found.keys()
            else "where names of contests return, a column of dates or seasons tells them apart"
        )
        named = "row names" if number == 1 else "rows name"
        rows.notes.append(
            f"{number:,} {named} an entrant who stands in the same contest already: the best place counts; {apart}"
        )
    return order[~again]


def _join_teams(rows: ContestRows, order: NDArray[np.int64]) -> tuple[NDArray[np.int64], dict[str, NDArray[np.int32]]]:
    """Rows of one team in one contest as one entrant, whose slots are those of all its rows."""
    value = _strength_order(rows, order)
    key = rows.contest[order] * (len(rows.entrants) + 1) + rows.entrant[order]
    _, at, inverse = np.unique(key, return_index=True, return_inverse=True)
    differs = ~((value == value[at][inverse]) | np.isnan(value))
    if differs.any():
        wrong = np.zeros(rows.fault.size, bool)
        wrong[order[differs]] = True
        rows.notes.append(f"{rows.reject(wrong, 'team-mates with different places'):,} rows differ from their team")
        return _join_teams(rows, order[~differs])
    rank = np.argsort(np.argsort(at, kind="stable"), kind="stable")
    team = rank[inverse]
    by_team = np.argsort(team, kind="stable")
    begins = np.concatenate([[0], np.cumsum(np.bincount(team))[:-1]])
    member = np.empty(order.size, np.int64)
    member[by_team] = np.arange(order.size) - np.repeat(begins, np.bincount(team))
    codes = {}
    for kind, (one, _) in rows.slots.items():
        width = one.shape[1]
        joined = np.full((at.size, (int(member.max(initial=0)) + 1) * width), -1, np.int32)
        for j in range(width):
            joined[team, member * width + j] = one[order, j]
        codes[kind] = joined
    return order[np.sort(at)], codes


def _without_lone(rows: ContestRows, order: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which entries have somebody to be ranked against."""
    count = np.bincount(rows.contest[order], minlength=len(rows.identifiers) + 1)
    lone = count[rows.contest[order]] < 2
    if lone.any():
        wrong = np.zeros(rows.fault.size, bool)
        wrong[order[lone]] = True
        number = rows.reject(wrong, "only one entrant in the contest")
        rows.notes.append("1 contest has" if number == 1 else f"{number:,} contests have")
        rows.notes[-1] += " one entrant only, which tells nothing"
    return ~lone


def _rejects(rows: ContestRows) -> tuple[Rejects, NDArray[np.int64]]:
    """Rows that could not be used, and where in the table they stand."""
    bad = np.flatnonzero(rows.fault > 0)
    reasons = np.array(CONTEST_REASONS, object)[rows.fault[bad]]
    content = np.full(bad.size, "", object)
    for reason, key in CONTEST_COLUMNS_SHOWN.items():
        keys = ("place", "score", "time") if key == "place" else (key,)
        column = next((rows.found[k] for k in keys if k in rows.found), None)
        here = np.flatnonzero(reasons == reason)
        if column is not None and here.size:
            cells = as_text(rows.table[column][bad[here]]).fill_null("").str.strip_chars().to_list()
            content[here] = [cell[:LONGEST_CONTENT] for cell in cells]
    return Rejects.of("contests", rows.row[bad] + 1, reasons, content), bad
