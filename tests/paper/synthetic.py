"""Made-up evidence of every figure, of the right shape, with numbers a test can choose."""

import numpy as np
import xarray as xr

from kinelo.paper.leagues import Evidence

THETA = np.linspace(4, 10, 40)


def spread() -> Evidence:
    def league(sigma):
        return xr.Dataset(
            {name: ("team", values) for name, values in
             {"theta": THETA, "sigma": sigma, "drawn_sigma": sigma, "expected_sigma": sigma}.items()},
            attrs={"inner_95": [float(sigma.min()), float(sigma.max())]},
        )  # fmt: skip

    return {"R1": league(np.arange(40) * 0.003), "R2": league(np.append(np.full(38, 0.2), [1.0, 1.0]))}


def league(slope: float, gamma: float, limit: float = 0.98) -> xr.Dataset:
    def line(a):
        return ("team", 7 + a * (THETA - 7))

    return xr.Dataset(
        {"theta": ("team", THETA), "rating": line(slope), "settled": line(slope), "computed": line(slope),
         "limit": line(limit)},
        attrs={"slope": slope, "computed_slope": slope, "limit_slope": limit, "gamma": gamma, "mean_drift": 1e-15,
               "matches_per_team": 1e3},
    )  # fmt: skip


def leagues(small: float = 1.001, large: float = 1.2, limit: float = 0.98) -> Evidence:
    return {
        "R1": league(small, 0.05, limit), "R2": league(small, 0.05, limit),
        "R1, large γ": league(large, 0.5, limit), "R2, large γ": league(large, 0.5, limit),
    }  # fmt: skip


def outliers(last: float = -1.0, first: float = 0.0) -> Evidence:
    sigma = np.array([0.2, 1.0, 4.0])
    bias = np.linspace(first, last, 3)
    data = xr.Dataset({n: ("run", v) for n, v in
                       {"sigma": sigma, "germany": bias, "brazil": bias, "low": bias * 0 - 0.05,
                        "high": bias * 0 + 0.05}.items()})  # fmt: skip
    return {"simulated": data, "computed": data}


def homogeneous(slope: float, sigma: float = 1.0, nu: float = 0.5) -> xr.Dataset:
    run = league(slope, 0.05)
    return run.assign(
        map_theta=("node", THETA),
        map_rating=("node", 7 + slope * (THETA - 7)),
        map_limit=("node", 7 + slope * (THETA - 7)),
    ).assign_attrs(limit_slope=slope, limit_end=7 + 3 * slope, slope_error=0.001, nu=nu, common_sigma=sigma)


def micro(slopes=(1.0, 0.9, 0.76, 0.5)) -> Evidence:
    return {f"σ = {s:g}": homogeneous(slope, s) for s, slope in zip((0, 0.5, 1, 2), slopes)}


def macro(slopes=(1.0, 0.9, 0.76, 0.5)) -> Evidence:
    return {
        f"σ = {s:g}": xr.Dataset(
            {
                "theta_r": (("theta", "r"), np.eye(40)),
                "mean_rating": ("theta", 7 + slope * (THETA - 7)),
                "exact_map": ("theta", 7 + slope * (THETA - 7)),
                "taylor_map": ("theta", 7 + slope * (THETA - 7)),
            },
            coords={"theta": THETA, "r": THETA},
            attrs={"slope": slope, "closure": "taylor", "cell": 0.05, "mass_error": 1e-15, "mean_error": 1e-14},
        )
        for s, slope in zip((0, 0.5, 1, 2), slopes)
    }


def marginals(means=(5.0, 7.0), slope_by_sigma=(0.6, 0.5, 0.4), mass_error: float = 1e-15) -> Evidence:
    found = {}
    for name, mean in zip(("[0, 10]", "[4, 10]"), means):
        blur = np.where(np.abs(THETA - 7) <= 1, 0.1, 0.3) if mean == 7 else np.full(40, 0.3)
        found[name] = xr.Dataset(
            {
                "theta_r": (("theta", "r"), np.eye(40)),
                "sigma_r": (("sigma", "r"), np.ones((3, 40))),
                "mean_rating": ("theta", THETA),
                "sd_rating": ("theta", blur),
                "slope_by_sigma": ("sigma", list(slope_by_sigma)),
            },
            coords={"theta": THETA, "r": THETA, "sigma": [0.1, 0.5, 0.9]},
            attrs={"mean_rating": mean, "time": 5.0, "mass_error": mass_error, "mean_error": 1e-14},
        )
    return found


def scale() -> Evidence:
    found = {f"ν = {nu:g}": homogeneous(slope, 2.0, nu) for nu, slope in ((1, 0.28), (0.1, 0.93), (0.01, 0.999))}
    time = np.geomspace(1, 1e4, 30)
    for nu in (1, 0.1, 0.01):
        rise = -np.expm1(-0.05 * nu * time)
        found[f"early, ν = {nu:g}"] = xr.Dataset(
            {"slope": ("time", rise), "predicted": ("time", rise)}, coords={"time": time},
            attrs={"nu": nu, "matches_to_one_percent": 92 / nu, "matches_to_ten_percent": 46 / nu,
                   "measured_to_ten_percent": 46 / nu},
        )  # fmt: skip
    return found


def step_size() -> Evidence:
    names = ("sigma", "gamma", "slope", "slope_error")
    points = [(s, g, 1 - s / 4 + g / 2, 0.01) for s in (0.0, 1.0) for g in (0.1, 0.6)]
    lines = xr.Dataset(
        {"slope": (("sigma", "gamma"), np.array([[1.05, 1.3], [0.8, 1.05]])), "unbiased": ("sigma", [0.0, 0.5])},
        coords={"sigma": [0.0, 1.0], "gamma": [0.1, 0.6]},
    )
    return {"simulated": xr.Dataset({n: ("run", np.array(v)) for n, v in zip(names, zip(*points))}), "computed": lines}


def closures(error: float = 0.2) -> Evidence:
    d = np.linspace(0, 6, 30)
    win = (1 + np.tanh(d / 2)) / 2
    return {
        "closures": xr.Dataset(
            {
                "win": (("closure", "sigma", "difference"), np.array([[win, win], [win, win - error * np.sin(d / 2)]])),
                "bias": (("closure", "sigma", "theta"), np.zeros((2, 2, 40))),
            },
            coords={"closure": ["exact", "taylor"], "sigma": [0.5, 2.0], "difference": d, "theta": THETA},
            attrs={"nu": 0.5},
        )
    }


def phase_diagram() -> Evidence:
    nu, sigma = np.geomspace(0.02, 2, 8), np.geomspace(0.1, 4, 8)
    slope = 1 / np.sqrt(1 + np.pi * np.multiply.outer(sigma, nu) ** 2)
    return {
        "phase": xr.Dataset(
            {"slope": (("sigma", "nu"), slope), "rule": (("sigma", "nu"), slope)},
            coords={"nu": nu, "sigma": sigma},
            attrs={"levels": [0.3, 0.6, 0.9], "runs": [[0.5, 1.0], [0.01, 2.0]]},
        )
    }


def energy(rises: bool = True, rate: float = 0.28) -> Evidence:
    time = np.linspace(0, 60, 61)
    rise = 0.17 * -np.expm1(-0.1 * time)
    found = {}
    for closure in ("exact", "taylor"):
        for start in ("from r = θ", "from r = 7"):
            distance = 1e-6 + 2 * np.exp(-rate * time)
            found[f"{start}, {closure}"] = xr.Dataset(
                {
                    "energy": ("time", rise if rises else rise[::-1]),
                    "distance": ("time", distance),
                    "variance": ("time", rise if rises else rise[::-1]),
                    "asymptote": ("time", distance),
                },
                coords={"time": time},
                attrs={"predicted_energy": 0.17, "predicted_variance": 1.74, "gap": 0.14, "nu": 0.5,
                       "common_sigma": 1.0, "mass_error": 1e-15, "mean_error": 1e-14},
            )  # fmt: skip
    return found


EVIDENCE = {
    1: spread, 2: leagues, 3: marginals, 4: micro, 5: macro, 6: scale, 7: step_size, 8: closures, 9: energy,
    10: phase_diagram, 11: outliers,
}  # fmt: skip
DRAWN_BY = {
    1: "spread", 2: "leagues", 3: "marginals", 4: "homogeneous_micro", 5: "homogeneous_macro", 6: "scale",
    7: "step_size", 8: "closures", 9: "energy", 10: "phase_diagram", 11: "outliers",
}  # fmt: skip
