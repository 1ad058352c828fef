"""A rating book: ratings kept on disk and carried on day by day.

A folder with three files. ``book.knl`` says which rater it is and with which parameters; ``matches.knl`` is a journal
of what was added, changed and taken out, to which is only appended; ``snapshot.knl`` holds the ratings after a certain
length of the journal. A match counts once it is in the journal and the disk has said so; the snapshot only saves time.
The ratings are those of one run over all matches in order of date, to the last bit.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.book.contest_ledger import ContestLedger, are_contests, frame_to_contests
from kinelo.book.journal import append_record, frame, read_records, read_sealed, write_sealed
from kinelo.book.keeping import class_of, description_of, rater_from, restore, settings_to_keep
from kinelo.book.ledger import Entry, Ledger
from kinelo.book.lock import locked
from kinelo.book.rows import frame_to_matches, removal_to_lines
from kinelo.errors import InputError, KineloWarning, in_one_line
from kinelo.matches.contests import Contests, check_contests
from kinelo.matches.matches import Matches, check_matches
from kinelo.matches.scan import MatchScan
from kinelo.raters.adapter import blank_of, carry_on, conditions_of, forecast_by, state_of
from kinelo.raters.rater import Rater

if TYPE_CHECKING:
    import polars as pl

    from kinelo.forecasts.forecast import Forecast

BOOK_VERSION = 3
_HEAD = len(frame(b""))


@dataclass(frozen=True)
class Added:
    """What an addition did: matches that were new, that the book held as they are, that it held and are changed now."""

    new: int
    known: int
    changed: int = 0


class RatingBook:
    """Ratings kept in a folder.

    Parameters
    ----------
    path
        The folder; it is made if it does not exist.
    rater
        The rater to keep, needed for a new book. Its parameters are taken as they stand (fitted or fixed); the book
        itself begins without matches. A book whose rater is neither Kinelo's nor a plug-in's needs it too, or its
        class: a book never imports what it names.

    >>> import tempfile, kinelo as kn
    >>> folder = tempfile.mkdtemp()
    >>> book = kn.RatingBook(folder, kn.TeamElo.classic(k=20))
    >>> results = kn.read_matches({"match_id": ["m1"], "home": ["A"], "away": ["B"], "result": [1]})
    >>> book.add(results), book.add(results)
    (Added(new=1, known=0, changed=0), Added(new=0, known=1, changed=0))
    >>> kn.RatingBook(folder).ratings_["rating"].to_list()
    [1510.0, 1490.0]
    """

    def __init__(self, path: str | Path, rater: Rater | Any = None) -> None:
        if not isinstance(path, str | Path):
            raise InputError(f"A rating book lies in a folder, and {path!r} is not the name of one.")
        self.path = Path(path)
        if not (self.path / "book.knl").exists():
            if rater is None or isinstance(rater, type):
                raise InputError(f"{self.path} is not a rating book; give a rater to start one there.")
            _start(self.path, rater)
        with locked(self.path, writing=False):
            self._blank = _open_rater(self.path / "book.knl", rater)
            self._load()
        note = self._rater.note_on_points() if isinstance(self._rater, Rater) else ""
        if note:
            warnings.warn(f"The rating book {self.path}: {note}.", KineloWarning, stacklevel=2)

    @property
    def rater(self) -> Rater:
        """The rater as it stands after all matches of the book; changing it does not change the book."""
        return copy.deepcopy(self._rater)

    @property
    def ratings_(self) -> pl.DataFrame:
        """The ratings after all matches of the book."""
        return self._rater.ratings_

    def __len__(self) -> int:
        return self._ledger.table.height

    def __repr__(self) -> str:
        return f"RatingBook({str(self.path)!r}): {len(self):,} {self.noun}, {type(self._rater).__name__}"

    @property
    def noun(self) -> str:
        """What the book holds: ``"matches"`` of two sides or ``"contests"`` of many."""
        return "contests" if isinstance(self._ledger, ContestLedger) else "matches"

    def matches(self) -> Matches:
        """All matches (or contests) of the book in order of date."""
        if len(self) == 0:
            raise InputError(f"The rating book {self.path} holds no {self.noun} yet.")
        return self._held(self._ledger)

    def predict(self, matches: Matches) -> Forecast:
        """Forecast matches from the ratings as they stand."""
        return forecast_by(self._rater, matches)

    def predict_one(self, home: Any, away: Any = None, **more: Any) -> Any:
        """Forecast one match from the ratings as they stand (:meth:`kinelo.Rater.predict_one`), or one contest.

        A contest is a list of its entrants.
        """
        return self._asked("predict_one")(*([home] if away is None else [home, away]), **more)

    def match_quality(self, home: str | Sequence[str], away: str | Sequence[str], **more: Any) -> Any:
        """How even matches are believed to be (:meth:`kinelo.Rater.match_quality`)."""
        return self._asked("match_quality")(home, away, **more)

    def _asked(self, verb: str) -> Any:
        """What the rater of the book can do."""
        if not hasattr(self._rater, verb):
            raise InputError(f"{type(self._rater).__name__} has no {verb}; the raters of Kinelo have it.")
        return getattr(self._rater, verb)

    def add(self, matches: Matches | Contests) -> Added:
        """Count matches that the book has not counted yet, for good, and take what is said anew of those it has.

        A match under a known identifier that says something else now replaces what the book held: the ratings are
        computed again, and a warning says so.
        """
        if isinstance(matches, MatchScan):
            raise InputError("A rating book checks every match by its identifier; read them with read_matches.")
        with locked(self.path):
            self._keep_up()
            ledger = self._ledger_for(matches)
            entry = ledger.enter(matches)
            if entry.payload is not None:
                self._ledger = ledger
                self._write(entry.payload)
        self._say(entry)
        return Added(entry.new, entry.known, entry.changed)

    def _ledger_for(self, matches: object) -> Any:
        """The ledger that takes this table; the first table decides where the rater rates matches and contests."""
        fresh = self._end == 0 and isinstance(matches, Contests) and "contests" in _holds(self._blank)
        ledger = ContestLedger() if fresh else self._ledger
        of_contests = isinstance(ledger, ContestLedger)
        (check_contests if of_contests else check_matches)(matches)
        if np.isnan(getattr(matches, "place" if of_contests else "result")).any():
            raise InputError("A match without a result cannot enter a rating book; read it with played=True.")
        return ledger

    def remove(self, match_ids: str | Iterable[str]) -> int:
        """Take matches out of the book again, by identifier; the ratings are as if they had never been added."""
        several = isinstance(match_ids, Iterable) and not isinstance(match_ids, str)
        ids: list[Any] = list(match_ids) if several else [match_ids]
        if odd := [name for name in ids if not isinstance(name, str)]:
            raise InputError(f"matches are taken out by identifier, which is text, not {odd[0]!r}.")
        with locked(self.path):
            self._keep_up()
            held = set(self._ledger.table["match_id"].to_list())
            missing = [name for name in ids if name not in held]
            if missing:
                raise InputError(f"The rating book {self.path} holds no match {missing[0]!r}; nothing was taken out.")
            if ids:
                self._write(removal_to_lines(ids))
        return len(set(ids))

    def _say(self, entry: Entry) -> None:
        if entry.changed:
            warnings.warn(
                f"{entry.changed} {self.noun} of the book differ in this table: they were changed, and the ratings "
                f"computed again from {entry.first_change} on.",
                KineloWarning,
                stacklevel=3,
            )
        if entry.named:
            warnings.warn(
                f"{entry.named} matches that the book held without an identifier are those of this table: they are "
                "known by its identifiers from now on.",
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

    def refresh(self) -> bool:
        """Read what other processes have added since; return whether there was anything. :meth:`add` does so itself."""
        before = self._end
        with locked(self.path, writing=False):
            self._keep_up()
        return self._end != before

    def _new_ledger(self, payloads: Sequence[bytes]) -> Any:
        """A ledger for what these records hold, or for what the rater rates where there are none."""
        holds = _holds(self._blank)
        of_contests = are_contests(payloads[0]) if len(holds) > 1 and payloads else holds == ("contests",)
        return ContestLedger() if of_contests else Ledger(conditions_of(self._blank))

    def _held(self, ledger: Any, first: int = 0) -> Any:
        """The matches (or contests) of a ledger from one on, in order."""
        return (frame_to_contests if isinstance(ledger, ContestLedger) else frame_to_matches)(ledger.table[first:])

    def _keep_up(self) -> None:
        """Read again what another process has written since; the journal on disk is what counts."""
        journal = self.path / "matches.knl"
        if (journal.stat().st_size if journal.exists() else 0) != self._end:
            self._load()

    def _write(self, payload: bytes) -> None:
        """Rate, then write: what a rater refuses never stands in the journal, which could not be opened again.

        A correction is rated apart and exchanged at the end: whoever asks meanwhile gets the ratings before it.
        """
        before, ledger, rater = len(self), copy.copy(self._ledger), self._rater
        try:
            if ledger.apply(payload):
                carry_on(rater, self._held(ledger, before))
            else:
                rater = self._rated(ledger)
            self._end = append_record(self.path / "matches.knl", payload, self._end)
        except BaseException:
            self._load()
            raise
        self._rater, self._ledger = rater, ledger
        self._save()

    def _rated(self, ledger: Any) -> Any:
        """A rater that has seen all matches of a ledger and nothing else."""
        rater = copy.deepcopy(self._blank)
        if ledger.table.height:
            carry_on(rater, self._held(ledger))
        return rater

    def _save(self) -> None:
        # A rater without a state leaves none, but the length of the journal tells whether it was cut short.
        state = state_of(self._rater) or {}
        try:
            write_sealed(self.path / "snapshot.knl", {"version": BOOK_VERSION, "journal": self._end}, state)
        except OSError as error:
            warnings.warn(
                f"The matches count, but the snapshot of {self.path} could not be written ({error.strerror}): the "
                "book will take longer to open.",
                KineloWarning,
                stacklevel=4,
            )

    def _load(self) -> None:
        """Read the files; whoever asks meanwhile gets the ratings before."""
        payloads, end = read_records(self.path / "matches.knl")
        about, arrays = self._snapshot()
        if about["journal"] > end:
            raise InputError(
                f"{self.path / 'matches.knl'} is shorter than its snapshot says: matches are missing from it."
            )
        ledger, at, behind, rated = self._new_ledger(payloads), 0, True, 0
        for payload in payloads:
            added = self._apply(ledger, payload)
            at += len(payload) + _HEAD
            if at <= about["journal"]:
                rated = ledger.table.height
            else:
                behind = behind and added
        rater = self._restored(arrays) if behind and arrays is not None else None
        if rater is None:
            rater = self._rated(ledger)
        elif ledger.table.height > rated:
            carry_on(rater, self._held(ledger, rated))
        self._rater, self._ledger, self._end = rater, ledger, end

    def _apply(self, ledger: Any, payload: bytes) -> bool:
        """Let a ledger take in a record; whoever can write a file can write a checksum."""
        try:
            return ledger.apply(payload)
        except Exception as error:
            raise InputError(
                f"{self.path / 'matches.knl'} holds a record that Kinelo did not write "
                f"({in_one_line(error).rstrip('.')[:120]}); nothing was changed, put back a copy of the file."
            ) from None

    def _restored(self, arrays: dict[str, Any]) -> Any:
        """The rater as the snapshot holds it; nothing where it cannot be used."""
        rater = copy.deepcopy(self._blank)
        try:
            restore(rater, arrays, str(self.path / "snapshot.knl"))
        except InputError:
            self._say_damaged()
            return None
        return rater

    def _say_damaged(self) -> None:
        warnings.warn(
            f"{self.path / 'snapshot.knl'} is damaged: the ratings were computed anew from the matches.",
            KineloWarning,
            stacklevel=5,
        )

    def _doubt_length(self) -> None:
        """Say that nothing vouches for the length of a journal that has no snapshot beside it."""
        journal = self.path / "matches.knl"
        if journal.exists() and journal.stat().st_size:
            warnings.warn(
                f"{self.path} has no snapshot to tell how long its journal should be: if matches.knl was cut short, "
                "matches are missing from it (kinelo book --list shows those it holds).",
                KineloWarning,
                stacklevel=5,
            )

    def _snapshot(self) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Description and state of the snapshot; one that cannot be used is done without: the journal has all."""
        path = self.path / "snapshot.knl"
        if not path.exists():
            self._doubt_length()
            return {"journal": 0}, None
        try:
            about, arrays = read_sealed(path)
        except InputError:
            about, arrays = {}, {}
        if not isinstance(about.get("journal"), int):
            self._say_damaged()
            return {"journal": 0}, None
        return about, arrays or None


def _holds(rater: Any) -> tuple[str, ...]:
    """What a book of this rater may hold: matches, unless it says otherwise."""
    return getattr(rater, "book_holds", ("matches",))


def _start(path: Path, rater: Any) -> None:
    """Start a book in a new or empty folder, unless another process has just done so."""
    about = {"version": BOOK_VERSION} | description_of(rater)
    blank = blank_of(rater)
    if isinstance(blank, Rater):
        about["parameters"] = dict(blank.parameters_)
    path.mkdir(parents=True, exist_ok=True)
    with locked(path):
        content = sorted(item.name for item in path.iterdir() if not item.name.startswith("."))
        if "book.knl" in content:
            return
        if content:
            raise InputError(
                f"{path} is not empty and not a rating book (it contains {content[0]}); choose another folder."
            )
        write_sealed(path / "book.knl", about, state_of(blank) or {})


def _open_rater(path: Path, given: Any) -> Any:
    about, arrays = read_sealed(path)
    if about.get("version") != BOOK_VERSION:
        raise InputError(
            f"{path} was written by another version of Kinelo ({about.get('version')}, this one reads {BOOK_VERSION})."
        )
    kind = class_of(about.get("rater"), given, str(path.parent))
    rater = rater_from(kind, about, str(path.parent))
    if given is not None and given is not kind and settings_to_keep(given) != settings_to_keep(rater):
        raise InputError(
            f"{path.parent} is a book of {kind.__name__} with other settings than the rater given; "
            "open it without a rater."
        )
    if arrays:
        restore(rater, arrays, str(path))
    elif isinstance(rater, Rater):
        rater.reset(about["parameters"])
    return rater
