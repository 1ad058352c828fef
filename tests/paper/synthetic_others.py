"""Made-up evidence of figures on other models and papers: each just within what decides, and just beyond it."""

from dataclasses import replace

import numpy as np

from kinelo.paper.literature.cycles import CyclesEvidence
from kinelo.paper.literature.filter_at_rest import FilterAtRestEvidence
from kinelo.paper.literature.fits import PowerLaw
from kinelo.paper.literature.local_pairing import LocalPairingEvidence
from kinelo.paper.literature.massive import MassiveEvidence
from kinelo.paper.literature.one_adversary import OneAdversaryEvidence
from kinelo.paper.literature.pairing_speed import PairingSpeedEvidence
from kinelo.paper.literature.round_robin import RoundRobinEvidence
from kinelo.paper.literature.small_steps import SmallStepsEvidence
from kinelo.paper.neighbours.deviations import DeviationEvidence
from kinelo.paper.neighbours.following import FollowingEvidence
from kinelo.paper.neighbours.learning import LearningEvidence
from kinelo.paper.neighbours.rounds import RoundsEvidence

TIME = np.linspace(0.0, 80.0, 41)


def _round_robin(nearly: float, noise: float, patience: float, linear: float) -> RoundRobinEvidence:
    gamma = np.array([0.01, 0.02, 0.05, 0.1])
    return RoundRobinEvidence(
        stretch=np.array([0.0, 0.8, 1.1, 2.5, 4.0]), contraction_gamma=np.array([0.1, 0.3]),
        linear=np.array([0.61, linear]),
        usual=np.array([[0.4, 0.52, 0.63, 0.9, nearly], [0.31, 0.44, 0.5, 0.99951, 0.8]]),
        gamma=gamma, variance=0.4 * gamma, played=0.4 * gamma * np.array([1.02, 0.97, 1.0, 0.9]),
        played_error=0.003 * gamma, rounds=4.6 / gamma + 3.0, noise=PowerLaw(noise, 0.0123),
        patience=PowerLaw(patience, 0.004),
    )  # fmt: skip


def _small_steps(errors: float, straight: float, deep: float, power: float) -> SmallStepsEvidence:
    gamma = np.array([0.01, 0.03, 0.06, 0.2])
    return SmallStepsEvidence(
        time=TIME, apart=np.append(3.0 * np.exp(-0.05 * TIME[:-1]), 3.0 * deep), rate=0.0512, straight=straight,
        slowest=0.0617, mean_gap=-0.02 * errors, mean_gap_error=0.02, gamma=gamma, distance=1.3 * gamma**0.52,
        distance_error=0.01 * gamma, computed=1.24 * gamma**0.5, law=PowerLaw(power, 0.0087),
    )  # fmt: skip


def _cycles(exact: float, apart: float, starts: float, likely: float) -> CyclesEvidence:
    evenly = np.array([[0.2, 0.1, -0.3], [0.4, 0.05, -0.45]])
    often = evenly + np.array([[exact, 0.0, -exact], [0.01, apart, -0.02]])
    return CyclesEvidence(np.array([0.0, 0.35]), evenly, often, np.array([starts, starts / 3]), likely)


def _one_adversary(shift: float, other: float) -> OneAdversaryEvidence:
    even = np.linspace(-1.0, 1.0, 402) ** 3  # no value but the ends lies where two bars meet
    return OneAdversaryEvidence(even + shift, even[::2] + other, 1.13 + 0.8 * even + 0.2 * even**2, 1.0)


def _pairing_speed(power: float, widest: float) -> PairingSpeedEvidence:
    gap = widest / np.array([1.0, 2.0, 4.0, 10.1])
    time = np.geomspace(1.0, 200.0, 30)
    missing = np.exp(-0.2 * gap[:, None] * time)
    # Graphs lie off their law in ways that leave its power as it is, where all count alike.
    off, logs = np.array([0.2, -0.3, 0.15, -0.05]), np.log(gap)
    off -= np.polyval(np.polyfit(logs, off, 1), logs)
    return PairingSpeedEvidence(("all", "ring", "two", "bridge"), gap, time, missing, 12.0 * gap**power * np.exp(off))


def _local_pairing(end: float, late: float, moving: float) -> LocalPairingEvidence:
    skills = np.array([-2.0, -0.7, 0.5, 2.6])
    centred = skills - skills.mean()
    falls = np.array([2.0 * np.exp(-0.15 * TIME), np.exp(-late * TIME)])
    near = np.array([0.3 * np.exp(-0.2 * TIME) + 0.8, 0.5 + 0.3 * np.exp(-0.3 * TIME), 0.04 + 0.9 * np.exp(-TIME)])
    near[1, -1] *= 1 + moving
    final = np.array([centred + 0.8, centred - 0.5, centred + 0.04])
    return LocalPairingEvidence(
        skills, TIME, falls, near, np.array([centred, centred + np.array([end, 0.01, 0.0, -0.02])]), final
    )


def _massive(step: float, plain: float, growth: float, growth_plain: float) -> MassiveEvidence:
    falls = np.array([[1610.0, 1580.0, 1571.0], [1530.0, 1514.0, 1499.0], [1460.0, 1452.0, 1450.0]])
    with_off, without = falls.copy(), falls - np.array([0.0, 20.0, 45.0])
    with_off[0, 2] = with_off[0, 1] + step
    without[2, 2] = without[2, 1] + plain
    ahead = np.array([0.0, 200.0, 400.0, 800.0])
    lost = np.array([21.0, 30.0, 33.0, 30.0 * (1 + growth)])
    lost_plain = np.array([25.0, 50.0, 60.0, 50.0 * (1 + growth_plain)])
    return MassiveEvidence(("A", "B", "C"), falls.mean(axis=1), with_off, without, ahead, lost, lost_plain)


FILTER = FilterAtRestEvidence(
    played=2.0 * np.arange(1, 6), variance=np.array([1.5, 0.9, 0.6, 0.52, 0.5]), settled=0.51, gamma=0.1712,
    filtered=np.array([-0.5, 0.2, 0.4]), elo=np.array([-0.48, 0.17, 0.39]), correlation=0.9902, loss_filter=0.6012,
    loss_elo=0.603,
)  # fmt: skip
DEVIATIONS = DeviationEvidence(
    matches=TIME, falling=0.4 + 0.5 * np.exp(-0.1 * TIME), rising=0.4 - 0.2 * np.exp(-0.1 * TIME), settled=0.4,
    time=TIME, mean=1.0 + 0.004 * TIME, still_speed=0.0037, noisy_speed=0.0045, speed=0.0041, speed_error=0.002,
)  # fmt: skip
FOLLOWING = FollowingEvidence(
    gamma=np.linspace(0.02, 0.3, 5), parts=np.array([[0.1, 0.5, 0.01], [0.2, 0.3, 0.02], [0.3, 0.2, 0.02],
    [0.4, 0.15, 0.03], [0.5, 0.12, 0.03]]), best=0.154, least=0.521, run_gamma=np.array([0.05, 0.15, 0.25]),
    run_error=np.array([0.6, 0.53, 0.56]), run_uncertainty=np.array([0.01, 0.008, 0.02]), glicko=0.4989,
    glicko_uncertainty=0.006,
)  # fmt: skip
LEARNING = LearningEvidence(
    gamma=np.linspace(0.0, 0.2, 5), error=0.3 + np.linspace(0.0, 0.2, 5), floor=0.00099, slope=0.873,
    run_gamma=np.array([0.05, 0.2]), run_error=np.array([0.36, 0.52]), run_uncertainty=np.array([0.011, 0.02]),
    time=TIME, strength_spread=0.9 * np.maximum(TIME, 0.1) ** 0.331, rating_spread=0.7 * np.maximum(TIME, 0.1) ** 0.239,
    predicted_spread=0.8 * TIME ** (1 / 3),
)  # fmt: skip
ROUNDS = RoundsEvidence(
    orbit=np.array([[0.2, 6.9], [0.4, 7.1], [0.6, -400.0], [0.6, 601.0]]), gamma=np.array([0.2, 0.4, 0.6, 0.8]),
    period=np.array([1, 1, 2, 0]), critical=0.55, fastest=0.3, bound=0.4, noisy_gamma=np.array([0.2, 0.6]),
    noise=np.array([0.3, 1.2]), noise_by_match=np.array([0.29, 0.8]),
)  # fmt: skip

WITHIN = {
    "round_robin": _round_robin(0.99901, 1.049, -0.951, 0.999),
    "small_steps": _small_steps(3.99, 0.99501, 0.99e-6, 0.529),
    "cycles": _cycles(0.9e-6, 0.0501, 0.9e-6, 0.8e-6),
    "one_adversary": _one_adversary(0.0, 0.001),
    "pairing_speed": _pairing_speed(-0.851, 2.0),
    "local_pairing": _local_pairing(0.049, 0.1358, 0.0),
    "massive": _massive(0.0, 0.0, 0.099, 0.0999),
    "filter_at_rest": FILTER,
    "deviations": replace(DEVIATIONS, rising=0.4 + 0.2 * np.exp(-0.1 * TIME), speed=0.0039),
    "following": FOLLOWING,
    "learning": LEARNING,
    "rounds": ROUNDS,
}
BEYOND = {
    "round_robin": _round_robin(0.99899, 1.051, -0.949, 1.0),
    "small_steps": _small_steps(4.01, 0.99499, 1.01e-6, 0.4699),
    "cycles": _cycles(1.1e-6, 0.0499, 0.9e-6, 1.1e-6),
    "one_adversary": _one_adversary(0.1, 0.6),
    "pairing_speed": _pairing_speed(-1.151, 1.0),
    "local_pairing": _local_pairing(0.051, 0.1354, -0.02),
    "massive": _massive(3.0, 0.1, 0.1001, 0.1001),
    "filter_at_rest": replace(FILTER, loss_elo=0.6033),
    "deviations": replace(DEVIATIONS, speed=0.00401),
    "following": replace(FOLLOWING, glicko=0.5002),
    "learning": replace(LEARNING, floor=0.00101, rating_spread=0.7 * np.maximum(TIME, 0.1) ** 0.229),
    "rounds": replace(ROUNDS, orbit=ROUNDS.orbit * [1.0, 0.99], bound=0.39, period=np.array([1, 1, 2, 4])),
}
