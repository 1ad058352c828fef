"""Simulated seasons: tables by hand, chances that add up, and one truth per season."""

import itertools
import json

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import multivariate_normal
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.errors import InputError
from kinelo.forecasts.season import _Tables


def double_round(names, date="2024-08-01", results=None):
    pairs = list(itertools.permutations(names, 2))
    table = {
        "date": [str(np.datetime64(date) + 7 * k) for k in range(len(pairs))],
        "home": [a for a, _ in pairs],
        "away": [b for _, b in pairs],
    }
    return kn.read_matches(table | ({} if results is None else {"result": results}), played=results is not None)


@pytest.fixture(scope="module")
def rater():
    rng = np.random.default_rng(3)
    strength = {"A": 0.8, "B": 0.2, "C": -0.2, "D": -0.8}
    pairs = [tuple(rng.choice(list(strength), 2, replace=False)) for _ in range(300)]
    margin = [round(1.5 * (strength[a] - strength[b] + 0.2 + rng.normal(0, 1))) for a, b in pairs]
    table = {
        "date": [str(np.datetime64("2022-01-01") + 3 * k) for k in range(300)],
        "home": [a for a, _ in pairs],
        "away": [b for _, b in pairs],
        "margin": margin,
    }
    return kn.KalmanElo(covariance="full").fit(kn.read_matches(table))


def by_hand(home, away, outcome, margin, sides, rules):
    """Places of one season with plain loops (lots excluded)."""
    keys = {s: [0.0] for s in range(sides)}
    worth = {0: (rules.win, rules.loss), 1: (rules.draw, rules.draw), 2: (rules.loss, rules.win)}
    for i, j, o in zip(home, away, outcome):
        keys[i][0] += worth[o][0]
        keys[j][0] += worth[o][1]
    for at, name in enumerate(rules.tie_breaks):
        if at == 0 or not (rules.tie_breaks[at - 1] == "head_to_head" and name == "head_to_head_margin"):
            before = {s: tuple(k) for s, k in keys.items()}
        extra = dict.fromkeys(range(sides), 0.0)
        for i, j, o, m in zip(home, away, outcome, margin):
            if name == "wins":
                extra[i] += o == 0
                extra[j] += o == 2
            elif name == "margin" or (name == "head_to_head_margin" and before[i] == before[j]):
                extra[i] += m
                extra[j] -= m
            elif before[i] == before[j]:
                extra[i] += worth[o][0]
                extra[j] += worth[o][1]
        for s in range(sides):
            keys[s].append(extra[s])
    return keys


@pytest.mark.parametrize(
    "breaks",
    [
        ("margin", "wins"), ("head_to_head", "margin"), ("wins", "head_to_head"), (), ("head_to_head_margin",),
        ("head_to_head", "head_to_head_margin", "margin"), ("wins", "head_to_head_margin", "head_to_head"),
    ],
)  # fmt: skip
def test_tables_agree_with_plain_loops(breaks):
    rng = np.random.default_rng(1)
    pairs = np.array(list(itertools.permutations(range(4), 2)))
    outcome = rng.integers(0, 3, (50, 12)).astype(np.int8)
    margin = np.where(outcome == 1, 0, np.where(outcome == 0, 1, -1) * rng.integers(1, 3, (50, 12))).astype(float)
    rules = kn.forecasts.Rules(tie_breaks=breaks)
    tables = _Tables(pairs[:, 0], pairs[:, 1], outcome, margin, 4, rules)
    positions = tables.positions(np.random.default_rng(2))
    for k in range(50):
        keys = by_hand(pairs[:, 0], pairs[:, 1], outcome[k], margin[k], 4, rules)
        assert sorted(positions[k]) == [1, 2, 3, 4]
        for s, t in itertools.combinations(range(4), 2):
            if keys[s] != keys[t]:
                assert (positions[k, s] < positions[k, t]) == (keys[s] > keys[t])
        assert tables.points[k].tolist() == [keys[s][0] for s in range(4)]


def test_chances_add_up_and_follow_strength(rater):
    found = kn.season(
        rater, double_round("ABCD"), realisations=2000, rules=kn.forecasts.Rules(places={"title": (1, 1)})
    )
    table = found.to_polars()
    assert table["name"].to_list() == ["A", "B", "C", "D"]
    assert table["title"].sum() == pytest.approx(1.0)
    places = found.place_chances().drop("name").to_numpy()
    np.testing.assert_allclose(places.sum(axis=0), 1.0)
    np.testing.assert_allclose(places.sum(axis=1), 1.0)
    again = kn.season(
        rater, double_round("ABCD"), realisations=2000, rules=kn.forecasts.Rules(places={"title": (1, 1)})
    )
    assert again.to_polars().equals(table)
    assert found.to_dict()["realisations"] == 2000 and "Ahead on average: A," in repr(found)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_results_played_out_are_the_forecasts(rater, covariance):
    """20,000 draws: a share is sure to .0035 (one standard error); six matches with three results each."""
    kalman = kn.KalmanElo(**rater.parameters_, covariance=covariance)
    kalman._margin_unit = rater._margin_unit
    kalman.update(rater._fitted)
    table = {
        "date": ["2025-01-01", "2025-01-01", "2026-01-01", "2026-06-01", "2026-06-01", "2027-01-01"],
        "home": ["A", "B", "D", "A", "new", "C"],
        "away": ["B", "D", "A", "C", "B", "A"],
        "neutral": [False, True, False, True, True, False],
    }
    fixtures = kn.read_matches(table, played=False)
    outcome, margin = kalman._play_out(fixtures, 20_000, seed=5)
    shares = np.column_stack([(outcome == k).mean(axis=0) for k in range(3)])
    expected = kalman.predict(fixtures).probabilities
    np.testing.assert_allclose(shares, expected, atol=0.014)
    assert ((np.sign(margin) == 1) == (outcome == 0)).all() and ((margin == 0) == (outcome == 1)).all()


def test_a_stranger_leans_on_its_first_opponent_and_wanders_on(rater):
    """4,000 draws: a variance is sure to 2.2 % (one standard error), a slope to about .1."""
    twice = {"date": ["2025-01-01", "2035-01-01"], "home": ["new"] * 2, "away": ["A"] * 2, "neutral": [True] * 2}
    possible = rater._possible(kn.read_matches(twice, played=False), 4000, 1)
    possible.total(0)
    new, foe = possible.place[possible.entries.slot[:2]]
    x, opponent = possible.X[new].copy(), possible.X[foe].copy()
    lean = rater.parameters_["opponent_prior"]
    slope = np.cov(x, opponent)[0, 1] / opponent.var()
    assert lean > 0.2 and slope == pytest.approx(lean, abs=0.25)
    rho, years, doubt = rater.parameters_["regression"], 10.0, rater.parameters_["doubt"]
    f = np.exp(-rho * years)
    added = rater.parameters_["walk"] ** 2 * (years if rho == 0 else (1 - f * f) / (2 * rho))
    possible.total(1)
    later = possible.X[new].copy()
    assert later.var() == pytest.approx(f * f * x.var() + doubt * added, rel=0.1)
    possible.total(1)
    assert (possible.X[new] == later).all()  # on the same day nothing moves


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_results_of_players_played_out_are_the_forecasts(covariance):
    """20,000 draws: a share is sure to .0035 (one standard error); six matches with three results each.

    A line-up that is drawn is one of a few, a forecast takes their spread as normal: that is good to a hundredth.
    """
    g = np.random.default_rng(3)
    strength = g.normal(0, 0.7, (4, 7))
    rows = []
    for k in range(120):
        sides = g.choice(4, 2, replace=False)
        on = [g.choice(7, 4, replace=False) for _ in sides]
        gap = strength[sides[0], on[0]].mean() - strength[sides[1], on[1]].mean() + 0.3 + g.normal()
        names = [[f"{s}/{p}" for p in who] for s, who in zip(sides, on)]
        rows.append((str(np.datetime64("2023-01-01") + 5 * k), *(f"T{s}" for s in sides), round(1.5 * gap), *names))
    columns = ("date", "home", "away", "margin", "home_lineup", "away_lineup")
    played = kn.read_matches(dict(zip(columns, map(list, zip(*rows)))))
    players = kn.PlayerElo(covariance=covariance, prior_spread=0.6, squad_spread=0.2, ties=0.4).update(played)
    table = {
        "date": ["2025-01-01", "2025-01-01", "2025-06-01", "2026-06-01", "2026-06-01", "2027-01-01"],
        "home": ["T2", "T1", "T3", "T0", "new", "T0"],
        "away": ["T0", "T3", "T0", "T2", "T2", "T1"],
        "neutral": [False, True, False, True, True, False],
        "home_lineup": [[], [], [], [], ["x", "y"], ["0/0", "0/1", "stranger"]],
        "away_lineup": [[], [], [], [], ["2/2", "2/3"], ["1/0", "1/1"]],
    }
    coming = kn.read_matches(table, played=False)
    outcome, margin = players._play_out(coming, 20_000, seed=5)
    shares = np.column_stack([(outcome == k).mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(shares, players.predict(coming).probabilities, atol=0.02)
    assert ((np.sign(margin) == 1) == (outcome == 0)).all() and ((margin == 0) == (outcome == 1)).all()
    # Sides drawn for a cup are those that meet on neutral ground.
    two = players._possible_strengths(["T1", "T3"], "2025-01-01", 20_000, seed=1)
    win = ndtr(two[:, 0] - two[:, 1] - players._band).mean()
    assert win == pytest.approx(players.predict(coming).probabilities[1, 0], abs=0.015)


def test_a_side_better_than_thought_is_so_all_season(rater):
    """Points of a season vary more than independent matches with the same chances would let them."""
    fixtures = kn.read_matches(
        {"date": [str(np.datetime64("2025-01-01") + k) for k in range(30)], "home": ["new"] * 30, "away": ["A"] * 30},
        played=False,
    )
    outcome, _ = rater._play_out(fixtures, 4000, seed=1)
    won = (outcome == 0).sum(axis=1)
    p = (outcome == 0).mean()
    assert won.var() > 3 * 30 * p * (1 - p)


KNOWN = {"name": list("ABCD"), "rating": [1560.0, 1500.0, 1430.0, 1620.0], "deviation": [250.0, 120.0, 170.0, 90.0]}
VARIANCE = (np.array(KNOWN["deviation"]) * np.log(10) / 1600 * np.sqrt(2 * np.pi)) ** 2
"""Of the strengths in units of a match's noise, of a logistic law without draws, whose slope is ln(10) / 1600."""


def known_sides():
    return kn.Glicko(deviation=350.0, growth=0.0, home_advantage=40.0, ties=0.0, start=KNOWN)


def test_forecasts_are_kept_and_a_side_better_than_rated_is_so_in_all_its_matches():
    """Two matches of one side are those of a normal law of two. 40,000 draws: four standard errors are .01."""
    fixtures = kn.read_matches({"home": ["A", "C"], "away": ["B", "A"]}, played=False)
    once = kn.forecasts.Rules(1, 0, 0, ["wins"])
    found = kn.season(known_sides(), fixtures, rules=once, realisations=40_000)
    won = dict(zip(found.names, found.points.T))
    home = known_sides().predict(fixtures).probabilities[:, 0]
    assert [(won["B"] == 0).mean(), won["C"].mean()] == pytest.approx(home.tolist(), abs=0.01)
    a, b, c, _ = VARIANCE
    correlation = a / np.sqrt((1 + a + b) * (1 + a + c))
    both = multivariate_normal([0, 0], [[1, correlation], [correlation, 1]]).cdf(ndtri([home[0], 1 - home[1]]))
    assert both > home[0] * (1 - home[1]) + 0.04
    assert (won["A"] == 2).mean() == pytest.approx(both, abs=0.01)


@pytest.mark.parametrize("ties", [0.0, 0.7])
def test_how_uncertain_sides_are_is_told_apart_from_how_wide_draws_are(rater, ties):
    """Beside strengths drawn by a rater of a normal law: variances of 40,000 are sure to .7 % (one standard error)."""
    kalman = kn.KalmanElo(**rater.parameters_ | {"ties": ties}, covariance="diagonal")
    kalman.update(rater._fitted)
    names = ["C", "A", "D"]
    drawn = kalman._possible_strengths(names, "2025-03-01", 40_000, 2).var(axis=0)
    assert kalman._doubts(names, "2025-03-01") == pytest.approx(drawn, rel=0.03)
    assert kalman._doubts(names[:2], "2025-03-01").sum() == pytest.approx(drawn[:2].sum(), rel=0.03)


def test_a_cup_has_one_truth_for_any_rater_that_says_how_uncertain_it_is():
    """Beside a plain simulation of as many cups, four standard errors of the difference are .014."""
    names, generator = ["A", "C", "B", "D"], np.random.default_rng(8)
    better = dict(zip("ABCD", generator.normal(size=(4, 40_000)) * np.sqrt(VARIANCE)[:, None]))
    variance = dict(zip("ABCD", VARIANCE))

    def wins(one, other):
        p = known_sides().predict_one(one, other, neutral=True, date="2024-07-01").points[0]
        strength = ndtri(p) * np.sqrt(1 + variance[one] + variance[other])
        return generator.normal(size=40_000) < strength + better[one] - better[other]

    beats = {(x, y): wins(x, y) for x in "AC" for y in "BD"}
    first, second = wins("A", "C"), wins("B", "D")
    met = [first & second, first & ~second, ~first & second]
    final = np.select(met, [beats["A", "B"], beats["A", "D"], beats["C", "B"]], beats["C", "D"])
    title = [(final & first).mean(), (final & ~first).mean(), (~final & second).mean(), (~final & ~second).mean()]
    cup = kn.knockout(known_sides(), names, date="2024-07-01", realisations=40_000)
    assert cup.reached[:, 0] == pytest.approx(
        [first.mean(), 1 - first.mean(), second.mean(), 1 - second.mean()], abs=0.014
    )
    assert cup.reached[:, 1] == pytest.approx(title, abs=0.014)


@pytest.mark.parametrize(
    "make",
    [
        kn.TeamElo.classic,
        *(pytest.param(make, marks=pytest.mark.long) for make in (kn.Glicko, kn.BradleyTerry)),
        lambda: kn.KalmanElo(),
    ],
)
def test_final_points_lie_as_far_from_what_is_expected_as_is_said(make):
    """Squares of standardised errors of 120 sides in 12 leagues: 1 on average, with a standard error of about .14.

    Where matches are taken as independent they are 1.6 and more. Strengths stay, as an estimate from all takes them to.
    """
    squares = []
    for seed in range(12):
        generator = np.random.default_rng(seed)
        strength = generator.normal(0, 0.6, 10)
        pairs = np.array(
            [p for _ in range(3) for p in generator.permutation(list(itertools.permutations(range(10), 2)))]
        )
        gap = strength[pairs[:, 0]] - strength[pairs[:, 1]] + 0.3 + generator.logistic(size=len(pairs))
        result = np.where(gap > 0.5, 1.0, np.where(gap < -0.5, 0.0, 0.5))
        names = np.array([f"side {k}" for k in range(10)])
        day = np.datetime64("2020-01-01") + 3 * np.arange(len(pairs))
        table = {"date": day, "home": names[pairs[:, 0]], "away": names[pairs[:, 1]]}
        past = kn.read_matches({name: column[:180] for name, column in table.items()} | {"result": result[:180]})
        coming = kn.read_matches({name: column[180:] for name, column in table.items()}, played=False)
        rules = kn.forecasts.Rules(1, 0.5, 0, ["wins"])
        found = kn.season(make().fit(past), coming, results=past[:0], rules=rules, realisations=500)
        points = np.bincount(pairs[180:, 0], result[180:]) + np.bincount(pairs[180:, 1], 1 - result[180:])
        actual = points[[int(name.split()[1]) for name in found.names]]
        squares.extend(((actual - found.points.mean(axis=0)) / found.points.std(axis=0)) ** 2)
    assert 0.55 < np.mean(squares) < 1.5


def test_a_book_plays_seasons_as_its_rater_does(tmp_path, rater):
    book = kn.RatingBook(tmp_path / "book.db", kn.KalmanElo(**rater.parameters_, covariance="diagonal"))
    book.add(rater._fitted)
    known = book._rater_knowing(list("ABC"), None)
    fixtures = double_round("ABC")
    found, alone = (kn.season(rated, fixtures, realisations=300, seed=3) for rated in (book, known))
    assert found.rules.tie_breaks == ("margin", "wins")
    assert found.to_polars().equals(alone.to_polars())
    cups = [kn.knockout(rated, ["C", "A"], date="2024-07-01", realisations=300) for rated in (book, known)]
    np.testing.assert_array_equal(cups[0].reached, cups[1].reached)


def test_a_mixture_keeps_its_forecasts(rater):
    """Means of 20,000 draws: four standard errors are .03."""
    mixture = kn.raters.Mixture([kn.TeamElo.classic(k=20), kn.Glicko()]).fit(rater._fitted)
    fixtures = double_round("ABC")
    rules = kn.forecasts.Rules(1, 0.5, 0, ["wins"])
    found = kn.season(mixture, fixtures, results=rater._fitted[:0], rules=rules, realisations=20_000)
    points = mixture.predict(fixtures).points
    for name, drawn in zip(found.names, found.points.T):
        code = fixtures.teams.index(name)
        expected = points[fixtures.home == code].sum() + (1 - points[fixtures.away == code]).sum()
        assert drawn.mean() == pytest.approx(expected, abs=0.03)
    alone = kn.raters.Mixture([kn.Glicko()]).fit(rater._fitted)
    np.testing.assert_array_equal(alone._doubts(list("ABC"), None), alone.members_["Glicko"]._doubts(list("ABC"), None))
    assert alone._doubts(list("ABC"), None).min() > 0.01


def test_a_mixture_that_shows_scores_keeps_one_truth_for_each_side_all_season_long():
    """Points of 8,000 seasons scatter as those of the strengths under the scores do: .05 is four standard errors.

    Where matches are independent it is .05 to .15 less.
    """
    generator = np.random.default_rng(7)
    home, away = np.array(list(itertools.permutations(range(4), 2)) * 3).T
    table = {"home": [f"S{k}" for k in home], "away": [f"S{k}" for k in away]}
    goals = generator.poisson(np.exp(0.3 + 0.2 * np.array([home - away, away - home])))
    played = kn.read_matches(table | {"home_score": goals[0], "away_score": goals[1]})
    rules = kn.forecasts.Rules(1, 0.5, 0, ["wins"])
    mixture = kn.raters.Mixture([kn.ScoreElo()]).fit(played)
    strengths = mixture.members_["ScoreElo"]._of_outcomes()
    fixtures = double_round(["S0", "S1", "S2", "S3"])
    spread = [
        kn.season(rater, fixtures, results=played[:0], rules=rules, realisations=8000).points.std(axis=0)
        for rater in (mixture, strengths)
    ]
    assert spread[0] == pytest.approx(spread[1], rel=0.05)
    assert mixture._doubts(["S0", "S3"], None).min() > 0.01


class Coin:
    """Somebody's own rater, which says nothing of doubts."""

    def fit(self, matches):
        return self

    def one_step_ahead(self, matches):
        return self.predict(matches)

    def predict(self, matches):
        return kn.forecasts.Forecast(np.tile([0.5, 0.1, 0.4], (len(matches), 1))).about(matches)


def test_a_mixture_of_raters_of_ones_own_plays_seasons(rater):
    mixture = kn.raters.Mixture([Coin()]).fit(rater._fitted)
    rules = kn.forecasts.Rules(1, 0, 0, ["wins"])
    found = kn.season(mixture, double_round("ABCD"), results=rater._fitted[:0], rules=rules, realisations=400)
    assert found.points.sum(axis=1).max() <= 12.0 and 10.0 < found.points.sum(axis=1).mean() < 11.6


def test_matches_that_have_ended_count(rater):
    done = double_round("ABCD", results=[0.0] * 3 + [1.0] * 9)
    found = kn.season(
        rater, done, rules=kn.forecasts.Rules(tie_breaks=["head_to_head"], places={"last": (-1, -1)}), realisations=3
    )
    assert (found.points == found.points[0]).all()
    assert dict(zip(found.names, found.points[0])) == {"A": 0.0, "B": 12.0, "C": 12.0, "D": 12.0}
    assert found.chance("last")[0] == 1.0


def test_rules_suit_the_results_by_every_door(tmp_path, rater):
    """Chess, basketball and football, in Python and on the command line; what is said is taken."""
    names = [f"side {k}" for k in range(14)]
    pairs = list(itertools.permutations(names, 2))
    generator = np.random.default_rng(4)
    home, away = generator.poisson(1.6, len(pairs)), generator.poisson(1.2, len(pairs))
    table = {"date": ["2024-01-01"] * len(pairs), "home": [a for a, _ in pairs], "away": [b for _, b in pairs]}
    results = {
        "chess": {"result": [1.0, 0.5, 0.0] * 60 + [0.5, 1.0]},
        "basketball": {"home_score": home + 2 * (home == away), "away_score": away},
        "football": {"home_score": home, "away_score": away},
    }
    expected = {
        "chess": ("1 point, a draw 0.5", "nobody goes down"),
        "basketball": ("1 point, a draw 0", "nobody goes down"),
        "football": ("3 points, a draw 1", "the last 3 of 14 go down"),
    }
    pl.DataFrame({name: table[name] for name in ("home", "away")}).write_csv(tmp_path / "fixtures.csv")
    fixtures = kn.read_matches(tmp_path / "fixtures.csv", played=False)
    for kind, columns in results.items():
        played = kn.read_matches(table | columns)
        glicko = kn.Glicko().fit(played)
        worth, down = expected[kind]
        rule = f"A win is worth {worth}, a loss 0; sides level on points are separated by wins, then lots; {down}."
        assert kn.season(glicko, fixtures, results=played[:0], realisations=5).rule == rule
        pl.DataFrame(table | columns).write_csv(tmp_path / "results.csv")
        words = ["season", str(tmp_path / "results.csv"), str(tmp_path / "fixtures.csv"), "--season-start", "none"]
        words += ["--realisations", "5", "--rater", "glicko", "--json"]
        assert json.loads(CliRunner().invoke(app, words).stdout)["rule"] == rule
        said = CliRunner().invoke(app, [*words, "--draw", "0.25", "--relegated", "2"])
        assert "a draw 0.25, " in said.stdout and "the last 2 of 14 go down" in said.stdout


def test_who_has_no_fixture_left_counts_for_who_goes_down(tmp_path):
    """Twelve sides, of which one has played all its matches: three go down, by both doors."""
    names = [f"side {k}" for k in range(12)]
    pairs = list(itertools.permutations(names, 2))
    left = [pair for pair in pairs[-30:] if "side 3" not in pair and "side 0" not in pair]
    done = [pair for pair in pairs if pair not in left]
    generator = np.random.default_rng(4)
    table = {
        "date": ["2024-03-01"] * len(done), "home": [a for a, _ in done], "away": [b for _, b in done],
        "home_score": generator.poisson(1.5, len(done)), "away_score": generator.poisson(1.2, len(done)),
    }  # fmt: skip
    pl.DataFrame(table).write_csv(tmp_path / "results.csv")
    pl.DataFrame({"home": [a for a, _ in left], "away": [b for _, b in left]}).write_csv(tmp_path / "fixtures.csv")
    played = kn.read_matches(tmp_path / "results.csv")
    fixtures = kn.read_matches(tmp_path / "fixtures.csv", played=False)
    assert len(fixtures.teams) < 12
    found = kn.season(kn.Glicko().fit(played), fixtures, results=played, since="2024-01-01", realisations=5)
    assert found.rule.endswith("the last 3 of 12 go down.")
    words = ["season", str(tmp_path / "results.csv"), str(tmp_path / "fixtures.csv"), "--season-start", "2024-01-01"]
    said = CliRunner().invoke(app, [*words, "--realisations", "5", "--rater", "glicko", "--json"])
    assert json.loads(said.stdout)["rule"] == found.rule


def test_any_rater_can_be_asked_but_margins_must_be_drawn():
    played = kn.read_matches({"home": ["A", "B", "C"] * 9, "away": ["B", "C", "A"] * 9, "result": [1, 0.5, 0] * 9})
    elo = kn.TeamElo.classic(k=20, ties=0.5).fit(played)
    found = kn.season(elo, double_round("ABC"), rules=kn.forecasts.Rules(2, 1, 0, ["wins"]), realisations=400)
    assert found.to_polars()["name"][0] == "A"
    with pytest.raises(InputError, match="ClassicElo draws no margins"):
        kn.season(elo, double_round("ABC"), rules=kn.forecasts.Rules(tie_breaks=["margin"]), realisations=10)


def test_by_default_margins_separate_where_they_are_drawn_and_wins_where_they_are_not(rater):
    played = kn.read_matches({"home": ["A", "B", "C"] * 9, "away": ["B", "C", "A"] * 9, "result": [1, 0.5, 0] * 9})
    elo = kn.TeamElo.classic(k=20, ties=0.5).fit(played)
    usual, wins = (
        kn.season(elo, double_round("ABC"), rules=rules, realisations=300)
        for rules in (None, kn.forecasts.Rules(tie_breaks=["wins"]))
    )
    assert usual.rules.tie_breaks == ("wins",)
    assert (usual.positions == wins.positions).all()
    filtered = kn.season(rater, double_round("ABCD"), realisations=50)
    assert filtered.rules.tie_breaks == ("margin", "wins")


def test_margins_of_matches_that_have_ended_separate(rater):
    """A and B are level in all but margins, and C has lost both of its matches."""
    table = {"home": ["A", "B", "A", "B"], "away": ["B", "A", "C", "C"], "date": ["2024-08-01"] * 4}
    for better, scored in (("A", (3, 1)), ("B", (1, 3))):
        ended = kn.read_matches({**table, "home_score": [scored[0], scored[1], 2, 2], "away_score": [0, 0, 0, 0]})
        found = kn.season(rater, ended, realisations=20)
        first = np.array(found.names)[found.positions.argmin(axis=1)]
        assert found.rules.tie_breaks == ("margin", "wins") and set(first) == {better}


def test_head_to_head_is_among_those_whom_nothing_before_it_separates(rater):
    """A beat B by 2, B beat C by 1 and C beat A by 3: level on points, and A and B in margins too (−1). A beat B."""
    ended = {"home": ["A", "B", "C"], "away": ["B", "C", "A"], "home_score": [2, 1, 3], "away_score": [0, 0, 0]}
    rules = kn.forecasts.Rules(tie_breaks=["margin", "head_to_head"])
    found = kn.season(rater, kn.read_matches(ended), rules=rules, realisations=20)
    assert found.names == ("A", "B", "C") and (found.positions == [2, 3, 1]).all()


def test_goals_among_those_level_are_those_of_their_own_matches(rater):
    """A beat B by 1, B beat C by 3, C beat A by 1, and each beat D: six points each, won and lost one among themselves.
    Goals among them put B (+2) before A (0) and C (−2), those of all matches C (+4) before B (+3) and A (+1).
    """
    ended = kn.read_matches({
        "home": ["A", "B", "C", "A", "B", "C"], "away": ["B", "C", "A", "D", "D", "D"],
        "home_score": [1, 3, 1, 1, 1, 6], "away_score": [0] * 6,
    })  # fmt: skip
    for breaks, order in (
        (("head_to_head", "head_to_head_margin"), "BACD"),
        (("head_to_head_margin", "margin"), "BACD"),
        (("margin", "head_to_head_margin"), "CBAD"),
    ):
        found = kn.season(rater, ended, rules=kn.forecasts.Rules(tie_breaks=breaks), realisations=9)
        assert found.points[0].tolist() == [6.0, 6.0, 6.0, 0.0]
        assert [set(found.positions[:, found.names.index(name)].tolist()) for name in order] == [{1}, {2}, {3}, {4}]
    assert "separated by margin, head to head margin, then lots" in found.rule


def test_goals_among_those_level_count_the_matches_that_gave_the_points(rater):
    """A, B and C have six points each. A beat B by 5 and C by 1, who drew with one another: goals of these three
    matches put C (−1) before B (−5), though nothing is between the two, and B won more clearly against D.
    """
    ended = kn.read_matches({
        "home": ["A", "A", "B", "B", "B", "B", "C", "C", "C"], "away": ["B", "C", "C", *"DDDDDD"],
        "home_score": [5, 1, 0, 9, 1, 0, 1, 2, 0], "away_score": [0, 0, 0, 0, 1, 0, 0, 2, 0],
    })  # fmt: skip
    for breaks, order in (
        (("head_to_head", "head_to_head_margin", "margin"), "ACBD"),
        (("head_to_head", "margin", "head_to_head_margin"), "ABCD"),
    ):
        found = kn.season(rater, ended, rules=kn.forecasts.Rules(tie_breaks=breaks), realisations=9)
        assert found.points[0].tolist() == [6.0, 6.0, 6.0, 4.0]
        assert [set(found.positions[:, found.names.index(name)].tolist()) for name in order] == [{1}, {2}, {3}, {4}]


def test_scores_that_are_drawn_decide_among_those_level():
    """Two sides with a win each against the other: who won higher is ahead, in as many seasons as scores say so."""
    rng = np.random.default_rng(5)
    i = rng.integers(0, 2, 300)
    table = {"home": np.where(i, "A", "B"), "away": np.where(i, "B", "A")}
    table |= {"date": np.datetime64("2022-01-01") + np.arange(300)}
    table |= {"home_score": rng.poisson(1.4 + 0.8 * i), "away_score": rng.poisson(1.1 + 0.8 * (1 - i))}
    rater = kn.ScoreElo(kn.KalmanElo(covariance="diagonal"), pace_walk=0.02, level_walk=0.02).fit(
        kn.read_matches(pl.DataFrame(table))
    )
    fixtures = double_round("AB")
    rules = kn.forecasts.Rules(tie_breaks=["head_to_head", "head_to_head_margin"], places={"title": (1, 1)})
    found = kn.season(rater, fixtures, rules=rules, realisations=600, seed=4)
    margin = rater._play_out(fixtures, 600, 4)[1]
    level = found.points[:, 0] == found.points[:, 1]
    gap = margin[:, 0] - margin[:, 1]
    decided = level & (gap != 0)
    assert 30 < decided.sum() < level.sum() and fixtures.teams[fixtures.home[0]] == found.names[0]
    assert ((found.positions[decided, 0] == 1) == (gap[decided] > 0)).all()
    lots = level & (gap == 0)
    assert 0.2 < (found.positions[lots, 0] == 1).mean() < 0.8


def title_chances(beats):
    """Chances of four to win: first against second, third against fourth, then the winners."""
    title = []
    for i in range(4):
        rival = i ^ 1
        others = [k for k in range(4) if k // 2 != i // 2]
        final = sum(beats(k, others[1 - n]) * beats(i, k) for n, k in enumerate(others))
        title.append(beats(i, rival) * final)
    return title


def test_knockout_of_known_strengths(rater):
    """Against the exact product of the chances that are forecast, where strengths are certain. 20,000 draws are
    sure to .0035; twelve chances are all within 4 of these once in a thousand tries.
    """
    names = ["A", "D", "B", "C"]
    cup = kn.knockout(rater, names, date="2024-07-01", realisations=20_000)
    assert cup.reached.sum(axis=0) == pytest.approx([2.0, 1.0])
    sure = kn.KalmanElo(**rater.parameters_ | {"doubt": 1e-9}, covariance="full")
    sure._margin_unit = rater._margin_unit
    sure.update(rater._fitted)
    day = sure.ratings_["last_played"].max()

    def beats(i, j):
        home, _, away = sure.predict_one(names[i], names[j], date=day, neutral=True).probabilities[0]
        return home / (home + away)

    found = kn.knockout(sure, names, date=day, realisations=20_000)
    assert found.reached[:, 0] == pytest.approx([beats(i, i ^ 1) for i in range(4)], abs=0.014)
    assert found.reached[:, 1] == pytest.approx(title_chances(beats), abs=0.014)
    table = found.to_polars()
    assert table.columns == ["name", "round_1", "title"] and "wins with" in repr(found)
    for name, first, title in table.iter_rows():
        assert found.reached[names.index(name)].tolist() == [first, title]
    assert table["title"].to_list() == sorted(table["title"], reverse=True)


def test_knockout_of_any_rater_is_on_neutral_ground_and_draws_are_left_out():
    """Elo with draws and a large home advantage: a draw is decided as a match without draws would be."""
    start = {"A": 1700.0, "B": 1500.0, "C": 1450.0, "D": 1600.0}
    elo = kn.TeamElo.classic(k=20, ties=1.0, home_advantage=150.0, start=start)
    names = ["B", "A", "D", "C"]

    def beats(i, j):
        home, _, away = elo.predict_one(names[i], names[j], neutral=True).probabilities[0]
        return home / (home + away)

    found = kn.knockout(elo, names, date="2024-07-01", realisations=20_000)
    assert found.reached[:, 0] == pytest.approx([beats(i, i ^ 1) for i in range(4)], abs=0.014)
    assert found.reached[:, 1] == pytest.approx(title_chances(beats), abs=0.014)


def test_bad_input_is_one_sentence(rater):
    with pytest.raises(InputError, match="tie_breaks"):
        kn.forecasts.Rules(tie_breaks=["goals"])
    with pytest.raises(InputError, match="first and a last place"):
        kn.forecasts.Rules(places={"title": (0, 1)})
    with pytest.raises(InputError, match="2, 4, 8"):
        kn.knockout(rater, ["A", "B", "C"], date="2024-01-01")
    with pytest.raises(InputError, match="realisations must be a whole number"):
        kn.season(rater, double_round("AB"), realisations=0)
    with pytest.raises(InputError, match="needs fixtures"):
        kn.season(rater, double_round("AB")[:0])


def test_command(tmp_path):

    league = kn.sample_league(teams=6, seasons=2, seed=1)
    league.results.write_csv(tmp_path / "results.csv")
    names = kn.read_matches(league.results).teams
    lines = ["date,home,away"] + [
        f"2030-01-{k + 1:02d},{a},{b}" for k, (a, b) in enumerate(itertools.combinations(names, 2))
    ]
    (tmp_path / "fixtures.csv").write_text("\n".join(lines))
    arguments = ["season", str(tmp_path / "results.csv"), str(tmp_path / "fixtures.csv"), "--realisations", "200"]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0, shown.output
    assert "Title" in shown.output and "Relegation" not in shown.output  # of six, nobody unless it is said
    assert "nobody goes down. Say --relegated for another number." in shown.output
    wrong = CliRunner().invoke(app, [*arguments, "--tie-break", "goals"])
    assert wrong.exit_code != 0
