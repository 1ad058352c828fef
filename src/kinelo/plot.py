"""Every picture under a short name: ``kn.plot.ratings(run)`` returns a figure, ``kn.plot.save`` writes it.

A figure is a ``matplotlib.figure.Figure``; no window is opened.

>>> import kinelo as kn
>>> state = kn.stationary(kn.RatingSystem(kn.Tanh(nu=0.5)), kn.Normal([4.0, 7.0, 10.0], sigma=1.0))
>>> len(kn.plot.stationary(state).axes)
2
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from kinelo.errors import InputError, in_one_line
from kinelo.pictures.audit import draw_audit
from kinelo.pictures.calibration import draw_calibration
from kinelo.pictures.histories import draw_histories
from kinelo.pictures.population import draw_population, save_film
from kinelo.pictures.simulation import draw_ratings
from kinelo.pictures.style import save as save_picture
from kinelo.pictures.sweep import draw_sweep
from kinelo.pictures.systems import draw_changeover, draw_design, draw_map, draw_matchmaking, draw_worth

Arguments = ParamSpec("Arguments")
Drawn = TypeVar("Drawn")


def _in_words(name: str, what: str, draw: Callable[Arguments, Drawn]) -> Callable[Arguments, Drawn]:
    """The same picture, where what cannot be drawn costs a sentence that says what can."""

    @wraps(draw)
    def drawn(*args: Arguments.args, **options: Arguments.kwargs) -> Drawn:
        try:
            return draw(*args, **options)
        except (InputError, MemoryError, OSError):
            raise
        except Exception as error:  # whatever drawing makes of something else
            given = ", ".join(type(value).__name__ for value in (*args, *options.values())) or "nothing"
            raise InputError(f"kn.plot.{name} takes {what}, not this ({given}): {in_one_line(error)[:160]}.") from error

    return drawn


audit = _in_words("audit", "what kn.audit returns", draw_audit)
calibration = _in_words(
    "calibration", "what kn.backtest returns, names of raters and a number of bins", draw_calibration
)
changeover = _in_words("changeover", "what kn.changeover returns", draw_changeover)
contest_worth = _in_words("contest_worth", "a system, strengths and sizes of contests", draw_worth)
design = _in_words("design", "what kn.design returns", draw_design)
histories = _in_words("histories", "what kn.rating_history returns, names and a title", draw_histories)
matchmaking = _in_words("matchmaking", "what kn.matchmaking returns", draw_matchmaking)
population = _in_words("population", "what kn.solve returns, and a title", draw_population)
film = _in_words("film", "strengths, ratings, pairs of a time and a density, and a path", save_film)
ratings = _in_words("ratings", "what kn.simulate returns, and a title", draw_ratings)
stationary = _in_words("stationary", "what kn.stationary returns, and a title", draw_map)
save = _in_words("save", "a figure and a path", save_picture)
sweep = _in_words("sweep", "what kn.sweep returns, a variable and a title", draw_sweep)

__all__ = [
    "audit",
    "calibration",
    "changeover",
    "contest_worth",
    "design",
    "film",
    "histories",
    "matchmaking",
    "population",
    "ratings",
    "save",
    "stationary",
    "sweep",
]


def __dir__() -> list[str]:
    return __all__
