"""The controller that answers questions of theory for the live pages, in a process of its own."""

from __future__ import annotations

from typing import Any

from kinelo.lab.explore.controls import Controls
from kinelo.lab.explore.theory import diagnosis_in, is_slow, predicted_map
from kinelo.lab.explore.verdict import first_answer, whole_answer
from kinelo.pages.page import share_page

DIAGNOSIS = "Where the ratings of this league end up"


class TheoryController:
    """Answers for positions of the sliders, and is warm from the start."""

    def __init__(self) -> None:
        self.judge(Controls().to_dict())  # loads what every later answer needs

    def foresee(self, controls: dict[str, Any]) -> dict[str, Any] | None:
        """The map, with what it says at a glance; None where that takes seconds and :meth:`judge` has it."""
        read = Controls.read(controls)
        if is_slow(read):
            return None
        foreseen = predicted_map(read)
        return {"map": foreseen.to_dict(), "answer": first_answer(foreseen).to_dict()}

    def judge(self, controls: dict[str, Any]) -> dict[str, Any]:
        """The map and the whole answer."""
        read = Controls.read(controls)
        return {"map": predicted_map(read).to_dict(), "answer": whole_answer(read).to_dict()}

    def rows(self, controls: dict[str, Any], units: str) -> list[list[str]]:
        """Every line of the diagnosis, in the units of the page."""
        return [list(row) for row in diagnosis_in(Controls.read(controls), units).rows()]

    def share(self, controls: dict[str, Any], units: str) -> str:
        """The diagnosis as a page to share."""
        return share_page(diagnosis_in(Controls.read(controls), units), title=DIAGNOSIS)
