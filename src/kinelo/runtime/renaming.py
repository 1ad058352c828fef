"""Arguments that changed their name: the old one still works and says what it is called now."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

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
