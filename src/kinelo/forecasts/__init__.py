"""What is said before a match and how good it was: forecasts, scores, estimation, backtests."""

from typing import TYPE_CHECKING

from kinelo._lazy import load, modules_of

if TYPE_CHECKING:
    from kinelo.forecasts.automatic import RaterChoice
    from kinelo.forecasts.backtest import Backtest
    from kinelo.forecasts.contest_scores import ContestBacktest
    from kinelo.forecasts.forecast import Forecast
    from kinelo.forecasts.knockout import Knockout
    from kinelo.forecasts.parameters import Estimates
    from kinelo.forecasts.places import ContestForecast
    from kinelo.forecasts.season import Rules, Season

_MODULE_OF = modules_of(
    {
        "forecasts.automatic": ("RaterChoice",),
        "forecasts.backtest": ("Backtest",),
        "forecasts.contest_scores": ("ContestBacktest",),
        "forecasts.forecast": ("Forecast",),
        "forecasts.knockout": ("Knockout",),
        "forecasts.parameters": ("Estimates",),
        "forecasts.places": ("ContestForecast",),
        "forecasts.season": ("Season", "Rules"),
    }
)

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    return load(__name__, _MODULE_OF, name)


def __dir__() -> list[str]:
    return __all__
