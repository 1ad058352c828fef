"""How fast stationary ratings are found, how time and memory grow with the league, and how closely methods agree."""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pytest

import kinelo as kn

Result = TypeVar("Result")
SECTION = "Stationary ratings"
SYSTEM = kn.RatingSystem(kn.Tanh(0.5), gamma=0.25)


def league(teams: int) -> kn.Normal:
    random = np.random.default_rng(1)
    return kn.Normal(random.uniform(4, 10, teams), random.uniform(0, 1.5, teams))


def seconds(action: Callable[[], Result]) -> tuple[float, Result]:
    begun = time.perf_counter()
    result = action()
    return time.perf_counter() - begun, result


def test_dense_and_matrix_free(table):
    teams = league(2000)
    dense_time, dense = seconds(lambda: kn.stationary(SYSTEM, teams, method="dense"))
    free_time, free = seconds(lambda: kn.stationary(SYSTEM, teams, method="matrix-free"))
    apart = float(np.abs(dense.rating - free.rating).max())
    section = table(SECTION)
    section.row("map of 2,000 teams, dense", f"{dense_time:.2f} s", "< 10 s", dense_time < 10)
    section.row("same, residual drift", f"{dense.residual:.1e}", "≤ 1e-12", dense.residual <= 1e-12)
    section.row("map of 2,000 teams, matrix-free", f"{free_time:.2f} s ({dense_time / free_time:.0f}× faster)")
    section.row("dense against matrix-free, largest difference of a rating", f"{apart:.1e}", "≤ 1e-6", apart <= 1e-6)
    assert apart <= 1e-6 and dense.residual <= 1e-12


def test_growth_with_the_league(table):
    sizes, times, peaks = (1_000, 10_000, 100_000), [], []
    for size in sizes:
        teams = league(size)
        times.append(seconds(lambda teams=teams: kn.stationary(SYSTEM, teams, method="matrix-free"))[0])
        tracemalloc.start()
        state = kn.stationary(SYSTEM, teams, method="matrix-free")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert state.residual <= 1e-12
    power = math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])
    per_team = peaks[-1] / sizes[-1]
    section = table(SECTION)
    section.row("map of 1,000 / 10,000 / 100,000 teams, matrix-free", " / ".join(f"{t:.2f} s" for t in times))
    section.row("growth of time with N (exponent between 1,000 and 100,000)", f"N^{power:.2f}", "≤ N^1.1", power <= 1.1)
    section.row(
        "memory of 100,000 teams, at its peak",
        f"{peaks[-1] / 1e6:.0f} MB ({per_team:.0f} bytes a team; a full matrix has 80 GB)",
        "O(N)",
        per_team < 2000,
    )


@pytest.mark.parametrize("size", [100_000])
def test_noise_and_relaxation_of_a_large_league(table, size):
    teams = league(size)
    noise_time, noisy = seconds(lambda: kn.stationary(SYSTEM, teams, noise="gaussian"))
    gap_time, _ = seconds(lambda: kn.relaxation(SYSTEM, teams))
    table(SECTION).row(f"rating noise of {size:,} teams", f"{noise_time:.1f} s")
    table(SECTION).row(f"relaxation time of {size:,} teams (with the map)", f"{gap_time:.1f} s")
    assert noisy.residual <= 1e-12


def test_everyday_questions(table):
    teams = kn.homogeneous(sigma=1.0, teams=200)
    section = table(SECTION)
    for what, action in (
        ("map of 200 teams", lambda: kn.stationary(SYSTEM, teams)),
        ("map of a continuum", lambda: kn.stationary(SYSTEM, kn.theory.Continuum((4, 10), 1.0))),
        ("rating noise of 200 teams with its covariance", lambda: kn.stationary(SYSTEM, teams, noise="gaussian")),
        ("unbiased step size of 200 teams", lambda: kn.unbiased_gamma(SYSTEM.outcome, teams)),
        ("diagnosis of 200 teams", lambda: kn.diagnose(SYSTEM, teams)),
    ):
        action()
        section.row(what, f"{1000 * seconds(action)[0]:.0f} ms")


def test_reference_values(table):
    state = kn.stationary(SYSTEM, kn.theory.Continuum((4, 10), 1.0))
    error = max(abs(state.centre_slope - 0.76369659), abs(float(state.rating_of(10.0)) - 9.28586219))
    table(SECTION).row("continuum, error against reference values", f"{error:.0e}", "≤ 1e-7", error <= 1e-7)
