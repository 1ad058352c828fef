"""The paper's vocabulary: outcomes, pairings, strengths, and the rating system they make up."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.model.expectation import outcome_probabilities, satisfies_b_prime
    from kinelo.model.steps import StepRule

_MODULE_OF = modules_of(
    {
        "model.steps": ("StepRule",),
        "model.expectation": ("outcome_probabilities", "satisfies_b_prime"),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return sorted(__all__)
