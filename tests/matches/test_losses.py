"""Rows that cannot be used are said first where they are many, and asked about where they are most."""

import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app
from kinelo.matches.rows import NoMatches


def matches(lost, rows=40):
    """Matches of which the first of every few has no readable date, so many in all."""
    every = rows // lost if lost else rows + 1
    return {
        "date": ["soon" if lost and k % every == 0 else f"2024-01-{k % 28 + 1:02d}" for k in range(rows)],
        "home": ["ABCDEFGHIJ"[k % 10] for k in range(rows)],
        "away": ["ABCDEFGHIJ"[(k + 3) % 10] for k in range(rows)],
        "result": [k % 2 for k in range(rows)],
    }


def races(lost, rows=40):
    table = matches(lost, rows)
    return {"date": table["date"], "race": [k // 4 for k in range(rows)], "driver": table["home"],
            "place": [k % 4 + 1 for k in range(rows)]}  # fmt: skip


@pytest.mark.parametrize(("read", "table"), [(kn.read_matches, matches), (kn.read_contests, races)])
def test_many_losses_are_the_first_note_and_most_are_asked_about(read, table):
    assert not any("cannot be used" in note for note in read(table(2)).notes), "5 % are not many"
    assert (
        read(table(4))
        .notes[0]
        .startswith("4 of 40 rows (10 %) cannot be used, 4 of them for: unreadable date, such as 'soon' in row 1")
    )
    broken = table(20) | {"date": ["soon"] * 21 + ["2024-01-01"] * 19}
    with pytest.raises(NoMatches, match=r"Most of the table is lost: 2\d of 40 rows.*accept_losses=True"):
        read(broken)
    assert "cannot be used" in read(broken, accept_losses=True).notes[0]
    with pytest.raises(kn.InputError, match="accept_losses must be True or False"):
        read(table(0), accept_losses="yes")


def test_matches_to_come_and_empty_rows_are_no_losses():
    table = matches(0) | {"date": [f"2024-01-{k % 14 + 1:02d}" for k in range(10)] + ["2024-02-01"] * 30}
    table["result"] = [1] * 10 + [None] * 30
    season = kn.read_matches(table)
    assert len(season) == 10 and not any("cannot be used" in note for note in season.notes)
    table["date"] = ["2024-02-01"] * 30 + ["2024-03-01"] * 10
    table["result"] = [None] * 30 + [1] * 10
    with pytest.raises(NoMatches, match="missing result"):
        kn.read_matches(table)
    blank = {name: column + [None] * 99 for name, column in matches(0).items()}
    assert len(kn.read_matches(blank)) == 40 and not len(kn.read_matches(blank).rejected)


def test_who_was_left_out_on_purpose_is_not_lost():
    table = {"race": [1] * 6, "driver": list("ABCDEF"), "place": ["1", "2", "DNS", "DNS", "DSQ", "DNS"]}
    assert not any("cannot be used" in note for note in kn.read_contests(table).notes)


def test_two_styles_of_dates_lose_nothing():
    table = matches(0, 12) | {"date": ["01.02.2016", "02/02/16"] * 6}
    assert len(kn.read_matches(table)) == 12
    assert any("dates are written in 2 ways" in note for note in kn.read_matches(table).notes)


@pytest.mark.parametrize("table", [matches, races])
def test_commands_say_it_first_and_take_the_answer(tmp_path, table):
    import polars as pl

    broken = table(0) | {"date": ["soon"] * 21 + ["2024-01-01"] * 19}
    pl.DataFrame(broken).write_csv(tmp_path / "m.csv")
    words = ["rate", str(tmp_path / "m.csv"), "--k", "20"]
    said = CliRunner().invoke(app, [*words, "--rejects", str(tmp_path / "rejects.csv")])
    assert isinstance(said.exception, NoMatches), "which ends as one sentence, with exit code 2"
    assert "--accept-losses" in str(said.exception) and "'soon' in row 1" in str(said.exception)
    assert pl.read_csv(tmp_path / "rejects.csv").height >= 21
    CliRunner().invoke(app, ["read", str(tmp_path / "m.csv"), "--accept-losses"])
    rated = CliRunner().invoke(app, words)
    assert rated.exit_code == 0 and "of 40 rows" in "".join(rated.stderr.splitlines()[:2])


@pytest.mark.parametrize(
    ("home", "away", "margins"),
    [
        (["1.012", "998"], ["998", "1.100"], [14, -102]),
        (["1.012", "1.250"], ["1.100", "998"], [-88, 252]),
        (["2.5", "1.5"], ["1.5", "2.5"], [1, -1]),
        (["1,012", "998"], ["998", "997"], [14, 1]),
    ],
    ids=["thousands", "in one column", "halves", "commas"],
)
def test_points_between_thousands_are_seen_in_both_columns(home, away, margins):
    table = {"home": ["A", "B"], "away": ["B", "A"], "home_score": home, "away_score": away}
    assert kn.read_matches(table).margin.tolist() == margins
    lines = [f"{one}-{other}" for one, other in zip(home, away)]
    if not any("," in line for line in lines):
        assert kn.read_matches({"home": ["A", "B"], "away": ["B", "A"], "score": lines}).margin.tolist() == margins


def test_numbers_that_lost_their_thousands_are_asked_about():
    table = {"home": ["A", "B"], "away": ["B", "A"], "home_score": [1.012, 998.0], "away_score": [998.0, 870.0]}
    with pytest.raises(kn.InputError, match=r"Scores such as 1\.012 stand beside 998"):
        kn.read_matches(table)
