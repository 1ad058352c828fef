"""Circumstances of matches that a user names, such as the surface in tennis: a code per match, and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.columns import listed
from kinelo.matches.names import encode_names
from kinelo.model.validation import is_list, one_line


@dataclass(frozen=True)
class Condition:
    """One circumstance of every match.

    Attributes
    ----------
    codes
        Codes into ``levels``, -1 where the file says nothing.
    levels
        What the column calls its values, in order of first appearance.

    >>> surface = read_conditions(pl.DataFrame({"surface": ["clay", "grass", "clay", ""]}), ["surface"])["surface"]
    >>> surface.codes.tolist(), surface.levels
    ([0, 1, 0, -1], ('clay', 'grass'))
    """

    codes: NDArray[np.int32]
    levels: tuple[str, ...]

    def __len__(self) -> int:
        return self.codes.size

    def __getitem__(self, index: slice | NDArray[Any]) -> Condition:
        """The condition of some of the matches; the levels stay as they are."""
        return Condition(self.codes[index], self.levels)

    def names(self) -> pl.Series:
        """The level of each match by name, null where unknown."""
        places = np.where(self.codes < 0, len(self.levels), self.codes)
        return pl.Series([*self.levels, None], dtype=pl.String).gather(places)


def read_conditions(table: pl.DataFrame, wanted: Sequence[str]) -> dict[str, Condition]:
    """The conditions that stand in the named columns of a table."""
    if isinstance(wanted, str):
        wanted = [wanted]
    if not is_list(wanted) or not all(isinstance(name, str) for name in wanted):
        raise InputError(f"conditions must be a list of names of columns, not {one_line(wanted)}.")
    conditions_read = {}
    for name in wanted:
        if name not in table.columns:
            raise InputError(f"The condition {name!r} is no column of the table, which has {listed(table.columns)}.")
        (codes,), levels = encode_names(table[name])
        conditions_read[name] = Condition(codes, levels)
    return conditions_read
