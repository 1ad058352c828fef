"""Which column of a long table of contests means what, by its header. To accept another header, add it to its list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from kinelo.errors import InputError
from kinelo.matches.columns import LOSER_COLUMNS, MATCH_COLUMNS, find_columns, listed

CONTEST_COLUMNS: dict[str, tuple[str, ...]] = {
    "date": (*MATCH_COLUMNS["date"], "racedate", "eventdate", "contestdate"),
    "contest": (
        "contest", "contestid", "contestname", "raceid", "race", "racename", "eventid", "event", "gameid", "game",
        "matchid", "match", "tournamentid", "tournament", "meeting", "competition", "heat", "lobby", "table",
        "roundid", "round", "rennen", "wettkampf", "corrida", "prova", "carrera", "course", "gara", "wedstrijd", "id",
    ),
    "season": ("season", "year", "saison", "temporada", "stagione", "seizoen"),
    "entrant": (
        "entrant", "entrantid", "competitor", "participant", "contestant", "driver", "driverid", "drivername", "rider",
        "athlete", "runner", "skier", "swimmer", "cyclist", "player", "playerid", "playername", "user", "username",
        "handle", "bot", "agent", "model", "horse", "boat", "crew", "team", "teamid", "teamname", "name", "fahrer",
        "spieler", "athlet", "piloto", "jogador", "jugador", "pilote", "joueur", "pilota", "giocatore", "speler",
    ),
    "place": (
        "place", "placing", "placement", "position", "pos", "finishposition", "finishingposition", "finalposition",
        "finish", "rank", "ranking", "finalrank", "standing", "platz", "rang", "colocacao", "posicao", "puesto",
        "posicion", "classement", "posizione", "piazzamento", "plaats",
    ),
    "score": (
        "score", "points", "pts", "total", "totalscore", "result", "punkte", "pontos", "puntos", "punti", "punten",
    ),
    "time": (
        "time", "racetime", "finishtime", "totaltime", "elapsed", "elapsedtime", "milliseconds", "millis", "ms",
        "seconds", "duration", "zeit", "tempo", "tiempo", "temps", "tijd",
    ),
    "status": ("status", "result_status", "resultstatus", "ended", "outcome", "state", "estado", "statut", "stato"),
    "distance": (
        "distance", "laps", "lapscompleted", "completedlaps", "lapsdone", "km", "kilometres", "kilometers", "miles",
        "distancekm", "distancecovered", "distancecompleted", "stages", "stagescompleted", "checkpoints", "rounds",
        "roundscompleted", "runden", "strecke", "distanz", "voltas", "distancia", "vueltas", "tours", "giri",
        "distanza", "ronden", "afstand",
    ),
    "title": (
        "title", "contestname", "racename", "eventname", "tournamentname", "gamename", "meetingname", "grandprix",
        "grandprixname", "gp", "race", "contest", "name", "titel", "titulo", "titre", "titolo",
    ),
    "weight": MATCH_COLUMNS["weight"],
}  # fmt: skip
"""What Kinelo reads of a contest, and what people call it."""

POINTS = ("points", "pts", "punkte", "pontos", "puntos", "punti", "punten")
"""Words for a score of which more is better; "score" alone does not say, as in golf."""


def check_contest_mapping(given: Mapping[str, str] | None) -> None:
    """Refuse a mapping that names something Kinelo does not read."""
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"columns must map what Kinelo reads to columns, not be {given!r:.60}.")
    for name, column in (given or {}).items():
        if name not in CONTEST_COLUMNS or not isinstance(column, str):
            raise InputError(
                f"The column mapping speaks of {name!r}; it may only send {', '.join(CONTEST_COLUMNS)} to a column."
            )


def find_contest_columns(present: Iterable[str], given: Mapping[str, str] | None) -> dict[str, str]:
    """What each column of a long table means; none of them twice.

    >>> find_contest_columns(["date", "race", "name", "driver", "position"], None)
    {'date': 'date', 'contest': 'race', 'entrant': 'driver', 'place': 'position', 'title': 'name'}
    """
    columns = list(present)
    found = find_columns(columns, CONTEST_COLUMNS, given)
    taken: dict[str, str] = {}
    for name in sorted(found, key=lambda name: name not in (given or {})):
        if found[name] not in taken.values():
            taken[name] = found[name]
    if "title" not in taken:
        rest = [column for column in columns if column not in taken.values()]
        taken |= find_columns(rest, {"title": CONTEST_COLUMNS["title"]}, None)
    if any(name in (given or {}) for name in ("place", "score", "time")):
        taken = {k: v for k, v in taken.items() if k not in ("place", "score", "time") or k in (given or {})}
    return {name: taken[name] for name in CONTEST_COLUMNS if name in taken}


def are_contests(table: pl.DataFrame, given: Mapping[str, str] | None = None) -> bool:
    """Whether a table (or its first rows) holds contests, one row per entrant, and not matches of two sides.

    Places tell. Scores and times may be those of the two sides of a match: there must be more than two rows of most
    contests.

    >>> are_contests(pl.DataFrame({"race": [1, 1], "driver": ["A", "B"], "position": [1, 2]}))
    True
    >>> are_contests(pl.DataFrame({"game": [1, 1], "player": ["A", "B"], "points": [1, 2]}))
    False
    """
    columns = table.columns
    if given and set(given) - set(CONTEST_COLUMNS):
        return False
    if given and set(given) - set(MATCH_COLUMNS):
        return True
    sides = find_columns(columns, {**MATCH_COLUMNS, "opponent": ("opponent", "opp", "opponentname", "gegner")}, None)
    if {"home", "away"} & sides.keys() or "opponent" in sides:
        return False
    found = find_contest_columns(columns, given)
    if "entrant" not in found or not {"contest", "date"} & found.keys():
        return False
    return "place" in found or ("contest" in found and bool({"score", "time"} & found.keys()) and _many(table, found))


def _many(table: pl.DataFrame, found: Mapping[str, str]) -> bool:
    """Whether most contests have more than two rows, and nobody is called a winner or loser."""
    keys = [found[name] for name in ("contest", "season", "date") if name in found]
    of_winners = find_columns(table.columns, LOSER_COLUMNS, None)
    return not of_winners and table.height > 0 and bool((table.group_by(keys).len()["len"] > 2).mean() > 0.5)  # type: ignore[operator]


def contest_hint(columns: Iterable[str]) -> str:
    """What to say beside a table that is none of matches, where its rows may be entrants of contests."""
    found = find_contest_columns(columns, None)
    if not {"entrant", "contest"} <= found.keys():
        return ""
    return (
        " If each row is an entrant of a contest of many, kinelo.read_contests reads it: name its place, score or time "
        "(--column place=...)."
    )


def needed_columns(found: Mapping[str, str], columns: Iterable[str], name: str, played: bool) -> None:
    """Refuse a table that lacks what makes a contest."""
    beside = f"its columns are {listed(columns)}"
    if "entrant" not in found:
        raise InputError(
            f"{name} has no column of entrants; name it with columns={{'entrant': ...}} "
            f"(--column entrant=... on the command line), {beside}."
        )
    if "contest" not in found and "date" not in found:
        raise InputError(
            f"{name} has neither contests nor dates, so that nothing tells which rows belong together; name a column "
            f"with columns={{'contest': ...}} (--column contest=...), {beside}."
        )
    if played and not {"place", "score", "time"} & found.keys():
        raise InputError(
            f"{name} has no places, scores or times; name one with columns={{'place': ...}} (or 'score', 'time'; "
            f"--column place=... on the command line), {beside}."
        )
