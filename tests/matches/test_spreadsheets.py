"""Workbooks are read where a library is installed, and said how to where it is not."""

import importlib.util
import zipfile

import pytest

import kinelo as kn

KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
CONTENT = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{KIND}.sheet.main+xml"/>{{}}</Types>'
)
SHEET = f'<Override PartName="/xl/worksheets/sheet{{0}}.xml" ContentType="{KIND}.worksheet+xml"/>'
RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
ROWS = [
    ["date", "home", "away", "home_score", "away_score"],
    ["2024-01-01", "Ajax", "PSV", 2, 1],
    ["2024-01-08", "PSV", "Ajax", 0, 0],
]


def cell(value):
    return f"<c><v>{value}</v></c>" if isinstance(value, int) else f'<c t="inlineStr"><is><t>{value}</t></is></c>'


def workbook(path, *sheets):
    """Write the smallest workbook that holds these sheets."""
    with zipfile.ZipFile(path, "w") as archive:
        numbers = range(1, len(sheets) + 1)
        archive.writestr("[Content_Types].xml", CONTENT.format("".join(SHEET.format(k) for k in numbers)))
        office = f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr("_rels/.rels", RELATIONS.format(office))
        listed = "".join(f'<sheet name="S{k}" sheetId="{k}" r:id="r{k}"/>' for k in numbers)
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>'
        )
        links = "".join(
            f'<Relationship Id="r{k}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{k}.xml"/>' for k in numbers
        )
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
