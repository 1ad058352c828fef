# %% [markdown]
# # Your own outcome function
#
# The model takes any odd increasing function b with values between −1 and 1: the expected result at a lead of z
# points. Expected results, the settled state and the simulator follow from its formula.

# %%
import math

import kinelo as kn

algebraic = kn.model.Outcome.from_function(lambda z: z / math.sqrt(4 + z * z))
league = kn.homogeneous(sigma=1.0, teams=20)
system = kn.RatingSystem(algebraic, gamma=0.05)
settled = kn.stationary(system, league)
print(f"slope {settled.slope:.3f}")

# %% [markdown]
# Does the simulator agree?

# %%
run = kn.simulate(system, league, steps=2_000, realisations=10, seed=1, record_every=500)
simulated = run.rating.isel(time=-1).mean("realisation").values
noisy = kn.stationary(system, league, noise="gaussian")
print("mean distance, simulated to computed:", abs(simulated - noisy.rating).mean().round(3))
print("noise of such a mean:                ", ((noisy.variance.mean() / 10) ** 0.5).round(3))

# %%
kn.plot.ratings(run, title="20 teams under b(z) = z / √(4 + z²)")

# %% [markdown]
# A formula that will not do is refused with the reason:

# %%
try:
    kn.model.Outcome.from_function(lambda z: math.tanh(z) + 0.1)
except kn.InputError as error:
    print(error)

# %% [markdown]
# Pairings and laws of strength in the same way: [laws of your own](../extending.md).
