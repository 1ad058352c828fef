"""Every scene shows what the library computes, and its lines of Python print the numbers that it names."""

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
from kinelo.lab.guide.scenes import SCENES, described_scenes, scene_picture
from kinelo.lab.guide.units import ELO_POINTS, Units

OTHER = [
    {"gap": 1.0, "winner": "second", "gamma": 0.2},
    {"sigma": 0.5, "gap": 1.0, "seed": 2},
    {"sigma": 2.0, "gap": 2.0, "lead": 1.0},
    {"sigma": 0.5, "gamma": 0.3, "start": "reversed", "seed": 3},
    {"gamma": 0.2, "sigma": 0.0},
    {"gamma": 0.4, "sigma": 1.5},
    {"gamma": 0.2, "rate": 0.03},
]


def traces(picture: dict, chart: int = 0) -> dict[str, dict]:
    return {one["name"]: one for one in picture["charts"][chart]["traces"]}


@pytest.mark.parametrize("number", range(1, 8))
@pytest.mark.parametrize("moved", [False, True])
def test_the_lines_of_python_print_the_numbers_of_the_scene(number, moved):
    picture = scene_picture(number, OTHER[number - 1] if moved else {})
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(picture["python"], {})
    assert [float(line) for line in printed.getvalue().split()] == pytest.approx(picture["numbers"], rel=1e-9)
    json.dumps(picture, allow_nan=False)


@pytest.mark.parametrize("number", range(1, 8))
def test_units_change_how_points_are_written_and_nothing_else(number):
    paper, elo = (scene_picture(number, {"units": name}) for name in ("paper", "elo"))
    assert paper["numbers"] == elo["numbers"] and paper["python"] == elo["python"]
    one, other = paper["charts"][-1]["traces"][-1], elo["charts"][-1]["traces"][-1]
    ratio = [b / a for a, b in zip(one["x"], other["x"], strict=True) if abs(a) > 0.1]
    assert ratio == pytest.approx([2 * ELO_POINTS if number == 7 else ELO_POINTS] * len(ratio), rel=1e-3)


def test_steps_are_written_as_gamma_or_as_k():
    """At ν = ½ one point of the paper is 400/ln 10 Elo points, and K is twice γ."""
    assert Units("paper").step(0.1) == "γ = 0.1"
    assert Units("elo").step(0.1) == f"K = {0.2 * 400 / math.log(10):.3g}"
    assert (Units("paper").points(1.5), Units("elo").points(1.5)) == ("1.50", f"{600 / math.log(10):.0f}")


def test_one_match_moves_ratings_as_elo_does():
    picture = scene_picture(1, {})
    assert "brings 16 Elo points" in picture["take"] and "400 weaker brings 2.9" in picture["take"]
    upset = scene_picture(1, {"gap": 1.0, "winner": "second", "gamma": 0.2, "units": "paper"})
    change = 0.2 * (1 + math.tanh(0.5))  # lost by the favourite
    assert traces(upset)["after"]["x"] == pytest.approx([0.5 - change, -0.5 + change], abs=1e-4)
    assert traces(upset)["before"]["x"] == [0.5, -0.5]
    assert traces(upset, 1)["this match"]["y"] == pytest.approx([change], abs=1e-4)
    assert traces(upset, 1)["this match"]["x"] == [-1.0]


def test_good_and_bad_days_flatten_the_curve():
    picture = scene_picture(2, {"sigma": 1.5, "gap": 2.0, "seed": 4, "units": "paper"})
    draws = np.random.default_rng(0).normal(0.0, 1.5, (2, 400_000))
    share = np.mean(1 + np.tanh(0.5 * (2.0 + draws[0] - draws[1]))) / 2  # four standard errors: 0.002
    assert picture["numbers"][0] == pytest.approx(share, abs=0.002)
    assert picture["numbers"][1] == pytest.approx((1 + math.tanh(1.0)) / 2)
    curve = traces(picture, 1)["with good and bad days"]
    assert np.interp(2.0, curve["x"], curve["y"]) == pytest.approx(share, abs=0.003)
    frames = picture["charts"][0]["frames"]
    assert len(frames["labels"]) == len(frames["x"]) == 60
    tally = re.fullmatch(r"60 matches: (\d+) won \((\d+) %\); (\d+) % expected", frames["labels"][-1])
    assert tally and round(100 * int(tally[1]) / 60) == int(tally[2]) and int(tally[3]) == round(100 * share)
    assert abs(int(tally[1]) - 60 * share) < 4 * math.sqrt(60 * share * (1 - share))


def test_gains_and_losses_cancel_below_the_true_lead():
    picture = scene_picture(3, {"sigma": 1.0, "gap": 3.0, "lead": 2.0, "units": "paper"})
    balance, rule = picture["numbers"]
    assert balance < 3.0 and rule == pytest.approx(1 / math.sqrt(1 + math.pi / 4))
    curve = traces(picture, 1)["average change"]
    assert np.interp(balance, curve["x"], curve["y"]) == pytest.approx(0.0, abs=1e-3)
    strip = traces(picture)
    wins, defeats = strip["wins"]["y"], strip["defeats"]["y"]
    assert len(wins) + len(defeats) == 50 and min(wins) > 0 > max(defeats)
    gamma = 16 / ELO_POINTS
    assert wins[0] == pytest.approx(gamma * (1 - math.tanh(1.0)), abs=1e-4)
    assert defeats[0] == pytest.approx(-gamma * (1 + math.tanh(1.0)), abs=1e-4)
    assert f"its {len(wins)} wins bring {sum(wins):.3g}"[:18] in picture["sentences"][1]


@pytest.mark.parametrize("start", ["random", "equal", "reversed"])
def test_a_league_settles_where_theory_said(start):
    picture = scene_picture(4, {"start": start, "gamma": 0.1, "units": "paper"})
    frames, line = picture["charts"][0]["frames"], traces(picture)["theory"]
    theta = np.array(traces(picture)["teams"]["x"])
    first, last = (np.polyfit(theta, frames["y"][k], 1)[0] for k in (0, -1))
    expected = kn.stationary(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1), kn.Continuum((4, 10), 1.0), noise="gaussian")
    assert np.polyfit(line["x"], line["y"], 1)[0] == pytest.approx(expected.slope, abs=0.01)
    assert last == pytest.approx(expected.slope, abs=0.1)  # five standard deviations of a hundred teams at one moment
    assert first == pytest.approx({"random": first, "equal": 0.0, "reversed": -1.0}[start], abs=1e-6)
    assert frames["labels"][-1].endswith(f"slope {last:.2f}")


def test_four_times_the_step_is_twice_the_luck():
    picture = scene_picture(5, {"gamma": 0.05, "units": "paper"})
    small, large = picture["numbers"]
    assert large / small == pytest.approx(2.0, rel=0.1)
    said = [float(one) for one in re.findall(r"± (\d\.\d\d)", picture["sentences"][1])]
    assert said == pytest.approx([small, large, small, large], rel=0.08)  # the leagues, then theory
    spread = []
    for chart in picture["charts"]:
        teams = chart["traces"][2]
        spread.append(np.std(teams["y"] - np.polyval(np.polyfit(teams["x"], teams["y"], 3), teams["x"])))
    assert spread == pytest.approx([small, large], rel=0.22)  # a hundred teams: ± 7 %, three times


def test_bias_and_luck_cancel_at_the_fair_step():
    picture = scene_picture(6, {"gamma": 0.3, "units": "paper"})
    shown = traces(picture)
    fair, price = picture["numbers"]
    assert np.interp(fair, shown["theory"]["x"], shown["theory"]["y"]) == pytest.approx(1.0, abs=0.02)
    there = np.interp(shown["leagues played"]["x"], shown["theory"]["x"], shown["theory"]["y"])
    assert shown["leagues played"]["y"] == pytest.approx(there, abs=0.06)
    assert shown["your step"]["x"] == [0.3] and shown["fair step"]["x"] == pytest.approx([fair], abs=1e-4)
    assert f"γ = {fair:.3g}" in picture["take"] and f"± {price:.2f}" in picture["take"]
    still = scene_picture(6, {"sigma": 0.0})
    assert "tiny steps" in still["take"] and "fair step" not in traces(still)


def test_the_best_step_has_the_least_error_and_the_path_follows():
    picture = scene_picture(7, {"gamma": 0.1, "units": "paper"})
    both = traces(picture, 1)["both"]
    best, error = picture["numbers"]
    assert error <= min(both["y"]) + 1e-4
    least = int(np.argmin(both["y"]))  # the best step lies between the neighbours of the lowest point drawn
    assert 0 < least < len(both["x"]) - 1 and both["x"][least - 1] < best < both["x"][least + 1]
    lag, luck = traces(picture, 1)["lag"]["y"], traces(picture, 1)["luck"]["y"]
    assert lag[0] > lag[-1] and luck[0] < luck[-1]
    path = traces(picture)
    off = np.sqrt(np.mean((np.array(path["strength"]["y"]) - np.array(path["rating"]["y"])) ** 2))
    assert 0.25 < off < 1.1 and np.corrcoef(path["strength"]["y"], path["rating"]["y"])[0, 1] > 0.3


@pytest.mark.parametrize(
    ("number", "values", "complaint"),
    [
        (8, {}, "scenes 1 to 7"),
        (1, {"gap": 99}, "between -5 and 5"),
        (1, {"sigma": 1.0}, "has no 'sigma'"),
        (4, {"start": "nowhere"}, "must be one of random"),
        (2, [], "names with values"),
    ],
)
def test_a_scene_refuses_with_a_sentence(number, values, complaint):
    with pytest.raises(InputError, match=complaint):
        scene_picture(number, values)


def test_seven_scenes_with_titles_that_are_sentences():
    listed = described_scenes()["scenes"]
    assert len(listed) == len(SCENES) == 7
    assert all(len(scene["title"].split()) > 4 and scene["controls"] for scene in listed)


@pytest.mark.parametrize("gamma", [0.01, 0.5])
def test_the_error_of_any_step_is_that_of_tracking_however_far_from_the_best(gamma):
    picture = scene_picture(7, {"gamma": gamma, "rate": 0.02, "units": "paper"})
    system, form = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=gamma), kn.Form(rate=0.02, spread=1.0)
    error = kn.tracking(system, kn.Fixed([7.0] * 20), form).E ** 0.5
    traces = {one["name"]: one for one in picture["charts"][1]["traces"]}
    assert traces["your step"]["y"] == pytest.approx([error], rel=0.01)
    assert traces["both"]["x"][0] <= gamma <= traces["both"]["x"][-1]
    assert float(re.search(r"off by ± ([\d.]+) points", picture["sentences"][1]).group(1)) == pytest.approx(
        error, abs=0.01
    )
