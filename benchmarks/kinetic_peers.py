"""The same 2-D kinetic equation written for py-pde and for FiPy, in the way their documentation suggests."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

import kinelo as kn
from kinelo.model.expectation import expected_result

SYSTEM = kn.RatingSystem(kn.Tanh(nu=0.5))
RANGE = (4.0, 10.0)
SIGMA, UNTIL = 1.0, 5.0


def pull(theta: np.ndarray) -> np.ndarray:
    """G(θ) for teams uniform in θ."""
    return expected_result(SYSTEM.outcome, kn.Normal(theta, SIGMA)).mean(axis=1)


def drag_matrix(r: np.ndarray) -> np.ndarray:
    """``b(r − r')`` between points of r."""
    return SYSTEM.outcome.b(r[:, None] - r[None, :])


def solve_with_py_pde(theta_cells: int, r_cells: int) -> tuple[float, np.ndarray]:
    """Central differences (py-pde has no upwind ones) and its classical Runge–Kutta, at a step near the limit."""
    import pde

    grid = pde.CartesianGrid([RANGE, RANGE], [theta_cells, r_cells])
    theta, r = grid.axes_coords
    gain, loss = pull(theta)[:, None], drag_matrix(r) * float(np.prod(grid.discretization))
    ends: Any = {"x": {"derivative": 0}, "y": {"value": 0}}

    class Kinetic(pde.PDEBase):
        """``∂_t f = −∂_r (a f)``."""

        def evolution_rate(self, state: Any, t: float = 0) -> Any:
            flux = pde.ScalarField(state.grid, state.data * ((loss @ state.data.sum(axis=0)) - gain))
            return flux.apply_operator("d_dy", bc=ends)

    start, equation = pde.ScalarField(grid, 1 / 36), Kinetic()
    width = (RANGE[1] - RANGE[0]) / r_cells
    options: dict[str, Any] = {"tracker": None, "backend": "numpy", "solver": "runge-kutta", "adaptive": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        equation.solve(start, t_range=2 * width, dt=width, **options)
        begin = time.perf_counter()
        result: Any = equation.solve(start, t_range=UNTIL, dt=1.2 * width, **options)
        return time.perf_counter() - begin, result.data


def solve_with_fipy(theta_cells: int, r_cells: int) -> tuple[float, np.ndarray]:
    """FiPy's van Leer convection term, with explicit steps at the limit of the upwind scheme."""
    from fipy import CellVariable, FaceVariable, Grid2D, TransientTerm, VanLeerConvectionTerm

    lengths = (RANGE[1] - RANGE[0]) / r_cells, (RANGE[1] - RANGE[0]) / theta_cells
    mesh = Grid2D(nx=r_cells, ny=theta_cells, dx=lengths[0], dy=lengths[1])
    centres = RANGE[0] + (np.arange(r_cells) + 0.5) * lengths[0]
    theta = RANGE[0] + (np.arange(theta_cells) + 0.5) * lengths[1]
    gain, loss = pull(theta), drag_matrix(centres) * lengths[0] * lengths[1]
    density = CellVariable(mesh=mesh, value=1 / 36, hasOld=True)
    velocity: Any = FaceVariable(mesh=mesh, rank=1, value=0.0)
    equation = TransientTerm() + VanLeerConvectionTerm(coeff=velocity) == 0
    faces_r, faces_theta = np.array(mesh.faceCenters)
    row = np.clip((faces_theta / lengths[1] - 0.5).round().astype(int), 0, theta_cells - 1)
    vertical = np.isclose((faces_r / lengths[0]) % 1, 0) | np.isclose((faces_r / lengths[0]) % 1, 1)
    inner = vertical & (faces_r > lengths[0] / 2) & (faces_r < RANGE[1] - RANGE[0] - lengths[0] / 2)
    moment, begin = 0.0, time.perf_counter()
    while moment < UNTIL:
        masses = np.array(density.value).reshape(theta_cells, r_cells).sum(axis=0)
        drag = np.interp(faces_r, centres - RANGE[0], loss @ masses)
        speed = np.where(inner, gain[row] - drag, 0.0)
        dt = min(0.9 * lengths[0] / np.abs(speed).max(), UNTIL - moment)
        velocity.setValue(np.vstack([speed, np.zeros_like(speed)]))
        density.updateOld()
        equation.solve(var=density, dt=dt)
        moment += dt
    return time.perf_counter() - begin, np.array(density.value).reshape(theta_cells, r_cells)
