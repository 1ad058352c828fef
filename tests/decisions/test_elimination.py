"""Elimination by betting: fortunes against their definition, what is called sure, coverage over simulated arenas."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.decisions.elimination import ABOVE, NEAR, OUT, bet

Q = math.log(10) / 400

NAMES = ["Ann", "Bob", "Cid", "Dee"]


def plainly(matches, alpha_spread=200.0, epsilon=0.0):
    """Means and fortunes after each match by their definition, with a belief whose covariance is inverted anew."""
    index = {name: k for k, name in enumerate(NAMES)}
    m, information = np.full(4, 1500.0), np.eye(4) / alpha_spread**2
    out, above, near = np.ones(4), np.ones((4, 4)), np.ones((4, 4))
    lead = 1 / (1 + 10 ** (epsilon / 400))
    for home, away, result in matches:
        i, j = index[home], index[away]
        e = np.eye(4)[i] - np.eye(4)[j]
        P = np.linalg.inv(information)
        p = 1 / (1 + math.exp(-Q * e @ m / math.sqrt(1 + math.pi / 8 * Q**2 * e @ P @ e)))
        if result != 0.5:
            for a, b, chance in ((i, j, p), (j, i, 1 - p)):  # bets on a against b
                a_won = (result == 1) == (a == i)
                if chance > 0.5:
                    out[b] *= 2 * chance if a_won else 2 * (1 - chance)
                    above[b, a] *= 2 * chance if a_won else 2 * (1 - chance)
                if chance > lead:
                    near[b, a] *= chance / lead if a_won else (1 - chance) / (1 - lead)
        center = 1 / (1 + math.exp(-Q * e @ m))
        information = information + Q**2 * center * (1 - center) * np.outer(e, e)
        m = m + np.linalg.inv(information) @ e * Q * (result - center)
        yield m, out.copy(), above.copy(), near.copy()


def drawn(seed, count, spread=150.0):
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, spread, 4)
    rows = []
    for _ in range(count):
        i, j = rng.choice(4, 2, replace=False)
        win = 1 / (1 + 10 ** (-(strength[i] - strength[j]) / 400))
        rows.append((NAMES[i], NAMES[j], 0.5 if rng.random() < 0.25 else float(rng.random() < win)))
    return rows


@pytest.mark.parametrize(("epsilon", "spread"), [(0.0, 200.0), (60.0, 90.0)])
def test_fortunes_are_those_of_the_definition(epsilon, spread):
    rows = drawn(3, 120)
    stop = kn.Elimination(NAMES, epsilon=epsilon, spread=spread)
    for row in rows:
        stop.update(*row)
    *_, (m, out, above, near) = plainly(rows, spread, epsilon)
    assert stop.ratings == pytest.approx(m, abs=1e-6)
    assert np.exp(np.diagonal(stop._log_fortune[OUT])) == pytest.approx(out, rel=1e-6)
    assert np.exp(stop._log_fortune[ABOVE] * (1 - np.eye(4))) == pytest.approx(above, rel=1e-6)
    assert np.exp(stop._log_fortune[NEAR] * (1 - np.eye(4))) == pytest.approx(near, rel=1e-6)
    table = {"home": [r[0] for r in rows], "away": [r[1] for r in rows], "result": [r[2] for r in rows]}
    whole = kn.Elimination(NAMES, epsilon=epsilon, spread=spread).update_matches(
        kn.read_matches(table | {"neutral": [True] * 120})
    )
    assert whole.to_dict() == stop.to_dict()


@pytest.mark.parametrize(("alpha", "epsilon"), [(0.3, 0.0), (0.2, 90.0)])
def test_what_is_sure_is_what_the_largest_fortunes_so_far_say(alpha, epsilon):
    """Match by match until there is a leader: who is left, who is above whom, and who is first."""
    rows, stop = drawn(2, 500, spread=250.0), kn.Elimination(NAMES, alpha=alpha, epsilon=epsilon)
    largest, seen = [np.ones(4), np.ones((4, 4)), np.ones((4, 4))], set()
    for row, (m, *fortunes) in zip(rows, plainly(rows, epsilon=epsilon)):
        stop.update(*row)
        largest = [np.maximum(one, now) for one, now in zip(largest, fortunes)]
        order = sorted(range(4), key=lambda k: -m[k])
        assert stop.left == [NAMES[k] for k in order if largest[0][k] <= 1 / alpha]
        sure = {(a, b) for a in range(4) for b in range(4) if largest[1][b, a] >= 6 / alpha}
        for _ in range(2):
            sure |= {(a, d) for a, b in sure for c, d in sure if b == c}
        above = {(a, b) for a in range(4) for b in range(4) if stop.surely_above(NAMES[a], NAMES[b])}
        assert above == sure
        near = [k for k in order if all(largest[2][j, k] >= 3 / alpha for j in range(4) if j != k)]
        leader = (NAMES[near[0]] if near else None) if epsilon else stop.left[0] if len(stop.left) == 1 else None
        assert stop.leader == leader
        seen |= {len(stop.left), f"{len(sure)} sure"}
        if leader:
            break
    assert leader and len(seen) >= 6  # steps on the way: it is not all sure at once


def test_pairs_are_drawn_of_those_left_in_either_order():
    stop = kn.Elimination(["A", "B", "C"], alpha=0.2)
    while len(stop.left) == 3:
        stop.update("A", "C", "win").update("B", "C", "win").update("A", "B", "win").update("B", "A", "win")
    pairs = [stop.next_pair(seed) for seed in range(200)]
    assert {frozenset(pair) for pair in pairs} == {frozenset("AB")}
    assert abs(sum(pair == ("A", "B") for pair in pairs) - 100) < 28  # four standard errors
    while stop.leader is None:
        stop.update("A", "B", "win")
    assert "C" in {name for seed in range(200) for name in stop.next_pair(seed)}  # all of them where one is left


def test_what_was_reached_once_stays():
    stop = kn.Elimination(["Ann", "Bob"])
    while stop.leader is None:
        stop.update("Ann", "Bob", "win")
    assert stop.leader == "Ann"
    assert stop.surely_above("Ann", "Bob")
    assert not stop.surely_above("Bob", "Ann")
    for _ in range(20):
        stop.update("Ann", "Bob", "loss")
    assert stop.leader == "Ann"
    for _ in range(60):
        stop.update("Ann", "Bob", "loss")
    assert (stop.leader, stop.believed) == ("Ann", "Bob")


def test_order_is_closed_and_tiers_end_where_all_are_told_apart():
    stop = kn.Elimination(["A", "B", "C", "D"])
    for _ in range(40):
        for one, other in (("A", "C"), ("B", "C"), ("C", "D")):
            stop.update(one, other, "win")
    assert stop.surely_above("A", "D")  # they never met
    assert not stop.surely_above("A", "B")
    assert not stop.surely_above("B", "A")
    assert [set(group) for group in stop.tiers] == [{"A", "B"}, {"C"}, {"D"}]
    assert stop.leader is None
    assert set(stop.left) == {"A", "B"}
    assert set(stop.next_pair(3)) == {"A", "B"}
    assert "2 are left" in stop.lines()[0]


def test_draws_tell_nothing():
    stop = kn.Elimination(["A", "B"])
    for _ in range(500):
        stop.update("A", "B", "draw")
    assert not stop._log_fortune.any()


def test_near_ties_end_within_epsilon():
    rng = np.random.default_rng(5)
    stop = kn.Elimination(["A", "B"], epsilon=120.0)
    for _ in range(1500):
        stop.update("A", "B", float(rng.random() < 0.5))
        if stop.leader:
            break
    assert stop.leader in ("A", "B")
    assert stop.played < 1500
    assert "within 120 points of the first" in stop.lines()[0]


def arena(seed, count, epsilon, draws):
    """Whether anything called sure was wrong in an arena with adaptive pairs and unequal numbers."""
    rng = np.random.default_rng([seed, 77])
    size = 4
    strength = np.sort(rng.normal(0, 120, size))[::-1].copy()
    if seed % 2:
        strength[1] = strength[0] - 1.0  # a tie, but for a point
    names = [f"P{k}" for k in range(size)]
    stop = kn.Elimination(names, alpha=0.2, epsilon=epsilon)
    for n in range(count):
        pair = stop.next_pair(seed) if n % 3 else tuple(rng.choice(names, 2, replace=False))
        i, j = (int(name[1:]) for name in pair)
        win = 1 / (1 + 10 ** (-(strength[i] - strength[j]) / 400))
        stop.update(*pair, 0.5 if rng.random() < draws else float(rng.random() < win))
    best = int(np.argmax(strength))
    wrong_leader = stop.leader is not None and strength[best] - strength[int(stop.leader[1:])] > epsilon
    above = stop._order()
    return wrong_leader, bool((above & (strength[:, None] < strength)).any()), stop.leader is not None


def test_levels_hold_in_small_arenas():
    """20 arenas at a level of .2: more than 10 wrong would come by chance in fewer than 1 of 1,000 runs."""
    found = np.array([arena(seed, 200, 0.0, 0.2) for seed in range(20)])
    assert found[:, 0].sum() <= 10
    assert found[:, 1].sum() <= 10
    assert found[:, 2].sum() >= 2  # and something is found


def test_what_cannot_be_counted_is_refused():
    with pytest.raises(kn.InputError, match="at least 2 names, each once"):
        kn.Elimination(["A", "A"])
    stop = kn.Elimination(["A", "B"])
    with pytest.raises(kn.InputError, match="'C' does not take part"):
        stop.update("A", "C", 1)
    with pytest.raises(kn.InputError, match="cannot meet itself"):
        stop.update("A", "A", 1)
    with pytest.raises(kn.InputError, match="counts as 0, "):
        stop.update("A", "B", 0.3)


def test_the_kernel_is_its_plain_self():
    rng = np.random.default_rng(2)
    home = rng.integers(0, 3, 50)
    away = (home + 1 + rng.integers(0, 2, 50)) % 3
    states = []
    for run in (bet, bet.py_func):
        m, P, fortune = np.full(3, 1500.0), np.eye(3) * 200.0**2, np.zeros((3, 3, 3))
        run(home, away, np.where(home < away, 1.0, -1.0), m, P, fortune, 30.0)
        states.append((m, P, fortune))
    for compiled, plain in zip(*states):
        assert compiled == pytest.approx(plain, rel=1e-9, abs=1e-9)
