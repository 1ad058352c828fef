"""What the simulator promises: conservation, the same bytes however it is run, and clear refusals."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn
from kinelo.micro import simulate as module

SYSTEM = kn.RatingSystem(kn.Tanh(0.5), gamma=0.05)
LEAGUE = kn.homogeneous(sigma=1.0, teams=20)


def final(**changes):
    arguments = {"steps": 300, "realisations": 5, "seed": 3, **changes}
    return kn.simulate(SYSTEM, LEAGUE, **arguments).rating.isel(time=-1).values


def test_the_dataset_says_what_it_holds():
    run = kn.simulate(SYSTEM, LEAGUE, steps=100, realisations=4, seed=1, record_every=30)
    assert run.rating.dims == ("realisation", "time", "team")
    assert run.step.values.tolist() == [0, 30, 60, 90, 100]
    np.testing.assert_allclose(run.time, 2 * 25 * run.step / 20)
    assert (run.matches_played == 25 * run.step).all()
    np.testing.assert_array_equal(run.theta, LEAGUE.theta)
    assert run.attrs["gamma"] == 0.05 and run.attrs["seed"] == 1 and run.attrs["sampling"] == "marginal"
    assert (run.rating.isel(time=0) == 7.0).all()


@pytest.mark.parametrize("sampling", ["marginal", "literal"])
def test_same_seed_same_bytes_for_any_number_of_threads_and_realisations(sampling):
    base = final(sampling=sampling, threads=1)
    assert (final(sampling=sampling, threads=2) == base).all()
    assert (final(sampling=sampling, threads=7, realisations=40)[:5] == base).all()
    assert (final(sampling=sampling, seed=4) != base).any()


@pytest.mark.parametrize("sampling", ["marginal", "literal"])
def test_any_chunking_gives_the_same_bytes(monkeypatch, sampling):
    base = final(sampling=sampling)
    monkeypatch.setattr(module, "CALL", 17)
    assert (final(sampling=sampling, record_every=7, progress=False) == base).all()


@given(st.lists(st.integers(0, 60), min_size=1, max_size=4))
@settings(max_examples=10, deadline=None)
def test_a_run_stopped_and_continued_is_the_same_run(stops):
    arguments = {"realisations": 3, "seed": 8}
    [whole] = kn.micro.simulation_states(SYSTEM, LEAGUE, stops=[60], **arguments)
    state = None
    for stop in [*sorted(stops), 60]:
        [state] = kn.micro.simulation_states(SYSTEM, LEAGUE, stops=[stop], start=state, **arguments)
    assert (state.rating == whole.rating).all() and (state.played == whole.played).all()


def test_states_are_snapshots():
    first, second = kn.micro.simulation_states(SYSTEM, LEAGUE, stops=[5, 50], seed=1)
    assert (first.rating != second.rating).any()


@given(
    st.sampled_from([kn.Tanh(0.5), kn.model.Probit(0.5), kn.model.Davidson(0.5, 1.0)]),
    st.sampled_from([kn.model.AllPlayAll(), kn.model.Local(), kn.model.Window(3.0)]),
    st.sampled_from(["marginal", "literal"]),
    st.floats(0.001, 1.0),
)
@settings(max_examples=25, deadline=None)
def test_the_sum_of_ratings_is_conserved(outcome, pairing, sampling, gamma):
    run = kn.simulate(
        kn.RatingSystem(outcome, pairing, gamma), LEAGUE, steps=50, realisations=2, seed=2, sampling=sampling
    )
    np.testing.assert_allclose(run.rating.sum("team"), 140.0, atol=1e-10)


def test_the_sum_of_ratings_is_conserved_over_twenty_million_matches():
    league = kn.homogeneous(sigma=1.0, teams=200)
    run = kn.simulate(SYSTEM, league, steps=1, matches_per_step=20_000_000, seed=1)
    assert int(run.matches_played[0, -1]) == 20_000_000
    # Two roundings of at most one unit in the last place (1.8e-15) per match, adding up like a random walk.
    assert abs(float(run.rating.isel(time=-1).sum()) - 1400) < 5 * 1.8e-15 * np.sqrt(4e7)


@given(st.floats(-1000, 1000))
@settings(max_examples=10, deadline=None)
def test_ratings_are_translation_invariant(shift):
    moved = kn.simulate(SYSTEM, kn.Normal(LEAGUE.theta + shift, 1.0), steps=20, seed=5).rating.isel(time=-1)
    base = kn.simulate(SYSTEM, LEAGUE, steps=20, seed=5).rating.isel(time=-1)
    np.testing.assert_allclose(moved - shift, base, atol=1e-9)


def test_ratings_of_fixed_strengths_find_the_strengths():
    league = kn.Fixed(np.linspace(4, 10, 30))
    run = kn.simulate(kn.RatingSystem(kn.Tanh(0.5), gamma=0.01), league, steps=40_000, realisations=16, seed=1)
    gap = run.rating.isel(time=-1).mean("realisation") - league.theta
    # Rating noise is γ/(2ν) = .01 per run, .025 in the mean of 16, which also stretches the map by under .03.
    assert float(np.abs(gap).max()) < 0.16


def test_a_million_teams_need_memory_for_a_million_teams():
    import tracemalloc

    league = kn.homogeneous(sigma=1.0, teams=1_000_000)
    kn.simulate(SYSTEM, LEAGUE, steps=1, seed=1, sampling="literal")
    tracemalloc.start()
    run = kn.simulate(SYSTEM, league, steps=4000, seed=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * league.teams
    assert run.attrs["sampling"] == "literal"
    assert int((run.rating.isel(time=-1) != 7.0).sum() > 150_000)


def test_a_window_keeps_distant_teams_apart():
    league = kn.Fixed([0.0, 0.0, 50.0, 50.0])
    system = kn.RatingSystem(kn.Tanh(0.5), kn.model.Window(5.0), gamma=0.1)
    run = kn.simulate(system, league, steps=400, seed=1, start=league.theta, record_every=100)
    np.testing.assert_allclose(run.rating.isel(team=[0, 1]).sum("team"), 0.0, atol=1e-10)
    # Only 2 of 6 pairs may meet: 10,000 candidates, 4 standard deviations of the binomial.
    assert abs(int(run.matches_played[0, -1]) - 10_000 / 3) < 4 * np.sqrt(10_000 * 2 / 9)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"steps": -1}, "steps must be a whole number of at least 0"),
        ({"steps": 1.5}, "steps must be a whole number"),
        ({"realisations": 0}, "realisations must be"),
        ({"matches_per_step": 0}, "matches_per_step must be"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"record_every": 0}, "record_every must be"),
        ({"threads": 0}, "threads must be"),
        ({"sampling": "guess"}, 'sampling must be "marginal" or "literal"'),
        ({"start": [1.0, 2.0]}, r"start must hold one rating per team \(20\)"),
        ({"start": np.full(20, np.nan)}, "start must be finite"),
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(changes, words):
    with pytest.raises(kn.InputError, match=words):
        final(**changes)


def test_stops_do_not_run_backwards():
    with pytest.raises(kn.InputError, match="stops must not lie in the past"):
        list(kn.micro.simulation_states(SYSTEM, LEAGUE, stops=[5, 3], seed=1))


def test_a_first_simulation_loads_no_more_than_it_needs():
    kn.simulate(kn.RatingSystem(kn.Tanh(0.5)), kn.Normal([0.0, 1.0], 1.0), steps=1, seed=1)
    code = (
        "import sys, kinelo as kn;"
        "kn.simulate(kn.RatingSystem(kn.Tanh(.5)), kn.Normal([0., 1.], 1.), steps=1, seed=1);"
        "print([name for name in ('dask', 'scipy.fft', 'scipy.stats', 'zarr') if name in sys.modules]);"
        "import kinelo.studies.simulation, kinelo.sweeps.study; print('kinelo.macro.run' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["[]", "False"]
