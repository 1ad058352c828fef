"""The list of commands, how help shows them, and commands of other packages, which load when asked for.

To add one: write a function beside its neighbours, with heavy imports inside, and name it under a heading here."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from kinelo._version import __version__
from kinelo.cli.audit import audit, backtest
from kinelo.cli.lab import lab, serve
from kinelo.cli.next import next, test
from kinelo.cli.options import FileOptions, OfContests, OfMatches
from kinelo.cli.output import GIVEN, SAID, TYPED, echo_json, option_words, refuse_overwriting
from kinelo.cli.predict import predict
from kinelo.cli.questions import why
from kinelo.cli.rate import book, rate, sample
from kinelo.cli.read import answer_to, read
from kinelo.cli.season import season
from kinelo.cli.study import design, diagnose, reproduce, simulate, solve, sweep
from kinelo.errors import InputError, in_one_line
from kinelo.runtime.plugins import described, load_plugin, package_of, plugins

VERBS = {"study": (simulate, solve, sweep, diagnose, design)}
"""Commands that take a verb, and the functions of these verbs."""

STUDY_HELP = """Play, solve or judge the model that a study file (TOML) describes: one file, one verb each.

Example:  kinelo study simulate studies/r2.toml --out out/r2
Example:  kinelo study diagnose studies/r2.toml
"""
GROUPS: dict[str, tuple[Callable[..., Any] | str, ...]] = {
    "Rate a league": (sample, read, rate, book, serve),
    "Ask about ratings": (predict, why, season, next),
    "Judge a rating system": (backtest, audit, test),
    "Study a model": ("study", reproduce, lab),
}
"""Headings of the help, and the commands under each."""

MOVED = {
    "leaderboard": "kinelo rate FILE shows the leaderboard, of a book too; --by, --ranks and --caution are its options",
    "preview": "kinelo predict --preview --match 'HOME - AWAY' shows what everyone would gain or lose",
    "fair": "kinelo predict --fair COLUMN --match 'HOME - AWAY' finds the value of a covariate that makes a match even",
    "balance": "kinelo predict --balance 'ANN; BOB; CID; DEE' splits those who are there into even teams",
    "explain": "kinelo why MATCH and kinelo why --of NAME say why ratings moved",
    "knockout": "kinelo season RESULTS --knockout 'ANN; BOB; CID; DEE' plays a cup",
    "farming": "kinelo audit FILE --farming says who gained by choosing opponents",
    "changeover": "kinelo audit FILE --changeover OLD --to NEW lays two lists or systems side by side",
    "devices": "kinelo --devices lists what there is to compute on",
    **{one.__name__: f"kinelo study {one.__name__} FILE does it" for one in VERBS["study"]},
}
"""Commands of earlier versions, and where what they did is now; until 1.0."""

READ_ALONE = {
    f"--{one.name.replace('_', '-')}" for group in (FileOptions, OfMatches, OfContests) for one in fields(group)
}
"""Options of ``kinelo read``, which keeps their answers."""

OTHERS = "Of other packages"
EXAMPLE = "Example:"
VALUES = {"path": "PATH", "str": "TEXT", "int": "NUMBER", "float": "NUMBER"}
"""What an option takes, in words instead of types."""

WIDEST_OPTION = 28
"""Characters of an option beside which its words stand; those of a wider one stand below it."""


class Help:
    """Help of a command or of several verbs: what it does, and examples to copy."""

    help: str | None

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


class Command(Help, TyperCommand):
    """A command whose files are looked at before it begins, and whose help has headings and examples to copy."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Keep the words for commands that ask for more."""
        TYPED[:] = [str(ctx.info_name), *args]
        own = {name for one in self.params for name in one.opts}
        if "--column" in own:
            for word in (word.partition("=")[0] for word in args):
                if word in READ_ALONE and word not in own:
                    raise InputError(
                        f"{word} is an option of kinelo read, which keeps the answer beside the file for all commands: "
                        f"kinelo read FILE {word} …, then kinelo {ctx.info_name} without it."
                    )
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command unless it would overwrite what it reads."""
        refuse_overwriting(ctx.params)
        SAID.clear()
        GIVEN.clear()
        GIVEN.update(name for name in ctx.params if ctx.get_parameter_source(name).name == "COMMANDLINE")
        try:
            return super().invoke(ctx)
        except InputError as error:
            error.args = (option_words(str(error)),)
            words = [*TYPED, *answer_to(error)] if ctx.info_name == "read" else TYPED
            if len(words) == len(TYPED):
                raise
            return app(words)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Arguments in capital letters, without the braces that some versions of Typer put around them."""
        return [re.sub("[{}]", "", piece).upper() for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments, options of the command's own, and those of every group under its heading."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                argument = parameter.param_type_name == "argument"
                heading = "Arguments" if argument else getattr(parameter, "rich_help_panel", None) or "Options"
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


class Verbs(Help, TyperGroup):
    """A command with verbs."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs, each with its whole first sentence."""
        width = max(map(len, self.commands))
        with formatter.section("Verbs"):
            formatter.write_dl([(name.ljust(width), _sentence(one.help)) for name, one in self.commands.items()])


class Commands(TyperGroup):
    """Kinelo's commands, and those of installed packages, none of which is imported before it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands, Kinelo's first."""
        return [*self.commands, *self._plugins()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name; one of another package is loaded and checked now."""
        command = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in MOVED:
            raise InputError(f"There is no kinelo {cmd_name} any more: {MOVED[cmd_name]}.")
        point = None if command is not None else self._plugins().get(cmd_name)
        if point is None:
            return command
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
        return plugins("kinelo.commands", taken_names())

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands under their headings, each with its whole first sentence."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                names = [one if isinstance(one, str) else one.__name__ for one in commands]
                formatter.write_dl([(name.ljust(width), _sentence(self.commands[name].help)) for name in names])
        if others := self._plugins():
            with formatter.section(OTHERS):
                # What such a command does is known once it is loaded, for ``kinelo NAME --help``.
                rows = [
                    (name.ljust(width), f"A command of {package_of(point)}; kinelo {point.name} --help says more.")
                    for name, point in others.items()
                ]
                formatter.write_dl(rows)


def _sentence(words: str | None) -> str:
    """The first sentence that a command says of itself."""
    return " ".join(inspect.cleandoc(words or "").split("\n\n")[0].split())


def commands_by_name() -> dict[str, Callable[..., Any]]:
    """Every command, and every verb of one, as they are typed.

    >>> list(commands_by_name())[2], list(commands_by_name())[12]
    ('rate', 'study simulate')
    """
    named: dict[str, Callable[..., Any]] = {}
    for one in (one for group in GROUPS.values() for one in group):
        verbs = {f"{one} {verb.__name__}": verb for verb in VERBS[one]} if isinstance(one, str) else None
        named |= {one.__name__: one} if verbs is None else verbs  # type: ignore[union-attr]
    return named


def taken_names() -> tuple[str, ...]:
    """Names of commands, and those that commands had."""
    return *{name.split()[0] for name in commands_by_name()}, *MOVED


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


@app.callback(invoke_without_command=True)
def _kinelo(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
    devices: Annotated[
        bool,
        typer.Option(
            "--devices",
            help="List the processor and the graphics processor, and what one lacks to be used.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --devices: as JSON.")] = False,
) -> None:
    if devices:
        from kinelo.runtime.device import devices as found

        if as_json:
            echo_json([asdict(device) for device in found()])
        else:
            for device in found():
                typer.echo(str(device))
        raise typer.Exit
    if as_json:
        raise InputError("--json stands behind a command, or beside --devices.")
    if ctx.invoked_subcommand is None:
        ctx.fail("Missing command.")


for commands in GROUPS.values():
    for command in commands:
        if isinstance(command, str):
            several = typer.Typer(name=command, cls=Verbs, no_args_is_help=True, rich_markup_mode=None, help=STUDY_HELP)
            for verb in VERBS[command]:
                several.command(cls=Command)(verb)
            app.add_typer(several)
        else:
            app.command(cls=Command)(command)
