"""The filter of contests and how its parameters are found: passes over contests, losses and their slopes."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import KineloWarning
from kinelo.forecasts.fit import NEGLIGIBLE_GAIN, Slopes, estimate, settled_slopes
from kinelo.forecasts.parameters import Estimates
from kinelo.matches.contests import FINISHED, Contests
from kinelo.matches.matches import Matches
from kinelo.raters.batches import moved_twins, slopes_of
from kinelo.raters.filter.belief import YEAR
from kinelo.raters.noise import NoiseFactors
from kinelo.raters.rank.kernels import (
    ContestColumns,
    Expected,
    filter_contests,
    room_for_expected,
    score_contests,
)
from kinelo.raters.rank.numbers import with_size
from kinelo.raters.rank.parameters import KindParameters
from kinelo.raters.rank.start import by_kind
from kinelo.raters.rank.state import RankState
from kinelo.raters.rank.table import POINTS_PER_UNIT
from kinelo.raters.rank.thinning import thinned
from kinelo.raters.rater import without_ratings
from kinelo.raters.state import NEVER
from kinelo.runtime.progress import Advance, Progress, progress_bar

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


class ContestFilter(KindParameters):
    """A rater of contests without forecasts: it rates, and estimates its parameters."""

    initial: float
    look: int | None = None
    progress: Progress = False
    """Whether ``fit`` shows how far it is where it takes long: True on the terminal, or a function that is told."""
    _state: RankState | None
    _part: Array | None = None
    _columns: Any = None
    _advance: Callable[[float], None] = staticmethod(lambda entries: None)

    def _reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every contest and settle the parameters."""
        self.parameters_: Mapping[str, float] = self._settled_values(estimated)
        self._state = RankState(self.kinds_, self.advantage_kinds_, self._conditions(), self._luck(), self._units())
        start = self._start()
        if start is not None:
            for kind, own in by_kind(start, self.kinds_, self.advantage_kinds_).items():
                x = (own.rating - self.initial) / POINTS_PER_UNIT
                prior = self._of_kind("prior_spread", kind)
                v = np.where(np.isnan(own.deviation), prior, own.deviation / POINTS_PER_UNIT) ** 2
                self._state.seat(kind, own, x, v)

    def _begun(self, contests: Contests | None = None) -> RankState:
        """The state, made where there is none yet; before the first contest, for the kinds of these contests."""
        state = self._state
        if state is None and contests is None:
            raise without_ratings(self)
        contests = None if contests is None else with_size(contests, self._units())
        if contests is not None and (
            state is None or (state.contests == 0 and state.kinds != self._luck().rated(contests.kinds))
        ):
            self._take_kinds(contests)
            self._reset()
        assert self._state is not None
        return self._state

    def _last_day(self) -> int:
        """Day of the last contest rated, or of the ratings to begin with; NEVER where no day is known."""
        state = self._state
        return int(state.known.clock[1]) if state is not None and state.dated else NEVER

    def _check_order(self, matches: Matches | Contests) -> None:
        """Refuse contests before the last one rated; those without dates follow one another."""
        if matches.dated:
            self._begun(self._seen(matches).contests)
            super()._check_order(matches)

    def _filter(self, contests: Contests) -> tuple[Expected, tuple[str, ...]]:
        """Rate contests; what was expected of them before, and names never met."""
        state = self._begun(contests)
        columns, unknown = self._admit(contests)
        if state.contests == 0 and len(contests):
            state.begin(int(columns.day[0]))
        expected = room_for_expected(contests.entrant.size)
        filter_contests(columns, self._model(), state.known, expected)
        state.contests += len(contests)
        return expected, unknown

    def _find_noise(self, contests: Contests) -> NoiseFactors:
        """Factors of the noise, given what is expected of the contests with those found so far."""
        twin = copy.copy(self)
        twin._reset(None if self.estimates_ is None else self.estimates_.values)
        settled = settled_slopes(twin, contests)
        expected, _ = twin._filter(contests)
        columns, _ = twin._begun().columns(contests, admit=False)
        belief = expected.variance - columns.noise[contests.contest][:, None]

        def losses(factors: Array) -> Array:
            spread = expected._replace(variance=belief + (factors**2)[contests.contest][:, None])
            score_contests(columns, twin._model(), twin._begun().known, spread)
            return contest_losses(contests, spread.log_chance)[:, 0]

        return self._luck().find(contests, losses, settled).factors

    def _to_search(self, contests: Contests) -> Contests:
        """The contests on which parameters are estimated: of very many entries a part, with a warning."""
        part = contests if self.look is None else thinned(contests, int(self.look))
        if part is not contests and self._open_parameters():
            warnings.warn(
                f"Parameters are estimated on {part.entrant.size:,} of {contests.entrant.size:,} entries, and all "
                "contests are rated with them; set look = None to estimate on all.",
                KineloWarning,
                stacklevel=4,
            )
        return part

    def _search(self, matches: Matches | Contests) -> Estimates:
        """Estimate the open parameters; of many contests from where some of them lead, and in large fields from where
        some entrants and scaled losses do.

        Losses grow with the field, and a search by outer products of slopes takes shorter steps the larger they are.
        Losses of contests of ``k`` that count ``2/k`` lead near the place, and those in full find it.
        """
        contests = self._seen(matches).contests
        wanted = contests.entrant.size > MANY_ENTRIES and self.progress
        with progress_bar("Estimating parameters", PASSES, wanted=wanted) as advance:
            self._advance = _count_passes(advance, contests.entrant.size)
            try:
                return self._search_in_turns(contests)
            finally:
                del self._advance  # what is told belongs to this call: a rater is copied and stored without it

    def _search_in_turns(self, contests: Contests) -> Estimates:
        near = None
        finishers = np.add.reduceat((contests.ended == FINISHED).astype(float), contests.first[:-1])
        large = finishers.mean() > LARGE
        few = thinned(contests, FEW_ENTRIES) if large else contests
        if few.entrant.size < contests.entrant.size:
            near = self._search_in_turns(few).values
        elif large:
            self._part = 2.0 / np.maximum(finishers, 2.0)
            near = self._likeliest(contests, NEAR).values
            self._part = None
        elif contests.entrant.size > MANY_ENTRIES:
            middle = contests[3 * len(contests) // 8 : 5 * len(contests) // 8]
            near = self._likeliest(middle, NEAR).values
        return self._likeliest(contests, NEGLIGIBLE_GAIN if near is None else SMALL, near)

    def _likeliest(self, contests: Contests, negligible: float, near: Mapping[str, float] | None = None) -> Estimates:
        """Search once; what contests are to loops is found out once for all passes."""
        twin = copy.copy(self)
        twin._reset()
        self._columns = contests, twin._begun(contests), twin._begun().columns(contests, admit=True)
        day = self._columns[2][0].day
        self._years = (day[-1] - day[0]) / YEAR
        try:
            return estimate(self, contests, near=near, negligible=negligible)  # type: ignore[arg-type]
        finally:
            self._columns = None

    def _admit(self, contests: Contests) -> tuple[ContestColumns, tuple[str, ...]]:
        """Contests as loops take them, and names never met, which are given slots."""
        state = self._begun(contests)
        if self._columns is not None and self._columns[0] is contests:
            state.adopt(self._columns[1])
            return self._columns[2]
        return state.columns(contests, admit=True)

    def _losses(self, matches: Matches | Contests, skipped: int) -> Array:
        """Loss of every contest from ``skipped`` on, after a reset (:func:`contest_losses`)."""
        contests = self._seen(matches).contests
        loss = contest_losses(contests, self._filter(contests)[0].log_chance)[:, 0]
        self._advance(contests.entrant.size)
        return (loss if self._part is None else loss * self._part)[skipped:]

    def _slopes(self, contests: Contests, skipped: int) -> Slopes:
        """Derivatives of the losses by open parameters but those of the law, after a reset: a batch, a little apart."""
        moves = {name: move for name, move in moved_twins(self).items() if name not in LAW}
        state, twins = self._begun(contests), [move.twin for move in moves.values()]
        columns, _ = self._admit(contests)
        state.begin(int(columns.day[0]))
        known = state.known._replace(
            x=np.repeat(state.known.x, 1 + len(twins), axis=1), v=np.repeat(state.known.v, 1 + len(twins), axis=1)
        )
        for q, twin in enumerate(twins):  # ratings to begin with may owe their variance to a parameter
            begun = len(twin._state)
            known.v[:begun, q + 1] = twin._state.known.v[:begun, 0]
        expected = room_for_expected(contests.entrant.size, 1 + len(twins))
        filter_contests(columns, self._model(*twins), known, expected)
        self._advance(contests.entrant.size * (1.0 + MEMBER * len(twins)))
        losses = contest_losses(contests, expected.log_chance)[skipped:]
        if self._part is not None:
            losses *= self._part[skipped:, None]
        return slopes_of(losses[:, 0], list(losses[:, 1:].T), moves)


def _count_passes(advance: Advance, entries: int) -> Callable[[float], None]:
    """What is told of entries read, and tells how many of about so many passes over all are done."""
    done = 0.0

    def read(number: float) -> None:
        nonlocal done
        done = min(done + number / entries, 0.98 * PASSES)
        advance(done)

    return read


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
