"""Kinelo: Elo-type ratings of players and teams whose strength varies from match to match.

Public names load the module they live in when first touched, so ``import kinelo`` is immediate.

>>> import kinelo as kn
>>> league = kn.Normal(theta=[4.0, 7.0, 10.0], sigma=1.0)
>>> kn.expected_result(kn.Tanh(nu=0.5), league).round(3)
array([[ 0.   , -0.817, -0.987],
       [ 0.817,  0.   , -0.817],
       [ 0.987,  0.817,  0.   ]])
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of
from kinelo._version import __version__

if TYPE_CHECKING:
    from kinelo import plot
    from kinelo.advice.audit.audit import audit
    from kinelo.advice.changeover import changeover
    from kinelo.advice.checked import stationary, tracking
    from kinelo.advice.design import design
    from kinelo.advice.diagnosis import diagnose
    from kinelo.advice.matchmaking import matchmaking
    from kinelo.book.book import RatingBook
    from kinelo.decisions.choosing import next_matches
    from kinelo.decisions.elimination import Elimination
    from kinelo.decisions.telling_apart import tiers
    from kinelo.decisions.two_sides import sequential_test
    from kinelo.decisions.wrong_ratings import watch
    from kinelo.errors import InputError, KineloWarning
    from kinelo.forecasts.backtest import backtest
    from kinelo.forecasts.forecast import Forecast
    from kinelo.forecasts.knockout import knockout
    from kinelo.forecasts.mixture import Mixture
    from kinelo.forecasts.season import Rules, season
    from kinelo.macro.population import Population
    from kinelo.macro.solve import solve
    from kinelo.matches.contests import Contests
    from kinelo.matches.matches import Matches
    from kinelo.matches.reading import read_contests, read_matches
    from kinelo.matches.sample import sample_league
    from kinelo.matches.scan import scan_contests, scan_matches
    from kinelo.micro.matches import simulate_matches
    from kinelo.micro.simulate import simulate
    from kinelo.model.dynamics import Form, Learning, Turnover, Walk
    from kinelo.model.expectation import expected_result
    from kinelo.model.outcome import Davidson, Outcome, Probit, Tanh
    from kinelo.model.pairing import AllPlayAll, Local, LooseWindow, Pairing, Window
    from kinelo.model.results import Results
    from kinelo.model.scaled import Scaled
    from kinelo.model.schedule import Field, Period, Rounds
    from kinelo.model.setups import homogeneous
    from kinelo.model.steps import DeviationSteps, FallingSteps, FideSteps
    from kinelo.model.strength import Empirical, Fixed, LineupLottery, Normal, Strength
    from kinelo.model.system import RatingSystem
    from kinelo.pages.page import write_page
    from kinelo.raters.balance import balance
    from kinelo.raters.bradley_terry.rater import BradleyTerry
    from kinelo.raters.choice import choose_rater
    from kinelo.raters.explanation import explain, explain_last
    from kinelo.raters.fide.rater import FideElo
    from kinelo.raters.glicko.rater import Glicko, Glicko2
    from kinelo.raters.history import rating_history
    from kinelo.raters.kalman.rater import KalmanElo
    from kinelo.raters.leaderboard import leaderboard
    from kinelo.raters.player.rater import PlayerElo
    from kinelo.raters.preview import preview
    from kinelo.raters.questions import fair_value, match_quality
    from kinelo.raters.rank.rater import RankElo
    from kinelo.raters.team.rater import TeamElo
    from kinelo.runtime.device import devices
    from kinelo.runtime.frames import to_pandas
    from kinelo.sweeps.sweep import sweep
    from kinelo.theory.farming import farming
    from kinelo.theory.moving.best import best_gamma
    from kinelo.theory.moving.newcomer import newcomer
    from kinelo.theory.moving.rounds import critical_gamma
    from kinelo.theory.relaxation import relaxation
    from kinelo.theory.teams import Continuum
    from kinelo.theory.unbiased import unbiased_gamma

_MODULE_OF = modules_of(
    {
        "runtime.device": ("devices",),
        "runtime.frames": ("to_pandas",),
        "errors": ("InputError", "KineloWarning"),
        "decisions.choosing": ("next_matches",),
        "decisions.elimination": ("Elimination",),
        "decisions.telling_apart": ("tiers",),
        "decisions.wrong_ratings": ("watch",),
        "decisions.two_sides": ("sequential_test",),
        "model.outcome": ("Outcome", "Tanh", "Probit", "Davidson"),
        "model.pairing": ("Pairing", "AllPlayAll", "Local", "Window", "LooseWindow"),
        "model.strength": ("Strength", "Fixed", "Normal", "LineupLottery", "Empirical"),
        "model.scaled": ("Scaled",),
        "model.setups": ("homogeneous",),
        "model.expectation": ("expected_result",),
        "model.system": ("RatingSystem",),
        "model.dynamics": ("Learning", "Form", "Walk", "Turnover"),
        "model.steps": ("FideSteps", "FallingSteps", "DeviationSteps"),
        "model.results": ("Results",),
        "model.schedule": ("Rounds", "Period", "Field"),
        "micro.matches": ("simulate_matches",),
        "advice.checked": ("stationary", "tracking"),
        "theory.teams": ("Continuum",),
        "theory.relaxation": ("relaxation",),
        "theory.farming": ("farming",),
        "theory.unbiased": ("unbiased_gamma",),
        "theory.moving.best": ("best_gamma",),
        "theory.moving.rounds": ("critical_gamma",),
        "theory.moving.newcomer": ("newcomer",),
        "advice.audit.audit": ("audit",),
        "advice.changeover": ("changeover",),
        "advice.design": ("design",),
        "advice.diagnosis": ("diagnose",),
        "advice.matchmaking": ("matchmaking",),
        "matches.reading": ("read_matches", "read_contests"),
        "matches.matches": ("Matches",),
        "matches.contests": ("Contests",),
        "matches.scan": ("scan_matches", "scan_contests"),
        "raters.team.rater": ("TeamElo",),
        "raters.rank.rater": ("RankElo",),
        "raters.questions": ("match_quality", "fair_value"),
        "raters.balance": ("balance",),
        "raters.preview": ("preview",),
        "raters.explanation": ("explain", "explain_last"),
        "raters.leaderboard": ("leaderboard",),
        "raters.history": ("rating_history",),
        "pages.page": ("write_page",),
        "book.book": ("RatingBook",),
        "matches.sample": ("sample_league",),
        "raters.glicko.rater": ("Glicko", "Glicko2"),
        "raters.bradley_terry.rater": ("BradleyTerry",),
        "raters.fide.rater": ("FideElo",),
        "raters.kalman.rater": ("KalmanElo",),
        "forecasts.backtest": ("backtest",),
        "forecasts.mixture": ("Mixture",),
        "raters.choice": ("choose_rater",),
        "raters.player.rater": ("PlayerElo",),
        "forecasts.forecast": ("Forecast",),
        "forecasts.knockout": ("knockout",),
        "forecasts.season": ("season", "Rules"),
        "macro.population": ("Population",),
        "macro.solve": ("solve",),
        "sweeps.sweep": ("sweep",),
        "micro.simulate": ("simulate",),
    }
)

_PACKAGES = frozenset(
    {
        "advice",
        "book",
        "decisions",
        "errors",
        "forecasts",
        "lab",
        "macro",
        "matches",
        "micro",
        "model",
        "pages",
        "paper",
        "plot",
    }
    | {"raters", "results", "runtime", "studies", "sweeps", "theory"}
)
"""Packages and modules that are there as ``kinelo.NAME`` without an import of their own."""

__all__ = ["__version__", "plot", *_MODULE_OF]


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return import_module(f"kinelo.{name}")
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES})
