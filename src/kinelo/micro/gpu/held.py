"""State that stays on the device from call to call, and comes back where somebody looks at it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.micro.gpu.target import unfused
from kinelo.model.validation import Array

Launch = Callable[[Mapping[str, Any], Any, Any, int, int], None]
"""``launch(arrays, played, keys, first, last)`` plays on the device; ``arrays`` holds what is carried, by name."""


class HeldPlay:
    """A ``Play`` on the device. Its first call takes the state there; :meth:`fetch` brings it back into the arrays.

    ``moved`` are the names of what matches change, among "rating" and those of the memory; only this is fetched.
    """

    def __init__(self, cuda: Any, launch: Launch, keys: NDArray[np.uint64], moved: tuple[str, ...], longest: int):
        self._cuda, self._launch, self._keys, self._moved, self._longest = cuda, launch, keys, moved, longest
        self._host: dict[str, NDArray] = {}
        self._there: dict[str, Any] = {}

    def __call__(
        self,
        rating: Array,
        played: NDArray[np.int64],
        memory: Mapping[str, NDArray],
        chosen: slice,
        first: int,
        last: int,
    ) -> None:
        """Play matches ``first … last − 1`` of the realisations ``chosen``, which are the same in every call."""
        if self._host.get("rating") is not rating:
            self._host, self._chosen = {"rating": rating, "played": played, **memory}, chosen
            self._there = {
                name: self._cuda.to_device(np.ascontiguousarray(values[chosen]))
                for name, values in {**self._host, "keys": self._keys}.items()
            }
        for begin in range(first, last, self._longest):
            end = min(begin + self._longest, last)
            with unfused():
                self._launch(self._there, self._there["played"], self._there["keys"], begin, end)
        self._cuda.synchronize()

    def fetch(self) -> None:
        """Bring what has changed back into the arrays of the last call."""
        for name in ("played", *self._moved):
            if name in self._there:
                self._host[name][self._chosen] = self._there[name].copy_to_host()


def on_device(cuda: Any, value: Any) -> Any:
    """Arrays in the memory of the device, in tuples as they were."""
    if isinstance(value, np.ndarray):
        return cuda.to_device(np.ascontiguousarray(value))
    return type(value)(*(on_device(cuda, part) for part in value)) if isinstance(value, tuple) else value
