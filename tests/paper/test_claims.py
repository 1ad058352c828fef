import pytest
import synthetic

from kinelo.paper import claims_homogeneous as homogeneous
from kinelo.paper import claims_macro as macro
from kinelo.paper import claims_micro as micro
from kinelo.paper.claims import CHECKS, check_claims


@pytest.fixture(scope="module")
def everything():
    return {number: make() for number, make in synthetic.EVIDENCE.items()}


def test_every_statement_is_measured(everything):
    claims, left_out = check_claims(everything)
    assert left_out == 0
    assert len(claims) == len(CHECKS) == len({claim.statement for claim in claims})
    for claim in claims:
        assert claim.place and claim.measured and claim.because.endswith(".")
        assert claim.verdict != "depends" or claim.on
        assert "nan" not in claim.measured


def test_statements_without_their_figures_are_left_out():
    claims, left_out = check_claims({})
    assert len(claims) + left_out == len(CHECKS)
    assert all(not claim.figures for claim in claims)


def test_what_needs_no_figure_comes_out_as_theory_says():
    verdicts = {claim.statement: claim.verdict for claim in check_claims({})[0]}
    assert verdicts["P(S = 1) = b(λᵢ − λⱼ)"] == "does not hold"
    assert verdicts["Var S ≈ (b′)² (σᵢ² + σⱼ²)"] == "does not hold"
    assert verdicts["the stationary states cannot be computed explicitly"] == "does not hold"
    assert verdicts["in chess ν is around 1/400"] == "holds"


@pytest.mark.parametrize(
    ("measure", "number", "evidence", "verdict"),
    [
        (micro.r2_steeper, 2, synthetic.leagues(1.001, 1.2, limit=0.98), "depends"),
        (micro.r2_steeper, 2, synthetic.leagues(1.1, 1.2, limit=1.05), "holds"),
        (micro.r2_steeper, 2, synthetic.leagues(0.9, 0.95, limit=0.9), "does not hold"),
        (micro.r1_over_and_under, 2, synthetic.leagues(0.95, 1.2), "depends"),
        (micro.r1_over_and_under, 2, synthetic.leagues(0.95, 0.96), "holds"),
        (micro.germany_and_brazil, 11, synthetic.outliers(last=-1, first=0), "depends"),
        (micro.germany_and_brazil, 11, synthetic.outliers(last=-1, first=-0.5), "holds"),
        (micro.germany_and_brazil, 11, synthetic.outliers(last=0, first=0), "does not hold"),
        (micro.spread_is_one_in_r2, 1, synthetic.spread(), "does not hold"),
        (macro.second_moment_decreases, 9, synthetic.energy(rises=True), "does not hold"),
        (macro.second_moment_decreases, 9, synthetic.energy(rises=False), "holds"),
        (macro.around_seven, 3, synthetic.marginals(means=(5.0, 7.0)), "depends"),
        (macro.around_seven, 3, synthetic.marginals(means=(7.0, 7.0)), "holds"),
        (macro.mass_and_mean, 3, synthetic.marginals(), "holds"),
        (macro.mass_and_mean, 3, synthetic.marginals(mass_error=1e-3), "does not hold"),
        (macro.less_accurate_with_spread, 3, synthetic.marginals(), "holds"),
        (macro.less_accurate_with_spread, 3, synthetic.marginals(slope_by_sigma=(0.4, 0.5, 0.6)), "does not hold"),
        (macro.taylor_closure, 8, synthetic.closures(error=0.2), "depends"),
        (macro.taylor_closure, 8, synthetic.closures(error=0.01), "holds"),
        (homogeneous.energy_decays, 9, synthetic.energy(rises=True), "does not hold"),
        (homogeneous.energy_decays, 9, synthetic.energy(rises=False), "holds"),
        (homogeneous.decay_rate, 9, synthetic.energy(rate=0.28), "does not hold"),
        (homogeneous.decay_rate, 9, synthetic.energy(rate=2.0), "holds"),
        (homogeneous.ratings_converge_to_strength, 4, synthetic.micro(), "does not hold"),
        (homogeneous.ratings_converge_to_strength, 4, synthetic.micro((1, 1, 1, 1)), "holds"),
        (homogeneous.all_equal_for_large_spread, 4, synthetic.micro(), "does not hold"),
        (homogeneous.all_equal_for_large_spread, 4, synthetic.micro((1, 1, 1, 0.0)), "holds"),
        (homogeneous.weak_over_strong_under, 4, synthetic.micro(), "holds"),
        (homogeneous.weak_over_strong_under, 4, synthetic.micro((1, 1.2, 1.1, 1.1)), "does not hold"),
    ],
)
def test_verdicts_follow_the_numbers(measure, number, evidence, verdict):
    assert measure({number: evidence}).verdict == verdict


def test_agreement_depends_on_sigma_only_where_the_models_part():
    same = homogeneous.micro_and_macro_agree({4: synthetic.micro(), 5: synthetic.macro()})
    apart = homogeneous.micro_and_macro_agree({4: synthetic.micro(), 5: synthetic.macro((1.0, 0.9, 0.76, 0.3))})
    assert (same.verdict, apart.verdict) == ("holds", "depends")


def test_the_measured_rate_is_the_rate_of_decay():
    measured = homogeneous.decay_rate({9: synthetic.energy(rate=0.28)}).measured
    assert float(measured.split("at rate ")[1].split()[0]) == pytest.approx(0.28, abs=1e-3)


def test_a_statement_whose_run_was_renamed_is_left_out(everything):
    renamed = everything | {6: {name: run for name, run in everything[6].items() if name != "ν = 1"}}
    claims, left_out = check_claims(renamed)
    assert left_out == 1
    assert not any(claim.statement.startswith("for ν = 1") for claim in claims)
