"""Would winners be forecast better if forecasts knew that not everybody finishes? A study, not yet built in.

    python verification/not_finishing.py [KIND …] [FILE of races]

The chance of an entry not to finish is followed from contest to contest as ``σ(a + b z)``, ``z`` its strength beside
those of its field: a filter of ``a`` and ``b`` that walk, each entry a third of an observation because entries of one
contest fail together. Who does not finish comes behind all who do. Prints the winner's log-loss with that less the one
without, ± one standard error over contests, and wins that were expected and came by their chance.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from numpy.typing import NDArray

import kinelo as kn
from contest_kinds import KINDS, make
from kinelo.forecasts.places import LEAST_BEHIND, PLACE_STEP, ContestForecast
from kinelo.matches.contests import FINISHED, Contests

Array = NDArray[np.float64]
BINS = (0.0, 0.005, 0.02, 0.05, 0.12, 0.3, 1.01)
SEEDS, CONTESTS, SIZE = (1, 2, 3), 400, 24
RETIRE = ("anybody retires", "the weak retire", "the strong retire", "cars retire")
BEGUN, SPREAD, WALK, SHARE = np.array([-3.0, 0.0]), (4.0, 1.0), (0.02, 0.005), 1.0 / 3.0


def chances_to_fail(contests: Contests, mean: Array) -> Array:
    """Chance of each entry not to finish, from the contests before its own; 0 until somebody has not finished."""
    x, P, out, seen = BEGUN, np.diag(SPREAD), np.zeros(mean.size), False
    for entries in map(slice, contests.first[:-1], contests.first[1:]):
        z = mean[entries] - mean[entries].mean()
        A = np.column_stack([np.ones(z.size), z / max(z.std(), 1e-9)])
        q, failed = 1.0 / (1.0 + np.exp(-A @ x)), contests.ended[entries] != FINISHED
        out[entries] = q * seen
        seen = seen or bool(failed.any())
        P = np.linalg.inv(np.linalg.inv(P + np.diag(WALK)) + SHARE * (A * (q * (1.0 - q))[:, None]).T @ A)
        x = x + SHARE * P @ (A.T @ (failed - q))
    return out


def chances_to_win(said: ContestForecast, failing: Array) -> Array:
    """Chances to win where entries come behind all others with these chances."""
    won = np.zeros(failing.size)
    for contest in range(len(said)):
        entries = said._entries(contest)
        q = failing[entries]
        for _, density, behind in said._on_grid(entries, PLACE_STEP):
            log = np.log(np.maximum(q + (1.0 - q) * behind, LEAST_BEHIND))
            won[entries] += (density * (1.0 - q) * np.exp(log.sum(axis=1, keepdims=True) - log)).sum(axis=0)
        won[entries] += np.prod(q) / q.size
        won[entries] /= won[entries].sum()
    return won


def study(name: str, samples: list[Contests]) -> None:
    said, gaps = [], []
    for contests in samples:
        half = len(contests) // 2
        rater = kn.RankElo().fit(contests[:half])
        again = kn.RankElo(**{k: v for k, v in rater.parameters_.items() if k in rater.get_params()})
        before, forecast = again.one_step_ahead(contests[:half]), rater.one_step_ahead(contests[half:])
        failing = chances_to_fail(contests, np.concatenate([before.mean, forecast.mean]))
        later, first = contests[half:], contests.first[half]
        won = later.place == 1
        both = [chances_to_win(forecast, part * failing[first:]) for part in (0.0, 1.0)]
        said.append(np.array([*both, won]))
        contest = np.repeat(np.arange(len(later)), later.sizes)[won]
        losses = [np.bincount(contest, -np.log(p[won])) / np.bincount(contest) for p in both]
        gaps.append(losses[1] - losses[0])
    gap = np.concatenate(gaps)
    print(f"{name}: {gap.mean():+.4f} ± {gap.std() / np.sqrt(gap.size):.4f}")
    *both, won = np.concatenate(said, axis=1)
    for words, p in zip(("as it is", "who may not finish"), both, strict=True):
        part = np.digitize(p, BINS[1:-1])
        shown = [f"{p[part == k].sum():.0f}/{won[part == k].sum():.0f}" for k in range(len(BINS) - 1)]
        print(f"  {words}: expected/seen {' '.join(shown)}", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or RETIRE:
        if name in KINDS:
            study(name, [make(KINDS[name]._replace(size=SIZE), CONTESTS, seed).contests for seed in SEEDS])
        else:
            for slots in (["driver"], ["driver", "constructor"]):
                study(", ".join(slots), [kn.read_contests(name, slots=slots)])


if __name__ == "__main__":
    main()
