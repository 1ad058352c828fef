"""A name leaves a book for good: nowhere in the file, and every rating as it was."""

import copy
import sqlite3
from contextlib import closing

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.book.tiers import Tiers, set_tiers, tiers_of
from kinelo.cli import app
from kinelo.raters.explanation import explain

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
NAME = "Zoë Quandt-Erased"
SIDES = ["Ann", NAME, "Cid", "Dee"]


def results(n=60, seed=1):
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(4, 2, replace=False) for _ in range(n)]
    return pl.DataFrame(
        {
            "match_id": [f"M{k}" for k in range(n)],
            "date": [str(np.datetime64("2024-03-02") + 3 * k) for k in range(n)],
            "home": [SIDES[a] for a, _ in pairs], "away": [SIDES[b] for _, b in pairs],
            "result": rng.choice([0.0, 0.5, 1.0], n),
        }
    )  # fmt: skip


def lineups(table):
    rows = []
    for row in table.iter_rows(named=True):
        for side, team in (("H", row["home"]), ("A", row["away"])):
            rows += [
                {"match_id": row["match_id"], "side": side, "player": f"{team[:2]}{k}" if k else team} for k in range(3)
            ]
    return pl.DataFrame(rows)


def given(kind, **more):
    return kind(**({p.name: p.default for p in kind._declared_parameters} | more))


BOOKS = {
    "classic": lambda: kn.TeamElo.classic(k=20, start={NAME: 1700, "Ann": 1500}),
    "Glicko": lambda: given(kn.Glicko),
    "KalmanElo": lambda: given(kn.KalmanElo, covariance="full"),
    "PlayerElo": lambda: given(kn.PlayerElo, covariance="diagonal"),
    "FideElo": lambda: kn.FideElo({NAME: 2100, "Ann": 1900, "Cid": 1800}, {NAME: 2009}),
}


def everything_in(folder):
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.name.startswith("club.db"))


def traces(content):
    return [NAME.encode(code) in content for code in ("utf-8", "utf-32-le", "utf-16-le")] + [
        ascii(NAME)[1:-1].replace("\\xeb", "\\u00eb").encode() in content
    ]


@pytest.mark.parametrize("kind", BOOKS)
def test_a_name_leaves_a_book_for_good(kind, tmp_path, monkeypatch):
    monkeypatch.setattr("kinelo.book.carrying.EVERY", 20)  # so that there are checkpoints
    table = results()
    sheet = lineups(table) if kind == "PlayerElo" else None
    book = kn.RatingBook(tmp_path / "club.db", BOOKS[kind]())
    book.add(kn.read_matches(table[:40], sheet))
    book.add(kn.read_matches(table[40:], sheet))
    before = dict(book.ratings_.select("name", "rating").rows())
    assert NAME in before and any(traces(everything_in(tmp_path)))
    given_name = book.erase(NAME)
    assert given_name == "erased 1"
    after = dict(book.ratings_.select("name", "rating").rows())
    assert after == {given_name if name == NAME else name: rating for name, rating in before.items()}
    again = kn.RatingBook(tmp_path / "club.db")
    assert dict(again.ratings_.select("name", "rating").rows()) == after
    assert again.check() == []
    again.close()
    book.close()
    assert not any(traces(everything_in(tmp_path)))
    # It goes on: a late match is rated from a checkpoint, under the pseudonym.
    late = pl.DataFrame(
        {"match_id": ["L"], "date": ["2024-03-05"], "home": ["Ann"], "away": [given_name], "result": [0.0]}
    )
    rows = lineups(late) if kind == "PlayerElo" else None
    assert again.add(kn.read_matches(late, rows)).new == 1
    assert again.check() == []


def test_pages_that_were_freed_before_hold_the_name_no_longer(tmp_path):
    book = kn.RatingBook(tmp_path / "club.db", kn.TeamElo.classic(k=20))
    book.add(kn.read_matches(results(8)))
    book.close()
    with closing(sqlite3.connect(tmp_path / "club.db", isolation_level=None)) as raw:
        raw.execute("PRAGMA secure_delete = OFF")
        rows = [(f"{NAME} {k} {'x' * 900}", k, 1) for k in range(50)]
        raw.executemany("INSERT INTO source (digest, rank, named) VALUES (?, ?, ?)", rows)
        raw.execute("DELETE FROM source WHERE digest LIKE ?", (f"{NAME}%",))
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert f"{NAME} 30 x".encode() in everything_in(tmp_path), "freed pages keep what they held"
    book = kn.RatingBook(tmp_path / "club.db")
    book.erase(NAME)
    book.close()
    assert not any(traces(everything_in(tmp_path)))


def test_contests_and_titles(tmp_path):
    table = {
        "race": ["r1"] * 3 + ["r2"] * 3, "date": ["2024-01-01"] * 3 + ["2024-02-01"] * 3,
        "driver": ["Ann", NAME, "Cid", NAME, "Cid", "Ann"], "place": [1, 2, 3, 1, 2, 3],
    }  # fmt: skip
    book = kn.RatingBook(tmp_path / "club.db", kn.RankElo(walk=0.3, prior_spread=0.8, newcomer=0.0, regression=0.1))
    book.add(kn.read_contests(table))
    before = book.ratings_["rating"].to_list()
    assert book.erase(NAME, "somebody") == "somebody"
    assert book.ratings_["rating"].to_list() == before and "somebody" in book.ratings_["name"].to_list()
    assert book.check() == []
    book.close()
    assert not any(traces(everything_in(tmp_path)))


def test_what_cannot_be_erased_is_refused_and_nothing_changes(tmp_path):
    table = results(8).with_columns(match_id=pl.format("{} at home, {}", "home", pl.col("date")))
    book = kn.RatingBook(tmp_path / "club.db", kn.TeamElo.classic(k=20))
    book.add(kn.read_matches(table))
    before = copy.deepcopy(book.ratings_.rows())
    for name, pseudonym, said in (
        (NAME, None, "by which .* knows what was played"), ("Nobody", None, "knows no"), (NAME, "Ann", "already"),
        ("", None, "not a name"), (NAME, " ", "not a name"), (5, None, "not a name"),
    ):  # fmt: skip
        with pytest.raises(kn.InputError, match=said):
            book.erase(name, pseudonym)
    assert book.ratings_.rows() == before


def test_all_matches_of_somebody_are_taken_out_in_one_command(tmp_path):
    table = results(30)
    table.write_csv(tmp_path / "results.csv")
    path = str(tmp_path / "club.db")

    def called(*words):
        return CliRunner().invoke(app, [*map(str, words)])

    assert called("rate", tmp_path / "results.csv", "--k", "20", "--book", path).exit_code == 0
    own = table.filter((pl.col("home") == NAME) | (pl.col("away") == NAME)).height
    done = called("book", path, "--remove-player", NAME)
    assert f"{own:,} taken out" in done.output
    rest = table.filter((pl.col("home") != NAME) & (pl.col("away") != NAME))
    expected = kn.TeamElo.classic(k=20).fit(kn.read_matches(rest)).ratings_.select("name", "rating").rows()
    assert kn.RatingBook(path).ratings_.select("name", "rating").rows() == expected
    done = called("book", "erase", path, "Ann", "--pseudonym", "A.")
    assert done.exit_code == 0 and "Ann is A. from now on" in done.output
    assert {"A.", "Cid", "Dee"} == set(kn.RatingBook(path).ratings_["name"])
    for wrong in (
        ["book", "erase", path],
        ["book", path, "--pseudonym", "x"],
        ["book", path, "--remove-player", "Ann"],
    ):
        refused = called(*wrong)
        assert refused.exit_code == 2 or isinstance(refused.exception, kn.InputError)


@pytest.mark.parametrize("name", [NAME, f"{NAME[:2]}1"])
def test_a_name_leaves_the_line_ups_of_matches_that_were_put_right(name, tmp_path):
    table = results(12)
    (match,) = table.filter(home=NAME).head(1)["match_id"]
    book = kn.RatingBook(tmp_path / "club.db", BOOKS["PlayerElo"]())
    book.add(kn.read_matches(table, lineups(table)))
    corrected = table.filter(match_id=match).with_columns(result=1 - pl.col("result") + (pl.col("result") == 0.5) / 2)
    book.add(kn.read_matches(corrected, lineups(corrected)))
    before = explain(book, match).to_dict()
    assert name in str(before)
    new = book.erase(name)
    after = str(explain(book, match).to_dict())
    assert after == str(before).replace(name, new)
    book.close()
    content = everything_in(tmp_path)
    assert name.encode() not in content and ascii(name)[1:-1].replace("\\xeb", "\\u00eb").encode() not in content


def test_both_databases_erase(address):
    book = kn.RatingBook(address, kn.TeamElo.classic(k=20, start={NAME: 1700}))
    book.add(kn.read_matches(results()))
    book.update_one("Ann", NAME, 1, date="2025-01-01", match_id="last")
    before = book.ratings_["rating"].to_list()
    assert book.erase(NAME) == "erased 1"
    book.update_one("Cid", "Neu", 1, date="2025-01-02")
    assert book.remove_player("Neu") == 1 and book.ratings_["rating"].to_list() == before
    assert book.erase("Cid") == "erased 2" and book.check() == []
    held = book.matches()
    assert NAME not in held.teams and {"erased 1", "erased 2"} < set(held.teams)
    for table, column in (("match", "home"), ("match", "away"), ("slot", "name"), ("about", "value")):
        assert not [row for (row,) in book._database.rows(f"SELECT {column} FROM {table}") if NAME in str(row)]


@pytest.mark.parametrize(("name", "rater"), [
    ("Gold", kn.TeamElo.classic(k=20, start={"Gold": 1700, "Ann": 1500})),
    ("diagonal", given(kn.KalmanElo, covariance="diagonal")),
    ("rating", kn.TeamElo.classic(k=20, start={"rating": 1700, "Ann": 1500}, k_of={"rating": 30, "Ann": 20})),
])  # fmt: skip
def test_what_else_is_called_so_keeps_its_name(name, rater, address):
    """A tier, a word among the settings, or a column of the list that ratings begin with."""
    book = kn.RatingBook(address, rater)
    set_tiers(book, Tiers({"Silver": 1400, "Gold": 1600}))
    book.update_one(name, "Ann", "win", match_id="m1", date="2024-05-01")
    book.update_one("Cid", name, "win", match_id="m2", date="2024-05-01")
    with pytest.warns(kn.KineloWarning):
        book.update_one("Cid", name, "draw", match_id="m2", date="2024-05-01")
    before = dict(book.ratings_.select("name", "rating").rows())
    assert book.erase(name) == "erased 1"
    again = kn.RatingBook(address)
    assert dict(tiers_of(again).bounds) == {"Silver": 1400, "Gold": 1600} and again.check() == []
    assert dict(again.ratings_.select("name", "rating").rows()) == {
        "erased 1" if one == name else one: rating for one, rating in before.items()
    }
    with pytest.raises(kn.InputError, match="knows no"):
        again.erase(name)


@pytest.mark.parametrize("name", ["driver", "car", "A1"])
def test_a_kind_that_is_called_so_keeps_its_name(name, tmp_path, monkeypatch):
    monkeypatch.setattr("kinelo.book.carrying.EVERY", 1)  # so that there are checkpoints
    table = {
        "race": ["r1"] * 3 + ["r2"] * 3, "date": ["2024-01-01"] * 3 + ["2024-02-01"] * 3,
        "driver": ["Ann", name, "Cid", name, "Cid", "Ann"], "car": ["x", "y", "x", "y", "x", "z"],
        "place": [1, 2, 3, 1, 2, 3],
    }  # fmt: skip
    book = kn.RatingBook(tmp_path / "b.db", kn.RankElo(walk=0.3, prior_spread=0.8, newcomer=0.0, regression=0.1))
    book.add(kn.read_contests(table, slots={"driver": "driver", "car": "car"}))
    before = book.ratings_.sort("kind", "rating").select("kind", "rating").rows()
    new = book.erase(name)
    again = kn.RatingBook(tmp_path / "b.db")
    assert again.check() == [] and again.kinds == ("driver", "car") and new in again.ratings_["name"].to_list()
    assert again.ratings_.sort("kind", "rating").select("kind", "rating").rows() == before
    again.update_one([("Ann", "x"), (new, "z")], match_id="late", date="2024-01-15")
    assert again.check() == []


@pytest.mark.parametrize(
    ("kind", "name"),
    [("TeamElo", "surface"), ("KalmanElo", "clay"), ("PlayerElo", "home"), ("PlayerElo", "player"),
     ("Glicko2", "volatility"), ("KalmanElo", "A1"), ("TeamElo", "home"), ("Glicko2", "player")],
)  # fmt: skip
def test_words_of_matches_that_are_called_so_keep_their_name(kind, name, tmp_path):
    conditions = ["surface"] if kind in ("TeamElo", "KalmanElo") else []
    table = pl.DataFrame({
        "match_id": ["1", "2", "3"], "date": ["2024-01-01", "2024-01-02", "2024-01-03"], "home": ["Ann", name, "Cid"],
        "away": [name, "Cid", "Ann"], "result": [1.0, 0.0, 0.5], "surface": ["clay", "grass", "clay"],
    })  # fmt: skip
    sheet = lineups(table) if kind == "PlayerElo" else None
    book = kn.RatingBook(
        tmp_path / "b.db", given(getattr(kn, kind), **({"conditions": conditions} if conditions else {}))
    )
    book.add(kn.read_matches(table, sheet, conditions=conditions))
    before = sorted(book.ratings_["rating"].to_list())
    new = book.erase(name)
    again = kn.RatingBook(tmp_path / "b.db")
    assert again.check() == [] and sorted(again.ratings_["rating"].to_list()) == before
    assert new in again.ratings_["name"].to_list()
