"""Sweeps: one function at many points, here or on many machines, with every point stored as it ends."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.sweeps.sweep import convergence_table

_MODULE_OF = modules_of(
    {
        "sweeps.sweep": ("convergence_table",),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return __all__
