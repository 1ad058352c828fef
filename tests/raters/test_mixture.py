"""Forecasts mixed: weights against a plain twin, what they guarantee, and what they may know."""

import json
import math

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app
from kinelo.forecasts.scores import log_loss
from kinelo.raters.mixture import Weights, stacked_weights


def likelihoods(seed, k=3, n=400, edge=(0.0, 0.05, 0.1)):
    rng = np.random.default_rng(seed)
    return np.clip(0.5 + np.array(edge)[:k, None] + rng.normal(0, 0.15, (k, n)), 0.02, 0.98)


def slow_weights(early, late):
    """The same by loops over matches and raters, with the optimum sought by a library."""
    began = early.shape[1]
    losses = [-sum(math.log(p) for p in row) for row in early]
    both = [0.0, 0.0]
    stacked, due, seen = library_weights(early), began + 50, early
    rows = []
    for column in late.T:
        least = min(losses)
        odds = [math.exp(least - loss) for loss in losses]
        bayes = [o / sum(odds) for o in odds]
        first = 1 / (1 + math.exp(both[0] - both[1]))
        rows.append([first * b + (1 - first) * s for b, s in zip(bayes, stacked)])
        both[0] -= math.log(sum(b * p for b, p in zip(bayes, column)))
        both[1] -= math.log(sum(s * p for s, p in zip(stacked, column)))
        losses = [loss - math.log(p) for loss, p in zip(losses, column)]
        seen = np.column_stack([seen, column])
        if seen.shape[1] == due:
            stacked = library_weights(seen)
            due += max(50, (due - began) // 4)
    return np.array(rows).T


def library_weights(p):
    """Largest likelihood with one match in favour of each rater, over logarithms of odds."""

    def total(z):
        w = np.exp(z - z.max())
        w /= w.sum()
        return -np.log(w @ p).sum() - np.log(w).sum()

    z = minimize(total, np.zeros(len(p)), method="BFGS", options={"gtol": 1e-8}).x
    w = np.exp(z - z.max())
    return w / w.sum()


def test_weights_agree_with_a_plain_twin():
    early, late = likelihoods(1, n=120), likelihoods(2, n=330)
    weights, slow = Weights.after(early), slow_weights(early, late)
    found = weights.learn(late[:, :200])
    assert np.abs(found - slow[:, :200]).max() < 1e-5
    assert weights.shares() == pytest.approx(slow[:, 200], abs=1e-5)
    assert np.abs(weights.learn(late[:, 200:]) - slow[:, 200:]).max() < 1e-5
    assert found.sum(axis=0) == pytest.approx(1.0)


def test_stacked_weights_are_the_most_likely():
    p = likelihoods(3, n=300, edge=(0.02, 0.05, 0.05))
    assert stacked_weights(p) == pytest.approx(library_weights(p), abs=1e-5)


@pytest.mark.parametrize("edge", [(0, 0.05, 0.3), (0, 0, 0), (0.2, 0.0, 0.19)])
def test_no_more_is_lost_than_the_bound(edge):
    p = likelihoods(4, n=500, edge=edge)
    weights = Weights.after(np.empty((3, 0)))
    mixed = -np.log((weights.learn(p) * p).sum(axis=0)).sum()
    assert mixed <= -np.log(p).sum(axis=1).min() + math.log(3) + math.log(2) + 1e-9


def test_raters_that_complement_one_another_are_better_together():
    rng = np.random.default_rng(5)
    p = np.where(rng.random(600) < 0.5, 0.8, 0.3)
    p = np.array([p, 1.1 - p])
    weights = Weights.after(p[:, :100])
    mixed = -np.log((weights.learn(p[:, 100:]) * p[:, 100:]).sum(axis=0)).mean()
    best = -np.log(p[:, 100:]).mean(axis=1).min()
    assert mixed == pytest.approx(-math.log(0.55), abs=0.01) and mixed < best - 0.05


def test_pieces_change_nothing_and_no_result_is_known_beforehand():
    early, late = likelihoods(6, n=90), likelihoods(7, n=260)
    at_once, pieces = Weights.after(early), Weights.after(early)
    whole = at_once.learn(late)
    parts = [pieces.learn(late[:, a:b]) for a, b in ((0, 1), (1, 50), (50, 51), (51, 260))]
    assert np.hstack(parts) == pytest.approx(whole, abs=1e-12)
    changed = late.copy()
    changed[:, 130:] = changed[::-1, 130:]
    other = Weights.after(early).learn(changed)
    assert (other[:, :131] == whole[:, :131]).all() and np.abs(other[:, 131:] - whole[:, 131:]).max() > 1e-3


def test_a_mixture_forecasts_like_its_parts_weighed():
    matches = kn.read_matches(kn.sample_league(teams=6, seasons=4, seed=2).results)
    raters = {"slow": kn.TeamElo.classic(k=10, ties=0.6), "fast": kn.TeamElo.classic(k=80, ties=0.6)}
    mixture = kn.raters.Mixture(raters).fit(matches[:81])
    alone = {name: kn.TeamElo.classic(k=k, ties=0.6).fit(matches[:81]) for name, k in (("slow", 10), ("fast", 80))}
    shares = mixture.weights_
    fixture = kn.read_matches({"home": ["Ashford"], "away": ["Nobody"]}, played=False)
    said = mixture.predict(fixture)
    expected = sum(shares[name] * rater.predict(fixture).probabilities for name, rater in alone.items())
    assert said.probabilities == pytest.approx(expected) and said.unknown == ("Nobody",)
    # Ratings are those of the rater that would be chosen, though another one has more weight.
    chosen = kn.raters.choose_rater(matches[:81], raters).name
    assert mixture.shown_ == chosen == "slow" and max(shares, key=shares.get) == "fast"
    assert mixture.ratings_.equals(alone[chosen].ratings_) and mixture.label == "slow of a mixture"
    ahead = mixture.one_step_ahead(matches[81:])
    parts = np.array([alone[name].one_step_ahead(matches[81:]).probabilities for name in mixture.members_])
    early = np.array(
        [
            kn.TeamElo.classic(k=k, ties=0.6).fit(matches[:40]).one_step_ahead(matches[40:81]).probabilities
            for k in (10, 80)
        ]
    )
    past, given = (
        np.exp(-np.array([log_loss(p, part.result) for p in table]))
        for table, part in ((early, matches[40:81]), (parts, matches[81:]))
    )
    weights = slow_weights(past, given)
    assert ahead.probabilities == pytest.approx(np.einsum("kn,knc->nc", weights, parts), abs=1e-5)
    assert str(mixture) == ", ".join(f"{name} {100 * share:.0f} %" for name, share in mixture.weights_.items())
    fixtures = kn.read_matches({"home": ["Ashford", "Newton"], "away": ["Nobody", "Ashford"]}, played=False)
    assert set(mixture.predict(fixtures).unknown) == {"Nobody", "Newton"}
    heard = {"date": ["2025-01-01"], "home": ["Newton"], "away": ["Ashford"], "result": [1]}
    mixture.members_["fast"].update(kn.read_matches(heard))
    assert list(mixture.members_) == ["slow", "fast"] and mixture.predict(fixtures).unknown == ("Nobody",)


def test_a_rater_that_counts_for_nothing_is_not_fitted_again():
    class Wrong(kn.TeamElo):
        def one_step_ahead(self, matches):
            return kn.forecasts.Forecast(np.where(matches.result[:, None] == [1.0, 0.5, 0.0], 0.01, 0.495))

    matches = kn.read_matches(kn.sample_league(teams=8, seasons=20, seed=2).results)
    good, bad = (
        kn.TeamElo.classic(k=15, ties=0.6),
        Wrong(**{p.name: p.default for p in kn.TeamElo._declared_parameters}),
    )
    assert list(kn.raters.Mixture({"good": good, "bad": bad}).fit(matches).members_) == ["good"]
    with pytest.raises(kn.InputError, match="Fit the mixture first"):
        kn.raters.Mixture([good]).predict(matches)


def test_weights_of_matches_forecast_together_know_none_of_them():
    """Groups of 3, 1 and 2, across the places where stacked weights are estimated anew (50 and 100)."""
    early, late = likelihoods(6, n=90), likelihoods(7, n=260)
    sizes = np.tile([3, 1, 2], 44)[:131]
    until = np.repeat(np.cumsum(sizes), sizes)
    until = until[until <= 260]
    until = np.append(until, np.full(260 - until.size, 260))
    found = Weights.after(early).learn(late, until)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(until)) + 1])
    for start in starts[[1, 7, 16, 17, 33, 34, 80]].tolist():
        end = until[start]
        changed = late.copy()
        changed[:, start:end] = changed[::-1, start:end]
        other = Weights.after(early).learn(changed, until)
        assert (other[:, :end] == found[:, :end]).all()
        assert np.abs(other[:, end:] - found[:, end:]).max() > 0
    assert (found[:, until[0] - 1] == found[:, 0]).all()
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(found, Weights.after(early).learn(late), atol=1e-4)


def test_a_mixture_learns_nothing_within_a_day_of_unknown_order():
    matches = kn.read_matches(kn.sample_league(teams=6, seasons=4, seed=2).results)
    names, day = list("ABCDE"), "2034-01-01"
    more = {"date": [day] * 4, "home": ["A", "B", "A", "C"], "away": ["B", "C", "D", "A"], "result": [1, 0, 0.5, 1]}
    rows = {name: [*matches.to_polars()[name].cast(pl.String), *map(str, more[name])] for name in more}
    both = kn.read_matches(rows)
    assert both.unordered is not None and both.unordered[-4:].all() and len(names) == 5
    raters = {"slow": kn.TeamElo.classic(k=10, ties=0.6), "fast": kn.TeamElo.classic(k=80, ties=0.6)}
    mixture = kn.raters.Mixture(raters).fit(both[:-4])
    expected = mixture.predict(both[-4:]).probabilities
    assert mixture.one_step_ahead(both[-4:]).probabilities == pytest.approx(expected, abs=1e-12)


def test_stacked_weights_of_long_records_look_at_the_latest(monkeypatch):
    monkeypatch.setattr("kinelo.raters.mixture.MOST_COMPARED", 170)
    early, late = likelihoods(1, n=200), likelihoods(2, n=230, edge=(0.1, 0.0, 0.05))
    weights = Weights.after(early)
    weights.learn(late[:, :40])
    weights.learn(late[:, 40:])
    # The last estimate is made 150 matches after forecasting began, of the 170 before it.
    assert weights.past.shape == (3, 170) and (weights.seen, weights.began, weights.due) == (430, 200, 450)
    assert weights.stacked == pytest.approx(library_weights(np.hstack([early, late[:, :200]])[:, -170:]), abs=1e-5)


@pytest.fixture(scope="module")
def league():
    """Three seasons to fit, and one more."""
    matches = kn.read_matches(kn.sample_league(teams=7, seasons=4, seed=5).results)
    return matches[:126], matches[126:]


def mixed(matches):
    return kn.raters.Mixture([kn.KalmanElo(), kn.TeamElo(), kn.BradleyTerry(), kn.TeamElo.classic(k=70)]).fit(matches)


def test_weights_learn_from_days_after_those_that_raters_were_fitted_on(league):
    """There, raters forecast results that chose their parameters."""
    train, later = league
    fitted = mixed(train)
    begun, again, parts = fitted.weights_, fitted._blank(), fitted._blank().members_
    ahead = again.one_step_ahead(train).probabilities
    own = {name: member.one_step_ahead(train).probabilities for name, member in parts.items()}
    assert ahead == pytest.approx(sum(begun[name] * own[name] for name in begun)) and again.weights_ == begun
    assert again.update(later).weights_ == pytest.approx(fitted.update(later).weights_) != pytest.approx(begun)


def test_a_book_keeps_a_mixture_as_one_run_has_it(league, tmp_path):
    """Restored, in pieces, late and corrected: forecasts and weights of the book are those of one that went on."""
    train, later = league
    fitted = mixed(train)
    fixture = kn.read_matches({"home": ["Ashford"], "away": ["Bramley"], "date": ["2031-01-01"]}, played=False)
    path = tmp_path / "b.db"
    with kn.RatingBook(path, fitted) as book:
        book.add(train)
        assert book.rater.weights_ == pytest.approx(fitted.weights_)
        assert book.predict(fixture).probabilities == pytest.approx(fitted.predict(fixture).probabilities, abs=1e-9)
        assert book.ratings_["rating"].to_list() == pytest.approx(fitted.ratings_["rating"].to_list())
    for part in (later[:9], later[20:], later[9:20]):  # the last one is late
        with kn.RatingBook(path) as book:
            book.add(part)
    went_on = fitted.update(later)
    with kn.RatingBook(path) as book:
        assert book.rater.weights_ == pytest.approx(went_on.weights_, rel=1e-6)
        assert book.predict(fixture).probabilities == pytest.approx(went_on.predict(fixture).probabilities, abs=1e-7)
        assert book.rater.shown_ == went_on.shown_ and repr(book.rater) == repr(went_on)
        book.check()
        told = kn.explain_last(book, "Ashford")
        assert told.after == pytest.approx(book.ratings_.filter(pl.col("name") == "Ashford")["rating"][0])
        book.erase("Ashford", "somebody")
        assert "Ashford" not in book.ratings_["name"] and b"Ashford" not in path.read_bytes()
        before = book.rater.weights_
        found = book.refit()
        assert found.after["TeamElo: weight"] == pytest.approx(book.rater.weights_["TeamElo"])
        assert found.before["TeamElo: weight"] == pytest.approx(before["TeamElo"]) and found.matches == 168
        anew = mixed(book.matches())
        assert book.rater.weights_ == pytest.approx(anew.weights_) and before != pytest.approx(anew.weights_)


def test_seasons_of_a_book_begin_for_every_rater_that_keeps_ratings(league, tmp_path):
    """The table is that of a book of the rater shown; a batch estimate has no rating to move."""
    train, later = league
    tables = []
    for number, rater in enumerate((mixed(train), kn.KalmanElo().fit(train))):
        with kn.RatingBook(tmp_path / str(number), rater) as book:
            book.add(train)
            before = book.rater
            book.season("spring", reset=0.4, moves=30.0)
            if number == 0:
                after = book.rater.members_
                spread = {
                    name: np.ptp(member.ratings_["rating"].to_numpy()) for name, member in before.members_.items()
                }
                ratio = {
                    name: np.ptp(member.ratings_["rating"].to_numpy()) / spread[name] for name, member in after.items()
                }
                assert ratio == pytest.approx(dict.fromkeys(spread, 0.6) | {"BradleyTerry": 1.0})
            book.add(later)
            assert book.check() == []
            tables.append(book.ratings_)
    assert tables[0].equals(tables[1])


def test_books_refuse_mixtures_that_they_cannot_make_again(league, tmp_path):
    class Own(kn.TeamElo):
        pass

    with pytest.raises(kn.InputError, match="Fit the mixture first"):
        kn.RatingBook(tmp_path / "a", kn.raters.Mixture([kn.TeamElo()]))
    with pytest.raises(kn.InputError, match="inside a function"):
        kn.RatingBook(tmp_path / "b", kn.raters.Mixture([kn.TeamElo(), Own()]).fit(league[0]))
    fitted = mixed(league[0])
    fitted.members_["own"] = object()
    with pytest.raises(kn.InputError, match="keeps mixtures of Kinelo's raters, and own is none of them"):
        kn.RatingBook(tmp_path / "c", fitted)


def test_stored_mixtures_that_are_none_are_refused(league):
    """Nothing is taken over of arrays that no mixture of these raters has stored."""
    fitted = mixed(league[0])
    fitted.shown_ = list(fitted.members_)[1]
    arrays, twin = fitted.to_arrays(), kn.raters.Mixture([kn.KalmanElo(), kn.TeamElo(), kn.BradleyTerry()])
    with pytest.raises(kn.InputError, match="not of the raters"):
        twin.from_arrays(arrays)
    twin = kn.raters.Mixture(dict(fitted.members_))
    seen, began, due = arrays["weights.number"].tolist()
    assert (seen, began, due) == (63, 63, 113)
    for numbers in ((seen, began, seen), (seen, seen + 1, due), (seen + 1, began, due)):
        with pytest.raises(kn.InputError, match="do not fit the matches that it has seen"):
            twin.from_arrays(arrays | {"weights.number": np.array(numbers)})
    for name, values in (("weights.losses", np.ones(3)), ("weights.stacked", -arrays["weights.stacked"]),
                         ("shown", np.array(4)), ("weights.both", np.ones(3))):  # fmt: skip
        with pytest.raises(kn.InputError, match=r"stored state holds|another shape"):
            twin.from_arrays(arrays | {name: values})
    assert twin.members_ == {}
    twin.from_arrays(arrays)
    assert twin.weights_ == fitted.weights_ and twin.shown_ == fitted.shown_


def test_without_raters_all_are_mixed_that_can_use_the_matches(league):
    sample = kn.sample_league(teams=4, seasons=2, seed=2)
    plain = kn.raters.Mixture().fit(kn.read_matches(sample.results))
    squads = kn.raters.Mixture().fit(kn.read_matches(sample.results, lineups=sample.lineups))
    assert set(squads.members_) - set(plain.members_) == {"PlayerElo"} and "KalmanElo" in plain.members_
    assert repr(kn.raters.Mixture()) == "Mixture of all raters"


def test_one_match_is_forecast_by_all_and_line_ups_go_to_those_who_rate_players():
    sample = kn.sample_league(teams=6, seasons=3, seed=2, player_spread=1.5)
    matches = kn.read_matches(sample.results, lineups=sample.lineups)
    mixture = kn.raters.Mixture([kn.PlayerElo(), kn.TeamElo()]).fit(matches)
    eleven = mixture.members_["PlayerElo"].ratings_["name"].to_list()
    lineups, shares = {"home_lineup": eleven[:11], "away_lineup": eleven[-11:]}, mixture.weights_
    alone = {name: member.predict_one("Ashford", "Newton", **(lineups if name == "PlayerElo" else {})).probabilities
             for name, member in mixture.members_.items()}  # fmt: skip
    said = mixture.predict_one("Ashford", "Newton", **lineups)
    assert said.probabilities == pytest.approx(sum(shares[name] * alone[name] for name in shares), abs=1e-12)
    assert len(shares) == 2 and said.unknown == ("Newton",)
    assert np.abs(said.probabilities - mixture.predict_one("Ashford", "Newton").probabilities).max() > 0.002
    sides = kn.raters.Mixture([kn.TeamElo(), kn.Glicko()]).fit(kn.read_matches(sample.results))
    with pytest.raises(kn.InputError, match="rates sides, not players"):
        sides.predict_one("Ashford", "Newton", **lineups)
    with pytest.raises(kn.InputError, match="Fit the mixture first"):
        kn.raters.Mixture().predict_one("Ashford", "Newton")


def test_a_fair_handicap_of_a_book_is_that_of_the_rater_shown(tmp_path):
    """From Python, the command and the service; forecasts of the mixture take the handicap too."""
    from fastapi.testclient import TestClient

    from kinelo.service.app import create_app
    from kinelo.service.settings import Settings

    rng = np.random.default_rng(2)
    home = rng.integers(0, 6, 150)
    away, stones = (home + rng.integers(1, 6, 150)) % 6, rng.integers(-4, 5, 150)
    won = (rng.random(150) < 1 / (1 + 10 ** ((40 * (away - home) - 50 * stones) / 400))).astype(int)
    table = {"date": np.datetime64("2024-01-01") + np.arange(150) // 5, "home": [f"p{k}" for k in home]}
    table |= {"away": [f"p{k}" for k in away], "result": won, "stones": stones, "neutral": [True] * 150}
    games = kn.read_matches(table, conditions=["stones"])
    mixture = kn.raters.Mixture([kn.TeamElo(covariates=["stones"]), kn.Glicko(covariates=["stones"])]).fit(games)
    shown = mixture.members_[mixture.shown_]
    twin = kn.fair_value(shown, "p1", "p4", "stones", neutral=True)
    asked = {"home": "p1", "away": "p4", "covariate": "stones", "neutral": True}
    with kn.RatingBook(tmp_path / "b.db", mixture) as book:
        book.add(games)
        assert kn.fair_value(book, "p1", "p4", "stones", neutral=True) == pytest.approx(twin)
        said = book.predict_one("p1", "p4", neutral=True, conditions={"stones": 3}).probabilities
        assert said == pytest.approx(
            mixture.predict_one("p1", "p4", neutral=True, conditions={"stones": 3}).probabilities
        )
    with TestClient(create_app(Settings(str(tmp_path / "b.db"))), base_url="http://localhost") as client:
        answer = client.post("/fair", json=asked).json()
    assert answer["fair"] == pytest.approx(twin) and answer["effect"] == pytest.approx(shown.effects_["effect"][0])
    words = [
        "predict",
        "--book",
        str(tmp_path / "b.db"),
        "--match",
        "p1 - p4",
        "--fair",
        "stones",
        "--neutral",
        "--json",
    ]
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 0 and json.loads(found.stdout)["fair"] == pytest.approx(twin)
