"""What the kinetic equation and the simulator refuse, word by word."""

from dataclasses import replace

import numpy as np
import pytest

import kinelo as kn
from kinelo.macro.gpu.transport import MOST_SHARED_CELLS, GpuUpwind
from kinelo.macro.population import Population
from kinelo.macro.run import SMALLEST, until_time
from kinelo.macro.solve import dataset_of
from kinelo.macro.velocity import Velocity
from kinelo.micro.simulate import Records
from refusals import check_refusal

TANH, LEAGUE = kn.Tanh(nu=0.5), kn.Normal([4.0, 7.0, 10.0], 1.0)
SYSTEM = kn.RatingSystem(TANH, gamma=0.05)
WEEKLY = replace(SYSTEM, schedule=kn.model.Period(3))
CELLS = {"theta": (4.0, 10.0, 6), "r": (3.0, 11.0, 8)}
HIGH = kn.model.Turnover(rate=0.01, theta=5.0, start=11.5)
LEARNING = kn.model.Learning(alpha=0.3, diffusion=0.2)


def teams(**more):
    return Population.uniform(**{**CELLS, "sigma": 1.0, **more})


def solve(system=SYSTEM, population=None, **more):
    return kn.solve(system, teams() if population is None else population, **{"until": 0.5, **more})


class Wordy(kn.model.Outcome):
    """A method of an object, which no compiler takes."""

    def scalar_b(self):
        return lambda z: float(TANH.b(z))


CASES = {
    "a density with a hole": (
        lambda: Population(np.where(np.arange(48.0).reshape(6, 8) == 19, np.nan, 1.0), **CELLS, sigma=1.0),
        "density must be finite, but the entry at [2, 3] is nan.",
    ),
    "a density of another shape": (
        lambda: Population(np.ones((6, 7)), **CELLS, sigma=1.0),
        "density must have one entry per cell, 6 × 1 × 8 (theta × sigma × r), not 6 × 1 × 7.",
    ),
    "a density that is a number": (
        lambda: Population.from_function(3.5, **CELLS, sigma=1.0),
        "function must be a function of theta, sigma and r, not 3.5.",
    ),
    "a density beyond numbers": (
        lambda: Population.from_function(lambda theta, sigma, r: np.where(r > 9, np.inf, theta), **CELLS, sigma=1.0),
        "density must be finite, but in cell [0, 0, 6] it is inf.",
    ),
    "ratings of some": (
        lambda: Population.from_sample([5.0, 6.0], LEAGUE), "ratings must list one per team: 2 for 3 teams.",
    ),
    "ratings of a list": (
        lambda: Population.from_sample([5.0, 6.0], [4.0, 7.0]),
        "strengths must be a league such as Normal or Fixed, not [4.0, 7.0].",
    ),
    "ratings above the cells": (
        lambda: Population.from_sample([5.0, 6.0, 9.5], LEAGUE, r=(4.0, 9.0, 10)),
        "r = 9.5 lies outside of the cells, which span [4, 9].",
    ),
    "ratings below the cells": (
        lambda: Population.from_sample([3.5, 6.0, 8.5], LEAGUE, r=(4.0, 9.0, 10)),
        "r = 3.5 lies outside of the cells, which span [4, 9].",
    ),
    "hardly any time": (
        lambda: until_time(SMALLEST / 2), f"until must be at least {SMALLEST:g}, not {SMALLEST / 2:g}.",
    ),
    "time that has passed": (
        lambda: until_time(2.5, 2.5), "until must lie in the future: 2.5 is not after 2.5.",
    ),
    "periods with diffusion": (
        lambda: solve(WEEKLY, diffusion=0.25),
        "A rating period is one step of its own length; leave dt and diffusion as they are.",
    ),
    "periods in steps": (
        lambda: solve(WEEKLY, dt=0.125),
        "A rating period is one step of its own length; leave dt and diffusion as they are.",
    ),
    "rounds of a density": (
        lambda: solve(replace(SYSTEM, schedule=kn.model.Rounds())),
        "Rounds() needs a number of teams, which a population has not; give Period(matches) with one match per "
        "opponent.",
    ),
    "a run of nothing": (lambda: dataset_of(iter(()), SYSTEM, {}), "A run without states has no dataset."),
    "newcomers above the cells": (
        lambda: solve(dynamics=HIGH),
        "start = 11.5 of the newcomers lies outside of the cells of r, which span [3, 11].",
    ),
    "newcomers that are too strong": (
        lambda: solve(dynamics=replace(HIGH, start=6.0, theta=10.5)),
        "theta = 10.5 of the newcomers, counted from the league's growing mean, lies outside of the cells of theta, "
        "which span [4, 10].",
    ),
    "newcomers that are too weak": (
        lambda: solve(dynamics=replace(HIGH, start=6.0, theta=[5.0, 3.5])),
        "theta = 3.5 of the newcomers, counted from the league's growing mean, lies outside of the cells of theta, "
        "which span [4, 10].",
    ),
    "learning within periods": (
        lambda: solve(WEEKLY, dynamics=LEARNING),
        "Learning moves strengths within a period too: simulate plays it, the solver does not.",
    ),
    "deviations of a density": (
        lambda: solve(kn.RatingSystem(TANH, gamma=kn.model.DeviationSteps(0.1, 1.0))),
        "The kinetic equation of DeviationSteps is solved along its characteristics, by "
        "theory.moving.glicko.deviation_path; settled_deviations gives where ratings and deviations end up.",
    ),
    "a period beyond the cells": (
        lambda: solve(replace(SYSTEM, schedule=kn.model.Period(400)), until=20.0),
        "A period carries teams beyond the ends of r; give r a wider range.",
    ),
    "a shape of line-ups": (
        lambda: solve(shape=kn.model.Empirical([[1.0, 3.0], [2.0, 6.0]])),
        r"shape must be the distribution X of performances θ \+ σX, such as scipy\.stats\.t\(3\), not Empirical\(.*\): "
        r"the kinetic equation knows a team by θ and σ alone, which line-ups and samples of values are more than\.",
    ),
    "neighbours on the device": (
        lambda: GpuUpwind(
            Velocity(replace(SYSTEM, pairing=kn.model.Window(c=2.0)), teams().grid, "exact"), teams(), 7.0, 1
        ),
        'device = "gpu" solves the kinetic equation for AllPlayAll() only; use device = "cpu".',
    ),
    "more cells than the device takes": (
        lambda: GpuUpwind(
            Velocity(SYSTEM, teams(r=(3.0, 11.0, MOST_SHARED_CELLS + 1)).grid, "exact"),
            teams(r=(3.0, 11.0, MOST_SHARED_CELLS + 1)), 7.0, 1,
        ),
        f'device = "gpu" takes at most {MOST_SHARED_CELLS} cells of r, not {MOST_SHARED_CELLS + 1}.',
    ),
    # The simulator
    "departures from contests": (
        lambda: kn.simulate(
            replace(SYSTEM, schedule=kn.model.Field(3)), LEAGUE, steps=2,
            dynamics=kn.model.Turnover(rate=0.5, theta=5.0, start=6.0),
        ),
        "Turnover lets at most one team leave after a contest: with Field(3) its rate must be at most 0.3333, not 0.5.",
    ),
    "matches of contests": (
        lambda: kn.micro.simulate_matches(replace(SYSTEM, schedule=kn.model.Field(3)), LEAGUE, matches=5),
        "simulate_matches plays matches of two sides, not Field(size=3); simulate plays it.",
    ),
    "steps of each that learn": (
        lambda: kn.simulate(replace(SYSTEM, gamma=[0.05, 0.07, 0.11]), LEAGUE, steps=2, dynamics=LEARNING),
        "Learning moves strengths by one gamma for all teams, not by (0.05, 0.07, 0.11).",
    ),
    "Glicko of another curve": (
        lambda: kn.simulate(
            kn.RatingSystem(kn.model.Probit(nu=0.5), gamma=kn.model.DeviationSteps(0.1, 1.0)), LEAGUE, steps=2
        ),
        "DeviationSteps are Glicko's, whose outcome is Tanh, not Probit(nu=0.5).",
    ),
    "a curve that is not arithmetic": (
        lambda: kn.simulate(kn.RatingSystem(Wordy(), gamma=0.05), LEAGUE, steps=2),
        r"b of .*Wordy.* cannot be compiled, so it cannot be played match by match: .+ Plain arithmetic and the "
        r"functions of math can\.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_what_is_wrong(case):
    check_refusal(CASES[case])


def test_records_are_counted_from_both_ends_and_not_beyond():
    records = Records(10, 4)
    assert [records[k] for k in (0, 3, -1, -4)] == [0, 10, 10, 0] and records[1:3] == [4, 8]
    for beyond in (4, -5):
        with pytest.raises(IndexError):
            records[beyond]
