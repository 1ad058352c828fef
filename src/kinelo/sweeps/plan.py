"""What the sweep of a study would take, said before its first point."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinelo.errors import InputError
from kinelo.results.disk import check_space
from kinelo.runtime.limits import check_time
from kinelo.studies.plan import run_bytes, run_seconds
from kinelo.studies.study import Study, parse_study
from kinelo.sweeps.axes import Axes
from kinelo.sweeps.change import changed

ASKED = 50
"""Points whose cost is asked, evenly spread over the sweep; the others cost what these do on average."""

SECONDS_PER_PAIR = 1e-9


def check_sweep(
    content: Mapping[str, Any], axes: Axes, compute: str, out: Path | str | None, *, allow_code: bool = False
) -> None:
    """Refuse a sweep that takes years, or more space than the disk has."""
    asked = sorted({k * (len(axes) - 1) // max(min(len(axes), ASKED) - 1, 1) for k in range(min(len(axes), ASKED))})
    seconds = size = 0.0
    for index in asked:
        try:
            study = parse_study(changed(content, axes.point(index)), allow_code=allow_code)
        except InputError:
            continue  # this point will say so itself, and stop no other
        one, space = _cost(study, compute)
        seconds, size = seconds + one, size + space
    what, remedy = f"A sweep of {len(axes):,} points", "use fewer points or smaller runs"
    check_time(seconds * len(axes) / len(asked), what, remedy)
    if out is not None:
        check_space(Path(out), size * len(axes) / len(asked), what, remedy)


def _cost(study: Study, compute: str) -> tuple[float, float]:
    """Seconds and bytes of one point; a point stands on the disk alone, and once more among all."""
    if compute == "stationary":
        teams = study.strengths.teams
        return SECONDS_PER_PAIR * teams**2, 2 * 16.0 * teams
    return run_seconds(study), 2 * (run_bytes(study) if compute == "simulate" else 0.0)
