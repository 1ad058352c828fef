"""Rules of K: FIDE's, falling ones and K by group, rated, kept in books and asked for on the command line."""

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.model import DeviationSteps, FallingSteps, FideSteps


def games(n=400, seed=2, days=True):
    """Eight players of whom the first is far above the others."""
    rng = np.random.default_rng(seed)
    strength = np.array([900.0, 100, 50, 0, -30, -80, -150, -200])
    home = rng.integers(0, 8, n)
    away = (home + rng.integers(1, 8, n)) % 8
    expected = 1 / (1 + 10 ** (-(strength[home] - strength[away]) / 400))
    result = np.where(rng.random(n) < expected, 1.0, 0.0)
    result[::5] = 0.5
    names = np.array([f"P{k}" for k in range(8)])
    day = np.datetime64("2024-01-01") + np.arange(n)
    table = {"date": day.astype(str), "home": names[home], "away": names[away], "result": result}
    return pl.DataFrame(table).with_columns(match_id=pl.Series(np.arange(n)).cast(pl.String))


START = {"P0": 2380.0, "P1": 1700.0, "P2": 2410.0}


def by_hand(table, k_of_side, start, initial=1500.0):
    """The list after all games, K from a function of name, rating, games played and the highest rating so far."""
    R, n, top = dict(start), dict.fromkeys(start, 10**6), dict(start)
    for one, other, S in table.select("home", "away", "result").iter_rows():
        for name in (one, other):
            R.setdefault(name, initial), n.setdefault(name, 0), top.setdefault(name, initial)
        E = 1 / (1 + 10 ** ((R[other] - R[one]) / 400))
        k1, k2 = (k_of_side(name, R[name], n[name], top[name]) for name in (one, other))
        R[one], R[other] = R[one] + k1 * (S - E), R[other] - k2 * (S - E)
        for name in (one, other):
            n[name] += 1
            top[name] = max(top[name], R[name])
    return R


def fide(name, rating, played, top):
    if played < 30 or (name in ("P0", "P5") and rating < 2300):
        return 40
    return 10 if top >= 2400 else 20


RULES = {
    "fide": ({"k": FideSteps(under_18=["P0", "P5"]), "start": START}, fide, START),
    "falling": ({"k": FallingSteps(8.0, boost=3.0, matches=12)}, lambda a, b, n, d: 16 * (1 + 36 / (12 + n)), {}),
    "by group": ({"k": 20, "k_of": {"P3": 40, "P6": 0}}, lambda a, *_: {"P3": 40, "P6": 0}.get(a, 20), {}),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_ratings_follow_the_rule_however_they_are_kept(rule, tmp_path):
    given, k_of_side, start = RULES[rule]
    table = games()
    matches = kn.read_matches(table)
    expected = by_hand(table, k_of_side, start)
    whole = kn.TeamElo.classic(**given).update(matches)
    single = kn.TeamElo.classic(**given)
    for home, away, result in table.select("home", "away", "result").iter_rows():
        single.update_one(home, away, result)
    book = kn.RatingBook(tmp_path / "book", kn.TeamElo.classic(**given))
    for part in (matches[:100], matches[100:]):
        book.add(part)
    opened = kn.RatingBook(tmp_path / "book")
    assert repr(opened.rater) == repr(book.rater)
    for rater in (whole, single, opened):
        found = dict(rater.ratings_.select("name", "rating").iter_rows())
        assert found == pytest.approx(expected, rel=1e-12)


def test_the_rule_shows_and_can_be_changed():
    rater = kn.TeamElo.classic(k=20)
    assert repr(rater.set_params(k=FideSteps())) == "TeamElo.classic(k=FideSteps(under_18=()))"
    assert (rater.label, rater.step) == ("plain Elo, K by FIDE's rules", None)
    assert kn.TeamElo.classic(k=16).label == "plain Elo, K = 16"
    falling = FallingSteps(8.0, boost=3.0, matches=12)
    assert kn.TeamElo.classic(falling).label == "plain Elo, K = 16 once settled"
    assert kn.TeamElo.classic(k=16, k_of={"A": 40}).label == "plain Elo, K = 16 and K by name"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"k": DeviationSteps(growth=5.0, start=350.0)}, "k is a number, FideSteps or FallingSteps"),
        ({"k": FideSteps(under_18=[3])}, "knows juniors by name"),
        ({"k": FideSteps(), "scale": 100.0}, "count points of scale 400, not 100"),
        ({"k_of": {"A": -1}}, "gives 'A' no K that can be used"),
        ({"k_of": {"name": ["A"]}}, "needs the columns name and k; it has name"),
        ({"k_of": 3}, "must be a table of names and K"),
    ],
)
def test_what_is_no_rule_is_refused(given, said):
    with pytest.raises(kn.InputError, match=said):
        kn.TeamElo.classic(**given).update(kn.read_matches(games(10)))


def called(*words):
    return CliRunner().invoke(app, list(map(str, words)))


def test_the_command_line_rates_by_the_rules(tmp_path):
    table = games()
    table.write_csv(tmp_path / "games.csv")
    pl.DataFrame({"name": list(START), "rating": list(START.values())}).write_csv(tmp_path / "list.csv")
    pl.DataFrame({"name": ["P3", "P4"], "k": [40, 5]}).write_csv(tmp_path / "juniors.csv")
    results, out = tmp_path / "games.csv", tmp_path / "out.csv"
    cases = {
        ("--k", "24", "--start", tmp_path / "list.csv", "--initial", "1200"): (lambda *_: 24, START, 1200.0, "K = 24"),
        ("--k", "20", "--k-of", tmp_path / "juniors.csv"): (
            lambda name, *_: {"P3": 40, "P4": 5}.get(name, 20), {}, 1500.0, "K = 20 and K by name",
        ),
        ("--k", "20", "--k-first", "80", "--k-halfway", "6"): (
            lambda name, rating, played, *_: 20 + 60 * 6 / (6 + played), {}, 1500.0, "K = 20 once settled",
        ),
    }  # fmt: skip
    for words, (k_of_side, start, initial, title) in cases.items():
        done = called("rate", results, *words, "--out", out)
        assert done.exit_code == 0, done.output
        assert title in done.output
        found = dict(pl.read_csv(out).select("name", "rating").iter_rows())
        assert found == pytest.approx(by_hand(table, k_of_side, start, initial), rel=1e-9)


def test_a_book_of_the_federation_is_kept_from_the_command_line(tmp_path):
    table = games()
    table[:300].write_csv(tmp_path / "old.csv")
    table[300:].write_csv(tmp_path / "new.csv")
    rules = ("--k", "20", "--k-first", "80", "--k-halfway", "6")
    assert called("rate", tmp_path / "old.csv", *rules, "--book", tmp_path / "book").exit_code == 0
    assert called("rate", tmp_path / "new.csv", "--book", tmp_path / "book").exit_code == 0
    found = dict(kn.RatingBook(tmp_path / "book").ratings_.select("name", "rating").iter_rows())
    falling = by_hand(table, lambda name, rating, played, *_: 20 + 60 * 6 / (6 + played), {})
    assert found == pytest.approx(falling, rel=1e-9)
    refused = called("rate", tmp_path / "new.csv", "--book", tmp_path / "book", "--k", "20")
    assert isinstance(refused.exception, kn.InputError) or refused.exit_code == 2


@pytest.mark.parametrize(
    "words",
    [("--rules", "dfb"), ("--rules", "fide", "--k", "20"), ("--k", "20", "--rater", "glicko"), ("--initial", "1200"),
     ("--k", "-3"), ("--k-first", "40"), ("--k", "20", "--k-halfway", "5"), ("--k", "20", "--k-first", "10"),
     ("--k", "0", "--k-first", "10"), ("--k", "20", "--k-first", "40", "--k-halfway", "0"),
     ("--rules", "fide", "--k-first", "40")],
)  # fmt: skip
def test_options_that_contradict_are_refused(words, tmp_path):
    games(10).write_csv(tmp_path / "games.csv")
    done = called("rate", tmp_path / "games.csv", *words)
    assert done.exit_code == 2 or isinstance(done.exception, kn.InputError)
