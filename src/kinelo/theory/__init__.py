"""Where ratings end up, how noisy they are, how long it takes."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.theory.caveats import Caveat
    from kinelo.theory.farming import Farming
    from kinelo.theory.moving.best import BestGamma
    from kinelo.theory.moving.glicko import DeviationState, settled_deviations
    from kinelo.theory.moving.learning import StrengthProfile, strength_profile
    from kinelo.theory.moving.newcomer import Newcomer, newcomer
    from kinelo.theory.moving.rounds import CriticalGamma, critical_gamma
    from kinelo.theory.moving.tracking import Tracking
    from kinelo.theory.recovery import Recovery, recover_strength
    from kinelo.theory.relaxation import Relaxation
    from kinelo.theory.state import StationaryState
    from kinelo.theory.teams import Continuum
    from kinelo.theory.unbiased import UnbiasedGamma
    from kinelo.theory.worth import contest_worth

_MODULE_OF = modules_of(
    {
        "theory.caveats": ("Caveat",),
        "theory.farming": ("Farming",),
        "theory.moving.best": ("BestGamma",),
        "theory.moving.glicko": ("DeviationState", "settled_deviations"),
        "theory.moving.learning": ("StrengthProfile", "strength_profile"),
        "theory.moving.newcomer": ("Newcomer", "newcomer"),
        "theory.moving.rounds": ("CriticalGamma", "critical_gamma"),
        "theory.moving.tracking": ("Tracking",),
        "theory.recovery": ("Recovery", "recover_strength"),
        "theory.relaxation": ("Relaxation",),
        "theory.state": ("StationaryState",),
        "theory.teams": ("Continuum",),
        "theory.unbiased": ("UnbiasedGamma",),
        "theory.worth": ("contest_worth",),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return __all__
