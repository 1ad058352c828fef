"""The page of ratings, of matches or of contests: leaderboards, ratings through time, upsets, forecasts, estimates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import polars as pl

from kinelo.advice.audit.inflation import rating_inflation
from kinelo.advice.audit.words import inflation_words
from kinelo.advice.charts import calibration_chart, history_chart
from kinelo.forecasts.contest_scores import place_calibration
from kinelo.matches.contests import Contests
from kinelo.matches.kind import CONTESTS, MATCHES, Kind
from kinelo.matches.matches import Matches
from kinelo.pages.chart import chart_html
from kinelo.presentation import Column, Row, Table, html_list, isolated, sentence
from kinelo.raters.adapter import blank_of
from kinelo.raters.history import rating_history
from kinelo.raters.leaderboard import board_and_words, boards_by_kind
from kinelo.raters.tables import (
    advantages_table,
    board_table,
    effects_table,
    left_out_words,
    luck_table,
    parameters_table,
    pool_words,
    upsets_table,
)
from kinelo.raters.upset_table import upsets

LISTED, FOLLOWED, SURPRISES, STOPS = 200, 6, 10, 200
AS_SEEN = "<p>As ratings were seen on the day; the band of the first is one standard deviation.</p>"
WHAT_BARS_SHOW = "± is one standard deviation; the bar is the range in which the rating lies with 95 % probability."
SORTED = " The board is sorted by what a rating is at least."
BAR_REACH = 1.5
"""A bar ends at the edge where it lies further from the middle half of all than this many times its width."""
MOST_PAIRS = 5e6
"""Pairs of entrants up to which contests are forecast place by place: the cost grows with the square of the field."""


def ratings_body(
    rater: Any, played: Matches | Contests, heading: str, ranking: Mapping[str, float | None] | None = None
) -> str:
    """Return the body of the page; ``ranking`` holds arguments of :func:`kinelo.leaderboard`."""
    noun, who = played.kind.noun, played.kind.who
    when = f", {played.date[0]} to {played.date[-1]}" if played.dated else ""
    boards, everyone = _boards(rater, played, ranking or {})
    left_out = left_out_words(rater.ratings_.height - sum(board.height for board in boards.values()), noun)
    surprises = upsets_table(upsets(rater, played).head(SURPRISES), dated=played.dated)
    surprise = "The chance that was given to %s, from the %s before it alone."
    given = surprise % (("who won", noun) if noun == "contests" else ("what happened", noun))
    title = "The most surprising winners" if noun == "contests" else "The biggest upsets"
    return f"""<h1>{escape(heading)}</h1>
<p class="source">{len(played):,} {noun} of {len(played.present):,} {who}{when}, rated by
{escape(getattr(rater, "label", type(rater).__name__))} with Kinelo.</p>
{"".join(_board(board, kind if len(boards) > 1 else "", noun) for kind, board in boards.items())}
{f"<p>{everyone} {left_out}</p>" if everyone or left_out else ""}
{_section("What advantages are worth", advantages_table(rater))}
{_section("What columns are worth", effects_table(rater))}
{_section("Where luck decides more", luck_table(rater))}
<h2>Ratings through time</h2>{_histories(rater, played, boards)}
<h2>{title}</h2><p>{given}</p>{in_frame(surprises)}
{LAST_SECTIONS[played.kind](rater, played)}
{_section(f"What was estimated from the {noun}", parameters_table(rater))}
{f"<h2>How the file was read</h2>{html_list(map(sentence, played.notes))}" if played.notes else ""}"""


def _boards(rater: Any, played: Matches | Contests, ranking: Mapping[str, Any]) -> tuple[dict[str, pl.DataFrame], str]:
    """A leaderboard for each kind that is rated, and words where everyone is shown because nobody would be."""
    board, said = board_and_words(rater, played, **ranking)
    return boards_by_kind(board), said


def _board(board: pl.DataFrame, kind: str, noun: str) -> str:
    """A leaderboard with its heading, a table for each pool."""
    sorted_by_surely = "surely" in board.columns and not (board["surely"] == board["rating"]).all()
    words = WHAT_BARS_SHOW + SORTED * sorted_by_surely
    pools = board["pool"].unique(maintain_order=True) if "pool" in board.columns else [""]
    parts = [f"<h2>Leaderboard{f': {escape(kind)}' if kind else ''}</h2><p>{words}</p>"]
    for pool in pools:
        own = board.filter(pl.col("pool") == pool) if len(pools) > 1 else board
        parts.append((f"<h3>{escape(pool_words(pool))}</h3>" if len(pools) > 1 else "") + board_with_bars(own, noun))
    return "".join(parts)


def _section(title: str, table: Table | None) -> str:
    return "" if table is None else f"<h2>{escape(title)}</h2>{in_frame(table)}"


def in_frame(table: Table) -> str:
    """A table that may be wider than the page."""
    return f'<div class="picture">{table.html()}</div>'


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


def board_with_bars(board: pl.DataFrame, noun: str = "matches") -> str:
    """Return a leaderboard whose bars show how sure ratings are; ``noun`` is what was played."""
    listed = board.head(LISTED)
    rating = listed["rating"].to_numpy()
    doubt = listed["uncertainty"].to_numpy() if "uncertainty" in board.columns else np.zeros(rating.size)
    first, last = bar_ends(rating - 2 * np.nan_to_num(doubt), rating + 2 * np.nan_to_num(doubt))

    def bar(row: Row) -> str:
        spread = 2 * np.nan_to_num(float(row.get("uncertainty") or 0.0))
        places = [(row["rating"] + by - first) / max(last - first, 1e-9) for by in (-spread, 0.0, spread)]
        ends = [100 * min(max(place, 0), 1) for place in places]
        return (
            f'<svg class="span" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect '
            f'x="{min(ends[0], 99):.2f}" y="3.5" width="{max(ends[2] - ends[0], 1):.2f}" height="3"/><rect '
            f'x="{min(ends[1], 98.5):.2f}" y="1" width="1.5" height="8"/></svg>'
        )

    table = board_table(board, noun=noun, narrow=True)
    columns = [replace(column, html=_name) if column.key == "name" else column for column in table.columns]
    columns.insert(-1, Column("95 %", lambda row: "", html=bar))
    return in_frame(replace(table, columns=columns).head(LISTED))


def _name(row: Row) -> str:
    """The name of a row of the leaderboard, and below it team and note."""
    more = " · ".join(str(row[name]) for name in ("team", "note") if row.get(name))
    below = f'<div class="place">{escape(more)}</div>' if more else ""
    return f'<span class="name">{isolated(row["name"])}</span>{below}'


def _histories(rater: Any, played: Matches | Contests, boards: dict[str, pl.DataFrame]) -> str:
    noun = played.kind.noun
    if not played.dated or played.date[0] == played.date[-1]:
        return f"<p>The {noun} have no dates.</p>"
    history = rating_history(rater, played, points=STOPS)
    parts = []
    for kind, board in boards.items():
        own = history.filter(pl.col("kind") == kind) if "kind" in history.columns else history
        names = [name for name in board["name"].head(FOLLOWED) if name in own["name"]]
        title = f"<h3>{escape(kind)}</h3>" if len(boards) > 1 else ""
        parts += [f"{title}{chart_html(history_chart(own, names, others=False))}"] if names else []
    return AS_SEEN + "".join(parts) if parts else f"<p>Nobody who is ranked plays in these {noun}.</p>"


def _inflation(rater: Any, matches: Matches) -> str:
    worth = rating_inflation(rater, matches)
    said = "" if worth is None else html_list(map(sentence, inflation_words(worth)))
    return f"<h2>Is a rating worth what it was?</h2>{said}" if said else ""


def _calibration(rater: Any, contests: Contests) -> str:
    """How often entrants won and came among the first three, against the chances they were given."""
    title = "<h2>Do forecasts come true?</h2>"
    late = np.cumsum(contests.sizes[::-1].astype(float) ** 2)[::-1] <= MOST_PAIRS
    late &= np.arange(len(contests)) >= len(contests) // 2
    if not late.any():
        return f"{title}<p>The fields are too large to forecast every place of every contest here.</p>"
    first = int(np.argmax(late))
    walker = blank_of(rater)
    if first:
        walker.update(contests[:first])
    chart = calibration_chart(place_calibration(walker.one_step_ahead(contests[first:])))
    return (
        f"{title}<p>Of the last {len(contests) - first:,} contests, each forecast from ratings before it, with the "
        "parameters estimated from all. A dot on the dashed line is a chance that came true as often as it was given; "
        f"a calibrated forecast lies within its line in 95 of 100 cases.</p>{chart_html(chart)}"
    )


LAST_SECTIONS: dict[Kind, Callable[[Any, Any], str]] = {MATCHES: _inflation, CONTESTS: _calibration}
"""What the page of each kind ends with."""
