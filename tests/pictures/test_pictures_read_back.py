"""What pictures show, read back: coordinates, limits, legends and titles against numbers computed apart from them."""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import xarray as xr

import kinelo as kn
from kinelo.advice.audit.inflation import GroupFound, Shift
from kinelo.pictures.population import save_film
from picture_reading import bands, bars_of_errors, legend, lines, points, shades, title, uprights


def same(found, *columns):
    assert np.asarray(found, float) == pytest.approx(np.column_stack(columns), rel=1e-12, abs=1e-12)


def words(axes):
    """What stands below, beside and above a panel."""
    return axes.get_xlabel(), axes.get_ylabel(), title(axes)


class Forecasts:
    """A backtest of two raters with a calibration table whose numbers are all different."""

    scores = pl.DataFrame({"rater": ["Better", "Worse"]})
    tables = {  # noqa: RUF012
        name: pl.DataFrame({
            "outcome": ["home win"] * 2 + ["draw"] + ["away win"] * 2,
            "forecast": [0.33 + shift, 0.71, 0.25, 0.14, 0.55],
            "frequency": [0.44, 0.65 + shift, 0.21, 0.17, 0.49],
            "low": [0.30, 0.60, 0.11, 0.10, 0.45 - shift],
            "high": [0.40, 0.80, 0.31, 0.20 + shift, 0.66],
            "matches": [11, 22, 33, 44, 55],
        })
        for name, shift in (("Better", 0.0), ("Worse", 0.02))
    }  # fmt: skip

    def calibration(self, name, bins):
        return self.tables[name]

    noun = "matches"

    def mean_score(self, name, metric):
        return {("Better", "log_loss"): 0.625, ("Worse", "log_loss"): 0.7}[name, metric]


def test_calibration_shows_what_happened_over_what_was_said():
    figure = kn.plot.calibration(Forecasts())
    above, below = figure.axes[:2], figure.axes[2:]
    for axes, counts, name, loss in zip(above, below, ("Better", "Worse"), ("0.6250", "0.7000"), strict=True):
        assert title(axes) == f"{name}\nlog-loss {loss}"
        diagonal, *strokes = [line.get_xydata() for line in axes.lines]
        table = Forecasts.tables[name]
        same(diagonal, [0, 100], [0, 100])
        dots = {one.get_label(): one for one in axes.collections}
        for outcome, stroke in zip(("home win", "draw", "away win"), strokes, strict=True):
            part = table.filter(pl.col("outcome") == outcome).select(pl.exclude("outcome") * 100)
            same(dots[outcome].get_offsets(), part["forecast"], part["frequency"])
            same(stroke[0::3], part["forecast"], part["low"])
            same(stroke[1::3], part["forecast"], part["high"])
        assert axes.get_xlim() == axes.get_ylim() == (0, 100)
        heights = sorted(bar.get_height() for bar in counts.patches)
        assert heights == [11, 22, 33, 44, 55]
        colours = {outcome: tuple(one.get_facecolor()[0]) for outcome, one in dots.items()}
        for bar in counts.patches:
            [(outcome, said)] = table.filter(matches=round(bar.get_height())).select("outcome", "forecast").rows()
            assert int((bar.get_x() + bar.get_width() / 2) / 10) == int(10 * said)
            assert bar.get_facecolor() == colours[outcome]
    assert legend(above[0]) == ["home win", "draw", "away win"]
    assert above[0].get_ylabel() == "came true (%)" and below[0].get_xlabel() == "chance given (%)"


def test_design_stacks_its_parts_and_marks_its_systems():
    gamma = np.array([0.4, 0.1, 0.2])
    best = SimpleNamespace(gammas=gamma, noise=gamma * 2, lag=0.05 / gamma, bias=gamma * 0 + 0.3)
    system, rule = SimpleNamespace(gamma=0.15), SimpleNamespace(gamma=kn.model.FideSteps())
    systems = [
        SimpleNamespace(name="A", system=system, error=1.3, standard_error=0.11, theory=1.25, settled=True),
        SimpleNamespace(name="B", system=rule, error=1.7, standard_error=0.1, theory=None, settled=True),
    ]
    axes = kn.plot.design(SimpleNamespace(best=best, systems=systems)).axes[0]
    order, parts = np.array([1, 2, 0]), bands(axes)
    x, noise, lag = gamma[order], best.noise[order], best.lag[order]
    same(parts["noise"], x, 0 * x, noise)
    same(parts["lag"], x, noise, noise + lag)
    same(parts["bias"], x, noise + lag, noise + lag + 0.3)
    same(lines(axes)["theory"], x, noise + lag + 0.3)
    same(bars_of_errors(axes)["A"], [0.15], [1.3 - 0.22], [1.3], [1.3 + 0.22])
    assert lines(axes)["B"][:, 1] == pytest.approx(1.7)
    assert [0.15, 1.25] in [line.get_xydata()[0].tolist() for line in axes.lines if line.get_marker() == "_"]


@pytest.fixture(scope="module")
def run():
    """Three teams, two realisations, two times; no two numbers alike."""
    rating = np.array([[[4.0, 5.5, 9.0], [3.1, 5.2, 10.3]], [[4.0, 5.5, 9.0], [3.5, 5.9, 9.4]]])
    return xr.Dataset(
        {"rating": (("realisation", "time", "team"), rating), "sigma": ("team", [0.2, 0.7, 0.4])},
        coords={"theta": ("team", [3.0, 6.0, 10.0]), "team": ["Team 1", "Ashford", "Team 3"], "time": [0.0, 1234.0]},
    )


def test_ratings_are_the_last_ones_over_strength(run):
    left, right = kn.plot.ratings(run, "A league").axes
    mean, deviation = np.array([3.3, 5.55, 9.85]), np.array([0.4, 0.7, 0.9]) / np.sqrt(2)
    seen = points(left)["mean of 2 runs ± one standard deviation"]
    same(seen, [3.0, 6.0, 10.0], mean)
    (bars,) = uprights(left)
    same(bars, [3.0, 6.0, 10.0], mean - deviation, mean + deviation)
    same(lines(left)["rating = mean strength"], [3.0, 10.0], [3.0, 10.0])
    assert words(left) == (
        "mean strength θ (rating points)",
        "rating R (rating points)",
        "after 1,234 matches per team",
    )
    assert words(right) == (
        "mean strength θ (rating points)", "spread of strength σ (rating points)", "how much each team varies",
    )  # fmt: skip
    assert right.get_ylim()[0] == 0
    same(next(iter(points(right).values())), [3.0, 6.0, 10.0], [0.2, 0.7, 0.4])
    for axes, y in ((left, 5.55), (right, 0.7)):
        assert [(text.get_text(), text.xy) for text in axes.texts] == [("Ashford", (6.0, pytest.approx(y)))]
        *_, marked = axes.collections
        same(marked.get_offsets(), [6.0], [y])


def test_the_map_and_its_bias():
    state = kn.stationary(kn.RatingSystem(kn.Tanh(0.5), gamma=0.2), kn.Normal([3.0, 6.0, 10.0], 1.0), noise="gaussian")
    left, right = kn.plot.stationary(state).axes
    same(points(left)["teams"], [3.0, 6.0, 10.0], state.rating)
    same(next(iter(points(right).values())), [3.0, 6.0, 10.0], state.rating - np.array([3.0, 6.0, 10.0]))
    theta, bias = lines(right)["1"].T
    assert bias == pytest.approx(state.rating_of(theta) - theta) and bias[0] > 0 > bias[-1]
    assert theta[[0, -1]].tolist() == [3.0, 10.0]
    x, low, high = bands(left)["± one standard deviation of a rating"].T
    assert (high - low)[[0, -1]] / 2 == pytest.approx(np.sqrt(state.variance[[0, -1]]))
    assert (high + low) / 2 == pytest.approx(state.rating_of(x))
    assert title(left) == f"slope {state.slope:.3f} at γ = 0.2"


@pytest.fixture(scope="module")
def density():
    theta, sigma, r, time = np.array([4.0, 6.0, 8.0]), np.array([0.2, 0.4]), np.linspace(3.5, 8.5, 6), [0.0, 2.5]
    kept = np.random.default_rng(3).random((2, 3, 2, 6))
    by_theta = kept.sum(axis=2)
    series = np.linspace(0, 2.5, 4)
    return xr.Dataset(
        {
            "density_theta_r": (("time", "theta", "r"), by_theta),
            "density_sigma_r": (("time", "sigma", "r"), kept.sum(axis=1)),
            "density_r": (("time", "r"), kept.sum(axis=(1, 2)) / kept.sum(axis=(1, 2, 3))[:, None]),
            "rating_given_theta": (("time", "theta"), by_theta @ r / by_theta.sum(axis=2)),
            "second_moment": ("series_time", series**2 + 50),
            "mean_rating": ("series_time", series * 0 + 7),
            "energy": ("series_time", series + 0.3),
            "stationary_distance": ("series_time", 3 - series),
        },
        coords={"theta": theta, "sigma": sigma, "r": r, "time": time, "series_time": series},
    )


def test_densities_stand_upright(density):
    figure = kn.plot.population(density)
    left, middle, right = (axes for axes in figure.axes if axes.get_label() != "<colorbar>")
    for axes, x, name in ((left, density.theta, "density_theta_r"), (middle, density.sigma, "density_sigma_r")):
        across, up, values = shades(axes)
        assert (values == density[name].values[-1].T).all()
        assert across[0] < x[0] < across[1] < x[1] < across[2] and up[0] < density.r[0] < up[1] < density.r[1]
    same(lines(left)["mean rating given θ"], density.theta, density.rating_given_theta[-1])
    same(lines(left)["r = θ"], [4.0, 8.0], [4.0, 8.0])
    assert words(left) == ("mean strength θ (points)", "rating r (points)", "strength and rating, t = 2.5")
    assert words(middle) == ("spread of strength σ (points)", "rating r (points)", "spread and rating")
    assert words(right) == ("γ × matches per team", "square points", "on the way")
    assert right.get_ylim() == (0, pytest.approx(1.35 * 7.25))
    bars = [axes.get_ylabel() for axes in figure.axes if axes.get_label() == "<colorbar>"]
    assert bars == ["teams per square point", ""]
    for axes, name in ((left, "density_theta_r"), (middle, "density_sigma_r")):
        (mesh,) = axes.collections
        assert mesh.get_clim() == (0, pytest.approx(np.quantile(density[name].values[-1], 0.995)))
    seen = lines(right)
    same(seen["variance of ratings"], density.series_time, density.series_time**2 + 1)
    same(seen["E = mean of (r − θ)²"], density.series_time, density.energy)
    same(seen["mean of (r − R*)²"], density.series_time, density.stationary_distance)


def test_shares_of_ratings_where_there_is_one_spread(density):
    one = density.isel(sigma=[0])
    middle = [axes for axes in kn.plot.population(one).axes if axes.get_label() != "<colorbar>"][1]
    for k, time in enumerate(("0", "2.5")):
        same(lines(middle)[f"t = {time}"], one.r + 0.5, np.cumsum(one.density_r.values[k]) * 1.0)
    assert words(middle) == ("rating r (points)", "share of teams rated below r", "ratings")
    assert middle.get_ylim() == (0, 1.02)


def test_a_film_shows_each_density_under_its_time(density, tmp_path, monkeypatch):
    """Each frame with a scale of its own; what cannot be written is a sentence, and leaves nothing behind."""
    frames = [(float(t), density.density_theta_r.values[k]) for k, t in enumerate(density.time)]
    seen = []

    class Film:
        def __init__(self, figure, show, frames, blit):
            for frame in frames:
                (image,) = show(frame)
                seen.append((words(figure.axes[0]), image.get_array().tolist(), image.get_clim()))

        def save(self, path, writer, dpi):
            Path(path).write_bytes(b"film")

    monkeypatch.setattr("matplotlib.animation.FuncAnimation", Film)
    path = save_film(density.theta.values, density.r.values, frames, tmp_path / "a.gif")
    assert path == tmp_path / "a.gif" and path.read_bytes() == b"film"
    labels = "mean strength θ (rating points)", "rating r (rating points)"
    for (shown, values, limits), (time, one) in zip(seen, frames, strict=True):
        assert shown == (*labels, f"density of teams at t = {time:.2f}") and values == one.T.tolist()
        assert limits == (0, pytest.approx(np.quantile(one, 0.995)))
    Film.save = lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space left"))
    with pytest.raises(kn.InputError) as refused:
        save_film(density.theta.values, density.r.values, frames, tmp_path / "b.gif")
    assert str(refused.value) == f"The film {tmp_path / 'b.gif'} cannot be written: No space left."
    assert [one.name for one in tmp_path.iterdir()] == ["a.gif"]
    for kind in ("png", "mp4"):
        monkeypatch.setattr("matplotlib.animation.writers.is_available", lambda _: False)
        with pytest.raises(kn.InputError) as refused:
            save_film(density.theta.values, density.r.values, frames, tmp_path / f"c.{kind}")
        assert (
            str(refused.value)
            == {
                "png": "A film is a gif or an mp4, not 'png'.",
                "mp4": "An mp4 needs the program ffmpeg, which is not installed; a gif needs nothing.",
            }[kind]
        )


def sweep_of(*shape):
    names = "abcd"[: len(shape)]
    values = np.random.default_rng(8).random(shape)
    coords = {name: 10.0 * (k + 1) + np.arange(size) for k, (name, size) in enumerate(zip(names, shape))}
    return xr.Dataset({"height": (tuple(names), values, {"units": "m"})}, coords=coords)


def test_a_sweep_of_one_axis_is_a_line():
    table = sweep_of(5)
    axes = kn.plot.sweep(table).axes[0]
    same(lines(axes)["0"], table.a, table.height)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("a", "height (m)")


def test_a_sweep_of_two_axes_is_a_line_for_each_of_a_few():
    table = sweep_of(3, 8)
    axes = kn.plot.sweep(table).axes[0]
    for k, name in enumerate(("10", "11", "12")):
        same(lines(axes)[name], table.b, table.height[k])
    assert legend(axes) == ["10", "11", "12"] and axes.get_legend().get_title().get_text() == "a"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("b", "height (m)")


def test_the_axis_with_most_values_lies_across_and_words_are_lines():
    table = sweep_of(8, 3)
    axes = kn.plot.sweep(table).axes[0]
    for k, name in enumerate(("20", "21", "22")):
        same(lines(axes)[name], table.a, table.height[:, k])
    named = table.assign_coords(a=[f"law {k}" for k in range(8)])
    axes = kn.plot.sweep(named).axes[0]
    assert legend(axes) == [f"law {k}" for k in range(8)] and axes.get_xlabel() == "b"
    same(lines(axes)["law 5"], named.b, named.height[5])


def test_sweeps_that_cannot_be_drawn_are_refused_in_words():
    with pytest.raises(kn.InputError, match=r"^A sweep of 5 axes cannot be drawn; select values of 1 of them\.$"):
        kn.plot.sweep(sweep_of(2, 2, 2, 2).expand_dims("e"))
    with pytest.raises(kn.InputError, match=r"^variable must be one of height, not 'width'\.$"):
        kn.plot.sweep(sweep_of(2, 2), "width")
    assert len(kn.plot.sweep(sweep_of(5, 6, 7)).axes) == 5
    words = "^Small multiples show at most 5 values of an axis and 'a' has 6; select some of them first\\.$"
    with pytest.raises(kn.InputError, match=words):
        kn.plot.sweep(sweep_of(6, 7, 8))


@pytest.mark.parametrize("shape", [(11, 14), (14, 11)])
def test_a_heat_map_stands_upright(shape):
    table = sweep_of(*shape)
    axes = kn.plot.sweep(table).axes[0]
    across, up = (table[name] for name in (axes.get_xlabel(), axes.get_ylabel()))
    x, y, values = shades(axes)
    assert len(x) == 15 and len(y) == 12  # the axis with more values lies across
    for k in range(14):
        assert x[k] < across[k] < x[k + 1]
    for k in range(11):
        assert y[k] < up[k] < y[k + 1]
    assert values == pytest.approx(table.height.transpose(up.dims[0], across.dims[0]).values)


def test_small_multiples_have_room_for_each_of_their_panels():
    """1.9 inches a row and 1.7 a column, on a column of a paper at least."""
    for shape in ((2, 3, 8), (3, 2, 3, 8), (4, 3, 4, 8)):
        figure = kn.plot.sweep(sweep_of(*shape))
        grid = figure.axes[0].get_subplotspec().get_gridspec()
        rows, columns = grid.nrows, grid.ncols
        assert rows * columns == (2 if len(shape) == 3 else shape[0] * shape[1])
        assert tuple(figure.get_size_inches()) == pytest.approx((max(1.7 * columns, 3.5), 1.9 * rows + 0.5))


def test_small_multiples_show_the_values_they_are_named_after():
    table = sweep_of(2, 3, 8)
    panels = [axes for axes in kn.plot.sweep(table).axes if axes.get_label() != "<colorbar>"]
    assert [title(axes) for axes in panels] == ["a = 10", "a = 11"]
    for k, axes in enumerate(panels):
        for j, name in enumerate(("20", "21", "22")):
            same(lines(axes)[name], table.c, table.height[k, j])
    low, high = float(table.height.min()), float(table.height.max())
    room = 0.03 * (high - low)
    assert [axes.get_ylim() for axes in panels] == 2 * [(pytest.approx(low - room), pytest.approx(high + room))]
    assert panels[0].get_ylabel() == "height (m)" and [axes.get_xlabel() for axes in panels] == ["c", "c"]


def test_heat_maps_of_small_multiples_have_one_scale():
    table = sweep_of(2, 11, 14)
    figure = kn.plot.sweep(table)
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    for k, axes in enumerate(panels):
        (mesh,) = axes.collections
        assert mesh.get_clim() == (float(table.height.min()), float(table.height.max()))
        assert shades(axes)[2] == pytest.approx(table.height[k].values)


def made_audit():
    """An audit whose numbers are all different: theory at three K, a backtest at two."""
    columns = {
        "k": np.array([8.0, 20.0, 50.0]), "log_loss": np.array([0.63, 0.61, 0.66]),
    }  # fmt: skip
    return SimpleNamespace(
        curve=SimpleNamespace(column=columns.__getitem__, points=range(3)), k=32.0,
        measured=SimpleNamespace(k=np.array([10.0, 30.0]), log_loss=np.array([0.624, 0.62])),
        advice=SimpleNamespace(k=17.5, low=12.0, high=26.0, agree=True, telling=True),
        outlook=SimpleNamespace(k=17.5, low=9.0, high=31.0, differs=False), lead=SimpleNamespace(k=17.5),
        opponents=SimpleNamespace(alike=False), inflation=None,
        periods=(
            SimpleNamespace(first="2001-01-01", last="2003-06-30", measured=21.0, low=15.0, high=28.0, theory=19.0),
            SimpleNamespace(first="2003-07-01", last="2006-12-31", measured=11.0, low=8.0, high=14.0, theory=13.0),
        ),
    )  # fmt: skip


def test_an_audit_shows_both_curves_and_each_k_under_its_name():
    loss, periods = kn.plot.audit(made_audit()).axes
    by_period = {line.get_label(): line.get_ydata() for line in periods.lines}
    assert {name: list(values) for name, values in by_period.items()} == {
        "by backtest": [21, 21, 11, 11], "by theory": [19, 19, 13, 13], "to use: 17.5": [17.5, 17.5],
    }  # fmt: skip
    assert periods.get_yscale() == "log" and len(periods.get_yticks()) > 2
    lines = {line.get_label(): line.get_xydata() for line in loss.lines}
    np.testing.assert_allclose(lines["theory"], [(8, 0.02), (20, 0.0), (50, 0.05)], atol=1e-12)
    np.testing.assert_allclose(points(loss)["backtest, later half"], [(10, 0.004), (30, 0.0)], atol=1e-12)
    assert lines["best: 17.5"][0, 0] == 17.5 and lines["in use: 32"][0, 0] == 32.0
    span = loss.patches[0].get_extents().transformed(loss.transData.inverted())
    assert (span.x0, span.x1) == pytest.approx((12.0, 26.0))
    assert (loss.get_xscale(), loss.get_xlabel(), title(loss)) == ("log", "K", "Which K?")


@pytest.mark.parametrize("groups", [(), (GroupFound("juniors", 12, None, Shift(30.0, 5.0, 12), None, None),)])
def test_panels_of_an_audit_do_not_cover_each_other(groups):
    found = made_audit()
    found.groups = groups
    figure = kn.plot.audit(found)
    assert len(figure.axes) == 2 + len(groups)
    figure.canvas.draw()
    for above, under in pairwise(figure.axes):
        assert above.xaxis.get_tightbbox().y0 > under.get_window_extent().y1


def test_an_audit_marks_the_k_for_the_matches_to_come():
    found = made_audit()
    found.outlook = SimpleNamespace(k=5.4, low=4.1, high=7.7, differs=True, future=5.0, past=17.0)
    loss = kn.plot.audit(found).axes[0]
    marked = {line.get_label(): line.get_xdata()[0] for line in loss.lines if ":" in line.get_label()}
    assert marked == {"best from today on: 5.4": 5.4, "in use: 32": 32.0, "wanted by the past: 17.5": 17.5}
    span = loss.patches[0].get_extents().transformed(loss.transData.inverted())
    assert (span.x0, span.x1) == pytest.approx((4.1, 7.7))
    # Where like meets like theory knows too little of the matches to come.
    found.opponents.alike = True
    loss, periods = kn.plot.audit(found).axes
    assert (title(periods), title(loss)) == ("K by period", "Which K?")
    assert "best: 17.5" in [line.get_label() for line in loss.lines]
    found.advice.low = 0.0
    span = kn.plot.audit(found).axes[0].patches[0]
    assert span.get_extents().transformed(loss.transData.inverted()).x1 > 0
