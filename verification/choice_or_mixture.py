"""Does a mixture of raters forecast better than the one that is chosen? On simulated leagues of 25 kinds and real sets.

    python verification/choice_or_mixture.py [--seeds N] [KIND … | internationals nba mlb wyscout worldcup]

The first half of the matches is fitted: raters are compared within it, one is chosen or all are weighed, and fitted on
the whole of it. The second half is forecast one step ahead. Prints the log-loss of the rater that was chosen, and what
others differ from it by, ± one standard error (over leagues of a kind, over weeks of a real set): the usual rater, that
of the largest weight, the best in hindsight, and the mixture.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import kinelo as kn
from kinelo.forecasts.automatic import _best, compare, fitted, latest_part
from kinelo.forecasts.scores import log_loss
from kinelo.matches.day_order import forecast_until
from kinelo.raters.choice import candidates
from kinelo.raters.mixture import NEGLIGIBLE_WEIGHT, _weights_of
from leagues import KINDS, Kind, make

SIZES = (0.15, 0.4, 1.0)
"""Parts of the rounds of a kind that leagues play, in turn: some 600 to 4,000 matches."""

FURTHER = {
    "few sides": Kind(sides=6, rounds=300, walk=4.0),
    "many sides": Kind(sides=120, rounds=60, walk=6.0, spread=180.0),
    "games of one against one": Kind(sides=60, rounds=120, kappa=0.0, home=0.0, home_end=0.0, spread=200.0, walk=5.0),
}
SETS = {
    "internationals": (("intl_football/matches.csv",), {}, "1990-01-01", "2005-01-01"),
    "nba": (("nba/matches.csv", "nba/lineups.parquet"), {"home": "home_id", "away": "away_id"}, None, None),
    "mlb": (("mlb_retrosheet/matches_1990on.csv", "mlb_retrosheet/lineups_1990on.parquet"), {}, None, None),
    "wyscout": (("wyscout/matches.csv", "wyscout/lineups.csv"), {}, None, None),
    "worldcup": (("worldcup/matches.csv", "worldcup/lineups.csv"), {}, None, None),
}


def of_kind(kind: Kind, seed: int) -> kn.matches.Matches:
    return make(kind._replace(rounds=max(4, int(kind.rounds * SIZES[seed % len(SIZES)]))), seed).matches


def with_lineups(seed: int, **how: float) -> kn.matches.Matches:
    """A league of clubs whose players are known."""
    league = kn.sample_league(teams=8 + 4 * (seed % 3), seasons=2 + 2 * (seed % 3), seed=seed, **how)
    return kn.read_matches(league.results, lineups=league.lineups)


def with_margins(seed: int) -> kn.matches.Matches:
    """Scores of games with many points, between sides whose strengths walk."""
    rng = np.random.default_rng(seed)
    sides, count = 16, int(2400 * SIZES[seed % 3])
    strength, rows = 4.0 * rng.normal(size=sides), []
    for number in range(count):
        one, other = rng.choice(sides, 2, replace=False)
        strength += 0.02 * rng.normal(size=sides)
        gap = round(strength[one] - strength[other] + 3.0 + 11.0 * rng.normal())
        rows.append((number // 8, one, other, 100 + gap, 100))
    day, home, away, points, against = np.array(rows).T
    day = np.datetime64("2001-01-01") + day
    return kn.read_matches({"date": day, "home": home, "away": away, "home_score": points, "away_score": against})


def rules_that_end_draws(seed: int) -> kn.matches.Matches:
    """A league of which half the matches are drawn, until draws are played out in the middle of the half forecast."""
    matches = of_kind(KINDS["many draws"], seed)
    rng, late = np.random.default_rng(seed), np.arange(len(matches)) > 0.75 * len(matches)
    result = np.where(late & (matches.result == 0), rng.choice([-1, 1], len(matches)), matches.result)
    names = np.array(matches.teams)
    return kn.read_matches({
        "date": np.datetime64("1990-01-01") + matches.day - matches.day[0], "home": names[matches.home],
        "away": names[matches.away], "result": (result + 1) / 2, "neutral": matches.neutral,
    })  # fmt: skip


OTHERS = {
    "squads that matter": lambda seed: with_lineups(seed, player_spread=1.2),
    "squads that hardly matter": lambda seed: with_lineups(seed, player_spread=0.2, club_spread=0.6),
    "squads and promotion": lambda seed: with_lineups(seed, promoted=2),
    "margins": with_margins,
    "rules that end draws": rules_that_end_draws,
}
ALL = [*KINDS, *FURTHER, *OTHERS]


def league_of(name: str, seed: int) -> kn.matches.Matches:
    return OTHERS[name](seed) if name in OTHERS else of_kind({**KINDS, **FURTHER}[name], seed)


def losses(train: kn.matches.Matches, test: kn.matches.Matches) -> tuple[dict[str, np.ndarray], str, dict[str, float]]:
    """Log-loss of each match by rater, of the one chosen and of the mixture; who was chosen, and the first weights."""
    raters, left_out = candidates(train), {}
    latest = latest_part(train)
    half = len(latest) // 2
    compared, left_out = compare(latest[:half], latest[half:], raters)
    usual, names = next(iter(raters)), list(compared.forecasts)
    chosen = _best(compared, usual)
    found = {}
    for name in names:
        said = fitted(raters[name], train, name, left_out).one_step_ahead(test)
        found[name] = log_loss(said.probabilities, test.result)
    shares = _weights_of(names, compared).shares()
    members = [name for name, share in zip(names, shares, strict=True) if share >= NEGLIGIBLE_WEIGHT]
    weights = _weights_of(members, compared)
    begun = dict(zip(members, weights.shares().round(2).tolist(), strict=True))
    likelihoods = np.exp(-np.array([found[name] for name in members]))
    mixed = -np.log((weights.learn(likelihoods, forecast_until(test)) * likelihoods).sum(axis=0))
    named = {"usual": usual, "choice": chosen, "heaviest": max(begun, key=begun.__getitem__)}
    return {**found, **{role: found[name] for role, name in named.items()}, "mixture": mixed}, chosen, begun


def mean_and_error(values: np.ndarray) -> str:
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else np.nan
    return f"{values.mean():+.4f} ± {error:.4f}"


def row(name: str, choice: np.ndarray, *others: np.ndarray) -> None:
    """One line: what was lost, and what the others differ from the choice by."""
    print(
        f"| {name} | {choice.mean():.4f} | {' | '.join(mean_and_error(other - choice) for other in others)} |",
        flush=True,
    )


def of_simulated(name: str, seeds: int) -> np.ndarray:
    """Mean log-losses (choice, usual, heaviest, best in hindsight, mixture) of leagues of a kind, one a row."""
    rows = []
    for seed in range(seeds):
        matches, began = league_of(name, seed), time.process_time()
        half = len(matches) // 2
        found, chosen, weights = losses(matches[:half], matches[half:])
        mean = {key: float(values.mean()) for key, values in found.items()}
        best = min(value for key, value in mean.items() if key != "mixture")
        rows.append([mean["choice"], mean["usual"], mean["heaviest"], best, mean["mixture"]])
        note = f"{name} {seed} {half} {chosen} {rows[-1][-1] - rows[-1][0]:+.4f} {weights}"
        print(note, f"{time.process_time() - began:.0f} s", file=sys.stderr, flush=True)
    table = np.array(rows)
    row(name, *table.T)
    return table


def of_real(name: str, root: Path) -> None:
    files, columns, since, until = SETS[name]
    paths = [root / file for file in files]
    matches = kn.read_matches(paths[0], lineups=paths[1] if len(paths) > 1 else None, columns=columns)
    matches = matches if since is None else matches.since(since)
    until = until or matches.date[len(matches) // 2]
    train, test = matches.before(until), matches.since(until)
    found, chosen, weights = losses(train, test)
    mean = {key: round(float(values.mean()), 4) for key, values in found.items()}
    print(name, chosen, weights, mean, file=sys.stderr, flush=True)
    _, week = np.unique(test.day // 7, return_inverse=True)
    size = np.bincount(week) / len(test) * (week.max() + 1)
    best = min((key for key in found if key != "mixture"), key=lambda key: found[key].mean())
    shown = (found[key] for key in ("choice", "usual", "heaviest", best, "mixture"))
    row(name, *(np.bincount(week, values) / np.bincount(week) * size for values in shown))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=ALL)
    parser.add_argument("--seeds", type=int, default=6)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| matches | choice | usual − choice | heaviest − choice | best in hindsight − choice | mixture − choice |")
    print("|---|---|---|---|---|---|")
    tables = [of_simulated(name, asked.seeds) for name in asked.names if name not in SETS]
    if len(tables) > 1:
        row("all leagues", *np.concatenate(tables).T)
    for name in asked.names:
        if name in SETS:
            of_real(name, Path(os.environ.get("KINELO_DATA", "../shared/data")))


if __name__ == "__main__":
    main()
