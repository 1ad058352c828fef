"""The list of commands.

To add one: write ``kinelo/cli/NAME.py`` with a function that has light imports at the top and heavy ones inside,
and register it here.
"""

from typing import Annotated

import typer

from kinelo._version import __version__
from kinelo.cli.audit import audit
from kinelo.cli.backtest import backtest
from kinelo.cli.book import book
from kinelo.cli.changeover import changeover
from kinelo.cli.design import design
from kinelo.cli.devices import devices
from kinelo.cli.diagnose import diagnose
from kinelo.cli.lab import lab
from kinelo.cli.leaderboard import leaderboard
from kinelo.cli.predict import predict
from kinelo.cli.rate import rate
from kinelo.cli.reproduce import reproduce
from kinelo.cli.sample import sample
from kinelo.cli.season import season
from kinelo.cli.simulate import simulate
from kinelo.cli.solve import solve
from kinelo.cli.sweep import sweep

app = typer.Typer(
    name="kinelo",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Elo-type ratings of players and teams whose strength varies from match to match.",
    epilog="Examples:  kinelo reproduce --out reproduction;  kinelo simulate studies/r2.toml --out out/r2",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kinelo {__version__}")
        raise typer.Exit


@app.callback()
def _kinelo(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass


app.command()(reproduce)
app.command()(simulate)
app.command()(solve)
app.command()(sweep)
app.command()(diagnose)
app.command()(audit)
app.command()(changeover)
app.command()(design)
app.command()(sample)
app.command()(rate)
app.command()(book)
app.command()(leaderboard)
app.command()(predict)
app.command()(backtest)
app.command()(season)
app.command()(lab)
app.command()(devices)
