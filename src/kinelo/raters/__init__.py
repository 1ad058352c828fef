"""Raters of real matches: one folder each, on one protocol."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.raters.choice import choose_rater
    from kinelo.raters.mixture import Mixture
    from kinelo.raters.rater import Rater
    from kinelo.raters.upset_table import surprises, upsets
    from kinelo.raters.what_if import with_points

_MODULE_OF = modules_of(
    {
        "raters.choice": ("choose_rater",),
        "raters.mixture": ("Mixture",),
        "raters.rater": ("Rater",),
        "raters.upset_table": ("surprises", "upsets"),
        "raters.what_if": ("with_points",),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return __all__
