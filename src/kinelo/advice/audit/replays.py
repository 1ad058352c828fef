"""The league played again from the estimates on the same calendar, by the very sides or by others of the same kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kinelo.advice.audit import kernels
from kinelo.advice.audit.estimate import filter_league
from kinelo.advice.audit.kernels import Array, Calendar, Parameters


class Replay(NamedTuple):
    """Results in [−1, 1] of every match, the strengths of both sides (n × 2) and the home advantage behind them."""

    result: Array
    strength: Array
    home: Array


def replay(
    calendar: Calendar, parameters: Parameters, generator: np.random.Generator, *, other_sides: bool = False
) -> Replay:
    """Play the calendar once more: strengths drawn given all results (or anew), and new results."""
    n = calendar.size
    filtered = filter_league(calendar, parameters)
    strength, home, result = np.empty((n, 2)), np.empty(n), np.empty(n)
    normal = generator.standard_normal((n, 2))
    if other_sides:
        kernels.draw_new_sides(calendar, parameters, normal, strength)
    else:
        kernels.draw_sides(calendar, filtered.path, normal, strength)
    kernels.smooth_home(calendar.neutral, filtered.home_path, generator.standard_normal(n), home)
    kernels.draw_results(strength, home, parameters, generator.random(n), result)
    return Replay(result, strength, home)


def replays(calendar: Calendar, drawn: list[Parameters], seed: int = 0) -> Iterator[Replay]:
    """One replay for each draw of the parameters."""
    for parameters, stream in zip(drawn, np.random.SeedSequence(seed).spawn(len(drawn))):
        yield replay(calendar, parameters, np.random.default_rng(stream))
