"""The sliders of the page: what each means in plain words, its range, and the league and system they describe.

The page draws its sliders from this list and sends their values back; the same ranges check what it sends.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from kinelo.errors import InputError
from kinelo.model.dynamics import Dynamics, Form, Learning, Walk
from kinelo.model.outcome import Davidson, Outcome, Tanh
from kinelo.model.pairing import AllPlayAll, Local, Pairing, Window
from kinelo.model.schedule import Period, Rounds, Schedule
from kinelo.model.setups import homogeneous
from kinelo.model.steps import DeviationSteps
from kinelo.model.strength import LineupLottery, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array

THETA = (4.0, 10.0)
"""Mean strengths of the teams spread evenly over this interval, as in the paper."""


def shown(value: object) -> str:
    """What a page sent, short enough for a sentence."""
    return reprlib.repr(value)


@dataclass(frozen=True)
class Slider:
    """A number between two ends. ``when`` names the choice under which it is shown."""

    name: str
    symbol: str
    label: str
    hint: str
    low: float
    high: float
    step: float
    default: float
    group: str
    logarithmic: bool = False
    when: tuple[str, str] | None = None
    unit: str = ""

    def read(self, value: object) -> float:
        """Return the value as a number of the slider's range, or say what is accepted."""
        whole = self.step >= 1
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise InputError(f"{self.name} must be a number from {self.low:g} to {self.high:g}, not {shown(value)}.")
        if not self.low <= value <= self.high:
            raise InputError(f"{self.name} must lie between {self.low:g} and {self.high:g}, not at {shown(value)}.")
        return round(value) if whole else float(value)


@dataclass(frozen=True)
class Choice:
    """One of a few named options, each with its words."""

    name: str
    label: str
    hint: str
    options: dict[str, str]
    default: str
    group: str

    def read(self, value: object) -> str:
        """Return the option, or say which there are."""
        if not isinstance(value, str) or value not in self.options:
            raise InputError(f"{self.name} must be one of {', '.join(self.options)}, not {shown(value)}.")
        return value


VARIES, MOVES, RULES, LEAGUE = (
    "How much strength varies", "How strengths move", "How ratings are computed", "The league"
)  # fmt: skip

CONTROLS: tuple[Slider | Choice, ...] = (
    Choice(
        "law", "Why it varies", "What makes a team stronger one day and weaker the next.",
        {"normal": "Form of the day", "lottery": "Changing line-ups"}, "normal", VARIES,
    ),
    Slider(
        "sigma", "σ", "Ups and downs",
        "How far a team's strength strays from its average in a typical match, in rating points.",
        0.0, 3.0, 0.05, 1.0, VARIES, when=("law", "normal"), unit="points",
    ),
    Slider(
        "unevenness", "u", "Uneven squads",
        "How different the players of one squad are: 0 means all alike.",
        0.0, 8.0, 0.1, 4.0, VARIES, when=("law", "lottery"),
    ),
    Slider("players", "M", "Squad", "Players a team can choose from.", 2, 30, 1, 23, VARIES, when=("law", "lottery")),
    Slider("lineup", "m", "Line-up", "Players drawn for one match.", 1, 30, 1, 11, VARIES, when=("law", "lottery")),
    Choice(
        "motion", "From match to match", "Whether a team's own average stays where it is.",
        {"still": "They stay", "form": "Form comes and goes", "walk": "A random walk", "learning": "Teams learn"},
        "still", MOVES,
    ),
    Slider(
        "rate", "ω", "Change", "How fast form is forgotten: the share lost in one match.",
        0.001, 0.2, 0.001, 0.01, MOVES, logarithmic=True, when=("motion", "form"), unit="share",
    ),
    Slider(
        "spread", "√V", "Reach of form", "How far form carries a team from its average in the long run.",
        0.1, 3.0, 0.05, 1.0, MOVES, when=("motion", "form"), unit="points",
    ),
    Slider(
        "walk", "s", "Step of the walk", "How far strength moves, at random, from one match to the next.",
        0.005, 0.3, 0.001, 0.02, MOVES, logarithmic=True, when=("motion", "walk"), unit="points",
    ),
    Slider(
        "alpha", "α", "Learning", "What a match teaches both sides, the weaker one more.",
        0.0, 2.0, 0.05, 0.5, MOVES, when=("motion", "learning"),
    ),
    Slider(
        "beta", "β", "Gain of the better", "What the side ahead gains on the other in a match.",
        0.0, 2.0, 0.05, 0.2, MOVES, when=("motion", "learning"),
    ),
    Slider(
        "diffusion", "", "Chance in learning", "Random change of strength in a match, in units of √γ.",
        0.0, 2.0, 0.05, 0.5, MOVES, when=("motion", "learning"),
    ),
    Choice(
        "steps", "Steps", "One step size for all, or Glicko's: a rating that is unsure moves further.",
        {"fixed": "One for all", "glicko": "Glicko, by uncertainty"}, "fixed", RULES,
    ),
    Slider(
        "gamma", "γ", "Step size",
        "How far one surprising result moves a rating. Large steps learn fast and rattle.",
        0.01, 1.0, 0.01, 0.1, RULES, logarithmic=True, when=("steps", "fixed"), unit="step",
    ),
    Slider(
        "growth", "c", "Doubt gained", "How much uncertainty a rating gains from one match to the next.",
        0.01, 1.0, 0.01, 0.1, RULES, logarithmic=True, when=("steps", "glicko"), unit="points",
    ),
    Slider(
        "deviation", "RD", "First uncertainty", "Deviation of every rating at the start.",
        0.1, 3.0, 0.1, 2.0, RULES, when=("steps", "glicko"), unit="points",
    ),
    Choice(
        "schedule", "Results count", "At once, or together at the end of a period or a round.",
        {"single": "After each match", "period": "After a period", "rounds": "After a round, all against all"},
        "single", RULES,
    ),
    Slider(
        "period", "n", "Matches in a period", "Matches of each team that count together.",
        2, 60, 1, 10, RULES, when=("schedule", "period"),
    ),
    Slider(
        "nu", "ν", "Decisiveness",
        "How surely the stronger side wins: a lead of one point counts for more when this is large.",
        0.05, 2.0, 0.01, 0.5, RULES, logarithmic=True,
    ),
    Slider(
        "ties", "", "Draws", "Share of drawn matches between equal teams.", 0.0, 0.6, 0.05, 0.0, RULES, unit="share",
    ),
    Slider("teams", "N", "Teams", "Number of teams, from weak (4) to strong (10).", 10, 500, 10, 200, LEAGUE),
    Choice(
        "pairing", "Who plays whom", "How opponents find each other.",
        {"all": "Everyone", "local": "Mostly neighbours in the table", "window": "Only similar ratings"}, "all", LEAGUE,
    ),
    Slider(
        "window", "c", "Largest gap", "Two teams meet only if their ratings differ by at most this much.",
        0.5, 6.0, 0.1, 2.0, LEAGUE, when=("pairing", "window"), unit="points",
    ),
    Choice(
        "start", "Ratings begin", "Where every team starts.",
        {"random": "At random", "equal": "All equal"}, "random", LEAGUE,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Controls:
    """One position of all sliders."""

    law: str = "normal"
    sigma: float = 1.0
    unevenness: float = 4.0
    players: int = 23
    lineup: int = 11
    gamma: float = 0.1
    nu: float = 0.5
    ties: float = 0.0
    teams: int = 200
    pairing: str = "all"
    window: float = 2.0
    start: str = "random"
    motion: str = "still"
    rate: float = 0.01
    spread: float = 1.0
    walk: float = 0.02
    alpha: float = 0.5
    beta: float = 0.2
    diffusion: float = 0.5
    steps: str = "fixed"
    growth: float = 0.1
    deviation: float = 2.0
    schedule: str = "single"
    period: int = 10

    @property
    def kinetic(self) -> bool:
        """Whether the paper's kinetic equation is the limit of small steps: strengths at rest, one step for all."""
        return self.motion == "still" and self.steps == "fixed"

    @property
    def typical_step(self) -> float:
        """γ, or what Glicko's step settles at for near equals."""
        return self.gamma if self.steps == "fixed" else self.growth

    @property
    def dynamics(self) -> Dynamics | None:
        """How strengths move."""
        laws = {
            "form": lambda: Form(rate=self.rate, spread=self.spread),
            "walk": lambda: Walk(spread=self.walk),
            "learning": lambda: Learning(alpha=self.alpha, beta=self.beta, diffusion=self.diffusion),
        }
        return laws[self.motion]() if self.motion in laws else None

    @property
    def outcome(self) -> Outcome:
        """The outcome function: with draws, Davidson's κ is such that equals draw the wanted share."""
        return Davidson(self.nu, 2 * self.ties / (1 - self.ties)) if self.ties > 0 else Tanh(self.nu)

    @property
    def system(self) -> RatingSystem:
        """The rating system."""
        pairings: dict[str, Pairing] = {"all": AllPlayAll(), "local": Local(), "window": Window(self.window)}
        schedules: dict[str, Schedule | None] = {"single": None, "period": Period(self.period), "rounds": Rounds()}
        gamma = self.gamma if self.steps == "fixed" else DeviationSteps(growth=self.growth, start=self.deviation)
        return RatingSystem(self.outcome, pairings[self.pairing], gamma, schedule=schedules[self.schedule])

    def strengths(self, seed: int = 1) -> Strength:
        """The league; a seed makes its squads where strength comes from line-ups."""
        if self.law == "normal":
            return homogeneous(sigma=self.sigma, teams=self.teams, theta=THETA)
        theta = homogeneous(sigma=0.0, teams=self.teams, theta=THETA).theta
        eta = np.random.default_rng(seed).standard_normal((self.teams, self.players))
        # Squads centred at θ: the page compares laws of variation, not leagues.
        eta -= eta.mean(axis=1, keepdims=True)
        return LineupLottery((theta[:, None] + self.unevenness * eta) / self.lineup, self.lineup)

    def first_ratings(self, seed: int = 1) -> Array:
        """Ratings every run begins with."""
        if self.start == "equal":
            return np.full(self.teams, sum(THETA) / 2)
        return np.random.default_rng(seed).permutation(homogeneous(sigma=0.0, teams=self.teams, theta=THETA).theta)

    @property
    def elo_points(self) -> float:
        """Elo points to one point of the sliders: expected scores between near equals are then the same.

        >>> round(Controls().elo_points, 1), round(Controls(ties=0.5).elo_points, 1)
        (173.7, 86.9)
        """
        return float(self.outcome.b_prime(0.0)) * 800 / math.log(10)

    def to_dict(self) -> dict[str, Any]:
        """Values by name."""
        return asdict(self)


@dataclass(frozen=True)
class Preset:
    """A position of the sliders worth a look, with words about it."""

    name: str
    label: str
    values: Controls


def _with_k(k: float, **values: Any) -> Controls:
    controls = Controls(**values)
    return replace(controls, gamma=k / (2 * controls.elo_points))


PRESETS = (
    Preset("first", "As on the first visit", Controls()),
    Preset("squads", "The paper's squads: 11 of 23 play", Controls(law="lottery")),
    Preset("fair", "The paper's fair step: bias and luck cancel", Controls(gamma=0.61)),
    Preset("chess", "Like chess: K = 20, half drawn, form of ± 100 Elo", _with_k(20, ties=0.5, sigma=1.15)),
    Preset("football", "Like football: K = 20, a quarter drawn", _with_k(20, ties=0.25, sigma=1.0, teams=20)),
    Preset("form", "Form that comes and goes: ratings lag behind", Controls(motion="form", sigma=0.5, gamma=0.2)),
    Preset("rounds", "A league of 20 in rounds, all against all", Controls(schedule="rounds", teams=20, gamma=0.05)),
    Preset("glicko", "Glicko: unsure ratings move further", Controls(steps="glicko", start="equal")),
    Preset(
        "online", "Like an online game: K = 32, near equals only",
        _with_k(32, sigma=0.6, teams=500, pairing="window", window=2.0, start="equal"),
    ),
)  # fmt: skip


def described_presets() -> list[dict[str, Any]]:
    """The presets as the page lists them."""
    return [{"name": one.name, "label": one.label, "values": one.values.to_dict()} for one in PRESETS]


def read_controls(given: object) -> Controls:
    """Check values that came from a page; what is not given takes its default.

    >>> read_controls({"sigma": 0.5}).sigma
    0.5
    >>> read_controls({"sigma": -1})
    Traceback (most recent call last):
        ...
    kinelo.errors.InputError: sigma must lie between 0 and 3, not at -1.
    """
    if not isinstance(given, Mapping):
        raise InputError("The sliders must come as names with values.")
    known = {control.name: control for control in CONTROLS}
    if unknown := sorted(map(str, set(given) - set(known))):
        raise InputError(f"There is no slider {shown(unknown[0])}; there are {', '.join(known)}.")
    values: dict[str, Any] = {name: known[name].read(value) for name, value in given.items()}
    controls = Controls(**values)
    if controls.law == "lottery" and controls.lineup > controls.players:
        raise InputError(
            f"The line-up cannot be larger than the squad: {controls.lineup} of {controls.players} players."
        )
    if controls.steps == "glicko" and controls.ties > 0:
        raise InputError("Glicko's formulas know no draws. Set draws to 0 %, or take one step for all.")
    if controls.steps == "glicko" and controls.motion == "learning":
        raise InputError("Teams learn in units of one step γ. Take one step for all, or another motion.")
    return controls


def described_controls() -> list[dict[str, Any]]:
    """The list of sliders as the page draws them."""
    return [{"kind": "slider" if isinstance(c, Slider) else "choice", **asdict(c)} for c in CONTROLS]
