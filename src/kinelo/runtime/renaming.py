"""Methods that are no longer public: the old name still works and says so."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any


def no_longer_public(name: str, instead: str) -> Callable[..., Any]:
    """A method under the name it had while it was public, which warns and calls the private one (``_name``).

    >>> import warnings
    >>> class Rater:
    ...     def _losses(self) -> int:
    ...         return 3
    ...     losses = no_longer_public("losses", "fit asks for them")
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     Rater().losses()
    3
    >>> str(heard[0].message)
    'Rater.losses is no longer public: fit asks for them. The name goes with version 0.6.'
    """

    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        said = f"{type(self).__name__}.{name} is no longer public: {instead}. The name goes with version 0.6."
        warnings.warn(said, DeprecationWarning, stacklevel=2)
        return getattr(self, f"_{name}")(*args, **kwargs)

    called.__name__ = name
    called.__doc__ = f"No longer public: {instead}. The name goes with version 0.6."
    return called
