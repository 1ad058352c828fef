"""Arrays of a book under a checksum that holds: whatever they contain, opening the book says so in a sentence."""

import copy
import json
import shutil
import warnings

import numpy as np
import pytest

import kinelo as kn
from kinelo.book.book import _open_rater
from kinelo.book.journal import append_record, read_records, read_sealed, write_sealed
from kinelo.book.keeping import restore
from kinelo.book.rows import parted_removal

RATERS = {
    "team": lambda: kn.TeamElo(conditions=["surface"], prior_spread=100.0, **defaults(kn.TeamElo)),
    "fide": lambda: kn.TeamElo.classic(k=kn.FideSteps(under_18=["A"]), k_of={"B": 10.0}),
    "glicko": lambda: kn.Glicko(deviation=300.0, growth=10.0, home_advantage=0.0, ties=0.5),
    "kalman": lambda: kn.KalmanElo(conditions=["surface"], covariance="full", **defaults(kn.KalmanElo)),
    "diagonal": lambda: kn.KalmanElo(covariance="diagonal", **defaults(kn.KalmanElo)),
    "player": lambda: kn.PlayerElo(covariance="full", **defaults(kn.PlayerElo)),
    "bradley_terry": lambda: kn.BradleyTerry(ridge=0.1),
    "rank": lambda: kn.RankElo(walk=0.3, prior_spread=1.0, newcomer=-0.2, regression=0.1, retirement=0.5, off=0.0),
}  # fmt: skip


def defaults(kind):
    return {parameter.name: parameter.default for parameter in kind.parameters}


def results(kind):
    if kind == "rank":
        places = {"date": ["2020-01-01"] * 3 + ["2020-02-01"] * 3, "race": ["1"] * 3 + ["2"] * 3}
        return kn.read_contests(places | {"driver": list("ABCBCA"), "place": [1, 2, 3, 1, 2, 3]})
    table = {
        "date": ["2020-01-01", "2020-02-01", "2020-03-01", "2020-03-02"], "home": list("ABCA"), "away": list("BCAC"),
        "home_score": [2, 1, 3, 1], "away_score": [1, 1, 0, 0], "surface": ["clay", "grass", "clay", "clay"],
        "home_lineup": [["a", "aa"], ["b"], ["c", "cc"], ["a"]], "away_lineup": [["b", "bb"], ["c"], ["a"], ["cc"]],
    }  # fmt: skip
    return kn.read_matches(table, conditions=["surface"])


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A book of each kind, and its ratings."""
    folder, ratings = tmp_path_factory.mktemp("books"), {}
    for kind, rater in RATERS.items():
        book = kn.RatingBook(folder / kind, rater())
        book.add(results(kind))
        ratings[kind] = book.ratings_
    return folder, ratings


def spoilt(values):
    """What somebody may write instead of an array, and whether it can be right by chance."""
    yield "gone", None
    yield "text", np.array(["nonsense"] * max(values.size, 1))
    yield "deep", np.zeros((1, 1, 1, 1, 2))
    if values.ndim:
        yield "longer", np.concatenate([values, values, values[:1]])
        if len(values):
            yield "shorter", values[1:]
    if values.size and values.dtype.kind == "f":
        yield "nan", np.full_like(values, np.nan)
        yield "infinite", np.full_like(values, np.inf)
        yield "integers", np.zeros(values.shape, np.int64)
        yield "negative", np.full_like(values, -1e9)
    if values.size and values.dtype.kind == "i":
        for word, number in (("far", np.iinfo(values.dtype).max), ("low", np.iinfo(values.dtype).min)):
            yield word, np.full_like(values, number)
        yield "fractions", values + 0.5


def opened(folder):
    """The book, or the sentence that refuses it; any other error is one."""
    try:
        return kn.RatingBook(folder), ""
    except kn.InputError as error:
        return None, str(error)


def forged(arrays, every=1, ways=2):
    """Arrays of which one is spoilt: every so many of them, in one of so many ways; others at the next array."""
    for number, (name, values) in enumerate(list(arrays.items())[::every]):
        for word, instead in list(spoilt(values))[number % ways :: ways]:
            rest = {key: value for key, value in arrays.items() if key != name}
            yield (name, word), rest if instead is None else rest | {name: instead}


@pytest.mark.parametrize("file", ["snapshot.knl", "book.knl"])
@pytest.mark.parametrize("kind", RATERS)
def test_arrays_that_no_rater_stores_are_refused(honest, kind, file):
    """What is refused is refused in a sentence that names the file; what is not has ratings that are numbers."""
    blank = _open_rater(honest[0] / kind / "book.knl", None)
    refused, tried = 0, 0
    for which, arrays in forged(read_sealed(honest[0] / kind / file)[1]):
        rater, sentence, tried = copy.deepcopy(blank), "", tried + 1
        try:
            restore(rater, arrays, file)
        except kn.InputError as error:
            sentence, refused = str(error), refused + 1
        if sentence:
            assert "\n" not in sentence and file in sentence, (which, sentence)
        else:
            assert np.isfinite(rater.ratings_["rating"].to_numpy()).all(), which
            assert not rater.ratings_["uncertainty"].is_nan().any(), which
    assert tried > 10 and refused > 0.5 * tried, (refused, tried)


@pytest.mark.parametrize("kind", RATERS)
def test_books_with_such_arrays_open_without_the_snapshot_or_not_at_all(honest, kind, tmp_path):
    """A snapshot is done without; the beginning of a book is refused."""
    folder, ratings = honest
    shutil.copytree(folder / kind, tmp_path / "book")
    for file in ("snapshot.knl", "book.knl"):
        about, arrays = read_sealed(tmp_path / "book" / file)
        refused = []
        for which, instead in forged(arrays, every=5, ways=6):
            write_sealed(tmp_path / "book" / file, about, instead)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                book, sentence = opened(tmp_path / "book")
            if book is None:
                assert file == "book.knl" and "\n" not in sentence and file in sentence, (which, sentence)
                refused.append(which)
                continue
            assert np.isfinite(book.ratings_["rating"].to_numpy()).all(), which
            if any("is damaged: the ratings were computed anew" in str(one.message) for one in said):
                assert file == "snapshot.knl"
                assert (book.ratings_["rating"] - ratings[kind]["rating"]).abs().max() < 0.01, which
                refused.append(which)
        assert refused, file
        write_sealed(tmp_path / "book" / file, about, arrays)


SOUND = {
    "match_id": "x", "date": "2020-05-01", "home": "A", "away": "B", "result": 1.0, "margin": 1.0, "neutral": False,
    "weight": 1.0, "source": "s", "row": 1,
}  # fmt: skip
NO_MATCH = [
    {"result": 7.0}, {"result": None}, {"away": None}, {"neutral": None}, {"weight": -1.0}, {"date": "9020-05-01"},
    {"date": "May"}, {"margin": 1e305}, {"row": None},
]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [b"x", b"{}", b"[1]", b'{"removed": 5}', b'{"removed"', b"", *(json.dumps(SOUND | x).encode() for x in NO_MATCH)],
)
@pytest.mark.parametrize("kind", ["glicko", "rank"])
def test_records_that_hold_no_match_are_refused(honest, kind, line, tmp_path):
    shutil.copytree(honest[0] / kind, tmp_path / "book")
    journal = tmp_path / "book" / "matches.knl"
    append_record(journal, line + b"\n", read_records(journal)[1])
    with pytest.raises(kn.InputError, match=r"matches\.knl holds a record that Kinelo did not write") as refused:
        kn.RatingBook(tmp_path / "book")
    assert "\n" not in str(refused.value)


def test_what_is_removed_is_a_list():
    with pytest.raises(TypeError, match="no list"):
        parted_removal(b'{"removed": 5}\n')


def test_honest_books_open_without_a_word(honest):
    folder, ratings = honest
    for kind in RATERS:
        found, before = (table.sort("name") for table in (kn.RatingBook(folder / kind).ratings_, ratings[kind]))
        assert found["rating"].to_list() == pytest.approx(before["rating"].to_list(), abs=0.01)
        assert found.drop("rating", "uncertainty").equals(before.drop("rating", "uncertainty"))
