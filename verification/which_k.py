"""Is the K that an audit advises the best one? Leagues of seventeen kinds with known truth, and real matches.

    python verification/which_k.py [kinds] [real] [outlook] [KIND …]

For each simulated league the best K is known: plain Elo, written apart from Kinelo's own, rates the same calendar
thirty times with new results between the same true strengths. Printed for each kind, over eight seeds:

- the best K, and what the audit advises over it (theory alone and backtest alone beside it), as geometric means;
- the log-loss that the advised K loses against the best one, mean and largest;
- how often the 95 % interval holds the best K of yet another replay, and the best K itself
  (first three seeds);
- the slope of results on forecasts at K = 32, and what moving from 32 to the best K saves: predicted and measured;
- verdicts on K = 32 that are wrong ("too large" or "too small" where that is not so), and those that miss something:
  "suits" where .001 is lost (first three seeds).

`outlook` audits leagues of ten kinds soon after their start, plays them on, and says how often the interval of the
matches to come holds the K that proves best over them.

Exit code 1 if some kind's mean is off by more than 10 % and loses .0003 or more, or coverage lies outside .9 to .98 by
more than chance (three standard errors).
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import kinelo as kn
from kinelo.advice.audit.backtest import KBacktest, backtest, k_grid, lowest
from kinelo.advice.audit.estimate import estimate_league
from kinelo.advice.audit.in_use import SystemInUse, anew, system_of
from kinelo.advice.audit.kernels import Calendar
from kinelo.advice.audit.recursion import Prediction, Recursion
from kinelo.raters.team.rater import losses_by_k
from leagues import ALIKE, KINDS, UNEVEN, Kind, League, elo_losses, make, play_again

SEEDS = range(7001, 7009)
WITH_INTERVALS = 3
"""Seeds whose intervals are computed too: they take three times as long as the K itself."""
REPLAYS = 30
IN_USE = 32.0
SETS = {
    "basketball (NBA)": ("nba/matches.csv", {"home": "home_id", "away": "away_id"}),
    "baseball (MLB)": ("mlb_retrosheet/matches_1990on.csv", {}),
    "football (internationals)": ("intl_football/matches.csv", {}),
    "football (world cups)": ("worldcup/matches.csv", {"result": "outcome_home_onpitch"}),
    "football (clubs)": ("wyscout/matches.csv", {"result": "outcome_home_onpitch"}),
}
HEAD = (
    "| kind | best K | advised / best | theory | backtest | lost, mean (most) | interval holds replay, best | "
    "slope at 32: predicted, measured | 32 → best saves: predicted, measured | verdicts wrong, missing |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


_YOUNG = Kind(sides=50, rounds=180, spread=200.0, walk=0.0, home=0.0, home_end=0.0, kappa=0.0)
START_UPS = {
    "at rest": _YOUNG,
    "at rest, draws and home": _YOUNG._replace(sides=40, home=40.0, home_end=40.0, kappa=0.7),
    "slow walk": _YOUNG._replace(walk=2.0, kappa=0.5),
    "walk": _YOUNG._replace(walk=5.0, kappa=0.5),
    "fast walk": _YOUNG._replace(walk=12.0, kappa=0.5),
    "returning form": _YOUNG._replace(spread=150.0, walk=6.0, return_rate=0.01),
    "newcomers, weaker": _YOUNG._replace(walk=2.0, turnover=0.15, newcomer_level=-100.0),
    "seasons": _YOUNG._replace(spread=150.0, walk=1.0, season_walk=50.0),
    "uneven activity": _YOUNG._replace(sides=80, rounds=220, walk=3.0, pairing=UNEVEN),
    "like meets like": _YOUNG._replace(walk=2.0, pairing=ALIKE),
}
PAST_ROUNDS, START_UP_K, START_UP_SEEDS = 80, 20.0, range(9101, 9103)


class Light(NamedTuple):
    """An audit without its intervals and words."""

    since: int
    theory: float
    measured: KBacktest
    now: Prediction
    best: Prediction
    slope: tuple[float, float]
    system: SystemInUse


def light_audit(matches: kn.matches.Matches) -> Light:
    """Theory and backtest alone, as an audit computes them."""
    since = len(matches) // 2
    system, _ = system_of(None, matches, since)
    league = estimate_league(Calendar.of(matches))
    system = system.with_ties(league.ties)
    recursion = Recursion(Calendar.of(matches), league.parameters, system.in_kernels(matches), since)
    theory = recursion.best()
    measured = backtest(lambda some: system.losses(matches, some), k_grid(theory, IN_USE), since)
    gaps = system.gaps(matches, system.ratings_before(matches, IN_USE), since)
    return Light(
        since, theory, measured, recursion.at(IN_USE), recursion.at(theory), gaps.slope(matches.signed[since:]), system
    )


def truth(kind: Kind, league: League, found: Light) -> tuple[float, float, np.ndarray, np.ndarray]:
    """The best K, the best K of one more replay, and the true mean loss over a grid of K."""
    matches, since = league.matches, found.since
    home = np.where(matches.neutral, 0.0, found.system.home_advantage)
    ks = found.theory * 1.2 ** np.arange(-12.0, 13.0)
    ks = np.unique(np.append(ks, IN_USE))
    S, total, last = np.empty(len(matches)), np.zeros(ks.size), np.zeros(ks.size)
    for n in range(REPLAYS + 1):
        play_again(league.gap, kind.kappa, np.random.default_rng([n, len(matches)]), S)
        losses = elo_losses(
            matches.home, matches.away, S, home, ks, found.system.ties, len(matches.teams)
        )[:, since:].mean(axis=1)  # fmt: skip
        if n < REPLAYS:
            total += losses / REPLAYS
        else:
            last = losses
    best, again = (lowest(ks, curve[:, None])[0] for curve in (total, last))
    return best, again, ks, total


def judged(league: League, best: float, again: float, gone: float) -> dict[str, float]:
    """Whether the audit's intervals hold the truth, and its verdict is right."""
    found = kn.audit(league.matches, kn.TeamElo.classic(k=IN_USE, home_advantage=None))
    (low, high), advice, said = found.measured.interval, found.advice, found.verdict
    return {
        "replay": advice.low <= again <= advice.high, "own": advice.low <= best <= advice.high,
        "theory_replay": found.curve.low <= again <= found.curve.high, "boot_own": low <= best <= high,
        "wrong": ("too large" in said and best > IN_USE) or ("too small" in said and best < IN_USE),
        "missed": "suits" in said and gone > 0.001, "disagree": not advice.agree,
    }  # fmt: skip


def study(name: str, kind: Kind) -> dict[str, np.ndarray]:
    """Audit eight leagues of a kind and print a row."""
    rows: dict[str, list[float]] = {}
    for place, seed in enumerate(SEEDS):
        league = make(kind, seed)
        light = light_audit(league.matches)
        best, again, ks, curve = truth(kind, league, light)

        def lost(k: float, ks: np.ndarray = ks, curve: np.ndarray = curve) -> float:
            return float(np.interp(math.log(k), np.log(ks), curve) - curve.min())

        advised = math.sqrt(light.theory * light.measured.best)
        row = {
            "best": best, "advised": math.log(advised / best), "theory": math.log(light.theory / best),
            "backtest": math.log(light.measured.best / best), "lost": lost(advised),
            "slope": light.slope[0], "slope_predicted": light.now.slope, "slope_error": light.slope[1],
            "saved": light.measured.at(IN_USE) - light.measured.at(light.measured.best),
            "saved_predicted": light.now.log_loss - light.best.log_loss,
        }  # fmt: skip
        if place < WITH_INTERVALS:
            row |= judged(league, best, again, lost(IN_USE))
        for key, value in row.items():
            rows.setdefault(key, []).append(float(value))
    r = {key: np.array(values) for key, values in rows.items()}
    mean = {key: float(values.mean()) for key, values in r.items()}
    print(
        f"| {name} | {math.exp(np.log(r['best']).mean()):.1f} | {math.exp(mean['advised']):.2f} | "
        f"{math.exp(mean['theory']):.2f} | {math.exp(mean['backtest']):.2f} | {mean['lost']:.5f} "
        f"({r['lost'].max():.5f}) | "
        f"{mean['replay']:.2f}, {mean['own']:.2f} | {mean['slope_predicted']:.2f}, {mean['slope']:.2f} | "
        f"{mean['saved_predicted']:.4f}, {mean['saved']:.4f} | {r['wrong'].sum():.0f}, {r['missed'].sum():.0f} |",
        flush=True,
    )
    return r


def kinds(chosen: list[str]) -> bool:
    """The table of simulated kinds; whether all is well."""
    print(HEAD)
    all_rows = {name: study(name, KINDS[name]) for name in chosen}
    well = True
    for name, r in all_rows.items():
        if abs(r["advised"].mean()) > math.log(1.1) and r["lost"].mean() >= 0.0003:
            print(f"{name}: advised K off by {math.exp(r['advised'].mean()):.2f}, losing {r['lost'].mean():.5f}")
            well = False
    together = {key: np.concatenate([r[key] for r in all_rows.values()]) for key in next(iter(all_rows.values()))}
    for key in ("replay", "own", "theory_replay", "boot_own"):
        share, error = together[key].mean(), math.sqrt(0.05 * 0.95 / together[key].size)
        print(f"coverage, {key}: {share:.3f} of {together[key].size}")
        if key == "own" and not 0.9 - 3 * error <= share <= 0.98 + 3 * error:
            well = False
    z = (together["slope"] - together["slope_predicted"]) / together["slope_error"]
    print(f"slope: mean square of (measured − predicted)/standard error {np.mean(z**2):.2f}, mean {z.mean():+.2f}")
    off = together["saved"] - together["saved_predicted"]
    print(f"saving from 32: measured less predicted {off.mean():+.4f} ± {off.std():.4f}")
    print(
        f"advised / best: geometric mean {math.exp(together['advised'].mean()):.3f}, mean lost "
        f"{together['lost'].mean():.5f}; theory and backtest disagree in {together['disagree'].sum():.0f}; wrong "
        f"verdicts {together['wrong'].sum():.0f}, missed {together['missed'].sum():.0f} of {together['wrong'].size}"
    )
    return well


def outlook() -> bool:
    """Leagues soon after their start, played on; whether intervals of the matches to come hold as often as they say."""
    print("| kind | matches to come | outlook (95 %) | proves best | holds |\n|---|---|---|---|---|")
    held: list[bool] = []
    for name, kind in START_UPS.items():
        for seed in START_UP_SEEDS:
            league = make(kind, seed).matches
            now = PAST_ROUNDS * (len(league) // kind.rounds)
            found = kn.audit(league[:now], kn.TeamElo.classic(k=START_UP_K, home_advantage=None))
            ahead = found.outlook
            table = found.in_use.blank().update(league[:now]).ratings_
            start = dict(zip(table["name"], table["rating"]))
            ks = np.geomspace(0.3, 300.0, 45)
            losses = losses_by_k(anew(found.in_use.rater, start=start), league[now : now + ahead.matches], ks)
            best = lowest(ks, losses.mean(axis=1)[:, None])[0]
            held.append(ahead.low <= best <= ahead.high)
            print(
                f"| {name} | {ahead.matches:,} | {ahead.k:.3g} ({ahead.low:.3g}–{ahead.high:.3g}) | {best:.3g} | "
                f"{'yes' if held[-1] else 'no'} |",
                flush=True,
            )
    print(f"{sum(held)} of {len(held)} hold; 95 % of so many: at least {0.95 * len(held) - 3:.0f}")
    return sum(held) >= 0.95 * len(held) - 3


def real() -> None:
    """The table of real matches."""
    folder = Path(os.environ.get("KINELO_DATA", Path(__file__).parents[2] / "shared" / "data"))
    print("| league | matches | advised (95 %) | theory (95 %) | backtest (95 %) | lost at theory's | by quarters |")
    print("|---|---|---|---|---|---|---|")
    for name, (path, columns) in SETS.items():
        found = kn.audit(kn.read_matches(folder / path, columns=columns))
        a, c, m = found.advice, found.curve, found.measured
        quarters = ", ".join(f"{one.measured:.3g}" for one in found.periods)
        print(
            f"| {name} | {len(found.matches):,} | {a.k:.3g} ({a.low:.3g}–{a.high:.3g}) | {c.best.k:.3g} ({c.low:.3g}–"
            f"{c.high:.3g}) | {m.best:.3g} ({m.interval[0]:.3g}–{m.interval[1]:.3g}) | "
            f"{m.at(c.best.k) - m.at(m.best):.5f} | {quarters} |"
        )
        print(f"    {found.verdict}")
        print(
            f"    slope at 32: predicted {found.now.slope:.2f}, measured {found.slope[0]:.2f} ± {found.slope[1]:.2f}; "
            f"saving from 32: predicted {found.now.log_loss - c.best.log_loss:.4f}, measured "
            f"{m.at(IN_USE) - m.at(m.best):.4f}; home {found.home.today:.0f}, following it "
            f"saves {found.home.gain:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["kinds", "real"]
    names = [name for name in wanted if name in KINDS] or (list(KINDS) if "kinds" in wanted else [])
    well = kinds(names) if names else True
    if "outlook" in wanted:
        well = outlook() and well
    if "real" in wanted:
        real()
    sys.exit(0 if well else 1)
