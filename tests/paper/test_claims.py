import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import synthetic

import kinelo as kn
from kinelo.paper import formulas
from kinelo.paper.catalogue import check_claims, checks, figure_names
from kinelo.paper.figures import energy, leagues, marginals, scale, spread, step_scan
from kinelo.paper.figures import homogeneous_macro as macro
from kinelo.paper.figures import homogeneous_micro as micro
from kinelo.paper.figures.closures import taylor_closure
from kinelo.paper.figures.energy import Rates, _printed_rate
from kinelo.paper.figures.scale import ScaleEvidence
from kinelo.paper.words import ASSUMPTIONS, UNTESTED


def one_league(name, **changed):
    """Both leagues as usual, with something changed in one of them."""
    runs = synthetic.leagues(1.001, 1.001)
    return runs | {name: replace(runs[name], **changed)}


def clustered(strength=5.0, rating=5.0, slope=0.0):
    around = synthetic.THETA - 7
    return one_league("R1", theta=strength + around, settled=rating + slope * around)


def bent():
    """Simulated and computed ratings agree, but lie on no line."""
    rating = synthetic.line(1.0) + 0.3 * np.sin(synthetic.THETA * 9)
    return one_league("R2", settled=rating, computed=rating)


def along(sigma_moments, theta_sd):
    """Marginals whose second moment of r is given along σ and along θ."""
    run = synthetic.marginals()["[4, 10]"]
    sd = np.asarray(theta_sd) * np.ones(40)
    flat = np.full(40, 7.0)
    return {
        "[4, 10]": replace(
            run, moment_by_sigma=np.asarray(sigma_moments), mean_given_theta=flat, sd_given_theta=sd, mean_rating=7.0
        )
    }


FALLS, RISES = synthetic.energy_run(energy=[3.0, 2.0, 1.0, 1.0]), synthetic.energy_run(energy=[0.0, 0.1, 0.2])
KEEPS = synthetic.energy_run(energy=3 * np.exp(-2 * np.linspace(0, 60, 61)))


def moments(*values):
    return synthetic.energy(uniform=synthetic.energy_run(variance=values))


def printed(energy=-3.0, moment=-1.6, which=1):
    """The printed rates right on one kind of data, and given on the other."""
    rates = [synthetic.RIGHT, synthetic.RIGHT]
    rates[which] = Rates(-3.0, energy, -1.6, moment, 0.2)
    return synthetic.energy(tuple(rates))


def at_scale(one=0.28, tenth=0.93, hundredth=0.999):
    slopes = ((1, one), (0.1, tenth), (0.01, hundredth))
    return ScaleEvidence(
        {f"ν = {nu:g}": synthetic.homogeneous(slope, 2.0, nu) for nu, slope in slopes}, synthetic.scale().early
    )


def slower(which):
    """One of the two times is out of order: ν = 0.1 takes longest."""
    early = dict(synthetic.scale().early)
    late = {which: 1e6}
    return ScaleEvidence(synthetic.scale().final, early | {"early, ν = 0.1": replace(early["early, ν = 0.1"], **late)})


@pytest.fixture(scope="module")
def everything():
    return {name: make() for name, make in synthetic.EVIDENCE.items()}


def test_every_statement_is_measured(everything):
    claims, left_out = check_claims(everything)
    assert left_out == 0
    assert len(claims) == len(checks()) == len({claim.statement for claim in claims})
    for claim in claims:
        found = claim.finding
        assert claim.place and found.measured and (not found.because or found.because.endswith("."))
        assert claim.verdict != "not measured"
        assert claim.verdict != "depends" or found.on
        assert "nan" not in found.measured


def test_statements_come_in_the_order_of_the_paper(everything):
    order = [one.order for one in checks()]
    assert order == sorted(order) and len(set(order)) == len(order)


def test_every_figure_has_its_folder_and_its_evidence():
    assert set(figure_names()) == set(synthetic.EVIDENCE)


def test_a_formula_is_repeated_and_words_are_quoted():
    """Without a quotation, the statement itself is what the paper prints."""
    unquoted = [one.statement for one in checks() if not one.quote]
    assert all(any(sign in text for sign in "=≈≤<") or text.startswith("a match") for text in unquoted)
    assert all(len(one.quote.split()) <= 40 for one in checks())


def test_statements_without_their_figures_are_left_out():
    claims, left_out = check_claims({})
    assert len(claims) + left_out == len(checks()) == 47 and len(claims) == 8


def test_a_statement_whose_run_is_missing_says_so_and_does_not_vanish(everything):
    full = everything["scale"]
    lacking = ScaleEvidence({name: run for name, run in full.final.items() if name != "ν = 1"}, full.early)
    claims, left_out = check_claims(everything | {"scale": lacking})
    assert left_out == 0 and len(claims) == len(checks())
    (lost,) = [claim for claim in claims if claim.verdict == "not measured"]
    assert lost.statement.startswith("for ν = 1") and "no run 'ν = 1'" in lost.finding.measured


def test_a_mistake_in_a_measurement_is_not_taken_for_missing_evidence(everything):
    with pytest.raises(AttributeError):
        check_claims(everything | {"closures": None})


def test_what_is_not_tested_is_named_with_its_reason():
    places = [place for place, _, _ in UNTESTED]
    assert "Theorems 1 and 2" in places and all(because.endswith(".") for _, _, because in UNTESTED)


def test_what_needs_no_figure_comes_out_as_theory_says():
    verdicts = {claim.statement: claim.verdict for claim in check_claims({})[0]}
    assert verdicts["P(S = 1) = b(λᵢ − λⱼ)"] == "misprint"
    assert verdicts["Var S ≈ (b′)² (σᵢ² + σⱼ²)"] == "does not hold"
    assert verdicts["in chess ν is around 1/400"] == "holds"


@pytest.mark.parametrize(
    ("check", "evidence", "verdict"),
    [
        (spread.spread_is_one_in_r2, synthetic.spread(), "misprint"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(0.3), "holds"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(0.84), "holds"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(0.86), "does not hold"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(0.3, mean=5.11), "does not hold"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(0.3, mean=4.89), "does not hold"),
        (spread.spread_grows_in_r1, synthetic.r1_spread(np.arange(40.0) + 1), "holds"),
        (spread.spread_grows_in_r1, synthetic.r1_spread(np.arange(40.0) ** 3), "does not hold"),
        (spread.spread_grows_in_r1, synthetic.r1_spread(-np.arange(40.0)), "does not hold"),
        (spread.r2_spreads_alike, synthetic.r2_spread(others=0.99), "input not published"),
        (spread.r2_spreads_alike, synthetic.r2_spread(others=1.01), "does not hold"),
        (spread.spread_is_one_in_r2, synthetic.r2_spread(others=1.75), "holds"),
        (spread.spread_is_one_in_r2, synthetic.r2_spread(others=2.05), "misprint"),
        (leagues.ratings_conserved, one_league("R1", mean_drift=9e-9), "holds"),
        (leagues.ratings_conserved, one_league("R1", mean_drift=1.1e-8), "does not hold"),
        (leagues.r1_clusters, clustered(slope=0.13), "holds"),
        (leagues.r1_clusters, clustered(slope=0.33), "does not hold"),
        (leagues.r1_clusters, clustered(strength=5.6), "does not hold"),
        (leagues.r1_clusters, clustered(rating=5.6), "does not hold"),
        (leagues.r2_straight_and_steady, one_league("R2"), "holds"),
        (leagues.r2_straight_and_steady, one_league("R2", computed=synthetic.line(1.001) + 0.26), "does not hold"),
        (leagues.r2_straight_and_steady, one_league("R2", computed=synthetic.line(1.001) + 0.24), "holds"),
        (leagues.r2_straight_and_steady, bent(), "does not hold"),
        (energy.second_moment_decreases, moments(3.0, 1.0, 1.5), "does not hold"),
        (energy.second_moment_decreases, moments(3.0, 1.0, 1.0), "holds"),
        (energy.energy_decays, synthetic.energy(uniform=FALLS, smooth=FALLS), "holds"),
        (energy.energy_decays, synthetic.energy(uniform=FALLS, smooth=RISES), "does not hold"),
        (energy.energy_decays, synthetic.energy(uniform=RISES, smooth=FALLS), "does not hold"),
        (energy.decay_rate, synthetic.energy(uniform=KEEPS, smooth=KEEPS), "holds"),
        (energy.decay_rate, synthetic.energy(uniform=KEEPS, smooth=FALLS), "does not hold"),
        (energy.decay_rate, synthetic.energy(uniform=FALLS, smooth=KEEPS), "does not hold"),
        (energy.printed_energy_rate, printed(), "holds"),
        (energy.printed_energy_rate, printed(energy=-3.04), "does not hold"),
        (energy.printed_energy_rate, printed(energy=-2.96, which=0), "does not hold"),
        (energy.printed_curvature, synthetic.energy(), "holds"),
        (energy.printed_curvature, printed(), "does not hold"),
        (energy.printed_curvature, printed(which=0), "does not hold"),
        (energy.printed_moment_rate, printed(), "holds"),
        (energy.printed_moment_rate, printed(moment=1.6), "does not hold"),
        (energy.printed_moment_rate, printed(moment=0.0, which=0), "does not hold"),
        (energy.steady_states, synthetic.energy(), "holds"),
        (energy.steady_states, synthetic.energy(rate=0.1), "does not hold"),
        (
            energy.steady_states,
            synthetic.energy(uniform=replace(synthetic.energy_run(), distance=np.array([1.0, 1e-4]))),
            "does not hold",
        ),
        (marginals.around_seven, synthetic.marginals(means=(5.0, 7.0)), "misprint"),
        (marginals.around_seven, synthetic.marginals(means=(6.91, 5.0)), "holds"),
        (marginals.around_seven, synthetic.marginals(means=(6.89, 7.0)), "misprint"),
        (marginals.around_seven, synthetic.marginals(means=(7.11, 7.0)), "misprint"),
        (marginals.mass_and_mean, synthetic.marginals(mass_error=9e-11), "holds"),
        (marginals.mass_and_mean, synthetic.marginals(mass_error=2e-10), "does not hold"),
        (marginals.less_accurate_with_spread, synthetic.marginals(), "holds"),
        (
            marginals.less_accurate_with_spread,
            synthetic.marginals(slope_by_sigma=(0.5, 0.5, 0.5 + 1e-5)),
            "does not hold",
        ),
        (marginals.similar_ratings, synthetic.marginals(slope_by_sigma=(0.6, 0.5, 0.34)), "does not hold"),
        (marginals.similar_ratings, synthetic.marginals(slope_by_sigma=(0.6, 0.5, 0.33)), "holds"),
        (marginals.blurred_outside, synthetic.marginals(sharp=0.299), "holds"),
        (marginals.blurred_outside, synthetic.marginals(sharp=0.301), "does not hold"),
        (marginals.bounded_density, synthetic.marginals(grown=148.4), "holds"),
        (marginals.bounded_density, synthetic.marginals(grown=148.5), "does not hold"),
        (marginals.towards_strength_in_the_middle, synthetic.marginals(start=0.6, off=0.59), "holds"),
        (marginals.towards_strength_in_the_middle, synthetic.marginals(start=0.6, off=0.61), "does not hold"),
        (marginals.second_moment_along_axes, along([1.2, 1.0, 0.9], 0.5), "holds"),
        (marginals.second_moment_along_axes, along([1.2, 1.0, 0.9], np.linspace(0.5, 0.6, 40)), "depends"),
        (marginals.second_moment_along_axes, along([1.0, 1.1, 0.9], np.linspace(0.5, 0.6, 40)), "does not hold"),
        (taylor_closure, synthetic.closures(error=0.0255), "depends"),
        (taylor_closure, synthetic.closures(error=0.0245), "holds"),
        (micro.ratings_converge_to_strength, synthetic.micro((1, 1, 0.981, 0.5)), "holds"),
        (micro.ratings_converge_to_strength, synthetic.micro((1, 1, 0.979, 0.5)), "does not hold"),
        (micro.ratings_converge_to_strength, synthetic.micro((1, 1, 1.021, 0.5)), "does not hold"),
        (micro.all_equal_for_large_spread, synthetic.micro((1, 1, 1, 0.101), last=0.099), "depends"),
        (micro.all_equal_for_large_spread, synthetic.micro((1, 1, 1, 0.099), last=0.099), "holds"),
        (micro.all_equal_for_large_spread, synthetic.micro((1, 1, 1, 0.5), last=0.101), "does not hold"),
        (micro.weak_over_strong_under, synthetic.micro((1.3, 0.99, 0.99, 0.99)), "holds"),
        (micro.weak_over_strong_under, synthetic.micro((1.3, 0.99, 1.01, 0.99)), "does not hold"),
        (micro.strong_impact, synthetic.micro((1.0, 0.9, 0.8, 0.74)), "holds"),
        (micro.strong_impact, synthetic.micro((1.0, 0.9, 0.8, 0.76)), "does not hold"),
        (micro.strong_impact, synthetic.micro((1.0, 0.8, 0.9, 0.7)), "does not hold"),
        (macro.diagonal_without_spread, synthetic.macro((0.97, 0.9, 0.76, 0.5)), "holds"),
        (macro.diagonal_without_spread, synthetic.macro((0.97, 0.9, 0.76, 0.5), fine=0.96), "does not hold"),
        (macro.diagonal_without_spread, synthetic.macro((0.97, 0.9, 0.76, 0.5), late=0.96), "does not hold"),
        (macro.diagonal_without_spread, synthetic.macro((0.94, 0.9, 0.76, 0.5)), "does not hold"),
        (scale.all_to_seven_at_nu_one, at_scale(one=0.199), "holds"),
        (scale.all_to_seven_at_nu_one, at_scale(one=0.201), "does not hold"),
        (scale.diagonal_for_small_nu, at_scale(tenth=0.981, hundredth=1.019), "holds"),
        (scale.diagonal_for_small_nu, at_scale(tenth=0.979, hundredth=0.99), "depends"),
        (scale.diagonal_for_small_nu, at_scale(tenth=0.979, hundredth=1.021), "does not hold"),
        (scale.small_nu_is_slow, synthetic.scale(), "holds"),
        (scale.small_nu_is_slow, slower("measured_to_ten_percent"), "does not hold"),
        (scale.small_nu_is_slow, slower("matches_to_ten_percent"), "does not hold"),
        (scale.large_nu_loses, at_scale(one=0.74), "holds"),
        (scale.large_nu_loses, at_scale(one=0.76), "does not hold"),
        (scale.large_nu_loses, at_scale(one=0.28, tenth=0.99, hundredth=0.9), "does not hold"),
    ],
)
def test_verdicts_follow_the_numbers(check, evidence, verdict):
    assert check.measure(evidence).verdict == verdict


@pytest.mark.parametrize(
    ("check", "leagues_of", "scan", "verdict"),
    [
        (step_scan.r1_over_and_under, {"r1": 0.997}, {}, "holds"),
        (step_scan.r1_over_and_under, {"r1": 0.999}, {}, "does not hold"),  # within two standard errors
        (step_scan.r1_over_and_under, {"r1": 1.003}, {}, "does not hold"),
        (step_scan.r2_steeper, {"r2": 1.003}, {}, "holds"),
        (step_scan.r2_steeper, {"r2": 1.001}, {}, "does not hold"),
        (step_scan.r2_steeper, {"r2": 0.997}, {}, "does not hold"),
        # The edge is −0.05, standard errors are 0.01 and 0.02; with σ = 2 both lie 0.4 lower.
        (step_scan.germany_and_brazil, {}, {"germany": -0.071, "brazil": -0.091}, "holds"),
        (step_scan.germany_and_brazil, {}, {"germany": -0.071, "brazil": -0.089}, "depends"),
        (step_scan.germany_and_brazil, {}, {"germany": -0.069, "brazil": -0.091}, "depends"),
        (step_scan.germany_and_brazil, {}, {"germany": -0.03, "brazil": -0.03, "low": 0.05}, "depends"),
        (step_scan.germany_and_brazil, {}, {"brazil": 0.37}, "does not hold"),
        (micro.observed_in_r2, {"r2": 1.019, "limit": 0.981}, {}, "holds"),
        (micro.observed_in_r2, {"r2": 1.021, "limit": 0.981}, {}, "does not hold"),
        (micro.observed_in_r2, {"r2": 1.019, "limit": 0.979}, {}, "does not hold"),
        (micro.effect_in_first_simulations, {"r1": 0.997, "r2": 0.997}, {}, "holds"),
        (micro.effect_in_first_simulations, {"r1": 0.997, "r2": 0.999}, {}, "depends"),
        (micro.effect_in_first_simulations, {"r1": 1.003, "r2": 0.999}, {}, "does not hold"),
    ],
)
def test_verdicts_on_figure_two_follow_slopes_and_their_errors(check, leagues_of, scan, verdict):
    assert check.measure(synthetic.leagues(**leagues_of), synthetic.step_scan(**scan)).verdict == verdict


def test_words_on_germany_and_brazil_and_on_the_set_ups_follow_the_numbers():
    measure = step_scan.germany_and_brazil.measure
    assert measure(synthetic.leagues(), synthetic.step_scan(brazil=-0.08)).on.endswith("clear with 2, not with 1")
    first = micro.effect_in_first_simulations.measure
    assert first(synthetic.leagues(r1=0.9, r2=1.1), synthetic.step_scan()).on.endswith("true of R1, not of R2")
    assert first(synthetic.leagues(r1=1.1, r2=0.9), synthetic.step_scan()).on.endswith("true of R2, not of R1")


def test_a_range_ends_where_the_first_statement_fails():
    """Three margins, straight between γ: one is positive from 0.05 on, one up to 0.15, one up to 0.2."""
    gamma = np.array([0.01, 0.1, 0.25])
    found = step_scan._range(gamma, gamma - 0.05, 0.15 - gamma, 2 * (0.2 - gamma))
    assert found == pytest.approx((0.05, 0.15), abs=1e-4)
    assert step_scan._range(gamma, gamma - 0.2, 0.1 - gamma) == (np.inf, -np.inf)
    nowhere = replace(synthetic.step_scan(), ranges={1.0: (np.inf, -np.inf), 2.0: (0.07, 0.14)})
    said = step_scan.r1_over_and_under.measure(synthetic.leagues(), nowhere).more
    assert said.endswith("for γ from no γ (σ = 1), 0.070 to 0.140 (σ = 2).")


def test_agreement_is_judged_by_the_raw_difference():
    """5 % of the axis are 0.3 points, and teams reach 3 from the centre: a difference of slopes of 0.1."""
    for off, verdict in ((0.099, "holds"), (0.101, "depends")):
        moved = synthetic.macro((1.0, 0.9, 0.76, 0.5 + off))
        assert macro.micro_and_macro_agree.measure(synthetic.micro(), moved).verdict == verdict
    never = macro.micro_and_macro_agree.measure(synthetic.micro(), synthetic.macro((0.8, 0.7, 0.5, 0.3)))
    assert never.verdict == "does not hold"


def test_the_raw_difference_stands_beside_the_corrected_one():
    simulated, kinetic = synthetic.micro(), synthetic.macro((1.0, 0.9, 0.76, 0.46))
    noisy = {name: replace(run, map_rating=run.map_rating + 0.05) for name, run in simulated.runs.items()}
    free = {name: replace(run, free_mean=run.free_mean + 0.02) for name, run in kinetic.runs.items()}
    found = macro.micro_and_macro_agree.measure(replace(simulated, runs=noisy), replace(kinetic, runs=free))
    assert "raw: 0.000 at σ = 0, 0.000 at σ = 0.5, 0.000 at σ = 1, 0.120 at σ = 2;" in found.measured
    assert found.measured.endswith("of the cells: 0.070, 0.070, 0.070, 0.190")


def test_the_sigma_from_which_teams_are_equal_is_computed_not_read_off_a_grid():
    beyond = synthetic.micro().beyond
    said = micro.all_equal_for_large_spread.measure(synthetic.micro()).more
    assert said.endswith("slope 0.1 is reached at σ = 11.24.")
    never = replace(synthetic.micro(), beyond=replace(beyond, equal_from=np.inf))
    assert micro.all_equal_for_large_spread.measure(never).more.endswith("the slope stays above 0.1 in all.")


def test_every_verdict_stands_beside_the_threshold_that_decides_it(everything):
    for claim in check_claims(everything)[0]:
        assert len(claim.criterion.split()) > 2 and not claim.criterion.endswith(".")


def test_the_measured_rate_is_the_rate_of_decay():
    measured = energy.decay_rate.measure(synthetic.energy(rate=0.28)).measured
    assert float(measured.split("decays to 0, at rate ")[1].split()[0]) == pytest.approx(0.28, abs=1e-3)


def test_the_energy_is_what_is_held_against_the_bound():
    """The bound falls like exp(−1.5 t) from E(0) = 3; at t = 1 it is 0.6694."""
    found = energy.decay_rate.measure(
        synthetic.energy(uniform=synthetic.energy_run(energy=[3.0, 0.67, 0.1]), smooth=KEEPS)
    )
    assert found.verdict == "does not hold" and "E(1) = 0.6700, above its 0.6694" in found.measured
    assert "around r = θ E keeps it" in found.measured


def test_over_and_under_performance_needs_both_models():
    """Weak above and strong below r = θ in the kinetic equation; then the slopes of R2 and R1 decide."""
    run = synthetic.marginals()["[4, 10]"]
    flat = {"[4, 10]": replace(run, mean_given_theta=7 + 0.9 * (run.theta - 7))}
    steep = {"[4, 10]": replace(run, mean_given_theta=7 + 1.1 * (run.theta - 7))}
    measure, scan = marginals.over_and_under_in_both.measure, synthetic.step_scan()
    assert measure(flat, synthetic.leagues(r2=0.95), scan).verdict == "holds"
    assert measure(flat, synthetic.leagues(r2=0.9983, error=0.0011), scan).verdict == "depends"
    assert measure(flat, synthetic.leagues(r1=1.01, r2=1.01), scan).verdict == "does not hold"
    assert "perhaps 2a was meant" in measure(flat, synthetic.leagues(r1=0.95, r2=1.01), scan).on
    assert "2b is named, and alike" in measure(flat, synthetic.leagues(r1=1.01, r2=0.95), scan).on
    assert measure(steep, synthetic.leagues(r2=0.95), scan).verdict == "does not hold"
    assert "under 0.050 (σ = 1), 0.075 (σ = 2)" in measure(flat, synthetic.leagues(), scan).more


def test_the_error_of_the_closure_is_that_of_the_expected_result():
    """The mean result lies in [−1, 1]: its error is twice that of a probability."""
    said = taylor_closure.measure(synthetic.closures(error=0.035)).measured
    d = np.linspace(0, 6, 30)
    assert f"{0.07 * np.sin(d / 2).max():.4f} at σ = 2" in said


def test_variances_of_results_are_told_apart():
    """Of S, of b(λᵢ − λⱼ) by many draws, and as printed."""
    (found,) = [claim for claim in check_claims({})[0] if claim.statement.startswith("Var S")]
    draws = np.tanh(0.5 * (1 + np.sqrt(2) * np.random.default_rng(3).standard_normal(400_000)))
    said = [float(word.rstrip(";")) for word in found.finding.measured.split() if word[:2] == "0." and len(word) > 5]
    # Five standard errors of a variance: about 5e-4 each.
    assert said == pytest.approx(
        [1 - draws.mean() ** 2, 2 * (0.5 * (1 - np.tanh(0.5) ** 2)) ** 2, draws.var()], abs=3e-3
    )


def test_the_printed_rule_has_the_law_that_is_meant_once_pairs_come_in_random_order():
    """P(S = 1) = b, cut at 0, for the first of a pair: half of the time it is the other team."""
    (found,) = [claim for claim in check_claims({})[0] if claim.statement.startswith("P(S = 1)")]
    generator, b = np.random.default_rng(8), np.tanh(-0.5)
    first, luck = generator.random(200_000) < 0.5, generator.random(200_000)
    won = np.where(first, luck < max(b, 0), luck >= max(-b, 0))
    # Four standard errors, 0.004: wrong once in 16,000.
    assert won.mean() == pytest.approx((1 + b) / 2, abs=4 * np.sqrt(0.25 * (1 - b**2) / 200_000))
    assert found.verdict == "misprint" and f"here {(1 + b) / 2:.4f}" in found.finding.because


def test_the_inequalities_of_the_proof_are_those_of_a_falling_function():
    """Quotients by differences on another grid: −b′/L and −b‴/L₂ between two points, ν = ½, L₂ = 2ν³."""
    (found,) = [claim for claim in check_claims({})[0] if claim.place.startswith("§4, proof")]
    x, y = (axis[~np.eye(200, dtype=bool)] for axis in np.meshgrid(*[np.linspace(-6, 6, 200)] * 2))
    slopes = []
    for function, bound in (
        (lambda z: np.tanh(z / 2), 0.5),
        (lambda z: -0.5 * np.tanh(z / 2) / np.cosh(z / 2) ** 2, 0.25),
    ):
        one = (function(y) - function(x)) / (x - y) / bound
        slopes += [f"{one.min():+.2f}", f"{one.max():+.2f}"]
    assert found.verdict == "does not hold"
    assert re.findall(r"[+-]\d\.\d+", found.finding.measured) == slopes


def test_the_correction_takes_from_the_stronger_team():
    (found,) = [claim for claim in check_claims({})[0] if claim.place == "§3, correction term"]
    second = -2 * 0.25 * np.tanh(0.5) * (1 - np.tanh(0.5) ** 2)
    assert found.verdict == "holds" and found.finding.measured.startswith(
        f"½b″V = {second:+.4f} at d = 1, {-second:+.4f}"
    )


def test_numbers_of_chess_meet_the_condition_and_shrink_the_map():
    (found,) = [claim for claim in check_claims({})[0] if claim.statement.startswith("with chess numbers")]
    assert found.verdict == "holds" and "νσ = 0.576" in found.finding.measured
    assert "which is σ = 246." in found.finding.measured and found.finding.measured.endswith("0.723")
    assert any("σ of chess" in text for text in ASSUMPTIONS)


def test_quotations_are_short_and_no_figure_file_is_forgotten():
    folder = Path(formulas.__file__).parent / "figures"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(figure_names())


@pytest.mark.parametrize(("nu", "sigma"), [(0.4, 1.3), (0.5, 0.0), (0.9, 0.6)])
def test_the_rate_of_the_decay_theorem_is_twice_both_lipschitz_constants(nu, sigma):
    """Of b = tanh νz and b″: ν, and the largest slope of b″, which is 2ν³ at 0."""
    assert _printed_rate(kn.Tanh(nu), sigma) == pytest.approx(2 * (nu + 2 * nu**3 * sigma**2), rel=1e-9)


def test_the_filter_is_held_against_the_best_of_the_runs_with_both_errors():
    from kinelo.paper.neighbours.following import FollowingEvidence, filter_beats_constant

    evidence = FollowingEvidence(
        np.array([0.1]), np.zeros((1, 3)), 0.2345, 0.4321, np.array([0.1, 0.3, 0.5]), np.array([0.7, 0.5, 0.6]),
        np.array([0.5, 0.03, 0.5]), 0.28, 0.04,
    )  # fmt: skip
    found = filter_beats_constant.measure(evidence)
    assert found.measured == (
        "error 0.5000 at γ = 0.3 (least computed 0.4321 at 0.234), Glicko 0.2800; the difference has a standard "
        "error of 0.0500"
    )
    holds = [filter_beats_constant.measure(replace(evidence, glicko=error)).verdict for error in (0.34, 0.36)]
    assert holds[0] == found.verdict == "holds" != holds[1]
