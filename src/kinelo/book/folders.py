"""Books of 0.2 to 0.4, which were folders: read once, to be carried over into a database, and never written.

``book.knl`` says which rater it is; ``matches.knl`` is a row of records that were added one after the other. A record
begins with a line of fixed width, ``KINELO2 <length> <crc of payload> <crc of the line so far>``. One that stops early,
and is right as far as it goes, was being written when a process died: it never counted. Anything else that does not fit
is damage, and is refused. What follows from the records (``snapshot.knl``) is computed again.
"""

from __future__ import annotations

import io
import json
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.book.contests import check_row
from kinelo.book.entering import Entry
from kinelo.book.keeping import class_of, rater_from, restore
from kinelo.book.rows import LINEUP, SCHEMA, frame_to_matches, plain_json, rows_to_frame
from kinelo.errors import InputError, in_one_line
from kinelo.raters.rater import Rater
from kinelo.raters.sides import SideRater

HEAD = re.compile(rb"KINELO2 (\d{16}) ([0-9a-f]{8}) ([0-9a-f]{8})\n")
WIDTH = 43
FIRST_HEAD = re.compile(rb"KINELO1 \d+ [0-9a-f]{8}\n")
VERSION = 3
MOST_RATER = 1 << 28
"""Bytes of the file that describes a rater beyond which it is not read."""
CONDITION = "condition "


class OldBook(NamedTuple):
    """What a folder holds: its rater, described and before any match, and its matches as entries of a ledger."""

    description: dict[str, Any]
    blank: Any
    records: list[tuple[str, Entry]]


def is_folder(path: Path) -> bool:
    """Whether this is the folder of a book of an earlier version."""
    return (path / "book.knl").exists()


def file_beside(path: Path) -> Path:
    """The file into which a folder is carried over.

    >>> str(file_beside(Path("league-book")))
    'league-book.db'
    """
    return path.with_name(path.name + ".db")


def read_folder(folder: Path, given: Any) -> OldBook:
    """Everything that the folder of a book holds."""
    about, arrays = _sealed(folder / "book.knl")
    if about.get("version") != VERSION:
        raise InputError(
            f"{folder / 'book.knl'} was written by another version of Kinelo ({about.get('version')!r:.20}, this one "
            f"carries over {VERSION})."
        )
    kind = class_of(about.get("rater"), given, str(folder))
    blank = rater_from(kind, about, str(folder))
    if arrays:
        restore(blank, arrays, str(folder / "book.knl"))
        _begin_as_then(blank, arrays)
    elif isinstance(blank, Rater):
        blank.reset(about.get("parameters"))
    described = {name: about.get(name) for name in ("rater", "settings", "systems")}
    described["systems"] = described["systems"] or []
    try:
        return OldBook(described, blank, list(_entries(_records(folder / "matches.knl"))))
    except InputError as error:
        if str(folder) in str(error):
            raise
        raise _not_ours(folder, error) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, pl.exceptions.PolarsError) as error:
        raise _not_ours(folder, error) from None


def _begin_as_then(blank: Any, arrays: dict[str, NDArray]) -> None:
    """Let what all share begin as before any match, also what earlier versions did not keep of it."""
    kept = arrays.get("common")
    if isinstance(blank, SideRater) and kept is not None and kept.size < blank._common.size:
        fresh = blank._shared(blank.parameters_)
        fresh[: kept.size] = kept
        blank._common = fresh


def _not_ours(folder: Path, error: Exception) -> InputError:
    return InputError(
        f"{folder / 'matches.knl'} holds a record that Kinelo did not write ({in_one_line(error).rstrip('.')[:120]}); "
        "nothing was changed, put back a copy of the file."
    )


# Files


def _content(path: Path) -> bytes:
    if not path.exists():
        return b""
    if not stat.S_ISREG(path.stat().st_mode):
        raise InputError(f"{path} is not a regular file, as those of a book are.")
    return path.read_bytes()


def _records(path: Path) -> list[bytes]:
    """The payloads of a journal."""
    content, payloads, at = _content(path), [], 0
    while at < len(content):
        head = content[at : at + WIDTH]
        head_match = HEAD.fullmatch(head)
        if head_match is None and FIRST_HEAD.match(content[at : at + 80]):
            raise InputError(
                f"{path} was written by Kinelo 0.1, whose books kept results on another scale; "
                "start a new book and add the same files to it."
            )
        if len(head) < WIDTH and b"KINELO2 ".startswith(head[:8]):
            break
        if head_match is None or zlib.crc32(head[:33]) != int(head_match[3], 16):
            raise _damage(path, at)
        payload = content[at + WIDTH : at + WIDTH + int(head_match[1])]
        if len(payload) < int(head_match[1]):
            break
        if zlib.crc32(payload) != int(head_match[2], 16):
            raise _damage(path, at)
        payloads.append(payload)
        at += WIDTH + len(payload)
    return payloads


def _damage(path: Path, at: int) -> InputError:
    return InputError(f"{path} is damaged at byte {at}; nothing was changed, put back a copy of the file.")


def _sealed(path: Path) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """Description and arrays of the file that describes a rater."""
    payloads = _records(path)
    if len(payloads) != 1 or len(payloads[0]) + WIDTH != path.stat().st_size:
        raise InputError(f"{path} is damaged; nothing was changed, put back a copy of the file.")
    try:
        with zipfile.ZipFile(io.BytesIO(payloads[0])) as archive:
            if sum(member.file_size for member in archive.infolist()) > MOST_RATER:
                raise ValueError("larger than any rater")
        with np.load(io.BytesIO(payloads[0]), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        about = json.loads(str(arrays.pop("about")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError, zipfile.BadZipFile):
        about, arrays = None, {}
    if not isinstance(about, dict):  # the checksum holds, but Kinelo did not write this
        raise InputError(f"{path} is not what Kinelo writes; nothing was changed, put back a copy of the file.")
    return about, arrays


# Records


def _entries(payloads: list[bytes]) -> Iterator[tuple[str, Entry]]:
    """What is left of all records, as entries in the order in which tables arrived."""
    held: dict[str, tuple[int, dict[str, Any]]] = {}
    ranks: dict[str, int] = {}
    contests = False
    for number, payload in enumerate(payloads):
        removed, lines = [], payload
        if payload.startswith(b'{"removed"'):
            first, _, lines = payload.partition(b"\n")
            removed = json.loads(first)["removed"]
            if not isinstance(removed, list):
                raise TypeError("what is removed is no list")
        for name in removed:
            held.pop(name, None)
        if not removed and not lines.strip():
            raise ValueError("an empty record")
        for line in lines.splitlines():
            row = json.loads(line)
            contests = "entrant" in row
            rank = number if contests else ranks.setdefault(row["source"], number)
            if contests:
                held.pop(row["match_id"], None)  # it moved behind the others of its day
            held[row["match_id"]] = (rank, row)
    for rank in sorted({rank for rank, _ in held.values()}):
        rows = [row for one, row in held.values() if one == rank]
        yield ("contests", _contest_entry(rows)) if contests else ("matches", _match_entry(rows))


def _match_entry(rows: list[dict[str, Any]]) -> Entry:
    source = rows[0]["source"]
    if not isinstance(source, str) or not all(isinstance(row["row"], int) for row in rows):
        raise ValueError("a match without a row")
    table = rows_to_frame([tuple(_match_column(row, name) for name in SCHEMA) for row in rows])
    frame_to_matches(table)  # whatever its line-ups and conditions hold is said here
    nameless = any(row["match_id"] == f"{source[:16]}:{row['row']}" for row in rows)
    return Entry(table.sort("date", "place"), table.clear(), 0, source, has_ids=not nameless)


def _match_column(row: dict[str, Any], name: str) -> Any:
    if name == "conditions":
        found = {key.removeprefix(CONDITION): level for key, level in row.items() if key.startswith(CONDITION)}
        return plain_json(found) if found else None
    if name == "lineups":
        sides = {side: {part: row.get(f"{side}_{part}") or [] for part in LINEUP} for side in ("home", "away")}
        return plain_json(sides) if any(one["player"] for one in sides.values()) else None
    if name == "neutral":
        return None if row["neutral"] is None else int(row["neutral"])
    if name == "place":
        return row["row"] if row.get("order") is None else row["order"]
    return {"rank": 0, "line": row["row"]}.get(name, row.get(name))


def _contest_entry(rows: list[dict[str, Any]]) -> Entry:
    read = []
    for place, row in enumerate(rows, 1):
        lists = [row["entrant"], row["place"], row["ended"], row.get("distance") or [None] * len(row["entrant"])]
        if len({len(one) for one in (*lists, *row["slots"])}) != 1 or len(row["slots"]) != len(row["kinds"]):
            raise ValueError("lists of unequal length")
        entries = [
            (name, float(at), ended, None if came is None else float(came), list(slots))
            for name, at, ended, came, *slots in zip(*lists, *row["slots"])
        ]
        kinds = [[kind, kind in row["advantages"]] for kind in row["kinds"]]
        name = row["match_id"]
        one = {
            "contest_id": name, "name": name.rsplit(" on ", 1)[0], "date": row["date"], "weight": float(row["weight"]),
            "title": row.get("title"), "kinds": kinds, "rank": None, "place": place, "entries": entries,
        }  # fmt: skip
        check_row(one)
        read.append(one)
    return Entry(sorted(read, key=lambda one: (one["date"], one["place"])), [], 0)
