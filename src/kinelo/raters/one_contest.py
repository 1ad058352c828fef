"""One contest as a program says it: its entrants in order, without a table.

An entrant is a name, or a list of names, which is a team; a tuple has a name (or a list of names) for each kind that is
rated. Ties are said by ``ranks``.

:func:`predict_one` and :func:`update_one` are what raters of contests have in the place of those of matches alone: a
list of entrants is a contest, two names are a match. The rater says how a contest is forecast (``_foresee_field``) and
used (``_use_order``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.places import ContestForecast
from kinelo.matches.contests import UNFINISHED, Contests, Slots
from kinelo.matches.dated import Day, read_day
from kinelo.matches.names import clean_name
from kinelo.matches.reading import places_of
from kinelo.raters.rater import Rater

Array = NDArray[np.float64]
Rated = TypeVar("Rated")
Unfinished = Sequence[Any] | Mapping[Any, float]
"""Those who did not finish, or how far each of them came."""


class PredictOne(Protocol):
    """How a contest to come, or a match, is said."""

    @overload
    def __call__(
        self, entrants: Sequence[Any], *, date: Day | None = None, conditions: Mapping[str, object] | None = None
    ) -> ContestForecast: ...
    @overload
    def __call__(
        self,
        home: str,
        away: str,
        *,
        date: Day | None = None,
        neutral: bool = False,
        conditions: Mapping[str, object] | None = None,
        home_lineup: Sequence[str] = (),
        away_lineup: Sequence[str] = (),
    ) -> Forecast: ...


class UpdateOne(Protocol):
    """How a contest, or a match, that was played is said; the rater comes back."""

    @overload
    def __call__(
        self,
        order: Sequence[Any],
        *,
        ranks: Sequence[float] | None = None,
        unfinished: Unfinished = (),
        date: Day | None = None,
        conditions: Mapping[str, object] | None = None,
        minutes: Mapping[str, float] | None = None,
    ) -> Any: ...
    @overload
    def __call__(
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
        home_lineup: Sequence[str] = (),
        away_lineup: Sequence[str] = (),
    ) -> Any: ...


def predict_one(self: Any, *sides: Any, **options: Any) -> Any:
    """Forecast one contest of these entrants from the ratings as they stand, or one match of two sides.

    An entrant is a name, or a list of names, which is a team: ``[["Ann", "Bob"], ["Cid", "Dee"]]``. Where several
    kinds are rated it is a tuple with a name (or a list of names) for each. Advantages come last, and who has none
    leaves them out: ``[("Ajax", "home"), "PSV"]``. Without a date the contest is on the last day known.
    ``conditions={"track": "oval"}`` says circumstances of ``noise_by``. A match is said as to every other rater:
    ``predict_one("Ajax", "PSV")``.

    >>> import kinelo as kn
    >>> rater = kn.TeamElo.classic(start={"Ann": 1700, "Bob": 1500, "Cid": 1500})
    >>> rater.predict_one(["Ann", "Bob", "Cid"]), rater.predict_one("Ann", "Bob")
    (Forecast of 1 contest: Ann 0.613, Bob 0.194, Cid 0.194, Forecast of 1 match: Ann – Bob 0.760 / 0.000 / 0.240)
    """
    if _are_two(sides, options):
        return Rater.predict_one(self, *sides, **options)
    return self._foresee_field(**_given(sides, options, "entrants"))


def update_one(self: Any, *sides: Any, **options: Any) -> Any:
    """Carry the ratings on with one contest: its entrants in order of places, as :meth:`predict_one` takes them.

    ``ranks`` says places otherwise, a number for each who finished, the best the lowest; equal ranks are ties.
    ``unfinished`` lists those who did not finish, or says to a :class:`kinelo.RankElo` how far each came as a part
    of what the winner did: ``{"Dee": 0.8}``; ``minutes={"Ann": 30, "Bob": 4}`` how long each of a team played, for
    which they then count. A match is said as to every other rater: ``update_one("A", "B", 1)``.

    >>> import kinelo as kn
    >>> rater = kn.RankElo().update_one(["Ann", "Bob", "Cid"], ranks=[1, 2, 2], unfinished=["Dee"])
    >>> rater.ratings_["name"].to_list()
    ['Ann', 'Dee', 'Bob', 'Cid']
    >>> teams = kn.RankElo().update_one([["Ann", "Bob"], ["Cid", "Dee"]])
    >>> teams.ratings_["name"].to_list(), teams.predict_one([["Cid", "Dee"], ["Ann", "Bob"]])
    (['Ann', 'Bob', 'Cid', 'Dee'], Forecast of 1 contest: Ann + Bob 0.562, Cid + Dee 0.438)
    """
    if _are_two(sides, options):
        return Rater.update_one(self, *sides, **options)
    if "result" in options or sides[2:]:
        raise InputError("A contest has no result; update_one takes its order, ranks, unfinished and date.")
    self._use_order(**_given(sides, options, "order"))
    return self


def _are_two(sides: tuple[Any, ...], said: Mapping[str, Any]) -> bool:
    """Whether sides of a match are named, and not the entrants of a contest."""
    first, away = (sides[0] if sides else said.get("home")), (sides[1] if sides[1:] else said.get("away"))
    return isinstance(first, str) or away is not None


def _given(sides: tuple[Any, ...], options: dict[str, Any], first: str) -> dict[str, Any]:
    """What is said of a contest without what says nothing; ``first`` is what its entrants are called."""
    given = {
        first if name == "home" else name: value
        for name, value in options.items()
        if value is not None and not (name == "unfinished" and isinstance(value, list | tuple) and not value)
    }
    entrants = [side for side in sides if side is not None]
    if len(entrants) + (first in given) != 1:
        raise InputError("Give the entrants of a contest as one list, or the two sides of a match by name.")
    return {first: entrants[0]} | given if entrants else given


def refuse_words(words: Mapping[str, Any], taken: str) -> None:
    """Refuse what is said of a contest and is none of what is ``taken``."""
    if words:
        raise InputError(f"A contest has no {next(iter(words))}; {taken}.")


def ranked(
    order: Sequence[Any], unfinished: Unfinished, ranks: Sequence[float] | None = None
) -> tuple[list[Any], list[float], list[int]]:
    """Entrants, their places and how they ended, from their order, or from ranks, of which equal ones are ties.

    >>> ranked(["Ann", "Bob", "Cid", "Dee"], ["Eve"], ranks=[1, 2, 2, 4])
    (['Ann', 'Bob', 'Cid', 'Dee', 'Eve'], [1.0, 2.5, 2.5, 4.0, 5.0], [0, 0, 0, 0, 1])
    """
    unfinished = list(unfinished) if isinstance(unfinished, Mapping) else unfinished
    for given in (order, unfinished):
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise InputError(f"{given!r:.60} is not an order of entrants; an order is a list of names.")
    entrants = [*order, *unfinished]
    if len({isinstance(entrant, list) for entrant in entrants}) > 1:
        raise InputError(
            f"{entrants!r:.80} mixes names and lists. A list is a team of players (['Ann'] is a team of one); say who "
            "ties by ranks, such as ranks=[1, 2, 2]."
        )
    try:
        value = np.arange(len(order), dtype=float) if ranks is None else np.array(ranks, float)
    except (TypeError, ValueError):
        value = np.empty(0)
    if isinstance(ranks, str) or value.shape != (len(order),) or not np.isfinite(value).all():
        raise InputError(
            f"ranks={ranks!r:.60} is not understood; it lists a number for each of the {len(order)} who finished, the "
            "best the lowest, and equal ones tie."
        )
    by_rank = np.argsort(value, kind="stable").tolist()
    value = np.append(value[by_rank], np.full(len(unfinished), np.inf))
    entrants = [*(order[k] for k in by_rank), *unfinished]
    ended = [0] * len(order) + [UNFINISHED] * len(unfinished)
    return entrants, places_of(value, np.zeros(len(value), np.int64)).tolist(), ended


def with_distances(contest: Contests, unfinished: Unfinished) -> Contests:
    """A contest with how far those came who did not finish and stand last, where that is said.

    >>> one = contest_of(*ranked(["Ann"], ["Eve"]), np.datetime64("2024-05-01"), ("driver",))
    >>> with_distances(one, {"Eve": 0.8}).distance.tolist()
    [nan, 0.8]
    """
    if not isinstance(unfinished, Mapping):
        return contest
    for name, part in unfinished.items():
        right = isinstance(part, int | float | np.number) and not isinstance(part, bool) and 0.0 <= part <= 1.0
        if not right:
            raise InputError(
                f"unfinished={{{name!r:.40}: {part!r:.40}}} says how far somebody came; that is a part of what the "
                "winner did, from 0 to 1."
            )
    finished = contest.entrant.size - len(unfinished)
    return replace(contest, distance=np.array([np.nan] * finished + [float(part) for part in unfinished.values()]))


def with_minutes(contest: Contests, minutes: Mapping[str, float]) -> Contests:
    """A contest with how long each took part: who left early counts for that part of the team.

    >>> one = contest_of([["Ann", "Bob"], ["Cid", "Dee"]], None, None, np.datetime64("2024-05-01"), ("player",))
    >>> with_minutes(one, {"Ann": 30, "Bob": 10, "Cid": 30, "Dee": 30}).slots["player"].playing().tolist()
    [[30.0, 10.0], [30.0, 30.0]]
    """
    if not isinstance(minutes, Mapping):
        raise InputError(f'minutes={minutes!r:.60} is not understood; it says how long each played: {{"Ann": 30}}.')
    for name, time in minutes.items():
        right = isinstance(time, int | float | np.number) and not isinstance(time, bool) and 0.0 <= time < math.inf
        if not right:
            raise InputError(f"minutes={{{name!r:.40}: {time!r:.40}}} says for how long, a number from 0 on.")
    kind, slots = next(iter(contest.slots.items()))
    if strange := [name for name in minutes if name not in slots.names]:
        raise InputError(f"minutes speak of {strange[0]!r:.60}, who is not in this contest.")
    by_code = np.array([float(minutes.get(name, math.nan)) for name in slots.names] + [math.nan])
    times = by_code[slots.codes]
    if not (np.where(slots.codes >= 0, np.nan_to_num(times, nan=1.0), 0.0).sum(axis=1) > 0.0).all():
        raise InputError("Nobody of a team played for any time at all; leave such a team out.")
    return replace(contest, slots={**contest.slots, kind: replace(slots, minutes=times)})


def contest_of(
    entrants: Sequence[Any],
    places: Sequence[float] | None,
    ended: Sequence[int] | None,
    day: np.datetime64,
    kinds: tuple[str, ...],
    advantages: tuple[str, ...] = (),
) -> Contests:
    """One contest, which is to come where it has no places.

    Who has no advantage leaves it out.
    """
    if isinstance(entrants, str) or not isinstance(entrants, Sequence) or len(entrants) < 2:
        raise InputError(f"{entrants!r:.60} is not a contest; it needs a list of two entrants or more.")
    rows = [_members(entrant, kinds, len(advantages)) for entrant in entrants]
    labels = [" + ".join(row[0]) for row in rows]
    if len(set(labels)) < len(labels):
        raise InputError(f"{labels!r:.60} names an entrant twice.")
    slots = {}
    for number, kind in enumerate(kinds):
        names = tuple(dict.fromkeys(name for row in rows for name in row[number]))
        index = {name: code for code, name in enumerate(names)}
        codes = np.full((len(rows), max(1, *(len(row[number]) for row in rows))), -1, np.int32)
        for k, row in enumerate(rows):
            codes[k, : len(row[number])] = [index[name] for name in row[number]]
        slots[kind] = Slots(codes, names, kind in advantages)
    size = len(rows)
    place = np.full(size, np.nan) if places is None else np.array(places, float)
    return Contests(
        np.array([day]), np.array([0, size]), np.arange(size, dtype=np.int32), tuple(labels), place,
        np.zeros(size, np.int8) if ended is None else np.array(ended, np.int8), slots, np.ones(1),
        np.arange(1, size + 1), ("1",),
    )  # fmt: skip


def _members(entrant: Any, kinds: tuple[str, ...], optional: int) -> list[tuple[str, ...]]:
    """Names of an entrant by kind; the last kinds, advantages, may be missing."""
    by_kind = isinstance(entrant, tuple) and (len(kinds) > 1 or not all(isinstance(part, str) for part in entrant))
    parts = entrant if by_kind else (entrant,)
    if not len(kinds) - optional <= len(parts) <= len(kinds):
        raise InputError(f"{entrant!r:.60} is no entrant; it needs a name for each of {', '.join(kinds)}.")
    members = []
    for number, part in enumerate(parts):
        said = part if isinstance(part, list | tuple) else (part,)
        if number >= len(kinds) - optional:  # numbers of covariates
            said = [str(one) if isinstance(one, int | float) and not isinstance(one, bool) else one for one in said]
        names = tuple(clean_name(name) if isinstance(name, str) else "" for name in said)
        if not names or not all(names):
            raise InputError(f"{part!r:.60} is not a name; a name is text that is not blank.")
        members.append(names)
    return members + [()] * (len(kinds) - len(members))


def slots_not_used(contests: Contests) -> list[str]:
    """Kinds of slots of which those use nothing who rate entrants, whoever or whatever they are made of."""
    unused = []
    for kind, slots in contests.slots.items():
        pairs = np.unique(np.column_stack([contests.entrant, slots.codes[:, 0]]), axis=0)
        entrants, values = (np.unique(column).size for column in pairs.T)
        differ = values > 1 and not len(pairs) == entrants == values  # from who the entrant is
        if slots.codes.shape[1] > 1 or differ:
            unused.append(kind)
    return unused


class WholeEntrants:
    """What raters share that rate each entrant of a contest as a whole; what it is made of is used by RankElo."""

    predict_one: ClassVar[PredictOne] = predict_one  # type: ignore[assignment]
    update_one: ClassVar[UpdateOne] = update_one  # type: ignore[assignment]
    _called: ClassVar[str]
    """Who that is, in sentences."""

    def _unused_words(self: Any, played: Any) -> str:
        """What is said of slots that are not used, if there are any."""
        unused = [] if played.kind.two_sided else slots_not_used(played)
        if not unused:
            return ""
        rates = f"{self._called} rates each entrant as a whole"
        return f"{rates} and does not use {' and '.join(unused)}; --rater rank does"

    def _foresee_field(self: Any, entrants: Any, **options: Any) -> Any:
        return self.predict(self._field_of(entrants, **options))

    def _use_order(self: Any, order: Any, **options: Any) -> None:
        self.update(self._contest_one(order, **options))

    def _contest_one(
        self, order: Any, *, ranks: Any = None, unfinished: Any = (), date: Day | None = None, **unknown_options: Any
    ) -> Contests:
        """One contest as :meth:`update_one` takes it."""
        refuse_words(unknown_options, "update_one takes its order, ranks, unfinished and date")
        return self._contest(*ranked(order, unfinished, ranks), date)

    def _field_of(self: Any, entrants: Sequence[Any], *, date: Day | None = None, **unknown_options: Any) -> Contests:
        """One contest to come as :meth:`predict_one` takes it."""
        refuse_words(unknown_options, "predict_one takes its entrants and date")
        self._check_has_ratings()
        return self._contest(entrants, None, None, date)

    def _contest(
        self: Any, entrants: Sequence[Any], places: Sequence[float] | None, ended: Sequence[int] | None,
        date: Day | None,
    ) -> Contests:  # fmt: skip
        """One contest by names; without a date it is on the day of the last one rated."""
        day = np.datetime64(max(self._last_day(), 0), "D") if date is None else read_day(date)
        return contest_of(entrants, places, ended, day, ("entrant",))
