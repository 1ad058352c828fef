"""The neighbouring models: every figure is made from small runs, every statement judged, all in one report."""

import json
import re

import pytest

import kinelo as kn
from kinelo.paper.catalogue import (
    PACKAGES_OF_PLACES,
    check_claims,
    checks,
    figure_names,
    place_of,
    preparation,
    study_texts,
)
from kinelo.paper.figure import read_figures
from kinelo.paper.report import write_report
from kinelo.paper.reproduce import reproduce


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The figure files with runs short enough for a test."""
    folder = tmp_path_factory.mktemp("figures")
    for name, text in study_texts("neighbours"):
        text = re.sub(r"steps = \d+", "steps = 12", text)
        text = re.sub(r"matches_per_step = \d+", "matches_per_step = 300", text)
        text = re.sub(r"realisations = \d+", "realisations = 2", text)
        text = re.sub(r"record_every = \d+", "record_every = 1", text)
        text = re.sub(r"points = \d+", "points = 6", text)
        text = re.sub(r"noisy = \d+", "noisy = 2", text)
        text = re.sub(r"teams = 20\b", "teams = 8", text)
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def test_report(small, tmp_path):
    figures = read_figures(small, "full", [2, 3, 4])
    result = reproduce(figures, tmp_path, scale="quick", threads=1)
    content = json.loads(write_report(result, tmp_path).with_suffix(".json").read_text(encoding="utf-8"))
    assert len(content["figures"]) == 3
    assert len(content["claims"]) + content["counts"]["left_out"] == len(checks("neighbours"))
    assert content["counts"]["not_measured"] == 0
    by_statement = {one["statement"]: one["verdict"] for one in content["claims"]}
    assert by_statement["the mean map settles exactly where K N sup b′ < 2"] == "depends"
    assert by_statement["the deviation shrinks for those who play"] == "depends"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The models beside the paper" in page and "What the paper says" not in page
    assert page.count("<figure ") == 3


def test_learning_is_judged(small):
    """Figure 1 from its smallest runs: a lag stays, and ratings show less than strengths do."""
    [figure] = read_figures(small, "full", [1])
    runs = {
        name: kn.simulate(
            study.system, study.strengths, steps=8, matches_per_step=400, realisations=2, seed=1, record_every=1,
            dynamics=study.motion,
        )
        for name, study in figure.studies.items()
    }  # fmt: skip
    found = preparation("learning", "learning.toml")(figure, runs)
    assert found.floor == pytest.approx(0.202392527, abs=1e-6)
    claims, left_out = check_claims({"learning": found})
    assert [one.verdict for one in claims] == ["does not hold", "does not hold"] and left_out == 5


def test_places_do_not_share_names():
    names = [name for what in PACKAGES_OF_PLACES for name in figure_names(what)]
    assert len(names) == len(set(names))
    assert {place_of(name) for name in figure_names("neighbours")} == {"neighbours"}
