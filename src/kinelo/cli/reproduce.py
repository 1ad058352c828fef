"""``kinelo reproduce``: every figure and claim of the paper in one report."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from kinelo.cli.choices import AllowCode, Device


class Scale(StrEnum):
    """The paper's own scale, or one for a quick look."""

    full = "full"
    quick = "quick"


class What(StrEnum):
    """The paper itself, or the models it names beside its own."""

    paper = "paper"
    neighbours = "neighbours"


def reproduce(
    what: Annotated[
        What, typer.Option(help="paper: its figures and claims. neighbours: learning, form, rounds, deviations.")
    ] = What.paper,
    figure: Annotated[
        list[int] | None, typer.Option("--figure", "-f", help="Only this figure; may be given several times.")
    ] = None,
    scale: Annotated[Scale, typer.Option(help="full: the paper's own scale. quick: a look in seconds.")] = Scale.full,
    out: Annotated[Path, typer.Option(help="Folder for the report, the figures and the runs.")] = Path("reproduction"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue in a folder that holds a reproduction.")] = False,
    studies: Annotated[
        Path | None, typer.Option(help="Folder with figure files (TOML) to use instead of Kinelo's own.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Number of threads; all processors by default.")] = None,
    device: Annotated[
        Device, typer.Option(help="Where simulations run: cpu, gpu, or auto; every device ends at the same bytes.")
    ] = Device.cpu,
    allow_code: AllowCode = False,
) -> None:
    """Reproduce the paper: every figure at its own scale, every claim checked, in one report.

    Writes DIR/report.html and report.json, DIR/figures (PNG and, at full scale, PDF), DIR/runs (zarr) and DIR/studies
    (the figure files used, to change and run again with --studies).

    Examples:  kinelo reproduce --out reproduction;  kinelo reproduce --figure 4 --figure 6 --scale quick --out look
    """
    from kinelo.runtime.extras import require

    require("matplotlib")
    from kinelo.cli.interrupt import lasting_interrupt
    from kinelo.cli.overall import overall_progress
    from kinelo.paper.figure import read_figures
    from kinelo.paper.folder import copy_studies, open_folder

    chosen = read_figures(studies, scale.value, figure or [], what.value, allow_code=allow_code)
    folder = open_folder(out, resume=resume)
    from kinelo.paper.report import write_report
    from kinelo.paper.reproduce import reproduce as carry_out

    try:
        copy_studies(chosen, folder, studies)
        with lasting_interrupt() as check, overall_progress(check) as watch:
            result = carry_out(chosen, folder, scale=scale.value, watch=watch, threads=threads, device=device.value)
        report = write_report(result, folder)
    except KeyboardInterrupt:
        typer.echo(f"Stopped. What was computed is kept in {folder}: go on with --resume.", err=True)
        raise typer.Exit(130) from None
    verdicts = [claim.verdict for claim in result.claims]
    missing = f", {lost} NOT MEASURED" if (lost := verdicts.count("not measured")) else ""
    typer.echo(
        f"{len(result.figures)} figures and {len(verdicts)} claims ({verdicts.count('holds')} hold, "
        f"{verdicts.count('does not hold')} do not, {verdicts.count('depends')} depend, "
        f"{verdicts.count('misprint')} are misprints{missing}) in "
        f"{result.provenance.seconds or 0:.0f} s. Report: {report}"
    )
