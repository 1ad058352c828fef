"""Prepares sets of real matches from the files that their sources publish; docs/data.md says where and what is owed.

    python benchmarks/prepare_data.py internationals FOLDER_OF_THE_SOURCE FOLDER_TO_WRITE
    python benchmarks/prepare_data.py f1 FOLDER_OF_THE_SOURCE FOLDER_TO_WRITE

The folder to write is one below the folder that KINELO_DATA names: ``intl_football`` or ``f1``.
"""

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
    difference = pl.col("home_score") - pl.col("away_score")
    number = pl.int_range(pl.len()).cast(pl.String).str.zfill(6)
    joined.select(
        pl.concat_str(pl.lit("IF"), number).alias("match_id"),
        *keys,
        "home_score",
        "away_score",
        (difference.sign() / 2 + 0.5).alias("outcome_home"),
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


def _table(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise SystemExit(f"{path} is not there: download it from the source named in docs/data.md.")
    return pl.read_csv(path, infer_schema=False)


SETS = {"internationals": internationals, "f1": f1}

if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in SETS:
        raise SystemExit(__doc__)
    to = Path(sys.argv[3])
    to.mkdir(parents=True, exist_ok=True)
    SETS[sys.argv[1]](Path(sys.argv[2]), to)
