"""A league made ready for the kernels: tables of results, or what is needed to draw performances."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from kinelo.micro import kernels
from kinelo.micro.tables import result_table
from kinelo.model.outcome import LOGISTIC
from kinelo.model.pairing import ALL_PLAY_ALL
from kinelo.model.strength import Empirical, Fixed, LineupLottery, Normal, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.play import performances
from kinelo.play.laws import code_outcome, code_pairing
from kinelo.play.performances import Drawing
from kinelo.play.stream import realisation_keys

LARGEST_TABLE = 4096
"""Leagues of more teams are played without a table of results, in memory proportional to their size."""

LANES = 25
"""Realisations interleaved in one call: enough to fill the processor, few enough to stay in its nearest cache."""

FEW = 3
"""Fewer realisations than this gain nothing by being interleaved."""


Play = Callable[[Array, NDArray[np.int64], Mapping[str, NDArray], slice, int, int], None]
"""``play(rating, played, memory, realisations, first, last)`` moves the ratings of some realisations in place."""


def table_play(system: RatingSystem, strengths: Strength, seed: int, realisations: int | range) -> Play:
    """Play from the table of results; all realisations handed over in one call are interleaved."""
    table = result_table(system.outcome, strengths)
    keys = realisation_keys(seed, realisations)
    law, rule = code_outcome(system.outcome), code_pairing(system.pairing)

    simple = law.kind == LOGISTIC and rule.kind == ALL_PLAY_ALL

    def play(
        rating: Array, played: NDArray[np.int64], memory: Mapping[str, NDArray], chosen: slice, first: int, last: int
    ) -> None:
        if simple and chosen.stop - chosen.start < FEW:
            kernels.play_alone(
                rating[chosen], keys[chosen], table.pairs, table.win, table.loss, first, last, system.step, *law[1:]
            )
            played[chosen] += last - first
            return
        interleaved = np.ascontiguousarray(rating[chosen].T)
        kernels.play_table(
            interleaved, played[chosen], keys[chosen], table.pairs, table.win, table.loss,
            first, last, system.step, law, rule,
        )  # fmt: skip
        rating[chosen] = interleaved.T

    return play


def literal_play(system: RatingSystem, strengths: Strength, seed: int, realisations: int | range) -> Play:
    """Play by drawing the performances of both sides."""
    keys = realisation_keys(seed, realisations)
    law, rule = code_outcome(system.outcome), code_pairing(system.pairing)
    drawing = code_strength(strengths)

    def play(
        rating: Array, played: NDArray[np.int64], memory: Mapping[str, NDArray], chosen: slice, first: int, last: int
    ) -> None:
        kernels.play_literal(rating[chosen], played[chosen], keys[chosen], drawing, first, last, system.step, law, rule)

    return play


class NotBuiltIn(Exception):
    """A law of strength that no kernel draws: its own ``performances`` does."""


def code_strength(strengths: Strength) -> Drawing:
    """A law of strength as the kernels take it."""
    column = np.ascontiguousarray(strengths.theta)[:, None].copy()
    if type(strengths) is Fixed:
        return Drawing(performances.FIXED, column, np.zeros((1, 1, 1)), 0)
    if type(strengths) is Normal:
        return Drawing(performances.NORMAL, column, strengths.sigma[:, None, None].copy(), 0)
    if type(strengths) is LineupLottery:
        return Drawing(performances.LOTTERY, strengths.rho.copy(), strengths.tables.selection, strengths.m)
    if type(strengths) is Empirical:
        return Drawing(performances.EMPIRICAL, strengths.values.copy(), strengths.cumulative[:, :, None].copy(), 0)
    raise NotBuiltIn
