"""One look for every picture: colours that everyone can distinguish, type for a journal, files written whole."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kinelo.errors import InputError
from kinelo.runtime.atomic import write_file
from kinelo.runtime.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, RED, GREEN, PURPLE, ORANGE, SKY, YELLOW, BLACK = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#222222",
)  # fmt: skip
"""The Okabe–Ito palette."""

GREY = "#8A8A8A"
SERIES = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY)
EXACT, TAYLOR = RED, BLUE
"""What comes from exact expected results, and from the paper's Taylor closure, in every picture."""
DENSITY = "cividis"
DIVERGING = "RdBu_r"

COLUMN, PAGE = 3.5, 7.2
"""Widths of a journal's column and page, in inches."""


@contextmanager
def journal_style(size: float = 8.0) -> Iterator[None]:
    """Draw inside this block to have the common look; ``size`` is that of the type, in points."""
    require("matplotlib")
    import matplotlib
    from cycler import cycler

    style: dict[Any, Any] = {
        "font.size": size,
        "axes.titlesize": size + 0.5,
        "axes.labelsize": size,
        "legend.fontsize": size - 1,
        "xtick.labelsize": size - 1,
        "ytick.labelsize": size - 1,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.7,
        "axes.prop_cycle": cycler(color=list(SERIES)),
        "lines.linewidth": 1.4,
        "legend.frameon": False,
        "image.cmap": DENSITY,
        "figure.facecolor": "white",
        "axes.facecolor": "white",
        "savefig.facecolor": "white",
        "savefig.dpi": 200,
        "pdf.fonttype": 42,
        "svg.hashsalt": "kinelo",
    }
    with matplotlib.rc_context(style):
        yield


def literal(text: str, longest: int | None = None) -> str:
    """Text of a user's for a picture, drawn as it is written; of a long one the middle is left out.

    Matplotlib takes what stands between two dollar signs for mathematics, and hides labels that begin with an
    underscore.

    >>> literal("cash$ and $ash"), literal("_hidden"), literal("Association of the Old Boys of Ashford", 20)
    ('cash\\\\$ and \\\\$ash', ' _hidden', 'Association …Ashford')
    """
    if longest is not None and len(text) > longest:
        tail = (longest - 1) * 2 // 5
        text = f"{text[: longest - 1 - tail]}…{text[-tail:]}"
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def new_figure(width: float = PAGE, height: float = 2.8) -> Figure:
    """An empty figure of the given size in inches, which arranges its panels by itself; no window is opened."""
    require("matplotlib")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path | str) -> Path:
    """Write the picture in the format its name says; the file appears whole or not at all."""
    path = Path(path)
    kind = path.suffix.lower().lstrip(".")
    if kind not in figure.canvas.get_supported_filetypes():
        raise InputError(f"The picture {path} cannot be drawn: its name must end in .png, .pdf or .svg.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, picture_bytes(figure, kind))
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise InputError(f"The picture {path} cannot be written: {reason}.") from error
    return path


def arrange(figure: Figure) -> None:
    """Arrange the panels of a figure for good.

    A figure that still has to arrange its panels is drawn twice for every file: once to see how large its parts are.
    """
    engine = figure.get_layout_engine()
    if engine is None:
        return
    with journal_style():
        import matplotlib

        figure.set_dpi(float(matplotlib.rcParams["savefig.dpi"]))
        engine.execute(figure)
        # By the style no figure arranges itself, so that this takes the engine away.
        figure.set_layout_engine(None)


def picture_bytes(figure: Figure, kind: str = "png") -> bytes:
    """The figure as a file's content; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    metadata: dict[str, Any] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind, {})
    with journal_style():
        figure.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()


def plain_ticks(axes: Axes, which: Literal["x", "y"] = "x") -> None:
    """Label a logarithmic axis of one or two decades with 1, 2, 5, 10, … as people write them."""
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(
        FixedLocator([n * 10.0**p for p in range(-6, 7) for n in (1, 2, 5) if low <= n * 10.0**p <= high])
    )
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
