"""Choosing opponents: reference values, the slow twin over all choices, and tables that no strengths explain."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import brentq

import kinelo as kn
from kinelo.theory.farming import gap_of

T = kn.Tanh(0.5)
LEAGUE = kn.Normal(np.linspace(4, 10, 61), 1.0)


def test_the_best_and_the_middle_team_gain_the_reference():
    best, middle = (kn.farming(T, LEAGUE, team) for team in (60, 30))
    assert (best.rating, best.gain, best.loss) == pytest.approx((9.2869, 0.4613, -0.0370), abs=5e-5)
    assert best.best == (0,) and LEAGUE.theta[best.worst[0]] == pytest.approx(8.4)
    assert middle.gain == pytest.approx(0.0390, abs=5e-5) and LEAGUE.theta[middle.best[0]] == pytest.approx(8.6)
    assert middle.loss == pytest.approx(-middle.gain, abs=1e-9)
    assert np.isnan(best.alone[60]) and np.nanmax(best.alone) - best.rating == pytest.approx(best.gain)


def test_ten_opponents_and_noise():
    found = kn.farming(T, LEAGUE, 60, opponents=10)
    assert found.gain == pytest.approx(0.3588, abs=5e-5) and found.best == tuple(range(10))
    noisy = kn.farming(kn.RatingSystem(T, gamma=0.02), LEAGUE, 60, opponents=10, noise="gaussian")
    # Played against a league that is not moved by it: 9.6502(9).
    assert noisy.rating + noisy.gain == pytest.approx(9.6502, abs=0.003) and noisy.best == found.best
    small = kn.farming(kn.RatingSystem(T, gamma=1e-6), LEAGUE, 60, opponents=3, noise="gaussian")
    still = kn.farming(T, LEAGUE, 60, opponents=3)
    assert small.gain == pytest.approx(still.gain, abs=1e-5)
    assert small.reacting_gain == pytest.approx(still.reacting_gain, abs=1e-5)


@pytest.mark.parametrize("size", [1, 3])
def test_once_the_league_reacts_the_gain_is_that_of_ratings_that_settle_step_by_step(size):
    """Each plays as often as before, the others among themselves; small steps until nothing moves."""
    league = kn.Normal([4.0, 5.0, 6.5, 7.0, 9.0], [0.3, 1.0, 2.0, 0.5, 1.0])
    start, s, found = (
        kn.stationary(T, league).rating,
        kn.expected_result(T, league),
        kn.farming(T, league, 4, opponents=size),
    )
    rating = start.copy()
    for _ in range(2_000):
        pull = np.zeros(5)
        for i, j in combinations(range(5), 2):
            often = 1 / 4 if 4 not in (i, j) else 1 / size if min(i, j) in found.best else 0.0
            surprise = often * (s[i, j] - T.b(rating[i] - rating[j]))
            pull[i], pull[j] = pull[i] + surprise, pull[j] - surprise
        rating += 0.5 * pull
    assert np.abs(pull).max() < 1e-9
    assert found.reacting_gain == pytest.approx(rating[4] - start[4], abs=1e-6)
    assert abs(found.reacting_gain - found.gain) > 0.01


OWN = kn.model.Outcome.from_function(lambda z: z / (1 + abs(z)))


@pytest.mark.parametrize("outcome", [T, kn.model.Probit(0.4), kn.model.Davidson(0.6, 0.8), OWN], ids=repr)
def test_no_choice_does_better(outcome):
    """All groups of each size, one after the other."""
    league = kn.Normal([4.0, 5.0, 6.5, 7.0, 9.0], [0.3, 1.0, 2.0, 0.5, 1.0])
    rating, s = kn.stationary(outcome, league).rating, kn.expected_result(outcome, league)
    for team in (3,) if outcome is OWN else range(5):  # a formula of one's own is asked value by value
        others = [k for k in range(5) if k != team]
        for size in (1, 2, 3, 4):

            def settled(group, team=team):
                group = list(group)
                drift = lambda r: float((s[team, group] - outcome.b(r - rating[group])).sum())  # noqa: E731
                return brentq(drift, -60.0, 60.0, xtol=1e-12)

            all_of_them = {group: settled(group) for group in combinations(others, size)}
            found = kn.farming(outcome, league, team, opponents=size)
            assert found.gain == pytest.approx(max(all_of_them.values()) - rating[team], abs=1e-8)
            assert found.loss == pytest.approx(min(all_of_them.values()) - rating[team], abs=1e-8)
            assert all_of_them[found.best] == pytest.approx(rating[team] + found.gain, abs=1e-8)


@pytest.mark.parametrize("outcome", [T, kn.model.Probit(0.4), kn.model.Davidson(0.6, 0.8)], ids=repr)
def test_gaps_are_those_at_which_results_are_expected(outcome):
    s = np.linspace(-0.99, 0.99, 41)
    assert outcome.b(gap_of(outcome, s)) == pytest.approx(s, abs=1e-12)
    assert np.isposinf(gap_of(outcome, 1.0)) and np.isneginf(gap_of(outcome, -1.0))


def test_certain_strengths_leave_nothing_to_gain():
    found = kn.farming(T, kn.Fixed([1.0, 2.0, 4.0], names=["a", "b", "c"]), "b")
    assert abs(found.gain) < 1e-9 and found.sentence == "b gains and loses nothing by choosing its opponents."
    assert found.to_dict()["alone"][1] is None and found.opponents == ("a", "b", "c")


def test_rock_meets_scissors_for_ever():
    game = kn.model.Results([[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, 0.5]], names=["rock", "scissors", "paper"])
    found = kn.farming(T, game, "rock")
    assert (
        found.gain == np.inf
        and found.loss == -np.inf
        and "rises without end when it meets only scissors" in repr(found)
    )
    assert found.to_dict()["gain"] is None


def test_a_diagnosis_says_who_gains():
    verdict = kn.diagnose(T, LEAGUE, check=False)
    found = kn.farming(T, LEAGUE, 60)
    assert (verdict.farming.team, verdict.farming.opponent) == ("team 60", "team 0")
    assert verdict.farming.points == pytest.approx(found.gain)
    assert "Choosing opponents: pays team 60 most: +0.461 if it meets only team 0" in str(verdict)
    still = kn.diagnose(T, kn.Fixed([1.0, 2.0, 4.0, 5.0, 6.0]), check=False)
    assert "Choosing opponents: gains nothing" in str(still)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"team": 61}, "from 0 to 60"),
        ({"team": "a"}, "no team has a name"),
        ({"team": 0, "opponents": 61}, "at most 60"),
        ({"team": 0, "noise": "loud"}, "noise must be"),
        (
            {"team": 0, "noise": "gaussian", "system": kn.RatingSystem(T, schedule=kn.model.Field(3))},
            "for matches of two",
        ),
        ({"team": 0, "strengths": kn.theory.Continuum((4, 10))}, "strengths must be a league"),
    ],
)
def test_what_cannot_be_asked(asked, said):
    with pytest.raises(kn.InputError, match=said):
        kn.farming(**{"system": T, "strengths": LEAGUE, **asked})


def test_the_sentence_shows_the_numbers_that_were_computed():
    league = kn.Normal(
        [3.0, 5.5, 6.0, 9.0, 10.0], [1.0, 0.5, 2.0, 0.25, 1.5], names=["Ann", "Bob", "Cid", "Dee", "Eve"]
    )
    found = kn.farming(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), league, team="Cid", opponents=2)
    best, worst = (", ".join(league.names[k] for k in group) for group in (found.best, found.worst))
    assert found.gain > 0 > found.loss and found.reacting_gain != found.reacting_loss and best != worst
    assert found.sentence == (
        f"Cid is rated {found.rating:.4g} when it meets everybody, {found.gain:.3g} higher when it meets only {best}, "
        f"and {-found.loss:.3g} lower when it meets only {worst}, while the others' ratings are held. Once the league "
        f"has reacted it is {found.reacting_gain:+.3g} and {found.reacting_loss:+.3g}."
    )
