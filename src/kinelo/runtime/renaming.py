"""Arguments and methods that changed their name: the old one still works and says so."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def renamed_arguments(**names: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Accept old keywords (old=new) of a function until version 0.5, with a DeprecationWarning.

    >>> import warnings
    >>> @renamed_arguments(simulations="realisations")
    ... def season(realisations: int) -> int:
    ...     return realisations
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     season(simulations=3)  # type: ignore[call-arg]
    3
    >>> str(heard[0].message)
    'kinelo.season: simulations= is now realisations=; the old name goes with version 0.5.'
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            for old, new in names.items():
                if old in kwargs and new not in kwargs:
                    warnings.warn(
                        f"kinelo.{function.__qualname__}: {old}= is now {new}=; the old name goes with version 0.5.",
                        DeprecationWarning,
                        stacklevel=2,
                    )
                    kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return called

    return decorate


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
