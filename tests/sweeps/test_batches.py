"""Points of a study that are simulated together: the same stored bytes as one by one, whatever the batches are."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

import kinelo as kn
from kinelo.errors import InputError, KineloWarning
from kinelo.micro import sweep_points
from kinelo.sweeps.study import StudyPoints, read_sweep, run_study_sweep
from kinelo.sweeps.sweep import results_of

STUDY = """
gamma = 0.05
outcome = { kind = "tanh", nu = 0.5 }
league = { kind = "homogeneous", sigma = 1.0, teams = 5 }
simulate = { steps = 20, seed = 1, realisations = 2, record_every = 7 }
[sweep]
"""
GRID = "gamma = [0.01, 0.04]\noutcome.nu = [0.2, 0.5]\nleague.sigma = [0.5, -1.0, 1.5]\n"


@pytest.fixture
def study(tmp_path):
    def written(sweep, changes=()):
        text = STUDY
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "study.toml").write_text(text + sweep, encoding="utf-8")
        return tmp_path / "study.toml"

    return written


@pytest.fixture
def one_by_one(monkeypatch):
    """Carry a sweep out without batches."""

    def run(path, out):
        with monkeypatch.context() as patched:
            patched.setattr(StudyPoints, "batches", lambda self, points, workers: [[point] for point in points])
            return run_study_sweep(path, out)

    return run


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def sizes(path, workers=1, **how):
    content, axes, compute = read_sweep(path)
    points = [(k, axes.point(k)) for k in range(len(axes))]
    lines = StudyPoints(content, compute, 1, **how).batches(points, workers)
    assert sorted(k for line in lines for k, _ in line) == list(range(len(axes)))
    return sorted(map(len, lines))


@pytest.mark.filterwarnings("ignore:4 of 12 points")
def test_stored_bytes_do_not_depend_on_batches_or_on_where_a_sweep_was_stopped(study, one_by_one, tmp_path):
    path = study(GRID)
    alone = one_by_one(path, tmp_path / "alone")
    assert sizes(path) == [1] * 4 + [8]
    assert run_study_sweep(path, tmp_path / "together").identical(alone)
    expected = tree(tmp_path / "alone")
    assert tree(tmp_path / "together") == expected and len(expected) > 12
    assert "sigma" in str(alone.failure.values[0, 0, 1])
    for k in (0, 1, 3, 8, 11):
        (tmp_path / "together" / "points" / f"{k}.zip").unlink(missing_ok=True)
        (tmp_path / "together" / "failed" / f"{k}.json").unlink(missing_ok=True)
    run_study_sweep(path, tmp_path / "together")
    assert tree(tmp_path / "together") == expected


def test_a_batch_is_played_by_one_call_and_stored_point_by_point(study, monkeypatch):
    calls, original = [], sweep_points.simulate_points
    monkeypatch.setattr(
        sweep_points, "simulate_points", lambda leagues, **plan: calls.append(len(leagues)) or original(leagues, **plan)
    )
    done = []
    path = study("gamma = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09]\n")
    table = run_study_sweep(path, advance=done.append)
    assert calls == [9] and done == [0, 9]
    league = kn.homogeneous(sigma=1.0, teams=5)
    run = kn.simulate(
        kn.RatingSystem(kn.Tanh(0.5), gamma=0.04), league, steps=20, seed=1, realisations=2, record_every=7
    )
    assert np.array_equal(table.rating.sel(gamma=0.04).values, run.rating.values)


def test_a_batch_that_fails_is_computed_point_by_point(study, monkeypatch):
    def out_of_memory(leagues, **plan):
        raise MemoryError

    def broken(simulate, system, strengths, **plan):
        if system.gamma == 0.03:
            raise InputError("this point has no result.")
        return simulate(system, strengths, **plan)

    path = study("gamma = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08]\n")
    whole = run_study_sweep(path)
    monkeypatch.setattr(sweep_points, "simulate_points", out_of_memory)
    original = kn.simulate
    monkeypatch.setattr("kinelo.micro.simulate.simulate", lambda *a, **k: broken(original, *a, **k))
    with pytest.warns(KineloWarning, match="1 of 8 points could not be computed; the first says: this point has no"):
        table = run_study_sweep(path)
    failed = table.failure.values != ""
    assert failed.tolist() == [False, False, True] + [False] * 5
    assert np.array_equal(table.rating.values[~failed], whole.rating.values[~failed])


def test_points_of_a_table_stay_together_and_all_workers_get_some(study):
    many = ", ".join(str(k / 1000) for k in range(1, 41))
    path = study(f"outcome.nu = [0.1, 0.2]\ngamma = [{many}]\n")
    assert sizes(path) == [16, 32, 32]
    assert sizes(path, 10) == [8] * 10
    assert sizes(path, 20) == [1] * 80
    across = study(f"gamma = [{many}]\noutcome.nu = [0.1, 0.2]\n")
    content, axes, compute = read_sweep(across)
    lines = StudyPoints(content, compute, 1).batches([(k, axes.point(k)) for k in range(80)], 1)
    assert sorted(len({at["outcome.nu"] for _, at in line}) for line in lines) == [1, 1, 2]
    assert sizes(path, device="gpu") == [80]
    assert sizes(study(f"outcome.nu = [{many}]\n")) == [16, 24]
    assert sizes(study("gamma = [0.1, 0.2, 0.3]\n")) == [1] * 3
    assert sizes(study(f"simulate.seed = [1, 2]\nleague.teams = [4, 5]\ngamma = [{many}]\n")) == [16] * 4 + [24] * 4
    for unlike in (
        ("seed = 1", 'seed = 1, sampling = "literal"'),
        ("seed = 1", "seed = 1, matches_per_step = 1_000_000_000"),
        ("steps = 20", f"steps = {10**30}"),
        ("gamma = 0.05", 'gamma = 0.05\ndynamics = { kind = "walk", spread = 0.1 }'),
        ("gamma = 0.05", 'gamma = 0.05\nschedule = { kind = "rounds" }'),
    ):
        assert sizes(study(f"gamma = [{many}]\n", [unlike])) == [1] * 40
    assert sizes(study(f'compute = "stationary"\ngamma = [{many}]\n')) == [1] * 40


def test_strengths_that_move_move_in_a_sweep(study):
    path = study("gamma = [0.1, 0.2]\n", [("gamma = 0.05", 'gamma = 0.05\ndynamics = { kind = "walk", spread = 0.1 }')])
    league = kn.homogeneous(sigma=1.0, teams=5)
    run = kn.simulate(
        kn.RatingSystem(kn.Tanh(0.5), gamma=0.2), league, steps=20, seed=1, realisations=2, record_every=7,
        dynamics=kn.model.Walk(0.1),
    )  # fmt: skip
    point = run_study_sweep(path).sel(gamma=0.2)
    assert np.array_equal(point.rating.values, run.rating.values)
    assert np.array_equal(point.strength.values, run.strength.values)


def test_batches_and_single_points_are_played_on_the_device_asked_for(study, monkeypatch):
    asked = []
    runs = [kn.simulate(kn.RatingSystem(kn.Tanh(0.5)), kn.Fixed([1.0, 2.0]), steps=1, seed=1)]
    monkeypatch.setattr(sweep_points, "simulate_points", lambda leagues, **plan: asked.append(plan["device"]) or runs)
    monkeypatch.setattr("kinelo.micro.simulate.simulate", lambda *laws, **plan: asked.append(plan["device"]) or runs[0])
    content, _, compute = read_sweep(study("gamma = [0.1]\nleague.teams = [2]\n"))
    points = StudyPoints(content, compute, 1, "gpu")
    points.compute_batch([{"gamma": 0.1, "league.teams": 2}])
    points(gamma=0.1, **{"league.teams": 2})
    assert asked == ["gpu", "gpu"]


def test_only_simulations_have_a_device(study):
    with pytest.raises(InputError, match='compute "stationary" run on the processor'):
        run_study_sweep(study('compute = "stationary"\ngamma = [0.1]\n'), device="gpu")


def test_a_batch_that_loses_its_workers_is_tried_point_by_point(monkeypatch):
    asked = []

    def answers(client, function, lines, *shared):
        asked.append([len(line) for line in lines])
        for k, line in enumerate(lines):
            yield k, InputError("lost.") if len(line) > 1 or line[0][0] == 2 else function(line, *shared)

    monkeypatch.setattr("kinelo.sweeps.sweep.answers", answers)
    lines = [[(0, {"x": 0}), (1, {"x": 1})], [(2, {"x": 2})], [(3, {"x": 3})]]
    found = [point for line in results_of(lambda x: x, lines, False, object()) for point in line]
    assert asked == [[2, 1, 1], [1, 1]]
    assert {point.index: point.failure for point in found} == {0: "", 1: "", 2: "lost.", 3: ""}
