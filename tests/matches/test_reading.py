"""Reading matches: every format, common column names, and every kind of dirt."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn
from kinelo.matches.dates import ORDERED_FORMATS, PLAIN_FORMATS
from kinelo.matches.match_rows import SLOTS, repeated_meetings
from kinelo.matches.names import FEW_ROWS, SMALLEST_TABLE, encode_names

AT_HOME = "there is no column of neutral venues: every match counts as played at the first side's home"
CLEAN = pl.DataFrame(
    {
        "match_id": ["a", "b", "c"],
        "date": ["2024-01-01", "2024-01-05", "2024-01-09"],
        "home_team": ["Ajax", "PSV", "Feyenoord"],
        "away_team": ["PSV", "Feyenoord", "Ajax"],
        "home_score": [2, 0, 1],
        "away_score": [1, 0, 3],
    }
)


def check_clean(matches: kn.matches.Matches) -> None:
    assert matches.teams == ("Ajax", "PSV", "Feyenoord")
    assert matches.home.tolist() == [0, 1, 2]
    assert matches.away.tolist() == [1, 2, 0]
    assert matches.result.tolist() == [1, 0.5, 0]
    assert matches.margin.tolist() == [1, 0, -2]
    assert matches.match_id.tolist() == ["a", "b", "c"]
    assert matches.date.dtype == np.dtype("datetime64[D]")
    assert len(matches.rejected) == 0
    assert matches.notes == (AT_HOME,)


@pytest.mark.parametrize("kind", ["csv", "semicolon", "parquet", "polars", "lazy", "pandas", "pyarrow", "dict"])
def test_formats_agree(kind, tmp_path):
    path = tmp_path / ("m.parquet" if kind == "parquet" else "m.csv")
    source = {
        "csv": lambda: CLEAN.write_csv(path) or path,
        "semicolon": lambda: CLEAN.write_csv(path, separator=";") or str(path),
        "parquet": lambda: CLEAN.write_parquet(path) or path,
        "polars": lambda: CLEAN,
        "lazy": lambda: CLEAN.lazy(),
        "pandas": lambda: CLEAN.to_pandas(),
        "pyarrow": lambda: CLEAN.to_arrow(),
        "dict": lambda: CLEAN.to_dict(as_series=False),
    }[kind]()
    check_clean(kn.read_matches(source))


def test_columns_of_the_matches_can_be_written_by_kernels():
    """Compiled loops know one kind of array: writable and contiguous."""
    for column in ("result", "margin", "neutral", "weight", "home", "away", "date"):
        array = getattr(kn.read_matches(CLEAN.with_columns(weight=pl.lit(2.0), neutral=pl.lit(True))), column)
        assert array.flags.c_contiguous and array.flags.writeable, column


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        (("Date", "HomeTeam", "AwayTeam", "FTHG", "FTAG"), ("13/08/22", "A", "B", 2, 0)),
        (("utc_date", "team1", "team2", "score1", "score2"), ("2022-08-13T15:00:00Z", "A", "B", 2, 0)),
        (("game_date", "home", "away", "result"), ("Aug 13, 2022", "A", "B", "H")),
        (("day", "white", "black", "result"), ("2022.08.13", "A", "B", "1-0")),
        (("date", "model_a", "model_b", "winner"), (20220813, "A", "B", "model_a")),
        (("date", "home", "away", "winner"), ("13.08.2022", "A", "B", "A")),
        (("date", "home", "away", "score"), ("13 August 2022", "A", "B", "2:0")),
    ],
)
def test_common_names_are_understood(columns, values):
    matches = kn.read_matches(pl.DataFrame([dict(zip(columns, values))]))
    assert matches.to_polars().select("date", "home", "away", "result").rows() == [
        (pd.Timestamp("2022-08-13").date(), "A", "B", 1.0)
    ]


def test_years_alone_are_dates_too():
    table = {"date": [1999, 2001], "home": ["A", "A"], "away": ["B", "B"], "result": [1, 0]}
    assert kn.read_matches(table).date.astype(str).tolist() == ["1999-01-01", "2001-01-01"]


def test_every_date_format_reads_what_it_writes():
    day = pd.Timestamp("2003-11-25")
    ordered = [(form.replace("/", sign), order) for order in ORDERED_FORMATS for form in ORDERED_FORMATS[order]
               for sign in "/.-"]  # fmt: skip
    for form, order in [*((form, None) for form in PLAIN_FORMATS), *ordered]:
        table = {"date": [day.strftime(form)], "home": ["A"], "away": ["B"], "result": [1]}
        assert kn.read_matches(table, dates=order).date[0] == np.datetime64("2003-11-25"), form


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1, 0.5, 0], [1, 0, -1]),
        ([1, 0, -1], [1, 0, -1]),
        (["H", "D", "A"], [1, 0, -1]),
        (["1", "X", "2"], [1, 0, -1]),
        (["win", "tie", "loss"], [1, 0, -1]),
        (["1-0", "1/2-1/2", "0-1"], [1, 0, -1]),
        (["A", "draw", "B"], [1, 0, -1]),
        ([0.8, 0.5, 0.1], [0.6, 0, -0.8]),
    ],
)
def test_results_in_words_and_numbers(column, expected):
    matches = kn.read_matches({"home": ["A"] * 3, "away": ["B"] * 3, "result": column})
    assert matches.signed == pytest.approx(expected)
    assert matches.result == pytest.approx((1 + np.array(expected)) / 2)


def test_mapping_overrides_guesses_and_is_checked():
    table = {"home_team": ["A"], "away_team": ["B"], "home_id": [7], "away_id": [8], "result": [1]}
    assert kn.read_matches(table, columns={"home": "home_id", "away": "away_id"}).teams == ("7", "8")
    with pytest.raises(kn.InputError, match="'homme'"):
        kn.read_matches(table, columns={"home": "homme"})
    with pytest.raises(kn.InputError, match="speaks of 'heim'"):
        kn.read_matches(table, columns={"heim": "home_id"})


def test_dirty_rows_are_reported_with_row_and_reason(tmp_path):
    (tmp_path / "dirty.csv").write_text(
        "match_id,date,home,away,home_score,away_score,weight\n"
        "m1,2024-01-05,A,B,1,0,1\n"
        "m2,2024-01-04,A,A,1,0,1\n"
        "m3,yesterday,A,B,1,0,1\n"
        "m4,2024-01-04,A,,1,0,1\n"
        "m5,2024-01-04,A,B,,0,1\n"
        "m6,2024-01-04,A,B,-2,0,1\n"
        "m7,2024-01-04,A,B,one,0,1\n"
        "m1,2024-01-06,B,A,1,0,1\n"
        "m8,2024-01-04,B,A,1,1,-3\n"
        ",2024-01-04,B,A,1,1,1\n"
        "m9,2024-01-04,B,A,1,1,1\n",
        encoding="utf-8",
    )
    matches = kn.read_matches(tmp_path / "dirty.csv", accept_losses=True)
    assert matches.match_id.tolist() == ["m9", "m1"]
    assert matches.row.tolist() == [11, 1]
    assert matches.notes == (
        "9 of 11 rows (82 %) cannot be used, 1 of them for: a side against itself, such as row 2",
        "1 row repeats the match id of an earlier row: it was dropped",
        AT_HOME,
        "the file was not in date order: it was sorted by date",
    )
    assert dict(zip(matches.rejected.row.tolist(), matches.rejected.reason.tolist())) == {
        2: "a side against itself",
        3: "unreadable date",
        4: "missing side",
        5: "missing score",
        6: "impossible score",
        7: "unreadable score",
        8: "duplicate match id",
        9: "impossible weight",
        10: "missing match id",
    }
    matches.rejected.write(tmp_path / "rejects.csv")
    assert pl.read_csv(tmp_path / "rejects.csv").rows()[0] == ("matches", 2, "a side against itself", "")


def test_repeats_without_ids_are_rows_alike_in_every_column():
    table = {
        "date": ["2024-01-01"] * 4,
        "home": ["A"] * 4,
        "away": ["B"] * 4,
        "home_score": [1, 1, 2, 1],
        "away_score": [0, 0, 0, 0],
        "game": [1, 1, 1, 2],
    }
    every = kn.read_matches(table, ordered=True)
    assert every.row.tolist() == [1, 2, 3, 4] and len(every.rejected) == 0
    assert any("1 row is alike an earlier row" in note and "each counts" in note for note in every.notes)
    matches = kn.read_matches(table, drop_repeats=True, ordered=True)
    assert matches.row.tolist() == [1, 3, 4]
    assert matches.rejected.counts() == {"duplicate row": 1}
    assert any("1 row is alike an earlier row" in note and "dropped" in note for note in matches.notes)
    undated = {name: column for name, column in table.items() if name != "date"}
    assert len(kn.read_matches(undated)) == 4
    assert kn.read_matches(undated, drop_repeats=True).row.tolist() == [1, 3, 4]


def test_a_rejected_row_does_not_use_up_its_id():
    table = {"id": ["x", "x"], "home": ["A", "A"], "away": ["B", "B"], "result": [None, 1]}
    assert kn.read_matches(table).row.tolist() == [2]


def test_matches_of_one_day_keep_file_order():
    days = ["2024-01-02", "2024-01-01", "2024-01-02", "2024-01-01", "2024-01-02"]
    matches = kn.read_matches({"date": days, "home": list("abcde"), "away": list("vwxyz"), "result": [1] * 5})
    assert matches.row.tolist() == [2, 4, 1, 3, 5]


def test_result_column_wins_over_scores_and_it_is_said():
    table = {
        "home": list("AAA"),
        "away": list("BBB"),
        "home_score": [1, 2, 0],
        "away_score": [1, 0, 3],
        "outcome": [1, 1, 0],
    }
    matches = kn.read_matches(table)
    assert matches.result.tolist() == [1, 1, 0]
    assert matches.margin.tolist() == [0, 2, -3]
    assert any("in 1 match the result is not what the scores say" in note for note in matches.notes)
    with pytest.raises(kn.InputError, match="contradicts the scores in 3 of 3"):
        kn.read_matches(table | {"outcome": [0, 0, 1]}, columns={"result": "outcome"})


@pytest.mark.parametrize("lost", [[1, 3], [0, 1, 3, 4], [2]])
@pytest.mark.parametrize("named", [False, True])
def test_margins_that_are_never_negative_are_the_winners(lost, named):
    """However many were lost by the side named first; signed margins say the same by themselves."""
    sides = {"date": [f"2024-01-0{day}" for day in range(1, 7)], "home": list("ABCABC"), "away": list("BCABCA")}
    margin, result = [2, 5, 1, 4, 3, 0], [1.0, 1.0, 1.0, 1.0, 1.0, 0.5]
    for k in lost:
        result[k] = 0.0
    signed = [-m if r == 0.0 else m for m, r in zip(margin, result)]
    words = [sides["home" if r else "away"][k] if r != 0.5 else "draw" for k, r in enumerate(result)]
    told = {"winner": words} if named else {"result": result}
    for margins in (margin, signed):
        matches = kn.read_matches(sides | told | {"margin": margins})
        assert matches.result.tolist() == result and matches.margin.tolist() == signed
        said = f"no margin in 'margin' is negative, and the side named first lost {len(lost)} match"
        assert any(said in note for note in matches.notes) == (margins is margin)
        assert not any("result is not what the scores say" in note for note in matches.notes)
    if len(lost) > 1:  # a margin that is negative says that all have signs
        mixed = [*signed[: lost[0]], -signed[lost[0]], *signed[lost[0] + 1 :]]
        doubted = kn.read_matches(sides | told | {"margin": mixed})
        assert doubted.margin.tolist() == mixed
        assert any("in 1 match the result is not what the scores say" in note for note in doubted.notes)
    unknown = kn.read_matches(sides | {"winner": [*words[:4], None, words[5]], "margin": margin}, accept_losses=True)
    assert unknown.margin.tolist() == [m for k, m in enumerate(signed) if k != 4]  # who won by 3 is not known


def test_a_column_that_only_sounds_like_results_gives_way():
    sides = {"home": list("ABAB"), "away": list("CDCD")}
    scored = sides | {"home_score": [20, 3, 7, 7], "away_score": [10, 6, 0, 7], "result": [10, -3, 7, 0]}
    matches = kn.read_matches(scored)
    assert matches.result.tolist() == [1, 0, 1, 0.5] and matches.margin.tolist() == [10, -3, 7, 0]
    assert any("does not hold results: the scores were used" in note for note in matches.notes)
    margins = kn.read_matches(sides | {"result": [10, -3, 7, 0]})
    assert margins.result.tolist() == [1, 0, 1, 0.5] and margins.margin.tolist() == [10, -3, 7, 0]
    assert any("was read as margins" in note for note in margins.notes)


def test_neutral_venues_are_read_from_any_spelling():
    flags = [True, False, None]
    for column in (flags, ["yes", "no", ""], [1, 0, None], ["TRUE", "False", "?"]):
        table = {"home": list("ABC"), "away": list("XYZ"), "result": [1, 1, 1], "neutral": column}
        assert kn.read_matches(table).neutral.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("date,home,away,result\n", "contains no matches"),
        ("date,home,away,result\n2024-01-01,A,A,1\n", "a side against itself: 1"),
        ("date,home,away,home_score,away_score\n2024-01-01,A,B,,\n2024-01-02,B,A,,\n", "missing score: 2"),
        ("date,home,result\n2024-01-01,A,1\n", "no column for the away side; name it with columns={'away': ...}, its"),
        ("date,club,result\n2024-01-01,A,1\n", "home side, nor for the away side; name it with columns={'home': ..., "),
        ("date,home,away\n2024-01-01,A,B\n", "neither scores nor results"),
    ],
)
def test_files_that_cannot_be_used_at_all(content, message, tmp_path):
    path = tmp_path / "results.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(kn.InputError, match=message):
        kn.read_matches(path)


def test_things_that_are_no_tables(tmp_path):
    with pytest.raises(kn.InputError, match="There is no file"):
        kn.read_matches(tmp_path / "nothing.csv")
    with pytest.raises(kn.InputError, match="not from int"):
        kn.read_matches(3)
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04rest of a zip archive")
    with pytest.raises(kn.InputError, match=r"book\.xlsx"):
        kn.read_matches(tmp_path / "book.xlsx")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 but not really")
    with pytest.raises(kn.InputError, match="could not be read as Parquet"):
        kn.read_matches(tmp_path / "bad.parquet")


def test_latin_letters_in_another_encoding_do_not_stop_the_load(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("home,away,result\nK\xf6ln,Mainz,1\n".encode("latin-1"))
    assert kn.read_matches(path).teams == ("Köln", "Mainz")


def test_fixtures_may_lack_results():
    fixtures = kn.read_matches({"home": ["A", "B"], "away": ["B", "A"], "result": [None, 1]}, played=False)
    assert np.isnan(fixtures.result[0]) and fixtures.result[1] == 1
    assert np.isnan(kn.read_matches({"home": ["A"], "away": ["B"]}, played=False).result[0])


def test_slices_masks_and_dates():
    matches = kn.read_matches(CLEAN)
    assert matches[1].match_id.tolist() == ["b"]
    assert matches[-1].match_id.tolist() == ["c"]
    assert matches[np.array([True, False, True])].match_id.tolist() == ["a", "c"]
    assert matches[np.array([2, 0])].match_id.tolist() == ["c", "a"]
    assert matches.before("2024-01-09").match_id.tolist() == ["a", "b"]
    assert matches.since("2024-01-06").match_id.tolist() == ["c"]
    assert len(matches.between("2024-01-01", "2024-01-01")) == 0
    assert matches[1].teams is matches.teams
    assert matches.to_polars()["home"].to_list() == ["Ajax", "PSV", "Feyenoord"]
    with pytest.raises(kn.InputError, match="is not a date"):
        matches.before("soon")


names = st.one_of(st.none(), st.text(alphabet="ab é\t", max_size=3))


@pytest.mark.parametrize("few", [0, FEW_ROWS], ids=["many rows", "few rows"])
@settings(max_examples=60, deadline=None)
@given(pairs=st.lists(st.tuples(names, names), max_size=30))
def test_codes_are_those_of_a_dictionary(few, pairs):
    """Slow twin: a Python dictionary filled column by column."""
    columns = [[pair[side] for pair in pairs] for side in (0, 1)]
    index: dict[str, int] = {}
    expected = [
        [
            index.setdefault(n.replace("\t", " ").strip(), len(index)) if n and n.replace("\t", " ").strip() else -1
            for n in column
        ]
        for column in columns
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kinelo.matches.names.FEW_ROWS", few)
        codes, found = encode_names(*(pl.Series(column, dtype=pl.String) for column in columns))
    assert [code.tolist() for code in codes] == expected
    assert found == tuple(index)


def test_many_names_outgrow_the_table():
    many = [f"team {k}" for k in range(SMALLEST_TABLE)]
    (codes,), found = encode_names(pl.Series(many + many[::-1]))
    assert codes.tolist() == [*range(len(many)), *range(len(many) - 1, -1, -1)]
    assert found == tuple(many)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 2), st.integers(0, 2)), max_size=20), st.booleans())
def test_repeated_meetings_are_those_counted_twice(rows, in_order):
    """Slow twin: counting the triples. Days out of order take another way than days in order."""
    rows = sorted(rows) if in_order else rows
    day, home, away = (np.array([row[k] for row in rows], dtype) for k, dtype in enumerate(("i8", "i4", "i4")))
    assert repeated_meetings(day, home, away, 3).tolist() == [rows.count(row) > 1 for row in rows]


def test_a_day_with_very_many_matches():
    n = 3 * SLOTS
    home = np.arange(n, dtype=np.int32)
    away = home + np.int32(n)
    assert not repeated_meetings(np.zeros(n, np.int64), home, away, 2 * n).any()
    home[-1], away[-1] = home[5], away[5]
    assert np.flatnonzero(repeated_meetings(np.zeros(n, np.int64), home, away, 2 * n)).tolist() == [5, n - 1]


cells = st.sampled_from(["A", "B", "C", "", " A", "?"])
scores = st.sampled_from(["0", "1", "2", "", "-1", "x"])
dates = st.sampled_from(["2024-01-01", "2024-01-02", "2023-12-31", "", "32.13."])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(dates, cells, cells, scores, scores), min_size=1, max_size=25))
def test_no_row_vanishes(rows):
    """Every row is either a match or a reject, once."""
    table = pl.DataFrame(rows, schema=["date", "home", "away", "home_score", "away_score"], orient="row")
    table = pl.concat([table, pl.DataFrame([("2024-02-02", "Y", "Z", "1", "0")], schema=table.schema, orient="row")])
    matches = kn.read_matches(table, accept_losses=True)
    seen = sorted([*matches.row.tolist(), *matches.rejected.row.tolist()])
    assert seen == list(range(1, len(rows) + 2))
    assert np.all(np.diff(matches.day) >= 0)
    assert np.all(matches.home != matches.away)
    assert np.all(np.abs(matches.signed) <= 1)


def test_arrays_of_text_are_read_as_lists_of_text():
    table = {"home": ["A", "B\ud800", "Ö"], "away": ["B", "A", "A"], "result": [1, 0, 1]}
    lists = kn.read_matches(table)
    arrays = kn.read_matches({name: np.array(column) for name, column in table.items()})
    assert arrays.teams == lists.teams and len(arrays) == 2
    assert arrays.home.tolist() == lists.home.tolist() and arrays.notes == lists.notes
