"""The examples of the README and of docs/ run as they stand, one after the other on each page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "how-to").glob("*.md"))]


LOOKED_AT = {
    name
    for test in Path(__file__).parent.glob("*/test_*_page.py")
    for name in re.findall(r'"([\w-]+\.md)"', test.read_text(encoding="utf-8"))
}
"""Pages that a test of their own runs, which also looks at what they print."""


def examples(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if examples(page) and page.name not in LOOKED_AT], ids=lambda page: page.name
)
def test_the_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for example in examples(page):
        exec(compile(example, str(page), "exec"), names)


def test_the_readme_has_examples():
    assert len(examples(ROOT / "README.md")) >= 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:", "mailto:")):
            found = (page.parent / target).exists()  # in a clone, before any site is built
            assert found, f"{page.name} points to {target}, which is not there"


def test_figures_of_the_readme_stand_in_the_benchmarks():
    [row] = [line for line in (ROOT / "README.md").read_text(encoding="utf-8").split("\n") if "log-loss" in line]
    measured = (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    for figure in re.findall(r"0\.\d{4}", row):
        assert f"| {figure} (" in measured, f"{figure} of the README is not in benchmarks/RESULTS.md"


def test_one_version_everywhere():
    import kinelo

    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    told = re.search(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited and told and cited[1] == told[1] == kinelo.__version__
