"""Pictures of histories by their lines, bands, dots and legends; and users' names in every picture."""

import datetime as dt
import warnings

import matplotlib.dates as mdates
import numpy as np
import polars as pl
import pytest

import kinelo as kn
from kinelo.pictures.histories import draw_histories
from kinelo.pictures.style import SERIES, literal, picture_bytes
from picture_reading import title

HARD = "$\\frac{1}$ Sport_Club $x^$ of the Very Long Name and Association 1904 e.V."


def row(day, name, rating, played=None, doubt=20.0):
    day = dt.date.fromisoformat(day)
    return {"date": day, "name": name, "rating": rating, "uncertainty": doubt, "last_played": played or day}


def history():
    """A plays in every year, B rests from early 2012 to 2015, C is seen once."""
    rows = [row(f"{2010 + k}-06-01", "A", 1500.0 + 10 * k, doubt=30.0 - k) for k in range(8)]
    rows += [row(f"{2010 + k}-06-01", "B", 1400.0 + k) for k in (0, 1)]
    rows.append(row("2012-06-01", "B", 1402.0, dt.date(2012, 1, 15)))
    rows += [row(f"{2010 + k}-06-01", "B", 1390.0 + k) for k in (5, 6)]
    rows.append(row("2013-06-01", "C", 1700.0))
    return pl.DataFrame(rows)


def lines_of(axes):
    return {line.get_label().split("  ")[0]: line for line in axes.get_lines() if not line.get_label().startswith("_")}


def ratings_of(axes, name):
    return np.asarray(lines_of(axes)[name].get_ydata(), float)


def dots_of(axes):
    return [line for line in axes.get_lines() if line.get_marker() == "o"]


def test_no_line_is_drawn_through_a_year_without_matches():
    axes = draw_histories(history(), ["A", "B"]).axes[0]
    rating = ratings_of(axes, "B")
    assert np.isnan(rating).tolist() == [False, False, False, True, False, False]
    assert rating[~np.isnan(rating)].tolist() == [1400, 1401, 1402, 1395, 1396]
    days = mdates.date2num(lines_of(axes)["B"].get_xdata())
    assert days[2] == mdates.date2num(dt.date(2012, 6, 1)) and days[4] == mdates.date2num(dt.date(2015, 6, 1))
    assert ratings_of(axes, "A").tolist() == [1500.0 + 10 * k for k in range(8)]


def test_a_rest_of_less_than_a_year_is_no_gap():
    rest = history().filter(pl.col("name") != "B")
    for day, gap in (("2012-07-10", False), ("2012-05-01", True)):  # 326 and 396 days before the stop of 2013-06-01
        seen = [row("2012-08-01", "B", 1400.0, dt.date.fromisoformat(day)), row("2014-06-01", "B", 1410.0)]
        axes = draw_histories(pl.concat([rest, pl.DataFrame(seen)]), ["A", "B"]).axes[0]
        assert np.isnan(ratings_of(axes, "B")).any() == gap


def test_a_side_with_one_match_is_a_dot():
    axes = draw_histories(history(), ["A", "C"]).axes[0]
    (dot,) = (line for line in dots_of(axes) if line.get_markersize() == 3.0)
    assert dot.get_ydata().tolist() == [1700.0]
    assert mdates.date2num(dot.get_xdata()).tolist() == [mdates.date2num(dt.date(2013, 6, 1))]
    assert dot.get_color() == lines_of(axes)["C"].get_color()
    others = draw_histories(history(), ["A", "B"]).axes[0]
    assert [line.get_ydata().tolist() for line in dots_of(others)] == [[1700.0]]


def test_the_band_is_one_standard_deviation_of_the_first():
    (band,) = draw_histories(history(), ["A", "B"]).axes[0].collections
    path = band.get_paths()[0].vertices
    low, high = (np.array([edge(path[path[:, 0] == x, 1]) for x in np.unique(path[:, 0])]) for edge in (np.min, np.max))
    rating, doubt = 1500 + 10 * np.arange(8.0), 30 - np.arange(8.0)
    assert low == pytest.approx(rating - doubt) and high == pytest.approx(rating + doubt)


def test_legends_name_sides_with_their_last_ratings():
    axes = draw_histories(history(), ["B", "A"], "My league").axes[0]
    said = [text.get_text() for text in axes.get_legend().get_texts()]
    assert said == ["± one standard deviation", "B  1396", "A  1570", "1 other"]
    assert axes.get_title(loc="left") == "My league"


@pytest.mark.filterwarnings("error")
def test_the_best_at_the_end_are_named_the_best_first():
    """Those who were last seen long ago are among the others, whatever they were rated then."""
    rating = {f"T{k}": 1400.0 + 37 * (7 * k % 11) for k in range(11)}
    rows = [row(day, name, value) for name, value in rating.items() for day in ("2016-06-01", "2017-06-01")]
    rows += [row(day, "gone", 1990.0) for day in ("2010-06-01", "2011-06-01")]
    axes = draw_histories(pl.DataFrame(rows)).axes[0]
    _, *named, others = [text.get_text() for text in axes.get_legend().get_texts()]
    best = sorted(rating, key=lambda name: -rating[name])[: len(SERIES)]
    assert named == [f"{name}  {rating[name]:.0f}" for name in best] and others.endswith("others")


def test_axes_keep_their_room_beside_long_names_and_dollar_signs():
    table = history().with_columns(pl.col("name").replace("A", HARD).replace("B", "_B $"))
    figure = draw_histories(table, [HARD, "_B $"], "Rich $ and $$_poor")
    assert len(picture_bytes(figure)) > 5_000
    axes = figure.axes[0]
    assert axes.get_position().width > 0.55
    said = [text.get_text() for text in axes.get_legend().get_texts()]
    assert any(text.endswith("1904 e.V.  1570") for text in said) and " _B \\$  1396" in said
    assert all(len(text) < 45 for text in said)


@pytest.mark.filterwarnings("error")
def test_every_picture_draws_names_as_they_are_written():
    bad = "$\\frac$ _^$"
    matches = kn.read_matches(kn.sample_league(teams=6, seasons=2, seed=1).results)
    test = kn.backtest(matches, {bad: kn.TeamElo.classic(k=20)}, train_until=matches.date[30])
    system, league = (
        kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05),
        kn.Normal([4.0, 7.0, 10.0], 1.0, names=[bad, "B", "C"]),
    )
    run = kn.simulate(system, league, steps=4, matches_per_step=5, realisations=2, seed=1)
    swept = kn.sweep(lambda **axes: 1.0, {"$_a$": [1, 2], bad: ["x", "$\\y$"]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kn.KineloWarning)
        compared = kn.design(
            league, kn.model.Form(rate=0.1, spread=0.5), {bad: system}, matches=30, realisations=2, seed=1
        )
    pictures = [
        kn.plot.calibration(test),
        kn.plot.ratings(run, bad),
        kn.plot.stationary(kn.stationary(system, league), bad),
        kn.plot.sweep(swept, title=bad),
        kn.plot.design(compared),
    ]
    assert all(len(picture_bytes(figure)) > 3_000 for figure in pictures)
    assert literal(bad) in pictures[0].axes[0].get_title(loc="left")


def test_what_was_seen_then_stands_left_of_what_is_known_now():
    later = history().with_columns(pl.col("rating") + 7.0)
    then, now = draw_histories(history(), ["A", "B"], "A league", now=later).axes
    assert (title(then), title(now)) == ("As seen then", "As we know now")
    assert ratings_of(then, "A").tolist() == [1500.0 + 10 * k for k in range(8)]
    assert ratings_of(now, "A").tolist() == [1507.0 + 10 * k for k in range(8)]
    assert then.get_figure().get_suptitle() == "A league"


def test_each_kind_of_contests_has_a_row_of_its_own():
    """A name that stands for a driver and for a car is two lines, each among its own kind."""
    drivers = history().with_columns(kind=pl.lit("driver"))
    cars = history().with_columns(kind=pl.lit("car"), rating=pl.col("rating") + 300.0)
    both = pl.concat([drivers, cars])
    figure = draw_histories(both, ["A", "B"], now=both.with_columns(rating=pl.col("rating") + 7.0))
    assert [title(axes) for axes in figure.axes] == [
        f"{kind}: {said}" for kind in ("driver", "car") for said in ("As seen then", "As we know now")
    ]
    for axes, more in zip(figure.axes, (0.0, 7.0, 300.0, 307.0)):
        assert ratings_of(axes, "A").tolist() == [1500.0 + 10 * k + more for k in range(8)]
    alone = draw_histories(drivers, ["A", "B"], now=drivers).axes
    assert [title(axes) for axes in alone] == ["As seen then", "As we know now"]
    one = draw_histories(pl.concat([drivers, cars.filter(name="C")]), ["A", "C"])
    assert "A" in lines_of(one.axes[0]) and "A" not in lines_of(one.axes[1])
    with pytest.raises(kn.InputError, match="'D' has no rating"):
        draw_histories(both, ["A", "D"])
