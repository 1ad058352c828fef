"""``kinelo simulate``: play a league's matches and keep what happened."""

from pathlib import Path
from typing import Annotated

import typer

from kinelo.cli.options import AllowCode, DeviceChoice, Scheduler, Workers


def simulate(
    study: Annotated[Path, typer.Argument(help="A study file (TOML) with a [simulate] section.")],
    out: Annotated[Path, typer.Option(help="New folder for the result.")] = Path("out"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run in that folder.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, help="Number of threads; all processors by default.")] = None,
    device: Annotated[
        DeviceChoice, typer.Option(help="cpu, gpu, or auto; every device ends at the same bytes.")
    ] = DeviceChoice.cpu,
    workers: Workers = None,
    scheduler: Scheduler = None,
    allow_code: AllowCode = False,
) -> None:
    """Simulate the league of a study file.

    Writes the ratings as zarr (DIR/run/data.zarr, opens with xarray) and a picture (DIR/ratings.png).

    Example:  kinelo simulate studies/r2.toml --out out/r2
    """
    from kinelo.runtime.extras import STUDY, require

    require(*STUDY)
    from kinelo.cli.files import result_folder
    from kinelo.pictures.simulation import draw_ratings
    from kinelo.pictures.style import save
    from kinelo.runtime.progress import progress_bar
    from kinelo.runtime.workers import client_of
    from kinelo.studies import read_study
    from kinelo.studies.simulation import planned, run_simulation, total_matches

    plan, engine = read_study(study, allow_code=allow_code), client_of(workers, scheduler)
    total = total_matches(plan)
    planned(plan, out / "run")
    with result_folder(out, resume=resume) as folder, engine as client:
        with progress_bar("Playing matches", total, wanted=True, unit="matches") as advance:
            run = run_simulation(
                plan, folder / "run", advance=advance, threads=threads, device=device.value, client=client
            )
        picture = save(draw_ratings(run, plan.title), folder / "ratings.png")
    typer.echo(f"{total:,} matches played. Ratings: {folder / 'run' / 'data.zarr'}  Picture: {picture}")
