"""Elo as a federation computes it: ``R += K (S − E)`` with ``E = 1/(1 + 10^{−d/400})`` and half a point for a draw."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.parameters import Option, Parameter, check_number
from kinelo.forecasts.scores import log_loss
from kinelo.matches.contests import Contests
from kinelo.matches.dated import Day, read_day
from kinelo.matches.kind import CONTESTS, MATCHES, check_played
from kinelo.matches.matches import Matches
from kinelo.model.steps import EACH, FallingSteps, FideSteps, StepRule
from kinelo.model.system import RatingSystem
from kinelo.raters import one_contest
from kinelo.raters.arguments import FIXED_BY_PLAIN_ELO, LOOKED_AT, checked_estimates
from kinelo.raters.one_contest import contest_of, ranked
from kinelo.raters.rater import Traits
from kinelo.raters.sides import USUAL_SPREAD, SideRater
from kinelo.raters.start import read_k
from kinelo.raters.streaming import LOOK
from kinelo.raters.team.contests import forecast_contests, rate_contests, slots_not_used
from kinelo.raters.team.law import SCALE, EloLaw, elo_law, elo_slopes
from kinelo.raters.team.state import StepsByName

OFF = {
    "spread": 0.0, "margin_weight": 0.0, "margin_scale": 1.0,
    "contraction": 1.0, "regression": 0.0, "home_step": 0.0, "ties_step": 0.0,
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


class ClassicElo(SideRater):
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
    conditions: Sequence[str] = ()
    system: RatingSystem | None = None
    season_gap: float = 0.0
    sharpness_walk: float = 0.0

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
        self.k = k
        self.ties = ties
        self.home_advantage = home_advantage
        self.initial = initial
        self.scale = scale
        self.start = start
        self.look = look
        self.k_of = k_of

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

    def _steps_by_name(self) -> StepsByName:
        named = {} if self.k_of is None else {name: k / 2.0 for name, k in read_k(self.k_of).items()}
        juniors = self.k.under_18 if isinstance(self.k, FideSteps) else ()
        if isinstance(self.k, FideSteps) and self.scale != SCALE:
            raise InputError(f"FIDE's rules count points of scale 400, not {self.scale:g}.")
        if not all(isinstance(name, str) for name in juniors):
            raise InputError("A rater knows juniors by name: FideSteps(under_18=[…]) lists indices.")
        return StepsByName(named, frozenset(str(name) for name in juniors))

    @property
    def prior_spread(self) -> float:
        """Standard deviation of newcomers' strengths: half the points that make the odds ten to one."""
        return USUAL_SPREAD * self.scale / SCALE

    def _unidentified_parameters(self, matches: Matches | Contests) -> Mapping[str, float]:
        """No home advantage where no venue or order of sides can tell of it, and in no contest."""
        check_played(matches)
        at_home = matches.kind.two_sided and not cast("Matches", matches).neutral.all() and self._order.home
        return {} if at_home else {"home_advantage": 0.0}

    def _settled_values(self, estimated: dict[str, float] | None = None) -> dict[str, float]:
        """The home advantage, and what plain Elo says of all other parameters of a team rater."""
        _, gamma, boost, matches = self._rule()
        steps = {"step": gamma, "newcomer_boost": boost, "settling_matches": matches}
        found = checked_estimates(estimated, {*vars(self), *FIXED_BY_PLAIN_ELO, "step"}) | dict(self._unidentified)
        usual = self._declared_parameters[0].default * self._own_points
        home = found.get("home_advantage", usual) if self.home_advantage is None else self.home_advantage
        return {**steps, "ties": self.ties or 0.0, **OFF, "home_advantage": float(home)}

    # Of contests it rates each entrant as a whole; slots, such as cars, are used by RankElo.

    def _unused_words(self, played: Matches | Contests) -> str:
        """What is said of slots that are not used, if there are any."""
        unused = [] if played.kind.two_sided else slots_not_used(cast("Contests", played))
        if not unused:
            return ""
        return f"plain Elo rates each entrant as a whole and does not use {' and '.join(unused)}; --rater rank does"

    def _use(self, matches: Matches | Contests) -> None:
        if isinstance(matches, Contests):
            rate_contests(self, matches)
        else:
            super()._use(matches)

    def _step_ahead(self, matches: Matches | Contests) -> Any:
        return rate_contests(self, matches) if isinstance(matches, Contests) else super()._step_ahead(matches)

    def _foresee(self, matches: Matches | Contests) -> Any:
        return forecast_contests(self, matches) if isinstance(matches, Contests) else super()._foresee(matches)

    predict_one: ClassVar[one_contest.PredictOne] = one_contest.predict_one  # type: ignore[assignment]
    update_one: ClassVar[one_contest.UpdateOne] = one_contest.update_one  # type: ignore[assignment]

    def _foresee_field(self, entrants: Any, **said: Any) -> Any:
        contest: Any = self._field_of(entrants, **said)
        return self.predict(contest)

    def _use_order(self, order: Any, **said: Any) -> None:
        contest: Any = self._contest_one(order, **said)
        self.update(contest)

    def _contest_one(
        self, order: Any, *, ranks: Any = None, unfinished: Any = (), date: Day | None = None, **more: Any
    ) -> Contests:
        """One contest as :meth:`update_one` takes it."""
        if more:
            what = next(iter(more))
            raise InputError(f"A contest has no {what}; update_one takes its order, ranks, unfinished and date.")
        return self._contest(*ranked(order, unfinished, ranks), date)

    def _field_of(self, entrants: Sequence[Any], *, date: Day | None = None, **more: Any) -> Contests:
        """One contest to come as :meth:`predict_one` takes it."""
        if more:
            raise InputError(f"A contest has no {next(iter(more))}; predict_one takes its entrants and date.")
        self._check_has_ratings()
        return self._contest(entrants, None, None, date)

    def _contest(
        self, entrants: Sequence[Any], places: Sequence[float] | None, ended: Sequence[int] | None, date: Day | None
    ) -> Contests:
        """One contest by names; without a date it is on the day of the last one rated."""
        day = np.datetime64(max(self._last_day(), 0), "D") if date is None else read_day(date)
        return contest_of(entrants, places, ended, day, ("entrant",))

    def _law_of(self, values: Mapping[str, float]) -> EloLaw:
        rule = 0.0 if self.step is not None else 1.0 + self._rule()[0]
        return elo_law(self, values, self.prior_spread, self._steps_by_name(), counts_draws=0.0, rule=rule)

    @property
    def _own_points(self) -> float:
        return self.scale / SCALE

    _keeps_found = True
    _slopes = elo_slopes

    @property
    def _learns_ties(self) -> bool:
        return self.ties is None


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
