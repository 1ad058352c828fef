"""The formulas handed to compiled code are the laws themselves, and only built-in laws carry a code."""

import math
import types

import numpy as np
import pytest

import kinelo as kn

OUTCOMES = [kn.Tanh(0.7), kn.model.Probit(1.3), kn.model.Davidson(0.5, 0.0), kn.model.Davidson(0.5, 3.0)]
PAIRINGS = [kn.model.AllPlayAll(), kn.model.Local(), kn.model.Window(2.0), kn.model.Window(2.0, smoothing=0.3)]
Z = np.array([-800.0, -3.0, -2.0, -1e-3, 0.0, 0.4, 2.0, 2.1, 50.0])


def same(formula, law):
    np.testing.assert_allclose([formula(float(z)) for z in Z], law(Z), rtol=0, atol=4e-16)


@pytest.mark.parametrize("outcome", OUTCOMES, ids=repr)
def test_outcome_formulas_are_the_law(outcome):
    same(outcome.scalar_b(), outcome.b)
    same(outcome.scalar_tie(), outcome.tie_probability)


@pytest.mark.parametrize("pairing", PAIRINGS, ids=repr)
def test_pairing_formulas_are_the_law(pairing):
    same(pairing.scalar_w(), pairing.w)


@pytest.mark.parametrize("law", [*OUTCOMES, *PAIRINGS], ids=repr)
def test_formulas_close_over_plain_numbers_only(law):
    formulas = [law.scalar_w()] if isinstance(law, kn.model.Pairing) else [law.scalar_b(), law.scalar_tie()]
    for formula in formulas:
        assert isinstance(formula, types.FunctionType)
        assert all(type(cell.cell_contents) is float for cell in formula.__closure__ or ())


def test_a_subclass_is_never_taken_for_the_built_in_law():
    class Steeper(kn.Tanh):
        def scalar_b(self):
            nu = self.nu
            return lambda z: math.tanh(2 * nu * z)

    assert kn.Tanh(0.5).code is not None and Steeper(0.5).code is None
    with pytest.raises(kn.InputError, match="cannot be simulated"):
        kn.simulate(kn.RatingSystem(Steeper(0.5)), kn.Fixed([0.0, 1.0]), steps=1, seed=1)


@pytest.mark.parametrize(
    "league",
    [
        kn.Fixed([1.0, 2.0]),
        kn.Normal([1.0, 2.0], [0.5, 3.0]),
        kn.model.Empirical([[1.0, 3.0], [2.0, 2.5]], [0.2, 0.8]),
        kn.model.LineupLottery([[0.0, 1.0, 4.0], [1.0, 1.0, 2.0]], 2),
    ],
    ids=repr,
)
def test_performances_have_the_moments_of_the_law(league):
    """Seeded; a deviation of 5 standard errors has probability below 1e-6 for each of 16 numbers."""
    size = 200_000
    team = np.repeat([0, 1], size)
    uniforms = np.random.default_rng(3).random((2 * size, league.uniforms))
    drawn = league.performances(team, uniforms).reshape(2, size)
    tolerance = 5 * league.sigma.max() / math.sqrt(size)
    np.testing.assert_allclose(drawn.mean(axis=1), league.theta, atol=tolerance + 1e-12)
    np.testing.assert_allclose(drawn.std(axis=1), league.sigma, atol=2 * tolerance + 1e-12)
