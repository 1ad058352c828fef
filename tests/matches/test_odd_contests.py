"""Odd tables of contests, as people and organisers write them: each is read right, or a sentence asks.

What is right stands beside each table: entrants in order of their places, ``=`` between those who tie, ``/`` between
contests, and in brackets who did not finish; how many rows were set aside under which reason; or the words that ask.
"""

from datetime import timedelta

import polars as pl
import pytest
from test_spreadsheets import clock, workbook

import kinelo as kn

OUT, DSQ, DNS, LATER = "did not finish", "disqualified", "did not start", "contest not over yet"


def shown(races):
    """Who stands where in each contest."""
    said = []
    for begin, end in zip(races.first[:-1], races.first[1:]):
        words, last = [], None
        for k in range(begin, end):
            name = races.entrants[races.entrant[k]]
            name = f"({name})" if races.ended[k] else name
            words.append(("=" if last == races.place[k] else " ") + name)
            last = races.place[k]
        said.append("".join(words).strip())
    return " / ".join(said)


def race(column, *cells, **more):
    """One contest of A, B, C, …, with these cells in a column."""
    n = len(cells)
    return {"race": ["R"] * n, "name": [chr(65 + k) for k in range(n)], column: list(cells), **more}


ODD_CONTESTS = {
    # Golf.
    "a cut": (race("pos", "1", "T2", "T2", "4", "CUT", "CUT", "MC", "WD"), "A B=C D E=F=G", {DNS: 1}),
    "a second cut": (race("pos", "1", "2", "MDF", "MC", "CUT"), "A B C=D=E", {}),
    "a cut beside totals": (
        race("strokes", 280, 281, 145, 150, status=["F", "F", "CUT", "CUT"]), "A B C=D", {}),
    "a cut in words": (race("place", "1", "2", "missed cut", "Missed the cut", "3"), "A B E C=D", {}),
    "a cut in German": (race("Platz", "1.", "2.", "Cut verpasst", "3."), "A B D C", {}),
    "cut and withdrawn on the way": (
        race("pos", "1", "2", "CUT", "DNF", "CUT", "3"), "A B F C=E (D)", {}),
    "to par": (race("to_par", "-5", "E", "+3", "−7", "CUT"), "D A B C E", {}),
    "a leaderboard under way": (
        race("pos", "1", "2", "3", status=["In progress"] * 3) | {}, "asks: No contest of", {}),
    "a leaderboard live": (race("pos", "1", "2", "3", status=["F", "F", "Live"]), "A B", {LATER: 1}),
    "fewer rounds": (
        race("strokes", 280, 282, 146, 150, R1=[70, 71, 73, 75], R2=[70, 70, 73, 75], R3=[70, 70, None, None],
             R4=[70, 71, None, None]), "A B C=D", {}),
    "half of the strokes": (race("strokes", 280, 282, 146, 150), "asks: far fewer 'strokes' than others", {}),
    # A word for half of a field.
    "half of a field by a word nobody knows": (
        race("pos", "1", "2", "", "", status=["", "", "Out", "Out"]),
        "asks: In 1 of 1 contest half of the entrants", {}),
    "half of a field by a letter": (race("pos", "1", "NC", "NC", "2"), "asks: half of the entrants or more did not",
        {}),
    "half of a field did not finish": (
        race("pos", "1", "2", "DNF", "DNF"), "note: in 1 of 1 contest half of the entrants or more did not finish",
        {}),
    "less than half": (race("pos", "1", "2", "3", "NC", "NC"), "A B C (D)=(E)", {}),
    # Races.
    "a column of why": (
        race("position", "1", "2", "", "", "3", status=["Finished", "+1 Lap", "Engine", "Gearbox", "Finished"]),
        "A B E (C)=(D)", {}),
    "laps behind": (race("time", "1:32:10.5", "+12.3", "+1 Lap", "+2 Laps", "+1 lap"), "A B C=E D", {}),
    "gaps without a sign": (race("time", "4:12:33", "0:12", "0:48", "s.t."), "A B C=D", {}),
    "dead heats": (race("pos", "1", "2=", "2=", "4"), "A B=C D", {}),
    "ranges": (race("pos", "1", "2-3", "2-3", "4/4"), "A B=C D", {}),
    "disqualified": (race("pos", "1", "DSQ", "2", "DQ (weight)"), "A C", {DSQ: 2}),
    "not started": (race("pos", "1", "DNS", "2", "No show", "3"), "A C E", {DNS: 2}),
    "not started in a feed": (race("pos", "1", "2", "3", status=["OK", "OK", "NS"]), "A B", {DNS: 1}),
    "a race to come": (
        race("pos", "1", "2", "", "") | {"race": ["R", "R", "S", "S"], "status": ["Final", "Final", "Scheduled",
        "Scheduled"]},
        "A B", {LATER: 2}),
    "a race called off": (
        race("pos", "1", "2", "0", "0") | {"race": ["R", "R", "S", "S"], "status": ["Final", "Final", "Cancelled",
        "Cancelled"]},
        "A B", {LATER: 2}),
    "where entrants come from": (
        race("pos", "1", "2", "3", "", state=["IN", "OK", "NY", "CA"]), "A B C", {"missing place": 1}),
    "a word nobody knows": (race("pos", "1", "2", "3", "XYZ"), "A B C", {"unreadable place": 1}),
    "horses": (race("pos", "1", "2", "PU", "F", "3"), "A B E (C)=(D)", {}),
    # Times.
    "times of 0": (race("time", "1:00", "0:00", "1:05", "0"), "A C", {"missing place": 2}),
    "gaps that begin with 0": (race("time", "0.0", "1.25", "3.5"), "A B C", {}),
    "times that are none": (race("time", "1:00", "99:99:99", "1:05"), "A C", {"unreadable place": 1}),
    "parts of a day among clocks": (race("time", "0.040289352", "1:02:03", "0.048611111"), "A B C", {}),
    "text": (race("time", "1:10:00", "0:58:01", "62:03"), "B C A", {}),
    "seconds": (race("seconds", 4200, 3481, 3723), "B C A", {}),
    "points as minutes": (race("Zeit", '1.54,31', '1.53,99', "DNF"), "B A (C)", {}),
    "hours and minutes": (race("time", "2h04m", "2h03m59s", "1h59"), "C B A", {}),
    "units": (race("time", "59.5 s", "1:00.1", "61 sec"), "A B C", {}),
    "marks beside times": (race("time", "10.01 Q", "9.98 q", "10.20"), "B A C", {}),
    "lengths of time": (
        race("x", 1, 2, 3) | {"time": pl.Series([4_200_000, 3_481_000, 3_723_000]).cast(pl.Duration("ms"))},
        "B C A", {}),
    "lengths of time of Python": (race("time", timedelta(hours=30), timedelta(hours=26), "DNF"), "B A (C)", {}),
    # Scores.
    "points": (race("points", "25", "18", "26.5"), "C A B", {}),
    "points with commas": (race("Punkte", "7,5", "6½", "8"), "C A B", {}),
    "points between thousands": (race("points", "1,012", "998", "1,100"), "C A B", {}),
    "a score that may mean either": (race("score", 3, 1, 2), "asks: Nothing tells whether a high or a low 'score'", {}),
    # Shapes.
    "a total at the bottom": (
        {"race": ["R", "R", "R", None], "name": ["A", "B", "C", None], "pos": ["2", "1", "3", "6"]}, "B A C",
        {"missing contest": 1}),
    "heats": (
        race("pos", "1", "2", "1", "2", heat=["1", "1", "2", "2"]), "A B / C D", {}),
    "two races of one day": (
        race("pos", "1", "2", "2", "1", date=["2024-01-01"] * 2 + ["2024-01-02"] * 2) | {"name": list("ABAB")},
        "A B / B A", {}),
    "somebody twice": (
        race("pos", "1", "2", "3") | {"name": ["A", "B", "A"]}, "A B", {"entrant twice in one contest": 1}),
    "places of 0": (race("pos", "1", "2", "0", "3", status=["OK", "OK", "DNF", "OK"]), "A B D (C)", {}),
    "a bye": (race("pos", "1", "2", "3") | {"name": ["A", "bye", "C"]}, "A C", {"a name that stands for none": 1}),
    "a wide sheet": (
        {"Pos": [1, 2, 3], "Name": ["A", "B", "C"], "R1": ["1", "2", "DNC"], "R2": ["2", "1", "3"]}, "A B / B A C",
        {DNS: 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_CONTESTS)
def test_odd_contests_are_read_right_or_asked_about(name):
    table, right, aside = ODD_CONTESTS[name]
    if right.startswith("asks: "):
        with pytest.raises(kn.InputError) as asked:
            kn.read_contests(table)
        assert right.removeprefix("asks: ") in str(asked.value)
        return
    races = kn.read_contests(table, accept_losses=True)
    if right.startswith("note: "):
        assert any(right.removeprefix("note: ") in note for note in races.notes)
    else:
        assert shown(races) == right
    assert races.rejected.counts() == aside


@pytest.mark.parametrize("form", ["hh:mm:ss", "[h]:mm:ss", "mm:ss.0", "General"])
@pytest.mark.parametrize("last", [(1, 10, 0), (25, 10, 0), "1:10:00", "DNF"], ids=str)
def test_times_in_cells_of_a_workbook_stand_in_their_order(tmp_path, form, last):
    """Cells that count days, as spreadsheets do with times, whatever their format; words may stand among them."""
    cells = [clock(1, 2, 3), clock(0, 58, 1), last if isinstance(last, str) else clock(*last)]
    sheet = [["race", "runner", "time"], *(["R", name, cell] for name, cell in zip("ABC", cells))]
    races = kn.read_contests(workbook(tmp_path / "r.xlsx", sheet, form=form))
    assert shown(races) == ("B A (C)" if last == "DNF" else "B A C")
    assert not any("behind" in note for note in races.notes if last != "DNF")


def test_any_word_may_stand_for_the_last():
    races = kn.read_contests(race("pos", "1", "OUT", "2", "OUT"), endings={"out": "last"})
    assert shown(races) == "A C B=D" and races.place.tolist() == [1, 2, 3.5, 3.5]


def test_the_title_of_sheets_is_said_once(tmp_path):
    """Four sheets with a title each: one note, and not one of each."""
    sheets = [
        [[f"Season {year}"], ["date", "home", "away", "result"], [f"{year}-01-01", "A", "B", 1]]
        for year in range(2020, 2024)
    ]
    matches = kn.read_matches(workbook(tmp_path / "m.xlsx", *sheets))
    titles = [note for note in matches.notes if "above the header" in note]
    assert len(matches) == 4 and len(titles) == 1 and "as in 4 sheets" in titles[0]


def test_there_are_forty_odd_tables_of_contests():
    assert len(ODD_CONTESTS) >= 40
