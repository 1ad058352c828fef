"""A warning names the line of whoever called Kinelo, by every door and however deep it was noticed."""

import warnings

import numpy as np
import pytest

import kinelo as kn

TWO = {"date": ["2024-01-01", "2024-01-08"], "home": ["Anna", "Bob"], "away": ["Bob", "Cid"], "result": [1.0, 0.5]}


def matches(**more):
    return kn.read_matches(TWO | more)


def many(monkeypatch):
    monkeypatch.setattr("kinelo.raters.gaussian.MOST_TOGETHER", 1)
    return matches()


DOORS = {
    "fit": (lambda data: kn.KalmanElo(walk=0.1).fit(data), many, "covariance='diagonal' is used"),
    "a backtest": (
        lambda data: kn.backtest(data, {"one": kn.KalmanElo(walk=0.1)}, train_until="2024-01-05"), many,
        "covariance='diagonal' is used",
    ),
    "a start": (
        lambda data: kn.TeamElo.classic(k=20, start={"Anne": 1600.0}).fit(data), lambda _: matches(),
        "perhaps 'Anna'",
    ),
    "a misspelt name": (
        lambda data: kn.TeamElo.classic(k=20).fit(matches()).predict(data),
        lambda _: kn.read_matches({"home": ["Annna"], "away": ["Bob"]}, played=False),
        "did you mean Anna",
    ),
    "a part": (
        lambda data: kn.Glicko(look=1).fit(data), lambda _: matches(), "estimated on the latest 1 of 2 matches",
    ),
    "pools": (
        lambda data: kn.BradleyTerry(ridge=1.0).fit(data),
        lambda _: matches(home=["Anna", "Cid"], away=["Bob", "Dee"]), "pools that no comparison connects",
    ),
    "theory": (
        lambda data: kn.expected_result(kn.Tanh(nu=0.5), data, closure="taylor"),
        lambda _: kn.Normal([0.0, 1.0], 4.0), "closure is used outside its range",
    ),
    "a point of a sweep": (
        lambda data: kn.sweep(data, {"x": [1, 2]}), lambda _: lambda x: 1 / (x - 1), "1 of 2 points",
    ),
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_a_warning_names_the_line_of_the_user(door, monkeypatch):
    call, prepare, words = DOORS[door]
    data = prepare(monkeypatch)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        call(data)
    told = [one for one in said if words in str(one.message)]
    assert told, [str(one.message) for one in said]
    here = call.__code__
    lines = {line for _, _, line in here.co_lines() if line}
    assert all(one.filename == __file__ and one.lineno in lines for one in told), [
        (one.filename, one.lineno) for one in told
    ]


def test_a_callback_of_the_user_is_whoever_called():
    """Where Kinelo calls a function that asks Kinelo, the line is that of the function."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        kn.sweep(
            lambda nu: kn.expected_result(kn.Tanh(nu), kn.Normal([0.0, 1.0], 4.0), closure="taylor"), {"nu": [0.5]}
        )
    (told,) = (one for one in said if "outside its range" in str(one.message))
    assert told.filename == __file__ and np.isfinite(told.lineno)
