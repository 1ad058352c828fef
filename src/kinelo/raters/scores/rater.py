"""Exact scores: strengths say who wins, paces how much is scored, and a law of scores brings both together.

Attack and defence of a side are two numbers; their difference to those of others is its strength, and their sum its
pace, how much is scored in its matches. Strengths are those of another rater (:class:`kinelo.KalmanElo`, or
:class:`kinelo.PlayerElo` from line-ups) with all that it knows of home advantages, rest, newcomers and conditions;
paces are a filter of their own. To filter attacks and defences as such, from goals alone, forecast outcomes and scores
worse on football and national teams alike. Equations in :mod:`kinelo.raters.scores.kernels`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError, warn
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import Parameter, estimated
from kinelo.matches.dated import Day
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import Matches
from kinelo.raters.circumstances import Circumstances
from kinelo.raters.kalman.rater import KalmanElo
from kinelo.raters.player.rater import PlayerElo
from kinelo.raters.rater import Learnt, Rater, Traits
from kinelo.raters.scores.forecast import ScoreForecast, goals_of, grid_size, lean_of
from kinelo.raters.scores.kernels import UNSEEN, Law, Pace, Paces, Totals, follow_paces, score_grid, score_losses
from kinelo.raters.state import NameIndex
from kinelo.raters.stored import ANY, FIRST_DAY, stored, taken_whole
from kinelo.raters.streaming import LOOK

if TYPE_CHECKING:
    import polars as pl

Array = NDArray[np.float64]

MANY_POINTS = 30.0
"""Mean total beyond which scores are points and not counts."""

KNOWN_LEVEL = 0.1
"""Standard deviation of the level's logarithm where the matches fitted tell their mean."""

INNER = "strengths_"
"""How names of arrays of the strengths begin."""


class ScoreState:
    """Strengths as another rater has them, the level of the league, and the pace of every side."""

    def __init__(self, strengths: Any, log_level: float) -> None:
        self.strengths = strengths
        self.level = np.array([log_level, KNOWN_LEVEL**2, -math.inf])
        self.pace, self.doubt, self.last = np.empty(0), np.empty(0), np.empty(0, np.int64)

    @property
    def side_index(self) -> NameIndex:
        """Sides met so far."""
        return cast("NameIndex", self.strengths._begun().side_index)

    @property
    def name_index(self) -> NameIndex:
        """Those whom the strengths rate: sides, or players."""
        return cast("NameIndex", self.strengths._begun().name_index)

    @property
    def latest(self) -> int:
        """Day of the last match rated."""
        return int(self.strengths._begun().latest)

    def __len__(self) -> int:
        return len(self.strengths._begun())


@dataclass(eq=False, repr=False)
class ScoreElo(Rater):
    """Ratings that forecast exact scores: totals, over and under, handicaps, and whether both sides score.

    A parameter left at ``None`` is estimated from the scores. Chances of win, draw and loss are those of ``strengths``.

    Parameters
    ----------
    strengths
        The rater that says who wins, a :class:`kinelo.KalmanElo` (the default) or a :class:`kinelo.PlayerElo`, with its
        own conditions, covariates and ratings to begin with. It is copied, not changed.
    pace_spread, pace_walk
        Spread of the sides' paces, parts of the logarithm of a total, and how far one wanders in a year.
    level_walk
        How far the league's level wanders in a year.
    mismatch
        How much more is scored the less even a match is; 1 where goals follow attack and defence log-linearly, 0 where
        totals do not depend on it.
    dispersion
        Variance of a total over its mean; counts have at least 1.
    steepness
        How wide margins are for the chances that strengths give.
    closeness
        How much oftener than goals that know nothing of one another both sides score, and one goal decides: ``e^κ``
        times, and scores of both kinds ``e^{2κ}`` times.
    scatter
        How much the odds of one goal going to the home side scatter around what strengths say. Both say something of
        counts alone.
    law
        ``"counts"``, ``"points"``, or ``"auto"``: points where a match has more than 30.
    look
        How many matches ``fit`` estimates parameters on, the latest of a longer table; None means all of them.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B", "C"] * 30, "away": ["B", "C", "A"] * 30,
    ...          "home_score": [2, 1, 0, 3, 0] * 18, "away_score": [1, 1, 2, 0, 0] * 18}
    >>> rater = kn.ScoreElo().fit(kn.read_matches(table))
    >>> forecast = rater.predict_one("A", "B")
    >>> forecast.expected.shape, forecast.totals(2.5).shape, rater.ratings_.columns[:4]
    ((1, 2), (1, 3), ['name', 'rating', 'attack', 'defence'])
    """

    _traits: ClassVar[Traits] = Traits(book_holds=(), follows_matches=True, fitted_by_forecasts=False)
    strengths: KalmanElo | PlayerElo | None = None
    pace_spread: float | None = estimated(0.1, 0.002, 1.0, True, "spread of the sides' paces")
    pace_walk: float | None = estimated(0.05, 0.001, 1.0, True, "yearly random walk of a pace")
    level_walk: float | None = estimated(0.02, 0.001, 0.5, True, "yearly random walk of the league's level")
    mismatch: float | None = estimated(1.0, -2.0, 3.0, False, "how much more is scored in uneven matches")
    dispersion: float | None = estimated(1.1, 0.1, 20.0, True, "variance of a total over its mean", above_zero=True)
    steepness: float | None = estimated(1.0, 0.2, 5.0, True, "how wide margins are", above_zero=True)
    closeness: float | None = estimated(0.0, -0.5, 0.5, False, "how much oftener scores are close", largest=0.5)
    scatter: float | None = estimated(0.1, 0.001, 2.0, True, "scatter of the odds of a goal")
    law: Literal["auto", "counts", "points"] = "auto"
    look: int | None = LOOK

    def __post_init__(self) -> None:
        self._log_level = math.nan
        self._points: bool | None = None
        self._fitted_strengths: Any = None
        self._ahead: Array | None = None
        self._check_words()

    def _check_words(self) -> None:
        """Refuse other strengths and other laws than there are."""
        if self.strengths is not None and not isinstance(self.strengths, KalmanElo | PlayerElo):
            raise InputError(
                f"ScoreElo(strengths={self.strengths!r:.60}) cannot be used: strengths are a KalmanElo or a PlayerElo."
            )
        if not isinstance(self.law, str) or self.law not in ("auto", "counts", "points"):
            raise InputError(f"ScoreElo(law={self.law!r:.60}) cannot be used: law is 'auto', 'counts' or 'points'.")

    # Estimating

    def _prepare(self, matches: Matches) -> None:
        self._check_words()
        home, _ = goals_of(matches)
        known = int((home >= 0).sum())
        if not known:
            raise InputError(
                f"None of these {len(matches):,} matches has whole scores of both sides, which ScoreElo needs; name "
                "their columns with columns={'home_score': …, 'away_score': …}, or take KalmanElo."
            )
        if known < len(matches):
            warn(
                f"{len(matches) - known:,} of {len(matches):,} matches have no whole scores: they tell of strengths, "
                "and nothing of scores."
            )
        totals = matches.total[home >= 0]  # type: ignore[index]
        self._log_level, self._points = math.log(max(float(totals.mean()), 0.1)), self._points_in(float(totals.mean()))
        strengths = KalmanElo(look=self.look) if self.strengths is None else copy.deepcopy(self.strengths)
        self._fitted_strengths = strengths.fit(matches)
        again = copy.copy(strengths)
        again._reset(dict(strengths.parameters_))
        self._ahead = again.one_step_ahead(matches).probabilities

    def _points_in(self, mean_total: float) -> bool:
        return self.law == "points" or (self.law == "auto" and mean_total > MANY_POINTS)

    def _unidentified_parameters(self, matches: Matches) -> Mapping[str, float]:
        return {"closeness": 0.0, "scatter": 0.0} if self._points else {}

    def _losses(self, matches: Matches, skipped: int) -> Array:
        assert self._ahead is not None
        chances = self._ahead[-len(matches) :]
        state, (names, codes) = self._state, np.unique([matches.home, matches.away], return_inverse=True)
        home, away = codes.reshape(2, -1)
        paces = np.zeros(names.size), np.zeros(names.size), np.full(names.size, UNSEEN)
        beliefs = self._follow(matches, home, away, lean_of(chances), state.level, *paces)
        part, goals = slice(skipped, None), goals_of(matches)
        lean, law = lean_of(chances), self._law
        size = max(grid_size(law, *beliefs, lean), max(side.max(initial=0) for side in goals) + 1)
        losses = np.empty(len(matches) - skipped)
        chances, *rest = (column[part] for column in (chances, *beliefs, lean))
        score_losses(chances, tuple(rest), law, tuple(side[part] for side in goals), int(size), losses)
        return np.nan_to_num(losses, nan=0.0)

    def _conclude(self, matches: Matches, latest: Matches) -> None:
        self._ahead = None

    @property
    def _law(self) -> Law:
        values = self.parameters_
        least = 0.0 if self._points else 1.0
        return Law(
            bool(self._points),
            max(values["dispersion"], least),
            values["steepness"],
            values["mismatch"],
            values["closeness"],
            values["scatter"],
        )

    # Rating

    def _fresh(self, values: Mapping[str, float]) -> ScoreState:
        self._check_words()
        strengths = copy.copy(self._fitted_strengths or self.strengths or KalmanElo())
        strengths._reset(dict(strengths.parameters_) or None)
        return ScoreState(strengths, self._log_level)

    def _follow(
        self, matches: Matches, home: NDArray[Any], away: NDArray[Any], lean: Array, level: Array, *paces: NDArray[Any]
    ) -> tuple[Array, Array]:
        """Let level and paces go through the matches: mean and variance of ``log E`` before each."""
        values, goals = self.parameters_, goals_of(matches)[0]
        mean, variance = np.empty(len(matches)), np.empty(len(matches))
        known = np.full(len(matches), np.nan) if matches.total is None else np.where(goals < 0, np.nan, matches.total)
        pace = Pace(*(values[name] for name in ("pace_spread", "pace_walk", "level_walk")))
        played = Totals(matches.day, home.astype(np.int64), away.astype(np.int64), known, matches.weight, lean)
        follow_paces(played, pace, self._law, Paces(level, *paces), mean, variance)
        return mean, variance

    def _step_ahead(self, matches: Matches) -> ScoreForecast:
        state: ScoreState = self._begun()
        forecast = state.strengths.one_step_ahead(matches)
        if self._points is None and matches.total is not None and np.isfinite(matches.total).any():
            self._points = self._points_in(float(np.nanmean(matches.total)))
        new = len(state.side_index) - state.pace.size
        if new > 0:  # sides that the strengths have met
            state.pace, state.doubt = (np.concatenate([column, np.zeros(new)]) for column in (state.pace, state.doubt))
            state.last = np.concatenate([state.last, np.full(new, UNSEEN)])
        sides = self._places(matches)
        lean = lean_of(forecast.probabilities)
        beliefs = self._follow(matches, *sides, lean, state.level, state.pace, state.doubt, state.last)
        return self._with_scores(forecast, beliefs)

    def _foresee(self, matches: Matches) -> ScoreForecast:
        return self._read(matches, self._begun().strengths._foresee(matches))

    def _foresee_one(self, match: Matches) -> ScoreForecast:
        return self._read(match, self._begun().strengths._foresee_one(match))

    def _read(self, matches: Matches, outcomes: Forecast) -> ScoreForecast:
        """A forecast of outcomes with the scores that come with it; nothing is learnt."""
        state, lean = self._begun(), lean_of(outcomes.probabilities)
        without = copy.copy(matches)
        vars(without).update(total=None)
        paces = state.level.copy(), state.pace.copy(), state.doubt.copy(), state.last.copy()
        return self._with_scores(outcomes, self._follow(without, *self._places(matches), lean, *paces))

    def _with_scores(self, said: Forecast, beliefs: tuple[Array, Array]) -> ScoreForecast:
        return ScoreForecast(
            said.probabilities, said.unknown, said.matches, said.ratings_before, said.notes, self._law,
            np.column_stack(beliefs),
        )  # fmt: skip

    def _places(self, matches: Matches) -> tuple[NDArray[Any], NDArray[Any]]:
        """Places of both sides, −1 where they have not been met."""
        index = self._begun().side_index.index
        places = np.array([index.get(name, -1) for name in matches.teams], np.int64)
        places[places >= self._begun().pace.size] = -1
        return places[matches.home], places[matches.away]

    # What strengths answer

    def _lineups(self, home: Any, away: Any) -> Lineups | None:
        return cast("Lineups | None", self._begun().strengths._lineups(home, away))

    def _of_outcomes(self) -> Rater[Any, Any]:
        return cast("Rater[Any, Any]", self._begun().strengths)

    @property
    def _around(self) -> Circumstances:
        """Those of the strengths: this rater has none of its own."""
        return self._of_outcomes()._around

    def _further_parameters(self) -> tuple[Parameter, ...]:
        return ()

    def _effect_beliefs(self) -> tuple[Array, Array]:
        return self._of_outcomes()._effect_beliefs()

    def strengths_by(self, condition: str) -> pl.DataFrame:
        """Rating points that each level of a condition adds to everyone's strength, as ``strengths`` have them."""
        return self._of_outcomes().strengths_by(condition)

    @property
    def _band(self) -> float:
        return cast("float", self._begun().strengths._band)

    def _doubts(self, names: Sequence[str], date: Day | None) -> Array:
        return self._of_outcomes()._doubts(names, date)

    def _possible_strengths(self, names: Sequence[str], date: Day, draws: int, seed: int) -> Array:
        return cast("Array", self._begun().strengths._possible_strengths(names, date, draws, seed))

    @property
    def initial(self) -> float:
        """The average rating that is shown, as ``strengths`` have it."""
        return float(self._begun().strengths.initial)

    @property
    def learnt_(self) -> dict[str, Learnt]:
        """What follows the matches: all that strengths have learnt, and the ``level``, goals of an even match."""
        mean, variance, _ = self._begun().level
        level = Learnt(math.exp(mean), math.exp(mean) * math.sqrt(variance))
        return {**self._begun().strengths.learnt_, "level": level}

    @property
    def ratings_(self) -> pl.DataFrame:
        """The table of strengths, with ``attack`` and ``defence`` of every side: goals that it can expect to score and
        to concede against an average side on neutral ground.
        """
        return self._with_goals(self._begun().strengths.ratings_)

    def ratings_on(self, date: Day | None = None) -> pl.DataFrame:
        """The same with strengths as they are on a day, by default that of the last match; paces are as of the own last
        one.
        """
        return self._with_goals(self._begun().strengths.ratings_on(date))

    def _with_goals(self, table: pl.DataFrame) -> pl.DataFrame:
        state: ScoreState = self._begun()
        if state.strengths._traits.rates_players:  # sides have paces, players none
            return table
        gap = (table["rating"].to_numpy() - table["rating"].mean()) / state.strengths._points_per_unit
        places = [state.side_index.index[name] for name in table["name"].to_list()]
        pace = np.append(state.pace, np.zeros(len(state.side_index) - state.pace.size))[places]
        even = np.column_stack([state.level[0] + pace, np.zeros(gap.size)])
        scored, conceded = ScoreForecast(state.strengths._chances(gap), law=self._law, log_even=even).expected.T
        both = table.with_columns(attack=scored, defence=conceded)
        return both.select(list(dict.fromkeys(["name", "rating", "attack", "defence", *both.columns])))

    def _play_out(self, matches: Matches, draws: int, seed: int) -> tuple[NDArray[np.int8], Array]:
        """Play matches to come: outcomes as strengths draw them, and a margin from the chances of scores."""
        matches = self._on_days(matches)
        outcome, margin = self._begun().strengths._play_out(matches, draws, seed)
        generator, forecast = np.random.default_rng([seed, 15]), self._foresee(matches)
        for k in range(len(matches)):
            grid = np.empty((1, forecast._size, forecast._size))
            one = slice(k, k + 1)
            even = np.full((1, 3), 1.0 / 3.0)  # whatever the chances, a margin is drawn among those of its outcome
            score_grid(even, *(values[one] for values in forecast._beliefs), forecast.law, grid)
            by_margin = np.array([np.trace(grid[0], -m) for m in range(1 - forecast._size, forecast._size)])
            chance = [by_margin[forecast._size :], by_margin[: forecast._size - 1][::-1]]
            for place, sign, law in ((0, 1.0, chance[0]), (2, -1.0, chance[1])):
                where = outcome[:, k] == place
                drawn = np.searchsorted(np.cumsum(law) / law.sum(), generator.random(int(where.sum())), side="right")
                margin[where, k] = sign * (1.0 + np.minimum(drawn, law.size - 1))
        return outcome, margin

    # Keeping

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to carry on from here, as arrays."""
        state: ScoreState = self._begun()
        inner = {f"{INNER}{name}": array for name, array in state.strengths.to_arrays().items()}
        values = {f"parameter_{name}": np.array(value) for name, value in self.parameters_.items()}
        points = -1 if self._points is None else int(self._points)
        return {
            **inner,
            **values,
            "prepared": np.array([self._prepared or self._rated_alone, self._never_fitted]),
            "law": np.array([points]),
            "level": state.level.copy(),
            "pace": state.pace.copy(),
            "doubt": state.doubt.copy(),
            "last": state.last.copy(),
        }

    @taken_whole
    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self._prepared, self._never_fitted = map(bool, arrays["prepared"])
        points = int(stored(arrays, "law", "i", (1,), -1, 2)[0])
        self._points = None if points < 0 else bool(points)
        self._fitted_strengths = None
        self._reset_as_stored(arrays)
        state = self._state
        state.strengths.from_arrays(
            {name.removeprefix(INNER): array for name, array in arrays.items() if name.startswith(INNER)}
        )
        level = arrays["level"]
        stored({"level": level[np.isfinite(level)]}, "level", "f", (ANY,))
        size = len(state.side_index)
        state.level = np.array(level, dtype=float)
        state.pace, state.doubt = stored(arrays, "pace", "f", (ANY,)), stored(arrays, "doubt", "f", (ANY,), 0.0)
        state.last = stored(arrays, "last", "i", (ANY,), FIRST_DAY)
        if not state.pace.size == state.doubt.size == state.last.size <= size or state.level.shape != (3,):
            raise InputError("The arrays of paces of a stored state do not belong to its sides.")
