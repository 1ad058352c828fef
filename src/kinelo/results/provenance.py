"""Where a result comes from: versions, machine, seeds, when, and how long it took."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kinelo.runtime.extras import library_versions


@dataclass(frozen=True)
class Provenance:
    """What a reader needs to judge and repeat a result; the machine is named by its processor and cores only."""

    versions: Mapping[str, str]
    processor: str
    cores: int
    finished: str
    seconds: float | None = None
    seeds: Sequence[int] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that JSON and zarr attributes can hold."""
        return {**asdict(self), "versions": dict(self.versions), "seeds": list(self.seeds)}


def provenance(*, seconds: float | None = None, seeds: Sequence[int] = ()) -> Provenance:
    """Describe this process, now.

    >>> provenance(seeds=[1]).seeds
    (1,)
    """
    return Provenance(
        versions=library_versions(),
        processor=processor_name(),
        cores=os.cpu_count() or 1,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=seconds,
        seeds=tuple(seeds),
    )


def processor_name() -> str:
    """Model of the processor, without anything that identifies the machine."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"
