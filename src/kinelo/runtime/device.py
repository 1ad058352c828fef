"""Where a computation can run: the processors this process may use, and a graphics processor that Kinelo can use."""

from __future__ import annotations

import os
import platform
import warnings
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Literal

from kinelo.errors import InputError


def usable_processors() -> int:
    """How many threads can run at once.

    >>> 1 <= usable_processors() <= os.cpu_count()
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


DeviceName = Literal["cpu", "gpu", "auto"]

INSTALL = 'install Kinelo with its extra for graphics processors: pip install "kinelo[gpu]" (in a checkout ".[gpu]")'


@dataclass(frozen=True)
class Device:
    """A device: ``kind`` is what ``device=`` takes, ``usable`` whether it can be used, ``remark`` what is missing.

    >>> print(Device("gpu", "", 0, 0, usable=False, remark="no driver"))
    gpu: no driver
    """

    kind: Literal["cpu", "gpu"]
    name: str
    units: int
    memory: int
    usable: bool = True
    remark: str = ""

    def __str__(self) -> str:
        if not self.usable:
            return f"{self.kind}: {self.remark}"
        parts = "multiprocessors" if self.kind == "gpu" else "processors"
        memory = f", {self.memory / 2**30:.0f} GiB" if self.memory else ""
        return f"{self.kind}: {self.name} ({self.units} {parts}{memory})"


def devices() -> list[Device]:
    """What there is to compute on; ``device=`` of :func:`kinelo.simulate` and :func:`kinelo.solve` names one of it.

    >>> devices()[0].kind
    'cpu'
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    processor = Device("cpu", platform.processor() or platform.machine(), usable_processors(), memory)
    return [processor, _graphics()]


def choose_device(device: str) -> Literal["cpu", "gpu"]:
    """``device`` as it was asked for; "auto" is the GPU where one can be used, else the processor.

    >>> choose_device("cpu")
    'cpu'
    """
    if not isinstance(device, str) or device not in ("cpu", "gpu", "auto"):
        raise InputError(f'device must be "cpu", "gpu" or "auto", not {device!r}.')
    if device == "cpu":
        return "cpu"
    graphics = _graphics()
    if graphics.usable:
        return "gpu"
    if device == "auto":
        return "cpu"
    raise InputError(f'device = "gpu" cannot be used here: {graphics.remark}.')


def simulated() -> bool:
    """Whether kernels are only imitated in Python (``NUMBA_ENABLE_CUDASIM=1``), which is for tests."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


def cuda_module() -> Any:
    """Numba's CUDA, or a sentence that says what is missing."""
    choose_device("gpu")
    from numba import cuda

    # Few leagues leave most of the device idle: that is no fault of the user's.
    warnings.filterwarnings("ignore", message=".*Grid size .* will likely result in GPU under-utilization")
    return cuda


@cache
def _compile_complaint() -> str:
    """What keeps the compiler from making a kernel, as NumPy 2.5 does with numba-cuda 0.30; or nothing."""
    from numba import cuda

    def kernel(values):
        values[0] = 0.0

    try:
        cuda.jit("void(float64[:])")(kernel)
    except Exception as reason:
        versions = " with ".join(f"{name} {version(name)}" for name in ("numba-cuda", "numpy"))
        return f"{versions} compiles no kernel ({str(reason).strip().splitlines()[0]}); install other versions"
    return ""


def _graphics() -> Device:
    if find_spec("numba_cuda") is None:
        return Device("gpu", "", 0, 0, False, f"numba-cuda is missing; {INSTALL}")
    try:
        from numba import cuda

        if simulated():
            return Device("gpu", "an imitation in Python", 1, 0)
        if not cuda.is_available():
            return Device("gpu", "", 0, 0, False, "no CUDA device or driver was found")
        if complaint := _compile_complaint():
            return Device("gpu", "", 0, 0, False, complaint)
        device = cuda.get_current_device()
        name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
        return Device("gpu", name, int(device.MULTIPROCESSOR_COUNT), int(cuda.current_context().get_memory_info()[1]))
    except Exception as reason:  # whatever a broken driver raises is one more way of not having a device
        return Device("gpu", "", 0, 0, False, f"CUDA does not work here ({str(reason).strip().splitlines()[0]})")
