"""An audit in words: findings with what to do, and one line for all that they rest on.

Every sentence follows from signed, tested numbers; ``verification/audit_sentences.py`` counts how often each is true.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from kinelo.advice.audit.alike import HARDLY_SHOWN
from kinelo.advice.audit.backtest import Difference
from kinelo.advice.report import with_error, with_interval
from kinelo.advice.words import NEAR_ONE
from kinelo.matches.columns import first_side
from kinelo.presentation import percent, quoted

if TYPE_CHECKING:
    from kinelo.advice.audit.alike import OpponentsFound, Range
    from kinelo.advice.audit.findings import Advice, Findings
    from kinelo.advice.audit.groups import GroupFound
    from kinelo.advice.audit.in_use import OtherSystem
    from kinelo.advice.audit.inflation import RatingInflation, Shift
    from kinelo.advice.audit.inputs import Misrated
    from kinelo.advice.audit.performance import Performance
    from kinelo.advice.audit.recovered import Recovered
    from kinelo.advice.audit.recursion import Prediction

UNNOTICED_LOSS = 0.0002
"""A difference in log-loss that nobody would notice."""
MOVED = 5.0
"""Points by which a home advantage must have changed, or be off, to be worth a word."""
K_UNIT = (
    "K is that of steps K (result - expected points), with expected points 1/(1 + 10^(-gap/400)) and a draw as half"
)
BOUNDLESS = 16.0
"""An interval whose ends lie this factor apart has no lower end: no K is too small."""
MOST_FINDINGS = 6
RIGHT_START = 40.0
"""Points within which the whole interval must lie for a start to be called right."""
FIRST_STEPS = 30.0
"""Points that better first steps are taken to be worth, which are measured in log-loss."""
LEAST_INFLATION = 3.0
"""Points a year that are worth a word."""
HOW_WE_KNOW = "How we know"


class Finding(NamedTuple):
    """Something to know of a league, what to do about it, and points that a usual side is off by for it."""

    kind: str
    words: str
    advice: str
    weight: float


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
    if isinstance(saved, Difference) and max(abs(saved.low), abs(saved.high)) >= 0.00005:
        low, high = sorted((sign * saved.low, sign * saved.high))
        bounds = f" ({low:z.4f} to {high:z.4f})"
    if abs(mean) < 0.00005:
        return f"leaves the log-loss as it is{bounds}"
    return f"{'lowers' if mean > 0 else 'raises'} the log-loss by {abs(mean):.4f}{bounds}"


def ahead(audit: Findings) -> bool:
    """Whether the matches to come clearly want another K than the past did, and the quarters of the past agree.

    A rule of K has no one number that could be compared with what the matches to come want. Where like meets like the
    backtest alone advises, and theory knows too little of newcomers who start off their strengths or grow.
    """
    advice, outlook, periods = audit.advice, audit.outlook, audit.periods
    if not (advice.agree and advice.telling and outlook.differs) or audit.opponents.alike:
        return False
    found = audit.inflation
    if found is not None and found.start is not None:
        grow = found.gain is not None and found.gain.beyond_chance
        if grow or not _starts_right(found.start, found.initial):
            return False
    same_way = (periods[-1].measured < periods[0].measured) == (outlook.future < outlook.past)
    return same_way and (audit.k is not None or outlook.finding_strengths)


def gain_words(audit: Findings) -> tuple[str, str]:
    """The best K, and beside it how sure that is and what moving there buys; of a system with a K."""
    past, outlook = audit.advice, audit.outlook
    ways = f"{audit.curve.best.k:.3g} by theory, {audit.measured.best:.3g} by backtest"
    best, why = f"Best K = {past.k:.3g}", f"(95 %: {past.low:.3g} to {past.high:.3g}; {ways})."
    if ahead(audit):
        best, past_why = f"Best K from today on = {outlook.k:.3g}", why
        why = f"(95 %: {outlook.low:.3g} to {outlook.high:.3g}). The past wanted K = {past.k:.3g} {past_why}"
    return best, f"{why} On the later half of the matches {past.k:.3g} {change(audit.tested)}."


def findings_of(audit: Findings) -> list[Finding]:
    """At most six, the most useful first."""
    if audit.extract is not None:
        return []
    found = [*_hidden(audit), *_of_groups(audit), *_home(audit), *_first_steps(audit)]
    if audit.inflation is not None:
        found += inflation_findings(audit.inflation, audit.reference, hidden=audit.opponents.alike)
    return sorted(found, key=lambda one: -one.weight)[:MOST_FINDINGS]


def _hidden(audit: Findings) -> list[Finding]:
    """That ratings show little of the differences where like meets like, and which K, if any, would show most."""
    found, measured = audit.opponents, audit.measured
    if not found.hidden:
        return []
    share = found.share_shown
    words = f"Opponents are alike, and ratings show only {_percents(share)} of the real differences between sides."
    played = {k: one for k, one in found.shown_by.items() if measured.difference(k, measured.best).low <= 0}
    k, most = max(played.items(), key=lambda pair: pair[1], default=(measured.best, share.value))
    advice = f"Played on these matches, K = {k:.3g} shows {percent(min(most, 1.0))} and forecasts no worse"
    if most < HARDLY_SHOWN:
        advice += (
            ", and no K shows more that does. Start from the strengths that all matches show "
            "(start=found.starting_list), or use a rater that knows sides together (KalmanElo, BradleyTerry)"
        )
    return [Finding("hidden", words, f"{advice}.", (1 - share.value) * found.spread.value)]


def _percents(share: Range) -> str:
    """A share with its interval."""
    return f"{percent(share.value)} ({100 * share.low:.0f} to {100 * share.high:.0f})"


def _of_groups(audit: Findings) -> list[Finding]:
    """Groups that are rated too high or too low beyond chance."""
    found, sides, beside = [], len(audit.matches.teams), _beside(audit.reference)
    for one in audit.groups:
        if one.bias is None or not one.bias.beyond_chance:
            continue
        share, (way, low, high) = math.sqrt(one.sides / max(sides, 1)), _way(one.bias, "high", "low")
        words = (
            f"Sides of group {quoted(one.group)} are rated {abs(one.bias.mean):.0f} points too {way} ({low:.0f} to "
            f"{high:.0f}), {beside}."
        )
        advice = f"Move their ratings {'down' if way == 'high' else 'up'} once"
        if one.entry is not None:
            advice += f", let their newcomers start at {one.entry.mean:.0f}"
        if one.gain is not None and one.gain.beyond_chance:
            advice += ", and give them a larger K"
        found.append(Finding("group bias", words, f"{advice}.", share * abs(one.bias.mean)))
    return found


def _beside(reference: str | None) -> str:
    """What a group is held against."""
    return "next to all sides" if reference is None else f"next to group {quoted(reference)}"


def _way(one: Shift, up: str, down: str) -> tuple[str, float, float]:
    """Which way a number goes, and the ends of its interval that way."""
    sign = math.copysign(1.0, one.mean)
    low, high = sorted((sign * one.low, sign * one.high))
    return (up if sign > 0 else down), low, high


def _home(audit: Findings) -> list[Finding]:
    """That the system adds another home advantage than there is."""
    home = audit.home
    off = abs(home.today - home.in_use)
    if home.gain <= UNNOTICED_LOSS or off <= max(MOVED, 2 * home.error) or audit.matches.neutral.all():
        return []
    first = first_side(audit.matches.side_headers[0]).capitalize()
    words = f"{first} is worth {home.today:.0f} points today; the system adds {home.in_use:.0f}."
    return [Finding("home", words, f"Add {home.today:.0f}.", off)]


def _first_steps(audit: Findings) -> list[Finding]:
    """That a larger K for the first matches of a side has forecast clearly better."""
    first = audit.outlook.first
    if first is None or first.gain.low <= UNNOTICED_LOSS:
        return []
    words = f"A larger K for the first matches of a side forecasts better than K = {audit.outlook.k:.3g} for all."
    return [Finding("first steps", words, f"Take {first.words}.", FIRST_STEPS)]


def _newcomers(audit: Findings) -> list[tuple[str, str]]:
    """What a larger K for the first matches of a side does on the later half."""
    first = audit.outlook.first
    if first is None:
        return []
    rule = f"a larger K for the first matches of a side ({first.words})"
    if first.gain.low <= 0:
        rule += " is not shown to help: it"
    words = f"{rule} {change(first.gain)} on the later half, against K = {audit.outlook.k:.3g} for all"
    return [("Newcomers", words)]


def inflation_findings(found: RatingInflation, reference: str | None = None, *, hidden: bool = False) -> list[Finding]:
    """Where newcomers should start, and whether a rating is worth what it was; ``hidden`` where like meets like, so
    that ratings hardly leave where they start."""
    start, per_year, findings = found.start, found.per_year, []
    if start is not None and not hidden and _starts_off(found):
        where = with_interval(start.mean, start.low, start.high, ".0f")
        way = "stronger" if start.mean > found.initial else "weaker"
        words = f"Newcomers are {way} than the {found.initial:.0f} at which they start."
        off = 0.5 * abs(start.mean - found.initial)
        findings.append(Finding("start", words, f"Let them start at {where}.", off))
    if not hidden and _inflates(per_year):
        assert per_year is not None
        way, low, high = _way(per_year, "less", "more")
        beside = "" if reference is None else f", {_beside(reference)}"
        words = (
            f"A rating is worth {way} than it was: ratings {'rose' if per_year.mean > 0 else 'fell'} by "
            f"{abs(per_year.mean):.1f} ({low:.1f} to {high:.1f}) points a year against strengths{beside}."
        )
        advice = "Do not compare ratings of different years; starts where newcomers belong keep a scale."
        findings.append(Finding("inflation", words, advice, abs(per_year.mean) * min(found.years, 4.0)))
    return findings


def _starts_right(start: Shift, initial: float) -> bool:
    """Whether newcomers are known to start where they should."""
    return max(start.high - initial, initial - start.low) < RIGHT_START


def _starts_off(found: RatingInflation) -> bool:
    """Whether newcomers clearly start elsewhere than they should."""
    return found.start is not None and (found.start.low > found.initial or found.start.high < found.initial)


def inflation_words(found: RatingInflation, *, hidden: bool = False) -> list[str]:
    """What is found, a sentence each, and that nothing was where nothing is."""
    said = [f"{one.words} {one.advice}" for one in inflation_findings(found, hidden=hidden)]
    start, per_year = found.start, found.per_year
    if start is not None and _starts_right(start, found.initial):
        said.append(
            f"Newcomers start where they should: {start.mean:.0f} ({start.low:.0f} to {start.high:.0f}) is right."
        )
    if per_year is not None and not _inflates(per_year):
        size = with_interval(per_year.mean, per_year.low, per_year.high, "z.1f")
        said.append(f"Ratings of those who play changed by {size} points a year against their strengths: not clearly.")
    return said


def _inflates(per_year: Shift | None) -> bool:
    """Whether ratings clearly rise or fall, by so much that it is worth a word."""
    return per_year is not None and per_year.beyond_chance and abs(per_year.mean) >= LEAST_INFLATION


TOLD_BY_ONE_SIDE = ("Venue and draws", "Forecasts", "The table in use")
"""Lines that hold of an extract, all of whose matches are one side's."""


def sections_of(audit: Findings) -> list[tuple[str, list[tuple[str, str]]]]:
    """What to do, a line for each finding, and how we know."""
    found = findings_of(audit)
    to_do = [(str(n), f"{one.words} {one.advice}") for n, one in enumerate(found, 1)]
    return [*([("What to do", to_do)] if to_do else []), (HOW_WE_KNOW, rows_of(audit))]


def rows_of(audit: Findings) -> list[tuple[str, str]]:
    """Name and words of every line on which the findings rest."""
    rows = [
        ("Which K", _which(audit)),
        # Theory does not know that opponents are alike.
        *([] if audit.opponents.alike else [("Matches to come", _to_come(audit))]),
        ("Strengths", _strengths(audit)),
        *_newcomers(audit),
        ("Opponents", opponents_words(audit.opponents)),
        ("Venue and draws", _venue(audit)),
        ("Ratings", _ratings(audit)),
        *([] if audit.inflation is None else [("Inflation", _worth(audit))]),
        ("Best and worst", _extremes(audit.misrated)),
        ("Forecasts", _forecasts(audit)),
        # Matches between equals say nothing of who is rated too high across the league.
        *([] if audit.opponents.alike else [("Strong and weak sides", _bands(audit))]),
    ]
    if audit.other is not None:
        rows.insert(0, (audit.other.name, _other(audit.other)))
    rows += [(f"Group {quoted(one.group)}", group_words(one, audit.reference)) for one in audit.groups]
    if audit.ratings is not None:
        rows.append(("The table in use", _table(audit)))
    # One side's matches say nothing of a league's K, nor of how far its sides lie apart.
    return rows if audit.extract is None else [row for row in rows if row[0] in TOLD_BY_ONE_SIDE]


def _worth(audit: Findings) -> str:
    """What became of the worth of a rating, and beside what; nothing is shown of the growth of all."""
    assert audit.inflation is not None
    said = inflation_words(audit.inflation, hidden=audit.opponents.alike)
    if audit.reference is None:
        said.append(
            "Results do not show whether everybody grew stronger: sides that were there before are taken to stand "
            "still on average. A group that does can be named (--by, --reference)."
        )
    else:
        said.append(f"Group {quoted(audit.reference)} is taken to stand still on average.")
    return "\n".join(said)


def group_words(found: GroupFound, reference: str | None = None) -> str:
    """Where a group enters, whether it grows stronger, whether its ratings inflate, and whether they are too high."""
    parts, beside = [f"{found.sides} sides" if found.sides != 1 else "1 side"], _beside(reference)
    if found.group == reference:
        parts.append("the others are held against it")
    if found.entry is not None:
        parts.append(f"newcomers belong at {with_interval(found.entry.mean, found.entry.low, found.entry.high, '.0f')}")
    if found.gain is not None:
        parts.append(_signed(found.gain, "grows stronger", "grows weaker", f"by {{}} points a year, {beside}"))
    if found.inflation is not None:
        parts.append(
            _signed(
                found.inflation, "its ratings rise", "its ratings fall", "against its strengths by {} points a year"
            )
        )
    if found.bias is not None:
        parts.append(_signed(found.bias, "is rated too high", "is rated too low", f"today by {{}} points, {beside}"))
    return "; ".join(parts)


def _signed(one: Shift, up: str, down: str, size: str) -> str:
    """Which way, by how much with the interval, and whether chance explains it."""
    way, low, high = _way(one, up, down)
    chance = "" if one.beyond_chance else " (within chance)"
    return f"{way} {size.format(with_interval(abs(one.mean), low, high, 'z.0f'))}{chance}"


def _which(audit: Findings) -> str:
    (low, high), curve, measured = audit.measured.interval, audit.curve, audit.measured
    sentence = (
        f"by theory {with_interval(curve.best.k, curve.low, curve.high)}, by backtest {measured.best:.3g} "
        f"({low:.3g} to {high:.3g})"
    )
    if audit.opponents.alike:
        sentence += "\nopponents are alike, which theory does not know: the backtest alone advises"
    if audit.league.ties > 0:
        sentence += f"\n{K_UNIT}"
    return sentence


def _to_come(audit: Findings) -> str:
    outlook = audit.outlook
    best = with_interval(outlook.k, outlook.low, outlook.high)
    said = f"from today's ratings on theory asks for K = {best} over {outlook.matches:,} matches"
    if outlook.remedies:
        remedies = [f"{one.words} {change(one.gain)} on the later half" for one in outlook.remedies]
        said += f"\nAgainst {audit.in_use.name}, " + ";\n".join(remedies)
        said += "\nIf these matches are a part of an older league, give the ratings at their beginning (start=)"
    return said


def _strengths(audit: Findings) -> str:
    spread = audit.opponents.spread
    moved = "show no movement beyond chance"
    if audit.moves:
        half = math.log(2) / audit.rate if audit.rate > 0 else math.inf
        # What takes longer than the matches of a side was not seen.
        seen = half <= 2.0 * len(audit.matches) / len(audit.matches.teams)
        lost = f"; half of a lead is lost within {half:,.0f} matches" if seen else ""
        moved = f"move by ± {audit.step:.1f} from one match of a side to its next{lost}"
    return f"lie ± {with_interval(spread.value, spread.low, spread.high, '.0f')} points apart and {moved}"


def opponents_words(found: OpponentsFound) -> str:
    """How alike opponents are, how much of the differences ratings show, and whether luck decides who meets whom."""
    alike, share = found.correlation, found.share_shown
    if not found.told:
        return "these matches do not show how alike they are, nor how much of the differences ratings show"
    kind = "like meets like" if found.alike else "not clearly chosen by strength"
    sentence = (
        f"correlation of their strengths {with_interval(alike.value, alike.low, alike.high, 'z.2f')}: {kind}; ratings "
        f"show {_percents(share)} of the differences after {found.matches:,.0f} matches of a side"
    )
    if found.shown_by:
        sentence += "; played at other K: " + ", ".join(
            f"{percent(one)} at {k:.3g}" for k, one in found.shown_by.items()
        )
    if found.follows_results:
        sentence += "\nwho meets whom follows results, so that intervals hold two answers"
    return sentence


def _venue(audit: Findings) -> str:
    ties, home = audit.league.ties, audit.home
    draws = f"equal sides draw {100 * ties / (2 + ties):.0f} % of their matches"
    if audit.matches.neutral.all():
        return f"no home; {draws}"
    first = first_side(audit.matches.side_headers[0])
    return f"{first} is worth {home.today:.0f} points; forecasts add {home.in_use:.0f}; {draws}"


def _ratings(audit: Findings) -> str:
    """How far ratings are off by theory, and why; where like meets like the model of K knows too little of errors."""
    cases = [(f"K = {audit.best.k:.3g}", audit.best)]
    if audit.other is None:
        cases.insert(0, (audit.in_use.name, audit.now))
    if audit.opponents.alike:
        return "; ".join(f"expected log-loss {one.log_loss:.4f} at {name}" for name, one in cases)
    return "\n".join(f"at {name} {_error(one)}" for name, one in cases)


def _error(one: Prediction) -> str:
    # Shares of the squared error; the newcomers' part is approximate and can be negative.
    parts = [("luck of results", one.luck), ("unknown starts", max(one.newcomers, 0.0))]
    rest = max(one.error - sum(part for _, part in parts), 0.0)
    said = [f"{100 * part / max(one.error, 1e-9):.0f} % {name}" for name, part in [*parts, ("lag", rest)]]
    return (
        f"off by ± {math.sqrt(one.error):.0f} points; the squared error is {', '.join(said[:-1])} and {said[-1]}; "
        f"expected log-loss {one.log_loss:.4f}"
    )


def _extremes(sides: tuple[Misrated, ...]) -> str:
    return "\n".join(
        f"{one.side}: rated {one.rating:+.0f}, strength {one.strength:+.0f} ± {one.error:.0f}, "
        + (
            f"so {abs(one.off):.0f} too {'high' if one.off > 0 else 'low'}"
            if abs(one.off) > 2 * one.error
            else "so right within chance"
        )
        for one in (sides[0], sides[-1])
    )


def _forecasts(audit: Findings) -> str:
    slope, error = audit.slope
    if math.isnan(slope):
        return "results do not follow the forecasts at all"
    kind = "calibrated" if abs(slope - 1) < max(2 * error, NEAR_ONE) else ("too bold" if slope < 1 else "too timid")
    loss = audit.measured.at(audit.advice.k) + audit.tested.mean
    return (
        f"log-loss {loss:.4f} on the later half at {audit.in_use.name}; {kind}: slope of results on forecasts "
        f"{with_error(slope, error, '.3f')} (theory {audit.now.slope:.3f})"
    )


def _misratings(bands: tuple) -> list[str]:
    return [
        f"the {name} fifth is {'under' if one.underrated > 0 else 'over'}rated by "
        f"{with_error(abs(one.underrated), one.error, '.0f')} points"
        if abs(one.underrated) > 2 * one.error
        else f"the {name} fifth is rated right within chance (± {one.error:.0f} points)"
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
    ratings = audit.ratings
    assert ratings is not None
    honest = (
        ""
        if ratings.deviation_ratio is None
        else (f"; stated deviations explain {100 / max(ratings.deviation_ratio, 1e-9):.0f} % of the squared errors")
    )
    return (
        f"{ratings.sides} sides compared: off by ± {ratings.error:.0f} points, slope on strengths "
        f"{ratings.slope:.2f}{honest}\n" + _extremes(ratings.extremes)
    )


def performance_words(found: Performance, both: Recovered) -> list[str]:
    """What line-ups tell of performances, and what recovering strengths does to strong and weak sides."""
    sentences = [
        f"Performances: line-ups move a side by ± {found.spread:.0f} points ({found.low:.0f} to {found.high:.0f}) "
        f"about its strength, from {found.matches:,} matches; by chance alone as much in "
        f"{percent(found.p_value, 1)} of leagues."
    ]
    for name, place in (("best", -1), ("weakest", 0)):
        before, after = both.before[place], both.after[place]
        sentences.append(
            f"The {name} fifth: rated too low by {before.underrated:+.0f} ± {before.error:.0f} points, and by "
            f"{after.underrated:+.0f} ± {after.error:.0f} once strengths are recovered; slope {before.slope:.2f} ± "
            f"{before.slope_error:.2f}, then {after.slope:.2f} ± {after.slope_error:.2f}."
        )
    return sentences
