"""The files of a rating book: a journal that only grows, and sealed files that are replaced whole.

A journal is a row of records, each a line ``KINELO1 <length> <crc32>`` followed by that many bytes. A record that stops
before its length was being written when the process died: it never counted and is cut off by the next one. A record
that is complete and fails its checksum is damage, and is refused.
"""

from __future__ import annotations

import io
import json
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.atomic import replace_file, sync_folder
from kinelo.errors import InputError

MARK = b"KINELO1"


def frame(payload: bytes) -> bytes:
    """A payload as a record."""
    return b"%s %d %08x\n" % (MARK, len(payload), zlib.crc32(payload)) + payload


def read_records(path: Path) -> tuple[list[bytes], int]:
    """The payloads of a journal, and the length of the file that they fill."""
    if not path.exists():
        return [], 0
    content = path.read_bytes()
    payloads: list[bytes] = []
    at = 0
    while at < len(content):
        end_of_header = content.find(b"\n", at, at + 64)
        if end_of_header < 0:
            if len(content) - at < 64:
                break
            raise _damage(path, at)
        length, checksum = _read_header(content[at:end_of_header], path, at)
        payload = content[end_of_header + 1 : end_of_header + 1 + length]
        if len(payload) < length:
            break
        if zlib.crc32(payload) != checksum:
            raise _damage(path, at)
        payloads.append(payload)
        at = end_of_header + 1 + length
    return payloads, at


def _read_header(header: bytes, path: Path, at: int) -> tuple[int, int]:
    words = header.split(b" ")
    if len(words) == 3 and words[0].startswith(b"KINELO") and words[0] != MARK:
        raise InputError(
            f"{path} was written by another version of Kinelo ({words[0].decode()}); this one reads KINELO1"
        )
    try:
        if len(words) != 3 or words[0] != MARK:
            raise ValueError
        return int(words[1]), int(words[2], 16)
    except ValueError:
        raise _damage(path, at) from None


def _damage(path: Path, at: int) -> InputError:
    return InputError(f"{path} is damaged at byte {at}; nothing was changed, put back a copy of the file")


def append_record(path: Path, payload: bytes, end: int) -> int:
    """Write a record after the first ``end`` bytes of a journal and wait for the disk; return the new length."""
    record = frame(payload)
    new = not path.exists()
    with path.open("r+b" if not new else "wb") as file:
        file.truncate(end)
        file.seek(end)
        file.write(record)
        file.flush()
        os.fsync(file.fileno())
    if new:
        sync_folder(path.parent)
    return end + len(record)


def write_sealed(path: Path, about: dict[str, Any], arrays: dict[str, NDArray]) -> None:
    """Replace a file by one that holds a description and arrays, with a checksum."""
    buffer = io.BytesIO()
    np.savez(buffer, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
    replace_file(path, frame(buffer.getvalue()), durable=True)


def read_sealed(path: Path) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """Description and arrays of a sealed file; refuses one that is damaged or of another version."""
    payloads, end = read_records(path)
    if len(payloads) != 1 or end != path.stat().st_size:
        raise InputError(f"{path} is damaged; nothing was changed, put back a copy of the file")
    with np.load(io.BytesIO(payloads[0]), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(str(arrays.pop("about"))), arrays
