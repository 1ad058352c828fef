"""One match as a user says it: two names, a result of 0, ½, 1 (or in words), and what else is known of it.

:class:`SingleMatches` gives every rater ``predict_one`` and ``update_one``: the same table of one row that ``predict``
and ``update`` take, made of names without reading a table.
"""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.estimator import Data, MatchEstimator, Said
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import check_number
from kinelo.matches.dated import UNDATED, Day, day_number, read_day, refuse_far_ahead
from kinelo.matches.fixtures import check_neutral, fixture, lineups_of_starters, two_sides
from kinelo.matches.kind import MATCHES, Kind
from kinelo.matches.lineups import Lineups
from kinelo.matches.matches import LARGEST_WEIGHT, Matches
from kinelo.model.validation import is_list, is_text

UNDATED_DAY = int(UNDATED.astype(np.int64))
DAY_SECONDS = 86400.0
WORDS = {"win": 1.0, "draw": 0.5, "loss": 0.0}


def signed_result(result: float | str) -> float:
    """A result in points of the home side (0, ½, 1, anything between, or in words) on the paper's scale.

    >>> signed_result(0.5), signed_result("win"), signed_result(0)
    (0.0, 1.0, -1.0)
    >>> signed_result(-1)
    Traceback (most recent call last):
    kinelo.errors.InputError: The result -1 is not 1, 0.5 or 0 points of the home side, nor "win", "draw" or "loss".
    """
    points = WORDS.get(result.strip().lower(), math.nan) if isinstance(result, str) else result
    # What is said most often is asked first: a number of any other kind takes longer to recognise.
    number = type(points) is float or (isinstance(points, numbers.Real) and not isinstance(points, bool))
    if not number or not 0.0 <= points <= 1.0:
        raise InputError(
            f'The result {result!r} is not 1, 0.5 or 0 points of the home side, nor "win", "draw" or "loss".'
        )
    return 2.0 * float(points) - 1.0


def check_match(signed: float, margin: float, weight: float) -> None:
    """Refuse a margin or a weight that would spoil ratings; a margin of NaN is one that is not known.

    >>> check_match(1.0, -3.0, 1.0)
    Traceback (most recent call last):
    kinelo.errors.InputError: A margin of -3 contradicts a win of the home side.
    """
    if type(weight) is not float or not 0.0 <= weight <= LARGEST_WEIGHT:
        check_number("update_one", "weight", weight, 0.0, LARGEST_WEIGHT)
    if not (isinstance(margin, float) and math.isnan(margin)):
        check_number("update_one", "margin", margin, -math.inf)
        if margin != 0 and margin * signed <= 0:
            ended = "a win" if signed > 0 else "a loss" if signed < 0 else "a draw"
            raise InputError(f"A margin of {margin:g} contradicts {ended} of the home side.")


class OneResult(NamedTuple):
    """One match that was played, as a user says it, checked: its result in [−1, 1], and where it is said its day, with
    the number of that day."""

    home: str
    away: str
    signed: float
    day: np.datetime64 | None
    margin: float
    neutral: bool
    weight: float
    conditions: Mapping[str, object] | None
    lineups: Lineups | None
    number: int | None


def one_result(
    home: object, away: object, result: float | str, *, date: Day | None = None, margin: float = math.nan,
    neutral: bool = False, weight: float = 1.0, conditions: Mapping[str, object] | None = None,
    lineups: Lineups | None = None,
) -> OneResult:  # fmt: skip
    """One match that was played, checked as far as that needs no rater.

    >>> one_result("A ", "B", "draw", date="2024-05-01")[:4]
    ('A', 'B', 0.0, np.datetime64('2024-05-01'))
    """
    signed = signed_result(result)
    home, away = two_sides(home, away)
    check_match(signed, margin, weight)
    check_neutral(neutral)
    day = None if date is None else read_day(date)
    number = None if day is None else day_number(day)
    return OneResult(home, away, signed, day, margin, neutral, weight, conditions, lineups, number)


class Gaps(NamedTuple):
    """What is believed of the differences of strength in matches to come: mean, variance (matches), and newcomers."""

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    unknown: tuple[str, ...] = ()


class SingleMatches(MatchEstimator[Data, Said]):
    """Forecasts of single matches, and updates by them."""

    conditions: Any = ()
    rates_players: ClassVar[bool] = False
    """Whether those who are rated are players, whom line-ups name."""
    _rated_alone: bool = False
    """Whether any match was rated by itself since all were forgotten."""

    def predict_one(
        self,
        home: str,
        away: str,
        *,
        date: Day | None = None,
        neutral: bool = False,
        conditions: Mapping[str, object] | None = None,
        home_lineup: Sequence[str] = (),
        away_lineup: Sequence[str] = (),
    ) -> Forecast:
        """Forecast one match from the ratings as they stand: what ``predict`` says of it, to the last bit.

        The cost does not grow with the league. Names never met get the prior and stand in ``unknown`` of the forecast;
        names that resemble them are not searched, as ``predict`` does. Without a date the match is on the last day
        known, that of the last match rated. ``conditions={"surface": "clay"}`` says levels of the conditions that the
        rater uses; both sides play with their own strength under those left out. Raters of players take line-ups, names
        of starters; a side without one counts as its recent players.

        >>> import kinelo as kn
        >>> rater = kn.TeamElo.classic(k=20, ties=0.0, start={"A": 1700, "B": 1500})
        >>> rater.predict_one("A", "B", neutral=True)
        Forecast of 1 match: A – B 0.760 / 0.000 / 0.240
        """
        self._check_has_ratings()
        if isinstance(home_lineup, Mapping) or isinstance(away_lineup, Mapping):
            raise InputError("How long everyone plays is known after a match; a line-up to come is a list of names.")
        lineups = self._lineups(home_lineup, away_lineup)
        match = self._fixture(home, away, date, neutral, conditions, lineups)
        return self._noted(self._foresee_one(match), match)

    def update_one(
        self,
        home: str,
        away: str,
        result: float | str,
        *,
        date: Day | None = None,
        margin: float = math.nan,
        neutral: bool = False,
        weight: float = 1.0,
        conditions: Mapping[str, object] | None = None,
        home_lineup: Sequence[str] | Mapping[str, float] = (),
        away_lineup: Sequence[str] | Mapping[str, float] = (),
    ) -> Self:
        """Carry the ratings on with one match: 1, ½ or 0 points of the home side, or "win", "draw", "loss".

        Date, conditions and line-ups are those of :meth:`predict_one`. A line-up may say for how long each played: in
        ``{"Ann": 90, "Bob": 35}`` somebody left.

        >>> import kinelo as kn
        >>> kn.Glicko().update_one("A", "B", "win", date="2024-08-10").ratings_["name"].to_list()
        ['A', 'B']
        """
        one = one_result(
            home, away, result, date=date, margin=margin, neutral=neutral, weight=weight, conditions=conditions,
            lineups=self._lineups(home_lineup, away_lineup),
        )  # fmt: skip
        day = one.number
        if day is not None:  # without a date it is on the last day known
            if day < self._last_day():
                raise self._too_early(MATCHES, f"match of {one.day} between {one.home} and {one.away}")
            if day > time.time() / DAY_SECONDS + 365.0:
                refuse_far_ahead(np.array([day]), self._last_day())
        self._use_one(one)
        self._rated_alone = True
        return self

    def _use_one(self, one: OneResult) -> None:
        """Carry the ratings on with one match that was checked."""
        match = self._fixture(one.home, one.away, one.day, one.neutral, one.conditions, one.lineups)
        known = {"result": 0.5 + 0.5 * one.signed, "margin": one.margin, "weight": one.weight, "signed": one.signed}
        # Nobody else has the match yet; to make it again with these columns would take as long as to rate it.
        vars(match).update({name: np.array([float(value)]) for name, value in known.items()})
        self._use(match)

    def _noted(self, forecast: Any, matches: Any) -> Any:
        """A forecast with what else is to be said of the matches."""
        return forecast

    def _gaps(self, matches: Matches) -> Gaps:
        """What is believed of the differences of strength in matches to come."""
        raise InputError(f"{type(self).__name__} does not say how uncertain its ratings are.")

    def _chances(self, gaps: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Chances of matches whose differences of strength are known."""
        raise NotImplementedError

    def _chances_believed(self, mean: NDArray[np.float64], variance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Chances of matches of whose differences this is believed, as forecasts say them: by ratings as they stand."""
        return self._chances(mean)

    def _levels(self, conditions: Mapping[str, object] | None) -> dict[str, object] | None:
        """Levels of every condition that the rater uses, None where it uses none."""
        asked = self._conditions_asked()
        return check_levels(conditions, asked) if asked or conditions is not None else None

    def _lineups(
        self, home: Sequence[str] | Mapping[str, float], away: Sequence[str] | Mapping[str, float]
    ) -> Lineups | None:
        """Line-ups of one match, which only a rater of players takes."""
        none = type(home) is tuple and type(away) is tuple and not home and not away
        lineups = None if none else lineups_of_starters(home, away)
        if not self.rates_players and lineups is not None:
            raise InputError(f"{type(self).__name__} rates sides, not players: leave line-ups out, or take PlayerElo.")
        return lineups

    def _lineups_of_pairs(
        self, sides: Sequence[str | Sequence[str]], lineups: Sequence[Sequence[Any]], count: int
    ) -> Lineups | None:
        """Line-ups of so many matches: of a single side the same in all, of a list of sides one for each."""
        each = []
        for side, lineup in zip(sides, lineups, strict=True):
            if not isinstance(lineup, list | tuple | np.ndarray) or getattr(lineup, "shape", None) == ():
                raise InputError(f"{lineup!r:.60} is not a line-up; a line-up is a list of names that are not blank.")
            if isinstance(side, str) or not len(lineup):
                each.append([lineup] * count)
            elif len(lineup) == len(side):
                each.append(list(lineup) if len(side) == count else list(lineup) * count)
            else:
                raise InputError(f"{len(side)} sides need a line-up each (or none at all), not {len(lineup)}.")
        if not self.rates_players:
            return self._lineups(lineups[0], lineups[1])
        return lineups_of_starters(*(lineup for pair in zip(*each, strict=True) for lineup in pair))

    def _fixture(
        self,
        home: str,
        away: str,
        date: Day | None,
        neutral: bool,
        conditions: Mapping[str, object] | None,
        lineups: Lineups | None = None,
    ) -> Matches:
        """One match, with every condition that the rater uses."""
        home, away = two_sides(home, away)
        given = self._levels(conditions)
        day = self._day_of(date)
        return fixture(home, away, day, neutral=neutral, conditions=given, lineups=lineups)

    def _conditions_asked(self) -> Sequence[str]:
        """Columns beyond results that the rater asks of matches."""
        return self.conditions or ()

    def _day_of(self, date: Day | None) -> np.datetime64:
        """The day of a match to come: the last day known where none is said, or where ratings know of no days."""
        day, last = None if date is None else read_day(date), self._last_day()
        return np.datetime64(max(last, 0), "D") if day is None or last == UNDATED_DAY else day

    def _on_days(self, matches: Data) -> Data:
        """Matches to come on their days, or on the last day known where they, or the ratings, know of none."""
        last = self._last_day()
        if (matches.dated and last != UNDATED_DAY) or (max(last, UNDATED_DAY) == UNDATED_DAY and not matches.dated):
            return matches
        day = np.datetime64(max(last, UNDATED_DAY), "D")
        return replace(matches, date=np.full(len(matches), day))

    def _last_day(self) -> int:
        """Day of the last match rated; NEVER before the first."""
        raise NotImplementedError

    def _foresee(self, matches: Any) -> Any:
        """Forecast matches from the ratings as they stand."""
        raise NotImplementedError

    def _foresee_one(self, match: Matches) -> Forecast:
        """Forecast one match, at a cost that does not grow with the league."""
        return self._foresee(match)

    def _use(self, matches: Any) -> None:
        """Carry the ratings on with matches that were checked."""
        raise NotImplementedError

    def _too_early(self, kind: Kind, named: str) -> InputError:
        """What to say of a match before the last one rated."""
        raise NotImplementedError


def pairs_of(home: str | Sequence[str], away: str | Sequence[str]) -> tuple[list[str], list[str]]:
    """Both sides as lists of equal length; a single name meets everyone of the other list."""
    sides = [[side] if isinstance(side, str) else side for side in (home, away)]
    for side in sides:
        if not is_list(side):
            raise InputError(f"{side!r:.60} is neither the name of a side nor a list of names.")
    one, other = list(sides[0]), list(sides[1])
    for name in (*one, *other):
        if not is_text(name):
            raise InputError(f"{name!r:.60} is not the name of a side; a name is text that is not blank.")
    if len(one) == len(other):
        return one, other
    if isinstance(home, str):
        return one * len(other), other
    if isinstance(away, str):
        return one, other * len(one)
    raise InputError(f"{len(one)} sides cannot be paired with {len(other)}; give one name, or lists of equal length.")


def check_levels(given: Mapping[str, object] | None, conditions: Sequence[str]) -> dict[str, object]:
    """Levels of all conditions of one match, None where nothing is said; what the rater does not know is refused.

    >>> check_levels({"surface": "clay"}, ["surface", "weather"])
    {'surface': 'clay', 'weather': None}
    """
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise InputError(f"conditions={given!r:.60} must say levels by condition, such as {{'surface': 'clay'}}.")
    strange = [name for name in given if name not in conditions]
    if strange:
        raise InputError(f"{strange[0]!r} is no condition of this rater; it uses {list(conditions)}.")
    return {name: given.get(name) for name in conditions}
