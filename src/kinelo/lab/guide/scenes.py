"""The seven scenes: title, question, the one control and its stops, and who draws it. Page and site are made from them.

A scene has few stops, so all its pictures are computed at once: the page then answers the hand without asking anybody.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from kinelo.errors import InputError
from kinelo.lab.guide.laws import ELO, STRONG, UNITS, WEAK, Picture, step_of
from kinelo.lab.guide.leagues import (
    bias_and_luck,
    fair_k,
    fair_stops,
    luck,
    moving_strength,
    settling,
)  # fmt: skip
from kinelo.lab.guide.matches import BEST_LEAD, DAYS_LEAD, LAW, good_and_bad_days, one_match, taken, why_too_low
from kinelo.lab.units import Units
from kinelo.presentation import percent

Value = float | str


@dataclass(frozen=True)
class Stops:
    """The one control of a scene: the places where it rests, in Elo points or as options, and the first of them.

    ``kind`` is "points", "step" or "choice"; ``words`` are those of the options.
    """

    name: str
    kind: str
    label: str
    values: tuple[Value, ...]
    first: Value
    words: tuple[str, ...] = ()

    def labels(self, units: Units) -> list[str]:
        """What every stop is called on the page."""
        if self.words:
            return list(self.words)
        if self.kind == "step":
            return [units.step(step_of(float(value))) for value in self.values]
        return [f"{units.points(float(value) / ELO)} {units.word}" for value in self.values]


@dataclass(frozen=True)
class Question:
    """What is asked before the picture plays; ``right`` is the place of the true answer."""

    words: str
    answers: tuple[str, ...]
    right: int


@dataclass(frozen=True)
class Scene:
    """One idea: a sentence as its title, a question in the units of the page, a control, and a function that draws."""

    title: str
    question: Callable[[Units], Question]
    control: Stops
    draw: Callable[..., Picture]


def _range(low: int, high: int, step: int) -> tuple[float, ...]:
    return tuple(float(value) for value in range(low, high + 1, step))


def _days(first: float = 175.0) -> Stops:
    return Stops("days", "points", "Ups and downs", _range(0, 400, 25), first)


def _k(values: tuple[float, ...], first: float = 32.0) -> Stops:
    return Stops("k", "step", "Step size", values, first)


def _ask_match(units: Units) -> Question:
    gap, f = 200 / ELO, units.factor
    changes = (units.step(step_of(32.0)), units.points(gap))
    cost = step_of(32.0) * float(1 + LAW.b(gap)) * f
    answers = tuple(f"{value:.2g}" for value in (cost / 3, cost * 2 / 3, cost))
    return Question(
        f"{STRONG} leads {WEAK} by {changes[1]} {units.word}, and loses. How many points does that cost it, with "
        f"{changes[0]}?",
        answers, 2,
    )  # fmt: skip


def _ask_days(units: Units) -> Question:
    alone = percent(float(1 + LAW.b(DAYS_LEAD)) / 2)
    return Question(
        f"{STRONG} is {units.points(DAYS_LEAD)} {units.word} stronger than {WEAK}, which promises {alone} of the "
        "points. Now both have good and bad days. What does it take?",
        (f"more than {alone}", f"still {alone}", f"less than {alone}"), 2,
    )  # fmt: skip


def _ask_best(units: Units) -> Question:
    promised, share = float(1 + LAW.b(BEST_LEAD)) / 2, taken(BEST_LEAD, 175 / ELO)
    return Question(
        f"{STRONG} is {units.points(BEST_LEAD)} {units.word} stronger than {WEAK}: its strength promises "
        f"{percent(promised)}. What does it take, good and bad days together?",
        (percent((1 + promised) / 2), percent(promised), percent(share)), 2,
    )  # fmt: skip


def _ask_settling(units: Units) -> Question:
    return Question(
        "A hundred teams begin with ratings dealt out at random, and play. Along which line will they end?",
        ("the dashed one: rating = strength", "a flatter one", "it depends on the start"), 1,
    )  # fmt: skip


def _ask_luck(units: Units) -> Question:
    small, large = (units.step(step_of(k)) for k in (32.0, 128.0))
    return Question(
        f"The dots are rated with {small}. With four times the step, {large}, how much further does luck carry them?",
        ("no further", "about twice as far", "four times as far"), 1,
    )  # fmt: skip


def _ask_fair(units: Units) -> Question:
    fair = units.step(step_of(fair_k()))
    return Question(
        f"Bias falls as the step grows, luck rises. With {fair} ratings are right on average. Which step misses true "
        "strength least, bias and luck together?",
        (fair, "a smaller one", "a larger one"), 1,
    )  # fmt: skip


def _ask_moving(units: Units) -> Question:
    return Question(
        f"{STRONG}'s form comes and goes. Which step follows it best?",
        ("a very small one", "one in between", "a very large one"), 1,
    )  # fmt: skip


@lru_cache(maxsize=1)
def scenes() -> tuple[Scene, ...]:
    """The scenes in order."""
    return (
        Scene(
            "A match moves two ratings: a surprise moves them far", _ask_match,
            Stops("lead", "points", f"{STRONG}'s lead", _range(-600, 600, 50), 200.0), one_match,
        ),
        Scene("Strength is a good day or a bad one", _ask_days, _days(), good_and_bad_days),
        Scene(
            "The best are rated too low: they take less than their strength promises", _ask_best, _days(), why_too_low
        ),
        Scene(
            "A league settles, wherever it starts", _ask_settling,
            Stops(
                "start", "choice", "Ratings begin", ("random", "equal", "reversed"), "random",
                ("at random", "all equal", "upside down"),
            ),
            settling,
        ),
        Scene(
            "Luck: four times the step, about twice the luck", _ask_luck,
            _k((8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0)), luck,
        ),
        Scene(
            "One step makes ratings right on average, and it is not the best", _ask_fair, _k(fair_stops()),
            bias_and_luck,
        ),
        Scene(
            "Strengths move, and a best step exists", _ask_moving,
            _k((4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 40.0, 48.0, 64.0, 96.0, 128.0, 192.0)), moving_strength,
        ),
    )  # fmt: skip


def described_scenes() -> list[dict[str, Any]]:
    """The scenes as a page lists them."""
    return [{"title": scene.title, "control": asdict(scene.control)} for scene in scenes()]


@lru_cache(maxsize=32)
def scene_pictures(number: int, units: str = "elo") -> dict[str, Any]:
    """Scene 1 to 7 at every stop of its control."""
    if not 1 <= number <= len(scenes()):
        raise InputError(f"There are scenes 1 to {len(scenes())}, not {number}.")
    if units not in UNITS:
        raise InputError(f"Units are {' or '.join(UNITS)}.")
    scene, chosen = scenes()[number - 1], UNITS[units]
    return {
        "question": asdict(scene.question(chosen)),
        "labels": scene.control.labels(chosen),
        "pictures": [scene.draw(chosen, value).to_dict() for value in scene.control.values],
    }


class GuideController:
    """Lists and draws scenes; what was drawn is kept."""

    def scenes(self) -> list[dict[str, Any]]:
        """Titles and controls."""
        return described_scenes()

    def scene(self, number: int, units: str) -> dict[str, Any]:
        """A scene at every stop of its control."""
        return scene_pictures(number, units)
