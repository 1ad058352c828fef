"""Drawing a result from its probability and drawing line-ups first have the same law."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

import kinelo as kn

GENERATOR = np.random.default_rng(0)
LEAGUES = {
    "line-ups": kn.model.LineupLottery(GENERATOR.normal(0.4, 0.5, (8, 9)), 4),
    "weighted line-ups": kn.model.LineupLottery(
        GENERATOR.normal(0.4, 0.5, (8, 9)), 4, GENERATOR.uniform(0.2, 4, (8, 9))
    ),
    "normal": kn.Normal(np.linspace(0, 4, 8), np.linspace(0, 2, 8)),
    "empirical": kn.model.Empirical(GENERATOR.normal(size=(8, 3)), [0.2, 0.3, 0.5]),
    "fixed": kn.Fixed(np.linspace(0, 4, 8)),
}
ERROR, REALISATIONS = 1e-5, 1200  # verification/sampling_laws.py plays more


@pytest.mark.parametrize("league", LEAGUES.values(), ids=LEAGUES.keys())
@pytest.mark.parametrize(
    "system",
    [
        kn.RatingSystem(kn.Tanh(0.7), gamma=0.3),
        kn.RatingSystem(kn.model.Davidson(0.7, 1.5), kn.model.Local(), gamma=0.3),
    ],
    ids=["wins and losses", "ties and local pairing"],
)
def test_marginal_and_literal_sampling_have_the_same_law(league, system):
    """Kolmogorov–Smirnov on each team's final rating over 1,200 realisations.

    With 8 teams, each at level ERROR/8, a false alarm has probability ERROR per case; seeds are fixed.
    """
    final = {
        sampling: kn.simulate(
            system, league, steps=10, record_every=10, realisations=REALISATIONS, seed=seed, sampling=sampling
        )
        .rating.isel(time=-1)
        .values
        for sampling, seed in (("marginal", 1), ("literal", 2))
    }
    for team in range(league.teams):
        assert ks_2samp(final["marginal"][:, team], final["literal"][:, team]).pvalue > ERROR / league.teams


def test_the_agreement_test_can_fail():
    """The same comparison with a spread that is wrong by half is rejected."""
    system = kn.RatingSystem(kn.Tanh(0.7), gamma=0.3)
    right = kn.simulate(
        system, kn.Normal(np.linspace(0, 8, 8), 1.0), steps=10, record_every=10, realisations=REALISATIONS, seed=1
    )
    wrong = kn.simulate(
        system, kn.Normal(np.linspace(0, 8, 8), 1.5), steps=10, record_every=10, realisations=REALISATIONS, seed=2
    )
    smallest = min(ks_2samp(right.rating[:, -1, team], wrong.rating[:, -1, team]).pvalue for team in range(8))
    assert smallest < ERROR / 8
