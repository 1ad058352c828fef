from dataclasses import replace

import pytest
import synthetic

from kinelo.errors import InputError
from kinelo.paper.catalogue import drawing
from kinelo.paper.figure import read_figures
from kinelo.paper.reproduce import render
from kinelo.pictures.style import picture_bytes


@pytest.mark.parametrize("name", list(synthetic.EVIDENCE))
def test_every_panel_names_its_axes_and_shows_data(name):
    figure = drawing(name)(synthetic.EVIDENCE[name]())
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    assert panels[0].get_ylabel()
    for axes in panels:
        # A panel may leave a name to another on the same scale.
        assert axes.get_xlabel() or any(o.get_xlabel() and o.get_xlim() == axes.get_xlim() for o in panels)
        assert axes.has_data()
        assert axes.get_ylabel() or any(o.get_ylabel() and o.get_ylim() == axes.get_ylim() for o in panels)


def test_the_legend_of_the_closures_stands_beside_their_lines():
    figure = drawing("closures")(synthetic.closures())
    assert all(axes.get_legend() is None for axes in figure.axes) and len(figure.legends) == 1


def test_every_simulated_run_lies_on_the_phase_diagram():
    axes = drawing("phase_diagram")(synthetic.phase_diagram()).axes[0]
    (crosses,) = [line for line in axes.lines if line.get_marker() == "X"]
    assert crosses.get_xydata().tolist() == [[0.5, 1.0], [0.01, 2.0]]
    assert axes.get_xlim()[0] < 0.01 and axes.get_ylim()[1] > 2.0


def test_a_figure_is_drawn_for_the_printer_at_full_scale_only():
    full, quick = (render("closures", synthetic.closures(), scale) for scale in ("full", "quick"))
    assert set(full) == {"png", "pdf"} and quick == {"png": full["png"]}


def test_panels_arranged_once_stand_where_matplotlib_puts_them():
    figure = drawing("closures")(synthetic.closures())
    assert render("closures", synthetic.closures(), "quick")["png"] == picture_bytes(figure)


def test_a_drawing_that_cannot_be_made_says_why():
    with pytest.raises(InputError, match="The drawing 'leagues' needs a run named 'R1'"):
        render("leagues", {})


def test_captions_say_how_long_the_runs_of_their_scale_are():
    full, quick = (read_figures(scale=scale, wanted=[4])[0] for scale in ("full", "quick"))
    assert "after 10⁶ steps of 25 matches, mean of 50 realisations" in full.caption
    assert "after 24,000 steps of 25 matches, mean of 6 realisations" in quick.caption
    for figure in (*read_figures(), *read_figures(scale="quick")):
        assert "{" not in figure.title + figure.caption


def test_captions_say_what_was_changed():
    changed = {"study": {"gamma": 0.3, "outcome": {"nu": 0.9}, "league": {"teams": 70}}}
    four, eight = read_figures(scale="quick", wanted=[4, 8], changes={4: changed, 8: {"parameters": {"nu": 0.7}}})
    assert four.caption.startswith("70 teams, ν = 0.9, γ = 0.3: ratings after 24,000 steps")
    assert {study.gamma for study in four.studies.values()} == {0.3} and "ν = 0.7" in eight.caption
    one, other = (read_figures(scale=scale, wanted=[5])[0].caption for scale in ("full", "quick"))
    assert "cells of width 0.05" in one and "cells of width 0.1" in other


def test_panels_are_labelled_by_their_data():
    """Whatever a run is called in its study: its σ may have been changed there."""
    evidence = synthetic.EVIDENCE["homogeneous_micro"]()
    first, *others = evidence.runs.items()
    changed = replace(first[1], common_sigma=0.7)
    figure = drawing("homogeneous_micro")(replace(evidence, runs=dict([(first[0], changed), *others])))
    assert figure.axes[0].get_title(loc="left").startswith("σ = 0.7\nslope")
