"""Databases that somebody else wrote into: nothing in them is run, and whatever they hold is said in a sentence."""

import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from io import BytesIO

import numpy as np
import pytest

import kinelo as kn
from kinelo.book.paging import Asked, page_of
from kinelo.book.ratings import pack, unpack
from kinelo.raters.slots import numbers_shared


def mixture():
    """Two raters weighed by a season that is not in the book."""
    past = kn.read_matches(kn.sample_league(teams=6, seasons=1, seed=1).results)
    return kn.raters.Mixture([kn.TeamElo.classic(k=20), kn.BradleyTerry(ridge=0.1)]).fit(past)


RATERS = {
    "mixture": mixture,
    "team": lambda: kn.TeamElo(20.0, conditions=["surface"], prior_spread=100.0),
    "fide": lambda: kn.TeamElo.classic(k=kn.model.FideSteps(under_18=["A"]), k_of={"B": 10.0}),
    "glicko": lambda: kn.Glicko2(deviation=300.0, volatility=0.06, home_advantage=0.0, ties=0.5),
    "bradley_terry": lambda: kn.BradleyTerry(ridge=0.1),
    "rank": lambda: kn.RankElo(walk=0.3, prior_spread=1.0, newcomer=-0.2, regression=0.1, retirement=0.5, off=0.0),
}


def results(kind):
    if kind == "rank":
        places = {"date": ["2020-01-01"] * 3 + ["2020-02-01"] * 3, "race": ["1"] * 3 + ["2"] * 3}
        return kn.read_contests(places | {"driver": list("ABCBCA"), "place": [1, 2, 3, 1, 2, 3]})
    table = {
        "date": ["2020-01-01", "2020-02-01", "2020-03-01", "2020-03-02"], "home": list("ABCA"), "away": list("BCAC"),
        "home_score": [2, 1, 3, 1], "away_score": [1, 1, 0, 0], "surface": ["clay", "grass", "clay", "clay"],
        "home_lineup": [["a", "aa"], ["b"], ["c", "cc"], ["a"]], "away_lineup": [["b", "bb"], ["c"], ["a"], ["cc"]],
        "match_id": list("wxyz"),
    }  # fmt: skip
    return kn.read_matches(table, conditions=["surface"])


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A book of each kind."""
    folder = tmp_path_factory.mktemp("books")
    for kind, rater in RATERS.items():
        with kn.RatingBook(folder / kind, rater()) as book:
            book.add(results(kind))
    return folder


def spoil(path, sql, values=()):
    with closing(sqlite3.connect(path)) as one:
        one.execute(sql, values)
        one.commit()


def outcome(path) -> str:
    """The sentence that refuses a book, or nothing where its ratings are numbers and it goes on; any other error is
    one."""
    try:
        with kn.RatingBook(path) as book:
            assert np.isfinite(book.ratings_["rating"].to_numpy()).all()
            book.check()
            if book.noun == "matches":
                book.predict_one("A", "B")
                book.update_one("A", "C", "win", match_id="more", date="2021-01-01")
                book.add([{"match_id": "still", "home": "A", "away": "B", "result": 1, "date": "2021-01-02"}])
            else:
                book.predict_one(["A", "B"])
                book.update_one(["A", "C", "D"], match_id="more", date="2021-01-01")
                book.add([{"match_id": "still", "order": ["A", "B"], "date": "2021-01-02"}])
            page_of(book, Asked())
            book.matches()
            book.erase("A")
    except kn.InputError as error:
        return str(error)
    return ""


SPOILT = [None, "nonsense", "[" * 5000, "{}", '{"x": 1e999}', "[1, [2, {}]]", -1, 2**62, 2**63 - 1, -(2**63), 0.5,
          float("inf"), -float("inf"), 1e308, b"\x00\xff", "A", "2020-01-01", "9999-99-99", ""]  # fmt: skip
COLUMNS = {
    "slot": ["kind", "name", "mean", "variance", "games", "last_day", "more"],
    "common": ["name", "value"],
    "match": ["match_id", "date", "home", "away", "result", "margin", "neutral", "weight", "conditions", "lineups",
              "rank", "place", "line"],
    "contest": ["contest_id", "name", "date", "weight", "title", "kinds", "rank", "place"],
    "entry": ["contest_id", "number", "entrant", "place", "ended", "distance", "slots"],
    "checkpoint": ["date", "matches", "state"],
    "source": ["digest", "rank", "named"],
    "about": ["key", "value"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "tables", "values"),
    [("team", COLUMNS, 1), ("rank", COLUMNS, 1),
     *((kind, ("slot", "common", "checkpoint", "about"), 1) for kind in ("fide", "glicko", "bradley_terry")),
     *(pytest.param(kind, COLUMNS, 4, marks=pytest.mark.long) for kind in ("team", "rank"))],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
def test_whatever_stands_in_a_cell_is_said_in_a_sentence(honest, kind, tables, values, tmp_path):
    """Every column of every table, something else in its first row; never another error, never a crash."""
    step, empty = len(SPOILT) // values, ("match",) if kind == "rank" else ("contest", "entry")
    cells = [(table, column) for table in tables if table not in empty for column in COLUMNS[table]]
    path, tried, told = tmp_path / "book.db", 0, 0
    for number, (table, column) in enumerate(cells, len(kind)):
        for value in SPOILT[5 * number % step :: step]:
            shutil.copy(honest / kind, path)
            try:
                spoil(path, f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT MIN(rowid) FROM {table})", (value,))
            except sqlite3.IntegrityError:
                continue
            tried += 1
            sentence = outcome(path)
            told += bool(sentence)
            assert "\n" not in sentence and (not sentence or len(sentence) < 400), (table, column, value, sentence)
    assert tried > 10 and told > 0.2 * tried, (tried, told)


LARGE = [("slot", "variance", value) for value in (1e18, 1e30, 1e98, 1e200, 1.7e308)]
LARGE += [("slot", "mean", value) for value in (1e30, -1e98, 1e200)]
LARGE += [("slot", "last_day", value) for value in ("2020-01-01", b"1", 1.5, -(2**62))]
LARGE += [("PLAYED", "number", value) for value in (2**62, 2**63 - 1)] + [("source", "digest", b"\xff")]


@pytest.mark.parametrize("kind", ["rank", "glicko"])
@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
def test_numbers_out_of_range_never_reach_compiled_code(honest, kind, tmp_path):
    """Every row holds the number, or one row: those known well meet those of whom nothing is known."""
    for number, (table, column, value) in enumerate(LARGE, len(kind)):
        played = table.replace("PLAYED", "contest" if kind == "rank" else "match")
        one = f" WHERE rowid = (SELECT MAX(rowid) FROM {played})"
        rows = one if column == "number" or number % 2 else ""
        shutil.copy(honest / kind, tmp_path / "book.db")
        spoil(tmp_path / "book.db", f"UPDATE {played} SET {column} = ?{rows}", (value,))
        sentence = outcome(tmp_path / "book.db")
        assert "\n" not in sentence and len(sentence) < 400
        assert sentence or not (isinstance(value, float) and abs(value) > 1e100), (column, value)


@pytest.mark.parametrize("numbers", ["[Infinity]", "[NaN]", "[1e101]", "[true]", '["1"]', "{}"])
def test_shared_numbers_out_of_range_are_refused(numbers):
    with pytest.raises(kn.InputError, match="'common' in the table common is not what its rater stores"):
        numbers_shared({"common": json.loads(numbers)}, "common")


@pytest.mark.parametrize("column", ["name", "sql"])
def test_text_that_is_none_is_said_in_a_sentence(honest, column, tmp_path):
    """Pages that are damaged hold bytes that no text has, also where SQLite tells of them."""
    shutil.copy(honest / "team", tmp_path / "book.db")
    with closing(sqlite3.connect(tmp_path / "book.db")) as one:
        one.execute("PRAGMA writable_schema = 1")
        one.execute(f"UPDATE sqlite_master SET {column} = CAST(x'43ff41' AS TEXT) WHERE name = 'slot'")
        one.commit()
    with pytest.raises(kn.InputError, match="damaged") as refused:
        kn.RatingBook(tmp_path / "book.db")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("DROP TABLE common", "its table 'common' is missing or another"),
        ("ALTER TABLE slot ADD COLUMN odd TEXT", "its table 'slot' is missing or another"),
        ("DROP INDEX match_order", "its index 'match_order' is missing"),
        ("DROP VIEW rating", "its view 'rating' is missing"),
        ("CREATE TRIGGER t AFTER INSERT ON match BEGIN DELETE FROM slot; END", "it holds the trigger 't'"),
        ("UPDATE about SET value = '99' WHERE key = 'format'", "written by another version of Kinelo"),
        ("DELETE FROM checkpoint", "does not say where its rater began"),
        ("UPDATE about SET value = 'os:system' WHERE key = 'rater'", "neither a rater of Kinelo's nor"),
        ("UPDATE about SET value = '{\"start\": \"/etc/passwd\"}' WHERE key = 'settings'", "cannot be made of"),
        ("UPDATE about SET value = '{\"x\": 1}' WHERE key = 'settings'", "cannot be made of"),
    ],
)
def test_another_schema_is_refused_before_anything_is_written(honest, sql, said, tmp_path):
    shutil.copy(honest / "team", tmp_path / "book.db")
    spoil(tmp_path / "book.db", sql)
    before = (tmp_path / "book.db").read_bytes()
    with pytest.raises(kn.InputError, match=said) as refused:
        kn.RatingBook(tmp_path / "book.db")
    assert "\n" not in str(refused.value) and (tmp_path / "book.db").read_bytes() == before


@pytest.mark.parametrize(
    ("raters", "said"),
    [
        (None, "does not say where its rater began"),
        ({"A": {"rater": "os:system"}}, "cannot be made of"),
        ({"A": {"rater": "kinelo.raters.mixture:Mixture"}}, "cannot be made of"),
        ({}, "There is no rater"),
    ],
)
def test_mixtures_of_other_raters_are_refused(honest, raters, said, tmp_path):
    shutil.copy(honest / "mixture", tmp_path / "book.db")
    change = "UPDATE about SET value = ? WHERE key = 'settings'"
    held = (change, (json.dumps({"raters": raters}),)) if raters is not None else ("DELETE FROM checkpoint",)
    spoil(tmp_path / "book.db", *held)
    with pytest.raises(kn.InputError, match=said):
        kn.RatingBook(tmp_path / "book.db")


@pytest.fixture(scope="module")
def honest_server(server):
    """Addresses of copies of a book of each kind in PostgreSQL."""
    import psycopg

    kept = {}
    for kind, rater in RATERS.items():
        address = kept[kind] = server.address()
        with kn.RatingBook(address, rater()) as book:
            book.add(results(kind))

    def copy(kind: str, *sql: str) -> str:
        server.made += 1
        name, model = f"forged_{server.made}", kept[kind].partition("///")[2].partition("?")[0]
        with psycopg.connect(kept[kind].replace(model, "postgres", 1), autocommit=True) as one:
            one.execute(f"CREATE DATABASE {name} TEMPLATE {model}")
        address = kept[kind].replace(model, name, 1)
        with psycopg.connect(address, autocommit=True) as one:
            for statement in sql:
                one.execute(statement)
        return address

    return copy


@pytest.mark.parametrize("kind", ["team", "rank"])
@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
def test_whatever_stands_in_a_cell_of_postgresql_is_said_in_a_sentence(honest_server, kind):
    """The same in PostgreSQL, of what its types let in."""
    import psycopg

    tried = told = 0
    others = ("match",) if kind == "rank" else ("contest", "entry")
    cells = [(table, column) for table, columns in COLUMNS.items() if table not in others for column in columns]
    for number in range(kind == "rank", len(cells), 2):
        (table, column), value = cells[number], SPOILT[3 * number % len(SPOILT)]
        address = honest_server(kind)
        with psycopg.connect(address, autocommit=True) as one:
            try:
                one.execute(f"UPDATE {table} SET {column} = %s WHERE ctid = (SELECT MIN(ctid) FROM {table})", (value,))
            except psycopg.Error:
                continue
        tried += 1
        sentence = outcome(address)
        told += bool(sentence)
        assert "\n" not in sentence and (not sentence or len(sentence) < 400), (table, column, value, sentence)
    assert tried > 5 and told > 0.2 * tried, (tried, told)


RUN = "CREATE FUNCTION run() RETURNS {} LANGUAGE plpgsql AS $$ BEGIN RAISE 'it was run'; END $$"
SEEN = "CREATE FUNCTION seen(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT lower($1)'"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (["DROP TABLE common"], "its table 'common' is missing or another"),
        (["ALTER TABLE slot ADD COLUMN odd TEXT"], "its table 'slot' is missing or another"),
        (["ALTER TABLE match ALTER COLUMN home TYPE VARCHAR"], "its table 'match' is missing or another"),
        (["DROP TABLE source", "CREATE VIEW source AS SELECT 1"], "its table 'source' is missing or another"),
        ([RUN.format("trigger"), "CREATE TRIGGER t BEFORE INSERT ON match EXECUTE FUNCTION run()"], "the trigger 't'"),
        ([RUN.format("bigint"), "CREATE RULE r AS ON UPDATE TO slot DO ALSO SELECT run()"], "the rule 'r'"),
        ([RUN.format("bool"), "CREATE POLICY p ON slot USING (run())"], "the policy 'p'"),
        ([RUN.format("bool"), "ALTER TABLE slot ADD CONSTRAINT c CHECK (run()) NOT VALID"], "the constraint 'c'"),
        ([SEEN, "CREATE INDEX i ON slot (seen(name))"], "the index 'i'"),
        ([SEEN, "CREATE INDEX i ON slot (kind) WHERE seen(name) > 'A'"], "the index 'i'"),
        ([RUN.format("text"), "ALTER TABLE slot ALTER COLUMN more SET DEFAULT run()"], r"the default 'run\(\)'"),
        (["UPDATE about SET value = '99' WHERE key = 'format'"], "written by another version of Kinelo"),
        (["UPDATE about SET value = 'os:system' WHERE key = 'rater'"], "neither a rater of Kinelo's nor"),
    ],
)
def test_another_schema_of_postgresql_is_refused_and_nothing_in_it_is_run(honest_server, sql, said):
    with pytest.raises(kn.InputError, match=said) as refused:
        kn.RatingBook(honest_server("team", *sql))
    assert "\n" not in str(refused.value) and "it was run" not in str(refused.value)


def test_tables_of_the_user_beside_ours_are_left_alone(honest, tmp_path):
    shutil.copy(honest / "glicko", tmp_path / "book.db")
    spoil(tmp_path / "book.db", "CREATE TABLE fees (name TEXT, paid REAL)")
    spoil(tmp_path / "book.db", "CREATE VIEW best AS SELECT name FROM rating ORDER BY rating DESC LIMIT 3")
    assert outcome(tmp_path / "book.db") == ""


@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
def test_a_corrupted_file_is_said_and_never_changed_by_reading(honest, tmp_path):
    """Bytes turned at forty places: SQLite finds it, a row holds what nobody stores, or check does."""
    content, path, said = (honest / "glicko").read_bytes(), tmp_path / "book.db", 0
    for at in range(50, len(content), len(content) // 40):
        harmed = bytearray(content)
        harmed[at : at + 64] = bytes(255 - byte for byte in harmed[at : at + 64])
        path.write_bytes(harmed)
        try:
            with kn.RatingBook(path) as book:
                found = book.check() or [str(len(book.matches()))]
        except kn.InputError as error:
            found = [str(error)]
        said += found != ["4"]
        assert all("\n" not in line for line in found) and path.read_bytes() == bytes(harmed)
    assert said > 3


def archive(**members: bytes) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if "bomb" in members else zipfile.ZIP_STORED) as one:
        for name, content in members.items():
            one.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def header(shape: str, kind: str = "<f8") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(118 - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    "content",
    [
        archive(bomb=b"\0" * (1 << 22)),
        archive(x=header("(1000000000000,)") + b"\0" * 8),
        archive(x=header("(1,)", "|O") + b"\0" * 8),
        archive(x=b"cos\nsystem\n"),
        b"PK\x03\x04",
        b"",
        "text",
        None,
    ],
    ids=["compressed", "huge", "objects", "pickle", "cut", "empty", "text", "nothing"],
)
def test_states_take_no_more_room_than_their_bytes_and_run_nothing(content):
    with pytest.raises(kn.InputError, match="is not what Kinelo writes"):
        unpack(content)


def test_states_come_back():
    arrays = {
        "x": np.arange(6.0).reshape(2, 3),
        "names": np.array(["Ä", "b"]),
        "none": np.empty((0, 0)),
        "n": np.array(3),
    }
    for name, values in unpack(pack(arrays)).items():
        assert values.dtype == arrays[name].dtype and np.array_equal(values, arrays[name])


def test_books_of_folders_are_refused_in_a_sentence(tmp_path):
    (tmp_path / "book.knl").write_bytes(b"KINELO2")
    for rater in (None, kn.Glicko()):
        with pytest.raises(kn.InputError, match=r"a rating book of version 0\.4 or before, which this one"):
            kn.RatingBook(tmp_path, rater)
    assert [file.name for file in tmp_path.iterdir()] == ["book.knl"]
