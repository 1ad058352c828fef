"""Workbooks are read where a library is installed, and said how to where it is not."""

import importlib.util
import json
import zipfile

import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.matches.loading import load_table

KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
CONTENT = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{KIND}.sheet.main+xml"/>{{}}</Types>'
)
SHEET = f'<Override PartName="/xl/worksheets/sheet{{0}}.xml" ContentType="{KIND}.worksheet+xml"/>'
STYLED = f'<Override PartName="/xl/styles.xml" ContentType="{KIND}.styles+xml"/>'
RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
ROWS = [
    ["date", "home", "away", "home_score", "away_score"],
    ["2024-01-01", "Ajax", "PSV", 2, 1],
    ["2024-01-08", "PSV", "Ajax", 0, 0],
]


STYLES = (
    f'<styleSheet xmlns="{MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="{{}}"/></numFmts>'
    '<fonts count="1"><font/></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1">'
    '<xf/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs>'
    "</styleSheet>"
)


def clock(hours, minutes, seconds):
    """A time as a workbook holds it: a part of a day, in a cell of its own format."""
    return (hours * 3600 + minutes * 60 + seconds) / 86400.0


def cell(value):
    if isinstance(value, float):
        return f'<c s="1"><v>{value}</v></c>'
    return f"<c><v>{value}</v></c>" if isinstance(value, int) else f'<c t="inlineStr"><is><t>{value}</t></is></c>'


def workbook(path, *sheets, form="General"):
    """Write the smallest workbook that holds these sheets; ``form`` is the format of cells of fractions."""
    with zipfile.ZipFile(path, "w") as archive:
        numbers = range(1, len(sheets) + 1)
        archive.writestr("[Content_Types].xml", CONTENT.format("".join(SHEET.format(k) for k in numbers) + STYLED))
        archive.writestr("xl/styles.xml", STYLES.format(form))
        office = f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr("_rels/.rels", RELATIONS.format(office))
        listed = "".join(f'<sheet name="S{k}" sheetId="{k}" r:id="r{k}"/>' for k in numbers)
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>'
        )
        links = "".join(
            f'<Relationship Id="r{k}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{k}.xml"/>' for k in numbers
        )
        links += f'<Relationship Id="s" Type="{OFFICE}/styles" Target="styles.xml"/>'
        archive.writestr("xl/_rels/workbook.xml.rels", RELATIONS.format(links))
        for k, rows in zip(numbers, sheets):
            data = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
            archive.writestr(
                f"xl/worksheets/sheet{k}.xml", f'<worksheet xmlns="{MAIN}"><sheetData>{data}</sheetData></worksheet>'
            )
    return path


def test_without_the_library_it_is_said_how(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fastexcel", None)
    with pytest.raises(
        kn.InputError,
        match=r"is a spreadsheet. Spreadsheets \(.xlsx\) need fastexcel. Install .kinelo\[excel\].*, or save it as CSV",
    ):
        kn.read_matches(workbook(tmp_path / "m.xlsx", ROWS))


@pytest.mark.skipif(importlib.util.find_spec("fastexcel") is None, reason="fastexcel is not installed")
def test_a_sheet_of_members_is_said_and_is_what_ratings_begin_with(tmp_path):
    members = [["Member", "Elo"], ["Ajax", 1601], ["PSV", 1402]]
    path = workbook(tmp_path / "club.xlsx", ROWS, members, [["x"], ["y"]])
    matches = kn.read_matches(path)
    assert [note for note in matches.notes if "'S2' holds ratings, which start=" in note and "'S3'" in note]
    rater = kn.TeamElo.classic(k=10, start=path)
    assert rater.one_step_ahead(matches).ratings_before[0].tolist() == [1601.0, 1402.0]


@pytest.mark.skipif(importlib.util.find_spec("fastexcel") is None, reason="fastexcel is not installed")
def test_a_workbook_is_read(tmp_path):
    matches = kn.read_matches(workbook(tmp_path / "m.xlsx", ROWS))
    assert matches.result.tolist() == [1, 0.5] and str(matches.date[1]) == "2024-01-08"
    two = kn.read_matches(workbook(tmp_path / "two.xlsx", ROWS, [["x"], ["y"]]))
    assert any("has 2 sheets: 'S1' was read" in note for note in two.notes)
    (tmp_path / "bad.xlsx").write_bytes((tmp_path / "m.xlsx").read_bytes()[:300])
    with pytest.raises(kn.InputError, match="could not be read as a spreadsheet"):
        kn.read_matches(tmp_path / "bad.xlsx")
    with pytest.raises(kn.InputError, match="is empty"):
        kn.read_matches(workbook(tmp_path / "none.xlsx", []))


needs_fastexcel = pytest.mark.skipif(importlib.util.find_spec("fastexcel") is None, reason="fastexcel is not installed")


@needs_fastexcel
def test_titles_above_the_header_are_left_out_and_said(tmp_path):
    sheet = [["Results of the club"], [], ["season", 2024], *ROWS]
    matches = kn.read_matches(workbook(tmp_path / "m.xlsx", sheet))
    assert matches.result.tolist() == [1, 0.5] and matches.row.tolist() == [1, 2]
    assert any("above the header, which say: 'Results of the club', 'season', '2024'" in n for n in matches.notes)
    text = "Results of the club\n\nwritten,by hand\n" + "\n".join(",".join(map(str, row)) for row in ROWS)
    (tmp_path / "m.csv").write_text(text)
    assert kn.read_matches(tmp_path / "m.csv").result.tolist() == [1, 0.5]


def test_a_header_is_not_sought_among_rows():
    """Sides may be called Home and Away, or like columns."""
    table = "x,y,z\nhome,away,2-1\naway,home,1-1\n"
    matches = kn.read_matches(pl.read_csv(table.encode()), columns={"home": "x", "away": "y", "result": "z"})
    assert matches.result.tolist() == [1, 0.5]


@pytest.mark.parametrize("text", ["x,y,z\nhome,away,2-1\naway,home,1-1\n", "x;y;z\nHome;Team;2-1\nTeam;Home;0-1\n"])
def test_lines_of_a_file_are_no_header(tmp_path, text):
    (tmp_path / "m.csv").write_text(text)
    assert len(kn.read_matches(tmp_path / "m.csv", columns={"home": "x", "away": "y", "result": "z"})) == 2


@needs_fastexcel
def test_sheets_with_the_same_columns_are_read_together(tmp_path):
    later = [ROWS[0], ["2025-01-01", "Ajax", "PSV", 0, 3]]
    path = workbook(tmp_path / "m.xlsx", ROWS, later, [["x"], ["y"]])
    matches = kn.read_matches(path)
    assert matches.result.tolist() == [1, 0.5, 0]
    assert any("2 sheets have the same columns and were read together ('S1', 'S2')" in note for note in matches.notes)
    for sheet in ("S2", 2, "2"):
        assert kn.read_matches(path, sheet=sheet).result.tolist() == [0]
    with pytest.raises(kn.InputError, match=r"has no sheet 'S9'; its sheets are 'S1', 'S2', 'S3'"):
        kn.read_matches(path, sheet="S9")
    with pytest.raises(kn.InputError, match="which this is not"):
        kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]}, sheet=1)


@needs_fastexcel
def test_a_sheet_for_each_race_names_the_contest(tmp_path):
    sheets = [[["driver", "place"], ["Ann", 1], ["Bob", 2]], [["driver", "place"], ["Bob", 1], ["Ann", 2], ["Cid", 3]]]
    assert kn.read_contests(workbook(tmp_path / "r.xlsx", *sheets)).identifiers == ("S1", "S2")


@needs_fastexcel
def test_text_dates_among_dates_minus_signs_and_percentages(tmp_path):
    rows = [["date", "home", "away", "result"], [45292, "A", "B", "75%"], ["8 Jan 2024", "B", "A", "50 %"],
            ["15.01.2024", "A", "B", "0%"]]  # fmt: skip
    matches = kn.read_matches(workbook(tmp_path / "m.xlsx", rows))
    assert matches.date.astype(str).tolist() == ["2024-01-01", "2024-01-08", "2024-01-15"]
    assert matches.result.tolist() == [0.75, 0.5, 0.0]
    lines = kn.read_matches({"home": ["A", "B"], "away": ["B", "A"], "score": ["2−1", "0−3"]})
    assert lines.margin.tolist() == [1, -3]
    signed = kn.read_matches({"home": ["A", "B"], "away": ["B", "A"], "margin": ["−2", "1"]})
    assert signed.result.tolist() == [0, 1]


@needs_fastexcel
def test_merged_dates_stand_for_a_block_of_matches(tmp_path):
    rows = [ROWS[0], ["2024-01-01", "A", "B", 2, 1], ["", "C", "D", 0, 0], ["2024-01-08", "B", "C", 1, 2],
            ["", "D", "A", 0, 1]]  # fmt: skip
    matches = kn.read_matches(workbook(tmp_path / "m.xlsx", rows))
    assert matches.date.astype(str).tolist() == ["2024-01-01"] * 2 + ["2024-01-08"] * 2 and len(matches.rejected) == 0
    gaps = {"date": ["2024-01-01", "2024-01-01", None, "2024-01-08"], "home": list("ABAB"), "away": list("BABA"),
            "result": [1, 0, 1, 0]}  # fmt: skip
    assert kn.read_matches(gaps).rejected.counts() == {"unreadable date": 1}


@needs_fastexcel
@pytest.mark.parametrize("results", ["results.csv", "both.xlsx"])
def test_a_sheet_is_that_of_fixtures_too(tmp_path, results):
    """Of the results where they stand in a workbook, of the fixtures alone where they do not."""
    coming = [["date", "home", "away"], ["2024-02-01", "Ajax", "PSV"]]
    fixtures = workbook(
        tmp_path / "both.xlsx", [["x"], ["y"]], coming if results == "results.csv" else [*ROWS, [*coming[1], "", ""]]
    )
    pl.DataFrame(ROWS[1:], ROWS[0], orient="row").write_csv(tmp_path / "results.csv")
    words = ["predict", str(fixtures), "--results", str(tmp_path / results), "--rater", "team", "--json"]
    coming = [] if results == "both.xlsx" else ["--coming"]
    wrong = CliRunner().invoke(app, ["read", str(fixtures), *coming, "--sheet", "S9"])
    assert "S9" in str(wrong.exception)
    assert CliRunner().invoke(app, ["read", str(fixtures), *coming, "--sheet", "S2"]).exit_code == 0
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 0 and [one["home"] for one in json.loads(said.stdout)["forecasts"]] == ["Ajax"], (
        said.output
    )
    neither = CliRunner().invoke(app, ["read", str(tmp_path / "results.csv"), "--sheet", "S2"])
    assert "chooses a sheet of a workbook" in str(neither.exception)


def test_columns_of_one_name_belong_to_the_side_beside_them(tmp_path):
    """As in a CSV; a column that is called G_1 by itself keeps its name."""
    rows = [
        ["Date", "Visitor", "G", "Home", "G"],
        ["2024-01-01", "Ajax", 2, "PSV", 1],
        ["2024-01-08", "PSV", 0, "Ajax", 3],
    ]
    read = kn.read_matches(workbook(tmp_path / "m.xlsx", rows))
    assert [(one["home"], one["away"], one["result"]) for one in read.to_polars().to_dicts()] == [
        ("PSV", "Ajax", 0.0), ("Ajax", "PSV", 1.0)
    ]  # fmt: skip
    assert any("two columns are called 'G'" in note for note in read.notes)
    named = load_table(workbook(tmp_path / "n.xlsx", [["home", "away", "round_2", "result"], ["A", "B", 7, 1]]))
    assert named.columns == ["home", "away", "round_2", "result"]
