"""Progress of long work: a rich bar when it is wanted, and nothing at all when it is not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = bool | Callable[[str], None]
"""How a long call says what it is doing: True on the terminal, or a function that is called with a few words."""

Advance = Callable[[float], None]
"""Called with how much has been done so far."""


@contextmanager
def progress_bar(description: str, total: float, *, wanted: Progress, unit: str = "") -> Iterator[Advance]:
    """Yield a function that is called with how much of ``total`` is done; with ``unit``, the bar also shows the rate.

    A function in place of True gets a sentence with each per cent.

    >>> with progress_bar("Playing", 200.0, wanted=print) as advance:
    ...     for done in (1.0, 100.0, 101.0, 200.0):
    ...         advance(done)
    Playing: 0 %
    Playing: 50 %
    Playing: 100 %
    """
    if not wanted:
        yield lambda done: None
        return
    if callable(wanted):
        yield _in_words(description, total, wanted)
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


def _in_words(description: str, total: float, say: Callable[[str], None]) -> Advance:
    said = -1

    def advance(done: float) -> None:
        nonlocal said
        part = int(100.0 * done / total) if total else 100
        if part > said:
            said = part
            say(f"{description}: {part} %")

    return advance


@contextmanager
def stages(wanted: Progress) -> Iterator[Callable[[str, float], None]]:
    """Yield a function that is called with what is being done, and with the part of all that was done before it.

    On the terminal that is a bar; a function gets the words.

    >>> with stages(print) as stage:
    ...     stage("Reading", 0.0)
    ...     stage("Playing", 0.3)
    Reading
    Playing
    """
    if wanted is not True:
        say = speaker(wanted)
        yield lambda words, done: say(words)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}")]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda words, done: bar.update(task, completed=done, description=words)


def speaker(wanted: Progress | None) -> Callable[[str], None]:
    """What says the stages of a call: the user's function, the terminal's error stream, or nothing."""
    if callable(wanted):
        return wanted
    if wanted:
        return lambda words: print(words, file=sys.stderr)
    return lambda words: None


def _short(value: float) -> str:
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.1f}{letter}"
    return f"{value:.0f}"
