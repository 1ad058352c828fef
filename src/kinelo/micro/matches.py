"""What the simulator played, as matches that raters can rate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinelo.errors import InputError
from kinelo.matches.matches import Matches
from kinelo.micro.general import NOT_PLAYED, Seen, days
from kinelo.micro.league import DRAWN_AT_ONCE, fresh_memory, general_play
from kinelo.micro.simulate import check_matches, checked_kinds, starting_state
from kinelo.model.dynamics import Dynamics
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import whole
from kinelo.play.encoding import encode
from kinelo.play.stream import realisation_keys
from kinelo.play.users import user_functions

LONGEST_SILENCE = 10_000_000
"""Pairs drawn in a row without a match, after which none is expected any more."""

FIRST_DATE = np.datetime64("2000-01-01", "D")


def simulate_matches(
    system: RatingSystem,
    strengths: Strength,
    *,
    matches: int,
    seed: int = 1,
    start: ArrayLike | None = None,
    dynamics: Dynamics | Sequence[Dynamics] | None = None,
) -> Matches:
    """Play ``matches`` matches of a league and return them in order, as if they had been read from a file.

    They are the first matches of realisation 0 of :func:`kinelo.simulate` with the same seed, so that
    ``TeamElo(system=system, initial=…)`` fed with them ends at the simulator's ratings, bit for bit. Nobody
    plays twice on a day, and nobody is at home.

    Examples
    --------
    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh.elo(), gamma=10.0)
    >>> played = kn.micro.simulate_matches(system, kn.Normal([1400.0, 1500.0, 1600.0], 100.0), matches=500, seed=1)
    >>> len(played), kn.TeamElo(system=system).fit(played).ratings_["name"].to_list()
    (500, ['3', '2', '1'])
    """
    checked_kinds(system, strengths)
    if system.sides > 2:
        raise InputError(f"simulate_matches plays matches of two sides, not {system.schedule!r}; simulate plays it.")
    matches, seed = whole("matches", matches, 1), whole("seed", seed, 0)
    check_matches(matches)
    state = starting_state(strengths, start, 1)
    rating = state.rating.copy()
    played = np.zeros(1, dtype=np.int64)
    seen = Seen(np.empty(DRAWN_AT_ONCE, np.int32), np.empty(DRAWN_AT_ONCE, np.int32), np.empty(DRAWN_AT_ONCE))
    encoded, functions = encode(system, strengths, dynamics), user_functions(system.outcome, system.pairing)
    memory = fresh_memory(encoded, rating)
    play = general_play(encoded, functions, strengths, realisation_keys(seed, 1), seen)
    blocks: list[tuple[NDArray, NDArray, NDArray]] = []
    first = met = last = 0
    while met < matches:
        play(rating, played, memory, slice(0, 1), first, first + DRAWN_AT_ONCE)
        chosen = seen.result != NOT_PLAYED
        blocks.append((seen.home[chosen], seen.away[chosen], seen.result[chosen]))
        first += DRAWN_AT_ONCE
        met, last = met + int(chosen.sum()), first if chosen.any() else last
        if first - last > LONGEST_SILENCE:
            raise InputError(
                f"The last {LONGEST_SILENCE:,} pairs that were drawn did not meet, {met:,} of {matches:,} matches are "
                "played: the pairing keeps these teams apart."
            )
    home, away, result = (np.concatenate(part)[:matches] for part in zip(*blocks))
    names = strengths.names or tuple(str(k + 1) for k in range(strengths.teams))
    return Matches(
        date=FIRST_DATE + days(home, away, strengths.teams),
        home=home, away=away, teams=names, result=(result + 1.0) / 2.0,
        margin=np.full(matches, np.nan), neutral=np.ones(matches, dtype=np.bool_), weight=np.ones(matches),
        row=np.arange(1, matches + 1),
    )  # fmt: skip
