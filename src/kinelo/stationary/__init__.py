"""Where ratings end up, without waiting for it.

The package can be called: ``kn.stationary(system, strengths)`` is :func:`kinelo.stationary.limit.stationary`. That way
the verb and the room may share a name, whichever of them is touched first.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinelo.model.expectation import Closure
    from kinelo.model.strength import Strength
    from kinelo.model.system import RatingSystem
    from kinelo.stationary.continuum import Continuum
    from kinelo.stationary.state import Method, Noise, StationaryState


class _CallableRoom(ModuleType):
    def __call__(
        self,
        system: RatingSystem,
        strengths: Strength | Continuum,
        closure: Closure = "exact",
        noise: Noise = "none",
        *,
        start: ArrayLike | None = None,
        method: Method = "auto",
    ) -> StationaryState:
        """Ratings at which the drift vanishes; see :func:`kinelo.stationary.limit.stationary`."""
        from kinelo.stationary.limit import stationary as find

        return find(system, strengths, closure, noise, start=start, method=method)

    @property
    def stationary(self) -> _CallableRoom:
        """The room itself, so that ``kinelo.stationary`` is one object however it is reached."""
        return self


sys.modules[__name__].__class__ = _CallableRoom
