"""The kinetic equation on the device against the processor; prints the largest difference of each combination.

Where there is no device, set ``NUMBA_ENABLE_CUDASIM=1``: then the kernels are imitated in Python, thread by thread,
with few threads, and of the combinations only `FEW` are solved.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import numpy as np

import kinelo as kn
from kinelo.macro.gpu import transport
from kinelo.macro.scheme import Tvd
from kinelo.macro.velocity import Velocity
from kinelo.runtime.device import simulated

FEW = (0, 3, 5, 6, 7, 9)
"""Each scheme and closure in steps of a fixed length; as long as is stable, and beside diffusion."""


def longest_steps(system: kn.RatingSystem, seed: int) -> tuple[float, bool]:
    """How far both devices are apart after a step as long as its first stage bears, and whether it was refused."""
    density = np.random.default_rng(seed).random((5, 4)) ** 8
    teams = kn.macro.Population(density, theta=(-2, 3, 5), sigma=0.7, r=(-3, 4, 4))
    ends, taken = [], []
    for scheme in (Tvd, transport.GpuTvd):
        one = scheme(Velocity(system, teams.grid, "exact"), teams, teams.mean_rating, 1)
        longest = one.limit(one.speeds())
        taken.append(one.step(one.speeds(), longest))
        one.step(one.speeds(), 0.5 * longest)
        ends.append(one.density().copy())
    return abs(ends[0] - ends[1]).max() + abs(taken[0] - taken[1]), taken[1] < longest


def main(cells: int, until: float) -> int:
    system, worst = kn.RatingSystem(kn.Tanh(nu=0.5)), 0.0
    if simulated():
        sys.path.insert(0, str(Path(__file__).parents[1] / "micro"))
        __import__("device_agreement").imitate()
    lopsided = np.random.default_rng(3).random((cells // 6, 3, cells)) * np.linspace(1, 4, cells) ** 2
    ways = product(("upwind", "tvd"), ("exact", "taylor"), ({"dt": 0.02}, {}, {"diffusion": 0.3}))
    for number, (scheme, closure, more) in enumerate(ways):
        if simulated() and number not in FEW:
            continue
        # The mean drifts, and is shifted back, to one side or the other.
        teams = kn.macro.Population(
            lopsided[:, :, :: 1 if number in (0, 7, 9) else -1], theta=(4, 9, cells // 6), r=(4, 10, cells),
            sigma=(0.0, 1.0, 3),
        )  # fmt: skip
        transport.SHARED_BYTES, memory = (0 if number % 2 else transport.SHARED_BYTES), transport.SHARED_BYTES
        runs = [
            list(kn.macro.kinetic_states(system, teams, until=until, scheme=scheme, closure=closure, samples=3,
                                   device=device, **more))
            for device in ("cpu", "gpu")
        ]  # fmt: skip
        transport.SHARED_BYTES = memory
        end, steps = runs[1][-1].diagnostics, [run[-1].steps for run in runs]
        gap = max(abs(one.population.density - other.population.density).max() for one, other in zip(*runs))
        drift = abs(end.mass - 1.0) + abs(end.mean_rating - teams.mean_rating)
        print(f"{scheme} {closure} {more}: density {gap:.1e}, mass and mean {drift:.1e}, steps {steps}", flush=True)
        worst = max(worst, gap, drift, float(steps[0] != steps[1]))
    for seed in (12, 7):
        gap, refused = longest_steps(system, seed)
        print(f"longest step {'refused' if refused else 'taken'}: density {gap:.1e}")
        worst = max(worst, gap)
    return int(not worst < 1e-12)


if __name__ == "__main__":
    np.seterr(over="ignore")
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2])))
