"""Parameters of very many entries are estimated on a part of them, which follows the same law."""

import itertools
import warnings

import numpy as np
import pytest

import kinelo as kn
from kinelo.errors import KineloWarning
from kinelo.forecasts.contest_scores import order_log_loss
from kinelo.raters.rank import estimation


def contests_of(**how):
    return kn.read_contests(kn.matches.sample_contests(**how))


def entries_of(contests):
    """Contest by contest, who came before whom: pairs of names with the gap of their places' signs."""
    found = {}
    for c, name in enumerate(contests.identifiers):
        own = range(contests.first[c], contests.first[c + 1])
        ranked = [(contests.entrants[contests.entrant[e]], contests.place[e], contests.ended[e]) for e in own]
        found[name] = {(a, b): (np.sign(q - p), s, t) for (a, p, s), (b, q, t) in itertools.combinations(ranked, 2)}
    return found


def test_some_entrants_keep_all_their_contests_and_their_order():
    contests = contests_of(contests=30, entrants=60, size=12, levels=5, seed=3)
    part, whole = estimation.with_some_entrants(contests, 0.3), entries_of(contests)
    kept = {part.entrants[code] for code in part.entrant}
    assert 8 < len(kept) < 30
    inner = entries_of(part)
    for name, pairs in whole.items():
        own = {pair: order for pair, order in pairs.items() if set(pair) <= kept}
        assert inner.get(name, {}) == own
    for lo, hi in itertools.pairwise(part.first):
        place = part.place[lo:hi]
        assert place.sum() == pytest.approx((hi - lo) * (hi - lo + 1) / 2) and (np.diff(place) >= 0).all()
    kn.matches.contests.check_contests(part)
    again = estimation.with_some_entrants(part, 0.5)
    twice = {again.entrants[code] for code in again.entrant}
    assert twice < kept and 2 < len(twice) < 0.8 * len(kept)


def test_who_is_chosen_does_not_depend_on_the_order_of_rows():
    table = kn.matches.sample_contests(contests=20, entrants=40, size=9, seed=5)
    shuffled = table.sample(fraction=1.0, shuffle=True, seed=1)
    one, other = (estimation.with_some_entrants(kn.read_contests(rows), 0.4) for rows in (table, shuffled))
    assert entries_of(one) == entries_of(other)


def test_fields_are_thinned_before_contests_and_the_latest_contests_remain(monkeypatch):
    monkeypatch.setattr(estimation, "LEAST_FIELD", 5)
    contests = contests_of(contests=40, entrants=200, size=50, seed=2)
    assert estimation.thinned(contests, 2000) is contests
    part = estimation.thinned(contests, 1999)
    assert len(part) >= 39 and 1500 < part.entrant.size <= 1999
    few = estimation.thinned(contests, 100)
    assert few.entrant.size <= 100 and few.identifiers == contests.identifiers[-len(few) :]
    assert 3 < estimation.typical_field(few) < 8  # fields keep a few, and then contests go
    teams = kn.read_contests(
        kn.matches.sample_contests(contests=40, entrants=60, size=5, team=3, seed=2),
        slots={"player": ["player_1", "player_2", "player_3"]},
    )
    some = estimation.thinned(teams, 50)
    assert some.sizes.tolist() == [5] * 10 and some.identifiers == teams.identifiers[-10:]


def test_estimates_on_a_part_move_forecasts_by_little():
    contests = contests_of(contests=90, entrants=200, size=60, walk=1.5, newcomers=0.4, seed=4)
    earlier, later = contests[:60], contests[60:]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = kn.RankElo(off=0.0, look=earlier.entrant.size).fit(earlier)
    with pytest.warns(KineloWarning, match=r"estimated on (1,)?\d{3} of 3,600 entries"):
        part = kn.RankElo(off=0.0, look=1200).fit(earlier)
    assert whole.parameters_ != part.parameters_
    loss = [order_log_loss(rater.one_step_ahead(later)).mean() for rater in (whole, part)]
    assert loss[1] == pytest.approx(loss[0], abs=1e-3)


def test_large_fields_are_searched_from_where_some_entrants_lead(monkeypatch):
    """The last search reads all entries and ends where one that began with all of them does."""
    contests = contests_of(contests=40, entrants=300, size=150, walk=1.5, newcomers=0.4, seed=4)
    found, read = [], []
    search = estimation.likeliest

    def told(rater, own, *how, **more):
        read.append(own.entrant.size)
        return search(rater, own, *how, **more)

    monkeypatch.setattr(estimation, "likeliest", told)
    for few in (6000, 1500):
        monkeypatch.setattr(estimation, "FEW_ENTRIES", few)
        found.append(kn.RankElo(off=0.0, regression=0.0).fit(contests))
    assert read[:2] == [6000, 6000] and read[-1] == 6000 and 500 < min(read) <= 1500
    for name, error in found[0].estimates_.standard_errors.items():
        if np.isfinite(error):
            assert abs(found[1].parameters_[name] - found[0].parameters_[name]) < 0.5 * error, name


def test_teams_that_cannot_be_thinned_are_searched_at_once(monkeypatch):
    """A last contest with more teams than a search begins with is read whole."""
    rng = np.random.default_rng(2)
    order = np.concatenate([rng.permutation(12) for _ in range(4)])
    table = {"race": np.repeat(np.arange(4), 24), "team": [f"T{k}" for k in np.repeat(order, 2)]}
    table |= {
        "driver": [f"D{2 * k + j}" for k in order for j in range(2)],
        "place": np.tile(np.repeat(np.arange(1, 13), 2), 4),
    }
    contests = kn.read_contests(table, team="team")
    assert contests.sizes.tolist() == [12] * 4
    monkeypatch.setattr(estimation, "LARGE", 8)
    monkeypatch.setattr(estimation, "FEW_ENTRIES", 10)
    given = {
        "prior_spread": 1.0,
        "newcomer": 0.0,
        "regression": 0.0,
        "experience": 0.0,
        "contest_walk": 0.0,
        "off": 0.0,
    }
    found = kn.RankElo(**given, anchor=0.0, newcomer_follows=1.0).fit(contests)
    assert set(found.estimates_.values) == {"walk"}


def test_a_fit_that_takes_long_tells_how_far_it_is(monkeypatch):
    monkeypatch.setattr("kinelo.raters.rank.estimation.MANY_ENTRIES", 100)
    told = []
    rater = kn.RankElo(walk=0.3, newcomer=0.0, regression=0.0, off=0.0)
    rater.progress = told.append
    rater.fit(contests_of(contests=30, entrants=20, size=6, seed=1))
    parts = [int(words.removeprefix("Estimating parameters: ").removesuffix(" %")) for words in told]
    assert parts == sorted(parts) and len(parts) > 3 and parts[-1] <= 98
    told.clear()
    rater.fit(contests_of(contests=10, entrants=20, size=6, seed=1))
    assert told == []
