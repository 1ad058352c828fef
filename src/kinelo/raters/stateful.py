"""Raters that keep a state (:mod:`kinelo.raters.state`): how it begins, and how it is handed over as arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.forecast import Forecast
from kinelo.matches.matches import Matches, check_matches
from kinelo.raters.name_index import tell_of_misspelt
from kinelo.raters.rater import Rater, without_ratings
from kinelo.raters.start import SETTLED, Start, read_start, tell_of_strangers
from kinelo.raters.streaming import fits_in_pieces

PREFIX = "parameter_"


class StatefulRater(Rater):
    """A rater whose parameters make a fresh state, which matches then carry on."""

    start: Any
    initial: float
    _state: Any = None
    _read: tuple[Any, Start] | None = None

    @abstractmethod
    def _fresh(self, values: Mapping[str, float]) -> Any:
        """The state before any match."""

    def reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every match and settle the parameters."""
        self.parameters_ = self.settled_values(estimated)
        self._state = self._fresh(self.parameters_)
        start = self._start()
        if start is not None:
            unseen = np.where(start.matches == SETTLED, SETTLED, 0)
            self._state.seat(start.names, start.matches, unseen, start.day)
            self._place(start, self._state.known)

    @abstractmethod
    def _place(self, start: Start, known: Any) -> None:
        """Write the ratings to begin with at the first places of the arrays."""

    def _start(self) -> Start | None:
        """The ratings to begin with, read once."""
        if self.start is None:
            return None
        if self._read is None or self._read[0] is not self.start:
            self._read = (self.start, read_start(self.start))
        return self._read[1]

    @fits_in_pieces
    def fit(self, matches: Matches) -> Self:
        """Estimate the open parameters on these matches, then rate them in order from a fresh start."""
        super().fit(matches)
        start = self._start()
        if start is not None:
            tell_of_strangers(start, self._names_of(matches))
        return self

    def _names_of(self, matches: Matches) -> set[str]:
        """Names of those who are rated, in matches."""
        return {matches.teams[code] for code in np.unique(np.concatenate([matches.home, matches.away]))}

    def predict(self, matches: Matches) -> Forecast:
        """Forecast matches from the ratings as they stand; names never met get the prior and are listed."""
        check_matches(matches)
        self._check_has_ratings()
        forecast = self._foresee(matches)
        if forecast.unknown:
            sides = [*self._state.rosters.values()][-1]
            tell_of_misspelt(tuple(name for name in forecast.unknown if name in matches.teams), sides.names)
        return forecast

    def _check_has_ratings(self) -> None:
        """Refuse to forecast by a rater that has seen nothing; ratings to begin with are something."""
        if self._state is None and self.start is None:
            raise without_ratings(self)
        self._begun()

    def _latest_day(self, home: str, away: str) -> int:
        """The day on which one of two sides last played."""
        state = self._begun()
        places = [state.roster.index.get(name) for name in (home, away)]
        return max(0, *(state.known.last.item(place) for place in places if place is not None), 0)

    @abstractmethod
    def _foresee(self, matches: Matches) -> Forecast:
        """Forecast matches from the state as it stands, which has begun."""

    def _begun(self) -> Any:
        if self._state is None:
            self.reset()
        return self._state

    def _begin(self, matches: Matches) -> Any:
        """The state, about to be carried on by matches, which must have been played."""
        check_matches(matches)
        if np.isnan(matches.result).any():
            raise InputError("A match without a result cannot change a rating; forecast it with predict.")
        return self._begun()

    def to_arrays(self) -> dict[str, NDArray]:
        """Everything needed to carry on from here, as arrays."""
        state = self._begun()
        return state.to_arrays() | {f"{PREFIX}{name}": np.array(value) for name, value in self.parameters_.items()}

    def from_arrays(self, arrays: Mapping[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self.reset({name.removeprefix(PREFIX): float(v) for name, v in arrays.items() if name.startswith(PREFIX)})
        self._state.from_arrays(arrays)
