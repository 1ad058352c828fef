"""Names of a visitor's file are text in every download."""

import polars as pl
import pytest
from test_rating_controller import looked


@pytest.mark.parametrize("name", ['=HYPERLINK("http://evil.example")', "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "＝1"])
def test_names_of_a_file_are_text_in_what_is_downloaded(tmp_path, name):
    quoted = '"' + name.replace('"', '""') + '"'
    controller, columns = looked(tmp_path, f"home,away,result\n{quoted},B,1\nB,{quoted},0\n{quoted},B,1\nB,B,1\n")
    controller.rate(columns, "team")
    for table in ("ratings", "histories"):
        controller.write(table, str(tmp_path / "out.csv"))
        written = pl.read_csv(tmp_path / "out.csv")
        assert f"'{name}" in written["name"].to_list() and name not in written["name"].to_list()
        assert written["rating"].dtype == pl.Float64
