"""What scenes share (their picture, the paper's league, how points are written), and the scenes of single matches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from kinelo.charts import Chart, Frames, Trace
from kinelo.lab.units import THETA, Units, elo_points
from kinelo.micro.simulate import simulation_states
from kinelo.model.expectation import expected_result
from kinelo.model.outcome import Tanh
from kinelo.model.strength import Normal
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.presentation import percent

NU = 0.5
"""Decisiveness of the scenes, as in the paper."""
ELO = elo_points(NU)
"""Elo points to one point of the paper at this ν: the same expected score."""
LAW = Tanh(nu=NU)
FIRST_K = 32.0
STRONG, WEAK = "Ashford", "Yarm"
"""Two clubs of the sample league."""
UNITS = {"elo": Units("elo", ELO), "paper": Units("paper", 1.0)}


@dataclass(frozen=True)
class Picture:
    """A scene at one place of its control.

    ``numbers`` are those that the lines of ``python`` print, in order, and that ``sentence`` is written from.
    """

    chart: Chart
    sentence: str
    beside: Chart
    more: tuple[str, ...]
    python: str
    numbers: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """The picture as JSON holds it."""
        return vars(self) | {"chart": self.chart.to_dict(), "beside": self.beside.to_dict()}


def step_of(k: float) -> float:
    """The step γ of the paper for a K in Elo points."""
    return k / (2 * ELO)


def law_line(units: Units) -> str:
    """The outcome function as a line of Python on the scale of the page."""
    if units.name == "elo":
        return "law = kn.Tanh(nu=math.log(10) / 800)  # 400 points are ten to one"
    return f"law = kn.Tanh(nu={NU})"


def number(value: float) -> str:
    """A number for a line of Python: whole where it is whole to ten digits."""
    return repr(float(f"{value:.10g}"))


def league_line(units: Units, sigma: float) -> str:
    """The league as a line of Python on the scale of the page."""
    low, high = (number(units.factor * end) for end in THETA)
    return f"league = kn.theory.Continuum(({low}, {high}), {number(units.factor * sigma)}, nodes=40)"


def two_shares(taken: float, promised: float) -> tuple[str, str]:
    """Two shares with as many digits as tell them apart, up to one; the same text where nothing does.

    >>> two_shares(0.906, 0.947), two_shares(0.8497, 0.8502), two_shares(0.5, 0.5)
    (('91 %', '95 %'), ('85.0 %', '85.0 %'), ('50.0 %', '50.0 %'))
    """
    digits = 0 if percent(taken) != percent(promised) else 1
    return percent(taken, digits), percent(promised, digits)


LEADS = np.linspace(-600, 600, 61) / ELO
AHEAD = np.linspace(0, 700, 57) / ELO
DAYS_LEAD, BEST_LEAD = 300 / ELO, 525 / ELO
"""How much stronger the first club is in the second scene and in the third."""
MATCHES_OF_DAYS, MATCHES_OF_BEST = 60, 400


def one_match(units: Units, lead: float) -> Picture:
    """What a win brings the first club and what a defeat costs it, by its lead; ``lead`` is in Elo points."""
    gap, gamma, f = lead / ELO, step_of(FIRST_K), units.factor
    win, defeat = gamma * (1 - LAW.b(LEADS)), -gamma * (1 + LAW.b(LEADS))
    gain, loss = float(gamma * (1 - LAW.b(gap))), float(gamma * (1 + LAW.b(gap)))
    share = float(1 + LAW.b(gap)) / 2
    place = "Level with" if gap == 0 else f"{units.points(abs(gap))} {units.word} {'ahead of' if gap > 0 else 'behind'}"
    k = units.step(gamma)
    return Picture(
        Chart(
            f"What a match changes, by the lead of {STRONG}: a win brings {_small(gain * f)}, a defeat costs "
            f"{_small(loss * f)}.",
            f"{STRONG}'s lead before the match ({units.word})", f"change of its rating ({units.word})",
            [
                Trace(f"{STRONG} wins", "good", "lines", f * LEADS, f * win),
                Trace(f"{STRONG} loses", "bad", "lines", f * LEADS, f * defeat, later=True),
                Trace("this lead", "team", "large", [f * gap, f * gap], [f * gain, -f * loss], later=True),
            ],
            y_range=(-2.1 * f * gamma, 2.1 * f * gamma),
        ),
        f"{place} {WEAK}, {STRONG} is expected to take {percent(share)} of the points: a win brings it "
        f"{_small(gain * f)}, a defeat costs it {_small(loss * f)}.",
        Chart(
            f"What a lead promises: {percent(share)} of the points at this one.",
            f"{STRONG}'s lead ({units.word})", "expected share of the points",
            [
                Trace("expected", "prediction", "lines", f * LEADS, (1 + LAW.b(LEADS)) / 2),
                Trace("this lead", "team", "large", [f * gap], [share]),
            ],
            y_range=(-0.03, 1.03),
        ),
        (
            f"A rating changes by the step ({k}) times what was not expected. {WEAK} loses what {STRONG} gains.",
            "The longer the odds, the larger the change: a surprise moves ratings far, an expected result hardly at "
            "all.",
        ),
        _python(
            units, f"lead, gamma = {number(gap * f)}, {number(gamma * f)}", "print(gamma * (1 - law.b(lead)))",
            "print(gamma * (1 + law.b(lead)))",
        ),
        (gain * f, loss * f),
    )  # fmt: skip


def _small(value: float) -> str:
    """A change of a rating: two digits."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.2g}"


def _python(units: Units, *lines: str) -> str:
    return "\n".join(["import math", "import kinelo as kn", "", law_line(units), *lines, ""])


@lru_cache(maxsize=4096)
def taken(gap: float, sigma: float) -> float:
    """Expected share of a team that is stronger by ``gap`` on average, on good and bad days together."""
    return (1 + float(expected_result(LAW, Normal([0.0, gap], sigma=sigma))[1, 0])) / 2


def _teams_line(units: Units, gap: float, sigma: float) -> str:
    f = units.factor
    return f"teams = kn.Normal([0.0, {number(gap * f)}], sigma={number(sigma * f)})"


def good_and_bad_days(units: Units, spread: float) -> Picture:
    """Two bell curves, performances drawn from them, and a tally; ``spread`` is in Elo points."""
    sigma, gap, f = spread / ELO, DAYS_LEAD, units.factor
    rng = np.random.default_rng(1)
    drawn = np.array([[gap], [0.0]]) + sigma * rng.standard_normal((2, MATCHES_OF_DAYS))
    won = rng.uniform(-1, 1, MATCHES_OF_DAYS) < LAW.b(drawn[0] - drawn[1])
    share, alone = taken(gap, sigma), float(1 + LAW.b(gap)) / 2
    x = np.linspace(gap / 2 - 6, gap / 2 + 6, 161)
    width = max(sigma, 0.06)
    bell = [np.exp(-(((x - centre) / width) ** 2) / 2) for centre in (gap, 0.0)]
    wins = np.cumsum(won)
    labels = [
        f"{k + 1} {'match' if k == 0 else 'matches'}: {STRONG} has won {wins[k]} ({percent(wins[k] / (k + 1))})"
        for k in range(MATCHES_OF_DAYS)
    ]
    flattened = np.array([taken(z, sigma) for z in AHEAD])
    days = f"ups and downs of ± {units.points(sigma)} {units.word} (one standard deviation)"
    got, promised = two_shares(share, alone)
    if sigma == 0:
        sentence = f"Equally strong every day, {STRONG} takes the {percent(alone)} that its strength promises."
    elif got == promised:
        sentence = f"With {days} {STRONG} takes as good as the {promised} that its strength promises."
    else:
        sentence = f"With {days} {STRONG} takes {got} where its strength alone promises {promised}."
    return Picture(
        Chart(
            f"How strong {STRONG} and {WEAK} are from day to day, and on the day of one match.",
            f"strength on the day ({units.word})", "how often",
            [
                Trace(WEAK, "other", "area", f * x, bell[1]),
                Trace(STRONG, "team", "area", f * x, bell[0]),
                Trace("this match", "prediction", "large", f * drawn[:, -1], [0.5, 0.5], later=True),
            ],
            (f * x[0], f * x[-1]), (0, 1.15), frames=Frames(2, labels, x=f * drawn.T),
        ),
        sentence,
        Chart(
            "Expected share of the stronger side, by strength alone and with good and bad days.",
            f"lead in average strength ({units.word})", "expected share of the points",
            [
                Trace("by strength alone", "truth", "dashed", f * AHEAD, (1 + LAW.b(AHEAD)) / 2),
                Trace("good and bad days", "prediction", "lines", f * AHEAD, flattened),
                Trace(f"{STRONG} and {WEAK}", "team", "large", [f * gap], [share]),
            ],
            y_range=(0.47, 1.02),
        ),
        (
            "In each match both draw a performance from their own bell curve; the better one on the day is the more "
            "likely winner. What is expected is the average of b over all days: s = E b(lead + difference of the two "
            "days).",
            "b flattens out at the top: a bad day costs the favourite more than a good day adds.",
        ),
        _python(
            units, _teams_line(units, gap, sigma), "print((1 + kn.expected_result(law, teams)[1, 0]) / 2)",
            f"print((1 + law.b({number(gap * f)})) / 2)",
        ),
        (share, alone),
    )  # fmt: skip


@lru_cache(maxsize=64)
def _path_of_lead(sigma: float) -> Array:
    """The lead in rating of a strong club over a weak one, match by match, from the true lead on."""
    states = simulation_states(
        RatingSystem(LAW, gamma=step_of(FIRST_K)), Normal([0.0, BEST_LEAD], sigma=sigma),
        stops=list(range(0, MATCHES_OF_BEST + 1, 4)), matches_per_step=1, seed=3, start=np.array([0.0, BEST_LEAD]),
        sampling="literal", threads=1,
    )  # fmt: skip
    return np.array([state.rating[0, 1] - state.rating[0, 0] for state in states])


def why_too_low(units: Units, spread: float) -> Picture:
    """What a lead promises and what a club that strong takes; ``spread`` is in Elo points."""
    sigma, gap, f = spread / ELO, BEST_LEAD, units.factor
    share, promised = taken(gap, sigma), float(1 + LAW.b(gap)) / 2
    settled = math.atanh(2 * share - 1) / NU
    really = np.array([taken(z, sigma) for z in AHEAD])
    path = _path_of_lead(sigma)
    matches = np.arange(path.size) * 4.0
    if sigma == 0:
        sentence = (
            f"Without good and bad days {STRONG} takes the {percent(promised)} that its strength promises, and its "
            f"rating settles where it belongs, {units.points(gap)} {units.word} ahead."
        )
    else:
        taken_share, promised_share = two_shares(share, promised)
        sentence = (
            f"{STRONG} takes {taken_share} where its strength promises {promised_share}: its rating settles "
            f"{units.points(settled)} {units.word} ahead, where just that is promised, {percent(settled / gap)} of its "
            f"true lead of {units.points(gap)}."
        )
    return Picture(
        Chart(
            f"A lead of {units.points(gap)} promises {percent(promised)}; a side that strong takes {percent(share)}, "
            f"which a rating lead of {units.points(settled)} promises.",
            f"lead ({units.word})", "share of the points",
            [
                Trace("what a rating lead promises", "truth", "lines", f * AHEAD, (1 + LAW.b(AHEAD)) / 2),
                Trace("what a side that much stronger takes", "prediction", "lines", f * AHEAD, really, later=True),
                Trace("", "truth", "thin", [f * gap, f * gap], [0.5, promised]),
                Trace("", "prediction", "dashed", [f * settled, f * gap], [share, share], later=True),
                Trace("its true lead", "other", "large", [f * gap], [promised]),
                Trace("where the rating settles", "team", "large", [f * settled], [share], later=True),
            ],
            (0, 700 / ELO * f), (0.48, 1.02),
        ),
        sentence,
        Chart(
            f"The lead of {STRONG} in rating over {MATCHES_OF_BEST} matches, from its true lead on.",
            f"matches against {WEAK}", f"lead in rating ({units.word})",
            [
                Trace("true lead", "truth", "dashed", [0, MATCHES_OF_BEST], [f * gap, f * gap]),
                Trace("where promise and results meet", "prediction", "lines", [0, MATCHES_OF_BEST], [f * settled] * 2),
                Trace(f"{STRONG}'s lead", "team", "thin", matches, f * path),
            ],
        ),
        (
            "A rating rises while a side takes more than it promises, and falls while it takes less. It rests where "
            "both are equal: at the lead b⁻¹(s), where s is what the side takes.",
            f"For close teams that is 1/√(1 + πν²σ²) of the true lead: {percent(_rule(sigma))} here. Large steps add "
            "luck, which pushes ratings apart again; a later scene weighs the two.",
        ),
        _python(
            units, _teams_line(units, gap, sigma), "s = kn.expected_result(law, teams)[1, 0]", "print((1 + s) / 2)",
            "print(math.atanh(s) / law.nu)",
        ),
        (share, settled * f),
    )  # fmt: skip


def _rule(sigma: float) -> float:
    return 1 / math.sqrt(1 + math.pi * NU**2 * sigma**2)
