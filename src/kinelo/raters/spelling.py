"""Names that are nearly those of others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from kinelo.errors import warn

MOST_NAMED = 5
"""Names that a warning lists."""

numbers_in = re.compile(r"\d+").findall


def nearest_names(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Names that one which is not among them may stand for, the likeliest first.

    >>> nearest_names("brasil", ["Brazil", "Spain", "Basel"])
    ['Brazil']
    """
    plain = {known.casefold(): known for known in sorted(names)}
    return [plain[key] for key in get_close_matches(name.casefold(), plain, n=most, cutoff=0.75)]


def warn_of_misspelt(unknown: tuple[str, ...], names: Iterable[str]) -> None:
    """Warn of names never met that are nearly those of others; another number makes another name, not a slip."""
    if not unknown:
        return
    known = set(names).difference(unknown)
    warned = []
    for name in unknown[:MOST_NAMED]:
        near = [other for other in nearest_names(name, known) if numbers_in(other) == numbers_in(name)]
        if near:
            warned.append(f"{name} has never played and is forecast as a newcomer; did you mean {' or '.join(near)}?")
    if warned:
        warn(" ".join(warned))
