"""Pictures of the kinetic equation: the density in (θ, r) and (σ, r), its moments over time, and a film of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from kinelo.errors import InputError
from kinelo.pictures import style
from kinelo.runtime.atomic import write_file
from kinelo.runtime.extras import require

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

FILMS = ("gif", "mp4")


def draw_population(
    run: xr.Dataset,
    title: str = "",
    *,
    width: style.Width = None,
    size: float | None = None,
    ax: style.Panels = None,
) -> Figure:
    """Draw the last density of a run over θ and over σ (or of r alone), and what happened on the way."""
    with style.journal(width, size, ax):
        figure, (left, middle, right) = style.panels(style.PAGE, 2.7, (1.15, 1, 1))
        theta, r = run.theta.values, run.r.values
        image = _heat_map(left, theta, r, run.density_theta_r.values[-1])
        figure.colorbar(image, ax=left, extend="max", label="teams per square point")
        _diagonal(left, theta, r)
        mean = run.rating_given_theta.values[-1]
        left.plot(theta, mean, color=style.RED, linewidth=1.0, label="mean rating given θ")
        left.set(xlabel="mean strength θ (points)", ylabel="rating r (points)")
        left.set_title(f"strength and rating, t = {float(run.time[-1]):g}")
        left.legend(loc="lower right", labelcolor="white")
        if run.sizes["sigma"] > 1:
            image = _heat_map(middle, run.sigma.values, r, run.density_sigma_r.values[-1])
            figure.colorbar(image, ax=middle, extend="max")
            middle.set(xlabel="spread of strength σ (points)", ylabel="rating r (points)", title="spread and rating")
        else:
            # Late densities are ridges narrower than a cell; shares of teams stay readable where densities do not.
            shown = np.unique(np.linspace(0, run.sizes["time"] - 1, 4).round().astype(int))
            cell = float(run.r[1] - run.r[0])
            for k, colour in zip(shown, (style.GREY, style.SKY, style.BLUE, style.RED), strict=False):
                share = np.cumsum(run.density_r.values[k]) * cell
                middle.plot(run.r + cell / 2, share, color=colour, label=f"t = {float(run.time[k]):g}")
            middle.set(
                xlabel="rating r (points)", ylabel="share of teams rated below r", title="ratings", ylim=(0, 1.02)
            )
            middle.legend(loc="upper left")
        variance = run.second_moment - run.mean_rating**2
        lines = [
            (variance, "variance of ratings", style.BLUE, "-"),
            (run.energy, "E = mean of (r − θ)²", style.RED, "--"),
        ]
        if np.isfinite(run.stationary_distance).all():
            lines.append((run.stationary_distance, "mean of (r − R*)²", style.GREEN, "-."))
        for values, label, colour, dash in lines:
            right.plot(run.series_time, values, color=colour, linestyle=dash, label=label)
        most = max(float(values.max()) for values, *_ in lines)
        right.set(xlabel="γ × matches per team", ylabel="square points", title="on the way", ylim=(0, 1.35 * most))
        right.legend(loc="upper right")
        style.put_title(figure, title)
        return figure


def save_film(theta: np.ndarray, r: np.ndarray, frames: Sequence[tuple[float, np.ndarray]], path: Path) -> Path:
    """Write densities in (θ, r) as a film, ``.gif`` or ``.mp4``; the file appears whole or not at all."""
    kind = check_film(path.suffix.lstrip("."))
    from matplotlib.animation import FFMpegWriter, FuncAnimation, PillowWriter

    with style.journal_style():
        figure = style.new_figure(style.COLUMN, 3.2)
        axes = figure.subplots()
        # Every frame has a scale of its own: late densities pile up far beyond any common one.
        image = _heat_map(axes, theta, r, frames[0][1])
        _diagonal(axes, theta, r)
        axes.set_xlabel("mean strength θ (rating points)")
        axes.set_ylabel("rating r (rating points)")

        def show(frame: tuple[float, np.ndarray]) -> list[QuadMesh]:
            time, density = frame
            image.set_array(density.T)
            image.set_clim(0, _ceiling(density))
            axes.set_title(f"density of teams at t = {time:.2f}")
            return [image]

        film = FuncAnimation(figure, show, frames=list(frames), blit=False)
        writer = PillowWriter(fps=15) if kind == "gif" else FFMpegWriter(fps=15, codec="libx264")
        try:
            with TemporaryDirectory() as folder:
                made = Path(folder, f"film.{kind}")
                film.save(str(made), writer=writer, dpi=160)
                write_file(path, made.read_bytes())
        except OSError as error:
            raise InputError(f"The film {path} cannot be written: {error.strerror or error}.") from error
    return path


def check_film(kind: str) -> str:
    """Return the kind of film, or say what is missing to make it."""
    require("matplotlib")
    from matplotlib.animation import writers

    if kind not in FILMS:
        raise InputError(f"A film is a gif or an mp4, not {kind!r}.")
    if kind == "mp4" and not writers.is_available("ffmpeg"):
        raise InputError("An mp4 needs the program ffmpeg, which is not installed; a gif needs nothing.")
    return kind


def _heat_map(axes: Axes, x: np.ndarray, r: np.ndarray, density: np.ndarray) -> QuadMesh:
    return axes.pcolormesh(x, r, density.T, cmap=style.DENSITY, vmin=0, vmax=_ceiling(density), rasterized=True)


def _ceiling(density: np.ndarray) -> float:
    """Top of the scale: what all but the densest half percent of the occupied cells stay below."""
    occupied = density[density > 1e-3 * density.max()]
    return float(np.quantile(occupied, 0.995))


def _diagonal(axes: Axes, theta: np.ndarray, r: np.ndarray) -> None:
    ends = np.array([max(theta[0], r[0]), min(theta[-1], r[-1])])
    if ends[0] < ends[1]:
        axes.plot(ends, ends, color="white", linestyle="--", linewidth=0.9, label="r = θ")
