"""Rating books: the same as one run to the last bit, whatever they are fed with."""

import contextlib
import os
import sqlite3
from functools import cache

import numpy as np
import polars as pl
import pytest

import kinelo as kn


@cache
def league(teams: int = 8) -> kn.matches.Matches:
    return kn.read_matches(kn.sample_league(teams=teams, seasons=2, seed=2).results)


def rater() -> kn.TeamElo:
    return kn.TeamElo(20.0, 2.0, 10.0, 60.0, 0.7, 50.0, 0.0, 1.0, 1.0, 0.5, prior_spread=150.0)


@pytest.mark.parametrize("kept", [rater(), kn.Glicko2(300.0, 0.06, 40.0, 0.6, together=True)])
def test_day_by_day_equals_one_run_to_the_last_bit(kept, tmp_path):
    matches = league(teams=4)
    for day in np.unique(matches.date):
        book = kn.RatingBook(tmp_path / "book", None if (tmp_path / "book").exists() else kept)
        book.add(matches[matches.date == day])
    batch = kept.update(matches)
    assert kn.RatingBook(tmp_path / "book").ratings_.equals(batch.ratings_)
    assert kn.RatingBook(tmp_path / "book").matches().match_id.tolist() == matches.match_id.tolist()


@pytest.mark.parametrize("kind", [kn.KalmanElo, kn.PlayerElo])
def test_raters_with_covariances_and_lineups_can_be_kept_too(kind, tmp_path):
    made = kn.sample_league(teams=6, seasons=1, seed=2)
    matches = kn.read_matches(made.results, made.lineups)
    fitted = kind().fit(matches)
    kn.RatingBook(tmp_path / "b", fitted)
    for day in np.unique(matches.date):
        kn.RatingBook(tmp_path / "b").add(matches[matches.date == day])
    assert kn.RatingBook(tmp_path / "b").ratings_.equals(fitted.ratings_)


def test_fitted_parameters_are_kept(tmp_path):
    matches = league()
    fitted = kn.TeamElo().fit(matches)
    book = kn.RatingBook(tmp_path / "b", fitted)
    assert len(book) == 0
    book.add(matches)
    again = kn.RatingBook(tmp_path / "b")
    assert again.ratings_.equals(fitted.ratings_)
    assert again.rater.parameters_ == fitted.parameters_
    assert np.array_equal(again.predict(matches).probabilities, fitted.predict(matches).probabilities)


def test_a_match_counts_once(tmp_path):
    matches = league()
    book = kn.RatingBook(tmp_path / "b", rater())
    assert book.add(matches[:40]).new == 40
    added = book.add(matches[30:60])
    assert (added.new, added.known, len(book)) == (20, 10, 60)
    assert book.add(matches[:60]).new == 0
    assert kn.RatingBook(tmp_path / "b").ratings_.equals(rater().update(matches[:60]).ratings_)


def test_matches_without_ids_count_once_too(tmp_path):
    table = {
        "date": ["2024-01-01"] * 2,
        "home": ["A", "A"],
        "away": ["B", "B"],
        "home_score": [1, 2],
        "away_score": [0, 0],
    }
    book = kn.RatingBook(tmp_path / "b", rater())
    assert book.add(kn.read_matches(table)).new == 2
    assert book.add(kn.read_matches(table)).known == 2


def test_a_match_that_comes_again_without_its_identifier_is_refused(tmp_path):
    table = {"date": ["2024-01-01", "2024-01-02"], "home": ["A", "C"], "away": ["B", "A"], "result": [1, 0.5]}
    book = kn.RatingBook(tmp_path / "b", rater())
    book.add(kn.read_matches({**table, "match_id": ["m1", "m2"]}))
    with pytest.raises(
        kn.InputError, match=r"1 of 2 matches meets on the day of a match of the book \(A - B on 2024-01-01"
    ):
        book.add(kn.read_matches({**table, "home": ["A", "D"]}))
    assert len(book) == 2


def test_late_results_are_rated_in_their_place(tmp_path):
    matches = league()
    order = np.random.default_rng(4).permutation(len(matches))
    book = kn.RatingBook(tmp_path / "b", rater())
    for part in np.array_split(order, 6):
        book.add(matches[np.sort(part)])
    in_order = matches.to_polars().sort("date", maintain_order=True)["match_id"].to_list()
    assert list(kn.RatingBook(tmp_path / "b").matches().match_id) == in_order
    assert book.ratings_.equals(rater().update(matches).ratings_)
    assert kn.RatingBook(tmp_path / "b").ratings_.equals(book.ratings_)


def test_what_is_no_book_is_said_and_left_alone(tmp_path):
    with pytest.raises(kn.InputError, match="starts one, or RatingBook with a rater"):
        kn.RatingBook(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    (tmp_path / "other").mkdir()
    with pytest.raises(kn.InputError, match=r"is a folder; a rating book is one file"):
        kn.RatingBook(tmp_path / "other", rater())
    (tmp_path / "thesis.tex").write_text("precious" * 100)
    with pytest.raises(kn.InputError, match="is damaged or is no rating book"):
        kn.RatingBook(tmp_path / "thesis.tex", rater())
    assert (tmp_path / "thesis.tex").read_text() == "precious" * 100
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(kn.InputError, match="is not a regular file"):
        kn.RatingBook(tmp_path / "pipe", rater())
    kn.RatingBook(tmp_path / "b", rater())
    with pytest.raises(kn.InputError, match="with other settings"):
        kn.RatingBook(tmp_path / "b", kn.TeamElo(7.0))
    with pytest.raises(kn.InputError, match="holds no matches yet"):
        kn.RatingBook(tmp_path / "b").matches()
    fixture = kn.read_matches({"home": ["A"], "away": ["B"]}, played=False)
    with pytest.raises(kn.InputError, match="without a result"):
        kn.RatingBook(tmp_path / "b").add(fixture)


def test_two_open_books_do_not_lose_each_others_matches(tmp_path):
    matches = league()
    first, second = kn.RatingBook(tmp_path / "b", rater()), kn.RatingBook(tmp_path / "b")
    first.add(matches[:10])
    second.add(matches[10:20])
    assert first.add(matches[:30]).new == 10
    assert kn.RatingBook(tmp_path / "b").ratings_.equals(rater().update(matches[:30]).ratings_)


def test_lineups_travel_through_a_book(tmp_path):
    made = kn.sample_league(teams=4, seasons=1, seed=9)
    some = made.lineups.filter(pl.col("match_id") != made.results["match_id"][3])
    matches = kn.read_matches(made.results, some)
    book = kn.RatingBook(tmp_path / "b", rater())
    book.add(matches[:5])
    book.add(matches[5:])
    kept = kn.RatingBook(tmp_path / "b").matches().lineups
    assert kept is not None and matches.lineups is not None
    assert np.array_equal(kept.offsets, matches.lineups.offsets)
    for k in range(len(matches)):
        assert [kept.names(k, s) for s in (0, 1)] == [matches.lineups.names(k, s) for s in (0, 1)]
    assert np.array_equal(kept.minutes, matches.lineups.minutes)
    assert np.array_equal(kept.starter, matches.lineups.starter)


@pytest.mark.parametrize(
    "kept", [lambda: kn.TeamElo.classic(k=20), lambda: kn.BradleyTerry(ridge=0.1)], ids=["elo", "bradley_terry"]
)
def test_weights_venues_and_margins_travel_through_a_book(kept, tmp_path):
    """Every weight is another, and a book of two tables is rated as one table is; without the weights it is not."""
    table = {
        "date": [f"2024-01-{k:02}" for k in range(1, 13)], "home": list("ABCDABCDABCD"), "away": list("BCDACDABDABC"),
        "home_score": [3, 1, 0, 2, 2, 5, 1, 0, 4, 1, 2, 0], "away_score": [1, 1, 2, 0, 3, 1, 1, 4, 0, 2, 1, 3],
        "weight": [0.5, 2.0, 1.25, 3.0, 0.0, 1.5, 0.75, 2.5, 1.0, 0.25, 4.0, 1.75],
        "neutral": [k % 3 == 0 for k in range(12)], "match_id": [f"m{k}" for k in range(12)],
    }  # fmt: skip
    matches = kn.read_matches(table)
    book = kn.RatingBook(tmp_path / "book", kept())
    book.add(matches[:5])
    book.add(matches[5:])
    for held in (book, kn.RatingBook(tmp_path / "book")):
        for name in ("weight", "neutral", "margin", "result", "date"):
            assert getattr(held.matches(), name).tolist() == getattr(matches, name).tolist(), name
        expected = kept().fit(matches).ratings_.sort("name")["rating"].to_numpy()
        assert held.ratings_.sort("name")["rating"].to_numpy() == pytest.approx(expected, abs=1e-6)
        plain = kept().fit(kn.read_matches(table | {"weight": [1.0] * 12})).ratings_.sort("name")["rating"].to_numpy()
        assert np.abs(plain - expected).max() > 1.0


@pytest.mark.parametrize("folder", [".", "./", "..", "/", "../."])
def test_a_folder_is_no_book_whatever_it_is_called(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for rater in (None, kn.TeamElo.classic(k=20)):
        with pytest.raises(
            kn.InputError, match=r"^\S+ is a folder; a rating book is one file, such as \S*ratings\.db\.$"
        ):
            kn.RatingBook(folder, rater)
    assert list(tmp_path.iterdir()) == []


def test_rating_again_writes_the_rows_that_it_changes(tmp_path, monkeypatch):
    book = kn.RatingBook(tmp_path / "book.db", kn.TeamElo.classic(k=24))
    for day, (home, away) in enumerate([("A", "B"), ("C", "D"), ("A", "B")], 2):
        book.update_one(home, away, "win", date=f"2024-05-0{day}")
    database, written = book._database, []
    many = database.many
    monkeypatch.setattr(
        database, "many", lambda sql, rows: many(sql, written.append((sql, list(rows))) or written[-1][1])
    )
    assert book.update_one("A", "E", "win", match_id="late", date="2024-05-02").new == 1
    assert [{row[1] for row in rows} for sql, rows in written if "INTO slot" in sql] == [{"A", "B", "E"}]
    del written[:]
    book.remove("late")
    found = {sql[:6]: {row[1] for row in rows} for sql, rows in written if " slot " in sql}
    assert found == {"DELETE": {"E"}, "INSERT": {"A", "B"}} and book.check() == []


@pytest.mark.parametrize("again", ["late", "removed"])
def test_rating_again_refuses_a_table_with_a_row_that_no_rater_stores(tmp_path, again):
    book = kn.RatingBook(tmp_path / "book.db", kn.TeamElo.classic(k=24))
    for day in (2, 3, 4):
        book.update_one("A", "B", "win", match_id=f"m{day}", date=f"2024-05-0{day}")
    held = book.ratings_
    with contextlib.closing(sqlite3.connect(tmp_path / "book.db")) as file, file:
        columns = "kind, mean, variance, deviation, games, last_day, more"
        file.execute(f"INSERT INTO slot (name, {columns}) SELECT X'78', {columns} FROM slot LIMIT 1")
    with pytest.raises(kn.InputError, match="The row of b'x' in the table slot holds what no rater stores"):
        book.remove("m3") if again == "removed" else book.update_one("A", "B", "win", date="2024-05-01")
    with contextlib.closing(sqlite3.connect(tmp_path / "book.db")) as file, file:
        file.execute("DELETE FROM slot WHERE name = X'78'")
    assert len(book) == 3 and book.ratings_.equals(held)
