"""Linear algebra on one thread, where a result must be the same to the last bit.

A product of matrices sums in another order on two threads than on one. The number of threads belongs to the whole
process, so a block of code that sets it and puts it back must not undo what another thread of the program has set in
the meantime: entries are counted, the first sets, the last puts back.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()
_inside = 0
_before: list[int] = []


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let linear algebra use one thread until the last such block in this process ends.

    >>> import numpy as np
    >>> with one_blas_thread():
    ...     product = np.ones((300, 300)) @ np.ones((300, 300))
    """
    global _inside, _before
    with _lock:
        if _inside == 0:
            _before = [library.num_threads for library in _libraries()]
            _set_threads([1] * len(_before))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _set_threads(_before)


def _set_threads(numbers: list[int]) -> None:
    for library, number in zip(_libraries(), numbers, strict=True):
        # Some versions let only one thread of a program set the number, and ignore the others without a word.
        release = getattr(library, "clear_controlling_thread", lambda force: None)
        release(force=True)
        library.set_num_threads(number)
        release(force=True)


@cache
def _libraries() -> list[Any]:
    # The libraries must be there to be found; SciPy brings one of its own.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers
