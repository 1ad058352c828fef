"""Speed of decisions: the next matches of a thousand players, and a million votes of judges."""

from __future__ import annotations

import numpy as np
import polars as pl

import kinelo as kn
from bench_ratings import fastest

SECTION = "Decisions: speed"


def test_next_matches(table):
    rng = np.random.default_rng(1)
    names = [f"P{k}" for k in range(1000)]
    start = {"name": names, "rating": rng.normal(1500, 200, 1000), "deviation": rng.uniform(30, 120, 1000)}
    rater = kn.Glicko(start=start, ties=0.2, home_advantage=0.0)
    for target in ("leader", "order"):
        seconds = fastest(lambda target=target: kn.next_matches(rater, count=100, target=target), 5)
        what = f"the next 100 of 1,000 players, target {target}"
        table(SECTION).row(what, f"{seconds * 1e3:.0f} ms", "under 100 ms", seconds < 0.1)


def test_a_million_votes(table):
    rng = np.random.default_rng(1)
    models, judges, votes = 200, 50_000, 1_000_000
    strength = rng.normal(0, 120, models)
    i = rng.integers(0, models, votes)
    j = (i + rng.integers(1, models, votes)) % models
    won = rng.random(votes) < 1 / (1 + 10 ** ((strength[j] - strength[i]) / 400))
    names = np.array([f"model {k}" for k in range(models)])
    frame = pl.DataFrame({
        "home": names[i], "away": names[j], "result": np.where(rng.random(votes) < 0.2, 0.5, won), "neutral": True,
        "judge": np.char.add("judge ", rng.integers(0, judges, votes).astype(str)),
    })  # fmt: skip
    matches = kn.read_matches(frame, conditions=["judge"])
    rater = kn.BradleyTerry(errors_by="judge").fit(matches)
    for what, work, target in (
        ("read", lambda: kn.read_matches(frame, conditions=["judge"]), 10),
        ("strengths and draws", lambda: kn.BradleyTerry().fit(matches), 10),
        ("errors by judge", lambda: rater.ratings_, 10),
        ("judges who do not look", lambda: kn.judges(rater, matches), 10),
    ):
        seconds = fastest(work, 2)
        what = f"{votes:,} votes of {judges:,} judges on {models} models: {what}"
        table(SECTION).row(what, f"{seconds:.1f} s", f"under {target} s", seconds < target)
