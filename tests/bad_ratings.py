"""Valid calls of what raters do, for every kind of rater, each argument of which ``test_bad_input.py`` spoils."""

import copy
from functools import cache

import kinelo as kn

KINDS = ("TeamElo", "Glicko", "Glicko2", "KalmanElo", "PlayerElo", "BradleyTerry")
KNOWN = {
    "name": ["A", "B"], "rating": [1500.0, 1600.0], "deviation": [80.0, 90.0], "volatility": [0.06, 0.06],
    "matches": [10, 12], "date": ["2019-12-01", "2019-12-02"],
}  # fmt: skip


@cache
def played():
    table = {
        "date": ["2020-01-01", "2020-02-01", "2020-03-01", "2020-03-01"], "home": list("ABCA"), "away": list("BCAC"),
        "home_score": [2, 1, 3, 1], "away_score": [1, 1, 0, 0], "surface": ["clay", "grass", "clay", "clay"],
        "rest": [1, 2, 0, -1], "home_lineup": [["a", "aa"], ["b"], ["c", "cc"], ["a"]],
        "away_lineup": [["b", "bb"], ["c"], ["a"], ["cc"]],
    }  # fmt: skip
    return kn.read_matches(table, conditions=["surface", "rest"])


@cache
def to_come():
    table = {"date": ["2020-04-01"] * 2, "home": ["A", "B"], "away": ["C", "A"], "surface": ["clay"] * 2}
    lineups = {"home_lineup": [["a"], ["b"]], "away_lineup": [["c"], ["a", "aa"]]}
    return kn.read_matches(table | lineups | {"rest": [1, 0]}, conditions=["surface", "rest"], played=False)


@cache
def late():
    table = {"date": ["2020-05-01"] * 2, "home": ["A", "B"], "away": ["C", "A"], "result": [1.0, 0.5]}
    return kn.read_matches(table)


@cache
def late_results():
    return late().result


@cache
def board():
    return standing("TeamElo").ratings_


ONE = {
    "home": "A", "away": "B", "date": "2020-05-01", "neutral": False, "conditions": {}, "home_lineup": (),
    "away_lineup": [],
}  # fmt: skip


def settings(kind):
    """Every parameter given, so that nothing is sought unless it is spoilt."""
    return {parameter.name: parameter.default for parameter in getattr(kn, kind)._declared_parameters}


def made(kind, **more):
    return getattr(kn, kind)(**settings(kind) | more)


def rated(kind, **more):
    return made(kind, **more).fit(played())


@cache
def standing(kind):
    """A rater that has rated, for what does not change it."""
    return rated(kind)


def taken(kind, arrays):
    rater = made(kind)
    rater.from_arrays(arrays)
    return rater


def told(rater):
    """Whatever a rater says once it has rated."""
    return rater.ratings_, rater.predict(to_come()).probabilities, dict(rater.parameters_)


def calls_of(kind):
    """What every rater does."""
    calls = {
        "fit": (lambda **k: told(made(kind).fit(**k)), {"matches": played}),
        "update": (lambda **k: told(copy.deepcopy(standing(kind)).update(**k)), {"matches": late}),
        "one_step_ahead": (lambda **k: made(kind).one_step_ahead(**k).probabilities, {"matches": played}),
        "predict": (lambda **k: standing(kind).predict(**k).probabilities, {"matches": to_come}),
        "predict_one": (lambda **k: standing(kind).predict_one(**k).probabilities, ONE),
        "match_quality": (lambda **k: kn.match_quality(standing(kind), **k), ONE),
        "update_one": (
            lambda **k: told(copy.deepcopy(standing(kind)).update_one(**k)),
            ONE | {"result": 1.0, "margin": 2.0, "weight": 1.0},
        ),
        "from_arrays": (lambda **k: told(taken(kind, k)), lambda: standing(kind).to_arrays()),
        "score": (lambda **k: standing(kind).score(**k), {"matches": late, "y": late_results}),
        "settings": (lambda **k: told(rated(kind, **k)), settings(kind)),
        "season": (
            lambda **k: kn.season(standing(kind), **k).points,
            {"fixtures": to_come, "rules": kn.forecasts.Rules(tie_breaks=["wins"]), "realisations": 2, "seed": 1},
        ),
        "knockout": (
            lambda **k: kn.knockout(standing(kind), **k).reached,
            {"bracket": ["A", "B"], "date": "2020-05-01", "realisations": 2, "seed": 1},
        ),
        "history": (lambda **k: kn.rating_history(standing(kind), **k), {"matches": played, "points": 2}),
        "leaderboard": (
            lambda **k: kn.leaderboard(standing(kind), **k),
            {"matches": played, "active_days": 900.0, "least_matches": 1, "caution": 1.0},
        ),
    }
    if kind == "PlayerElo":
        calls.pop("knockout")  # a bracket has no line-ups
    if kind != "BradleyTerry":
        names = {"name": ["a", "b"]} if kind == "PlayerElo" else {}
        calls["start"] = (lambda **k: told(rated(kind, **k)), {"start": {"A": 1500.0, "B": 1600.0}})
        calls["start table"] = (lambda **k: told(rated(kind, start=k)), KNOWN | names)
    return {f"{kind}.{what}": call for what, call in calls.items()}


RATER_CALLS = {name: call for kind in KINDS for name, call in calls_of(kind).items()} | {
    "TeamElo.options": (
        lambda **k: told(rated("TeamElo", **k)),
        {"initial": 1500.0, "scale": 400.0, "season_gap": 45.0, "prior_spread": 200.0, "conditions": [], "look": 100},
    ),
    "TeamElo.system": (
        lambda **k: told(kn.TeamElo(**k).fit(played())),
        {"system": kn.RatingSystem(kn.model.Davidson(nu=0.003, kappa=0.5), gamma=10.0)},
    ),
    "TeamElo.classic": (
        lambda **k: told(kn.TeamElo.classic(**k).fit(played())),
        {"k": 32.0, "ties": 0.5, "home_advantage": 50.0, "initial": 1500.0, "scale": 400.0, "start": {"A": 1500.0},
         "k_of": {"A": 20.0}},
    ),
    "Glicko.options": (
        lambda **k: told(rated("Glicko", **k)),
        {"initial": 1500.0, "period": 30.0, "together": True},
    ),
    "Glicko2.options": (
        lambda **k: told(rated("Glicko2", **k)),
        {"initial": 1500.0, "period": 30.0, "together": True, "tau": 0.5},
    ),
    "KalmanElo.options": (
        lambda **k: told(rated("KalmanElo", **k)),
        {"conditions": [], "covariance": "full", "initial": 1500.0},
    ),
    "KalmanElo.conditions": (
        lambda **k: rated("KalmanElo", conditions=["surface"]).strengths_by(**k),
        {"condition": "surface"},
    ),
    "KalmanElo.correlation": (lambda **k: standing("KalmanElo").correlation(**k), {"one": "A", "other": "B"}),
    "KalmanElo.hindsight": (
        lambda **k: kn.rating_history(standing("KalmanElo"), hindsight=True, **k),
        {"matches": played, "points": 2},
    ),
    "KalmanElo.surprises": (lambda **k: kn.raters.surprises(made("KalmanElo"), **k), {"matches": played}),
    "KalmanElo.predict_margin": (
        lambda **k: standing("KalmanElo").predict_margin(**k),
        {"matches": to_come, "level": 0.8},
    ),
    "PlayerElo.options": (
        lambda **k: (told(rated("PlayerElo", **k)), rated("PlayerElo", **k).team_strengths_),
        {"role_weights": {"keeper": 2.0}, "known": "starters", "strength": "mean", "substitute_share": 0.3,
         "initial": 1500.0, "conditions": []},
    ),
    "PlayerElo.corrected": (
        lambda **k: standing("PlayerElo").corrected(**k),
        {"ratings": board},
    ),
    "BradleyTerry.options": (
        lambda **k: told(rated("BradleyTerry", **k)),
        {"covariates": ["rest"], "anchor": {"A": 1500.0}, "ridge": 0.1, "refit_days": 30.0, "initial": 1500.0},
    ),
    "BradleyTerry.anchor": (lambda **k: told(rated("BradleyTerry", anchor=k)), {"A": 1500.0, "B": 1600.0}),
    "BradleyTerry.intervals": (
        lambda **k: standing("BradleyTerry").intervals(**k),
        {"level": 0.9, "method": "bootstrap", "resamples": 3, "seed": 1, "client": None},
    ),
    "read_matches.options": (
        lambda **k: len(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1.0]}, **k)),
        {"results": "points", "conditions": [], "aliases": {"A": "C"}, "drop_repeats": True},
    ),
    "read_matches.columns": (
        lambda **k: told(made("TeamElo").fit(kn.read_matches(k))),
        {"date": ["2020-01-01", "2020-01-02"], "home": ["A", "B"], "away": ["B", "C"], "home_score": [1, 2],
         "away_score": [0, 2], "neutral": [0, 1], "weight": [1.0, 2.0]},
    ),
}  # fmt: skip
"""What is called → (the call, valid arguments)."""
