"""The controller that draws the scenes of the guided visit, in a process of its own."""

from __future__ import annotations

from typing import Any

from kinelo.lab.guide.scenes import scene_picture


class GuideController:
    """Draws scenes; those of the first visit are kept."""

    def scene(self, number: int, values: dict[str, Any]) -> dict[str, Any]:
        """A scene for the values of its controls."""
        return scene_picture(number, values)
