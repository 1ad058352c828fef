"""The controller that makes the reproduction of the paper for the Paper tab, in a worker process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kinelo.errors import InputError
from kinelo.paper.figure import read_figures
from kinelo.paper.folder import copy_studies, open_folder
from kinelo.paper.report import write_report
from kinelo.paper.reproduce import Progress, reproduce

REPORT_EVERY = 0.2


class PaperController:
    """Carries out what ``kinelo reproduce`` does; an interrupted one is continued."""

    def __init__(self, progress: Callable[[Any], None]) -> None:
        self._progress = progress
        self._told = 0.0

    def make(self, folder: str, scale: str) -> dict[str, Any]:
        """Make figures, claims and report."""
        if scale not in ("quick", "full"):
            raise InputError(f"scale must be quick or full, not {scale!r}.")
        place = open_folder(Path(folder), resume=True)
        figures = read_figures(None, scale)
        copy_studies(figures, place, None)
        write_report(reproduce(figures, place, scale=scale, watch=self._watch), place)
        return {}

    def _watch(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._told < REPORT_EVERY:
            return
        self._told = now
        self._progress(
            {
                "share": progress.done / progress.total if progress.total else 0.0,
                "label": progress.label,
                "figures_done": progress.figures_done,
                "figures": progress.figures,
            }
        )
