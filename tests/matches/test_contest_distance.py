"""How far each entrant of a contest came: read, noted, stored, and never mistaken for the length of a race."""

import numpy as np
import pytest

import kinelo as kn

RACES = {
    "date": ["2024-01-01"] * 4 + ["2024-02-01"] * 3,
    "race": ["r1"] * 4 + ["r2"] * 3,
    "driver": ["Ann", "Bob", "Cid", "Dee", "Cid", "Ann", "Bob"],
    "place": ["1", "2", "DNF", "DNF", "1", "DNF", "DNF"],
    "laps": ["60", "59", "15", "", "80", "82", "x"],
}


def came(contests):
    return dict(zip(zip(contests.to_polars()["contest"], contests.to_polars()["entrant"]), contests.distance.tolist()))


def test_distances_are_parts_of_what_the_winner_did():
    races = kn.read_contests(RACES)
    parts = came(races)
    assert parts["r1", "Ann"] == 1.0 and parts["r1", "Cid"] == 0.25
    assert parts["r1", "Bob"] == pytest.approx(59 / 60)
    assert np.isnan(parts["r1", "Dee"]) and np.isnan(parts["r2", "Bob"])
    assert parts["r2", "Ann"] == 1.0  # further than the winner
    table = races.to_polars()
    assert table["distance"].null_count() == 2 and table.columns.index("distance") == table.columns.index("ended") + 1


def test_what_is_odd_about_distances_is_noted():
    notes = kn.read_contests(RACES).notes
    assert "'laps' says how far who did not finish came, as a part of what the winner did" in notes
    assert "1 entry came further in 'laps' than the winner, such as Ann in row 6; that counts as all the way" in notes
    assert "1 cell is no distance in 'laps', such as 'x': how far these entries came is unknown" in notes
    assert not any("not used" in note for note in notes)


@pytest.mark.parametrize("cells", [[60, 60, 60, 60, 80, 80, 80], [1500] * 7])
def test_the_length_of_a_race_is_not_how_far_everybody_came(cells):
    races = kn.read_contests(RACES | {"laps": cells})
    assert races.distance is None
    assert any("it is how long a contest is, not how far each came" in note for note in races.notes)


def test_lengths_behind_the_winner_are_no_distances():
    races = kn.read_contests(RACES | {"laps": [0, 1.5, 30, 40, 0, 2, 3]})
    assert races.distance is None
    zero = [note for note in races.notes if "anybody who finished" in note]
    assert len(zero) == 1


def test_a_winner_without_a_distance_leaves_it_to_the_next():
    races = kn.read_contests(RACES | {"laps": ["", "60", "15", "30", "", "1", "2"]})
    assert came(races)["r1", "Dee"] == 0.5 and np.isnan(came(races)["r2", "Ann"])
    assert "1 contest has no 'laps' of anybody who finished: how far the others came is unknown" in races.notes


def test_other_names_and_choices():
    named = {("km" if name == "laps" else name): values for name, values in RACES.items()}
    assert came(kn.read_contests(named))["r1", "Cid"] == 0.25
    odd = {("come" if name == "laps" else name): values for name, values in RACES.items()}
    assert kn.read_contests(odd).distance is None
    assert came(kn.read_contests(odd, {"distance": "come"}))["r1", "Cid"] == 0.25
    assert kn.read_contests(RACES, advantages=["laps"]).distance is None
    assert kn.read_contests(named | {"km": [1] * 7}, {"distance": "km"}).distance is None


def test_parts_and_fingerprints_know_distances():
    races = kn.read_contests(RACES)
    assert came(races[1])["r2", "Cid"] == 1.0 and races[1].distance.size == 3
    without = kn.read_contests({name: values for name, values in RACES.items() if name != "laps"})
    assert without.distance is None and "distance" not in without.to_polars().columns
    assert races.source_digest != without.source_digest


def test_rows_of_a_team_and_chunks_keep_distances(tmp_path):
    import polars as pl

    table = pl.DataFrame(RACES).with_columns(pl.Series("laps", [60, 59, 15, 30, 80, 82, 40]))
    table.write_parquet(tmp_path / "races.parquet")
    chunks = list(kn.matches.scan_contests(tmp_path / "races.parquet").chunks(rows=5))
    assert [chunk.distance.size for chunk in chunks] == [4, 3]
    team = {"game": [1] * 4, "team": ["T", "T", "U", "U"], "player": list("abcd"), "laps": [9, 9, 3, 3],
            "place": ["1", "1", "DNF", "DNF"]}  # fmt: skip
    assert kn.read_contests(team, slots=["player"], team="team").distance.tolist() == pytest.approx([1.0, 1 / 3])


def test_who_withdraws_on_the_way_has_started():
    table = {"race": [1] * 5, "driver": list("ABCDE"), "place": ["1", "2", "", "", ""],
             "status": ["Finished", "Finished", "Withdrew", "Withdrew", "Did not qualify"]}  # fmt: skip
    races = kn.read_contests(table | {"laps": [60, 60, 47, 0, 3]})
    assert dict(zip(races.to_polars()["entrant"], races.ended.tolist())) == {"A": 0, "B": 0, "C": 1}
    assert "1 entry withdrew after some 'laps', such as C: that is not finishing" in races.notes
    assert races.distance[2] == pytest.approx(47 / 60)
    for laps in ([60] * 5, [""] * 5):  # the length of the race, and nothing
        assert kn.read_contests(table | {"laps": laps}).sizes.tolist() == [2]
