"""What a spreadsheet would run is text in every table that is written; numbers stay numbers."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from kinelo.cli.loading import write_csv
from kinelo.results.spreadsheet import harmless


@settings(max_examples=40)
@given(
    st.lists(st.one_of(st.none(), st.text("=+-@\t\r\n'1.e Ä", max_size=6)), min_size=1, max_size=8),
    st.floats(allow_nan=False),
)
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


def test_what_a_command_writes_is_text(tmp_path):
    write_csv(pl.DataFrame({"name": ["=1+1", "-3"], "rating": [-1.5, 2.0]}), tmp_path / "out" / "ratings.csv")
    assert (tmp_path / "out" / "ratings.csv").read_text() == "name,rating\n'=1+1,-1.5\n-3,2.0\n"
