"""Steps against cell-by-cell twins, and the laws that every step keeps."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from slow_kinetic import shift_to_mean, tvd_euler, upwind_step

import kinelo as kn
from kinelo.errors import InputError
from kinelo.macro.scheme import SCHEMES, Tvd, Upwind
from kinelo.macro.velocity import Velocity

SYSTEM = kn.RatingSystem(kn.Tanh(nu=0.5))
LOCAL = kn.RatingSystem(kn.Tanh(nu=0.5), kn.model.Local())


def uneven_teams(seed=5, cells=24, sigma=(0.0, 1.0, 3)):
    """A population without any symmetry, rough in r, and empty near the ends of r."""
    rng = np.random.default_rng(seed)
    density = rng.random((5, sigma[2], cells)) ** 3
    density[:, :, :2] = density[:, :, -2:] = 0
    return kn.macro.Population(density, theta=(5, 9, 5), r=(2, 11, cells), sigma=sigma)


def transport(scheme, system, teams, threads=1):
    return scheme(Velocity(system, teams.grid, "exact"), teams, teams.mean_rating, threads)


def all_speeds(run):
    speeds = run.speeds()
    return np.broadcast_to(speeds.label[:, None] - speeds.drag, (run.grid.labels, run.grid.r.count + 1))


@pytest.mark.parametrize("system", [SYSTEM, LOCAL], ids=["all play all", "local"])
def test_upwind_equals_its_twin(system):
    teams = uneven_teams()
    run, f = transport(Upwind, system, teams), teams.density.reshape(15, -1)
    for _ in range(5):
        a, speeds = all_speeds(run), run.speeds()
        dt = 0.9 * run.limit(speeds)
        f = shift_to_mean(upwind_step(f, a, dt / run.grid.r.width), run.grid, teams.mean_rating)
        run.step(speeds, dt)
        np.testing.assert_allclose(run.rating_mass, f.sum(axis=0) * run.grid.volume, atol=1e-14)
    np.testing.assert_allclose(run.density(), f, atol=1e-14)


@pytest.mark.parametrize("system", [SYSTEM, LOCAL], ids=["all play all", "local"])
def test_tvd_equals_its_twin(system):
    teams = uneven_teams()
    run, f = transport(Tvd, system, teams), teams.density.reshape(15, -1)
    for _ in range(5):
        a, speeds = all_speeds(run), run.speeds()
        dt = 0.9 * run.limit(speeds)
        ratio = dt / run.grid.r.width
        stage = tvd_euler(f, a, ratio)
        second = run.velocity.speeds(stage, stage.sum(axis=0) * run.grid.volume)
        again = tvd_euler(stage, np.broadcast_to(second.label[:, None] - second.drag, a.shape), ratio)
        f = shift_to_mean((f + again) / 2, run.grid, teams.mean_rating)
        run.step(speeds, dt)
    np.testing.assert_allclose(run.density(), f, atol=1e-14)


# Behind a window the weakest may drift to the end of r, where they are held back: that is warned of, and what is
# conserved is conserved there too.
@pytest.mark.filterwarnings("ignore:The range of r is too narrow")
@settings(max_examples=20, deadline=None)
@example(seed=137, scheme="upwind", closure="taylor", pairing=kn.model.Window(c=2.0), diffusion=0.0)
@example(seed=195, scheme="tvd", closure="taylor", pairing=kn.model.Window(c=2.0), diffusion=0.5)
@given(
    seed=st.integers(0, 10**6),
    scheme=st.sampled_from(["upwind", "tvd"]),
    closure=st.sampled_from(["taylor", "exact"]),
    pairing=st.sampled_from([kn.model.AllPlayAll(), kn.model.Local(), kn.model.Window(c=2.0)]),
    diffusion=st.sampled_from([0.0, 0.5]),
)
def test_what_every_run_conserves(seed, scheme, closure, pairing, diffusion):
    teams = uneven_teams(seed)
    system = kn.RatingSystem(kn.Tanh(nu=0.5), pairing)
    run = kn.solve(system, teams, until=3.0, scheme=scheme, closure=closure, diffusion=diffusion, samples=10)
    assert np.abs(run.mass - 1).max() < 1e-12
    assert np.abs(run.mean_rating - teams.mean_rating).max() < 1e-12
    assert run.density.min() >= 0
    assert np.abs(run.density[-1] - run.density[0]).max() > 0.01
    labels = run.density.sum("r") * teams.grid.r.width
    if diffusion == 0:
        assert np.abs(labels[-1] - labels[0]).max() < 1e-12
    else:
        np.testing.assert_allclose(labels[-1].sum("theta"), labels[0].sum("theta"), atol=1e-12)


@pytest.mark.parametrize("scheme", ["upwind", "tvd"])
def test_densities_stay_positive_at_the_very_limit(scheme):
    teams = kn.macro.Population.concentrated(6.0, theta=(5, 9, 5), r=(2, 11, 60), sigma=1.0)
    run = transport(SCHEMES[scheme], LOCAL, teams)
    for _ in range(200):
        speeds = run.speeds()
        wanted = run.limit(speeds)
        while (taken := run.step(speeds, wanted)) < wanted:
            wanted = taken
        assert run.density().min() >= 0


def test_without_the_shift_the_mean_would_drift():
    """The correction is needed, and as small as the scheme's order says: half the cells, half the drift."""
    drifts = []
    for cells in (40, 80, 160):
        teams = kn.macro.Population.from_function(
            lambda theta, sigma, r: np.exp(-((r - 6.5) ** 2)) * (1 + theta**3),
            theta=(5, 9, 5),
            r=(1, 12, cells),
            sigma=1.0,
        )
        run = transport(Upwind, SYSTEM, teams)
        total = 0.0
        while total < 1.0:
            f, a, speeds = run.density().copy(), all_speeds(run), run.speeds()
            dt = 0.5 * run.limit(speeds)
            moved = upwind_step(f, a, dt / run.grid.r.width).sum(axis=0) * run.grid.volume
            drifts.append((cells, (moved @ run.grid.r.centres - teams.mean_rating) / dt))
            run.step(speeds, dt)
            total += dt
    mean = {n: np.mean([abs(d) for c, d in drifts if c == n]) for n in (40, 80, 160)}
    assert mean[40] > 1e-5
    assert mean[80] < 0.7 * mean[40] and mean[160] < 0.7 * mean[80]


@pytest.mark.parametrize("scheme", ["upwind", "tvd"])
def test_same_bytes_for_any_number_of_threads(scheme):
    teams = kn.macro.Population.uniform(theta=(4, 10, 70), r=(4, 10, 40), sigma=(0.2, 1.0, 3))
    runs = [kn.solve(SYSTEM, teams, until=2.0, scheme=scheme, threads=threads) for threads in (1, 2, 5)]
    for other in runs[1:]:
        assert (other.density.values == runs[0].density.values).all()


@pytest.mark.parametrize("scheme", ["upwind", "tvd"])
@pytest.mark.parametrize("diffusion", [0.0, 0.3])
def test_a_run_can_be_continued_as_if_never_stopped(scheme, diffusion):
    settings_ = {"until": 4.0, "scheme": scheme, "diffusion": diffusion, "save_at": [1.0, 4.0], "samples": 7}
    whole = list(kn.macro.kinetic_states(SYSTEM, uneven_teams(), **settings_))
    for state in whole[1:-1]:
        rest = list(kn.macro.kinetic_states(SYSTEM, state, **settings_))
        assert [s.time for s in rest] == [s.time for s in whole if s.time > state.time]
        assert (rest[-1].population.density == whole[-1].population.density).all()


def test_a_fixed_step_is_taken_or_refused_with_its_limit():
    teams = uneven_teams()
    run = kn.solve(SYSTEM, teams, until=0.5, dt=0.01)
    assert run.attrs["steps"] == 50
    limit = Upwind(Velocity(SYSTEM, teams.grid, "exact"), teams, teams.mean_rating, 1)
    number = f"{limit.limit(limit.speeds()):.4g}"
    with pytest.raises(InputError, match=f"dt = 5 is above the stability limit of this scheme on this grid, {number};"):
        kn.solve(SYSTEM, teams, until=20.0, dt=5.0)


def test_fixed_and_longest_steps_lead_to_the_same_solution():
    teams = kn.macro.Population.gaussian(theta=(4, 8, 6), r=(1, 11, 200), sigma=1.0, r_sd=0.8)
    free = kn.solve(SYSTEM, teams, until=2.0, scheme="tvd")
    fixed = kn.solve(SYSTEM, teams, until=2.0, scheme="tvd", dt=0.002)
    assert fixed.attrs["steps"] == 1000 > 5 * free.attrs["steps"]
    moved = np.abs(np.cumsum((free.density_r[-1] - fixed.density_r[-1]).values)).sum() * teams.grid.r.width**2
    assert moved < 2e-4  # rating points


def test_teams_that_drift_to_the_end_of_r_are_warned_of():
    system = kn.RatingSystem(kn.Tanh(nu=0.5), kn.model.Window(c=2.0))
    with pytest.warns(kn.KineloWarning, match="presses against its lower end, 2; give r a wider range"):
        kn.solve(system, uneven_teams(137), until=3.0, closure="taylor", samples=10)
    kn.solve(system, uneven_teams(5), until=3.0, closure="taylor", samples=10)
