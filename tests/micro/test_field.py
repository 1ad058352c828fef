"""Contests of many sides: the loop against a slow twin, the paper's model as a field of two, and what is refused."""

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import t as student

import kinelo as kn
from kinelo.micro import field as ways
from kinelo.play.stream import realisation_keys
from kinelo.studies.study import parse_study

MASK, GOLDEN = (1 << 64) - 1, 0x9E3779B97F4A7C15
TEAMS = 7
LEAGUE = kn.Normal(np.linspace(4, 10, TEAMS), 1.0)
START = np.linspace(5, 9, TEAMS)
CHESS = kn.Normal([1500.0, 1800.0, 2250.0, 2330.0, 2390.0, 2500.0, 2200.0], 90.0)
LOTTERY = kn.model.LineupLottery([[0.3 * team + k**1.5 for k in range(4)] for team in range(TEAMS)], m=2)
SCALED = kn.model.Scaled(student(5), np.linspace(4, 10, TEAMS), 1.0)


def mixed(z, key=0):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27) ^ key) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Chance:
    """The numbers that belong to some bits, by their number."""

    def __init__(self, bits):
        self.bits = bits

    def __getitem__(self, k):
        return mixed((self.bits + (k + 1) * GOLDEN) & MASK)

    def uniform(self, k):
        return (self[k] >> 11) / 2**53

    def middle(self, k):
        return ((self[k] >> 12) + 0.5) / 2**52

    def normal(self, k):
        return NormalDist().inv_cdf(self.middle(k))


def performance(strengths, team, own):
    if isinstance(strengths, kn.Normal):
        return strengths.theta[team] + strengths.sigma[team] * own.normal(3)
    uniforms = np.array([[own.uniform(3 + k) for k in range(strengths.uniforms)]])
    return float(strengths.performances(np.array([team]), uniforms)[0])


def twin(system, strengths, contests, start, dynamics=None, seed=5):
    """Realisation 0, one sentence after the other: ratings, strengths as of each team's last contest."""
    k, n, gamma, nu = system.sides, strengths.teams, system.gamma, system.outcome.nu
    key_1, key_2 = (int(one) for one in realisation_keys(seed, 1)[0])
    rating, played, top = [float(one) for one in start], [0] * n, [one >= 2400 for one in start]
    rho, level, clock = list(strengths.theta), list(strengths.theta), [0] * n
    parts = () if dynamics is None else dynamics if isinstance(dynamics, tuple) else (dynamics,)
    [form, walk, learning, turnover] = [
        next((one for one in parts if isinstance(one, kind)), None)
        for kind in (kn.model.Form, kn.model.Walk, kn.model.Learning, kn.model.Turnover)
    ]

    def b(z):
        return math.erf(nu * z) if isinstance(system.outcome, kn.model.Probit) else math.tanh(nu * z)

    def step(i):
        if isinstance(gamma, kn.model.FideSteps):
            return 20.0 if played[i] < 30 else 5.0 if top[i] else 10.0
        if isinstance(gamma, kn.model.FallingSteps):
            return gamma.gamma * (1 + gamma.boost * gamma.matches / (gamma.matches + played[i]))
        return gamma[i] if isinstance(gamma, tuple) else gamma

    for contest in range(contests):
        chance = Chance(mixed((key_1 + contest * GOLDEN) & MASK, key_2))
        waiting, here = list(range(n)), []
        for place in range(k):
            lot = place + (chance[place] * (n - place) >> 64)
            waiting[place], waiting[lot] = waiting[lot], waiting[place]
            here.append(waiting[place])
        own = {i: Chance(chance[k + place]) for place, i in enumerate(here)}
        for i in here:
            elapsed = (contest - clock[i]) * k / n
            if form:
                kept = math.exp(-form.rate * elapsed)
                spread = form.spread * math.sqrt(1 - kept * kept)
                rho[i] = level[i] + (rho[i] - level[i]) * kept + spread * own[i].normal(0)
            if walk:
                rho[i] += walk.spread * math.sqrt(elapsed) * own[i].normal(0)
            if form or walk:
                clock[i] = contest
        x = {}
        for i in here:
            x[i] = performance(strengths, i, own[i])
            if dynamics is not None:
                x[i] += rho[i] - strengths.theta[i]
            kick = (
                own[i].normal(1)
                if isinstance(system.outcome, kn.model.Probit)
                else -math.log(-math.log(own[i].middle(1)))
            )
            x[i] += kick / (2 * nu)
        gains = {i: sum(np.sign(x[i] - x[j]) - b(rating[i] - rating[j]) for j in here if j != i) for i in here}
        lessons = dict.fromkeys(here, 0.0)
        if learning:
            for i in here:
                for j in here:
                    if j != i:
                        gap = b(rho[i] - rho[j])
                        seen = np.sign(x[i] - x[j]) if learning.on == "result" else gap
                        lessons[i] += learning.alpha * (1 - gap) + learning.beta * seen
        for i in here:
            size = step(i)
            rating[i] += size * gains[i] / (k - 1)
            if learning:
                rho[i] += size * lessons[i] / (k - 1) + math.sqrt(size) * learning.diffusion * own[i].normal(2)
            played[i] += 1
            top[i] = top[i] or rating[i] >= 2400
        if turnover and chance.uniform(2 * k) < k * turnover.rate:
            gone = chance[2 * k + 1] * n >> 64
            pool = turnover.pool
            rating[gone], played[gone], clock[gone], top[gone] = turnover.start, 0, contest + 1, False
            level[gone] = rho[gone] = pool[chance[2 * k + 2] * len(pool) >> 64]
            if form:
                rho[gone] += form.spread * chance.normal(2 * k + 3)
    return np.array(rating), np.array(rho)


T, P = kn.Tanh(0.5), kn.model.Probit(0.4)
OPEN = kn.model.Turnover(0.05, [4.0, 6.0, 9.0], start=6.5)
GAMES = [
    (kn.RatingSystem(T, gamma=0.1, schedule=kn.model.Field(3)), LEAGUE, None),
    (kn.RatingSystem(T, gamma=0.3, schedule=kn.model.Field(7)), LEAGUE, None),
    (kn.RatingSystem(P, gamma=0.1, schedule=kn.model.Field(5)), LEAGUE, None),
    (kn.RatingSystem(T, gamma=np.linspace(0.05, 0.2, TEAMS), schedule=kn.model.Field(4)), LOTTERY, None),
    (kn.RatingSystem(T, gamma=kn.model.FallingSteps(0.1, 2.0, 5.0), schedule=kn.model.Field(4)), SCALED, None),
    (kn.RatingSystem(kn.Tanh.elo(), gamma=kn.model.FideSteps(), schedule=kn.model.Field(3)), CHESS, None),
    (kn.RatingSystem(T, gamma=0.1, schedule=kn.model.Field(3)), LEAGUE, kn.model.Form(0.05, 1.0)),
    (kn.RatingSystem(T, gamma=0.1, schedule=kn.model.Field(4)), LEAGUE, kn.model.Walk(0.1)),
    (kn.RatingSystem(T, gamma=0.1, schedule=kn.model.Field(3)), LEAGUE, kn.model.Learning(0.5, 0.2, 0.3)),
    (kn.RatingSystem(P, gamma=0.1, schedule=kn.model.Field(3)), LEAGUE, kn.model.Learning(0.5, 0.2, 0.0, on="result")),
    (kn.RatingSystem(T, gamma=0.1, schedule=kn.model.Field(3)), LEAGUE, OPEN),
    (kn.RatingSystem(T, gamma=0.1, schedule=kn.model.Field(5)), LEAGUE, (kn.model.Form(0.05, 1.0), OPEN)),
]


@pytest.mark.parametrize("game", range(len(GAMES)))
def test_the_loop_is_its_slow_twin(game):
    system, league, dynamics = GAMES[game]
    start = league.theta if league is CHESS else START
    [state] = kn.micro.simulation_states(
        system, league, stops=[60], matches_per_step=5, seed=5, start=start, dynamics=dynamics
    )
    rating, strength = twin(system, league, 300, start, dynamics)
    assert np.abs(state.rating[0] - rating).max() < 1e-9 * np.abs(rating).max()
    assert state.played[0] == 300 and np.ptp(state.rating[0] - start) > 0.1
    if dynamics is not None:
        assert np.abs(state.memory["strength"][0] - strength).max() < 1e-9


@pytest.mark.parametrize("game", [0, 4, 7, 11])
def test_threads_chunks_and_stops_change_no_byte(game, monkeypatch):
    system, league, dynamics = GAMES[game]
    plan = {"matches_per_step": 4, "realisations": 5, "seed": 2, "dynamics": dynamics}
    [whole] = kn.micro.simulation_states(system, league, stops=[60], threads=1, **plan)
    monkeypatch.setattr(ways, "DRAWN_AT_ONCE", 16)
    first, last = kn.micro.simulation_states(system, league, stops=[7, 60], threads=3, **plan)
    [again] = kn.micro.simulation_states(system, league, stops=[60], start=first, **plan)
    [some] = kn.micro.simulation_states(system, league, stops=[60], **{**plan, "realisations": range(3, 5)})
    for other in (last, again):
        assert other.rating.tobytes() == whole.rating.tobytes()
        assert {n: v.tobytes() for n, v in other.memory.items()} == {n: v.tobytes() for n, v in whole.memory.items()}
    assert some.rating.tobytes() == whole.rating[3:].tobytes()


@pytest.mark.parametrize("dynamics", [None, kn.model.Form(0.05, 1.0), OPEN], ids=["still", "form", "open"])
def test_a_field_of_two_is_the_papers_model_to_the_last_byte(dynamics):
    plan = {"steps": 30, "matches_per_step": 9, "seed": 3, "realisations": 4, "record_every": 10, "dynamics": dynamics}
    duels = kn.RatingSystem(T, gamma=0.1)
    two = replace(duels, schedule=kn.model.Field(2))
    one, other = kn.simulate(duels, LEAGUE, **plan), kn.simulate(two, LEAGUE, **plan)
    assert one.rating.values.tobytes() == other.rating.values.tobytes() and (one.time == other.time).all()
    assert two.plain and kn.stationary(two, LEAGUE).system == duels
    assert kn.unbiased_gamma(two, LEAGUE) == kn.unbiased_gamma(duels, LEAGUE)


def test_time_counts_contests_of_a_team():
    run = kn.simulate(GAMES[1][0], LEAGUE, steps=6, matches_per_step=5, seed=1, record_every=3)
    assert run.time.values.tolist() == [0.0, 15.0, 30.0] and run.matches_played.values[0].tolist() == [0, 15, 30]
    assert run.sampling == "literal" and run.schedule == "Field(size=7)"


@pytest.mark.parametrize("outcome", [T, P], ids=["tanh", "probit"])
@pytest.mark.parametrize("size", [3, 6])
def test_the_drift_is_that_of_duels(outcome, size):
    """Steps so small that ratings stay: their changes add up to the drift. Two-sided; all 6 z-scores within 4.5."""
    league, start = kn.Normal(np.linspace(4, 9, 6), 0.8), np.linspace(5.0, 8.0, 6)
    system, tiny = kn.RatingSystem(outcome, schedule=kn.model.Field(size)), 1e-9
    [end] = kn.micro.simulation_states(
        replace(system, gamma=tiny), league, stops=[3000], matches_per_step=1, realisations=40, seed=8, start=start
    )
    expected = kn.expected_result(outcome, league) - outcome.b(start[:, None] - start[None, :])
    wanted = expected.sum(axis=1) / 5 * 3000 * size / 6
    moved = (end.rating - start) / tiny
    error = moved.std(axis=0, ddof=1) / math.sqrt(40)
    z = (moved.mean(axis=0) - wanted) / error
    assert np.abs(z).max() < 4.5 and (error > 0.3).all() and (error < 20).all()
    assert np.abs(moved.sum(axis=1)).max() < 1e-3  # zero-sum


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: kn.model.Field(1), "size must be a whole number of at least 2, not 1"),
        (
            lambda: kn.RatingSystem(kn.model.Davidson(0.5, 1.0), schedule=kn.model.Field(3)),
            "the outcomes Tanh and Probit",
        ),
        (lambda: kn.RatingSystem(T, kn.model.Window(2.0), schedule=kn.model.Field(3)), "pairing must be AllPlayAll"),
        (lambda: kn.RatingSystem(T, gamma=kn.model.DeviationSteps(0.1, 1.0), schedule=kn.model.Field(3)), "Glicko's"),
        (lambda: kn.simulate(GAMES[0][0], kn.Fixed([1.0, 2.0]), steps=1), "needs at least 3 teams, not 2"),
        (
            lambda: kn.simulate(GAMES[0][0], LEAGUE, steps=1, dynamics=kn.model.Turnover(0.4, 5.0, 5.0)),
            "at most 0.3333",
        ),
        (lambda: kn.micro.simulate_matches(GAMES[0][0], LEAGUE, matches=5), "plays matches of two sides"),
        (lambda: kn.RatingSystem(T, schedule="field"), "Rounds.., Period.matches. or Field.size."),
    ],
)
def test_what_has_no_meaning_is_refused_in_a_sentence(make, said):
    with pytest.raises(kn.InputError, match=said):
        make()


def test_a_study_file_says_a_field():
    study = parse_study({
        "gamma": 0.1, "outcome": {"kind": "tanh", "nu": 0.5}, "schedule": {"kind": "field", "size": 3},
        "league": {"kind": "normal", "theta": [1.0, 2.0, 4.0], "sigma": 1.0}, "simulate": {"steps": 3, "seed": 1},
    })  # fmt: skip
    assert study.system.schedule == kn.model.Field(3) and study.system.sides == 3
