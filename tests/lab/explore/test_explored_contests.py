"""Contests of many teams on the Explore tab: played, foreseen and refused as the library does."""

from __future__ import annotations

import contextlib
import io

import numpy as np
import pytest

import kinelo as kn
from kinelo.errors import InputError
from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.live import LiveRun
from kinelo.lab.explore.theory import unanswered
from kinelo.lab.explore.verdict import judged, state_of, whole_answer


def test_two_teams_play_the_matches_of_the_paper():
    assert Controls().system == Controls(sides=2).system and Controls().system.schedule is None
    assert Controls(sides=8).system.schedule == kn.model.Field(8)


def test_theory_and_a_league_of_contests_agree():
    controls = Controls(sides=8, gamma=0.3, teams=60)
    run, answer = LiveRun(1, controls), whole_answer(controls)
    for _ in range(400):
        run.advance(20.0)
    league = run.evidence()
    run.close()
    assert run.matches == pytest.approx(8000) and run._goal == 8000 * 60 // 8
    assert state_of(answer, league) == "agree"
    duels = whole_answer(controls.but(sides=2))
    assert answer.luck < 0.7 * duels.luck and answer.slope < duels.slope - 0.04  # less luck stretches the scale less
    shown = judged(answer, league, controls)["facts"]
    assert any(fact["text"].startswith("contests per team") for fact in shown)


def test_the_lines_of_python_play_the_contests_of_the_page():
    controls = Controls(sides=5, teams=20)
    run, names = LiveRun(1, controls, seed=3), {}
    run.advance(30.0)
    run.close()
    with contextlib.redirect_stdout(io.StringIO()):
        exec(run.opening()["python"]["paper"].replace("PAIRS", str(run._goal)), names)
    assert np.array_equal(names["rating"], run.rating)


@pytest.mark.parametrize(
    "other",
    [{"ties": 0.2}, {"steps": "glicko"}, {"schedule": "period"}, {"schedule": "rounds"}, {"pairing": "local"},
     {"pairing": "window"}],
)  # fmt: skip
def test_what_is_played_between_two_excludes_contests_and_the_reason_is_said(other):
    with pytest.raises(InputError, match="let 2 teams meet"):
        Controls.read({"sides": 3, **other})
    assert Controls.read({"sides": 2, **other}).sides == 2


def test_moving_strengths_are_played_in_contests_without_a_theory():
    controls = Controls(sides=4, motion="form", teams=20)
    assert "contests of many" in unanswered(controls)
    run = LiveRun(1, controls)
    run.advance(10.0)
    assert run.matches == pytest.approx(10.0, rel=0.05)
    run.close()
