"""A reproduction that takes a second: three figures of a few teams, as figure files."""

from pathlib import Path

MICRO = """
figure = 4
title = "Few teams"
draw = "homogeneous_micro"
[study]
gamma = 0.05
outcome = { kind = "tanh", nu = 0.5 }
league = { kind = "homogeneous", teams = 30, sigma = 1.0 }
simulate = { steps = STEPS, matches_per_step = 25, realisations = 4, record_every = EVERY, seed = 1 }
[[run]]
name = "σ = 1"
[[run]]
name = "σ = 2"
league.sigma = 2.0
[quick.study.simulate]
steps = 400
record_every = 100
"""
MACRO = """
figure = 5
title = "Few cells"
draw = "homogeneous_macro"
[study]
gamma = 0.05
outcome = { kind = "tanh", nu = 0.5 }
population = { kind = "uniform", theta = [4.0, 10.0, 12], r = [4.0, 10.0, 24], sigma = 1.0 }
solve = { until = 8.0, closure = "taylor", samples = 40 }
[[run]]
name = "σ = 1"
"""
THEORY = """
figure = 8
title = "Closures"
draw = "closures"
[parameters]
nu = 0.5
sigma = [0.5, 2.0]
theta = [4.0, 10.0]
"""


def write_studies(folder: Path, *, steps: int = 4000, every: int = 400) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    micro = MICRO.replace("STEPS", str(steps)).replace("EVERY", str(every))
    for name, text in (("micro.toml", micro), ("macro.toml", MACRO), ("theory.toml", THEORY)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def run_bytes(folder: Path) -> dict[str, bytes]:
    """Every file of every run below a reproduction."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted((folder / "runs").rglob("*")) if p.is_file()}
