"""One look for every picture: colours that everyone can distinguish, type for a journal, files written whole."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

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

COLUMN, PAGE = 3.5, 7.2
"""Widths of a journal's column and page, in inches."""
NARROW = 5.0
"""Inches below which panels stand one below the other, and legends below them."""
WIDTHS = {"single": COLUMN, "double": PAGE}
LEAST_WIDTH, LARGEST_WIDTH, LEAST_SIZE, LARGEST_SIZE = 1.5, 40.0, 4.0, 48.0

Width: TypeAlias = "float | Literal['single', 'double'] | None"
"""Width of a picture: inches, or that of one or two columns of a journal; None is the picture's own."""
Panels: TypeAlias = "Axes | Sequence[Axes] | None"
"""Axes of a figure of yours to draw into: one, or a list of as many as the picture has panels."""


class Look(NamedTuple):
    """What a user asked of a picture: its width in inches, the size of its type in points, axes to draw into."""

    width: float | None = None
    size: float | None = None
    axes: tuple[Axes, ...] = ()


PLAIN_LOOK = Look()
LOOK: ContextVar[Look] = ContextVar("look", default=PLAIN_LOOK)


@contextmanager
def journal(width: Width = None, size: float | None = None, ax: Panels = None) -> Iterator[None]:
    """The common look, with the width, the size of type and the axes that somebody asks for."""
    inches = WIDTHS.get(width, width) if isinstance(width, str) else width
    for name, value, low, high, words in (
        ("width", inches, LEAST_WIDTH, LARGEST_WIDTH, 'inches, "single" or "double"'),
        ("size", size, LEAST_SIZE, LARGEST_SIZE, "points"),
    ):
        number = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
        if value is not None and not number:
            raise InputError(f"{name} must be {words}, from {low:g} to {high:g}, not {value!r:.40}.")
    require("matplotlib")
    from matplotlib.axes import Axes

    axes = () if ax is None else (ax,) if isinstance(ax, Axes) else tuple(ax)
    if not all(isinstance(one, Axes) for one in axes):
        raise InputError("ax must be axes of matplotlib, or a list of them.")
    if axes and width is not None:
        raise InputError("width is that of a new figure; axes of a figure of yours (ax=) have theirs.")
    before = LOOK.set(Look(None if inches is None else float(inches), size, axes))
    try:
        with journal_style(8.0 if size is None else float(size)):
            yield
    finally:
        LOOK.reset(before)


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

    look = LOOK.get()
    if look.axes:
        raise InputError("This picture arranges panels of its own and takes no ax; width and size are possible.")
    return Figure(figsize=(look.width or width, height), layout="constrained")


def panels(width: float, height: float, ratios: Sequence[float] = (1.0,)) -> tuple[Figure, list[Axes]]:
    """A figure with panels side by side, one below the other where it is narrow; or the axes that were asked for."""
    look = LOOK.get()
    if look.axes:
        if len(look.axes) != len(ratios):
            raise InputError(f"This picture has {len(ratios)} panels: ax must be so many axes, not {len(look.axes)}.")
        figure = look.axes[0].get_figure(root=True)
        assert figure is not None
        return figure, list(look.axes)
    if is_narrow(width):
        figure = new_figure(width, height * (0.2 + 0.8 * len(ratios)))
        return figure, list(figure.subplots(len(ratios), 1, squeeze=False)[:, 0])
    figure = new_figure(width, height)
    return figure, list(figure.subplots(1, len(ratios), squeeze=False, width_ratios=ratios)[0])


def is_narrow(width: float = PAGE) -> bool:
    """Whether the picture is as narrow as a column."""
    return (LOOK.get().width or width) < NARROW


def put_title(figure: Figure, title: str) -> None:
    """A title above all panels, or above the first of the axes that were asked for."""
    axes = LOOK.get().axes
    if title and axes:
        axes[0].set_title(literal(title))
    elif title:
        figure.suptitle(literal(title))


def put_legend(figure: Figure, axes: Axes) -> None:
    """A legend beside the panel, below it where the picture is narrow, inside axes that were asked for."""
    if LOOK.get().axes:
        axes.legend()
    elif is_narrow(PAGE):
        figure.legend(loc="outside lower center", ncols=2)
    else:
        figure.legend(loc="outside right upper")


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
    """Label a logarithmic axis with 1, 2, 5, 10, … as people write them; a short one with more of them."""
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    axis = axes.xaxis if which == "x" else axes.yaxis
    few, many = (
        [n * 10.0**p for p in range(-6, 7) for n in digits if low <= n * 10.0**p <= high]
        for digits in ((1, 2, 5), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8))
    )
    axis.set_major_locator(FixedLocator(few if len(few) > 2 else many))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
