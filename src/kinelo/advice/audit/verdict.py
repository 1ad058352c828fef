"""The answer of an audit: what matters most, one K, one reason, and the one caveat that fits the case."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from kinelo.advice.audit.words import UNNOTICED_LOSS, ahead, change, findings_of, interval
from kinelo.advice.report import with_interval
from kinelo.presentation import quoted

if TYPE_CHECKING:
    from kinelo.advice.audit.findings import Findings
    from kinelo.advice.audit.in_use import OtherSystem

UNSURE = 2.0
"""An interval whose ends lie this factor apart leaves K open."""
SAME_K = 0.05
"""Two K whose logarithms are this close are the same."""
SMALL_LOSS = 0.002
"""Log-loss that a K may lose against the best one, at the upper end of the interval, and suit a league."""
HEADLINE = 40.0
"""Points that a finding must be worth to stand above K."""


class Lead(NamedTuple):
    """What an audit begins with: the K to use with its 95 % interval, what matters more than any K, what is said of the
    K in use, the caveat, and why."""

    k: float
    low: float
    high: float
    before: str
    answer: str
    caveat: str
    reason: str = ""

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is said, in order."""
        return tuple(one for one in (self.before, self.answer, self.reason, self.caveat) if one)

    @property
    def verdict(self) -> str:
        """All of it."""
        return " ".join(self.sentences)


def lead_of(audit: Findings) -> Lead:
    """One number, one reason, one caveat: about the matches to come where they want another K than the past did."""
    advice, outlook = audit.advice, audit.outlook
    if audit.extract is not None:
        return Lead(advice.k, advice.low, advice.high, "", extract_words(audit.extract), "")
    first = findings_of(audit)[:1]
    before = first[0].words if first and first[0].weight >= HEADLINE else ""
    if audit.other is not None:
        return Lead(audit.other.k, advice.low, advice.high, before, other_words(audit.other), "")
    if ahead(audit):
        k = outlook.k if audit.k is None or not outlook.low <= audit.k <= outlook.high else audit.k
        return Lead(k, outlook.low, outlook.high, before, _matches_to_come(audit), caveat_of(audit))
    answer, reason = _answer(audit)
    k = audit.k if audit.k is not None and audit.tested.low <= 0 else advice.k
    return Lead(k, advice.low, advice.high, before, answer, caveat_of(audit), reason)


def extract_words(side: str) -> str:
    """What one side's matches can tell, which is not the K of its league."""
    return (
        f"Every match here is one of {quoted(side)}'s: its opponents are rated by these matches alone, so that an "
        "extract cannot tell which K suits the league. Give the matches of all sides."
    )


def caveat_of(audit: Findings) -> str:
    """The caveat that fits the case: the first of disagreement, too few matches, start-up, unordered days, doubt."""
    advice, outlook, rater, today = audit.advice, audit.outlook, audit.in_use.rater, audit.periods[-1]
    if not advice.agree:
        by_theory = with_interval(audit.curve.best.k, audit.curve.low, audit.curve.high)
        why = ", for opponents are alike" if audit.opponents.alike else ""
        return f"Theory would take K = {by_theory}; the matches decide{why}."
    if not advice.telling:
        return uncertain_words(audit)
    if ahead(audit) and outlook.finding_strengths and today.high < audit.periods[0].measured:
        began = f"every side began at {rater.initial:g}" if rater.start is None else "sides began off their strengths"
        return f"The past wanted more, because {began} and ratings had to find strengths first."
    in_order = audit.k_in_order
    if in_order is not None and abs(math.log(in_order / audit.curve.best.k)) > SAME_K:
        way = "larger" if in_order > audit.curve.best.k else "smaller"
        return f"Matches of a day have no order here: were it known, a {way} K would be best."
    return uncertain_words(audit) if advice.high > UNSURE * advice.low else ""


def uncertain_words(audit: Findings) -> str:
    """By which factor the best K is uncertain, and how many matches would tell it."""
    if audit.advice.low <= 0:
        return "These matches show no K that is too small."
    width = math.log(audit.advice.high / audit.advice.low)
    wanted = len(audit.matches) * (width / math.log(1.25**2)) ** 2
    digits = 10 ** max(int(math.log10(max(wanted, 1))) - 1, 0)
    return (
        f"The best K is uncertain by a factor {math.exp(width):.1f}: about {math.ceil(wanted / digits) * digits:,} "
        "matches like these would show it to ± 25 %."
    )


def _answer(audit: Findings) -> tuple[str, str]:
    """What is said of the system in use, and why; the matches of the past decide."""
    advice, gain, name = audit.advice, audit.tested, audit.in_use.name
    tells = advice.telling
    best = (
        f"K = {interval(advice)} is best" if tells else f"all K from {advice.low:.3g} to {advice.high:.3g} may be right"
    )
    way = "" if audit.k is None else "large" if audit.k > advice.k else "small"
    moved = f"On the later half of the matches, K = {advice.k:.3g} {change(gain)}"
    if gain.low > 0:
        little = "a little " if gain.mean < UNNOTICED_LOSS else ""
        start = f"is {little}too {way} for this league" if way else f"serves this league {little}worse than one K"
        return f"{name} {start}: {best}.", f"{moved}{_errors(audit)}."
    if not tells:
        sentence = f"{len(audit.matches):,} matches cannot tell which K is best: {best}"
        return sentence + ("." if audit.k is None else f", and {name} forecasts no worse beyond chance."), ""
    if way and not advice.low <= (audit.k or 0.0) <= advice.high and gain.mean > 0:
        return f"{name} is probably too {way} for this league: {best}.", f"{moved}: these matches cannot prove it."
    fits = "suits this league" if gain.high < SMALL_LOSS else "is not clearly wrong for this league"
    return f"{name} {fits}: no K forecasts it better beyond chance.", f"{moved}; {best}."


def _errors(audit: Findings) -> str:
    """What moving to the K advised does to the error of a rating, where the model of K knows who meets whom."""
    before, after = (math.sqrt(max(one.error, 0.0)) for one in (audit.now, audit.best))
    if audit.opponents.alike or not audit.advice.agree or round(before) <= round(after):
        return ""
    return f"; by theory a rating is then off by ± {after:.0f} points instead of ± {before:.0f}"


def _matches_to_come(audit: Findings) -> str:
    """What to use from now on, where that is not what the past wanted."""
    outlook, name = audit.outlook, audit.in_use.name
    best = with_interval(outlook.k, outlook.low, outlook.high)
    if audit.k is None or outlook.gain is None:
        return f"From today's ratings by {name} on, K = {best} is best for the matches to come."
    suits = outlook.low <= audit.k <= outlook.high
    fits = "suits" if suits else f"is too {'large' if audit.k > outlook.k else 'small'} for"
    return (
        f"{name} {fits} the matches to come: from today's ratings on K = {best} is best, and "
        f"{'moving there ' if suits else ''}{change(outlook.gain)} by theory."
    )


def other_words(other: OtherSystem) -> str:
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
