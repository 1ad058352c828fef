"""What covariates are worth, how sure ranks are, and a board for each value of a column, on the command line."""

import json

import numpy as np
import polars as pl
import pytest
from typed import kinelo
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app

STRENGTHS = {"A": 120.0, "B": 40.0, "C": -40.0, "D": -120.0}
WORTH = 80.0


def votes(n=4000, seed=3):
    """Comparisons of four, in two languages; the longer answer has 80 points more, and three in ten are drawn."""
    rng = np.random.default_rng(seed)
    names = list(STRENGTHS)
    pairs = np.array([rng.choice(4, 2, replace=False) for _ in range(n)])
    longer = rng.choice([-1.0, 0.0, 1.0], n)
    gap = np.array([STRENGTHS[names[a]] - STRENGTHS[names[b]] for a, b in pairs]) + WORTH * longer
    kappa = 0.8
    x = np.log(10) / 800 * (1 + kappa / 2) * gap
    weights = np.column_stack([np.exp(x), np.full(n, kappa), np.exp(-x)])
    u = rng.random(n)[:, None] * weights.sum(axis=1, keepdims=True)
    outcome = (u > np.cumsum(weights, axis=1)).sum(axis=1)
    return pl.DataFrame(
        {
            "model_a": [names[a] for a, _ in pairs],
            "model_b": [names[b] for _, b in pairs],
            "result": 1.0 - outcome / 2.0,
            "neutral": True,
            "longer": longer,
            "language": rng.choice(["English", "German"], n, p=[0.7, 0.3]),
        }
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    votes().write_csv(path)
    return path


def test_effects_have_errors_that_hold():
    """Twelve leagues of 500 votes: pulls have mean 0 ± .29 and spread 1 ± .2 (one standard error)."""
    pulls = []
    for seed in range(12):
        table = kn.read_matches(votes(500, seed), conditions=["longer"])
        found = kn.BradleyTerry(covariates=["longer"], ridge=1e-6).fit(table).effects_.row(0, named=True)
        assert found["low"] < found["effect"] < found["high"]
        assert found["high"] - found["low"] == pytest.approx(2 * 1.959964 * found["standard_error"], rel=1e-6)
        pulls.append((found["effect"] - WORTH) / found["standard_error"])
    assert abs(np.mean(pulls)) < 0.9 and 0.5 < np.std(pulls) < 1.6


def test_the_home_advantage_is_an_effect_too():
    table = votes(600).with_columns(neutral=pl.lit(False))
    rater = kn.BradleyTerry().fit(kn.read_matches(table))
    assert rater.effects_["name"].to_list() == ["home_advantage"]
    assert rater.effects_["effect"][0] == pytest.approx(rater.parameters_["home_advantage"])
    with pytest.raises(kn.InputError, match="fit the rater first"):
        kn.BradleyTerry().effects_  # noqa: B018


def test_a_covariate_is_named_on_the_command_line(file):
    said = kinelo("rate", file, "--covariate", "longer", "--rater", "bradley-terry", "--json")
    assert said.returncode == 0, said.stderr
    (effect,) = json.loads(said.stdout)["effects"]
    twin = kn.BradleyTerry(covariates=["longer"]).fit(kn.read_matches(file, conditions=["longer"])).effects_
    assert (
        effect["effect"] == pytest.approx(twin["effect"][0])
        and abs(effect["effect"] - WORTH) < 4 * effect["standard_error"]
    )
    shown = kinelo("rate", file, "--covariate", "longer", "--rater", "bradley-terry", "--least-matches", 0).stdout
    row = f"longer {effect['effect']:+.1f} {effect['standard_error']:.1f} {effect['low']:.1f} to {effect['high']:.1f}"
    assert row in " ".join(shown.replace("│", " ").split()) and "Points to the first side" in shown
    refused = kinelo("rate", file, "--covariate", "longer", "--k", "20")
    assert refused.returncode == 2 and "leave out --rater, --condition and --covariate" in refused.stderr


def test_ranks_have_intervals_on_the_command_line(file):
    said = kinelo("rate", file, "--rater", "bradley-terry", "--ranks", "--json")
    twin = kn.BradleyTerry().fit(kn.read_matches(file)).intervals()
    found = json.loads(said.stdout)["leaderboard"]
    assert [(r["name"], r["rank_low"], r["rank_high"]) for r in found] == twin.select(
        "name", "rank_low", "rank_high"
    ).rows()
    shown = kinelo("rate", file, "--rater", "bradley-terry", "--ranks").stdout
    assert "Rank" in shown and f"{twin['rank_low'][0]} to {twin['rank_high'][0]}" in shown
    assert "needs --rater bradley-terry" in kinelo("rate", file, "--ranks").stderr


def test_ranks_of_contests_say_how_many_contests(tmp_path):
    path = tmp_path / "races.csv"
    path.write_text("race,driver,place\n1,Ann,1\n1,Bob,2\n1,Cid,3\n2,Bob,1\n2,Ann,2\n3,Ann,1\n3,Cid,2\n")
    shown = kinelo("rate", path, "--rater", "bradley-terry", "--ranks").stdout
    assert "Contests" in shown and "Matches" not in shown


def test_each_value_of_a_column_has_a_board(file, tmp_path):
    out = tmp_path / "boards.csv"
    words = ("rate", file, "--rater", "bradley-terry", "--by", "language", "--least-matches", 0)
    said = kinelo(*words, "--json", "--board", out)
    assert said.returncode == 0, said.stderr
    found = pl.DataFrame(json.loads(said.stdout)["leaderboard"])
    for level in ("English", "German"):
        part = votes().filter(pl.col("language") == level)
        twin = dict(kn.BradleyTerry().fit(kn.read_matches(part)).ratings_.select("name", "rating").iter_rows())
        shown = found.filter(pl.col("language") == level)
        assert dict(shown.select("name", "rating").iter_rows()) == pytest.approx(twin)
    assert pl.read_csv(out)["language"].unique().sort().to_list() == ["English", "German"]
    printed = kinelo(*words).stdout
    assert printed.index("language English:") < printed.index("language German:")
    assert "has 4 values" not in printed


def test_a_k_of_nobody_is_refused(file, tmp_path):
    (tmp_path / "nobody.csv").write_text("name,k\nZoe,40\nYan,10\n")
    (tmp_path / "some.csv").write_text("name,k\nA,40\nYan,10\n")
    for command in ("rate", "audit"):
        said = kinelo(command, file, "--k", 20, "--k-of", tmp_path / "nobody.csv")
        assert said.returncode == 2 and "Nobody whom --k-of names plays" in said.stderr
    said = kinelo("rate", file, "--k", 20, "--k-of", tmp_path / "some.csv")
    assert said.returncode == 0 and "--k-of names 1 who does not play in these results: 'Yan'" in said.stderr


@pytest.mark.parametrize(
    ("strange", "known", "words"),
    [
        (2, "", "Nobody whom --k-of names plays in these results ('Y0', 'Y1')."),
        (4, "", "Nobody whom --k-of names plays in these results ('Y0', 'Y1', 'Y2')."),
        (3, "A,40\n", "note: --k-of names 3 who do not play in these results: 'Y0', 'Y1', 'Y2'\n"),
        (4, "A,40\n", "note: --k-of names 4 who do not play in these results: 'Y0', 'Y1', 'Y2', …\n"),
    ],
)
def test_three_of_those_who_do_not_play_are_named(strange, known, words, file, tmp_path, monkeypatch):
    path = tmp_path / "k.csv"
    path.write_text("name,k\n" + known + "".join(f"Y{k},{10 + k}\n" for k in range(strange)))
    answer = CliRunner().invoke(app, ["rate", str(file), "--k", "20", "--k-of", str(path)])
    assert words in (answer.stderr if known else str(answer.exception)) and answer.exit_code == (0 if known else 1)
    assert words not in answer.stdout


def test_a_book_and_a_board_of_many_files_are_written_whole(tmp_path):
    file, book = tmp_path / "votes.csv", tmp_path / "kept.db"
    played = [f"2024-03-0{k + 1},{'ABC'[k % 3]},{'BCD'[k % 3]},{k % 2}\n" for k in range(5)]
    file.write_text("date,home,away,result\n" + "".join(played))
    kept = kn.read_matches(file)
    with kn.RatingBook(book, kn.TeamElo.classic(k=24)) as opened:
        opened.add(kept)
        ratings = opened.ratings_
    asked = ("m.parquet", [], None), ("r.parquet", ["--ratings"], ratings), ("r.csv", ["--ratings"], ratings)
    for name, words, table in asked:
        out = tmp_path / "new" / name
        answer = CliRunner().invoke(app, ["book", "export", str(book), str(out), *words])
        assert answer.exit_code == 0, answer.output
        found = pl.read_parquet(out) if out.suffix == ".parquet" else pl.read_csv(out)
        assert f"{out}: {found.height:,} rows" in answer.output.replace("\n", "")
        if table is None:
            assert found.height == len(kept) and found["home"].to_list() == kept.to_polars()["home"].to_list()
        else:
            assert found["name"].to_list() == table["name"].to_list()
            assert found["rating"].to_list() == pytest.approx(table["rating"].to_list())
    far = tmp_path / "far.csv"
    many = f"{file.parent}/*{file.name[1:]}"
    answer = CliRunner().invoke(app, ["rate", many, "--k", "24", "--out", str(far)])
    assert answer.exit_code == 0 and f"Ratings: {far}" in answer.output.replace("\n", "")
    board = dict(pl.read_csv(far).select("name", "rating").iter_rows())
    assert board == pytest.approx(dict(ratings.select("name", "rating").iter_rows()))
