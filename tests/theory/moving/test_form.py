"""Form and walks: the closure team by team, its limits, and the step size that tracks best."""

import math

import numpy as np
import pytest

import kinelo as kn
from kinelo.theory.closure import LeagueClosure
from kinelo.theory.covariance import motion_of
from kinelo.theory.moving.following import follow
from kinelo.theory.pair_means import PairMeans
from kinelo.theory.teams import teams_of

EQUALS = kn.theory.Continuum(0.0)
HALF = kn.Tanh(0.5)
FORM = kn.model.Form(0.01, 1.0)


def closure(strengths, dynamics, gamma, outcome=HALF):
    solver = LeagueClosure(kn.RatingSystem(outcome), teams_of(strengths), motion=motion_of(dynamics))
    return follow(solver, solver.solve(gamma, solver.teams.theta))


def small_step_gamma(slope, shake, dynamics):
    """``max(0, s/√q − ω/μ)``: the best step while fluctuations are small, from μ = E b' and q = E(S − b)²."""
    rate = dynamics.rate if isinstance(dynamics, kn.model.Form) else 0.0
    return max(0.0, dynamics.step / math.sqrt(shake) - rate / slope)


def test_equal_teams_reference():
    found = kn.tracking(kn.RatingSystem(HALF, gamma=0.1), EQUALS, FORM)
    assert pytest.approx((0.76193747, 0.84361342, 0.31973847), abs=1e-8) == (found.C, found.U, found.E)


def test_continuum_reference():
    found = closure(kn.theory.Continuum((4, 10), nodes=40), FORM, 0.1)
    values = (found.between.rating_slope, found.within.C, found.within.U, (found.within + found.between).error)
    assert values == pytest.approx((0.94499234, 0.67064856, 0.74238427, 0.41017878), abs=1e-8)


def test_finite_league_reference():
    """Simulated, 200 teams: .8890(17), .5331(5), .4999(14); independent ones lie ¼ % off, as 1/N does."""
    found = closure(kn.Fixed(np.linspace(4, 10, 200)), FORM, 0.05)
    values = (found.between.rating_slope, found.within.C)
    assert abs(found.moments.error - 0.5331) < 2 * 0.0005 + 0.002 * 0.5331
    assert values == pytest.approx((0.890058, 0.501867), rel=4e-3)


@pytest.mark.parametrize(
    ("rate", "gamma", "error"), [(0.01, 0.1162171, 0.3169133), (0.005, 0.0911034, 0.2284354), (0.02, None, 0.43337)]
)
def test_best_step_reference(rate, gamma, error):
    best = kn.best_gamma(HALF, EQUALS, kn.model.Form(rate, 1.0))
    assert best.error == pytest.approx(error, abs=6e-6 if gamma is None else 6e-8)
    if gamma is not None:
        assert best.gamma == pytest.approx(gamma, abs=6e-8)
    assert best.error <= best.errors.min() + 1e-12
    assert best.parts.total == pytest.approx(best.error)


def test_best_step_of_a_continuum_reference():
    best = kn.best_gamma(HALF, kn.theory.Continuum((4, 10), nodes=24), FORM)
    assert (best.gamma, best.error) == pytest.approx((0.142422, 0.3903023), abs=6e-7)


def test_fast_form_is_performance_noise():
    """ω → ∞ at fixed V gives the stationary state of normal performances with σ² = V."""
    theta = np.linspace(4, 10, 30)
    fast = closure(kn.Fixed(theta), kn.model.Form(1e9, 1.0), 0.25)
    still = kn.stationary(
        kn.RatingSystem(HALF, gamma=0.25), kn.theory.Continuum((4, 10), sigma=1.0, nodes=24), noise="gaussian"
    )
    large = closure(kn.theory.Continuum((4, 10), nodes=24), kn.model.Form(1e9, 1.0), 0.25)
    assert large.rating == pytest.approx(still.rating, abs=1e-8)
    assert large.variance == pytest.approx(still.variance, abs=1e-8)
    assert fast.within.C < 1e-8


def test_strengths_at_rest_are_the_stationary_state():
    """Without motion the closure is that of the stationary ratings, for any outcome."""
    outcome = kn.model.Davidson(0.6, 1.3)
    league = kn.theory.Continuum((0, 3), sigma=0.8, nodes=20)
    still = kn.stationary(kn.RatingSystem(outcome, gamma=0.3), league, noise="gaussian")
    found = closure(league, None, 0.3, outcome)
    assert found.rating == pytest.approx(still.rating, abs=1e-8)
    assert found.variance == pytest.approx(still.variance, abs=1e-8)


def test_walk_at_small_steps():
    """γ* = s√(ν/μ), E* = s/√(νμ): noise and lag are equal at the optimum."""
    s = 1e-4
    best = kn.best_gamma(HALF, EQUALS, kn.model.Walk(s))
    assert best.gamma == pytest.approx(s, rel=1e-3)
    assert best.error == pytest.approx(s / 0.5, rel=1e-3)
    assert best.parts.noise == pytest.approx(best.parts.lag, rel=1e-6)
    assert small_step_gamma(0.5, 1.0, kn.model.Walk(s)) == pytest.approx(s)


def test_slow_forms_pay_and_fast_ones_do_not():
    """Tracking pays only if V > ωq/2μ²; else γ* = 0 and the error is V."""
    assert kn.best_gamma(HALF, EQUALS, kn.model.Form(0.5, 0.3)).gamma == 0
    assert kn.best_gamma(HALF, EQUALS, kn.model.Form(0.5, 0.3)).error == pytest.approx(0.09)
    assert small_step_gamma(0.5, 1.0, kn.model.Form(0.5, 0.3)) == 0


def test_series_agree_with_the_plane():
    """Slow twin: a product of two correlated b by quadrature in the plane."""
    outcome = kn.model.Davidson(0.7, 1.0)
    x, w = np.polynomial.hermite_e.hermegauss(120)
    w = w / w.sum()
    one = PairMeans(outcome, np.array([0.4]), np.array([1.3]))
    two = PairMeans(outcome, np.array([-0.2]), np.array([0.9]))
    for correlation in (-0.5, 0.0, 0.8):
        y = correlation * x[:, None] + math.sqrt(1 - correlation**2) * x[None, :]
        plane = (w * outcome.b(0.4 + 1.3 * x)) @ outcome.b(-0.2 + 0.9 * y) @ w
        assert one.product(two, np.array([correlation * 1.3 * 0.9])) == pytest.approx(plane, abs=1e-9)


LEAGUES = [
    (np.zeros(2), 0.1, 0.229853),
    (np.zeros(4), 0.1, 0.277691),
    (np.array([0.0, 1.0, 2.0]), 0.05, 0.359632),
    (np.linspace(0, 2, 6), 0.1, 0.310526),
    (np.linspace(0, 2, 10), 0.05, 0.393399),
]


@pytest.mark.parametrize(("theta", "gamma", "error"), LEAGUES)
def test_small_leagues_reference(theta, gamma, error):
    """The whole covariance; independent teams are off by up to 45 %."""
    assert closure(kn.Fixed(theta), FORM, gamma).moments.error == pytest.approx(error, abs=6e-7)


@pytest.mark.parametrize(
    ("theta", "gamma", "error"),
    [
        (np.zeros(2), 0.1, 0.236405666),
        (np.zeros(4), 0.1, 0.2814),
        (np.array([0.0, 1.0, 2.0]), 0.05, 0.3775),
        (np.linspace(0, 2, 6), 0.1, 0.3184),
        (np.linspace(0, 2, 10), 0.05, 0.3983),
    ],
)
def test_few_teams_corrected_by_two_reference(theta, gamma, error):
    """Two teams exactly; the others within 1 % of the reference simulation, whose own error is .1 %."""
    found = kn.tracking(kn.RatingSystem(HALF, gamma=gamma), kn.Fixed(theta), FORM)
    assert pytest.approx(error, rel=1e-6 if theta.size == 2 else 0.01) == found.E
    assert found.kind == ("exact" if theta.size == 2 else "joint")
    assert found.parts.total == pytest.approx(found.E)


def test_what_two_teams_are_solved_to_is_enough_for_few(monkeypatch):
    system, league = kn.RatingSystem(HALF, gamma=0.1), kn.Fixed([0.0, 0.4, 1.5])
    quick = kn.tracking(system, league, FORM).E
    monkeypatch.setattr("kinelo.theory.moving.following.QUICK", 1e-12)
    assert pytest.approx(quick, rel=1e-7) == kn.tracking(system, league, FORM).E


def test_the_equations_of_a_small_league_written_out():
    """Slow twin: C, U and means of three teams with their own steps fulfil the matrix equations, each mean by
    quadrature in the plane; ``(1/φ − 1)C + pΓA_rC = pΓA_θV``, ``ΓA_rU + UA_rΓ = ΓA_θC' + CA_θΓ + Γ Lap(Q)Γ``.
    """
    theta, sigma, steps, V = np.array([0.0, 0.7, 2.0]), np.array([0.3, 0.6, 0.0]), np.array([0.3, 0.1, 0.2]), 0.64
    outcome, form = kn.model.Davidson(0.7, 1.1), kn.model.Form(0.03, 0.8)
    solver = LeagueClosure(kn.RatingSystem(outcome), teams_of(kn.Normal(theta, sigma)), motion=motion_of(form))
    m, C, U = solver.solve(steps, theta).state
    x, w = np.polynomial.hermite_e.hermegauss(80)
    w = w / w.sum()
    drift, B_r, B_s, Q = np.zeros((4, 3, 3))
    for i in range(3):
        for j in range(3):
            if i == j:
                continue
            own = math.sqrt(2 * V + sigma[i] ** 2 + sigma[j] ** 2)
            spread = math.sqrt(U[i, i] + U[j, j] - 2 * U[i, j])
            rho = (C[i, i] + C[j, j] - C[i, j] - C[j, i]) / (own * spread)
            strength = theta[i] - theta[j] + own * x
            rating = m[i] - m[j] + spread * (rho * x[:, None] + math.sqrt(1 - rho**2) * x[None, :])
            result, decided = outcome.b(strength), 1 - outcome.tie_probability(strength)
            B_s[i, j], B_r[i, j] = w @ outcome.b_prime(strength), w @ outcome.b_prime(rating) @ w
            drift[i, j] = w @ result - w @ outcome.b(rating) @ w
            Q[i, j] = w @ decided - 2 * (w * result) @ outcome.b(rating) @ w + w @ outcome.b(rating) ** 2 @ w

    def lap(pairs):
        return np.diag(pairs.sum(axis=1)) - pairs

    assert drift.sum(axis=1) == pytest.approx(np.zeros(3), abs=1e-9)
    G, p = np.diag(steps), 2 / (3 * 2)
    left = (math.exp(2 * 0.03 / 3) - 1) * C + p * G @ lap(B_r) @ C
    assert left == pytest.approx(p * G @ lap(B_s) * V, abs=1e-9)
    flow = G @ lap(B_r) @ U - G @ lap(B_s) @ C.T
    assert flow + flow.T == pytest.approx(G @ lap(Q) @ G, abs=1e-9)
    assert (1 / steps) @ U == pytest.approx(np.zeros(3), abs=1e-10)


def test_many_teams_become_independent():
    """The factor N/(N − 1) being known, whole covariance and independent teams differ by a fiftieth of 1/N."""
    for size in (10, 40):
        solvers = [
            LeagueClosure(
                kn.RatingSystem(HALF), teams_of(kn.Fixed(np.linspace(0, 3, size))), motion=motion_of(FORM), whole=whole
            )
            for whole in (True, False)
        ]
        whole, apart = (follow(one, one.solve(0.1, one.teams.theta)).moments.error for one in solvers)
        assert abs(whole / apart - 1) < 0.02 / size


def test_best_step_depends_on_the_number_of_teams():
    """Fewer teams know one another better: a smaller step follows best. Two teams are exact."""
    best, few, many = (kn.best_gamma(HALF, kn.Fixed(np.zeros(size)), FORM) for size in (2, 4, 10))
    assert best.gamma < few.gamma < many.gamma < 0.1162171
    errors = [
        kn.tracking(kn.RatingSystem(HALF, gamma=best.gamma * f), kn.Fixed([0.0, 0.0]), FORM).E for f in (0.9, 1, 1.1)
    ]
    assert errors[1] == min(errors) and best.error == pytest.approx(errors[1], rel=1e-4)


def test_tracking_of_more_equal_teams_than_are_kept_whole():
    found = kn.tracking(kn.RatingSystem(HALF, gamma=0.1), kn.Fixed(np.zeros(400)), FORM)
    assert found.kind == "independent"
    assert pytest.approx(0.31973847, rel=2e-3) == found.E
