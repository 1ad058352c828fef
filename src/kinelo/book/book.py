"""A rating book: ratings kept on disk and carried on day by day.

A folder with three files. ``book.knl`` says which rater it is and with which parameters; ``matches.knl`` is a journal
of all matches, to which is only appended; ``snapshot.knl`` holds the ratings after a certain length of the journal. A
match counts once it is in the journal and the disk has said so; the snapshot only saves time. The ratings are those of
one run over all matches in order of date, to the last bit.
"""

from __future__ import annotations

import copy
import fcntl
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from kinelo.book.journal import append_record, read_records, read_sealed, write_sealed
from kinelo.book.rows import frame_to_lines, frame_to_matches, lines_to_frame, matches_to_frame, stable_ids
from kinelo.errors import InputError
from kinelo.matches.matches import Matches

if TYPE_CHECKING:
    from kinelo.forecasts.forecast import Forecast
    from kinelo.raters.rater import Rater

VERSION = 2
HOMES = {"TeamElo": "team", "Glicko": "glicko", "Glicko2": "glicko", "KalmanElo": "kalman", "PlayerElo": "player"}


@dataclass(frozen=True)
class Added:
    """What an addition did: matches that were new, and matches the book had counted before."""

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
        The rater to keep, needed for a new book only. Its parameters are taken as they stand (fitted or fixed); the
        book itself begins without matches.

    >>> import tempfile, kinelo as kn
    >>> folder = tempfile.mkdtemp()
    >>> book = kn.RatingBook(folder, kn.TeamElo.classic(k=20))
    >>> results = kn.read_matches({"match_id": ["m1"], "home": ["A"], "away": ["B"], "result": [1]})
    >>> book.add(results), book.add(results)
    (Added(new=1, known=0, changed=0), Added(new=0, known=1, changed=0))
    >>> kn.RatingBook(folder).ratings_["rating"].to_list()
    [1510.0, 1490.0]
    """

    def __init__(self, path: str | Path, rater: Rater | None = None) -> None:
        self.path = Path(path)
        if (self.path / "book.knl").exists():
            self._blank = _open_rater(self.path / "book.knl", rater)
        elif rater is None:
            raise InputError(f"{self.path} is not a rating book; give a rater to start one there")
        else:
            self._blank = _found(self.path, rater)
        self._load()

    @property
    def rater(self) -> Rater:
        """The rater as it stands after all matches of the book; changing it does not change the book."""
        return copy.deepcopy(self._rater)

    @property
    def ratings_(self) -> pl.DataFrame:
        """The ratings after all matches of the book."""
        return self._rater.ratings_

    def __len__(self) -> int:
        return self._table.height

    def matches(self) -> Matches:
        """All matches of the book in order of date."""
        if self._table.height == 0:
            raise InputError(f"the rating book {self.path} holds no matches yet")
        return frame_to_matches(self._table)

    def predict(self, matches: Matches) -> Forecast:
        """Forecast matches from the ratings as they stand."""
        return self._rater.predict(matches)

    def add(self, matches: Matches) -> Added:
        """Count matches that the book has not counted yet, for good."""
        if np.isnan(matches.result).any():
            raise InputError("a match without a result cannot enter a rating book; read it with played=True")
        with _locked(self.path):
            if _length(self.path / "matches.knl") != self._end:
                self._load()
            ids = stable_ids(matches)
            unseen = np.array([name not in self._counted for name in ids.to_list()], bool)
            fresh = unseen & ids.is_first_distinct().to_numpy()
            if fresh.any():
                self._append(matches_to_frame(matches).filter(pl.Series(fresh)))
        return Added(int(fresh.sum()), int((~fresh).sum()))

    def _append(self, rows: pl.DataFrame) -> None:
        payload = frame_to_lines(rows)
        rows = lines_to_frame(payload)
        self._end = append_record(self.path / "matches.knl", payload, self._end)
        in_order = self._table.height == 0 or rows["date"].min() >= self._table["date"].max()  # type: ignore[operator]
        self._table = pl.concat([self._table, rows], how="diagonal")
        self._counted.update(rows["match_id"].to_list())
        if in_order:
            self._rater.update(frame_to_matches(rows))
        else:
            self._rate_all()
        self._save()

    def _rate_all(self) -> None:
        self._rater = copy.deepcopy(self._blank)
        if self._table.height:
            self._rater.update(frame_to_matches(self._table))

    def _save(self) -> None:
        about = {"version": VERSION, "journal": self._end, "matches": self._table.height}
        write_sealed(self.path / "snapshot.knl", about, self._rater.to_arrays())

    def _load(self) -> None:
        payloads, self._end = read_records(self.path / "matches.knl")
        frames = [lines_to_frame(payload) for payload in payloads]
        empty = pl.DataFrame(schema={"match_id": pl.String, "date": pl.Date})
        self._table = pl.concat(frames, how="diagonal") if frames else empty
        self._counted = set(self._table["match_id"].to_list())
        snapshot = self.path / "snapshot.knl"
        if not snapshot.exists():
            self._rate_all()
            return
        about, arrays = read_sealed(snapshot)
        _check_version(about, snapshot)
        if about["journal"] > self._end:
            raise InputError(
                f"{self.path / 'matches.knl'} is shorter than its snapshot says: matches are missing from it"
            )
        self._catch_up(about, arrays)

    def _catch_up(self, about: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Start from the snapshot and rate what the journal has beyond it (a process may have died in between)."""
        counted, rest = self._table[: about["matches"]], self._table[about["matches"] :]
        if rest.height and counted.height and rest["date"].min() < counted["date"].max():  # type: ignore[operator]
            self._rate_all()
            return
        self._rater = copy.deepcopy(self._blank)
        self._rater.from_arrays(arrays)
        if rest.height:
            self._rater.update(frame_to_matches(rest))


def _settings(rater: Rater) -> dict[str, Any]:
    names = [name for name in inspect.signature(type(rater).__init__).parameters if name != "self"]
    return {name: getattr(rater, name) for name in names}


def _found(path: Path, rater: Rater) -> Rater:
    """Start a book in a new or empty folder; the rater it will work with."""
    kind = type(rater).__name__
    if kind not in HOMES:
        raise InputError(f"a rating book keeps {', '.join(HOMES)}, not {kind}")
    path.mkdir(parents=True, exist_ok=True)
    foreign = [item.name for item in path.iterdir() if not item.name.startswith(".")]
    if foreign:
        raise InputError(f"{path} is not empty and not a rating book (it contains {foreign[0]}); choose another folder")
    blank = copy.deepcopy(rater)
    blank.reset(dict(rater.parameters_))
    about = {"version": VERSION, "rater": kind, "settings": _settings(rater)}
    with _locked(path):
        write_sealed(path / "book.knl", about, blank.to_arrays())
    return blank


def _open_rater(path: Path, given: Rater | None) -> Rater:
    about, arrays = read_sealed(path)
    _check_version(about, path)
    kind = about["rater"]
    rater = getattr(import_module(f"kinelo.raters.{HOMES[kind]}.rater"), kind)(**about["settings"])
    if given is not None and (type(given).__name__ != kind or _settings(given) != about["settings"]):
        raise InputError(
            f"{path.parent} is a book of {kind} with other settings than the rater given; open it without a rater"
        )
    rater.from_arrays(arrays)
    return rater


def _check_version(about: dict[str, Any], path: Path) -> None:
    if about.get("version") != VERSION or about.get("rater", "TeamElo") not in HOMES:
        raise InputError(
            f"{path} was written by another version of Kinelo (format {about.get('version')}, this one reads {VERSION})"
        )


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the folder's lock: one process writes at a time, and what a dead one left half-written is swept away."""
    with (path / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for leftover in path.glob(".*.tmp"):
            leftover.unlink(missing_ok=True)
        yield
