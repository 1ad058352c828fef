"""Raters that keep one rating per side: what :class:`TeamElo` and the Glicko family share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import Parameter
from kinelo.matches.matches import Matches, check_matches
from kinelo.raters.day_starts import from_day_starts
from kinelo.raters.drift import Drift, measure_drift
from kinelo.raters.rating_table import Standing
from kinelo.raters.stateful import StatefulRater
from kinelo.raters.streaming import fits_in_pieces, updates_in_pieces

HOME_STEP = Parameter(
    "home_step", 0.3, 0.01, 10.0, True, "points the home advantage moves per full surprise", in_points=True
)
TIES_STEP = Parameter("ties_step", 0.005, 1e-4, 0.1, True, "how far the logarithm of kappa moves per draw")
STEPS = (("home_step", "home_advantage"), ("ties_step", "ties"))
Trace = tuple[NDArray[np.float64], ...]


class SideRater(StatefulRater):
    """A rater whose kernel walks through the matches once and leaves a trace from which forecasts are made."""

    initial: float
    home_advantage: float | None
    ties: float | None
    home_step: float | None
    ties_step: float | None
    _common: NDArray[np.float64]
    _numbers: Any

    @abstractmethod
    def _vector(self, values: Mapping[str, float]) -> Any:
        """The numbers the kernel takes, a named tuple, from the parameters."""

    @abstractmethod
    def _walk(self, matches: Matches, standing: Standing, traced: bool) -> tuple[bool, Trace]:
        """Rate the matches in order: whether all had a result, and the trace (empty unless asked for)."""

    @abstractmethod
    def _forecast(self, trace: Trace, unknown: tuple[str, ...], matches: Matches) -> Forecast:
        """Forecasts of matches from the trace."""

    @abstractmethod
    def _shared(self, values: Mapping[str, float]) -> NDArray[np.float64]:
        """What all matches share before any of them: home advantage, κ, and whatever else drifts."""

    def settled_values(self, estimated: dict[str, float] | None = None) -> dict[str, float]:
        """Value of every parameter; what the user gave of home advantage and draws stays, unless its step is given."""
        values = super().settled_values(estimated)
        return values | {
            step: 0.0 for step, of in STEPS if getattr(self, step) is None and getattr(self, of) is not None
        }

    def _play(self, matches: Matches, traced: bool) -> Trace:
        done, trace = self._walk(matches, self._begun(), traced)
        if not done:
            raise InputError("A match without a result cannot change a rating; forecast it with predict.")
        known = self._state.known
        if not (np.isfinite(known.rating).all() and np.isfinite(known.variance).all()):
            self._refuse()
        return trace

    def _refuse(self) -> NoReturn:
        """Give up ratings that are no numbers any more."""
        self.reset(dict(self.parameters_))
        raise InputError(
            f"{self!r} leaves the range of numbers on these matches: its steps or spreads are too large. It has "
            "forgotten all matches; give smaller ones."
        )

    def reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every match and settle the parameters."""
        super().reset(estimated)
        self._numbers = self._vector(self.parameters_)
        self._common = self._shared(self.parameters_)

    @fits_in_pieces
    def fit(self, matches: Matches) -> Self:
        """Estimate the open parameters on these matches, rate them in order, and warn of inflation."""
        super().fit(matches)
        self._refine(matches)
        self.drift_.warn()
        return self

    def _refine(self, matches: Matches) -> None:
        """What the matches fitted still have to say once they are rated."""

    @updates_in_pieces
    def update(self, matches: Matches) -> Self:
        """Carry the ratings on with further matches, in order."""
        check_matches(matches)
        self._play(matches, traced=False)
        return self

    @from_day_starts
    def one_step_ahead(self, matches: Matches) -> Forecast:
        """Forecast each match before it is used, and use it."""
        check_matches(matches)
        unknown = self._begun().find(matches).unknown
        return self._forecast(self._play(matches, traced=True), unknown, matches)

    def moot_parameters(self, matches: Matches) -> Mapping[str, float]:
        """No ties without a draw, no home advantage where no venue or order of sides can tell of it."""
        moot: dict[str, float] = {}
        if not np.any(np.abs(matches.signed) < 1):
            moot["ties"] = 0.0
        if matches.neutral.all() or not self.order_.home:
            moot["home_advantage"] = 0.0
        for step, of in STEPS:
            if getattr(self, of) is not None or of in moot:
                moot[step] = 0.0
        return moot

    @property
    def drift_(self) -> Drift:
        """How far the active sides have moved from the rating newcomers start at."""
        return measure_drift(self.ratings_, self.initial)

    def to_arrays(self) -> dict[str, NDArray]:
        """Everything needed to carry on from here, as arrays."""
        return {**super().to_arrays(), "numbers": np.array(self._numbers), "common": self._common}

    def from_arrays(self, arrays: Mapping[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        super().from_arrays(arrays)
        if not np.isfinite(self._state.known.rating).all():
            raise InputError(f"What was kept of {self!r} holds ratings that are no numbers; rate the matches anew.")
        self._numbers = type(self._numbers)(*arrays["numbers"].tolist())
        self._common = arrays["common"].copy()
