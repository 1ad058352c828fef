"""The page of contests: leaderboards by kind, ratings through time, surprising winners, forecasts put to the test."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import polars as pl

from kinelo.charts import Chart, Trace
from kinelo.forecasts.contest_scores import place_calibration
from kinelo.matches.contests import Contests
from kinelo.pages.chart import chart_html
from kinelo.pages.frame import isolated
from kinelo.pages.rated import (
    AS_SEEN,
    LISTED,
    STOPS,
    SURPRISES,
    WHAT_BARS_SHOW,
    board_with_bars,
    leaders_through_time,
    parameters_table,
)
from kinelo.presentation import Column, Row, Table, chance, chance_in_words, html_list, number, words
from kinelo.raters.adapter import blank_of
from kinelo.raters.history import rating_history
from kinelo.raters.rank.leaderboard import contest_leaderboard
from kinelo.raters.upset_table import upsets

MOST_PAIRS = 5e6
"""Pairs of entrants up to which contests are forecast place by place: the cost grows with the square of the field."""


def contests_body(rater: Any, contests: Contests, heading: str) -> str:
    """Return the body of the page."""
    boards = contest_leaderboard(rater, contests)
    when = f", {contests.date[0]} to {contests.date[-1]}" if contests.dated else ""
    entrants = np.unique(contests.entrant).size
    found = f'<div class="picture">{parameters_table(rater).html()}</div>'
    return f"""<h1>{escape(heading)}</h1>
<p class="source">{len(contests):,} contests of {entrants:,} entrants{when}, rated by
{escape(getattr(rater, "label", type(rater).__name__))} with Kinelo.</p>
{_boards(boards)}
{_advantages(rater)}
<h2>Ratings through time</h2>{_histories(rater, contests, boards)}
<h2>The most surprising winners</h2>{_surprises(rater, contests)}
<h2>Do forecasts come true?</h2>{_calibration(rater, contests)}
<h2>What was estimated from the contests</h2>{found}
{f"<h2>How the file was read</h2>{html_list(contests.notes)}" if contests.notes else ""}"""


def _boards(boards: dict[str, pl.DataFrame]) -> str:
    parts = []
    for kind, board in boards.items():
        more = board.height - LISTED
        rest = f"<p>{more:,} more are ranked.</p>" if more > 0 else ""
        title = f"Leaderboard: {escape(kind)}" if len(boards) > 1 else "Leaderboard"
        parts.append(f"<h2>{title}</h2>{WHAT_BARS_SHOW}{board_with_bars(board.head(LISTED), 'Contests')}{rest}")
    return "".join(parts)


def _advantages(rater: Any) -> str:
    """What advantages such as lanes are worth, where there are any."""
    table = getattr(rater, "advantages_", None)
    if table is None or table.height == 0:
        return ""
    columns = [
        words("Advantage", "kind"),
        words("Value", "name"),
        number("Points", "points", "+.0f"),
        Column("±", lambda row: f"± {row['uncertainty']:.0f}", number=True),
        number("Entries", "matches", ","),
    ]
    rows = table.sort("points", descending=True).to_dicts()
    return f'<h2>What advantages are worth</h2><div class="picture">{Table(columns, rows).html()}</div>'


def _histories(rater: Any, contests: Contests, boards: dict[str, pl.DataFrame]) -> str:
    if not contests.dated or contests.date[0] == contests.date[-1]:
        return "<p>The contests have no dates.</p>"
    history = rating_history(rater, contests, points=STOPS)
    parts = [AS_SEEN]
    for kind, board in boards.items():
        own = history.filter(pl.col("kind") == kind) if "kind" in history.columns else history
        title = f"<h3>{escape(kind)}</h3>" if len(boards) > 1 else ""
        parts.append(f"{title}{leaders_through_time(own, board)}")
    return "".join(parts)


def _surprises(rater: Any, contests: Contests) -> str:
    def winner(row: Row) -> str:
        return f'<span class="name">{isolated(row["winner"])}</span>'

    def favourite(row: Row) -> str:
        return f"{isolated(row['favourite'])} ({chance_in_words(row['favourite_chance'])})"

    columns = [
        chance("Chance", "chance"),
        Column("Winner", winner, html=winner),
        words("Contest", "contest"),
        Column("Favourite", favourite, html=favourite),
        *([words("Date", "date", wraps=False)] if contests.dated else []),
    ]
    table = Table(columns, upsets(rater, contests).head(SURPRISES).to_dicts())
    sentence = "<p>The chance that was given to who won, from the contests before it alone.</p>"
    return f'{sentence}<div class="picture">{table.html()}</div>'


def _calibration(rater: Any, contests: Contests) -> str:
    """How often entrants won and came among the first three, against the chances they were given."""
    late = np.cumsum(contests.sizes[::-1].astype(float) ** 2)[::-1] <= MOST_PAIRS
    late &= np.arange(len(contests)) >= len(contests) // 2
    if not late.any():
        return "<p>The fields are too large to forecast every place of every contest here.</p>"
    first = int(np.argmax(late))
    walker = blank_of(rater)
    if first:
        walker.update(contests[:first])
    table = place_calibration(walker.one_step_ahead(contests[first:]))
    traces = [Trace("", "truth", "dashed", [0.0, 1.0], [0.0, 1.0])]
    for hue, event in enumerate(table["event"].unique(maintain_order=True)):
        part = table.filter((pl.col("event") == event) & (pl.col("forecast") > 0))
        at, share, low, high = (part[name].to_numpy() for name in ("forecast", "frequency", "low", "high"))
        apart = np.full(at.size, np.nan)
        x, y = (np.column_stack(ends).ravel() for ends in ((at, at, at), (low, high, apart)))
        traces.append(Trace("", hue, "thin", x, y))
        notes = tuple(f"{event}: {a:.0%} said, {b:.0%} came true ({n:,} entries)"
                      for a, b, n in zip(at, share, part["entries"]))  # fmt: skip
        traces.append(Trace(event, hue, "markers", at, share, notes=notes))
    chart = Chart(
        "How often forecasts of places came true",
        "chance given",
        "share that came true",
        traces,
        (0.0, 1.0),
        (0.0, 1.0),
    )
    words_ = (
        f"<p>Of the last {len(contests) - first:,} contests, each forecast from those before it: a dot on the dashed "
        "line is a chance that came true as often as it was given. A calibrated forecast lies within its line in 95 of "
        "100 cases.</p>"
    )
    return words_ + chart_html(chart)
