"""Ratings of teams by the paper's update.

``R_i += γ (S − b(R_i − R_j + h))`` with Davidson ties in points of expected score (``b'(0) = ν`` whatever κ), a home
advantage ``h``, margins through a bounded map, a step that falls with experience and a drift to the mean over breaks. A
forecast takes both performances as normal with standard deviation σ around the ratings and gives the exact expected
win, draw and loss probabilities.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, cast

import numpy as np

from kinelo.errors import InputError, KineloWarning
from kinelo.forecasts.parameters import Parameter
from kinelo.matches.matches import Matches
from kinelo.model.steps import FallingSteps, StepRule
from kinelo.model.system import RatingSystem
from kinelo.play.laws import code_outcome
from kinelo.raters.arguments import estimated, fixed
from kinelo.raters.margins import MEMORY, first_unit, running_unit
from kinelo.raters.reading import SHARPNESS_WALK
from kinelo.raters.sides import HOME_STEP, TIES_STEP, USUAL_SPREAD, SideRater
from kinelo.raters.streaming import LOOK
from kinelo.raters.team.classic import ClassicElo
from kinelo.raters.team.law import SCALE, EloLaw, elo_law, elo_slopes


@dataclass(eq=False, repr=False)
class TeamElo(SideRater):
    """Team ratings: the paper's update with ties, home advantage, margins and a performance spread.

    Every parameter left at None is estimated by ``fit``; without ``fit`` it takes its default.

    Parameters
    ----------
    step
        γ, the rating points moved by a full surprise once a side is settled (half the K of chess).
    newcomer_boost, settling_matches
        A newcomer's step is ``1 + newcomer_boost`` times larger and falls to ``step`` over about this many matches.
    home_advantage
        Rating points for the home side, unless the venue is neutral. None learns them on the way:
        ``learnt_["home_advantage"]`` is what they are today, with their standard error.
    ties
        Davidson's κ: equal sides draw with probability ``κ / (2 + κ)``.
    spread
        σ, standard deviation of a performance around the rating, in the forecast.
    margin_weight, margin_scale
        The update sees ``(1 − w) S + w tanh(margin / (c · unit))``, the unit being the mean absolute margin of the
        matches before; margins count only after ``fit``.
    contraction
        The bounded map of margins is flatter than results are: the update expects ``b(z / contraction)``.
    regression
        Rate per year at which rating and uncertainty return to a newcomer's during rests beyond ``season_gap`` days.
    home_step, ties_step
        Rating points by which the home advantage moves per full surprise once it is known, and how far κ's logarithm
        moves per draw, so that both may drift over the years; 0 where the advantage, or κ, is given.
    sharpness_walk
        How far the logarithm of the sharpness of forecasts may move per match: forecasts that prove too bold, or not
        bold enough, are corrected as matches go by. 0 leaves them as they were estimated.
    initial, scale
        Rating of a newcomer, and the unit of ratings: as many points make an expected score of 10/11 without draws.
        With or without them a point is worth ``ln 10 / (4 · scale)`` of expected score between equals. Forecasts do
        not depend on it.
    prior_spread
        Standard deviation of newcomers' strengths, which sets their uncertainty; by default that of the fitted ratings,
        and 200 points of the usual scale where every parameter is given.
    start
        Ratings to begin with: names and numbers, or a table (also a path) with name, rating and perhaps deviation,
        matches and last_played, such as ``ratings_``; whoever is not in it enters as a newcomer.
    look
        How many matches ``fit`` estimates parameters on, the latest of a longer table; None means all of them.
    conditions
        Columns read with ``read_matches(..., conditions=[...])``, such as ``["surface"]``: each side has a strength per
        level of each around its own, with a spread in points that is estimated (``"spread by surface"``).
    noise_by
        Columns read with ``read_matches(..., conditions=[...])``, such as ``["format"]``: the noise of a match has a
        factor for each level, estimated and drawn to 1 (``noise_factors_``); it counts in forecasts and updates.
    covariates
        Columns of numbers read with ``read_matches(..., conditions=[...])``, such as ``["handicap"]``, that say what
        speaks for the side named first: what a unit is worth in rating points is learnt on the way and may drift
        (``effects_``), and :func:`kinelo.fair_value` says which handicap makes a match even.
    system
        A :class:`kinelo.RatingSystem`, which then tells step, newcomer's boost, ties and scale; what else is not given
        is off, and nothing is estimated. Its pairing says who meets whom, which matches already tell.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "B", "A"], "away": ["B", "C", "C"], "result": [1, 0.5, 1]})
    >>> rater = kn.TeamElo.classic(k=32).fit(matches)
    >>> rater.ratings_["name"].to_list(), rater.ratings_["rating"].round(2).to_list()
    (['A', 'B', 'C'], [1531.23, 1484.74, 1484.03])
    """

    step: float | None = estimated(
        15.0, 0.2, 300.0, True, "rating points per full surprise of a settled side", in_points=True
    )
    newcomer_boost: float | None = estimated(2.0, 0.0, 50.0, False, "how much larger a newcomer's step is")
    settling_matches: float | None = estimated(
        15.0, 1.0, 300.0, True, "matches until a side is settled", above_zero=True
    )
    home_advantage: float | None = estimated(
        50.0, -300.0, 500.0, False, "rating points for playing at home", in_points=True, learnt=True
    )
    ties: float | None = estimated(0.5, 1e-6, 20.0, True, "Davidson's kappa")
    spread: float | None = estimated(
        80.0, 0.0, 200.0, False, "standard deviation of a performance, in rating points", in_points=True
    )
    margin_weight: float | None = estimated(0.5, 0.0, 1.0, False, "share of the margin in the update")
    margin_scale: float | None = estimated(
        1.5, 0.2, 10.0, True, "bounded map of margins, in mean absolute margins", above_zero=True
    )
    contraction: float | None = estimated(
        1.5, 0.5, 10.0, True, "how much flatter margins are than results", above_zero=True
    )
    regression: float | None = estimated(0.1, 0.0, 3.0, False, "return to the mean, per year of rest")
    home_step: float | None = HOME_STEP()
    ties_step: float | None = TIES_STEP()
    _: KW_ONLY
    sharpness_walk: float = fixed(SHARPNESS_WALK, 0.0)
    initial: float = fixed(1500.0)
    scale: float = fixed(SCALE, 0.0, above=True)
    season_gap: float = fixed(45.0, 0.0)
    prior_spread: float | None = fixed(None, 0.0, above=True, open=True)
    conditions: Sequence[str] = ()
    noise_by: Sequence[str] = ()
    covariates: Sequence[str] = ()
    system: RatingSystem | None = None
    start: Any = None
    look: int | None = LOOK

    _condition_spread: ClassVar[Any] = (20.0, 0.5, 400.0)
    _keeps_found = True
    _slopes = elo_slopes

    def __post_init__(self) -> None:
        self._from_system()

    @property
    def _own_points(self) -> float:
        return self.scale / SCALE if self.system is None else 1.0

    @property
    def _learns_ties(self) -> bool:
        return super()._learns_ties and self.system is None

    def _law_of(self, values: Mapping[str, float]) -> EloLaw:
        return elo_law(self, values, self.prior_spread or self._found_spread or USUAL_SPREAD * self._own_points)

    @classmethod
    def classic(
        cls,
        k: float | StepRule = 32.0,
        ties: float | None = None,
        home_advantage: float | None = 0.0,
        *,
        initial: float = 1500.0,
        scale: float = SCALE,
        start: Any = None,
        k_of: Any = None,
    ) -> TeamElo:
        """A federation's Elo: ``E = 1/(1 + 10^{−d/400})``, a draw counts ½, and ratings move by ``K (S − E)``.

        Its forecasts know draws: they follow Davidson's law with the slope of E between equals, and κ comes from the
        draws among the matches rated so far (none, no draws). Expected points of a forecast differ from E by at most
        .0101 up to 600 points of difference and κ = 2, where every second match of equals is drawn.

        Parameters
        ----------
        k
            Rating points at stake in a match: a number, :class:`kinelo.FideSteps` or :class:`kinelo.FallingSteps`.
        ties
            Davidson's κ of forecasts; None learns it from the matches rated. Ratings do not depend on it.
        home_advantage
            Rating points that E adds for the home side; None estimates them.
        initial, scale, start
            As in :class:`TeamElo`. FIDE's rules count points of 400.
        k_of
            K by group: names with a K of their own, as a mapping or a table (also a path) with name and k.

        >>> import kinelo as kn
        >>> table = {"home": ["A", "B", "A"], "away": ["B", "C", "C"], "result": [1, 0.5, 1]}
        >>> rater = kn.TeamElo.classic(k=20, start={"A": 1600, "C": 1400}).update(kn.read_matches(table))
        >>> rater, rater.ratings_["rating"].round(2).to_list()
        (TeamElo.classic(k=20, start={'A': 1600, 'C': 1400}), [1611.91, 1490.19, 1397.9])
        """
        made = ClassicElo(k, ties, home_advantage, initial=initial, scale=scale, start=start, k_of=k_of)
        return cast("TeamElo", made)  # as it is registered below

    def _from_system(self) -> dict[str, float]:
        """What the rating system says of the parameters: its own numbers, and nothing beyond them unless given."""
        system = self.system
        if system is None:
            return {}
        if self._around.asked:
            raise InputError(
                "TeamElo estimates what conditions change in strengths and noise, and what covariates are worth, which "
                "its system leaves no room for."
            )
        own_values = parameters_from(system)
        own = ("step", "newcomer_boost", "settling_matches", "ties")
        given = [name for name in own if getattr(self, name) is not None] + ["scale"] * (self.scale != SCALE)
        if given:
            raise InputError(
                f"TeamElo takes {given[0]} from its system; give either the system or {given[0]}, not both."
            )
        return own_values | {name: getattr(self, name) for name in own_values if getattr(self, name) is not None}

    def _open_parameters(self) -> tuple[Parameter, ...]:
        """Parameters to be estimated: none where a rating system tells them all."""
        return () if self.system is not None else super()._open_parameters()

    def _settled_values(self, estimated: dict[str, float] | None = None) -> dict[str, float]:
        """Value of every parameter: the system's, or as in every rater."""
        return super()._settled_values(estimated) | self._from_system()

    def _unidentified_parameters(self, matches: Matches) -> Mapping[str, float]:
        """Nor margins without scores, nor their contraction without margins."""
        unidentified = dict(super()._unidentified_parameters(matches))
        if not np.any(np.abs(matches.margin) > 0):
            unidentified |= {"margin_weight": 0.0, "margin_scale": 1.0}
        if unidentified.get("margin_weight", self.margin_weight) == 0.0:
            unidentified["contraction"] = 1.0
        return unidentified

    def _prepare(self, matches: Matches) -> None:
        super()._prepare(matches)
        self._margin_unit = first_unit(matches.margin)
        self._found_spread = USUAL_SPREAD * self._own_points

    def _conclude(self, matches: Matches, latest: Matches) -> None:
        self._refine(matches)
        super()._conclude(matches, latest)
        self._warn_of_bounds()

    def _warn_of_bounds(self) -> None:
        """Warn where the search for the step ended at an end of its range."""
        if self.estimates_ is None or "step" not in self.estimates_.at_bounds:
            return
        found = self.parameters_["step"]
        way = "less" if found < 1.01 * next(p.low for p in self._in_own_unit() if p.name == "step") else "more"
        warnings.warn(
            f"The search for step ended at the end of its range, {found:g} points: these matches ask for ratings that "
            f"move even {way}; step= takes any value, and BradleyTerry is made for strengths that stay.",
            KineloWarning,
            stacklevel=3,
        )

    def _refine(self, matches: Matches) -> None:
        """Take newcomers' spread and the noise of margins from the matches fitted, and rate those again with them."""
        given = self.prior_spread is not None and self._numbers.margin_weight == 0
        if given or not self._open_parameters() or not len(self._state):
            return  # nothing to take or to estimate, or a class of a user's own that rates nobody here
        values = self.parameters_
        unit = np.empty(len(matches))
        running_unit(matches.margin, self._margin_unit, float(MEMORY), unit)
        reach = np.tanh(matches.margin / (self._numbers.margin_scale * unit))
        target = matches.signed + values["margin_weight"] * np.where(np.isnan(reach), 0.0, reach - matches.signed)
        self._target_square = float(np.mean(target**2))
        table = self.ratings_
        # Few matches tell little of how far sides lie apart: the usual spread counts like five matches of each.
        each = float(table["matches"].to_numpy().mean())
        between = float(table["rating"].to_numpy().var())
        self._found_spread = math.sqrt((each * between + 5.0 * (USUAL_SPREAD * self._own_points) ** 2) / (each + 5.0))
        self._reset(None if self.estimates_ is None else self.estimates_.values)
        self._use(matches)


TeamElo.register(ClassicElo)


def parameters_from(system: RatingSystem) -> dict[str, float]:
    """Every parameter of a team rater that plays this system and nothing else, or a sentence why it cannot."""
    if not isinstance(system, RatingSystem):
        raise InputError(f"system must be a kinelo.RatingSystem, not {type(system).__name__}.")
    if system.schedule is not None:
        raise InputError(f"TeamElo rates one match after the other and cannot follow the schedule {system.schedule!r}.")
    gamma, boost, matches = system.gamma, 0.0, 1.0
    if isinstance(gamma, FallingSteps):
        gamma, boost, matches = gamma.gamma, gamma.boost, gamma.matches
    if not isinstance(gamma, float):
        raise InputError(f"TeamElo needs one gamma or FallingSteps from its system, not {gamma!r}.")
    return {
        "step": gamma, "newcomer_boost": boost, "settling_matches": matches, "ties": code_outcome(system.outcome).kappa,
        "home_advantage": 0.0, "spread": 0.0, "margin_weight": 0.0, "margin_scale": 1.0, "contraction": 1.0,
        "regression": 0.0, "home_step": 0.0, "ties_step": 0.0,
    }  # fmt: skip
