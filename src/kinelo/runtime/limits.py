"""Limits of a machine, asked before the work begins: the memory that can still be had, and time that anyone has."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from kinelo.errors import InputError, warn

_GROUP = Path("/sys/fs/cgroup")


def check_memory(needed: float, what: str, remedy: str) -> None:
    """Refuse, before anything is allocated, what cannot fit into memory.

    >>> check_memory(2**60, "A league of 10,000,000,000 teams", "use fewer teams")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    kinelo.errors.InputError: A league of 10,000,000,000 teams needs 1,073,741,824.0 GiB, but ... use fewer teams.
    """
    free = available_memory()
    if free is not None and needed > free:
        raise InputError(
            f"{what} needs {needed / 2**30:,.1f} GiB, but {free / 2**30:,.1f} GiB of memory are free; {remedy}."
        )


def available_memory() -> int | None:
    """Bytes of memory that can still be had, by the machine and by a container's limit; None where neither says."""
    room: list[int] = []
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        room += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    if not room:
        with suppress(AttributeError, OSError, ValueError):
            room.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError, IndexError):  # of a container
        limit = int((_GROUP / "memory.max").read_text(encoding="ascii"))
        # What the system keeps of files only to save reading them again can be had at once.
        cached = sum(
            int(line.split()[1])
            for line in (_GROUP / "memory.stat").read_text(encoding="ascii").splitlines()
            if line.startswith(("inactive_file ", "active_file "))
        )
        room.append(max(0, limit - int((_GROUP / "memory.current").read_text(encoding="ascii")) + cached))
    return min(room, default=None)


LONGEST_RUN = 365.25 * 86_400.0
"""Seconds after which a run is refused rather than begun."""

LONG_RUN = 600.0
"""Seconds after which whoever begins a run is told how long it takes."""


def check_time(seconds: float, what: str, remedy: str) -> None:
    """Refuse, before it begins, what takes more time than anyone has, and warn of what takes long.

    ``seconds`` are those of a machine at its best: a run that is too long by that measure is too long by any.

    >>> check_time(1e12, "A simulation", "use fewer steps")
    Traceback (most recent call last):
    kinelo.errors.InputError: A simulation would take at least 31,688 years on this machine; use fewer steps.
    """
    if seconds > LONGEST_RUN:
        years = seconds / LONGEST_RUN
        least = f"{int(years):,} years" if years >= 2 else "a year"
        raise InputError(f"{what} would take at least {least} on this machine; {remedy}.")
    if seconds > LONG_RUN:
        units = (("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0))
        unit, length = next((unit, length) for unit, length in units if seconds >= 2 * length)
        warn(f"{what} takes at least {seconds // length:,.0f} {unit}; to wait less, {remedy}.")
