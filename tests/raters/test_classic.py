"""A federation's Elo: its own expected score and update, draws in its forecasts, and what it says of itself."""

import copy

import numpy as np
import pytest
from plain_elo import PlainElo

import kinelo as kn
from kinelo.forecasts.scores import log_loss


def drawn_league(games=8000, seed=0, draws=0.5):
    """Forty players on [−300, 300] whose expected scores are Elo's; equals draw with probability ``draws``."""
    rng = np.random.default_rng(seed)
    strength = np.linspace(-300, 300, 40)
    home = rng.integers(0, 40, games)
    away = (home + rng.integers(1, 40, games)) % 40
    expected = 1 / (1 + 10 ** (-(strength[home] - strength[away]) / 400))
    draw = draws * 4 * expected * (1 - expected)
    u = rng.random(games)
    result = np.where(u < expected - draw / 2, 1.0, np.where(u < expected + draw / 2, 0.5, 0.0))
    names = np.array([f"P{k}" for k in range(40)])
    return kn.read_matches({"home": names[home], "away": names[away], "result": result}), dict(zip(names, strength))


@pytest.mark.parametrize("draws", [0.5, 0.0])
def test_agrees_with_the_rules_written_out(draws):
    matches, _ = drawn_league(600, seed=3, draws=draws)
    rng = np.random.default_rng(1)
    frame = matches.to_polars().with_columns(neutral=rng.random(600) < 0.4, weight=rng.choice([0.5, 1, 2], 600))
    matches = kn.read_matches(frame)
    plain = PlainElo(k=24, home_advantage=35.0)
    expected, kappa = plain.one_step_ahead(matches), plain.draws.kappa
    rater = kn.TeamElo.classic(k=24, home_advantage=35)
    forecast = rater.one_step_ahead(matches)
    table = rater.ratings_
    assert table["rating"].to_list() == pytest.approx([plain.ratings[name] for name in table["name"]], rel=1e-13)
    np.testing.assert_allclose(forecast.probabilities, expected, atol=1e-12)
    ahead = rater.predict_one("P3", "P8", neutral=True)
    assert ahead.probabilities[0] == pytest.approx(plain.predict_one("P3", "P8", neutral=True), abs=1e-12)
    assert rater.learnt_["ties"].value == pytest.approx(kappa, rel=1e-12) and (kappa > 1) == (draws > 0)


def test_forecasts_have_the_draws_of_the_league():
    """Four standard errors of 4,000 matches; error probability 6e-5 for another seed."""
    matches, _ = drawn_league()
    later = slice(4000, None)
    said = kn.TeamElo.classic(k=12).one_step_ahead(matches).probabilities[later]
    share = np.mean(matches.result[later] == 0.5)
    assert said[:, 1].mean() == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 4000))
    none, _ = drawn_league(draws=0.0)
    assert np.all(kn.TeamElo.classic(k=12).one_step_ahead(none).probabilities[:, 1] == 0.0)


def test_draws_do_not_change_the_best_k_nor_the_points():
    """The spread of ratings is that of the strengths, and K = 12 is better than half and double of it."""
    matches, strength = drawn_league()
    loss = {}
    for k in (6, 12, 24):
        said = kn.TeamElo.classic(k=k).one_step_ahead(matches)
        loss[k] = np.mean(log_loss(said.probabilities[4000:], matches.result[4000:]))
    assert loss[12] < min(loss[6], loss[24])
    table = kn.TeamElo.classic(k=12).update(matches).ratings_
    truth = np.array([strength[name] for name in table["name"]])
    # Ratings of 400 games each lag by under a tenth; Davidson's points at ν were twice as large.
    assert np.polyfit(truth, table["rating"].to_numpy(), 1)[0] == pytest.approx(1.0, abs=0.1)


def test_draws_given_are_kept_and_change_no_rating():
    matches, _ = drawn_league(400)
    given, learned = (kn.TeamElo.classic(k=20, ties=ties).update(matches) for ties in (0.8, None))
    assert given.learnt_["ties"].value == 0.8 and learned.learnt_["ties"].value > 1
    pick = ["name", "rating"]
    assert given.ratings_.select(pick).equals(learned.ratings_.select(pick))


def test_it_says_what_it_is_and_can_be_changed():
    rater = kn.TeamElo.classic(k=20)
    assert repr(rater) == "TeamElo.classic(k=20)"
    assert repr(kn.TeamElo.classic()) == "TeamElo.classic(k=32)"
    assert repr(kn.TeamElo.classic(k=10, initial=1200)) == "TeamElo.classic(k=10, initial=1200)"
    assert isinstance(rater, kn.TeamElo)
    matches, _ = drawn_league(200)
    changed = rater.set_params(k=40).update(matches).ratings_
    assert changed.equals(kn.TeamElo.classic(k=40).update(matches).ratings_)
    twin = type(rater)(**rater.get_params())
    assert repr(twin) == repr(rater) == "TeamElo.classic(k=40)"
    with pytest.raises(kn.InputError, match="k is a finite number of at least 0"):
        rater.set_params(k=-1)


def test_it_begins_with_the_list_of_the_federation():
    matches, _ = drawn_league(1, seed=5)
    home, away = (matches.teams[code[0]] for code in (matches.home, matches.away))
    table = kn.TeamElo.classic(k=20, start={home: 1700, away: 1300}).update(matches).ratings_.filter(name=home)
    expected = 1700 + 20 * (matches.result[0] - 1 / (1 + 10 ** (-400 / 400)))
    assert table["rating"].item() == pytest.approx(expected, rel=1e-14)


def test_home_advantage_is_estimated_where_it_is_asked_for():
    league = kn.sample_league(teams=16, seasons=4, seed=3)
    rater = kn.TeamElo.classic(k=30, home_advantage=None).fit(kn.read_matches(league.results))
    assert set(rater.estimates_.values) == {"home_advantage"}
    # Goals of equals are Poisson with means 1.3 e^(±.15): .591 of a match at home, 64 points. A result varies by .42,
    # and rises by ln 10 / 1600 a point between equals and by less between others: 960 of them are sure to 9.4 or more.
    found, error = rater.parameters_["home_advantage"], rater.estimates_.standard_errors["home_advantage"]
    assert abs(found - 64) < 3.3 * error and error == pytest.approx(10.5, rel=0.2)


def test_pieces_copies_and_books_carry_the_draws_on(tmp_path):
    matches, _ = drawn_league(300)
    whole = kn.TeamElo.classic(k=20).update(matches)
    pieces = kn.TeamElo.classic(k=20).update(matches[:100])
    pieces = copy.deepcopy(pieces).update(matches[100:])
    book = kn.RatingBook(tmp_path / "book", kn.TeamElo.classic(k=20))
    book.add(matches)
    opened = kn.RatingBook(tmp_path / "book").rater
    fixture = kn.read_matches({"home": ["P1"], "away": ["P30"]}, played=False)
    for other in (pieces, opened):
        assert other.predict(fixture).probabilities.tolist() == whole.predict(fixture).probabilities.tolist()
        assert other.ratings_.sort("name").equals(whole.ratings_.sort("name"))
    assert repr(opened) == "TeamElo.classic(k=20)"
