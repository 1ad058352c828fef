"""A transaction that fails leaves nothing behind, in the database or in memory: sent again, all is as if it had not."""

import shutil

import numpy as np
import pytest

import kinelo as kn
from kinelo.book.database import SQLite
from postgres_server import in_turn

RATERS = {
    "classic": lambda: kn.TeamElo.classic(k=24, ties=0.3, home_advantage=0.0),
    "margins": lambda: kn.TeamElo(20.0, 0.0, 10.0, 30.0, 0.4, 0.0, 0.3, 1.0, 1.0, 0.1, home_step=0.0),
    "glicko": lambda: kn.Glicko(300.0, 30.0, 40.0, 0.6, start={"A": 1700.0, "Z": 1400.0}),
    "whole": lambda: kn.BradleyTerry(),
    "either": lambda: kn.TeamElo.classic(k=24, ties=0.3, home_advantage=0.0),
    "rank": lambda: kn.RankElo(walk=0.3, prior_spread=0.9, newcomer=-0.2, regression=0.1, retirement=0.2),
}
OF_CONTESTS = ("either", "rank")


def matches(ids="wxyz", month=1):
    return kn.read_matches({
        "match_id": list(ids), "date": [f"2024-{month:02}-{day:02}" for day in (1, 3, 4, 9)], "home": list("ABCA"),
        "away": list("BCAC"), "home_score": [3, 1, 0, 5], "away_score": [1, 1, 2, 1],
    })  # fmt: skip


def races(names="12", month=1):
    rows = [(f"2024-{month:02}-0{k + 1}", f"r{name}", who, place) for k, name in enumerate(names)
            for place, who in enumerate("ABCD"[k:] + "ABCD"[:k], 1)]  # fmt: skip
    return kn.read_contests(dict(zip(("date", "race", "entrant", "place"), map(list, zip(*rows)))))


def tables(kind):
    return (races("12"), races("34", 3)) if kind in OF_CONTESTS else (matches(), matches("abcd", 3))


def steps(kind):
    """What is done to a book, one transaction after the other."""
    first, second = tables(kind)
    one = ((["B", "D", "A"],), "r1") if kind in OF_CONTESTS else (("A", "C", "win"), "w")
    return [
        lambda book: book.add(first),
        lambda book: book.update_one(*one[0], match_id="one", date="2024-02-01"),
        lambda book: book.add(second),
        lambda book: book.remove(one[1]),
        lambda book: book.erase("A", "somebody"),
    ]


class Fails:
    """Lets the statement that changes the database, or the commit, fail whose number it is told."""

    def __init__(self, monkeypatch, book) -> None:
        self.count, self.at = 0, 0
        kind = type(book._database)
        for name in ("run", "many", "entered", "finish"):
            monkeypatch.setattr(kind, name, self.wrapped(getattr(kind, name)))

    def wrapped(self, real):
        def call(database, *words):
            self.count += getattr(database._own, "inside", False)
            if self.count == self.at > 0 and database._own.inside:
                raise OSError(28, "No space left on device")
            return real(database, *words)

        return call


@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
@in_turn(RATERS, "margins", "rank", "whole")
def test_whatever_fails_is_taken_back_in_memory_too(kind, address, tmp_path, monkeypatch):
    """Every statement of every transaction fails once; after each the same process sends it again, and goes on."""
    plain = kn.RatingBook(tmp_path / "plain.db", RATERS[kind]())
    for step in steps(kind):
        step(plain)
    expected = plain.ratings_
    book = kn.RatingBook(address, RATERS[kind]())
    failing, failed = Fails(monkeypatch, book), 0
    for step in steps(kind):
        failing.at = 1
        while True:
            failing.count = 0
            try:
                done = step(book)
            except OSError:
                failing.at, failed = failing.at + 1, failed + 1
                with kn.RatingBook(address) as other:  # others see nothing of it, nor does this process
                    assert other.noun == book.noun and len(other) == len(book)
                    assert other.rater.to_arrays().keys() == book.rater.to_arrays().keys()
                continue
            assert done
            break
        failing.at = 0
        with kn.RatingBook(address) as other:
            assert other._ratings.blank._prepared == book._ratings.blank._prepared
            assert other.check() == [] and other.ratings_.equals(book.ratings_)
    assert failed > 12
    assert kn.RatingBook(address).ratings_.equals(expected)
    book.close()


def test_a_name_is_enough_where_other_matches_have_none(address, monkeypatch):
    """No table is read for a match that has an identifier, unless it may be one that was added without."""
    book = kn.RatingBook(address, RATERS["classic"]())
    book.add(kn.read_matches({"date": ["2024-01-01", "2024-01-05"], "home": ["A", "B"], "away": ["B", "C"],
                              "result": [1.0, 0.5]}))  # fmt: skip
    book.update_one("A", "C", "win", match_id="m1", date="2024-01-05")
    with monkeypatch.context() as patched:
        patched.setattr(book._carrying, "_count", None)
        for k, (home, away, day) in enumerate([("B", "A", "06"), ("D", "B", "06"), ("C", "A", "07")]):
            book.update_one(home, away, "draw", match_id=f"n{k}", date=f"2024-01-{day}")
    second = {"date": ["2024-01-08"] * 2, "home": ["B", "A"], "away": ["C", "D"], "result": [1.0, 0.0]}
    book.add(kn.read_matches(second))
    with monkeypatch.context() as patched:  # on the day of those without, between others and the other way round
        patched.setattr(book._carrying, "_count", None)
        for k, (home, away) in enumerate([("B", "A"), ("C", "B"), ("D", "C")]):
            book.update_one(home, away, "loss", match_id=f"o{k}", date="2024-01-08")
    with pytest.raises(
        kn.InputError, match=r"The match meets on the day of a match that the book holds without an\s+identifier"
    ):
        book.update_one("B", "C", "win", match_id="again", date="2024-01-08")
    assert book.check() == []


def test_undated_matches_with_names_are_counted_straight_too(tmp_path, monkeypatch):
    book = kn.RatingBook(tmp_path / "book.db", RATERS["classic"]())
    book.add(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1.0]}))
    monkeypatch.setattr(book._carrying, "_count", None)
    for k in range(3):
        assert book.update_one("A", "B", "win", match_id=f"m{k}").new == 1
    monkeypatch.undo()
    assert book.add([{"match_id": "m3", "home": "A", "away": "B", "result": 1}]).new == 1, (
        "the general way says the same"
    )
    assert len(book) == 5 and book.check() == []


def six(path):
    book = kn.RatingBook(path, RATERS["classic"]())
    for k in range(6):
        book.update_one("A", "B", "win", match_id=f"m{k}", date=f"2024-01-0{k + 1}")
    return book


def test_a_book_that_cannot_be_written_is_read_with_its_log(tmp_path, monkeypatch):
    """Beside a writer, after one that was killed, and where everything stands in the file, which others may change."""
    writer = six(tmp_path / "book.db")
    dead = tmp_path / "dead"
    dead.mkdir()
    for name in ("book.db", "book.db-wal", "book.db-shm"):
        shutil.copy(tmp_path / name, dead)
    with monkeypatch.context() as patched:
        patched.setattr(SQLite, "_is_writable", lambda _: False)
        for path in (tmp_path, dead):
            with kn.RatingBook(path / "book.db") as reader:
                assert (len(reader), reader.check(), reader.ratings_["matches"].sum()) == (6, [], 12)
                with pytest.raises(OSError, match="Permission denied"):
                    reader.update_one("A", "B", "win")
        reader = kn.RatingBook(tmp_path / "book.db")
        assert reader.ratings_["matches"].sum() == 12
    writer.update_one("A", "B", "win", match_id="m6", date="2024-02-01")
    assert len(reader) == 7 and reader.ratings_["matches"].sum() == 14
    reader.close()
    writer.close()
    assert not (tmp_path / "book.db-wal").exists()
    with monkeypatch.context() as patched:
        patched.setattr(SQLite, "_is_writable", lambda _: False)
        reader = kn.RatingBook(tmp_path / "book.db")
        assert len(reader) == 7 and reader.ratings_["matches"].sum() == 14
    with six(tmp_path / "book.db") as writer:
        writer.update_one("C", "B", "win", match_id="m7", date="2024-02-02")
    with monkeypatch.context() as patched:
        patched.setattr(SQLite, "_is_writable", lambda _: False)
        assert len(reader) == 8 and reader.ratings_["matches"].sum() == 16 and reader.check() == []


def test_a_log_that_cannot_be_read_is_said(tmp_path, monkeypatch):
    writer = six(tmp_path / "book.db")
    dead = tmp_path / "dead"
    dead.mkdir()
    (dead / "book.db-shm").symlink_to(dead / "book.db-shm")  # which nobody can open
    for name in ("book.db", "book.db-wal"):
        shutil.copy(tmp_path / name, dead)
    writer.close()
    monkeypatch.setattr(SQLite, "_is_writable", lambda _: False)
    with pytest.raises(kn.InputError, match=r"stand in .*book\.db-wal, which needs a folder that may be written"):
        kn.RatingBook(dead / "book.db")


def test_long_lists_to_begin_with_are_read_back(tmp_path):
    """More than a million letters."""
    start = {f"{'a name of many letters ' * 20}{k:04}": 1000.0 + k % 977 for k in range(2_500)}
    with kn.RatingBook(tmp_path / "book.db", kn.TeamElo.classic(k=20, ties=0.3, start=start)) as book:
        before = book.ratings_
    with kn.RatingBook(tmp_path / "book.db") as book:
        assert book.ratings_.equals(before) and before.height == 2_500
        assert book._ratings.blank.start == kn.RatingBook(tmp_path / "book.db")._ratings.blank.start


@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
@pytest.mark.parametrize("told", [False, True])
def test_comparisons_in_pieces_end_at_the_bits_of_one_addition(told, tmp_path):
    """The ridge, and whether the order of sides tells the result, come from all of them."""
    rng = np.random.default_rng(8)
    strength, home = rng.normal(0, 1, 40), rng.integers(0, 40, 240)
    away = (home + rng.integers(1, 40, 240)) % 40
    won = rng.random(240) < 1 / (1 + np.exp(strength[away] - strength[home]))
    home, away = (np.where(won, home, away), np.where(won, away, home)) if told else (home, away)
    table = {"match_id": [f"m{k}" for k in range(240)], "home": [f"p{k}" for k in home],
             "away": [f"p{k}" for k in away], "date": [str(np.datetime64("2024-01-01") + k // 3) for k in range(240)],
             "result": (won | told).astype(float)}  # fmt: skip
    whole = kn.RatingBook(tmp_path / "whole.db", kn.BradleyTerry())
    whole.add(kn.read_matches(table))
    book = kn.RatingBook(tmp_path / "book.db", kn.BradleyTerry())
    for part in (slice(0, 15), slice(15, 31), slice(31, 240)):
        book.add(kn.read_matches({name: column[part] for name, column in table.items()}))
        assert book.check() == []
    assert book.rater.ridge_ == whole.rater.ridge_ and book.rater._order.home is whole.rater._order.home is not told
    assert book.ratings_.equals(whole.ratings_)


def test_given_parameters_end_alike_by_fit_and_by_update():
    fitted, updated = RATERS["margins"]().fit(matches()), RATERS["margins"]().update(matches())
    assert fitted.ratings_.equals(updated.ratings_)
