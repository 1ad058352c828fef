"""One look for every picture: colours told apart by everyone, type a journal accepts, files written whole."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinelo.errors import InputError
from kinelo.ratings.atomic import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, RED, PURPLE, SKY, YELLOW, BLACK = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#222222",
)  # fmt: skip
"""The Okabe–Ito palette."""

SERIES = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY)
GREY = "#8A8A8A"
DENSITY = "cividis"
DIVERGING = "RdBu_r"

COLUMN, PAGE = 3.5, 7.2
"""Widths of a journal's column and page, in inches."""

_STYLE: dict[str, Any] = {
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.0,
    "legend.fontsize": 7.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.grid": False,
    "lines.linewidth": 1.3,
    "lines.markersize": 3.0,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "image.cmap": DENSITY,
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "kinelo",
    "figure.dpi": 200,
    "savefig.dpi": 200,
}


@contextmanager
def journal_style() -> Iterator[None]:
    """Draw inside this block to have the common look."""
    import matplotlib
    from matplotlib import cycler

    with matplotlib.rc_context({**_STYLE, "axes.prop_cycle": cycler(color=list(SERIES))}):
        yield


def new_figure(width: float = PAGE, height: float = 2.8) -> Figure:
    """An empty figure of the given size in inches, which arranges its panels by itself; no window is opened."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save_picture(figure: Figure, path: Path | str, formats: Sequence[str] = ("png", "pdf")) -> list[Path]:
    """Write ``figure`` beside ``path`` in each format; each file appears whole or not at all."""
    path = Path(path)
    written = []
    for kind in formats:
        target = path.with_suffix(f".{kind}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            replace_file(target, picture_bytes(figure, kind))
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            raise InputError(f"The picture {target} cannot be written: {reason}.") from error
        written.append(target)
    return written


def picture_bytes(figure: Figure, kind: str = "png") -> bytes:
    """The figure as a file's content; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    metadata: dict[str, Any] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind, {})
    with journal_style():
        figure.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()
