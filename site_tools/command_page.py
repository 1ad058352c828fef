"""Every command with its options, from the commands themselves."""

import enum
import inspect
import pathlib
import types
import typing
from collections.abc import Callable
from typing import Any, get_args, get_origin

from typer.models import ArgumentInfo

from kinelo.cli.commands import commands_by_name

HEAD = """# Commands

`kinelo` (or `python -m kinelo`) is one program with a command for each task. `kinelo COMMAND --help` shows what stands
here. Exit code 0 means done, 2 that something you gave cannot be used (one sentence says what), 130 that Ctrl-C
ended it.
"""

WORDS = {int: "NUMBER", float: "NUMBER", str: "TEXT", pathlib.Path: "PATH", bool: ""}


def page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for name, function in commands_by_name().items():
        text = "\n\n".join(" ".join(part.split()) for part in (inspect.getdoc(function) or "").split("\n\n"))
        parts.append(f"## kinelo {name}\n\n{escaped(text)}")
        rows = [row(parameter) for parameter in parameters(function)]
        if rows:
            parts.append("\n".join(["| argument or option | meaning | default |", "|---|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any, Any]]:
    """Name, type, what is declared to Typer, and default of each parameter that users see."""
    hints = typing.get_type_hints(function, include_extras=True)
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        kind, declared = get_args(hints[name])[:2]
        if not declared.hidden:
            found.append((name, kind, declared, parameter.default))
    return found


def row(parameter: tuple[str, Any, Any, Any]) -> str:
    """One line of a command's table."""
    name, kind, declared, default = parameter
    meaning, (value, choices) = escaped(declared.help or ""), value_of(kind)
    if isinstance(declared, ArgumentInfo):
        shown = f"`{name.upper()}`"
    else:
        # Typer keeps the first name that an annotation gives in the place of the default.
        flags = [declared.default, *(declared.param_decls or ())]
        names = [each for each in flags if isinstance(each, str) and each.startswith("-")] or [
            f"--{name.replace('_', '-')}"
        ]
        shown = ", ".join(f"`{each}`" for each in names) + (f" `{value}`" if value else "")
    if choices:
        meaning += f" One of {choices}."
    if declared.min is not None:
        meaning += f" At least {declared.min:g}."
    if declared.max is not None:
        meaning += f" At most {declared.max:g}."
    if default is inspect.Parameter.empty:
        default = "required"
    elif default in (None, False):
        default = ""
    else:
        default = f"`{default.value if isinstance(default, enum.Enum) else default}`"
    return f"| {shown} | {meaning} | {default} |"


def value_of(kind: Any) -> tuple[str, str]:
    """What is written after an option, and the choices there are."""
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind.__name__.upper(), ", ".join(f"`{each.value}`" for each in kind)
    if get_origin(kind) in (list, typing.Union, types.UnionType):
        [inner] = [part for part in get_args(kind) if part is not type(None)]
        return value_of(inner)
    return WORDS[kind], ""


def escaped(text: str) -> str:
    """Text that may stand in a table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
