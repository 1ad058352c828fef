"""A run on disk, stored as it goes: zarr data, a manifest, and the state to continue from.

The folder of a run holds ``data.zarr`` (opens with xarray at any time; rows not yet computed read as NaN),
``manifest.json`` and, while the run is unfinished, ``state-<row>.npz``. Data files are written first, then the
manifest is replaced atomically. A process killed at any instant therefore leaves a store that continues from its last
checkpoint, and since every row is a function of the inputs alone it ends with the same bytes.
"""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import xarray as xr
import zarr
from numpy.typing import NDArray

from kinelo._version import __version__
from kinelo.errors import InputError
from kinelo.results.disk import disk_errors_in_words, holds_something, lock_folder, new_folder, sync_file
from kinelo.results.layout import DATA, Layout, read_zarr
from kinelo.results.manifest import FILE_NAME, LAWS, STATE_NAME, Manifest, content_digest, damaged, file_digest
from kinelo.runtime.atomic import replace_file
from kinelo.runtime.reading import read_file

INTERVAL = 2.0
"""Least number of seconds between two checkpoints, unless stated."""
SYNCS = 8
"""Files whose way to the disk is waited for at a time."""
_ADVICE = "continue with --resume"


class RunStore:
    """One run's folder, held by one process at a time; :meth:`open` creates it or continues it.

    >>> import tempfile
    >>> layout = Layout(rows=2, fixed={}, series={"rating": (("team",), (3,))})
    >>> with tempfile.TemporaryDirectory() as place, RunStore.open(Path(place, "run"), {"seed": 1}, layout) as store:
    ...     for row in range(store.rows, 2):
    ...         store.append({"rating": np.full(3, row)}, state={"row": np.array(row)})
    ...     store.finish()
    ...     print(store.complete, store.dataset().rating.values.tolist())
    True [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    """

    def __init__(self, folder: Path, manifest: Manifest, layout: Layout, lock: int, interval: float) -> None:
        self.folder = folder
        self.layout = layout
        self._manifest = manifest
        self._lock = lock
        self._interval = interval
        self._last = time.monotonic()
        self._row = manifest.rows
        self._pending: dict[str, str] = {}

    @classmethod
    def open(
        cls, folder: Path | str, inputs: Mapping[str, Any], layout: Layout, interval: float | None = None
    ) -> RunStore:
        """Create the store, or continue the one that is there if it was made from the same inputs.

        Parameters
        ----------
        folder
            Where the run lives. A folder that is no run, a damaged one and one made from other inputs are refused
            and not touched.
        inputs
            All that determines the result; compared by content.
        layout
            The variables to store; must follow from the inputs.
        interval
            Least number of seconds between two checkpoints; :data:`INTERVAL` by default.
        """
        folder = Path(folder)
        with disk_errors_in_words(folder, _ADVICE, layout.bytes_of_rows(layout.rows)):
            if not holds_something(folder):
                # Nothing here needs to outlast a loss of power but the manifest: the rest follows from the layout.
                with new_folder(folder, durable=False) as fresh:
                    for name, content in layout.initial_files.items():
                        path = fresh / DATA / name
                        path.parent.mkdir(parents=True, exist_ok=True)
                        path.write_bytes(content)
                    Manifest(inputs=inputs).write(fresh)
            check_inputs(folder, Manifest.read(folder), inputs)
            lock = lock_folder(folder)
            if lock is None:
                raise InputError(f"Another process is working on {folder}; wait for it or choose another folder.")
            try:
                manifest = Manifest.read(folder)
                for name, digest in manifest.files.items():
                    if not (folder / name).is_file() or file_digest(folder / name) != digest:
                        raise damaged(folder, name)
                store = cls(folder, manifest, layout, lock, INTERVAL if interval is None else interval)
                if not manifest.complete:
                    if manifest.version != __version__:
                        raise InputError(
                            f"{folder} holds a run that Kinelo {manifest.version} began and did not finish; continue "
                            f"it with that version, or choose another folder to compute it with {__version__}."
                        )
                    store._return_to_checkpoint()
                else:
                    # The last checkpoint of a run that was stopped just after it was marked as complete.
                    for path in folder.glob("state-*.npz"):
                        if path.is_file() and not path.is_symlink() and STATE_NAME.fullmatch(path.name):
                            with suppress(OSError):  # the run is complete with it or without
                                path.unlink()
            except BaseException:
                os.close(lock)
                raise
        return store

    @property
    def rows(self) -> int:
        """Records that are safely on disk."""
        return self._manifest.rows

    @property
    def complete(self) -> bool:
        """Whether the run has finished."""
        return self._manifest.complete

    @property
    def state(self) -> dict[str, NDArray[Any]] | None:
        """The arrays given with the last checkpoint; None before the first and once the run is complete."""
        if self._manifest.state is None:
            return None
        try:
            with np.load(io.BytesIO(read_file(self.folder / self._manifest.state)), allow_pickle=False) as file:
                return {name: file[name] for name in file.files}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, BadZipFile):
            raise damaged(self.folder, self._manifest.state) from None

    def append(self, row: Mapping[str, NDArray[Any]], state: Mapping[str, NDArray[Any]]) -> None:
        """Store one record and, if the last checkpoint is old enough, make the next one from ``state``."""
        with self._disk_errors_in_words():
            for name, values in row.items():
                _, shape = self.layout.series[name]
                self._arrays[name][self._row] = values
                self._note(f"{DATA}/{name}/c/" + "/".join([str(self._row), *["0"] * len(shape)]))
            self._row += 1
            if time.monotonic() - self._last >= self._interval:
                name = f"state-{self._row}.npz"
                np.savez(self.folder / name, allow_pickle=False, **state)
                self._note(name)
                self._commit(state=name, complete=False)

    def finish(self, attributes: Mapping[str, Any] | None = None) -> None:
        """Mark the run as complete, with ``attributes`` that follow from its result added to the data."""
        with self._disk_errors_in_words():
            if self._row != self.layout.rows:
                for array in self._arrays.values():
                    array.resize((self._row, *array.shape[1:]))
            if attributes:
                zarr.open_group(self.folder / DATA, mode="r+").attrs.update(dict(attributes))
            for name in self.layout.initial_files:
                self._note(f"{DATA}/{name}")
            self._commit(state=None, complete=True)

    def dataset(self) -> xr.Dataset:
        """Open what is stored."""
        return read_zarr(self.folder / DATA)

    def close(self) -> None:
        """Let another process use the folder."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _disk_errors_in_words(self) -> AbstractContextManager[None]:
        missing = self.layout.bytes_of_rows(self.layout.rows - self.rows)
        return disk_errors_in_words(self.folder, _ADVICE, missing)

    @cached_property
    def _arrays(self) -> dict[str, zarr.Array]:
        group = zarr.open_group(self.folder / DATA, mode="r+")
        return {name: array for name, array in group.arrays() if name in self.layout.series}

    def _note(self, name: str) -> None:
        path = self.folder / name
        # zarr leaves out a chunk that holds nothing but fill values.
        if path.exists():
            self._pending[name] = file_digest(path)

    def _commit(self, state: str | None, complete: bool) -> None:
        # A disk answers several such requests at once in the time of one.
        with ThreadPoolExecutor(SYNCS) as pool:
            list(pool.map(sync_file, [self.folder / name for name in self._pending]))
        before = self._manifest.state
        files = {name: digest for name, digest in self._manifest.files.items() if name != before}
        files |= self._pending
        self._manifest = self._manifest.changed(rows=self._row, files=files, state=state, complete=complete)
        self._manifest.write(self.folder)
        if before is not None:
            (self.folder / before).unlink(missing_ok=True)
        self._pending = {}
        self._last = time.monotonic()

    def _return_to_checkpoint(self) -> None:
        """Remove what an interrupted process left beyond the manifest, and undo a finish it did not complete."""
        initial = {f"{DATA}/{name}": content for name, content in self.layout.initial_files.items()}
        listed = {*self._manifest.files, *initial, FILE_NAME}
        # Names that the store gives its files: chunks, states, and what is not yet renamed. All others are not its.
        series = "|".join(map(re.escape, self.layout.series))
        chunk = rf"{DATA}/(?:{series})/c(?:/\d+)*"
        unfinished = rf"(?:{chunk}|{DATA}/(?:.*/)?zarr)\.[0-9a-f]{{32}}\.partial"
        temporary = rf"\.{FILE_NAME}\.\d+\.tmp|{DATA}/(?:.*/)?\.zarr\.json\.\d+\.tmp"
        names = re.compile(rf"{chunk}|{unfinished}|{temporary}|state-\d+\.npz")
        for path in self.folder.rglob("*"):
            name = path.relative_to(self.folder).as_posix()
            if name not in listed and names.fullmatch(name) and path.is_file() and not path.is_symlink():
                path.unlink()
        for name, content in initial.items():
            path = self.folder / name
            if not path.is_file() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(path, content)


def check_inputs(folder: Path, manifest: Manifest, inputs: Mapping[str, Any]) -> None:
    """Refuse a store that was made from other inputs, naming the first that differs."""
    stored = manifest.inputs
    for name in sorted({*stored, *inputs} - {LAWS}):
        if content_digest(stored.get(name)) != content_digest(inputs.get(name)):
            raise InputError(
                f"{folder} holds a run with other inputs: {name} is {stored.get(name)!r} there "
                f"and {inputs.get(name)!r} here; choose another folder."
            )
    for law, digest in dict(inputs.get(LAWS, {})).items():
        if digest != stored.get(LAWS, {}).get(law):
            raise InputError(
                f"{folder} holds a run with another {law}: the code of {inputs[law]['kind']} is not what it was, or "
                "was compiled by another Python; choose another folder."
            )
