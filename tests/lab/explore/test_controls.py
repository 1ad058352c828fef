"""What the sliders, presets and units of the Explore tab mean to the model."""

from __future__ import annotations

import contextlib
import io
import json
import math
import struct

import numpy as np
import pytest

import kinelo as kn
from kinelo.lab.control import Options, Slider
from kinelo.lab.explore.controls import PRESETS, Controls, described_presets
from kinelo.lab.explore.live import LiveRun
from kinelo.lab.explore.theory import diagnosis_in, predicted_map, unanswered
from kinelo.lab.explore.verdict import TheoryAnswer, judged
from kinelo.lab.units import Units


def test_each_slider_does_to_the_model_what_it_says():
    normal = Controls(sigma=0.7, gamma=0.2, nu=0.8, teams=30)
    assert normal.system.gamma == 0.2 and normal.system.outcome == kn.Tanh(nu=0.8)
    assert normal.strengths().teams == 30 and np.all(normal.strengths().sigma == 0.7)
    assert normal.strengths().theta.min() >= 4 and normal.strengths().theta.max() <= 10
    squads = Controls(law="lottery", players=9, lineup=4, unevenness=2.0, teams=30).strengths()
    assert isinstance(squads, kn.model.LineupLottery) and squads.sigma.min() > 0
    assert np.all(Controls(law="lottery", unevenness=0.0).strengths().sigma < 1e-12)
    assert Controls(pairing="window", window=1.5).system.pairing == kn.model.Window(1.5)
    assert Controls(pairing="local").system.pairing == kn.model.Local()
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


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"law": "lottery", "ties": 0.3, "nu": 0.7, "start": "equal"},
        {"pairing": "window", "window": 1.5},
        {"motion": "form", "rate": 0.03, "spread": 0.7},
        {"motion": "walk", "schedule": "period", "period": 4},
        {"steps": "glicko", "growth": 0.2},
        {"schedule": "rounds", "gamma": 0.05},
        {"motion": "form", "pairing": "local"},
    ],
    ids=str,
)
def test_the_lines_of_python_play_the_league_of_the_page(given):
    controls = Controls.read({"teams": 12, **given})
    run = LiveRun(1, controls, seed=5)
    for _ in range(7):
        run.advance(13.7)
    head, ratings, strengths = decoded(run.frame(1), controls)
    printed, names = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(run.opening()["python"]["paper"].replace("PAIRS", str(head["pairs"])), names)
    assert head["pairs"] > 7 * 13 * 12 / 2 * 0.9
    assert np.array_equal(names["rating"].astype("<f4"), ratings)  # every bit that the page was sent
    assert np.array_equal(names["strength"].astype("<f4"), strengths)
    if unanswered(controls):
        assert f"# {unanswered(controls)}" in run.opening()["python"]["paper"]
        with pytest.raises(kn.InputError, match="no theory"):
            predicted_map(controls)
        return
    expected = predicted_map(controls)
    assert list(map(float, printed.getvalue().split()[-2:])) == [expected.slope, expected.luck]
    in_elo = io.StringIO()
    with contextlib.redirect_stdout(in_elo):
        exec(run.opening()["python"]["elo"].replace("PAIRS", str(head["pairs"])), names)
    slope, luck = map(float, in_elo.getvalue().split()[-2:])
    assert (slope, luck) == (expected.slope, pytest.approx(expected.luck * controls.elo_points))
    first = float(in_elo.getvalue().split()[0].strip("["))
    assert first == pytest.approx(1500 + controls.elo_points * (names["rating"][0] - 7), rel=1e-6)


def decoded(frame: bytes, controls: Controls) -> tuple[dict, np.ndarray, np.ndarray]:
    """Head, ratings and strengths of a frame without a pinned league."""
    (length,) = struct.unpack_from("<I", frame)
    floats = np.frombuffer(frame, "<f4", offset=4 + length, count=controls.teams * (1 + (controls.motion != "still")))
    still = controls.strengths(5).theta.astype("<f4")
    strengths = floats[controls.teams :] if controls.motion != "still" else still
    return json.loads(frame[4 : 4 + length]), floats[: controls.teams], strengths


def test_each_motion_schedule_and_step_is_what_the_library_calls_so():
    assert Controls().dynamics is None and Controls().system.schedule is None
    assert Controls(motion="form", rate=0.02, spread=0.5).dynamics == kn.model.Form(rate=0.02, spread=0.5)
    assert Controls(motion="walk", walk=0.03).dynamics == kn.model.Walk(spread=0.03)
    assert Controls(motion="learning", alpha=0.6, beta=0.1, diffusion=0.3).dynamics == kn.model.Learning(0.6, 0.1, 0.3)
    assert Controls(schedule="rounds").system.schedule == kn.model.Rounds()
    assert Controls(schedule="period", period=7).system.schedule == kn.model.Period(7)
    assert Controls(steps="glicko", growth=0.2, deviation=1.5).system.gamma == kn.model.DeviationSteps(
        growth=0.2, start=1.5
    )
    for given in ({"steps": "glicko", "ties": 0.3}, {"steps": "glicko", "motion": "learning"}):
        with pytest.raises(kn.InputError, match="one step for all"):
            Controls.read(given)


def test_theory_of_moving_leagues_is_that_of_the_library():
    many = kn.theory.Continuum((4, 10), 0.5, nodes=40)
    form = Controls(motion="form", sigma=0.5, gamma=0.2)
    found, line = kn.tracking(form.system, many, kn.model.Form(rate=0.01, spread=1.0)), predicted_map(form)
    assert (line.slope, line.luck) == (found.C / found.V, found.E**0.5)
    assert sum(part**2 for part in line.parts) == pytest.approx(found.E)
    across = (line.rating[-1] - line.rating[0]) / (line.theta[-1] - line.theta[0])
    assert across == pytest.approx(found.C / found.V)
    left = found.U - found.C**2 / found.V  # what strengths leave open of ratings
    assert np.all(line.deviation == left**0.5)
    glicko = predicted_map(Controls(steps="glicko", sigma=0.5))
    settled = kn.theory.settled_deviations(kn.Tanh(nu=0.5), many, growth=0.1, noise="gaussian")
    assert glicko.slope == settled.slope and np.array_equal(glicko.rating, settled.rating)
    with pytest.raises(kn.errors.NoStationaryState, match=r"2\.5 times the one from which rounds"):
        predicted_map(Controls(schedule="rounds", teams=20, gamma=0.7))
    with pytest.raises(kn.InputError, match="at most 200 teams"):
        predicted_map(Controls(schedule="rounds", teams=300, gamma=0.01))


def test_presets_are_positions_of_the_sliders_with_the_k_that_they_name():
    names = Controls.controls()
    for preset, plain in zip(PRESETS, described_presets(), strict=True):
        assert Controls.read(plain["values"]) == preset.values
        assert all(
            isinstance(names[n], Options) or names[n].low <= v <= names[n].high for n, v in plain["values"].items()
        )
    k = {one.name: 2 * one.values.gamma * one.values.elo_points for one in PRESETS}
    assert (k["chess"], k["football"], k["online"]) == pytest.approx((20, 20, 32))
    chess = next(one.values for one in PRESETS if one.name == "chess")
    assert chess.sigma * chess.elo_points == pytest.approx(100, rel=0.01)
    assert predicted_map(next(one.values for one in PRESETS if one.name == "fair")).slope == pytest.approx(
        1.0, abs=0.01
    )


def test_facts_are_written_in_the_points_of_the_page():
    answer = TheoryAnswer(0.8, -0.5, 0.3, 0.58, matches=10.0)
    paper, elo = judged(answer, None), judged(answer, None, units=Units("elo", 800 * 0.5 / math.log(10)))
    assert [fact["value"] for fact in paper["facts"]] == ["0.80", "± 0.30", "0.58", "0.50", "10"]
    assert [fact["value"] for fact in elo["facts"]] == ["0.80", "± 52", "101", "87", "10"]
    assert (Units().step(0.1), Units("elo", 200.0).step(0.1)) == ("γ = 0.1", "K = 40")  # K = 2γ


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"sigma": -1}, "sigma must lie between 0 and 3, not at -1"),
        ({"teams": 20.5}, "teams must be a whole number"),
        ({"sigma": True}, "sigma must be a number from 0 to 3"),
        ({"law": "dice"}, "law must be one of normal, lottery"),
        ({"colour": 1}, "There is no control 'colour'"),
        ({"law": "lottery", "players": 5, "lineup": 6}, "lineup must be at most 5, where “Squad” stands"),
        ({"steps": "glicko", "ties": 0.25}, "know no draws"),
        ([], "names with values"),
    ],
)
def test_what_cannot_be_played_is_refused_with_a_sentence(given, complaint):
    with pytest.raises(kn.InputError, match=complaint):
        Controls.read(given)


def test_every_clash_is_refused_and_either_half_of_it_can_be_played():
    """The page disables what the server refuses: both read the same declaration."""
    controls = Controls.controls()

    def half(name: str, option: str | None) -> dict:
        return {name: controls[name].high if option is None else option}

    for clash in Controls.clashes:
        one, other = half(*clash.one), half(*clash.other)
        assert Controls.read(one) != Controls() != Controls.read(other)
        with pytest.raises(kn.InputError, match=clash.reason[:20]):
            Controls.read({**one, **other})


@pytest.mark.parametrize(
    "given",
    [{}, pytest.param({"pairing": "local"}, marks=pytest.mark.long), {"motion": "form"}, {"motion": "learning"}],
    ids=str,
)
def test_a_diagnosis_in_elo_points_is_the_same_one_on_another_scale(given):
    controls = Controls.read(given)
    paper, elo = (diagnosis_in(controls, name) for name in ("paper", "elo"))
    point = controls.elo_points
    assert elo.slope == pytest.approx(paper.slope, rel=1e-4)
    assert elo.rating_noise == pytest.approx(point * paper.rating_noise, rel=1e-3)
    if paper.unbiased_gamma:
        assert elo.unbiased_gamma == pytest.approx(point * paper.unbiased_gamma, rel=1e-3)
    if paper.motion is not None and paper.motion.tracking is not None:
        assert pytest.approx(point**2 * paper.motion.tracking.E, rel=1e-3) == elo.motion.tracking.E


SLIDERS = {
    # first, from, to, step, logarithmic, shown before all others, unit
    "sigma": (1.0, 0.0, 3.0, 0.05, False, True, "points"),
    "unevenness": (4.0, 0.0, 8.0, 0.1, False, True, ""),
    "players": (23, 2, 30, 1, False, False, ""),
    "lineup": (11, 1, 30, 1, False, False, ""),
    "rate": (0.01, 0.001, 0.2, 0.001, True, False, "share"),
    "spread": (1.0, 0.1, 3.0, 0.05, False, False, "points"),
    "walk": (0.02, 0.005, 0.3, 0.001, True, False, "points"),
    "alpha": (0.5, 0.0, 2.0, 0.05, False, False, ""),
    "beta": (0.2, 0.0, 2.0, 0.05, False, False, ""),
    "diffusion": (0.5, 0.0, 2.0, 0.05, False, False, ""),
    "gamma": (0.1, 0.01, 1.0, 0.01, True, True, "step"),
    "growth": (0.1, 0.01, 1.0, 0.01, True, True, "points"),
    "deviation": (2.0, 0.1, 3.0, 0.1, False, False, "points"),
    "period": (10, 2, 60, 1, False, False, ""),
    "sides": (2, 2, 16, 1, False, False, ""),
    "nu": (0.5, 0.05, 2.0, 0.01, True, False, ""),
    "ties": (0.0, 0.0, 0.6, 0.05, False, False, "share"),
    "teams": (200, 10, 500, 10, False, False, ""),
    "window": (2.0, 0.5, 6.0, 0.1, False, False, "points"),
}
"""What the page offers, apart from where it is declared: links and lessons are made for these ranges."""


def test_the_page_offers_what_links_and_lessons_are_made_for():
    found = {
        name: (Controls.defaults()[name], c.low, c.high, c.step, c.logarithmic, c.first, c.unit)
        for name, c in Controls.controls().items()
        if isinstance(c, Slider)
    }
    assert found == SLIDERS
    assert {name: Controls.defaults()[name] for name in Controls.controls() if name not in SLIDERS} == {
        "law": "normal", "motion": "still", "steps": "fixed", "schedule": "single", "pairing": "all", "start": "random",
    }  # fmt: skip
    for name, (first, low, high, *_) in SLIDERS.items():
        assert low <= first <= high
        for beyond in (low - 0.01, high + 0.01):
            with pytest.raises(kn.InputError, match=f"^{name} must lie between {low:g} and {high:g}, not at "):
                Controls.read({name: beyond})


def test_presets_change_what_their_names_say():
    defaults = Controls().to_dict()
    changed = {one.name: {k: v for k, v in one.values.to_dict().items() if v != defaults[k]} for one in PRESETS}
    for name in ("chess", "football", "online"):
        del changed[name]["gamma"]  # K is held above
    assert changed == {
        "first": {}, "squads": {"law": "lottery"}, "fair": {"gamma": 0.61}, "chess": {"ties": 0.5, "sigma": 1.15},
        "football": {"ties": 0.25, "teams": 20}, "form": {"motion": "form", "sigma": 0.5, "gamma": 0.2},
        "rounds": {"schedule": "rounds", "teams": 20, "gamma": 0.05}, "glicko": {"steps": "glicko", "start": "equal"},
        "contests": {"sides": 8}, "online": {"sigma": 0.6, "teams": 500, "pairing": "window", "start": "equal"},
    }  # fmt: skip


def test_steps_are_written_alike_on_both_sides_of_a_thousand():
    elo, paper = Units("elo", 100.0), Units("paper")
    assert [elo.step(g) for g in (0.0123456, 4.9974, 4.9976, 7.0)] == ["K = 2.47", "K = 999", "K = 1,000", "K = 1,400"]
    assert [paper.step(0.0123456), paper.points(-0.004), paper.points(1.256, 1), elo.points(-12.346)] == [
        "γ = 0.0123", "0.00", "1.3", "-1,235",
    ]  # fmt: skip
