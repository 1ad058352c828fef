"""Titles of contests: British Grand Prix where a file knows a race as 833, in tables, books, forecasts and pages."""

import polars as pl
import pytest

import kinelo as kn
from kinelo.cli import app

RACES = {
    "date": ["2024-01-01"] * 3 + ["2024-02-01"] * 3,
    "race": [833] * 3 + [834] * 3,
    "name": ["British Grand Prix"] * 3 + ["Monaco Grand Prix"] * 3,
    "driver": ["Ann", "Bob", "Cid", "Cid", "Ann", "Bob"],
    "place": [1, 2, 3, 1, 2, 3],
}
TITLES = ("British Grand Prix", "Monaco Grand Prix")


def test_titles_stand_beside_identifiers():
    races = kn.read_contests(RACES)
    assert races.identifiers == ("833", "834") and races.titles == races.labels == TITLES
    assert races[1].titles == TITLES[1:]
    assert races.to_polars()["title"].unique(maintain_order=True).to_list() == list(TITLES)
    assert not any("not used" in note for note in races.notes)


@pytest.mark.parametrize(
    "names",
    [["Ann A.", "Bob B.", "Cid C.", "Cid C.", "Ann A.", "Bob B."], [""] * 6],
    ids=["names of drivers", "empty"],
)
def test_a_column_that_names_no_contests_is_not_used(names):
    races = kn.read_contests(RACES | {"name": names})
    assert races.titles is None and races.labels == ("833", "834") and "title" not in races.to_polars().columns
    assert "columns that were not used: 'name'" in races.notes


def test_one_title_for_two_contests_of_a_day_is_none():
    races = kn.read_contests(RACES | {"date": ["2024-01-01"] * 6, "name": ["Kiel Week"] * 6})
    assert len(races) == 2 and races.titles is None
    asked = kn.read_contests(RACES | {"date": ["2024-01-01"] * 6, "name": ["Kiel Week"] * 6}, {"title": "name"})
    assert asked.titles == ("Kiel Week",) * 2


def test_a_contest_without_a_title_is_known_by_its_identifier():
    assert kn.read_contests(RACES | {"name": [None] * 3 + RACES["name"][3:]}).titles == ("833", TITLES[1])


def test_an_identifier_comes_before_a_name_of_the_race():
    named = {("raceId" if key == "race" else "race" if key == "name" else key): cells for key, cells in RACES.items()}
    races = kn.read_contests(named)
    assert races.identifiers == ("833", "834") and races.titles == TITLES


def test_upsets_forecasts_and_books_say_titles(tmp_path):
    races = kn.read_contests(RACES)
    rater = kn.TeamElo.classic(k=20).fit(races)
    assert set(kn.raters.upsets(rater, races)["title"]) == set(TITLES)
    coming = kn.read_contests(RACES | {"place": [None] * 6}, played=False)
    assert rater.predict(coming).to_polars()["title"].to_list() == RACES["name"]
    book = kn.RatingBook(tmp_path / "b", kn.TeamElo.classic(k=20))
    book.add(kn.read_contests({key: cells for key, cells in RACES.items() if key != "name"})[:1])
    with pytest.warns(kn.KineloWarning, match="1 contest of the book differs"):
        assert book.add(races).changed == 1  # a title that is new is a change
    assert kn.RatingBook(tmp_path / "b").matches().titles == TITLES


def test_pages_and_commands_show_titles(tmp_path, capsys):
    races = kn.read_contests(RACES)
    page = kn.pages.share_page(kn.TeamElo.classic(k=20).fit(races), matches=races)
    assert "<td>Monaco Grand Prix</td>" in page and "<td>834</td>" not in page
    pl.DataFrame(RACES).write_csv(tmp_path / "races.csv")
    pl.DataFrame(RACES | {"place": [""] * 6, "date": ["2025-01-01"] * 6, "race": [901] * 3 + [902] * 3}).write_csv(
        tmp_path / "next.csv"
    )
    command = ["predict", str(tmp_path / "next.csv"), "--results", str(tmp_path / "races.csv")]
    app(command, standalone_mode=False)
    assert "Monaco Grand Prix" in capsys.readouterr().out
