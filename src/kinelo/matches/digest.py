"""A fingerprint of columns: BLAKE2b over their bytes, the same on every machine and in every version."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray


def digest_of(columns: Iterable[NDArray], texts: Iterable[Iterable[str]]) -> str:
    """Hexadecimal digest over columns of numbers and lists of words.

    >>> digest_of([np.array([1.0, np.nan])], [["A", "B"]]) == digest_of([np.array([1.0, -np.nan])], [["A", "B"]])
    True
    >>> digest_of([np.array([1.0])], [["A", "B"]]) == digest_of([np.array([1.0])], [["AB"]])
    False
    """
    total = blake2b(digest_size=16)
    for column in columns:
        if column.dtype.kind == "f":
            column = column + 0.0  # one zero and one NaN, however they came about
            column[np.isnan(column)] = np.nan
        total.update(np.ascontiguousarray(column.astype(column.dtype.newbyteorder("<"), copy=False)).data)
    for words in texts:
        total.update(b"\x1d".join(word.encode("utf-8", "surrogatepass") for word in words) + b"\x1c")
    return total.hexdigest()
