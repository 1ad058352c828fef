"""A rating book: ratings kept in a database and carried on match by match.

``RatingBook("ratings.db")`` is one SQLite file, ``RatingBook("postgresql://…")`` the same tables in PostgreSQL
(:mod:`kinelo.book.schema`). A match and the ratings after it are written in one transaction: both count once the
database has said so, or neither does. The ratings are those of one run over all matches in order of date, to the last
bit; what arrives late, is put right or taken out is rated again from the last checkpoint before it.

A book is its ledger (what was played, :mod:`kinelo.book.match_ledger` and :mod:`kinelo.book.contest_ledger`), its
ratings (:mod:`kinelo.book.ratings`) and how it goes on (:mod:`kinelo.book.carrying`); here is its face.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo._version import __version__
from kinelo.book.carrying import Added, Carrying, Played
from kinelo.book.contest_ledger import contests_to_rows, rows_to_contests
from kinelo.book.database import UnreachableError, database_of, is_server
from kinelo.book.erasing import erase, strings_in
from kinelo.book.keeping import described
from kinelo.book.match_ledger import table_of
from kinelo.book.ratings import BEFORE, Ratings, kinds_of, points_of, save_state, shown_rows, store_of
from kinelo.book.refitting import Refit, refit
from kinelo.book.replay import explain_replay
from kinelo.book.schema import FORMAT, plain_json
from kinelo.book.seasons import Season, Wish, close_season
from kinelo.errors import InputError
from kinelo.matches.contests import Contests
from kinelo.matches.dated import Day, read_day
from kinelo.matches.fixtures import lineups_of_starters, two_sides
from kinelo.matches.kinds import KINDS, kind_of
from kinelo.matches.matches import Matches
from kinelo.matches.names import clean_name
from kinelo.model.validation import whole
from kinelo.raters.adapter import blank_of, carry_on, forecast_by
from kinelo.raters.one_match import OneResult, one_result
from kinelo.raters.questions import rater_shown
from kinelo.raters.rater import Rater, no_attribute, traits_of
from kinelo.raters.sides import SIDE
from kinelo.raters.soft_reset import begin_seasons
from kinelo.raters.stored import LAST_DAY, SEPARATOR
from kinelo.runtime.atomic import check_name

if TYPE_CHECKING:
    import polars as pl

    from kinelo.forecasts.forecast import Forecast

MATCH = ("match_id", "home", "away", "result", "date", "margin", "neutral", "weight", "conditions", "home_lineup",
         "away_lineup")  # fmt: skip
CONTEST = ("match_id", "order", "ranks", "unfinished", "date", "conditions", "minutes")
"""What may be said of a match of two sides, and of a contest."""


class RatingBook:
    """Ratings kept in a database.

    Parameters
    ----------
    path
        A file, which is made if it does not exist, or the address of a PostgreSQL database (``postgresql://…``, with
        kinelo[postgres]).
    rater
        The rater to keep, needed for a new book. Its parameters are taken as they stand (fitted or fixed); the book
        itself begins without matches. A book whose rater is neither Kinelo's nor a plug-in's needs it too, or its
        class: a book never imports what it names.
    synchronous
        ``"FULL"`` (SQLite): a match that counts is on the disk, even if the power fails. ``"NORMAL"``: it survives
        the end of any program, and the last ones may be lost with the power.

    >>> import tempfile, kinelo as kn
    >>> file = tempfile.mkdtemp() + "/ratings.db"
    >>> book = kn.RatingBook(file, kn.TeamElo.classic(k=20))
    >>> results = kn.read_matches({"match_id": ["m1"], "home": ["A"], "away": ["B"], "result": [1]})
    >>> book.add(results), book.add(results)
    (Added(new=1, known=0, changed=0), Added(new=0, known=1, changed=0))
    >>> book.update_one("A", "C", "draw", match_id="m2")
    Added(new=1, known=0, changed=0)
    >>> kn.RatingBook(file).ratings_["rating"].round(1).to_list()
    [1509.7, 1500.3, 1490.0]
    """

    def __init__(self, path: str | Path, rater: Rater | Any = None, *, synchronous: str = "FULL") -> None:
        if not isinstance(path, str | Path) or not str(path):
            raise InputError(f"A rating book is a file or the address of a database, and {path!r} is neither.")
        address = str(path)
        if not is_server(address):
            check_name(address)
        self.path: str | Path = address if is_server(address) else Path(address)
        self._database = database_of(address, synchronous=synchronous)
        if not self._database.exists():
            if rater is None or isinstance(rater, type):
                name = self._database.name
                raise InputError(
                    f"There is no rating book {name}; kinelo rate RESULTS --book {name} starts one, or RatingBook with "
                    "a rater."
                )
            self._start(rater)
        self._ratings = Ratings(self._database, rater)
        self._carrying = Carrying(self._ratings)
        self._board: tuple[Any, Any] = (None, None)

    def _start(self, rater: Any) -> None:
        """Make the tables of a new book of a rater, unless another process has just done so."""
        if not traits_of(rater).book_holds:
            raise InputError(
                f"A rating book keeps no scores, which {type(rater).__name__} needs: rate a table with it, or keep a "
                "book of KalmanElo."
            )
        description, database, blank = described(rater), self._database, blank_of(rater)
        store = store_of(database, blank)
        if isinstance(blank, Rater):
            description["parameters"] = dict(blank.parameters_)
        about = {"format": FORMAT, "kinelo": __version__, "holds": "",
                 **points_of(store)}  # fmt: skip
        about |= {name: value if isinstance(value, str) else plain_json(value) for name, value in description.items()}
        database.begin_file()
        with database.transaction():
            if database.begun():
                return
            database.create()
            database.many("INSERT INTO about (key, value) VALUES (?, ?)", list(about.items()))
            save_state(database, BEFORE, blank, None, 0)
            store.begin()

    def close(self) -> None:
        """Close the connections of the book; using it again opens new ones."""
        self._database.close()

    def __enter__(self) -> RatingBook:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if "_database" in vars(self):
            self._database.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(self, "book", name)

    # Reading

    @property
    def rater(self) -> Rater:
        """The rater as it stands after all matches of the book; changing it does not change the book."""
        return copy.deepcopy(self._ratings.whole())

    @property
    def ratings_(self) -> pl.DataFrame:
        """The ratings after all matches of the book."""
        return self._ratings.whole().ratings_

    def __len__(self) -> int:
        return self._database.one(f"SELECT COUNT(*) FROM {self._ratings.ledger.table}")[0]

    def __repr__(self) -> str:
        rater = type(self._ratings.blank).__name__
        return f"RatingBook({self._database.name!r}): {KINDS[self.noun].counted(len(self))}, {rater}"

    @property
    def noun(self) -> str:
        """What the book holds: ``"matches"`` of two sides or ``"contests"`` of many."""
        return self._ratings.noun

    @property
    def holds(self) -> tuple[str, ...]:
        """What the rater of the book can rate: ``"matches"``, ``"contests"``, or both."""
        return self._ratings.can_hold

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of what is rated, such as drivers and cars, in the order in which entrants name them."""
        return kinds_of(self._ratings.knowing(lambda _: []))[0] or (SIDE,)

    def matches(self) -> Any:
        """All matches (or contests) of the book in order of date."""
        with self._database.snapshot():
            found = self._ratings.ledger.read()
        if found is None:
            raise InputError(f"The rating book {self._database.name} holds no {self.noun} yet.")
        return found

    def refresh(self) -> bool:
        """Whether anything was added since the ratings were last asked for; they are always those that count."""
        before, now = self._ratings.seen, self._database.moment()
        self._ratings.seen = now
        return before is not None and before != now

    def predict(self, matches: Any) -> Forecast:
        """Forecast matches from the ratings as they stand."""
        return forecast_by(self._ratings.whole(), matches)

    def predict_one(self, home: Any, away: Any = None, **circumstances: Any) -> Any:
        """Forecast one match from the ratings as they stand (:meth:`kinelo.Rater.predict_one`), or one contest.

        A contest is a list of its entrants.
        """
        sides, entrants = (None, home) if away is None else (two_sides(home, away), None)
        ask = self._predict_one_of(self._rater_knowing(sides, entrants))
        return ask(home, *(() if away is None else (away,)), **circumstances)

    def _predict_each(self, matches: Sequence[tuple[str, str, Mapping[str, Any]]]) -> list[Any]:
        """Forecast matches for which several ask at the same moment, each as :meth:`predict_one` does; the forecast of
        each, or what it fails by.

        The ratings of all are asked for at once.
        """
        forecasts: list[Any] = []
        ask = self.predict_one
        with contextlib.suppress(Exception):  # whose fault it is, each is told below
            if len(matches) > 1:
                names = [name for home, away, _ in matches for name in two_sides(home, away)]
                ask = self._predict_one_of(self._rater_knowing(names, None))
        for home, away, circumstances in matches:
            try:
                forecasts.append(ask(home, away, **circumstances))
            except Exception as error:
                forecasts.append(error)
        return forecasts

    @staticmethod
    def _predict_one_of(rater: Any) -> Callable[..., Any]:
        """The forecast of one match, or contest, by a rater."""
        if not hasattr(rater, "predict_one"):
            raise InputError(f"{type(rater).__name__} has no predict_one; the raters of Kinelo have it.")
        return rater.predict_one

    def _rater_knowing(self, names: Sequence[str] | None, entrants: Any) -> Any:
        """A rater that knows some who may meet, or the entrants of a contest, or everyone where neither is said."""
        ratings = self._ratings
        if entrants is not None:
            if not hasattr(ratings.blank, "_field_of"):
                raise InputError(f"{type(ratings.blank).__name__} rates matches of two sides; give both.")
            return ratings.knowing(lambda rater: rater._slots.met(rater._field_of(entrants)))
        if names is None:
            return ratings.whole()
        sides = dict.fromkeys(clean_name(name) for name in names)

        def keys(rater: Any) -> list[tuple[str, str]]:
            """Slots of all who are named, and of what helps who is at home."""
            kinds = kinds_of(rater)[0] or (SIDE,)
            return [(kinds[0], name) for name in sides] + ([("venue", "home")] if "venue" in kinds else [])

        return ratings.knowing(keys)

    def _explain_replay(self, rater: Any, match_id: str, names: Sequence[str]) -> Any:
        """Why ratings moved when a match came late or was put right; None of one that did neither."""
        with self._database.snapshot():
            return explain_replay(self._database, self._ratings.ledger, self._ratings.blank, rater, match_id, names)

    # Adding

    def add(self, matches: Matches | Contests | Sequence[Mapping[str, Any]]) -> Added:
        """Count matches that the book has not counted yet, for good, and take what is said anew of those it has.

        A match under a known identifier that says something else now replaces what the book held: the ratings are
        computed again, and a warning says so. A list holds matches as :meth:`update_one` takes them, ``{"match_id":
        "m1", "home": "A", "away": "B", "result": 1}``, or contests, ``{"match_id": "r1", "order": ["A", "B", "C"]}``;
        all of them count or none.
        """
        if not getattr(matches, "in_memory", True):
            kind = kind_of(matches)
            raise InputError(
                f"A rating book checks every {kind.one} by its identifier; read them with read_{kind.noun}."
            )
        if not isinstance(matches, list | tuple):
            return self._carrying.add(matches)  # type: ignore[arg-type]
        for row in matches:
            if not isinstance(row, Mapping):
                raise InputError(f"matches must be such as {{'home': 'A', 'away': 'B', 'result': 1}}, not {row!r:.60}.")
            known, needed = (CONTEST, ("order",)) if "order" in row else (MATCH, ("home", "away", "result"))
            _check_words(row, known)
            for word in needed:
                if row.get(word) is None:
                    raise InputError(f"A match has no {word}: {dict(row)!r:.60}.")
        if len({"order" in row for row in matches}) > 1:
            raise InputError("A list holds matches of two sides, or contests with an order, not both.")
        if not matches:
            return Added(0, 0)
        rows = [dict(row) for row in matches]
        names = [_identifier(row.pop("match_id", None)) for row in rows]
        if "order" in rows[0]:
            return self._carrying.add(self._contests_said(rows, names))
        ones = [self._one_result(**row) for row in rows]
        said = [(name, one, self._ratings.day_of(name, one.day)) for name, one in zip(names, ones)]
        return self._carrying.add(table_of(said), alone=True)

    def update_one(
        self,
        home: Any,
        away: Any = None,
        result: Any = None,
        *,
        match_id: str | None = None,
        date: Day | None = None,
        **more: Any,
    ) -> Added:
        """Count one match, for good, at a cost that does not grow with the book (:meth:`kinelo.Rater.update_one`).

        A match under the same ``match_id`` counts once; without one every call counts. Without a date it is on the day
        of the last match. A contest is a list of its entrants, as the rater of the book takes it.
        """
        more |= {"match_id": match_id, "date": date}
        noun, plain, add = self._said(home, away, result, **more)
        return Added(1, 0) if plain and self._carrying.count_alone(noun, [plain]) else add()

    def _update_each(self, rows: Sequence[Mapping[str, Any]]) -> list[Added | Exception]:
        """Count matches or contests that end at the same moment, each as :meth:`update_one` does; what each came to.

        They share a transaction where all of them are plain: the disk is waited for once.
        """
        try:
            if len(rows) > 1:
                nouns, plain, _ = zip(*(self._said(**row) for row in rows), strict=True)
                if all(plain) and len(set(nouns)) == 1 and self._carrying.count_alone(nouns[0], plain):
                    return [Added(1, 0)] * len(rows)
        except UnreachableError as error:
            return [error] * len(rows)
        except Exception:
            pass  # whose fault it is, each is told below
        answers: list[Added | Exception] = []
        for row in rows:
            try:
                answers.append(self.update_one(**row))
            except Exception as error:
                answers.append(error)
        return answers

    def _said(
        self, home: Any, away: Any = None, result: Any = None, *, match_id: str | None = None, date: Day | None = None,
        **more: Any,
    ) -> tuple[str, Played | None, Callable[[], Added]]:  # fmt: skip
        """What somebody says was played: of what kind it is, itself where it may be counted alone, and how it is
        added else.
        """
        name = _identifier(match_id)
        if away is None and result is None:
            day = None if date is None else read_day(date)
            row = {"order": home, "date": date, **more}
            field = (name, (home, more.get("ranks")), day) if more.keys() <= {"ranks"} else None
            return "contests", field, lambda: self._carrying.add(self._contests_said([row], [name]))
        one = self._one_result(home, away, result, date=date, **more)
        plain = (name, one, one.day) if one.lineups is None else None

        def add() -> Added:
            return self._carrying.add(table_of([(name, one, self._ratings.day_of(name, one.day))]), alone=True)

        return "matches", plain, add

    def _one_result(
        self, home: Any, away: Any, result: Any, *, home_lineup: Any = (), away_lineup: Any = (),
        conditions: Mapping[str, object] | None = None, **more: Any,
    ) -> OneResult:  # fmt: skip
        """A match as the rater of the book takes it, checked."""
        _check_words(more, MATCH)
        blank: Any = self._ratings.blank
        if isinstance(blank, Rater):
            asked = conditions is not None or self._ratings.ledgers["matches"].conditions
            lineups = blank._lineups(home_lineup, away_lineup)
            levels = blank._levels(conditions) if asked else None
        else:
            shown = rater_shown(blank)
            levels = shown._levels(conditions) if conditions is not None and isinstance(shown, Rater) else conditions
            lineups = lineups_of_starters(home_lineup, away_lineup)
        return one_result(home, away, result, conditions=levels, lineups=lineups, **more)

    def _contests_said(self, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Contests:
        """A table of contests, as the rater of the book makes them of an order."""
        make = getattr(self._ratings.knowing(lambda _: []), "_contest_one", None)
        if make is None:
            rater = type(self._ratings.blank).__name__
            raise InputError(f"{rater} rates matches of two sides; give both, and the result.")
        contest_rows: list[Any] = []
        for row, name in zip(rows, names, strict=True):
            options = {word: value for word, value in row.items() if word not in ("order", "date")}
            day = self._ratings.day_of(name, None if row.get("date") is None else read_day(row["date"]))
            contest_rows += contests_to_rows(replace(make(row["order"], date=day, **options), identifiers=(name,)))
        return rows_to_contests(sorted(contest_rows, key=lambda one: one["date"]))

    # Taking out, checking

    def remove(self, match_ids: str | Iterable[str]) -> int:
        """Take matches out of the book again, by identifier; the ratings are as if they had never been added."""
        several = isinstance(match_ids, Iterable) and not isinstance(match_ids, str)
        ids: list[Any] = list(match_ids) if several else [match_ids]
        if odd := [name for name in ids if not isinstance(name, str)]:
            raise InputError(f"matches are taken out by identifier, which is text, not {odd[0]!r}.")
        return self._carrying.remove(ids) if ids else 0

    def remove_player(self, name: str) -> int:
        """Take out all matches (or contests) in which somebody took part; how many those were."""
        parts: dict[str, set[str]] = {}
        for match_id, home, away, lineups in self._database.rows("SELECT match_id, home, away, lineups FROM match"):
            parts[match_id] = {home, away, *strings_in(lineups, self._database.name)}
        entries = self._database.rows("SELECT contest.name, entry.entrant, entry.slots FROM entry JOIN contest ON "
                                      "contest.contest_id = entry.contest_id")  # fmt: skip
        for contest, entrant, slots in entries:
            parts.setdefault(contest, set()).update({entrant, *strings_in(slots, self._database.name)})
        return self.remove([match_id for match_id, names in parts.items() if name in names])

    def erase(self, name: str, pseudonym: str | None = None) -> str:
        """Take a name out of the book for good; the pseudonym that stands in its place, with the same ratings.

        Matches, line-ups, the list to begin with and checkpoints have the pseudonym from now on, and the database
        writes its pages anew, so that the name is in none that it has freed. The book does not remember who it was: a
        table that names them again brings the name back. Copies of the book are yours to erase.

        Parameters
        ----------
        pseudonym
            What stands in the place of the name; by default ``erased 1``, or the next number that is free.
        """
        for given in (name, *([] if pseudonym is None else [pseudonym])):
            if not isinstance(given, str) or not given.strip() or SEPARATOR in given:
                raise InputError(f"{given!r:.60} is not a name; a name is text that is not blank.")
        new = self._carrying.attempt(lambda: erase(self._database, name, pseudonym), everybody=True)
        # Also where the pages cannot be written anew, nothing of what the book said is kept.
        self._ratings.open(type(self._ratings.blank))
        self._carrying = Carrying(self._ratings, self._carrying.beside)
        self._database.rewrite_pages()
        return new

    def refit(self, after: int | None = None) -> Refit | None:
        """Learn the open parameters anew from all matches of the book, and rate all of them again with what was found.

        The ratings then are those of one run over all matches with the new parameters. Parameters and the ratings of
        everyone, before and after, are kept (:mod:`kinelo.book.refitting`). Others may ask and add meanwhile: matches
        that arrive while parameters are sought are rated with them and not learnt from.

        Parameters
        ----------
        after
            Only where so many matches (or contests) were added since parameters were learnt last; else nothing is
            done, and None returned.

        >>> import tempfile, kinelo as kn
        >>> book = kn.RatingBook(tempfile.mkdtemp() + "/ratings.db", kn.TeamElo(home_step=0.0))
        >>> book.add(kn.read_matches(kn.sample_league(teams=6, seasons=2, seed=1).results))
        Added(new=60, known=0, changed=0)
        >>> found = book.refit(after=50)
        >>> found.matches, found.before["step"] != found.after["step"], book.refit(after=50)
        (60, True, None)
        """
        if after is not None:
            after = whole("after", after, 1)
        return refit(self._ratings, after)

    def season(
        self, name: str, *, reset: float = 0.0, date: Day | None = None, moves: float | None = None,
        rewards: Mapping[str, float] | None = None,
    ) -> Season:  # fmt: skip
        """Close a season with a day, and begin the next one; a season of this name that was closed is not closed again.

        Ratings, places and rewards of everyone who played in it are kept for good, as they stand in the moment of
        closing (:func:`kinelo.book.milestones.season_table`). What is played from the next day on is of the next
        season. A match of the closed one that comes late moves ratings, and no longer its table. :meth:`refit` learns
        parameters as if there were no resets, and keeps them.

        Parameters
        ----------
        reset
            The part, from 0 to 1, by which ratings are drawn towards their mean. ``kinelo book season BOOK NAME
            --reset .3 --try`` says what that does to ranks and forecasts.
        date
            The last day of the season, by default that of the last match.
        moves
            How far skills move between seasons, in points, beyond what the rater allows for the days that pass: ratings
            are less certain by as much. By default what forecast the beginnings of earlier seasons of this book best,
            0 where that was nothing.
        rewards
            To how many of the best (1 and more), or to which share of them (less than 1), a reward goes.

        >>> import tempfile, kinelo as kn
        >>> book = kn.RatingBook(tempfile.mkdtemp() + "/ratings.db", kn.TeamElo.classic(k=24))
        >>> book.update_one("Ann", "Bob", "win", date="2026-03-30")
        Added(new=1, known=0, changed=0)
        >>> season = book.season("Spring", reset=0.25, rewards={"gold": 1})
        >>> season.last_day, season.players, book.ratings_["rating"].round(1).to_list()
        ('2026-03-30', 2, [1509.0, 1491.0])
        """
        return close_season(self._ratings, Wish(name, reset, date, moves, dict(rewards or {})))

    def check(self) -> list[str]:
        """What is wrong with the book, in sentences; none where its rows are those of one run over all its matches.

        >>> import tempfile, kinelo as kn
        >>> kn.RatingBook(tempfile.mkdtemp() + "/ratings.db", kn.Glicko()).check()
        []
        """
        wrong = [f"The database finds: {line}." for line in self._database.damage()]
        if wrong:
            return wrong
        ratings = self._ratings
        with self._database.snapshot():
            ratings.keep_up()
            stored_rater = ratings.read_whole()
            rater, matches = copy.deepcopy(ratings.blank), ratings.ledger.read()
        if matches is not None:
            carry_on(rater, matches)
            begin_seasons(rater, LAST_DAY)
        ours, theirs = (
            {row[:2]: row for row in (rated._slots.rows() if ratings.local else shown_rows(rated))}
            for rated in (stored_rater, rater)
        )
        for key in sorted(ours.keys() | theirs.keys()):
            first, second = ours.get(key), theirs.get(key)
            if ratings.local and first != second:
                wrong.append(f"The row of {key[1]!r} ({key[0]}) differs from one run over all {self.noun}.")
            # A rater that is kept as a whole is known by its ratings, as far as a search ends alike.
            same = first is not None and second is not None and first[4:] == second[4:]
            if not ratings.local and not (same and np.allclose(first[2:4], second[2:4], 1e-5)):  # type: ignore[index]
                wrong.append(f"The rating of {key[1]!r} ({key[0]}) differs from one run over all {self.noun}.")
        shared = ratings.local and matches is not None
        if shared and json.dumps(stored_rater._slots.shared()) != json.dumps(rater._slots.shared()):
            wrong.append(f"What all share differs from one run over all {self.noun}.")
        return wrong


def _check_words(row: Mapping[str, Any], known: Sequence[str]) -> None:
    """Refuse what is said of a match under a word that is not known."""
    for word in row:
        if word not in known:
            raise InputError(f"{word!r:.60} is not known of a match; it has {', '.join(known)}.")


def _identifier(match_id: Any) -> str:
    """The identifier of a match without blanks around it, a new one where none is said; refused where it is none."""
    if match_id is None:
        return str(uuid.uuid4())
    if not isinstance(match_id, str) or not match_id.strip():
        raise InputError(f"match_id={match_id!r:.60} must be text that is not blank.")
    return match_id.strip()


def is_book(path: str | Path) -> bool:
    """Whether there is something at a path or an address that may be opened as a rating book; nothing is made."""
    if is_server(str(path)):
        return database_of(str(path)).exists()
    try:
        check_name(path)
        with Path(path).open("rb") if Path(path).is_file() else io.BytesIO() as file:
            return file.read(16) == b"SQLite format 3\0"
    except (OSError, InputError):
        return False
