"""Numbers of the Rate tab: the page has an input for each, and what the page cannot send is refused in a sentence."""

import re
from pathlib import Path

import pytest

import kinelo.lab
from kinelo.errors import InputError
from kinelo.lab.rate.reading import RateNumbers, read_raised, read_rules

PAGE = Path(kinelo.lab.__file__).parent / "static" / "index.html"


def test_every_number_has_one_input_which_says_nothing_of_its_range():
    inputs = re.findall(r"<input[^>]*data-number[^>]*>", PAGE.read_text(encoding="utf-8"))
    assert sorted(re.findall(r'data-number="(\w+)"', " ".join(inputs))) == sorted(RateNumbers.controls())
    assert not any(re.search(r"\b(min|max|step|value)=", one) for one in inputs)


@pytest.mark.parametrize(
    ("name", "value"), [("k", 0.0), ("k", 1e6), ("least_matches", -1), ("win", True), ("points", 301)]
)
def test_numbers_beyond_the_page_are_refused(name, value):
    with pytest.raises(InputError, match=f"^{'K' if name == 'k' else name} must"):
        RateNumbers.number(name, value)


def test_rules_and_raised_sides_are_numbers_by_name():
    assert read_rules({"win": 2, "draw": 0.5, "relegated": 0}) == {"win": 2.0, "draw": 0.5, "relegated": 0}
    assert read_raised({"Ann": -20}) == {"Ann": -20}
    for wrong in (None, [3, 1, 3], {"win": 3, "draw": 1}):
        with pytest.raises(InputError):
            read_rules(wrong)
    for wrong in ([1], {"Ann": "more"}, {str(k): 10 for k in range(201)}):
        with pytest.raises(InputError):
            read_raised(wrong)
