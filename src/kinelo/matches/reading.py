"""Reading matches: CSV, Parquet or a frame in memory, whatever its columns are called and however dirty it is.

A row that cannot be used is set aside with its number and the reason; the rest is sorted by date, stably.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import check_mapping
from kinelo.matches.conditions import Condition
from kinelo.matches.dates import DateOrder, check_date_order
from kinelo.matches.interpreting import interpret
from kinelo.matches.lineup_reading import attach_lineups, attach_listed_lineups
from kinelo.matches.loading import load_table, open_table
from kinelo.matches.losses import NoMatches, check_losses
from kinelo.matches.matches import Matches
from kinelo.matches.names import as_text, encode_names
from kinelo.matches.outcomes import Scale, check_scale
from kinelo.matches.rejects import LONGEST_CONTENT, Rejects
from kinelo.matches.rows import REASONS, MatchOptions, Rows
from kinelo.matches.same_side import read_aliases
from kinelo.matches.words import read_meanings
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
    matches = _accept(rows, name)
    if lineups is not None:
        return attach_lineups(matches, rows, load_table(lineups), columns)
    if "home_lineup" in rows.found and "away_lineup" in rows.found:
        return attach_listed_lineups(matches, rows)
    return matches


def _accept(rows: Rows, name: str) -> Matches:
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
