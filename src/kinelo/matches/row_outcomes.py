"""How each row's match ended: from scores, a score line, a margin, a column of results, or from naming the winner."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import (
    FINISHED_COLUMNS,
    ORDER_COLUMNS,
    WAITING_COLUMNS,
    WHITE,
    find_columns,
    listed,
    names_winner,
    plain_name,
    single_games,
)
from kinelo.matches.contests import FINISHED
from kinelo.matches.fields import holds_numbers, note_points, read_flags, read_numbers, thousands_by_points
from kinelo.matches.names import as_text, encode_names, without_stand_ins
from kinelo.matches.outcomes import (
    AS_SIGNED,
    DOUBTFUL,
    OTHER_SCALE,
    ScoreLines,
    losers_first,
    read_results,
    read_scorelines,
)
from kinelo.matches.rows import Rows
from kinelo.matches.table_rows import listed_names
from kinelo.matches.words import (
    ALSO_OTHERWISE,
    BROKEN_OFF,
    ENDED_IN_TIME,
    ENDED_LATER,
    FORFEIT,
    KICK_OFF,
    TO_COME,
    UNKNOWN,
    WORDS,
    meaning_of,
    within,
)

AS_DATE = (
    r"^\d{4}-\d{1,2}-\d{1,2}(?:[t ].*)?$|^\d{1,2}[/.]\d{1,2}[/.](?:\d{2}|\d{4})$"
    r"|^\d{1,2}[-. ]\s?(?:jan|feb|mar|m[aä]r|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\.?(?:[- ]\d{2,4})?$"
    r"|^(?:jan|feb|mar|m[aä]r|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\.?[- ]\d{1,4}$"
)
"""What a spreadsheet makes of a score such as 3-1."""

LIKE_PLACES = 10
"""Matches that must end 1 to 2 or 2 to 1, all of them, before scores look like places."""

SOURCES = ("result", "score_line", "home_score", "away_score")
REASON_OF = {
    FORFEIT: "forfeit or awarded match",
    BROKEN_OFF: "match not played to its end",
    TO_COME: "match not played yet",
}
SAMPLE = 1000
"""Entries by which it is seen whether a column of another name holds words of a status."""

NEARLY_ALL = 0.9
"""Share of them that must be known words."""

SMALLEST_FRACTION = 1e-6
LARGEST_SCORE = 1e9
"""A score or a margin beyond this is no score."""


def read_outcome(rows: Rows, name: str) -> None:
    """Fill in results and margins, and mark rows whose match has none."""
    asked = _set_aside_unplayed(rows)
    _set_aside_dates(rows)
    _read_outcome(rows, name)
    if rows.to_come.any():
        rows.result, rows.margin = (np.where(rows.to_come, np.nan, known) for known in (rows.result, rows.margin))
    _ask_about_words(rows, asked)


def _read_outcome(rows: Rows, name: str) -> None:
    table, column_of, played = rows.table, rows.found, rows.options.played
    scores = _scores(rows)
    if scores is not None:
        rows.margin = scores[2]
    elif "margin" in column_of:
        rows.margin = rows.numbers("margin")
        rows.reject(np.abs(rows.margin) > LARGEST_SCORE, "impossible margin")
    if rows.winners_first:
        _turn_winners(rows)
        return
    if scores is None and "result" not in column_of and "margin" not in column_of:
        if played:
            raise InputError(
                f"{name} has neither scores nor results; name them with columns={{'home_score': ..., "
                f"'away_score': ...}} or columns={{'result': ...}}, "
                f"its columns are {listed(table.columns)}."
            )
        return
    if scores is not None or "margin" in column_of:
        rows.result = _won_by(rows.margin)
        _use_games(rows, scores)
    if "result" in column_of:
        _use_result_column(rows)
    _judge_outcome(rows, scores, played)


def _set_aside_unplayed(rows: Rows) -> NDArray[np.bool_]:
    """Set forfeits and matches that are not over aside by what they are; which rows say a word that is not known.

    Where matches need not be played, those to come stay, without a result.
    """
    table, column_of = rows.table, rows.found
    meaning, asked = _read_statuses(rows)
    for column in SOURCES:
        if column in column_of and table[column_of[column]].dtype == pl.String:
            cells = table[column_of[column]]
            words = pl.Series([], dtype=pl.String) if holds_numbers(cells) else cells.unique().drop_nulls()
            for what in REASON_OF:
                matching = words.filter(words.str.to_lowercase().str.contains(within(what)))
                said = cells.is_in(matching.implode()).fill_null(False).to_numpy()
                meaning = np.where(said, np.maximum(meaning, what), meaning)
    for column, what in (("forfeit", FORFEIT), ("retired", BROKEN_OFF)):
        if column in column_of:
            said = as_text(table[column_of[column]]).str.strip_chars().fill_null("").replace("0", "")
            named = np.append(without_stand_ins((words := encode_names(said))[1]), False)[words[0][0]]
            rows.reject(named & (read_flags(table[column_of[column]]) != 0), REASON_OF[what])
    for what, reason in REASON_OF.items():
        if what != TO_COME or rows.options.played:
            rows.reject(meaning == what, reason)
    rows.to_come = meaning == TO_COME
    return asked & (meaning == UNKNOWN)


def _read_statuses(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """What columns of statuses say of each match, the worst of it, and where one says what nobody knows.

    A column is one by its name, or because nearly all of its words are words of a status.
    """
    table, n = rows.table, rows.table.height
    meaning, asked = np.full(n, UNKNOWN), np.zeros(n, bool)
    order = find_columns(table.columns, ORDER_COLUMNS, rows.options.columns)
    taken = {*rows.found.values(), *rows.options.conditions, order.get("round"), order.get("order")} - {
        rows.found.get("status")
    }
    for column in [rows.found["status"]] if rows.named("status") else [c for c in table.columns if c not in taken]:
        name, cells = plain_name(column), table[column]
        flags = read_flags(cells) if name in (*FINISHED_COLUMNS, *WAITING_COLUMNS) else None
        if flags is not None and ((flags >= 0) | cells.is_null().to_numpy()).all():
            over = 1 if name in FINISHED_COLUMNS else 0
            says = np.select([flags == over, flags == 1 - over], [FINISHED, TO_COME], UNKNOWN)
            unclear = np.zeros(n, bool)
        elif column == rows.found.get("status") or "status" in name or _speaks_of_matches(rows, column):
            (codes,), entries = encode_names(cells)
            names = [plain_name(entry) for entry in entries]
            later = ENDED_LATER if ENDED_IN_TIME.intersection(names) else ()
            known = [FINISHED if n in later else meaning_of(e, "match") for n, e in zip(names, entries)]
            known = [rows.options.endings.get(e.casefold(), what) for e, what in zip(entries, known)]
            says = np.array([*known, UNKNOWN])[codes]
            unclear = np.append(without_stand_ins(entries), False)[codes] & (says == UNKNOWN)
        else:
            continue
        rows.found.setdefault("status", column)
        rows.status_columns = (*rows.status_columns, column)
        meaning, asked = np.maximum(meaning, says), asked | unclear
    return meaning, asked


def _speaks_of_matches(rows: Rows, column: str) -> bool:
    """Whether the words of a column are those of a status; a note says where only some are."""
    cells = rows.table[column]
    if cells.dtype != pl.String:
        return False
    first = cells.head(SAMPLE) if cells.head(SAMPLE).null_count() < min(SAMPLE, len(cells)) else cells.drop_nulls()
    words = Counter(word.strip() for word in first.head(SAMPLE).to_list() if word)
    sure = [word for word in words if (name := plain_name(word)) in WORDS["match"] and name not in ALSO_OTHERWISE]
    if not sure:
        return False
    meanings = {word: meaning_of(word, "match") for word in words}
    # A column of kick-offs, one of which is to be announced, says nothing of whether matches were played.
    times = () if any(meanings[word] == FINISHED for word in sure) else [w for w in words if re.search(KICK_OFF, w)]
    known = sum(words[word] for word in words if meanings[word] != UNKNOWN and word not in times)
    if known >= NEARLY_ALL * words.total():
        return True
    if missed := [word for word in sure if meanings[word] != FINISHED and len(word) > 3]:
        rows.notes.append(
            f"{column!r} says {missed[0]!r:.40} and was not used: columns={{'status': {column!r}}} sets such matches "
            "aside"
        )
    return False


def _ask_about_words(rows: Rows, asked: NDArray[np.bool_]) -> None:
    """Ask what words of a status mean that nobody knows, beside a result."""
    asked = asked & rows.good & np.isfinite(rows.result)
    if not asked.any():
        return
    for column in rows.status_columns:
        words = (
            as_text(rows.table[column].filter(pl.Series(asked))).str.strip_chars().drop_nulls().value_counts(sort=True)
        )
        unknown = [w for w in words.rows() if w[0] and meaning_of(w[0], "match") == UNKNOWN]
        if unknown:
            words = [word[:40] for word, _ in unknown]
            raise InputError(
                f"{column!r} says {listed_names(words, 3)} of {int(asked.sum()):,} matches with a result, and nothing "
                f"tells whether they were played. Say endings={{{words[0]!r}: 'finished'}}, or 'to come', 'broken "
                "off' or 'forfeit'; give the column another name if it says something else."
            )


def _set_aside_dates(rows: Rows) -> None:
    """Scores that a spreadsheet took for dates: 2021-03-01 was 3-1 or 1-3, and nothing tells which."""
    column = rows.found.get("score_line") or rows.found.get("result")
    if column is None:
        return
    cells = rows.table[column]
    if cells.dtype == pl.Date or isinstance(cells.dtype, pl.Datetime):
        became = cells.is_not_null().to_numpy()
    elif cells.dtype == pl.String and not holds_numbers(cells):
        words = cells.unique().drop_nulls()
        matching = words.filter(words.str.strip_chars().str.to_lowercase().str.contains(AS_DATE))
        if not len(matching):
            return
        became = cells.is_in(matching.implode()).fill_null(False).to_numpy()
    else:
        return
    if became.any():
        rows.notes.append(
            f"{int(became.sum()):,} entries of {column!r} are dates, as a spreadsheet makes of scores such as 3-1: "
            "those matches were set aside; write the scores into a column of text, or into one column for each side"
        )
        rows.reject(became, "a score that became a date")


def _turn_winners(rows: Rows) -> None:
    """Order the sides by what is known before the match; the winner keeps its result, margin and line-up."""
    turned = losers_first(rows.home, rows.away, rows.teams, rows.date.view(np.int64))
    if (rows.margin < 0).any():
        rows.reject(rows.margin < 0, "impossible margin")
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
    table, column_of = rows.table, rows.found
    if "home_place" in column_of and "away_place" in column_of:
        home, away = rows.numbers("home_place"), rows.numbers("away_place")
        column_of["home_score"], column_of["away_score"] = column_of["home_place"], column_of["away_place"]
        return home, away, away - home
    if "home_score" in column_of and "away_score" in column_of:
        home, away = _whole_scores(rows) or (rows.numbers("home_score"), rows.numbers("away_score"))
        _tell_places(rows, home, away)
        with np.errstate(invalid="ignore"):
            return home, away, home - away
    if "home_games" in column_of and "away_games" in column_of:
        column_of["home_score"], column_of["away_score"] = column_of["home_games"], column_of["away_games"]
        home, away = rows.numbers("home_games"), rows.numbers("away_games")
        return home, away, home - away
    source = "score_line" if rows.winners_first else "result"
    if source not in column_of:
        return None
    lines = read_scorelines(table[column_of[source]])
    if lines is None:
        column_of.pop("score_line", None)
        return None
    column = column_of["score_line"] = column_of.pop(source)
    _judge_lines(rows, column, lines)
    if not rows.winners_first and _away_first(rows):
        lines = replace(lines, home=lines.away, away=lines.home, margin=-lines.margin)
        rows.notes.append(
            f"the column {column_of['away']!r} stands before {column_of['home']!r}: the first number of {column!r} was "
            f"read as the score of {column_of['away']!r}; change the order of these columns if it is not"
        )
    if lines.sets:
        rows.notes.append(
            f"{lines.sets:,} scores tell sets: margins are differences in sets, plus those in games as a share of all"
        )
    if lines.shootouts:
        rows.notes.append(f"{lines.shootouts:,} matches went to a shoot-out: they count as drawn")
    if lines.decided:
        rows.notes.append(f"{lines.decided:,} scores include the shoot-out: they count as they stand")
    if lines.extra_time:
        rows.notes.append(f"{lines.extra_time:,} scores include extra time: they count as they stand")
    return lines.home, lines.away, lines.margin


def _away_first(rows: Rows) -> bool:
    """Whether the away side stands before the home side, and no rule names White first all the same."""
    places = [rows.table.columns.index(rows.found[side]) for side in ("home", "away")]
    return places[1] < places[0] and plain_name(rows.found["home"]) not in WHITE


def _judge_lines(rows: Rows, column: str, lines: ScoreLines) -> None:
    """Set matches aside whose score is a time of day, or has the mark of a forfeit where most have none."""
    if lines.clocks.any():
        shown = rows.table[column].filter(pl.Series(lines.clocks))[0].strip()
        rows.notes.append(
            f"{int(lines.clocks.sum()):,} entries of {column!r}, such as {shown!r}, are times of day: those matches "
            "have not been played"
        )
        rows.to_come |= lines.clocks
        if rows.options.played:
            rows.reject(lines.clocks, REASON_OF[TO_COME])
    for mark in ("f", "*"):
        marked = lines.marks == mark
        if not marked.any() or marked.sum() > 0.5 * np.isfinite(lines.home).sum():
            continue  # behind most scores F is final
        what = rows.options.endings.get(mark, FORFEIT)
        if what == FINISHED:
            continue
        shown = rows.table[column].filter(pl.Series(marked))[0].strip()
        number = rows.reject(marked, REASON_OF[what])
        rows.notes.append(
            f"{number:,} scores have a mark, such as {shown!r}, as forfeits do: those matches were set aside; "
            f"endings={{{mark!r}: 'finished'}} counts them"
        )


def _whole_scores(rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Scores with points between thousands, as the two columns together show; numbers that lost them are refused."""
    columns = [rows.table[rows.found[name]] for name in ("home_score", "away_score")]
    if thousands_by_points(columns, whole=True):
        for column in columns:
            note_points(column, rows.notes)
        plain = [column.str.strip_chars().str.replace_all(".", "", literal=True) for column in columns]
        home, away = (read_numbers(column) for column in plain)
        return home, away
    if all(column.dtype.is_float() for column in columns):
        scores = np.concatenate([column.fill_null(np.nan).to_numpy() for column in columns])
        known = scores[np.isfinite(scores)]
        broken = known[np.abs(known * 100.0 - np.round(known * 100.0)) > SMALLEST_FRACTION]
        whole = known[known == np.floor(known)]
        three_digits = np.abs(broken * 1000.0 - np.round(broken * 1000.0)) < SMALLEST_FRACTION
        if broken.size and three_digits.all() and whole.size and 100.0 <= whole.max() < 1000.0:
            raise InputError(
                f"Scores such as {broken[0]:g} stand beside {whole.max():g}: where a point stood between thousands the "
                "number is lost; read these columns as text, or write the scores without points."
            )
    return None


def _tell_places(rows: Rows, home: NDArray[np.float64], away: NDArray[np.float64]) -> None:
    """Say where scores look like places: one side 1, the other 2, in every match."""
    known = np.isfinite(home) & np.isfinite(away)
    first, second = np.minimum(home[known], away[known]), np.maximum(home[known], away[known])
    if first.size >= LIKE_PLACES and np.all(first == 1) and np.all(second == 2):
        one, other = rows.found["home_score"], rows.found["away_score"]
        rows.notes.append(
            f"every match ends 1 to 2 or 2 to 1: the side with 2 counts as the winner; if these are places, say "
            f"columns={{'home_place': {one!r}, 'away_place': {other!r}}}"
        )


def _use_games(rows: Rows, scores: tuple[NDArray[np.float64], ...] | None) -> None:
    """Let games or sets won decide a match whose scores are the points of all of them."""
    if scores is None or rows.found.get("home_score") == rows.found.get("home_games"):
        return
    won = _games_won(rows)
    if won is None:
        return
    home, away = won
    known = np.isfinite(home) & np.isfinite(away) & (home + away > 0)
    decided = _won_by(home - away)
    differs = known & np.isfinite(rows.result) & (decided != rows.result)
    rows.result = np.where(known, decided, rows.result)
    number = int((differs & (rows.fault == 0)).sum())
    rows.notes.append(
        f"games or sets decide the matches, and the scores are their margins: in {number:,} matches the winner has no "
        "more points than the loser"
    )


def _games_won(rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Games that each side won, from columns that count them or that hold one game each."""
    if {"home_games", "away_games"} <= rows.found.keys():
        return rows.numbers("home_games"), rows.numbers("away_games")
    single = single_games(rows.table.columns)
    pairs = []
    if len(single["home"]) == len(single["away"]) > 1:
        for one, other in zip(sorted(single["home"]), sorted(single["away"]), strict=True):
            pairs.append((read_numbers(rows.table[one]), read_numbers(rows.table[other])))
    else:
        for column in single["both"]:
            lines = read_scorelines(rows.table[column])
            if lines is not None:
                pairs.append((lines.home, lines.away))
    # Halves and quarters may be level; a game or a set is won by somebody.
    if len(pairs) < 2 or any(np.any(one == other) for one, other in pairs):
        return None
    return tuple(
        sum(np.nan_to_num((a > b).astype(float)) for a, b in order) for order in (pairs, [p[::-1] for p in pairs])
    )  # type: ignore[return-value]


def _use_result_column(rows: Rows) -> None:
    table, column_of = rows.table, rows.found
    column = table[column_of["result"]]
    sides = [table[column_of["home"]], table[column_of["away"]]]
    named = column
    if rows.options.aliases and column.dtype == pl.String:
        # A winner may be named by an alias, and its side by another.
        named, *sides = (as_text(one).str.strip_chars().replace(rows.options.aliases) for one in (column, *sides))
    winners = names_winner(column_of["result"])
    stated, remark = read_results(named, sides[0], sides[1], rows.options.results, winners=winners)
    if {"home_score", "margin"} & column_of.keys():
        _reconcile(rows, stated, remark)
        return
    outside = np.mean((stated < 0) | (stated > 1))
    if outside > OTHER_SCALE and np.fmin.reduce(stated) < 0 and not rows.named("result") and not rows.options.results:
        rows.margin = read_numbers(column)
        rows.result = _won_by(rows.margin)
        remark = f"the column {column_of['result']!r} was read as margins of the home side"
    elif outside > OTHER_SCALE:
        most = np.nanmax(np.abs(read_numbers(column)))
        raise InputError(
            f"The result column {column_of['result']!r} holds numbers as large as {most:g}; results are "
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
    finite = np.isfinite(stated)
    contradicted = _contradicted(rows, stated)
    if contradicted.sum() > 0.5 * finite.sum():
        if not rows.named("result"):
            rows.notes.append(f"the column {rows.found['result']!r} does not hold results: the scores were used")
            return
        raise InputError(
            f"The result column {rows.found['result']!r} contradicts the scores in {int(contradicted.sum())} of "
            f"{int(finite.sum())} rows; name the right columns with "
            "columns={'result': ..., 'home_score': ..., 'away_score': ...}."
        )
    if contradicted.any():
        rows.notes.append(f"in {int(contradicted.sum())} matches the result is not what the scores say: both were kept")
    rows.result = np.where(finite, stated, rows.result)


def _contradicted(rows: Rows, stated: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.isfinite(stated) & np.isfinite(rows.result) & (stated != rows.result)


def _judge_outcome(rows: Rows, scores: tuple[NDArray, ...] | None, played: bool) -> None:
    if scores is not None:
        wrong = np.zeros(rows.fault.size, bool)
        for score in scores[:2]:
            wrong |= (score < 0) | (score > LARGEST_SCORE)
        rows.reject(wrong, "impossible score")
        ahead = (scores[0] == 0) & (scores[1] == 0) & (rows.date > np.datetime64("today")) & rows.good & ~rows.to_come
        if played and (number := int(ahead.sum())):
            rows.notes.append(
                f"{number:,} matches after today end 0-0, as many tables say of matches to come: they count as drawn; "
                "leave the scores of those empty that have not been played"
            )
    # One look at the extremes clears a column without faults: NaN fails both comparisons.
    if rows.result.min() >= 0 and rows.result.max() <= 1:
        return
    rows.reject((rows.result < 0) | (rows.result > 1), "impossible result")
    if played:
        word = "result" if scores is None else "score"
        unknown = np.isnan(rows.result)
        rows.reject(unknown & _says_something(rows), f"unreadable {word}")
        rows.reject(unknown, f"missing {word}")


def _says_something(rows: Rows) -> NDArray[np.bool_]:
    """Whether a column of the outcome holds what is neither blank nor a word for nothing, and no number."""
    says = np.zeros(rows.fault.size, bool)
    for name in ("result", "score_line", "home_score", "away_score", "margin"):
        if name in rows.found:
            column = rows.table[rows.found[name]]
            (code,), entries = encode_names(column)
            named = np.append(without_stand_ins(entries), False)[code]
            says |= named & np.isnan(read_numbers(column))
    return says
