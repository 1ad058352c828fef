"""A reading kept beside a file is taken by every reader, once and in full, or refused in a sentence."""

import os

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn
from kinelo.matches.kinds import CONTESTS, MATCHES
from kinelo.matches.reading import answers_for
from kinelo.matches.reading_file import FORMS, LARGEST, OF_ONE, kept_reading, reading_file, reading_text

ROWS = "day,one,two,goals\n01/02/2024,Ann,Bob,2-1\n03/02/2024,Bob,Cid,0-0\n02/02/2024,Cid,Anne,0-3\n"
RACES = "cup,who,pts,lane\n1,Ann,9,x\n1,Bob,5,y\n1,Cid,7,x\n2,Ann,1,y\n2,Bob,2,x\n2,Cid,DNS,y\n"
KEPT = """kind = "matches"
dates = "mdy"
[columns]
home = "one"
away = "two"
result = "goals"
[aliases]
Anne = "Ann"
"""


@pytest.fixture
def results(tmp_path):
    (tmp_path / "r.csv").write_text(ROWS)
    (tmp_path / "r.csv.kinelo.toml").write_text(KEPT)
    return tmp_path / "r.csv"


def same(one, other):
    return one.to_polars().equals(other.to_polars())


def test_matches_are_read_as_their_reading_says_which_is_noted_once(results):
    columns = {"home": "one", "away": "two", "result": "goals"}
    reading_file(results).rename(results.with_name("aside"))
    twin = kn.read_matches(results, columns=columns, dates="mdy", aliases={"Anne": "Ann"})
    results.with_name("aside").rename(reading_file(results))
    for path in (results, str(results)):
        found = kn.read_matches(path)
        assert same(found, twin) and found.notes == ("the file was read as r.csv.kinelo.toml says", *twin.notes)
    assert str(found.date[0]) == "2024-01-02" and found.teams == ("Ann", "Bob", "Cid")
    frame = kn.read_matches(pl.read_csv(results), columns=columns, dates="dmy")  # a frame has no file beside it
    assert "Anne" in frame.teams and not any("kinelo.toml" in note for note in frame.notes)


def test_what_is_asked_counts_before_what_is_kept(results):
    found = kn.read_matches(results, dates="dmy", columns={"home": "two", "away": "one"}, aliases={"Bob": "Rob"})
    plain = kn.read_matches(results)
    assert [str(day) for day in found.date] == ["2024-02-01", "2024-02-02", "2024-02-03"]
    assert set(found.teams) == {"Ann", "Rob", "Cid"} and set(plain.teams) == {"Ann", "Bob", "Cid"}
    assert found.result.tolist() == [0.0, 1.0, 0.5]  # scores follow the order of their columns
    assert found.teams[found.home[0]] == "Rob"


def test_contests_are_read_as_their_reading_says(tmp_path):
    path = tmp_path / "races.csv"
    path.write_text(RACES)
    columns = {"contest": "cup", "entrant": "who", "score": "pts"}
    asked = {"columns": columns, "best": "lowest", "advantages": {"lane": ["lane"]}, "not_started": "last"}
    twin = kn.read_contests(path, **asked)
    reading_file(path).write_text(reading_text("races.csv", CONTESTS, asked))
    found = kn.read_contests(path)
    assert same(found, twin) and found.notes[1:] == twin.notes and found.kinds == twin.kinds
    assert not same(found, kn.read_contests(path, best="highest"))
    with pytest.raises(kn.InputError, match=r"holds contests: read it with kinelo.read_contests"):
        kn.read_matches(path)


@pytest.mark.parametrize("key", ["home", "team", "lane"])
def test_a_reading_of_columns_that_are_gone_is_refused(key, tmp_path):
    path, other = tmp_path / "f.csv", {"home": ROWS.replace("one", "first"), "lane": RACES.replace("lane", "track")}
    path.write_text(other.get(key, RACES))
    kept = {
        "home": KEPT,
        "team": 'kind = "contests"\nteam = "crew"',
        "lane": 'kind = "contests"\n[slots]\nlane = "lane"',
    }
    reading_file(path).write_text(kept[key])
    read = kn.read_matches if key == "home" else kn.read_contests
    with pytest.raises(kn.InputError, match=rf"f.csv.kinelo.toml says that '{key}' is the column .* no longer has"):
        read(path)
    if key == "home":
        assert len(kn.read_matches(path, columns={"home": "first"}, dates="dmy")) == 3


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("kind = 3", "must say kind = 'matches' or 'contests', not 3"),
        ("", "must say kind"),
        ("kind = [", "is not TOML"),
        ('kind = "matches"\nslots = {a = "b"}', "has the key 'slots'; of matches it may hold columns"),
        ('kind = "contests"\nresults = "points"', "has the key 'results'; of contests it may hold"),
        ('kind = "matches"\nlineups = "/etc/passwd"', "has the key 'lineups'"),
        ('kind = "matches"\nordered = "yes"', "ordered must be true or false"),
        ('kind = "matches"\ndates = 3', "dates must be a text"),
        ('kind = "matches"\naliases = "names.csv"', "aliases must be a table of names"),
        ('kind = "matches"\n[columns]\nhome = 3', "columns must be a table of names"),
        ('kind = "contests"\n[slots]\na = []', "slots must be a table of names"),
        ('kind = "matches"\n[columns]\nside_one = "one"', "speaks of 'side_one'"),
        ('kind = "matches"\ndates = "xyz"', "no order of dates"),
        ("x = " + "[" * 5000, "nested too deeply|not TOML"),
    ],
)
def test_a_reading_of_a_stranger_is_refused_in_a_sentence(text, sentence, results):
    reading_file(results).write_text(text)
    read = kn.read_contests if "contests" in text else kn.read_matches
    with pytest.raises(kn.InputError, match=sentence) as refused:
        read(results)
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 1000


def test_a_large_reading_and_what_is_no_file_are_no_reading_to_wait_for(results):
    reading_file(results).write_text("#" * (LARGEST + 1))
    with pytest.raises(kn.InputError, match="has more than 1,048,576 bytes"):
        kn.read_matches(results)
    reading_file(results).unlink()
    os.mkfifo(reading_file(results))
    assert kept_reading(results) == (None, {})
    assert kept_reading("x" * 5000) == kept_reading("a\0b") == kept_reading(7) == (None, {})


def test_files_in_pieces_have_one_reading(results):
    part = results.with_name("s.csv")
    part.write_text(ROWS.replace("/02/", "/03/"))
    both = [results, part]
    twin = kn.matches.scan_matches(
        both, {"home": "one", "away": "two", "result": "goals"}, dates="mdy", aliases={"Anne": "Ann"}
    )
    reading_file(results).write_text(KEPT.replace("mdy", "dmy"))
    scan = kn.matches.scan_matches(both)
    assert scan.columns == twin.columns and scan.options == {**twin.options, "dates": "dmy"}
    reading_file(part).write_text(KEPT)
    with pytest.raises(kn.InputError, match="are kept to be read in two ways"):
        kn.matches.scan_matches(both)
    reading_file(part).unlink()
    reading_file(results).write_text(KEPT.replace('dates = "mdy"', "ordered = true"))
    with pytest.raises(kn.InputError, match="says ordered, which files that are read in pieces do not take"):
        kn.matches.scan_matches(both)


SIGNS = st.one_of(st.sampled_from('"\\\x7f\n='), st.characters())
NAMES = st.dictionaries(st.text(SIGNS, max_size=8), st.text(SIGNS, max_size=8), min_size=1, max_size=3)
OF_FORM = {"a text": st.text(SIGNS, min_size=1), "true or false": st.just(True), "a table of names": NAMES,
           "a table of names, or of lists of them": NAMES}  # fmt: skip


@settings(max_examples=40)
@given(st.data(), st.sampled_from([MATCHES, CONTESTS]))
def test_what_is_kept_is_what_was_said(tmp_path_factory, data, kind):
    """Whatever signs names hold, a reading that is written and read again is the same."""
    keys = [key for key in FORMS if OF_ONE.get(key, kind) is kind]
    chosen = data.draw(st.lists(st.sampled_from(keys), unique=True, max_size=4))
    answers = {
        key: data.draw(OF_FORM[FORMS[key]].filter(lambda value: value not in ("behind", "out"))) for key in chosen
    }
    path = tmp_path_factory.mktemp("kept") / "r.csv"
    reading_file(path).write_bytes(reading_text("r\n[x].csv", kind, answers).encode())
    assert kept_reading(path) == (kind, answers)
    assert answers_for(path, kind, dict.fromkeys(answers))[0] == answers
