"""The ``[sweep]`` section of a study file: keys of the study, dotted, each with the values it is to take.

``compute`` says what is computed at each point ("simulate", "solve" or "stationary"); ``points`` is a list of tables in
place of a grid. All other keys are axes: ``outcome.nu = [0.25, 0.5]``. What a sweep would take is checked before its
first point.

Points are computed one by one, or many simulations at once where they differ in numbers only.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from kinelo.errors import InputError
from kinelo.model.law import fingerprint
from kinelo.results.disk import check_space
from kinelo.runtime.device import DeviceName, choose_device
from kinelo.runtime.limits import check_time
from kinelo.runtime.progress import Advance
from kinelo.runtime.reading import read_text
from kinelo.studies.plan import run_bytes, run_seconds
from kinelo.studies.study import Study, parse_study, read_study, required
from kinelo.sweeps.axes import Axes, axes_of, changed
from kinelo.sweeps.point import Line
from kinelo.sweeps.sweep import Storage, run_sweep

if TYPE_CHECKING:
    from distributed import Client


POINT_UNITS = "rating points"


@dataclass(frozen=True)
class StudyPoints:
    """A function of settings of a study; called once for a point, or by :meth:`compute_batch` for a batch of them."""

    content: Mapping[str, Any]
    compute: str
    threads: int | None = None
    device: DeviceName = "cpu"
    allow_code: bool = False
    folder: Path | None = None

    def __call__(self, **settings: Any) -> xr.Dataset:
        """Compute one point: a run, what a solution ends with, or the stationary map."""
        study = self._study(settings)
        if self.compute == "simulate":
            from kinelo.micro.simulate import simulate

            plan = required("simulate", study.simulate).model_dump() | {"start": _start(study)}
            how = {"threads": self.threads, "device": self.device, "dynamics": study.motion}
            return _by_step(_with_distance(simulate(study.system, study.strengths, **plan, **how), study), settings)
        if self.compute == "solve":
            from kinelo.macro.solve import solve

            plan = required("solve", study.solve).model_dump()
            run = solve(study.system, study.teams, **plan, threads=self.threads or 1)
            names = ("energy", "mean_rating", "second_moment", "stationary_distance", "mass")
            last = {name: run[name].isel(series_time=-1, drop=True) for name in names}
            ended = ((), float(run.series_time[-1]), run.series_time.attrs)
            given_theta = run.rating_given_theta.isel(time=-1, drop=True)
            return xr.Dataset({**last, "rating_given_theta": given_theta, "ended_at": ended})
        from kinelo.theory.limit import stationary

        rating, theta = stationary(study.system, study.strengths).rating, study.strengths.theta
        return xr.Dataset(
            {
                "rating": ("team", rating, {"long_name": "stationary rating", "units": POINT_UNITS}),
                "theta": ("team", theta, {"long_name": "mean strength", "units": POINT_UNITS}),
                "distance": _distance(rating, theta),
            }
        )

    def compute_batch(self, points: Sequence[Mapping[str, Any]]) -> list[xr.Dataset]:
        """What each point gives by itself, to the last bit; they must be one of :meth:`batches`."""
        from kinelo.micro.sweep_points import Setting, simulate_points

        studies = [self._study(settings) for settings in points]
        leagues = [Setting(study.system, study.strengths, _start(study)) for study in studies]
        plan = required("simulate", studies[0].simulate).model_dump(exclude={"start", "sampling"})
        runs = simulate_points(leagues, **plan, threads=self.threads, device=self.device)
        found = [_with_distance(run, study) for run, study in zip(runs, studies, strict=True)]
        return [_by_step(run, settings) for run, settings in zip(found, points, strict=True)]

    def batches(self, points: Line, workers: int) -> list[Line]:
        """Points in lines, each to be computed together; lines of one point where that is not possible.

        Which points make a batch changes no result. Those of one table stand side by side; each worker gets some.
        """
        if self.compute != "simulate":
            return [[point] for point in points]
        from kinelo.micro.sweep_points import LEAST_POINTS_TOGETHER

        lines: list[Line] = []
        batch_of: dict[str, dict[str | None, list[Any]]] = {}
        room: dict[str, dict[bool, int]] = {}
        for point in points:
            try:
                study = self._study(point[1])
                kind = _kind(study)
                if kind is not None and kind not in room:
                    room[kind] = {shared: self._most(study, shared) for shared in (True, False)}
            except Exception:  # this point will say so itself
                lines.append([point])
                continue
            if kind is None:
                lines.append([point])
            else:
                table = fingerprint(study.system.outcome, study.strengths)
                batch_of.setdefault(kind, {}).setdefault(table, []).append(point)
        for kind, tables in batch_of.items():
            group = [point for same in tables.values() for point in same]
            most = min(room[kind][len(tables) == 1], -(-len(points) // workers))
            if min(most, len(group)) < LEAST_POINTS_TOGETHER:
                lines += [[point] for point in group]
            else:
                size = -(-len(group) // -(-len(group) // most))
                size = min(most, size + -size % LEAST_POINTS_TOGETHER)  # full vectors are faster
                lines += [group[k : k + size] for k in range(0, len(group), size)]
        return sorted(lines, key=lambda line: line[0][0])

    def _study(self, settings: Mapping[str, Any]) -> Study:
        return parse_study(changed(self.content, settings), allow_code=self.allow_code, folder=self.folder)

    def _most(self, study: Study, shared: bool) -> int:
        """How many points like this one go together; ``shared`` if all have one table of results."""
        from kinelo.micro.simulate import Records
        from kinelo.micro.sweep_points import most_points

        plan = required("simulate", study.simulate)
        records, matches = Records(plan.steps, plan.record_every), plan.steps * plan.matches_per_step
        return most_points(
            study.strengths.teams, records, matches, plan.realisations, self.threads, self.device, shared
        )


def _kind(study: Study) -> str | None:
    """What points that are played together have in common; None for a point that is played by itself."""
    from kinelo.micro.sweep_points import common_kind

    plan = required("simulate", study.simulate)
    kind = common_kind(study.system, study.strengths)
    if kind is None or study.motion is not None or plan.sampling != "marginal":
        return None
    return json.dumps([kind, plan.model_dump(exclude={"start"})])


def _start(study: Study) -> np.ndarray | None:
    start = required("simulate", study.simulate).start
    return None if start is None else np.broadcast_to(start, np.shape(start) or study.strengths.teams)


def _by_step(run: xr.Dataset, settings: Mapping[str, Any]) -> xr.Dataset:
    """A run whose records are known by their step where the settings change how much time a step takes.

    Points of a sweep share the labels of their dimensions. A contest of three takes half as much time again as a match:
    the time of each record then stands beside its step, for each point by itself.
    """
    moves_time = any(name.startswith("schedule.") or name == "simulate.matches_per_step" for name in settings)
    return run.swap_dims(time="step") if moves_time and {"time", "step"} <= set(run.coords) else run


def _with_distance(run: xr.Dataset, study: Study) -> xr.Dataset:
    return run.assign(distance=_distance(run.rating.values[:, -1], study.strengths.theta))


def _distance(rating: np.ndarray, theta: np.ndarray) -> tuple[tuple[()], float, dict[str, str]]:
    """Root mean square of ``R − θ``, both centred."""
    centred = rating - rating.mean(axis=-1, keepdims=True) - (theta - theta.mean())
    words = {"long_name": "mean distance of ratings from θ", "units": POINT_UNITS}
    return (), float(np.sqrt(np.mean(centred**2))), words


WAYS = ("simulate", "solve", "stationary")
"""What can be computed at a point."""


ASKED = 50
"""Points whose cost is asked, evenly spread over the sweep; the others cost what these do on average."""

SECONDS_PER_PAIR = 1e-9


def check_sweep(
    content: Mapping[str, Any], axes: Axes, compute: str, out: Path | str | None, *, allow_code: bool
) -> None:
    """Refuse a sweep that takes years, or more space than the disk has."""
    asked = {k * (len(axes) - 1) // max(min(len(axes), ASKED) - 1, 1) for k in range(min(len(axes), ASKED))}
    seconds = size = 0.0
    for index in asked:
        try:
            study = parse_study(changed(content, axes.point(index)), allow_code=allow_code)
        except InputError:
            continue  # this point will say so itself, and stop no other
        # A point stands on the disk alone, and once more among all.
        if compute == "stationary":
            teams = study.strengths.teams
            seconds, size = seconds + SECONDS_PER_PAIR * teams**2, size + 2 * 16.0 * teams
        else:
            seconds += run_seconds(study)
            size += 2 * run_bytes(study) if compute == "simulate" else 0.0
    what, remedy = f"A sweep of {len(axes):,} points", "use fewer points or smaller runs"
    check_time(seconds * len(axes) / len(asked), what, remedy)
    if out is not None:
        check_space(Path(out), size * len(axes) / len(asked), what, remedy)


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
    return run_sweep(function, axes, inputs, attributes, None, Storage(out, retry), client, advance)


def read_sweep(path: Path | str, *, allow_code: bool = False) -> tuple[dict[str, Any], Axes, str]:
    """The study without its sweep, the axes, and what is to be computed; keys that no study has are refused."""
    study = read_study(path, allow_code=allow_code)
    section = dict(required("sweep", study.sweep))
    content = tomllib.loads(read_text(Path(path), "study file"))
    del content["sweep"]
    usual = "simulate" if study.simulate is not None else "stationary" if study.solve is None else "solve"
    compute = section.pop(COMPUTE_KEY, usual)
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
    # An axis no value of which makes a study is refused before anything runs.
    first = axes.point(0)
    for name, values in axes.values.items():
        refusal: InputError | None = None
        for value in values:
            try:
                parse_study(changed(content, {**first, name: value}), str(path), allow_code=allow_code)
                break
            except InputError as error:
                refusal = refusal or error
        else:
            if refusal is not None:
                raise refusal
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


def _leaves(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = f"{before}.{key}" if before else key
        if isinstance(value, dict):
            yield from _leaves(value, name)
        else:
            yield name, value
