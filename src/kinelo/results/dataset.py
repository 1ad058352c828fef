"""A finished dataset written in one go: the folder is there complete, or not there."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from kinelo.errors import InputError
from kinelo.results.disk import disk_errors_in_words, holds_something, new_folder
from kinelo.results.layout import read_zarr, unsettled_text_format_accepted


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
