"""The compiled loops against a slow twin in plain Python, and the random stream against what it promises."""

import math

import numpy as np
import pytest
from scipy.stats import chisquare

import kinelo as kn
from kinelo.model import (
    AllPlayAll,
    Davidson,
    Empirical,
    LineupLottery,
    Local,
    Outcome,
    Probit,
    Window,
    outcome_probabilities,
)
from kinelo.play import elementary, encoding, laws, stream
from kinelo.play.encoding import result_table

MASK = (1 << 64) - 1
GOLDEN, ROUND_1, ROUND_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def plain_draw(key_1, key_2, counter):
    z = (key_1 + counter * GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * ROUND_1) & MASK
    z = ((z ^ (z >> 27) ^ key_2) * ROUND_2) & MASK
    return z ^ (z >> 31)


def plain_redraw(bits, k):
    return plain_draw((bits + (k + 1) * GOLDEN) & MASK, 0, 0)


def plain_unit(bits):
    return (bits >> 11) * 2.0**-53


def plain_league(system, strengths, seed, realisation, matches, start):
    """Slow twin of ``play_table``: the same sentences, one match after the other."""
    win, tie, _ = outcome_probabilities(system.outcome, strengths)
    pairs = [(i, j) for i in range(strengths.teams) for j in range(i + 1, strengths.teams)]
    key_1, key_2 = (int(key) for key in stream.realisation_keys(seed, realisation + 1)[realisation])
    rating, played = list(start), 0
    for match in range(matches):
        bits = plain_draw(key_1, key_2, match)
        product = bits * len(pairs)
        i, j = pairs[product >> 64]
        uniform = (product & MASK) / 2.0**64
        z = rating[i] - rating[j]
        if plain_unit(plain_redraw(bits, 0)) >= float(system.pairing.w(z)):
            continue
        result = 1.0 if uniform < win[i, j] else 0.0 if uniform < win[i, j] + tie[i, j] else -1.0
        gain = system.gamma * (result - float(system.outcome.b(z)))
        rating[i] += gain
        rating[j] -= gain
        played += 1
    return np.array(rating), played


@pytest.mark.parametrize("outcome", [kn.Tanh(0.5), Probit(0.4), Davidson(0.6, 1.3)])
@pytest.mark.parametrize("pairing", [AllPlayAll(), Local(), Window(2.0), Window(2.0, smoothing=0.5)])
def test_the_fast_loop_is_the_slow_one(outcome, pairing):
    system = kn.RatingSystem(outcome, pairing, gamma=0.2)
    strengths = kn.Normal(np.linspace(4, 10, 7), 1.0)
    start = np.linspace(5, 9, 7)
    run = kn.simulate(system, strengths, steps=40, realisations=3, seed=5, start=start)
    for realisation in range(3):
        rating, played = plain_league(system, strengths, 5, realisation, 1000, start)
        np.testing.assert_allclose(run.rating[realisation, -1], rating, atol=1e-12)
        assert int(run.matches_played[realisation, -1]) == played


def test_exp_and_tanh_are_accurate_to_the_last_places():
    x = np.concatenate([np.linspace(-30, 30, 20_001), np.logspace(-12, 1, 2_001), [0.0, -0.0, 700.0, -1e300]])
    mine = np.array([laws.logistic(0.5, 0.0, z) for z in x])
    np.testing.assert_allclose(mine, np.tanh(0.5 * x), rtol=0, atol=3e-16)
    assert all(
        elementary.tanh_of(z) == pytest.approx(math.tanh(z), abs=3e-16) for z in (-200.0, -1.0, 0.0, 1e-9, 3.0, 200.0)
    )
    y = np.linspace(-699, 0, 5_001)
    mine = np.array([elementary.exp_negative(value) for value in y])
    np.testing.assert_allclose(mine, np.exp(y), rtol=4e-16)


def test_the_compiled_stream_is_the_plain_one():
    keys = stream.realisation_keys(9, 3)
    for key_1, key_2 in keys:
        for counter in (0, 1, 12345, 2**40):
            bits = stream.draw(key_1, key_2, np.uint64(counter))
            assert int(bits) == plain_draw(int(key_1), int(key_2), counter)
            assert int(stream.redraw(np.uint64(bits), np.uint64(3))) == plain_redraw(int(bits), 3)


def test_the_stream_is_uniform_over_pairs_and_fractions():
    """Chi-square over pairs × eighths of the fraction; false alarm probability 1e-6."""
    (key_1, key_2) = (int(key) for key in stream.realisation_keys(1, 1)[0])
    pairs, draws = 45, 200_000
    z = (np.arange(draws, dtype=np.uint64) * np.uint64(GOLDEN)) + np.uint64(key_1)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(ROUND_1)
    z = (z ^ (z >> np.uint64(27)) ^ np.uint64(key_2)) * np.uint64(ROUND_2)
    bits = z ^ (z >> np.uint64(31))
    position = (bits >> np.uint64(11)) * 2.0**-53 * pairs
    cells = np.floor(position * 8).astype(int)
    assert chisquare(np.bincount(cells, minlength=pairs * 8)).pvalue > 1e-6
    # Consecutive matches and consecutive realisations are independent.
    following = np.bincount((cells[:-1] % 64) * 8 + cells[1:] % 8, minlength=512)
    assert chisquare(following, np.bincount(cells[:-1] % 64, minlength=64).repeat(8) / 8).pvalue > 1e-6


def test_keys_do_not_depend_on_how_many_realisations_are_asked_for():
    assert (stream.realisation_keys(4, 10)[:3] == stream.realisation_keys(4, 3)).all()
    assert len({tuple(key) for key in stream.realisation_keys(4, 200)}) == 200


def test_tables_are_kept_by_what_they_are_made_from(monkeypatch):
    monkeypatch.setattr(encoding, "_kept", encoding._kept.copy())
    encoding._kept.clear()
    rho = np.arange(10.0).reshape(2, 5)
    laws = [
        kn.Fixed([1.0, 2.0]), kn.Fixed([1.0, 3.0]), kn.Normal([1.0, 2.0], 1.0), kn.Normal([1.0, 2.0], 2.0),
        LineupLottery(rho, 3), LineupLottery(rho, 2), LineupLottery(rho, 3, weights=[1, 2, 3, 4, 5]),
        Empirical([[1.0, 2.0], [3.0, 4.0]]), Empirical([[1.0, 2.0], [3.0, 4.0]], [[0.1, 0.9], [0.5, 0.5]]),
    ]  # fmt: skip
    outcomes = [
        kn.Tanh(0.5),
        kn.Tanh(0.25),
        Probit(0.5),
        Davidson(0.5, 1.0),
        Davidson(0.5, 2.0),
    ]
    for _ in range(2):
        for outcome in outcomes:
            for law in laws:
                kept, made = result_table(outcome, law), encoding._make_table(outcome, law)
                assert (kept.win == made.win).all() and (kept.loss == made.loss).all()
    assert len(encoding._kept) == len(outcomes) * len(laws)
    assert result_table(kn.Tanh(0.5), kn.Fixed([1.0, 2.0])) is result_table(kn.Tanh(0.5), kn.Fixed([1.0, 2.0]))
    monkeypatch.setattr(encoding, "MOST_TABLE_BYTES", 100)
    result_table(kn.Tanh(0.125), kn.Fixed([1.0, 2.0]))
    assert sum(one.nbytes for one in encoding._kept.values()) <= 100
    own = Outcome.from_function(lambda z: z / (1 + abs(z)))
    assert result_table(own, kn.Fixed([1.0, 2.0])) is not result_table(own, kn.Fixed([1.0, 2.0]))


def test_thresholds_of_certain_results_do_not_wrap_around():
    table = result_table(kn.Tanh(1.0), kn.Fixed([0.0, 1e6]))
    assert table.win[0] == 0
    table = result_table(kn.Tanh(1.0), kn.Fixed([1e6, 0.0]))
    assert table.win[0] == np.iinfo(np.uint64).max
