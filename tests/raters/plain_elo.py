"""Elo, whole in one file. Start here.

This is a federation's Elo as :meth:`kinelo.TeamElo.classic` rates and forecasts, in plain Python: no class above it, no
compiled loop, one match after another. `test_classic.py` holds the package to it, number by number. Each step says
where the package does the same; what stands there and not here is speed (all matches in one compiled loop), order
within a day, dates, line-ups, conditions, estimation, books, and refusing bad input in words.

**Model.** A side has a rating R. With ``d = R_home − R_away + H`` (H the home advantage, 0 on neutral ground) the home
side is expected to score ``E = 1/(1 + 10^{−d/400})`` of a point, half a point being a draw.

**Update.** A match that ends with S points for the home side moves both by as much: ``R_home += K (S − E)`` and
``R_away −= K (S − E)``. A match of weight w counts as w.

**Forecast.** E is points, not chances. Davidson's law splits it into win, draw and loss,

    ``P(win) : P(draw) : P(loss) = e^x : κ : e^{−x}``,  ``x = ν (1 + κ/2) d``,  ``ν = ln 10/800``,

with the factor ``1 + κ/2`` so that points at equality have the slope of E whatever κ. The league's own κ is learnt from
its draws, as the ratio of what was drawn to what Davidson's law expects of decisive matches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import kinelo as kn

SCALE = 400.0
"""Points that make the odds ten to one."""
MEMORY = 1000.0
"""Matches after which the league's draws are forgotten."""
PRIOR_DRAWS, PRIOR_DECISIVE = 1.0, 2.0
"""What κ begins with once somebody has drawn."""


@dataclass
class Draws:
    """κ, learnt from matches. In the package: ``learned_ties`` of raters/team/kernels.py."""

    kappa: float = 0.0
    drawn: float = 0.0
    decisive: float = 0.0

    def learn(self, points: float, weight: float, x: float) -> None:
        """Count a match at the exponent ``x``: as a draw, or as what a decisive one says of draws."""
        draw = 1.0 - abs(2.0 * points - 1.0)  # 1 for a draw, 0 for a win or a loss
        # Old matches fade: κ may change over the years.
        self.drawn += weight * draw - self.drawn / MEMORY
        # Of a decisive match at x, Davidson's likelihood of κ knows this much.
        self.decisive += weight * (1.0 - draw) / (math.exp(x) + math.exp(-x)) - self.decisive / MEMORY
        if self.drawn > 0.0:  # where nobody has drawn, draws do not exist
            self.kappa = (self.drawn + PRIOR_DRAWS) / (self.decisive + PRIOR_DECISIVE)


@dataclass
class PlainElo:
    """A federation's Elo. In the package: ``ClassicElo`` of raters/team/rater.py by the law of raters/team/law.py."""

    k: float = 32.0
    home_advantage: float = 0.0
    initial: float = 1500.0
    ratings: dict[str, float] = field(default_factory=dict)
    draws: Draws = field(default_factory=Draws)

    def rating(self, name: str) -> float:
        """A side's rating; newcomers begin at ``initial``. In the package: ``NameIndex`` and ``TeamTable``."""
        return self.ratings.get(name, self.initial)

    def difference(self, home: str, away: str, neutral: bool) -> float:
        """d: the difference of ratings with the home advantage. In the package: ``edge`` in ``play_all``."""
        return self.rating(home) - self.rating(away) + (0.0 if neutral else self.home_advantage)

    def expected(self, d: float) -> float:
        """E: points expected at this difference. In the package: ``match_law`` of play/match.py, as b = 2E − 1."""
        return 1.0 / (1.0 + 10.0 ** (-d / SCALE))

    def exponent(self, d: float) -> float:
        """x of Davidson's law. In the package: ``points_scale`` of play/laws.py, times d."""
        return math.log(10.0) / (2.0 * SCALE) * (1.0 + self.draws.kappa / 2.0) * d

    def chances(self, d: float) -> tuple[float, float, float]:
        """Chances of win, draw and loss. In the package: ``davidson_terms`` of play/laws.py."""
        x = self.exponent(d)
        shares = math.exp(x), self.draws.kappa, math.exp(-x)
        return tuple(share / sum(shares) for share in shares)  # type: ignore[return-value]

    def predict_one(self, home: str, away: str, neutral: bool = False) -> tuple[float, float, float]:
        """Forecast a match to come; nothing changes. In the package: ``Rater.predict_one``."""
        return self.chances(self.difference(home, away, neutral))

    def update_one(self, home: str, away: str, points: float, weight: float = 1.0, neutral: bool = False) -> None:
        """Carry the ratings on with one match. In the package: one turn of the loop in ``play_all``."""
        d = self.difference(home, away, neutral)
        surprise = points - self.expected(d)  # S − E
        self.draws.learn(points, weight, self.exponent(d))
        step = weight * self.k * surprise
        self.ratings[home] = self.rating(home) + step  # what one side gains
        self.ratings[away] = self.rating(away) - step  # the other loses: points are neither made nor lost

    def one_step_ahead(self, matches: kn.matches.Matches) -> list[tuple[float, float, float]]:
        """Forecast each match from what was known before it, then use it. In the package: the method of this name.

        How good a rater is can be told from these forecasts alone: their log-loss is what ``backtest`` reports.
        """
        forecasts = []
        for k in range(len(matches)):
            home, away = matches.teams[matches.home[k]], matches.teams[matches.away[k]]
            neutral = bool(matches.neutral[k])
            forecasts.append(self.predict_one(home, away, neutral))  # before the match
            self.update_one(home, away, float(matches.result[k]), float(matches.weight[k]), neutral)
        return forecasts
