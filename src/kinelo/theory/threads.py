"""How many threads linear algebra may use.

Small matrices gain nothing from threads, and threads that wait for one another lose everything on a busy machine: an
eigenvalue problem of 200 teams then takes seconds instead of milliseconds.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from kinelo.runtime.blas import one_blas_thread

SMALL = 1000


def few_threads(teams: int) -> AbstractContextManager[object]:
    """Use one thread inside this block unless the league is large."""
    return one_blas_thread() if teams <= SMALL else nullcontext()
