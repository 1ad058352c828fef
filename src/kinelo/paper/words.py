"""What the reports say in words: readings of the paper, assumptions, what cannot be measured, symbols; and the words of
the reports on neighbouring models and on the literature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinelo.paper.claim import Claim


@dataclass(frozen=True)
class PaperReading:
    """What the paper prints, what is computed here, and why."""

    printed: str
    read_as: str
    because: str


READINGS = (
    PaperReading(
        "line-up vectors λ ∈ {0, 1/m}ᴹ, strength λ·ρ",
        "the strength of a line-up is the sum of its players' ρ",
        "Only then is θ = (m/M) Σ ρ, as printed, and do R1 and R2 lie around 5 and 4–10.",
    ),
    PaperReading(
        "⟨S⟩ ≈ b(d) + ½ b″(d) V",
        "the exact expectation; the Taylor closure where the paper's equations are solved as printed",
        "The closure leaves [−1, 1] when ν²V > 4 and is not monotone when ν²V > 1.",
    ),
    PaperReading(
        "25 matches per time step Δt = 0.1 for N = 200 and N = 500",
        "25 matches per step for both; time is counted in matches per team, t = 2τ/N",
        "Bird's scheme gives NΔt/2: right for N = 500, 10 for N = 200. Only the clock changes.",
    ),
    PaperReading(
        "time steps Δt = 10⁻⁵ for the kinetic equation",
        "steps just below the stability limit Δr / max|a|",
        "The printed step is some thousand times smaller than the scheme needs.",
    ),
    PaperReading(
        "N(θ, σ) performances",
        "σ is the standard deviation",
        "The paper writes variance for both σ and σ²; its kinetic equation uses σ².",
    ),
    PaperReading(
        "line-ups drawn match by match",
        "results drawn from their exact probabilities (1 + s)/2",
        "Whatever the line-ups, a result is ±1 with that probability: the law of the ratings is the same.",
    ),
)

ASSUMPTIONS = (
    "The step size γ is nowhere printed. Figures 2 and 11 have γ = 0.1, near which all that is said of Figure 2 holds "
    "(Figure 12); Figures 4 to 6 have γ = 0.05.",
    "Nor is ν of R1 and R2: ν = 0.5 is taken from the later experiments.",
    "Nor is the spread of Germany and Brazil: σ = 1 unless stated (Figure 11).",
    "Nor are the values of σ in Figures 4 and 5: 0, 0.5, 1 and 2 are used.",
    "Nor a σ of chess: 200 Elo points are Elo's own figure, and the curve of chess holds a part of them already.",
    "Nor the first ratings of the simulations: every team starts at the mean strength.",
    "Kinetic numbers are computed along characteristics, to the digits shown; the densities of Figures 3 and 5 by the "
    "paper's scheme.",
)

UNTESTED = (
    (
        "Theorems 1 and 2",
        "a unique classical solution exists for all times",
        "A computation takes a solution for granted.",
    ),
    (
        "Appendix, derivation",
        "the kinetic equation is the limit of the Boltzmann-type equation",
        "Only its outcome can be measured (Figures 4 and 5).",
    ),
    (
        "§3, end of the analysis",
        "the stationary states cannot be computed explicitly",
        "None is known here either. For w ≡ 1 an iteration finds them to any number of digits.",
    ),
    (
        "Conclusion",
        "an equation with diffusion in θ, and a kinetic model of Glicko",
        "Proposals for later work.",
    ),
)
"""Place, statement, and why it is not measured."""

GLOSSARY = (
    ("λ", "strength of a team in one match; random"),
    ("θ", "mean strength of a team, ⟨λ⟩"),
    ("σ", "standard deviation of its strength from match to match"),
    ("R, r", "rating of a team (r in the kinetic equation)"),
    ("S", "result of a match: 1 or −1"),
    ("N, t", "number of teams; time: matches per team, γ times it in the kinetic equation"),
    ("s", "expected result of two teams, ⟨b(λᵢ − λⱼ)⟩"),
    ("b", "outcome function tanh(νz): the expected result at a lead of z points"),
    ("ν", "scale of b: how much a lead of one point decides"),
    ("w", "pairing: how readily two teams meet, by their ratings; w ≡ 1 is all-play-all"),
    ("γ", "step size: how far one match moves a rating"),
    ("f", "density of teams over (θ, σ, r); f′ at the opponent's, Δr = r − r′, V = σ² + σ′²"),
    ("E", "∫(r − θ)² f, mean squared distance from mean strengths"),
    ("R*", "stationary map: where a team of given θ and σ rests, as γ → 0"),
    ("λ₂", "spectral gap: the rate, per γ × matches per team, at which ratings settle"),
    ("(B′)", "the paper's condition that b + σ²b″ increases; for tanh, νσ < 1/√2"),
    ("closure", "how s is found: exactly, or by Taylor's expansion b + ½b″V"),
    ("slope", "of the regression of R on θ"),
    ("R1, R2", "the paper's set-ups of 200 teams; R2 has Germany and Brazil"),
    ("±", "one standard error"),
)
"""Symbol and meaning."""

NEIGHBOUR_ASSUMPTIONS = (
    "The sources were available as abstracts: where they leave a rule open, it is chosen here.",
    "Learning: winners gain what losers lose by βX, X the expected result or the result; skill is learned, the luck of "
    "the day is not.",
    "Rounds: strengths that move do so between rounds; K multiplies S − b, so it is γ (chess K = 2γ).",
    "Glicko: the deviation grows on the league's clock, c² per match of a team, whether the team plays or not.",
)
NOT_PROVED = (
    ("t^{1/3}", "ratings of a league driven apart spread like t^{1/3}", "A formal expansion; the run agrees with it."),
    ("closures", "mean and covariance at a finite step", "Gaussian closures: within about 1 % where they were tried."),
)


_TALLY = {
    "holds": ("holds", "hold"),
    "does not hold": ("does not", "do not"),
    "depends": ("depends on a condition stated beside it", "depend on a condition stated beside them"),
    "misprint": ("is a misprint", "are misprints"),
    "input not published": ("rests on input that is not published", "rest on input that is not published"),
    "not measured": ("could not be measured", "could not be measured"),
}
"""Words of one statement and of several, by verdict."""


def tally_words(counts: Mapping[str, int]) -> str:
    """How many statements have which verdict.

    >>> tally_words({"holds": 3, "does not hold": 1})
    '3 hold and 1 does not'
    """
    shown = [f"{counts[one]} {words[counts[one] > 1]}" for one, words in _TALLY.items() if counts.get(one)]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def neighbour_words(scale: str, figures: int, counts: Mapping[str, int]) -> dict[str, Any]:
    """What replaces the paper's own words in the content of a report."""
    size = "at full scale" if scale == "full" else "at a reduced scale, for a quick look"
    tally = tally_words(counts)
    return {
        "neighbours": True,
        "shown_by": None,
        "abstract": [
            "Ratings do not reach strengths that move; a whole round rated at once overshoots beyond a "
            "threshold and then alternates; deviations settle and their scale can travel; and among teams that play "
            "equally often a well chosen constant step follows as well as Glicko.",
            "The paper ends by naming what it leaves open: learning, form, tournaments in rounds, a kinetic model of "
            f"Glicko. Here are {figures} figures of these models, {size}, and what is said of them: of "
            f"{sum(counts.values())} statements {tally}.",
        ],
        "untested": [dict(zip(("place", "statement", "because"), row)) for row in NOT_PROVED],
        "readings": [],
        "assumptions": list(NEIGHBOUR_ASSUMPTIONS),
    }


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
