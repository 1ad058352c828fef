"""Rows of a run as the files that zarr would write for them, without zarr's own way there.

A row of a variable is one chunk: its doubles in little-endian order, compressed by Zstandard; a row of nothing but NaN
is no file. Zarr takes milliseconds to come to these bytes, which is longer than most rows take to compute.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numcodecs.zstd import Zstd
from numpy.typing import NDArray


def known_compression(metadata: bytes) -> Zstd | None:
    """How the chunks of an array are compressed, from its ``zarr.json``; None if that is another way than ours.

    >>> codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd"}]
    >>> known_compression(json.dumps({"data_type": "float64", "codecs": codecs}).encode()) is None
    True
    """
    told: dict[str, Any] = json.loads(metadata)
    match told["codecs"]:
        case [
            {"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "zstd", "configuration": {"level": level, "checksum": False}},
        ] if told["data_type"] == "float64":
            return Zstd(level=level)
    return None


def chunk_of(values: NDArray[Any], compression: Zstd) -> bytes | None:
    """The content of a row's file, or None if it has none."""
    row = np.ascontiguousarray(values, dtype="<f8")
    return None if np.isnan(row).all() else bytes(compression.encode(row))


def write_chunk(path: Path, content: bytes) -> None:
    """Put a row's file in its place at once, named meanwhile as zarr names what is unfinished."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid4().hex}.partial")
    temporary.write_bytes(content)
    os.replace(temporary, path)
