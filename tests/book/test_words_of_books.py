"""What a book says of a table that is added, and what it keeps of ratings at a milestone."""

import datetime
import warnings
from types import SimpleNamespace

import polars as pl
import pytest

import kinelo as kn
from kinelo.book.match_ledger import Entry
from kinelo.book.refitting import rating_rows

MATCHES, CONTESTS = (
    SimpleNamespace(table=one, noun=noun) for one, noun in (("match", "matches"), ("contest", "contests"))
)


def test_what_is_not_plain_about_an_addition_is_told_with_its_numbers():
    assert Entry([], [], 3).sentences(MATCHES) == [] and Entry([], [], 3).nothing
    entry = Entry([1], [1] * 1234, 5, first_change="2024-05-03", split_days=12, named={str(k): "" for k in range(7)},
                  renamed=("Monza of 2024-05-01", "x", "y"))  # fmt: skip
    assert entry.sentences(CONTESTS) == [
        "1,234 contests of the book differ in this table: they were changed, and the ratings computed again from "
        "2024-05-03 on.",
        "7 contests that the book held without an identifier are those of this table: they are known by its "
        "identifiers from now on.",
        "Monza of 2024-05-01: the book holds a contest of that name on another day, more than a month away. They are "
        "two contests, and so are 2 more; the later one is known by its name and day.",
        "On 12 days sides play in this table and in one added before: such matches are rated in the order in which the "
        "tables arrived, which one table for the whole day might not share.",
    ]
    one = Entry([], [1], 5, first_change="2024-05-03", split_days=1, named={"a": ""}, renamed=("Monza of 2024-05-01",))
    assert [said.split(",")[0].split(" is one")[0] for said in one.sentences(MATCHES)] == [
        "1 match of the book differs in this table: it was changed", "1 match that the book held without an identifier",
        "Monza of 2024-05-01: the book holds a contest of that name on another day",
        "On 1 day sides play in this table and in one added before: such matches are rated in the order in which the "
        "tables arrived",
    ]  # fmt: skip
    assert "They are two contests; the later one" in one.sentences(MATCHES)[2] and not one.nothing
    assert [Entry(*parts, 0).nothing for parts in (([1], []), ([], [1]), ([], []))] == [False, False, True]


@pytest.mark.parametrize(("sides", "days"), [(("A", "C"), 2), (("X", "Y"), 0), (("X", "B"), 1)])
def test_days_on_which_sides_play_in_two_tables_are_counted(sides, days, tmp_path):
    """A plays on the 1st and the 2nd, B on the 1st alone; on the 9th nobody who has played before."""
    book = kn.RatingBook(tmp_path / "x.db", kn.TeamElo.classic(k=20))
    first = {"date": ["2024-05-01", "2024-05-02"], "home": ["A", "A"], "away": ["B", "D"], "result": [1.0, 0.0]}
    book.add(kn.read_matches(first | {"match_id": ["a", "b"]}))
    table = {"date": ["2024-05-01", "2024-05-02", "2024-05-09"], "home": [sides[0]] * 2 + ["A"],
             "away": [sides[1]] * 2 + ["D"], "result": [0.5, 1.0, 0.0], "match_id": ["c", "d", "e"]}  # fmt: skip
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        book.add(kn.read_matches(table))
    said = [str(one.message) for one in caught if "sides play in this table" in str(one.message)]
    assert len(said) == bool(days)
    assert not days or said[0].startswith(
        f"On {days} day{'s' * (days > 1)} sides play in this table and in one added before"
    )


def test_rows_of_a_milestone_are_placed_by_kind_and_know_who_has_no_doubt():
    day = datetime.date
    table = pl.DataFrame({
        "kind": ["car", "driver", "car", "car"], "name": ["A", "B", "C", "D"], "rating": [1700, 1650, 1600, 1500],
        "uncertainty": [12.5, None, float("nan"), 30.0], "matches": [7, None, 3, 2],
        "last_played": [day(2024, 5, 3), day(2024, 5, 2), None, day(2024, 5, 1)],
    })  # fmt: skip
    rater = SimpleNamespace(ratings_=table)
    assert rating_rows(rater) == {
        ("car", "A"): (1, 1700.0, 12.5, 7), ("driver", "B"): (1, 1650.0, None, 0), ("car", "C"): (2, 1600.0, None, 3),
        ("car", "D"): (3, 1500.0, 30.0, 2),
    }  # fmt: skip
    since = pl.Series([day(2024, 5, 2)]).to_numpy().astype("datetime64[D]")[0]
    assert list(rating_rows(rater, since)) == [("car", "A"), ("driver", "B")]
    plain = SimpleNamespace(ratings_=table.drop("kind", "uncertainty"))
    assert rating_rows(plain)["side", "D"] == (4, 1500.0, None, 2)
