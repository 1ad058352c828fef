"""What is asked for before anything is allocated, counted by hand: granted to the byte, refused with a byte less."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.macro.stepping import check_samples
from kinelo.micro.simulate import Records, check_matches, check_plan, starting_state
from kinelo.micro.sweep_points import Setting, simulate_points

SYSTEM = kn.RatingSystem(kn.Tanh(0.5), gamma=0.1)
CELLS = {"theta": (4, 10, 5), "r": (3, 11, 17)}  # with three spreads 255 cells
TEAMS = kn.macro.Population.uniform(**CELLS, sigma=(0.2, 1.1, 3))
SPREADS = np.linspace(0.3, 1.0, 8)
SHORT = {"steps": 1, "matches_per_step": 1, "realisations": 2, "seed": 1, "record_every": None}


def solved(**options):
    return kn.solve(SYSTEM, TEAMS, until=0.01, samples=2, **options)


def states(scheme):
    return kn.macro.kinetic_states(SYSTEM, TEAMS, until=0.01, scheme=scheme, samples=1)


@pytest.mark.parametrize(
    ("ask", "needed", "what"),
    [
        (lambda: kn.homogeneous(sigma=0.3, teams=70), 48 * 70, "A league of 70 teams of 1"),
        (lambda: kn.paper.setup_r1(teams=5, players=7, lineup=3), 48 * 35, "A league of 5 teams of 7"),
        (lambda: kn.paper.setup_r2(teams=6, players=7, lineup=3), 48 * 42, "A league of 6 teams of 7"),
        (lambda: SYSTEM.gammas(9), 16 * 9, "A league of 9 teams"),
        (lambda: kn.model.FideSteps(under_18=[2]).juniors(9), 9, "A league of 9 teams"),
        (
            lambda: kn.expected_result(SYSTEM.outcome, kn.Fixed(np.arange(9.0))),
            40 * 81,
            "The matrix of 9 × 9 results",
        ),
        (
            lambda: kn.macro.Population.uniform(**CELLS, sigma=(0.2, 1.1, 3)),
            8 * 255 * 2,
            r"A population on 5 × 3 × 17 cells \(theta × sigma × r\)",
        ),
        (lambda: solved(save_at=[0.0, 0.004, 0.01]), 8 * 255 * 9, "Keeping the density at 3 times on 5 × 3 × 17 cells"),
        (lambda: states("upwind"), 8 * 255 * 6, "Solving on 5 × 3 × 17 cells"),
        (lambda: states("tvd"), 8 * 255 * 7, "Solving on 5 × 3 × 17 cells"),
        (lambda: check_samples(33), 256 * 33, "A series of 33 samples"),
        (
            lambda: starting_state(kn.Fixed([1.0, 2.0, 4.0]), None, 5),
            40 * 5 * 4,
            "A simulation of 5 realisations × 3 teams",
        ),
        (
            lambda: check_plan(teams=3, records=Records(9, 3), matches_per_step=2, realisations=5, in_memory=4),
            8 * 5 * 4 * 11,
            "A simulation of 4 records of 5 realisations × 3 teams",
        ),
        (lambda: check_matches(11), 1100, "A list of 11 matches"),
        (
            lambda: simulate_points([Setting(SYSTEM, kn.Normal(np.arange(40.0), s)) for s in SPREADS], **SHORT),
            16 * 8 * 40 * 39,
            "8 tables of results",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_memory_is_asked_for_to_the_byte(ask, needed, what, monkeypatch):
    free = needed
    monkeypatch.setattr("kinelo.runtime.limits.available_memory", lambda: free)
    ask()
    free = needed - 1
    with pytest.raises(kn.InputError, match=f"^{what} .*needs 0.0 GiB, but 0.0 GiB of memory are free; .*fewer"):
        ask()
