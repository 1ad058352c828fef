"""``kinelo book``: what it lists is what the book holds, and what it lists can be taken out."""

import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app

TABLE = {"home": ["A", "B", "C"], "away": ["B", "D", "A"], "result": [1.0, 0.5, 0.0]}


def run(*words) -> str:
    called = CliRunner().invoke(app, ["book", *map(str, words)])
    assert called.exit_code == 0, called.output
    return called.output


@pytest.mark.parametrize("ids", [["x1", "x2", "x3"], None], ids=["ids", "no ids"])
@pytest.mark.parametrize("dates", [["2024-03-01", "2024-03-02", "2024-03-05"], None], ids=["dates", "no dates"])
def test_the_list_names_every_match_so_that_it_can_be_taken_out(ids, dates, tmp_path):
    table = TABLE | ({"match_id": ids} if ids else {}) | ({"date": dates} if dates else {})
    book = kn.RatingBook(tmp_path / "b", kn.TeamElo.classic(k=20))
    book.add(kn.read_matches(table))
    *lines, summary = run(tmp_path / "b", "--list").splitlines()
    rows = [line.split("\t") for line in lines]
    assert [row[2:] for row in rows] == [["A", "B", "1"], ["B", "D", "0.5"], ["C", "A", "0"]]
    assert [row[1] for row in rows] == (dates or ["undated"] * 3)
    if ids:
        assert [row[0] for row in rows] == ids
    span = ", 2024-03-01 to 2024-03-05" if dates else ""
    assert f": 3 matches{span}, 4 rated by TeamElo" in summary and "1970" not in summary
    run(tmp_path / "b", "--remove", rows[1][0])
    left = kn.RatingBook(tmp_path / "b").matches()
    assert [(left.teams[i], left.teams[j]) for i, j in zip(left.home, left.away)] == [("A", "B"), ("C", "A")]
    assert run(tmp_path / "b").count("\n") == 1
