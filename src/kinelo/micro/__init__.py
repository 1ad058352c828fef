"""The microscopic model: matches played one by one, ratings moved after each."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.micro.matches import simulate_matches
    from kinelo.micro.simulate import SimulationState, simulation_states

_MODULE_OF = modules_of(
    {
        "micro.matches": ("simulate_matches",),
        "micro.simulate": ("SimulationState", "simulation_states"),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return __all__
