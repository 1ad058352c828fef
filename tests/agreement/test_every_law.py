"""Every built-in law, found by enumeration, in every loop, rater, study file, book and fingerprint, or refused.

A law added to ``kinelo.model`` is covered by the tests of this file without a line here.
"""

import dataclasses
import inspect
import math
from dataclasses import dataclass
from types import UnionType
from typing import Literal, Union, get_args, get_origin

import numpy as np
import pytest

import kinelo as kn
from kinelo.book.keeping import plain_system, system_of
from kinelo.micro.general import NOT_PLAYED, Seen
from kinelo.micro.league import fresh_memory, general_play
from kinelo.micro.simulate import Setting
from kinelo.micro.sweep_points import common_kind, simulate_points
from kinelo.model.dynamics import Dynamics
from kinelo.model.law import Law, built_in_laws, fingerprint, keys_of
from kinelo.model.schedule import ScheduleLaw
from kinelo.model.steps import StepRule
from kinelo.play.arithmetic import PLAIN
from kinelo.play.encoding import encode
from kinelo.play.formula import bind
from kinelo.play.laws import OutcomeCode, code_outcome, code_pairing
from kinelo.play.stream import realisation_keys
from kinelo.play.users import user_functions
from kinelo.raters.choice import RATERS
from kinelo.studies.simulation import simulation_inputs
from kinelo.studies.study import parse_study

TEAMS = 4
PLAY = bind(PLAIN)
"""The formulas of loops in plain Python, which test_elementary holds to the bytes of compiled ones."""
CHESS = kn.Normal([1500.0, 1620.0, 1800.0, 2410.0], 90.0)
LEAGUE = kn.Normal([4.0, 5.5, 7.0, 9.0], 0.8)
PLAN = {"steps": 30, "matches_per_step": 4, "seed": 3, "realisations": 2, "record_every": 10, "threads": 1}


@dataclass(frozen=True)
class Algebraic(kn.model.Outcome):
    """A law as CONTRIBUTING has one added: b(z) = νz/√(1 + ν²z²), one class with its formula."""

    nu: float

    def scalar_b(self):
        nu = self.nu
        return lambda z: nu * z / math.sqrt(1.0 + nu * z * nu * z)


@dataclass(frozen=True)
class Bell(kn.model.Pairing):
    """The same for a pairing: w(z) = e^{−z²/2c²}."""

    c: float

    def scalar_w(self):
        c = self.c
        return lambda z: math.exp(-z * z / (2 * c * c))


@dataclass(frozen=True)
class Numbered(Algebraic):
    """A law with a number that no loop knows."""

    @property
    def code(self):
        return 7, self.nu, 0.0


class Derived(kn.model.FallingSteps):
    """A rule that may say something else than the one it is derived from."""


class Drifting(Dynamics):
    """A law of motion without a formula."""


def value_of(hint, place):
    """A value of a type, another one for each place."""
    if hint is float:
        return 0.45 + 0.3 * place
    if hint is int:
        return 2 + place
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return value_of(inner[0], place)
    if origin is Literal:
        return inner[-1]
    if origin is list and get_origin(inner[0]) is list:
        return [[0.7 * team + 0.4 * k**1.5 for k in range(4)] for team in range(TEAMS)]
    if origin is list:
        return [4.0 + 1.3 * team**1.2 for team in range(TEAMS)]
    raise TypeError(f"value_of has nothing for {hint}")


def keys_for(law):
    """A section of a study file for a built-in law: required keys only, with numbers that are all different."""
    given = {
        name: value_of(hint, place)
        for place, (name, (hint, default)) in enumerate(law.parameters().items())
        if default is inspect.Parameter.empty
    }
    return given | ({"teams": TEAMS} if "teams" in law.parameters() else {})


EVERY = [(one, one.build(**keys_for(one))) for one in built_in_laws(Law)]
FAMILIES = {family: [law for _, law in EVERY if isinstance(law, family)] for family in (
    kn.model.Outcome, kn.model.Pairing, kn.model.Strength, StepRule, ScheduleLaw, Dynamics
)}  # fmt: skip
OUTCOMES = [*FAMILIES[kn.model.Outcome], Algebraic(0.4)]
PAIRINGS = [*FAMILIES[kn.model.Pairing], kn.model.Window(1.5, 0.3), Bell(1.1)]
LAWS = [law for _, law in EVERY] + [Algebraic(0.4), Bell(1.1), kn.model.Window(1.5, 0.3)]


def game_of(law):
    """(system, league, dynamics) in which a law of any family has a part."""
    outcome = (
        kn.Tanh.elo()
        if isinstance(law, kn.model.FideSteps)
        else law
        if isinstance(law, kn.model.Outcome)
        else kn.Tanh(0.5)
    )
    system = kn.RatingSystem(
        outcome,
        law if isinstance(law, kn.model.Pairing) else kn.model.AllPlayAll(),
        law if isinstance(law, StepRule) else 0.1,
        law if isinstance(law, ScheduleLaw) else None,
    )
    league = law if isinstance(law, kn.model.Strength) else CHESS if isinstance(law, kn.model.FideSteps) else LEAGUE
    return system, league, law if isinstance(law, Dynamics) else None


def concrete(family):
    """The classes of the model that are derived from one and can be made."""
    for kind in family.__subclasses__():
        yield from concrete(kind)
        if kind.__module__.startswith("kinelo.model.") and not inspect.isabstract(kind):
            yield kind


def test_every_class_of_the_model_is_in_the_list():
    # What from_function and softened return, what families share, a law made of a SciPy distribution and a table of
    # results: no study file writes these, and no compiled code draws from the last two.
    others = {"FunctionOutcome", "FunctionPairing", "Softened", "Dynamics", "Scaled", "Results"}
    assert {kind.__name__ for kind in concrete(Law)} - others == {type(law).__name__ for _, law in EVERY}


@pytest.mark.parametrize("law", OUTCOMES, ids=repr)
def test_compiled_outcomes_are_those_of_the_class(law):
    if law.code is None:
        with pytest.raises(kn.InputError, match="has no compiled formula"):
            code_outcome(law)
        return
    for z in np.linspace(-9.0, 9.0, 37):
        b, slope, tie = PLAY.match_law(*code_outcome(law), z)
        assert b == PLAY.expected(*code_outcome(law), z) and tie == pytest.approx(
            PLAY.tie_chance(*code_outcome(law), z)
        )
        wanted = (float(law.b(z)), float(law.b_prime(z)), float(law.tie_probability(z)))
        assert (b, slope, tie) == pytest.approx(wanted, abs=1e-14)


@pytest.mark.parametrize("law", PAIRINGS, ids=repr)
def test_compiled_pairings_are_those_of_the_class(law):
    if law.code is None:
        with pytest.raises(kn.InputError, match="has no compiled formula"):
            code_pairing(law)
        return
    found = [PLAY.acceptance(*code_pairing(law), z) for z in np.linspace(-4.0, 4.0, 33)]
    assert found == pytest.approx(law.w(np.linspace(-4.0, 4.0, 33)), abs=1e-14)


@pytest.mark.parametrize("law", FAMILIES[StepRule], ids=repr)
def test_compiled_steps_are_those_of_the_class(law):
    kind, gamma, boost, matches = law.code
    for rating, n, reached in [(1800.0, 3, False), (2350.0, 30, False), (2290.0, 400, True)]:
        state = np.array([rating]), np.array([n]), np.array([reached])
        try:
            wanted = law.at(*state)[0]
        except kn.InputError:  # a step that is made of more than this
            return
        assert PLAY.step_size(kind, gamma, boost, matches, False, rating, n, reached) == wanted


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("law", FAMILIES[kn.model.Strength], ids=repr)
def test_compiled_performances_have_the_moments_of_the_class(law):
    """1,000 draws of a team: a mean is off by five standard errors once in 3·10⁶, a spread by 10 % once in 10⁵."""
    kind, values, table, lineup = law.code
    [(key_1, key_2)] = realisation_keys(8, 1)
    one = np.uint64(1)
    for team in range(law.teams):
        drawn = [
            PLAY.performance(kind, values, table, lineup, team, PLAY.draw(key_1, key_2, np.uint64(k)), one)[0]
            for k in range(1_000 if law.sigma[team] > 0 else 3)
        ]
        assert np.mean(drawn) == pytest.approx(law.theta[team], abs=5 * law.sigma[team] / 31 + 1e-12)
        assert np.std(drawn) == pytest.approx(law.sigma[team], rel=0.1, abs=1e-12)


def general_end(system, league, dynamics, literal, matches, realisations):
    """Ratings and matches played by the loop that plays any league, and what one realisation saw."""
    keys, rating = realisation_keys(PLAN["seed"], realisations), np.full((realisations, TEAMS), league.theta.mean())
    encoded = encode(system, league, dynamics, literal=literal)
    played, memory = np.zeros(realisations, dtype=np.int64), fresh_memory(encoded, rating)
    play = general_play(encoded, user_functions(system.outcome, system.pairing), league, keys)
    play(rating, played, memory, slice(0, realisations), 0, matches)
    return rating, played


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("loop", ["table", "literal", "rounds", "period", "falling", "walk"])
def test_every_loop_ends_where_the_general_one_does(law, loop):
    system, league, dynamics = game_of(law)
    try:
        system = dataclasses.replace(system, **{
            "rounds": {"schedule": kn.model.Rounds()}, "period": {"schedule": kn.model.Period(2)},
            "falling": {"gamma": kn.model.FallingSteps(0.1, 2.0, 5.0)},
        }.get(loop, {}))  # fmt: skip
        dynamics = kn.model.Walk(0.1) if loop == "walk" and dynamics is None else dynamics
        run = kn.simulate(
            system, league, **PLAN, dynamics=dynamics, sampling="literal" if loop == "literal" else "marginal"
        )
    except kn.InputError as error:
        refused = str(error)
    else:
        refused = ""
    # The only two that have no meaning together.
    assert ("Learning" in refused) == (isinstance(law, kn.model.Learning) and loop == "falling")
    if refused:
        return
    rating, played = general_end(system, league, dynamics, loop == "literal", 120, 2)
    assert run.rating.values[:, -1].tobytes() == rating.tobytes() and np.ptp(rating) > 0
    assert run.matches_played.values[:, -1].tolist() == played.tolist()


@pytest.mark.parametrize("law", [*OUTCOMES, *PAIRINGS, *FAMILIES[kn.model.Strength]], ids=repr)
def test_points_of_a_sweep_end_where_each_does_alone(law):
    system, league, _ = game_of(law)
    settings = [Setting(dataclasses.replace(system, gamma=gamma), league) for gamma in (0.1, 0.2, 0.05)]
    if common_kind(system, league) is None:
        assert law.code is None
        return
    for one, run in zip(settings, simulate_points(settings, **PLAN), strict=True):
        assert run.identical(kn.simulate(one.system, one.strengths, **PLAN))


BUILT_IN_RATERS = [getattr(kn, choice.kind) for choice in RATERS.values()]
WITH_SYSTEM = [kind for kind in BUILT_IN_RATERS if "system" in inspect.signature(kind).parameters]


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_a_rater_ends_where_the_simulator_does_or_refuses(law):
    system, league, dynamics = game_of(law)
    played = kn.micro.simulate_matches(system, league, matches=40, seed=3, dynamics=dynamics)
    start = float(league.theta.mean())
    keys, seen = realisation_keys(3, 1), Seen(np.empty(4000, np.int32), np.empty(4000, np.int32), np.empty(4000))
    rating, count = np.full((1, TEAMS), start), np.zeros(1, np.int64)
    encoded, functions = encode(system, league, dynamics), user_functions(system.outcome, system.pairing)
    play = general_play(encoded, functions, league, keys, seen)
    play(rating, count, fresh_memory(encoded, rating), slice(0, 1), 0, 4000)
    needed = int(np.flatnonzero(np.cumsum(seen.result != NOT_PLAYED) == 40)[0]) + 1
    rating, count = np.full((1, TEAMS), start), np.zeros(1, np.int64)
    play(rating, count, fresh_memory(encoded, rating), slice(0, 1), 0, needed)
    assert kn.TeamElo in WITH_SYSTEM
    for make in WITH_SYSTEM:
        plain = system.outcome.code is not None and system.schedule is None
        if not plain or not isinstance(system.gamma, float | kn.model.FallingSteps):
            with pytest.raises(kn.InputError, match=r"no compiled formula|cannot follow the schedule|needs one gamma"):
                make(system=system, initial=start).fit(played)
            continue
        rated = make(system=system, initial=start).fit(played).ratings_
        found = dict(zip(rated["name"].to_list(), rated["rating"].to_list(), strict=True))
        names = league.names or [str(k + 1) for k in range(TEAMS)]
        if isinstance(law, kn.model.Turnover):  # no file says who is a newcomer
            continue
        assert [found[name] for name in names] == rating[0].tolist()


RATED = {"A": 0.0, "B": 1.3, "C": -2.1, "D": 4.0}
FIXTURES = {"home": ["A", "A", "B", "D"], "away": ["B", "C", "C", "A"], "result": [1, 1, 1, 1]}


@pytest.mark.parametrize("spread", [0.0, 0.9])
@pytest.mark.parametrize("law", OUTCOMES, ids=repr)
def test_forecasts_of_a_rater_follow_the_law(monkeypatch, law, spread):
    if law.code is None:  # as if its formula had been added to the loops, under a number of its own
        code = OutcomeCode(7, law.nu, 0.0)
        monkeypatch.setattr("kinelo.raters.team.rater.code_outcome", lambda _: code)
    matches = kn.read_matches(FIXTURES)
    x, weight = np.polynomial.hermite_e.hermegauss(60)
    gaps = np.array([RATED[a] - RATED[b] for a, b in zip(FIXTURES["home"], FIXTURES["away"])])
    at = gaps[:, None] + math.sqrt(2.0) * spread * x
    b, tie = (values @ weight / weight.sum() for values in (law.b(at), law.tie_probability(at)))
    for make in WITH_SYSTEM:
        rater = make(system=kn.RatingSystem(law, gamma=0.1), spread=spread, initial=0.0, start=RATED)
        wanted = np.column_stack([0.5 * (1.0 - tie + b), tie, 0.5 * (1.0 - tie - b)])
        assert rater.predict(matches).probabilities == pytest.approx(wanted, abs=1e-8)


def part_of(study, section):
    """The law that a study has built from a section."""
    own = {"league": study.strengths, "dynamics": study.motion}
    return own[section] if section in own else getattr(study.system, section)


@pytest.mark.parametrize("one", [one for one, _ in EVERY], ids=lambda one: one.key)
def test_a_study_file_says_the_law_and_gives_it_back(one):
    law = one.build(**keys_for(one))
    base = {"gamma": 0.1, "outcome": {"kind": "tanh", "nu": "elo" if isinstance(law, kn.model.FideSteps) else 0.5}}
    base |= {"simulate": {"steps": 3, "seed": 1}, "league": {"kind": "fixed", "theta": [1.0, 2.0]}}
    read = part_of(parse_study(base | {law.section: {"kind": one.key, **keys_for(one)}}), law.section)
    assert type(read) is type(law) and read.digest() == law.digest()
    if one.make is type(law):  # a set-up is written as what it makes
        again = parse_study(base | {law.section: keys_of(read)})
        assert part_of(again, law.section).digest() == law.digest()
        assert simulation_inputs(again)[law.section]["kind"] == one.key
    with pytest.raises(kn.InputError, match="unknown key"):
        parse_study(base | {law.section: {"kind": one.key, **keys_for(one), "surely_not": 1}})


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_digests_and_fingerprints_tell_laws_apart(law):
    same = type(law) in (Algebraic, Bell) and type(law)(*dataclasses.astuple(law))
    others = [other for other in LAWS if other is not law]
    assert law.digest() not in [other.digest() for other in others if other != law]
    assert not same or same.digest() == law.digest()
    if isinstance(law, kn.model.Outcome | kn.model.Pairing | kn.model.Strength):
        assert (fingerprint(law) is None) == (law.code is None)
        assert fingerprint(law) not in [fingerprint(o) for o in others if o.code is not None] or law.code is None


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_a_book_keeps_the_system_or_refuses(law):
    system, _, _ = game_of(law)
    if isinstance(law, Algebraic | Bell):
        with pytest.raises(kn.InputError, match="is not one of them"):
            plain_system(system)
        return
    assert system_of(plain_system(system)) == system


def test_what_no_loop_knows_is_refused_everywhere():
    with pytest.raises(kn.InputError, match="has no compiled formula; Tanh, Probit"):
        kn.simulate(kn.RatingSystem(Numbered(0.4), gamma=0.1), LEAGUE, steps=1, seed=1)
    assert math.isnan(PLAY.expected(7, 0.4, 0.0, 1.0)) and all(map(math.isnan, PLAY.match_law(7, 0.4, 0.0, 1.0)))
    with pytest.raises(kn.InputError, match="has no compiled formula; FallingSteps, FideSteps"):
        kn.simulate(kn.RatingSystem(kn.Tanh(0.5), gamma=Derived(0.1, 2.0, 5.0)), LEAGUE, steps=1, seed=1)
    with pytest.raises(kn.InputError, match="dynamics must be Learning, Form"):
        kn.simulate(kn.RatingSystem(kn.Tanh(0.5)), LEAGUE, steps=1, seed=1, dynamics=Drifting())
