"""``kinelo solve``: move a population of teams by the kinetic equation."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinelo.cli.options import AllowCode, DeviceChoice

if TYPE_CHECKING:
    from kinelo.macro.state import KineticState


def solve(
    study: Annotated[Path, typer.Argument(help="A study file (TOML) with [population] and [solve] sections.")],
    out: Annotated[Path, typer.Option(help="New folder for the result.")] = Path("out"),
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run in that folder.")] = False,
    film: Annotated[str | None, typer.Option(help="Also write a film of the density: gif or mp4.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="Number of threads; the result is the same for any.")] = 1,
    device: Annotated[
        DeviceChoice, typer.Option(help="cpu, gpu (where everyone plays everyone), or auto.")
    ] = DeviceChoice.cpu,
    allow_code: AllowCode = False,
) -> None:
    """Solve the kinetic equation for the population of a study file.

    Writes the densities as zarr (DIR/population.zarr, opens with xarray) and a picture (DIR/population.png); DIR/run
    holds what an interrupted run continues from.

    Example:  kinelo solve studies/figure3.toml --out out/figure3
    """
    from kinelo.runtime.extras import STUDY, require

    require(*STUDY)
    from kinelo.cli.files import result_folder
    from kinelo.errors import InputError
    from kinelo.pictures.population import check_film, draw_population, save_film
    from kinelo.pictures.style import save
    from kinelo.results.layout import write_dataset
    from kinelo.runtime.progress import progress_bar
    from kinelo.studies import read_study
    from kinelo.studies.plan import check_solution
    from kinelo.studies.solution import run_solution
    from kinelo.studies.study import required

    if film is not None:
        check_film(film)
        if resume:
            raise InputError("A film shows the whole run: leave out --resume, or --film.")
    plan = read_study(study, allow_code=allow_code)
    settings = required("solve", plan.solve)
    check_solution(plan, out / "run")
    frames: list[tuple[float, Any]] = []
    with result_folder(out, resume=resume) as folder:
        with progress_bar("Solving", settings.until, wanted=True) as advance:

            def watch(state: "KineticState") -> None:
                advance(state.time)
                if film is not None:
                    frames.append((state.time, state.population.marginal("theta", "r")))

            run = run_solution(plan, folder / "run", watch=watch, threads=threads, device=device.value)
        stored = folder / "population.zarr"
        if not stored.exists():
            write_dataset(run, stored)
        picture = save(draw_population(run, plan.title), folder / "population.png")
        if film is not None:
            save_film(run.theta.values, run.r.values, frames, folder / f"population.{film}")
    end = "steady at" if run.attrs["ended"] == "steady" else "reached"
    typer.echo(
        f"{end} t = {float(run.time[-1]):g} in {run.attrs['steps']:,} steps. Densities: {stored}  Picture: {picture}"
    )
