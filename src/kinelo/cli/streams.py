"""Standard output and error as they are found: closed, or unable to write more than ASCII.

What was computed is printed all the same: signs that a stream cannot write are written out.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import shlex
import sys
from typing import TYPE_CHECKING, Any

import typer

from kinelo.presentation import json_ready

if TYPE_CHECKING:
    from rich.console import Console

HANDLER = "kinelo.written_out"
COMMANDS = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
WRITTEN_OUT = {
    "±": "+-", "−": "-", "–": "-", "—": "-", "…": "...", "½": "1/2", "²": "^2", "°": " deg", "×": "x", "·": "*",
    "≤": "<=", "≥": ">=", "→": "->", "•": "*", "“": '"', "”": '"', "‘": "'", "’": "'", "α": "alpha", "β": "beta",
    "γ": "gamma", "θ": "theta", "κ": "kappa", "λ": "lambda", "ν": "nu", "σ": "sigma", "ρ": "rho",
    "\N{NO-BREAK SPACE}": " ",
}  # fmt: skip


QUOTED = r"'[^']*'|\"[^\"]*\""
OPTIONS = {
    "columns": "column", "endings": "ending", "slots": "slot", "advantages": "advantage", "conditions": "condition",
    "covariates": "covariate", "results": "scale", "since": "season-start",
} | {
    name: name.replace("_", "-")
    for name in (
        "aliases", "as_of", "accept_losses", "best", "dates", "disqualified", "drop_repeats", "lineups", "noise_by",
        "not_started", "ordered", "sheet", "start", "team", "unfinished",
    )
}  # fmt: skip
"""What options are called that stand for arguments of Python."""

ARGUMENT = re.compile(rf"\b({'|'.join(OPTIONS)})=(\{{[^{{}}]*\}}|\[[^\[\]]*\]|{QUOTED}|True\b)?(?![\w=])")


SAID: set[str] = set()
"""Notes that a command has printed."""


def option_words(text: str) -> str:
    """What the library says, with options of a command in place of arguments of Python.

    >>> option_words("name it with columns={'home': 'club 1'}, or say accept_losses=True")
    "name it with --column 'home=club 1', or say --accept-losses"
    >>> option_words("columns={'contest': ['race', ...]} parts them; RankElo(noise_by=['track']) finds out")
    '--column contest=race --column contest=... parts them; --noise-by track finds out'
    """
    text = re.sub(r"\b[A-Z]\w*\((\w+=\[[^\[\]]*\])\)", r"\1", text)
    return ARGUMENT.sub(_as_option, text)


def _as_option(found: re.Match[str]) -> str:
    option, value = f"--{OPTIONS[found[1]]}", found[2] or ""
    if found[1] in ("aliases", "start") and value:
        return f"{option} FILE" + (" (see --write-aliases)" if found[1] == "aliases" else "")
    pairs = re.findall(rf"({QUOTED}): (\[[^\]]*\]|{QUOTED}|\.\.\.)", value) if value[:1] == "{" else [("", value)]
    words = [
        f"{option} {shlex.quote((f'{key[1:-1]}=' if key else '') + (part if part == '...' else part[1:-1]))}"
        for key, values in pairs
        for part in re.findall(rf"{QUOTED}|\.\.\.", values)
    ]
    return " ".join(words) or (f"{option} NAME=COLUMN" if value == "{...}" else option)


def say_note(note: str) -> None:
    """Print a note on the error stream, each once a command."""
    if note not in SAID:
        SAID.add(note)
        typer.echo(f"note: {option_words(note)}", err=True)


def prepare_streams() -> None:
    """Let nothing that is printed end in an error of the stream it goes to."""
    codecs.register_error(HANDLER, _write_out)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started the program
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=HANDLER)


def _write_out(error: UnicodeError) -> tuple[str, int]:
    """Signs that the encoding lacks in words; letters that have none as their number, as JSON writes them."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(
        WRITTEN_OUT.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in signs
    ), error.end


def console(*, stderr: bool = False) -> Console:
    """What tables and verdicts are printed with: text is shown as it is, and nothing in it commands the terminal."""
    from rich.console import Console

    class Terminal(Console):
        def render_str(self, text: str, **options: Any) -> Any:
            return super().render_str(visible(text), **options)

    return Terminal(stderr=stderr, markup=False, emoji=False)


def visible(text: str) -> str:
    """Text without sequences that command a terminal.

    >>> visible("\\x1b[31mAjax\\x1b[0m")
    'Ajax'
    """
    return text if text.isprintable() else COMMANDS.sub("", text)


def echo_json(content: Any, indent: int | None = None) -> None:
    """Print JSON that every reader takes: no NaN, and names in full where the output can write them."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    typer.echo(json.dumps(json_ready(content), indent=indent, default=str, ensure_ascii=encoding != "utf8"))
