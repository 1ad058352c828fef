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
    from kinelo import (
        advice,
        book,
        decisions,
        errors,
        forecasts,
        lab,
        macro,
        matches,
        micro,
        model,
        pages,
        paper,
        plot,
        raters,
        results,
        runtime,
        studies,
        sweeps,
        theory,
    )
    from kinelo.advice.audit.audit import audit
    from kinelo.advice.changeover import changeover
    from kinelo.advice.checked import stationary, tracking
    from kinelo.advice.design import design
    from kinelo.advice.diagnosis import diagnose
    from kinelo.advice.matchmaking import matchmaking
    from kinelo.book.book import RatingBook
    from kinelo.decisions.choosing import next_matches
    from kinelo.decisions.elimination import Elimination
    from kinelo.decisions.judging import judges
    from kinelo.decisions.telling_apart import tiers
    from kinelo.decisions.two_sides import sequential_test
    from kinelo.decisions.wrong_ratings import watch
    from kinelo.errors import InputError, KineloWarning
    from kinelo.forecasts.backtest import backtest
    from kinelo.forecasts.knockout import knockout
    from kinelo.forecasts.season import season
    from kinelo.macro.solve import solve
    from kinelo.matches.reading import read_contests, read_matches
    from kinelo.matches.sample import sample_league
    from kinelo.micro.simulate import simulate
    from kinelo.model.expectation import expected_result
    from kinelo.model.outcome import Tanh
    from kinelo.model.setups import homogeneous
    from kinelo.model.strength import Fixed, Normal
    from kinelo.model.system import RatingSystem
    from kinelo.pages.page import write_page
    from kinelo.raters.balance import balance
    from kinelo.raters.bradley_terry.rater import BradleyTerry
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
    from kinelo.raters.scores.rater import ScoreElo
    from kinelo.raters.team.rater import TeamElo
    from kinelo.runtime.device import devices
    from kinelo.sweeps.sweep import sweep
    from kinelo.theory.farming import farming
    from kinelo.theory.moving.best import best_gamma
    from kinelo.theory.relaxation import relaxation
    from kinelo.theory.unbiased import unbiased_gamma

_MODULE_OF = modules_of(
    {
        "runtime.device": ("devices",),
        "errors": ("InputError", "KineloWarning"),
        "decisions.choosing": ("next_matches",),
        "decisions.elimination": ("Elimination",),
        "decisions.judging": ("judges",),
        "decisions.telling_apart": ("tiers",),
        "decisions.wrong_ratings": ("watch",),
        "decisions.two_sides": ("sequential_test",),
        "model.outcome": ("Tanh",),
        "model.strength": ("Fixed", "Normal"),
        "model.setups": ("homogeneous",),
        "model.expectation": ("expected_result",),
        "model.system": ("RatingSystem",),
        "advice.checked": ("stationary", "tracking"),
        "theory.relaxation": ("relaxation",),
        "theory.farming": ("farming",),
        "theory.unbiased": ("unbiased_gamma",),
        "theory.moving.best": ("best_gamma",),
        "advice.audit.audit": ("audit",),
        "advice.changeover": ("changeover",),
        "advice.design": ("design",),
        "advice.diagnosis": ("diagnose",),
        "advice.matchmaking": ("matchmaking",),
        "matches.reading": ("read_matches", "read_contests"),
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
        "raters.scores.rater": ("ScoreElo",),
        "forecasts.backtest": ("backtest",),
        "raters.player.rater": ("PlayerElo",),
        "forecasts.knockout": ("knockout",),
        "forecasts.season": ("season",),
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

_MOVED = {
    "matches": ("Matches", "Contests", "scan_matches", "scan_contests"),
    "model": (
        *("Outcome", "Probit", "Davidson", "Pairing", "AllPlayAll", "Local", "Window", "LooseWindow"),
        *("Strength", "LineupLottery", "Empirical", "Results", "Scaled", "Learning", "Form", "Walk", "Turnover"),
        *("FideSteps", "FallingSteps", "DeviationSteps", "Rounds", "Period", "Field"),
    ),
    "micro": ("simulate_matches",),
    "macro": ("Population",),
    "theory": ("Continuum", "critical_gamma", "newcomer"),
    "raters": ("choose_rater", "Mixture"),
    "forecasts": ("Forecast", "Rules"),
    "runtime": ("to_pandas",),
}
"""Package → names that were here in 0.5; until 1.0 they say where they are now."""

__all__ = ["__version__", "plot", *_MODULE_OF]


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return import_module(f"kinelo.{name}")
    for package in (package for package, names in _MOVED.items() if name in names):
        words = f"kinelo.{name} is now kinelo.{package}.{name}; the old name goes with 1.0."
        warnings.warn(words, DeprecationWarning, stacklevel=2)
        return getattr(import_module(f"kinelo.{package}"), name)
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return [*__all__, *_PACKAGES]
