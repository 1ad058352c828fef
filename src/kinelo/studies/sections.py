"""The sections of a study file that say what to compute: ``[simulate]``, ``[population]`` and ``[solve]``."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from kinelo.studies.laws import Section, ShapeSection, build

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


class ConcentratedSection(_CellsSection):
    """``kind = "concentrated"``: all teams at one rating, or each at its own θ (``rating = "theta"``)."""

    kind: Literal["concentrated"]
    rating: float | Literal["theta"]

    def build(self) -> Population:
        """Return the population."""
        from kinelo.macro.population import Population

        return Population.concentrated(self.centre, **self.cells)

    @property
    def centre(self) -> Any:
        """The rating as a population takes it."""
        return (lambda theta, sigma: theta) if self.rating == "theta" else self.rating


class RidgeSection(ConcentratedSection):
    """``kind = "ridge"``: ratings normal with standard deviation ``width`` around one rating, or around θ."""

    kind: Literal["ridge"]  # pyright: ignore[reportIncompatibleVariableOverride]
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
