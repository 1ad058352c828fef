"""Raters that keep a state (:mod:`kinelo.raters.state`): how it begins, and how it is handed over as arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.matches import Matches, check_matches
from kinelo.raters.rater import Rater

PREFIX = "parameter_"


class StatefulRater(Rater):
    """A rater whose parameters make a fresh state, which matches then carry on."""

    _state: Any = None

    @abstractmethod
    def _fresh(self, values: Mapping[str, float]) -> Any:
        """The state before any match."""

    def reset(self, estimated: dict[str, float] | None = None) -> None:
        """Forget every match and settle the parameters."""
        self.parameters_ = self.settled_values(estimated)
        self._state = self._fresh(self.parameters_)

    def _begun(self) -> Any:
        if self._state is None:
            self.reset()
        return self._state

    def _begin(self, matches: Matches) -> Any:
        """The state, about to be carried on by matches, which must have been played."""
        check_matches(matches)
        if np.isnan(matches.result).any():
            raise InputError("a match without a result cannot change a rating; forecast it with predict")
        return self._begun()

    def to_arrays(self) -> dict[str, NDArray]:
        """Everything needed to carry on from here, as arrays."""
        state = self._begun()
        return state.to_arrays() | {f"{PREFIX}{name}": np.array(value) for name, value in self.parameters_.items()}

    def from_arrays(self, arrays: Mapping[str, NDArray]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self.reset({name.removeprefix(PREFIX): float(v) for name, v in arrays.items() if name.startswith(PREFIX)})
        self._state.from_arrays(arrays)
