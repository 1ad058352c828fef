"""Study files: what they build, and that every mistake is named in one sentence."""

from pathlib import Path

import numpy as np
import pytest

import kinelo as kn
from kinelo.studies import parse_study, read_study
from kinelo.studies.simulation import run_simulation, total_matches

BASE = {"gamma": 0.05, "outcome": {"kind": "tanh", "nu": 0.5}, "league": {"kind": "r2"}}


@pytest.mark.parametrize("path", sorted((Path(__file__).parents[2] / "studies").glob("*.toml")), ids=lambda p: p.name)
def test_the_shipped_studies_are_valid(path):
    study = read_study(path)
    assert study.title
    assert (study.strengths.teams >= 2) if study.league else study.teams is not None


@pytest.mark.parametrize(
    ("outcome", "built"),
    [
        ({"kind": "tanh", "nu": 0.5}, kn.Tanh(0.5)),
        ({"kind": "tanh", "nu": "elo"}, kn.Tanh.elo()),
        ({"kind": "probit", "nu": 0.5}, kn.model.Probit(0.5)),
        ({"kind": "davidson", "nu": 0.5, "kappa": 1}, kn.model.Davidson(0.5, 1.0)),
    ],
)
def test_outcomes(outcome, built):
    assert parse_study({**BASE, "outcome": outcome}).system.outcome == built


@pytest.mark.parametrize(
    ("pairing", "built"),
    [
        ({"kind": "all-play-all"}, kn.model.AllPlayAll()),
        ({"kind": "local"}, kn.model.Local()),
        ({"kind": "window", "c": 2.0, "smoothing": 0.5}, kn.model.Window(2.0, 0.5)),
    ],
)
def test_pairings(pairing, built):
    assert parse_study({**BASE, "pairing": pairing}).system.pairing == built


@pytest.mark.parametrize(
    ("league", "teams"),
    [
        ({"kind": "r1", "teams": 30}, 30),
        ({"kind": "homogeneous", "sigma": 1.0, "teams": 12}, 12),
        ({"kind": "fixed", "theta": [1, 2, 3]}, 3),
        ({"kind": "normal", "theta": [1, 2, 3], "sigma": [0.1, 0.2, 0.3]}, 3),
        ({"kind": "lineups", "rho": [[1, 2, 3], [1, 1, 1]], "m": 2}, 2),
        ({"kind": "empirical", "values": [[1, 2], [3, 4]], "probabilities": [0.5, 0.5]}, 2),
    ],
)
def test_leagues(league, teams):
    assert parse_study({**BASE, "league": league}).strengths.teams == teams


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gama": 1}, r"unknown key 'gama'; accepted here: title, gamma, outcome"),
        (
            {"outcome": {"kind": "tanh", "nu": 0.5, "mu": 1}},
            r"unknown key 'outcome.mu'; accepted here: kind, nu\.",
        ),
        ({"outcome": {"kind": "cauchy"}}, r"outcome.kind must be one of 'tanh', 'probit', 'davidson', .* not 'cauchy'"),
        ({"outcome": {"kind": "tanh", "nu": -1}}, r"\[outcome\] nu must be greater than 0, not -1"),
        ({"outcome": {"nu": 0.5}}, "the key 'outcome.kind' is missing"),
        ({"gamma": "fast"}, "gamma: input should be a valid number"),
        ({"gamma": float("nan")}, "gamma: input should be a finite number"),
        ({"gamma": -1}, "gamma must be greater than 0"),
        ({"league": {"kind": "normal", "theta": [1.0], "sigma": 1}}, r"\[league\] theta must list at least 2 teams"),
        ({"league": {"kind": "lineups", "rho": [[1, 2], [3, 4]], "m": 3}}, "m must be at most M"),
        ({"simulate": {"step": 3}}, "unknown key 'simulate.step'; accepted here: steps, seed"),
        ({"simulate": {"steps": 3}}, "the key 'simulate.seed' is missing"),
    ],
)
def test_mistakes_are_named(change, words):
    with pytest.raises(kn.InputError, match=words) as caught:
        parse_study({**BASE, **change}, "league.toml")
    assert str(caught.value).startswith("league.toml: ") and "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(kn.InputError, match="There is no study file"):
        read_study(tmp_path / "none.toml")
    with pytest.raises(kn.InputError, match="cannot be read"):
        read_study(tmp_path)
    (tmp_path / "bad.toml").write_text("gamma = = 1")
    with pytest.raises(kn.InputError, match="not valid TOML"):
        read_study(tmp_path / "bad.toml")


def test_sections_that_are_needed_are_asked_for():
    study = parse_study({key: value for key, value in BASE.items() if key != "league"})
    with pytest.raises(kn.InputError, match=r"needs a \[league\] section"):
        _ = study.strengths
    with pytest.raises(kn.InputError, match=r"needs a \[simulate\] section"):
        total_matches(study)


@pytest.mark.parametrize("start", [None, 6.0, [5.0, 6.0, 7.0]])
def test_a_stored_simulation_is_the_simulation(tmp_path, start):
    league = {"kind": "fixed", "theta": [4.0, 7.0, 10.0]}
    plan = {"steps": 50, "seed": 3, "realisations": 2, "record_every": 20, "start": start}
    study = parse_study({**BASE, "league": league, "simulate": plan})
    told = []
    stored = run_simulation(study, tmp_path / "run", advance=told.append)
    given = None if start is None else np.broadcast_to(start, 3)
    direct = kn.simulate(study.system, study.strengths, steps=50, seed=3, realisations=2, record_every=20, start=given)
    np.testing.assert_array_equal(stored.rating.transpose("realisation", "time", "team"), direct.rating)
    np.testing.assert_array_equal(stored.matches_played.T, direct.matches_played)
    assert stored.step.values.tolist() == [0, 20, 40, 50]
    assert told[-1] == total_matches(study) == 50 * 25 * 2
    again = run_simulation(study, tmp_path / "run")
    np.testing.assert_array_equal(again.rating, stored.rating)


@pytest.mark.parametrize(
    ("change", "gamma", "schedule"),
    [
        ({"gamma": [0.1, 0.2, 0.3]}, (0.1, 0.2, 0.3), None),
        (
            {"gamma": {"kind": "falling", "gamma": 0.1, "boost": 2, "matches": 30}},
            kn.model.FallingSteps(0.1, 2, 30),
            None,
        ),
        ({"gamma": {"kind": "fide"}, "outcome": {"kind": "tanh", "nu": "elo"}}, kn.model.FideSteps(), None),
        ({"schedule": {"kind": "rounds"}}, 0.05, kn.model.Rounds()),
        ({"schedule": {"kind": "period", "matches": 4}}, 0.05, kn.model.Period(4)),
    ],
)
def test_step_rules_and_schedules_are_read_and_stored_runs_continue(change, gamma, schedule, tmp_path):
    content = {
        "gamma": 0.05, "outcome": {"kind": "tanh", "nu": 0.5},
        "league": {"kind": "fixed", "theta": [4.0, 7.0, 10.0]},
        "simulate": {"steps": 20, "seed": 1, "record_every": 10},
    } | change  # fmt: skip
    study = parse_study(content)
    assert (study.system.gamma, study.system.schedule) == (gamma, schedule)
    stored = run_simulation(study, tmp_path / "run")
    direct = kn.simulate(study.system, study.strengths, steps=20, seed=1, record_every=10)
    assert (stored.rating.transpose(*direct.rating.dims).values == direct.rating.values).all()


def test_a_misspelt_step_rule_is_named():
    content = {"gamma": {"kind": "falling", "gama": 1}, "outcome": {"kind": "tanh", "nu": 0.5}}
    with pytest.raises(kn.InputError, match=r"unknown key 'gamma.gama'"):
        parse_study(content)
