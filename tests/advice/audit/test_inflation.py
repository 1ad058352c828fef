"""Inflation against leagues whose truth is known: what those who play gained in rating, and in strength."""

from functools import cache

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice.audit.inflation import rating_inflation
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


def true_inflation(matches, truth, before):
    """Points a year by which rating less true strength rose, on average over those who play in an eighth of the span.

    Sides count once in each, those with few matches less: strengths of others are hardly known.
    """
    years, total, when, weight = np.array(matches.day - matches.day[0]) / 365.25, {}, {}, {}
    for n in range(len(matches)):
        for side, code in enumerate((matches.home[n], matches.away[n])):
            cell = code, min(int(8 * years[n] / years[-1]), 7)
            total.setdefault(cell, []).append(before[n, side] - truth[n, side])
            when.setdefault(cell, []).append(years[n])
            weight[code] = weight.get(code, 0) + 1
    # A side of n matches is known to about 400²/n points², next to a spread of SPREAD² between sides.
    known = [1 / (SPREAD**2 + 400**2 / weight[code]) for code, _ in total]
    return np.polyfit(
        [np.mean(some) for some in when.values()], [np.mean(some) for some in total.values()], 1, w=np.sqrt(known)
    )[0]


@cache
def found_and_true(level, leaving=np.argmin, among=1, seed=4):
    matches, truth = league(level, seed, leaving=leaving, among=among)
    found = rating_inflation(kn.TeamElo.classic(k=24).fit(matches), matches)
    before = kn.TeamElo.classic(k=24).one_step_ahead(matches).ratings_before
    return found, true_inflation(matches, truth, before)


LEAVING = [(-120.0, np.argmin, 3, 6), (0.0, np.argmax, 3, 6), (120.0, np.argmin, 3, 7)]


@pytest.mark.parametrize(("level", "way"), [(-250.0, 1), (250.0, -1), (0.0, 0), (None, 0)])
def test_inflation_is_what_those_who_play_gained_without_growing_stronger(level, way):
    found, true = found_and_true(level)
    assert abs(found.per_year.mean - true) < 3 * found.per_year.error
    assert (found.per_year.low > 0) - (found.per_year.high < 0) == way
    worth = {1: "worth less than it was", -1: "worth more than it was", 0: "No clear inflation"}[way]
    assert any(worth in one for one in inflation_words(found))


@pytest.mark.long
def test_whoever_leaves_intervals_of_inflation_are_as_wide_as_it_is_uncertain():
    cases = [found_and_true(level) for level in (-250.0, 250.0, 0.0)] + [found_and_true(*one) for one in LEAVING]
    surprises = [(found.per_year.mean - true) / found.per_year.error for found, true in cases]
    # χ² of six: below .38 or above 22.5 once in a thousand times each.
    assert 0.38 < np.sum(np.square(surprises)) < 22.5
    # Of the same sides alone, where the weakest leave, ratings rise by twice as much: those stay who still find theirs.
    weakest, strongest, strong_enter = (found.per_year.mean for found, _ in cases[3:])
    assert strong_enter < -10 and abs(weakest - cases[3][1]) < 6 and abs(strongest - cases[4][1]) < 6


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


@pytest.mark.parametrize(("level", "way"), [(-250.0, 1), pytest.param(250.0, -1, marks=pytest.mark.long)])
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
    assert found.start is None
    said = inflation_words(found)
    assert len(said) == 1 and ("worth less" if way > 0 else "worth more") in said[0]


@pytest.mark.parametrize("level", [pytest.param(-250.0, marks=pytest.mark.long), 250.0])
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
    assert abs(found.per_year.mean - true_inflation(matches, truth, before)) < 3 * found.per_year.error
    # They do not count from the mean of those who play, which moves by far more.
    mean = mean_of_active(matches, truth)
    moved = (mean[-MATCHES // 8 :].mean() - mean[MATCHES // 16 : MATCHES // 8].mean()) / YEARS
    assert abs(found.per_year.mean) < 0.25 * abs(moved)
    assert found.start is None


@pytest.mark.usefixtures("few_replays")
def test_an_audit_says_the_same_as_its_rater():
    matches = league(-250.0, seed=4)[0][: MATCHES // 2]
    found = kn.audit(matches, kn.TeamElo.classic(k=24))
    alone = rating_inflation(kn.TeamElo.classic(k=24).fit(matches), matches)
    assert found.inflation.per_year.mean == pytest.approx(alone.per_year.mean, abs=3.0)
    assert found.to_dict()["inflation"]["start"]["low"] == pytest.approx(found.inflation.start.low)
    assert "A rating is worth less than it was" in str(found)


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
    # Each side walks by 3.8 a match of the league, 500 a year: that all twenty did so together cannot be seen. Slopes
    # of walks of ten years vary by six fifths of what their ends do.
    together = 3.8 * np.sqrt(1.2 * 500 / (sides * 10))
    assert found.per_year.error == pytest.approx(together, rel=0.4)
    assert abs(found.per_year.mean - true_inflation(matches, np.array(truth), before)) < 2.5 * found.per_year.error
