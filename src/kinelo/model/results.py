"""A league given by its expected results alone: any table, cycles included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinelo.errors import InputError
from kinelo.model.strength import Complex, Strength
from kinelo.model.validation import LARGEST, Array, finite_array, is_list, nonnegative

RESULT_ROUNDING = 1e-9


class Results(Strength):
    """A league that is known by the expected result of every pair, not by strengths.

    Nothing in the balance of ratings needs strengths: ``Σ_j w_ij b(R_i − R_j) = Σ_j w_ij s_ij`` has at most one
    solution up to a shift for any antisymmetric s. ``kn.diagnose`` says where ratings end, what they cannot show, and
    whether that may be luck; ``kn.stationary``, ``kn.farming`` and ``kn.simulate`` take it as any league.

    Parameters
    ----------
    table
        Points per match of the team of a row against that of a column: 0 to 1, and 1 in all for both. Or signed
        results from −1 to 1, which add up to 0. The diagonal does not count. A data frame may name the teams of its
        rows, in its index or first column, and of its columns, in any order.
    names
        Names of the teams, where the table does not say them.
    games
        Matches from which the table was estimated, of every pair (a table) or of each alike (a number); None for a
        table that is exact. Entries of pairs without a match do not count.

    Examples
    --------
    >>> import kinelo as kn
    >>> game = Results([[0.5, 1.0, 0.0], [0.0, 0.5, 1.0], [1.0, 0.0, 0.5]], names=["rock", "scissors", "paper"])
    >>> kn.stationary(kn.Tanh(nu=0.5), game).rating  # each beats one and loses to one
    array([0., 0., 0.])
    """

    signed: Array
    games: Array | None

    def __init__(
        self, table: Any, names: Sequence[str] | None = None, *, games: ArrayLike | float | None = None
    ) -> None:
        if all(hasattr(table, name) for name in ("home", "away", "teams")):
            raise InputError(
                "These are matches; kinelo.model.Results.from_matches(matches) makes a table of their results."
            )
        if hasattr(table, "columns") and hasattr(table, "to_numpy"):
            table, named = _of_frame(table)
            names = named if names is None else names
        values = _square("table", table)
        size = len(values)
        self.games = None if games is None else _games(games, size)
        met = ~np.eye(size, dtype=bool) if self.games is None else self.games > 0
        self.signed = _signed(values, met)
        self.signed.setflags(write=False)
        self.describe(np.zeros(size), 0.0, names)

    @classmethod
    def from_matches(cls, matches: Any) -> Results:
        """The mean results of played matches, with the number of them.

        >>> import kinelo as kn
        >>> system, league = kn.RatingSystem(kn.Tanh(0.5)), kn.Fixed([0.0, 1.0, 2.0])
        >>> played = kn.micro.simulate_matches(system, league, matches=300, seed=1)
        >>> Results.from_matches(played).games.sum() / 2
        np.float64(300.0)
        """
        if not all(hasattr(matches, name) for name in ("home", "away", "result", "teams")):
            raise InputError(f"matches must be Matches, as kinelo.read_matches returns them, not {matches!r}.")
        played = ~np.isnan(matches.result)
        home, away, points = matches.home[played], matches.away[played], matches.result[played]
        size = len(matches.teams)
        if size < 2 or home.size == 0:
            raise InputError("A table of results needs played matches of at least two sides.")
        games, table = np.zeros((size, size)), np.zeros((size, size))
        for one, other, gained in ((home, away, points), (away, home, 1 - points)):
            np.add.at(games, (one, other), 1.0)
            np.add.at(table, (one, other), gained)
        table = np.divide(table, games, out=np.full_like(table, 0.5), where=games > 0)
        return cls(table, matches.teams, games=games)

    @property
    def certain(self) -> bool:
        """False: results are what is known, not performances."""
        return False

    @property
    def reach(self) -> float:
        """0: there are no performances."""
        return 0.0

    def every_pair(self) -> Array:
        """Signed results, where every pair is known."""
        if self.games is not None:
            missing = np.argwhere((self.games == 0) & ~np.eye(self.teams, dtype=bool))
            if missing.size:
                one, other = (self._name(int(k)) for k in missing[0])
                raise InputError(
                    f"{one} and {other} never met: what everybody scores against everybody is not known. "
                    "kn.diagnose weighs pairs by their games."
                )
        return np.array(self.signed)

    def characteristic_function(self, u: Array, origin: float = 0.0) -> Complex:
        """Refused: there are no strengths."""
        raise InputError("A table of Results has no strengths; this needs a league such as Normal or LineupLottery.")

    def performances(self, team: NDArray[np.integer], uniforms: Array) -> Array:
        """Refused: there are no strengths."""
        raise InputError(
            "A table of Results has no performances to draw: its matches are drawn from the table, "
            'in matches of two with sampling="marginal", for at most 4096 teams whose strengths do not move.'
        )

    def _name(self, team: int) -> str:
        return f"team {team}" if self.names is None else self.names[team]

    def __repr__(self) -> str:
        games = 0.0 if self.games is None else self.games.sum() / 2
        from_games = "" if self.games is None else ", 1 game" if games == 1 else f", {games:,.0f} games"
        return f"Results({self.teams} teams{from_games})"


def _of_frame(frame: Any) -> tuple[Any, list[str] | None]:
    """Numbers of a data frame with its columns in the order of its rows, and the names of these where it has any."""
    columns = list(frame.columns)
    first = list(frame[columns[0]]) if columns else []
    rows: list[Any] = list(getattr(frame, "index", ()))
    if any(isinstance(cell, str) for column in columns[1:] for cell in frame[column]):
        return frame.to_numpy(), None  # games and no table of results
    if first and all(isinstance(name, str) for name in first) and len(columns) == len(first) + 1:
        frame, columns, rows = frame[columns[1:]], columns[1:], first
    named = [str(name) for name in rows] if all(isinstance(name, str) for name in rows) else None
    if not named or len(named) != len(columns):
        return frame.to_numpy(), None
    if sorted(named) != sorted(map(str, columns)) or len(set(named)) < len(named):
        strange = next((name for name in map(str, columns) if name not in named), named[0])
        raise InputError(f"Rows and columns of table must name the same teams, each once; {strange!r:.60} is not so.")
    by_name = dict(zip(map(str, columns), columns))
    return frame[[by_name[name] for name in named]].to_numpy(), named


def _square(name: str, value: object) -> Array:
    try:
        values = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        hint = "; a list of games becomes one by kinelo.model.Results.from_matches(kinelo.read_matches(...))"
        raise InputError(f"{name} must be a square table of numbers{hint if name == 'table' else ''}.") from None
    if values.ndim != 2 or values.shape[0] != values.shape[1] or len(values) < 2:
        raise InputError(f"{name} must be a square table of at least 2 teams, not of shape {list(values.shape)}.")
    return values


def _games(games: object, size: int) -> Array:
    if not is_list(games):
        each = np.full((size, size), nonnegative("games", games))
    else:
        each = np.array(finite_array("games", games, 2))  # type: ignore[arg-type]
        if each.shape != (size, size):
            raise InputError(
                f"games must be a number or a table like that of results, not of shape {list(each.shape)}."
            )
        if (each < 0).any() or not np.array_equal(each, each.T):
            raise InputError("games must be 0 or more, and the same for both teams of a pair.")
    np.fill_diagonal(each, 0.0)
    if not each.any():
        raise InputError("games must hold at least one match.")
    each.setflags(write=False)
    return each


def _signed(values: Array, met: NDArray[np.bool_]) -> Array:
    """Results in [−1, 1] from points or signed results, 0 for pairs that never met."""
    numbers = np.where(met, values, 0.0)
    bad = ~(np.abs(numbers) <= LARGEST)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise InputError(
            f"table must hold a number for every pair that met, but the entry at [{i}, {j}] is {values[i, j]}."
        )
    both = numbers + numbers.T
    if (np.abs(both[met] - 1) <= RESULT_ROUNDING).all() and (numbers >= 0).all():
        return np.where(met, 2 * numbers - 1, 0.0)
    if (np.abs(both[met]) <= RESULT_ROUNDING).all():
        if (np.abs(numbers) > 1).any():
            raise InputError(
                f"Signed results must lie between −1 and 1, but the table reaches {np.abs(numbers).max():g}."
            )
        return numbers
    i, j = np.argwhere(met & (np.abs(both - 1) > RESULT_ROUNDING))[0]
    raise InputError(
        f"table must hold points per match from 0 to 1, of both teams 1 in all, or signed results that add up to 0; at "
        f"[{i}, {j}] it holds {values[i, j]:g} and {values[j, i]:g}."
    )
