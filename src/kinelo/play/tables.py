"""Tables of results: exact probabilities of every pair, made once for all runs that need them.

A table depends on the outcome and the strengths alone. Points of a sweep that differ in γ, in their seed or their
length therefore share one; so do the parts of an ensemble that a worker plays one after the other.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from kinelo.model.expectation import outcome_probabilities
from kinelo.model.law import fingerprint
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Strength
from kinelo.model.validation import Array

LARGEST_TABLE = 4096
"""Teams up to which the table of results is used."""

MOST_TABLE_BYTES = 1 << 28
"""Bytes of tables that a process keeps."""

_kept: OrderedDict[str, ResultTable] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True)
class ResultTable:
    """For each pair i < j: its teams, and the 64-bit fractions below which i wins and from which i loses."""

    pairs: NDArray[np.uint32]
    win: NDArray[np.uint64]
    loss: NDArray[np.uint64]

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return self.pairs.nbytes + self.win.nbytes + (0 if self.loss is self.win else self.loss.nbytes)


def all_pairs(teams: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.uint32]]:
    """Both teams of every pair i < j in the order of the table, and the pairs as kernels take them."""
    i, j = np.triu_indices(teams, 1)
    return i, j, (i.astype(np.uint32) << np.uint32(16)) | j.astype(np.uint32)


def result_table(outcome: Outcome, strengths: Strength) -> ResultTable:
    """Exact probabilities of every pair, as thresholds for a 64-bit fraction.

    Those of built-in laws are kept: a law of the user's own may hold what cannot be seen from outside.
    """
    name = fingerprint(outcome, strengths)
    if name is None:
        return _make_table(outcome, strengths)
    with _lock:
        if name in _kept:
            _kept.move_to_end(name)
            return _kept[name]
    table = _make_table(outcome, strengths)
    with _lock:
        _kept[name] = table
        while sum(one.nbytes for one in _kept.values()) > MOST_TABLE_BYTES:
            _kept.popitem(last=False)
    return table


def _make_table(outcome: Outcome, strengths: Strength) -> ResultTable:
    """The table of a league, computed."""
    win, tie, _ = outcome_probabilities(outcome, strengths)
    i, j, pairs = all_pairs(strengths.teams)
    winning = _fraction(win[i, j])
    losing = _fraction(win[i, j] + tie[i, j]) if outcome.has_ties else winning
    return ResultTable(pairs, winning, losing)


def _fraction(probability: Array) -> NDArray[np.uint64]:
    """Probabilities as fractions of 2⁶⁴; what is certain is the largest of them."""
    largest = np.nextafter(1.0, 0.0)
    scaled = (np.clip(probability, 0.0, largest) * 2.0**64).astype(np.uint64)
    scaled[probability >= 1.0] = np.iinfo(np.uint64).max
    return scaled
