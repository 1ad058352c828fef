"""A statement of the paper with what was measured about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from kinelo.paper.leagues import Evidence

Verdict = Literal["holds", "does not hold", "depends"]
AllEvidence = Mapping[int, Evidence]
"""Evidence by the number of its figure."""


@dataclass(frozen=True)
class Claim:
    """One statement and its verdict.

    Attributes
    ----------
    place
        Where the paper says it.
    statement
        What it says.
    measured
        The figures found here.
    verdict
        "holds", "does not hold", or "depends"; then ``on`` says what it depends on.
    because
        One sentence.
    figures
        Figures of the report that the measurement was taken from.
    """

    place: str
    statement: str
    measured: str
    verdict: Verdict
    because: str
    on: str = ""
    figures: tuple[int, ...] = ()

    @property
    def judgement(self) -> str:
        """The verdict in words."""
        return f"depends on {self.on}" if self.verdict == "depends" else self.verdict


@dataclass(frozen=True)
class Check:
    """A statement that can be measured once the evidence of some figures is there."""

    needs: tuple[int, ...]
    measure: Callable[[AllEvidence], Claim]


def judged(holds: bool) -> Verdict:
    """Say whether a statement holds."""
    return "holds" if holds else "does not hold"


def judged_twice(first: bool, second: bool) -> Verdict:
    """Verdict on a statement tried under two conditions: it depends if they disagree."""
    return judged(first) if first == second else "depends"
