"""A rating book: ratings kept in a database and carried on match by match.

``RatingBook("ratings.db")`` is one SQLite file, ``RatingBook("postgresql://…")`` the same tables in PostgreSQL
(:mod:`kinelo.book.schema`). A match and the ratings after it are written in one transaction: both count once the
database has said so, or neither does. The ratings are those of one run over all matches in order of date, to the last
bit; what arrives late, is put right or taken out is rated again from the last checkpoint before it.
"""

from __future__ import annotations

import copy
import io
import json
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo._version import __version__
from kinelo.book.alone import OneByOne, OneContestByOne, Otherwise
from kinelo.book.contests import ContestLedger, contests_to_rows, rows_to_contests
from kinelo.book.database import RETRIES, database_of, is_server
from kinelo.book.entering import Entry, MatchLedger, Place
from kinelo.book.erasing import erase, free_pseudonym, strings_in
from kinelo.book.keeping import class_of, description_of, rater_from, settings_to_keep
from kinelo.book.replay import explain_replay, forget, remember
from kinelo.book.rows import plain_json, read_json
from kinelo.book.said import Said, check_identifier, check_listed, table_of
from kinelo.book.schema import FORMAT
from kinelo.book.state import BEFORE, SlotStore, in_book, points_of, restored, save_state, shown_rows, store_of
from kinelo.errors import InputError, KineloWarning
from kinelo.matches.contests import Contests
from kinelo.matches.dated import UNDATED, Day, day_number, read_day, refuse_far_ahead
from kinelo.matches.fixtures import lineups_of_starters, two_sides
from kinelo.matches.kind import MATCHES, Kind, kind_of
from kinelo.matches.matches import Matches
from kinelo.matches.names import clean_name
from kinelo.raters.adapter import blank_of, carry_on, conditions_of, forecast_by
from kinelo.raters.one_match import OneResult, one_result
from kinelo.raters.rater import Rater, no_attribute, traits_of
from kinelo.raters.sides import SIDE, SideRater
from kinelo.raters.slots import Key
from kinelo.raters.state import NEVER
from kinelo.raters.stored import SEPARATOR
from kinelo.runtime.atomic import check_name

if TYPE_CHECKING:
    import polars as pl

    from kinelo.forecasts.forecast import Forecast

EVERY = 10_000
"""Matches after which, once a day has ended, the whole state is kept as a checkpoint."""
EPOCH = str(UNDATED)
MOST_ROWS = 10_000
"""Rows beyond which a rater that answers questions about some is begun anew."""
TAKEN_BACK = ("_blank", "_settled", "_store", "_local", "_ledgers", "_alone", "_earliest", "_holds", "_checked_day")
"""What a transaction may change in memory: where it does not count, all of it is as it was before."""


@dataclass(frozen=True)
class Added:
    """What an addition did: matches that were new, that the book held as they are, that it held and are changed now."""

    new: int
    known: int
    changed: int = 0


class _EverybodyError(Exception):
    """A transaction turns out to need all of the book, and is begun again with everybody else kept out."""


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
        self._seen: Any = None
        self._reader: tuple[Any, Any] = (None, None)
        self._live: Any = None
        self._alone: dict[str, Any] = {}
        self._partial = threading.local()
        self._checked_day = self._holds = ""
        if not self._database.exists():
            if rater is None or isinstance(rater, type):
                raise InputError(f"{self.path} is not a rating book; give a rater to start one there.")
            self._start(description_of(rater), blank_of(rater))
        self._open(rater)

    # Opening

    def _start(self, description: dict[str, Any], blank: Any) -> None:
        """Make the tables of a new book, unless another process has just done so."""
        if isinstance(blank, Rater):
            description["parameters"] = dict(blank.parameters_)
        points = points_of(blank)
        about = {"format": FORMAT, "kinelo": __version__, "holds": "",
                 "points: zero": repr(points.zero), "points: unit": repr(points.unit),
                 "points: relative": str(int(points.relative))}  # fmt: skip
        about |= {name: value if isinstance(value, str) else plain_json(value) for name, value in description.items()}
        database = self._database
        database.begin_file()
        with database.transaction():
            if database.begun():
                return
            database.create()
            database.many("INSERT INTO about (key, value) VALUES (?, ?)", list(about.items()))
            save_state(database, BEFORE, blank, None, 0)
            store_of(database, blank).begin()

    def _open(self, given: Any) -> None:
        """Read what the book says of itself, and nothing else."""
        database = self._database
        database.check_schema()
        about = self._about()
        if about.get("format") != FORMAT:
            raise InputError(
                f"{self.path} was written by another version of Kinelo (tables of format {about.get('format')!r:.20}, "
                f"this one reads {FORMAT})."
            )
        described = {name: read_json(about.get(name, "null")) for name in ("settings", "systems", "parameters")}
        described["systems"] = described["systems"] or []
        kind = class_of(about.get("rater"), given, str(self.path))
        rater = rater_from(kind, {"rater": about.get("rater"), **described}, str(self.path))
        if given is not None and given is not kind and settings_to_keep(given) != settings_to_keep(rater):
            raise InputError(
                f"{self.path} is a book of {kind.__name__} with other settings than the rater given; "
                "open it without a rater."
            )
        blank = restored(database, rater, BEFORE)
        if blank is None and isinstance(rater, Rater):
            raise InputError(f"{self.path} does not say where its rater began: it is damaged.")
        self._take_over(rater if blank is None else blank)

    def _know_blank(self) -> None:
        """Read again how the rater began where another process has settled it since."""
        if not self._settled and self._database.one(f"SELECT 1 FROM {self._ledger.table} LIMIT 1") is not None:
            self._take_over(restored(self._database, self._blank, BEFORE) or self._blank)
            self._settled = True

    def _settle_blank(self, matches: Any) -> None:
        """Let the first table say what a rater whose parameters are given reads off matches, once and for all."""
        if isinstance(self._blank, Rater) and matches.kind is MATCHES and not self._blank._prepared:
            blank = copy.deepcopy(self._blank)  # the other one is taken back where this transaction fails
            blank._prepare_once(matches)
            save_state(self._database, BEFORE, blank, None, 0)
            self._take_over(blank)

    def _take_over(self, blank: Any) -> None:
        self._blank: Any = blank
        self._settled = not isinstance(blank, Rater) or blank._prepared
        self._store = store_of(self._database, blank)
        self._local = isinstance(self._store, SlotStore)
        self._ledgers = {
            "matches": MatchLedger(self._database, conditions_of(blank)),
            "contests": ContestLedger(self._database),
        }
        self._alone = {}
        if self._local and not conditions_of(blank):
            if isinstance(blank, SideRater):
                self._alone["matches"] = OneByOne(self._database, blank)
            if hasattr(blank, "_field_rows"):
                self._alone["contests"] = OneContestByOne(self._database, blank)
        begun = blank._begun() if self._local else ()
        self._earliest = int(begun.known.last[: len(begun)].max(initial=NEVER)) if begun else NEVER

    def _about(self) -> dict[str, str]:
        return dict(self._database.rows("SELECT key, value FROM about"))

    def close(self) -> None:
        """Close the connections of the book; using it again opens new ones."""
        self._database.close()

    def __enter__(self) -> RatingBook:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_database"):
            self._database.close()

    # Reading

    @property
    def rater(self) -> Rater:
        """The rater as it stands after all matches of the book; changing it does not change the book."""
        return copy.deepcopy(self._whole())

    @property
    def ratings_(self) -> pl.DataFrame:
        """The ratings after all matches of the book."""
        return self._whole().ratings_

    def __len__(self) -> int:
        return self._database.one(f"SELECT COUNT(*) FROM {self._ledger.table}")[0]

    def __repr__(self) -> str:
        return f"RatingBook({str(self.path)!r}): {len(self):,} {self.noun}, {type(self._blank).__name__}"

    @property
    def noun(self) -> str:
        """What the book holds: ``"matches"`` of two sides or ``"contests"`` of many."""
        if not self._holds:
            holds = _holds(self._blank)
            said = self._database.one("SELECT value FROM about WHERE key = 'holds'")[0]
            self._holds = holds[0] if len(holds) == 1 else said
        return self._holds or "matches"

    def _takes(self, kind: Kind) -> bool:
        """Whether matches, or contests, can be added: the first table decides where the rater rates both."""
        return kind.noun in _holds(self._blank) and (self.noun == kind.noun or not len(self))

    @property
    def _ledger(self) -> Any:
        found = self._ledgers.get(self.noun)
        if found is None:
            raise InputError(f"{self.path} does not say what it holds: it is damaged.")
        return found

    def matches(self) -> Any:
        """All matches (or contests) of the book in order of date."""
        with self._database.snapshot():
            found = self._ledger.read()
        if found is None:
            raise InputError(f"The rating book {self.path} holds no {self.noun} yet.")
        return found

    def _whole(self) -> Any:
        """A rater that knows everyone, read anew where anything was committed since it was read."""
        moment = self._database.moment()  # what is committed from now on is read the next time
        with self._database.snapshot():
            self._know_blank()
            seen, rater = self._reader
            if seen is None or seen != moment:
                rater = self._read_whole()
                self._reader, self._seen = (moment, rater), moment
        return rater

    def _read_whole(self) -> Any:
        rater = self._store.whole(self._latest(self._last_date()))
        if rater is None:  # its rater cannot say its state: rate all matches
            rater = copy.deepcopy(self._blank)
            matches = self._ledger.read()
            if matches is not None:
                carry_on(rater, matches)
        return rater

    def _latest(self, last: str | None) -> int:
        """Day of the last match, or of the ratings to begin with."""
        return max(self._earliest, NEVER if last is None else int(read_day(last).astype(np.int64)))

    def _last_date(self) -> str | None:
        return self._database.one(f"SELECT CAST(MAX(date) AS TEXT) FROM {self._ledger.table}")[0]

    def _knowing(self, asked: Callable[[Any], Any]) -> Any:
        """A rater that knows those of a match to come; everyone where ratings are relative to all."""
        self._know_blank()
        if not self._local:
            return self._whole()
        own, rater = self._partial, getattr(self._partial, "rater", None)
        if rater is None or own.rows > MOST_ROWS:
            rater, own.said, own.rows = copy.deepcopy(self._blank), None, 0
        while True:
            keys = [] if own.said is None else asked(rater)
            said, rows = self._store.glance(keys, self._ledger.table)
            if said == own.said:
                break
            if len(said) == 1:
                return self._whole()
            with in_book(self._database.name):
                shared = {name: read_json(text) for name, text in said.items() if name is not None}
                own.shared = shared, self._latest(said[None])
                rater.slots.take_shared(*own.shared)
            known, own.said = own.said is not None, said
            if known and asked(rater) == keys:
                break
        if any(key not in rows and rater.slots.has(key) for key in keys):
            rater = copy.deepcopy(self._blank)  # somebody was taken out of the book
            rater.slots.take_shared(*own.shared)
        with in_book(self._database.name):
            rater.slots.take(rows.values())
        own.rater, own.rows = rater, own.rows + len(rows)
        return rater

    def _showing(self, keys: Sequence[Key]) -> Any:
        """A rater that knows some, as far as the table of ratings shows them: everyone where all are compared."""
        if not self._local or points_of(self._blank).relative:
            return self._whole()
        self._partial.rater = None  # which knows others too, of whom nothing is asked
        return self._knowing(lambda _: keys)

    @property
    def holds(self) -> tuple[str, ...]:
        """What the rater of the book can rate: ``"matches"``, ``"contests"``, or both."""
        return _holds(self._blank)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of what is rated, such as drivers and cars, in the order in which entrants name them."""
        return tuple(getattr(self._knowing(lambda _: []), "_kinds", ())) or (SIDE,)

    @property
    def at_hand(self) -> bool:
        """Whether a match is forecast from its two rows in a file, without waiting for a server or for others."""
        return self._local and not is_server(str(self.path))

    def alive(self) -> str:
        """What the book holds, asked of the database now."""
        self._database.one("SELECT 1")
        return self.noun

    def predict(self, matches: Any) -> Forecast:
        """Forecast matches from the ratings as they stand."""
        return forecast_by(self._whole(), matches)

    def predict_one(self, home: Any, away: Any = None, **more: Any) -> Any:
        """Forecast one match from the ratings as they stand (:meth:`kinelo.Rater.predict_one`), or one contest.

        A contest is a list of its entrants.
        """
        if away is None:
            return self._asked(self._knowing_field(home), "predict_one")(home, **more)
        rater = self._knowing(lambda _: [(SIDE, name) for name in two_sides(home, away)])
        return self._asked(rater, "predict_one")(home, away, **more)

    def _knowing_field(self, entrants: Any) -> Any:
        """A rater that knows the entrants of a contest to come."""
        if not hasattr(self._blank, "_field_of"):
            raise InputError(f"{type(self._blank).__name__} rates matches of two sides; give both.")
        return self._knowing(lambda rater: rater.slots.met(rater._field_of(entrants)))

    def _rater_knowing(self, names: Sequence[str] | None, entrants: Any) -> Any:
        """A rater that knows some who may meet, or the entrants of a contest, or everyone where neither is said."""
        if entrants is not None:
            return self._knowing_field(entrants)
        if names is None:
            return self._whole()
        sides = dict.fromkeys(clean_name(name) for name in names)
        return self._knowing(lambda rater: _keys_of(rater, sides))

    def _explain_replay(self, rater: Any, match_id: str, names: Sequence[str]) -> Any:
        """Why ratings moved when a match came late or was put right; None of one that did neither."""
        with self._database.snapshot():
            return explain_replay(self._database, self._ledger, self._blank, rater, match_id, names)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise no_attribute(self, "book", name)

    def _asked(self, rater: Any, verb: str) -> Any:
        """What the rater of the book can do."""
        if not hasattr(rater, verb):
            raise InputError(f"{type(rater).__name__} has no {verb}; the raters of Kinelo have it.")
        return getattr(rater, verb)

    def refresh(self) -> bool:
        """Whether anything was added since the ratings were last asked for; they are always those that count."""
        before, now = self._seen, self._database.moment()
        self._seen = now
        return before is not None and before != now

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
        if isinstance(matches, list | tuple):
            return self._add_listed(matches)
        return self._added(matches)  # type: ignore[arg-type]

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
        name = str(uuid.uuid4()) if match_id is None else check_identifier(match_id)
        if away is None and result is None:
            day = None if date is None else read_day(date)
            if more.keys() <= {"ranks"} and self._counted_alone("contests", name, (home, more.get("ranks")), day):
                return Added(1, 0)
            return self._added(self._contests_said([{"order": home, "date": date, **more}], [name]))
        one = self._one_result(home, away, result, date=date, **more)
        if one.lineups is None and self._counted_alone("matches", name, one, one.day):
            return Added(1, 0)
        return self._added(table_of([Said(name, one, self._day_of(name, one.day))]), alone=True)

    def _one_result(
        self, home: Any, away: Any, result: Any, *, home_lineup: Any = (), away_lineup: Any = (), **more: Any
    ) -> OneResult:
        """A match as the rater of the book takes it, checked."""
        blank, own = self._blank, isinstance(self._blank, Rater)
        lineups = (blank._lineups if own else lineups_of_starters)(home_lineup, away_lineup)
        conditions = more.pop("conditions", None)
        levels = blank._levels(conditions) if own else conditions
        return one_result(home, away, result, conditions=levels, lineups=lineups, **more)

    def _day_of(self, name: str, day: np.datetime64 | None) -> np.datetime64:
        """The day of a match; where none is said, that under which the book holds it, or the day of the last match."""
        if day is not None:
            return day
        return read_day(self._ledger.held([name]).get(name) or self._last_date() or EPOCH)

    def _added(self, matches: Matches | Contests, *, alone: bool = False) -> Added:
        """Count matches that were read or said."""
        entry = self._written(lambda: self._enter(matches, alone=alone))
        self._say(entry)
        return Added(len(entry.fresh), entry.known, len(entry.changed))

    def _add_listed(self, rows: Sequence[Mapping[str, Any]]) -> Added:
        """Count matches that are said one by one, all of them or none."""
        if not rows:
            return Added(0, 0)
        said, ids = check_listed(rows)
        names = [str(uuid.uuid4()) if name is None else check_identifier(name) for name in ids]
        if "order" in said[0]:
            return self._added(self._contests_said(said, names))
        ones = [self._one_result(**row) for row in said]
        matches = table_of([Said(name, one, self._day_of(name, one.day)) for name, one in zip(names, ones)])
        return self._added(matches, alone=True)

    def _counted_alone(self, noun: str, name: str, said: Any, date: np.datetime64 | None) -> bool:
        """Count what is new and comes after all that those who take part have played, in as few steps as that takes.

        Nothing is done, and False returned, where it is nothing of the kind.
        """
        self._know_blank()
        alone = self._alone.get(noun)
        if alone is None or not self._settled or self.noun != noun:
            return False

        def count() -> None:
            last = alone.begin()
            day = read_day(last or EPOCH) if date is None else date
            first, text = day_number(day), str(day)
            early = first < self._earliest or (alone.moves and last > text)
            # A day far ahead is asked about by the general way.
            if early or first > time.time() / 86400.0 + 365.0 or self._checkpoint_due(text):
                raise Otherwise
            alone.count(name, said, (first, text))

        try:
            self._attempt(count, everybody=alone.moves, question=alone.question)
        except Otherwise:
            return False
        return True

    def _attempt(self, work: Callable[[], Any], *, everybody: bool, question: str = "") -> Any:
        """Do something in a transaction, again where it met another one; what fails leaves nothing in memory either."""
        database = self._database
        with database.writing_lock:
            for attempt in range(RETRIES + 1):
                before = {name: getattr(self, name) for name in TAKEN_BACK}
                try:
                    database.start(everybody=everybody, question=question)
                    found = work()
                    database.finish()
                    return found
                except BaseException as error:
                    database.abandon()
                    if self._blank is not before["_blank"]:  # others may have read by it meanwhile
                        self._reader, self._partial = (None, None), threading.local()
                    vars(self).update(before)
                    if isinstance(error, Otherwise):
                        raise
                    self._live = None
                    for alone in self._alone.values():
                        alone.forget()
                    if attempt == RETRIES or not database.is_conflict(error):
                        raise
        raise AssertionError("unreachable")

    def _contests_said(self, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Contests:
        """A table of contests, as the rater of the book makes them of an order."""
        rater = self._knowing(lambda _: [])
        make = getattr(rater, "_contest_one", None)
        if make is None:
            raise InputError(f"{type(self._blank).__name__} rates matches of two sides; give both, and the result.")
        found: list[Any] = []
        for row, name in zip(rows, names, strict=True):
            said = {word: value for word, value in row.items() if word not in ("order", "date")}
            day = self._day_of(name, None if row.get("date") is None else read_day(row["date"]))
            found += contests_to_rows(replace(make(row["order"], date=day, **said), identifiers=(name,)))
        return rows_to_contests(sorted(found, key=lambda one: one["date"]))

    def _written(self, enter: Callable[[], Entry]) -> Entry:
        """Carry out an addition in a transaction, again where it met another one."""
        if self._local:
            try:
                return self._attempt(lambda: self._count(enter(), False), everybody=False)
            except _EverybodyError:
                pass
        return self._attempt(lambda: self._count(enter(), True), everybody=True)

    def _enter(self, matches: Any, *, alone: bool = False) -> Entry:
        """What a table adds, with which noun it is counted; the first table decides where a rater rates both."""
        self._know_blank()
        noun = self.noun
        asked = kind_of(matches).noun
        if asked != noun and asked in _holds(self._blank):
            empty = self._database.one(f"SELECT 1 FROM {self._ledger.table} LIMIT 1") is None
            noun = asked if empty else noun
        ledger = self._ledgers[noun]
        ledger.check(matches)
        entry = ledger.enter(matches, alone=alone)
        if not entry.nothing:
            self._set_holds(noun)
        return entry

    def _set_holds(self, noun: str) -> None:
        if len(_holds(self._blank)) > 1 and self._about().get("holds") != noun:
            self._database.run("UPDATE about SET value = ? WHERE key = 'holds'", (noun,))
            self._holds = ""

    def _count(self, entry: Entry, everybody: bool) -> Entry:
        """Write what a table adds, and the ratings after it."""
        if entry.nothing:
            return entry
        ledger = self._ledger
        if not len(entry.fresh) and not len(entry.changed):  # matches got names
            ledger.write(entry, 0, ())
            return entry
        used = ledger.used(entry) if len(entry.fresh) else None
        late = bool(len(entry.changed)) or used is None
        if not late and self._local and self._count_touched(entry, used, everybody):
            return entry
        if not everybody:
            raise _EverybodyError
        last = None if late else self._last_place()
        numbers = self._database.numbers(max(len(entry.fresh), 1), self._ledger.table)
        rank = numbers[0] if entry.rank is None else entry.rank
        days = [entry.first_change] if entry.first_change else []
        if used is not None:
            days.append(str(used.date[0]))
            late = late or (last is not None and ledger.first_place(entry, rank) < last)
        if used is not None and not late and last is None:
            self._settle_blank(used)
        rater = None if late else self._read_whole()
        if len(entry.changed):
            remember(self._database, ledger, ledger.ids(entry.changed))
        ledger.write(entry, rank, numbers)
        if rater is None:
            self._rate_again(min(days))
        else:
            self._carry_in_pieces(rater, used)
        return entry

    def _count_touched(self, entry: Entry, used: Any, everybody: bool) -> bool:
        """Count matches that come after all that their slots have seen; nothing but those is read and written."""
        store, blank = self._store, self._blank
        shared = self._database.one("SELECT 1 FROM common LIMIT 1") is not None
        if not shared or len(used) > EVERY:
            return False
        rater = copy.deepcopy(blank) if self._live is None else self._live
        rater.slots.take_shared(store.shared(), None)
        first = int(used.day[0])
        moves = rater.slots.moves_shared(used)
        if moves and not everybody:
            raise _EverybodyError
        if first < self._earliest or self._checkpoint_due(str(used.date[0])):
            return False
        refuse_far_ahead(used.day, self._latest(self._last_date()))
        keys = rater.slots.met(used)
        rows = store.rows(keys, lock=True)
        last = self._last_place() if moves or entry.rank is not None else None
        if any(row.last > first for row in rows.values()):
            return False
        numbers = self._database.numbers(len(entry.fresh), self._ledger.table)
        rank = numbers[0] if entry.rank is None else entry.rank
        if last is not None and self._ledger.first_place(entry, rank) < last:
            return False
        self._ledger.write(entry, rank, numbers)
        self._live, changed = store.use(rater, keys, rows, lambda live: carry_on(live, used))
        if changed and not everybody:
            raise _EverybodyError
        return True

    def _last_place(self) -> Place | None:
        row = self._database.one(
            f"SELECT CAST(date AS TEXT), rank, place FROM {self._ledger.table} ORDER BY date DESC, rank DESC, "
            "place DESC LIMIT 1"
        )  # fmt: skip
        return None if row is None else Place(*row)

    # Checkpoints, and rating again

    def _checkpoint_due(self, day: str) -> bool:
        """Whether a day begins after so many matches that the state before it is to be kept."""
        if day <= self._checked_day:
            return False
        last = self._last_date()
        if last is None or day <= last:
            self._checked_day = last or ""
            return False
        since = self._database.one("SELECT CAST(MAX(date) AS TEXT) FROM checkpoint")[0] or "0001-01-01"
        table = self._ledger.table
        many = self._database.one(
            f"SELECT COUNT(*) FROM (SELECT 1 FROM {table} WHERE date >= ? LIMIT {EVERY}) AS few", (since,)
        )[0]  # fmt: skip
        if many >= EVERY:
            return True
        self._checked_day = day
        return False

    def _rate_again(self, day: str | None) -> None:
        """Rate all matches from a day on again, from the last checkpoint before it; what was not reached stays."""
        database, table = self._database, self._ledger.table
        begin = None if day is None else database.one(
            "SELECT number, CAST(date AS TEXT), matches FROM checkpoint WHERE date <= ? ORDER BY date DESC LIMIT 1",
            (day,),
        )  # fmt: skip
        database.run("DELETE FROM checkpoint WHERE date > ?", (day or "0001-01-01",))
        rater = copy.deepcopy(self._blank) if begin is None else self._store.state_at(begin[0])
        matches = self._ledger.read(since=None if begin is None else begin[1])
        if matches is None:
            count = database.one(f"SELECT COUNT(*) FROM {table}")[0]
            self._store.save(rater, count)
            self._live = None
            return
        self._carry_in_pieces(rater, matches, 0 if begin is None else begin[2])

    def _carry_in_pieces(self, rater: Any, matches: Any, before: int | None = None) -> None:
        """Let a rater use matches that stand in the book, keep checkpoints between days, and write what changed."""
        database, table = self._database, self._ledger.table
        total = database.one(f"SELECT COUNT(*) FROM {table}")[0]
        done = total - len(matches) if before is None else before
        kept = database.one("SELECT MAX(matches) FROM checkpoint WHERE date IS NOT NULL")[0] or 0
        starts = (np.flatnonzero(np.diff(matches.day)) + 1).tolist()
        starts = [0, *starts] if self._begin_a_day(matches) else starts
        at = 0
        for start in starts:
            if done + start - kept < EVERY:
                continue
            if start > at:
                carry_on(rater, matches[at:start])
            at, kept = start, done + start
            save_state(database, None, rater, str(matches.date[start]), kept)
        carry_on(rater, matches[at:] if at else matches)
        self._thin()
        self._store.save(rater, total)
        self._live = None

    def _begin_a_day(self, matches: Any) -> bool:
        """Whether none of the book comes before these matches on the day of the first."""
        first = str(matches.date[0])
        held = self._database.one(f"SELECT COUNT(*) FROM {self._ledger.table} WHERE date = ?", (first,))[0]
        return held == int(np.sum(matches.date == matches.date[0]))

    def _thin(self) -> None:
        """Keep few checkpoints: all of the last ones, and of earlier ones fewer the longer ago they were."""
        numbers = [number for (number,) in self._database.rows(
            "SELECT number FROM checkpoint WHERE date IS NOT NULL ORDER BY number"
        )]  # fmt: skip
        gone = [(n,) for n in numbers if numbers[-1] - n > 2 * (n & -n) + 2]
        self._database.many("DELETE FROM checkpoint WHERE number = ?", gone)

    # Taking out, checking

    def remove(self, match_ids: str | Iterable[str]) -> int:
        """Take matches out of the book again, by identifier; the ratings are as if they had never been added."""
        several = isinstance(match_ids, Iterable) and not isinstance(match_ids, str)
        ids: list[Any] = list(match_ids) if several else [match_ids]
        if odd := [name for name in ids if not isinstance(name, str)]:
            raise InputError(f"matches are taken out by identifier, which is text, not {odd[0]!r}.")
        if not ids:
            return 0
        return self._attempt(lambda: self._take_out(ids), everybody=True)

    def _take_out(self, ids: list[str]) -> int:
        self._know_blank()
        days = self._ledger.held(ids)
        missing = [name for name in ids if name not in days]
        if missing:
            raise InputError(f"The rating book {self.path} holds no match {missing[0]!r}; nothing was taken out.")
        self._ledger.remove(ids)
        forget(self._database, ids)
        self._live = None
        self._rate_again(min(days.values()))
        return len(days)

    def remove_player(self, name: str) -> int:
        """Take out all matches (or contests) in which somebody took part; how many those were."""
        return self.remove([match_id for match_id, names in self._names_of_matches() if name in names])

    def _names_of_matches(self) -> Iterator[tuple[str, set[str]]]:
        """Identifiers of what the book holds, and who took part."""
        for match_id, home, away, lineups in self._database.rows("SELECT match_id, home, away, lineups FROM match"):
            yield match_id, {home, away, *strings_in(lineups)}
        entries = self._database.rows("SELECT contest.name, entry.entrant, entry.slots FROM entry JOIN contest ON "
                                      "contest.contest_id = entry.contest_id")  # fmt: skip
        parts: dict[str, set[str]] = {}
        for contest, entrant, slots in entries:
            parts.setdefault(contest, set()).update({entrant, *strings_in(slots)})
        yield from parts.items()

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

        def work() -> str:
            new = free_pseudonym(self._database) if pseudonym is None else pseudonym.strip()
            erase(self._database, name, new)
            return new

        new = self._attempt(work, everybody=True)
        self._forget()  # also where the pages cannot be written anew
        self._database.rewrite_pages()
        return new

    def _forget(self) -> None:
        """Read again what the book says, and keep nothing of what it said."""
        self._seen, self._live, self._checked_day = None, None, ""
        self._reader, self._partial = (None, None), threading.local()
        self._open(type(self._blank))

    def check(self) -> list[str]:
        """What is wrong with the book, in sentences; none where its rows are those of one run over all its matches.

        >>> import tempfile, kinelo as kn
        >>> kn.RatingBook(tempfile.mkdtemp() + "/ratings.db", kn.Glicko()).check()
        []
        """
        wrong = [f"The database finds: {line}." for line in self._database.damage()]
        if wrong:
            return wrong
        with self._database.snapshot():
            self._know_blank()
            kept = self._read_whole()
            rater, matches = copy.deepcopy(self._blank), self._ledger.read()
        if matches is not None:
            carry_on(rater, matches)
        if not self._local:
            return self._check_shown(kept, rater)
        ours, theirs = ({row[:2]: row for row in one.slots.rows()} for one in (kept, rater))
        for key in sorted(ours.keys() | theirs.keys()):
            if ours.get(key) != theirs.get(key):
                wrong.append(f"The row of {key[1]!r} ({key[0]}) differs from one run over all {self.noun}.")
        if matches is not None and json.dumps(kept.slots.shared()) != json.dumps(rater.slots.shared()):
            wrong.append(f"What all share differs from one run over all {self.noun}.")
        return wrong

    def _check_shown(self, kept: Any, rater: Any) -> list[str]:
        """The same of a rater that is kept as a whole: by its ratings, as far as a search ends alike."""
        ours, theirs = ({row[:2]: row for row in shown_rows(one)} for one in (kept, rater))
        wrong = []
        for key in sorted(ours.keys() | theirs.keys()):
            one, other = ours.get(key), theirs.get(key)
            if one is None or other is None or one[4:] != other[4:] or not np.allclose(one[2:4], other[2:4], 1e-5):
                wrong.append(f"The rating of {key[1]!r} ({key[0]}) differs from one run over all {self.noun}.")
        return wrong

    def _say(self, entry: Entry) -> None:
        if len(entry.changed):
            warnings.warn(
                f"{len(entry.changed)} {self.noun} of the book differ in this table: they were changed, and the "
                f"ratings computed again from {entry.first_change} on.",
                KineloWarning,
                stacklevel=3,
            )
        if entry.named:
            warnings.warn(
                f"{len(entry.named)} matches that the book held without an identifier are those of this table: they "
                "are known by its identifiers from now on.",
                KineloWarning,
                stacklevel=3,
            )
        if entry.renamed:
            warnings.warn(
                f"{entry.renamed[0]}: the book holds a contest of that name on another day, more than a month away. "
                f"They are two contests{f', and so are {len(entry.renamed) - 1:,} more' if entry.renamed[1:] else ''}; "
                "the later one is known by its name and day.",
                KineloWarning,
                stacklevel=3,
            )
        if entry.split_days:
            warnings.warn(
                f"On {entry.split_days} days sides play in this table and in one added before: such matches are rated "
                "in the order in which the tables arrived, which one table for the whole day might not share.",
                KineloWarning,
                stacklevel=3,
            )


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


def _keys_of(rater: Any, names: Iterable[str]) -> list[Key]:
    """Slots of some who may meet, and of what helps who is at home."""
    kinds = getattr(rater, "_kinds", (SIDE,))
    return [(kinds[0], name) for name in names] + ([("venue", "home")] if "venue" in kinds else [])


def _holds(rater: Any) -> tuple[str, ...]:
    """What a book of this rater may hold: matches, unless it says otherwise."""
    return traits_of(rater).book_holds
