"""The device against the processor: the same bytes, and how fast."""

import time
import warnings

import numpy as np
import pytest

import kinelo as kn
from kinelo.micro.gpu.play import gpu_play
from kinelo.micro.league import fresh_memory
from kinelo.micro.simulate import Setting, loop_of
from kinelo.play.encoding import encode
from kinelo.play.stream import realisation_keys
from kinelo.runtime.device import devices, simulated

SECTION = "Graphics processor"
SYSTEM = kn.RatingSystem(kn.Tanh(0.5), gamma=0.05)
LEAGUE = kn.homogeneous(sigma=1.0, teams=200)

pytestmark = pytest.mark.skipif(simulated() or not devices()[1].usable, reason=devices()[1].remark or "only imitated")


def seconds(realisations: int, matches: int) -> float:
    play = gpu_play(SYSTEM, [encode(SYSTEM, LEAGUE)], realisation_keys(5, realisations))
    rating, played = np.full((realisations, 200), 7.0), np.zeros(realisations, dtype=np.int64)
    play(rating, played, {}, slice(0, realisations), 0, 1000)
    begin = time.perf_counter()
    play(rating, played, {}, slice(0, realisations), 1000, 1000 + matches)
    return time.perf_counter() - begin


@pytest.fixture
def section(table):
    warnings.filterwarnings("ignore", message="Grid size")
    found = table(SECTION)
    found.note = f"{devices()[1]}; N = 200, w ≡ 1, ν = 0.5, γ = 0.05, double precision; compiled before."
    return found


def test_set_up_r2_in_full(section):
    """The paper's largest ensemble, from the call to the dataset."""
    league, taken = kn.paper.setup_r2(), []
    for _ in range(2):
        begin = time.perf_counter()
        kn.simulate(
            SYSTEM, league, steps=2_000_000, matches_per_step=25, realisations=50, seed=1, device="gpu", progress=False
        )
        taken.append(time.perf_counter() - begin)
    section.row("set-up R2 in full, 2.5·10⁹ matches, kn.simulate", f"{min(taken):.2f} s", "≤ 1.5 s", min(taken) <= 1.5)
    section.row("the same with compilation", f"{taken[0]:.2f} s")


def test_points_of_a_sweep(section):
    """Points in one launch, and one after the other; tables are made before."""
    points = [Setting(kn.RatingSystem(kn.Tanh(0.5), gamma=gamma), LEAGUE) for gamma in np.linspace(0.01, 0.2, 100)]
    for realisations in (1, 10):

        def taken(batches, realisations=realisations):
            begin = time.perf_counter()
            for batch in batches:
                rows = realisations * len(batch)
                rating, played = np.full((rows, 200), 7.0), np.zeros(rows, dtype=np.int64)
                gpu_play(batch[0].system, [encode(*one[:2]) for one in batch], realisation_keys(1, realisations))(
                    rating, played, {}, slice(0, rows), 0, 1_000_000
                )
            return time.perf_counter() - begin

        taken([points]), taken([points[:1]])
        together, alone = taken([points]), taken([[point] for point in points])
        section.row(
            f"100 points of γ × {realisations} realisations, 10⁶ matches each, in one launch",
            f"{together:.2f} s (one after the other: {alone:.1f} s)",
        )


def test_ensembles(section):
    """Matches a second, by the number of realisations."""
    best = 0.0
    for realisations, matches in (
        (1, 4_000_000),
        (50, 4_000_000),
        (528, 2_000_000),
        (4224, 1_000_000),
        (16896, 500_000),
    ):
        rate = realisations * matches / seconds(realisations, matches)
        best = max(best, rate)
        section.row(f"{realisations:,} realisations", f"{rate / 1e9:.2f}·10⁹ matches a second")
    section.row("best ensemble", f"{best / 1e9:.1f}·10⁹ matches a second", "≥ 50·10⁹", best >= 50e9)


KINDS = {
    "one step for all": (SYSTEM, None),
    "a step for each team": (kn.RatingSystem(kn.Tanh(0.5), gamma=tuple(np.linspace(0.02, 0.1, 200))), None),
    "falling steps": (kn.RatingSystem(kn.Tanh(0.5), gamma=kn.model.FallingSteps(0.05, boost=2.0, matches=30)), None),
    "FIDE's steps": (kn.RatingSystem(kn.Tanh.elo(), gamma=kn.model.FideSteps()), None),
    "form": (SYSTEM, kn.model.Form(0.02, 0.8)),
    "walks": (SYSTEM, kn.model.Walk(0.01)),
    "learning": (SYSTEM, kn.model.Learning(alpha=0.2, beta=0.1, diffusion=0.3)),
    "Glicko, walks": (
        kn.RatingSystem(kn.Tanh(0.5), gamma=kn.model.DeviationSteps(growth=0.1, start=0.8)),
        kn.model.Walk(0.1),
    ),
    "rounds": (kn.RatingSystem(kn.Tanh(0.5), gamma=0.005, schedule=kn.model.Rounds()), None),
    "periods of 3 matchdays": (kn.RatingSystem(kn.Tanh(0.5), gamma=0.05, schedule=kn.model.Period(3)), None),
    "contests of 8": (kn.RatingSystem(kn.Tanh(0.5), gamma=0.05, schedule=kn.model.Field(8)), None),
}
GOALS = {
    "form": 5.0,
    "walks": 5.0,
    "falling steps": 5.0,
    "FIDE's steps": 5.0,
    "rounds": 3.0,
    "periods of 3 matchdays": 3.0,
}
"""10⁹ matches a second with 2,000 realisations."""


@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_leagues(section, name):
    """Matches a second by the number of realisations, the state staying on the device."""
    system, dynamics = KINDS[name]
    league = kn.Normal(np.linspace(1600, 2500, 200), 80.0) if "FIDE" in name else LEAGUE
    rates = {}
    for realisations in (100, 2_000, 10_000, 40_000):
        encoded = encode(system, league, dynamics)
        play = loop_of(system, league, encoded, realisation_keys(1, realisations), "gpu")
        rating = np.full((realisations, 200), float(league.theta.mean()))
        played, memory = np.zeros(realisations, dtype=np.int64), fresh_memory(encoded, rating)
        play(rating, played, memory, slice(0, realisations), 0, 200)
        match, size, taken = 200, 200, 0.0
        while taken < 0.2:
            begin = time.perf_counter()
            play(rating, played, memory, slice(0, realisations), match, match + size)
            taken, match = time.perf_counter() - begin, match + size
            rates[realisations] = size * realisations / taken
            size *= 4 if taken < 0.05 else 2
    goal = GOALS.get(name)
    section.row(
        f"{name}: 100, 2,000, 10,000 and 40,000 realisations",
        ", ".join(f"{rate / 1e9:.2f}" for rate in rates.values()) + "·10⁹ matches a second",
        "" if goal is None else f"≥ {goal:g}·10⁹ with 2,000", None if goal is None else rates[2_000] >= goal * 1e9,
    )  # fmt: skip


def test_the_papers_literal_steps(section):
    """Figure 3's grid with the paper's Δt = 10⁻⁵ up to t = 5."""
    teams = kn.macro.Population.uniform(theta=(0, 10, 200), r=(0, 10, 200), sigma=(0.0, 1.0, 20))
    system = kn.RatingSystem(kn.Tanh(nu=1.0), gamma=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.perf_counter()
        *_, short = kn.macro.kinetic_states(
            system, teams, until=0.2, dt=1e-5, closure="taylor", samples=1, device="gpu"
        )
        middle = time.perf_counter()
        *_, last = kn.macro.kinetic_states(system, teams, until=5.0, dt=1e-5, closure="taylor", samples=1, device="gpu")
        end = time.perf_counter()
    each = (end - middle) / last.steps
    section.row(
        f"kinetic equation, {last.steps:,} literal steps of 800,000 cells",
        f"{end - middle:.1f} s ({1e6 * each:.1f} µs a step)", "≤ 6 s", end - middle <= 6.0,
    )  # fmt: skip
    section.row(f"the first {short.steps:,} of them, with compilation", f"{middle - begin:.1f} s")
