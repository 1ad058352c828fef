"""A dataset in one file: zarr (version 3) in an uncompressed zip archive, the same bytes for the same content.

One file is one wait for the disk; a folder of zarr is one for each of its files and folders. It opens with
``xarray.open_zarr(zarr.storage.ZipStore(path))``.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import xarray as xr
from zarr.storage import MemoryStore, ZipStore

from kinelo.results.layout import unsettled_text_format_accepted


def packed(dataset: xr.Dataset) -> bytes:
    """The file of a dataset.

    >>> once, again = (packed(xr.Dataset({"rating": ("team", [1.0, 2.0])})) for _ in range(2))
    >>> once == again
    True
    """
    content: dict[str, Any] = {}
    plain = {name: {"compressors": ()} for name in dataset.variables}
    with unsettled_text_format_accepted():
        dataset.to_zarr(MemoryStore(content), mode="w", zarr_format=3, consolidated=False, encoding=plain)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in sorted(content):
            # An entry made of a name alone carries no time of day.
            archive.writestr(zipfile.ZipInfo(name), content[name].to_bytes())
    return file.getvalue()


def unpacked(path: Path) -> xr.Dataset:
    """The dataset in a file, read whole."""
    if not zipfile.is_zipfile(path):  # a store that fails to open fails again, in other words, when it is closed
        raise zipfile.BadZipFile(f"{path.name} is not a zip file")
    with unsettled_text_format_accepted(), ZipStore(path, mode="r") as store:
        return xr.open_zarr(store, consolidated=False, chunks=None, decode_times=False, zarr_format=3).load()
