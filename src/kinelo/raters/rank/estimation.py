"""Parameters of a rater of contests: losses of contests one step ahead, their slopes, and the search by them.

Losses grow with the field, and a search by outer products of slopes takes shorter steps the larger they are. Losses of
contests of ``k`` that count ``2/k`` lead near the place, and those in full find it.

Parameters of very many entries are estimated on a part of them: the latest contests, and of large fields some entrants.
Whoever is left out of a field changes nothing in the order of the others, so that contests of some entrants follow the
same law as those of all. Entrants are chosen by their names and keep all their contests: who is new stays new, and who
returns does so as often. Fields are thinned before contests are, as far as a field remains.
"""

from __future__ import annotations

import copy
import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.forecasts.fit import NEGLIGIBLE_GAIN, Slopes, estimate, settled_slopes
from kinelo.forecasts.parameters import Estimates, Parameter
from kinelo.matches.contests import FINISHED, Contests
from kinelo.raters.batches import moved_twins, slopes_of
from kinelo.raters.filter.belief import YEAR, fade_all
from kinelo.raters.noise import NoiseFactors, find_factors
from kinelo.raters.rank.kernels import Expected, filter_contests, room_for_expected, score_contests
from kinelo.raters.rank.state import contest_model
from kinelo.runtime.progress import progress_bar

Array = NDArray[np.float64]

LARGE = 60
"""Entrants who finish, on average, beyond which a search begins with scaled losses."""
MANY_ENTRIES = 8_000
"""Entries beyond which a search begins with a quarter of the contests."""
FEW_ENTRIES = 30_000
"""Entries of large fields beyond which a search begins with so many of them: it takes shorter steps in large fields."""
PASSES, MEMBER = 50.0, 0.25
"""About how many passes a search takes, and what a member of slopes adds to one: for an estimate of the time left."""
NEAR, SMALL = 2.0, 0.3
"""Gain of a step, in log-likelihood, below which a search ends that only leads near the place, and the one after it."""
LAW = ("off", "depth")
"""Parameters of the law of a performance, of which slopes are found by differences."""
COLLAPSE = 0.3
"""Width of the Cauchy law of what the logarithm of a variance of strengths loses over the years."""
LITTLE = 0.1
"""Width of the Cauchy law of what experience brings: mostly little, now and then much."""
LEAST_FIELD = 50
"""Entrants whom a typical field keeps: a place in a field of so many tells almost as much as in one of all."""

Counter = Callable[[float], None]
"""What is told how many entries were read."""


def contest_losses(contests: Contests, log_chance: Array) -> Array:
    """Loss of every contest (contests, members) from ``log Z`` of entries (entries, members): the mean of ``−log Z``
    over those who finished, times how many duels a contest of so many is worth, ``3 (k − 1)/(k + 1)``.

    With that the losses are as informative as their slopes say: places of one contest depend on each other.
    """
    known = np.isfinite(log_chance[:, 0])
    total = np.add.reduceat(np.where(known[:, None], -log_chance, 0.0), contests.first[:-1], axis=0)
    number = np.add.reduceat(known.astype(float), contests.first[:-1])
    worth = 3.0 * np.maximum(number - 1.0, 0.0) / (number + 1.0)
    return (worth / np.maximum(number, 1.0))[:, None] * total


class ContestSearch:
    """What a search (:func:`kinelo.forecasts.fit.estimate`) asks: losses of contests at any values of parameters.

    What contests are to loops is found out once, for all passes. ``part`` is how much each contest counts, ``read`` is
    told how many entries a pass has read.
    """

    def __init__(self, rater: Any, contests: Contests, part: Array | None = None, read: Counter | None = None) -> None:
        self.rater, self.contests, self.part, self.read = rater, contests, part, read
        self.parameters_: Mapping[str, float] = rater._settled_values()
        state = rater._fresh(self.parameters_)
        self.columns, _ = state.columns(contests, admit=True)
        self.fresh, self.vague = state.as_seen_on(int(self.columns.day[0])), np.array(state.vague, np.int64)
        self.years = (self.columns.day[-1] - self.columns.day[0]) / YEAR

    def _open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters to be estimated."""
        return self.rater._open_parameters()

    def _reset(self, estimated: dict[str, float] | None = None) -> None:
        """Take these values."""
        self.parameters_ = self.rater._settled_values(estimated)

    def expect(self, *members: Mapping[str, float]) -> Expected:
        """What is expected of contests one step ahead from a fresh start, with the values of each member."""
        entries, known = self.rater._entries, copy.deepcopy(self.fresh)
        known = known._replace(x=np.repeat(known.x, len(members), axis=1), v=np.repeat(known.v, len(members), axis=1))
        # Ratings to begin with may owe their variance to a parameter.
        for q, values in enumerate(members if self.vague.size else ()):
            prior = np.array([entries.value(values, "prior_spread", kind) for kind in entries.kinds])
            known.v[self.vague, q] = prior[known.kind[self.vague]] ** 2
        expected = room_for_expected(self.contests.entrant.size, len(members))
        filter_contests(self.columns, contest_model(entries, *members), known, expected)
        if self.read is not None:
            self.read(self.contests.entrant.size * (1.0 + MEMBER * (len(members) - 1)))
        return expected

    def _counted_losses(self, *members: Mapping[str, float]) -> Array:
        """Loss of every contest (contests, members), as much as it counts."""
        losses = contest_losses(self.contests, self.expect(*members).log_chance)
        return losses if self.part is None else losses * self.part[:, None]

    def _losses(self, contests: Contests, skipped: int) -> Array:
        """Loss of every contest from ``skipped`` on (:func:`contest_losses`)."""
        return self._counted_losses(self.parameters_)[skipped:, 0]

    def _slopes(self, contests: Contests, skipped: int) -> Slopes:
        """Derivatives of the losses by open parameters but those of the law: a batch, a little apart."""
        moves = {name: move for name, move in moved_twins(self).items() if name not in LAW}
        members = (self.parameters_, *(move.twin.parameters_ for move in moves.values()))
        losses = self._counted_losses(*members)[skipped:]
        return slopes_of(losses[:, 0], list(losses[:, 1:].T), moves)

    def _beliefs(self, values: Mapping[str, float]) -> Array:
        """How far parameters let the spread of strengths collapse, and how much they let newcomers gain, by kind, as
        normal deviates.

        Strengths that begin with variance ``V`` have ``V e^{−2ρT} + walk² (1 − e^{−2ρT})/2ρ`` after ``T`` years. Those
        who return to the mean without moving as much would all be equal in the end, and a return that a few years seem
        to show would take away more in the years to come: leagues keep their spread, or widen it. Of the logarithm of
        what is lost a Cauchy law is believed, so that contests that show a collapse are followed; likewise of what
        experience brings, which a few contests seem to show by chance.
        """
        entries, settled, deviates = self.rater._entries, self.rater._settled_values(dict(values)), []
        for kind in entries.kinds:
            if kind not in entries.advantages:
                walk, prior, rho, gain = (
                    entries.value(settled, name, kind) for name in ("walk", "prior_spread", "regression", "experience")
                )
                f, added = fade_all(np.array(YEAR * self.years), rho, walk**2)
                lost = max(-math.log(float(f**2 + added / prior**2)), 0.0)
                deviates.append(math.sqrt(math.log1p((lost / COLLAPSE) ** 2)))
                deviates.append(math.copysign(math.sqrt(math.log1p((gain / LITTLE) ** 2)), gain))
        return np.array(deviates)


def estimate_parameters(rater: Any, contests: Contests) -> Estimates:
    """Estimate the open parameters; of many contests from where some of them lead, and in large fields from where some
    entrants and scaled losses do.
    """
    entries, done = contests.entrant.size, 0.0
    with progress_bar("Estimating parameters", PASSES, wanted=entries > MANY_ENTRIES and rater.progress) as advance:

        def read(number: float) -> None:
            nonlocal done
            done = min(done + number / entries, 0.98 * PASSES)
            advance(done)

        return _search_in_turns(rater, contests, read)


def _search_in_turns(rater: Any, contests: Contests, read: Counter) -> Estimates:
    near = None
    finishers = np.add.reduceat((contests.ended == FINISHED).astype(float), contests.first[:-1])
    large = finishers.mean() > LARGE
    few = thinned(contests, FEW_ENTRIES) if large else contests
    if few.entrant.size < contests.entrant.size:
        near = _search_in_turns(rater, few, read).values
    elif large:
        near = likeliest(rater, contests, NEAR, read=read, part=2.0 / np.maximum(finishers, 2.0)).values
    elif contests.entrant.size > MANY_ENTRIES:
        middle = contests[3 * len(contests) // 8 : 5 * len(contests) // 8]
        near = likeliest(rater, middle, NEAR, read=read).values
    return likeliest(rater, contests, NEGLIGIBLE_GAIN if near is None else SMALL, near, read=read)


def likeliest(
    rater: Any,
    contests: Contests,
    negligible: float,
    near: Mapping[str, float] | None = None,
    *,
    read: Counter | None = None,
    part: Array | None = None,
) -> Estimates:
    """Search once, from ``near`` these values, until steps gain no more than is ``negligible``."""
    search = ContestSearch(rater, contests, part, read)
    return estimate(search, contests, near=near, negligible=negligible)  # type: ignore[arg-type]


def find_noise(rater: Any, contests: Contests) -> NoiseFactors:
    """Factors of the noise, given what is expected of the contests with those found so far."""
    search, entries = ContestSearch(rater, contests), rater._entries
    search._reset(None if rater.estimates_ is None else rater.estimates_.values)
    settled = settled_slopes(search, contests)
    expected, model = search.expect(search.parameters_), contest_model(entries, search.parameters_)
    belief = expected.variance - search.columns.noise[contests.contest][:, None]

    def losses(factors: Array) -> Array:
        spread = expected._replace(variance=belief + (factors**2)[contests.contest][:, None])
        score_contests(search.columns, model, search.fresh, spread)
        return contest_losses(contests, spread.log_chance)[:, 0]

    return find_factors(entries.noise_by, entries.circumstances(contests), losses, settled, entries.factors)


def thinned(contests: Contests, entries: int) -> Contests:
    """These contests where they have no more ``entries`` than that, else about so many of them."""
    if contests.entrant.size > entries:
        kept = max(entries / contests.entrant.size, LEAST_FIELD / typical_field(contests))
        contests = with_some_entrants(contests, kept)
    after = contests.entrant.size - contests.first[:-1]
    return contests if contests.entrant.size <= entries else contests[int(np.argmax(after <= entries)) :]


def typical_field(contests: Contests) -> float:
    """Size of the field in which a typical entry stands."""
    return float((contests.sizes.astype(float) ** 2).sum() / contests.sizes.sum())


def with_some_entrants(contests: Contests, part: float) -> Contests:
    """Contests with about this part of the entrants that they have, where two remain; teams stay whole.

    Names are chosen by a number made of their letters, up to a part of the largest: those chosen before can be thinned
    again.
    """
    slots = next(one for one in contests.slots.values() if not one.advantage)
    if part >= 1.0 or slots.codes.shape[1] > 1:
        return contests
    number = np.array([zlib.crc32(name.encode()) for name in slots.names], float)[slots.codes[:, 0]]
    return with_entries(contests, number < part * number.max())


def with_entries(contests: Contests, chosen: NDArray[np.bool_]) -> Contests:
    """Contests with the entries that are kept (bool, entries), where there are two; places are those among them."""
    number = np.add.reduceat(chosen, contests.first[:-1], dtype=np.int64)
    chosen = chosen & (number > 1)[contests.contest]
    first = np.append(0, np.cumsum(number[number > 1]))
    rest = replace(contests[number > 1], first=first)
    inner = contests._entries(np.flatnonzero(chosen))
    place = inner.place.copy()
    for lo, hi in zip(first[:-1].tolist(), first[1:].tolist()):
        _, rank, count = np.unique(inner.place[lo:hi], return_inverse=True, return_counts=True)
        place[lo:hi] = (np.cumsum(count) - 0.5 * (count - 1))[rank]
    return replace(
        rest, entrant=inner.entrant, place=place, ended=inner.ended, slots=inner.slots, row=inner.row,
        distance=inner.distance,
    )  # fmt: skip
