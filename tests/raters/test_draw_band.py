"""A draw band that follows the matches, in every rater that has draws: against plain formulas, where rules change, and
in what was stored before there was one."""

import json
import math
import sqlite3

import numpy as np
import pytest
from plain_band import PlainBand

import kinelo as kn
from kinelo.book.ratings import pack, unpack
from kinelo.forecasts.scores import log_loss
from kinelo.raters.band import TIES_WALK
from kinelo.raters.rank.reading import chances_of_points, follow_ties, fresh_ties
from kinelo.raters.state import BAND, KAPPA

SIDES = {
    "TeamElo": lambda **more: kn.TeamElo(step=8.0, newcomer_boost=1.0, spread=0.0, regression=0.0, **more),
    "Glicko": lambda **more: kn.Glicko(deviation=150.0, growth=10.0, **more),
    "Glicko2": lambda **more: kn.Glicko2(deviation=150.0, volatility=0.05, **more),
    "KalmanElo": lambda **more: kn.KalmanElo(walk=0.1, prior_spread=0.5, covariance="diagonal", **more),
    "RankElo": lambda **more: kn.RankElo(walk=0.1, prior_spread=0.5, regression=0.0, **more),
}  # fmt: skip


def league(seed, before, after, n=1200, change=900, sides=12):
    """Davidson's law of sides at rest whose κ changes once."""
    rng = np.random.default_rng(seed)
    strength, home = rng.normal(0, 120, sides), rng.integers(0, sides, n)
    away = (home + rng.integers(1, sides, n)) % sides
    kappa = np.where(np.arange(n) < change, before, after)
    x = (strength[home] - strength[away] + 40) * math.log(10) / 800 * (2 + kappa) / 2
    chances = np.array([np.exp(x), kappa, np.exp(-x)])
    result = 1 - 0.5 * (rng.random(n) > np.cumsum(chances / chances.sum(axis=0), axis=0)[:2]).sum(axis=0)
    table = {"date": np.datetime64("2012-01-01") + np.arange(n), "home": home.astype(str), "away": away.astype(str)}
    return kn.read_matches({**table, "result": result}, ordered=True)


@pytest.mark.parametrize("make", SIDES)
def test_a_league_whose_rules_end_draws_is_followed(make):
    """From 29 % draws between equals to none after the fit: a still κ says .3 for ever, and pays for it."""
    matches = league(1, 0.8, 0.0)
    losses, last = {}, {}
    for walk in (None, 0.0):
        rater = SIDES[make](ties_walk=walk).fit(matches[:800])
        said = rater.one_step_ahead(matches[800:]).probabilities
        losses[walk], last[walk] = log_loss(said, matches[800:].result).mean(), said[-1, 1]
        assert rater.predict(matches[-1:]).probabilities[0, 1] == pytest.approx(last[walk], abs=0.01)
    assert losses[None] < losses[0.0] - 0.08
    assert last[None] < 0.05 < 0.15 < last[0.0]


@pytest.mark.parametrize("make", SIDES)
def test_a_band_that_is_given_stands_unless_a_walk_is(make):
    matches = league(2, 0.8, 0.0, n=400, change=200)
    stays, moves = SIDES[make](ties=0.5).update(matches), SIDES[make](ties=0.5, ties_walk=TIES_WALK).fit(matches)
    draw = stays.predict_one("0", "1", neutral=True).probabilities[0, 1]
    fresh = SIDES[make](ties=0.5).update(matches[:1])
    assert max(draw, fresh.predict_one("0", "1", neutral=True).probabilities[0, 1]) > 0.12
    assert moves.predict_one("0", "1", neutral=True).probabilities[0, 1] < 0.5 * draw
    if make != "RankElo":
        assert stays.learnt_["ties"] == pytest.approx((0.5, math.nan), nan_ok=True)
        assert moves.learnt_["ties"].error > 0.0


def davidson(x):
    """Chances of win, draw and loss by κ at a difference of points."""

    def chances(kappa):
        z = x * math.log(10) / 800 * (2 + kappa) / 2
        shares = np.array([math.exp(z), kappa, math.exp(-z)])
        return shares / shares.sum()

    return chances


@pytest.mark.parametrize("walk", [0.03, 0.3])
def test_glicko_and_rank_elo_follow_kappa_as_plain_formulas_say(walk):
    rng = np.random.default_rng(4)
    n = 300
    signed, weight = rng.choice([-1.0, 0.0, 0.5, 1.0], n), rng.choice([0.0, 0.5, 1.0, 2.0], n)
    shares = np.column_stack([np.maximum(signed, 0), 1 - np.abs(signed), np.maximum(-signed, 0)])
    points = rng.uniform(0.05, 0.95, n)
    found, state = np.empty(n), fresh_ties(0.7)
    found = follow_ties(points, signed, weight, False, walk, 0.7, state)
    band = PlainBand(math.log(0.7), walk)
    for k in range(n):
        assert found[k] == pytest.approx(math.exp(band.mean), rel=1e-6)
        if weight[k]:
            band.after(lambda kappa: chances_of_points(points[k : k + 1], kappa)[0], shares[k], weight[k])  # noqa: B023
    assert state[2::3] == pytest.approx(band.values, rel=1e-5, abs=1e-6)
    assert state[3::3] == pytest.approx(band.variances, rel=1e-5)
    assert state[4::3] == pytest.approx(band.weights, rel=1e-4, abs=1e-9)
    # Glicko forecasts at the ratings before a match: its κ moves by the chances that it read.
    matches = league(5, 1.5, 0.1, n=150, change=90)
    rater = kn.Glicko(deviation=150.0, growth=10.0, ties=0.7, ties_walk=walk, sharpness=1.0, sharpness_walk=0.0)
    rater.fit(matches[:1])
    band = PlainBand(math.log(rater._common[KAPPA]), walk)
    band.values, band.variances, band.weights = (rater._common[BAND:][k::3].copy() for k in range(3))
    for k in range(1, len(matches)):
        p = rater.one_step_ahead(matches[k : k + 1]).probabilities[0]
        score = 1 - abs(matches.signed[k]) - p[1]  # ∂ log P/∂ log κ at the same tail
        band.follow(score, p[1] * (1 - p[1]))
        assert rater.learnt_["ties"].value == pytest.approx(math.exp(band.mean), rel=1e-6)
        assert rater.learnt_["ties"].error == pytest.approx(math.exp(band.mean) * math.sqrt(band.variance), rel=1e-6)


@pytest.mark.parametrize("make", SIDES)
def test_a_state_that_was_stored_before_draws_were_followed_opens(make):
    """It ends where its band stood, and goes on from there; one that is damaged is refused."""
    matches = league(3, 0.8, 0.3, n=600, change=300)
    rater = SIDES[make]().fit(matches[:400])
    arrays = dict(rater.to_arrays())
    name = "common" if "common" in arrays else "reading" if "reading" in arrays else "tie_band"
    cut = 0 if name == "tie_band" else -12
    old = {key: value for key, value in arrays.items() if key != name} | {"parameter_ties_step": np.array(0.004)}
    old |= {name: arrays[name][:cut]} if cut else {}
    again = SIDES[make]()
    again.from_arrays(old)
    begun = SIDES[make]()
    begun.from_arrays(arrays)
    one, other = (r.predict_one("0", "1").probabilities[0] for r in (again, begun))
    assert one == pytest.approx(other, abs=0.02 if make == "RankElo" else 1e-12)
    before = again.predict_one("0", "1", neutral=True).probabilities[0, 1]
    again.update(matches[400:])
    assert again.predict_one("0", "1", neutral=True).probabilities[0, 1] != pytest.approx(before, abs=1e-4)
    assert "ties_step" not in again.parameters_
    for damage in (arrays[name][:-1], np.concatenate([arrays[name][:-1], [-0.1]])):
        with pytest.raises(kn.InputError):
            SIDES[make]().from_arrays(arrays | {name: damage})


def written_before(path):
    """Make a book look as if it had been written before draws were followed."""
    database = sqlite3.connect(path)
    shared = json.loads(database.execute("SELECT value FROM common WHERE name = 'common'").fetchone()[0])
    database.execute("UPDATE common SET value = ? WHERE name = 'common'", [json.dumps(shared[:-12])])
    settings = json.loads(database.execute("SELECT value FROM about WHERE key = 'settings'").fetchone()[0])
    database.execute("UPDATE about SET value = ? WHERE key = 'settings'", [json.dumps(settings | {"ties_step": 0.01})])
    for number, state in database.execute("SELECT number, state FROM checkpoint").fetchall():
        arrays = unpack(state)
        arrays |= {"common": arrays["common"][:-12], "parameter_ties_step": np.array(0.01)}
        database.execute("UPDATE checkpoint SET state = ? WHERE number = ?", [pack(arrays), number])
    database.commit()
    database.close()


@pytest.mark.parametrize("one_by_one", [True, False])
def test_a_book_that_was_written_before_draws_were_followed_opens(tmp_path, one_by_one):
    matches = league(6, 0.8, 0.3, n=300, change=200)
    path, rater = tmp_path / "ratings.db", kn.TeamElo(step=9.0).fit(matches[:200])
    with kn.RatingBook(path, rater) as book:
        book.add(matches[:200])
        ratings = book.ratings_
    written_before(path)
    with kn.RatingBook(path) as book:
        assert book.ratings_.equals(ratings)
        for k in range(200, 220 if one_by_one else 200):
            home, away = (matches.teams[side[k]] for side in (matches.home, matches.away))
            book.update_one(home, away, matches.result[k], date=matches.date[k])
        if not one_by_one:
            book.add(matches[200:220])
        kappa = book.rater.learnt_["ties"].value
        assert len(book) == 220 and kappa != rater.parameters_["ties"] and book.rater._common.size == 23


def test_the_step_of_earlier_versions_is_refused_in_a_sentence():
    for make in (kn.TeamElo, kn.Glicko, kn.KalmanElo, kn.PlayerElo):
        with pytest.raises(kn.InputError, match=r"no longer has an argument ties_step: .* ties_walk=0 leaves them"):
            make(ties_step=0.01)
