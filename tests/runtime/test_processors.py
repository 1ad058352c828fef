"""One place knows how many processors a process may use."""

import os
from pathlib import Path

import kinelo
from kinelo.runtime.device import devices, usable_processors


def test_a_process_that_may_use_few_processors_uses_few(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert usable_processors() == 1
    assert devices()[0].units == 1


def test_systems_without_affinity(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_processors() == 1


def test_nothing_counts_for_itself():
    """Provenance records the cores of the machine, whatever this process may use of them."""
    folder = Path(kinelo.__file__).parent
    counting = {
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if "cpu_count" in (text := path.read_text(encoding="utf-8")) or "sched_getaffinity" in text
    }
    assert counting == {name.replace("/", os.sep) for name in ("runtime/device.py", "results/manifest.py")}
