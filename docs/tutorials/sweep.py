# %% [markdown]
# # A sweep
#
# `kn.sweep` computes any function at every point of a grid. With `out=` every point is stored as it ends, and
# the same call continues after an interruption.

# %%
import kinelo as kn


def slope(nu, sigma):
    """Slope of the settled map: 1 is without bias."""
    league = kn.Normal([4.0, 5.5, 7.0, 8.5, 10.0], sigma)
    return kn.stationary(kn.RatingSystem(kn.Tanh(nu=nu)), league).slope


table = kn.sweep(slope, {"nu": [0.25, 0.5, 1.0], "sigma": [0.5, 1.0, 2.0]}, out="slopes")
print(table.value.to_pandas().round(3))

# %% [markdown]
# What is stored is not computed again:

# %%
again = kn.sweep(slope, {"nu": [0.25, 0.5, 1.0], "sigma": [0.5, 1.0, 2.0]}, out="slopes")
print(again.equals(table))

# %% [markdown]
# ## On many machines
#
# With `pip install "kinelo[dask]"` the workers of a Dask cluster compute the points, with the same result to the last
# bit. Here the cluster is one worker on this machine; elsewhere it is `Client("scheduler:8786")`.

# %%
from dask.distributed import Client, LocalCluster

with (
    LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
    Client(cluster) as client,
):
    there = kn.sweep(slope, {"nu": [0.25, 0.5, 1.0], "sigma": [0.5, 1.0, 2.0]}, client=client)
print(there.value.equals(table.value))

# %% [markdown]
# `kinelo study sweep STUDY.toml --workers 4` does the same for a study file; [sweeps](../sweeps.md) tells the rest:
# failed points, continuation, memory.
