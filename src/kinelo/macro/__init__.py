"""The kinetic equation: the density of teams in (θ, σ, r) and how it moves."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.macro.population import Population
    from kinelo.macro.run import kinetic_states
    from kinelo.macro.state import KineticState

_MODULE_OF = modules_of(
    {
        "macro.population": ("Population",),
        "macro.run": ("kinetic_states",),
        "macro.state": ("KineticState",),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return __all__
