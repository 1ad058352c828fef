"""Options of reading, on every command that reads a file of results."""

import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app

ROWS = "date,home,away,winner\n" + "".join(
    f"2024-01-{day:02},{home},{away},{winner}\n"
    for day, (home, away, winner) in enumerate(
        [("Bombay", "Delhi", "Mumbai"), ("Delhi", "Mumbai", "Bombay"), ("Mumbai", "Delhi", "Delhi")] * 6, 1
    )
)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "results.csv").write_text(ROWS)
    (tmp_path / "names.csv").write_text("found,wanted\nBombay,Mumbai\n")
    return str(tmp_path / "results.csv"), str(tmp_path / "names.csv")


@pytest.mark.parametrize(
    "command", [["rate"], ["predict", "--match", "Bombay - Delhi", "--results"]], ids=lambda c: c[0]
)
def test_aliases_join_a_renamed_club(command, files):
    results, names = files
    CliRunner().invoke(app, ["read", results, "--aliases", names, "--drop-repeats", "--scale", "points"])
    said = CliRunner().invoke(app, [*command, results])
    assert said.exit_code == 0, said.output
    table = said.output[said.output.index("Home" if command[0] == "predict" else "Delhi") - 200 :]
    assert "Mumbai" in table and "Bombay" not in table.replace("'Bombay'", "")
    unread = CliRunner().invoke(app, [*command, results, "--condition", "surface"])
    assert isinstance(unread.exception, kn.InputError) and "'surface' is no column" in str(unread.exception)


def test_aliases_reach_the_names_of_winners(files):
    matches = kn.read_matches(files[0], aliases=files[1])
    assert matches.result.tolist() == [1.0, 0.0, 0.0] * 6


def test_a_mapping_to_winner_and_loser_is_a_table_of_winners():
    names = [f"side {k}" for k in range(9)]
    table = {
        "date": [f"2024-02-{day:02}" for day in range(1, 29)],
        "winner": [names[k % 9] for k in range(28)],
        "loser": [names[(k + 1 + k // 9) % 9] for k in range(28)],
    }
    plain = kn.read_matches(table)
    for mapping in ({"home": "winner", "away": "loser"}, {"home": "loser", "away": "winner"}):
        mapped = kn.read_matches(table, columns=mapping)
        assert (mapped.result == plain.result).all() and (mapped.home == plain.home).all()
    assert 0 < plain.result.mean() < 1
