"""The general loop: users' laws, step rules, schedules; each against a slow twin or against theory."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import t as student

import kinelo as kn
from kinelo.micro import league as ways
from kinelo.micro.general import play_general
from kinelo.micro.simulate import loop_of
from kinelo.model.validation import Array
from kinelo.play import stream
from kinelo.play.encoding import encode
from kinelo.play.stream import realisation_keys
from kinelo.play.users import user_functions

TEAMS = 7
LEAGUE = kn.Normal(np.linspace(4, 10, TEAMS), 1.0)
START = np.linspace(5, 9, TEAMS)
CHESS = kn.Fixed(np.array([1500.0, 1800.0, 2250.0, 2330.0, 2390.0, 2500.0, 2200.0]))


class OwnNormal(kn.Normal):
    """A user's law: normal, but drawn by its own method."""


class OwnTanh(kn.Tanh):
    """A user's outcome: tanh told as a formula."""


@dataclass(frozen=True)
class Bell(kn.model.Pairing):
    """w(z) = e^{−z²/2c²}."""

    c: float

    def scalar_w(self):
        c = self.c
        return lambda z: math.exp(-z * z / (2 * c * c))

    def w(self, z) -> Array:
        return np.exp(-(np.asarray(z, dtype=np.float64) ** 2) / (2 * self.c**2))

    def w_prime(self, z) -> Array:
        return -np.asarray(z) / self.c**2 * self.w(z)


def plain_bits(key_1, key_2, counter):
    mask = (1 << 64) - 1
    z = (key_1 + counter * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27) ^ key_2) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def twin(system, strengths, matches, start, seed=5):
    """Realisation 0, marginal, one sentence after the other; its own rules for steps and schedules."""
    n = strengths.teams
    win, tie, _ = kn.model.outcome_probabilities(system.outcome, strengths)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    key = [int(k) for k in stream.realisation_keys(seed, 1)[0]]
    rating, count, top = [float(r) for r in start], [0] * n, [r >= 2400 for r in start]
    owed = [0.0] * n
    rounds, gamma = isinstance(system.schedule, kn.model.Rounds), system.gamma
    period = len(pairs) if rounds else system.schedule.matches * (n // 2) if system.schedule else 0
    waiting: list[int] = []

    def step(i):
        if isinstance(gamma, kn.model.FideSteps):
            young = i in gamma.under_18 and rating[i] < 2300
            return 20.0 if count[i] < 30 or young else 5.0 if top[i] else 10.0
        if isinstance(gamma, kn.model.FallingSteps):
            return gamma.gamma * (1 + gamma.boost * gamma.matches / (gamma.matches + count[i]))
        return gamma[i] if isinstance(gamma, tuple) else gamma

    for match in range(matches):
        bits = plain_bits(*key, match)
        (i, j), uniform = pairs[bits * len(pairs) >> 64], (bits * len(pairs) % 2**64) / 2**64
        if rounds:
            (i, j), uniform = pairs[match % len(pairs)], bits / 2**64
        elif period:
            if match % (n // 2) == 0:
                waiting = list(range(n))
                if n % 2:
                    waiting[bits * n >> 64], bits_left = n - 1, bits * n % 2**64
                    waiting.pop()
            rest = bits_left if n % 2 and match % (n // 2) == 0 else bits
            mine, others = waiting.pop(), len(waiting)
            theirs = waiting[rest * others >> 64]
            waiting[rest * others >> 64] = waiting[-1]
            waiting.pop()
            (i, j), uniform = sorted((mine, theirs)), (rest * others % 2**64) / 2**64
        z = rating[i] - rating[j]
        if (plain_bits((bits + 0x9E3779B97F4A7C15) % 2**64, 0, 0) >> 11) * 2.0**-53 < float(system.pairing.w(z)):
            result = 1.0 if uniform < win[i, j] else 0.0 if uniform < win[i, j] + tie[i, j] else -1.0
            surprise = result - float(system.outcome.b(z))
            into = owed if period else rating
            mine, theirs = step(i) * surprise, step(j) * surprise
            into[i] += mine
            into[j] -= theirs
            count[i] += 1
            count[j] += 1
        if period and (match + 1) % period == 0:
            rating, owed = [r + o for r, o in zip(rating, owed)], [0.0] * n
        top = [t or r >= 2400 for t, r in zip(top, rating)]
    return np.array(rating)


@pytest.mark.parametrize(
    ("system", "league", "start"),
    [
        (kn.RatingSystem(kn.Tanh(0.5), gamma=np.linspace(0.05, 0.3, TEAMS)), LEAGUE, START),
        (
            kn.RatingSystem(kn.model.Davidson(0.5, 0.7), kn.model.Local(), kn.model.FallingSteps(0.1, 3.0, 20)),
            LEAGUE,
            START,
        ),
        (kn.RatingSystem(kn.Tanh.elo(), gamma=kn.model.FideSteps(under_18=[2, 4])), CHESS, CHESS.theta),
        (kn.RatingSystem(kn.Tanh(0.5), gamma=0.05, schedule=kn.model.Rounds()), LEAGUE, START),
        (kn.RatingSystem(kn.model.Probit(0.5), kn.model.Window(2.0), 0.05, kn.model.Rounds()), LEAGUE, START),
        (kn.RatingSystem(kn.Tanh(0.5), gamma=0.05, schedule=kn.model.Period(3)), LEAGUE, START),
        (kn.RatingSystem(kn.Tanh(0.5), Bell(2.0), 0.1), LEAGUE, START),
        (
            kn.RatingSystem(OwnTanh(0.5), Bell(2.0), kn.model.FallingSteps(0.1, 3.0, 20), kn.model.Period(2)),
            LEAGUE,
            START,
        ),
    ],
    ids=lambda part: "",
)
def test_the_general_loop_is_the_slow_one(system, league, start):
    run = kn.simulate(system, league, steps=60, realisations=2, seed=5, start=start)
    scale = np.abs(start).max()
    np.testing.assert_allclose(run.rating[0, -1], twin(system, league, 1500, start), rtol=0, atol=1e-12 * scale)
    assert abs(run.rating[0, -1] - run.rating[1, -1]).max() > 1e-6


@pytest.mark.parametrize("sampling", ["marginal", "literal"])
@pytest.mark.parametrize("pairing", [kn.model.AllPlayAll(), kn.model.Local()])
def test_one_step_given_to_each_team_ends_at_the_same_bytes(sampling, pairing):
    one = kn.RatingSystem(kn.model.Davidson(0.5, 0.4), pairing, 0.1)
    each = kn.RatingSystem(kn.model.Davidson(0.5, 0.4), pairing, [0.1] * TEAMS)
    runs = [kn.simulate(s, LEAGUE, steps=100, realisations=4, seed=2, sampling=sampling) for s in (one, each)]
    assert np.array_equal(runs[0].rating, runs[1].rating)
    assert np.array_equal(runs[0].matches_played, runs[1].matches_played)


@pytest.mark.parametrize("rule", [kn.model.FallingSteps(0.1, 3.0, 20), [0.1, 0.2, 0.1, 0.1, 0.3, 0.1, 0.1]])
@pytest.mark.parametrize("schedule", [None, kn.model.Rounds(), kn.model.Period(2)])
def test_a_run_that_is_continued_ends_at_the_same_bytes(rule, schedule):
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=rule, schedule=schedule)
    settings = {"matches_per_step": 1, "realisations": 3, "seed": 4}
    [middle, end] = kn.micro.simulation_states(system, LEAGUE, stops=[101, 260], **settings)
    [again] = kn.micro.simulation_states(system, LEAGUE, stops=[260], start=middle, threads=2, **settings)
    assert np.array_equal(end.rating, again.rating)
    for name, values in end.memory.items():
        assert np.array_equal(values, again.memory[name]), name


RULES = {
    "one": (0.05, LEAGUE, kn.model.Davidson(0.5, 0.7)),
    "each": (tuple(np.linspace(0.05, 0.3, TEAMS)), LEAGUE, kn.Tanh(0.5)),
    "falling": (kn.model.FallingSteps(0.1, 3.0, 20), LEAGUE, kn.model.Probit(0.5)),
    "fide": (kn.model.FideSteps(under_18=[2, 4]), CHESS, kn.Tanh.elo()),
}


@pytest.mark.parametrize("pairing", [kn.model.AllPlayAll(), kn.model.Window(2.0)])
@pytest.mark.parametrize("rule", ["one", "each"])
@pytest.mark.parametrize("lanes", [1, 5])
@pytest.mark.parametrize("schedule", [None, kn.model.Rounds()])
def test_fast_loops_end_at_the_bytes_of_the_general_loop(rule, pairing, lanes, schedule):
    gamma, league, outcome = RULES[rule]
    system, keys = kn.RatingSystem(outcome, pairing, gamma, schedule), realisation_keys(3, lanes)
    encoded, functions, ends = encode(system, league), user_functions(outcome, pairing), []
    for play in (
        loop_of(system, league, encoded, keys),
        ways.general_play(encoded, functions, league, keys),
    ):
        rating, played = np.tile(league.theta, (lanes, 1)), np.zeros(lanes, np.int64)
        memory = ways.fresh_memory(encoded, rating)
        for first, last in ((0, 1), (1, 77), (77, 500)):
            play(rating, played, memory, slice(0, lanes), first, last)
        ends.append((rating, played, *memory.values()))
    for mine, theirs in zip(*ends, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert ends[0][1].min() > 0


def test_a_period_is_made_of_perfect_matchings_all_equally_likely():
    """Every team once in each; each of the 15 matchings of 6 teams within 5 standard errors of its share (1e-5)."""
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=0.01, schedule=kn.model.Period(2))
    played = kn.micro.simulate_matches(system, kn.Fixed(np.zeros(6)), matches=3 * 4000, seed=1)
    both = np.sort(np.stack([played.home, played.away], axis=1), axis=1).reshape(4000, 3, 2)
    assert (np.sort(both.reshape(4000, 6), axis=1) == np.arange(6)).all()
    met = both[np.arange(4000)[:, None], np.argsort(both[:, :, 0], axis=1)].reshape(4000, 6)
    counts = np.unique(met, axis=0, return_counts=True)[1]
    assert len(counts) == 15
    assert abs(counts / 4000 - 1 / 15).max() < 5 * math.sqrt(14 / 15**2 / 4000)


def test_one_team_rests_in_each_matching_of_an_odd_league():
    """Each of 7 teams rests within 5 standard errors of its share (error probability 4e-6)."""
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=0.01, schedule=kn.model.Period(2))
    played = kn.micro.simulate_matches(system, kn.Fixed(np.zeros(7)), matches=3 * 4000, seed=2)
    playing = np.sort(np.stack([played.home, played.away], axis=1).reshape(4000, 6), axis=1)
    assert (np.diff(playing, axis=1) > 0).all()
    rested = 21 - playing.sum(axis=1)
    assert abs(np.bincount(rested, minlength=7) / 4000 - 1 / 7).max() < 5 * math.sqrt(6 / 49 / 4000)


def test_steps_that_differ_conserve_the_weighted_sum():
    gamma = np.linspace(0.05, 0.3, TEAMS)
    run = kn.simulate(kn.RatingSystem(kn.Tanh(0.5), gamma=gamma), LEAGUE, steps=4000, seed=1, start=START)
    weighted = (run.rating / gamma).sum("team")
    assert abs(float(weighted[0, -1] - weighted[0, 0])) < 1e-9
    assert abs(float(run.rating[0, -1].sum() - START.sum())) > 0.1


def test_steps_that_differ_leave_the_stationary_map_as_it_is():
    """As γ → 0; 400 realisations, each mean within five standard errors (error probability below 1e-5)."""
    gamma = np.where(np.arange(TEAMS) % 2 == 0, 0.01, 0.03)
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=gamma)
    limit = kn.stationary(kn.RatingSystem(kn.Tanh(0.5), gamma=0.01), LEAGUE, noise="none").rating
    run = kn.simulate(system, LEAGUE, steps=600, realisations=400, seed=1, start=limit)
    end = run.rating.isel(time=-1)
    error = end.std("realisation") / math.sqrt(400)
    # The noise shifts the map at order γ: its size is that of the curvature, b''V/b' ~ γ.
    assert (abs(end.mean("realisation") - limit) < 5 * error + 0.03).all()


@pytest.mark.parametrize("strengths", [OwnNormal(LEAGUE.theta, 1.0), LEAGUE])
def test_marginal_and_literal_have_the_same_law(strengths):
    """Mean ratings of 150 short runs each way; |difference| below 5 standard errors (error probability 4e-6)."""
    system = kn.RatingSystem(OwnTanh(0.5), Bell(3.0), 0.1)
    ends = [
        kn.simulate(system, strengths, steps=20, realisations=150, seed=seed, start=START, sampling=sampling).rating[
            :, -1
        ]
        for seed, sampling in ((1, "marginal"), (2, "literal"))
    ]
    error = np.sqrt(sum(end.var("realisation") for end in ends) / 150)
    assert (abs(ends[0].mean("realisation") - ends[1].mean("realisation")) < 5 * error).all()


@pytest.mark.parametrize("schedule", [None, kn.model.Rounds(), kn.model.Period(2)])
def test_draws_of_a_users_law_do_not_depend_on_how_they_are_asked_for(schedule, monkeypatch):
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=0.1, schedule=schedule)
    league = kn.model.Scaled(student(3), LEAGUE.theta, 1.0)
    settings = {"seed": 2, "sampling": "literal", "matches_per_step": 7}
    [whole] = kn.micro.simulation_states(system, league, stops=[30], realisations=5, threads=1, **settings)
    monkeypatch.setattr(ways, "DRAWN_AT_ONCE", 11)
    *_, parts = kn.micro.simulation_states(system, league, stops=[3, 4, 30], realisations=5, threads=3, **settings)
    assert np.array_equal(whole.rating, parts.rating)
    asked = []
    monkeypatch.setattr(ways, "DRAWN_AT_ONCE", 1 << 14)
    monkeypatch.setattr(kn.model.Scaled, "performances", lambda self, team, u: asked.append(team) or self.theta[team])
    list(kn.micro.simulation_states(system, league, stops=[30], realisations=5, threads=1, **settings))
    assert len(asked) == 1


def test_a_law_that_cannot_be_compiled_gets_a_sentence():
    class Hopeless(kn.Tanh):
        def scalar_b(self):
            return lambda z: {"z": open(str(z))}["z"]

    with pytest.raises(kn.InputError, match=r"b of .*Hopeless.* cannot be compiled"):
        kn.simulate(kn.RatingSystem(Hopeless(0.5)), LEAGUE, steps=1, seed=1, sampling="literal")


def test_one_compiled_loop_serves_every_users_law():
    compiled = []
    for nu in (0.3, 0.4, 0.5):
        kn.simulate(kn.RatingSystem(OwnTanh(nu), Bell(nu)), LEAGUE, steps=1, seed=1)
        compiled.append(len(play_general.signatures))
        kn.simulate(kn.RatingSystem(OwnTanh(nu), gamma=[0.1] * TEAMS), LEAGUE, steps=1, seed=1, sampling="literal")
    assert {*compiled, len(play_general.signatures)} == {compiled[0]}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: kn.RatingSystem(kn.Tanh(0.5), gamma=kn.model.FideSteps()), "chess scale"),
        (lambda: kn.RatingSystem(kn.Tanh(0.5), gamma=[0.1, -0.1]), "greater than 0"),
        (lambda: kn.RatingSystem(kn.Tanh(0.5), gamma="fast"), "finite number"),
        (lambda: kn.RatingSystem(kn.Tanh(0.5), schedule="rounds"), "schedule must be None"),
        (lambda: kn.model.Period(0), "at least 1"),
        (lambda: kn.model.FallingSteps(0.1, -1.0, 3), "boost"),
        (
            lambda: kn.simulate(kn.RatingSystem(kn.Tanh(0.5), gamma=[0.1, 0.2]), LEAGUE, steps=1, seed=1),
            "2 for 7 teams",
        ),
        (lambda: kn.relaxation(kn.RatingSystem(kn.Tanh(0.5), gamma=[0.1] * TEAMS), LEAGUE), "not one number"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_cannot_be_is_refused_in_a_sentence(make, said):
    with pytest.raises(kn.InputError, match=said):
        make()
