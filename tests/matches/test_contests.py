"""Contests from long tables: columns, directions, endings, repeats, order; nothing is guessed or dropped in silence."""

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.errors import InputError
from kinelo.matches.shapes import are_contests

RACES = {
    "date": ["2024-01-01"] * 3 + ["2024-02-01"] * 3,
    "race": ["r1"] * 3 + ["r2"] * 3,
    "driver": ["Ann", "Bob", "Cid", "Cid", "Ann", "Dee"],
    "car": ["X", "Y", "X", "X", "X", "Z"],
    "place": [2, 1, 3, 1, 1, 3],
}


def entries(contests):
    return [(row["contest"], row["entrant"], row["place"]) for row in contests.to_polars().iter_rows(named=True)]


def test_entrants_stand_in_order_of_places_and_ties_share_the_mean():
    races = kn.read_contests(RACES)
    assert entries(races) == [
        ("r1", "Bob", 1.0), ("r1", "Ann", 2.0), ("r1", "Cid", 3.0),
        ("r2", "Ann", 1.5), ("r2", "Cid", 1.5), ("r2", "Dee", 3.0),
    ]  # fmt: skip
    assert races.kinds == ("driver",) and "the lowest 'place' is best" in races.notes
    assert any("'car' could be rated too" in note for note in races.notes)


def test_shuffled_rows_make_the_same_contests():
    table = pl.DataFrame(RACES)
    told = kn.read_contests(table, slots=["driver", "car"])
    for seed in range(5):
        again = kn.read_contests(table.sample(fraction=1.0, shuffle=True, seed=seed), slots=["driver", "car"])
        assert again.to_polars().equals(told.to_polars())


def test_slots_hold_what_the_columns_say():
    races = kn.read_contests(RACES, slots={"driver": "driver", "machine": ["car"]})
    table = races.to_polars()
    assert table["machine"].to_list() == ["Y", "X", "X", "X", "X", "Z"]
    assert races.rating("machine").kinds == ("machine",)
    with pytest.raises(InputError, match="no kind of slot"):
        races.rating("wheel")


def test_team_mates_in_columns_and_in_rows_agree():
    wide = {"game": [1, 1], "team": ["T", "U"], "p1": ["a", "c"], "p2": ["b", "d"], "place": [1, 2]}
    long = {"game": [1] * 4, "team": ["U", "T", "T", "U"], "player": ["c", "a", "b", "d"], "place": [2, 1, 1, 2]}
    columns = kn.read_contests(wide, {"entrant": "team"}, slots={"player": ["p1", "p2"]})
    rows = kn.read_contests(long, slots=["player"], team="team")
    for contests in (columns, rows):
        table = contests.to_polars()
        assert table["entrant"].to_list() == ["T", "U"]
        assert [set(row) for row in table.select("player 1", "player 2").iter_rows()] == [{"a", "b"}, {"c", "d"}]
    long["place"] = [2, 1, 3, 2]
    assert kn.read_contests(long, slots=["player"], team="team").rejected.counts() == {
        "team-mates with different places": 1
    }


def test_whether_high_or_low_is_best_is_found_out_or_asked():
    base = {"race": [1, 1], "driver": ["A", "B"]}
    best = lambda table, **k: kn.read_contests(base | table, **k).to_polars()["entrant"][0]  # noqa: E731
    assert best({"points": [3, 9]}) == "B"
    assert best({"time": ["59.5", "1:02.1"]}) == "A"
    assert best({"time": ["59.5", "1:02.1"]}, best="highest") == "B"
    with pytest.raises(InputError, match="Nothing tells whether a high or a low 'score' is better"):
        best({"score": [3, 9]})
    assert best({"score": [3, 9]}, best="highest") == "B" and best({"score": [3, 9]}, best="lowest") == "A"


WORDS = {"race": [1] * 6, "driver": list("ABCDEF"), "place": ["1", "2", "DNF", "DSQ", "DNS", "Ret"]}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"A": 1, "B": 2, "C": 3.5, "F": 3.5}),
        ({"unfinished": "out"}, {"A": 1, "B": 2}),
        ({"disqualified": "behind"}, {"A": 1, "B": 2, "C": 4, "D": 4, "F": 4}),
        ({"not_started": "behind"}, {"A": 1, "B": 2, "C": 4, "E": 4, "F": 4}),
    ],
)
def test_who_did_not_finish_stands_where_the_user_wants(options, expected):
    races = kn.read_contests(WORDS, **options)
    table = races.to_polars()
    assert dict(zip(table["entrant"], table["place"])) == expected
    assert len(races.rejected) == 6 - len(expected), "whoever is left out is listed"


def test_a_status_beside_an_empty_place_says_why():
    table = {"race": [1] * 5, "driver": list("ABCDE"), "position": [1, 2, None, None, None]}
    races = kn.read_contests(table | {"status": ["Finished", "+1 Lap", "Engine", "Did not qualify", None]})
    assert races.to_polars().select("entrant", "ended").rows() == [
        ("A", "finished"), ("B", "finished"), ("C", "unfinished")
    ]  # fmt: skip
    assert races.rejected.counts() == {"did not start": 1, "missing place": 1}


def test_an_entrant_twice_counts_once_with_the_best_place():
    races = kn.read_contests({"race": [1, 1, 1], "driver": ["A", "B", "A"], "place": [3, 2, 1]})
    assert entries(races) == [("1", "A", 1.0), ("1", "B", 2.0)]
    assert races.rejected.counts() == {"entrant twice in one contest": 1}


def test_a_contest_of_one_tells_nothing():
    races = kn.read_contests({"race": [1, 1, 2], "driver": ["A", "B", "A"], "place": [1, 2, 1]})
    assert len(races) == 1 and races.rejected.counts() == {"only one entrant in the contest": 1}


def test_ids_that_repeat_over_seasons_are_contests_of_their_own():
    table = {"round": [1, 1, 1, 1], "driver": list("ABBA"), "place": [1, 2, 1, 2]}
    dated = kn.read_contests(table | {"date": ["2023-05-01"] * 2 + ["2024-05-01"] * 2})
    assert dated.identifiers == ("1 on 2023-05-01", "1 on 2024-05-01") and len(dated.rejected) == 0
    assert any("each time counts as a contest of its own" in note for note in dated.notes)
    season = kn.read_contests(table | {"season": [2023, 2023, 2024, 2024]})
    assert season.identifiers == ("2023 1", "2024 1")


def test_contests_to_come_are_kept_where_wanted():
    table = {"race": [1, 1, 2, 2], "driver": list("ABAB"), "place": [1, 2, None, None]}
    assert len(kn.read_contests(table)) == 1
    both = kn.read_contests(table, played=False)
    assert np.isnan(both[1].place).all() and both[0].place.tolist() == [1.0, 2.0]
    assert len(kn.read_contests({"race": [1, 1], "driver": ["A", "B"]}, played=False)) == 1


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"race": [1], "place": [1]}, "no column of entrants"),
        ({"driver": ["A"], "place": [1]}, "neither contests nor dates"),
        ({"race": [1], "driver": ["A"]}, "no places, scores or times"),
        ({"race": [1, 1], "driver": ["A", "B"], "place": ["x", "y"]}, "No contest of the table can be used"),
    ],
)
def test_a_table_that_is_none_of_contests_says_what_it_lacks(table, words):
    with pytest.raises(InputError, match=words):
        kn.read_contests(table)


def test_contests_are_told_from_matches_by_their_columns():
    assert are_contests(pl.DataFrame(schema=["date", "race", "driver", "constructor", "position"]))
    assert not are_contests(pl.DataFrame(schema=["date", "home", "away", "home_score", "away_score"]))
    assert not are_contests(pl.DataFrame(schema=["match_id", "team", "opponent", "score"]))


def test_parts_of_contests_are_those_asked_for():
    races = kn.read_contests(RACES)
    assert races.before("2024-02-01").identifiers == ("r1",) and races.since("2024-02-01").identifiers == ("r2",)
    assert races[np.array([1])].place.tolist() == [1.5, 1.5, 3.0]
    assert races[1].source is races and races[1].source_digest == races.source_digest


def test_a_scan_reads_what_the_whole_file_holds(tmp_path):
    rng = np.random.default_rng(1)
    rows = [
        (f"2024-01-{c + 1:02d}", c, f"p{p}", place + 1)
        for c in range(20)
        for place, p in enumerate(rng.permutation(30)[: rng.integers(2, 12)])
    ]
    table = pl.DataFrame(rows, schema=["date", "contest", "player", "place"], orient="row")
    table.write_parquet(tmp_path / "all.parquet")
    whole = kn.read_contests(table).to_polars()
    for size in (1, 7, 40, 10_000):
        chunks = [chunk.to_polars() for chunk in kn.matches.scan_contests(tmp_path / "all.parquet").chunks(size)]
        assert pl.concat(chunks).equals(whole), size
    backwards = table.reverse()
    backwards.write_parquet(tmp_path / "backwards.parquet")
    with pytest.raises(InputError, match="must be in order of date"):
        list(kn.matches.scan_contests(tmp_path / "backwards.parquet").chunks(7))


def test_races_of_seventy_years_are_read_to_the_last_row(match_data):
    races = kn.read_contests(match_data / "f1" / "races.csv", slots=["driver", "constructor"])
    assert len(races) == 1143 and races.entrant.size + len(races.rejected) == 27_118
    assert races.rejected.counts()["entrant twice in one contest"] > 80


def test_the_order_of_dates_is_asked_for_as_of_matches():
    table = {"date": ["01/02/2024"] * 2 + ["02/03/2024"] * 2, "race": ["A", "A", "B", "B"],
             "driver": ["X", "Y"] * 2, "place": [1, 2, 2, 1]}  # fmt: skip
    days = {order: kn.read_contests(table, dates=order).date.astype(str).tolist() for order in ("dmy", "mdy")}
    assert days == {"dmy": ["2024-02-01", "2024-03-02"], "mdy": ["2024-01-02", "2024-02-03"]}
    assert any("nothing decides the order of dates" in note for note in kn.read_contests(table).notes)
    with pytest.raises(InputError, match="no order of dates"):
        kn.read_contests(table, dates="day first")


def test_dates_of_a_scan_are_read_as_asked(tmp_path):
    text = "date,race,driver,place\n01/02/2024,1,A,1\n01/02/2024,1,B,2\n05/03/2024,2,A,2\n05/03/2024,2,B,1\n"
    (tmp_path / "r.csv").write_text(text)
    for order in ("dmy", "mdy"):
        [chunk] = kn.matches.scan_contests(tmp_path / "r.csv", dates=order).chunks()
        assert chunk.date.tolist() == kn.read_contests(tmp_path / "r.csv", dates=order).date.tolist()


def test_a_result_between_win_and_draw_is_no_order_of_two():
    matches = kn.read_matches({"home": ["A", "B"], "away": ["B", "C"], "result": [1, 0.75]})
    with pytest.raises(InputError, match=r"B – C in row 2 has the result 0\.75"):
        kn.matches.Contests.from_matches(matches)
    with pytest.raises(InputError, match=r"has the result 0\.75"):
        kn.RankElo().fit(matches)


TWO_RACES = {"race": [1, 1, 1, 2, 2, 2], "driver": list("ABCABC")}


def order_of(contests):
    return [name for name, ended in contests.to_polars().select("entrant", "ended").rows() if ended == "finished"]


def test_a_place_of_0_is_none():
    """Files write 0 for who did not finish; nobody wins by that."""
    races = kn.read_contests(TWO_RACES | {"place": [0, 1, 2, 1, 2, 3]})
    assert order_of(races) == ["B", "C", "A", "B", "C"] and races.rejected.counts() == {"unreadable place": 1}
    assert any("below 1, such as 0, which is no place" in note for note in races.notes)
    status = ["Engine", "Finished", "Finished", "Finished", "Disqualified", "Finished"]
    said = kn.read_contests(TWO_RACES | {"place": [0, 1, 2, 1, 0, 2], "status": status}, disqualified="behind")
    assert order_of(said) == ["B", "C", "A", "C"] and said.ended.tolist() == [0, 0, 1, 0, 0, 2]
    assert order_of(kn.read_contests(TWO_RACES | {"place": [-1, 1, 2, 1, 2, 3]})) == ["B", "C", "A", "B", "C"]


def test_places_that_begin_at_0_are_asked_about():
    table = TWO_RACES | {"place": [0, 1, 2, 2, 1, 0]}
    with pytest.raises(InputError, match="which may be the first place or somebody without one"):
        kn.read_contests(table)
    assert order_of(kn.read_contests(table, best="lowest")) == ["A", "B", "C", "C", "B", "A"]


def test_times_behind_the_first_are_added_to_its_time():
    times = ["+12.5", "1:32:03.5", "+1:02.25", "95.5", "+0.3", "DNF"]
    races = kn.read_contests(TWO_RACES | {"time": times})
    assert order_of(races) == ["B", "A", "C", "A", "B"] and races.place.tolist() == [1, 2, 3, 1, 2, 3]
    assert any("'+12.5' were read as so much behind the shortest" in note for note in races.notes)
    gaps_alone = kn.read_contests(TWO_RACES | {"time": ["+3", "+0", "+1", "+2", "+0", "+9"]})
    assert order_of(gaps_alone) == ["B", "C", "A", "B", "A", "C"]
    assert not any("behind the shortest" in n for n in kn.read_contests(TWO_RACES | {"time": list("321123")}).notes)


@pytest.mark.parametrize("retired", [1, 2])
def test_notes_say_how_many_entries_did_not_finish_and_where_they_stand(retired):
    places = ["1", "2", *["DNF"] * retired]
    table = {"race": [1] * len(places), "driver": list("ABCD")[: len(places)], "place": places}
    entries = "1 entry" if retired == 1 else "2 entries"
    said = f"{entries} did not finish ('DNF'): tied behind all who finished, which is partly luck"
    assert any(said in note for note in kn.read_contests(table).notes)
    out = f"{entries} did not finish ('DNF'): left out; unfinished='behind' puts such"
    assert any(out in note for note in kn.read_contests(table, unfinished="out").notes)


def daily(entrants, days=3, later=0):
    """Places of each day, which go on from those of the day before where ``later`` says by how much."""
    rows = [(f"2024-06-{day + 1:02d}", "Race 1", name, place + 1 + later * day) for day in range(days)
            for place, name in enumerate(entrants(day))]  # fmt: skip
    return pl.DataFrame(rows, schema=["date", "race", "boat", "place"], orient="row")


def test_race_1_of_every_day_is_a_contest_of_each_day():
    races = kn.read_contests(daily(lambda day: ["A", "B", "C", "D"][: 4 - day]))
    assert races.identifiers == tuple(f"Race 1 on 2024-06-0{day}" for day in (1, 2, 3))
    assert races.sizes.tolist() == [4, 3, 2] and len(races.rejected) == 0
    assert (
        "1 name of a contest returns on other days with the same entrants: each time counts as a contest of its own"
        in (races.notes)
    )


def test_a_contest_of_several_days_stays_one():
    """Even one that returns next season, and one in which somebody stands twice."""
    one = daily(lambda day: [f"{name}{day}" for name in "ABCD"], later=4)
    assert kn.read_contests(one).sizes.tolist() == [12]
    later = one.with_columns(pl.col("date").str.replace("2024", "2025"))
    assert kn.read_contests(pl.concat([one, later])).sizes.tolist() == [12, 12]
    twice = daily(lambda day: [*(f"{name}{day}" for name in "ABCD"), *(["A0"] if day == 1 else [])], later=5)
    assert kn.read_contests(twice).sizes.tolist() == [12]


def test_codes_of_regattas_are_understood():
    codes = ["1", "2", "DNC", "OCS", "BFD", "UFD", "DNE", "RET", "RAF", "DNF", "RDG"]
    table = {"race": [1] * len(codes), "boat": [f"B{k}" for k in range(len(codes))], "position": codes}
    races = kn.read_contests(table, disqualified="behind", not_started="behind")
    ended = dict(zip(races.to_polars()["entrant"], races.ended.tolist()))
    assert [ended.get(f"B{k}") for k in range(len(codes))] == [0, 0, 3, 2, 2, 2, 2, 1, 1, 1, None]


@pytest.mark.parametrize(
    ("table", "contests"),
    [
        ({"Event": [1, 1, 1], "Athlete": ["A", "B", "C"], "Finish Time": ["2:10:00", "2:11:00", "DNF"]}, True),
        ({"table": [1, 1, 1], "player": ["A", "B", "C"], "points": [3, 2, 1]}, True),
        ({"game": [1, 1, 2, 2], "team": ["A", "B", "A", "B"], "score": [3, 2, 1, 0]}, False),
        ({"round": [1, 1, 1], "winner": ["A", "B", "C"], "loser": ["D", "E", "F"], "player": ["x", "y", "z"],
          "score": [1, 2, 3]}, False),
        ({"table": [1, 1, 1], "player": ["A", "B", "C"], "chips": [3, 2, 1]}, False),
    ],
    ids=["times", "points", "two sides", "winners", "unknown"],
)  # fmt: skip
def test_contests_without_places_are_known_by_more_than_two_rows_in_each(table, contests):
    assert are_contests(pl.DataFrame(table)) is contests


def test_a_table_that_may_be_of_contests_is_said_to_be():
    with pytest.raises(InputError, match=r"kinelo\.read_contests reads it: name its place, score or time"):
        kn.read_matches({"table": [1, 1, 1], "player": ["A", "B", "C"], "chips": [3, 2, 1]})
    with pytest.raises(InputError, match="no column for the home side") as said:
        kn.read_matches({"x": [1], "y": [2]})
    assert "contest" not in str(said.value)


def test_team_mates_who_share_their_places_are_said_to_be_a_team():
    table = {"match_id": [1] * 4, "team": ["T", "T", "U", "U"], "player": list("abcd"), "place": [1, 1, 2, 2]}
    said = "rows of one 'team' share their places: team='team' makes them one entrant whose members are rated"
    assert said in kn.read_contests(table).notes
    assert said not in kn.read_contests(table | {"place": [1, 2, 3, 4]}).notes
    assert said not in kn.read_contests(table, team="team", slots=["player"]).notes


def test_contests_without_dates_are_parted_by_a_contest_a_number_or_a_share():
    names = ["Rome", "Oslo", "Bonn", "7", "Lund", "Kiel", "Faro"]
    table = {"race": [n for n in names for _ in "ab"], "driver": ["Ann", "Bob"] * 7, "place": [1, 2] * 7}
    races = kn.read_contests(table)
    for where, before in (("Bonn", 2), ("7", 3), (7, 7), (0, 0), ("2", 2), (0.5, 3), ("30 %", 2), (1, 1)):
        assert races.before(where).identifiers == tuple(names[:before]), where
        assert races.since(where).identifiers == tuple(names[before:]), where
    for where in ("Ulm", 8, -1, 1.5, "2024-01-01", float("nan"), None, "200 %"):
        with pytest.raises(InputError, match=r"have no dates, and .* is none of them; name a contest"):
            races.before(where)
    dated = kn.read_contests(table | {"date": [f"2024-05-{k:02d}" for k in range(1, 8) for _ in "ab"]})
    assert len(dated.before("2024-05-04")) == 3
    with pytest.raises(InputError, match="is not a date"):
        dated.before(0.5)
    rater = kn.RankElo(
        walk=0.3, prior_spread=1.0, newcomer=0.0, regression=0.0, off=0.0, anchor=0.0, experience=0.0,
        contest_walk=0.0, newcomer_follows=1.0,
    )  # fmt: skip
    test = kn.backtest(races, rater, train_until="Lund")
    assert test.contests.identifiers == ("Lund", "Kiel", "Faro")
    assert kn.backtest(races, rater, train_until=0.5).number == 4
    with pytest.raises(InputError, match=r"leaves 0 contests to fit and 7 to test; choose another\."):
        kn.backtest(races, rater, train_until="Rome")


def test_contests_of_several_days_are_counted_and_not_their_rows():
    """Two of three contests last: one three days, one two; each is dated by its last."""
    days = ["04", "05", "06", "04", "11", "12", "12", "20", "20", "20"]
    table = {
        "race": [1, 1, 1, 1, 2, 2, 2, 3, 3, 3],
        "date": [f"2024-05-{day}" for day in days],
        "driver": ["A", "B", "C", "D", "A", "C", "B", "B", "A", "C"],
        "place": [1, 2, 3, 4, 1, 2, 3, 1, 2, 3],
    }
    races = kn.read_contests(table)
    assert "2 contests have rows of several days: each is dated by its last day" in races.notes
    assert races.date.astype(str).tolist() == ["2024-05-06", "2024-05-12", "2024-05-20"]
