"""Pictures for papers: their width, the size of their type, axes of the reader's own, labels in words."""

import pytest
from matplotlib.figure import Figure

import kinelo as kn
from kinelo.pictures import style

LEAGUE = kn.Normal([4.0, 5.5, 7.0, 8.0, 10.0], sigma=1.0)
SYSTEM = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.2)
STATE = kn.stationary(SYSTEM, LEAGUE, noise="gaussian")


def boxes(figure):
    figure.draw_without_rendering()
    return [axes.get_window_extent() for axes in figure.axes]


def test_a_page_shows_panels_side_by_side_and_a_column_shows_them_one_below_the_other():
    page, column = kn.plot.stationary(STATE), kn.plot.stationary(STATE, width="single")
    assert page.get_figwidth() == 7.2 and column.get_figwidth() == 3.5
    assert kn.plot.stationary(STATE, width="double").get_figwidth() == 7.2
    assert kn.plot.stationary(STATE, width=5.5).get_figwidth() == 5.5
    left, right = boxes(page)
    assert left.x1 < right.x0
    above, below = boxes(column)
    assert above.y0 > below.y1 and above.x0 < below.x1
    assert kn.plot.stationary(STATE).get_figwidth() == 7.2, "what was asked of one picture is not asked of the next"


def test_type_has_the_size_that_is_asked_for():
    for size in (8.0, 11.0):
        axes = kn.plot.stationary(STATE, size=size).axes[0]
        assert axes.xaxis.label.get_size() == size
        assert axes.get_legend().get_texts()[0].get_size() == size - 1


def test_axes_of_the_readers_own_receive_the_picture():
    own = Figure(figsize=(9, 3))
    first, mine, theirs = own.subplots(1, 3)
    assert kn.plot.stationary(STATE, "A league", ax=[theirs, mine]) is own
    alone = kn.plot.stationary(STATE).axes
    for axes, same in ((theirs, alone[0]), (mine, alone[1])):
        assert axes.get_ylabel() == same.get_ylabel() and len(axes.lines) == len(same.lines)
    assert theirs.get_title(loc="left") == "A league" and not own.get_suptitle() and not first.lines


def test_histories_and_sweeps_are_drawn_into_one_panel():
    matches = kn.read_matches(kn.sample_league(teams=5, seasons=1, seed=2).results)
    history = kn.rating_history(kn.TeamElo.classic(k=20).fit(matches), matches, points=8)
    axes = Figure().subplots()
    kn.plot.histories(history, ax=axes)
    assert len(axes.lines) == len(kn.plot.histories(history).axes[0].lines)
    table = kn.sweep(lambda gamma, size: gamma * size, {"gamma": [0.1, 0.2], "size": [2, 3, 4]})
    axes = Figure().subplots()
    kn.plot.sweep(table, title="Steps", ax=axes)
    assert axes.get_xlabel() == "size" and axes.get_legend().get_title().get_text() == "step γ"
    table["gamma"].attrs.update(long_name="gain", units="per match")
    assert kn.plot.sweep(table).axes[0].get_legend().get_title().get_text() == "gain (per match)"


@pytest.mark.parametrize(("width", "beside"), [(None, True), ("single", False)])
def test_a_legend_stands_beside_a_wide_panel_and_below_a_narrow_one(width, beside):
    with style.journal(width):
        figure, (axes,) = style.panels(style.PAGE * 0.7, 3.0)
        axes.plot([1, 2], label="theory")
        style.put_legend(figure, axes)
    [panel] = boxes(figure)
    shown = figure.legends[0].get_window_extent()
    assert (shown.x0 > panel.x1) == beside and (shown.y1 < panel.y0) != beside
    own = Figure().subplots()
    with style.journal(ax=own):
        own.plot([1, 2], label="theory")
        style.put_legend(own.figure, own)
    assert own.get_legend() is not None and not own.figure.legends


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"width": "wide"}, "width must be inches"),
        ({"width": True}, "width must be inches"),
        ({"width": 0.1}, "from 1.5 to 40"),
        ({"size": float("nan")}, "size must be points"),
        ({"ax": [3]}, "ax must be axes"),
        ({"ax": Figure().subplots()}, "has 2 panels"),
        ({"ax": Figure().subplots(1, 2), "width": 3}, "width is that of a new figure"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(asked, words):
    with pytest.raises(kn.InputError, match=words):
        kn.plot.stationary(STATE, **asked)


def test_a_picture_that_arranges_its_own_panels_takes_no_axes(tmp_path):
    table = kn.sweep(lambda a, b, c: a * b * c, {"a": [1, 2], "b": [1, 2], "c": [1, 2, 3]})
    with pytest.raises(kn.InputError, match="arranges panels of its own"):
        kn.plot.sweep(table, ax=Figure().subplots())
    for kind in ("pdf", "svg"):
        assert kn.plot.save(kn.plot.sweep(table, width="single"), tmp_path / f"sweep.{kind}").stat().st_size > 5_000
