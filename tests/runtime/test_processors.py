"""One place knows how many processors a process may use."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kinelo
from kinelo.errors import InputError
from kinelo.runtime import device
from kinelo.runtime.device import Device, devices, usable_processors


def test_a_process_that_may_use_few_processors_uses_few(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert usable_processors() == 1
    assert devices()[0].units == 1


def test_systems_without_affinity(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_processors() == 1


@pytest.mark.parametrize("usable", [True, False])
def test_a_device_is_what_is_there_or_a_sentence(monkeypatch, usable):
    graphics = Device("gpu", "Card", 132, 3 << 30, usable=usable, remark="" if usable else "no driver")
    monkeypatch.setattr(device, "_graphics", lambda: graphics)
    assert str(graphics) == ("gpu: Card (132 multiprocessors, 3 GiB)" if usable else "gpu: no driver")
    assert str(Device("cpu", "Chip", 2, 0)) == "cpu: Chip (2 processors)"
    assert devices()[1] == graphics
    assert device.choose_device("cpu") == "cpu"
    assert device.choose_device("auto") == ("gpu" if usable else "cpu")
    if usable:
        assert device.choose_device("gpu") == "gpu"
        return
    with pytest.raises(InputError) as refused:
        device.choose_device("gpu")
    assert str(refused.value) == 'device = "gpu" cannot be used here: no driver.'


def test_nothing_counts_for_itself():
    """Provenance records the cores of the machine, whatever this process may use of them."""
    folder = Path(kinelo.__file__).parent
    counting = {
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if "cpu_count" in (text := path.read_text(encoding="utf-8")) or "sched_getaffinity" in text
    }
    assert counting == {name.replace("/", os.sep) for name in ("runtime/device.py", "results/manifest.py")}


FIRST_PROCESS = """
import signal
from multiprocessing import resource_tracker
from kinelo.runtime.workers import _ctrl_c_waits

def waits():
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])

with _ctrl_c_waits():
    resource_tracker.ensure_running()  # as the first process that is started does
    print(waits(), end=" ")
print(waits())
"""


def test_ctrl_c_waits_also_while_the_first_process_is_started():
    ran = subprocess.run([sys.executable, "-c", FIRST_PROCESS], capture_output=True, text=True, check=True)
    assert ran.stdout == "True False\n"
