"""The answer of an audit: one K, one reason, and the one caveat that fits the case."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from kinelo.advice.audit.words import UNNOTICED_LOSS, change, interval, matches_words
from kinelo.advice.report import with_interval
from kinelo.presentation import quoted

if TYPE_CHECKING:
    from kinelo.advice.audit.alike import OpponentsFound
    from kinelo.advice.audit.backtest import Difference
    from kinelo.advice.audit.findings import Findings
    from kinelo.advice.audit.in_use import OtherSystem

UNSURE = 2.0
"""An interval whose ends lie this factor apart leaves K open."""
SAME_K = 0.05
"""Two K whose logarithms are this close are the same."""


class Lead(NamedTuple):
    """What an audit begins with: the K to use with its 95 % interval, what it says of the K in use and why, and the
    caveat; ``before`` is what matters more than any K."""

    k: float
    low: float
    high: float
    before: str
    answer: str
    caveat: str

    @property
    def verdict(self) -> str:
        """All of it in a few sentences."""
        return " ".join(one for one in (self.before, self.answer, self.caveat) if one)


def lead_of(audit: Findings) -> Lead:
    """One number, one reason, one caveat: about the matches to come where they want another K than the past did."""
    advice, outlook = audit.advice, audit.outlook
    before = hidden_words(audit.opponents) if audit.opponents.hidden else ""
    if audit.other is not None:
        other = audit.other
        return Lead(other.k, advice.low, advice.high, before, other_words(other), "")
    if audit.extract is not None:
        return Lead(advice.k, advice.low, advice.high, "", extract_words(audit.extract), "")
    # A rule of K has no one number that could be compared with what the matches to come want.
    ahead = outlook.differs and (audit.k is not None or outlook.finding_strengths)
    if advice.agree and advice.telling and ahead:
        best, answer = outlook, _matches_to_come(audit)
    else:
        best, answer = advice, _suits(audit) if audit.tested.better is None else _another_k(audit)
    return Lead(best.k, best.low, best.high, before, answer, caveat_of(audit))


def extract_words(side: str) -> str:
    """What one side's matches can tell, which is not the K of its league."""
    return (
        f"Every match here is one of {quoted(side)}'s: its opponents are rated by these matches alone, so that an "
        "extract cannot tell which K suits the league. Give the matches of all sides."
    )


def caveat_of(audit: Findings) -> str:
    """The caveat that fits the case: the first of disagreement, too few matches, start-up, unordered days, moving."""
    advice = audit.advice
    for words in (_disagreement(audit), _too_few(audit), _start_up(audit), _unordered(audit), _moved(audit)):
        if words:
            return words
    if advice.high > UNSURE * advice.low:
        return uncertain_words(audit)
    return ""


def uncertain_words(audit: Findings) -> str:
    """By which factor the best K is uncertain, and how many matches would tell it."""
    width = math.log(audit.advice.high / audit.advice.low)
    wanted = len(audit.matches) * (width / math.log(1.25**2)) ** 2
    digits = 10 ** max(int(math.log10(max(wanted, 1))) - 1, 0)
    return (
        f"The best K is uncertain by a factor {math.exp(width):.1f}: about {math.ceil(wanted / digits) * digits:,} "
        "matches like these would show it to ± 25 %."
    )


def _too_few(audit: Findings) -> str:
    return "" if audit.advice.telling else uncertain_words(audit)


def _start_up(audit: Findings) -> str:
    """That every side began at one rating, where the past therefore wanted more than the matches to come."""
    if not (audit.advice.agree and audit.outlook.finding_strengths):
        return ""
    rater = audit.in_use.rater
    began = f"every side began at {rater.initial:g}" if rater.start is None else "sides began off their strengths"
    return f"The past wanted more, because {began} and ratings had to find strengths first."


def _unordered(audit: Findings) -> str:
    if audit.k_in_order is None or abs(math.log(audit.k_in_order / audit.curve.best.k)) <= SAME_K:
        return ""
    way = "larger" if audit.k_in_order > audit.curve.best.k else "smaller"
    return f"Matches of a day have no order here: were it known, a {way} K would be best."


def _moved(audit: Findings) -> str:
    """What is to be said where the last quarter of the history asks for another K than the later half."""
    today = audit.periods[-1]
    # Theory knows a start that faded: what it expects of the last quarter is no change of the league.
    if any(today.low <= k <= today.high for k in (audit.advice.k, today.theory)):
        return ""
    way = "larger" if today.measured > audit.advice.k else "smaller"
    return f"The best K has moved: since {today.first} the matches want a {way} one."


def _another_k(audit: Findings) -> str:
    """What to say where some K is better than the system in use beyond chance."""
    advice, tested, name = audit.advice, audit.tested, audit.in_use.name
    assert tested.better is not None and tested.better_gain is not None
    gain = _by_both(audit.now.log_loss - audit.curve.at(advice.k), tested.gain)
    saved = tested.gain if tested.gain.low > 0 else tested.better_gain
    little = "a little " if saved.mean < UNNOTICED_LOSS else ""
    if audit.k is None:
        start = f"One K serves this league {little}better than {name}"
    else:
        start = f"{name} is {little}too {'large' if audit.k > tested.better else 'small'} for this league"
    return f"{start}: K = {interval(advice)} is best, and {gain}."


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


def _by_both(theory: float, measured: Difference) -> str:
    """What a change of K does by theory and on the matches."""
    if theory >= 0.00005 and measured.mean > 0:
        seen = change(measured).removeprefix("lowers the log-loss ")
        return f"{change(theory)} by theory and {seen} on the later half of the matches"
    return f"{change(measured)} on the later half of the matches; by theory it {change(theory)}"


def _suits(audit: Findings) -> str:
    """What to say where no K is better than the system in use beyond chance."""
    advice, name = audit.advice, audit.in_use.name
    if not advice.telling:
        return (
            f"{len(audit.matches):,} matches cannot tell which K is best: {name} forecasts them no worse than any "
            f"other K beyond chance, and all from {advice.low:.3g} to {advice.high:.3g} may be right."
        )
    best = f"the best K is {interval(advice)}, and moving there {change(audit.tested.gain)}"
    if audit.k is not None and not advice.low <= audit.k <= advice.high and audit.tested.gain.mean > 0:
        way = "large" if audit.k > advice.high else "small"
        return f"{name} is probably too {way} for this league: {best}; these matches cannot prove it."
    return f"{name} suits this league: no K tried forecasts it better beyond chance; {best}."


def _disagreement(audit: Findings) -> str:
    """That theory wants another K than the matches, which decide, and what was found as the cause."""
    if audit.advice.agree:
        return ""
    causes = audit.advice.causes
    why = (
        f"Tested as the cause: {'; '.join(causes)}."
        if causes
        else "Spread and movement of ratings, likeness of opponents, slope and log-loss were tested as the cause: none "
        "is."
    )
    by_theory = with_interval(audit.curve.best.k, audit.curve.low, audit.curve.high)
    return f"Theory disagrees and would take {by_theory}; the matches decide. {why}"


def hidden_words(found: OpponentsFound) -> str:
    """Where like meets like: what ratings show, how long it would take, and the remedy, which is not K."""
    shown = f"{100 * max(found.share_shown.value, 0.0):.0f} %"
    return (
        f"Opponents are alike (correlation {found.correlation.value:.2f}), and ratings that began alike show only "
        f"{shown} of the true differences after {found.matches:,.0f} matches of a side; nine tenths would take "
        f"{matches_words(found.matches_needed)}. No K mends that: start from the strengths that all matches show "
        "(start=found.starting_list), or use a rater that knows sides together (KalmanElo, BradleyTerry)."
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
