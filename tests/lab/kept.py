"""What the tests of the browser share while they follow one another: a lab, a browser, a window, tabs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

_kept: dict[str, Any] = {}
_ends = ExitStack()


def keep(name: str, start: Callable[[], Any], end: Callable[[Any], object] = lambda one: None) -> Any:
    """What has that name, started if it is not there yet."""
    if name not in _kept:
        _kept[name] = start()
        _ends.callback(end, _kept[name])
    return _kept[name]


def end_all() -> None:
    """End everything, the last first."""
    _kept.clear()
    _ends.close()
