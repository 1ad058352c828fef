"""What raters with normal beliefs share: how a match is seen, and how a belief becomes a forecast.

A match shows ``y = sign(m) |m / u|^p`` of its margin ``m``, with ``u`` the mean absolute margin of the matches fitted;
without a score it shows the result. Where ``y`` is believed to lie around ``μ`` with variance ``V``, the forecast is
``P(win) = Φ((κμ − c)/√(1 + κ²V))``, ``P(loss) = Φ((−κμ − c)/√(1 + κ²V))`` and the rest a draw: the exact expectation
of a normal performance over the belief.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from kinelo.errors import InputError
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import Parameter
from kinelo.matches.matches import Matches
from kinelo.raters.order import Order
from kinelo.raters.rater import Rater

Array = NDArray[np.float64]

LOGISTIC = 1.702
"""``Φ(z)`` and the logistic function of ``1.702 z`` differ by less than .01."""

VENUE_VARIANCE = 1.0
"""Variance of a venue's advantage before any match: wide, so that the matches decide."""

MARGIN_POWER = Parameter("margin_power", 0.7, 0.1, 1.5, True, "power of the margin that the update sees")
SHARPNESS = Parameter("sharpness", 1.2, 0.1, 5.0, True, "how steeply the forecast follows the strengths")
TIES = Parameter("ties", 0.35, 1e-6, 3.0, True, "half width of the draw band")


class GaussianRater(Rater):
    """A rater that walks through the matches once, leaving the mean and variance it expected of each."""

    initial: float
    margin_unit_: float = math.nan
    _state: Any = None
    _level_draws: float | None = None

    @abstractmethod
    def _fresh(self) -> Any:
        """The state before any match."""

    @abstractmethod
    def _walk(self, matches: Matches) -> tuple[Array, Array, tuple[str, ...]]:
        """Use the matches in order: mean and variance expected of each before it was used, and names never met."""

    @abstractmethod
    def _look(self, matches: Matches) -> tuple[Array, Array, tuple[str, ...]]:
        """The same for matches from the state as it stands, which is left alone."""

    def fit(self, matches: Matches) -> Self:
        """Estimate the open parameters on these matches, then rate them in order from a fresh start."""
        drawn = float(np.mean(1.0 - np.abs(matches.signed))) if len(matches) else 0.0
        self._level_draws = drawn if 0.0 < drawn < 0.9 else None
        size = np.abs(matches.margin)
        self.margin_unit_ = float(np.nanmean(size)) if np.any(size > 0) else math.nan
        return super().fit(matches)

    @property
    def _venue_variance(self) -> Array:
        """Variance of the advantages at home and of the first on neutral ground before any match: 0 is never learnt."""
        return np.where([self.order_.home, self.order_.neutral], VENUE_VARIANCE, 0.0)

    def open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters to be estimated; the search for the draw band begins where equal sides would draw as all do."""
        share = self._level_draws
        if share is None:
            return super().open_parameters()
        band = min(max(float(ndtri(0.5 + share / 2)), TIES.low), TIES.high)
        return tuple(replace(p, default=band) if p.name == "ties" else p for p in super().open_parameters())

    def moot_parameters(self, matches: Matches) -> Mapping[str, float]:
        """No ties without a draw, no power of margins without scores."""
        moot: dict[str, float] = {}
        if not np.any(np.abs(matches.signed) < 1):
            moot["ties"] = 0.0
        if not np.any(np.abs(matches.margin) > 0):
            moot["margin_power"] = 1.0
        return moot

    def reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every match and settle the parameters."""
        self.parameters_ = self.settled_values(estimated)
        self._state = self._fresh()

    def update(self, matches: Matches) -> Self:
        """Carry the ratings on with further matches, in order."""
        self._begin(matches)
        self._walk(matches)
        return self

    def one_step_ahead(self, matches: Matches) -> Forecast:
        """Forecast each match before it is used, and use it."""
        self._begin(matches)
        return self._forecast(*self._walk(matches)).about(matches)

    def predict(self, matches: Matches) -> Forecast:
        """Forecast matches from the ratings as they stand; names never met get the prior and are listed."""
        self._begun()
        return self._forecast(*self._look(matches)).about(matches)

    def _begun(self) -> Any:
        if self._state is None:
            self.reset()
        return self._state

    def _begin(self, matches: Matches) -> None:
        self._begun()
        if np.isnan(matches.result).any():
            raise InputError("a match without a result cannot change a rating; forecast it with predict")

    def _signal(self, matches: Matches) -> Array:
        """What the update sees of each match; margins count only after ``fit``, which learns their unit."""
        if math.isnan(self.margin_unit_):
            return matches.signed
        seen = np.abs(matches.margin / self.margin_unit_) ** self.parameters_["margin_power"]
        return np.where(np.isnan(matches.margin), matches.signed, np.sign(matches.margin) * seen)

    def _forecast(self, mean: Array, variance: Array, unknown: tuple[str, ...]) -> Forecast:
        sharpness, band = self.parameters_["sharpness"], self.parameters_["ties"]
        scale = 1.0 / np.sqrt(1.0 + sharpness**2 * variance)
        win = ndtr((sharpness * mean - band) * scale)
        loss = ndtr((-sharpness * mean - band) * scale)
        if band == 0.0:
            return Forecast.of(win, np.zeros_like(win), 1.0 - win, unknown)
        return Forecast.of(win, np.maximum(1.0 - win - loss, 0.0), loss, unknown)

    @property
    def points_per_unit_(self) -> float:
        """Rating points per unit of strength, on the scale where 400 points are odds of ten to one."""
        return 400.0 / math.log(10.0) * LOGISTIC * self.parameters_["sharpness"]

    def to_arrays(self) -> dict[str, NDArray]:
        """Everything needed to carry on from here, as arrays."""
        named = {f"parameter_{name}": np.array(value) for name, value in self.parameters_.items()}
        order = np.array([self.order_.home, self.order_.neutral])
        return {**self._begun().to_arrays(), **named, "margin_unit": np.array(self.margin_unit_), "order": order}

    def from_arrays(self, arrays: dict[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self.order_ = Order(*arrays["order"].tolist())
        prefix = "parameter_"
        self.reset({k.removeprefix(prefix): float(v) for k, v in arrays.items() if k.startswith(prefix)})
        self.margin_unit_ = float(arrays["margin_unit"])
        self._state.from_arrays(arrays)
