"""An audit in words: the verdict, and one line for each finding. Every sentence follows from signed, tested numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kinelo.advice.audit.alike import MOST_SHOWN
from kinelo.advice.audit.backtest import Difference
from kinelo.advice.report import with_error, with_interval
from kinelo.advice.words import NEAR_ONE
from kinelo.matches.columns import first_side
from kinelo.presentation import percent, quoted

if TYPE_CHECKING:
    from kinelo.advice.audit.alike import OpponentsFound
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
BEYOND_WAITING = 100_000.0
"""Matches of a side that no league plays."""
BOUNDLESS = 16.0
"""An interval whose ends lie this factor apart has no lower end: no K is too small."""


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


def gain_words(audit: Findings) -> tuple[str, str]:
    """The best K, and beside it how sure that is and what moving there buys; of a system with a K."""
    past, outlook = audit.advice, audit.outlook
    ways = f"{audit.curve.best.k:.3g} by theory, {audit.measured.best:.3g} by backtest"
    interval = f"95 %: {past.low:.3g} to {past.high:.3g}; {ways}"
    best, why, moving = f"Best K = {past.k:.3g}", f"({interval}).", f"Moving there from {audit.k:.3g} takes"
    if outlook.differs:
        best = f"Best K from today on = {outlook.k:.3g}"
        from_now = f"95 %: {outlook.low:.3g} to {outlook.high:.3g}"
        why = f"({from_now}). The matches of the past wanted K = {past.k:.3g} ({interval})."
        moving = f"K = {past.k:.3g} would have taken"
    before, after = (math.sqrt(max(one.error, 0.0)) for one in (audit.now, audit.best))
    by_theory = change(audit.now.log_loss - audit.curve.at(past.k))
    if audit.opponents.hidden:
        # The model of K takes pairing for random: of errors it knows too little there.
        later = change(audit.tested.gain)
        return best, f"{why} By theory {past.k:.3g} {by_theory}, and on the later half of the matches it {later}."
    return best, (
        f"{why} {moving} the error of a rating from ± {before:.0f} to ± {after:.0f} points; by theory it {by_theory}, "
        f"and on the later half of the matches it {change(audit.tested.gain)}."
    )


SECTIONS = (
    ("Which K", ("Which K", "Matches to come")),
    ("The league", ("Strengths", "Opponents", "Venue and draws", "Newcomers", "Inflation")),
    ("Ratings", ()),
    ("Groups", ()),
    ("Sides and forecasts", ("Best and worst", "Forecasts", "Strong and weak sides", "The table in use")),
)
"""Headings, and the lines below each; every other line stands under Ratings."""


TOLD_BY_ONE_SIDE = ("Venue and draws", "Forecasts", "The table in use")
"""Lines that hold of an extract, all of whose matches are one side's."""


def sections_of(audit: Findings) -> list[tuple[str, list[tuple[str, str]]]]:
    """Every line under its heading."""
    home = {name: heading for heading, names in SECTIONS for name in names}
    rows = rows_of(audit)
    for name, _ in rows:
        home.setdefault(name, "Groups" if name.startswith("Group ") else "Ratings")
    sections = [(heading, [row for row in rows if home[row[0]] == heading]) for heading, _ in SECTIONS]
    return [(heading, lines) for heading, lines in sections if lines]


def rows_of(audit: Findings) -> list[tuple[str, str]]:
    """Name and finding of every line."""
    best = f"K = {audit.best.k:.3g}"
    rows = [
        ("Which K", _which(audit)),
        ("Matches to come", _to_come(audit)),
        ("Strengths", _strengths(audit)),
        ("Opponents", opponents_words(audit.opponents)),
        ("Venue and draws", _venue(audit)),
        *([(f"Ratings at {audit.in_use.name}", _errors(audit, audit.now))] if audit.other is None else []),
        (f"Ratings at {best}", _errors(audit, audit.best)),
        ("Lag", _lag(audit)),
        ("Newcomers", _newcomers(audit)),
        *([] if audit.inflation is None else [("Inflation", "\n".join(inflation_words(audit.inflation)))]),
        ("Best and worst", _extremes(audit.misrated)),
        ("Forecasts", _forecasts(audit)),
        # Matches between equals say nothing of who is rated too high across the league.
        *([] if audit.opponents.hidden else [("Strong and weak sides", _bands(audit))]),
    ]
    if audit.other is not None:
        rows.insert(0, (audit.other.name, _other(audit.other)))
    rows += [(f"Group {quoted(one.group)}", group_words(one)) for one in audit.groups]
    if audit.ratings is not None:
        rows.append(("The table in use", _table(audit)))
    # One side's matches say nothing of a league's K, nor of how far its sides lie apart.
    return rows if audit.extract is None else [row for row in rows if row[0] in TOLD_BY_ONE_SIDE]


def group_words(found: GroupFound) -> str:
    """Where a group enters, whether it grows stronger, whether its ratings inflate, and whether they are too high."""
    parts = [f"{found.sides} sides" if found.sides != 1 else "1 side"]
    if found.entry is not None:
        parts.append(f"should start at {with_interval(found.entry.mean, found.entry.low, found.entry.high, '.0f')}")
    if found.gain is not None:
        parts.append(_signed(found.gain, "grows stronger", "grows weaker", "by {} points a year, next to all sides"))
    if found.inflation is not None:
        parts.append(
            _signed(
                found.inflation, "its ratings rise", "its ratings fall", "against its strengths by {} points a year"
            )
        )
    if found.bias is not None:
        parts.append(
            _signed(found.bias, "is rated too high", "is rated too low", "today by {} points, next to all sides")
        )
    return "; ".join(parts)


def _signed(one: Shift, up: str, down: str, size: str) -> str:
    """Which way, by how much with the interval, and whether chance explains it."""
    sign = math.copysign(1.0, one.mean)
    low, high = sorted((sign * one.low, sign * one.high))
    chance = "" if one.beyond_chance else " (within chance)"
    return f"{up if sign > 0 else down} {size.format(with_interval(abs(one.mean), low, high, 'z.0f'))}{chance}"


def _which(audit: Findings) -> str:
    (low, high), curve, measured = audit.measured.interval, audit.curve, audit.measured
    lost = measured.at(curve.best.k) - measured.at(measured.best)
    sentence = (
        f"by theory {with_interval(curve.best.k, curve.low, curve.high)}, by backtest {measured.best:.3g} "
        f"({low:.3g} to {high:.3g}; theory's K loses {max(lost, 0.0):.5f} against it)"
    )
    better, gain = audit.tested.better, audit.tested.better_gain
    if better is not None and gain is not None and audit.tested.gain.low <= 0:
        sentence += f"\nthe surest step is to K = {better:.3g}, which {change(gain)}"
    if audit.league.ties > 0:
        sentence += f"\n{K_UNIT}"
    return sentence


def _to_come(audit: Findings) -> str:
    outlook = audit.outlook
    if not outlook.differs:
        return (
            f"want about the K of the past: from today's ratings on theory asks for {outlook.future:.3g} over "
            f"{outlook.matches:,} matches, where it asks for {outlook.past:.3g} of the past; in 95 % of replays the "
            f"K that proves best lies between {outlook.low:.3g} and {outlook.high:.3g}"
        )
    best = with_interval(outlook.k, outlook.low, outlook.high)
    gain = "" if outlook.gain is None or audit.k is None else f", and {change(outlook.gain)} by theory"
    remedies = [f"{one.words} {change(one.gain)} on the later half" for one in outlook.remedies]
    said = f"from today's ratings on K = {best} is best over {outlook.matches:,} matches{gain}"
    if remedies:
        said += f"\nAgainst {audit.in_use.name}, " + ";\n".join(remedies)
        said += "\nIf these matches are a part of an older league, give the ratings at their beginning (start=)"
    return said


def _strengths(audit: Findings) -> str:
    if not audit.moves:
        moved = "show no movement beyond chance"
    else:
        half = math.log(2) / audit.rate if audit.rate > 0 else math.inf
        lost = f"; half of a lead is lost within {half:,.0f} matches" if half <= _matches_of_a_side(audit) else ""
        moved = f"move by ± {audit.step:.1f} from one match of a side to its next{lost}"
    entering = "" if audit.opponents.alike else f"; {_entering(audit)}"
    low, high = audit.opponents.spread_range
    apart = f"± {audit.spread:.0f} points apart{f' ({low:.0f} to {high:.0f})' if audit.opponents.alike else ''}"
    return f"lie {apart} and {moved}{entering}"


def opponents_words(found: OpponentsFound) -> str:
    """How alike opponents are, how much of the differences ratings show, and what it takes to show most of them."""
    alike, share = found.correlation, found.share_shown
    kind = "like meets like" if found.alike else "they are hardly chosen by strength"
    shown = f"{100 * min(max(share.value, 0.0), 1.0):.0f} %"
    sentence = (
        f"correlation of their strengths {with_interval(alike.value, alike.low, min(alike.high, 1.0), '.2f')}: {kind}; "
        f"ratings show {shown} ({100 * max(share.low, 0.0):.0f} to {100 * share.high:.0f}) of the true differences "
        f"after {found.matches:,.0f} matches of a side"
    )
    if share.value < MOST_SHOWN:
        sentence += f"; from a common start nine tenths take {matches_words(found.matches_needed)}"
    if found.at_least:
        sentence += (
            "\nAmong opponents as alike as these the true differences may be larger than found, up to twice: where "
            "strengths move, pairing follows them, and results alone do not show it. The interval of the strengths' "
            "spread allows for that"
        )
    return sentence


def matches_words(matches: float) -> str:
    """A number of matches of a side, rounded as far as it is known."""
    if not math.isfinite(matches) or matches >= BEYOND_WAITING:
        return f"more than {BEYOND_WAITING:,.0f} matches of a side"
    digits = 10 ** max(math.floor(math.log10(max(matches, 1.0))) - 1, 0)
    return f"about {math.ceil(matches / digits) * digits:,.0f} matches of a side"


def _matches_of_a_side(audit: Findings) -> float:
    """Matches of the average side: what takes longer was not seen."""
    return 2.0 * len(audit.matches) / len(audit.matches.teams)


def _entering(audit: Findings) -> str:
    """Where newcomers lie, and how far apart; their mean where it differs beyond chance."""
    estimates = audit.league.parameters
    error = audit.league.standard_errors.get("newcomer_level")
    level = estimates.newcomer_level
    if error is None:
        return f"at first sides differed by ± {estimates.newcomer_spread:.0f}"
    if abs(level) < 2 * error:
        return f"newcomers differ by ± {estimates.newcomer_spread:.0f} about the mean of the league (± {error:.0f})"
    way = "above" if level > 0 else "below"
    return (
        f"newcomers lie {with_error(abs(level), error, '.0f')} points {way} the mean of the league and differ by "
        f"± {estimates.newcomer_spread:.0f}"
    )


def _venue(audit: Findings) -> str:
    ties, home = audit.league.ties, audit.home
    draws = f"equal sides draw {100 * ties / (2 + ties):.0f} % of their matches"
    if audit.matches.neutral.all():
        return f"no home; {draws}"
    worth_it = home.gain > UNNOTICED_LOSS
    moved = f" today, {home.first:.0f} at first" if worth_it and abs(home.today - home.first) > MOVED else ""
    follow = f", and following it {change(home.gain)} by theory" if worth_it else ""
    first = first_side(audit.matches.side_headers[0])
    return f"{first} is worth {home.today:.0f} points{moved}; forecasts add {home.in_use:.0f}{follow}; {draws}"


def _errors(audit: Findings, one: Prediction) -> str:
    if audit.opponents.hidden:
        # As in gain_words; how far ratings are off, the line on opponents says.
        return f"expected log-loss {one.log_loss:.4f}"
    # Shares of the squared error; the newcomers' part is approximate and can be negative.
    parts = [("luck of results", one.luck), ("unknown starts", max(one.newcomers, 0.0))]
    rest = max(one.error - sum(part for _, part in parts), 0.0)
    said = [f"{100 * part / max(one.error, 1e-9):.0f} % {name}" for name, part in [*parts, ("lag", rest)]]
    return (
        f"off by ± {math.sqrt(one.error):.0f} points; the squared error is {', '.join(said[:-1])} and {said[-1]}; "
        f"expected log-loss {one.log_loss:.4f}"
    )


def _lag(audit: Findings) -> str:
    alone = ", if its opponents stay where they are" if audit.opponents.alike else ""
    return f"a rating has followed 63 % of a change of strength after {audit.memory:.0f} matches of the side{alone}"


def _newcomers(audit: Findings) -> str:
    said = f"right after about {audit.newcomer_matches:.0f} matches: by then the start is lost in the usual error"
    if audit.opponents.hidden:
        said = "enter at one rating and meet their like, so that their ratings hardly leave it"
    elif audit.newcomer_matches < 1:
        said = "start no further off than ratings usually are"
    first = audit.outlook.first
    if first is None:
        return said
    rule = f"a larger K for the first matches of a side ({first.words})"
    if first.gain.low <= 0:
        rule += " is not shown to help: it"
    return f"{said}; {rule} {change(first.gain)} on the later half, against K = {audit.outlook.k:.3g} for all"


def inflation_words(found: RatingInflation) -> list[str]:
    """Whether a rating is worth what it was, where newcomers should start, and what entries and exits do."""
    sentences, per_year, start, back = [], found.per_year, found.start, found.returning
    if per_year is None:
        sentences.append("too few sides play to tell whether a rating is worth what it was")
    else:
        digits = "z.0f" if max(abs(per_year.low), abs(per_year.high)) >= 10 else "z.1f"
        size = with_interval(per_year.mean, per_year.low, per_year.high, digits)
        worth = f"against their strengths, ratings of those who play changed by {size} points a year"
        if per_year.beyond_chance:
            worth = f"a rating is worth {'less' if per_year.mean > 0 else 'more'} than it was: {worth}"
        else:
            worth = f"a rating is worth what it was, within chance: {worth}"
        sentences.append(worth)
    if start is not None:
        where = with_interval(start.mean, start.low, start.high, ".0f")
        off = start.low > found.initial or start.high < found.initial
        sentences.append(
            f"newcomers should start at {where}, not at {found.initial:.0f}"
            if off
            else f"newcomers start where they should: at {found.initial:.0f}, where {where} is right"
        )
    gain = found.gain
    if gain is not None and gain.beyond_chance:
        way = "stronger" if gain.mean > 0 else "weaker"
        sentences.append(
            f"newcomers grow {with_error(abs(gain.mean), gain.error, '.0f')} points a year {way}, next to sides that "
            "were there before"
        )
    if back is not None and back.beyond_chance:
        way = "higher" if back.mean > 0 else "lower"
        sentences.append(
            f"sides that come back after a season or more should start {with_error(abs(back.mean), back.error, '.0f')} "
            f"points {way} than they left"
        )
    if per_year is not None and per_year.beyond_chance:
        flows = [("entries", found.entries), ("exits", found.exits)]
        moved = [
            f"{name} {'bring' if size > 0 else 'take'} {abs(size):.0f}" for name, size in flows if abs(size) >= 0.5
        ]
        if moved:
            sentences.append(f"per active side {' and '.join(moved)} points a year")
    return sentences


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
    loss = audit.measured.at(audit.advice.k) + audit.tested.gain.mean
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
