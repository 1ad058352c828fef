"""A home advantage that follows the matches, and begins anew where it has changed at once.

It drifts by the law of what all matches share (:func:`kinelo.raters.reading.gain_of`). A drift is slow, but some
changes are not: sides are named in another order from one year on, files of two sources are joined, a rule is changed.
A second advantage therefore begins where the first began, with the same doubt, and learns from the matches since. With
``s`` the share of the points won at home and ``E`` what each of the two expects of it, its evidence ``L`` grows by
``s log(E₂/E₁) + (1 − s) log((1 − E₂)/(1 − E₁))``. It begins at ``log(1/1000)``, as a change is that seldom; where it
falls below that the second one begins again, and where it exceeds 0 the second one takes the place of the first. Where
the first is right ``e^L`` grows on average never, whatever share of a point a draw or a margin counts for, so that one
beginning in 1,000 at most takes over by chance.

What covariates are worth (:mod:`kinelo.raters.covariates`) drifts by the same law. A match with values ``x`` shares its
score ``s`` and information ``I`` among them: with ``G = 1 + I Σ r x² v``, ``β += r v x s / G`` and
``v −= r v² x² I / G``. Of a column that follows the strengths only the part ``r`` that they do not explain tells of it.
"""

from __future__ import annotations

import math

from kinelo.play.formula import part
from kinelo.raters.reading import gain_of, steady_walk
from kinelo.raters.state import EACH_EFFECT, EFFECTS, EVIDENCE, HOME_POINTS, HOME_V, LATELY, LATELY_V

SELDOM = math.log(1e-3)
SURE = 1e-9


@part
def follow(value, variance, score, information, steady, c):
    """Move an advantage and its variance, at these places of ``c``, by a match of this score and information; settled,
    the variance is ``steady``.
    """
    c[variance] = gain_of(c[variance], information, steady_walk(steady, information))
    c[value] += c[variance] * score


@part
def weigh(weight, share, expected, lately, start, wide, c):
    """Weigh the second advantage against the first by a match; it begins again (at ``start`` ± √wide) where it is not
    borne out. Return whether it has taken over (bool)."""
    expected, lately = min(max(expected, SURE), 1.0 - SURE), min(max(lately, SURE), 1.0 - SURE)
    c[EVIDENCE] += weight * (
        share * math.log(lately / expected) + (1.0 - share) * math.log((1.0 - lately) / (1.0 - expected))
    )
    taken = c[EVIDENCE] > 0.0
    if taken:
        c[HOME_POINTS], c[HOME_V] = c[LATELY], c[LATELY_V]
    if taken or c[EVIDENCE] <= SELDOM:
        c[EVIDENCE], c[LATELY], c[LATELY_V] = SELDOM, start, wide
    return taken


@part
def effect_gap(k, effects, c):
    """What the covariates (matches, covariates) of match ``k`` are worth (float), by what all share, ``c``."""
    gap = 0.0
    for e in range(effects.shape[1]):
        gap += effects[k, e] * c[EFFECTS + EACH_EFFECT * e]
    return gap


@part
def follow_effects(k, effects, score, information, steady, c):
    """Move what covariates are worth by match ``k`` of this score and information; settled variances are ``steady``."""
    doubt = 0.0
    for e in range(effects.shape[1]):
        at = EFFECTS + EACH_EFFECT * e
        square = c[at + 2] * effects[k, e] ** 2
        c[at + 1] += steady_walk(steady, square * information)
        doubt += square * c[at + 1]
    whole = 1.0 + information * doubt
    for e in range(effects.shape[1]):
        at = EFFECTS + EACH_EFFECT * e
        pull = effects[k, e] * c[at + 1]
        c[at] += c[at + 2] * pull * score / whole
        c[at + 1] -= c[at + 2] * pull * pull * information / whole
