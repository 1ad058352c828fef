"""What commands refuse, word by word."""

from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from refusals import check_refusal

TWO = {"date": ["2024-01-01", "2024-01-08"], "home": ["A", "B"], "away": ["B", "C"], "result": [1.0, 0.5]}
RACES = {"race": [1, 1, 2, 2], "driver": list("ABBA"), "place": [1, 2, 1, 2]}

CASES = {
    "a backtest of one": (
        ["backtest", "one.csv"], "A backtest needs matches to fit and to forecast; there are 1 in all.",
    ),
    "a change to nothing": (
        ["audit", "results.csv", "--changeover", "k=20"],
        "--changeover OLD says what is in use: give --to NEW, what shall be, too.",
    ),
    "a threshold of letters": (
        ["audit", "results.csv", "--changeover", "k=20", "--to", "k=40", "--threshold", "Master=high"],
        "--threshold 'Master=high' is not of the form TITLE=RATING, for example Master=2200.",
    ),
    "a system of letters": (
        ["audit", "results.csv", "--changeover", "k=many", "--to", "k=40"],
        "'k=many' is not of the form k=NUMBER, for example k=20.",
    ),
    "a system of nothing": (
        ["audit", "results.csv", "--changeover", "fifa", "--to", "k=40"],
        r"'fifa' is no file, and no system either; give .+\.",
    ),
    "an audit by surface": (
        ["audit", "results.csv", "--condition", "pace"],
        "An audit of matches of two sides takes no --condition; --by answers by group.",
    ),
    "plain Elo by surface": (
        ["audit", "races.csv", "--covariate", "grid"],
        "Plain Elo uses no --covariate; --rater rank does, and --noise-by asks for luck.",
    ),
    "a price of letters": (
        ["next", "--results", "results.csv", "--rater", "glicko", "--cost", "A - B=much"],
        "--cost 'A - B=much' is no price of a match, 'ANN - BOB=2.5'.",
    ),
    "two questions": (
        ["predict", "--match", "A - B", "--results", "results.csv", "--preview", "--fair", "pace"],
        "--preview and --fair ask two things; ask one at a time.",
    ),
    "a question without a match": (
        ["predict", "--results", "results.csv", "--preview"],
        "--preview asks about one match: give it as --match 'HOME - AWAY', or 'ANN; BOB; CID'.",
    ),
    "a question of two matches": (
        ["predict", "--results", "results.csv", "--preview", "--match", "A - B", "--match", "B - C"],
        "--preview asks about one match: give it as --match 'HOME - AWAY', or 'ANN; BOB; CID'.",
    ),
    "what a question does not take, by name": (
        ["predict", "--results", "results.csv", "--preview", "--match", "A - B", "--together", "A, B",
         "--apart", "B, C"],
        "--preview takes no --apart.",
    ),
    "what no question asks for": (
        ["predict", "--results", "results.csv", "--match", "A - B", "--together", "A, B", "--sides", "3"],
        "--sides goes with --balance.",
    ),
    "an audit of contests with K": (
        ["audit", "races.csv", "--rater", "rank", "--k", "20"],
        "--rater is no plain Elo: leave out --k, --k-of, --rules and --initial.",
    ),
    "a port of a lab": (["lab", "--port", "65536"], "--port must lie between 0 and 65535, not at 65536."),
    "boards by a name": (
        ["rate", "many.csv", "--by", "round"], "The column 'round' has 101 values; --by takes one with 1 to 50.",
    ),
    "reasons of an empty book": (["why", "--of", "A", "--book", "empty.db"], "empty.db holds no matches."),
    "a file of what is read": (
        ["rate", "results.csv", "--out", "made/results.csv", "--start", "made"],
        "--out made/results.csv would overwrite a file of made, which is read; choose another.",
    ),
    "a film to be resumed": (
        ["study", "solve", "study.toml", "--film", "gif", "--resume"],
        "A film shows the whole run: leave out --resume, or --film.",
    ),
    "ratings from nowhere": (
        ["predict", "--match", "A - B"], "Say where the ratings come from: either --book BOOK or --results FILE.",
    ),
    "ratings from both": (
        ["predict", "results.csv", "--book", "kept.db", "--results", "results.csv"],
        "Say where the ratings come from: either --book BOOK or --results FILE.",
    ),
    "reasons from nowhere": (
        ["why", "--of", "A"], "Say where the ratings come from: either --book BOOK or --results FILE.",
    ),
    "reasons from both": (
        ["why", "--of", "A", "--book", "kept.db", "--results", "results.csv"],
        "Say where the ratings come from: either --book BOOK or --results FILE.",
    ),
    "reasons of nothing": (
        ["why", "--results", "results.csv"],
        "Say what to explain: either a match, or somebody's last matches (--of NAME).",
    ),
    "reasons of a match and of somebody": (
        ["why", "1", "--of", "A", "--results", "results.csv"],
        "Say what to explain: either a match, or somebody's last matches (--of NAME).",
    ),
    "a contest of matches": (
        ["predict", "--preview", "--match", "A; B; C", "--results", "results.csv"],
        "results.csv holds matches of two sides: ask about 'HOME - AWAY'.",
    ),
    "a match of contests": (
        ["predict", "--preview", "--match", "A - B", "--results", "races.csv"],
        "races.csv holds contests: ask about 'ANN; BOB; CID'.",
    ),
    "a contest of one": (
        ["predict", "--match", "A;", "--results", "races.csv"],
        "--match 'A;' names no contest; write its entrants as 'ANN; BOB; CID'.",
    ),
    "a level without a column": (
        ["predict", "--match", "A - B", "--results", "results.csv", "--condition", "=clay"],
        "--noise-by, --condition and --covariate take a column, and for a --match its level: track=oval.",
    ),
    "a covariate of letters": (
        ["predict", "--match", "A - B", "--results", "results.csv", "--fair", "pace", "--covariate", "stones=many",
         "--rater", "team"],
        "stones='many' is no number, and stones is a covariate.",
    ),
    "sides of letters": (
        ["predict", "--balance", "A; B; C; D", "--results", "results.csv", "--sides", "two"],
        "--sides 'two' is neither a number of sides nor sizes such as 5,4.",
    ),
    "a sample onto a sample": (
        ["sample", "made"], f"{Path('made') / 'results.csv'} exists already; choose another folder.",
    ),
    "lists without rules": (
        ["rate", "results.csv", "--as-of", "2024-02-01"], "--as-of goes with --rules fide.",
    ),
    "lists as a page": (
        ["rate", "results.csv", "--rules", "fide", "--out", "list.html"],
        "A list is written as a table: --out NAME.csv; --by and --board are for leaderboards.",
    ),
    "forecasts as a page": (
        ["predict", "--results", "results.csv", "--match", "Ash - Bix", "--rater", "glicko", "--out", "to-come.html"],
        "This is a table and no page: name a file such as to-come.csv, not to-come.html.",
    ),
    "ranks of a filter": (
        ["rate", "results.csv", "--rater", "glicko", "--ranks"],
        "--ranks needs --rater bradley-terry, which says how sure each rank is.",
    ),
    "boards of parts in a file": (
        ["rate", "results.csv", "--by", "pace", "--out", "a.csv"],
        "--by shows a board of each part: leave out --book, --out and --picture; --board writes them.",
    ),
    "a book with K": (
        ["rate", "kept.db", "--k", "20"],
        "kept.db is a rating book, which keeps its rater and one board: leave out --book, --rejects, --by, --ranks, "
        "--k, --k-of, --rules and --initial.",
    ),
    "more for a book, with K": (
        ["rate", "results.csv", "--book", "kept.db", "--k", "20"],
        "kept.db keeps its rater; leave out --k, --k-of, --rules and --initial or start another.",
    ),
    "K beside a rater": (
        ["rate", "results.csv", "--k", "20", "--rater", "glicko"],
        "--k, --k-of and --rules rate by plain Elo: leave out --rater, --condition and --covariate.",
    ),
    "K of some": (
        ["rate", "results.csv", "--k-of", "k.csv"], "--k-of says the K of some: give --k for all others.",
    ),
    "K that only begins": (
        ["rate", "results.csv", "--k-first", "40"], "--k-first says how K begins: give --k too.",
    ),
    "tiers without the word": (
        ["book", "kept.db", "--rule", "x"], "--rule and --out go with kinelo book tiers BOOK.",
    ),
    "a reset without the word": (
        ["book", "kept.db", "--reset", "0.3"],
        "--reset, --until, --reward and --try go with kinelo book season BOOK NAME.",
    ),
    "ratings without an export": (
        ["book", "kept.db", "--ratings"],
        "--list and --remove go with kinelo book BOOK, --ratings with kinelo book export BOOK FILE.",
    ),
    "a list beside an export": (
        ["book", "export", "kept.db", "a.csv", "--list"],
        "--list and --remove go with kinelo book BOOK, --ratings with kinelo book export BOOK FILE.",
    ),
    "an export as a page": (
        ["book", "export", "kept.db", "a.html"], "a.html ends neither in .csv nor in .parquet.",
    ),
    "a season of nothing": (
        ["season", "results.csv"],
        "Say what is to come: a file of FIXTURES, or a cup as --knockout 'ANN; BOB; CID; DEE'.",
    ),
    "a season of races": (
        ["season", "races.csv", "fixtures.csv"],
        "races.csv holds contests of many entrants, and this command takes matches of two sides. kinelo rate, predict, "
        "why, backtest, audit and book take contests.",
    ),
    "a picture as a table": (
        ["rate", "results.csv", "--k", "20", "--picture", "a.csv"],
        "A picture's name ends in .png, .pdf or .svg, not as a.csv does.",
    ),
    "line-ups of races": (
        ["rate", "races.csv", "--lineups", "results.csv"],
        "races.csv holds contests of many entrants, for which there is no --lineups.",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("typed")
    table = pl.DataFrame({**TWO, "stones": [1, 2], "pace": [3, 1]})
    table.write_csv(folder / "results.csv")
    table[:1].write_csv(folder / "one.csv")
    table.drop("result").write_csv(folder / "fixtures.csv")
    pl.DataFrame({"name": ["A"], "k": [40]}).write_csv(folder / "k.csv")
    pl.DataFrame(RACES | {"grid": [2, 1, 1, 2]}).write_csv(folder / "races.csv")
    (folder / "made").mkdir()
    (folder / "made" / "results.csv").touch()
    pl.DataFrame({"home": ["A"] * 101, "away": ["B"] * 101, "result": [1] * 101, "round": range(101)}).write_csv(
        folder / "many.csv"
    )
    kn.RatingBook(folder / "empty.db", kn.TeamElo.classic(k=20)).close()
    with kn.RatingBook(folder / "kept.db", kn.TeamElo.classic(k=20)) as book:
        book.add(kn.read_matches(table))
    return folder


@pytest.mark.parametrize("case", CASES)
def test_a_command_says_what_is_wrong(case, written, monkeypatch):
    monkeypatch.chdir(written)
    words, sentence = CASES[case]
    before = sorted(path.name for path in written.iterdir() if path.suffix == ".csv")
    check_refusal((lambda: CliRunner().invoke(app, words, catch_exceptions=False), sentence))
    assert sorted(path.name for path in written.iterdir() if path.suffix == ".csv") == before
