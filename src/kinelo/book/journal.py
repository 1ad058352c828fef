"""The files of a rating book: a journal that only grows, and sealed files that are replaced whole.

A journal is a row of records. Each begins with a line of fixed width, ``KINELO2 <length> <crc of payload> <crc of the
line so far>``, followed by that many bytes: length and payload are both under a checksum. A record that stops early,
and is right as far as it goes, was being written when the process died: it never counted and is cut off by the next
one. Anything else that does not fit is damage, and is refused.
"""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.runtime.atomic import replace_file, sync_folder

JOURNAL_MARK = b"KINELO2"
FRAME_HEAD = re.compile(rb"KINELO2 (\d{16}) ([0-9a-f]{8}) ([0-9a-f]{8})\n")
FRAME_WIDTH = 43
FIRST_HEAD = re.compile(rb"KINELO1 \d+ [0-9a-f]{8}\n")


def frame(payload: bytes) -> bytes:
    """A payload as a record."""
    return _head(payload) + payload


def _head(payload: bytes) -> bytes:
    line = b"%s %016d %08x" % (JOURNAL_MARK, len(payload), zlib.crc32(payload))
    return b"%s %08x\n" % (line, zlib.crc32(line))


def read_records(path: Path) -> tuple[list[bytes], int]:
    """The payloads of a journal, and the length of the file that they fill."""
    if not path.exists():
        return [], 0
    return parse_records(path.read_bytes(), path)


def parse_records(content: bytes, path: Path) -> tuple[list[bytes], int]:
    """The payloads in a journal's content, and the length that they fill; ``path`` is named where it is damaged."""
    payloads: list[bytes] = []
    at = 0
    while at < len(content):
        head = content[at : at + FRAME_WIDTH]
        if len(head) < FRAME_WIDTH:
            if not _begins_a_head(head):
                raise damage(path, at)
            break
        length, checksum = _read_head(head, path, at)
        payload = content[at + FRAME_WIDTH : at + FRAME_WIDTH + length]
        if len(payload) < length:
            break
        if zlib.crc32(payload) != checksum:
            raise damage(path, at)
        payloads.append(payload)
        at += FRAME_WIDTH + length
    return payloads, at


def _begins_a_head(start: bytes) -> bool:
    """Whether some right head begins like this; of its checksums only the form can be seen."""
    pattern = b"KINELO2 " + b"0" * 16 + b" " + b"0" * 8 + b" " + b"0" * 8 + b"\n"
    hexadecimal = set(range(25, 33)) | set(range(34, 42))
    for place, (is_there, should) in enumerate(zip(start, pattern)):
        allowed = (
            b"0123456789abcdef" if place in hexadecimal else b"0123456789" if should == ord("0") else bytes([should])
        )
        if is_there not in allowed:
            return False
    return True


def _read_head(head: bytes, path: Path, at: int) -> tuple[int, int]:
    found = FRAME_HEAD.fullmatch(head)
    if found is None and FIRST_HEAD.match(head):
        raise InputError(
            f"{path} was written by Kinelo 0.1, whose books kept results on another scale; "
            "start a new book and add the same files to it."
        )
    if found is None or zlib.crc32(head[:33]) != int(found[3], 16):
        raise damage(path, at)
    return int(found[1]), int(found[2], 16)


def damage(path: Path, at: int) -> InputError:
    """What is said of a file that is not as it was written."""
    return InputError(f"{path} is damaged at byte {at}; nothing was changed, put back a copy of the file.")


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
        raise InputError(f"{path} is damaged; nothing was changed, put back a copy of the file.")
    try:
        with np.load(io.BytesIO(payloads[0]), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        about = json.loads(str(arrays.pop("about")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, zipfile.BadZipFile):
        about, arrays = None, {}
    if not isinstance(about, dict):  # the checksum holds, but Kinelo did not write this
        raise InputError(f"{path} is not what Kinelo writes; nothing was changed, put back a copy of the file.")
    return about, arrays
