"""Rating systems compared on one league."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.advice import design as of_design
from kinelo.advice.check import Check, Quantity, before_walk
from kinelo.advice.design import Compared, Design, _drifts, log_loss
from kinelo.cli.commands import app
from kinelo.errors import InputError

TANH = kn.Tanh(nu=0.5)


def test_theory_and_simulation_agree_and_order_systems_alike():
    systems = [kn.RatingSystem(TANH, gamma=gamma) for gamma in (0.03, 0.12, 0.6)]
    found = kn.design(kn.Fixed([0.0] * 40), kn.model.Form(rate=0.01, spread=1.0), systems, matches=900)
    assert [one.name[0] for one in found.systems] == ["2", "1", "3"]
    for one in found.systems:
        # Three standard errors, and the half per cent that the closure is off by.
        assert one.error == pytest.approx(one.theory, abs=3 * one.standard_error + 0.01 * one.theory)
    assert found.best.gamma == pytest.approx(kn.best_gamma(TANH, kn.Fixed([0.0] * 40), kn.model.Form(0.01, 1.0)).gamma)
    assert found.verdict.startswith("2: γ = 0.12 comes nearest")
    assert json.loads(json.dumps(found.to_dict()))["systems"][0]["name"] == found.systems[0].name
    assert found.table.height == 3
    assert "<table>" in found._repr_html_()


def test_theory_of_steps_that_fall_is_that_of_the_matches_judged():
    """And of strengths that walk that of those they have come to: neither is what was found where leagues begin."""
    falling = kn.RatingSystem(TANH, gamma=kn.model.FallingSteps(0.1, boost=5.0, matches=40))
    league, form = kn.Fixed(np.linspace(-1.0, 2.0, 6)), kn.model.Form(rate=0.05, spread=0.5)
    (found,) = kn.design(league, form, {"falling": falling}, matches=40, realisations=2).systems
    steps = [0.1 * (1 + 5.0 * 40 / (40 + n)) for n in (40, 400)]
    late, early = (kn.tracking(kn.RatingSystem(TANH, gamma=one), league, form).E for one in reversed(steps))
    assert late * 1.01 < found.theory < early * 1.01
    walk, plain = kn.model.Walk(0.1), kn.RatingSystem(TANH, gamma=0.2)
    (walked,) = kn.design(league, walk, {"plain": plain}, matches=40, realisations=2).systems
    assert walked.theory == pytest.approx(kn.tracking(plain, league, walk).E, rel=0.1)
    assert abs(walked.theory / kn.tracking(plain, league, walk).E - 1) > 1e-6


def test_rules_of_steps_help_where_newcomers_arrive():
    league = kn.Fixed([7.0] * 40)
    turnover = kn.model.Turnover(rate=0.01, theta=[5.0, 9.0], start=7.0)
    systems = {
        "constant": kn.RatingSystem(TANH, gamma=0.05),
        "falling": kn.RatingSystem(TANH, gamma=kn.model.FallingSteps(0.05, boost=10.0, matches=10)),
    }
    found = kn.design(league, turnover, systems, matches=300)
    first, second = found.systems
    assert first.name == "falling"
    assert second.error - first.error > 4 * math.hypot(first.standard_error, second.standard_error)
    assert found.best.gamma == pytest.approx(kn.best_gamma(TANH, league, turnover).gamma)
    # Newcomers are far off, where b is bent: the recursion knows that to a tenth.
    for one in found.systems:
        assert one.error == pytest.approx(one.theory, abs=2.5 * one.standard_error + 0.1 * one.theory)
    assert first.log_loss < second.log_loss


@pytest.mark.long
def test_rules_of_steps_and_strengths_at_rest_have_a_theory_of_their_own():
    form, rest = kn.model.Form(rate=0.01, spread=1.0), None
    rules = {
        "falling": kn.RatingSystem(TANH, gamma=kn.model.FallingSteps(0.1, boost=5.0, matches=10)),
        "glicko": kn.RatingSystem(TANH, gamma=kn.model.DeviationSteps(growth=0.12, start=1.0)),
        "constant": kn.RatingSystem(TANH, gamma=0.12),
    }
    for motion, league in ((form, [0.0] * 40), (rest, [0.1 * n - 2.0 for n in range(40)])):
        for one in kn.design(kn.Fixed(league), motion, rules, matches=240, realisations=10).systems:
            # Three standard errors and the few per cent by which a step still falls, or deviations still differ.
            assert one.error == pytest.approx(one.theory, abs=3 * one.standard_error + 0.06 * one.theory), one.name


@pytest.mark.parametrize("width", [2.0, 0.0])
def test_strengths_that_walk_are_judged_as_they_lie_apart_halfway(width):
    # Equal strengths cannot have walked for so long: they begin equal, and theory is about what they reach.
    league, walk = kn.Fixed(np.linspace(-1.0, width - 1.0, 30)), kn.model.Walk(0.03)
    slow, fast = (kn.RatingSystem(TANH, gamma=gamma) for gamma in (0.02, 0.15))
    found = kn.design(league, walk, {"slow": slow, "fast": fast}, matches=300, realisations=12, check=True)
    for one in found.systems:
        assert one.check.agrees and one.error == pytest.approx(one.theory, abs=3 * one.standard_error), one.name
    assert "disagree" not in found.verdict


def test_what_has_no_theory_says_so():
    chess = kn.Tanh.elo()
    systems = [
        kn.RatingSystem(chess, gamma=10.0, pairing=kn.model.Window(c=200.0)),
        kn.RatingSystem(chess, gamma=kn.model.FideSteps()),
    ]
    league = kn.Fixed([1400.0, 1500.0, 1600.0, 1700.0])
    found = kn.design(league, kn.model.Walk(spread=5.0), systems, matches=30, realisations=2)
    assert [one.theory for one in found.systems] == [None, None]


def test_log_loss_is_that_of_the_true_chances():
    """Four teams in two pairs of equals: a third of the meetings are even, the others 2 apart and rated 1 apart."""
    strength, rating = np.array([[[0.0, 2.0, 0.0, 2.0]]]), np.array([[[0.0, 1.0, 0.0, 1.0]]])
    league = kn.Fixed(strength[0, 0])

    def loss(true, said):
        win, forecast = 0.5 * (1 + math.tanh(0.5 * true)), 0.5 * (1 + math.tanh(0.5 * said))
        return -win * math.log(forecast) - (1 - win) * math.log(1 - forecast)

    assert log_loss(TANH, league, strength, rating) == pytest.approx((loss(0, 0) + 2 * loss(2, 1)) / 3)
    with_ties = kn.model.Davidson(nu=0.5, kappa=2.0)
    assert log_loss(with_ties, kn.Fixed(np.zeros(4)), 0 * strength, 0 * rating) == pytest.approx(1.5 * math.log(2))


@pytest.mark.parametrize("moving", [False, True])
def test_log_loss_knows_how_performances_vary(moving):
    """Against drawn performances of teams with their own spreads, every pair; 4 standard errors of 400,000 draws."""
    generator, sigma = np.random.default_rng(2), np.array([0.0, 1.0, 2.0, 3.0, 0.5])
    strength = np.array([[[0.0, 0.5, 1.0, 2.0, 3.5], [0.3, 0.5, 1.5, 1.0, 3.0]]])
    strength = strength if moving else strength[:, :1].repeat(2, axis=1)
    rating = 0.8 * strength + np.array([0.1, 0.0, -0.2, 0.3, 0.0])
    draws, count = [], 20_000
    for x, r in zip(strength[0], rating[0]):
        for i in range(5):
            for j in range(i):
                played = x[i] - x[j] + math.hypot(sigma[i], sigma[j]) * generator.standard_normal(count)
                won = generator.random(count) < (1 + np.tanh(0.5 * played)) / 2
                chance = (1 + math.tanh(0.5 * (r[i] - r[j]))) / 2
                draws.append(np.where(won, -math.log(chance), -math.log(1 - chance)))
    draws = np.concatenate(draws)
    found = log_loss(TANH, kn.Normal(strength[0, 0], sigma), strength, rating)
    assert abs(found - draws.mean()) < 4 * draws.std() / math.sqrt(draws.size)
    assert found > log_loss(TANH, kn.Fixed(strength[0, 0]), strength, rating)


def test_rounds_are_judged_at_their_ends():
    """Inside a round ratings lag further: at its end theory and league agree, within 4 errors and 2 %."""
    system = kn.RatingSystem(TANH, gamma=0.05, schedule=kn.model.Rounds())
    found = kn.design(
        kn.Fixed(np.linspace(0, 2, 12)), kn.model.Form(0.01, 0.8), {"rounds": system}, matches=3000, check=True
    )
    [one] = found.systems
    assert one.check.agrees and abs(one.error - one.theory) < 4 * one.standard_error + 0.02 * one.theory
    assert one.z == pytest.approx((one.error - one.theory) / one.standard_error)
    inside = kn.simulate(
        system, kn.Fixed(np.linspace(0, 2, 12)), steps=400, matches_per_step=66, seed=1, realisations=8,
        record_every=1, dynamics=kn.model.Form(0.01, 0.8),
    )  # fmt: skip
    gap = (inside.rating - inside.strength).values[:, 60:]
    assert one.error == pytest.approx(gap.var(axis=2, ddof=1).mean(), rel=0.03)


def test_the_verdict_names_who_is_first_and_how_sure_that_is():
    """Words follow the numbers in both directions, the numbers computed here."""

    def compared(name, error, doubt, theory=None):
        return Compared(name, kn.RatingSystem(TANH), theory, None, error, doubt, 0.6, 1.0, 1.0)

    sure = Design((compared("a", 0.25, 0.01), compared("b", 0.36, 0.01)), None).verdict
    assert sure == "a comes nearest to strengths: off by ± 0.5, before b with ± 0.6."
    unsure = Design((compared("a", 0.25, 0.05), compared("b", 0.36, 0.05)), None).verdict
    assert unsure == "a comes nearest to strengths: off by ± 0.5, no surer than b with ± 0.6."
    best = kn.best_gamma(TANH, kn.theory.Continuum(0.0), kn.model.Form(0.01, 1.0))
    told = Design((compared("a", 0.25, 0.05),), best).verdict
    assert told.endswith("; the best constant step is γ = 0.116 (K = 0.232).")


def test_leagues_that_have_not_settled_are_not_judged(monkeypatch):
    """Teams so far apart that the slowest mode takes more matches than are played: said, and nothing is judged."""
    monkeypatch.setattr("kinelo.advice.design.MOST_PLAYED", 5000)
    league = kn.Fixed(np.linspace(0.0, 9.0, 7))
    found = kn.design(league, None, {"far": kn.RatingSystem(TANH, gamma=0.05)}, matches=30, realisations=2)
    [one] = found.systems
    assert not one.settled and math.isnan(one.error) and one.settling > 5000 / 7 and one.theory is not None
    assert "nearest" not in found.verdict and f"far (about {one.settling:,.0f}); E by theory" in found.verdict
    assert found.to_dict()["systems"][0]["error"] is None and "not settled" in found._repr_html_()
    assert kn.plot.design(found).axes


@pytest.mark.parametrize("sides", [2, 4])
def test_leagues_that_can_be_played_until_they_settle_are_judged(sides, monkeypatch):
    """All that is waited for counts: every match of every team of every league, once for all sides of it."""
    league = kn.Fixed(np.linspace(0.0, 3.0, 8))
    system = kn.RatingSystem(TANH, gamma=0.05, schedule=None if sides == 2 else kn.model.Field(sides))
    monkeypatch.setattr("kinelo.advice.design.MOST_PLAYED", 1)
    [waited] = [one.settling for one in kn.design(league, None, {"far": system}, matches=30, realisations=3).systems]
    assert waited > 30
    for factor, judged in ((0.999, False), (1.001, True)):
        monkeypatch.setattr("kinelo.advice.design.MOST_PLAYED", factor * waited * 8 * 3 / sides)
        [one] = kn.design(league, None, {"far": system}, matches=30, realisations=3).systems
        assert one.settled == judged and one.settling == waited


def test_an_error_that_still_changes_is_seen():
    noise = np.random.default_rng(8).standard_normal((8, 24))
    assert not _drifts(1.0 + 0.2 * noise) and not _drifts(1.0 + 1e-3 * noise + np.linspace(0, 0.1, 24))
    assert _drifts(1.0 + 0.2 * noise + np.linspace(0, 2, 24)) and _drifts(3.0 + 0.2 * noise - np.linspace(0, 2, 24))


def test_no_step_at_all_is_no_advice():
    """Strengths at rest that do not vary: the smaller the better, and never γ = 0."""
    found = kn.design(kn.Fixed([0.0, 0.7, 1.1]), None, {"a": kn.RatingSystem(TANH, gamma=0.05)}, matches=30)
    assert found.best.gamma == 0 and "γ = 0" not in found.verdict and "K = 0" not in found.verdict
    assert (
        f"the smaller the better, and the price is patience: half the step takes twice as long to settle "
        f"(a: {found.systems[0].settling:,.0f} matches" in found.verdict
    )


def test_theory_and_league_that_disagree_are_told():
    near, far = (Check((Quantity("mean square error", 0.25, played, 0.001),), 1, 1) for played in (0.251, 0.3))
    assert near.agrees and not far.agrees
    one = Compared("a", kn.RatingSystem(TANH), 0.25, None, 0.3, 0.001, 0.6, 1.0, 1.0, 400.0, far)
    assert Design((one,), None).verdict.endswith("Theory and league disagree on a; the league decides.")
    assert "disagree" not in Design((replace(one, check=near),), None).verdict


@pytest.mark.parametrize(
    ("systems", "message"),
    [([], "nothing to compare"), (3.0, "in a list or by name"), ({"a": 1}, "'a' is 1"), ([1], "'system 1' is 1")],
)
def test_what_is_no_system_is_refused(systems, message):
    with pytest.raises(InputError, match=message):
        kn.design(kn.Fixed([0.0, 1.0]), None, systems)


STUDY = """
gamma = 0.1
[outcome]
kind = "tanh"
nu = 0.5
[league]
kind = "fixed"
theta = [0.0, 0.0, 0.0, 0.0]
[dynamics]
kind = "form"
rate = 0.01
spread = 1.0
[design.large]
gamma = 1.0
"""


def test_the_command_compares_the_systems_of_a_study(tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    picture = tmp_path / "d.png"
    called = CliRunner().invoke(
        app, ["study", "design", str(study), "--matches", "60", "--json", "--picture", str(picture)]
    )
    assert called.exit_code == 0, called.output
    found = json.loads(called.stdout[: called.stdout.rindex("}") + 1])
    assert [one["name"] for one in found["systems"]] == ["the study's own", "large"]
    assert picture.stat().st_size > 1000


def test_a_design_may_not_change_the_league(tmp_path):
    study = tmp_path / "study.toml"
    study.write_text(STUDY.replace("gamma = 1.0", "outcome = 1.0"))
    called = CliRunner().invoke(app, ["study", "design", str(study)])
    assert isinstance(called.exception, InputError)
    assert "may change gamma, pairing and schedule, not outcome" in str(called.exception)


def test_what_is_said_of_steps_is_said_of_the_pairing_that_comes_first():
    """Where a window stretches what varying performances shrink, a step above 0 is best; where all play all, none is.

    Error probability of each comparison below 1e-3: three standard errors, fixed seeds.
    """
    league, window = kn.Normal(np.linspace(-3.0, 3.0, 21), 0.8), kn.model.Window(1.7)
    best = kn.best_gamma(kn.RatingSystem(TANH, window), league)
    systems = {
        name: kn.RatingSystem(TANH, window, gamma=gamma)
        for name, gamma in (("third", best.gamma / 3), ("best", best.gamma), ("thrice", 3 * best.gamma))
    }
    found = kn.design(league, None, systems, matches=40_000, realisations=8, seed=3)
    first, *others = found.systems
    assert first.name == "best" and found.best.gamma == best.gamma > 0
    assert (
        f"; the best constant step of its pairing is γ = {best.gamma:.3g} (K = {2 * best.gamma:.3g})." in found.verdict
    )
    for other in others:
        assert other.error - first.error > 3 * math.hypot(first.standard_error, other.standard_error)
    everyone = kn.design(league, None, {"all": kn.RatingSystem(TANH, gamma=0.05)}, matches=30)
    assert everyone.best.gamma != best.gamma and "of its pairing" not in everyone.verdict


@pytest.mark.parametrize(
    ("settling", "matches", "plan", "middle"),
    [(250.0, 600, (8 * 11 + 8 * 24, 8, 24), 3 * (88 + 96)), (20.0, 60, (7 + 24, 1, 24), 3 * (7 + 12))],
)
def test_leagues_are_left_to_settle_and_then_judged_at_the_ends_of_periods(
    settling, matches, plan, middle, monkeypatch
):
    """Periods of 3 matches: 24 records, each so many whole periods after the last."""
    league, walk, start = kn.Fixed([-1.0, 0.2, 0.5, 1.9]), kn.model.Walk(0.01), np.arange(4.0)
    system, asked = kn.RatingSystem(TANH, gamma=0.05, schedule=kn.model.Period(3)), []

    def played(*args):
        asked.append(args)
        raise ZeroDivisionError

    monkeypatch.setattr(of_design, "last_records", played)
    monkeypatch.setattr(of_design, "beginning", lambda system, league: SimpleNamespace(rating=10 + league.theta))
    begin = SimpleNamespace(rating=start, error=None, settling=settling)
    for dynamics in (None, walk):
        with pytest.raises(ZeroDivisionError):
            of_design._compare("a", system, league, dynamics, of_design._Plan(matches, 6, 9, settling, begin))
    (still, moved) = asked
    assert still[0] is system and still[1] is league and still[2] is None
    assert still[3:6] == moved[3:6] == (plan, 6, 9) and still[6] is start
    assert moved[1].theta == pytest.approx(before_walk(league, walk, middle).theta)
    assert moved[1].theta == pytest.approx(moved[6] - 10) and moved[1].theta[0] != -1.0 and moved[2] is walk
