"""A figure as a declaration: the runs it needs, at full and at quick scale, and the function that draws it.

A figure file is TOML: ``figure``, ``title``, ``caption``, ``draw``, a ``[study]`` table with what all its runs share
(written as in a study file), ``[[run]]`` tables with a ``name`` and what differs, ``[parameters]`` for the drawing,
and ``[quick]`` with what changes at quick scale (``[quick.study]``, ``[quick.parameters]``). What a run says for itself
holds at both scales. ``{steps}`` and ``{realisations}`` in a caption stand for those of its first simulation.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kinelo.errors import InputError
from kinelo.paper.catalogue import study_texts
from kinelo.studies.study import Study, parse_study

Scale = Literal["full", "quick"]

_KEYS = {"figure", "title", "caption", "draw", "study", "run", "parameters", "quick"}


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

    @property
    def name(self) -> str:
        """Stem of the figure's files."""
        return f"figure-{self.number:02d}"


def read_figures(
    folder: Path | None = None, scale: Scale = "full", wanted: Sequence[int] = (), what: str = "paper"
) -> list[FigureStudy]:
    """Read every figure file of ``folder`` (default: those that come with Kinelo), in the order of their numbers.

    >>> [figure.number for figure in read_figures(wanted=[4, 2])]
    [2, 4]
    """
    figures = sorted((_parse(source, text, scale) for source, text in _texts(folder, what)), key=lambda one: one.number)
    numbers = [figure.number for figure in figures]
    if len(set(numbers)) < len(numbers):
        twice = next(number for number in numbers if numbers.count(number) > 1)
        raise InputError(f"Two figure files have the number {twice}.")
    unknown = [number for number in wanted if number not in numbers]
    if unknown:
        raise InputError(f"There is no figure {unknown[0]}; the figures are {', '.join(map(str, numbers))}.")
    return [figure for figure in figures if not wanted or figure.number in wanted]


def _texts(folder: Path | None, what: str) -> Iterator[tuple[str, str]]:
    if folder is None:
        yield from ((f"{name}.toml", text) for name, text in study_texts(what))
        return
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder} with figure files (TOML).")
    for entry in folder.iterdir():
        if entry.name.endswith(".toml"):
            yield entry.name, entry.read_text(encoding="utf-8")


def _parse(source: str, text: str, scale: Scale) -> FigureStudy:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source} is not valid TOML: {error}.") from None
    unknown = sorted(set(content) - _KEYS)
    if unknown:
        raise InputError(f"{source}: unknown key {unknown[0]!r}; accepted here: {', '.join(sorted(_KEYS))}.")
    missing = [key for key in ("figure", "title", "draw") if key not in content]
    if missing:
        raise InputError(f"{source}: the key {missing[0]!r} is missing.")
    quick = content.get("quick", {}) if scale == "quick" else {}
    parameters = merged(content.get("parameters", {}), quick.get("parameters", {}))
    studies = {}
    for run in content.get("run", []):
        name = run.pop("name", None)
        if not isinstance(name, str) or name in studies:
            raise InputError(f"{source}: every [[run]] needs a name of its own, not {name!r}.")
        plan = merged(merged(content.get("study", {}), quick.get("study", {})), run)
        studies[name] = parse_study(plan, f"{source}, run {name!r}")
    caption = fill_caption(content.get("caption", ""), studies)
    return FigureStudy(content["figure"], content["title"], caption, content["draw"], studies, parameters, source)


def fill_caption(caption: str, studies: Mapping[str, Study]) -> str:
    """The caption with ``{steps}`` and ``{realisations}`` of the first simulation in their places.

    >>> fill_caption("Without a run", {})
    'Without a run'
    """
    plan = next((study.simulate for study in studies.values() if study.simulate is not None), None)
    if plan is None:
        return caption
    return caption.replace("{steps}", _count(plan.steps)).replace("{realisations}", str(plan.realisations))


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
