"""A book of contests: ratings of one run over all of them, whatever the order in which they arrive."""

import pytest

import kinelo as kn
from kinelo.errors import InputError

GIVEN = {
    "walk": 0.3,
    "prior_spread": 0.9,
    "newcomer": -0.2,
    "regression": 0.1,
    "retirement": 0.2,
    "newcomer_follows": 0.7,
    "contest_walk": 0.1,
}


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


def test_a_book_hands_out_arrays_as_a_table_does(tmp_path):
    """Compiled loops know one kind of array, and would be compiled again for another."""
    all_of_them, book = races(), kn.RatingBook(tmp_path / "b", kn.RankElo(**GIVEN))
    book.add(all_of_them)
    for name in ("place", "ended", "weight", "first", "entrant"):
        held, read = (getattr(one, name) for one in (book.matches(), all_of_them))
        assert (held.dtype, held.flags.writeable) == (read.dtype, read.flags.writeable), name


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
    with pytest.raises(InputError, match="matches of two sides, not contests"):
        book.add(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]}))
    with pytest.raises(InputError, match="The book rates driver"):
        book.add(races())


def test_plain_elo_keeps_a_book_of_contests_or_of_matches(tmp_path):
    """The first table says which of the two it is."""
    contests = kn.read_contests(kn.matches.sample_contests(contests=30, entrants=12, size=6, seed=1))
    whole = kn.TeamElo.classic(k=20).fit(contests).ratings_
    book = kn.RatingBook(tmp_path / "b", kn.TeamElo.classic(k=20))
    assert book.noun == "matches"
    book.add(contests[10:])
    assert book.noun == "contests" and repr(book).endswith("20 contests, ClassicElo")
    book.add(contests[:12])
    again = kn.RatingBook(tmp_path / "b")
    for kept in (book, again):
        assert kept.noun == "contests" and len(kept) == 30
        assert kept.ratings_.equals(whole)
        assert kept.predict_one(["P1", "P2", "P3"]).win.sum() == pytest.approx(1.0)
        with pytest.raises(InputError, match="matches of two sides, not contests"):
            kept.add(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]}))
    matches = kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]})
    other = kn.RatingBook(tmp_path / "m", kn.TeamElo.classic(k=20))
    other.add(matches)
    for kept in (other, kn.RatingBook(tmp_path / "m")):
        assert kept.noun == "matches"
        with pytest.raises(InputError, match="contests of many entrants"):
            kept.add(contests)


def season(year, names=("1", "2"), places="ABC"):
    rows = [(f"{year}-0{3 + k}-01", name, driver, place + 1) for k, name in enumerate(names)
            for place, driver in enumerate(places)]  # fmt: skip
    columns = dict(zip(("date", "race", "driver", "place"), map(list, zip(*rows))))
    return kn.read_contests(columns)


def test_a_name_that_returns_next_season_is_another_contest(tmp_path):
    book = kn.RatingBook(tmp_path / "b", kn.RankElo(**GIVEN))
    book.add(season(2022))
    with pytest.warns(kn.KineloWarning, match="1 of 2023-03-01: the book holds a contest of that name .* 1 more"):
        assert book.add(season(2023)).new == 2
    assert book.matches().identifiers == ("1", "2", "1 on 2023-03-01", "2 on 2023-04-01")
    for year in (2022, 2023):
        assert book.add(season(year)).known == 2
    both = {"date": ["2022-03-01"] * 2 + ["2023-03-01"] * 2, "race": ["1"] * 4, "driver": list("ABAB")}
    whole = kn.read_contests(both | {"place": [1, 2, 1, 2]})
    with pytest.warns(kn.KineloWarning, match="computed again"):
        added = book.add(whole)  # one file of both seasons, where C is missing
    assert (added.new, added.changed, len(book)) == (0, 2, 4)


def test_contests_named_by_their_day_are_not_joined(tmp_path):
    book = kn.RatingBook(tmp_path / "b", kn.RankElo(**GIVEN))
    for day in ("2024-03-01", "2024-03-08"):
        table = {"date": [day] * 2, "event": [f"Club night on {day}"] * 2, "player": ["A", "B"], "place": [1, 2]}
        assert book.add(kn.read_contests(table)).new == 1
    assert len(book) == 2


DNF = {"date": ["2024-01-01"] * 3 + ["2024-02-01"] * 3, "race": [1] * 3 + [2] * 3, "driver": list("ABCBAC"),
       "place": ["1", "2", "DNF"] * 2, "laps": [50, 49, 10, 60, "", 45]}  # fmt: skip


def test_distances_are_kept_and_a_book_without_them_is_read(tmp_path):
    """A book says nothing of distances where none is known."""
    given = GIVEN
    told = kn.read_contests(DNF)
    book = kn.RatingBook(tmp_path / "b", kn.RankElo(**given))
    book.add(told[:1])
    book.add(told)
    again = kn.RatingBook(tmp_path / "b")
    assert again.matches().distance.tolist() == pytest.approx(told.distance.tolist(), nan_ok=True)
    whole = kn.RankElo(**given).update(told).ratings_
    assert again.ratings_["rating"].to_list() == pytest.approx(whole["rating"].to_list())
    untold = kn.read_contests({name: cells for name, cells in DNF.items() if name != "laps"})
    old = kn.RatingBook(tmp_path / "old", kn.RankElo(**given))
    old.add(untold)
    assert kn.RatingBook(tmp_path / "old").matches().distance is None
    with pytest.warns(kn.KineloWarning, match="computed again"):
        assert kn.RatingBook(tmp_path / "old").add(told).changed == 2
    late = kn.RatingBook(tmp_path / "old")
    assert late.ratings_["rating"].to_list() == pytest.approx(whole["rating"].to_list())
