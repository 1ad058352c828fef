"""An audit in words: the verdict, and one line for each finding."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kinelo.advice.audit.curve import KCurve, Prediction
from kinelo.advice.audit.measured import Measured

if TYPE_CHECKING:
    from kinelo.advice.audit.findings import Findings
    from kinelo.advice.audit.in_use import Misrated
    from kinelo.advice.audit.other import OtherSystem
    from kinelo.advice.audit.performance import Performance
    from kinelo.advice.audit.recovered import Recovered

NOTHING = 0.0002
"""A difference in log-loss that nobody would notice."""
MOVED = 5.0
"""Points by which a home advantage must have changed to be worth a word."""


def verdict_of(k: float, curve: KCurve, measured: Measured, now: Prediction) -> str:
    """The answer in one sentence."""
    best, gain = curve.best, now.log_loss - curve.best.log_loss
    found = f"K* is {best.k:.3g} ({curve.low:.3g} to {curve.high:.3g})"
    if gain < NOTHING:
        return f"K = {k:g} suits this league: {found}, and moving there would lower the log-loss by {gain:.4f}."
    way = "large" if k > best.k else "small"
    if curve.low <= k <= curve.high:
        return f"K = {k:g} may be too {way} for this league, but these matches cannot tell for sure: {found}."
    really = measured.at(k) - measured.at(best.k)
    return (
        f"K = {k:g} is too {way} for this league: {found}, and moving there lowers the log-loss by {gain:.4f} by "
        f"theory and by {really:.4f} on the later half of the matches."
    )


def other_verdict(other: OtherSystem, best_k: float) -> str:
    """The answer in one sentence for a system that is not classic Elo."""
    way = {True: "better than", False: "worse than", None: "neither better nor worse than"}[other.better]
    return (
        f"{other.name} forecasts this league {way} classic Elo at K* = {best_k:.3g}: log-loss {other.log_loss:.4f} "
        f"against {other.elo_log_loss:.4f} on the later half, a difference of {other.difference:+.4f} "
        f"± {other.standard_error:.4f}."
    )


def rows_of(audit: Findings) -> list[tuple[str, str]]:
    """Name and finding of every line."""
    rows = [
        ("Strengths", _strengths(audit)),
        ("Venue and draws", _venue(audit)),
        *([(f"Ratings at K = {audit.k:g}", _errors(audit.now))] if audit.other is None else []),
        (f"Ratings at K* = {audit.best.k:.3g}", _errors(audit.best)),
        ("Lag", _lag(audit)),
        ("Newcomers", _newcomers(audit)),
        ("Best and worst", _extremes(audit.misrated)),
        ("Forecasts", _forecasts(audit)),
        ("Strong and weak sides", _bands(audit)),
        ("Theory against backtest", _backtest(audit)),
    ]
    if audit.other is not None:
        rows.insert(0, (audit.other.name, _other(audit.other)))
    if audit.ratings is not None:
        rows.append(("The table in use", _table(audit)))
    return rows


def _strengths(audit: Findings) -> str:
    half = f"; half of a lead is lost within {math.log(2) / audit.rate:,.0f} matches" if audit.rate > 1e-5 else ""
    return (
        f"lie ± {audit.spread:.0f} points apart and move by ± {audit.step:.1f} from one match of a side to its "
        f"next{half}; newcomers differ by ± {audit.league.newcomer_spread:.0f}"
    )


def _venue(audit: Findings) -> str:
    ties = audit.league.ties
    home = (
        f"playing at home is worth {audit.league.home_advantage:.0f} points"
        if audit.league.home_advantage
        else "no home"
    )
    earlier, later = audit.venue.home_advantage, audit.later_venue.home_advantage
    if audit.league.home_advantage and abs(earlier - later) > MOVED:
        home += f" ({earlier:.0f} in the earlier half, {later:.0f} in the later one)"
    return f"{home}; equal sides draw {ties / (2 + ties):.0%} of their matches"


def _errors(one: Prediction) -> str:
    parts = ("noise", "lag", "newcomers", "bias")
    said = ", ".join(f"{name} ± {math.sqrt(max(getattr(one, name), 0.0)):.0f}" for name in parts)
    return f"off by ± {math.sqrt(one.error):.0f} points: {said}; expected log-loss {one.log_loss:.4f}"


def _lag(audit: Findings) -> str:
    return f"a rating has followed 63 % of a change of strength after {audit.memory:.0f} matches of the side"


def _newcomers(audit: Findings) -> str:
    if audit.newcomer_matches < 1:
        return "start no further off than ratings usually are"
    return f"right after about {audit.newcomer_matches:.0f} matches: by then the start is lost in the usual error"


def _extremes(sides: tuple[Misrated, ...]) -> str:
    return "\n".join(
        f"{one.side}: rated {one.rating:+.0f}, strength {one.strength:+.0f} ± {one.error:.0f}, so {abs(one.off):.0f} "
        f"too {'high' if one.off > 0 else 'low'}"
        for one in (sides[0], sides[-1])
    )


def _forecasts(audit: Findings) -> str:
    slope, error = audit.slope
    if math.isnan(slope):
        return "results do not follow the forecasts at all"
    kind = "calibrated" if abs(slope - 1) < max(2 * error, 0.02) else ("too bold" if slope < 1 else "too timid")
    later = audit.later_slope[0]
    moved = abs(later - slope) > error
    own = f"; {later:.3f} with the home advantage of the later half" if moved else ""
    return (
        f"log-loss {audit.measured.at(audit.k):.4f} on the later half; {kind}: slope of results on forecasts "
        f"{slope:.3f} ± {error:.3f} (theory {audit.now.slope:.3f}{own})"
    )


def _other(other: OtherSystem) -> str:
    slope, error = other.slope
    strong = "; ".join(
        f"the {name} fifth is {'under' if one.underrated > 0 else 'over'}rated by {abs(one.underrated):.0f} ± "
        f"{one.error:.0f} points"
        for name, one in (("best", other.bands[-1]), ("weakest", other.bands[0]))
    )
    return f"slope of results on its forecasts {slope:.3f} ± {error:.3f}; {strong}"


def _bands(audit: Findings) -> str:
    if len(audit.bands) < 2:
        return "too few matches to tell bands of ratings apart"
    low, high = audit.bands[0], audit.bands[-1]
    return "\n".join(
        f"the {name} fifth is {'under' if one.underrated > 0 else 'over'}rated by {abs(one.underrated):.0f} "
        f"± {one.error:.0f} points"
        for name, one in (("best", high), ("weakest", low))
    )


def _backtest(audit: Findings) -> str:
    measured = audit.measured
    lost = measured.at(audit.best.k) - float(measured.log_loss.min())
    return f"best K by backtest {measured.best:.3g}; K* from theory loses {lost:.5f} against it"


def _table(audit: Findings) -> str:
    found = audit.ratings
    assert found is not None
    honest = (
        ""
        if found.deviation_ratio is None
        else (f"; stated deviations explain {100 / max(found.deviation_ratio, 1e-9):.0f} % of the squared errors")
    )
    return (
        f"{found.sides} sides compared: off by ± {found.error:.0f} points, slope on strengths "
        f"{found.slope:.2f}{honest}\n" + _extremes(found.extremes)
    )


def performance_words(told: Performance, both: Recovered) -> list[str]:
    """What line-ups tell of performances, and what recovering strengths does to strong and weak sides."""
    said = [
        f"Performances: line-ups move a side by ± {told.spread:.0f} points ({told.low:.0f} to {told.high:.0f}) about "
        f"its strength, from {told.matches:,} matches; by chance alone as much in {told.p_value:.1%} of leagues."
    ]
    for name, place in (("best", -1), ("weakest", 0)):
        before, after = both.before[place], both.after[place]
        said.append(
            f"The {name} fifth: rated too low by {before.underrated:+.0f} ± {before.error:.0f} points, and by "
            f"{after.underrated:+.0f} ± {after.error:.0f} once strengths are recovered; slope {before.slope:.2f} ± "
            f"{before.slope_error:.2f}, then {after.slope:.2f} ± {after.slope_error:.2f}."
        )
    return said
