"""The rater of a book: where its class comes from, and with which arguments it was made.

A book keeps any rater with ``one_step_ahead`` whose class can be found again by module and name. One that gives its
state as arrays (``to_arrays``, ``from_arrays``) is kept with what ``fit`` found; any other begins as constructed, and
the book goes over the journal each time it is opened.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any

from kinelo.book.systems import law_of, plain_law, plain_system, system_of
from kinelo.errors import InputError
from kinelo.model.steps import StepRule
from kinelo.model.system import RatingSystem
from kinelo.raters.adapter import settings_of
from kinelo.raters.start import read_k, read_start
from kinelo.runtime.plugins import comes_from_plugin


def origin_of(rater: Any) -> str:
    """Where the class of a rater comes from, as ``module:name``."""
    kind = type(rater)
    if not hasattr(rater, "one_step_ahead"):
        raise InputError(f"{kind.__qualname__} is not a rater: it lacks one_step_ahead.")
    if kind.__module__ == "__main__" or "<locals>" in kind.__qualname__:
        raise InputError(
            f"A rating book must find the class {kind.__qualname__} again; define it in a module, not inside "
            f"{'a script' if kind.__module__ == '__main__' else 'a function'}."
        )
    return f"{kind.__module__}:{kind.__qualname__}"


def class_of(origin: str, given: Any, book: str) -> type:
    """The class a book was made with: Kinelo's own, a plug-in's, one imported already, or that of the rater given."""
    if given is not None:
        if origin_of(given) != origin:
            raise InputError(f"{book} is a book of {origin}, not of {origin_of(given)}; open it without a rater.")
        return type(given)
    module, _, name = origin.partition(":")
    ours = module.startswith("kinelo.") or comes_from_plugin(module, "kinelo.raters")
    if not ours and module not in sys.modules:
        raise InputError(f"{book} is a book of {origin}; import that module first, or give its rater.")
    try:
        found: Any = import_module(module) if ours else sys.modules[module]
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        raise InputError(f"{book} is a book of {origin}, which is not there any more.") from None
    return found


def description_of(rater: Any) -> dict[str, Any]:
    """What a book says of its rater: its class, the arguments, and which of these are rating systems."""
    given = settings_of(rater)
    systems = [name for name, value in given.items() if isinstance(value, RatingSystem | StepRule)]
    return {"rater": origin_of(rater), "settings": settings_to_keep(rater), "systems": systems}


def rater_from(kind: type, about: dict[str, Any]) -> Any:
    """A rater of this class with the arguments that a book has kept."""
    kept = {name: about["settings"][name] for name in about.get("systems", ())}
    systems = {name: law_of(value) if "kind" in value else system_of(value) for name, value in kept.items()}
    return kind(**about["settings"] | systems)


def settings_to_keep(rater: Any) -> dict[str, Any]:
    """Arguments of the constructor, which must be what JSON can keep, rating systems, or rules of K."""
    settings = {name: list(v) if isinstance(v, tuple) else v for name, v in settings_of(rater).items()}
    settings |= {name: plain_system(v) for name, v in settings.items() if isinstance(v, RatingSystem)}
    settings |= {name: plain_law(name, v) for name, v in settings.items() if isinstance(v, StepRule)}
    if settings.get("k_of") is not None:
        settings["k_of"] = read_k(settings["k_of"])
    if settings.get("start") is not None:
        settings["start"] = read_start(settings["start"]).plain()
    try:
        kept = json.loads(json.dumps(settings))
    except (TypeError, ValueError):
        kept = None
    if kept != settings:
        raise InputError(
            "A rating book keeps numbers, words, lists and rating systems, which not all arguments of "
            f"{type(rater).__name__} are."
        )
    return settings
