"""Contests of files that do not fit into memory: read in chunks, in order of date, never all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl

from kinelo.errors import InputError
from kinelo.matches.contest_columns import check_contest_mapping, find_contest_columns
from kinelo.matches.contest_reading import read_contests
from kinelo.matches.contests import Contests
from kinelo.matches.kind import CONTESTS, Kind
from kinelo.matches.loading import damage_in_words, load_table
from kinelo.matches.scan import PIECE, TableScan, files_of

NOTES = ("contests are read in chunks: a contest that stands in two files counts twice",)


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
    check_contest_mapping(columns)
    accepted = (
        "slots", "advantages", "team", "best", "unfinished", "disqualified", "not_started", "aliases", "dates",
        "endings", "accept_losses",
    )  # fmt: skip
    for name in options:
        if name not in accepted:
            raise InputError(f"scan_contests has no option {name!r}; it takes {', '.join(accepted)}.")
    return ContestScan(files_of(paths), columns, options=options)


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

    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not checked in chunks."""
        return NOTES

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
            for frame, label in _frames(path, self.columns, rows):
                try:
                    chunk = read_contests(frame, self.columns, **self.options)
                except InputError as error:
                    raise InputError(f"{label}: {error}") from None
                yield chunk, label


def _frames(path: Path, columns: Mapping[str, Any] | None, rows: int) -> Iterator[tuple[pl.DataFrame, str]]:
    """Parts of a file, none of which ends within a contest; only a Parquet file has more than one."""
    with path.open("rb") as file:
        parquet = file.read(4) == b"PAR1"
    if not parquet:
        yield load_table(path), str(path)
        return
    with damage_in_words(path, "Parquet"):
        table = pl.scan_parquet(path)
        several = (columns or {}).get("contest")
        rest = {k: v for k, v in (columns or {}).items() if isinstance(v, str)}
        column_of = find_contest_columns(table.collect_schema().names(), rest)
        height = table.select(pl.len()).collect().item()
    keys = [column_of[name] for name in ("contest", "season") if name in column_of] or [
        column_of[k] for k in ("date",) if k in column_of
    ]
    if several is not None and not isinstance(several, str):
        keys = [*dict.fromkeys([*several, *([column_of["season"]] if "season" in column_of else [])])]
    held = None
    for begin in range(0, height, rows):
        with damage_in_words(path, "Parquet"):
            frame = table.slice(begin, rows).collect()
        frame = frame if held is None else pl.concat([held, frame])
        held = None
        if begin + rows < height and keys:
            last = (frame.select(keys).hash_rows() == frame[-1].select(keys).hash_rows()[0]).to_numpy()
            cut = frame.height - int(np.argmin(last[::-1])) if not last.all() else 0
            held, frame = frame[cut:], frame[:cut]
        if frame.height:
            yield frame, f"{path}, up to row {min(begin + rows, height):,}"
