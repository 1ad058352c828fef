"""Whether an audit of contests finds the K that is best, and how often its interval holds it.

    .venv/bin/python verification/contest_which_k.py [SEEDS]

Contests of several kinds are made up. The best K of a kind is that of many samples together, by played contests alone:
the log-loss of orders of their later halves. Each sample is audited. The exit code is 1 where the K found lies off the
best by 15 % or more on average, or where the intervals of all kinds hold it less than 88 or more than 99.9 times of
100 (95 said; the binomial error is 2 to 3 of 100).
"""

from __future__ import annotations

import math
import sys
import warnings

import numpy as np

import kinelo as kn
from contest_kinds import KINDS, make
from kinelo.advice.audit.backtest import lowest
from kinelo.forecasts.contest_scores import order_log_loss, pairs_of

SEEDS = 12
TRIED = {
    "one series": (20, 200), "many once": (40, 200), "divisions": (60, 240), "two a year": (50, 60),
    "walk by contest": (30, 160), "they learn": (40, 200), "bad days": (30, 200), "anybody retires": (24, 200),
    "the weak retire": (24, 200), "the strong retire": (24, 200), "cars retire": (24, 200),
}  # fmt: skip
"""Size of fields, and contests."""
LADDER = 24.0 * 1.15 ** np.arange(25)
FARTHEST = 0.15


def losses_of(contests: kn.Contests) -> np.ndarray:
    """Log-loss summed over pairs of finishers of the later half, at every K."""
    pairs, half = pairs_of(contests), len(contests) // 2
    rows = [order_log_loss(kn.TeamElo.classic(k=float(k)).one_step_ahead(contests)) * pairs for k in LADDER]
    return np.array([np.nansum(row[half:]) for row in rows])


def main() -> int:
    """Print a line for each kind."""
    warnings.simplefilter("ignore")
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    wrong, held, number = 0, 0, 0
    for name, (size, contests) in TRIED.items():
        samples = [make(KINDS[name]._replace(size=size), contests, seed=100 + s).contests for s in range(seeds)]
        best = lowest(LADDER, np.sum([losses_of(one) for one in samples], axis=0)[:, None])[0]
        found = [kn.audit(one) for one in samples]
        off = np.array([math.log(one.advice.k / best) for one in found])
        theory = np.array([math.log(one.curve.best.k / best) for one in found])
        inside = sum(one.advice.low <= best <= one.advice.high for one in found)
        held, number = held + inside, number + seeds
        wrong += abs(off.mean()) > FARTHEST
        print(
            f"{name}, fields of {size}: best K {best:.0f}; audits {100 * off.mean():+.0f} % ± {100 * off.std():.0f} "
            f"(theory {100 * theory.mean():+.0f} ± {100 * theory.std():.0f}), within 15 % in "
            f"{int((abs(off) < FARTHEST).sum())} of {seeds}, in the interval {inside} times",
            flush=True,
        )
    print(f"all: {held} of {number} intervals hold the best K")
    return int(wrong > 0 or not 0.88 <= held / number <= 0.999)


if __name__ == "__main__":
    sys.exit(main())
