"""Processors, memory, devices, atomic files, progress, worker processes."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.runtime.device import Device
    from kinelo.runtime.frames import to_pandas

_MODULE_OF = modules_of(
    {
        "runtime.device": ("Device",),
        "runtime.frames": ("to_pandas",),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return __all__
