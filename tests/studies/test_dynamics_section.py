"""The [dynamics] section: read, checked, carried out into a store, continued after an interruption."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.studies.simulation import run_simulation
from kinelo.studies.solution import run_solution, solution_inputs
from kinelo.studies.study import parse_study

CONTENT = {
    "gamma": 0.1,
    "outcome": {"kind": "tanh", "nu": 0.5},
    "league": {"kind": "fixed", "theta": [0.0, 1.0, 2.0]},
    "simulate": {"steps": 20, "matches_per_step": 10, "realisations": 2, "seed": 3, "record_every": 5},
}
FORM = {"kind": "form", "rate": 0.02, "spread": 0.7}


@pytest.mark.parametrize(
    ("section", "dynamics"),
    [
        (FORM, kn.model.Form(0.02, 0.7)),
        ({"kind": "walk", "spread": 0.1}, kn.model.Walk(0.1)),
        ({"kind": "learning", "alpha": 0.4, "on": "result"}, kn.model.Learning(0.4, on="result")),
    ],
)
def test_a_section_is_what_it_says(section, dynamics):
    assert parse_study({**CONTENT, "dynamics": section}).motion == dynamics


def test_turnover_and_deviations_are_read():
    turnover = {"kind": "turnover", "rate": 0.1, "theta": [1.0, 2.0], "start": 1.0, "leaving": "weakest"}
    deviation = {"kind": "deviation", "growth": 0.1, "start": 1.0}
    study = parse_study({**CONTENT, "gamma": deviation, "dynamics": turnover})
    assert study.motion.arriving == 1.5 and study.system.gamma == kn.model.DeviationSteps(0.1, 1.0)


def test_the_stored_run_is_the_run(tmp_path):
    stored = run_simulation(parse_study({**CONTENT, "dynamics": FORM}), tmp_path / "run")
    run = kn.simulate(
        kn.RatingSystem(kn.Tanh(0.5), gamma=0.1), kn.Fixed([0.0, 1.0, 2.0]), steps=20, matches_per_step=10,
        realisations=2, seed=3, record_every=5, dynamics=kn.model.Form(0.02, 0.7),
    )  # fmt: skip
    for name in ("rating", "strength", "age"):
        assert np.array_equal(stored[name].transpose(*run[name].dims).values, run[name].values)


@pytest.mark.parametrize(
    ("section", "schedule", "dynamics"),
    [({}, None, None), ({"dynamics": FORM}, None, kn.model.Form(0.02, 0.7)),
     ({"schedule": {"kind": "field", "size": 3}}, kn.model.Field(3), None)],
)  # fmt: skip
def test_a_stored_run_tells_time_and_plan_as_the_run_does(section, schedule, dynamics, tmp_path):
    league = {"league": {"kind": "fixed", "theta": [0.0, 1.0, 2.0, 4.5]}}
    stored = run_simulation(parse_study({**CONTENT, **league, **section}), tmp_path / "run")
    system = kn.RatingSystem(kn.Tanh(0.5), gamma=0.1, schedule=schedule)
    run = kn.simulate(system, kn.Fixed([0.0, 1.0, 2.0, 4.5]), **CONTENT["simulate"], dynamics=dynamics)
    assert stored.time.values.tolist() == run.time.values.tolist()
    assert {name: stored.attrs[name] for name in run.attrs} == run.attrs


def test_the_stored_solution_moves_strengths(tmp_path):
    population = {"kind": "uniform", "theta": [-2.0, 2.0, 12], "r": [-4.0, 4.0, 24], "sigma": 0.0}
    base = {name: CONTENT[name] for name in ("gamma", "outcome")}
    study = parse_study({**base, "dynamics": FORM, "population": population, "solve": {"until": 0.5, "samples": 2}})
    stored = run_solution(study, tmp_path / "run")
    run = kn.solve(study.system, study.teams, until=0.5, samples=2, dynamics=study.motion)
    assert np.array_equal(stored.density.values[-1], run.density.values[-1])
    assert solution_inputs(study)["dynamics"]["kind"] == "form"
    assert run.strength_variance.values[-1] > 1.01 * run.strength_variance.values[0]


def test_nonsense_is_refused_with_its_section():
    with pytest.raises(kn.InputError, match=r"\[dynamics\] rate must be greater than 0"):
        parse_study({**CONTENT, "dynamics": {"kind": "form", "rate": 0.0, "spread": 1.0}})
