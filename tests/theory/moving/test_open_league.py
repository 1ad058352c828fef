"""An open league: the error of all who play, newcomers counted, and the step that suits them, as leagues show it."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.model import Field, Form, Learning, Rounds, Turnover, Walk
from kinelo.theory.moving.open_league import OpenLeague

HALF = kn.Tanh(0.5)
KINDS = {
    "rest": (None, kn.Fixed(np.linspace(0.0, 3.0, 9)), Turnover(0.02, [5.5, 6.0, 7.5, 8.5], 6.2), None),
    "varying": (
        None,
        kn.Normal(np.linspace(0.0, 3.0, 11), 1.0),
        Turnover(0.01, [0.0, 1.0, 2.0, 4.0], 1.5),
        None,
    ),
    "form": (
        Form(0.02, 0.8),
        kn.Normal(np.linspace(0.0, 3.0, 13), 0.4),
        Turnover(0.01, [0.0, 3.0], 1.5),
        None,
    ),
    "walk": (
        Walk(0.06),
        kn.Fixed(np.linspace(0.0, 1.0, 12)),
        Turnover(0.01, [-1.0, 0.0, 0.5, 2.0], 0.4),
        None,
    ),
    "field": (
        None,
        kn.Fixed(np.linspace(0.0, 1.0, 12)),
        Turnover(0.02, [5.5, 6.0, 7.5, 8.5], 6.9),
        Field(4),
    ),
}


def played(system, league, dynamics, start):
    """Errors of 60 leagues, each about its mean, after a third of the matches; half a second."""
    sides, teams = system.sides, league.teams
    run = kn.simulate(
        system, league, steps=90 * 25, matches_per_step=max(1, teams // sides), realisations=60, seed=4,
        record_every=25, dynamics=dynamics, start=np.full(teams, start),
    )  # fmt: skip
    gaps = (run.rating.values - run.strength.values)[:, 30:]
    return gaps.var(axis=2, ddof=1).mean(axis=1)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.long if kind in ("rest", "varying") else []) for kind in KINDS]
)
def test_the_best_step_is_best_as_played_and_every_door_names_it(kind):
    moving, league, turnover, schedule = KINDS[kind]
    dynamics = turnover if moving is None else (moving, turnover)
    system = kn.RatingSystem(HALF, gamma=0.1, schedule=schedule)
    best = kn.best_gamma(system, league, dynamics)
    verdict = kn.diagnose(system, league, dynamics)
    for door in (verdict.motion.best, kn.best_gamma(HALF, league, dynamics, schedule=schedule)):
        assert (door.gamma, door.error) == pytest.approx((best.gamma, best.error), rel=1e-9)
    row = dict(verdict.rows())["Best step size"]
    assert f"γ = {best.gamma:.4g} " in row and row.endswith(f"mean square error {best.error:.4g}, newcomers counted")
    theory, errors = OpenLeague(system, league, moving, turnover), []
    for factor in (0.4, 1.0, 2.5):
        said = theory(factor * best.gamma).parts.total
        other = kn.RatingSystem(HALF, gamma=factor * best.gamma, schedule=schedule)
        errors.append(played(other, league, dynamics, turnover.start))
        doubt = errors[-1].std(ddof=1) / np.sqrt(errors[-1].size)
        # Four standard errors (a false alarm in 10,000); large steps are less normal.
        about = 4 * doubt + (0.03 if factor <= 1 else 0.06) * said
        assert said == pytest.approx(errors[-1].mean(), abs=about), factor
    assert best.error == pytest.approx(theory(best.gamma).parts.total, rel=1e-9)
    assert verdict.error.total == pytest.approx(theory(0.1).parts.total, rel=1e-9)
    low, middle, high = (one.mean() for one in errors)
    assert middle < 0.93 * min(low, high)


def test_design_names_the_best_step_of_those_who_come():
    moving, league, turnover, _ = KINDS["form"]
    systems = [kn.RatingSystem(HALF, gamma=gamma) for gamma in (0.05, 0.25)]
    found = kn.design(league, (moving, turnover), systems, matches=200, realisations=4, check=True)
    best = kn.best_gamma(HALF, league, (moving, turnover))
    assert found.best.gamma == best.gamma and f"the best constant step is γ = {best.gamma:.3g}" in found.verdict
    assert [one.name[0] for one in found.systems] == ["2", "1"] and all(one.check.agrees for one in found.systems)
    # Contests have a step of their own, here too.
    fields = [kn.RatingSystem(HALF, gamma=gamma, schedule=Field(4)) for gamma in (0.1, 0.4)]
    contests = kn.design(league, turnover, fields, matches=30, realisations=2).best
    alone = kn.best_gamma(HALF, league, turnover)
    assert contests.gamma == kn.best_gamma(fields[0], league, turnover).gamma > 1.2 * alone.gamma


def test_a_league_that_hardly_anyone_leaves_is_a_closed_one():
    """As departures become rare the error is that of a closed league whose strengths are the pool's."""
    pool = np.array([0.0, 0.0, 1.0, 3.0])
    league, form = kn.Normal(np.tile(pool, 100), 0.7), Form(0.05, 0.6)
    system = kn.RatingSystem(HALF, gamma=0.1)
    rare = OpenLeague(system, league, form, Turnover(1e-7, pool, 1.0))(0.1)
    closed = kn.tracking(system, league, form)
    assert rare.moments.error == pytest.approx(closed.E * 399 / 400, rel=0.005)
    assert pytest.approx(closed.V * 399 / 400, rel=0.005) == rare.moments.V
    # Its bias is what performances that vary cost ratings that have settled; form's share of it counts as lag.
    still = kn.stationary(kn.RatingSystem(HALF), league)
    assert rare.parts.bias == pytest.approx(np.var(still.bias), rel=0.02)
    assert rare.parts.noise > 0 and rare.parts.lag > 0


def test_nobody_rated_yet_is_off_by_the_whole_spread_and_equals_need_no_steps():
    pool = [1.0, 2.0, 6.0]
    league = OpenLeague(kn.RatingSystem(HALF), kn.Fixed(np.zeros(30)), None, Turnover(0.02, pool, 2.5))
    assert league(0.0).parts.total == pytest.approx(np.var(pool), rel=1e-6)
    equals = kn.best_gamma(HALF, kn.Fixed(np.zeros(8)), Turnover(0.02, 4.0, 4.0))
    assert equals.gamma == 0
    rows = dict(kn.diagnose(HALF, kn.Fixed(np.zeros(8)), Turnover(0.02, 4.0, 4.0)).rows())
    assert "there is nothing to follow" in rows["Best step size"]
    # More strengths than are taken one by one lie in groups.
    league = kn.Fixed(np.zeros(30))
    few, many = (kn.best_gamma(HALF, league, Turnover(0.02, np.linspace(0, 5, size), 2.0)) for size in (60, 61))
    assert many.gamma == pytest.approx(few.gamma, rel=0.003) and many.error == pytest.approx(few.error, rel=0.003)


@pytest.mark.parametrize(
    ("system", "league", "dynamics", "words"),
    [
        (HALF, kn.Fixed([0.0, 1.0]), Turnover(0.1, 0.0, 0.0, "weakest"), "leave at \"random\""),
        (HALF, kn.Fixed([0.0, 1.0]), (Learning(0.5), Turnover(0.1, 0.0, 0.0)), "at rest, with Form or Walk"),
        (kn.RatingSystem(HALF, schedule=Rounds()), kn.Fixed([0.0, 1.0]), Turnover(0.1, 0.0, 0.0), "every match"),
        (HALF, kn.Normal([0.0, 1.0], [1.0, 2.0]), Turnover(0.1, 0.0, 0.0), "one common sigma"),
    ],
)  # fmt: skip
def test_open_leagues_without_a_theory_are_refused_in_words(system, league, dynamics, words):
    with pytest.raises(kn.InputError, match=words):
        kn.best_gamma(system, league, dynamics)
