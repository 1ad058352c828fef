"""Matches whose order within their day nobody knows (:attr:`Matches.unordered`): all forecast from before the first.

A final that is rated before its semi-finals tells who won them. ``one_step_ahead`` therefore forecasts such matches
together from the ratings as they stand before any of them, and then uses them; ``fit`` scores only those that no side
has played before on that day, whose one-step-ahead forecast is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from itertools import pairwise
from typing import Any, TypeVar, cast

import numpy as np

from kinelo.forecasts.forecast import Forecast
from kinelo.matches.matches import Matches

Forecasting = TypeVar("Forecasting", bound=Callable[..., Forecast])


def from_day_starts(one_step_ahead: Forecasting) -> Forecasting:
    """Let a ``one_step_ahead`` in the order of the table forecast unordered matches from the start of their day."""

    @wraps(one_step_ahead)
    def in_parts(self: Any, matches: Matches) -> Forecast:
        if not isinstance(matches, Matches) or matches.unordered is None or not matches.unordered.any():
            return one_step_ahead(self, matches)
        said, unknown = [], {}
        for part in parts_of(matches):
            if part.unordered is not None and part.unordered[0]:
                self._begun()
                forecast = self._foresee(part)
                self.update(part)
            else:
                forecast = one_step_ahead(self, part)
            said.append(forecast.probabilities)
            unknown |= dict.fromkeys(forecast.unknown)
        return Forecast(np.concatenate(said), tuple(unknown)).about(matches)

    return cast(Forecasting, in_parts)


def parts_of(matches: Matches) -> Iterator[Matches]:
    """The matches in parts: each day's unordered matches together, and what lies between them."""
    unordered = matches.unordered
    if unordered is None or not len(matches):
        yield matches
        return
    cut = (unordered[1:] != unordered[:-1]) | (unordered[1:] & (matches.day[1:] != matches.day[:-1]))
    ends = [0, *(np.flatnonzero(cut) + 1).tolist(), len(matches)]
    for begin, end in pairwise(ends):
        yield matches[begin:end]
