"""Groups told apart, and ratings that results do not fit."""

import json
import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri
from scipy.stats import norm
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app
from kinelo.decisions.choosing import beliefs_of
from kinelo.decisions.telling_apart import board_with_tiers
from kinelo.decisions.wrong_ratings import _doubts
from kinelo.raters.tables import tier_words


def glicko(ratings, deviations):
    names = [f"P{k}" for k in range(len(ratings))]
    return kn.Glicko(
        start={"name": names, "rating": list(ratings), "deviation": list(deviations)}, ties=0.0, home_advantage=0.0
    )


def test_tiers_end_where_all_are_told_apart():
    found = kn.tiers(glicko([1500, 1900, 1880, 1490, 1700], [30, 30, 100, 30, 30]), level=0.9)
    assert found["name"].to_list() == ["P1", "P2", "P4", "P0", "P3"]
    # P2 is hardly known, so that it cannot be told from P4, though P1 can: one tier of three.
    assert found["tier"].to_list() == [1, 1, 1, 2, 2]
    assert found["more"].to_list()[2] is None
    sure = kn.tiers(glicko([1500, 1900, 1880, 1490, 1700], [30, 30, 30, 30, 30]), level=0.9)
    assert sure["tier"].to_list() == [1, 1, 2, 3, 3]


def test_more_matches_do_what_is_said():
    """With so many matches more between them, the neighbours' difference is exactly z standard errors."""
    found = kn.tiers(glicko([1600, 1500], [80, 60]), level=0.95)
    q, more = math.log(10) / 400, found["more"][0]
    p = 1 / (1 + 10 ** (-100 / 400))
    z = -ndtri(0.05 / 2)
    known = 1 / (80**2 + 60**2)
    needed = ((z / 100) ** 2 - known) / (q**2 * p * (1 - p))
    assert found["tier"].to_list() == [1, 1]
    assert more == pytest.approx(needed, abs=1.01)
    assert kn.tiers(glicko([1500, 1500], [80, 60]))["more"].to_list() == [None, None]


@pytest.mark.parametrize("name", ["BradleyTerry", "KalmanElo"])
def test_tiers_of_beliefs_that_hang_together_are_those_of_every_pair(name):
    rng = np.random.default_rng(2)
    home = rng.integers(0, 6, 400)
    away = (home + rng.integers(1, 6, 400)) % 6
    strength = np.array([0.0, 150.0, 20.0, -400.0, 60.0, -90.0])
    won = rng.random(400) < 1 / (1 + 10 ** ((strength[away] - strength[home]) / 400))
    matches = kn.read_matches({
        "home": [f"P{k}" for k in home], "away": [f"P{k}" for k in away], "result": won * 1.0,
        "neutral": [True] * 400,
    })  # fmt: skip
    if name == "BradleyTerry":
        rater = kn.BradleyTerry(ridge=0.1).fit(matches)
    else:
        rater = kn.KalmanElo(covariance="full", doubt=1.7).update(matches)
    found = kn.tiers(rater, level=0.8)
    own = {row["name"]: (row["rating"], row["uncertainty"]) for row in rater.ratings_.to_dicts()}
    assert found["name"].to_list() == sorted(own, key=lambda one: -own[one][0])
    for one, rating, doubt in found.select("name", "rating", "uncertainty").rows():
        assert (rating, doubt) == pytest.approx(own[one])
    beliefs, _ = beliefs_of(rater, "tiers")
    at = [beliefs.names.index(one) for one in found["name"]]
    m, P, z = beliefs.mean, beliefs.covariance, norm.isf(0.2 / (6 * 5))

    def variance(i, j):
        return P[i, i] + P[j, j] - 2 * P[i, j]

    assert max(abs(P[i, j]) for i in at for j in at if i != j) > 50
    tier = [1]
    for k in range(1, 6):
        apart = all(m[i] - m[j] >= z * math.sqrt(variance(i, j)) for i in at[:k] for j in at[k:])
        tier.append(tier[-1] + apart)
    assert found["tier"].to_list() == tier and 1 < tier[-1] < 6
    lacking = []
    for i, j in pairwise(at):
        win = 1 / (1 + 10 ** (-(m[i] - m[j]) / 400))
        information = (math.log(10) / 400) ** 2 * win * (1 - win)
        lacking.append(((z / (m[i] - m[j])) ** 2 - 1 / variance(i, j)) / information)
    assert min(lacking) < 0 < max(lacking)
    for more, wanted in zip(found["more"].to_list(), lacking):
        assert (more is None) == (wanted <= 0)
        # The law of KalmanElo is that of a normal performance: nearly the same slope.
        assert more is None or more == pytest.approx(wanted, rel=2e-3 if name == "BradleyTerry" else 0.25, abs=1.01)


def test_the_level_holds_of_alike():
    """200 leagues of six alike at a level of .8: 40 false boundaries are expected at most; 65 come once in 10,000."""
    rng = np.random.default_rng(4)
    split = sum(kn.tiers(glicko(rng.normal(1500, 50, 6), [50] * 6), level=0.8)["tier"].max() > 1 for _ in range(200))
    assert split < 65


@pytest.fixture
def arena():
    """Five models: two alike at the top, two apart, one that has hardly been compared."""
    rng = np.random.default_rng(5)
    strength = np.array([90.0, 70.0, -40.0, -200.0, 60.0])
    one = np.concatenate([rng.integers(0, 4, 3000), [4] * 8])
    other = np.concatenate([(one[:3000] + rng.integers(1, 4, 3000)) % 4, [0, 1, 2, 3] * 2])
    won = rng.random(one.size) < 1 / (1 + 10 ** ((strength[other] - strength[one]) / 400))
    names = np.array(["Ash & co", "Bay", "Cob", "Dun", "Elm"])
    return {"home": names[one], "away": names[other], "result": won * 1.0, "neutral": [True] * one.size}


def test_boards_show_tiers_of_who_stands_on_them(arena, tmp_path):
    """Elm, hardly compared, joins all from its place on; without it Dun stands apart. Every door says the same."""
    matches = kn.read_matches(arena)
    rater = kn.BradleyTerry().fit(matches)
    everyone = board_with_tiers(rater, kn.leaderboard(rater, least_matches=1))
    tier = dict(everyone.select("name", "tier").rows())
    assert tier == dict(kn.tiers(rater).select("name", "tier").rows())
    assert dict(everyone.select("name", "more").rows()) == dict(kn.tiers(rater).select("name", "more").rows())
    board = board_with_tiers(rater, kn.leaderboard(rater))
    shown = dict(board.select("name", "tier").rows())
    assert "Elm" not in shown and shown["Cob"] < shown["Dun"] and shown["Ash & co"] == shown["Bay"] == 1
    assert tier["Cob"] == tier["Elm"] or tier["Dun"] == tier["Elm"]
    assert board["tier"].to_list() == sorted(board["tier"].to_list())
    least = board.drop_nulls("more").sort("more").row(0, named=True)
    pl.DataFrame(arena).write_csv(file := tmp_path / "votes.csv")
    asked = ["rate", str(file), "--rater", "bradley-terry"]
    said = CliRunner().invoke(app, [*asked, "--json"]).stdout
    assert [(row["name"], row["tier"], row["more"]) for row in json.loads(said)["leaderboard"]] == board.select(
        "name", "tier", "more"
    ).rows()
    words = f"about {float(format(least['more'], '.2g')):,.0f} more matches between {least['name']} and "
    printed = " ".join(CliRunner().invoke(app, [*asked, "--out", str(tmp_path / "votes.html")]).stdout.split())
    page = (tmp_path / "votes.html").read_text(encoding="utf-8")
    assert words in printed and words.replace("&", "&amp;") in page and ">Tier<" in page
    assert "Tier" not in CliRunner().invoke(app, ["rate", str(file), "--rater", "glicko"]).stdout


def test_the_sentence_of_tiers_names_who_is_soonest_split_by_rating():
    """Sorted by what ratings are at least, Bay stands before Ash: the next of a rating is the next below it."""
    board = pl.DataFrame({
        "tier": [1, 1, 1, 2], "name": ["Bay", "Ash", "Cob", "Dun"], "rating": [80.0, 90.0, 70.0, 5.0],
        "more": [41, 777, None, None],
    })  # fmt: skip
    assert "; about 41 more matches between Bay and Cob would" in tier_words(board)
    turned = board.with_columns(more=pl.Series([990, 777, None, None]))
    assert "; about 780 more matches between Ash and Bay would" in tier_words(turned)


def test_boards_of_contests_show_tiers_alone():
    races = [{"race": r, "driver": d, "place": k + 1} for r in range(40) for k, d in enumerate("ABC")]
    rater = kn.BradleyTerry().fit(kn.read_contests(races))
    board = board_with_tiers(rater, kn.leaderboard(rater))
    assert board.select("name", "tier").rows() == [("A", 1), ("B", 2), ("C", 3)] and "more" not in board.columns


def games(rng, rater_rating, plays, count):
    """Everyone of a league at true ``plays``, so many matches each on average."""
    size = len(plays)
    home = rng.integers(0, size, count * size // 2)
    away = (home + rng.integers(1, size, home.size)) % size
    won = rng.random(home.size) < 1 / (1 + 10 ** ((plays[away] - plays[home]) / 400))
    return kn.read_matches({
        "home": [f"P{k}" for k in home], "away": [f"P{k}" for k in away], "result": won.astype(float).tolist(),
        "neutral": [True] * home.size,
    })  # fmt: skip


@pytest.mark.parametrize(("kappa", "advantage", "piece"), [(0.0, 0.0, 4096), (0.8, 60.0, 2)])
def test_evidence_is_the_ratio_of_integrals(kappa, advantage, piece, monkeypatch):
    """Of both sides: results by win, draw and loss, at home and away, in pieces of any size."""
    monkeypatch.setattr("kinelo.decisions.wrong_ratings.PIECE", piece)
    rating, deviation = {"P0": 1500.0, "P1": 1600.0}, {"P0": 40.0, "P1": 70.0}
    start = {"name": list(rating), "rating": list(rating.values()), "deviation": list(deviation.values())}
    rater = kn.Glicko(start=start, ties=kappa, home_advantage=advantage)
    rows = [("P0", "P1", 1.0, False), ("P1", "P0", 0.0, False), ("P0", "P1", 1.0, True), ("P0", "P1", 0.0, True)]
    rows += [("P1", "P0", 0.5, False), ("P1", "P0", 0.0, True)] if kappa else []
    found = kn.watch(rater, kn.read_matches(dict(zip(("home", "away", "result", "neutral"), zip(*rows)))))
    grid = np.linspace(-7, 7, 225)
    normal = norm.pdf(grid) / norm.pdf(grid).sum()

    def chance(gap, result):
        x = math.log(10) / 800 * (1 + kappa / 2) * gap
        parts = {1.0: np.exp(x), 0.5: kappa + 0 * x, 0.0: np.exp(-x)}
        return parts[result] / sum(parts.values())

    def likelihood(side, foe, delta):
        product = np.ones(grid.size)
        for home, away, result, neutral in rows:
            at_home = side == home
            gap = rating[home] - rating[away] + (0.0 if neutral else advantage)
            seen = (gap if at_home else -gap) + delta + deviation[side] * grid[:, None] + deviation[foe] * grid
            product *= chance(seen, result if at_home else 1.0 - result) @ normal
        return normal @ product

    changes = np.array([-400, -200, -100, -50, 50, 100, 200, 400])
    for side, foe in (("P0", "P1"), ("P1", "P0")):
        ratios = np.array([likelihood(side, foe, d) for d in changes]) / likelihood(side, foe, 0)
        row = found.filter(name=side).row(0, named=True)
        assert row["evidence"] == pytest.approx(ratios.mean(), rel=0.01)
        assert row["points"] == pytest.approx(ratios @ changes / ratios.sum(), abs=1.0)
        scored = sum(result if side == home else 1 - result for home, _, result, _ in rows)
        assert (row["matches"], row["scored"]) == (len(rows), scored)
    assert found["evidence"].to_list() == sorted(found["evidence"], reverse=True)


def test_who_plays_far_above_the_rating_is_named_and_few_others():
    rng = np.random.default_rng(8)
    size = 60
    named, guilty, innocent = 0, 0, 0
    for _ in range(3):
        shown = rng.normal(1500, 150, size)
        plays = shown + rng.normal(0, 40, size)
        plays[:3] += 400.0
        found = kn.watch(glicko(shown, [40] * size), games(rng, shown, plays, 80), false_share=0.1)
        names = found.filter("named")["name"].to_list()
        named += len(names)
        guilty += len({"P0", "P1", "P2"} & set(names))
        innocent += len(set(names) - {"P0", "P1", "P2"})
        top = found.filter(found["name"] == "P0")["points"][0]
        assert 150 < top < 401
    assert guilty >= 6  # of 9
    assert innocent <= 0.3 * named


def test_right_ratings_are_not_named():
    """Eight leagues whose ratings err as they say: any is named with a chance of .1; five come once in 2,000."""
    rng = np.random.default_rng(9)
    leagues = 0
    for _ in range(8):
        shown = rng.normal(1500, 150, 50)
        plays = shown + rng.normal(0, 60, 50)
        leagues += kn.watch(glicko(shown, [60] * 50), games(rng, shown, plays, 60), false_share=0.1)["named"].any()
    assert leagues < 5


def test_newcomers_are_left_out():
    rater = glicko([1500, 1600], [40, 70])
    table = kn.read_matches({"home": ["P0", "new"], "away": ["P1", "P0"], "result": [1, 0]})
    assert sorted(kn.watch(rater, table)["matches"].to_list()) == [1, 1]
    with pytest.raises(kn.InputError, match="false_share"):
        kn.watch(rater, table, false_share=0)


def test_what_is_scored_and_expected_and_what_strengths_may_do_meanwhile():
    """Everyone next to all, and as uncertain as ratings are on the day of the last match."""
    rng = np.random.default_rng(3)
    home = rng.integers(0, 6, 900)
    away = (home + rng.integers(1, 6, 900)) % 6
    table = {
        "date": [str(np.datetime64("2020-01-01") + k) for k in range(900)],
        "home": [f"P{k}" for k in home],
        "away": [f"P{k}" for k in away],
        "result": rng.choice([0.0, 0.5, 1.0], 900).tolist(),
        "neutral": [True] * 900,
    }
    matches = kn.read_matches(table)
    rater = kn.KalmanElo(walk=0.05, regression=0.0).fit(matches[:850])
    since = matches[850:880]
    found = kn.watch(rater, since)
    one = found.row(2, named=True)
    at, away_at = (np.array([since.teams[c] == one["name"] for c in side]) for side in (since.home, since.away))
    p = rater.predict(since).probabilities
    points = p[:, 0] + 0.5 * p[:, 1]
    assert one["scored"] == since.result[at].sum() + (1 - since.result)[away_at].sum()
    assert one["expected"] == pytest.approx(points[at].sum() + (1 - points)[away_at].sum())
    beliefs, _ = beliefs_of(rater, "watch")
    doubts = _doubts(rater, beliefs, since)
    then = dict(rater.ratings_on(since.date[-1]).select("name", "uncertainty").rows())
    assert doubts == pytest.approx([then[name] for name in beliefs.names], rel=0.1)
    assert (doubts >= [then[name] for name in beliefs.names]).all()
    assert (doubts > [dict(rater.ratings_on().select("name", "uncertainty").rows())[n] for n in beliefs.names]).all()
    # What all have in common tells nothing, and what is told of each by itself is taken as it is.
    own = np.array([20.0, 30.0, 40.0, 50.0, 60.0, 70.0])
    beliefs = beliefs._replace(covariance=np.diag(own**2) + 900.0)
    assert _doubts(kn.Glicko().fit(matches), beliefs, since) == pytest.approx(own)
    pair = beliefs._replace(names=["P0", "P1"], covariance=np.diag([400.0, 900.0]))
    assert _doubts(kn.Glicko().fit(matches), pair, since).tolist() == [20.0, 30.0]


def test_the_command_watches_since_a_day(tmp_path):
    rng = np.random.default_rng(11)
    rounds, size = 150, 20
    rows = {name: [] for name in ("date", "home", "away", "result")}
    strength = rng.normal(0, 150, size)
    for k in range(rounds):
        strength[3] += 450.0 if k == 100 else 0.0
        strength[8] -= 450.0 if k == 100 else 0.0
        order = rng.permutation(size)
        for one, other in zip(order[::2], order[1::2]):
            rows["date"].append(str(np.datetime64("2020-01-01") + 7 * k))
            rows["home"].append(f"P{one}")
            rows["away"].append(f"P{other}")
            rows["result"].append(float(rng.random() < 1 / (1 + 10 ** ((strength[other] - strength[one]) / 400))))
    pl.DataFrame(rows | {"neutral": [True] * len(rows["date"])}).write_csv(file := tmp_path / "log.csv")
    day = str(np.datetime64("2020-01-01") + 700)
    asked = ["audit", str(file), "--watch", day]
    matches = kn.read_matches(file)
    found = kn.watch(kn.KalmanElo().fit(matches.before(day)), matches.since(day))
    said = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)
    assert (said["rater"], said["since"], said["matches"]) == ("KalmanElo", day, 500)
    assert [row["name"] for row in said["sides"]] == found["name"].to_list()
    assert said["sides"][1]["evidence"] == pytest.approx(found["evidence"][1])
    named = found.filter("named")
    assert set(named["name"]) == {"P3", "P8"}
    printed = CliRunner().invoke(app, [*asked, "--out", str(tmp_path / "found.csv")]).stdout.splitlines()
    assert printed[0].startswith("Watched: ") and pl.read_csv(tmp_path / "found.csv")["name"][0] == found["name"][0]
    for line, row in zip(printed[1:], named.to_dicts()):
        where = "above" if row["name"] == "P3" else "below"
        assert line.startswith(
            f"{row['name']} plays some {float(format(abs(row['points']), '.2g')):.0f} points {where} the"
        )
        assert (
            f" {row['scored']:g} points of {row['matches']} matches, where {row['expected']:.1f} were expected" in line
        )
    assert printed[3] == "Of those named 5 % are innocent at most, on average, of 20 watched."
    few = CliRunner().invoke(app, [*asked, "--rater", "glicko", "--false-share", "1e-9"]).stdout
    assert few.strip() == "Of 20 sides none is named: no results are that unlike a rating."
    late = CliRunner().invoke(app, ["audit", str(file), "--watch", "2030-01-01"])
    assert isinstance(late.exception, kn.InputError)
    assert str(late.exception) == "--watch 2030-01-01 needs matches before that day and since; there are 1,500 and 0."


@pytest.mark.parametrize(("apart", "told"), [(0.03, True), (0.0176, False)])
def test_more_matches_than_anybody_plays_are_not_said(apart, told):
    """Some 464,000 over the square of the difference in points: 5·10⁸, and 1.5·10⁹."""
    more = kn.tiers(glicko([1500, 1500 + apart], [50, 60]), level=0.95)["more"][0]
    assert (more is not None) == told and (not told or 4e8 < more < 6e8)
