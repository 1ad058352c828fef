"""Ratings of teams by the paper's update.

``R_i += γ (S − b(R_i − R_j + h))`` with Davidson ties in points of expected score (``b'(0) = ν`` whatever κ), a home
advantage ``h``, margins through a bounded map, a step that falls with experience and a drift to the mean over breaks. A
forecast takes both performances as normal with standard deviation σ around the ratings and gives the exact expected
win, draw and loss probabilities. :class:`ClassicElo` is Elo as a federation computes it: ``R += K (S − E)`` with
``E = 1/(1 + 10^{−d/400})`` and half a point for a draw.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, warn
from kinelo.forecasts.parameters import (
    FIXED_BY_PLAIN_ELO,
    LOOKED_AT,
    Option,
    Parameter,
    check_number,
    checked_estimates,
    estimated,
    fixed,
)
from kinelo.forecasts.scores import log_loss
from kinelo.matches.contests import Contests
from kinelo.matches.dated import check_played
from kinelo.matches.kinds import CONTESTS, MATCHES
from kinelo.matches.matches import Matches
from kinelo.model.outcome import LOGISTIC
from kinelo.model.steps import EACH, FallingSteps, FideSteps, StepRule
from kinelo.model.system import RatingSystem
from kinelo.play.laws import code_outcome
from kinelo.raters.band import band_walk
from kinelo.raters.circumstances import Circumstances
from kinelo.raters.margins import MEMORY, first_unit, running_unit
from kinelo.raters.one_contest import WholeEntrants
from kinelo.raters.rater import Traits
from kinelo.raters.reading import SHARPNESS_WALK
from kinelo.raters.sides import HOME_STEP, USUAL_SPREAD, SideRater
from kinelo.raters.start import read_k
from kinelo.raters.streaming import LOOK
from kinelo.raters.team.contests import forecast_contests, rate_contests
from kinelo.raters.team.kernels import TeamParameters
from kinelo.raters.team.law import NO_STEPS_BY_NAME, SCALE, EloLaw, StepsByName, elo_slopes

OFF = {
    "spread": 0.0, "margin_weight": 0.0, "margin_scale": 1.0,
    "contraction": 1.0, "regression": 0.0, "home_step": 0.0,
}  # fmt: skip


class KOption(NamedTuple):
    """K as a federation states it: a number, or a rule."""

    name: str

    def check(self, owner: str, value: object) -> Any:
        """The value as Python has it; what is neither is refused."""
        if isinstance(value, FideSteps | FallingSteps):
            return value
        if isinstance(value, StepRule):
            raise InputError(f"TeamElo.classic(k={value!r}) cannot be used: k is a number, FideSteps or FallingSteps.")
        return check_number("TeamElo.classic", "k", value, 0.0)


class ClassicElo(WholeEntrants, SideRater):
    """What :meth:`kinelo.TeamElo.classic` makes; its arguments are described there."""

    _declared_parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("home_advantage", 50.0, -300.0, 500.0, False, "rating points for playing at home", in_points=True),
    )
    _declared: ClassVar[Mapping[str, Any]] = {
        one.name: one
        for one in (
            *_declared_parameters, KOption("k"), Option("ties", 0.0, open=True), Option("initial"),
            Option("scale", 0.0, above=True), LOOKED_AT,
        )
    }  # fmt: skip
    _traits = Traits((MATCHES, CONTESTS), ("matches", "contests"), True, follows_matches=True, passes_points=True)
    _called = "plain Elo"
    k: float | StepRule
    k_of: Any
    _around: ClassVar[Circumstances] = Circumstances()  # type: ignore[assignment]
    system: RatingSystem | None = None
    season_gap: float = 0.0
    sharpness_walk: float = 0.0
    ties_walk: float | None = 0.0

    def __init__(
        self,
        k: float | StepRule = 32.0,
        ties: float | None = None,
        home_advantage: float | None = 0.0,
        *,
        initial: float = 1500.0,
        scale: float = SCALE,
        start: Any = None,
        look: int | None = LOOK,
        k_of: Any = None,
    ) -> None:
        given = {
            "k": k, "ties": ties, "home_advantage": home_advantage, "initial": initial, "scale": scale, "start": start,
            "look": look, "k_of": k_of,
        }  # fmt: skip
        for name, value in given.items():  # None stands for what is open
            argument = self._declared.get(name)
            if argument is not None and not (value is None and getattr(argument, "open", False)):
                given[name] = argument.check(type(self).__name__, value)
        vars(self).update(given)

    def __repr__(self) -> str:
        given = super().__repr__().removeprefix(f"{type(self).__name__}(").removesuffix(")")
        if not given.startswith("k="):
            given = ", ".join(filter(None, (f"k={self.k:g}", given)))  # the default
        return f"TeamElo.classic({given})"

    @property
    def label(self) -> str:
        """What an officer calls this system."""
        if isinstance(self.k, FideSteps):
            return "plain Elo, K by FIDE's rules"
        falls = f"{2 * self.k.gamma:g} once settled" if isinstance(self.k, FallingSteps) else f"{self.k:g}"
        return f"plain Elo, K = {falls}{'' if self.k_of is None else ' and K by name'}"

    @property
    def step(self) -> float | None:
        """γ = K/2, None under a rule of K."""
        return None if isinstance(self.k, StepRule) or self.k_of is not None else self.k / 2.0

    def _rule(self) -> tuple[int, float, float, float]:
        """Kind of the rule, γ, and two numbers of it."""
        return self.k.code if isinstance(self.k, StepRule) else (EACH, self.k / 2.0, 0.0, 1.0)

    @property
    def prior_spread(self) -> float:
        """Standard deviation of newcomers' strengths: half the points that make the odds ten to one."""
        return USUAL_SPREAD * self.scale / SCALE

    def _unidentified_parameters(self, matches: Matches | Contests) -> Mapping[str, float]:
        """No home advantage where no venue or order of sides can tell of it, and in no contest."""
        check_played(matches)
        at_home = matches.kind.two_sided and not cast("Matches", matches).neutral.all() and self._order.home
        return {} if at_home else {"home_advantage": 0.0}

    def _open_parameters(self) -> tuple[Parameter, ...]:
        """The home advantage alone can be open."""
        return super()._open_parameters() if self.home_advantage is None else ()

    def _settled_values(self, estimated: dict[str, float] | None = None) -> dict[str, float]:
        """The home advantage, and what plain Elo says of all other parameters of a team rater."""
        _, gamma, boost, matches = self._rule()
        steps = {"step": gamma, "newcomer_boost": boost, "settling_matches": matches}
        found = checked_estimates(estimated, {*vars(self), *FIXED_BY_PLAIN_ELO, "step"}) | dict(self._unidentified)
        usual = self._declared_parameters[0].default * self._own_points
        home = found.get("home_advantage", usual) if self.home_advantage is None else self.home_advantage
        return {**steps, "ties": self.ties or 0.0, **OFF, "home_advantage": float(home)}

    def _use(self, matches: Matches | Contests) -> None:
        if isinstance(matches, Contests):
            rate_contests(self, matches)
        else:
            super()._use(matches)

    def _step_ahead(self, matches: Matches | Contests) -> Any:
        return rate_contests(self, matches) if isinstance(matches, Contests) else super()._step_ahead(matches)

    def _foresee(self, matches: Matches | Contests) -> Any:
        return forecast_contests(self, matches) if isinstance(matches, Contests) else super()._foresee(matches)

    def _law_of(self, values: Mapping[str, float]) -> EloLaw:
        named = {} if self.k_of is None else {name: k / 2.0 for name, k in read_k(self.k_of).items()}
        juniors = self.k.under_18 if isinstance(self.k, FideSteps) else ()
        if isinstance(self.k, FideSteps) and self.scale != SCALE:
            raise InputError(f"FIDE's rules count points of scale 400, not {self.scale:g}.")
        if not all(isinstance(name, str) for name in juniors):
            raise InputError("A rater knows juniors by name: FideSteps(under_18=[…]) lists indices.")
        rule = 0.0 if self.step is not None else 1.0 + self._rule()[0]
        steps = StepsByName(named, frozenset(map(str, juniors)))
        return elo_law(self, values, self.prior_spread, steps, counts_draws=0.0, rule=rule)

    @property
    def _own_points(self) -> float:
        return self.scale / SCALE

    _keeps_found = True
    _slopes = elo_slopes

    @property
    def _learns_ties(self) -> bool:
        return self.ties is None


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
    home_step
        Rating points by which the home advantage moves per full surprise once it is known, so that it may drift over
        the years; 0 where the advantage is given.
    ties_walk
        How far κ's logarithm may move per match where it moves fastest, .03 unless said: κ follows the draws, and
        whether it moves at all is learnt too. 0 leaves κ as it was estimated, as does a κ that is given.
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
    ties: float | None = estimated(0.5, 1e-6, 20.0, True, "draws: equals draw κ/(2 + κ) of their matches")
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
    _: KW_ONLY
    sharpness_walk: float = fixed(SHARPNESS_WALK, 0.0)
    ties_walk: float | None = fixed(None, 0.0, open=True)
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
            Rating points at stake in a match: a number, :class:`kinelo.model.FideSteps` or
            :class:`kinelo.model.FallingSteps`.
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
        if not isinstance(system, RatingSystem):
            raise InputError(f"system must be a kinelo.RatingSystem, not {type(system).__name__}.")
        if system.schedule is not None:
            raise InputError(
                f"TeamElo rates one match after the other and cannot follow the schedule {system.schedule!r}."
            )
        gamma, boost, matches = system.gamma, 0.0, 1.0
        if isinstance(gamma, FallingSteps):
            gamma, boost, matches = gamma.gamma, gamma.boost, gamma.matches
        if not isinstance(gamma, float):
            raise InputError(f"TeamElo needs one gamma or FallingSteps from its system, not {gamma!r}.")
        of_system = {
            "step": gamma, "newcomer_boost": boost, "settling_matches": matches,
            "ties": code_outcome(system.outcome).kappa,
        }  # fmt: skip
        given = [name for name in of_system if getattr(self, name) is not None] + ["scale"] * (self.scale != SCALE)
        if given:
            raise InputError(
                f"TeamElo takes {given[0]} from its system; give either the system or {given[0]}, not both."
            )
        values = of_system | {
            "home_advantage": 0.0, "spread": 0.0, "margin_weight": 0.0, "margin_scale": 1.0, "contraction": 1.0,
            "regression": 0.0, "home_step": 0.0,
        }  # fmt: skip
        return values | {name: getattr(self, name) for name in values if getattr(self, name) is not None}

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
        given = self.prior_spread is not None and self._numbers.margin_weight == 0
        # With nothing to take or to estimate, or a class of a user's own that rates nobody here, all stays as it is.
        if not given and self._open_parameters() and len(self._state):
            # Newcomers' spread and the noise of margins come from the matches fitted, which are rated again with them.
            values = self.parameters_
            unit = np.empty(len(matches))
            running_unit(matches.margin, self._margin_unit, float(MEMORY), unit)
            reach = np.tanh(matches.margin / (self._numbers.margin_scale * unit))
            target = matches.signed + values["margin_weight"] * np.where(np.isnan(reach), 0.0, reach - matches.signed)
            self._target_square = float(np.mean(target**2))
            table = self.ratings_
            # Few matches tell little of how far sides lie apart: the usual spread counts like five matches of each.
            each = float(table["matches"].to_numpy().mean())
            between, usual = float(table["rating"].to_numpy().var()), USUAL_SPREAD * self._own_points
            self._found_spread = math.sqrt((each * between + 5.0 * usual**2) / (each + 5.0))
            self._reset(None if self.estimates_ is None else self.estimates_.values)
            self._use(matches)
        super()._conclude(matches, latest)
        if self.estimates_ is not None and "step" in self.estimates_.at_bounds:
            step = self.parameters_["step"]
            way = "less" if step < 1.01 * next(p.low for p in self._in_own_unit() if p.name == "step") else "more"
            warn(
                f"The search for step ended at the end of its range, {step:g} points: these matches ask for ratings "
                f"that move even {way}; step= takes any value, and BradleyTerry is made for strengths that stay."
            )


TeamElo.register(ClassicElo)


def elo_law(
    rater: Any, values: Mapping[str, float], spread: float, steps: StepsByName = NO_STEPS_BY_NAME, **changes: float
) -> EloLaw:
    """The law of a rater with these parameters; ``spread`` is that of newcomers' strengths, and ``changes`` are numbers
    by which it differs from :class:`kinelo.TeamElo`."""
    system, unit, learns_ties, point = rater.system, rater._margin_unit, rater._learns_ties, rater._own_points
    outcome = None if system is None else system.outcome
    kind = LOGISTIC if outcome is None else code_outcome(outcome).kind
    nu = math.log(10.0) / (2.0 * rater.scale) if outcome is None else outcome.nu
    weight = 0.0 if math.isnan(unit) else values["margin_weight"]
    home, home_wide = rater._home_before(values)
    numbers = TeamParameters(
        kind=float(kind),
        nu=nu / (values["contraction"] if weight > 0 else 1.0),
        kappa=values["ties"],
        gamma=values["step"],
        boost=values["newcomer_boost"],
        settling=values["settling_matches"],
        home=home,
        margin_weight=weight,
        margin_scale=values["margin_scale"],
        home_step=values["home_step"],
        ties_walk=band_walk(rater) if kind == LOGISTIC and system is None else 0.0,
        learns_ties=float(learns_ties),
        memory=float(MEMORY),
        outer_nu=nu,
        rho=values["regression"],
        mean=float(rater.initial),
        v0=spread**2,
        gap=rater.season_gap,
        square=rater._target_square,
        in_points=1.0 if system is None else 0.0,
        sharpness_walk=float(rater.sharpness_walk) if system is None else 0.0,
        home_wide=home_wide,
        effect_step=values.get("effect_step", 0.0),
    )
    own = outcome if kind != LOGISTIC else None
    return EloLaw(numbers._replace(**changes), values, point, unit, rater._around.conditions, own, steps)


def losses_by_k(rater: ClassicElo, matches: Matches, ks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-loss of every match (columns) with every K for all sides (rows), each from a fresh start."""
    twin, losses = copy.copy(rater), np.empty((len(ks), len(matches)))
    twin.k_of = None
    for row, k in zip(losses, ks.tolist()):
        twin.k = k
        twin._reset()
        chances, _ = twin._law.forecasts(twin._play_or_refuse(matches, traced=True))
        row[:] = log_loss(chances, matches.result)
    return losses
