"""The list of commands, how help shows them, and commands of other packages, which load when asked for.

To add one: write a function beside its neighbours, with heavy imports inside, and name it under a heading here."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from kinelo._version import __version__
from kinelo.cli.audit import audit, backtest, changeover, farming
from kinelo.cli.explain import balance, explain, fair, preview
from kinelo.cli.lab import devices, lab, serve
from kinelo.cli.next import test
from kinelo.cli.output import SAID, option_words, refuse_overwriting
from kinelo.cli.predict import knockout, predict, season
from kinelo.cli.rate import book, leaderboard, rate, sample
from kinelo.cli.study import design, diagnose, reproduce, simulate, solve, sweep
from kinelo.errors import InputError, in_one_line
from kinelo.runtime.plugins import described, load_plugin, package_of, plugins, warn_of_plugins_left_out

GROUPS = {
    "Rate a league": (
        sample, rate, leaderboard, predict, balance, fair, preview, explain, backtest, season, knockout, audit,
        changeover, farming, test, book, serve,
    ),
    "Study a model": (diagnose, design, simulate, solve, sweep, reproduce),
    "Look": (lab, devices),
}  # fmt: skip
"""Headings of the help, and the commands under each."""

OTHERS = "Of other packages"
EXAMPLE = "Example:"
VALUES = {"path": "PATH", "str": "TEXT", "int": "NUMBER", "float": "NUMBER"}
"""What an option takes, in words instead of types."""

WIDEST_OPTION = 28
"""Characters of an option beside which its words stand; those of a wider one stand below it."""


class Command(TyperCommand):
    """A command whose files are looked at before it begins, and whose help has headings and examples to copy."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command unless it would overwrite what it reads."""
        refuse_overwriting(ctx.params)
        SAID.clear()
        try:
            return super().invoke(ctx)
        except InputError as error:
            error.args = (option_words(str(error)),)
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Arguments in capital letters, without the braces that some versions of Typer put around them."""
        return [re.sub("[{}]", "", piece).upper() for piece in super().collect_usage_pieces(ctx)]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """What the command does, and examples, each in lines that can be copied."""
        lines = inspect.cleandoc(self.help or "").splitlines()
        examples = [line.removeprefix(EXAMPLE).strip() for line in lines if line.startswith(EXAMPLE)]
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text("\n".join(line for line in lines if not line.startswith(EXAMPLE)).strip())
        if examples:
            with formatter.section("Examples" if len(examples) > 1 else "Example"):
                formatter.write("".join(_to_copy(one, formatter.width) for one in examples))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, options of the command's own, and those of every group under its heading."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is not None:
                argument = one.param_type_name == "argument"
                heading = "Arguments" if argument else getattr(one, "rich_help_panel", None) or "Options"
                sections.setdefault(heading, []).append((_in_words(record[0], argument), _limits(record[1])))
        names = [name for rows in sections.values() for name, _ in rows]
        width = max(len(name) for name in names if len(name) <= WIDEST_OPTION)
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), said) for name, said in rows], col_max=width)


def _limits(words: str) -> str:
    """Limits of a number in words.

    >>> _limits("How many.  [default: 10; x>=1]")
    'How many.  [default: 10; at least 1]'
    """
    return re.sub(r"\bx>=(?=[\d.]+\]$)", "at least ", words)


def _in_words(option: str, argument: bool) -> str:
    """An option with what it takes, or an argument by its name.

    >>> _in_words("--column <list[str]>", False), _in_words("--to <cpu|gpu>", False), _in_words("study <path>", True)
    ('--column TEXT', '--to cpu|gpu', 'STUDY')
    """
    if argument:
        return option.partition(" <")[0].upper()
    return re.sub(r"<(?:list\[)?(.*?)(?: range)?\]?>", lambda kind: VALUES.get(kind[1], kind[1]), option)


def _to_copy(example: str, width: int) -> str:
    """A command in lines that a shell reads as one.

    >>> print(_to_copy("kinelo rate league/results.csv --out ratings.csv", 40), end="")
      kinelo rate league/results.csv \\
          --out ratings.csv
    """
    kept = re.sub(r"( --\S+) (?!-)", "\\1\N{NO-BREAK SPACE}", example)  # an option and its value stay together
    lines = textwrap.wrap(kept, width - 6, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return " \\\n".join(f"  {line}" for line in lines).replace("\N{NO-BREAK SPACE}", " ") + "\n"


class Commands(TyperGroup):
    """Kinelo's commands, and those of installed packages, none of which is imported before it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands, Kinelo's first."""
        return [*self.commands, *self._plugins()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name; one of another package is loaded and checked now."""
        own = super().get_command(ctx, cmd_name)
        point = None if own is not None else self._plugins().get(cmd_name)
        if point is None:
            return own
        plugin, content = described(point), load_plugin(point)
        if not callable(content):
            raise InputError(f"{plugin} is no command: it is neither a function nor a typer.Typer.")
        try:
            alone = content if isinstance(content, typer.Typer) else typer.Typer(add_completion=False)
            if alone is not content:
                alone.command(cmd_name)(content)  # type: ignore[arg-type]
            built = typer.main.get_command(alone)
        except Exception as error:  # Typer refuses types that it cannot read from words, each with an error of its own
            raise InputError(f"{plugin} is no command: {in_one_line(error)}") from None
        built.name = cmd_name
        return built

    def _plugins(self) -> dict[str, Any]:
        return plugins("kinelo.commands", tuple(self.commands))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands under their headings, each with its whole first sentence."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(one.__name__.ljust(width), _sentence(one)) for one in commands])
        if others := self._plugins():
            with formatter.section(OTHERS):
                # What such a command does is known once it is loaded, for ``kinelo NAME --help``.
                rows = [
                    (name.ljust(width), f"A command of {package_of(point)}; kinelo {point.name} --help says more.")
                    for name, point in others.items()
                ]
                formatter.write_dl(rows)


def _sentence(command: Callable[..., Any]) -> str:
    """The first sentence that a command says of itself."""
    return " ".join(inspect.cleandoc(command.__doc__ or "").split("\n\n")[0].split())


def warn_of_plugins() -> None:
    """Say which raters and commands of other packages are left out, and why."""
    from kinelo.raters.choice import TAKEN

    warn_of_plugins_left_out("kinelo.raters", TAKEN)
    warn_of_plugins_left_out("kinelo.commands", tuple(one.__name__ for group in GROUPS.values() for one in group))


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


for commands in GROUPS.values():
    for command in commands:
        app.command(cls=Command)(command)
