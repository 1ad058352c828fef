"""One contest of many sides: who meets, how each performs, and what the order does to ratings and strengths.

``size`` teams are drawn without repetition. Each has bits of its own, from which everything that chance gives it is
drawn, so that entrants can be taken in any order or at once. It performs ``x = λ + G/2ν``, G Gumbel's for a logistic b
and standard normal for a probit: then ``P(x_a > x_b) = (1 + b(λ_a − λ_b))/2`` for every two. With k entrants

* ``R_a += γ_a/(k − 1) · Σ_b (S_ab − b(R_a − R_b))``, S_ab = ±1 by order, 0 if level;
* learning: ``ρ_a += γ/(k − 1) · Σ_b [α(1 − b(d_ab)) + βX_ab] + √γ σξ``;
* form and walks move to the present T, a contest being k/N of it.
"""

from __future__ import annotations

import numpy as np

from kinelo.model.dynamics import LEARNING
from kinelo.model.outcome import LOGISTIC
from kinelo.model.steps import ELITE
from kinelo.play.arithmetic import high_product
from kinelo.play.elementary import log_of
from kinelo.play.formula import formula
from kinelo.play.match import MatchSide, moves_by_calendar, strength_now
from kinelo.play.motion import jolt
from kinelo.play.performances import normal_of
from kinelo.play.steps import step_size
from kinelo.play.stream import centred, redraw

CALENDAR, KICK, JOLT, FIRST = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
"""Numbers of an entrant's own draws: for its form, its luck of the day, its learning; performances begin after them."""


@formula
def enter(order, size, bits):
    """Bring the teams of a contest to the first ``size`` places of ``order``, every choice equally likely."""
    teams = np.uint64(order.shape[0])
    for place in range(size):
        p = np.uint64(place)
        other = p + high_product(redraw(bits, p), teams - p)  # pyright: ignore[reportCallIssue]
        order[place], order[other] = order[other], order[place]


@formula
def leave(order, size, bits):
    """Put ``order`` back as it was before :func:`enter`."""
    teams = np.uint64(order.shape[0])
    for back in range(size):
        place = size - 1 - back
        p = np.uint64(place)
        other = p + high_product(redraw(bits, p), teams - p)  # pyright: ignore[reportCallIssue]
        order[place], order[other] = order[other], order[place]


@formula
def own_bits(bits, size, place):
    """Random bits of the entrant at ``place`` (int); the first ``size`` draws of the contest choose who enters."""
    return redraw(bits, np.uint64(size + place))


@formula
def luck(kind, nu, member_bits):
    """G/2ν: what luck adds to the performance of the entrant with these bits."""
    if kind == LOGISTIC:
        return -log_of(-log_of(0.5 + centred(redraw(member_bits, KICK)))) / (2.0 * nu)
    return normal_of(member_bits, KICK) / (2.0 * nu)


@formula
def strength_today(motion, side, elapsed, own):
    """Strength of an entrant on the day of the contest, ``elapsed`` units of T after it was last looked at."""
    if moves_by_calendar(motion.kind):
        return strength_now(motion, side, elapsed, normal_of(own, CALENDAR))
    return side.strength


@formula
def order_of(x, y):
    """1 if x is before y, −1 if behind, 0 if level."""
    return (1.0 if x > y else 0.0) - (1.0 if x < y else 0.0)


@formula
def after_contest(side, strength, shown, gamma, junior, rules, match, member_bits):
    """The :class:`MatchSide` of an entrant after contest number ``match``.

    ``strength`` is that of the day; ``shown`` are gain and lesson, sums over its opponents divided by their number.
    ``gamma`` is its step, ``own`` its bits.
    """
    motion, clock, rho = rules.motion, side.clock, strength
    gain, lesson = shown
    kind, boost, matches = rules.steps
    step = step_size(kind, gamma, boost, matches, junior, side.rating, side.matches, side.reached)
    if moves_by_calendar(motion.kind):
        clock = match
    if motion.kind == LEARNING:
        rho += step * lesson  # γ/(k − 1) · Σ_b [α(1 − b(d_ab)) + βX_ab]
        if motion.diffusion > 0.0:
            rho += jolt(step, motion.diffusion, normal_of(member_bits, JOLT))  # √γ σξ
    r = side.rating + step * gain  # γ_a/(k − 1) · Σ_b (S_ab − b(R_a − R_b))
    top = side.reached | (r >= ELITE)
    return MatchSide(r, rho, side.level, clock, side.variance, side.rest, side.matches + 1, top, side.owed, side.known)
