"""The list of faults for verification/mutants.py: every one still finds its line, and the tests that guard it."""

import ast
import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]
FAULTS = runpy.run_path(str(ROOT / "verification" / "mutants.py"))["read_list"]()


def said(fault):
    return f"{fault.file}: {fault.name}"


def test_every_fault_finds_its_text_once_and_changes_it():
    assert len(FAULTS) > 200
    assert [said(fault) for fault in FAULTS if not fault.fits(ROOT) or fault.find == fault.replace] == []
    assert len({(fault.file, fault.find, fault.replace) for fault in FAULTS}) == len(FAULTS)


def source(fault):
    return fault.path(ROOT).read_text(encoding="utf-8")


def parses(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def files_with_faults(faults):
    """Files, each with as many faults at once as leave each other's text alone: one by one takes longer."""
    while faults:
        texts, later = {}, []
        for fault in faults:
            text = texts.get(fault.file) or source(fault)
            if text.count(fault.find) == 1:
                texts[fault.file] = fault.put_into(text)
            else:
                later.append(fault)
        yield from texts.items()
        faults = later


def test_python_with_a_fault_is_still_python():
    """A slip of grammar is noticed by any test, and says nothing of those that are named."""
    in_python = [fault for fault in FAULTS if fault.file.endswith(".py") and fault.fits(ROOT)]
    doubtful = {file for file, text in files_with_faults(in_python) if not parses(text)}
    looked_at = [fault for fault in in_python if fault.file in doubtful]
    assert [said(fault) for fault in looked_at if not parses(fault.put_into(source(fault)))] == []


def exists(test):
    """Whether a folder, a file or a single test (``file.py::test``) stands below ``tests``."""
    file, _, name = test.partition("::")
    path = ROOT / "tests" / file
    if not name:
        return any(path.rglob("test_*.py")) if path.is_dir() else path.is_file()
    defined = rf"^def {re.escape(name.partition('[')[0])}\("
    return path.is_file() and re.search(defined, path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def test_the_tests_of_every_fault_exist():
    assert [said(fault) for fault in FAULTS if not fault.tests] == []
    assert sorted({test for fault in FAULTS for test in fault.tests if not exists(test)}) == []
