"""Errors by judge, and judges whose answers do not follow who is compared."""

import json
import warnings
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app
from kinelo.decisions.judging import always, at_random, followed

pytestmark = pytest.mark.filterwarnings("ignore:Errors by 'judge' rest on")
G = np.array([0.9, -0.4, 0.2, -1.1, 0.6, 0.05, -0.3])


def votes(judges=30, each=25, models=5, taste=150.0, seed=1, odd=0):
    """Votes of judges with tastes of their own, some with covariate and weight; the first ``odd`` take the first."""
    rng = np.random.default_rng(seed)
    strength, own = rng.normal(0, 100, models), rng.normal(0, taste, (judges, models))
    judge = np.repeat(np.arange(judges), each)
    i = rng.integers(0, models, judge.size)
    j = (i + rng.integers(1, models, judge.size)) % models
    longer = np.round(rng.normal(0, 1, judge.size), 1)
    gap = strength[i] + own[judge, i] - strength[j] - own[judge, j] + 30 * longer
    won = rng.random(judge.size) < 1 / (1 + 10 ** (-gap / 400))
    result = np.where(rng.random(judge.size) < 0.2, 0.5, won * 1.0)
    return {
        "home": [f"m{k}" for k in i],
        "away": [f"m{k}" for k in j],
        "result": np.where(judge < odd, 1.0, result),
        "neutral": [True] * judge.size,
        "longer": longer,
        "judge": [f"j{k}" for k in judge],
    }


def read(table):
    return kn.read_matches(table, conditions=["judge", "longer"])


def errors(rater):
    return dict(rater.ratings_.select("name", "uncertainty").rows())


def test_ratings_do_not_depend_on_judges_and_errors_are_sums_of_their_scores():
    table = votes() | {"weight": np.random.default_rng(3).choice([1.0, 2.0, 5.0], 750)}
    table["neutral"] = [k % 3 > 0 for k in range(750)]
    given = {"covariates": ["longer"], "ridge": 0.05, "home_advantage": 60.0}
    plain = kn.BradleyTerry(**given).fit(read(table))
    rater = kn.BradleyTerry(**given, errors_by="judge").fit(read(table))
    assert rater.ratings_["rating"].to_list() == plain.ratings_["rating"].to_list()
    likelihood, theta = rater._likelihood(), rater._theta
    bare = likelihood.over(likelihood.cells)
    bare.added = np.zeros(bare.size)
    B = np.zeros((bare.size, bare.size))
    for name in dict.fromkeys(table["judge"]):  # a judge's votes alone, as a league of their own
        mask = np.array(table["judge"]) == name
        tally = type(rater._state)(("longer",))
        tally.name_index.places(tuple(rater._state.name_index.names))
        tally.grow()
        tally.add(read(table)[mask])
        own = bare.over(tally.cells(False))
        own.offset = 60.0 * rater._scale * tally.c[:, 0]
        score = own.slopes(theta)[1]
        B += np.outer(score, score)
    prior = np.diag(np.maximum(likelihood.added, 1e-4))
    A = likelihood.curvature(theta) - np.diag(likelihood.added) + prior
    inverse = np.linalg.inv(A)
    wanted = inverse @ (B * 30 / 29 + prior) @ inverse
    apart = np.eye(bare.size)
    apart[:5, :5] -= 1 / 5  # nothing is known of all together
    np.testing.assert_allclose(
        apart @ rater._spread_of_unknowns() @ apart.T, apart @ wanted @ apart.T, rtol=1e-6, atol=1e-10
    )
    assert rater.effects_["standard_error"][0] != pytest.approx(plain.effects_["standard_error"][0], rel=0.01)


def test_one_vote_each_is_no_judge_at_all():
    table = votes()
    table["judge"] = [f"j{k}" for k in range(750)]
    plain, by = (kn.BradleyTerry(ridge=1e-6, errors_by=name).fit(read(table)) for name in (None, "judge"))
    for name, error in errors(plain).items():
        assert errors(by)[name] == pytest.approx(error * (750 / 749) ** 0.5, rel=1e-6)


def test_a_judge_who_votes_everything_twice_tells_nothing_new():
    table = votes()
    twice = {name: list(column) * 2 for name, column in table.items()}
    once, again = (kn.BradleyTerry(ridge=1e-6, errors_by="judge").fit(read(each)) for each in (table, twice))
    plain, more = (kn.BradleyTerry(ridge=1e-6).fit(read(each)) for each in (table, twice))
    for name, error in errors(once).items():
        assert errors(again)[name] == pytest.approx(error, rel=1e-4)
        assert errors(more)[name] == pytest.approx(errors(plain)[name] / 2**0.5, rel=1e-4)


def test_intervals_hold_what_other_judges_would_say():
    """25 arenas of judges with tastes: of 150 ratings some 5 % lie outside of 95 % intervals, by votes alone many."""
    outside = np.zeros(2)
    for seed in range(25):
        matches = read(votes(judges=40, each=30, models=6, taste=200.0, seed=seed))
        wanted = truth(seed)
        for k, by in enumerate((None, "judge")):
            board = kn.BradleyTerry(ridge=0.01, errors_by=by).fit(matches).intervals()
            outside[k] += sum(
                not low < wanted[name] < high for name, low, high in board.select("name", "low", "high").rows()
            )
    assert outside[1] / 150 < 0.13
    assert outside[1] / 150 > 0.01
    assert outside[0] / 150 > 0.15


def truth(seed, models=6, taste=200.0):
    """Ratings by the judges of all the world: tastes flatten the chances of every pair."""
    strength = np.random.default_rng(seed).normal(0, 100, models)
    one, other = np.triu_indices(models, 1)
    own = taste * 2**0.5 * np.polynomial.hermite_e.hermegauss(30)[0]
    share = np.polynomial.hermite_e.hermegauss(30)[1] / np.polynomial.hermite_e.hermegauss(30)[1].sum()
    gaps = (strength[one] - strength[other])[:, None] + own
    won = (1 / (1 + 10 ** (-gaps / 400))) @ share
    table = {
        "home": [f"m{k}" for k in one] * 3,
        "away": [f"m{k}" for k in other] * 3,
        "result": [1.0] * one.size + [0.5] * one.size + [0.0] * one.size,
        "neutral": [True] * 3 * one.size,
        "weight": np.round(1e5 * np.concatenate([0.8 * won, 0.2 + 0 * won, 0.8 - 0.8 * won])),
    }
    return dict(kn.BradleyTerry(ridge=0.01).fit(kn.read_matches(table)).ratings_.select("name", "rating").rows())


def test_the_bootstrap_draws_judges():
    matches = read(votes())
    rater = kn.BradleyTerry(ridge=0.01, errors_by="judge").fit(matches)
    drawn = rater.intervals(method="bootstrap", resamples=400)
    width = (drawn["high"] - drawn["low"]).to_numpy() / 3.92
    wanted = np.array([errors(rater)[name] for name in drawn["name"]])
    alone = np.array([errors(kn.BradleyTerry(ridge=0.01).fit(matches))[name] for name in drawn["name"]])
    assert np.abs(width / wanted - 1).mean() < 0.12 < np.abs(width / alone - 1).mean()
    assert drawn.equals(rater.intervals(method="bootstrap", resamples=400))


def test_judges_are_kept_with_what_a_rater_knows(tmp_path):
    matches = read(votes())
    whole = kn.BradleyTerry(errors_by="judge").fit(matches)
    pieces = kn.BradleyTerry(errors_by="judge").update(matches[:301])
    again = kn.BradleyTerry(errors_by="judge")
    again.from_arrays(pieces.to_arrays())
    book = kn.RatingBook(tmp_path / "votes.db", kn.BradleyTerry(errors_by="judge"))
    book.add(matches[:301])
    book.add(matches[301:])
    for rater in (again.update(matches[301:]), pieces.update(matches[301:]), book.rater):
        assert errors(rater) == pytest.approx(errors(whole), rel=1e-6)
    forged = pieces.to_arrays()
    with pytest.raises(kn.InputError, match="judge"):
        again.from_arrays(forged | {"judge": forged["judge"] + 40})
    pieces.update_one("m0", "m1", "win", conditions={"judge": "j7"}, neutral=True)
    assert pieces._state.judge[-1] == 7 and pieces.predict_one("m0", "m1").probabilities.shape == (1, 3)


def test_few_judges_are_said():
    with pytest.warns(
        kn.KineloWarning, match=r"^Errors by 'judge' rest on 49 of them; with fewer than 50 they are too"
    ):
        kn.BradleyTerry(errors_by="judge").fit(read(votes(judges=49, each=5)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kn.BradleyTerry(errors_by="judge").fit(read(votes(judges=50, each=5)))


def test_every_vote_needs_a_judge():
    table = votes(judges=4, each=5)
    table["judge"][3:5] = ["", ""]
    with pytest.raises(kn.InputError, match="'judge' is empty in 2 rows"):
        kn.BradleyTerry(errors_by="judge").fit(read(table))
    with pytest.raises(kn.InputError, match="'jury' was not read"):
        kn.BradleyTerry(errors_by="jury").fit(read(table))
    with pytest.raises(kn.InputError, match="errors_by=3 must be the name of a column"):
        kn.BradleyTerry(errors_by=3).fit(read(table))
    races = kn.read_contests({"race": [1, 1, 1], "driver": list("ABC"), "place": [1, 2, 3]})
    with pytest.raises(kn.InputError, match="errors_by"):
        kn.BradleyTerry(errors_by="judge").fit(races)


def chances(slope, liking):
    p = expit(2 * (slope * G + liking))
    answers = np.array(list(product([False, True], repeat=G.size)))
    return answers, np.where(answers, p, 1 - p).prod(axis=1)


def test_evidence_at_random_is_the_ratio_of_chances_given_how_many():
    answers, likely = chances(0.5, 0.3)
    for row in (5, 44, 90, 127):
        alike = answers.sum(axis=1) == answers[row].sum()
        wanted = (1 / alike.sum()) / (likely[row] / likely[alike].sum())
        assert at_random(G, answers[row], 0.5) == pytest.approx(np.log(wanted), abs=1e-9)


@pytest.mark.parametrize("liking", [-0.4, 0.0, 0.5])
def test_evidence_is_one_at_most_on_average_where_a_judge_is_innocent(liking):
    """Exactly, over all answers: at random for every slope from ½ on, always for likings up to .5."""
    for slope in (0.5, 0.7, 1.0, 1.6):
        answers, likely = chances(slope, liking)
        guess = np.exp([at_random(G, row, 0.5) for row in answers]) @ likely
        assert guess == pytest.approx(1.0) if slope == 0.5 else guess < 1.0
        assert np.exp([always(G, row, 0.5, 0.5) for row in answers]) @ likely <= 1.0
    answers, likely = chances(0.0, liking)
    assert np.exp([at_random(G, row, 0.5) for row in answers]) @ likely > 1.05
    answers, likely = chances(0.0, 3.0)
    assert np.exp([always(G, row, 0.5, 0.5) for row in answers]) @ likely > 2.0


def test_always_the_first_is_held_against_the_largest_chance_of_a_liking():
    answers, _ = chances(0.5, 0.0)
    for row in (127, 126, 119):
        first = answers[row]

        def loss(slope, first=first):
            p = expit(2 * (slope * G + 0.4))
            return -np.log(np.where(first, p, 1 - p)).sum()

        found = minimize_scalar(loss, bounds=(0.6, 5.0), method="bounded", options={"xatol": 1e-10})
        wanted = np.log(np.where(first, 0.97, 0.03)).sum() + min(found.fun, loss(0.6))
        assert always(G, first, 0.6, 0.4) == pytest.approx(wanted, abs=1e-6)
    assert always(G, answers[19], 0.6, 0.4) == -np.inf


def test_what_is_followed_is_the_likeliest_with_what_is_believed_before():
    first = np.array([True, False, True, True, False, True, False])

    def loss(p):
        x = 2 * (p[0] * G + p[1])
        return -np.log(np.where(first, expit(x), expit(-x))).sum() + 2 * (p[0] - 1) ** 2 + p[1] ** 2 / (2 * 0.7**2)

    assert followed(G, first, 0.7) == pytest.approx(minimize(loss, [1.0, 0.0], tol=1e-10).x[0], abs=1e-5)


def test_blocks_are_weighed_apart():
    table = votes(judges=3, each=406, taste=0.0)
    rater = kn.BradleyTerry(ridge=0.05).fit(read(table))
    matches = read(table)
    at = [k for k, name in enumerate(table["judge"]) if name == "j1" and table["result"][k] != 0.5]
    g, first = rater._mean_gaps(matches)[at], np.array(table["result"])[at] == 1.0
    assert len(at) > 256
    wanted = at_random(g[:256], first[:256], 0.5) + at_random(g[256:], first[256:], 0.5)
    found = {row["judge"]: row for row in kn.judges(rater, matches).iter_rows(named=True)}["j1"]
    assert found["evidence"] == pytest.approx(0.5 * np.exp(wanted), rel=1e-6)
    assert (found["votes"], found["first"]) == (406, pytest.approx(first.mean()))
    assert found["drawn"] == pytest.approx(1 - len(at) / 406)
    assert found["follows"] == pytest.approx(followed(g, first, 400 * rater._scale), abs=1e-9)


def test_who_takes_the_first_or_answers_at_random_is_named():
    """60 judges of 150 votes: two take the first, one the second, three answer at random, one the opposite."""
    table = votes(judges=60, each=150, models=12, taste=40.0, seed=4, odd=2)
    judge, result = np.array([int(name[1:]) for name in table["judge"]]), np.array(table["result"])
    rng = np.random.default_rng(5)
    result[judge == 2] = 0.0
    coin = (judge >= 3) & (judge < 6)
    result[coin] = rng.integers(0, 2, coin.sum())
    result[judge == 6] = 1.0 - result[judge == 6]
    table["result"] = result
    matches = read(table)
    found = kn.judges(kn.BradleyTerry().fit(matches), matches, false_share=0.1)
    said = dict(found.filter("named").select("judge", "answers").rows())
    wanted = {"j0": "the first", "j1": "the first", "j2": "the second", "j6": "the opposite"}
    assert said.items() >= wanted.items()
    assert {said.pop(name, "at random") for name in ("j3", "j4", "j5")} == {"at random"}
    assert said.keys() == wanted.keys()
    assert found.filter(~found["named"])["answers"].null_count() == found.height - found["named"].sum()


def test_sides_may_be_named_in_either_order():
    table = votes(judges=12, each=60, odd=2)
    turned = table | {"home": table["away"], "away": table["home"], "result": 1.0 - table["result"]}
    one, other = (
        kn.judges(kn.BradleyTerry(ridge=0.05).fit(read(each)), read(each)).sort("judge") for each in (table, turned)
    )
    np.testing.assert_allclose(one["evidence"], other["evidence"], rtol=1e-6)
    assert one["answers"].to_list() == [{"the second": "the first"}.get(said, said) for said in other["answers"]]
    assert one.filter("named")["judge"].to_list() == ["j0", "j1"]


def test_an_aggregated_row_is_so_many_votes():
    table = votes(judges=4, each=40)
    rows = {name: list(np.repeat(np.array(column), 3)) for name, column in table.items()}
    heavy = table | {"weight": [3] * 160}
    rater = kn.BradleyTerry(ridge=0.05).fit(read(heavy))
    one, other = (kn.judges(rater, read(each)).sort("judge") for each in (heavy, rows))
    assert one["votes"].to_list() == other["votes"].to_list() == [120] * 4
    np.testing.assert_allclose(one["evidence"], other["evidence"], rtol=1e-9)


def test_everybody_who_voted_is_listed():
    table = votes(judges=4, each=20)
    table["judge"][7] = "once"
    matches = read(table)
    rater = kn.BradleyTerry(ridge=0.05).fit(matches)
    found = dict(kn.judges(rater, matches).select("judge", "votes").rows())
    assert found == {"j0": 19, "j1": 20, "j2": 20, "j3": 20, "once": 1}
    assert sorted(kn.judges(rater, matches[:25])["judge"]) == ["j0", "j1", "once"]


def test_what_judges_asks_for():
    table = votes(judges=3, each=20)
    matches = read(table)
    with pytest.raises(kn.InputError, match="asks a BradleyTerry"):
        kn.judges(kn.TeamElo.classic().fit(matches), matches)
    with pytest.raises(kn.InputError, match="'jury' was not read"):
        kn.judges(kn.BradleyTerry().fit(matches), matches, by="jury")
    with pytest.raises(kn.InputError, match="least"):
        kn.judges(kn.BradleyTerry().fit(matches), matches, least=1.5)


def test_the_command_names_judges(tmp_path):
    table = pl.DataFrame(votes(each=60, odd=2)).rename({"judge": "who"})
    table.write_csv(file := tmp_path / "votes.csv")
    matches = kn.read_matches(file, conditions=["who"])
    expected = kn.judges(kn.BradleyTerry().fit(matches), matches, "who", false_share=0.1)
    asked = ["audit", str(file), "--judges", "who", "--false-share", "0.1"]
    said = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert (said["by"], said["votes"]) == ("who", 1800)
    assert [row["judge"] for row in said["judges"]] == expected["judge"].to_list()
    assert [row["evidence"] for row in said["judges"]] == pytest.approx(expected["evidence"].to_list())
    named = expected.filter("named")
    assert set(named["judge"]) == {"j0", "j1"}
    printed = CliRunner().invoke(app, [*asked, "--out", str(tmp_path / "found.csv")]).stdout.splitlines()
    assert printed[0].startswith("Judges: ") and pl.read_csv(tmp_path / "found.csv")["judge"][0] == named["judge"][0]
    for line, row in zip(printed[1:3], named.to_dicts()):
        said = f"{row['judge']} answers the first: of 60 votes 100 % of those decided are for the first;"
        assert line.startswith(said) and line.endswith(" to 1.")
    assert printed[3:] == ["Of those named 10 % are innocent at most, on average, of 30 judges."]
    none = CliRunner().invoke(app, [*asked[:4], "--false-share", "1e-9"]).stdout
    assert none.strip() == "Of 30 judges none is named: all may follow who is compared."
    missing = CliRunner().invoke(app, ["audit", str(file), "--judges", "juror"])
    assert isinstance(missing.exception, kn.InputError) and "juror" in str(missing.exception)
