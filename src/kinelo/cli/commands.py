"""The commands as a group: what help says of them, and commands of other packages, which load when asked for."""

from __future__ import annotations

import inspect
from typing import Any

import typer
from typer.core import TyperGroup

from kinelo.errors import InputError, in_one_line
from kinelo.runtime.plugins import described, load_plugin, package_of, plugins, warn_of_plugins_left_out

GROUPS = {
    "Rate a league": (
        "sample", "rate", "leaderboard", "predict", "backtest", "season", "knockout", "audit", "changeover", "book",
    ),
    "Study a model": ("diagnose", "design", "simulate", "solve", "sweep", "reproduce"),
    "Look": ("lab", "devices"),
}  # fmt: skip
"""Headings of the help, and the commands under each."""

OTHERS = "Of other packages"


class Commands(TyperGroup):
    """Kinelo's commands, and those of installed packages, none of which is imported before it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands, Kinelo's first."""
        return [*self.commands, *self._plugins()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name; one of another package is loaded and checked now."""
        own = super().get_command(ctx, cmd_name)
        point = None if own is not None else self._plugins().get(cmd_name)
        return own if point is None else _command(cmd_name, described(point), load_plugin(point))

    def _plugins(self) -> dict[str, Any]:
        return plugins("kinelo.commands", tuple(self.commands))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands under their headings, each with its whole first sentence."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, names in GROUPS.items():
            rows = [(name.ljust(width), _sentence(self.commands[name])) for name in names if name in self.commands]
            with formatter.section(heading):
                formatter.write_dl(rows)
        if others := self._plugins():
            with formatter.section(OTHERS):
                formatter.write_dl([(name.ljust(width), _of_plugin(point)) for name, point in others.items()])


def _sentence(command: Any) -> str:
    """The first sentence that a command says of itself."""
    return " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split())


def _of_plugin(point: Any) -> str:
    """Where a command comes from: what it does is known once it is loaded, for ``kinelo NAME --help``."""
    return f"A command of {package_of(point)}; kinelo {point.name} --help says more."


def _command(name: str, plugin: str, found: object) -> Any:
    """Build the command of a plug-in; what is none costs a sentence."""
    if not callable(found):
        raise InputError(f"{plugin} is no command: it is neither a function nor a typer.Typer.")
    try:
        alone = found if isinstance(found, typer.Typer) else typer.Typer(add_completion=False)
        if alone is not found:
            alone.command(name)(found)  # type: ignore[arg-type]
        built = typer.main.get_command(alone)
    except Exception as error:  # Typer refuses types that it cannot read from words, each with an error of its own
        raise InputError(f"{plugin} is no command: {in_one_line(error)}") from None
    built.name = name
    return built


def warn_of_plugins() -> None:
    """Say which raters and commands of other packages are left out, and why."""
    from kinelo.raters.choice import TAKEN

    warn_of_plugins_left_out("kinelo.raters", TAKEN)
    warn_of_plugins_left_out("kinelo.commands", tuple(name for names in GROUPS.values() for name in names))
