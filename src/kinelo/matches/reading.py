"""Reading matches and contests: whatever their columns are called and however dirty the table is.

A table is opened, its columns are given their meaning, its rows say what they say, and those that can be used become
Matches or Contests: by date, and within a day in the order in which they took place. A row that cannot be used is set
aside with its number and the reason.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import CONTEST_COLUMNS, MATCH_MAPPING, check_mapping, listed
from kinelo.matches.contest_rows import note_unused, read_contest_rows
from kinelo.matches.contests import DISQUALIFIED, FINISHED, NOT_STARTED, UNFINISHED, Contests, Slots
from kinelo.matches.dated import Condition
from kinelo.matches.dates import DateOrder, check_date_order
from kinelo.matches.kinds import CONTESTS, MATCHES, Kind
from kinelo.matches.loading import Opened, head_of, load_table, open_table
from kinelo.matches.match_rows import MatchRows, attach_lineups, attach_listed_lineups, read_match_rows
from kinelo.matches.matches import Matches
from kinelo.matches.names import encode_names
from kinelo.matches.reading_file import SUFFIX, joined_answers, kept_reading, reading_file, stale_columns
from kinelo.matches.rows import Best, Codes, ContestOptions, ContestRows, Kept, MatchOptions, Scale
from kinelo.matches.same_side import read_aliases
from kinelo.matches.words import LAST, read_meanings
from kinelo.model.validation import flag, is_list, one_line
from kinelo.presentation import counted

BEHIND_ALL = 1e300
"""The value of who comes behind all who have one, and before those who did not finish."""

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
        Path of a CSV (also compressed, ``.csv.gz``), Parquet or JSON-lines file (read as ``FILE.kinelo.toml`` beside
        it says, where ``kinelo read`` wrote one; what is given here counts before it), a pandas, polars or pyarrow
        table, a dictionary of columns or a list of dictionaries. Two rows per match, one for each team, are joined by
        match id.
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
    answers, note = answers_for(source, MATCHES, {
        "columns": columns, "results": results, "aliases": aliases, "drop_repeats": drop_repeats, "ordered": ordered,
        "dates": dates, "endings": endings, "sheet": sheet, "accept_losses": accept_losses,
    })  # fmt: skip
    return _matches(source, answers, note, lineups, played=played, conditions=conditions)[0]


def _matches(
    source: Any, answers: dict[str, Any], note: str | None = None, lineups: Any = None, **asked: Any
) -> tuple[Matches, MatchRows]:
    """Matches as the answers of a reading say, and their rows."""
    name, opened = _open(source, answers, note, "no matches; at least one row below the header is needed")
    columns = answers.pop("columns")
    options = match_options(columns, **asked, **answers)
    rows = read_match_rows(opened, options, name)
    rejected = rows.settle(name, int((rows.fault == 0).sum()), ~np.isnan(rows.result))
    index, season = rows.order, None
    if "season" in rows.found:
        (codes,), levels = encode_names(rows.table[rows.found["season"]])
        season = Condition(codes[index], levels)
    matches = Matches(
        _owned(rows.date, index),
        _owned(rows.home, index),
        _owned(rows.away, index),
        rows.teams,
        _owned(rows.result, index),
        _owned(rows.margin, index),
        _owned(rows.neutral, index),
        _owned(rows.weight, index),
        rows.row[index] + 1,
        None if rows.identifiers is None else rows.identifiers[index],
        rejected=rejected,
        notes=tuple(rows.notes),
        conditions={column: condition[index] for column, condition in rows.conditions.items()},
        unordered=rows.unordered,
        season=season,
        side_headers=("home", "away") if rows.winners_first else (rows.found["home"], rows.found["away"]),
        total=None if rows.total is None else _owned(rows.total, index),
    )
    if lineups is not None:
        return attach_lineups(matches, rows, load_table(lineups), columns), rows
    if "home_lineup" in rows.found and "away_lineup" in rows.found:
        return attach_listed_lineups(matches, rows), rows
    return matches, rows


def columns_found(path: Path, kind: Kind, answers: Mapping[str, Any]) -> tuple[Matches | Contests, dict[str, str]]:
    """A file as these answers read it, whatever is kept beside it, and its columns by what they mean.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "r.csv")
    >>> _ = path.write_text("day,home,away,score\\n2024-01-01,A,B,1-0\\n")
    >>> columns_found(path, MATCHES, {})[1]
    {'date': 'day', 'home': 'home', 'away': 'away', 'result': 'score'}
    """
    table, rows = (_matches if kind.two_sided else _contests)(path, {"columns": None, "sheet": None, **answers})
    known, header = MATCH_MAPPING if kind.two_sided else CONTEST_COLUMNS, head_of(path).columns
    named = {"result" if key == "score_line" else key: column for key, column in rows.found.items()}
    return table, {key: column for key, column in named.items() if key in known and column in header}


def answers_for(source: object, kind: Kind, asked: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """What a reader was asked, with what is kept beside the file where it was asked nothing, and a note of that.

    Mappings are joined; what was asked counts where both say something.
    """
    if not isinstance(source, str | Path) or not os.path.isfile(f"{source}{SUFFIX}"):  # which never fails
        return dict(asked), None
    place, (kept_kind, stored) = reading_file(source), kept_reading(source)
    if kept_kind is not None and kept_kind is not kind:
        raise InputError(
            f"{place} says that {source} holds {kept_kind.noun}: read it with kinelo.read_{kept_kind.noun}, or delete "
            "that reading."
        )
    return joined_answers(asked, stored), f"the file was read as {place.name} says"


def _open(source: Any, answers: dict[str, Any], note: str | None, lacking: str) -> tuple[str, Opened]:
    """A table (of the sheet that is taken from ``answers``) and what to call it, with a ``note`` of how it is read; one
    without rows is refused.
    """
    name, opened = "the table", open_table(source, answers.pop("sheet"))
    if note is not None:
        _check_columns(source, opened.table.columns, answers)
        opened = replace(opened, notes=(note, *opened.notes))
    if isinstance(source, str | Path):
        name = str(source)
    if opened.table.height == 0:
        raise InputError(f"{name} contains {lacking}.")
    return name, opened


def _check_columns(source: str | Path, columns: Iterable[str], answers: Mapping[str, Any]) -> None:
    """Refuse a kept reading that names columns which the file no longer has, where the ``answers`` are still its."""
    _, kept = kept_reading(source)
    columns, mapping = list(columns), answers.get("columns") or {}
    still = {key: value for key, value in kept.items() if answers.get(key) == value}
    still["columns"] = {key: column for key, column in kept.get("columns", {}).items() if mapping.get(key) == column}
    for key, column in stale_columns(still, columns).items():
        raise InputError(
            f"{reading_file(source)} says that {key!r} is the column {column!r:.60}, which {source} no longer has; its "
            f"columns are {listed(columns)}. Read it anew with kinelo read, or delete that reading."
        )


def match_options(columns: Mapping[str, str] | None, **asked: Any) -> MatchOptions:
    """What the user of :func:`read_matches` asked for, checked; what is not said is as there."""
    options = MatchOptions({} if columns is None else columns, **asked)
    if options.dates is not None:
        check_date_order(options.dates)
    if options.results is not None and not (isinstance(options.results, str) and options.results in get_args(Scale)):
        raise InputError(
            f"results={one_line(options.results)} is not a scale; it is 'points' (0, ½, 1) or 'signed' (-1, 0, 1)."
        )
    flags = {key: flag(key, getattr(options, key)) for key in ("played", "drop_repeats", "ordered", "accept_losses")}
    conditions = [options.conditions] if isinstance(options.conditions, str) else options.conditions
    if not is_list(conditions):
        raise InputError(f"conditions must be a list of names of columns, not {one_line(conditions)}.")
    check_mapping(columns, MATCH_MAPPING)
    return replace(options, conditions=conditions, **_words(options, "match"), **flags)


def contest_options(columns: Mapping[str, str | Sequence[str]] | None, **asked: Any) -> ContestOptions:
    """What the user of :func:`read_contests` asked for, checked; what is not said is as there."""
    options = ContestOptions({} if columns is None else columns, **asked)
    if options.dates is not None:
        check_date_order(options.dates)
    for key in ("unfinished", "disqualified", "not_started"):
        kept = getattr(options, key)
        if not isinstance(kept, str) or kept not in get_args(Kept):
            raise InputError(f"{key} must be 'behind', 'last' or 'out', not {kept!r:.60}.")
    if options.team is not None and not isinstance(options.team, str):
        raise InputError(f"team must be the name of a column, not {options.team!r:.60}.")
    slots, advantages = _slot_columns(options.slots, "slots"), _slot_columns(options.advantages, "advantages")
    flags = {key: flag(key, getattr(options, key)) for key in ("played", "accept_losses")}
    check_mapping(columns, CONTEST_COLUMNS, several=("contest",))
    return replace(options, slots=slots, advantages=advantages, **_words(options, "entrant"), **flags)


def _words(options: MatchOptions | ContestOptions, of: str) -> dict[str, dict[str, Any]]:
    """Aliases of names, and what words mean that end a match or a contest, as the user gave them."""
    return {
        "aliases": {} if options.aliases is None else read_aliases(options.aliases),
        "endings": {} if options.endings is None else read_meanings(options.endings, of),
    }


def _owned(column: NDArray[Value], index: slice | NDArray) -> NDArray[Value]:
    """Chosen rows as a writable array: compiled loops are made for those, and polars lends its own read-only."""
    chosen = column[index]
    return chosen if chosen.flags.writeable else chosen.copy()


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
    answers, note = answers_for(source, CONTESTS, {
        "columns": columns, "slots": slots, "advantages": advantages, "team": team, "best": best,
        "unfinished": unfinished, "disqualified": disqualified, "not_started": not_started, "aliases": aliases,
        "dates": dates, "endings": endings, "sheet": sheet, "accept_losses": accept_losses,
    })  # fmt: skip
    return _contests(source, answers, note, played=played)[0]


def _contests(
    source: Any, answers: dict[str, Any], note: str | None = None, **asked: Any
) -> tuple[Contests, ContestRows]:
    """Contests as the answers of a reading say, and their rows."""
    name, opened = _open(source, answers, note, "no contests; at least two rows below the header are needed")
    options = contest_options(answers.pop("columns"), **asked, **answers)
    rows = read_contest_rows(opened, options, name)
    order, value = _in_order(rows)
    note_unused(rows)
    order, codes = _one_entry_each(rows, order, value)
    rejected = rows.settle(name, order.size, (rows.ended > FINISHED) | ~np.isnan(rows.value))
    begins = np.flatnonzero(np.concatenate([[True], rows.contest[order][1:] != rows.contest[order][:-1]]))
    first = np.append(begins, order.size).astype(np.int64)
    contest = np.repeat(np.arange(begins.size), np.diff(first))
    weight, date = np.zeros(begins.size), np.full(begins.size, np.datetime64("0001-01-01"))
    np.maximum.at(weight, contest, rows.weight[order])
    np.maximum.at(date, contest, rows.date[order])
    # Who counts as last has finished.
    kept = {UNFINISHED: options.unfinished, DISQUALIFIED: options.disqualified, NOT_STARTED: options.not_started}
    last = [LAST, *(ending for ending, how in kept.items() if how == "last")]
    ended = np.where(np.isin(rows.ended, last), FINISHED, rows.ended).astype(np.int8)
    distance = None if rows.distance is None else rows.distance[order]
    number = rows.contest[order[begins]].tolist()
    contests = Contests(
        date, first, rows.entrant[order], rows.entrants, places_of(value[order], contest), ended[order],
        {slot: Slots(code, rows.slots[slot][1], slot in options.advantages) for slot, code in codes.items()},
        weight, rows.row[order] + 1, tuple(rows.identifiers[c] for c in number), rejected,
        tuple(rows.notes), distance=None if distance is None or np.isnan(distance).all() else distance,
        titles=None if rows.titles is None else tuple(rows.titles[c] for c in number),
    )  # fmt: skip
    return contests, rows


def _slot_columns(slots: object, argument: str) -> dict[str, tuple[str, ...]]:
    """Kinds of slots and the columns of each, as the user names them."""
    if isinstance(slots, Mapping):
        named = {slot: (columns,) if isinstance(columns, str) else columns for slot, columns in slots.items()}
    elif isinstance(slots, list | tuple) and all(isinstance(column, str) for column in slots):
        named = {column: (column,) for column in slots}
    else:
        raise InputError(f"{argument} must be a list of columns or map kinds to columns, not {slots!r:.60}.")
    for slot, columns in named.items():
        right = isinstance(columns, Sequence) and len(columns) > 0 and all(isinstance(c, str) for c in columns)
        if not isinstance(slot, str) or not right:
            raise InputError(f"{argument} names {slot!r:.60} with {columns!r:.60}; a kind has one or several columns.")
    return {str(slot): tuple(columns) for slot, columns in named.items()}


def _in_order(rows: ContestRows) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Usable rows in order of their contest's day, of the contest, of value, and of names; and the values of all rows.

    Less is better, infinite for who did not finish; NaN where nothing has been played yet.
    """
    value = np.select([rows.ended == LAST, rows.ended > FINISHED], [BEHIND_ALL, np.inf], rows.value)
    good = np.flatnonzero(rows.fault == 0)
    if not good.size:
        return good, value
    contest = rows.contest[good]
    last = np.full(len(rows.identifiers), np.datetime64("0001-01-01"))
    np.maximum.at(last, contest, rows.date[good])
    if "date" in rows.found and np.any(rows.date[good][1:] < rows.date[good][:-1]):
        rows.notes.append("the file was not in date order: it was sorted by date")
    ranks = []
    for codes, names in ((rows.entrant[:, None], rows.entrants), *rows.slots.values()):
        # Where each name stands in the alphabet, so that an order does not depend on the rows; the last is none.
        rank = np.full(len(names) + 1, len(names))
        rank[np.argsort(np.array(names, object), kind="stable")] = np.arange(len(names))
        ranks += [*rank[codes[good]].T]
    within_day = (rank[contest] for rank in reversed(_order_contests(rows, good)))
    return good[np.lexsort((*ranks[::-1], value[good], *within_day, last[contest]))], value


def _order_contests(rows: ContestRows, good: NDArray[np.int64]) -> list[NDArray]:
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
    for column, key in rows.order_keys(good).items():
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


def _one_entry_each(
    rows: ContestRows, order: NDArray[np.int64], value: NDArray[np.float64]
) -> tuple[NDArray[np.int64], dict[str, Codes]]:
    """One row for each entrant of a contest, and what is rated of it: the best row, or of a team all its rows."""
    key = rows.contest[order] * (len(rows.entrants) + 1) + rows.entrant[order]
    _, at, inverse = np.unique(key, return_index=True, return_inverse=True)
    if rows.options.team is not None:
        differs = ~((value[order] == value[order[at]][inverse]) | np.isnan(value[order]))
        if differs.any():
            number = _reject(rows, order[differs], "team-mates with different places")
            rows.notes.append(f"{counted(number, 'row differs from its', 'rows differ from their')} team")
            return _one_entry_each(rows, order[~differs], value)
        # The slots of all rows of each team stand side by side; teams in the order of their first rows.
        team = np.argsort(np.argsort(at, kind="stable"), kind="stable")[inverse]
        begins = np.concatenate([[0], np.cumsum(np.bincount(team))[:-1]])
        member = np.empty(order.size, np.int64)
        member[np.argsort(team, kind="stable")] = np.arange(order.size) - np.repeat(begins, np.bincount(team))
        codes = {}
        for slot, (matrix, _) in rows.slots.items():
            width = matrix.shape[1]
            codes[slot] = np.full((at.size, (int(member.max(initial=0)) + 1) * width), -1, np.int32)
            for j in range(width):
                codes[slot][team, member * width + j] = matrix[order, j]
        order = order[np.sort(at)]
    else:
        first = np.zeros(order.size, bool)
        first[at] = True
        if not first.all():
            number = _reject(rows, order[~first], "entrant twice in one contest")
            apart = (
                "two entries of one name may be a shared drive"
                if {"date", "season"} & rows.found.keys()
                else "where names of contests return, a column of dates or seasons tells them apart"
            )
            rows.notes.append(
                f"{counted(number, 'row names', 'rows name')} an entrant who stands in the same contest already: the "
                f"best place counts; {apart}"
            )
        order = order[first]
        codes = {slot: matrix[order] for slot, (matrix, _) in rows.slots.items()}
    lone = np.bincount(rows.contest[order], minlength=len(rows.identifiers) + 1)[rows.contest[order]] < 2
    if lone.any():
        number = _reject(rows, order[lone], "only one entrant in the contest")
        alone = counted(number, "contest has", "contests have")
        rows.notes.append(f"{alone} one entrant only, which tells nothing")
    return order[~lone], {slot: code[~lone] for slot, code in codes.items()}


def _reject(rows: ContestRows, at: NDArray[np.int64], reason: str) -> int:
    wrong = np.zeros(rows.fault.size, bool)
    wrong[at] = True
    return rows.reject(wrong, reason)


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
