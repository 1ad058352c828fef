"""Names at one boundary, aliases, matches that were not played, and everything that was assumed."""

import numpy as np
import pandas as pd
import pytest

import kinelo as kn


def told(matches: kn.matches.Matches, words: str) -> bool:
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
    chess = {"White": ["A", "A"], "Black": ["B", "C"], "result": [1, 0]}
    whose = {"White category": ["U18", "U18"], "BlackCategory": ["Open", "U18"]}
    assert not told(kn.read_matches(chess | whose, accept_losses=True), "more than one")
    assert told(kn.read_matches(chess | {"category": ["U18", "Open"]}), "1 name plays in more than one 'category'")
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


def _day(k: int) -> str:
    return str(np.datetime64("2024-01-01") + 7 * k)


def _scores(*scores: str, **more) -> kn.matches.Matches:
    n = len(scores)
    table = {"date": [_day(k) for k in range(n)], "home": list("ABC" * n)[:n], "away": list("BCA" * n)[:n]}
    return kn.read_matches(table | {"score": scores} | more, accept_losses=True)


def _race(column: str, cells: list, per: int = 4, **more) -> kn.matches.Contests:
    rows = range(len(cells))
    table = {"race": [k // per for k in rows], "driver": [f"D{k % per}" for k in rows], column: cells}
    return kn.read_contests(table, accept_losses=True, **more)


def _days(*pairs: str, days: list[int]) -> kn.matches.Matches:
    home, away = ([pair[k] for pair in pairs] for k in (0, 1))
    return kn.read_matches({"date": [_day(k) for k in days], "home": home, "away": away, "result": [0.5] * len(days)})


def _venues(*venues: str) -> kn.matches.Matches:
    n = len(venues)
    return kn.read_matches(
        {"date": [_day(k) for k in range(n)], "home": list("AB" * n)[:n], "away": list("BA" * n)[:n],
         "result": [0.5] * n, "venue": venues}
    )  # fmt: skip


def _sheet(*second: str) -> kn.matches.Contests:
    return kn.read_contests({"name": ["Ann", "Bob", "Cid"], "R1": ["1", "2", "(3)"], "R2": second, "R3": list("123")})


ORDER = (
    "on which a side plays more than once: each is forecast from the ratings at the start of its day; name a column of "
    "times, rounds or numbers with columns={'order': ...}, or say ordered=True if rows stand in order"
)
# One and several of each, with the numbers that stand in them.
NOTES = {
    "a kick-off": (
        lambda: _scores("2-1", "1-1", "20:45"),
        "1 entry of 'score', such as '20:45', is a time of day: that match has not been played",
    ),
    "kick-offs": (
        lambda: _scores("2-1", "1-1", "20:45", "18:00", "0-0"),
        "2 entries of 'score', such as '20:45', are times of day: those matches have not been played",
    ),
    "a marked score": (
        lambda: _scores("2-1", "1-1", "3-0*", "0-1"),
        "1 score has a mark, such as '3-0*', as forfeits do: that match was set aside; endings={'*': 'finished'} "
        "counts them",
    ),
    "marked scores": (
        lambda: _scores("2-1", "1-1", "3-0 F", "0-1", "0-3 f", "2-2"),
        "2 scores have a mark, such as '3-0 F', as forfeits do: those matches were set aside; "
        "endings={'f': 'finished'} counts them",
    ),
    "weekdays of months first": (
        lambda: _scores("2-1", "1-1", date=["Mon 01/02/2023", "Tue 01/03/2023"]),
        "dates such as 'Mon 01/02/2023' were read as month/day/year: so their weekdays are right",
    ),
    "weekdays of days first": (
        lambda: _scores("2-1", "1-1", date=["Wed 01/02/2023", "Thu 02/02/2023"]),
        "dates such as 'Wed 01/02/2023' were read as day/month/year: so their weekdays are right",
    ),
    "a wrong weekday": (
        lambda: _scores("2-1", "1-1", date=["Mon 01/02/2023", "Tue 02/02/2023"]), "1 date contradicts its weekday",
    ),
    "wrong weekdays": (
        lambda: _scores("2-1", "1-1", "0-0", date=["Mon 01/02/2023", "Tue 02/02/2023", "Sun 03/03/2023"]),
        "2 dates contradict their weekday",
    ),
    "a comma": (
        lambda: _race("points", ["1,234", "999", "87", "12"]),
        "'1,234' in 'points' was read as 1234, with a comma between thousands; write 1.234 if it is less",
    ),
    "an entrant alone": (
        lambda: kn.read_contests({"race": [1, 1, 2], "driver": list("ABA"), "place": [1, 2, 1]}, accept_losses=True),
        "1 contest has one entrant only, which tells nothing",
    ),
    "entrants alone": (
        lambda: kn.read_contests(
            {"race": [1, 1, 2, 3], "driver": list("ABAB"), "place": [1, 2, 1, 1]}, accept_losses=True
        ),
        "2 contests have one entrant only, which tells nothing",
    ),
    "one who did not finish": (
        lambda: _race("place", ["1", "2", "3", "DNF"], unfinished="last"),
        "1 entry did not finish ('DNF'): counted like finishing last; unfinished='out' leaves such entries out",
    ),
    "some who were disqualified": (
        lambda: _race("place", ["1", "2", "DSQ", "DSQ"]),
        "2 entries were disqualified ('DSQ'): left out; disqualified='behind' puts such entries behind "
        "all who finished",
    ),
    "half did not finish": (
        lambda: _race("place", (["1", "2", "3"] + ["DNF"] * 4) * 3 + list("1234567"), per=7),
        "in 3 of 4 contests half of the entrants or more did not finish ('DNF'): endings={'DNF': 'last'} "
        "says that they "
        "were behind all others, as after a cut, and endings={'DNF': 'unfinished'} that they may have been unlucky, as "
        "was taken for granted",
    ),
    "scores beside signs": (
        lambda: kn.read_matches(
            {"home": list("ABA"), "away": list("BAB"), "result": [1, 0, 1], "home_score": [2, 1, 3],
             "away_score": [0, 1, 1]}
        ),
        "the scores show that 0 in 'result' is a draw: results were read as -1 for an away win, 0 for a draw, 1 for a "
        "home win",
    ),
    "parts of a day": (
        lambda: _race("time", ["0.6543215", "0.7123451", "1:20:05", "0:58:00"]),
        "0.654322 in 'time' was read as a part of a day, as a spreadsheet counts times",
    ),
    "a day without an order": (
        lambda: _days("AB", "AC", "BC", days=[0, 0, 1]),
        f"nothing tells the order of 2 matches on 1 day {ORDER}",
    ),
    "days without an order": (
        lambda: _days("AB", "AC", "BC", "AB", "AC", days=[0, 0, 1, 1, 1]),
        f"nothing tells the order of 5 matches on 2 days {ORDER}",
    ),
    "a day that times order in part": (
        lambda: kn.read_matches({"time": [f"2024-01-01 {at}:00" for at in ("12:00", "12:00", "12:01", "12:02")],
                                 "home": list("ABAC"), "away": list("BCCB"), "result": [1, 0, 1, 0.5]}),
        f"'time' alone does not tell the order of 2 matches on 1 day {ORDER}",
    ),
    "a day and a month in figures": (
        lambda: kn.read_matches({"date": ["07.01.2024", "19.02.2024"], "home": ["A", "B"], "away": ["B", "A"],
                                 "result": [1, 0]}),
        "dates were read as in 31.12.2024",
    ),
    "the month first": (
        lambda: kn.read_matches({"date": ["01/07/2024", "02/19/2024"], "home": ["A", "B"], "away": ["B", "A"],
                                 "result": [1, 0]}),
        "dates were read as in 12/31/2024",
    ),
    "White and Black": (
        lambda: kn.read_matches({"White": ["A", "B"], "Black": ["B", "A"], "result": [1, 0]}),
        "there is no column of neutral venues: having White counts as playing at home",
    ),
    "two models": (
        lambda: kn.read_matches({"model_a": ["A", "B"], "model_b": ["B", "A"], "winner": ["model_a", "tie"]}),
        "there is no column of neutral venues: being named first (model_a) counts as playing at home",
    ),
    "a venue away": (
        lambda: _venues("home", "away", "home", "neutral"),
        "1 entry of 'venue' says that the first side was away: that venue counts as neutral",
    ),
    "venues away": (
        lambda: _venues("home", "away", "away", "neutral"),
        "2 entries of 'venue' say that the first side was away: those venues count as neutral",
    ),
    "a discard": (
        lambda: _sheet("2", "3", "1"),
        "1 result is marked as a discard: it was reached, and counts like the others",
    ),
    "discards": (
        lambda: _sheet("2", "(3)", "1"),
        "2 results are marked as discards: they were reached, and count like the others",
    ),
    "an empty cell": (lambda: _sheet("2", "", "1"), "1 cell of the sheet is empty: that entrant was not in that race"),
    "empty cells": (
        lambda: kn.read_contests(
            {"name": list("ABCD"), "R1": list("1234"), "R2": ["2", "", "1", ""], "R3": list("2134")}
        ),
        "2 cells of the sheet are empty: those entrants were not in those races",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NOTES)
def test_a_note_says_what_was_made_of_it(case):
    call, sentence = NOTES[case]
    assert sentence in call().notes


def test_times_of_a_spreadsheet_are_parts_of_a_day():
    """0.654 of a day beside 1:20:05 and 0:58:00: the order is that of seconds."""
    races = _race("time", ["0.0543215", "0.0423451", "1:20:05", "0:58:00"])
    seconds = [0.0543215 * 86_400, 0.0423451 * 86_400, 4805.0, 3480.0]
    order = [races.entrants[code] for code in races.entrant]
    assert order == [f"D{k}" for k in np.argsort(seconds)]
