"""Sentences follow from signed, tested numbers: each case from numbers made up for it, all different."""

from types import SimpleNamespace

import numpy as np
import pytest

from kinelo.advice.audit.backtest import Difference
from kinelo.advice.audit.findings import Advice, HistoryPeriod, SystemComparison, advise
from kinelo.advice.audit.outlook import Outlook
from kinelo.advice.audit.replays import PosteriorCheck
from kinelo.advice.audit.verdict import lead_of


def verdict_of(found):
    return lead_of(found).verdict


def case(k=32.0, gain=(0.01, 0.004, 0.016), better=18.0, advice=None, theory=(0.613, 0.6), causes=(), moved=False):
    advice = advice or Advice(15.0, 12.0, 19.0, agree=True, telling=True, causes=causes)
    today = HistoryPeriod("2020-01-01", "2024-12-31", 500, 16.0, 25.0 if moved else 14.0, 20.0 if moved else 11.0, 30.0)
    gain = Difference(*gain)
    return SimpleNamespace(
        other=None, k=k, k_in_order=None, extract=None, opponents=SimpleNamespace(hidden=False), advice=advice,
        outlook=Outlook(15.0, 12.0, 19.0, 900, 0.003, 9.0, 9.5, 8.0),
        in_use=SimpleNamespace(name=f"K = {k:g}"),
        matches=range(2500),
        tested=SystemComparison(gain, better, None if better is None else Difference(0.007, 0.005, 0.009)),
        now=SimpleNamespace(log_loss=theory[0]), periods=(None, None, None, today),
        curve=SimpleNamespace(at=lambda _: theory[1], best=SimpleNamespace(k=9.0), low=7.0, high=11.0),
        measured=SimpleNamespace(interval=(17.0, 30.0), best=22.0),
    )  # fmt: skip


def test_a_k_that_is_surely_worse_is_too_large_or_too_small():
    said = verdict_of(case())
    assert said == (
        "K = 32 is too large for this league: K = 15 (12 to 19) is best, and lowers the log-loss by 0.0130 by theory "
        "and by 0.0100 (0.0040 to 0.0160) on the later half of the matches."
    )
    assert verdict_of(case(k=4.0)).startswith("K = 4 is too small for this league")
    assert "a little too small" in verdict_of(case(k=4.0, gain=(0.0001, 0.00005, 0.00015)))
    assert "is too small" in verdict_of(case(k=4.0, gain=(0.0003, 0.0001, 0.0005)))


def test_another_k_may_be_surely_better_where_the_advised_one_is_not():
    said = verdict_of(case(gain=(0.01, -0.001, 0.021)))
    assert "K = 15 (12 to 19) is best, and lowers the log-loss by 0.0130 by theory and by 0.0100 (-0.0010 to" in said


def test_suits_means_that_no_k_tried_is_better_beyond_the_interval():
    said = verdict_of(case(better=None, gain=(-0.0012, -0.002, 0.0005)))
    assert said.startswith("K = 32 suits this league: no K tried forecasts it better beyond chance")
    assert said.endswith("moving there raises the log-loss by 0.0012 (-0.0005 to 0.0020).")
    assert "suits" not in verdict_of(case())


def test_theory_and_matches_of_different_signs_are_both_said():
    said = verdict_of(case(theory=(0.6, 0.605)))
    assert said.endswith("on the later half of the matches; by theory it raises the log-loss by 0.0050.")


@pytest.mark.parametrize("better", [None, 18.0])
def test_no_verdict_lowers_by_a_negative_number(better):
    for mean in (-0.0058, 0.0058):
        for theory in (-0.003, 0.003):
            gain = (mean, mean - 0.001, mean + 0.001)
            said = verdict_of(case(better=better, gain=gain, theory=(0.6 + theory, 0.6)))
            assert "by -" not in said and "by −" not in said


def test_few_matches_cannot_tell_unless_some_k_is_surely_better():
    wide = Advice(20.0, 6.0, 60.0, agree=True, telling=False)
    assert verdict_of(case(advice=wide, better=None)).startswith("2,500 matches cannot tell which K is best")
    assert verdict_of(case(advice=wide)).startswith("K = 32 is too large")


def test_where_no_k_is_too_small_only_the_upper_end_is_said():
    flat = Advice(0.06, 0.01, 10.9, agree=True, telling=False)
    assert ": K = 10.9 or less is best, and lowers" in verdict_of(case(advice=flat, gain=(0.006, -0.001, 0.012)))


def test_a_best_k_that_has_moved_is_said():
    assert verdict_of(case(moved=True)).endswith(
        "The best K has moved: since 2020-01-01 the matches want a larger one."
    )
    assert "moved" not in verdict_of(case())


def test_disagreement_is_the_caveat_with_what_was_tested():
    split = Advice(22.0, 17.0, 30.0, agree=False, telling=True, causes=("opponents are more alike than …",))
    said = verdict_of(case(advice=split))
    assert said.startswith("K = 32 is too large for this league: K = 22 (17 to 30) is best, and lowers")
    assert said.endswith(
        "Theory disagrees and would take 9 (7 to 11); the matches decide. Tested as the cause: opponents are more "
        "alike than …."
    )
    none = Advice(22.0, 17.0, 30.0, agree=False, telling=True)
    assert verdict_of(case(advice=none)).endswith("were tested as the cause: none is.")


def test_advice_is_what_both_support_and_else_the_backtest():
    def made(theory, measured):
        curve = SimpleNamespace(best=SimpleNamespace(k=theory[0]), low=theory[1], high=theory[2])
        return advise(curve, SimpleNamespace(best=measured[0], interval=measured[1:]), 2000)

    both = made((10.0, 8.0, 12.0), (14.4, 11.0, 20.0))
    assert both.agree and (both.k, both.low) == pytest.approx((12.0, np.sqrt(88.0)))
    split = made((10.0, 8.0, 10.9), (14.4, 11.0, 20.0))
    assert not split.agree and (split.k, split.low, split.high) == (14.4, 11.0, 20.0)


def test_only_what_lies_outside_the_replays_is_called_a_difference():
    interval = np.array([[100.0, 150.0], [20.0, 40.0], [-0.1, 0.1], [0.9, 1.1], [0.95, 0.99]])
    played = np.repeat(interval.T, 50, axis=0)
    found = PosteriorCheck(180.0, 30.0, -0.4, 1.0, 0.97, played, played, error=0.0).differences
    assert len(found) == 2
    assert found[0].startswith("ratings lie further apart") and "(180; 100 to 150)" in found[0]
    assert found[1].startswith("opponents are less alike") and "(-0.400; -0.100 to 0.100)" in found[1]


def test_a_difference_that_the_digits_do_not_show_is_not_told():
    interval = np.array([[100.0, 150.0], [20.0, 40.0], [0.90201, 0.90249], [0.9, 1.1], [0.95, 0.99]])
    played = np.repeat(interval.T, 50, axis=0)
    assert PosteriorCheck(120.0, 30.0, 0.90195, 1.0, 0.97, played, played, error=0.0).differences == ()
    assert len(PosteriorCheck(120.0, 30.0, 0.9, 1.0, 0.97, played, played, error=0.0).differences) == 1
