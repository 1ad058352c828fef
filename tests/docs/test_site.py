"""The site without building it: every page is listed, every link and anchor leads somewhere, the reference is whole."""

import os
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import kinelo as kn
from kinelo.cli.commands import commands_by_name
from kinelo.studies.study import Study

griffe = pytest.importorskip("griffe", reason="needs kinelo[docs]")
yaml = pytest.importorskip("yaml", reason="needs kinelo[docs]")
pytest.importorskip("latex2mathml", reason="needs kinelo[docs]")
from site_tools import alone, command_page, equations, history_page, links, mathematics, reference, study_page  # noqa: E402
from site_tools.roles import Roles, shown  # noqa: E402

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def listed(entry) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    return [page for part in (entry.values() if isinstance(entry, dict) else entry) for page in listed(part)]


@cache
def made_pages() -> set[str]:
    notebooks = {source.relative_to(DOCS).with_suffix(".md").as_posix() for source in DOCS.rglob("*.py")}
    project = {f"project/{name}.md" for name in ("changelog", "contributing", "benchmarks", "measured", "history")}
    return (
        notebooks
        | project
        | set(reference.pages())
        | {"reference/study-file.md", "reference/commands.md", "gallery-paper.md"}
    )


def test_every_page_is_in_the_navigation_once():
    nav = listed(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    written = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert len(nav) == len(set(nav))
    assert set(nav) == written | made_pages(), "list new pages under nav in mkdocs.yml"


def anchors(text: str) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower()) for title in titles}


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")) + sorted(DOCS.rglob("*.py")), ids=lambda page: page.name)
def test_links_and_anchors_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", re.sub(r"`[^`\n]*`", "", page.read_text(encoding="utf-8"))):
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        name, _, anchor = target.partition("#")
        goal = (page.parent / name).resolve() if name else page
        assert goal.exists(), f"{page.name} points to {target}, which is not in a clone"
        if anchor and goal.suffix == ".md":
            assert anchor in anchors(goal.read_text(encoding="utf-8")), f"{page.name} points to {target}"


def test_every_public_name_is_in_the_reference():
    text = "".join(reference.pages().values())
    listed = reference.public_names()
    assert {f"kn.{name}" for name in set(kn.__all__) - {"__version__", "plot"}} < listed.keys()
    assert {"kn.theory.StationaryState", "kn.matches.League", "kn.errors.NoStationaryState"} < listed.keys()
    assert {f"kn.plot.{name}" for name in kn.plot.__all__} < listed.keys()
    for typed, module in listed.items():
        assert text.count(f"[`{typed}`][{module}.{typed.split('.')[-1]}]") == 2, typed
        assert text.count(f'heading: "{typed}"') == 1, typed


def test_the_list_of_every_name_is_in_order():
    names = re.findall(r"\[`(kn\.\S+)`\]", reference.pages()["reference/names.md"])
    top = [name for name in names if name.count(".") == 1]
    assert names[: len(top)] == top == sorted(top, key=str.lower)
    assert names[len(top) :] == sorted(names[len(top) :], key=str.lower)


def test_every_public_name_has_an_example():
    """An audit takes seconds: its result is shown where it is made."""
    for name, module in reference.public_names().items():
        if name in ("kn.advice.Audit", "kn.advice.ContestAudit") or name.startswith("kn.plot."):
            continue
        shown = getattr(import_module(module), name.split(".")[-1])
        parts = [shown, *(getattr(shown, part) for part in vars(shown))] if isinstance(shown, type) else [shown]
        assert any(">>>" in (part.__doc__ or "") for part in parts), f"{name} has no example that runs"


def test_every_law_and_verb_of_the_model_has_its_equation():
    public = {shown.split(".")[-1]: module for shown, module in reference.public_names().items()}
    assert equations.EQUATIONS.keys() <= public.keys()
    laws = {name for name, home in public.items() if home.startswith("kinelo.model.")}
    verbs = {
        name
        for name, home in public.items()
        if home.split(".")[1] in ("micro", "macro", "theory", "advice")
        and not isinstance(getattr(import_module(home), name), type)
    }
    assert laws | verbs <= equations.EQUATIONS.keys()
    for _, place in equations.EQUATIONS.values():
        if place.startswith("["):
            page, _, anchor = place.partition("](../")[2].rstrip(")").partition("#")
            assert not anchor or anchor in anchors((DOCS / page).read_text(encoding="utf-8")), place
            assert (DOCS / page).exists(), place


def test_a_public_name_from_an_unlisted_package_is_refused(monkeypatch):
    monkeypatch.delitem(reference.PACKAGES, "model")
    with pytest.raises(LookupError, match="no page for model"):
        reference.pages()


def test_every_command_and_option_is_in_the_reference():
    text = command_page.page()
    for name in commands_by_name():
        assert f"## kinelo {name}\n" in text
    assert "`--figure`, `-f` `NUMBER`" in text
    assert "One of `full`, `quick`." in text


def test_every_key_of_a_study_is_in_the_reference():
    text = study_page.page()
    for key, field in Study.model_fields.items():
        assert f"| `{key}` |" in text
        for section in study_page.sections(field.annotation):
            assert study_page.table(section) in text
    assert "| `matches_per_step` | whole number | `25` | ≥ 1 |" in text
    assert "| `kappa` | number | required | ≥ 0 |" in text and "| `rate` | number | required | > 0 |" in text


def test_examples_and_roles_of_docstrings_become_markdown():
    assert shown("See :func:`~kinelo.solve`.\n\n>>> 1 + 1\n2\n\nEnd.") == (
        "See `kinelo.solve`.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nEnd."
    )
    assert shown("Law\n\n.. math:: b(z) = z ,\n\nso that") == "Law\n\n```latex\nb(z) = z ,\n```\n\nso that"
    assert shown("Examples\n--------\n>>> 1\n1") == "Examples\n--------\n>>> 1\n1"


def test_the_site_builds_without_a_warning(tmp_path):
    """Everything but what is computed and drawn: pages, navigation, links, anchors and names of the code."""
    hooks = pytest.importorskip("site_tools.hooks", reason="mkdocs is not installed")
    environment = os.environ | {hooks.STRUCTURE: "1", "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    made = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    assert (tmp_path / "site" / "gallery-paper.html").exists()


def test_links_to_sources_lead_to_the_pages_made_of_them():
    """Every file or folder outside docs, and every notebook, that a page links to has a page on the site."""
    made = made_pages()
    for page in [*DOCS.rglob("*.md"), *DOCS.rglob("*.py")]:
        there = links.for_the_site(page.read_text(encoding="utf-8"), page.relative_to(DOCS).as_posix())
        for target in links.LINK.findall(re.sub(r"`[^`\n]*`", "", there)):
            goal = (page.parent / target).resolve()
            if "://" not in target and goal.suffix == ".md" and not goal.exists():
                assert goal.relative_to(DOCS).as_posix() in made, f"{page.name}: {target}"
            assert "://" in target or goal.is_relative_to(DOCS), f"{page.name}: {target} leads out of the site"
    assert links.for_the_site("[a](../../CHANGELOG.md#x) [b](gpu.py)", "tutorials/sweep.md") == (
        "[a](../project/changelog.md#x) [b](gpu.md)"
    )


def test_equations_are_typeset():
    fences = 0
    for page in DOCS.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        fences += text.count("```math")
        shown = mathematics.typeset(text)
        assert "```math" not in shown
        for block in re.findall(r'<div class="equation">(.*?)</div>', shown):
            assert "<math" in block and "\\" not in block, f"{page.name}: {block}"
    assert fences >= 6
    [row] = re.findall(r"<math.*</math>", mathematics.typeset("```math\n\\frac{s^2}{2 \\omega}\n```"))
    assert re.sub(r"<[^>]+>", " ", row).split() == ["s", "2", "2", "&#x003C9;"]


def test_names_are_found_by_their_words():
    """The separator cuts names where people put a space; the search lowers all words and looks for their beginnings."""
    loader = yaml.SafeLoader((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    [search] = [one["search"] for one in loader.get_data()["plugins"] if isinstance(one, dict) and "search" in one]
    cut = lambda text: [part.lower() for part in re.split(search["separator"], text) if part]  # noqa: E731
    assert cut("kn.unbiased_gamma") == ["kn", "unbiased", "gamma"] == ["kn", *cut("unbiased gamma")]
    assert cut("BradleyTerry") == cut("bradley terry")
    assert cut("kinelo.theory.moving.best.best_gamma(system)")[-3:] == ["best", "gamma", "system"]


def test_versions_are_compared_by_what_was_measured():
    text, picture = history_page.page()
    for release in history_page.releases():
        for task, measure in release["measures"].items():
            [row] = [line for line in text.splitlines() if line.startswith(f"| {task} |")]
            cell = row.split("|")[2 + [one["version"] for one in history_page.releases()].index(release["version"])]
            number, unit = cell.split()
            scale = {"ms": 1e-3, "s": 1.0, "ns": 1.0}[unit]
            assert float(number) * scale == pytest.approx(measure["value"], rel=0.01)
    lines = history_page.picture(history_page.releases()).axes[0].lines[:-1]
    known = history_page.releases()
    for line, task in zip(lines, known[0]["measures"], strict=True):
        first = known[0]["measures"][task]["value"]
        assert list(line.get_ydata()) == [one["measures"][task]["value"] / first for one in known]
    assert picture.startswith(b"\x89PNG")


def test_what_became_slower_is_said_with_its_reason():
    def release(version, **values):
        return {"version": version, "measures": {name: {"value": value, "unit": "s"} for name, value in values.items()}}

    known = [release("0.1.0", a=2.0, b=1.0, c=3.0), release("0.2.0", a=1.0, b=1.5, c=3.0)]
    assert history_page.slower(known) == ""
    known.append(release("0.3.0", a=1.7, b=1.5, c=2.0))
    [line] = [one for one in history_page.slower(known).splitlines() if one.startswith("-")]
    assert line.startswith("- **a**: 1.7 s, 1 s in 0.2.0. ")


def test_what_is_loaded_from_elsewhere_is_found(tmp_path):
    page = tmp_path / "index.html"
    page.write_text('<a href="https://doi.org/1">text</a><script src="own.js"></script><img src="a.png">')
    assert alone.foreign(tmp_path) == []
    page.write_text(
        '<script src="https://cdn.example/x.js"></script><link rel="stylesheet" href="//fonts.example/a.css">'
    )
    assert len(alone.foreign(tmp_path)) == 2


def test_the_reference_prints_the_signature_of_what_a_picture_wraps(tmp_path):
    (tmp_path / "kinelo").mkdir()
    (tmp_path / "kinelo" / "__init__.py").write_text("")
    (tmp_path / "kinelo" / "drawing.py").write_text('def draw(run, title="", *, width=None):\n    """A picture."""\n')
    lines = ["from kinelo.drawing import draw", "def _in_words(name, what, draw): ...", "PLAIN = int(3)"]
    (tmp_path / "kinelo" / "plot.py").write_text("\n".join([*lines, 'ratings = _in_words("ratings", "a run", draw)']))
    extensions = griffe.load_extensions(Roles())
    plot = griffe.load("kinelo", search_paths=[tmp_path], extensions=extensions)["plot"]
    assert plot["ratings"].is_function and plot["ratings"].docstring.value == "A picture."
    assert [parameter.name for parameter in plot["ratings"].parameters] == ["run", "title", "width"]
    assert plot["PLAIN"].is_attribute


@pytest.mark.parametrize(("argument", "default"), [("step", "None"), ("initial", "1500.0")])
def test_the_reference_shows_defaults_of_raters_and_not_their_declarations(argument, default, tmp_path):
    declared = {"step": 'estimated(0.1, 0.0, 1.0, True, "a step")', "initial": "fixed(1500.0)"}
    (tmp_path / "kinelo" / "raters").mkdir(parents=True)
    (tmp_path / "kinelo" / "forecasts").mkdir()
    for name in ("kinelo", "kinelo/raters", "kinelo/forecasts"):
        (tmp_path / name / "__init__.py").write_text("")
    lines = [
        "from kinelo.forecasts.parameters import estimated, fixed",
        f"class Own:\n    {argument} = {declared[argument]}",
    ]
    (tmp_path / "kinelo" / "raters" / "own.py").write_text("\n".join(lines))
    (tmp_path / "kinelo" / "forecasts" / "parameters.py").write_text("def estimated(*a): ...\ndef fixed(*a): ...\n")
    found = griffe.load("kinelo", search_paths=[tmp_path], extensions=griffe.load_extensions(Roles()))
    assert str(found["raters.own.Own"].members[argument].value) == default
