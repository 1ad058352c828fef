"""What laws, leagues and systems refuse, word by word."""

from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.model import setups
from kinelo.model.strength import Strength
from refusals import check_refusal

TANH = kn.Tanh(nu=0.5)
TABLE = pl.DataFrame({"team": ["A", "B", "C"], "A": [0.5, 0.7, 0.2], "B": [0.3, 0.5, 0.1], "D": [0.8, 0.9, 0.5]})

CASES = {
    "a newcomer of no strength": (
        lambda: kn.model.Turnover(rate=0.1, theta=[], start=7.0),
        "theta must be the strength of a newcomer, or several to draw from; it is empty.",
    ),
    "more departures than sides": (
        lambda: kn.model.Turnover(rate=0.625, theta=4.0, start=7.0),
        "rate must be at most 0.5, one departure per match, not 0.625.",
    ),
    "who leaves": (
        lambda: kn.model.Turnover(rate=0.1, theta=4.0, start=7.0, leaving="best"),
        'leaving must be "random", "weakest" or "strongest", not \'best\'.',
    ),
    "b of no number": (
        lambda: kn.model.Outcome.from_function(lambda z: z > 3),
        "b must return a finite number, but at 1e-09 it returns False.",
    ),
    "b that fails": (
        lambda: kn.model.Outcome.from_function(lambda z: 1 / (z - z)),
        "b must be a function of one number, but at 1e-09 it fails: float division by zero.",
    ),
    "w above 1": (
        lambda: kn.model.Pairing.from_function(lambda z: 1.5 if z > 3 else 0.5),
        r"w must lie in \[0, 1\], but w\([\d.]+\) = 1\.5\.",
    ),
    "w below 0": (
        lambda: kn.model.Pairing.from_function(lambda z: -0.25 if z > 3 else 0.5),
        r"w must lie in \[0, 1\], but w\([\d.]+\) = -0\.25\.",
    ),
    "w of one side": (
        lambda: kn.model.Pairing.from_function(lambda z: 0.75 if z > 0 else 0.5),
        r"w must be even, but w\(1e-09\) = 0\.75 and w\(-1e-09\) = 0\.5\.",
    ),
    "nobody plays": (
        lambda: kn.model.Pairing.from_function(lambda z: 0.0), "w must be above 0 somewhere, or nobody ever plays.",
    ),
    "a table of other columns": (
        lambda: kn.model.Results(TABLE),
        "Rows and columns of table must name the same teams, each once; 'D' is not so.",
    ),
    "a table of matches": (
        lambda: kn.model.Results(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]})),
        "These are matches; kinelo.model.Results.from_matches(matches) makes a table of their results.",
    ),
    "a law of no distribution": (
        lambda: kn.model.Scaled("normal", [4.0, 7.0], 1.0),
        "distribution must be a SciPy distribution with its parameters, such as scipy.stats.t(3), not 'normal'.",
    ),
    "a line-up of the whole squad": (
        lambda: setups.setup_r2(teams=6, players=5, lineup=5), "lineup must be smaller than players = 5, not 5.",
    ),
    "squads of one team": (
        lambda: kn.model.LineupLottery([[1.0, 2.0, 4.0]], 2), "rho must list at least 2 teams (rows), not 1.",
    ),
    "a line-up beyond the squad": (
        lambda: kn.model.LineupLottery([[1.0, 2.0], [0.0, 3.0]], 3),
        "m must be at most M, the number of players per team: m = 3, M = 2.",
    ),
    "weights of another shape": (
        lambda: kn.model.LineupLottery([[1.0, 2.0, 4.0], [0.0, 3.0, 5.0]], 2, [0.25, 0.75]),
        "weights must have the shape of rho, 2 × 3, not [2].",
    ),
    "weights below nought": (
        lambda: kn.model.LineupLottery([[1.0, 2.0, 4.0], [0.0, 3.0, 5.0]], 2, [0.25, 0.75, -0.5]),
        "weights must be 0 or more, but the smallest is -0.5.",
    ),
    "too few who may play": (
        lambda: kn.model.LineupLottery([[1.0, 2.0, 4.0], [0.0, 3.0, 5.0]], 2, [[1, 1, 1], [0, 1, 0]]),
        "weights must be positive for at least m = 2 players; team 1 has fewer.",
    ),
    "values of one team": (
        lambda: kn.model.Empirical([[1.0, 2.0]]), "values must list at least 2 teams (rows), not 1.",
    ),
    "probabilities of another shape": (
        lambda: kn.model.Empirical([[1.0, 3.0, 5.0], [2.0, 2.0, 7.0]], [0.25, 0.75]),
        "probabilities must have the shape of values, 2 × 3, not [2].",
    ),
    "probabilities below 1": (
        lambda: kn.model.Empirical([[1.0, 3.0], [2.0, 2.0]], [0.25, 0.5]),
        "probabilities must be 0 or more and sum to 1 for every team.",
    ),
    "probabilities below nought": (
        lambda: kn.model.Empirical([[1.0, 3.0], [2.0, 2.0]], [-0.25, 1.25]),
        "probabilities must be 0 or more and sum to 1 for every team.",
    ),
    "a field of draws": (
        lambda: kn.RatingSystem(kn.model.Davidson(nu=0.5, kappa=0.7), gamma=0.05, schedule=kn.model.Field(3)),
        "Field(size=3) ranks its teams by performances, which make up the outcomes Tanh and Probit, not "
        "Davidson(nu=0.5, kappa=0.7).",
    ),
    "a field of neighbours": (
        lambda: kn.RatingSystem(TANH, kn.model.Window(c=2.0), gamma=0.05, schedule=kn.model.Field(3)),
        "Field(size=3) draws its teams from the whole league: pairing must be AllPlayAll().",
    ),
    "steps of too few": (
        lambda: kn.RatingSystem(TANH, gamma=[0.05, 0.07]).gammas(3),
        "gamma must be one number or one per team: 2 for 3 teams.",
    ),
    "a step of nought": (
        lambda: kn.RatingSystem(TANH, gamma=[0.05, -0.25]),
        "gamma must be greater than 0, but its smallest entry is -0.25.",
    ),
    "weights of words": (
        lambda: kn.model.LineupLottery([[1.0, 2.0], [0.0, 3.0]], 1, ["a", "b"]), "weights must be an array of numbers.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_what_is_wrong(case):
    check_refusal(CASES[case])


@pytest.mark.parametrize("rate", [0.5, 0.25])
def test_what_is_just_within_the_limits_is_taken(rate):
    assert kn.model.Turnover(rate=rate, theta=4.0, start=7.0).rate == rate
    assert kn.model.LineupLottery([[1.0, 2.0], [0.0, 3.0]], 2, [[1, 1], [2, 1]]).m == 2


def test_a_law_of_two_uniform_numbers_says_what_it_lacks():
    @dataclass
    class Sum(Strength):
        """Two numbers make a performance."""

        uniforms = 2

        def __post_init__(self):
            self.describe(np.array([4.0, 7.0]), np.array([1.0, 1.0]), None)

        def performances(self, team, uniform):
            return self.theta[team] + uniform.sum(axis=0) - 1

    check_refusal(
        (
            lambda: kn.stationary(TANH, Sum()),
            "Sum makes a performance of 2 uniform numbers, so its characteristic function does not follow from them: "
            "give it a method characteristic_function, and reach.",
        )
    )
