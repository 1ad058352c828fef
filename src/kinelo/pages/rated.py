"""The page of ratings: leaderboard, ratings through time, the biggest upsets, and what was estimated."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np
import polars as pl

from kinelo.advice.audit.inflation import rating_inflation
from kinelo.advice.audit.words import inflation_words
from kinelo.advice.charts import history_chart
from kinelo.matches.matches import Matches
from kinelo.pages.chart import chart_html
from kinelo.pages.frame import isolated
from kinelo.presentation import Column, Row, Table, chance, html_list, number, words
from kinelo.raters.history import rating_history
from kinelo.raters.leaderboard import leaderboard
from kinelo.raters.upset_table import upsets

LISTED, FOLLOWED, SURPRISES, STOPS = 200, 6, 10, 200
AS_SEEN = "<p>As ratings were seen on the day; the band of the first is one standard deviation.</p>"
WHAT_BARS_SHOW = (
    "<p>± is one standard deviation; the bar is the range in which the rating lies with 95 % probability.</p>"
)
BAR_REACH = 1.5
"""A bar ends at the edge where it lies further from the middle half of all than this many times its width."""


def ratings_body(rater: Any, matches: Matches, heading: str) -> str:
    """Return the body of the page."""
    board = leaderboard(rater, matches)
    if not board.height:
        board = leaderboard(rater, matches, active_days=None, least_matches=0)
    when = f", {matches.date[0]} to {matches.date[-1]}" if matches.dated else ""
    kind = getattr(rater, "label", type(rater).__name__)
    sides = np.unique(np.concatenate([matches.home, matches.away])).size
    size = f"{len(matches):,} matches of {sides:,} sides"
    more = board.height - LISTED
    rest = f"<p>{more:,} more are ranked.</p>" if more > 0 else ""
    parameters = f'<div class="picture">{parameters_table(rater).html()}</div>'
    worth = rating_inflation(rater, matches)
    said = "" if worth is None else html_list(inflation_words(worth))
    inflation = f"<h2>Is a rating worth what it was?</h2>{said}" if said else ""
    return f"""<h1>{escape(heading)}</h1>
<p class="source">{size}{when}, rated by {escape(kind)} with Kinelo.</p>
<h2>Leaderboard</h2>
{WHAT_BARS_SHOW}
{board_with_bars(board.head(LISTED))}{rest}
<h2>Ratings through time</h2>{_histories(rater, matches, board)}
<h2>The biggest upsets</h2>{_upsets(rater, matches)}
{inflation}
<h2>What was estimated from the matches</h2>{parameters}
{f"<h2>How the file was read</h2>{html_list(matches.notes)}" if matches.notes else ""}"""


def bar_ends(low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Ends of the axis of bars: all of them, but no further from the middle half than one and a half of its width.

    >>> bar_ends(np.array([1.0, 2, 3, 1e6]), np.array([2.0, 3, 4, 1e6 + 1]))
    (1.0, 7.0)
    """
    ends = np.sort(np.concatenate([low, high])[np.isfinite(np.concatenate([low, high]))])
    if not ends.size:
        return 0.0, 1.0
    first, third = np.quantile(ends, [0.25, 0.75], method="lower")
    reach = BAR_REACH * (third - first)
    return float(max(ends[0], first - reach)), float(min(ends[-1], third + reach))


def board_with_bars(board: pl.DataFrame, noun: str = "Matches") -> str:
    """Return a leaderboard whose bars show how sure ratings are; ``noun`` is what was played."""
    rating = board["rating"].to_numpy()
    doubt = board["uncertainty"].to_numpy() if "uncertainty" in board.columns else np.zeros(rating.size)
    doubt = np.nan_to_num(doubt)
    first, last = bar_ends(rating - 2 * doubt, rating + 2 * doubt)

    def bar(row: Row) -> str:
        spread = 2 * row["doubt"]
        places = [(row["rating"] + by - first) / max(last - first, 1e-9) for by in (-spread, 0.0, spread)]
        ends = [100 * min(max(place, 0), 1) for place in places]
        return (
            f'<svg class="span" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect '
            f'x="{min(ends[0], 99):.2f}" y="3.5" width="{max(ends[2] - ends[0], 1):.2f}" height="3"/><rect '
            f'x="{min(ends[1], 98.5):.2f}" y="1" width="1.5" height="8"/></svg>'
        )

    rows = board.with_columns(doubt=doubt).to_dicts()
    columns = [
        number("Place", "place", ""),
        Column("Name", lambda row: row["name"], html=_name),
        number("Rating", "rating", ".0f"),
        Column("±", lambda row: f"± {row['doubt']:.0f}", number=True),
        Column("95 %", lambda row: "", html=bar),
        Column(noun, lambda row: str(row.get("matches", "")), number=True),
    ]
    return f'<div class="picture">{Table(columns, rows).html()}</div>'


def _name(row: Row) -> str:
    """The name of a row of the leaderboard, and below it team and note."""
    more = " · ".join(str(row[name]) for name in ("team", "note") if row.get(name))
    below = f'<div class="place">{escape(more)}</div>' if more else ""
    return f'<span class="name">{isolated(row["name"])}</span>{below}'


def _histories(rater: Any, matches: Matches, board: pl.DataFrame) -> str:
    if not matches.dated or matches.date[0] == matches.date[-1]:
        return "<p>The matches have no dates.</p>"
    chart = leaders_through_time(rating_history(rater, matches, points=STOPS), board)
    return f"{AS_SEEN}{chart}" if chart else "<p>Nobody who is ranked plays in these matches.</p>"


def leaders_through_time(history: pl.DataFrame, board: pl.DataFrame) -> str:
    """Return a chart of the ratings of the first of a leaderboard; empty where none of them has a history."""
    names = [name for name in board["name"].head(FOLLOWED) if name in history["name"]]
    return chart_html(history_chart(history, names, others=False)) if names else ""


def _upsets(rater: Any, matches: Matches) -> str:
    def match(row: Row) -> str:
        return f'<span class="name">{isolated(row["home"])} – {isolated(row["away"])}</span>'

    def result(row: Row) -> str:
        won = {1.0: f"{isolated(row['home'])} won", 0.5: "draw", 0.0: f"{isolated(row['away'])} won"}
        return won.get(row["result"], "in between")

    date = [words("Date", "date", wraps=False)] if matches.dated else []
    columns = [
        chance("Chance", "chance"),
        Column("Match", match, html=match),
        Column("Result", result, html=result),
        *date,
    ]
    table = Table(columns, upsets(rater, matches).head(SURPRISES).to_dicts())
    sentence = "<p>The chance that was given to what happened, from the matches before it alone.</p>"
    return f'{sentence}<div class="picture">{table.html()}</div>'


def parameters_table(rater: Any) -> Table:
    """Every parameter of a fitted rater: what was estimated with its standard error, and what it means.

    >>> import kinelo as kn
    >>> matches = kn.read_matches({"home": ["A", "B"], "away": ["B", "A"], "result": [1, 0.5]})
    >>> parameters_table(kn.TeamElo.classic(k=20, home_advantage=40).fit(matches)).cells()[-1]
    ['Home advantage', '40 (given)', 'rating points for playing at home']
    """
    found = getattr(rater, "estimates_", None)
    errors = {} if found is None else found.standard_errors
    declared = (*getattr(rater, "parameters", ()), *getattr(rater, "open_parameters", tuple)())
    meanings = {one.name: one.meaning for one in declared}

    def value(row: Row) -> str:
        error = errors.get(row["name"], math.nan)
        doubt = f"± {error:.2g}" if math.isfinite(error) else "(hardly matters)" if row["name"] in errors else "(given)"
        return f"{row['value']:.4g} {doubt}"

    columns = [
        Column("Parameter", lambda row: row["name"].replace("_", " ").capitalize()),
        Column("Value", value, number=True),
        Column("Meaning", lambda row: meanings.get(row["name"], "")),
    ]
    # What is neither given nor asked of these results, such as draws where there are none, says nothing.
    shown = {
        name: one
        for name, one in getattr(rater, "parameters_", {}).items()
        if name in errors or getattr(rater, name, one) is not None
    }
    return Table(columns, [{"name": name, "value": one} for name, one in shown.items()])
