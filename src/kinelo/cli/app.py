"""The list of commands.

To add one: write ``kinelo/cli/NAME.py`` with a function that has light imports at the top and heavy ones inside,
and register it here.
"""

import warnings
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
from kinelo.cli.written import Command
from kinelo.errors import InputError, KineloWarning, in_one_line
from kinelo.raters.choice import TAKEN
from kinelo.runtime.plugins import described, load_plugin, plugins, warn_of_plugins_left_out

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


app.command(cls=Command)(reproduce)
app.command(cls=Command)(simulate)
app.command(cls=Command)(solve)
app.command(cls=Command)(sweep)
app.command(cls=Command)(diagnose)
app.command(cls=Command)(audit)
app.command(cls=Command)(changeover)
app.command(cls=Command)(design)
app.command(cls=Command)(sample)
app.command(cls=Command)(rate)
app.command(cls=Command)(book)
app.command(cls=Command)(leaderboard)
app.command(cls=Command)(predict)
app.command(cls=Command)(backtest)
app.command(cls=Command)(season)
app.command(cls=Command)(lab)
app.command(cls=Command)(devices)


def add_plugins(app: typer.Typer) -> None:
    """Add the commands of other installed packages; one that cannot be loaded costs a warning."""
    own = tuple(command.name or command.callback.__name__ for command in app.registered_commands if command.callback)
    warn_of_plugins_left_out("kinelo.raters", TAKEN)
    warn_of_plugins_left_out("kinelo.commands", own)
    for name, point in plugins("kinelo.commands", own).items():
        try:
            found = load_plugin(point)
            _check_command(described(point), found)
        except InputError as error:
            warnings.warn(str(error), KineloWarning, stacklevel=2)
            continue
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name)(found)


def _check_command(plugin: str, found: object) -> None:
    """Build the command once apart from Kinelo's, so that one that cannot be built harms no other."""
    alone = found if isinstance(found, typer.Typer) else typer.Typer(add_completion=False)
    if not callable(found):
        raise InputError(f"{plugin} is no command: it is neither a function nor a typer.Typer.")
    try:
        if alone is not found:
            alone.command()(found)
        typer.main.get_command(alone)
    except Exception as error:  # Typer refuses types that it cannot read from words, each with an error of its own
        raise InputError(f"{plugin} is no command: {in_one_line(error)}") from None
