"""Names at one boundary, aliases, matches that were not played, and everything that was assumed."""

import numpy as np
import pandas as pd
import pytest

import kinelo as kn


def told(matches: kn.Matches, words: str) -> bool:
    return any(words in note for note in matches.notes)


def test_a_gap_among_numbers_makes_no_second_team(tmp_path):
    frame = pd.DataFrame({"home": [1, 2, None], "away": [2, 1, 1], "result": [1, 0, 1], "id": [10, None, 12]})
    matches = kn.read_matches(frame, columns={"match_id": "id"}, accept_losses=True)
    assert matches.teams == ("1", "2") and matches.match_id.tolist() == ["10"]
    assert matches.rejected.counts() == {"missing side": 1, "missing match id": 1}
    frame.drop(columns="id").to_csv(tmp_path / "m.csv", index=False)
    assert kn.read_matches(tmp_path / "m.csv").teams == ("1", "2")


def test_a_player_called_null_is_one_where_it_plays_as_a_side_does():
    home, away = ["Ann", "NULL", "Bob", "none"], ["NULL", "Bob", "none", "Ann"]
    table = {"date": [f"2024-01-0{k}" for k in (1, 2, 3, 3)], "home": home, "away": away, "result": [1, 0, 0.5, 1]}
    matches = kn.read_matches(table)  # none plays twice on the third day
    assert set(matches.teams) >= {"Ann", "Bob", "NULL"} and len(matches) == 2
    assert matches.rejected.counts() == {"a name that stands for none": 2}
    assert [note for note in matches.notes if "counts as one" in note] == [
        "'NULL' stands where names stand and counts as one; leave the cell empty where there is none"
    ]
    lost = kn.read_matches(table | {"home": ["Ann", "Cid", "Bob", "Bob"]}, accept_losses=True)  # a bye: always away
    assert lost.rejected.counts() == {"a name that stands for none": 2}
    undated = {name: column for name, column in table.items() if name != "date"}
    with pytest.raises(kn.InputError, match="all 4 rows were rejected"):
        kn.read_matches(undated)


def test_names_that_stand_for_none_are_reported():
    names = ["A", "NA", "nan", "-", None, float("nan"), "B"]
    matches = kn.read_matches({"home": names, "away": ["C"] * 7, "result": [1] * 7}, accept_losses=True)
    assert matches.to_polars()["home"].to_list() == ["A", "B"]
    assert matches.rejected.counts() == {"a name that stands for none": 3, "missing side": 2}
    named = kn.read_matches({"home": ["NA"], "away": ["SA"], "result": [1]}, aliases={"NA": "Namibia"})
    assert named.teams == ("Namibia", "SA")


def test_spellings_are_noted_and_aliases_join(tmp_path):
    table = {"home": ["Ajax", "AJAX", "Bombay"], "away": ["Real  Madrid", "Real Madrid", "Ajax"], "result": [1, 0, 1]}
    matches = kn.read_matches(table, accept_losses=True)
    assert len(matches.teams) == 5
    assert told(matches, "'Ajax' and 'AJAX'; 'Real  Madrid' and 'Real Madrid'")
    (tmp_path / "aliases.csv").write_text("old,new\nAJAX,Ajax\nBombay,Mumbai\nNobody,Somebody\n")
    for aliases in (tmp_path / "aliases.csv", {"AJAX": "Ajax", "Bombay": "Mumbai", "Nobody": "Somebody"}):
        joined = kn.read_matches(table, aliases=aliases)
        assert joined.teams[0] == "Ajax" and "Mumbai" in joined.teams and len(joined.teams) == 4
        assert told(joined, "2 names were replaced by their aliases: 'AJAX', 'Bombay'")
        assert told(joined, "1 alias met no name: 'Nobody'")
    lineups = {"match_id": ["3"], "team": ["Bombay"], "player": ["Ann"]}
    with_players = kn.read_matches(table, lineups, aliases={"Bombay": "Mumbai"})
    assert with_players.lineups is not None and with_players.lineups.names(2, 0) == ("Ann",)


@pytest.mark.parametrize("aliases", [{"A": "B", "B": "A"}, {"A": ""}, {"": "A"}])
def test_aliases_that_lead_nowhere(aliases):
    with pytest.raises(kn.InputError):
        kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]}, aliases=aliases)


def test_forfeits_and_abandoned_matches_are_told_apart():
    status = ["FT", "Walkover", "abandoned", "", "AET", "Postponed", "awarded"]
    table = {"home": ["A"] * 7, "away": ["B"] * 7, "home_score": [3] * 7, "away_score": [0] * 7, "status": status}
    matches = kn.read_matches(table, accept_losses=True)
    assert matches.row.tolist() == [1, 4, 5]
    assert matches.rejected.counts() == {
        "forfeit or awarded match": 2,
        "match not played to its end": 1,
        "match not played yet": 1,
    }
    lines = kn.read_matches(
        {"home": ["A"] * 3, "away": ["B"] * 3, "score": ["2-1", "w/o", "abandoned"]}, accept_losses=True
    )
    assert lines.rejected.reason.tolist() == ["forfeit or awarded match", "match not played to its end"]
    flagged = kn.read_matches({"home": ["A"] * 3, "away": ["B"] * 3, "result": [1, 1, 1], "forfeit": [None, "V", "0"]})
    assert flagged.row.tolist() == [1, 3]


def test_score_lines_beyond_normal_time():
    lines = ["2-1 aet", "3-3 (4-2 pens)", "1-1, 5-4 p", "0:2", "2-1 (1-0)", "4-3 OT", "1–1 (a.e.t.)", "6-4 6-"]
    matches = kn.read_matches({"home": ["A"] * 8, "away": ["B"] * 8, "score": lines})
    assert matches.result.tolist() == [1, 0.5, 0.5, 0, 1, 1, 0.5]
    assert matches.margin.tolist() == [1, 0, 0, -2, 1, 1, 0]
    assert told(matches, "2 matches went to a shoot-out: they count as drawn")
    assert told(matches, "3 scores include extra time")
    assert matches.rejected.row.tolist() == [8]


def test_endless_margins_are_rejected():
    table = {"home": ["A"] * 3, "away": ["B"] * 3, "margin": [2.0, np.inf, -np.inf]}
    assert kn.read_matches(table, accept_losses=True).rejected.counts() == {"impossible margin": 2}
    scores = {"home": ["A"] * 2, "away": ["B"] * 2, "home_score": ["1", "inf"], "away_score": ["0", "inf"]}
    assert kn.read_matches(scores).rejected.counts() == {"impossible score": 1}


def test_what_is_assumed_is_said():
    table = {
        "home": ["A", "A"],
        "away": ["B", "C"],
        "home_score": [1, 2],
        "away_score": [0, 0],
        "gender": ["M", "F"],
        "crowd": [100, 200],
    }
    matches = kn.read_matches(table, accept_losses=True)
    assert told(matches, "every match counts as played at the first side's home")
    assert told(matches, "columns that were not used: 'gender', 'crowd'")
    assert told(matches, "1 name plays in more than one 'gender' (M, F) and counts as one side")
    # A column for each side says who plays, not in which division the match is.
    sided = {**table, "home_gender": ["M", "M"], "away_gender": ["F", "M"]}
    del sided["gender"]
    assert not told(kn.read_matches(sided, accept_losses=True), "play in more than one")
    del sided["away_gender"]
    alone = kn.read_matches({**sided, "home_gender": ["M", "F"]}, accept_losses=True)
    assert not told(alone, "play in more than one 'away_gender'")
    assert told(matches, "columns={'group': 'gender'}")
    quiet = kn.read_matches(table | {"neutral": [True, False]}, conditions=["gender", "crowd"])
    assert quiet.notes == ("there is no date column: matches count in the order of the file",)


def test_repeated_ids_are_counted_in_the_notes():
    matches = kn.read_matches({"id": [1, 2, 2, 2], "home": ["A"] * 4, "away": ["B"] * 4, "result": [1, 0, 0, 1]})
    assert len(matches) == 2 and told(matches, "2 rows repeat the match id")


def test_a_million_looks_stay_short():
    matches = kn.read_matches({"date": ["2024-01-01", "2024-02-01"], "home": ["<b>", "B"], "away": ["B", "C"],
                               "result": [1, 0.5], "surface": ["clay", "grass"]}, conditions=["surface"])  # fmt: skip
    assert repr(matches) == "Matches: 2 of 3 sides, 2024-01-01 to 2024-02-01, conditions surface"
    assert "&lt;b&gt;" in matches._repr_html_() and "<b>" not in matches._repr_html_()
    assert repr(matches[:0]) == "Matches: none"
    assert matches.to_pandas()["surface"].tolist() == matches.to_arrow()["surface"].to_pylist() == ["clay", "grass"]
