"""Whether a table of matches or contests holds together: what compiled loops index must lie where they look.

What Kinelo reads does. A table that was made by hand, changed with ``dataclasses.replace``, or whose arrays were
written to may not; every door to a compiled loop asks (:func:`~kinelo.matches.matches.check_matches`,
:func:`~kinelo.matches.contests.check_contests`), since such a loop would read and write outside its arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinelo.errors import InputError
from kinelo.matches.dated import EARLIEST, LATEST

KINDS = {"M": "days", "i": "whole numbers", "f": "numbers", "b": "True or False"}
DAYS = np.dtype("datetime64[D]")
TEXTS = {str, np.str_}
OWN = object()
"""In the place of values: the column of the table that has the name."""


class TableCheck:
    """Says what is wrong with the columns of one table."""

    def __init__(self, what: str, table: Any) -> None:
        self.what, self.table = what, table

    def refuse(self, complaint: str) -> InputError:
        """The sentence that says what does not fit."""
        return InputError(
            f"These {self.what} do not hold together: {complaint}. Read them with kinelo.read_{self.what} instead of "
            "making them by hand."
        )

    def column(self, name: str, kind: str, size: int, values: Any = OWN, dimensions: int = 1) -> Any:
        """An array of so many values of a kind."""
        values = getattr(self.table, name) if values is OWN else values
        if not isinstance(values, np.ndarray) or values.ndim != dimensions or values.dtype.kind != kind:
            raise self.refuse(f"{name} must be an array of {KINDS[kind]}, not {described(values)}")
        if len(values) != size:
            raise self.refuse(f"{name} has {len(values):,} values where {size:,} are needed")
        return values

    def codes(self, name: str, size: int, names: Any, least: int = 0, values: Any = OWN, dimensions: int = 1) -> Any:
        """Codes into names, from ``least``."""
        if not isinstance(names, tuple | list) or not {*map(type, names)} <= TEXTS:
            raise self.refuse(f"the names of {name} must be a tuple of text, not {described(names)}")
        codes = self.column(name, "i", size, values, dimensions)
        if codes.size and (int(codes.min()) < least or int(codes.max()) >= len(names)):
            worst = int(codes.min()) if int(codes.min()) < least else int(codes.max())
            raise self.refuse(f"{name} holds the code {worst:,}, and there are {len(names):,} names")
        return codes

    def numbers(self, name: str, size: int, least: float, most: float, missing: bool = False) -> None:
        """Numbers between two bounds, NaN among them if some may be missing."""
        values = self.column(name, "f", size)
        sound = (values >= least) & (values <= most)
        if not (sound | np.isnan(values) if missing else sound).all():
            worst = values[~(sound | np.isnan(values) if missing else sound)][0]
            raise self.refuse(f"{name} holds {worst:g}, which is not between {least:g} and {most:g}")

    def bounds(self, name: str, size: int, entries: int, values: Any, least: int) -> None:
        """Where stretches of entries begin and end: from 0 up to all of them, each of ``least`` at least."""
        bounds = self.column(name, "i", size, values)
        if bounds[0] != 0 or bounds[-1] != entries or (np.diff(bounds) < least).any():
            raise self.refuse(f"{name} must rise from 0 to {entries:,}, the number of entries")

    def days(self) -> int:
        """The days, in order; how many there are."""
        date = getattr(self.table, "date", None)
        if not isinstance(date, np.ndarray) or date.ndim != 1 or date.dtype != DAYS:
            raise self.refuse(f"date must be an array of days (datetime64[D]), not {described(date)}")
        if date.size and not ((date >= EARLIEST) & (date < LATEST)).all():
            raise self.refuse(f"date holds {date[~((date >= EARLIEST) & (date < LATEST))][0]}, which is no day of them")
        return date.size


def described(value: Any) -> str:
    """What a value is, where an array was expected.

    >>> described(np.zeros((2, 3))), described("abc")
    ('one of float64 in 2 dimensions', 'str')
    """
    if isinstance(value, np.ndarray):
        return f"one of {value.dtype} in {value.ndim} dimensions"
    return type(value).__name__
