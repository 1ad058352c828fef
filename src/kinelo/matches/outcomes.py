"""What a match ended in: from scores, a score line, a margin, words, numbers, or from naming the winner.

Results are 1 won, ½ drawn, 0 lost. Numbers come on two scales. Points are 0, ½, 1; signed results are −1, 0, 1, and a
negative number gives them away. A column of nothing but 0 and 1 is read as points, where 0 is a defeat: only
``results="signed"`` makes it a draw.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import (
    FINISHED_COLUMNS,
    WAITING_COLUMNS,
    WHITE,
    WINNERS,
    listed,
    plain_name,
)
from kinelo.matches.contests import FINISHED
from kinelo.matches.names import (
    as_text,
    encode_names,
    holds_numbers,
    note_points,
    read_flags,
    read_numbers,
    thousands_by_points,
    without_stand_ins,
)
from kinelo.matches.rows import OUTCOME, MatchRows, Scale, listed_names
from kinelo.matches.words import (
    ALSO_OTHERWISE,
    BROKEN_OFF,
    ENDED_IN_TIME,
    ENDED_LATER,
    FORFEIT,
    KICK_OFF,
    TO_COME,
    UNKNOWN,
    WITHIN,
    WORDS,
    meaning_of,
)
from kinelo.presentation import counted

HOME_WORDS = (
    "h", "home", "w", "win", "won", "home win", "model_a", "player_a", "team_a", "white", "left",
    "heim", "heimsieg", "mandante", "casa", "local", "domicile", "thuis",
)  # fmt: skip
BOTH_BAD = ("tie (bothbad)", "tie (both bad)", "bothbad", "both bad", "both_bad")
DRAW_WORDS = (
    "d", "draw", "drawn", "x", "t", "tie", "tied", "1/2-1/2", "½-½", "½", "1/2", *BOTH_BAD,
    "=", "unentschieden", "remis", "empate", "nul", "match nul", "pareggio", "gelijk", "gelijkspel",
)  # fmt: skip
AWAY_WORDS = (
    "a", "away", "l", "loss", "lost", "away win", "model_b", "player_b", "team_b", "black", "right",
    "gast", "gastsieg", "auswärts", "auswärtssieg", "visitante", "fora", "exterieur", "extérieur", "ospite",
    "trasferta", "uit",
)  # fmt: skip

AS_POINTS = "results were read as 0 for an away win, 0.5 for a draw, 1 for a home win"
AS_SIGNED = "results were read as -1 for an away win, 0 for a draw, 1 for a home win"
AS_SIDES = "results were read as 1 where the first side won and 2 where the second did"
AS_NUMBERS = "results were read from the numbers of winners"
AS_WINNERS = f"{AS_SIDES}, and 0 where nobody did"
NO_WINNER = ("none", "nobody", "no one", "no winner", "neither", "0", "-", "draw/tie", "niemand", "keiner", "nadie")
"""What stands in a column of winners where there was none."""
DOUBTFUL = "are all 0 or 1 and were read as away win and home win; if 0 means a draw, say results='signed'"
ENDING_WORDS = (
    r"aet|a\.e\.t\.?|et|e\.t\.|ot\d*|\d*ot|so|f/ot|f/so|n\.v\.|i\.e\.|n\.e\.|after extra time|dts|dcr|tab|ft|f"
)
IN_BRACKETS = rf"[^()a-z]*|[^()]*\d[^()]*|(?:{ENDING_WORDS}|p(?:en|ens|enalties|so|k)?\.?|ht|hz|half-?time|extra time)"
"""What brackets behind a score may hold; a word that is not known may say that the match does not count."""
SCORE_NUMBER = r"\d+(?:\.(?:0+|50*))?"
SCORE_LINE = (
    rf"^\s*(?<home>{SCORE_NUMBER})\s*[-:−–—x×]\s*(?<away>{SCORE_NUMBER})\s*"
    rf"(?<after>(?:[,(\[;]?\s*(?:{ENDING_WORDS})\s*[)\]]?|\s|\((?:{IN_BRACKETS})\)"
    r"|[,;]?\s*\d+\s*[-:–]\s*\d+\s*(?:on\s*)?p(?:en|ens|enalties|so|k)?\.?"
    r"|[,;]?\s*p(?:en|ens|enalties|so|k)?\.?:?\s*\d+\s*[-:–]\s*\d+)*\s*\*?)$"
)
SET = r"\[?(\d+)\s*[-:−–]\s*(\d+)\]?(?:\s*\(\d+(?:\s*[-:−–]\s*\d+)?\))?"
SETS = re.compile(rf"\s*(?:{SET}[\s,;/]*){{2,9}}")
LOW_SCORES = 13
"""Scores below which 15:30 beside them is a time of day."""

LEAST_SET = 4
"""Games or points that win the first set at least; fewer are goals of two legs or of parts of a match."""

SHOOTOUT = r"\bp(?:en|ens|enalties|so|k)?\b|\bso\b|\b[in]\.e\.|\btab\b|\bdcr\b"
EXTRA_TIME = r"aet|a\.e\.t|\bet\b|e\.t\.|ot\d*\b|extra|n\.v\.|\bdts\b"
MARK = r"(?:^|[\s(\[,;])(f)[)\]]?\s*$|(\*)"
"""What stands behind the score of a forfeit."""

CLOCK = r"^\s*(?:[01]?\d|2[0-3]):[0-5]\d\s*$"
ODD = np.uint64(0x9E3779B97F4A7C15)
OTHER_SCALE = 0.05
"""A share of numbers outside [-1, 1] above which a column does not hold results."""


def read_results(
    column: pl.Series, home: pl.Series, away: pl.Series, scale: Scale | None, *, winners: bool
) -> tuple[NDArray[np.float64], str]:
    """Results in [0, 1] and a remark on how they were read; numbers that are no result stay outside [0, 1].

    ``winners`` says that the column is called after the winner: 1 and 2 are sides then, and 0 or "none" is a draw.
    """
    numbers = read_numbers(column)
    least = np.fmin.reduce(numbers)
    if winners and scale is None and np.isfinite(least):  # sides may be numbers, which the winners' column names
        (winner, *sides), _ = encode_names(column, home, away)
        won = np.select([(winner == side) & (winner >= 0) for side in sides], [1.0, 0.0], np.nan)
        decided, told = np.isfinite(numbers) & (numbers != 0), np.isfinite(won)
        if told.any() and (np.fmax.reduce(numbers) > 2 or told[decided].all()):
            return np.where((numbers == 0) & ~told, 0.5, won), AS_NUMBERS
    if column.dtype != pl.String or (np.isfinite(least) and holds_numbers(column)):
        return _read_numbers(numbers, float(least), scale, winners=winners)
    text = column.str.strip_chars().str.to_lowercase()
    drawn = (*DRAW_WORDS, *NO_WINNER) if winners else DRAW_WORDS
    words = text.filter(pl.Series(np.isnan(numbers))).drop_nulls()
    spoken = bool(words.is_in(drawn).any()) or (winners and len(words) > 0)
    if np.isfinite(least) and not spoken:
        return _read_numbers(numbers, float(least), scale, winners=winners)
    named = np.full(len(text), np.nan)
    for side, value in ((home, 1.0), (away, 0.0)):
        name = _cleaned(side).str.to_lowercase()
        named[(_cleaned(column).str.to_lowercase() == name).fill_null(False).to_numpy()] = value
    worded = np.full(len(text), np.nan)
    for words, value in ((HOME_WORDS, 1.0), (drawn, 0.5), (AWAY_WORDS, 0.0)):
        worded[text.is_in(words).fill_null(False).to_numpy()] = value
    if np.isfinite(least):
        second = "2" if winners or (text == "2").any() else "0"
        worded[(text == "1").fill_null(False).to_numpy()] = 1.0
        worded[(text == second).fill_null(False).to_numpy()] = 0.0
    # A side may be called "A" or "Home": names hold where one is no word, or they explain all that was not drawn.
    by_name = np.where(np.isnan(named) & (worded == 0.5), 0.5, named)
    if np.any(np.isfinite(named) & np.isnan(worded)) or np.all(np.isfinite(by_name) | text.is_null().to_numpy()):
        result, remark = by_name, "results were read from the names of winners"
    else:
        result, remark = worded, "results were read from words"
    if (bad := text.filter(text.is_in(BOTH_BAD))).len():
        remark += f", {bad[0]!r}, where both sides were bad, as a draw"
    return result, remark


def _cleaned(column: pl.Series) -> pl.Series:
    """Names as they are compared."""
    (codes,), names = encode_names(column)
    return pl.Series([*names, None], dtype=pl.String).gather(np.where(codes < 0, len(names), codes))


def _read_numbers(
    numbers: NDArray[np.float64], least: float, scale: Scale | None, *, winners: bool
) -> tuple[NDArray[np.float64], str]:
    sides = np.isin(numbers, (0.0, 1.0, 2.0)) | np.isnan(numbers)
    if winners and scale is None and np.fmax.reduce(numbers) == 2 and least == 0 and sides.all():
        return np.select([numbers == 1, numbers == 2, numbers == 0], [1.0, 0.0, 0.5], np.nan), AS_WINNERS
    if scale == "signed" or (scale is None and least < 0):
        return 0.5 * (1.0 + numbers), AS_SIGNED
    if scale is None and np.fmax.reduce(numbers) == 2 and np.all(np.isin(numbers, (1.0, 2.0)) | np.isnan(numbers)):
        return 2.0 - numbers, AS_SIDES
    if scale is None and least == 0 and not np.any((numbers > 0) & (numbers < 1)):
        which = "results that can be used" if np.fmax.reduce(numbers) > 1 else "results"
        return numbers.copy(), f"{which} {DOUBTFUL}"
    return numbers.copy(), AS_POINTS


@dataclass(frozen=True)
class ScoreLines:
    """Scores of both sides from a column of text (NaN where it holds none), and how many went beyond normal time.

    ``marks`` are what stands behind a score as it does behind forfeits, ``clocks`` say where a time of day stands in
    its place. Shoot-outs are of level scores; others were ``decided`` by theirs.
    """

    home: NDArray[np.float64]
    away: NDArray[np.float64]
    margin: NDArray[np.float64]
    marks: NDArray[np.object_]
    clocks: NDArray[np.bool_]
    shootouts: int
    decided: int
    extra_time: int
    sets: int


def read_scorelines(column: pl.Series) -> ScoreLines | None:
    """Scores from text like ``2-1``, ``2 x 1``, ``2:1 aet``, ``3-3 (4-2 pens)`` or ``6-4 3-6 7-5``; None without any.

    Of sets, the score is their number; the margin adds the share of all games (or points) by which the winner led.

    >>> lines = read_scorelines(pl.Series(["2-1 aet", "3-3 (4-2 pens)", "1/2-1/2", "?"]))
    >>> lines.home.tolist(), lines.shootouts, lines.extra_time
    ([2.0, 3.0, 0.5, nan], 1, 1)
    """
    if column.dtype != pl.String or holds_numbers(column):
        return None
    # There are few different scores however many matches there are.
    (code,), lines = encode_names(column)
    written: list[str | None] = []
    for line in lines:  # halves and thousands as plain numbers: 2½-1½, 2,5-1,5, 1/2-1/2, 1.012-998
        plain = line.lower().replace("1/2-1/2", "½-½")
        plain = re.sub(r"(?<![\d.])([1-9]\d{0,2})\.(?!000|500)(\d{3})(?![\d.])", r"\1\2", plain)
        plain = re.sub(r"(\d*)½", lambda number: f"{number[1] or 0}.5", plain)
        written.append(re.sub(r"^(\s*\d+),([05]\s*[-:−–—x×]\s*\d+),([05]\s*)$", r"\1.\2.\3", plain))
    text = pl.Series([*written, None], dtype=pl.String)
    parts = text.str.extract_groups(SCORE_LINE).struct
    home, away = read_numbers(parts.field("home")).copy(), read_numbers(parts.field("away")).copy()
    margin = home - away
    by_sets = np.zeros(len(text), bool)
    for k, line in enumerate(lines):
        if np.isnan(home[k]) and (sets := read_sets(line)) is not None:
            (home[k], away[k], margin[k]), by_sets[k] = sets, True
    # Which lines are times of day such as 19:30, where scores with a colon stand beside them? A second number such as
    # 05 is no score. Without one, times are full fives beyond all that the other lines say.
    clocks = text.str.contains(CLOCK).fill_null(False).to_numpy() & (away % 5 == 0)
    sure = text.str.contains(r":0\d\s*$").fill_null(False).to_numpy() & clocks
    most = np.nanmax(np.where(clocks, np.nan, np.fmax(home, away)), initial=0.0)
    others = np.isfinite(home) & ~clocks
    beyond = np.array_equal(clocks & (np.fmax(home, away) > most), clocks) and most < LOW_SCORES
    if not (others.any() and beyond) and not (sure.any() and not others.any()):
        clocks = sure
    home[clocks] = away[clocks] = margin[clocks] = np.nan
    if not np.isfinite(home).any() and not clocks.any():
        return None
    after = parts.field("after").fill_null("")
    number = np.bincount(code[code >= 0], minlength=len(text))
    level = margin == 0
    shootout, later = (after.str.contains(p).to_numpy() & np.isfinite(home) for p in (SHOOTOUT, EXTRA_TIME))
    counts = (int(number[of].sum()) for of in (shootout & level, shootout & ~level, later, by_sets))
    marks = after.str.extract_groups(MARK).struct.unnest().select(pl.concat_str(pl.all(), ignore_nulls=True))
    marks = marks.to_series().to_numpy()[code]
    return ScoreLines(home[code], away[code], margin[code], marks, clocks[code], *counts)


def read_sets(line: str) -> tuple[float, float, float] | None:
    """Sets won by each side, and the margin: difference in sets plus difference in games as a share of all games.

    >>> read_sets("6-4 3-6 7-6(5)"), read_sets("2-1 1-0")
    ((2.0, 1.0, 1.0), None)
    """
    if not SETS.fullmatch(line):
        return None
    pairs = [(int(one), int(other)) for one, other in re.findall(SET, line)]
    if max(pairs[0]) < LEAST_SET or any(one == other for one, other in pairs):
        return None
    won = sum(one > other for one, other in pairs)
    led = sum(one - other for one, other in pairs) / sum(one + other for one, other in pairs)
    lost = len(pairs) - won
    return float(won), float(lost), won - lost + led


def losers_first(
    winner: NDArray[np.int32], loser: NDArray[np.int32], teams: tuple[str, ...], day: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """For each match, whether the loser is to be named first: by a hash of both names and the day, whoever won.

    >>> sides = np.array([0, 1], np.int32)
    >>> losers_first(sides, sides[::-1], ("A", "B"), np.zeros(2, np.int64)).sum().item()
    1
    """
    name = np.array([int.from_bytes(blake2b(team.encode(), digest_size=8).digest(), "little") for team in teams] + [0])
    winner_code, loser_code = name.astype(np.uint64)[winner], name.astype(np.uint64)[loser]
    with np.errstate(over="ignore"):
        mixed = (winner_code + loser_code) * ODD ^ day.astype(np.uint64) * np.uint64(0xD1342543DE82EF95)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * ODD
    turned = (mixed >> np.uint64(63)).astype(bool)
    return (winner_code > loser_code) ^ turned


AS_DATE = (
    r"^\d{4}-\d{1,2}-\d{1,2}(?:[t ].*)?$|^\d{1,2}[/.]\d{1,2}[/.](?:\d{2}|\d{4})$"
    r"|^\d{1,2}[-. ]\s?(?:jan|feb|mar|m[aä]r|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\.?(?:[- ]\d{2,4})?$"
    r"|^(?:jan|feb|mar|m[aä]r|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-z]*\.?[- ]\d{1,4}$"
)
"""What a spreadsheet makes of a score such as 3-1."""

LIKE_PLACES = LIKE_POINTS = 10
"""Matches that must end 1 to 2 or 2 to 1, all of them, before scores look like places; of 3-0 and 1-1, like points."""

SINGLE_GAME = re.compile(r"(home|away|h|a)?(?:set|game|satz)\d(?:score|points)?(home|away|h|a)?")
"""Headers of columns that hold single games or sets: scores of both sides, or of one side each."""

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
LARGEST_SCORE, MOST_SEASON = 1e9, 1000
"""A score or a margin beyond this is no score."""


def read_outcome(rows: MatchRows, name: str) -> None:
    """Fill in results and margins, and mark rows whose match has none."""
    unclear = _set_aside_unplayed(rows)
    column_of, played = rows.found, rows.options.played
    scores = _read_scores(rows)
    if scores is not None:
        home, away, rows.margin = scores
        no_scores = [column_of[key] for key in ("home_place", "home_games") if key in column_of]
        if column_of.get("home_score") not in no_scores:  # places, and games and sets won, do not add up
            with np.errstate(invalid="ignore"):
                rows.total = np.where(home - away == rows.margin, home + away, np.nan)
    elif "margin" in column_of:
        rows.margin = _numbers(rows, "margin")
        rows.reject(np.abs(rows.margin) > LARGEST_SCORE, "impossible margin")
    if rows.winners_first:
        # Order the sides by what is known before the match; the winner keeps its result, margin and line-up.
        rows.turned = turned = losers_first(rows.home, rows.away, rows.teams, rows.date.view(np.int64))
        rows.reject(rows.margin < 0, "impossible margin")
        rows.home, rows.away = np.where(turned, rows.away, rows.home), np.where(turned, rows.home, rows.away)
        rows.result = np.where(turned, 0.0, 1.0)
        rows.margin = np.where(turned, -rows.margin, rows.margin)
        rows.neutral = np.ones(turned.size, bool)
        rows.notes.append(
            "the table names winner and loser: sides were put in an order that does not depend on the result, "
            "and every venue counts as neutral"
        )
    elif scores is not None or {"result", "margin"} & column_of.keys():
        if scores is not None or "margin" in column_of:
            rows.result = _won_by(rows.margin)
        if scores is not None and column_of.get("home_score") != column_of.get("home_games"):
            _decide_by_games(rows)
        if "result" in column_of:
            _use_result_column(rows)
        _judge_outcome(rows, scores)
        if scores is not None and rows.total is not None:
            _leave_league_points(rows, *scores[:2])
    elif played:
        raise InputError(
            f"{name} has neither scores nor results; name them with columns={{'home_score': ..., 'away_score': ...}} "
            f"or columns={{'result': {_scores_in(rows)}}}, its columns are {listed(rows.table.columns)}."
        )
    if rows.to_come.any():
        rows.result, rows.margin = (np.where(rows.to_come, np.nan, value) for value in (rows.result, rows.margin))
        rows.total = None if rows.total is None else np.where(rows.to_come, np.nan, rows.total)
    # Words of a status that nobody knows are asked about where they stand beside a result.
    for column, at in unclear.items():
        at = at & (rows.fault == 0) & np.isfinite(rows.result)
        if at.any():
            words = as_text(rows.table[column].filter(pl.Series(at))).str.strip_chars().value_counts(sort=True)
            words = [word[:40] for word in words.to_series().to_list()]
            number = int(at.sum())
            raise InputError(
                f"{column!r} says {listed_names(words, 3)} of {counted(number, 'match', 'matches')} with a result, and "
                f"nothing tells whether {'it was' if number == 1 else 'they were'} played. Say "
                f"endings={{{words[0]!r}: 'finished'}}, or 'to come', 'broken off' or 'forfeit'; give the column "
                "another name if it says something else."
            )


def _scores_in(rows: MatchRows) -> str:
    """The only column that nothing else is read from and that holds scores such as 2:1, or ``...``.

    Times of day are none, nor seasons such as 2023-24.
    """
    holding = []
    for column in rows.table.columns:
        cells = rows.table[column].drop_nulls().head(SAMPLE)
        if column in rows.found.values() or cells.dtype != pl.String or cells.str.contains(CLOCK).all():
            continue
        lines = read_scorelines(cells)
        if lines is not None and np.fmax.reduce(np.fmax(lines.home, lines.away)) < MOST_SEASON:
            holding.append(repr(column))
    return holding[0] if len(holding) == 1 else "..."


def _set_aside_unplayed(rows: MatchRows) -> dict[str, NDArray[np.bool_]]:
    """Set forfeits and matches that are not over aside by what they are; where columns say what nobody knows.

    A column speaks of that by its name, or because nearly all of its words are words of a status; of several, the worst
    counts. Where matches need not be played, those to come stay, without a result.
    """
    table, column_of, n = rows.table, rows.found, rows.table.height
    meaning, unclear = np.full(n, UNKNOWN), {}
    order = rows.order_found
    taken = {*column_of.values(), *rows.options.conditions, order.get("round"), order.get("order")} - {
        column_of.get("status")
    }
    for column in (
        [column_of["status"]] if "status" in rows.options.columns else [c for c in table.columns if c not in taken]
    ):
        name, cells = plain_name(column), table[column]
        flags = read_flags(cells) if name in (*FINISHED_COLUMNS, *WAITING_COLUMNS) else None
        if flags is not None and ((flags >= 0) | cells.is_null().to_numpy()).all():
            over = 1 if name in FINISHED_COLUMNS else 0
            says = np.select([flags == over, flags == 1 - over], [FINISHED, TO_COME], UNKNOWN)
        elif column == column_of.get("status") or "status" in name or _speaks_of_matches(rows, column):
            (codes,), entries = encode_names(cells)
            names = [plain_name(entry) for entry in entries]
            later = ENDED_LATER if ENDED_IN_TIME.intersection(names) else ()
            known = [FINISHED if n in later else meaning_of(e, "match") for n, e in zip(names, entries)]
            known = [rows.options.endings.get(e.casefold(), what) for e, what in zip(entries, known)]
            says = np.array([*known, UNKNOWN])[codes]
            unclear[column] = np.append(without_stand_ins(entries), False)[codes] & (says == UNKNOWN)
        else:
            continue
        column_of.setdefault("status", column)
        rows.outcome_columns = (*rows.outcome_columns, column)
        meaning = np.maximum(meaning, says)
    dates, score = np.zeros(n, bool), column_of.get("score_line") or column_of.get("result")
    for key in SOURCES:
        cells = table[column_of[key]] if key in column_of else None
        if cells is not None and cells.dtype == pl.String and not holds_numbers(cells):
            words = cells.unique().drop_nulls()
            small = words.str.strip_chars().str.to_lowercase()
            for what in REASON_OF:
                says = cells.is_in(words.filter(small.str.contains(WITHIN[what])).implode()).fill_null(False).to_numpy()
                meaning = np.where(says, np.maximum(meaning, what), meaning)
            if column_of[key] == score:
                dates = cells.is_in(words.filter(small.str.contains(AS_DATE)).implode()).fill_null(False).to_numpy()
        elif cells is not None and column_of[key] == score and isinstance(cells.dtype, pl.Date | pl.Datetime):
            dates = cells.is_not_null().to_numpy()
    for key, what in (("forfeit", FORFEIT), ("retired", BROKEN_OFF)):
        if key in column_of:
            (codes,), entries = encode_names(as_text(table[column_of[key]]).str.strip_chars().replace("0", ""))
            named = np.append(without_stand_ins(entries), False)[codes]
            rows.reject(named & (read_flags(table[column_of[key]]) != 0), REASON_OF[what])
    for what, reason in REASON_OF.items():
        if what != TO_COME or rows.options.played:
            rows.reject(meaning == what, reason)
    rows.to_come = meaning == TO_COME
    if number := int(dates.sum()):
        # Scores that a spreadsheet took for dates: 2021-03-01 was 3-1 or 1-3, and nothing tells which.
        rows.notes.append(
            f"{counted(number, 'entry', 'entries')} of {score!r} {'is a date' if number == 1 else 'are dates'}, as a "
            f"spreadsheet makes of scores such as 3-1: {'that match was' if number == 1 else 'those matches were'} set "
            "aside; write the scores into a column of text, or into one column for each side"
        )
        rows.reject(dates, "a score that became a date")
    return {column: at & (meaning == UNKNOWN) for column, at in unclear.items()}


def _speaks_of_matches(rows: MatchRows, column: str) -> bool:
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


def _won_by(margin: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 * (1.0 + np.sign(margin))


def _numbers(rows: MatchRows, name: str) -> NDArray[np.float64]:
    """Numbers of the column that holds this, with a note where it had to be decided how to read them."""
    return read_numbers(rows.table[rows.found[name]], rows.notes)


def _read_scores(rows: MatchRows) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]] | None:
    """Scores of both sides and the margin, where a table tells them."""
    column_of = rows.found
    if "home_place" in column_of and "away_place" in column_of:
        home, away = _numbers(rows, "home_place"), _numbers(rows, "away_place")
        column_of["home_score"], column_of["away_score"] = column_of["home_place"], column_of["away_place"]
        return home, away, away - home
    if "home_score" in column_of and "away_score" in column_of:
        columns = [rows.table[column_of[key]] for key in ("home_score", "away_score")]
        if thousands_by_points(columns, whole=True):  # as the two columns together show
            for column in columns:
                note_points(column, rows.notes)
            columns = [column.str.strip_chars().str.replace_all(".", "", literal=True) for column in columns]
            home, away = (read_numbers(column) for column in columns)
        else:
            if all(column.dtype.is_float() for column in columns):  # as which 1.012 for 1,012 came here
                scores = np.concatenate([column.fill_null(np.nan).to_numpy() for column in columns])
                scores = scores[np.isfinite(scores)]
                broken = scores[np.abs(scores * 100.0 - np.round(scores * 100.0)) > SMALLEST_FRACTION]
                whole = scores[scores == np.floor(scores)]
                three_digits = np.abs(broken * 1000.0 - np.round(broken * 1000.0)) < SMALLEST_FRACTION
                if broken.size and three_digits.all() and whole.size and 100.0 <= whole.max() < 1000.0:
                    raise InputError(
                        f"Scores such as {broken[0]:g} stand beside {whole.max():g}: where a point stood between "
                        "thousands the number is lost; read these columns as text, or write the scores without points."
                    )
            home, away = _numbers(rows, "home_score"), _numbers(rows, "away_score")
        known = np.isfinite(home) & np.isfinite(away)
        first, second = np.minimum(home[known], away[known]), np.maximum(home[known], away[known])
        if first.size >= LIKE_PLACES and np.all(first == 1) and np.all(second == 2):
            rows.notes.append(
                "every match ends 1 to 2 or 2 to 1: the side with 2 counts as the winner; if these are places, say "
                f"columns={{'home_place': {column_of['home_score']!r}, 'away_place': {column_of['away_score']!r}}}"
            )
        with np.errstate(invalid="ignore"):
            return home, away, home - away
    if "home_games" in column_of and "away_games" in column_of:
        column_of["home_score"], column_of["away_score"] = column_of["home_games"], column_of["away_games"]
        home, away = _numbers(rows, "home_games"), _numbers(rows, "away_games")
        return home, away, home - away
    source = "score_line" if rows.winners_first else "result"
    lines = read_scorelines(rows.table[column_of[source]]) if source in column_of else None
    if lines is None:
        column_of.pop("score_line", None)
        return None
    column_of["score_line"] = column_of.pop(source)
    return _use_lines(rows, column_of["score_line"], lines)


def _use_lines(
    rows: MatchRows, column: str, lines: ScoreLines
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Scores and margins of score lines; a time of day, or the mark of a forfeit where most have none, is no score."""
    column_of, notes = rows.found, rows.notes
    if number := int(lines.clocks.sum()):
        shown = rows.table[column].filter(pl.Series(lines.clocks))[0].strip()
        notes.append(
            f"{counted(number, 'entry', 'entries')} of {column!r}, such as {shown!r}, "
            f"{'is a time of day: that match has' if number == 1 else 'are times of day: those matches have'} not been "
            "played"
        )
        rows.to_come |= lines.clocks
        if rows.options.played:
            rows.reject(lines.clocks, REASON_OF[TO_COME])
    for mark in ("f", "*"):
        marked = lines.marks == mark
        what = rows.options.endings.get(mark, FORFEIT)
        # Behind most scores F is final.
        if what != FINISHED and marked.any() and marked.sum() <= 0.5 * np.isfinite(lines.home).sum():
            shown = rows.table[column].filter(pl.Series(marked))[0].strip()
            number = rows.reject(marked, REASON_OF[what])
            notes.append(
                f"{counted(number, 'score has', 'scores have')} a mark, such as {shown!r}, as forfeits do: "
                f"{'that match was' if number == 1 else 'those matches were'} set aside; "
                f"endings={{{mark!r}: 'finished'}} counts them"
            )
    home, away, margin = lines.home, lines.away, lines.margin
    places = [rows.table.columns.index(column_of[side]) for side in ("home", "away")]
    if not rows.winners_first and places[1] < places[0] and plain_name(column_of["home"]) not in WHITE:
        home, away, margin = lines.away, lines.home, -lines.margin
        notes.append(
            f"the column {column_of['away']!r} stands before {column_of['home']!r}: the first number of {column!r} was "
            f"read as the score of {column_of['away']!r}; change the order of these columns if it is not"
        )
    if lines.sets:
        notes.append(
            f"{counted(lines.sets, 'score tells', 'scores tell')} sets: margins are differences in sets, plus those in "
            "games as a share of all"
        )
    if lines.shootouts:
        went = counted(lines.shootouts, "match went", "matches went")
        notes.append(f"{went} to a shoot-out: {'it counts' if lines.shootouts == 1 else 'they count'} as drawn")
    for number, what in ((lines.decided, "the shoot-out"), (lines.extra_time, "extra time")):
        if number == 1:
            notes.append(f"1 score includes {what}: it counts as it stands")
        elif number:
            notes.append(f"{number:,} scores include {what}: they count as they stand")
    return home, away, margin


def _decide_by_games(rows: MatchRows) -> None:
    """Let games or sets won decide a match whose scores are the points of all of them.

    Columns may count what each side won, or hold one game each.
    """
    if {"home_games", "away_games"} <= rows.found.keys():
        home, away = _numbers(rows, "home_games"), _numbers(rows, "away_games")
    else:
        single: dict[str, list[str]] = {"b": [], "h": [], "a": []}  # scores of both sides in one column, or of each
        for column in rows.table.columns:
            if part := SINGLE_GAME.fullmatch(plain_name(column)):
                single[(part[1] or part[2] or "both")[0]].append(column)
        pairs = []
        if len(single["h"]) == len(single["a"]) > 1:
            for one, other in zip(sorted(single["h"]), sorted(single["a"]), strict=True):
                pairs.append((read_numbers(rows.table[one]), read_numbers(rows.table[other])))
        else:
            lines = (read_scorelines(rows.table[column]) for column in single["b"])
            pairs = [(line.home, line.away) for line in lines if line is not None]
        # Halves and quarters may be level; a game or a set is won by somebody.
        if len(pairs) < 2 or any(np.any(one == other) for one, other in pairs):
            return
        home, away = (np.sum([a > b for a, b in order], axis=0) for order in (pairs, [p[::-1] for p in pairs]))
        rows.outcome_columns = (*rows.outcome_columns, *single["b"], *single["h"], *single["a"])
    known = np.isfinite(home) & np.isfinite(away) & (home + away > 0)
    decided = _won_by(home - away)
    differs = known & np.isfinite(rows.result) & (decided != rows.result)
    rows.result = np.where(known, decided, rows.result)
    number = int((differs & (rows.fault == 0)).sum())
    rows.notes.append(
        "games or sets decide the matches, and the scores are their margins: in "
        f"{counted(number, 'match', 'matches')} the winner has no more points than the loser"
    )


def _use_result_column(rows: MatchRows) -> None:
    """Take results from their column; where scores tell too, they are held against it and kept as margins."""
    table, column_of = rows.table, rows.found
    name, column = column_of["result"], table[column_of["result"]]
    winners, *sides = column, table[column_of["home"]], table[column_of["away"]]
    if rows.options.aliases and column.dtype == pl.String:
        # A winner may be named by an alias, and its side by another.
        winners, *sides = (as_text(one).str.strip_chars().replace(rows.options.aliases) for one in (column, *sides))
    named = plain_name(name) in WINNERS
    stated, remark = read_results(winners, sides[0], sides[1], rows.options.results, winners=named)
    if {"home_score", "margin"} & column_of.keys():
        lost = (stated == 0.0) & (rows.margin > 0)
        if not {"home_score", "score_line"} & column_of.keys() and lost.any() and not (rows.margin < 0).any():
            rows.margin = np.where(lost, -rows.margin, rows.margin)
            rows.result = np.where(np.isfinite(stated), _won_by(rows.margin), np.nan)
            rows.notes.append(
                f"no margin in {column_of['margin']!r} is negative, and the side named first lost "
                f"{counted(int(lost.sum()), 'match', 'matches')}: margins are the winner's"
            )
        signed = 0.5 * (1.0 + stated)
        if remark.endswith(DOUBTFUL) and _contradicted(rows, stated).any() and not _contradicted(rows, signed).any():
            stated = signed
            rows.notes.append(f"the scores show that 0 in {name!r} is a draw: {AS_SIGNED}")
        finite, number = np.isfinite(stated), int(_contradicted(rows, stated).sum())
        if number > 0.5 * finite.sum():
            if "result" in rows.options.columns:
                raise InputError(
                    f"The result column {name!r} contradicts the scores in {number} of {int(finite.sum())} rows; name "
                    "the right columns with columns={'result': ..., 'home_score': ..., 'away_score': ...}."
                )
            rows.notes.append(f"the column {name!r} does not hold results: the scores were used")
            return
        if number:
            rows.notes.append(
                f"in {counted(number, 'match', 'matches')} the result is not what the scores say: both were kept"
            )
        rows.result = np.where(finite, stated, rows.result)
        return
    outside = np.mean((stated < 0) | (stated > 1))
    if (
        outside > OTHER_SCALE
        and np.fmin.reduce(stated) < 0
        and "result" not in rows.options.columns
        and not rows.options.results
    ):
        rows.margin = read_numbers(column)
        rows.result = _won_by(rows.margin)
        remark = f"the column {name!r} was read as margins of the home side"
    elif outside > OTHER_SCALE:
        raise InputError(
            f"The result column {name!r} holds numbers as large as {np.nanmax(np.abs(read_numbers(column))):g}; "
            "results are 0, 0.5, 1 or -1, 0, 1, and a difference of scores is named with columns={'margin': ...}."
        )
    else:
        rows.result = stated
    rows.notes.append(remark)


def _leave_league_points(rows: MatchRows, home: NDArray[np.float64], away: NDArray[np.float64]) -> None:
    """Keep the results alone where scores are the points of a table, 3 for a win and 1 for a draw."""
    columns = {"result": rows.found["score_line"]} if "score_line" in rows.found else {}
    columns = columns or {key: rows.found[key] for key in ("home_score", "away_score")}
    known = np.isfinite(home) & np.isfinite(away) & (rows.fault == 0)
    decided, drawn = (home + away == 3) & (home * away == 0), (home == 1) & (away == 1)
    either = known.sum() >= LIKE_POINTS and (decided & known).any() and (drawn & known).any()
    if not either or not (decided | drawn)[known].all() or rows.options.columns.keys() & columns.keys():
        return
    rows.margin, rows.total = np.full(home.size, np.nan), None
    rows.notes.append(
        f"every match ends 3 to 0, 1 to 1 or 0 to 3, as points in a table do: only the results were read from "
        f"{listed(columns.values())}, no margins; if these are scores, say columns={columns}"
    )


def _contradicted(rows: MatchRows, stated: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.isfinite(stated) & np.isfinite(rows.result) & (stated != rows.result)


def _judge_outcome(rows: MatchRows, scores: tuple[NDArray[np.float64], ...] | None) -> None:
    """Mark rows whose score or result is impossible, unreadable or missing."""
    played = rows.options.played
    if scores is not None:
        home, away, _ = scores
        wrong = (home < 0) | (home > LARGEST_SCORE) | (away < 0) | (away > LARGEST_SCORE)
        rows.reject(wrong, "impossible score")
        ahead = (home == 0) & (away == 0) & (rows.date > np.datetime64("today")) & (rows.fault == 0) & ~rows.to_come
        if played and (number := int(ahead.sum())):
            rows.notes.append(
                f"{counted(number, 'match', 'matches')} after today {'ends' if number == 1 else 'end'} 0-0, as many "
                f"tables say of matches to come: {'it counts' if number == 1 else 'they count'} as drawn; leave the "
                "scores of those empty that have not been played"
            )
    # One look at the extremes clears a column without faults: NaN fails both comparisons.
    if rows.result.min() >= 0 and rows.result.max() <= 1:
        return
    rows.reject((rows.result < 0) | (rows.result > 1), "impossible result")
    if played:
        unknown, says = np.isnan(rows.result), np.zeros(rows.fault.size, bool)
        for column in (rows.table[rows.found[key]] for key in OUTCOME if key in rows.found):
            # What is neither blank nor a word for nothing, and no number.
            (code,), entries = encode_names(column)
            says |= np.append(without_stand_ins(entries), False)[code] & np.isnan(read_numbers(column))
        word = "result" if scores is None else "score"
        rows.reject(unknown & says, f"unreadable {word}")
        rows.reject(unknown, f"missing {word}")
