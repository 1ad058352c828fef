"""The page of an audit: the verdict, log-loss over K, strong and weak sides, and every finding."""

from __future__ import annotations

import math
from dataclasses import asdict
from html import escape

import numpy as np

from kinelo.advice.audit.audit import Audit
from kinelo.advice.audit.words import rows_of
from kinelo.advice.report import with_error
from kinelo.pages.chart import SvgChart, keys
from kinelo.presentation import MISSING, Column, Row, Table, html_facts, number, words


def audit_body(found: Audit, heading: str) -> str:
    """Return the body of the page."""
    matches = found.matches
    when = f", {matches.date[0]} to {matches.date[-1]}" if matches.dated else ""
    notes = "".join(f"<p>{escape(note)}</p>" for note in found.notes)
    return f"""<h1>{escape(heading)}</h1>
<p class="source">{len(matches):,} matches{when}, audited with Kinelo.</p>
<p class="lead">{escape(found.verdict)}</p>
<h2>Which K?</h2>{_curve(found)}
<h2>Strong and weak sides</h2>{_bands(found)}
<h2>Everything that was found</h2>
{html_facts(rows_of(found))}
{notes}"""


def _curve(found: Audit) -> str:
    curve, measured, advice = found.curve, found.measured, found.advice
    ks, losses = curve.column("k"), curve.column("log_loss")
    theory, seen = losses - losses.min(), measured.log_loss - measured.log_loss.min()
    marked = [advice.low, advice.high, *([] if found.k is None else [found.k])]
    ends = (float(min(ks.min(), measured.k.min(), *marked)), float(max(ks.max(), measured.k.max(), *marked)))
    highest = float(max(theory.max(), seen.max()))
    chart = SvgChart(ends, (0.0, highest), ("K", "log-loss above the least"), logarithmic=True)
    chart.band([advice.low, advice.high], np.zeros(2), np.full(2, highest), 4)
    chart.line(ks, theory, 1)
    chart.dots(measured.k, seen, 0, [f"K = {k:.3g}: {y:.5f} measured" for k, y in zip(measured.k, seen)])
    chart.upright(advice.k, 1)
    named = [(1, f"theory; best K = {advice.k:.3g}"), (0, "the later half of the matches, played through with that K"),
             (4, f"95 % interval of the best K: {advice.low:.3g} to {advice.high:.3g}")]  # fmt: skip
    if found.k is not None:
        chart.upright(found.k, 6)
        named.append((6, f"in use: K = {found.k:.3g}"))
    return chart.svg(f"Log-loss over K; the best K is {advice.k:.3g}") + keys(named)


def _bands(found: Audit) -> str:
    if len(found.bands) < 2:
        return "<p>Too few matches to tell strong and weak sides apart.</p>"
    last = len(found.bands)
    names = [f"{k} (weakest)" if k == 1 else f"{k} (best)" if k == last else str(k) for k in range(1, last + 1)]
    rows = [{"fifth": name, **asdict(one)} for name, one in zip(names, found.bands)]
    columns = [
        words("Fifth of the ratings", "fifth"),
        number("Rating less the mean", "rating", ".0f"),
        _pair("Rated too low by", "underrated", "error", ".0f"),
        _pair("Slope of results on forecasts", "slope", "slope_error", ".2f"),
    ]
    return f'<div class="picture">{Table(columns, rows).html()}</div>'


def _pair(label: str, value: str, error: str, form: str) -> Column:
    def text(row: Row) -> str:
        return with_error(row[value], row[error], form) if math.isfinite(row[value]) else MISSING

    return Column(label, text, number=True)
