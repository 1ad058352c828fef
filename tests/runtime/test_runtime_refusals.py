"""What files and tables of other libraries are refused for, word by word."""

import socket
import sys

import pytest

import kinelo as kn
from kinelo.runtime.atomic import write_file
from kinelo.runtime.frames import to_pandas
from refusals import check_refusal


def test_a_socket_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a path of a socket is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("x.sock")
        sentence = "x.sock is neither a file nor a pipe nor a terminal; name a file to write to."
        check_refusal((lambda: write_file("x.sock", b"1"), sentence))
        check_refusal((lambda: write_file(tmp_path, b"1"), f"{tmp_path} is a folder; name a file to write to."))


@pytest.mark.parametrize(
    ("table", "hidden", "sentence"),
    [
        (7, False, "to_pandas takes a table of Kinelo, such as ratings_ of a rater, matches or a forecast."),
        (None, True, "to_pandas needs pandas, which is not installed."),
    ],
)
def test_tables_for_pandas(table, hidden, sentence, monkeypatch):
    rater = kn.TeamElo.classic(k=20).update(kn.read_matches({"home": ["A"], "away": ["B"], "result": [1]}))
    if hidden:
        monkeypatch.setitem(sys.modules, "pandas", None)
    check_refusal((lambda: to_pandas(rater.ratings_ if table is None else table), sentence))
