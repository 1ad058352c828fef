"""What the sliders, presets and units of the Explore tab mean to the model."""

from __future__ import annotations

import contextlib
import io
import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.lab.explore.controls import CONTROLS, PRESETS, Choice, Controls, described_presets, read_controls
from kinelo.lab.explore.judgement import judged
from kinelo.lab.explore.theory import predicted_map
from kinelo.lab.explore.verdict import TheoryAnswer


def test_each_slider_does_to_the_model_what_it_says():
    normal = Controls(sigma=0.7, gamma=0.2, nu=0.8, teams=30)
    assert normal.system.gamma == 0.2 and normal.system.outcome == kn.Tanh(nu=0.8)
    assert normal.strengths().teams == 30 and np.all(normal.strengths().sigma == 0.7)
    assert normal.strengths().theta.min() >= 4 and normal.strengths().theta.max() <= 10
    squads = Controls(law="lottery", players=9, lineup=4, unevenness=2.0, teams=30).strengths()
    assert isinstance(squads, kn.LineupLottery) and squads.sigma.min() > 0
    assert np.all(Controls(law="lottery", unevenness=0.0).strengths().sigma < 1e-12)
    assert Controls(pairing="window", window=1.5).system.pairing == kn.Window(1.5)
    assert Controls(pairing="local").system.pairing == kn.Local()
    for ties in (0.2, 0.5):
        win, draw, loss = kn.model.outcome_probabilities(Controls(ties=ties).outcome, kn.Fixed([7.0, 7.0]))
        assert draw[0, 1] == pytest.approx(ties) and win[0, 1] == pytest.approx(loss[0, 1])
    assert np.all(Controls(start="equal", teams=12).first_ratings() == 7.0)
    assert sorted(Controls(teams=12).first_ratings(3)) == pytest.approx(sorted(Controls(teams=12).strengths().theta))


@pytest.mark.parametrize("ties", [0.0, 0.3])
@pytest.mark.parametrize("nu", [0.5, 1.2])
def test_an_elo_point_is_a_point_of_expected_score_between_equals(nu, ties):
    controls = Controls(nu=nu, ties=ties)
    small = 0.001
    elo = 1 / (1 + 10 ** (-small * controls.elo_points / 400))
    assert elo - 0.5 == pytest.approx(float(controls.outcome.b(small)) / 2, rel=1e-3)


@pytest.mark.parametrize("controls", [Controls(), Controls(law="lottery", ties=0.3, nu=0.7), Controls(pairing="local")])
def test_the_lines_of_python_print_slope_and_luck_of_the_page(controls):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(controls.python, {})
    slope, luck = map(float, printed.getvalue().split())
    expected = predicted_map(controls)
    assert (slope, luck) == (expected.slope, expected.luck)


def test_python_names_the_window():
    assert "kn.Window(1.5)" in Controls(pairing="window", window=1.5).python


def test_presets_are_positions_of_the_sliders_with_the_k_that_they_name():
    names = {control.name: control for control in CONTROLS}
    for preset, plain in zip(PRESETS, described_presets(), strict=True):
        assert read_controls(plain["values"]) == preset.values
        assert all(
            isinstance(names[n], Choice) or names[n].low <= v <= names[n].high for n, v in plain["values"].items()
        )
    k = {one.name: 2 * one.values.gamma * one.values.elo_points for one in PRESETS}
    assert (k["chess"], k["football"], k["online"]) == pytest.approx((20, 20, 32))
    chess = next(one.values for one in PRESETS if one.name == "chess")
    assert chess.sigma * chess.elo_points == pytest.approx(100, rel=0.01)
    assert predicted_map(next(one.values for one in PRESETS if one.name == "fair")).slope == pytest.approx(
        1.0, abs=0.01
    )


def test_facts_are_written_in_the_points_of_the_page():
    answer = TheoryAnswer(0.8, -0.5, 0.3, matches=10.0)
    paper, elo = judged(answer, None), judged(answer, None, 800 * 0.5 / math.log(10))
    assert [fact["value"] for fact in paper["facts"]] == ["0.80", "± 0.30", "0.50", "10"]
    assert [fact["value"] for fact in elo["facts"]] == ["0.80", "± 52", "87", "10"]
