"""A league whose strengths move, or whose ratings carry a deviation, made ready for its loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.micro.any_league import code_laws, code_steps
from kinelo.micro.general import Seen
from kinelo.micro.league import LARGEST_TABLE, NotBuiltIn, Play, code_strength
from kinelo.micro.moving import Carried, Pairs, play_moving, strengths_now
from kinelo.micro.tables import all_pairs
from kinelo.model.dynamics import Dynamics, Form, Learning, Walk, parts_of
from kinelo.model.outcome import Tanh
from kinelo.model.schedule import Rounds
from kinelo.model.steps import DeviationSteps
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.play.deviations import Deviation
from kinelo.play.motion import FORM, LEARNING, RANDOM, STILL, STRONGEST, WALK, WEAKEST, Motion
from kinelo.play.steps import ELITE
from kinelo.play.stream import realisation_keys

NAMES = Carried._fields


def is_moving(system: RatingSystem, dynamics: Dynamics | Sequence[Dynamics] | None) -> bool:
    """Whether strengths move or ratings carry a deviation."""
    return dynamics is not None or isinstance(system.gamma, DeviationSteps)


def check_moving(system: RatingSystem, strengths: Strength, dynamics: Dynamics | Sequence[Dynamics] | None) -> None:
    """Refuse combinations that have no meaning, each in a sentence."""
    motion, _ = parts_of(dynamics)
    if isinstance(motion, Learning) and not isinstance(system.gamma, float):
        raise InputError(f"Learning moves strengths by one gamma for all teams, not by {system.gamma!r}.")
    if isinstance(system.gamma, DeviationSteps) and type(system.outcome) is not Tanh:
        raise InputError(f"DeviationSteps are Glicko's, whose outcome is Tanh, not {system.outcome!r}.")
    try:
        code_strength(strengths)
    except NotBuiltIn:
        raise InputError(
            f"Strengths that move are played for Fixed, Normal, LineupLottery and Empirical, "
            f"not for {type(strengths).__name__}."
        ) from None


def fresh_moving(system: RatingSystem, strengths: Strength, rating: Array) -> dict[str, NDArray]:
    """What a moving league carries before its first match."""
    shape = rating.shape
    theta = np.array(np.broadcast_to(strengths.theta, shape))
    start = system.gamma.start**2 if isinstance(system.gamma, DeviationSteps) else 0.0
    return {
        "strength": theta,
        "level": theta.copy(),
        "clock": np.zeros(shape, dtype=np.int64),
        "variance": np.full(shape, start),
        "rest": np.zeros(shape, dtype=np.int64),
        "matches": np.zeros(shape, dtype=np.int64),
        "reached": rating >= ELITE,
        "owed": np.zeros(shape),
        "known": np.zeros(shape),
    }


def blank_record(
    system: RatingSystem, dynamics: Dynamics | Sequence[Dynamics] | None, shape: tuple[int, int]
) -> dict[str, NDArray]:
    """What is recorded beside ratings, before there is any."""
    if not is_moving(system, dynamics):
        return {}
    names = ("strength", "age", "deviation") if isinstance(system.gamma, DeviationSteps) else ("strength", "age")
    return {name: np.zeros(shape) for name in names}


class MovingLeague:
    """The league as its loop takes it: how it plays, and how it stands at a given match."""

    def __init__(
        self,
        system: RatingSystem,
        strengths: Strength,
        dynamics: Dynamics | Sequence[Dynamics] | None,
        seed: int,
        realisations: int | range,
        seen: Seen | None = None,
    ) -> None:
        check_moving(system, strengths, dynamics)
        self._seen = Seen(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)) if seen is None else seen
        self._keys = realisation_keys(seed, realisations)
        self._laws = code_laws(system.outcome, system.pairing)
        self._motion, self._glicko = code_motion(dynamics), code_deviation(system)
        self._steps, self._drawing = code_steps(system, strengths.teams), code_strength(strengths)
        self._theta, self._pairs = strengths.theta.copy(), pairs_of(system, strengths.teams)

    @property
    def play(self) -> Play:
        """Play matches ``first … last − 1`` of some realisations in place."""

        def play(
            rating: Array,
            played: NDArray[np.int64],
            memory: Mapping[str, NDArray],
            chosen: slice,
            first: int,
            last: int,
        ) -> None:
            carried = Carried(*(memory[name][chosen] for name in NAMES))
            play_moving(
                rating[chosen], carried, played[chosen], self._keys[chosen], self._pairs, self._drawing, self._theta,
                first, last, self._steps, self._motion, self._glicko, *self._laws, self._seen,
            )  # fmt: skip

        return play

    def now(self, memory: Mapping[str, NDArray], match: int) -> dict[str, NDArray]:
        """Strength, deviation and age of every team at a match, for the record."""
        today = memory["strength"].copy()
        if self._motion.kind in (FORM, WALK):
            strengths_now(Carried(*(memory[name] for name in NAMES)), self._keys, match, self._motion, today)
        record = {"strength": today, "age": memory["matches"].copy()}
        if self._glicko.on:
            elapsed = (match - memory["rest"]) * 2.0 / today.shape[1]
            grown = np.minimum(memory["variance"] + self._glicko.growth * elapsed, self._glicko.largest)
            record["deviation"] = np.sqrt(np.maximum(memory["variance"], grown))
        return record


def code_motion(dynamics: Dynamics | Sequence[Dynamics] | None) -> Motion:
    """The law of motion as the kernel takes it."""
    motion, open_ = parts_of(dynamics)
    kind, alpha, beta, diffusion, on_result, rate, form, walk = STILL, 0.0, 0.0, 0.0, False, 0.0, 0.0, 0.0
    if isinstance(motion, Learning):
        kind, alpha, beta, diffusion = LEARNING, motion.alpha, motion.beta, motion.diffusion
        on_result = motion.on == "result"
    elif isinstance(motion, Form):
        kind, rate, form = FORM, motion.rate, motion.spread**2
    elif isinstance(motion, Walk):
        kind, walk = WALK, motion.step**2
    who, pool, leaving, start = RANDOM, np.zeros(1), 0.0, 0.0
    if open_ is not None:
        who = {"random": RANDOM, "weakest": WEAKEST, "strongest": STRONGEST}[open_.leaving]
        pool, leaving, start = open_.pool.copy(), 2 * open_.rate, open_.start
    return Motion(kind, alpha, beta, diffusion, on_result, rate, form, walk, leaving, who, pool, start)


def code_deviation(system: RatingSystem) -> Deviation:
    """Glicko's numbers as the kernel takes them."""
    rule = system.gamma
    if not isinstance(rule, DeviationSteps):
        return Deviation(False, system.outcome.nu, 0.0, 0.0, 0.0)
    return Deviation(True, system.outcome.nu, rule.growth**2, rule.start**2, rule.code[3] ** 2)


def pairs_of(system: RatingSystem, teams: int) -> Pairs:
    """Who meets, and when results count, as the kernel takes it."""
    schedule = system.schedule
    if not isinstance(schedule, Rounds):
        return Pairs(np.zeros(1, dtype=np.uint32), False, 0 if schedule is None else schedule.period(teams))
    if teams > LARGEST_TABLE:
        raise InputError(f"Rounds() is for leagues of at most {LARGEST_TABLE} teams, not {teams}.")
    return Pairs(all_pairs(teams)[2], True, schedule.period(teams))
