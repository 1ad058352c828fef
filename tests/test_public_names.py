"""The public names: each exists, loads on demand, and is known to type checkers."""

import ast
from pathlib import Path

import pytest

import kinelo as kn


@pytest.mark.parametrize("name", kn.__all__)
def test_every_public_name_exists(name):
    assert getattr(kn, name) is not None
    assert name in dir(kn)


def test_type_checkers_see_the_same_names():
    tree = ast.parse(Path(kn.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.asname or alias.name
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == set(kn.__all__) - {"__version__"}


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = kn.nonsense


def test_every_public_name_is_listed_with_a_valid_call_of_it():
    from bad_input import CALLS, RESULTS, UNSWEPT

    listed = {name.split(".")[0] for name in CALLS} | RESULTS | UNSWEPT
    assert set(kn.__all__) - {"__version__"} == listed, "list new names in tests/bad_input.py, remove old ones"
