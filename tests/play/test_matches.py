"""One match, formula by formula: what moves ratings, deviations and strengths, compiled and in plain Python."""

import math

import numpy as np
import pytest

from kinelo.model.steps import EACH, FALLING, FIDE
from kinelo.play import binding, deviations, motion, pairs, performances, steps
from kinelo.play.arithmetic import PLAIN

PLAINLY = binding.bind(PLAIN)


def league():
    return {
        "r": np.array([2390.0, 2410.0, 1500.0]),
        "owed": np.array([1.0, -1.0, 0.0]),
        "top": np.array([False, True, False]),
    }


@pytest.mark.parametrize("frozen", [False, True])
def test_a_match_moves_both_sides_by_their_own_steps(frozen):
    mine, plain = league(), league()
    for state, rate in ((mine, steps.rate), (plain, PLAINLY.rate)):
        rate(state["r"], state["owed"], state["top"], 0, 1, 20.0, 5.0, 0.75, frozen)
    for name, values in mine.items():
        np.testing.assert_array_equal(values, plain[name])
    if frozen:
        assert mine["owed"].tolist() == [16.0, -4.75, 0.0]
        assert mine["r"].tolist() == league()["r"].tolist()
    else:
        assert mine["r"].tolist() == [2405.0, 2406.25, 1500.0]
        assert mine["top"].tolist() == [True, True, False]


def test_what_is_owed_is_paid_once_and_may_reach_the_line():
    mine, plain = league(), league()
    mine["owed"][0] = plain["owed"][0] = 10.0
    for state, pay in ((mine, steps.pay), (plain, PLAINLY.pay)):
        pay(state["r"], state["owed"], state["top"], 0)
    assert mine["r"][0] == plain["r"][0] == 2400.0
    assert mine["owed"][0] == plain["owed"][0] == 0.0
    assert mine["top"][0] and plain["top"][0]


@pytest.mark.parametrize("kind", [EACH, FALLING, FIDE])
def test_steps_of_both_sides_are_each_sides_own(kind):
    gamma, n = np.array([0.1, 0.2, 0.3]), np.array([3, 40, 70])
    junior, state = np.array([False, False, True]), league()
    for i, j in ((0, 1), (1, 2), (2, 0)):
        shared = (kind, gamma, 2.0, 30.0, junior, state["r"], n, state["top"])
        both = steps.steps_of(*shared, i, j)
        assert both == PLAINLY.steps_of(*shared, i, j)
        assert both == tuple(
            steps.step_size(kind, gamma[k], 2.0, 30.0, junior[k], state["r"][k], n[k], state["top"][k]) for k in (i, j)
        )


def test_a_match_of_glicko_is_the_published_example():
    """Three matches in one period take 1500 ± 200 to 1464.1065 ± 151.3989."""
    nu, v, owed, known = math.log(10) / 800, 200.0**2, 0.0, 0.0
    for rating, spread, result in ((1400, 30, 1.0), (1550, 100, -1.0), (1700, 300, -1.0)):
        for informed in (deviations.informed, PLAINLY.informed):
            g, b, information = informed(nu, float(spread) ** 2, 1500.0 - rating)
        owed, known = owed + g * (result - b), known + information
    left = deviations.sharpened(v, known)
    assert (1500 + nu * left * owed, math.sqrt(left)) == pytest.approx((1464.1065, 151.3989), abs=1e-4)


@pytest.mark.parametrize("kind", [motion.STILL, motion.LEARNING, motion.FORM, motion.WALK])
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
                for who in (motion.RANDOM, motion.WEAKEST, motion.STRONGEST):
                    assert one.leaver(who, strength, bits) == two.leaver(who, strength, bits)
    assert motion.leaver(motion.WEAKEST, strength, np.uint64(0)) == 2
    assert motion.leaver(motion.STRONGEST, strength, np.uint64(0)) == 1


def test_two_teams_are_any_two_equally_often():
    """Every ordered pair of 5 once in each twentieth of the draws' range."""
    met = [pairs.two_teams(np.uint64((2 * k + 1) * 2**64 // 40), np.uint64(5)) for k in range(20)]
    assert len(set(met)) == 20
    assert all(i != j for i, j in met)
    with np.errstate(over="ignore"):
        assert met == [PLAINLY.two_teams(np.uint64((2 * k + 1) * 2**64 // 40), np.uint64(5)) for k in range(20)]
