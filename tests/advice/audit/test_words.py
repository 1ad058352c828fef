"""Every line of an audit, word for word, from numbers made up for it: all different, each direction once."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice.audit.alike import OpponentsFound, Range
from kinelo.advice.audit.audit import HistoryPeriod, Home
from kinelo.advice.audit.backtest import Difference, KBacktest
from kinelo.advice.audit.contests import LuckLevel
from kinelo.advice.audit.gaps import Band
from kinelo.advice.audit.in_use import OtherSystem
from kinelo.advice.audit.inflation import GroupFound, RatingInflation, Shift
from kinelo.advice.audit.inputs import Misrated, RatingsInUse, only_side
from kinelo.advice.audit.outlook import FirstSteps, Outlook
from kinelo.advice.audit.performance import Performance
from kinelo.advice.audit.recursion import Advice, advise
from kinelo.advice.audit.verdict import AuditReport, contest_lead, lead_of, other_words
from kinelo.advice.audit.words import (
    LOG_LOSS,
    NOTHING_TO_DO,
    advised,
    ahead,
    better,
    change,
    contest_findings,
    contest_rows,
    findings_of,
    gain_words,
    lasts,
    rows_of,
    to_do,
)


def prediction(k, error, log_loss, slope=0.97):
    return SimpleNamespace(k=k, error=error, log_loss=log_loss, slope=slope)


class League:
    """As many matches as said, between sides whose names do not matter."""

    def __init__(self, neutral=(False, True), headers=("home", "away"), matches=1000, sides=20):
        self.neutral, self.side_headers, self.size, self.teams = np.array(neutral), headers, matches, ("",) * sides

    def __len__(self):
        return self.size


def outlook(k=15.0, low=12.0, high=19.0, gain=0.0031, past=9.0, future=9.5, known=8.0):
    return Outlook(k, low, high, 1200, gain, past, future, known)


def opponents(correlation=0.07, share=0.93, luck=0.4):
    return OpponentsFound(
        Range(141.0, 129.0, 153.0), Range(correlation, correlation - 0.04, correlation + 0.03),
        Range(share, share - 0.06, share + 0.05), luck, 88.0, today=None,
    )  # fmt: skip


def band(underrated, error):
    return Band(0.0, 100, underrated, error)


def entering(level, error):
    """A league whose newcomers lie at a level with a standard error, None where there are none."""
    errors = {} if error is None else {"newcomer_level": error}
    found = SimpleNamespace(newcomer_spread=88.0, newcomer_level=level)
    return SimpleNamespace(ties=0.5, parameters=found, standard_errors=errors)


def case(**changes):
    """Findings of a league in which everything is another number."""
    found = SimpleNamespace(
        in_use=SimpleNamespace(name="K = 32", rater=SimpleNamespace(initial=1400.0, start=None)), k=32.0, other=None,
        ratings=None, outlook=outlook(), moves=True, inflation=None, opponents=opponents(), groups=(),
        extract=None, reference=None, performance=None,
        advice=Advice(15.0, 12.0, 19.0, agree=True, telling=True),
        curve=SimpleNamespace(best=SimpleNamespace(k=9.0), low=7.0, high=11.0),
        measured=SimpleNamespace(
            k=np.array([2.0, 64.0]), interval=(17.0, 30.0), best=22.0,
            difference=lambda one, other: Difference(0.001, -0.001 if one < 50.0 else 0.0005, 0.003),
            at=lambda k: {9.0: 0.6135, 22.0: 0.61, 15.0: 0.611}[k],
        ),
        periods=(
            HistoryPeriod("2001-01-01", "2005-12-31", 400, 13.0, 24.0, 18.0, 33.0),
            HistoryPeriod("2006-01-01", "2009-12-31", 410, 2.0, 64.0, 40.0, 70.0),
        ),
        spread=141.0, step=7.25, rate=0.02,
        league=entering(-41.0, 6.0), matches=League(),
        home=Home(in_use=55.0, today=43.0, gain=0.0012, error=5.0),
        now=prediction(32.0, 1600.0, 0.6021), best=prediction(15.0, 900.0, 0.5987),
        memory=26.4,
        misrated=(Misrated("Ash", 180.0, 150.0, 30.0, 14.0), Misrated("Bix", -120.0, -99.0, -21.0, 9.0)),
        slope=(0.8, 0.05), tested=Difference(0.01, -0.004, 0.024),
        bands=(band(-14.0, 6.0), band(3.0, 5.0), band(37.0, 8.0)),
    )  # fmt: skip
    return SimpleNamespace(**(vars(found) | changes))


TRIED = np.array([2.0, 10.0, 80.0])


def line(name, **changes):
    return dict(rows_of(case(**changes)))[name]


def test_the_k_of_theory_and_of_the_backtest_stand_under_their_own_names():
    first, unit = line("Which K").splitlines()
    assert first == "by theory 9 (7 to 11), by backtest 22 (17 to 30)"
    # With draws there is more than one K; without, no word of it.
    assert unit == (
        "K is that of steps K (result - expected points), with expected points 1/(1 + 10^(-gap/400)) and a draw as half"
    )
    undrawn = entering(-41.0, 6.0)
    undrawn.ties = 0.0
    assert line("Which K", league=undrawn) == first
    alone = line("Which K", league=undrawn, opponents=opponents(0.89)).splitlines()[1]
    assert alone == "opponents are alike, which theory does not know: the backtest alone advises"


def test_findings_come_first_and_all_that_they_rest_on_below():
    def sections(**changes):
        found = case(**changes)
        found.findings, found.rows = findings_of(found), lambda: rows_of(found)
        return found, AuditReport.sections(found)

    found, ((first, findings), (how, rows)) = sections(inflation=inflated((20.0, 5.0)))
    assert (first, how) == ("What to do", "How we know") and rows == rows_of(found)
    assert findings == [(str(n), f"{one.words} {one.advice}") for n, one in enumerate(findings_of(found), 1)]
    # Where nothing is to be done, that is said; of an extract nothing is.
    _, ((first, findings), _) = sections(home=Home(44.0, 43.0, 0.0012), k=18.0)
    assert findings == to_do([]) == [("Nothing", "no change is shown to make forecasts better")] == [NOTHING_TO_DO]
    assert [heading for heading, _ in sections(extract="Ash")[1]] == ["How we know"]


def test_what_to_do_begins_with_the_k_where_it_is_clear():
    worse = Difference(0.001, 0.0001, 0.002)
    quiet = {"home": Home(44.0, 43.0, 0.0), "periods": QUIET, "tested": worse}
    assert [one[:3] for one in findings_of(case(**quiet))] == [("K", "K = 32 is too large.", "Take K = 15 (12 to 19).")]
    assert findings_of(case(**quiet, k=7.0))[0].words == "K = 32 is too small."
    assert findings_of(case(**quiet, k=None))[0].words == "K = 32 forecasts worse than one K for all."
    assert findings_of(case(**(quiet | {"tested": NONE}), k=18.0)) == []
    wide = Advice(4.0, 0.0, 9.0, agree=True, telling=False)
    assert findings_of(case(**quiet, advice=wide, outlook=outlook(4.0, 2.0, 9.0)))[0].advice == "Take K = 9 or less."
    # About the matches to come where they want another one; a K that suits them is left alone.
    coming = outlook(6.0, 4.0, 9.0, past=9.0, future=3.6, known=4.5)
    assert findings_of(case(**quiet, outlook=coming, k=12.0))[0].advice == "Take K = 6 (4 to 9)."
    assert findings_of(case(**quiet, outlook=coming, k=5.0)) == []
    for gap, said in ((Difference(0.004, 0.001, 0.007), ["Take Elo with K = 21."]), (NONE, [])):
        other = OtherSystem("Glicko", 21.0, 0.613, 0.609, gap, (0.9, 0.04), ())
        assert [one.advice for one in findings_of(case(**quiet, other=other))] == said
    # It is no news beside itself.
    assert lead_of(case(**quiet)).before == ""


def test_opponents_with_what_ratings_show_of_the_differences():
    assert line("Opponents") == (
        "correlation of their strengths 0.07 (0.03 to 0.10): not clearly chosen by strength; ratings show 93 % (87 to "
        "98) of the differences after 88 matches of a side"
    )
    ladder = opponents(0.89, 0.13, 2.4)
    assert line("Opponents", opponents=ladder) == (
        "correlation of their strengths 0.89 (0.85 to 0.92): like meets like; ratings show 13 % (7 to 18) of the "
        "differences after 88 matches of a side\n"
        "who meets whom may follow results: intervals hold both answers"
    )
    wide = replace(ladder, share_shown=Range(0.87, 0.32, 1.4))
    assert line("Opponents", opponents=wide).startswith(
        "correlation of their strengths 0.89 (0.85 to 0.92): like meets like\nwho meets"
    )
    unknown = OpponentsFound(
        Range(60.0, 10.0, 90.0), Range(0.0, -0.995, 0.995), Range(1.0, 0.001, 2.0), 0.0, 88.0, today=None
    )
    assert (
        not unknown.told
        and not unknown.alike
        and line("Opponents", opponents=unknown)
        == ("these matches do not show how alike they are, nor how much of the differences ratings show")
    )
    assert ladder.hidden and not opponents(0.33, 0.13).alike and opponents(0.35, 0.13).alike
    assert not opponents(0.89, 0.76).hidden and opponents(0.89, 0.74).hidden


def test_where_like_meets_like_what_ratings_hide_comes_first_and_nothing_contradicts_it():
    ladder = opponents(0.89, 0.13)
    found = case(opponents=ladder, tested=NONE, periods=QUIET)
    said = lead_of(found)
    assert said.before == (
        "Opponents are alike, and ratings show only 13 % (7 to 18) of the real differences between sides."
    )
    # Theory knows too little of the matches to come, and the later half alone proves nothing.
    assert said.answer.startswith("K = 32 is not clearly wrong for this league")
    assert findings_of(found)[0].advice == (
        "Begin anew from ratings that follow from all matches together: kinelo rate RESULTS --rater kalman --out "
        "start.csv writes them; rate the matches to come with --start start.csv."
    )
    rows = dict(rows_of(found))
    # Even matches say nothing of who is rated too high across the league, nor theory of the matches to come.
    assert "Strong and weak sides" not in rows and "Matches to come" not in rows
    # Nor of how far ratings are off, which the model of K would say: it takes pairing for random.
    assert "Ratings" not in rows
    # Alike, but ratings show it: nothing leads.
    shown = lead_of(case(opponents=opponents(0.89, 0.92), tested=NONE, periods=QUIET))
    assert shown.before == "" and shown.verdict.startswith("K = 32 is not clearly")


def test_strengths_that_move_and_how_far_they_lie_apart_where_matches_show_it():
    assert line("Strengths") == ("lie ± 141 (129 to 153) points apart and move from match to match")
    assert line("Strengths", moves=False) == "lie ± 141 (129 to 153) points apart and show no movement beyond chance"
    unknown = OpponentsFound(
        Range(60.0, 10.0, 90.0), Range(0.0, -0.6, 0.6), Range(1.0, 0.1, 2.0), 0.0, 88.0, today=None
    )
    assert line("Strengths", opponents=unknown) == (
        "move from match to match; how far they lie apart these matches do not show"
    )


def test_the_home_advantage_of_today_and_in_use():
    # κ = 1/2: chances 1, κ, 1 over their sum, so a fifth of the matches of equals are drawn.
    assert line("Venue and draws") == (
        "playing at home is worth 43 ± 5 points; forecasts add 55; equal sides draw 20 % of their matches"
    )
    assert findings_of(case(k=18.0))[0][:3] == (
        "home", "Playing at home is worth 43 points today; the system adds 55.", "Add 43."
    )  # fmt: skip
    # What was estimated because nothing was given is nothing that the system adds.
    estimated = Home(55.0, 43.0, 0.0012, given=False)
    for quiet in (Home(55.0, 43.0, 0.0001), Home(46.0, 43.0, 0.0012), Home(55.0, 43.0, 0.0012, 6.1), estimated):
        assert findings_of(case(home=quiet, k=18.0)) == []
    assert line("Venue and draws", matches=League((True, True))) == "no home; equal sides draw 20 % of their matches"


@pytest.mark.parametrize(
    ("header", "words"),
    [("White", "having White"), ("model_a", "being named first (model_a)"), ("HomeTeam", "playing at home")],
)
def test_sides_are_called_what_the_file_calls_them(header, words):
    assert line("Venue and draws", matches=League(headers=(header, "…"))).startswith(f"{words} is worth 43 ± 5 points")


def test_errors_are_roots_of_squares():
    assert line("Ratings") == "off by ± 40 points at K = 32; off by ± 30 points at K = 15"
    # Theory takes pairing for random.
    assert "Ratings" not in dict(rows_of(case(opponents=opponents(luck=1.9))))
    assert "Ratings" in dict(rows_of(case(opponents=opponents(luck=1.7))))


def test_best_and_worst_are_too_high_or_too_low():
    assert line("Best and worst").splitlines() == [
        "Ash, rated +180: too high",
        "Bix, rated -120: too low",
    ]
    unsure = Misrated("Cob", 90.0, 70.0, 20.0, 10.5)
    assert line("Best and worst", misrated=(unsure,) * 2).splitlines()[0].endswith(": right within chance")


@pytest.mark.parametrize(
    ("slope", "kind"),
    [
        ((0.8, 0.05), "too bold"),
        ((1.3, 0.1), "too timid"),
        ((0.95, 0.03), "not clearly too bold or too timid"),
        ((1.05, 0.03), "not clearly too bold or too timid"),
    ],
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


def test_of_a_table_in_use_both_ends_are_told():
    ends = Misrated("Cay", 60.0, 91.0, -31.0, 9.0), Misrated("Dor", -50.0, -62.0, 12.0, 8.0)
    assert line("The table in use", ratings=RatingsInUse(12, ends)).splitlines() == [
        "12 sides compared",
        "Cay, rated +60: too low",
        "Dor, rated -50: right within chance",
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
    sign = -np.sign(gap.mean)
    percents = sorted(100 * sign * np.expm1(-end) for end in (gap.low, gap.high))
    assert other_words(other, "this league") == (
        f"Glicko forecasts this league {way} Elo at its best K, 21: on the later half it gives what happens a 0.40 % "
        f"({percents[0]:z.2f} to {percents[1]:z.2f}) {'higher' if gap.mean < 0 else 'lower'} chance."
    )
    name, words = rows_of(case(other=other))[0]
    assert name == "Glicko" and words == (
        f"log-loss {0.613 + gap.mean:.4f}, 0.6130 of Elo at K = 21: a difference of {gap.mean:+.4f} ({gap.low:+.4f} to "
        f"{gap.high:+.4f}); slope of results on its forecasts 0.900 ± 0.040; the best fifth is underrated by 9 ± 3 "
        "points; the weakest fifth is overrated by 5 ± 2 points"
    )


def test_what_line_ups_tell():
    found = Performance(63.0, 41.0, 80.0, 0.013, 1250, {})
    said = "line-ups move a side by 41 points or more about its strength, from 1,250 matches"
    assert line("Performances", performance=found) == said
    hidden = "1,250 matches do not show that line-ups move a side"
    assert line("Performances", performance=replace(found, low=0.0)) == hidden


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
    found = advise(curve, SimpleNamespace(best=measured[0], interval=measured[1:], k=TRIED), matches)
    assert found.telling is telling and found.agree


def test_where_opponents_are_alike_the_backtest_alone_advises_and_never_below_what_it_could_test():
    def made(theory, measured, alike):
        curve = SimpleNamespace(best=SimpleNamespace(k=theory[0]), low=theory[1], high=theory[2])
        return advise(curve, SimpleNamespace(best=measured[0], interval=measured[1:], k=TRIED), 2000, alike)

    both, alone = (made((10.0, 8.0, 12.0), (14.4, 11.0, 20.0), alike) for alike in (False, True))
    assert both.k == pytest.approx(12.0) and (alone.k, alone.low, alone.high) == (14.4, 11.0, 20.0)
    # The interval ends where the K that were tried do: nothing is said of smaller ones, and none is advised.
    for alike in (False, True):
        open_below = made((0.02, 0.01, 9.0), (2.0, 2.0, 9.0), alike)
        assert (open_below.k, open_below.low) == (2.0, 0.0) and not open_below.telling
    assert made((0.02, 0.01, 9.0), (3.0, 2.5, 9.0), False).low == 2.0


BETTER = Difference(0.0051, 0.0003, 0.0102)
NONE = Difference(0.0076, -0.0004, 0.015)


EARLIER = HistoryPeriod("2009-01-01", "2011-12-31", 400, 15.0, 15.0, 11.0, 21.0)
QUIET = (EARLIER, HistoryPeriod("2012-01-01", "2014-12-31", 400, 15.0, 14.0, 11.0, 21.0))


def verdict(**changes):
    # The home advantage is no news here.
    found = case(**({"periods": QUIET, "home": Home(44.0, 43.0, 0.0)} | changes))
    return lead_of(found).verdict


def test_a_k_outside_of_the_interval_is_probably_wrong_and_one_inside_is_not_clearly_so():
    assert verdict(tested=NONE) == (
        "K = 32 is probably too large for this league: K = 15 (12 to 19) is best. On the later half of the matches, "
        "K = 15 gives what happens a 0.76 % (-0.04 to 1.51) higher chance: these matches cannot prove it."
    )
    assert verdict(tested=NONE, k=7.0).startswith("K = 32 is probably too small for this league: ")
    assert verdict(tested=NONE, k=18.0) == (
        "K = 32 is not clearly wrong for this league: no K forecasts better beyond chance. On the later half of the "
        "matches, K = 15 gives what happens a 0.76 % (-0.04 to 1.51) higher chance; K = 15 (12 to 19) is best."
    )


def test_one_k_one_reason_and_no_caveat_where_none_fits():
    assert verdict(tested=BETTER) == (
        "K = 32 is too large for this league: K = 15 (12 to 19) is best. On the later half of the matches, K = 15 "
        "gives what happens a 0.51 % (0.03 to 1.03) higher chance; by theory a rating is then off by ± 30 points "
        "instead of ± 40."
    )
    assert lead_of(case(tested=BETTER, periods=QUIET)).k == 15.0 and lead_of(case(tested=NONE, k=18.0)).k == 18.0


def test_a_k_is_wrong_only_where_zero_lies_outside_of_what_moving_there_buys():
    for low, said in ((0.0002, "K = 32 is too large"), (-0.0002, "K = 32 is probably too large")):
        assert verdict(tested=Difference(0.001, low, 0.0023)).startswith(said)


def test_a_best_k_that_these_matches_cannot_tell_is_not_called_best():
    wide = Advice(44.0, 4.38, 44.0, agree=True, telling=False)
    said = verdict(advice=wide, tested=Difference(0.003, 0.001, 0.005), outlook=outlook(50.0, 36.0, 60.0))
    assert said.startswith("K = 32 is too small for this league: all K from 4.38 to 44 may be right.")
    assert "is best" not in said
    assert ": all K up to 44 may be right" in verdict(advice=replace(wide, low=0.0), tested=NONE)
    assert verdict(advice=wide, tested=NONE).startswith(
        "1,000 matches cannot tell which K is best: all K from 4.38 to 44 may be right, and K = 32 forecasts no worse "
        "beyond chance."
    )
    for k in (4.37, 44.1):
        assert "may be right, but K = 32 forecasts no worse" in verdict(advice=wide, tested=NONE, k=k)
    assert "may be right, and K = 32 forecasts no worse" in verdict(advice=wide, tested=NONE, k=None)


def test_the_most_useful_finding_stands_above_k():
    juniors = GroupFound("juniors", 8, None, None, None, Shift(-140.0, 15.0, 8))
    found = case(groups=(juniors,), reference="adults", tested=NONE, periods=QUIET, k=18.0)
    # Eight of twenty sides: 140 √0.4 = 89 points, more than the home advantage is off.
    first, second = findings_of(found)
    assert first[:3] == (
        "group bias",
        "Sides of group juniors are rated 140 points too low (111 to 169), next to group adults.",
        "Move their ratings up once.",
    )
    assert first.weight == pytest.approx(140 * np.sqrt(0.4)) and second.kind == "home"
    assert lead_of(found).verdict.startswith(f"{first.words} K = 32 is not clearly wrong for this league")
    growing = GroupFound("juniors", 8, Shift(1260.0, 9.0, 8), Shift(50.0, 9.0, 8), None, Shift(-140.0, 15.0, 8))
    bias, start = findings_of(case(groups=(growing,)))[:2]
    assert bias[1:3] == (
        "Sides of group juniors are rated 140 points too low (111 to 169), next to all sides: they grew stronger by "
        "50 (32 to 68) points a year.",
        "Move their ratings up once.",
    )
    # Growth that is chance, or none of that way, explains nothing.
    for gain in (Shift(17.0, 9.0, 8), Shift(-50.0, 9.0, 8)):
        other = replace(growing, gain=gain)
        assert findings_of(case(groups=(other,)))[0].words.endswith(", next to all sides.")
    above = replace(growing, gain=Shift(-50.0, 9.0, 8), bias=Shift(140.0, 15.0, 8))
    assert findings_of(case(groups=(above,)))[0].words == (
        "Sides of group juniors are rated 140 points too high (111 to 169), next to all sides: they grew weaker by "
        "50 (32 to 68) points a year."
    )
    assert start[:3] == (
        "group start",
        "Newcomers of group juniors are weaker than the 1400 at which they start.",
        "Let them start at 1260 (1242 to 1278).",
    )
    # Where newcomers of a group belong says more than where all do.
    both = [one.kind for one in findings_of(case(groups=(growing,), inflation=inflated(None, start=(1260.0, 9.0))))]
    assert both.count("group start") == 1 and "start" not in both
    # Others are held against the reference, and a start within chance is none to change.
    near = GroupFound("juniors", 8, Shift(1390.0, 9.0, 8), None, None, None)
    assert [one.kind for one in findings_of(case(groups=(growing,), reference="juniors", k=18.0))] == [
        "group bias",
        "home",
    ]
    assert [one.kind for one in findings_of(case(groups=(near,), k=18.0))] == ["home"]
    within = GroupFound("juniors", 8, None, Shift(-50.0, 9.0, 8), None, Shift(-14.0, 15.0, 8))
    assert findings_of(case(groups=(within,), k=18.0))[0].kind == "home"


def test_what_was_best_is_advised_only_where_the_matches_to_come_want_it_too():
    """Of K = 32, where the past wanted 15 (12 to 19), and of K = 8."""
    for k, way, ends, saved, lasting in (
        (32.0, "large", (24.0, 31.9), 0.0021, True),
        (32.0, "large", (24.0, 31.9), 0.0019, False),
        (32.0, "large", (24.0, 32.1), 0.0021, False),
        (32.0, "large", (33.0, 40.0), 0.0021, False),  # the other way
        (8.0, "small", (8.1, 12.0), 0.0021, True),
        (8.0, "small", (8.1, 12.0), 0.0019, False),
        (8.0, "small", (7.9, 12.0), 0.0021, False),
        (8.0, "small", (4.0, 7.0), 0.0021, False),
    ):
        system = SimpleNamespace(name=f"K = {k:g}", rater=SimpleNamespace(initial=1400.0, start=None))
        found = case(k=k, in_use=system, tested=BETTER, outlook=outlook(28.0, *ends, saved))
        assert lasts(found) is lasting
        kinds, lead = [one.kind for one in findings_of(found)], lead_of(found)
        if lasting:
            assert "K" in kinds and lead.k == 15.0
            assert lead.answer == f"K = {k:g} is too {way} for this league: K = 15 (12 to 19) is best."
        else:
            assert "K" not in kinds and lead.k == k
            assert (
                lead.answer == f"K = {k:g} was too {way} on the later half of the matches: K = 15 (12 to 19) was best."
            )
            assert lead.reason.startswith("There K = 15 gives what happens a ")
            assert lead.reason.endswith(". For the matches to come no other K is shown to be better.")
        # What is not proved is probable under the same condition, and nothing is where like meets like.
        unsure = case(k=k, in_use=system, outlook=outlook(28.0, *ends, saved))
        assert ("probably" in lead_of(unsure).answer) is lasting
        alike = case(k=k, in_use=system, tested=BETTER, outlook=outlook(28.0, *ends, saved), opponents=opponents(0.8))
        assert not lasts(alike) and "K" not in [one.kind for one in findings_of(alike)]


def test_of_contests_no_larger_k_is_taken_where_the_best_one_falls_to_that_in_use():
    """The quarters lead from 40 and 24 over 20 to 16, and on to 16 (20 + 16)/(40 + 24) = 9."""
    falling = SimpleNamespace(period=lambda n: ((40.0, 24.0, 20.0, 16.0)[n], 0.0, 0.0))
    for k, lasting in ((8.9, True), (9.1, False), (14.9, False), (15.1, True), (80.0, True), (None, True)):
        found = SimpleNamespace(k=k, measured=falling, advice=case().advice, like_meets_like=False)
        assert lasts(found) is lasting


def test_where_luck_spread_the_ratings_a_k_on_the_way_to_the_best_one_is_taken_first():
    """The best of the past is 15."""
    why = " at first: a smaller one would keep for long what luck made of today's ratings."
    for k, ahead_of, said in (
        (32.0, (28.0, 24.0, 31.9), f"Take K = 28 (24 to 31.9){why}"),
        (32.0, (14.0, 12.0, 19.0), "Take K = 15 (12 to 19)."),  # beyond the best one
        (8.0, (12.0, 9.0, 14.0), "Take K = 15 (12 to 19)."),
    ):
        system = SimpleNamespace(name=f"K = {k:g}", rater=SimpleNamespace(initial=1400.0, start=None))
        found = case(k=k, in_use=system, tested=BETTER, periods=QUIET, outlook=outlook(*ahead_of))
        assert [one.advice for one in findings_of(found) if one.kind == "K"] == [said]
        assert ": K = 15 (12 to 19) is best." in lead_of(found).answer


def test_a_rule_of_k_is_called_worse_where_the_matches_to_come_want_what_the_past_did():
    assert lasts(case(k=None))
    assert not lasts(case(k=None, outlook=outlook(15.0, 12.0, 19.0, past=9.0, future=3.6, known=4.5)))


def test_of_the_matches_to_come_a_k_is_advised_where_it_saves_enough():
    for gain, kinds in ((0.0021, ["K"]), (0.0019, [])):
        found = case(
            outlook=outlook(6.0, 4.0, 9.0, gain, past=9.0, future=3.6, known=4.5), tested=BETTER, periods=QUIET
        )
        assert advised(found) is found.outlook
        assert [one.kind for one in findings_of(found) if one.kind == "K"] == kinds


def test_steps_that_fall_are_another_way_beside_a_better_k():
    steps = FirstSteps(12.0, 90.0, 3.0, Difference(0.002, 0.0005, 0.0035))
    for k, way in ((18.0, "Take"), (32.0, "Or take")):
        found = case(k=k, tested=BETTER if k == 32.0 else NONE, outlook=replace(outlook(), first=steps))
        (said,) = [one for one in findings_of(found) if one.kind == "first steps"]
        assert said.words == ("A larger K for the first matches of a side forecasts better than K = 15 for all.")
        assert said.advice.startswith(f"{way} K = 90 falling to 12, halfway after 3 matches: --k 12 --k-first 90 ")


def test_what_is_probable_is_said_and_nothing_to_do():
    """Of K = 32 and K = 8, where 12 to 19 may be right, and the later half alone proves nothing."""
    for k, way in ((32.0, "large"), (8.0, "small")):
        system = SimpleNamespace(name=f"K = {k:g}", rater=SimpleNamespace(initial=1400.0, start=None))
        found = case(k=k, in_use=system)
        assert lead_of(found).answer == f"K = {k:g} is probably too {way} for this league: K = 15 (12 to 19) is best."
        assert lead_of(found).k == k and "K" not in [one.kind for one in findings_of(found)]
        quiet = {"tested": Difference(-0.001, -0.004, 0.001)}, {"k": 18.0}, {"k": 12.0}, {"k": 19.0}
        assert all("not clearly wrong" in lead_of(case(**({"k": k} | one))).answer for one in quiet)


def test_of_contests_a_k_is_taken_where_it_is_clear_and_fields_are_not_alike():
    system = SimpleNamespace(name="K = 32", rater=SimpleNamespace(initial=1400.0, start=None))
    steady = (20.0, 16.0, 14.0, 15.0)
    for alike, tested, kinds in ((False, BETTER, ["K"]), (True, BETTER, []), (False, NONE, [])):
        found = SimpleNamespace(
            measured=SimpleNamespace(period=lambda n: (steady[n], 0.0, 0.0)), in_use=system, k=32.0,
            advice=case().advice, tested=tested, other=None, like_meets_like=alike, start=None,
            pairs_right=(0.61, 0.64), contests=League(), unfinished=0.0, luck=(),
        )  # fmt: skip
        found.findings = contest_findings(found)
        assert [one.kind for one in found.findings] == kinds
        was = "was too large on the later half of the contests" if alike else "is too large for these contests"
        said = was if tested is BETTER else "is probably too large for these contests"
        assert contest_lead(found).answer.startswith(f"K = 32 {said}: K = 15 (12 to 19) ")


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
    moved = (EARLIER, HistoryPeriod("2012-01-01", "2014-12-31", 400, 16.0, 36.0, 28.0, 45.0))
    split = Advice(15.0, 12.0, 19.0, agree=False, telling=True)
    few = "These matches tell the best K to a factor of 10.0."
    for changes, caveat in (
        ({"advice": wide, "periods": moved}, few),
        ({"periods": moved}, ""),
        ({"advice": Advice(15.0, 10.0, 21.0, agree=True, telling=True)}, few.replace("10.0", "2.1")),
        ({"advice": Advice(2.0, 0.0, 9.0, agree=True, telling=False)}, "These matches show no K that is too small."),
        ({}, ""),
        ({"advice": split, "periods": moved}, "Theory would take K = 9 (7 to 11); the matches decide."),
        (
            {"advice": split, "opponents": opponents(0.8)},
            "Theory would take K = 9 (7 to 11); the matches decide, for opponents are alike.",
        ),
    ):
        found = case(**({"periods": QUIET, "tested": NONE} | changes))
        assert lead_of(found).caveat == caveat


def test_the_verdict_is_about_the_matches_to_come_where_the_past_had_to_find_strengths():
    found = outlook(6.0, 4.0, 9.0, past=9.0, future=3.6, known=4.5)
    clearly = {"periods": (replace(EARLIER, measured=22.0, high=30.0), QUIET[1])}
    assert "every side began" not in verdict(outlook=found, tested=BETTER, k=12.0)
    assert verdict(outlook=found, tested=BETTER, k=12.0, **clearly) == (
        "K = 32 is too large for the matches to come: from today's ratings on K = 6 (4 to 9) is best, and by theory "
        "gives what happens a 0.31 % higher chance. The past wanted more, because every side began at 1400 and ratings "
        "had to find strengths first."
    )
    listed = SimpleNamespace(name="K = 32", rater=SimpleNamespace(initial=1400.0, start={"Ash": 1500.0}))
    said = verdict(outlook=found, tested=BETTER, k=12.0, in_use=listed, **clearly)
    assert "because sides began off their strengths and ratings had to find strengths first" in said
    assert verdict(outlook=found, tested=BETTER, k=5.0) == (
        "K = 32 is not clearly wrong for the matches to come: from today's ratings on K = 6 (4 to 9) is best, and by "
        "theory moving there gives what happens a 0.31 % higher chance."
    )
    assert verdict(outlook=found, tested=BETTER, k=3.0).startswith("K = 32 is too small for the matches to come: ")
    # Where the quarters of the past want more and more, no start-up is named; nor where like meets like, or newcomers
    # start off their strengths or grow.
    rising = (EARLIER, HistoryPeriod("2012-01-01", "2014-12-31", 400, 15.0, 16.0, 11.0, 21.0))
    off, right = inflated(None, start=(1455.0, 2.0)), inflated(None, start=(1493.0, 10.0))
    growing = replace(right, gain=Shift(30.0, 9.0, 40))
    assert "to come" in verdict(outlook=found, tested=BETTER, k=12.0, inflation=right)
    for changes in (
        {"periods": rising}, {"opponents": opponents(0.7)}, {"inflation": off}, {"inflation": growing}
    ):  # fmt: skip
        said = verdict(outlook=found, tested=BETTER, k=12.0, **changes)
        assert "from today's ratings on" not in said and "every side began" not in said


def test_the_matches_to_come_are_spoken_of_where_they_want_a_k_that_the_past_leaves_out():
    """Of 12 to 19, which may have been right."""
    for k, apart in ((11.9, True), (12.1, False), (18.9, False), (19.1, True)):
        future, rising = (3.6, QUIET[1].measured) if k < 15.0 else (14.4, 16.0)
        periods = (EARLIER, replace(QUIET[1], measured=rising))
        found = outlook(k, 4.0, 30.0, past=9.0, future=future, known=4.5)
        assert ahead(case(outlook=found, periods=periods)) is apart


def test_the_k_of_the_matches_to_come_is_the_one_that_is_said():
    found = outlook(24.0, 20.0, 29.0, past=9.0, future=14.4, known=9.0)
    rising = (EARLIER, HistoryPeriod("2012-01-01", "2014-12-31", 400, 15.0, 16.0, 11.0, 21.0))
    assert verdict(outlook=found, tested=BETTER, periods=rising) == (
        "K = 32 is too large for the matches to come: from today's ratings on K = 24 (20 to 29) is best, and by "
        "theory gives what happens a 0.31 % higher chance."
    )
    assert "is too small for the matches to come" in verdict(outlook=found, tested=BETTER, k=18.0, periods=rising)


def test_of_the_matches_to_come_nothing_is_said_beside_the_k_that_is_said():
    assert "Matches to come" not in dict(rows_of(case()))  # K = 15 by both
    found = outlook(6.0, 4.0, 9.0, past=9.0, future=3.6, known=4.5)
    assert line("Matches to come", outlook=found, periods=QUIET).splitlines() == [
        "from today's ratings on theory asks for K = 6 (4 to 9) over 1,200 matches",
        "If these matches are a part of an older league, give the ratings at their beginning (--start)",
    ]
    elsewhere = outlook(6.0, 4.0, 9.0, past=9.0, future=3.6, known=8.0)
    assert "older league" not in line("Matches to come", outlook=elsewhere, periods=QUIET)
    # The quarters of the past say the opposite: what theory asks for is not said.
    assert "Matches to come" not in dict(rows_of(case(outlook=found)))


def some_contests(**changes):
    found = {
        "start": None, "moves": False, "alike": Range(0.1, 0.05, 0.14), "like_meets_like": False, "k": 20.0,
        "advice": Advice(30.0, 20.0, 40.0, agree=True, telling=True), "other": None, "luck": (),
        "contests": SimpleNamespace(sizes=np.array([8, 10, 12])), "measured": SimpleNamespace(at=lambda k: k / 50),
    }  # fmt: skip
    return SimpleNamespace(**(found | changes))


def test_levels_are_named_whose_luck_clearly_differs():
    low_and_high = {"dirt": (1.02, 1.6), "ice": (1.1, 3.0), "road": (0.4, 0.98), "salt": (0.9, 1.3), "sand": (0.7, 1.1)}
    luck = [LuckLevel("track", name, math.sqrt(a * b), a, b, 9) for name, (a, b) in low_and_high.items()]
    rows = dict(contest_rows(some_contests(luck=(*luck, LuckLevel("day", "Sunday", 1.1, 0.9, 1.3, 40)))))
    assert rows["Luck by track"] == (
        "more than usual at ice, dirt; less than usual at road; plain Elo counts all alike, RankElo does not"
    )
    assert rows["Luck by day"] == "no level clearly differs"


def test_fields_hardly_differ_or_like_meets_like_or_neither_is_clear():
    def fields(low, high, like=False):
        rows = dict(contest_rows(some_contests(alike=Range((low + high) / 2, low, high), like_meets_like=like)))
        assert rows["Which K"] == "by backtest 30 (20 to 40); log-loss of orders 0.6000"
        return rows["Fields"]

    assert fields(0.16, 0.3) == "of 10 entrants, usually; whether fields differ in strength is not clear"
    assert fields(0.01, 0.14) == "of 10 entrants, usually; fields hardly differ in strength"
    assert fields(0.01, 0.16).endswith("is not clear")
    assert fields(0.4, 0.5, like=True) == "of 10 entrants, usually; like meets like"


def test_no_change_has_no_bounds_of_nothing():
    assert change(Difference(0.0, -0.00001, 0.00002)) == "leaves the log-loss as it is"
    assert better(Difference(0.00001, -0.00004, 0.0003)) == "leaves forecasts as they are (0.00 to 0.03)"
    # e^-0.05 = 0.9512, e^-0.1 = 0.9048 and e^0.02 = 1.0202.
    assert better(Difference(-0.05, -0.1, 0.02)) == "gives what happens a 4.88 % (-2.02 to 9.52) lower chance"
    assert change(Difference(0.00001, -0.00004, 0.0003)) == "leaves the log-loss as it is (0.0000 to 0.0003)"


def inflated(per_year, start=None):
    rate, first = (None if one is None else Shift(*one, 40) for one in (per_year, start))
    return RatingInflation(rate, 4.0, first, 1500.0)


def test_a_rating_is_worth_less_after_inflation_and_more_after_deflation():
    found = inflated((20.0, 5.0), start=(1375.0, 20.0))
    worth, starts = findings_of(case(inflation=found, home=Home(0.0, 0.0, 0.0), k=18.0))
    assert starts[:3] == (
        "start", "Newcomers are weaker than the 1500 at which they start.", "Let them start at 1375 (1336 to 1414)."
    )  # fmt: skip
    assert worth[:2] == (
        "inflation",
        "A rating is worth less than it was: ratings rose by 20.0 (10.2 to 29.8) points a year against strengths.",
    )
    assert worth.weight == 80.0 and starts.weight == 62.5
    deflated = inflated((-20.0, 5.0), start=(1625.0, 20.0))
    said = line("Inflation", inflation=deflated)
    assert "A rating is worth more than it was: ratings fell by 20.0 (10.2 to 29.8) points a year" in said
    assert "stronger than the 1500 at which they start. Let them start at 1625 (1586 to 1664)" in said
    # A little is not worth a word, and next to a reference it is said next to whom.
    assert not [one for one in findings_of(case(inflation=inflated((2.9, 0.5)))) if one.kind == "inflation"]
    said = [one.words for one in findings_of(case(inflation=found, reference="adults"))]
    assert any(one.endswith("points a year against strengths, next to group adults.") for one in said)


def test_within_chance_nothing_is_called_inflation_and_only_a_start_known_to_be_right_is_called_so():
    found = inflated((6.0, 5.0), start=(1489.0, 10.0))
    assert line("Inflation", inflation=found).splitlines() == [
        "Newcomers start where they should: 1489 (1469 to 1509) is right.",
        "No clear inflation: ratings of those who play changed by 6.0 (-3.8 to 15.8) points a year against their "
        "strengths.",
        "Results do not show whether everybody grew stronger: sides that were there before are taken to stand still on "
        "average. A group that does can be named (--by, --reference).",
    ]
    # 1353, give or take 160, is no reason to call 1500 right.
    unsure = inflated((6.0, 5.0), start=(1353.0, 80.0))
    assert (
        "start" not in line("Inflation", inflation=unsure)
        and findings_of(case(inflation=unsure, k=18.0))[0].kind == "home"
    )
    assert line("Inflation", inflation=inflated(None), reference="adults") == (
        "Group adults is taken to stand still on average."
    )
    assert "Inflation" not in dict(rows_of(case()))
    # Where like meets like ratings hardly leave where they start: the start is not called wrong.
    wrong = inflated(None, start=(1375.0, 20.0))
    assert not [one for one in findings_of(case(inflation=wrong, opponents=opponents(0.8))) if one.kind == "start"]


def test_the_best_k_stands_with_what_moving_there_buys():
    worse, unit = case(tested=Difference(-0.0045, -0.009, 0.001)), LOG_LOSS
    assert gain_words(worse, "matches") == (
        "Best K = 15 (12 to 19): 9 by theory, 22 by backtest.",
        f"On the later half of the matches 15 raises the log-loss by 0.0045 (-0.0010 to 0.0090). {unit}",
    )
    later = outlook(5.4, 4.1, 7.7, past=9.0, future=3.2)
    best, words = gain_words(case(outlook=later, periods=QUIET), "matches")
    assert best == "Best K from today on = 5.4 (4.1 to 7.7)."
    assert words.startswith("The past wanted K = 15 (12 to 19): 9 by theory, 22 by backtest. On the later half ")
    # Theory does not know that like meets like; contests to come are not asked for another K, and have no theory.
    alike, contests = case(outlook=later, periods=QUIET, opponents=opponents(0.89)), case()
    del contests.outlook, contests.curve
    for found, words in ((alike, "9 by theory, 22 by backtest"), (contests, "by backtest")):
        assert advised(found) is found.advice
        assert gain_words(found, "contests")[0] == f"Best K = 15 (12 to 19): {words}."
    assert unit.startswith("Log-loss is ") and unit.endswith("less is better.")


def test_advice_is_what_both_support_and_else_the_backtest():
    def made(theory, measured):
        curve = SimpleNamespace(best=SimpleNamespace(k=theory[0]), low=theory[1], high=theory[2])
        return advise(curve, SimpleNamespace(best=measured[0], interval=measured[1:], k=TRIED), 2000)

    both = made((10.0, 8.0, 12.0), (14.4, 11.0, 20.0))
    assert both.agree and (both.k, both.low) == pytest.approx((12.0, np.sqrt(88.0)))
    split = made((10.0, 8.0, 10.9), (14.4, 11.0, 20.0))
    assert not split.agree and (split.k, split.low, split.high) == (14.4, 11.0, 20.0)
