"""Statements of other papers: every figure is made from small runs, and what decides is held by a twin of its own."""

import json
import re
from copy import deepcopy

import numpy as np
import pytest

import kinelo as kn
from kinelo.paper.catalogue import checks, drawing, figure_names, study_texts
from kinelo.paper.figure import read_figures
from kinelo.paper.literature.cycles import expected_results, without_drift
from kinelo.paper.literature.fits import power_law
from kinelo.paper.literature.local_pairing import follow
from kinelo.paper.literature.massive import MassiveEvidence, bounded, moved, never_worse
from kinelo.paper.literature.one_adversary import median
from kinelo.paper.literature.pairing_speed import graphs, spectral_gap
from kinelo.paper.literature.round_robin import round_factor
from kinelo.paper.report import write_report
from kinelo.paper.reproduce import reproduce
from kinelo.paper.words import rank_elo_words

SMALLER = {
    r"steps = [\d_]+": "steps = 60", r"realisations = [\d_]+": "realisations = 8",
    r"record_every = [\d_]+": "record_every = 2",
    r"leagues = \d+": "leagues = 4", r"matches = [\d_]+": "matches = 480", r"until = [\d.]+": "until = 60.0",
    r"starts = \d+": "starts = 2", r"contests = \d+": "contests = 3", r"field = \d+": "field = 5",
    r"ahead = \[.*\]": "ahead = [0.0, 400.0, 800.0]",
}  # fmt: skip


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The figure files with runs short enough for a test."""
    folder = tmp_path_factory.mktemp("figures")
    for name, text in study_texts("literature"):
        for pattern, short in SMALLER.items():
            text = re.sub(pattern, short, text)
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def draw_only(name, evidence, scale):
    """Draw a figure and leave it in memory: files take half of the time, and are written by the paper's own figures."""
    assert drawing(name)(evidence).axes
    return {"png": bytes(24)}


def test_one_report_of_all(small, tmp_path, monkeypatch):
    monkeypatch.setattr("kinelo.paper.reproduce.render", draw_only)
    result = reproduce(read_figures(small, "full"), tmp_path, scale="quick", threads=1)
    content = json.loads(write_report(result, tmp_path).with_suffix(".json").read_text(encoding="utf-8"))
    assert len(content["figures"]) == len(figure_names("literature")) == 8
    assert len(content["claims"]) == len(checks("literature")) and content["counts"]["not_measured"] == 0
    assert all(one["place"] and one["criterion"] and one["measured"] for one in content["claims"])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Other papers on Elo's rule" in page and "What the paper says" not in page and "Abstract read" in page


def test_statements_are_numbered_without_gaps():
    assert [one.order for one in checks("literature")] == list(range(1, len(checks("literature")) + 1))


def test_a_power_is_found_with_its_error():
    """Slope and standard error by hand for two points: ln 3/ln 4, √(2 · 0.1²)/ln 4."""
    law = power_law(np.array([1.0, 4.0]), np.array([5.0, 15.0]), np.array([0.5, 1.5]))
    assert law.power == pytest.approx(np.log(3) / np.log(4)) and law.error == pytest.approx(np.sqrt(0.02) / np.log(4))


def test_the_factor_of_a_round_is_that_of_two_tables():
    """Two near tables, one round of expected results each: no direction shrinks less than the norm says."""
    table, outcome, gamma = np.array([-2.0, -0.3, 0.1, 1.9]), kn.Tanh(nu=0.7), 0.15
    rng = np.random.default_rng(5)

    def one_round(rating):
        return rating - gamma * outcome.b(rating[:, None] - rating[None, :]).sum(axis=1)

    away = rng.normal(size=(400, 4)) * 1e-6
    away -= away.mean(axis=1, keepdims=True)
    ratios = [np.linalg.norm(one_round(table + one) - one_round(table)) / np.linalg.norm(one) for one in away]
    factor = round_factor(outcome, table, gamma)
    assert max(ratios) == pytest.approx(factor, rel=0.02) and max(ratios) <= factor * (1 + 1e-6)


def test_mean_ratings_flow_to_the_skills_where_all_meet():
    skills = np.array([-2.0, -0.5, 0.1, 2.4])
    start = np.array([[1.0, 0.0, -2.0, 1.0], [0.0, 0.0, 0.0, 0.0]])
    path = follow(kn.Tanh(nu=0.5), kn.model.AllPlayAll(), skills, start, np.array([0.0, 10.0, 400.0]))
    assert path.shape == (2, 3, 4) and path[:, 0] == pytest.approx(start - start.mean(axis=1, keepdims=True))
    assert path[0, -1] == pytest.approx(skills - skills.mean(), abs=1e-6) == path[1, -1]


def test_ratings_without_drift_are_those_of_the_library():
    """A league of results, everybody against everybody, is what ``kn.stationary`` solves."""
    outcome = kn.Tanh(nu=0.5)
    table = expected_results(outcome, np.array([1.1, 0.4, -0.2, -0.4, -0.9]), 0.25)
    found = without_drift(outcome, table, 1 - np.eye(5))
    settled = kn.stationary(outcome, kn.model.Results(table)).rating
    assert found == pytest.approx(settled - settled.mean(), abs=1e-8)


def test_gaps_of_graphs_are_those_of_formulas():
    """A complete graph N/(N − 1) and a ring 1 − cos(2π/N), per match of a player, on 16 players."""
    found = graphs(16)
    assert spectral_gap(found["everybody"]) == pytest.approx(16 / 15)
    assert spectral_gap(found["ring"]) == pytest.approx(1 - np.cos(2 * np.pi / 16))
    assert all(pairs.sum() == pytest.approx(1.0) and np.array_equal(pairs, pairs.T) for pairs in found.values())


def test_the_error_of_a_median_covers():
    """1.25 σ/√n for a normal sample, within a third (200 samples of 900, seed fixed)."""
    rng = np.random.default_rng(8)
    found = np.array([median(rng.normal(3.0, 2.0, 900)) for _ in range(200)])
    assert found[:, 1].mean() == pytest.approx(1.2533 * 2.0 / 30, rel=0.1)
    assert found[:, 0].std() == pytest.approx(found[:, 1].mean(), rel=0.2)


def test_what_is_told_of_our_own_rater_follows_its_verdicts():
    """Three entrants and made-up ratings by place: one step up is enough to be said, none is not."""
    falls, rises = np.array([[9.0, 6.0, 4.0]] * 3), np.array([[9.0, 6.0, 4.0]] * 2 + [[9.0, 3.0, 4.5]])
    ahead, same, grows = np.array([0.0, 1.0, 2.0]), np.array([5.0, 5.0, 5.4]), np.array([5.0, 7.0, 9.0])

    def told(by_place, lost, lost_plain):
        found = MassiveEvidence(("A", "B", "C"), falls[:, 0], by_place, falls, ahead, lost, lost_plain)
        claims = [one.claim({"massive": found}) for one in (never_worse, bounded)]
        return [claim.verdict for claim in claims], rank_elo_words(claims)

    verdicts, words = told(falls, same, same)
    assert verdicts == ["holds", "holds"] and words.count(": holds") == 2 and "bad days" not in words
    verdicts, words = told(rises, same, grows)
    assert verdicts == ["depends", "depends"] and words.count(": depends on whether performances may be off") == 2
    verdicts, words = told(rises, grows, grows)
    assert verdicts == ["depends", "does not hold"] and words.endswith("however surprising: does not hold.")


def test_without_bad_days_nobody_gains_by_finishing_worse():
    """A law of RankElo: the own rating never rises with the place, other things equal."""
    rater = kn.RankElo(walk=0.3, prior_spread=1.0, newcomer=0.0, regression=0.0, retirement=0.0, off=0.0, ties=0.0)
    rng, names = np.random.default_rng(3), list("ABCDEFG")
    for week in range(12):
        order = sorted(names, key=lambda name: names.index(name) + 2 * rng.normal())
        rater.update_one(order[: 5 + week % 3], date=f"2024-{1 + week:02d}-07")
    order = names[1:]
    for name in ("B", "D", "G"):
        after = [
            _rating(deepcopy(rater).update_one(moved(order, name, place), date="2025-02-01"), name)
            for place in range(len(order))
        ]
        assert (np.diff(after) < 0).all()


def _rating(rater: kn.RankElo, name: str) -> float:
    return dict(rater.ratings_.select("name", "rating").iter_rows())[name]
