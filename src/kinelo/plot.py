"""Every picture under a short name: ``kn.plot.ratings(run)`` returns a figure, ``kn.plot.save`` writes it.

A figure is a ``matplotlib.figure.Figure``; no window is opened.

>>> import kinelo as kn
>>> state = kn.stationary(kn.RatingSystem(kn.Tanh(nu=0.5)), kn.Normal([4.0, 7.0, 10.0], sigma=1.0))
>>> len(kn.plot.stationary(state).axes)
2
"""

from kinelo.pictures.audit import draw_audit as audit
from kinelo.pictures.audit import draw_check as check
from kinelo.pictures.calibration import draw_calibration as calibration
from kinelo.pictures.changeover import draw_changeover as changeover
from kinelo.pictures.contests import draw_worth as contest_worth
from kinelo.pictures.design import draw_design as design
from kinelo.pictures.histories import draw_histories as histories
from kinelo.pictures.population import draw_population as population
from kinelo.pictures.population import save_film as film
from kinelo.pictures.simulation import draw_ratings as ratings
from kinelo.pictures.stationary import draw_map as stationary
from kinelo.pictures.style import save
from kinelo.pictures.sweep import draw_sweep as sweep

__all__ = [
    "audit",
    "calibration",
    "changeover",
    "check",
    "contest_worth",
    "design",
    "film",
    "histories",
    "population",
    "ratings",
    "save",
    "stationary",
    "sweep",
]
