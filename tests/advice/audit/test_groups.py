"""Answers by group: juniors among adults whose truth is known, and where groups come from."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice.audit.estimate import estimate_league, filter_league, smooth_league
from kinelo.advice.audit.inflation import GroupFound, Shift, columns_of, groups_chart, groups_found, groups_of
from kinelo.advice.audit.kernels import Calendar
from kinelo.advice.audit.words import group_words
from kinelo.errors import InputError
from kinelo.pages.chart import BOTTOM, HEIGHT, TOP, chart_html
from kinelo.presentation import quoted

GAMES, YEARS = 6000, 5.0


def juniors():
    """Sixty adults at rest, and forty juniors who enter 300 points below and gain 60 a year."""
    g = np.random.default_rng(11)
    strength, born, rows, truth = list(g.normal(0, 120, 60)), [math.nan] * 60, [], []
    for n in range(GAMES):
        year = n / GAMES * YEARS
        if n > GAMES / 10 and len(strength) < 100 and g.random() < 60 / GAMES:
            strength.append(g.normal(-300, 60))
            born.append(year)
        i, j = g.choice(len(strength), 2, replace=False)
        now = [strength[k] + (0.0 if math.isnan(born[k]) else 60.0 * (year - born[k])) for k in (i, j)]
        won = g.random() < 1 / (1 + 10 ** ((now[1] - now[0]) / 400))
        rows.append((str(np.datetime64("2012-01-01") + int(year * 365.25)), n, f"p{i}", f"p{j}", float(won), 1))
        truth.append(now)
    columns = dict(zip(("date", "round", "home", "away", "result", "neutral"), map(list, zip(*rows))))
    columns |= {
        f"{side}_age": ["junior" if int(name[1:]) >= 60 else "adult" for name in columns[side]]
        for side in ("home", "away")
    }
    return kn.read_matches(columns, conditions=["home_age", "away_age"]), np.array(truth)


def test_juniors_among_adults_enter_below_grow_stronger_and_are_rated_too_low_or_high():
    matches, truth = juniors()
    groups = groups_of("age", matches)
    assert [(name, places.size) for name, places in groups.items()] == [("adult", 60), ("junior", 40)]
    calendar = Calendar.of(matches)
    parameters = estimate_league(calendar).parameters
    filtered = smooth_league(calendar, filter_league(calendar, parameters))
    before = kn.TeamElo.classic(k=24).one_step_ahead(matches).ratings_before - 1500.0
    (adult, junior), alone = groups_found(calendar, parameters, filtered, groups, (before, 29.0, 1500.0))
    assert alone is None
    # Everybody is of a group: without a reference nobody is known to stand still, on which two numbers hang.
    assert [one.entry for one in (adult, junior)] == [one.inflation for one in (adult, junior)] == [None, None]
    # Forty of a hundred grow by 60 a year: next to the average of all sides juniors by 36, adults by -24.
    assert abs(junior.gain.mean - 36) < 3 * junior.gain.error and junior.gain.beyond_chance
    assert abs(adult.gain.mean + 24) < 3 * adult.gain.error and adult.gain.mean < 0
    # All groups may grow here: that all of them did does not show, and leaves nothing else in doubt.
    ratings = before, 29.0, 1500.0
    (_, beside), _ = groups_found(calendar, parameters, filtered, groups, ratings, "adult")
    (of_rest,), _ = groups_found(calendar, parameters, filtered, {"junior": groups["junior"]}, ratings)
    last, first = {}, {}
    for n in range(GAMES):
        for side, code in enumerate((matches.home[n], matches.away[n])):
            last[int(code)] = before[n, side] - truth[n, side]
            first.setdefault(int(code), truth[n, side])
    off = np.array([last[k] for k in range(len(matches.teams))])
    for one, places in ((adult, groups["adult"]), (junior, groups["junior"])):
        assert abs(one.bias.mean - (off[places].mean() - off.mean())) < 3 * one.bias.error + 15
    assert (junior.bias.mean > 0) == (off[groups["junior"]].mean() > off.mean())
    # With adults known to stand still, or taken to as the rest, it is told where juniors belong when they enter.
    right = 1500 + off[groups["adult"]].mean() + np.mean([first[code] for code in groups["junior"]])
    for one in (beside, of_rest):
        assert 1 < one.entry.error < 40 and abs(one.entry.mean - right) < 3 * one.entry.error
        assert 1 < one.inflation.error < 40


def in_two_groups(seed, growth):
    """Everybody is of some group, both grow, and newcomers of both enter all the time."""
    g = np.random.default_rng(seed)
    group, born = list(g.integers(2, size=30)), [0.0] * 30
    strength, rows = list(g.normal(0, 100, 30)), []
    for n in range(1500):
        year = n / 1500 * 3
        if g.random() < 0.03:
            strength.append(g.normal(-50, 100))
            group.append(int(g.integers(2)))
            born.append(year)
        i, j = g.choice(len(strength), 2, replace=False)
        now = [strength[k] + growth[group[k]] * (year - born[k]) for k in (i, j)]
        won = g.random() < 1 / (1 + 10 ** ((now[1] - now[0]) / 400))
        rows.append((str(np.datetime64("2012-01-01") + int(year * 365.25)), n, f"p{i}", f"p{j}", float(won), 1))
    columns = dict(zip(("date", "round", "home", "away", "result", "neutral"), map(list, zip(*rows))))
    matches = kn.read_matches(columns)
    return matches, {name: "ab"[group[int(name[1:])]] for name in matches.teams}


def found_by(matches, by, reference=None):
    calendar = Calendar.of(matches)
    parameters = estimate_league(calendar).parameters
    filtered = smooth_league(calendar, filter_league(calendar, parameters))
    before = kn.TeamElo.classic(k=24).one_step_ahead(matches).ratings_before - 1500.0
    groups = groups_of(by, matches)
    return groups_found(calendar, parameters, filtered, groups, (before, 29.0, 1500.0), reference)


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.long) for seed in (3, 4, 5))])
def test_where_everybody_is_of_a_group_that_all_grow_is_held_and_no_number_leaves_the_league(seed):
    matches, by = in_two_groups(seed, (90.0, 10.0))
    answers, _ = found_by(matches, by)
    beside, everything = found_by(matches, by, "b")
    for one in (*answers, *beside):
        for shift in (one.gain, one.inflation, one.bias):
            assert shift is None or (abs(shift.mean) < 400 and shift.error < 250)
    assert all(one.entry is None and one.inflation is None for one in answers)
    assert all(abs(one.entry.mean - 1500) < 400 and one.entry.error < 200 for one in beside)
    a = next(one for one in answers if one.group == "a")
    size = {name: sum(group == name for group in by.values()) for name in "ab"}
    # Groups that gain 90 and 10 a year: next to all sides, and next to the second. Beyond four errors once in 3,000.
    assert abs(a.gain.mean - 80 * size["b"] / len(by)) < 4 * a.gain.error
    first, second = (next(one for one in beside if one.group == name) for name in "ab")
    assert abs(first.gain.mean - 80) < 4 * first.gain.error and first.gain.error > 1
    assert second.gain is None and second.bias is None and second.entry is not None
    # Next to a group that stands still the others grow, and ratings fall behind strengths by more.
    assert everything.per_year.mean < first.gain.mean / 2 and everything.gain is None


def test_a_reference_is_a_group_of_some_size(tmp_path):
    matches, by = in_two_groups(1, (90.0, 10.0))
    with pytest.raises(InputError, match="no group 'c' to refer to; there is"):
        kn.audit(matches, by=by, reference="c")
    few = by | dict.fromkeys(list(by)[:3], "few")
    with pytest.raises(InputError, match="The group 'few' has 3 sides: a reference needs at least 8"):
        kn.audit(matches, by=few, reference="few")
    with pytest.raises(InputError, match="say by what sides are grouped"):
        kn.audit(matches, reference="a")


def test_groups_come_from_columns_lists_and_mappings_that_agree(tmp_path):
    rows = {
        "date": ["2020-01-01"] * 4, "home": ["A", "B", "C", "A"], "away": ["B", "C", "A", "C"],
        "result": [1.0, 0.0, 1.0, 0.5], "home_club": ["x", "y", "y", "x"], "away_club": ["y", "y", "x", "y"],
        "division": ["one", "two", "one", "one"],
    }  # fmt: skip
    matches = kn.read_matches(rows, conditions=["home_club", "away_club", "division"])
    wanted = {"x": ["A"], "y": ["B", "C"]}

    def names(by):
        return {name: [matches.teams[n] for n in places] for name, places in groups_of(by, matches).items()}

    assert names("club") == wanted and list(names("club")) == ["y", "x"]
    # Of the match: the value that a side has most often, the first of its alphabet where two are level.
    assert names("division") == {"one": ["A", "B", "C"]}
    listed = tmp_path / "groups.csv"
    listed.write_text("name,group\nA,x\nB,y\nC,y\nnobody,z\n")
    assert names(str(listed)) == names({"A": "x", "B": "y", "C": "y"}) == wanted
    assert names({"name": ["A", "B", "C"], "group": ["x", "y", "y"]}) == wanted
    listed.write_text("name,group\nA,x\nA,y\n")
    with pytest.raises(InputError, match="puts 'A' into two groups"):
        groups_of(str(listed), matches)
    with pytest.raises(InputError, match=r"no column 'region', nor one for each side \(home_region, away_region\)"):
        groups_of("region", matches)
    with pytest.raises(InputError, match="names no group of these sides"):
        groups_of({"nobody": "z"}, matches)
    assert columns_of("club", ["date", "home_club", "away_club"]) == ["home_club", "away_club"]
    chess = ["White", "Black", "Black category", "White category", "event"]
    for name in ("category", "Category", "White category", "Black category"):
        assert columns_of(name, chess) == ["White category", "Black category"]
    assert columns_of("event", chess) == ["event"]


def test_a_group_in_words_and_in_a_picture():
    young = GroupFound(
        "U18", 12, Shift(1310.0, 20.0, 12), Shift(38.0, 8.0, 12), Shift(-2.0, 5.0, 9), Shift(-71.0, 20.0, 12)
    )
    old = GroupFound("rest", 1, None, None, None, Shift(12.0, 3.0, 30))
    assert group_words(young) == (
        "12 sides; newcomers belong at 1310 (1271 to 1349); grows stronger by 38 (22 to 54) points a year, next to all "
        "sides; its ratings fall against its strengths by 2 (-8 to 12) points a year (within chance); is rated too low "
        "today by 71 (32 to 110) points, next to all sides"
    )
    assert group_words(old) == "1 side; is rated too high today by 12 (6 to 18) points, next to all sides"
    _, bias, gain, inflation = groups_chart((young, old)).traces
    assert list(bias.y) == [-71.0, 12.0] and list(gain.y) == [38.0] and list(inflation.y) == [-2.0]
    assert list(bias.error) == pytest.approx([39.2, 5.88])
    assert len({one.role for one in (bias, gain, inflation)}) == 3 and groups_chart((young, old)).x_names == (
        "U18",
        "rest",
    )
    long = tuple(replace(old, group=f"club of the town number {n}") for n in range(4))
    assert groups_chart(long).x_names == ("1", "2", "3", "4") and "4 club of the town" in groups_chart(long).x_title


def test_a_page_draws_the_intervals_of_groups_within_its_axes_and_names_them():
    young = GroupFound("U18", 12, None, None, None, Shift(-71.0, 20.0, 12))
    old = GroupFound("rest", 9, None, None, None, Shift(12.0, 3.0, 30))
    drawn = chart_html(groups_chart((young, old)))
    assert ">U18</text>" in drawn and ">rest</text>" in drawn
    bars = [
        [float(part) for part in one] for one in re.findall(r"M([\d.]+),([\d.]+)V([\d.]+)", drawn.split("line h0")[1])
    ]
    dots = [[float(part) for part in one] for one in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    assert len(bars) == len(dots) == 2
    for (x, top, bottom), (u, v), shift in zip(bars, dots, (young.bias, old.bias)):
        assert x == u and (top + bottom) / 2 == pytest.approx(v, abs=0.01) and TOP < top < bottom < HEIGHT - BOTTOM
        # Both on one scale: 39.2 points of the first are the longest of all.
        assert (bottom - top) / (bars[0][2] - bars[0][1]) == pytest.approx(shift.error / young.bias.error, rel=0.01)


def test_names_with_commas_are_quoted():
    assert ", ".join(quoted(name) for name in ("Kern, Ben", "Jung, Jan", "Sand")) == '"Kern, Ben", "Jung, Jan", Sand'
