"""A control of a page, declared once: sliders, defaults, links, presets and the checks of requests follow from it.

A panel is a pydantic model whose fields are declared by :func:`slider` and :func:`choice`:

>>> class Small(Panel):
...     sigma: float = slider(1.0, (0.0, 3.0), step=0.05, label="Ups and downs", hint="How far strength strays.")
...     start: str = choice("equal", {"equal": "All equal", "random": "At random"}, label="Start", hint="Where.")
>>> Small.read({"sigma": 2}).sigma
2.0
>>> Small.read({"sigma": 9})
Traceback (most recent call last):
    ...
kinelo.errors.InputError: sigma must lie between 0 and 3, not at 9.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

from pydantic import BaseModel, Field, ValidationError, ValidationInfo, field_validator, model_validator

from kinelo.errors import InputError


def shown(value: object) -> str:
    """What a page sent, short enough for a sentence."""
    return reprlib.repr(value)


@dataclass(frozen=True, kw_only=True)
class Slider:
    """A number between two ends.

    ``when`` names the choice under which it is shown, ``at_most`` another slider that it must not pass. ``unit`` is
    "points", "step" (of a rating), "share" or empty. ``first`` ones are shown before all others.
    """

    low: float
    high: float
    step: float
    label: str
    hint: str
    symbol: str = ""
    group: str = ""
    unit: str = ""
    logarithmic: bool = False
    when: tuple[str, str] | None = None
    at_most: str | None = None
    first: bool = False

    def read(self, name: str, value: object) -> float:
        """Return the value as a number of the slider's range, or say what is accepted."""
        whole = self.step >= 1
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise InputError(f"{name} must be a number from {self.low:g} to {self.high:g}, not {shown(value)}.")
        if not self.low <= value <= self.high:
            raise InputError(f"{name} must lie between {self.low:g} and {self.high:g}, not at {shown(value)}.")
        if whole and value != round(value):
            raise InputError(f"{name} must be a whole number, not {shown(value)}.")
        return round(value) if whole else float(value)


@dataclass(frozen=True, kw_only=True)
class Options:
    """One of a few named options, each with its words."""

    options: dict[str, str]
    label: str
    hint: str
    group: str = ""
    when: tuple[str, str] | None = None

    def read(self, name: str, value: object) -> str:
        """Return the option, or say which there are."""
        if not isinstance(value, str) or value not in self.options:
            raise InputError(f"{name} must be one of {', '.join(self.options)}, not {shown(value)}.")
        return value


Control = Slider | Options


@dataclass(frozen=True)
class Clash:
    """Two settings that exclude each other, and why.

    Each is a control with an option, or a slider with None: then every place but its low end.
    """

    one: tuple[str, str | None]
    other: tuple[str, str | None]
    reason: str


def slider(default: float, ends: tuple[float, float], **words: Any) -> Any:
    """A field of a panel that is a number between two ends; the rest as in :class:`Slider`."""
    low, high = ends
    return Field(default, json_schema_extra={"control": Slider(low=low, high=high, **words)})  # type: ignore[dict-item]


def choice(default: str, options: dict[str, str], **words: Any) -> Any:
    """A field of a panel that is one of a few options; the rest as in :class:`Options`."""
    return Field(default, json_schema_extra={"control": Options(options=options, **words)})  # type: ignore[dict-item]


class Panel(BaseModel, frozen=True, extra="forbid"):
    """One position of the controls of a page. A position that cannot be played does not exist."""

    clashes: ClassVar[tuple[Clash, ...]] = ()

    @classmethod
    def controls(cls) -> dict[str, Control]:
        """The controls by name, in the order of the page."""
        return {name: field.json_schema_extra["control"] for name, field in cls.model_fields.items()}  # type: ignore

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Where every control stands at first."""
        return {name: field.default for name, field in cls.model_fields.items()}

    @field_validator("*", mode="before")
    @classmethod
    def _read_one(cls, value: object, info: ValidationInfo) -> Any:
        assert info.field_name is not None
        return cls.controls()[info.field_name].read(info.field_name, value)

    @model_validator(mode="after")
    def _read_all(self) -> Self:
        for name, control in self.controls().items():
            shown_now = control.when is None or getattr(self, control.when[0]) == control.when[1]
            if isinstance(control, Slider) and control.at_most is not None and shown_now:
                most = getattr(self, control.at_most)
                if getattr(self, name) > most:
                    words = f"where “{self.controls()[control.at_most].label}” stands"
                    raise InputError(f"{name} must be at most {most:g}, {words}, not {getattr(self, name)}.")
        for clash in self.clashes:
            if self._holds(*clash.one) and self._holds(*clash.other):
                raise InputError(clash.reason)
        return self

    def _holds(self, name: str, option: str | None) -> bool:
        control, value = self.controls()[name], getattr(self, name)
        return value == option if option is not None else isinstance(control, Slider) and value > control.low

    @classmethod
    def read(cls, given: object) -> Self:
        """Check values that came from a page; what is not given takes its default."""
        if not isinstance(given, Mapping):
            raise InputError("The controls must come as names with values.")
        if unknown := sorted(map(str, set(given) - set(cls.model_fields))):
            raise InputError(f"There is no control {shown(unknown[0])}; there are {', '.join(cls.model_fields)}.")
        try:
            return cls(**given)
        except ValidationError as error:
            [first, *_] = error.errors()
            raise InputError(str(first["ctx"]["error"])) from None  # type: ignore[typeddict-item]

    def but(self, **changes: Any) -> Self:
        """The same position with some controls elsewhere."""
        return type(self).read({**self.to_dict(), **changes})

    def to_dict(self) -> dict[str, Any]:
        """Values by name."""
        return self.model_dump()

    @classmethod
    def described(cls) -> dict[str, Any]:
        """The controls and clashes as a page draws them."""
        listed = [
            {
                "name": name,
                "kind": "slider" if isinstance(control, Slider) else "choice",
                "default": cls.model_fields[name].default,
                **asdict(control),
            }
            for name, control in cls.controls().items()
        ]
        return {"controls": listed, "clashes": [asdict(clash) for clash in cls.clashes]}
