"""Linear algebra on one thread, where a result must be the same to the last bit.

A product of matrices sums in another order on two threads than on one. The number of threads belongs to the whole
process, so a block of code that sets it and puts it back must not undo what another thread of the program has set in
the meantime: entries are counted, the first sets, the last puts back.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()
_inside = 0
_before: dict[str, tuple[Any, int]] = {}
"""Libraries by their file, each with the number of threads it had."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let linear algebra use one thread until the last such block in this process ends.

    This is NumPy's, and SciPy's where it was imported before.

    >>> import numpy as np
    >>> with one_blas_thread():
    ...     product = np.ones((300, 300)) @ np.ones((300, 300))
    """
    global _inside
    with _lock:
        # To load SciPy's library for a block without SciPy takes longer than most simulations. A module that another
        # thread is importing has no such name yet.
        for library in _libraries(hasattr(sys.modules.get("scipy.linalg"), "eigh")):
            if library.filepath not in _before:
                _before[library.filepath] = library, library.num_threads
                _set_threads(library, 1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                for library, number in _before.values():
                    _set_threads(library, number)
                _before.clear()


def _set_threads(library: Any, number: int) -> None:
    # Some versions let only one thread of a program set the number, and ignore the others without a word.
    release = getattr(library, "clear_controlling_thread", lambda force: None)
    release(force=True)
    library.set_num_threads(number)
    release(force=True)


@cache
def _libraries(with_scipy: bool) -> list[Any]:
    import numpy as np  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers
