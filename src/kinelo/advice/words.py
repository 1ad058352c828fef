"""A diagnosis in words: the lines of its table, its advice, and the same as HTML."""

from __future__ import annotations

import math
from html import escape

from kinelo.advice.facts import Facts, RatedTeam

NEAR = 0.02


def rows_of(verdict: Facts) -> list[tuple[str, str]]:
    """Name and finding of every line."""
    return [
        ("Condition (B')", _condition(verdict)),
        ("Taylor closure", _taylor(verdict)),
        ("Scale of the ratings", _scale(verdict)),
        ("Rated too high", _teams(verdict.overrated)),
        ("Rated too low", _teams(verdict.underrated)),
        ("Rating noise", _noise(verdict)),
        ("Time to settle (whole league)", _time(verdict)),
        ("Unbiased step size", _unbiased(verdict)),
    ]


def _condition(verdict: Facts) -> str:
    limit = f"the largest σ_i² + σ_j² is {verdict.condition.load:.0%} of its limit"
    if verdict.condition.holds:
        return f"holds: {limit}, a margin of {verdict.condition.margin:.0%}"
    return f"fails: {limit}"


def _taylor(verdict: Facts) -> str:
    error = f"largest error of an expected result {verdict.taylor.largest_error:.2g}"
    return f"usable: {error}" if verdict.taylor.usable else f"not usable: {error}"


def _scale(verdict: Facts) -> str:
    if math.isnan(verdict.slope):
        return "all teams have the same mean strength"
    if abs(verdict.shrinkage) <= NEAR / 2:
        kind = "as wide as the strengths"
    else:
        kind = f"{'shrunken' if verdict.shrinkage > 0 else 'stretched'} by {abs(verdict.shrinkage):.1%}"
    return f"{kind} (slope {verdict.slope:.4f}; {verdict.slope_of_small_steps:.4f} for very small steps)"


def _teams(teams: tuple[RatedTeam, ...]) -> str:
    if not teams:
        return "none"
    return "\n".join(_team(one) for one in teams)


def _team(one: RatedTeam) -> str:
    return f"{one.team}: {one.bias:+.3g} (strength {one.theta:.4g} ± {one.sigma:.3g}, rating {one.rating:.4g})"


def _noise(verdict: Facts) -> str:
    noise = f"a rating wanders by ± {verdict.rating_noise:.3g} (one standard deviation)"
    if verdict.strength_spread == 0:
        return noise
    return f"{noise}, {verdict.rating_noise / verdict.strength_spread:.0%} of the spread of strengths in the league"


def _time(verdict: Facts) -> str:
    if not verdict.stable:
        return "never: this equilibrium is unstable"
    return (
        f"{verdict.matches_until_converged:,.0f} matches per team until any disturbance of the whole league is down to "
        "1 %: its slowest mode, not how long until a newcomer is right, who is far quicker"
    )


def _unbiased(verdict: Facts) -> str:
    if verdict.by_deviations:
        return "none: steps follow from deviations, and no γ is chosen"
    if verdict.unbiased_gamma is None:
        return "none found (it takes AllPlayAll, teams of different strength, and noise that can be computed)"
    if verdict.unbiased_gamma == 0:
        return "only infinitely small steps are without bias, because strengths do not vary"
    gamma = verdict.unbiased_gamma
    return f"γ = {gamma:.4g} (K = {2 * gamma:.4g}) makes the slope 1; the system has γ = {verdict.system.step:.4g}"


def advice_for(verdict: Facts) -> tuple[str, ...]:
    """What to change, most important first."""
    advice: list[str] = []
    # Where all play alike it is the schedule that overshoots, and the advice is about γ.
    if not verdict.stable and not verdict.system.pairing.constant:
        advice.append("These ratings are an unstable equilibrium: widen the pairing, or start from other ratings.")
    if not verdict.taylor.usable:
        advice.append("Use the exact closure: the Taylor closure misjudges matches of this league.")
    advice += _advice_on_scale(verdict)
    if verdict.strength_spread > 0 and verdict.rating_noise > verdict.strength_spread / 2:
        what = "Let deviations grow more slowly" if verdict.by_deviations else "Reduce γ"
        advice.append(f"{what}: ratings wander by more than half the spread of strengths and hide who is better.")
    return tuple(advice) or ("Nothing: the ratings are on the scale of the strengths.",)


def _advice_on_scale(verdict: Facts) -> list[str]:
    if math.isnan(verdict.slope) or abs(verdict.shrinkage) <= NEAR:
        return []
    gamma, target = verdict.system.step, verdict.unbiased_gamma
    if verdict.by_deviations:
        stretched = "uncertain opponents and rating noise stretch the ratings"
        cause = stretched if verdict.shrinkage < 0 else "varying performances shrink the ratings"
        return [f"Divide rating gaps by {verdict.slope:.3f} before reading them as gaps in strength: {cause}."]
    if verdict.shrinkage < 0:
        if not target:
            return [f"Reduce γ: rating noise stretches the ratings by {-verdict.shrinkage:.1%}."]
        return [f"Reduce γ from {gamma:.3g} towards {target:.3g}: rating noise stretches the ratings."]
    advice = [
        f"Divide rating gaps by {verdict.slope:.3f} before reading them as gaps in strength, or recover the strengths "
        "with recover_strength: varying performances shrink the ratings."
    ]
    if target and target > gamma:
        noise = verdict.noise_when_unbiased
        speed = "" if noise is None else f"; ratings would then wander by about ± {noise:.2g}"
        advice.append(f"Or raise γ from {gamma:.3g} to {target:.3g}, which removes the shrinkage{speed}.")
    return advice


def range_rows(verdict: Facts) -> list[tuple[str, str]]:
    """What theory does not vouch for here, and what a played league showed."""
    rows = [("Outside the range of theory", one.sentence) for one in verdict.caveats]
    if verdict.check is not None:
        rows.append(("Played beside it", verdict.check.sentence))
    return rows


def html_fragment(rows: list[tuple[str, str]], advice: tuple[str, ...], heading: str = "What to change") -> str:
    """A table and a list, without style of their own but for a class to hang it on."""
    lines = "".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(words).replace(chr(10), '<br>')}</td></tr>"
        for name, words in rows
    )
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in advice)
    return f"<div class='kinelo-diagnosis'><table>{lines}</table><p>{escape(heading)}</p><ul>{items}</ul></div>"
