"""The reproduction: every figure and claim of the paper, in one report."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.model.setups import setup_r1, setup_r2

_MODULE_OF = modules_of(
    {
        "model.setups": ("setup_r1", "setup_r2"),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return __all__
