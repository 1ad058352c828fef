"""A figure as a declaration: the runs it needs, at full and at quick scale, and the function that draws it.

A figure file is TOML: ``figure``, ``title``, ``caption``, ``printed`` (the paper's own caption), ``draw``, a
``[study]`` table with what all its runs share (written as in a study file), ``[[run]]`` tables with a ``name`` and what
differs, ``[parameters]`` for the drawing, and ``[quick]`` with what changes at quick scale (``[quick.study]``,
``[quick.parameters]``). What a run says for itself holds at both scales. Title and caption are filled from the study:
``{outcome.nu}`` stands for that setting of its first run that has one, ``{nu}`` for a parameter, ``{steps}`` and
``{realisations}`` for those of its first simulation, ``{cell}`` for the width of its cells.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kinelo.errors import InputError
from kinelo.paper.catalogue import study_texts
from kinelo.runtime.reading import read_text
from kinelo.studies.study import Study, parse_study

Scale = Literal["full", "quick"]

_KEYS = {"figure", "title", "caption", "printed", "draw", "study", "run", "parameters", "quick"}


@dataclass(frozen=True)
class FigureStudy:
    """One figure at one scale: its studies by name, and the parameters of its drawing."""

    number: int
    title: str
    caption: str
    draw: str
    studies: Mapping[str, Study]
    parameters: Mapping[str, Any]
    source: str
    printed: str = ""

    @property
    def name(self) -> str:
        """Stem of the figure's files."""
        return f"figure-{self.number:02d}"


def read_figures(
    folder: Path | None = None,
    scale: Scale = "full",
    wanted: Sequence[int] = (),
    what: str = "paper",
    changes: Mapping[int, Mapping[str, Any]] | None = None,
    allow_code: bool = False,
) -> list[FigureStudy]:
    """Read every figure file of ``folder`` (default: those that come with Kinelo), in the order of their numbers.

    ``changes`` are tables ``study`` and ``parameters``, by the number of a figure, merged over those of the scale. With
    ``allow_code`` the files may name laws of the user's own.

    >>> [figure.number for figure in read_figures(wanted=[4, 2])]
    [2, 4]
    """
    if folder is None:
        texts = [(f"{name}.toml", text) for name, text in study_texts(what)]
    elif folder.is_dir():
        entries = [entry for entry in folder.iterdir() if entry.name.endswith(".toml")]
        texts = [(entry.name, read_text(entry, "figure file")) for entry in entries]
    else:
        raise InputError(f"There is no folder {folder} with figure files (TOML).")
    parsed = (_parse(source, text, scale, changes or {}, allow_code, folder) for source, text in texts)
    figures = sorted(parsed, key=lambda one: one.number)
    numbers = [figure.number for figure in figures]
    if len(set(numbers)) < len(numbers):
        twice = next(number for number in numbers if numbers.count(number) > 1)
        raise InputError(f"Two figure files have the number {twice}.")
    unknown = [number for number in wanted if number not in numbers]
    if unknown:
        raise InputError(f"There is no figure {unknown[0]}; the figures are {', '.join(map(str, numbers))}.")
    return [figure for figure in figures if not wanted or figure.number in wanted]


def _parse(
    source: str,
    text: str,
    scale: Scale,
    changes: Mapping[int, Mapping[str, Any]],
    allow_code: bool,
    folder: Path | None,
) -> FigureStudy:
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{source} is not valid TOML: {error}.") from None
    unknown = sorted(set(content) - _KEYS)
    if unknown:
        raise InputError(f"{source}: unknown key {unknown[0]!r}; accepted here: {', '.join(sorted(_KEYS))}.")
    missing = [key for key in ("figure", "title", "draw") if key not in content]
    if missing:
        raise InputError(f"{source}: the key {missing[0]!r} is missing.")
    quick = merged(content.get("quick", {}) if scale == "quick" else {}, changes.get(content["figure"], {}))
    parameters = merged(content.get("parameters", {}), quick.get("parameters", {}))
    studies = {}
    for run in content.get("run", []):
        name = run.pop("name", None)
        if not isinstance(name, str) or name in studies:
            raise InputError(f"{source}: every [[run]] needs a name of its own, not {name!r}.")
        plan = merged(merged(content.get("study", {}), quick.get("study", {})), run)
        studies[name] = parse_study(plan, f"{source}, run {name!r}", allow_code=allow_code, folder=folder)
    title, caption = (fill_caption(content.get(name, ""), studies, parameters) for name in ("title", "caption"))
    printed = content.get("printed", "")
    return FigureStudy(content["figure"], title, caption, content["draw"], studies, parameters, source, printed)


def fill_caption(caption: str, studies: Mapping[str, Study], parameters: Mapping[str, Any] | None = None) -> str:
    """The caption with settings of the runs, and parameters, in the places of their names in braces.

    >>> fill_caption("With ν = {nu}", {}, {"nu": 0.5})
    'With ν = 0.5'
    """
    known: dict[str, str] = {name: _setting(value) for name, value in (parameters or {}).items()}
    for study in reversed(list(studies.values())):
        known |= _settings(study)
    return re.sub(r"\{([\w.]+)\}", lambda found: known.get(found[1], found[0]), caption)


def _settings(study: Study) -> dict[str, str]:
    """Settings of a run by name, as a caption writes them."""
    settings: dict[str, str] = {}
    for section, content in study.model_dump(exclude_none=True, include=_IN_CAPTIONS).items():
        if not isinstance(content, Mapping):
            settings[section] = _setting(content)
            continue
        settings |= {f"{section}.{name}": _setting(value) for name, value in content.items()}
    if study.simulate is not None:
        settings |= {"steps": _count(study.simulate.steps), "realisations": str(study.simulate.realisations)}
    if study.population is not None:
        settings["cell"] = f"{study.teams.grid.r.width:.2g}"
    return settings


_IN_CAPTIONS = {"gamma", "outcome", "league", "population", "solve"}


def _setting(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        ends = value[:2] if len(value) == 3 else value  # the third number of an axis counts its cells
        return f"[{', '.join(map(_setting, ends))}]"
    return f"{value:g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _count(number: int) -> str:
    millions, rest = divmod(number, 1_000_000)
    if rest or not millions:
        return f"{number:,}"
    return "10⁶" if millions == 1 else f"{millions}·10⁶"


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``changes``; tables are merged key by key.

    >>> merged({"league": {"kind": "r1", "seed": 1}}, {"league": {"seed": 2}})
    {'league': {'kind': 'r1', 'seed': 2}}
    """
    result = dict(base)
    for key, value in changes.items():
        below = result.get(key)
        result[key] = merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return result
