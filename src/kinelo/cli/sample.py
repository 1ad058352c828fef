"""``kinelo sample``: a made-up league to try things on."""

from pathlib import Path
from typing import Annotated

import typer


def sample(
    folder: Annotated[Path, typer.Argument(help="Folder to write results.csv and lineups.csv into.")] = Path("league"),
    teams: Annotated[int, typer.Option(help="Number of clubs.")] = 20,
    seasons: Annotated[int, typer.Option(help="Seasons of a double round robin.")] = 3,
    seed: Annotated[int, typer.Option(help="The same seed gives the same league.")] = 1,
) -> None:
    """Write a simulated league with line-ups, draws and home advantage.

    Example:  kinelo sample league && kinelo rate league/results.csv
    """
    from kinelo.cli.loading import write_csv
    from kinelo.errors import InputError
    from kinelo.matches.sample import sample_league

    league = sample_league(teams, seasons, seed=seed)
    tables = {folder / "results.csv": league.results, folder / "lineups.csv": league.lineups}
    for path in tables:
        if path.exists():
            raise InputError(f"{path} exists already; choose another folder.")
    for path, table in tables.items():
        write_csv(table, path)
    typer.echo(f"{league.results.height:,} matches: {folder / 'results.csv'}")
    typer.echo(f"{league.lineups.height:,} appearances: {folder / 'lineups.csv'}")
