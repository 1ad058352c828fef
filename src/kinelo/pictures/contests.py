"""What a contest of many sides is worth, team by team and over its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kinelo.model.schedule import Field
from kinelo.pictures import style
from kinelo.theory.teams import as_system, teams_of
from kinelo.theory.worth import contest_worth

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinelo.model.outcome import Outcome
    from kinelo.model.strength import Strength
    from kinelo.model.system import RatingSystem
    from kinelo.theory.teams import Continuum


def draw_worth(
    system: RatingSystem | Outcome,
    strengths: Strength | Continuum,
    sizes: Sequence[int] = (2, 3, 5, 8, 20),
    *,
    width: style.Width = None,
    size: float | None = None,
    ax: style.Panels = None,
) -> Figure:
    """Draw what contests of these sizes are worth in matches of two: to each team, and on average over their size."""
    plain, teams = as_system(system), teams_of(strengths)
    worth = {k: contest_worth(replace(plain, schedule=Field(k)), strengths) for k in sorted(sizes)}
    order = np.argsort(teams.theta, kind="stable")
    with style.journal(width, size, ax):
        figure, (left, right) = style.panels(style.PAGE, 3.1, (3, 2))
        for place, (k, each) in enumerate(worth.items()):
            colour = style.SERIES[place % len(style.SERIES)]
            left.plot(teams.theta[order], each[order], color=colour, label=f"{k} meet")
        left.set(xlabel="mean strength θ (rating points)", ylabel="worth in matches of two", ylim=(0, None))
        left.legend(loc="upper left", bbox_to_anchor=(0, -0.2), ncols=len(worth), borderaxespad=0)
        smooth = np.linspace(2, max(worth), 100)
        right.plot(smooth, 3 * (smooth - 1) / (smooth + 1), color=style.GREY, linestyle="--", label="equal teams")
        means = [teams.mean(each) for each in worth.values()]
        right.plot(list(worth), means, "o", color=style.BLUE, label="this league, mean")
        right.set(xlabel="teams in a contest", ylim=(0, None))
        right.legend(loc="lower right")
        return figure
