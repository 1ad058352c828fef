"""The microscopic model as a generator of states, and the function that drains it into a dataset.

Time is counted in candidate matches: a pair is drawn, and plays with probability w. ``time`` in the dataset is
``t = 2τ/N``, candidate matches per team; the kinetic equation's time is ``γ t``. Where k teams meet at once, a match is
a contest and ``t = kτ/N``.

Realisations may be shared among the workers of a Dask client. The stream is keyed by (seed, realisation, match), so
that a worker plays realisations ``k … l − 1`` as they would be played among all of them; their states are put together
along the realisations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinelo._version import __version__
from kinelo.errors import InputError
from kinelo.micro.field import field_play
from kinelo.micro.league import MOST_LANES, Play, fresh_memory, record_now, way_of_playing
from kinelo.micro.plan import Records, SimulationState, check_plan, starting_state
from kinelo.micro.rounds import lane_groups, played_states
from kinelo.model.dynamics import Dynamics
from kinelo.model.steps import StepRule
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import one_line, whole
from kinelo.play.encoding import EncodedSystem, Motions, encode, is_moving
from kinelo.play.stream import realisation_keys
from kinelo.play.tables import LARGEST_TABLE
from kinelo.runtime.blas import one_blas_thread
from kinelo.runtime.device import DeviceName, choose_device, usable_processors
from kinelo.runtime.limits import check_memory
from kinelo.runtime.progress import Progress, progress_bar
from kinelo.runtime.workers import LOST, answers, check_client, pieces

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client

ANSWER_BYTES = 1 << 26
"""Bytes of ratings that one task hands back, unless a single state of one realisation has more."""

SOON = 1 << 29
"""Matches that one task plays where a run is stored as it goes."""


def spread_states(
    states: Callable[..., Iterator[SimulationState]],
    client: Client,
    system: RatingSystem,
    strengths: Strength,
    *,
    stops: Iterable[int],
    stored: bool = False,
    **plan: Any,
) -> Iterator[SimulationState]:
    """Yield what ``states``, the generator of one process, yields, to the last bit, from the workers.

    ``plan`` holds the other arguments of ``states``. ``stored``: every state comes with what it takes to continue it,
    and after few matches; otherwise the last one does.
    """
    check_client(client)
    realisations, matches_per_step = plan.pop("realisations"), plan["matches_per_step"]
    state = starting_state(strengths, plan.pop("start", None), realisations)
    plan["threads"] = plan.get("threads") or 1
    size = 8 * (strengths.teams + 1)
    parts = pieces(realisations, client, MOST_LANES, max(1, ANSWER_BYTES // (2 * size)))
    largest = len(parts[0])
    most = max(1, ANSWER_BYTES // (size * largest))
    reach = max(1, SOON // (matches_per_step * largest)) if stored else None
    for block in _blocks(stops, state.step, most, reach):
        items = [(part, _part(state, part), block) for part in parts]
        together = [_Whole(stop, realisations) for stop in block]
        for k, played in answers(client, _play_piece, items, states, system, strengths, plan, stored):
            if isinstance(played, InputError) and str(played) == LOST:
                raise InputError(f"Realisations {parts[k].start} to {parts[k].stop - 1} were lost: {LOST}")
            if isinstance(played, BaseException):
                raise played
            for ensemble, piece in zip(together, played, strict=True):
                ensemble.put(parts[k], piece)
        for ensemble in together:
            state = ensemble.state()
            yield state


def _play_piece(
    item: tuple[range, SimulationState, Sequence[int]],
    states: Callable[..., Iterator[SimulationState]],
    system: RatingSystem,
    strengths: Strength,
    plan: Mapping[str, Any],
    stored: bool,
) -> list[SimulationState]:
    """On a worker: some of the realisations, from a state to the stops."""
    which, start, stops = item
    needed = 8 * len(which) * (strengths.teams + 1) * (3 + 2 * len(stops))
    check_memory(needed, f"A part of {len(which):,} realisations on a worker", "give the workers more memory")
    played = list(states(system, strengths, stops=stops, realisations=which, start=start, **plan))
    return played if stored else [*(replace(state, memory={}) for state in played[:-1]), played[-1]]


def _blocks(stops: Iterable[int], begin: int, most: int, reach: int | None) -> Iterator[list[int]]:
    """Stops in groups of at most so many, each within so many steps of its beginning where that is possible."""
    block: list[int] = []
    for stop in chain(stops, [None]):
        full = block and (stop is None or len(block) == most or (reach is not None and stop - begin > reach))
        if full:
            yield block
            begin, block = block[-1], []
        if stop is not None:
            block.append(stop)


def _part(state: SimulationState, part: range) -> SimulationState:
    chosen = slice(part.start, part.stop)
    memory = {name: values[chosen] for name, values in state.memory.items()}
    return SimulationState(state.step, state.rating[chosen], state.played[chosen], memory)


class _Whole:
    """A state of all realisations, put together as its parts come in."""

    def __init__(self, step: int, realisations: int) -> None:
        self._step, self._realisations = step, realisations
        self._arrays: dict[tuple[str, str], NDArray] = {}

    def put(self, part: range, state: SimulationState) -> None:
        """Take over the realisations ``part``."""
        named = {("", "rating"): state.rating, ("", "played"): state.played}
        named |= {("memory", name): values for name, values in state.memory.items()}
        named |= {("record", name): values for name, values in state.record.items()}
        for name, values in named.items():
            if name not in self._arrays:
                self._arrays[name] = np.empty((self._realisations, *values.shape[1:]), values.dtype)
            self._arrays[name][part.start : part.stop] = values

    def state(self) -> SimulationState:
        """The state, once all parts are in."""
        kept = {kind: {n: v for (k, n), v in self._arrays.items() if k == kind} for kind in ("", "memory", "record")}
        return SimulationState(self._step, kept[""]["rating"], kept[""]["played"], kept["memory"], kept["record"])


Sampling = Literal["marginal", "literal"]

CALL = 1 << 25
"""Matches between two reports of progress."""


def simulation_states(
    system: RatingSystem,
    strengths: Strength,
    *,
    stops: Iterable[int],
    matches_per_step: int = 25,
    realisations: int | range = 1,
    seed: int = 1,
    start: ArrayLike | SimulationState | None = None,
    sampling: Sampling = "marginal",
    threads: int | None = None,
    device: DeviceName = "cpu",
    dynamics: Dynamics | Sequence[Dynamics] | None = None,
) -> Iterator[SimulationState]:
    """Yield the state at each step in ``stops``, in order.

    ``start`` may be ratings (one per team, or realisations × teams) or a state of an earlier run with the same
    arguments, which is then continued: the result is the same, to the last bit, as if it had never stopped.
    ``realisations`` may be a range of their numbers, to play only these.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> from kinelo.model.strength import Fixed
    >>> system, league = RatingSystem(Tanh(nu=0.5), gamma=0.05), Fixed([4.0, 7.0, 10.0])
    >>> first, last = simulation_states(system, league, stops=[10, 20], seed=1)
    >>> [again] = simulation_states(system, league, stops=[20], seed=1, start=first)
    >>> bool((again.rating == last.rating).all())
    True
    """
    checked_kinds(system, strengths)
    which = realisations if isinstance(realisations, range) else range(whole("realisations", realisations, 1))
    realisations = len(which)
    matches_per_step = whole("matches_per_step", matches_per_step, 1)
    state = starting_state(strengths, start, realisations)
    seed = whole("seed", seed, 0)
    if not hasattr(stops, "__iter__") or isinstance(stops, type) or getattr(stops, "shape", None) == ():
        raise InputError(f"stops must list steps, not {stops!r:.60}.")
    there = choose_device(device)
    keys = realisation_keys(seed, which)
    # A probability that differs in its last bit is another result once in a while.
    with one_blas_thread():
        encoded = encode(system, strengths, dynamics, literal=_is_literal(sampling))
        play = loop_of(system, strengths, encoded, keys, there)
    workers = min(usable_processors() if threads is None else whole("threads", threads, 1), realisations)
    groups = [slice(0, realisations)] if there == "gpu" else lane_groups(realisations, workers)
    state = replace(state, memory={**fresh_memory(encoded, state.rating), **state.memory})
    record = partial(record_now, encoded, system.sides, keys) if encoded.motion.moving else None
    yield from played_states(play, state, stops, matches_per_step, groups, workers, record)


def simulate(
    system: RatingSystem,
    strengths: Strength,
    *,
    steps: int,
    matches_per_step: int = 25,
    realisations: int = 1,
    seed: int = 1,
    start: ArrayLike | None = None,
    record_every: int | None = None,
    sampling: Sampling = "marginal",
    threads: int | None = None,
    device: DeviceName = "cpu",
    progress: Progress = False,
    dynamics: Dynamics | Sequence[Dynamics] | None = None,
    client: Client | None = None,
) -> xr.Dataset:
    """Simulate a league and return its ratings as ``rating(realisation, time, team)``.

    Parameters
    ----------
    system, strengths
        The rating system and the league.
    steps, matches_per_step
        Length of the run: ``steps × matches_per_step`` candidate matches in each realisation.
    realisations
        Independent repetitions; realisation k is the same however many are run.
    seed
        Names the random stream. The same seed gives the same bytes for any number of threads.
    start
        Initial ratings, one per team or realisations × teams; by default every team starts at the mean of θ.
    record_every
        Steps between recorded states; None records the start and the end.
    sampling
        "marginal" draws results from their exact probabilities; "literal" draws line-ups or performances first.
        Both have the same law. Leagues of more than 4096 teams and contests of more than two are always played
        literally.
    threads
        Number of threads; None uses every processor.
    device
        "cpu", "gpu", or "auto" for the GPU where there is one. Every device ends at the same bytes.
    progress
        True shows a progress bar; a function is called with a few words now and then.
    dynamics
        How strengths move: Learning, Form, Walk or Turnover, or one of the first three with a Turnover. The dataset
        then holds ``strength`` and ``age`` (matches since arrival) beside ratings; with DeviationSteps, ``deviation``
        too. Such leagues draw performances literally.
    client
        A ``dask.distributed.Client``, to split the realisations over its workers. The result is the same, to the last
        bit. ``threads`` (one, unless stated) and ``device`` are then those of each worker.

    Examples
    --------
    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
    >>> run = kn.simulate(system, kn.homogeneous(sigma=1.0, teams=20), steps=1000, seed=7)
    >>> run.rating.sizes["team"], round(float(run.rating.isel(time=-1).mean()), 9)
    (20, 7.0)
    """
    checked_kinds(system, strengths)
    records = Records(steps, record_every)
    matches_per_step, realisations = (
        whole("matches_per_step", matches_per_step, 1),
        whole("realisations", realisations, 1),
    )
    check_plan(
        teams=strengths.teams, records=records, matches_per_step=matches_per_step, realisations=realisations,
        kept=records.total,
    )  # fmt: skip
    stops = records.with_stops_between(max(1, CALL // (matches_per_step * realisations))) if progress else records
    parts = []
    states = states_of(
        client, system, strengths, stops=stops, matches_per_step=matches_per_step, realisations=realisations,
        seed=seed, start=start, sampling=sampling, threads=threads, device=device, dynamics=dynamics,
    )  # fmt: skip
    per_step = matches_per_step * realisations
    with progress_bar("Playing matches", records.steps * per_step, wanted=progress, unit="matches") as advance:
        for state in states:
            if state.step in records:
                parts.append(state)
            advance(state.step * per_step)
    description = {
        "matches_per_step": matches_per_step,
        "seed": int(seed),
        "sampling": "literal" if _always_literal(system, strengths, dynamics) else sampling,
        **({} if dynamics is None else {"dynamics": repr(dynamics)}),
    }
    return dataset_of(parts, system, strengths, description)


def states_of(client: Client | None, *args: Any, stored: bool = False, **plan: Any) -> Iterator[SimulationState]:
    """States as :func:`simulation_states` yields them, played here or by the workers of a client."""
    if client is None:
        return simulation_states(*args, **plan)
    from kinelo.micro.simulate import spread_states

    return spread_states(simulation_states, client, *args, stored=stored, **plan)


def dataset_of(
    states: Sequence[SimulationState], system: RatingSystem, strengths: Strength, description: dict[str, object]
) -> xr.Dataset:
    """Recorded states as a dataset with named axes and the provenance of the run in its attributes."""
    import pandas as pd
    import xarray as xr

    steps = np.array([state.step for state in states], dtype=np.int64)
    candidates = steps * int(str(description["matches_per_step"]))
    rating = np.stack([state.rating for state in states], axis=1)
    played = np.stack([state.played for state in states], axis=1)
    team = np.arange(strengths.teams) if strengths.names is None else np.array(strengths.names)
    variables = {
        "rating": (("realisation", "time", "team"), rating, {"long_name": "rating", "units": "rating points"}),
        "matches_played": (("realisation", "time"), played, {"long_name": "matches played in all"}),
        "theta": (("team",), strengths.theta, {"long_name": "mean strength", "units": "rating points"}),
        "sigma": (("team",), strengths.sigma, {"long_name": "standard deviation of strength"}),
        **_recorded(states),
    }
    coordinates = {
        "realisation": (("realisation",), np.arange(rating.shape[0]), {}),
        "time": (("time",), system.sides * candidates / strengths.teams, {"long_name": "candidate matches per team"}),
        "step": (("time",), steps, {}),
        "team": (("team",), team, {}),
    }

    # What is handed over as it is need not be compared with the arrays of Dask, whose import takes as long as NumPy's.
    def plain(named: dict[str, tuple[tuple[str, ...], NDArray, dict[str, str]]]) -> dict[str, xr.Variable]:
        return {name: xr.Variable(axes, values, words, fastpath=True) for name, (axes, values, words) in named.items()}

    def index(name: str) -> xr.Variable:
        axes, values, words = coordinates[name]
        return xr.IndexVariable(axes, pd.Index(values) if values.dtype.kind in "if" else values, words)

    return xr.Dataset(
        plain(variables),
        coords={**plain(coordinates), **{name: index(name) for name in ("realisation", "time", "team")}},
        attrs={
            "outcome": repr(system.outcome),
            "pairing": repr(system.pairing),
            "gamma": described_gamma(system),
            **({} if system.schedule is None else {"schedule": repr(system.schedule)}),
            "strengths": repr(strengths),
            "kinelo_version": __version__,
            **description,
        },
    )


def _recorded(states: Sequence[SimulationState]) -> dict[str, tuple[tuple[str, ...], NDArray, dict[str, str]]]:
    """Strength, deviation and age beside ratings, where they were recorded."""
    words = {"strength": "strength", "deviation": "deviation of the rating", "age": "matches played since arrival"}
    axes = ("realisation", "time", "team")
    return {
        name: (axes, np.stack([state.record[name] for state in states], axis=1), {"long_name": words[name]})
        for name in (states[0].record if states else ())
    }


def checked_kinds(system: object, strengths: object) -> None:
    """Refuse what is no system or no league."""
    if not isinstance(system, RatingSystem):
        raise InputError(f"system must be a RatingSystem, not {system!r}.")
    if not isinstance(strengths, Strength):
        raise InputError(f"strengths must be a league such as Normal or LineupLottery, not {one_line(strengths)}.")


def described_gamma(system: RatingSystem) -> float | list[float] | str:
    """γ as a run records it: a number, one per team, or the rule in words."""
    if isinstance(system.gamma, StepRule):
        return repr(system.gamma)
    return list(system.gamma) if isinstance(system.gamma, tuple) else float(np.asarray(system.gamma))


def _is_literal(sampling: str) -> bool:
    """Whether performances are to be drawn."""
    if not isinstance(sampling, str) or sampling not in ("marginal", "literal"):
        raise InputError(f'sampling must be "marginal" or "literal", not {sampling!r}.')
    return sampling == "literal"


def _always_literal(system: RatingSystem, strengths: Strength, dynamics: Motions) -> bool:
    """Whether performances are drawn whatever was asked for."""
    return strengths.teams > LARGEST_TABLE or system.sides > 2 or is_moving(system, dynamics)


def loop_of(
    system: RatingSystem, strengths: Strength, encoded: EncodedSystem, keys: NDArray[np.uint64], device: str
) -> Play:
    """The loop that plays a league on a device; ``keys`` are those of its realisations."""
    if device == "cpu" and system.sides > 2:
        return field_play(encoded, system.sides, strengths, keys)
    if device == "cpu":
        return way_of_playing(system, strengths, encoded, keys)
    if encoded.meeting.literal and strengths.code is None:
        raise InputError(
            'device = "gpu" draws performances of built-in laws of strength only; use device = "cpu" for literal '
            f"draws of {type(strengths).__name__}."
        )
    if system.sides > 2:
        from kinelo.micro.gpu.field import gpu_field_play

        return gpu_field_play(encoded, system.sides, keys)
    if system.plain and not encoded.motion.moving:
        from kinelo.micro.gpu.play import gpu_play

        return gpu_play(system, [encoded], keys)
    from kinelo.micro.gpu.general import gpu_general_play

    return gpu_general_play(system, encoded, keys)
