"""The controller that draws the scenes of the guided visit, in a process of its own."""

from __future__ import annotations

from typing import Any

from kinelo.lab.guide.scenes import described_scenes, scene_pictures


class GuideController:
    """Lists and draws scenes; what was drawn is kept."""

    def scenes(self) -> list[dict[str, Any]]:
        """Titles and controls."""
        return described_scenes()

    def scene(self, number: int, units: str) -> dict[str, Any]:
        """A scene at every stop of its control."""
        return scene_pictures(number, units)
