"""``kinelo season``: how a season may end, from results so far and fixtures to come."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from kinelo.cli.options import Json, RaterName, ReadingOptions, grouped
from kinelo.cli.streams import console, echo_json, say_note
from kinelo.forecasts.usual_rules import DRAW, LOSS, USUAL_RELEGATED, WIN
from kinelo.raters.choice import AUTOMATIC

if TYPE_CHECKING:
    from kinelo.forecasts.season import Rules

START_HELP = (
    "Results since this day count for the table; none counts none. By default the season under way is found, where no "
    "fixture has a result."
)
BREAK_HELP = (
    "What separates sides level on points: margin, wins or head_to_head; repeat for an order. By default margin, then "
    "wins; wins alone where the rater draws no margins."
)


@dataclass(frozen=True)
class SeasonRules:
    """What matches are worth, and what the table decides."""

    heading: ClassVar[str] = "Rules of the season"

    win: Annotated[float, typer.Option(help="Points for a win.")] = WIN
    draw: Annotated[float, typer.Option(help="Points for a draw.")] = DRAW
    loss: Annotated[float, typer.Option(help="Points for a loss.")] = LOSS
    tie_break: Annotated[list[str] | None, typer.Option(help=BREAK_HELP)] = None
    relegated: Annotated[
        int | None, typer.Option(min=0, show_default=str(USUAL_RELEGATED), help="How many go down.")
    ] = None

    def rules(self, sides: int) -> Rules:
        """The rules as :func:`kinelo.season` takes them, for so many sides."""
        from kinelo.forecasts.season import Rules, table_places

        places = table_places(sides, self.relegated)
        return Rules(self.win, self.draw, self.loss, tuple(self.tie_break) if self.tie_break else None, places)


@grouped
def season(
    results: Annotated[Path, typer.Argument(help="Results to fit the rater on.")],
    fixtures: Annotated[
        Path, typer.Argument(help="Matches of the season, or those to come; those with a result count as they ended.")
    ],
    reading: ReadingOptions,
    scoring: SeasonRules,
    rater: RaterName = AUTOMATIC,
    season_start: Annotated[str | None, typer.Option(help=START_HELP)] = None,
    realisations: Annotated[
        int, typer.Option("--realisations", "--simulations", min=1, help="How many times the season is played.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same table.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Write the table to this CSV file.")] = None,
    as_json: Json = False,
) -> None:
    """Play the rest of a season many times: final points, chances of the title and of going down.

    Points won in the season so far count: a note says which results they are from.

    Example:  kinelo season league/results.csv fixtures.csv --relegated 2
    """
    from kinelo.cli.loading import plain_warnings, write_csv
    from kinelo.cli.rating import check_rater, fit_rater
    from kinelo.forecasts.season import season as played
    from kinelo.forecasts.season import season_table
    from kinelo.forecasts.season_so_far import season_so_far
    from kinelo.matches.dated import read_day

    check_rater(rater, reading)
    since = None if season_start in (None, "none") else read_day(season_start)
    with plain_warnings():
        coming = reading.fixtures(fixtures, reading.columns_asked(), results)
        past = reading.load(results, coming=coming, beside=fixtures)
        rules = scoring.rules(len({*coming.home.tolist(), *coming.away.tolist()}))
        counted = past[:0] if season_start == "none" else past
        season_so_far(coming, counted, since)  # asks before a rater is fitted
        fitted, _ = fit_rater(rater, past, reading)
        end = played(fitted, coming, results=counted, since=since, rules=rules, realisations=realisations, seed=seed)
    for note in end.notes:
        say_note(note)
    if not scoring.tie_break and end.rules.tie_breaks == ("wins",):
        kind = type(fitted).__name__
        typer.echo(f"note: {kind} draws no margins: sides level on points are separated by wins", err=True)
    if out is not None:
        write_csv(end.to_polars(), out)
    if as_json:
        echo_json({"rater": type(fitted).__name__, **end.to_dict()})
        return
    asked = "" if scoring.relegated is not None else " Say --relegated for another number."
    typer.echo(f"{end.rule}{asked}")
    title = f"{len(coming):,} fixtures, {realisations:,} times, {type(fitted).__name__}"
    console().print(season_table(end, title))
