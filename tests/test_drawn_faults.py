"""Faults drawn by lot (verification/drawn.py): what is drawn, what each kind does to a line, and which tests run."""

import ast
import multiprocessing
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "verification"))
import drawn  # noqa: E402
import mutants  # noqa: E402

CASES = {
    "comparison": ("x = a < b", {"x = a > b", "x = a <= b"}),
    "constant": ("x = 7", {"x = 8", "x = 6"}),
    "term dropped": ("x = a - b", {"x = a"}),
    "sign": ("x = a - b", {"x = a + b"}),
    "times and divided": ("x = a / b", {"x = a * b"}),
    "other function": ("x = np.maximum(a, b)", {"x = np.minimum(a, b)"}),
    "logic": ("x = a and b", {"x = ((a) or (b))", "x = (a)", "x = (b)"}),
    "other name": ("away = x.home", {"away = x.away"}),
    "square forgotten": ("x = a**2", {"x = (a)"}),
    "index": ("x = a[k]", {"x = a[k - 1]"}),
    "branch": ("x = a if b else c", {"x = a if True else c", "x = a if False else c"}),
    "statement dropped": ("raise a", {"pass"}),
    "option passed over": ("x = f(a, weights=b, axis=c)", {"x = f(a, weights=b)", "x = f(a, axis=c)"}),
    "order of rows": ("x = sorted(a, reverse=False)", {"x = sorted(a, reverse=True)"}),
}


def made(kind, text):
    edits = [edit for of in drawn.Places(text).edits.values() for edit in of if edit.kind == kind]
    return {drawn.apply(text, edit) for edit in edits}


@pytest.mark.parametrize("kind", CASES)
def test_a_kind_makes_its_faults_and_no_others(kind):
    text, expected = CASES[kind]
    assert made(kind, text) == expected


def test_every_kind_has_a_case():
    assert {*CASES, "number in a sentence"} == set(drawn.KINDS)


def test_what_is_no_code_stays():
    text = '"""Of 3 < 4."""\n\nif TYPE_CHECKING:\n    b = 7\n\n\ndef f(x: Literal[5]) -> "g[6]":\n    """Add 8."""\n'
    assert drawn.Places(text).edits == {}


def test_letters_of_several_bytes_do_not_shift_an_edit():
    assert made("sign", 'x = "größer", γ + σ') == {'x = "größer", γ - σ'}


SMALL = '''"""A package of one file."""

@formula
def square(x):
    return x * x + 1


@kernel
def loop(values):
    for k in range(values.size):
        values[k] = square(values[k])


def told(values):
    loop(values)
    if values.size > 3:
        raise InputError(f"{values.size:d} values are more than {3:d}.")
    return sorted(values)


def unrelated(a, b):
    return a - b


def outer(a):
    def show(b):
        return b + 1

    return show(a)


def user(a):
    return outer(a)


def stranger(page):
    page.show(3)
'''


@pytest.fixture
def small(tmp_path, monkeypatch):
    (tmp_path / "play").mkdir()
    (tmp_path / "play" / "small.py").write_text(SMALL, encoding="utf-8")
    (tmp_path / "other.py").write_text("a = b < c\n", encoding="utf-8")
    monkeypatch.setattr(drawn, "SOURCE", tmp_path)
    monkeypatch.setattr(drawn, "FUNCTIONS", drawn.Functions())


@pytest.mark.usefixtures("small")
def test_the_same_seed_draws_the_same_faults_and_another_one_others():
    first = drawn.draw(9, 7, "play/")
    assert first == drawn.draw(9, 7, "play/")
    assert first != drawn.draw(9, 8, "play/")
    assert {file for file, _ in first} == {"play/small.py"}
    assert {file for file, _ in drawn.draw(40, 7, "")} == {"play/small.py", "other.py"}


@pytest.mark.usefixtures("small")
def test_no_more_faults_are_drawn_than_there_are():
    assert len(drawn.draw(50, 1, "other")) == 2


@pytest.mark.usefixtures("small")
def test_drawn_faults_are_python_and_change_it():
    for _, edit in drawn.draw(20, 3, "play/"):
        assert ast.dump(ast.parse(drawn.apply(SMALL, edit))) != ast.dump(ast.parse(SMALL))


@pytest.mark.usefixtures("small")
def test_strata_are_drawn_for_themselves(monkeypatch):
    """Half of all draws, and a few by the lot over all lines: outside of these bounds in one of 10⁵ sets of seeds."""
    monkeypatch.setattr(drawn, "STRATA", {"number in a sentence": 0.1, "order of rows": 0.5})
    kinds = [drawn.draw(1, seed, "play/")[0][1].kind for seed in range(100)]
    assert 30 <= kinds.count("order of rows") <= 74
    assert 1 <= kinds.count("number in a sentence") <= 35


@pytest.mark.usefixtures("small")
def test_a_compiled_function_is_reached_through_who_calls_it(monkeypatch):
    reach = object.__new__(drawn.Reach)
    traced = {line: {"tests/play/test_small.py::test_told"} for line in range(15, 19)} | {
        22: {"tests/test_other.py::test"}
    }
    monkeypatch.setattr(drawn.Reach, "by_line", lambda self, file: traced)
    monkeypatch.setattr(drawn.Reach, "recorded", lambda self, file: SMALL.splitlines())
    assert reach.of_line("play/small.py", 5) == {"tests/play/test_small.py::test_told"}  # square ← loop ← told
    assert reach.of_line("play/small.py", 11) == {"tests/play/test_small.py::test_told"}
    assert reach.of_line("play/small.py", 22) == {"tests/test_other.py::test"}


@pytest.mark.usefixtures("small")
def test_a_function_inside_another_is_reached_through_who_calls_the_outer_one(monkeypatch):
    """Not through everything that is called by the same name."""
    reach, lines = object.__new__(drawn.Reach), SMALL.splitlines()
    traced = {lines.index("    return outer(a)") + 1: {"of user"}, lines.index("    page.show(3)") + 1: {"of stranger"}}
    monkeypatch.setattr(drawn.Reach, "by_line", lambda self, file: traced)
    monkeypatch.setattr(drawn.Reach, "recorded", lambda self, file: lines)
    assert reach.of_line("play/small.py", lines.index("        return b + 1") + 1) == {"of user"}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A package of one line; of its tests one notices a fault in it, one fails in any case, one cannot be read."""
    files = {
        "src/kinelo/__init__.py": "LIMIT = 7\n",
        "tests/test_own.py": "import kinelo\n\n\ndef test_sound():\n    assert kinelo.LIMIT == 7\n\n\n"
        "def test_blind():\n    pass\n\n\ndef test_broken():\n    assert kinelo.LIMIT > 9\n",
        "tests/test_unreadable.py": "import nowhere\n\n\ndef test():\n    pass\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr(mutants, "FORKS", multiprocessing.get_context("spawn"))
    return tmp_path


@pytest.mark.parametrize(
    ("tests", "outcome", "failing"),
    [
        (["own.py::test_blind", "unreadable.py::test", "own.py::test_broken", "own.py::gone", "own.py::test_sound"],
         mutants.KILLED, {"unreadable.py::test", "own.py::test_broken", "own.py::gone"}),
        (["own.py::test_broken", "own.py::test_blind"], mutants.SURVIVED, {"own.py::test_broken"}),
        (["own.py::test_broken"], mutants.BROKEN, {"own.py::test_broken"}),
    ],
)  # fmt: skip
def test_a_test_that_fails_in_any_case_notices_nothing(tree, tests, outcome, failing):
    named = tuple(f"test_{test}" for test in tests)
    fault = drawn.Drawn("__init__.py", 1, "", "LIMIT = 7", "LIMIT = 8", "LIMIT = 8\n", named)
    left_out, sound = set(), set()
    assert drawn.try_fault(tree, fault, left_out, sound) == outcome
    assert left_out == {f"test_{test}" for test in failing}
    assert sound == ({"test_own.py::test_sound"} if outcome == mutants.KILLED else set())


def test_a_share_leaves_out_what_no_sound_test_looked_at():
    """Two of three, not of four."""
    faults = [drawn.Drawn("play/a.py", line, "sign", "", "", "", ()) for line in range(3)]
    table = drawn.report(dict(zip(faults, [mutants.KILLED, mutants.KILLED, mutants.SURVIVED])))
    assert table.splitlines()[1].split()[:4] == ["play", "2", "3", "67%"]


def test_an_interval_of_a_share_holds_it():
    low, high = drawn.interval(65, 85)
    assert (low, high) == pytest.approx((0.665, 0.845), abs=0.005)  # 65 of 85, by an integral of its density
    assert drawn.interval(0, 9)[0] == 0.0 and drawn.interval(9, 9)[1] == 1.0


def test_faults_without_effect_stand_in_the_code_and_have_a_reason():
    """Those whose line has gone are taken out of the list."""
    for entry in tomllib.loads(drawn.EQUIVALENT.read_text(encoding="utf-8"))["fault"]:
        lines = [line.strip() for line in (drawn.SOURCE / entry["file"]).read_text(encoding="utf-8").splitlines()]
        assert entry["before"] in lines and entry["after"] != entry["before"] and len(entry["reason"]) > 20
