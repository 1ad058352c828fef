"""A list in a sentence is cut where it grows long, and not before: as many as are shown, and one more."""

from __future__ import annotations

import polars as pl
import pytest

import kinelo as kn
from kinelo.matches.columns import listed, note_of_title
from kinelo.matches.dated import Rejects
from kinelo.matches.loading import Sheet, _together
from kinelo.matches.rows import listed_names
from kinelo.matches.same_side import note_of_likely
from kinelo.presentation import Table, words
from refusals import check_refusal


def names(count: int) -> list[str]:
    return [f"N{k}" for k in range(count)]


def quoted(count: int) -> str:
    return ", ".join(f"'N{k}'" for k in range(count))


def likely(count: int) -> str:
    return note_of_likely([(f"N{k}", f"M{k}") for k in range(count)], "entrant")


def rejected(count: int) -> str:
    return Rejects.of("matches", [9] * count, ["missing date"] * count, names(count)).in_words()


JOIN = ": they meet the same opponents and never one another; aliases={'N0': 'M0'} joins them"
SHOWN = "'N0' and 'M0'; 'N1' and 'M1'; 'N2' and 'M2'"
LISTS = {
    "columns, as many as are shown": (lambda: listed(names(20)), quoted(20)),
    "columns, one more": (lambda: listed(names(21)), f"{quoted(20)} and 1 more"),
    "columns, five more": (lambda: listed(names(25)), f"{quoted(20)} and 5 more"),
    "names, none": (lambda: listed_names([]), "none"),
    "names, as many as are shown": (lambda: listed_names(names(8)), quoted(8)),
    "names, one more": (lambda: listed_names(names(9)), f"{quoted(8)}, …"),
    "names, of three that are asked for": (lambda: listed_names(names(4), 3), f"{quoted(3)}, …"),
    "names that may be one, as many as are shown": (
        lambda: likely(3), f"names that may be one entrant count as two ({SHOWN}){JOIN}",
    ),
    "names that may be one, one more": (
        lambda: likely(4), f"names that may be one entrant count as two ({SHOWN} and 1 more){JOIN}",
    ),
    "names that may be one, four more": (
        lambda: likely(7), f"names that may be one entrant count as two ({SHOWN} and 4 more){JOIN}",
    ),
    "what was set aside, as many as are shown": (lambda: rejected(3), f"missing date: 3 ({quoted(3)})"),
    "what was set aside, one more": (lambda: rejected(4), f"missing date: 4 ({quoted(3)}, …)"),
    "words above the header": (
        lambda: note_of_title([["N0", ""], ["N1", " N2 "], [None, "N3"]]),
        f"3 rows above the header, which say: {quoted(3)}, were left out",
    ),
    "a word above the header": (
        lambda: note_of_title([["", "N0"]]), "1 row above the header, which says: 'N0', was left out",
    ),
    "nothing above the header": (lambda: note_of_title([["", " "]]), "1 row above the header, was left out"),
}  # fmt: skip


@pytest.mark.parametrize("case", LISTS)
def test_a_list_is_cut_where_it_grows_long(case):
    call, sentence = LISTS[case]
    assert call() == sentence


@pytest.mark.parametrize(("most", "below"), [(4, ()), (3, ("and 1 more", "last")), (1, ("and 3 more", "last"))])
def test_the_head_of_a_table_says_how_many_more_there_are(most, below):
    table = Table([words("Name", "name")], [{"name": name} for name in names(4)], below=("last",))
    head = table.head(most)
    assert head.cells() == [[name] for name in names(4)[:most]] and head.below == (below or ("last",))


RACES = {"race": [1, 1, 2, 2], "driver": list("ABBA"), "place": [1, 2, 1, 2]}
SLOTS = {
    "a number": (7, "slots must be a list of columns or map kinds to columns, not 7."),
    "a word": ("driver", "slots must be a list of columns or map kinds to columns, not 'driver'."),
    "numbers": (["driver", 7], "slots must be a list of columns or map kinds to columns, not ['driver', 7]."),
    "a kind of a number": ({7: "driver"}, "slots names 7 with ('driver',); a kind has one or several columns."),
    "a kind of numbers": (
        {"car": ["driver", 7]}, "slots names 'car' with ['driver', 7]; a kind has one or several columns.",
    ),
    "a kind of nothing": ({"car": ()}, "slots names 'car' with (); a kind has one or several columns."),
}  # fmt: skip


@pytest.mark.parametrize("case", SLOTS)
def test_slots_that_are_none(case):
    slots, sentence = SLOTS[case]
    check_refusal((lambda: kn.read_contests(RACES, slots=slots), sentence))


@pytest.mark.parametrize(
    ("others", "words"),
    [
        (1, "the workbook has 2 sheets: 'S' was read; 'N0' has other columns and was left out (sheet= chooses one)"),
        (2, "the workbook has 3 sheets: 'S' was read; 'N0', 'N1' have other columns and were left out "
            "(sheet= chooses one)"),
    ],
)  # fmt: skip
def test_sheets_that_were_left_out(others, words):
    first = Sheet("S", pl.DataFrame({"home": ["A"], "away": ["B"]}), (), [])
    strange = [Sheet(f"N{k}", pl.DataFrame({"fee": [k]}), (), []) for k in range(others)]
    table, notes, above = _together([first, *strange])
    assert table.columns == ["home", "away"] and notes == (words,) and above == 0
