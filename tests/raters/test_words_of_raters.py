"""Sentences and tables of raters, word by word and row by row: numbers, names and orders that all differ."""

import datetime
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.matches.matches import Matches
from kinelo.raters.bradley_terry.likelihood import bootstrap
from kinelo.raters.explanation import Account, Explanation, Reason, Step
from kinelo.raters.preview import Preview, ratings_by_name
from kinelo.raters.tables import advantages_table, effects_table, luck_table, ranks_table, upsets_table, with_its_error
from kinelo.raters.team.kernels import blur
from kinelo.raters.upset_table import upsets

FIVE = {"home": list("ABCDE"), "away": list("BCDEA"), "result": [1.0, 0.5, 0.0, 1.0, 0.0]}


def league(rounds=30, seed=1):
    """Five sides of 2024 on, with goals and a pitch."""
    rng = np.random.default_rng(seed)
    home = rng.integers(0, 5, rounds)
    away = (home + rng.integers(1, 5, rounds)) % 5
    goals = rng.poisson(1.6 + 0.2 * (home - away)[:, None] * [1, -1] + 0.8)
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(k) for k in range(rounds)]
    table = {"date": days, "home": [f"S{k}" for k in home], "away": [f"S{k}" for k in away]}
    return table | {"home_score": goals[:, 0].tolist(), "away_score": goals[:, 1].tolist()}


def message(call):
    with pytest.raises(kn.InputError) as refused:
        call()
    return str(refused.value)


def warned(call):
    with pytest.warns(kn.KineloWarning) as caught:
        call()
    return [str(one.message) for one in caught]


# Refusals and warnings


def test_a_preview_of_too_many_places_says_how_many_and_of_whom_it_is_told():
    names = [f"d{k}" for k in range(30)]
    rater = kn.RankElo().update(kn.read_contests({"race": [1] * 30, "driver": names, "place": list(range(1, 31))}))
    assert message(lambda: kn.preview(rater, names, of=names[:5])) == (
        "A contest of 30 has too many places to try for 5 of them: say of whom, of=[…], up to 4."
    )
    assert len(kn.preview(rater, names, of=names[:4]).after) == 4
    many = [f"d{k}" for k in range(145)]
    assert message(lambda: kn.preview(rater, many, of=many[:1])) == (
        "A contest of 145 has too many places to try for 1 of them: contests of up to 144 are previewed."
    )


def test_parameters_of_the_latest_matches_are_said_to_be_theirs():
    matches = kn.read_matches(league())
    words = (
        "Parameters are estimated on the latest 20 of 30 matches, and all are rated with them; set look = None to "
        "estimate on all."
    )
    rater = kn.TeamElo(look=20, ties=0.3, home_advantage=10.0)
    assert words in warned(lambda: rater.fit(matches))


def test_a_bootstrap_beyond_memory_says_what_it_would_hold():
    class Wide:
        size = 70_000

    said = message(lambda: bootstrap(Wide(), np.zeros(3), None, 10**9, 1))
    assert said.startswith("A bootstrap of 1,000,000,000 draws of 70,000 unknowns needs 1,043,081.3 GiB, but ")


def test_a_spread_that_hides_every_difference_says_which_and_how_much_may_be():
    """What may be is said with a little to spare: it is 1.5 parts of what √2 parts bear."""
    said = re.fullmatch(
        r"A spread of 1e\+09 points hides every difference; give at most (\S+)\.",
        message(lambda: blur(0.01, [5.0, 1e9])),
    )
    bears = float(said.group(1)) * 1.5 / 2**0.5
    assert blur(0.01, [7.0, 0.99 * bears]).x.shape[1] == 2
    assert f"A spread of {round(1.01 * bears)} points" in message(lambda: blur(0.01, [7.0, round(1.01 * bears)]))


def test_the_chances_of_too_many_scores_say_how_many_numbers_they_are(monkeypatch):
    matches = kn.read_matches(league())
    forecast = kn.ScoreElo().update(matches).predict(matches[:7])
    size = forecast._size
    assert forecast.scores.shape == (7, size, size)
    monkeypatch.setattr("kinelo.raters.scores.forecast.MOST_CELLS", 7 * size**2)
    assert forecast.scores.shape == (7, size, size)
    monkeypatch.setattr("kinelo.raters.scores.forecast.MOST_CELLS", 7 * size**2 - 1)
    assert message(lambda: forecast.scores) == (
        f"The chances of all scores of 7 matches are {7 * size**2:,} numbers; ask for fewer matches at once, or for "
        "totals, handicap, both_score or expected."
    )


@pytest.mark.parametrize(("step", "way"), [(0.2, "less"), (0.201, "less"), (0.203, "more"), (300.0, "more")])
def test_a_step_at_the_end_of_its_range_says_where_it_ended_and_which_way_on(step, way):
    matches = kn.read_matches(FIVE)
    rater = kn.TeamElo(home_advantage=0.0, ties=0.2, prior_spread=50.0).fit(matches)
    rater._conclude(matches, matches)
    low = next(p.low for p in rater._in_own_unit() if p.name == "step")
    rater.parameters_ = {**rater.parameters_, "step": low * step / 0.2}
    rater.estimates_ = replace(rater.estimates_, at_bounds=("step",))
    said, found = warned(lambda: rater._conclude(matches, matches)), low * step / 0.2
    assert said == [
        f"The search for step ended at the end of its range, {found:g} points: these matches ask for ratings that move "
        f"even {way}; step= takes any value, and BradleyTerry is made for strengths that stay."
    ]


@pytest.mark.parametrize(
    ("result", "margin", "ended"), [(1.0, -2.5, "a win"), (0.0, 3.25, "a loss"), (0.5, 1.5, "a draw")]
)
def test_a_margin_against_the_result_is_said_with_both(result, margin, ended):
    said = message(lambda: kn.TeamElo.classic(k=20).update_one("A", "B", result, margin=margin))
    assert said == f"A margin of {margin:g} contradicts {ended} of the home side."


# Accounts and previews


def account(before=1480.0, since=-1.5):
    steps = (
        Step("m1", "2024-03-01", "won against Bob",
             Reason("Ann", before, 1490.0, {"surprise": 12.0, "venue": -2.0}), 0.0),
        Step("m2", None, "lost to Cid", Reason("Ann", 1493.0, 1487.5, {"surprise": -5.5}, 0.0, 0.45), 3.0),
    )  # fmt: skip
    return Account("Ann", before, 1486.0, steps, since)


def test_an_account_is_told_in_sentences_the_largest_term_first():
    told = account()
    assert told.totals() == {"surprise": 6.5, "venue": -2.0, "elsewhere": 1.5}
    assert told.lines() == [
        "Ann: 1480.0 → 1486.0 (+6.0) over the last 2 times Ann played: +6.5 for the result against what was expected, "
        "-2.0 for the venue, +1.5 while others played.",
        "2024-03-01, won against Bob. Ann: 1480.0 → 1490.0 (+10.0): +12.0 for the result against what was expected, "
        "-2.0 for the venue.",
        "lost to Cid. Ann: 1493.0 → 1487.5 (-5.5): -5.5 for the result against what was expected (score 0, expected "
        "0.45, 12.2 points for one).",
    ]
    assert repr(told) == f"Account of Ann: {told.lines()[0]}"
    new = account(before=None)
    assert (
        new.summary() == "Ann stands at 1486.0 after the last 2 times Ann played, from the first on." and not new.change
    )
    idle = Step("m", None, "x", Reason("Ann", 1.0, 1.0, {}), 0.0)
    once = Account("Ann", 1480.0, 1480.04, (idle,), 0.04)
    assert once.summary() == "Ann: 1480.0 → 1480.0 (+0.0) over the last time Ann played."


def test_the_table_of_an_account_has_a_row_for_each_match_and_for_what_lies_between():
    assert account().table().cells() == [
        ["2024-03-01", "won against Bob", "1480.0", "+10.0", "+12.0", "-2.0"],
        ["–", "while others played", "–", "+3.0", "–", "–"],
        ["–", "lost to Cid", "1493.0", "-5.5", "-5.5", "–"],
        ["–", "while others played, since then", "–", "-1.5", "–", "–"],
        ["–", "all together", "1480.0", "+6.0", "+6.5", "-2.0"],
    ]
    assert [row[1] for row in account(since=0.04).table().cells()][-2:] == ["lost to Cid", "all together"]
    assert [row[1] for row in account(since=0.06).table().cells()][-2] == "while others played, since then"


def test_an_explanation_is_told_in_a_sentence_each_after_its_note():
    reasons = {
        "Ann": Reason("Ann", 1500.0, 1510.5, {"surprise": 10.5}, 1.0, 0.25),
        "Bob": Reason("Bob", None, 1490.25, {}),
        "Cid": Reason("Cid", 1400.0, 1400.0, {"rest": 0.01, "venue": -0.01}),
    }
    told = Explanation("m7", None, reasons, "It came late.")
    lines = [
        "It came late.",
        "Ann: 1500.0 → 1510.5 (+10.5): +10.5 for the result against what was expected (score 1, expected 0.25, 14.0 "
        "points for one).",
        "Bob enters the ratings with 1490.2.",
        "Cid: 1400.0 → 1400.0 (+0.0): +0.0 for the rest before the match, -0.0 for the venue.",
    ]
    assert told.lines() == lines and repr(told) == f"Explanation of the match m7: {lines[0]} {lines[1]}"
    assert reasons["Ann"].gain == 14.0 and reasons["Bob"].gain is None
    assert (
        Reason("A", 1.0, 1.0, {"surprise": 0.0}, 0.5, 0.5).gain is None
        and Reason("A", 1.0, 1.0, {}, 1.0, 0.5).gain is None
    )
    assert told.table().cells() == [
        ["Ann", "1500.0", "+10.5", "+10.5", "–", "–"], ["Bob", "–", "–", "–", "–", "–"],
        ["Cid", "1400.0", "+0.0", "–", "-0.0", "+0.0"],
    ]  # fmt: skip


def test_a_preview_is_told_by_outcome_and_by_whom():
    told = Preview(("win", "draw", "loss"), {"Ann": 1500.0, "Bob": None}, {"Ann": (1510.0, 1501.25, 1490.0),
                   "Bob": (1480.4, 1490.0, 1500.6)}, {"Ann": 1497.0})  # fmt: skip
    assert repr(told) == "Preview: Ann win +10.0, draw +1.2, loss -10.0; 2 in all"
    assert told.table().cells() == [
        ["Ann", "1497", "+10.0", "+1.2", "-10.0"], ["Bob", "–", "→ 1480", "→ 1490", "→ 1501"],
    ]  # fmt: skip
    assert [column.label for column in told.table().columns][2:] == ["First wins", "Draw", "First loses"]
    assert told.lines() == []
    up = Preview(("1", "2"), {"Ann": 1500.0, "Bob": None}, {"Ann": (1502.0, 1500.5), "Bob": (1.0, 2.0)}, {})
    assert up.lines() == ["Ann would gain points by every outcome: the rest until that day moves ratings too."]
    new = Preview(("1", "2"), {"Bob": None}, {"Bob": (1.0, 2.0)}, {})
    assert repr(new) == "Preview: Bob 1 ?, 2 ?; 1 in all"
    even = Preview(("1", "2"), {"Ann": 1500.0}, {"Ann": (1502.0, 1500.0)}, {})
    assert even.lines() == []


def test_ratings_by_name_say_the_kind_of_a_name_that_stands_for_two():
    table = {"race": [1, 1, 2, 2], "driver": list("ABAB"), "car": list("AXXA"), "place": [1, 2, 1, 2]}
    rater = kn.RankElo().update(kn.read_contests(table, slots=["driver", "car"]))
    rows = {(r["kind"], r["name"]): r["rating"] for r in rater.ratings_.to_dicts()}
    found = ratings_by_name(rater)
    first = next(kind for kind, name in rows if name == "A")
    other = ({"driver", "car"} - {first}).pop()
    assert found["A"] == rows[first, "A"] and found[f"{other}: A"] == rows[other, "A"] != found["A"]
    assert set(found) == {"A", "B", "X", f"{other}: A"}


# Tables


def test_upsets_come_the_least_likely_first():
    rater = kn.TeamElo.classic(k=20, home_advantage=0.0, start={"A": 1700.0, "B": 1650.0, "C": 1500.0, "D": 1450.0})
    table = {"home": ["A", "D", "B", "C"], "away": ["C", "B", "A", "D"], "result": [1.0, 1.0, 0.5, 0.0]}
    matches = kn.read_matches(table)
    found = upsets(rater.fit(matches), matches)
    assert found["chance"].is_sorted()
    assert found["home"].to_list() == ["B", "D", "C", "A"]
    cells = upsets_table(found, dated=False).cells()
    assert cells[1][1:] == ["D – B", "D won"] and cells[-1][1:] == ["A – C", "A won"]
    assert {row[1]: row[2] for row in cells} == {"D – B": "D won", "A – C": "A won", "B – A": "draw", "C – D": "D won"}


def test_upsets_of_contests_name_who_won_and_who_was_to_win():
    contests = kn.read_contests(
        {"race": [1, 1, 1, 2, 2, 2, 3, 3, 3], "driver": list("ABCCBAACB"), "place": [1, 2, 3, 1, 2, 3, 1, 1, 3]}
    )
    start = {"A": 1800.0, "B": 1600.0, "C": 1300.0}
    rater = kn.TeamElo.classic(k=16, start=start).fit(contests)
    found = upsets(rater, contests)
    assert found["chance"].is_sorted() and found["chance"].n_unique() == 3
    rows = {row["contest"]: row for row in found.to_dicts()}
    assert found["contest"][0] == "2" and rows["2"]["winner"] == "C" and rows["2"]["favourite"] == "A"
    assert rows["3"]["winner"] == "A and C" and rows["1"]["winner"] == "A"
    ahead = kn.TeamElo.classic(k=16, start=start).one_step_ahead(contests)
    assert rows["2"]["favourite_chance"] == pytest.approx(max(ahead.win[3:6])) and rows["1"]["date"] is None
    one = upsets(rater, contests[:1])
    assert one.height == 1 and one["winner"].to_list() == ["A"]
    cells = upsets_table(found, dated=False).cells()
    assert cells[0][1] == "C" and re.fullmatch(r"A \(\d\d\.?\d? %\)", cells[0][3])


def test_tables_of_effects_show_their_numbers():
    class Told:
        covariates = ("pace",)
        effects_ = pl.DataFrame({"name": ["pace"], "effect": [12.34], "standard_error": [3.21], "low": [6.05],
                                 "high": [18.63]})  # fmt: skip
        advantages_ = pl.DataFrame({"kind": ["lane", "lane"], "name": ["1", "2"], "points": [-5.4, 17.6],
                                    "uncertainty": [3.4, 4.6], "matches": [1234, 17]})  # fmt: skip
        noise_by = ("pitch",)
        noise_factors_ = pl.DataFrame({"column": ["pitch"], "level": ["wet"], "factor": [1.234],
                                       "low": [1.1], "high": [1.4], "matches": [1234]})  # fmt: skip
        takes = (Matches,)

    assert effects_table(Told()).cells() == [["pace", "+12.3", "3.2", "6.0 to 18.6"]]
    assert advantages_table(Told()).cells() == [["lane", "2", "+18", "± 5", "17"], ["lane", "1", "-5", "± 3", "1,234"]]
    Told.covariates = ()
    assert effects_table(Told()) is None
    Told.noise_by = ()
    assert luck_table(Told()) is None
    ranks = pl.DataFrame({"rank": [1], "rank_low": [2], "rank_high": [3], "name": ["A"], "rating": [1512.4],
                          "low": [1490.0], "high": [1540.0], "matches": [1234]})  # fmt: skip
    assert ranks_table(ranks).cells() == [["1", "2 to 3", "A", "1512", "1490 to 1540", "1,234"]]


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [(6.0812, 0.0, "6.081 ± 0"), (50.85, 18.2, "51 ± 18"), (0.31234, 0.0456, "0.312 ± 0.046"), (7.25, 1.0, "7.2 ± 1.0"),
     (7.25, 10.0, "7 ± 10"), (123456.0, float("nan"), "1.235e+05 ± nan")],
)  # fmt: skip
def test_a_number_is_shown_to_the_digits_that_its_error_leaves(value, error, shown):
    assert with_its_error(value, error) == shown
