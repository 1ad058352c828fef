"""The laws of a match, each one scalar formula: b, b', ties and w.

Each built-in law has an integer of its own, so that a loop compiled once serves them all and stays on disk.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from kinelo.model.law import no_formula
from kinelo.model.outcome import LOGISTIC, PROBIT, Outcome
from kinelo.model.pairing import ALL_PLAY_ALL, LOCAL, WINDOW, Pairing
from kinelo.play.elementary import LN_2, erf_of, exp_negative, tanh_of
from kinelo.play.formula import formula

STEEPEST = 40.0
"""ν|z| beyond which the weaker side has no chance that counts, where losses are added up."""
FLATTEST = 350.0
"""ν|z| beyond which nothing changes: t = e^{−ν|z|} would leave the range of the exponential."""
NO_NUMBER = float("nan")
USER = -1
"""The kind of a law that is not built in: kernels then call its function."""
OUTCOME_KINDS, PAIRING_KINDS = (LOGISTIC, PROBIT), (ALL_PLAY_ALL, LOCAL, WINDOW)
"""Laws with a formula here."""
TWO_BY_ROOT_PI = 1.1283791670955126


class OutcomeCode(NamedTuple):
    """A built-in outcome as kernels take it."""

    kind: int
    nu: float
    kappa: float


class PairingCode(NamedTuple):
    """A built-in pairing as kernels take it."""

    kind: int
    c: float
    smoothing: float


def code_outcome(outcome: Outcome, *, users: bool = False) -> OutcomeCode:
    """A built-in outcome as kernels take it; any other is refused, or with ``users`` has the kind ``USER``."""
    code = outcome.code
    if code is None and users:
        return OutcomeCode(USER, 0.0, 0.0)
    if code is None or code[0] not in OUTCOME_KINDS:
        raise no_formula(Outcome, "outcome", outcome)
    return OutcomeCode(*code)


def code_pairing(pairing: Pairing, *, users: bool = False) -> PairingCode:
    """A built-in pairing as kernels take it; any other is refused, or with ``users`` has the kind ``USER``."""
    code = pairing.code
    if code is None and users:
        return PairingCode(USER, 0.0, 0.0)
    if code is None or code[0] not in PAIRING_KINDS:
        raise no_formula(Pairing, "pairing", pairing)
    return PairingCode(*code)


@formula
def tail_of(x):
    """t = e^{−|x|}, of which the logistic law is made: finite and above 0 for any x = νz."""
    return exp_negative(-min(abs(x), FLATTEST))


@formula
def logistic(nu, kappa, z):
    """b(z) = (1 − t²)/(1 + t² + κt) with t = e^{−ν|z|}: Davidson, and tanh for κ = 0."""
    t = tail_of(nu * z)
    q = t * t
    return math.copysign((1.0 - q) / (1.0 + q + kappa * t), z)


@formula
def points_scale(nu, kappa):
    """ν_D = ν (2 + κ)/2: at this scale Davidson's law has b'(0) = ν, whatever κ, so that points mean what Elo's do."""
    return nu * (1.0 + 0.5 * kappa)


@formula
def davidson(nu, kappa, z):
    """b(z), b'(z) = νt(4t + κ(1 + t²))/(1 + t² + κt)² and the probability κt/(1 + t² + κt) of a tie."""
    t = tail_of(nu * z)
    q = t * t
    whole = 1.0 + q + kappa * t
    b = math.copysign((1.0 - q) / whole, z)
    rise = t * (4.0 * t + kappa * (1.0 + q))
    return b, nu * rise / (whole * whole), kappa * t / whole


@formula
def davidson_chances(kappa, x):
    """Davidson's probabilities of win, tie and loss at x = νz."""
    t = tail_of(x)
    q = t * t
    whole = 1.0 + q + kappa * t
    if x >= 0.0:
        return 1.0 / whole, kappa * t / whole, q / whole
    return q / whole, kappa * t / whole, 1.0 / whole


@formula
def davidson_terms(kappa, u):
    """P(win), P(loss) and 1/(2 cosh x + κ) at u = e^x, x = νz, of which every derivative of the law is made.

    With b = P(win) − P(loss) and r the third: ∂P(win) = P(win)(1 − b) ∂x − r P(win) ∂κ, ∂P(loss) = −P(loss)(1 + b) ∂x
    − r P(loss) ∂κ; b' = P(win) + P(loss) − b².
    """
    loss = 1.0 / (u * (u + kappa) + 1.0)
    return u * u * loss, loss, u * loss


@formula
def expected(kind, nu, kappa, z):
    """b(z) of any built-in outcome; no number for a kind that has no formula here."""
    if kind == LOGISTIC:
        return logistic(nu, kappa, z)
    return erf_of(nu * z) if kind == PROBIT else NO_NUMBER


@formula
def match_law(kind, nu, kappa, z):
    """b(z), b'(z) and the probability of a tie, of any built-in outcome."""
    if kind == PROBIT:
        x = nu * z
        slope = TWO_BY_ROOT_PI * nu * exp_negative(-min(x * x, 700.0))
        return erf_of(x), slope, 0.0
    if kind == LOGISTIC:
        return davidson(nu, kappa, z)
    return NO_NUMBER, NO_NUMBER, NO_NUMBER


@formula
def tie_chance(kind, nu, kappa, z):
    """Probability of a tie at z, of any built-in outcome."""
    if kind == PROBIT or kappa == 0.0:
        return 0.0
    t = tail_of(nu * z)
    return kappa * t / (1.0 + t * t + kappa * t)


@formula
def result_of(uniform, b, tie):
    """Win, tie or loss (1, 0, −1) of a match whose expected result is b, from a uniform number."""
    wins = 0.5 * (1.0 - tie + b)
    if uniform < wins:
        return 1.0
    return 0.0 if uniform < wins + tie else -1.0


@formula
def result_at(fraction, win, loss):
    """Win, tie or loss (1, 0, −1) from what is left of a draw: below ``win`` a win, from ``loss`` on a loss."""
    return (1.0 if fraction < win else 0.0) - (1.0 if fraction >= loss else 0.0)


@formula
def acceptance(kind, c, smoothing, z):
    """w(z) of any built-in pairing."""
    if kind == ALL_PLAY_ALL:
        return 1.0
    if kind == LOCAL:
        # e^x − 1 = (1 − e^{−x}) / e^{−x}
        shrunk = exp_negative(-LN_2 / (1.0 + z * z))
        return (1.0 - shrunk) / shrunk
    if smoothing == 0.0:
        return 1.0 if abs(z) <= c else 0.0
    up, down = tanh_of((z + c) / smoothing), tanh_of((z - c) / smoothing)
    return (up - down) / (2.0 * tanh_of(c / smoothing))
