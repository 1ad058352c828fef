"""The page docs/service.md ("service.md"): its code runs as it stands, and its service answers as the book does."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import kinelo as kn

PAGE = Path(__file__).parents[2] / "docs" / "service.md"
MATCHES = kn.read_matches(kn.sample_league(teams=8, seasons=2, seed=1).results).to_polars()


def blocks():
    return re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def test_the_examples_run_in_order(tmp_path, monkeypatch, capsys):
    pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks():
        exec(compile(block, str(PAGE), "exec"), names)
    assert names["forecast"] is not None and names["search"].best_params_["k"] in (10, 20, 40)
    assert capsys.readouterr().out.count("[") >= 2


@pytest.fixture
def client(tmp_path, monkeypatch):
    testing = pytest.importorskip("starlette.testclient")
    monkeypatch.chdir(tmp_path)
    names = {}
    (code,) = [block for block in blocks() if "Starlette(" in block]
    assert len([line for line in code.splitlines() if line.strip()]) <= 35
    exec(compile(code, "service.py", "exec"), names)
    with testing.TestClient(names["app"]) as client:
        yield client


def row(k):
    match = MATCHES.row(k, named=True)
    return {name: match[name] for name in ("home", "away", "result")} | {
        "match_id": f"m{k}",
        "date": str(match["date"]),
    }


def test_the_service_answers_as_the_book_does(client, tmp_path):
    for k in range(30):
        assert client.post("/result", json=row(k)).json() == {"new": 1, "known": 0, "changed": 0}
    assert client.post("/result", json=row(3)).json() == {"new": 0, "known": 1, "changed": 0}
    book = kn.RatingBook(tmp_path / "ratings.db")
    assert len(book) == 30
    home, away = row(29)["home"], row(29)["away"]
    said = client.get("/forecast", params={"home": home, "away": away, "date": "2030-01-01"}).json()
    expected = book.predict_one(home, away, date="2030-01-01").probabilities[0]
    assert [said["win"], said["draw"], said["loss"]] == expected.tolist() and said["unknown"] == []
    assert client.get("/forecast", params={"home": home, "away": "nobody"}).json()["unknown"] == ["nobody"]
    others = [name for name in book.ratings_["name"].to_list() if name != home]
    ranked = client.get("/candidates", params={"home": home, "away": others}).json()
    quality = dict(zip(others, kn.match_quality(book, home, others, neutral=True).tolist()))
    assert ranked == quality and list(ranked) == sorted(quality, key=quality.__getitem__, reverse=True)


def test_the_service_refuses_in_one_sentence(client):
    client.post("/result", json=row(0))
    for answer in (
        client.get("/forecast", params={"home": "A", "away": "A"}),
        client.get("/forecast", params={"home": "A", "away": "B", "date": "soon"}),
        client.post("/result", json=row(1) | {"result": "victory of the best"}),
    ):
        assert answer.status_code == 422
        assert len(answer.json()["error"]) > 20


def test_another_process_is_seen_at_once(tmp_path):
    matches = kn.read_matches(MATCHES)
    writer = kn.RatingBook(tmp_path / "book", kn.TeamElo.classic(k=24))
    reader = kn.RatingBook(tmp_path / "book")
    assert reader.ratings_.height == 0 and not reader.refresh()
    writer.add(matches[:20])
    assert reader.refresh() and not reader.refresh()
    assert len(reader) == 20 and reader.ratings_.equals(writer.ratings_)


@pytest.mark.parametrize("kind", ["TeamElo", "Glicko", "BradleyTerry", "RankElo"])
def test_a_pickled_rater_carries_on_to_the_same_bits(kind):
    matches = kn.read_matches(MATCHES)
    rater = getattr(kn, kind)().fit(matches[:40])
    again = pickle.loads(pickle.dumps(rater))
    for one in (rater, again, copy.deepcopy(rater)):
        one.update(matches[40:])
    assert again.ratings_.equals(rater.ratings_)
    pair = MATCHES["home"][0], MATCHES["away"][0]
    assert np.array_equal(again.predict_one(*pair).probabilities, rater.predict_one(*pair).probabilities)
