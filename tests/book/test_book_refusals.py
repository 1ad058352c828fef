"""What rating books refuse, word by word."""

import math
import sqlite3
from contextlib import closing
from dataclasses import replace

import polars as pl
import pytest

import kinelo as kn
from kinelo.book.match_ledger import LARGEST, SCHEMA, rows_to_frame
from kinelo.book.migration import read_skills
from kinelo.book.milestones import try_season
from kinelo.book.tiers import Tiers, tiers_of
from kinelo.forecasts.forecast import Forecast
from refusals import check_refusal

MATCHES = {"date": ["2024-01-01", "2024-01-08"], "home": ["A", "B"], "away": ["B", "C"], "result": [1.0, 0.5],
           "match_id": ["m1", "m2"]}  # fmt: skip
TWICE = {"date": ["2024-01-01"] * 4, "race": list("aabb"), "driver": list("ABAB"), "place": [1, 2, 1, 2]}
RACES = {"date": ["2024-01-01"] * 2, "race": ["r1", "r1"], "driver": ["A", "B"], "place": [1, 2]}


class Mine:
    """A rater of somebody, which keeps nothing and answers no single match."""

    def fit(self, matches):
        return self

    def update(self, matches):
        return self

    def one_step_ahead(self, matches):
        return Forecast.of([0.5] * len(matches), [0.2] * len(matches), [0.3] * len(matches))

    predict = one_step_ahead
    ratings_ = pl.DataFrame({"name": ["A"], "rating": [1500.0]})

    def to_arrays(self):
        return {}

    def from_arrays(self, arrays):
        pass

    def get_params(self, deep=True):
        return {}


@pytest.fixture
def book(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with kn.RatingBook("league.db", kn.TeamElo.classic(k=20)) as one:
        one.add(kn.read_matches(MATCHES))
        yield one


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with kn.RatingBook("mine.db", Mine()) as one:
        one.add(kn.read_matches(MATCHES))
        yield one


class Nothing:
    """What is no rater."""


ASKED = {
    "matches that are numbers": (
        lambda book: book.add([7]), "matches must be such as {'home': 'A', 'away': 'B', 'result': 1}, not 7.",
    ),
    "a word that is not known": (
        lambda book: book.add([{"home": "A", "away": "B", "result": 1, "pitch": "wet"}]),
        r"'pitch' is not known of a match; it has .*home.*result.*\.",
    ),
    "a word that is not known of one match": (
        lambda book: book.update_one("A", "B", 1, pitch="wet"),
        r"'pitch' is not known of a match; it has .*home.*result.*\.",
    ),
    "a match of one side": (
        lambda book: book.add([{"home": "A", "result": 1}]), "A match has no away: {'home': 'A', 'result': 1}.",
    ),
    "matches beside contests": (
        lambda book: book.add([{"home": "A", "away": "B", "result": 1}, {"order": ["A", "B"]}]),
        "A list holds matches of two sides, or contests with an order, not both.",
    ),
    "a scan": (
        lambda book: book.add(kn.matches.scan_matches("league.csv")),
        "A rating book checks every match by its identifier; read them with read_matches.",
    ),
    "identifiers that are numbers": (
        lambda book: book.remove(["m1", 7]), "matches are taken out by identifier, which is text, not 7.",
    ),
    "nobody": (lambda book: book.erase(" "), "' ' is not a name; a name is text that is not blank."),
    "one identifier twice": (
        lambda book: book.add(replace(kn.read_matches(MATCHES), identifiers=pl.Series(["m3", "m3"]))),
        "The identifier 'm3' stands for more than one of these matches.",
    ),
    "an identifier of blanks": (
        lambda book: book.update_one("A", "B", "win", match_id=" "), "match_id=' ' must be text that is not blank.",
    ),
    "a trial of too few": (
        lambda book: try_season(book, 0.5), "A trial needs at least 80 matches on several days, not 2.",
    ),
    "a season of another rater": (
        lambda book: kn.RatingBook("league.db", Nothing), "Nothing is not a rater: it lacks one_step_ahead.",
    ),
}  # fmt: skip

FREE = {
    "no path": (
        lambda: kn.RatingBook(7), "A rating book is a file or the address of a database, and 7 is neither.",
    ),
    "an empty path": (
        lambda: kn.RatingBook(""), "A rating book is a file or the address of a database, and '' is neither.",
    ),
    "how surely it writes": (
        lambda: kn.RatingBook("new.db", kn.TeamElo.classic(k=20), synchronous="MAYBE"),
        "synchronous='MAYBE' is not known; it is 'FULL' or 'NORMAL'.",
    ),
    "one tier": (
        lambda: Tiers({"gold": 1500}), "Tiers are 2 to 50 names with a number each, from the lowest to the highest.",
    ),
    "51 tiers": (
        lambda: Tiers({str(k): k for k in range(51)}),
        "Tiers are 2 to 50 names with a number each, from the lowest to the highest.",
    ),
    "a tier without a name": (lambda: Tiers({" ": 1, "gold": 2}), "' ' is not the name of a tier."),
    "tiers by luck": (lambda: Tiers({"silver": 1, "gold": 2}, by="luck"), "by is 'points' or 'share', not 'luck'."),
    "tiers the wrong way": (
        lambda: Tiers({"gold": 1500, "silver": 1400}),
        "Every tier begins with more points than the one before it; name the lowest first.",
    ),
    "tiers that begin alike": (
        lambda: Tiers({"silver": 1500, "gold": 1500}),
        "Every tier begins with more points than the one before it; name the lowest first.",
    ),
    "shares of more than all": (
        lambda: Tiers({"silver": 0.75, "gold": 0.5}, by="share"),
        "Shares of tiers are above 0 and add up to 1, not to 1.25.",
    ),
    "a share of nought": (
        lambda: Tiers({"silver": 1.0, "gold": 0.0}, by="share"),
        "Shares of tiers are above 0 and add up to 1, not to 1.",
    ),
    "skills without names": (
        lambda: read_skills(pl.DataFrame({"who": ["A"], "mu": [25.0], "sigma": [8.0]})),
        "Skills need the columns name, mu and sigma; there are who, mu, sigma.",
    ),
    "skills of no doubt": (
        lambda: read_skills(pl.DataFrame({"name": ["A"], "mu": [25.0], "sigma": [0.0]})),
        "Skills say of 'A' mu 25 and sigma 0; sigma is above 0.",
    ),
    "skills of one twice": (
        lambda: read_skills(pl.DataFrame({"name": ["B", "A", "A "], "mu": [25.0, 24, 23], "sigma": [8.0, 7, 6]})),
        "Skills name 'A' twice.",
    ),
}  # fmt: skip

BACK = "Nothing was changed; put back a copy."
LINEUPS = f"league.db: A row of the table match holds line-ups that are none. {BACK}"
ROW = f"league.db: The row of 'A' in the table slot holds what no rater stores. {BACK}"
WRITE_LINEUP = """UPDATE match SET lineups =
    '{{"home": {{"player": [{}], "minutes": [null], "starter": [1], "role": [null]}}}}'"""
SPOILT = {
    "another version": (
        "UPDATE about SET value = '0' WHERE key = 'format'",
        r"league\.db was written by another version of Kinelo \(tables of format '0', this one reads \d+\)\.",
    ),
    "a rater of nobody": (
        "DELETE FROM about WHERE key = 'rater'", "league.db does not say which rater it keeps: it is damaged.",
    ),
    "tiers of nobody": (
        "INSERT INTO about (key, value) VALUES ('tiers', '{\"bounds\": {\"gold\": 1}}')",
        "league.db holds a rule of tiers that is none (Tiers are 2 to 50 names with a number each, from the lowest to "
        "the highest.); set it again.",
    ),
    "a match against itself": (
        "UPDATE match SET away = home", f"league.db: A row of the table match holds what no match is. {BACK}",
    ),
    "matches of nothing": (
        "UPDATE about SET value = 'dreams' WHERE key = 'holds'", "league.db does not say what it holds: it is damaged.",
    ),
    "line-ups that are no JSON": (
        "UPDATE match SET lineups = '{'", f"league.db: A row holds text where JSON belongs. {BACK}",
    ),
    "settings that are no JSON": (
        "UPDATE about SET value = '{' WHERE key = 'settings'", "league.db holds text where JSON belongs.",
    ),
    "line-ups of a number": (
        "UPDATE match SET lineups = '{\"home\": 7}'", LINEUPS,
    ),
    "line-ups of unequal lists": (
        "UPDATE match SET lineups = '{\"home\": {\"player\": [\"Ann\"], \"minutes\": []}}'", LINEUPS,
    ),
    "line-ups of numbers": (
        WRITE_LINEUP.format("1"),
        LINEUPS,
    ),
    "line-ups of nobody": (
        WRITE_LINEUP.format("null"),
        LINEUPS,
    ),
    "a rating of letters": ("UPDATE slot SET mean = 'x'", ROW),
    "a rating without end": ("UPDATE slot SET mean = 1e999", ROW),
    "games of letters": ("UPDATE slot SET games = 'x'", ROW),
    "more that is nothing": ("UPDATE slot SET more = '[1]'", ROW),
    "a kind of nobody": (
        "UPDATE slot SET kind = 'car'", f"league.db: The table slot holds kinds that ClassicElo does not rate. {BACK}",
    ),
    "numbers of letters": (
        "UPDATE common SET value = '\"x\"'",
        f"league.db: 'common' in the table common is not what its rater stores. {BACK}",
    ),
    "milestones of letters": (
        "INSERT INTO about (key, value) VALUES ('milestones', 'x')",
        "A book does not say how many milestones it has: it is damaged.",
    ),
    "a state of something else": (
        "UPDATE checkpoint SET state = x'00'",
        "league.db: A state in the table checkpoint is not what Kinelo writes. Put back a copy.",
    ),
    "a state that is a number": (
        "UPDATE checkpoint SET state = 7",
        "league.db: A state in the table checkpoint is not what Kinelo writes. Put back a copy.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ASKED)
def test_a_book_says_what_is_wrong(case, book, tmp_path):
    pl.DataFrame(MATCHES).write_csv(tmp_path / "league.csv")
    call, sentence = ASKED[case]
    check_refusal((lambda: call(book), sentence))


@pytest.mark.parametrize("case", FREE)
def test_a_refusal_says_what_is_wrong(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_refusal(FREE[case])
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("case", SPOILT)
def test_a_damaged_book_says_where(case, book):
    sql, sentence = SPOILT[case]
    book.close()
    with closing(sqlite3.connect("league.db")) as one:
        one.execute(sql)
        one.commit()

    def read_all():
        with kn.RatingBook("league.db") as again:
            tiers_of(again)
            again.check()
            again.remove("m2")

    check_refusal((read_all, sentence))


SOUND = {"match_id": "m", "number": 1, "source": "", "date": "2024-03-01", "home": "A", "away": "B", "result": 0.5,
         "margin": None, "neutral": 0, "weight": 1.0, "rank": 1, "place": 1}  # fmt: skip
ENDS = {
    "result": ((0.0, 1.0), (-0.01, 1.01)),
    "margin": ((None, -LARGEST, LARGEST), (-1.001 * LARGEST, 1.001 * LARGEST, math.nan)),
    "neutral": ((0, 1), (-1, 2)),
    "weight": ((0.0, LARGEST), (-0.01, 1.001 * LARGEST)),
    "date": (("1700-01-01", "2199-12-31"), ("1699-12-31", "2200-01-01", "2024-02-30")),
    "home": (("C",), ("B", None)),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_row_is_a_match_up_to_the_ends_and_no_further(name):
    """Each number of a row at its very limit, and beside it."""
    taken, refused = ENDS[name]
    for value in taken:
        assert rows_to_frame([tuple((SOUND | {name: value}).get(key) for key in SCHEMA)])[name].to_list() == [value]
    for value in refused:
        with pytest.raises(kn.InputError, match=r"^A row of the table match holds what no match is\.$"):
            rows_to_frame([tuple((SOUND | {name: value}).get(key) for key in SCHEMA)])


@pytest.mark.parametrize("call", [
    lambda book: book.remove_player("Ann"), lambda book: book.erase("Ann"),
])  # fmt: skip
def test_a_damaged_line_up_is_said_where_somebody_leaves(call, book):
    book.close()
    with closing(sqlite3.connect("league.db")) as one:
        one.execute("UPDATE match SET lineups = '{\"Ann\"'")
        one.commit()
    with kn.RatingBook("league.db") as again:
        check_refusal((lambda: call(again), "league.db holds text where JSON belongs."))


OF_ANOTHER = {
    "one match": (
        lambda book: book.predict_one("A", "B"), "Mine has no predict_one; the raters of Kinelo have it.",
    ),
    "a trial": (
        lambda book: try_season(book, 0.5), "A reset is tried with Kinelo's raters, and Mine is none of them.",
    ),
    "new parameters": (
        lambda book: book.refit(), "A book learns the parameters of Kinelo's raters, and Mine is none of them.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OF_ANOTHER)
def test_a_book_of_somebodys_rater_says_what_it_lacks(case, mine):
    call, sentence = OF_ANOTHER[case]
    check_refusal((lambda: call(mine), sentence))


def test_a_book_of_contests_says_what_is_wrong(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    contests = kn.read_contests(RACES)
    with kn.RatingBook("races.db", kn.RankElo()) as book:
        for table, sentence in (
            (
                kn.read_contests({**RACES, "place": [None, None]}, played=False),
                "A match without a result cannot enter a rating book; read it with played=True.",
            ),
            (
                replace(kn.read_contests(TWICE), identifiers=("r", "r")),
                "Two of these contests have one name; give each its own, or add a column of seasons.",
            ),
        ):
            check_refusal((lambda table=table: book.add(table), sentence))
        assert len(book) == 0
        book.add(contests)


def test_arguments_that_cannot_be_kept_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Mine, "get_params", lambda self, deep=True: {"friend": object()})
    check_refusal(
        (
            lambda: kn.RatingBook("mine.db", Mine()),
            "A rating book keeps numbers, words, lists and rating systems, which not all arguments of Mine are.",
        )
    )


@pytest.mark.parametrize(("broken", "said"), [(ValueError("five sides."), "five sides"), (KeyError("x"), "'x'")])
def test_a_rater_that_does_not_know_its_own_arrays_is_named(broken, said, mine, monkeypatch):
    mine.close()

    def fail(self, arrays):
        raise broken

    monkeypatch.setattr(Mine, "from_arrays", fail)
    check_refusal(
        (
            lambda: kn.RatingBook("mine.db", Mine).ratings_,
            rf"mine\.db does not hold what Mine stores \(.*{said}.*\); nothing was changed, put back a copy of the "
            r"file\.",
        )
    )


def test_a_book_of_two_sides_takes_no_order(tmp_path):
    with kn.RatingBook(tmp_path / "x.db", kn.Glicko()) as book:
        for call, sentence in (
            (lambda: book.predict_one(["A", "B"]), "Glicko rates matches of two sides; give both."),
            (
                lambda: book.update_one(["A", "B"], match_id="m3"),
                "Glicko rates matches of two sides; give both, and the result.",
            ),
        ):
            check_refusal((call, sentence))
