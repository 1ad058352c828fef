"""The list of commands.

To add one: write ``kinelo/cli/NAME.py`` with a function that has light imports at the top and heavy ones inside,
register it here, and name it under a heading in ``kinelo/cli/commands.py``.
"""

from typing import Annotated

import typer

from kinelo._version import __version__
from kinelo.cli.audit import audit
from kinelo.cli.backtest import backtest
from kinelo.cli.balance import balance
from kinelo.cli.book import book
from kinelo.cli.changeover import changeover
from kinelo.cli.commands import Command, Commands
from kinelo.cli.design import design
from kinelo.cli.devices import devices
from kinelo.cli.diagnose import diagnose
from kinelo.cli.explain import explain, preview
from kinelo.cli.fair import fair
from kinelo.cli.farming import farming
from kinelo.cli.knockout import knockout
from kinelo.cli.lab import lab
from kinelo.cli.leaderboard import leaderboard
from kinelo.cli.predict import predict
from kinelo.cli.rate import rate
from kinelo.cli.reproduce import reproduce
from kinelo.cli.sample import sample
from kinelo.cli.season import season
from kinelo.cli.serve import serve
from kinelo.cli.simulate import simulate
from kinelo.cli.solve import solve
from kinelo.cli.sweep import sweep

app = typer.Typer(
    name="kinelo",
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Elo-type ratings of players and teams whose strength varies from match to match.",
    epilog="Example:  kinelo sample league && kinelo rate league/results.csv",
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


app.command(cls=Command)(reproduce)
app.command(cls=Command)(simulate)
app.command(cls=Command)(solve)
app.command(cls=Command)(sweep)
app.command(cls=Command)(diagnose)
app.command(cls=Command)(audit)
app.command(cls=Command)(changeover)
app.command(cls=Command)(farming)
app.command(cls=Command)(design)
app.command(cls=Command)(sample)
app.command(cls=Command)(rate)
app.command(cls=Command)(book)
app.command(cls=Command)(serve)
app.command(cls=Command)(leaderboard)
app.command(cls=Command)(predict)
app.command(cls=Command)(balance)
app.command(cls=Command)(preview)
app.command(cls=Command)(explain)
app.command(cls=Command)(fair)
app.command(cls=Command)(backtest)
app.command(cls=Command)(season)
app.command(cls=Command)(knockout)
app.command(cls=Command)(lab)
app.command(cls=Command)(devices)
