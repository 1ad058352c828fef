# %% [markdown]
# # An arena of language models
#
# Models do not change between votes, so the order of the votes should not matter. To Elo it does.

# %%
import numpy as np

import kinelo as kn

rng = np.random.default_rng(1)
strength = np.linspace(-0.5, 0.5, 6)
one = rng.integers(0, 6, 3000)
other = (one + rng.integers(1, 6, 3000)) % 6
chance = 1 / (1 + np.exp(-2 * (strength[one] - strength[other])))
names = np.array(["model A", "model B", "model C", "model D", "model E", "model F"])
table = {
    "home": names[one],
    "away": names[other],
    "result": (rng.random(3000) < chance) * 1.0,
    "neutral": [True] * 3000,
}
votes = kn.read_matches(table)
shuffled = votes[rng.permutation(3000)]
for rater in (kn.TeamElo.classic(k=32), kn.BradleyTerry()):
    first, second = (rater.fit(each).ratings_.sort("name")["rating"].to_numpy() for each in (votes, shuffled))
    print(
        f"{type(rater).__name__:12} largest change of a rating by shuffling: {np.abs(first - second).max():.2f} points"
    )

# %% [markdown]
# `kn.BradleyTerry` takes all votes at once. Its intervals are of ratings and of ranks: two models whose ranks
# overlap may be equally good.

# %%
print(kn.BradleyTerry().fit(votes).intervals())

# %% [markdown]
# How much noise K leaves in ratings of models that stand still, by theory. For a small step the standard deviation is
# near √(γ/2ν), where ν belongs to the outcome function.

# %%
outcome = kn.Tanh.elo()
system = kn.RatingSystem(outcome, gamma=16.0)
elo_points = kn.Fixed(strength * 400 / np.log(10) * 2)
settled = kn.stationary(system, elo_points, noise="gaussian")
thumb = (16.0 / (2 * outcome.nu)) ** 0.5
print(f"± {settled.variance.mean() ** 0.5:.1f} points with K = 32; rule of thumb ± {thumb:.1f}")
