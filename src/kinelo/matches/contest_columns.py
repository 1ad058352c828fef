"""Which column of a long table of contests means what, by its header. To accept another header, add it to its list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from kinelo.errors import InputError
from kinelo.matches.columns import MATCH_COLUMNS, find_columns, listed
from kinelo.matches.names import as_text

CONTEST_COLUMNS: dict[str, tuple[str, ...]] = {
    "date": (*MATCH_COLUMNS["date"], "racedate", "eventdate", "contestdate"),
    "contest": (
        "contest", "contestid", "contestname", "raceid", "race", "racename", "eventid", "event", "gameid", "game",
        "matchid", "match", "tournamentid", "tournament", "meeting", "competition", "heat", "lobby", "table",
        "roundid", "round", "rennen", "wettkampf", "corrida", "prova", "carrera", "course", "gara", "wedstrijd", "id",
        "sheet",
    ),
    "season": ("season", "year", "saison", "temporada", "stagione", "seizoen"),
    "entrant": (
        "entrant", "entrantid", "competitor", "participant", "contestant", "driver", "driverid", "drivername", "rider",
        "athlete", "runner", "skier", "swimmer", "cyclist", "player", "playerid", "playername", "user", "username",
        "handle", "bot", "agent", "model", "horse", "boat", "yacht", "skipper", "helm", "helmsman", "sailor", "crew",
        "team", "teamid", "teamname", "club", "name", "sailno", "sailnumber", "fahrer",
        "spieler", "athlet", "piloto", "jogador", "jugador", "pilote", "joueur", "pilota", "giocatore", "speler",
    ),
    "place": (
        "place", "placing", "placement", "position", "pos", "finishposition", "finishingposition", "finalposition",
        "finish", "rank", "ranking", "rk", "rnk", "plc", "finalrank", "standing", "platz", "rang", "colocacao",
        "posicao", "puesto", "posicion", "classement", "posizione", "piazzamento", "plaats",
    ),
    "score": (
        "score", "points", "pts", "total", "totalscore", "result", "punkte", "pontos", "puntos", "punti", "punten",
        "strokes", "topar", "faults",
    ),
    "time": (
        "time", "racetime", "finishtime", "totaltime", "elapsed", "elapsedtime", "milliseconds", "millis", "ms",
        "seconds", "duration", "guntime", "chiptime", "nettime", "officialtime", "zeit", "tempo", "tiempo", "temps",
        "tijd",
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
    "group": (),
}  # fmt: skip
"""What Kinelo reads of a contest, and what people call it."""

PARTS = (
    "heat", "group", "pool", "session", "division", "class", "category", "flight", "fleet", "wave", "section", "final",
    "gender", "sex", "racetype", "eventtype", "type", "format", "discipline", "event", "agegroup", "leg", "run",
    "stage", "round", "race", "raceno", "racenumber", "grp", "cat", "cls", "div", "manche", "lauf", "gruppe", "klasse",
    "serie", "series", "bateria", "batterie", "batteria", "categoria", "categorie", "kategorie", "sprint", "starttime",
    "start", "off", "offtime", "posttime",
    "course", "racecourse", "track", "circuit", "venue",
)  # fmt: skip
"""Columns that may part one contest into several: heats, sprint and race, classes, race 1 of two courses."""

MEETS = ("meet", "meeting", "meetname", "competition", "tournament", "tournamentname", "regatta", "championship")
"""Columns that part contests of one name and day in any case: the 100 metres of two meets."""

ROUNDS = ("round", "rd", "stage", "leg", "run", "etape", "manche", "lauf", "runde", "tappa")
"""Columns of PARTS and their like of which a total may be made."""

FURTHER_HEADERS = (
    "nation", "nationality", "nat", "club", "country", "sailno", "sailnumber", "sail", "number", "no", "nr", "age",
    "class", "category", "division", "fleet", "gender", "sex", "type", "design", "helm", "crew", "skipper", "rating",
    "handicap", "py", "tcf", "born", "car", "constructor", "manufacturer", "make", "bib", "startnumber", "seed", "elo",
    "verein", "land", "nationalitat", "group", "heat", "notes", "comment", "remarks", "city", "town", "state", "school",
)  # fmt: skip
"""Columns of a sheet that say something of the entrant, not of a race."""

NATIONS = (
    "nation", "nationality", "nat", "noc", "country", "countrycode", "land", "pais", "pays", "paese", "born", "birth",
    "birthdate", "birthday", "dateofbirth", "dob", "yob", "birthyear", "yearofbirth", "jahrgang", "federation", "fed",
)  # fmt: skip
"""Columns that tell two people of one name apart."""

WORLD_RANKS = ("rank", "ranking", "rk", "rnk", "standing", "rang", "classement", "position", "pos", "seed", "seeding")
"""Headers of places that may hold something else than a result: a world ranking, a place on the grid."""

FEWEST = ("strokes", "topar", "par", "penalties", "penaltypoints", "faults", "schlage", "fehler")
"""Words for a score of which less is better."""

POINTS = ("points", "pts", "punkte", "pontos", "puntos", "punti", "punten")
"""Words for a score of which more is better; "score" alone does not say, as in golf."""


def check_contest_mapping(given: Mapping[str, str | Sequence[str]] | None) -> None:
    """Refuse a mapping that names something Kinelo does not read; only a contest may have several columns."""
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"columns must map what Kinelo reads to columns, not be {given!r:.60}.")
    for name, column in (given or {}).items():
        several = isinstance(column, list | tuple) and len(column) > 0 and all(isinstance(c, str) for c in column)
        if name not in CONTEST_COLUMNS or not (isinstance(column, str) or (several and name == "contest")):
            raise InputError(
                f"The column mapping speaks of {name!r}; it may only send {', '.join(CONTEST_COLUMNS)} to a column, "
                "and contest to several."
            )


def with_one_key(
    table: pl.DataFrame, given: Mapping[str, str | Sequence[str]] | None
) -> tuple[pl.DataFrame, dict[str, str] | None]:
    """The table and mapping with one column of contests, where several make one.

    >>> table = pl.DataFrame({"event": ["Monza", "Monza"], "division": ["GT3", None]})
    >>> joined, columns = with_one_key(table, {"contest": ["event", "division"]})
    >>> joined[columns["contest"]].to_list(), columns
    (['Monza GT3', 'Monza'], {'contest': 'event + division'})
    """
    several = (given or {}).get("contest")
    if given is None or several is None or isinstance(several, str):
        return table, given  # type: ignore[return-value]
    missing = [column for column in several if column not in table.columns]
    if missing:
        raise InputError(
            f"The column mapping sends 'contest' to {missing[0]!r:.60}, but the columns are {listed(table.columns)}."
        )
    name = " + ".join(dict.fromkeys(several))
    if name not in table.columns:
        parts = [as_text(table[column]).str.strip_chars().replace("", None).alias(column) for column in several]
        key = pl.DataFrame(parts).select(pl.concat_str(pl.all(), separator=" ", ignore_nulls=True)).to_series()
        table = table.with_columns(key.replace("", None).alias(name))
    return table, {k: v for k, v in given.items() if isinstance(v, str)} | {"contest": name}


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


def contest_hint(columns: Iterable[str]) -> str:
    """What to say beside a table that is none of matches, where its rows may be entrants of contests."""
    found = find_contest_columns(columns, None)
    if not {"entrant", "contest"} <= found.keys():
        return ""
    return (
        " If each row is an entrant of a contest of many, kinelo.read_contests reads it: name its place, score or time "
        "(columns={'place': ...})."
    )


def needed_columns(found: Mapping[str, str], columns: Iterable[str], name: str, played: bool) -> None:
    """Refuse a table that lacks what makes a contest."""
    beside = f"its columns are {listed(columns)}"
    if "entrant" not in found:
        raise InputError(f"{name} has no column of entrants; name it with columns={{'entrant': ...}}, {beside}.")
    if "contest" not in found and "date" not in found:
        raise InputError(
            f"{name} has neither contests nor dates, so that nothing tells which rows belong together; name a column "
            f"with columns={{'contest': ...}}, {beside}."
        )
    if played and not {"place", "score", "time"} & found.keys():
        raise InputError(
            f"{name} has no places, scores or times; name one with columns={{'place': ...}} (or 'score', 'time'), "
            f"{beside}."
        )
