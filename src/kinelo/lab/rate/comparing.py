"""The controller that compares raters on a visitor's own matches, in a process of its own that can be stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.forecasts.automatic import LEAST_COMPARED, choice_table, choose
from kinelo.matches.matches import Matches
from kinelo.matches.reading import read_matches
from kinelo.raters.choice import RATERS, candidates


def write_matches(matches: Matches, folder: Path) -> None:
    """Write everything that raters use of the matches, line-ups and conditions too, into a folder."""
    table = matches.to_polars().with_columns(match_id=pl.int_range(pl.len()).cast(pl.String))
    if np.isnan(matches.margin).any():
        table = table.drop("margin")
    table.write_parquet(folder / "matches")
    lineups = matches.lineups
    if lineups is None:
        return
    side = np.repeat(np.arange(lineups.offsets.size - 1), np.diff(lineups.offsets))
    pl.DataFrame(
        {
            "match_id": pl.Series(side // 2).cast(pl.String),
            "side": pl.Series(np.where(side % 2, "away", "home")),
            "player": pl.Series(lineups.players, dtype=pl.String).gather(lineups.player),
            "minutes": pl.Series(lineups.minutes).fill_nan(None),
            "starter": pl.Series([None if one < 0 else one for one in lineups.starter.tolist()], dtype=pl.Int8),
        }
    ).write_parquet(folder / "lineups")


def read_written(folder: Path, conditions: Sequence[str]) -> Matches:
    """Read what :func:`write_matches` wrote."""
    lineups = pl.read_parquet(folder / "lineups") if (folder / "lineups").exists() else None
    return read_matches(pl.read_parquet(folder / "matches"), lineups, conditions=conditions)


class CompareController:
    """Compares raters on one league; gone with the process."""

    def __init__(self, progress: Callable[[Any], None]) -> None:
        self._progress = progress

    def compare(self, folder: str, conditions: list[str], noise_by: list[str], covariates: list[str]) -> dict[str, Any]:
        """Try every rater that can use these matches on the later half of them."""
        matches = read_written(Path(folder), list(dict.fromkeys([*conditions, *noise_by, *covariates])))
        named = candidates(matches, conditions=conditions, noise_by=noise_by, covariates=covariates)
        if len(matches) < LEAST_COMPARED:
            raise InputError(f"Fewer than {LEAST_COMPARED} matches cannot tell raters apart.")
        tried = iter(range(1, len(named) + 1))
        choice = choose(
            matches, named, next(iter(named)), lambda name: self._progress(f"{name}, {next(tried)} of {len(named)}")
        )
        test = choice.test
        assert test is not None
        short = {one.kind: name for name, one in RATERS.items()}
        table = choice_table(choice)
        raters = [
            {"rater": row["rater"], "short": short[row["rater"]], "meaning": RATERS[short[row["rater"]]].meaning}
            for row in table.rows
        ]
        words = f"{choice} Fitted on {choice.fitted:,} matches."
        return {"words": words, "raters": raters, "table": table.to_dict(), "tested": len(test.matches)}
