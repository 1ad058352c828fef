"""Does an audit see how far strengths lie apart, however calendars are made, and what became of the worth of a rating?

    python verification/like_meets_like.py [calendars] [leavers]

Leagues of eleven kinds of calendars, eight seeds each: by strength, by rating, Swiss rounds, divisions with promotion,
regions, by chance, and mixtures. How often the 95 % intervals of the spread of strengths, the correlation of opponents
and the share of differences that ratings show hold the truth. Then leagues of 80 from which one leaves by chance, the
weakest or the strongest of three, or who lost most lately, and newcomers enter 120 points below, at or above the mean:
inflation against what became of rating less true strength of those who play, counted apart, and how often 80 %
intervals hold it.

Exit code 1 if less than 88 % of all intervals of one of the three hold (with 93 % that hold, once in fifty studies), or
coverage of inflation lies outside 65 to 95 %, of a kind by more than three standard errors.
"""

from __future__ import annotations

import math
import sys

import numpy as np

import kinelo as kn
from calendars import DIVISIONS, MIXED, RANDOM, RATING, REGION, STRENGTH, SWISS, Kind, League, play
from kinelo.advice.audit.alike import FOLLOWS_RESULTS, OpponentsFound, opponents_found
from kinelo.advice.audit.estimate import estimate_league, filter_league, smooth_league
from kinelo.advice.audit.hindsight import strengths_in_hindsight
from kinelo.advice.audit.inflation import rating_inflation
from kinelo.advice.audit.kernels import CHESS_NU, Calendar, System

LEAST_HELD = 0.88
OPEN_SIDES, OPEN_GAMES, OPEN_YEARS, OPEN_SPREAD, OPEN_K = 80, 6000, 4.0, 150.0, 24.0
LEAVING = {"by chance": 1, "weakest": 3, "strongest": 3, "after a fall": 3}
NORMAL_80 = 1.2816


def read(rows: list[tuple]) -> kn.matches.Matches:
    """Matches on neutral ground, in their order."""
    return kn.read_matches(dict(zip(("date", "round", "home", "away", "result", "neutral"), map(list, zip(*rows)))))


def day_of(n: int, games: int, years: float) -> str:
    """The day of the n-th match."""
    return str(np.datetime64("2015-01-01") + int(n / games * years * 365.25))


KINDS = {
    "nearest strength of 5": Kind(STRENGTH, 5, 120, 60, 220.0),
    "nearest strength of 2, walking": Kind(STRENGTH, 2, 100, 50, 200.0, walk=4.0, form=0.0002),
    "nearest rating of 8": Kind(RATING, 8, 120, 60, 220.0),
    "nearest rating of 4, few matches": Kind(RATING, 4, 100, 30, 200.0),
    "nearest rating of 5, walking, draws": Kind(RATING, 5, 120, 60, 200.0, draws=0.4, walk=4.0, form=0.0002),
    "Swiss rounds": Kind(SWISS, 1, 100, 50, 200.0),
    "divisions, seeded, promotion": Kind(DIVISIONS, 1, 120, 60, 220.0),
    "divisions by lot, promotion": Kind(DIVISIONS, 1, 120, 60, 220.0, seeded=99.0),
    "regions": Kind(REGION, 1, 120, 60, 220.0),
    "random": Kind(RANDOM, 1, 100, 40, 180.0, home=40.0, draws=0.2),
    "strength and rating by turns": Kind(MIXED, 5, 120, 60, 220.0),
}


def found_in(league: League) -> OpponentsFound:
    """What an audit finds of opponents at the K by which the league was rated."""
    calendar = Calendar.of(league.matches)
    parameters = estimate_league(calendar).parameters
    filtered = smooth_league(calendar, filter_league(calendar, parameters))
    strengths = strengths_in_hindsight(calendar, parameters, filtered)
    home = np.where(league.matches.neutral, 0.0, league.kind.home)
    system = System(CHESS_NU, CHESS_NU, 0.0, home, np.zeros(calendar.sides))
    return opponents_found(calendar, parameters, strengths, system, np.full((calendar.size, 2), league.kind.k / 2), 2.0)


def truth_of(league: League, active: np.ndarray) -> tuple[float, float, float]:
    """Spread of those who are active, correlation of opponents, and slope of played ratings on strengths."""
    rater = kn.TeamElo.classic(k=league.kind.k, home_advantage=league.kind.home).fit(league.matches)
    table = dict(rater.ratings_.select("name", "rating").iter_rows())
    rating = np.array([table[name] for name in league.matches.teams])[active]
    strength, both = league.strength[active], league.played
    alike = np.corrcoef(both.ravel(), both[:, ::-1].ravel())[0, 1]
    return float(strength.std(ddof=1)), float(alike), float(np.polyfit(strength, rating, 1)[0])


def study_calendars(seeds: int = 8) -> int:
    """Print a line for each kind; how many of the three miss over all kinds."""
    print("| calendar | true spread, found | correlation | share shown | held of spread, correlation, share | "
          "follows results | width of the spread |\n|---|---|---|---|---|---|---|")  # fmt: skip
    held, widths = [], []
    for name, kind in KINDS.items():
        rows = []
        for seed in range(seeds):
            league = play(kind, 1000 + seed)
            found = found_in(league)
            true = truth_of(league, found.today.active)
            ranges = (found.spread, found.correlation, found.share_shown)
            holds = [one.low <= t <= one.high for one, t in zip(ranges, true)]
            rows.append(
                [*true, *(one.value for one in ranges), *holds, found.luck, found.spread.high / found.spread.low]
            )
        mean = np.mean(rows, axis=0)
        held.append(np.array(rows)[:, 6:9])
        widths.append(np.log(np.array(rows)[:, 10]))
        print(
            f"| {name} | {mean[0]:.0f}, {mean[3]:.0f} | {mean[1]:.2f}, {mean[4]:.2f} | {mean[2]:.2f}, {mean[5]:.2f} | "
            f"{mean[6]:.2f}, {mean[7]:.2f}, {mean[8]:.2f} | {np.mean(np.array(rows)[:, 9] > FOLLOWS_RESULTS):.2f} | "
            f"{np.exp(np.median(widths[-1])):.2f} |",
            flush=True,
        )
    share = np.concatenate(held).mean(axis=0)
    print(
        f"all {seeds * len(KINDS)}: {share[0]:.2f}, {share[1]:.2f}, {share[2]:.2f}; median ln(high/low) of the spread "
        f"{np.median(np.concatenate(widths)):.2f}"
    )
    return int((share < LEAST_HELD).sum())


def open_league(level: float, kind: str, seed: int) -> tuple[kn.matches.Matches, np.ndarray]:
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


def true_inflation(matches: kn.matches.Matches, truth: np.ndarray) -> float:
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
    wanted = sys.argv[1:] or ["calendars", "leavers"]
    misses = (study_calendars() if "calendars" in wanted else 0) + (study_leavers() if "leavers" in wanted else 0)
    sys.exit(misses > 0)
