"""Users' laws on a graphics processor: what it rounds in its own way is said, and nothing else."""

import math
from math import exp, sqrt

import pytest

import kinelo as kn
from kinelo.errors import KineloWarning
from kinelo.micro.gpu import play
from kinelo.micro.gpu.target import rounded_by_device
from kinelo.play.arithmetic import PLAIN


def cubed(z):
    return z**3


@pytest.mark.parametrize(
    ("formula", "names"),
    [
        (lambda z: z / sqrt(1 + z * z), []),
        (lambda z: math.copysign(1.0, z) if abs(z) > 1 else z, []),
        (lambda z: z**2, ["**"]),
        (lambda z: 1 / (1 + exp(-z)), ["exp"]),
        (lambda z: math.atan(z) + math.sqrt(2.0), ["math.atan"]),
        (lambda z: cubed(z) / 2, ["**"]),
        (lambda z: pow(z, 3.0), ["pow"]),
    ],
)
def test_powers_and_functions_are_found(formula, names):
    assert rounded_by_device(formula) == names


@pytest.mark.parametrize(
    ("b", "said"), [(lambda z: z / sqrt(1 + z**2), r"\*\*"), (lambda z: z / sqrt(1 + z * z), None)]
)
def test_binding_a_law_says_what_the_device_rounds_in_its_own_way(b, said, monkeypatch):
    monkeypatch.setattr(play, "target", lambda: PLAIN)
    monkeypatch.setattr(play, "_nothing", lambda: None)
    law = kn.model.Outcome.from_function(b)
    if said is None:
        play.user_functions_on_device(law, kn.model.AllPlayAll())  # a warning would be an error
        return
    with pytest.warns(KineloWarning, match=f"uses {said}, .* last bit"):
        play.user_functions_on_device(law, kn.model.AllPlayAll())
