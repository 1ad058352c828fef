"""What a book promises on both databases: ratings of one run, whatever arrives in whatever order, by whomever."""

import itertools
import multiprocessing
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.book import carrying, database, ratings
from patience import PATIENCE
from postgres_server import in_turn

RATERS = {
    "still": lambda: kn.TeamElo.classic(k=24, ties=0.3),
    "learning": lambda: kn.TeamElo(20.0, 2.0, 10.0, 60.0, 0.7, 50.0, 0.0, 1.0, 1.0, 0.5, prior_spread=150.0),
    "glicko": lambda: kn.Glicko2(300.0, 0.06, 40.0, 0.6, period=7.0, together=True),
    "start": lambda: kn.Glicko(300.0, 30.0, 40.0, 0.6, start={"T1": 1700.0, "T9": 1400.0}),
    "levels": lambda: kn.TeamElo(20.0, conditions=["surface"], prior_spread=150.0),
    "whole": lambda: kn.BradleyTerry(ridge=0.1),
    "rank": lambda: kn.RankElo(walk=0.3, prior_spread=0.9, newcomer=-0.2, regression=0.1, retirement=0.2),
    "elo of contests": lambda: kn.TeamElo.classic(k=24, ties=0.3),
}
OF_CONTESTS = ("rank", "elo of contests")


def row(rng, k: int) -> dict:
    """A match that nobody else has: odd in everything that a match can be."""
    home, away = rng.choice(9, 2, replace=False) ** 2 // 7
    margin = float(rng.integers(-3, 4))
    return {
        "match_id": f"m{k}", "date": str(np.datetime64("2024-01-01") + int(rng.integers(0, 25))), "home": f"T{home}",
        "away": f"T{away}" if away != home else f"U{away}", "home_score": max(margin, 0.0) + 1,
        "away_score": max(-margin, 0.0) + 1, "neutral": bool(rng.random() < 0.3),
        "weight": float(rng.choice([0.5, 1.0, 2.0])), "surface": str(rng.choice(["clay", "grass", ""])),
    }  # fmt: skip


def contest(rng, k: int) -> list[dict]:
    """Entries of a contest."""
    names, size = rng.permutation(9), int(rng.integers(2, 6))
    day = str(np.datetime64("2024-01-01") + int(rng.integers(0, 25)))
    return [{"date": day, "race": f"m{k}", "driver": f"P{name}", "place": place + 1}
            for place, name in enumerate(names[:size])]  # fmt: skip


def table_of(rows: list, kind: str):
    if kind in OF_CONTESTS:
        return kn.read_contests(pl.DataFrame([entry for one in rows for entry in one]))
    return kn.read_matches(pl.DataFrame(rows), conditions=["surface"], ordered=True)


def fresh(kind: str, held: list):
    """One run over all matches in order: of date, and of arrival within a day."""
    rater = RATERS[kind]()
    if held:
        rater.update(table_of(held, kind))
    return rater


def ratings_of(one) -> list[tuple]:
    return one.ratings_.sort(*(name for name in ("kind", "name") if name in one.ratings_.columns)).rows()


def same(book, kind: str, held: list) -> None:
    assert len(book) == len(held)
    expected, found = ratings_of(fresh(kind, held)) if held else [], ratings_of(book) if held else []
    if kind == "whole":
        assert [r[0] for r in found] == [r[0] for r in expected]
        assert [r[1] for r in found] == pytest.approx([r[1] for r in expected], abs=1e-5)
    else:
        assert found == expected


def in_order(rows: list, kind: str) -> list:
    return sorted(rows, key=lambda one: one[0]["date"] if kind in OF_CONTESTS else one["date"])


@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
@in_turn(RATERS)
def test_any_history_ends_where_one_run_does(kind, address, monkeypatch):
    """Adding, sending again, correcting, removing and late results, drawn from a seed; checkpoints after a few."""
    monkeypatch.setattr(carrying, "EVERY", 6)
    rng = np.random.default_rng(len(kind))
    make = contest if kind in OF_CONTESTS else row
    held: list = []  # in order of arrival
    book = kn.RatingBook(address, RATERS[kind]())
    for step in range(10):
        what = rng.random()
        if what < 0.55 or len(held) < 3:
            new = in_order([make(rng, 100 * step + k) for k in range(int(rng.integers(1, 5)))], kind)
            again = [held[k] for k in rng.choice(len(held), min(len(held), 2), replace=False)] if held else []
            added = book.add(table_of([*new, *again], kind))
            assert (added.new, added.known, added.changed) == (len(new), len(again), 0)
            held += new
        elif what < 0.8:
            at = int(rng.integers(len(held)))
            changed = make(rng, 0)
            ids = held[at][0]["race"] if kind in OF_CONTESTS else held[at]["match_id"]
            changed = [one | {"race": ids} for one in changed] if kind in OF_CONTESTS else changed | {"match_id": ids}
            assert book.add(table_of([changed], kind)).changed == int(changed != held[at])
            held[at] = changed
        else:
            gone = held.pop(int(rng.integers(len(held))))
            book.remove(gone[0]["race"] if kind in OF_CONTESTS else gone["match_id"])
        same(book, kind, in_order(held, kind))
        if rng.random() < 0.3:
            book.close()
            book = kn.RatingBook(address)
    assert book.check() == []
    dated = book._database.one("SELECT COUNT(*) FROM checkpoint WHERE date IS NOT NULL")[0]
    assert dated > 0, "late matches were rated from checkpoints"


@in_turn(["still", "learning"])
def test_matches_one_by_one_end_where_one_table_does(kind, address):
    rng, book = np.random.default_rng(3), kn.RatingBook(address, RATERS[kind]())
    rows = in_order([row(rng, k) for k in range(30)], kind)
    for one in rows:
        said = {"date": one["date"], "neutral": one["neutral"], "weight": one["weight"]}
        margin = one["home_score"] - one["away_score"]
        result = 0.5 + 0.5 * np.sign(margin)
        for expected in ((1, 0), (0, 1)):  # sent twice
            added = book.update_one(one["home"], one["away"], result, match_id=one["match_id"], margin=margin, **said)
            assert (added.new, added.known) == expected
    same(book, kind, rows)
    assert book.check() == []
    with pytest.warns(kn.KineloWarning, match="1 match of the book differs"):
        book.update_one("T1", "T2", "win", match_id=rows[4]["match_id"], date=rows[4]["date"])
    assert book.update_one("T1", "T2", "win").new == 1  # without an identifier every call counts, on the last day
    assert str(book.matches().date[-1]) == rows[-1]["date"] and book.check() == []


@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
@in_turn(["still", "learning", "rank"], "learning", "rank")
def test_what_ends_at_the_same_moment_shares_a_transaction(kind, address, monkeypatch):
    """Whatever is among them, each is told what it came to, and the book is that of one after the other."""
    rng, book, commits = np.random.default_rng(4), kn.RatingBook(address, RATERS[kind]()), []
    finish = type(book._database).finish
    monkeypatch.setattr(type(book._database), "finish", lambda self: finish(self) or commits.append(self))

    def said(k: int, day: int) -> dict:
        names = [f"T{name}" for name in rng.permutation(7)]  # newcomers at first, and the same ones in one transaction
        played = {"home": names[:3]} if kind == "rank" else {"home": names[0], "away": names[1], "result": 0.5}
        return {**played, "match_id": f"m{k}", "date": f"2024-05-{day:02}"}

    def kinds_of(answers: list) -> list:
        return [type(one).__name__ if isinstance(one, Exception) else (one.new, one.known) for one in answers]

    assert kinds_of(book._update_each([said(0, 1)])) == [(1, 0)]
    plain = [[said(10 * turn + k, turn + 1) for k in range(1, 6)] for turn in range(4)]
    for rows in plain:
        commits.clear()
        assert kinds_of(book._update_each(rows)) == [(1, 0)] * 5
        assert len(commits) == 1
    rows = [said(51, 8), {**said(52, 8), "home": " "}, plain[0][2], said(53, 2), said(51, 8) | {"match_id": "m54"}]
    rows.append(rows[0])
    assert kinds_of(book._update_each(rows)) == [(1, 0), "InputError", (0, 1), (1, 0), (1, 0), (0, 1)]
    assert len(book) == 1 + 20 + 3 and book.check() == []
    again = said(55, 9)
    assert kinds_of(book._update_each([again, again])) == [(1, 0), (0, 1)] and book.check() == []
    down = [said(56, 11), said(57, 10), said(58, 1)]
    for k, one in enumerate(down):  # of nobody else
        one |= {"home": [f"U{k}", f"V{k}"]} if kind == "rank" else {"home": f"U{k}", "away": f"V{k}", "result": 1.0}
    del down[2]["date"]
    assert kinds_of(book._update_each(down)) == [(1, 0)] * 3 and book.check() == []
    assert str(book.matches().date[-1]) == "2024-05-11" and set(named(book)[-2:]) == {"m56", "m58"}
    monkeypatch.setattr(type(book._database), "entered", lambda *words: 1 / 0)
    assert kinds_of(book._update_each([said(60, 12), said(61, 12)])) == ["ZeroDivisionError"] * 2
    monkeypatch.undo()
    assert kinds_of(book._update_each([said(60, 12), said(61, 12)])) == [(1, 0)] * 2 and book.check() == []


@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
@in_turn(["still", "learning"])
def test_matches_one_by_one_see_what_is_written_between_them(kind, address):
    """What a book knows of its last matches is no longer so once another, or it itself in another way, has written."""
    one, count, held = kn.RatingBook(address, RATERS[kind]()), itertools.count(), {}
    other = kn.RatingBook(address)

    def play(home: str, away: str, result: float) -> None:
        name = f"m{next(count)}"
        assert one.update_one(home, away, result, match_id=name, date="2024-05-01").new == 1
        held[name] = (home, away, result)

    def put_right(book) -> None:
        name, (home, away, result) = next(iter(held.items()))
        assert book.update_one(home, away, 1.0 - result, match_id=name, date="2024-05-01").changed == 1
        held[name] = (home, away, 1.0 - result)

    def take_out(book) -> None:
        del held[name := list(held)[1]]
        assert book.remove(name) == 1

    for writes in (one, other):
        for step in (put_right, take_out):
            for meeting in (("A", "B", 1.0), ("B", "C", 0.5), ("C", "A", 1.0), ("A", "B", 0.0)):
                play(*meeting)
            step(writes)
        play("B", "C", 1.0)
        assert one.check() == other.check() == []
    matches, names = one.matches(), list(held)
    assert matches.match_id.tolist() == names and matches.result.tolist() == [held[name][2] for name in names]


@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
@pytest.mark.parametrize("start", [None, {"P1": 1700.0, "P9": 1400.0}])
def test_contests_one_by_one_stand_in_a_book_as_those_of_a_table(start, address, tmp_path, monkeypatch):
    """Every row of every table is that of the general way, of plain contests that take the short one and of others."""
    rng, short = np.random.default_rng(8), []
    count = carrying.OneContestByOne.count
    monkeypatch.setattr(carrying.OneContestByOne, "count", lambda *words: count(*words) or short.append(words[1][0][0]))
    settings = {
        "walk": 0.3,
        "prior_spread": 0.9,
        "newcomer": -0.2,
        "regression": 0.1,
        "retirement": 0.2,
        "newcomer_follows": 0.7,
        "contest_walk": 0.2,
    }
    one = kn.RatingBook(address, kn.RankElo(**settings, start=start))
    other = kn.RatingBook(tmp_path / "other.db", kn.RankElo(**settings, start=start))
    said: list[dict] = []
    for k in range(14):
        names = [f"P{name}" for name in rng.permutation(11)[: 2 * int(rng.integers(1, 4))]]
        row = {"match_id": f"c{k}", "order": names, "date": f"2024-05-{1 + k // 2:02}"}
        if k % 3 == 1:
            row["order"] = [names[: len(names) // 2], names[len(names) // 2 :]]
        if k % 4 == 2:
            row["ranks"] = [1.0] * len(row["order"])
        said.append(row)
    said[9]["date"], said[11]["unfinished"] = "2024-05-01", ["P4 with a name of its own"]  # late, and no plain one
    said += [said[4], said[13]]  # sent again
    for row in said:
        more = {word: value for word, value in row.items() if word != "order"}
        assert one.update_one(row["order"], **more).new == other.add([row]).new
    # The first settles what all share; from the first on that somebody did not finish, all learn who may not.
    assert short == [f"c{k}" for k in range(1, 11) if k != 9]
    asked = (
        "SELECT contest_id, name, CAST(date AS TEXT), weight, title, kinds, place FROM contest ORDER BY date, rank",
        "SELECT contest_id, number, entrant, place, ended, distance, slots FROM entry ORDER BY contest_id, number",
        "SELECT kind, name, mean, variance, deviation, games, last_day, supposed, more FROM slot ORDER BY name",
    )
    for question in asked:
        assert one._database.rows(question) == other._database.rows(question)
    assert one.ratings_.equals(other.ratings_) and one.check() == []


@pytest.mark.parametrize("kind", ["still", "glicko", "rank"])
def test_a_book_is_opened_without_code_that_rates(kind, tmp_path, monkeypatch):
    """To load it takes longer than to open a book of a million."""
    kn.RatingBook(tmp_path / "b", RATERS[kind]()).close()
    loaded: list[object] = []
    for name in ("two_rows.OneCall", "rank.one_field.FieldRows"):
        monkeypatch.setattr(f"kinelo.raters.{name}", lambda *words: loaded.append(words))
    assert len(kn.RatingBook(tmp_path / "b")) == 0 and not loaded


@in_turn(["still", "learning", "rank"], "learning", "rank")
def test_forecasts_of_some_are_those_of_everyone(kind, address, monkeypatch):
    """Whoever writes between them, takes out who was there, or has asked about many before."""
    monkeypatch.setattr(ratings, "MOST_ROWS", 7)
    book, other = kn.RatingBook(address, RATERS[kind]()), kn.RatingBook(address)
    rng, names = random.Random(4), [f"T{k}" for k in range(6)]
    for k in range(24):
        sides = rng.sample(names, 2)
        said = (sides,) if kind == "rank" else (*sides, "win")
        other.update_one(*said, match_id=f"m{k}", date=f"2024-05-{1 + k // 2:02}")
        if k % 8 == 7:
            other.remove([f"m{n}" for n in range(k - 7, k)])
        for _ in range(3):
            asked = (rng.sample(names, 3),) if kind == "rank" else rng.sample(names, 2)
            found, expected = book.predict_one(*asked), other.rater.predict_one(*asked)
            assert found.unknown == expected.unknown
            if kind == "rank":
                assert found.win.tolist() == expected.win.tolist()
            else:
                assert found.probabilities.tolist() == expected.probabilities.tolist()


@in_turn(["still", "learning", "whole"])
def test_forecasts_for_several_at_once_are_those_for_each(kind, address, monkeypatch):
    """The rows of all are asked for once; of who asks what cannot be forecast, the others hear nothing."""
    book, reads = kn.RatingBook(address, RATERS[kind]()), []
    rows = [{"match_id": f"m{k}", "home": home, "away": away, "result": (k % 3) / 2, "date": f"2024-05-{1 + k // 6:02}"}
            for k, (home, away) in enumerate(itertools.permutations("ABCDEFGHIJ", 2))]  # fmt: skip
    book.add(rows)
    asked = [(home, away, {"neutral": home > "E"}) for home, away in itertools.permutations("AXCDEFGHIJ", 2)][::7]
    expected = [book.predict_one(home, away, **more) for home, away, more in asked]
    assert len({forecast.probabilities[0, 0] for forecast in expected}) > 8
    rows = type(book._database).rows
    monkeypatch.setattr(type(book._database), "rows", lambda *words: reads.append(words[1]) or rows(*words))
    found = book._predict_each(asked)
    assert len(reads) == (0 if kind == "whole" else 1)
    assert [one.probabilities.tolist() for one in found] == [one.probabilities.tolist() for one in expected]
    assert [one.unknown for one in found] == [one.unknown for one in expected]
    faults = [("A", "A", {}), ("B", "C", {"date": "2024-02-31"}), ("B", " ", {})]
    found = book._predict_each([faults[0], asked[0], faults[1], faults[2]])
    assert [type(one).__name__ for one in found] == ["InputError", "Forecast", "InputError", "InputError"]
    assert found[1].probabilities.tolist() == expected[0].probabilities.tolist()


def test_a_connection_holds_no_long_answer(server, monkeypatch):
    """PostgreSQL keeps an answer in memory as long as its cursor: a long one goes with it."""
    monkeypatch.setattr(database, "MOST_HELD", 20)
    one = kn.RatingBook(server.address(), RATERS["still"]())._database
    for count, same in ((20, True), (21, False)):
        assert one.rows("SELECT 1") == [(1,)]
        cursor = one._own.cursor
        assert len(one.rows("SELECT generate_series(1, ?)", (count,))) == count
        assert (one._own.cursor is cursor) == same


@pytest.mark.parametrize("kind", ["still", "start", "rank", "whole"])
def test_ratings_stand_in_a_view_in_points(kind, address):
    rng, make = np.random.default_rng(5), contest if kind in OF_CONTESTS else row
    book = kn.RatingBook(address, RATERS[kind]())
    book.add(table_of([make(rng, k) for k in range(20)], kind))
    view = book._database.rows("SELECT name, rating, deviation, games FROM rating ORDER BY rating DESC, name")
    table = book.ratings_.sort("rating", "name", descending=[True, False])
    assert [one[0] for one in view] == table["name"].to_list()
    shift = np.array([one[1] for one in view]) - table["rating"].to_numpy()
    # Strengths of contests count from a level that fades until the last day, which moves all of them alike.
    assert np.ptp(shift) < 1e-9 and (kind == "rank" or abs(shift).max() < 1e-9)
    # A deviation is that of the last match; the table of Glicko's lets it grow to the last day, by 30 points a month.
    days = (table["last_played"].max() - table["last_played"]).dt.total_days().to_numpy()
    grown = 30.0**2 / 30.0 * days if kind == "start" else 0.0 * days
    assert (grown > 0).any() == (kind == "start")
    deviation = np.sqrt(table["uncertainty"].to_numpy() ** 2 - grown)
    assert [one[2] for one in view] == pytest.approx(deviation.tolist(), rel=1e-9)
    assert [one[3] for one in view] == table["matches"].to_list()
    last = {
        name
        for (name,) in book._database.rows("SELECT name FROM rating WHERE CAST(last_played AS TEXT) > '2024-01-20'")
    }
    assert last == set(table.filter(pl.col("last_played").cast(pl.Date) > pl.date(2024, 1, 20))["name"])


# Every field of a match is part of it


@cache
def complete() -> kn.matches.Matches:
    rng = np.random.default_rng(8)
    rows = in_order([row(rng, k) for k in range(12)], "still")
    for k, one in enumerate(rows):
        one |= {
            "date": str(np.datetime64("2024-01-01") + k),
            "home_lineup": ["a", "b"],
            "away_lineup": ["c", f"d{k % 3}"],
        }
    return kn.read_matches(pl.DataFrame(rows), conditions=["surface"], ordered=True)


def put(matches: kn.matches.Matches, name: str):
    """The table with one field of its sixth match changed."""
    k, columns = 5, {}
    if name in ("home", "away"):
        code = next(c for c in range(len(matches.teams)) if c not in (matches.home[k], matches.away[k]))
        columns[name] = np.where(np.arange(12) == k, code, getattr(matches, name)).astype(np.int32)
    elif name == "date":
        columns[name] = np.where(np.arange(12) == k, matches.date[k] + 3, matches.date)
    elif name == "surface":
        there = matches.conditions["surface"]
        codes = np.where(np.arange(12) == k, (there.codes + 1) % len(there.levels), there.codes)
        columns["conditions"] = {"surface": replace(there, codes=codes.astype(there.codes.dtype))}
    elif name in ("player", "minutes", "starter"):
        there = matches.lineups
        values = getattr(there, name).copy()
        at = there.offsets[2 * k + 1]
        values[at] = {"player": there.player[-1], "minutes": 13.0, "starter": 1 - abs(values[at])}[name]
        columns["lineups"] = replace(there, **{name: values})
    else:
        other = {"result": 1.0 - matches.result[k] or 0.25, "margin": matches.margin[k] + 1, "weight": 3.5,
                 "neutral": not matches.neutral[k]}[name]  # fmt: skip
        columns[name] = np.where(np.arange(12) == k, other, getattr(matches, name))
    changed = replace(matches, **columns)
    return changed[np.argsort(changed.date, kind="stable")]


@pytest.mark.parametrize(
    "name",
    ["date", "home", "away", "result", "margin", "neutral", "weight", "surface", "player", "minutes", "starter"],
)
def test_every_field_of_a_match_can_be_put_right(name, tmp_path):
    """Each field in turn: counted as changed, as a fresh run over the changed table, and back again."""

    def rater():
        return kn.TeamElo(20.0, 2.0, 10.0, 60.0, 0.7, 50.0, 0.3, 1.0, 1.0, 0.5, prior_spread=150.0,
                          conditions=["surface"])  # fmt: skip

    book = kn.RatingBook(tmp_path / "b", rater())
    book.add(complete())
    before, there = book.ratings_.rows(), book.matches()
    changed = put(complete(), name)
    with pytest.warns(kn.KineloWarning, match="1 match of the book differs"):
        assert book.add(changed).changed == 1
    assert sorted(book.ratings_.rows()) == sorted(rater().update(changed).ratings_.rows())
    held = book.matches()
    for column in ("match_id", "date", "result", "margin", "neutral", "weight"):
        assert getattr(held, column).tolist() == getattr(changed, column).tolist(), column
    assert [held.lineups.names(k, s) for k in range(12) for s in (0, 1)] == [
        changed.lineups.names(k, s) for k in range(12) for s in (0, 1)
    ]
    with pytest.warns(kn.KineloWarning, match="1 match of the book differs"):
        assert book.add(complete()).changed == 1
    assert sorted(book.ratings_.rows()) == sorted(before)
    assert book.matches().match_id.tolist() == there.match_id.tolist()
    assert book.check() == []


def championship(**change) -> kn.matches.Contests:
    """Two races a day on three days; ``change`` says fields of the third race anew."""
    order = ["ABCD", "BCAD", "CABD", "DACB", "ACBD", "BDCA"]
    rows = [
        {"date": f"2024-05-0{1 + k // 2}", "race": f"r{k}", "driver": name, "place": str(place + 1), "laps": 50 - place,
         "title": f"Prize of {k}", "weight": 1.0, "car": f"c{(k + place) % 3}"}
        for k, names in enumerate(order) for place, name in enumerate(names)
    ]  # fmt: skip
    for one in rows:
        if one["race"] == "r2":
            one |= {name: value(one) for name, value in change.items()}
    return kn.read_contests(pl.DataFrame(rows), slots=["driver", "car"])


FIELDS = {
    "date": lambda one: "2024-05-03",
    "title": lambda one: "Grand Prize",
    "weight": lambda one: 2.0,
    "place": lambda one: str(5 - int(one["place"])),
    "ended": lambda one: "DNF" if one["driver"] == "D" else one["place"],
    "driver": lambda one: "E" if one["driver"] == "B" else one["driver"],
    "car": lambda one: "c9" if one["driver"] == "A" else one["car"],
}


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_of_a_contest_can_be_put_right(name, tmp_path):
    """A contest keeps its place of the day, and put back the ratings are as before."""
    first, changed = championship(), championship(**{"place" if name == "ended" else name: FIELDS[name]})
    book = kn.RatingBook(tmp_path / "b", RATERS["rank"]())
    book.add(first)
    before = ratings_of(book)
    with pytest.warns(kn.KineloWarning, match="1 contest of the book differs"):
        assert book.add(changed).changed == 1
    held = book.matches()
    order = [0, 1, 3, 4, 5]
    order.insert(3 if name == "date" else 2, 2)
    assert held.identifiers == tuple(f"r{k}" for k in order)
    assert held.titles is not None and held.titles[order.index(2)] == changed.titles[changed.identifiers.index("r2")]
    assert ratings_of(book) == ratings_of(RATERS["rank"]().update(held))
    if name != "date":
        assert ratings_of(book) == ratings_of(RATERS["rank"]().update(changed))
    with pytest.warns(kn.KineloWarning, match="1 contest of the book differs"):
        assert book.add(first).changed == 1
    assert ratings_of(book) == before and book.matches().identifiers == first.identifiers


def test_lineups_that_arrive_later_are_a_change(tmp_path):
    made = kn.sample_league(teams=4, seasons=1, seed=9)
    results, both = kn.read_matches(made.results), kn.read_matches(made.results, made.lineups)
    book = kn.RatingBook(tmp_path / "b", kn.PlayerElo(covariance="diagonal"))
    book.add(results)
    with pytest.warns(kn.KineloWarning, match=f"{len(both)} matches of the book differ"):
        assert book.add(both).changed == len(both)
    assert book.ratings_.equals(kn.PlayerElo(covariance="diagonal").update(both).ratings_)
    assert book.add(results).known == len(both), "a column that is not there says nothing"


def test_a_grown_file_without_ids_can_be_sent_again_and_again(tmp_path):
    table = {"date": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"], "home": list("ABCA"),
             "away": list("BCAC"), "result": [1, 0, 0.5, 1]}  # fmt: skip
    book = kn.RatingBook(tmp_path / "b", kn.TeamElo.classic(k=20))
    for rows, expected in ((2, (2, 0)), (4, (2, 2)), (4, (0, 4)), (4, (0, 4)), (2, (0, 2))):
        added = book.add(kn.read_matches({name: cells[:rows] for name, cells in table.items()}))
        assert (added.new, added.known, added.changed) == (*expected, 0)


# Many writers, and sudden ends

FORK = multiprocessing.get_context("forkserver")  # imports once; what was imported here runs threads already
FORK.set_forkserver_preload(["kinelo.book.book", "kinelo.raters.team.rater", "kinelo.raters.team.rater"])


def work(address: str, who: int, count: int, go, told) -> None:
    """Add matches one by one; every fifth is sent by all. Each is told once it counts."""
    book = kn.RatingBook(address)
    go.wait(PATIENCE)
    for k in range(count):
        home, away = (7 * k + who) % 11, (5 * k + 3 * who + 1) % 11
        away = away if away != home else (away + 1) % 11
        match_id = f"shared {k}" if k % 5 == 0 else f"{who}-{k}"
        if k % 5 == 0:
            home, away = k % 11, (k + 1) % 11
        if "contests" in book.holds and "matches" not in book.holds:
            book.update_one([f"T{home}", f"T{away}", "T11"], match_id=match_id, date="2024-05-01")
        else:
            book.update_one(f"T{home}", f"T{away}", "win" if k % 3 else "draw", match_id=match_id, date="2024-05-01")
        told.send(match_id)
    told.close()


def writers(address: str, count: int, *who: int) -> list[tuple]:
    """Processes that add so many matches each, all at once, what they tell, and the sign to begin."""
    go, found = FORK.Event(), []
    for one in who:
        ours, theirs = FORK.Pipe(duplex=False)
        child = FORK.Process(target=work, args=(address, one, count, go, theirs))
        child.start()
        theirs.close()
        found.append((child, ours, go))  # whoever forgets the sign takes it away from those who wait for it
    go.set()
    return found


def heard(told, most: int | None = None) -> list[str]:
    """What a process told, until it ended."""
    said = []
    while most is None or len(said) < most:
        try:
            said.append(told.recv())
        except (EOFError, OSError):
            break
    return said


@in_turn(["still", "learning"])
def test_four_processes_lose_nothing_and_count_nothing_twice(kind, address):
    count, book = 25, kn.RatingBook(address, RATERS[kind]())
    book.close()
    for child, told, _ in writers(address, count, 0, 1, 2, 3):
        assert len(heard(told)) == count
        child.join(PATIENCE)
        assert child.exitcode == 0
    assert len(book) == 4 * 20 + 5
    assert book.check() == [], "the order of counting is kept, and one run in it ends at the same bits"


@pytest.mark.parametrize("times", [3, pytest.param(60, marks=pytest.mark.long)])
@in_turn(["learning", "rank"])
def test_killed_at_any_moment_what_was_acknowledged_counts_once(kind, times, address):
    book, chance = kn.RatingBook(address, RATERS[kind]()), random.Random(5)
    acknowledged: set[str] = set()
    for number in range(times):
        book.close()
        ((child, told, _sign),) = writers(address, 200, number)
        acknowledged |= set(heard(told, chance.randrange(1, 9)))
        time.sleep(chance.uniform(0.0, 0.01))
        os.kill(child.pid, signal.SIGKILL)
        child.join(PATIENCE)
        acknowledged |= set(heard(told))
        held = named(book)
        assert acknowledged <= set(held) and len(held) == len(set(held)) == len(book)
    assert book.check() == []


def added_until(address: str, at: int) -> None:
    """Add a first table and be killed before the statement of this number; where there are fewer, after the commit."""
    book, number = kn.RatingBook(address), 0

    def wrapped(name: str, real: Callable) -> Callable:
        def call(database, *words):
            nonlocal number
            number += (inside := getattr(database._own, "inside", False))
            if inside and number == at:
                os.kill(os.getpid(), signal.SIGKILL)
            done = real(database, *words)
            if inside and name == "finish":
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        return call

    for name in ("run", "many", "entered", "finish"):
        setattr(type(book._database), name, wrapped(name, getattr(type(book._database), name)))
    book.add(halves()[0])


def halves() -> list:
    """Matches of January's first twelve days, and of the rest of it."""
    rng = np.random.default_rng(6)
    rows = in_order([row(rng, k) for k in range(15)], "whole")
    return [table_of([one for one in rows if (one["date"] > "2024-01-12") == late], "whole") for late in (False, True)]


def test_a_first_addition_that_is_killed_is_there_whole_or_not_at_all(address, tmp_path):
    """Before its second statement and its fifth, and after the commit: whoever opens the book then goes on from there.

    That every statement may fail is tested in test_taken_back.py, without a process of its own for each.
    """
    first, second = halves()
    plain, book = (kn.RatingBook(place, RATERS["still"]()) for place in (tmp_path / "plain.db", address))
    plain.add(first)
    plain.add(second)
    book.close()
    for at, held in ((2, 0), (5, 0), (1000, len(first))):
        child = FORK.Process(target=added_until, args=(address, at))
        child.start()
        child.join(PATIENCE)
        assert child.exitcode == -signal.SIGKILL
        with kn.RatingBook(address) as other:
            assert len(other) == held and other.check() == []
    assert book.add(first).new == 0 and book.add(second).new == len(second) > 2 < len(first)
    assert book.ratings_.equals(plain.ratings_)


def named(book) -> list[str]:
    """Identifiers of all that a book holds."""
    held = book.matches()
    return held.match_id.tolist() if book.noun == "matches" else list(held.identifiers)


@pytest.mark.parametrize("times", [2, pytest.param(40, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["still", "rank"])
def test_a_server_killed_at_any_moment_keeps_what_it_acknowledged_once(kind, times, server):
    """Who gets no answer sends again once the server is back."""
    book, chance, k = kn.RatingBook(server.address(), RATERS[kind]()), random.Random(6), 0

    def send() -> int:
        nonlocal k
        names = [f"T{n}" for n in random.Random(k).sample(range(9), 3)]
        said = (names,) if kind == "rank" else (*names[:2], "win")
        new = book.update_one(*said, match_id=f"m{k}", date="2024-05-01").new
        k += 1
        return new

    def send_on() -> None:
        while True:
            assert send() == 1

    for _ in range(times):
        for _ in range(chance.randrange(1, 9)):
            assert send() == 1
        killer = threading.Timer(chance.uniform(0.0, 0.02), server.kill)
        killer.start()
        with pytest.raises(kn.InputError, match="may count or not: send it again"):
            send_on()
        killer.join()
        server.start()
        assert send() in (0, 1)
        assert sorted(named(book)) == sorted(f"m{n}" for n in range(k))
    assert book.check() == []


def test_threads_read_and_write_one_book(address):
    book = kn.RatingBook(address, RATERS["still"]())
    book.update_one("T0", "T1", "win", date="2024-05-01", match_id="first")

    def work(k):
        if k % 2:
            return book.update_one(f"T{k % 5}", f"T{k % 5 + 1}", "win", date="2024-05-01", match_id=f"m{k}").new
        return book.ratings_.height > 1 and book.predict_one("T0", "T1").probabilities.sum() == pytest.approx(1.0)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(40)))
    assert len(book) == 21 and book.check() == []


def test_a_server_that_goes_away_is_said_and_comes_back(server):
    book = kn.RatingBook(server.address(), RATERS["still"]())
    book.update_one("A", "B", "win", match_id="1", date="2024-05-01")
    server.stop("immediate")
    for ask in (lambda: book.update_one("A", "B", "win", match_id="2", date="2024-05-01"), lambda: book.ratings_):
        with pytest.raises(kn.InputError, match="cannot be reached or has broken off") as told:
            ask()
        assert "\n" not in str(told.value)
    server.start()
    assert book.update_one("A", "B", "win", match_id="2", date="2024-05-01").new == 1
    assert len(book) == 2 and book.check() == []


def test_a_server_that_lets_nobody_in_is_given_up(monkeypatch):
    """As one that is frozen: it takes connections and says nothing."""
    psycopg = pytest.importorskip("psycopg")
    for name in ("PGCONNECT_TIMEOUT", "PGHOST", "PGPORT"):
        monkeypatch.delenv(name, raising=False)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/club"
        with pytest.raises(kn.InputError, match="cannot be reached or has broken off"):
            kn.RatingBook(f"{address}?connect_timeout=2&sslmode=disable")
    asked = []
    monkeypatch.setattr(psycopg, "connect", lambda *words, **more: asked.append(more) or 1 / 0)
    for words in ("", "?sslmode=disable", "?sslmode=disable&connect_timeout=3"):
        with pytest.raises(ZeroDivisionError):
            kn.RatingBook(address + words)
    assert [more.get("connect_timeout") for more in asked] == [10, 10, None]


def test_a_connection_cut_in_the_middle_of_a_commit_counts_or_not_and_never_twice(server, monkeypatch):
    """The sender cannot know, and learns it by sending again."""
    import psycopg

    address = server.address()
    book = kn.RatingBook(address, RATERS["still"]())
    book.update_one("A", "B", "win", match_id="0", date="2024-05-01")
    for k, moment in enumerate(("before", "after"), 1):
        database, real = book._database, psycopg.Cursor.execute

        def cut(self, query, *words, moment=moment, real=real, database=database, **more):
            if query == "COMMIT" and self.connection is database._writer:
                if moment == "after":
                    real(self, query)
                self.connection.close()
                raise psycopg.OperationalError("the connection is lost")
            return real(self, query, *words, **more)

        with monkeypatch.context() as patched:
            patched.setattr(psycopg.Cursor, "execute", cut)
            with pytest.raises(kn.InputError, match="may count or not: send it again"):
                book.update_one("A", "B", "win", match_id=str(k), date="2024-05-01")
        assert len(book) == k + (moment == "after")
        assert book.update_one("A", "B", "win", match_id=str(k), date="2024-05-01").new == int(moment == "before")
        assert len(book) == k + 1 and book.check() == []


def no_room(book) -> Callable[[], None]:
    """Let a database find its disk full; what gives it room again.

    SQLite is told that its file may not grow; PostgreSQL is made to say what it says when it cannot.
    """
    if book._database.for_update:
        import psycopg

        def ask(sql: str) -> None:
            with psycopg.connect(book.path, autocommit=True) as one:
                one.execute(sql)

        ask("CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION "
            "'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$")  # fmt: skip
        ask("CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON slot EXECUTE FUNCTION full_disk()")
        return lambda: ask("DROP TRIGGER no_room ON slot")
    writer = book._database._writer
    pages = writer.execute("PRAGMA page_count").fetchone()[0]
    writer.execute(f"PRAGMA max_page_count = {pages}")
    return lambda: writer.execute("PRAGMA max_page_count = 1000000")


@in_turn(["still", "rank"])
def test_a_full_disk_changes_nothing(kind, address):
    book = kn.RatingBook(address, RATERS[kind]())
    rng = np.random.default_rng(1)
    one, *many = [contest(rng, k) for k in range(600)] if kind == "rank" else [row(rng, k) for k in range(2000)]
    book.add(table_of([one], kind))
    before, give_room = book.ratings_, no_room(book)
    with pytest.raises(OSError, match="No space left") as told:
        book.add(table_of(many, kind))
    assert told.value.errno == 28 and len(book) == 1 and book.ratings_.equals(before)
    give_room()
    assert kn.RatingBook(address).check() == []
    assert book.add(table_of(many[:9], kind)).new == 9 and book.check() == []
