"""What solving the kinetic equation will take, known before its first step: ``n ≈ T / Δt`` steps over all cells."""

from __future__ import annotations

import math

from kinelo.macro.scheme import Transport
from kinelo.macro.stepping import COURANT
from kinelo.runtime.limits import check_memory, check_time

SECONDS_PER_CELL, SECONDS_PER_STEP = 1e-11, 1e-6
"""Of the fastest device at its best."""

BYTES_PER_SAMPLE = 256


def check_samples(samples: int) -> None:
    """Refuse a series of integrals that cannot fit into memory."""
    check_memory(float(BYTES_PER_SAMPLE) * samples, f"A series of {samples:,} samples", "use fewer samples")


def check_steps(transport: Transport, fixed: float | None, span: float) -> None:
    """Refuse a run over ``span`` whose steps, of the length that the start allows or of a fixed one, take years."""
    step = COURANT * transport.limit(transport.speeds()) if fixed is None else fixed
    steps = span / step
    seconds = steps * (math.prod(transport.grid.shape) * SECONDS_PER_CELL + SECONDS_PER_STEP)
    check_time(
        seconds, f"Solving over a time of {span:.4g} in about {steps:.3g} steps", "use an earlier until or larger cells"
    )
