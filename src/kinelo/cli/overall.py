"""The progress of a reproduction: figures done, what is being computed, time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinelo.paper.reproduce import Progress


@contextmanager
def overall_progress(check: Callable[[], None] = lambda: None) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows how far a reproduction is; it calls ``check`` each time, which may stop the work."""
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.fields[figures]} figures"), BarColumn(), TaskProgressColumn(),
        TextColumn("elapsed"), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )  # fmt: skip
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("Starting", total=None, figures="0")

        def watch(progress: Progress) -> None:
            check()
            bar.update(
                task,
                description=progress.label,
                completed=progress.done,
                total=progress.total,
                figures=f"{progress.figures_done}/{progress.figures}",
            )

        yield watch
