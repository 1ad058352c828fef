"""How every kind of trace looks in print: its colour, line, size, key and place above the others."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs kinelo[plot]")
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from kinelo.charts import Chart, Trace
from kinelo.pictures import style
from kinelo.pictures.chart import put_chart

X, Y = [1.0, 2.0, 3.0], [0.2, 0.5, 0.3]
LINES = {  # width, dashes, opacity
    "lines": (1.4, "-", None), "dashed": (1.0, "--", None), "thin": (0.9, "-", None), "faint": (0.5, "-", 0.35),
}  # fmt: skip
DOTS = {  # size, width of its edge, colour of its edge
    "markers": (6, 0.0, None), "open": (12, 0.8, style.BLUE), "large": (40, None, None),
    "named": (20, 0.7, style.BLACK),
}  # fmt: skip


def drawn(*traces, **more):
    with style.journal_style():
        axes = Figure().subplots()
        put_chart(axes, Chart("Alt", "K", "loss", list(traces), **more))
    return axes


@pytest.mark.parametrize("mode", LINES)
def test_a_line(mode):
    (line,) = drawn(Trace("Theory", "prediction", mode, X, Y)).lines
    width, dashes, opacity = LINES[mode]
    assert (line.get_linewidth(), line.get_linestyle(), line.get_alpha()) == (width, dashes, opacity)
    assert line.get_xydata().tolist() == [list(pair) for pair in zip(X, Y)]
    assert (line.get_color(), line.get_label()) == (style.BLUE, "Theory")


@pytest.mark.parametrize("mode", DOTS)
def test_dots(mode):
    (dots,) = drawn(Trace("Seen", "prediction", mode, X, Y, notes=("a", "b", "c"), value="7")).collections
    size, width, edge = DOTS[mode]
    assert dots.get_sizes().tolist() == [size] and dots.get_offsets().tolist() == [list(pair) for pair in zip(X, Y)]
    assert dots.get_label() == "Seen  7"
    assert width is None or dots.get_linewidths().tolist() == [width]
    if edge is not None:
        assert to_hex(dots.get_edgecolors()[0]) == edge.lower()
    assert len(dots.get_facecolors()) == (0 if mode == "open" else 1)


def test_one_of_several_is_known_by_colour_shape_and_dashes():
    several = len(style.SERIES)
    axes = drawn(*(Trace(f"{k}", k, "lines", X, Y) for k in range(several + 2)))
    assert [line.get_color() for line in axes.lines] == [*style.SERIES, *style.SERIES[:2]]
    assert [line.get_linestyle() for line in axes.lines] == ["-"] * several + ["--"] * 2
    dots = drawn(*(Trace(f"{k}", k, "markers", X, Y) for k in range(7))).collections
    shapes = [one.get_paths()[0].vertices.tolist() for one in dots]
    assert shapes[0] == shapes[6] and all(a != b for k, a in enumerate(shapes[:6]) for b in shapes[:k])
    assert all(one.get_sizes().tolist() == [12] for one in dots)
    orders = [one.get_zorder() for one in (*axes.lines, *dots)]
    assert orders[: several + 2] == pytest.approx([2 + k / 1000 for k in range(several + 2)])


@pytest.mark.parametrize(("mode", "size"), [("faint", 1.5), ("lines", 3.0)])
def test_points_that_no_line_joins_are_dots(mode, size):
    y = [0.2, np.nan, 0.5, 0.6, np.nan, 0.1]
    line, dots = drawn(Trace("", "team", mode, np.arange(6.0), y)).lines
    assert (dots.get_markersize(), dots.get_marker(), dots.get_color()) == (size, "o", style.BLACK)
    assert dots.get_xydata().tolist() == [[0.0, 0.2], [5.0, 0.1]]
    assert line.get_label().startswith("_")


def test_bands_spans_uprights_and_bars():
    axes = drawn(
        Trace("", "good", "band", X, Y, low=[0.1, 0.2, 0.3]), Trace("", "bad", "area", X, Y),
        Trace("", "other", "span", [1.5, 2.5]), Trace("", "truth", "upright", [2.0]),
        Trace("", "team", "markers", X, Y, error=[0.01, 0.02, 0.03]),
    )  # fmt: skip
    band, area, dots, bars = axes.collections
    assert [one.get_alpha() for one in (band, area)] == [0.2, 0.2]
    assert [to_hex(one.get_facecolor()[0]) for one in (band, area)] == [style.GREEN.lower(), style.ORANGE.lower()]
    assert band.get_datalim(axes.transData).y0 == pytest.approx(0.1)
    assert area.get_datalim(axes.transData).y0 == pytest.approx(0.0)
    (span,) = axes.patches
    assert span.get_alpha() == 0.12 and (span.get_x(), span.get_width()) == (1.5, 1.0)
    (upright,) = axes.lines
    assert upright.get_xdata()[0] == 2.0 and (upright.get_linewidth(), upright.get_linestyle()) == (0.9, "--")
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert ends == [pytest.approx([0.19, 0.21]), pytest.approx([0.48, 0.52]), pytest.approx([0.27, 0.33])]
    assert dots.get_offsets().shape == (3, 2)


def test_names_titles_and_ranges_stand_on_the_axes():
    axes = drawn(
        Trace("", "team", "named", [0.0, 1.0], [3.0, 4.0], notes=("Ann", "B" * 50)),
        x_names=("now", "W" * 30), x_range=(-1.0, 2.0), y_range=(2.0, 9.0),
    )  # fmt: skip
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("K", "loss")
    assert (axes.get_xlim(), axes.get_ylim()) == ((-1.0, 2.0), (2.0, 9.0))
    ticks = [tick.get_text() for tick in axes.get_xticklabels()]
    assert ticks[0] == "now" and len(ticks[1]) == 20
    notes = [note.get_text() for note in axes.texts]
    assert notes[0] == "Ann" and len(notes[1]) == 40
    assert [(note.xy, note.xyann, note.get_fontsize()) for note in axes.texts] == [
        ((0.0, 3.0), (0, -12), 7), ((1.0, 4.0), (0, -12), 7),
    ]  # fmt: skip
    assert drawn(Trace("", "team", "lines", X, Y), logarithmic=True).get_xscale() == "log"
