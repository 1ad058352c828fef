"""What theory refuses, and of which leagues it says that nothing settles, word by word."""

from dataclasses import replace

import numpy as np
import pytest

import kinelo as kn
from kinelo.errors import NoStationaryState
from kinelo.theory.closure import settled_steps
from kinelo.theory.fixed_point import fixed_point
from kinelo.theory.moving.best import error_curve
from kinelo.theory.moving.glicko import GlickoLeague
from kinelo.theory.moving.learning import _on_grid
from kinelo.theory.moving.open_league import OpenLeague
from kinelo.theory.unbiased import unbiased_gamma
from refusals import check_refusal

TANH, LEAGUE = kn.Tanh(nu=0.5), kn.Normal([4.0, 7.0, 10.0], 1.0)
SYSTEM = kn.RatingSystem(TANH, gamma=0.05)
NEAR = kn.RatingSystem(TANH, kn.model.Window(c=2.0), gamma=0.05)
GLICKO = kn.RatingSystem(TANH, gamma=kn.model.DeviationSteps(0.1, 1.0))
EACH = kn.RatingSystem(TANH, gamma=[0.05, 0.07, 0.11])
WEEKLY = kn.RatingSystem(TANH, gamma=0.05, schedule=kn.model.Period(3))
LEARNING = kn.model.Learning(alpha=0.3, diffusion=0.2)
OPEN = kn.model.Turnover(rate=0.01, theta=5.0, start=6.0)
ONE_GAMMA = "Learning moves strengths by one gamma for all teams, not by (0.05, 0.07, 0.11)."
SETTLES = "a stationary law takes alpha > beta and diffusion > 0."

CASES = {
    "steps of deviations": (
        lambda: settled_steps(GLICKO, LEAGUE.theta),
        "The steps of DeviationSteps(growth=0.1, start=1.0, largest=1.0) follow from its deviations: "
        "kn.theory.settled_deviations finds both.",
    ),
    "a team beyond the last": (
        lambda: kn.farming(SYSTEM, LEAGUE, team=3), "team must be a number from 0 to 2, not 3.",
    ),
    "more opponents than there are": (
        lambda: kn.farming(SYSTEM, LEAGUE, team=1, opponents=3),
        "opponents must be at most 2, the number of other teams, not 3.",
    ),
    "noisy farming in fields": (
        lambda: kn.farming(replace(SYSTEM, schedule=kn.model.Field(3)), LEAGUE, team=1, noise="gaussian"),
        'farming with noise="gaussian" is computed for matches of two, not for Field(size=3).',
    ),
    "Glicko of another curve": (
        lambda: GlickoLeague(kn.model.Probit(nu=0.5), LEAGUE, 0.1),
        "Glicko's formulas are those of Tanh, not of Probit.",
    ),
    "a newcomer among those who learn by steps of each": (
        lambda: kn.theory.newcomer(EACH, LEAGUE, theta=3.0, start=1.0, dynamics=LEARNING), ONE_GAMMA,
    ),
    "learning by steps of each": (lambda: kn.tracking(EACH, LEAGUE, LEARNING), ONE_GAMMA),
    "learning within periods": (
        lambda: kn.tracking(WEEKLY, LEAGUE, LEARNING),
        "Tracking of strengths that learn is computed match by match, not for Period(matches=3).",
    ),
    "deviations within periods": (
        lambda: kn.tracking(replace(GLICKO, schedule=kn.model.Period(3)), LEAGUE, kn.model.Walk(0.1)),
        "Tracking by DeviationSteps is computed match by match, not for Period(matches=3).",
    ),
    "tracking among neighbours": (
        lambda: kn.tracking(NEAR, LEAGUE, kn.model.Walk(0.1)),
        "Tracking is computed for AllPlayAll only; simulate plays every pairing.",
    ),
    "tracking of an open league": (
        lambda: kn.tracking(SYSTEM, LEAGUE, OPEN),
        r"dynamics must be Learning, Form or Walk, not Turnover\(rate=0\.01, .*\)\.",
    ),
    "tracking of line-ups": (
        lambda: kn.tracking(SYSTEM, kn.model.Empirical([[1.0, 3.0], [2.0, 6.0]]), kn.model.Walk(0.1)),
        "Strengths that move are computed for Fixed or Normal performances, not Empirical; simulate plays every law.",
    ),
    "the weakest leave": (
        lambda: OpenLeague(SYSTEM, LEAGUE, None, replace(OPEN, leaving="weakest")),
        r'The error of an open league is computed where teams leave at "random", not Turnover\(.*\'weakest\'\)\.',
    ),
    "an open league that learns": (
        lambda: OpenLeague(SYSTEM, LEAGUE, LEARNING, OPEN),
        r"The error of an open league is computed at rest, with Form or Walk, not Learning\(alpha=0\.3, .*\)\.",
    ),
    "an open league of neighbours": (
        lambda: OpenLeague(NEAR, LEAGUE, None, OPEN),
        "The error of an open league is computed for AllPlayAll, every match rated at once.",
    ),
    "an open league in periods": (
        lambda: OpenLeague(WEEKLY, LEAGUE, None, OPEN),
        "The error of an open league is computed for AllPlayAll, every match rated at once.",
    ),
    "an open league of unequal spreads": (
        lambda: OpenLeague(SYSTEM, kn.Normal([4.0, 7.0], [0.5, 2.0]), None, OPEN),
        "The error of an open league is computed for one common sigma, not for unequal ones.",
    ),
    "two ways to say how noisy ratings are": (
        lambda: kn.theory.recover_strength(TANH, [4.0, 7.0, 9.0], 1.0, gamma=0.05, rating_variance=0.1),
        "gamma and rating_variance both say how noisy the ratings are; give one of them.",
    ),
    "ratings of nobody": (
        lambda: kn.theory.recover_strength(TANH, [4.0, 7.0, 90.0], 1.0, gamma=0.05),
        r"ratings: no strengths can produce them, because .*team 2.* would never lose to any other team; accepted are "
        r"gaps of less than about [\d.]+ rating points\.",
    ),
    "all of them": (
        lambda: kn.relaxation(SYSTEM, LEAGUE).matches_per_team(tolerance=1.0),
        "tolerance must lie between 0 and 1, not 1.",
    ),
    "a slope of equals": (
        lambda: unbiased_gamma(TANH, kn.Normal([7.0, 7.0, 7.0], 1.0)),
        "All teams have the same mean strength, so no step size changes the slope of their ratings.",
    ),
}  # fmt: skip

UNSETTLED = {
    "what is never found": (
        lambda: fixed_point(lambda point: (point + 1.0, 0.25, None), np.zeros(2), most=7),
        "An iteration did not settle: after 7 steps it still changes by 0.25.",
    ),
    "ratings that do not follow a walk": (
        lambda: error_curve(SYSTEM, LEAGUE, kn.model.Walk(0.1))(0.0),
        "Ratings that do not move lose a random walk out of sight: gamma must exceed 0.",
    ),
    "strengths that spread": (
        lambda: kn.theory.strength_profile(TANH, kn.model.Learning(alpha=0.25, beta=0.5, diffusion=0.125)),
        f"Strengths that learn with alpha = 0.25, beta = 0.5, diffusion = 0.125 spread for ever: {SETTLES}",
    ),
    "strengths that run away": (
        lambda: kn.theory.strength_profile(TANH, kn.model.Learning(alpha=0.25, beta=0.5)),
        f"Strengths that learn with alpha = 0.25, beta = 0.5, diffusion = 0 spread for ever: {SETTLES}",
    ),
    "strengths that collapse": (
        lambda: kn.theory.strength_profile(TANH, kn.model.Learning(alpha=0.5, beta=0.25)),
        f"Strengths that learn with alpha = 0.5, beta = 0.25, diffusion = 0 collapse to one point: {SETTLES}",
    ),
    "strengths that stay as they are": (
        lambda: kn.theory.strength_profile(TANH, kn.model.Learning(alpha=0.5, beta=0.5)),
        f"Strengths that learn with alpha = 0.5, beta = 0.5, diffusion = 0 do not settle at one spread: {SETTLES}",
    ),
    "tails without end": (
        lambda: _on_grid(None, 1e9, 0.5), "The strength profile has tails too long to be resolved on a grid.",
    ),
    "a newcomer out of sight": (
        lambda: kn.theory.newcomer(kn.RatingSystem(TANH, gamma=0.4), LEAGUE, theta=3000.0, start=1.0).settles_at,
        "No rating holds a newcomer so far from the league: results there do not change with the rating.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_what_is_wrong(case):
    check_refusal(CASES[case])


@pytest.mark.parametrize("case", UNSETTLED)
def test_what_does_not_settle_is_said(case):
    check_refusal(UNSETTLED[case], NoStationaryState)


def test_as_many_opponents_as_there_are_and_almost_all_of_a_gap_are_accepted():
    assert kn.farming(SYSTEM, LEAGUE, team=1, opponents=2).team == "team 1"
    slowest = kn.relaxation(SYSTEM, LEAGUE)
    assert slowest.matches_per_team(tolerance=0.999) < 0.01 * slowest.matches_per_team(tolerance=0.01)


def test_ratings_that_keep_changing_whom_they_meet_are_said_to_reach_no_equilibrium():
    """By how much they still drift differs between processors: they never rest."""
    seven = kn.Normal([-1.9, -1.1, -0.2, 0.3, 0.9, 1.7, 2.6], sigma=[0.3, 0.2, 0.5, 0.4, 0.3, 0.6, 0.25])
    words = (
        r"The ratings reach no equilibrium from this start: they still drift by 0\.0\d+ per match where pairs of teams "
        r"enter and leave the pairing; a smoothed pairing or another start may have one\."
    )
    with pytest.raises(NoStationaryState, match=f"^{words}$"):
        kn.stationary(kn.RatingSystem(kn.Tanh(0.6), pairing=kn.model.LooseWindow(1.3, 0.2)), seven)
