"""The ``[dynamics]`` section of a study: how strengths move."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kinelo.model import dynamics
from kinelo.studies.sections import Section


class LearningSection(Section):
    """``kind = "learning"``."""

    kind: Literal["learning"]
    alpha: float
    beta: float = 0.0
    diffusion: float = 0.0
    on: Literal["expected", "result"] = "expected"

    def build(self) -> dynamics.Dynamics:
        """Return the dynamics."""
        return dynamics.Learning(self.alpha, self.beta, self.diffusion, self.on)


class FormSection(Section):
    """``kind = "form"``."""

    kind: Literal["form"]
    rate: float
    spread: float

    def build(self) -> dynamics.Dynamics:
        """Return the dynamics."""
        return dynamics.Form(self.rate, self.spread)


class WalkSection(Section):
    """``kind = "walk"``."""

    kind: Literal["walk"]
    spread: float

    def build(self) -> dynamics.Dynamics:
        """Return the dynamics."""
        return dynamics.Walk(self.spread)


class TurnoverSection(Section):
    """``kind = "turnover"``: ``theta`` is a newcomer's strength, or several to draw from."""

    kind: Literal["turnover"]
    rate: float
    theta: float | list[float]
    start: float
    leaving: Literal["random", "weakest", "strongest"] = "random"

    def build(self) -> dynamics.Dynamics:
        """Return the dynamics."""
        return dynamics.Turnover(self.rate, self.theta, self.start, self.leaving)


DynamicsSection = Annotated[LearningSection | FormSection | WalkSection | TurnoverSection, Field(discriminator="kind")]
