"""Settings of theory drawn at random: leagues, systems and motions of every kind, asymmetric in everything."""

from typing import Any, NamedTuple

import numpy as np

import kinelo as kn


class Setting(NamedTuple):
    """A system, who plays, and how strengths move; ``kind`` names what is special about it."""

    kind: str
    system: kn.RatingSystem
    league: Any
    dynamics: Any

    def with_step(self, factor: float) -> kn.RatingSystem:
        """The system with another step."""
        return kn.RatingSystem(
            self.system.outcome, self.system.pairing, factor * self.system.gamma, self.system.schedule
        )


KINDS = ("rest", "window", "strangers", "rounds", "period", "field", "form", "field form", "walk", "field walk")


def draw_setting(kind: str, seed: int) -> Setting:
    """A setting of a kind: sizes, strengths, spreads, steps and laws all drawn."""
    random = np.random.default_rng([seed, KINDS.index(kind)])
    teams = int(random.integers(6, 14))
    nu, width = random.uniform(0.3, 0.8), random.uniform(1.5, 5.0)
    theta = width * np.sort(random.beta(0.8, 1.3, teams))
    outcome = kn.model.Probit(nu) if random.random() < 0.3 else kn.Tanh(nu)
    sigma = 0.0 if random.random() < 0.3 else random.uniform(0.1, 0.6, teams) / nu
    gamma = float(np.exp(random.uniform(np.log(0.03), np.log(0.12))) / outcome.steepest / 2)
    pairing, schedule, dynamics = kn.model.AllPlayAll(), None, None
    if kind in ("window", "strangers"):
        c = float(random.uniform(0.6, 0.9) * width)
        pairing = kn.model.Window(c) if kind == "window" else kn.model.LooseWindow(c, float(random.uniform(0.05, 0.3)))
        gamma *= 0.5
    if kind == "rounds":
        schedule, gamma = kn.model.Rounds(), gamma / 3
    if kind == "period":
        schedule, gamma = kn.model.Period(int(random.integers(2, 6))), gamma / 2
    if kind.startswith("field"):
        schedule, gamma = kn.model.Field(int(random.integers(3, 6))), 2 * gamma
    if kind.endswith("form"):
        dynamics = kn.model.Form(float(random.uniform(0.015, 0.06)), float(random.uniform(0.2, 0.5) / nu))
    if kind.endswith("walk"):
        dynamics = kn.model.Walk(float(random.uniform(0.1, 0.25) * gamma**0.5 * width / 4))
    return Setting(kind, kn.RatingSystem(outcome, pairing, gamma, schedule), kn.Normal(theta, sigma), dynamics)
