"""The page of a diagnosis: what to change, the map from strength to rating, and every finding."""

from __future__ import annotations

from html import escape

from kinelo.advice.charts import map_chart
from kinelo.advice.diagnosis import Diagnosis
from kinelo.pages.chart import chart_html
from kinelo.presentation import html_facts


def diagnosis_body(verdict: Diagnosis, heading: str) -> str:
    """Return the body of the page."""
    advice = "".join(f"<li>{escape(sentence)}</li>" for sentence in verdict.advice)
    return f"""<h1>{escape(heading)}</h1>
<p class="source">{escape(verdict.league.capitalize())}, diagnosed with Kinelo.</p>
<h2>What to change</h2><ul class="lead">{advice}</ul>
<h2>Strength and rating</h2>{chart_html(map_chart(verdict.state))}
<h2>Everything that was found</h2>
{html_facts(verdict.rows())}"""
