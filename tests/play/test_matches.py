"""One match, formula by formula: what moves ratings, deviations and strengths, compiled and in plain Python."""

import math

import numpy as np
import pytest

from kinelo.model import dynamics
from kinelo.model.outcome import LOGISTIC, Tanh
from kinelo.model.pairing import AllPlayAll
from kinelo.model.steps import EACH, FALLING, FIDE
from kinelo.play import deviations, formula, match, motion, pairs, performances, steps
from kinelo.play.arithmetic import PLAIN
from kinelo.play.laws import OutcomeCode
from kinelo.play.users import user_functions

PLAINLY = formula.bind(PLAIN)


NU = math.log(10) / 800
STILL = motion.Motion(False)
NO_GLICKO = deviations.Deviation(False, 1.0, 0.0, 0.0, 0.0)
WON = match.Draws(7, np.uint64(1), np.uint64(1), 0.0, 0.0, 0.0, 0.0, np.uint64(3), np.uint64(4), np.uint64(4))


def side(rating, owed=0.0, matches=40, reached=False):
    return match.MatchSide(rating, 0.0, 0.0, 0, 0.0, 0, matches, reached, owed, 0.0)


def rules(kind=EACH, period=0):
    return match.MatchRules(
        OutcomeCode(LOGISTIC, NU, 0.0), steps.StepCode(kind, 2.0, 30.0), STILL, NO_GLICKO, False, False, period, 0.5
    )


def both_ways(mine, theirs, gammas, juniors, rules):
    """A match won by the first side, in plain Python and compiled."""
    functions = user_functions(Tanh(NU), AllPlayAll())
    compiled = match.play_match(mine, theirs, gammas, juniors, rules, WON, functions.b, functions.tie)
    plain = PLAINLY.play_match(mine, theirs, gammas, juniors, rules, WON, None, None)
    assert compiled == plain
    return compiled


@pytest.mark.parametrize("period", [0, 6])
def test_a_match_moves_both_sides_by_their_own_steps(period):
    surprise = 1.0 - math.tanh(NU * -20.0)
    mine, theirs, result, _ = both_ways(
        side(2390.0, 1.0), side(2410.0, -1.0, reached=True), (20.0, 5.0), (False, False), rules(period=period)
    )
    assert result == 1.0 and mine.matches == theirs.matches == 41
    moved = (mine.rating, theirs.rating, mine.owed, theirs.owed)
    if period:
        assert moved == pytest.approx((2390.0, 2410.0, 1.0 + 20.0 * surprise, -1.0 - 5.0 * surprise), abs=1e-11)
        assert not mine.reached, "ratings are frozen"
    else:
        assert moved == pytest.approx((2390.0 + 20.0 * surprise, 2410.0 - 5.0 * surprise, 1.0, -1.0), abs=1e-11)
        assert mine.reached and theirs.reached


def test_what_is_owed_is_paid_once_and_may_reach_the_line():
    for end_period in (match.end_period, PLAINLY.end_period):
        after = end_period(side(2390.0, 10.0), rules(period=6), 12, 0.0)
        assert (after.rating, after.owed, after.reached) == (2400.0, 0.0, True)
        assert not end_period(side(2389.0, 10.0), rules(period=6), 12, 0.0).reached


@pytest.mark.parametrize("kind", [EACH, FALLING, FIDE])
def test_steps_of_both_sides_are_each_sides_own(kind):
    """γ: its own number; falling by 1 + βm/(m + n); K = 40 for a junior below 2300, else 20 or 10 after the line."""
    one, other = side(2000.0, matches=10), side(2100.0, matches=70, reached=True)
    mine, theirs, *_ = both_ways(one, other, (0.1, 0.2), (True, False), rules(kind))
    surprise = 1.0 - math.tanh(NU * -100.0)
    expected = {EACH: (0.1, 0.2), FALLING: (0.1 * (1 + 60 / 40), 0.2 * (1 + 60 / 100)), FIDE: (20.0, 5.0)}[kind]
    gained = ((mine.rating - 2000.0) / surprise, (2100.0 - theirs.rating) / surprise)
    assert gained == pytest.approx(expected, rel=1e-9)


def test_a_match_of_glicko_is_the_published_example():
    """Three matches in one period take 1500 ± 200 to 1464.1065 ± 151.3989."""
    nu, v, owed, known = math.log(10) / 800, 200.0**2, 0.0, 0.0
    for rating, spread, result in ((1400, 30, 1.0), (1550, 100, -1.0), (1700, 300, -1.0)):
        for informed in (deviations.informed, PLAINLY.informed):
            g, b, information = informed(nu, float(spread) ** 2, 1500.0 - rating)
        owed, known = owed + g * (result - b), known + information
    left = deviations.sharpened(v, known)
    assert (1500 + nu * left * owed, math.sqrt(left)) == pytest.approx((1464.1065, 151.3989), abs=1e-4)


@pytest.mark.parametrize("kind", [dynamics.STILL, dynamics.LEARNING, dynamics.FORM, dynamics.WALK])
def test_strengths_move_the_same_compiled_and_in_plain_python(kind):
    pool, strength = np.array([4.0, 6.0, 9.0]), np.array([3.0, 8.0, 1.0, 8.0])
    for seed in range(12):
        bits = np.uint64(seed * 0xD1342543DE82EF95 % 2**64)
        with np.errstate(over="ignore"):
            for one, two in ((motion, PLAINLY), (performances, PLAINLY)):
                if one is performances:
                    assert one.normal_of(bits, np.uint64(2)) == two.normal_of(bits, np.uint64(2))
                    continue
                moved = (kind, 0.3, 2.0, 0.1, 5.0, 6.0, 0.7 * seed, 0.4)
                assert one.present(*moved) == two.present(*moved)
                assert one.lessons(0.5, 0.2, seed % 2 == 0, 0.3, -1.0) == two.lessons(
                    0.5, 0.2, seed % 2 == 0, 0.3, -1.0
                )
                assert one.jolt(0.05, 0.7, 1.3) == two.jolt(0.05, 0.7, 1.3)
                arrived = (kind, 2.0, pool, bits, np.uint64(3))
                assert one.newcomer_of(*arrived) == two.newcomer_of(*arrived)
                for who in (dynamics.RANDOM, dynamics.WEAKEST, dynamics.STRONGEST):
                    assert one.leaver(who, strength, bits) == two.leaver(who, strength, bits)
    assert motion.leaver(dynamics.WEAKEST, strength, np.uint64(0)) == 2
    assert motion.leaver(dynamics.STRONGEST, strength, np.uint64(0)) == 1


def test_two_teams_are_any_two_equally_often():
    """Every ordered pair of 5 once in each twentieth of the draws' range."""
    met = [pairs.two_teams(np.uint64((2 * k + 1) * 2**64 // 40), np.uint64(5)) for k in range(20)]
    assert len(set(met)) == 20
    assert all(i != j for i, j in met)
    with np.errstate(over="ignore"):
        assert met == [PLAINLY.two_teams(np.uint64((2 * k + 1) * 2**64 // 40), np.uint64(5)) for k in range(20)]
