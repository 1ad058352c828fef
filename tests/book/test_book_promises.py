"""What a rating book promises beyond arithmetic: matches told apart, corrections, removals, raters, damage, disks."""

import json
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.book.keeping import plain_system, system_of
from patience import PATIENCE


def rater() -> kn.TeamElo:
    return kn.TeamElo(20.0, 2.0, 10.0, 60.0, 0.7, 50.0, 0.0, 1.0, 1.0, 0.5, prior_spread=150.0)


@cache
def league() -> kn.matches.Matches:
    return kn.read_matches(kn.sample_league(teams=6, seasons=1, seed=2).results)


def nameless(rows: int) -> dict[str, list]:
    """Dated matches without identifiers, one a day, all different."""
    days = [str(np.datetime64("2024-01-01") + k) for k in range(rows)]
    sides = [(f"T{k % 5}", f"T{(k + 1 + k // 5 % 3) % 5}") for k in range(rows)]
    result = [(0.0, 0.5, 1.0)[k % 3] for k in range(rows)]
    return {"date": days, "home": [a for a, _ in sides], "away": [b for _, b in sides], "result": result}


def first(table: dict[str, list], rows: int) -> dict[str, list]:
    return {name: values[:rows] for name, values in table.items()}


def files_of(book: Path) -> list[str]:
    """Everything that a book holds."""
    with closing(sqlite3.connect(book)) as one:
        return [line for line in one.iterdump() if "'changes'" not in line]


# Which matches are one


def test_without_ids_the_same_table_and_one_that_has_grown_are_recognised(tmp_path):
    book = kn.RatingBook(tmp_path / "b", rater())
    table = nameless(12)
    assert book.add(kn.read_matches(first(table, 8))) == book_added(8, 0)
    assert book.add(kn.read_matches(first(table, 8))) == book_added(0, 8)
    assert book.add(kn.read_matches(first(table, 10))) == book_added(2, 8)
    assert kn.RatingBook(tmp_path / "b").add(kn.read_matches(table)) == book_added(2, 10)
    assert kn.RatingBook(tmp_path / "b").ratings_.equals(rater().update(kn.read_matches(table)).ratings_)


def book_added(new: int, known: int):
    from kinelo.book.book import Added

    return Added(new, known)


def test_without_ids_parts_of_a_table_are_told_by_their_rows(tmp_path):
    matches = kn.read_matches(nameless(12))
    book = kn.RatingBook(tmp_path / "b", rater())
    assert book.add(matches[:5]).new == 5
    assert book.add(matches[3:8]) == book_added(3, 2)
    assert book.add(matches) == book_added(4, 8)


@pytest.mark.parametrize("change", ["a second match", "another result", "rows on top"])
def test_without_ids_what_cannot_be_told_is_refused(change, tmp_path):
    table = nameless(8)
    book = kn.RatingBook(tmp_path / "b", rater())
    book.add(kn.read_matches(table))
    if change == "a second match":
        other = {name: values[3:4] * 2 for name, values in table.items()}
    elif change == "another result":
        other = table | {"result": [1.0 - table["result"][0], *table["result"][1:]]}
    else:
        other = {name: values[-1:] + values for name, values in nameless(8).items()}
        other["date"][0] = "2025-01-01"
    before = files_of(tmp_path / "b")
    with pytest.raises(kn.InputError, match="nobody can tell a match sent again from a second one"):
        book.add(kn.read_matches(other))
    assert files_of(tmp_path / "b") == before and len(book) == 8


def test_alike_matches_of_one_day_all_count(tmp_path):
    table = {"date": ["2024-01-01"] * 3, "home": ["A"] * 3, "away": ["B"] * 3, "result": [1] * 3}
    matches = kn.read_matches(table)
    book = kn.RatingBook(tmp_path / "b", rater())
    assert book.add(matches).new == len(matches)
    assert book.add(kn.read_matches(table)).new == 0


def test_undated_matches_of_next_week_are_not_taken_for_known(tmp_path):
    book = kn.RatingBook(tmp_path / "b", rater())
    assert book.add(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]})).new == 1
    assert book.add(kn.read_matches({"home": ["A"], "away": ["B"], "result": [0]})).new == 1
    for again in (
        {"home": ["A"], "away": ["B"], "result": [1]},
        {"home": ["A", "C"], "away": ["B", "B"], "result": [1, 1]},
    ):
        with pytest.raises(kn.InputError, match="have neither date nor identifier"):
            book.add(kn.read_matches(again))
    assert len(book) == 2


def test_a_table_that_was_added_without_its_ids_gets_them(tmp_path):
    table = nameless(5)
    named = table | {"match_id": list("abcde")}
    book = kn.RatingBook(tmp_path / "b", rater())
    book.add(kn.read_matches(table))
    with pytest.warns(kn.KineloWarning, match="5 matches that the book held without an identifier are those"):
        assert book.add(kn.read_matches(named)) == book_added(0, 5)
    for one in (book, kn.RatingBook(tmp_path / "b")):
        assert one.matches().match_id.tolist() == list("abcde")
        assert one.ratings_.equals(rater().update(kn.read_matches(table)).ratings_)
        assert one.add(kn.read_matches(named)) == book_added(0, 5)
        assert one.add(kn.read_matches(table)) == book_added(0, 5)  # forgotten again: the same table is known
    named["result"][2] = 1.0 - named["result"][2] if named["result"][2] != 0.5 else 0.0
    with pytest.warns(kn.KineloWarning, match="1 match of the book differs in this table"):
        assert book.add(kn.read_matches(named)).changed == 1
    assert book.remove("a") == 1


def test_one_forgotten_column_does_not_lock_corrections_out(tmp_path):
    """Ids, then a week without them, then all with ids and one result put right: known by id, and corrected."""
    table = nameless(12)
    named = table | {"code": [f"m{k}" for k in range(12)]}
    columns = {"match_id": "code"}
    book = kn.RatingBook(tmp_path / "b", rater())
    book.add(kn.read_matches(first(named, 6), columns=columns))
    week = {name: values[6:] for name, values in named.items()}
    book.add(kn.read_matches(week))
    named["result"][8] = 1.0 if named["result"][8] != 1.0 else 0.5
    with pytest.warns(kn.KineloWarning) as warned:
        added = book.add(kn.read_matches(named, columns=columns))
    assert (added.new, added.known, added.changed) == (0, 11, 1)
    said = " ".join(str(one.message) for one in warned)
    assert "6 matches that the book held without an identifier" in said and "from 2024-01-09 on" in said
    expected = rater().update(kn.read_matches(named, columns=columns)).ratings_
    for one in (book, kn.RatingBook(tmp_path / "b")):
        assert one.ratings_.equals(expected) and sorted(one.matches().match_id) == sorted(named["code"])


def test_ids_and_no_ids_are_not_mixed_in_silence(tmp_path):
    """Where most matches differ, or a day has two meetings of the sides, nobody can say which match is which."""
    table = nameless(5)
    book = kn.RatingBook(tmp_path / "b", rater())
    book.add(kn.read_matches(table))
    held = book.matches().match_id
    before = files_of(tmp_path / "b")
    other = table | {"result": [0.25] * 5, "match_id": list("abcde")}
    twice = {name: values + values[:1] for name, values in (table | {"match_id": list("abcde")}).items()}
    twice["match_id"][-1] = "f"
    for doubtful in (other, twice, first(table | {"match_id": list("abcde")}, 2)):
        with pytest.raises(kn.InputError, match=f"held as '{held[0]}'.*take out of the book those that are the same"):
            book.add(kn.read_matches(doubtful))
        assert files_of(tmp_path / "b") == before
    book.remove(held)
    assert book.add(kn.read_matches(other)).new == 5


# Corrections, removals, days in parts


def test_a_changed_result_is_taken_and_said(tmp_path):
    matches = league()
    table = matches.to_polars()
    book = kn.RatingBook(tmp_path / "b", rater())
    book.add(matches)
    flipped = table.with_columns(
        result=pl.when(pl.col("match_id") == table["match_id"][4]).then(0.25).otherwise("result")
    )
    corrected = kn.read_matches(flipped.drop("margin"), results="points")
    with pytest.warns(
        kn.KineloWarning, match=f"were changed, and the ratings computed again from {table['date'].min()} on"
    ):
        added = book.add(corrected)
    assert added.new == 0 and added.changed == len(matches)
    assert book.ratings_.equals(rater().update(corrected).ratings_)
    assert kn.RatingBook(tmp_path / "b").ratings_.equals(book.ratings_)
    assert book.add(corrected).known == len(matches)


def test_one_correction_touches_one_match(tmp_path):
    table = nameless(9) | {"match_id": [f"m{k}" for k in range(9)]}
    book = kn.RatingBook(tmp_path / "b", rater())
    book.add(kn.read_matches(table))
    table["result"][4] = 1.0 - table["result"][4] if table["result"][4] != 0.5 else 1.0
    table["date"][7] = "2024-01-02"
    with pytest.warns(kn.KineloWarning, match="2 matches of the book .* from 2024-01-02 on"):
        added = book.add(kn.read_matches(table))
    assert (added.new, added.known, added.changed) == (0, 7, 2)
    assert book.ratings_.equals(rater().update(kn.read_matches(table)).ratings_)


def test_a_match_can_be_taken_out_again(tmp_path):
    matches = league()
    book = kn.RatingBook(tmp_path / "b", rater())
    book.add(matches)
    gone = matches.match_id[5]
    assert book.remove(gone) == 1
    rest = matches[matches.match_id != gone]
    for one in (book, kn.RatingBook(tmp_path / "b")):
        assert one.ratings_.equals(rater().update(rest).ratings_) and len(one) == len(rest)
    with pytest.raises(kn.InputError, match="holds no match"):
        book.remove([gone])
    assert book.add(matches).new == 1
    assert kn.RatingBook(tmp_path / "b").ratings_.equals(rater().update(matches).ratings_)


@pytest.mark.parametrize(
    "kept", [rater(), kn.Glicko(300.0, 30.0, 40.0, 0.6), kn.KalmanElo(), kn.KalmanElo(covariance="diagonal")]
)
def test_days_that_arrive_in_parts_end_at_the_same_bits(kept, tmp_path):
    """Six sides play five times a day: every third match first, then the rest, against one batch."""
    rng = np.random.default_rng(4)
    home = rng.integers(0, 6, 60)
    away = (home + rng.integers(1, 6, 60)) % 6
    table = {
        "date": [str(np.datetime64("2024-01-01") + k // 15) for k in range(60)],
        "home": [f"T{k}" for k in home],
        "away": [f"T{k}" for k in away],
        "result": rng.integers(0, 3, 60) / 2,
    }
    matches = kn.read_matches(table)
    book = kn.RatingBook(tmp_path / "b", kept)
    third = np.arange(len(matches)) % 3 == 0
    for part in (matches[third], matches[~third]):
        book.add(part)
    assert kn.RatingBook(tmp_path / "b").ratings_.equals(kept.update(matches).ratings_)


def test_a_day_in_two_tables_is_said_where_order_matters(tmp_path):
    def table(ids, home, away):
        return kn.read_matches(
            {"match_id": ids, "date": ["2024-01-01"] * len(ids), "home": home, "away": away, "result": [1] * len(ids)}
        )

    book = kn.RatingBook(tmp_path / "b", rater())
    book.add(table(["1"], ["A"], ["B"]))
    book.add(table(["2"], ["C"], ["D"]))
    with pytest.warns(kn.KineloWarning, match="On 1 day sides play in this table and in one added before"):
        book.add(table(["3"], ["A"], ["C"]))


class Watched(kn.TeamElo):
    """A rater that lets somebody ask while matches are being used."""

    asked = None

    def _use(self, matches):
        super()._use(matches)
        if Watched.asked is not None:
            Watched.asked()


@pytest.mark.parametrize("reader", ["of the same book", "of another"])
def test_readers_see_the_league_before_a_correction_or_after_it(reader, tmp_path, monkeypatch):
    matches = league()
    book = kn.RatingBook(tmp_path / "b", Watched(16.0))
    book.add(matches)
    seen = book if reader == "of the same book" else kn.RatingBook(tmp_path / "b", Watched)
    before, said = seen.ratings_, []

    def ask():
        thread = threading.Thread(target=lambda: said.append((seen.ratings_, len(seen))))
        thread.start()
        thread.join(PATIENCE)

    monkeypatch.setattr(Watched, "asked", ask)
    taken = matches.match_id[3]
    book.remove(taken)
    assert said, "the reader asked meanwhile"
    assert all(ratings.equals(before) and held == len(matches) for ratings, held in said)
    monkeypatch.setattr(Watched, "asked", None)
    assert seen.ratings_.equals(Watched(16.0).update(matches[matches.match_id != taken]).ratings_)


# Raters


class TeamElo(kn.TeamElo):
    """A class that is called like one of Kinelo's and is another."""


def test_a_class_is_known_by_where_it_comes_from(tmp_path):
    matches = league()
    kn.RatingBook(tmp_path / "own", TeamElo(16.0)).add(matches)
    with pytest.raises(kn.InputError, match=r"is a book of .*:TeamElo, which is neither a rater of Kinelo's nor"):
        kn.RatingBook(tmp_path / "own")
    for given in (TeamElo, TeamElo(16.0)):
        assert type(kn.RatingBook(tmp_path / "own", given).rater) is TeamElo
    with pytest.raises(kn.InputError, match=r"is a book of .*:TeamElo, not of kinelo\.raters\.team\.rater:TeamElo"):
        kn.RatingBook(tmp_path / "own", kn.TeamElo(16.0))
    kn.RatingBook(tmp_path / "ours", kn.TeamElo(16.0))
    with pytest.raises(kn.InputError, match=r"is a book of kinelo\.raters\.team\.rater:TeamElo, not of"):
        kn.RatingBook(tmp_path / "ours", TeamElo(16.0))


def test_a_class_that_cannot_be_found_again_is_refused(tmp_path):
    class Local(kn.TeamElo):
        pass

    with pytest.raises(kn.InputError, match="define it in a module"):
        kn.RatingBook(tmp_path / "b", Local())
    assert not (tmp_path / "b").exists()
    kind = type("Passing", (kn.TeamElo,), {"__module__": "passing_module", "__qualname__": "Passing"})
    kn.RatingBook(tmp_path / "c", kind()).add(league())
    with pytest.raises(kn.InputError, match=r"is a book of passing_module:Passing, .*give its class, RatingBook"):
        kn.RatingBook(tmp_path / "c")
    assert len(kn.RatingBook(tmp_path / "c", kind())) == len(league())


def toured(**change):
    """Matches of three sides of one player each, on two surfaces (some not said), with a number of days of rest."""
    n = 24
    table = {
        "match_id": [f"m{k}" for k in range(n)],
        "date": [f"2024-03-{1 + k:02}" for k in range(n)],
        "home": list("ABC") * 8,
        "away": list("BCA") * 8,
        "result": [1, 0, 0.5, 1] * 6,
        "surface": ["clay", "grass", "clay", ""] * 6,
        "rest": [1.5, -2, 0, 0.25, -1, 2] * 4,
        "home_lineup": [[name.lower()] for name in "ABC" * 8],
        "away_lineup": [[name.lower()] for name in "BCA" * 8],
    }
    for name, (row, value) in change.items():
        table[name][row] = value
    return kn.read_matches(table, conditions=["surface", "rest"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: kn.TeamElo(conditions=["surface"]),
        lambda: kn.KalmanElo(conditions=("surface", "rest"), covariance="full"),
        lambda: kn.PlayerElo(conditions=["surface"]),
    ],
    ids=["team", "kalman", "player"],
)
def test_conditions_are_kept_with_the_matches(make, tmp_path):
    matches = toured()
    kn.RatingBook(tmp_path / "b", make()).add(matches[:10])
    book = kn.RatingBook(tmp_path / "b", make())
    book.add(matches[10:])
    alone = make().update(matches)
    assert book.ratings_.equals(alone.ratings_)
    assert book.predict(matches).probabilities.tobytes() == alone.predict(matches).probabilities.tobytes()
    replayed = kn.RatingBook(tmp_path / "b")
    assert replayed.check() == []
    assert replayed.ratings_.equals(alone.ratings_)
    assert replayed.rater.strengths_by("surface").equals(alone.strengths_by("surface"))
    other = toured(surface=(1, "clay"), rest=(1, 7.0))
    with pytest.warns(kn.KineloWarning, match="1 match of the book differs in this table"):
        assert replayed.add(other).changed == 1
    assert replayed.ratings_.equals(make().update(other).ratings_)


def test_what_a_rater_refuses_does_not_enter_the_book(tmp_path, monkeypatch):
    matches = toured()
    book = kn.RatingBook(tmp_path / "b", kn.TeamElo(conditions=["surface"]))
    book.add(matches[:10])
    before, content = book.ratings_, files_of(tmp_path / "b")
    with monkeypatch.context() as tight:
        tight.setattr("kinelo.raters.state.MOST_STRENGTHS", 1)
        with pytest.raises(kn.InputError, match="too many"):
            book.add(matches[10:])
    assert files_of(tmp_path / "b") == content
    for one in (book, kn.RatingBook(tmp_path / "b")):
        assert len(one) == 10 and one.ratings_.equals(before)
    book.add(matches[10:])
    assert book.ratings_.equals(kn.TeamElo(conditions=["surface"]).update(matches).ratings_)


def test_covariates_are_kept_as_well(tmp_path):
    """Equal to a millionth: the search for an estimate begins where the last one ended."""
    matches = toured()
    book = kn.RatingBook(tmp_path / "b", kn.BradleyTerry(covariates=["rest"]))
    for part in (matches[:10], matches[10:]):
        book.add(part)
    alone = kn.BradleyTerry(covariates=["rest"]).update(matches)
    for rater in (book.rater, kn.RatingBook(tmp_path / "b").rater):
        np.testing.assert_allclose(rater.predict(matches).points, alone.predict(matches).points, atol=1e-6)


def test_a_condition_that_was_not_read_is_asked_for(tmp_path):
    book = kn.RatingBook(tmp_path / "b", kn.TeamElo(conditions=["surface"]))
    with pytest.raises(kn.InputError, match="uses the condition 'surface', which was not read"):
        book.add(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]}))
    assert len(kn.RatingBook(tmp_path / "b")) == 0
    with pytest.raises(kn.InputError, match="with other settings"):
        kn.RatingBook(tmp_path / "b", kn.TeamElo())


@pytest.mark.parametrize(
    "system",
    [
        kn.RatingSystem(kn.model.Davidson(nu=0.003, kappa=0.7), gamma=12.5),
        kn.RatingSystem(
            kn.model.Probit.fide(), kn.model.Window(c=400.0), kn.model.FallingSteps(10.0, boost=2.0, matches=20)
        ),
    ],
)
def test_a_rating_system_is_kept_with_its_laws(system, tmp_path):
    matches, half = league(), len(league()) // 2
    kn.RatingBook(tmp_path / "b", kn.TeamElo(system=system)).add(matches[:half])
    book = kn.RatingBook(tmp_path / "b")
    assert book.rater.system == system
    book.add(matches[half:])
    alone = kn.TeamElo(system=system).update(matches)
    assert kn.RatingBook(tmp_path / "b", kn.TeamElo(system=system)).ratings_.equals(alone.ratings_)
    assert kn.RatingBook(tmp_path / "b").check() == []
    with pytest.raises(kn.InputError, match="with other settings than the rater given"):
        kn.RatingBook(tmp_path / "b", kn.TeamElo(system=kn.RatingSystem(kn.Tanh.elo(), gamma=10.0)))


class SoftTanh(kn.Tanh):
    def b(self, z):
        return super().b(np.asarray(z) / 2)


class WithSystem(kn.TeamElo):
    """A rater that takes any system."""

    def __init__(self, system: kn.RatingSystem) -> None:
        super().__init__(step=10.0)
        self.system = system

    def _from_system(self) -> dict[str, float]:
        return {}


@pytest.mark.parametrize(
    ("system", "law"),
    [
        (kn.RatingSystem(SoftTanh(nu=0.5)), "the outcome SoftTanh"),
        (kn.RatingSystem(kn.Tanh(nu=0.5), kn.model.Pairing.from_function(lambda z: 1 / (1 + z * z))), "the pairing "),
    ],
)
def test_a_law_of_a_users_own_is_refused_in_a_sentence(system, law, tmp_path):
    with pytest.raises(kn.InputError, match=f"keeps systems of Kinelo's own laws, and {law}"):
        kn.RatingBook(tmp_path / "b", WithSystem(system))
    assert not (tmp_path / "b").exists()


def test_every_law_of_a_system_comes_back():
    elo = kn.Tanh.elo()
    for system in (
        kn.RatingSystem(elo, kn.model.Local(), [1.0, 2.0], kn.model.Rounds()),
        kn.RatingSystem(
            elo, kn.model.Window(c=1.0, smoothing=0.2), kn.model.FideSteps(under_18=[1]), kn.model.Period(3)
        ),
        kn.RatingSystem(elo, gamma=kn.model.DeviationSteps(growth=5.0, start=350.0)),
    ):
        assert system_of(json.loads(json.dumps(plain_system(system)))) == system


class Tally:
    """The least a rater can be: no state to keep, so the book goes over its matches again."""

    def __init__(self, step: float = 1.0) -> None:
        self.step = step
        self.sum: dict[str, float] = {}

    def fit(self, matches: kn.matches.Matches) -> "Tally":
        self.one_step_ahead(matches)
        return self

    def one_step_ahead(self, matches: kn.matches.Matches) -> kn.forecasts.Forecast:
        for i, j, s in zip(matches.home, matches.away, matches.signed, strict=True):
            for name, part in ((matches.teams[i], s), (matches.teams[j], -s)):
                self.sum[name] = self.sum.get(name, 0.0) + self.step * part
        return kn.forecasts.Forecast(np.full((len(matches), 3), 1 / 3))

    @property
    def ratings_(self) -> pl.DataFrame:
        return pl.DataFrame({"name": list(self.sum), "rating": list(self.sum.values())}).sort("name")


def test_the_least_rater_can_be_kept(tmp_path):
    matches = league()
    book = kn.RatingBook(tmp_path / "b", Tally(2.0))
    book.add(matches[:10])
    book.add(matches[10:])
    expected = Tally(2.0).fit(matches).ratings_
    assert book.ratings_.equals(expected)
    assert kn.RatingBook(tmp_path / "b", Tally).ratings_.equals(expected)
    assert kn.leaderboard(book, least_matches=0).height == 6
    with pytest.raises(kn.InputError, match="it lacks predict"):
        book.predict(matches)


# Damage and disks


def test_many_who_start_one_book_at_once_agree(tmp_path):
    barrier = threading.Barrier(6)

    def begin(k):
        barrier.wait()
        try:
            return kn.RatingBook(tmp_path / "b", kn.TeamElo.classic(k=16.0 + k)).rater.step
        except kn.InputError:
            return None

    with ThreadPoolExecutor(6) as pool:
        steps = [step for step in pool.map(begin, range(6)) if step is not None]
    assert steps == [kn.RatingBook(tmp_path / "b").rater.step]


@pytest.mark.parametrize("path", [None, 3, b"book"])
def test_a_book_is_a_file_or_an_address(path):
    with pytest.raises(kn.InputError, match="is a file or the address of a database"):
        kn.RatingBook(path, rater())


@pytest.mark.parametrize("ids", [None, 3, [3], ["a", None]])
def test_matches_are_taken_out_by_text(ids, tmp_path):
    book = kn.RatingBook(tmp_path / "b", rater())
    with pytest.raises(kn.InputError, match="by identifier, which is text"):
        book.remove(ids)
    with pytest.raises(kn.InputError, match="matches must be"):
        book.add(ids)
