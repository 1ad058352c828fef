"""``kinelo reproduce``: every figure and claim of the paper in one report."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from kinelo.cli.options import AllowCode, DeviceChoice

if TYPE_CHECKING:
    from kinelo.paper.reproduce import Progress


class ScaleChoice(StrEnum):
    """The paper's own scale, or one for a quick look."""

    full = "full"
    quick = "quick"


class What(StrEnum):
    """The paper itself, the models it names beside its own, or statements of other papers."""

    paper = "paper"
    neighbours = "neighbours"
    literature = "literature"


def reproduce(
    what: Annotated[
        What,
        typer.Option(
            help="paper: its figures and claims. neighbours: learning, form, rounds, deviations. "
            "literature: what other papers say of Elo's rule."
        ),
    ] = What.paper,
    figure: Annotated[
        list[int] | None, typer.Option("--figure", "-f", help="Only this figure; may be given several times.")
    ] = None,
    scale: Annotated[
        ScaleChoice, typer.Option(help="full: the paper's own scale. quick: a look in seconds.")
    ] = ScaleChoice.full,
    out: Annotated[Path, typer.Option(help="Folder for the report, the figures and the runs.")] = Path("reproduction"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue in a folder that holds a reproduction.")] = False,
    studies: Annotated[
        Path | None, typer.Option(help="Folder with figure files (TOML) to use instead of Kinelo's own.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Number of threads; all processors by default.")] = None,
    device: Annotated[
        DeviceChoice,
        typer.Option(help="Where simulations run: cpu, gpu, or auto; every device ends at the same bytes."),
    ] = DeviceChoice.cpu,
    allow_code: AllowCode = False,
) -> None:
    """Reproduce the paper: every figure at its own scale, every claim checked, in one report.

    Writes DIR/report.html and report.json, DIR/figures (PNG and, at full scale, PDF), DIR/runs (zarr) and DIR/studies
    (the figure files used, to change and run again with --studies).

    Example:  kinelo reproduce --out reproduction
    Example:  kinelo reproduce --figure 4 --figure 6 --scale quick --out look
    """
    from kinelo.runtime.extras import STUDY, require

    require(*STUDY)
    from kinelo.paper.figure import read_figures
    from kinelo.paper.folder import copy_studies, open_folder

    chosen = read_figures(studies, scale.value, figure or [], what.value, allow_code=allow_code)
    folder = open_folder(out, resume=resume)
    from kinelo.paper.report import write_report
    from kinelo.paper.reproduce import reproduce as carry_out
    from kinelo.paper.words import tally_words

    try:
        copy_studies(chosen, folder, studies)
        with lasting_interrupt() as check, overall_progress(check) as watch:
            result = carry_out(chosen, folder, scale=scale.value, watch=watch, threads=threads, device=device.value)
        report = write_report(result, folder)
    except KeyboardInterrupt:
        typer.echo(f"Stopped. What was computed is kept in {folder}: go on with --resume.", err=True)
        raise typer.Exit(130) from None
    verdicts = Counter(claim.verdict for claim in result.claims)
    typer.echo(
        f"{len(result.figures)} figures and {verdicts.total()} claims ({tally_words(verdicts)}) in "
        f"{result.provenance.seconds or 0:.0f} s. Report: {report}"
    )


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


@contextmanager
def lasting_interrupt() -> Iterator[Callable[[], None]]:
    """Yield a function to be called now and then, which raises KeyboardInterrupt if Ctrl-C was pressed at all.

    Python drops a KeyboardInterrupt that happens to strike inside a destructor or a callback of compiled code.
    """
    pressed = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        raise KeyboardInterrupt

    def check() -> None:
        if pressed:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    # A shell starts its background jobs with Ctrl-C ignored; that is left so.
    if before is signal.SIG_IGN:
        yield check
        return
    signal.signal(signal.SIGINT, remember)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)
