"""Every number that a law, a schedule, a step rule or a motion takes is checked, by its own name."""

import dataclasses
import math

import pytest

import kinelo as kn

LAWS = [
    kn.Tanh(nu=0.5), kn.model.Probit(0.5), kn.model.Davidson(nu=0.5, kappa=0.7), kn.model.Window(c=2.0),
    kn.model.LooseWindow(c=2.0, far=0.3), kn.model.Period(matches=7), kn.model.Field(size=3),
    kn.model.FallingSteps(0.05, boost=2.0, matches=30), kn.model.DeviationSteps(0.1, 1.5),
    kn.model.Walk(0.02), kn.model.Form(rate=0.02, spread=1.5), kn.model.Learning(alpha=0.6, beta=0.2, diffusion=0.4),
]  # fmt: skip
NUMBERS = [
    (law, field.name)
    for law in LAWS
    for field in dataclasses.fields(law)
    if isinstance(getattr(law, field.name), int | float) and not isinstance(getattr(law, field.name), bool)
]


@pytest.mark.parametrize("value", [math.nan, -1.5, math.inf, "2", True, None], ids=repr)
@pytest.mark.parametrize(("law", "name"), NUMBERS, ids=[f"{type(law).__name__}.{name}" for law, name in NUMBERS])
def test_what_is_no_such_number_is_refused_by_its_name(law, name, value):
    if name == "largest" and value is None:
        pytest.skip("without one there is none")
    given = {field.name: getattr(law, field.name) for field in dataclasses.fields(law) if field.init}
    with pytest.raises(kn.InputError) as refused:
        type(law)(**given | {name: value})
    assert name in str(refused.value)


@pytest.mark.parametrize(("law", "name"), NUMBERS, ids=[f"{type(law).__name__}.{name}" for law, name in NUMBERS])
def test_a_number_is_kept_as_one(law, name):
    """2 and 2.0 make the same law, which prints the same."""
    value = getattr(law, name)
    if isinstance(value, int):
        assert type(value) is int
        return
    given = {field.name: getattr(law, field.name) for field in dataclasses.fields(law) if field.init}
    whole = 3 if name == "largest" else 1
    one, two = (type(law)(**given | {name: kind(whole)}) for kind in (int, float))
    assert one == two and repr(one) == repr(two) and type(getattr(one, name)) is float
