"""The processors a process may use, which in a container or under a scheduler can be fewer than the machine has."""

from __future__ import annotations

import os


def usable_processors() -> int:
    """How many threads can run at once.

    >>> 1 <= usable_processors() <= os.cpu_count()
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
