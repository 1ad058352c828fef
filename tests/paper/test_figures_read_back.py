"""What the figures of the paper show, read off the pictures: every line, point, band and shade is its number."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
import synthetic

from kinelo.paper.catalogue import drawing
from kinelo.paper.neighbours.deviations import DeviationEvidence
from kinelo.paper.neighbours.following import FollowingEvidence
from kinelo.paper.neighbours.learning import LearningEvidence
from kinelo.paper.neighbours.rounds import RoundsEvidence
from kinelo.pictures import style
from picture_reading import bands, bars_of_errors, legend, lines, points, shades, title

KEPT = {
    "theta",
    "map_theta",
    "sigma",
    "r",
    "time",
    "gamma",
    "difference",
    "nu",
    "levels",
    "runs",
    "common_sigma",
    "cell",
    "inner_95",
    "strengths",
    "spreads",
}


def distinct(evidence, seed=None):
    """The same evidence with every measured number changed by an amount of its own, so that no two can be exchanged."""
    seed = np.random.default_rng(5) if seed is None else seed
    if is_dataclass(evidence):
        changed = {
            one.name: distinct(getattr(evidence, one.name), seed)
            for one in fields(evidence)
            if one.name not in KEPT or isinstance(getattr(evidence, one.name), Mapping)
        }
        return replace(evidence, **changed)
    if isinstance(evidence, Mapping):
        return {name: distinct(one, seed) for name, one in evidence.items()}
    if isinstance(evidence, np.ndarray) and evidence.dtype.kind == "f":
        return evidence * (1 + 0.1 * seed.random(evidence.shape)) + 0.01 * seed.random()
    if isinstance(evidence, float):
        return evidence * (1 + 0.1 * seed.random())
    return evidence


def drawn(name, evidence=None):
    evidence = distinct(synthetic.EVIDENCE[name]()) if evidence is None else evidence
    figure = drawing(name)(evidence)
    return evidence, figure, [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]


def same(found, *columns):
    assert np.asarray(found) == pytest.approx(np.column_stack(columns), rel=1e-12, abs=1e-12)


def diagonal(found, theta):
    same(found, *[[theta.min(), theta.max()]] * 2)


def test_spread():
    data, _, (left, right) = drawn("spread")
    r1, r2 = data["R1"], data["R2"]
    number = np.arange(1, 41)
    same(lines(left)["over drawn line-ups"], number, r1.drawn_sigma)
    same(lines(left)["exact"], number, r1.sigma)
    same(lines(left)["root mean square over many leagues"], number, r1.expected_sigma)
    same(lines(right)["over drawn line-ups"], r2.theta, r2.drawn_sigma)
    same(lines(right)["exact"], r2.theta, r2.sigma)
    assert {text.get_text(): text.xy for text in right.texts} == {
        "Germany": (r2.theta[-2], r2.sigma[-2]), "Brazil": (r2.theta[-1], r2.sigma[-1]),
    }  # fmt: skip


def test_leagues():
    data, _, (*above, r1_below, r2_below) = drawn("leagues")
    for letter, name, axes, below in zip("ab", ("R1", "R2"), above, (r1_below, r2_below)):
        run = data[name]
        same(points(axes)["simulated"], run.theta, run.rating)
        same(lines(axes)["computed"], run.theta, run.computed)
        diagonal(lines(axes)["R = θ"], run.theta)
        [rest] = [np.asarray(one.get_offsets()) for one in below.collections if len(one.get_offsets()) == 40]
        same(rest, run.theta, run.rating - run.theta)
        same(lines(below)["1"], run.theta, run.computed - run.theta)
        teams, slope = {"R1": 40, "R2": 38}[name], f"slope {run.slope:.4f} ± {run.slope_error:.4f}"
        said = f"({letter}) {name}, γ = {run.gamma:g}, {teams} teams\n{slope}, computed {run.computed_slope:.4f}"
        assert title(axes) == said
        named = {text.get_text(): text.xy for text in axes.texts}
        assert named == ({} if name == "R1" else {
            "Germany": (run.theta[-2], run.rating[-2]), "Brazil": (run.theta[-1], run.rating[-1]),
        })  # fmt: skip


def test_step_scan():
    data, _, (slopes, pair) = drawn("step_scan")
    seen, bars = lines(slopes), bars_of_errors(slopes)
    named = {"R1": data.r1, "R2, σ = 1": data.r2[1.0], "R2, σ = 2": data.r2[2.0]}
    for name, line in named.items():
        same(seen[f"{name}, computed"], data.gamma, line.slope)
        gamma, middle, error = (
            np.array([getattr(p, part) for p in line.points]) for part in ("gamma", "slope", "slope_error")
        )
        same(bars[f"{name}, simulated"], gamma, middle - 2 * error, middle, middle + 2 * error)
    for sigma, line in data.r2.items():
        for team in ("germany", "brazil"):
            same(lines(pair)[f"{team.title()}, σ = {sigma:g}"], data.gamma, getattr(line, team))
        same(lines(pair)[f"edge of the others, σ = {sigma:g}"], data.gamma, line.low)
    for axes in (slopes, pair):
        spans = [(one.get_x(), one.get_x() + one.get_width()) for one in axes.patches]
        assert np.array(spans) == pytest.approx(np.array(list(data.ranges.values())))


def test_marginals():
    data, _, panels = drawn("marginals")
    for (name, run), left, right in zip(data.items(), panels[::2], panels[1::2]):
        for axes, x, density in ((left, run.theta, run.theta_r), (right, run.sigma, run.sigma_r)):
            across, up, values = shades(axes)
            assert (values == density.T).all() and across[0] < x[0] < across[1] and up[0] < run.r[0] < up[1]
            assert axes.collections[0].norm.vmax == density.max()  # nothing is cut off
        same(lines(left)["mean rating given θ"], run.strengths, run.mean_given_theta)
        diagonal(lines(left)["r = θ"], run.theta)
        assert lines(right)["mean rating"][:, 1] == pytest.approx(run.mean_rating)
        assert title(left) == f"{name}: density in (θ, r)" and title(right) == f"{name}: density in (σ, r)"


def maps_and_points(axes, run):
    same(points(axes)["simulated"], run.theta, run.rating)
    same(lines(axes)["computed"], run.map_theta, run.map_rating)
    diagonal(lines(axes)["R = θ"], run.theta)


def test_homogeneous_micro():
    data, _, panels = drawn("homogeneous_micro")
    for above, below, (name, run) in zip(panels[:4], panels[4:], data.runs.items(), strict=True):
        maps_and_points(above, run)
        assert title(above) == f"{name}\nslope {run.slope:.4f} ± {run.slope_error:.4f}"
        [rest] = [
            np.asarray(one.get_offsets()) for one in below.collections if len(one.get_offsets()) == run.theta.size
        ]
        assert rest[:, 0] == pytest.approx(run.theta)
        order = np.argsort(run.map_theta)
        again = rest[:, 1] + np.interp(run.theta, run.map_theta[order], run.map_rating[order])
        assert again == pytest.approx(run.rating)
        _, low, high = bands(below)["95 % of means"].T
        error = np.sqrt((run.rating_sd**2).mean() / run.realisations)
        assert high == pytest.approx(1.96 * error) and low == pytest.approx(-1.96 * error)


def test_homogeneous_macro():
    data, figure, panels = drawn("homogeneous_macro")
    for above, below, (name, run) in zip(panels[:4], panels[4:], data.runs.items(), strict=True):
        _, _, values = shades(above)
        assert (values == run.theta_r.T).all()
        diagonal(lines(above)["R = θ"], run.theta)
        assert title(above) == f"{name}: slope {run.free_slope:.3f}\n(on cells {run.slope:.3f})"
        same(lines(below)["Taylor map"], run.theta, run.taylor_map - run.exact_map)
        same(lines(below)["mean of r, without cells"], run.theta, run.free_mean - run.exact_map)
        assert lines(below)["exact stationary map"][:, 1] == pytest.approx(0)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "R = θ", "exact stationary map", "mean of r, without cells", "Taylor map",
    ]  # fmt: skip


def test_scale():
    data, _, panels = drawn("scale")
    for axes, (name, run) in zip(panels, data.final.items()):
        maps_and_points(axes, run)
        assert title(axes) == f"{name}\nslope {run.slope:.4f} ± {run.slope_error:.4f}"
    seen = lines(panels[-1])
    for k, run in enumerate(data.early.values()):
        times = f"{run.matches_to_ten_percent:,.0f}, {run.measured_to_ten_percent:,.0f}"
        same(seen[f"ν = {run.nu:g}: {times}"], run.time[1:], run.slope[1:])
        same(seen[str(k)], run.time[1:], run.predicted[1:])


def test_step_size():
    data, _, (axes,) = drawn("step_size")
    seen, bars = lines(axes), bars_of_errors(axes)
    for sigma, slope, star in zip(data.computed.sigma, data.computed.slope, data.computed.unbiased):
        same(seen[f"σ = {sigma:g}, computed"], data.computed.gamma, slope)
        own = data.simulated.sigma == sigma
        gamma, middle, error = (getattr(data.simulated, name)[own] for name in ("gamma", "slope", "slope_error"))
        same(bars[f"σ = {sigma:g}, simulated"], gamma, middle - 2 * error, middle, middle + 2 * error)
        stars = [tuple(line.get_xydata()[0]) for line in axes.lines if line.get_marker() == "*"]
        assert ((star, 1.0) in stars) == (0 < star <= 0.6)
    assert [text.get_text() for text in axes.texts] == [f"γ* = {star:.3f}" for star in data.computed.unbiased]


def test_closures():
    data, _, (left, right) = drawn("closures")
    for k, sigma in enumerate(data.sigma):
        for closure, name in (("exact", "exact"), ("taylor", "Taylor")):
            (line,) = [one for one in left.lines if one.get_label() == f"σ = {sigma:g}, {name}"]
            same(line.get_xydata(), data.difference, data.win[closure][k])
            assert line.get_linestyle() == ("-" if name == "exact" else "--")
            place = 2 * k + (closure == "taylor")
            same(lines(right)[str(place)], data.theta, data.bias[closure][k])
            assert right.lines[place].get_linestyle() == line.get_linestyle()
            assert (
                right.lines[place].get_color() == line.get_color() == (style.EXACT if name == "exact" else style.TAYLOR)
            )
            assert right.lines[place].get_alpha() == line.get_alpha()


def test_energy():
    data, figure, (rise, decay, moment) = drawn("energy")
    starts = ("from r = θ", "from one rating", "uniform", "smooth around r = θ")
    for closure, colour in (("exact", style.EXACT), ("taylor", style.TAYLOR)):
        line, one, square, ridge = (data.runs[f"{name}, {closure}"] for name in starts)
        limit = np.full(61, square.predicted_energy)
        expected = {
            rise: (line.energy, ridge.energy, limit), decay: (square.energy, square.distance, square.asymptote),
            moment: (square.variance, one.variance),
        }  # fmt: skip
        for axes, values in expected.items():
            drawn_lines = [found.get_xydata() for found in axes.lines if found.get_color() == colour]
            assert len(drawn_lines) == len(values)
            for found, value in zip(drawn_lines, values):
                same(found, square.time, value)
    guide = data.runs["uniform, exact"]
    same(lines(decay)["the theorem's bound of E"], guide.time, guide.energy[0] * np.exp(-guide.rate * guide.time))
    assert legend(rise) == ["E", "E from smooth data", "limit"]
    assert legend(decay) == ["E", "distance to R*", "rate 2λ₂", "the theorem's bound of E"]
    assert legend(moment) == ["from uniform data", "from one rating"]
    gaps = [data.runs[f"uniform, {closure}"].gap for closure in ("exact", "taylor")]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        f"exact closure, 2λ₂ = {2 * gaps[0]:.3f}", f"Taylor closure, 2λ₂ = {2 * gaps[1]:.3f}",
    ]  # fmt: skip


def test_phase_diagram():
    data, _, (axes,) = drawn("phase_diagram")
    mesh = next(one for one in axes.collections if hasattr(one, "get_coordinates"))
    assert np.asarray(mesh.get_array()).ravel() == pytest.approx(data.slope.ravel())
    corners = np.asarray(mesh.get_coordinates())
    assert corners[0, :, 0] == pytest.approx(data.nu) and corners[:, 0, 1] == pytest.approx(data.sigma)
    limit = lines(axes)["νσ = 1/√2, limit of (B′)"]
    assert limit.prod(axis=1) == pytest.approx(0.5**0.5)


def test_outliers():
    data, _, (axes,) = drawn("outliers")
    seen = lines(axes)
    for name in ("Germany", "Brazil"):
        same(seen[f"{name}, computed"], data.computed.sigma, getattr(data.computed, name.lower()))
        same(seen[f"{name}, simulated"], data.simulated.sigma, getattr(data.simulated, name.lower()))
    for name, value in (("germany", data.computed.germany), ("brazil", data.computed.brazil)):
        for sigma in (1.0, 2.0):
            text = f"{np.interp(sigma, data.computed.sigma, value):+.3f}".replace("-", "−")
            assert text in [one.get_text() for one in axes.texts], name
    same(bands(axes)["95 % of the other teams"], data.computed.sigma, data.computed.low, data.computed.high)


X = np.linspace(0.1, 1.0, 6)


def test_neighbours_learning():
    data = distinct(LearningEvidence(X, X + 1, 0.2, 0.9, X[:3], X[:3] + 2, X[:3] / 9, X, X + 3, X + 4, X + 5))
    _, _, (left, right) = drawn("learning", data)
    same(lines(left)["computed"], data.gamma, data.error)
    assert lines(left)["as γ → 0"][:, 1] == pytest.approx(data.floor)
    low, high = data.run_error - 2 * data.run_uncertainty, data.run_error + 2 * data.run_uncertainty
    same(bars_of_errors(left)["simulated"], data.run_gamma, low, data.run_error, high)
    same(lines(right)["strengths"], data.time, data.strength_spread)
    same(lines(right)["ratings"], data.time, data.rating_spread)
    same(lines(right)["t^{1/3} law"], data.time, data.predicted_spread)


def test_neighbours_following():
    data = distinct(FollowingEvidence(X, np.column_stack([X, 2 * X]), 0.4, 0.3, X[:3], X[:3] + 2, X[:3] / 9, 0.7, 0.01))
    _, _, (axes,) = drawn("following", data)
    seen = lines(axes)
    same(seen["noise"], data.gamma, data.parts[:, 0])
    same(seen["lag"], data.gamma, data.parts[:, 1])
    same(seen["error, computed"], data.gamma, data.parts[:, 0] + data.parts[:, 1])
    assert seen["Glicko, simulated"][:, 1] == pytest.approx(data.glicko)
    low, high = data.run_error - 2 * data.run_uncertainty, data.run_error + 2 * data.run_uncertainty
    same(bars_of_errors(axes)["error, simulated"], data.run_gamma, low, data.run_error, high)
    (star,) = [line.get_xydata()[0] for line in axes.lines if line.get_marker() == "*"]
    assert tuple(star) == (data.best, data.least) and axes.texts[0].get_text() == f"γ* = {data.best:.3f}"


def test_neighbours_deviations():
    data = distinct(DeviationEvidence(X, 3 - X, 1 + X, 2.0, X, X + 7, 0.5, 0.6, 0.7, 0.1))
    _, _, (left, right) = drawn("deviations", data)
    same(lines(left)["from above"], data.matches, data.falling)
    same(lines(left)["from below"], data.matches, data.rising)
    assert lines(left)["0"][:, 1] == pytest.approx(data.settled)
    same(lines(right)["simulated"], data.time, data.mean)
    same(lines(right)["computed without noise"], data.time, data.mean[0] + data.still_speed * data.time)
    same(lines(right)["computed with noise"], data.time, data.mean[0] + data.noisy_speed * data.time)


def test_neighbours_rounds():
    data = distinct(RoundsEvidence(np.column_stack([X, X + 1]), X, np.ones(6, int), 0.6, 0.9, 0.5, X, X + 2, X + 3))
    _, _, (left, right) = drawn("rounds", data)
    same(lines(left)["0"], *data.orbit.T)
    same(lines(right)["rounds"], data.noisy_gamma, data.noise)
    same(lines(right)["by match"], data.noisy_gamma, data.noise_by_match)
    for axes, first in ((left, 1), (right, 0)):
        dotted, dashed = lines(axes)[str(first)], lines(axes)[str(first + 1)]
        assert dotted[:, 0] == pytest.approx(data.bound) and dashed[:, 0] == pytest.approx(data.critical)
    assert legend(right) == ["rounds", "by match"]
