"""Verdicts turn just where they should: the same a millionth to either side of each bound, and on it."""

from types import SimpleNamespace as Facts

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.advice.audit.alike import OpponentsFound
from kinelo.advice.audit.contests import ContestAudit
from kinelo.advice.audit.outlook import Outlook
from kinelo.advice.audit.recursion import advise
from kinelo.advice.audit.words import _inflates, _starts_right, better, change, interval, lasts
from kinelo.advice.changeover import Changeover, _reason
from kinelo.advice.check import Quantity
from kinelo.advice.motion import drift_notes
from kinelo.advice.remedy import _falls, _search, _worth
from kinelo.advice.results import ResultsDiagnosis
from kinelo.advice.words import Gain, _farming, _scale
from kinelo.model.dynamics import Form, Walk
from kinelo.theory.caveats import caveats_of
from kinelo.theory.moving.following import Parts
from kinelo.theory.teams import teams_of

TANH = kn.Tanh(0.5)
SEVEN = teams_of(kn.Fixed([-2.0, -1.0, -0.4, 0.1, 0.6, 1.1, 1.6]))


def opponents(verdict, **numbers):
    facts = {"luck": 1.0, "correlation": Facts(low=0.5, high=0.6), "share_shown": Facts(high=0.5), "alike": True}
    return getattr(OpponentsFound, verdict).fget(Facts(**{**facts, **numbers}))


def results(explained, by_luck=None):
    return ResultsDiagnosis.beyond_luck.fget(Facts(explained=explained, by_luck=by_luck))


def reason(z=0.0, move=3.0, idle=0, played=99):
    return _reason({}, move, 0.2, z, played, idle).split()[0]


def changeover(gain, error):
    table = pl.DataFrame({"name": ["Ann", "Bob", "Cid"], "move": [3.0, -1.0, -2.0]})
    facts = Facts(table=table, old="a", new="b", spreads=(1.0, 2.0), gain=gain, gain_error=error, titles=())
    return "cannot tell" in Changeover.verdict.fget(facts)


def outlook(gain=0.01, high=30.0, low=10.0, k=40.0):
    ahead = Facts(gain=gain, high=high, low=low, k=20.0, past=20.0, future=20.0, differs=False)
    audit = Facts(
        outlook=ahead, k=k, opponents=Facts(alike=False), advice=Facts(k=20.0, agree=False), like_meets_like=False
    )
    return lasts(audit)


def told(matches=1000, low=10.0, high=30.0):
    return advise(None, Facts(interval=(low, high), best=20.0, k=np.array([1.0, 100.0])), matches).telling


def finds(past, known_starts=1.0, future=10.0):
    return Outlook.finding_strengths.fget(Facts(differs=True, future=future, past=past, known_starts=known_starts))


def scale(slope, small=0.9):
    facts = Facts(slope=slope, shrinkage=1 - slope, slope_of_small_steps=small, dynamics=None, learns=False)
    return _scale(facts)


def caveats(gamma=0.01, teams=SEVEN, dynamics=None, variance=None, **other):
    asked = kn.RatingSystem(TANH, gamma=gamma, **other)
    found = caveats_of(asked, teams, "independent", gamma, dynamics=dynamics, variance=variance)
    return [one.reason for one in found]


def spread(scale):
    """Seven teams whose strengths vary by ν²V = ``scale``, V being that of a sample."""
    unit = SEVEN.theta - SEVEN.theta.mean()
    return teams_of(kn.Fixed(unit * np.sqrt(scale / 0.25 / unit.var(ddof=1))))


def turnover(excess):
    return len(drift_notes(Facts(tracking=None, deviations=None, inflation=Facts(excess=excess))))


def travels(speed):
    return len(drift_notes(Facts(tracking=None, deviations=Facts(travel_speed=speed), inflation=None)))


def falls(bias):
    return "bias" in _falls(Parts(1.0 - bias, 0.0, bias), Parts(0.5, 0.0, 0.0))


@pytest.mark.parametrize(
    ("verdict", "bound", "below", "at", "above"),
    [
        (lambda x: Quantity("E", 1.0, 1.0 + 0.5 * x, 0.5).agrees, 4.0, True, True, False),
        (lambda x: Quantity("E", 1.0 - x, 1.0, 1e-9).agrees, 0.02, True, None, False),
        (lambda x: Quantity("E", 100.0 - x, 100.0, 1e-9).agrees, 2.0, True, True, False),
        (lambda x: results(1 - x), 1e-9, False, None, True),
        (lambda x: results(0.8, x), 0.05, True, False, False),
        (lambda x: reason(z=x), 2.0, "no", "scored", "scored"),
        (lambda x: reason(z=-x, move=-3.0), 2.0, "no", "scored", "scored"),
        (lambda x: reason(z=x, move=-3.0), 2.0, "no", "no", "no"),
        (lambda x: changeover(x, 0.5), 1.0, True, True, False),
        (lambda x: changeover(-x, 0.5), 1.0, True, True, False),
        (lambda x: _worth(1.0 + x, 1.0, 1.0), 0.05 / 0.95, False, None, True),
        (lambda x: _worth(1.0 + x, 1.0, 20.0), 0.2, False, None, True),
        (falls, 0.02, False, False, True),
        (lambda x: opponents("follows_results", luck=x), 1.8, False, False, True),
        (lambda x: opponents("alike", correlation=Facts(low=x, high=0.9)), 0.3, False, False, True),
        (lambda x: opponents("told", correlation=Facts(low=-0.5, high=x - 0.5)), 1.0, True, False, False),
        (lambda x: opponents("hidden", share_shown=Facts(high=x)), 0.8, True, False, False),
        (lambda x: ContestAudit.like_meets_like.fget(Facts(alike=Facts(low=x))), 0.3, False, False, True),
        (lambda x: ContestAudit.moves.fget(Facts(walk=Facts(mean=x, error=0.5))), 2.5, False, False, True),
        (lambda x: "less" in interval(Facts(k=20.0, low=1.0, high=x)), 16.0, False, False, True),
        (lambda x: _starts_right(Facts(low=1490.0, high=1500.0 + x), 1500.0), 40.0, True, False, False),
        (lambda x: _starts_right(Facts(low=1500.0 - x, high=1510.0), 1500.0), 40.0, True, False, False),
        (lambda x: _inflates(Facts(mean=-x, beyond_chance=True)), 3.0, False, True, True),
        (lambda x: _inflates(Facts(mean=x, beyond_chance=False)), 3.0, False, False, False),
        (lambda x: change(-x).split()[0], 0.00005, "leaves", "raises", "raises"),
        (lambda x: better(x).split()[0], 0.00005, "leaves", "gives", "gives"),
        (lambda x: outlook(gain=x), 0.002, False, False, True),
        (lambda x: outlook(high=x), 40.0, True, False, False),
        (lambda x: outlook(low=x, k=10.0), 10.0, False, False, True),
        (lambda x: told(low=10.0, high=x), 40.0, True, False, False),
        (lambda x: finds(x), 10.0, False, False, True),
        (lambda x: finds(12.5, known_starts=x), 10.0, True, False, False),
        (lambda x: scale(1 - x).split()[0], 0.01, "as", None, "shrunken"),
        (lambda x: scale(1 + x).split()[0], 0.01, "as", None, "stretched"),
        (lambda x: "by itself" in scale(0.9, 1 + x), 0.01, False, None, True),
        (lambda x: turnover(-x), 1e-9, 0, 0, 1),
        (lambda x: travels(-x), 1e-9, 0, 0, 1),
        (lambda x: "large steps" in caveats(x), 0.2, False, False, True),
        (lambda x: "large batches" in caveats(x / 4, schedule=kn.model.Period(4)), 1.0, False, False, True),
        (lambda x: "large batches" in caveats(x / 6, schedule=kn.model.Rounds()), 1.0, False, None, True),
        (lambda x: "slow form" in caveats(dynamics=Form(x, 1.0)), 0.01, True, False, False),
        (lambda x: "slow form" in caveats(dynamics=Form(0.001, 2 * np.sqrt(x))), 0.05, False, None, True),
        (lambda x: "wide walk" in caveats(teams=spread(x), dynamics=Walk(0.1)), 0.25, False, None, True),
        (
            lambda x: "noise fills the window"
            in caveats(pairing=kn.model.Window(2.0), variance=np.full(7, x**2 / 2)),
            1.0, False, None, True,
        ),
    ],
)  # fmt: skip
def test_a_verdict_turns_at_its_bound(verdict, bound, below, at, above):
    assert (verdict(bound * (1 - 1e-6)), verdict(bound * (1 + 1e-6))) == (below, above)
    assert at is None or verdict(bound) == at


def test_a_league_of_fewer_than_five_teams_is_small():
    found = [caveats(teams=teams_of(kn.Fixed(np.arange(float(count))))) for count in (4, 5)]
    assert ["few teams" in one for one in found] == [True, False]


def test_a_k_is_told_by_three_hundred_matches():
    assert [told(count) for count in (299, 300)] == [False, True]


def test_a_side_that_moves_for_no_other_cause_has_been_idle_or_is_new():
    assert [reason(idle=days) for days in (365, 366)] == ["no", "has"]
    assert [reason(played=count) for count in (9, 10)] == ["has", "no"]


@pytest.mark.parametrize(
    ("error", "best", "least"),
    [
        (lambda x: x, 0.0, 2.0**-12),
        (lambda x: 1 / x, 2.0**12, 2.0**-12),
        (lambda x: (np.log2(x) - 1.3) ** 2 + 2, 2**1.3, 2.0),
        (lambda x: (np.log2(x) + 2.2) ** 2 + 3, 2**-2.2, 3.0),
    ],
)
def test_steps_are_searched_by_halves_and_doubles_and_refined(error, best, least):
    found = _search(lambda factor: Parts(error(factor), 0.0, 0.0))
    assert found == pytest.approx((best, least), rel=1e-9)


def test_a_choice_of_opponents_pays_by_a_number_without_end_or_nothing():
    words = [_farming(Gain("Ann", "Bob", *points)) for points in ((0.0, 0.0), (1.5, 0.75), (np.inf, np.nan))]
    assert [one.split(":")[0] for one in words] == ["gains nothing", "pays Ann most", "pays Ann without end"]
    assert "+1.5 if it meets only Bob" in words[1] and "+0.75 once" in words[1] and "always beats Bob" in words[2]
