"""The controller that makes the reproduction of the paper, or one figure again, in a worker process."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kinelo.errors import InputError
from kinelo.lab.paper.small import draw_small, small_figure
from kinelo.paper.figure import read_figures
from kinelo.paper.folder import copy_studies, open_folder
from kinelo.paper.report import write_report
from kinelo.paper.reproduce import Progress, reproduce

REPORT_EVERY = 0.2


class PaperController:
    """Carries out what ``kinelo reproduce`` does; an interrupted one is continued."""

    def __init__(self, progress: Callable[[Any], None]) -> None:
        self._progress = progress
        self._reported = 0.0

    def make(self, folder: str, scale: str) -> dict[str, Any]:
        """Make figures, claims and report."""
        if scale not in ("quick", "full"):
            raise InputError(f"scale must be quick or full, not {scale!r}.")
        place = open_folder(Path(folder), resume=True)
        figures = read_figures(None, scale)
        copy_studies(figures, place, None)
        write_report(reproduce(figures, place, scale=scale, watch=self._watch), place)
        return {}

    def draw(self, number: int, values: dict[str, Any], folder: str) -> dict[str, Any]:
        """Run one figure again, small, for values of its sliders; its picture is left in ``folder``."""
        figure = small_figure(number, values)
        runs = Path(tempfile.mkdtemp(dir=folder))
        try:
            return draw_small(figure, runs, Path(folder, f"{figure.name}.png"), self._progress)
        finally:
            shutil.rmtree(runs, ignore_errors=True)

    def _watch(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._reported < REPORT_EVERY:
            return
        self._reported = now
        self._progress(
            {
                "share": progress.done / progress.total if progress.total else 0.0,
                "label": progress.label,
                "figures_done": progress.figures_done,
                "figures": progress.figures,
            }
        )
