"""Whether an audit of contests finds the K that is best, and how often its interval holds it.

    .venv/bin/python verification/contest_which_k.py [SETTING | FRESH] [SEEDS]

Contests of several kinds are made up. The best K of a kind is that of many samples together, by played contests alone:
the log-loss of orders of their later halves. Some samples are audited, of the kinds of SETTING or of those of FRESH.
The exit code is 1 where the K found lies off the best of a kind by 15 % or more on average, or where the intervals of
all kinds hold it less than 88 of 100 times (95 said; the binomial error is 3 of 100).
"""

from __future__ import annotations

import math
import sys
import warnings

import numpy as np

import kinelo as kn
from contest_kinds import KINDS, Kind, Programmers, make, make_programmers
from kinelo.advice.audit.backtest import lowest
from kinelo.forecasts.contest_scores import order_log_loss, pairs_of

SEEDS = 6
SETTING = {
    "one series": (KINDS["one series"]._replace(size=16), 140),
    "divisions": (KINDS["divisions"]._replace(size=40), 180),
    "they learn": (KINDS["they learn"]._replace(size=24), 140),
    "the weak retire": (KINDS["the weak retire"]._replace(size=20), 160),
    "two a year": (KINDS["two a year"]._replace(size=40), 60),
    "bad days": (KINDS["bad days"]._replace(size=20), 160),
}
"""Kinds, and contests of each."""
FRESH = {
    "cohorts differ": (KINDS["cohorts differ"]._replace(size=24), 140),
    "fields unlike": (KINDS["fields unlike"]._replace(size=20), 160),
    "long tails": (KINDS["long tails"]._replace(size=24), 140),
    "two divisions, few new": (Kind(divisions=2, newcomers=0.08, once=0.1, size=24, walk=0.7, entry=-0.8), 160),
    "a club": (Kind(size=12, newcomers=0.1, once=0.1, keenness=0.4, walk=0.4, spread=0.8), 120),
    "return to the mean": (Kind(size=20, returns=0.8, walk=1.0, newcomers=0.1, entry=0.0), 140),
    "ten a year, some away": (
        Kind(size=24, per_year=10.0, away=0.5, newcomers=0.12, walk=0.6, walk_played=0.1),
        80,
    ),
    "cars of all kinds retire": (
        Kind(size=20, unfinished=0.2, tilt=0.2, fragile=0.5, cars=0.5, newcomers=0.1, once=0.2, walk=0.7),
        160,
    ),
    "programmers": (Programmers(contests=140, lower=24, upper=16, arrive=6, walk=0.3, walk_played=0.15), 140),
}
FIRST_SEED = {"SETTING": 200, "FRESH": 300}
LADDER = 24.0 * 1.15 ** np.arange(25)
FARTHEST = 0.15


def sample(kind: Kind | Programmers, contests: int, seed: int) -> kn.matches.Contests:
    """Contests of a kind."""
    made = make(kind, contests, seed) if isinstance(kind, Kind) else make_programmers(kind, seed)
    return made.contests


def losses_of(contests: kn.matches.Contests) -> np.ndarray:
    """Log-loss summed over pairs of finishers of the later half, at every K."""
    pairs, half = pairs_of(contests), len(contests) // 2
    rows = [order_log_loss(kn.TeamElo.classic(k=float(k)).one_step_ahead(contests)) * pairs for k in LADDER]
    return np.array([np.nansum(row[half:]) for row in rows])


def main() -> int:
    """Print a line for each kind."""
    warnings.simplefilter("ignore")
    which = sys.argv[1] if len(sys.argv) > 1 else "FRESH"
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else SEEDS
    wrong, held = 0, []
    for name, (kind, contests) in {"SETTING": SETTING, "FRESH": FRESH}[which].items():
        samples = [sample(kind, contests, FIRST_SEED[which] + s) for s in range(2 * seeds)]
        best = lowest(LADDER, np.sum([losses_of(one) for one in samples], axis=0)[:, None])[0]
        found = [kn.audit(one) for one in samples[:seeds]]
        off = np.array([math.log(one.advice.k / best) for one in found])
        inside = [one.advice.low <= best <= one.advice.high for one in found]
        held += inside
        wrong += abs(off.mean()) > FARTHEST
        print(
            f"{name}: best K {best:.0f}; audits {100 * off.mean():+.0f} % ± {100 * off.std():.0f}, within 15 % in "
            f"{int((abs(off) < FARTHEST).sum())} of {seeds}, in the interval {sum(inside)} times",
            flush=True,
        )
    print(f"all: {sum(held)} of {len(held)} intervals hold the best K")
    return int(wrong > 0 or np.mean(held) < 0.88)


if __name__ == "__main__":
    sys.exit(main())
