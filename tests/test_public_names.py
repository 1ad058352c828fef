"""The public names: each exists, loads on demand, and is known to type checkers; names that moved say where to."""

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import kinelo as kn

PACKAGES = sorted(name for name in kn._PACKAGES if hasattr(import_module(f"kinelo.{name}"), "_MODULE_OF"))


@pytest.mark.parametrize("name", kn.__all__)
def test_every_public_name_exists(name):
    assert getattr(kn, name) is not None
    assert name in dir(kn)


def test_most_people_need_at_most_sixty():
    """Laws but those of every example, result classes, set-ups of the paper and tables live in their modules."""
    assert len(kn.__all__) <= 60


def seen_by_type_checkers(module) -> set[str]:
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for node in ast.walk(block) if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name for node in imports for alias in node.names}


def test_type_checkers_see_the_same_names():
    assert seen_by_type_checkers(kn) == (set(kn.__all__) - {"__version__"}) | kn._PACKAGES


@pytest.mark.parametrize(("package", "name"), [(where, name) for where in kn._MOVED for name in kn._MOVED[where]])
def test_a_name_that_moved_says_where_it_is_now(package, name):
    sentence = rf"^kinelo\.{name} is now kinelo\.{package}\.{name}; the old name goes with 1\.0\.$"
    with pytest.warns(DeprecationWarning, match=sentence) as warned:
        assert getattr(kn, name) is getattr(getattr(kn, package), name)
    assert name not in dir(kn) and warned[0].filename == __file__


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_hold_what_they_say(package):
    module = getattr(kn, package)
    assert seen_by_type_checkers(module) == set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name).__module__ == module._MODULE_OF[name]
    assert not set(module.__all__) & set(kn.__all__), "a name has one place"


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


def signatures():
    """Every public function, class and method, with its parameters."""
    places = [kn, *(getattr(kn, package) for package in PACKAGES)]
    for shown in (getattr(place, name) for place in places for name in place.__all__ if name not in ("__version__",)):
        if isinstance(shown, type):
            for name, method in inspect.getmembers(shown, inspect.isfunction):
                if not name.startswith("_") or name == "__init__":
                    yield f"{shown.__name__}.{name}", inspect.signature(method).parameters
        elif callable(shown):
            yield shown.__name__, inspect.signature(shown).parameters


EVENLY_SPACED = "homogeneous"
"""Without a seed its strengths are not random."""
TAKES_MATCHES = {
    "KalmanElo._play_out",
    "KalmanElo._possible_strengths",
    "PlayerElo._play_out",
    "PlayerElo._possible_strengths",
    "ScoreElo._play_out",
    "ScoreElo._possible_strengths",
}
"""What a rater offers to season and knockout, which always name the seed."""


def test_one_style_of_arguments():
    found = dict(signatures())
    seeds = {name: given["seed"].default for name, given in found.items() if "seed" in given}
    assert {"simulate", "season", "sample_league", "Backtest.differences"} < seeds.keys()
    assert {name for name, default in seeds.items() if default != 1} <= {EVENLY_SPACED, *TAKES_MATCHES}
    told = {name: given["progress"] for name, given in found.items() if "progress" in given}
    assert told.keys() == {"simulate", "solve", "sweep", "audit", "backtest"}
    assert {(one.annotation, one.default) for one in told.values()} == {("Progress", False)}
    for other in ("simulations", "replications", "repetitions", "n_simulations"):
        assert not [name for name, given in found.items() if other in given], "it is called realisations"


@pytest.mark.parametrize("progress", [True, []], ids=["shown", "told"])
def test_progress_is_shown_or_told(progress, capfd):
    said = progress if progress is True else progress.append
    system, league = kn.RatingSystem(kn.Tanh(nu=0.5)), kn.Normal([4.0, 7.0], 1.0)
    kn.simulate(system, league, steps=3, progress=said)
    shown = capfd.readouterr().err
    if progress is True:
        assert "Playing matches" in shown and "100%" in shown
    else:
        assert shown == "" and progress[-1] == "Playing matches: 100 %"


def test_a_public_name_without_a_type_is_named():
    """``make types`` takes pyright's report: public names and what they inherit count, other modules do not."""
    path = Path(__file__).parent.parent / ".ci" / "public_types.py"
    spec = spec_from_file_location("public_types", path)
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    public = script.homes()
    assert {"kinelo.raters.kalman.rater.KalmanElo", "kinelo.raters.gaussian.GaussianRater"} <= public
    assert "kinelo.raters.team.rater.ClassicElo" not in public

    def symbol(name, known, ambiguous):
        said = [{"message": "Type is\nmissing"}]
        return {"name": f"kinelo.{name}", "isTypeKnown": known, "isTypeAmbiguous": ambiguous, "diagnostics": said}

    told = [
        symbol("raters.kalman.rater.KalmanElo.fit", True, False),
        symbol("raters.gaussian.GaussianRater.surprises", False, False),
        symbol("raters.gaussian.GaussianRater.__init__", True, True),
        symbol("raters.gaussian.GaussianRater._state", False, False),
        symbol("raters.gaussian.LANES", False, False),
    ]
    count, lines = script.lacking({"typeCompleteness": {"symbols": told}}, public)
    assert count == 3
    assert lines == [
        f"kinelo.raters.gaussian.GaussianRater.{name}: Type is missing" for name in ("surprises", "__init__")
    ]


def test_pictures_show_nothing_but_themselves():
    assert set(dir(kn.plot)) == set(kn.plot.__all__) and "draw_audit" not in dir(kn.plot)


@pytest.mark.parametrize("rater", [kn.TeamElo(), kn.TeamElo.classic(), kn.RankElo(), kn.PlayerElo()])
def test_a_rater_shows_what_is_asked_by_whoever_rates(rater):
    shown = set(dir(rater))
    assert {"fit", "update", "predict", "ratings_", "predict_one", "parameters_", "get_params"} <= shown
    assert (rater._slots is not None) == isinstance(rater, kn.TeamElo | kn.RankElo | type(kn.TeamElo.classic()))
