"""The seven scenes: what each is called, what the hand may move, and who draws it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from kinelo.errors import InputError
from kinelo.lab.explore.controls import Choice, Slider, shown
from kinelo.lab.guide.leagues import fair_step, luck, moving_strength, settling
from kinelo.lab.guide.matches import good_and_bad_days, one_match, why_too_low
from kinelo.lab.guide.pictures import Picture
from kinelo.lab.guide.units import ELO_POINTS, NU, Units

FIRST_GAMMA = 16 / ELO_POINTS
"""K = 32, as in chess."""


@dataclass(frozen=True)
class Scene:
    """One idea: a sentence as its title, the controls, and a function that draws it for their values."""

    title: str
    controls: tuple[Slider | Choice, ...]
    draw: Callable[..., Picture]

    def picture(self, given: object) -> Picture:
        """The scene for values that came from a page; what is not given takes its default."""
        if not isinstance(given, Mapping):
            raise InputError("The controls of a scene must come as names with values.")
        known = {control.name: control for control in (*self.controls, UNITS)}
        if unknown := sorted(map(str, set(given) - set(known))):
            raise InputError(f"This scene has no {shown(unknown[0])}; it has {', '.join(known)}.")
        values = {name: control.default for name, control in known.items()}
        values |= {name: known[name].read(value) for name, value in given.items()}
        units = Units(str(values.pop("units")))
        return _drawn(self.draw, units, tuple(sorted(values.items())))


@lru_cache(maxsize=128)
def _drawn(draw: Callable[..., Picture], units: Units, values: tuple[tuple[str, Any], ...]) -> Picture:
    return draw(units, **dict(values))


UNITS = Choice(
    "units",
    "Points",
    "The paper's points, or those of chess.",
    {"elo": "Elo points", "paper": "the paper's"},
    "elo",
    "",
)


def _sigma(default: float = 1.0) -> Slider:
    return Slider(
        "sigma", "σ", "Ups and downs", "How far strength strays from its average in a typical match.",
        0.0, 3.0, 0.1, default, "", unit="points",
    )  # fmt: skip


def _gap(low: float, default: float, label: str, hint: str, name: str = "gap") -> Slider:
    return Slider(name, "", label, hint, low, 5.0, 0.1, default, "", unit="points")


def _gamma(low: float, high: float, default: float) -> Slider:
    return Slider(
        "gamma", "γ", "Step size", "How far one surprising result moves a rating.",
        low, high, 0.001, default, "", logarithmic=True, unit="step",
    )  # fmt: skip


SEED = Slider("seed", "", "Chance", "Another number is another run of luck under the same rules.", 1, 50, 1, 1, "")

SCENES: tuple[Scene, ...] = (
    Scene(
        "A match moves two ratings: a surprise moves them far",
        (
            _gap(-5.0, 0.0, "The first team's lead", "How many points more the first team has before the match."),
            Choice(
                "winner", "Who wins", "The result of the match.",
                {"first": "the first team", "second": "the second team"}, "first", "",
            ),
            _gamma(0.01, 1.0, FIRST_GAMMA),
        ),
        one_match,
    ),
    Scene(
        "Strength is a good day or a bad one",
        (_sigma(), _gap(0.0, 2.0, "Lead in strength", "How much stronger the first team is on average."), SEED),
        good_and_bad_days,
    ),
    Scene(
        "Why the best are rated too low: one defeat costs more than many wins bring",
        (
            _sigma(), _gap(0.1, 3.0, "Lead in strength", "How much stronger the strong team is on average."),
            _gap(0.0, 3.0, "Lead in rating", "Where the ratings stand: find where gains and losses cancel.", "lead"),
            SEED,
        ),
        why_too_low,
    ),
    Scene(
        "A league settles, wherever it starts",
        (
            _sigma(), _gamma(0.02, 0.5, FIRST_GAMMA),
            Choice(
                "start", "Ratings begin", "Where every team starts.",
                {"random": "at random", "equal": "all equal", "reversed": "upside down"}, "random", "",
            ),
            SEED,
        ),
        settling,
    ),
    Scene("Luck: four times the step, twice the luck", (_gamma(0.02, 0.25, FIRST_GAMMA), _sigma(), SEED), luck),
    Scene("There is a step at which bias and luck cancel", (_gamma(0.02, 1.0, FIRST_GAMMA), _sigma()), fair_step),
    Scene(
        "Strengths move, and a best step exists",
        (
            _gamma(0.01, 0.6, FIRST_GAMMA),
            Slider(
                "rate", "ω", "Change", "How fast form comes and goes: the share lost in one match.",
                0.002, 0.05, 0.001, 0.01, "", logarithmic=True, unit="share",
            ),
            SEED,
        ),
        moving_strength,
    ),
)  # fmt: skip


def described_scenes() -> dict[str, Any]:
    """The scenes as the page lists them."""
    return {
        "scenes": [
            {
                "title": scene.title,
                "controls": [
                    {"kind": "slider" if isinstance(c, Slider) else "choice", **asdict(c)} for c in scene.controls
                ],
            }
            for scene in SCENES
        ],
        "units": asdict(UNITS),
        "nu": NU,
    }


def scene_picture(number: int, values: object) -> dict[str, Any]:
    """Scene 1 to 7 for the values of its controls."""
    if not 1 <= number <= len(SCENES):
        raise InputError(f"There are scenes 1 to {len(SCENES)}, not {number}.")
    return SCENES[number - 1].picture(values).to_dict()
