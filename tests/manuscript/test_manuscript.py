"""The manuscript types no number, names functions that exist, cites what it lists, and fits on its pages."""

import importlib
import json
import re
import sys
from functools import reduce
from pathlib import Path

import pytest

import kinelo
from kinelo.paper.figure import read_figures

FOLDER = Path(__file__).parents[2] / "manuscript"
TEXT = (FOLDER / "kinelo.typ").read_text(encoding="utf-8")
STRING = r'"(?:[^"\\]|\\.)*"'
LOOKUPS = ("n", "pm", "span")


@pytest.fixture(scope="module", autouse=True)
def modules():
    """The manuscript's own modules, importable while these tests run."""
    sys.path.insert(0, str(FOLDER))
    yield
    sys.path.remove(str(FOLDER))


def without_code(text: str) -> str:
    """Prose and what else is printed: no strings, code in backquotes, labels, citations or formulas."""
    text = re.sub(r"//.*", "", text)
    text = re.sub(STRING, "", text)
    text = re.sub(r"`[^`]*`", "", text)
    text = re.sub(r"@[\w:.-]+", "", text)
    text = re.sub(r"<[a-z]+:[\w.-]+>|<pages>", "", text)
    return re.sub(r"\$[^$]*\$", "", text)


def typed_numbers(text: str) -> list[str]:
    """Digits in prose, and decimals in formulas; the width of intervals is a convention, not a finding."""
    prose = re.findall(r"\S*\d\S*", re.sub(r"\b95 %", "", without_code(text)))
    formulas = re.findall(r"\$([^$]*)\$", re.sub(STRING, "", text))
    return prose + [one for one in formulas if re.search(r"\d\.\d|\d{3}(?<!800)", one)]


def test_no_number_is_typed():
    assert typed_numbers(TEXT) == []


@pytest.mark.parametrize("typed", ["a slope of 0.762", "after 12 matches", "$gamma = 0.05$", "in #text(size: 3pt)[x]"])
def test_a_typed_number_is_found(typed):
    assert typed_numbers(f"{TEXT}\n{typed}") != []


def test_a_number_in_a_caption_or_between_lookups_is_found():
    assert typed_numbers('#picture("map", [The map of 40 sides])') == ["40"]
    assert typed_numbers('#n("map/nu:1") and 7 more, `k = 3`, @during2022, $K = 2 gamma$') == ["7"]


def calls(*names: str) -> list[tuple[str, str]]:
    """Name and first argument of every call of these functions."""
    return re.findall(rf"#({'|'.join(names)})\((\"(?:[^\"\\]|\\.)*\")", TEXT)


def test_every_string_is_a_lookup_or_a_name():
    """Nothing but keys, functions, pictures, kinds and files is written in quotes, so no number hides there."""
    spoken = re.findall(STRING, re.sub(r"\$[^$]*\$", "", TEXT))
    known = [argument for _, argument in calls(*LOOKUPS, "formula", "picture", "kind", "import", "bibliography")]
    settings = ['"style.typ"', '"ieee"']
    assert sorted(spoken) == sorted(known + settings)


def test_every_lookup_finds_a_stored_number_of_its_kind():
    assert len(calls(*LOOKUPS)) > 100
    for name, argument in calls(*LOOKUPS):
        study, key = json.loads(argument).split("/", 1)
        values = json.loads((FOLDER / "results" / f"{study}.json").read_text(encoding="utf-8"))["values"]
        entry = values[key.rpartition(":")[0]]
        assert entry["kind"] in ("computed", "simulated", "estimated", "given")
        assert name != "pm" or entry["error"] > 0
        assert name != "span" or entry["low"] <= entry["value"] <= entry["high"]
        assert entry["kind"] != "simulated" or entry["error"] >= 0


def exists(name: str) -> bool:
    """Whether a function, class or module of Kinelo has this dotted name."""
    first, *rest = name.split(".")
    if first == "StationaryState":
        return hasattr(importlib.import_module("kinelo.theory.state").StationaryState, *rest)
    try:
        reduce(getattr, rest, kinelo)
    except AttributeError:
        try:
            importlib.import_module(".".join(["kinelo", *rest]))
        except ImportError:
            return False
    return first in ("kn", "kinelo")


def named_functions() -> list[str]:
    margins = [json.loads(argument) for _, argument in calls("formula")]
    margins = [re.sub(r"\n(?=[.(])", "", one) for one in margins]
    names = [re.sub(r"\(.*\)", "", part) for one in margins for part in re.split(r"\n|, ", one)]
    return names + re.findall(r"`(kn\.[\w.]+)`", TEXT)


def test_every_formula_names_a_function_that_exists():
    displayed = re.findall(r"^(?:#formula\(.*?\))?\[?\$ .* <eq:\w+>\]?$", TEXT, re.MULTILINE)
    assert len(displayed) == len(calls("formula")) == len(re.findall(r"<eq:\w+>", TEXT)) > 15
    missing = [name for name in named_functions() if not exists(name)]
    assert missing == [] and len(named_functions()) > 25
    assert not exists("kn.statoinary") and not exists("kn.theory.worth_of_contests")


def test_every_picture_has_a_study_and_is_referred_to():
    from drawings import DRAWINGS
    from evidence import FUNCTIONS

    shown = [json.loads(argument) for _, argument in calls("picture")]
    assert sorted(shown) == sorted(DRAWINGS) == sorted(FUNCTIONS)
    assert sorted(figure.draw for figure in read_figures(FOLDER / "studies")) == sorted(shown)
    assert all(f"@figure:{name}" in TEXT for name in shown)


def test_references_are_those_that_are_cited():
    listed = re.findall(r"^@\w+\{(\w+),", (FOLDER / "references.bib").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(set(re.findall(r"@([a-z]+\d{4})", TEXT)))


def test_stored_results_belong_to_their_studies():
    """What rests on the benchmarks follows them at the next ``make manuscript``."""
    from store import is_fresh

    assert [name for name in ("map", "step", "few", "moving", "contests", "pairing", "ladder", "which_k")
            if not is_fresh(name)] == []  # fmt: skip


def test_a_changed_study_is_stale_and_only_that_is_computed(tmp_path, monkeypatch):
    import store

    text = (FOLDER / "studies" / "forecasts.toml").read_text(encoding="utf-8")
    for name, folder in (("STUDIES", tmp_path / "studies"), ("RESULTS", tmp_path / "results")):
        folder.mkdir()
        monkeypatch.setattr(store, name, folder)
    (tmp_path / "studies" / "forecasts.toml").write_text(text, encoding="utf-8")
    assert store.update() == ["forecasts: computed."] and store.update() == []
    first = store.read_result("forecasts")
    assert len(first["series"]["rows"]) > 40 and first["values"]["mlb.TeamElo.behind"]["low"] > 0
    (tmp_path / "studies" / "forecasts.toml").write_text(text + "# changed\n", encoding="utf-8")
    assert not store.is_fresh("forecasts") and store.update() == ["forecasts: computed."]
    assert store.read_result("forecasts")["values"] == first["values"]


def test_the_small_set_cannot_tell_players_from_teams_nor_from_the_best_of_the_others():
    """As the text says in words."""
    from store import read_result

    values = read_result("forecasts")["values"]
    for rater in ("PlayerElo", "trueskill"):
        assert values[f"wyscout.{rater}.behind"]["low"] < 0 < values[f"wyscout.{rater}.behind"]["high"]


def test_the_text_is_set_on_eight_to_twelve_pages(tmp_path):
    typst = pytest.importorskip("typst", reason="typst sets the manuscript: pip install kinelo[manuscript]")
    from drawings import draw_all

    assert len(draw_all()) == 9
    source = str(FOLDER / "kinelo.typ")
    once, again = (typst.compile(source, root=str(FOLDER)) for _ in range(2))
    assert once == again and once.startswith(b"%PDF")
    pages = json.loads(typst.query(source, "<pages>", field="value", one=True, root=str(FOLDER)))
    assert 8 <= pages <= 12
