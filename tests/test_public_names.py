"""The public names: each exists, loads on demand, and is known to type checkers; names that moved say where to."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import kinelo as kn

PACKAGES = sorted(name for name in kn._PACKAGES if hasattr(import_module(f"kinelo.{name}"), "_MODULE_OF"))


@pytest.mark.parametrize("name", kn.__all__)
def test_every_public_name_exists(name):
    assert getattr(kn, name) is not None
    assert name in dir(kn)


def test_most_people_need_about_sixty():
    """Result classes, set-ups of the paper, profiles and tables live in their modules."""
    assert len(kn.__all__) <= 75


def seen_by_type_checkers(module) -> set[str]:
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for node in ast.walk(block) if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name for node in imports for alias in node.names}


def test_type_checkers_see_the_same_names():
    assert seen_by_type_checkers(kn) == set(kn.__all__) - {"__version__"}


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_hold_what_they_say(package):
    module = getattr(kn, package)
    assert seen_by_type_checkers(module) == set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name).__module__ == module._MODULE_OF[name]
    assert not set(module.__all__) & set(kn.__all__), "a name has one place"


@pytest.mark.parametrize("name", kn._MOVED)
def test_names_that_moved_work_and_say_where_they_are(name):
    place = f"kinelo.{kn._MOVED[name]}"
    with pytest.warns(DeprecationWarning, match=f"^kinelo.{name} is now {place}.{name}; ") as caught:
        found = getattr(kn, name)
    assert found is getattr(import_module(place), name)
    assert name not in vars(kn), "the next use warns too"
    assert [warning.filename for warning in caught] == [__file__]


def test_packages_are_there_without_an_import_of_their_own():
    told = "import kinelo as kn, sys; assert 'kinelo.paper' not in sys.modules; print(kn.paper.setup_r2.__name__)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", told], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("setup_r2\n", "")


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'kinelo' has no attribute 'nonsense'"):
        _ = kn.nonsense
    with pytest.raises(AttributeError, match=r"module 'kinelo.theory' has no attribute 'nonsense'"):
        _ = kn.theory.nonsense


def test_every_public_name_is_listed_with_a_valid_call_of_it():
    from bad_input import CALLS, RESULTS, UNSWEPT

    public = set(kn.__all__) | {name for package in PACKAGES for name in getattr(kn, package).__all__}
    listed = {name.split(".")[0] for name in CALLS} | RESULTS | UNSWEPT
    assert public | {"NoStationaryState"} == listed | {"__version__"}, "list new names in tests/bad_input.py"
