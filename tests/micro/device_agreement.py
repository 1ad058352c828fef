"""Every law on the device against the same law on the processor; run as a script, one line per combination.

``python device_agreement.py 120 2`` plays 120 matches of 2 realisations in each combination. Where there is no device,
set ``NUMBA_ENABLE_CUDASIM=1``: then the kernels are imitated in Python, thread by thread.
"""

from __future__ import annotations

import math
import sys

import numpy as np

import kinelo as kn
from kinelo.micro.gpu import general as gpu_general
from kinelo.micro.gpu import play as gpu
from kinelo.micro.simulate import Setting, loop_of
from kinelo.micro.sweep_points import simulate_points
from kinelo.play.encoding import encode
from kinelo.play.stream import realisation_keys
from kinelo.runtime.device import simulated

TEAMS = 12


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
        (12, kn.Tanh(0.5), 0.1, normal, None),
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


def main(matches: int, realisations: int, every: int) -> int:
    np.seterr(over="ignore")
    if simulated():
        gpu.BLOCK_THREADS = (24, 8)
    wrong = 0
    for number, (name, *league) in enumerate(combinations()):
        for blocks in (0, realisations):
            if number % every and not (every > 1 and number in (1, 24)):
                continue
            alike = ends_alike(*league, matches, realisations, blocks)
            wrong += not alike
            print(f"{'same bytes' if alike else 'DIFFERENT'}  {'block' if blocks else 'warp'}  {name}", flush=True)
    for number, (name, *league) in enumerate(leagues()):
        for where, near in (("near", gpu.BLOCK_MEMORY), ("far", 0)):
            if number % every == 0 and (every == 1 or (near > 0) == (number % (2 * every) == 0)):
                gpu_general.BLOCK_MEMORY = near
                alike = leagues_end_alike(*league, matches, realisations)
                wrong += not alike
                print(f"{'same bytes' if alike else 'DIFFERENT'}  general, {where}  {name}", flush=True)
    for name, *league in contests():
        alike = leagues_end_alike(*league, matches // 4 if simulated() else matches, realisations)
        wrong += not alike
        print(f"{'same bytes' if alike else 'DIFFERENT'}  contests  {name}", flush=True)
    for number, (name, settings) in enumerate(points()):
        if every == 1 or number in (1, 3):
            alike = points_end_alike(settings, matches // 2 if simulated() else matches, realisations)
            wrong += not alike
            print(f"{'same bytes' if alike else 'DIFFERENT'}  points  {name}", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in sys.argv[1:4])))
