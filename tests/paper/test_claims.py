from dataclasses import replace
from pathlib import Path

import pytest
import synthetic

from kinelo.paper import formulas
from kinelo.paper.catalogue import checks, figure_names
from kinelo.paper.claims import UNTESTED, check_claims
from kinelo.paper.figures.closures.claims import taylor_closure
from kinelo.paper.figures.energy import claims as energy
from kinelo.paper.figures.homogeneous_macro import claims as macro
from kinelo.paper.figures.homogeneous_micro import claims as micro
from kinelo.paper.figures.leagues import claims as leagues
from kinelo.paper.figures.marginals import claims as marginals
from kinelo.paper.figures.outliers.claims import germany_and_brazil
from kinelo.paper.figures.scale.evidence import Scale
from kinelo.paper.figures.spread import claims as spread


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
    assert len(claims) + left_out == len(checks()) and len(claims) == len(formulas.CHECKS)


def test_a_statement_whose_run_is_missing_says_so_and_does_not_vanish(everything):
    full = everything["scale"]
    lacking = Scale({name: run for name, run in full.final.items() if name != "ν = 1"}, full.early)
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
    assert verdicts["P(S = 1) = b(λᵢ − λⱼ)"] == "does not hold"
    assert verdicts["Var S ≈ (b′)² (σᵢ² + σⱼ²)"] == "does not hold"
    assert verdicts["there is no formula for the stationary states"] == "holds"
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
        (spread.spread_is_one_in_r2, synthetic.spread(), "does not hold"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(1.5), "depends"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(0.3), "holds"),
        (spread.strengths_near_five_in_r1, synthetic.near_five(1.5, mean=6.0), "does not hold"),
        (energy.second_moment_decreases, synthetic.energy(rises=True), "does not hold"),
        (energy.second_moment_decreases, synthetic.energy(rises=False), "holds"),
        (energy.energy_decays, synthetic.energy(rises=True), "does not hold"),
        (energy.energy_decays, synthetic.energy(rises=False), "holds"),
        (energy.decay_rate, synthetic.energy(rate=2.0), "does not hold"),
        (energy.decay_rate, synthetic.energy(bound=True), "holds"),
        (marginals.around_seven, synthetic.marginals(means=(5.0, 7.0)), "depends"),
        (marginals.around_seven, synthetic.marginals(means=(7.0, 7.0)), "holds"),
        (marginals.mass_and_mean, synthetic.marginals(), "holds"),
        (marginals.mass_and_mean, synthetic.marginals(mass_error=1e-3), "does not hold"),
        (marginals.less_accurate_with_spread, synthetic.marginals(), "holds"),
        (marginals.less_accurate_with_spread, synthetic.marginals(slope_by_sigma=(0.4, 0.5, 0.6)), "does not hold"),
        (marginals.similar_ratings, synthetic.marginals(), "does not hold"),
        (marginals.similar_ratings, synthetic.marginals(slope_by_sigma=(0.4, 0.2, 0.05)), "holds"),
        (marginals.converge_in_the_middle, synthetic.marginals(), "does not hold"),
        (marginals.converge_in_the_middle, synthetic.marginals(off=0.1), "depends"),
        (marginals.blurred_outside, synthetic.marginals(), "depends"),
        (marginals.blurred_outside, synthetic.marginals(means=(7.0, 7.0)), "holds"),
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


def test_the_measured_rate_is_the_rate_of_decay():
    measured = energy.decay_rate.measure(synthetic.energy(rate=0.28)).measured
    assert float(measured.split("decays to 0, at rate ")[1].split()[0]) == pytest.approx(0.28, abs=1e-3)


def test_the_energy_is_what_is_held_against_the_bound():
    run = synthetic.energy(bound=True).runs["from r = 7, exact"]
    late = run.energy.copy()
    late[10:] = 0.17
    evidence = replace(synthetic.energy(bound=True), runs={"from r = 7, exact": replace(run, energy=late)})
    found = energy.decay_rate.measure(evidence)
    assert found.verdict == "does not hold" and "at t = 10 it is 0.1700" in found.measured


def test_quotations_are_short_and_no_figure_file_is_forgotten():
    folder = Path(formulas.__file__).parent / "figures"
    assert {path.parent.name for path in folder.glob("*/study.toml")} == set(figure_names())
