from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import synthetic

from kinelo.paper import formulas
from kinelo.paper.catalogue import check_claims, checks, figure_names
from kinelo.paper.figures import energy, leagues, marginals, scale, spread
from kinelo.paper.figures import homogeneous_macro as macro
from kinelo.paper.figures import homogeneous_micro as micro
from kinelo.paper.figures.closures import taylor_closure
from kinelo.paper.figures.outliers import Bias, Outliers, germany_and_brazil
from kinelo.paper.figures.scale import ScaleEvidence
from kinelo.paper.words import UNTESTED


def one_league(name, **changed):
    """A small and a large step as usual, with something changed in one league; large steps drift by nothing."""
    runs = synthetic.leagues(1.001, 1.2)
    return runs | {name: replace(runs[name], **changed)}


def clustered(strength=5.0, rating=5.0, slope=0.0):
    around = synthetic.THETA - 7
    return one_league("R1", theta=strength + around, settled=rating + slope * around)


def bent():
    """Simulated and computed ratings agree, but lie on no line."""
    rating = synthetic.line(1.0) + 0.3 * np.sin(synthetic.THETA * 9)
    return one_league("R2", settled=rating, computed=rating)


def energies(energy, smooth=None):
    run = synthetic.energy()["from r = θ, exact"]
    found = {f"from r = θ, {name}": replace(run, energy=energy) for name in ("exact", "taylor")}
    return found | {"smooth, from r = θ, taylor": replace(run, energy=energy if smooth is None else smooth)}


def variances(variance, smooth=None):
    run = synthetic.energy()["from r = 7, exact"]
    found = {f"from r = 7, {name}": replace(run, variance=variance) for name in ("exact", "taylor")}
    return found | {"smooth, from r = 7, taylor": replace(run, variance=variance if smooth is None else smooth)}


def along(sigma_widths, theta_sd):
    """Marginals whose spread of r is given along σ and along θ."""
    run = synthetic.marginals()["[4, 10]"]
    r = np.linspace(0, 14, 400)
    rows = np.exp(-(((r - 7) / np.asarray(sigma_widths)[:, None]) ** 2) / 2)
    flat = np.full(40, 7.0)
    sd = np.asarray(theta_sd) * np.ones(40)
    return {"[4, 10]": replace(run, r=r, sigma_r=rows, mean_given_theta=flat, sd_given_theta=sd, mean_rating=7.0)}


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


def beside_the_band(germany, brazil):
    sigma = np.array([0.2, 1.0, 4.0])
    data = Bias(sigma, sigma * 0 + germany, sigma * 0 + brazil, sigma * 0 - 0.05, sigma * 0 + 0.05)
    return Outliers(data, data)


@pytest.fixture(scope="module")
def everything():
    return {name: make() for name, make in synthetic.EVIDENCE.items()}


def test_every_statement_is_measured(everything):
    claims, left_out = check_claims(everything)
    assert left_out == 0
    assert len(claims) == len(checks()) == len({claim.statement for claim in claims})
    for claim in claims:
        found = claim.finding
        assert claim.place and found.measured and found.because.endswith(".")
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
    assert all("=" in text or "≈" in text or "≤" in text or text.startswith("a match") for text in unquoted)
    assert all(len(one.quote.split()) <= 40 for one in checks())


def test_statements_without_their_figures_are_left_out():
    claims, left_out = check_claims({})
    assert len(claims) + left_out == len(checks()) and len(claims) == 5


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
        (leagues.r2_steeper, synthetic.leagues(1.001, 1.2, limit=0.98), "depends"),
        (leagues.r2_steeper, synthetic.leagues(1.1, 1.2, limit=1.05), "holds"),
        (leagues.r2_steeper, synthetic.leagues(0.9, 0.95, limit=0.9), "does not hold"),
        (leagues.r1_over_and_under, synthetic.leagues(0.95, 1.2), "depends"),
        (leagues.r1_over_and_under, synthetic.leagues(0.95, 0.96), "holds"),
        (germany_and_brazil, synthetic.outliers(last=-1, first=0), "depends"),
        (germany_and_brazil, synthetic.outliers(last=-1, first=-0.5), "holds"),
        (germany_and_brazil, synthetic.outliers(last=0, first=0), "does not hold"),
        (spread.spread_is_one_in_r2, synthetic.spread(), "misprint"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(1.5), "depends"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(0.3), "holds"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(1.5, mean=6.0), "does not hold"),
        (energy.second_moment_decreases, synthetic.energy(rises=True), "does not hold"),
        (energy.second_moment_decreases, synthetic.energy(rises=False), "holds"),
        (energy.energy_decays, synthetic.energy(rises=True), "does not hold"),
        (energy.energy_decays, synthetic.energy(rises=False), "holds"),
        (energy.decay_rate, synthetic.energy(rate=2.0), "does not hold"),
        (energy.decay_rate, synthetic.energy(bound=True), "holds"),
        (marginals.around_seven, synthetic.marginals(means=(5.0, 7.0)), "misprint"),
        (marginals.around_seven, synthetic.marginals(means=(6.91, 5.0)), "holds"),
        (marginals.around_seven, synthetic.marginals(means=(6.89, 7.0)), "misprint"),
        (marginals.around_seven, synthetic.marginals(means=(7.11, 7.0)), "misprint"),
        (marginals.mass_and_mean, synthetic.marginals(), "holds"),
        (marginals.mass_and_mean, synthetic.marginals(mass_error=1e-3), "does not hold"),
        (marginals.less_accurate_with_spread, synthetic.marginals(), "holds"),
        (marginals.less_accurate_with_spread, synthetic.marginals(slope_by_sigma=(0.4, 0.5, 0.6)), "does not hold"),
        (marginals.similar_ratings, synthetic.marginals(), "does not hold"),
        (marginals.similar_ratings, synthetic.marginals(slope_by_sigma=(0.4, 0.2, 0.05)), "holds"),
        (marginals.converge_in_the_middle, synthetic.marginals(off=0.26, wide=0.26), "does not hold"),
        (marginals.converge_in_the_middle, synthetic.marginals(off=0.24, wide=0.26), "depends"),
        (marginals.converge_in_the_middle, synthetic.marginals(off=0.24, wide=0.24), "holds"),
        (marginals.blurred_outside, synthetic.marginals(sharp=(0.301, 0.299)), "depends"),
        (marginals.blurred_outside, synthetic.marginals(sharp=(0.299, 0.299)), "holds"),
        (marginals.blurred_outside, synthetic.marginals(sharp=(0.301, 0.301)), "does not hold"),
        (taylor_closure, synthetic.closures(error=0.2), "depends"),
        (taylor_closure, synthetic.closures(error=0.01), "holds"),
        (micro.ratings_converge_to_strength, synthetic.micro(), "does not hold"),
        (micro.ratings_converge_to_strength, synthetic.micro((1, 1, 1, 1)), "holds"),
        (micro.all_equal_for_large_spread, synthetic.micro(), "depends"),
        (micro.all_equal_for_large_spread, synthetic.micro((1, 1, 1, 0.0)), "holds"),
        (micro.all_equal_for_large_spread, synthetic.micro(last=0.4), "does not hold"),
        (micro.weak_over_strong_under, synthetic.micro(), "depends"),
        (micro.weak_over_strong_under, synthetic.micro((1, 1.2, 1.1, 1.1)), "does not hold"),
        (macro.diagonal_without_spread, synthetic.macro((0.97, 0.9, 0.76, 0.5)), "holds"),
        (macro.diagonal_without_spread, synthetic.macro((0.8, 0.9, 0.76, 0.5)), "does not hold"),
        (macro.diagonal_without_spread, synthetic.macro((0.97, 0.9, 0.76, 0.5), fine=0.96), "does not hold"),
        (
            marginals.less_accurate_with_spread,
            synthetic.marginals(slope_by_sigma=(0.5, 0.5, 0.5 + 1e-8)),
            "does not hold",
        ),
        (marginals.mass_and_mean, synthetic.marginals(mass_error=9e-11), "holds"),
        (marginals.mass_and_mean, synthetic.marginals(mass_error=2e-10), "does not hold"),
        (spread.spread_grows_in_r1, synthetic.r1_spread(np.arange(40.0) + 1), "holds"),
        (spread.spread_grows_in_r1, synthetic.r1_spread(np.arange(40.0) ** 3), "does not hold"),
        (spread.spread_grows_in_r1, synthetic.r1_spread(-np.arange(40.0)), "does not hold"),
        (spread.r2_spreads_alike, synthetic.r2_spread(others=0.99), "depends"),
        (spread.r2_spreads_alike, synthetic.r2_spread(others=1.01), "does not hold"),
        (spread.spread_is_one_in_r2, synthetic.r2_spread(others=1.75), "holds"),
        (spread.spread_is_one_in_r2, synthetic.r2_spread(others=2.05), "misprint"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(0.49), "holds"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(0.51), "depends"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(0.3, mean=5.11), "depends"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(0.6, mean=4.89), "does not hold"),
        (leagues.ratings_conserved, one_league("R1", mean_drift=9e-9), "holds"),
        (leagues.ratings_conserved, one_league("R1", mean_drift=1.1e-8), "does not hold"),
        (
            leagues.r1_clusters,
            clustered(slope=0.13),
            "holds",
        ),
        (
            leagues.r1_clusters,
            clustered(slope=0.33),
            "does not hold",
        ),
        (
            leagues.r1_clusters,
            clustered(strength=5.6),
            "does not hold",
        ),
        (
            leagues.r1_clusters,
            clustered(rating=5.6),
            "does not hold",
        ),
        (leagues.r1_over_and_under, synthetic.leagues(1.01, 1.2), "does not hold"),
        (leagues.r2_straight_and_steady, one_league("R2"), "holds"),
        (leagues.r2_straight_and_steady, one_league("R2", computed=synthetic.line(1.001) + 0.26), "does not hold"),
        (leagues.r2_straight_and_steady, one_league("R2", computed=synthetic.line(1.001) + 0.24), "holds"),
        (
            leagues.r2_straight_and_steady,
            bent(),
            "does not hold",
        ),
        (energy.energy_decays, energies(np.array([3.0, 2.0, 1.0, 1.0 + 2e-12])), "does not hold"),
        (energy.energy_decays, energies(np.array([3.0, 2.0, 1.0, 1.0])), "holds"),
        (energy.second_moment_decreases, variances(np.array([1.0, 3.0, 0.99])), "holds"),
        (energy.second_moment_decreases, variances(np.array([1.0, 0.5, 1.01])), "does not hold"),
        (energy.energy_decays, energies(np.array([3.0, 2.0]), smooth=np.array([0.0225, 0.115])), "depends"),
        (energy.energy_decays, energies(np.array([0.0, 0.2]), smooth=np.array([0.0225, 0.115])), "does not hold"),
        (energy.second_moment_decreases, variances(np.array([1.0, 0.5]), smooth=np.array([0.02, 1.7])), "depends"),
        (marginals.bounded_density, synthetic.marginals(grown=148.4), "holds"),
        (marginals.bounded_density, synthetic.marginals(grown=148.5), "does not hold"),
        (marginals.towards_strength_in_the_middle, synthetic.marginals(start=0.0, off=0.5, wide=0.5), "holds"),
        (marginals.towards_strength_in_the_middle, synthetic.marginals(start=0.0, off=0.5, wide=0.7), "depends"),
        (marginals.towards_strength_in_the_middle, synthetic.marginals(start=0.0, off=0.7, wide=0.7), "does not hold"),
        (marginals.second_moment_along_axes, along([1.2, 1.0, 0.9], 0.5), "holds"),
        (marginals.second_moment_along_axes, along([1.2, 1.0, 0.9], np.linspace(0.5, 0.6, 40)), "depends"),
        (marginals.second_moment_along_axes, along([1.0, 1.1, 0.9], np.linspace(0.5, 0.6, 40)), "does not hold"),
        (taylor_closure, synthetic.closures(error=0.0255), "depends"),
        (taylor_closure, synthetic.closures(error=0.0245), "holds"),
        (micro.ratings_converge_to_strength, synthetic.micro((1, 1, 0.991, 0.5)), "holds"),
        (micro.ratings_converge_to_strength, synthetic.micro((1, 1, 0.989, 0.5)), "does not hold"),
        (micro.ratings_converge_to_strength, synthetic.micro((1, 1, 1.011, 0.5)), "does not hold"),
        (micro.weak_over_strong_under, synthetic.micro((1.3, 0.99, 0.99, 0.99)), "depends"),
        (micro.weak_over_strong_under, synthetic.micro((1.3, 0.99, 1.01, 0.99)), "does not hold"),
        (macro.diagonal_without_spread, synthetic.macro((0.901, 0.9, 0.76, 0.5)), "holds"),
        (macro.diagonal_without_spread, synthetic.macro((0.899, 0.9, 0.76, 0.5)), "does not hold"),
        (macro.diagonal_without_spread, synthetic.macro((0.97, 0.9, 0.76, 0.5), late=0.96), "does not hold"),
        (scale.all_to_seven_at_nu_one, at_scale(one=0.099), "holds"),
        (scale.all_to_seven_at_nu_one, at_scale(one=0.101), "does not hold"),
        (scale.diagonal_for_small_nu, at_scale(tenth=0.981, hundredth=1.019), "holds"),
        (scale.diagonal_for_small_nu, at_scale(tenth=0.979, hundredth=0.99), "depends"),
        (scale.diagonal_for_small_nu, at_scale(tenth=0.979, hundredth=1.021), "does not hold"),
        (scale.small_nu_is_slow, synthetic.scale(), "holds"),
        (scale.small_nu_is_slow, slower("measured_to_ten_percent"), "does not hold"),
        (scale.small_nu_is_slow, slower("matches_to_ten_percent"), "does not hold"),
        (germany_and_brazil, beside_the_band(germany=-0.051, brazil=-0.051), "holds"),
        (germany_and_brazil, beside_the_band(germany=-0.051, brazil=-0.049), "does not hold"),
        (germany_and_brazil, beside_the_band(germany=-0.049, brazil=-0.051), "does not hold"),
        (germany_and_brazil, beside_the_band(germany=0.2, brazil=0.2), "does not hold"),
    ],
)
def test_verdicts_follow_the_numbers(check, evidence, verdict):
    assert check.measure(evidence).verdict == verdict


def test_equal_means_the_same_in_every_statement(monkeypatch):
    """Three statements speak of teams rated alike: one slope decides all of them."""
    for slope, verdict in ((0.09, "holds"), (0.11, "does not hold")):
        assert (
            micro.all_equal_for_large_spread.measure(synthetic.micro((1, 1, 1, slope), last=slope)).verdict == verdict
        )
        assert marginals.similar_ratings.measure(synthetic.marginals(slope_by_sigma=(0.5, slope))).verdict == verdict


def test_agreement_depends_on_sigma_only_where_the_models_part():
    same = macro.micro_and_macro_agree.measure(synthetic.micro(), synthetic.macro())
    apart = macro.micro_and_macro_agree.measure(synthetic.micro(), synthetic.macro((1.0, 0.9, 0.76, 0.3)))
    never = macro.micro_and_macro_agree.measure(synthetic.micro(), synthetic.macro((0.9, 0.8, 0.6, 0.3)))
    assert (same.verdict, apart.verdict, never.verdict) == ("holds", "depends", "does not hold")
    middle = macro.micro_and_macro_agree.measure(synthetic.micro(), synthetic.macro((1.0, 0.9, 0.6, 0.3)))
    assert middle.verdict == "depends" and "not print" in middle.on
    for off, verdict in ((0.099, "holds"), (0.101, "depends")):  # two cells are 0.1, and teams reach 3 from the centre
        moved = synthetic.macro((1.0, 0.9, 0.76, 0.5 + off / 3))
        assert macro.micro_and_macro_agree.measure(synthetic.micro(), moved).verdict == verdict


def test_distances_within_the_middle_are_told_at_the_end_and_in_the_limit():
    said = marginals.converge_in_the_middle.measure(synthetic.marginals(off=0.42, wide=0.31)).measured
    assert "at t = 5 " in said and said.endswith("0.310 and 0.724 on [0, 10]; 0.420 and 0.259 on [4, 10]")


def test_the_sigma_from_which_teams_are_equal_is_computed_not_read_off_a_grid():
    beyond = synthetic.micro().beyond
    said = micro.all_equal_for_large_spread.measure(synthetic.micro()).measured
    assert said.endswith("the slope falls below 0.1 at σ = 11.24")
    never = replace(synthetic.micro(), beyond=replace(beyond, equal_from=np.inf))
    assert micro.all_equal_for_large_spread.measure(never).measured.endswith("it stays above 0.1 in all")


def test_every_verdict_stands_beside_the_threshold_that_decides_it(everything):
    for claim in check_claims(everything)[0]:
        assert len(claim.criterion.split()) > 3 and not claim.criterion.endswith(".")


def test_the_measured_rate_is_the_rate_of_decay():
    measured = energy.decay_rate.measure(synthetic.energy(rate=0.28)).measured
    assert float(measured.split("decays to 0, at rate ")[1].split()[0]) == pytest.approx(0.28, abs=1e-3)


def test_the_energy_is_what_is_held_against_the_bound():
    run = synthetic.energy(bound=True)["from r = 7, exact"]
    late = run.energy.copy()
    late[10:] = 0.17
    evidence = {"from r = 7, exact": replace(run, energy=late), "smooth, from r = 7, taylor": run}
    found = energy.decay_rate.measure(evidence)
    assert (
        found.verdict == "depends"
        and "at t = 10 E is 0.1700" in found.measured
        and "Taylor: E keeps it" in found.measured
    )
    both = energy.decay_rate.measure(evidence | {"smooth, from r = 7, taylor": replace(run, energy=late)})
    assert both.verdict == "does not hold"


def test_over_and_under_performance_needs_both_models():
    """Weak above and strong below r = θ in the kinetic equation; then the slope of R2 at both steps decides."""
    run = synthetic.marginals()["[4, 10]"]
    flat = {"[4, 10]": replace(run, mean_given_theta=7 + 0.9 * (run.theta - 7))}
    steep = {"[4, 10]": replace(run, mean_given_theta=7 + 1.1 * (run.theta - 7))}
    measure = marginals.over_and_under_in_both.measure
    assert measure(flat, synthetic.leagues(0.95, 0.99)).verdict == "holds"
    assert measure(flat, synthetic.leagues(0.95, 1.01)).verdict == "depends"
    assert measure(flat, synthetic.leagues(1.01, 1.01)).verdict == "does not hold"
    assert measure(steep, synthetic.leagues(0.95, 0.99)).verdict == "does not hold"


def test_the_error_of_the_closure_is_that_of_the_expected_result():
    """The mean result lies in [−1, 1]: its error is twice that of a probability."""
    said = taylor_closure.measure(synthetic.closures(error=0.035)).measured
    d = np.linspace(0, 6, 30)
    assert f"{0.07 * np.sin(d / 2).max():.4f} at σ = 2" in said


def test_of_the_printed_pairings_only_the_first_is_smooth():
    (found,) = [claim for claim in check_claims({})[0] if claim.place.startswith("Introduction, choices")]
    assert found.verdict == "depends" and "the first: yes" in found.finding.measured
    assert "jumps by 1" in found.finding.measured and "smoothed over 0.2: yes" in found.finding.measured


def test_quotations_are_short_and_no_figure_file_is_forgotten():
    folder = Path(formulas.__file__).parent / "figures"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(figure_names())
