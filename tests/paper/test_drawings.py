import pytest
import synthetic

from kinelo.errors import InputError
from kinelo.paper.drawings import DRAWINGS
from kinelo.paper.easel import Easel, paint


@pytest.mark.parametrize("number", list(synthetic.EVIDENCE))
def test_every_panel_names_its_axes_and_shows_data(number):
    figure = DRAWINGS[synthetic.DRAWN_BY[number]](synthetic.EVIDENCE[number]())
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    assert panels[0].get_ylabel()
    for axes in panels:
        assert axes.get_xlabel()
        assert axes.has_data()
        # A panel may leave its name to the first one, if it has the same scale.
        assert axes.get_ylabel() or axes.get_ylim() == panels[0].get_ylim()


def test_the_easel_gives_the_bytes_that_drawing_here_gives():
    evidence = synthetic.closures()
    with Easel() as easel:
        promise = easel.draw("closures", evidence)
        assert promise.result(timeout=120) == paint("closures", evidence)


def test_a_drawing_that_cannot_be_made_says_why():
    with Easel() as easel:
        with pytest.raises(InputError, match="the drawing 'closures' needs a run or a number named 'closures'"):
            easel.draw("closures", {}).result(timeout=120)
        with pytest.raises(RuntimeError, match="Drawing 'closures' failed"):
            easel.draw("closures", {"closures": synthetic.THETA}).result(timeout=120)
