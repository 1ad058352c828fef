"""What raters refuse of arrays that somebody changed, and of what they are asked for, word by word."""

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.decisions.queueing import Lobbies, queue_trial
from kinelo.model.setups import homogeneous
from kinelo.raters.filter.smoother import check_room
from kinelo.raters.noise import NoiseFactors
from kinelo.raters.rank.state import centred_numbers
from refusals import check_refusal

TWO = {"date": ["2024-01-01", "2024-01-08"], "home": ["A", "B"], "away": ["B", "C"], "result": [1.0, 0.5],
       "pitch": ["wet", "dry"], "home_score": [2, 1], "away_score": [0, 1]}  # fmt: skip
RACES = {"race": [1, 1, 2, 2], "driver": list("ABBA"), "place": [1, 2, 1, 2], "grid": [1.0, 3.0, 2.0, 1.0]}
RANGE = "holds numbers out of range."


def matches():
    return kn.read_matches(TWO, conditions=["pitch"])


def races(**more):
    return kn.read_contests(RACES | more, slots=["driver"], advantages=["grid"])


RATERS = {
    "bradley-terry": lambda: kn.BradleyTerry().fit(matches()),
    "classic": lambda: kn.TeamElo.classic(k=20).update(matches()),
    "team": lambda: kn.TeamElo(conditions=["pitch"]).update(matches()),
    "glicko": lambda: kn.Glicko().update(matches()),
    "kalman": lambda: kn.KalmanElo().update(matches()),
    "score": lambda: kn.ScoreElo().update(matches()),
}
STATES = {
    "strengths of nobody": (
        "bradley-terry", {"theta": np.empty(0)}, "theta holds no strengths of the 3 that were compared.",
    ),
    "more from before than there are": (
        "classic", {"before": np.arange(9)}, "The array 'before' of a stored state is longer than its names are many.",
    ),
    "a rating that is none": (
        "classic", {"rating": np.array([1500.0, np.nan, 1490.0])}, f"The array 'rating' of a stored state {RANGE}",
    ),
    "a rating without end": (
        "glicko", {"rating": np.array([1500.0, 1510.0, -np.inf])}, f"The array 'rating' of a stored state {RANGE}",
    ),
    "levels of another width": (
        "team", {"delta": np.zeros((3, 9))},
        "The array 'delta' of a stored state has another width than its levels are many.",
    ),
    "paces of some": (
        "score", {"pace": np.zeros(1)}, "The arrays of paces of a stored state do not belong to its sides.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STATES)
def test_a_changed_state_says_what_is_wrong(case):
    kind, changes, sentence = STATES[case]
    rater = RATERS[kind]()
    arrays = rater.to_arrays()
    assert changes.keys() <= arrays.keys()
    again = type(rater)(**rater.get_params())
    again.from_arrays(arrays)
    assert np.allclose(again.ratings_["rating"], rater.ratings_["rating"], rtol=1e-12)
    check_refusal((lambda: type(rater)(**rater.get_params()).from_arrays(arrays | changes), sentence))


CASES = {
    "factors of a number": (
        lambda: NoiseFactors.from_rows(7), "The factors of the noise of a stored state are not what its rater stores.",
    ),
    "factors of four": (
        lambda: NoiseFactors.from_rows([["track", "oval", 0.5, 0.1]]),
        "The factors of the noise of a stored state are not what its rater stores.",
    ),
    "factors of letters": (
        lambda: NoiseFactors.from_rows([["track", "oval", 0.5, "x", 7]]),
        "The factors of the noise of a stored state hold numbers out of range.",
    ),
    "factors without end": (
        lambda: NoiseFactors.from_rows([["track", "oval", 0.5, np.inf, 7]]),
        "The factors of the noise of a stored state hold numbers out of range.",
    ),
    "a unit of nought": (
        lambda: kn.RankElo(covariates=["grid"]).update(races())._entries.with_units([0.0]),
        "Units of covariates of a stored state are out of range.",
    ),
    "a covariate of letters": (
        lambda: centred_numbers(races(grid=["1", "pole", "2", "1"]), "grid"),
        "The covariate 'grid' must hold numbers: could not convert string to float: 'pole'",
    ),
    "estimates of a list": (
        lambda: kn.KalmanElo()._settled_values([0.3]), "estimates are numbers by the names of parameters, not [0.3].",
    ),
    "estimates of what is none": (
        lambda: kn.KalmanElo()._settled_values({"luck": 0.3}),
        "estimates are numbers by the names of parameters, not {'luck': 0.3}.",
    ),
    "what stones are worth, before a fit": (
        lambda: kn.fair_value(
            kn.TeamElo(covariates=["pitch"], start={"A": 1500.0, "B": 1510.0}), "A", "B", "pitch",
        ),
        "Nothing is known of what 'pitch' is worth; fit the rater first.",
    ),
    "a split that cannot be": (
        lambda: kn.balance(RATERS["classic"](), ["A", "B"], together=[["A", "B"]], sides=2),
        "A, B cannot be together on a side of 1.",
    ),
    "a league of three ends": (
        lambda: homogeneous(theta=(1.0, 2.0, 3.0), sigma=1.0, teams=5),
        "theta must be an interval (low, high), not 3 numbers.",
    ),
    "an event that is a number": (
        lambda: kn.FideElo(event=7, as_of="2025-10-01").update(matches()),
        "event=7 must be the name of a column, such as 'event'.",
    ),
    "lists of numbers": (
        lambda: kn.FideElo(as_of="2025-10-01").from_arrays({"lists": np.zeros(3)}),
        r"These arrays are no state of FideElo.*\.",
    ),
    "a highest rating of letters": (
        lambda: kn.FideElo(
            as_of="2025-10-01", start=pl.DataFrame({"name": ["A"], "rating": [2300], "highest": ["high"]})
        ).update(matches()),
        "The list gives 'A' a highest rating of 'high', which is no number.",
    ),
    "hindsight beyond memory": (
        lambda: check_room(10**6, 10**4, 20),
        r"Hindsight over 1,000,000 matches of 10,000 names needs more memory than is sensible; ask for fewer matches "
        r"or points\.",
    ),
    "a party of more than a side": (
        lambda: queue_trial(RATERS["glicko"](), Lobbies(size=2), per_minute=1.0, minutes=1.0, parties={3: 1.0}),
        "A party has 1 to 2 players here.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_what_is_wrong(case):
    check_refusal(CASES[case])


PIECES = {
    "results beside them": (
        lambda path: kn.Glicko().fit(kn.matches.scan_matches(path), [1.0]),
        r"Matches in .+ hold their results; leave y out\.",
    ),
    "all of them to estimate on": (
        lambda path: kn.matches.scan_matches(path).to_estimate(None),
        "look = None estimates on all matches at once, which pieces are not: read them with read_matches, or set look "
        "to a number.",
    ),
    "players": (
        lambda path: kn.PlayerElo().fit(kn.matches.scan_matches(path)),
        r"PlayerElo cannot take matches in .+: line-ups are not read from pieces; read them with read_matches\.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PIECES)
def test_a_scan_says_what_it_is_not_for(case, tmp_path):
    path = tmp_path / "results.csv"
    pl.DataFrame({name: TWO[name] for name in ("date", "home", "away", "result")}).write_csv(path)
    call, sentence = PIECES[case]
    check_refusal((lambda: call(path), sentence))
