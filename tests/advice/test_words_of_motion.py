"""What is said of motion, of tables and of chosen opponents, word by word: every number another, thresholds crossed."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.advice.farming_log import FarmingLog, farming_table
from kinelo.advice.motion import MotionFacts, drift_notes, motion_rows
from kinelo.advice.results import Cycle, ResultsDiagnosis

FORM, WALK, LEARNING = kn.model.Form(0.01, 1.0), kn.model.Walk(0.1), kn.model.Learning(0.5, diffusion=0.5)


def tracking(dynamics, drift=0.0):
    moments = SimpleNamespace(rating_slope=0.81234, forecast_slope=0.92345, V=1.5241)
    return SimpleNamespace(dynamics=dynamics, drift=drift, moments=moments, to_dict=lambda: {"E": 1.5})


def facts(**parts):
    names = ("tracking", "followed", "best", "rounds", "deviations", "inflation")
    return MotionFacts(**(dict.fromkeys(names) | parts))


def test_strengths_that_are_followed_are_told_with_their_spread_and_slopes():
    said = "± 1.23; slope of ratings on {0} 0.812, of {0} on ratings 0.923"
    for motion, what in ((FORM, "strengths"), (WALK, "strengths of the day")):
        rows = motion_rows(facts(tracking=tracking(motion)))
        assert rows == [("Following strengths", f"{what} spread by {said.format(what)}")]
    other = SimpleNamespace(rating_slope=0.5, forecast_slope=0.25, V=4.0)
    assert motion_rows(facts(tracking=tracking(FORM), followed=other)) == [
        (
            "Following strengths",
            "strengths spread by ± 2; slope of ratings on strengths 0.500, of strengths on ratings 0.250",
        )
    ]
    learnt = facts(tracking=tracking(LEARNING, drift=0.01234567))
    assert motion_rows(learnt, "contest")[1] == (
        "Common learning", "strengths leave the mean rating behind by 0.01235 per contest",
    )  # fmt: skip
    kept = "ratings after a {} if ratings are to keep up with learning: points that are only passed on cannot show it."
    assert drift_notes(learnt) == [f"Add 0.0123 to both {kept.format('match')}"]
    assert drift_notes(learnt, "contest") == [f"Add 0.0123 to all {kept.format('contest')}"]
    assert drift_notes(facts(tracking=tracking(LEARNING))) == [] == drift_notes(None) == motion_rows(None)
    assert len(motion_rows(facts(tracking=tracking(LEARNING)))) == 1


def test_the_best_step_is_told_with_its_error():
    best, none = SimpleNamespace(gamma=0.123456, error=0.54321), SimpleNamespace(gamma=0.0, error=0.54321)
    inflation = SimpleNamespace(rating=0.0, strength=0.0, excess=0.0)

    def said(**parts):
        unit = parts.pop("unit", "match")
        return dict(motion_rows(facts(**parts), unit)).get("Best step size")

    follows = "γ = 0.1235 (K = 0.2469) follows best, with mean square error 0.5432"
    assert said(tracking=tracking(FORM), best=best) == follows
    assert said(tracking=tracking(FORM), best=best, inflation=inflation) == f"{follows}, newcomers counted"
    assert said(best=best, inflation=inflation) == f"{follows}, newcomers counted"
    assert said(best=best) is None and said(tracking=tracking(FORM)) is None
    assert said(tracking=tracking(FORM), best=none) == (
        "the smaller the better: form changes too fast to be followed (mean square error 0.5432)"
    )
    assert said(best=none, inflation=inflation) == (
        "the smaller the better: there is nothing to follow (mean square error 0.5432)"
    )
    assert said(inflation=inflation) == (
        "not computed, because what newcomers add to the error is not; kn.design plays it"
    )
    for unit, many in (("match", "matches"), ("contest", "contests")):
        assert said(tracking=tracking(LEARNING), best=best, unit=unit) == (
            "none to choose: γ is also the pace at which teams learn. The mean square error is 0.5432 at γ = 0.123, "
            f"and takes 1/γ as many {many} to reach"
        )


def test_rounds_deviations_and_open_leagues_are_told_with_their_numbers():
    rounds = SimpleNamespace(critical=0.654321, fastest=0.321987, bound=0.456789)
    assert motion_rows(facts(rounds=rounds)) == [
        ("Whole rounds", "unstable from γ = 0.6543, fastest at 0.322, safe from any start below 0.4568")
    ]
    assert facts(rounds=rounds).to_dict() == {"rounds": {"critical": 0.654321, "fastest": 0.321987}}
    for speed, travels in ((2e-2, True), (-2e-2, True), (0.0, False)):
        settled = SimpleNamespace(deviation=np.array([0.75, 0.543216, 0.987654]), slope=1.23456, travel_speed=speed)
        travel = f"; all ratings travel by {speed:+.3g} per match" if travels else ""
        assert motion_rows(facts(deviations=settled)) == [
            ("Deviations", f"RD settles between 0.5432 and 0.9877{travel}")
        ]
        assert (
            drift_notes(facts(deviations=settled))
            == ["Re-centre ratings now and then: with deviations this lopsided league's whole scale travels."] * travels
        )
        assert facts(deviations=settled).to_dict() == {
            "deviations": {"smallest": 0.543216, "largest": 0.987654, "slope": 1.23456, "travel_speed": speed}
        }
    for excess, kind, target in (
        (0.012345, "inflation by 0.0123", "lower"), (-0.012345, "deflation by 0.0123", "higher"),
        (0.0, "no inflation", None),
    ):  # fmt: skip
        open_ = SimpleNamespace(rating=0.02345, strength=-0.01234, excess=excess)
        assert dict(motion_rows(facts(inflation=open_), "contest"))["Open league"] == (
            f"mean rating +0.0234, mean strength -0.0123 per contest of a team: {kind}"
        )
        notes = [f"Let newcomers start {target}, or re-centre: the open league's ratings drift against strengths."]
        assert drift_notes(facts(inflation=open_)) == (notes if target else [])


# Who chose opponents


def farming(rows):
    names = ("name", "matches", "gained", "error", "low", "high")
    return FarmingLog(pl.DataFrame(dict(zip(names, map(list, zip(*rows))))), 24.0, 1234)


def test_who_gained_by_opponents_is_named_the_largest_gain_first():
    rows = [("A", 1300.0, 12.4, 3.0, 6.5, 18.3), ("B", 40.0, 50.6, 9.0, 33.0, 68.2), ("C", 40.0, 30.2, 9.0, 12.6, 47.8),
            ("D", 40.0, 20.0, 9.0, 2.4, 37.6), ("E", 40.0, 60.0, 40.0, -18.4, 138.4)]  # fmt: skip
    assert farming(rows).verdict == (
        "4 sides of 5 gained by opponents that were rated above their strengths, where 0.1 would by chance: B +51 "
        "(33 to 68), C +30 (13 to 48), D +20 (2 to 38) points, against the schedule that they could have had."
    )
    assert farming(rows[:1]).verdict.startswith(
        "1 side of 1 gained by opponents that were rated above their strengths, "
    )
    assert farming(rows[4:]).verdict == "Nobody gained by the choice of opponents, beyond chance."
    shown = farming_table(farming(rows), top=2)
    assert shown.title == "Points gained by the choice of opponents, K = 24"
    assert shown.cells() == [["A", "1,300", "+12", "6 to 18"], ["B", "40", "+51", "33 to 68"]]
    assert farming(rows).to_dict()["matches"] == 1234


# Tables


def table(**more):
    unexplained = np.zeros((3, 3))
    unexplained[1, 2], unexplained[2, 1] = 0.123, -0.123
    parts = {
        "system": None, "names": ("A", "B", "C"), "rating": np.array([0.5, -1.25, 0.75]), "unexplained": unexplained,
        "explained": 0.9214, "cycle": Cycle(("B", "C", "A"), 0.0567, True), "lowest": np.array([0.4, -2.345, 0.7]),
        "highest": np.array([0.6, 1.234, 0.8]), "games": 1234.0, "by_luck": 0.012,
    } | more  # fmt: skip
    return ResultsDiagnosis(**parts)


def test_a_table_is_told_with_what_ratings_cannot_show():
    rows = dict(table().rows())
    assert rows["Where ratings end"] == "C: +0.75\nA: +0.5\nB: -1.25"
    assert rows["What they cannot show"] == (
        "0.079 of the squared results; most: B scores +0.12 points per match more against C"
    )
    assert rows["Strongest cycle"] == "B over C over A over B: +0.06 points per match each"
    assert rows["Who plays whom"] == "B is rated -2.35 to +1.23 by meeting one opponent"
    assert rows["Luck"].startswith("leaves as much in 1") and rows["Luck"].endswith("of leagues")
    assert table()._title() == "What ratings make of a table of 3 teams"
    first, second = table().advice
    assert first.startswith(
        "Ratings leave 7.9 % of the squared results unexplained: one number per team cannot show it."
    )
    assert first.endswith(" of leagues.") and "Luck alone leaves as much in 1" in first
    assert second == "B beats C, C beats A, and A beats B: ratings depend on who meets whom."
    assert len(table(cycle=Cycle(("B", "C", "A"), 0.0567, False)).advice) == 1
    assert table(by_luck=None, games=None, cycle=None).advice == (
        "Ratings leave 7.9 % of the squared results unexplained: one number per team cannot show it.",
    )
    assert "Strongest cycle" not in dict(table(cycle=None).rows())
    exact = dict(table(by_luck=None, games=None).rows())
    assert exact["Luck"] == "the table is taken as exact; give games= to hear what luck does"
    assert dict(table(explained=1.0).rows())["What they cannot show"] == "nothing"
    assert table(explained=1.0).advice == ("Ratings show everything: results follow one order of strength.",)
    same = dict(table(lowest=np.ones(3), highest=np.ones(3)).rows())
    assert same["Who plays whom"] == "does not matter: ratings are the same"
    never = dict(table(highest=np.array([0.6, np.inf, 0.8])).rows())
    assert never["Who plays whom"] == "without end: B meets an opponent that it always beats, or never"
    luck = table(by_luck=0.4)
    assert luck.advice == (
        "No cycle is more than luck can make: of leagues whose results follow the ratings, 40 % leave as much "
        "unexplained after 1,234 games.",
    )
    assert repr(luck) == f"ResultsDiagnosis: {luck.advice[0]}"


def test_of_many_teams_the_first_are_shown():
    size = 30
    many = table(names=tuple(f"t{k}" for k in range(size)), rating=np.arange(size, dtype=float),
                 unexplained=np.zeros((size, size)), lowest=np.zeros(size), highest=np.ones(size))  # fmt: skip
    shown = dict(many.rows())["Where ratings end"].split("\n")
    assert shown[0] == "t29: +29" and shown[-1] == f"and {size - len(shown) + 1} more"
    few = table(names=many.names[: len(shown) - 1], rating=many.rating[: len(shown) - 1])
    assert "more" not in dict(few.rows())["Where ratings end"]


def test_a_side_that_lost_everything_is_named():
    lost = kn.model.Results([[0.5, 0.6, 1.0], [0.4, 0.5, 1.0], [0.0, 0.0, 0.5]], names=["A", "B", "C"])
    with pytest.raises(kn.errors.NoStationaryState) as refused:
        kn.diagnose(kn.RatingSystem(kn.Tanh(0.5)), lost)
    assert str(refused.value) == (
        "No ratings balance these results: C won or lost everything against others, so the gap between them has no "
        "size."
    )
