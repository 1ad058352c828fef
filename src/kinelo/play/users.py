"""Users' laws, compiled: a scalar Python function becomes a first-class function of compiled code.

A kernel that takes one is compiled for its type, not for the function, so that the kernel itself is found on disk and
takes a newly compiled law at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import cfunc, float64
from numba.core.errors import NumbaError

from kinelo.errors import InputError
from kinelo.model.law import Scalar
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import Pairing
from kinelo.play.formula import formula
from kinelo.play.laws import USER, acceptance, expected, tie_chance


@formula
def b_at(law, b, z):
    """b(z) of any outcome, built in or a user's."""
    return b(z) if law.kind == USER else expected(law.kind, law.nu, law.kappa, z)


@formula
def tie_at(law, tie, z):
    """Probability of a tie of any outcome."""
    return tie(z) if law.kind == USER else tie_chance(law.kind, law.nu, law.kappa, z)


@formula
def w_at(rule, w, z):
    """w(z) of any pairing."""
    return w(z) if rule.kind == USER else acceptance(rule.kind, rule.c, rule.smoothing, z)


_KEPT: dict[Any, Any] = {}


class UserFunctions(NamedTuple):
    """b, the probability of a tie and w as compiled functions of one number; a stand-in for laws that are built in."""

    b: Any
    tie: Any
    w: Any


def user_functions(outcome: Outcome, pairing: Pairing) -> UserFunctions:
    """Compile the formulas of the laws that are not built in."""
    b = tie = w = _compiled(None, "nothing", lambda: _nothing)
    if outcome.code is None:
        b, tie = _compiled(outcome, "b", outcome.scalar_b), _compiled(outcome, "tie", outcome.scalar_tie)
        # Theory would take the one and the simulator the other.
        formula = outcome.scalar_b()
        for z in np.array([0.3, 1.0, 2.5]) / outcome.sharpness:
            if not np.isclose(float(outcome.b(z)), formula(float(z)), rtol=0.0, atol=1e-9):
                raise InputError(f"{outcome!r} cannot be simulated: its b and its scalar_b differ at z = {z:.4g}.")
    if pairing.code is None:
        w = _compiled(pairing, "w", pairing.scalar_w)
    return UserFunctions(b, tie, w)


def _compiled(law: Any, name: str, formula: Callable[[], Scalar]) -> Any:
    """The formula of a law, compiled once per process for each law.

    Raises
    ------
    InputError
        If numba cannot compile it.
    """
    key = (type(law), name, law)
    try:
        if key not in _KEPT:
            _KEPT[key] = _compile(law, name, formula())
        return _KEPT[key]
    except TypeError:  # a law that cannot be hashed is compiled each time
        return _compile(law, name, formula())


def _compile(law: Any, name: str, function: Scalar) -> Any:
    """A function of one number as compiled code, or a sentence on why it cannot be."""
    try:
        return cfunc(float64(float64), error_model="numpy")(function)
    except NumbaError as error:
        reason = str(error).strip().splitlines()
        said = next((line.strip() for line in reason if line.strip() and "nopython" not in line), "")
        raise InputError(
            f"{name} of {law!r} cannot be compiled, so it cannot be played match by match: {said} "
            "Plain arithmetic and the functions of math can."
        ) from None


def _nothing(z: float) -> float:
    """Stands in for the functions of built-in laws, which are never called."""
    return 0.0
