"""A statement of the paper, in its own words and in ours, with what was measured about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

Verdict = Literal["holds", "does not hold", "depends", "misprint", "input not published", "not measured"]

_Run = TypeVar("_Run")


class MissingEvidence(LookupError):
    """A run that a statement is about was not made."""


@dataclass(frozen=True)
class Finding:
    """What was measured about a statement.

    Attributes
    ----------
    measured
        The figures found here.
    verdict
        "holds", "does not hold", or "depends"; then ``on`` says what it depends on. "misprint" where what is printed
        cannot be what is meant, and the reading beside it stands. "input not published" where it rests on data that
        are not. "not measured" where a run is missing that the statement is about.
    because
        One sentence or two; empty where the numbers say it all.
    figures
        Figures of the report that the measurement was taken from.
    more
        What else was measured, on which the verdict does not rest; folded on the page.
    """

    measured: str
    verdict: Verdict
    because: str
    on: str = ""
    figures: tuple[int, ...] = ()
    more: str = ""


@dataclass(frozen=True)
class Claim:
    """One statement and the finding on it.

    Attributes
    ----------
    place
        Where the paper says it.
    quote
        The paper's own words; empty where it prints a formula, which ``statement`` then repeats.
    statement
        What is tested.
    criterion
        When the statement holds: the threshold that decides, printed beside the verdict.
    number
        Its place among all statements, whichever are shown.
    """

    place: str
    quote: str
    statement: str
    criterion: str
    finding: Finding
    number: int = 0

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        return self.finding.verdict

    @property
    def judgement(self) -> str:
        """The verdict in words."""
        return f"depends on {self.finding.on}" if self.verdict == "depends" else self.verdict


@dataclass(frozen=True)
class ClaimCheck:
    """A statement that can be measured once the evidence of the figures it ``needs`` is there.

    ``measure`` takes their evidence, in that order; ``order`` is the statement's place in the paper.
    """

    order: int
    place: str
    quote: str
    statement: str
    criterion: str
    needs: tuple[str, ...]
    measure: Callable[..., Finding]

    def claim(self, evidence: Mapping[str, Any], number: int = 0) -> Claim:
        """Measure; a missing run is reported as "not measured"."""
        try:
            finding = self.measure(*(evidence[name] for name in self.needs))
        except MissingEvidence as missing:
            finding = Finding(
                str(missing),
                "not measured",
                "The figure files lack what this statement is about; Kinelo's own have it.",
            )
        return Claim(self.place, self.quote, self.statement, self.criterion, finding, number)


def check(
    order: int, place: str, *, quote: str = "", statement: str, criterion: str, needs: tuple[str, ...] | None = None
) -> Callable[[Callable[..., Finding]], ClaimCheck]:
    """Turn a function that measures into the check of a statement.

    Without ``needs`` a function of evidence measures the figure of its own module.
    """

    def made(measure: Callable[..., Finding]) -> ClaimCheck:
        own = (measure.__module__.rpartition(".")[2],) if measure.__code__.co_argcount else ()
        return ClaimCheck(order, place, quote, statement, criterion, own if needs is None else needs, measure)

    return made


def needed(runs: Mapping[str, _Run], name: str) -> _Run:
    """The run of a name, without which a statement cannot be measured.

    >>> needed({"σ = 1": 0.8}, "σ = 2")
    Traceback (most recent call last):
        ...
    kinelo.paper.claim.MissingEvidence: there is no run 'σ = 2'; there are 'σ = 1'
    """
    if name not in runs:
        raise MissingEvidence(f"there is no run {name!r}; there are {', '.join(map(repr, runs)) or 'none'}")
    return runs[name]


def judged(holds: bool) -> Verdict:
    """Say whether a statement holds."""
    return "holds" if holds else "does not hold"


def judged_print(as_printed: bool) -> Verdict:
    """Verdict on something printed that the paper itself does not go by elsewhere."""
    return "holds" if as_printed else "misprint"


def judged_under(*conditions: bool) -> Verdict:
    """Verdict on a statement tried under several conditions: it depends if they disagree.

    >>> judged_under(True, True), judged_under(False, False), judged_under(True, False)
    ('holds', 'does not hold', 'depends')
    """
    return judged(all(conditions)) if all(conditions) == any(conditions) else "depends"
