"""What raters and what is asked of them refuse, word by word."""

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.forecasts.forecast import Forecast
from kinelo.raters.choice import _of_user, rater_called
from kinelo.raters.one_contest import contest_of, ranked, with_minutes
from kinelo.raters.one_match import pairs_of
from refusals import check_refusal

TWO = {"date": ["2024-01-01", "2024-01-08"], "home": ["A", "B"], "away": ["B", "C"], "result": [1.0, 0.5]}
RACES = {"race": [1, 1, 2, 2], "driver": list("ABBA"), "place": [1, 2, 1, 2], "grid": [1.0, 3.0, 2.0, 1.0]}
FOUR = ["A", "B", "C", "D"]


def matches(**more):
    return kn.read_matches(TWO | more)


def races(**more):
    return kn.read_contests(RACES, slots=["driver"], **more)


def classic(**more):
    return kn.TeamElo.classic(k=20, **more).update(matches())


def system(**more):
    return kn.RatingSystem(kn.Tanh.elo(), **{"gamma": 10.0, **more})


def players(**more):
    lineups = {"home_lineup": ["Ann; Bob", "Eve; Fay"], "away_lineup": ["Cid; Dee", "Gus; Hal"]}
    return kn.PlayerElo(**more).fit(kn.read_matches(TWO | lineups))


class Asking:
    """A rater that cannot be made without an argument."""

    def __init__(self, size):
        self.size = size

    def fit(self, matches):
        return self

    def one_step_ahead(self, matches):
        return None

    predict = update = one_step_ahead


class Silent:
    """A rater that keeps no ratings, and always forecasts two matches."""

    def fit(self, matches):
        return self

    def one_step_ahead(self, matches):
        return Forecast(np.full((2, 3), 1 / 3), ())

    predict = update = one_step_ahead


FIXTURE = {name: TWO[name][:1] for name in ("date", "home", "away")}
TREE = kn.read_matches({"date": ["2024-01-01"] * 2, "home": ["A", "C"], "away": ["B", "D"], "result": [1, 0.5]})

CASES = {
    # Sides
    "no split": (
        lambda: kn.balance(classic(), FOUR, best=0), "best must be a number of splits, at least 1, not 0.",
    ),
    "half a split": (
        lambda: kn.balance(classic(), FOUR, best=1.5), "best must be a number of splits, at least 1, not 1.5.",
    ),
    "three on a side of two": (
        lambda: kn.balance(classic(), FOUR, together=[["A", "B", "C"]]), "A, B, C cannot be together on a side of 2.",
    ),
    "three on two sides": (
        lambda: kn.balance(classic(), FOUR, apart=[["A", "B", "C"]]), "A, B, C cannot be apart on 2 sides.",
    ),
    "newcomers of a word": (
        lambda: kn.balance(classic(), FOUR, newcomers="few"), "newcomers must be a number of matches, not 'few'.",
    ),
    "newcomers below nought": (
        lambda: kn.balance(classic(), FOUR, newcomers=-1), "newcomers must be a number of matches, not -1.",
    ),
    "two sides of one list": (
        lambda: pairs_of(["A"], 7), "7 is neither the name of a side nor a list of names.",
    ),
    # Comparisons
    "intervals by guess": (
        lambda: kn.BradleyTerry().fit(matches()).intervals(method="guess"),
        "method='guess' is not known; it is 'sandwich' or 'bootstrap'.",
    ),
    "no ridge between strangers": (
        lambda: kn.BradleyTerry(ridge=0).fit(TREE),
        "ridge=0 cannot place contestants that no comparison connects beside one another; give a ridge above 0.",
    ),
    # Raters by name
    "a beginning of what has none": (
        lambda: rater_called("bradley-terry", start={"A": 1500}),
        "BradleyTerry has no ratings to begin with: it does not take start=.",
    ),
    "a rater that asks": (
        lambda: _of_user("mine:Asking", Asking),
        "mine:Asking cannot be made without arguments: Asking.__init__() missing 1 "
        "required positional argument: 'size'",
    ),
    "a rater without a table": (
        lambda: kn.leaderboard(Silent()),
        "Silent has no leaderboard; a rater shows one by a table ratings_ with name and rating.",
    ),
    "a forecast of too many": (
        lambda: kn.backtest(matches(), {"mine": Silent()}, train_until="2024-01-05"),
        "mine did not give 1 row of three probabilities that sum to one.",
    ),
    # Questions
    "later matches of a rater": (
        lambda: kn.explain(classic().fit(matches()), "1", of="A"),
        "of= asks about later matches that a rating book rated again; a rater remembers none.",
    ),
    "the last of a stranger": (
        lambda: kn.explain_last(classic(), "Zoe", matches()), "'Zoe' is in none of these matches.",
    ),
    "a history of no rater": (
        lambda: kn.rating_history(7, matches()), "rated must be a rater such as TeamElo, or a rating book, not int.",
    ),
    "a history of one point": (
        lambda: kn.rating_history(classic(), matches(), points=1),
        "A history needs matches and at least 2 points, not 2 and 1.",
    ),
    "a history of nothing": (
        lambda: kn.rating_history(classic(), matches()[:0], points=5),
        "A history needs matches and at least 2 points, not 0 and 5.",
    ),
    "the past of a stranger": (
        lambda: kn.rating_history(classic(), matches(), side="Zoe"),
        "'Zoe' played none of these matches; names are written as in the results.",
    ),
    "hindsight of what keeps none": (
        lambda: kn.rating_history(Silent(), matches(), hindsight=True),
        "Silent has no hindsight: it keeps no account of how ratings hang together.",
    ),
    "a preview for a stranger": (
        lambda: kn.preview(kn.RankElo().update(races()), ["A", "B"], of=["Zoe"]),
        "['Zoe'] names somebody who is not in this contest.",
    ),
    "a preview without players": (
        lambda: kn.preview(players(), "A", "B"), "PlayerElo rates players: give home_lineup and away_lineup.",
    ),
    "values of what is not used": (
        lambda: kn.fair_value(
            kn.TeamElo(covariates=["stones"]).fit(kn.read_matches(TWO | {"stones": [1, 2]}, conditions=["stones"])),
            "A", "B", "stones", given={"pace": 3.0},
        ),
        "'pace' is nothing else that this rater uses; it uses none.",
    ),
    # Contests of many
    "estimates of contests": (
        lambda: kn.RankElo().set_params(walk=0.3)._settled_values([0.3]),
        "estimates are numbers by the names of parameters, not [0.3].",
    ),
    "a kind that is not rated": (
        lambda: kn.RankElo(walk={"car": 0.3}).update(races()),
        "RankElo(walk=…) speaks of 'car', but these contests rate driver.",
    ),
    "a number that is not read": (
        lambda: kn.RankElo(covariates=["grid"]).update(races()),
        "RankElo(covariates=…) names 'grid', which these contests do not say; read them with advantages=['grid'].",
    ),
    "a fair value of what is no number": (
        lambda: kn.fair_value(kn.RankElo(covariates=["grid"]).update(races(advantages=["grid"])), "A", "B", "pace"),
        "'pace' is no number that this rater could make fair; it has 'grid'.",
    ),
    "K of each for contests": (
        lambda: kn.TeamElo.classic(k=20, k_of={"A": 40}).update(races()),
        "Contests are rated with one K for all: give TeamElo.classic(k=…) a number, and no k_of.",
    ),
    "an order that is a word": (
        lambda: ranked("AB", []), "'AB' is not an order of entrants; an order is a list of names.",
    ),
    "names beside teams": (
        lambda: ranked(["Ann", ["Bob", "Cid"]], []),
        "['Ann', ['Bob', 'Cid']] mixes names and lists. A list is a team of players (['Ann'] is a team of one); say "
        "who ties by ranks, such as ranks=[1, 2, 2].",
    ),
    "ranks of some": (
        lambda: ranked(["Ann", "Bob", "Cid"], [], ranks=[1, 2]),
        "ranks=[1, 2] is not understood; it lists a number for each of the 3 who finished, the best the lowest, and "
        "equal ones tie.",
    ),
    "minutes of a list": (
        lambda: with_minutes(contest_of(["Ann", "Bob"], None, None, np.datetime64("2024-05-01"), ("player",)), [30]),
        'minutes=[30] is not understood; it says how long each played: {"Ann": 30}.',
    ),
    "minutes of a stranger": (
        lambda: with_minutes(
            contest_of(["Ann", "Bob"], None, None, np.datetime64("2024-05-01"), ("player",)), {"Cid": 30}
        ),
        "minutes speak of 'Cid', who is not in this contest.",
    ),
    "minutes below nought": (
        lambda: with_minutes(
            contest_of(["Ann", "Bob"], None, None, np.datetime64("2024-05-01"), ("player",)), {"Ann": -3}
        ),
        "minutes={'Ann': -3} says for how long, a number from 0 on.",
    ),
    "a contest of one": (
        lambda: contest_of(["Ann"], None, None, np.datetime64("2024-05-01"), ("player",)),
        "['Ann'] is not a contest; it needs a list of two entrants or more.",
    ),
    "somebody against herself": (
        lambda: contest_of(["Ann", "Bob", "Ann"], None, None, np.datetime64("2024-05-01"), ("player",)),
        "['Ann', 'Bob', 'Ann'] names an entrant twice.",
    ),
    "an entrant without a name": (
        lambda: contest_of(["Ann", " "], None, None, np.datetime64("2024-05-01"), ("player",)),
        "' ' is not a name; a name is text that is not blank.",
    ),
    # Players
    "players without line-ups": (
        lambda: kn.PlayerElo().fit(matches()),
        "Player ratings need line-ups; read them with read_matches(..., lineups=...).",
    ),
    "line-ups known by guess": (
        lambda: players(known="guess"), "known='guess' is not understood; it is 'starters', 'minutes' or 'none'.",
    ),
    "strength by product": (
        lambda: players(strength="product"), "strength='product' is not understood; it is 'mean' or 'sum'.",
    ),
    "ratings that are none": (
        lambda: players().corrected({"A": 1500.0}),
        "ratings must be a table with the columns name and rating, such as ratings_ of a rater.",
    ),
    "ratings of one": (
        lambda: players().corrected(pl.DataFrame({"name": ["A", "Zoe"], "rating": [1500.0, 1510.0]})),
        "Correcting ratings needs at least two teams that are rated and whose line-ups are known.",
    ),
    "minutes of a match to come": (
        lambda: players().predict_one("A", "B", home_lineup={"Ann": 30.0}, away_lineup=["Cid", "Dee"]),
        "How long everyone plays is known after a match; a line-up to come is a list of names.",
    ),
    # What a fit takes
    "a fit of nothing": (
        lambda: kn.KalmanElo().fit(matches()[:0]), "There are no matches to fit; at least one is needed.",
    ),
    "a fit of fixtures": (
        lambda: kn.KalmanElo().fit(kn.read_matches(FIXTURE, played=False)),
        "Matches without a result cannot be fitted; read them with played=True to reject such rows.",
    ),
    "a fit of contests to come": (
        lambda: kn.RankElo().fit(kn.read_contests({**RACES, "place": [None] * 4}, slots=["driver"], played=False)),
        "Contests without places cannot be fitted; read them with played=True to reject such rows.",
    ),
    "results of others": (
        lambda: kn.KalmanElo().fit(matches(), [0.5, 0.5]),
        "Matches hold their results; y must be left out or equal matches.result or matches.labels.",
    ),
    "nobody of a list": (
        lambda: kn.FideElo(as_of="2025-10-01").fit(matches()),
        "Nobody is rated: by FIDE's rules a first rating comes from games against rated opponents. Give the list to "
        "begin with (start=, --start).",
    ),
    "years without names": (
        lambda: kn.FideElo(born=pl.DataFrame({"who": ["A"], "born": [2009]}), as_of="2025-10-01").update(matches()),
        "born needs the columns name and born; it has who, born.",
    ),
    "K of a number": (
        lambda: classic(k_of=40), "k_of must be a table of names and K, or a mapping, not int.",
    ),
    "K without names": (
        lambda: classic(k_of=pl.DataFrame({"who": ["A"], "k": [40]})),
        "k_of needs the columns name and k; it has who, k.",
    ),
    "a beginning of odd days": (
        lambda: classic(start=pl.DataFrame({"name": ["A"], "rating": [1600.0], "date": ["May"]})),
        "start holds dates that are not written as year-month-day.",
    ),
    "a system of rounds": (
        lambda: kn.TeamElo(system=system(schedule=kn.model.Period(3))).update(matches()),
        "TeamElo rates one match after the other and cannot follow the schedule Period(matches=3).",
    ),
    "a system beside conditions": (
        lambda: kn.TeamElo(system=system(), conditions=["pitch"]).update(
            kn.read_matches(TWO | {"pitch": ["wet", "dry"]}, conditions=["pitch"])
        ),
        "TeamElo estimates what conditions change in strengths and noise, and what covariates are worth, which its "
        "system leaves no room for.",
    ),
    "FIDE's K on another scale": (
        lambda: kn.TeamElo.classic(k=kn.model.FideSteps(), scale=200.0).update(matches()),
        "FIDE's rules count points of scale 400, not 200.",
    ),
    "juniors by number": (
        lambda: kn.TeamElo.classic(k=kn.model.FideSteps(under_18=[1])).update(matches()),
        "A rater knows juniors by name: FideSteps(under_18=[…]) lists indices.",
    ),
    # Mixtures
    "a mixture of other things": (
        lambda: kn.raters.Mixture({"one": kn.TeamElo()}).set_params(size=3),
        "A mixture has no parameter 'size'; it has raters.",
    ),
    "a mixture of fixtures": (
        lambda: kn.raters.Mixture({"one": kn.TeamElo()}).fit(kn.read_matches(FIXTURE, played=False)),
        "Matches without a result cannot be fitted; read them with played=True to reject such rows.",
    ),
    "a mixture that has seen nothing": (
        lambda: kn.raters.Mixture({"one": kn.TeamElo()}).predict(matches()),
        "Fit the mixture first: which raters count, and how much, is learnt from matches.",
    ),
    "a mixture of lists": (
        lambda: kn.raters.Mixture({"one": kn.FideElo(as_of="2025-10-01")}).fit(matches()),
        "Nobody is rated: by FIDE's rules a first rating comes from games against rated opponents. Give the list to "
        "begin with (start=, --start).",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_what_is_wrong(case):
    check_refusal(CASES[case])
