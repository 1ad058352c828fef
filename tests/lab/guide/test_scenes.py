"""Every scene shows what the library computes; sentences are true at every stop; its Python prints its numbers."""

from __future__ import annotations

import contextlib
import io
import json
import math
import re

import numpy as np
import pytest

import kinelo as kn
from kinelo.errors import InputError
from kinelo.lab.guide.matches import ELO, STRONG, UNITS, why_too_low
from kinelo.lab.guide.scenes import (
    GuideController,
    described_scenes,
    scene_pictures,
    scenes,
)  # fmt: skip

NUMBERS = range(1, 8)
LAW = kn.Tanh(nu=0.5)
LEAGUE = kn.theory.Continuum((4, 10), 1.0, nodes=40)


def picture(number: int, value: float | str | None = None, units: str = "paper") -> dict:
    control = scenes()[number - 1].control
    at = control.values.index(control.first if value is None else value)
    return scene_pictures(number, units)["pictures"][at]


def traces(chart: dict) -> dict[str, dict]:
    return {one["name"]: one for one in chart["traces"]}


@pytest.mark.parametrize("units", ["elo", "paper"])
@pytest.mark.parametrize("number", NUMBERS)
def test_the_lines_of_python_print_the_numbers_of_the_scene_in_its_units(number, units):
    """At both ends of the control and in the middle."""
    pictures = scene_pictures(number, units)["pictures"]
    for one in (pictures[0], pictures[len(pictures) // 2], pictures[-1]):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(one["python"], {})
        assert [float(line) for line in printed.getvalue().split()] == pytest.approx(one["numbers"], rel=1e-5)
        json.dumps(one, allow_nan=False)


@pytest.mark.parametrize("units", ["elo", "paper"])
@pytest.mark.parametrize("number", NUMBERS)
def test_sentences_are_true_at_every_stop(number, units):
    """Nothing is told from itself, no amount has a sign, no number is missing, and one unit is spoken throughout."""
    scene = scene_pictures(number, units)
    said = [one["sentence"] for one in scene["pictures"]]
    labels = [one["chart"]["label"] for one in scene["pictures"]] + [
        one["beside"]["label"] for one in scene["pictures"]
    ]
    more = [text for one in scene["pictures"] for text in one["more"]]
    for text in (*said, *labels, *more, scene["question"]["words"]):
        assert not re.search(r"nan|inf|None|e\+|-0\b", text), text
        assert not re.search(r"(?:by|costs it|brings it|±|misses? (?:least: by)?) -\d", text), text
        for one, other in re.findall(r"([\d.]+ %) where its strength \w* ?promises ([\d.]+ %)", text):
            assert float(one[:-2]) < float(other[:-2]), text
        assert ("γ = " in text) <= (units == "paper") and ("K = " in text) <= (units == "elo"), text
        assert not (units == "paper" and "Elo" in text), text
    assert all(text.count(". ") == 0 and text.endswith(".") for text in said)  # one sentence


@pytest.mark.parametrize("number", NUMBERS)
def test_units_change_how_points_are_written_and_nothing_else(number):
    paper, elo = (scene_pictures(number, name) for name in ("paper", "elo"))
    assert paper["question"]["right"] == elo["question"]["right"] and len(paper["pictures"]) == len(elo["pictures"])
    one, other = paper["pictures"][0]["chart"]["traces"][0], elo["pictures"][0]["chart"]["traces"][0]
    ratio = [b / a for a, b in zip(one["x"], other["x"], strict=True) if abs(a) > 0.01]
    assert ratio == pytest.approx([{6: 2 * ELO, 7: 1.0}.get(number, ELO)] * len(ratio), rel=2e-3)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_scene_asks_before_it_shows(number):
    """Something is kept until the visitor has guessed, and the answers are all different."""
    scene = scene_pictures(number, "elo")
    question = scene["question"]
    assert question["words"].endswith("?") and len(set(question["answers"])) == len(question["answers"]) in (2, 3)
    assert 0 <= question["right"] < len(question["answers"])
    for one in scene["pictures"]:
        later = [trace["later"] for trace in one["chart"]["traces"]]
        assert any(later) and not all(later)


def test_a_match_moves_ratings_as_elo_does():
    level, behind = picture(1, 0.0, "elo"), picture(1, -200.0, "elo")
    assert "a win brings it 16, a defeat costs it 16." in level["sentence"] and level["sentence"].startswith("Level")
    expected = 1 / (1 + 10 ** (200 / 400))
    assert behind["numbers"] == pytest.approx((32 * (1 - expected), 32 * expected))
    assert f"take {100 * expected:.0f} % of the points" in behind["sentence"]
    assert "brings it 2.9" in picture(1, 400.0, "elo")["sentence"]
    [right] = [scene_pictures(1, "elo")["question"]["answers"][2]]
    assert right == "24" and "costs it 24" in picture(1, 200.0, "elo")["sentence"]


def test_good_and_bad_days_flatten_the_curve():
    spread = 250 / ELO
    one = picture(2, 250.0)
    draws = np.random.default_rng(0).normal(0.0, spread, (2, 400_000))
    share = np.mean(1 + np.tanh(0.5 * (300 / ELO + draws[0] - draws[1]))) / 2  # four standard errors: 0.002
    assert one["numbers"][0] == pytest.approx(share, abs=0.002)
    assert one["numbers"][1] == pytest.approx(1 / (1 + 10 ** (-300 / 400)))
    curve = traces(one["beside"])["good and bad days"]
    assert np.interp(300 / ELO, curve["x"], curve["y"]) == pytest.approx(share, abs=0.003)
    frames = one["chart"]["frames"]
    assert len(frames["labels"]) == len(frames["x"]) == 60
    tally = re.fullmatch(r"60 matches: Ashford has won (\d+) \((\d+) %\)", frames["labels"][-1])
    assert tally and round(100 * int(tally[1]) / 60) == int(tally[2])
    assert abs(int(tally[1]) - 60 * share) < 4 * math.sqrt(60 * share * (1 - share))
    assert picture(2, 0.0)["numbers"][0] == pytest.approx(picture(2, 0.0)["numbers"][1])


def test_ratings_settle_where_the_promise_equals_what_is_taken():
    """Not because defeats cost more than wins bring: without good and bad days nothing is wrong."""
    one, still = picture(3, 175.0), picture(3, 0.0)
    share, settled = one["numbers"]
    assert (1 + math.tanh(0.5 * settled)) / 2 == pytest.approx(share)
    assert share == pytest.approx((1 + kn.expected_result(LAW, kn.Normal([0, 525 / ELO], sigma=175 / ELO))[1, 0]) / 2)
    assert "takes 91 % where its strength promises 95 %" in one["sentence"] and settled < 525 / ELO
    assert still["numbers"][1] == pytest.approx(525 / ELO) and "settles where it belongs" in still["sentence"]
    path = traces(one["beside"])["Ashford's lead"]["y"]
    later = np.array(path[len(path) // 3 :])  # K = 32 forgets in tens of matches; luck of the mean: some 0.05
    assert later.mean() == pytest.approx(settled, abs=0.2) and later.mean() < 525 / ELO - 0.4


@pytest.mark.parametrize("start", ["random", "equal", "reversed"])
def test_a_league_settles_where_theory_said(start):
    one = picture(4, start)
    frames, shown = one["chart"]["frames"], traces(one["chart"])
    theta = np.array(shown["teams"]["x"])
    first, last = (np.polyfit(theta, frames["y"][k], 1)[0] for k in (0, -1))
    expected = kn.stationary(kn.RatingSystem(LAW, gamma=16 / ELO), LEAGUE, noise="gaussian")
    assert one["numbers"][0] == pytest.approx(expected.slope)
    assert np.polyfit(shown["theory"]["x"], shown["theory"]["y"], 1)[0] == pytest.approx(expected.slope, abs=0.01)
    assert last == pytest.approx(expected.slope, abs=0.1)  # five standard deviations of a hundred teams at one moment
    assert first == pytest.approx({"random": first, "equal": 0.0, "reversed": -1.0}[start], abs=1e-3)
    assert frames["labels"][-1].endswith(f"slope {last:.2f}") and f"slope of {last:.2f}" in one["sentence"]


def test_four_times_the_step_is_about_twice_the_luck():
    one = picture(5, 16.0)
    small, large = one["numbers"]
    assert large / small == pytest.approx(2.0, rel=0.1)
    played = traces(one["beside"])["leagues played"]
    off = np.abs(np.array(played["y"]) - [small, large])
    assert np.all(off < 2 * np.array(played["error"]) + 0.02 * np.array([small, large]))  # four standard errors
    assert np.all(np.array(played["error"]) < 0.1 * np.array([small, large]))
    shown = traces(one["chart"])
    spread = []
    for name in ("γ = 0.0461", "γ = 0.184"):
        x, y = shown[name]["x"], shown[name]["y"]
        spread.append(np.std(y - np.polyval(np.polyfit(x, y, 3), x)))
    assert spread == pytest.approx([small, large], rel=0.22)  # a hundred teams: ± 7 %, three times


def test_the_fair_step_is_shown_with_its_price():
    fair = kn.unbiased_gamma(LAW, LEAGUE)
    k = float(round(2 * ELO * fair))
    at, small = picture(6, k), picture(6, 32.0)
    assert at["numbers"][0] == pytest.approx(fair)
    total = {}
    for gamma in (k / 2 / ELO, 16 / ELO):
        state = kn.stationary(kn.RatingSystem(LAW, gamma=gamma), LEAGUE, noise="gaussian")
        total[gamma] = math.sqrt(state.teams.mean((state.rating - state.theta) ** 2 + state.variance))
    assert (at["numbers"][1], small["numbers"][1]) == pytest.approx(tuple(total.values()))
    assert at["numbers"][1] > 2 * small["numbers"][1]  # 174 points against 84
    both = traces(small["chart"])["both together"]
    assert both["y"] == sorted(both["y"])  # strengths at rest: the smaller the step, the smaller the miss
    assert "right on average" in at["sentence"] and "misses least" in at["sentence"]
    assert "too close together" in small["sentence"] and "too far apart" in picture(6, 320.0)["sentence"]
    shown = traces(small["beside"])
    off = np.abs(np.array(shown["leagues played"]["y"]) - shown["theory"]["y"])
    assert np.all(
        off < 2 * np.array(shown["leagues played"]["error"]) + 0.02
    )  # four standard errors and a hundred teams


def test_the_best_step_has_the_least_error_and_the_path_follows():
    one = picture(7, 32.0)
    shown = traces(one["beside"])
    best, error = one["numbers"]
    found = kn.best_gamma(LAW, kn.Fixed([7.0] * 20), kn.model.Form(rate=0.01, spread=1.0))
    assert (best, error) == pytest.approx((found.gamma, found.error**0.5))
    assert error <= min(shown["both"]["y"]) + 1e-3
    assert shown["lag"]["y"][0] > shown["lag"]["y"][-1] and shown["luck"]["y"][0] < shown["luck"]["y"][-1]
    path = traces(one["chart"])
    strength, rating = (np.array(path[name]["y"]) for name in ("Ashford's strength", "its rating, γ = 0.0921"))
    assert 0.25 < np.sqrt(np.mean((strength - rating) ** 2)) < 1.1 and np.corrcoef(strength, rating)[0, 1] > 0.3
    for k in (4.0, 192.0):
        here = (
            kn.tracking(kn.RatingSystem(LAW, gamma=k / 2 / ELO), kn.Fixed([7.0] * 20), kn.model.Form(0.01, 1.0)).E
            ** 0.5
        )
        assert traces(picture(7, k)["beside"])["this step"]["y"] == pytest.approx([here], rel=0.01)
        assert f"by ± {here:.2f} points" in picture(7, k)["sentence"]


def test_seven_scenes_with_titles_that_are_sentences_and_one_control_each():
    listed = described_scenes()
    assert len(listed) == 7
    for number, scene in enumerate(listed, 1):
        control = scene["control"]
        assert len(scene["answer"].split()) > 4 and control["first"] in control["values"]
        assert len(scene["title"].split()) > 4 and scene["title"].endswith("?")
        assert len(scene_pictures(number, "elo")["labels"]) == len(control["values"])
    for number, units, complaint in ((8, "elo", "scenes 1 to 7"), (0, "elo", "scenes"), (1, "miles", "elo or paper")):
        with pytest.raises(InputError, match=complaint):
            scene_pictures(number, units)


def test_guesses_are_counted_by_scene_and_answer():
    counts = GuideController()
    for number, choice in ((2, 1), (3, 0), (2, 1), (2, 2)):
        counts.guess(number, choice)
    assert (
        counts.guess(2, None) == [0, 2, 1] and counts.guess(3, None) == [1, 0, 0] and counts.guess(4, None) == [0] * 3
    )
    for number, choice in ((2, 3), (2, -1), (2, True), (2, "1"), (0, 0), (8, None)):
        with pytest.raises(InputError):
            counts.guess(number, choice)
    assert counts.guess(2, None) == [0, 2, 1]


@pytest.mark.parametrize("spread", [0.0, 250.0])
def test_without_good_and_bad_days_the_best_settles_where_it_belongs(spread):
    said = why_too_low(UNITS["elo"], spread).sentence.replace(STRONG, "Ann")
    gap = 525 / ELO
    share = (1 + kn.expected_result(LAW, kn.Normal([0.0, gap], spread / ELO))[1, 0]) / 2
    settled = math.atanh(2 * share - 1) / LAW.nu * ELO
    ahead = f"without good and bad days ann takes the {share:.0%}" if spread == 0 else f"ann takes {share:.0%}"
    assert said.lower().startswith(ahead.replace("%", " %"))
    assert ("settles where it belongs, 525 Elo points ahead" in said) == (spread == 0.0)
    assert (f"settles {settled:.0f} Elo points ahead" in said and f"{settled / 525:.0%}"[:2] in said) == (spread > 0.0)
