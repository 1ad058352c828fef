"""Fair games against quick ratings: reference values, the frontier, the choice, and leagues that are played."""

import html
import math
from types import SimpleNamespace

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice import matchmaking as of_matchmaking
from kinelo.advice.check import Check
from kinelo.advice.matchmaking import _Bench, _own, _quickest
from kinelo.model import AllPlayAll, FallingSteps, Field, LooseWindow, Pairing, Rounds, Window
from kinelo.theory import Continuum, contest_worth
from kinelo.theory.relaxation import relaxation, relaxation_of

T = kn.Tanh(0.5)
SYSTEM = kn.RatingSystem(T, gamma=0.05)
SMALL = kn.RatingSystem(T, gamma=0.005)
HUNDRED = kn.Fixed(np.linspace(4, 10, 100))
TWENTY = kn.Fixed(np.linspace(4, 10, 20))
# Candidates, played matches, mean |expected result|. Windows lie off the grid of gaps, where the last bit would decide.
REFERENCE = {
    "window 4": (Window(4.03), (1199, 1061, 0.592)),
    "window 2": (Window(2.03), (2762, 1523, 0.412)),
    "window 1": (Window(1.03), (14526, 4296, 0.241)),
    "window ½": (Window(0.53), (94586, 14599, 0.133)),
    "strangers": (LooseWindow(0.53, 0.03), (25981, 4669, 0.218)),
}


def test_pairings_of_small_steps_do_what_the_reference_says():
    """References are those of γ = 0.05 without noise; matches go with 1/γ where γ is so small that there is none."""
    gamma = 1e-8
    bench = _Bench(kn.RatingSystem(T, gamma=gamma), HUNDRED, 0.05)
    for name, (pairing, wanted) in REFERENCE.items():
        one = bench.option(name, pairing)
        speeds = one.candidates * gamma / 0.05, one.matches * gamma / 0.05
        assert speeds == pytest.approx(wanted[:2], rel=0.02) and one.slope == pytest.approx(1, abs=0.01)
        assert one.one_sided == pytest.approx(wanted[2], abs=0.009)
    everyone = bench.option("all play all", AllPlayAll())
    assert (everyone.matches * gamma / 0.05, everyone.one_sided) == pytest.approx((1090, 0.638), rel=1e-3)


def test_numbers_are_those_of_the_noisy_state_and_games_those_of_a_slow_sum():
    """Of the state at the step that is used: E w of every pair by drawing its ratings, 4 standard errors."""
    league = kn.Normal([4.0, 4.6, 5.5, 5.9, 6.4, 7.7, 8.1, 8.8, 9.9], 1.0)
    system = kn.RatingSystem(T, Window(2.7), gamma=0.06)
    found = kn.matchmaking(system, league)
    assert found.best.pairing == Window(2.7) and found.best.name == "the system's own"
    state = kn.stationary(system, league, noise="gaussian")
    assert (found.best.slope, found.best.error) == pytest.approx((state.slope, state.error), rel=1e-5)
    slowest = relaxation(system, league, noise="gaussian")
    assert found.best.matches == pytest.approx(slowest.matches_per_team(0.01), rel=1e-4)
    drawn = np.random.default_rng(4).multivariate_normal(state.rating, state.covariance, 40_000)
    s, games, sides = np.abs(kn.expected_result(T, league)), np.zeros(40_000), np.zeros(40_000)
    for i in range(9):
        for j in range(i):
            met = np.abs(drawn[:, i] - drawn[:, j]) <= 2.7
            games, sides = games + met, sides + met * s[i, j]
    ratio = sides.mean() / games.mean()
    doubt = (sides - ratio * games).std() / games.mean() / 200
    assert abs(found.best.one_sided - ratio) < 4 * doubt and doubt < 1e-3


def test_the_frontier_is_beaten_by_nobody():
    found = kn.matchmaking(SMALL, TWENTY)
    for one in (one for one in found.options if not one.stretched):
        assert any(k.one_sided <= one.one_sided + 1e-12 and k.matches <= one.matches + 1e-9 for k in found.frontier)
    sides, matches = ([getattr(one, name) for one in found.frontier] for name in ("one_sided", "matches"))
    assert sides == sorted(sides) and matches == sorted(matches, reverse=True) and len(found.frontier) > 3
    assert not any(one.stretched for one in found.frontier)


def test_the_choice_is_as_fair_as_wanted_and_no_option_is_quicker():
    for wanted in (0.3, 0.5):
        found = kn.matchmaking(SMALL, TWENTY, fairness=wanted)
        fair = [one for one in found.options if one.one_sided <= wanted and not one.stretched]
        assert found.best.one_sided <= wanted + 1e-9 and found.best.matches == min(one.matches for one in fair)
        # Strangers make use of what fairness allows.
        windows = [one.matches for one in fair if isinstance(one.pairing, Window)]
        assert found.best.matches <= min(windows, default=np.inf) and found.best.one_sided > 0.9 * wanted
    assert found.to_dict()["best"]["one_sided"] == found.best.one_sided and "What to choose" in str(found)


def test_leagues_that_are_played_have_that_scale_error_fairness_and_speed():
    """The recommended pairing at the step in use: 4 standard errors (a false alarm in 10,000) or 2 %, speed 5 %."""
    league = kn.Normal(np.sort(np.random.default_rng(9).normal(7.0, 1.8, 31)), 0.4)
    found = kn.matchmaking(kn.RatingSystem(T, gamma=0.02), league, fairness=0.35, check=True)
    slope, error, fair, speed = found.check.quantities
    assert [one.name for one in (slope, error, fair)] == ["slope", "mean square error", "one-sidedness"]
    assert (slope.theory, error.theory, fair.theory) == (found.best.slope, found.best.error, found.best.one_sided)
    assert slope.agrees and error.agrees and fair.played == pytest.approx(0.35, rel=0.05) and fair.agrees
    assert speed.played == pytest.approx(speed.theory, rel=0.05, abs=4 * speed.standard_error)
    assert ("Played beside it", found.check.sentence) in found.rows() and not found.best.stretched


def test_what_stretches_is_marked_and_not_recommended():
    """64 players, K = 24: a narrow window stretches by more than half, as it was played by others (1.71)."""
    league = kn.Fixed(1500 + 220 * np.random.default_rng(3).standard_normal(64))
    chess = kn.RatingSystem(kn.Tanh.elo(), gamma=12.0)
    narrow = LooseWindow(130.0, 0.013)
    bench = _Bench(chess, league, 0.05)
    one = bench.option("narrow", narrow)
    assert one.stretched and 1.4 < one.slope < 2.0 and not bench.option("everyone", AllPlayAll()).stretched
    few = kn.Fixed(league.theta[::2])  # pairings of half as many are searched in a quarter of the time
    own = kn.matchmaking(kn.RatingSystem(kn.Tanh.elo(), narrow, gamma=12.0), few)
    assert own.best.pairing == narrow and "stretches ratings by 6" in own.advice[1] and own.best not in own.frontier
    assert "(stretched)" in dict(own.rows())["the system's own"] and "stretch ratings" in dict(own.rows())["Left out"]
    with pytest.raises(
        kn.InputError,
        match=r"as fair as 0.2 stretches .* by 49 % .* Take gamma = \d\S* or less, or a larger stretch=\.$",
    ):
        kn.matchmaking(chess, few, fairness=0.2)


def test_a_window_that_leaves_the_league_in_parts_is_left_out():
    league = kn.Fixed([0.0, 0.5, 1.0, 5.0, 5.5, 6.0])
    found = kn.matchmaking(SYSTEM, league, pairings={"apart": Window(2.0), "joined": Window(4.5)})
    names = [one.name for one in found.options]
    assert "apart" not in names and "joined" in names


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"fairness": 0.0}, "between 0 and 1"),
        ({"fairness": 0.01}, "is as fair as 0.01; the fairest found"),
        ({"pairings": [Window(1.0)]}, "Pairings by name"),
        ({"strengths": Continuum((4, 10))}, "strengths must be a league"),
        ({"strengths": kn.Fixed(np.linspace(0, 9, 601))}, "at most 600 teams"),
        ({"system": kn.RatingSystem(T, schedule=Rounds())}, "drawn at random"),
        ({"system": kn.RatingSystem(T, gamma=FallingSteps(0.1, 1.0, 3.0))}, "one gamma"),
    ],
)
def test_what_cannot_be_asked(asked, said):
    with pytest.raises(kn.InputError, match=said):
        kn.matchmaking(**{"system": SYSTEM, "strengths": TWENTY, **asked})


def test_the_picture_shows_every_option_where_it_is():
    own = {"bell": Pairing.from_function(lambda z: 1 / (1 + z**4))}
    found = kn.matchmaking(SMALL, TWENTY, fairness=0.4, pairings=own)
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
    five = contest_worth(kn.RatingSystem(T, schedule=Field(5)), league)
    lines = {line.get_label(): line.get_xydata() for line in left.lines}
    np.testing.assert_allclose(lines["5 meet"], np.column_stack([league.theta, five]))
    means = {line.get_label(): line.get_xydata() for line in right.lines}["this league, mean"]
    np.testing.assert_allclose(means, [(2, 1), (5, five.mean())])


def test_a_pairing_that_stretches_says_how_small_a_step_would_do():
    """A league played at that step is not stretched by more than is allowed, one at the step of the system is.

    Three standard errors of leagues that are played twice as long as they take to settle: below 0.3 % by chance.
    """
    league = kn.Normal(np.linspace(-3.0, 3.0, 13), 0.3)
    system = kn.RatingSystem(T, Window(1.9), gamma=0.2)
    found = kn.matchmaking(system, league)
    small = found.small_step
    assert found.best.stretched and 0 < small < 0.2 and found.to_dict()["small_step"] == small
    assert found.advice[1].endswith(f"Take gamma = {small:.3g} or less, or a wider pairing.")
    bench = _Bench(system, league, 0.05)
    assert not bench.option("", Window(1.9), small).stretched
    assert bench.option("", Window(1.9), 1.1 * small).stretched
    slopes = {}
    for gamma in (small, 0.2):
        run = kn.simulate(
            kn.RatingSystem(T, Window(1.9), gamma=gamma), league, steps=30_000, matches_per_step=6, record_every=20,
            realisations=12, seed=11, start=found.best.state.rating if gamma == 0.2 else league.theta,
        ).rating.values[:, 500:]  # fmt: skip
        slopes[gamma] = np.array([np.polyfit(league.theta, one.mean(axis=0), 1)[0] for one in run])
    means = {gamma: (each.mean(), each.std(ddof=1) / np.sqrt(12)) for gamma, each in slopes.items()}
    assert means[small][0] < 1.05 + 3 * means[small][1] and means[0.2][0] > 1.05 + 3 * means[0.2][1]
    wide = kn.matchmaking(kn.RatingSystem(T, gamma=0.05), league)
    assert wide.small_step is None and len(wide.advice) == 1


def test_a_choice_is_said_with_its_numbers():
    league = kn.Normal(np.linspace(-3.0, 3.0, 13), 0.3)
    found = kn.matchmaking(kn.RatingSystem(T, Window(1.9), gamma=0.2), league)
    best, everyone = found.best, next(one for one in found.options if one.pairing == AllPlayAll())
    ratio = best.matches / everyone.matches
    assert best.stretched and 0.5 < best.favourite < everyone.favourite < 1 and ratio > 1.2
    assert found.advice[0] == (
        f"{best.name}: at γ = 0.2 the better team of a game expects {100 * best.favourite:.0f} % of the points, "
        f"ratings settle in {best.matches:,.0f} matches of a team ({ratio:.2g} times as many as when all play all, "
        f"{100 * everyone.favourite:.0f} %), slope {best.slope:.3f}, off by ± {np.sqrt(best.error):.3g}."
    )
    assert found.advice[1].startswith(f"It stretches ratings by {100 * (best.slope - 1):.0f} %: noise moves ratings")
    rows = found.rows()
    assert [name for name, _ in rows] == [*(one.name for one in found.frontier), best.name, "Left out"]
    for one, (_, words) in zip([*found.frontier, best], rows):
        assert words == (
            f"{one.one_sided:.3f} one-sided, {one.matches:,.0f} matches of a team ({one.candidates:,.0f} drawn), "
            f"slope {one.slope:.3f}{' (stretched)' if one is best else ''}, off by ± {np.sqrt(one.error):.3g}"
        )
    left = sum(one.stretched for one in found.options)
    assert 0 < left < len(found.options)
    assert rows[-1][1] == f"{left} of {len(found.options)} pairings stretch ratings by more than 5 % at γ = 0.2"
    assert str(found).splitlines()[-1] == f"What to choose: {found.advice[1]}"
    assert repr(found) == f"Matchmaking: {found.advice[0]} {found.advice[1]}"
    page = html.unescape(found._repr_html_())
    assert all(said in page for said in found.advice) and "Left out" in page


def test_where_no_pairing_will_do_it_is_said_why_and_what_to_take():
    system, options = kn.RatingSystem(T, kn.model.Window(c=2.0), gamma=0.1234), []
    bench = SimpleNamespace(system=system, small_step=lambda pairing: 0.0456 if pairing is system.pairing else None)
    with pytest.raises(kn.errors.NoStationaryState) as refused:
        _own(bench, options)
    assert str(refused.value) == (
        f"Ratings do not settle with {system.pairing!r} at gamma = 0.1234: the league falls apart, or noise carries "
        "teams beyond the reach of those who would hold them. Take gamma = 0.0456 or less, or a wider pairing."
    )
    rows = ((0.4, 90.0, True, 1.25, "a"), (0.3, 80.0, True, 1.13, "b"), (0.5, 20.0, False, 1.0, "c"),
            (0.45, 30.0, False, 1.0, "d"), (0.2, 50.0, False, 1.0, "e"))  # fmt: skip
    names = ("one_sided", "matches", "stretched", "slope", "name")
    options = [SimpleNamespace(**dict(zip(names, row)), pairing=row[-1]) for row in rows]
    for wanted, name in ((0.5, "c"), (0.4999, "d"), (0.45, "d"), (0.44, "e"), (0.2, "e")):
        assert _quickest(bench, options, wanted).name == name
    assert _own(SimpleNamespace(system=SimpleNamespace(pairing="d")), options).name == "d"
    with pytest.raises(kn.InputError) as refused:
        _quickest(bench, options[:4], 0.4)
    assert str(refused.value) == (
        "Every pairing that is as fair as 0.4 stretches ratings at gamma = 0.1234, the least by 13 % (b). Take a "
        "larger stretch=."
    )
    with pytest.raises(kn.InputError) as refused:
        _quickest(bench, options, 0.1)
    assert str(refused.value) == (
        "No pairing that holds this league together is as fair as 0.1; the fairest found has 0.200 (e)."
    )


@pytest.mark.parametrize("limit", [0.0777, 0.1125, 0.13, 0.2, 0.21, 0.3])
def test_a_smaller_step_is_the_largest_to_a_tenth_that_does_not_stretch(limit):
    """Halved until it fits, then eighths of a halving up as far as it does; no step as large as the present one."""
    bench = SimpleNamespace(
        system=SimpleNamespace(step=0.9),
        option=lambda name, pairing, step: None if step > 0.25 else SimpleNamespace(stretched=step > limit),
    )
    steps = [0.9 / 2**k * 2 ** (j / 8) for k in range(1, 9) for j in range(8)]
    assert _Bench.small_step(bench, None) == pytest.approx(max(s for s in steps if s <= min(limit, 0.25)))
    bench.option = lambda *_: None
    assert _Bench.small_step(bench, None) is None


def test_the_speed_that_is_played_is_that_of_a_push_which_dies_away(monkeypatch):
    """Two leagues pushed to both sides: of the push about 0.4 is left after a life, 0.1 after two."""
    league, asked = kn.Fixed([-1.0, -0.3, 0.2, 0.9, 1.4]), []
    bench = _Bench(kn.RatingSystem(kn.Tanh(0.6), gamma=0.05), league, 0.05)
    option = bench.option("all", AllPlayAll())
    middle = option.state.rating

    def played(system, strengths, *, start, **plan):
        asked.append((system, strengths, start, plan))
        ratings = np.stack([middle + share * (start - middle) for share in (1.0, 0.4, 0.1)])
        leagues = np.repeat(ratings[None], plan["realisations"], axis=0)
        leagues[::2] += 0.02 * np.arange(3)[:, None] * (start - middle)  # more is left in every other league
        return SimpleNamespace(rating=SimpleNamespace(values=leagues))

    monkeypatch.setattr(of_matchmaking, "simulate", played)
    monkeypatch.setattr(of_matchmaking, "check_state", lambda state, fairness: Check((), 1, 2))
    [speed] = of_matchmaking._play(bench, option).quantities
    # The step at which noise is 1/20 of what matters, ½ of 1/ν, and the life of what is slowest there, in steps.
    gamma = 0.6 * (0.5 / 0.6 / 20) ** 2
    quiet = bench.option("all", AllPlayAll(), gamma).state
    life = round(1 / (gamma * relaxation_of(quiet).gap))
    leagues = min(200, 10_000_000 // (8 * life))
    (first, strengths, up, plan), (second, _, down, other) = asked
    assert first.gamma == second.gamma == pytest.approx(gamma) and strengths is league and plan == other
    assert plan == {"steps": 2 * life, "matches_per_step": 2, "realisations": leagues, "seed": 1, "record_every": life}
    assert up + down == pytest.approx(2 * quiet.rating) and np.abs(up - down).max() == pytest.approx(0.4 * 0.5 / 0.6)
    fallen = math.log(0.41 / 0.12)  # in a life, whose matches of a team are 0.8 a step
    assert speed.name == f"matches of a team at γ = {gamma:.3g}"
    assert speed.played == pytest.approx(math.log(100) * 0.8 * life / fallen, rel=1e-9)
    assert speed.theory == pytest.approx(math.log(100) * life, rel=0.02)
    ratios = np.resize([0.14 / 0.12 - 0.42 / 0.41, 0.1 / 0.12 - 0.4 / 0.41], leagues)
    error = speed.played * ratios.std(ddof=1) / math.sqrt(leagues) / fallen
    assert speed.standard_error == pytest.approx(error, rel=1e-9)
