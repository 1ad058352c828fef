"""Laws in a study file: a section with ``kind`` and the law's parameters as further keys.

Built-in laws are those that :func:`kinelo.model.law.built_in_laws` finds: their keys, types and defaults are read from
their constructors. ``kind = "module:Class"`` names a law of the user's own, ``kind = "module:name"`` one that the
module has made. To import it is to run code, so such a section is refused unless whoever reads the file allows code
(``parse_study(…, allow_code=True)``); distributions of ``scipy.stats`` need no leave. A stored run remembers the digest
of such a law (:mod:`kinelo.model.digest`), because its name does not change when its formula does.
"""

from __future__ import annotations

import inspect
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationInfo, create_model, model_validator
from pydantic_core import PydanticCustomError

from kinelo.errors import InputError
from kinelo.model.dynamics import Dynamics
from kinelo.model.law import BuiltIn, Law, built_in_laws
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import Pairing
from kinelo.model.schedule import ScheduleLaw
from kinelo.model.steps import StepRule
from kinelo.model.strength import Strength
from kinelo.results.manifest import LAWS
from kinelo.runtime.plugins import imported, load_plugin, plugins, warn_of_plugins_left_out

if TYPE_CHECKING:
    from kinelo.model.shape import Shape

OWN_LAW, BUILT_IN = "own", "built in"
TAGS = ("number", "each", "rule", BUILT_IN, OWN_LAW)
"""Alternatives of a section that are no keys of the file."""

OF_SCIPY = "scipy.stats:"
"""How a distribution of SciPy's begins: it is looked up among those, and needs no leave to run code."""

ALLOW_CODE = "allow_code"
"""In the context of a validation: that the file may name code to import."""

FOLDER = "folder"
"""In the context of a validation: where modules are looked for that are not on Python's path."""


class Section(BaseModel):
    """A section accepts its own keys and no others."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def build(section: str, part: Any) -> Any:
    """Build what a section describes; complaints name the section."""
    try:
        return part.build()
    except InputError as error:
        raise InputError(f"[{section}] {error}") from None


class LawSection(Section):
    """A built-in law."""

    law: ClassVar[BuiltIn]

    kind: str

    def build(self) -> Any:
        """Return the law."""
        return self.law.build(**{name: getattr(self, name) for name in type(self).model_fields if name != "kind"})


def law_section(law: BuiltIn) -> type[LawSection]:
    """The section of a built-in law: its keys are the parameters of the constructor."""
    fields: dict[str, Any] = {"kind": (Literal[law.key], ...)}
    for name, (hint, default) in law.parameters().items():
        if default is inspect.Parameter.empty:
            default = ...
        elif isinstance(default, tuple) and get_origin(hint) is list:
            default = list(default)
        fields[name] = (hint, default)
    summary = (law.make.__doc__ or "").partition("\n\n")[0]
    model = create_model(f"{law.make.__name__}Section", __base__=LawSection, __doc__=summary, **fields)
    model.law = law
    return model


class OwnSection(Section):
    """A law of your own, ``kind = "module:Class"``; further keys are handed to the class."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow")
    base: ClassVar[type[Law]]
    _folder: Path | None = None

    kind: str

    @model_validator(mode="after")
    def _check_allowed(self, info: ValidationInfo) -> Self:
        """Refuse what would run code, before anything is imported, unless code is allowed."""
        if self._runs_code() and not (info.context or {}).get(ALLOW_CODE):
            raise PydanticCustomError(ALLOW_CODE, "{kind}", {"kind": self.kind})
        self._folder = (info.context or {}).get(FOLDER)
        return self

    def _runs_code(self) -> bool:
        return True

    def _found(self) -> Any:
        return imported(self.kind, "law", self._folder)

    def build(self) -> Any:
        """Return the law."""
        law, given = self._found(), dict(self.model_extra or {})
        if isinstance(law, self.base) and not given:
            return law
        if not isinstance(law, type) or not issubclass(law, self.base):
            raise InputError(f"{self.kind} is not a class made from kinelo.{self.base.__name__}.")
        return _call(self.kind, law, given)


OUTCOME_KEYS = tuple(one.key for one in built_in_laws(Outcome))
"""Kinds of outcome that Kinelo has itself."""


class OwnOutcomeSection(OwnSection):
    """An outcome function of your own, or one that another package adds; further keys are handed to the class."""

    base = Outcome

    def _runs_code(self) -> bool:
        return self.kind not in plugins("kinelo.outcomes", OUTCOME_KEYS)

    def _found(self) -> Any:
        return (
            super()._found() if self._runs_code() else load_plugin(plugins("kinelo.outcomes", OUTCOME_KEYS)[self.kind])
        )


class OwnPairingSection(OwnSection):
    """A pairing function of your own; further keys are handed to the class."""

    base = Pairing


class OwnLeagueSection(OwnSection):
    """A league of your own; further keys are handed to the class."""

    base = Strength


class ShapeSection(OwnSection):
    """``[solve.shape] kind = "scipy.stats:t"``, ``df = 3``: the distribution of performances about their mean."""

    def _runs_code(self) -> bool:
        return not self.kind.startswith(OF_SCIPY)

    def build(self) -> Shape:
        """Return the shape."""
        from kinelo.model.shape import Shape, is_distribution

        found = imported(self.kind, "distribution", self._folder) if self._runs_code() else _of_scipy(self.kind)
        given = dict(self.model_extra or {})
        if not is_distribution(found):
            raise InputError(f"{self.kind} is not a distribution, such as scipy.stats:t.")
        return _call(self.kind, lambda **keys: Shape(found(**keys) if keys else found), given)


def _of_scipy(kind: str) -> Any:
    """The continuous distribution that ``scipy.stats`` has under a name."""
    from scipy import stats

    found = vars(stats).get(kind.removeprefix(OF_SCIPY))
    if not isinstance(found, stats.rv_continuous):
        raise InputError(f"The distribution {kind} was not found: SciPy has no continuous distribution of that name.")
    return found


def _call(kind: str, make: Any, given: dict[str, Any]) -> Any:
    try:
        return make(**given)
    except TypeError as error:
        keys = ", ".join(given) or "no further keys"
        raise InputError(f"{kind} cannot be made from {keys}: {str(error).rstrip('.')}.") from None


def _built_in(family: type[Law]) -> Any:
    """The sections of all built-in laws of a family, which differ in ``kind``."""
    return Annotated[reduce(or_, map(law_section, built_in_laws(family))), Field(discriminator="kind")]


def _own_or_built_in(family: type[Law], own: type[OwnSection]) -> Any:
    owner = _owner_of_outcome if family is Outcome else _owner
    return Annotated[Annotated[_built_in(family), Tag(BUILT_IN)] | Annotated[own, Tag(OWN_LAW)], Discriminator(owner)]


def _owner(section: object) -> str:
    kind = section.get("kind") if isinstance(section, dict) else getattr(section, "kind", None)
    return OWN_LAW if isinstance(kind, str) and ":" in kind else BUILT_IN


def _owner_of_outcome(section: object) -> str:
    """Who owns an outcome: names that other packages add are not built in either."""
    kind = section.get("kind") if isinstance(section, dict) else getattr(section, "kind", None)
    warn_of_plugins_left_out("kinelo.outcomes", OUTCOME_KEYS)
    return OWN_LAW if isinstance(kind, str) and kind in plugins("kinelo.outcomes", OUTCOME_KEYS) else _owner(section)


def _gamma_tag(value: object) -> str:
    return "each" if isinstance(value, list) else "rule" if isinstance(value, dict | Section) else "number"


if TYPE_CHECKING:
    OutcomeSection: TypeAlias = Any
    PairingSection: TypeAlias = Any
    LeagueSection: TypeAlias = Any
    DynamicsSection: TypeAlias = Any
    ScheduleSection: TypeAlias = Any
    GammaSection: TypeAlias = Any
else:
    OutcomeSection = _own_or_built_in(Outcome, OwnOutcomeSection)
    PairingSection = _own_or_built_in(Pairing, OwnPairingSection)
    LeagueSection = _own_or_built_in(Strength, OwnLeagueSection)
    DynamicsSection = _built_in(Dynamics)
    ScheduleSection = _built_in(ScheduleLaw)
    GammaSection = Annotated[
        Annotated[float, Tag("number")]
        | Annotated[list[float], Tag("each")]
        | Annotated[_built_in(StepRule), Tag("rule")],
        Discriminator(_gamma_tag),
    ]


def sections_in(annotation: Any) -> list[type[Section]]:
    """The sections that the type of a key names, however deep."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return [annotation]
    return [found for part in get_args(annotation) for found in sections_in(part)]


def accepted_keys(model: type[Section], location: tuple[int | str, ...]) -> list[str]:
    """The keys that are accepted at a place of a study file, from the model of the whole."""
    models = [model]
    for part in map(str, location):
        fields = [one.model_fields[part].annotation for one in models if part in one.model_fields]
        named = [one for one in models if part in get_args(getattr(one.model_fields.get("kind"), "annotation", None))]
        models = [section for field in fields for section in sections_in(field)] or named or models
    return list(models[0].model_fields)


def digests(**laws: tuple[Any, Any]) -> dict[str, dict[str, str]]:
    """Digests of the laws, given as (section, law), that are the user's own; nothing where none is."""
    own = {name: law.digest() for name, (section, law) in laws.items() if isinstance(section, OwnSection)}
    return {LAWS: own} if own else {}
