"""Line-ups beside matches: long tables, list columns, dirt, and slicing."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn

RESULTS = {
    "match_id": ["m1", "m2"],
    "home": ["A", "B"],
    "away": ["B", "A"],
    "result": [1, 0],
    "date": ["2024-01-01", "2024-01-02"],
}
LONG = [
    ("m2", "H", "Bea", 1, 90.0, "GK"),
    ("m1", "A", "Bea", 1, 90.0, "GK"),
    ("m1", "H", "Ann", 1, 60.0, "FW"),
    ("m1", "home", "Amy", 0, None, None),
    ("m2", "A", "Ann", 1, 45.0, "FW"),
]
COLUMNS = ["match_id", "side", "player", "starter", "minutes", "position"]


def long_table(rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def test_long_form():
    lineups = kn.read_matches(RESULTS, long_table(LONG)).lineups
    assert lineups is not None and len(lineups) == 2
    assert [lineups.names(k, side) for k in (0, 1) for side in (0, 1)] == [("Ann", "Amy"), ("Bea",), ("Bea",), ("Ann",)]
    assert lineups.minutes[0] == 60 and np.isnan(lineups.minutes[1])
    assert lineups.starter.tolist() == [1, 0, 1, 1, 1]
    assert [lineups.roles[code] if code >= 0 else None for code in lineups.role] == ["FW", None, "GK", "GK", "FW"]
    assert lineups.known().tolist() == [True, True]


def test_teams_tell_the_side_where_no_side_is_given():
    rows = pl.DataFrame({"match_id": ["m1", "m1", "m2"], "team": ["A", "B", "A"], "player": ["Ann", "Bea", "Ann"]})
    lineups = kn.read_matches(RESULTS, rows).lineups
    assert lineups is not None
    assert [lineups.names(k, side) for k in (0, 1) for side in (0, 1)] == [("Ann",), ("Bea",), (), ("Ann",)]
    assert lineups.known().tolist() == [True, False]


def test_dirty_lineups_are_reported():
    rows = [
        *LONG,
        ("m7", "H", "Zoe", 1, 90.0, None),
        ("m1", "up", "Zoe", 1, 90.0, None),
        ("m1", "H", None, 1, 90.0, None),
        ("m1", "H", "Zoe", 1, -5.0, None),
        ("m2", "H", "Ann", 1, 10.0, None),
        ("m2", "H", "Bea", 1, 10.0, None),
        ("m0", "H", "Bea", 1, 10.0, None),
    ]
    results = {k: [*v, x] for (k, v), x in zip(RESULTS.items(), ["m0", "A", "A", 1, "2024-01-03"])}
    matches = kn.read_matches(results, long_table(rows))
    told = matches.rejected.to_polars().filter(pl.col("table") == "lineups")
    assert dict(told.select("row", "reason").rows()) == {
        5: "player on both sides",
        6: "line-up of an unknown match",
        7: "unreadable side",
        8: "missing player",
        9: "impossible minutes",
        10: "player on both sides",
        11: "player listed twice on one side",
        12: "line-up of a rejected match",
    }
    assert matches.lineups is not None and matches.lineups.names(1, 1) == ()


def test_those_who_did_not_play_have_no_minutes():
    rows = pl.DataFrame(
        {
            "match_id": ["m1"] * 3,
            "side": ["H"] * 3,
            "player": ["a", "b", "c"],
            "minutes": [30.0, None, None],
            "played": [1, 0, 1],
        }
    )
    lineups = kn.read_matches(RESULTS, rows).lineups
    assert lineups is not None
    assert lineups.minutes[:2].tolist() == [30, 0] and np.isnan(lineups.minutes[2])


@pytest.mark.parametrize("text", [False, True])
def test_list_columns(text):
    home, away = [["Ann", "Amy"], ["Bea"]], [["Bea"], ["Ann", "Bea"]]
    table = {
        **RESULTS,
        "home_players": [";".join(x) for x in home] if text else home,
        "away_players": ["|".join(x) for x in away] if text else away,
        "home_minutes": [[90.0, 10.0], [80.0]],
        "away_minutes": [[90.0], [80.0, 70.0]],
    }
    matches = kn.read_matches(table)
    lineups = matches.lineups
    assert lineups is not None
    assert [lineups.names(k, side) for k in (0, 1) for side in (0, 1)] == [("Ann", "Amy"), ("Bea",), (), ("Ann",)]
    assert lineups.minutes.tolist() == [90, 10, 90, 80]
    assert matches.rejected.to_polars().rows() == [("lineups", 2, "player on both sides", "")] * 2


def test_lineups_without_the_needed_columns():
    with pytest.raises(kn.InputError, match="need a match, a side"):
        kn.read_matches(RESULTS, {"match_id": ["m1"], "who": ["Ann"]})


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=2, max_size=24).filter(lambda x: len(x) % 2 == 0), st.data())
def test_slicing_agrees_with_picking_match_by_match(lengths, data):
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    size = int(offsets[-1])
    lineups = kn.matches.Lineups(offsets, np.arange(size, dtype=np.int32), tuple(f"p{k}" for k in range(size)))
    n = len(lineups)
    index = data.draw(
        st.one_of(
            st.builds(slice, st.integers(-n, n), st.integers(-n, n)),
            st.lists(st.integers(0, n - 1), max_size=6).map(lambda x: np.array(x, dtype=int)),
            st.lists(st.booleans(), min_size=n, max_size=n).map(np.array),
        )
    )
    chosen = np.arange(n)[index]
    part = lineups[index]
    assert len(part) == len(chosen)
    for place, match in enumerate(chosen):
        assert [part.names(place, s) for s in (0, 1)] == [lineups.names(match, s) for s in (0, 1)]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["m1", "m2"]), st.sampled_from("HA"), st.sampled_from("xyz")), max_size=14))
def test_repeats_agree_with_counting(rows):
    """Slow twin: a player is on both sides of a match, or has been listed before on this one."""
    table = pl.DataFrame(rows, schema={"match_id": pl.String, "side": pl.String, "player": pl.String}, orient="row")
    expected = {}
    for k, (match, side, player) in enumerate(rows):
        if (match, "A" if side == "H" else "H", player) in rows:
            expected[k + 1] = "player on both sides"
        elif (match, side, player) in rows[:k]:
            expected[k + 1] = "player listed twice on one side"
    told = kn.read_matches(RESULTS, table).rejected
    assert dict(zip(told.row.tolist(), told.reason.tolist())) == expected
