"""A study file: one TOML document that says what to compute, read and checked before anything runs.

``[simulate]``, ``[population]`` and ``[solve]`` are sections. A law is a section with ``kind`` and the law's parameters
as further keys. Built-in laws are those that :func:`kinelo.model.law.built_in_laws` finds: their keys, types and
defaults are read from their constructors. ``kind = "module:Class"`` names a law of the user's own, ``kind =
"module:name"`` one that the module has made. To import it is to run code, so such a section is refused unless whoever
reads the file allows code (``parse_study(…, allow_code=True)``); distributions of ``scipy.stats`` need no leave. A
stored run remembers the digest of such a law (:mod:`kinelo.model.law`), because its name does not change when its
formula does.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias, TypeVar, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    ValidationInfo,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from kinelo.errors import InputError
from kinelo.model.dynamics import Dynamics
from kinelo.model.law import BuiltIn, Law, built_in_laws
from kinelo.model.outcome import Outcome
from kinelo.model.pairing import Pairing
from kinelo.model.schedule import ScheduleLaw
from kinelo.model.steps import StepRule
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.results.manifest import LAWS
from kinelo.runtime.plugins import imported, load_plugin, plugins, warn_of_plugins_left_out
from kinelo.runtime.reading import read_text

if TYPE_CHECKING:
    from kinelo.macro.population import Population
    from kinelo.model.scaled import Shape


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
            raise InputError(f"{self.kind} is not a class made from kinelo.model.{self.base.__name__}.")
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
        from scipy import stats

        from kinelo.model.scaled import Shape

        if self._runs_code():
            law = imported(self.kind, "distribution", self._folder)
        else:
            law = vars(stats).get(self.kind.removeprefix(OF_SCIPY))
            if not isinstance(law, stats.rv_continuous):
                raise InputError(
                    f"The distribution {self.kind} was not found: SciPy has no continuous distribution of that name."
                )
        # Frozen, or still to be given its parameters; nothing is called yet.
        if not any(callable(getattr(law, name, None)) for name in ("ppf", "icdf")):
            raise InputError(f"{self.kind} is not a distribution, such as scipy.stats:t.")
        return _call(self.kind, lambda **keys: Shape(law(**keys) if keys else law), dict(self.model_extra or {}))


def _call(kind: str, make: Any, given: dict[str, Any]) -> Any:
    try:
        return make(**given)
    except TypeError as error:
        keys = ", ".join(given) or "no further keys"
        raise InputError(f"{kind} cannot be made from {keys}: {str(error).rstrip('.')}.") from None


def _built_in(family: type[Law]) -> Any:
    """The sections of all built-in laws of a family, which differ in ``kind``."""
    return Annotated[reduce(or_, map(law_section, built_in_laws(family))), Field(discriminator="kind")]


def _own_or_built_in(family: type[Law], users: type[OwnSection]) -> Any:
    def owner(section: object) -> str:
        kind = section.get("kind") if isinstance(section, dict) else getattr(section, "kind", None)
        added: Any = ()
        if family is Outcome:  # names that other packages add are not built in either
            warn_of_plugins_left_out("kinelo.outcomes", OUTCOME_KEYS)
            added = plugins("kinelo.outcomes", OUTCOME_KEYS)
        return OWN_LAW if isinstance(kind, str) and (":" in kind or kind in added) else BUILT_IN

    return Annotated[Annotated[_built_in(family), Tag(BUILT_IN)] | Annotated[users, Tag(OWN_LAW)], Discriminator(owner)]


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


Cells = tuple[float, float, int]


class SimulateSection(Section):
    """``[simulate]``: how long to play, how often, and from where."""

    steps: int = Field(ge=0)
    seed: int = Field(ge=0)
    matches_per_step: int = Field(default=25, ge=1)
    realisations: int = Field(default=1, ge=1)
    record_every: int | None = Field(default=None, ge=1)
    sampling: Literal["marginal", "literal"] = "marginal"
    start: float | list[float] | None = None


class _CellsSection(Section):
    """Cells ``[low, high, count]`` in θ and r; σ is one number or cells too."""

    theta: Cells
    r: Cells
    sigma: float | Cells

    @property
    def cells(self) -> dict[str, Any]:
        """The three axes as arguments of a population."""
        return {"theta": self.theta, "r": self.r, "sigma": self.sigma}


class UniformSection(_CellsSection):
    """``kind = "uniform"``: teams spread evenly over all cells."""

    kind: Literal["uniform"]

    def build(self) -> Population:
        """Return the population."""
        from kinelo.macro.population import Population

        return Population.uniform(**self.cells)


class GaussianSection(_CellsSection):
    """``kind = "gaussian"``: θ and r normal and independent."""

    kind: Literal["gaussian"]
    theta_mean: float | None = None
    theta_sd: float | None = None
    r_mean: float | None = None
    r_sd: float | None = None

    def build(self) -> Population:
        """Return the population."""
        from kinelo.macro.population import Population

        return Population.gaussian(
            **self.cells, theta_mean=self.theta_mean, theta_sd=self.theta_sd, r_mean=self.r_mean, r_sd=self.r_sd
        )


class _CentredSection(_CellsSection):
    """Teams around one rating, or each around its own θ (``rating = "theta"``)."""

    rating: float | Literal["theta"]

    @property
    def centre(self) -> Any:
        """The rating as a population takes it."""
        return (lambda theta, sigma: theta) if self.rating == "theta" else self.rating


class ConcentratedSection(_CentredSection):
    """``kind = "concentrated"``: all teams at one rating, or each at its own θ (``rating = "theta"``)."""

    kind: Literal["concentrated"]

    def build(self) -> Population:
        """Return the population."""
        from kinelo.macro.population import Population

        return Population.concentrated(self.centre, **self.cells)


class RidgeSection(_CentredSection):
    """``kind = "ridge"``: ratings normal with standard deviation ``width`` around one rating, or around θ."""

    kind: Literal["ridge"]
    width: float

    def build(self) -> Population:
        """Return the population."""
        from kinelo.macro.population import Population

        return Population.ridge(self.centre, self.width, **self.cells)


PopulationSection = Annotated[
    UniformSection | GaussianSection | ConcentratedSection | RidgeSection, Field(discriminator="kind")
]


class SolveSection(Section):
    """``[solve]``: how far, by which closure and scheme, and what to keep."""

    until: float
    closure: Literal["exact", "taylor"] = "exact"
    scheme: Literal["upwind", "tvd"] = "upwind"
    dt: float | Literal["cfl"] = "cfl"
    diffusion: float = 0.0
    save_at: list[float] | None = None
    stop: Literal["until", "steady"] = "until"
    steady_below: float = 1e-4
    samples: int = 100
    shape: ShapeSection | None = None

    @cached_property
    def distribution(self) -> Shape | None:
        """How performances are distributed about their mean, if not normally."""
        return None if self.shape is None else build("solve.shape", self.shape)

    @property
    def settings(self) -> dict[str, Any]:
        """The section as arguments of a run."""
        return self.model_dump() | {"shape": self.distribution}

    @property
    def description(self) -> dict[str, object]:
        """What the dataset of the run remembers of its settings."""
        settings: dict[str, object] = self.model_dump(include={"closure", "scheme", "dt", "diffusion"})
        return settings if self.shape is None else {**settings, "shape": repr(self.distribution)}


Part = TypeVar("Part")


class Study(Section):
    """What a study file holds: outcome, pairing, gamma and schedule make the system, ``league`` the strengths."""

    title: str = ""
    gamma: GammaSection
    outcome: OutcomeSection
    pairing: PairingSection = Field(default={"kind": "all-play-all"}, validate_default=True)
    schedule: ScheduleSection | None = None
    dynamics: DynamicsSection | None = None
    league: LeagueSection | None = None
    simulate: SimulateSection | None = None
    population: PopulationSection | None = None
    solve: SolveSection | None = None
    sweep: dict[str, Any] | None = None
    design: dict[str, dict[str, Any]] | None = None

    @cached_property
    def system(self) -> RatingSystem:
        """The rating system of the study."""
        gamma = build("gamma", self.gamma) if isinstance(self.gamma, Section) else self.gamma
        schedule = None if self.schedule is None else build("schedule", self.schedule)
        return RatingSystem(build("outcome", self.outcome), build("pairing", self.pairing), gamma, schedule)

    @cached_property
    def motion(self) -> Dynamics | None:
        """How the strengths of the study move, if they do."""
        return None if self.dynamics is None else build("dynamics", self.dynamics)

    @cached_property
    def strengths(self) -> Strength:
        """The league of the study."""
        return build("league", required("league", self.league))

    def inputs(self, *names: str) -> dict[str, Any]:
        """What these sections say, ready for JSON, with digests of the laws that are the user's own."""
        laws = {"outcome": (self.outcome, self.system.outcome), "pairing": (self.pairing, self.system.pairing)}
        if "league" in names and self.league is not None:
            laws["league"] = (self.league, self.strengths)
        if "solve" in names and self.solve is not None and self.solve.shape is not None:
            laws["shape"] = (self.solve.shape, self.solve.distribution)
        digests = {name: law.digest() for name, (section, law) in laws.items() if isinstance(section, OwnSection)}
        return self.model_dump(mode="json", include=set(names)) | ({LAWS: digests} if digests else {})

    @cached_property
    def teams(self) -> Population:
        """The population of the study, for the kinetic equation."""
        return build("population", required("population", self.population))


def required(section: str, part: Part | None) -> Part:
    """Return the section, or say that the study needs it."""
    if part is None:
        raise InputError(f"The study needs a [{section}] section.")
    return part


def read_study(path: str | Path, *, allow_code: bool = False) -> Study:
    """Read and check a study file.

    Every complaint is one sentence with the file, the key and what is accepted. A file that names a law of its own
    (``kind = "module:Class"``) is refused unless you allow it to run code of that module.
    """
    if not isinstance(path, str | Path) or not str(path):
        raise InputError(f"A study is named by its file, such as 'study.toml', not by {path!r:.80}.")
    path = Path(path)
    try:
        content = tomllib.loads(read_text(path, "study file"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not valid TOML: {error}.") from None
    except RecursionError:
        raise InputError(
            f"{path} is nested too deeply to be read; a study has sections and lists of numbers."
        ) from None
    return parse_study(content, str(path), allow_code=allow_code, folder=path.parent)


def parse_study(
    content: dict[str, Any], source: str = "study", *, allow_code: bool = False, folder: Path | None = None
) -> Study:
    """Check the content of a study file and build its system and league once, so that nothing fails later.

    With ``allow_code`` it may name laws of the user's own, whose module is imported, also from ``folder``.
    """
    try:
        study = Study.model_validate(content, context={ALLOW_CODE: allow_code is True, FOLDER: folder})
    except ValidationError as error:
        raise InputError(f"{source}: {_sentence(error, content)}") from None
    try:
        _ = study.system, study.motion
        if study.league is not None:
            _ = study.strengths
        if study.solve is not None:
            _ = study.solve.distribution
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    return study


def _place(loc: Sequence[int | str], content: Any) -> str:
    """Where a complaint is, by the keys of the file: tags of kinds, which are no keys, are left out."""
    keys, here = [], content
    for depth, part in enumerate(loc, 1):
        inside = isinstance(here, dict) and part in here
        if part not in TAGS and (inside or not isinstance(here, dict) or depth == len(loc)):
            keys.append(str(part))
            here = here.get(part) if isinstance(here, dict) else None
    return ".".join(keys)


def _sentence(error: ValidationError, content: Mapping[str, Any]) -> str:
    # A misspelt key also leaves a required one missing: the misspelling is what helps.
    complaints = sorted(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden")
    first = complaints[0]
    where = _place(first["loc"], content)
    if first["type"] == "extra_forbidden":
        models: list[type[Section]] = [Study]
        for part in map(str, first["loc"][:-1]):
            fields = [one.model_fields[part].annotation for one in models if part in one.model_fields]
            kinds = [get_args(getattr(one.model_fields.get("kind"), "annotation", None)) for one in models]
            named = [one for one, names in zip(models, kinds) if part in names]
            models = [section for field in fields for section in sections_in(field)] or named or models
        return f"unknown key {where!r}; accepted here: {', '.join(models[0].model_fields)}."
    if first["type"] == "union_tag_not_found":
        return f"the key '{where}.kind' is missing."
    if first["type"] == ALLOW_CODE:
        named = first.get("ctx", {}).get("kind")
        return (
            f"{where}.kind = {named!r} runs code from outside Kinelo; if you trust the file and the "
            "module, allow it with --allow-code, or allow_code=True in Python."
        )
    if first["type"] == "missing":
        return f"the key {where!r} is missing."
    if first["type"] == "union_tag_invalid":
        context = first.get("ctx", {})
        own = ', or "module:Class" for a law of your own' if BUILT_IN in first["loc"] else ""
        return f"{where}.kind must be one of {context['expected_tags']}{own}, not {context['tag']!r}."
    message = first["msg"][0].lower() + first["msg"][1:]
    return f"{where}: {message}, not {first.get('input')!r}."
