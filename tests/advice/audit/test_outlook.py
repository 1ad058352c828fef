"""What to use from now on, held against leagues that were played on; and days whose order is not known."""

import math
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice.audit.estimate import estimate_league
from kinelo.advice.audit.in_use import carried_on, system_of
from kinelo.advice.audit.inputs import latest_part
from kinelo.advice.audit.kernels import Calendar, Parameters
from kinelo.advice.audit.outlook import FirstSteps, Outlook, look_ahead, play_on, replayed_losses, replays_ahead
from kinelo.advice.audit.recursion import Recursion


@cache
def league(matches, sides, seed, walk=0.0, keep=1.0, a_day=8, timed=True):
    """Players on the chess scale whose strengths walk and return; all matches, of which some are the past."""
    g = np.random.default_rng(seed)
    strength, rows = g.normal(0.0, 200.0, sides), []
    for n in range(matches):
        i = g.integers(sides)
        j = (i + g.integers(1, sides)) % sides
        won = g.random() < 1 / (1 + 10 ** ((strength[j] - strength[i]) / 400))
        rows.append((str(np.datetime64("2010-01-01") + n // a_day), f"{n % a_day:02d}:00", f"p{i}", f"p{j}", won, 1))
        for side in (i, j):
            strength[side] = keep * strength[side] + walk * g.normal()
    columns = dict(zip(("date", "time", "home", "away", "result", "neutral"), map(list, zip(*rows))))
    if not timed:
        del columns["time"]
    return kn.read_matches(columns | {"result": [float(won) for won in columns["result"]]})


def losses_played_on(past, future, k_in_use, ks):
    """Log-loss of further matches at every K, from the ratings that the K in use ends at."""
    table = kn.TeamElo.classic(k=k_in_use).update(past).ratings_
    start = dict(zip(table["name"], table["rating"]))
    raters = [kn.TeamElo.classic(k=k, ties=0.0, start=start) for k in ks]
    chances = np.array([rater.one_step_ahead(future).probabilities for rater in raters])
    return -np.log(np.where(future.result == 1, chances[:, :, 0], chances[:, :, 2])).mean(axis=1)


def test_where_all_began_at_one_rating_the_future_wants_less_and_following_the_advice_pays():
    matches = league(9000, 50, seed=8)
    past, future = matches[:3000], matches[3000:]
    found = kn.audit(past, kn.TeamElo.classic(k=20))
    outlook = found.outlook
    in_use, wanted_then, advised, *ladder = losses_played_on(
        past, future, 20.0, [20.0, found.advice.k, outlook.k, *np.geomspace(2.0, 60.0, 12)]
    )
    assert found.advice.k > 20 > outlook.k and outlook.finding_strengths
    assert outlook.known_starts < outlook.past / 1.25
    # Two K on the same 6,000 results differ with a standard error of about 0.0005.
    assert advised < in_use - 0.0015 and advised < wanted_then - 0.003
    assert advised < min(ladder) + 0.0015
    assert outlook.gain == pytest.approx(in_use - advised, abs=0.002)
    assert found.verdict.startswith("K = 20 is too large for the matches to come: ")
    assert "The best K has moved" not in found.verdict
    assert "give the ratings at their beginning (--start)" in dict(found.rows())["Matches to come"]
    assert not found.moves and "show no movement" in str(found)


def recursion_of(matches, parameters=None, k=20.0):
    """Theory of a league under K, and today's ratings."""
    system, _ = system_of(kn.TeamElo.classic(k=k), matches, len(matches) // 2)
    parameters = parameters or estimate_league(Calendar.of(matches)).parameters
    system = system.with_ties(parameters.ties)
    table = system.blank().update(matches).ratings_
    known = dict(zip(table["name"], table["rating"]))
    ratings = np.array([known[name] - 1500.0 for name in matches.teams])
    return Recursion(Calendar.of(matches), parameters, system.in_kernels(matches), len(matches) // 2), ratings


MOVING = Parameters(12.0, 25.0, 0.4, 180.0, -90.0, 30.0, 0.6)


@cache
def growing():
    """A small league with a newcomer in its later half, home sides on some grounds, and draws."""
    g, rows = np.random.default_rng(17), []
    for n in range(180):
        i, j = g.permutation(7 if n < 120 else 9)[:2]
        rows.append((str(np.datetime64("2012-01-01") + 9 * n), f"p{i}", f"p{j}", g.choice([0.0, 0.5, 1.0]), n % 3 == 0))
    return kn.read_matches(dict(zip(("date", "home", "away", "result", "neutral"), map(list, zip(*rows)))))


def test_the_loss_of_a_replay_is_that_of_plain_elo_over_its_results():
    recursion, ratings = recursion_of(growing(), MOVING)
    (one,) = replays_ahead(recursion, MOVING, ratings, [np.random.default_rng(3)])
    coming, kappa, k = one.calendar, recursion.system.forecast_kappa, 37.0
    assert coming.sides > recursion.calendar.sides and 0 < np.mean(one.expected.square) < 1
    rating, total = dict(enumerate(ratings)), 0.0
    for i, j, home, S in zip(coming.home, coming.away, one.system.home, one.expected.score):
        gap = rating.setdefault(i, 0.0) - rating.setdefault(j, 0.0) + home
        up = 10 ** (gap / 800 * (1 + kappa / 2))
        total -= np.log((up if S > 0 else 1 / up if S < 0 else kappa) / (up + 1 / up + kappa))
        move = k * ((S + 1) / 2 - 1 / (1 + 10 ** (-gap / 400)))
        rating[i], rating[j] = rating[i] + move, rating[j] - move
    assert one.loss(k) == pytest.approx(total / coming.size, rel=1e-9)
    ks = np.array([k, 11.0])
    assert replayed_losses(one, ks) == pytest.approx([one.loss(k), one.loss(11.0)], rel=1e-12)
    # Three matches a day in no known order, of unequal weights.
    day = np.arange(coming.size) // 3 + 1
    one.calendar = coming._replace(until=np.minimum(3 * day, coming.size), weight=np.linspace(0.5, 2.0, coming.size))
    assert (
        replayed_losses(one, ks)[0]
        == pytest.approx(one.loss(k), rel=1e-12)
        != pytest.approx(total / coming.size, rel=1e-3)
    )


def test_replays_of_the_matches_to_come_end_as_theory_expects_them():
    recursion, ratings = recursion_of(growing(), MOVING)
    ahead, number = play_on(recursion, ratings), 900
    # Theory holds the home advantage where it is: it is neither doubted nor does it move in these replays.
    still = MOVING._replace(home_drift=0.0)
    recursion.filtered.home_path[-1, 3] = 0.0
    recursion.parameters = still
    played = list(replays_ahead(recursion, still, ratings, [np.random.default_rng([n, 5]) for n in range(number)]))
    gaps = np.array([one.strengths.mean[:, 0] - one.strengths.mean[:, 1] for one in played])
    expected, sd = ahead.strengths.mean @ [1, -1], np.sqrt(ahead.strengths.variance.sum(axis=1))
    # The largest of 180 means lies beyond 4.5 standard errors once in 800 runs, were they independent. The league's
    # mean is drawn too, which theory does not follow: that is worth some hundredths.
    assert np.abs((gaps.mean(axis=0) - expected) / sd).max() < 4.5 / np.sqrt(number)
    spread = gaps.std(axis=0) / sd
    assert np.abs(spread - 1).max() < 0.05 + 4.5 / np.sqrt(2 * number) and abs(np.mean(spread) - 1) < 0.04
    results = np.array([one.expected.score for one in played]).mean(axis=0)
    off = (results - ahead.expected.score) * np.sqrt(number / ahead.expected.square)
    assert np.abs(off).max() < 4.5 and 0.7 < np.mean(off**2) < 1.3


def test_the_interval_is_wider_by_what_the_k_of_the_past_may_be_off():
    recursion, ratings = recursion_of(growing(), MOVING)
    drawn = [MOVING, MOVING._replace(walk_per_match=30.0)]

    def ends(low, high):
        """Logarithms of both ends over the K between them."""
        found = look_ahead(recursion, drawn, ratings, SimpleNamespace(k=30.0, low=low, high=high), 30.0, None)
        return np.log([found.k / found.low, found.high / found.k])

    certain = ends(30.0, 30.0)
    assert (certain > 0.05).all()
    assert ends(20.0, 50.0) == pytest.approx(np.hypot(certain, np.log([30.0 / 20.0, 50.0 / 30.0])))
    # Where no K of the past is too small, nothing tells by how much.
    assert ends(0.0, 50.0)[0] == pytest.approx(certain[0])


@pytest.mark.long
def test_after_a_start_up_the_interval_holds_the_k_that_proves_best():
    """95 % of 20: 17 or more hold with probability .984; an interval by draws of the parameters alone held 60 %."""
    held, widths = 0, []
    for seed in range(20):
        matches = league(1800, 40, seed=100 + seed, walk=2.0 * (seed % 4), keep=1.0)
        past, future = matches[:900], matches[900:]
        recursion, ratings = recursion_of(past)
        drawn = estimate_league(Calendar.of(past)).draw(Calendar.of(past), 40)
        best = recursion.best()
        advice = SimpleNamespace(k=best, low=best, high=best)
        outlook = look_ahead(recursion, drawn, ratings, advice, best, 20.0)
        ks = np.geomspace(0.5, 150.0, 30)
        losses = losses_played_on(past, future[: outlook.matches], 20.0, ks)
        held += outlook.low <= ks[np.argmin(losses)] <= outlook.high
        widths.append(np.log(outlook.high / outlook.low))
    assert held >= 17 and np.mean(widths) < np.log(20.0)


def test_a_league_that_moves_wants_the_same_k_from_now_on():
    past = league(3000, 25, seed=8, walk=20.0, keep=0.995)
    found = kn.audit(past, kn.TeamElo.classic(k=34))
    outlook = found.outlook
    assert not outlook.differs and found.moves and "Matches to come" not in dict(found.rows())
    assert outlook.k == found.advice.k and outlook.low < outlook.k < outlook.high
    assert (outlook.low, outlook.high) != (found.advice.low, found.advice.high)
    assert "matches to come:" not in found.verdict


def test_theory_plays_days_without_an_order_as_the_backtest_does(request):
    ordered, blind = (league(1500, 8, seed=5, walk=40.0, a_day=60, timed=timed) for timed in (True, False))
    assert ordered.unordered is None and blind.unordered is not None and blind.unordered.all()
    known, unknown = (kn.audit(one, kn.TeamElo.classic(k=100)) for one in (ordered, blind))
    for found in (known, unknown):
        # Ratings are the rater's own: their slope is what theory expects of them, within its error.
        assert abs(found.slope[0] - found.now.slope) < 3 * found.slope[1]
        assert found.advice.agree and abs(np.log(found.curve.best.k / found.measured.best)) < 0.5
    request.getfixturevalue("few_replays")  # of this one only the best K is asked
    in_order = kn.audit(replace(blind, unordered=None), kn.TeamElo.classic(k=100))
    assert unknown.curve.best.k < in_order.curve.best.k


@pytest.mark.usefixtures("few_replays")
def test_of_very_many_matches_the_latest_are_audited_with_ratings_carried_on(monkeypatch):
    matches = league(3000, 30, seed=2)
    latest, earlier = latest_part(matches, 1000)
    assert earlier is not None and len(latest) + len(earlier) == 3000
    assert 990 <= len(latest) <= 1000 and latest.date[0] > earlier.date[-1]
    assert latest_part(matches, 3000) == (matches, None)
    carried = carried_on(kn.TeamElo.classic(k=24), earlier)
    before = carried.one_step_ahead(latest).ratings_before
    whole = kn.TeamElo.classic(k=24).one_step_ahead(matches).ratings_before
    assert np.allclose(before, whole[len(earlier) :], rtol=0, atol=1e-6)
    monkeypatch.setattr("kinelo.advice.audit.audit.latest_part", lambda matches: (latest, earlier))
    said = []
    found = kn.audit(matches, kn.TeamElo.classic(k=24), progress=said.append)
    assert found.notes[0].startswith(
        f"Of 3,000 matches the latest {len(latest):,}, since {latest.date[0]}, are audited"
    )
    assert (
        len(found.matches) == len(latest)
        and said[0] == f"Auditing {len(latest):,} matches takes about 2 s of processor time"
    )
    assert "every side began" not in found.verdict


@pytest.mark.parametrize(("past", "future", "known", "differs", "finding"), [
    (20.0, 16.1, 9.0, False, False), (20.0, 15.9, 9.0, True, True), (20.0, 24.9, 9.0, False, False),
    (20.0, 25.1, 9.0, True, False), (20.0, 15.9, 15.9, True, True), (20.0, 15.9, 16.1, True, False),
])  # fmt: skip
def test_two_k_differ_by_a_quarter(past, future, known, differs, finding):
    outlook = Outlook(future, 0.5 * future, 2.0 * future, 100, None, past, future, known)
    assert (outlook.differs, outlook.finding_strengths) == (differs, finding)


def test_a_rule_of_first_steps_is_said_as_it_is_taken():
    steps = FirstSteps(18.5, 74.0, 7.0, None)
    assert (steps.rule.gamma, steps.rule.boost, steps.rule.matches) == (9.25, 3.0, 7.0)
    assert steps.words == (
        "K = 74 falling to 18.5, halfway after 7 matches: --k 18.5 --k-first 74 --k-halfway 7, or "
        "k=FallingSteps(9.25, boost=3, matches=7)"
    )
    assert "halfway after 1 match: " in FirstSteps(18.5, 74.0, 1.0, None).words
    for k, slope, memory in ((30.0, 0.0013, -1 / math.log(1 - 15 * 0.0013)), (4000.0, 0.0013, -1 / math.log(0.001))):
        assert Recursion.memory(SimpleNamespace(slope=slope), k) == pytest.approx(memory)
