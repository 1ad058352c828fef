"""Circumstances of matches, and where matches came from, are kept through every selection."""

import numpy as np
import pytest

import kinelo as kn

TABLE = {
    "date": ["2024-01-03", "2024-01-01", "2024-01-02", "2024-01-04"],
    "home": list("ABCA"),
    "away": list("BCAB"),
    "result": [1, 0.5, 0, 1],
    "surface": ["clay", "grass", None, " clay"],
    "round": [1, 2, 2, 1],
}


def test_conditions_follow_their_matches():
    matches = kn.read_matches(TABLE, conditions=["surface", "round"])
    assert list(matches.conditions) == ["surface", "round"]
    surface = matches.conditions["surface"]
    assert surface.levels == ("clay", "grass") and surface.codes.tolist() == [1, -1, 0, 0]
    assert matches.conditions["round"].names().to_list() == ["2", "2", "1", "1"]
    for part in (matches.since("2024-01-03"), matches[2:], matches[np.array([2, 3])]):
        assert part.conditions["surface"].names().to_list() == ["clay", "clay"]
    assert matches[-1].conditions["round"].names().to_list() == ["1"]
    assert matches.to_polars()["surface"].to_list() == ["grass", None, "clay", "clay"]
    assert not kn.read_matches(TABLE).conditions


def test_a_condition_that_is_no_column():
    with pytest.raises(kn.InputError, match="'weather' is no column"):
        kn.read_matches(TABLE, conditions=["weather"])


def test_one_table_one_digest(tmp_path):
    matches = kn.read_matches(TABLE)
    matches.to_polars().write_csv(tmp_path / "m.csv")
    again = kn.read_matches(tmp_path / "m.csv")
    digest = kn.read_matches(matches.to_polars()).source_digest
    assert again.source_digest == digest
    assert len({digest, kn.read_matches(TABLE | {"result": [1, 0.5, 0, 0]}).source_digest}) == 2
    assert len({digest, kn.read_matches(TABLE | {"home": list("ABCD")}).source_digest}) == 2
    for part in (again[1:3], again[1:3][1], again.since("2024-01-03")):
        assert part.source_digest == digest
    assert again[2:].row.tolist() == [3, 4]
    assert kn.read_matches(TABLE, conditions=["surface"]).source_digest == matches.source_digest
