"""How a stored run lies on disk: its variables, and the zarr files that describe them.

A finished dataset is written in one go: its folder is there complete, or not there.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from numpy.typing import NDArray
from zarr.errors import UnstableSpecificationWarning
from zarr.storage import MemoryStore

from kinelo.errors import InputError
from kinelo.results.disk import disk_errors_in_words, holds_something, new_folder
from kinelo.runtime.reading import check_tree

DATA = "data.zarr"
"""The folder of a stored run or sweep that holds its dataset."""


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
        files = _files(lambda store: zarr.open_group(store, mode="w", zarr_format=3, attributes=dict(self.attributes)))
        for name, (dimensions, values) in self.fixed.items():
            array = np.asarray(values)
            made = _fixed_files(dimensions, array.dtype.str, array.shape, array.tobytes())
            files |= {f"{name}/{file}": content for file, content in made.items()}
        for name, (dimensions, shape) in self.series.items():
            made = _series_files((self.row_dimension, *dimensions), (self.rows, *shape))
            files |= {f"{name}/{file}": content for file, content in made.items()}
        return files


def _files(make: Callable[[MemoryStore], object]) -> dict[str, bytes]:
    """What zarr writes when something is made in an empty store."""
    content: dict[str, Any] = {}
    make(MemoryStore(content))
    return {name: buffer.to_bytes() for name, buffer in content.items()}


# Runs of one study differ in few of their variables, and zarr takes milliseconds for each.
@lru_cache(maxsize=64)
def _fixed_files(dimensions: tuple[str, ...], dtype: str, shape: tuple[int, ...], data: bytes) -> dict[str, bytes]:
    values = np.frombuffer(data, dtype).reshape(shape)
    with unsettled_text_format_accepted():
        return _files(lambda store: zarr.create_array(store, data=values, dimension_names=dimensions))


@lru_cache(maxsize=64)
def _series_files(dimensions: tuple[str, ...], shape: tuple[int, ...]) -> dict[str, bytes]:
    chunks = (1, *shape[1:])
    return _files(
        lambda store: zarr.create_array(
            store, shape=shape, chunks=chunks, dtype="float64", fill_value=np.nan, dimension_names=dimensions
        )
    )


@contextmanager
def unsettled_text_format_accepted() -> Iterator[None]:
    """Team names are stored as fixed-length text, for which zarr has no settled specification yet and says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=UnstableSpecificationWarning)
        yield


def read_zarr(path: Path) -> xr.Dataset:
    """Open a zarr folder as a dataset; the numbers are read when they are used.

    Version 3 only: arrays of version 2 may name pickle as their codec, which runs code.
    """
    check_tree(path)
    with unsettled_text_format_accepted():
        return in_order(xr.open_zarr(path, consolidated=False, chunks=None, decode_times=False, zarr_format=3))


def in_order(dataset: xr.Dataset, names: Iterable[str] = ()) -> xr.Dataset:
    """The dataset with these of its variables first, the others by name: zarr finds them in any order."""
    order = [
        name for name in dict.fromkeys([*names, *sorted(map(str, dataset.data_vars))]) if name in dataset.data_vars
    ]
    return xr.Dataset({name: dataset[name] for name in order}, dataset.coords, dataset.attrs)


def refuse_existing(path: Path | str) -> Path:
    """Return ``path`` if something new can be put there, or say what is in the way."""
    path = Path(path)
    if holds_something(path):
        raise InputError(f"{path} exists and is not empty; choose another folder or remove it.")
    return path


def write_dataset(dataset: xr.Dataset, path: Path | str) -> Path:
    """Write ``dataset`` as a zarr (version 3) folder at ``path``; one that exists with content is refused.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     target = write_dataset(xr.Dataset({"rating": ("team", [1.0, 2.0])}), Path(place, "run.zarr"))
    ...     print(read_dataset(target).rating.values)
    [1. 2.]
    """
    path = refuse_existing(path)
    with disk_errors_in_words(path), new_folder(path) as fresh, unsettled_text_format_accepted():
        dataset.to_zarr(fresh, mode="w", zarr_format=3, consolidated=False)
    return path


def read_dataset(path: Path | str) -> xr.Dataset:
    """Open a dataset written by :func:`write_dataset`, or say that there is none."""
    path = Path(path)
    if not (path / "zarr.json").is_file():
        raise InputError(f"{path} is not a dataset that Kinelo wrote (it has no zarr.json).")
    try:
        return read_zarr(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"The dataset {path} is damaged and cannot be read ({type(error).__name__}).") from None
