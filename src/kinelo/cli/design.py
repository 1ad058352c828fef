"""``kinelo design``: rating systems compared on the league of a study file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinelo.cli.files import picture_name
from kinelo.cli.options import AllowCode
from kinelo.cli.streams import console, echo_json

if TYPE_CHECKING:
    from kinelo.model.system import RatingSystem
    from kinelo.studies.study import Study


def design(
    study: Annotated[Path, typer.Argument(help="A study file (TOML) with [league], [dynamics] and [design.NAME].")],
    matches: Annotated[int, typer.Option(min=30, help="Matches per team that are judged.")] = 600,
    realisations: Annotated[int, typer.Option(min=2, help="Leagues that are played.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Names the random stream.")] = 1,
    check: Annotated[bool, typer.Option("--check", help="Say where theory and the leagues played disagree.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything found as JSON.")] = False,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the trade-off into this file.", callback=picture_name)
    ] = None,
    allow_code: AllowCode = False,
) -> None:
    """Compare rating systems: that of the study, and every [design.NAME] that changes its gamma, pairing or schedule.

    Example:  kinelo design studies/design.toml --picture trade-off.png
    """

    from kinelo.advice.design import design as run
    from kinelo.advice.design import design_table
    from kinelo.studies import read_study

    plan = read_study(study, allow_code=allow_code)
    compared = run(
        plan.strengths,
        plan.motion,
        _systems(plan, study, allow_code),
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


def _systems(plan: Study, source: Path, allow_code: bool) -> dict[str, RatingSystem]:
    from kinelo.errors import InputError
    from kinelo.studies.study import parse_study

    content = plan.model_dump(exclude_unset=True, exclude={"design"})
    systems = {"the study's own": plan.system}
    for name, changes in (plan.design or {}).items():
        strange = set(changes) - {"gamma", "pairing", "schedule"}
        if strange:
            raise InputError(f"{source}: [design.{name}] may change gamma, pairing and schedule, not {min(strange)}.")
        where = f"{source}, [design.{name}]"
        systems[name] = parse_study({**content, **changes}, where, allow_code=allow_code, folder=source.parent).system
    return systems
