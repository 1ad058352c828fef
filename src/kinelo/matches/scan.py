"""Streams of matches and of contests: files read in pieces, in order of date, never all in memory.

Every piece of matches is a :class:`Matches` whose codes go on from those of the piece before, so that a rater does not
look names up again: whole numbers are found in a table, plain text by its hashes, anything else by its letters. A
Parquet file is cut into pieces of ``PIECE`` rows, none of which ends within a contest; any other file is one piece.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import (
    MATCH_COLUMNS,
    find_columns,
    find_contest_columns,
)
from kinelo.matches.contests import Contests
from kinelo.matches.dated import DatedTable, Day, read_day
from kinelo.matches.dates import DateOrder
from kinelo.matches.kinds import CONTESTS, MATCHES, Kind
from kinelo.matches.loading import damage_in_words, load_table
from kinelo.matches.matches import Matches
from kinelo.matches.names import NO_NAMES, SEEDS, SMALLEST_TABLE, clean_name
from kinelo.matches.reading import answers_for, contest_options, match_options, read_contests, read_matches
from kinelo.matches.reading_file import kept_reading, reading_file
from kinelo.matches.rows import Scale
from kinelo.model.validation import one_line
from kinelo.runtime.reading import check_file


@njit(cache=True, nogil=True)
def _look_up(key, check, slot_key, slot_check, slot_code, codes):
    """Code of each pair of hashes, −1 where the table has none.

    ``key``, ``check`` (uint64) and ``codes`` (int32) are (names); ``slot_…`` are the table, a power of two long.
    """
    mask = slot_code.size - 1
    for k in range(key.size):
        at = np.int64(key[k] & np.uint64(mask))
        while slot_code[at] >= 0 and not (slot_key[at] == key[k] and slot_check[at] == check[k]):
            at = (at + 1) & mask
        codes[k] = slot_code[at]


@njit(cache=True, nogil=True)
def _enter(key, check, codes, slot_key, slot_check, slot_code):
    """Put pairs of hashes that the table lacks into it."""
    mask = slot_code.size - 1
    for k in range(key.size):
        at = np.int64(key[k] & np.uint64(mask))
        while slot_code[at] >= 0:
            at = (at + 1) & mask
        slot_key[at] = key[k]
        slot_check[at] = check[k]
        slot_code[at] = codes[k]


@njit(cache=True, nogil=True)
def hand_out_numbers(numbers, table, codes, fresh, known, new):
    """Code of each number from a table by the numbers themselves; how many are new then, which ``fresh`` receives.

    ``numbers`` (int64) and ``codes`` (int32) are (names), ``table`` (int32) is (largest number + 1).
    """
    for k in range(numbers.size):
        at = numbers[k]
        if table[at] < 0:
            table[at] = known + new
            fresh[new] = at
            new += 1
        codes[k] = table[at]
    return new


class HashedCodes:
    """Codes of names by 128 bits of their hashes, in a table that grows: what rivers of text are looked up in.

    >>> table, names = HashedCodes(), pl.Series(["b", "a", "b"])
    >>> new = names.gather(table.new_rows(names))
    >>> table.enter(new, np.array([0, 1], np.int32))
    >>> new.to_list(), table.codes(names).tolist(), table.new_rows(names).size
    (['b', 'a'], [0, 1, 0], 0)
    """

    def __init__(self) -> None:
        self.known = 0
        self.slots = self._empty(SMALLEST_TABLE)
        self._asked: tuple[pl.Series, tuple[NDArray, NDArray]] | None = None

    @staticmethod
    def _empty(size: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int32]]:
        return np.empty(size, np.uint64), np.empty(size, np.uint64), np.full(size, -1, np.int32)

    def _hashes(self, names: pl.Series) -> tuple[NDArray, NDArray]:
        if self._asked is None or self._asked[0] is not names:
            key, check = (names.hash(seed).to_numpy() for seed in SEEDS)
            self._asked = names, (key, check)
        return self._asked[1]

    def codes(self, names: pl.Series) -> NDArray[np.int32]:
        """Codes of names; −1 for one that has not been entered."""
        found = np.empty(len(names), np.int32)
        _look_up(*self._hashes(names), *self.slots, found)
        return found

    def new_rows(self, names: pl.Series) -> NDArray[np.int64]:
        """Rows at which names stand for the first time that have not been entered."""
        rows = np.flatnonzero(self.codes(names) < 0)
        key, check = self._hashes(names)
        pairs = pl.DataFrame({"key": key[rows], "check": check[rows]})
        return rows[pairs.select(pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()] if rows.size else rows

    def enter(self, names: pl.Series, codes: NDArray[np.int32]) -> None:
        """Remember the codes of new names."""
        self.known += len(names)
        key, check = (names.hash(seed).to_numpy() for seed in SEEDS)
        if 2 * self.known > self.slots[2].size:
            size = self.slots[2].size
            while 2 * self.known > size:
                size *= 4
            kept, self.slots = self.slots, self._empty(size)
            met = kept[2] >= 0
            _enter(kept[0][met], kept[1][met], kept[2][met], *self.slots)
        _enter(key, check, codes, *self.slots)


class RunningNames:
    """Names met so far, in order of first appearance, and their codes.

    >>> names = RunningNames()
    >>> [side.tolist() for side in names.codes_of_numbers(np.array([7, 7]), np.array([5, 9]), largest=9)]
    [[0, 0], [1, 2]]
    >>> names.codes(["5", "b"]).tolist(), names.teams
    ([1, 3], ('7', '5', '9', 'b'))
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.index: dict[str, int] = {}
        self.ways: set[str] = set()
        self.table = np.empty(0, np.int32)
        self.hashes = HashedCodes()
        self._teams: tuple[str, ...] = ()

    @property
    def teams(self) -> tuple[str, ...]:
        """All names so far; the same tuple until there are more."""
        if len(self._teams) < len(self.names):
            self._teams = tuple(self.names)
        return self._teams

    def codes(self, names: list[str]) -> NDArray[np.int32]:
        """Codes of distinct names, new ones added."""
        self.ways.add("names")
        return self._looked_up(names)

    def enter(self, names: list[str], way: str) -> NDArray[np.int32]:
        """Codes of distinct names that are new to this way of looking names up; other ways may know them."""
        self.ways.add(way)
        if len(self.ways) > 1:
            return self._looked_up(names)
        self.names += names
        return np.arange(len(self.names) - len(names), len(self.names), dtype=np.int32)

    def _looked_up(self, names: list[str]) -> NDArray[np.int32]:
        # Files of one kind never need the names by their letters, so that the index is made when another kind comes.
        begin, index = len(self.names), self.index
        index.update(zip(self.names[len(index) :], range(len(index), begin)))
        found = np.array([index.setdefault(name, len(index)) for name in names], np.int32)
        self.names += [name for name, code in zip(names, found.tolist()) if code >= begin]
        return found

    def codes_of_numbers(
        self, home: NDArray[np.int64], away: NDArray[np.int64], largest: int
    ) -> list[NDArray[np.int32]]:
        """Codes of names that are whole numbers up to ``largest``."""
        if largest >= self.table.size:
            grown = np.full(max(largest + 1, 2 * self.table.size), -1, np.int32)
            grown[: self.table.size] = self.table
            self.table = grown
        codes = [np.empty(home.size, np.int32), np.empty(away.size, np.int32)]
        fresh, begin, new = np.empty(home.size + away.size, np.int64), len(self.names), 0
        for numbers, found in zip((home, away), codes):
            new = hand_out_numbers(numbers, self.table, found, fresh, begin, new)
        if new:
            entered = self.enter(pl.Series(fresh[:new]).cast(pl.String).to_list(), "numbers")
            if len(self.ways) > 1:
                self.table[fresh[:new]] = entered
                codes = [self.table[home], self.table[away]]
        return codes

    def codes_of_text(self, both: pl.Series) -> NDArray[np.int32] | None:
        """Codes of names in text without blanks around them; None where a new one is no plain name."""
        fresh = self.hashes.new_rows(both)
        if fresh.size:
            new = both.gather(fresh)
            # A name must be read as it stands: no blanks around it, not empty, no word that stands for none.
            odd = new.str.to_lowercase().is_in(list(NO_NAMES)) | new.str.ends_with(".0") | (new == "")
            if odd.any() or any(clean_name(name) != name for name in new.to_list()):
                return None
            self.hashes.enter(new, self.enter(new.to_list(), "text"))
        return self.hashes.codes(both)


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
    results: Scale | None = None,
    aliases: Mapping[str, str] | str | Path | None = None,
    dates: DateOrder | None = None,
    endings: Mapping[str, str] | None = None,
    accept_losses: bool = False,
) -> MatchScan:
    """Matches of one or many files, to be read in pieces when they are used.

    Parameters
    ----------
    paths
        A file, a pattern such as ``"games/*.parquet"`` (taken in order of names), or several of them in their order.
        Dates must not go back from one piece to the next.
    columns, results, aliases, dates, endings
        As in :func:`kinelo.read_matches`. Left open, the scale of results is one for all pieces of Parquet files.
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
    files = files_of(paths)
    options = answers_for_pieces(files, MATCHES, {
        "columns": columns, "results": results, "dates": dates, "endings": endings, "accept_losses": accept_losses,
        "aliases": aliases,
    })  # fmt: skip
    columns = options.pop("columns")
    options["aliases"] = match_options(columns, **options).aliases
    return MatchScan(files, columns, options)


def answers_for_pieces(files: Sequence[Path], kind: Kind, asked: dict[str, Any]) -> dict[str, Any]:
    """What is asked of files that are read in pieces, with the one reading that is kept beside any of them."""
    kept = {file: kept_reading(file) for file in files}
    kept = {file: reading for file, reading in kept.items() if reading[0] is not None}
    for file, reading in list(kept.items())[:1]:
        for other in (other for other in kept if kept[other] != reading):
            raise InputError(f"{file} and {other} are kept to be read in two ways; files in pieces have one reading.")
        if odd := [key for key in reading[1] if key not in asked]:
            raise InputError(f"{reading_file(file)} says {odd[0]}, which files that are read in pieces do not take.")
        return answers_for(file, kind, asked)[0]
    return asked


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
    options: Mapping[str, Any] = field(default_factory=dict)
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

    def _uncut(self, schema: pl.Schema) -> tuple[list[str], bool]:
        """Columns within whose values a Parquet file is not cut into pieces, and whether it is not cut at all."""
        raise NotImplementedError

    def _frames(self, path: Path, rows: int) -> Iterator[tuple[pl.DataFrame, str]]:
        """Parts of a file, each with where it stands; only a Parquet file has more than one."""
        if not _is_parquet(path):
            yield load_table(path), str(path)
            return
        with damage_in_words(path, "Parquet"):
            table = pl.scan_parquet(path)
            keys, whole = self._uncut(table.collect_schema())
            height = table.select(pl.len()).collect().item()
        rows, first, held = max(height, 1) if whole else rows, 0, None
        for begin in range(0, height, rows):
            with damage_in_words(path, "Parquet"):
                frame = table.slice(begin, rows).collect()
            frame = frame if held is None else pl.concat([held, frame])
            held = None
            if keys and begin + rows < height:
                last = (frame.select(keys).hash_rows() == frame[-1].select(keys).hash_rows()[0]).to_numpy()
                cut = frame.height - int(np.argmin(last[::-1])) if not last.all() else 0
                held, frame = frame[cut:], frame[:cut]
            if frame.height:
                yield frame, f"{path}, rows {first + 1:,} to {first + frame.height:,}"
                first += frame.height

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
        scale = self.options.get("results") or self._scale()
        options = {**self.options, "results": scale}
        for path in self.files:
            for frame, label in self._frames(path, rows):
                piece = None if options.get("aliases") else _quick(frame, self.columns, names, scale)
                if piece:
                    yield piece, label
                    continue
                # Any other table is read as by itself, and its names get the codes of the scan.
                found = find_columns(frame.columns, MATCH_COLUMNS, self.columns)
                used = frame.drop([found[name] for name in _UNUSED if name in found])
                named = {key: column for key, column in (self.columns or {}).items() if key not in _UNUSED}
                try:
                    piece = read_matches(used, columns=named, ordered=True, **options)
                except InputError as error:
                    raise InputError(f"{label}: {error}") from None
                both = np.column_stack([piece.home, piece.away]).ravel()
                met = pl.Series(both).unique(maintain_order=True).to_numpy()
                codes = np.full(len(piece.teams), -1, np.int32)
                codes[met] = names.codes([piece.teams[code] for code in met.tolist()])
                home, away, notes = codes[piece.home], codes[piece.away], (*piece.notes, *SCAN_NOTES)
                yield replace(piece, home=home, away=away, teams=names.teams, notes=notes), label

    def _uncut(self, schema: pl.Schema) -> tuple[list[str], bool]:
        # How text tells a date is settled by all of it.
        date = find_columns(schema.names(), MATCH_COLUMNS, self.columns).get("date")
        return [], date is not None and not schema[date].is_temporal()

    def _scale(self) -> Scale | None:
        """The scale on which a column of numbers tells results: one for all pieces."""
        least = []
        for path in self.files:
            if not _is_parquet(path):
                return None
            with damage_in_words(path, "Parquet"):
                schema = pl.scan_parquet(path).collect_schema()
                column = find_columns(schema.names(), MATCH_COLUMNS, self.columns).get("result")
                if column is None or not schema[column].is_numeric():
                    return None
                least.append(pl.scan_parquet(path).select(pl.col(column).min()).collect().item())
        return "signed" if any(value is not None and value < 0 for value in least) else "points"


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

    totals = [np.full(len(piece), np.nan) if piece.total is None else piece.total for piece in pieces]
    return Matches(
        whole("date"), whole("home"), whole("away"), pieces[-1].teams, whole("result"), whole("margin"),
        whole("neutral"), whole("weight"), np.arange(1, sum(map(len, pieces)) + 1), notes=SCAN_NOTES,
        total=None if all(piece.total is None for piece in pieces) else np.concatenate(totals),
    )  # fmt: skip


def _quick(
    frame: pl.DataFrame, columns: Mapping[str, str] | None, names: RunningNames, scale: Scale | None
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
    points = (points + 1.0) / 2.0 if scale == "signed" else points
    if not date.is_sorted() or not bool(((points == 0.0) | (points == 0.5) | (points == 1.0)).all()):
        return None
    if numbers:
        ends = [int(value) for side in (home, away) for value in (side.min(), side.max())]  # pyright: ignore[reportArgumentType]
        if min(ends) < 0 or max(ends) > LARGEST_NUMBER:
            return None
        codes = names.codes_of_numbers(home.cast(pl.Int64).to_numpy(), away.cast(pl.Int64).to_numpy(), max(ends))
    else:
        both = names.codes_of_text(pl.concat([home, away]))
        if both is None:
            return None
        codes = both[: len(home)], both[len(home) :]
    n = len(day)
    return Matches(
        day, codes[0], codes[1], names.teams, np.array(points), np.full(n, np.nan),
        np.zeros(n, bool), np.ones(n), np.arange(1, n + 1), notes=SCAN_NOTES,
    )  # fmt: skip


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return path.suffix.lower() in (".parquet", ".pq") or file.read(4) == b"PAR1"


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


CONTEST_SCAN_NOTES = ("contests are read in chunks: a contest that stands in two files counts twice",)


def scan_contests(
    paths: str | Path | Iterable[str | Path], columns: Mapping[str, Any] | None = None, **options: Any
) -> ContestScan:
    """Contests of one or many files, to be read in chunks when they are used.

    Parameters
    ----------
    paths
        A file, a pattern such as ``"races/*.parquet"`` (taken in order of names), or several of them in their order.
        Dates must not go back from one chunk to the next, and rows of one contest must stand together.
    columns
        Which column means what, as in :func:`kinelo.read_contests`.
    options
        What else :func:`kinelo.read_contests` takes, such as ``slots`` and ``best``.

    Returns
    -------
    ContestScan
        For ``fit`` and ``update`` of :class:`kinelo.RankElo`; ``chunks()`` gives the contests.

    >>> import tempfile, polars as pl
    >>> folder = tempfile.mkdtemp()
    >>> for year in (2023, 2024):
    ...     races = {"date": [f"{year}-05-01"] * 3, "race": [year] * 3, "driver": ["A", "B", "C"], "place": [1, 2, 3]}
    ...     pl.DataFrame(races).write_parquet(f"{folder}/{year}.parquet")
    >>> [len(chunk) for chunk in scan_contests(f"{folder}/*.parquet").chunks()]
    [1, 1]
    """
    accepted = (
        "slots", "advantages", "team", "best", "unfinished", "disqualified", "not_started", "aliases", "dates",
        "endings", "accept_losses",
    )  # fmt: skip
    for name in options:
        if name not in accepted:
            raise InputError(f"scan_contests has no option {name!r}; it takes {', '.join(accepted)}.")
    files = files_of(paths)
    options = answers_for_pieces(files, CONTESTS, {"columns": columns, **dict.fromkeys(accepted), **options})
    columns, options = options.pop("columns"), {key: value for key, value in options.items() if value is not None}
    contest_options(columns, **options)
    return ContestScan(files, columns, options)


@dataclass(frozen=True)
class ContestScan(TableScan[Contests]):
    """Contests in chunks: see :func:`scan_contests`.

    >>> import tempfile
    >>> from kinelo.matches.sample import sample_contests
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sample_contests(contests=4, entrants=6, size=3, seed=1).write_csv(f"{folder}/races.csv")
    ...     sum(len(chunk) for chunk in scan_contests(f"{folder}/races.csv").chunks())
    4
    """

    kind: ClassVar[Kind] = CONTESTS
    parts: ClassVar[str] = "chunks"
    part_estimated: ClassVar[str] = "the first"

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not checked in chunks."""
        return CONTEST_SCAN_NOTES

    def chunks(self, rows: int = PIECE) -> Iterator[Contests]:
        """Read the chunks one after the other; dates that go back are refused."""
        return self.pieces(rows)

    def to_estimate(self, most: int | None) -> Contests:
        """The first chunk, whatever ``most`` is: a rater of contests thins out what it estimates on."""
        first = next(self._in_order(PIECE), None)
        if first is None:
            raise InputError("There are no contests in the files and days asked for.")
        return first

    def _tables(self, rows: int) -> Iterator[tuple[Contests, str]]:
        for path in self.files:
            for frame, label in self._frames(path, rows):
                try:
                    chunk = read_contests(frame, self.columns, **self.options)
                except InputError as error:
                    raise InputError(f"{label}: {error}") from None
                yield chunk, label

    def _uncut(self, schema: pl.Schema) -> tuple[list[str], bool]:
        several = (self.columns or {}).get("contest")
        named = {key: column for key, column in (self.columns or {}).items() if isinstance(column, str)}
        column_of = find_contest_columns(schema.names(), named)
        keys = [column_of[key] for key in ("contest", "season") if key in column_of]
        if several is not None and not isinstance(several, str):
            keys = [*several, *([column_of["season"]] if "season" in column_of else [])]
        return list(dict.fromkeys(keys)) or [column_of[key] for key in ("date",) if key in column_of], False
