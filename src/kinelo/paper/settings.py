"""The settings of a figure's runs as a table: one row per run, only the columns in which there is something to say."""

from __future__ import annotations

from typing import Any

from kinelo.paper.figure import FigureStudy
from kinelo.studies.study import Study


def settings_of(figure: FigureStudy) -> list[list[str]]:
    """Header and rows.

    >>> from kinelo.paper.figure import read_figures
    >>> settings_of(read_figures(wanted=[4])[0])[0][:3]
    ['run', 'gamma', 'outcome.kind']
    """
    rows = {name: _flat(study) for name, study in figure.studies.items()}
    columns = list(dict.fromkeys(key for row in rows.values() for key in row))
    return [["run", *columns], *([name, *(row.get(key, "") for key in columns)] for name, row in rows.items())]


def _flat(study: Study) -> dict[str, str]:
    content = study.model_dump(mode="json", exclude_none=True, exclude={"title", "pairing"})
    flat: dict[str, str] = {}
    for key, value in content.items():
        for below, item in value.items() if isinstance(value, dict) else ((None, value),):
            flat[key if below is None else f"{key}.{below}"] = _text(item)
    return flat


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"
