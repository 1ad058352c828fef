"""A league made ready for the loops of the processor, and what it remembers from match to match."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from kinelo.micro.general import Seen, meet_and_draw, play_general, strengths_now
from kinelo.micro.kernels import play_alone, play_rounds, play_table
from kinelo.model.dynamics import FORM, WALK
from kinelo.model.outcome import LOGISTIC
from kinelo.model.pairing import ALL_PLAY_ALL
from kinelo.model.steps import EACH, ELITE, FIDE
from kinelo.model.strength import Strength
from kinelo.model.validation import Array
from kinelo.play.encoding import EncodedSystem
from kinelo.play.match import LeagueState
from kinelo.play.performances import GIVEN
from kinelo.play.users import UserFunctions

MOST_LANES = 25
"""Realisations interleaved in one call: enough to fill the processor, few enough to stay in its nearest cache."""

LEAST_INTERLEAVED = 3
"""Fewer realisations than this gain nothing by being interleaved."""

DRAWN_AT_ONCE = 1 << 14
"""Matches, of all realisations of a call, whose performances are drawn at once by a user's law."""

WHOLE = {"clock": np.int64, "rest": np.int64, "matches": np.int64, "reached": np.bool_}
"""Types of what a league remembers, where they are not real numbers."""

Play = Callable[[Array, NDArray[np.int64], Mapping[str, NDArray], slice, int, int], None]
"""``play(rating, played, memory, realisations, first, last)`` moves some realisations of a league in place.

``rating`` and the arrays of ``memory`` are (realisations, teams), ``played`` is (realisations,). One that keeps its
state elsewhere has a method ``fetch`` that brings it into these arrays.
"""


def table_play(encoded: EncodedSystem, keys: NDArray[np.uint64]) -> Play:
    """Play from the table of results; all realisations handed over in one call are interleaved."""
    simple = encoded.law.kind == LOGISTIC and encoded.rule.kind == ALL_PLAY_ALL

    def play(
        rating: Array, played: NDArray[np.int64], memory: Mapping[str, NDArray], chosen: slice, first: int, last: int
    ) -> None:
        if simple and chosen.stop - chosen.start < LEAST_INTERLEAVED:
            play_alone(rating[chosen], keys[chosen], encoded, first, last)
            played[chosen] += last - first
            return
        interleaved = np.ascontiguousarray(rating[chosen].T)
        play_table(interleaved, played[chosen], keys[chosen], encoded, first, last)
        rating[chosen] = interleaved.T

    return play


def rounds_play(encoded: EncodedSystem, keys: NDArray[np.uint64]) -> Play:
    """Play rounds in which each team keeps its step, from the table of results."""

    def play(
        rating: Array, played: NDArray[np.int64], memory: Mapping[str, NDArray], chosen: slice, first: int, last: int
    ) -> None:
        play_rounds(rating[chosen], memory["owed"][chosen], played[chosen], keys[chosen], encoded, first, last)

    return play


NOT_SEEN = Seen(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))


def general_play(
    encoded: EncodedSystem,
    functions: UserFunctions,
    strengths: Strength,
    keys: NDArray[np.uint64],
    seen: Seen = NOT_SEEN,
) -> Play:
    """Play match by match, whatever the league; ``seen``, with room for a whole call, receives what was played."""

    def play(
        rating: Array, played: NDArray[np.int64], memory: Mapping[str, NDArray], chosen: slice, first: int, last: int
    ) -> None:
        league, streams = league_of(rating, memory, chosen), keys[chosen]
        if encoded.drawing.kind != GIVEN:
            play_general(league, played[chosen], streams, encoded, functions, first, last, seen)
            return
        chunk = max(1, DRAWN_AT_ONCE // len(streams))
        for begin in range(first, last, chunk):
            end = min(begin + chunk, last)
            # Performances of both sides in all realisations by the law's own method, asked once: its calls may be slow.
            size = 2 * (end - begin) * len(streams)
            team, uniforms = np.empty(size, dtype=np.int64), np.empty((size, strengths.uniforms))
            meet_and_draw(streams, encoded.meeting, strengths.teams, begin, end, team, uniforms)
            drawn = np.array(strengths.performances(team, uniforms), dtype=np.float64).reshape(-1, 2)
            given = encoded._replace(drawing=encoded.drawing._replace(values=drawn))
            play_general(league, played[chosen], streams, given, functions, begin, end, seen)

    return play


def remembered(encoded: EncodedSystem) -> tuple[str, ...]:
    """Names of what a league remembers beside its ratings."""
    moving, steps = encoded.motion.moving, encoded.steps.kind
    columns = {
        "matches": moving or steps != EACH,
        "reached": moving or steps == FIDE,
        "owed": moving or encoded.meeting.period > 0,
    }
    return tuple(name for name in LeagueState._fields[1:] if columns.get(name, moving))


def fresh_memory(encoded: EncodedSystem, rating: Array) -> dict[str, NDArray]:
    """What a league remembers beside its ratings before its first match, realisations × teams, by name."""
    first = {"strength": encoded.drawing.theta, "level": encoded.drawing.theta, "variance": encoded.glicko.start}
    made: dict[str, NDArray] = {}
    for name in remembered(encoded):
        made[name] = np.zeros(rating.shape, dtype=WHOLE.get(name, np.float64))
        made[name][...] = rating >= ELITE if name == "reached" else first.get(name, 0)
    return made


def league_of(rating: Array, memory: Mapping[str, NDArray], chosen: slice) -> LeagueState:
    """Some realisations as loops take them; what the league does not remember is there too, and nobody keeps it."""
    shape = rating[chosen].shape
    parts: list[NDArray] = [
        memory[name][chosen] if name in memory else np.zeros(shape, WHOLE.get(name, np.float64))
        for name in LeagueState._fields[1:]
    ]
    return LeagueState(rating[chosen], *parts)


def record_now(
    encoded: EncodedSystem, sides: int, keys: NDArray[np.uint64], memory: Mapping[str, NDArray], match: int
) -> dict[str, NDArray]:
    """Strength, age and deviation of every team before a match of a moving league, for the record.

    ``sides`` meet in a match.
    """
    today, motion, glicko = memory["strength"].copy(), encoded.motion, encoded.glicko
    if motion.kind in (FORM, WALK):
        strengths_now(league_of(today, memory, slice(0, len(today))), sides, keys, match, motion, today)
    record = {"strength": today, "age": memory["matches"].copy()}
    if glicko.on:
        elapsed = (match - memory["rest"]) * 2.0 / today.shape[1]
        grown = np.minimum(memory["variance"] + glicko.growth * elapsed, glicko.largest)
        record["deviation"] = np.sqrt(np.maximum(memory["variance"], grown))
    return record
