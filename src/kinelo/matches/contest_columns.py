"""Which column of a long table of contests means what, by its header. To accept another header, add it to its list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kinelo.errors import InputError
from kinelo.matches.columns import MATCH_COLUMNS, find_columns, listed

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


def are_contests(present: Iterable[str], given: Mapping[str, str] | None = None) -> bool:
    """Whether a table of these columns holds contests, one row per entrant, and not matches of two sides.

    >>> are_contests(["date", "race", "driver", "position"]), are_contests(["date", "home", "away", "score"])
    (True, False)
    """
    columns = list(present)
    if given and set(given) - set(CONTEST_COLUMNS):
        return False
    if given and set(given) - set(MATCH_COLUMNS):
        return True
    sides = find_columns(columns, {**MATCH_COLUMNS, "opponent": ("opponent", "opp", "opponentname", "gegner")}, None)
    if {"home", "away"} & sides.keys() or "opponent" in sides:
        return False
    found = find_contest_columns(columns, given)
    return "entrant" in found and "place" in found and ("contest" in found or "date" in found)


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
