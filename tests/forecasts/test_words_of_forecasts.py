"""Sentences, tables and refusals of forecasts, word by word: numbers, names and orders that all differ."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.forecasts.automatic import RaterChoice, choice_table
from kinelo.forecasts.backtest import _one_by_one
from kinelo.forecasts.contest_scores import place_bands_table
from kinelo.forecasts.fit import Scales
from kinelo.forecasts.forecast import Forecast, forecast_table
from kinelo.forecasts.knockout import Knockout, knockout_table
from kinelo.forecasts.parameters import Option, Parameter, Switch, check_number
from kinelo.forecasts.places import contest_forecast_tables
from kinelo.forecasts.season import Rules, rules_words, season_rules, table_places
from kinelo.forecasts.season_so_far import season_so_far


def message(call):
    with pytest.raises(kn.InputError) as refused:
        call()
    return str(refused.value)


# Numbers that are asked for


@pytest.mark.parametrize(
    ("low", "high", "above", "bounds"),
    [
        (2.5, math.inf, False, " of at least 2.5"), (2.5, math.inf, True, " above 2.5"),
        (-7.0, 40.0, False, " of at least -7 and at most 40"), (-7.0, 40.0, True, " above -7 and at most 40"),
        (-math.inf, 40.0, False, " and at most 40"), (-math.inf, math.inf, False, ""),
    ],
)  # fmt: skip
def test_a_number_out_of_range_is_refused_with_the_range(low, high, above, bounds):
    def refused(value):
        said = message(lambda: check_number("Mine", "pace", value, low, high, above))
        return said == f"Mine(pace={value!r}) cannot be used: pace is a finite number{bounds}."

    for end, inwards in ((low, 0.5), (high, -0.5)):
        if math.isfinite(end):
            assert refused(end - inwards)
            assert check_number("Mine", "pace", end + inwards, low, high, above) == end + inwards
            assert refused(end) if above and end == low else check_number("Mine", "pace", end, low, high, above) == end
    for wrong in (True, np.True_, "3", None, [3.0], 3j, math.nan, math.inf, -math.inf):
        assert refused(wrong)


def test_numbers_come_back_as_python_has_them_and_large_whole_ones_do_not():
    for value, kind in (
        (np.float32(2.5), float),
        (np.int16(7), int),
        (3, int),
        (4.5, float),
        (10**9, int),
        (1e12, float),
    ):
        found = check_number("Mine", "pace", value, 0.0)
        assert found == value and type(found) is kind
    for value in (10**9 + 1, np.int64(10**9 + 1)):
        assert message(lambda: check_number("Mine", "pace", value, 0.0)) == (  # noqa: B023
            f"Mine(pace={value!r}) cannot be used: pace is a finite number of at least 0; a whole number is at most "
            "1,000,000,000 in size."
        )
    assert "at most 1,000,000,000 in size" in message(lambda: check_number("Mine", "pace", -(10**9) - 1, -math.inf))
    long = "x" * 200
    assert f"Mine(pace='{long[:59]}…) cannot be used" in message(lambda: check_number("Mine", "pace", long, 0.0))
    assert "pace='" + "x" * 77 + "')" in message(lambda: check_number("Mine", "pace", "x" * 77, 0.0))


def test_what_is_no_switch_is_refused_and_options_may_stay_open():
    assert message(lambda: Switch("home").check("Mine", 1)) == "Mine(home=1) cannot be used: home is True or False."
    assert Switch("home").check("Mine", np.True_) is True and Switch("home").check("Mine", False) is False
    assert Option("pace", 0.0, open=True).check("Mine", None) is None
    assert "pace=None" in message(lambda: Option("pace", 0.0).check("Mine", None))


PACE = Parameter("pace", 15.0, 2.0, 300.0, True, "")
SHARE = Parameter("share", 0.4, 0.0, 0.9, False, "", vague=3.0)
TILT = Parameter("tilt", 5.0, -40.0, 80.0, False, "", in_points=True, largest=500.0)


def test_ends_of_ranges_are_those_that_make_no_sense_beyond():
    """0, where it is the least that makes sense, is no end; without an error are those at either end."""
    scales = Scales((PACE, SHARE, TILT))
    for end, at in (("low", ("pace", "tilt")), ("high", ("pace", "share", "tilt")), ("default", ())):
        z = scales.place({p.name: getattr(p, end) for p in scales.parameters})
        assert scales.at_bounds(z) == at
        errors = scales.standard_errors(z, np.eye(3) * 1e6)
        assert [math.isnan(errors[p.name]) for p in scales.parameters] == [end != "default"] * 3
    assert scales.values(scales.place({"pace": 20.0, "share": 0.3, "tilt": -7.0})) == pytest.approx(
        {"pace": 20.0, "share": 0.3, "tilt": -7.0}
    )
    far = scales.place({"pace": 4000.0, "share": -3.0, "tilt": 1000.0})
    assert scales.values(far) == {"pace": 300.0, "share": 0.0, "tilt": 80.0}


def test_errors_are_those_of_the_delta_method_and_none_where_the_prior_says_nearly_all():
    scales = Scales((PACE, SHARE, TILT))
    z = scales.place({"pace": 20.0, "share": 0.3, "tilt": -7.0})
    # Prior deviations of a search: a sixth of the range of ln pace, of .9 (times 3) and of 120.
    prior = np.array([math.log(150.0) / 6, 3.0 * 10.0 / 6, 10.0 / 6])
    information = np.array([[90.0, 5.0, 0.0], [5.0, 40.0, 2.0], [0.0, 2.0, 50.0]])
    error = np.sqrt(np.diag(np.linalg.inv(information + np.diag(prior**-2.0))))
    found = scales.standard_errors(z, information)
    assert list(found.values()) == pytest.approx([20.0 * error[0], 0.09 * error[1], 12.0 * error[2]])
    assert PACE.prior_width == pytest.approx(298.0 / 6) and SHARE.prior_width == pytest.approx(0.45)
    none = scales.standard_errors(z, np.zeros((3, 3)))
    assert all(math.isnan(x) for x in none.values())
    counts = Scales((Parameter("pace", 15.0, 2.0, 300.0, True, "", prior_counts=True),))
    assert counts.standard_errors(z[:1], np.zeros((1, 1)))["pace"] == pytest.approx(20.0 * prior[0])
    assert TILT.in_unit(0.01) == Parameter("tilt", 0.05, -0.4, 0.8, False, "", in_points=True, largest=500.0)
    assert PACE.in_unit(0.01) is PACE
    assert TILT.check("Mine", -500.0) == -500.0 and "at least -500 and at most 500" in message(
        lambda: TILT.check("M", -501.0)
    )
    assert "at least 0." in message(lambda: PACE.check("Mine", -0.5)) and PACE.check("Mine", 0.0) == 0.0


# What was chosen


class Losses(SimpleNamespace):
    """What a comparison says of raters whose losses are given."""

    def match_scores(self, name, metric="log_loss"):
        return self.losses[name]

    def mean_score(self, name, metric):
        return float({"log_loss": 1.0, "brier": 0.5, "accuracy": 0.25}.get(metric, 2.0) * self.losses[name].mean())


def choice(name, losses, **more):
    tested = Losses(losses={k: np.array(v) for k, v in losses.items()}, matches=range(1234), forecasts=losses)
    return RaterChoice(name, None, "usual", tested, **more)


def test_a_choice_is_told_with_who_is_next_and_by_how_much():
    losses = {"usual": [0.5, 0.7, 0.6, 0.8], "far": [0.9, 0.9, 1.0, 1.2], "near": [0.6, 0.8, 0.6, 0.8]}
    told = choice("usual", losses, left_out={"broken": "it has no sense."})
    beginning = "usual, with log-loss 0.6500 over 1,234 matches forecast one step ahead"
    (mean, error), (far, _) = told.gaps["near"], told.gaps["far"]
    assert list(told.gaps) == ["near", "far"] and (mean, far) == (pytest.approx(0.05), pytest.approx(0.35))
    assert (
        str(told) == f"{beginning}; next is near, {mean:.4f} ± {error:.4f} behind. broken is left out: it has no sense."
    )
    assert repr(told) == f"RaterChoice of {told}"
    back = choice("near", losses)
    mean, error = back.gaps["usual"]
    assert mean < 0 < error and str(back) == (
        "near, with log-loss 0.7000 over 1,234 matches forecast one step ahead; "
        f"usual was {-mean:.4f} ± {error:.4f} better, which is too little to leave the usual rater."
    )
    alone = choice("usual", {"usual": losses["usual"]})
    assert str(alone) == f"{beginning}; no other rater can be used here."
    for name, which in (("usual", "the usual rater"), ("other", "the next in line")):
        few = RaterChoice(name, None, "usual", None)
        assert str(few) == f"{name}, {which}: fewer than 60 matches cannot tell raters apart." and few.gaps == {}
    cells = choice_table(told).cells()
    assert [row[0] for row in cells] == ["usual", "near", "far"] and [row[1] for row in cells] == [
        "0.6500",
        "0.7000",
        "1.0000",
    ]
    assert cells[0][2] == "chosen" and cells[2][2] == f"{told.gaps['far'][0]:.4f} ± {told.gaps['far'][1]:.4f}"


def test_what_is_left_to_test_is_said_while_raters_are_tested(monkeypatch):
    """Three seconds for the first rater and five for the second: the others take four each."""
    took = {"a": 3.0, "b": 5.0, "c": 7.0, "d": 1.0}
    monkeypatch.setattr(
        "kinelo.forecasts.backtest.put_to_the_test", lambda named, train, test: (None, None, took[named[0]])
    )
    said = []
    _one_by_one(dict.fromkeys(took), None, None, said.append)
    assert said == [
        "Testing a, 1 of 4", "Testing b, 2 of 4, about 9 s left", "Testing c, 3 of 4, about 8 s left",
        "Testing d, 4 of 4, about 5 s left",
    ]  # fmt: skip


# Tables


def test_a_table_of_forecasts_shows_goals_and_the_likeliest_score():
    table = pl.DataFrame({"home": ["A"], "away": ["B"], "home_win": [0.514], "draw": [0.243], "away_win": [0.243],
                          "expected_home": [1.84], "expected_away": [1.16], "likeliest": ["2-1"], "line": [2.5],
                          "over": [0.571]})  # fmt: skip
    shown = forecast_table(table)
    assert [column.label for column in shown.columns] == [
        "Home", "Away", "Home win", "Draw", "Away win", "Goals", "Likeliest", "Over",
    ]  # fmt: skip
    (cells,) = shown.cells()
    assert (
        cells[:2] == ["A", "B"] and cells[5:7] == ["1.84–1.16", "2-1"] and re.fullmatch(r"2\.5: 57(\.1)? %", cells[7])
    )
    assert cells[2] != cells[3] == cells[4]


def test_forecasts_of_nobody_are_shown_and_long_ones_are_cut():
    said = Forecast(np.array([[0.5, 0.3, 0.2], [0.125, 0.25, 0.625]]))
    assert repr(said) == "Forecast of 2 matches: 0.500 / 0.300 / 0.200; 0.125 / 0.250 / 0.625"
    assert repr(Forecast(said.probabilities[:1])) == "Forecast of 1 match: 0.500 / 0.300 / 0.200"
    many = Forecast(np.tile([0.5, 0.3, 0.2], (1234, 1)))
    assert (
        repr(many).startswith("Forecast of 1,234 matches: 0.500")
        and repr(many).endswith("; …")
        and repr(many).count("/") == 6
    )
    assert repr(Forecast(many.probabilities[:3])).count("/") == 6 and "…" not in repr(Forecast(many.probabilities[:3]))
    shown = many._repr_html_().count("0.300")
    assert f"and {1234 - shown:,} more" in many._repr_html_()
    assert "more" not in Forecast(many.probabilities[:shown])._repr_html_()
    assert "and 1 more" in Forecast(many.probabilities[: shown + 1])._repr_html_()


def test_bands_of_places_show_what_was_expected_and_what_came():
    bands = pl.DataFrame({"event": ["win", "top 3"], "low": [0.005, 0.12], "high": [0.02, 0.3], "entries": [1234, 56],
                          "expected": [14.26, 9.81], "seen": [1017.0, 8.333], "error": [3.72, 2.64]})  # fmt: skip
    table = place_bands_table(bands, "Mine")
    assert table.cells() == [
        ["0.5 to 2 % to win", "1,234", "14.3 ± 3.7", "1,017"],
        ["12 to 30 % to be among the first three", "56", "9.8 ± 2.6", "8.3"],
    ]
    assert table.title == "What Mine expected, and what came"


def test_forecasts_of_contests_are_shown_contest_by_contest_up_to_so_many_rows():
    rows = {"contest": ["r1"] * 4 + ["r2"] * 3 + ["r1"] * 2, "entrant": list("ABCDEFGHI"),
            "win": [0.4, 0.3, 0.2, 0.1] * 2 + [1.0], "top_3": [0.9] * 9,
            "expected_place": [1.7, 2.2, 2.8, 3.3] * 2 + [1.0]}  # fmt: skip
    table = pl.DataFrame(rows)
    shown = contest_forecast_tables(table, 9)
    assert [one.title for one in shown] == ["r1", "r2", "r1"] and [len(one.cells()) for one in shown] == [4, 3, 2]
    assert [len(one.columns) for one in shown] == [4, 3, 3] and not any(one.below for one in shown)
    assert shown[0].cells()[1][-1] == "2.2"
    cut = contest_forecast_tables(table, 6)
    assert [len(one.cells()) for one in cut] == [4, 2] and cut[1].below == ("and 3 more",) and not cut[0].below
    assert [len(one.cells()) for one in contest_forecast_tables(table, 7)] == [4, 3]
    dated = table.with_columns(date=pl.lit("2024-05-01"), title=pl.lit("Monza"))
    assert contest_forecast_tables(dated, 9)[0].title == "Monza, 2024-05-01"


def test_a_knockout_is_shown_the_likeliest_winner_first():
    reached = np.array([[0.5, 0.3, 0.125], [0.5, 0.2, 0.075], [0.75, 0.4, 0.55], [0.25, 0.1, 0.25]])
    cup = Knockout(("A", "B", "C", "D"), reached)
    assert repr(cup) == "Knockout of 4 sides: C wins with 0.550"
    assert [row[0] for row in knockout_table(cup).cells()] == ["C", "D", "A", "B"]
    assert [column.label for column in knockout_table(cup).columns] == ["Name", "Last 4", "Final", "Wins it"]
    assert message(lambda: kn.knockout(kn.TeamElo.classic(), list("ABCD"), date="2024-01-01", realisations=10**9)) == (
        "1,000,000,000 realisations of 4 sides are too many at once; ask for fewer."
    )


# Rules


def test_rules_that_cannot_be_are_refused_with_what_was_said():
    assert message(lambda: Rules(tie_breaks=["luck"])).startswith("tie_breaks=['luck'] must be a list of any of ")
    for place in ((0, 1), (1, 0), (1,), (1, 2, 3), 1, (1.0, 2)):
        assert message(lambda: Rules(places={"cup": place})) == (  # noqa: B023
            f"places['cup']={place!r} must be a first and a last place, from 1 or back from -1."
        )
    assert message(lambda: Rules(places=[1])) == "places must be a mapping from names to places, not list."
    assert message(lambda: Rules(loss=1e10)).startswith("Rules(loss=10000000000.0) cannot be used: loss is a ")
    assert table_places(6, 5) == {"title": (1, 1), "relegation": (-5, -1)} and table_places(0, 0) == {"title": (1, 1)}
    assert message(lambda: table_places(6, 6)) == "Of 6 sides, 0 to 5 can go down, not 6."
    assert message(lambda: table_places(6, -1)) == "Of 6 sides, 0 to 5 can go down, not -1."


def test_rules_are_told_with_their_numbers():
    for places, down in (
        ({"relegation": (-1, -1)}, "the last of 12 goes down"), ({"relegation": (-2, -1)}, "the last 2 of 12 go down"),
        ({"relegation": (9, 12)}, "the last 4 of 12 go down"),
        ({"relegation": (-5, -3)}, "places 8 to 10 of 12 go down"),
        ({"relegation": (7, 7)}, "places 7 to 7 of 12 go down"), ({}, "nobody goes down"),
    ):  # fmt: skip
        said = rules_words(Rules(1, 0.5, -0.25, ("wins", "head_to_head"), places), 12)
        assert said == (
            "A win is worth 1 point, a draw 0.5, a loss -0.25; sides level on points are separated by wins, head to "
            f"head, then lots; {down}."
        )
    assert "sides level on points are separated by lots; " in rules_words(Rules(tie_breaks=()), 20)


def league(sides, draws, of=100, margins=True):
    home = [f"S{k % sides}" for k in range(of)]
    away = [f"S{(k + 1) % sides}" for k in range(of)]
    result = [0.5] * draws + [1.0] * (of - draws)
    margin = {"margin": [0 if r == 0.5 else 1 for r in result]} if margins else {}
    return kn.read_matches({"home": home, "away": away, "result": result, "date": ["2024-01-01"] * of} | margin)


def test_rules_suit_the_league():
    football, chess = {"win": 3, "draw": 1}, {"win": 1, "draw": 0.5}
    assert season_rules(league(12, 30)) == football | {"relegated": 3}
    assert season_rules(league(11, 30)) == football | {"relegated": 0}
    assert season_rules(league(11, 30), 12) == football | {"relegated": 3}
    assert season_rules(league(12, 30), 11) == football | {"relegated": 0}
    assert season_rules(league(12, 30, margins=False)) == chess | {"relegated": 0}
    assert season_rules(league(12, 0)) == {"win": 1, "draw": 0, "relegated": 0}
    assert season_rules(league(12, 30)[:0]) == football | {"relegated": 0}


# Scores and forecasts of contests


def test_a_score_of_matches_fitted_is_said_to_be_one_of_hindsight():
    days = [f"2024-01-{day:02d}" for day in range(1, 13)]
    table = {"date": days, "home": list("ABC") * 4, "away": list("BCA") * 4, "result": [1.0, 0.5, 0.0, 1.0] * 3}
    matches = kn.read_matches(table)
    rater = kn.TeamElo.classic(k=30).fit(matches)
    with pytest.warns(kn.KineloWarning) as caught:
        score = rater.score(matches[4:])
    assert [str(one.message) for one in caught] == [
        "These matches begin on 2024-01-05, before the last match fitted (2024-01-12): their score is one of "
        "hindsight. Split matches by time, with TimeSeriesSplit or before() and since()."
    ]
    plain, chances = kn.TeamElo.classic(k=30).fit(matches), []
    for home, away, result in list(zip(table["home"], table["away"], table["result"]))[4:]:
        ((win, draw, loss),) = plain.predict_one(home, away).probabilities
        chances.append({1.0: win, 0.5: draw, 0.0: loss}[result])
        plain.update_one(home, away, result, date="2024-01-12")
    assert score == pytest.approx(np.mean(np.log(chances)))
    assert rater.ratings_.equals(kn.TeamElo.classic(k=30).fit(matches).ratings_)
    assert message(lambda: rater.score(matches[:0])) == "There are no matches to score; at least one is needed."


def test_chances_without_draws_are_those_of_a_match_that_is_decided():
    table = {"home": list("ABC") * 3, "away": list("BCA") * 3, "result": [1.0, 0.0, 0.0] * 3}
    for result, labels in (([1.0, 0.0, 0.0], 2), ([1.0, 0.5, 0.0], 3)):
        matches = kn.read_matches(table | {"result": result * 3})
        rater = kn.TeamElo.classic(k=30, ties=0.5).fit(matches)
        shown, chances = rater.predict_proba(matches), rater.predict(matches).probabilities
        if labels == 3:
            assert shown == pytest.approx(chances[:, ::-1])
        else:
            decided = chances[:, 0] + chances[:, 2]
            assert shown == pytest.approx(np.column_stack([chances[:, 2] / decided, chances[:, 0] / decided]))


def test_who_comes_before_whom_counts_those_who_may_not_finish():
    """Both out is a draw, one out is behind; else as their performances say."""
    races = kn.read_contests({"race": ["r1"] * 2 + ["r2"] * 4, "driver": list("XYABCD"), "place": [1, 2, 1, 2, 3, 4]})
    rater = kn.RankElo(start={"A": 1700.0, "B": 1600.0, "C": 1500.0, "D": 1400.0})
    plain = rater.predict(races)
    pair = plain.chance_before(1, "A", "C")
    expected = plain.pair_chance(np.array([2]), np.array([4]))[0]
    assert pair == expected > 0.5 and plain.chance_before(1, "C", "A") == pytest.approx(1.0 - expected)

    failing = replace(plain, unfinished=np.array([0.3, 0.3, 0.1, 0.05, 0.25, 0.4]))
    assert failing.chance_before(1, "A", "C") == pytest.approx(0.9 * (0.25 + 0.75 * expected) + 0.5 * 0.1 * 0.25)
    assert message(lambda: plain.chance_before(1, "A", "X")) == "'X' does not take part in r2."
    assert repr(plain) == "Forecast of 2 contests"
    one = rater.predict(races[1:])
    told = ", ".join(f"{name} {chance:.3f}" for name, chance in zip("ABC", one.win))
    assert repr(one) == f"Forecast of 1 contest: {told}, …" and one.win[0] > one.win[1] > one.win[2] > one.win[3]
    turned = rater.predict_one(list("DCA"))
    assert repr(turned).startswith("Forecast of 1 contest: A ") and not repr(turned).endswith("…")
    assert [part.split()[0] for part in repr(turned).split(": ")[1].split(", ")] == ["A", "C", "D"]


def test_results_that_say_nothing_of_a_season_leave_it_at_its_start():
    coming = kn.read_matches({"date": ["2024-08-24"], "home": ["C"], "away": ["A"]}, played=False)
    other = kn.read_matches(
        {"date": ["2024-08-10", "2024-08-17"], "home": ["X", "Y"], "away": ["Y", "X"], "result": [1, 0.5]}
    )
    found = season_so_far(coming, other)
    assert len(found.results) == 0 and len(found.fixtures) == 1
    assert found.note == "everyone starts from 0 points: the results hold no match of these sides"
    none = season_so_far(coming, other[:0])
    assert len(none.results) == 0 and none.note == ""
    begun = kn.read_matches(
        {"date": ["2024-08-10", "2024-08-24"], "home": ["X", "Y"], "away": ["Y", "X"], "result": [1, None]},
        played=False,
    )
    held = season_so_far(begun, other[1:])
    assert len(held.results) == 0 and np.isfinite(held.fixtures.result).tolist() == [True, False]
    assert len(season_so_far(coming, None).results) == 0
    assert message(lambda: season_so_far(coming, None, since="2024-08-01")) == (
        "since says which results count: give them too, results=matches."
    )
