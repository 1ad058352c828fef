"""Stored files name classes; whatever they name, reading them imports and calls nothing from outside Kinelo."""

import builtins
import json
import os
import re
import sqlite3
import subprocess
import sys
import tomllib
from contextlib import closing
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
import zarr
from numcodecs import Pickle
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.lab.rate.controller import RatingController
from kinelo.paper.figure import read_figures
from kinelo.paper.reproduce import preparation
from kinelo.results.layout import Layout, read_dataset, read_zarr
from kinelo.results.manifest import Manifest
from kinelo.results.store import RunStore
from kinelo.studies import parse_study, read_study
from kinelo.sweeps.store import unpacked
from kinelo.sweeps.study import read_sweep, run_study_sweep

MARK = "mark-of-the-stranger"
TRAP = f"from pathlib import Path\nPath({MARK!r}).touch()\nclass Trap:\n    def __init__(self, **keys):\n        pass\n"
NAMES = [
    "os:system",
    "builtins:eval",
    "subprocess:call",
    "kinelo.book.database:os.system",
    "kinelo.raters.choice:import_module",
    "kinelo.raters.team.rater:TeamElo.__init__.__globals__",
    "kinelo.raters.team.rater:TeamElo.classic",
    "kinelo.raters.trap:Trap",
    "scipy.stats:t.__class__",
    "scipy.stats:np.load",
    "trap:Trap",
    "trap:Path",
    "trap",
    "..trap:Trap",
    ":Trap",
]


@pytest.fixture
def nothing_runs(tmp_path, monkeypatch):
    """A folder with a module that leaves a mark when it is imported; the tests end without one and without a call."""
    (tmp_path / "trap.py").write_text(TRAP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    called = []
    for module, name in ((os, "system"), (builtins, "eval"), (subprocess, "call")):
        real = getattr(module, name)

        def watched(*given, real=real, **keys):
            if MARK in repr((given, keys)):
                called.append((real, given, keys))
            return real(*given, **keys)

        monkeypatch.setattr(module, name, watched)
    yield tmp_path
    assert not called and "trap" not in sys.modules
    assert not list(tmp_path.rglob(MARK))


def refused(call, *words, **keys):
    with pytest.raises(kn.InputError) as caught:
        call(*words, **keys)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def matches():
    return kn.read_matches(
        {"date": ["2024-01-01", "2024-01-02"], "home": ["A", "B"], "away": ["B", "C"], "result": [1, 0]}
    )


def book_naming(folder, **about):
    """A book whose description says something else."""
    with kn.RatingBook(folder, kn.TeamElo.classic(k=20)) as book:
        book.add(matches())
    with closing(sqlite3.connect(folder)) as database:
        for key, value in about.items():
            text = value if isinstance(value, str) else json.dumps(value)
            database.execute("UPDATE about SET value = ? WHERE key = ?", (text, key))
        database.commit()
    return folder


COMMANDS = (
    ("book", "b"),
    ("rate", "b"),
    ("predict", "--book", "b", "--match", "A - B"),
    ("rate", "results.csv", "--book", "b"),
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("settings", [{"command": f"touch {MARK}"}, {}])
def test_a_book_runs_nothing_that_it_names(nothing_runs, name, settings):
    book = book_naming(Path("b"), rater=name, settings=settings)
    said = refused(kn.RatingBook, book)
    assert f"b is a book of {name}, which is neither a rater of Kinelo's nor declared by an installed plug-in" in said
    assert "not of kinelo.raters.team.rater:ClassicElo" in refused(kn.RatingBook, book, kn.TeamElo.classic(k=20))


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_no_command_runs_what_a_book_names(nothing_runs, words):
    book_naming(Path("b"), rater="kinelo.book.database:os.system", settings={"command": f"touch {MARK}"})
    Path("results.csv").write_text("date,home,away,result\n2024-02-01,A,B,1\n")
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code != 0 and "neither a rater of Kinelo's" in str(done.exception or done.output)


@pytest.mark.parametrize(
    "about",
    [
        {"settings": {"start": "/etc/passwd"}},
        {"settings": {"k_of": "results.csv"}},
        {"settings": {"step": 20.0, "no_such_argument": 1}},
        {"settings": {"k": {"kind": "os:system"}}, "systems": ["k"]},
        {"settings": {"k": {"kind": "Trap"}}, "systems": ["k"]},
        {"settings": {"k": {"kind": ["FideSteps"]}}, "systems": ["k"]},
        {"settings": {"k": {"outcome": {"kind": "trap:Trap"}}}, "systems": ["k"]},
        {"settings": None},
        {"systems": ["os"]},
    ],
    ids=repr,
)
def test_arguments_that_a_book_names_are_refused(nothing_runs, about):
    said = refused(kn.RatingBook, book_naming(Path("b"), **about))
    assert "it is damaged" in said


BASE = {
    "gamma": 0.05,
    "outcome": {"kind": "tanh", "nu": 0.5},
    "league": {"kind": "normal", "theta": [0.0, 1.0], "sigma": 1.0},
    "population": {"kind": "uniform", "theta": [4, 10, 4], "r": [2, 12, 8], "sigma": 1.0},
    "simulate": {"steps": 4, "seed": 1},
}
SECTIONS = ("outcome", "pairing", "league", "schedule", "dynamics", "gamma", "population", "shape")


def naming(section, name):
    """A study that names something in one of its sections."""
    law = {"kind": name, "command": f"touch {MARK}"}
    return BASE | ({"solve": {"until": 0.1, "shape": law}} if section == "shape" else {section: law})


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_a_study_runs_nothing_that_it_names(nothing_runs, section, name):
    said = refused(parse_study, naming(section, name))
    if section == "shape" and name.startswith("scipy.stats:"):
        assert f"The distribution {name} was not found" in said
    elif ":" in name and section in ("outcome", "pairing", "league", "shape"):
        where = "solve.shape" if section == "shape" else section
        assert said == (
            f"study: {where}.kind = {name!r} runs code from outside Kinelo; if you trust the file and the module, "
            "allow it with --allow-code, or allow_code=True in Python."
        )


@pytest.mark.parametrize("section", ["outcome", "pairing", "league", "shape"])
@pytest.mark.parametrize("name", [name for name in NAMES if "trap" not in name.lower()])
def test_what_is_no_law_is_not_called_where_code_is_allowed(nothing_runs, section, name):
    """It is imported, as was asked, and looked at."""
    said = refused(parse_study, naming(section, name), allow_code=True)
    assert re.search(r"is not a (class made from|distribution)|was not found|cannot be made from command", said), said


def toml(content, before=""):
    """A nested mapping as TOML."""
    lines, tables = [], []
    for key, value in content.items():
        if isinstance(value, dict):
            tables.append(f"[{before}{key}]\n{toml(value, f'{before}{key}.')}")
        else:
            lines.append(f"{key} = {json.dumps(value)}")
    return "\n".join([*lines, *tables]) + "\n"


@pytest.mark.parametrize("command", ["simulate", "solve", "diagnose", "design", "sweep"])
def test_commands_run_nothing_that_a_study_names(nothing_runs, command):
    section = "shape" if command == "solve" else "outcome"
    content = naming(section, "trap:Trap") | {"sweep": {"gamma": [0.1, 0.2]}}
    Path("study.toml").write_text(toml(content))
    assert tomllib.loads(Path("study.toml").read_text()) == content
    done = CliRunner().invoke(app, ["study", command, "study.toml", *(["--out", "o"] if command != "design" else [])])
    assert done.exit_code != 0 and "--allow-code" in str(done.exception or done.output)
    assert not Path("o").exists()
    assert "--allow-code" in refused(read_study, "study.toml")


def test_axes_of_a_sweep_and_systems_of_a_design_run_nothing(nothing_runs):
    Path("study.toml").write_text(toml(BASE | {"sweep": {"outcome": {"kind": ["trap:Trap"]}}}))
    for read in (read_sweep, run_study_sweep):
        assert "runs code from outside Kinelo" in refused(read, "study.toml")
    points = BASE | {"sweep": {"compute": "simulate", "outcome": {"kind": ["tanh", "trap:Trap"]}}}
    Path("study.toml").write_text(toml(points))
    with pytest.warns(kn.KineloWarning, match="1 of 2 points could not be computed"):
        table = run_study_sweep("study.toml")
    assert "runs code" in table.failure.values[1] and table.failure.values[0] == ""
    Path("study.toml").write_text(toml(BASE | {"design": {"x": {"pairing": {"kind": "trap:Trap"}}}}))
    done = CliRunner().invoke(app, ["study", "design", "study.toml"])
    assert "runs code from outside Kinelo" in str(done.exception or done.output)


def test_figure_files_run_nothing(nothing_runs):
    Path("figures").mkdir()
    figure = {"figure": 1, "title": "t", "draw": "trap:Trap"}
    Path("figures/one.toml").write_text(toml(figure))
    [read] = read_figures(Path("figures"))
    assert "draw must be one of" in refused(preparation, read.draw, read.source)
    run = toml(naming("outcome", "trap:Trap")).replace("[", "[run.")
    Path("figures/one.toml").write_text(
        "figure = 1\ntitle = 't'\ndraw = 'spread'\n[[run]]\nname = 'a'\n"
        + run.replace("[run.0", "[0").replace("[run.4", "[4").replace("[run.2", "[2")
    )
    assert "runs code from outside Kinelo" in refused(read_figures, Path("figures"))


def test_a_session_of_the_lab_runs_nothing(nothing_runs):
    table = {"name": "r", "header_lines": 1, "columns": {"home": ["A"], "away": ["B"], "result": ["1"]}}
    columns = {"home": "home", "away": "away", "result": "result"}
    for name in NAMES:
        said = {"kinelo_session": 1, "tables": {"results": table}, "columns": columns, "rater": name}
        Path("session.json").write_text(json.dumps(said))
        controller = RatingController(lambda words: None)
        seen = controller.open_session("session.json", "session.json", 10, 10, {"results": "kept"})
        assert f"There is no rater {name!r}" in refused(controller.rate, columns, seen["chosen"]["rater"])


LAYOUT = Layout(rows=2, fixed={}, series={"rating": (("team",), (2,))})


def stored_run(folder, **change):
    """A run of one row whose manifest says something else, under a digest that holds."""
    with RunStore.open(folder, {"seed": 1}, LAYOUT, interval=0.0) as store:
        store.append({"rating": np.zeros(2)}, state={"row": np.array(1)})
    manifest = Manifest.read(folder)
    manifest.changed(**change).write(folder)


@pytest.mark.parametrize("name", ["../precious", "state-1.npz/../../precious", "precious", "/precious", "os:system"])
def test_a_run_deletes_and_reads_nothing_outside_its_folder(nothing_runs, name):
    Path("precious").write_text("kept")
    stored_run(Path("run"), state=name)
    assert "is damaged" in refused(RunStore.open, Path("run"), {"seed": 1}, LAYOUT)
    stored_run(Path("other"), files={"../precious": "0"})
    assert "manifest.json is missing or changed" in refused(RunStore.open, Path("other"), {"seed": 1}, LAYOUT)
    assert Path("precious").read_text() == "kept"


def test_a_dataset_is_not_unpickled(nothing_runs):
    """Arrays of zarr's version 2 may name pickle as the codec of their chunks."""
    group = zarr.open_group("data", mode="w", zarr_format=2)
    array = group.create_array("rating", shape=(1,), chunks=(1,), dtype="float64", filters=[Pickle()], compressors=None)
    array.attrs["_ARRAY_DIMENSIONS"] = ["team"]
    Path("data/rating/0").write_bytes(f"cos\nsystem\n(S'touch {MARK}'\ntR.".encode())
    with ZipFile("data.zip", "w") as archive:
        for path in sorted(Path("data").rglob("*")):
            archive.write(path, path.relative_to("data"))
    refused(read_dataset, "data")
    for read in (lambda: read_zarr(Path("data")), lambda: unpacked(Path("data.zip"))):
        with pytest.raises(FileNotFoundError, match="group"):
            _ = read().rating.values


def test_a_class_of_ones_own_is_taken_from_code_and_from_the_command_line(tmp_path, monkeypatch):
    text = "import kinelo as kn\nclass Mine(kn.TeamElo):\n    pass\n"
    (tmp_path / "my_rater_of_a_book.py").write_text(text)
    (tmp_path / "results.csv").write_text(
        "date,home,away,result\n"
        + "".join(f"2024-01-{1 + k:02},{'ABC'[k % 3]},{'BCA'[k % 3]},{k % 2}\n" for k in range(24))
    )
    monkeypatch.chdir(tmp_path)
    name = "my_rater_of_a_book:Mine"
    runner = CliRunner()
    made = runner.invoke(app, ["rate", "results.csv", "--rater", name, "--book", "b"])
    assert made.exit_code == 0, made.output
    for words in (["book", "b"], ["rate", "b"], ["predict", "--book", "b", "--match", "A - B"]):
        without, given = runner.invoke(app, words), runner.invoke(app, [*words, "--rater", name])
        assert without.exit_code != 0 and f"--rater {name}" in str(without.exception or without.output)
        assert given.exit_code == 0, given.output
    monkeypatch.syspath_prepend(tmp_path)
    import my_rater_of_a_book  # type: ignore[import-not-found]

    refused(kn.RatingBook, "b")
    for handed in (my_rater_of_a_book.Mine, my_rater_of_a_book.Mine()):
        assert type(kn.RatingBook("b", handed).rater) is my_rater_of_a_book.Mine
    refused(kn.RatingBook, "b", kn.TeamElo)
    refused(kn.RatingBook, "none", my_rater_of_a_book.Mine)
