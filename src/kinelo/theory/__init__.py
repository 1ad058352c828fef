"""Where ratings end up, how noisy they are, how long it takes."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.theory.caveats import Caveat
    from kinelo.theory.farming import Farming
    from kinelo.theory.moving.best import BestGamma
    from kinelo.theory.moving.glicko import DeviationState, settled_deviations
    from kinelo.theory.moving.learning import StrengthProfile, strength_profile
    from kinelo.theory.moving.newcomer import Newcomer
    from kinelo.theory.moving.rounds import CriticalGamma
    from kinelo.theory.moving.tracking import Tracking
    from kinelo.theory.recovery import Recovery, recover_strength
    from kinelo.theory.relaxation import Relaxation
    from kinelo.theory.state import StationaryState
    from kinelo.theory.unbiased import UnbiasedGamma
    from kinelo.theory.worth import contest_worth

_MODULE_OF = modules_of(
    {
        "theory.state": ("StationaryState",),
        "theory.relaxation": ("Relaxation",),
        "theory.recovery": ("Recovery", "recover_strength"),
        "theory.unbiased": ("UnbiasedGamma",),
        "theory.moving.tracking": ("Tracking",),
        "theory.moving.best": ("BestGamma",),
        "theory.moving.rounds": ("CriticalGamma",),
        "theory.moving.newcomer": ("Newcomer",),
        "theory.moving.glicko": ("DeviationState", "settled_deviations"),
        "theory.moving.learning": ("StrengthProfile", "strength_profile"),
        "theory.farming": ("Farming",),
        "theory.caveats": ("Caveat",),
        "theory.worth": ("contest_worth",),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return sorted(__all__)
