"""Prepares sets of real matches from the files that their sources publish; docs/data.md says where and what is owed.

    python benchmarks/prepare_data.py internationals international_results $KINELO_DATA/intl_football
    python benchmarks/prepare_data.py f1 RaceData/data $KINELO_DATA/f1
    python benchmarks/prepare_data.py mlb retrosheet/gamelog $KINELO_DATA/mlb_retrosheet
    python benchmarks/prepare_data.py worldcup worldcup/data-csv $KINELO_DATA/worldcup
    python benchmarks/prepare_data.py wyscout matches $KINELO_DATA/wyscout
    python benchmarks/prepare_data.py nba downloads $KINELO_DATA/nba

The first folder holds the source's files:

- internationals: results.csv, shootouts.csv, joined by date and sides; scores include extra time, so that a match
  decided by a shoot-out is a draw.
- f1: races, results, drivers, constructors, status; ``position`` is empty for who did not finish.
- mlb: game logs GL1990.TXT to GL2023.TXT; slot 0 of a line-up is the starting pitcher.
- worldcup: matches, player_appearances, substitutions, bookings; minutes derived from substitutions and sendings-off.
- wyscout: matches.zip unpacked, matches_England.json and six more; minutes derived from substitutions and red cards.
- nba: nba_schedule_YEAR.parquet and player_box_YEAR.parquet, 2002 to 2026; one row a match and one a player, sides by
  their id, since franchises were renamed; some starters and minutes are missing at the source.

Only matches that were played are kept, in order of date; results are 1, ½ and 0 for the home side. How far this is
tried: the sets in use, turned back into the columns of their sources, come out again byte for byte (Formula 1 but for
the ends of its lines). The sources were not downloaded anew; a later commit may add or correct rows.
"""

import json
import sys
from pathlib import Path

import polars as pl


def internationals(source: Path, target: Path) -> None:
    """``results.csv`` and ``shootouts.csv`` of martj42/international_results, as ``matches.csv``.

    A match without a score has not been played and is left out. Scores include extra time, not shoot-outs.
    """
    results, shootouts = (_table(source / name) for name in ("results.csv", "shootouts.csv"))
    keys = ["date", "home_team", "away_team"]
    winners = shootouts.select(*keys, shootout_winner=pl.col("winner")).unique(keys, keep="first", maintain_order=True)
    scores = [pl.col(name).cast(pl.Int64, strict=False) for name in ("home_score", "away_score")]
    played = results.with_columns(*scores).drop_nulls(["home_score", "away_score"])
    joined = played.join(winners, on=keys, how="left", maintain_order="left").sort("date", maintain_order=True)
    number = pl.int_range(pl.len()).cast(pl.String).str.zfill(6)
    joined.select(
        pl.concat_str(pl.lit("IF"), number).alias("match_id"),
        *keys,
        "home_score",
        "away_score",
        _outcome().alias("outcome_home"),
        pl.col("neutral").str.to_titlecase(),
        "tournament",
        "city",
        "country",
        "shootout_winner",
    ).write_csv(target / "matches.csv")


def f1(source: Path, target: Path) -> None:
    """``races``, ``results``, ``drivers``, ``constructors``, ``status`` of TracingInsights/RaceData, as ``races.csv``.

    ``position`` is empty for who was not classified; ``order`` ranks everyone.
    """
    tables = [_table(source / f"{name}.csv") for name in ("races", "results", "drivers", "constructors", "status")]
    races, results, drivers, constructors, status = tables
    blank = pl.col(pl.String).replace("\\N", None)
    joined = (
        results.join(races.select("raceId", "date", name=pl.col("name")), on="raceId")
        .join(drivers.select("driverId", driver=pl.concat_str("forename", "surname", separator=" ")), on="driverId")
        .join(constructors.select("constructorId", constructor=pl.col("name")), on="constructorId")
        .join(status.select("statusId", said=pl.col("status")), on="statusId")
    )
    joined.with_columns(blank).sort(
        "date", pl.col("raceId").cast(pl.Int64), pl.col("positionOrder").cast(pl.Int64)
    ).select(
        "date",
        pl.col("raceId").alias("race"),
        "name",
        "driver",
        "constructor",
        "grid",
        "position",
        pl.col("positionOrder").alias("order"),
        pl.col("said").alias("status"),
        "milliseconds",
        "laps",
    ).write_csv(target / "races.csv")


MLB_YEARS = range(1990, 2024)
GAME_LOG_WIDTH = 161
AWAY_PITCHER, HOME_PITCHER, AWAY_BATTERS, HOME_BATTERS = 102, 104, 106, 133
"""Fields of a game log, counted from 1: starting pitchers, then nine batters a side of three fields each (identity,
name, position)."""


def mlb(source: Path, target: Path) -> None:
    """``GL1990.TXT`` to ``GL2023.TXT`` of chadwickbureau/retrosheet, as ``matches_1990on.csv`` and its line-ups.

    The identity of a match is that of Retrosheet: home team, date, number of the game on that day. Slot 0 of a line-up
    is the starting pitcher; slots 1 to 9 bat, the pitcher among them where there is no designated hitter.
    """
    paths = [source / f"GL{year}.TXT" for year in MLB_YEARS]
    logs = pl.concat([_table(path, header=False) for path in paths])
    if logs.width != GAME_LOG_WIDTH:
        raise SystemExit(f"A game log has {GAME_LOG_WIDTH} fields; those in {source} have {logs.width}.")
    logs.columns = [str(k) for k in range(1, GAME_LOG_WIDTH + 1)]
    logs = logs.with_columns(pl.all().replace("", None))
    field = {k: pl.col(str(k)) for k in range(1, GAME_LOG_WIDTH + 1)}
    scores = [field[k].cast(pl.Int64).alias(name) for k, name in ((11, "home_score"), (10, "away_score"))]
    games = logs.with_columns(
        *scores,
        match_id=pl.concat_str(field[7], field[1], field[2]),
        date=field[1].str.to_date("%Y%m%d").cast(pl.String),
    ).sort("date", "match_id")
    games.select(
        "match_id",
        "date",
        field[2].alias("game_num"),
        field[7].alias("home_team"),
        field[4].alias("away_team"),
        "home_score",
        "away_score",
        _outcome().alias("outcome_home"),
        field[17].alias("park"),
        field[14].alias("completion"),
        field[15].alias("forfeit"),
        field[HOME_PITCHER].alias("home_sp"),
        field[AWAY_PITCHER].alias("away_sp"),
    ).write_csv(target / "matches_1990on.csv")
    starters = []
    for side, pitcher, batters in (("A", AWAY_PITCHER, AWAY_BATTERS), ("H", HOME_PITCHER, HOME_BATTERS)):
        slots = [(0, field[pitcher], pl.lit("1"))]
        slots += [(k + 1, field[batters + 3 * k], field[batters + 3 * k + 2]) for k in range(9)]
        starters += [
            games.select(
                "match_id",
                pl.lit(side).alias("side"),
                pl.lit(slot, pl.Int8).alias("slot"),
                player.alias("player_id"),
                position.alias("pos"),
            )
            for slot, player, position in slots
        ]
    pl.concat(starters).sort("match_id", "side", "slot").write_parquet(target / "lineups_1990on.parquet")


def worldcup(source: Path, target: Path) -> None:
    """``matches``, ``player_appearances``, ``substitutions``, ``bookings`` of jfjelstul/worldcup, with minutes.

    Who starts is there from 0, who comes on from that minute; who goes off or is sent off until that minute, the others
    until 90, or 120 after extra time. The score includes extra time, so that a match decided by a shoot-out is a draw.
    """
    tables = [_table(source / f"{name}.csv") for name in ("matches", "player_appearances", "substitutions", "bookings")]
    matches, appearances, substitutions, bookings = tables
    minute = pl.col("minute_regulation").cast(pl.Float64)
    keys = ["match_id", "player_id"]

    def when(table: pl.DataFrame, column: str, name: str) -> pl.DataFrame:
        return table.filter(pl.col(column) == "1").group_by(keys).agg(minute.min().alias(name))

    length = pl.when(pl.col("extra_time") == "1").then(120.0).otherwise(90.0)
    joined = (
        appearances.join(matches.select("match_id", length.alias("length")), on="match_id", maintain_order="left")
        .join(when(substitutions, "coming_on", "on"), on=keys, how="left", maintain_order="left")
        .join(when(substitutions, "going_off", "off"), on=keys, how="left", maintain_order="left")
        .join(when(bookings, "sending_off", "sent"), on=keys, how="left", maintain_order="left")
    )
    begin = pl.when(pl.col("starter") == "1").then(0.0).otherwise(pl.col("on"))
    end = pl.min_horizontal("off", "sent", "length")
    lineups = joined.select(
        "match_id",
        pl.when(pl.col("home_team") == "1").then(pl.lit("H")).otherwise(pl.lit("A")).alias("side"),
        "team_id",
        "team_name",
        "player_id",
        _named("given_name"),
        _named("family_name"),
        "position_code",
        pl.col("shirt_number").cast(pl.Float64),
        "starter",
        begin.alias("min_on"),
        end.alias("min_off"),
        (end - begin).clip(0.0).alias("minutes"),
        pl.col("sent").is_not_null().cast(pl.Int64).alias("sent_off"),
    )
    lineups.write_csv(target / "lineups.csv")
    scores = [pl.col(f"{side}_team_score").cast(pl.Int64).alias(f"{side}_score") for side in ("home", "away")]
    matches.with_columns(*scores).select(
        "match_id",
        "tournament_id",
        pl.when(pl.col("tournament_name").str.contains("Women"))
        .then(pl.lit("W"))
        .otherwise(pl.lit("M"))
        .alias("gender"),
        pl.col("match_date").alias("date"),
        "stage_name",
        "home_team_id",
        pl.col("home_team_name").alias("home_team"),
        "away_team_id",
        pl.col("away_team_name").alias("away_team"),
        "home_score",
        "away_score",
        _outcome().alias("outcome_home_onpitch"),
        "extra_time",
        "penalty_shootout",
        "home_team_score_penalties",
        "away_team_score_penalties",
        "replayed",
        "replay",
        "country_name",
        "city_name",
        pl.col("match_id").is_in(lineups["match_id"].implode()).cast(pl.Int64).alias("has_lineups"),
    ).sort("date", "match_id").write_csv(target / "matches.csv")


WYSCOUT_COMPETITIONS = ("England", "European_Championship", "France", "Germany", "Italy", "Spain", "World_Cup")


def wyscout(source: Path, target: Path) -> None:
    """``matches_England.json`` and its six neighbours (the archive ``matches.zip``, unpacked), with minutes.

    Who starts is there from 0 until the minute of a substitution or a red card, else until 90 (120 after extra time);
    who comes on is there from that minute to the end. Scores after extra time count; a shoot-out is a draw.
    """
    matches, lineups = [], []
    for competition in WYSCOUT_COMPETITIONS:
        for match in json.loads(_there(source / f"matches_{competition}.json").read_text(encoding="utf-8")):
            sides = {team["side"]: team for team in match["teamsData"].values()}
            names = match["label"].rsplit(", ", 1)[0].split(" - ")
            home, away, longer = sides["home"], sides["away"], match["duration"] != "Regular"
            score = "scoreET" if longer else "score"
            matches.append(
                {
                    "match_id": match["wyId"],
                    "date": match["dateutc"][:10],
                    "competition": competition,
                    "gameweek": match["gameweek"],
                    "home_id": home["teamId"],
                    "home_team": names[0],
                    "away_id": away["teamId"],
                    "away_team": names[1],
                    "home_score": home["score"],
                    "away_score": away["score"],
                    "home_et": home["scoreET"],
                    "away_et": away["scoreET"],
                    "home_pen": home["scoreP"],
                    "away_pen": away["scoreP"],
                    "duration": match["duration"],
                    "winner_id": match["winner"],
                    "home_has": home["hasFormation"],
                    "away_has": away["hasFormation"],
                    "outcome_home_onpitch": (1 + (home[score] > away[score]) - (home[score] < away[score])) / 2,
                }
            )
            for team in match["teamsData"].values():
                rows = _played(team["formation"], 120 if longer else 90)
                side = {"match_id": match["wyId"], "side": team["side"][0].upper(), "team_id": team["teamId"]}
                lineups += [side | row for row in rows]
    pl.DataFrame(matches).sort("date", "match_id").write_csv(target / "matches.csv")
    pl.DataFrame(lineups).write_csv(target / "lineups.csv")


def _played(formation: dict, length: int) -> list[dict]:
    """Who played of a side, from when until when; ``substitutions`` is the word "null" where there were none."""
    changes = formation["substitutions"] if isinstance(formation["substitutions"], list) else []
    came = {change["playerIn"]: change["minute"] for change in changes}
    went = {change["playerOut"]: change["minute"] for change in changes}
    rows = []
    for starter, players in ((1, formation["lineup"]), (0, formation["bench"])):
        for player in players:
            name, red = player["playerId"], int(player["redCards"])
            if starter == 0 and name not in came:
                continue
            sent = min(red, length) if starter and red else length
            begin, end = came.get(name, 0) if starter == 0 else 0, went.get(name, sent)
            times = {"min_on": begin, "min_off": end, "minutes": max(end - begin, 0), "red_minute": red}
            rows.append({"player_id": name, "starter": starter} | times)
    return rows


NBA_SEASONS = range(2002, 2027)
NBA_TEAMS = 30
"""Identities of the franchises are 1 to 30; teams of stars have larger ones."""


def nba(source: Path, target: Path) -> None:
    """``nba_schedule_2002.parquet`` and ``player_box_2002.parquet`` to 2026 of hoopR-nba-data, as matches and line-ups.

    Only games that were completed between two franchises are kept. Minutes and starters are as the source has them.
    """
    schedules = [pl.read_parquet(_there(source / f"nba_schedule_{year}.parquet")) for year in NBA_SEASONS]
    boxes = [pl.read_parquet(_there(source / f"player_box_{year}.parquet")) for year in NBA_SEASONS]
    number = {"game_id": pl.Int64, "team_id": pl.Int32, "athlete_id": pl.Int32, "minutes": pl.Float32}
    rows = pl.concat([box.select(pl.col(name).cast(kind) for name, kind in number.items()).with_columns(
        starter=box["starter"].cast(pl.Int64),
        played=(~box["did_not_play"]).cast(pl.Int64),
        plus_minus=box["plus_minus"].cast(pl.String).cast(pl.Float64, strict=False),
        side=box["home_away"].replace_strict({"home": "H", "away": "A"}),
    ) for box in boxes])  # fmt: skip
    games = pl.concat([_games(schedule) for schedule in schedules])
    teams = pl.col("home_id").is_between(1, NBA_TEAMS) & pl.col("away_id").is_between(1, NBA_TEAMS)
    games = games.filter(teams).unique("match_id", keep="last").sort("date", "match_id")
    lineups = rows.rename({"game_id": "match_id", "athlete_id": "player_id"}).filter(
        pl.col("match_id").is_in(games["match_id"].implode())
    )
    order = ("match_id", "team_id", "player_id", "starter", "minutes", "played", "plus_minus", "side")
    lineups.select(order).write_parquet(target / "lineups.parquet")
    games.with_columns(
        pl.col("neutral_site").cast(pl.String).str.to_titlecase(),
        has_lineups=pl.col("match_id").is_in(lineups["match_id"].unique().implode()).cast(pl.Int64),
    ).write_csv(target / "matches.csv")


def _games(schedule: pl.DataFrame) -> pl.DataFrame:
    scores = [pl.col(f"{side}_score").cast(pl.Int64) for side in ("home", "away")]
    return (
        schedule.filter("status_type_completed")
        .with_columns(*scores)
        .select(
            pl.col("game_id").cast(pl.Int64).alias("match_id"),
            pl.col("game_date").cast(pl.String).str.slice(0, 10).alias("date"),
            pl.col("season").cast(pl.Int64),
            pl.col("season_type").cast(pl.Int64),
            "neutral_site",
            pl.col("home_id").cast(pl.Int64),
            pl.col("home_display_name").alias("home_team"),
            pl.col("away_id").cast(pl.Int64),
            pl.col("away_display_name").alias("away_team"),
            "home_score",
            "away_score",
            _outcome().alias("outcome_home"),
            pl.col("status_period").cast(pl.Float64).alias("periods"),
        )
    )


def _outcome() -> pl.Expr:
    """1, ½ or 0 for the home side by its score."""
    return (pl.col("home_score") - pl.col("away_score")).sign() / 2 + 0.5


def _named(column: str) -> pl.Expr:
    return pl.col(column).replace("not applicable", None)


def _there(path: Path) -> Path:
    if not path.is_file():
        raise SystemExit(f"{path} is not there: download it from the source named in docs/data.md.")
    return path


def _table(path: Path, header: bool = True) -> pl.DataFrame:
    return pl.read_csv(_there(path), infer_schema=False, has_header=header)


SETS = {"internationals": internationals, "f1": f1, "mlb": mlb, "worldcup": worldcup, "wyscout": wyscout, "nba": nba}

if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in SETS:
        raise SystemExit(__doc__)
    to = Path(sys.argv[3])
    to.mkdir(parents=True, exist_ok=True)
    SETS[sys.argv[1]](Path(sys.argv[2]), to)
