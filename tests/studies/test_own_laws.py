"""Laws of one's own in study files, and stored runs that know them by their formulas."""

import sys

import pytest
from scipy import stats

import kinelo as kn
from kinelo.model.law import built_in_laws
from kinelo.studies import parse_study, read_study
from kinelo.studies.simulation import run_simulation, simulation_inputs
from kinelo.studies.solution import run_solution, solution_inputs

MODULE = """
import math
from dataclasses import dataclass
import numpy as np
import kinelo as kn

@dataclass(frozen=True)
class Algebraic(kn.model.Outcome):
    rate: float = 1.0

    def scalar_b(self):
        rate = self.rate
        return lambda z: rate * z / math.sqrt(FACTOR + (rate * z) ** 2)

class Coin(kn.model.Strength):
    def __init__(self, theta, stake):
        self.stake = stake
        self.describe(theta, stake)

    def performances(self, team, uniforms):
        return self.theta[team] + np.where(uniforms[:, 0] < 0.5, -self.stake, self.stake)

bell = kn.model.Pairing.from_function(lambda z: math.exp(-z * z / 8))
"""

OUTCOMES = ", ".join(repr(one.key) for one in built_in_laws(kn.model.Outcome))


def study(**change):
    return parse_study(
        {
            "gamma": 0.05,
            "outcome": {"kind": "my_laws:Algebraic", "rate": 0.5},
            "pairing": {"kind": "my_laws:bell"},
            "league": {"kind": "my_laws:Coin", "theta": [4.0, 7.0, 10.0], "stake": 1.0},
            "simulate": {"steps": 20, "seed": 3, "record_every": 10},
            **change,
        },
        allow_code=True,
    )


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of laws in the working folder; called again, it is the same module with another formula."""

    def write(factor, text=MODULE):
        sys.modules.pop("my_laws", None)
        (tmp_path / "my_laws.py").write_text(text.replace("FACTOR", str(factor)))
        sys.path_importer_cache.pop(str(tmp_path), None)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    write(1)
    yield write
    sys.modules.pop("my_laws", None)


def test_a_study_of_ones_own_laws_is_played_and_stored(module, tmp_path):
    plan = study()
    assert plan.system.outcome.rate == 0.5 and plan.strengths.teams == 3 and plan.system.pairing.w(0.0) == 1
    stored = run_simulation(plan, tmp_path / "run")
    direct = kn.simulate(plan.system, plan.strengths, steps=20, seed=3, record_every=10)
    assert (stored.rating.transpose(*direct.rating.dims).values == direct.rating.values).all()


def test_a_run_made_with_another_formula_is_not_continued(module, tmp_path):
    before = simulation_inputs(study())
    run_simulation(study(), tmp_path / "run")
    module(1)
    assert simulation_inputs(study()) == before, "an unchanged law keeps its digest, also once it was used"
    run_simulation(study(), tmp_path / "run")
    module(2)
    with pytest.raises(kn.InputError, match="another outcome: the code of my_laws:Algebraic is not what it was"):
        run_simulation(study(), tmp_path / "run")
    with pytest.raises(kn.InputError, match=r"outcome is \{'kind': 'my_laws:Algebraic', 'rate': 0.5\} there"):
        run_simulation(study(outcome={"kind": "my_laws:Algebraic", "rate": 0.7}), tmp_path / "run")


def test_the_digest_of_a_law_does_not_change_by_use(module):
    plan = study()
    before = simulation_inputs(plan)
    kn.diagnose(kn.RatingSystem(plan.system.outcome), kn.Normal([0.0, 1.0], 0.5))
    _ = plan.system.pairing.finest, plan.system.pairing.softened(), plan.system.outcome.supremum
    assert simulation_inputs(plan) == before


def test_built_in_laws_need_no_digest():
    built_in = {"outcome": {"kind": "tanh", "nu": 0.5}, "pairing": {"kind": "local"}, "league": {"kind": "r2"}}
    assert "laws" not in simulation_inputs(study(**built_in))


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ({"kind": "no_such_module:Law"}, r"\[outcome\] The law no_such_module:Law was not found: No module named"),
        ({"kind": "my_laws:Nothing"}, "was not found: module 'my_laws' has no attribute 'Nothing'"),
        ({"kind": "my_laws:Coin"}, r"my_laws:Coin is not a class made from kinelo\.model\.Outcome"),
        ({"kind": "my_laws:math"}, r"is not a class made from kinelo\.model\.Outcome"),
        ({"kind": "my_laws:Algebraic", "speed": 2}, "cannot be made from speed: .*unexpected keyword argument 'speed'"),
        ({"kind": "broken:Law"}, "broken:Law was not found: ZeroDivisionError: division by zero"),
        ({"kind": "unreadable:Law"}, "unreadable:Law was not found: SyntaxError"),
        ({"kind": "tan"}, f'must be one of {OUTCOMES}, or "module:Class" for a law of your own'),
    ],
)
def test_mistakes_are_named(outcome, words, module, tmp_path):
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "unreadable.py").write_text("class Law(:\n")
    with pytest.raises(kn.InputError, match=words) as caught:
        study(outcome=outcome)
    assert "\n" not in str(caught.value)


KINETIC = {
    "population": {"kind": "uniform", "theta": [4, 10, 6], "r": [2, 12, 20], "sigma": 1.0},
    "solve": {"until": 0.5, "shape": {"kind": "scipy.stats:t", "df": 3}},
}


def solved(**shape):
    plan = {"gamma": 0.05, "outcome": {"kind": "tanh", "nu": 0.5}, **KINETIC}
    return parse_study({**plan, "solve": {"until": 0.5, "shape": shape}} if shape else plan)


def test_a_study_solves_for_performances_of_any_shape(tmp_path):
    plan = solved()
    run = run_solution(plan, tmp_path / "run")
    direct = kn.solve(plan.system, plan.teams, until=0.5, shape=stats.t(3))
    assert (run.density.values == direct.density.values).all()
    assert run.attrs["shape"] == "t(df=3)" and direct.attrs["shape"] == "t(3)"
    normal = kn.solve(plan.system, plan.teams, until=0.5)
    assert abs(normal.density.values[-1] - direct.density.values[-1]).max() > 1e-4
    other = solved(kind="scipy.stats:t", df=4)
    assert solution_inputs(plan)["laws"]["shape"] != solution_inputs(other)["laws"]["shape"]
    with pytest.raises(kn.InputError):
        run_solution(other, tmp_path / "run")


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({"kind": "scipy.stats:t"}, "with its parameters"),
        ({"kind": "scipy.stats:t", "degrees": 3}, "cannot be made from degrees"),
        ({"kind": "scipy.stats:tea"}, "was not found"),
        ({"kind": "scipy.stats:cauchy", "loc": 0}, "finite mean"),
    ],
)
def test_a_shape_that_cannot_be_gets_a_sentence(shape, said):
    with pytest.raises(kn.InputError, match=rf"\[solve.shape\].*{said}"):
        solved(**shape)


def test_laws_beside_the_study_file_are_found(module, tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_text('gamma = 0.05\n[outcome]\nkind = "my_laws:Algebraic"\nrate = 0.5\n')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    before = list(sys.path)
    assert read_study("../own.toml", allow_code=True).system.outcome.rate == 0.5
    assert sys.path == before
