"""Kinelo: Elo-type ratings of players and teams whose strength varies from match to match.

Public names load the module they live in when first touched, so ``import kinelo`` is immediate.

>>> import kinelo as kn
>>> league = kn.Normal(theta=[4.0, 7.0, 10.0], sigma=1.0)
>>> kn.expected_result(kn.Tanh(nu=0.5), league).round(3)
array([[ 0.   , -0.817, -0.987],
       [ 0.817,  0.   , -0.817],
       [ 0.987,  0.817,  0.   ]])
"""

from importlib import import_module
from typing import TYPE_CHECKING

from kinelo._version import __version__

if TYPE_CHECKING:
    from kinelo.errors import InputError, KineloWarning, NoStationaryState
    from kinelo.macro.population import Population
    from kinelo.macro.run import kinetic_states
    from kinelo.macro.solve import solve
    from kinelo.macro.state import KineticState
    from kinelo.micro.simulate import SimulationState, simulate, simulation_states
    from kinelo.model.expectation import expected_result, outcome_probabilities, satisfies_b_prime
    from kinelo.model.outcome import Davidson, Probit, Tanh
    from kinelo.model.pairing import AllPlayAll, Local, Window
    from kinelo.model.setups import homogeneous, setup_r1, setup_r2
    from kinelo.model.strength import Empirical, Fixed, LineupLottery, Normal
    from kinelo.model.system import RatingSystem
    from kinelo.ratings.backtest import Backtest, backtest
    from kinelo.ratings.book import RatingBook
    from kinelo.ratings.filter import KalmanElo
    from kinelo.ratings.forecast import Forecast
    from kinelo.ratings.glicko import Glicko, Glicko2
    from kinelo.ratings.history import rating_history
    from kinelo.ratings.lineups import Lineups
    from kinelo.ratings.matches import Matches
    from kinelo.ratings.parameters import Estimates
    from kinelo.ratings.player import PlayerElo
    from kinelo.ratings.rater import Rater
    from kinelo.ratings.reading import read_matches
    from kinelo.ratings.rejects import Rejects
    from kinelo.ratings.sample import League, sample_league
    from kinelo.ratings.team import TeamElo
    from kinelo.stationary.continuum import Continuum
    from kinelo.stationary.diagnosis import Diagnosis, diagnose
    from kinelo.stationary.limit import stationary
    from kinelo.stationary.recovery import Recovery, recover_strength
    from kinelo.stationary.relaxation import Relaxation, relaxation
    from kinelo.stationary.state import StationaryState
    from kinelo.stationary.unbiased import unbiased_gamma

_HOME: dict[str, tuple[str, ...]] = {
    "errors": ("InputError", "KineloWarning", "NoStationaryState"),
    "model.outcome": ("Tanh", "Probit", "Davidson"),
    "model.pairing": ("AllPlayAll", "Local", "Window"),
    "model.strength": ("Fixed", "Normal", "LineupLottery", "Empirical"),
    "model.setups": ("setup_r1", "setup_r2", "homogeneous"),
    "model.expectation": ("expected_result", "outcome_probabilities", "satisfies_b_prime"),
    "model.system": ("RatingSystem",),
    "stationary": ("stationary",),
    "stationary.continuum": ("Continuum",),
    "stationary.state": ("StationaryState",),
    "stationary.relaxation": ("relaxation", "Relaxation"),
    "stationary.recovery": ("recover_strength", "Recovery"),
    "stationary.unbiased": ("unbiased_gamma",),
    "stationary.diagnosis": ("diagnose", "Diagnosis"),
    "ratings.reading": ("read_matches",),
    "ratings.matches": ("Matches",),
    "ratings.lineups": ("Lineups",),
    "ratings.rejects": ("Rejects",),
    "ratings.rater": ("Rater",),
    "ratings.team": ("TeamElo",),
    "ratings.history": ("rating_history",),
    "ratings.book": ("RatingBook",),
    "ratings.sample": ("sample_league", "League"),
    "ratings.glicko": ("Glicko", "Glicko2"),
    "ratings.filter": ("KalmanElo",),
    "ratings.backtest": ("backtest", "Backtest"),
    "ratings.player": ("PlayerElo",),
    "ratings.forecast": ("Forecast",),
    "ratings.parameters": ("Estimates",),
    "macro.population": ("Population",),
    "macro.run": ("kinetic_states",),
    "macro.solve": ("solve",),
    "macro.state": ("KineticState",),
    "micro.simulate": ("simulate", "simulation_states", "SimulationState"),
}
_MODULE_OF = {name: f"kinelo.{module}" for module, names in _HOME.items() for name in names}

__all__ = ["__version__", *_MODULE_OF]


def __getattr__(name: str) -> object:
    try:
        module = _MODULE_OF[name]
    except KeyError:
        raise AttributeError(f"module 'kinelo' has no attribute {name!r}") from None
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
