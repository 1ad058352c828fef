"""Whether two leagues are one: what is computed from the laws alone can be kept for the next that are equal."""

from __future__ import annotations

from kinelo.model.digest import law_digest
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Strength


def fingerprint(outcome: Outcome, strengths: Strength) -> str | None:
    """The same text for laws of the same kinds and numbers; None where a law may hold what is not seen from outside.

    >>> from kinelo.model.outcome import Tanh
    >>> from kinelo.model.strength import Fixed
    >>> fingerprint(Tanh(0.5), Fixed([1.0, 2.0])) == fingerprint(Tanh(0.5), Fixed([1.0, 2.0]))
    True
    """
    if outcome.code is None or strengths.code is None:
        return None
    return law_digest((type(outcome), outcome.code, type(strengths), strengths.code))
