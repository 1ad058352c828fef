"""What a check and a design make of played leagues, by hand: every formula beside a plain one, on made-up records."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice import check as of_check
from kinelo.advice import settling
from kinelo.advice.check import Check, Quantity, as_walked, before_walk, check_state, check_tracking
from kinelo.advice.design_theory import _falling_in_open_league, _Scores, expected_error

TANH = kn.Tanh(0.5)
RNG = np.random.default_rng(3)
RATING = RNG.normal(0.3, 1.3, (5, 7, 6)) + np.linspace(-2.0, 3.0, 6)
STRENGTH = 0.8 * RATING + RNG.normal(0.1, 0.5, (5, 7, 6))
"""Five leagues, seven records, six teams: no two means alike."""


def shares(values, of):
    """Mean over leagues of a number of each league, and its standard error."""
    each = [of(one) for one in values]
    return np.mean(each), np.std(each, ddof=1) / math.sqrt(len(each))


def square_error(rating, strength):
    """Mean over records of the variance of rating less strength, by hand."""
    rows = [[a - b for a, b in zip(one, other)] for one, other in zip(rating, strength)]
    return np.mean([sum((x - np.mean(row)) ** 2 for x in row) / (len(row) - 1) for row in rows])


@pytest.mark.parametrize(
    ("theory", "played", "error", "z", "agrees"),
    [
        (1.0, 1.039, 0.01, 3.9, True), (1.0, 1.041, 0.01, 4.1, False), (1.0, 0.961, 0.01, -3.9, True),
        (1.0, 0.959, 0.01, -4.1, False), (1.0, 1.019, 0.001, 19.0, True), (1.0, 1.021, 0.001, 21.0, False),
        (-1.0, -1.019, 0.001, -19.0, True), (2.0, 2.5, 0.0, math.inf, False), (2.5, 2.0, 0.0, -math.inf, False),
        (2.0, 2.0, 0.0, 0.0, True), (2.0, 2.03, 0.0, math.inf, True),
    ],
)  # fmt: skip
def test_theory_and_league_agree_within_four_errors_or_two_percent(theory, played, error, z, agrees):
    one = Quantity("slope", theory, played, error)
    assert one.z == pytest.approx(z) and one.agrees is agrees
    good = Quantity("other", 3.0, 3.0, 0.5)
    both = Check((good, one), 123, 7)
    assert both.agrees is agrees and both.sentence.startswith(
        f"Theory and league {'agree' if agrees else 'disagree'}: "
    )


def test_a_check_is_told_with_all_its_numbers():
    pair = Quantity("slope", 0.8421, 0.8512, 0.00512), Quantity("error", 1.25, 1.5, 0.01)
    lines = (
        "slope 0.8421 by theory, 0.8512 ± 0.0051 as played (z = +1.8); error 1.25 by theory, 1.5 ± 0.01 as played "
        "(z = +25.0)."
    )
    assert Check(pair, 1000, 16).sentence == f"Theory and league disagree: {lines}"
    walked = Check(pair, 1000, 16, 1.2345)
    assert walked.sentence == (
        f"Theory and league disagree: {lines} Both are about strengths that have walked until they spread by ± 1.23."
    )
    plain = walked.to_dict()
    assert plain["quantities"][1] == {"name": "error", "theory": 1.25, "played": 1.5, "standard_error": 0.01,
                                      "z": pytest.approx(25.0)}  # fmt: skip
    assert (plain["agrees"], plain["matches"], plain["leagues"], plain["spread"]) == (False, 1000, 16, 1.2345)
    assert "spread" not in Check(pair, 1000, 16).to_dict()


def told(check):
    return {one.name: (one.theory, one.played, one.standard_error) for one in check.quantities}


def test_a_state_is_held_against_what_its_league_played(monkeypatch):
    theta = np.array([-2.0, -0.7, 0.1, 0.9, 1.4, 3.0])
    monkeypatch.setattr(of_check, "_play", lambda *asked: (RATING, None, 4321))
    monkeypatch.setattr(
        of_check, "moments_of", lambda state: SimpleNamespace(rescaled=lambda by: SimpleNamespace(error=by))
    )
    pairing = kn.model.Window(c=2.0)
    state = SimpleNamespace(teams=SimpleNamespace(strengths=kn.Fixed(theta), finite=True), rating=theta, slope=0.83,
                            error=1.7, noise="gaussian", system=kn.RatingSystem(TANH, pairing, gamma=0.1))  # fmt: skip
    size = np.random.default_rng(8).random((6, 6))
    found = check_state(state, factor=0.7, fairness=(size, 0.41))
    slopes = shares(RATING, lambda one: np.polyfit(theta, one.mean(axis=0), 1)[0])
    errors = shares(RATING, lambda one: square_error(one, np.tile(theta, (7, 1))))
    scaled = shares(RATING, lambda one: square_error(0.7 * one, np.tile(theta, (7, 1))))

    def one_sided(league):
        games = total = 0.0
        for record in league:
            for i in range(6):
                for j in range(i + 1, 6):
                    w = float(pairing.w(np.array([record[i] - record[j]]))[0])
                    games, total = games + w, total + w * size[i, j]
        return total / games

    fair = shares(RATING, one_sided)
    expected = {"slope": (0.83, *slopes), "mean square error": (1.7, *errors),
                "mean square error with gaps times 0.700": (0.7, *scaled), "one-sidedness": (0.41, *fair)}  # fmt: skip
    assert told(found) == {name: pytest.approx(numbers) for name, numbers in expected.items()}
    assert (found.matches, found.leagues, found.spread) == (4321, 5, None)
    assert list(told(check_state(replace_in(state, noise="none")))) == ["slope"]
    assert list(told(check_state(state, factor=1.0))) == ["slope", "mean square error"]
    equal = SimpleNamespace(strengths=kn.Fixed(np.ones(6)), finite=True)
    assert list(told(check_state(replace_in(state, teams=equal)))) == ["mean square error"]


def replace_in(state, **more):
    return SimpleNamespace(**(vars(state) | more))


def tracked(**more):
    moments = SimpleNamespace(rescaled=lambda by: SimpleNamespace(error=10.0 * by))
    return SimpleNamespace(**({
        "dynamics": kn.model.Form(0.01, 0.5), "teams": None, "system": kn.RatingSystem(TANH, gamma=0.1), "E": 0.9,
        "V": 2.25, "rating_slope": 0.77, "forecast_slope": 0.66, "moments": moments,
    } | more))  # fmt: skip


def test_a_tracking_is_held_against_what_its_league_played(monkeypatch):
    begun = []
    monkeypatch.setattr(
        of_check, "_play", lambda system, league, motion, start, *rest: begun.append(start) or (RATING, STRENGTH, 99)
    )
    theta = np.array([-2.0, -0.7, 0.1, 0.9, 1.4, 3.0])
    found = check_tracking(tracked(), kn.Fixed(theta), factor=1.3)
    errors = shares(list(zip(RATING, STRENGTH)), lambda pair: square_error(*pair))
    scaled = shares(list(zip(1.3 * RATING, STRENGTH)), lambda pair: square_error(*pair))
    both, own, rated = [], [], []
    for r, s in zip(RATING, STRENGTH):
        x, y = s - s.mean(axis=1)[:, None], r - r.mean(axis=1)[:, None]
        both.append(np.mean(x * y)), own.append(np.mean(x * x)), rated.append(np.mean(y * y))

    def ratio(above, below):
        slope = sum(above) / sum(below)
        left = [a - slope * b for a, b in zip(above, below)]
        return slope, np.std(left, ddof=1) / math.sqrt(5) / np.mean(below)

    expected = {
        "mean square error": (0.9, *errors), "slope": (0.77, *ratio(both, own)),
        "slope of strengths on ratings": (0.66, *ratio(both, rated)),
        "mean square error with gaps times 1.300": (13.0, *scaled),
    }  # fmt: skip
    assert told(found) == {name: pytest.approx(numbers) for name, numbers in expected.items()}
    assert (found.matches, found.leagues, found.spread) == (99, 5, None) and begun[-1] == pytest.approx(theta)
    assert "slope" not in told(check_tracking(tracked(V=0.0), kn.Fixed(theta)))
    assert len(told(check_tracking(tracked(), kn.Fixed(theta), factor=1.0))) == 3
    ready = SimpleNamespace(rating=SimpleNamespace(size=6))
    check_tracking(tracked(teams=ready), kn.Fixed(theta))
    assert begun[-1] is ready.rating
    check_tracking(tracked(teams=SimpleNamespace(rating=SimpleNamespace(size=5))), kn.Fixed(theta))
    assert begun[-1] == pytest.approx(theta)


@pytest.mark.parametrize(
    ("memory", "matches", "plan", "leagues"),
    # 4.5 memories before, one after in eighths; from 8 to 400 leagues.
    [(160.0, 10_000, (720 + 160, 20, 8), 8), (160.0, 600_000, (720 + 160, 20, 8), 227),
     (160.0, 10**8, (880, 20, 8), 400), (6.0, 10_000, (27 + 6, 1, 6), 101),
     (0.1, 1000, (2, 1, 1), 166), (21.0, 10_000, (94 + 20, 2, 10), 29)],
)  # fmt: skip
def test_a_league_that_walks_is_looked_at_about_today(memory, matches, plan, leagues, monkeypatch):
    theta, walk, asked = np.array([0.0, 3.0, 1.0, 7.0, 4.0, 9.0]), kn.model.Walk(0.02), []

    def played(system, league, motion, plan, leagues, seed, start):
        asked.append((league, motion, plan, leagues, start))
        return RATING, STRENGTH

    monkeypatch.setattr(of_check, "beginning", lambda *_: SimpleNamespace(memory=memory))
    monkeypatch.setattr(of_check, "last_records", played)
    monkeypatch.setattr(of_check, "tracking", lambda system, league, motion: tracked(dynamics=motion, V=0.81))
    found = check_tracking(tracked(dynamics=walk), kn.Fixed(theta), matches=matches)
    league, motion, *said, start = asked[0]
    assert said == [plan, leagues] and motion is walk and start is league.theta
    steps, every, records = plan
    gone = 0.02**2 * (steps - every * records / 2)
    share = math.sqrt(max(0.0, 1.0 - gone / np.var(theta, ddof=1)))
    assert league.theta == pytest.approx(4.0 + share * (theta - 4.0))
    assert (found.matches, found.spread) == (every * records, pytest.approx(0.9))


def test_strengths_before_a_walk_spread_less_and_never_turn_round():
    theta, walk = np.array([1.0, 5.0, 9.0]), kn.model.Walk(0.5)
    assert before_walk(kn.Normal(theta, [0.1, 0.2, 0.3]), walk, 28.0).theta == pytest.approx([2.0, 5.0, 8.0])
    assert before_walk(kn.Normal(theta, [0.1, 0.2, 0.3]), walk, 28.0).sigma.tolist() == [0.1, 0.2, 0.3]
    assert before_walk(kn.Fixed(theta), walk, 64.1).theta == pytest.approx([5.0, 5.0, 5.0])
    assert before_walk(kn.Fixed([2.0, 2.0]), walk, 3.0).theta == pytest.approx([2.0, 2.0])


def test_strengths_as_walked_have_their_mean_order_and_their_spread():
    league = kn.Normal([4.0, -1.0, 2.0], [0.4, 0.1, 0.2])
    reached = np.array([[[3.0, 0.0, 1.0], [5.0, 2.0, -1.0]], [[2.0, 8.0, 1.0], [0.0, 4.0, -3.0]]])
    ordered = np.sort(reached, axis=2).reshape(4, 3).mean(axis=0)
    spread = np.mean([np.var(row) for row in reached.reshape(4, 3)])
    expected = (ordered - ordered.mean()) * math.sqrt(spread / np.var(ordered))
    found = as_walked(league, reached)
    assert found.theta == pytest.approx(expected) and found.sigma.tolist() == [0.1, 0.2, 0.4]


@pytest.mark.parametrize("memory", [10.0, 1000.0, 1700.0, 2000.0, 5000.0, 1e5, 0.01])
def test_leagues_are_played_long_enough_and_their_beginning_is_left_out(memory, monkeypatch):
    """Half as many leagues until each holds twelve memories, at least four; of each the last two thirds."""
    matches = 1_000_000
    asked = []
    monkeypatch.setattr(of_check, "beginning", lambda *_: SimpleNamespace(memory=memory))
    monkeypatch.setattr(
        of_check, "last_records", lambda s, league, motion, plan, *rest: asked.append((plan, rest[0])) or (1, 2)
    )
    size = 6
    *_, length = of_check._play(kn.RatingSystem(TANH, gamma=0.1), kn.Fixed(np.arange(6.0)), None, np.zeros(6), matches)
    count, each = 16, 2 * matches / size / 16
    while count > 4 and each < 12 * memory:
        count, each = count / 2, 2 * each
    each = min(each, 4000 * memory)
    looks = min(max(int(each * 2 / 3 / memory * 2), 40), 400)
    between = max(int(each / 1.5 / looks), 1)
    assert asked == [((int(1.5 * looks) * between, between, looks), count)] and length == between * looks


# A design


def test_steps_by_rule_have_the_error_of_the_step_that_they_come_to():
    league, theta = kn.Fixed([0.0, 1.0, 3.0]), np.array([0.0, 1.0, 3.0])
    falling = kn.RatingSystem(TANH, gamma=kn.model.FallingSteps(0.05, boost=2.0, matches=30))
    held = expected_error(replace(falling, gamma=0.05 * (1 + 2 * 30 / 90)), league, None, 1.0)
    assert expected_error(falling, league, None, 60.0) == held
    glicko = kn.RatingSystem(TANH, gamma=kn.model.DeviationSteps(growth=0.12, start=1.0))
    settled = kn.theory.settled_deviations(glicko, league, noise="gaussian")
    parts = expected_error(glicko, league, None, 60.0)
    assert parts.noise == pytest.approx(np.mean(settled.variance)) and parts.lag == 0.0
    assert parts.bias == pytest.approx(np.var(settled.rating - theta, ddof=1))


def plain_mean(law, rating, variance, others, spread, mass):
    """Mean of a law over a normal rating and normal opponents, by many nodes."""
    z = np.linspace(-8.0, 8.0, 2001)
    weight = np.exp(-z * z / 2) / np.exp(-z * z / 2).sum()
    return sum(
        m * float(law(rating - o + math.sqrt(variance + s) * z) @ weight) for o, s, m in zip(others, spread, mass)
    )


def test_mean_results_of_normal_ratings_are_those_of_many_nodes():
    others, spread, mass = np.array([-1.0, 0.5, 2.0]), np.array([0.3, 0.0, 0.8]), np.array([0.2, 0.5, 0.3])
    scores = _Scores(TANH, mass, others, spread, np.array([-1.0, 2.0, 1.5]))
    rating, variance = np.array([-0.9, 0.33, 1.87]), np.array([0.02, 0.7, 1.9])
    score, slope = scores.at(rating, variance)
    for k in range(3):
        assert score[k] == pytest.approx(plain_mean(TANH.b, rating[k], variance[k], others, spread, mass), abs=2e-3)
        assert slope[k] == pytest.approx(
            plain_mean(TANH.b_prime, rating[k], variance[k], others, spread, mass), abs=2e-3
        )


@pytest.mark.parametrize("sides", [2, 4])
def test_an_open_league_with_falling_steps_is_that_of_a_loop(sides):
    """The recursion of the module, one newcomer after another, its means by many nodes; ties count less luck."""
    outcome = kn.Tanh(0.5) if sides > 2 else kn.model.Davidson(nu=0.5, kappa=0.6)
    rule = kn.model.FallingSteps(0.2, boost=1.5, matches=6)
    schedule = None if sides == 2 else kn.model.Field(sides)
    system = (
        kn.RatingSystem(outcome, gamma=rule, schedule=schedule) if schedule else kn.RatingSystem(outcome, gamma=rule)
    )
    turnover = kn.model.Turnover(rate=0.3, theta=[-0.6, 0.9, 0.9], start=-0.2)
    found = _falling_in_open_league(system, kn.Fixed(np.zeros(6)), turnover)
    theta, mass = np.array([-0.6, 0.9]), np.array([1 / 3, 2 / 3])
    ages = math.ceil(math.log(1e-6) / math.log(0.7))
    weight = np.array([0.3 * 0.7**n for n in range(ages)])
    steps = [0.2 * (1 + 1.5 * 6 / (6 + n)) for n in range(ages)]

    def law(values):
        return outcome.b(np.asarray(values))

    tie = [[float(outcome.tie_probability(np.array([a - b]))[0]) if sides == 2 else 0.0 for b in theta] for a in theta]
    expected = [sum(m * float(law([a - b])[0]) for b, m in zip(theta, mass)) for a in theta]
    luck = [sum(m * (1 - tie[i][j] - float(law([a - b])[0]) ** 2) for j, (b, m) in enumerate(zip(theta, mass)))
            for i, a in enumerate(theta)]  # fmt: skip
    if sides > 2:
        from kinelo.theory.worth import contest_share

        luck = [x * contest_share(system, turnover.pool) for x in luck]
    others, spread, off = theta.copy(), np.zeros(2), 0.0
    for _ in range(8):
        mean, variance = np.full((ages, 2), -0.2), np.zeros((ages, 2))
        for i in range(2):
            for n in range(ages - 1):
                score = plain_mean(law, mean[n, i], variance[n, i], others, spread, mass)
                slope = plain_mean(outcome.b_prime, mean[n, i], variance[n, i], others, spread, mass)
                mean[n + 1, i] = mean[n, i] + steps[n] * (expected[i] - score)
                shaken = luck[i] + slope**2 * off / (sides - 1)
                variance[n + 1, i] = (1 - steps[n] * slope) ** 2 * variance[n, i] + steps[n] ** 2 * shaken
        others = weight @ mean
        spread = weight @ (variance + mean**2) - others**2
        gap = others - theta
        off = float(mass @ (spread + gap**2)) - float(mass @ gap) ** 2
    assert found.noise == pytest.approx(float(mass @ (weight @ variance)), rel=0.01)
    assert found.lag + found.noise == pytest.approx(off, rel=0.01) and found.bias == 0.0


# How long a league remembers


@pytest.fixture
def remembered(monkeypatch):
    """The memory of three teams whose slowest disturbance is down to 1/e after 50 matches, or never."""
    system, strengths = kn.RatingSystem(TANH, gamma=0.1), kn.Fixed([0.0, 1.0, 3.0])
    state = kn.stationary(system, strengths, noise="gaussian")
    monkeypatch.setattr(settling, "settled_state", lambda *_: (state, None))

    def memory(*dynamics, gap=0.2):
        monkeypatch.setattr(settling, "relaxation_of", lambda state: SimpleNamespace(gamma=0.1, gap=gap))
        found = settling.beginning(system, strengths, dynamics)
        assert found.settling == 3.0 * found.memory and found.rating == pytest.approx(state.rating)
        return found.memory

    return memory, state


@pytest.mark.parametrize(
    ("motion", "moving"), [((), 0.0), ((kn.model.Form(0.002, 0.5),), 500.0), ((kn.model.Form(0.4, 0.5),), 2.5)]
)
def test_a_league_remembers_as_long_as_the_slowest_of_what_moves_it(motion, moving, remembered):
    memory, _ = remembered
    assert memory(*motion) == pytest.approx(max(50.0, moving))
    for rate in (0.005, 0.04):
        random, weakest = (kn.model.Turnover(rate, [1.0], 0.0, who) for who in ("random", "weakest"))
        assert memory(*motion, random) == pytest.approx(1 / rate)
        assert memory(*motion, weakest) == pytest.approx(max(50.0, moving, 1 / rate))
    assert memory(*motion, gap=0.0) == math.inf


def test_learning_is_remembered_as_long_as_its_pull_and_the_mean_slope_say(remembered):
    memory, state = remembered
    spread = math.sqrt(2 * (np.mean(state.variance) + np.var(state.rating)))
    z = np.linspace(-8, 8, 4001)
    slope = float(TANH.b_prime(spread * z) @ np.exp(-z * z / 2)) / np.exp(-z * z / 2).sum()
    assert memory(kn.model.Learning(alpha=0.5, beta=0.3, diffusion=0.4)) == pytest.approx(1 / (0.02 * slope), rel=1e-3)
    assert memory(kn.model.Learning(alpha=0.3, beta=0.5, diffusion=0.4)) == pytest.approx(50.0)


def test_the_error_of_the_expansion_is_that_of_two_terms_beside_the_integral():
    theta, sigma = np.array([0.0, 1.0, 3.0]), np.array([0.3, 0.6, 0.2])
    found = kn.diagnose(kn.RatingSystem(TANH, gamma=0.05), kn.Normal(theta, sigma)).taylor
    z, errors = np.linspace(-8.0, 8.0, 4001), []
    weight = np.exp(-z * z / 2) / np.exp(-z * z / 2).sum()
    for i in range(3):
        for j in range(3):
            gap, spread = theta[i] - theta[j], sigma[i] ** 2 + sigma[j] ** 2
            b = math.tanh(0.5 * gap)
            second = -2.0 * 0.25 * b * (1.0 - b * b)
            errors.append(abs(b + 0.5 * spread * second - float(np.tanh(0.5 * (gap + math.sqrt(spread) * z)) @ weight)))
    assert found.largest_error == pytest.approx(max(errors), rel=1e-3) and max(errors) > 1e-3
