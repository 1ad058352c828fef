"""The kernels of the device, imitated in Python where there is none: the same bytes as the processor."""

import json
import os
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import kinelo as kn
from kinelo.cli.commands import app
from kinelo.errors import InputError
from kinelo.runtime.device import Device, choose_device

SCRIPT = Path(__file__).with_name("device_agreement.py")
IMITATED = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
needs_numba_cuda = pytest.mark.skipif(find_spec("numba_cuda") is None, reason="numba-cuda is not installed")


@needs_numba_cuda
def test_kernels_end_at_the_bytes_of_the_processor():
    done = subprocess.run([sys.executable, str(SCRIPT), "32", "3"], env=IMITATED, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    ways = [line.split()[2] for line in done.stdout.splitlines() if line.startswith("same bytes")]
    assert Counter(ways) == {"warp": 8, "block": 4, "general": 17, "contests": 5, "points": 2}


RUN = """
import numpy as np, kinelo as kn
np.seterr(over="ignore")
system, league = kn.RatingSystem(kn.Tanh(0.5), gamma=0.1), kn.Fixed([1.0, 2.0, 4.0])
from kinelo.micro.gpu import play
play.BLOCK_THREADS = (8, 4)
half = dict(matches_per_step=5, realisations=1, seed=3)
[first] = kn.micro.simulation_states(system, league, stops=[2], device="gpu", **half)
[last] = kn.micro.simulation_states(system, league, stops=[4], start=first, device="cpu", **half)
[whole] = kn.micro.simulation_states(system, league, stops=[4], **half)
print((last.rating == whole.rating).all(), kn.devices()[1].usable)
"""


@needs_numba_cuda
def test_a_run_begun_on_one_device_goes_on_on_the_other():
    done = subprocess.run([sys.executable, "-c", RUN], env=IMITATED, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True"], done.stderr


def test_without_a_device_there_is_a_sentence(monkeypatch):
    nothing = Device("gpu", "", 0, 0, False, "no CUDA device or driver was found")
    monkeypatch.setattr("kinelo.runtime.device._graphics", lambda: nothing)
    system, league = kn.RatingSystem(kn.Tanh(0.5)), kn.Fixed([1.0, 2.0])
    with pytest.raises(InputError, match='device = "gpu" cannot be used here: no CUDA device'):
        kn.simulate(system, league, steps=1, seed=1, device="gpu")
    assert choose_device("auto") == "cpu"
    one, other = (kn.simulate(system, league, steps=4, seed=1, device=device) for device in ("auto", "cpu"))
    assert np.array_equal(one.rating, other.rating)


def test_an_unknown_device_is_refused():
    with pytest.raises(InputError, match='"cpu", "gpu" or "auto", not \'tpu\''):
        kn.simulate(kn.RatingSystem(kn.Tanh(0.5)), kn.Fixed([1.0, 2.0]), steps=1, seed=1, device="tpu")


@needs_numba_cuda
def test_the_kinetic_equation_agrees_on_both_devices():
    script = Path(__file__).parents[1] / "macro" / "device_agreement.py"
    done = subprocess.run([sys.executable, str(script), "19", "0.07"], env=IMITATED, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 8


def test_devices_are_listed():
    answer = CliRunner().invoke(app, ["--devices", "--json"])
    assert answer.exit_code == 0
    assert [device["kind"] for device in json.loads(answer.output)] == ["cpu", "gpu"]


def test_a_compiler_that_makes_no_kernel_is_a_sentence(monkeypatch):
    """Some versions of NumPy lack what some versions of numba-cuda ask for when they compile their first kernel."""
    from kinelo.runtime import device

    cuda = pytest.importorskip("numba.cuda")

    def fail(*_, **__):
        raise AttributeError("module 'numpy' has no attribute 'row_stack'")

    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(cuda, "jit", fail)
    device._compile_complaint.cache_clear()
    try:
        with pytest.raises(InputError, match=r"numba-cuda [\d.]+ with numpy [\d.]+ compiles no kernel .*row_stack"):
            choose_device("gpu")
        assert not kn.devices()[1].usable and choose_device("auto") == "cpu"
    finally:
        device._compile_complaint.cache_clear()


@needs_numba_cuda
def test_products_and_sums_are_compiled_without_being_fused(monkeypatch):
    """numba-cuda has no option for it: what it asks libNVVM for is added to, and it still asks by that name."""
    import inspect

    from numba.cuda import codegen
    from numba.cuda.cudadrv import nvvm

    from kinelo.micro.gpu.target import unfused

    asked = []
    monkeypatch.setattr(nvvm, "compile_ir", lambda llvmir, **options: asked.append(options))
    own = nvvm.compile_ir
    with unfused():
        nvvm.compile_ir("", opt=3)
    assert asked == [{"opt": 3, "fma": 0}] and nvvm.compile_ir is own
    assert "nvvm.compile_ir(" in inspect.getsource(codegen)


def test_what_keeps_a_device_from_use_is_said(monkeypatch):
    """No package, no device, a broken driver; and a device with its name and memory."""
    from kinelo.runtime import device

    cuda = pytest.importorskip("numba.cuda")
    monkeypatch.setattr(device, "_compile_complaint", lambda: "")
    monkeypatch.setattr(device, "simulated", lambda: False)
    found, card = device._graphics, SimpleNamespace(name=b"H200", MULTIPROCESSOR_COUNT=132)
    monkeypatch.setattr(cuda, "get_current_device", lambda: card)
    context = SimpleNamespace(get_memory_info=lambda: (7, 141))
    monkeypatch.setattr(cuda, "current_context", lambda: context)
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    one = found()
    assert (one.kind, one.name, one.usable) == ("gpu", "H200", True) and {132, 141} <= set(vars(one).values())
    card.name = "H300"
    assert found().name == "H300"
    monkeypatch.setattr(cuda, "is_available", lambda: False)
    assert not found().usable and "no CUDA device or driver was found" in vars(found()).values()

    def broken():
        raise RuntimeError("driver\nof 1999")

    monkeypatch.setattr(cuda, "is_available", broken)
    assert "CUDA does not work here (driver)" in vars(found()).values() and not found().usable
    monkeypatch.setattr(device, "find_spec", lambda name: None)
    (said,) = (value for value in vars(found()).values() if isinstance(value, str) and "missing" in value)
    assert said.startswith("numba-cuda is missing; ")
    monkeypatch.setattr(device, "simulated", lambda: True)
    monkeypatch.setattr(device, "find_spec", lambda name: name)
    assert found().name == "an imitation in Python" and found().usable
