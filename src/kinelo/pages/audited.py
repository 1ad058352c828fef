"""The page of an audit: the verdict, log-loss over K, strong and weak sides, and every finding."""

from __future__ import annotations

from html import escape

from kinelo.advice.audit.audit import Audit
from kinelo.advice.audit.gaps import bands_table
from kinelo.advice.audit.words import rows_of
from kinelo.advice.charts import loss_chart
from kinelo.pages.chart import chart_html
from kinelo.presentation import html_facts


def audit_body(found: Audit, heading: str) -> str:
    """Return the body of the page."""
    matches = found.matches
    when = f", {matches.date[0]} to {matches.date[-1]}" if matches.dated else ""
    notes = "".join(f"<p>{escape(note)}</p>" for note in found.notes)
    return f"""<h1>{escape(heading)}</h1>
<p class="source">{len(matches):,} matches{when}, audited with Kinelo.</p>
<p class="lead">{escape(found.verdict)}</p>
<h2>Which K?</h2>{chart_html(loss_chart(found))}
<h2>Strong and weak sides</h2><div class="picture">{bands_table(found.bands).html()}</div>
<h2>Everything that was found</h2>
{html_facts(rows_of(found))}
{notes}"""
