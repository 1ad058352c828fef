"""What figures of the reproduction, pictures and pages refuse, word by word."""

from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

import kinelo as kn
from kinelo.paper.catalogue import known
from kinelo.paper.figure import read_figures
from kinelo.paper.figures import step_scan
from kinelo.paper.folder import open_folder, read_content
from kinelo.paper.kinetic import uniform_domain
from kinelo.paper.neighbours import deviations, learning
from kinelo.paper.reproduce import check_plan
from kinelo.paper.summary import homogeneous_league
from kinelo.pictures.style import save
from refusals import check_refusal

TWO = {"date": ["2024-01-01", "2024-01-08"], "home": ["A", "B"], "away": ["B", "C"], "result": [1.0, 0.5]}
SYSTEM, LEAGUE = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), kn.Normal([4.0, 7.0, 10.0], 1.0)


def figure(draw):
    return next(one for one in read_figures(None, "quick") if one.draw == draw)


def rater():
    return kn.TeamElo.classic(k=20).fit(kn.read_matches(TWO))


def history():
    return kn.rating_history(rater(), kn.read_matches(TWO))


def open_axes(count):
    axes = plt.subplots(1, count)[1]
    return list(np.atleast_1d(axes))


CASES = {
    "a figure that is not there": (
        lambda: known("pie", "mine.toml"), r"mine\.toml: draw must be one of .*spread.*, not 'pie'\.",
    ),
    "one kind of league": (
        lambda: step_scan.prepare(replace(figure("step_scan"), studies={}), {}),
        'This figure needs leagues of kind = "r1" and of kind = "r2".',
    ),
    "no uniform population": (
        lambda: uniform_domain(SimpleNamespace(population=None, system=SYSTEM), None),
        'This figure needs populations of kind = "uniform" and teams that all play all.',
    ),
    "a uniform population of neighbours": (
        lambda: uniform_domain(
            SimpleNamespace(
                population=SimpleNamespace(kind="uniform"), system=replace(SYSTEM, pairing=kn.model.Window(c=2.0))
            ),
            None,
        ),
        'This figure needs populations of kind = "uniform" and teams that all play all.',
    ),
    "no league of equals": (
        lambda: homogeneous_league(SimpleNamespace(league=SimpleNamespace(kind="r1"))),
        'This figure needs leagues of kind = "homogeneous".',
    ),
    "no deviations": (
        lambda: deviations.prepare(
            SimpleNamespace(studies={deviations.RUN: SimpleNamespace(system=SYSTEM)}, source="mine.toml"),
            {deviations.RUN: None},
        ),
        "mine.toml: the run must be rated with deviations.",
    ),
    "no learning": (
        lambda: learning.prepare(
            SimpleNamespace(studies={"one": SimpleNamespace(motion=kn.model.Walk(0.1))}, source="mine.toml"), {}
        ),
        "mine.toml: the runs must have learning as their dynamics.",
    ),
    # Pages and pictures
    "a title that is a number": (
        lambda: kn.pages.share_page(rater(), title=7), "title must be text, not 7.",
    ),
    "somebody of a ranking": (
        lambda: kn.pages.share_page(rater(), of="A", ranking={"caution": 2}),
        "A page of somebody is made from a fitted rater, and without a ranking.",
    ),
    "somebody of a diagnosis": (
        lambda: kn.pages.share_page(kn.diagnose(SYSTEM, LEAGUE), of="A"),
        "A page of somebody is made from a fitted rater, and without a ranking.",
    ),
    "a page without matches": (
        lambda: kn.pages.share_page(kn.TeamElo.classic(k=20).update(kn.read_matches(TWO))),
        "A page of ratings needs the matches: fit the rater, or give matches=….",
    ),
    "a history of a stranger": (
        lambda: kn.plot.histories(history(), ["Zoe"]),
        "'Zoe' has no rating in this history; names are written as in the results.",
    ),
    "size of type": (
        lambda: kn.plot.stationary(kn.stationary(SYSTEM, LEAGUE), size=1),
        r"size must be points, from [\d.]+ to [\d.]+, not 1\.",
    ),
    "too many axes": (
        lambda: kn.plot.stationary(kn.stationary(SYSTEM, LEAGUE), ax=open_axes(4)),
        r"This picture has \d panels: ax must be so many axes, not 4\.",
    ),
    "a format that cannot be drawn": (
        lambda: save(plt.figure(), "map.xyz"),
        "The picture map.xyz cannot be drawn: its name must end in .png, .pdf or .svg.",
    ),
}  # fmt: skip

STUDY = 'figure = 1\ntitle = "Mine"\ndraw = "spread"\n'
SYSTEMS = '[study]\ngamma = 0.05\n[study.outcome]\nkind = "tanh"\nnu = 0.5\n'
FILES = {
    "no TOML": ("figure = ", "mine.toml is not valid TOML: Invalid value (at end of document)."),
    "a key that is not known": (
        STUDY + "colour = 3\n",
        "mine.toml: unknown key 'colour'; accepted here: caption, draw, figure, parameters, printed, quick, run, "
        "study, title.",
    ),
    "no title": ('figure = 1\ndraw = "spread"\n', "mine.toml: the key 'title' is missing."),
    "a run without a name": (STUDY + "[[run]]\n", "mine.toml: every [[run]] needs a name of its own, not None."),
    "a name twice": (
        STUDY + SYSTEMS + '[[run]]\nname = "a"\n[[run]]\nname = "a"\n',
        "mine.toml: every [[run]] needs a name of its own, not 'a'.",
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_what_is_wrong(case):
    check_refusal(CASES[case])


@pytest.mark.parametrize("case", FILES)
def test_a_file_of_a_figure_says_what_is_wrong(case, tmp_path):
    content, sentence = FILES[case]
    path = tmp_path / "mine.toml"
    path.write_text(content)
    check_refusal((lambda: read_figures(tmp_path, "quick"), sentence))


def test_folders_of_reproductions_say_what_is_wrong(tmp_path):
    report, sentence = tmp_path / "report.json", "make the reproduction again."
    check_refusal((lambda: read_content(tmp_path), f"{report} is missing or cannot be read; {sentence}"))
    report.write_text('{"format": "kinelo report 0"}')
    check_refusal((lambda: read_content(tmp_path), f"{report} was not written by this version of Kinelo; {sentence}"))
    check_refusal(
        (
            lambda: open_folder(tmp_path, resume=True),
            f"{tmp_path} holds something that is not a reproduction; it is left alone, choose another --out.",
        )
    )
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_a_figure_beyond_what_a_machine_holds_is_named(tmp_path):
    (one,) = read_figures(None, "quick", [2], changes={2: {"study": {"simulate": {"realisations": 10**13}}}})
    check_refusal((lambda: check_plan([one], tmp_path), r"Figure 2, R1: .*\d.*\."))
