"""Progress of long work: a rich bar when it is wanted, and nothing at all when it is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[float], None]
"""Called with how much has been done so far."""


@contextmanager
def progress_bar(description: str, total: float, *, wanted: bool, unit: str = "") -> Iterator[Advance]:
    """Yield a function that is told how much of ``total`` is done; with ``unit``, the bar also shows the rate."""
    if not wanted:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()]
    if unit:
        columns.append(TextColumn("{task.fields[rate]}"))
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(description, total=total, rate="")

        def advance(done: float) -> None:
            speed = bar.tasks[0].speed
            bar.update(task, completed=done, rate=f"{_short(speed)} {unit}/s" if speed else "")

        yield advance


def _short(value: float) -> str:
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.1f}{letter}"
    return f"{value:.0f}"
