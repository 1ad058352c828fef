"""``kinelo diagnose``: where a league's ratings end up, how noisy and how slow they are, and what to change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinelo.cli.options import AllowCode
from kinelo.cli.streams import console, echo_json

if TYPE_CHECKING:
    from kinelo.advice.diagnosis import Diagnosis


def diagnose(
    study: Annotated[
        Path, typer.Argument(help="A study file (TOML) with a [league] section; [dynamics] if strengths move.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            help="New folder for the verdict (JSON, HTML) and the picture, or a page to share: NAME.html.",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Play leagues beside the theory, as they are and with the advice.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
    allow_code: AllowCode = False,
) -> None:
    """Say where the ratings of a league end up.

    Prints a verdict and draws the map from strength to rating with its noise: DIR/map.png, or STUDY-map.png in the
    current folder where no --out is given. With --out NAME.html everything stands on one page. With --check leagues are
    played beside the theory, and both numbers are shown.

    Example:  kinelo diagnose studies/r2.toml --out out/verdict
    Example:  kinelo diagnose studies/r2.toml --out verdict.html
    """
    from kinelo.runtime.extras import STUDY, require

    require(*STUDY)
    from kinelo.studies import read_study

    plan = read_study(study, allow_code=allow_code)  # what is wrong with it is said before the rest is loaded
    import json

    from kinelo.advice.diagnosis import diagnose as verdict_on
    from kinelo.cli.files import is_page, result_folder
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
