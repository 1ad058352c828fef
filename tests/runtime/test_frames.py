"""Tables for pandas: cell by cell those of polars, with and without pyarrow."""

import subprocess
import sys
from datetime import date

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from patience import PATIENCE

MIXED = pl.DataFrame(
    {
        "name": ["A", None, "Č"], "rating": [1500.5, None, -3.0], "matches": [3, 4, None], "count": [1, 2, 3],
        "day": [date(2020, 1, 31), None, date(1890, 5, 1)], "neutral": [True, False, True],
        "known": [True, None, False], "squad": [["a", "b"], [], None],
    }
)  # fmt: skip


def test_every_cell_is_that_of_the_table():
    pd = pytest.importorskip("pandas")
    frame = kn.runtime.to_pandas(MIXED)
    assert list(frame.columns) == MIXED.columns and len(frame) == 3
    for name in MIXED.columns:
        for cell, expected in zip(frame[name], MIXED[name].to_list(), strict=True):
            if expected is None:
                assert cell is None or pd.isna(cell)
            elif isinstance(expected, date):
                assert pd.Timestamp(cell).date() == expected
            else:
                assert cell == expected
    assert frame["count"].dtype == np.int64 and frame["neutral"].dtype == bool and frame["rating"].dtype == float
    assert kn.runtime.to_pandas(MIXED[:0]).shape == (0, len(MIXED.columns))


def test_no_pyarrow_is_needed_and_nothing_of_scikit_learn_imported():
    pytest.importorskip("pandas")
    code = """
import sys
sys.modules["pyarrow"] = None
import kinelo as kn
matches = kn.read_matches({"date": ["2020-01-01"] * 2, "home": ["A", "B"], "away": ["B", "A"], "result": [1, 0]})
rater = kn.TeamElo.classic(k=20).update(matches)
to_pandas = kn.runtime.to_pandas
frames = matches.to_pandas(), rater.predict(matches).to_pandas(), to_pandas(rater.ratings_), to_pandas(matches)
print(*(len(frame) for frame in frames))
assert frames[0]["home"].tolist() == ["A", "B"] and frames[0].equals(frames[3])
assert list(frames[2].columns) == rater.ratings_.columns
rater.score(matches)
assert "sklearn" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE, capture_output=True, text=True)
    assert done.stdout == "2 2 2 2\n"


def test_what_is_no_table_is_refused():
    for wrong in ("ratings", None, 3, {"name": ["A"]}):
        with pytest.raises(kn.InputError, match="takes a table of Kinelo"):
            kn.runtime.to_pandas(wrong)
