"""Which column of a file means what: common names are recognised, and anything can be said by hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from kinelo.errors import InputError

MATCH_COLUMNS: dict[str, tuple[str, ...]] = {
    "date": ("date", "matchdate", "gamedate", "day", "datetime", "utcdate", "kickoff", "playedat", "playedon",
             "gameday", "tourneydate", "startdate", "starttime"),
    "home": (
        "home", "hometeam", "homename", "hometeamname", "homeside", "homeclub", "homeid", "hometeamid",
        "team1", "teama", "player1", "playera", "white", "side1", "opponent1", "modela", "a", "left",
        "hname", "whiteplayer", "whiteid",
    ),
    "away": (
        "away", "awayteam", "awayname", "awayteamname", "awayside", "awayclub", "awayid", "awayteamid", "visitor",
        "visitorteam", "team2", "teamb", "player2", "playerb", "black", "side2", "opponent2", "modelb", "b", "right",
        "vname", "visitorname", "blackplayer", "blackid",
    ),
    "home_score": (
        "homescore", "homegoals", "homepoints", "homepts", "homeruns", "fthg", "hg", "hgoals", "scorehome", "goalshome",
        "score1", "scorea", "goals1", "homefulltimegoals", "hometeamscore", "hometeamgoals", "hscore",
        "hgoal",
    ),
    "away_score": (
        "awayscore", "awaygoals", "awaypoints", "awaypts", "awayruns", "ftag", "ag", "agoals", "scoreaway", "goalsaway",
        "score2", "scoreb", "goals2", "awayfulltimegoals", "awayteamscore", "awayteamgoals", "visitorgoals", "ascore",
        "vgoal", "vscore", "visitorscore",
    ),
    "result": (
        "result", "outcome", "outcomehome", "outcomehomeonpitch", "ftr", "res", "homeresult", "winner", "score",
        "fulltimeresult",
    ),
    "margin": ("margin", "goaldifference", "homemargin", "pointdifference", "goaldiff", "goaldif"),
    "status": ("status", "matchstatus", "gamestatus", "state", "resulttype"),
    "forfeit": ("forfeit", "forfeited", "isforfeit", "walkover", "awarded"),
    "neutral": ("neutral", "neutralsite", "neutralvenue", "isneutral", "neutralground"),
    "weight": ("weight", "matchweight", "importance"),
    "match_id": ("matchid", "gameid", "fixtureid", "id", "match", "eventid"),
    "home_lineup": ("homelineup", "homeplayers", "homeplayerids", "homexi", "lineuphome"),
    "away_lineup": ("awaylineup", "awayplayers", "awayplayerids", "awayxi", "lineupaway"),
    "home_minutes": ("homeminutes", "minuteshome"),
    "away_minutes": ("awayminutes", "minutesaway"),
}  # fmt: skip

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

LOSER_COLUMNS = {
    "home": ("winner", "winnername", "winnerteam", "winnerid"),
    "away": ("loser", "losername", "loserteam", "loserid"),
}

LOSER_DETAILS = {
    "home_score": ("winnerscore", "wscore", "winnerpoints", "wpts", "winnergoals", "winningscore"),
    "away_score": ("loserscore", "lscore", "loserpoints", "lpts", "losergoals", "losingscore"),
    "home_lineup": ("winnerlineup", "winnerplayers"),
    "away_lineup": ("loserlineup", "loserplayers"),
    "home_minutes": ("winnerminutes",),
    "away_minutes": ("loserminutes",),
}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def find_columns(
    present: Iterable[str], known: Mapping[str, tuple[str, ...]], given: Mapping[str, str] | None
) -> dict[str, str]:
    """Map each of our names to a column of the table: as ``given``, else by the first common name that is present.

    >>> find_columns(["Date", "HomeTeam", "AwayTeam", "FTR"], MATCH_COLUMNS, None)
    {'date': 'Date', 'home': 'HomeTeam', 'away': 'AwayTeam', 'result': 'FTR'}
    """
    columns = list(present)
    by_plain: dict[str, str] = {}
    for column in columns:
        by_plain.setdefault(_plain(column), column)
    found = {}
    for name, usual in known.items():
        if given and name in given:
            found[name] = given[name]
        else:
            match = next((by_plain[word] for word in usual if word in by_plain), None)
            if match is not None and match not in (given or {}).values():
                found[name] = match
    for name, column in found.items():
        if column not in columns:
            raise InputError(
                f"the column mapping sends {name!r} to {column!r}, but the table has only the columns "
                f"{', '.join(map(repr, columns))}"
            )
    return found


def more_sides(present: Iterable[str], found: Mapping[str, str]) -> str | None:
    """A column that names a third side beside two recognised ones, if there is one.

    >>> more_sides(["team1", "team2", "team3"], {"home": "team1", "away": "team2"})
    'team3'
    """
    numbered = {_plain(found["home"])[:-1]} if _plain(found["home"]).endswith("1") else set()
    return next(
        (column for column in present if _plain(column).endswith("3") and _plain(column)[:-1] in numbered), None
    )


def check_mapping(given: Mapping[str, str] | None) -> None:
    """Refuse a mapping that names something Kinelo does not read."""
    for name in given or {}:
        if name not in MATCH_COLUMNS and name not in LINEUP_COLUMNS:
            raise InputError(
                f"the column mapping speaks of {name!r}; it may only contain "
                f"{', '.join([*MATCH_COLUMNS, *LINEUP_COLUMNS])}"
            )
