"""Files that are damaged or oddly written: one sentence or the right matches, never a traceback."""

import gzip
import io
import itertools
import json
import os
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinelo as kn
from kinelo.cli import main
from kinelo.matches.columns import distinct_names
from kinelo.matches.loading import damage_in_words

TABLE = pl.DataFrame(
    {"date": ["2024-01-01", "2024-01-02", "2024-01-03"], "home": ["A", "B", "C"], "away": ["B", "C", "A"]}
).with_columns(pl.col("date").str.to_date(), result=pl.Series([1.0, 0.5, 0.0]))
TEXT = "date,home,away,result\n2024-01-01,A,B,1\n2024-01-02,B,C,0.5\n2024-01-03,C,A,0\n"


def written(kind: str) -> bytes:
    if kind == "parquet":
        buffer = io.BytesIO()
        TABLE.write_parquet(buffer)
        return buffer.getvalue()
    if kind == "jsonl":
        return TABLE.write_ndjson().encode()
    if kind == "json":
        return json.dumps(TABLE.to_dicts(), default=str).encode()
    if kind == "csv.gz":
        return gzip.compress(TEXT.encode(), mtime=0)
    return TEXT.encode({"csv": "utf-8", "utf-16.csv": "utf-16", "utf-32.csv": "utf-32"}[kind])


def read(path, raw: bytes):
    path.write_bytes(raw)
    return kn.read_matches(path)


@pytest.mark.parametrize("kind", ["parquet", "csv", "utf-16.csv", "utf-32.csv", "csv.gz", "json", "jsonl"])
def test_a_file_cut_anywhere_is_read_as_far_as_it_goes_or_refused(kind, tmp_path):
    raw = written(kind)
    assert read(tmp_path / f"m.{kind}", raw).result.tolist() == [1.0, 0.5, 0.0]
    for end in range(0, len(raw), len(raw) // 40 | 1):  # odd, so that letters of two and four bytes are cut too
        try:
            matches = read(tmp_path / f"m.{kind}", raw[:end])
        except kn.InputError as error:
            said = str(error)
        else:
            said = ""
            assert kind != "parquet" and set(matches.teams) <= {"A", "B", "C"}
        assert "\n" not in said and len(said) < 600


def test_a_scan_of_a_cut_parquet_file_is_a_sentence(tmp_path):
    raw = written("parquet")
    (tmp_path / "m.parquet").write_bytes(raw[:-40])
    with pytest.raises(kn.InputError, match=r"m\.parquet could not be read as Parquet: "):
        kn.matches.scan_matches(tmp_path / "m.parquet").collect()


def panic(*_, **__):
    os.write(2, b"thread panicked at index out of bounds\nnote: run with RUST_BACKTRACE=1\n")
    raise pl.exceptions.PanicException("index out of bounds")


def test_a_panic_of_the_reader_is_a_sentence_everywhere(tmp_path, monkeypatch, capfd):
    path = tmp_path / "m.parquet"
    path.write_bytes(written("parquet"))
    for name in ("read_parquet", "scan_parquet", "read_parquet_schema"):
        monkeypatch.setattr(pl, name, panic)
    said = "m.parquet is damaged: it could not be read as Parquet."
    for use in (
        lambda: kn.read_matches(path),
        lambda: kn.read_matches(TABLE, lineups=path),
        lambda: kn.read_matches(TABLE, aliases=path),
        lambda: kn.matches.scan_matches(path).collect(),
    ):
        with pytest.raises(kn.InputError, match=said):
            use()
    capfd.readouterr()
    monkeypatch.setattr("warnings.showwarning", warnings.showwarning)
    monkeypatch.setattr("sys.argv", ["kinelo", "rate", str(path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2 and capfd.readouterr().err == f"kinelo: {tmp_path}/{said}\n"
    from kinelo.lab.rate.tables import read_table

    with pytest.raises(kn.InputError, match=r"league\.parquet is damaged"):
        read_table("results", path, "league.parquet", 100, 10)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError, SystemExit])
def test_what_is_no_damage_passes(stop, tmp_path, monkeypatch):
    path = tmp_path / "m.parquet"
    path.write_bytes(written("parquet"))

    def stopped(*_, **__):
        raise stop

    with pytest.raises(stop), damage_in_words("m"):
        stopped()
    monkeypatch.setattr(pl, "read_parquet", stopped)
    with pytest.raises(stop):
        kn.read_matches(path)
    monkeypatch.setattr("kinelo.matches.loading._plain", stopped)
    with pytest.raises(stop):
        kn.read_matches(TABLE)


@pytest.mark.parametrize("codec", ["utf-32", "utf-32-le", "utf-32-be"])
def test_four_bytes_a_letter(codec, tmp_path):
    matches = read(tmp_path / "m.csv", TEXT.replace("A", "Ōita").encode(codec))
    assert "Ōita" in matches.teams and matches.result.tolist() == [1.0, 0.5, 0.0]
    assert "the file was read as UTF-32" in matches.notes


def test_carriage_returns_that_end_some_lines_only(tmp_path):
    lines = TEXT.splitlines()
    for ends in itertools.product(("\r", "\n", "\r\n"), repeat=len(lines)):
        if "\r" in ends[1:] and ends[0] != "\r":
            continue  # one in the middle of the rows may be part of a name
        matches = read(tmp_path / "m.csv", "".join(map("".join, zip(lines, ends))).encode())
        assert matches.result.tolist() == [1.0, 0.5, 0.0] and matches.teams == ("A", "B", "C"), ends
    quoted = TEXT.replace("date", '"match\rdate"').encode()
    assert read(tmp_path / "m.csv", quoted).result.tolist() == [1.0, 0.5, 0.0]


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.text('\r\n",;ab\0 é', max_size=12), st.integers(0, 60))
def test_any_scrap_anywhere_is_a_table_or_a_sentence(scrap, place):
    raw = (TEXT[:place] + scrap + TEXT[place:]).encode()
    from kinelo.matches.loading import decode, read_csv

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pathlib.Path.is_file", lambda _: True)
        patch.setattr("pathlib.Path.read_bytes", lambda _: raw)
        patch.setattr("pathlib.Path.open", lambda *_: io.BytesIO(raw))
        try:
            matches = kn.read_matches("scrap.csv", accept_losses=True)
        except kn.InputError:
            pass
        else:
            table, broken, *_ = read_csv(decode(raw, "scrap.csv")[0])
            text = table.select(pl.all().str.strip_chars().replace("", None))
            empty = set(np.flatnonzero(text.select(pl.all_horizontal(pl.all().is_null())).to_series())) - set(broken)
            assert len(matches) + len(matches.rejected) == table.height - len(empty)
            assert set(broken) <= set(range(table.height))


def test_five_thousand_columns(tmp_path):
    others = [f"c{k}" for k in range(5_000)]
    header = ",".join(["date", "home", "away", "result", *others])
    row = "2024-01-01,A,B,1" + ",7" * len(others)
    matches = read(tmp_path / "wide.csv", f"{header}\n{row}\n".encode())
    assert matches.result.tolist() == [1.0]
    with pytest.raises(kn.InputError, match="no column for the home side") as refused:
        read(tmp_path / "wide.csv", f"{header.replace('home', 'x')}\n{row}\n".encode())
    assert len(str(refused.value)) < 1000 and "and 4,984 more" in str(refused.value)
    with pytest.raises(kn.InputError, match="two columns called 'c4999'"):
        distinct_names([*header.split(","), "c4999"])
