"""The controls of the Explore tab, each declared once, and the league and system that a position of them describes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kinelo.lab.control import Clash, Panel, choice, slider
from kinelo.lab.units import MIDDLE, THETA, Units, elo_points
from kinelo.model.dynamics import Dynamics, Form, Learning, Walk
from kinelo.model.outcome import Davidson, Outcome, Tanh
from kinelo.model.pairing import AllPlayAll, Local, Pairing, Window
from kinelo.model.schedule import Field, Period, Rounds, Schedule
from kinelo.model.setups import homogeneous
from kinelo.model.steps import DeviationSteps
from kinelo.model.strength import LineupLottery, Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array

VARIES, MOVES, RULES, LEAGUE = (
    "How much strength varies", "How strengths move", "How ratings are computed", "The league"
)  # fmt: skip
LET_TWO_MEET = "let 2 teams meet"


class Controls(Panel, frozen=True):
    """One position of all controls of the Explore tab. Points and steps are those of the model, whatever is shown."""

    clashes: ClassVar[tuple[Clash, ...]] = (
        Clash(
            ("steps", "glicko"),
            ("ties", None),
            "Glicko's formulas know no draws: set draws to 0 %, or take one step for all.",
        ),
        Clash(
            ("steps", "glicko"),
            ("motion", "learning"),
            "Teams learn in units of one step: take one step for all, or another motion.",
        ),
        Clash(
            ("steps", "glicko"),
            ("sides", None),
            f"Glicko's formulas are for two: {LET_TWO_MEET}, or take one step for all.",
        ),
        Clash(("ties", None), ("sides", None), f"Draws are played between two: {LET_TWO_MEET}, or set draws to 0 %."),
        Clash(
            ("schedule", "period"),
            ("sides", None),
            f"Contests of many count at once: {LET_TWO_MEET} to let results wait.",
        ),
        Clash(
            ("schedule", "rounds"),
            ("sides", None),
            f"In a round each pair meets: {LET_TWO_MEET}, or let results count at once.",
        ),
        Clash(
            ("pairing", "local"),
            ("sides", None),
            f"Contests of many are open to everyone: {LET_TWO_MEET} to choose opponents.",
        ),
        Clash(
            ("pairing", "window"),
            ("sides", None),
            f"Contests of many are open to everyone: {LET_TWO_MEET} to choose opponents.",
        ),
    )

    law: str = choice(
        "normal",
        {"normal": "Form of the day", "lottery": "Changing line-ups"},
        label="Why it varies",
        hint="What makes a team stronger one day and weaker the next.",
        group=VARIES,
    )
    sigma: float = slider(
        1.0,
        (0.0, 3.0),
        step=0.05,
        symbol="σ",
        label="Ups and downs",
        unit="points",
        group=VARIES,
        first=True,
        hint="How far a team's strength strays from its average in a typical match.",
        when=("law", "normal"),
    )
    unevenness: float = slider(
        4.0,
        (0.0, 8.0),
        step=0.1,
        symbol="u",
        label="Uneven squads",
        group=VARIES,
        first=True,
        when=("law", "lottery"),
        hint="How different the players of one squad are: 0 means all alike.",
    )
    players: int = slider(
        23,
        (2, 30),
        step=1,
        symbol="M",
        label="Squad",
        hint="Players a team can choose from.",
        group=VARIES,
        when=("law", "lottery"),
    )
    lineup: int = slider(
        11,
        (1, 30),
        step=1,
        symbol="m",
        label="Line-up",
        hint="Players drawn for one match.",
        group=VARIES,
        when=("law", "lottery"),
        at_most="players",
    )
    motion: str = choice(
        "still",
        {"still": "They stay", "form": "Form comes and goes", "walk": "A random walk", "learning": "Teams learn"},
        label="From match to match",
        hint="Whether a team's own average stays where it is.",
        group=MOVES,
    )
    rate: float = slider(
        0.01,
        (0.001, 0.2),
        step=0.001,
        symbol="ω",
        label="Change",
        unit="share",
        group=MOVES,
        logarithmic=True,
        hint="How fast form is forgotten: the share lost in one match.",
        when=("motion", "form"),
    )
    spread: float = slider(
        1.0,
        (0.1, 3.0),
        step=0.05,
        symbol="√V",
        label="Reach of form",
        unit="points",
        group=MOVES,
        hint="How far form carries a team from its average in the long run.",
        when=("motion", "form"),
    )
    walk: float = slider(
        0.02,
        (0.005, 0.3),
        step=0.001,
        symbol="s",
        label="Step of the walk",
        unit="points",
        group=MOVES,
        hint="How far strength moves, at random, from one match to the next.",
        logarithmic=True,
        when=("motion", "walk"),
    )
    alpha: float = slider(
        0.5,
        (0.0, 2.0),
        step=0.05,
        symbol="α",
        label="Learning",
        group=MOVES,
        when=("motion", "learning"),
        hint="What a match teaches both sides, the weaker one more.",
    )
    beta: float = slider(
        0.2,
        (0.0, 2.0),
        step=0.05,
        symbol="β",
        label="Gain of the better",
        group=MOVES,
        when=("motion", "learning"),
        hint="What the side ahead gains on the other in a match.",
    )
    diffusion: float = slider(
        0.5,
        (0.0, 2.0),
        step=0.05,
        label="Chance in learning",
        group=MOVES,
        when=("motion", "learning"),
        hint="Random change of strength in a match, in units of √γ.",
    )
    steps: str = choice(
        "fixed",
        {"fixed": "One for all", "glicko": "Glicko, by uncertainty"},
        label="Steps",
        group=RULES,
        hint="One step size for all, or Glicko's: a rating that is unsure moves further.",
    )
    gamma: float = slider(
        0.1,
        (0.01, 1.0),
        step=0.01,
        symbol="γ",
        label="Step size",
        unit="step",
        group=RULES,
        first=True,
        logarithmic=True,
        hint="How far one surprising result moves a rating. Large steps learn fast and add luck.",
        when=("steps", "fixed"),
    )
    growth: float = slider(
        0.1,
        (0.01, 1.0),
        step=0.01,
        symbol="c",
        label="Doubt gained",
        unit="points",
        group=RULES,
        first=True,
        logarithmic=True,
        hint="How much uncertainty a rating gains from one match to the next.",
        when=("steps", "glicko"),
    )
    deviation: float = slider(
        2.0,
        (0.1, 3.0),
        step=0.1,
        symbol="RD",
        label="First uncertainty",
        unit="points",
        group=RULES,
        hint="Deviation of every rating at the start.",
        when=("steps", "glicko"),
    )
    schedule: str = choice(
        "single",
        {"single": "After each match", "period": "After a period", "rounds": "After a round, all against all"},
        label="Results count",
        hint="At once, or together at the end of a period or a round.",
        group=RULES,
    )
    period: int = slider(
        10,
        (2, 60),
        step=1,
        symbol="n",
        label="Matches in a period",
        hint="Matches of each team that count together.",
        group=RULES,
        when=("schedule", "period"),
    )
    sides: int = slider(
        2,
        (2, 16),
        step=1,
        symbol="k",
        label="Teams in a contest",
        group=RULES,
        hint="How many meet at once: 2 play a match, more are ranked, as in a race.",
        at_most="teams",
    )
    nu: float = slider(
        0.5,
        (0.05, 2.0),
        step=0.01,
        symbol="ν",
        label="Decisiveness",
        group=RULES,
        logarithmic=True,
        hint="How surely the stronger side wins: the same lead counts for more when this is large.",
    )
    ties: float = slider(
        0.0,
        (0.0, 0.6),
        step=0.05,
        label="Draws",
        hint="Share of drawn matches between equal teams.",
        unit="share",
        group=RULES,
    )
    teams: int = slider(
        200,
        (10, 500),
        step=10,
        symbol="N",
        label="Teams",
        group=LEAGUE,
        hint="Number of teams, evenly spread from weak to strong.",
    )
    pairing: str = choice(
        "all",
        {"all": "Everyone", "local": "Mostly neighbours in the table", "window": "Only similar ratings"},
        label="Who plays whom",
        hint="How opponents find each other.",
        group=LEAGUE,
    )
    window: float = slider(
        2.0,
        (0.5, 6.0),
        step=0.1,
        symbol="c",
        label="Largest gap",
        unit="points",
        group=LEAGUE,
        hint="Two teams meet only if their ratings differ by at most this much.",
        when=("pairing", "window"),
    )
    start: str = choice(
        "random", {"random": "At random", "equal": "All equal"}, label="Ratings begin", hint="Where every team starts.",
        group=LEAGUE,
    )  # fmt: skip

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
        return self.scaled_dynamics(1.0)

    def scaled_dynamics(self, point: float) -> Dynamics | None:
        """How strengths move where one point of the model counts as ``point``; learning is in units of the step."""
        laws = {
            "form": lambda: Form(rate=self.rate, spread=point * self.spread),
            "walk": lambda: Walk(spread=point * self.walk),
            "learning": lambda: Learning(self.alpha, self.beta, point**0.5 * self.diffusion),
        }
        return laws[self.motion]() if self.motion in laws else None

    @property
    def outcome(self) -> Outcome:
        """The outcome function: with draws, Davidson's κ is such that equals draw the wanted share."""
        return self._scaled_outcome(1.0)

    def _scaled_outcome(self, point: float) -> Outcome:
        nu = self.nu / point
        return Davidson(nu, 2 * self.ties / (1 - self.ties)) if self.ties > 0 else Tanh(nu)

    @property
    def system(self) -> RatingSystem:
        """The rating system."""
        return self.scaled_system(1.0)

    def scaled_system(self, point: float) -> RatingSystem:
        """The rating system where one point of the model counts as ``point``."""
        w = Local().scalar_w()
        pairings: dict[str, Callable[[], Pairing]] = {
            "all": AllPlayAll,
            "local": lambda: Local() if point == 1.0 else Pairing.from_function(lambda z: w(z / point)),
            "window": lambda: Window(point * self.window),
        }
        field = Field(self.sides) if self.sides > 2 else None
        schedules: dict[str, Schedule | None] = {"single": field, "period": Period(self.period), "rounds": Rounds()}
        gamma = point * self.gamma
        if self.steps == "glicko":
            gamma = DeviationSteps(growth=point * self.growth, start=point * self.deviation)
        return RatingSystem(
            self._scaled_outcome(point), pairings[self.pairing](), gamma, schedule=schedules[self.schedule]
        )

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
            return np.full(self.teams, MIDDLE)
        return np.random.default_rng(seed).permutation(homogeneous(sigma=0.0, teams=self.teams, theta=THETA).theta)

    @property
    def elo_points(self) -> float:
        """Elo points to one point of the sliders: expected scores between near equals are then the same.

        >>> round(Controls().elo_points, 1), round(Controls(ties=0.5).elo_points, 1)
        (173.7, 86.9)
        """
        return elo_points(float(self.outcome.b_prime(0.0)))

    def units(self, name: str) -> Units:
        """How the page writes numbers of this league: ``name`` is "elo" or "paper"."""
        return Units("elo", self.elo_points) if name == "elo" else Units()


@dataclass(frozen=True)
class Preset:
    """A position of the controls worth a look, with words about it."""

    name: str
    label: str
    values: Controls


def _with_k(k: float, **values: Any) -> Controls:
    controls = Controls(**values)
    return controls.but(gamma=k / (2 * controls.elo_points))


PRESETS = (
    Preset("first", "As on the first visit", Controls()),
    Preset("squads", "The paper's squads: 11 of 23 play", Controls(law="lottery")),
    Preset("fair", "Ratings right on average: bias and luck cancel", Controls(gamma=0.61)),
    Preset("chess", "Like chess: K = 20, half drawn, form of ± 100 Elo", _with_k(20, ties=0.5, sigma=1.15)),
    Preset("football", "Like football: K = 20, a quarter drawn", _with_k(20, ties=0.25, sigma=1.0, teams=20)),
    Preset("form", "Form that comes and goes: ratings lag behind", Controls(motion="form", sigma=0.5, gamma=0.2)),
    Preset("rounds", "A league of 20 in rounds, all against all", Controls(schedule="rounds", teams=20, gamma=0.05)),
    Preset("glicko", "Glicko: unsure ratings move further", Controls(steps="glicko", start="equal")),
    Preset("contests", "Races of eight: less luck than in matches of two", Controls(sides=8)),
    Preset(
        "online", "Like an online game: K = 32, near equals only",
        _with_k(32, sigma=0.6, teams=500, pairing="window", window=2.0, start="equal"),
    ),
)  # fmt: skip


def described_presets() -> list[dict[str, Any]]:
    """The presets as the page lists them."""
    return [{"name": one.name, "label": one.label, "values": one.values.to_dict()} for one in PRESETS]
