"""Every outcome has one formula for theory, simulator and raters, or is refused; no other law takes its place."""

import math
from dataclasses import dataclass, fields

import numpy as np
import pytest

import kinelo as kn
from kinelo.model import outcome as outcomes
from kinelo.play.laws import code_outcome, expected, match_law, tie_chance

LEAGUE = kn.Normal([4.0, 5.5, 7.0, 9.0], 0.8)


@dataclass(frozen=True)
class Algebraic(kn.Outcome):
    """A law as CONTRIBUTING has one added: b(z) = νz/√(1 + ν²z²), one class with its formula."""

    nu: float

    def scalar_b(self):
        nu = self.nu
        return lambda z: nu * z / math.sqrt(1.0 + nu * z * nu * z)


@dataclass(frozen=True)
class Numbered(Algebraic):
    """The same with a number that no loop knows."""

    @property
    def code(self):
        return 7, self.nu, 0.0


def every_law():
    """Each concrete outcome of the model, and one of a user's, at parameters that are all different."""
    for law in vars(outcomes).values():
        if isinstance(law, type) and issubclass(law, outcomes.ClosedOutcome) and not law.__abstractmethods__:
            yield law(*(0.45 + 0.3 * k for k, _ in enumerate(fields(law))))
    yield Algebraic(0.4)


LAWS = list(every_law())


def test_the_list_holds_what_is_exported():
    assert {type(law).__name__ for law in LAWS} == {"Tanh", "Probit", "Davidson", "Algebraic"}


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_compiled_formulas_are_those_of_the_class(law):
    if law.code is None:
        with pytest.raises(kn.InputError, match="is not built in"):
            code_outcome(law)
        return
    for z in np.linspace(-9.0, 9.0, 37):
        b, slope, tie = match_law(*code_outcome(law), z)
        assert b == expected(*code_outcome(law), z) and tie == pytest.approx(tie_chance(*code_outcome(law), z))
        wanted = (float(law.b(z)), float(law.b_prime(z)), float(law.tie_probability(z)))
        assert (b, slope, tie) == pytest.approx(wanted, abs=1e-14)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_a_rater_ends_where_the_simulator_does_or_refuses(law):
    system = kn.RatingSystem(law, gamma=0.1)
    start = float(LEAGUE.theta.mean())
    played = kn.simulate_matches(system, LEAGUE, matches=200, seed=3)
    run = kn.simulate(system, LEAGUE, steps=200, matches_per_step=1, seed=3)
    if law.code is None:
        with pytest.raises(kn.InputError, match=r"not built in|Tanh, Probit"):
            kn.TeamElo(system=system, initial=start).fit(played)
        return
    rated = kn.TeamElo(system=system, initial=start).fit(played).ratings_
    found = dict(zip(rated["name"].to_list(), rated["rating"].to_list(), strict=True))
    assert [found[str(k + 1)] for k in range(4)] == run.rating.values[0, -1].tolist()


def test_a_number_that_no_loop_knows_is_refused_everywhere():
    system = kn.RatingSystem(Numbered(0.4), gamma=0.1)
    with pytest.raises(kn.InputError, match="is not built in"):
        kn.simulate(system, LEAGUE, steps=1, seed=1)
    assert math.isnan(expected(7, 0.4, 0.0, 1.0)) and all(map(math.isnan, match_law(7, 0.4, 0.0, 1.0)))
