"""A law and a rater are added to a copy of the package word for word as CONTRIBUTING says, and are found everywhere."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli import app

ROOT = Path(__file__).parents[2]


RECIPES = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def steps_of(begin: str, end: str) -> list[tuple[str, bool, str]]:
    """The files that a recipe names with what it has written there: whole, or as lines that change."""
    recipe = RECIPES[RECIPES.index(f"### {begin}\n") : RECIPES.index(f"### {end}\n")]
    lines = [line[8:] for line in recipe.splitlines() if line.startswith(" " * 8) or not line.strip()]
    parts = re.split(r"^# (\S+\.py)(, changed)?\n", "\n".join(lines), flags=re.M)[1:]
    return [(file, bool(how), body.strip("\n") + "\n") for file, how, body in zip(*[iter(parts)] * 3, strict=True)]


def change(source: str, lines: str) -> str:
    """Put the lines with + in and take those with − out; what stands between two dots of three is left as it is."""
    for part in re.split(r"^ \.\.\.\n", lines, flags=re.M):
        rows = part.strip("\n").splitlines()
        old = "".join(row[1:] + "\n" for row in rows if not row.startswith("+"))
        new = "".join(row[1:] + "\n" for row in rows if not row.startswith("-"))
        assert source.count(old) == 1, f"stands {source.count(old)} times:\n{old}"
        source = source.replace(old, new)
    return source


def package_with(steps: list[tuple[str, bool, str]], folder: Path) -> Path:
    """A copy of the package in which these steps were taken; what is as it was is not compiled again."""
    package = folder / "kinelo"
    half_written = "*.pyc.*"
    shutil.copytree(ROOT / "src/kinelo", package, ignore=shutil.ignore_patterns("*.nb*", "lock", half_written))
    for file, changes, body in steps:
        path = package / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(change(path.read_text(encoding="utf-8"), body) if changes else body, encoding="utf-8")
    return package


def run_tests(package: Path, chosen: str) -> None:
    """The tests of every law, of this copy of the package, hold and have seen the law that was added."""
    command = [sys.executable, "-m", "pytest", "-vv", "-p", "no:cacheprovider", "-p", "no:randomly", "-k", chosen]
    ended = subprocess.run(
        [*command, str(ROOT / "tests/agreement/test_every_law.py")], cwd=ROOT, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(package.parent)}, timeout=600, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-1000:]
    assert "Algebraic(nu=0.45)] PASSED" in ended.stdout


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """The package with a law whose formula is Python's, and with one that loops know."""
    steps = steps_of("A law", "A rater")
    assert [step[:2] for step in steps] == [
        ("model/algebraic.py", False), ("model/algebraic.py", True), ("play/laws.py", True),
    ]  # fmt: skip
    made = []
    for count in (1, 3):
        made.append(package_with(steps[:count], tmp_path_factory.mktemp("recipe")))
    return made


# A repr of the law that was added, beside that of the law of the same name which the tests have themselves.
LAW = "Algebraic and 0.45"
QUICK = "compiled_outcomes or digests or book_keeps or every_class"


def test_a_class_alone_is_found_and_refused_where_it_has_no_formula(packages):
    run_tests(packages[0], f"({LAW}) and ({QUICK}) or every_class or (study_file and algebraic)")


def test_a_formula_for_the_loops_is_that_of_the_class(packages):
    run_tests(packages[1], f"({LAW}) and ({QUICK}) or every_class or (study_file and algebraic)")


@pytest.mark.long
@pytest.mark.parametrize("place", [0, 1])
def test_every_loop_rater_and_book_takes_the_law_or_refuses_it(packages, place):
    run_tests(packages[place], f"{LAW} or no_loop_knows")


@pytest.fixture
def level_elo(tmp_path, monkeypatch):
    """The rater of the recipe, as the only file of a user."""
    (file, changes, body), (list_of_raters, *_) = steps_of("A rater", "A figure of the reproduction")
    assert (file, changes, list_of_raters) == ("raters/level/rater.py", False, "raters/choice.py")
    assert len(body.splitlines()) <= 80
    (tmp_path / "my_level.py").write_text(body, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_level", raising=False)
    import my_level  # type: ignore[import-not-found]

    return my_level.LevelElo


def league() -> kn.matches.Matches:
    return kn.read_matches(kn.sample_league(teams=6, seasons=2, seed=3).results)


def test_the_rater_of_the_recipe_keeps_what_raters_promise(level_elo):
    """Against a slow twin: forecasts sum to one and mirror, two parts are one table, and what is open is estimated."""
    assert doctest.testmod(sys.modules["my_level"]) == (0, 3)
    matches, rater = league(), level_elo(step=12.0, draws=0.3)
    forecast = level_elo(step=12.0, draws=0.3).one_step_ahead(matches).probabilities
    points, expected = dict.fromkeys(matches.teams, 1500.0), []
    for home, away, result in zip(matches.home, matches.away, matches.result):
        one, other = matches.teams[home], matches.teams[away]
        share = 1.0 / (1.0 + 10.0 ** ((points[other] - points[one]) / 400.0))
        expected.append((0.7 * share, 0.3, 0.7 * (1.0 - share)))
        points[one], points[other] = points[one] + 24 * (result - share), points[other] - 24 * (result - share)
    np.testing.assert_allclose(forecast, expected, rtol=1e-12)
    whole = level_elo(step=12.0, draws=0.3).fit(matches)
    assert dict(whole.ratings_.select("name", "rating").iter_rows()) == pytest.approx(points, rel=1e-12)
    assert rater.fit(matches[:25]).update(matches[25:]).ratings_.equals(whole.ratings_)
    one, other = (whole.predict_one(*pair).probabilities[0] for pair in (matches.teams[:2], matches.teams[1::-1]))
    assert one == pytest.approx(other[::-1], abs=1e-15) and one.sum() == pytest.approx(1.0)
    newcomer = whole.predict_one("nobody", matches.teams[0])
    assert newcomer.unknown == ("nobody",)
    assert newcomer.probabilities[0, 0] == pytest.approx(0.7 / (1 + 10 ** ((points[matches.teams[0]] - 1500) / 400)))
    fitted = level_elo().fit(matches)
    assert fitted.estimates_.standard_errors["draws"] > 0.0
    assert fitted.parameters_["draws"] == pytest.approx(np.mean(matches.result == 0.5), abs=0.1)
    begun = level_elo(start={"Ashford": 1700.0}).update(matches[:1]).ratings_
    assert begun["rating"].sum() == pytest.approx(1700.0 + 1500.0 * (begun.height - 1))
    with pytest.raises(kn.InputError, match="step is a finite number of at least 0"):
        level_elo(step=-1.0)


def test_the_rater_of_the_recipe_is_taken_by_backtest_command_line_and_book(level_elo, tmp_path):
    matches = league()
    test = kn.backtest(matches, [level_elo(), kn.TeamElo.classic()], train_until=matches.date[30])
    assert set(test.scores["rater"]) == {"LevelElo", "ClassicElo"}
    results = tmp_path / "results.csv"
    matches.to_polars().select("date", "home", "away", "result").write_csv(results)

    def run(*words):
        answer = CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False)
        assert answer.exit_code == 0, answer.output
        return answer.output

    assert "60 matches, LevelElo" in run("rate", results, "--rater", "my_level:LevelElo")
    assert "LevelElo" in run("backtest", results, "--rater", "my_level:LevelElo", "--rater", "team")
    assert "Ashford" in run(
        "predict", "--results", results, "--rater", "my_level:LevelElo", "--match", "Ashford - Calder"
    )
    whole = level_elo(step=12.0, draws=0.3).update(matches)
    with kn.RatingBook(tmp_path / "ratings.db", level_elo(step=12.0, draws=0.3)) as book:
        book.add(matches[:20])
    with kn.RatingBook(tmp_path / "ratings.db", level_elo(step=12.0, draws=0.3)) as book:
        book.add(matches[20:])
        assert book.ratings_.equals(whole.ratings_)
        pair = matches.teams[:2]
        assert np.array_equal(book.predict_one(*pair).probabilities, whole.predict_one(*pair).probabilities)


BUILT_IN = """
import sys
import kinelo as kn
from kinelo.cli import app
from kinelo.raters.choice import CLASSES, rater_called, rater_help
from typer.testing import CliRunner

rater = rater_called("level")
assert type(rater).__module__ == CLASSES["LevelElo"] == "kinelo.raters.level.rater", type(rater)
assert " level" in rater_help()
answer = CliRunner().invoke(app, ["rate", sys.argv[1], "--rater", "level"])
assert answer.exit_code == 0 and "60 matches, LevelElo" in answer.output, answer.output
with kn.RatingBook(sys.argv[2], rater.set_params(step=12.0, draws=0.3)) as book:
    book.add(kn.read_matches(sys.argv[1]))
    kept = book.ratings_
with kn.RatingBook(sys.argv[2]) as book:
    assert type(book.rater).__name__ == "LevelElo" and book.ratings_.equals(kept)
"""


def test_the_rater_of_the_recipe_is_built_in_by_one_line(tmp_path):
    """By its name on the command line, and a book opens with it unasked."""
    package = package_with(steps_of("A rater", "A figure of the reproduction"), tmp_path)
    (package / "raters/level/__init__.py").write_text('"""Elo with one share of draws for all."""\n')
    results = tmp_path / "results.csv"
    league().to_polars().select("date", "home", "away", "result").write_csv(results)
    command = [sys.executable, "-c", BUILT_IN, str(results), str(tmp_path / "ratings.db")]
    ended = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(package.parent)}, timeout=600,
        check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
