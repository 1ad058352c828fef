"""The answer of an audit, of matches or of contests: what matters most, one K, one reason, and the caveat that fits."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from kinelo.advice.audit.backtest import Difference
from kinelo.advice.audit.words import (
    HOW_WE_KNOW,
    UNNOTICED_LOSS,
    WHAT_TO_DO,
    Audit,
    ContestAudit,
    Finding,
    ahead,
    better,
    findings_of,
    interval,
    lasts,
    to_do,
)
from kinelo.advice.report import Report, Rows, html_fragment, with_interval
from kinelo.presentation import percent, quoted

if TYPE_CHECKING:
    from kinelo.advice.audit.in_use import OtherSystem

UNSURE = 2.0
"""An interval whose ends lie this factor apart leaves K open."""
HEADLINE = 40.0
"""Points that a finding must be worth to stand above K."""
FEW_UNFINISHED = 0.02
"""Part of entries that do not finish below which that explains nothing."""


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


class AuditReport(Report):
    """What an audit of matches and one of contests show alike."""

    _sentences_in_table = False
    lead: Any
    findings: Any
    notes: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """The answer in a few sentences."""
        return self.lead.verdict

    def _alike(self) -> dict[str, Any]:
        """What both have in plain numbers and words."""
        audit: Any = self
        (low, high), measured = audit.measured.interval, audit.measured
        return {
            "verdict": self.verdict, "k": audit.k, "notes": self.notes, "lead": self.lead._asdict(),
            "findings": [one._asdict() for one in self.findings], "advice": asdict(audit.advice),
            "measured": {
                "best": measured.best, "low": low, "high": high, "k": measured.k.tolist(),
                "log_loss": measured.log_loss.tolist(),
            },
            "other": None if audit.other is None else asdict(audit.other),
        }  # fmt: skip

    def sections(self) -> list[tuple[str, Rows]]:
        """Every line under its heading: what to do, and how we know; of an extract there is nothing to do."""
        extract = getattr(self, "extract", None) is not None
        return [*([] if extract else [(WHAT_TO_DO, to_do(self.findings))]), (HOW_WE_KNOW, self.rows())]

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.verdict}"

    def __str__(self) -> str:
        lines = [self.verdict]
        for heading, rows in self.sections():
            lines += ["", heading, *(f"{name}: {words}" for name, words in rows)]
        return "\n".join([*lines, *([""] if self.notes else []), *self.notes])

    def _title(self) -> str:
        return self.verdict

    def _sentences(self) -> tuple[str, ...]:
        return self.notes

    def _repr_html_(self) -> str:
        lines = [("Verdict", self.verdict), *(row for _, rows in self.sections() for row in rows)]
        return html_fragment(lines, self.notes, self._heading)


def lead_of(audit: Audit) -> Lead:
    """One number, one reason, one caveat: about the matches to come where they want another K than the past did."""
    advice, outlook, name = audit.advice, audit.outlook, audit.in_use.name
    if audit.extract is not None:
        extract = (
            f"Every match here is one of {quoted(audit.extract)}'s: its opponents are rated by these matches alone, so "
            "that an extract cannot tell which K suits the league. Give the matches of all sides."
        )
        return Lead(advice.k, advice.low, advice.high, "", extract, "")
    before = _headline(findings_of(audit))
    if audit.other is not None:
        return Lead(audit.other.k, advice.low, advice.high, before, other_words(audit.other, "this league"), "")
    if not ahead(audit):
        # What moving does to the error of a rating, where the model of K knows who meets whom.
        now, then = (math.sqrt(max(one.error, 0.0)) for one in (audit.now, audit.best))
        random = not (audit.opponents.alike or audit.opponents.follows_results)
        knows = advice.agree and random and round(now) > round(then)
        more = f"; by theory a rating is then off by ± {then:.0f} points instead of ± {now:.0f}" if knows else ""
        answer, reason = _answer(audit, "this league", f"{len(audit.matches):,} matches", more)
        k = audit.k if audit.k is not None and (audit.tested.low <= 0 or not lasts(audit)) else advice.k
        return Lead(k, advice.low, advice.high, before, answer, _caveat(audit), reason)
    best = with_interval(outlook.k, outlook.low, outlook.high)
    if audit.k is None or outlook.gain is None:
        answer = f"From today's ratings by {name} on, K = {best} is best for the matches to come."
        return Lead(outlook.k, outlook.low, outlook.high, before, answer, _caveat(audit))
    wrong = lasts(audit)
    fits = f"too {'large' if audit.k > outlook.k else 'small'}" if wrong else "not clearly wrong"
    answer = (
        f"{name} is {fits} for the matches to come: from today's ratings on K = {best} is best, and by theory "
        f"{'' if wrong else 'moving there '}{better(outlook.gain)}."
    )
    return Lead(outlook.k if wrong else audit.k, outlook.low, outlook.high, before, answer, _caveat(audit))


def contest_lead(audit: ContestAudit) -> Lead:
    """One number, one reason, one caveat."""
    advice, (before, after) = audit.advice, (percent(share, 1) for share in audit.pairs_right)
    answer, reason = other_words(audit.other, "these contests") if audit.other is not None else "", ""
    if audit.other is None:
        more = f", with {after} instead of {before} of pairs in the order forecast"
        answer, reason = _answer(audit, "these contests", f"{len(audit.contests):,} contests", more)
    caveat = _unsure(audit, "contests")
    if audit.like_meets_like:
        caveat = (
            "Fields are alike: ratings show less than the differences between entrants who never meet. With "
            "kinelo rate RESULTS --rater rank newcomers begin at the level of those whom they meet."
        )
    elif not caveat and audit.unfinished > FEW_UNFINISHED:
        out = percent(audit.unfinished)
        caveat = f"Of all entries {out} do not finish, whom plain Elo counts as beaten by all who do."
    return Lead(advice.k, advice.low, advice.high, _headline(audit.findings), answer, caveat, reason)


def _headline(findings: list[Finding]) -> str:
    """The most useful finding beside K, where it is worth so much that it stands above K."""
    first = [one for one in findings if one.kind != "K"][:1]
    return first[0].words if first and first[0].weight >= HEADLINE else ""


def _answer(audit: Audit | ContestAudit, league: str, played: str, addition: str) -> tuple[str, str]:
    """What is said of the system in use, and why, with ``more`` where it is clear; what was ``played`` decides."""
    advice, tested, name, games = audit.advice, audit.tested, audit.in_use.name, played.split()[-1]
    best = f"K = {interval(advice)} is best"
    if not advice.telling:
        below = f"from {advice.low:.3g} to" if advice.low > 0 else "up to"
        best = f"all K {below} {advice.high:.3g} may be right"
    way = "" if audit.k is None else "large" if audit.k > advice.k else "small"
    moved = f"On the later half of the {games}, K = {advice.k:.3g} {better(tested)}"
    if tested.low > 0 and way and not lasts(audit):
        best = best.replace("is best", "was best").replace("may be right", "may have been right")
        reason = f"There K = {advice.k:.3g} {better(tested)}. For the {games} to come no other K is shown to be better."
        return f"{name} was too {way} on the later half of the {games}: {best}.", reason
    if tested.low > 0:
        little = "a little " if tested.mean < UNNOTICED_LOSS else ""
        start = f"is {little}too {way} for {league}" if way else f"serves {league} {little}worse than one K"
        return f"{name} {start}: {best}.", f"{moved}{addition}."
    if not advice.telling:
        also = "and" if audit.k is None or advice.low <= audit.k <= advice.high else "but"
        return f"{played} cannot tell which K is best: {best}, {also} {name} forecasts no worse beyond chance.", ""
    outside = audit.k is not None and not advice.low <= audit.k <= advice.high
    if outside and tested.mean > 0 and lasts(audit):
        return f"{name} is probably too {way} for {league}: {best}.", f"{moved}: these {games} cannot prove it."
    return f"{name} is not clearly wrong for {league}: no K forecasts better beyond chance.", f"{moved}; {best}."


def _unsure(audit: Audit | ContestAudit, games: str) -> str:
    """That theory and backtest disagree, or by which factor the best K is uncertain."""
    advice = audit.advice
    if not advice.agree:
        curve, why = audit.curve, ", for opponents are alike" if audit.opponents.alike else ""
        return f"Theory would take K = {with_interval(curve.best.k, curve.low, curve.high)}; the {games} decide{why}."
    if advice.telling and advice.high <= UNSURE * advice.low:
        return ""
    if advice.low <= 0:
        return f"These {games} show no K that is too small."
    return f"These {games} tell the best K to a factor of {advice.high / advice.low:.1f}."


def _caveat(audit: Audit) -> str:
    """The caveat that fits the case: the first of start-up, disagreement and doubt."""
    rater = audit.in_use.rater
    if ahead(audit) and audit.outlook.finding_strengths and audit.periods[-1].high < audit.periods[0].measured:
        began = f"every side began at {rater.initial:g}" if rater.start is None else "sides began off their strengths"
        return f"The past wanted more, because {began} and ratings had to find strengths first."
    return _unsure(audit, "matches")


def other_words(other: OtherSystem, league: str) -> str:
    """The answer in one sentence for a system that is no Elo with a K."""
    ways = {True: "better than", False: "worse than", None: "neither better nor worse, beyond chance, than"}
    gap = other.difference
    saved = better(Difference(-gap.mean, -gap.high, -gap.low))
    return (
        f"{other.name} forecasts {league} {ways[other.better]} Elo at its best K, {other.k:.3g}: on the later half it "
        f"{saved}."
    )
