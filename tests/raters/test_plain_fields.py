"""Contests said by names: the quick way is that of a table, to the last bit, and leaves to it whatever is not plain."""

from __future__ import annotations

import copy
import pickle
import random

import numpy as np
import pytest

import kinelo as kn
from kinelo.raters.rank.rater import RankElo

NAMES = [f"P{k}" for k in range(14)]


def contests(seed: int, count: int = 60):
    """Orders of players and of teams of several sizes, with ties, on days that repeat and rest; newcomers come in."""
    rng, day = random.Random(seed), np.datetime64("2024-01-01")
    for k in range(count):
        day += rng.choice([0, 0, 1, 30, 500 if k == 40 else 2])
        met = rng.sample(NAMES[: 4 + k], rng.randint(2, min(8, 4 + k))) if k < 10 else rng.sample(NAMES, 8)
        sizes = rng.choice([None, [4, 4], [1, 3, 4], [2, 2, 2, 2], [5, 3]]) if len(met) == 8 else None
        order = met if sizes is None else [met[sum(sizes[:j]) : sum(sizes[: j + 1])] for j in range(len(sizes))]
        ranks = rng.choice([None, [rng.randint(1, 3) for _ in order], [rng.random() for _ in order]])
        yield order, ranks, str(day) if rng.random() < 0.8 else None


def through_a_table(monkeypatch) -> None:
    monkeypatch.setattr(RankElo, "_plain", lambda *_, **__: None)


@pytest.mark.parametrize(("seed", "start"), [(1, None), (2, {"P3": 1700, "P5": 1400})])
def test_the_quick_way_is_that_of_a_table(seed, start, monkeypatch):
    quick, told, plain = kn.RankElo(start=start, off=0.1), [], 0
    for order, ranks, date in contests(seed):
        plain += quick._state is not None and quick._plain(order, ranks, date, ahead=False) is not None
        if quick._state is not None:
            asked = [*order, "nobody" if isinstance(order[0], str) else ["nobody", "else"]]
            said = quick.predict_one(asked, date=date)
            told.append((said, kn.match_quality(quick, asked, date=date)))
        quick.update_one(order, ranks=ranks, date=date)
    assert plain > 50
    through_a_table(monkeypatch)
    slow, asked_before = kn.RankElo(start=start, off=0.1), iter(told)
    for order, ranks, date in contests(seed):
        if slow._state is not None:
            asked = [*order, "nobody" if isinstance(order[0], str) else ["nobody", "else"]]
            said, (quickly, quality) = slow.predict_one(asked, date=date), next(asked_before)
            assert np.array_equal(said.mean, quickly.mean) and np.array_equal(said.deviation, quickly.deviation)
            assert (
                said.unknown == quickly.unknown
                and (said.off, said.depth) == (quickly.off, quickly.depth)
                and repr(said) == repr(quickly)
            )
            assert said.contests.to_polars().equals(quickly.contests.to_polars())
            assert said.contests.entrants == quickly.contests.entrants
            assert kn.match_quality(slow, asked, date=date) == quality
        slow.update_one(order, ranks=ranks, date=date)
    ours, theirs = quick.to_arrays(), slow.to_arrays()
    assert ours.keys() == theirs.keys()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


ODD = {
    "one alone": (["A"], None, "2024-01-02"),
    "twice": (["A", "A"], None, "2024-01-02"),
    "twice in a team": ([["A", "A"], ["B"]], None, "2024-01-02"),
    "mixed": (["A", ["B"]], None, "2024-01-02"),
    "blank": (["A", " "], None, "2024-01-02"),
    "no name": (["A", 3], None, "2024-01-02"),
    "an empty team": ([["A"], []], None, "2024-01-02"),
    "ranks too few": (["A", "B"], [1], "2024-01-02"),
    "no ranks": (["A", "B"], [1, float("nan")], "2024-01-02"),
    "too early": (["A", "B"], None, "2023-01-02"),
    "too late": (["A", "B"], None, "2190-01-02"),
    "no day": (["A", "B"], None, "2024-02-31"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_refused_is_refused_by_both(name, monkeypatch):
    order, ranks, date = ODD[name]
    sentences, states = [], []
    for quickly in (True, False):
        rater = kn.RankElo().update_one(["A", "B", "C"], date="2024-01-01").update_one(["C", "A"], date="2024-01-02")
        if not quickly:
            through_a_table(monkeypatch)
        try:
            rater.update_one(order, ranks=ranks, date=date)
            sentences.append("")
        except kn.InputError as error:
            sentences.append(str(error))
        states.append({key: value.tolist() for key, value in rater.to_arrays().items()})
    assert sentences[0] == sentences[1] and states[0] == states[1]
    assert sentences[0] or name == "twice in a team"


def test_the_cost_does_not_grow_with_those_who_are_rated(monkeypatch):
    """Not a second of time is measured: loops are given the slots of the contest, and no others."""
    import kinelo.raters.rank.one_field as module

    seen, real = [], module.run_contests

    def watched(columns, model, s, *more):
        seen.append(len(s.last))
        real(columns, model, s, *more)

    monkeypatch.setattr(module, "run_contests", watched)
    monkeypatch.setattr(module, "compiled_for", lambda kernel, _: kernel.py_func)
    rater = kn.RankElo().update_one([f"P{k}" for k in range(40)], date="2024-01-01")
    forecast = rater.update_one(["P1", "P2", "P3"], date="2024-01-01").predict_one(["P1", "P2"])
    assert seen == [3, 2] and "contests" not in vars(forecast)  # a table that nobody has asked for yet
    assert len(forecast) == 1 and forecast.contests.entrants == ("P1", "P2")


@pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
def test_single_contests_go_on_from_tables_states_and_copies(monkeypatch):
    """What one contest is rated by is made once: it must not outlive the arrays and numbers that it was made of."""

    def story():
        rater = kn.RankElo(off=0.1).update_one(["A", "B", "C"], date="2024-01-01")
        for k in range(20):  # beyond the room that there is at first
            rater.update_one(["A", f"N{k}", "B"], date="2024-01-02")
        table = {
            "race": [1] * 30,
            "entrant": [f"M{k}" for k in range(30)],
            "place": range(1, 31),
            "date": ["2024-01-03"] * 30,
        }
        rater.update(kn.read_contests(table)).update_one([["A", "M7"], ["M8", "B"]], ranks=[2, 1], date="2024-01-04")
        kept = rater.to_arrays()
        said = [rater.predict_one(["M9", "A", "nobody"], date="2024-03-01")]
        rater.update_one(["M9", "A"], date="2024-03-01").from_arrays(kept)
        rater.update_one(["C", "M3", "A"], date="2024-03-02")
        for copied in (copy.deepcopy, copy.copy, lambda one: pickle.loads(pickle.dumps(one))):
            twin = copied(rater).update_one(["B", "A"], date="2024-03-03")
            said += [twin.predict_one(["A", "B", "N4"]), rater.predict_one(["A", "B", "N4"])]
        rater.parameters_["anchor"] = 0.4
        rater.update_one(["N5", "C", "A"], date="2024-03-04")
        said = pickle.loads(pickle.dumps(said))
        return rater.to_arrays(), [
            (*one.mean.tolist(), *one.win.tolist(), one.unknown, one.contests.entrants) for one in said
        ]

    quickly, told = story()
    through_a_table(monkeypatch)
    slowly, expected = story()
    assert told == expected and quickly.keys() == slowly.keys()
    assert all(np.array_equal(quickly[name], slowly[name]) for name in quickly)
