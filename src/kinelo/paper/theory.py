"""What a figure shows, from its finished runs and from theory, here or in a process of its own.

Theory is many small operations of Python, and so are runs between their calls of compiled code: in one process each
waits for the other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinelo.paper.aside import Aside, Failed, Unsent, serve
from kinelo.paper.catalogue import preparation

if TYPE_CHECKING:
    from kinelo.paper.figure import FigureStudy

Think = Callable[["FigureStudy", Path], Any]
"""``think(figure, folder)`` gives the evidence of a figure whose runs lie finished in the folder."""


def evidence_of(figure: FigureStudy, folder: Path) -> Any:
    """Compute the evidence in this process."""
    from kinelo.paper.runs import finished_run, has_run, run_folder

    data = {
        name: finished_run(study, run_folder(folder, figure, name, study))
        for name, study in figure.studies.items()
        if has_run(study)
    }
    return preparation(figure.draw, figure.source)(figure, data)


class Theory:
    """Computes evidence in a process of its own; what that cannot read, as laws of a user's own, in this one."""

    def __enter__(self) -> Theory:
        self._aside = Aside("kinelo.paper.theory", _answer).__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._aside.__exit__()

    def __call__(self, figure: FigureStudy, folder: Path) -> Any:
        """The evidence of a figure."""
        try:
            return self._aside.ask(figure, folder).result()
        except Unsent:
            return evidence_of(figure, folder)
        except Failed as failure:
            raise RuntimeError(f"The evidence of figure {figure.number} failed:\n{failure}") from None


def _answer(figure: FigureStudy, folder: Path) -> Any:
    from kinelo.runtime.blas import one_blas_thread

    with one_blas_thread():
        return evidence_of(figure, folder)


if __name__ == "__main__":
    serve(_answer, sys.stdin.buffer, sys.stdout.buffer)
