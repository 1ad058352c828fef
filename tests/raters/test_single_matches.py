"""One match at a time: what a service asks of a rater, against the table of one row that says the same."""

import copy
import pickle
import threading
from functools import cache
from itertools import combinations

import numpy as np
import pytest

import kinelo as kn

DAYS = ["2020-01-04", "2020-02-09", "2020-03-01", "2020-07-01", "2021-01-15", "2021-02-20"]
PLAYED = {
    "date": DAYS, "home": list("ABCABD"), "away": list("BCAACB"),
    "result": [1, 0.5, 0, 1, 0.5, 0], "surface": ["clay", "grass", "clay", "", "grass", "clay"],
    "rest": [1, 2, 0, -1, 1, 0], "neutral": [False, True, False, False, True, False],
    "home_lineup": [["a", "aa"], ["b"], ["c", "cc"], ["a"], ["b", "bb"], ["d"]],
    "away_lineup": [["b", "bb"], ["c"], ["a"], ["b", "aaa"], ["c"], ["b"]],
}  # fmt: skip
PLAYED["away"][3] = "B"
RATERS = {
    "TeamElo": lambda: kn.TeamElo(),
    "TeamElo by surface": lambda: kn.TeamElo(conditions=["surface"], regression=0.4),
    "TeamElo with probit": lambda: kn.TeamElo(system=kn.RatingSystem(kn.model.Probit(nu=0.002), gamma=20.0)),
    "classic": lambda: kn.TeamElo.classic(k=30, home_advantage=40),
    "Glicko": lambda: kn.Glicko(),
    "Glicko together": lambda: kn.Glicko(together=True, period=60.0),
    "Glicko2": lambda: kn.Glicko2(),
    "Glicko2 together": lambda: kn.Glicko2(together=True, period=20.0),
    "KalmanElo": lambda: kn.KalmanElo(),
    "KalmanElo diagonal by surface": lambda: kn.KalmanElo(covariance="diagonal", conditions=["surface"]),
    "PlayerElo": lambda: kn.PlayerElo(),
    "PlayerElo by surface": lambda: kn.PlayerElo(conditions=["surface"]),
    "BradleyTerry": lambda: kn.BradleyTerry(),
    "BradleyTerry by rest": lambda: kn.BradleyTerry(covariates=["rest"]),
}
PAIRS = [("A", "C"), ("D", "A"), ("A", "new"), ("new", "newer")]


@cache
def played():
    return kn.read_matches(PLAYED, conditions=["surface", "rest"])


def rated(name):
    return RATERS[name]().update(played())


def conditions_of(rater, **levels):
    asked = (*getattr(rater, "conditions", ()), *getattr(rater, "covariates", ()))
    return {name: levels[name] for name in asked if name in levels}


@cache
def fixtures():
    """Twelve tables of one row: every two of pair, day, venue and surface meet in one of them."""
    days, surfaces = ("2021-02-20", "2021-03-01", "2025-06-30"), ("clay", "sand", "")
    said = []
    for p, (home, away) in enumerate(PAIRS):
        for d, day in enumerate(days):
            one = {"date": day, "home": home, "away": away, "neutral": (p // 2 + d) % 2 == 1}
            one |= {"surface": surfaces[(p + d) % 3], "rest": "2"}
            table = {column: [value] for column, value in one.items()}
            said.append((one, kn.read_matches(table, conditions=["surface", "rest"], played=False)))
    return said


def test_every_two_circumstances_of_a_forecast_are_tried_together():
    tried = [(one["home"] + one["away"], one["date"], one["neutral"], one["surface"]) for one, _ in fixtures()]
    for first, second in combinations(zip(*tried), 2):
        assert len(set(zip(first, second))) == len(set(first)) * len(set(second))


@pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
@pytest.mark.parametrize("name", RATERS)
def test_one_forecast_is_that_of_a_table_to_the_last_bit(name):
    rater = rated(name)
    for one, table in fixtures():
        expected = rater.predict(table)
        given = conditions_of(rater, surface=one["surface"] or None, rest=2)
        said = rater.predict_one(one["home"], one["away"], date=one["date"], neutral=one["neutral"], conditions=given)
        assert said.probabilities.tobytes() == expected.probabilities.tobytes()
        assert said.unknown == expected.unknown
        shown = "date", "home", "away", "neutral"
        assert said.to_polars().select(shown).equals(expected.to_polars().select(shown))


@pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
@pytest.mark.parametrize("name", RATERS)
def test_one_update_is_that_of_a_table_to_the_last_bit(name):
    one, table = rated(name), rated(name)
    more = {
        "date": ["2021-03-05", "2021-03-05"], "home": ["A", "E"], "away": ["C", "B"], "result": [0.5, 0],
        "neutral": [True, False], "surface": ["clay", "sand"], "rest": [3, 1], "weight": [2.0, 0.5],
    }  # fmt: skip
    for k in range(2):
        row = {column: [values[k]] for column, values in more.items()}
        table.update(kn.read_matches(row, conditions=["surface", "rest"]))
        given = conditions_of(one, surface=more["surface"][k], rest=more["rest"][k])
        one.update_one(
            more["home"][k], more["away"][k], more["result"][k], date=more["date"][k], neutral=more["neutral"][k],
            weight=more["weight"][k], conditions=given,
        )  # fmt: skip
    assert one.ratings_.sort("name").equals(table.ratings_.sort("name"))


def test_players_are_named_in_one_forecast_and_one_update_as_in_a_table():
    one, table = rated("PlayerElo"), rated("PlayerElo")
    row = {"date": ["2021-04-01"], "home": ["A"], "away": ["D"], "result": [1]}
    lineups = {"home_lineup": ["aa", "x"], "away_lineup": ["d", "c"]}
    match = kn.read_matches(row | {side: [names] for side, names in lineups.items()})
    said, expected = one.predict_one("A", "D", date="2021-04-01", **lineups), table.predict(match)
    assert said.probabilities.tobytes() == expected.probabilities.tobytes()
    assert said.unknown == expected.unknown == ("x",)
    assert not np.array_equal(said.probabilities, one.predict_one("A", "D", date="2021-04-01").probabilities)
    one.update_one("A", "D", 1, date="2021-04-01", **lineups)
    assert one.ratings_.equals(table.update(match).ratings_)
    for wrong, told in (("aa", "is not a line-up"), (["aa", ""], "is not a line-up"), (["aa", "aa "], "twice")):
        with pytest.raises(kn.InputError, match=told):
            one.predict_one("A", "D", home_lineup=wrong)


@pytest.mark.parametrize("name", RATERS)
def test_without_a_date_a_match_is_on_the_last_day_known(name):
    """A and C last played on 2021-01-15, the league on 2021-02-20: that day it is, whoever asks, in whatever way."""
    rater = rated(name)
    given = conditions_of(rater, rest=2)
    said = rater.predict_one("A", "C", conditions=given).probabilities
    today = rater.predict_one("A", "C", date="2021-02-20", conditions=given).probabilities
    assert said.tobytes() == today.tobytes()
    asked = [*(getattr(rater, "conditions", None) or ()), *(getattr(rater, "covariates", None) or ())]
    columns = {name: [str((given or {}).get(name, ""))] for name in asked}
    fixture = kn.read_matches({"home": ["A"], "away": ["C"], **columns}, played=False, conditions=asked)
    assert rater.predict(fixture).probabilities.tobytes() == today.tobytes()
    assert rater.predict(fixture).matches is fixture
    quality = kn.match_quality(rater, "A", "C", conditions=given)
    assert quality == kn.match_quality(rater, "A", "C", date="2021-02-20", conditions=given)
    assert kn.match_quality(rater, ["A", "B"], ["C", "D"], conditions=given)[0] == pytest.approx(quality, abs=1e-14)
    if not name.startswith(("classic", "Bradley", "TeamElo with")):
        later = rater.predict_one("A", "C", date="2024-01-15", conditions=given).probabilities
        assert said.tobytes() != later.tobytes()


@pytest.mark.parametrize("name", ["TeamElo", "Glicko", "KalmanElo", "PlayerElo"])
def test_where_no_match_had_a_date_nobody_rests_before_one_that_has(name):
    table = {"home": ["A", "B", "A"], "away": ["B", "C", "C"], "result": [1, 0.5, 1]}
    if name == "PlayerElo":
        table |= {"home_lineup": [["a", "b"]] * 3, "away_lineup": [["c"], ["d"], ["d"]]}
    rater = getattr(kn, name)(ties=0.3).update(kn.read_matches(table))
    undated = rater.predict_one("A", "C").probabilities
    assert rater.predict_one("A", "C", date="2026-01-01").probabilities.tobytes() == undated.tobytes()
    dated = kn.read_matches({"date": ["2026-01-01"], "home": ["A"], "away": ["C"]}, played=False)
    assert rater.predict(dated).probabilities.tobytes() == undated.tobytes()


def test_line_ups_tell_how_even_a_match_is():
    """Strong players meet weak ones, or half of each side is exchanged: the second match is more even."""
    rater = kn.PlayerElo(ties=0.3, squad_spread=0.01)
    for day in range(1, 28):
        lineups = {"home_lineup": ["a", "b"], "away_lineup": ["c", "d"]}
        rater.update_one("A", "B", 1, date=f"2024-03-{day:02}", **lineups)
    plain = kn.match_quality(rater, "A", "B", home_lineup=["a", "b"], away_lineup=["c", "d"])
    mixed = kn.match_quality(rater, "A", "B", home_lineup=["a", "d"], away_lineup=["c", "b"])
    assert mixed > plain + 0.1
    many = kn.match_quality(rater, "A", ["B", "B"], home_lineup=["a", "d"], away_lineup=[["c", "b"], ["c", "d"]])
    assert many[0] == pytest.approx(mixed, abs=1e-14) and many[1] != pytest.approx(mixed, abs=0.01)
    with pytest.raises(kn.InputError, match="2 sides need a line-up each"):
        kn.match_quality(rater, "A", ["B", "B"], away_lineup=[["c"]])


@pytest.mark.parametrize("name", RATERS)
def test_forecasts_change_no_rater_and_need_matches(name):
    rater = rated(name)
    before = copy.deepcopy(rater).ratings_
    given = conditions_of(rater, surface="ice", rest=1)
    rater.predict_one("A", "new", date="2029-01-01", conditions=given)
    assert rater.ratings_.equals(before)
    with pytest.raises(kn.InputError, match="has seen no match yet; call fit or update"):
        RATERS[name]().predict_one("A", "B")
    for home, away in (("A", "A "), ("A", " "), ("A", None)):
        with pytest.raises(kn.InputError, match=r"against itself|not the name of a side"):
            rater.predict_one(home, away)
    with pytest.raises(kn.InputError, match="'moon' is no condition of this rater"):
        rater.predict_one("A", "B", conditions={"moon": "full"})
    with pytest.raises(kn.InputError, match="'soon' is not a date"):
        rater.predict_one("A", "B", date="soon", conditions=given)


@pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
@pytest.mark.parametrize("name", ["TeamElo", "TeamElo by surface", "classic", "Glicko", "KalmanElo"])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda rater: pickle.loads(pickle.dumps(rater))])
def test_a_copy_of_a_rater_learns_from_one_match_after_the_other(name, copied):
    rater = rated(name).update_one("A", "B", "win")
    once = rater.ratings_
    twin = copied(rater).update_one("A", "B", "loss")
    assert rater.ratings_.equals(once) and not twin.ratings_.equals(once)
    assert twin.ratings_.equals(rater.update_one("A", "B", "loss").ratings_)


@pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
@pytest.mark.parametrize("name", ["TeamElo", "TeamElo by surface", "classic", "Glicko"])
def test_single_matches_go_on_from_tables_and_states_as_tables_do(name):
    """What one match is rated by is made once: it must not outlive the arrays that it was made of."""
    ones, tables = RATERS[name](), RATERS[name]()
    many = {"date": ["2021-04-01"] * 30, "home": [f"N{k}" for k in range(30)], "away": ["A"] * 30, "result": [1] * 30}

    def play(home, away, result, day):
        one = {"date": [day], "home": [home], "away": [away], "result": [result]}
        ones.update_one(home, away, result, date=day)
        tables.update(kn.read_matches(one | {"surface": [""]}, conditions=["surface"]))

    for k in range(20):  # beyond the room that there is at first
        play("A", f"B{k}", 1 - k % 2, "2021-03-05")
    for rater in (ones, tables):
        rater.update(kn.read_matches(many | {"surface": [""] * 30}, conditions=["surface"]))
    play("A", "N7", 0.5, "2021-04-02")
    kept = ones.to_arrays()
    play("N8", "A", 1, "2021-04-03")
    assert ones.ratings_.sort("name").equals(tables.ratings_.sort("name"))
    for rater in (ones, tables):
        rater.from_arrays(kept)
    play("B3", "N9", 0, "2021-04-05")
    twin = copy.copy(ones)
    twin._reset()
    twin.update_one("N9", "A", 1, date="2021-04-06")
    assert ones.ratings_.sort("name").equals(tables.ratings_.sort("name")) and twin.ratings_.height == 2
    for rater in (ones, tables):
        rater._reset()
    play("B", "A", 1, "2021-04-07")
    assert ones.ratings_.sort("name").equals(tables.ratings_.sort("name"))


@pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
@pytest.mark.parametrize("kind", [kn.TeamElo, kn.Glicko, kn.KalmanElo, kn.PlayerElo, kn.BradleyTerry])
def test_a_table_goes_on_from_matches_that_were_rated_one_by_one(kind):
    """Where all parameters are given a first table says how sides are ordered; what was rated before it stays."""
    given = {parameter.name: parameter.default for parameter in kind._declared_parameters}
    more = {"home_lineup": [["c"]], "away_lineup": [["d"]]} if kind._traits.rates_players else {}
    table = kn.read_matches({"date": ["2021-04-01"], "home": ["C"], "away": ["D"], "result": [1]} | more)
    lineups = {"home_lineup": ["a"], "away_lineup": ["b"]} if kind._traits.rates_players else {}
    rater = kind(**given).update_one("A", "B", 1, date="2021-03-05", **lineups)
    kept = kind(**given)
    kept.from_arrays(rater.to_arrays())
    for one in (rater, kept):
        assert {*one.update(table).ratings_["name"].str.to_uppercase()} == {*"ABCD"}
    again = kind(**given).update_one("A", "B", 1, date="2021-03-05", **lineups)
    again._reset()
    assert again.update(table).ratings_.equals(kind(**given).update(table).ratings_)


def test_what_is_known_of_a_champion_stays_a_variance(tmp_path):
    """Elo by halves of a point expects less of draws than forecasts do: of unequal sides the rest was negative."""
    known = {"name": ["A", "B"], "rating": [2600.0, 1100.0], "deviation": [0.2, 0.2]}
    rater = kn.TeamElo.classic(k=20, ties=0.3, home_advantage=0.0, start=known)
    book = kn.RatingBook(tmp_path / "champion.db", copy.deepcopy(rater))
    for k in range(3):
        rater.update_one("A", "B", 1, date="2021-03-05")
        book.update_one("A", "B", 1, date="2021-03-05", match_id=f"m{k}")
    assert (rater.ratings_["uncertainty"] > 0.0).all() and book.ratings_.equals(rater.ratings_)


def test_matches_go_on_from_contests_of_elo():
    rater = kn.TeamElo.classic(k=20, ties=0.3, home_advantage=0.0).update_one(["A", "B", "E"], date="2021-03-05")
    rater.update(kn.read_matches({"date": ["2021-04-01"], "home": ["C"], "away": ["D"], "result": [1]}))
    assert {*rater.ratings_["name"]} == {*"ABCDE"}


@pytest.mark.parametrize("name", ["TeamElo", "Glicko", "KalmanElo", "BradleyTerry"])
def test_raters_of_sides_refuse_line_ups(name):
    rater = rated(name)
    for ask in (
        lambda: rater.predict_one("A", "B", away_lineup=["b"]),
        lambda: rater.update_one("A", "B", 1, home_lineup=["a"]),
    ):
        with pytest.raises(kn.InputError, match="rates sides, not players: leave line-ups out"):
            ask()


def test_blanks_around_names_do_not_count():
    rater = rated("classic")
    assert np.array_equal(rater.predict_one(" A", "C ").probabilities, rater.predict_one("A", "C").probabilities)
    assert rater.update_one(" A", "C ", 1).ratings_.height == 4


def test_ratings_to_begin_with_are_enough_for_a_forecast():
    said = kn.TeamElo.classic(start={"A": 1900, "B": 1500}, ties=0.0).predict_one("A", "B").probabilities[0]
    assert said == pytest.approx([10 / 11, 0.0, 1 / 11])


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 200])
@pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
def test_few_matches_and_many_are_looked_up_alike(rows):
    """Beyond a number of rows sides are looked up together: both ways find the same places and newcomers."""
    rater = rated("TeamElo")
    draws = np.random.default_rng(3)
    names = np.array(["A", "B", "C", "D", "new", "newer", "zero"])
    sides = [draws.choice(7, 2, replace=False) for _ in range(rows)]
    table = {"home": [names[i] for i, _ in sides], "away": [names[j] for _, j in sides], "date": ["2022-01-01"] * rows}
    together = rater.predict(kn.read_matches(table, played=False))
    for k in range(0, rows, 7):
        alone = rater.predict_one(table["home"][k], table["away"][k], date="2022-01-01")
        assert alone.probabilities.tobytes() == together.probabilities[k].tobytes()
    met = {*table["home"], *table["away"]}
    assert sorted(together.unknown) == sorted(met & {"new", "newer", "zero"})


def test_forecasts_from_several_threads_are_those_of_one():
    rater = rated("KalmanElo")
    expected = {pair: rater.predict_one(*pair, date="2022-01-01").probabilities.tobytes() for pair in PAIRS}
    wrong = []

    def ask():
        for _ in range(50):
            for pair in PAIRS:
                if rater.predict_one(*pair, date="2022-01-01").probabilities.tobytes() != expected[pair]:
                    wrong.append(pair)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_single_match_looks_at_its_own_sides_alone(monkeypatch):
    """Who is active is found among all sides, which a service with many of them cannot wait for."""
    rater = rated("KalmanElo")
    asked = []
    find = type(rater._state).active
    monkeypatch.setattr(type(rater._state), "active", lambda *given: asked.append(given) or find(*given))
    rater.predict_one("A", "B")
    rater.update_one("A", "B", 1)
    assert not asked
    assert rater.predict(played()).ratings_before is not None and len(asked) == 1
