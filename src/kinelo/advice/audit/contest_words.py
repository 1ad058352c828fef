"""An audit of contests in words: the answer, and one line for each finding."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kinelo.advice.audit.verdict import UNSURE, Lead, other_words
from kinelo.advice.audit.words import UNNOTICED_LOSS, change, interval
from kinelo.advice.report import with_interval
from kinelo.presentation import percent

if TYPE_CHECKING:
    from kinelo.advice.audit.alike import Measured
    from kinelo.advice.audit.contest_findings import ContestFindings

FEW_UNFINISHED = 0.02
"""Part of entries that do not finish below which that explains nothing."""
DIFFER = 0.15
"""Correlation of strengths within fields above which these differ, and below which they hardly do."""
LEAST_WALK = 0.5
"""Points a year below which strengths stand still."""
OFF_START = 2.0
"""Standard errors by which newcomers must start off to be worth a word."""


def contest_lead(found: ContestFindings) -> Lead:
    """One number, one reason, one caveat."""
    advice = found.advice
    answer = other_words(found.other) if found.other is not None else _answer(found)
    return Lead(advice.k, advice.low, advice.high, "", answer, _caveat(found))


def contest_gain_words(found: ContestFindings) -> tuple[str, str]:
    """The best K, and beside it how sure that is and what moving there buys; of a system with a K."""
    advice, (before, after) = found.advice, (percent(share, 1) for share in found.pairs_right)
    return f"Best K = {advice.k:.3g}", (
        f"(95 %: {advice.low:.3g} to {advice.high:.3g}; {found.curve.best.k:.3g} by theory, {found.measured.best:.3g} "
        f"by backtest). On the later half of the contests, moving there from {found.k:.3g} {change(found.gain)}; "
        f"{after} instead of {before} of pairs stand in the order forecast."
    )


def _answer(found: ContestFindings) -> str:
    advice, gain, name = found.advice, found.gain, found.in_use.name
    if not advice.telling:
        return (
            f"{len(found.contests):,} contests cannot tell which K is best: all from {advice.low:.3g} to "
            f"{advice.high:.3g} may be right{_outside(found)}."
        )
    if found.k is None or gain.low <= 0:
        best = f"the best K is {interval(advice)}, and moving there {change(gain)}"
        if found.k is not None and not advice.low <= found.k <= advice.high and gain.mean > 0:
            way = "large" if found.k > advice.high else "small"
            return f"{name} is probably too {way} for these contests: {best}; these contests cannot prove it."
        return f"{name} suits these contests: no K forecasts them better beyond chance; {best}."
    small = found.k < advice.k
    little = "a little " if gain.mean < UNNOTICED_LOSS else ""
    by_theory = found.curve.at(found.k) - found.curve.at(advice.k)
    beside = f" ({by_theory:.4f} by theory)" if advice.agree else ""
    before, after = (percent(share, 1) for share in found.pairs_right)
    reason = (
        f" A contest of {np.median(found.contests.sizes):.0f} makes {found.share_of_luck:.2f} of the luck of a match, "
        "so that it bears a larger K."
        if small
        else ""
    )
    return (
        f"{name} is {little}too {'small' if small else 'large'} for these contests: K = {interval(advice)} is best, "
        f"and {change(gain)} on the later half of the contests{beside}, with {after} instead of "
        f"{before} of pairs in the order forecast.{reason}"
    )


def _outside(found: ContestFindings) -> str:
    """That the K in use is none of those that may be right, where that is so."""
    if found.k is None or found.advice.low <= found.k <= found.advice.high:
        return ""
    return f", and {found.in_use.name} is probably too {'large' if found.k > found.advice.high else 'small'}"


def _caveat(found: ContestFindings) -> str:
    """The caveat that fits the case: the first of disagreement, like meets like, and an interval that is wide."""
    advice, curve = found.advice, found.curve
    if not advice.agree:
        why = (
            f" {percent(found.unfinished)} of the entries do not finish, whom plain Elo counts as beaten by all who do."
            if found.unfinished > FEW_UNFINISHED
            else ""
        )
        if found.like_meets_like:
            luck = ", and theory does not know that luck, too, decides who meets whom" if found.follows_results else ""
            why = f" Like meets like (correlation of strengths {found.alike.value:.2f}){luck}.{why}"
        by_theory = with_interval(curve.best.k, curve.low, curve.high)
        return f"Theory disagrees and would take {by_theory}; the contests decide.{why}"
    if found.like_meets_like:
        return (
            f"Fields are alike (correlation of strengths {found.alike.value:.2f}): of the differences between entrants "
            f"who never meet, ratings at the K advised show {percent(found.shown_advised.value)}; RankElo lets "
            "newcomers enter where they compete."
        )
    if advice.telling and advice.high > UNSURE * advice.low:
        return f"The best K is uncertain by a factor {advice.high / advice.low:.1f}."
    return ""


def contest_rows(found: ContestFindings) -> list[tuple[str, str]]:
    """Name and finding of every line."""
    (low, high), curve, league = found.measured.interval, found.curve, found.league
    rows = [
        (
            "Which K",
            f"by theory {with_interval(curve.best.k, curve.low, curve.high)}, by backtest {found.measured.best:.3g} "
            f"({low:.3g} to {high:.3g}); log-loss of orders {found.measured.at(found.advice.k):.4f} at the K advised",
        ),
        (
            "Strengths",
            f"lie ± {with_interval(*found.fields.spread, '.0f')} points apart, ± {league.within:.0f} within a field, "
            f"and {_movement(found.walk)}",
        ),
        (
            "Fields",
            f"of {np.median(found.contests.sizes):.0f} entrants, usually; {_alike(found)}; a contest makes "
            f"{found.share_of_luck:.2f} of the luck of a match",
        ),
        ("Newcomers", _newcomers(found)),
    ]
    rows += [(f"Luck by {column}", _luck(found, column)) for column in dict.fromkeys(one.column for one in found.luck)]
    if found.other is not None:
        rows.insert(0, (found.other.name, other_words(found.other)))
    return rows


def _movement(walk: Measured) -> str:
    """How far strengths move in a year; where that is at its bound, nothing is known of its error."""
    if walk.value < LEAST_WALK:
        return "do not move"
    said = with_interval(walk.value, walk.low, walk.high, ".0f") if math.isfinite(walk.error) else f"{walk.value:.0f}"
    return f"move by {said} points a year, up or down"


def _alike(found: ContestFindings) -> str:
    alike, shown = found.alike, [(found.advice.k, found.shown_advised)]
    kind = "like meets like" if found.like_meets_like else "whether fields differ in strength is not clear"
    if not found.like_meets_like and not alike.low <= DIFFER <= alike.high:
        kind = "fields differ in strength" if alike.low > DIFFER else "fields hardly differ in strength"
    if found.k is not None and found.k != found.advice.k:
        shown.insert(0, (found.k, found.share_shown))
    parts = [f"{percent(one.value)} ({percent(one.low)} to {percent(one.high)}) at K = {k:.3g}" for k, one in shown]
    correlation = with_interval(alike.value, alike.low, alike.high, "z.2f")
    return (
        f"correlation of the strengths of two of one field {correlation}: {kind}; of the true differences ratings show "
        f"{' and '.join(parts)}"
    )


def _newcomers(found: ContestFindings) -> str:
    start, initial = found.start, found.in_use.rater.initial
    if start is None:
        return "nobody was new in the later half"
    where = with_interval(start.value, start.low, start.high, ".0f")
    off = abs(start.value - initial) > OFF_START * start.error
    said = f"should start at {where}, not at {initial:.0f}" if off else f"start where they should: {where} is right"
    return f"{said}; they differ by ± {found.league.entry_spread:.0f}, and the start is lost in luck after " + (
        f"about {found.newcomer_contests:.0f} contests" if found.newcomer_contests >= 1.5 else "a contest"
    )


def _luck(found: ContestFindings, column: str) -> str:
    levels = sorted((one for one in found.luck if one.column == column), key=lambda one: -one.factor)
    said = [f"{one.level} {with_interval(one.factor, one.low, one.high, '.2f')}" for one in levels]
    return f"times the usual noise (80 % interval): {', '.join(said)}; plain Elo counts all alike, RankElo does not"
