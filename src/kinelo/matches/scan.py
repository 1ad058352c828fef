"""Streams of matches and of contests: files read in pieces, in order of date, never all in memory.

Every piece is a :class:`Matches` whose codes go on from those of the piece before, so that a rater does not look names
up again. A Parquet file is cut into pieces of ``PIECE`` rows; any other file is one piece.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import MATCH_COLUMNS, check_mapping, find_columns
from kinelo.matches.dated import DatedTable, Day, read_day
from kinelo.matches.kind import MATCHES, Kind
from kinelo.matches.loading import damage_in_words
from kinelo.matches.matches import Matches
from kinelo.matches.names import RunningNames
from kinelo.matches.reading import read_matches
from kinelo.model.validation import flag, one_line
from kinelo.runtime.reading import check_file

PIECE = 1_000_000
LARGEST_NUMBER = 50_000_000
"""Whole-number names up to this are looked up in an array."""

SCAN_NOTES = (
    "matches are read in pieces: identifiers are not checked, so a match that stands twice counts twice",
    "line-ups are not read from pieces",
    "matches of one day count in the order of the files",
)
_UNUSED = ("match_id", "home_lineup", "away_lineup", "home_minutes", "away_minutes")


def scan_matches(
    paths: str | Path | Iterable[str | Path],
    columns: Mapping[str, str] | None = None,
    *,
    accept_losses: bool = False,
) -> MatchScan:
    """Matches of one or many files, to be read in pieces when they are used.

    Parameters
    ----------
    paths
        A file, a pattern such as ``"games/*.parquet"`` (taken in order of names), or several of them in their order.
        Dates must not go back from one piece to the next.
    columns
        Which column means what, as in :func:`kinelo.read_matches`.
    accept_losses
        True goes on although more than half of the rows of a piece cannot be used.

    Returns
    -------
    MatchScan
        For ``fit`` and ``update`` of raters, and for backtests; ``pieces()`` gives the matches, ``notes`` what is not
        checked. Nothing is read before it is asked for.

    >>> import tempfile, polars as pl
    >>> folder = tempfile.mkdtemp()
    >>> for year in (2023, 2024):
    ...     games = pl.DataFrame({"date": [f"{year}-01-01"] * 2, "home": [1, 2], "away": [2, 3], "result": [1.0, 0.5]})
    ...     games.with_columns(pl.col("date").str.to_date()).write_parquet(f"{folder}/{year}.parquet")
    >>> [len(piece) for piece in scan_matches(f"{folder}/*.parquet").pieces()]
    [2, 2]
    """
    check_mapping(columns)
    return MatchScan(files_of(paths), columns, accept_losses=flag("accept_losses", accept_losses))


Piece = TypeVar("Piece", bound=DatedTable)


@dataclass(frozen=True)
class TableScan(Generic[Piece]):
    """A table in pieces: what streams of matches and of contests share."""

    kind: ClassVar[Kind]
    parts: ClassVar[str]
    """What the pieces are called."""
    part_estimated: ClassVar[str]
    """Which of its rows parameters are estimated on."""
    in_memory: ClassVar[bool] = False
    lineups: ClassVar[None] = None

    files: tuple[Path, ...]
    columns: Mapping[str, Any] | None = None
    first: np.datetime64 | None = None
    end: np.datetime64 | None = None

    def before(self, date: Day) -> Self:
        """What took place strictly before a day."""
        return replace(self, end=read_day(date))

    def since(self, date: Day) -> Self:
        """What took place on a day or after it."""
        return replace(self, first=read_day(date))

    def pieces(self, rows: int = PIECE) -> Iterator[Piece]:
        """Read the pieces one after the other, one ahead of its use; dates that go back are refused."""
        return ahead(self._in_order(rows))

    def _in_order(self, rows: int) -> Iterator[Piece]:
        latest, where = np.datetime64("-9999-01-01"), ""
        for piece, label in self._tables(rows):
            if piece.dated and piece.date[0] < latest:
                raise InputError(
                    f"{label} goes back to {piece.date[0]}, before {latest} in {where}; {self.parts} must be in order "
                    "of date: name the files in that order, or sort their rows."
                )
            latest, where = piece.date[-1], label
            ends = self.end is not None and piece.dated and latest >= self.end
            piece = piece if self.first is None else piece.since(str(self.first))
            piece = piece if self.end is None else piece.before(str(self.end))
            if len(piece):
                yield piece
            if ends:
                return

    def _tables(self, rows: int) -> Iterator[tuple[Piece, str]]:
        """The pieces as they are read, each with where it stands."""
        raise NotImplementedError

    def to_estimate(self, most: int | None) -> Piece:
        """The part on which parameters are estimated: about ``most`` rows, in memory."""
        raise NotImplementedError


@dataclass(frozen=True)
class MatchScan(TableScan[Matches]):
    """Matches in pieces: see :func:`scan_matches`.

    >>> import tempfile, polars as pl
    >>> games = pl.DataFrame({"date": ["2024-01-01"] * 2, "home": [1, 2], "away": [2, 3], "result": [1.0, 0.5]})
    >>> path = tempfile.mkdtemp() + "/games.parquet"
    >>> games.with_columns(pl.col("date").str.to_date()).write_parquet(path)
    >>> len(scan_matches(path).since("2024-01-01").collect())
    2
    """

    kind: ClassVar[Kind] = MATCHES
    parts: ClassVar[str] = "pieces"
    part_estimated: ClassVar[str] = "the latest"

    accept_losses: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not checked in pieces."""
        return SCAN_NOTES

    def collect(self) -> Matches:
        """All of these matches in memory, without identifiers."""
        return joined(list(self.pieces()))

    def latest(self, most: int) -> Matches:
        """The latest matches, at most ``most``, in memory: all pieces are read, and those before them forgotten.

        >>> import tempfile, polars as pl
        >>> games = {"date": ["2024-01-01", "2024-01-02"], "home": [1, 2], "away": [2, 3], "result": [1.0, 0.5]}
        >>> path = tempfile.mkdtemp() + "/games.parquet"
        >>> pl.DataFrame(games).with_columns(pl.col("date").str.to_date()).write_parquet(path)
        >>> scan_matches(path).latest(1).date.astype(str).tolist()
        ['2024-01-02']
        """
        pieces: list[Matches] = []
        for piece in self.pieces():
            pieces.append(piece[-most:])
            while sum(map(len, pieces)) - len(pieces[0]) >= most:
                pieces.pop(0)
        return joined(pieces)[-most:] if pieces else joined(pieces)

    def to_estimate(self, most: int | None) -> Matches:
        """The latest matches."""
        if most is None:
            raise InputError(
                "look = None estimates on all matches at once, which pieces are not: read them with read_matches, or "
                "set look to a number."
            )
        return self.latest(int(most))

    def _tables(self, rows: int) -> Iterator[tuple[Matches, str]]:
        names = RunningNames()
        signed = self._signed()
        for path in self.files:
            for frame, label in _frames(path, self.columns, rows):
                yield _quick(frame, self.columns, names, signed) or self._slow(frame, names, signed, label), label

    def _slow(self, frame: pl.DataFrame, names: RunningNames, signed: bool | None, label: str) -> Matches:
        """Any table, as :func:`read_matches` reads it."""
        found = find_columns(frame.columns, MATCH_COLUMNS, self.columns)
        kept = frame.drop([found[name] for name in _UNUSED if name in found])
        named = {key: column for key, column in (self.columns or {}).items() if key not in _UNUSED}
        scale = None if signed is None else "signed" if signed else "points"
        try:
            piece = read_matches(kept, columns=named, results=scale, ordered=True, accept_losses=self.accept_losses)
        except InputError as error:
            raise InputError(f"{label}: {error}") from None
        both = np.column_stack([piece.home, piece.away]).ravel()
        met = pl.Series(both).unique(maintain_order=True).to_numpy()
        codes = np.full(len(piece.teams), -1, np.int32)
        codes[met] = names.codes([piece.teams[code] for code in met.tolist()])
        return replace(
            piece, home=codes[piece.home], away=codes[piece.away], teams=names.teams, notes=(*piece.notes, *SCAN_NOTES)
        )

    def _signed(self) -> bool | None:
        """Whether a column of numbers tells results on the scale −1, 0, 1: one scale for all pieces."""
        least = []
        for path in self.files:
            if path.suffix != ".parquet":
                return None
            with damage_in_words(path, "Parquet"):
                schema = pl.scan_parquet(path).collect_schema()
                column = find_columns(schema.names(), MATCH_COLUMNS, self.columns).get("result")
                if column is None or not schema[column].is_numeric():
                    return None
                least.append(pl.scan_parquet(path).select(pl.col(column).min()).collect().item())
        return any(value is not None and value < 0 for value in least)


def ahead(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The same pieces, each read in a thread of its own while the one before is in use."""
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, pieces, None)
        while (piece := coming.result()) is not None:
            coming = reader.submit(next, pieces, None)
            yield piece


def joined(pieces: list[Matches]) -> Matches:
    """Pieces of one scan as one table."""
    if not pieces:
        raise InputError("There are no matches in the files and days asked for.")

    def whole(name: str) -> NDArray:
        return np.concatenate([getattr(piece, name) for piece in pieces])

    return Matches(
        whole("date"), whole("home"), whole("away"), pieces[-1].teams, whole("result"), whole("margin"),
        whole("neutral"), whole("weight"), np.arange(1, sum(map(len, pieces)) + 1), notes=SCAN_NOTES,
    )  # fmt: skip


def _quick(
    frame: pl.DataFrame, columns: Mapping[str, str] | None, names: RunningNames, signed: bool | None
) -> Matches | None:
    """A clean table of dates, names (whole numbers or plain text) and results, at once; None for any other."""
    found = find_columns(frame.columns, MATCH_COLUMNS, columns)
    if set(found) != {"date", "home", "away", "result"} or len(frame.columns) != 4:
        return None
    date, home, away, result = (frame[found[name]] for name in ("date", "home", "away", "result"))
    numbers = home.dtype.is_integer() and away.dtype.is_integer()
    text = home.dtype == pl.String and away.dtype == pl.String
    if date.dtype != pl.Date or not (numbers or text) or not result.dtype.is_numeric():
        return None
    if any(series.null_count() for series in (date, home, away, result)) or bool((home == away).any()):
        return None
    day, points = date.to_numpy().astype("datetime64[D]", copy=False), result.cast(pl.Float64).to_numpy()
    points = (points + 1.0) / 2.0 if signed else points
    if not date.is_sorted() or not bool(((points == 0.0) | (points == 0.5) | (points == 1.0)).all()):
        return None
    codes = _number_codes(home, away, names) if numbers else _text_codes(home, away, names)
    if codes is None:
        return None
    n = len(day)
    return Matches(
        day, codes[0], codes[1], names.teams, np.array(points), np.full(n, np.nan),
        np.zeros(n, bool), np.ones(n), np.arange(1, n + 1), notes=SCAN_NOTES,
    )  # fmt: skip


def _number_codes(home: pl.Series, away: pl.Series, names: RunningNames) -> list[NDArray[np.int32]] | None:
    ends = [int(value) for side in (home, away) for value in (side.min(), side.max())]  # pyright: ignore[reportArgumentType]
    if min(ends) < 0 or max(ends) > LARGEST_NUMBER:
        return None
    return names.codes_of_numbers(home.cast(pl.Int64).to_numpy(), away.cast(pl.Int64).to_numpy(), max(ends))


def _text_codes(home: pl.Series, away: pl.Series, names: RunningNames) -> list[NDArray[np.int32]] | None:
    codes = names.codes_of_text(pl.concat([home, away]))
    return None if codes is None else [codes[: len(home)], codes[len(home) :]]


def _frames(path: Path, columns: Mapping[str, str] | None, rows: int) -> Iterator[tuple[pl.DataFrame, str]]:
    from kinelo.matches.loading import load_table

    if path.suffix != ".parquet":
        yield load_table(path), str(path)
        return
    with damage_in_words(path, "Parquet"):
        table = pl.scan_parquet(path)
        schema = table.collect_schema()
        height = table.select(pl.len()).collect().item()
    date = find_columns(schema.names(), MATCH_COLUMNS, columns).get("date")
    if date is not None and not schema[date].is_temporal():
        rows = max(height, 1)  # how text tells a date is settled by all of it
    for begin in range(0, height, rows):
        end = min(begin + rows, height)
        with damage_in_words(path, "Parquet"):
            frame = table.slice(begin, end - begin).collect()
        yield frame, f"{path}, rows {begin + 1:,} to {end:,}"


def files_of(paths: object) -> tuple[Path, ...]:
    """The files that a user names, by a path, a pattern or several of them."""
    if isinstance(paths, str | Path):
        names = sorted(glob.glob(str(paths))) if any(sign in str(paths) for sign in "*?[") else [str(paths)]
    else:
        several = isinstance(paths, Iterable) and not isinstance(paths, Mapping | bytes | bytearray | type)
        parts = list(paths) if several and getattr(paths, "shape", None) != () else [None]  # type: ignore[call-overload]
        if not all(isinstance(part, str | Path) for part in parts):
            raise InputError(f"paths must be a file, a pattern of files or a list of them, not {one_line(paths)}.")
        names = [str(path) for part in parts for path in files_of(part)]
    if not names:
        raise InputError(f"no file is called {paths!r}" if isinstance(paths, str | Path) else "paths names no file")
    for path in names:
        check_file(Path(path))
    return tuple(map(Path, names))
