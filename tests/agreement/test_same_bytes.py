"""What is stored is the same to the last bit for any number of threads, any chunks and any interruption.

Two processors are enough for OpenBLAS to sum a product of matrices in another order than one does; each case here
differs in its last bits if linear algebra is left to itself.
"""

import random
import threading
from functools import partial

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import kinelo as kn
import kinelo.micro.simulate
import kinelo.results.store
from kinelo.runtime.blas import one_blas_thread
from kinelo.studies import parse_study
from kinelo.studies.simulation import run_simulation
from kinelo.studies.solution import run_solution
from patience import PATIENCE

SYSTEM = {"gamma": 0.05, "outcome": {"kind": "tanh", "nu": 0.5}}
LEAGUE = SYSTEM | {
    "league": {"kind": "r1", "teams": 100},
    "pairing": {"kind": "window", "c": 2.0},
    "simulate": {"steps": 300, "seed": 1, "realisations": 5, "record_every": 70},
}
CELLS = SYSTEM | {
    "population": {"kind": "uniform", "theta": [4.0, 10.0, 40], "r": [4.0, 10.0, 24], "sigma": [0.0, 1.0, 10]},
    "solve": {"until": 1.0, "samples": 12},
}
WINDOW = CELLS | {"pairing": {"kind": "window", "c": 2.0}, "solve": {"until": 0.3, "samples": 5, "scheme": "tvd"}}
SOLVE = partial(run_solution, quiet=True)
TASKS = [(run_simulation, LEAGUE), (SOLVE, CELLS), (SOLVE, WINDOW)]
NAMES = ["simulate", "solve", "solve-window"]


def stored(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize(("carry_out", "content"), TASKS, ids=NAMES)
def test_threads_and_chunks_do_not_change_the_bytes(carry_out, content, tmp_path, monkeypatch):
    study, results = parse_study(content), []
    for blas, threads, matches in [(1, 1, 1 << 14), (2, 1, 7), (2, 2, 1 << 14), (1, 2, 50)]:
        monkeypatch.setattr(kinelo.micro.simulate, "FIRST_ROUND", matches)
        with threadpool_limits(blas, user_api="blas"):
            carry_out(study, tmp_path / f"{blas}-{threads}-{matches}", threads=threads)
        results.append(stored(tmp_path / f"{blas}-{threads}-{matches}"))
    assert all(result == results[0] for result in results)


class Stopped(BaseException):
    """Ends a run wherever it is."""


@pytest.mark.parametrize(("carry_out", "content"), TASKS, ids=NAMES)
def test_interruptions_under_changing_threads_do_not_change_the_bytes(carry_out, content, tmp_path, monkeypatch):
    """Stopped at five points drawn with a fixed seed, each time continued with other threads and other checkpoints."""
    study, draw = parse_study(content), random.Random(3)
    carry_out(study, tmp_path / "whole", threads=1)
    for attempt in range(5):
        monkeypatch.setattr(kinelo.results.store, "INTERVAL", 0.0 if attempt % 2 else 0.01)
        left = draw.randint(1, 4)

        def stop_soon(done):
            nonlocal left
            left -= 1
            if left == 0:
                raise Stopped

        with threadpool_limits(1 + attempt % 2, user_api="blas"):
            try:
                told = {"advance" if carry_out is run_simulation else "watch": stop_soon}
                carry_out(study, tmp_path / "run", threads=2 - attempt % 2, **told)
            except Stopped:
                continue
            break
    carry_out(study, tmp_path / "run", threads=2)
    assert stored(tmp_path / "run") == stored(tmp_path / "whole")


class Watched(kn.Normal):
    """Remembers how many threads linear algebra could use while its expected results were computed."""

    def characteristic_function(self, u, origin=0.0):
        self.__dict__.setdefault("threads", []).append(blas_threads())
        return super().characteristic_function(u, origin)


def blas_threads() -> int:
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


def test_probabilities_of_results_are_computed_on_one_thread():
    """A threshold that differs in its last bit changes one result in 10¹⁶, which no test of this size would see."""
    league = Watched(np.linspace(4, 10, 60), 1.0)
    with threadpool_limits(2, user_api="blas"):
        kn.simulate(kn.RatingSystem(kn.Tanh(nu=0.5)), league, steps=1, seed=1)
    assert set(league.__dict__["threads"]) == {1}


def test_a_block_on_one_thread_does_not_undo_another():
    """Two threads of a program, the first to enter being the first to leave: the second still has one thread."""
    entered, leave, seen = threading.Event(), threading.Event(), []

    def first():
        with one_blas_thread():
            entered.set()
            leave.wait(PATIENCE)

    with threadpool_limits(2, user_api="blas"):
        other = threading.Thread(target=first)
        other.start()
        entered.wait(PATIENCE)
        with one_blas_thread():
            leave.set()
            other.join()
            seen.append(blas_threads())
        seen.append(blas_threads())
    assert seen == [1, 2]
