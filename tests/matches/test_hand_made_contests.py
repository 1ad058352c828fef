"""Tables of contests as people keep them, each with what must become of it: read so, set aside so, or asked about."""

import polars as pl
import pytest

import kinelo as kn
from kinelo.errors import InputError
from kinelo.matches.shapes import are_contests


def shown(contests):
    """Contests in order, each with its entrants in order of places."""
    table = contests.to_polars()
    return {
        contest: dict(zip(part["entrant"], part["place"]))
        for (contest,), part in table.group_by(["contest"], maintain_order=True)
    }


def one(column, cells, **more):
    """One race of entrants A, B, C, …, with these cells."""
    return {"race": ["r"] * len(cells), "driver": list("ABCDEFGHIJKLMN")[: len(cells)], column: cells, **more}


CELLS = {
    "ordinals": ("place", ["1st", "2nd", "3rd", "4th"], "A B C D"),
    "prefixes": ("place", ["P2", "P1", "#3", "pos. 4"], "B A C D"),
    "ties": ("place", ["T3", "=3", "1", "2", "5="], "C D A=B E"),
    "shared": ("place", ["3-4", "1", "3–4", "2", "5"], "B D A=C E"),
    "of a field": ("place", ["1/4", "3 / 4", "2 of 4", "4/4"], "A C B D"),
    "code beside points": ("place", ["16 DNF", "1", "2", "DNF 16"], "B C A=D"),
    "code with a reason": ("place", ["DNF (engine)", "1", "2 ", "dnf: x"], "B C A"),
    "regatta": ("place", ["(2)", "1", "7 SCP", "RDG", "4.5 RDG", "OCS", "3 ZFP"], "B A G C"),
    "golf": ("place", ["1", "T2", "T2", "CUT", "MC", "MDF"], "A B=C D=E=F"),
    "golf to par": ("to_par", ["-5", "E", "+3", "−7", "CUT"], "D A B C E"),
    "skiing": ("place", ["2", "1", "DNF1", "DNF2", "DNQ1", "DNS2", "DNS1", "DSQ2"], "B A C=D=E=F"),
    "horses": ("place", ["1", "2", "PU", "UR", "F", "BD"], "A B C=D=E=F"),
    "athletics": ("place", ["2", "1", "NM", "NH", "DNQ"], "B A C=D"),
    "metres": ("points", ["8.31m", "8.40 m", "7.99 m (+1.2)", "NM"], "B A C D"),
    "percent": ("points", ["87.5%", "90 %", "12,5%"], "B A C"),
    "laps": ("time", ["1:32:03.5", "+12.5s", "+1 Lap", "+2 laps", "2 laps", "+1:02.1"], "A B F C D=E"),
    "same time": ("time", ["4:12:33", "s.t.", "+0:12", "m.t.", "+0:15"], "A=B C=D E"),
    "hours": ("time", ["2h04m", "2h03m59s", "2:05:10", "2h 04m 30s", "DNF", "2h02"], "F B A D C E"),
    "minutes": ("time", ["4'12\"", "4'11.5\"", "59.5 s", "61"], "C D B A"),
    "minus signs": ("points", ["−3", "12", "−10"], "B A C"),
    "thousands": ("points", ["1.012", "998", "1.100", "87"], "C A B D"),
    "half points": ("points", ["2½", "3", "½", "2 1/2", "1/2", "1 ¾", "−½"], "B A=D F C=E G"),
    "marks": ("time", ["10.02Q", "10.01 NR", "10.03q", "1:02.5 PB", "9.99 WR", "DNF"], "E B A C D F"),
    "marks of scores": ("points", ["8.31w", "8.40 PB", "7", "NM"], "B A C D"),
    "minutes with points": ("zeit", ["1.54,31", "1.53,99", "59,10", "1.02.03,5"], "C B A D"),
    "lapped and out": ("position", ["2", "LAP", "1", "EL", "2ème", "NS", "RTD"], "C A=E B=D=G"),
    "decimal commas": ("points", ["9,75", "9,8", "10"], "C B A"),
}


def in_words(places):
    """``{"A": 1, "B": 2.5, "C": 2.5}`` as ``A B=C``."""
    groups = {}
    for name, place in places.items():
        groups.setdefault(place, []).append(name)
    return " ".join("=".join(sorted(names)) for _, names in sorted(groups.items()))


@pytest.mark.parametrize("name", CELLS)
def test_cells_are_read_as_they_are_meant(name):
    column, cells, expected = CELLS[name]
    contests = kn.read_contests(one(column, cells), accept_losses=True)
    assert in_words(shown(contests)["r"]) == expected
    assert contests.entrant.size + len(contests.rejected) == len(cells)


def test_redress_is_no_place_and_says_so():
    races = kn.read_contests(one("place", ["1", "2", "RDG", "3"]))
    assert races.rejected.counts() == {"place given by redress": 1} and not any(
        "cannot be used" in n for n in races.notes
    )


def test_a_word_that_is_not_known_is_set_aside_and_asked_about_where_many_share_it():
    cells = ["1", "2", "3", "ZZZ", "4"]
    races = kn.read_contests(one("place", cells))
    assert races.rejected.content.tolist() == ["ZZZ"] and len(races) == 1
    assert not any("What does it mean" in note for note in races.notes)
    table = pl.concat([pl.DataFrame(one("place", cells)).with_columns(race=pl.lit(str(k))) for k in range(3)])
    races = kn.read_contests(table)
    [question] = [note for note in races.notes if "What does it mean" in note]
    assert "'ZZZ' stands in 3 rows of 'place'" in question and "endings={'ZZZ': 'unfinished'}" in question
    known = kn.read_contests(table, endings={"zzz": "unfinished"})
    assert in_words(shown(known)["0"]) == "A B C E D" and len(known.rejected) == 0
    with pytest.raises(
        InputError, match="a word stands for 'finished', 'last', 'unfinished', 'disqualified', 'not started'"
    ):
        kn.read_contests(table, endings={"zzz": "late"})


HEATS = {
    "race": ["Monza"] * 4 + ["Spa"] * 4,
    "driver": list("ABCDCADB"),
    "place": [1, 2, 1, 2, 1, 2, 1, 2],
}


@pytest.mark.parametrize("column", ["heat", "Group", "session", "division", "class", "Lauf"])
def test_a_column_that_makes_places_unique_is_part_of_the_contest(column):
    races = kn.read_contests(HEATS | {column: [1, 1, 2, 2, 1, 1, 2, 2]})
    assert shown(races) == {
        "Monza 1": {"A": 1, "B": 2}, "Monza 2": {"C": 1, "D": 2}, "Spa 1": {"C": 1, "A": 2}, "Spa 2": {"D": 1, "B": 2}
    }  # fmt: skip
    assert any(f"unique within each {column!r}, which is a contest of its own" in note for note in races.notes)


def test_classes_of_overall_places_part_nothing():
    table = HEATS | {"place": [1, 2, 3, 4, 2, 1, 4, 3], "class": ["x", "y"] * 4}
    assert kn.read_contests(table).identifiers == ("Monza", "Spa")
    tied = HEATS | {"place": [1, 1, 3, 3, 1, 1, 3, 4], "class": ["x", "y"] * 4}
    assert kn.read_contests(tied).identifiers == ("Monza", "Spa"), "ties that skip places are ties"


def test_places_that_repeat_throughout_are_asked_about():
    with pytest.raises(InputError, match=r"Places repeat throughout in 2 of 2 contests \('Monza': 1, 2, 1, 2, …\)"):
        kn.read_contests(HEATS)
    assert kn.read_contests(HEATS, best="lowest").place.tolist() == [1.5, 1.5, 3.5, 3.5] * 2
    key = {"contest": ["race", "run"]}
    assert len(kn.read_contests(HEATS | {"run": [1, 1, 2, 2] * 2}, key)) == 4
    teams = HEATS | {"driver": list("ABCDABCD"), "team": ["S", "T", "U", "V"] * 2}
    with pytest.raises(InputError, match="Places repeat"):
        kn.read_contests(teams)
    mates = HEATS | {"team": ["S", "T", "S", "T"] * 2}
    assert len(kn.read_contests(mates)) == 2, "team-mates share their places"


def test_sprint_and_race_of_one_day_are_two_contests():
    table = {
        "date": ["2024-05-04"] * 6 + ["2024-05-05"] * 3 + ["2024-05-12"] * 3,
        "race": ["Miami"] * 6 + ["Imola"] * 3 + ["Monaco"] * 3,
        "driver": list("ABCABCCBABCA"),
        "place": [1, 2, 3, 2, 1, 3, 1, 2, 3, 1, 2, 3],
        "session": ["sprint"] * 3 + ["race"] * 9,
    }
    races = kn.read_contests(table)
    assert len(races) == 4 and len(races.rejected) == 0
    assert shown(races)["Miami sprint"] == {"A": 1, "B": 2, "C": 3} and shown(races)["Miami race"]["B"] == 1


def test_rounds_of_one_event_are_asked_about():
    table = {"event": ["Open"] * 6, "round": [1, 1, 1, 2, 2, 2], "player": list("ABCABC"),
             "strokes": [70, 71, 72, 73, 69, 70]}  # fmt: skip
    with pytest.raises(InputError, match=r"once in every 'round' of one 'event'.*\['event', 'round'\]"):
        kn.read_contests(table)
    assert len(kn.read_contests(table, {"contest": ["event", "round"]})) == 2


RANKED = {"race": [1] * 4 + [2] * 4, "runner": list("ABCDABCD"), "rank": [1, 2, 3, 4] * 2}


def test_a_ranking_that_contradicts_the_times_is_asked_about():
    times = ["10:05", "10:02", "10:09", "10:01", "9:58", "9:51", "9:59", "9:55"]
    with pytest.raises(InputError, match="'rank' and 'time' contradict each other in 4 of 6 neighbours"):
        kn.read_contests(RANKED | {"time": times})
    assert in_words(shown(kn.read_contests(RANKED | {"time": times}, {"time": "time"}))["1"]) == "D B A C"
    assert in_words(shown(kn.read_contests(RANKED | {"time": times}, {"place": "rank"}))["1"]) == "A B C D"
    agree = ["10:05", "10:07", "10:09", "10:11"] * 2
    assert in_words(shown(kn.read_contests(RANKED | {"time": agree}))["1"]) == "A B C D"
    surely = {("place" if name == "rank" else name): column for name, column in RANKED.items()}
    assert any("contradict each other" in note for note in kn.read_contests(surely | {"time": times}).notes)


def test_a_place_beyond_the_number_of_entrants_is_asked_about():
    table = RANKED | {"rank": [12, 57, 3, 44, 12, 57, 3, 44]}
    with pytest.raises(InputError, match="'rank' goes up to 57 in contests of fewer entrants, and nobody is first"):
        kn.read_contests(table)
    assert in_words(shown(kn.read_contests(table, {"place": "rank"}))["1"]) == "C A D B"
    assert len(kn.read_contests(RANKED | {"rank": [1, 2, 3, 9, 2, 1, 4, 7]})) == 2, (
        "an extract with winners is a result"
    )


def test_one_name_in_two_countries_is_asked_for():
    table = {"race": [1, 1, 2, 2], "runner": ["J. Smith", "Ann", "J. Smith", "Bob"], "place": [1, 2, 2, 1],
             "nation": ["USA", "NED", "GBR", "NED"]}  # fmt: skip
    races = kn.read_contests(table)
    assert any(
        "1 name stands under more than one 'nation'" in note and "columns={'group': 'nation'}" in note
        for note in races.notes
    )
    apart = kn.read_contests(table, {"group": "nation"})
    assert {"J. Smith (USA)", "J. Smith (GBR)"} < set(apart.entrants) and apart.slots["runner"].names == apart.entrants
    assert not any("more than one" in note for note in kn.read_contests(table | {"nation": ["USA"] * 4}).notes)


def test_an_alias_that_meets_nobody_is_noted():
    notes = kn.read_contests(RANKED, aliases={"A": "Ann", "Zed": "Z"}).notes
    assert "1 name was replaced by its alias: 'A'" in notes and "1 alias met no name: 'Zed'" in notes


def test_names_that_are_words_for_none_are_names_where_names_stand():
    table = {"race": [1] * 4 + [2] * 4, "handle": ["NULL", "none", "NaN", "Ann"] * 2, "place": [1, 2, 3, 4, 4, 3, 2, 1]}
    races = kn.read_contests(table)
    assert set(races.entrants) == {"NULL", "none", "NaN", "Ann"} and len(races.rejected) == 0
    assert any("'NULL' stands where names stand and counts as one" in note for note in races.notes)
    missing = table | {"handle": ["NaN", "Bob", "NaN", "Ann", "-", "Bob", "?", "Ann"]}
    assert kn.read_contests(missing).rejected.counts() == {"a name that stands for none": 4}


def test_no_readable_date_and_invisible_contests_are_sentences():
    table = {"race": [1, 1], "driver": ["A", "B"], "place": [1, 2], "date": ["soon", "later"]}
    with pytest.raises(InputError, match=r"all 2 rows were rejected \(unreadable date: 2 \('soon', 'later'\)\)"):
        kn.read_contests(table)
    with pytest.raises(InputError, match="unreadable date: 2"):
        kn.read_contests({name: column for name, column in table.items() if name != "race"})
    hidden = {"race": ["\u200b", "1", "1"], "driver": list("ABC"), "place": [1, 2, 3]}
    assert kn.read_contests(hidden).rejected.counts() == {"missing contest": 1}


WIDE = {
    "Pos": [1, 2, 3, 4],
    "Boat": ["Argo", "Beagle", "Cutty", "Dart"],
    "Sail No": [11, 22, 33, 44],
    "R1": ["1", "2", "(4)", "3"],
    "R2": ["2", "1", "3", "(5 DNF)"],
    "R3": ["(3)", "2", "1", ""],
    "Total": ["6", "5", "8", "13"],
    "Net": ["3", "5", "4", "8"],
}


def test_a_wide_sheet_becomes_races():
    races = kn.read_contests(WIDE)
    assert are_contests(pl.DataFrame(WIDE))
    assert shown(races) == {
        "R1": {"Argo": 1, "Beagle": 2, "Dart": 3, "Cutty": 4},
        "R2": {"Beagle": 1, "Argo": 2, "Cutty": 3, "Dart": 4},
        "R3": {"Cutty": 1, "Beagle": 2, "Argo": 3},
    }
    assert races.row.tolist() == [1, 2, 4, 3, 2, 1, 3, 4, 3, 2, 1]
    notes = " | ".join(races.notes)
    assert "a row for each entrant and a column for each of 3 races ('R1', 'R2', 'R3') that holds places" in notes
    assert (
        "1 cell of the sheet is empty: that entrant was not in that race" in notes
        and "3 results are marked as discards" in notes
    )
    assert "totals and the like were left out: 'Pos', 'Total', 'Net'" in notes
    assert not any("cannot be used" in note for note in races.notes)


@pytest.mark.parametrize(
    ("sheet", "contests", "first"),
    [
        ({"Name": list("ABC"), "1": [1, 2, 3], "2": [2, 1, 3]}, ["1", "2"], "A B C"),
        ({"Driver": list("ABC"), "BHR": ["1", "2", "Ret"], "SAU": ["2", "1", "3"], "AUS": ["3", "DNS", "1"],
          "Points": [1, 2, 3]}, ["BHR", "SAU", "AUS"], "A B C"),
        ({"Helm": list("ABCD"), "Race 1": [2, 1, 3, None], "Race 2": ["-4", "1", "2", "3"], "Club": list("xyxy")},
         ["Race 1", "Race 2"], "B A C"),
        ({"Team": list("ABC"), "Round 1": [25, 18, 15], "Round 2": [18, 15, 25], "Total": [43, 33, 40]},
         ["Round 1", "Round 2"], "A B C"),
        ({"Athlete": list("ABC"), "Heat 1": ["59.1", "1:00.2", "58.7"], "Heat 2": ["58.9", "1:01.0", "DNS"]},
         ["Heat 1", "Heat 2"], "C A B"),
        ({"Skipper": list("ABC"), "2024-05-02": [1, 3, 2], "2024-05-01": [3, 2, 1]},
         ["2024-05-01", "2024-05-02"], "C B A"),
        ({"Boat": list("ABC"), "R1": ["1*", "2", "3"], "R2": ["3", "~2~", "1"], "Nett": [1, 2, 1]}, ["R1", "R2"],
         "A B C"),
    ],
    ids=["numbers", "names", "minus discards", "points", "times", "days", "starred discards"],
)  # fmt: skip
def test_wide_sheets_of_many_kinds(sheet, contests, first):
    races = kn.read_contests(sheet)
    assert list(shown(races)) == contests and in_words(shown(races)[contests[0]]) == first


@pytest.mark.parametrize(
    "table",
    [
        {"name": list("ABC"), "age": [31, 22, 45], "weight": [1, 2, 3]},
        {"player": list("ABC"), "R1": [1, 0, 1], "R2": [0, 1, 0.5]},
        {"home": ["A", "B"], "away": ["B", "A"], "R1": [1, 2], "R2": [2, 1]},
    ],
    ids=["facts of people", "results of rounds", "matches"],
)
def test_what_is_no_wide_sheet_is_not_read_as_one(table):
    with pytest.raises(InputError):
        kn.read_contests(table)
    assert not are_contests(pl.DataFrame(table, strict=False))


def test_a_time_of_day_orders_contests_of_one_day():
    table = {
        "date": ["2024-05-04 15:00"] * 2 + ["2024-05-04 10:00"] * 2 + ["2024-05-03"] * 2,
        "race": ["late", "late", "early", "early", "before", "before"],
        "driver": ["A", "B"] * 3,
        "place": [1, 2, 2, 1, 1, 2],
    }
    assert kn.read_contests(table).identifiers == ("before", "early", "late")
    start = table | {"date": ["2024-05-04"] * 6, "start": ["15:00"] * 2 + ["9:30"] * 2 + ["12:00"] * 2}
    assert kn.read_contests(start).identifiers == ("early", "before", "late")
    rounds = table | {"date": ["2024-05-04"] * 6, "round": ["final", "final", "semi-final", "semi-final", "QF", "QF"]}
    assert kn.read_contests(rounds).identifiers == ("before", "early", "late")


def test_a_season_gives_the_year_and_rounds_their_order():
    table = {"season": [2024, 2024, 2023, 2023, 2023, 2023], "round": [1, 1, 10, 10, 2, 2], "driver": ["A", "B"] * 3,
             "place": [1, 2, 2, 1, 1, 2]}  # fmt: skip
    races = kn.read_contests(table)
    assert races.identifiers == ("2023 2", "2023 10", "2024 1")
    assert races.date.astype(str).tolist() == ["2023-01-01", "2023-01-01", "2024-01-01"]
    assert any("'season' gives the year of each contest" in note for note in races.notes)
    named = {"season": ["2023/24"] * 4, "race": ["Z", "Z", "Y", "Y"], "round": [2, 2, 1, 1], "driver": ["A", "B"] * 2,
             "place": [1, 2, 2, 1]}  # fmt: skip
    assert kn.read_contests(named).identifiers == ("2023/24 Y", "2023/24 Z")
    plain = kn.read_contests(table | {"season": ["S2", "S2", "S1", "S1", "S1", "S1"]})
    assert not plain.dated and plain.identifiers == ("S1 2", "S1 10", "S2 1")


def test_a_contest_may_be_named_by_several_columns(tmp_path):
    table = {"event": ["Open"] * 4, "division": ["A", "A", "B", "B"], "player": list("wxyz"), "place": [1, 2, 1, 2]}
    key = {"contest": ["event", "division"]}
    races = kn.read_contests(table, key)
    assert races.identifiers == ("Open A", "Open B")
    pl.DataFrame(table).write_parquet(tmp_path / "t.parquet")
    for size in (1, 3, 100):
        chunks = [
            c for chunk in kn.matches.scan_contests(tmp_path / "t.parquet", key).chunks(size) for c in chunk.identifiers
        ]
        assert chunks == ["Open A", "Open B"]
    for wrong in ({"contest": []}, {"place": ["event"]}, {"contest": ["event", 3]}):
        with pytest.raises(InputError, match="column mapping"):
            kn.read_contests(table, wrong)
    with pytest.raises(InputError, match="but the columns are"):
        kn.read_contests(table, {"contest": ["event", "level"]})


def test_two_styles_of_dates_are_read_cell_by_cell():
    table = {"date": ["01.02.2016"] * 2 + ["02/02/16"] * 2 + ["2016-02-03"] * 2, "race": [1, 1, 2, 2, 3, 3],
             "driver": ["A", "B"] * 3, "place": [1, 2] * 3}  # fmt: skip
    races = kn.read_contests(table)
    assert races.date.astype(str).tolist() == ["2016-02-01", "2016-02-02", "2016-02-03"] and len(races.rejected) == 0


def test_blocks_of_rows_are_filled_from_above():
    table = {"race": ["Spa", None, "", "Monza", None], "driver": list("ABCAB"), "place": [1, 2, 3, 2, 1]}
    races = kn.read_contests(table)
    assert races.sizes.tolist() == [3, 2]
    assert any("'race' is written once for a block of rows: 3 empty cells" in note for note in races.notes)
    gaps = table | {"race": ["Spa", "Spa", None, "Spa", "Spa"], "driver": list("ABCDE"), "place": [1, 2, 3, 4, 5]}
    assert kn.read_contests(gaps).rejected.counts() == {"missing contest": 1}


def test_a_year_of_birth_is_no_season_and_a_carried_weight_no_weight_of_a_contest():
    """They differ between the entrants of one race; what is one for all of a race still counts."""
    born = one("rank", ["1", "2", "3", "4"], year=[1994, 1997, 1994, 2001], weight=["11-4", "11-2", "10-12", "11-4"])
    for more in ({}, {"date": ["2026-01-10"] * 4}):
        races = kn.read_contests(born | more)
        assert shown(races) == {"r": {"A": 1.0, "B": 2.0, "C": 3.0, "D": 4.0}} and races.weight.tolist() == [1.0]
        said = "\n".join(races.notes)
        assert "'year' differs between the entrants of one contest: it says something of them, is no season" in said
        assert "'weight' differs between the entrants of one contest: it does not say how much a contest counts" in said
    alone = one("place", ["1", "2", "3", "4"], year=born["year"], weight=[60, 61, 58, 60])
    named = kn.read_contests(alone, {"season": "year"}, accept_losses=True)
    assert named.weight.tolist() == [1.0]  # those who stand alone say nothing of how a weight differs
    assert shown(named) == {"1994 r": {"A": 1.0, "C": 2.0}}
    two = {"race": [1, 1] * 2, "driver": list("ABAB"), "place": [1, 2, 2, 1], "year": [2024, 2024, 2025, 2025]}
    races = kn.read_contests(two | {"weight": [2, 2, 0.5, 0.5]})
    assert list(shown(races)) == ["2024 1", "2025 1"] and races.weight.tolist() == [2.0, 0.5]
    met = {
        "race": [1] * 4 + [2] * 4,
        "driver": list("ABCDCDAB"),
        "place": [1, 2] * 4,
        "year": [2024, 2024, 2025, 2025] * 2,
    }
    assert list(shown(kn.read_contests(met))) == ["2024 1", "2024 2", "2025 1", "2025 2"]  # who returns is born once
    races = kn.read_contests(two | {"weight": [2, 2.5, 0.5, 0.25]}, {"weight": "weight"})
    assert races.weight.tolist() == [2.5, 0.5] and "'weight' differs within 2 contests: the largest" in str(races.notes)
    (said,) = (note for note in kn.read_contests(two | {"weight": [2, 2.5, 1, 1]}).notes if "within" in note)
    assert said == "'weight' differs within 1 contest: the largest of each counts"


def test_seasons_with_nobody_in_common_are_told_from_years_of_birth_or_asked_about():
    """Without dates and under one name: each season has a first place and several entrants."""
    years = {"race": ["cup"] * 6, "driver": list("ABCDEF"), "year": [2023] * 3 + [2024] * 3}
    assert list(shown(kn.read_contests(years | {"place": [1, 2, 3, 1, 3, 2]}))) == ["2023 cup", "2024 cup"]
    assert shown(kn.read_contests(years | {"place": [4, 2, 6, 1, 3, 5]})) == {"cup": dict(zip("DBEAFC", range(1, 7)))}
    dozen = {"race": ["cup"] * 12, "driver": list("ABCDEFGHIJKL"), "year": [1991, 1992, 1993, 1994] * 3}
    assert list(shown(kn.read_contests(dozen | {"place": range(1, 13)}))) == ["cup"]  # the tenth is no first
    tied = years | {"place": ["1.", "2.", "3.", "=1", "4.", "5."]}
    scores = years | {"points": [31, 24, 8, 30, 22, 17]}
    for table in (
        tied | {"race": ["cup"] * 3 + ["cup"] * 2 + ["bowl"], "year": [2023, 2024, 2025, 2024, 2025, 2025]},
        scores,
    ):
        with pytest.raises(InputError, match="'year' may be the season of contests or the year in which entrants were"):
            kn.read_contests(table)
    assert list(shown(kn.read_contests(scores, {"season": "year"}))) == ["2023 cup", "2024 cup"]
    born = {("born" if name == "year" else name): column for name, column in scores.items()}
    assert list(shown(kn.read_contests(born))) == ["cup"]
    season = {("season" if name == "year" else name): column for name, column in scores.items()}
    assert list(shown(kn.read_contests(season))) == ["2023 cup", "2024 cup"]
    single = scores | {"year": [1991, 1992, 1994, 1994, 1999, 2001]}
    assert list(shown(kn.read_contests(single))) == ["cup"]


def test_cells_as_long_as_a_page_hold_no_result():
    """Numbers of so many digits are none, and patterns would be tried at every letter of them."""
    for column, long in (
        ("place", "1" * 5000 + "-" + "2" * 5000),
        ("points", "1a" * 9000),
        ("time", "1" * 50_000 + " x"),
    ):
        races = kn.read_contests(one(column, ["1", long, "3"]), best="lowest")
        assert shown(races) == {"r": {"A": 1.0, "C": 2.0}} and len(races.rejected) == 1


def test_that_marks_beside_results_are_not_read_is_noted():
    races = kn.read_contests(one("time", ["10.02Q", "10.01", "10.03 q"]))
    assert "marks beside results were not read, such as that of '10.02Q' in 'time'" in races.notes
    assert not any("marks" in note for note in kn.read_contests(one("time", ["10.02", "10.01", "DNF"])).notes)


def test_notes_name_the_words_that_were_taken_for_an_ending():
    races = kn.read_contests(one("pos", ["1", "2", "CUT", "MC", "WD", "DQ", "cut"], status=["", "", *["x"] * 5]))
    said = "\n".join(races.notes)
    assert "3 entries are tied behind all others who finished ('CUT', 'MC', 'cut', …), as after a cut" in said
    assert "1 entry did not start ('WD', 'x'): left out" in said
    assert "1 entry was disqualified ('DQ', 'x'): left" in said


def test_short_times_under_a_long_one_are_gaps_without_a_plus():
    """Tables of stages give the winner's time and what the others lost; one exception among ten contests is borne."""
    stage = {"race": [1] * 4 + [2] * 3, "rider": list("ABCDBAC")}
    races = kn.read_contests(stage | {"time": ["4:12:33", "0:12", "0:12", "0:48", "3:59:01", "s.t.", "1:02"]})
    assert [in_words(race) for race in shown(races).values()] == ["A B=C D", "A=B C"]
    assert "were read as so much behind it" in "\n".join(races.notes)
    above = kn.read_contests(stage | {"time": ["4:12:33", "s.t.", "+0:12", "+0:48", "s.t.", "3:59:01", "+1:02"]})
    assert above.rejected.row.tolist() == [5]  # nobody of the same contest stands above
    signed = kn.read_contests(stage | {"time": ["4:12:33", "+0:12", "+0:12", "+0:48", "3:59:01", "+0:01", "+1:02"]})
    assert "times such as '+0:12' were read as so much behind the shortest" in signed.notes
    plain = kn.read_contests(stage | {"time": ["40:00", "12:00", "12:00", "48:00", "3:59:01", "3:59:02", "3:58:00"]})
    assert [in_words(race) for race in shown(plain).values()] == ["B=C A D", "C B A"]
    ranked = kn.read_contests(stage | {"rank": [1, 2, 3, 4, 1, 2, 3], "time": ["4:12:33", "0:12", "0:12", "0:48",
                                                                             "3:59:01", "0:01", "1:02"]})  # fmt: skip
    assert not any("contradict" in note for note in ranked.notes)


def test_rounds_on_days_in_a_row_are_asked_about_and_weekly_ones_are_contests():
    """Strokes of four days of golf may be contests or a total; a quiz of every week is a contest each time."""
    event = {"event": ["Open"] * 6, "player": list("ABC") * 2, "strokes": [68, 70, 71, 72, 69, 73]}
    rounds = event | {"round": [1, 1, 1, 2, 2, 2], "date": ["2026-03-01"] * 3 + ["2026-03-02"] * 3}
    with pytest.raises(InputError, match=r"Each entrant stands once in every 'round' of one 'event'"):
        kn.read_contests(rounds)
    both = kn.read_contests(rounds, {"contest": ["event", "round"]})
    assert [in_words(race) for race in shown(both).values()] == ["A B C", "B A C"]
    weekly = kn.read_contests(rounds | {"date": ["2026-03-01"] * 3 + ["2026-03-08"] * 3})
    assert len(weekly) == 2 and not any("in the order of 'round'" in note for note in weekly.notes)
    assert len(kn.read_contests({"session" if name == "round" else name: rounds[name] for name in rounds})) == 2


def test_a_race_is_off_at_a_time_and_a_column_that_orders_is_used():
    table = {"date": ["2026-05-01"] * 6, "race": [1, 1, 2, 2, 3, 3], "horse": list("ABBCCA"), "place": [1, 2] * 3}
    races = kn.read_contests(table | {"off": ["15:30"] * 2 + ["14:05"] * 2 + ["13:00"] * 2, "going": ["soft"] * 6})
    assert races.identifiers == ("3", "2", "1") and "contests of one day stand in the order of 'off'" in races.notes
    assert "columns that were not used: 'going'" in races.notes
    games = {"date": ["2026-05-01"] * 3, "home": list("ABC"), "away": list("BCA"), "result": [1, 0, 1]}
    assert not any("order by 'off'" in note for note in kn.read_matches(games | {"off": [14.5, 11.0, 9.2]}).notes)


def test_one_event_at_two_meets_of_a_day_is_two_contests():
    swum = {
        "date": ["2026-07-01"] * 4,
        "event": ["100 m"] * 4,
        "swimmer": list("ABCD"),
        "time": [53.1, 52.0, 51.0, 54.0],
    }
    meets = kn.read_contests(swum | {"meet": ["North", "North", "South", "South"]})
    assert shown(meets) == {"100 m North": {"B": 1.0, "A": 2.0}, "100 m South": {"C": 1.0, "D": 2.0}}
    assert "1 contest stands under more than one 'meet': each is a contest of its own" in meets.notes
    assert len(kn.read_contests(swum | {"meet": ["North"] * 4})) == 1
    assert len(kn.read_contests(swum | {"meet": ["North", "North", None, None]})) == 1
    days = {"date": ["2026-07-01"] * 2 + ["2026-07-02"] * 2, "meet": ["North", "North", "South", "South"]}
    assert shown(kn.read_contests(swum | days)) == shown(meets)


@pytest.mark.parametrize(
    ("tracks", "told"),
    [("xyxyxyxyxy", True), ("xyxyxyxyxz", False), ("xxxxxxxxxx", False), ("xyxyxyxyx-", False), ("xyxyxyxyx?", True)],
    ids=["two", "three", "one", "differs within", "said once"],
)
def test_a_circumstance_that_returns_is_named_where_luck_may_depend_on_it(tracks, told):
    """Ten contests of two: two tracks five times each; not where one is too seldom, or not one of a contest."""
    track = [t for t in tracks for _ in "AB"]
    if track[-1] == "-":
        track[-2:] = ["x", "y"]
    if track[-1] == "?":
        track[-2:] = ["y", None]
    table = {"race": [k // 2 for k in range(20)], "driver": list("AB") * 10, "place": [1, 2] * 10, "track": track}
    said = "luck may differ by 'track': advantages=['track'] and RankElo(noise_by=['track']) find out"
    assert (said in kn.read_contests(table).notes) is told
    assert said not in kn.read_contests(table, advantages=["track"]).notes
