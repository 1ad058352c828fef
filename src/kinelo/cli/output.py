"""What commands print and write: streams that cannot write every sign, notes, JSON, files and folders.

Files are checked before a command works: their endings, and that it reads none of them."""

from __future__ import annotations

import codecs
import glob
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import typer

from kinelo.errors import InputError
from kinelo.presentation import json_ready
from kinelo.runtime.extras import require

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

OF_EVERY_COMMAND = ("columns", "conditions", "covariates", "since", "as_of", "lineups", "noise_by", "start")
"""Arguments whose options not only ``kinelo read`` takes."""

ARGUMENT = re.compile(rf"\b({'|'.join(OPTIONS)})=(\{{[^{{}}]*\}}|\[[^\[\]]*\]|{QUOTED}|True\b)?(?![\w=])")


LISTED = re.compile(rf"(--[\w-]+ (?:{QUOTED}|[^\s,]+)), (?=--)")
"""Options that stand in one list, as arguments of one call do."""


SAID: set[str] = set()
"""Notes that a command has printed."""


TYPED: list[str] = []
"""A command and what stands behind it, as it was typed."""

GIVEN: set[str] = set()
"""Options and arguments that a command was given."""


def option_words(text: str) -> str:
    """What the library says, with options of a command in place of arguments of Python.

    >>> option_words("name it with columns={'home': 'club 1'}, or say accept_losses=True")
    "name it with --column 'home=club 1', or say --accept-losses"
    >>> option_words("columns={'contest': ['race', ...]} parts them; RankElo(noise_by=['track']) finds out")
    '--column contest=race --column contest=... parts them; --noise-by track finds out'
    >>> option_words("it is read with columns={'contest': 'game'}, best='highest', team='side'.")
    'it is read with --column contest=game --best highest --team side.'
    """
    text = re.sub(r"\b[A-Z]\w*\((\w+=\[[^\[\]]*\])\)", r"\1", text)
    for_read = TYPED[:1] not in ([], ["read"]) and any(
        one[1] not in OF_EVERY_COMMAND for one in ARGUMENT.finditer(text)
    )
    files = {word for word in TYPED if os.path.isfile(word)}
    of_read = iter([f"kinelo read {shlex.quote(files.pop()) if len(files) == 1 else 'FILE'} "] if for_read else [])

    def as_option(argument: re.Match[str]) -> str:
        option, value = f"--{OPTIONS[argument[1]]}", argument[2] or ""
        if argument[1] in ("aliases", "start") and value:
            return (
                f"{option} FILE"
                if argument[1] == "start"
                else f"{next(of_read, '')}{option} NAMES (see --write-aliases)"
            )
        pairs = re.findall(rf"({QUOTED}): (\[[^\]]*\]|{QUOTED}|\.\.\.)", value) if value[:1] == "{" else [("", value)]
        words = [
            f"{option} {shlex.quote((f'{key[1:-1]}=' if key else '') + (part if part == '...' else part[1:-1]))}"
            for key, values in pairs
            for part in re.findall(rf"{QUOTED}|\.\.\.", values)
        ]
        named = " ".join(words) or (f"{option} NAME=COLUMN" if value == "{...}" else option)
        return named if argument[1] in OF_EVERY_COMMAND and argument[1] != "columns" else next(of_read, "") + named

    return LISTED.sub(r"\1 ", ARGUMENT.sub(as_option, text))


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


PICTURE_FORMATS = ("png", "pdf", "svg")
WRITTEN = ("out", "board", "rejects", "picture", "check", "write_aliases")
"""Options that name a file to be written; every other path is read."""

NAMED_IN_WORDS = ("changeover", "to", "balance", "book")
"""Options of text that may name a file."""


PLAIN_NAMES = ("results", "matches", "games", "contests", "data")
"""Names of files that say nothing of the league in them."""


def league_name(results: Path) -> str:
    """What a page calls the league in a file: as the file, or as its folder where the file's own name says nothing.

    >>> league_name(Path("county_league/results.csv")), league_name(Path("club.csv")), league_name(Path("results.csv"))
    ('County league', 'Club', 'Results')
    """
    plain = results.stem.lower() in PLAIN_NAMES and results.parent.name
    name = (results.parent.name if plain else results.stem).replace("_", " ")
    return f"{name[:1].upper()}{name[1:]}"


def refuse_overwriting(given: Mapping[str, Any]) -> None:
    """Refuse arguments of which one is to be written where another is read or written.

    >>> refuse_overwriting({"out": Path("a.csv"), "rejects": Path("./a.csv")})
    Traceback (most recent call last):
    kinelo.errors.InputError: --out and --rejects both name a.csv; give each a file of its own.
    """
    written = [(name, path) for name, path in _paths(given) if name in WRITTEN]
    read = [(name, path) for name, path in _paths(given) if name not in WRITTEN]
    for k, (name, path) in enumerate(written):
        for other, before in written[:k]:
            if _same(path, before):
                raise InputError(
                    f"{_option(other)} and {_option(name)} both name {before}; give each a file of its own."
                )
        for source in (file for _, one in read for file in _files(one)):
            if _same(path, source):
                raise InputError(
                    f"{_option(name)} {path} would overwrite {source}, which is read; choose another name."
                )
            if path.is_file() and source.is_dir() and source.resolve() in path.resolve().parents:
                raise InputError(
                    f"{_option(name)} {path} would overwrite a file of {source}, which is read; choose another."
                )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _paths(given: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
    """Every path among the arguments of a command, with the name of its option."""
    for name, value in given.items():
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, Path) or (isinstance(one, str) and name in NAMED_IN_WORDS):
                yield name, Path(one)


def _files(path: Path) -> list[Path]:
    """The files that a path or a pattern of files names."""
    return [path] if path.exists() else [Path(name) for name in glob.glob(str(path))]


def _same(first: Path, second: Path) -> bool:
    """Whether two names lead to one file: by links of either kind, or, of a file yet to come, by where it will stand.

    What is no file, such as ``/dev/null``, may be named twice.
    """
    if first.exists() and second.exists():
        return (first.is_file() or first.is_dir()) and os.path.samefile(first, second)
    return first.resolve() == second.resolve()


def is_page(path: Path | None) -> TypeGuard[Path]:
    """Whether the name ends as that of a page does.

    >>> is_page(Path("Ratings.HTML")), is_page(Path("ratings.csv")), is_page(None)
    (True, False, False)
    """
    return path is not None and path.suffix.lower() in (".html", ".htm")


def page_name(path: Path | None) -> Path | None:
    """Return the name of a page, checked before the work that it shows.

    >>> page_name(Path("audit.pdf"))
    Traceback (most recent call last):
    kinelo.errors.InputError: The name of a page ends in .html, not as audit.pdf does.
    """
    if path is not None and not is_page(path):
        raise InputError(f"The name of a page ends in .html, not as {path} does.")
    return path


def picture_name(path: Path | None) -> Path | None:
    """Return the name if its ending says a format that can be drawn, and pictures can be drawn at all.

    >>> picture_name(Path("map.xyz"))
    Traceback (most recent call last):
    kinelo.errors.InputError: A picture's name ends in .png, .pdf or .svg, not as map.xyz does.
    """
    if path is not None and path.suffix.lower().lstrip(".") not in PICTURE_FORMATS:
        raise InputError(f"A picture's name ends in .png, .pdf or .svg, not as {path} does.")
    if path is not None:
        require("matplotlib")
    return path


@contextmanager
def result_folder(out: Path, *, resume: bool | None = None) -> Iterator[Path]:
    """Give a new folder to work in, or an interrupted one to continue; after Ctrl-C, say how to go on.

    A folder that holds something is refused unless ``resume`` is set; one that holds nothing is removed again when
    the work fails before it has written anything. ``resume`` is None for commands that write only at their end.
    """
    from kinelo.errors import InputError
    from kinelo.results.disk import disk_errors_in_words
    from kinelo.results.layout import refuse_existing

    if not resume:
        if resume is not None and any((out / store / "manifest.json").exists() for store in ("run", "sweep")):
            raise InputError(f"{out} already holds a run: add --resume to continue it, or choose another --out.")
        refuse_existing(out)
    elif not out.is_dir():
        raise InputError(f"There is nothing to resume: {out} is not a folder.")
    with disk_errors_in_words(out):
        existed = out.exists()
        out.mkdir(parents=True, exist_ok=True)
        try:
            yield out
        except KeyboardInterrupt:
            contents = (
                "Nothing was written."
                if resume is None
                else f"What was computed is kept in {out}: go on with --resume."
            )
            typer.echo(f"Stopped. {contents}", err=True)
            raise typer.Exit(130) from None
        finally:
            if not existed and not any(out.iterdir()):
                out.rmdir()
