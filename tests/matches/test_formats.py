"""Whatever people keep matches in: encodings, compression, JSON lines, rows per team, and damaged lines."""

import gzip
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kinelo as kn

TEXT = "date,home,away,home_score,away_score\n2024-01-01,Kähn,Kühn,2,1\n2024-01-02,Kühn,Ōita,0,0\n"
WESTERN = TEXT.replace("Ō", "Ö")


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (TEXT.encode(), None),
        (b"\xef\xbb\xbf" + TEXT.encode(), "UTF-8 with a byte-order mark"),
        (TEXT.encode("utf-16"), "UTF-16"),
        (TEXT.encode("utf-16-le"), "UTF-16"),
        (TEXT.encode("utf-16-be"), "UTF-16"),
        (WESTERN.encode("cp1252"), "Windows-1252"),
        (WESTERN.replace("ä", "\x81").encode("latin-1"), "Latin-1"),
        (TEXT.replace("\n", "\r\n").encode(), None),
        (TEXT.replace("\n", "\r").encode(), None),
        (b"sep=,\n" + TEXT.encode(), None),
        (gzip.compress(TEXT.encode()), None),
    ],
    ids=["utf-8", "mark", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1", "crlf", "cr", "sep", "gzip"],
)
def test_encodings_are_told_and_no_two_names_become_one(raw, told, tmp_path):
    path = tmp_path / ("m.csv.gz" if raw[:2] == b"\x1f\x8b" else "m.csv")
    path.write_bytes(raw)
    matches = kn.read_matches(path)
    assert len(matches) == 2 and len(matches.teams) == 3
    assert matches.teams[1] == "Kühn" and matches.date[0] == np.datetime64("2024-01-01")
    said = [note for note in matches.notes if "read as" in note]
    assert (told is None and not said) or told in said[0]


def test_rows_as_dictionaries_and_json_lines(tmp_path):
    rows = [
        {"home": "A", "away": "B", "result": 1},
        {"home": "B", "away": "C", "result": 0.5, "date": "2024-01-01"},
        {"home": "C", "away": None, "result": 0},
    ]
    (tmp_path / "m.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    (tmp_path / "m.json").write_text(json.dumps(rows))
    undated = [{k: v for k, v in row.items() if k != "date"} for row in rows]
    assert kn.read_matches(undated).result.tolist() == [1, 0.5]
    for source in (rows, tmp_path / "m.jsonl", tmp_path / "m.json"):
        matches = kn.read_matches(source, accept_losses=True)
        assert matches.rejected.row.tolist() == [1, 3] and matches.result.tolist() == [0.5]
    lines = [json.dumps(undated[0]), '{"home": "B", "away', json.dumps(undated[1])]
    (tmp_path / "broken.ndjson").write_text("\n".join(lines))
    some = kn.read_matches(tmp_path / "broken.ndjson", accept_losses=True)
    assert some.row.tolist() == [1, 3] and some.rejected.counts() == {"unreadable line": 1}


def test_a_stray_quote_spoils_its_own_line_only(tmp_path):
    lines = [f"2024-01-{k + 1:02d},A,B,{k % 3},1,fine" for k in range(20)]
    lines[4] = '2024-01-05,A "the first,B,1,1,odd'
    lines[9] = "2024-01-10,A,B,1,1,too,many,fields"
    lines[12] = '2024-01-13,"A",B,1,1,"a comma, here"'
    lines[15] = "2024-01-16,A"
    path = tmp_path / "m.csv"
    path.write_text("date,home,away,home_score,away_score,remark\n" + "\n".join(lines) + "\n")
    matches = kn.read_matches(path)
    told = dict(zip(matches.rejected.row.tolist(), matches.rejected.reason.tolist()))
    assert told == {5: "stray quote in the line", 10: "more fields than columns", 16: "missing side"}
    assert len(matches) == 17 and matches.date[-1] == np.datetime64("2024-01-20")
    assert matches.row.tolist() == [k for k in range(1, 21) if k not in told]


def test_quoted_fields_may_run_over_lines(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text('home,away,result,remark\nA,B,1,"two\nlines"\nB,A,0,one\n')
    assert kn.read_matches(path).result.tolist() == [1, 0]


def test_one_row_per_team():
    rows = {
        "game_id": [1, 1, 2, 2, 3, 4, 4, 4],
        "date": ["2024-01-01"] * 2 + ["2024-01-02"] * 2 + ["2024-01-03"] * 4,
        "team": ["A", "B", "B", "C", "A", "A", "B", "C"],
        "points": [90, 80, 70, 75, 60, 1, 2, 3],
        "home_away": ["away", "home", "home", "away", "home", "", "", ""],
    }
    matches = kn.read_matches(rows, accept_losses=True)
    table = matches.to_polars()
    assert table.select("home", "away", "result", "margin", "neutral").rows() == [
        ("B", "A", 0.0, -10.0, False),
        ("B", "C", 0.0, -5.0, False),
    ]
    assert matches.match_id.tolist() == ["1", "2"]
    assert matches.rejected.counts() == {"not two rows of one match": 4}
    assert any("one row per team: 2 matches" in note for note in matches.notes)
    with pytest.raises(kn.InputError, match="more than two sides"):
        kn.read_matches({"home": ["A"], "away": ["B"], "team1": ["A"], "team2": ["B"], "team3": ["C"], "result": [1]},
                        columns={"home": "team1", "away": "team2"})  # fmt: skip


SIDES = {"home": ["A", "B"], "away": ["B", "A"]}


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame([["A", "B", 1, 2]], columns=["home", "away", "result", "home"]),
        {"home": ["A", "B"], "away": ["B"], "result": [1]},
        {"home": 3, "away": ["B"], "result": [1]},
        [{"home": "A", "away": "B", "result": 1}, 7],
        pd.DataFrame({**SIDES, "result": [[1], [2]]}),
        pd.DataFrame({**SIDES, "result": [object(), object()]}),
        pl.DataFrame({**SIDES, "date": [[1], [2]], "result": [1, 0]}),
        {**SIDES, "home": [["A"], ["B"]], "result": [1, 0]},
        {"home": ["\ud800", "\udfff"], "away": ["B", "B"], "result": [1, 0]},
        {**SIDES, "result": [1, 0], "date": [object(), 3.5]},
        {**SIDES, "result": [1j, 2j]},
        {**SIDES, "result": [1, 0], "date": [10**40, -(10**40)]},
        b"home,away,result",
    ],
)
def test_what_cannot_be_read_is_a_sentence(table):
    with pytest.raises(kn.InputError):
        kn.read_matches(table)


def test_periods_zones_and_mixed_columns():
    frame = pd.DataFrame({**SIDES, "result": [1, 0], "date": pd.period_range("2024-03", periods=2, freq="M")})
    assert kn.read_matches(frame).date.astype(str).tolist() == ["2024-03-01", "2024-04-01"]
    late = pd.to_datetime(["2024-03-01 23:30", "2024-03-02 23:30"]).tz_localize("America/New_York")
    zoned = pd.DataFrame({**SIDES, "result": [1, 0], "date": late})
    text = zoned.assign(date=[stamp.isoformat() for stamp in late])
    for table in (zoned, text, pl.from_pandas(zoned), zoned.astype({"date": object})):
        assert kn.read_matches(table).date.astype(str).tolist() == ["2024-03-01", "2024-03-02"]
    mixed = pd.DataFrame({"home": ["A", 7, "A"], "away": [7.0, "A", 7], "result": ["1", 0.5, 0]})
    matches = kn.read_matches(mixed)
    assert matches.teams == ("A", "7") and matches.result.tolist() == [1, 0.5, 0]
