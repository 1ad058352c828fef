"""A function that is no outcome is refused with values that it really has, where it has them."""

import re

import numpy as np
import pytest

import kinelo as kn

NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]\d+)?)"


def odd_one(z):
    return 0.75 * np.tanh(z) + (0.125 if z > 1.5 else 0.0)


def falling(z):
    return float(np.tanh(z) * (1 - 0.5 * np.tanh(z * z / 9)))


def large(z):
    return 1.25 * float(np.tanh(z / 3))


def uneven(z):
    return 0.2 / (1 + float(np.exp(np.clip(z, -40, 40))))


def too_many(z):
    return 0.9 / (1 + z * z / 30)


def tanh(z):
    return float(np.tanh(z))


CASES = {
    "not odd": (odd_one, None, "b must be odd, but "),
    "falling": (falling, None, "b must be increasing, but "),
    "above one": (large, None, "b must be at most 1, but "),
    "negative": (lambda z: -tanh(z), None, "b must be odd and increasing, but "),
    "ties not even": (tanh, uneven, "ties must be even, but "),
    "ties that leave no room": (
        tanh, too_many, "ties must lie between 0 and 1 − |b|, so that a win is no less likely than never, but ",
    ),
    "negative ties": (
        tanh, lambda z: -0.1, "ties must lie between 0 and 1 − |b|, so that a win is no less likely than never, but ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_names_values_that_the_function_has(case):
    b, ties, begins = CASES[case]
    with pytest.raises(kn.InputError) as refused:
        kn.model.Outcome.from_function(b, **({} if ties is None else {"ties": ties}))
    said = str(refused.value)
    assert said.startswith(begins)
    named = re.findall(rf"(b|ties)\({NUMBER}\) = {NUMBER}", said)
    assert len(named) == (1 if case in ("above one", "negative") else 2), said
    points = [float(x) for _, x, _ in named]
    for (function, _, value), x in zip(named, points, strict=True):
        # x is told to six digits, and so is the value.
        assert float(value) == pytest.approx({"b": b, "ties": ties}[function](x), rel=2e-5, abs=1e-9), said
    if "odd" in case or "even" in case:
        assert points[1] == -points[0]
    if case == "falling":
        assert points[0] < points[1] and float(named[0][2]) > float(named[1][2])
    if case == "ties that leave no room":
        tie, expected = float(named[0][2]), float(named[1][2])
        assert points[0] == points[1] and tie > 1 - abs(expected)


def test_a_jump_is_found_where_it_is():
    with pytest.raises(kn.InputError) as refused:
        kn.model.Outcome.from_function(lambda z: 0.7 * np.tanh(z) + 0.24 * np.sign(z) * (abs(z) > 2.5))
    found = re.fullmatch(r"b must be continuous, but it jumps by ([\d.]+) at ([\d.]+)\.", str(refused.value))
    assert found is not None, str(refused.value)
    assert (float(found[1]), float(found[2])) == (0.24, 2.5)
