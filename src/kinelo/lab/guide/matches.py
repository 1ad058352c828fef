"""The first three scenes: a match, a day, and why gains and losses cancel below the true gap."""

from __future__ import annotations

import math

import numpy as np

from kinelo.lab.guide.pictures import Chart, Frames, Picture, trace
from kinelo.lab.guide.units import ELO_POINTS, NU, Units, percent
from kinelo.model.expectation import expected_result
from kinelo.model.outcome import Tanh
from kinelo.model.strength import Normal

OUTCOME = Tanh(nu=NU)
MATCHES_OF_A_DAY, MATCHES_OF_A_STRIP = 60, 50
FOUR_HUNDRED = 400 / ELO_POINTS


def one_match(units: Units, gap: float, winner: str, gamma: float) -> Picture:
    """Two ratings before and after a match, and what a win brings by the lead of the winner."""
    result = 1.0 if winner == "first" else -1.0
    expected = float(OUTCOME.b(gap))
    change = gamma * (result - expected)
    f = units.factor
    before, after = np.array([gap / 2, -gap / 2]), np.array([gap / 2 + change, -gap / 2 - change])
    names = ("first team", "second team")
    ladder = [trace("before", "truth", "markers", f * before, [1, 0])]
    for k, name in enumerate(names):
        ladder.append(trace(name, "team", "lines", [f * before[k], f * after[k]], [1 - k, 1 - k]))
    ladder.append(trace("after", "team", "large", f * after, [1, 0]))
    leads = np.linspace(-5, 5, 81)
    gains = gamma * (1 - OUTCOME.b(leads))
    equal, weaker = (float(gamma * (1 - OUTCOME.b(z))) for z in (0.0, FOUR_HUNDRED))
    chosen = gap if winner == "first" else -gap
    share = (1 + expected) / 2
    return Picture(
        [
            Chart(
                f"The first team moves by {change * f:+.3g} {units.word}, the second by {-change * f:+.3g}.",
                f"rating ({units.word} from the middle)", "", ladder, y_range=(-0.6, 1.6),
            ),
            Chart(
                "What a win brings, by the lead of the winner.", f"lead of the winner before the match ({units.word})",
                f"gain ({units.word})",
                [
                    trace("a win brings", "prediction", "lines", f * leads, f * gains),
                    trace("lead of the winner", "truth", "thin", [f * chosen, f * chosen], [0, 2 * f * gamma]),
                    trace("this match", "team", "large", [f * chosen], [f * abs(change)]),
                ],
                y_range=(0, 2.1 * f * gamma),
            ),
        ],
        [
            f"Before the match the first team is expected to take {percent(share)} of the points. It "
            f"{'wins' if result > 0 else 'loses'}, "
            f"and the ratings move by {units.step(gamma)} times what was not expected.",
            f"The first team changes by {change * f:+.3g}, the second by {-change * f:+.3g}. What one gains the "
            "other loses.",
        ],
        f"With {units.step(gamma)} a win against an equal opponent brings {equal * f:.3g} {units.word}, a win "
        "against one "
        f"{units.points(FOUR_HUNDRED)} weaker brings {weaker * f:.2g}.",
        f"import kinelo as kn\n\nb = kn.Tanh(nu={NU}).b\nfor lead in (0.0, {FOUR_HUNDRED!r}):\n    print({gamma!r} * "
        "(1 - b(lead)))\n",
        (equal, weaker),
    )  # fmt: skip


def _expected(gap: float, sigma: float) -> float:
    return float(expected_result(OUTCOME, Normal([0.0, gap], sigma=sigma))[1, 0])


def _python_of_share(gap: float, sigma: float) -> str:
    return (
        f"import kinelo as kn\n\nteams = kn.Normal([0.0, {gap!r}], sigma={sigma!r})\n"
        f"s = kn.expected_result(kn.Tanh(nu={NU}), teams)[1, 0]\n"
    )


def good_and_bad_days(units: Units, sigma: float, gap: float, seed: int) -> Picture:
    """Two bell curves, performances drawn from them, and the flattened curve of expected results."""
    f, rng = units.factor, np.random.default_rng(seed)
    drawn = np.array([[gap], [0.0]]) + sigma * rng.standard_normal((2, MATCHES_OF_A_DAY))
    won = rng.uniform(-1, 1, MATCHES_OF_A_DAY) < OUTCOME.b(drawn[0] - drawn[1])
    flat, steep = _expected(gap, sigma), float(OUTCOME.b(gap))
    share, alone = (1 + flat) / 2, (1 + steep) / 2
    x = np.linspace(-4, gap + 4, 121)
    width = max(sigma, 0.05)
    bell = [np.exp(-(((x - centre) / width) ** 2) / 2) for centre in (gap, 0.0)]
    wins = np.cumsum(won)
    labels = [
        f"{k + 1} {'match' if k == 0 else 'matches'}: {wins[k]} won ({percent(wins[k] / (k + 1))}); "
        f"{percent(share)} expected"
        for k in range(MATCHES_OF_A_DAY)
    ]
    leads = np.linspace(0, 5, 51)
    flattened = [_expected(z, sigma) for z in leads]
    return Picture(
        [
            Chart(
                "Strength of two teams from day to day: two bell curves, and the performances of one match.",
                f"strength on the day ({units.word})", "how often",
                [
                    trace("second team", "other", "area", f * x, bell[1]),
                    trace("first team", "team", "area", f * x, bell[0]),
                    trace("performances of this match", "prediction", "large", f * drawn[:, 0], [0.5, 0.5]),
                ],
                y_range=(0, 1.15),
                frames=Frames(2, labels, x=[(f * pair).tolist() for pair in drawn.T]),
            ),
            Chart(
                "Expected share of the stronger team, by strength alone and with good and bad days.",
                f"lead in average strength ({units.word})", "expected share",
                [
                    trace("by strength alone", "truth", "dashed", f * leads, (1 + OUTCOME.b(leads)) / 2),
                    trace("with good and bad days", "prediction", "lines", f * leads, (1 + np.array(flattened)) / 2),
                    trace("these teams", "team", "large", [f * gap], [share]),
                ],
                y_range=(0.45, 1.02),
            ),
        ],
        [
            "No team is equally strong every day. In each match both draw a performance from their own bell curve; "
            "the better "
            "one on the day is the more likely winner.",
            f"By average strength alone the first team would take {percent(alone)}. With ups and downs of ± "
            f"{units.points(sigma)} "
            f"{units.word} (one standard deviation) it takes {percent(share)}: bad days cost the favourite more than "
            "good "
            "days add.",
        ],
        f"With ups and downs the stronger team wins less often than its strength says: {percent(share, 1)} instead of "
        f"{percent(alone, 1)}.",
        f"{_python_of_share(gap, sigma)}print((1 + s) / 2)\nprint((1 + kn.Tanh(nu={NU}).b({gap!r})) / 2)\n",
        (share, alone),
    )  # fmt: skip


def why_too_low(units: Units, sigma: float, gap: float, lead: float, seed: int) -> Picture:
    """Fifty matches of a strong team as gains and losses, and where they cancel."""
    f, rng = units.factor, np.random.default_rng(seed)
    flat, claimed = _expected(gap, sigma), float(OUTCOME.b(lead))
    won = rng.uniform(-1, 1, MATCHES_OF_A_STRIP) < flat
    gamma = 16 / ELO_POINTS
    changes = gamma * (np.where(won, 1.0, -1.0) - claimed)
    balance = math.atanh(flat) / NU
    rule = 1 / math.sqrt(1 + math.pi * NU**2 * sigma**2)
    numbers = np.arange(1, MATCHES_OF_A_STRIP + 1)
    leads = np.linspace(0, 5, 51)
    drift = gamma * (flat - OUTCOME.b(leads))
    brought, cost = float(changes[won].sum()), float(-changes[~won].sum())
    return Picture(
        [
            Chart(
                "Fifty matches: what each win brings and each defeat "
                "costs.", "match", f"change of the rating ({units.word})",
                [
                    trace("wins", "good", "bars", numbers[won], f * changes[won]),
                    trace("defeats", "bad", "bars", numbers[~won], f * changes[~won]),
                ],
            ),
            Chart(
                "Average change per match by the lead in rating: zero below the true lead.",
                f"lead in rating ({units.word})", f"change per match ({units.word})",
                [
                    trace("no change", "truth", "dashed", [0, 5 * f], [0, 0]),
                    trace("average change", "prediction", "lines", f * leads, f * drift),
                    trace("true lead", "truth", "thin", [f * gap, f * gap], [f * drift.min(), f * drift.max()]),
                    trace("where it is zero", "good", "large", [f * balance], [0]),
                    trace("your lead", "team", "large", [f * lead], [f * gamma * (flat - claimed)]),
                ],
            ),
        ],
        [
            f"The strong team really leads by {units.points(gap)} {units.word}. If its rating led by "
            f"{units.points(lead)}, it would "
            f"be expected to take {percent((1 + claimed) / 2)}; with good and bad days it takes "
            f"{percent((1 + flat) / 2)}.",
            f"In these fifty matches its {won.sum()} wins bring {brought * f:.3g} {units.word} and its "
            f"{(~won).sum()} defeats cost "
            f"{cost * f:.3g}: one defeat takes what {(1 + claimed) / (1 - claimed):.1f} wins brought.",
        ],
        f"Gains and losses cancel at a lead of {units.points(balance)} {units.word}, not at {units.points(gap)}: "
        f"{percent(balance / gap)} of the truth. For close teams the share is about 1/√(1 + πν²σ²) = {percent(rule)}.",
        f"import math\n{_python_of_share(gap, sigma)}print(math.atanh(s) / {NU})\n"
        f"print(1 / math.sqrt(1 + math.pi * {NU}**2 * {sigma!r}**2))\n",
        (balance, rule),
    )  # fmt: skip
