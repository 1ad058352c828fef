"""What the paper says about its two models side by side."""

from __future__ import annotations

import numpy as np

from kinelo.paper.claim import Finding, check, judged, judged_under, needed
from kinelo.paper.figures.homogeneous_macro.evidence import Macro, MacroRun
from kinelo.paper.figures.homogeneous_micro.evidence import Micro
from kinelo.paper.summary import Homogeneous

CELLS = 2.0
"""Cells by which mean ratings may differ: an upwind scheme leaves a ridge of about two."""


@check(
    420, "Section 4, Figures 4 and 5", needs=("homogeneous_micro", "homogeneous_macro"),
    quote="We see a great agreement between the two models",
    statement=f"mean ratings of simulation and kinetic equation differ by less than {CELLS:g} cells of r",
    criterion=f"less than {CELLS:g} cells at every σ; depends if at some of them only",
)  # fmt: skip
def micro_and_macro_agree(micro: Micro, macro: Macro) -> Finding:
    """Great agreement between Figures 4 and 5."""
    names = [name for name in micro.runs if name in macro.runs]
    gaps = {name: _gap(micro.runs[name], needed(macro.runs, name)) for name in names}
    cell = needed(macro.runs, names[-1]).cell
    ok = [gap < CELLS * macro.runs[name].cell for name, gap in gaps.items()]
    closure = "Taylor" if macro.runs[names[-1]].closure == "taylor" else "exact"
    return Finding(
        f"largest difference of mean ratings ({closure} closure, rating noise removed, cells of {cell:g}): "
        + ", ".join(f"{gap:.3f} at {name}" for name, gap in gaps.items()),
        judged_under(*ok),
        f"Within {CELLS:g} cells while νσ is small; for larger σ the Taylor closure of the kinetic equation is out of "
        "its range.",
        on="σ, which the paper does not print for these figures: the closure fails for large νσ",
        figures=(4, 5),
    )


def _gap(micro: Homogeneous, macro: MacroRun) -> float:
    noise = np.interp(macro.theta, micro.map_theta, micro.map_rating - micro.map_limit)
    return float(np.abs(np.interp(macro.theta, micro.theta, micro.settled) - noise - macro.mean_given_theta).max())


@check(
    421, "Introduction, and Figure 5 at σ = 0", needs=("homogeneous_macro",),
    quote="solutions to (2) concentrate on the diagonal",
    statement="for strengths that do not vary, the kinetic equation takes ratings to r = θ, up to the cells",
    criterion=f"1 − slope below {CELLS:g} cells, and nearer to 1 both with narrower cells and with more time",
)  # fmt: skip
def diagonal_without_spread(evidence: Macro) -> Finding:
    """Slope at σ = 0, and what becomes of it with narrower cells and more time."""
    run = needed(evidence.runs, "σ = 0")
    fine, late = needed(evidence.checks, "narrow cells"), needed(evidence.checks, "twice the time")
    return Finding(
        f"slope {run.slope:.4f} at t = {run.time:g} with cells of {run.cell:g}; {late.slope:.4f} at t = {late.time:g}; "
        f"{fine.slope:.4f} with cells of {fine.cell:g}",
        judged(1 - run.slope < CELLS * run.cell and min(fine.slope, late.slope) > run.slope),
        "What is missing from slope 1 is the scheme's: it lets ratings cross the last cell before their rest only "
        "slowly. Narrower cells and more time both shorten it.",
        figures=(5,),
    )


CHECKS = (micro_and_macro_agree, diagonal_without_spread)
