"""Libraries loaded without a search for garbage meanwhile: it finds none, and takes a tenth of the time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Let nothing be collected inside this block, unless another thread asks for it.

    >>> with uncollected():
    ...     import fractions
    >>> gc.isenabled()
    True
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
