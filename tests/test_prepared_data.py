"""Real sets are prepared from the files of their sources: here from a few hand-made lines with their columns."""

import json
import runpy
import sys
from pathlib import Path

import polars as pl
import pytest

import kinelo as kn

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "prepare_data.py"


@pytest.fixture
def prepare(monkeypatch):
    """The script, as Python runs it; what it refuses with is returned."""

    def run(name, source, target):
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), name, str(source), str(target)])
        try:
            runpy.run_path(str(SCRIPT), run_name="__main__")
        except SystemExit as refused:
            return str(refused)
        return ""

    return run


def test_internationals(tmp_path, prepare):
    (tmp_path / "results.csv").write_text(
        "date,home_team,away_team,home_score,away_score,tournament,city,country,neutral\n"
        '1901-02-03,Ruritania,Freedonia,2,2,Cup,"Strelsau, old town",Ruritania,FALSE\n'
        "1900-01-01,Freedonia,Ruritania,0,3,Friendly,Fredville,Elsewhere,TRUE\n"
        "1902-01-01,Freedonia,Ruritania,NA,NA,Friendly,Fredville,Freedonia,FALSE\n",
        encoding="utf-8",
    )
    missing = prepare("internationals", tmp_path, tmp_path / "out")
    assert "shootouts.csv is not there" in missing
    (tmp_path / "shootouts.csv").write_text(
        "date,home_team,away_team,winner,first_shooter\n1901-02-03,Ruritania,Freedonia,Freedonia,\n", encoding="utf-8"
    )
    assert prepare("internationals", tmp_path, tmp_path / "out") == ""
    assert (tmp_path / "out" / "matches.csv").read_text(encoding="utf-8").splitlines() == [
        "match_id,date,home_team,away_team,home_score,away_score,outcome_home,neutral,tournament,city,country,"
        "shootout_winner",
        "IF000000,1900-01-01,Freedonia,Ruritania,0,3,0.0,True,Friendly,Fredville,Elsewhere,",
        'IF000001,1901-02-03,Ruritania,Freedonia,2,2,0.5,False,Cup,"Strelsau, old town",Ruritania,Freedonia',
    ]
    matches = kn.read_matches(tmp_path / "out" / "matches.csv")
    assert matches.result.tolist() == [0.0, 0.5] and matches.neutral.tolist() == [True, False]


def test_races(tmp_path, prepare):
    tables = {
        "races": "raceId,year,round,circuitId,name,date\n7,1951,1,1,Big Prize,1951-05-05\n",
        "drivers": "driverId,driverRef,forename,surname\n1,a,Ann,Able\n2,b,Bob,Baker\n",
        "constructors": "constructorId,constructorRef,name\n5,x,Xenon\n",
        "status": "statusId,status\n1,Finished\n4,Oil leak\n",
        "results": (
            "resultId,raceId,driverId,constructorId,number,grid,position,positionText,positionOrder,points,laps,time,"
            "milliseconds,fastestLap,statusId\n"
            "1,7,2,5,3,1,\\N,R,2,0,40,\\N,\\N,\\N,4\n"
            "2,7,1,5,4,2,1,1,1,8,50,1:00,3600000,\\N,1\n"
        ),
    }
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    assert prepare("f1", tmp_path, tmp_path / "out") == ""
    assert (tmp_path / "out" / "races.csv").read_text(encoding="utf-8").splitlines() == [
        "date,race,name,driver,constructor,grid,position,order,status,milliseconds,laps",
        "1951-05-05,7,Big Prize,Ann Able,Xenon,2,1,1,Finished,3600000,50",
        "1951-05-05,7,Big Prize,Bob Baker,Xenon,1,,2,Oil leak,,40",
    ]


def test_games_of_baseball(tmp_path, prepare):
    log = [""] * 161
    for k, value in {1: "19900409", 2: "0", 4: "DET", 7: "BOS", 10: "2", 11: "5", 17: "BOS07"}.items():
        log[k - 1] = value
    log[101], log[103] = "morrj001", "clemr001"
    for side, first in (("a", 106), ("h", 133)):
        for k in range(9):
            log[first - 1 + 3 * k : first + 2 + 3 * k] = [f"{side}{k + 1}", f"Name, {k}", str(10 - k)]
    later = [*log]
    later[0], later[1], later[9] = "19900410", "2", "5"
    for year in range(1990, 2024):
        rows = [later, log] if year == 1990 else [[f"{year}0501", *log[1:]]]
        text = "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows) + "\n"
        (tmp_path / f"GL{year}.TXT").write_text(text, encoding="utf-8")
    assert prepare("mlb", tmp_path, tmp_path / "out") == ""
    assert (tmp_path / "out" / "matches_1990on.csv").read_text(encoding="utf-8").splitlines()[:3] == [
        "match_id,date,game_num,home_team,away_team,home_score,away_score,outcome_home,park,completion,forfeit,home_sp,"
        "away_sp",
        "BOS199004090,1990-04-09,0,BOS,DET,5,2,1.0,BOS07,,,clemr001,morrj001",
        "BOS199004102,1990-04-10,2,BOS,DET,5,5,0.5,BOS07,,,clemr001,morrj001",
    ]
    lineups = pl.read_parquet(tmp_path / "out" / "lineups_1990on.parquet")
    assert lineups.height == 35 * 20
    assert lineups.rows()[:2] == [("BOS199004090", "A", 0, "morrj001", "1"), ("BOS199004090", "A", 1, "a1", "10")]
    assert lineups.rows()[10:12] == [("BOS199004090", "H", 0, "clemr001", "1"), ("BOS199004090", "H", 1, "h1", "10")]
    (tmp_path / "GL2023.TXT").unlink()
    assert "GL2023.TXT is not there" in prepare("mlb", tmp_path, tmp_path / "out")


def test_world_cups(tmp_path, prepare):
    tables = {
        "matches": (
            "tournament_id,tournament_name,match_id,stage_name,replayed,replay,match_date,city_name,country_name,"
            "home_team_id,home_team_name,away_team_id,away_team_name,home_team_score,away_team_score,extra_time,"
            "penalty_shootout,home_team_score_penalties,away_team_score_penalties\n"
            "WC-1991,1991 FIFA Women's World Cup,M-1991-02,final,0,0,1991-11-30,Guangzhou,China,T-1,Ruritania,T-2,"
            "Freedonia,2,2,1,1,4,3\n"
            "WC-1930,1930 FIFA Men's World Cup,M-1930-01,groups,0,0,1930-07-13,Montevideo,Uruguay,T-3,Sylvania,"
            "T-1,Ruritania,0,1,0,0,0,0\n"
        ),
        "player_appearances": (
            "match_id,team_id,team_name,home_team,player_id,family_name,given_name,shirt_number,position_code,starter\n"
            "M-1991-02,T-1,Ruritania,1,P-1,Able,Ann,7,FW,1\n"
            "M-1991-02,T-1,Ruritania,1,P-2,Baker,not applicable,12,DF,0\n"
            "M-1991-02,T-2,Freedonia,0,P-3,Cook,Cid,1,GK,1\n"
            "M-1991-02,T-2,Freedonia,0,P-4,Dyer,Dee,2,DF,1\n"
        ),
        "substitutions": (
            "match_id,player_id,minute_regulation,going_off,coming_on\nM-1991-02,P-1,63,1,0\nM-1991-02,P-2,63,0,1\n"
        ),
        "bookings": (
            "match_id,player_id,minute_regulation,sending_off\nM-1991-02,P-4,20,0\nM-1991-02,P-4,101,1\n"
        ),
    }  # fmt: skip
    for name, text in tables.items():
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    assert prepare("worldcup", tmp_path, tmp_path / "out") == ""
    assert (tmp_path / "out" / "matches.csv").read_text(encoding="utf-8").splitlines()[1:] == [
        "M-1930-01,WC-1930,M,1930-07-13,groups,T-3,Sylvania,T-1,Ruritania,0,1,0.0,0,0,0,0,0,0,Uruguay,Montevideo,0",
        "M-1991-02,WC-1991,W,1991-11-30,final,T-1,Ruritania,T-2,Freedonia,2,2,0.5,1,1,4,3,0,0,China,Guangzhou,1",
    ]
    assert (tmp_path / "out" / "lineups.csv").read_text(encoding="utf-8").splitlines()[1:] == [
        "M-1991-02,H,T-1,Ruritania,P-1,Ann,Able,FW,7.0,1,0.0,63.0,63.0,0",
        "M-1991-02,H,T-1,Ruritania,P-2,,Baker,DF,12.0,0,63.0,120.0,57.0,0",
        "M-1991-02,A,T-2,Freedonia,P-3,Cid,Cook,GK,1.0,1,0.0,120.0,120.0,0",
        "M-1991-02,A,T-2,Freedonia,P-4,Dee,Dyer,DF,2.0,1,0.0,101.0,101.0,1",
    ]


def test_clubs(tmp_path, prepare):
    def player(name, red="0"):
        return {"playerId": name, "redCards": red}

    bench = [player(13), player(14), player(15)]
    changes = [{"playerIn": 14, "playerOut": 11, "minute": 61}, {"playerIn": 13, "playerOut": 14, "minute": 94}]
    home = {"lineup": [player(11), player(12, "94")], "bench": bench, "substitutions": changes}
    away = {"lineup": [player(21, "15")], "bench": [player(22)], "substitutions": "null"}
    score = {"hasFormation": 1, "scoreP": 0}
    match = {
        "wyId": 7, "dateutc": "2018-05-13 14:00:00", "gameweek": 38, "duration": "Regular", "winner": 1,
        "label": "Strelsau & Zenda - AFC Fredville, 2 - 1",
        "teamsData": {
            "2": {"side": "away", "teamId": 2, "score": 1, "scoreET": 0, "formation": away, **score},
            "1": {"side": "home", "teamId": 1, "score": 2, "scoreET": 0, "formation": home, **score},
        },
    }  # fmt: skip
    longer = json.loads(json.dumps(match)) | {"wyId": 6, "duration": "ExtraTime"}
    for team, goals in (("1", 2), ("2", 3)):
        longer["teamsData"][team]["scoreET"] = goals
    for name in ("England", "European_Championship", "France", "Germany", "Italy", "Spain", "World_Cup"):
        found = [match, longer] if name == "England" else []
        (tmp_path / f"matches_{name}.json").write_text(json.dumps(found), encoding="utf-8")
    assert prepare("wyscout", tmp_path, tmp_path / "out") == ""
    assert (tmp_path / "out" / "matches.csv").read_text(encoding="utf-8").splitlines()[1:] == [
        "6,2018-05-13,England,38,1,Strelsau & Zenda,2,AFC Fredville,2,1,2,3,0,0,ExtraTime,1,1,1,0.0",
        "7,2018-05-13,England,38,1,Strelsau & Zenda,2,AFC Fredville,2,1,0,0,0,0,Regular,1,1,1,1.0",
    ]
    lines = (tmp_path / "out" / "lineups.csv").read_text(encoding="utf-8").splitlines()
    assert lines[:6] == [
        "match_id,side,team_id,player_id,starter,min_on,min_off,minutes,red_minute",
        "7,A,2,21,1,0,15,15,15",
        "7,H,1,11,1,0,61,61,0",
        "7,H,1,12,1,0,90,90,94",
        "7,H,1,13,0,94,90,0,0",
        "7,H,1,14,0,61,94,33,0",
    ]
    assert lines[8] == "6,H,1,12,1,0,94,94,94"


def test_basketball(tmp_path, prepare):
    games = {
        "game_id": [5, 3, 4, 6], "game_date": ["2001-11-02", "2001-11-02", "2002-02-10", "2001-11-03"],
        "season": [2002] * 4, "season_type": [2] * 4, "neutral_site": [False, True, False, False],
        "home_id": [1, 2, 131, 1], "away_id": [2, 3, 132, 3],
        "home_display_name": ["Ants", "Bees", "Stars", "Ants"], "away_display_name": ["Bees", "Cats", "Suns", "Cats"],
        "home_score": ["99", "80", "1", "0"], "away_score": ["98", "81", "2", "0"],
        "status_period": [4, 5, 4, 0], "status_type_completed": [True, True, True, False],
    }  # fmt: skip
    rows = {
        "game_id": [5, 5, 4], "team_id": [1, 2, 131], "athlete_id": [10, 20, 30], "minutes": [31.0, None, 9.0],
        "starter": [True, False, True], "did_not_play": [False, True, False], "plus_minus": ["+7", None, "0"],
        "home_away": ["home", "away", "home"],
    }  # fmt: skip
    for year in range(2002, 2027):
        size = 9 if year == 2002 else 0
        pl.DataFrame(games).head(size).write_parquet(tmp_path / f"nba_schedule_{year}.parquet")
        pl.DataFrame(rows).head(size).write_parquet(tmp_path / f"player_box_{year}.parquet")
    assert prepare("nba", tmp_path, tmp_path / "out") == ""
    assert (tmp_path / "out" / "matches.csv").read_text(encoding="utf-8").splitlines()[1:] == [
        "3,2001-11-02,2002,2,True,2,Bees,3,Cats,80,81,0.0,5.0,0",
        "5,2001-11-02,2002,2,False,1,Ants,2,Bees,99,98,1.0,4.0,1",
    ]
    assert pl.read_parquet(tmp_path / "out" / "lineups.parquet").rows() == [
        (5, 1, 10, 1, 31.0, 1, 7.0, "H"),
        (5, 2, 20, 0, None, 0, None, "A"),
    ]
