"""Are the errors of parameters right that are estimated on the latest matches of a longer table?

    python verification/errors_of_a_cut.py [LEAGUES]

Leagues of 40 whose strengths return to a mean and whose margins are normal, 9,000 matches each, of which ``fit`` takes
the latest 3,000 (``look``). Prints of every parameter how many of the 95 % intervals (1.96 standard errors) hold the
truth, where there is one (the noise has no error), and the mean square of errors over what is said; the same of fits of
all matches; and how many intervals of the latest hold what all matches say.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from numpy.typing import NDArray

import kinelo as kn
from kinelo.raters.margins import MEMORY, first_unit, running_unit

Array = NDArray[np.float64]
TEAMS, MATCHES, LOOK, PER_DAY = 40, 9000, 3000, 4
WALK, RETURN, NOISE, HOME = 1.1, 0.6, 1.0, 0.3
"""By the year, in deviations of what a match shows."""


def league(seed: int) -> kn.matches.Matches:
    """A league."""
    rng, spread = np.random.default_rng(seed), WALK / np.sqrt(2.0 * RETURN)
    strength, rows = spread * rng.standard_normal(TEAMS), {"date": [], "home": [], "away": [], "margin": []}
    kept = np.exp(-RETURN / 365.25)
    for match in range(MATCHES):
        if match % PER_DAY == 0:
            strength = kept * strength + spread * np.sqrt(1.0 - kept**2) * rng.standard_normal(TEAMS)
        home, away = rng.choice(TEAMS, 2, replace=False)
        rows["date"].append(str(np.datetime64("2010-01-01") + match // PER_DAY))
        rows["home"].append(f"T{home}")
        rows["away"].append(f"T{away}")
        rows["margin"].append(HOME + strength[home] - strength[away] + NOISE * rng.standard_normal())
    return kn.read_matches({**rows, "result": np.where(np.array(rows["margin"]) > 0, 1, 0)})


def truth_of(matches: kn.matches.Matches, part: kn.matches.Matches) -> dict[str, float]:
    """The parameters in the unit of margins that a fit of a league has in a part of it, which runs on."""
    before = np.empty(len(part))
    running_unit(part.margin, first_unit(matches.margin), float(MEMORY), before)
    unit = 1.0 / np.sqrt(np.mean(before[len(part) // 4 :] ** -2.0))
    truth = {"walk": WALK / unit, "prior_spread": WALK / np.sqrt(2.0 * RETURN) / unit, "regression": RETURN}
    return truth | {"sharpness": unit / NOISE}


def fitted(seed: int) -> dict[str, tuple[float, ...]]:
    """Of every parameter value, error and truth of a fit that looks at the latest, and of one that looks at all."""
    matches, rows = league(seed), {}
    for rater in (kn.KalmanElo, kn.TeamElo):
        found = []
        for look, part in ((LOOK, matches[-LOOK:]), (None, matches)):
            truth, given = truth_of(matches, part), {}
            if rater is kn.KalmanElo:
                given = {name: truth.pop(name) for name in ("regression", "prior_spread")}
                given |= {"margin_power": 1.0, "doubt": 1.0, "home_spread": 0.005, "newcomer": 0.0, "venue_walk": 0.003}
                given |= {"opponent_prior": 0.0, "ties": 0.001, "sharpness_walk": 0.0, "ties_walk": 0.0}
                given |= {"covariance": "full"}
            found.append((rater(**given, look=look).fit(matches).estimates_, truth if given else {}))
        for name in found[0][0].standard_errors:
            both = [(one.values[name], one.standard_errors[name], true.get(name, np.nan)) for one, true in found]
            rows[f"{rater.__name__} {name}"] = (*both[0], *both[1])
    return rows


def judged(value: Array, error: Array, true: Array) -> str:
    """How many intervals hold the truth, and the mean square of errors over what is said."""
    z = ((value - true) / error)[~np.isnan(error + true)]
    return f"{(np.abs(z) < 1.96).sum()} of {z.size} (mean square {(z**2).mean():.2f})" if z.size else "none"


def summary(leagues: list[dict[str, tuple[float, ...]]]) -> list[str]:
    """A line a parameter."""
    lines = []
    for name in leagues[0]:
        value, error, true, of_all, error_of_all, true_of_all = np.array([rows[name] for rows in leagues]).T
        lines.append(
            f"{name}: the truth is held by {judged(value, error, true)}, of all matches by "
            f"{judged(of_all, error_of_all, true_of_all)}; what all say by {judged(value, error, of_all)}; errors "
            f"{np.nanmedian(error / error_of_all):.2f} times as large"
        )
    return lines


def main() -> None:
    warnings.simplefilter("ignore")
    print(*summary([fitted(seed) for seed in range(int(sys.argv[1]) if len(sys.argv) > 1 else 20)]), sep="\n")


if __name__ == "__main__":
    main()
