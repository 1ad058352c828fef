"""An audit in words: the verdict, and one line for each finding. Every sentence follows from signed, tested numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kinelo.advice.audit.backtest import Difference
from kinelo.advice.report import with_error, with_interval

if TYPE_CHECKING:
    from kinelo.advice.audit.findings import Advice, Findings
    from kinelo.advice.audit.in_use import OtherSystem
    from kinelo.advice.audit.inputs import Misrated
    from kinelo.advice.audit.performance import Performance
    from kinelo.advice.audit.recovered import Recovered
    from kinelo.advice.audit.recursion import Prediction

NOTHING = 0.0002
"""A difference in log-loss that nobody would notice."""
MOVED = 5.0
"""Points by which a home advantage must have changed, or be off, to be worth a word."""
NEAR = 0.02
BOUNDLESS = 16.0
"""An interval whose ends lie this factor apart has no lower end: no K is too small."""


def verdict_of(audit: Findings) -> str:
    """The answer in one sentence, or two where theory and backtest disagree or the best K has moved."""
    if audit.other is not None:
        return other_verdict(audit.other)
    advice, name = audit.advice, audit.in_use.name
    if not advice.agree:
        return _disagreement(audit)
    if audit.tested.better is None:
        return _suits(name, audit, advice) + _recent_best(audit)
    k, gain = advice.k, audit.tested.gain
    where = f"K = {interval(advice)} is best, and"
    if gain.low <= 0 and audit.tested.better is not None and audit.tested.better_gain is not None:
        # Another K tried is surely better than the one in use, the advised one not surely.
        k, gain = audit.tested.better, audit.tested.better_gain
        where = f"the best K is {interval(advice)}, and already K = {k:.3g}"
    little = "a little " if gain.mean < NOTHING else ""
    if audit.k is None:
        start = f"One K serves this league {little}better than {name}"
    else:
        start = f"{name} is {little}too {'large' if audit.k > k else 'small'} for this league"
    return f"{start}: {where} {_by_both(audit.now.log_loss - audit.curve.at(k), gain)}." + _recent_best(audit)


def _by_both(theory: float, measured: Difference) -> str:
    """What a change of K does by theory and on the matches."""
    if theory >= 0.00005 and measured.mean > 0:
        seen = change(measured).removeprefix("lowers the log-loss ")
        return f"{change(theory)} by theory and {seen} on the later half of the matches"
    return f"{change(measured)} on the later half of the matches; by theory it {change(theory)}"


def _suits(name: str, audit: Findings, advice: Advice) -> str:
    if not advice.telling:
        return (
            f"{len(audit.matches):,} matches cannot tell which K is best: {name} forecasts them no worse than any "
            f"other K beyond chance, and all from {advice.low:.3g} to {advice.high:.3g} may be right."
        )
    return (
        f"{name} suits this league: no K tried forecasts it better beyond chance; the best K is {interval(advice)}, "
        f"and moving there {change(audit.tested.gain)}."
    )


def _disagreement(audit: Findings) -> str:
    causes, curve, measured = audit.advice.causes, audit.curve, audit.measured
    why = (
        f"Tested as the cause: {'; '.join(causes)}."
        if causes
        else "Spread and movement of ratings, likeness of opponents, slope and log-loss were tested as the cause: none "
        "is."
    )
    by_theory, by_matches = (curve.best.k, curve.low, curve.high), (measured.best, *measured.interval)
    return (
        f"Theory and backtest disagree on this league: the best K is {with_interval(*by_theory)} by theory and "
        f"{with_interval(*by_matches)} on its own matches, which decide; moving from {audit.in_use.name} to "
        f"K = {audit.advice.k:.3g} {change(audit.tested.gain)}. {why}"
    )


def _recent_best(audit: Findings) -> str:
    """What is to be said where the last quarter of the history asks for another K than the later half."""
    today = audit.periods[-1]
    if not audit.advice.telling or today.low <= audit.advice.k <= today.high:
        return ""
    now = with_interval(today.k, min(today.low, today.k), max(today.high, today.k))
    return f" The best K has moved: today, since {today.first}, it is {now}."


def interval(advice: Advice) -> str:
    """A K with its interval; only the upper end where the matches show nothing that ratings could follow."""
    if advice.high > BOUNDLESS * advice.low:
        return f"{advice.high:.3g} or less"
    return with_interval(advice.k, advice.low, advice.high)


def change(saved: float | Difference) -> str:
    """By how much something changes the log-loss, sign and all.

    >>> change(0.0012), change(-0.0012)
    ('lowers the log-loss by 0.0012', 'raises the log-loss by 0.0012')
    >>> change(Difference(0.0012, -0.0003, 0.0027)), change(0.00002)
    ('lowers the log-loss by 0.0012 (-0.0003 to 0.0027)', 'leaves the log-loss as it is')
    """
    mean = saved.mean if isinstance(saved, Difference) else saved
    sign = 1.0 if mean > 0 else -1.0
    bounds = ""
    if isinstance(saved, Difference):
        low, high = sorted((sign * saved.low, sign * saved.high))
        bounds = f" ({low:.4f} to {high:.4f})"
    if abs(mean) < 0.00005:
        return f"leaves the log-loss as it is{bounds}"
    return f"{'lowers' if mean > 0 else 'raises'} the log-loss by {abs(mean):.4f}{bounds}"


def other_verdict(other: OtherSystem) -> str:
    """The answer in one sentence for a system that is no Elo with a K."""
    way = {True: "better than", False: "worse than", None: "neither better nor worse, beyond chance, than"}[
        other.better
    ]
    gap = other.difference
    return (
        f"{other.name} forecasts this league {way} Elo at its best K, {other.k:.3g}: log-loss {other.log_loss:.4f} "
        f"against {other.elo_log_loss:.4f} on the later half, a difference of "
        f"{with_interval(gap.mean, gap.low, gap.high, '+.4f')}."
    )


def rows_of(audit: Findings) -> list[tuple[str, str]]:
    """Name and finding of every line."""
    best = f"K = {audit.best.k:.3g}"
    rows = [
        ("Which K", _which(audit)),
        ("K by period", _periods(audit)),
        ("Strengths", _strengths(audit)),
        ("Venue and draws", _venue(audit)),
        *([(f"Ratings at {audit.in_use.name}", _errors(audit.now))] if audit.other is None else []),
        (f"Ratings at {best}", _errors(audit.best)),
        ("Lag", _lag(audit)),
        ("Newcomers", _newcomers(audit)),
        ("Best and worst", _extremes(audit.misrated)),
        ("Forecasts", _forecasts(audit)),
        ("Strong and weak sides", _bands(audit)),
    ]
    if audit.other is not None:
        rows.insert(0, (audit.other.name, _other(audit.other)))
    if audit.ratings is not None:
        rows.append(("The table in use", _table(audit)))
    return rows


def _which(audit: Findings) -> str:
    (low, high), curve, measured = audit.measured.interval, audit.curve, audit.measured
    lost = measured.at(curve.best.k) - measured.at(measured.best)
    return (
        f"by theory {with_interval(curve.best.k, curve.low, curve.high)}, by backtest {measured.best:.3g} "
        f"({low:.3g} to {high:.3g}; theory's K loses {max(lost, 0.0):.5f} against it)"
    )


def _periods(audit: Findings) -> str:
    least, most = float(audit.measured.k[0]), float(audit.measured.k[-1])

    def shown(k: float) -> str:
        return f"{k:.3g} or more" if k >= most else f"{k:.3g} or less" if k <= least else f"{k:.3g}"

    return "\n".join(
        f"{one.first} to {one.last}: {shown(one.measured)} ({one.low:.3g} to {one.high:.3g}) by backtest, "
        f"{shown(one.theory)} by theory"
        for one in audit.periods
    )


def _strengths(audit: Findings) -> str:
    half = f"; half of a lead is lost within {math.log(2) / audit.rate:,.0f} matches" if audit.rate > 1e-5 else ""
    return (
        f"lie ± {audit.spread:.0f} points apart and move by ± {audit.step:.1f} from one match of a side to its "
        f"next{half}; newcomers differ by ± {audit.league.parameters.newcomer_spread:.0f}"
    )


def _venue(audit: Findings) -> str:
    ties, home = audit.league.ties, audit.home
    draws = f"equal sides draw {ties / (2 + ties):.0%} of their matches"
    if audit.matches.neutral.all():
        return f"no home; {draws}"
    worth_it = home.gain > NOTHING
    moved = f" today, {home.first:.0f} at first" if worth_it and abs(home.today - home.first) > MOVED else ""
    follow = f", and following it {change(home.gain)} by theory" if worth_it else ""
    return f"playing at home is worth {home.today:.0f} points{moved}; forecasts add {home.in_use:.0f}{follow}; {draws}"


def _errors(one: Prediction) -> str:
    # Shares of the squared error; the newcomers' part is approximate and can be negative.
    parts = [("luck", one.luck), ("newcomers", max(one.newcomers, 0.0))]
    rest = max(one.error - sum(part for _, part in parts), 0.0)
    said = ", ".join(f"{name} {part / max(one.error, 1e-9):.0%}" for name, part in [*parts, ("lag", rest)])
    return f"off by ± {math.sqrt(one.error):.0f} points (of the square: {said}); expected log-loss {one.log_loss:.4f}"


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
    kind = "calibrated" if abs(slope - 1) < max(2 * error, NEAR) else ("too bold" if slope < 1 else "too timid")
    loss = audit.measured.at(audit.advice.k) + audit.tested.gain.mean
    return (
        f"log-loss {loss:.4f} on the later half at {audit.in_use.name}; {kind}: slope of results on forecasts "
        f"{with_error(slope, error, '.3f')} (theory {audit.now.slope:.3f})"
    )


def _misratings(bands: tuple) -> list[str]:
    return [
        f"the {name} fifth is {'under' if one.underrated > 0 else 'over'}rated by "
        f"{with_error(abs(one.underrated), one.error, '.0f')} points"
        for name, one in (("best", bands[-1]), ("weakest", bands[0]))
    ]


def _other(other: OtherSystem) -> str:
    strong = "; ".join(_misratings(other.bands)) if len(other.bands) > 1 else "too few matches for bands of ratings"
    return f"slope of results on its forecasts {with_error(*other.slope, '.3f')}; {strong}"


def _bands(audit: Findings) -> str:
    if len(audit.bands) < 2:
        return "too few matches to tell bands of ratings apart"
    return "\n".join(_misratings(audit.bands))


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


def performance_words(found: Performance, both: Recovered) -> list[str]:
    """What line-ups tell of performances, and what recovering strengths does to strong and weak sides."""
    said = [
        f"Performances: line-ups move a side by ± {found.spread:.0f} points ({found.low:.0f} to {found.high:.0f}) "
        f"about its strength, from {found.matches:,} matches; by chance alone as much in "
        f"{found.p_value:.1%} of leagues."
    ]
    for name, place in (("best", -1), ("weakest", 0)):
        before, after = both.before[place], both.after[place]
        said.append(
            f"The {name} fifth: rated too low by {before.underrated:+.0f} ± {before.error:.0f} points, and by "
            f"{after.underrated:+.0f} ± {after.error:.0f} once strengths are recovered; slope {before.slope:.2f} ± "
            f"{before.slope_error:.2f}, then {after.slope:.2f} ± {after.slope_error:.2f}."
        )
    return said
