"""The ``[sweep]`` section of a study file: keys of the study, dotted, each with the values it is to take.

``compute`` says what is computed at each point ("simulate", "solve" or "stationary"); ``points`` is a list of tables in
place of a grid. All other keys are axes: ``outcome.nu = [0.25, 0.5]``. What a sweep would take is checked before its
first point.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from kinelo.errors import InputError
from kinelo.results.disk import check_space
from kinelo.runtime.device import DeviceName, choose_device
from kinelo.runtime.limits import check_time
from kinelo.runtime.progress import Advance
from kinelo.runtime.reading import read_text
from kinelo.studies.plan import run_bytes, run_seconds
from kinelo.studies.study import Study, parse_study, read_study, required
from kinelo.sweeps.axes import Axes, axes_of, changed
from kinelo.sweeps.study_points import WAYS, StudyPoints
from kinelo.sweeps.sweep import Storage, run_sweep

if TYPE_CHECKING:
    from distributed import Client

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


COMPUTE_KEY, POINTS_KEY = "compute", "points"


def run_study_sweep(
    path: Path | str,
    out: Path | str | None = None,
    *,
    client: Client | None = None,
    retry: bool = False,
    advance: Advance = lambda done: None,
    device: DeviceName = "cpu",
    allow_code: bool = False,
) -> xr.Dataset:
    """Carry out the sweep of a study file; see :func:`kinelo.sweep`. Every device ends at the same bytes.

    With ``allow_code`` the file may name laws of the user's own, whose module is imported.
    """
    content, axes, compute = read_sweep(path, allow_code=allow_code)
    check_sweep(content, axes, compute, out, allow_code=allow_code)
    inputs = {"study": content, "compute": compute, "over": axes.describe()}
    attributes = {"title": content.get("title", ""), "compute": compute}
    if compute != "simulate" and device != "cpu":
        raise InputError(f'Sweeps that compute "{compute}" run on the processor; device is for "simulate".')
    # A worker has one processor; in this process a run may use all, and ends at the same bytes.
    threads, device = (1, device) if client is not None else (None, choose_device(device))
    function = StudyPoints(content, compute, threads, device, allow_code, Path(path).parent.resolve())
    return run_sweep(function, axes, inputs, attributes, storage=Storage(out, retry), client=client, advance=advance)


def read_sweep(path: Path | str, *, allow_code: bool = False) -> tuple[dict[str, Any], Axes, str]:
    """The study without its sweep, the axes, and what is to be computed; keys that no study has are refused."""
    study = read_study(path, allow_code=allow_code)
    section = dict(required("sweep", study.sweep))
    content = tomllib.loads(read_text(Path(path), "study file"))
    del content["sweep"]
    compute = section.pop(COMPUTE_KEY, _default(study))
    if compute not in WAYS:
        raise InputError(f"{path}: sweep.compute must be one of {', '.join(WAYS)}, not {compute!r}.")
    points = section.pop(POINTS_KEY, None)
    if points is not None and section:
        raise InputError(f"{path}: [sweep] takes points or axes; {next(iter(section))!r} stands beside points.")
    try:
        if points is not None and not (isinstance(points, list) and all(isinstance(one, dict) for one in points)):
            raise InputError("points must be a list of tables.")
        axes = axes_of(dict(_leaves(section)) if points is None else [dict(_leaves(one)) for one in points])
    except InputError as error:
        raise InputError(f"{path}: [sweep] {error}") from None
    _check_keys(str(path), content, axes, allow_code)
    return content, axes, compute


def summary(table: xr.Dataset, axes: Axes) -> dict[str, Any]:
    """A sweep as plain values: every number that a point gave, or why it gave none; arrays stay in the dataset."""
    numbers = [str(name) for name in table.data_vars if table[name].dims == axes.dims]
    columns = {name: table[name].values.ravel().tolist() for name in numbers}
    arrays = {str(name): list(map(str, table[name].dims)) for name in table.data_vars if str(name) not in numbers}
    points = [
        {"settings": axes.point(k), **{name: _plain(values[k]) for name, values in columns.items()}}
        for k in range(len(axes))
    ]
    return {"title": table.attrs["title"], "compute": table.attrs["compute"], "points": points, "arrays": arrays}


def _plain(value: Any) -> Any:
    """JSON has no NaN; a point without a failure says nothing of one."""
    return None if value == "" or (isinstance(value, float) and not math.isfinite(value)) else value


def _default(study: Study) -> str:
    if study.simulate is not None:
        return "simulate"
    return "stationary" if study.solve is None else "solve"


def _leaves(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = f"{before}.{key}" if before else key
        if isinstance(value, dict):
            yield from _leaves(value, name)
        else:
            yield name, value


def _check_keys(source: str, content: Mapping[str, Any], axes: Axes, allow_code: bool) -> None:
    """Refuse an axis no value of which makes a study, before anything runs."""
    first = axes.point(0)
    for name, values in axes.values.items():
        error: InputError | None = None
        for value in values:
            try:
                parse_study(changed(content, {**first, name: value}), source, allow_code=allow_code)
            except InputError as found:
                error = error or found
            else:
                break
        else:
            if error is not None:
                raise error
