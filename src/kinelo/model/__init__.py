"""The paper's vocabulary: outcomes, pairings, strengths, and the rating system they make up."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.model.dynamics import Form, Learning, Turnover, Walk
    from kinelo.model.expectation import outcome_probabilities, satisfies_b_prime
    from kinelo.model.outcome import Davidson, Outcome, Probit
    from kinelo.model.pairing import AllPlayAll, Local, LooseWindow, Pairing, Window
    from kinelo.model.results import Results
    from kinelo.model.scaled import Scaled
    from kinelo.model.schedule import Field, Period, Rounds
    from kinelo.model.steps import DeviationSteps, FallingSteps, FideSteps, StepRule
    from kinelo.model.strength import Empirical, LineupLottery, Strength

_MODULE_OF = modules_of(
    {
        "model.dynamics": ("Learning", "Form", "Walk", "Turnover"),
        "model.expectation": ("outcome_probabilities", "satisfies_b_prime"),
        "model.outcome": ("Outcome", "Probit", "Davidson"),
        "model.pairing": ("Pairing", "AllPlayAll", "Local", "Window", "LooseWindow"),
        "model.results": ("Results",),
        "model.scaled": ("Scaled",),
        "model.schedule": ("Rounds", "Period", "Field"),
        "model.steps": ("StepRule", "FideSteps", "FallingSteps", "DeviationSteps"),
        "model.strength": ("Strength", "LineupLottery", "Empirical"),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return __all__
