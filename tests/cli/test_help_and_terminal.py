"""The command line shows itself, plays cups, and lets no name command the terminal."""

import json
import re

import numpy as np
import polars as pl
import pytest
import typer
from typed import kinelo, one_sentence

import kinelo as kn
from kinelo.cli import app
from kinelo.cli.commands import GROUPS, MOVED, commands_by_name

NAMES = ("Ashford", "Bramley", "Calder", "Dunmore")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    rng = np.random.default_rng(4)
    path = tmp_path_factory.mktemp("cup") / "r.csv"
    rows = []
    for k in range(120):
        a, b = rng.choice(4, 2, replace=False)
        rows.append(
            (str(np.datetime64("2024-01-01") + k), NAMES[a], NAMES[b], float(rng.random() < 0.5 + 0.12 * (b - a)))
        )
    pl.DataFrame(rows, ["date", "home", "away", "result"], orient="row").write_csv(path)
    return path


def test_every_command_stands_under_a_heading_with_its_whole_sentence(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    commands = typer.main.get_command(app).commands
    assert sorted({name.split()[0] for name in commands_by_name()}) == sorted(commands)
    shown = kinelo("--help").stdout
    assert max(map(len, shown.splitlines())) <= 80 and "..." not in shown.partition("\n")[2]
    plain = " ".join(shown.split())
    for name, command in commands.items():
        sentence = " ".join(command.help.split("\n\n")[0].split())
        assert sentence.endswith(".") and f"{name} {sentence}" in plain, name
    assert all(f"{heading}:" in shown for heading in GROUPS)


def test_help_of_every_command_is_plain_and_its_examples_can_be_copied(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    whole = typer.main.get_command(app).commands
    verbs = {f"study {name}": command for name, command in whole["study"].commands.items()}
    for name, command in (whole | verbs).items():
        shown = command.get_help(command.context_class(command, info_name=f"kinelo {name}"))
        assert max(map(len, shown.splitlines())) <= 80 and not set("<{}") & set(shown), f"{name}: types, not words"
        copied = re.sub(r" \\\n +", " ", shown).splitlines()
        examples = [line.split(maxsplit=1)[1] for line in command.help.splitlines() if line.startswith("Example")]
        assert examples and all(f"  {one}" in copied for one in examples), f"{name}: examples in lines of their own"
        contests = name == "read"
        assert ("\nContests of many entrants:\n  --slot" in shown) == contests == ("--unfinished" in shown), name
        if contests:
            assert shown.index("Options:") < shown.index("--help") < shown.index("How the file is read:")


@pytest.mark.parametrize("name", MOVED)
def test_an_earlier_name_says_where_it_went(name):
    """In one sentence, with any arguments; what it names is there, and help does not list it."""
    for words in ((), ("--help",), ("x.csv", "--json")):
        sentence = one_sentence(kinelo(name, *words))
        assert f"There is no kinelo {name} any more: kinelo " in sentence
        now = sentence.split("any more: kinelo ")[1].split()
        options = {option for option in now if option.startswith("--")}
        shown = kinelo(*(["study", now[1]] if now[0] == "study" else now[:1] if now[0][:2] != "--" else []), "--help")
        assert shown.returncode == 0 and all(option.rstrip(",;") in shown.stdout for option in options)
    assert f"\n  {name} " not in kinelo("--help").stdout


def test_a_form_takes_its_own_options_alone(results):
    for words, sentence in [
        (("season", results), "a file of FIXTURES, or a cup"),
        (("season", results, "f.csv", "--knockout", "A; B"), "--knockout takes no FIXTURES."),
        (("season", results, "f.csv", "--date", "2024-01-01"), "--date goes with --knockout."),
        (("audit", results, "--farming", "--by", "home"), "--farming takes no --by."),
        (("audit", results, "--top", 3), "--top goes with --farming or --changeover."),
        (("audit", results, "--farming", "--changeover", "k=3"), "--farming and --changeover ask two things"),
        (("predict", "--preview", "--fair", "x", "--match", "A - B"), "--preview and --fair ask two things"),
        (("predict", "f.csv", "--preview", "--match", "A - B"), "--preview takes no FIXTURES."),
        (("predict", "--preview"), "--preview asks about one match"),
        (("predict", "--sides", 3, "--match", "A - B"), "--sides goes with --balance."),
        (("predict", "--balance", "nobody.txt", "--results", results), "nor a file of names"),
        (("rate", results, "--by", "home", "--out", "x.csv"), "--by shows a board of each part"),
        (("--json",), "beside --devices"),
    ]:
        assert sentence in one_sentence(kinelo(*words)), words


def test_a_cup_is_what_the_function_says(results, tmp_path):
    cup = ("season", results, "--knockout", "; ".join(NAMES), "--rater", "glicko", "--seed", 3)
    said = kinelo(*cup, "--json", "--out", tmp_path / "cup.csv")
    assert said.returncode == 0, said.stderr
    found = json.loads(said.stdout)
    matches = kn.read_matches(results)
    twin = kn.knockout(kn.Glicko().fit(matches), list(NAMES), date="2024-04-30", seed=3)
    assert found["date"] == "2024-04-30" and found["title"] == pytest.approx(twin.to_dict()["title"])
    assert pl.read_csv(tmp_path / "cup.csv")["name"].to_list() == found["name"]
    shown = kinelo(*cup).stdout
    assert "Final" in shown and "Wins it" in shown and f"{100 * max(found['title']):.1f} %" in shown


@pytest.mark.parametrize(
    ("sides", "sentence"),
    [
        (("Ashford", "Bramley", "Calder"), "2, 4, 8, … different sides"),
        (("Ashford", "Ashford"), "different sides"),
        (("Ashford", "Bramly"), "Did you mean Bramley?"),
    ],
)
def test_a_cup_that_cannot_be_played_is_refused(results, sides, sentence):
    said = kinelo("season", results, "--knockout", "; ".join(sides), "--rater", "glicko")
    assert said.returncode == 2 and sentence in said.stderr.splitlines()[-1]


def test_names_do_not_command_the_terminal(tmp_path):
    """Colours, titles and markup in names are text or nothing; rich's markup is text too."""
    strange = ["\x1b[31mRed\x1b[0m", "\x1b]0;title\x07Bell", "[bold]Bold[/bold]", "[/]", ":smile:", "Tab\tbed"]
    rows = [(f"2024-01-{k + 1:02d}", strange[k % 6], strange[(k + 1 + k // 6) % 6], 1.0) for k in range(24)]
    rows = [row for row in rows if row[1] != row[2]]
    pl.DataFrame(rows, ["date", "home", "away", "result"], orient="row").write_csv(tmp_path / "r.csv")
    said = kinelo("rate", tmp_path / "r.csv", "--k", 20, "--least-matches", 0)
    assert said.returncode == 0, said.stderr
    assert "\x1b" not in said.stdout + said.stderr and "\x07" not in said.stdout
    for name in ("Red", "Bell", "[bold]Bold[/bold]", "[/]", ":smile:", "Tab bed"):
        assert name in said.stdout, name
    assert kn.read_matches(tmp_path / "r.csv").teams[0] == "Red"
