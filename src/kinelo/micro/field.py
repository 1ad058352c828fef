"""The loop that plays contests of many sides: one realisation after the other, one contest after the other.

What happens in a contest is said once, in :mod:`kinelo.play.contest`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.micro.league import DRAWN_AT_ONCE, league_of
from kinelo.model.dynamics import LEARNING
from kinelo.model.outcome import LOGISTIC
from kinelo.model.strength import Strength
from kinelo.model.validation import Array
from kinelo.play.contest import FIRST, after_contest, enter, leave, luck, order_of, own_bits, strength_today
from kinelo.play.encoding import EncodedSystem
from kinelo.play.formula import kernel
from kinelo.play.laws import expected, logistic
from kinelo.play.match import MatchRules, MatchSide, turn_over
from kinelo.play.motion import lessons
from kinelo.play.performances import GIVEN, performance
from kinelo.play.steps import gamma_of
from kinelo.play.stream import draw, redraw, unit


@kernel
def play_field(league, played, keys, system, size, first, last):
    """Play contests ``first … last − 1`` of ``size`` teams each of several realisations in place.

    ``league`` is a :class:`kinelo.play.match.League` of arrays (realisations, teams), ``played`` (realisations,),
    ``keys`` (realisations, 2), ``system`` an ``EncodedSystem``; performances that are given are ``drawing.values``
    (realisations · contests, size).
    """
    law, _, steps, _, drawing, motion, glicko, gamma, junior, pool = system
    kind, values, table, lineup, theta = drawing
    count, others = league.rating.shape[1], float(size - 1)
    rules = MatchRules(law, steps, motion, glicko, False, True, 0, size / count)
    order, learns = np.arange(count), motion.kind == LEARNING
    member_bits, x, z, rho = np.empty(size, np.uint64), np.empty(size), np.empty(size), np.empty(size)
    surprise, gain, lesson = np.empty(size), np.empty(size), np.empty(size)
    for k in range(league.rating.shape[0]):
        # Arrays are taken out of their tuples here: within the loop each would be counted as one reference more.
        r, strength, level, clock = league.rating[k], league.strength[k], league.level[k], league.clock[k]
        v, rest, n, top = league.variance[k], league.rest[k], league.matches[k], league.reached[k]
        owed, known = league.owed[k], league.known[k]
        for match in range(first, last):
            bits = draw(keys[k, 0], keys[k, 1], np.uint64(match))
            enter(order, size, bits)
            for a in range(size):
                q = order[a]
                member_bits[a], z[a], gain[a], lesson[a] = own_bits(bits, size, a), r[q], 0.0, 0.0
                if kind == GIVEN:
                    x[a] = values[k * (last - first) + match - first, a]
                else:
                    x[a], _ = performance(kind, values, table, lineup, q, member_bits[a], FIRST)
                side = MatchSide(r[q], strength[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q])
                rho[a] = strength_today(motion, side, (match - clock[q]) * rules.unit_time, member_bits[a])
                if motion.moving:
                    x[a] = rho[a] + (x[a] - theta[q])
                x[a] += luck(law.kind, law.nu, member_bits[a])  # x = λ + G/2ν
            for a in range(size):
                total = gain[a]
                if law.kind == LOGISTIC:
                    # No branch, no call: this loop must vectorise.
                    for b in range(a + 1, size):
                        surprise[b] = order_of(x[a], x[b]) - logistic(law.nu, law.kappa, z[a] - z[b])
                else:
                    for b in range(a + 1, size):
                        surprise[b] = order_of(x[a], x[b]) - expected(law.kind, law.nu, law.kappa, z[a] - z[b])
                for b in range(a + 1, size):
                    gain[b] -= surprise[b]  # Σ_b (S_ab − b(R_a − R_b)), each pair once
                for b in range(a + 1, size):
                    total += surprise[b]
                gain[a] = total
            if learns:
                for a in range(size):
                    for b in range(a + 1, size):
                        gap = expected(law.kind, law.nu, law.kappa, rho[a] - rho[b])
                        mine, theirs = lessons(
                            motion.alpha, motion.beta, motion.on_result, gap, order_of(x[a], x[b])
                        )  # fmt: skip
                        lesson[a] += mine
                        lesson[b] += theirs
            for a in range(size):
                q = order[a]
                side = MatchSide(r[q], strength[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q])
                side = after_contest(
                    side,
                    rho[a],
                    (gain[a] / others, lesson[a] / others),
                    gamma_of(gamma, q),
                    junior[q],
                    rules,
                    match,
                    member_bits[a],
                )
                r[q], strength[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q] = side
            leave(order, size, bits)
            if motion.leaving > 0.0:
                q, side = turn_over(strength, pool, motion, glicko, match + 1, bits, np.uint64(2 * size))
                if q >= 0:
                    r[q], strength[q], level[q], clock[q], v[q], rest[q], n[q], top[q], owed[q], known[q] = side
        played[k] += last - first


@kernel
def enter_and_draw(keys, teams, size, first, last, team, uniforms):
    """The teams of every contest, one realisation after the other, and the uniform numbers of their performances.

    ``team`` (realisations · contests · size,) and ``uniforms`` (the same, numbers of one performance) are filled.
    """
    order, row = np.arange(teams), 0
    for k in range(keys.shape[0]):
        for match in range(first, last):
            bits = draw(keys[k, 0], keys[k, 1], np.uint64(match))
            enter(order, size, bits)
            for a in range(size):
                own = own_bits(bits, size, a)
                team[row] = order[a]
                for number in range(uniforms.shape[1]):
                    uniforms[row, number] = unit(redraw(own, FIRST + np.uint64(number)))
                row += 1
            leave(order, size, bits)


def field_play(encoded: EncodedSystem, size: int, strengths: Strength, keys: NDArray[np.uint64]):
    """Play contests of ``size`` teams, whatever the league."""
    encoded = field_system(encoded, size)

    def play(
        rating: Array, played: NDArray[np.int64], memory: Mapping[str, NDArray], chosen: slice, first: int, last: int
    ) -> None:
        league, streams, rows = league_of(rating, memory, chosen), keys[chosen], chosen.stop - chosen.start
        if encoded.drawing.kind != GIVEN:
            play_field(league, played[chosen], streams, encoded, size, first, last)
            return
        chunk = max(1, DRAWN_AT_ONCE // rows)
        for begin in range(first, last, chunk):
            end = min(begin + chunk, last)
            entries = (end - begin) * rows * size
            team, uniforms = np.empty(entries, dtype=np.int64), np.empty((entries, strengths.uniforms))
            enter_and_draw(streams, strengths.teams, size, begin, end, team, uniforms)
            drawn = np.array(strengths.performances(team, uniforms), dtype=np.float64).reshape(-1, size)
            given = encoded._replace(drawing=encoded.drawing._replace(values=drawn))
            play_field(league, played[chosen], streams, given, size, begin, end)

    return play


def field_system(encoded: EncodedSystem, size: int) -> EncodedSystem:
    """A system as loops over contests take it: a contest is k/2 matches of the league, and so are its departures."""
    leaving = encoded.motion.leaving * size / 2
    if leaving > 1:
        raise InputError(
            f"Turnover lets at most one team leave after a contest: with Field({size}) its rate must be at most "
            f"{1 / size:.4g}, not {encoded.motion.leaving / 2:g}."
        )
    return encoded._replace(motion=encoded.motion._replace(leaving=leaving))
