# %% [markdown]
# # Figure 7, and a variation
#
# Figure 7 of the reproduction shows the slope of the map from strengths to ratings against the step size γ:
# below 1 because form varies, rising because ratings are noisy. Where a line crosses 1 the scale is without
# bias. `kinelo reproduce --figure 7` makes it at full scale; here it is small, and then varied.

# %%
import matplotlib
import numpy as np

import kinelo as kn

matplotlib.use("agg")
from matplotlib.figure import Figure

gammas = np.array([0.02, 0.15, 0.3, 0.45, 0.6])


def slopes(outcome, league):
    return [kn.stationary(kn.RatingSystem(outcome, gamma=g), league, noise="gaussian").slope for g in gammas]


figure = Figure(figsize=(5, 3), layout="constrained")
axes = figure.subplots()
for sigma in (0.5, 1.0):
    axes.plot(gammas, slopes(kn.Tanh(nu=0.5), kn.homogeneous(sigma=sigma, teams=40)), label=f"σ = {sigma:g}")
axes.axhline(1, color="grey", linestyle="--")
axes.set(xlabel="step size γ", ylabel="slope of ratings on strengths")
axes.legend()
figure

# %% [markdown]
# ## A point by simulation
#
# The line is theory: ratings are taken as normal. One point of it match by match, a hundred leagues of 40 teams, with
# one standard error:

# %%
league = kn.homogeneous(sigma=1.0, teams=40)
run = kn.simulate(
    kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.3), league, steps=4_000, realisations=100, seed=7, record_every=50
)
late = run.rating.isel(time=slice(20, None)).mean("time").values
played = np.polyfit(league.theta, late.T, 1)[0]
print(
    f"simulated {played.mean():.4f} ± {played.std() / 100**0.5:.4f}, computed {slopes(kn.Tanh(nu=0.5), league)[2]:.4f}"
)

# %% [markdown]
# ## The variation
#
# What if performances have heavier tails than normal ones, at the same spread?

# %%
from scipy import stats

theta = np.linspace(4, 10, 40)
for name, shape in (("normal", stats.norm), ("Student, 3 degrees of freedom", stats.t(3))):
    heavy = kn.model.Scaled(shape, theta=theta, sigma=1.0)
    print(f"{name:30}", np.round(slopes(kn.Tanh(nu=0.5), heavy), 3))

# %% [markdown]
# Rare extremes carry much of the variance and decide few matches: the map is shrunk less.
