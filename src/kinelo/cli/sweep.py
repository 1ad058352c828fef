"""``kinelo sweep``: a study at every point of its [sweep] section."""

from pathlib import Path
from typing import Annotated

import typer

from kinelo.cli.options import AllowCode, DeviceChoice, Scheduler, Workers
from kinelo.cli.streams import echo_json


def sweep(
    study: Annotated[Path, typer.Argument(help="A study file (TOML) with a [sweep] section.")],
    out: Annotated[Path, typer.Option(help="New folder for the result.")] = Path("out"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted sweep in that folder.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Continue, and compute failed points again.")] = False,
    device: Annotated[
        DeviceChoice, typer.Option(help="cpu, gpu, or auto, where simulating; every device ends at the same bytes.")
    ] = DeviceChoice.cpu,
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers of every point as JSON.")] = False,
    allow_code: AllowCode = False,
) -> None:
    """Compute a study at every point of its [sweep] section.

    Writes every point as it ends (DIR/sweep/points), all of them (DIR/sweep/data.zarr, opens with xarray) and a
    picture (DIR/sweep.png).

    Example:  kinelo sweep studies/slope.toml --out out/slope --workers 2
    """
    from kinelo.runtime.extras import STUDY, require

    require(*STUDY)
    import warnings

    from kinelo.cli.files import result_folder
    from kinelo.errors import KineloWarning
    from kinelo.pictures.style import save
    from kinelo.pictures.sweep import draw_sweep
    from kinelo.runtime.progress import progress_bar
    from kinelo.runtime.workers import client_of
    from kinelo.sweeps.point import FAILURE
    from kinelo.sweeps.study import check_sweep, read_sweep, run_study_sweep, summary

    engine = client_of(workers, scheduler)
    content, axes, compute = read_sweep(study, allow_code=allow_code)
    check_sweep(content, axes, compute, out / "sweep", allow_code=allow_code)
    with result_folder(out, resume=resume or retry) as folder, engine as client:
        with (
            progress_bar("Computing points", len(axes), wanted=True, unit="points") as advance,
            warnings.catch_warnings(),
        ):
            warnings.filterwarnings("ignore", message=".*points could not be computed", category=KineloWarning)
            table = run_study_sweep(
                study,
                folder / "sweep",
                client=client,
                retry=retry,
                advance=advance,
                device=device.value,
                allow_code=allow_code,
            )
        picture = save(draw_sweep(table, title=content.get("title", "")), folder / "sweep.png")
    failures = [text for text in table[FAILURE].values.ravel().tolist() if text] if FAILURE in table else []
    failed = (
        f" {len(failures):,} of them could not be computed (--retry tries again): {failures[0]}" if failures else ""
    )
    if as_json:
        echo_json(summary(table, axes), indent=1)
    where = f"Results: {folder / 'sweep' / 'data.zarr'}  Picture: {picture}"
    typer.echo(f"{len(axes):,} points.{failed} {where}", err=as_json)
