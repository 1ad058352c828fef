r"""Rating noise where k teams meet at once: what results of one team against two opponents have in common.

Given its whole performance x, a team's results against b and c are independent, so with f_a the density of x and
``G_b = 2F_b − 1``: ``T_a(b, c) = E[S_ab S_ac] = ∫ f_a G_b G_c dx``. Densities come from characteristic functions, that
of λ times that of the luck (``Γ(1 − iu/2ν)`` for Gumbel's), so any law of strength will do. With e = S − b and ratings
taken as independent across teams,

``E e_ab e_ac = T_a(b, c) − s_ab E b_ac − s_ac E b_ab + E b_ab b_ac``,

the last by Mehler's formula, in which it separates: ``Σ_n A_n,ab A_n,ac``, ``A_n,ab = (√U_aa/τ_ab)ⁿ E b h_n``. Where
strengths move, ratings follow them, and ``E S_ab b_ac`` is such a sum as well, with C_aa in place of U_aa. A contest
shakes the rating of a team, in units of γ², by ``[⟨e²⟩ + (k − 2)⟨e_ab e_ac⟩]/(k − 1)``, and two ratings
together by what makes all changes of a contest add up to 0.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import loggamma

from kinelo.model.outcome import Outcome, Probit
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.covariance import StrengthMotion
from kinelo.theory.pair_means import PairMeans, Triangle, powers
from kinelo.theory.teams import Teams, check_field

FINE_SPACING = 0.3
"""Distance of nodes in x, in units of 1/2ν: the rule is then exact to rounding."""
LOG_OF_ROUNDING = 35.0
"""e^{−35} is below rounding."""


def luck_wave(outcome: Outcome, u: Array) -> tuple[Array, float, float, float]:
    """Characteristic function of the luck G/2ν, how far it reaches down and up, and where its waves end."""
    unit = 2 * outcome.sharpness
    if isinstance(outcome, Probit):
        reach = math.sqrt(2 * LOG_OF_ROUNDING) / unit
        return np.exp(-((u / unit) ** 2) / 2), reach, reach, math.sqrt(2 * LOG_OF_ROUNDING) * unit
    return (
        np.exp(loggamma(1 - 1j * u / unit)),
        math.log(LOG_OF_ROUNDING) / unit,
        LOG_OF_ROUNDING / unit,
        (2 * LOG_OF_ROUNDING / math.pi + 3) * unit,
    )


def performance_laws(outcome: Outcome, strengths: Strength) -> tuple[Array, Array]:
    """f dx and 2F − 1 of whole performances at common nodes, teams × nodes each."""
    low, high = float(strengths.theta.min()), float(strengths.theta.max())
    seen = strengths.seen_through(outcome, high - low, 0.0)
    _, down, up, highest = luck_wave(outcome, np.zeros(1))
    x = np.arange(low - seen.reach - down, high + seen.reach + up, FINE_SPACING / (2 * outcome.sharpness))
    step = 2 * math.pi / (1.05 * float(x[-1] - x[0]))
    u: Array = (np.arange(math.ceil(highest / step), dtype=np.float64) + 0.5) * step
    origin = (low + high) / 2
    waves = seen.characteristic_function(u, origin) * luck_wave(outcome, u)[0]
    angle = np.multiply.outer(u, x - origin)
    cosine, sine = np.cos(angle), np.sin(angle)
    density = (waves.real @ cosine + waves.imag @ sine) * step / math.pi
    ahead = ((waves.real / u) @ sine - (waves.imag / u) @ cosine) * 2 * step / math.pi
    return np.maximum(density, 0.0) * float(x[1] - x[0]), np.clip(ahead, -1.0, 1.0)


class ContestNoise:
    """How the results of a contest of k teams shake ratings; what depends on performances alone is prepared once.

    ``expected`` are the mean results of pairs, ``form`` the means of results over performances where strengths have
    form, which ratings follow.
    """

    def __init__(
        self,
        system: RatingSystem,
        teams: Teams,
        expected: Array,
        motion: StrengthMotion,
        form: PairMeans | None,
        whole: bool,
    ) -> None:
        check_field(system, teams)
        self._teams, self._sides, self._whole = teams, system.sides, whole
        self._expected, self._form = expected, form
        strengths = teams.strengths
        if motion.variance > 0:
            strengths = strengths.like(teams.theta, np.sqrt(teams.sigma**2 + motion.variance))
        f, G = performance_laws(system.outcome, strengths)
        if not teams.finite:
            self._alike = (f * (teams.mass @ G) ** 2).sum(axis=1)
            return
        rest = G.sum(axis=0) - G
        self._alike = (f * rest) @ G.T - f @ (G**2).T
        np.fill_diagonal(self._alike, 0.0)
        if whole:
            own = (f * G) @ G.T
            self._shared = (G * f.sum(axis=0)) @ G.T - own - own.T

    def shaking(self, shake: Array, means: PairMeans, triangle: Triangle, variance: Array, covariance: Array) -> Array:
        """What takes the place of ⟨e²⟩ of pairs: a matrix with the right row sums, and where covariances are kept
        whole the right entries; ``shake`` is ``E e²``, ``variance`` that of each rating, ``covariance`` that of each
        rating with its team's strength.
        """
        teams, k = self._teams, self._sides
        mean = triangle.matrix(means.mean, -1)
        parts = _mehler(means, triangle, variance)
        s, b = self._expected[None], mean[None]
        if self._form is not None:
            s, b = _mehler(self._form, triangle, covariance), _mehler(means, triangle, covariance)
            terms = min(len(s), len(b))
            s, b = s[:terms], b[:terms]
        if not teams.finite:
            both = self._alike - 2 * ((s @ teams.mass) * (b @ teams.mass)).sum(axis=0)
            both = both + ((parts @ teams.mass) ** 2).sum(axis=0)
            rows = ((shake @ teams.mass) + (k - 2) * both) / (k - 1)
            return np.multiply.outer(rows, teams.mass)
        n = teams.size
        both = self._alike - _with_others(s, b) - _with_others(b, s) + _with_others(parts, parts)
        if not self._whole:
            rows = (shake.sum(axis=1) + (k - 2) / (n - 2) * both.sum(axis=1)) / ((k - 1) * (n - 1))
            return np.multiply.outer(rows, np.full(n, 1 / n))
        crossed = np.tensordot(s, b, ((0, 1), (0, 1)))
        shared = self._shared - crossed - crossed.T + np.tensordot(parts, parts, ((0, 1), (0, 1)))
        together = -shake + (k - 2) / (n - 2) * (shared - both - both.T)
        if k > 3:
            drift = self._expected - mean
            apart = _rest(drift) * _rest(drift).T - drift @ drift.T
            together += (k - 2) * (k - 3) / ((n - 2) * (n - 3)) * apart
        pairs = -together / ((k - 1) * (n - 1))
        np.fill_diagonal(pairs, 0.0)
        return pairs

    @staticmethod
    def share(alone: Array, shaking: Array) -> float:
        """How much less ratings are shaken than by matches of two."""
        return float(shaking.sum() / alone.sum())


def _mehler(means: PairMeans, triangle: Triangle, variance: Array) -> Array:
    """``(√variance_a/τ_ab)ⁿ E b h_n`` of every pair, one matrix for each n."""
    spread = triangle.matrix(means.spread)
    own = np.sqrt(np.maximum(variance, 0.0))
    ratio = np.divide(own[:, None], spread, out=np.zeros_like(spread), where=spread > 0)
    return powers(np.minimum(ratio, 1.0), len(means.series)) * triangle.matrices(means.series)


def _with_others(one: Array, other: Array) -> Array:
    """``Σ_n one_n(a, b) Σ_c≠b other_n(a, c)`` over matrices one after the other."""
    return np.einsum("kab,ka->ab", one, other.sum(axis=2)) - np.einsum("kab,kab->ab", one, other)


def _rest(pairs: Array) -> Array:
    """Sum over all other opponents."""
    return pairs.sum(axis=1, keepdims=True) - pairs
