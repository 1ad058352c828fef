"""The verdict beside the picture."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kinelo.lab.controls import Controls
from kinelo.lab.theory import predicted_map


@lru_cache(maxsize=256)
def verdict(controls: Controls) -> dict[str, Any]:
    """Headline and sentences in plain words."""
    foreseen = predicted_map(controls)
    return {"headline": f"slope {foreseen.slope:.2f}", "sentences": []}
