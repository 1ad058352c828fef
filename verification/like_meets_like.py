"""Does an audit see how far strengths lie apart where like meets like, and what became of the worth of a rating?

    python verification/like_meets_like.py [ladders] [leavers]

Leagues of 200 sides at rest and walking, 7,000 matches, each against the nearest of 1, 3, 8 or 20 drawn by chance,
three seeds: spread and correlation of opponents against the truth, the share of differences shown against an Elo that
is played (K = 20), and how strengths stray from the truth in their own standard errors. Then leagues of 80 from which
one leaves by chance, the weakest or the strongest of three, or who lost most lately, and newcomers enter 120 points
below, at or above the mean: inflation against what became of rating less true strength of those who play, counted
apart, and how often 80 % intervals hold it.

Exit code 1 if a spread is off by more than 15 % (at the nearest of 20: lies outside its interval), a share by more than
.05, or coverage lies outside 65 to 95 %, of a kind by more than three standard errors.
"""

from __future__ import annotations

import math
import sys

import numpy as np

import kinelo as kn
from kinelo.advice.audit.alike import OpponentsFound, opponents_found
from kinelo.advice.audit.estimate import estimate_league, filter_league, smooth_league
from kinelo.advice.audit.hindsight import strengths_in_hindsight
from kinelo.advice.audit.inflation import rating_inflation
from kinelo.advice.audit.kernels import CHESS_NU, Calendar, System

SIDES, GAMES, SPREAD, K, YEARS, DRAWS = 200, 7000, 199.0, 20.0, 3.0, 0.04
WALK = 3.0
"""Points by which a strength moves from match to match, where it does."""
OPEN_SIDES, OPEN_GAMES, OPEN_YEARS, OPEN_SPREAD, OPEN_K = 80, 6000, 4.0, 150.0, 24.0
LEAVING = {"by chance": 1, "weakest": 3, "strongest": 3, "after a fall": 3}
NORMAL_80 = 1.2816


def read(rows: list[tuple]) -> kn.Matches:
    """Matches on neutral ground, in their order."""
    return kn.read_matches(dict(zip(("date", "round", "home", "away", "result", "neutral"), map(list, zip(*rows)))))


def day_of(n: int, games: int, years: float) -> str:
    """The day of the n-th match."""
    return str(np.datetime64("2015-01-01") + int(n / games * years * 365.25))


def ladder(nearest: int, walk: float, seed: int) -> tuple[kn.Matches, np.ndarray, float]:
    """Matches, strengths at the end by name, and the correlation of opponents."""
    g = np.random.default_rng([nearest, seed])
    strength, rows, pairs = g.normal(0, SPREAD, SIDES), [], []
    kappa = 2 * DRAWS / (1 - DRAWS)
    nu = math.log(10) / 800 * (1 + kappa / 2)
    for n in range(GAMES):
        i = g.integers(SIDES)
        others = g.integers(SIDES - 1, size=nearest)
        others += others >= i
        j = others[np.argmin(np.abs(strength[others] - strength[i]))]
        up = math.exp(nu * (strength[i] - strength[j]))
        u = g.random() * (up + 1 / up + kappa)
        result = 1.0 if u < up else (0.5 if u < up + kappa else 0.0)
        rows.append((day_of(n, GAMES, YEARS), n, f"p{i}", f"p{j}", result, 1))
        pairs.append((strength[i], strength[j]))
        strength[[i, j]] += walk * g.normal(size=2)
    matches, both = read(rows), np.array(pairs)
    alike = 1 - np.mean((both[:, 0] - both[:, 1]) ** 2) / (2 * both.var())
    return matches, strength[[int(name[1:]) for name in matches.teams]], float(alike)


def found_in(matches: kn.Matches) -> OpponentsFound:
    """What an audit finds of opponents at K = 20."""
    calendar = Calendar.of(matches)
    parameters = estimate_league(calendar).parameters
    filtered = smooth_league(calendar, filter_league(calendar, parameters))
    strengths = strengths_in_hindsight(calendar, parameters, filtered)
    system = System(CHESS_NU, CHESS_NU, 0.0, np.zeros(calendar.size), np.zeros(calendar.sides))
    return opponents_found(calendar, parameters, strengths, system, np.full((calendar.size, 2), K / 2), 2.0)


def study_ladders() -> int:
    """Print a line for each league; how many miss."""
    missed = 0
    print("| walk | nearest of | seed | spread, true | correlation, true | share shown, played | nine tenths take | "
          "slowest | errors: root mean square, most |\n|---|---|---|---|---|---|---|---|---|")  # fmt: skip
    for walk in (0.0, WALK):
        for nearest in (1, 3, 8, 20):
            for seed in (1, 2, 3):
                matches, truth, alike = ladder(nearest, walk, seed)
                found, truth = found_in(matches), truth - truth.mean()
                table = dict(kn.TeamElo.classic(k=K).fit(matches).ratings_.select("name", "rating").iter_rows())
                rating = np.array([table[name] for name in matches.teams])
                played, true = float(truth @ rating / (truth @ truth)), float(truth.std(ddof=1))
                z = (found.today.strength - truth) / np.sqrt(found.today.variance)
                low, high = found.spread_range
                off = not low < true < high if nearest == 20 else abs(found.spread.value / true - 1) > 0.15
                wrong = abs(found.share_shown.value - played) > 0.05
                missed += off + wrong
                print(
                    f"| {walk:g} | {nearest} | {seed} | {found.spread.value:.0f} ({low:.0f} to {high:.0f}), {true:.0f} "
                    f"| {found.correlation.value:.2f}, {alike:.2f} | {found.share_shown.value:.3f}, "
                    f"{played:.3f} | {found.matches_needed:,.0f} | {found.relaxation:,.0f} | "
                    f"{np.sqrt(np.mean(z**2)):.2f}, {np.abs(z).max():.1f} |{' missed' * (off or wrong)}",
                    flush=True,
                )
    return missed


def open_league(level: float, kind: str, seed: int) -> tuple[kn.Matches, np.ndarray]:
    """Matches of a league with comings and goings, and true strengths of both sides in each."""
    g = np.random.default_rng([seed, int(level) + 1000, *kind.encode()])
    strength, names, count = g.normal(0, OPEN_SPREAD, OPEN_SIDES), list(range(OPEN_SIDES)), OPEN_SIDES
    lately, rows, truth = np.zeros(OPEN_SIDES), [], []
    for n in range(OPEN_GAMES):
        i = g.integers(OPEN_SIDES)
        j = (i + g.integers(1, OPEN_SIDES)) % OPEN_SIDES
        won = g.random() < 1 / (1 + 10 ** ((strength[j] - strength[i]) / 400))
        lately[i], lately[j] = 0.9 * lately[i] + won - 0.5, 0.9 * lately[j] + 0.5 - won
        rows.append((day_of(n, OPEN_GAMES, OPEN_YEARS), n, f"p{names[i]}", f"p{names[j]}", float(won), 1))
        truth.append((strength[i], strength[j]))
        if g.random() < 0.012:
            some = g.integers(OPEN_SIDES, size=LEAVING[kind])
            order = {"strongest": -strength[some], "after a fall": lately[some]}.get(kind, strength[some])
            left = some[np.argmin(order)]
            strength[left], names[left], count, lately[left] = g.normal(level, OPEN_SPREAD), count, count + 1, 0.0
    return read(rows), np.array(truth)


def true_inflation(matches: kn.Matches, truth: np.ndarray) -> float:
    """Points a year by which the mean of rating less true strength rose, each side once in every half year it plays."""
    rating = kn.TeamElo.classic(k=OPEN_K).one_step_ahead(matches).ratings_before
    assert rating is not None
    part = (np.arange(OPEN_GAMES) * 2 * OPEN_YEARS // OPEN_GAMES).astype(int)
    seen: dict[tuple[int, int], list[float]] = {}
    for n in range(OPEN_GAMES):
        for side, code in enumerate((matches.home[n], matches.away[n])):
            seen.setdefault((int(part[n]), int(code)), []).append(float(rating[n, side] - truth[n, side]))
    slope, _ = np.polyfit([half / 2 for half, _ in seen], [np.mean(some) for some in seen.values()], 1)
    return float(slope)


def study_leavers(seeds: int = 10) -> int:
    """Print a line for each kind; how many miss."""
    missed, surprises = 0, []
    print("| leaves | newcomers | found ± error | true | 80 % intervals that hold the truth |\n|---|---|---|---|---|")
    for kind in LEAVING:
        for level in (-120.0, 0.0, 120.0):
            rows = []
            for seed in range(seeds):
                matches, truth = open_league(level, kind, seed)
                found = rating_inflation(kn.TeamElo.classic(k=OPEN_K).fit(matches), matches)
                assert found is not None and found.per_year is not None
                rows.append((found.per_year.mean, found.per_year.error, true_inflation(matches, truth)))
            mean, error, true = np.array(rows).T
            surprises.append((mean - true) / error)
            held = float(np.mean(np.abs(surprises[-1]) < NORMAL_80))
            slack = 3 * math.sqrt(0.16 / seeds)
            missed += not 0.65 - slack <= held <= 0.95 + slack
            print(
                f"| {kind} | {level:+.0f} | {mean.mean():.1f} ± {error.mean():.1f} | {true.mean():.1f} | {held:.2f} |",
                flush=True,
            )
    z = np.concatenate(surprises)
    held = float(np.mean(np.abs(z) < NORMAL_80))
    print(f"of {z.size} intervals {held:.2f} hold; mean surprise {z.mean():+.2f}, mean square {np.mean(z**2):.2f}")
    return missed + (not 0.65 <= held <= 0.95)


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["ladders", "leavers"]
    misses = (study_ladders() if "ladders" in wanted else 0) + (study_leavers() if "leavers" in wanted else 0)
    sys.exit(misses > 0)
