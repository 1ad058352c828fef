"""The sections of a study file that describe a rating system and a league, and what they build."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from kinelo.model import outcome as outcomes
from kinelo.model import pairing as pairings
from kinelo.model import schedule as schedules
from kinelo.model import setups, steps, strength
from kinelo.studies.own_laws import (
    BUILT_IN,
    OWN,
    OwnLeagueSection,
    OwnOutcomeSection,
    OwnPairingSection,
    whose,
    whose_outcome,
)
from kinelo.studies.section import Section as Section


class TanhSection(Section):
    """``kind = "tanh"``; ``nu = "elo"`` stands for the chess scale."""

    kind: Literal["tanh"]
    nu: float | Literal["elo"]

    def build(self) -> outcomes.Outcome:
        """Return the outcome function."""
        return outcomes.Tanh.elo() if self.nu == "elo" else outcomes.Tanh(self.nu)


class ProbitSection(Section):
    """``kind = "probit"``."""

    kind: Literal["probit"]
    nu: float

    def build(self) -> outcomes.Outcome:
        """Return the outcome function."""
        return outcomes.Probit(self.nu)


class DavidsonSection(Section):
    """``kind = "davidson"``."""

    kind: Literal["davidson"]
    nu: float
    kappa: float

    def build(self) -> outcomes.Outcome:
        """Return the outcome function."""
        return outcomes.Davidson(self.nu, self.kappa)


class AllPlayAllSection(Section):
    """``kind = "all-play-all"``."""

    kind: Literal["all-play-all"] = "all-play-all"

    def build(self) -> pairings.Pairing:
        """Return the pairing."""
        return pairings.AllPlayAll()


class LocalSection(Section):
    """``kind = "local"``."""

    kind: Literal["local"]

    def build(self) -> pairings.Pairing:
        """Return the pairing."""
        return pairings.Local()


class WindowSection(Section):
    """``kind = "window"``."""

    kind: Literal["window"]
    c: float
    smoothing: float = 0.0

    def build(self) -> pairings.Pairing:
        """Return the pairing."""
        return pairings.Window(self.c, self.smoothing)


class FallingSection(Section):
    """``[gamma] kind = "falling"``: a step that falls with the matches played."""

    kind: Literal["falling"]
    gamma: float
    boost: float
    matches: float

    def build(self) -> steps.StepRule:
        """Return the step rule."""
        return steps.FallingSteps(self.gamma, self.boost, self.matches)


class FideSection(Section):
    """``[gamma] kind = "fide"``: FIDE's coefficients; ``under_18`` lists juniors by index."""

    kind: Literal["fide"]
    under_18: list[int] = Field(default_factory=list)

    def build(self) -> steps.StepRule:
        """Return the step rule."""
        return steps.FideSteps(self.under_18)


class DeviationSection(Section):
    """``[gamma] kind = "deviation"``: Glicko's steps, from a deviation that each team carries."""

    kind: Literal["deviation"]
    growth: float
    start: float
    largest: float | None = None

    def build(self) -> steps.StepRule:
        """Return the step rule."""
        return steps.DeviationSteps(self.growth, self.start, self.largest)


class RoundsSection(Section):
    """``[schedule] kind = "rounds"``: every pair once, ratings frozen."""

    kind: Literal["rounds"]

    def build(self) -> schedules.Schedule:
        """Return the schedule."""
        return schedules.Rounds()


class PeriodSection(Section):
    """``[schedule] kind = "period"``: ratings frozen for so many matches per team."""

    kind: Literal["period"]
    matches: int

    def build(self) -> schedules.Schedule:
        """Return the schedule."""
        return schedules.Period(self.matches)


class R1Section(Section):
    """``kind = "r1"``: the paper's set-up R1."""

    kind: Literal["r1"]
    seed: int = 1
    teams: int = 200
    players: int = 23
    lineup: int = 11

    def build(self) -> strength.Strength:
        """Return the league."""
        return setups.setup_r1(seed=self.seed, teams=self.teams, players=self.players, lineup=self.lineup)


class R2Section(Section):
    """``kind = "r2"``: the paper's set-up R2, with Germany and Brazil."""

    kind: Literal["r2"]
    seed: int = 1
    teams: int = 200
    players: int = 23
    lineup: int = 11
    germany_brazil_sigma: float = 1.0

    def build(self) -> strength.Strength:
        """Return the league."""
        return setups.setup_r2(
            seed=self.seed,
            teams=self.teams,
            players=self.players,
            lineup=self.lineup,
            germany_brazil_sigma=self.germany_brazil_sigma,
        )


class HomogeneousSection(Section):
    """``kind = "homogeneous"``: normal performances of one common spread."""

    kind: Literal["homogeneous"]
    sigma: float
    teams: int = 500
    theta: tuple[float, float] = (4.0, 10.0)
    seed: int | None = None

    def build(self) -> strength.Strength:
        """Return the league."""
        return setups.homogeneous(sigma=self.sigma, teams=self.teams, theta=self.theta, seed=self.seed)


class FixedSection(Section):
    """``kind = "fixed"``: constant strengths."""

    kind: Literal["fixed"]
    theta: list[float]
    names: list[str] | None = None

    def build(self) -> strength.Strength:
        """Return the league."""
        return strength.Fixed(self.theta, names=self.names)


class NormalSection(Section):
    """``kind = "normal"``: normal performances, σ common or one per team."""

    kind: Literal["normal"]
    theta: list[float]
    sigma: float | list[float]
    names: list[str] | None = None

    def build(self) -> strength.Strength:
        """Return the league."""
        return strength.Normal(self.theta, self.sigma, names=self.names)


class LineupsSection(Section):
    """``kind = "lineups"``: ``m`` players of each row of ``rho``."""

    kind: Literal["lineups"]
    rho: list[list[float]]
    m: int
    weights: list[list[float]] | None = None
    names: list[str] | None = None

    def build(self) -> strength.Strength:
        """Return the league."""
        return strength.LineupLottery(self.rho, self.m, self.weights, names=self.names)


class EmpiricalSection(Section):
    """``kind = "empirical"``: values taken with given probabilities."""

    kind: Literal["empirical"]
    values: list[list[float]]
    probabilities: list[float] | list[list[float]] | None = None
    names: list[str] | None = None

    def build(self) -> strength.Strength:
        """Return the league."""
        return strength.Empirical(self.values, self.probabilities, names=self.names)


BuiltInOutcome = Annotated[TanhSection | ProbitSection | DavidsonSection, Field(discriminator="kind")]
OutcomeSection = Annotated[
    Annotated[BuiltInOutcome, Tag(BUILT_IN)] | Annotated[OwnOutcomeSection, Tag(OWN)], Discriminator(whose_outcome)
]
StepsSection = Annotated[FallingSection | FideSection | DeviationSection, Field(discriminator="kind")]
TAGS = ("number", "each", "rule", BUILT_IN, OWN)


def _gamma_tag(value: object) -> str:
    return "each" if isinstance(value, list) else "rule" if isinstance(value, dict | Section) else "number"


GammaSection = Annotated[
    Annotated[float, Tag("number")] | Annotated[list[float], Tag("each")] | Annotated[StepsSection, Tag("rule")],
    Discriminator(_gamma_tag),
]
ScheduleSection = Annotated[RoundsSection | PeriodSection, Field(discriminator="kind")]
BuiltInPairing = Annotated[AllPlayAllSection | LocalSection | WindowSection, Field(discriminator="kind")]
PairingSection = Annotated[
    Annotated[BuiltInPairing, Tag(BUILT_IN)] | Annotated[OwnPairingSection, Tag(OWN)], Discriminator(whose)
]
BuiltInLeague = Annotated[
    R1Section | R2Section | HomogeneousSection | FixedSection | NormalSection | LineupsSection | EmpiricalSection,
    Field(discriminator="kind"),
]
LeagueSection = Annotated[
    Annotated[BuiltInLeague, Tag(BUILT_IN)] | Annotated[OwnLeagueSection, Tag(OWN)], Discriminator(whose)
]


class SimulateSection(Section):
    """``[simulate]``: how long to play, how often, and from where."""

    steps: int = Field(ge=0)
    seed: int = Field(ge=0)
    matches_per_step: int = Field(default=25, ge=1)
    realisations: int = Field(default=1, ge=1)
    record_every: int | None = Field(default=None, ge=1)
    sampling: Literal["marginal", "literal"] = "marginal"
    start: float | list[float] | None = None
