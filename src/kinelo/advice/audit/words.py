"""An audit in words: findings with what to do, and one line for all that they rest on; of matches and of contests.

Every sentence follows from signed, tested numbers; ``verification/audit_sentences.py`` counts how often each is true.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from kinelo.advice.audit.backtest import Difference
from kinelo.advice.report import Rows, with_error, with_interval
from kinelo.advice.words import NEAR_ONE
from kinelo.matches.columns import first_side
from kinelo.presentation import percent, quoted

if TYPE_CHECKING:
    from kinelo.advice.audit.alike import OpponentsFound, Range
    from kinelo.advice.audit.gaps import Band
    from kinelo.advice.audit.in_use import OtherSystem
    from kinelo.advice.audit.inflation import GroupFound, RatingInflation, Shift
    from kinelo.advice.audit.inputs import Misrated
    from kinelo.advice.audit.outlook import Outlook
    from kinelo.advice.audit.recursion import Advice

Audit: TypeAlias = Any
"""Of matches, in :mod:`kinelo.advice.audit.audit`, which imports this module."""
ContestAudit: TypeAlias = Any
"""Of contests, in :mod:`kinelo.advice.audit.contests`, likewise."""
UNNOTICED_LOSS = 0.0002
"""A difference in log-loss that nobody would notice."""
SMALL_LOSS = 0.002
"""Log-loss that another K must be expected to save to be worth a change."""
MOVED = 5.0
"""Points by which a home advantage must have changed, or be off, to be worth a word."""
K_UNIT = (
    "K is that of steps K (result - expected points), with expected points 1/(1 + 10^(-gap/400)) and a draw as half"
)
NO_MOVEMENT = "show no movement beyond chance"
LOG_LOSS = "Log-loss is -ln of the chance that a forecast gave to what then happened, on average: less is better."
BOUNDLESS = 16.0
"""An interval whose ends lie this factor apart has no lower end: no K is too small."""
MOST_FINDINGS = 6
RIGHT_START = 40.0
"""Points within which the whole interval must lie for a start to be called right."""
BETTER_STEPS = 30.0
"""Points that a better K, or better first steps, are taken to be worth, which are measured in log-loss."""
LEAST_INFLATION = 3.0
"""Points a year that are worth a word."""
WIDE_SHARE = 0.8
"""Width of the interval of a share from which on it says nothing."""
DIFFER = 0.15
"""Correlation of strengths within fields below which these hardly differ."""
BEGIN_ANEW = (
    "Begin anew from ratings that follow from all matches together: kinelo rate RESULTS --rater kalman --out start.csv "
    "writes them; rate the matches to come with --start start.csv."
)
WHAT_TO_DO, HOW_WE_KNOW = "What to do", "How we know"
NOTHING_TO_DO = ("Nothing", "no change is shown to make forecasts better")


class Finding(NamedTuple):
    """Something to know of a league, what to do about it, and points that a usual side is off by for it."""

    kind: str
    words: str
    advice: str
    weight: float


def interval(advice: Advice | Outlook) -> str:
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
    size, sign = _sized(saved, 1.0, "z.4f")
    if sign == 0:
        return f"leaves the log-loss as it is{size}"
    return f"{'lowers' if sign > 0 else 'raises'} the log-loss by {size}"


def better(saved: float | Difference) -> str:
    """The same for those who have never heard of log-loss: where it falls by d, the mean chance (geometric) that
    forecasts gave to what then happened rises to e^d times itself.

    >>> better(Difference(0.0169, 0.0068, 0.0296)), better(-0.004)
    ('gives what happens a 1.70 % (0.68 to 3.00) higher chance', 'gives what happens a 0.40 % lower chance')
    """
    size, sign = _sized(saved, 100.0, "z.2f", " %")
    if sign == 0:
        return f"leaves forecasts as they are{size}"
    return f"gives what happens a {size} {'higher' if sign > 0 else 'lower'} chance"


def _sized(saved: float | Difference, unit: float, digits: str, name: str = "") -> tuple[str, int]:
    """A difference in log-loss without its sign, with its interval that way round, and the sign; 0 where it is too
    small to be written, and then the interval alone."""
    mean = saved.mean if isinstance(saved, Difference) else saved
    sign, turn = 0 if abs(mean) < 0.00005 else 1 if mean > 0 else -1, 1.0 if mean > 0 else -1.0

    def written(value: float) -> str:
        return f"{unit * (value if unit == 1.0 else turn * math.expm1(turn * value)):{digits}}"

    bounds = ""
    if isinstance(saved, Difference) and max(abs(saved.low), abs(saved.high)) >= 0.00005:
        low, high = sorted((turn * saved.low, turn * saved.high))
        bounds = f" ({written(low)} to {written(high)})"
    return (f"{written(abs(mean))}{name}{bounds}" if sign else bounds), sign


def ahead(audit: Audit | ContestAudit) -> bool:
    """Whether the matches to come clearly want another K than the past did, one outside of those that may have been
    right, and the quarters of the past agree.

    A rule of K has no one number that could be compared with what the matches to come want. Where like meets like the
    backtest alone advises, and theory knows too little of newcomers who start off their strengths or grow. Contests to
    come are not asked for another K.
    """
    advice, outlook = audit.advice, getattr(audit, "outlook", None)
    if outlook is None or not (advice.agree and advice.telling and outlook.differs) or audit.opponents.alike:
        return False
    if advice.low <= outlook.k <= advice.high:
        return False
    periods = audit.periods
    found = audit.inflation
    if found is not None and found.start is not None:
        grow = found.gain is not None and found.gain.beyond_chance
        if grow or not _starts_right(found.start, found.initial):
            return False
    same_way = (periods[-1].measured < periods[0].measured) == (outlook.future < outlook.past)
    return same_way and (audit.k is not None or outlook.finding_strengths)


def lasts(audit: Audit | ContestAudit) -> bool:
    """Whether theory wants another K than that in use for the matches to come, too, in the same direction, and expects
    so much of it that it is worth a change: what it expects to save by less proved to be lost as often as not.

    Ratings that had to find strengths want a large K in the past. Played on, the K that was best in the past then
    forecasts worse more often than better. Where like meets like theory knows too little, and a smaller K would keep
    for long what today's ratings are off by. To the future of contests no theory looks: that fields are not alike, and
    that the best K of the quarters does not fall to where the K in use already is, is all that is asked there.
    """
    outlook, k = getattr(audit, "outlook", None), audit.k
    if outlook is None:
        first, second, third, last = (audit.measured.period(n)[0] for n in range(4))
        led_to = last * (third + last) / (first + second)
        return not audit.like_meets_like and (k is None or not led_to < k < audit.advice.k)
    if k is None or audit.opponents.alike:
        return k is None and not outlook.differs
    outside = outlook.high < k if advised(audit).k < k else k < outlook.low
    return outside and outlook.gain > SMALL_LOSS


def advised(audit: Audit | ContestAudit) -> Advice | Outlook:
    """The K to use: the one for the matches to come where they clearly want another."""
    return audit.outlook if ahead(audit) else audit.advice


def to_take(audit: Audit) -> Advice | Outlook:
    """The K to take from today's ratings on: where luck spread them under a K too large, the best one would keep that
    luck for long, and theory asks for one on the way there."""
    best, k = advised(audit), audit.k
    return audit.outlook if k is not None and best.k < audit.outlook.k < k else best


def gain_words(audit: Audit | ContestAudit, games: str) -> tuple[str, str]:
    """The best K, and beside it what moving there does to the log-loss of these ``games``, and what that is."""
    past, k = audit.advice, advised(audit)
    by_both = "by backtest"
    if getattr(audit, "curve", None) is not None:
        by_both = f"{audit.curve.best.k:.3g} by theory, {audit.measured.best:.3g} by backtest"
    best = f"K = {interval(past)}: {by_both}."
    buys = f"On the later half of the {games} {past.k:.3g} {change(audit.tested)}. {LOG_LOSS}"
    if k is past:
        return f"Best {best}", buys
    return f"Best K from today on = {interval(k)}.", f"The past wanted {best} {buys}"


def findings_of(audit: Audit) -> list[Finding]:
    """At most six, the most useful first."""
    if audit.extract is not None:
        return []
    best, k = advised(audit), audit.k
    clear = k is None or lasts(audit) if best is audit.outlook else audit.tested.low > 0 and lasts(audit)
    groups = _of_groups(audit)
    findings = [*_k_finding(audit, to_take(audit), clear), *_hidden(audit), *groups]
    home = audit.home
    off = abs(home.today - home.in_use)
    if home.given and home.gain > UNNOTICED_LOSS and off > max(MOVED, 2 * home.error):
        side = first_side(audit.matches.side_headers[0]).capitalize()
        words = f"{side} is worth {home.today:.0f} points today; the system adds {home.in_use:.0f}."
        findings.append(Finding("home", words, f"Add {home.today:.0f}.", off))
    first = audit.outlook.first
    if first is not None and first.gain.low > UNNOTICED_LOSS:
        smaller = ", and a smaller one later," if first.k < best.low else ""
        words = f"A larger K for the first matches of a side{smaller} forecasts better than K = {best.k:.3g} for all."
        take = "Or take" if any(one.kind == "K" for one in findings) else "Take"
        findings.append(Finding("first steps", words, f"{take} {first.words}.", BETTER_STEPS))
    if audit.inflation is not None:
        # Where newcomers of a group start says more than where all do.
        by_group = any(one.kind == "group start" for one in groups)
        of_all = inflation_findings(audit.inflation, audit.reference, hidden=audit.opponents.alike)
        findings += [one for one in of_all if one.kind != "start" or not by_group]
    return sorted(findings, key=lambda one: -one.weight)[:MOST_FINDINGS]


def contest_findings(found: ContestAudit) -> list[Finding]:
    """The same of contests: which K, and where newcomers should start."""
    start, initial = found.start, found.in_use.rater.initial
    findings = _k_finding(found, found.advice, found.tested.low > 0 and lasts(found))
    if start is not None and not start.low <= initial <= start.high:
        findings.append(_start_finding(start, initial))
    return sorted(findings, key=lambda one: -one.weight)


def to_do(findings: list[Finding]) -> Rows:
    """A line for each finding, numbered; where there is none, that there is nothing to do."""
    return [(str(n), f"{one.words} {one.advice}") for n, one in enumerate(findings, 1)] or [NOTHING_TO_DO]


def _k_finding(audit: Audit | ContestAudit, best: Advice | Outlook, clear: bool) -> list[Finding]:
    """Which K to take, where it is ``clear`` that it forecasts better than what is in use."""
    other, name = audit.other, audit.in_use.name
    if other is not None:
        if other.better is not False:
            return []
        words = f"{other.name} forecasts worse than Elo at its best K."
        return [Finding("K", words, f"Take Elo with K = {other.k:.3g}.", BETTER_STEPS)]
    if not clear:
        return []
    words = f"{name} forecasts worse than one K for all."
    if audit.k is not None:
        words = f"{name} is too {'large' if audit.k > best.k else 'small'}."
    take = f"Take K = {interval(best)}"
    if best is not advised(audit):
        take += " at first: a smaller one would keep for long what luck made of today's ratings"
    return [Finding("K", words, f"{take}.", BETTER_STEPS)]


def _hidden(audit: Audit) -> list[Finding]:
    """That ratings show little of the differences where like meets like, and where to begin instead."""
    opponents, share = audit.opponents, audit.opponents.share_shown
    if not opponents.hidden:
        return []
    words = f"Opponents are alike, and ratings show only {_percents(share)} of the real differences between sides."
    return [Finding("hidden", words, BEGIN_ANEW, (1 - share.value) * opponents.spread.value)]


def _percents(share: Range) -> str:
    """A share with its interval."""
    return f"{percent(share.value)} ({100 * share.low:.0f} to {100 * share.high:.0f})"


def _of_groups(audit: Audit) -> list[Finding]:
    """Groups whose newcomers belong elsewhere, and groups that are rated too high or too low beyond chance."""
    findings, sides, beside = [], len(audit.matches.teams), _beside(audit.reference)
    initial = audit.in_use.rater.initial
    for group in audit.groups:
        if (
            group.entry is not None
            and group.group != audit.reference
            and not group.entry.low <= initial <= group.entry.high
        ):
            findings.append(_start_finding(group.entry, initial, group.group))
        if group.bias is None or not group.bias.beyond_chance:
            continue
        share, (way, size) = (
            math.sqrt(group.sides / max(sides, 1)),
            _way(group.bias, "high", "low", ".0f", " points too "),
        )
        words = f"Sides of group {quoted(group.group)} are rated {size}, {beside}"
        if group.gain is not None and group.gain.beyond_chance and group.gain.mean * group.bias.mean < 0:
            # They may enter too high all the same.
            words += ": they grew {} by {} points a year".format(*_way(group.gain, "stronger", "weaker", ".0f"))
        advice = f"Move their ratings {'down' if way == 'high' else 'up'} once."
        findings.append(Finding("group bias", f"{words}.", advice, share * abs(group.bias.mean)))
    return findings


def _beside(reference: str | None) -> str:
    """What a group is held against."""
    return "next to all sides" if reference is None else f"next to group {quoted(reference)}"


def _way(shift: Shift, up: str, down: str, digits: str, unit: str = "") -> tuple[str, str]:
    """Which way a number goes, and its size with its interval that way; the way follows a ``unit`` that leads to it."""
    sign = math.copysign(1.0, shift.mean)
    low, high = sorted((sign * shift.low, sign * shift.high))
    way = up if sign > 0 else down
    if unit:
        return way, f"{abs(shift.mean):{digits}}{unit}{way} ({low:{digits}} to {high:{digits}})"
    return way, with_interval(abs(shift.mean), low, high, digits)


def _start_finding(right: Shift, initial: float, group: str | None = None) -> Finding:
    way, where = "stronger" if right.mean > initial else "weaker", with_interval(*right.range, ".0f")
    kind, who = ("start", "") if group is None else ("group start", f" of group {quoted(group)}")
    words = f"Newcomers{who} are {way} than the {initial:.0f} at which they start."
    return Finding(kind, words, f"Let them start at {where}.", 0.5 * abs(right.mean - initial))


def _starts_right(start: Shift, initial: float) -> bool:
    """Whether newcomers are known to start where they should."""
    return max(start.high - initial, initial - start.low) < RIGHT_START


def inflation_findings(inflation: RatingInflation, reference: str | None = None, *, hidden: bool) -> list[Finding]:
    """Where newcomers should start, and whether a rating is worth what it was; ``hidden`` where like meets like, so
    that ratings hardly leave where they start."""
    start, per_year, findings = inflation.start, inflation.per_year, []
    if start is not None and not hidden and not start.low <= inflation.initial <= start.high:
        findings.append(_start_finding(start, inflation.initial))
    if per_year is not None and not hidden and _inflates(per_year):
        way, size = _way(per_year, "less", "more", ".1f")
        beside = "" if reference is None else f", {_beside(reference)}"
        words = (
            f"A rating is worth {way} than it was: ratings {'rose' if per_year.mean > 0 else 'fell'} by {size} points "
            f"a year against strengths{beside}."
        )
        advice = "Do not compare ratings of different years; starts where newcomers belong keep a scale."
        findings.append(Finding("inflation", words, advice, abs(per_year.mean) * min(inflation.years, 4.0)))
    return findings


def _inflates(per_year: Shift) -> bool:
    """Whether ratings clearly rise or fall, by so much that it is worth a word."""
    return per_year.beyond_chance and abs(per_year.mean) >= LEAST_INFLATION


def inflation_words(inflation: RatingInflation, *, hidden: bool = False) -> list[str]:
    """What is found, a sentence each, and that nothing was where nothing is."""
    sentences = [f"{one.words} {one.advice}" for one in inflation_findings(inflation, hidden=hidden)]
    start, per_year = inflation.start, inflation.per_year
    if start is not None and _starts_right(start, inflation.initial):
        sentences.append(f"Newcomers start where they should: {with_interval(*start.range, '.0f')} is right.")
    if per_year is not None and not _inflates(per_year):
        size = with_interval(*per_year.range, "z.1f")
        sentences.append(
            f"No clear inflation: ratings of those who play changed by {size} points a year against their strengths."
        )
    return sentences


TOLD_BY_ONE_SIDE = ("Venue and draws", "Forecasts", "The table in use")
"""Lines that hold of an extract, all of whose matches are one side's."""


def rows_of(audit: Audit) -> Rows:
    """Name and words of every line on which the findings rest."""
    alike, first, inflation = audit.opponents.alike, audit.outlook.first, audit.inflation
    by_theory = with_interval(audit.curve.best.k, audit.curve.low, audit.curve.high)
    which = [f"by theory {by_theory}, by backtest {with_interval(audit.measured.best, *audit.measured.interval)}"]
    if alike:
        which.append("opponents are alike, which theory does not know: the backtest alone advises")
    if audit.league.ties > 0:
        which.append(K_UNIT)
    rows = [("Which K", "\n".join(which))]
    if ahead(audit):
        rows.append(("Matches to come", _to_come(audit)))
    rows.append(("Strengths", _strengths(audit)))
    if first is not None:
        rule = "a larger K for the first matches of a side"
        if first.gain.low > 0:
            rule += (
                f" ({first.words}) {change(first.gain)} on the later half, against K = {advised(audit).k:.3g} for all"
            )
        rows.append(("Newcomers", rule if first.gain.low > 0 else f"{rule} is not shown to help"))
    ties, home = audit.league.ties, audit.home
    venue = "no home"
    if not audit.matches.neutral.all():
        side = first_side(audit.matches.side_headers[0])
        venue = f"{side} is worth {with_error(home.today, home.error, '.0f')} points; forecasts add {home.in_use:.0f}"
    rows += [
        ("Opponents", _opponents(audit.opponents)),
        ("Venue and draws", f"{venue}; equal sides draw {100 * ties / (2 + ties):.0f} % of their matches"),
    ]
    if not (alike or audit.opponents.follows_results):  # the model of K takes pairing for random
        rows.append(("Ratings", _errors(audit)))
    if inflation is not None:
        # Nothing is shown of the growth of all.
        still = "Results do not show whether everybody grew stronger: sides that were there before are taken to stand "
        still += "still on average. A group that does can be named (--by, --reference)."
        if audit.reference is not None:
            still = f"Group {quoted(audit.reference)} is taken to stand still on average."
        rows.append(("Inflation", "\n".join([*inflation_words(inflation, hidden=alike), still])))
    rows += [("Best and worst", _extremes(audit.misrated)), ("Forecasts", _forecasts(audit))]
    if not alike:  # matches between equals say nothing of who is rated too high across the league
        few = ["too few matches to tell bands of ratings apart"]
        rows.append(("Strong and weak sides", "\n".join(_misratings(audit.bands) or few)))
    if audit.other is not None:
        rows.insert(0, (audit.other.name, _other(audit.other)))
    rows += [(f"Group {quoted(one.group)}", group_words(one, audit.reference)) for one in audit.groups]
    if (lineups := audit.performance) is not None:
        seen = f"{lineups.matches:,} matches"
        moved = f"{seen} do not show that line-ups move a side"
        if lineups.low > 0:
            moved = f"line-ups move a side by {lineups.low:.0f} points or more about its strength, from {seen}"
        rows.append(("Performances", moved))
    if (table := audit.ratings) is not None:
        rows.append(("The table in use", f"{table.sides} sides compared\n{_extremes(table.extremes)}"))
    # One side's matches say nothing of a league's K, nor of how far its sides lie apart.
    return rows if audit.extract is None else [row for row in rows if row[0] in TOLD_BY_ONE_SIDE]


def _to_come(audit: Audit) -> str:
    outlook = audit.outlook
    best = with_interval(outlook.k, outlook.low, outlook.high)
    sentence = f"from today's ratings on theory asks for K = {best} over {outlook.matches:,} matches"
    if outlook.finding_strengths:
        sentence += "\nIf these matches are a part of an older league, give the ratings at their beginning (--start)"
    return sentence


def _strengths(audit: Audit) -> str:
    moved = NO_MOVEMENT
    if audit.moves:
        moved = "move from match to match"
    if not audit.opponents.told:
        return f"{moved}; how far they lie apart these matches do not show"
    return f"lie ± {with_interval(*audit.opponents.spread, digits='.0f')} points apart and {moved}"


def _opponents(opponents: OpponentsFound) -> str:
    """How alike opponents are, how much of the differences ratings show, and whether luck decides who meets whom."""
    if not opponents.told:
        return "these matches do not show how alike they are, nor how much of the differences ratings show"
    kind = "like meets like" if opponents.alike else "not clearly chosen by strength"
    sentence = f"correlation of their strengths {with_interval(*opponents.correlation, digits='z.2f')}: {kind}"
    if opponents.share_shown.high - opponents.share_shown.low < WIDE_SHARE:
        after = f"after {opponents.matches:,.0f} matches of a side"
        sentence += f"; ratings show {_percents(opponents.share_shown)} of the differences {after}"
    if opponents.follows_results:
        sentence += "\nwho meets whom may follow results: intervals hold both answers"
    return sentence


def _errors(audit: Audit) -> str:
    """How far ratings are off by theory."""
    cases = [(f"K = {audit.best.k:.3g}", audit.best)]
    if audit.other is None:
        cases.insert(0, (audit.in_use.name, audit.now))
    return "; ".join(f"off by ± {math.sqrt(one.error):.0f} points at {name}" for name, one in cases)


def _extremes(sides: tuple[Misrated, ...]) -> str:
    """Whether the sides rated highest and lowest are rated right."""
    return "\n".join(
        f"{one.side}, rated {one.rating:+.0f}: "
        + (("too high" if one.off > 0 else "too low") if abs(one.off) > 2 * one.error else "right within chance")
        for one in (sides[0], sides[-1])
    )


def _forecasts(audit: Audit) -> str:
    slope, error = audit.slope
    if math.isnan(slope):
        return "results do not follow the forecasts at all"
    kind = "not clearly too bold or too timid"
    if abs(slope - 1) > max(2 * error, NEAR_ONE):
        kind = "too bold" if slope < 1 else "too timid"
    loss = audit.measured.at(audit.advice.k) + audit.tested.mean
    return (
        f"log-loss {loss:.4f} on the later half at {audit.in_use.name}; {kind}: slope of results on forecasts "
        f"{with_error(slope, error, '.3f')} (theory {audit.now.slope:.3f})"
    )


def _misratings(bands: tuple[Band, ...]) -> list[str]:
    """How far off the best and the weakest fifth are; nothing where there are too few matches for fifths."""
    return [
        f"the {name} fifth is {'under' if band.underrated > 0 else 'over'}rated by "
        f"{with_error(abs(band.underrated), band.error, '.0f')} points"
        if abs(band.underrated) > 2 * band.error
        else f"the {name} fifth is rated right within chance (± {band.error:.0f} points)"
        for name, band in (("best", bands[-1]), ("weakest", bands[0]))
    ] if len(bands) > 1 else []  # fmt: skip


def _other(other: OtherSystem) -> str:
    gap = other.difference
    words = (
        f"log-loss {other.log_loss:.4f}, {other.elo_log_loss:.4f} of Elo at K = {other.k:.3g}: a difference of "
        f"{with_interval(gap.mean, gap.low, gap.high, '+.4f')}"
    )
    if math.isfinite(other.slope[0]):
        words += f"; slope of results on its forecasts {with_error(*other.slope, '.3f')}"
    return "; ".join([words, *_misratings(other.bands)])


def group_words(group: GroupFound, reference: str | None = None) -> str:
    """Where a group enters, whether it grows stronger, whether its ratings inflate, and whether they are too high."""
    parts, beside = [f"{group.sides} sides" if group.sides != 1 else "1 side"], _beside(reference)
    if group.group == reference:
        parts.append("the others are held against it")
    if group.entry is not None:
        parts.append(f"newcomers belong at {with_interval(*group.entry.range, '.0f')}")
    for shift, up, down, words in (
        (group.gain, "grows stronger", "grows weaker", f"by {{}} points a year, {beside}"),
        (group.inflation, "its ratings rise", "its ratings fall", "against its strengths by {} points a year"),
        (group.bias, "is rated too high", "is rated too low", f"today by {{}} points, {beside}"),
    ):
        if shift is not None:
            way, size = _way(shift, up, down, "z.0f")
            parts.append(f"{way} {words.format(size)}{'' if shift.beyond_chance else ' (within chance)'}")
    return "; ".join(parts)


def contest_rows(audit: ContestAudit) -> Rows:
    """Name and words of every line on which the findings of contests rest."""
    alike, start, advice = audit.alike, audit.start, audit.advice
    kind = "like meets like" if audit.like_meets_like else "whether fields differ in strength is not clear"
    if alike.high < DIFFER:
        kind = "fields hardly differ in strength"
    new = "nobody was new in the later half"
    if start is not None:
        where = with_interval(*start.range, digits=".0f")
        initial = audit.in_use.rater.initial
        new = f"belong at {where}"
        if not start.low <= initial <= start.high:
            new = f"should start at {where}"
        elif _starts_right(start, initial):
            new = f"start where they should: {where} is right"
    rows = [] if audit.other is None else [(audit.other.name, _other(audit.other))]
    loss = f"log-loss of orders {audit.measured.at(advice.k):.4f}"
    rows += [
        ("Which K", f"by backtest {with_interval(advice.k, advice.low, advice.high)}; {loss}"),
        ("Strengths", "move over the years" if audit.moves else "show no clear movement"),
        ("Fields", f"of {np.median(audit.contests.sizes):.0f} entrants, usually; {kind}"),
        ("Newcomers", new),
    ]
    for column in dict.fromkeys(one.column for one in audit.luck):
        levels = sorted((one for one in audit.luck if one.column == column), key=lambda one: -one.factor)
        ways = (("more", [one for one in levels if one.low > 1]), ("less", [one for one in levels if one.high < 1]))
        clear = [f"{way} than usual at {', '.join(one.level for one in some)}" for way, some in ways if some]
        clear = [*clear, "plain Elo counts all alike, RankElo does not"] if clear else ["no level clearly differs"]
        rows.append((f"Luck by {column}", "; ".join(clear)))
    return rows
