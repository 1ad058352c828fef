"""Plain Elo on contests: the update of its definition, two entrants are a match, and nothing is won or lost in sum."""

import numpy as np
import pytest

import kinelo as kn
from kinelo.errors import InputError
from kinelo.raters.one_contest import slots_not_used


def by_definition(contests, k):
    rating = dict.fromkeys(contests.entrants, 1500.0)
    for c in range(len(contests)):
        part = slice(int(contests.first[c]), int(contests.first[c + 1]))
        names = [contests.entrants[code] for code in contests.entrant[part]]
        place, old = contests.place[part], [rating[name] for name in names]
        for a, name in enumerate(names):
            gained = 0.0
            for b in range(len(names)):
                if b != a:
                    scored = 0.5 + 0.5 * np.sign(place[b] - place[a])
                    gained += scored - 1 / (1 + 10 ** (-(old[a] - old[b]) / 400))
            rating[name] += k / (len(names) - 1) * gained
    return rating


def test_ratings_are_those_of_the_definition_and_sum_to_what_they_were():
    contests = kn.read_contests(kn.matches.sample_contests(contests=40, size=(2, 9), levels=4, seed=3))
    told = dict(kn.TeamElo.classic(k=24).fit(contests).ratings_.select("name", "rating").rows())
    expected = by_definition(contests, 24.0)
    assert told == pytest.approx({name: expected[name] for name in told})
    assert np.mean(list(told.values())) == pytest.approx(1500.0)


def test_contests_of_two_are_matches():
    rng = np.random.default_rng(1)
    names = np.array(list("ABCDEF"))
    pairs = np.array([rng.permutation(6)[:2] for _ in range(80)])
    table = {"home": names[pairs[:, 0]], "away": names[pairs[:, 1]], "result": rng.integers(0, 3, 80) / 2}
    matches = kn.read_matches(table | {"neutral": [True] * 80})
    one = dict(kn.TeamElo.classic(k=20).fit(matches).ratings_.select("name", "rating").rows())
    other = kn.TeamElo.classic(k=20).fit(kn.matches.Contests.from_matches(matches)).ratings_
    assert dict(other.select("name", "rating").rows()) == pytest.approx(one)


def test_forecasts_are_those_of_plackett_and_luce():
    contests = kn.read_contests(kn.matches.sample_contests(contests=10, size=5, entrants=8, seed=2))
    forecast = kn.TeamElo.classic(k=40).fit(contests[:8]).predict(contests[9])
    odds = 10 ** (forecast.mean / 400)
    assert forecast.win == pytest.approx(odds / odds.sum(), abs=1e-6)
    assert forecast.places(0).sum(axis=0) == pytest.approx(np.ones(5), abs=1e-5)
    one, other = (contests.entrants[code] for code in forecast.contests.entrant[:2])
    assert forecast.chance_before(0, one, other) == pytest.approx(odds[0] / (odds[0] + odds[1]))


def test_rules_of_k_are_refused_for_contests():
    contests = kn.read_contests(kn.matches.sample_contests(contests=3, size=5, seed=2))
    with pytest.raises(InputError, match="one K for all"):
        kn.TeamElo.classic(k=kn.model.FideSteps()).fit(contests)


def test_the_uncertainty_is_the_spread_that_luck_leaves():
    """Equal entrants whose ratings move by luck alone: what is said of their spread, and the spread there is."""
    rng = np.random.default_rng(5)
    size, entrants, contests = 5, 60, 4000
    field = np.argsort(rng.random((contests, entrants)), axis=1)[:, :size]  # the order is luck
    table = {
        "race": np.repeat(np.arange(contests), size),
        "driver": [f"P{k}" for k in field.ravel()],
        "place": np.tile(np.arange(1, size + 1), contests),
    }
    ratings = kn.TeamElo.classic(k=40).fit(kn.read_contests(table)).ratings_
    said, found = np.mean(ratings["uncertainty"].to_numpy() ** 2), np.var(ratings["rating"].to_numpy(), ddof=1)
    gamma, slope = 20.0, np.log(10) / 800
    assert said == pytest.approx(gamma / 2 / slope * (size + 1) / (3 * (size - 1)), rel=0.12)
    assert found == pytest.approx(said, rel=3.5 * np.sqrt(2 / 59))  # about 60 independent ratings


def test_an_uncertainty_of_contests_of_two_is_that_of_matches():
    table = {"home": list("ABCAB"), "away": list("BCDDC"), "result": [1, 0, 1, 1, 0], "neutral": [True] * 5}
    matches = kn.read_matches(table)
    one = kn.TeamElo.classic(k=20, ties=0.0).fit(matches).ratings_.sort("name")
    other = kn.TeamElo.classic(k=20).fit(kn.matches.Contests.from_matches(matches)).ratings_.sort("name")
    assert other["uncertainty"].to_list() == pytest.approx(one["uncertainty"].to_list())


def test_one_contest_by_names_is_a_table_of_one():
    table = {"race": [1] * 4, "driver": list("ABCD"), "place": [1, 2, 2, "DNF"], "date": ["2024-01-01"] * 4}
    whole = kn.TeamElo.classic(k=20).update(kn.read_contests({**table, "place": ["1", "2", "2", "DNF"]}))
    one = kn.TeamElo.classic(k=20).update_one(["A", "B", "C"], ranks=[1, 2, 2], unfinished=["D"], date="2024-01-01")
    assert one.ratings_.sort("name").equals(whole.ratings_.sort("name"))
    assert one.predict_one(["A", "D", "new"]).unknown == ("new",)
    assert one.predict_one("A", "B").probabilities.sum() == pytest.approx(1.0)
    for wrong, sentence in [
        (lambda: one.update_one(["A", "B"], date="2023-01-01"), "comes before the last contest rated"),
        (lambda: one.update_one(["A", "B"], result=1), "A contest has no result"),
        (lambda: one.update_one(["A", "B"], margin=2), "A contest has no margin"),
        (lambda: one.predict_one(["A", "B"], neutral=True), "A contest has no neutral"),
        (lambda: one.predict_one(["A"]), "two entrants or more"),
        (lambda: one.predict_one(7), "two entrants or more"),
        (lambda: one.update_one(["A", "A"]), "names an entrant twice"),
    ]:
        before = one.ratings_
        with pytest.raises(InputError, match=sentence):
            wrong()
        assert one.ratings_.equals(before)


def test_slots_that_say_more_than_the_entrant_are_not_used():
    table = kn.matches.sample_contests(contests=10, entrants=8, size=4, cars=3, seed=1)
    both, alone = kn.read_contests(table, slots=["entrant", "car"]), kn.read_contests(table)
    assert (slots_not_used(both), slots_not_used(alone)) == (["car"], [])
    assert kn.TeamElo.classic().fit(both).ratings_.equals(kn.TeamElo.classic().fit(alone).ratings_)


def test_contests_in_chunks_and_ratings_to_begin_with(tmp_path):
    table = kn.matches.sample_contests(contests=20, entrants=8, size=4, seed=1)
    table.write_csv(tmp_path / "races.csv")
    contests = kn.read_contests(table)
    begin = {"P1": 1700.0, "somebody else": 1600.0}
    with pytest.warns(kn.KineloWarning, match="start names 1 that no match names: 'somebody else'"):
        whole = kn.TeamElo.classic(k=20, start=begin).fit(contests)
    with pytest.warns(kn.KineloWarning, match="somebody else"):
        chunks = kn.TeamElo.classic(k=20, start=begin).fit(kn.matches.scan_contests(tmp_path / "races.csv"))
    assert chunks.ratings_.equals(whole.ratings_)
    assert whole.ratings_.filter(name="somebody else")["rating"][0] == 1600.0
    first = kn.TeamElo.classic(k=20, start=begin).one_step_ahead(contests[:1])
    at = [contests.entrants[code] for code in first.contests.entrant]
    assert first.mean.tolist() == [begin.get(name, 1500.0) for name in at]
    assert set(first.unknown) == set(at) - {"P1"}
    early = kn.TeamElo.classic(k=20).fit(contests[:15])
    before = early.ratings_
    assert early.score(contests[15:]) == -kn.backtest(contests, early, train_until=contests.date[15]).mean_score(
        "ClassicElo", "order_log_loss"
    )
    assert early.ratings_.equals(before)
