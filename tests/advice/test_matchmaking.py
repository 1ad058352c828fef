"""Fair games against quick ratings: reference values, the frontier, the choice, and leagues that are played."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.theory.relaxation import relaxation

T = kn.Tanh(0.5)
SYSTEM = kn.RatingSystem(T, gamma=0.05)
HUNDRED = kn.Fixed(np.linspace(4, 10, 100))
TWENTY = kn.Fixed(np.linspace(4, 10, 20))
# Candidates, played matches, mean |expected result|. Windows lie off the grid of gaps, where the last bit would decide.
REFERENCE = {
    "window 4": (kn.Window(4.03), (1199, 1061, 0.592)),
    "window 2": (kn.Window(2.03), (2762, 1523, 0.412)),
    "window 1": (kn.Window(1.03), (14526, 4296, 0.241)),
    "window ½": (kn.Window(0.53), (94586, 14599, 0.133)),
    "strangers": (kn.LooseWindow(0.53, 0.03), (25981, 4669, 0.218)),
}


def test_pairings_do_what_the_reference_says():
    found = kn.matchmaking(SYSTEM, HUNDRED, pairings={name: pairing for name, (pairing, _) in REFERENCE.items()})
    options = {one.name: one for one in found.options}
    for name, (_, wanted) in REFERENCE.items():
        one = options[name]
        assert (one.candidates, one.matches) == pytest.approx(wanted[:2], rel=0.02)
        assert one.one_sided == pytest.approx(wanted[2], abs=0.009)
    everyone = options["all play all"]
    assert (everyone.matches, everyone.candidates) == pytest.approx((1090, 1090), rel=1e-3)
    assert everyone.one_sided == pytest.approx(0.638, abs=5e-4)


def test_matches_are_those_of_relaxation_and_games_those_of_a_slow_sum():
    league = kn.Normal(np.linspace(4, 10, 12), 1.0)
    system = kn.RatingSystem(T, kn.Window(2.7), gamma=0.02)
    found = kn.matchmaking(system, league)
    assert found.best.pairing == kn.Window(2.7) and found.best.name == "the system's own"
    state, s = kn.stationary(system, league), kn.expected_result(T, league)
    assert found.best.matches == pytest.approx(relaxation(system, league).matches_per_team(0.01), rel=1e-6)
    played = [abs(s[i, j]) for i in range(12) for j in range(i) if abs(state.rating[i] - state.rating[j]) <= 2.7]
    assert found.best.one_sided == pytest.approx(np.mean(played))


def test_the_frontier_is_beaten_by_nobody():
    found = kn.matchmaking(SYSTEM, TWENTY)
    for one in found.options:
        assert any(k.one_sided <= one.one_sided + 1e-12 and k.matches <= one.matches + 1e-9 for k in found.frontier)
    sides, matches = ([getattr(one, name) for one in found.frontier] for name in ("one_sided", "matches"))
    assert sides == sorted(sides) and matches == sorted(matches, reverse=True) and len(found.frontier) > 5


def test_the_choice_is_as_fair_as_wanted_and_no_option_is_quicker():
    for wanted in (0.3, 0.5):
        found = kn.matchmaking(SYSTEM, TWENTY, fairness=wanted)
        fair = [one for one in found.options if one.one_sided <= wanted]
        assert found.best.one_sided <= wanted + 1e-9 and found.best.matches == min(one.matches for one in fair)
        # Strangers make use of what fairness allows.
        windows = [one.matches for one in fair if isinstance(one.pairing, kn.Window)]
        assert found.best.matches <= min(windows, default=np.inf) and found.best.one_sided > 0.9 * wanted
    assert found.to_dict()["best"]["one_sided"] == found.best.one_sided and "What to choose" in str(found)


@pytest.mark.parametrize("pairing", [kn.Window(1.965), kn.LooseWindow(1.345, 0.1)], ids=repr)
def test_leagues_that_are_played_settle_as_fast_within_five_percent(pairing):
    found = kn.matchmaking(kn.RatingSystem(T, pairing, gamma=0.05), kn.Fixed(np.linspace(4, 10, 30)), check=True)
    [one] = found.check.quantities
    assert one.played == pytest.approx(one.theory, rel=0.05) and one.standard_error < 0.03 * one.theory
    assert found.check.agrees and ("Played beside it", found.check.sentence) in found.rows()


def test_a_window_that_leaves_the_league_in_parts_is_left_out():
    league = kn.Fixed([0.0, 0.5, 1.0, 5.0, 5.5, 6.0])
    found = kn.matchmaking(SYSTEM, league, pairings={"apart": kn.Window(2.0), "joined": kn.Window(4.5)})
    names = [one.name for one in found.options]
    assert "apart" not in names and "joined" in names


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"fairness": 0.0}, "between 0 and 1"),
        ({"fairness": 0.01}, "is as fair as 0.01; the fairest found"),
        ({"pairings": [kn.Window(1.0)]}, "Pairings by name"),
        ({"strengths": kn.Continuum((4, 10))}, "strengths must be a league"),
        ({"strengths": kn.Fixed(np.linspace(0, 9, 601))}, "at most 600 teams"),
        ({"system": kn.RatingSystem(T, schedule=kn.Rounds())}, "drawn at random"),
        ({"system": kn.RatingSystem(T, gamma=kn.FallingSteps(0.1, 1.0, 3.0))}, "one gamma"),
    ],
)
def test_what_cannot_be_asked(asked, said):
    with pytest.raises(kn.InputError, match=said):
        kn.matchmaking(**{"system": SYSTEM, "strengths": TWENTY, **asked})


def test_the_picture_shows_every_option_where_it_is():
    own = {"bell": kn.Pairing.from_function(lambda z: 1 / (1 + z**4))}
    found = kn.matchmaking(SYSTEM, TWENTY, fairness=0.4, pairings=own)
    [axes] = kn.plot.matchmaking(found).axes
    lines = {line.get_label(): line.get_xydata() for line in axes.lines}
    np.testing.assert_allclose(lines["frontier"], [(one.one_sided, one.matches) for one in found.frontier])
    bell = next(one for one in found.options if one.name == "bell")
    np.testing.assert_allclose(lines["others"], [(bell.one_sided, bell.matches)])
    shown = sum(len(lines[name]) for name in ("all play all", "local", "windows", "windows with strangers", "others"))
    assert shown == len(found.options) and lines[f"choice: {found.best.name}"][0, 1] == found.best.matches


def test_a_picture_of_worth_shows_each_size():
    league = kn.Normal(np.linspace(4, 10, 20), 1.0)
    left, right = kn.plot.contest_worth(T, league, sizes=(2, 5)).axes
    five = kn.theory.contest_worth(kn.RatingSystem(T, schedule=kn.Field(5)), league)
    lines = {line.get_label(): line.get_xydata() for line in left.lines}
    np.testing.assert_allclose(lines["5 meet"], np.column_stack([league.theta, five]))
    means = {line.get_label(): line.get_xydata() for line in right.lines}["this league, mean"]
    np.testing.assert_allclose(means, [(2, 1), (5, five.mean())])
