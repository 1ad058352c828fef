"""The controller that answers questions of theory for the live pages, in a process of its own."""

from __future__ import annotations

from typing import Any

from kinelo.lab.explore.controls import Controls, read_controls
from kinelo.lab.explore.theory import predicted_map
from kinelo.lab.explore.verdict import first_answer, whole_answer


class TheoryController:
    """Answers for positions of the sliders, and is warm from the start."""

    def __init__(self) -> None:
        self.judge(Controls().to_dict())  # loads what every later answer needs

    def foresee(self, controls: dict[str, Any]) -> dict[str, Any]:
        """The map, with what it says at a glance."""
        foreseen = predicted_map(read_controls(controls))
        return {"map": foreseen.to_dict(), "answer": first_answer(foreseen).to_dict()}

    def judge(self, controls: dict[str, Any]) -> dict[str, Any]:
        """The whole answer."""
        return whole_answer(read_controls(controls)).to_dict()
