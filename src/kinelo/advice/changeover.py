"""From an old list of ratings to a new one: who moves by how much and why, and what becomes of titles.

Both lists count in points of expected score, and the new one is shifted so that the sides on both have the same mean.
Where both systems are plain Elo (:meth:`kinelo.TeamElo.classic`) a move is taken apart exactly: the old system is
changed into the new one argument by argument, and every change is rated. Otherwise the results of each side are held
against what the old list expects of it: over its last matches it scored ``d = Σ (S − E)``, with the variance
``Σ (E S² − E²)`` that chance alone would give, and ``z`` is their ratio.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinelo.advice.audit.backtest import BLOCKS_OF_QUARTER, mean_by_block, sums_by_block
from kinelo.errors import InputError
from kinelo.forecasts.parameters import check_number
from kinelo.forecasts.scores import log_loss
from kinelo.matches.matches import Matches, check_matches
from kinelo.presentation import Table, counted, number, words
from kinelo.raters.qualifying import ACTIVE_DAYS, LEAST_MATCHES
from kinelo.raters.rater import Rater, traits_of
from kinelo.raters.start import read_k, read_start

if TYPE_CHECKING:
    import polars as pl

LAST = 30
"""Matches of a side whose results are held against the old list."""
STANDS_OUT = 2.0
MOVERS_SHOWN = 10
CAUSES = {
    "start": ("start", "initial"), "K": ("k", "k_of"), "home advantage": ("home_advantage",),
}  # fmt: skip


@dataclass(frozen=True)
class Title:
    """A threshold: who holds the title before and after, and the threshold that would leave their number as it was."""

    name: str
    threshold: float
    before: int
    after: int
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    same_number: float | None


@dataclass(frozen=True)
class Changeover:
    """An old list beside a new one.

    Attributes
    ----------
    table
        A row per side on both lists: name, old, new, move, ranks, matches, last_played, surplus (points a match above
        what the old list expects, over the last 30), z, a column for every cause that was tested, and the reason.
    old, new
        What the two lists come from, in words.
    shift
        Points that were added to the new list so that both have the same mean.
    spreads
        Standard deviations of both lists.
    gain, gain_error
        How much lower the new system's log-loss is on the later half of the matches, with its standard error by
        blocks of time; None where a list came without its system.
    titles
        What happens at the thresholds.
    only_old, only_new
        Sides on one list alone.

    >>> import kinelo as kn
    >>> games = kn.read_matches({"home": ["A", "B"], "away": ["B", "A"], "result": [1, 0]})
    >>> found = kn.changeover({"A": 1510, "B": 1490}, {"A": 1530, "B": 1470}, games, thresholds={"Master": 1520})
    >>> found.titles[0].gained, found.table["move"].to_list()
    (('A',), [20.0, -20.0])
    """

    table: pl.DataFrame
    old: str
    new: str
    shift: float
    spreads: tuple[float, float]
    gain: float | None
    gain_error: float | None
    titles: tuple[Title, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """What an officer tells the members, in a few sentences."""
        moves = self.table["move"].to_numpy()
        up, down = self.table.sort("move", maintain_order=True)[[-1, 0]].iter_rows(named=True)
        sentences = [
            f"{moves.size:,} sides change from {self.old} to {self.new}: half of them move by at most "
            f"{np.median(np.abs(moves)):.0f} points, {up['name']} the furthest up ({up['move']:+.0f}) and "
            f"{down['name']} the furthest down ({down['move']:+.0f}).",
            f"Ratings lie ± {self.spreads[1]:.0f} points apart instead of ± {self.spreads[0]:.0f}.",
        ]
        if self.gain is not None and self.gain_error is not None:
            way = "falls" if self.gain > 0 else "rises"
            size = f"log-loss {way} by {abs(self.gain):.4f} ± {self.gain_error:.4f} a match on the later half."
            if abs(self.gain) <= STANDS_OUT * self.gain_error:
                sentences.append(f"The matches cannot tell which of the two forecasts better: {size}")
            else:
                sentences.append(f"Forecasts are {'better' if self.gain > 0 else 'worse'}: {size}")
        for title in self.titles:
            sentences.append(
                f"{title.name} ({title.threshold:g}): {title.before} before, {title.after} after; "
                f"{counted(len(title.gained), 'gains', 'gain')} it and {counted(len(title.lost), 'loses', 'lose')} it."
            )
        return " ".join(sentences)

    def __repr__(self) -> str:
        return f"Changeover of {self.table.height:,} sides: {self.verdict}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.verdict)}</p>{changeover_table(self).html()}"

    def movers(self, most: int = MOVERS_SHOWN) -> pl.DataFrame:
        """Those who move furthest, with old and new rating, move and reason."""
        import polars as pl

        order = self.table.sort(pl.col("move").abs(), descending=True, maintain_order=True)
        return order.select("name", "old", "new", "move", "reason").head(most)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as words, numbers and lists."""
        rest = {name: getattr(self, name) for name in ("old", "new", "shift", "gain", "gain_error")}
        return {
            "verdict": self.verdict, **rest, "spreads": list(self.spreads), "titles": [asdict(t) for t in self.titles],
            "only_old": list(self.only_old), "only_new": list(self.only_new), "sides": self.table.to_dicts(),
        }  # fmt: skip


def changeover_table(changeover: Changeover, most: int = MOVERS_SHOWN) -> Table:
    """Those who move furthest, from where, to where, and why."""
    ratings = [number("Old", "old", ".0f"), number("New", "new", ".0f"), number("Move", "move", "+.0f")]
    columns = [words("Name", "name"), *ratings, words("Why", "reason")]
    return Table(columns, changeover.movers(most).to_dicts(), "Who moves furthest")


def title_sentences(found: Changeover) -> list[str]:
    """Who gains and who loses each title, and the threshold that would keep the number of its holders."""
    sentences = []
    for title in found.titles:
        for what, names in (("gain", title.gained), ("lose", title.lost)):
            if names:
                sentences.append(f"{title.name}: {', '.join(names)} {what}{'s' if len(names) == 1 else ''} it")
        if title.same_number is not None and title.after != title.before:
            sentences.append(f"{title.name}: a threshold of {title.same_number:.0f} would keep {title.before} holders")
    return sentences


def changeover(old: Any, new: Any, matches: Matches, *, thresholds: Mapping[str, float] | None = None) -> Changeover:
    """Lay an old list of ratings beside a new one, say who moves and why, and what becomes of titles.

    Parameters
    ----------
    old, new
        A rater, which is fitted on the matches, or a list that is published: names and ratings, a table or its path.
    matches
        The matches of the league.
    thresholds
        Ratings from which a title is held, by title, on the scale of the old list.

    >>> import kinelo as kn
    >>> table = {"home": ["A", "B", "C", "A"] * 9, "away": ["B", "C", "A", "C"] * 9, "result": [1, 1, 0, 0.5] * 9}
    >>> found = kn.changeover(kn.TeamElo.classic(k=40), kn.TeamElo.classic(k=10), kn.read_matches(table))
    >>> found.table.select("name", "reason").rows()[0]
    ('A', 'K -68')
    """
    check_matches(matches)
    if not len(matches) or np.isnan(matches.result).any():
        raise InputError("A changeover needs matches with results; read them with played=True.")
    lists = [_List(given, matches, which) for given, which in ((old, "old"), (new, "new"))]
    names = [name for name in lists[0].ratings if name in lists[1].ratings]
    if len(names) < 2:
        raise InputError("The old and the new list have fewer than two sides in common; check the names.")
    before, after = (np.array([one.ratings[name] for name in names]) for one in lists)
    shift = float(before.mean() - after.mean())
    after = after + shift
    parts = _parts(lists[0], lists[1], matches, names)
    gain, error, raters = None, None, [given.rater for given in lists if given.rater is not None]
    if len(raters) == 2 and len(matches) >= 4:
        half, losses = len(matches) // 2, []
        for rater in raters:
            fitted = copy.deepcopy(rater).fit(matches[:half])
            losses.append(log_loss(fitted.one_step_ahead(matches[half:]).probabilities, matches.result[half:]))
        # Ratings remember: what one system loses against the other in one match, it also loses in the next.
        ends = np.linspace(0, len(matches) - half, min(2 * BLOCKS_OF_QUARTER, len(matches) - half) + 1)
        sizes = np.diff(ends.round())
        saving = mean_by_block(sums_by_block((losses[0] - losses[1])[None, :], sizes)[0], sizes)
        gain, error = saving.mean, saving.standard_error
    if not isinstance(thresholds, Mapping | None):
        raise InputError(f"thresholds must map titles to ratings, such as {{'Master': 2200}}, not {thresholds!r}.")
    titles = []
    for title, line in (thresholds or {}).items():
        check_number("changeover", f"thresholds[{title!r}]", line, -math.inf)
        had, has = before >= line, after >= line
        number = int(had.sum())
        same = float(np.sort(after)[::-1][number - 1]) if number else None
        gained, lost = ([names[k] for k in np.flatnonzero(who)] for who in (has & ~had, had & ~has))
        titles.append(Title(str(title), float(line), number, int(has.sum()), tuple(gained), tuple(lost), same))
    return Changeover(
        _table(names, before, after, parts, matches), lists[0].label, lists[1].label, shift,
        (float(before.std()), float(after.std())), gain, error, tuple(titles),
        tuple(name for name in lists[0].ratings if name not in lists[1].ratings),
        tuple(name for name in lists[1].ratings if name not in lists[0].ratings),
    )  # fmt: skip


class _List:
    """One of the two lists: its ratings in points of expected score, and the rater that makes it, if there is one."""

    def __init__(self, given: Any, matches: Matches, which: str) -> None:
        self.rater: Rater | None = None
        if isinstance(given, Rater):
            self.rater = copy.deepcopy(given).fit(matches)
            unit = 400.0 / float(getattr(given, "scale", 400.0))
            level = float(getattr(given, "initial", 0.0))
            table = self.rater.ratings_
            self.ratings = {name: level + unit * (r - level) for name, r in table.select("name", "rating").iter_rows()}
            self.label = getattr(given, "label", type(given).__name__)
            return
        try:
            listed = read_start(given)
        except InputError as error:
            raise InputError(f"The {which} list cannot be read: {error}") from None
        self.ratings = dict(zip(listed.names, listed.rating.tolist(), strict=True))
        self.label = f"the {which} list"


def _parts(old: _List, new: _List, matches: Matches, names: list[str]) -> dict[str, NDArray[np.float64]]:
    """Moves taken apart, where both systems are plain Elo: one change of arguments after the other."""
    if (
        old.rater is None
        or new.rater is None
        or not (traits_of(old.rater).plain_elo and traits_of(new.rater).plain_elo)
    ):
        return {}
    settings, wanted = old.rater.get_params(), new.rater.get_params()
    if settings["scale"] != wanted["scale"]:
        return {}
    rated = [np.array([old.ratings[name] for name in names])]
    parts = {}
    for cause, arguments in CAUSES.items():
        if all(_same(name, settings[name], wanted[name]) for name in arguments):
            continue
        settings |= {name: wanted[name] for name in arguments}
        table = dict(type(old.rater)(**settings).fit(matches).ratings_.select("name", "rating").iter_rows())
        rated.append(np.array([table[name] for name in names]))
        parts[cause] = rated[-1] - rated[-2] - (rated[-1].mean() - rated[-2].mean())
    return parts


def _same(name: str, first: Any, second: Any) -> bool:
    """Whether two values of an argument say the same; lists may be tables or paths."""
    if name == "start" and first is not None and second is not None:
        return read_start(first).plain() == read_start(second).plain()
    if name == "k_of" and first is not None and second is not None:
        return read_k(first) == read_k(second)
    return (first is None) == (second is None) and (first is None or bool(first == second))


def _table(
    names: list[str], before: NDArray, after: NDArray, parts: dict[str, NDArray[np.float64]], matches: Matches
) -> pl.DataFrame:
    import polars as pl

    # The last matches of each side against what the old list expects of them.
    old = dict(zip(names, before))
    level = np.array([old.get(team, math.nan) for team in matches.teams])
    gap = level[matches.home] - level[matches.away]
    expected = 1.0 / (1.0 + 10.0 ** (-gap / 400.0))
    drawn = float(np.mean(matches.result == 0.5))
    # A draw takes a quarter of the variance away; equals draw as often as the league does, others in proportion.
    variance = expected * (1.0 - expected) - 0.25 * drawn * 4.0 * expected * (1.0 - expected)
    place = {team: code for code, team in enumerate(matches.teams)}
    surplus, z = np.zeros(len(names)), np.zeros(len(names))
    played, last = np.zeros(len(names), np.int64), np.full(len(names), int(matches.day.min()))
    for k, name in enumerate(names):
        code = place.get(name, -1)
        mine = np.flatnonzero((matches.home == code) | (matches.away == code))
        played[k] = mine.size
        if not mine.size:
            continue
        last[k] = matches.day[mine[-1]]
        mine = mine[np.isfinite(gap[mine])][-LAST:]
        sign = np.where(matches.home[mine] == code, 1.0, -1.0)
        over = sign * (matches.result[mine] - expected[mine])
        surplus[k] = over.mean() if mine.size else 0.0
        z[k] = over.sum() / math.sqrt(max(float(variance[mine].sum()), 1e-12)) if mine.size else 0.0
    idle = int(matches.day.max()) - last
    move = after - before
    reasons = [
        _reason({cause: float(part[k]) for cause, part in parts.items()}, move[k], surplus[k], z[k], played[k], idle[k])
        for k in range(len(names))
    ]
    rank = [1 + (values[None, :] > values[:, None]).sum(axis=1) for values in (before, after)]
    table = pl.DataFrame(
        {
            "name": names, "old": before, "new": after, "move": move, "old_rank": rank[0], "new_rank": rank[1],
            "matches": played, "idle_days": idle, "surplus": surplus, "z": z, **parts, "reason": reasons,
        }
    )  # fmt: skip
    return table.sort("new", descending=True, maintain_order=True)


def _reason(parts: dict[str, float], move: float, surplus: float, z: float, played: int, idle: int) -> str:
    """The largest cause that was tested and has the sign of the move, with its number."""
    if parts:
        cause, points = max(parts.items(), key=lambda item: math.copysign(1.0, move) * item[1])
        return f"{cause} {points:+.0f}"
    if abs(z) >= STANDS_OUT and z * move > 0:
        return f"scored {surplus:+.2f} a match against its old rating (z = {z:+.1f})"
    if idle > ACTIVE_DAYS:
        return f"has not played for {idle:,} days"
    if played < LEAST_MATCHES:
        return f"has played {counted(played, 'match', 'matches')}"
    return "no single cause stands out"
