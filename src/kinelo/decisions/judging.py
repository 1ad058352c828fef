"""Judges whose answers do not follow who is compared: at random, always the first, or the opposite.

With ``g`` the difference in strength that all votes show, a judge who decides takes the first with chance
``1/(1 + e^{−2(λg + b)})``: how often he decides, and a liking ``b`` for one side, are his own. The hypothesis that his
answers follow at least part of what those of all do, ``λ ≥ λ₀``, stands against ``λ = 0``. Given how many of a
block of votes he gave to the first, ``b`` is gone, and ``E = P₀(answers)/P_{λ₀}(answers)`` is at most 1 on average for
every ``λ ≥ λ₀``, as the logarithm of ``Σ e^{2λ Σ g}`` over all answers with that number is convex. Who always takes the
same side says nothing there: the chance that every answer is that side, nearly, stands against the largest with ``λ ≥
λ₀`` and a liking of so many points at most. The evidence is the mean of both, and of all judges those with the ``k``
largest are named, as :func:`kinelo.watch` does.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from kinelo.decisions.wrong_ratings import enough_evidence, innocents, odds_of
from kinelo.errors import InputError
from kinelo.forecasts.parameters import check_number
from kinelo.matches.matches import Matches, check_matches
from kinelo.play.formula import inlined, kernel
from kinelo.presentation import counted, percent
from kinelo.raters.bradley_terry.rater import BradleyTerry, judges_of
from kinelo.raters.questions import answering

if TYPE_CHECKING:
    import polars as pl

BLOCK = 256
"""Votes of a judge that are weighed together: the work grows with its square."""
LIKING = 200.0
"""Points by which a judge may like one side better."""
ALWAYS = 0.97
"""The share of decided votes for one side of a judge who is said to take it always."""
STEEPEST_FOLLOWED = 5.0
MOST_STEPS = 60
NEARLY_ALL = 0.9


@inlined
def chance(x):
    """The chance of the first, of decided votes."""
    return 1.0 / (1.0 + math.exp(-2.0 * min(max(x, -30.0), 30.0)))


@kernel
def at_random(g, first, least):
    """Logarithm of ``P₀/P_{λ₀}`` of answers (``first``, bool), given how many were the first."""
    n, number = g.size, first.sum()
    if number in (0, n):
        return 0.0
    b, p = 0.0, np.empty(n)
    for _ in range(MOST_STEPS):  # any b does; with this one the number is the expected one
        total, slope = 0.0, 1e-12
        for k in range(n):
            p[k] = chance(least * g[k] + b)
            total += p[k]
            slope += 2.0 * p[k] * (1.0 - p[k])
        if abs(total - number) < 1e-6:
            break
        b += min(max((number - total) / slope, -1.0), 1.0)
    ways = np.zeros(number + 2)  # the chance of each number of firsts, answer by answer
    ways[0] = 1.0
    ratio = 0.0
    for k in range(n):
        for m in range(min(k + 1, number), 0, -1):
            ways[m] = ways[m] * (1.0 - p[k]) + ways[m - 1] * p[k]
        ways[0] *= 1.0 - p[k]
        ratio -= math.log(p[k] if first[k] else 1.0 - p[k])
    return (
        ratio
        + math.log(ways[number])
        - (math.lgamma(n + 1.0) - math.lgamma(number + 1.0) - math.lgamma(n - number + 1.0))
    )


@kernel
def always(g, first, least, liking):
    """Logarithm of the chance that nearly all answers are the first, over the largest with ``λ ≥ λ₀`` and ``b ≤
    liking``; −∞ where ``b`` need not be as large."""
    low, high = least, STEEPEST_FOLLOWED
    for _ in range(MOST_STEPS):  # the likeliest λ at that b: the slope falls with λ
        middle, slope = 0.5 * (low + high), 0.0
        for k in range(g.size):
            slope += g[k] * ((1.0 if first[k] else 0.0) - chance(middle * g[k] + liking))
        low, high = (middle, high) if slope > 0.0 else (low, middle)
    ratio, slope = 0.0, 0.0
    for k in range(g.size):
        p = chance(low * g[k] + liking)
        slope += (1.0 if first[k] else 0.0) - p
        ratio += math.log(ALWAYS / p) if first[k] else math.log((1.0 - ALWAYS) / (1.0 - p))
    return ratio if slope > 0.0 else -math.inf


@kernel
def followed(g, first, width):
    """``λ`` as one judge's answers and what is believed before them (1 ± ½, and a liking of 0 ± ``width``) say."""
    slope, b = 1.0, 0.0
    for _ in range(MOST_STEPS):
        up, up_b = 4.0 * (1.0 - slope), -b / width**2
        A, B, C = 4.0, 0.0, 1.0 / width**2
        for k in range(g.size):
            p = chance(slope * g[k] + b)
            push, curve = 2.0 * ((1.0 if first[k] else 0.0) - p), 4.0 * p * (1.0 - p)
            up += push * g[k]
            up_b += push
            A += curve * g[k] * g[k]
            B += curve * g[k]
            C += curve
        D = A * C - B * B
        step, step_b = (C * up - B * up_b) / D, (A * up_b - B * up) / D
        size = 1.0 / max(1.0, abs(step), abs(step_b))
        slope += size * step
        b += size * step_b
        if abs(step) + abs(step_b) < 1e-9:
            break
    return slope


@kernel
def weigh(begin, g, first, least, liking):
    """Of every judge (decided votes from ``begin[k]`` on) ``λ``, and the evidence that he answers at random, and always
    the first, or the second; logarithms (judges, 4)."""
    out = np.zeros((begin.size - 1, 4))
    for k in range(begin.size - 1):
        lean, answers = g[begin[k] : begin[k + 1]], first[begin[k] : begin[k + 1]]
        out[k, 0] = followed(lean, answers, 2.0 * liking)
        for start in range(0, lean.size, BLOCK):
            out[k, 1] += at_random(lean[start : start + BLOCK], answers[start : start + BLOCK], least)
        out[k, 2] = always(lean, answers, least, liking)
        out[k, 3] = always(-lean, ~answers, least, liking)
    return out


def judges(
    rated: Any, votes: Matches, by: str = "judge", *, false_share: float = 0.05, least: float = 0.5
) -> pl.DataFrame:
    """Judges of votes, and those whose answers do not follow who is compared.

    Parameters
    ----------
    rated
        A :class:`kinelo.BradleyTerry` fitted on these votes, or a book that one keeps.
    votes
        With the column ``by`` (read with ``conditions=[...]``), which says whose vote each is.
    false_share
        The share of innocents among those that are named, on average, however many judges there are.
    least
        Whose answers follow differences of strength at least so much as those of all (1) is innocent. How often a judge
        decides is no fault, nor is a liking for one side, up to 200 points where nearly all answers are that side.

    Returns
    -------
    polars.DataFrame
        ``judge``, ``votes``, ``first`` (the share of decided votes for the side named first), ``drawn``, ``follows``
        (how much answers follow strengths: 1 as those of all, 0 not at all; near 1 where few were cast), ``evidence``
        against 1, whether the judge is ``named``, and what those named answer: ``"at random"``, ``"the first"``,
        ``"the second"`` or ``"the opposite"``. The most evidence first.

    >>> import kinelo as kn
    >>> sides = {"home": ["A", "B", "C"] * 60, "away": ["B", "C", "A"] * 60, "neutral": [True] * 180}
    >>> answers = {"result": [1, 1, 0] * 30 + [1, 1, 1] * 30, "judge": ["Ann"] * 90 + ["Bob"] * 90}
    >>> votes = kn.read_matches(sides | answers, conditions=["judge"])
    >>> kn.judges(kn.BradleyTerry().fit(votes), votes).filter("named").select("judge", "answers").rows()
    [('Bob', 'the first')]
    """
    import polars as pl

    check_matches(votes)
    false_share = check_number("judges", "false_share", false_share, 0.0, 1.0, above=True)
    least = check_number("judges", "least", least, 0.0, 1.0, above=True)
    rater = answering(rated, "judges")[0]
    if not isinstance(rater, BradleyTerry):
        raise InputError(f"judges asks a BradleyTerry, which takes all votes at once, not a {type(rater).__name__}.")
    if not np.isin(votes.signed, (-1.0, 0.0, 1.0)).all():
        raise InputError("judges weighs wins, draws and losses; other results have no place in it.")
    rater._check_has_ratings()
    judge, size = judges_of(votes, by), len(votes.conditions[by].levels)
    whole = bool((votes.weight == np.floor(votes.weight)).all())
    number = votes.weight.astype(np.int64) if whole else (votes.weight > 0.0).astype(np.int64)
    code, signed = np.repeat(judge.codes, number), np.repeat(votes.signed, number)
    decided = np.flatnonzero(signed != 0.0)
    at = decided[np.argsort(code[decided], kind="stable")]
    begin = np.searchsorted(code[at], np.arange(size + 1))
    g, first = np.repeat(rater._mean_gaps(votes), number)[at], signed[at] > 0.0
    follows, *logs = weigh(begin, g, first, least, LIKING * rater._scale).T
    evidence = np.exp(np.minimum(np.logaddexp(logs[0], np.logaddexp(logs[1], logs[2]) - math.log(2.0)), 700.0)) / 2.0
    cast, clear_votes = np.bincount(code, minlength=size), np.diff(begin)
    order = np.argsort(-evidence, kind="stable")
    order = order[cast[order] > 0]
    share = np.divide(np.bincount(code[at], first, size), clear_votes, out=np.full(size, np.nan), where=clear_votes > 0)
    named = enough_evidence(evidence[order], false_share)
    answers = np.select(
        [share >= NEARLY_ALL, share <= 1.0 - NEARLY_ALL, follows < -least],
        ["the first", "the second", "the opposite"],
        "at random",
    )
    return pl.DataFrame(
        {
            "judge": [judge.levels[k] for k in order.tolist()],
            "votes": cast[order],
            "first": share[order],
            "drawn": 1.0 - clear_votes[order] / cast[order],
            "follows": follows[order],
            "evidence": evidence[order],
            "named": named,
            "answers": [said if found else None for said, found in zip(answers[order].tolist(), named.tolist())],
        },
        schema_overrides={"answers": pl.String},
    )


def judge_lines(table: pl.DataFrame, false_share: float = 0.05) -> list[str]:
    """What :func:`kinelo.judges` found, in a sentence for each judge named, the most evidence first.

    >>> import polars as pl
    >>> row = {"judge": ["Bob"], "votes": [90], "first": [0.98], "evidence": [31234.0], "named": [True],
    ...        "answers": ["the first"]}
    >>> judge_lines(pl.DataFrame(row))[0]
    'Bob answers the first: of 90 votes 98 % of those decided are for the first; 31,000 to 1.'
    """
    lines = [
        f"{row['judge']} answers {row['answers']}: of {counted(row['votes'], 'vote', 'votes')} {percent(row['first'])} "
        f"of those decided are for the first; {odds_of(row['evidence'])} to 1."
        for row in table.filter("named").to_dicts()
    ]
    if not lines:
        return [f"Of {counted(table.height, 'judge', 'judges')} none is named: all may follow who is compared."]
    return [*lines, innocents(false_share, table.height, "judges")]
