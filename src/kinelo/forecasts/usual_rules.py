"""What a season is worth unless it is said: each number stands here once, for the library, commands and the lab."""

from __future__ import annotations

WIN, DRAW, LOSS = 3.0, 1.0, 0.0
"""Points for a match."""

USUAL_RELEGATED = 3
"""How many go down."""
