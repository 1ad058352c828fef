"""The microscopic model as a generator of states, and the function that drains it into a dataset.

What a run will take is known before it begins: which steps are recorded, how much memory, how much time. It is played
in short calls of compiled code, so that it can be stopped between two of them.

Time is counted in candidate matches: a pair is drawn, and plays with probability w. ``time`` in the dataset is
``t = 2τ/N``, candidate matches per team; the kinetic equation's time is ``γ t``. Where k teams meet at once, a match is
a contest and ``t = kτ/N``.

Realisations may be shared among the workers of a Dask client. The stream is keyed by (seed, realisation, match), so
that a worker plays realisations ``k … l − 1`` as they would be played among all of them; their states are put together
along the realisations.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import merge
from itertools import chain, groupby, pairwise, takewhile
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinelo._version import __version__
from kinelo.errors import InputError
from kinelo.micro.field import field_play
from kinelo.micro.league import MOST_LANES, Play, fresh_memory, general_play, record_now, rounds_play, table_play
from kinelo.model.dynamics import Dynamics
from kinelo.model.steps import EACH, StepRule
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, finite_array, one_line, whole
from kinelo.play.encoding import LARGEST_TABLE, EncodedSystem, Motions, encode
from kinelo.play.stream import realisation_keys
from kinelo.play.users import USER, user_functions
from kinelo.presentation import counted
from kinelo.runtime.blas import one_blas_thread
from kinelo.runtime.device import DeviceName, choose_device, usable_processors
from kinelo.runtime.limits import LONG_RUN, LONGEST_RUN, check_memory, check_time
from kinelo.runtime.progress import Progress, progress_bar
from kinelo.runtime.workers import LOST, answers, check_client, pieces

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client


ROUND, FIRST_ROUND = 0.2, 1 << 14
"""Seconds of one round of calls into compiled code, after which a run can be stopped; matches of the first one."""

Record = Callable[[Mapping[str, NDArray], int], Mapping[str, NDArray]]
"""``record(memory, match)`` is what a state tells beside its ratings."""


def played_states(
    play: Play,
    state: SimulationState,
    stops: Iterable[int],
    matches_per_step: int,
    groups: list[slice],
    workers: int,
    record: Record | None = None,
) -> Iterator[SimulationState]:
    """Yield the state at each step in ``stops``; each group of rows is one call of ``play``, ``workers`` at a time."""
    rating, played, step = state.rating.copy(), state.played.copy(), state.step
    memory = {name: values.copy() for name, values in state.memory.items()}
    size = max(1, FIRST_ROUND // groups[-1].stop)
    with ThreadPoolExecutor(workers) as pool:
        for stop in stops:
            if isinstance(stop, int | np.integer) and stop < step:
                raise InputError(f"stops must not lie in the past: {stop} comes before step {step}.")
            stop = whole("stops", stop, 0)
            match, last = step * matches_per_step, stop * matches_per_step
            check_playing(last - match, len(rating), "ask for an earlier stop or fewer matches_per_step")
            while match < last:
                # One round of calls: ``size`` matches take about ROUND seconds, however long a match of this league is.
                end, begin = min(match + size, last), time.monotonic()
                if len(groups) == 1:  # handing one group to another thread would only take time
                    play(rating, played, memory, groups[0], match, end)
                else:
                    jobs = [pool.submit(play, rating, played, memory, group, match, end) for group in groups]
                    for job in jobs:
                        job.result()
                if end - match == size:
                    size = max(1, int(size * min(2.0, ROUND / max(time.monotonic() - begin, 1e-9))))
                match = end
            step = stop
            if hasattr(play, "fetch"):
                play.fetch()  # type: ignore[attr-defined]
            remembered = {name: values.copy() for name, values in memory.items()}
            yield SimulationState(
                step, rating.copy(), played.copy(), remembered, {} if record is None else record(memory, last)
            )


def even_groups(rows: int, count: int) -> list[slice]:
    """Rows in so many groups of nearly the same size.

    >>> even_groups(5, 2)
    [slice(0, 2, None), slice(2, 5, None)]
    """
    edges = np.linspace(0, rows, count + 1).round().astype(int)
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]


class Setting(NamedTuple):
    """A system, the strengths of its teams, and the ratings they start from (None: the mean of θ)."""

    system: RatingSystem
    strengths: Strength
    start: ArrayLike | None = None


@dataclass(frozen=True)
class SimulationState:
    """A league after ``step`` steps: ratings (realisations × teams) and matches played in each realisation.

    ``memory`` holds what else the league carries from match to match, by name, realisations × teams: empty for the
    paper's model; matches, lines reached and gains owed where steps or schedules need them; strengths and deviations
    as of each team's last match where they move. ``record`` holds strength, deviation and age as they are now.

    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
    >>> [state] = kn.micro.simulation_states(system, kn.Fixed([4.0, 7.0, 10.0]), stops=[10], seed=1)
    >>> state.step, state.rating.shape
    (10, (1, 3))
    """

    step: int
    rating: Array
    played: NDArray[np.int64]
    memory: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    record: Mapping[str, NDArray[Any]] = field(default_factory=dict)


def _size(realisations: int, teams: int) -> str:
    return f"{counted(realisations, 'realisation', 'realisations')} × {teams:,} teams"


def starting_state(
    strengths: Strength, start: ArrayLike | SimulationState | None, realisations: int
) -> SimulationState:
    """The state a run begins with: one that is continued, given ratings, or all teams at the mean of θ."""
    shape = realisations, teams = realisations, strengths.teams
    # The state, its copies for the caller and the kernel, and the record made of it.
    what = f"A simulation of {_size(realisations, teams)}"
    check_memory(5 * 8 * realisations * (teams + 1), what, "use fewer teams or realisations")
    if isinstance(start, SimulationState):
        if start.rating.shape != shape:
            raise InputError(f"start must be a state of {_size(*shape)}.")
        return start
    if start is None:
        start = np.full(teams, strengths.theta.mean())
    given = finite_array("start", start, 1, 2)
    if given.shape not in (shape, shape[1:]):
        raise InputError(
            f"start must hold one rating per team ({shape[1]}) or realisations × teams ({shape[0]} × {shape[1]}), "
            f"not {list(given.shape)}."
        )
    return SimulationState(0, np.array(np.broadcast_to(given, shape)), np.zeros(realisations, dtype=np.int64))


LARGEST_COUNT = 1 << 62
"""Matches of one realisation that a counter can tell apart."""

SECONDS_PER_MATCH = 5e-9
"""Of one processor at its best: a run that is too long by this measure is too long by any."""

BYTES_PER_MATCH = 100
"""Of a match that is kept: who played, when, with what result, and the parts of which the whole is made."""


class Records(Sequence[int]):
    """The steps at which a run is recorded: its start, its end, and every ``every`` between. Counted, never listed.

    >>> list(Records(10, 4)), list(Records(10, None)), len(Records(10**18, 1))
    ([0, 4, 8, 10], [0, 10], 1000000000000000001)
    """

    def __init__(self, steps: int, every: int | None) -> None:
        self.steps = whole("steps", steps, 0)
        self.every = max(self.steps, 1) if every is None else whole("record_every", every, 1)

    @property
    def total(self) -> int:
        """How many there are; ``len`` cannot say it beyond the size of memory."""
        return -(-self.steps // self.every) + 1

    def __len__(self) -> int:
        return self.total

    @overload
    def __getitem__(self, row: int) -> int: ...
    @overload
    def __getitem__(self, row: slice) -> list[int]: ...
    def __getitem__(self, row: int | slice) -> int | list[int]:
        if isinstance(row, slice):
            return [self[k] for k in range(*row.indices(self.total))]
        if not -self.total <= row < self.total:
            raise IndexError(row)
        return min((row % self.total) * self.every, self.steps)

    def __contains__(self, step: object) -> bool:
        return isinstance(step, int) and 0 <= step <= self.steps and (step % self.every == 0 or step == self.steps)

    def with_stops_between(self, stride: int, begin: int = 0) -> Iterator[int]:
        """Every record from ``begin`` on and every multiple of ``stride`` between them, in order.

        >>> list(Records(10, 4).with_stops_between(3, begin=2))
        [3, 4, 6, 8, 9, 10]
        """
        first = -(-begin // self.every)
        records = (self[row] for row in range(first, self.total) if self[row] >= begin)
        between = takewhile(lambda step: step < self.steps, _multiples(stride, begin))
        return (step for step, _ in groupby(merge(records, between)))


def _multiples(stride: int, begin: int) -> Iterator[int]:
    step = max(1, -(-begin // stride)) * stride
    while True:
        yield step
        step += stride


def check_plan(*, teams: int, records: Records, matches_per_step: int, realisations: int, in_memory: int) -> None:
    """Refuse a run that needs more memory than there is, or more time than anyone has.

    ``in_memory`` is the number of records held in memory at once.
    """
    state = 8 * realisations * (teams + 1)
    few = f"{records.total:,} records of " * (in_memory > 2) + _size(realisations, teams)
    remedy = "use fewer teams or realisations" + (", or a larger record_every" if in_memory > 2 else "")
    # The state, its copy for the caller, its transpose for the kernel; the records, and the array made of them.
    check_memory(state * (3 + 2 * in_memory), f"A simulation of {few}", remedy)
    matches = records.steps * matches_per_step
    check_playing(matches, realisations, "use fewer steps or realisations")


def check_matches(matches: int) -> None:
    """Refuse more matches than memory can keep or anyone can wait for."""
    check_memory(float(BYTES_PER_MATCH) * matches, f"A list of {matches:,} matches", "ask for fewer matches")
    check_playing(matches, 1, "ask for fewer matches")


def check_playing(matches: int, realisations: int, remedy: str) -> None:
    """Refuse more matches than anyone can wait for."""
    seconds = matches * realisations * SECONDS_PER_MATCH
    if seconds <= LONG_RUN:
        return
    seconds /= usable_processors()
    # Beyond what a counter can tell apart, no match has a number of its own.
    seconds = max(seconds, 2 * LONGEST_RUN) if matches > LARGEST_COUNT else seconds
    check_time(seconds, f"A simulation of {matches * realisations:.3g} matches", remedy)


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
        items = []
        for part in parts:
            rows = slice(part.start, part.stop)
            memory = {name: values[rows] for name, values in state.memory.items()}
            items.append((part, SimulationState(state.step, state.rating[rows], state.played[rows], memory), block))
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
        parts = {part: {n: v for (p, n), v in self._arrays.items() if p == part} for part in ("", "memory", "record")}
        rating, played = parts[""]["rating"], parts[""]["played"]
        return SimulationState(self._step, rating, played, parts["memory"], parts["record"])


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
    if not isinstance(sampling, str) or sampling not in ("marginal", "literal"):
        raise InputError(f'sampling must be "marginal" or "literal", not {sampling!r}.')
    there = choose_device(device)
    keys = realisation_keys(seed, which)
    # A probability that differs in its last bit is another result once in a while.
    with one_blas_thread():
        encoded = encode(system, strengths, dynamics, literal=sampling == "literal")
        play = loop_of(system, strengths, encoded, keys, there)
    workers = min(usable_processors() if threads is None else whole("threads", threads, 1), realisations)
    # Even groups of at most MOST_LANES realisations, as many as keep every worker busy.
    count = math.ceil(math.ceil(realisations / MOST_LANES) / workers) * workers
    groups = [slice(0, realisations)] if there == "gpu" else even_groups(realisations, min(count, realisations))
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
        in_memory=records.total,
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
    description = description_of(system, strengths, dynamics, matches_per_step, int(seed), sampling)
    return dataset_of(parts, system, strengths, description)


def description_of(
    system: RatingSystem, strengths: Strength, dynamics: Motions, matches_per_step: int, seed: int, sampling: Sampling
) -> dict[str, object]:
    """The plan of a run as its dataset records it; ``sampling`` is what is done, whatever was asked for."""
    moving = dynamics is not None or system.deviations is not None
    literal = moving or system.sides > 2 or strengths.teams > LARGEST_TABLE
    return {
        "matches_per_step": matches_per_step,
        "seed": seed,
        "sampling": "literal" if literal else sampling,
        **({} if dynamics is None else {"dynamics": repr(dynamics)}),
    }


def states_of(client: Client | None, *args: Any, stored: bool = False, **plan: Any) -> Iterator[SimulationState]:
    """States as :func:`simulation_states` yields them, played here or by the workers of a client."""
    if client is None:
        return simulation_states(*args, **plan)
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
    }
    # Strength, deviation and age beside ratings, where they were recorded.
    words = {"strength": "strength", "deviation": "deviation of the rating", "age": "matches played since arrival"}
    for name in states[0].record if states else ():
        values = np.stack([state.record[name] for state in states], axis=1)
        variables[name] = ("realisation", "time", "team"), values, {"long_name": words[name]}
    gamma = system.gamma  # a number, one per team, or the rule in words
    if isinstance(gamma, StepRule):
        gamma = repr(gamma)
    elif isinstance(gamma, tuple):
        gamma = list(gamma)
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
            "gamma": gamma,
            **({} if system.schedule is None else {"schedule": repr(system.schedule)}),
            "strengths": repr(strengths),
            "kinelo_version": __version__,
            **description,
        },
    )


def checked_kinds(system: object, strengths: object) -> None:
    """Refuse what is no system or no league."""
    if not isinstance(system, RatingSystem):
        raise InputError(f"system must be a RatingSystem, not {system!r}.")
    if not isinstance(strengths, Strength):
        raise InputError(f"strengths must be a league such as Normal or LineupLottery, not {one_line(strengths)}.")


def loop_of(
    system: RatingSystem, strengths: Strength, encoded: EncodedSystem, keys: NDArray[np.uint64], device: str = "cpu"
) -> Play:
    """The fastest loop that plays a league on a device; all of them end at the same bytes.

    ``keys`` are those of its realisations.
    """
    if device == "cpu":
        if system.sides > 2:
            return field_play(encoded, system.sides, strengths, keys)
        if USER not in (encoded.law.kind, encoded.rule.kind) and not encoded.meeting.literal:
            if system.plain:
                return table_play(encoded, keys)
            if encoded.meeting.rounds and encoded.steps.kind == EACH:
                return rounds_play(encoded, keys)
        return general_play(encoded, user_functions(system.outcome, system.pairing), strengths, keys)
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
