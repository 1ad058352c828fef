"""Tables: every way to show one says the same, and names in it command nothing."""

import io
import re

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.charts import Chart, Trace
from kinelo.cli.commands import app
from kinelo.cli.output import console
from kinelo.pages.chart import chart_html
from kinelo.presentation import Table, json_ready, number, span, words

ROWS = [
    {"name": "<A>", "rating": 1512.34, "low": 1480.0, "high": 1544.0},
    {"name": "[red]B", "rating": float("nan"), "low": 1.0, "high": 2.0},
    {"name": None, "rating": None, "low": 3.0, "high": 4.0},
]
COLUMNS = [words("Name", "name"), number("Rating", "rating", ".1f"), span("95 %", "low", "high", ".0f")]
EXPECTED = [["<A>", "1512.3", "1480 to 1544"], ["[red]B", "–", "1 to 2"], ["–", "–", "3 to 4"]]


def printed(table: Table) -> str:
    terminal = console()
    terminal.file, terminal.width = io.StringIO(), 80
    terminal.print(table)
    return terminal.file.getvalue()


def test_a_board_that_hardly_fits_keeps_its_names_whole():
    """Six columns of 84 signs with a frame and of 80 without one: the last name stands on its line."""
    name = "Kovac, Ben of Upper Lowland and the Isle"  # 40 signs
    columns = [words("Name", "name"), *[number(f"n{k}", f"n{k}", ".0f") for k in range(5)]]
    for digits, framed in ((4, True), (5, False)):
        row = {"name": name} | {f"n{k}": 10 ** (digits - 1) for k in range(5)}
        text = printed(Table(columns, [row]))
        assert name in text and ("┏" in text) is framed
    two = [words("What", "what"), words("Long", "long")]  # a paragraph beside a word is no board
    assert "┏" in printed(Table(two, [{"what": "K", "long": "a sentence " * 12}]))


def test_terminal_and_page_say_the_same():
    table = Table(COLUMNS, ROWS, "Ratings & more", ("a sentence",))
    assert table.cells() == EXPECTED
    rows = [line for line in printed(table).splitlines() if line.startswith("│")]
    assert [[cell.strip() for cell in line.strip("│").split("│")] for line in rows] == EXPECTED
    found = re.findall(r"<td.*?>(.*?)</td>", table.html())
    assert [found[k : k + 3] for k in (0, 3, 6)] == [["&lt;A&gt;", *EXPECTED[0][1:]], *EXPECTED[1:]]
    assert "Ratings &amp; more" in table.html() and "Ratings & more" in printed(table)
    assert printed(table).endswith("a sentence\n") and table.html().endswith("<p>a sentence</p>")


def test_what_is_left_out_is_counted():
    table = Table(COLUMNS, ROWS)
    assert table.head(3) is table
    assert table.head(1).cells() == EXPECTED[:1] and table.head(1).below == ("and 2 more",)


def test_a_frame_is_shown_under_its_own_names():
    frame = pl.DataFrame({"full_name": ["A"], "share": [0.12345], "matches": [12], "seen": [True]})
    table = Table.of(frame, ".2f")
    assert [column.label for column in table.columns] == ["full name", "share", "matches", "seen"]
    assert [column.number for column in table.columns] == [False, True, True, False]
    assert table.cells() == [["A", "0.12", "12", "True"]]


def test_json_has_no_number_that_readers_refuse():
    assert json_ready({"a": (float("inf"), 1), "b": [float("nan"), "x"]}) == {"a": [None, 1], "b": [None, "x"]}
    plain = json_ready([np.float64("nan"), np.int64(2), np.bool_(True)])
    assert plain == [None, 2, True] and [type(value) for value in plain[1:]] == [int, bool]


def test_names_of_entrants_are_shown_as_they_are(tmp_path):
    races = kn.matches.sample_contests(contests=12, entrants=6, size=6, seed=1)
    odd = dict(zip(sorted(races["entrant"].unique()), ["[red]Ann", "[/]", "Bo:smile:"]))
    races.with_columns(pl.col("entrant").replace(odd)).write_csv(tmp_path / "races.csv")
    said = CliRunner().invoke(app, ["rate", str(tmp_path / "races.csv"), "--k", "20", "--least-matches", "1"])
    assert said.exit_code == 0, said.output
    assert all(name in said.output for name in odd.values())


def test_a_chart_keeps_every_day_of_its_dates():
    """As JSON for the lab, and drawn as SVG: days of one month, and of another, lie where they belong."""
    days = np.array(["2024-01-01", "2024-03-17", "2024-03-29", "2024-05-20"], "datetime64[D]")
    chart = Chart("Ratings", "", "rating", [Trace("Ash", 0, "markers", days.astype("datetime64[s]"), [1, 2, 4, 3])])
    assert chart.to_dict()["traces"][0]["x"] == [str(day) for day in days]
    places = [float(at) for at in re.findall(r'<circle[^>]* cx="([^"]+)"', chart_html(chart))]
    shares = (np.array(places) - places[0]) / (places[-1] - places[0])
    assert shares.tolist() == pytest.approx([0, 76 / 140, 88 / 140, 1], abs=1e-4)
