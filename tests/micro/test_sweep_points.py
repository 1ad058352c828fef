"""Leagues played together end at the bytes they end at alone."""

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import kinelo as kn
from kinelo.errors import InputError
from kinelo.micro.simulate import Records
from kinelo.micro.sweep_points import Setting, common_kind, most_points, simulate_points
from kinelo.play import encoding

PAIRINGS = {
    "everyone": lambda width: kn.model.AllPlayAll(),
    "local": lambda width: kn.model.Local(),
    "window": kn.model.Window,
    "soft": lambda width: kn.model.Window(width, smoothing=0.3 * width),
}
OUTCOMES = {
    "tanh": lambda nu: kn.Tanh(nu),
    "ties": lambda nu: kn.model.Davidson(nu, 2.0 * nu),
    "either": lambda nu: kn.Tanh(nu) if nu > 0.5 else kn.model.Davidson(nu, 1.0),
    "probit": lambda nu: kn.model.Probit(nu),
}
numbers = st.floats(0.05, 1.0)


@given(
    points=st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=9),
    alike=st.booleans(),
    outcome=st.sampled_from(list(OUTCOMES)),
    pairing=st.sampled_from(list(PAIRINGS)),
    teams=st.integers(2, 6),
    realisations=st.integers(1, 4),
    threads=st.integers(1, 5),
    seed=st.integers(0, 2**60),
)
@example(points=[(0.1, 0.3, 0.9)] * 5, alike=False, outcome="either", pairing="everyone", teams=5, realisations=1,
         threads=2, seed=0)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_each_ends_at_the_bytes_it_ends_at_alone(points, alike, outcome, pairing, teams, realisations, threads, seed):
    first = points[0][1:]
    leagues = []
    for gamma, nu, sigma in points:
        nu, sigma = first if alike else (nu, sigma)
        system = kn.RatingSystem(OUTCOMES[outcome](nu), PAIRINGS[pairing](nu + sigma), gamma)
        leagues.append(
            Setting(system, kn.Normal(np.linspace(4.0, 6.0 + sigma, teams), sigma), np.linspace(7, 5, teams))
        )
    assert len({common_kind(system, strengths) for system, strengths, _ in leagues}) == 1
    plan = {"steps": 5, "matches_per_step": 30, "realisations": realisations, "record_every": 2, "seed": seed}
    for league, run in zip(leagues, simulate_points(leagues, **plan, threads=threads), strict=True):
        alone = kn.simulate(league.system, league.strengths, start=league.start, **plan, threads=1)
        assert run.identical(alone) and run.rating.values.tobytes() == alone.rating.values.tobytes()
        assert run.attrs == alone.attrs


def test_points_of_one_table_make_one(monkeypatch):
    made = []
    original = encoding._make_table
    monkeypatch.setattr(encoding, "_make_table", lambda *laws: made.append(laws) or original(*laws))
    monkeypatch.setattr(encoding, "_kept", OrderedDict())
    league = kn.homogeneous(sigma=1.0, teams=7)
    plan = {"steps": 2, "matches_per_step": 5, "realisations": 1, "record_every": None, "seed": 1}
    simulate_points([Setting(kn.RatingSystem(kn.Tanh(0.5), gamma=g), league) for g in (0.1, 0.2, 0.3)], **plan)
    assert len(made) == 1
    simulate_points([Setting(kn.RatingSystem(kn.Tanh(nu), gamma=0.1), league) for nu in (0.1, 0.2)], **plan)
    assert len(made) == 3


def test_what_a_kernel_for_all_does_not_know_is_played_alone():
    tanh, league = kn.Tanh(0.5), kn.Fixed([1.0, 2.0])
    own = kn.model.Outcome.from_function(lambda z: z / (1 + abs(z)))
    near = kn.model.Pairing.from_function(lambda z: 1 / (1 + z * z))
    for system in (
        kn.RatingSystem(tanh, gamma=(0.1, 0.2)),
        kn.RatingSystem(tanh, gamma=kn.model.FallingSteps(0.1, boost=2.0, matches=5)),
        kn.RatingSystem(tanh, schedule=kn.model.Rounds()),
        kn.RatingSystem(own),
        kn.RatingSystem(tanh, near),
    ):
        assert common_kind(system, league) is None
    assert common_kind(kn.RatingSystem(tanh), kn.Fixed(np.zeros(4097))) is None
    kinds = {
        common_kind(kn.RatingSystem(law), league) for law in (tanh, kn.model.Davidson(0.5, 1.0), kn.model.Probit(0.5))
    }
    assert len(kinds) == 2
    assert common_kind(kn.RatingSystem(tanh), kn.Fixed([1.0, 2.0, 3.0])) not in kinds
    assert common_kind(kn.RatingSystem(tanh, kn.model.Local()), league) not in kinds


def test_batches_are_bounded_by_memory_time_and_number():
    short = Records(10, None)
    assert most_points(20, short, 250, 1, 1, "cpu", False) == 32
    assert most_points(20, short, 250, 2, 3, "cpu", False) == 64
    assert most_points(20, short, 250, 100, 1, "gpu", False) == 40
    assert most_points(4000, short, 250, 1, 1, "cpu", False) == 2**28 // (8 * 4000 * 3999) == 2
    assert most_points(4000, short, 250, 1, 1, "cpu", True) == 32
    assert most_points(100, Records(1000, 1), 10, 1000, 1, "cpu", True) == 2**28 // (16 * 1000 * 101 * 1001) == 0
    assert most_points(20, short, 2**31, 1, 1, "cpu", True) == 8


def test_what_is_refused_alone_is_refused_together(monkeypatch):
    league = Setting(kn.RatingSystem(kn.Tanh(0.5)), kn.Fixed(np.arange(40.0)))
    with pytest.raises(InputError, match="seed must be at most"):
        simulate_points([league] * 8, steps=1, matches_per_step=1, realisations=1, seed=2**70, record_every=None)
    monkeypatch.setattr("kinelo.runtime.limits.available_memory", lambda: 1000)
    with pytest.raises(InputError, match="of memory are free"):
        simulate_points([league] * 8, steps=1, matches_per_step=1, realisations=1, seed=1, record_every=None)
