"""Points of a sweep played together, against each of them alone: processor time of a match of one point."""

import time

import numpy as np
import pytest

import kinelo as kn
from kinelo.micro.league import table_play
from kinelo.micro.simulate import Setting
from kinelo.micro.sweep_points import points_play
from kinelo.play.encoding import encode
from kinelo.play.stream import realisation_keys

SECTION = "Sweeps: points played together"
LEAGUE = kn.homogeneous(sigma=1.0, teams=200)
MATCHES = 4_000_000


def nanoseconds(play, rows: int) -> float:
    """Processor time of a match of a row, the best of three times."""
    rating, played, matches = np.full((rows, 200), 7.0), np.zeros(rows, dtype=np.int64), MATCHES // rows
    taken = []
    for last in (10, matches, matches, matches):
        begin = time.process_time()
        play(rating, played, {}, slice(0, rows), 0, last)
        taken.append(time.process_time() - begin)
    return min(taken[1:]) / (matches * rows) * 1e9


@pytest.mark.parametrize("realisations", [1, 5, 25])
def test_points_together(table, realisations):
    section = table(SECTION)
    section.note = (
        "N = 200, w ≡ 1, tanh; processor time of one match of one point, one thread. Both end at the same bytes."
    )
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=0.1)
    alone = nanoseconds(table_play(encode(system, LEAGUE), realisation_keys(1, realisations)), realisations)
    section.row(f"{realisations} realisations, each point alone", f"{alone:.1f} ns")
    slopes, steps = np.linspace(0.2, 0.7, 32), np.linspace(0.01, 0.2, 32)
    for name, laws in {
        "25 points of γ": [(0.5, gamma) for gamma in steps[:25]],
        "32 points of γ": [(0.5, gamma) for gamma in steps],
        "5 ν × 5 γ": [(nu, gamma) for nu in slopes[:5] for gamma in steps[:5]],
        "32 points of ν": [(nu, 0.1) for nu in slopes],
    }.items():
        points = [Setting(kn.RatingSystem(kn.Tanh(nu), gamma=gamma), LEAGUE) for nu, gamma in laws]
        taken = nanoseconds(
            points_play([encode(*one[:2]) for one in points], realisation_keys(1, realisations)),
            realisations * len(points),
        )
        section.row(f"… {name}", f"{taken:.1f} ns: {alone / taken:.1f} times as fast")
