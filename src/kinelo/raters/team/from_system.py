"""The numbers of a team rater that a rating system tells."""

from __future__ import annotations

from kinelo.errors import InputError
from kinelo.model.steps import FallingSteps
from kinelo.model.system import RatingSystem
from kinelo.play.laws import code_outcome


def parameters_from(system: RatingSystem) -> dict[str, float]:
    """Every parameter of a team rater that plays this system and nothing else, or a sentence why it cannot."""
    if not isinstance(system, RatingSystem):
        raise InputError(f"system must be a kinelo.RatingSystem, not {type(system).__name__}.")
    if system.schedule is not None:
        raise InputError(f"TeamElo rates one match after the other and cannot follow the schedule {system.schedule!r}.")
    gamma, boost, matches = system.gamma, 0.0, 1.0
    if isinstance(gamma, FallingSteps):
        gamma, boost, matches = gamma.gamma, gamma.boost, gamma.matches
    if not isinstance(gamma, float):
        raise InputError(f"TeamElo needs one gamma or FallingSteps from its system, not {gamma!r}.")
    return {
        "step": gamma, "newcomer_boost": boost, "settling_matches": matches, "ties": code_outcome(system.outcome).kappa,
        "home_advantage": 0.0, "spread": 0.0, "margin_weight": 0.0, "margin_scale": 1.0, "contraction": 1.0,
        "regression": 0.0, "home_step": 0.0, "ties_step": 0.0,
    }  # fmt: skip
