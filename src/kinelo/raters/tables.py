"""Tables of what a rater found, described once for terminal, page and lab: leaderboards, ranks, parameters, effects.

A leaderboard shows ratings without decimals. Where rows have little room (``narrow``), team and note of a name stand
below it, and every pool is a table of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kinelo.presentation import (
    MISSING,
    Column,
    Row,
    Table,
    chance,
    chance_in_words,
    number,
    percent,
    phrase,
    span,
    words,
)
from kinelo.raters.leaderboard import MAIN
from kinelo.raters.rater import traits_of
from kinelo.raters.state import SPREAD_PREFIX

if TYPE_CHECKING:
    import polars as pl

HARDLY = " (hardly matters)"


def board_table(
    board: pl.DataFrame, title: str = "", *, top: int | None = None, noun: str = "matches", narrow: bool = False
) -> Table:
    """Places, names, ratings and what else is known: matches or contests, the last of them, teams, pools and notes.

    What a rating is at least is shown where the board is sorted by it; with ``top``, only the first rows are. Below
    stands what the order of rows goes by, where that is not the rating, and what tiers and pools are. A ``narrow`` one
    on a page leaves out what is beside ratings, and shows goals for and against an average side where scores are rated.

    >>> import polars as pl
    >>> rows = {"place": [1, None], "name": ["A", "B"], "rating": [1512.4, 1490.0], "uncertainty": [20.4, None],
    ...         "matches": [1200, 3]}
    >>> board_table(pl.DataFrame(rows)).cells()
    [['1', 'A', '1512', '± 20', '1,200'], ['–', 'B', '1490', '–', '3']]
    """
    rows, board = board, board if top is None else board.head(top)
    present, below = set(board.columns), filter(None, [order_words(board), tier_words(rows)])
    columns = [number("Place", "place", ""), words("Name", "name"), number("Rating", "rating", ".0f")]
    if "tier" in present:
        columns.insert(1, number("Tier", "tier", ""))
    if "uncertainty" in present:
        columns.append(deviation("uncertainty"))
    if order_words(board):
        columns.append(number("At least", "surely", ".0f"))
    if narrow and "attack" in present:  # a terminal has no room for them
        columns += [number("Scores", "attack", ".2f"), number("Concedes", "defence", ".2f")]
    if "more" in present:
        columns.append(Column("More to split", _more, number=True, key="more"))
    if "matches" in present:
        columns.append(number(noun.capitalize(), "matches", ","))
    if not narrow:
        if "last_played" in present and board["last_played"].is_not_null().any():
            columns.append(number("Last played", "last_played", ""))
        if "team" in present:
            columns.insert(1 + [column.key for column in columns].index("name"), words("Team", "team"))
        if "pool" in present and board["pool"].n_unique() > 1:
            columns.append(words("Pool", "pool"))
        if "note" in present and (board["note"] != "").any():
            columns.append(words("Note", "note"))
        pools = board["pool"].unique(maintain_order=True) if "pool" in present else ()
        below = (*below, *(f"{pool_words(pool)}; places count within it." for pool in pools if pool != MAIN))
    table = Table(columns, rows.to_dicts(), title, () if narrow else tuple(below))
    return table if top is None else table.head(top)


def _more(row: Row) -> str:
    """Matches to two digits.

    >>> _more({"more": 8763}), _more({"more": 7}), _more({"more": None})
    ('8,800', '7', '–')
    """
    return MISSING if row["more"] is None else f"{float(format(row['more'], '.2g')):,.0f}"


def tier_words(board: pl.DataFrame) -> str:
    """What tiers are, and what would tell apart the two of one tier who are nearest to it; empty where there are none.

    >>> import polars as pl
    >>> rows = {"tier": [1, 1, 2], "name": ["A", "B", "C"], "rating": [90.0, 80.0, 1.0], "more": [8763, None, None]}
    >>> tier_words(pl.DataFrame(rows))
    'Tiers are told apart at a level of 95 %, all pairs together; about 8,800 more matches between A and B would tell \
these two apart, if their difference is what it seems.'
    """
    if "tier" not in board.columns:
        return ""
    sentence = "Tiers are told apart at a level of 95 %, all pairs together"
    rows = board.sort("rating", descending=True).to_dicts() if "more" in board.columns else []
    near = [(row, following) for row, following in pairwise(rows) if row["more"] is not None]
    if not near:
        return f"{sentence}."
    one, other = min(near, key=lambda pair: pair[0]["more"])
    return (
        f"{sentence}; about {_more(one)} more matches between {one['name']} and {other['name']} would tell these two "
        "apart, if their difference is what it seems."
    )


def order_words(board: pl.DataFrame) -> str:
    """What a leaderboard is sorted by, where that is not the rating.

    >>> import polars as pl
    >>> order_words(pl.DataFrame({"rating": [1512.0, 1530.0], "uncertainty": [10.0, 30.0], "surely": [1492.0, 1470.0]}))
    'Sorted by what a rating is at least: the rating less 2 ±.'
    """
    if "surely" not in board.columns or (board["surely"] == board["rating"]).all():
        return ""
    unsure = board.filter(board["surely"] < board["rating"]).row(0, named=True)
    times = (unsure["rating"] - unsure["surely"]) / unsure["uncertainty"]
    return f"Sorted by what a rating is at least: the rating less {times:.2g} ±."


def deviation(key: str) -> Column:
    """A column of standard deviations, a dash where none is known."""
    plain = number("±", key, ".0f")

    def text(row: Row) -> str:
        shown = plain.text(row)
        return f"± {shown}" if row[key] is not None and shown[:1].isdigit() else shown

    return replace(plain, text=text)


def pool_words(pool: str) -> str:
    """What stands above a pool where there are several.

    >>> pool_words("main"), pool_words("around Fiji")
    ('The main pool', 'A pool apart, around Fiji: hardly a match ties it to the others')
    """
    return "The main pool" if pool == MAIN else f"A pool apart, {pool}: hardly a match ties it to the others"


def left_out_words(count: int, noun: str = "matches") -> str:
    """How many are rated and stand on no leaderboard; empty where there are none.

    >>> left_out_words(1), left_out_words(1200, "contests"), left_out_words(0)
    ('1 more is rated but not ranked: not active, or too few matches.', '1,200 more are rated but not ranked: not \
active, or too few contests.', '')
    """
    if not count:
        return ""
    return f"{count:,} more {'is' if count == 1 else 'are'} rated but not ranked: not active, or too few {noun}."


def ranks_table(board: pl.DataFrame, title: str = "", noun: str = "matches") -> Table:
    """Ranks with their intervals, as votes and comparisons show them."""
    rank = [number("Rank", "rank", ""), span("95 %", "rank_low", "rank_high", ""), words("Name", "name")]
    rating = [number("Rating", "rating", ".0f"), span("95 %", "low", "high", ".0f")]
    return Table([*rank, *rating, number(noun.capitalize(), "matches", ",")], board.to_dicts(), title)


def parameters_table(rater: Any, title: str = "", *, brief: bool = False) -> Table:
    """Every parameter of a fitted rater: what was estimated with its standard error, and what it means.

    A ``brief`` table has what was estimated and matters, or was asked for: the spread by a condition.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "B"], "away": ["B", "A"], "result": [1, 0.5]})
    >>> parameters_table(kn.TeamElo.classic(k=20, home_advantage=40).fit(matches)).cells()[-1]
    ['Home advantage', '40 (given)', 'rating points for playing at home']
    """
    left_open = getattr(rater, "_open_parameters", tuple)()
    declared = (*getattr(rater, "_declared_parameters", ()), *left_open)
    meanings = {one.name: one.meaning for one in declared}
    estimated = _estimated(rater)
    columns = [
        Column("Parameter", lambda row: row["name"].replace("_", " ").capitalize()),
        Column("Value", lambda row: row["value"], number=True),
        Column("Meaning", lambda row: meanings.get(row["name"], "")),
    ]
    # What is neither given nor asked of these results, such as draws where there are none, says nothing. A rater that a
    # book keeps has the values that it was fitted with, unless it estimates from all matches at every update.
    origin = "estimated" if traits_of(rater).all_at_once else "not estimated here"
    kept = {} if estimated else {one.name: origin for one in left_open}
    values = getattr(rater, "parameters_", {})
    origins = kept | {name: "given" for name in values if _is_given(rater, name)}
    shown = {
        name: estimated.get(name, f"{one:.4g} ({origins.get(name)})")
        for name, one in values.items()
        if name in estimated or name in origins
    }
    if brief:
        asked = {name for name in estimated if name.startswith(SPREAD_PREFIX)}
        shown = {name: value for name, value in estimated.items() if name in asked or not value.endswith(HARDLY)}
    rows = [{"name": name, "value": value} for name, value in shown.items()]
    return Table(columns, rows, title, below=tuple(filter(None, [retirement_words(rater)])))


def retirement_words(rater: Any) -> str:
    """How much of a retirement was found to tell of a strength, the rest being luck; empty where that was not asked.

    >>> import kinelo as kn
    >>> races = kn.read_contests({"race": [1, 1, 1], "driver": ["Ann", "Bob", "Cid"], "place": ["1", "2", "DNF"]})
    >>> retirement_words(kn.RankElo(retirement=0.25).update(races))
    'That somebody did not finish tells 25 % of what finishing last tells; the rest is luck (retirement 0.25).'
    """
    retirement = getattr(rater, "parameters_", {}).get("retirement")
    asked = "retirement" in _estimated(rater) or _is_given(rater, "retirement")
    if retirement is None or "retirement" in getattr(rater, "_unidentified", {}):
        return ""
    # A rater that a book keeps has 0 where that was found, and where there was no retirement to ask of.
    if retirement == 0.0 and not asked:
        return ""
    share = f"{percent(retirement)} of what finishing last tells; the rest is luck"
    told = (
        "nothing: it is all luck" if retirement == 0.0 else "as much as finishing last" if retirement == 1.0 else share
    )
    return f"That somebody did not finish tells {told} (retirement {retirement:.3g})."


def _is_given(rater: Any, name: str) -> bool:
    """Whether the user gave a parameter, which may be that of one kind, such as ``walk of driver``."""
    argument, _, kind = name.partition(" of ")
    given = getattr(rater, argument, None)
    return (given.get(kind) if isinstance(given, Mapping) else given) is not None


def _estimated(rater: Any) -> dict[str, str]:
    """What was estimated, with its standard error, and whether it ended where its range does."""
    estimates = getattr(rater, "estimates_", None)
    if estimates is None:
        return {}
    shown = {}
    for name, value in estimates.values.items():
        error = estimates.standard_errors.get(name, math.inf)  # the noise has none
        known = math.isfinite(error)
        end = " (the end of its range)" if name in estimates.at_bounds else HARDLY if math.isnan(error) else ""
        shown[name] = (with_its_error(value, error) if known else f"{value:.4g}") + end
    return shown


def with_its_error(value: float, error: float) -> str:
    """A number to the digits that its standard error leaves.

    >>> with_its_error(6.0812, 4.53), with_its_error(50.85, 18.2), with_its_error(0.31234, 0.0456)
    ('6.1 ± 4.5', '51 ± 18', '0.312 ± 0.046')
    """
    if not error > 0:
        return f"{value:.4g} ± {error:g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def advantages_table(rater: Any) -> Table | None:
    """What advantages such as lanes are worth, the largest first; None where there are none."""
    table = getattr(rater, "advantages_", None)
    if table is None or table.height == 0:
        return None
    points = [number("Points", "points", "+.0f"), deviation("uncertainty"), number("Entries", "matches", ",")]
    columns = [words("Advantage", "kind"), words("Value", "name"), *points]
    return Table(columns, table.sort("points", descending=True).to_dicts())


def effects_table(rater: Any) -> Table | None:
    """What columns are worth to the side named first, in rating points; None where none was asked for."""
    asked = getattr(rater, "covariates", None) or getattr(rater, "_counts_size", False)
    if not asked or not hasattr(rater, "effects_"):
        return None
    points = [number("Points to the first side", "effect", "+.1f"), number("±", "standard_error", ".1f")]
    return Table([words("Column", "name"), *points, span("95 %", "low", "high", ".1f")], rater.effects_.to_dicts())


def luck_table(rater: Any) -> Table | None:
    """Factors of the noise by circumstances; None where none was asked for, or none is known."""
    factors = rater.noise_factors_ if getattr(rater, "noise_by", None) and hasattr(rater, "noise_factors_") else None
    if factors is None or not factors.height:
        return None
    columns = [words("Luck by", "column"), words("Level", "level"), number("Factor", "factor", ".2f")]
    noun = traits_of(rater).takes[0].noun
    columns += [span("80 %", "low", "high", ".2f"), number(noun.capitalize(), "matches", ",d")]
    return Table(columns, factors.to_dicts())


def upsets_table(upsets: pl.DataFrame, *, dated: bool) -> Table:
    """What happened although it was given little chance, of matches or of contests (:func:`kinelo.raters.upsets`)."""
    date = [words("Date", "date", wraps=False)] if dated else []
    if "winner" in upsets.columns:
        contest = words("Contest", "title" if "title" in upsets.columns else "contest")
        favourite = phrase(
            "Favourite", lambda row: f"{row['favourite']} ({chance_in_words(row['favourite_chance'])})", "favourite"
        )
        what = [words("Winner", "winner"), contest, favourite]
    else:
        match = phrase("Match", lambda row: f"{row['home']} – {row['away']}", "home", "away")
        what = [match, phrase("Result", _result, "home", "away")]
    return Table([chance("Chance", "chance"), *what, *date], upsets.to_dicts())


def _result(row: Row) -> str:
    won = {1.0: f"{row['home']} won", 0.5: "draw", 0.0: f"{row['away']} won"}
    return won.get(row["result"], "in between")
