"""What laws of users, the simulator and theory refuse of one another, word by word."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import kinelo as kn
from kinelo.micro.simulate import starting_state
from kinelo.model.strength import Strength
from kinelo.model.validation import SMALLEST, positive
from kinelo.theory.many_teams import WHOLE_COVARIANCE
from kinelo.theory.moving.best import error_curve
from kinelo.theory.moving.rounds import critical_gamma
from refusals import check_refusal

TANH, LEAGUE = kn.Tanh(nu=0.5), kn.Normal([4.0, 7.0, 10.0], 1.0)
SYSTEM = kn.RatingSystem(TANH, gamma=0.05)
ROUNDS = replace(SYSTEM, schedule=kn.model.Rounds())
LEARNING = kn.model.Learning(alpha=0.3, diffusion=0.2)


class Odd(Strength):
    """A law whose performances lie higher than it says."""

    def __init__(self):
        self.describe(np.array([4.0, 7.0]), np.array([1.0, 0.5]), None)

    def performances(self, team, uniform):
        return self.theta[team] + 0.25 + self.sigma[team] * (uniform[..., 0] - 0.5)


@dataclass(frozen=True)
class Own(kn.model.StepRule):
    """A rule without a formula in ``play``."""

    def _numbers(self):
        return 0.05, 0.0, 1.0

    def at(self, rating, matches, reached):
        return np.full(len(rating), 0.05)


CASES = {
    "a law that says other moments": (
        lambda: kn.stationary(SYSTEM, Odd()),
        r"The performances of Odd do not have the moments it describes: team \d has mean [\d.]+ and standard deviation "
        r"[\d.]+, described were \d and [\d.]+.*\.",
    ),
    "a rule of somebody": (lambda: kn.simulate(replace(SYSTEM, gamma=Own()), LEAGUE, steps=2),
        "The step rule Own() has no compiled formula; FallingSteps, FideSteps and DeviationSteps have one."),
    "a law of somebody that moves": (
        lambda: kn.simulate(SYSTEM, Odd(), steps=2, dynamics=kn.model.Walk(0.1)),
        "Strengths that move are played for Fixed, Normal, LineupLottery and Empirical, not for Odd.",
    ),
    "a state of other realisations": (
        lambda: starting_state(LEAGUE, starting_state(LEAGUE, None, 2), 3),
        "start must be a state of 3 realisations × 3 teams.",
    ),
    "no spread": (
        lambda: kn.model.satisfies_b_prime(TANH, []), "sigma must be one number, or one per team.",
    ),
    "a number beside nought": (
        lambda: positive("gamma", SMALLEST / 2), f"gamma must be at least {SMALLEST:g}, not {SMALLEST / 2:g}.",
    ),
    "a number of nought": (lambda: positive("gamma", 0.0), "gamma must be greater than 0, not 0."),
    "rounds of many": (
        lambda: kn.tracking(ROUNDS, kn.Normal(np.linspace(4, 10, WHOLE_COVARIANCE + 1), 1.0), kn.model.Walk(0.1)),
        f"Rounds and a gamma for each team are computed for at most {WHOLE_COVARIANCE} teams, "
        f"not {WHOLE_COVARIANCE + 1}.",
    ),
    "the best step of an open league": (
        lambda: error_curve(SYSTEM, LEAGUE, kn.model.Turnover(rate=0.01, theta=5.0, start=6.0)),
        r"dynamics must be Learning, Form, Walk or None to have a best gamma, not Turnover\(.*\)\.",
    ),
    "the best step of learning in rounds": (
        lambda: error_curve(ROUNDS, LEAGUE, LEARNING),
        "The best gamma of strengths that learn is computed match by match, not for Rounds().",
    ),
    "variances of some": (
        lambda: kn.theory.recover_strength(TANH, [4.0, 7.0, 9.0], 1.0, rating_variance=[0.1, 0.2]),
        "rating_variance must be one number or one per team: 2 for 3 teams.",
    ),
    "rounds of a continuum": (
        lambda: kn.diagnose(ROUNDS, kn.theory.Continuum(theta=(4, 10), sigma=1.0)),
        "Rounds() needs a number of teams, which a continuum has not; give Period(matches).",
    ),
    "rounds from ratings of some": (
        lambda: critical_gamma(TANH, LEAGUE).beyond(1.0, start=[4.0, 7.0]),
        "start must hold one rating per team, 3, not 2.",
    ),
    "windows that keep teams apart": (
        lambda: kn.micro.simulate_matches(
            replace(SYSTEM, pairing=kn.model.Window(c=1.0)), kn.Normal([0.0, 50.0], 1.0), matches=3, start=[0.0, 50.0]
        ),
        "The last 10,000,000 pairs that were drawn did not meet, 0 of 3 matches are played: the pairing keeps these "
        "teams apart.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_what_is_wrong(case):
    check_refusal(CASES[case])
