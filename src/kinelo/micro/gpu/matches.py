"""A match on the device: what is known before any rating is looked at, and what ratings make of it.

Pair, result and the uniform number that decides about acceptance depend on the random stream alone, so they can be
prepared long before their turn. A prepared match is one word: i, j, and whether i won or lost; half a word does where
the results stand in a table. Integers are cut back to 32 bits wherever they fit, which is half the work on the device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np

from kinelo.model.outcome import LOGISTIC
from kinelo.model.pairing import ALL_PLAY_ALL
from kinelo.play.arithmetic import Target
from kinelo.play.users import USER, UserFunctions

S24, S32 = np.uint64(24), np.uint64(32)
SHORT, LOW15 = np.uint32(15), np.uint32(0x7FFF)
LOW24, LOW32 = np.uint32(0xFFFFFF), np.uint64(0xFFFFFFFF)
WON_BIT, LOST_BIT = np.uint64(1 << 62), np.uint64(1 << 63)
SHORT_WON, SHORT_LOST = np.uint32(1 << 30), np.uint32(1 << 31)
LARGEST_LEAGUE = 1 << 24
"""Teams that 24 bits can name."""

PAIR_WORDS, WORDS_WITH_TIES = 2, 4
"""Words of a pair in the table: its teams, the fraction below which i wins and, with ties, from which i loses."""

Source = Literal["table", "literal"]


@dataclass(frozen=True)
class Laws:
    """Device functions of one law: ``b(law, z)``, ``tie(law, z)``, and ``w(rule, z)`` unless all play all."""

    b: Callable[..., Any]
    tie: Callable[..., Any]
    w: Callable[..., Any] | None


def device_laws(
    formulas: SimpleNamespace, target: Target, outcome: int, pairing: int, functions: UserFunctions | None
) -> Laws:
    """Device functions of laws of these kinds; the logistic law without a branch, users' laws by their functions."""
    expected, logistic, tie_chance, acceptance = (
        formulas.expected, formulas.logistic, formulas.tie_chance, formulas.acceptance,
    )  # fmt: skip
    own = functions or UserFunctions(None, None, None)
    own_b, own_tie, own_w = own.b, own.tie, own.w

    def b(law, z):
        return expected(law[0], law[1], law[2], z)

    def b_logistic(law, z):
        return logistic(law[1], law[2], z)

    def b_own(law, z):
        return own_b(z)

    def tie(law, z):
        return tie_chance(law[0], law[1], law[2], z)

    def tie_own(law, z):
        return own_tie(z)

    def w(rule, z):
        return acceptance(rule[0], rule[1], rule[2], z)

    def w_own(rule, z):
        return own_w(z)

    compile_ = target.compile
    return Laws(
        compile_({USER: b_own, LOGISTIC: b_logistic}.get(outcome, b)),
        compile_(tie_own if outcome == USER else tie),
        None if pairing == ALL_PLAY_ALL else compile_(w_own if pairing == USER else w),
    )


@dataclass(frozen=True)
class Origin:
    """Device functions by which a match comes about.

    ``prepare`` only asks memory for what it needs, ``finish`` looks at it and says what the match is: between the two
    the device does other work. ``who`` reads i and j from the word, ``result`` S; ``bits`` is the length of the word.
    """

    prepare: Callable[..., Any]
    finish: Callable[..., Any]
    who: Callable[..., Any]
    result: Callable[..., Any]
    bits: Literal[32, 64]


def from_table(formulas: SimpleNamespace, target: Target, *, ties: bool) -> Origin:
    """Matches whose probabilities stand in a table; what is not won is lost unless there are ``ties``."""
    draw = formulas.draw
    words, one = np.uint32(WORDS_WITH_TIES if ties else PAIR_WORDS), np.uint32(1)
    last = np.uint32(2) if ties else one

    def prepare(key_1, key_2, match, table, teams, drawing, law):
        bits = draw(key_1, key_2, match)
        count = np.uint64(np.uint32(table.shape[0] // words))
        low = (bits & LOW32) * count
        high = (bits >> S32) * count + (low >> S32)
        at, fraction = np.uint32(np.uint32(high >> S32) * words), (high << S32) | (low & LOW32)
        return table[at], table[np.uint32(at + one)], table[np.uint32(at + last)], fraction, bits

    def finish(pair, win, loss, fraction):
        item = np.uint32(pair & LOW32)
        if fraction < win:
            item |= SHORT_WON
        if ties and fraction >= loss:
            item |= SHORT_LOST
        return np.uint32(item)

    def who(item):
        return np.uint32(item & LOW15), np.uint32(np.uint32(item >> SHORT) & LOW15)

    def result(item):
        return (1.0 if item & SHORT_WON else 0.0) - (1.0 if item & SHORT_LOST else 0.0)

    def decided(item):
        return 1.0 if item & SHORT_WON else -1.0

    compiled = (target.compile(function) for function in (prepare, finish, who, result if ties else decided))
    return Origin(*compiled, bits=32)


def from_performances(formulas: SimpleNamespace, target: Target, laws: Laws) -> Origin:
    """Matches whose performances are drawn."""
    draw, redraw, unit, two_teams, performances, result_of = (
        formulas.draw, formulas.redraw, formulas.unit, formulas.two_teams, formulas.performances, formulas.result_of,
    )  # fmt: skip
    b, tie_of = laws.b, laws.tie
    nothing, one = np.uint64(0), np.uint64(1)

    def prepare(key_1, key_2, match, table, teams, drawing, law):
        bits = draw(key_1, key_2, match)
        i, j = two_teams(bits, teams)
        mine, theirs, used = performances(drawing[0], drawing[1], drawing[2], drawing[3], i, j, bits, one)
        z = mine - theirs
        result = result_of(unit(redraw(bits, used)), b(law, z), tie_of(law, z))
        item = i | (j << S24)
        if result > 0.5:
            item |= WON_BIT
        if result < -0.5:
            item |= LOST_BIT
        return item, nothing, nothing, nothing, bits

    def finish(item, win, loss, fraction):
        return item

    def who(item):
        return np.uint32(np.uint32(item & LOW32) & LOW24), np.uint32(np.uint32((item >> S24) & LOW32) & LOW24)

    def result(item):
        return (1.0 if item & WON_BIT else 0.0) - (1.0 if item & LOST_BIT else 0.0)

    return Origin(*(target.compile(function) for function in (prepare, finish, who, result)), bits=64)


def settling(formulas: SimpleNamespace, target: Target, laws: Laws) -> tuple[Any, Any]:
    """``luck(bits)``, the uniform that decides about acceptance, and ``settle``, which moves two ratings."""
    redraw, unit = formulas.redraw, formulas.unit
    b, w = laws.b, laws.w
    nothing = np.uint64(0)

    def luck(bits):
        return unit(redraw(bits, nothing))

    def no_luck(bits):
        return 0.0

    def settle(r, i, j, result, chance, gamma, law, rule):
        mine, theirs = r[i], r[j]
        gain = gamma * (result - b(law, mine - theirs))
        r[i] = mine + gain
        r[j] = theirs - gain
        return 1

    if w is None:
        return target.compile(no_luck), target.compile(settle)
    move = target.compile(settle)

    def settle_if_accepted(r, i, j, result, chance, gamma, law, rule):
        if chance >= w(rule, r[i] - r[j]):
            return 0
        return move(r, i, j, result, chance, gamma, law, rule)

    return target.compile(luck), target.compile(settle_if_accepted)
