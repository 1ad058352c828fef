"""One remedy at a time: applied, it lowers the error, and the next diagnosis does not take it back."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import kinelo as kn

HALF = kn.Tanh(0.5)
TEAMS = np.linspace(0.0, 3.0, 7)
MOVING = {
    "still": None, "form": kn.model.Form(0.02, 0.8), "fast form": kn.model.Form(0.8, 0.3), "walk": kn.model.Walk(0.03),
    "open": kn.model.Turnover(0.02, [0.0, 1.0, 2.0, 3.0], 1.5), "learning": kn.model.Learning(0.5, 0.1, 0.5),
}  # fmt: skip
SYSTEMS = {
    "tiny": {"gamma": 0.005}, "middle": {"gamma": 0.08}, "large": {"gamma": 1.2},
    "glicko": {"gamma": kn.model.DeviationSteps(0.2, 1.0)}, "falling": {"gamma": kn.model.FallingSteps(0.4, 2.0, 30)},
    "each": {"gamma": tuple(np.linspace(0.03, 0.5, 7))}, "rounds": {"gamma": 0.25, "schedule": kn.model.Rounds()},
    "period": {"gamma": 0.3, "schedule": kn.model.Period(5)},
}  # fmt: skip
NOT_JUDGED = {(kind, "learning") for kind in ("glicko", "falling", "each", "rounds", "period")}
"""Learning is judged for one step of all teams, match by match."""

VARYING_MUCH = {(kind, moves) for kind in ("tiny", "middle", "large") for moves in MOVING if moves != "learning"}
LEAGUES = [
    pytest.param(
        kind, moves, (0.0, 1.0, 3.0 if (kind, moves) in VARYING_MUCH else 0.5)[(k + m) % 3],
        marks=[pytest.mark.long] if (2 * k + m) % 3 else [],
    )
    for k, kind in enumerate(SYSTEMS)
    for m, moves in enumerate(MOVING)
    if (kind, moves) not in NOT_JUDGED
]  # fmt: skip
"""Every system with every motion; each of them meets performances that do not vary, vary and vary much.

A third of them, in which every system and every motion has its part, are tried at every run.

Learning meets none that vary much: its joint state is then a matter of theory, and takes seconds.
"""


def direction(remedy):
    """Which way steps go: up, down or not."""
    return 0 if remedy is None or remedy.kind != "step" else 1 if remedy.sentence.startswith("Raise") else -1


def signed(verdict):
    """+1 or −1 for a change of the steps; all steps by a factor as its sign."""
    remedy = verdict.remedy
    if remedy is None or remedy.kind != "step":
        return 0
    if remedy.sentence.startswith("Multiply all steps"):
        return 1 if float(re.search(r"by ([\d.e-]+):", remedy.sentence)[1]) > 1 else -1
    return direction(remedy)


@pytest.mark.parametrize(("kind", "moves", "sigma"), LEAGUES)
def test_a_remedy_helps_and_is_not_taken_back(kind, moves, sigma):
    system, league = kn.RatingSystem(HALF, **SYSTEMS[kind]), kn.Normal(TEAMS, sigma)
    found = kn.diagnose(system, league, MOVING[moves])
    said = " ".join(found.advice)
    assert not ("Raise" in said and "Reduce" in said) and len(re.findall("mean square error falls", said)) <= 1
    if found.remedy is None:
        return
    remedy = found.remedy
    assert remedy.before.total == pytest.approx(found.error.total)
    assert remedy.after.total < 0.95 * remedy.before.total
    if remedy.kind == "scale":
        moments = found.motion.tracking.moments if found.motion and found.motion.tracking else None
        if moments is not None:
            rest = moments.V - 2 * remedy.factor * moments.C + remedy.factor**2 * moments.U
            assert remedy.after.total == pytest.approx(rest)
        return
    again = kn.diagnose(remedy.system, league, MOVING[moves])
    assert again.error.total == pytest.approx(remedy.after.total, rel=1e-6)
    assert signed(again) != -signed(found)


def test_sentences_hold_the_numbers():
    league = kn.Normal(np.linspace(0, 3, 10), 0.6)
    found = kn.diagnose(kn.RatingSystem(HALF, gamma=0.01), league, kn.model.Form(0.02, 0.8))
    best = kn.best_gamma(HALF, league, kn.model.Form(0.02, 0.8))
    before, after = found.remedy.before, found.remedy.after
    assert found.remedy.system.gamma == pytest.approx(best.gamma, rel=1e-6)
    falls = f"falls from {before.total:.3g} to {after.total:.3g} ("
    assert found.advice[0].startswith(f"Raise γ from 0.01 to {best.gamma:.3g}: the mean square error {falls}")
    assert f"lag {before.lag:.2g} → {after.lag:.2g}" in found.advice[0]
    assert f"± {math.sqrt(after.noise):.2g} instead of ± {math.sqrt(before.noise):.2g}" in found.advice[0]
    down = kn.diagnose(kn.RatingSystem(HALF, gamma=0.4), kn.Fixed(np.linspace(0, 3, 10)))
    there = kn.diagnose(down.remedy.system, kn.Fixed(np.linspace(0, 3, 10)))
    assert f"about {there.matches_until_converged:,.0f} matches per team to settle instead of" in down.advice[0]
    assert there.remedy is None


def test_wide_performances_are_not_cured_by_noise():
    """σ = 3: the unbiased γ would let ratings wander by several times the spread of strengths. It is not advised."""
    found = kn.diagnose(kn.RatingSystem(HALF, gamma=0.01), kn.Normal(np.linspace(0, 2, 8), 3.0))
    assert found.unbiased_gamma > 1 and found.noise_when_unbiased > 3 * found.strength_spread
    assert found.remedy.kind == "scale" and found.remedy.factor > 1 and "too close together" in found.advice[0]
    row = dict(found.rows())["Unbiased step size"]
    assert (
        f"± {found.noise_when_unbiased:.3g} instead of ± {found.rating_noise:.3g}" in row
        and "no bias on average" in row
    )


def test_what_stretches_is_named():
    """Davidson with κ = 20: expected scores are steeper in the middle of the range than at 0, whatever the step."""
    found = kn.diagnose(kn.RatingSystem(kn.model.Davidson(0.5, 20.0), gamma=0.02), kn.Normal(np.linspace(0, 3, 9), 1.5))
    scale = dict(found.rows())["Scale of the ratings"]
    small = found.slope_of_small_steps
    assert small > 1.01 and f"{small:.4f} for very small steps, where the curve of results stretches by itself" in scale
    assert f"{found.slope - small:+.4f} by rating noise" in scale
    assert "the curve of results stretches" in dict(found.rows())["Unbiased step size"]
    assert found.remedy.kind == "scale" and found.remedy.factor < 1 and "too far apart" in found.advice[0]


def test_an_open_league_whose_newcomers_are_not_computed_says_so():
    unequal = kn.Normal(TEAMS, np.linspace(0.3, 0.7, len(TEAMS)))
    found = kn.diagnose(kn.RatingSystem(HALF, gamma=0.5), unequal, kn.model.Turnover(0.01, [0.0, 3.0], 1.5))
    assert "Unbiased step size" not in dict(found.rows())
    assert found.remedy is None and "what newcomers add" in found.advice[0]
    assert dict(found.rows())["Error"].startswith("if nobody came or left: ")


def test_learning_has_no_step_to_choose():
    found = kn.diagnose(kn.RatingSystem(HALF, gamma=0.1), kn.Fixed(TEAMS), kn.model.Learning(0.5, 0.1, 0.5))
    assert "the pace at which teams learn" in dict(found.rows())["Best step size"] and "Rated too high" not in dict(
        found.rows()
    )
    assert found.remedy is None or found.remedy.kind == "scale"


def test_error_before_and_after_as_played():
    """Theory and league agree within 4 standard errors (a false alarm in 10,000) or 2 %."""
    league, form = kn.Normal(np.linspace(0, 3, 6), 0.4), kn.model.Form(0.03, 0.7)
    found = kn.diagnose(kn.RatingSystem(HALF, gamma=0.4), league, form, check=True)
    [before] = [one for one in found.check.quantities if one.name == "mean square error"]
    [after] = [one for one in found.remedy.check.quantities if one.name == "mean square error"]
    assert found.remedy.kind == "step"
    assert after.theory == pytest.approx(found.remedy.after.total)
    assert after.agrees and after.played < before.played


def test_a_small_step_with_varying_performances_is_read_on_another_scale_as_played():
    league = kn.Normal(np.linspace(0, 3, 6), 1.2)
    found = kn.diagnose(kn.RatingSystem(HALF, gamma=0.01), league, check=True)
    assert found.remedy.kind == "scale"
    [after] = [one for one in found.check.quantities if "gaps times" in one.name]
    assert after.theory == pytest.approx(found.remedy.after.total) and after.agrees
    assert replace(found, check=None).advice == found.advice
