"""``kinelo study``, whose verbs take a study file, and ``kinelo reproduce``."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinelo.cli.options import AllowCode, DeviceChoice, Scheduler, Workers, grouped, option
from kinelo.cli.output import console, echo_json, is_page, picture_name, result_folder
from kinelo.errors import InputError, KineloWarning
from kinelo.presentation import counted

if TYPE_CHECKING:
    from kinelo.advice.diagnosis import Diagnosis
    from kinelo.macro.state import KineticState
    from kinelo.paper.reproduce import Progress


@grouped
def diagnose(
    study: Annotated[
        Path, typer.Argument(help="A study file (TOML) with a [league] section; [dynamics] if strengths move.")
    ],
    out: Path | None = option(
        "New folder for the verdict (JSON, HTML) and the picture, or a page to share: NAME.html.", show_default=False
    ),
    check: bool = option("Play leagues beside the theory, as they are and with the advice.", "--check", default=False),
    as_json: bool = option("Print the verdict as JSON.", "--json", default=False),
    allow_code: AllowCode = False,
) -> None:
    """Say where the ratings of a league end up.

    Prints a verdict and draws the map from strength to rating with its noise: DIR/map.png, or STUDY-map.png in the
    current folder where no --out is given. With --out NAME.html everything stands on one page. With --check leagues are
    played beside the theory, and both numbers are shown.

    Example:  kinelo study diagnose studies/r2.toml --out out/verdict
    Example:  kinelo study diagnose studies/r2.toml --out verdict.html
    """
    from kinelo.runtime.extras import STUDY, require

    require(*STUDY)
    from kinelo.studies.study import read_study

    plan = read_study(study, allow_code=allow_code)  # what is wrong with it is said before the rest is loaded
    import json

    from kinelo.advice.diagnosis import diagnose as verdict_on
    from kinelo.pages.page import share_page, write_page
    from kinelo.pictures.style import save
    from kinelo.pictures.systems import draw_map
    from kinelo.runtime.atomic import replace_file

    def verdict_on_plan() -> Diagnosis:
        return verdict_on(plan.system, plan.strengths, plan.motion, check=check)

    if is_page(out):
        verdict = verdict_on_plan()
        picture = write_page(verdict, out, title=plan.title)
    elif out is None:
        verdict = verdict_on_plan()
        picture = save(draw_map(verdict.state, plan.title), Path(f"{study.stem}-map.png"))
    else:
        with result_folder(out, resume=False) as folder:
            verdict = verdict_on_plan()
            picture = save(draw_map(verdict.state, plan.title), folder / "map.png")
            content = json.dumps(verdict.to_dict(), indent=1, ensure_ascii=False) + "\n"
            replace_file(folder / "verdict.json", content.encode())
            replace_file(folder / "verdict.html", share_page(verdict, title=plan.title).encode())
    if as_json:
        echo_json(verdict.to_dict(), indent=1)
    else:
        console().print(verdict)
    typer.echo(f"{'Page' if is_page(out) else 'Picture'}: {picture}", err=as_json)


@grouped
def design(
    study: Annotated[Path, typer.Argument(help="A study file (TOML) with [league], [dynamics] and [design.NAME].")],
    matches: int = option("Matches per team that are judged.", default=600, min=30),
    realisations: int = option("Leagues that are played.", default=8, min=2),
    seed: int = option("Names the random stream.", default=1, min=0),
    check: bool = option("Say where theory and the leagues played disagree.", "--check", default=False),
    as_json: bool = option("Print everything found as JSON.", "--json", default=False),
    picture: Path | None = option("Draw the trade-off into this file.", callback=picture_name),
    allow_code: AllowCode = False,
) -> None:
    """Compare rating systems: that of the study, and every [design.NAME] that changes its gamma, pairing or schedule.

    Example:  kinelo study design studies/design.toml --picture trade-off.png
    """
    from kinelo.advice.design import design as run
    from kinelo.advice.design import design_table
    from kinelo.studies.study import parse_study, read_study

    plan = read_study(study, allow_code=allow_code)
    content, systems = plan.model_dump(exclude_unset=True, exclude={"design"}), {"the study's own": plan.system}
    for name, changes in (plan.design or {}).items():
        strange = set(changes) - {"gamma", "pairing", "schedule"}
        if strange:
            raise InputError(f"{study}: [design.{name}] may change gamma, pairing and schedule, not {min(strange)}.")
        where = f"{study}, [design.{name}]"
        systems[name] = parse_study({**content, **changes}, where, allow_code=allow_code, folder=study.parent).system
    compared = run(
        plan.strengths,
        plan.motion,
        systems,
        matches=matches,
        realisations=realisations,
        seed=seed,
        check=check,
    )
    if as_json:
        echo_json(compared.to_dict(), indent=2)
    else:
        console().print(design_table(compared))
    if picture is not None:
        from kinelo.pictures.style import save
        from kinelo.pictures.systems import draw_design

        typer.echo(f"Picture: {save(draw_design(compared), picture)}", err=as_json)


@grouped
def simulate(
    study: Annotated[Path, typer.Argument(help="A study file (TOML) with a [simulate] section.")],
    out: Path = option("New folder for the result.", default=Path("out")),
    resume: bool = option("Continue an interrupted run in that folder.", "--resume", default=False),
    threads: int | None = option("Number of threads; all processors by default.", min=1),
    device: DeviceChoice = option("cpu, gpu, or auto; every device ends at the same bytes.", default=DeviceChoice.cpu),
    workers: Workers = None,
    scheduler: Scheduler = None,
    allow_code: AllowCode = False,
) -> None:
    """Simulate the league of a study file.

    Writes the ratings as zarr (DIR/run/data.zarr, opens with xarray) and a picture (DIR/ratings.png).

    Example:  kinelo study simulate studies/r2.toml --out out/r2
    """
    from kinelo.runtime.extras import STUDY, require

    require(*STUDY)
    from kinelo.pictures.simulation import draw_ratings
    from kinelo.pictures.style import save
    from kinelo.runtime.progress import progress_bar
    from kinelo.runtime.workers import client_of
    from kinelo.studies.simulation import planned, run_simulation, total_matches
    from kinelo.studies.study import read_study

    plan, engine = read_study(study, allow_code=allow_code), client_of(workers, scheduler)
    total = total_matches(plan)
    planned(plan, out / "run")
    with result_folder(out, resume=resume) as folder, engine as client:
        with progress_bar("Playing matches", total, wanted=True, unit="matches") as advance:
            run = run_simulation(
                plan, folder / "run", advance=advance, threads=threads, device=device.value, client=client
            )
        picture = save(draw_ratings(run, plan.title), folder / "ratings.png")
    typer.echo(
        f"{counted(total, 'match', 'matches')} played. Ratings: {folder / 'run' / 'data.zarr'}  Picture: {picture}"
    )


@grouped
def solve(
    study: Annotated[Path, typer.Argument(help="A study file (TOML) with [population] and [solve] sections.")],
    out: Path = option("New folder for the result.", default=Path("out")),
    resume: bool = option("Continue an interrupted run in that folder.", "--resume", default=False),
    film: str | None = option("Also write a film of the density: gif or mp4."),
    threads: int = option("Number of threads; the result is the same for any.", default=1, min=1),
    device: DeviceChoice = option("cpu, gpu (where everyone plays everyone), or auto.", default=DeviceChoice.cpu),
    allow_code: AllowCode = False,
) -> None:
    """Solve the kinetic equation for the population of a study file.

    Writes the densities as zarr (DIR/population.zarr, opens with xarray) and a picture (DIR/population.png); DIR/run
    holds what an interrupted run continues from.

    Example:  kinelo study solve studies/figure3.toml --out out/figure3
    """
    from kinelo.runtime.extras import STUDY, require

    require(*STUDY)
    from kinelo.pictures.population import check_film, draw_population, save_film
    from kinelo.pictures.style import save
    from kinelo.results.layout import write_dataset
    from kinelo.runtime.progress import progress_bar
    from kinelo.studies.plan import check_solution
    from kinelo.studies.solution import run_solution
    from kinelo.studies.study import read_study, required

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

            def watch(state: KineticState) -> None:
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


@grouped
def sweep(
    study: Annotated[Path, typer.Argument(help="A study file (TOML) with a [sweep] section.")],
    out: Path = option("New folder for the result.", default=Path("out")),
    resume: bool = option("Continue an interrupted sweep in that folder.", "--resume", default=False),
    retry: bool = option("Continue, and compute failed points again.", "--retry", default=False),
    device: DeviceChoice = option(
        "cpu, gpu, or auto, where simulating; every device ends at the same bytes.", default=DeviceChoice.cpu
    ),
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: bool = option("Print the numbers of every point as JSON.", "--json", default=False),
    allow_code: AllowCode = False,
) -> None:
    """Compute a study at every point of its [sweep] section.

    Writes every point as it ends (DIR/sweep/points), all of them (DIR/sweep/data.zarr, opens with xarray) and a
    picture (DIR/sweep.png).

    Example:  kinelo study sweep studies/slope.toml --out out/slope --workers 2
    """
    from kinelo.runtime.extras import STUDY, require

    require(*STUDY)
    import warnings

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
    typer.echo(f"{counted(len(axes), 'point', 'points')}.{failed} {where}", err=as_json)


class ScaleChoice(StrEnum):
    """The paper's own scale, or one for a quick look."""

    full = "full"
    quick = "quick"


class What(StrEnum):
    """The paper itself, the models it names beside its own, or statements of other papers."""

    paper = "paper"
    neighbours = "neighbours"
    literature = "literature"


@grouped
def reproduce(
    what: What = option(
        "paper: its figures and claims. neighbours: learning, form, rounds, deviations. "
        "literature: what other papers say of Elo's rule.",
        default=What.paper,
    ),
    figure: list[int] | None = option("Only this figure; may be given several times.", "--figure", "-f"),
    scale: ScaleChoice = option("full: the paper's own scale. quick: a look in seconds.", default=ScaleChoice.full),
    out: Path = option("Folder for the report, the figures and the runs.", default=Path("reproduction")),
    resume: bool = option("Continue in a folder that holds a reproduction.", "--resume", default=False),
    studies: Path | None = option("Folder with figure files (TOML) to use instead of Kinelo's own."),
    threads: int | None = option("Number of threads; all processors by default.", min=1),
    device: DeviceChoice = option(
        "Where simulations run: cpu, gpu, or auto; every device ends at the same bytes.", default=DeviceChoice.cpu
    ),
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
        f"{counted(len(result.figures), 'figure', 'figures')} and {counted(verdicts.total(), 'claim', 'claims')} "
        f"({tally_words(verdicts)}) in "
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
