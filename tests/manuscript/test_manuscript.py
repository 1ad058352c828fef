"""The manuscript types no number, names functions that exist, cites what it lists, and fits on its pages."""

import importlib
import json
import re
import sys
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

import kinelo
from kinelo.paper.figure import read_figures

FOLDER = Path(__file__).parents[2] / "manuscript"
TEXT = (FOLDER / "kinelo.typ").read_text(encoding="utf-8")
SUMMARY = (FOLDER / "paper.md").read_text(encoding="utf-8")
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
    assert len(calls(*LOOKUPS)) > 90
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
    assert len(displayed) == len(calls("formula")) == len(re.findall(r"<eq:\w+>", TEXT)) > 12
    missing = [name for name in named_functions() if not exists(name)]
    assert missing == [] and len(named_functions()) > 15
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
    cited = {name: set(re.findall(r"@([a-z]+\d{4})", text)) for name, text in (("paper", TEXT), ("summary", SUMMARY))}
    assert sorted(listed) == sorted(cited["paper"] | cited["summary"])
    assert len(cited["paper"]) >= 25 and len(cited["summary"]) >= 10


def test_the_text_for_software_journals_has_its_parts_and_a_thousand_words():
    head, body = SUMMARY.split("---\n")[1:]
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(
        re.findall(r"^(\w+):", head, re.M)
    )
    assert [part for part in ("Summary", "Statement of need", "References") if f"\n# {part}\n" not in "\n" + body] == []
    words = re.sub(r"```.*?```", "", body, flags=re.S).split()
    assert 750 <= len(words) <= 1000
    for name in re.findall(r"kn\.(\w+)", body):
        assert hasattr(kinelo, name)


def test_the_count_of_statements_is_that_of_the_report():
    from kinelo.paper.catalogue import checks

    assert f"{len(checks())} of its statements" in SUMMARY


def test_what_is_proved_points_to_its_proof():
    """The word is followed by the appendix that holds the proof, but for the sentence that explains it."""
    uses = [TEXT[found.end() : found.end() + 20] for found in re.finditer(r'#kind\("proved"\)', TEXT)]
    assert len(uses) > 1 and all(re.match(r", @app:\w+\)", one) for one in uses[1:])


def test_every_set_of_matches_stands_with_its_source():
    """Retrosheet's notice, word for word, also beside the figure."""
    notice = "the information used here was obtained free of charge from and is copyrighted by Retrosheet"
    caption = re.search(r'#picture\("which_k", (.*)\)', TEXT)[1]
    statement = TEXT.split("= Data and code")[1].split("#show: appendix")[0]
    assert notice in caption and notice in statement
    assert all(
        one in statement
        for one in ("pappalardo2019", "hoopR-nba-data", "Fjelstul", "martj42", "Attribution-ShareAlike")
    )


def test_stored_results_belong_to_their_studies():
    """Of which state of the library is checked where the text is built: whoever changes it need not set the text."""
    from evidence import FUNCTIONS
    from store import read_result, stamp_of

    assert [name for name in FUNCTIONS if read_result(name)["stamp"] != stamp_of(name)] == []


SMALL = """
figure = 1
title = "Few ladders"
draw = "ladder"
[parameters]
nearest = [3]
k = [20, 50]
sides = 9
games = 400
spread = 199.0
leagues = 3
seed = 5
"""


@pytest.fixture
def small_store(tmp_path, monkeypatch):
    """A store with one small study."""
    import store

    for name in ("STUDIES", "RESULTS", "RUNS"):
        monkeypatch.setattr(store, name, tmp_path / name.lower())
    store.STUDIES.mkdir()
    (store.STUDIES / "ladder.toml").write_text(SMALL, encoding="utf-8")
    return store


def test_a_changed_study_or_library_is_stale_and_computed_anew(small_store, monkeypatch):
    (said,) = small_store.update()
    assert said.startswith("ladder: computed in ") and small_store.update() == []
    first = small_store.read_result("ladder")
    (small_store.STUDIES / "ladder.toml").write_text(SMALL + "# changed\n", encoding="utf-8")
    assert not small_store.is_fresh("ladder") and len(small_store.update()) == 1
    assert small_store.read_result("ladder")["values"] == first["values"]
    monkeypatch.setattr(small_store, "library_digest", lambda: "another")
    assert not small_store.is_fresh("ladder") and len(small_store.update()) == 1
    assert small_store.read_result("ladder")["library"] == "another"


def test_the_digest_is_of_every_module_and_of_what_it_holds(tmp_path, monkeypatch):
    import store

    (tmp_path / "deep").mkdir()
    for name in ("__init__.py", "deep/one.py"):
        (tmp_path / name).write_text("x = 1\n", encoding="utf-8")
    monkeypatch.setattr(store.kinelo, "__file__", str(tmp_path / "__init__.py"))
    digest = store.library_digest.__wrapped__
    before = digest()
    (tmp_path / "deep" / "one.py").write_text("x = 2\n", encoding="utf-8")
    after = digest()
    (tmp_path / "deep" / "one.py").rename(tmp_path / "deep" / "two.py")
    assert len({before, after, digest()}) == 3 and digest() == digest()


def test_what_is_stale_and_has_no_data_is_not_built(small_store, monkeypatch):
    import make
    from evidence import NoData

    def nothing(figure, again):
        raise NoData("The matches of clubs are not here.")

    monkeypatch.setattr(small_store, "_evaluate", nothing)
    monkeypatch.setattr(sys, "argv", ["make.py"])
    with pytest.raises(SystemExit, match=r"not here\. Stored results are of another state of Kinelo"):
        make.main()


def test_ladders_are_those_of_the_rater_of_the_library():
    """The ratings of one league at each K, rated again from its matches; who met whom, by strength and by rating."""
    import tomllib

    from evidence import measure_ladders, play_ladders

    p = tomllib.loads(SMALL)["parameters"]
    for by in ("strength", "rating"):
        played = play_ladders(p, 3, by)
        for place, k in enumerate(p["k"]):
            first, second, won = played.first[:, 1], played.second[place, :, 1], played.won[place, :, 1]
            assert (first != second).all()
            columns = {
                "date": [f"2020-01-01 00:{n // 60:02}:{n % 60:02}" for n in range(p["games"])],
                "home": [f"s{one}" for one in first], "away": [f"s{one}" for one in second],
                "result": [float(one) for one in won], "neutral": [1] * p["games"],
            }  # fmt: skip
            table = kinelo.TeamElo.classic(k=k).fit(kinelo.read_matches(columns)).ratings_
            found = dict(table.select("name", "rating").iter_rows())
            own = np.array([found[f"s{one}"] for one in range(p["sides"])])
            np.testing.assert_allclose(own - own.mean(), played.rating[place, 1], atol=1e-6)
            measured = measure_ladders(p, played)[place, :, 1]
            slope, level = np.polyfit(played.strength[1], own, 1)
            assert measured[1] == pytest.approx(slope) and abs(level - own.mean()) < 400
            assert measured[2] == pytest.approx(np.corrcoef(played.strength[1], own)[0, 1])
    near = [measure_ladders(p | {"leagues": 3}, play_ladders(p, c, "strength"))[0, 0].mean() for c in (1, 8)]
    assert near[0] < 0.2 < 0.4 < near[1]


def test_what_the_text_says_in_words_is_true_of_the_stored_numbers():
    from store import read_result

    few, ladder, k = (read_result(name)["values"] for name in ("few", "ladder", "which_k"))
    sizes = ("two", "three", "four", "six", "ten", "twenty", "forty")
    off = {one: abs(few[f"{one}.variance"]["value"] / few[f"{one}.noise"]["value"] - 1) for one in sizes}
    assert max(off, key=off.get) == "three" and few["two.variance"]["value"] < few["many"]["value"] / 2
    for one in ("clubs", "world cups", "basketball", "internationals", "baseball"):
        theory, backtest = k[f"{one}.theory"], k[f"{one}.measured"]
        assert theory["low"] < backtest["high"] and backtest["low"] < theory["high"]
    wanted = [k[f"{one}.measured"]["value"] for one in ("baseball", "internationals")]
    assert wanted[1] > 3 * wanted[0]
    ks = [ladder[f"k.{n}"]["value"] for n in (1, 2, 3, 4)]

    def along(by, name):
        return [ladder[f"{by}.{one}.{name}"]["value"] for one in ks]

    assert along("strength8", "loss") == sorted(along("strength8", "loss"))
    assert along("strength8", "shown") == sorted(along("strength8", "shown")) and max(along("strength8", "shown")) < 0.5
    assert int(np.argmin(along("rating8", "loss"))) == 2 and min(along("rating8", "rank")) > 0.9
    both = [ladder[f"strength3.{one}.loss"] for one in ks[1:3]]
    assert abs(both[0]["value"] - both[1]["value"]) < both[0]["error"] + both[1]["error"]


def test_the_text_is_set_on_seven_to_ten_pages(tmp_path):
    typst = pytest.importorskip("typst", reason="typst sets the manuscript: pip install kinelo[manuscript]")
    from drawings import draw_all

    assert len(draw_all()) == 5
    source = str(FOLDER / "kinelo.typ")
    once, again = (typst.compile(source, root=str(FOLDER)) for _ in range(2))
    assert once == again and once.startswith(b"%PDF")
    pages = json.loads(typst.query(source, "<pages>", field="value", one=True, root=str(FOLDER)))
    assert 7 <= pages <= 10
