"""Which column of a file means what: common names are recognised, and anything can be said by hand.

First the columns of matches, then those of contests, then where the header of a table stands. To accept another header,
add it to its list.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

import polars as pl

from kinelo.errors import InputError
from kinelo.matches.names import as_text
from kinelo.presentation import counted

MATCH_COLUMNS: dict[str, tuple[str, ...]] = {
    "date": (
        "date", "matchdate", "gamedate", "day", "datetime", "utcdate", "kickoff", "playedat", "playedon", "gameday",
        "tourneydate", "startdate", "starttime",
        "datum", "spieldatum", "tag", "data", "datajogo", "datapartida", "dia", "fecha", "fechapartido", "jour",
        "giorno", "dag",
    ),
    "home": (
        "home", "hometeam", "homename", "hometeamname", "homeside", "homeclub", "homeid", "hometeamid", "homeneutral",
        "team1", "teama", "player1", "playera", "white", "side1", "opponent1", "modela", "a", "left",
        "hname", "whiteplayer", "whiteid",
        "heim", "heimteam", "heimmannschaft", "heimverein", "gastgeber", "mannschaft1", "spieler1", "weiss",
        "mandante", "timemandante", "equipemandante", "clubemandante", "timecasa", "time1", "equipe1", "jogador1",
        "casa", "local", "equipolocal", "equipo1", "jugador1", "brancas", "blancas",
        "domicile", "equipedomicile", "joueur1", "blancs", "squadracasa", "squadra1", "giocatore1", "bianco",
        "thuis", "thuisploeg", "thuisteam", "thuisclub", "wit",
    ),
    "away": (
        "away", "awayteam", "awayname", "awayteamname", "awayside", "awayclub", "awayid", "awayteamid", "visitor",
        "visitorteam", "visitorneutral", "visiting", "visitingteam", "team2", "teamb", "player2", "playerb", "black",
        "side2", "opponent2", "modelb", "b", "right", "vname", "visitorname", "blackplayer", "blackid",
        "gast", "gastteam", "gastmannschaft", "gastverein", "auswarts", "auswaerts", "auswartsteam", "mannschaft2",
        "spieler2", "schwarz", "visitante", "timevisitante", "equipevisitante", "clubevisitante", "fora", "timefora",
        "time2", "equipe2", "jogador2", "equipovisitante", "visita", "equipo2", "jugador2", "pretas", "negras",
        "exterieur", "equipeexterieur", "visiteur", "visiteurs", "joueur2", "noirs", "ospite", "ospiti", "trasferta",
        "squadraospite", "squadratrasferta", "squadra2", "giocatore2", "nero", "uit", "uitploeg", "uitteam", "uitclub",
        "bezoekers", "zwart",
    ),
    "home_score": (
        "homescore", "homegoals", "homepoints", "homepts", "homeruns", "fthg", "hg", "hgoals", "scorehome", "goalshome",
        "score1", "scorea", "goals1", "homefulltimegoals", "hometeamscore", "hometeamgoals", "hscore", "hgoal",
        "heimtore", "toreheim", "torheim", "tore1", "golsmandante", "golscasa", "mandantegols", "placarmandante",
        "gols1", "goleslocal", "golescasa", "goles1", "butsdomicile", "buts1", "golcasa", "reticasa", "gol1",
        "doelpuntenthuis", "thuisdoelpunten",
    ),
    "away_score": (
        "awayscore", "awaygoals", "awaypoints", "awaypts", "awayruns", "ftag", "ag", "agoals", "scoreaway", "goalsaway",
        "score2", "scoreb", "goals2", "awayfulltimegoals", "awayteamscore", "awayteamgoals", "visitorgoals", "ascore",
        "vgoal", "vscore", "visitorscore", "visitingscore", "visitingteamscore",
        "gasttore", "toregast", "torgast", "tore2", "golsvisitante", "golsfora", "visitantegols", "placarvisitante",
        "gols2", "golesvisitante", "golesvisita", "goles2", "butsexterieur", "buts2", "goltrasferta", "golospite",
        "retitrasferta", "gol2", "doelpuntenuit", "uitdoelpunten",
    ),
    "result": (
        "result", "outcome", "outcomehome", "outcomehomeonpitch", "ftr", "res", "homeresult", "winner", "score",
        "fulltimeresult", "ergebnis", "endstand", "resultado", "placar", "marcador", "resultat", "risultato",
        "punteggio", "uitslag", "sieger", "vencedor", "ganador", "vainqueur", "vincitore", "winnaar",
    ),
    "home_games": ("homegames", "homesets", "sets1", "setsa", "setshome", "homesetswon", "games1", "gamesa",
                   "gameshome", "homegameswon", "setswon1", "gameswon1", "homelegs", "legs1", "legshome", "satze1",
                   "saetze1", "satzeheim", "heimsatze"),
    "away_games": ("awaygames", "awaysets", "sets2", "setsb", "setsaway", "awaysetswon", "games2", "gamesb",
                   "gamesaway", "awaygameswon", "setswon2", "gameswon2", "awaylegs", "legs2", "legsaway", "satze2",
                   "saetze2", "satzegast", "gastsatze"),
    "home_place": (),
    "away_place": (),
    "group": (),
    "margin": ("margin", "goaldifference", "homemargin", "pointdifference", "goaldiff", "goaldif", "tordifferenz"),
    "status": ("status", "matchstatus", "gamestatus", "situacao", "statut", "stato", "zustand", "spielstatus"),
    "retired": ("retired", "retirement", "isretired", "isretirement", "matchretired", "aufgabe", "aufgegeben", "ritiro",
                "abandoned", "isabandoned", "unfinished", "cancelled", "canceled", "iscancelled", "iscanceled"),
    "forfeit": ("forfeit", "forfeited", "isforfeit", "walkover", "awarded", "kampflos"),
    "neutral": (
        "neutral", "neutralsite", "neutralvenue", "isneutral", "neutralground", "neutralerort", "neutralerplatz",
        "neutro", "camponeutro", "camponeutral", "sedeneutral", "neutre", "terrainneutre", "neutraal",
    ),
    "season": ("season", "seasonid", "seasonname", "saison", "spielzeit", "temporada", "stagione", "seizoen"),
    "weight": ("weight", "matchweight", "importance", "gewicht", "peso", "poids"),
    "match_id": ("matchid", "gameid", "fixtureid", "id", "match", "eventid", "spielid", "idjogo", "idpartida",
                 "jogoid", "partidaid", "partidoid", "idpartido", "idmatch"),
    "home_lineup": ("homelineup", "homeplayers", "homeplayerids", "homexi", "lineuphome"),
    "away_lineup": ("awaylineup", "awayplayers", "awayplayerids", "awayxi", "lineupaway"),
    "home_minutes": ("homeminutes", "minuteshome"),
    "away_minutes": ("awayminutes", "minutesaway"),
}  # fmt: skip
"""What Kinelo reads, and what people call it: English, German, Portuguese, Spanish, French, Italian, Dutch."""

ORDER_COLUMNS: dict[str, tuple[str, ...]] = {
    "time": (
        "time", "timeofday", "matchtime", "gametime", "kickoff", "kickofftime", "starttime", "start", "startet", "hour",
        "timestamp", "tstamp", "uhrzeit", "anstoss", "hora", "horario", "heure", "ora", "orario", "tijd",
        "offtime", "posttime",
    ),
    "round": (
        "round", "roundname", "roundnumber", "rd", "matchday", "gameweek", "gw", "week", "stage", "phase", "spieltag",
        "runde", "rodada", "jornada", "ronda", "fase", "journee", "tour", "giornata", "turno", "speelronde", "ronde",
    ),
    "order": (
        "order", "matchorder", "playorder", "sequence", "seq", "matchnum", "matchnumber", "matchno", "matchnr",
        "gamenum", "gamenumber", "gameno", "numberofgame", "doubleheader", "spielnummer", "spielnr",
    ),
}  # fmt: skip
"""What tells the order of matches of one day; read only where a side plays more than once on a day."""

WAITING_COLUMNS = ("postponed", "ispostponed", "scheduled", "isscheduled", "upcoming", "isupcoming", "tocome")
"""Columns that may say with yes or no whether a match is still to come."""

FINISHED_COLUMNS = (
    "finished", "isfinished", "started", "hasstarted", "played", "isplayed", "completed", "iscompleted", "isresult",
    "ended", "isover",
    "gespielt", "beendet", "joue", "termine", "jugado", "finalizado", "jogado", "encerrado", "giocata", "gespeeld",
)  # fmt: skip
"""Columns that may say with yes or no whether a match was played."""

VENUE_COLUMNS = ("location", "venue", "site", "where", "homeaway", "homeoraway")
"""Columns that may say of each match whether the first side was at home; many hold the name of a place instead."""

SCORE_WORDS = (
    "g", "goals", "goal", "pts", "points", "runs", "r", "score", "s", "f", "t", "tore", "tor", "punkte", "gols", "gol",
    "pontos", "goles", "puntos", "buts", "reti", "punti", "doelpunten", "punten",
)  # fmt: skip
"""What two columns of one name are called that hold the scores of the sides beside them."""

LINEUP_COLUMNS: dict[str, tuple[str, ...]] = {
    "lineup_match": ("matchid", "gameid", "fixtureid", "match", "id", "eventid"),
    "side": ("side", "homeaway", "haindicator", "venue"),
    "team": ("team", "teamname", "teamid", "club"),
    "player": ("playerid", "player", "playername", "name"),
    "minutes": ("minutes", "minutesplayed", "min", "mins", "mp", "timeplayed"),
    "starter": ("starter", "started", "starting", "isstarter", "start"),
    "played": ("played", "didplay", "appeared"),
    "role": ("role", "position", "pos", "positioncode"),
}

WHITE = ("white", "whiteplayer", "whiteid", "weiss", "brancas", "blancas", "blancs", "bianco", "wit")
NAMED_FIRST = (
    "team1", "teama", "player1", "playera", "side1", "opponent1", "modela", "a", "left", "mannschaft1", "spieler1",
    "time1", "equipe1", "jogador1", "equipo1", "jugador1", "joueur1", "squadra1", "giocatore1",
)  # fmt: skip


def first_side(header: str) -> str:
    """What it is to be the side in the column of home sides, by the name of that column.

    >>> first_side("HomeTeam"), first_side("White"), first_side("model_a")
    ('playing at home', 'having White', 'being named first (model_a)')
    """
    plain = plain_name(header)
    if plain in WHITE:
        return f"having {header.strip().split()[0].capitalize()}" if plain != "white" else "having White"
    return f"being named first ({header.strip()})" if plain in NAMED_FIRST else "playing at home"


LOSER_COLUMNS = {
    "home": ("winner", "winnername", "winnerteam", "winnerid", "sieger", "vencedor", "ganador", "vainqueur",
             "vincitore", "winnaar"),
    "away": ("loser", "losername", "loserteam", "loserid", "verlierer", "perdedor", "perdant", "perdente",
             "verliezer"),
}  # fmt: skip

LOSER_DETAILS = {
    "home_score": ("winnerscore", "wscore", "winnerpoints", "wpts", "winnergoals", "winningscore"),
    "away_score": ("loserscore", "lscore", "loserpoints", "lpts", "losergoals", "losingscore"),
    "home_lineup": ("winnerlineup", "winnerplayers"),
    "away_lineup": ("loserlineup", "loserplayers"),
    "home_minutes": ("winnerminutes",),
    "away_minutes": ("loserminutes",),
}


WINNERS = (*LOSER_COLUMNS["home"], "winningside", "winningteam", "winnerside", "winneris", "whowon")
"""Columns that say who won, perhaps as 1 or 2."""

MOST_LISTED = 20


def listed(names: Iterable[str]) -> str:
    """Names of columns for a sentence; of very many, the first.

    >>> listed(["date", "home"])
    "'date', 'home'"
    """
    every = list(names)
    more = f" and {len(every) - MOST_LISTED:,} more" if len(every) > MOST_LISTED else ""
    return ", ".join(map(repr, every[:MOST_LISTED])) + more


@lru_cache(4096)
def plain_name(name: str) -> str:
    """A name of a column without case, accents and signs."""
    if not name.isascii():
        name = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    return re.sub(r"[^a-z0-9]", "", name.lower())


def find_columns(
    present: Iterable[str], known: Mapping[str, tuple[str, ...]], given: Mapping[str, str] | None
) -> dict[str, str]:
    """Map each of our names to a column of the table: as ``given``, else by the first common name that is present.

    >>> find_columns(["Date", "HomeTeam", "AwayTeam", "FTR"], MATCH_COLUMNS, None)
    {'date': 'Date', 'home': 'HomeTeam', 'away': 'AwayTeam', 'result': 'FTR'}
    """
    columns = dict.fromkeys(present)
    by_plain: dict[str, str] = {}
    for column in columns:
        by_plain.setdefault(plain_name(column), column)
    column_of = {}
    for name, usual in known.items():
        if given and name in given:
            column_of[name] = given[name]
        else:
            match = next((by_plain[word] for word in usual if word in by_plain), None)
            if match is not None and match not in (given or {}).values():
                column_of[name] = match
    for name, column in column_of.items():
        if column not in columns:
            raise InputError(f"The column mapping sends {name!r} to {column!r}, but its columns are {listed(columns)}.")
    return column_of


def distinct_names(names: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Names of columns with each only once, and a note: of two that share a name, each belongs to the side beside it.

    Where two columns share a name and the order does not say which side each belongs to, the table is refused.

    >>> distinct_names(["Date", "Visitor", "G", "Home", "G"])[0]
    ['Date', 'Visitor', 'away_score', 'Home', 'home_score']
    """
    count = Counter(name for name in names if name.strip())
    twice = [name for name, number in count.items() if number > 1]
    if not twice:
        return list(names), ()
    sides = find_columns([name for name in names if count[name] == 1], MATCH_COLUMNS, None)
    distinct, notes = list(names), []
    for name in twice:
        # One stands behind each side, or one before each.
        places = [k for k, other in enumerate(names) if other == name]
        at = sorted((list(names).index(sides[side]), side) for side in ("home", "away") if side in sides)
        (first, one), (second, other) = at if len(at) == len(places) == 2 else ((0, ""), (0, ""))
        if not (first < places[0] < second < places[1] or places[0] < first < places[1] < second):
            raise InputError(f"The table has two columns called {name!r}; give each its own name.")
        for place, side in zip(places, (one, other)):
            distinct[place] = f"{side}_score" if plain_name(name) in SCORE_WORDS else f"{sides[side]} {name}"
        notes.append(f"two columns are called {name!r}: each was taken for the side it stands beside")
    if len(set(distinct) - {""}) < sum(bool(name.strip()) for name in distinct):
        raise InputError(f"The table has two columns called {twice[0]!r}; give each its own name.")
    return distinct, tuple(notes)


RATING_WORDS = (
    "elorating", "ratingelo", "ratingbefore", "prerating", "fiderating", "wertungszahl", "rating", "elo", "dwz", "rtg",
)  # fmt: skip
"""What a column is called, before or after the word for a side, that states the rating of that side."""


def rating_columns(present: Iterable[str], sides: Mapping[str, str]) -> tuple[str, str] | None:
    """The columns that state a rating of both sides of a match, beside those of the ``sides`` themselves.

    >>> rating_columns(["White", "Elo White", "Black", "Elo Black"], {"home": "White", "away": "Black"})
    ('Elo White', 'Elo Black')
    >>> rating_columns(["home", "away", "h_elo", "a_elo"], {"home": "home", "away": "away"})
    ('h_elo', 'a_elo')
    """
    stated: dict[str, str] = {}
    for column in present:
        plain = plain_name(column)
        word = next((w for w in RATING_WORDS if plain != w and (plain.startswith(w) or plain.endswith(w))), None)
        if word is not None:
            stated.setdefault(plain.removeprefix(word) if plain.startswith(word) else plain.removesuffix(word), column)
    if {"h", "a"} <= stated.keys():
        return stated["h"], stated["a"]
    words = [
        (plain_name(sides[side]), *MATCH_COLUMNS[side], *LOSER_COLUMNS[side], *more)
        for side, more in (("home", ("1", "w")), ("away", ("2", "b", "v")))
    ]
    first, second = (next((stated[word] for word in own if word in stated), None) for own in words)
    return None if first is None or second is None else (first, second)


def check_mapping(given: object, known: Collection[str], several: Collection[str] = ()) -> None:
    """Refuse a mapping that names what Kinelo does not read, or sends it to no column; some may have several."""
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise InputError(f"columns must be a mapping such as {{'date': 'day'}}, not {type(given).__name__}.")
    for name, column in given.items():
        if name not in known:
            raise InputError(f"The column mapping speaks of {name!r:.60}; it may only contain {', '.join(known)}.")
        many = isinstance(column, list | tuple) and len(column) > 0 and all(isinstance(c, str) for c in column)
        if not isinstance(column, str) and not (many and name in several):
            more = " or several" if name in several else ""
            raise InputError(f"The column mapping sends {name!r} to {column!r:.60}; name one column{more}.")


MATCH_MAPPING = (*MATCH_COLUMNS, *ORDER_COLUMNS, *LINEUP_COLUMNS)
"""What users may say the columns of matches mean."""

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
    columns_found = find_columns(columns, CONTEST_COLUMNS, given)
    taken: dict[str, str] = {}
    for name in sorted(columns_found, key=lambda name: name not in (given or {})):
        if columns_found[name] not in taken.values():
            taken[name] = columns_found[name]
    if "title" not in taken:
        rest = [column for column in columns if column not in taken.values()]
        taken |= find_columns(rest, {"title": CONTEST_COLUMNS["title"]}, None)
    if any(name in (given or {}) for name in ("place", "score", "time")):
        taken = {k: v for k, v in taken.items() if k not in ("place", "score", "time") or k in (given or {})}
    return {name: taken[name] for name in CONTEST_COLUMNS if name in taken}


ROWS_ABOVE = 30
"""Rows above a header at most."""

KNOWN = frozenset(
    word
    for columns in (MATCH_COLUMNS, CONTEST_COLUMNS, ORDER_COLUMNS, LINEUP_COLUMNS, LOSER_COLUMNS)
    for words in columns.values()
    for word in words
    if len(word) > 1
)
NUMBER_OR_DATE = re.compile(r"[\d.,:/%+\-−– ]*\d[\d.,:/%+\-−– ]*(?:[Tt ]\d.*)?")


def header_row(rows: Sequence[Sequence[str | None]]) -> int:
    """Number of the row that names the columns: the first, or one below rows that say less.

    >>> header_row([["Results 2024", None, None], [None] * 3, ["Date", "Home", "Away"], ["2024-05-01", "A", "B"]])
    2
    >>> header_row([["x", "y", "z"], ["date", "home", "away"]])
    0
    """
    filled = [sum(bool((cell or "").strip()) for cell in row) for row in rows[: ROWS_ABOVE + 1]]
    for k, row in enumerate(rows[: ROWS_ABOVE + 1]):
        cells = [cell.strip() for cell in row if cell and cell.strip()]
        known = {plain_name(cell) for cell in cells} & KNOWN
        if len(known) >= 2 and not any(NUMBER_OR_DATE.fullmatch(cell) for cell in cells[:2]):
            return k if all(2 * above <= filled[k] for above in filled[:k]) else 0
    return 0


def note_of_title(rows: Sequence[Sequence[str | None]]) -> str:
    """What to say of rows above the header."""
    words = [cell.strip() for row in rows for cell in row if cell and cell.strip()]
    number = counted(len(rows), "row", "rows")
    say, were = ("says", "was") if len(rows) == 1 else ("say", "were")
    said = f", which {say}: {', '.join(map(repr, words[:3]))}" if words else ""
    return f"{number} above the header{said}, {were} left out"
