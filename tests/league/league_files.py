"""The games of a league as people keep them: one writer per habit, all of the same games."""

import csv
import gzip
import io
import json
from collections.abc import Iterable
from pathlib import Path

from made_up_league import NEW_NAME, OLD_NAME, Game


def table(rows: Iterable[Iterable], separator: str = ",") -> str:
    """Rows as text, quoted where a name holds what the format uses."""
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
    return text.getvalue()


def write_plain(games: list[Game], path: Path) -> None:
    """Identifiers, ISO dates, two scores, venues, surfaces."""
    rows = [(g.id, g.date, g.name(g.home), g.name(g.away), *g.score, g.neutral, g.surface) for g in games]
    head = ("match_id", "date", "home_team", "away_team", "home_score", "away_score", "neutral", "surface")
    path.write_text(table([head, *rows]), encoding="utf-8")


def write_lineups(games: list[Game], path: Path) -> None:
    """One row per player; minutes with a decimal comma."""
    rows = [
        (g.id, side, name, f"{minutes:.1f}".replace(".", ","), "yes" if starter else "no")
        for g in games
        for side, players in zip("HA", g.players)
        for name, minutes, starter in players
    ]
    path.write_text(table([("match_id", "side", "player", "minutes", "started"), *rows]), encoding="utf-8")


def write_spreadsheet(games: list[Game], path: Path) -> None:
    """A mark at the beginning, semicolons, days first, scores in one cell, decimal commas, columns of no use."""
    rows = []
    for g in reversed(games):
        line = f"{g.score[0]}:{g.score[1]}" + (f" ({g.shootout[0]}:{g.shootout[1]} pens)" if g.shootout else "")
        day = g.date.strftime("%d.%m.%Y")
        rows.append((g.id, day, g.name(g.home), g.name(g.away), line, "ja" if g.neutral else "", "1,50", "18°C"))
    head = ("id", "Date", "Home", "Away", "Score", "neutral?", "weight", "weather")
    path.write_text(table([head, *rows], ";"), encoding="utf-8-sig")


def write_old_program(games: list[Game], path: Path) -> None:
    """UTF-16 with tabs; 03/04/2021 is the third of April, which only other rows tell."""
    rows = [(g.id, g.date.strftime("%d/%m/%Y"), g.name(g.home), g.name(g.away), *g.score, g.neutral) for g in games]
    head = ("game_id", "played_on", "team1", "team2", "score1", "score2", "neutral_site")
    path.write_text(table([head, *rows], "\t"), encoding="utf-16")


def write_american(games: list[Game], path: Path) -> None:
    """Months first with a time of day, compressed; words for results."""
    words = {1.0: "H", 0.5: "D", 0.0: "A"}
    rows = [
        (g.id, g.date.strftime("%m/%d/%Y") + " 19:30", g.name(g.home), g.name(g.away), words[g.result], int(g.neutral))
        for g in games
    ]
    text = table([("GameID", "Date", "HomeTeam", "AwayTeam", "FTR", "NeutralVenue"), *rows])
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def write_western(games: list[Game], path: Path) -> None:
    """Windows-1252, the names of winners, signed margins, spelt-out months."""
    rows = [
        (
            g.id, g.date.strftime("%d %B %Y"), g.name(g.home), g.name(g.away),
            "draw" if g.result == 0.5 else g.name(g.home if g.result else g.away),
            g.score[0] - g.score[1], "y" if g.neutral else "n",
        )
        for g in games
    ]  # fmt: skip
    head = ("match", "date", "home", "away", "winner", "goal_difference", "is_neutral")
    path.write_bytes(table([head, *rows]).encode("cp1252"))


def write_winners(games: list[Game], path: Path) -> None:
    """A tour: winner, loser and their scores, with the surface."""
    rows = []
    for g in games:
        order = (0, 1) if g.result == 1.0 else (1, 0)
        names = (g.name(g.home), g.name(g.away))
        rows.append(
            (g.id, g.date.strftime("%Y%m%d"), *(names[k] for k in order), *(g.score[k] for k in order), g.surface)
        )
    head = ("match_id", "tourney_date", "winner_name", "loser_name", "winner_score", "loser_score", "surface")
    path.write_text(table([head, *rows]), encoding="utf-8")


def write_team_rows(games: list[Game], path: Path) -> None:
    """One row per team; the away side may stand first."""
    rows = []
    for number, g in enumerate(games):
        places = ("neutral", "neutral") if g.neutral else ("home", "away")
        both = [(g.id, g.date, g.name(s), goals, v) for s, goals, v in zip((g.home, g.away), g.score, places)]
        rows += both[::-1] if number % 2 and not g.neutral else both
    path.write_text(table([("match_id", "date", "team", "goals", "venue"), *rows]), encoding="utf-8")


def write_lines(games: list[Game], path: Path) -> None:
    """JSON lines with line-ups as lists in each match, results on the signed scale."""
    rows = [
        {
            "match_id": g.id, "date": g.date.isoformat(), "home": g.name(g.home), "away": g.name(g.away),
            "result": int(2 * g.result - 1), "neutral": g.neutral,
            "home_lineup": [name for name, _, _ in g.players[0]], "away_lineup": [name for name, _, _ in g.players[1]],
        }
        for g in games
    ]  # fmt: skip
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")


def write_aliases(path: Path) -> None:
    """The one club that changed its name."""
    path.write_text(table([("found", "wanted"), (OLD_NAME, NEW_NAME)]), encoding="utf-8")


SPOILT = {
    "unreadable date": ("X1", "someday", "Ashford", "Elswick", 1, 0, "", "played"),
    "missing side": ("X2", "2021-01-02", "Ashford", "", 1, 0, "", "played"),
    "a side against itself": ("X3", "2021-01-02", "Ashford", "Ashford", 1, 0, "", "played"),
    "forfeit or awarded match": ("X4", "2021-01-02", "Ashford", "Elswick", 3, 0, "", "Awarded"),
    "match not played to its end": ("X5", "2021-01-02", "Ashford", "Elswick", 1, 1, "", "abandoned (fog)"),
    "missing score": ("X6", "2021-01-02", "Ashford", "Elswick", "", "", "", "played"),
    "impossible score": ("X7", "2021-01-02", "Ashford", "Elswick", -1, 0, "", "played"),
    "missing match id": ("", "2021-01-02", "Ashford", "Elswick", 1, 0, "", "played"),
    "a name that stands for none": ("X8", "2021-01-02", "Ashford", "NA", 1, 0, "", "played"),
}
"""A row for each reason for which a file's row is set aside."""


def write_spoilt(games: list[Game], path: Path) -> None:
    """Good rows, a bad one of each kind between them, and the first five once more."""
    rows = [(g.id, g.date, g.name(g.home), g.name(g.away), *g.score, g.neutral, "played") for g in games]
    head = ("match_id", "date", "home", "away", "home_goals", "away_goals", "neutral", "status")
    path.write_text(table([head, *rows[:50], *SPOILT.values(), *rows[50:], *rows[:5]]), encoding="utf-8")
