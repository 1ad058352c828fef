"""``kinelo book check`` and ``kinelo book export``: matches and contests, in a file and in a server."""

from __future__ import annotations

import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app

RATERS = {
    "matches": lambda: kn.TeamElo.classic(k=24, ties=0.3),
    "contests": lambda: kn.RankElo(walk=0.3, prior_spread=0.9, newcomer=-0.2, regression=0.1),
}
SAID = {
    "matches": [("A", "B", "win"), ("B", "C", "draw"), ("C", "A", "loss"), ("D", "A", "win")],
    "contests": [(["A", "B", "C"],), (["C", "D"],), (["B", "A", "D", "C"],), (["D", "A"],)],
}


def run(*words) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["book", *map(str, words)], catch_exceptions=False)
    return done.exit_code, done.output


@pytest.fixture
def book(kind, address):
    book = kn.RatingBook(address, RATERS[kind]())
    for k, said in enumerate(SAID[kind]):
        book.update_one(*said, match_id=f"m{k}", date=f"2024-05-0{k + 1}")
    return book


@pytest.mark.parametrize("kind", RATERS)
def test_a_book_is_checked_and_what_is_wrong_is_named(kind, book):
    assert run("check", book.path) == (0, f"{book.path}: 4 {kind}, every rating is that of one run over all of them.\n")
    with book._database.transaction():
        book._database.run("UPDATE slot SET mean = mean + 0.001 WHERE name = 'B'")
    code, said = run("check", book.path)
    assert code == 1 and f"The row of 'B' ({'side' if kind == 'matches' else 'entrant'}) differs" in said
    assert "1 of its rows are not right" in said and "'A'" not in said


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("kind", RATERS)
def test_what_is_exported_is_what_the_book_holds(kind, ending, book, tmp_path):
    target, table = tmp_path / f"out.{ending}", tmp_path / f"ratings.{ending}"
    read = pl.read_csv if ending == "csv" else pl.read_parquet
    assert run("export", book.path, target)[0] == 0
    rows = read(target)
    again = kn.read_matches(rows) if kind == "matches" else kn.read_contests(rows)
    rater = RATERS[kind]()
    rater.update(again)
    assert rater.ratings_.equals(book.ratings_) and len(again) == 4
    assert run("export", book.path, table, "--ratings")[0] == 0
    found = read(table)
    assert found["name"].to_list() == book.ratings_["name"].to_list()
    assert found["rating"].to_list() == pytest.approx(book.ratings_["rating"].to_list(), abs=1e-6)
    with pytest.raises(kn.InputError, match=r"neither in .csv nor in .parquet"):
        run("export", book.path, tmp_path / "out.txt")
