"""A league made ready for the kernels: tables of results, or what is needed to draw performances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinelo.micro import kernels
from kinelo.model.expectation import outcome_probabilities
from kinelo.model.outcome import LOGISTIC, Outcome
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

FEW = 3
"""Fewer realisations than this gain nothing by being interleaved."""

Play = Callable[[Array, NDArray[np.int64], Mapping[str, NDArray], slice, int, int], None]
"""``play(rating, played, memory, realisations, first, last)`` moves the ratings of some realisations in place."""


@dataclass(frozen=True)
class ResultTable:
    """For each pair i < j: its teams, and the 64-bit fractions below which i wins and from which i loses."""

    pairs: NDArray[np.uint32]
    win: NDArray[np.uint64]
    loss: NDArray[np.uint64]


def result_table(outcome: Outcome, strengths: Strength) -> ResultTable:
    """Exact probabilities of every pair, as thresholds for a 64-bit fraction."""
    win, tie, _ = outcome_probabilities(outcome, strengths)
    i, j = np.triu_indices(strengths.teams, 1)
    pairs = (i.astype(np.uint32) << np.uint32(16)) | j.astype(np.uint32)
    winning = _fraction(win[i, j])
    losing = _fraction(win[i, j] + tie[i, j]) if outcome.has_ties else winning
    return ResultTable(pairs, winning, losing)


def _fraction(probability: Array) -> NDArray[np.uint64]:
    largest = np.nextafter(1.0, 0.0)
    scaled = (np.clip(probability, 0.0, largest) * 2.0**64).astype(np.uint64)
    scaled[probability >= 1.0] = np.iinfo(np.uint64).max
    return scaled


def table_play(system: RatingSystem, strengths: Strength, seed: int, realisations: int) -> Play:
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


def literal_play(system: RatingSystem, strengths: Strength, seed: int, realisations: int) -> Play:
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
