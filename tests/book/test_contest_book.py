"""A book of contests: ratings of one run over all of them, whatever the order in which they arrive."""

import pytest

import kinelo as kn
from kinelo.errors import InputError

GIVEN = {"walk": 0.3, "prior_spread": 0.9, "newcomer": -0.2, "regression": 0.1, "retirement": 0.2}


def races():
    return kn.read_contests(
        kn.matches.sample_contests(contests=30, entrants=12, size=6, cars=4, seed=1), slots=["entrant", "car"]
    )


def test_parts_end_where_one_run_does(tmp_path):
    all_of_them = races()
    whole = kn.RankElo(**GIVEN).update(all_of_them).ratings_
    book = kn.RatingBook(tmp_path / "b", kn.RankElo(**GIVEN))
    assert book.add(all_of_them[:10]).new == 10
    added = book.add(all_of_them[5:])
    assert (added.new, added.known, added.changed) == (20, 5, 0)
    again = kn.RatingBook(tmp_path / "b")
    for kept in (book, again):
        assert kept.ratings_.sort("name")["rating"].to_list() == pytest.approx(whole.sort("name")["rating"].to_list())
    assert len(again) == 30 and again.matches().identifiers == all_of_them.identifiers


def test_late_contests_and_removals_are_rated_in_order(tmp_path):
    all_of_them = races()
    book = kn.RatingBook(tmp_path / "b", kn.RankElo(**GIVEN).fit(all_of_them[:5]))
    book.add(all_of_them[10:])
    book.add(all_of_them[:10])
    whole = kn.RankElo(**GIVEN).update(all_of_them).ratings_
    assert book.ratings_.sort("name")["rating"].to_list() == pytest.approx(whole.sort("name")["rating"].to_list())
    book.remove(all_of_them.identifiers[3])
    assert len(book) == 29


def test_a_changed_contest_replaces_what_was_held(tmp_path):
    table = {"date": ["2024-01-01"] * 3, "race": [1] * 3, "driver": list("ABC"), "place": [1, 2, 3]}
    book = kn.RatingBook(tmp_path / "b", kn.RankElo(**GIVEN))
    book.add(kn.read_contests(table))
    with pytest.warns(kn.KineloWarning, match="computed again"):
        assert book.add(kn.read_contests(table | {"place": [3, 2, 1]})).changed == 1
    assert book.ratings_["name"].to_list() == ["C", "B", "A"]
    with pytest.raises(InputError, match="contests must be Contests"):
        book.add(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]}))
    with pytest.raises(InputError, match="The book rates driver"):
        book.add(races())
