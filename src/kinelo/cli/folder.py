"""The folder a command writes its results to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer


@contextmanager
def result_folder(out: Path, *, resume: bool | None = None) -> Iterator[Path]:
    """Give a new folder to work in, or an interrupted one to continue; after Ctrl-C, say how to go on.

    A folder that holds something is refused unless ``resume`` is set; one that holds nothing is removed again when
    the work fails before it has written anything. ``resume`` is None for commands that write only at their end.
    """
    from kinelo.errors import InputError
    from kinelo.results.dataset import refuse_existing
    from kinelo.results.disk import disk_errors_in_words

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
            kept = (
                "Nothing was written."
                if resume is None
                else f"What was computed is kept in {out}: go on with --resume."
            )
            typer.echo(f"Stopped. {kept}", err=True)
            raise typer.Exit(130) from None
        finally:
            if not existed and not any(out.iterdir()):
                out.rmdir()
