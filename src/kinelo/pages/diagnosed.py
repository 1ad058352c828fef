"""The page of a diagnosis: what to change, the map from strength to rating, and every finding."""

from __future__ import annotations

from html import escape

import numpy as np

from kinelo.advice.diagnosis import Diagnosis
from kinelo.pages.chart import SvgChart, keys
from kinelo.presentation import html_facts

SHOWN = 400
"""Teams drawn; of more, every so many-th by strength."""


def diagnosis_body(verdict: Diagnosis, heading: str) -> str:
    """Return the body of the page."""
    advice = "".join(f"<li>{escape(sentence)}</li>" for sentence in verdict.advice)
    return f"""<h1>{escape(heading)}</h1>
<p class="source">{escape(verdict.league.capitalize())}, diagnosed with Kinelo.</p>
<h2>What to change</h2><ul class="lead">{advice}</ul>
<h2>Strength and rating</h2>{_map(verdict)}
<h2>Everything that was found</h2>
{html_facts(verdict.rows())}"""


def _map(verdict: Diagnosis) -> str:
    state = verdict.state
    order = np.argsort(state.theta, kind="stable")
    order = order[np.unique(np.linspace(0, order.size - 1, min(SHOWN, order.size)).round().astype(int))]
    theta, rating, doubt = state.theta[order], state.rating[order], np.sqrt(state.variance[order])
    ends = (float(theta.min()), float(theta.max()))
    room = 0.03 * max(ends[1] - ends[0], 1e-9)
    low, high = float(min((rating - 2 * doubt).min(), ends[0])), float(max((rating + 2 * doubt).max(), ends[1]))
    chart = SvgChart((ends[0] - room, ends[1] + room), (low, high), ("true strength θ", "rating R"))
    chart.band(theta, rating - 2 * doubt, rating + 2 * doubt, 1)
    chart.line(list(ends), list(ends), 6, dashed=True)
    chart.line(theta, rating, 1)
    titles = [f"θ = {x:.4g}, R = {y:.4g} ± {d:.3g}" for x, y, d in zip(theta, rating, doubt)]
    chart.dots(theta, rating, 0, titles)
    named = [(0, "teams"), (1, "where ratings settle, ± two standard deviations"), (6, "rating equal to strength")]
    return chart.svg(f"Rating over true strength, slope {verdict.slope:.3f}") + keys(named)
