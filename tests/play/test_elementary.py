"""The elementary functions against the library's, and every formula against itself in plain Python."""

import ast
import importlib
import math
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import numba
import numpy as np
import pytest
from scipy.special import erf, ndtri

from kinelo.micro import kernels
from kinelo.model import strength
from kinelo.model.outcome import LOGISTIC, PROBIT
from kinelo.model.pairing import LOCAL, WINDOW
from kinelo.play import (
    arithmetic,
    deviations,
    elementary,
    formula,
    laws,
    motion,
    pairs,
    performances,
    steps,
    stream,
)
from kinelo.play.arithmetic import PLAIN

PLAINLY = formula.bind(PLAIN)


def units_in_the_last_place(mine, exact):
    return np.abs(np.asarray(mine) - exact) / np.spacing(np.abs(exact))


def test_the_exponential_is_accurate_to_a_unit_in_the_last_place():
    y = np.concatenate([np.linspace(-699, 0, 5_001), -np.logspace(-12, 0, 501)])
    assert units_in_the_last_place([elementary.exp_negative(v) for v in y], np.exp(y)).max() <= 2


def test_the_logarithm_is_accurate_to_a_unit_in_the_last_place():
    x = np.concatenate([np.logspace(-300, 300, 4_001), np.linspace(0.5, 2, 4_001), 2.0 ** np.arange(-53, 5)])
    x = x[x != 1]
    assert units_in_the_last_place([elementary.log_of(v) for v in x], np.log(x)).max() <= 1
    assert elementary.log_of(1.0) == 0.0


def test_erf_is_accurate_to_two_units_in_the_last_place():
    x = np.concatenate([np.linspace(-8, 8, 8_001), np.logspace(-300, 0, 1_001), [0.0, 1e300, np.nextafter(1, 0), 1.0]])
    x = x[x != 0]
    mine = np.array([elementary.erf_of(v) for v in x])
    assert units_in_the_last_place(mine, erf(x)).max() <= 3  # the library's own is off by one now and then
    assert math.copysign(1, elementary.erf_of(-0.0)) == -1
    assert (np.diff(mine[:8_000]) >= 0).all()


def test_the_quantile_of_the_normal_law_inverts_its_distribution():
    v = np.concatenate([np.linspace(-0.4999, 0.4999, 4_001), 0.5 - np.logspace(-15.5, -1, 1_001)])
    v = v[v != 0]
    mine = np.array([elementary.quantile(x) for x in v])
    lower = 0.5 - np.abs(v)  # exact: the tail that the library is asked for loses nothing
    exact = np.copysign(-ndtri(lower), v)
    far = np.abs(v) > 0.01  # near ½ it is the library that cancels
    np.testing.assert_allclose(mine[far], exact[far], rtol=1e-14)
    np.testing.assert_allclose(mine[~far], v[~far] * math.sqrt(2 * math.pi), rtol=2e-4)
    assert elementary.quantile(-0.3) == -elementary.quantile(0.3)
    assert elementary.quantile(0.25) == pytest.approx(NormalDist().inv_cdf(0.75), rel=1e-15)
    assert elementary.quantile(0.5 - 2.0**-53) == pytest.approx(8.209536151601387, rel=1e-15)


def test_a_small_quantile_is_odd_and_exact_to_third_order():
    """Φ⁻¹(½ + v) = √(2π) v (1 + π v²/3 + 7π² v⁴/30 + …)."""
    for v in (1e-12, 1e-6, 1e-3):
        series = math.sqrt(2 * math.pi) * v * (1 + math.pi * v * v / 3 + 7 * math.pi**2 * v**4 / 30)
        assert elementary.quantile(v) == pytest.approx(series, rel=1e-15)


def test_centred_uniforms_are_never_a_half_and_as_often_v_as_minus_v():
    largest, least = stream.centred(np.uint64(2**64 - 1)), stream.centred(np.uint64(0))
    assert largest == -least == 0.5 - 2.0**-53
    assert Fraction(stream.centred(np.uint64(1 << 63))) == Fraction(1, 2**53)


@pytest.mark.parametrize("z", [-300.0, -3.3, -0.7, -0.0, 0.0, 1e-9, 0.4, 1.0, 2.5, 80.0])
def test_formulas_give_the_same_bytes_compiled_and_in_plain_python(z):
    for name, leading in {
        "tanh_of": [()], "erf_of": [()], "logistic": [(0.5, 0.0), (0.3, 1.7)], "davidson": [(0.5, 0.0), (0.3, 1.7)],
        "expected": [(LOGISTIC, 0.5, 0.2), (PROBIT, 0.5, 0.0)],
        "match_law": [(LOGISTIC, 0.5, 0.2), (PROBIT, 0.5, 0.0)],
        "tie_chance": [(LOGISTIC, 0.5, 0.2), (PROBIT, 0.5, 0.0)],
        "davidson_chances": [(0.0,), (1.7,)], "points_scale": [(0.3,)],
        "acceptance": [(LOCAL, 0.0, 0.0), (WINDOW, 2.0, 0.0), (WINDOW, 2.0, 0.3)],
    }.items():  # fmt: skip
        compiled = getattr(elementary, name, None) or getattr(laws, name)
        for arguments in leading:
            assert repr(compiled(*arguments, z)) == repr(getattr(PLAINLY, name)(*arguments, z)), name


@pytest.mark.parametrize("kind", [strength.FIXED, strength.NORMAL, strength.LOTTERY, strength.EMPIRICAL])
def test_performances_are_the_same_compiled_and_in_plain_python(kind):
    values, table = np.array([[1.0, 2.0, 4.0]]), np.array([[[0.0, 0.3, 0.6], [0.0, 0.5, 0.9], [1.1, 1.0, 1.0]]])
    if kind == strength.EMPIRICAL:
        table = np.array([[[0.2], [0.7], [1.0]]])
    for seed in range(20):
        bits = np.uint64(seed * 0x9E3779B97F4A7C15 % 2**64)
        arguments = (kind, values, table, 2, np.uint64(0), bits, np.uint64(1))
        with np.errstate(over="ignore"):
            assert performances.performance(*arguments) == PLAINLY.performance(*arguments)


def test_formulas_call_no_library_whose_bytes_differ_between_machines():
    """``sqrt``, ``copysign``, ``floor`` round the same everywhere; a library's exp, log, erf, cos do not."""
    for module in (deviations, elementary, laws, motion, pairs, performances, steps, stream):
        tree = ast.parse(Path(module.__file__).read_text())
        called = {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "math"
        }
        assert called <= {"sqrt", "copysign", "pi"}
        assert not any(isinstance(node, ast.Pow) for node in ast.walk(tree) if module is not stream)


def test_bound_formulas_call_one_another_and_the_targets_operations():
    counted = []
    operations = {old: lambda *a, new=new: counted.append(new) or new(*a) for old, new in PLAIN.operations.items()}
    bound = formula.bind(arithmetic.Target(PLAIN.compile, operations))
    bound.expected(LOGISTIC, 0.5, 0.3, 1.0)
    assert len(counted) == 2


@contextmanager
def processes(folder):
    """Run lines of code in this folder, each in a process of its own, and return the words it prints.

    All of them are forks of one that has loaded what they need of Kinelo and Numba, and no kernel.
    """
    fork = """
import importlib, os, sys, kinelo.play.formula
for line in sys.stdin:
    if not os.fork():
        importlib.invalidate_caches()
        exec(line)
        sys.stdout.flush()
        os._exit(0)
    if os.wait()[1]:
        print(flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-B", "-c", fork], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder,
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder / "code")},
    ) as process:  # fmt: skip

        def ask(code):
            process.stdin.write(code + "\n")
            process.stdin.flush()
            return process.stdout.readline().split()

        yield ask


def test_code_on_disk_is_used_with_the_sources_that_made_it_only(tmp_path):
    """A kernel whose own file stays as it is, and a part of it that another file holds."""
    (tmp_path / "loops.py").write_text(
        "from kinelo.play.formula import kernel\nfrom parts import part\n\n@kernel\ndef loop(x):\n    return part(x)\n"
    )

    question = "from loops import loop; print(loop(1.5), sum(loop.stats.cache_hits.values()))"

    def run(factor):
        (tmp_path / "parts.py").write_text(
            f"from kinelo.play.formula import inlined\n\n@inlined\ndef part(x):\n    return {factor} * x\n"
        )
        return ask(question)

    with processes(tmp_path) as ask:
        assert [run(2), run(4), run(2)] == [["3.0", "0"], ["6.0", "0"], ["3.0", "1"]]


def test_code_on_disk_that_names_a_class_of_elsewhere_is_made_anew(tmp_path):
    """A class of arguments moves to another module, and is renamed there; files of the loop stay as they are."""
    (tmp_path / "loops.py").write_text(
        "from kinelo.play.formula import kernel\n\n@kernel\ndef loop(state):\n    return 2.0 * state.x + state.y\n"
    )

    def run(module, name):
        for old in tmp_path.glob("state_*.py"):
            old.unlink()
        (tmp_path / f"{module}.py").write_text(
            f"from typing import NamedTuple\n\nclass {name}(NamedTuple):\n    x: float\n    y: float\n"
        )
        question = (
            f"from loops import loop; from {module} import {name}; print(loop({name}(1.5, 4.0)), "
            "sum(loop.stats.cache_hits.values()))"
        )
        return ask(question)

    moves = [("state_a", "Point"), ("state_b", "Point"), ("state_b", "Place"), ("state_b", "Place")]
    with processes(tmp_path) as ask:
        assert [run(*move) for move in moves] == [["7.0", "0"], ["7.0", "0"], ["7.0", "0"], ["7.0", "1"]]


def test_code_on_disk_is_that_of_one_version(monkeypatch):
    """Stored code names the classes of its arguments, which the next version may call otherwise."""
    loop = kernels.play_table.py_func
    before = formula.digest(loop)
    monkeypatch.setattr(formula, "__version__", "9.9.9")
    assert formula.digest(loop) != before


LOOPS = """
from kinelo.play.formula import kernel
from {0}_parts import part
from {0}_table import WIDTH, Table

@kernel
def loop(x):
    return part(x) + later(x) * WIDTH

def checks(x):
    return Table(x)

@kernel
def later(x):
    return x
"""
PARTS = """
from kinelo.play.formula import inlined
from {0}_deeper import NODES, deeper

@inlined
def part(x):
    return deeper(x) * NODES[0]
"""
DEEPER = """
import numpy as np
from kinelo.play.formula import inlined

NODES = np.array([1.0, 2.0])

@inlined
def deeper(x):
    return x
"""
TABLE = "WIDTH = 3\nSIZES = (1, 2)\n\nclass Table(int):\n    more = 1\n"


def test_the_name_of_code_follows_what_is_compiled_and_nothing_else(tmp_path, monkeypatch):
    """Each edit is made in a copy of four modules under names of their own; only what they hold can differ."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "code"))
    count = iter(range(100))

    def name_of_code(**texts):
        tag = f"reach{next(count)}"
        parts = {"loops": LOOPS, "parts": PARTS, "deeper": DEEPER, "table": TABLE} | texts
        for name, text in parts.items():
            (tmp_path / f"{tag}_{name}.py").write_text(text.replace("{0}", tag))
        module = importlib.import_module(f"{tag}_loops")
        return formula.digest(module.loop.py_func)

    monkeypatch.setattr(formula, "_source", lambda file: re.sub(r"reach\d+", "", Path(file).read_text()))
    before = name_of_code()
    assert name_of_code() == before, "the same sources give the same name"
    for text in (TABLE + "\nOTHER = 4\n", TABLE.replace("more = 1", "more = 2"), TABLE.replace("(1, 2)", "(1, 3)")):
        assert name_of_code(table=text) == before, "what the kernel's module does not name is not compiled"
    changed = [
        name_of_code(table=TABLE.replace("WIDTH = 3", "WIDTH = 4")),
        name_of_code(parts=PARTS.replace("deeper(x) *", "deeper(x) +")),
        name_of_code(deeper=DEEPER.replace("return x", "return 2.0 * x")),
        name_of_code(deeper=DEEPER.replace("[1.0", "[1.5")),
        name_of_code(loops=LOOPS.replace("part(x) +", "part(x) -")),
    ]
    assert len({before, *changed}) == 6


def test_kernels_are_named_apart_by_what_they_reach():
    """The loop of the simulator reaches the laws, a rater's filter does not; neither reaches tables of ratings."""
    from kinelo.raters import margins

    assert formula.digest(kernels.play_table.py_func) != formula.digest(margins.running_unit.py_func)


def test_other_libraries_keep_their_folder_for_compiled_code():
    before = numba.config.CACHE_DIR
    formula.kernel(lambda x: x)
    assert before == numba.config.CACHE_DIR
