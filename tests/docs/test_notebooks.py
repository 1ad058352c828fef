"""Tutorials and the gallery run as they stand, and the gallery shows every picture there is."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

pytest.importorskip("jupytext")

import kinelo as kn
import kinelo.pictures
from site_tools import notebooks

DOCS = Path(__file__).parents[2] / "docs"
SOURCES = sorted(DOCS.rglob("*.py"))


@pytest.mark.filterwarnings("ignore::kinelo.errors.KineloWarning")
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_a_notebook_runs_and_becomes_a_page(source, tmp_path):
    cells = notebooks.run(source, tmp_path)
    text, pictures = notebooks.as_markdown(cells, source.stem)
    assert text.startswith("# ")
    assert "± nan" not in text and "±nan" not in text
    assert all(f"]({name})" in text and content for name, content in pictures.items())
    assert [cell.source for cell in notebooks.as_notebook(cells).cells] == [cell.source for cell in cells]


def drawings() -> set[object]:
    found = set()
    for module in pkgutil.iter_modules(kinelo.pictures.__path__, "kinelo.pictures."):
        members = vars(importlib.import_module(module.name))
        found |= {value for name, value in members.items() if name.startswith("draw_") and inspect.isfunction(value)}
    return found


def test_every_drawing_has_a_short_name():
    named = {inspect.unwrap(getattr(kn.plot, name)) for name in kn.plot.__all__}
    assert drawings() <= named, "name new drawings in kinelo/plot.py"


def test_the_gallery_shows_every_picture():
    text = (DOCS / "gallery.py").read_text(encoding="utf-8")
    missing = [name for name in kn.plot.__all__ if f"kn.plot.{name}(" not in text]
    assert not missing, f"docs/gallery.py does not draw {missing}"


def test_a_cell_that_fails_fails(tmp_path):
    source = tmp_path / "broken.py"
    source.write_text("# %%\n1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        notebooks.run(source, tmp_path)


def test_a_cell_shows_what_it_prints_and_its_last_value(tmp_path):
    source = tmp_path / "small.py"
    source.write_text("# %% [markdown]\n# # Small\n\n# %%\nx = 2\nprint('said')\nx + 1\n\n# %%\ny = 1\n")
    text, pictures = notebooks.as_markdown(notebooks.run(source, tmp_path), "small")
    assert "said\n3\n" in text and text.count("output") == 1 and not pictures
