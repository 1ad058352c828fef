"""A sweep on disk: every point in a file of its own, complete or not there.

``manifest.json`` says which sweep it is; ``points/K.zip`` is the dataset of point K (zarr), ``failed/K.json`` the
sentence of one that could not be computed, ``data.zarr`` all of them once every point has ended. Only the process that
asked writes, so workers need no common disk.

A point is zarr (version 3) in an uncompressed zip archive, the same bytes for the same content: one file is one wait
for the disk. It opens with ``xarray.open_zarr(zarr.storage.ZipStore(path))``.
"""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import xarray as xr
from zarr.storage import MemoryStore, ZipStore

from kinelo.errors import InputError
from kinelo.results.disk import disk_errors_in_words, holds_something, lock_folder, new_folder
from kinelo.results.layout import DATA, in_order, unsettled_text_format_accepted, write_dataset
from kinelo.results.manifest import canonical_json, content_digest
from kinelo.runtime.atomic import replace_file
from kinelo.runtime.reading import check_file, read_json
from kinelo.sweeps.point import PointResult


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
        # Variables one after the other as they stand in the dataset, then what describes the whole.
        places = {str(name): place for place, name in enumerate(dataset.variables)}
        for name in sorted(content, key=lambda one: (places.get(one.partition("/")[0], len(places)), one)):
            # An entry made of a name alone carries no time of day.
            archive.writestr(zipfile.ZipInfo(name), content[name].to_bytes())
    return file.getvalue()


def unpacked(path: Path) -> xr.Dataset:
    """The dataset in a file, read whole."""
    if not zipfile.is_zipfile(path):  # a store that fails to open fails again, in other words, when it is closed
        raise zipfile.BadZipFile(f"{path.name} is not a zip file")
    with unsettled_text_format_accepted(), ZipStore(path, mode="r") as store:
        found = xr.open_zarr(store, consolidated=False, chunks=None, decode_times=False, zarr_format=3).load()
    with zipfile.ZipFile(path) as archive:
        return in_order(found, (name.partition("/")[0] for name in archive.namelist()))


MANIFEST, POINTS_FOLDER, FAILED_FOLDER = "manifest.json", "points", "failed"
SWEEP_FORMAT = "kinelo sweep 1"


class SweepStore:
    """The folder of one sweep, held by one process at a time."""

    def __init__(self, folder: Path | str, inputs: Mapping[str, Any]) -> None:
        if not isinstance(folder, str | os.PathLike) or not str(folder):
            raise InputError(f"out must be the name of a folder, not {folder!r}.")
        self.folder = Path(folder)
        with disk_errors_in_words(self.folder):
            if not holds_something(self.folder):
                with new_folder(self.folder) as fresh:
                    (fresh / POINTS_FOLDER).mkdir()
                    (fresh / FAILED_FOLDER).mkdir()
                    replace_file(fresh / MANIFEST, canonical_json({"format": SWEEP_FORMAT, "inputs": inputs}).encode())
            try:
                document = read_json(self.folder / MANIFEST)
                ours, stored = document["format"] == SWEEP_FORMAT, document["inputs"]
            except (InputError, KeyError, TypeError):
                ours, stored = False, {}
            if not ours:
                raise InputError(
                    f"{self.folder} is not a sweep that Kinelo stored; it is left alone, choose another folder."
                )
            for name in sorted({*stored, *inputs}):
                if content_digest(stored.get(name)) != content_digest(inputs.get(name)):
                    raise InputError(
                        f"{self.folder} holds another sweep: its {name} is {_short(stored.get(name))} there and "
                        f"{_short(inputs.get(name))} here; choose another folder."
                    )
            lock = lock_folder(self.folder)
        if lock is None:
            raise InputError(f"Another process is working on {self.folder}; wait for it or choose another folder.")
        self._lock = lock

    def __enter__(self) -> SweepStore:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)

    def done(self) -> set[int]:
        """Points that are stored, computed or failed."""
        return self._numbers(POINTS_FOLDER) | self._numbers(FAILED_FOLDER)

    def failed(self) -> set[int]:
        """Points that could not be computed."""
        return self._numbers(FAILED_FOLDER)

    def keep(self, point: PointResult) -> None:
        """Store one point."""
        with disk_errors_in_words(self.folder, "start the sweep again"):
            self._forget_whole()
            if point.dataset is None:
                content = canonical_json({"failure": point.failure}).encode()
                replace_file(self._sentence(point.index), content, durable=True)
            elif not (target := self._point(point.index)).exists():
                replace_file(target, packed(point.dataset), durable=True)

    def forget(self, indices: set[int]) -> None:
        """Make points to be computed again."""
        with disk_errors_in_words(self.folder):
            self._forget_whole()
            for index in sorted(indices):
                self._sentence(index).unlink(missing_ok=True)
                self._point(index).unlink(missing_ok=True)

    def read(self, index: int) -> PointResult:
        """One point that is stored."""
        if os.path.lexists(self._sentence(index)):
            try:
                return PointResult(index, None, str(read_json(self._sentence(index))["failure"]))
            except (InputError, KeyError, TypeError):
                raise InputError(f"{self._sentence(index)} is damaged; remove it and start the sweep again.") from None
        try:
            check_file(self._point(index))
            return PointResult(index, unpacked(self._point(index)))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, BadZipFile) as error:
            raise InputError(
                f"The stored point {self._point(index)} is damaged ({type(error).__name__}); remove that file and "
                "start the sweep again to compute it anew."
            ) from None

    def finish(self, dataset: xr.Dataset) -> None:
        """Store all points together."""
        if not (self.folder / DATA).exists():
            write_dataset(dataset, self.folder / DATA)

    def _forget_whole(self) -> None:
        if (self.folder / DATA).exists():
            leaving = self.folder / f".{DATA}.leaving"
            shutil.rmtree(leaving, ignore_errors=True)
            os.replace(self.folder / DATA, leaving)
            shutil.rmtree(leaving)

    def _point(self, index: int) -> Path:
        return self.folder / POINTS_FOLDER / f"{index}.zip"

    def _sentence(self, index: int) -> Path:
        return self.folder / FAILED_FOLDER / f"{index}.json"

    def _numbers(self, kind: str) -> set[int]:
        return {int(path.stem) for path in (self.folder / kind).iterdir() if path.stem.isdigit()}


def _short(value: Any) -> str:
    text = canonical_json(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
