r"""What the matches alone say of a league: how far strengths lie apart, how fast they move, home and draws.

The parameters of the model in :mod:`kinelo.advice.audit.kernels` by maximum likelihood of one-step-ahead forecasts,
with wide priors that decide only where matches say nothing. The search is that of the raters
(:mod:`kinelo.forecasts.fit`), and the inverse of its curvature is the covariance of the estimates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np

from kinelo.advice.audit import kernels
from kinelo.advice.audit.kernels import CHESS_NU, YEAR, Array, Calendar, NormalNodes, Parameters, Strengths
from kinelo.forecasts.fit import Course, Scales, search
from kinelo.forecasts.parameters import Parameter

PERFORMANCE_NODES = 9
LIKELIHOOD_GAIN = 0.01
"""Gain in log-likelihood at which the search ends: K follows from parameters that matches leave wide open."""
SOUGHT_WIDTHS = 16.0
"""Standard deviations of the prior within which a parameter is sought."""
NO_MOVEMENT = 1e-6
"""Movement of strengths that do not move."""
LIKELIER = 3.0
"""Log-likelihood by which strengths that move must be likelier: three more parameters gain half as much by chance."""
NO_DRAWS = np.empty((1, 0))
PROPOSALS = 4
"""Proposals for each parameter that is drawn."""
PROPOSED_DEGREES = 8.0
"""Degrees of freedom of the law of proposals: its tails are heavier than those of what it stands for."""


def _unknown(name: str, centre: float, width: float, meaning: str, in_points: bool = True) -> Parameter:
    """A positive number about which a wide prior knows next to nothing: a width of its logarithm."""
    reach = math.exp(0.5 * SOUGHT_WIDTHS * width)
    return Parameter(name, centre, centre / reach, centre * reach, True, meaning, in_points=in_points)


# In the order of Parameters, on the chess scale.
UNKNOWN_PARAMETERS = (
    _unknown("walk_per_match", 6.0, 1.5, "movement of a strength from match to match"),
    _unknown("walk_per_year", 30.0, 1.5, "movement of a strength in a year"),
    _unknown("return_per_year", 0.05, 1.5, "rate of return to the league's mean", in_points=False),
    _unknown("newcomer_spread", 150.0, 1.0, "spread of newcomers"),
    Parameter(
        "newcomer_level", 0.0, -200.0 * SOUGHT_WIDTHS, 200.0 * SOUGHT_WIDTHS, False, "mean of newcomers", in_points=True
    ),
    _unknown("home_drift", 3.0, 1.5, "movement of the home advantage in a year"),
    _unknown("ties", 0.7, 1.5, "Davidson's κ", in_points=False),
)


class Filtered(NamedTuple):
    """Log-likelihood of each result before it is seen, the filter's path, and the league's mean at the end."""

    likelihood: Array
    path: Array
    home_path: Array
    centre: float


@dataclass(frozen=True)
class LeagueEstimate:
    """The parameters of the league, in rating points.

    Attributes
    ----------
    parameters
        Standard deviation by which a strength moves from match to match, and by the calendar in a year; rate per year
        at which it returns to the league's mean; standard deviation of newcomers' strengths, and where they lie
        relative to the mean once the average side has played twice; drift of the home advantage per root year; ties
        (Davidson's κ).
    log_likelihood
        Of all results, each before it is seen.
    covariance
        Of the free parameters on their own scales (logarithms of positive ones).
    """

    parameters: Parameters
    log_likelihood: float
    covariance: Array = field(repr=False)
    free: tuple[int, ...] = field(repr=False)

    @property
    def ties(self) -> float:
        """Davidson's κ: equal sides draw with probability κ/(2 + κ)."""
        return self.parameters.ties

    @property
    def standard_errors(self) -> dict[str, float]:
        """By name; of positive parameters relative ones (of the logarithm)."""
        return {Parameters._fields[k]: float(math.sqrt(self.covariance[n, n])) for n, k in enumerate(self.free)}

    def draw(self, calendar: Calendar, number: int, seed: int = 0) -> list[Parameters]:
        """Other parameters that these matches could have come from; strengths must be free to move.

        Proposals of Student's law about the estimate, each taken as often as likelihood and prior want it. Matches tell
        the walk from one to the next far better than whether matches or time make it, so that proposals are laid out in
        its variance (logarithm) and in the odds of the two; this changes no volume.
        """
        generator, likelihoods = np.random.default_rng(seed), _Likelihoods(calendar, self.parameters, self.free)
        centre, size, unit = (
            likelihoods.scales.place(self.parameters._asdict()),
            len(self.free),
            likelihoods.scales.unit,
        )
        # Years from a match of a side to its next, on average; a day at least.
        side, day = calendar.appearances, np.repeat(calendar.day, 2)
        order = np.argsort(side, kind="stable")
        again = np.diff(side[order]) == 0
        time = math.log(max(float(np.diff(day[order])[again].mean()) if again.any() else 0.0, 1.0) / YEAR)
        match, year = 2.0 * centre[0], 2.0 * centre[1] + time
        share = 1.0 / (1.0 + math.exp(year - match))
        turn, middle = np.eye(size), centre.copy()
        turn[:2, :2] = [[2.0 * share, 2.0 - 2.0 * share], [2.0, -2.0]]
        middle[:2] = np.logaddexp(match, year), match - year
        root = turn @ (np.linalg.cholesky(self.covariance) / unit[:, None])
        normal = generator.standard_normal((PROPOSALS * number, size))
        tail = generator.chisquare(PROPOSED_DEGREES, len(normal))
        proposed = middle + (normal * np.sqrt(PROPOSED_DEGREES / tail)[:, None]) @ root.T
        walk, odds = proposed[:, 0].copy(), proposed[:, 1].copy()
        proposed[:, 0] = 0.5 * (walk - np.logaddexp(0.0, -odds))
        proposed[:, 1] = 0.5 * (walk - np.logaddexp(0.0, odds) - time)
        lacking = np.array([likelihoods.point(z).total for z in proposed])
        wanted = 0.5 * (PROPOSED_DEGREES + size) * np.log1p((normal**2).sum(axis=1) / tail) - lacking
        sums = np.cumsum(np.exp(wanted - wanted.max()))
        chosen = np.searchsorted(sums, sums[-1] * (np.arange(number) + generator.random()) / number)
        return [likelihoods.at(proposed[place]) for place in chosen]


class _Likelihoods(Course):
    """The likelihood of every result by place of the search; parameters that are not free stay as they are."""

    def __init__(self, calendar: Calendar, fixed: Parameters, free: tuple[int, ...]) -> None:
        self.calendar, self.fixed = calendar, fixed
        super().__init__(
            Scales(tuple(UNKNOWN_PARAMETERS[k].in_unit(CHESS_NU / fixed.nu) for k in free), SOUGHT_WIDTHS),
            LIKELIHOOD_GAIN,
        )

    def at(self, z: Array) -> Parameters:
        """The parameters at a place of the search."""
        return self.fixed._replace(**self.scales.values(z))

    def losses(self, z: Array) -> Array:
        """What the logarithm of the likelihood of each result lacks."""
        return -self.calendar.weight * filter_league(self.calendar, self.at(z), whole=False).likelihood


def filter_league(calendar: Calendar, parameters: Parameters, *, whole: bool = True) -> Filtered:
    """Run the filter over all matches; the path is kept of the ``whole``, and else only likelihoods are."""
    n = calendar.size if whole else 1
    likelihood, path, home_path = np.empty(calendar.size), np.empty((n, 2, 5)), np.empty((n, 4))
    centre = kernels.filter_matches(calendar, parameters, hermite(PERFORMANCE_NODES), likelihood, path, home_path)
    return Filtered(likelihood, path, home_path, float(centre))


def smooth_league(calendar: Calendar, filtered: Filtered) -> Strengths:
    """Strengths and home advantage in every match, given all results.

    What is believed of one side is independent of the others here, so a single way back is exact. The smoothers of
    :mod:`kinelo.raters.filter` go back with the covariance, or pass messages until nothing moves.
    """
    n = calendar.size
    strengths = Strengths(np.empty((n, 2)), np.empty((n, 2)), np.empty((n, 2)), np.empty(n))
    kernels.smooth_sides(calendar, filtered.path, NO_DRAWS, *strengths[:3])
    kernels.smooth_home(calendar.neutral, filtered.home_path, NO_DRAWS[0], strengths.home)
    return strengths


def estimate_league(
    calendar: Calendar, nu: float = CHESS_NU, *, still: bool = False, near: Parameters | None = None
) -> LeagueEstimate:
    """Estimate the league from its matches; ``still`` strengths never move, and the search may begin ``near`` some."""
    draws, at_home = bool(np.any(np.abs(calendar.result) < 1)), not bool(calendar.neutral.all())
    wanted = (*[not still] * 3, True, has_late_newcomers(calendar), at_home, draws)
    free = tuple(k for k, one in enumerate(wanted) if one)
    absent = (NO_MOVEMENT, NO_MOVEMENT, NO_MOVEMENT, 0.0, 0.0, 0.0, 0.0)
    likelihoods = _Likelihoods(calendar, Parameters(*absent, nu=nu), free)
    scales = likelihoods.scales
    here, score = search(likelihoods, scales.start if near is None else scales.place(near._asdict()))
    curvature = score.T @ score + np.diag(scales.prior_precision)
    covariance = np.linalg.inv(curvature).astype(float) * np.outer(scales.unit, scales.unit)
    return LeagueEstimate(likelihoods.at(here.z), -float(here.losses.sum()), covariance, free)


def moves(calendar: Calendar, league: LeagueEstimate) -> bool:
    """Whether the matches show that strengths move: the league is likelier than one that stands still."""
    still = estimate_league(calendar, league.parameters.nu, still=True, near=league.parameters)
    return league.log_likelihood - still.log_likelihood > LIKELIER


@cache
def hermite(number: int) -> NormalNodes:
    """Nodes and weights of the expectation over a standard normal variable."""
    x, weight = np.polynomial.hermite_e.hermegauss(number)
    return NormalNodes(x, weight / weight.sum())


def has_late_newcomers(calendar: Calendar) -> bool:
    """Whether some side enters once the average side seen has played twice."""
    places = np.empty(2 * calendar.size, np.int64)
    places[0::2], places[1::2] = calendar.home, calendar.away
    debut = np.unique(places, return_index=True)[1]
    debut.sort()
    seen = np.arange(debut.size)
    return bool(np.any((debut // 2 >= seen) & (seen > 0)))
