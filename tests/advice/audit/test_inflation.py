"""Inflation against leagues whose truth is known: what stayers gained in rating, and what they gained in strength."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice.audit.inflation import inflation_of, rating_inflation
from kinelo.advice.audit.kernels import Calendar
from kinelo.advice.audit.words import inflation_words

MATCHES, SIDES, YEARS, SPREAD = 6000, 80, 4.0, 150.0


@cache
def league(level, seed, walk=0.0, leaving=np.argmin, among=1):
    """Players of whom now and then one leaves, by chance or the weakest of some; who enters is weaker or stronger by
    ``level`` on average.

    The matches, and the true strengths of both sides in each.
    """
    g = np.random.default_rng(seed)
    strength, names, count, rows, truth = g.normal(0, SPREAD, SIDES), list(range(SIDES)), SIDES, [], []
    for n in range(MATCHES):
        i = g.integers(SIDES)
        j = (i + g.integers(1, SIDES)) % SIDES
        won = g.random() < 1 / (1 + 10 ** ((strength[j] - strength[i]) / 400))
        day = np.datetime64("2012-01-01") + int(n / MATCHES * YEARS * 365.25)
        rows.append((str(day), n, f"p{names[i]}", f"p{names[j]}", float(won), 1))
        truth.append((strength[i], strength[j]))
        strength[[i, j]] += walk * g.normal(size=2)
        if level is not None and g.random() < 0.012:
            some = g.integers(SIDES, size=among)
            left = some[leaving(strength[some])]
            strength[left], names[left], count = g.normal(level, SPREAD), count, count + 1
    columns = dict(zip(("date", "round", "home", "away", "result", "neutral"), map(list, zip(*rows))))
    return kn.read_matches(columns), np.array(truth)


def founders_gain(matches, truth, before):
    """Points a year by which ratings of founders who stayed rose above their strengths, from first to last match."""
    above = (before - truth).ravel()
    side, match = np.column_stack([matches.home, matches.away]).ravel(), np.repeat(np.arange(MATCHES), 2)
    gains = []
    for one in np.unique(side):
        own = np.flatnonzero(side == one)
        if match[own[0]] < MATCHES / 10 and match[own[-1]] > 0.9 * MATCHES:
            gains.append(above[own[-1]] - above[own[0]])
    return np.mean(gains) / YEARS, np.std(gains) / np.sqrt(len(gains)) / YEARS


def error_of_slopes(matches, truth, before):
    """Standard error of the slope over time of rating less true strength, from how far the slopes of sides scatter."""
    above, year = (before - truth).ravel(), np.repeat(matches.day / 365.25, 2)
    side = np.column_stack([matches.home, matches.away]).ravel()
    weights, scores = [], []
    for one in np.unique(side):
        own = np.flatnonzero(side == one)[20:]
        if own.size > 20:
            t = year[own] - year[own].mean()
            weights.append(t @ t)
            scores.append(t @ above[own])
    weights, scores = np.array(weights), np.array(scores)
    slope = scores.sum() / weights.sum()
    return np.sqrt(((scores - slope * weights) ** 2).sum()) / weights.sum()


@pytest.mark.parametrize(("level", "way"), [(-250.0, 1), (250.0, -1), (0.0, 0), (None, 0)])
def test_inflation_is_what_those_who_stayed_gained_without_growing_stronger(level, way):
    matches, truth = league(level, seed=4)
    rater = kn.TeamElo.classic(k=24).fit(matches)
    found = rating_inflation(rater, matches)
    before = kn.TeamElo.classic(k=24).one_step_ahead(matches).ratings_before
    gain, error = founders_gain(matches, truth, before)
    # Founders count from their first match here, settled sides there: both scatter, by these errors.
    assert abs(found.per_year.mean - gain) < 3 * np.hypot(error, found.per_year.error)
    # Some eighty sides tell a standard error to a twelfth; parts of a span, and strengths in hindsight, add as much.
    assert found.per_year.error == pytest.approx(error_of_slopes(matches, truth, before), rel=0.3)
    assert (found.per_year.low > 0) - (found.per_year.high < 0) == way
    worth = {1: "worth less than it was", -1: "worth more than it was", 0: "worth what it was, within chance"}[way]
    assert worth in inflation_words(found)[0]
    assert (found.entries > 5) - (found.entries < -5) == way


@pytest.mark.parametrize(("level", "leaving"), [(-120.0, np.argmin), (0.0, np.argmax)])
def test_who_leaves_does_not_move_the_frame_that_strengths_are_told_in(level, leaving):
    matches, truth = league(level, seed=6, leaving=leaving, among=3)
    found = rating_inflation(kn.TeamElo.classic(k=24).fit(matches), matches)
    before = kn.TeamElo.classic(k=24).one_step_ahead(matches).ratings_before
    # The same slope with the strengths as they are: what is left is how strengths were found, and newcomers' trend.
    known = SimpleNamespace(
        of_matches=lambda: (truth, np.full((*truth.shape, 1), 1e-3)), trend=None, walk_per_match=0.0, walk_per_year=0.0
    )
    memory = 1 / (np.log(10) / 800 * 12)
    true = inflation_of(Calendar.of(matches), known, before - 1500, memory, 1500.0).per_year.mean
    assert abs(found.per_year.mean - true) < found.per_year.error


@pytest.mark.parametrize("level", [-250.0, 250.0, 0.0])
def test_newcomers_should_start_at_their_mean_strength_on_the_scale_of_today(level):
    matches, truth = league(level, seed=9, walk=4.0)
    found = rating_inflation(kn.TeamElo.classic(k=24).fit(matches), matches)
    before = kn.TeamElo.classic(k=24).one_step_ahead(matches).ratings_before
    side, first = np.unique(np.column_stack([matches.home, matches.away]).ravel(), return_index=True)
    entered = first[first // 2 > MATCHES / 10]
    # Today's scale: how far ratings of those who have played long lie above strengths.
    settled = [s for s in side if first[s] // 2 < MATCHES / 2]
    late = (
        np.isin(np.column_stack([matches.home, matches.away]), settled)
        & (np.arange(MATCHES) > 7 / 8 * MATCHES)[:, None]
    )
    right = float((before - truth)[late].mean() + truth.ravel()[entered].mean())
    assert abs(found.start.mean - right) < 2.5 * found.start.error
    # A sample of n tells its own spread to 1/√2n, here a tenth; that newcomers' trend and today's scale are found from
    # the same matches adds up to half of it.
    assert 0.9 < found.start.error / (SPREAD / np.sqrt(entered.size)) < 1.6
    assert (found.start.low > 1500) - (found.start.high < 1500) == np.sign(level)


def test_raters_without_ratings_before_and_short_spans_say_nothing():
    matches, _ = league(0.0, seed=4)
    assert rating_inflation(kn.BradleyTerry().fit(matches[:400]), matches[:400]) is None
    assert rating_inflation(kn.TeamElo.classic().fit(matches[:400]), matches[:400]) is None
    assert rating_inflation(kn.TeamElo.classic().fit(matches[:50]), matches[:50]) is None


def mean_of_active(matches, strength):
    """Mean before each match of what sides had when they last played, of those who have played within two years."""
    latest, found = {}, []
    for g in range(len(matches)):
        active = [x for x, day in latest.values() if day >= matches.day[g] - 730]
        found.append(np.mean(active) if active else 0.0)
        for side, code in enumerate((matches.home[g], matches.away[g])):
            latest[code] = strength[g, side], matches.day[g]
    return np.array(found)


@pytest.mark.parametrize(("level", "way"), [(-250.0, 1), (250.0, -1)])
def test_ratings_that_count_from_the_mean_of_those_who_play_rise_where_it_falls(level, way):
    matches, truth = league(level, seed=4)
    found = rating_inflation(kn.KalmanElo(covariance="diagonal", walk=0.05).fit(matches), matches)
    mean = mean_of_active(matches, truth)
    late, early = mean[-MATCHES // 8 :].mean(), mean[MATCHES // 16 : MATCHES // 8].mean()
    # What the true mean of those who are active fell by, in points a year from the middle of one part to the other.
    fell = (early - late) / (YEARS * (15 / 16 - 3 / 32))
    assert abs(found.per_year.mean - fell) < 3 * found.per_year.error
    assert (found.per_year.low > 0) - (found.per_year.high < 0) == way
    # Where newcomers start is estimated, and no points are passed on.
    assert found.start is None and found.entries == found.exits == 0
    said = inflation_words(found)
    assert len(said) == 1 and ("worth less" if way > 0 else "worth more") in said[0]


@pytest.mark.parametrize("level", [-250.0, 250.0])
def test_ratings_of_players_count_from_where_they_began(level):
    matches, truth = league(level, seed=4)
    rows = {"date": matches.date.astype(str), "round": np.arange(MATCHES), "result": matches.result}
    for side, codes in (("home", matches.home), ("away", matches.away)):
        rows[side] = [matches.teams[code] for code in codes]
        rows[f"{side}_lineup"] = [[name] for name in rows[side]]
    matches = kn.read_matches(rows | {"neutral": [True] * MATCHES})
    alone = {"squad_spread": 0.0, "squad_walk": 0.0, "team_prior": 0.0, "newcomer_correlation": 0.0}
    still = {"walk": 0.02, "regression": 0.0, "venue_walk": 0.01, "doubt": 1.0, "covariance": "diagonal"}
    rater = kn.PlayerElo(**alone, **still).fit(matches)
    found = rating_inflation(rater, matches)
    before = kn.PlayerElo(**rater.get_params() | rater.parameters_).one_step_ahead(matches).ratings_before
    gain, error = founders_gain(matches, truth, before)
    assert abs(found.per_year.mean - gain) < 3 * np.hypot(error, found.per_year.error)
    # They do not count from the mean of those who play, which moves by far more.
    mean = mean_of_active(matches, truth)
    moved = (mean[-MATCHES // 8 :].mean() - mean[MATCHES // 16 : MATCHES // 8].mean()) / YEARS
    assert abs(found.per_year.mean) < 0.25 * abs(moved)
    assert found.start is None and found.entries == found.exits == 0


def test_an_audit_says_the_same_as_its_rater():
    matches = league(-250.0, seed=4)[0][: MATCHES // 2]
    found = kn.audit(matches, kn.TeamElo.classic(k=24))
    alone = rating_inflation(kn.TeamElo.classic(k=24).fit(matches), matches)
    assert found.inflation.per_year.mean == pytest.approx(alone.per_year.mean, abs=3.0)
    assert found.to_dict()["inflation"]["start"]["low"] == pytest.approx(found.inflation.start.low)
    assert "a rating is worth less than it was" in str(found)


def test_a_closed_league_in_which_the_strong_play_more_does_not_inflate():
    g = np.random.default_rng(12)
    sides, strength, rows = 20, np.random.default_rng(3).normal(0, 120, 20), []
    truth = []
    for n in range(5000):
        # Half of the matches are among the better half of the sides of that day, as play-offs are.
        among = np.argsort(-strength)[: sides // 2] if n % 2 else np.arange(sides)
        i, j = g.choice(among, 2, replace=False)
        won = g.random() < 1 / (1 + 10 ** ((strength[j] - strength[i]) / 400))
        day = np.datetime64("2004-01-01") + int(n / 5000 * 10 * 365.25)
        rows.append((str(day), n, f"c{i}", f"c{j}", float(won), 1))
        truth.append((strength[i], strength[j]))
        strength = 0.9995 * strength + 3.8 * g.normal(size=sides)
    columns = dict(zip(("date", "round", "home", "away", "result", "neutral"), map(list, zip(*rows))))
    matches = kn.read_matches(columns)
    found = rating_inflation(kn.TeamElo.classic(k=24).fit(matches), matches)
    before = kn.TeamElo.classic(k=24).one_step_ahead(matches).ratings_before
    assert not found.per_year.beyond_chance
    # Each side walks by 3.8 a match of the league, 500 a year: that all twenty did so together cannot be seen.
    together = 3.8 * np.sqrt(500 / (sides * 10))
    expected = np.hypot(together, error_of_slopes(matches, np.array(truth), before))
    assert found.per_year.error == pytest.approx(expected, rel=0.3)
