"""What a match ended in, from a column of words, names of winners, score lines or numbers: 1 won, ½ drawn, 0 lost.

Numbers come on two scales. Points are 0, ½, 1; signed results are −1, 0, 1, and a negative number gives them away. A
column of nothing but 0 and 1 is read as points, where 0 is a defeat: only ``results="signed"`` makes it a draw.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.fields import holds_numbers, read_numbers
from kinelo.matches.names import encode_names
from kinelo.model.validation import one_line

Scale = Literal["points", "signed"]
HOME_WORDS = (
    "h", "home", "w", "win", "won", "home win", "model_a", "player_a", "team_a", "white", "left",
    "heim", "heimsieg", "mandante", "casa", "local", "domicile", "thuis",
)  # fmt: skip
DRAW_WORDS = (
    "d", "draw", "drawn", "x", "t", "tie", "tied", "1/2-1/2", "½-½", "½", "1/2", "tie (bothbad)",
    "unentschieden", "remis", "empate", "nul", "match nul", "pareggio", "gelijk", "gelijkspel",
)  # fmt: skip
AWAY_WORDS = (
    "a", "away", "l", "loss", "lost", "away win", "model_b", "player_b", "team_b", "black", "right",
    "gast", "gastsieg", "auswärts", "auswärtssieg", "visitante", "fora", "exterieur", "extérieur", "ospite",
    "trasferta", "uit",
)  # fmt: skip

AS_POINTS = "results were read as 0 for an away win, 0.5 for a draw, 1 for a home win"
AS_SIGNED = "results were read as -1 for an away win, 0 for a draw, 1 for a home win"
AS_SIDES = "results were read as 1 where the first side won and 2 where the second did"
AS_WINNERS = f"{AS_SIDES}, and 0 where nobody did"
NO_WINNER = ("none", "nobody", "no one", "no winner", "neither", "0", "-", "draw/tie", "niemand", "keiner", "nadie")
"""What stands in a column of winners where there was none."""
DOUBTFUL = "results are all 0 or 1 and were read as away win and home win; if 0 means a draw, say results='signed'"
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


def check_scale(results: str | None) -> None:
    """Refuse a scale of results that does not exist."""
    if results is not None and not (isinstance(results, str) and results in ("points", "signed")):
        raise InputError(
            f"Results={one_line(results)} is not a scale; it is 'points' (0, ½, 1) or 'signed' (-1, 0, 1)."
        )


def read_results(
    column: pl.Series, home: pl.Series, away: pl.Series, scale: Scale | None, *, winners: bool = False
) -> tuple[NDArray[np.float64], str]:
    """Results in [0, 1] and a remark on how they were read; numbers that are no result stay outside [0, 1].

    ``winners`` says that the column is called after the winner: 1 and 2 are sides then, and 0 or "none" is a draw.
    """
    numbers = read_numbers(column)
    least = np.fmin.reduce(numbers)
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
    # A side may be called "A" or "Home": names hold where they explain every match that was not drawn.
    if np.all(np.isfinite(named) | (worded == 0.5) | text.is_null().to_numpy()):
        return np.where(np.isnan(named), worded, named), "results were read from the names of winners"
    return np.where(np.isnan(worded), named, worded), "results were read from words"


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
        return numbers.copy(), DOUBTFUL
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
    text = pl.Series([*(_with_points(line) for line in lines), None], dtype=pl.String)
    parts = text.str.extract_groups(SCORE_LINE).struct
    home, away = read_numbers(parts.field("home")).copy(), read_numbers(parts.field("away")).copy()
    margin = home - away
    by_sets = np.zeros(len(text), bool)
    for k, line in enumerate(lines):
        if np.isnan(home[k]) and (sets := read_sets(line)) is not None:
            (home[k], away[k], margin[k]), by_sets[k] = sets, True
    clocks = _kick_offs(text, home, away)
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


def _kick_offs(text: pl.Series, home: NDArray[np.float64], away: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which lines are times of day such as 19:30, where scores with a colon stand beside them.

    A second number such as 05 is no score. Without one, times are full fives beyond all that the other lines say.
    """
    clock = text.str.contains(CLOCK).fill_null(False).to_numpy() & (away % 5 == 0)
    sure = text.str.contains(r":0\d\s*$").fill_null(False).to_numpy() & clock
    most = np.nanmax(np.where(clock, np.nan, np.fmax(home, away)), initial=0.0)
    others = np.isfinite(home) & ~clock
    beyond = clock & (np.fmax(home, away) > most)
    if others.any() and np.array_equal(beyond, clock) and most < LOW_SCORES:
        return clock
    return clock if sure.any() and not others.any() else sure


def _with_points(line: str) -> str:
    """A score line in lower case, with halves as decimals: ``2½-1½``, ``2,5-1,5`` and ``1/2-1/2``."""
    line = line.lower().replace("1/2-1/2", "½-½")
    line = re.sub(r"(?<![\d.])([1-9]\d{0,2})\.(?!000|500)(\d{3})(?![\d.])", r"\1\2", line)  # 1.012-998
    line = re.sub(r"(\d*)½", lambda found: f"{found[1] or 0}.5", line)
    return re.sub(r"^(\s*\d+),([05]\s*[-:−–—x×]\s*\d+),([05]\s*)$", r"\1.\2.\3", line)


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
    one, other = name.astype(np.uint64)[winner], name.astype(np.uint64)[loser]
    with np.errstate(over="ignore"):
        mixed = (one + other) * ODD ^ day.astype(np.uint64) * np.uint64(0xD1342543DE82EF95)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * ODD
    turned = (mixed >> np.uint64(63)).astype(bool)
    return (one > other) ^ turned
