"""Ratings that a file of matches states beside its sides: said, and begun with where they are asked for."""

import polars as pl
import pytest

import kinelo as kn
from kinelo.matches.columns import rating_columns
from kinelo.raters.start import read_start

GAMES = {
    "Date": ["2024-03-02", "2024-03-01", "2024-03-05", "2024-03-09"],
    "White": ["Anna", "Ben", "Anna", "Cleo"],
    "Elo White": [1712, 1533, 1720, None],
    "Black": ["Ben", "Cleo", "Cleo", "Ben"],
    "Elo Black": ["1529", "", "0", "1540"],
    "Result": ["1-0", "1/2-1/2", "0-1", "1-0"],
}


@pytest.mark.parametrize(
    ("first", "second", "sides"),
    [
        ("WhiteElo", "BlackElo", ("White", "Black")),
        ("rating_a", "rating_b", ("player_a", "player_b")),
        ("home_elo", "away_elo", ("home", "away")),
        ("winner_rating", "loser_rating", ("winner", "loser")),
        ("club_x rating", "club_y rating", ("club_x", "club_y")),
        ("DWZ 1", "DWZ 2", ("Spieler1", "Spieler2")),
    ],
)
def test_columns_of_ratings_are_recognised_by_their_side(first, second, sides):
    found = dict(zip(("home", "away"), sides))
    assert rating_columns([second, "date", first, *sides], found) == (first, second)
    assert rating_columns([first, *sides], found) is None
    assert rating_columns([f"{first}_after", second, *sides], found) is None


def test_a_file_that_states_ratings_says_so_and_is_taken_to_start_from(tmp_path):
    path = tmp_path / "games.csv"
    pl.DataFrame(GAMES, strict=False).write_csv(path)
    matches = kn.read_matches(path)
    notes = [note for note in matches.notes if "'Elo White' and 'Elo Black' state ratings" in note]
    assert len(notes) == 1 and "start=" in notes[0]
    assert not any("columns that were not used" in note for note in matches.notes)
    # The first rating of each side in order of date: Ben's is that of the first of March, and Cleo never has one.
    start = read_start(path)
    assert dict(zip(start.names, start.rating.tolist())) == {"Ben": 1533.0, "Anna": 1712.0}
    rated = kn.TeamElo.classic(k=20, start=path).update(matches)
    begun = kn.TeamElo.classic(k=20, start={"Ben": 1533.0, "Anna": 1712.0}).update(matches)
    assert rated.ratings_["rating"].to_list() == begun.ratings_["rating"].to_list()


def test_a_table_without_ratings_is_refused_as_before():
    with pytest.raises(kn.InputError, match="start has no column 'rating'"):
        read_start({"name": ["A"], "points": [3]})
