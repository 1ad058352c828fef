"""Raters under the tools of scikit-learn: what they say is what backtests and plain loops say."""

import copy
import warnings

import numpy as np
import pytest

import kinelo as kn

LEAGUE = kn.sample_league(teams=6, seasons=4, seed=2).results
RATERS = [
    kn.TeamElo(step=12.0), kn.TeamElo.classic(k=20), kn.Glicko(), kn.Glicko2(), kn.KalmanElo(), kn.PlayerElo(),
    kn.BradleyTerry(),
]  # fmt: skip
COUNTED = {"newcomer_boost": 1.0, "settling_matches": 10.0, "home_advantage": 30.0, "ties": 0.5, "spread": 0.0}
PLAIN = COUNTED | {"margin_weight": 0.0, "margin_scale": 1.0, "contraction": 1.0, "regression": 0.0}


def matches():
    return kn.read_matches(LEAGUE)


def given():
    """TeamElo with nothing left to estimate but what a search is told to vary."""
    return kn.TeamElo(step=10.0, **PLAIN, home_step=0.0)


def test_the_score_is_minus_the_log_loss_of_a_backtest():
    table = matches()
    day = table.date[80]
    train, test = table.before(day), table.since(day)
    for rater in (kn.TeamElo.classic(k=20), given()):
        said = kn.backtest(table, [rater], train_until=day)
        score = rater.fit(train).score(test)
        assert score == pytest.approx(-said.scores["log_loss"].item(), rel=1e-12)
        slow = 0.0
        twin = type(rater)(**rater.get_params()).fit(train)
        for k in range(len(test)):
            win, draw, loss = twin.predict(test[k]).probabilities[0]
            slow -= np.log({1.0: win, 0.5: draw, 0.0: loss}[test.result[k]])
            twin.update(test[k])
        assert score == pytest.approx(-slow / len(test), rel=1e-9)


def test_a_score_leaves_the_rater_as_it_was_and_refuses_other_targets():
    table = matches()
    rater = kn.TeamElo.classic(k=20).fit(table[:80])
    before = rater.ratings_
    assert rater.score(table[80:], table.result[80:]) == rater.score(table[80:])
    assert rater.ratings_.equals(before)
    for wrong in (1 - table.result[80:], table.result, "results"):
        with pytest.raises(kn.InputError, match="y must be left out or equal"):
            rater.score(table[80:], wrong)
        with pytest.raises(kn.InputError, match="y must be left out or equal"):
            rater.fit(table[80:], wrong)
    assert rater.fit(table[:80], table.result[:80]).ratings_.equals(before)
    with pytest.raises(kn.InputError, match="no matches to score"):
        rater.score(table[:0])
    with pytest.raises(kn.InputError, match="has seen no match yet"):
        kn.Glicko().score(table)


def test_a_score_of_matches_before_those_fitted_is_one_of_hindsight():
    table = matches()
    rater = kn.TeamElo.classic(k=20).fit(table[60:])
    with pytest.warns(kn.KineloWarning, match="is one of hindsight"):
        rater.score(table[:60])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kn.TeamElo.classic(k=20).fit(table[:60]).score(table[60:])


def test_matches_are_split_by_rows():
    table = matches()
    assert table.shape == (len(table),)
    rows = np.array([3, 5, 40])
    for part in (table[rows], table[rows, ...], table[[3, 5, 40]]):
        assert part.to_polars().equals(table.to_polars()[[3, 5, 40]])
    assert table[rows, ...].match_id.tolist() == [table.match_id[k] for k in (3, 5, 40)]
    assert len(table[[]]) == 0


def test_k_of_a_federation_is_a_parameter():
    rater = kn.TeamElo.classic(k=32)
    assert rater.get_params()["k"] == 32
    table = matches()
    changed = rater.fit(table).set_params(k=10).fit(table)
    assert changed is rater
    assert rater.ratings_.equals(kn.TeamElo.classic(k=10).fit(table).ratings_)
    with pytest.raises(kn.InputError, match="has no parameter 'K'"):
        rater.set_params(K=10)
    with pytest.raises(kn.InputError, match="k"):
        rater.set_params(k=-1)


@pytest.mark.parametrize("rater", RATERS, ids=lambda rater: type(rater).__name__)
def test_a_clone_has_the_same_arguments_and_has_seen_nothing(rater):
    base = pytest.importorskip("sklearn.base")
    validation = pytest.importorskip("sklearn.utils.validation")
    utils = pytest.importorskip("sklearn.utils")
    twin = base.clone(rater)
    assert type(twin) is type(rater) and twin is not rater and repr(twin) == repr(rater)
    with pytest.raises(Exception, match="not fitted yet"):
        validation.check_is_fitted(twin)
    twin._reset()
    validation.check_is_fitted(twin)
    tags = utils.get_tags(rater)
    assert not tags.target_tags.required and base.is_classifier(rater)


@pytest.mark.parametrize("target", [False, True])
def test_cross_validation_over_time_is_a_loop_over_time(target):
    selection = pytest.importorskip("sklearn.model_selection")
    table, split = matches(), selection.TimeSeriesSplit(3)
    said = selection.cross_val_score(given(), table, table.result if target else None, cv=split)
    expected = [given().fit(table[train]).score(table[test]) for train, test in split.split(table)]
    assert said.tolist() == expected
    assert np.isfinite(said).all() and (said < 0).all()


def test_a_grid_of_k_finds_the_k_of_a_plain_search():
    selection = pytest.importorskip("sklearn.model_selection")
    table, split = matches(), selection.TimeSeriesSplit(3)
    grid = selection.GridSearchCV(kn.TeamElo.classic(), {"k": [2, 20, 60, 200]}, cv=split).fit(table)
    means = {
        k: np.mean([kn.TeamElo.classic(k=k).fit(table[a]).score(table[b]) for a, b in split.split(table)])
        for k in (2, 20, 60, 200)
    }
    assert grid.best_params_["k"] == max(means, key=means.__getitem__)
    assert grid.best_score_ == pytest.approx(max(means.values()))
    best = kn.TeamElo.classic(k=grid.best_params_["k"]).fit(table)
    assert grid.best_estimator_.ratings_.equals(best.ratings_)
    assert np.array_equal(grid.predict(table[-3:]).probabilities, best.predict(table[-3:]).probabilities)


def test_a_pipeline_may_begin_with_a_table_of_results():
    pipeline = pytest.importorskip("sklearn.pipeline")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    selection = pytest.importorskip("sklearn.model_selection")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(LEAGUE.to_dict(as_series=False))
    steps = pipeline.make_pipeline(preprocessing.FunctionTransformer(kn.read_matches), kn.TeamElo.classic(k=20))
    steps.fit(frame[:80])
    table = kn.read_matches(LEAGUE[:80])
    assert steps[-1].ratings_.equals(kn.TeamElo.classic(k=20).fit(table).ratings_)
    assert steps.score(frame[80:]) == kn.TeamElo.classic(k=20).fit(table).score(kn.read_matches(LEAGUE[80:]))
    assert steps.predict(frame[80:82]).probabilities.shape == (2, 3)
    said = selection.cross_val_score(steps, frame, cv=selection.TimeSeriesSplit(3))
    assert np.isfinite(said).all()
    assert steps.set_params(classicelo__k=5)[-1].k == 5


QUICK = [
    given(),
    kn.TeamElo.classic(k=20),
    kn.Glicko(),
    kn.BradleyTerry(),
    kn.raters.Mixture([given(), kn.Glicko()]),
]


@pytest.mark.parametrize("rater", QUICK, ids=lambda rater: type(rater).__name__)
def test_probabilities_stand_under_their_classes(rater):
    table = matches()
    fitted = copy.deepcopy(rater).fit(table[:90], table.labels[:90])
    said, forecast = fitted.predict_proba(table[90:]), fitted.predict(table[90:])
    for label, chances in zip(fitted.classes_, said.T, strict=True):
        assert np.array_equal(chances, forecast.to_polars()[str(label)].to_numpy())


def test_every_rater_has_the_probabilities_of_the_base():
    assert {type(rater).predict_proba for rater in (*RATERS, *QUICK)} <= {
        kn.raters.Rater.predict_proba,
        kn.raters.Mixture.predict_proba,
    }


def test_labels_say_who_won():
    table = {"home": list("ABCD"), "away": list("BCDA"), "result": [1, 0, 0.5, None]}
    assert kn.read_matches(table, played=False).labels.tolist() == ["home_win", "away_win", "draw", ""]


def test_the_log_loss_of_scikit_learn_is_that_of_forecasts():
    """Folds are forecast from the ratings as they stand after training, so that scores differ from ``score``."""
    selection = pytest.importorskip("sklearn.model_selection")
    table, split = matches(), selection.TimeSeriesSplit(3)
    for rater in (given(), kn.raters.Mixture({"slow": given(), "quick": kn.TeamElo.classic(k=60)})):
        said = selection.cross_val_score(rater, table, table.labels, cv=split, scoring="neg_log_loss")
        expected = []
        for train, test in split.split(table):
            p = copy.deepcopy(rater).fit(table[train]).predict(table[test]).probabilities
            expected.append(np.log(p[np.arange(len(p)), np.rint(2 - 2 * table.result[test]).astype(int)]).mean())
        assert said.tolist() == pytest.approx(expected, rel=1e-12)


def test_the_accuracy_of_scikit_learn_counts_the_likeliest_outcomes():
    selection = pytest.importorskip("sklearn.model_selection")
    table, split = matches(), selection.TimeSeriesSplit(3)
    said = selection.cross_val_score(given(), table, table.labels, cv=split, scoring="accuracy")
    expected = []
    for train, test in split.split(table):
        forecast = given().fit(table[train]).predict(table[test])
        rows = [
            dict(zip(("home_win", "draw", "away_win"), row, strict=True)) for row in forecast.probabilities.tolist()
        ]
        likeliest = [max(row, key=row.__getitem__) for row in rows]
        assert np.asarray(forecast).tolist() == likeliest
        expected.append(np.mean([one == other for one, other in zip(likeliest, table[test].labels, strict=True)]))
    assert said.tolist() == pytest.approx(expected)
    assert min(expected) > 0.2 and max(expected) < 1.0


def test_a_league_without_draws_has_two_classes():
    selection = pytest.importorskip("sklearn.model_selection")
    table = matches()
    table = table[table.result != 0.5]
    rater = kn.TeamElo.classic(k=20, ties=0.4).fit(table[:60])
    assert rater.classes_.tolist() == ["away_win", "home_win"]
    loss, _, win = rater.predict(table[60:]).probabilities.T[::-1]
    assert pytest.approx(np.array([loss, win]) / (win + loss)) == rater.predict_proba(table[60:]).T
    split = selection.TimeSeriesSplit(2)
    said = selection.cross_val_score(rater, table, table.labels, cv=split, scoring="neg_log_loss")
    assert np.isfinite(said).all()


def test_a_mixture_is_cloned_with_its_raters():
    base = pytest.importorskip("sklearn.base")
    mixture = kn.raters.Mixture({"slow": given(), "quick": kn.TeamElo.classic(k=60)})
    assert list(base.clone(mixture).raters) == ["slow", "quick"]
    assert list(mixture.set_params(raters=[given()]).raters) == ["TeamElo"]
    with pytest.raises(kn.InputError, match="has no parameter 'k'"):
        mixture.set_params(k=3)
