"""Names that load the module they live in when first touched."""

import sys
from collections.abc import Mapping
from importlib import import_module


def modules_of(names: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Name → full module, from module below ``kinelo`` → names.

    >>> modules_of({"model.steps": ("StepRule",)})
    {'StepRule': 'kinelo.model.steps'}
    """
    return {name: f"kinelo.{module}" for module, those in names.items() for name in those}


def load(package: str, modules: Mapping[str, str], name: str) -> object:
    """Return ``package.name`` and keep it there, so that the next access costs nothing."""
    if name not in modules:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value = getattr(import_module(modules[name]), name)
    setattr(sys.modules[package], name, value)
    return value
