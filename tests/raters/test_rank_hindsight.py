"""Hindsight of contests: messages against one large regression, and ratings against the truth of simulated contests."""

import copy

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.raters.filter.belief import fade_all
from kinelo.raters.rank.hindsight import ContestSmoother, one_contest
from kinelo.raters.rank.kernels import filter_contests, room_for_expected

VALUES = {"walk": 0.6, "prior_spread": 0.8, "newcomer": -0.3, "regression": 0.2, "retirement": 0.1, "experience": 0.9}
VALUES |= {"contest_walk": 0.3, "newcomer_follows": 0.6}


def races(seed=4, contests=25):
    table = kn.matches.sample_contests(contests=contests, entrants=9, size=(3, 6), cars=3, levels=5, seed=seed)
    return kn.read_contests(table, slots=["entrant", "car"])


def smoother_of(contests, values=VALUES):
    rater = kn.RankElo(**values)
    state = rater._begun(contests)
    columns, _ = state.columns(contests, admit=True)
    return rater, ContestSmoother(columns, rater._model(), state.known)


def test_the_first_sweep_is_the_filter():
    contests = races()
    rater, smoother = smoother_of(contests)
    smoother.sweep_forwards()
    precision, pull = smoother.past + smoother.said
    last = {int(slot): k for k, slot in enumerate(smoother.appearances.slot)}
    filtered = kn.RankElo(**VALUES).update(contests)._state
    assert filtered.names == rater._state.names
    for slot, k in last.items():
        assert pull[k] / precision[k] == pytest.approx(filtered.known.x[slot, 0], abs=1e-9)
        assert 1.0 / precision[k] == pytest.approx(filtered.known.v[slot, 0], rel=1e-9)


def by_regression(rater, smoother, slot):
    """Covariance and mean of the strengths of a slot at its contests: given what each says, one Gaussian vector."""
    at = smoother.appearances
    own = np.flatnonzero(at.slot == slot)
    kind = rater._kinds[int(smoother.known.kind[slot])]
    rho, walk = (rater._entries.value(rater.parameters_, name, kind) for name in ("regression", "walk"))
    f, q = fade_all(np.diff(at.day[own]), rho, walk**2)
    begin, prior = smoother.past[1, own[0]] / smoother.past[0, own[0]], 1.0 / smoother.past[0, own[0]]
    means, covariance = np.empty(own.size), np.empty((own.size, own.size))
    means[0], covariance[0, 0] = begin, prior
    for k in range(1, own.size):
        means[k] = f[k - 1] * means[k - 1] + 0.9 * (np.exp(-(k - 1) / 10.0) - np.exp(-k / 10.0))
        covariance[k, :k] = covariance[:k, k] = f[k - 1] * covariance[k - 1, :k]
        covariance[k, k] = f[k - 1] ** 2 * covariance[k - 1, k - 1] + q[k - 1] + 0.09
    precision = np.linalg.inv(covariance)
    together = np.linalg.inv(precision + np.diag(smoother.said[0, own]))
    return together, together @ (precision @ means + smoother.said[1, own])


def test_a_slot_is_believed_as_one_regression_over_all_its_contests_says():
    rater, smoother = smoother_of(races())
    mean, variance = smoother.settle()
    at, days = smoother.appearances, smoother.columns.day
    for slot in np.unique(at.slot):
        own = np.flatnonzero(at.slot == slot)
        together, expected = by_regression(rater, smoother, slot)
        assert mean[own] == pytest.approx(expected, abs=1e-8)
        assert variance[own] == pytest.approx(np.diag(together), rel=1e-8)
    assert set(at.day) == set(days)


def test_sweeps_settle_where_a_further_one_changes_nothing():
    _, smoother = smoother_of(races())
    mean, _ = smoother.settle()
    smoother.sweep_forwards()
    smoother.sweep_backwards()
    precision, pull = smoother.past + smoother.said + smoother.later
    moved = smoother._among_others(pull / precision - mean)
    assert 0.0 < np.abs(moved).max() < 3e-3


def test_contests_are_read_with_what_those_after_them_say():
    """Once settled, a contest read from what all others say of its entrants leaves them where hindsight has them."""
    _, smoother = smoother_of(races())
    mean, _ = smoother.settle()
    for c in range(3):  # of the first ones the future knows most
        own = slice(smoother.appearances.begin[c], smoother.appearances.begin[c + 1])
        slot, part, cavity = (
            smoother.appearances.slot[own],
            one_contest(smoother.columns, c),
            smoother.past + smoother.later,
        )
        known = copy.deepcopy(smoother.known)
        known.x[slot, 0], known.v[slot, 0] = cavity[1, own] / cavity[0, own], 1.0 / cavity[0, own]
        known.last[slot], known.games[slot] = part.day[0], 1
        before = known.x[slot, 0].copy()
        filter_contests(part, smoother.model, known, room_for_expected(part.place.size))
        assert known.x[slot, 0] == pytest.approx(mean[own], abs=4e-3)
        assert np.abs(before - mean[own]).max() > 0.05


def walking(seed, contests=150, entrants=24, size=8, walk=1.0):
    """Contests of strengths that walk, with the truth of each entrant on the day of each contest."""
    rng = np.random.default_rng(seed)
    strength, rows, truth = rng.normal(0, 0.8, entrants), [], np.empty((contests, entrants))
    for c in range(contests):
        strength = strength + rng.normal(0, walk * np.sqrt(14 / 365.25), entrants)
        truth[c] = strength
        field = rng.permutation(entrants)[:size]
        shown = strength[field] + rng.normal(0, 1, size)
        day = str(np.datetime64("2010-01-01") + 14 * c)
        rows += [(day, f"r{c:03d}", f"P{field[k]:02d}", place + 1) for place, k in enumerate(np.argsort(-shown))]
    table = pl.DataFrame(rows, schema=["date", "race", "driver", "place"], orient="row")
    return kn.read_contests(table), truth


def errors(history, contests, truth):
    """Differences of ratings from the truth, of those who took part, and what is believed of their size, in points."""
    unit = 800 / (np.sqrt(np.pi) * np.log(10))
    index = {np.datetime64(day): c for c, day in enumerate(contests.date.astype("datetime64[D]"))}
    off, said = [], []
    for (day,), part in history.group_by("date", maintain_order=True):
        c = index[np.datetime64(day)]
        codes = [int(name[1:]) for name in part["name"]]
        mine, true = (part["rating"].to_numpy() - 1500) / unit, truth[c, codes]
        off.append((mine - mine.mean()) - (true - true.mean()))
        said.append(part["uncertainty"].to_numpy() / unit)
    return np.concatenate(off), np.concatenate(said)


def test_hindsight_is_nearer_to_the_truth_and_knows_how_near():
    ratio, squared = [], []
    for seed in range(2):
        contests, truth = walking(seed)
        rater = kn.RankElo(walk=1.0, prior_spread=0.8, newcomer=0.0, regression=0.0, retirement=0.0)
        then = kn.rating_history(rater, contests, points=30)
        now = kn.rating_history(rater, contests, points=30, hindsight=True)
        assert now.select("date", "name").rows() != [] and set(now.columns) == set(then.columns)
        seen, _ = errors(then, contests, truth)
        known, doubt = errors(now, contests, truth)
        ratio.append(np.sqrt(np.mean(known**2) / np.mean(seen**2)))
        squared.append(np.mean((known / doubt) ** 2))
    assert 0.65 < np.mean(ratio) < 0.8
    assert 0.9 < np.mean(squared) < 1.1  # single leagues of this kind differ by 0.05


def test_hindsight_leaves_the_rater_alone_and_takes_matches():
    contests = races()
    rater = kn.RankElo(**VALUES).update(contests)
    before = copy.deepcopy(rater).ratings_
    tables = rater._hindsight(contests, [5, len(contests)])
    assert rater.ratings_.equals(before) and [t["matches"].sum() for t in tables] == [
        int(kn.RankElo(**VALUES).update(contests[:n]).ratings_["matches"].sum()) for n in (5, len(contests))
    ]
    matches = kn.read_matches(kn.sample_league(teams=6, seasons=2, seed=1).results)
    history = kn.rating_history(kn.RankElo().fit(matches), matches, points=5, hindsight=True)
    assert history["kind"].unique().to_list() == ["side"] and history["date"].n_unique() == 5
    assert "venue" not in history["kind"]


def test_a_history_of_one_name_holds_the_days_on_which_it_took_part():
    contests = races()
    rater = kn.RankElo(**VALUES).update(contests)
    for name, kind in (("P1", "entrant"), ("C1", "car")):
        codes, names = contests.slots[kind].codes, contests.slots[kind].names
        days = contests.date[np.unique(contests.contest[(codes == names.index(name)).any(axis=1)])]
        for hindsight in (False, True):
            own = kn.rating_history(rater, contests, side=name, hindsight=hindsight)
            assert own["date"].to_list() == days.tolist() and set(own["name"]) == {name}
    with pytest.raises(kn.InputError, match="played none"):
        kn.rating_history(rater, contests, side="nobody")
