"""Error rates and lengths of sequential tests of two sides, by simulation: the tables of docs/next-matches.md.

Each test is played game by game with the package's own ratio until it stops. ``--tests N`` sets how many.
"""

import argparse
import math
import sys
from itertools import product

import numpy as np

import kinelo as kn
from kinelo.decisions.two_sides import log_ratio
from kinelo.play.formula import kernel

SETTINGS = {
    "games, 90 % drawn, logistic (0, 5)": (3, 0.9, 0.0, "logistic", 5.0, 100_000),
    "games, half drawn, logistic (0, 20)": (3, 0.5, 0.0, "logistic", 20.0, 100_000),
    "games, half drawn, logistic (0, 5)": (3, 0.5, 0.0, "logistic", 5.0, 3_000),
    "games, no draws, logistic (0, 10)": (3, 0.0, 0.0, "logistic", 10.0, 6_000),
    "pairs, half drawn, normalised (0, 20)": (5, 0.5, 0.0, "normalised", 20.0, 10_000),
    "pairs, half drawn, openings biased by 100, logistic (0, 10)": (5, 0.5, 100.0, "logistic", 10.0, 100_000),
}
"""Outcomes, share of draws between equals, points that an opening is worth, kind of points, ``high``, and tests."""


def chances(points: float, drawn: float) -> np.ndarray:
    """Loss, draw and win of the side that is better by so many points, a draw's chance held."""
    mean = 1.0 / (1.0 + 10.0 ** (-points / 400.0))
    tie = min(drawn, 2.0 * mean, 2.0 * (1.0 - mean))
    return np.array([1.0 - mean - 0.5 * tie, tie, mean - 0.5 * tie])


def outcomes(size: int, drawn: float, bias: float, points: float) -> np.ndarray:
    """Chances of the outcomes of a game, or of a pair whose opening favours one side by ``bias``, then the other."""
    if size == 3:
        return chances(points, drawn)
    both = np.zeros(5)
    for i, j in product(range(3), range(3)):
        both[i + j] += chances(points + bias, drawn)[i] * chances(points - bias, drawn)[j]
    return both


def normalised(p: np.ndarray) -> float:
    """Normalised points of these chances."""
    x = np.arange(p.size) / (p.size - 1)
    mean = p @ x
    return (mean - 0.5) / math.sqrt(p @ (x - mean) ** 2) * 800.0 / math.log(10.0) / math.sqrt((p.size - 1) / 2.0)


def logistic(p: np.ndarray) -> float:
    """Logistic points of these chances."""
    mean = p @ np.arange(p.size) / (p.size - 1)
    return -400.0 * math.log10(1.0 / mean - 1.0)


def at(size: int, drawn: float, bias: float, kind: str, wanted: float) -> np.ndarray:
    """Chances at which the side is better by so many points of a kind."""
    low, high = -300.0, 300.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        p = outcomes(size, drawn, bias, middle)
        low, high = (middle, high) if (normalised if kind == "normalised" else logistic)(p) < wanted else (low, middle)
    return outcomes(size, drawn, bias, 0.5 * (low + high))


@kernel
def play(p, high, by_deviation, bound, tests, rng):
    """How many tests accepted, and games that each took."""
    edges = np.cumsum(p)
    accepted, games = 0, np.empty(tests)
    for n in range(tests):
        counts, guess = np.zeros(p.size), np.zeros(2)
        ratio = 0.0
        while -bound < ratio < bound:
            u, k = rng.random(), 0
            while k < p.size - 1 and u >= edges[k]:
                k += 1
            counts[k] += 1.0
            ratio = log_ratio(counts, 0.0, high, by_deviation, guess)
        accepted += ratio >= bound
        games[n] = counts.sum()
    return accepted, games


def main() -> int:
    """Print the table; 1 where an error rate is not what it should be."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="rows that hold one of these words")
    parser.add_argument("--tests", type=int, help="tests of each row; each has its own number otherwise")
    asked = parser.parse_args()
    wrong, bound = 0, kn.sequential_test(0, 5).bounds[1]
    print("setting | tests | type I | type II | at the lower bound | in the middle | a fixed test")
    for name, (size, drawn, bias, kind, high, usual) in SETTINGS.items():
        if asked.names and not any(word in name for word in asked.names):
            continue
        tests = asked.tests or usual
        rows = []
        for share, count in ((0.0, tests), (1.0, tests), (0.5, max(tests // 4, 100))):
            p = at(size, drawn, bias, kind, share * high)
            accepted, games = play(p, high, kind == "normalised", bound, count, np.random.default_rng(1))
            rows.append((accepted / count, games.mean(), games.std() / math.sqrt(count)))
        first, second = rows[0][0], 1.0 - rows[1][0]
        error = math.sqrt(0.05 * 0.95 / tests)
        # Ratios overshoot their bounds, which makes errors rarer, the more so the further one game moves them.
        wrong += max(first, second) > 0.05 + 0.005 + 3 * error
        halfway = at(size, drawn, bias, kind, 0.5 * high) * 1e6
        fixed = kn.sequential_test(0, high, points=kind, pairs=size == 5).update_counts(np.round(halfway)).fixed_length
        lengths = " | ".join(f"{mean:,.0f} ± {se:,.0f}" for _, mean, se in (rows[0], rows[2]))
        print(f"{name} | {tests:,} | {first:.4f} | {second:.4f} ± {error:.4f} | {lengths} | {fixed:,.0f}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
