"""One file to share: ratings, an audit or a diagnosis, with its charts, in the style of the reproduction's report."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from kinelo.advice.audit.audit import Audit
from kinelo.advice.audit.contests import ContestAudit
from kinelo.advice.audit.gaps import bands_table
from kinelo.advice.audit.groups import groups_chart
from kinelo.advice.audit.words import HOW_WE_KNOW
from kinelo.advice.charts import loss_chart, map_chart, periods_chart
from kinelo.advice.diagnosis import Diagnosis
from kinelo.errors import InputError
from kinelo.matches.contests import Contests
from kinelo.matches.kind import check_played
from kinelo.matches.matches import Matches
from kinelo.model.validation import is_text
from kinelo.pages.chart import chart_html
from kinelo.pages.frame import html_page
from kinelo.pages.player import player_body
from kinelo.pages.rated import ratings_body
from kinelo.presentation import html_facts
from kinelo.raters.qualifying import LAST_EXPLAINED
from kinelo.results.disk import disk_errors_in_words
from kinelo.runtime.atomic import write_file

TITLES = {"audit": "Is this rating system any good?", "diagnosis": "Where ratings end up", "ratings": "Ratings"}
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
    played = getattr(result, "fitted_", None) if matches is None else matches
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


def audit_body(found: Audit | ContestAudit, heading: str) -> str:
    """Return the body of the page."""
    to_do = ""
    if isinstance(found, ContestAudit):
        played = found.contests
        counted = f"{len(played):,} contests with {played.entrant.size:,} entries"
        charts = f"<h2>Which K?</h2>{chart_html(loss_chart(found))}{_best_k(found)}"
    else:
        played, counted = found.matches, f"{len(found.matches):,} matches"
        charts = _charts(found) if found.extract is None else ""
        if found.findings:
            items = [f"<li>{escape(one.words)} <b>{escape(one.advice)}</b></li>" for one in found.findings]
            to_do = f"<h2>What to do</h2><ol>{''.join(items)}</ol>"
    when = f", {played.date[0]} to {played.date[-1]}" if played.dated else ""
    notes = "".join(f"<p>{escape(note)}</p>" for note in found.notes)
    lead = "".join(f'<p class="lead">{escape(one)}</p>' for one in found.lead.sentences)
    return f"""<h1>{escape(heading)}</h1>
<p class="source">{counted}{when}, audited with Kinelo.</p>
{lead}
{to_do}
<details><summary>{HOW_WE_KNOW}</summary>
{charts}
<h2>{EVERYTHING}</h2>{html_facts(found.rows())}
{notes}</details>"""


def _charts(found: Audit) -> str:
    """Which K, groups, fifths and K by period."""
    return f"""<h2>Which K?</h2>{chart_html(loss_chart(found))}{_best_k(found)}
{f"<h2>Groups</h2>{chart_html(groups_chart(found.groups))}" if found.groups else ""}
{_bands(found)}
{f"<h2>K by period</h2>{chart_html(periods_chart(found))}" if found.matches.dated else ""}"""


def _bands(found: Audit) -> str:
    """Fifths of the ratings, where matches say who is rated too high across the league."""
    if found.opponents.alike:
        return ""
    return f'<h2>Strong and weak sides</h2><div class="picture">{bands_table(found.bands).html()}</div>'


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
