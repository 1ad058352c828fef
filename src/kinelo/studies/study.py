"""A study file: one TOML document that says what to compute, read and checked before anything runs.

``[simulate]``, ``[population]`` and ``[solve]`` are sections; what laws they name is in :mod:`kinelo.studies.laws`.
"""

from __future__ import annotations

import tomllib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from kinelo.errors import InputError
from kinelo.model.dynamics import Dynamics
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.runtime.reading import read_text
from kinelo.studies.laws import (
    ALLOW_CODE,
    BUILT_IN,
    FOLDER,
    TAGS,
    DynamicsSection,
    GammaSection,
    LeagueSection,
    OutcomeSection,
    PairingSection,
    ScheduleSection,
    Section,
    ShapeSection,
    accepted_keys,
    build,
    digests,
)

if TYPE_CHECKING:
    from kinelo.macro.population import Population
    from kinelo.model.shape import Shape

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
        return self.model_dump(exclude={"shape"}) | {"shape": self.distribution}

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
        return self.model_dump(mode="json", include=set(names)) | digests(**laws)

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
        raise InputError(f"{source}: {_sentence(error)}") from None
    try:
        _ = study.system, study.motion
        if study.league is not None:
            _ = study.strengths
        if study.solve is not None:
            _ = study.solve.distribution
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    return study


def _sentence(error: ValidationError) -> str:
    # A misspelt key also leaves a required one missing: the misspelling is what helps.
    complaints = sorted(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden")
    first = complaints[0]
    where = ".".join(str(part) for part in first["loc"] if part not in TAGS)
    if first["type"] == "extra_forbidden":
        return f"unknown key {where!r}; accepted here: {', '.join(accepted_keys(Study, first['loc'][:-1]))}."
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
