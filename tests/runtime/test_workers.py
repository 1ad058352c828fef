"""Ensembles, backtests, bootstraps and sweeps on a real cluster of two processes: the same bytes as in one process.

All tests of that cluster stand here: each process of tests that runs some of them starts one.
"""

import hashlib
import json
import os
import signal
import threading
import time
import warnings
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.errors import InputError, KineloWarning
from kinelo.micro import simulate as simulating
from kinelo.runtime import workers
from kinelo.runtime.extras import library_versions
from kinelo.sweeps.study import StudyPoints, read_sweep, run_study_sweep

pytest.importorskip("distributed", reason="needs kinelo[dask]")

LEAGUE = kn.Normal(np.linspace(4.0, 10.0, 6), 1.0)
SYSTEM = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)


def tree(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_realisations_are_split_over_workers(client, monkeypatch):
    for most in (simulating.ANSWER_BYTES, 8 * 7 * 9):  # the second one: parts of few realisations and few records
        monkeypatch.setattr(simulating, "ANSWER_BYTES", most)
        plan = {"steps": 40, "record_every": 7, "realisations": 61, "seed": 3}
        start = np.random.default_rng(1).normal(7.0, 1.0, (61, 6))
        here = kn.simulate(SYSTEM, LEAGUE, start=start, **plan)
        assert kn.simulate(SYSTEM, LEAGUE, start=start, **plan, client=client).identical(here)


@pytest.mark.parametrize(
    ("system", "more"),
    [
        (kn.RatingSystem(kn.Tanh(nu=0.5), gamma=kn.model.FallingSteps(0.05, 0.2, 10)), {}),
        (
            SYSTEM,
            {
                "dynamics": [
                    kn.model.Form(rate=0.01, spread=1.0),
                    kn.model.Turnover(rate=0.001, theta=[5.0, 9.0], start=6.0),
                ]
            },
        ),
        (kn.RatingSystem(kn.Tanh(nu=0.5), kn.model.Window(c=2.0), gamma=0.05), {"sampling": "literal"}),
    ],
)
def test_what_a_league_carries_is_split_too(client, monkeypatch, system, more):
    monkeypatch.setattr(simulating, "ANSWER_BYTES", 8 * 7 * 12)
    plan = {"steps": 30, "record_every": 5, "realisations": 7, "seed": 5, **more}
    here = kn.simulate(system, LEAGUE, **plan)
    assert kn.simulate(system, LEAGUE, **plan, client=client).identical(here)


def test_a_backtest_gives_each_rater_to_a_worker(client):
    matches = kn.micro.simulate_matches(SYSTEM, LEAGUE, matches=400, seed=2)
    raters = {"low": kn.TeamElo.classic(k=8), "high": kn.TeamElo.classic(k=64), "glicko": kn.Glicko()}
    day = str(matches.date[200])
    here = kn.backtest(matches, raters, train_until=day)
    there = kn.backtest(matches, raters, train_until=day, client=client)
    for name in raters:
        assert here.forecasts[name].probabilities.tobytes() == there.forecasts[name].probabilities.tobytes()
        assert there.raters[name].ratings_.equals(here.raters[name].ratings_)


def test_a_bootstrap_is_the_same_on_workers(client):
    votes = kn.micro.simulate_matches(SYSTEM, LEAGUE, matches=300, seed=4)
    rater = kn.BradleyTerry().fit(votes)
    asked = {"method": "bootstrap", "resamples": 21, "seed": 9}
    here = rater.intervals(**asked)
    assert rater.intervals(**asked, client=client).equals(here)


def test_warnings_of_workers_come_home(client):
    def doubtful(x):
        warnings.warn(f"{x} is doubtful", KineloWarning, stacklevel=1)
        return x

    with pytest.warns(KineloWarning) as told:
        kn.sweep(doubtful, {"x": [1, 2]}, client=client)
    assert {str(one.message) for one in told} == {"1 is doubtful", "2 is doubtful"}


def test_what_goes_wrong_on_a_worker_is_the_same_sentence(client):
    class Broken(kn.TeamElo):
        def fit(self, matches):
            raise InputError("this rater never fits.")

    matches = kn.micro.simulate_matches(SYSTEM, LEAGUE, matches=40, seed=2)
    with pytest.raises(InputError, match="never fits"):
        kn.backtest(matches, Broken(), train_until=str(matches.date[20]), client=client)


class KilledWorker(Exception):
    """Called as what Dask raises of a computation that has cost workers their lives."""


def test_of_what_kills_its_workers_that_is_said(client):
    def deadly(x):
        raise KilledWorker(x)

    with pytest.raises(InputError, match=r"every worker that computed it died, .* needs too much memory ends"):
        workers.collected(client, deadly, [1])


def test_what_cannot_be_sent_is_refused(client):
    lock = threading.Lock()
    with pytest.raises(InputError, match="cannot be sent to workers"):
        kn.sweep(lambda x: lock and x, {"x": [1]}, client=client)


def test_a_client_is_a_client():
    for call in (
        lambda c: kn.simulate(SYSTEM, LEAGUE, steps=1, seed=1, client=c),
        lambda c: kn.sweep(lambda x: x, {"x": [1]}, client=c),
    ):
        with pytest.raises(InputError, match=r"client must be a dask\.distributed\.Client"):
            call("tcp://127.0.0.1:8786")


def test_a_worker_that_joins_late_with_another_version_computes_nothing():
    with pytest.raises(InputError, match=r"started with 0\.0\.1"):
        workers._answer(b"", b"", "0.0.1", 0)


@pytest.mark.parametrize(
    ("threads", "apart", "home"), [(1, True, ["3 is doubtful"]), (1, False, []), (2, True, []), (3, False, [])]
)
def test_warnings_of_a_process_of_its_own_are_handed_back_and_others_arise_in_place(monkeypatch, threads, apart, home):
    import cloudpickle
    import distributed

    def doubtful(x, factor):
        warnings.warn(f"{x} is doubtful", KineloWarning, stacklevel=1)
        warnings.warn("of another library", UserWarning, stacklevel=1)
        return factor * x

    state = SimpleNamespace(nthreads=threads)
    monkeypatch.setattr(distributed, "get_worker", lambda: SimpleNamespace(state=state))
    sender = os.getpid() + apart
    with warnings.catch_warnings(record=True) as arisen:
        warnings.simplefilter("always")
        answer = workers._answer(cloudpickle.dumps(3), cloudpickle.dumps((doubtful, (5,))), kn.__version__, sender)
    assert answer == (15, home)
    assert [str(one.message) for one in arisen] == ([] if home else ["3 is doubtful"]) + ["of another library"]


@pytest.mark.parametrize(
    ("threads", "count", "least", "most", "sizes"),
    [
        ({}, 9, 1, None, [3, 3, 3]),
        ({"a": 1, "b": 1}, 17, 1, None, [3, 3, 3, 3, 3, 2]),
        ({"a": 1, "b": 2}, 17, 5, None, [5, 5, 5, 2]),
        ({"a": 2, "b": 2}, 17, 100, None, [5, 5, 5, 2]),
        ({"a": 1, "b": 1}, 17, 1, 2, [2] * 8 + [1]),
        ({"a": 1}, 0, 1, None, []),
    ],
)
def test_pieces_are_even_and_leave_no_thread_idle(threads, count, least, most, sizes):
    found = workers.pieces(count, SimpleNamespace(nthreads=lambda: threads), least, most)
    assert [len(one) for one in found] == sizes
    assert [n for one in found for n in one] == list(range(count))
    assert workers.threads_of(SimpleNamespace(nthreads=lambda: threads)) == max(sum(threads.values()), 1)


def test_a_scheduler_that_does_not_answer_is_named_and_not_waited_for(monkeypatch):
    import distributed

    asked = []

    def unreachable(address, timeout):
        asked.append(timeout)
        raise OSError(f"Timed out trying to connect to {address} after {timeout} s")

    monkeypatch.setattr(distributed, "Client", unreachable)
    with pytest.raises(InputError) as refused, workers.scheduler_client("tcp://10.0.0.1:8786"):
        pass
    said = "(OSError: Timed out trying to connect to tcp://10.0.0.1:8786)."
    assert str(refused.value) == f"No Dask scheduler answers at 'tcp://10.0.0.1:8786' {said}"
    assert asked == [10.0]  # seconds that somebody waits for whom nobody answers


STUDY = """
title = "small"
gamma = 0.05
[outcome]
kind = "tanh"
nu = 0.5
[league]
kind = "normal"
theta = [4.0, 7.0, 10.0]
sigma = 1.0
[simulate]
steps = 60
record_every = 20
realisations = 5
seed = 3
[sweep]
gamma = [0.05, -1.0, 0.1]
"""


@pytest.mark.long
def test_commands_take_the_workers_of_a_live_scheduler(client, tmp_path, monkeypatch):
    monkeypatch.setattr(simulating, "SOON", 1000)
    run = CliRunner().invoke
    (tmp_path / "study.toml").write_text(STUDY)
    study, there = str(tmp_path / "study.toml"), ["--scheduler", client.scheduler.address]
    for command in ("simulate", "sweep"):
        for name, more in (("here", []), ("there", there)):
            done = run(app, ["study", command, study, "--out", str(tmp_path / command / name), *more])
            assert done.exit_code == 0, done.output
        one, two = (tmp_path / command / name for name in ("here", "there"))
        assert tree(one) == tree(two) and len(tree(one)) > 5
    told = run(app, ["study", "sweep", study, "--out", str(tmp_path / "sweep" / "there"), "--resume", "--json", *there])
    points = json.loads(told.stdout)["points"]
    assert [point["settings"]["gamma"] for point in points] == [0.05, -1.0, 0.1]
    assert points[0]["distance"] > 0 and points[0]["failure"] is None
    assert points[1]["distance"] is None and "gamma" in points[1]["failure"]


def test_the_command_of_a_backtest_takes_workers(client, tmp_path):
    matches = kn.micro.simulate_matches(SYSTEM, LEAGUE, matches=200, seed=2)
    matches.to_polars().write_csv(tmp_path / "games.csv")
    asked = ["backtest", str(tmp_path / "games.csv"), "--rater", "team", "--rater", "glicko"]
    here, there = (
        CliRunner().invoke(app, [*asked, "--out", str(tmp_path / name), *more])
        for name, more in (("here.csv", []), ("there.csv", ["--scheduler", client.scheduler.address]))
    )
    assert here.exit_code == there.exit_code == 0, here.output + there.output
    one, two = (pl.read_csv(tmp_path / name).drop("seconds") for name in ("here.csv", "there.csv"))
    assert one.equals(two)
    wrong = CliRunner().invoke(app, [*asked, "--workers", "2", "--scheduler", "tcp://127.0.0.1:1"])
    assert isinstance(wrong.exception, InputError) and "exclude each other" in str(wrong.exception)


@pytest.mark.long
def test_a_killed_worker_costs_nothing_but_time(client, tmp_path):
    marker = str(tmp_path / "killed")

    def biased(nu, seed, killer=False):
        if killer and (nu, seed) == (0.5, 3) and not os.path.exists(marker):
            Path(marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if seed == 4:
            raise InputError("there is no fourth seed.")
        noise = np.random.default_rng(seed).normal(size=3)
        time.sleep(0.01)
        return kn.expected_result(kn.Tanh(nu=nu), kn.Normal([4.0, 7.0, 10.0], 1.0)) @ noise

    over = {"nu": [0.25, 0.5], "seed": [1, 2, 3, 4]}

    def plain(nu, seed, killer=True):
        return biased(nu, seed, killer)

    before = set(client.scheduler_info()["workers"])
    with pytest.warns(KineloWarning, match="2 of 8 points"):
        far = kn.sweep(plain, over, client=client, out=tmp_path / "far")
    assert os.path.exists(marker) and set(client.scheduler_info()["workers"]) != before
    with pytest.warns(KineloWarning, match="2 of 8 points"):
        near = kn.sweep(plain, over, out=tmp_path / "near")
    assert far.identical(near)
    assert tree(tmp_path / "far") == tree(tmp_path / "near")


def test_lines_of_continuation_stay_whole(client):
    def walk(x, y, previous):
        return y if previous is None else previous * 2 + x

    over = {"x": [1, 2, 3], "y": [5, 7]}
    assert kn.sweep(walk, over, along="x", client=client).identical(kn.sweep(walk, over, along="x"))


def test_workers_that_are_slow_to_end_cost_no_results(monkeypatch):
    import distributed

    class SlowCluster:
        def __init__(self, **asked):
            self.closed, self.asked = 0, asked

        def close(self):
            self.closed += 1
            raise TimeoutError

    monkeypatch.setattr(distributed, "LocalCluster", SlowCluster)
    monkeypatch.setattr(distributed, "Client", nullcontext)
    with workers.local_client(3, "200MB") as cluster:
        assert cluster.closed == 0
    assert cluster.closed == 1
    assert cluster.asked["n_workers"] == 3 and cluster.asked["memory_limit"] == "200MB"
    assert cluster.asked["threads_per_worker"] == 1 and cluster.asked["processes"]


def test_workers_with_another_version_are_refused(client, monkeypatch):
    monkeypatch.setattr(client, "run", lambda *_, **__: {"tcp://there:1": {**library_versions(), "kinelo": "0.0.1"}})
    with pytest.raises(InputError, match=r"tcp://there:1 has Kinelo 0\.0\.1 and this process"):
        kn.sweep(lambda x: x, {"x": [1]}, client=client)
    monkeypatch.setattr(
        client, "run", lambda *_, **__: {"tcp://there:1": ModuleNotFoundError("No module named 'kinelo'")}
    )
    with pytest.raises(InputError, match="tcp://there:1 cannot use Kinelo"):
        kn.sweep(lambda x: x, {"x": [1]}, client=client)


def test_a_study_is_swept_on_workers_in_batches_of_the_same_bytes(client, tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(
        STUDY.split("[sweep]")[0]
        + "[sweep]\ngamma = [0.01, 0.02, 0.03, 0.04]\noutcome.nu = [0.2, 0.5]\nleague.sigma = [0.5, 1.5]\n"
    )
    content, axes, compute = read_sweep(path)
    points = [(k, axes.point(k)) for k in range(len(axes))]
    assert [len(line) for line in StudyPoints(content, compute, 1).batches(points, 2)] == [8, 8]
    run_study_sweep(path, tmp_path / "far", client=client)
    run_study_sweep(path, tmp_path / "near")
    assert tree(tmp_path / "far") == tree(tmp_path / "near")
