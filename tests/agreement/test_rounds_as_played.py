"""Rounds and rating periods as the simulator plays them, against the theory of their noise.

References: variance of a rating about its mean (tr C/N) and slope of mean ratings on strengths by the Gaussian closure,
which is good to half a percent; the exact chain of two teams; and the linear theory of periods.
"""

import numpy as np
import pytest

import kinelo as kn

TWENTY = kn.Fixed(np.linspace(4, 10, 20))


def played(system, league, rounds, every, realisations, seed):
    """Deviations from the mean ratings (realisation, time, team) after half of the run, and the mean ratings."""
    matches = system.schedule.period(league.teams)
    run = kn.simulate(
        system, league, steps=rounds, matches_per_step=matches, realisations=realisations, seed=seed, record_every=every
    )
    late = run.rating.values[:, run.sizes["time"] // 2 :]
    mean = late.mean((0, 1))
    return late - mean, mean


@pytest.mark.parametrize(
    ("gamma", "variance", "slope"),
    [(0.05, 0.05476374, 1.01995552), (0.2, 0.37788465, 1.12971994), (0.5, 3.024680, 1.774851)],
)
def test_rounds_have_the_noise_and_the_slope_of_the_closure(gamma, variance, slope):
    """The last step lies beyond the critical one, .344. Four standard errors (1e-4 in all) and half a percent."""
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=gamma, schedule=kn.model.Rounds())
    away, mean = played(system, TWENTY, 400, 40, 300, seed=1)
    each = (away**2).mean((1, 2))
    assert abs(each.mean() - variance) < 4 * each.std() / np.sqrt(300) + 0.005 * variance
    theta = TWENTY.theta - TWENTY.theta.mean()
    slopes = (away @ theta / (theta @ theta)).mean(1)
    found = mean @ theta / (theta @ theta)
    assert abs(found - slope) < 4 * slopes.std() / np.sqrt(300) + 0.005


@pytest.mark.parametrize("schedule", [kn.model.Rounds(), kn.model.Period(1)])
def test_two_teams_are_the_exact_chain(schedule):
    """z ← z + 2γ(S − tanh νz): E z² = .4844993 at γ = .2; four standard errors (6e-5). It settles in some 5 matches."""
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=0.2, schedule=schedule)
    run = kn.simulate(system, kn.Fixed([7.0, 7.0]), steps=40, realisations=4000, seed=3, matches_per_step=2)
    square = (run.rating.values[:, -1, 0] - run.rating.values[:, -1, 1]) ** 2
    assert abs(square.mean() - 0.4844993089) < 4 * square.std() / np.sqrt(4000)


def test_periods_inflate_the_noise_by_what_linear_theory_says():
    """γ/(ν(2 − γnμ)) with μ = ν = .5 against γ/2ν match by match: .0571 and .05. Four standard errors and 3 %."""
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=0.05, schedule=kn.model.Period(10))
    away, _ = played(system, kn.Fixed(np.full(60, 7.0)), 120, 20, 150, seed=2)
    each = (away**2).mean((1, 2)) * 60 / 59
    expected = 0.05 / (0.5 * (2 - 0.05 * 10 * 0.5))
    assert abs(each.mean() - expected) < 4 * each.std() / np.sqrt(150) + 0.03 * expected
    assert each.mean() > 0.053
