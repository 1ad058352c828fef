"""``kinelo season``: how a season may end, and with ``--knockout`` a cup."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from kinelo.cli.loading import plain_warnings, write_csv
from kinelo.cli.options import Json, RaterName, ReadingOptions, argument, form_asked, grouped, option
from kinelo.cli.output import console, echo_json, say_note
from kinelo.cli.rating import check_rater, fit_rater
from kinelo.errors import InputError
from kinelo.forecasts.usual_rules import LOSS
from kinelo.presentation import counted
from kinelo.raters.choice import AUTOMATIC

if TYPE_CHECKING:
    from kinelo.forecasts.season import Rules
    from kinelo.matches.matches import Matches

START_HELP = (
    "Results since this day count for the table; none counts none. By default the season under way is found, where no "
    "fixture has a result."
)
SUITED = "as it suits the results"
BREAK_HELP = (
    "What separates sides level on points: margin, wins, head_to_head or head_to_head_margin; repeat for an order. By "
    "default margin, then wins; wins alone where the rater draws no margins."
)


@dataclass(frozen=True)
class SeasonRules:
    """What matches are worth, and what the table decides."""

    heading: ClassVar[str] = "Rules of the season"

    win: float | None = option("Points for a win.", show_default=SUITED)
    draw: float | None = option("Points for a draw.", show_default=SUITED)
    loss: float | None = option("Points for a loss.", show_default=f"{LOSS:g}")
    tie_break: list[str] | None = option(BREAK_HELP)
    relegated: int | None = option("How many go down.", min=0, show_default=SUITED)

    def rules(self, results: Matches, sides: int) -> Rules:
        """The rules as :func:`kinelo.season` takes them, for so many sides; what is not said suits the results."""
        from kinelo.forecasts.season import suited

        breaks = tuple(self.tie_break) if self.tie_break else None
        return suited(
            results, sides, win=self.win, draw=self.draw, loss=self.loss, tie_breaks=breaks, relegated=self.relegated
        )


ASKED_OF = {
    "": ("fixtures", "season_start", "win", "draw", "loss", "tie_break", "relegated"),
    "--knockout": ("date",),
}
"""Forms of the command, and the options of each beside those of both."""


@grouped
def season(
    results: Annotated[Path, typer.Argument(help="Results to fit the rater on.")],
    reading: ReadingOptions,
    scoring: SeasonRules,
    fixtures: Path | None = argument(
        "Matches of the season, or those to come; those with a result count as they ended."
    ),
    knockout: str | None = option(
        "Play a cup instead: 2, 4, 8, … sides as 'ANN; BOB; CID; DEE', first against second, and so on.",
        metavar="BRACKET",
    ),
    date: str | None = option("With --knockout: its day; by default the day after the last result."),
    rater: RaterName = AUTOMATIC,
    season_start: str | None = option(START_HELP),
    realisations: int = option(
        "How many times it is played.", "--realisations", "--simulations", default=10_000, min=1
    ),
    seed: int = option("The same seed gives the same table.", default=1, min=0),
    out: Path | None = option("Write the table to this CSV file."),
    as_json: Json = False,
) -> None:
    """Play the rest of a season many times: final points, chances of the title and of going down.

    Points won in the season so far count: a note says which results they are from.

    With --knockout it plays a cup on neutral ground: the chance of every side to win each round.

    Example:  kinelo season league/results.csv fixtures.csv --relegated 2
    Example:  kinelo season league/results.csv --knockout 'Ashford; Bramley; Calder; Dunmore'
    """
    from kinelo.forecasts.season import season as played
    from kinelo.forecasts.season import season_table, sides_in
    from kinelo.forecasts.season_so_far import season_so_far
    from kinelo.matches.dated import read_day

    if form_asked(ASKED_OF):
        sides = [name.strip() for name in str(knockout).split(";")]
        _cup(results, sides, reading, rater, date, out, as_json=as_json, realisations=realisations, seed=seed)
        return
    if fixtures is None:
        raise InputError("Say what is to come: a file of FIXTURES, or a cup as --knockout 'ANN; BOB; CID; DEE'.")
    check_rater(rater, reading)
    since = None if season_start in (None, "none") else read_day(season_start)
    with plain_warnings():
        coming = reading.fixtures(fixtures, reading.columns_asked(), results)
        past = reading.load(results, coming=coming, beside=fixtures)
        used = past[:0] if season_start == "none" else past
        so_far = season_so_far(coming, used, since)  # asks before a rater is fitted
        rules = scoring.rules(past, len(sides_in(so_far.fixtures, so_far.results)))
        fitted, _ = fit_rater(rater, past, reading)
        end = played(fitted, coming, results=used, since=since, rules=rules, realisations=realisations, seed=seed)
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
    left, times = counted(len(coming), "fixture", "fixtures"), counted(realisations, "time", "times")
    title = f"{left}, {times}, {type(fitted).__name__}"
    console().print(season_table(end, title))


def _cup(
    results: Path, sides: list[str], reading: ReadingOptions, rater: str, date: str | None, out: Path | None,
    *, as_json: bool, **plan: int,
) -> None:  # fmt: skip
    """Play a cup many times: the chance of every side to win each round, on neutral ground."""
    from kinelo.forecasts.knockout import check_bracket, knockout_table
    from kinelo.forecasts.knockout import knockout as played
    from kinelo.matches.dated import read_day
    from kinelo.raters.spelling import nearest_names

    check_bracket(sides)
    check_rater(rater, reading)
    day = None if date is None else read_day(date)
    past = reading.load(results)
    if strange := [name for name in sides if name not in past.teams]:
        near = nearest_names(strange[0], past.teams)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise InputError(f"{', '.join(map(repr, strange))} has no match in these results.{meant}")
    with plain_warnings():
        fitted, _ = fit_rater(rater, past, reading)
        day = past.date[-1] + 1 if day is None else day
        cup = played(fitted, sides, date=str(day), **plan)
    if out is not None:
        write_csv(cup.to_polars(), out)
    if as_json:
        content = {"rater": type(fitted).__name__, "date": str(day), "realisations": plan["realisations"]}
        echo_json(content | cup.to_dict())
        return
    when = f" on {day}" if past.dated or date else ""
    title = f"{len(sides)} sides{when}, {counted(plan['realisations'], 'time', 'times')}, {type(fitted).__name__}"
    console().print(knockout_table(cup, title))
