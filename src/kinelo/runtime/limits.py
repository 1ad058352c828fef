"""How much time a run would take, asked before it begins; :mod:`kinelo.runtime.memory` asks for memory."""

from __future__ import annotations

from kinelo.errors import InputError

YEAR = 365.25 * 86_400.0
"""Seconds after which a run is refused rather than begun."""


def check_time(seconds: float, what: str, remedy: str) -> None:
    """Refuse, before it begins, what takes more time than anyone has.

    ``seconds`` are those of a machine at its best: a run that is too long by that measure is too long by any.

    >>> check_time(1e12, "A simulation", "use fewer steps")
    Traceback (most recent call last):
    kinelo.errors.InputError: A simulation would take at least 31,688 years on this machine; use fewer steps.
    """
    if seconds > YEAR:
        raise InputError(f"{what} would take at least {seconds / YEAR:,.0f} years on this machine; {remedy}.")
