"""Contests as slots: what their entries consist of, what is believed of every slot, and how a book keeps that.

A *covariate*, such as the weight that a horse carries, is a column of numbers whose worth is the same to everyone. It
is one slot, that of a unit, in which each entrant has a share: how far its number lies from the mean of its contest, in
usual distances (the root mean square among the contests fitted, 1 without a fit). Places show nothing of what all in a
contest have in common.

A *circumstance*, such as the track of a race, is read as an advantage and is one for all entrants of a contest. It is
not rated: each of its levels has a factor of the noise (:mod:`kinelo.raters.noise`), by which performances spread.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinelo.errors import InputError
from kinelo.matches.contests import Contests, Slots
from kinelo.matches.dated import Condition
from kinelo.matches.kinds import SIZE
from kinelo.matches.matches import Matches
from kinelo.presentation import counted
from kinelo.raters.filter.alone import SlotBeliefs
from kinelo.raters.filter.belief import LONG_AGO
from kinelo.raters.filter.kinds import Kind, kinds_of_batch
from kinelo.raters.noise import NoiseFactors
from kinelo.raters.rank.kernels import POINTS_PER_UNIT, ContestColumns, ContestModel
from kinelo.raters.rank.law import law_of
from kinelo.raters.slots import Key, Points, SlotRow, StoredSlots, numbers_shared, stored_number, texts_shared
from kinelo.raters.start import SETTLED, Start
from kinelo.raters.state import LEAST_ROOM, NEVER
from kinelo.raters.stored import FIRST_DAY, LAST_DAY, SEPARATOR, stored, stored_names

Array = NDArray[np.float64]
A_UNIT = "a unit"
"""The name of the slot of a covariate."""
ALL_FINISH = np.empty((0, 2))
"""What is known of those who do not finish (:mod:`kinelo.raters.rank.reading`) until somebody does not."""
LEAST_LOG = 0.1
"""How far sizes, or playing times, must differ to count as different."""
LEAST_PART = 0.01
"""Part of all contests in which sizes differ, from which on it is said that they may count."""
NO_FACTORS = NoiseFactors()
DAYS_APART = 7
"""How far apart contests without dates are taken to be."""
MODELS: dict[Any, ContestModel] = {}
"""Parameters as loops take them, remembered: to make them takes longer than to rate a contest."""
MOST_MODELS = 64


@dataclass(frozen=True)
class ContestLevels:
    """Circumstances of contests by name, as factors of the noise are found from them."""

    conditions: Mapping[str, Condition]
    number: int

    def __len__(self) -> int:
        return self.number


@dataclass(frozen=True, eq=False)
class ContestEntries:
    """Which slots the entries of contests consist of, and what luck depends on.

    ``kinds`` are those that are rated, ``advantages`` those of them that are nobody's strength. ``conditions`` are
    advantages of which each level is worth something else to everybody, ``units`` the usual distances of covariates.
    Circumstances on which luck depends are the columns ``noise_by``, with the ``factors`` found.
    """

    kinds: tuple[str, ...] = ()
    advantages: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    units: Mapping[str, float] = field(default_factory=dict)
    noise_by: tuple[str, ...] = ()
    factors: NoiseFactors = field(default_factory=lambda: NO_FACTORS)

    def kinds_in(self, contests: Contests) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Kinds and advantages that contests say, without those that say luck alone."""
        of_luck = set(self.noise_by).difference(self.conditions)
        slots = [(kind, slots.advantage) for kind, slots in contests.slots.items() if kind not in of_luck]
        return tuple(kind for kind, _ in slots), tuple(kind for kind, helps in slots if helps)

    def label(self, name: str, kind: str) -> str:
        """What a parameter of a kind is called."""
        return name if len(self.kinds) < 2 else f"{name} of {kind}"

    def value(self, values: Mapping[str, float], name: str, kind: str) -> float:
        """A parameter of a kind; 0 where the kind has none of it."""
        return values.get(self.label(name, kind), 0.0)

    def with_units(self, units: Sequence[float]) -> ContestEntries:
        """The same with usual distances of the covariates as they were stored."""
        if not all(0.0 < unit < np.inf for unit in units):
            raise InputError("Units of covariates of a stored state are out of range.")
        return replace(self, units=dict(zip(self.units, map(float, units), strict=True)))

    def slots_of(self, contests: Contests, kind: str) -> Slots:
        """The slots of a kind; a condition has one for everybody under every level, such as ``Ann · wet``."""
        level = contests.slots[kind]
        if kind not in self.conditions:
            return level
        owner = next(slots for slots in contests.slots.values() if not slots.advantage)
        width = max(len(level.names), 1)
        both = (owner.codes >= 0) & (level.codes[:, :1] >= 0)
        pairs = np.where(both, owner.codes.astype(np.int64) * width + level.codes[:, :1], -1)
        values, codes = np.unique(pairs, return_inverse=True)
        none = int(values.size > 0 and values[0] < 0)
        names = tuple(f"{owner.names[k // width]} · {level.names[k % width]}" for k in values[none:].tolist())
        return Slots(codes.reshape(owner.codes.shape).astype(np.int32) - none, names, True)

    def with_size(self, contests: Contests) -> Contests:
        """Contests with the size of every team as an advantage, where that is a covariate and no column of its own.

        A team is as strong as the mean of its members, plus ``b log(size)``: between the mean (``b = 0``) and more than
        the sum. Where it is said how long each played, they count for that.
        """
        if SIZE not in self.units or SIZE in contests.slots:
            return contests
        values, codes = np.unique(log_sizes(contests), return_inverse=True)
        size = Slots(codes.reshape(-1, 1).astype(np.int32), tuple(str(value) for value in values.tolist()), True)
        return replace(contests, slots={**contests.slots, SIZE: size})

    # Luck

    def circumstances(self, contests: Contests) -> Any:
        """What luck depends on in every contest; a column that was not read, or differs within one, is refused."""
        levels = {}
        for name in self.noise_by:
            if name not in contests.slots:
                raise InputError(
                    f"The column {name!r} of noise_by was not read; read it with read_contests(..., "
                    f"advantages=[{name!r}])."
                )
            slots = contests.slots[name]
            level = slots.codes[:, 0]
            codes = level[contests.first[:-1]] if len(contests) else level[:0]
            differs = np.flatnonzero(codes[contests.contest] != level)
            if differs.size:
                contest = contests.identifiers[contests.contest[differs[0]]]
                raise InputError(f"{name!r} differs within the contest {contest}; noise_by takes what is one for all.")
            levels[name] = Condition(codes, slots.names)
        return ContestLevels(levels, len(contests))

    def variance(self, contests: Contests) -> Array:
        """Variance of a performance around the strength in every contest, in units of the usual one."""
        if not self.noise_by:
            return np.ones(contests.weight.size)
        return self.factors.of(self.circumstances(contests), self.noise_by) ** 2

    def believed(self, contests: Contests) -> dict[str, Array]:
        """Of every entry, the variance around the strength and the standard error of the logarithm of its root; nothing
        where luck depends on nothing.
        """
        if not self.factors.index:
            return {}
        errors = self.factors.errors(self.circumstances(contests), self.noise_by)
        return {"luck": self.variance(contests)[contests.contest], "luck_error": errors[contests.contest]}

    def with_levels(self, contests: Contests, levels: Mapping[str, object] | None) -> Contests:
        """Contests that say the same circumstances for all of them, or nothing of them."""
        levels = {} if levels is None else levels
        unknown = [name for name in levels if name not in self.noise_by]
        if unknown:
            named = ", ".join(self.noise_by) or "none"
            raise InputError(f"conditions={{{unknown[0]!r:.40}: …}} is no column of noise_by; these are: {named}.")
        slots = dict(contests.slots)
        for name in self.noise_by:
            if name not in slots:
                level = levels.get(name)
                codes = np.full((contests.entrant.size, 1), -1 if level is None else 0, np.int32)
                slots[name] = Slots(codes, () if level is None else (str(level),), True)
        return replace(contests, slots=slots)

    def of_matches(self, matches: Matches) -> Contests:
        """Matches of two sides as contests of two, with their circumstances."""
        contests = Contests.from_matches(matches)
        slots = dict(contests.slots)
        for name in self.noise_by:
            if name not in matches.conditions:
                raise InputError(
                    f"The column {name!r} of noise_by was not read; read it with read_matches(..., "
                    f"conditions=[{name!r}])."
                )
            condition = matches.conditions[name]
            slots[name] = Slots(np.repeat(condition.codes, 2)[:, None].astype(np.int32), condition.levels, True)
        return replace(contests, slots=slots)


# Numbers


def centred_numbers(contests: Contests, kind: str) -> Array:
    """The number of every entry less the mean of its contest.

    >>> from kinelo.matches.reading import read_contests
    >>> table = {"race": [1, 1, 1], "horse": ["A", "B", "C"], "place": [1, 2, 3], "weight": [55, 57, 62]}
    >>> centred_numbers(read_contests(table, advantages=["weight"]), "weight").tolist()
    [-3.0, -1.0, 4.0]
    """
    slots = contests.slots[kind]
    try:
        levels = np.array([float(name.replace("−", "-")) for name in slots.names] + [math.nan])
    except ValueError as wrong:
        raise InputError(f"The covariate {kind!r} must hold numbers: {wrong}") from None
    if ((slots.codes != slots.codes[:, :1]) & (slots.codes >= 0)).any():  # rows of a team all say the same
        raise InputError(f"The covariate {kind!r} must hold one number for each entrant.")
    numbers = levels[slots.codes[:, 0]]
    missing = int(np.sum(~np.isfinite(numbers)))
    if missing:
        raise InputError(f"The covariate {kind!r} is missing or not finite in {counted(missing, 'row', 'rows')}.")
    sizes = np.diff(contests.first)
    mean = np.add.reduceat(numbers, contests.first[:-1]) / sizes if len(contests) else np.empty(0)
    return numbers - np.repeat(mean, sizes)


def log_sizes(contests: Contests) -> Array:
    """The logarithm of how many play for every entrant; of those with minutes, of how long they did together.

    >>> from kinelo.raters.one_contest import contest_of
    >>> one = contest_of([["Ann", "Bob"], ["Cid"]], None, None, np.datetime64("2024-05-01"), ("player",))
    >>> log_sizes(one).round(3).tolist()
    [0.693, 0.0]
    """
    first = next(slots for slots in contests.slots.values() if not slots.advantage)
    played, there = first.playing().sum(axis=1), (first.codes >= 0).sum(axis=1)
    if first.minutes is not None:  # of a contest in which some are not known, heads are counted
        unknown = np.isnan(np.where(first.codes >= 0, first.minutes, 0.0)).any(axis=1) | (played <= 0.0)
        some = np.logical_or.reduceat(unknown, contests.first[:-1]) if len(contests) else np.empty(0, bool)
        played = np.where(np.repeat(some, contests.sizes), there, played)
    return np.log(np.maximum(played, np.finfo(float).tiny))


def sizes_differ(contests: Contests) -> int:
    """In how many contests teams are of different sizes, where these are more than a few; else 0."""
    if not len(contests):
        return 0
    logs = log_sizes(contests)
    low, high = (of.reduceat(logs, contests.first[:-1]) for of in (np.minimum, np.maximum))
    number = int(np.count_nonzero(high - low > LEAST_LOG))
    return number if number > LEAST_PART * len(contests) else 0


def contest_model(entries: ContestEntries, *members: Mapping[str, float]) -> ContestModel:
    """Parameters as loops take them: those of a rater, or of several side by side as members of a batch."""
    key = (entries.kinds, entries.advantages, *members[0].items())
    if len(members) == 1 and key in MODELS:
        return MODELS[key]
    walk, prior, rho, level, experience, contest_walk = (
        np.array([[entries.value(values, name, kind) for values in members] for kind in entries.kinds])
        for name in ("walk", "prior_spread", "regression", "newcomer", "experience", "contest_walk")
    )
    tables = [
        [Kind(walk=w**2, rho=r, prior=p**2) for w, r, p in zip(*(part[:, q].tolist() for part in (walk, rho, prior)))]
        for q in range(len(members))
    ]
    beside = np.array([kind not in entries.advantages for kind in entries.kinds])
    retirement, anchor, follows = (
        np.array([values[name] for values in members]) for name in ("retirement", "anchor", "newcomer_follows")
    )
    kinds, law = kinds_of_batch(tables, [1.0] * len(members)), law_of(members[0]["off"], members[0]["depth"])
    model = ContestModel(kinds, level, experience, contest_walk**2, beside, retirement, anchor, follows, law)
    if len(members) == 1:
        if len(MODELS) >= MOST_MODELS:
            MODELS.clear()
        MODELS[key] = model
    return model


class RankState:
    """Beliefs of the filter (``known``), and the slot of every name of every kind of ``entries``."""

    def __init__(self, entries: ContestEntries) -> None:
        self.entries = entries
        self.names: list[Key] = []
        self.index: dict[Key, int] = {}
        self.contests = 0
        self.dated = False
        self.unfinished = ALL_FINISH
        self.unseen: dict[int, int] = {}
        self.vague: list[int] = []
        """Places of those who begin with a rating and are as uncertain as newcomers."""
        self.known = SlotBeliefs(
            np.zeros((0, 1)), np.zeros((0, 1)), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int8),
            np.full(2, LONG_AGO, np.int64),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.names)

    def __deepcopy__(self, memo: dict[int, Any]) -> RankState:
        """A state of its own; a hundred thousand names are not copied one by one."""
        other = copy.copy(self)
        other.names, other.index, other.unseen = self.names.copy(), self.index.copy(), self.unseen.copy()
        other.known = copy.deepcopy(self.known, memo)
        return other

    def place(self, kind: str, name: str) -> int:
        """The slot of a name, given to it where it has none."""
        key = kind, name
        place = self.index.get(key)
        if place is not None:
            return place
        place = self.index[key] = len(self.names)
        self.names.append(key)
        known, room = self.known, self.known.last.size
        if place >= room:
            extra = max(place + 1, room + room // 2, LEAST_ROOM) - room
            known = self.known = SlotBeliefs(
                np.pad(known.x, ((0, extra), (0, 0))),
                np.pad(known.v, ((0, extra), (0, 0))),
                np.pad(known.last, (0, extra), constant_values=NEVER),
                np.pad(known.games, (0, extra)),
                np.pad(known.kind, (0, extra)),
                known.clock,
            )
        known.kind[place] = self.entries.kinds.index(kind)
        return place

    def seat(self, start: Start, strength: Array, deviation: Array, prior: Mapping[str, float]) -> None:
        """Let those of a table begin with these strengths and deviations, which are those of their kind where none is
        said; ``car: Red`` is of the kind car, a plain name of the first kind.
        """
        rated = [kind for kind in self.entries.kinds if kind not in self.entries.advantages]
        rows: dict[str, list[tuple[int, str]]] = {}
        for row, name in enumerate(start.names if rated else ()):
            kind, colon, rest = name.partition(": ")
            kind, rest = (kind, rest) if colon and kind in rated else (rated[0], name)
            rows.setdefault(kind, []).append((row, rest))
        columns = (strength, deviation, start.matches, start.day)
        numbers = list(zip(*(column.tolist() for column in columns), strict=True))
        for kind, row, name in ((kind, *pair) for kind, pairs in rows.items() for pair in pairs):
            place, (x, spread, matches, day) = self.place(kind, name), numbers[row]
            if math.isnan(spread):
                spread = prior[kind]
                self.vague.append(place)
            known = self.known
            known.x[place, 0], known.v[place, 0], known.last[place] = x, spread**2, day
            known.games[place] = 1 if matches == SETTLED else matches
            if matches == SETTLED:
                self.unseen[place] = 1
            if day != NEVER:
                self.dated, known.clock[1] = True, max(known.clock[1], day)

    def begin(self, day: int) -> None:
        """Let ratings to begin with that name no day hold on the day of the first contest."""
        self.known = self.as_seen_on(day)

    def as_seen_on(self, day: int) -> SlotBeliefs:
        """What is known as it is for contests from this day on; the state itself does not change."""
        last = self.known.last
        waiting = (last == NEVER) & (self.known.games > 0)
        return self.known._replace(last=np.where(waiting, day, last)) if waiting.any() else self.known

    def columns(self, contests: Contests, admit: bool) -> tuple[ContestColumns, tuple[str, ...]]:
        """Contests as loops take them, and names never met; those are given slots where they are admitted."""
        entries = self.entries
        kinds, advantages = entries.kinds_in(contests)
        if (kinds, advantages) != (entries.kinds, entries.advantages):
            if not entries.kinds:
                raise InputError("No contest has been rated yet; rate some before you ask for forecasts of others.")
            if kinds == ("side", "venue"):
                raise InputError(
                    f"The rater knows contests of {', '.join(entries.kinds)} and no matches of two sides; "
                    "name the two as a contest, in a list with the winner first (or with equal ranks)."
                )
            raise InputError(
                f"These contests rate {', '.join(kinds)}, but the rater {', '.join(entries.kinds)}; "
                "read them with the same slots= and advantages=."
            )
        tables, unknown = [], []
        for number, kind in enumerate(kinds):
            if kind in entries.units:
                share = centred_numbers(contests, kind)[:, None] / entries.units[kind]
                place = self.place(kind, A_UNIT) if admit else self.index.get((kind, A_UNIT), -1 - number)
                tables.append((np.where(share != 0.0, 0, -1), np.array([place, -1]), share))
                continue
            slots = entries.slots_of(contests, kind)
            places = np.full(len(slots.names) + 1, -1 - number, np.int64)
            for code in _in_order(slots.codes):
                place = self.index.get((kind, slots.names[code]))
                if not slots.advantage and (place is None or self.known.games[place] == 0):
                    unknown.append(slots.names[code])
                if place is None and admit:
                    place = self.place(kind, slots.names[code])
                if place is not None:
                    places[code] = place
            playing = slots.playing()
            there = np.maximum(playing.sum(axis=1, keepdims=True), np.finfo(float).tiny)
            tables.append((slots.codes, places, playing / there))
        there = np.hstack([codes for codes, _, _ in tables]) >= 0
        slot = np.hstack([places[codes] for codes, places, _ in tables])[there]
        share = np.hstack([share for _, _, share in tables])
        offsets = np.append(0, np.cumsum(there.sum(axis=1)))
        # Days: contests without dates follow one another at equal distances; those to come are on the last day known,
        # or on the next one where none is known at all.
        number, day = contests.weight.size, contests.day
        if admit:
            if not contests.dated:
                undated = DAYS_APART * (self.contests + np.arange(number, dtype=np.int64))
                day = np.full(number, self.known.clock[1]) if self.dated else undated
            self.dated = self.dated or contests.dated
        elif not (contests.dated and (self.dated or not self.contests)):
            day = np.full(number, self.known.clock[1] if self.dated else DAYS_APART * self.contests)
        columns = ContestColumns(
            contests.first, day, contests.weight, entries.variance(contests), contests.place, contests.ended,
            offsets, slot, share[there],
        )  # fmt: skip
        return columns, tuple(unknown)

    def keys_of(self, contests: Contests) -> list[Key]:
        """The slots that contests read and write, in the order in which they would be made."""
        keys: list[Key] = []
        for kind in self.entries.kinds_in(contests)[0]:
            if kind in self.entries.units:
                keys.append((kind, A_UNIT))
                continue
            slots = self.entries.slots_of(contests, kind)
            keys += [(kind, slots.names[code]) for code in _in_order(slots.codes)]
        return keys

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, as arrays to be kept on disk."""
        size = len(self)
        names = [SEPARATOR.join(key) for key in self.names] or [""]
        kept = {name: values[:size] for name, values in self.known._asdict().items() if name != "clock"}
        return {
            **kept,
            "clock": self.known.clock,
            "names": np.array(names, dtype=str),
            "kinds": np.array(list(self.entries.kinds) or [""], dtype=str),
            "advantages": np.array(list(self.entries.advantages) or [""], dtype=str),
            "contests": np.array([self.contests, int(self.dated)]),
            "unseen": np.array([self.unseen.get(place, 0) for place in range(size)], np.int64),
            **({"unfinished": self.unfinished} if self.unfinished.size else {}),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], entries: ContestEntries) -> RankState:
        """What :meth:`to_arrays` gave, with its kinds in the entries."""
        kinds = tuple(kind for kind in stored_names(arrays, "kinds") if kind)
        advantages = tuple(kind for kind in stored_names(arrays, "advantages") if kind)
        state = cls(replace(entries, kinds=kinds, advantages=advantages))
        pairs = [name.split(SEPARATOR, 1) for name in stored_names(arrays, "names") if name]
        if not set(advantages) <= set(kinds) or not all(len(pair) == 2 and pair[0] in kinds for pair in pairs):
            raise InputError("The array 'names' of a stored state must hold names of its kinds, each of them once.")
        state.names = [(kind, name) for kind, name in pairs]
        state.index = {key: place for place, key in enumerate(state.names)}
        size = len(state.names)
        state.contests, dated = stored(arrays, "contests", "i", (2,), 0).tolist()
        state.dated = bool(dated)
        if "unfinished" in arrays:
            state.unfinished = checked_unfinished(stored(arrays, "unfinished", "f", (3, 2)))
        unseen = stored(arrays, "unseen", "i", (size,), 0)
        state.unseen = {place: int(unseen[place]) for place in np.flatnonzero(unseen).tolist()}
        state.known = SlotBeliefs(
            stored(arrays, "x", "f", (size, 1)), stored(arrays, "v", "f", (size, 1), 0),
            stored(arrays, "last", "i", (size,), FIRST_DAY, LAST_DAY), stored(arrays, "games", "i", (size,), 0),
            stored(arrays, "kind", "i", (size,), 0, len(kinds)),
            stored(arrays, "clock", "i", (2,), FIRST_DAY, LAST_DAY),
        )  # fmt: skip
        return state


def checked_unfinished(state: Array) -> Array:
    """What is known of those who do not finish, refused where its covariance is none."""
    if not (state[1, 0] > 0.0 and np.linalg.det(state[1:]) > 0.0):
        raise InputError("What a stored state knows of those who do not finish is out of range.")
    return state


def _in_order(codes: NDArray[np.int32]) -> list[int]:
    """Codes that occur, in order of first appearance."""
    values, first = np.unique(codes[codes >= 0], return_index=True)
    return values[np.argsort(first)].tolist()


@dataclass(frozen=True)
class RankSlots(StoredSlots):
    """Rows of slots; of all together only kinds, and where contests have no dates, their number."""

    rater: Any

    def moves_shared(self, matches: Any) -> bool:
        """Whether contests without dates follow one another by their number, or it is followed who does not finish."""
        state = self.rater._begun()
        failed = not matches.kind.two_sided and matches.ended.any()
        return bool(not (matches.dated and state.dated) or state.unfinished.size or failed)

    def met(self, matches: Any) -> list[Key]:
        """Everyone who takes part, and everything that helps."""
        return self.rater._begun(matches).keys_of(self.rater._entries.with_size(matches))

    def has(self, key: Key) -> bool:
        """Whether a slot has been made."""
        return key in self.rater._begun().index

    def rows(self, keys: Sequence[Key] | None = None) -> list[SlotRow]:
        """Rows of some slots, or of all in their order."""
        state = self.rater._begun()
        known, rows, wanted = state.known, [], state.names if keys is None else keys
        key: Key
        for key in wanted:
            at = state.index[key]
            unseen = {"unseen": state.unseen[at]} if at in state.unseen else None
            numbers = known.x.item(at, 0), known.v.item(at, 0), known.games.item(at), known.last.item(at)
            rows.append(SlotRow(*key, *numbers, unseen))
        return rows

    def take(self, rows: Iterable[SlotRow]) -> None:
        """Put rows in; slots that are new are made in order."""
        state = self.rater._begun()
        for row in rows:
            if row.kind not in state.entries.kinds:
                raise InputError(f"The table slot holds the kind {row.kind!r:.60}, which the book does not rate.")
            at, known = state.place(row.kind, row.name), state.known
            known.x[at, 0], known.v[at, 0], known.games[at], known.last[at] = row.mean, row.variance, *row[4:6]
            if row.more is not None and "unseen" in row.more:
                state.unseen[at] = int(stored_number(row.more, "unseen", 0, 0))

    def shared(self) -> dict[str, Any]:
        """Kinds and their parameters; the number of contests and their days where they have no dates."""
        rater, state = self.rater, self.rater._begun()
        entries = state.entries
        undated = {"contests": [state.contests, *state.known.clock.tolist()]}
        shared: dict[str, Any] = {"kinds": list(entries.kinds), "advantages": list(entries.advantages)}
        shared |= {"parameters": dict(rater.parameters_)}
        shared |= {"noise": entries.factors.to_rows()} if entries.factors.index else {}
        shared |= {"units": list(entries.units.values())} if entries.units else {}
        shared |= {"unfinished": state.unfinished.ravel().tolist()} if state.unfinished.size else {}
        return shared | (undated if not state.dated else {"contests": [int(state.contests > 0)]})

    def take_shared(self, shared: dict[str, Any], latest: int | None) -> None:
        """Take over what all share."""
        rater = self.rater
        kinds, advantages = texts_shared(shared, "kinds"), texts_shared(shared, "advantages")
        values = shared.get("parameters")
        if not isinstance(values, dict) or not set(advantages) <= set(kinds) or len(set(kinds)) < len(kinds):
            raise InputError("'kinds' in the table common are not what its rater stores.")
        numbers = numbers_shared({"parameters": list(values.values())}, "parameters")
        entries = replace(
            rater._entries, kinds=tuple(kinds), advantages=tuple(advantages),
            factors=NoiseFactors.from_rows(shared.get("noise", [])),
        )  # fmt: skip
        if entries.units:
            entries = entries.with_units(numbers_shared(shared, "units", len(entries.units)))
        state, rater._taken = rater._state, entries
        if state is None or (state.entries.kinds, state.entries.advantages) != (entries.kinds, entries.advantages):
            rater._reset(dict(zip(values, map(float, numbers))))
            state = rater._begun()
        state.entries, state.unfinished = entries, ALL_FINISH
        if "unfinished" in shared:
            state.unfinished = checked_unfinished(
                np.reshape(numbers_shared(shared, "unfinished", 6), (3, 2)).astype(float)
            )
        counted = [int(number) for number in numbers_shared(shared, "contests")]
        state.contests, state.dated = counted[0], len(counted) == 1
        state.known.clock[:] = counted[1:] if len(counted) == 3 else LONG_AGO if latest is None else latest

    def supposed(self) -> dict[Key, int]:
        """Contests that settled names are supposed to have seen."""
        state = self.rater._begun()
        return {state.names[place]: games for place, games in state.unseen.items()}

    def points(self) -> Points:
        """Points from the average of the active, unless ratings to begin with say where they are counted from."""
        return Points(self.rater.initial, POINTS_PER_UNIT, self.rater.start is None)
