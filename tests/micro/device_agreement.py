"""Every law on the device against the same law on the processor; run as a script, one line per combination.

``python device_agreement.py 120 2`` plays 120 matches of 2 realisations in each combination. Where there is no device,
set ``NUMBA_ENABLE_CUDASIM=1``: then the kernels are imitated in Python, thread by thread, with few threads, short rings
and short launches, so that few matches come to the end of each; and of the combinations only `FEW` are played, in
which every law and every branch of the kernels occurs, near and far.
"""

from __future__ import annotations

import math
import resource
import sys
import warnings

import numpy as np

import kinelo as kn
from kinelo.micro.gpu import field as gpu_field
from kinelo.micro.gpu import general as gpu_general
from kinelo.micro.gpu import kernels as gpu_kernels
from kinelo.micro.gpu import play as gpu
from kinelo.micro.simulate import Setting, loop_of
from kinelo.micro.sweep_points import simulate_points
from kinelo.play.encoding import encode
from kinelo.play.stream import realisation_keys
from kinelo.runtime.device import simulated

TEAMS = 7 if simulated() else 13
FEW = {
    "warp": (0, 1, 6, 11, 12, 21, 25, 27),
    "block": (1, 6, 11, 12),
    "general": (0, 1, 2, 3, 5, 10, 12, 13, 14, 17, 18, 21, 22, 23, 27, 28, 29),
    "points": (1, 3),
}
"""What is played where kernels are imitated."""


def combinations():
    """(name, system, league, source): each outcome, pairing, law and way of sampling at least once."""
    rng = np.random.default_rng(4)
    theta = rng.normal(7.0, 1.5, TEAMS)
    normal, fixed = kn.Normal(theta, 0.8), kn.Fixed(theta)
    lottery = kn.model.LineupLottery(rng.uniform(0.0, 2.0, (TEAMS, 5)), m=3)
    sample = kn.model.Empirical(rng.normal(7.0, 1.0, (TEAMS, 4)))
    tanh, ties, probit = kn.Tanh(0.5), kn.model.Davidson(0.5, 0.8), kn.model.Probit(0.4)
    everyone, local, window, soft = (
        kn.model.AllPlayAll(),
        kn.model.Local(),
        kn.model.Window(1.5),
        kn.model.Window(1.5, 0.4),
    )
    for outcome in (tanh, ties, probit):
        for pairing in (everyone, local, window, soft):
            for source in ("table", "literal"):
                name = f"{type(outcome).__name__} {pairing!r} Normal {source}"
                yield name, kn.RatingSystem(outcome, pairing, 0.1), normal, source
    own = kn.model.Outcome.from_function(lambda z: z / math.sqrt(1.0 + z * z))
    gauss = kn.model.Pairing.from_function(lambda z: 1.0 / (1.0 + z * z * z * z))
    yield "own Normal table", kn.RatingSystem(own, gauss, 0.1), normal, "table"
    yield "own Normal literal", kn.RatingSystem(own, gauss, 0.1), normal, "literal"
    for league in (fixed, lottery, sample):
        yield (
            f"Tanh AllPlayAll {type(league).__name__} literal",
            kn.RatingSystem(tanh, everyone, 0.1),
            league,
            "literal",
        )


def leagues():
    """(name, system, league, dynamics, literal): step rules, schedules, and strengths that move."""
    rng = np.random.default_rng(7)
    theta = rng.normal(7.0, 1.5, TEAMS)
    normal, tanh, local = kn.Normal(theta, 0.8), kn.Tanh(0.5), kn.model.Local()
    each = tuple(rng.uniform(0.05, 0.3, TEAMS))
    own = kn.model.Outcome.from_function(lambda z: z / math.sqrt(1.0 + z * z))
    for literal in (False, True):
        for gamma, schedule, pairing in (
            (each, None, kn.model.AllPlayAll()),
            (kn.model.FallingSteps(0.1, boost=2.0, matches=5), None, local),
            (0.1, kn.model.Rounds(), kn.model.AllPlayAll()),
            (each, kn.model.Period(3), kn.model.AllPlayAll()),
            (0.1, kn.model.Period(2), local),
        ):
            system = kn.RatingSystem(kn.model.Davidson(0.5, 0.8), pairing, gamma, schedule)
            yield (
                f"{gamma if isinstance(gamma, float) else type(gamma).__name__} {schedule}",
                system,
                normal,
                None,
                literal,
            )
        elo = kn.RatingSystem(kn.Tanh(math.log(10) / 800), local, kn.model.FideSteps(under_18=[1]))
        yield "FIDE", elo, kn.Normal(rng.normal(2350.0, 60.0, TEAMS), 80.0), None, literal
    falling = kn.model.FallingSteps(0.1, boost=2.0, matches=5)
    yield "own falling", kn.RatingSystem(own, kn.model.AllPlayAll(), falling), normal, None, True
    open_league = kn.model.Turnover(rate=0.05, theta=[6.0, 8.0], start=7.0, leaving="weakest")
    for dynamics in (
        kn.model.Learning(alpha=0.2, beta=0.1, diffusion=0.3, on="result"),
        kn.model.Form(rate=0.3, spread=0.5),
        kn.model.Walk(0.2),
        [kn.model.Form(rate=0.3, spread=0.5), open_league],
        open_league,
    ):
        for schedule in (None, kn.model.Rounds(), kn.model.Period(2)):
            system = kn.RatingSystem(tanh, local if schedule is None else kn.model.AllPlayAll(), 0.1, schedule)
            yield f"{dynamics} {schedule}", system, normal, dynamics, True
    for schedule in (None, kn.model.Period(2)):
        glicko = kn.RatingSystem(tanh, kn.model.AllPlayAll(), kn.model.DeviationSteps(growth=0.1, start=0.8), schedule)
        yield f"Glicko {schedule}", glicko, normal, kn.model.Walk(0.1), True


def contests():
    """(name, system, league, dynamics, literal): contests of many sides, more of them than a warp has lanes."""
    rng = np.random.default_rng(9)
    theta = rng.normal(7.0, 1.5, TEAMS)
    normal, lottery = kn.Normal(theta, 0.8), kn.model.LineupLottery(rng.uniform(0.0, 2.0, (TEAMS, 5)), m=3)
    open_league = kn.model.Turnover(rate=0.05, theta=[6.0, 8.0], start=7.0, leaving="weakest")
    many = kn.Normal(rng.normal(7.0, 1.5, 40), 0.8)
    for size, outcome, gamma, league, dynamics in (
        (TEAMS, kn.Tanh(0.5), 0.1, normal, None),
        (3, kn.model.Probit(0.4), tuple(rng.uniform(0.05, 0.3, TEAMS)), lottery, None),
        (5, kn.Tanh(0.5), 0.1, normal, kn.model.Learning(alpha=0.2, beta=0.1, diffusion=0.3, on="result")),
        (4, kn.Tanh(0.5), 0.1, normal, [kn.model.Form(rate=0.3, spread=0.5), open_league]),
        (40, kn.Tanh(0.5), kn.model.FallingSteps(0.1, boost=2.0, matches=5), many, kn.model.Walk(0.2)),
    ):
        system = kn.RatingSystem(outcome, gamma=gamma, schedule=kn.model.Field(size))
        yield f"{system.schedule} {type(outcome).__name__} {dynamics}", system, league, dynamics, True


def points():
    """(name, settings): points of sweeps over γ, over ν with ties in some, and over windows."""
    league, other = kn.Normal(np.linspace(4.0, 10.0, TEAMS), 0.8), kn.Normal(np.linspace(4.0, 10.0, TEAMS), 1.2)
    steps = (0.05, 0.1, 0.2)
    yield "γ", [Setting(kn.RatingSystem(kn.Tanh(0.5), gamma=gamma), league) for gamma in steps]
    mixed = (kn.Tanh(0.5), kn.model.Davidson(0.4, 0.8), kn.Tanh(0.5))
    start = np.linspace(5.0, 8.0, TEAMS)
    yield (
        "ν, κ, σ",
        [
            Setting(kn.RatingSystem(law, gamma=gamma), where, start)
            for law, gamma, where in zip(mixed, steps, (league, other, league), strict=True)
        ],
    )
    for smoothing in (0.0, 0.4):
        pairings = [kn.model.Window(c, smoothing) for c in (1.0, 1.5, 3.0)]
        yield (
            f"c {smoothing}",
            [Setting(kn.RatingSystem(kn.model.Probit(0.4), one, 0.1), league, start) for one in pairings],
        )


def points_end_alike(settings, matches, realisations) -> bool:
    plan = {"steps": matches, "matches_per_step": 1, "realisations": realisations, "record_every": 15, "seed": 7}
    together = simulate_points(settings, **plan, device="gpu")
    return all(
        run.identical(kn.simulate(one.system, one.strengths, start=one.start, threads=1, **plan))
        for one, run in zip(settings, together, strict=True)
    )


def leagues_end_alike(system, league, dynamics, literal, matches, realisations) -> bool:
    ends = []
    for device in ("cpu", "gpu"):
        run = list(
            kn.micro.simulation_states(
                system, league, stops=[matches // 3, matches], matches_per_step=1, realisations=realisations, seed=6,
                sampling="literal" if literal else "marginal", device=device, dynamics=dynamics, threads=1,
            )
        )  # fmt: skip
        ends.append([(s.rating.tobytes(), s.played.tobytes(), *(v.tobytes() for v in s.memory.values())) for s in run])
    return ends[0] == ends[1]


def ends_alike(system, league, source, matches, realisations, blocks) -> bool:
    keys, first = realisation_keys(5, realisations), 3
    encoded = encode(system, league, literal=source == "literal")
    on_processor = loop_of(system, league, encoded, keys)
    on_device = gpu.gpu_play(system, [encoded], keys, blocks=blocks)
    ends = []
    for play in (on_processor, on_device):
        rating, played = np.full((realisations, league.teams), 7.0), np.zeros(realisations, dtype=np.int64)
        play(rating, played, {}, slice(0, realisations), first, first + matches)
        getattr(play, "fetch", lambda: None)()
        ends.append((rating.tobytes(), played.tobytes()))
    return ends[0] == ends[1]


def played_here(what: str, cases):
    """Those of the cases that are played, with their numbers."""
    return [(number, case) for number, case in enumerate(cases) if not simulated() or number in FEW[what]]


def imitate(seconds: int = 150) -> None:
    """Let the threads of a block, which look again and again for one another, take turns often; end what hangs."""
    sys.setswitchinterval(5e-4)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def main(matches: int, realisations: int) -> int:
    np.seterr(over="ignore")
    warnings.filterwarnings("ignore", "overflow")
    if simulated():
        imitate()
        gpu.BLOCK_THREADS = (24, 2)
        gpu_kernels.LONGEST_PAIRS_LAUNCH = 51
        gpu_general.LONGEST_LEAGUE_LAUNCH = gpu_field.LONGEST_LEAGUE_LAUNCH = 17
    memory, wrong = gpu.BLOCK_MEMORY, 0

    def tell(alike: bool, *words: str) -> None:
        nonlocal wrong
        wrong += not alike
        print("same bytes" if alike else "DIFFERENT", *words, sep="  ", flush=True)

    for way, blocks in (("warp", 0), ("block", realisations)):
        for number, (name, *league) in played_here(way, combinations()):
            gpu.BLOCK_MEMORY = memory if number % 2 == (way == "warp") else 0
            where = "near" if gpu.BLOCK_MEMORY else "far"
            tell(ends_alike(*league, matches, realisations, blocks), way, where, name)
    gpu.BLOCK_MEMORY = memory
    for number, (name, *league) in played_here("general", leagues()):
        for where, near in (("near", memory), ("far", 0)):
            if not simulated() or number % 2 == (where == "near"):
                gpu_general.BLOCK_MEMORY = near
                tell(leagues_end_alike(*league, matches, realisations), "general", where, name)
    for name, *league in contests():
        size = matches // 4 if simulated() else matches
        tell(leagues_end_alike(*league, size, realisations), "contests", name)
    for _, (name, settings) in played_here("points", points()):
        tell(points_end_alike(settings, matches // 2 if simulated() else matches, realisations), "points", name)
    return wrong


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in sys.argv[1:3])))
