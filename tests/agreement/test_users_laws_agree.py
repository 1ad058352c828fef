"""Laws that users bring, in every theory: each agrees with the others, for random admissible b, w and laws."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq

import kinelo as kn

outcomes = st.one_of(
    st.builds(
        lambda nu: kn.model.Outcome.from_function(lambda z: nu * z / math.sqrt(1 + (nu * z) ** 2)), st.floats(0.3, 1)
    ),
    st.builds(
        lambda nu: kn.model.Outcome.from_function(lambda z: 2 / math.pi * math.atan(math.sinh(nu * z))),
        st.floats(0.3, 1),
    ),
    st.builds(
        lambda nu, part: kn.model.Outcome.from_function(
            lambda z: part * math.tanh(nu * z) + (1 - part) * math.erf(nu * z)
        ),
        st.floats(0.3, 0.8),
        st.floats(0, 1),
    ),
)
pairings = st.one_of(
    st.builds(lambda s: kn.model.Pairing.from_function(lambda z: math.exp(-z * z / (2 * s * s))), st.floats(2, 5)),
    st.builds(
        lambda c: kn.model.Pairing.from_function(lambda z: 1.0 if abs(z) < c else 0.5, jumps=[c]), st.floats(2, 4)
    ),
)
shapes = st.sampled_from([stats.t(5), stats.gamma(4.0), stats.laplace(), stats.norm()])


@given(outcomes, shapes)
@settings(max_examples=4, deadline=None)
def test_stationary_ratings_score_what_the_strengths_do(outcome, shape):
    league = kn.model.Scaled(shape, np.linspace(0, 4, 8), np.linspace(0.4, 1, 8))
    state = kn.stationary(kn.RatingSystem(outcome), league)
    scored = outcome.b(state.rating[:, None] - state.rating[None, :]).mean(axis=1)
    np.testing.assert_allclose(scored, kn.expected_result(outcome, league).mean(axis=1), atol=1e-11)
    np.testing.assert_allclose(state.rating_of(league.theta[[2]], sigma=float(league.sigma[2])), state.rating[[2]],
                               atol=1e-7)  # fmt: skip
    noisy = kn.stationary(kn.RatingSystem(outcome, gamma=0.05), league, noise="gaussian")
    assert (noisy.variance > 0).all() and kn.relaxation(kn.RatingSystem(outcome), league).gap > 0


@given(outcomes, pairings)
@settings(max_examples=3, deadline=None)
def test_pairings_of_users_have_an_equilibrium_with_noise(outcome, pairing):
    league = kn.Normal(np.linspace(0, 2, 6), 0.5)
    system = kn.RatingSystem(outcome, pairing, gamma=0.01)
    state = kn.stationary(system, league)
    gap = state.rating[:, None] - state.rating[None, :]
    drift = (pairing.w(gap) * (kn.expected_result(outcome, league) - outcome.b(gap))).sum(axis=1)
    assert np.abs(drift).max() < 1e-10
    assert (kn.stationary(system, league, noise="gaussian").variance > 0).all()


@pytest.mark.parametrize("shape", [stats.gamma(4.0), stats.t(5)])
def test_the_kinetic_equation_ends_at_the_stationary_map(shape):
    outcome = kn.model.Outcome.from_function(lambda z: 2 / math.pi * math.atan(math.sinh(0.8 * z)))
    system = kn.RatingSystem(outcome)
    teams = kn.macro.Population.uniform(theta=(0, 4, 16), r=(-1, 5, 60), sigma=1.0)
    run = kn.solve(system, teams, until=30.0, scheme="tvd", shape=shape)
    league = kn.model.Scaled(shape, run.theta.values, 1.0)
    rating = kn.stationary(system, league, start=np.full(16, 2.0)).rating
    assert np.abs(run.rating_given_theta[-1].values - rating).max() < 6 / 60


def test_recovery_and_diagnosis_take_a_formula():
    outcome = kn.model.Outcome.from_function(lambda z: 0.5 * z / math.sqrt(1 + 0.25 * z * z))
    league = kn.Normal([0.0, 1.0, 2.5], 1.0)
    rating = kn.stationary(kn.RatingSystem(outcome), league).rating
    np.testing.assert_allclose(kn.theory.recover_strength(outcome, rating, 1.0).theta, league.theta, atol=1e-8)
    verdict = kn.diagnose(kn.RatingSystem(outcome, gamma=0.05), league)
    assert 0 < verdict.slope < 1 and verdict.unbiased_gamma > 0
    assert verdict.to_dict()["outcome"]["kind"] == "functionoutcome"


@pytest.mark.parametrize("sampling", ["marginal", "literal"])
def test_simulated_mean_ratings_are_the_stationary_ones(sampling):
    """Means over 400 independent leagues. A right program fails with probability 1e-4: five teams, t-test, Bonferroni.

    The Gaussian closure of the noise is itself off by a little, for which .004 is allowed.
    """
    system = kn.RatingSystem(
        kn.model.Outcome.from_function(lambda z: z / math.sqrt(1 + z * z)),
        kn.model.Pairing.from_function(lambda z: math.exp(-z * z / 8)),
        gamma=0.03,
    )
    league = kn.model.Scaled(stats.t(3), [0.0, 0.5, 1.0, 1.5, 2.5], [0.6, 1.0, 0.6, 1.0, 0.6])
    expected = kn.stationary(system, league, noise="gaussian").rating
    run = kn.simulate(
        system, league, steps=60, seed=11, realisations=400, start=expected, record_every=2, sampling=sampling
    )
    means = run.rating.isel(time=slice(10, None)).mean("time").values
    error = means.std(axis=0, ddof=1) / math.sqrt(len(means))
    allowed = stats.t(len(means) - 1).isf(1e-4 / 2 / league.teams) * error + 0.004
    assert (np.abs(means.mean(axis=0) - expected) < allowed).all()


@pytest.mark.parametrize(
    "pairing",
    [
        kn.model.Pairing.from_function(lambda z: 0.02 + 0.98 * math.exp(-2 * z * z)),
        pytest.param(
            kn.model.Pairing.from_function(lambda z: 1.0 if abs(z) < 0.8 else 0.05, jumps=[0.8]), marks=pytest.mark.long
        ),
    ],
)
def test_the_kinetic_equation_with_a_pairing_of_ones_own_ends_at_the_stationary_map(pairing):
    """Ratings agree to the width of two cells; those of w ≡ 1 are twice as far away."""
    outcome = kn.model.Outcome.from_function(lambda z: z / math.sqrt(1 + z * z))
    teams = kn.macro.Population.concentrated(3.0, theta=(0, 6, 12), r=(1, 5, 160), sigma=1.5)
    run = kn.solve(kn.RatingSystem(outcome, pairing), teams, until=60.0, scheme="tvd")
    league, found = kn.Normal(run.theta.values, 1.5), run.rating_given_theta[-1].values
    assert np.abs(found - kn.stationary(kn.RatingSystem(outcome, pairing), league, start=found).rating).max() < 0.05
    assert np.abs(found - kn.stationary(kn.RatingSystem(outcome), league).rating).max() > 0.1


@pytest.mark.parametrize(("theta", "sigma"), [(5.0, 2.0), (5.0, 32.0), (900.0, 2.0)])
def test_one_more_team_is_rated_under_a_law_that_is_flat_nowhere_near(theta, sigma):
    """b = 2/π atan z is 1e-6 below 1 only at 6·10⁵; the rating is near the league, or far out where strength is."""
    league = kn.Normal([0.0, 1.0, 5.0], sigma)
    state = kn.stationary(kn.RatingSystem(kn.model.Outcome.from_function(lambda z: 2 / math.pi * math.atan(z))), league)
    spread = math.sqrt(2) * sigma

    def scored(gap):
        end = 12 * spread
        return quad(lambda x: stats.norm.pdf(x, scale=spread) * 2 / math.pi * math.atan(gap + x), -end, end,
                    points=[0.0, max(min(-gap, end), -end)], limit=400)[0]  # fmt: skip

    wanted = sum(scored(theta - other) for other in league.theta)
    expected = brentq(
        lambda r: sum(2 / math.pi * math.atan(r - other) for other in state.rating) - wanted, -1e5, 1e5, xtol=1e-9
    )
    assert state.rating_of(theta, sigma) == pytest.approx(expected, abs=1e-6 * max(1.0, abs(expected)))
