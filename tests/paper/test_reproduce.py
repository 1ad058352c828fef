import contextlib
import errno
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from html import escape
from pathlib import Path

import numpy as np
import pytest
from tiny import run_bytes, write_studies
from typer.testing import CliRunner

import kinelo.paper.reproduce
import kinelo.results.store
from kinelo.cli import main
from kinelo.cli.commands import app
from kinelo.cli.study import lasting_interrupt
from kinelo.errors import InputError
from kinelo.paper.figure import read_figures
from kinelo.paper.folder import open_folder, read_content
from kinelo.paper.report import report_page
from kinelo.paper.reproduce import reproduce


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    return write_studies(tmp_path_factory.mktemp("studies"))


@pytest.fixture(scope="module")
def whole(studies, tmp_path_factory):
    """A reproduction that was never interrupted, and what it returned."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, reproduce(read_figures(studies), folder)


@pytest.fixture
def undrawn(monkeypatch):
    """Drawings that take no time, where only the runs matter."""
    blank = {"png": b"blank", "pdf": b"blank"}
    monkeypatch.setattr(kinelo.paper.reproduce, "render", lambda name, evidence, scale="full": blank)


def reproduce_command(studies: Path, out: Path, *more: str) -> list[str]:
    arguments = ["reproduce", "--studies", str(studies), "--out", str(out), *more]
    # A test run in the background inherits that Ctrl-C is ignored.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "import kinelo.results.store as s; s.INTERVAL = 0.0; from kinelo.cli import main; main()"
    )
    return [sys.executable, "-c", program, *arguments]


def wait_for_checkpoint(process: subprocess.Popen, out: Path, before: set[Path]) -> None:
    while process.poll() is None and set(out.glob("runs/*/state-*.npz")) <= before:
        time.sleep(0.01)


def test_figures_are_written_and_embedded(whole):
    folder, result = whole
    names = {path.name for path in (folder / "figures").iterdir()}
    assert names == {f"figure-0{n}.{kind}" for n in (4, 5, 8) for kind in ("png", "pdf")}
    page = report_page(result)
    assert page.count("data:image/png;base64,") == 4  # each figure, and the one that shows the answer once more
    for figure in result.figures:
        assert f'id="figure-{figure.study.number}"' in page


def test_the_report_is_self_contained_and_complete(whole):
    _, result = whole
    page = report_page(result)
    assert not re.search(r"""(src|href)=["'](?!#|data:|https://doi\.org/)""", page)
    assert not re.search(r"""src=["'](?!data:)""", page)
    assert "url(" not in page and "<script" not in page
    for claim in result.claims:
        assert '<span class="verdict' in page and claim.verdict in page and escape(claim.quote) in page
    for text in ("Symbols", "What cannot be measured", "doi:10.1098/rsta.2021.0155", "Enlarge Figure 4"):
        assert text in page
    assert "How the paper is read" in page
    for name in ("numpy", "numba", "kinelo"):
        assert f"{name} {result.provenance.versions[name]}" in page
    assert f"{result.claims_left_out} more statements need figures" in page


def test_claims_of_missing_figures_are_left_out(whole):
    _, result = whole
    assert result.claims_left_out > 0
    assert {number for claim in result.claims for number in claim.finding.figures} <= {4, 5, 7, 8, 10}


def test_an_interrupted_reproduction_continues_and_ends_bit_identical(whole, studies, tmp_path, monkeypatch, undrawn):
    """Ctrl-C at several points of the progress; checkpoints at every record."""
    monkeypatch.setattr(kinelo.results.store, "INTERVAL", 0.0)
    figures = read_figures(studies)
    expected = run_bytes(whole[0])
    for stop_at in (1, 9, 22):
        calls = 0

        def watch(progress, stop_at=stop_at):
            nonlocal calls
            calls += 1
            if calls == stop_at:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            reproduce(figures, tmp_path, watch=watch)
    reproduce(figures, tmp_path)
    assert run_bytes(tmp_path) == expected


@pytest.mark.long
def test_a_killed_command_resumes_and_ends_bit_identical(tmp_path, undrawn):
    """SIGKILL at moments drawn with a fixed seed, each time with other threads, then to the end."""
    studies = write_studies(tmp_path / "studies", steps=100_000, every=4_000)
    reproduce(read_figures(studies, wanted=[4, 5]), tmp_path / "whole")
    draw, out, killed = random.Random(8), tmp_path / "out", 0
    chosen = ("--figure", "4", "--figure", "5", "--resume")
    for attempt in range(2):
        before = set(out.glob("runs/*/state-*.npz"))
        process = subprocess.Popen(
            reproduce_command(studies, out, *chosen, "--threads", str(1 + attempt % 2)),
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OPENBLAS_NUM_THREADS": str(2 - attempt % 2)},
        )
        wait_for_checkpoint(process, out, before)
        timer = threading.Timer(draw.uniform(0.0, 0.2), process.send_signal, [signal.SIGKILL])
        timer.start()
        killed += process.wait() == -signal.SIGKILL
        timer.cancel()
    assert killed >= 1
    reproduce(read_figures(studies, wanted=[4, 5]), out)
    assert run_bytes(out) == run_bytes(tmp_path / "whole")


@pytest.mark.long
def test_ctrl_c_says_how_to_go_on(tmp_path):
    studies = write_studies(tmp_path / "studies", steps=3_000_000, every=30_000)
    out = tmp_path / "out"
    process = subprocess.Popen(
        reproduce_command(studies, out, "--figure", "4"), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    wait_for_checkpoint(process, out, set())
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in complaint
    assert "go on with --resume" in complaint


def test_an_interrupt_that_python_drops_still_stops_the_work():
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with lasting_interrupt() as check:
            check()
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                check()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_finished_runs_are_not_computed_again(whole, studies):
    folder, first = whole
    before = {path: path.stat().st_mtime_ns for path in (folder / "runs").rglob("*")}
    again = reproduce(read_figures(studies), folder, scale="quick")  # without PDF, the slowest part of it
    assert {path: path.stat().st_mtime_ns for path in (folder / "runs").rglob("*")} == before
    assert (first.runs_found, again.runs_found) == (0, 3)
    for one, other in zip(first.figures, again.figures):
        assert one.png == other.png


def test_changed_inputs_are_computed_anew_beside_the_old(tmp_path, undrawn):
    studies = write_studies(tmp_path / "studies")
    text = (studies / "micro.toml").read_text(encoding="utf-8")
    (studies / "micro.toml").write_text(text.replace("league.sigma = 2.0", "league.sigma = 2.5"), encoding="utf-8")
    figures = read_figures(write_studies(tmp_path / "first"), wanted=[4])
    reproduce(figures, tmp_path / "out")
    before = run_bytes(tmp_path / "out")
    result = reproduce(read_figures(studies, wanted=[4]), tmp_path / "out")
    after = run_bytes(tmp_path / "out")
    assert result.runs_found == 1
    assert {name: after[name] for name in before} == before
    assert len({Path(name).parts[1] for name in after}) == 3


def test_a_full_disk_loses_nothing_finished(whole, studies, tmp_path, monkeypatch, undrawn):
    write, calls = kinelo.results.store.sync_file, 0

    def full(path):
        nonlocal calls
        calls += 1
        if calls > 30:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path)

    with monkeypatch.context() as patch:
        patch.setattr(kinelo.results.store, "sync_file", full)
        with pytest.raises(InputError, match=r"is full .* continue with --resume; everything finished so far is kept"):
            reproduce(read_figures(studies), tmp_path)
    assert reproduce(read_figures(studies), tmp_path).runs_found >= 1
    assert run_bytes(tmp_path) == run_bytes(whole[0])


def test_a_damaged_run_is_refused(studies, tmp_path, undrawn):
    figures = read_figures(studies, wanted=[4])
    reproduce(figures, tmp_path)
    chunk = sorted((tmp_path / "runs").rglob("c/3/0/0"))[0]
    chunk.write_bytes(chunk.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match="is damaged"):
        reproduce(figures, tmp_path)


def test_quick_and_full_live_side_by_side(studies, tmp_path, undrawn):
    for scale in ("full", "quick"):
        reproduce(read_figures(studies, scale, [4]), tmp_path, scale=scale)
    assert len(list((tmp_path / "runs").iterdir())) == 4


def test_simulated_and_solved_numbers_agree_with_theory(whole):
    _, result = whole
    evidence = {figure.study.number: figure.evidence for figure in result.figures}
    run = evidence[4].runs["σ = 1"]
    assert abs(run.slope - run.computed_slope) < 5 * run.slope_error + 0.01
    kinetic = evidence[5].runs["σ = 1"]
    assert np.abs(kinetic.mean_given_theta - kinetic.taylor_map).max() < 2 * 0.25


def test_unknown_figures_and_folders_are_one_sentence(studies, tmp_path, monkeypatch, capsys):
    words = ["kinelo", "reproduce", "--studies", str(studies), "--out", str(tmp_path / "out"), "--figure", "12"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit, match=r"^2$"):
        main()
    assert capsys.readouterr().err == "kinelo: There is no figure 12; the figures are 4, 5, 8.\n"
    assert not (tmp_path / "out").exists()


def test_folders(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("precious")
    for resume in (False, True):
        with pytest.raises(InputError, match="is not a reproduction; it is left alone"):
            open_folder(tmp_path / "mine", resume=resume)
    open_folder(tmp_path / "out", resume=False)
    with pytest.raises(InputError, match="already holds a reproduction: add --resume"):
        open_folder(tmp_path / "out", resume=False)
    open_folder(tmp_path / "out", resume=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is not a reproduction"):
        open_folder(tmp_path / "file", resume=False)
    with pytest.raises(InputError, match="cannot be written"):
        open_folder(tmp_path / "file" / "out", resume=False)


def test_the_command_writes_a_report(studies, tmp_path):
    result = CliRunner().invoke(
        app, ["reproduce", "--studies", str(studies), "-f", "8", "--scale", "quick", "--out", str(tmp_path / "out")]
    )
    assert result.exit_code == 0, result.output
    assert "1 figures" in result.output
    assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    assert read_content(tmp_path / "out")["scale"] == "quick"
    assert [path.name for path in (tmp_path / "out" / "studies").iterdir()] == ["theory.toml"]
