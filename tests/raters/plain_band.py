"""The draw band that follows, written out: four normal beliefs about a logarithm, weighed by what they foresaw."""

import math

import numpy as np
from scipy.stats import norm


class PlainBand:
    """Beliefs that allow for a change of 0, .1, 1/3 and 1 times a walk per match; what is believed is their mixture."""

    def __init__(self, value, walk):
        self.walks = walk * np.array([0.0, 0.1, 1 / 3, 1.0])
        self.values, self.variances, self.weights = (
            np.full(4, value),
            np.full(4, 0.05**2),
            np.array([0.85, 0.05, 0.05, 0.05]),
        )

    @property
    def mean(self):
        return float(self.weights @ self.values)

    @property
    def variance(self):
        return float(self.weights @ (self.variances + self.values**2) - self.mean**2)

    def follow(self, score, information):
        """A match says of the logarithm what a measurement of this precision says, off the mean by score/precision."""
        if self.walks[3] == 0 or information <= 0:
            return
        seen, noise = self.mean + score / information, 1 / information
        self.variances = np.minimum(self.variances + self.walks**2, 1.0)
        foreseen = norm.logpdf(seen, self.values, np.sqrt(self.variances + noise))
        self.values = self.values + self.variances / (self.variances + noise) * (seen - self.values)
        self.variances = 1 / (1 / self.variances + information)
        self.weights = self.weights * np.exp(foreseen - foreseen.max())
        self.weights = 0.9999 * self.weights / self.weights.sum() + 0.0001 * np.array([0.85, 0.05, 0.05, 0.05])

    def after(self, chances_of, shares, weight, h=1e-5):
        """Learn from a match whose outcomes have ``chances_of(κ)`` and happened in these shares."""
        middle, ends = math.exp(self.mean), [chances_of(math.exp(self.mean + e)) for e in (-h, h)]
        chances, slopes = chances_of(middle), (ends[1] - ends[0]) / (2 * h)
        there = chances > 1e-12
        score = float(np.sum((shares * slopes)[there] / chances[there]))
        self.follow(weight * score, weight * float(np.sum(slopes[there] ** 2 / chances[there])))
