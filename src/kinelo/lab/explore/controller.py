"""The controller that answers questions of theory for the live pages, in a process of its own."""

from __future__ import annotations

from typing import Any

from kinelo.advice.diagnosis import diagnose
from kinelo.lab.explore.controls import Controls, read_controls
from kinelo.lab.explore.theory import is_slow, league_of, predicted_map
from kinelo.lab.explore.verdict import first_answer, whole_answer
from kinelo.pages.page import share_page

DIAGNOSIS = "Where the ratings of this league end up"


class TheoryController:
    """Answers for positions of the sliders, and is warm from the start."""

    def __init__(self) -> None:
        self.judge(Controls().to_dict())  # loads what every later answer needs

    def foresee(self, controls: dict[str, Any]) -> dict[str, Any] | None:
        """The map, with what it says at a glance; None where that takes seconds and :meth:`judge` has it."""
        read = read_controls(controls)
        if is_slow(read):
            return None
        foreseen = predicted_map(read)
        return {"map": foreseen.to_dict(), "answer": first_answer(foreseen).to_dict()}

    def judge(self, controls: dict[str, Any]) -> dict[str, Any]:
        """The map and the whole answer."""
        read = read_controls(controls)
        return {"map": predicted_map(read).to_dict(), "answer": whole_answer(read).to_dict()}

    def share(self, controls: dict[str, Any]) -> str:
        """The diagnosis as a page to share."""
        read = read_controls(controls)
        return share_page(diagnose(read.system, league_of(read), read.dynamics, check=False), title=DIAGNOSIS)
