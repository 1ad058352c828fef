"""Files that are not what they seem: whatever a reader makes of them, one sentence comes out.

Readers compiled from Rust end in a panic where bytes contradict one another, and Python sees a ``PanicException``. It
is no ``Exception``, so that it would pass every handler on its way out. Interrupts and a lack of memory do pass.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl

from kinelo.errors import InputError

LONGEST = 160


@contextmanager
def damage_in_words(name: object, kind: str = "a table") -> Iterator[None]:
    """Turn what a reader says of a file into one sentence about the file called ``name``.

    >>> with damage_in_words("league.parquet", "Parquet"):
    ...     raise pl.exceptions.PanicException("range end index 9 out of range")
    Traceback (most recent call last):
    kinelo.errors.InputError: league.parquet is damaged: it could not be read as Parquet.
    """
    try:
        yield
    except pl.exceptions.PanicException:
        raise InputError(f"{name} is damaged: it could not be read as {kind}.") from None
    except (pl.exceptions.PolarsError, OSError, EOFError, zlib.error) as error:
        reason = " ".join(str(error).split())
        reason = reason if len(reason) <= LONGEST else f"{reason[:LONGEST]}…"
        raise InputError(f"{name} could not be read as {kind}: {reason or type(error).__name__}") from None
