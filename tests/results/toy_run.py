"""A small deterministic run kept in a store; also a program, so that a test can kill it."""

import sys
import time
from pathlib import Path

import numpy as np

from kinelo.results.layout import Layout
from kinelo.results.store import RunStore

ROWS = 16
INPUTS = {"growth": 3.9, "teams": 50, "names": ["a", "b"]}
LAYOUT = Layout(
    rows=ROWS + 3,  # more than are used: a run may end early
    fixed={"theta": (("team",), np.linspace(4, 10, 50)), "name": (("pair",), np.array(["Germany", "Brazil"]))},
    series={"rating": (("team",), (50,)), "spread": ((), ())},
    attributes={"gamma": 0.05},
)


def advance(x):
    return 3.9 * x * (1 - x)


def run(folder: Path, *, interval: float = 0.0, pause: float = 0.0, rows: int = ROWS) -> RunStore:
    store = RunStore.open(folder, INPUTS, LAYOUT, interval=interval)
    with store:
        x = np.linspace(0.1, 0.9, 50) if store.state is None else store.state["x"]
        for _ in range(store.rows, rows):
            x = advance(x)
            time.sleep(pause)
            store.append({"rating": x, "spread": x.std()}, {"x": x})
        if not store.complete:
            store.finish({"last": float(x[0])})
    return store


def all_bytes(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


if __name__ == "__main__":
    print("ready", flush=True)
    run(Path(sys.argv[1]), pause=0.002)
    print("done", flush=True)
