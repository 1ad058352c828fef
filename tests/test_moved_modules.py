"""Import paths of 0.1 say where their modules went."""

from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["ratings", "ratings.elo", "stationary", "stationary.limit"])
def test_modules_of_the_first_version_say_where_they_went(name):
    room = name.split(".")[0]
    with pytest.raises(ModuleNotFoundError, match=rf"kinelo\.{room} became kinelo\.\w+.* have not moved\.$"):
        import_module(f"kinelo.{name}")


def test_what_never_was_is_not_found_as_ever():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'kinelo\.nonsense'"):
        import_module("kinelo.nonsense")
