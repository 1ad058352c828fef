"""The kinetic equation on the device against the processor; prints the largest difference of each combination.

Where there is no device, set ``NUMBA_ENABLE_CUDASIM=1``: then the kernels are imitated in Python, thread by thread.
"""

from __future__ import annotations

import sys

import numpy as np

import kinelo as kn


def main(cells: int, until: float) -> int:
    system, worst = kn.RatingSystem(kn.Tanh(nu=0.5)), 0.0
    teams = kn.Population.uniform(theta=(4, 10, cells), r=(4, 10, cells), sigma=(0.0, 1.0, 3))
    for scheme in ("upwind", "tvd"):
        for closure in ("exact", "taylor"):
            for more in ({}, {"dt": 0.02}, {"diffusion": 0.3}):
                runs = [
                    list(kn.kinetic_states(system, teams, until=until, scheme=scheme, closure=closure, samples=3,
                                           device=device, **more))
                    for device in ("cpu", "gpu")
                ]  # fmt: skip
                ends = [run[-1] for run in runs]
                gap = max(abs(one.population.density - other.population.density).max() for one, other in zip(*runs))
                drift = abs(ends[1].diagnostics.mass - 1.0) + abs(ends[1].diagnostics.mean_rating - teams.mean_rating)
                alike = [run[-1].steps for run in runs]
                print(
                    f"{scheme} {closure} {more}: density {gap:.1e}, mass and mean {drift:.1e}, steps {alike}",
                    flush=True,
                )
                worst = max(worst, gap, drift, float(alike[0] != alike[1]))
    return int(not worst < 1e-12)


if __name__ == "__main__":
    np.seterr(over="ignore")
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2])))
