"""One file to share: ratings, somebody who is rated, an audit or a diagnosis, with charts, in the report's style."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from kinelo.advice.audit.audit import Audit
from kinelo.advice.audit.contests import ContestAudit
from kinelo.advice.audit.gaps import bands_table
from kinelo.advice.audit.inflation import groups_chart, rating_inflation
from kinelo.advice.audit.words import HOW_WE_KNOW, NOTHING_TO_DO, WHAT_TO_DO, inflation_words
from kinelo.advice.charts import calibration_chart, history_chart, loss_chart, map_chart, periods_chart
from kinelo.advice.diagnosis import Diagnosis
from kinelo.charts import Chart
from kinelo.decisions.telling_apart import board_with_tiers
from kinelo.errors import InputError
from kinelo.forecasts.contest_scores import place_calibration
from kinelo.matches.contests import Contests
from kinelo.matches.dated import check_played
from kinelo.matches.kinds import CONTESTS, MATCHES, Kind
from kinelo.matches.matches import Matches
from kinelo.model.validation import is_text
from kinelo.pages.chart import chart_html
from kinelo.pages.frame import html_page
from kinelo.presentation import Column, Row, Table, html_facts, html_list, isolated, number, sentence, words
from kinelo.raters.adapter import blank_of
from kinelo.raters.explanation import BETWEEN, WORDS, Account, explain_last, who_met
from kinelo.raters.history import rating_history
from kinelo.raters.leaderboard import board_and_words, boards_by_kind, ratings_today
from kinelo.raters.preview import OUTCOMES, preview
from kinelo.raters.qualifying import LAST_EXPLAINED
from kinelo.raters.questions import answers
from kinelo.raters.tables import (
    advantages_table,
    board_table,
    effects_table,
    left_out_words,
    luck_table,
    order_words,
    parameters_table,
    pool_words,
    tier_words,
    upsets_table,
)
from kinelo.raters.upset_table import upsets
from kinelo.results.disk import disk_errors_in_words
from kinelo.runtime.atomic import write_file

LISTED, FOLLOWED, SURPRISES, STOPS = 200, 6, 10, 200
AT_ONCE, LEAST_AT_ONCE = 24, 8
"""Rows of leaderboards that are not folded, of all together and of each at least."""
AS_SEEN = "<p>As ratings were seen on the day; the band of the first is one standard deviation.</p>"
WHAT_BARS_SHOW = "± is one standard deviation; the bar is the range in which the rating lies with 95 % probability."
BAR_REACH = 1.5
"""A bar ends at the edge where it lies further from the middle half of all than this many times its width."""
MOST_PAIRS = 5e6
"""Pairs of entrants up to which contests are forecast place by place: the cost grows with the square of the field."""


def ratings_body(rater: Any, played: Matches | Contests, heading: str, ranking: Mapping[str, Any] | None) -> str:
    """Return the body of the page; ``ranking`` holds arguments of :func:`kinelo.leaderboard`."""
    noun = played.kind.noun
    when = f", {played._span}" if played.dated else ""
    ranked, everyone = board_and_words(rater, played, **(ranking or {}))
    boards = boards_by_kind(board_with_tiers(rater, ranked))
    left_out = left_out_words(rater.ratings_.height - sum(board.height for board in boards.values()), noun)
    surprises = upsets_table(upsets(rater, played).head(SURPRISES), dated=played.dated)
    surprise = "The chance that was given to %s, from the %s before it alone."
    given = surprise % (("who won", noun) if noun == "contests" else ("what happened", noun))
    title = "The most surprising winners" if noun == "contests" else "The biggest upsets"
    return f"""<h1>{escape(heading)}</h1>
<p class="source">{played.kind.counted(len(played))} of {played.kind.those(len(played.present))}{when}, rated by
{escape(getattr(rater, "label", type(rater).__name__))} with Kinelo.</p>
{"".join(_board(board, kind, noun, len(boards)) for kind, board in boards.items())}
{f"<p>{everyone} {left_out}</p>" if everyone or left_out else ""}
<h2>Ratings through time</h2>{_histories(rater, played, boards)}
{_folded(title, f"<p>{given}</p>{in_frame(surprises)}")}
{_table_folded("What advantages are worth", advantages_table(rater))}
{_table_folded("What columns are worth", effects_table(rater))}
{_table_folded("Where luck decides more", luck_table(rater))}
{LAST_SECTIONS[played.kind](rater, played)}
{_table_folded(f"What was estimated from the {noun}", parameters_table(rater))}
{_folded("How the file was read", html_list(map(sentence, played.notes))) if played.notes else ""}"""


def _board(board: pl.DataFrame, kind: str, noun: str, boards: int) -> str:
    """One of so many leaderboards with its heading, a table for each pool."""
    words = f"{WHAT_BARS_SHOW} {order_words(board)} {escape(tier_words(board))}"
    pools = board["pool"].unique(maintain_order=True) if "pool" in board.columns else [""]
    parts = [f"<h2>Leaderboard{f': {escape(kind)}' if boards > 1 else ''}</h2><p>{words}</p>"]
    shown = max(AT_ONCE // (boards * len(pools)), LEAST_AT_ONCE)
    for pool in pools:
        own = board.filter(pl.col("pool") == pool) if len(pools) > 1 else board
        parts.append(
            (f"<h3>{escape(pool_words(pool))}</h3>" if len(pools) > 1 else "") + board_with_bars(own, noun, shown)
        )
    return "".join(parts)


def _folded(title: str, content: str) -> str:
    """What is there to be unfolded, and is not printed."""
    return f'<details class="known"><summary><h2>{escape(title)}</h2></summary>{content}</details>'


def _table_folded(title: str, table: Table | None) -> str:
    return "" if table is None else _folded(title, in_frame(table))


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


def board_with_bars(board: pl.DataFrame, noun: str = "matches", shown: int = LISTED) -> str:
    """Return a leaderboard whose bars show how sure ratings are; ``noun`` is what was played. Rows beyond those
    ``shown`` are folded."""
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
    table = replace(table, columns=columns).head(LISTED)
    more = len(table.rows) - shown
    if more < LEAST_AT_ONCE // 2:
        return in_frame(table)
    rest = f"<details><summary>{more} more</summary>{in_frame(replace(table, rows=table.rows[shown:]))}</details>"
    return in_frame(replace(table, rows=table.rows[:shown], below=())) + rest


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
        lines = history.filter(pl.col("kind") == kind) if "kind" in history.columns else history
        names = [name for name in board["name"].head(FOLLOWED) if name in lines["name"]]
        title = f"<h3>{escape(kind)}</h3>" if len(boards) > 1 else ""
        if names:
            chart = _shown_today(history_chart(lines, names, others=False), dict(board.select("name", "rating").rows()))
            parts.append(f"{title}{chart_html(chart)}")
    return AS_SEEN + "".join(parts) if parts else f"<p>Nobody who is ranked plays in these {noun}.</p>"


def _shown_today(chart: Chart, today: Mapping[str, float]) -> Chart:
    """The chart with ratings of the last day beside the names, as a leaderboard has them: who rests fades."""
    values = {trace.name: f"{today[trace.name]:.0f}" for trace in chart.traces if trace.name in today}
    return replace(chart, traces=[replace(trace, value=values.get(trace.name, trace.value)) for trace in chart.traces])


def _inflation(rater: Any, matches: Matches) -> str:
    worth = rating_inflation(rater, matches)
    said = "" if worth is None else html_list(map(sentence, inflation_words(worth)))
    return _folded("Is a rating worth what it was?", said) if said else ""


def _calibration(rater: Any, contests: Contests) -> str:
    """How often entrants won and came among the first three, against the chances they were given."""
    title = "Do forecasts come true?"
    late = np.cumsum(contests.sizes[::-1].astype(float) ** 2)[::-1] <= MOST_PAIRS
    late &= np.arange(len(contests)) >= len(contests) // 2
    if not late.any():
        return _folded(title, "<p>The fields are too large to forecast every place of every contest here.</p>")
    first = int(np.argmax(late))
    walker = blank_of(rater)
    if first:
        walker.update(contests[:first])
    chart = calibration_chart(place_calibration(walker.one_step_ahead(contests[first:])))
    return _folded(
        title,
        f"<p>Of the last {len(contests) - first:,} contests, each forecast from ratings before it, with the "
        "parameters estimated from all. A dot on the dashed line is a chance that came true as often as it was given; "
        f"a calibrated forecast lies within its line in 95 of 100 cases.</p>{chart_html(chart)}",
    )


LAST_SECTIONS: dict[Kind, Callable[[Any, Any], str]] = {MATCHES: _inflation, CONTESTS: _calibration}
"""What the page of each kind ends with."""


NEAREST = 5


def player_body(rater: Any, played: Any, name: str, heading: str, last: int) -> str:
    """Return the body of the page."""
    if not answers(rater, "explain_last"):
        raise InputError(f"{type(rater).__name__} cannot say why ratings moved; the raters of Kinelo can.")
    account: Account = explain_last(rater, name, played, last=last)
    # One number on a page: that of the last day, as a leaderboard has it; names of several kinds have one each.
    today = ratings_today(rater).filter(pl.col("name") == name)["rating"]
    rated = today[0] if today.len() == 1 else account.after
    meaning = html_list(f"{term.capitalize()}: {WORDS[term]}." for term in account.totals() if term not in BETWEEN)
    sentences, history = html_list(account.lines()[1:][::-1]), ""
    if played.dated and played.date[0] != played.date[-1]:
        chart = _shown_today(
            history_chart(rating_history(rater, played, points=STOPS), [name], others=False), {name: rated}
        )
        history = f"<h2>Through time</h2>{chart_html(chart)}"
    return f"""<h1>{escape(heading)}</h1>
<p class="source">Rated {rated:.0f} by {escape(getattr(rater, "label", type(rater).__name__))} from a table of
{played.kind.counted(len(played))}, with Kinelo.</p>
<h2>Why did this rating move?</h2><p class="lead">{escape(account.summary())}</p>
<p>Every row adds up: its terms are the whole change, and the last row is the sum of all.</p>
{in_frame(account.table())}{meaning}
<h2>One by one, the last first</h2>{sentences}
{history}
{_next(rater, played, name)}"""


def _next(rater: Any, played: Any, name: str) -> str:
    """What the next match would change, against those rated nearest, or in the field of the last contest."""
    try:
        if played.kind is CONTESTS:
            at = next(k for k in range(len(played) - 1, -1, -1) if name in who_met(played[k]))
            slots = [slot for slot in played[at].slots.values() if not slot.advantage]
            members = [[[slot.names[c] for c in row if c >= 0] for row in slot.codes.tolist()] for slot in slots]
            field: list[Any] = [one[0][0] if len(one) == len(one[0]) == 1 else one for one in map(tuple, zip(*members))]
            mine = [entrant for entrant in field if name == entrant or any(name in part for part in entrant)]
            changes = preview(rater, field, of=mine).changes(name)
            rows: list[Row] = [{"place": place, "change": change} for place, change in changes.items()]
            table = Table([words("Place", "place"), number("Change", "change", "+.1f")], rows)
            heading = f"By each place, in the field of {escape(played.labels[at])}, the others finishing as expected."
        else:
            today = ratings_today(rater).select("name", "rating").rows()
            ratings = {other: rating for other, rating in today if other in played.teams}
            others = [other for other in ratings if other != name]
            nearest = sorted(others, key=lambda other: abs(ratings[other] - ratings[name]))[:NEAREST]
            rows = [
                {"name": other, "rating": ratings[other], **preview(rater, name, other, neutral=True).changes(name)}
                for other in nearest
            ]
            columns = [words("Against", "name"), number("Rating", "rating", ".0f")]
            table = Table([*columns, *(number(one.capitalize(), one, "+.1f") for one in OUTCOMES)], rows)
            heading = "Against those who are rated nearest, on neutral ground, on the day of the last match."
    except InputError:  # a match to come needs line-ups or numbers that nobody has said
        return ""
    return f"<h2>What would the next one change?</h2><p>{heading}</p>{in_frame(table)}"


TITLES = {"audit": "An audit of ratings", "diagnosis": "Where ratings end up", "ratings": "Ratings"}
EVERYTHING = "Everything that was found"
"""What stands above findings that have no heading of their own."""


RANKING = ("active_days", "least_matches", "caution")


def share_page(
    result: Any,
    *,
    matches: Matches | Contests | None = None,
    title: str | None = None,
    ranking: Mapping[str, float | None] | None = None,
    of: str | None = None,
    last: int = LAST_EXPLAINED,
) -> str:
    """Return a page of HTML that shows ratings, an audit or a diagnosis and needs nothing beside it.

    Parameters
    ----------
    result
        A fitted rater, what :func:`kinelo.audit` found, or what :func:`kinelo.diagnose` says.
    matches
        The matches (or contests) that were rated; by default those that the rater was fitted on.
    title
        Heading of the page.
    ranking
        Who is ranked, and by what: ``active_days``, ``least_matches`` and ``caution`` of :func:`kinelo.leaderboard`.
    of
        Whose page it is, of those rated: why this rating moved over the ``last`` matches, in terms that add up, and
        what the next one would change.
    last
        How many of somebody's matches are explained.

    >>> import kinelo as kn
    >>> league = kn.Normal([4.0, 7.0, 10.0], sigma=1.0)
    >>> verdict = kn.diagnose(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), league)
    >>> page = kn.pages.share_page(verdict, title="Three teams")
    >>> page.startswith("<!doctype html>"), "Three teams" in page, "<script" in page
    (True, True, False)
    """
    if title is not None and not is_text(title):
        raise InputError(f"title must be text, not {title!r:.60}.")
    if ranking is not None and (not isinstance(ranking, Mapping) or set(ranking) - set(RANKING)):
        raise InputError(f"ranking must map any of {', '.join(RANKING)} to numbers, not {ranking!r:.80}.")
    if of is not None and (isinstance(result, Audit | ContestAudit | Diagnosis) or ranking is not None):
        raise InputError("A page of somebody is made from a fitted rater, and without a ranking.")
    if isinstance(result, Audit | ContestAudit):
        heading = title or TITLES["audit"]
        return html_page(heading, audit_body(result, heading))
    if isinstance(result, Diagnosis):
        heading = title or TITLES["diagnosis"]
        return html_page(heading, diagnosis_body(result, heading))
    if not callable(getattr(result, "fit", None)) or not hasattr(result, "ratings_"):
        raise InputError(f"A page shows a fitted rater, an audit or a diagnosis, not {type(result).__name__}.")
    played = getattr(result, "_fitted", None) if matches is None else matches
    if played is None:
        raise InputError("A page of ratings needs the matches: fit the rater, or give matches=….")
    check_played(played)
    if of is not None:
        heading = title or of
        return html_page(heading, player_body(result, played, of, heading, last))
    heading = title or TITLES["ratings"]
    return html_page(heading, ratings_body(result, played, heading, ranking))


def write_page(
    result: Any,
    path: str | Path,
    *,
    matches: Matches | Contests | None = None,
    title: str | None = None,
    ranking: Mapping[str, float | None] | None = None,
    of: str | None = None,
    last: int = LAST_EXPLAINED,
) -> Path:
    """Write the page of :func:`share_page` to a file and return its path.

    >>> import kinelo as kn, tempfile
    >>> league = kn.Normal([4.0, 7.0, 10.0], sigma=1.0)
    >>> verdict = kn.diagnose(kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05), league)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page(verdict, f"{folder}/verdict.html").name
    'verdict.html'
    """
    if not isinstance(path, str | Path):
        raise InputError(f"path must name a file, not {type(path).__name__}.")
    content = share_page(result, matches=matches, title=title, ranking=ranking, of=of, last=last)
    with disk_errors_in_words(Path(path)):
        write_file(path, content.encode())
    return Path(path)


def audit_body(audit: Audit | ContestAudit, heading: str) -> str:
    """Return the body of the page."""
    items = "".join(f"<li>{escape(one.words)} <b>{escape(one.advice)}</b></li>" for one in audit.findings)
    to_do = f"<h2>{WHAT_TO_DO}</h2>" + (f"<ol>{items}</ol>" if items else f"<p>{': '.join(NOTHING_TO_DO)}.</p>")
    if isinstance(audit, ContestAudit):
        played = audit.contests
        counted = f"{len(played):,} contests with {played.entrant.size:,} entries"
        charts = f"<h2>Which K?</h2>{chart_html(loss_chart(audit))}{_best_k(audit)}"
    else:
        played, counted = audit.matches, f"{len(audit.matches):,} matches"
        charts = ""
        if audit.extract is not None:
            to_do = ""
        else:
            charts = f"<h2>Which K?</h2>{chart_html(loss_chart(audit))}{_best_k(audit)}\n"
            charts += f"<h2>Groups</h2>{chart_html(groups_chart(audit.groups))}\n" if audit.groups else "\n"
            # Fifths of the ratings, where matches say who is rated too high across the league.
            bands = "" if audit.opponents.alike else in_frame(bands_table(audit.bands))
            charts += f"<h2>Strong and weak sides</h2>{bands}\n" if bands else "\n"
            charts += f"<h2>K by period</h2>{chart_html(periods_chart(audit))}" if audit.matches.dated else ""
    when = f", {played._span}" if played.dated else ""
    notes = "".join(f"<p>{escape(note)}</p>" for note in audit.notes)
    lead = "".join(f'<p class="lead">{escape(one)}</p>' for one in audit.lead.sentences)
    return f"""<h1>{escape(heading)}</h1>
<p class="source">{counted}{when}, audited with Kinelo.</p>
{lead}
{to_do}
<details class="known"><summary>{HOW_WE_KNOW}</summary>
{charts}
<h2>{EVERYTHING}</h2>{html_facts(audit.rows())}
{notes}</details>"""


def _best_k(found: Audit | ContestAudit) -> str:
    if found.k is None:
        return ""
    best, words = found._gain_words()
    return f"<p><b>{escape(best)}</b> {escape(words)}</p>"


def diagnosis_body(verdict: Diagnosis, heading: str) -> str:
    """Return the body of the page."""
    advice = "".join(f"<li>{escape(sentence)}</li>" for sentence in verdict.advice)
    return f"""<h1>{escape(heading)}</h1>
<p class="source">{escape(verdict.league.capitalize())}, diagnosed with Kinelo.</p>
<h2>What to change</h2><ul class="lead">{advice}</ul>
<h2>Strength and rating</h2>{chart_html(map_chart(verdict.state))}
<h2>{EVERYTHING}</h2>
{html_facts(verdict.rows())}"""
