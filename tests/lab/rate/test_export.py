"""What a spreadsheet would run is text in every download; numbers stay numbers."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_rating_desk import looked

from kinelo.lab.rate.export import harmless


@given(st.lists(st.one_of(st.none(), st.text(max_size=6)), min_size=1, max_size=8), st.floats(allow_nan=False))
def test_no_cell_of_text_begins_like_a_formula_and_numbers_are_kept(texts, number):
    table = pl.DataFrame(
        {"name": texts, "value": [number] * len(texts)}, schema={"name": pl.String, "value": pl.Float64}
    )
    safe = harmless(table)
    assert safe["value"].equals(table["value"]) and safe.columns == table.columns
    for before, after in zip(texts, safe["name"]):
        assert after in (before, f"'{before}")
        if after and after[0] in "=+-@\t\r\n":
            float(after)


@pytest.mark.parametrize("name", ['=HYPERLINK("http://evil.example")', "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "＝1"])
def test_names_of_a_file_are_text_in_what_is_downloaded(tmp_path, name):
    quoted = '"' + name.replace('"', '""') + '"'
    desk, columns = looked(tmp_path, f"home,away,result\n{quoted},B,1\nB,{quoted},0\n{quoted},B,1\nB,B,1\n")
    desk.rate(columns, "team")
    for table in ("ratings", "histories"):
        desk.write(table, str(tmp_path / "out.csv"))
        written = pl.read_csv(tmp_path / "out.csv")
        assert f"'{name}" in written["name"].to_list() and name not in written["name"].to_list()
        assert written["rating"].dtype == pl.Float64
