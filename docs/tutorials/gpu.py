# %% [markdown]
# # On the GPU
#
# Where there is an NVIDIA card, `pip install "kinelo[gpu]"` lets matches be played on it. `device="auto"` takes the
# card if there is one and the processor if not, so this page runs on both. What there was to compute on when it was
# made:

# %%
import kinelo as kn

for device in kn.devices():
    print(device)

# %% [markdown]
# ## The same league on either
#
# An ensemble of a league is what a card is good at: every realisation is played at once.

# %%
league = kn.homogeneous(sigma=1.0, teams=20)
system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
here = kn.simulate(system, league, steps=500, realisations=8, seed=1, device="auto")
print(f"{float(here.rating.isel(time=-1).max()):.12f}")

# %% [markdown]
# The processor plays the same matches and ends at the same ratings, to the last bit: a run may be begun on one device
# and continued on the other.

# %%
processor = kn.simulate(system, league, steps=500, realisations=8, seed=1, device="cpu")
print(bool((processor.rating == here.rating).all()))

# %% [markdown]
# ## The kinetic equation
#
# `kn.solve` takes `device=` too, for leagues in which everyone meets everyone. Its sums are taken in another order on
# the card, so that the last bits differ there.

# %%
population = kn.Population.concentrated(7.0, theta=(4, 10, 20), r=(4, 10, 20), sigma=1.0)
density = kn.solve(system, population, until=5.0, device="auto")
print(f"mass {float(density.density.isel(time=-1).sum()) * 0.3 * 0.3:.6f}")

# %% [markdown]
# Where `device="gpu"` is asked for and there is none, one sentence says what is missing:

# %%
if not any(device.kind == "gpu" and device.usable for device in kn.devices()):
    try:
        kn.simulate(system, league, steps=1, seed=1, device="gpu")
    except kn.InputError as reason:
        print(reason)

# %% [markdown]
# What runs on a card, how the bytes come to be the same, and how fast it was on one: [on a graphics
# processor](../gpu.md).
