"""How each row's match ended: from scores, a score line, a margin, a column of results, or from naming the winner."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import listed
from kinelo.matches.fields import read_flags, read_numbers
from kinelo.matches.names import as_text, encode_names, without_stand_ins
from kinelo.matches.outcomes import AS_SIGNED, DOUBTFUL, OTHER_SCALE, read_results, read_scorelines
from kinelo.matches.rows import Rows
from kinelo.matches.winners import losers_first

FORFEITS = (
    r"walk ?-?over|\bw[/.]?o\b|forfeit|forfait|kampflos|\bff\b|\bawarded\b|\bawd\b|default|\bdef\.?$|disqualif"
    r"|\bdsq\b|^\(?(?:bye|freilos|spielfrei)\)?$"
)
UNFINISHED = (
    r"abandon|cancel|postpon|suspend|\bvoid|annul|no result|interrupt|\babn\b|\bppd\b|not played|\bret(?:\.|ired)?\)?$"
    r"|retirement|\baufg(?:egeben|abe)?\b\.?|\brit\.?\)?$|abgebrochen|abgesagt"
)
SOURCES = ("status", "result", "score_line", "home_score", "away_score")
LARGEST = 1e9
"""A score or a margin beyond this is no score."""


def read_outcome(rows: Rows, name: str) -> None:
    """Fill in results and margins, and mark rows whose match has none."""
    table, found, played = rows.table, rows.found, rows.options.played
    _set_aside_unplayed(rows)
    scores = _scores(rows)
    if scores is not None:
        rows.margin = scores[2]
    elif "margin" in found:
        rows.margin = read_numbers(table[found["margin"]])
        rows.blame(np.abs(rows.margin) > LARGEST, "impossible margin")
    if rows.winners_first:
        _turn_winners(rows)
        return
    if scores is None and "result" not in found and "margin" not in found:
        if played:
            raise InputError(
                f"{name} has neither scores nor results; name them with columns={{'home_score': ..., "
                f"'away_score': ...}} or columns={{'result': ...}}, "
                f"its columns are {listed(table.columns)}."
            )
        return
    if scores is not None or "margin" in found:
        rows.result = _won_by(rows.margin)
    if "result" in found:
        _use_result_column(rows)
    _judge_outcome(rows, scores, played)


def _set_aside_unplayed(rows: Rows) -> None:
    """Forfeits and abandoned matches tell nothing of strength: they are reported by what they are."""
    table, found = rows.table, rows.found
    for column in SOURCES:
        if column not in found or table[found[column]].dtype != pl.String:
            continue
        words = table[found[column]].unique().drop_nulls()
        for pattern, reason in ((FORFEITS, "forfeit or awarded match"), (UNFINISHED, "match not played to its end")):
            told = words.filter(words.str.to_lowercase().str.contains(pattern))
            if len(told):
                rows.blame(table[found[column]].is_in(told.implode()).fill_null(False).to_numpy(), reason)
    if "forfeit" in found:
        said = as_text(table[found["forfeit"]]).str.strip_chars().fill_null("").replace("0", "")
        flagged = ((said != "") & pl.Series(read_flags(table[found["forfeit"]]) != 0)).to_numpy()
        rows.blame(flagged, "forfeit or awarded match")


def _turn_winners(rows: Rows) -> None:
    """Order the sides by what is known before the match; the winner keeps its result, margin and line-up."""
    turned = losers_first(rows.home, rows.away, rows.teams, rows.date.view(np.int64))
    if (rows.margin < 0).any():
        rows.blame(rows.margin < 0, "impossible margin")
    rows.home, rows.away = np.where(turned, rows.away, rows.home), np.where(turned, rows.home, rows.away)
    rows.result = np.where(turned, 0.0, 1.0)
    rows.margin = np.where(turned, -rows.margin, rows.margin)
    rows.neutral = np.ones(turned.size, bool)
    rows.turned = turned
    rows.notes.append(
        "the table names winner and loser: sides were put in an order that does not depend on the result, "
        "and every venue counts as neutral"
    )


def _won_by(margin: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 * (1.0 + np.sign(margin))


def _scores(rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None:
    """Scores of both sides and the margin, where a table tells them."""
    table, found = rows.table, rows.found
    if "home_score" in found and "away_score" in found:
        home, away = read_numbers(table[found["home_score"]]), read_numbers(table[found["away_score"]])
        with np.errstate(invalid="ignore"):
            return home, away, home - away
    source = "score_line" if rows.winners_first else "result"
    if source not in found:
        return None
    lines = read_scorelines(table[found[source]])
    if lines is None:
        found.pop("score_line", None)
        return None
    found["score_line"] = found.pop(source)
    if lines.sets:
        rows.notes.append(
            f"{lines.sets:,} scores tell sets: margins are differences in sets, plus those in games as a share of all"
        )
    if lines.shootouts:
        rows.notes.append(f"{lines.shootouts:,} matches went to a shoot-out: they count as drawn")
    if lines.extra_time:
        rows.notes.append(f"{lines.extra_time:,} scores include extra time: they count as they stand")
    return lines.home, lines.away, lines.margin


def _use_result_column(rows: Rows) -> None:
    table, found = rows.table, rows.found
    column = table[found["result"]]
    sides = [table[found["home"]], table[found["away"]]]
    named = column
    if rows.options.aliases and column.dtype == pl.String:
        # A winner may be named by an alias, and its side by another.
        named, *sides = (as_text(one).str.strip_chars().replace(rows.options.aliases) for one in (column, *sides))
    stated, remark = read_results(named, sides[0], sides[1], rows.options.results)
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
            f"The result column {found['result']!r} holds numbers as large as {most:g}; results are "
            "0, 0.5, 1 or -1, 0, 1, and a difference of scores is named with columns={'margin': ...}."
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
            f"The result column {rows.found['result']!r} contradicts the scores in {int(contradicted.sum())} of "
            f"{int(known.sum())} rows; name the right columns with "
            "columns={'result': ..., 'home_score': ..., 'away_score': ...}."
        )
    if contradicted.any():
        rows.notes.append(f"in {int(contradicted.sum())} matches the result is not what the scores say: both were kept")
    rows.result = np.where(known, stated, rows.result)


def _contradicted(rows: Rows, stated: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.isfinite(stated) & np.isfinite(rows.result) & (stated != rows.result)


def _judge_outcome(rows: Rows, scores: tuple[NDArray, ...] | None, played: bool) -> None:
    if scores is not None:
        wrong = np.zeros(rows.fault.size, bool)
        for score in scores[:2]:
            wrong |= (score < 0) | (score > LARGEST)
        rows.blame(wrong, "impossible score")
    # One look at the extremes clears a column without faults: NaN fails both comparisons.
    if rows.result.min() >= 0 and rows.result.max() <= 1:
        return
    rows.blame((rows.result < 0) | (rows.result > 1), "impossible result")
    if played:
        word = "result" if scores is None else "score"
        unknown = np.isnan(rows.result)
        rows.blame(unknown & _says_something(rows), f"unreadable {word}")
        rows.blame(unknown, f"missing {word}")


def _says_something(rows: Rows) -> NDArray[np.bool_]:
    """Whether a column of the outcome holds what is neither blank nor a word for nothing, and no number."""
    said = np.zeros(rows.fault.size, bool)
    for name in ("result", "score_line", "home_score", "away_score", "margin"):
        if name in rows.found:
            column = rows.table[rows.found[name]]
            (code,), entries = encode_names(column)
            named = np.append(without_stand_ins(entries), False)[code]
            said |= named & np.isnan(read_numbers(column))
    return said
