"""The points of a study's sweep, computed one by one, or many simulations at once where they differ in numbers only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from kinelo.model.law import fingerprint
from kinelo.runtime.device import DeviceName
from kinelo.studies.study import Study, parse_study, required
from kinelo.sweeps.axes import changed
from kinelo.sweeps.point import Line

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
        """Compute one point."""
        return _by_step(WAYS[self.compute](self._study(settings), self), settings)

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
        from kinelo.micro.plan import Records
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


def _simulate(study: Study, how: StudyPoints) -> xr.Dataset:
    from kinelo.micro.simulate import simulate

    plan = required("simulate", study.simulate).model_dump() | {"start": _start(study), "dynamics": study.motion}
    run = simulate(study.system, study.strengths, **plan, threads=how.threads, device=how.device)
    return _with_distance(run, study)


def _solve(study: Study, how: StudyPoints) -> xr.Dataset:
    """What a solution ends with: its integrals, and the mean rating given θ."""
    from kinelo.macro.solve import solve

    plan = required("solve", study.solve).model_dump()
    run = solve(study.system, study.teams, **plan, threads=how.threads or 1)
    names = ("energy", "mean_rating", "second_moment", "stationary_distance", "mass")
    last = {name: run[name].isel(series_time=-1, drop=True) for name in names}
    ended = ((), float(run.series_time[-1]), run.series_time.attrs)
    return xr.Dataset(
        {**last, "rating_given_theta": run.rating_given_theta.isel(time=-1, drop=True), "ended_at": ended}
    )


def _stationary(study: Study, how: StudyPoints) -> xr.Dataset:
    from kinelo.theory.limit import stationary

    state = stationary(study.system, study.strengths)
    theta = study.strengths.theta
    return xr.Dataset(
        {
            "rating": ("team", state.rating, {"long_name": "stationary rating", "units": POINT_UNITS}),
            "theta": ("team", theta, {"long_name": "mean strength", "units": POINT_UNITS}),
            "distance": _distance(state.rating, theta),
        }
    )


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


WAYS = {"simulate": _simulate, "solve": _solve, "stationary": _stationary}
"""What can be computed at a point, by name."""
