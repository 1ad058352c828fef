"""The rater of a book and its rating system: where classes come from, and with which arguments they were made.

A book keeps any rater with ``one_step_ahead`` whose class can be found again by module and name. One that gives its
state as arrays (``to_arrays``, ``from_arrays``) is kept with what ``fit`` found; any other begins as constructed, and
the book goes over the journal each time it is opened.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any, cast

import numpy as np

from kinelo.errors import InputError, in_one_line
from kinelo.model.law import Law, built_in_laws
from kinelo.model.steps import StepRule
from kinelo.model.system import RatingSystem
from kinelo.raters.adapter import settings_of
from kinelo.raters.choice import class_named
from kinelo.raters.mixture import Mixture
from kinelo.raters.questions import rater_shown
from kinelo.raters.rater import Rater
from kinelo.raters.start import read_k, read_start


def kept_laws() -> dict[str, type[Law]]:
    """Every built-in law that is part of a rating system, by the name of its class."""
    parts = {part.name for part in fields(RatingSystem)}
    return {one.law.__name__: one.law for one in built_in_laws(Law) if one.law.section in parts}


def plain_system(system: RatingSystem) -> dict[str, Any]:
    """A rating system in words and numbers; a law that users bring is refused.

    >>> from kinelo.model.outcome import Tanh
    >>> plain_system(RatingSystem(Tanh(nu=0.5), gamma=0.05))["outcome"]
    {'kind': 'Tanh', 'nu': 0.5}
    """
    return {part.name: plain_law(part.name, getattr(system, part.name)) for part in fields(system)}


def system_of(plain: dict[str, Any]) -> RatingSystem:
    """The rating system that was kept.

    >>> from kinelo.model.outcome import Tanh
    >>> system_of(plain_system(RatingSystem(Tanh(nu=0.5)))) == RatingSystem(Tanh(nu=0.5))
    True
    """
    return RatingSystem(**{name: law_of(value) for name, value in plain.items()})


def plain_law(name: str, value: Any) -> Any:
    """A law in words and numbers."""
    if value is None or isinstance(value, float):
        return value
    if isinstance(value, tuple):
        return list(value)
    kind = type(value)
    # The very class: one that derives from it may say something else under the same numbers.
    if kept_laws().get(kind.__name__) is not kind:
        raise InputError(
            f"A rating book keeps systems of Kinelo's own laws, and the {name} {kind.__qualname__} is not one of them."
        )
    held = {part.name: getattr(value, part.name) for part in fields(value)}
    return {"kind": kind.__name__, **{part: list(v) if isinstance(v, tuple) else v for part, v in held.items()}}


def law_of(value: Any) -> Any:
    """The law that was kept."""
    if not isinstance(value, dict):
        return value
    numbers = dict(value)
    return kept_laws()[numbers.pop("kind")](**numbers)


def origin_of(kind: type) -> str:
    """Where the class of a rater comes from, as ``module:name``."""
    if not hasattr(kind, "one_step_ahead"):
        raise InputError(f"{kind.__qualname__} is not a rater: it lacks one_step_ahead.")
    if kind.__module__ == "__main__" or "<locals>" in kind.__qualname__:
        raise InputError(
            f"A rating book must find the class {kind.__qualname__} again; define it in a module, not inside "
            f"{'a script' if kind.__module__ == '__main__' else 'a function'}."
        )
    return f"{kind.__module__}:{kind.__qualname__}"


def class_of(origin: Any, given: Any, book: str) -> type:
    """The class a book was made with: Kinelo's own, one that a plug-in declares, or that of the rater given.

    A book may come from a stranger. Its words name a class and never import one.
    """
    if not isinstance(origin, str):
        raise InputError(f"{book} does not say which rater it keeps: it is damaged.")
    named = class_named(origin)
    if given is None and named is None:
        raise InputError(
            f"{book} is a book of {origin}, which is neither a rater of Kinelo's nor declared by an installed plug-in: "
            f"give its class, RatingBook({book!r}, {origin.rpartition(':')[2]}), or --rater {origin} on the command "
            "line. That runs the code of the class."
        )
    if given is None:
        return cast("type", named)
    kind = given if isinstance(given, type) else type(given)
    if kind is not named and origin_of(kind) != origin:
        raise InputError(f"{book} is a book of {origin}, not of {origin_of(kind)}; open it without a rater.")
    return kind


def rater_from(kind: type, about: dict[str, Any], book: str) -> Any:
    """A rater of this class with the arguments that a book has kept."""
    try:
        settings = dict(about["settings"])
        if kind.__name__ == "Mixture":
            members = {}
            for name, member in settings["raters"].items():
                of_member = class_named(member["rater"])
                if of_member is None or not issubclass(of_member, Rater):
                    raise KeyError(member["rater"])
                members[name] = rater_from(of_member, member, book)
            return kind(members)
        # A book holds tables themselves. The name of a file would have it read files of whoever opens it.
        if odd := [name for name in ("start", "k_of", "born") if not isinstance(settings.get(name), dict | None)]:
            raise KeyError(odd[0])
        for name in about.get("systems", ()):
            settings[name] = law_of(settings[name]) if "kind" in settings[name] else system_of(settings[name])
        gone = getattr(kind, "_gone", {})
        return kind(**{name: value for name, value in settings.items() if name not in gone})
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{book} says of its rater, {kind.__name__}, what that cannot be made of ({in_one_line(error)}): it is "
            "damaged, or of another version."
        ) from None


def restore(rater: Any, arrays: dict[str, Any], file: str) -> None:
    """Let a rater take over arrays that a book holds; refuse such as no rater of its class stores.

    A checksum holds of whatever was written under it. What arrays can contain is for the rater to say, which may be
    anybody's: any error, also in the table of ratings that follows from them, means that they are not its own.
    """
    try:
        rater.from_arrays(arrays)
        with np.errstate(invalid="raise"):  # the root of a negative variance, say
            if isinstance(rater_shown(rater), Rater) and not np.isfinite(rater.ratings_["rating"].to_numpy()).all():
                raise ValueError("ratings that are no numbers")
    except Exception as error:
        raise InputError(
            f"{file} does not hold what {type(rater).__name__} stores ({in_one_line(error).rstrip('.')}); nothing was "
            "changed, put back a copy of the file."
        ) from None


def described(rater: Any) -> dict[str, Any]:
    """Where the class of a rater comes from, its arguments, and which of them are rating systems or rules of K."""
    systems = [name for name, value in settings_of(rater).items() if isinstance(value, RatingSystem | StepRule)]
    return {"rater": origin_of(type(rater)), "settings": settings_to_keep(rater), "systems": systems}


def settings_to_keep(rater: Any) -> dict[str, Any]:
    """Arguments of the constructor, which must be what JSON can keep, rating systems, or rules of K."""
    if isinstance(rater, Mixture):
        raters = rater.members_ or rater.raters or {}
        if odd := [name for name, member in raters.items() if not isinstance(member, Rater)]:
            raise InputError(f"A rating book keeps mixtures of Kinelo's raters, and {odd[0]} is none of them.")
        return {"raters": {name: described(member) for name, member in raters.items()}}
    settings = {name: list(v) if isinstance(v, tuple) else v for name, v in settings_of(rater).items()}
    settings |= {name: plain_system(v) for name, v in settings.items() if isinstance(v, RatingSystem)}
    settings |= {name: plain_law(name, v) for name, v in settings.items() if isinstance(v, StepRule)}
    if settings.get("k_of") is not None:
        settings["k_of"] = read_k(settings["k_of"])
    if hasattr(rater, "_plain_settings"):
        settings |= rater._plain_settings()
    elif settings.get("start") is not None:
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
