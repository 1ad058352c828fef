"""A position of the sliders as lines of Python that play the same league, match by match, and ask theory of it."""

from __future__ import annotations

from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.theory import EXPLORED_NODES, typical_sigma, unanswered
from kinelo.lab.units import CENTRE, MIDDLE, THETA


def python_lines(controls: Controls, seed: int, pairs: int | str, units: str = "paper") -> str:
    """The league after so many drawn pairs, its slope and the slope that theory expects; every line runs.

    What is printed is in the units of the page.

    >>> print(python_lines(Controls(teams=20), 1, 5000).splitlines()[5])
    start = np.random.default_rng(1).permutation(theta)
    """
    return "\n".join(
        [
            "import numpy as np",
            "import kinelo as kn",
            "",
            f"theta = kn.homogeneous(sigma=0.0, teams={controls.teams}, theta={THETA}).theta",
            *_league(controls, seed),
            f"start = np.random.default_rng({seed}).permutation(theta)"
            if controls.start == "random"
            else f"start = np.full({controls.teams}, {MIDDLE})",
            f"system = {_system(controls)}",
            *([f"dynamics = {controls.dynamics!r}".replace("= ", "= kn.", 1)] if controls.dynamics else []),
            f"run = kn.simulate(system, league, steps={pairs}, matches_per_step=1, seed={seed}, start=start,",
            f'                  sampling="literal"{", dynamics=dynamics" if controls.dynamics else ""})',
            "rating = run.rating.isel(realisation=0, time=-1).values",
            *_strength(controls),
            *_shown(controls, units),
            "print(np.polyfit(strength, rating, 1)[0])  # their slope at this moment",
            *_theory(controls, units),
            "",
        ]
    )


def _league(controls: Controls, seed: int) -> list[str]:
    if controls.law == "normal":
        return [f"league = kn.Normal(theta, sigma={controls.sigma!r})"]
    return [
        f"eta = np.random.default_rng({seed}).standard_normal(({controls.teams}, {controls.players}))",
        "eta -= eta.mean(axis=1, keepdims=True)",
        f"league = kn.LineupLottery((theta[:, None] + {controls.unevenness!r} * eta) / {controls.lineup}, "
        f"{controls.lineup})",
    ]


def _system(controls: Controls) -> str:
    system = controls.system
    pairing = {"all": "AllPlayAll()", "local": "Local()", "window": f"Window({controls.window!r})"}[controls.pairing]
    gamma = repr(controls.gamma)
    if controls.steps == "glicko":
        gamma = f"kn.DeviationSteps(growth={controls.growth!r}, start={controls.deviation!r})"
    outcome = f"kn.Tanh(nu={controls.nu!r})"
    if controls.ties > 0:
        outcome = f"kn.Davidson({controls.nu!r}, {2 * controls.ties / (1 - controls.ties)!r})"
    schedule = "" if system.schedule is None else f", schedule=kn.{system.schedule!r}"
    return f"kn.RatingSystem({outcome}, kn.{pairing}, {gamma}{schedule})"


def _strength(controls: Controls) -> list[str]:
    if controls.motion == "still":
        return ["strength = league.theta"]
    return [
        "strength = run.strength.isel(realisation=0, time=-1).values",
        f"strength = strength - strength.mean() + {MIDDLE}  # about the mean of the league",
    ]


def _shown(controls: Controls, units: str) -> list[str]:
    if units == "paper":
        return ["print(rating)  # the dots on the page"]
    step = "" if controls.steps == "glicko" else f"; K = {2 * controls.gamma * controls.elo_points:.3g}"
    return [
        f"point = {controls.elo_points!r}  # Elo points to one point of the model{step}",
        f"print({CENTRE:.0f} + point * (rating - {MIDDLE}))  # the dots on the page, in Elo points",
    ]


def _theory(controls: Controls, units: str) -> list[str]:
    """What theory expects, where it has an answer; the league of very many teams stands for this one."""
    if reason := unanswered(controls):
        return ["", f"# {reason}"]
    sigma = typical_sigma(controls)
    many = f"many = kn.Continuum({THETA}, {sigma!r}, nodes={EXPLORED_NODES})"
    if controls.schedule == "rounds":
        many = f"many = kn.homogeneous(sigma={sigma!r}, teams={controls.teams}, theta={THETA})"
    if controls.motion != "still":
        asked = ["found = kn.tracking(system, many, dynamics)", "slope, luck = found.rating_slope, found.E**0.5"]
    elif controls.steps == "glicko":
        asked = ['found = kn.theory.settled_deviations(system, many, noise="gaussian")']
    else:
        asked = ['found = kn.stationary(system, many, noise="gaussian")']
    if controls.motion == "still":
        asked.append("slope, luck = found.slope, found.teams.mean(found.variance) ** 0.5")
    words = "luck in a rating" if controls.motion == "still" else "error of a rating"
    shown, points = ("luck", "") if units == "paper" else ("point * luck", " in Elo points")
    note = f"what theory expects, and the {words}{points} (one standard deviation)"
    return ["", many, *asked, f"print(slope, {shown})  # {note}"]
