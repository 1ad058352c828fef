"""Made-up evidence of every figure, of the right shape, with numbers a test can choose."""

from dataclasses import replace

import numpy as np

from kinelo.paper.figures.closures import Closures
from kinelo.paper.figures.energy import Energy, EnergyRun, Rates
from kinelo.paper.figures.homogeneous_macro import Macro, MacroRun
from kinelo.paper.figures.homogeneous_micro import LargeSpread, Micro
from kinelo.paper.figures.leagues import LeagueRun
from kinelo.paper.figures.marginals import MarginalRun
from kinelo.paper.figures.outliers import Bias, Outliers
from kinelo.paper.figures.phase_diagram import Phase
from kinelo.paper.figures.scale import EarlyRun, ScaleEvidence
from kinelo.paper.figures.spread import TeamSpread
from kinelo.paper.figures.step_scan import ScanLine, ScanPoint, StepScan
from kinelo.paper.figures.step_size import Lines, StepPoints, StepSize
from kinelo.paper.summary import Homogeneous

THETA = np.linspace(4, 10, 40)
CONSERVED = {"mass_error": 1e-15, "mean_error": 1e-14}


def line(slope: float) -> np.ndarray:
    return 7 + slope * (THETA - 7)


def spread() -> dict[str, TeamSpread]:
    def league(sigma):
        return TeamSpread(THETA, sigma, sigma, sigma, (float(sigma.min()), float(sigma.max())))

    return {"R1": league(np.arange(40) * 0.003), "R2": league(np.append(np.full(38, 0.2), [1.0, 1.0]))}


def r1_spread(sigma) -> dict[str, TeamSpread]:
    return {"R1": replace(spread()["R1"], expected_sigma=np.asarray(sigma))}


def r2_spread(others=0.2, last=(1.0, 1.0)) -> dict[str, TeamSpread]:
    sigma = np.append(np.linspace(0.2, others, 38), last)
    return {"R2": replace(spread()["R2"], sigma=sigma)}


def near_five(width: float, mean: float = 5.0) -> dict[str, TeamSpread]:
    league = spread()["R1"]
    return {"R1": replace(league, theta=np.linspace(mean - width, mean + width, 40))}


def simulated(slope: float) -> dict:
    return {
        "theta": THETA, "sigma": THETA * 0 + 1, "rating": line(slope), "rating_sd": THETA * 0, "settled": line(slope),
        "settled_error": THETA * 0 + 0.01,
        "slope": slope, "slope_error": 0.001, "noise": 0.1, "matches_per_team": 1e3, "realisations": 5,
        "mean_drift": 1e-15,
    }  # fmt: skip


def league(slope: float, in_line: int, limit: float = 0.98, error: float = 0.001) -> LeagueRun:
    return LeagueRun(
        **simulated(slope) | {"slope_error": error},
        computed=line(slope),
        computed_slope=slope,
        limit_slope=limit,
        gamma=0.1,
        in_line=in_line,
    )


def leagues(r1: float = 0.97, r2: float = 1.02, limit: float = 0.98, error: float = 0.001) -> dict[str, LeagueRun]:
    return {"R1": league(r1, 40, limit, error), "R2": league(r2, 38, limit, error)}


GAMMA = np.array([0.01, 0.1, 0.25])


def scan_line(start: float, rise: float, germany: float = -0.2, brazil: float = -0.1, low: float = -0.05) -> ScanLine:
    """A line whose slope is ``start`` at γ = 0 and rises by ``rise`` per unit of γ."""
    points = tuple(
        ScanPoint(gamma=g, slope=start + rise * g, slope_error=0.002, germany=germany, brazil=brazil,
                  germany_error=0.01, brazil_error=0.02)
        for g in (0.05, 0.1)
    )  # fmt: skip
    flat = GAMMA * 0
    return ScanLine(
        slope=start + rise * GAMMA, germany=flat + germany, brazil=flat + brazil, low=flat + low, points=points
    )


def step_scan(germany: float = -0.2, brazil: float = -0.1, low: float = -0.05) -> StepScan:
    r2 = {1.0: scan_line(0.98, 0.4, germany, brazil, low), 2.0: scan_line(0.97, 0.4, germany - 0.4, brazil - 0.4, low)}
    return StepScan(
        GAMMA, scan_line(0.93, 0.5), r2, {1.0: (0.05, 0.11), 2.0: (0.075, 0.14)}, (0.01, 0.14),
        {1.0: (0.05, 0.25), 2.0: (0.075, 0.25)},
    )  # fmt: skip


def outliers(last: float = -1.0, first: float = 0.0) -> Outliers:
    bias = np.linspace(first, last, 3)
    data = Bias(np.array([0.2, 1.0, 4.0]), bias, bias, bias * 0 - 0.05, bias * 0 + 0.05)
    return Outliers(data, data)


def homogeneous(slope: float, sigma: float = 1.0, nu: float = 0.5) -> Homogeneous:
    return Homogeneous(
        **simulated(slope), map_theta=THETA, map_rating=line(slope), map_limit=line(slope), computed_slope=slope,
        limit_slope=slope, limit_end=7 + 3 * slope, limit_bias=3**0.5 * abs(1 - slope), nu=nu, common_sigma=sigma,
        gamma=0.05,
    )  # fmt: skip


def micro(slopes=(1.0, 0.9, 0.76, 0.5), last: float = 0.03) -> Micro:
    ends = 7 + 3 * np.array([slopes[-1], 0.2, last])
    beyond = LargeSpread(np.array([2.0, 8.0, 32.0]), np.array([slopes[-1], 0.2, last]), ends, 11.24)
    return Micro({f"σ = {s:g}": homogeneous(slope, s) for s, slope in zip((0, 0.5, 1, 2), slopes)}, beyond)


def macro_run(slope: float, sigma: float = 0.0, cell: float = 0.05, time: float = 60.0) -> MacroRun:
    return MacroRun(
        **CONSERVED, theta=THETA, r=THETA, theta_r=np.eye(40), mean_given_theta=line(slope), exact_map=line(slope),
        taylor_map=line(slope), slope=slope, common_sigma=sigma, closure="taylor", cell=cell, time=time,
        free_mean=line(slope), free_slope=min(1.0, slope + 0.025 + time / 1e5), energy=0.2, free_energy=0.21,
    )  # fmt: skip


def macro(slopes=(1.0, 0.9, 0.76, 0.5), fine: float = 1.0, late: float = 1.0) -> Macro:
    return Macro(
        {f"σ = {s:g}": macro_run(slope, s) for s, slope in zip((0, 0.5, 1, 2), slopes)},
        {"narrow cells": macro_run(fine, cell=0.025), "twice the time": macro_run(late, time=120.0)},
    )


def marginals(
    means=(5.0, 7.0),
    slope_by_sigma=(0.6, 0.5, 0.4),
    mass_error: float = 1e-15,
    off: float = 0.5,
    sharp: float = 0.1,
    start: float = 2.0,
    grown: float = 8.0,
) -> dict[str, MarginalRun]:
    found = {}
    for name, mean in zip(("[0, 10]", "[4, 10]"), means):
        found[name] = MarginalRun(
            mass_error=mass_error, mean_error=1e-14, time=5.0, start_given_theta=THETA + start,
            growth=np.array([1.0, 3.0, grown]), allowed_growth=np.exp([0.0, 2.5, 5.0]),
            theta=THETA, r=THETA, sigma=np.array([0.1, 0.5, 0.9]), strengths=THETA, spreads=np.array([0.0, 0.5, 1.0]),
            masses=THETA * 0 + 1 / 40,
            theta_r=np.eye(40), sigma_r=np.ones((3, 40)), mean_given_theta=THETA + off, map_given_theta=THETA + 0.259,
            sd_given_theta=np.where(np.abs(THETA - 7) <= 1, sharp, 0.3), scheme_sd=0.31, limit_slope=0.68,
            slope_by_sigma=np.array(slope_by_sigma), moment_by_sigma=np.array([1.2, 1.1, 1.0]), mean_rating=mean,
        )  # fmt: skip
    return found


def scale() -> ScaleEvidence:
    time = np.geomspace(1, 1e4, 30)
    early = {}
    for nu in (1, 0.1, 0.01):
        rise = -np.expm1(-0.05 * nu * time)
        early[f"early, ν = {nu:g}"] = EarlyRun(nu, time, rise, rise, 46 / nu, 47 / nu)
    final = {f"ν = {nu:g}": homogeneous(slope, 2.0, nu) for nu, slope in ((1, 0.28), (0.1, 0.93), (0.01, 0.999))}
    return ScaleEvidence(final, early)


def step_size() -> StepSize:
    points = [(s, g, 1 - s / 4 + g / 2, 0.01) for s in (0.0, 1.0) for g in (0.1, 0.6)]
    lines = Lines(
        np.array([0.0, 1.0]), np.array([0.1, 0.6]), np.array([[1.05, 1.3], [0.8, 1.05]]), np.array([0.0, 0.5])
    )
    return StepSize(StepPoints(*(np.array(v) for v in zip(*points))), lines)


def closures(error: float = 0.2) -> Closures:
    d = np.linspace(0, 6, 30)
    win = (1 + np.tanh(d / 2)) / 2
    return Closures(
        nu=0.5, sigma=np.array([0.5, 2.0]), difference=d, theta=THETA,
        win={"exact": np.array([win, win]), "taylor": np.array([win, win - error * np.sin(d / 2)])},
        bias={"exact": np.zeros((2, 40)), "taylor": np.zeros((2, 40))},
    )  # fmt: skip


def phase_diagram() -> Phase:
    nu, sigma = np.geomspace(0.008, 2, 8), np.geomspace(0.1, 4, 8)
    slope = 1 / np.sqrt(1 + np.pi * np.multiply.outer(sigma, nu) ** 2)
    return Phase(nu, sigma, slope, slope, (0.3, 0.6, 0.9), ((0.5, 1.0), (0.01, 2.0)))


STARTS = ("from r = θ", "from one rating", "uniform", "smooth around r = θ")


def energy_run(energy=None, variance=None, rate: float = 0.28, nu: float = 0.5) -> EnergyRun:
    """Given numbers are kept from the last of them on."""
    time = np.linspace(0, 60, 61)
    distance, rise = 2 * np.exp(-rate * time), 0.17 * -np.expm1(-0.1 * time)
    energy, variance = (
        rise if one is None else np.pad(np.asarray(one, dtype=float), (0, 61 - len(one)), "edge")
        for one in (energy, variance)
    )
    return EnergyRun(
        time=time, energy=energy, variance=variance,
        distance=distance, asymptote=distance, predicted_energy=0.17, predicted_variance=1.74, predicted_slope=0.76,
        gap=0.14, nu=nu, common_sigma=1.0, rate=1.5,
    )  # fmt: skip


RIGHT = Rates(-3.0, -3.0, -1.6, -1.6, -0.2)


def energy(rates=(RIGHT, RIGHT), rate: float = 0.28, **changed) -> Energy:
    """``changed``: a run by the first word of its start, whichever the closure."""
    runs = {
        f"{start}, {closure}": changed.get(start.split()[0], energy_run(rate=rate))
        for start in STARTS
        for closure in ("exact", "taylor")
    }
    return Energy(runs, dict(zip(("uniform", "line"), rates)))


EVIDENCE = {
    "spread": spread, "leagues": leagues, "marginals": marginals, "homogeneous_micro": micro,
    "homogeneous_macro": macro, "scale": scale, "step_size": step_size, "closures": closures, "energy": energy,
    "phase_diagram": phase_diagram, "outliers": outliers, "step_scan": step_scan,
}  # fmt: skip
