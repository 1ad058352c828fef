"""Do scores come as often as ``ScoreElo`` says: totals, both sides scoring, single draws, handicaps?

    KINELO_DATA=../shared/data python verification/score_calibration.py [wyscout internationals leagues]

Fitted on the earlier matches (the latest 10,000) and forecast one step ahead on the others. Prints how many of each
were expected, ± one standard deviation of what is seen were the forecast right, and how many were seen; then the same
by thirds of the chance. ``leagues`` are four made-up ones whose goals follow Poisson laws of attack and defence.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import kinelo as kn
from kinelo.raters.scores.forecast import goals_of

LOOK = 10_000
SETS = {"wyscout": ("wyscout/matches.csv", 0.5), "internationals": ("intl_football/matches.csv", "2022-01-01")}


def made_up(seed: int) -> Any:
    """Twelve rounds of twelve sides, each against each, at home and away."""
    rng, sides = np.random.default_rng(seed), 12
    attack, defence = rng.normal(0, 0.25, sides), rng.normal(0, 0.15, sides)
    i, j = rng.permutation([(i, j) for _ in range(12) for i in range(sides) for j in range(sides) if i != j]).T
    table = {"date": np.datetime64("2020-01-01") + np.arange(i.size), "home": i.astype(str), "away": j.astype(str)}
    goals = np.exp(0.35 + attack[i] - defence[j]), np.exp(0.2 + attack[j] - defence[i])
    return kn.read_matches(
        pl.DataFrame(table | {side: rng.poisson(rate) for side, rate in zip(("home_score", "away_score"), goals)})
    )


def counted(matches: Any, begins: int) -> list[tuple[str, Any, Any]]:
    """Of each event its chances and whether it came, of the matches from ``begins`` on whose scores are known."""
    said = kn.ScoreElo(look=LOOK).fit(matches[:begins]).one_step_ahead(matches[begins:])
    home, away = goals_of(matches[begins:])
    known = home >= 0
    both_none, both_one = np.concatenate([grids[:, [0, 1], [0, 1]] for grids in said._grids()]).T
    events = [
        ("over 1.5", said.totals(1.5)[:, 0], home + away > 1.5),
        ("over 2.5", said.totals(2.5)[:, 0], home + away > 2.5),
        ("over 3.5", said.totals(3.5)[:, 0], home + away > 3.5),
        ("both score", said.both_score, (home > 0) & (away > 0)),
        ("0–0", both_none, (home == 0) & (away == 0)),
        ("1–1", both_one, (home == 1) & (away == 1)),
        ("home by two or more", said.handicap(-1)[:, 0], home - away > 1),
        ("home by one", said.handicap(-1)[:, 1], home - away == 1),
        ("away by two or more", said.handicap(1)[:, 2], away - home > 1),
    ]
    return [(name, chance[known], came[known]) for name, chance, came in events]


def main() -> None:
    warnings.simplefilter("ignore")
    root = Path(os.environ.get("KINELO_DATA", "../shared/data"))
    for name in sys.argv[1:] or SETS:
        if name in SETS:
            path, begins = SETS[name]
            matches = kn.read_matches(root / path)
            share = isinstance(begins, float)
            first = int(begins * len(matches) if share else np.searchsorted(matches.date, np.datetime64(begins)))
            found = [counted(matches, first)]
        else:
            found = [counted(made_up(seed), 792) for seed in range(4)]
        print(f"{name}: {sum(one[0][1].size for one in found):,} matches")
        for columns in zip(*found, strict=True):
            chance, came = (np.concatenate(parts) for parts in list(zip(*columns, strict=True))[1:])
            error = np.sqrt((chance * (1.0 - chance)).sum())
            thirds = np.array_split(np.argsort(chance, kind="stable"), 3)
            by = ", ".join(f"{chance[part].sum():.0f}/{came[part].sum()}" for part in thirds)
            print(
                f"  {columns[0][0]}: {chance.sum():.0f} ± {error:.0f} expected, {came.sum()} seen "
                f"({(came.sum() - chance.sum()) / error:+.1f}); by thirds {by}",
                flush=True,
            )


if __name__ == "__main__":
    main()
