"""Names that may be one side are reported with the way to join them; nothing is joined unasked."""

import os
import random
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app
from kinelo.matches.same_side import Meetings, _candidates, _one_name, _one_word, _related

CLUBS = (
    "Manchester United",
    "Manchester City",
    "Fulham",
    "Leeds United",
    "West Ham",
    "Newcastle United",
    "Arsenal",
    "Everton",
)


def league(other=None, half=28):
    """A double round of eight clubs, of which some are called otherwise from the middle on."""
    order, rows = list(CLUBS), []
    for k in range(14):
        pairs = [(order[i], order[-1 - i]) for i in range(4)]
        rows += [(f"2024-{1 + k // 4:02d}-{1 + 7 * (k % 4):02d}", *(pair if k < 7 else pair[::-1])) for pair in pairs]
        order.insert(1, order.pop())
    table = pl.DataFrame(rows, ["date", "home", "away"], orient="row").with_row_index("n")
    late = pl.col("n") >= half
    for name, new in (other or {}).items():
        table = table.with_columns(
            pl.when(late & (pl.col(side) == name)).then(pl.lit(new)).otherwise(pl.col(side)).alias(side)
            for side in ("home", "away")
        )
    return table.with_columns(result=(pl.col("n") % 3) / 2).drop("n")


def likely(table):
    return set(map(frozenset, kn.matches.likely_names(kn.read_matches(table)).rows()))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Manchester United", "Man United"),
        ("Manchester United", "Man Utd"),
        ("Manchester United", "United Manchester"),
        ("Fulham", "Fulham FC"),
        ("Fulham", "Fullham"),
        ("Newcastle United", "Newcastle"),
        ("Arsenal", "The Arsenal"),
        ("Everton", "FC Everton"),
        ("West Ham", "West Ham United"),
    ],
)
def test_a_club_called_otherwise_is_found_and_not_joined(name, other):
    table = league({name: other})
    assert likely(table) == {frozenset((name, other))}
    matches = kn.read_matches(table)
    assert len(matches.teams) == 9
    note = [note for note in matches.notes if "names that may be one side" in note]
    assert len(note) == 1 and name in note[0] and other in note[0] and "aliases={" in note[0]


def test_other_clubs_are_other_clubs():
    assert likely(league()) == set()
    for other in ("West Ham Women", "West Ham II", "West Ham U21", "East Ham"):
        assert likely(league({"West Ham": other})) == set(), other


@pytest.mark.parametrize("fault", ["meets", "same day", "strange opponents"])
def test_what_the_matches_contradict_is_not_reported(fault):
    table = league({"Fulham": "Fulham FC"})
    if fault == "meets":  # without days, on which alone they would be two
        table = table.drop("date")
        assert likely(table) == {frozenset(("Fulham", "Fulham FC"))}
        more = [("Fulham", "Fulham FC", 1.0)]
    elif fault == "same day":
        more = [("2024-12-01", "Fulham", "Arsenal", 1.0), ("2024-12-01", "Fulham FC", "Everton", 1.0)]
    else:
        table = league()
        more = [(f"2024-12-{k + 1:02d}", "Fulham FC", f"Other {'XYZ'[k]}", 1.0) for k in range(3)]
    assert likely(pl.concat([table, pl.DataFrame(more, table.schema, orient="row")])) == set()


def test_the_file_of_pairs_joins_them(tmp_path):
    league({"Fulham": "Fulham FC", "Manchester United": "Man Utd"}).write_csv(tmp_path / "m.csv")
    read, pairs = ["read", str(tmp_path / "m.csv")], str(tmp_path / "pairs.csv")
    said = CliRunner().invoke(app, [*read, "--write-aliases", pairs])
    assert said.exit_code == 0 and "may be one side" in said.stderr
    assert pl.read_csv(tmp_path / "pairs.csv").columns == ["found", "wanted"]
    CliRunner().invoke(app, [*read, "--aliases", pairs])
    joined = CliRunner().invoke(app, ["rate", str(tmp_path / "m.csv"), "--k", "20", "--out", str(tmp_path / "r.csv")])
    assert "may be one side" not in joined.stderr and pl.read_csv(tmp_path / "r.csv").height == 8


def regatta(other="Ann Smithe", late=8):
    """Eleven races of seven, of whom Ann Smith is called otherwise in the last."""
    names = ["Ann Smith", "Bo Reed", "Cy Young", "Di West", "Ed Stone", "Flo Hall", "Gus Lane"]
    rows = []
    for race in range(11):
        entrants = [name for k, name in enumerate(names) if (k + race) % 4]
        called = [other if name == "Ann Smith" and race >= late else name for name in entrants]
        rows += [(race, f"2024-05-{race + 1:02d}", name, place) for place, name in enumerate(called, 1)]
    return pl.DataFrame(rows, ["race", "date", "sailor", "place"], orient="row")


def test_an_entrant_called_otherwise_is_found_too(tmp_path):
    table = regatta()
    contests = kn.read_contests(table)
    assert kn.matches.likely_names(contests).rows() == [("Ann Smithe", "Ann Smith")]
    [note] = [note for note in contests.notes if "names that may be one entrant" in note]
    assert "'Ann Smithe' and 'Ann Smith'" in note and "aliases={" in note
    table.write_csv(tmp_path / "races.csv")
    read, pairs = ["read", str(tmp_path / "races.csv")], str(tmp_path / "pairs.csv")
    said = CliRunner().invoke(app, [*read, "--write-aliases", pairs])
    assert said.exit_code == 0, said.output
    CliRunner().invoke(app, [*read, "--aliases", pairs])
    joined = CliRunner().invoke(app, ["rate", str(tmp_path / "races.csv"), "--k", "20", "--json"])
    assert "may be one" not in joined.stderr and "Ann Smithe" not in joined.stdout


@pytest.mark.parametrize("fault", ["meets", "same day", "strange rivals", "another name"])
def test_what_contests_contradict_is_not_reported(fault):
    table = regatta("Ann Jones" if fault == "another name" else "Ann Smithe")
    if fault == "meets":  # without days, on which alone they would be two
        table = table.drop("date")
        assert kn.matches.likely_names(kn.read_contests(table)).rows() == [("Ann Smithe", "Ann Smith")]
    more = {
        "meets": [(20, "Ann Smith", 1), (20, "Ann Smithe", 2)],
        "same day": [(20 + k, "2024-06-01", name, 1 + (name == "Bo Reed")) for k, both in
                     enumerate((("Ann Smith", "Bo Reed"), ("Ann Smithe", "Bo Reed"))) for name in both],
        "strange rivals": [(20, "2024-06-01", f"Other {k}" if k > 1 else "Ann Smithe", k) for k in range(1, 22)],
        "another name": [],
    }[fault]  # fmt: skip
    table = pl.concat([table, pl.DataFrame(more, table.schema, orient="row")])
    assert kn.matches.likely_names(kn.read_contests(table)).rows() == []


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [
        "intl_football/matches.csv",
        "nba/matches.csv",
        "mlb_retrosheet/matches_1990on.csv",
        "worldcup/matches.csv",
        "wyscout/matches.csv",
    ],
)
def test_real_leagues_give_no_false_report(name):
    path = Path(os.environ.get("KINELO_DATA", "")) / name
    if not path.is_file():
        pytest.skip("the real matches are not here; name their folder in KINELO_DATA")
    assert kn.matches.likely_names(kn.read_matches(path)).rows() == []


def test_pairs_to_look_at_are_few_and_leave_none_out():
    """Beside a look at every pair."""
    draw = random.Random(1)
    parts = [
        "man",
        "manchester",
        "mancester",
        "utd",
        "united",
        "city",
        "north",
        "b",
        "2",
        "real",
        "madrid",
        "mad",
        "town",
        "sql04",
        "sql05",
        "sql",
    ]
    for _ in range(10):
        words = {k: tuple(draw.choice(parts) for _ in range(draw.choice([1, 2, 2, 3]))) for k in range(80)}
        likely = [pair for pair in combinations(words, 2) if _one_name(words[pair[0]], words[pair[1]])]
        assert [pair for pair in _candidates(words) if _one_name(words[pair[0]], words[pair[1]])] == likely != []
    assert _candidates({k: ("player", str(k)) for k in range(2_000)}) == []
    assert _candidates({k: (f"player_{k:04d}",) for k in range(2_000)}) == []


def test_words_that_may_be_one_are_found_without_a_look_at_every_pair():
    draw = random.Random(2)
    for letters in ("ab", "abc1", "abcdefgh"):
        words = {"".join(draw.choice(letters) for _ in range(draw.randint(1, 7))) for _ in range(150)}
        slow = {word: {other for other in words if other != word and _one_word(word, other)} for word in words}
        assert _related(words) == slow and any(slow.values())


@pytest.mark.parametrize("dated", [True, False])
def test_meetings_of_names_are_those_of_a_scan_of_all_matches(dated):
    draw = np.random.default_rng(3)
    home = draw.integers(0, 9, 60).astype(np.int32)
    away = ((home + draw.integers(1, 9, 60)) % 9).astype(np.int32)
    day = draw.integers(0, 20, 60)
    rows = list(zip(home.tolist(), away.tolist(), day.tolist()))
    meetings = Meetings({0, 4, 8}, home, away, day if dated else None)
    for code in (0, 4, 8):
        own = [row for row in rows if code in row[:2]]
        assert meetings.matches(code) == len(own)
        assert meetings.opponents(code) == {other for row in own for other in row[:2]} - {code}
        assert meetings.days(code).tolist() == (sorted({row[2] for row in own}) if dated else [])
    for one, other in combinations((0, 4, 8), 2):
        shared = {d for h, a, d in rows if one in (h, a)} & {d for h, a, d in rows if other in (h, a)}
        assert meetings.on_one_day(one, other) == (dated and bool(shared))
