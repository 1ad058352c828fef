"""What a run stores, and the zarr files that say so."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from numpy.typing import NDArray
from zarr.core.buffer import Buffer
from zarr.errors import UnstableSpecificationWarning
from zarr.storage import MemoryStore


@dataclass(frozen=True)
class Layout:
    """The variables of a run: ``fixed`` ones known from the start, and ``series`` with one row per record.

    Attributes
    ----------
    rows
        Number of records, at most.
    fixed
        Name → (dimensions, values).
    series
        Name → (dimensions of one row, shape of one row).
    """

    rows: int
    fixed: Mapping[str, tuple[tuple[str, ...], NDArray[Any]]]
    series: Mapping[str, tuple[tuple[str, ...], tuple[int, ...]]]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    row_dimension: str = "time"

    def bytes_of_rows(self, rows: int) -> int:
        """Space that so many records take, uncompressed."""
        return rows * sum(8 * math.prod(shape) for _, shape in self.series.values())

    @cached_property
    def initial_files(self) -> dict[str, bytes]:
        """The files of an empty run, by name below its zarr folder: metadata and the fixed variables.

        >>> sorted(Layout(2, {}, {"rating": (("team",), (3,))}).initial_files)
        ['rating/zarr.json', 'zarr.json']
        """
        content: dict[str, Buffer] = {}
        group = zarr.open_group(MemoryStore(content), mode="w", zarr_format=3, attributes=dict(self.attributes))
        with unsettled_text_format_accepted():
            for name, (dimensions, values) in self.fixed.items():
                group.create_array(name, data=np.asarray(values), dimension_names=dimensions)
        for name, (dimensions, shape) in self.series.items():
            group.create_array(
                name,
                shape=(self.rows, *shape),
                chunks=(1, *shape),
                dtype="float64",
                fill_value=np.nan,
                dimension_names=(self.row_dimension, *dimensions),
            )
        return {name: buffer.to_bytes() for name, buffer in content.items()}


@contextmanager
def unsettled_text_format_accepted() -> Iterator[None]:
    """Team names are stored as fixed-length text, for which zarr has no settled specification yet and says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=UnstableSpecificationWarning)
        yield


def read_zarr(path: Path) -> xr.Dataset:
    """Open a zarr folder as a dataset; the numbers are read when they are used."""
    with unsettled_text_format_accepted():
        return xr.open_zarr(path, consolidated=False, chunks=None, decode_times=False)
