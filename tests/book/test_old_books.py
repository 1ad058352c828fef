"""Books that Kinelo 0.2 wrote open: with the ratings they had, or computed anew with a sentence that says so."""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

import kinelo as kn

KEPT = Path(__file__).parent / "books_of_0.2"
EXPECTED = json.loads((KEPT / "expected.json").read_text())


def opened(kind, tmp_path):
    shutil.copytree(KEPT / kind, tmp_path / kind)
    return kn.RatingBook(tmp_path / kind)


def further():
    """A match after all that the books hold."""
    table = {"date": ["2024-05-01"], "home": ["T2"], "away": ["T5"], "result": [0.5], "match_id": ["later"]}
    return kn.read_matches(table)


def ratings_of(book):
    return dict(book.ratings_.select("name", "rating").iter_rows())


@pytest.mark.parametrize("kind", ["team", "classic"])
def test_ratings_and_forecasts_are_those_they_had(kind, tmp_path):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        book = opened(kind, tmp_path)
    assert ratings_of(book) == pytest.approx(EXPECTED[kind]["ratings"], rel=1e-12)
    fixture = kn.read_matches({"date": ["2024-06-01"], "home": ["T0"], "away": ["T1"]}, played=False)
    assert book.predict(fixture).probabilities[0] == pytest.approx(EXPECTED[kind]["forecast"], abs=1e-9)
    said = [str(w.message) for w in told if "lie 1.60 times as far apart" in str(w.message)]
    assert len(said) == (1 if kind == "team" else 0)  # κ = 1.2; the classic one knows no draws


def test_a_book_goes_on_in_its_own_points(tmp_path):
    """Adding a match, and rating everything again from the journal, end at the same ratings."""
    with pytest.warns(kn.KineloWarning, match="lie 1.60 times"):
        book = opened("team", tmp_path)
    book.add(further())
    carried = ratings_of(book)
    with pytest.warns(kn.KineloWarning, match="lie 1.60 times"):
        assert ratings_of(kn.RatingBook(tmp_path / "team")) == carried
    book.remove("later")
    book.add(further())  # taking out rates all matches again
    assert ratings_of(book) == pytest.approx(carried, rel=1e-11)
    assert abs(carried["T2"] - EXPECTED["team"]["ratings"]["T2"]) > 1


def test_the_batch_estimate_is_computed_anew_and_says_so(tmp_path):
    with pytest.warns(kn.KineloWarning, match=r"computed anew .* put them \d\.\d\d times") as told:
        book = opened("bradley_terry", tmp_path)
    wider = float(str(told[0].message).rsplit("put them ")[1].split()[0])
    now, then = (
        np.array([table[f"T{k}"] for k in range(6)])
        for table in (ratings_of(book), EXPECTED["bradley_terry"]["ratings"])
    )
    np.testing.assert_allclose((now - 1500) * wider, then - 1500, rtol=0.01)
    book.add(further())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kn.RatingBook(tmp_path / "bradley_terry")  # in today's points once it has been written
