"""The picture of a figure, from its evidence to the bytes of its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinelo.errors import InputError
from kinelo.paper.catalogue import drawing
from kinelo.paper.figure import Scale
from kinelo.pictures.style import arrange, picture_bytes

FILES_OF_SCALE: Mapping[Scale, Sequence[str]] = {"full": ("png", "pdf"), "quick": ("png",)}
"""Files of a figure: what goes to a printer is worth its time only where the numbers are the final ones."""


def render(name: str, evidence: object, scale: Scale = "full") -> dict[str, bytes]:
    """Draw the figure ``name`` from its evidence, as the bytes of a file in each format of the scale."""
    try:
        figure = drawing(name)(evidence)
    except KeyError as missing:
        raise InputError(f"The drawing {name!r} needs a run named {missing}.") from None
    arrange(figure)
    return {kind: picture_bytes(figure, kind) for kind in FILES_OF_SCALE[scale]}
