"""The examples of the README and of docs/ run as they stand, one after the other on each page."""

import json
import re
import shlex
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kinelo.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "how-to").glob("*.md"))]


TESTS = Path(__file__).parent
RUN_ELSEWHERE = [
    *TESTS.glob("*/test_*_page.py"), TESTS / "test_moving_guides.py", TESTS / "theory" / "test_stationary_guide.py",
    *(TESTS / "raters" / f"test_{name}.py" for name in ("balance", "changes", "rank_sizes")),
]  # fmt: skip
LOOKED_AT = {name for test in RUN_ELSEWHERE for name in re.findall(r'"([\w-]+\.md)"', test.read_text(encoding="utf-8"))}
"""Pages that a test of their own runs, which also looks at what they print."""


def examples(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if examples(page) and page.name not in LOOKED_AT], ids=lambda page: page.name
)
@pytest.mark.usefixtures("few_replays")
def test_the_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for example in examples(page):
        exec(compile(example, str(page), "exec"), names)
    assert any(not name.startswith("__") for name in names), "an example that makes nothing"


def test_the_readme_has_examples():
    assert len(examples(ROOT / "README.md")) >= 2


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/from-others.md", "docs/rating-contests.md"])
@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
@pytest.mark.usefixtures("few_replays")
def test_commands_run_as_they_are_printed(page, tmp_path, monkeypatch):
    """Block by block, in an empty folder each: what a block uses it has written itself. Servers are left out."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    ran = 0
    for number, block in enumerate(blocks):
        place = tmp_path / str(number)
        place.mkdir()
        monkeypatch.chdir(place)
        for line in block.splitlines():
            program, *words = shlex.split(line, comments=True) or [""]
            if program == "kinelo" and words[0] not in ("serve", "lab"):
                assert CliRunner().invoke(app, words).exit_code == 0, line
                ran += 1
    assert ran >= 2


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:", "mailto:")):
            found = (page.parent / target).exists()  # in a clone, before any site is built
            assert found, f"{page.name} points to {target}, which is not there"


def test_figures_of_the_readme_are_those_of_the_benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import figures

    assert figures.shown() == figures.made(), "run python benchmarks/figures.py"
    measured = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))[figures.LIKE_FOR_LIKE]
    for figure in re.findall(r"0\.\d{4}", figures.shown()):
        assert figure in str(measured["rows"])
    outside = (ROOT / "README.md").read_text(encoding="utf-8").replace(figures.shown(), "")
    assert "one is a hold-out" in outside and not re.search(r"\b0?\.[89]\d\d", outside), "a figure without its source"


def test_figures_of_line_ups_are_those_of_the_benchmarks():
    measured = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    section = measured["Forecasts: every rater beside version 0.3.0"]
    losses = {name: float(words.split(" ")[0]) for name, words, *_ in section["rows"]}
    page = (ROOT / "verification" / "MEASURED.md").read_text(encoding="utf-8")
    table = re.findall(
        r"^\| (?:[a-z ]+ \((\w+)\)|world cups) \| [\d,]+ \| (\.\d+) \| .* \| (\.\d+) \|", page, re.MULTILINE
    )
    assert [name for name, *_ in table] == ["nba", "mlb", "wyscout", ""]
    for name, *shown in table:
        for rater, loss in zip(("KalmanElo", "PlayerElo"), shown, strict=True):
            measured_loss = losses[": ".join([name or "worldcup", rater])]
            assert f"{measured_loss:.4f}" == f"0{loss}"
    assert f"at commit {section['commit'][:7]}" in page


def test_the_report_is_made_of_the_data(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    kept = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    spec = spec_from_file_location("benchmarks_report", ROOT / "benchmarks" / "conftest.py")
    assert spec is not None and spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    assert (ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8") == script.report(kept)


CONTESTS = "Contests: who comes before whom, one step ahead"


def test_figures_of_contests_are_those_of_the_benchmarks():
    """What verification/MEASURED.md says of contests, with the rows that it is read off."""
    rows = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))[CONTESTS]["rows"]
    measured = {name: said for name, said, *_ in rows}
    page = " ".join((ROOT / "verification" / "MEASURED.md").read_text(encoding="utf-8").split())
    pairs = {name: float(re.match(r"[\d.]+", said)[0]) for name, said in measured.items()}
    both, alone = "races, drivers and cars", "races, drivers alone"
    assert f"ranks {pairs[f'{both}: RankElo']:.2f} % of pairs right" in page
    assert f"(openskill {pairs[f'{both}: openskill, tuned']:.2f} %" in page
    assert f"trueskill {pairs[f'{both}: trueskill, tuned']:.2f} %)" in page
    assert f"of drivers alone {pairs[f'{alone}: RankElo']:.2f} %" in page
    for name in ("elo-mmr-py", "trueskill"):
        sign, apart = re.search(r"\(([+-])(.*?);", measured[f"{alone}: {name}, tuned"]).groups()
        assert f"{name} {apart} % {'less' if sign == '-' else 'more'}" in page


def test_one_version_everywhere():
    import kinelo

    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    told = re.search(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited and told and cited[1] == told[1] == kinelo.__version__
