"""Are winners forecast better because forecasts know that not everybody finishes?

    python verification/not_finishing.py [KIND …] [FILE of races]

:class:`kinelo.RankElo` follows the chance of an entry not to finish from contest to contest
(:mod:`kinelo.raters.rank.reading`); here its forecasts are compared with the same ones in which everybody finishes.
Prints the winner's log-loss with that less the one without, ± one standard error over contests, and wins and podiums
that were expected and came by their chance. ``KIND@0.02`` is a kind in which that part does not finish.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace

import numpy as np

import kinelo as kn
from contest_kinds import KINDS, make
from kinelo.forecasts.contest_scores import place_bands, winner_log_loss
from kinelo.matches.contests import Contests

SEEDS, CONTESTS, SIZE = (1, 2, 3), 400, 24
RETIRE = ("anybody retires", "the weak retire", "the strong retire", "cars retire")


def study(name: str, samples: list[Contests]) -> None:
    said, gaps = [], []
    for contests in samples:
        half = len(contests) // 2
        forecast = kn.RankElo().fit(contests[:half]).one_step_ahead(contests[half:])
        both = [replace(forecast, unfinished=None), forecast]
        gaps.append(winner_log_loss(both[1]) - winner_log_loss(both[0]))
        said.append([place_bands(one).to_dicts() for one in both])
    gap = np.concatenate(gaps)
    gap = gap[~np.isnan(gap)]
    print(f"{name}: {gap.mean():+.4f} ± {gap.std() / np.sqrt(gap.size):.4f}")
    for words, bands in zip(("all finish", "who may not finish"), zip(*said, strict=True), strict=True):
        rows = [row for one in bands for row in one]
        for event in ("win", "top 3"):
            by_low = sorted({row["low"] for row in rows})
            own = [[row for row in rows if (row["event"], row["low"]) == (event, low)] for low in by_low]
            shown = [f"{sum(r['expected'] for r in part):.0f}/{sum(r['seen'] for r in part):.0f}" for part in own]
            print(f"  {words}, {event}: expected/seen {' '.join(shown)}", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or RETIRE:
        kind, _, part = name.partition("@")
        if kind in KINDS:
            played = KINDS[kind]._replace(size=SIZE, **({"unfinished": float(part)} if part else {}))
            study(name, [make(played, CONTESTS, seed).contests for seed in SEEDS])
        else:
            for slots in (["driver"], ["driver", "constructor"]):
                study(", ".join(slots), [kn.read_contests(name, slots=slots)])


if __name__ == "__main__":
    main()
