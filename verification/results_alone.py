"""Which rater is the usual one where results alone are known? What ± is worth, and forecasts, of KalmanElo and TeamElo.

    python verification/results_alone.py [--leagues N] [--seed SEED]

``uncertainty``: leagues of 8 to 60 sides whose strengths stand still or wander, opponents drawn at random, 6 to 120
matches a side; root mean square of the errors of ratings in their ±, and the share within 2 ±. ``forecasts``: log-loss
of TeamElo less that of KalmanElo, ± one standard error, by matches fitted, on leagues like these and on the kinds of
leagues.py.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict

import numpy as np

import kinelo as kn
from kinelo.forecasts.scores import log_loss
from leagues import KINDS, make

RATERS = (kn.KalmanElo, kn.TeamElo)


def played(rng: np.random.Generator, sides: int, count: int, spread: float, draws: float, walk: float, home: float):
    """Matches by Davidson's law with Elo's slope between equals, and strengths at the end; they ``walk`` that far."""
    strength = rng.normal(0.0, spread, sides)
    first = rng.integers(0, sides, count)
    second = (first + rng.integers(1, sides, count)) % sides
    result = np.empty(count)
    for k, (a, b) in enumerate(zip(first, second, strict=True)):
        if walk:
            strength += rng.normal(0.0, walk / np.sqrt(count), sides)
        z = 10.0 ** ((strength[a] - strength[b] + home) / 800.0 * (1.0 + draws))
        result[k] = rng.choice([1.0, 0.5, 0.0], p=np.array([z, 2.0 * draws, 1.0 / z]) / (z + 2.0 * draws + 1.0 / z))
    days = np.datetime64("2020-01-01") + np.arange(count) * 730 // count
    names = np.array([f"s{k}" for k in range(sides)])
    table = {
        "date": days,
        "home": names[first],
        "away": names[second],
        "result": result,
        "neutral": [home == 0.0] * count,
    }
    return kn.read_matches(table), dict(zip(names, strength, strict=True))


def uncertainty(rng: np.random.Generator, leagues: int) -> None:
    squares, within = defaultdict(list), defaultdict(list)
    for _ in range(leagues):
        sides, each = rng.choice([8, 16, 30, 60]), rng.choice([6, 15, 40, 120])
        spread, draws = rng.choice([60.0, 100.0, 150.0, 220.0, 300.0, 400.0]), rng.choice([0.0, 0.2, 0.4])
        walk = rng.choice([0.0, 0.0, 0.3, 0.8]) * spread
        matches, strength = played(rng, sides, sides * each // 2, spread, draws, walk, 0.0)
        for kind in RATERS:
            table = kind().fit(matches).ratings_
            true = np.array([strength[name] for name in table["name"]])
            rating = table["rating"].to_numpy()
            error = (rating - rating.mean() - true + true.mean()) / table["uncertainty"].to_numpy()
            where = (
                "to 100" if spread <= 100 else "150 to 220" if spread <= 220 else "300 and more",
                "moves" if walk else "stays",
            )
            squares[kind.__name__, *where].append(np.mean(error**2))
            within[kind.__name__, *where].append(np.mean(np.abs(error) < 2))
    for key in sorted(squares):
        root, share = np.sqrt(np.mean(squares[key])), np.mean(within[key])
        print(
            f"{', '.join(key)}: {len(squares[key])} leagues, error / ± {root:.2f}, within 2 ± {share:.3f}", flush=True
        )


def gap(fitted, ahead) -> float:
    losses = [log_loss(kind().fit(fitted).one_step_ahead(ahead).probabilities, ahead.result).mean() for kind in RATERS]
    return losses[1] - losses[0]


def report(name: str, gaps: list[float]) -> None:
    error = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
    print(f"{name}: TeamElo {np.mean(gaps):+.4f} ± {error:.4f} to KalmanElo, {len(gaps)} leagues", flush=True)


def forecasts(rng: np.random.Generator, leagues: int) -> None:
    gaps = defaultdict(list)
    for k in range(leagues):
        sides, spread = rng.choice([4, 8, 16, 30]), rng.choice([60.0, 100.0, 150.0, 220.0, 300.0])
        draws, walk, home = rng.choice([0.0, 0.2, 0.4]), rng.choice([0.0, 0.5]) * spread, rng.choice([0.0, 60.0])
        count = (12, 25, 50, 200, 600)[k % 5]
        matches, _ = played(rng, sides, count + 200, spread, draws, walk, home)
        gaps[count].append(gap(matches[:count], matches[count:]))
    for count, found in sorted(gaps.items()):
        report(f"{count} matches fitted", found)


def kinds(seed: int) -> None:
    gaps = []
    for name, kind in KINDS.items():
        matches = make(kind._replace(rounds=max(kind.rounds // 4, 20)), seed).matches
        middle = matches.date[len(matches) // 2]
        gaps.append(gap(matches.before(middle), matches.since(middle)))
        print(f"{name}, {len(matches):,} matches: {gaps[-1]:+.4f}", flush=True)
    report("kinds", gaps)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leagues", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(asked.seed)
    uncertainty(rng, asked.leagues)
    forecasts(rng, asked.leagues)
    kinds(asked.seed)


if __name__ == "__main__":
    main()
