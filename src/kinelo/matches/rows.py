"""What each row of a table of matches says, and what is wrong with it, if anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import LOSER_COLUMNS, MATCH_COLUMNS, find_columns
from kinelo.matches.conditions import Condition, read_conditions
from kinelo.matches.fields import read_dates, read_flags, read_numbers
from kinelo.matches.names import encode_names
from kinelo.matches.outcomes import AS_SIGNED, DOUBTFUL, OTHER_SCALE, Scale, read_results, read_scoreline
from kinelo.matches.repeats import repeated_meetings

REASONS = (
    "",
    "missing side",
    "a side against itself",
    "unreadable date",
    "missing result",
    "missing score",
    "impossible score",
    "impossible result",
    "impossible weight",
    "missing match id",
    "duplicate match id",
    "duplicate row",
)


@dataclass(frozen=True)
class Options:
    """What the user of :func:`kinelo.read_matches` asked for."""

    columns: Mapping[str, str] | None = None
    played: bool = True
    results: Scale | None = None
    conditions: Sequence[str] = ()


@dataclass
class Rows:
    """The columns of a table of matches, one value per row of the file, right or wrong."""

    table: pl.DataFrame
    found: dict[str, str]
    home: NDArray[np.int32]
    away: NDArray[np.int32]
    teams: tuple[str, ...]
    date: NDArray[np.datetime64]
    result: NDArray[np.float64]
    margin: NDArray[np.float64]
    neutral: NDArray[np.bool_]
    weight: NDArray[np.float64]
    fault: NDArray[np.int8]
    identifiers: pl.Series | None
    options: Options
    conditions: dict[str, Condition] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def named(self, name: str) -> bool:
        """Whether the user said which column holds this."""
        return name in (self.options.columns or {})

    def blame(self, wrong: NDArray[np.bool_], reason: str) -> None:
        """Mark rows as unusable; the first reason found for a row is the one that is told."""
        if wrong.any():
            self.fault[wrong & (self.fault == 0)] = REASONS.index(reason)


def interpret(table: pl.DataFrame, options: Options, name: str) -> Rows:
    """Read every column of a table of matches and mark the rows that cannot be used."""
    found = find_columns(table.columns, MATCH_COLUMNS, options.columns)
    if "home" not in found and "away" not in found:
        winners = find_columns(table.columns, LOSER_COLUMNS, None)
        if len(winners) == 2:
            found = {**found, **winners, "result": ""}
    for side in ("home", "away"):
        if side not in found:
            raise InputError(
                f"{name} has no column for the {side} side; name it with columns={{{side!r}: ...}} "
                f"(--column {side}=... on the command line), its columns are {', '.join(map(repr, table.columns))}"
            )
    (home, away), teams = encode_names(table[found["home"]], table[found["away"]])
    n = table.height
    unknown = np.full(n, np.nan)
    rows = Rows(
        table, found, home, away, teams, np.zeros(n, "datetime64[D]"), unknown, unknown, np.zeros(n, bool), np.ones(n),
        np.zeros(n, np.int8), None, options, read_conditions(table, options.conditions),
    )  # fmt: skip
    rows.blame((home < 0) | (away < 0), "missing side")
    rows.blame(home == away, "a side against itself")
    _read_dates(rows)
    _read_outcome(rows, name)
    _read_details(rows)
    _find_duplicates(rows)
    return rows


def _read_dates(rows: Rows) -> None:
    if "date" not in rows.found:
        rows.notes.append("there is no date column: matches count in the order of the file, all dated 1970-01-01")
        return
    rows.date, form = read_dates(rows.table[rows.found["date"]])
    if form is not None and form != "%Y-%m-%d":
        rows.notes.append(f"dates were read in the format {form}")
    rows.blame(np.isnat(rows.date), "unreadable date")


def _read_outcome(rows: Rows, name: str) -> None:
    table, found, played = rows.table, rows.found, rows.options.played
    if found.get("result") == "":
        rows.result = np.ones(table.height)
        rows.neutral = np.ones(table.height, bool)
        rows.notes.append("the winner of each match stands first: every venue counts as neutral")
        return
    scores = _scores(rows)
    if scores is None and "result" not in found and "margin" not in found:
        if played:
            raise InputError(
                f"{name} has neither scores nor results; name them with columns={{'home_score': ..., "
                f"'away_score': ...}} or columns={{'result': ...}}, "
                f"its columns are {', '.join(map(repr, table.columns))}"
            )
        return
    if scores is not None:
        rows.margin = scores[0] - scores[1]
    elif "margin" in found:
        rows.margin = read_numbers(table[found["margin"]])
    if scores is not None or "margin" in found:
        rows.result = _won_by(rows.margin)
    if "result" in found:
        _use_result_column(rows)
    _judge_outcome(rows, scores, played)


def _won_by(margin: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 * (1.0 + np.sign(margin))


def _scores(rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    table, found = rows.table, rows.found
    if "home_score" in found and "away_score" in found:
        return read_numbers(table[found["home_score"]]), read_numbers(table[found["away_score"]])
    if "result" in found:
        scores = read_scoreline(table[found["result"]])
        if scores is not None:
            drawn = (table[found["result"]].str.strip_chars() == "1/2-1/2").fill_null(False).to_numpy()
            del found["result"]
            return np.where(drawn, 0.5, scores[0]), np.where(drawn, 0.5, scores[1])
    return None


def _use_result_column(rows: Rows) -> None:
    table, found = rows.table, rows.found
    column = table[found["result"]]
    stated, remark = read_results(column, table[found["home"]], table[found["away"]], rows.options.results)
    if {"home_score", "margin"} & found.keys():
        _reconcile(rows, stated, remark)
        return
    outside = np.mean((stated < 0) | (stated > 1))
    if outside > OTHER_SCALE and np.fmin.reduce(stated) < 0 and not rows.named("result") and not rows.options.results:
        rows.margin = read_numbers(column)
        rows.result = _won_by(rows.margin)
        remark = f"the column {found['result']!r} was read as margins of the home side"
    elif outside > OTHER_SCALE:
        most = np.nanmax(np.abs(read_numbers(column)))
        raise InputError(
            f"the result column {found['result']!r} holds numbers as large as {most:g}; results are "
            "0, 0.5, 1 or -1, 0, 1, and a difference of scores is named with columns={'margin': ...}"
        )
    else:
        rows.result = stated
    rows.notes.append(remark)


def _reconcile(rows: Rows, stated: NDArray[np.float64], remark: str) -> None:
    """Hold a column of results against the scores: the result counts, and the margin is kept beside it."""
    signed = 0.5 * (1.0 + stated)
    if remark == DOUBTFUL and _contradicted(rows, stated).any() and not _contradicted(rows, signed).any():
        stated = signed
        rows.notes.append(f"the scores show that 0 in {rows.found['result']!r} is a draw: {AS_SIGNED}")
    known = np.isfinite(stated)
    contradicted = _contradicted(rows, stated)
    if contradicted.sum() > 0.5 * known.sum():
        if not rows.named("result"):
            rows.notes.append(f"the column {rows.found['result']!r} does not hold results: the scores were used")
            return
        raise InputError(
            f"the result column {rows.found['result']!r} contradicts the scores in {int(contradicted.sum())} of "
            f"{int(known.sum())} rows; name the right columns with "
            "columns={'result': ..., 'home_score': ..., 'away_score': ...}"
        )
    if contradicted.any():
        rows.notes.append(f"in {int(contradicted.sum())} matches the result is not what the scores say: both were kept")
    rows.result = np.where(known, stated, rows.result)


def _contradicted(rows: Rows, stated: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.isfinite(stated) & np.isfinite(rows.result) & (stated != rows.result)


def _judge_outcome(rows: Rows, scores: tuple[NDArray, NDArray] | None, played: bool) -> None:
    if scores is not None:
        wrong = np.zeros(rows.fault.size, bool)
        for score in scores:
            wrong |= (score < 0) | np.isinf(score)
        rows.blame(wrong, "impossible score")
    # One look at the extremes clears a column without faults: NaN fails both comparisons.
    if rows.result.min() >= 0 and rows.result.max() <= 1:
        return
    rows.blame((rows.result < 0) | (rows.result > 1), "impossible result")
    if played:
        rows.blame(np.isnan(rows.result), "missing result" if scores is None else "missing score")


def _read_details(rows: Rows) -> None:
    table, found = rows.table, rows.found
    if "neutral" in found:
        rows.neutral = read_flags(table[found["neutral"]]) == 1
    if "weight" in found:
        rows.weight = read_numbers(table[found["weight"]])
        rows.blame(~(np.isfinite(rows.weight) & (rows.weight >= 0)), "impossible weight")
    if "match_id" in found:
        text = table[found["match_id"]].cast(pl.String).str.strip_chars()
        rows.identifiers = text.set(text == "", None) if (text == "").any() else text


def _find_duplicates(rows: Rows) -> None:
    if rows.identifiers is not None:
        rows.blame(rows.identifiers.is_null().to_numpy(), "missing match id")
        rows.blame(~_first_among_good(rows, rows.identifiers), "duplicate match id")
    elif "date" in rows.found:
        # Two sides may meet twice on one day; only a row that repeats another in every column is a duplicate.
        suspects = repeated_meetings(rows.date.view(np.int64), rows.home, rows.away, len(rows.teams))
        if suspects.any():
            first = np.ones(rows.fault.size, bool)
            first[suspects] = _first_rows(rows.table.filter(suspects))
            rows.blame(~first, "duplicate row")


def _first_rows(table: pl.DataFrame) -> NDArray[np.bool_]:
    return table.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()


def _first_among_good(rows: Rows, identifiers: pl.Series) -> NDArray[np.bool_]:
    """Whether a row is the first usable one of its identifier; rows already at fault use none up."""
    good = rows.fault == 0
    first = np.ones(good.size, bool)
    if good.all():
        return identifiers.is_first_distinct().to_numpy()
    first[good] = identifiers.filter(pl.Series(good)).is_first_distinct().to_numpy()
    return first
