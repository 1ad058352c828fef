"""Compiled code loaded before the first visitor needs it."""

from __future__ import annotations

from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.live import LiveRun


def warm_up() -> None:
    """Play a few matches of every kind of league there is."""
    for controls in (
        Controls(teams=10),
        Controls(teams=10, law="lottery", ties=0.2),
        Controls(teams=10, pairing="local"),
    ):
        run = LiveRun(0, controls)
        run.advance(5.0)
        run.frame(0)
        run.close()
