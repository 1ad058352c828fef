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
    from kinelo import plot
    from kinelo.advice.audit.audit import Audit, audit
    from kinelo.advice.changeover import Changeover, changeover
    from kinelo.advice.check import Check
    from kinelo.advice.checked import stationary, tracking
    from kinelo.advice.design import Design, design
    from kinelo.advice.diagnosis import Diagnosis, diagnose
    from kinelo.book.book import RatingBook
    from kinelo.errors import InputError, KineloWarning, NoStationaryState
    from kinelo.forecasts.automatic import RaterChoice
    from kinelo.forecasts.backtest import Backtest, backtest
    from kinelo.forecasts.forecast import Forecast
    from kinelo.forecasts.mixture import Mixture
    from kinelo.forecasts.parameters import Estimates
    from kinelo.forecasts.season import Knockout, Rules, Season, knockout, season
    from kinelo.macro.population import Population
    from kinelo.macro.run import kinetic_states
    from kinelo.macro.solve import solve
    from kinelo.macro.state import KineticState
    from kinelo.matches.lineups import Lineups
    from kinelo.matches.matches import Matches
    from kinelo.matches.reading import read_matches
    from kinelo.matches.rejects import Rejects
    from kinelo.matches.sample import League, sample_league
    from kinelo.matches.scan import MatchScan, scan_matches
    from kinelo.micro.matches import simulate_matches
    from kinelo.micro.simulate import SimulationState, simulate, simulation_states
    from kinelo.model.dynamics import Form, Learning, Turnover, Walk
    from kinelo.model.expectation import expected_result, outcome_probabilities, satisfies_b_prime
    from kinelo.model.outcome import Davidson, Outcome, Probit, Tanh
    from kinelo.model.pairing import AllPlayAll, Local, Pairing, Window
    from kinelo.model.scaled import Scaled
    from kinelo.model.schedule import Period, Rounds
    from kinelo.model.setups import homogeneous, setup_r1, setup_r2
    from kinelo.model.steps import DeviationSteps, FallingSteps, FideSteps, StepRule
    from kinelo.model.strength import Empirical, Fixed, LineupLottery, Normal, Strength
    from kinelo.model.system import RatingSystem
    from kinelo.raters.bradley_terry.rater import BradleyTerry
    from kinelo.raters.choice import choose_rater
    from kinelo.raters.glicko.rater import Glicko, Glicko2
    from kinelo.raters.history import rating_history
    from kinelo.raters.kalman.rater import KalmanElo
    from kinelo.raters.leaderboard import leaderboard
    from kinelo.raters.player.rater import PlayerElo
    from kinelo.raters.rater import Rater
    from kinelo.raters.team.rater import TeamElo
    from kinelo.runtime.device import Device, devices
    from kinelo.sweeps.convergence import convergence_table
    from kinelo.sweeps.sweep import sweep
    from kinelo.theory.caveats import Caveat
    from kinelo.theory.continuum import Continuum
    from kinelo.theory.moving.best import BestGamma, best_gamma
    from kinelo.theory.moving.glicko import DeviationState, settled_deviations
    from kinelo.theory.moving.newcomer import Newcomer, newcomer
    from kinelo.theory.moving.profile import StrengthProfile, strength_profile
    from kinelo.theory.moving.rounds import CriticalGamma, critical_gamma
    from kinelo.theory.moving.tracking import Tracking
    from kinelo.theory.recovery import Recovery, recover_strength
    from kinelo.theory.relaxation import Relaxation, relaxation
    from kinelo.theory.state import StationaryState
    from kinelo.theory.unbiased import UnbiasedGamma, unbiased_gamma

_HOME: dict[str, tuple[str, ...]] = {
    "runtime.device": ("devices", "Device"),
    "errors": ("InputError", "KineloWarning", "NoStationaryState"),
    "model.outcome": ("Outcome", "Tanh", "Probit", "Davidson"),
    "model.pairing": ("Pairing", "AllPlayAll", "Local", "Window"),
    "model.strength": ("Strength", "Fixed", "Normal", "LineupLottery", "Empirical"),
    "model.scaled": ("Scaled",),
    "model.setups": ("setup_r1", "setup_r2", "homogeneous"),
    "model.expectation": ("expected_result", "outcome_probabilities", "satisfies_b_prime"),
    "model.system": ("RatingSystem",),
    "model.dynamics": ("Learning", "Form", "Walk", "Turnover"),
    "model.steps": ("StepRule", "FideSteps", "FallingSteps", "DeviationSteps"),
    "model.schedule": ("Rounds", "Period"),
    "micro.matches": ("simulate_matches",),
    "theory.caveats": ("Caveat",),
    "advice.checked": ("stationary", "tracking"),
    "advice.check": ("Check",),
    "theory.continuum": ("Continuum",),
    "theory.state": ("StationaryState",),
    "theory.relaxation": ("relaxation", "Relaxation"),
    "theory.recovery": ("recover_strength", "Recovery"),
    "theory.unbiased": ("unbiased_gamma", "UnbiasedGamma"),
    "theory.moving.tracking": ("Tracking",),
    "theory.moving.best": ("best_gamma", "BestGamma"),
    "theory.moving.rounds": ("critical_gamma", "CriticalGamma"),
    "theory.moving.newcomer": ("newcomer", "Newcomer"),
    "theory.moving.glicko": ("settled_deviations", "DeviationState"),
    "theory.moving.profile": ("strength_profile", "StrengthProfile"),
    "advice.audit.audit": ("audit", "Audit"),
    "advice.changeover": ("changeover", "Changeover"),
    "advice.design": ("design", "Design"),
    "advice.diagnosis": ("diagnose", "Diagnosis"),
    "matches.reading": ("read_matches",),
    "matches.matches": ("Matches",),
    "matches.scan": ("scan_matches", "MatchScan"),
    "matches.lineups": ("Lineups",),
    "matches.rejects": ("Rejects",),
    "raters.rater": ("Rater",),
    "raters.team.rater": ("TeamElo",),
    "raters.history": ("rating_history",),
    "raters.leaderboard": ("leaderboard",),
    "book.book": ("RatingBook",),
    "matches.sample": ("sample_league", "League"),
    "raters.glicko.rater": ("Glicko", "Glicko2"),
    "raters.bradley_terry.rater": ("BradleyTerry",),
    "raters.kalman.rater": ("KalmanElo",),
    "forecasts.backtest": ("backtest", "Backtest"),
    "forecasts.automatic": ("RaterChoice",),
    "forecasts.mixture": ("Mixture",),
    "raters.choice": ("choose_rater",),
    "raters.player.rater": ("PlayerElo",),
    "forecasts.forecast": ("Forecast",),
    "forecasts.parameters": ("Estimates",),
    "forecasts.season": ("season", "Season", "Rules", "knockout", "Knockout"),
    "macro.population": ("Population",),
    "macro.run": ("kinetic_states",),
    "macro.solve": ("solve",),
    "macro.state": ("KineticState",),
    "sweeps.sweep": ("sweep",),
    "sweeps.convergence": ("convergence_table",),
    "micro.simulate": ("simulate", "simulation_states", "SimulationState"),
}
_MODULE_OF = {name: f"kinelo.{module}" for module, names in _HOME.items() for name in names}

__all__ = ["__version__", "plot", *_MODULE_OF]


def __getattr__(name: str) -> object:
    if name == "plot":
        return import_module("kinelo.plot")
    try:
        module = _MODULE_OF[name]
    except KeyError:
        raise AttributeError(f"module 'kinelo' has no attribute {name!r}") from None
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
