"""Numbers as circumstances in raters that move: what a unit is worth is found, followed, kept and given back."""

import json
import math
import warnings

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.forecasts.scores import log_loss
from kinelo.raters.adapter import blank_of
from kinelo.raters.bradley_terry.rater import LEAST_RIDGE, effects_if_strengths_stay
from kinelo.raters.covariates import settled_effects

SIDES = {"team": kn.TeamElo, "glicko": kn.Glicko, "glicko2": kn.Glicko2, "kalman": kn.KalmanElo}


def league(worth=60.0, seed=1, n=1200, sides=14, follows=False, unit=1.0):
    """Games with handicap stones, ``worth`` points each; where they follow strength, the weaker side gets them."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0.0, 180.0, sides)
    home = rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    stones = rng.integers(-4, 5, n).astype(float)
    gap = strength[home] - strength[away]
    if follows:
        stones = np.clip(np.round((rng.normal(0.0, 120.0, n) - gap) / 80.0), -9, 9)
    chance = 1 / (1 + 10 ** (-(gap + worth * stones) / 400))
    days = np.datetime64("2021-01-01") + np.sort(rng.integers(0, 900, n))
    table = {
        "date": days.astype(str), "home": [f"S{i}" for i in home], "away": [f"S{i}" for i in away],
        "result": (rng.random(n) < chance).astype(float), "neutral": [True] * n, "stones": stones * unit,
        "match_id": [f"g{k}" for k in range(n)],
    }  # fmt: skip
    return table, chance


def read(table):
    return kn.read_matches(table, conditions=["stones"])


def loss_of(forecast, matches):
    return log_loss(forecast.probabilities, matches.result).mean()


@pytest.fixture(scope="module")
def fitted():
    table, chance = league()
    matches = read(table)
    raters = {name: kind(covariates=["stones"]).fit(matches[:700]) for name, kind in SIDES.items()}
    forecasts = {name: rater.one_step_ahead(matches[700:]) for name, rater in raters.items()}
    return matches, chance, raters, forecasts


@pytest.mark.parametrize("name", SIDES)
def test_the_effect_is_found_and_forecasts_follow_it(fitted, name):
    matches, chance, raters, forecasts = fitted
    row = raters[name].effects_.row(0, named=True)
    # Normal with this error: three errors miss in .3 % of cases; and the error is neither tiny nor useless.
    assert abs(row["effect"] - 60.0) < 3.0 * row["standard_error"] and 2.0 < row["standard_error"] < 12.0
    assert row["low"] < row["effect"] < row["high"]
    said, stones = forecasts[name].points, np.array(matches.conditions["stones"].names().to_list(), float)[700:]
    true = chance[[int(name[1:]) for name in matches.identifiers[700:]]]
    for k in (-4, 0, 4):
        assert abs(said[stones == k].mean() - true[stones == k].mean()) < 0.06
    blind = SIDES[name]().fit(matches[:700]).one_step_ahead(matches[700:])
    assert loss_of(blind, matches[700:]) - loss_of(forecasts[name], matches[700:]) > 0.03


@pytest.mark.parametrize("name", SIDES)
def test_one_by_one_and_at_once_end_at_the_same_bits(fitted, name):
    matches, _, raters, _ = fitted
    start = blank_of(raters[name])
    whole, single = blank_of(start).update(matches[:40]), start
    for k in range(40):
        match = matches[k : k + 1]
        stones = float(match.conditions["stones"].names()[0])
        sides = match.teams[match.home[0]], match.teams[match.away[0]]
        day = str(match.date[0])
        said = single.predict_one(*sides, date=day, neutral=True, conditions={"stones": stones}) if k else None
        table = single.predict(match) if k else None
        assert said is None or np.array_equal(said.probabilities, table.probabilities)
        single.update_one(*sides, float(match.result[0]), date=day, neutral=True, conditions={"stones": stones})
    assert single.effects_.equals(whole.effects_) and single.ratings_.equals(whole.ratings_)
    again = type(single)(covariates=["stones"])
    again.from_arrays(single.to_arrays())
    assert again.update(matches[40:60]).effects_.equals(whole.update(matches[40:60]).effects_)


@pytest.mark.parametrize("name", ["team", "glicko"])
def test_an_effect_that_grows_is_followed(name):
    """From 20 to 120 points: how fast it may move is estimated; at the usual step the end stays far behind."""
    matches = read(league(worth=np.linspace(20.0, 120.0, 1500), seed=4, n=1500)[0])
    rater = SIDES[name](covariates=["stones"]).fit(matches)
    step = rater.parameters_["effect_step"]
    assert step > 1.5 and rater.effects_["effect"][0] > 88.0
    slow = blank_of(rater)
    slow._reset(dict(rater.parameters_) | {"effect_step": 0.1})
    assert slow.update(matches).effects_["effect"][0] < 80.0
    quiet = blank_of(rater).update(matches)
    assert quiet.parameters_["effect_step"] == step and quiet.effects_.equals(rater.effects_)


@pytest.mark.parametrize("name", SIDES)
def test_which_handicap_is_fair(fitted, name):
    rater = fitted[2][name]
    fair = kn.fair_value(rater, "S1", "S2", "stones", neutral=True)
    even = rater.predict_one("S1", "S2", neutral=True, conditions={"stones": fair})
    more = rater.predict_one("S1", "S2", neutral=True, conditions={"stones": fair + 1.0})
    assert even.points[0] == pytest.approx(0.5, abs=1e-9) and more.points[0] > 0.52
    unsaid = rater.predict_one("S1", "S2", neutral=True)
    assert np.array_equal(unsaid.probabilities, rater.predict_one("S1", "S2", neutral=True,
                          conditions={"stones": 0}).probabilities)  # fmt: skip


@pytest.mark.parametrize("name", SIDES)
def test_another_unit_of_the_column_changes_nothing_else(name):
    raters = [
        SIDES[name](covariates=["stones"]).fit(read(league(unit=unit)[0])[:300]) for unit in (1.0, 1024.0)
    ]  # a power of two, so that every bit can agree
    assert raters[0].effects_["effect"][0] == pytest.approx(1024.0 * raters[1].effects_["effect"][0], rel=1e-6)
    assert np.allclose(raters[0].ratings_["rating"], raters[1].ratings_["rating"], rtol=1e-6)


def test_a_column_that_says_nothing_costs_nothing():
    lost = []
    for seed in (1, 2, 3):
        matches = read(league(worth=0.0, seed=seed, n=1000)[0])
        plain, told = (
            kn.TeamElo(covariates=c).fit(matches[:500]).one_step_ahead(matches[500:]) for c in ([], ["stones"])
        )
        lost.append(loss_of(told, matches[500:]) - loss_of(plain, matches[500:]))
    assert -0.002 < np.mean(lost) < 0.0005


@pytest.mark.parametrize("name", ["team", "glicko"])
def test_handicaps_that_follow_strength_still_help(name):
    """One by one nobody can tell handicap from strength: without the first look at all matches the effect is lost."""
    matches = read(league(seed=5, n=2000, follows=True)[0])
    plain, told = (
        SIDES[name](covariates=c).fit(matches[:1200]).one_step_ahead(matches[1200:]) for c in ([], ["stones"])
    )
    assert loss_of(plain, matches[1200:]) - loss_of(told, matches[1200:]) > 0.003
    effect = SIDES[name](covariates=["stones"]).fit(matches).effects_["effect"][0]
    assert 20.0 < effect < 90.0


def test_the_effect_in_the_paper_update_is_the_filter_by_hand():
    """Two matches by hand, with the law of ``advantage``: score ν_D (S − b), information ν_D b', shared by G."""
    table = {
        "home": ["A", "A"],
        "away": ["B", "B"],
        "result": [1.0, 0.0],
        "neutral": [True, True],
        "stones": [2.0, -1.0],
    }
    rater = kn.TeamElo(
        step=10.0, newcomer_boost=0.0, settling_matches=10.0, home_advantage=0.0, ties=0.0, spread=0.0,
        margin_weight=0.0, margin_scale=1.0, contraction=1.0, regression=0.0, home_step=0.0,
        sharpness_walk=0.0, covariates=["stones"],
    )  # fmt: skip
    rater._prepared = True  # a unit of the column is a unit
    rater.update(read(table))
    nu, beta, v, gap = math.log(10) / 800, 0.0, 200.0**2, 0.0
    for x, result in ((2.0, 1.0), (-1.0, -1.0)):
        b = math.tanh(nu * (gap + beta * x))
        slope, score = nu * (1 - b * b), nu * (result - b)
        information, steady = nu * slope, 0.6 / nu
        v += steady**2 * x * x * information / max(1 - steady * x * x * information, 0.5)
        G = 1 + information * x * x * v
        beta, v = beta + v * x * score / G, v - v * v * x * x * information / G
        gap += 2 * 10.0 * (result - b)
    row = rater.effects_.row(0, named=True)
    assert row["effect"] == pytest.approx(beta, rel=1e-12)
    assert row["standard_error"] == pytest.approx(math.sqrt(v), rel=1e-12)


def test_settled_effects_are_least_squares():
    from scipy.sparse import csr_array

    rng = np.random.default_rng(4)
    A = np.zeros((60, 7))
    A[np.arange(60), rng.integers(0, 4, 60)] = 1.0
    A[np.arange(60), rng.integers(4, 7, 60)] = -1.0
    X = rng.normal(size=(60, 2)) + A[:, :2]
    y = A @ rng.normal(size=7) + X @ [0.7, -0.2] + 0.1 * rng.normal(size=60)
    found = settled_effects(csr_array(A), np.ones(7, bool), X, y)
    whole = np.column_stack([A, X])
    ridge = np.diag([0.01] * 7 + [0.0] * 2)
    inverse = np.linalg.inv(whole.T @ whole + ridge)
    # What is left of X after the strengths is not quite orthogonal to them, by the ridge.
    assert np.allclose(found[:, 0], (inverse @ whole.T @ y)[7:], atol=0.01)
    assert np.allclose(found[:, 1], np.diagonal(inverse)[7:], rtol=0.01)
    alone = X - A @ np.linalg.lstsq(A, X, rcond=None)[0]
    assert np.allclose(found[:, 2], (alone**2).sum(0) / (X**2).sum(0), rtol=0.01)
    # Of sides of which little is known the precision before any match counts.
    few, x, shown = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]), np.array([2.0, -0.7]), np.array([0.4, -0.3])
    left = np.linalg.inv(np.eye(2) + few @ few.T / 0.01) @ x
    wanted = [left @ shown / (left @ left), 1 / (left @ left), left @ left / (x @ x)]
    (found,) = settled_effects(csr_array(few), np.ones(3, bool), x[:, None], shown)
    assert found == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize(
    ("variance", "begins"), [(0.2, [7.0, 0.8]), (0.249, [7.0, 0.996]), (0.25, [0.0, 1.0]), (0.3, [0.0, 1.0])]
)
def test_a_filter_begins_with_twice_the_error_of_strengths_that_stay_or_with_nothing(variance, begins, monkeypatch):
    matches = read(league(n=40)[0])
    rater = kn.KalmanElo(covariates=["stones"], **{p.name: p.default for p in kn.KalmanElo._declared_parameters})
    rater.update(matches)
    assert rater.to_arrays()["covariate_effects"].tolist() == [[0.0, 1.0, 1.0]]
    monkeypatch.setattr("kinelo.raters.gaussian.settled_effects", lambda *_: np.array([[7.0, variance, 0.6]]))
    rater._find_first_effects(matches)
    assert rater.to_arrays()["covariate_effects"][0] == pytest.approx([*begins, 0.6])


@pytest.mark.parametrize("rows", [500, 4])
def test_raters_of_sides_begin_with_the_estimate_of_strengths_that_stay(rows):
    """In usual values of the column; where that is too unsure, with 0 within 200 points."""
    matches = read(league(n=600, sides=6)[0])[:rows]
    x = np.array(matches.conditions["stones"].names().to_list(), float)
    units = np.array([math.sqrt(np.mean(x**2))])
    first = effects_if_strengths_stay(matches, ("stones",), units)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kn.KineloWarning)
        row = kn.BradleyTerry(covariates=["stones"], ridge=LEAST_RIDGE).fit(matches).effects_.row(-1, named=True)
    error = row["standard_error"] * units[0]
    sure = error < 200.0
    assert sure == (rows == 500) and units[0] > 2
    assert first[:2] == pytest.approx([row["effect"] * units[0], error**2] if sure else [0.0, 200.0**2])
    A = np.zeros((rows, 6))
    A[np.arange(rows), matches.home] += 1.0
    A[np.arange(rows), matches.away] -= 1.0
    left = x - A @ np.linalg.lstsq(A, x, rcond=None)[0]
    if sure:
        assert first[2] == pytest.approx(left @ left / (x @ x), rel=1e-3)


def test_of_many_sides_those_who_played_most_are_weighed(monkeypatch):
    """Of sides that played alike often those that came first."""
    matches, units = read(league(n=300, sides=9)[0]), np.ones(1)
    played = np.bincount(np.concatenate([matches.home, matches.away]))
    most = np.isin(np.arange(9), sorted(range(9), key=lambda side: (-played[side], side))[:4])
    assert len(set(played.tolist())) > 4
    among = effects_if_strengths_stay(matches[most[matches.home] & most[matches.away]], ("stones",), units)
    monkeypatch.setattr("kinelo.raters.bradley_terry.rater.MOST_WEIGHED", 4)
    assert np.array_equal(effects_if_strengths_stay(matches, ("stones",), units), among)


def test_what_is_no_number_is_refused():
    table, _ = league(n=40)
    for column, words in ((["x"] * 40, "must hold numbers"), ([""] + [1] * 39, "missing or not finite in 1 row")):
        with pytest.raises(kn.InputError, match=words):
            kn.TeamElo(covariates=["stones"]).fit(read(table | {"stones": column}))
    with pytest.raises(kn.InputError, match="was not read"):
        kn.KalmanElo(covariates=["stones"]).fit(kn.read_matches(table))
    with pytest.raises(kn.InputError, match="must be a list"):
        kn.Glicko(covariates="stones").fit(read(table))
    with pytest.raises(kn.InputError, match="names a column twice"):
        kn.TeamElo(covariates=["stones", "stones"]).fit(read(table))
    with pytest.raises(kn.InputError, match="no room for"):
        kn.TeamElo(covariates=["stones"], system=kn.RatingSystem(kn.Tanh.elo(), gamma=10.0))


@pytest.mark.parametrize("name", ["team", pytest.param("glicko", marks=pytest.mark.long), "kalman"])
def test_a_book_and_its_doors_say_what_the_rater_says(fitted, name, tmp_path):
    """Row by row or whole: a book fed match by match ends at the rater's bits, and Python, book, command line agree."""
    matches, _, raters, _ = fitted
    book = kn.RatingBook(tmp_path / "b.db", blank_of(raters[name]))
    book.add(matches[:25])
    for k in range(25, 40):
        match = matches[k : k + 1]
        book.update_one(
            match.teams[match.home[0]], match.teams[match.away[0]], float(match.result[0]), date=str(match.date[0]),
            match_id=matches.identifiers[k], neutral=True,
            conditions={"stones": match.conditions["stones"].names()[0]},
        )  # fmt: skip
    alone = blank_of(raters[name]).update(matches[:40])
    kept = kn.RatingBook(tmp_path / "b.db").rater
    assert kept.effects_.equals(alone.effects_) and kept.ratings_.equals(alone.ratings_) and book.check() == []
    fair = kn.fair_value(alone, "S1", "S2", "stones", neutral=True)
    assert kn.fair_value(book, "S1", "S2", "stones", neutral=True) == fair
    words = ["predict", "--match", "S1 - S2", "--book", str(tmp_path / "b.db"), "--neutral", "--fair", "stones"]
    said = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert said["fair"] == fair and said["effect"] == alone.effects_["effect"][0]
    shown = CliRunner().invoke(app, words).stdout
    assert shown.startswith(f"S1 – S2 is even at stones = {fair:.2f}; a unit of it is worth {said['effect']:.1f} ±")
    for wrong, sentence in (
        (["--fair", "rest"], "no covariate of"),
        (["--covariate", "=1"], "for a --match its level"),
    ):
        refused = CliRunner().invoke(app, [*words, *wrong])
        assert refused.exit_code != 0 and sentence in str(refused.exception) + refused.stderr


def test_files_on_the_command_line(tmp_path):
    table = pl.DataFrame(league(n=90)[0])
    table.write_csv(tmp_path / "g.csv")
    given = ["--covariate", "stones", "--rater", "glicko"]
    rated = json.loads(CliRunner().invoke(app, ["rate", str(tmp_path / "g.csv"), *given, "--json"]).stdout)
    twin = kn.Glicko(covariates=["stones"]).fit(kn.read_matches(tmp_path / "g.csv", conditions=["stones"]))
    assert rated["effects"][0]["effect"] == pytest.approx(twin.effects_["effect"][0])
    coming = table[:3].drop("result", "match_id").with_columns(stones=pl.lit(2), date=pl.lit("2024-01-05"))
    coming.write_csv(tmp_path / "f.csv")
    words = ["predict", str(tmp_path / "f.csv"), "--results", str(tmp_path / "g.csv"), *given, "--json"]
    said = json.loads(CliRunner().invoke(app, words).stdout)["forecasts"]
    coming = kn.read_matches(tmp_path / "f.csv", played=False, conditions=["stones"])
    assert [row["home_win"] for row in said] == pytest.approx(twin.predict(coming).probabilities[:, 0].tolist())


def races(worth=-30.0, seed=3, n=160, size=6):
    """Races of horses that carry weights, ``worth`` points a kilogram."""
    rng = np.random.default_rng(seed)
    strength, rows = rng.normal(0.0, 150.0, 15), []
    unit = 800.0 / (math.sqrt(math.pi) * math.log(10))  # points for a standard deviation of a performance
    for race in range(n):
        who, weight = rng.choice(15, size, replace=False), rng.normal(56.0, 2.5, size).round(1)
        shown = (strength[who] + worth * weight) / unit + rng.normal(size=size)
        day = str(np.datetime64("2023-01-01") + race)
        rows += [(f"r{race}", day, f"h{who[i]}", place + 1, weight[i]) for place, i in enumerate(np.argsort(-shown))]
    return dict(zip(("race", "date", "horse", "place", "weight"), map(list, zip(*rows))))


def test_entrants_of_contests_carry_numbers_too(tmp_path):
    table = races()
    contests = kn.read_contests(table, advantages=["weight"])
    rater = kn.RankElo(covariates=["weight"]).fit(contests[:100])
    (row,) = rater.effects_.to_dicts()
    assert abs(row["effect"] + 30.0) < 3.0 * row["standard_error"] < 20.0 and rater.advantages_.height == 0
    plain = kn.read_contests({name: column for name, column in table.items() if name != "weight"})
    blind = kn.RankElo().fit(plain[:100])
    assert rater.score(contests[100:]) > blind.score(plain[100:]) + 0.01
    # One by one, from a book, and by all kilograms more alike: the same.
    start = blank_of(rater)
    whole, book = blank_of(start).update(contests[:12]), kn.RatingBook(tmp_path / "r.db", blank_of(start))
    for k in range(12):
        entries = range(contests.first[k], contests.first[k + 1])
        order = [(contests.entrants[contests.entrant[e]], float(table["weight"][e])) for e in entries]
        start.update_one(order, date=str(contests.date[k]))
    book.add(contests[:12])
    assert start.effects_.equals(whole.effects_) and start.ratings_.equals(whole.ratings_)
    assert book.rater.effects_.equals(whole.effects_) and book.check() == []
    said = [start.predict_one([("h1", 50.0 + more), ("h2", 55.0 + more), ("h3", 58.5 + more)]) for more in (0.0, 4.0)]
    assert np.allclose(said[0].win, said[1].win, atol=1e-9)
    lighter = start.predict_one([("h1", 45.0), ("h2", 55.0), ("h3", 58.5)])
    assert lighter.win[0] > said[0].win[0] + 0.02
    with pytest.raises(kn.InputError, match="missing or not finite in 1 row"):
        start.predict_one([("h1", 50.0), "h2"])
    with pytest.raises(kn.InputError, match="which these contests do not say"):
        kn.RankElo(covariates=["age"]).fit(contests)
    with pytest.warns(kn.KineloWarning, match="'weight' holds numbers"):
        kn.RankElo(conditions=["weight"], look=200).fit(contests[:15])


@pytest.mark.parametrize("name", ["team", "kalman"])
def test_a_handicap_is_a_term_of_its_own(fitted, name):
    """Two rows alike but for the handicap: the terms add up, and that of the handicap is what it changes."""
    matches, _, raters, _ = fitted
    rater = blank_of(raters[name])
    reason = kn.explain(rater, matches.identifiers[30], matches)
    for one in reason.reasons.values():
        assert sum(one.terms.values()) == pytest.approx(one.change, abs=1e-9)
    stones = float(matches.conditions["stones"].names()[30])
    terms = [one.terms.get("covariates", 0.0) for one in reason.reasons.values()]
    assert stones != 0.0 and terms[0] * stones < 0.0 < terms[1] * stones  # with stones a win is worth less


def test_a_preview_says_where_rest_outweighs_every_result():
    table = {"date": ["2020-01-01"] * 6, "home": list("AABBAA"), "away": list("BCCDDB"), "result": [1, 1, 1, 1, 1, 1]}
    given = {p.name: p.default for p in kn.TeamElo._declared_parameters} | {"regression": 3.0, "step": 0.5}
    rater = kn.TeamElo(**given).update(kn.read_matches(table, results="points"))
    (line, *_) = kn.preview(rater, "A", "B", date="2026-06-01").lines()
    assert line == "A would lose points by every outcome: the rest until that day moves ratings too."
    assert kn.preview(rater, "A", "B", date="2020-01-02").lines() == []
