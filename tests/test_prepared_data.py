"""Real sets are prepared from the files of their sources: here from a few hand-made lines with their columns."""

import subprocess
import sys
from pathlib import Path

import kinelo as kn

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "prepare_data.py"


def prepare(name, source, target):
    command = [sys.executable, str(SCRIPT), name, str(source), str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_internationals(tmp_path):
    (tmp_path / "results.csv").write_text(
        "date,home_team,away_team,home_score,away_score,tournament,city,country,neutral\n"
        '1901-02-03,Ruritania,Freedonia,2,2,Cup,"Strelsau, old town",Ruritania,FALSE\n'
        "1900-01-01,Freedonia,Ruritania,0,3,Friendly,Fredville,Elsewhere,TRUE\n"
        "1902-01-01,Freedonia,Ruritania,NA,NA,Friendly,Fredville,Freedonia,FALSE\n",
        encoding="utf-8",
    )
    missing = prepare("internationals", tmp_path, tmp_path / "out")
    assert missing.returncode == 1 and "shootouts.csv is not there" in missing.stderr
    (tmp_path / "shootouts.csv").write_text(
        "date,home_team,away_team,winner,first_shooter\n1901-02-03,Ruritania,Freedonia,Freedonia,\n", encoding="utf-8"
    )
    assert prepare("internationals", tmp_path, tmp_path / "out").returncode == 0
    assert (tmp_path / "out" / "matches.csv").read_text(encoding="utf-8").splitlines() == [
        "match_id,date,home_team,away_team,home_score,away_score,outcome_home,neutral,tournament,city,country,"
        "shootout_winner",
        "IF000000,1900-01-01,Freedonia,Ruritania,0,3,0.0,True,Friendly,Fredville,Elsewhere,",
        'IF000001,1901-02-03,Ruritania,Freedonia,2,2,0.5,False,Cup,"Strelsau, old town",Ruritania,Freedonia',
    ]
    matches = kn.read_matches(tmp_path / "out" / "matches.csv")
    assert matches.result.tolist() == [0.0, 0.5] and matches.neutral.tolist() == [True, False]


def test_races(tmp_path):
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
    assert prepare("f1", tmp_path, tmp_path / "out").returncode == 0
    assert (tmp_path / "out" / "races.csv").read_text(encoding="utf-8").splitlines() == [
        "date,race,name,driver,constructor,grid,position,order,status,milliseconds,laps",
        "1951-05-05,7,Big Prize,Ann Able,Xenon,2,1,1,Finished,3600000,50",
        "1951-05-05,7,Big Prize,Bob Baker,Xenon,1,,2,Oil leak,,40",
    ]
