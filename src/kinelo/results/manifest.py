"""The small file that names what in a run's store is complete.

A store is what its manifest says it is: rows of data beyond it are leftovers of an interrupted run. The manifest is
replaced atomically after the files it names are on the disk, and carries a digest of itself and of each of them.

The provenance of a result says where it comes from: versions, machine, seeds, when, and how long it took.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from kinelo._version import __version__
from kinelo.errors import InputError
from kinelo.runtime.atomic import replace_file
from kinelo.runtime.extras import library_versions
from kinelo.runtime.reading import read_json

FILE_NAME = "manifest.json"
STATE_NAME = re.compile(r"state-\d+\.npz")
LAWS = "laws"
"""Among the inputs: digests of laws that are the user's own, whose names do not tell their formulas."""
RUN_FORMAT = "kinelo run 1"


def canonical_json(content: object) -> str:
    """JSON that is the same text for equal content: sorted keys, no spaces, NumPy numbers as plain ones.

    >>> canonical_json({"b": np.float64(0.5), "a": (1, 2)})
    '{"a":[1,2],"b":0.5}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON.")


def content_digest(content: object) -> str:
    """Digest of anything that JSON can hold; equal inputs have equal digests.

    >>> content_digest({"nu": 0.5, "sigma": 1.0}) == content_digest({"sigma": 1.0, "nu": 0.5})
    True
    """
    return hashlib.blake2b(canonical_json(content).encode(), digest_size=16).hexdigest()


def file_digest(path: Path) -> str:
    """Digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


@dataclass(frozen=True)
class Manifest:
    """What is complete: ``rows`` of data, the ``files`` that hold them with their digests, the state to go on from.

    ``version`` is the Kinelo that began the run; a run is one version's work from its first row to its last.
    """

    inputs: Mapping[str, Any]
    rows: int = 0
    files: Mapping[str, str] = field(default_factory=dict)
    state: str | None = None
    complete: bool = False
    version: str = __version__

    def changed(self, **fields: Any) -> Manifest:
        """Return a copy with some fields replaced."""
        return replace(self, **fields)

    def write(self, folder: Path) -> None:
        """Replace the manifest in ``folder`` at once and wait for the disk."""
        content = asdict(self)
        text = canonical_json({"format": RUN_FORMAT, "content": content, "digest": content_digest(content)})
        replace_file(folder / FILE_NAME, text.encode() + b"\n", durable=True)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read and check the manifest of a store; a foreign or damaged folder is refused."""
        path = folder / FILE_NAME
        if not path.exists():
            raise InputError(f"{folder} is not a run that Kinelo stored; it is left alone, choose another folder.")
        try:
            document = read_json(path)
            ours, content, digest = document["format"] == RUN_FORMAT, document["content"], document["digest"]
        except (InputError, KeyError, TypeError):
            raise damaged(folder, FILE_NAME) from None
        if not ours:
            raise InputError(f"{folder} was stored in another format ({document['format']!r}); choose another folder.")
        if content_digest(content) != digest or not isinstance(content, dict) or "inputs" not in content:
            raise damaged(folder, FILE_NAME)
        # Version 0.1.0 did not say its name.
        complete: dict[str, Any] = {"version": "0.1.0", **content}
        unknown = sorted(set(complete) - {ours.name for ours in fields(cls)})
        if unknown:
            raise InputError(
                f"The stored run {folder} says {unknown[0]!r}, which Kinelo {__version__} does not know: it comes from "
                "another version; it is left alone, choose another folder."
            )
        manifest = cls(**complete)
        # All that it names lies in its folder, the state under the name of one: it is deleted in the end.
        state, files = manifest.state, manifest.files if isinstance(manifest.files, Mapping) else [""]
        inside = all(name and not {"", ".", ".."} & set(re.split(r"[/\\]", name)) for name in files)
        if not inside or not (state is None or (isinstance(state, str) and STATE_NAME.fullmatch(state))):
            raise damaged(folder, FILE_NAME)
        return manifest


def damaged(folder: Path, name: str) -> InputError:
    """Say that a store is damaged and that it was not touched."""
    return InputError(
        f"The stored run {folder} is damaged ({name} is missing or changed); it is left alone, "
        "remove the folder or choose another one to compute it again."
    )


@dataclass(frozen=True)
class Provenance:
    """What a reader needs to judge and repeat a result; the machine is named by its processor and cores only."""

    versions: Mapping[str, str]
    processor: str
    cores: int
    finished: str
    seconds: float | None
    seeds: Sequence[int]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that JSON and zarr attributes can hold."""
        return {**asdict(self), "versions": dict(self.versions), "seeds": list(self.seeds)}


def provenance(*, seconds: float | None = None, seeds: Sequence[int] = ()) -> Provenance:
    """Describe this process, now.

    >>> provenance(seeds=[1]).seeds
    (1,)
    """
    # Model of the processor, without anything that identifies the machine.
    processor = platform.processor() or platform.machine() or "unknown"
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        processor = named[0] if named else processor
    return Provenance(
        versions=library_versions(),
        processor=processor,
        cores=os.cpu_count() or 1,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=seconds,
        seeds=tuple(seeds),
    )
