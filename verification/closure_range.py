"""Closure against simulation over numbers of teams, step sizes, and ways to play: the tables of MEASURED.md.

``python verification/closure_range.py [matches]`` prints one line per league: the mean square error by theory, that of
a simulation of so many matches (6,000,000 by default, some CPU minutes in all), and how far apart they are, beside what
the answer itself claims.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

import kinelo as kn
from kinelo.advice.check import check_state, check_tracking
from kinelo.theory.caveats import MEASURED_ERROR

TEAMS = 2, 3, 5, 10, 20, 50, 200
STEPS = 0.02, 0.05, 0.1, 0.2, 0.5
NU = 0.5
FORM = kn.model.Form(rate=0.01, spread=1.0)


@dataclass(frozen=True)
class Row:
    """One league: how it is played, its size, γν (in rounds Nγν), E by theory and played, and the error claimed."""

    how: str
    teams: int
    step: float
    theory: float
    played: float
    standard_error: float
    claimed: float

    @property
    def off(self) -> float:
        """Theory over simulation, less one."""
        return self.theory / self.played - 1

    @property
    def kept(self) -> bool:
        """Whether the answer is as good as it claims, three standard errors aside."""
        return abs(self.off) <= self.claimed + 3 * self.standard_error / self.played


def measured(how: str, teams: int, step: float, matches: int) -> Row:
    """Play one league beside its theory."""
    league = kn.Normal(np.linspace(0.0, 2.0, teams), 0.5)
    schedule = kn.model.Rounds() if how == "rounds" else None
    system = kn.RatingSystem(kn.Tanh(NU), gamma=step / NU / (teams if how == "rounds" else 1), schedule=schedule)
    if how == "form":
        answer = kn.tracking(system, league, FORM)
        check = check_tracking(answer, league, matches=matches)
    else:
        answer = kn.stationary(system, league, noise="gaussian")
        check = check_state(answer, matches=matches)
    [error] = [one for one in check.quantities if one.name == "mean square error"]
    claimed = max([MEASURED_ERROR, *(one.error for one in answer.caveats)])
    if answer.kind == "exact":
        claimed = 0.0
    return Row(how, teams, step, error.theory, error.played, error.standard_error, claimed)


def main(matches: int = 6_000_000) -> None:
    """Print the table."""
    print("how     teams   step   theory   played       ±     off  claimed")
    for how in ("still", "form", "rounds"):
        for teams in TEAMS:
            for step in STEPS:
                row = measured(how, teams, step, matches)
                print(
                    f"{how:6} {teams:6} {step:6} {row.theory:8.5f} {row.played:8.5f} {row.standard_error:7.5f} "
                    f"{row.off:+7.1%} {row.claimed:8.0%}{'' if row.kept else '  beyond'}",
                    flush=True,
                )


if __name__ == "__main__":
    main(*(int(one) for one in sys.argv[1:2]))
