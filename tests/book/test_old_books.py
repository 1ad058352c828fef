"""Books of 0.2 to 0.4 were folders: they are carried over into a file, or refused in a sentence; nothing is written."""

import json
import shutil
import warnings
import zipfile
import zlib
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

import kinelo as kn

KEPT = Path(__file__).parent / "books_of_0.2"
EXPECTED = json.loads((KEPT / "expected.json").read_text())


def framed(payload: bytes) -> bytes:
    """A record as it was written."""
    line = b"KINELO2 %016d %08x" % (len(payload), zlib.crc32(payload))
    return b"%s %08x\n" % (line, zlib.crc32(line)) + payload


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def copied(kind, tmp_path) -> Path:
    shutil.copytree(KEPT / kind, tmp_path / kind)
    return tmp_path / kind


def opened(kind, tmp_path):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        book = kn.RatingBook(copied(kind, tmp_path))
    return book, [str(one.message) for one in told]


def further():
    """A match after all that the books hold."""
    table = {"date": ["2024-05-01"], "home": ["T2"], "away": ["T5"], "result": [0.5], "match_id": ["later"]}
    return kn.read_matches(table)


def ratings_of(book):
    return dict(book.ratings_.select("name", "rating").iter_rows())


@pytest.mark.parametrize("kind", ["team", "classic"])
def test_ratings_and_forecasts_are_those_they_had(kind, tmp_path):
    book, told = opened(kind, tmp_path)
    assert book.path == tmp_path / f"{kind}.db" and files_of(tmp_path / kind) == files_of(KEPT / kind)
    assert sum("60 matches were carried over into" in one for one in told) == 1
    assert ratings_of(book) == pytest.approx(EXPECTED[kind]["ratings"], rel=1e-12)
    fixture = kn.read_matches({"date": ["2024-06-01"], "home": ["T0"], "away": ["T1"]}, played=False)
    assert book.predict(fixture).probabilities[0] == pytest.approx(EXPECTED[kind]["forecast"], abs=1e-9)
    assert sum("lie 1.60 times as far apart" in one for one in told) == (1 if kind == "team" else 0)  # κ = 1.2
    assert book.check() == []


def test_a_book_goes_on_in_its_own_points_under_either_name(tmp_path):
    book, _ = opened("team", tmp_path)
    book.add(further())
    carried = ratings_of(book)
    for path in (tmp_path / "team", tmp_path / "team.db"):
        with pytest.warns(kn.KineloWarning, match="lie 1.60 times"):
            assert ratings_of(kn.RatingBook(path)) == carried
    book.remove("later")
    book.add(further())  # taking out rates all matches again
    assert ratings_of(book) == pytest.approx(carried, rel=1e-11)
    assert abs(carried["T2"] - EXPECTED["team"]["ratings"]["T2"]) > 1


def test_the_batch_estimate_is_computed_anew(tmp_path):
    """In today's points, which lie closer together where there are draws."""
    book, told = opened("bradley_terry", tmp_path)
    now, then = (
        np.array([table[f"T{k}"] for k in range(6)]) - 1500.0
        for table in (ratings_of(book), EXPECTED["bradley_terry"]["ratings"])
    )
    wider = then @ now / (now @ now)
    assert wider > 1.2
    np.testing.assert_allclose(now * wider, then, rtol=0.02)
    book.add(further())
    assert len(told) == 1 and book.check() == []


JOURNAL = [
    {"match_id": "a", "date": "2024-01-01", "home": "A", "away": "B", "result": 1.0, "margin": 2.0, "neutral": False,
     "weight": 1.0, "source": "f" * 64, "row": 1, "condition surface": "clay", "home_player": ["x", "y"],
     "home_minutes": [90.0, None], "home_starter": [1, -1], "home_role": [None, "back"], "away_player": ["z"],
     "away_minutes": [None], "away_starter": [1], "away_role": [None]},
    {"match_id": f"{'f' * 16}:2", "date": "2024-01-02", "home": "B", "away": "C", "result": 0.5, "margin": None,
     "neutral": True, "weight": 0.5, "source": "f" * 64, "row": 2, "condition surface": None},
]  # fmt: skip
RACE = {
    "match_id": "r1", "date": "2024-01-01", "weight": 1.0, "entrant": ["A", "B", "C"], "place": [1.0, 2.0, 3.0],
    "ended": [0, 0, 1], "kinds": ["driver", "tyre"], "slots": [[["A"], ["B"], ["C"]], [["soft"], [], ["soft"]]],
    "advantages": ["tyre"], "title": "Prize", "distance": [1.0, None, 0.5],
}  # fmt: skip


def folder_of(tmp_path, about, *records: bytes) -> Path:
    """A folder as 0.4 wrote it."""
    folder, buffer = tmp_path / "old", BytesIO()
    folder.mkdir(exist_ok=True)
    np.savez(buffer, about=np.array(json.dumps({"version": 3, "systems": []} | about)))
    (folder / "book.knl").write_bytes(framed(buffer.getvalue()))
    (folder / "matches.knl").write_bytes(b"".join(map(framed, records)))
    return folder


OF_MATCHES = {"rater": "kinelo.raters.team.rater:TeamElo", "settings": {"conditions": ["surface"]}, "parameters": {}}
OF_RACES = {"rater": "kinelo.raters.rank.rater:RankElo", "settings": {"walk": 0.3}, "parameters": {}}


def lines(*rows) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in rows).encode()


@pytest.mark.filterwarnings("ignore:The rating book .* is of an earlier version")
def test_everything_of_a_match_and_of_a_contest_is_carried_over(tmp_path):
    more = JOURNAL[1] | {"match_id": "c", "row": 3}
    records = lines(*JOURNAL, more), b'{"removed": ["c"]}\n' + lines(JOURNAL[0] | {"weight": 2.0})
    held = kn.RatingBook(folder_of(tmp_path, OF_MATCHES, *records)).matches()
    assert held.match_id.tolist() == ["a", f"{'f' * 16}:2"] and held.weight.tolist() == [2.0, 0.5]
    assert held.neutral.tolist() == [False, True] and np.isnan(held.margin[1])
    assert held.conditions["surface"].names().to_list() == ["clay", None]
    assert held.lineups.names(0, 0) == ("x", "y") and held.lineups.starter.tolist() == [1, -1, 1]
    races = kn.RatingBook(_races(tmp_path)).matches()
    assert races.titles == ("Prize",) and races.ended.tolist() == [0, 0, 1] and races.advantages == ("tyre",)
    assert races.distance.tolist() == pytest.approx([1.0, np.nan, 0.5], nan_ok=True)


def _races(tmp_path):
    (tmp_path / "races").mkdir()
    return folder_of(tmp_path / "races", OF_RACES, lines(RACE))


NO_MATCH = [
    {"result": 7.0}, {"result": None}, {"away": None}, {"neutral": None}, {"weight": -1.0}, {"date": "9020-05-01"},
    {"date": "May"}, {"margin": 1e305}, {"row": None}, {"away": "A"}, {"home_player": ["x"]}, {"source": 5},
]  # fmt: skip
NO_RACE = [
    {"entrant": ["A", "B"]}, {"place": [1.0]}, {"ended": [0, 0, 9]}, {"slots": [[["A"], ["B"]], [[], [], []]]},
    {"slots": [[["A"], ["B"], ["C"]]]}, {"entrant": ["A", "A", "C"]}, {"entrant": [], "place": [], "ended": [],
    "distance": None, "slots": [[], []]}, {"date": "9020-05-01"}, {"weight": None}, {"distance": [2.0, 1.0, 1.0]},
    {"place": [float("nan"), 1.0, 2.0]}, {"kinds": []}, {"slots": [[[], [], []], [[], [], []]]},
]  # fmt: skip
NO_RECORD = [b"x\n", b"{}\n", b"[1]\n", b'{"removed": 5}\n', b'{"removed"\n', b"\n", b"[" * 100_000 + b"\n"]


@pytest.mark.parametrize("spoilt", [*NO_RECORD, *NO_MATCH, *NO_RACE], ids=str)
def test_records_that_nobody_wrote_are_refused(spoilt, tmp_path):
    race = spoilt in NO_RACE
    whole = spoilt if isinstance(spoilt, bytes) else lines((RACE if race else JOURNAL[0]) | spoilt)
    folder = folder_of(tmp_path, OF_RACES if race else OF_MATCHES, whole)
    before = files_of(folder)
    with pytest.raises(kn.InputError, match=r"matches\.knl holds a record that Kinelo did not write") as refused:
        kn.RatingBook(folder)
    assert "\n" not in str(refused.value) and files_of(folder) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old"], "reading makes no file"


def test_every_flipped_bit_and_every_cut_is_noticed_or_harmless(tmp_path):
    """A record cut at its end never counted; one bit turned anywhere is damage."""
    folder = folder_of(tmp_path, OF_MATCHES, lines(JOURNAL[0]), lines(JOURNAL[1]))
    from kinelo.book.folders import _records

    journal = folder / "matches.knl"
    content, payloads = journal.read_bytes(), [lines(JOURNAL[0]), lines(JOURNAL[1])]
    ends = np.cumsum([0, *(len(framed(one)) for one in payloads)])
    for cut in range(0, len(content) + 1, 7):
        journal.write_bytes(content[:cut])
        assert _records(journal) == payloads[: int(np.searchsorted(ends, cut, side="right")) - 1]
    for bit in range(0, 8 * len(content), 11):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        journal.write_bytes(flipped)
        with pytest.raises(kn.InputError, match="damaged at byte"):
            _records(journal)


@pytest.mark.parametrize("harm", ["version", "first", "bomb", "fifo", "deep", "torn"])
def test_folders_that_are_no_books_are_refused_in_a_sentence(harm, tmp_path):
    import os

    folder = folder_of(tmp_path, OF_MATCHES | ({"version": 99} if harm == "version" else {}), lines(JOURNAL[0]))
    file = folder / "book.knl"
    if harm == "first":
        (folder / "matches.knl").write_bytes(b"KINELO1 200 0a1b2c3d\n" + b"x" * 200)
    elif harm == "bomb":
        buffer = BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for k in range(9):
                archive.writestr(f"x{k}.npy", b"\0" * (1 << 25))
        file.write_bytes(framed(buffer.getvalue()))
    elif harm == "fifo":
        (folder / "matches.knl").unlink()
        os.mkfifo(folder / "matches.knl")
    elif harm == "deep":
        buffer = BytesIO()
        np.savez(buffer, about=np.array("[" * 100_000))
        file.write_bytes(framed(buffer.getvalue()))
    elif harm == "torn":
        file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(kn.InputError) as refused:
        kn.RatingBook(folder)
    assert "\n" not in str(refused.value) and not (tmp_path / "old.db").exists()
