"""Words of the report on other papers: what was found, what was read of each source, and what is not judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinelo.paper.claim import Claim
from kinelo.paper.words import GLOSSARY, tally_words

FOUND = (
    "What papers say of Elo's rule with fixed skills holds where it is played: one equilibrium, reached exponentially, "
    "as far from the skills as the root of the step; several tables where only near ratings meet; ratings that depend "
    "on who plays whom where results hold a cycle; a speed that is the spectral gap of the pairing."
)
SOURCES = (
    "Cortez, Tossounian: Convergence and stationary distribution of Elo rating systems. arXiv 2410.09180. Abstract "
    "read.",
    "Junca: Contractions to update Elo ratings for round-robin tournaments. hal-03286591 (2021). Abstract read.",
    "Gomes de Pinho Zanco, Szczecinski, Kuhn, Seara: Stochastic analysis of the Elo rating algorithm in round-robin "
    "tournaments. arXiv 2212.12015. Abstract read.",
    "Jabin, Junca: A continuous model for ratings. SIAM Journal on Applied Mathematics 75 (2015), 420–442. Abstract "
    "read.",
    "Hamilton, Kalenkova, Roughan: Elo ratings in the presence of intransitivity. arXiv 2412.14427. Abstract read.",
    "Avdeev: Stationary distribution of the player rating in the Elo model with one adversary. Diskretnaya Matematika "
    "26 (2014), 3–14. Abstract read; the value of the median stands in the text, which was not read.",
    "Olesker-Taylor, Zanetti: An analysis of Elo rating systems via Markov chains. arXiv 2406.05869. Abstract read; "
    "the spectral gap stands in the text, which was not read.",
    "Ebtekar, Liu: An Elo-like system for massive multiplayer competitions. arXiv 2101.00400. Abstract read.",
    "Szczecinski, Tihon: Simplified Kalman filter for online rating: one-fits-all approach. arXiv 2104.14012. Abstract "
    "read.",
    "Statements are in words of ours. Skills are fixed but in Figure 8, where they walk.",
)
"""What was read of every source, and what is assumed."""
NOT_JUDGED = (
    (
        "Cortez and Tossounian, abstract",
        "the stationary distribution has a finite exponential moment and full support",
        "Tails and supports cannot be seen in a sample.",
    ),
    (
        "Düring, Torregrossa and Wolfram 2019, abstract",
        "solutions of the model with learning exist; their behaviour in the long run",
        "Existence is not measured. What the long run does is judged in the report on neighbours (learning).",
    ),
    (
        "Olesker-Taylor and Zanetti, abstract",
        "Elo learns at a rate competitive with the state of the art",
        "Competitive with what, and by how much, stands in the text, which was not read.",
    ),
    (
        "Ebtekar and Liu, abstract",
        "Elo-MMR rivals or surpasses other systems in accuracy, and is faster",
        "Compared in benchmarks/RESULTS.md, not here.",
    ),
    (
        "Ingram 2021",
        "Elo as a Bayesian filter",
        "Neither text nor abstract could be read.",
    ),
)


SYMBOLS = (("K", "step size of chess, K = 2γ"), ("skill", "strength of a player, the same in every match"))
USED = ("R, r", "S", "b", "ν", "γ", "±", "K", "skill")
"""Symbols of this report, of the paper's and its own."""

ASKED = " (asked of RankElo)"


def rank_elo_words(claims: Sequence[Claim]) -> str:
    """What was found of our own rater of contests, as the verdicts say; nothing where it was not asked."""
    asked = [f"that {one.statement.removesuffix(ASKED)}: {one.judgement}" for one in claims if ASKED in one.statement]
    return f" Asked of our own RankElo, {'; '.join(asked)}." if asked else ""


def literature_words(
    scale: str, figures: int, counts: Mapping[str, int], claims: Sequence[Claim] = ()
) -> dict[str, Any]:
    """What replaces the words on the paper in the content of a report."""
    size = "at full scale" if scale == "full" else "at a reduced scale, for a quick look"
    tally = tally_words(counts)
    return {
        "literature": True,
        "shown_by": None,
        "abstract": [
            FOUND + rank_elo_words(claims),
            f"Here are {figures} figures, {size}, and statements of papers on the theory of Elo's rule, each judged by "
            f"a number against a threshold that stands beside it: of {sum(counts.values())} statements {tally}.",
        ],
        "untested": [dict(zip(("place", "statement", "because"), row)) for row in NOT_JUDGED],
        "readings": [],
        "glossary": [
            {"symbol": symbol, "meaning": meaning} for symbol, meaning in (*GLOSSARY, *SYMBOLS) if symbol in USED
        ],
        "assumptions": list(SOURCES),
    }
