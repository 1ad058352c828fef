# %% [markdown]
# # On the GPU
#
# With an NVIDIA card and `pip install "kinelo[gpu]"` matches are played on the card. `device="auto"` takes the
# card if there is one and the processor if not, so this page runs on both. It was made on:

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
# The processor ends at the same ratings, to the last bit: a run may be begun on one device and continued on the other.

# %%
processor = kn.simulate(system, league, steps=500, realisations=8, seed=1, device="cpu")
print(bool((processor.rating == here.rating).all()))

# %% [markdown]
# ## The kinetic equation
#
# `kn.solve` takes `device=` too, for leagues in which everyone meets everyone. The card sums in another order, so the
# last bits differ there.

# %%
population = kn.macro.Population.concentrated(7.0, theta=(4, 10, 20), r=(4, 10, 20), sigma=1.0)
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
# What runs on a card, and how fast it was on one: [on a graphics processor](../gpu.md).
