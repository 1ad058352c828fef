"""Ensembles, backtests and bootstraps on a real cluster of two processes: the same bytes as in one process."""

import threading
import warnings

import numpy as np
import pytest

import kinelo as kn
from kinelo import workers
from kinelo.errors import InputError, KineloWarning
from kinelo.micro import ensemble

pytest.importorskip("distributed", reason="needs kinelo[dask]")

LEAGUE = kn.Normal(np.linspace(4.0, 10.0, 6), 1.0)
SYSTEM = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)


def test_realisations_are_split_over_workers(client, monkeypatch):
    for most in (ensemble.ANSWER, 8 * 7 * 9):  # the second one: parts of few realisations and few records
        monkeypatch.setattr(ensemble, "ANSWER", most)
        plan = {"steps": 40, "record_every": 7, "realisations": 61, "seed": 3}
        start = np.random.default_rng(1).normal(7.0, 1.0, (61, 6))
        here = kn.simulate(SYSTEM, LEAGUE, start=start, **plan)
        assert kn.simulate(SYSTEM, LEAGUE, start=start, **plan, client=client).identical(here)


@pytest.mark.parametrize(
    ("system", "more"),
    [
        (kn.RatingSystem(kn.Tanh(nu=0.5), gamma=kn.FallingSteps(0.05, 0.2, 10)), {}),
        (SYSTEM, {"dynamics": [kn.Form(rate=0.01, spread=1.0), kn.Turnover(rate=0.001, theta=[5.0, 9.0], start=6.0)]}),
        (kn.RatingSystem(kn.Tanh(nu=0.5), kn.Window(c=2.0), gamma=0.05), {"sampling": "literal"}),
    ],
)
def test_what_a_league_carries_is_split_too(client, monkeypatch, system, more):
    monkeypatch.setattr(ensemble, "ANSWER", 8 * 7 * 12)
    plan = {"steps": 30, "record_every": 5, "realisations": 7, "seed": 5, **more}
    here = kn.simulate(system, LEAGUE, **plan)
    assert kn.simulate(system, LEAGUE, **plan, client=client).identical(here)


def test_a_backtest_gives_each_rater_to_a_worker(client):
    matches = kn.simulate_matches(SYSTEM, LEAGUE, matches=400, seed=2)
    raters = {"low": kn.TeamElo.classic(k=8), "high": kn.TeamElo.classic(k=64), "glicko": kn.Glicko()}
    day = str(matches.date[200])
    here = kn.backtest(matches, raters, train_until=day)
    there = kn.backtest(matches, raters, train_until=day, client=client)
    for name in raters:
        assert here.forecasts[name].probabilities.tobytes() == there.forecasts[name].probabilities.tobytes()
        assert there.raters[name].ratings_.equals(here.raters[name].ratings_)


def test_a_bootstrap_is_the_same_on_workers(client):
    votes = kn.simulate_matches(SYSTEM, LEAGUE, matches=300, seed=4)
    rater = kn.BradleyTerry().fit(votes)
    asked = {"method": "bootstrap", "draws": 21, "seed": 9}
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

    matches = kn.simulate_matches(SYSTEM, LEAGUE, matches=40, seed=2)
    with pytest.raises(InputError, match="never fits"):
        kn.backtest(matches, Broken(), train_until=str(matches.date[20]), client=client)


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
