"""Every law on the device against the same law on the processor; run as a script, one line per combination.

``python device_agreement.py 120 2`` plays 120 matches of 2 realisations in each combination. Where there is no device,
set ``NUMBA_ENABLE_CUDASIM=1``: then the kernels are imitated in Python, thread by thread.
"""

from __future__ import annotations

import math
import sys

import numpy as np

import kinelo as kn
from kinelo.device import simulated
from kinelo.micro.any_league import general_play, needs_general
from kinelo.micro.gpu import play as gpu
from kinelo.micro.league import literal_play, table_play

TEAMS = 12


def combinations():
    """(name, system, league, source): each outcome, pairing, law and way of sampling at least once."""
    rng = np.random.default_rng(4)
    theta = rng.normal(7.0, 1.5, TEAMS)
    normal, fixed = kn.Normal(theta, 0.8), kn.Fixed(theta)
    lottery = kn.LineupLottery(rng.uniform(0.0, 2.0, (TEAMS, 5)), m=3)
    sample = kn.Empirical(rng.normal(7.0, 1.0, (TEAMS, 4)))
    tanh, ties, probit = kn.Tanh(0.5), kn.Davidson(0.5, 0.8), kn.Probit(0.4)
    everyone, local, window, soft = kn.AllPlayAll(), kn.Local(), kn.Window(1.5), kn.Window(1.5, 0.4)
    for outcome in (tanh, ties, probit):
        for pairing in (everyone, local, window, soft):
            for source in ("table", "literal"):
                name = f"{type(outcome).__name__} {pairing!r} Normal {source}"
                yield name, kn.RatingSystem(outcome, pairing, 0.1), normal, source
    own = kn.Outcome.from_function(lambda z: z / math.sqrt(1.0 + z * z))
    gauss = kn.Pairing.from_function(lambda z: 1.0 / (1.0 + z * z * z * z))
    yield "own Normal table", kn.RatingSystem(own, gauss, 0.1), normal, "table"
    yield "own Normal literal", kn.RatingSystem(own, gauss, 0.1), normal, "literal"
    for league in (fixed, lottery, sample):
        yield (
            f"Tanh AllPlayAll {type(league).__name__} literal",
            kn.RatingSystem(tanh, everyone, 0.1),
            league,
            "literal",
        )


def ends_alike(system, league, source, matches, realisations, crews) -> bool:
    seed, first = 5, 3
    if needs_general(system, league, source == "literal"):
        on_processor = general_play(system, league, seed, realisations, source == "literal")
    else:
        on_processor = (table_play if source == "table" else literal_play)(system, league, seed, realisations)
    on_device = gpu.gpu_play(system, league, seed, realisations, source, crews=crews)
    ends = []
    for play in (on_processor, on_device):
        rating, played = np.full((realisations, league.teams), 7.0), np.zeros(realisations, dtype=np.int64)
        play(rating, played, {}, slice(0, realisations), first, first + matches)
        ends.append((rating.tobytes(), played.tobytes()))
    return ends[0] == ends[1]


def main(matches: int, realisations: int, every: int) -> int:
    np.seterr(over="ignore")
    if simulated():
        gpu.CREW = (24, 8)
    wrong = 0
    for number, (name, *league) in enumerate(combinations()):
        for crews in (0, realisations):
            if number % every and not (every > 1 and number in (1, 24)):
                continue
            alike = ends_alike(*league, matches, realisations, crews)
            wrong += not alike
            print(f"{'same bytes' if alike else 'DIFFERENT'}  {'crew' if crews else 'warp'}  {name}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in sys.argv[1:4])))
