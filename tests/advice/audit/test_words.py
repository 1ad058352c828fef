"""Every line of an audit, word for word, from numbers made up for it: all different, each direction once."""

from types import SimpleNamespace

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice.audit.alike import Measured, OpponentsFound
from kinelo.advice.audit.backtest import Difference, KBacktest
from kinelo.advice.audit.findings import Advice, HistoryPeriod, Home, SystemComparison, advise
from kinelo.advice.audit.gaps import Band
from kinelo.advice.audit.in_use import OtherSystem
from kinelo.advice.audit.inflation import RatingInflation, Shift
from kinelo.advice.audit.inputs import Misrated, RatingsInUse, only_side
from kinelo.advice.audit.outlook import Outlook, StartRemedy
from kinelo.advice.audit.performance import Performance
from kinelo.advice.audit.verdict import lead_of, other_words
from kinelo.advice.audit.words import change, gain_words, performance_words, rows_of, sections_of


def prediction(k, error, luck, newcomers, log_loss, slope=0.97):
    return SimpleNamespace(k=k, error=error, luck=luck, newcomers=newcomers, log_loss=log_loss, slope=slope)


class League:
    """As many matches as said, between sides whose names do not matter."""

    def __init__(self, neutral=(False, True), headers=("home", "away"), matches=1000, sides=20):
        self.neutral, self.side_headers, self.size, self.teams = np.array(neutral), headers, matches, ("",) * sides

    def __len__(self):
        return self.size


def outlook(k=15.0, low=12.0, high=19.0, gain=0.0031, past=9.0, future=9.5, known=8.0, remedies=()):
    return Outlook(k, low, high, 1200, gain, past, future, known, remedies)


def opponents(correlation=0.07, share=0.93, needed=140.0):
    found = Measured(141.0, 6.0), Measured(correlation, 0.02), Measured(share, 0.03)
    return OpponentsFound(*found, 88.0, needed, 61.0, today=None)


def band(underrated, error, slope=1.0, slope_error=0.1):
    return Band(0.0, 100, underrated, error, slope, slope_error)


def entering(level, error):
    """A league whose newcomers lie at a level with a standard error, None where there are none."""
    errors = {} if error is None else {"newcomer_level": error}
    found = SimpleNamespace(newcomer_spread=88.0, newcomer_level=level)
    return SimpleNamespace(ties=0.5, parameters=found, standard_errors=errors)


def case(**changes):
    """Findings of a league in which everything is another number."""
    found = SimpleNamespace(
        in_use=SimpleNamespace(name="K = 32", rater=SimpleNamespace(initial=1400.0, start=None)), k=32.0, other=None,
        ratings=None, outlook=outlook(), moves=True, inflation=None, opponents=opponents(), k_in_order=None, groups=(),
        extract=None,
        advice=Advice(15.0, 12.0, 19.0, agree=True, telling=True),
        curve=SimpleNamespace(best=SimpleNamespace(k=9.0), low=7.0, high=11.0),
        measured=SimpleNamespace(
            k=np.array([2.0, 64.0]), interval=(17.0, 30.0), best=22.0,
            at=lambda k: {9.0: 0.6135, 22.0: 0.61, 15.0: 0.611}[k],
        ),
        periods=(
            HistoryPeriod("2001-01-01", "2005-12-31", 400, 13.0, 24.0, 18.0, 33.0),
            HistoryPeriod("2006-01-01", "2009-12-31", 410, 2.0, 64.0, 40.0, 70.0),
        ),
        spread=141.0, step=7.25, rate=0.02,
        league=entering(-41.0, 6.0), matches=League(),
        home=Home(in_use=55.0, first=71.0, today=43.0, gain=0.0012),
        now=prediction(32.0, 1600.0, 400.0, 160.0, 0.6021), best=prediction(15.0, 900.0, 90.0, -5.0, 0.5987),
        memory=26.4, newcomer_matches=17.0,
        misrated=(Misrated("Ash", 180.0, 150.0, 30.0, 14.0), Misrated("Bix", -120.0, -99.0, -21.0, 9.0)),
        slope=(0.8, 0.05), tested=SystemComparison(Difference(0.01, 0.004, 0.016), None, None),
        bands=(band(-14.0, 6.0), band(3.0, 5.0), band(37.0, 8.0)),
    )  # fmt: skip
    return SimpleNamespace(**(vars(found) | changes))


def line(name, **changes):
    return dict(rows_of(case(**changes)))[name]


def test_the_k_of_theory_and_of_the_backtest_stand_under_their_own_names():
    first, unit = line("Which K").splitlines()
    assert first == "by theory 9 (7 to 11), by backtest 22 (17 to 30; theory's K loses 0.00350 against it)"
    # With draws there is more than one K; without, no word of it.
    assert unit == (
        "K is that of steps K (result - expected points), with expected points 1/(1 + 10^(-gap/400)) and a draw as half"
    )
    undrawn = entering(-41.0, 6.0)
    undrawn.ties = 0.0
    assert line("Which K", league=undrawn) == first
    surest = line("Which K", tested=BETTER).splitlines()[1]
    assert surest == "the surest step is to K = 25, which lowers the log-loss by 0.0031 (0.0004 to 0.0060)"


def test_every_line_stands_under_one_heading():
    found = case()
    sections = sections_of(found)
    assert sorted(row for _, rows in sections for row in rows) == sorted(rows_of(found))
    assert [heading for heading, _ in sections] == ["Which K", "The league", "Ratings", "Sides and forecasts"]
    assert [name for name, _ in dict(sections)["Ratings"]] == ["Ratings at K = 32", "Ratings at K = 15", "Lag"]


def test_opponents_with_what_ratings_show_of_the_differences():
    assert line("Opponents") == (
        "correlation of their strengths 0.07 (0.03 to 0.11): they are hardly chosen by strength; ratings show 93 % (87 "
        "to 99) of the true differences after 88 matches of a side"
    )
    ladder = opponents(0.89, 0.13, 2216.0)
    assert line("Opponents", opponents=ladder) == (
        "correlation of their strengths 0.89 (0.85 to 0.93): like meets like; ratings show 13 % (7 to 19) of the true "
        "differences after 88 matches of a side; from a common start nine tenths take about 2,300 matches of a side\n"
        "Among opponents as alike as these the true differences may be larger than found, up to twice: where strengths "
        "move, pairing follows them, and results alone do not show it. The interval of the strengths' spread allows "
        "for that"
    )
    spread, (low, high) = ladder.spread, ladder.spread_range
    assert low == spread.low and high == 2 * spread.high and ladder.to_dict()["spread"]["high"] == high
    assert line("Strengths", opponents=ladder).startswith(f"lie ± 141 points apart ({low:.0f} to {high:.0f}) and move")
    assert opponents(0.75, 0.13, 2216.0).spread_range == (spread.low, spread.high)
    assert ladder.at_least and not opponents(0.75, 0.13, 2216.0).at_least
    endless = line("Opponents", opponents=opponents(0.75, 0.13, float("inf")))
    assert endless.endswith("nine tenths take more than 100,000 matches of a side")


def test_where_like_meets_like_the_remedy_comes_first_and_nothing_contradicts_it():
    ladder = opponents(0.89, 0.13, 2216.0)
    found = case(opponents=ladder, tested=NONE, periods=QUIET)
    said = lead_of(found)
    assert said.verdict.startswith(
        "Opponents are alike (correlation 0.89), and ratings that began alike show only 13 % of the true differences "
        "after 88 matches of a side; nine tenths would take about 2,300 matches of a side. No K mends that: start from "
    )
    assert said.answer.startswith("K = 32 is probably too large")
    rows = dict(rows_of(found))
    # Even matches say nothing of who is rated too high across the league, nor of where newcomers lie.
    assert "Strong and weak sides" not in rows and "newcomers" not in rows["Strengths"]
    assert rows["Newcomers"] == "enter at one rating and meet their like, so that their ratings hardly leave it"
    # Nor of how far ratings are off, which the model of K would say: it takes pairing for random.
    assert rows["Ratings at K = 32"] == f"expected log-loss {found.now.log_loss:.4f}"
    assert rows["Lag"].endswith("of the side, if its opponents stay where they are")
    # Alike, but ratings show it: nothing leads.
    shown = lead_of(case(opponents=opponents(0.89, 0.92), tested=NONE, periods=QUIET))
    assert shown.before == "" and shown.verdict.startswith("K = 32 is probably")


def test_strengths_with_the_matches_in_which_half_of_a_lead_is_lost():
    # e^{-0.02 n} = 1/2 at n = 34.66, within the 100 matches of a side.
    assert line("Strengths") == (
        "lie ± 141 points apart and move by ± 7.2 from one match of a side to its next; half of a lead is lost within "
        "35 matches; newcomers lie 41 ± 6 points below the mean of the league and differ by ± 88"
    )
    assert "half of a lead" not in line("Strengths", rate=0.0)
    assert "half of a lead" not in line("Strengths", matches=League(matches=300))
    assert line("Strengths", moves=False).startswith("lie ± 141 points apart and show no movement beyond chance; ")


def test_newcomers_lie_above_or_below_the_mean_only_beyond_chance():
    said = [
        line("Strengths", league=entering(level, error)).split("; ")[-1]
        for level, error in ((41.0, 6.0), (9.0, 6.0), (0.0, None))
    ]
    assert said == [
        "newcomers lie 41 ± 6 points above the mean of the league and differ by ± 88",
        "newcomers differ by ± 88 about the mean of the league (± 6)",
        "at first sides differed by ± 88",
    ]


def test_the_home_advantage_of_today_at_first_and_in_use():
    # κ = 1/2: chances 1, κ, 1 over their sum, so a fifth of the matches of equals are drawn.
    assert line("Venue and draws") == (
        "playing at home is worth 43 points today, 71 at first; forecasts add 55, and following it lowers the "
        "log-loss by 0.0012 by theory; equal sides draw 20 % of their matches"
    )
    little = Home(in_use=55.0, first=71.0, today=43.0, gain=0.0001)
    assert line("Venue and draws", home=little).startswith("playing at home is worth 43 points; forecasts add 55; ")
    assert line("Venue and draws", matches=League((True, True))) == "no home; equal sides draw 20 % of their matches"


@pytest.mark.parametrize(
    ("header", "words"),
    [("White", "having White"), ("model_a", "being named first (model_a)"), ("HomeTeam", "playing at home")],
)
def test_sides_are_called_what_the_file_calls_them(header, words):
    assert line("Venue and draws", matches=League(headers=(header, "…"))).startswith(f"{words} is worth 43 points")


def test_errors_are_roots_and_their_parts_shares_of_the_square():
    assert line("Ratings at K = 32") == (
        "off by ± 40 points; the squared error is 25 % luck of results, 10 % unknown starts and 65 % lag; "
        "expected log-loss 0.6021"
    )
    assert line("Ratings at K = 15") == (
        "off by ± 30 points; the squared error is 10 % luck of results, 0 % unknown starts and 90 % lag; "
        "expected log-loss 0.5987"
    )


def test_lag_and_newcomers():
    assert line("Lag") == "a rating has followed 63 % of a change of strength after 26 matches of the side"
    assert line("Newcomers").startswith("right after about 17 matches")
    assert line("Newcomers", newcomer_matches=0.5) == "start no further off than ratings usually are"


def test_best_and_worst_are_too_high_or_too_low():
    assert line("Best and worst").splitlines() == [
        "Ash: rated +180, strength +150 ± 14, so 30 too high",
        "Bix: rated -120, strength -99 ± 9, so 21 too low",
    ]
    unsure = Misrated("Cob", 90.0, 70.0, 20.0, 10.5)
    assert line("Best and worst", misrated=(unsure,) * 2).splitlines()[0].endswith("± 10, so right within chance")


@pytest.mark.parametrize(
    ("slope", "kind"),
    [((0.8, 0.05), "too bold"), ((1.3, 0.1), "too timid"), ((0.95, 0.03), "calibrated"), ((1.05, 0.03), "calibrated")],
)
def test_forecasts_are_bold_where_results_follow_them_less(slope, kind):
    assert line("Forecasts", slope=slope) == (
        f"log-loss 0.6210 on the later half at K = 32; {kind}: slope of results on forecasts {slope[0]:.3f} ± "
        f"{slope[1]:.3f} (theory 0.970)"
    )


def test_the_best_fifth_is_the_last_and_a_positive_number_is_underrated():
    assert line("Strong and weak sides").splitlines() == [
        "the best fifth is underrated by 37 ± 8 points",
        "the weakest fifth is overrated by 14 ± 6 points",
    ]
    assert line("Strong and weak sides", bands=(band(1.0, 1.0),)).startswith("too few matches")
    assert line("Strong and weak sides", bands=(band(3.0, 15.0), band(-30.0, 14.0))).splitlines() == [
        "the best fifth is overrated by 30 ± 14 points",
        "the weakest fifth is rated right within chance (± 15 points)",
    ]


def test_a_table_in_use_with_the_share_that_its_deviations_explain():
    found = RatingsInUse(
        12, 0.83, 46.0, 4.0, (Misrated("Cay", 60.0, 91.0, -31.0, 9.0), Misrated("Dor", -50.0, -62.0, 12.0, 8.0))
    )
    first, *extremes = line("The table in use", ratings=found).splitlines()
    assert first == (
        "12 sides compared: off by ± 46 points, slope on strengths 0.83; stated deviations explain 25 % of the squared "
        "errors"
    )
    assert extremes == [
        "Cay: rated +60, strength +91 ± 9, so 31 too low",
        "Dor: rated -50, strength -62 ± 8, so right within chance",
    ]


@pytest.mark.parametrize(
    ("gap", "way"),
    [
        (Difference(-0.004, -0.007, -0.001), "better than"),
        (Difference(0.004, 0.001, 0.007), "worse than"),
        (Difference(0.004, -0.001, 0.009), "neither better nor worse, beyond chance, than"),
        (Difference(-0.004, -0.009, 0.001), "neither better nor worse, beyond chance, than"),
    ],
)
def test_another_system_is_better_where_it_loses_less(gap, way):
    other = OtherSystem("Glicko", 21.0, 0.613 + gap.mean, 0.613, gap, (0.9, 0.04), (band(-5.0, 2.0), band(9.0, 3.0)))
    assert other_words(other) == (
        f"Glicko forecasts this league {way} Elo at its best K, 21: log-loss {0.613 + gap.mean:.4f} against 0.6130 on "
        f"the later half, a difference of {gap.mean:+.4f} ({gap.low:+.4f} to {gap.high:+.4f})."
    )
    name, words = rows_of(case(other=other))[0]
    assert name == "Glicko" and words == (
        "slope of results on its forecasts 0.900 ± 0.040; the best fifth is underrated by 9 ± 3 points; the weakest "
        "fifth is overrated by 5 ± 2 points"
    )


def test_what_line_ups_tell_of_the_best_and_the_weakest_fifth():
    found = Performance(63.0, 41.0, 80.0, 0.013, 1250, {})
    both = SimpleNamespace(
        before=(band(-22.0, 7.0, 0.7, 0.06), band(31.0, 9.0, 0.8, 0.05)),
        after=(band(-4.0, 6.0, 0.95, 0.07), band(5.0, 8.0, 1.02, 0.04)),
    )
    assert performance_words(found, both) == [
        "Performances: line-ups move a side by ± 63 points (41 to 80) about its strength, from 1,250 matches; by "
        "chance alone as much in 1.3 % of leagues.",
        "The best fifth: rated too low by +31 ± 9 points, and by +5 ± 8 once strengths are recovered; slope 0.80 ± "
        "0.05, then 1.02 ± 0.04.",
        "The weakest fifth: rated too low by -22 ± 7 points, and by -4 ± 6 once strengths are recovered; slope 0.70 ± "
        "0.06, then 0.95 ± 0.07.",
    ]


def test_a_gain_is_what_the_first_loses_more_than_the_second():
    """Blocks whose losses at K = 10 and K = 40 differ by a known number a match, in the later half alone."""
    sizes = np.full(8, 50.0)
    later = np.repeat([0.0, 1.0], 4)
    blocks = np.stack([30.0 + 0 * later, 30.0 + 2.0 * later])
    found = KBacktest(np.array([10.0, 40.0]), blocks, sizes)
    assert found.difference(40.0, 10.0).mean == pytest.approx(2.0 / 50.0)
    assert found.difference(10.0, 40.0).mean == pytest.approx(-2.0 / 50.0)
    losses = np.full(400, 0.65)
    assert found.against(losses, 10.0).mean == pytest.approx(0.65 - 0.6)
    assert (found.at(10.0), found.at(40.0), found.at(20.0)) == pytest.approx((0.6, 0.64, 0.62))


@pytest.mark.parametrize(
    ("matches", "measured", "telling"),
    [(300, (12.0, 10.0, 16.0), True), (299, (12.0, 10.0, 16.0), False), (2000, (12.0, 3.0, 60.0), False)],
)
def test_few_matches_or_a_wide_interval_tell_no_k(matches, measured, telling):
    curve = SimpleNamespace(best=SimpleNamespace(k=12.0), low=10.0, high=16.0)
    if matches == 2000:
        curve.low, curve.high = 3.0, 60.0
    found = advise(curve, SimpleNamespace(best=measured[0], interval=measured[1:]), matches)
    assert found.telling is telling and found.agree


BETTER = SystemComparison(Difference(0.0051, -0.0003, 0.0102), 25.0, Difference(0.0031, 0.0004, 0.006))
NONE = SystemComparison(Difference(0.0076, -0.0004, 0.015), None, None)


QUIET = (HistoryPeriod("2012-01-01", "2014-12-31", 400, 15.0, 15.0, 11.0, 21.0),)


def verdict(**changes):
    found = case(**({"periods": QUIET} | changes))
    found.curve.at = lambda k: 0.5985
    return lead_of(found).verdict


def test_a_k_outside_of_the_interval_is_probably_wrong_and_one_inside_suits():
    assert verdict(tested=NONE) == (
        "K = 32 is probably too large for this league: the best K is 15 (12 to 19), and moving there lowers the "
        "log-loss by 0.0076 (-0.0004 to 0.0150); these matches cannot prove it."
    )
    assert verdict(tested=NONE, k=7.0).startswith("K = 32 is probably too small for this league: ")
    assert verdict(tested=NONE, k=18.0).startswith("K = 32 suits this league: no K tried")


def test_one_k_one_reason_and_no_caveat_where_none_fits():
    assert verdict(tested=BETTER) == (
        "K = 32 is too large for this league: K = 15 (12 to 19) is best, and lowers the log-loss by 0.0036 by theory "
        "and by 0.0051 (-0.0003 to 0.0102) on the later half of the matches."
    )


def test_an_extract_of_one_side_tells_no_k_of_its_league():
    said = verdict(tested=BETTER, extract="Kern, Ben")
    assert said.startswith('Every match here is one of "Kern, Ben"\'s: its opponents are rated by these matches alone')
    assert "suits" in said and "K = 15" not in said and said.endswith("Give the matches of all sides.")
    # No line below takes it back.
    assert [name for name, _ in rows_of(case(extract="Kern, Ben"))] == ["Venue and draws", "Forecasts"]
    rows = {"home": ["A", "B", "A"], "away": ["B", "A", "C"], "result": [1.0, 0.0, 1.0], "date": ["2020-01-01"] * 3}
    assert only_side(kn.read_matches(rows)) == "A"
    assert only_side(kn.read_matches({**rows, "home": ["A", "C", "B"]})) is None
    # Two sides that meet again and again are a league of two.
    assert only_side(kn.read_matches({**rows, "away": ["B", "A", "B"]})) is None


def test_the_first_caveat_that_fits_is_given_and_no_other():
    wide = Advice(15.0, 4.0, 40.0, agree=True, telling=False)
    moved = (HistoryPeriod("2012-01-01", "2014-12-31", 400, 16.0, 36.0, 28.0, 45.0),)
    split = Advice(15.0, 12.0, 19.0, agree=False, telling=True)
    # 1000 · (log 10 / log 1.5625)² = 26,628 matches.
    few = "The best K is uncertain by a factor 10.0: about 27,000 matches like these would show it to ± 25 %."
    day = "Matches of a day have no order here: were it known, a larger K would be best."
    for changes, caveat in (
        ({"advice": wide, "periods": moved, "k_in_order": 12.0}, few),
        ({"periods": moved, "k_in_order": 12.0}, day),
        (
            {"periods": moved, "k_in_order": 9.2},
            "The best K has moved: since 2012-01-01 the matches want a larger one.",
        ),
        (
            {"advice": Advice(15.0, 10.0, 21.0, agree=True, telling=True)},
            few.replace("10.0", "2.1").replace("27,000", "2,800"),
        ),
        ({}, ""),
    ):
        found = case(**({"periods": QUIET, "tested": NONE} | changes))
        assert lead_of(found).caveat == caveat
    assert lead_of(case(advice=split, tested=NONE, periods=moved)).caveat.startswith(
        "Theory disagrees and would take 9"
    )


def test_the_verdict_is_about_the_matches_to_come_where_the_past_had_to_find_strengths():
    found = outlook(6.0, 4.0, 9.0, past=9.0, future=3.6, known=4.5)
    assert verdict(outlook=found, tested=BETTER, k=12.0) == (
        "K = 32 is too large for the matches to come: from today's ratings on K = 6 (4 to 9) is best, and lowers the "
        "log-loss by 0.0031 by theory. The past wanted more, because every side began at 1400 and ratings had to find "
        "strengths first."
    )
    listed = SimpleNamespace(name="K = 32", rater=SimpleNamespace(initial=1400.0, start={"Ash": 1500.0}))
    said = verdict(outlook=found, tested=BETTER, k=12.0, in_use=listed)
    assert "because sides began off their strengths and ratings had to find strengths first" in said
    assert verdict(outlook=found, tested=BETTER, k=5.0).startswith("K = 32 suits the matches to come: ")
    assert verdict(outlook=found, tested=BETTER, k=3.0).startswith("K = 32 is too small for the matches to come: ")


def test_the_k_of_the_matches_to_come_is_the_one_that_is_said():
    found = outlook(24.0, 20.0, 29.0, past=9.0, future=14.4, known=9.0)
    assert verdict(outlook=found, tested=BETTER) == (
        "K = 32 is too large for the matches to come: from today's ratings on K = 24 (20 to 29) is best, and lowers "
        "the log-loss by 0.0031 by theory."
    )
    assert "is too small for the matches to come" in verdict(outlook=found, tested=BETTER, k=18.0)


@pytest.mark.parametrize(("theory", "moved"), [(16.0, True), (35.0, False)])
def test_the_best_k_has_moved_only_where_theory_does_not_expect_it(theory, moved):
    today = HistoryPeriod("2012-01-01", "2014-12-31", 400, theory, 36.0, 28.0, 45.0)
    said = verdict(tested=NONE, periods=(today,))
    assert ("The best K has moved: since 2012-01-01" in said) == moved


def test_matches_to_come_with_remedies_and_what_they_saved():
    same = line("Matches to come")
    assert same == (
        "want about the K of the past: from today's ratings on theory asks for 9.5 over 1,200 matches, where it asks "
        "for 9 of the past; in 95 % of replays the K that proves best lies between 12 and 19"
    )
    remedies = (StartRemedy("a", Difference(0.002, 0.001, 0.003)), StartRemedy("b", Difference(-0.001, -0.004, 0.002)))
    found = outlook(6.0, 4.0, 9.0, past=9.0, future=3.6, known=4.5, remedies=remedies)
    assert line("Matches to come", outlook=found).splitlines() == [
        "from today's ratings on K = 6 (4 to 9) is best over 1,200 matches, and lowers the log-loss by 0.0031 by "
        "theory",
        "Against K = 32, a lowers the log-loss by 0.0020 (0.0010 to 0.0030) on the later half;",
        "b raises the log-loss by 0.0010 (-0.0020 to 0.0040) on the later half",
        "If these matches are a part of an older league, give the ratings at their beginning (start=)",
    ]


def test_no_change_has_no_bounds_of_nothing():
    assert change(Difference(0.0, -0.00001, 0.00002)) == "leaves the log-loss as it is"
    assert change(Difference(0.00001, -0.00004, 0.0003)) == "leaves the log-loss as it is (0.0000 to 0.0003)"


def inflated(per_year, start=None, returning=None, entries=31.0, exits=-12.0):
    shifts = (None if one is None else Shift(*one, 40) for one in (per_year, start, returning))
    rate, first, back = shifts
    return RatingInflation(rate, 4.0, first, 1500.0, back, entries, exits)


def test_a_rating_is_worth_less_after_inflation_and_more_after_deflation():
    found = inflated((20.0, 5.0), start=(1375.0, 20.0), returning=(-33.0, 11.0))
    assert line("Inflation", inflation=found).splitlines() == [
        "a rating is worth less than it was: against their strengths, ratings of those who play changed by 20 (10 to "
        "30) points a year",
        "newcomers should start at 1375 (1336 to 1414), not at 1500",
        "sides that come back after a season or more should start 33 ± 11 points lower than they left",
        "per active side entries bring 31 and exits take 12 points a year",
    ]
    deflated = inflated((-20.0, 5.0), start=(1625.0, 20.0), returning=(33.0, 11.0), entries=-31.0, exits=12.0)
    said = line("Inflation", inflation=deflated)
    assert "a rating is worth more than it was" in said and "changed by -20 (-30 to -10) points" in said
    assert "start at 1625 (1586 to 1664), not at 1500" in said and "33 ± 11 points higher" in said
    assert "entries take 31 and exits bring 12" in said


def test_within_chance_nothing_is_called_inflation_nor_a_wrong_start():
    found = inflated((6.0, 5.0), start=(1475.0, 20.0), returning=(20.0, 11.0))
    assert line("Inflation", inflation=found).splitlines() == [
        "a rating is worth what it was, within chance: against their strengths, ratings of those who play changed by "
        "6 (-4 to 16) points a year",
        "newcomers start where they should: at 1500, where 1475 (1436 to 1514) is right",
    ]
    assert line("Inflation", inflation=inflated(None)).startswith("too few sides play")
    assert "Inflation" not in dict(rows_of(case()))


def test_the_best_k_stands_with_what_moving_there_buys():
    curve = SimpleNamespace(best=SimpleNamespace(k=9.0), low=7.0, high=11.0, at=lambda k: {15.0: 0.5987}[k])
    tested = SystemComparison(Difference(-0.0045, -0.009, 0.001), None, None)
    assert gain_words(case(curve=curve, tested=tested, outlook=SimpleNamespace(differs=False))) == (
        "Best K = 15",
        "(95 %: 12 to 19; 9 by theory, 22 by backtest). Moving there from 32 takes the error of a rating from ± 40 to "
        "± 30 points; by theory it lowers the log-loss by 0.0034, and on the later half of the matches it raises the "
        "log-loss by 0.0045 (-0.0010 to 0.0090).",
    )
    # Where like meets like the model of K knows too little of errors.
    ladder, as_before = opponents(0.89, 0.13, 2216.0), SimpleNamespace(differs=False)
    assert gain_words(case(curve=curve, tested=tested, outlook=as_before, opponents=ladder))[1] == (
        "(95 %: 12 to 19; 9 by theory, 22 by backtest). By theory 15 lowers the log-loss by 0.0034, and on the later "
        "half of the matches it raises the log-loss by 0.0045 (-0.0010 to 0.0090)."
    )
    later = SimpleNamespace(differs=True, k=5.4, low=4.1, high=7.7)
    best, words = gain_words(case(curve=curve, outlook=later))
    assert best == "Best K from today on = 5.4"
    assert words.startswith("(95 %: 4.1 to 7.7). The matches of the past wanted K = 15 (95 %: 12 to 19; 9 by theory")
    assert "K = 15 would have taken the error of a rating from ± 40 to ± 30 points" in words
