"""``kinelo rate --rules fide``: the next list of a federation, instead of ratings match by match."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from kinelo.cli.options import AnyReadingOptions, Federation
from kinelo.errors import InputError


@dataclass(frozen=True)
class ListOptions:
    """What the lists of a federation ask for beside results."""

    heading: ClassVar[str] = "Plain Elo, by the rules of a federation"

    event: Annotated[
        str | None, typer.Option(help="With --rules: the column of events, rated by the list when they began.")
    ] = None
    born: Annotated[
        Path | None, typer.Option(help="With --rules: years of birth, CSV or Parquet with name and born.")
    ] = None
    as_of: Annotated[
        str | None, typer.Option(help="With --rules: the day whose rules hold for all matches, such as 2025-10-01.")
    ] = None

    def rater(self, results: Path, rater: str, federation: Federation, reading: AnyReadingOptions) -> Any:
        """The rater that makes lists where ``--rules`` asks for them, None where it does not."""
        if federation.rules is None:
            given = [f"--{name.replace('_', '-')}" for name in ("event", "born", "as_of") if getattr(self, name)]
            if given:
                raise InputError(f"{given[0]} goes with --rules fide.")
            return None
        federation.rater(rater, None, *reading.asked_of_rater()[1:])  # refuses what contradicts --rules
        if federation.initial is not None:
            raise InputError("FIDE's rules give newcomers a rating by their first games: leave out --initial.")
        return self._lists(results, reading.start)

    def _lists(self, results: Path, start: Path | None) -> Any:
        from kinelo.matches.loading import head_of
        from kinelo.matches.tournament_report import holds_report, tournament_players
        from kinelo.raters.fide.rater import FideElo

        event, list_ = self.event, start
        if holds_report(results):
            event = event or "event"
            list_ = tournament_players(results) if start is None else start
            if start is None:
                typer.echo(
                    "note: the ratings of the report are the list to begin with; it does not say who is among the "
                    "first 30 games, nor who was once rated 2400: --start takes a list with the column k",
                    err=True,
                )
        elif event is not None and event not in head_of(results).columns:
            raise InputError(f"{results} has no column {event!r} for --event.")
        return FideElo(list_, self.born, event=event, as_of=self.as_of)


def show_list(rater: Any, top: int) -> None:
    """Print a list, and who has no rating yet."""
    from kinelo.cli.streams import console

    table, unrated = rater.list_table(), rater.unrated_
    console().print(table.head(top))
    if len(table.rows) > top:
        typer.echo(f"{len(table.rows) - top:,} more are on the list (--top, --out).")
    if unrated.height:
        shown = "; ".join(f"{name} {games}" for name, games in unrated.select("name", "games").head(5).rows())
        more = "; …" if unrated.height > 5 else ""
        typer.echo(f"Without a rating; games against rated opponents so far, of which 5 are needed: {shown}{more}.")
