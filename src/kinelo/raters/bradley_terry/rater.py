"""Ratings of contestants that do not change, from all comparisons at once.

The maximum of Davidson's likelihood (:mod:`kinelo.raters.bradley_terry.likelihood`) does not depend on the order of the
comparisons, as ratings by any update do: the right estimate for language models in an arena, or for any table of votes.
Contests of many are compared by that of Plackett and Luce (:mod:`kinelo.raters.bradley_terry.orders`), which is the
same between two. It keeps how fields hang together: a filter of independent beliefs forgets it where fields are alike.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import ndtri

from kinelo.errors import InputError, KineloWarning, warn
from kinelo.forecasts.forecast import Forecast
from kinelo.forecasts.parameters import check_number, estimated, fixed
from kinelo.forecasts.places import GUMBEL_DEVIATION, ContestForecast
from kinelo.forecasts.scores import outcome_shares
from kinelo.matches.contests import Contests
from kinelo.matches.dated import Condition
from kinelo.matches.kinds import CONTESTS, MATCHES
from kinelo.matches.matches import Matches, SideOrder, tells_result
from kinelo.model.outcome import CHESS_NU
from kinelo.model.validation import is_text, one_line, whole
from kinelo.play.laws import points_scale
from kinelo.presentation import counted
from kinelo.raters.bradley_terry.likelihood import (
    LEAST_RIDGE,
    LOOSE_RESIDUAL,
    RIDGES,
    Cells,
    Likelihood,
    Unknowns,
    all_chances,
    bootstrap,
    first_not_worse,
    rank_intervals,
    ranks_of_draws,
    sandwich,
)
from kinelo.raters.bradley_terry.orders import POINT, OrderLikelihood, Orders
from kinelo.raters.covariates import (
    EFFECT_WIDTH,
    FIRST_DOUBT_OF_SIDES,
    MOST_WEIGHED,
    covariate_names,
    covariate_numbers,
    effects_frame,
    settled_effects,
)
from kinelo.raters.one_contest import WholeEntrants
from kinelo.raters.one_match import Gaps
from kinelo.raters.rater import Rater, Traits
from kinelo.raters.spelling import MOST_NAMED
from kinelo.raters.state import NEVER, MatchIndices, NameIndex, RaterState, StateColumn
from kinelo.raters.stored import ANY, PREFIX, stored, stored_names, taken_whole

if TYPE_CHECKING:
    import polars as pl
    from distributed import Client

Array = NDArray[np.float64]
MOST_SCALINGS = 100
MOST_KEPT = 4_000
"""Unknowns whose covariance is kept between questions: 128 MB."""

LEAST_JUDGES = 50
"""Judges from which on intervals of 95 % held 95 % in simulated arenas, and 88 to 90 % with fewer."""
TABLES = ("counts", "squared", "events")
CELL_ARRAYS = ("i", "j", "c", *TABLES)
ORDER_ARRAYS = ("first", "entrant", "tied", "finished", "counts")
RETIREMENTS = (0.0, 0.03, 0.1, 0.3, 1.0)
"""Parts of a retirement that are tried."""


def covariate_columns(matches: Matches, names: tuple[str, ...]) -> Array:
    """Venue (1 at home, 0 on neutral ground) and the named covariates of every match."""
    return np.column_stack([1.0 - matches.neutral, covariate_numbers(matches, names)]).astype(np.float64)


class Played(NamedTuple):
    """Matches played and last day of every contestant."""

    games: NDArray[np.int64]
    last: NDArray[np.int64]


class Tally(RaterState):
    """Counts of results per cell (pair, venue and covariates, the earlier name first), and who played how often.

    Weights that are ``whole`` numbers, all of them, count comparisons; else a row is one, which counts by its weight.
    Where errors are told by judge, every row is kept as it came (``votes``), and whose it is (``judge``).
    """

    columns: ClassVar[Mapping[str, StateColumn]] = {"games": StateColumn(low=0), "last": StateColumn()}

    def __init__(self, covariates: tuple[str, ...], errors_by: str | None = None) -> None:
        super().__init__(Played(np.empty(0, np.int64), np.empty(0, np.int64)), {"last": NEVER})
        self.covariates, self.errors_by = covariates, errors_by
        self.i = np.empty(0, np.int32)
        self.j = np.empty(0, np.int32)
        self.c = np.empty((0, 1 + len(covariates)))
        self.counts = self.squared = self.events = np.empty((0, 3))
        self.whole = True
        self.judges, self.judge = NameIndex(), np.empty(0, np.int64)
        self.votes = Cells(self.i, self.j, self.c, self.counts)

    @property
    def comparisons(self) -> tuple[Array, Array]:
        """How many comparisons ended so, by squared weight and by number (cells, 3 each)."""
        return (self.counts, self.counts) if self.whole else (self.squared, self.events)

    def admit(self, matches: Matches) -> MatchIndices:
        """Places of both sides; newcomers are given room."""
        self.name_index.places(tuple(matches._appearing))
        places = np.array([self.name_index.index.get(name, -1) for name in matches.teams], np.int32)
        self.grow()
        self.note_days(matches.day)
        return MatchIndices(places[matches.home], places[matches.away])

    def find(self, matches: Matches) -> MatchIndices:
        """The same without adding anyone (-1: never compared), and the names never compared."""
        return self.find_sides(matches, self.name_index)

    def add(self, matches: Matches) -> None:
        """Count further matches."""
        judge = None if self.errors_by is None else judges_of(matches, self.errors_by)
        indices = self.admit(matches)
        i, j = indices.home, indices.away
        for side in (i, j):
            self.known.games[:] += np.bincount(side, minlength=self.known.games.size)
            np.maximum.at(self.known.last, side, matches.day)
        shares = outcome_shares(matches.result)
        weight = matches.weight[:, None]
        self.whole = self.whole and bool((weight == np.floor(weight)).all())
        tables = (shares * weight, shares * weight**2, shares * (weight > 0))
        c = covariate_columns(matches, self.covariates)
        swap = i > j
        i, j = np.where(swap, j, i), np.where(swap, i, j)
        c = np.where(swap[:, None], -c, c)
        tables = tuple(np.where(swap[:, None], table[:, ::-1], table) for table in tables)
        if judge is not None:
            self.judge = np.concatenate([self.judge, self.judges.places(judge.levels)[judge.codes]])
            rows: tuple[NDArray[Any], ...] = (i.astype(np.int32), j.astype(np.int32), c, tables[0])
            self.votes = Cells._make(np.concatenate(pair) for pair in zip(self.votes, rows))
        # Put cells together that are alike; the covariates of others may be any numbers.
        i, j = np.concatenate([self.i, i]), np.concatenate([self.j, j])
        c = np.concatenate([self.c, c])
        tables = tuple(np.concatenate([getattr(self, name), table]) for name, table in zip(TABLES, tables))
        if not self.covariates:  # venues are -1, 0 or 1: a cell is one number
            key = (i.astype(np.int64) * len(self) + j) * 3 + c[:, 0].astype(np.int64) + 1
            key, cell = np.unique(key, return_inverse=True)
            tables = tuple(
                np.column_stack([np.bincount(cell, weights=table[:, k], minlength=key.size) for k in range(3)]).astype(
                    np.float64  # of no matches at all whole numbers are counted
                )
                for table in tables
            )
            i, j = (key // 3 // len(self)).astype(np.int32), (key // 3 % len(self)).astype(np.int32)
            c = (key % 3 - 1).astype(np.float64)[:, None]
        self.i, self.j, self.c = i.astype(np.int32), j.astype(np.int32), c
        self.counts, self.squared, self.events = tables

    def cells(self, venue: bool, *, by_judge: bool = False) -> Cells:
        """Cells of the likelihood, with or without an effect of the venue; or every vote."""
        cells = self.votes if by_judge else Cells(self.i, self.j, self.c, self.counts)
        return cells if venue else cells._replace(c=np.ascontiguousarray(cells.c[:, 1:]))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk."""
        by_judge: dict[str, NDArray[Any]] = {}
        if self.errors_by is not None:
            by_judge = {f"votes_{name}": column for name, column in self.votes._asdict().items()}
            by_judge |= {"judge": self.judge, "judges": np.array(self.judges.names, "U")}
        return {
            **super().to_arrays(),
            **{name: getattr(self, name) for name in CELL_ARRAYS},
            "whole": np.array(self.whole),
            **by_judge,
        }

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        super().from_arrays(arrays)
        cells, names = len(arrays["i"]), len(self)
        self.i, self.j = (stored(arrays, name, "i", (cells,), 0, names) for name in ("i", "j"))
        self.c = stored(arrays, "c", "f", (cells, 1 + len(self.covariates)))
        self.counts, self.squared, self.events = (stored(arrays, name, "f", (cells, 3), 0) for name in TABLES)
        if self.errors_by is not None:
            self.judges.places(stored_names(arrays, "judges"))
            rows = len(arrays["judge"])
            self.judge = stored(arrays, "judge", "i", (rows,), 0, len(self.judges))
            one, other = (stored(arrays, f"votes_{name}", "i", (rows,), 0, names) for name in ("i", "j"))
            c = stored(arrays, "votes_c", "f", (rows, 1 + len(self.covariates)))
            self.votes = Cells(one, other, c, stored(arrays, "votes_counts", "f", (rows, 3), 0))
        # Earlier versions took every row for one comparison, whatever its weight, and go on as they began.
        self.whole = bool(stored(arrays, "whole", "b", ()) if "whole" in arrays else (self.counts == self.events).all())


def judges_of(votes: Matches, column: str) -> Condition:
    """Whose vote each is, as a column that was read says; refused where it says nothing of some."""
    if column not in votes.conditions:
        raise InputError(
            f"The column {column!r} was not read; read it with read_matches(..., conditions=[{column!r}])."
        )
    judge = votes.conditions[column]
    if missing := int((judge.codes < 0).sum()):
        raise InputError(
            f"The column {column!r} is empty in {counted(missing, 'row', 'rows')}; every vote must have a judge."
        )
    return judge


class OrderTally(Tally):
    """All contests rated, as orders, and who took part how often."""

    def __init__(self) -> None:
        super().__init__(())
        none = np.empty(0, np.int64)
        self.orders = Orders(np.zeros(1, np.int64), none, none, np.empty(0, bool), none, np.empty(0), np.empty(0))

    @property
    def comparisons(self) -> tuple[Array, Array]:
        """How much contests count, by squared weight and by number."""
        counts = self.orders.counts
        return (counts, counts) if self.whole else (counts**2, (counts > 0).astype(float))

    def add(self, matches: Any) -> None:
        """Keep further contests."""
        contests: Contests = matches
        self.name_index.places(tuple(contests._appearing))
        places = np.array([self.name_index.index.get(name, -1) for name in contests.entrants], np.int64)
        self.grow()
        self.note_days(contests.day)
        entrant = places[contests.entrant]
        self.known.games[:] += np.bincount(entrant, minlength=self.known.games.size)
        np.maximum.at(self.known.last, entrant, contests.day[contests.contest])
        self.whole = self.whole and bool((contests.weight == np.floor(contests.weight)).all())
        old, new = self.orders, Orders.of(contests)
        entries, number = old.entrant.size, old.counts.size
        first, tied, contest = new.first[1:] + entries, new.tied + entries, new.contest + number
        further = (first, entrant, tied, new.finished, contest, new.share, contests.weight)
        self._keep(Orders._make(np.append(*pair) for pair in zip(old, further, strict=True)))

    def _keep(self, orders: Orders) -> None:
        self.orders = orders
        # Who is compared with whom, as far as pools ask: everyone with the first of the field.
        leaders = orders.entrant[orders.first[:-1]]
        self.i, self.j = orders.entrant.astype(np.int32), np.repeat(leaders, np.diff(orders.first)).astype(np.int32)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk."""
        kept = {name: getattr(self.orders, name) for name in ORDER_ARRAYS}
        return {**RaterState.to_arrays(self), **kept, "whole": np.array(self.whole)}

    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        RaterState.from_arrays(self, arrays)
        entries, number = len(arrays["entrant"]), len(arrays["counts"])
        first = stored(arrays, "first", "i", (number + 1,), 0, entries + 1)
        entrant = stored(arrays, "entrant", "i", (entries,), 0, len(self))
        tied = stored(arrays, "tied", "i", (entries,), 0, entries)
        if first[0] != 0 or first[-1] != entries or (np.diff(first) < 1).any() or (tied > np.arange(entries)).any():
            raise InputError("first and tied hold no orders.")
        finished, counts = stored(arrays, "finished", "b", (entries,)), stored(arrays, "counts", "f", (number,), 0)
        self._keep(Orders(first, entrant, tied, finished, np.arange(number), np.ones(number), counts))
        self.whole = bool(stored(arrays, "whole", "b", ()))


@dataclass(eq=False, repr=False)
class BradleyTerry(WholeEntrants, Rater[Matches | Contests, Any]):
    """The batch estimate of strengths that do not change, with Davidson's ties and covariates of the comparison.

    Contests of many are compared as well, by the law of Plackett and Luce; entrants are rated as a whole. A rater
    compares one or the other.

    A column ``weight`` of whole numbers says how many comparisons a row stands for, as a table of votes does. Where one
    of them is no whole number, every row is one comparison, which counts by its weight.

    Parameters
    ----------
    ties
        Davidson's κ: equal contestants draw with probability ``κ / (2 + κ)``; None estimates it.
    home_advantage
        Rating points for the side named first, unless the venue is neutral; None estimates them.
    covariates
        Names of numeric columns (read with ``conditions=[...]``) that say what speaks for the side named first, such
        as a difference of lengths; their worth in rating points is in ``covariates_``, with errors in ``effects_``.
    anchor
        Ratings that are given: one shifts the scale, several are held fixed.
    ridge
        Precision of a normal prior on the strengths in log-odds; it keeps finite who always won or always lost. None
        takes the least, from .01 on, whose forecasts of comparisons left out are not clearly worse than the best
        (:mod:`kinelo.raters.bradley_terry.likelihood`), of all comparisons rated, and .32 of fewer than 30;
        ``ridge_`` says which. A walk one step
        ahead keeps the one it began with. Unless it is 0, κ and the advantage have weak priors too: within a factor e³
        of ½, and ± 700 points.
    retirement
        How much it tells that somebody did not finish a contest: 0 nothing, 1 as much as finishing last. None takes the
        one of 0, .03, .1, .3 and 1 that forecasts contests left out best; ``parameters_`` says which.
    refit_days
        How old an estimate may become in :meth:`one_step_ahead` before it is made again; 0 makes it anew every day.
    initial
        Average rating, unless there is an anchor.
    errors_by
        A column (read with ``conditions=[...]``) that says whose vote a row is. Errors then count what votes of one
        judge have in common, and the bootstrap draws judges; ratings are the same.

    >>> import kinelo as kn
    >>> votes = {"home": ["A", "B", "A", "C"], "away": ["B", "C", "C", "A"], "result": [1, 1, 1, 0.5],
    ...          "neutral": [True] * 4}
    >>> rater = kn.BradleyTerry(ridge=0.1).fit(kn.read_matches(votes))
    >>> rater.ratings_["name"].to_list(), rater.intervals()["rank_high"].to_list()
    (['A', 'B', 'C'], [3, 3, 3])
    >>> races = {"race": [1, 1, 1, 2, 2, 2], "driver": list("ABCBAC"), "place": [1, 2, 3, 1, 2, 3]}
    >>> rater = kn.BradleyTerry(ridge=0.1).fit(kn.read_contests(races))
    >>> rater.ratings_["rating"].round().to_list(), rater.predict_one(["A", "C"])
    ([1659.0, 1659.0, 1182.0], Forecast of 1 contest: A 0.940, C 0.060)
    """

    _traits = Traits((MATCHES, CONTESTS), ("matches", "contests"), all_at_once=True)
    _called = "BradleyTerry"
    _stepping = False
    _ridge_found = None
    _retirement_found = None
    _spread = None
    look: int | None = field(default=None, init=False)

    ties: float | None = estimated(0.5, 0.0, 1e6, False, "draws: equals draw κ/(2 + κ) of their matches")
    covariates: Sequence[str] = ()
    anchor: Mapping[str, float] | None = None
    ridge: float | None = fixed(None, 0.0, open=True)
    _: KW_ONLY
    home_advantage: float | None = estimated(0.0, -1e4, 1e4, False, "rating points for the side named first")
    refit_days: float = fixed(30.0, 0.0)
    initial: float = fixed(1500.0)
    retirement: float | None = fixed(None, 0.0, 1.0, open=True)
    errors_by: str | None = None

    def _needs_whole_table(self) -> str:
        """It weighs all matches at once."""
        return "it weighs all matches at once; read them with read_matches"

    def _learn(self, matches: Matches | Contests, latest: Matches | Contests) -> None:
        """Using the matches estimates everything."""
        self._use(matches)

    def _conclude(self, matches: Matches | Contests, latest: Matches | Contests) -> None:
        if strange := [name for name in self.anchor or {} if name not in self._state.name_index.index]:
            warn(f"anchor names {len(strange)} whom nothing compares: {', '.join(map(repr, strange[:MOST_NAMED]))}.")
        judges = np.unique(self._state.judge).size
        if self.errors_by is not None and judges < LEAST_JUDGES:
            warnings.warn(
                f"Errors by {self.errors_by!r} rest on {judges} of them; with fewer than {LEAST_JUDGES} they are too "
                "small.",
                KineloWarning,
                stacklevel=2,
            )
        label = self._labels()
        if label.max(initial=0) == 0:
            return
        names = [name for name, pool in zip(self._state.name_index.names, label) if pool > 0]
        shown = ", ".join(map(repr, names[:MOST_NAMED])) + (", …" if len(names) > MOST_NAMED else "")
        warn(
            f"The contestants form {label.max() + 1} pools that no comparison connects, so ratings of different pools "
            f"cannot be compared; outside the largest are {shown}."
        )

    def _fresh(self, values: Mapping[str, float]) -> Tally:
        covariates = covariate_names(self.covariates)
        if not isinstance(self.anchor, Mapping | None):
            raise InputError(f"anchor={self.anchor!r} must be a mapping from names to ratings, such as {{'A': 1500}}.")
        for name, value in (self.anchor or {}).items():
            check_number("BradleyTerry", f"anchor[{name!r}]", value, -math.inf)
        self._theta: Array | None = None  # the ridge that fit found stays, for a walk that begins anew
        if self.errors_by is not None and not (is_text(self.errors_by) and self.errors_by):
            raise InputError(f"errors_by={one_line(self.errors_by)} must be the name of a column, such as 'judge'.")
        return Tally(covariates, self.errors_by)

    def _use(self, matches: Matches | Contests) -> None:
        """Add further comparisons; the estimate is made anew from all of them, as if they had come at once."""
        tally: Any = self._begun()
        if isinstance(matches, Contests) != isinstance(tally, OrderTally):  # it compares either matches or contests
            if len(tally):
                held = CONTESTS if isinstance(tally, OrderTally) else MATCHES
                raise InputError(
                    f"This BradleyTerry has compared {held.noun}, and what it is handed now are {matches.kind.noun}; "
                    "take another one for them."
                )
            given = [name for name in ("covariates", "home_advantage", "ties", "errors_by") if getattr(self, name)]
            if isinstance(matches, Contests) and given:
                raise InputError(
                    f"BradleyTerry({given[0]}=…) says something of matches of two sides; leave it out here."
                )
            tally = self._state = OrderTally() if isinstance(matches, Contests) else self._fresh(self.parameters_)
        tally.add(matches)
        if not self._stepping:
            self._theta = self._spread = self._ridge_found = self._retirement_found = None
            # Decided comparisons at home, and the share of them that the host won.
            at_home = tally.c[:, 0]
            lost, won = (
                np.where(at_home * sign > 0, tally.events[:, 0], 0.0).sum()
                + np.where(at_home * sign < 0, tally.events[:, 2], 0.0).sum()
                for sign in (-1, 1)
            )
            self._order = SideOrder(not tells_result(won + lost, won / max(won + lost, 1.0)), self._order.neutral)
        self._estimate()

    # The unknowns: strengths a, effects (venue where it is sought, then covariates), log κ where it is sought.

    @property
    def _venue_sought(self) -> bool:
        return self.home_advantage is None and self._order.home and bool(np.any(self._state.c[:, 0] != 0))

    @property
    def _ties_sought(self) -> bool:
        drawn, all_ = self._state.counts[:, 1].sum(), self._state.counts.sum()
        # Of nothing but draws a weak belief keeps κ finite, unless points are given, whose worth would shrink with it.
        bounded = self.ridge != 0.0 and not self.anchor and not self.home_advantage
        return self.ties is None and drawn > 0 and (drawn < all_ or bounded)

    @property
    def _scale(self) -> float:
        """ν_D: what a rating point is worth in x, given κ as it stands."""
        return points_scale(CHESS_NU, self.parameters_["ties"])

    @property
    def ridge_(self) -> float:
        """The ridge in use: the one given, else the one found."""
        return float(self.ridge if self.ridge is not None else self._ridge_found or LEAST_RIDGE)

    @property
    def _retirement(self) -> float:
        return float(self.retirement if self.retirement is not None else self._retirement_found or 0.0)

    def _likelihood(self, *, by_judge: bool = False) -> Likelihood:
        tally = self._state
        index = tally.name_index.index
        anchored = np.array([index[name] for name in self.anchor or {} if name in index], int)
        held = anchored if anchored.size > 1 else np.empty(0, int)
        if self.ridge_ == 0.0 and not held.size and self._labels().max(initial=0) > 0:
            raise InputError(
                "ridge=0 cannot place contestants that no comparison connects beside one another; give a ridge above 0."
            )
        centre = float(np.mean(list((self.anchor or {}).values()))) * self._scale if held.size else 0.0
        if isinstance(tally, OrderTally):
            orders = tally.orders.with_retirement(self._retirement)
            return OrderLikelihood(orders, len(tally), self.ridge_, held, centre)
        fixed = self._scale * (0.0 if self._venue_sought else float(self.home_advantage or 0.0))
        kappa = 0.0 if self._ties_sought else float(self.ties or 0.0)
        unknowns = Unknowns(len(tally), kappa, bool(self._ties_sought))
        cells = tally.cells(self._venue_sought, by_judge=by_judge)
        offset = fixed * (tally.votes if by_judge else tally).c[:, 0]
        return Likelihood(cells, unknowns, self.ridge_, held, centre, offset, self._venue_sought)

    def _spread_of_unknowns(self) -> Array:
        """Sandwich covariance of all unknowns, from squared scores of comparisons or, where asked, of judges."""
        if self._spread is not None:
            return self._spread
        tally, likelihood, theta = self._state, self._likelihood(), self._theta
        assert theta is not None
        if self.errors_by is None:
            counted = likelihood.over(likelihood.cells._replace(counts=tally.comparisons[0])).squared_scores(theta)
        else:
            counted = self._likelihood(by_judge=True).squared_scores_by(theta, tally.judge)
        spread = sandwich(likelihood, theta, counted)
        self._spread = spread if theta.size <= MOST_KEPT else None
        return spread

    def _estimate(self) -> None:
        """The maximum of the likelihood; anchors and advantages that are given in points follow the scale it finds."""
        if not self._ties_sought:
            self.parameters_ = dict(self.parameters_) | {"ties": float(self.ties or 0.0)}
        for _ in range(MOST_SCALINGS):
            scale = self._scale
            self._maximise()
            if abs(self._scale - scale) <= 1e-12 * scale or not (self.anchor or self.home_advantage):
                return

    def _maximise(self) -> None:
        tally, n = self._state, len(self._state)
        likelihood = self._likelihood()
        start = np.zeros(likelihood.size)
        old = self._theta
        if old is not None and old.size - self._known == likelihood.size - n:  # begin where the last estimate ended
            start[: self._known], start[n:] = old[: self._known], old[self._known :]
        elif self._ties_sought:
            drawn = float(tally.counts[:, 1].sum() / (tally.counts.sum() + 0.5))
            start[-1] = math.log(2 * drawn / (1 - drawn))
        for name, value in (self.anchor or {}).items():
            if name in tally.name_index.index and likelihood.held.size:
                start[tally.name_index.index[name]] = self._scale * value
        if self.ridge is None and self._ridge_found is None:
            events, weakest = tally.comparisons[1], likelihood.with_ridge(LEAST_RIDGE)
            theta = weakest.maximum(start, LOOSE_RESIDUAL)
            if weakest.tells_enough(theta, events):
                self._ridge_found, likelihood, start = LEAST_RIDGE, weakest, theta
            else:
                tried = [likelihood.with_ridge(ridge) for ridge in RIDGES]
                best = first_not_worse(tried, likelihood, events, tally.name_index.names, start)
                self._ridge_found, likelihood = RIDGES[best], tried[best]
        if isinstance(tally, OrderTally) and self.retirement is None and self._retirement_found is None:
            self._retirement_found = 0.0
            if not tally.orders.finished.all():  # the share that forecasts of contests left out ask for
                tried = [likelihood]
                tried += [likelihood.over(tally.orders.with_retirement(share)) for share in RETIREMENTS[1:]]
                best = first_not_worse(tried, likelihood, tally.comparisons[1], tally.name_index.names, start, 0.0, 0)
                self._retirement_found, likelihood = RETIREMENTS[best], tried[best]
        self._theta, self._known, self._spread = likelihood.maximum(start), n, None
        ties = math.exp(self._theta[-1]) if self._ties_sought else float(self.ties or 0.0)
        effects = self._theta[n : n + likelihood.effects] / points_scale(CHESS_NU, ties)
        venue = self._venue_sought
        self.parameters_: Mapping[str, float] = {
            "ties": ties,
            "home_advantage": float(effects[0]) if venue else float(self.home_advantage or 0.0),
            **({"retirement": self._retirement} if isinstance(tally, OrderTally) else {}),
        }
        self.covariates_: dict[str, float] = dict(zip(self.covariates, effects[int(venue) :].tolist(), strict=True))

    def _shift(self) -> float:
        """What is added to strengths in points to make them ratings."""
        names = [name for name in self.anchor or {} if name in self._state.name_index.index]
        if len(names) > 1:
            return 0.0
        strength = self._strength() / self._scale
        if names:
            return float((self.anchor or {})[names[0]]) - float(strength[self._state.name_index.index[names[0]]])
        return self.initial - float(strength.mean()) if strength.size else self.initial

    def _strength(self) -> Array:
        return np.empty(0) if self._theta is None else self._theta[: len(self._state)]

    def _levels(self, conditions: Mapping[str, object] | None) -> dict[str, object] | None:
        """Levels of every covariate of one match, and whose vote it is."""
        if self.errors_by is None:
            return super()._levels(conditions)
        given = dict(conditions) if isinstance(conditions, Mapping) else {}
        judge = given.pop(self.errors_by, None)
        return {**(super()._levels(given) or {}), self.errors_by: judge}

    def _foresee(self, matches: Matches | Contests) -> Any:
        if isinstance(matches, Contests):
            index = self._begun().name_index.index
            places = np.array([index.get(name, -1) for name in matches.entrants], np.int32)
            unknown = tuple(matches.entrants[code] for code in np.unique(matches.entrant) if places[code] < 0)
            rating = self._level(places)[matches.entrant] / self._scale + self._shift()
            return ContestForecast(matches, rating, np.full(rating.size, GUMBEL_DEVIATION / POINT), unknown, "gumbel")
        x, indices = self._differences(matches)
        ratings = np.column_stack([self._level(places) for places in (indices.home, indices.away)])
        return Forecast(self._chances(x), indices.unknown, matches, ratings / self._scale + self._shift())

    def _differences(self, matches: Matches) -> tuple[Array, MatchIndices]:
        """Differences of strength in matches to come, with all effects, and who plays."""
        indices = self._begun().find(matches)
        worth = getattr(self, "covariates_", dict.fromkeys(self.covariates, 0.0))
        effects = self._scale * np.array([self.parameters_["home_advantage"], *worth.values()])
        x = self._level(indices.home) - self._level(indices.away)
        return x + covariate_columns(matches, tuple(self.covariates)) @ effects, indices

    def _chances(self, x: Array) -> Array:
        """Chances of matches with these differences of strength."""
        out = np.empty((x.size, 3))
        all_chances(x, self.parameters_["ties"], out)
        return out

    def _gaps(self, matches: Matches) -> Gaps:
        x, (home, away, unknown, *_) = self._differences(matches)
        covariance, strength = self._scale**2 * self._covariance(), self._strength()
        # Someone never compared is as uncertain as those compared lie apart.
        own = np.append(np.diagonal(covariance), strength.var() if strength.size else 0.0)
        common = np.pad(covariance, (0, 1))[home, away]
        return Gaps(x, np.maximum(own[home] + own[away] - 2.0 * common, 0.0), unknown)

    def _level(self, places: NDArray[np.int32]) -> Array:
        """Strengths at places; the average at -1."""
        strength, newcomers = self._strength(), places < 0
        if not strength.size:
            return np.zeros(places.size)
        return np.where(newcomers, strength.mean(), strength[places]) if newcomers.any() else strength[places]

    def _parts(self, matches: Matches | Contests) -> Iterator[tuple[Any, bool]]:
        """The matches of ``refit_days`` at a time, forecast from all before and then added."""
        days, start = matches.day, 0
        self._stepping = True  # each estimate begins where the one before ended, with its ridge
        try:
            while start < len(matches):
                stop = int(np.searchsorted(days, days[start] + max(self.refit_days, 1.0), side="left"))
                yield matches[start:stop], True
                start = stop
        finally:
            self._stepping = False

    def _covariance(self) -> Array:
        """Sandwich covariance of the strengths in points, relative to the average or to the anchors."""
        n, likelihood = len(self._state), self._likelihood()
        if self._theta is None:
            return np.empty((0, 0))
        absolute = self._spread_of_unknowns()[:n, :n]
        return self._relative(self._relative(absolute, likelihood).T, likelihood) / self._scale**2

    def _relative(self, strengths: Array, likelihood: Likelihood) -> Array:
        """Strengths in columns, relative to those who are held, else to the average of all."""
        names = [name for name in self.anchor or {} if name in self._state.name_index.index]
        if len(names) == 1:
            place = self._state.name_index.index[names[0]]
            return strengths - strengths[:, place : place + 1]
        return strengths if likelihood.held.size else strengths - strengths.mean(axis=1, keepdims=True)

    @property
    def ratings_(self) -> pl.DataFrame:
        """Name, rating, uncertainty, matches and last_played of everyone compared, the best first.

        Uncertainty is the sandwich standard error, relative to the average of all or to the anchor.
        """
        import polars as pl

        tally = self._begun()
        return pl.DataFrame(
            {
                "name": pl.Series(tally.name_index.names, dtype=pl.String),
                "rating": self._strength() / self._scale + self._shift(),
                "uncertainty": np.sqrt(np.maximum(np.diagonal(self._covariance()), 0.0)),
                "matches": tally.known.games[: len(tally)],
                "last_played": tally.last_played(),
            }
        ).sort("rating", descending=True, maintain_order=True)

    @property
    def effects_(self) -> pl.DataFrame:
        """What speaks for the side named first, in rating points: name, effect, standard_error, low, high (95 %).

        The home advantage, if it was estimated, then the covariates, each per unit of its column. Standard errors are
        those of the sandwich, the doubt about ties included, on which the worth of a point depends.

        >>> import kinelo as kn
        >>> votes = {"home": ["A", "B", "A", "B"] * 9, "away": ["B", "A", "B", "A"] * 9, "result": [1, 0, 1, 1] * 9,
        ...          "longer": [1, -1, 0, 1] * 9, "neutral": [True] * 36}
        >>> rater = kn.BradleyTerry(covariates=["longer"]).fit(kn.read_matches(votes, conditions=["longer"]))
        >>> rater.effects_["name"].to_list(), bool(rater.effects_["low"][0] < rater.covariates_["longer"])
        (['longer'], True)
        """

        if self._begun() is None or self._theta is None:
            raise InputError("Nothing has been compared yet; fit the rater first.")
        likelihood, n = self._likelihood(), len(self._state)
        names = [*(["home_advantage"] if self._venue_sought else []), *self.covariates]
        slope = np.zeros((len(names), likelihood.size))
        slope[:, n : n + len(names)] = np.eye(len(names)) / self._scale
        effect = self._theta[n : n + len(names)] / self._scale
        if self._ties_sought:
            kappa = self.parameters_["ties"]
            slope[:, -1] = (
                -effect * kappa * (points_scale(CHESS_NU, kappa + 1.0) - points_scale(CHESS_NU, kappa)) / self._scale
            )
        covariance = slope @ self._spread_of_unknowns() @ slope.T
        error = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
        return effects_frame(names, effect, error)

    def _mean_gaps(self, matches: Matches) -> Array:
        """Differences of strength believed in, of matches to come."""
        return self._differences(matches)[0]

    def intervals(
        self,
        level: float = 0.95,
        *,
        method: Literal["sandwich", "bootstrap"] = "sandwich",
        resamples: int = 500,
        seed: int = 1,
        client: Client | None = None,
    ) -> pl.DataFrame:
        """Name, rating, its interval, rank and its interval, pool and matches of everyone, the best first.

        Parameters
        ----------
        level
            Share of cases in which an interval holds what it should.
        method
            ``"sandwich"``: from the curvature and the squared scores; ``"bootstrap"``: from ``resamples`` tables of
            counts (with ``errors_by=``: of judges) drawn anew with this seed.
        client
            A ``dask.distributed.Client``, to make them on its workers. They are the same, to the last bit.
        """
        import polars as pl

        check_number("intervals", "level", level, 0.0, 1.0, above=True)
        if not (isinstance(method, str) and method in ("sandwich", "bootstrap")):
            raise InputError(f"method={one_line(method)} is not known; it is 'sandwich' or 'bootstrap'.")
        tally, n = self._begun(), len(self._begun())
        if self._theta is None:
            raise InputError("Nothing has been compared yet; fit the rater first.")
        rating = self._strength() / self._scale + self._shift()
        if method == "sandwich":
            covariance = self._covariance()
            reach = ndtri(0.5 + level / 2.0) * np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
            low, high = rating - reach, rating + reach
            first, last = rank_intervals(rating, covariance, level)
        else:
            resamples, seed = whole("resamples", resamples, 2), whole("seed", seed, 0)
            likelihood = self._likelihood(by_judge=self.errors_by is not None)
            events = tally.comparisons[1] if self.errors_by is None else None
            drawn = bootstrap(likelihood, self._theta, events, resamples, seed, client, tally.judge)[:, :n]
            moved = self._relative(drawn - self._strength(), likelihood) / self._scale
            low, high = rating + np.quantile(moved, [(1 - level) / 2, (1 + level) / 2], axis=0)
            first, last = ranks_of_draws(drawn, level)
        table = pl.DataFrame(
            {
                "name": pl.Series(tally.name_index.names, dtype=pl.String),
                "rating": rating,
                "low": low,
                "high": high,
                "rank": (-rating).argsort(kind="stable").argsort() + 1,
                "rank_low": first,
                "rank_high": last,
                "pool": self._labels() + 1,
                "matches": tally.known.games[: len(tally)],
            }
        )
        return table.sort("rank")

    def _labels(self) -> NDArray[np.int64]:
        """Pool of every contestant, the largest first."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        tally, n = self._state, len(self._state)
        graph = coo_array((np.ones(tally.i.size), (tally.i, tally.j)), shape=(n, n))
        label = connected_components(graph, directed=False)[1]
        sizes = np.bincount(label)
        return np.argsort(np.argsort(-sizes, kind="stable"))[label]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything needed to carry on from here, as arrays."""
        theta = np.empty(0) if self._theta is None else self._theta
        order = np.array([self._order.home, self._order.neutral])
        found = {"ridge": self._ridge_found, "retirement": self._retirement_found}
        ridge = {name: np.array([value]) for name, value in found.items() if value is not None}
        prepared = np.array([self._prepared or len(self._begun()) > 0])
        values = {f"{PREFIX}{name}": np.array(value) for name, value in self.parameters_.items()}
        return {**self._begun().to_arrays(), "theta": theta, "order": order, "prepared": prepared, **ridge, **values}

    @taken_whole
    def from_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`to_arrays` gave."""
        self._order: SideOrder = SideOrder(*arrays["order"].tolist())
        self._reset_as_stored(arrays)
        if "entrant" in arrays:
            self._state = OrderTally()
        self._state.from_arrays(arrays)
        # Version 0.5 did not keep it: what a first table says was said wherever there is one.
        kept = "prepared" in arrays
        self._prepared = bool(stored(arrays, "prepared", "b", (1,))[0]) if kept else len(self._state) > 0
        # What fit found is kept of one who has seen nothing yet, too. Versions that did not keep it had the least.
        self._ridge_found = LEAST_RIDGE if arrays["theta"].size else None
        if "ridge" in arrays:
            self._ridge_found = float(stored(arrays, "ridge", "f", (1,), 0.0)[0])
        kept = "retirement" in arrays
        self._retirement_found = float(stored(arrays, "retirement", "f", (1,), 0.0, 1.0)[0]) if kept else None
        if arrays["theta"].size:
            self._theta, self._known, self._spread = stored(arrays, "theta", "f", (ANY,)), len(self._state), None
            self._estimate()
        elif len(self._state):
            raise InputError(f"theta holds no strengths of the {len(self._state)} that were compared.")


def effects_if_strengths_stay(
    matches: Matches, names: tuple[str, ...], units: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Mean and variance of what usual values of covariates are worth, in points of 400, and the part of each column
    that strengths do not explain (covariates, 3).

    Of more sides than are weighed at once those with the most matches are.
    """
    played = np.bincount(np.concatenate([matches.home, matches.away]), minlength=len(matches.teams))
    often = np.zeros(played.size, bool)
    often[np.argsort(-played, kind="stable")[:MOST_WEIGHED]] = True
    among = matches[often[matches.home] & often[matches.away]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        weighed = BradleyTerry(covariates=names, ridge=LEAST_RIDGE).fit(among)
    table = weighed.effects_.tail(len(names))
    mean, error = (table[name].to_numpy() * units for name in ("effect", "standard_error"))
    variance = np.minimum(np.nan_to_num((FIRST_DOUBT_OF_SIDES * error) ** 2, nan=np.inf), EFFECT_WIDTH**2)
    rows, size = np.arange(len(among)), len(matches.teams)
    places = (np.concatenate([rows] * 3), np.concatenate([among.home, among.away, np.full(len(among), size)]))
    sides = np.concatenate([np.ones(len(among)), -np.ones(len(among)), 1.0 - among.neutral])
    shares = csr_array((sides, places), shape=(len(among), size + 1))
    part = settled_effects(shares, np.ones(size + 1, bool), covariate_numbers(among, names) / units, among.signed)[:, 2]
    return np.column_stack([np.where(variance < EFFECT_WIDTH**2, mean, 0.0), variance, part])
