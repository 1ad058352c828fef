"""Theory with a league played beside it: the public doors to :func:`stationary` and :func:`tracking`."""

from __future__ import annotations

from dataclasses import replace

from numpy.typing import ArrayLike

from kinelo.model.dynamics import Dynamics
from kinelo.model.expectation import Closure
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import flag
from kinelo.theory.limit import stationary as stationary_of
from kinelo.theory.moving.tracking import Tracking
from kinelo.theory.moving.tracking import tracking as tracking_of
from kinelo.theory.state import Method, Noise, StationaryState
from kinelo.theory.teams import Continuum


def stationary(
    system: RatingSystem | Outcome,
    strengths: Strength | Continuum,
    closure: Closure = "exact",
    noise: Noise = "none",
    *,
    start: ArrayLike | None = None,
    method: Method = "auto",
    check: bool = False,
) -> StationaryState:
    """Ratings at which the drift vanishes, and their noise.

    Parameters
    ----------
    system
        The rating system, or its outcome alone. Steps and schedule matter only with ``noise="gaussian"``.
    strengths
        A league, or a :class:`~kinelo.theory.teams.Continuum` of teams.
    closure
        How expected results follow from strengths: exactly, or by the paper's Taylor closure.
    noise
        ``"none"`` for small steps, ``"gaussian"`` to let ratings fluctuate as they do at the system's steps (one, one
        per team, or those that a rule settles at), match by match, in rounds or in periods. Two teams are solved
        exactly, up to 300 with their whole covariance, more as independent: ``kind`` of the answer says which.
    start
        Ratings to start from: their mean is kept, and with several equilibria they decide which one is found.
        Defaults to the mean strengths.
    method
        ``"dense"`` works on all pairs, ``"matrix-free"`` in memory O(N); ``"auto"`` takes dense up to 800 teams.
    check
        Whether to play a league beside the theory, for a second or two; ``check`` of the answer holds both numbers
        and a z-score.

    Raises
    ------
    NoStationaryState
        Where no ratings can balance the results; the message names the teams.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> from kinelo.model.strength import Normal
    >>> state = stationary(RatingSystem(Tanh(nu=0.5)), Normal([4.0, 7.0, 10.0], sigma=1.0))
    >>> state.rating.round(4), round(state.slope, 4)
    (array([4.6678, 7.    , 9.3322]), 0.7774)
    """
    asked = flag("check", check)
    state = stationary_of(system, strengths, closure, noise, start=start, method=method)
    if asked:  # the simulator and its compiler are loaded by those who ask for a league only
        from kinelo.advice.check import check_state

        state = replace(state, check=check_state(state))
    return state


def tracking(
    system: RatingSystem | Outcome, strengths: Strength | Continuum, dynamics: Dynamics, *, check: bool = False
) -> Tracking:
    """How well ratings follow strengths that move, every pair playing.

    Under :class:`~kinelo.model.dynamics.Learning` the law of strengths and ratings as γ → 0 is computed without
    closure, and the effect of finite steps added from the closure; where strengths start is forgotten. Under
    :class:`~kinelo.model.dynamics.Form` and :class:`~kinelo.model.dynamics.Walk` the answer is the closure's, team by
    team. There γ may differ from team to team, follow a rule or be Glicko's
    (:class:`~kinelo.model.steps.DeviationSteps`), and whole rounds or periods may be rated at once: the answer is the
    state just before a match, a round or a period. It depends on the number of teams; for very many give a
    :class:`~kinelo.theory.teams.Continuum`.

    With ``check`` a league is played beside the theory for a second or two; ``check`` of the answer holds both numbers
    and a z-score.

    Examples
    --------
    >>> import kinelo as kn
    >>> system, form = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.1), kn.model.Form(rate=0.01, spread=1.0)
    >>> two, many = tracking(system, kn.Fixed([0.0, 0.0]), form), tracking(system, kn.theory.Continuum(theta=0.0), form)
    >>> (two.kind, round(two.E, 6)), (many.kind, round(many.E, 6))
    (('exact', 0.236406), ('independent', 0.319738))
    """
    asked = flag("check", check)
    answer = tracking_of(system, strengths, dynamics)
    if asked:
        from kinelo.advice.check import check_tracking

        answer = replace(answer, check=check_tracking(answer, strengths))
    return answer
