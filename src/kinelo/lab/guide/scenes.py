"""The seven scenes: title, question, the one control and its stops, and who draws it. Page and site are made from them.
A title asks; what follows takes its place once the visitor has guessed.

A scene has few stops, so all its pictures are computed at once: the page then answers the hand without asking anybody.
The site is one page with everything but plotly.js, which lies beside it, so it also opens from a disk."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from kinelo.errors import InputError
from kinelo.lab.guide.leagues import bias_and_luck, fair_k, fair_stops, luck, moving_strength, settling
from kinelo.lab.guide.matches import (
    BEST_LEAD,
    DAYS_LEAD,
    ELO,
    LAW,
    STRONG,
    UNITS,
    WEAK,
    Picture,
    good_and_bad_days,
    one_match,
    step_of,
    taken,
    why_too_low,
)
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
    """One idea: a question as its title, the answer, a control, and a function that draws."""

    title: str
    answer: str
    control: Stops
    draw: Callable[..., Picture]


def _range(low: int, high: int, step: int) -> tuple[float, ...]:
    return tuple(float(value) for value in range(low, high + 1, step))


def _days(first: float = 175.0) -> Stops:
    return Stops("days", "points", "Ups and downs", _range(0, 400, 25), first)


def _k(values: tuple[float, ...], first: float = 32.0) -> Stops:
    return Stops("k", "step", "Step size", values, first)


def questions(units: Units) -> tuple[Question, ...]:
    """What is asked before each scene, in the units of the page."""
    gap, first = 200 / ELO, step_of(32.0)
    cost = first * float(1 + LAW.b(gap)) * units.factor
    alone, promised = percent(float(1 + LAW.b(DAYS_LEAD)) / 2), float(1 + LAW.b(BEST_LEAD)) / 2
    fair = units.step(step_of(fair_k()))
    return (
        Question(
            f"{STRONG} leads {WEAK} by {units.points(gap)} {units.word}, and loses. How many points does that cost "
            f"it, with {units.step(first)}?",
            tuple(f"{value:.2g}" for value in (cost / 3, cost * 2 / 3, cost)), 2,
        ),
        Question(
            f"{STRONG} is {units.points(DAYS_LEAD)} {units.word} stronger than {WEAK}, which promises {alone} of the "
            "points. Now both have good and bad days. What does it take?",
            (f"more than {alone}", f"still {alone}", f"less than {alone}"), 2,
        ),
        Question(
            f"{STRONG} is {units.points(BEST_LEAD)} {units.word} stronger than {WEAK}: its strength promises "
            f"{percent(promised)}. What does it take, good and bad days together?",
            (percent((1 + promised) / 2), percent(promised), percent(taken(BEST_LEAD, 175 / ELO))), 2,
        ),
        Question(
            "A hundred teams begin with ratings dealt out at random, and play. Along which line will they end?",
            ("the dashed one: rating = strength", "a flatter one", "it depends on the start"), 1,
        ),
        Question(
            f"The dots are rated with {units.step(first)}. With four times the step, {units.step(4 * first)}, how much "
            "further does luck carry them?",
            ("no further", "about twice as far", "four times as far"), 1,
        ),
        Question(
            f"Bias falls as the step grows, luck rises. With {fair} ratings are right on average. Which step misses "
            "true strength least, bias and luck together?",
            (fair, "a smaller one", "a larger one"), 1,
        ),
        Question(
            f"{STRONG}'s form comes and goes. Which step follows it best?",
            ("a very small one", "one in between", "a very large one"), 1,
        ),
    )  # fmt: skip


@lru_cache(maxsize=1)
def scenes() -> tuple[Scene, ...]:
    """The scenes in order."""
    return (
        Scene(
            "What does a match do to two ratings?", "A match moves two ratings: a surprise moves them far",
            Stops("lead", "points", f"{STRONG}'s lead", _range(-600, 600, 50), 200.0), one_match,
        ),
        Scene(
            "What do good and bad days change?", "Good and bad days bring two sides closer together", _days(),
            good_and_bad_days,
        ),
        Scene(
            "Are the best rated as they deserve?",
            "The best are rated too low: they take less than their strength promises", _days(), why_too_low,
        ),
        Scene(
            "Where do the ratings of a league end?", "A league settles, wherever it starts",
            Stops(
                "start", "choice", "Ratings begin", ("random", "equal", "reversed"), "random",
                ("at random", "all equal", "upside down"),
            ),
            settling,
        ),
        Scene(
            "How far does luck carry a rating?", "Four times the step, about twice the luck",
            _k((8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0)), luck,
        ),
        Scene(
            "Which step is the best one?", "One step makes ratings right on average, and it is not the best",
            _k(fair_stops()), bias_and_luck,
        ),
        Scene(
            "Which step follows strengths that move?", "Strengths move, and a best step exists",
            _k((4.0, 8.0, 12.0, 16.0, 24.0, 32.0, 40.0, 48.0, 64.0, 96.0, 128.0, 192.0)), moving_strength,
        ),
    )  # fmt: skip


def described_scenes() -> list[dict[str, Any]]:
    """The scenes as a page lists them."""
    return [{"title": one.title, "answer": one.answer, "control": asdict(one.control)} for one in scenes()]


@lru_cache(maxsize=32)
def scene_pictures(number: int, units: str = "elo") -> dict[str, Any]:
    """Scene 1 to 7 at every stop of its control."""
    if not 1 <= number <= len(scenes()):
        raise InputError(f"There are scenes 1 to {len(scenes())}, not {number}.")
    if units not in UNITS:
        raise InputError(f"Units are {' or '.join(UNITS)}.")
    scene, chosen = scenes()[number - 1], UNITS[units]
    return {
        "question": asdict(questions(chosen)[number - 1]),
        "labels": scene.control.labels(chosen),
        "pictures": [scene.draw(chosen, value).to_dict() for value in scene.control.values],
    }


class GuideController:
    """Lists and draws scenes, and counts what was guessed; what was drawn is kept."""

    def __init__(self) -> None:
        self._guesses: dict[int, list[int]] = {}

    def scenes(self) -> list[dict[str, Any]]:
        """Titles and controls."""
        return described_scenes()

    def scene(self, number: int, units: str) -> dict[str, Any]:
        """A scene at every stop of its control."""
        return scene_pictures(number, units)

    def guess(self, number: int, choice: int | None) -> list[int]:
        """How many guessed each answer of a scene, this guess among them where there is one."""
        if not 1 <= number <= len(scenes()):
            raise InputError(f"There are scenes 1 to {len(scenes())}, not {number}.")
        answers = len(questions(UNITS["elo"])[number - 1].answers)
        counts = self._guesses.setdefault(number, [0] * answers)
        if choice is not None:
            if isinstance(choice, bool) or not isinstance(choice, int) or not 0 <= choice < answers:
                raise InputError(f"A guess is the place of an answer, 0 to {answers - 1}.")
            counts[choice] += 1
        return counts


PLOTLY = "plotly.min.js"
STYLES = ("theme.css", "layout.css", "parts.css", "guide.css")
SCRIPTS = ("words.js", "charts.js", "guide.js", "guide_site.js")
"""Modules in the order in which they need one another."""
STATIC = files("kinelo.lab") / "static"

GUIDE_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="What ratings do when strength varies: seven scenes, five minutes.">
<title>Kinelo: a guided visit</title>
<style>
{styles}
</style>
<script>{first}</script>
<script src="{plotly}" defer></script>
</head>
<body>
<header class="top"><p class="brand">Kinelo <span>a guided visit</span></p>
<a href="{home}" class="connection">Documentation</a></header>
<main id="content"><section id="guide"><h1>What variable strength does to ratings</h1>
<noscript><p>The scenes need JavaScript to draw.</p></noscript></section></main>
<div id="toast" class="toast" role="alert" hidden></div>
<script type="application/json" id="guide-data">{data}</script>
<script type="module">
{script}
</script>
</body>
</html>
"""


def plotly_script() -> bytes:
    """plotly.js of the installed package."""
    return (files("plotly") / "package_data" / PLOTLY).read_bytes()


def guide_page(doors: list[dict[str, str]], home: str, *, drawn: bool = True) -> str:
    """The page; ``doors`` say where it leads to. Without ``drawn`` nothing is computed, and the scenes are empty."""
    data: dict[str, Any] = {"scenes": described_scenes() if drawn else [], "pictures": {}, "doors": doors}
    if drawn:
        numbers = range(1, len(scenes()) + 1)
        data["pictures"] = {f"{number}-{units}": scene_pictures(number, units) for number in numbers for units in UNITS}
    return GUIDE_PAGE.format(
        styles="\n".join(_text(name) for name in STYLES),
        first=_text("first.js"),
        plotly=PLOTLY,
        home=home,
        data=json.dumps(data, ensure_ascii=False, allow_nan=False).replace("</", "<\\/"),
        script="\n".join(_alone(_text(name)) for name in SCRIPTS),
    )


def _text(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _alone(script: str) -> str:
    """A module without its imports and exports: all of them stand in one scope, under names of their own."""
    return re.sub(r"^export ", "", re.sub(r"^import .*\n", "", script, flags=re.MULTILINE), flags=re.MULTILINE)
