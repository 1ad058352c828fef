"""Tournament reports in FIDE's format (TRF, edition of 2016): players and their games, round by round.

A line begins with a number of three digits: 012 is the name of the tournament, 042 the day it began, 132 the days
of its rounds, 001 a player. Of a player, columns 5 to 8 hold the starting rank, 15 to 47 the name, 49 to 52 the rating,
58 to 68 the number at FIDE, 70 to 79 the day of birth; from column 92 on every round has ten: opponent, colour, result.
"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import NamedTuple

import polars as pl

from kinelo.errors import InputError
from kinelo.presentation import counted

PLAYER_LINE = re.compile(rb"^001 [ \d]{3}\d [ \S]", re.MULTILINE)
TITLE_LINE = re.compile(rb"^(?:0[0-9]2|132|0?13|XX[A-Z]|001)(?: |\r|$)")
POINTS = {"1": 1.0, "=": 0.5, "0": 0.0}
UNPLAYED = {"+": "forfeits", "-": "forfeits", "H": "byes", "F": "byes", "U": "byes", "Z": "byes", "": "byes"}
UNRATED = ("W", "D", "L")
MIRRORED = {"1": "0", "0": "1", "=": "=", "W": "L", "L": "W", "D": "D"}
ROUNDS_FROM, ROUND_WIDTH = 91, 10


class ReportedPlayer(NamedTuple):
    """One player of a report; ``rounds`` holds opponent (rank), colour and result of each round."""

    line: int
    rank: int
    name: str
    title: str
    rating: int | None
    federation: str
    fide_id: str
    born: str
    rounds: tuple[tuple[int, str, str], ...]


class Report(NamedTuple):
    """A tournament report as it was read."""

    event: str
    players: dict[int, ReportedPlayer]
    games: pl.DataFrame
    notes: tuple[str, ...]


def is_report(raw: bytes) -> bool:
    """Whether text is a tournament report: it begins with a numbered line, and holds players."""
    return bool(TITLE_LINE.match(raw.lstrip()[:8])) and PLAYER_LINE.search(raw) is not None


def holds_report(path: Path) -> bool:
    """Whether a file is a tournament report, by its beginning."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return is_report(file.read(1 << 16).replace(b"\r", b"\n"))


def read_report(raw: bytes, name: str) -> Report:
    """Read a tournament report; games are told by both players, and must be told alike."""
    lines = raw.decode("utf-8", "replace").splitlines()
    headings = {line[:3]: line[4:].strip() for line in reversed(lines) if line[:3] in ("012", "042", "052")}
    players: dict[int, ReportedPlayer] = {}
    for number, line in enumerate(lines, 1):
        if not line.startswith("001"):
            continue
        player = _player(line, number, name)
        if player.rank in players:
            raise InputError(f"{name}, line {number}: the starting rank {player.rank} stands twice.")
        players[player.rank] = player
    days, dated = _days(lines, headings.get("042", ""), max(len(one.rounds) for one in players.values()), name)
    rows, left_out = _games(players, name)
    names, event = names_by_rank(players), headings.get("012") or "the tournament"
    table = pl.DataFrame(
        {
            "match_id": pl.Series([f"{event} {k + 1}.{white}" for k, white, *_ in rows], dtype=pl.String),
            "date": pl.Series([days[k] for k, *_ in rows], dtype=pl.Date),
            "round": pl.Series([k + 1 for k, *_ in rows], dtype=pl.Int64),
            "White": pl.Series([names[white] for _, white, *_ in rows], dtype=pl.String),
            "Black": pl.Series([names[black] for _, _, black, _ in rows], dtype=pl.String),
            "result": pl.Series([points for *_, points in rows], dtype=pl.Float64),
            "event": pl.Series([event] * len(rows), dtype=pl.String),
        }
    )
    notes = [f"the file is a tournament report of {counted(len(players), 'player', 'players')}"]
    if left_out:
        notes.append("not played or not rated, and left out: " + ", ".join(f"{n:,} {w}" for w, n in left_out.items()))
    if not dated:
        notes.append("the report does not say when each round was played: all count as played on its first day")
    return Report(event, players, table, tuple(notes))


def _player(line: str, number: int, name: str) -> ReportedPlayer:
    def cut(first: int, last: int) -> str:
        return line[first - 1 : last].strip()

    rank, rating = cut(5, 8), cut(49, 52)
    if not rank.isdigit() or not cut(15, 47) or not (rating.isdigit() or not rating):
        raise InputError(
            f"{name}, line {number}: a player has a starting rank in columns 5 to 8, a name in 15 to 47 and a rating "
            "in 49 to 52."
        )
    rounds = []
    for start in range(ROUNDS_FROM, len(line.rstrip()), ROUND_WIDTH):
        opponent, colour, result = (line[start + a : start + b].strip() for a, b in ((0, 4), (5, 6), (7, 8)))
        known = result in POINTS or result in UNPLAYED or result.upper() in (*UNRATED, *UNPLAYED)
        if not (opponent.isdigit() or not opponent) or not known or colour not in ("w", "b", "-", ""):
            raise InputError(
                f"{name}, line {number}: round {len(rounds) + 1} says {line[start : start + 8].strip()!r}, which is no "
                "opponent, colour and result."
            )
        rounds.append((int(opponent or 0), colour, result.upper()))
    return ReportedPlayer(
        number, int(rank), cut(15, 47), cut(11, 13), int(rating or 0) or None, cut(54, 56), cut(58, 68), cut(70, 79),
        tuple(rounds),
    )  # fmt: skip


def _games(players: dict[int, ReportedPlayer], name: str) -> tuple[list[tuple[int, int, int, float]], dict[str, int]]:
    """Round, ranks of White and Black and the points of White, of every game that was played; and what was not."""
    rows, left_out = [], {}
    for rank, player in players.items():
        for k, (other, colour, result) in enumerate(player.rounds):
            kind = "games that are not rated" if result in UNRATED else UNPLAYED.get(result)
            if kind is not None or not other:
                if kind == "byes" and not result and not other:
                    continue
                told_twice = other and other in players and rank > other
                if not told_twice:
                    left_out[kind or "byes"] = left_out.get(kind or "byes", 0) + 1
                continue
            mirror = players[other].rounds[k : k + 1] if other in players else ()
            opposite = {"w": "b", "b": "w"}.get(colour)
            if not mirror or mirror[0] != (rank, opposite, MIRRORED[result]):
                raise InputError(
                    f"{name}, line {player.line}: round {k + 1} says {colour}{result} against number {other}, whose "
                    "own line does not say the same."
                )
            if colour == "w":
                rows.append((k, rank, other, POINTS[result]))
    return sorted(rows), left_out


def _days(lines: list[str], start: str, rounds: int, name: str) -> tuple[list[date | None], bool]:
    """The day of each round, and whether the report says them; else the first day of all."""
    dates = next((line for line in lines if line.startswith("132")), "")
    cells = [dates[ROUNDS_FROM + k * ROUND_WIDTH :][:8].strip() for k in range(rounds)]
    if rounds and all(cells):
        return [_day(cell, name) for cell in cells], True
    first = _day(start, name) if start else None
    return [first] * rounds, False


def _day(text: str, name: str) -> date:
    """A day as reports write it: YYYY/MM/DD, YY/MM/DD, or with other signs; a year of two digits is of this century."""
    numbers = re.fullmatch(r"(\d{4}|\d{2})[/.-](\d{1,2})[/.-](\d{1,2})", text)
    if numbers is None:
        turned = re.fullmatch(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})", text)
        parts = None if turned is None else turned.group(3, 2, 1)
    else:
        parts = numbers.groups()
    try:
        year, month, day = map(int, parts or ())
        return date(year + 2000 if year < 100 else year, month, day)
    except ValueError:
        raise InputError(f"{name} says the day {text!r}, which is not written as YYYY/MM/DD.") from None


def names_by_rank(players: dict[int, ReportedPlayer]) -> dict[int, str]:
    """Names by rank; of players of one name, with their number at FIDE or their rank."""
    count: dict[str, int] = {}
    for player in players.values():
        count[player.name] = count.get(player.name, 0) + 1
    return {
        rank: one.name if count[one.name] == 1 else f"{one.name} ({one.fide_id or rank})"
        for rank, one in players.items()
    }
