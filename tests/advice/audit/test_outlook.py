"""What to use from now on, held against leagues that were played on; and days whose order is not known."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kinelo as kn
from kinelo.advice.audit.in_use import carried_on
from kinelo.advice.audit.inputs import latest_part


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
    assert [one.gain.mean > 0.002 for one in outlook.remedies] == [True, True]
    assert not found.moves and "show no movement" in str(found)


def test_a_league_that_moves_wants_the_same_k_from_now_on():
    past = league(3000, 25, seed=8, walk=20.0, keep=0.995)
    found = kn.audit(past, kn.TeamElo.classic(k=34))
    outlook = found.outlook
    assert not outlook.differs and outlook.remedies == () and found.moves
    assert (outlook.k, outlook.low, outlook.high) == (found.advice.k, found.advice.low, found.advice.high)
    assert "matches to come:" not in found.verdict


def test_theory_plays_days_without_an_order_as_the_backtest_does():
    ordered, blind = (league(1500, 8, seed=5, walk=40.0, a_day=60, timed=timed) for timed in (True, False))
    assert ordered.unordered is None and blind.unordered is not None and blind.unordered.all()
    known, unknown = (kn.audit(one, kn.TeamElo.classic(k=100)) for one in (ordered, blind))
    for found in (known, unknown):
        # Ratings are the rater's own: their slope is what theory expects of them, within its error.
        assert abs(found.slope[0] - found.now.slope) < 3 * found.slope[1]
        assert found.advice.agree and abs(np.log(found.curve.best.k / found.measured.best)) < 0.5
    in_order = kn.audit(replace(blind, unordered=None), kn.TeamElo.classic(k=100))
    assert unknown.curve.best.k < in_order.curve.best.k
    assert unknown.k_in_order == pytest.approx(in_order.curve.best.k, rel=0.02)
    assert known.k_in_order is None
    said = [note for note in unknown.notes if "order" in note]
    assert len(said) == 1 and f"{unknown.k_in_order:.3g}" in said[0] and not [x for x in known.notes if "order" in x]


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
