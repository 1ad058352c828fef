"""A book over HTTP: its answers are those of the book, and what cannot be used is refused in one sentence."""

from __future__ import annotations

import asyncio
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import kinelo as kn
from kinelo.book.milestones import milestones
from kinelo.book.tiers import moved_by_luck, tier_board
from kinelo.decisions.queueing import Lobbies, Ticket, form_lobbies
from kinelo.raters.noise import NoiseFactors
from leagues import match_league
from patience import PATIENCE

pytest.importorskip("fastapi", reason="FastAPI is not installed (kinelo[serve])")
testing = pytest.importorskip("starlette.testclient")
from kinelo.service import doors  # noqa: E402
from kinelo.service import wording as say  # noqa: E402
from kinelo.service.app import READERS, Together, create_app  # noqa: E402
from kinelo.service.guard import MOST_AT_ONCE, MOST_STRANGERS, Guard  # noqa: E402
from kinelo.service.metrics import Metrics  # noqa: E402
from kinelo.service.settings import Settings  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::kinelo.KineloWarning")
LEAGUE = match_league(1).results.sort("date", maintain_order=True)
RATERS = {
    "classic": lambda: kn.TeamElo.classic(k=24),
    "Glicko from ratings": lambda: kn.Glicko(start={"Ajax": 1700, "Nobody": 1450}),
    "KalmanElo": lambda: kn.KalmanElo(walk=30.0, prior_spread=200.0, covariance="full"),
}
TOKEN = "a token of some length"


def serve(book: kn.RatingBook | str, **settings):
    address = str(book.path) if isinstance(book, kn.RatingBook) else book
    return testing.TestClient(create_app(Settings(address, **settings)), base_url="http://127.0.0.1:8000")


def row(k: int, **more) -> dict:
    match = LEAGUE.row(k, named=True)
    result = (match["home_score"] > match["away_score"]) + 0.5 * (match["home_score"] == match["away_score"])
    said = {"match_id": f"m{k}", "date": str(match["date"]), "home": match["home"], "away": match["away"]}
    return said | {"result": float(result), "neutral": match["neutral"], "weight": match["weight"]} | more


def added(answer) -> tuple[int, int, int]:
    assert answer.status_code == 200, answer.text
    said = answer.json()
    return said["new"], said["known"], said["changed"]


def refused(answer, status: int = 422) -> str:
    assert answer.status_code == status, answer.text
    sentence = answer.json()["error"]
    assert set(answer.json()) == {"error"} and sentence.endswith((".", "…")) and "\n" not in sentence, sentence
    assert len(sentence) < 400 and "Traceback" not in sentence
    return sentence


def test_matches_sent_one_by_one_and_together_are_those_of_a_table(address, tmp_path):
    book = kn.RatingBook(address, kn.TeamElo.classic(k=24))
    with serve(book) as client:
        for k in range(8):
            assert added(client.post("/matches", json=row(k))) == (1, 0, 0)
        assert added(client.post("/matches", json=row(3))) == (0, 1, 0)
        assert added(client.post("/matches", json=[row(k) for k in range(4, 30)])) == (22, 4, 0)
        assert added(client.post("/matches", json=[])) == (0, 0, 0)
        assert added(client.post("/matches", json=row(5, result=0.0 if row(5)["result"] else 1.0))) == (0, 0, 1)
        assert added(client.post("/matches", json=row(5))) == (0, 0, 1)
        # All or none: the last of these cannot be used.
        assert "itself" in refused(client.post("/matches", json=[row(30), row(31, away=row(31)["home"])]))
    other = kn.RatingBook(tmp_path / "other.db", kn.TeamElo.classic(k=24))
    other.add([row(k) for k in range(30)])
    assert len(book) == 30 and book.ratings_.equals(other.ratings_) and book.check() == []


def test_matches_that_arrive_late_one_by_one_are_rated_in_their_place(tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", kn.TeamElo.classic(k=24, ties=0.3, home_advantage=0.0))
    for k in (0, 5, 9, 2, 20, 7, 21, 1):
        book.update_one(**row(k))
    assert book.check() == [] and book.matches().match_id.tolist()[-1] == "m21"


def test_a_match_sent_again_without_a_date_keeps_its_day(tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", kn.TeamElo.classic(k=24))
    with serve(book) as client:
        undated = {"match_id": "x", "home": "Ajax", "away": "Genk", "result": "win"}
        client.post("/matches", json=[row(0), row(1)])
        assert added(client.post("/matches", json=undated)) == (1, 0, 0)
        assert added(client.post("/matches", json=row(40))) == (1, 0, 0)
        assert row(40)["date"] > row(1)["date"]
        assert added(client.post("/matches", json=undated)) == (0, 1, 0)
        assert added(client.post("/matches", json=[undated])) == (0, 1, 0)


def lucky(rater: kn.Rater | kn.RankElo, **levels: float):
    """A rater to which results under some levels of ``luck`` say more than under others."""
    names = {("luck", level): k for k, level in enumerate(levels)}
    rater._noise = NoiseFactors(names, np.log([*levels.values()]), np.full(len(levels), 0.1), np.full(len(levels), 9))
    return rater


def test_circumstances_of_matches_and_contests_are_carried(tmp_path):
    """Of every door: what is said counts as the book counts it, and otherwise than where nothing is said."""
    little, none = {"conditions": {"luck": "little"}}, {"conditions": {"luck": None}}
    raters = {
        "matches": kn.TeamElo(20.0, prior_spread=150.0, noise_by=["luck"]),
        "contests": kn.RankElo(walk=0.3, prior_spread=0.9, newcomer=0.0, regression=0.1, noise_by=["luck"]),
    }
    for noun, rater in raters.items():
        book = kn.RatingBook(tmp_path / f"{noun}.db", lucky(rater, little=0.4, much=2.0))
        twin = kn.RatingBook(tmp_path / f"twin of {noun}.db", lucky(rater, little=0.4, much=2.0))
        for k in range(6):
            day, level = f"2024-05-0{k + 1}", ["little", "much"][k % 2]
            pair, said = ["A", "B"][:: 1 - 2 * (k == 3)], {"date": day, "conditions": {"luck": level}}
            sent = {"match_id": f"m{k}", "home": pair[0], "away": pair[1], "result": "win"}
            if noun == "contests":
                sent = {"contest_id": f"m{k}", "order": [*pair, "C"]}
            with serve(book) as client:
                assert added(client.post(f"/{noun}", json=sent | said)) == (1, 0, 0)
                assert added(client.post(f"/{noun}", json=sent | said)) == (0, 1, 0)
            if noun == "matches":
                twin.update_one(*pair, "win", match_id=f"m{k}", **said)
            else:
                twin.update_one([*pair, "C"], match_id=f"m{k}", **said)
        assert book.ratings_.equals(twin.ratings_) and book.check() == []
        asked = {"home": "A", "away": "B"} if noun == "matches" else {"entrants": ["A", "B", "C"]}
        field = list(asked.values()) if noun == "matches" else [asked["entrants"]]
        with serve(book) as client:
            sharp, usual, unsaid = (client.post("/forecast", json=asked | more).json() for more in (little, {}, none))
            first = book.predict_one(*field, **little)
            chance = (lambda one: one["win"]) if noun == "matches" else (lambda one: one["entrants"][0]["win"])
            assert chance(sharp) == (first.probabilities[0, 0] if noun == "matches" else first.win[0])
            assert chance(sharp) > chance(usual) == chance(unsaid)
            strange = {"conditions": {"luck": "none at all"}}
            with pytest.warns(kn.KineloWarning, match="nothing is known of its luck"):
                told = book.predict_one(*field, **strange).notes
            assert client.post("/forecast", json=asked | strange).json()["notes"] == list(told)
            assert told == ("'none at all' is no 'luck' that was met ('little', 'much'): nothing is known of its luck",)
            assert [one["notes"] for one in (sharp, usual, unsaid)] == [[], [], []]
            options = {"options": [asked | little, asked, asked | none]}
            ranked = {one["option"]: one["quality"] for one in client.post("/quality", json=options).json()["ranked"]}
            assert ranked[0] == kn.match_quality(book, *field, **little) < ranked[1] == ranked[2]
            wide, narrow = (client.post("/preview", json=asked | more).json()["people"][0] for more in ({}, little))
            assert narrow["after"] != wide["after"]
            assert "weather" in refused(client.post("/forecast", json=asked | {"conditions": {"weather": "wet"}}))


@pytest.mark.parametrize("name", RATERS)
def test_ratings_and_forecasts_are_those_of_the_book(name, tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", RATERS[name]())
    book.add([row(k) for k in range(60)])
    table = book.ratings_
    sides = table["name"].to_list()
    with serve(book) as client:
        pages = [client.get("/ratings", params={"offset": k, "limit": 4}).json() for k in range(0, table.height, 4)]
        shown = [one for page in pages for one in page["ratings"]]
        assert {page["total"] for page in pages} == {table.height} and [one["name"] for one in shown] == sides
        for ours, theirs in zip(shown, table.iter_rows(named=True), strict=True):
            assert all(ours[word] == theirs.get(word) for word in ("rating", "uncertainty", "matches"))
            assert ours["last_played"] == (None if theirs["last_played"] is None else str(theirs["last_played"]))
        found = client.get("/ratings", params={"search": "aJ"}).json()["ratings"]
        assert [one["name"] for one in found] == [side for side in sides if "aj" in side.lower()] and found
        assert client.get("/ratings", params={"search": "%"}).json()["total"] == 0
        assert client.get("/ratings", params={"kind": "car"}).json()["total"] == 0
        asked = {"home": sides[0], "away": "Newcomer", "date": "2030-01-01"}
        said, theirs = client.post("/forecast", json=asked).json(), book.predict_one(**asked)
        assert [said[word] for word in ("win", "draw", "loss")] == theirs.probabilities[0].tolist()
        assert said["points"] == theirs.points[0] and said["unknown"] == ["Newcomer"]
        ranked = client.post("/quality", json={"player": sides[0], "candidates": sides[1:], "neutral": True}).json()
        quality = kn.match_quality(book, sides[0], sides[1:], neutral=True)
        best = sorted(zip(quality.tolist(), sides[1:]), key=lambda pair: -pair[0])
        assert [(one["quality"], one["candidate"]) for one in ranked["ranked"]] == best
        options = [{"home": sides[0], "away": sides[-1]}, {"home": sides[1], "away": sides[2]}]
        ranked = client.post("/quality", json={"options": options}).json()["ranked"]
        assert {one["option"]: one["quality"] for one in ranked} == {
            k: kn.match_quality(book, one["home"], one["away"]) for k, one in enumerate(options)
        }
        said = client.post("/preview", json={"home": sides[0], "away": sides[1], "date": "2030-01-01"}).json()
        expected = kn.preview(book.rater, sides[0], sides[1], date="2030-01-01", neutral=False).to_dict()
        change = said["people"][0]["change"]
        assert said == json.loads(json.dumps(expected)) and change["win"] > change["loss"]
        match = book.matches().match_id[20]
        said = client.post("/explain", json={"match_id": match}).json()
        assert said == json.loads(json.dumps(kn.explain(book, match).to_dict())) and len(said["people"]) == 2
        said = client.post("/explain", json={"of": sides[1], "last": 3}).json()
        assert said == json.loads(json.dumps(kn.explain_last(book, sides[1], last=3).to_dict()))
        assert len(said["steps"]) == 3
        assert "no match with the identifier" in refused(client.post("/explain", json={"match_id": "nothing"}))
        one = client.get(f"/ratings/{sides[2]}", params={"history": 9}).json()
        history = kn.rating_history(book.rater, book.matches(), 9, side=sides[2])
        assert one["name"] == sides[2] and one["rating"] == table["rating"][2]
        assert [then["rating"] for then in one["history"]] == history["rating"].to_list() and len(history) > 3
        assert "Nobody else" in refused(client.get("/ratings/Nobody else"), 404)


def test_teams_and_fields_share_one_rating(address):
    book = kn.RatingBook(address, kn.RankElo())
    teams = {"contest_id": "2×5", "order": [list("ABCDE"), list("FGHIJ")], "date": "2024-05-01"}
    field = {"contest_id": "all", "order": ["A", "F", "C", "G"], "ranks": [2, 1, 3, 3], "date": "2024-05-02"}
    with serve(book) as client:
        assert added(client.post("/contests", json=teams)) == (1, 0, 0)
        assert added(client.post("/contests", json=[teams, field])) == (1, 1, 0)
        assert added(client.post("/contests", json=teams)) == (0, 1, 0)
        asked = [list("ACEGI"), list("BDFHJ")]
        said = client.post("/forecast", json={"entrants": asked}).json()
        theirs = book.predict_one(asked)
        assert [one["win"] for one in said["entrants"]] == pytest.approx(theirs.win.tolist(), abs=1e-12)
        options = [{"entrants": [list("AB"), list("FG")]}, {"entrants": [list("AF"), list("BG")]}]
        ranked = client.post("/quality", json={"options": options}).json()["ranked"]
        assert ranked[0]["quality"] == max(kn.match_quality(book, one["entrants"]) for one in options)
        shown = client.get("/ratings").json()
        assert [(one["name"], one["rating"]) for one in shown["ratings"]] == book.ratings_.select(
            "name", "rating"
        ).rows()
        assert "/contests" in refused(client.post("/matches", json=row(0)))
    twin = kn.RankElo().update_one(teams["order"], date="2024-05-01")
    twin.update_one(field["order"], ranks=field["ranks"], date="2024-05-02")
    assert book.ratings_.equals(twin.ratings_) and book.check() == []


@pytest.mark.parametrize("make", [lambda: kn.RankElo(), lambda: kn.TeamElo.classic(k=24)])
def test_fair_teams_are_those_of_the_rater(make, tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", make())
    for k, (one, other) in enumerate([("A", "B"), ("A", "C"), ("D", "B"), ("E", "A"), ("C", "D")]):
        book.update_one([one, other], match_id=str(k), date="2024-05-01")
    asked = {"players": [*"ABCDE", "new"], "sides": [4, 2], "apart": [["A", "E"]], "best": 3}
    with serve(book) as client:
        answer = client.post("/balance", json=asked)
        assert answer.status_code == 200, answer.text
        assert "9 sides" in refused(client.post("/balance", json={"players": list("ABC"), "sides": 9}))
        said = client.post("/preview", json={"entrants": ["A", "B", "D"], "date": "2024-05-02"})
        why = client.post("/explain", json={"match_id": "3"}).json()
    assert why == json.loads(json.dumps(kn.explain(book, "3").to_dict())) and len(why["people"]) == 2
    expected = kn.preview(book.rater, ["A", "B", "D"], date="2024-05-02").to_dict()
    assert said.json() == json.loads(json.dumps(expected)) and len(expected["people"]) == 3
    expected = kn.balance(book.rater, asked["players"], [4, 2], apart=asked["apart"], best=3).to_dict()
    assert answer.json() == json.loads(json.dumps(expected)) and len(expected["splits"]) == 3
    assert expected["unknown"] == ["new"]


def test_matches_sent_at_once_are_each_answered(address, monkeypatch):
    """What is wrong with one is told to who sent it, and nobody waits for ever."""
    sent = [row(k) for k in range(12)]
    sent[3]["date"], sent[5]["home"], sent[7] = "2024-02-31", sent[5]["away"], sent[2]
    with serve(kn.RatingBook(address, kn.TeamElo.classic(k=24))) as client:
        assert added(client.post("/matches", json=row(20)))[0] == 1
        with ThreadPoolExecutor(12) as pool:
            answers = list(pool.map(lambda one: client.post("/matches", json=one), sent))
        assert "2024-02-31" in refused(answers[3]) and "itself" in refused(answers[5])
        counts = [added(answer)[:2] for k, answer in enumerate(answers) if k not in (3, 5)]
        assert sorted(counts) == [(0, 1)] + [(1, 0)] * 9
        monkeypatch.setattr("kinelo.book.book.RatingBook._update_each", lambda *words: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            client.post("/matches", json=row(30))
    assert kn.RatingBook(address).check() == []


def test_forecasts_asked_for_at_once_are_each_answered(address, monkeypatch):
    """Each as if nobody else had asked; what is wrong with one is told to who asked it."""
    book = kn.RatingBook(address, kn.TeamElo.classic(k=24, ties=0.3))
    book.add([row(k) for k in range(30)])
    asked = [{name: row(k)[name] for name in ("home", "away", "neutral")} for k in range(80)]
    asked[4]["date"], asked[9]["home"], asked[11]["home"] = "2024-02-31", asked[9]["away"], "Nobody"
    with serve(book) as client:
        with ThreadPoolExecutor(24) as pool:
            answers = list(pool.map(lambda one: client.post("/forecast", json=one), asked))
        assert "2024-02-31" in refused(answers[4]) and "itself" in refused(answers[9])
        assert answers[11].json()["unknown"] == ["Nobody"]
        for k in set(range(80)) - {4, 9}:
            expected = book.predict_one(**asked[k])
            assert [answers[k].json()[name] for name in ("win", "draw", "loss")] == expected.probabilities[0].tolist()
        monkeypatch.setattr("kinelo.book.book.RatingBook._predict_each", lambda *words: 1 // 0)
        if not str(book.path).startswith("/"):  # a forecast from a file waits for nobody
            with pytest.raises(ZeroDivisionError):
                client.post("/forecast", json=asked[0])


def test_many_who_ask_together_are_all_answered_and_let_others_in(monkeypatch):
    """Each gets the own answer; as many as a question holds go together, and what else is asked comes between."""
    monkeypatch.setattr("kinelo.service.app.MOST_TOGETHER", 7)
    taken: list[list[int] | str] = []

    def door(book: str, asked: list[int]) -> list[str]:
        taken.append(asked)
        if not taken[1:]:
            pool.submit(taken.append, "another")
        return [f"{book} {number}" for number in asked]

    async def ask() -> list[str]:
        together = Together(pool, door, "book")  # type: ignore[arg-type]
        asked = asyncio.gather(*(together.asked(number) for number in range(40)))
        return await asyncio.wait_for(asked, PATIENCE)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(time.sleep, 0.2)  # until all have asked
        assert asyncio.run(ask()) == [f"book {number}" for number in range(40)]
    together = [part for part in taken if part != "another"]
    assert list(map(len, together)) == [7, 7, 7, 7, 7, 5] and [one for part in together for one in part] == list(
        range(40)
    )
    assert taken.index("another") < len(taken) - 1


@pytest.mark.parametrize("every", [30, 10_000])
def test_who_is_watched_is_as_the_function_says(address, every, monkeypatch):
    """From the book's last checkpoint before the day, and from its beginning."""
    monkeypatch.setattr("kinelo.book.carrying.EVERY", every)
    rng, start = np.random.default_rng(3), np.datetime64("2024-01-01")
    table: dict[str, list] = {"match_id": [], "date": [], "home": [], "away": [], "result": []}
    for k in range(200):
        home, away = rng.choice(8, 2, replace=False)
        lift = 6.0 * (k >= 90) * (float(home == 3) - float(away == 3))
        one = (f"m{k}", str(start + k), f"P{home}", f"P{away}", float(rng.random() < 1 / (1 + np.exp(-lift))))
        for name, value in zip(table, one):
            table[name].append(value)
    matches, day = kn.read_matches(table | {"neutral": [True] * 200}), str(start + 90)
    rater = kn.Glicko(300.0, 30.0, 40.0, 0.6)
    book = kn.RatingBook(address, rater)
    book.add(matches)
    assert (book._carrying.state_before(day)[1] is None) == (every == 10_000)
    expected = kn.watch(rater.update(matches.before(day)), matches.since(day), false_share=0.2)
    with serve(book) as client:
        answer = client.get(f"/watch?since={day}&false_share=0.2").json()
        few = client.get(f"/watch?since={day}&limit=3&false_share=1e-9").json()
        for since in ("2023-05-01", "2024-01-01", "2025-05-01"):
            assert "no matches both before" in refused(client.get(f"/watch?since={since}"))
        assert "2024-13-41" in refused(client.get("/watch?since=2024-13-41"))
        refused(client.get("/watch"))
        assert "not a Glicko" in refused(client.get("/judges"))
    assert (answer["since"], answer["matches"], answer["total"]) == (day, 110, 8)
    assert answer["sides"] == expected.to_dicts() and expected.filter("named")["name"].to_list() == ["P3"]
    assert [row["name"] for row in few["sides"]] == expected["name"].to_list()[:3] and few["total"] == 8
    assert not any(row["named"] for row in few["sides"])


def test_judges_are_as_the_function_says(tmp_path):
    sides = {"match_id": [f"v{k}" for k in range(182)], "home": ["A", "B", "C"] * 60 + ["A", "B"],
             "away": ["B", "C", "A"] * 60 + ["B", "C"], "neutral": [True] * 182}  # fmt: skip
    answers = [1, 1, 0] * 30 + [1, 1, 1] * 30 + [0.5, 0.5]
    votes = kn.read_matches(
        sides | {"result": answers, "who": ["Ann"] * 90 + ["Bob"] * 90 + ["Cid"] * 2}, conditions=["who"]
    )
    book = kn.RatingBook(tmp_path / "votes.db", kn.BradleyTerry(errors_by="who"))
    book.add(votes)
    with serve(book) as client:
        answer = client.get("/judges?by=who&false_share=0.1").json()
        assert client.get("/judges?by=who&limit=1").json()["judges"] == answer["judges"][:1]
        assert refused(client.get("/judges")) == "No vote of this book says 'judge'; they say 'who'."
    expected = kn.judges(book, votes, "who", false_share=0.1)
    assert (answer["by"], answer["total"]) == ("who", 3)
    assert [row["judge"] for row in answer["judges"] if row["named"]] == ["Bob"]
    assert answer["judges"] == expected.fill_nan(None).to_dicts()
    assert [row["first"] for row in answer["judges"] if row["judge"] == "Cid"] == [None], "nothing was decided"


def test_the_next_matches_are_those_of_the_function(tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", kn.Glicko())
    for k, (one, other) in enumerate([("A", "B"), ("B", "C"), ("C", "D"), ("A", "D")]):
        book.update_one(one, other, "win", match_id=str(k), date="2024-05-01")
    asked = {"count": 5, "target": "order", "candidates": ["A", "B", "C"], "at_most": 2}
    with serve(book) as client:
        answer = client.post("/next", json=asked)
        assert answer.status_code == 200, answer.text
        assert "nobody" in refused(client.post("/next", json={"target": "nobody"}))
    assert answer.json() == json.loads(json.dumps(kn.next_matches(book, **asked).to_dict()))
    assert len(answer.json()["matches"]) == 5


def test_limits_of_the_next_matches_are_those_of_the_function(tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", kn.RankElo())
    for k, order in enumerate((["A", "B", "C", "D"], ["B", "A", "D", "C"])):
        book.update_one(order, match_id=str(k), date="2024-05-01")
    prices = [{"home": "B", "away": "A", "cost": 3.5}]
    with serve(book) as client:
        dear = client.post("/next", json={"cost": prices, "candidates": {"A": 1, "B": 2, "C": 1}})
        pairs = client.post("/next", json={"candidates": [["A", "C"], ["D", "B"]], "count": 3})
        fields = client.post("/next", json={"size": 3, "count": 2, "at_most": 1})
    expected = kn.next_matches(book, cost={("A", "B"): 3.5}, candidates={"A": 1, "B": 2, "C": 1})
    assert dear.json() == json.loads(json.dumps(expected.to_dict())) and len(expected.matches) == 2
    expected = kn.next_matches(book, candidates=[("A", "C"), ("D", "B")], count=3)
    assert pairs.json() == json.loads(json.dumps(expected.to_dict())) and len(expected.matches) == 3
    expected = kn.next_matches(book, size=3, count=2, at_most=1)
    assert fields.json() == json.loads(json.dumps(expected.to_dict())) and len(expected.matches[0].entrants) == 3


def test_entrants_of_several_kinds_are_said_by_kind(tmp_path):
    races = kn.read_contests(
        {"race": ["1"] * 3, "date": ["2024-01-01"] * 3, "driver": list("ABC"), "car": list("xyx"), "place": [1, 2, 3]},
        slots=["driver", "car"],
    )
    book = kn.RatingBook(tmp_path / "book.db", kn.RankElo())
    book.add(races)
    with serve(book) as client:
        order = [{"driver": "B", "car": "x"}, {"car": "y", "driver": "A"}]
        assert added(client.post("/contests", json={"contest_id": "2", "order": order})) == (1, 0, 0)
        assert client.get("/ratings", params={"kind": "car"}).json()["total"] == 2
        said = client.post("/forecast", json={"entrants": order}).json()["entrants"]
        assert [one["win"] for one in said] == pytest.approx(book.predict_one([("B", "x"), ("A", "y")]).win.tolist())
        assert "'rider'" in refused(client.post("/forecast", json={"entrants": [{"rider": "B"}, {"rider": "C"}]}))


BAD = {
    "no json": ("/matches", "{"),
    "not understood": ("/matches", "3"),
    "a name that is none": ("/matches", json.dumps(row(0, home="  "))),
    "a result that is none": ("/matches", json.dumps(row(0, result="victory"))),
    "beyond one": ("/matches", json.dumps(row(0, result=2))),
    "true is no result": ("/matches", json.dumps(row(0, result=True))),
    "no number": ("/matches", json.dumps(row(0, margin=float("nan")))),
    "no day": ("/matches", json.dumps(row(0, date="2024-02-31"))),
    "in centuries": ("/matches", json.dumps(row(1, date="2190-02-01"))),
    "a word too many": ("/matches", json.dumps(row(0, winner="A"))),
    "half a letter": ("/matches", json.dumps(row(0, home="\ud800"))),
    "one twice": ("/matches", json.dumps([row(0), row(0)])),
    "too many": ("/matches", json.dumps([row(0)] * 1001)),
    "a long name": ("/matches", json.dumps(row(0, home="x" * 201))),
    "line-ups nobody uses": ("/matches", json.dumps(row(0, home_lineup=["a"], away_lineup=["b"]))),
    "conditions nobody uses": ("/matches", json.dumps(row(0, conditions={"surface": "clay"}))),
    "a margin against the result": ("/matches", json.dumps(row(0, result="win", margin=-3))),
    "contradicting ranks": ("/contests", json.dumps({"contest_id": "1", "order": ["A", "B"], "ranks": [1]})),
    "mixed": ("/contests", json.dumps({"contest_id": "1", "order": ["A", ["B", "C"]]})),
    "contests among matches": ("/contests", json.dumps({"contest_id": "1", "order": ["A", "B", "C"]})),
    "against itself": ("/forecast", json.dumps({"home": "A", "away": "A"})),
    "both at once": ("/forecast", json.dumps({"home": "A", "away": "B", "entrants": ["A", "B"]})),
    "nobody to meet": ("/quality", json.dumps({"player": "A", "candidates": []})),
    "a field compared where sides are": ("/quality", json.dumps({"options": [{"entrants": ["A", "B"]}]})),
    "deep": ("/matches", "[" * 100_000),
}


def test_what_cannot_be_used_is_refused_in_a_sentence_and_changes_nothing(tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", kn.TeamElo.classic(k=24))
    book.add([row(2)])
    with serve(book) as client:
        sentences = {}
        for name, (path, body) in BAD.items():
            answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
            sentences[name] = refused(answer)
        assert "application/json" in refused(client.post("/matches", content=json.dumps(row(0))))
        assert "/openapi.json" in refused(client.get("/nothing"), 404)
        refused(client.get("/matches"), 405)
        for path in ("/ratings?limit=0", "/ratings?limit=1001", "/ratings?offset=-1", "/ratings/Ajax?history=x"):
            refused(client.get(path))
    assert len(book) == 1 and len(set(sentences.values())) > 18, sentences


def test_only_who_brings_the_token_is_answered(tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", kn.TeamElo.classic(k=24))
    with serve(book, token=TOKEN, host="0.0.0.0") as client:
        assert client.get("/health").json()["status"] == "ok"
        for value in ("", TOKEN, f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x", "Bearer é", f"Basic {TOKEN}"):
            answer = client.post("/matches", json=row(0), headers={"Authorization": value.encode()})
            assert "KINELO_TOKEN" in refused(answer, 401) and TOKEN not in answer.text
        assert "KINELO_TOKEN" in refused(client.get("/metrics"), 401)
        assert added(client.post("/matches", json=row(0), headers={"Authorization": f"Bearer {TOKEN}"})) == (1, 0, 0)
    with serve(book) as client:
        refused(client.get("/health", headers={"Host": "elsewhere.example"}), 421)
        assert client.get("/health", headers={"Host": "localhost:8000"}).status_code == 200
    with pytest.raises(kn.InputError, match="KINELO_TOKEN"):
        Settings("book.db", host="0.0.0.0", token="")
    with pytest.raises(kn.InputError, match="guessed"):
        Settings("book.db", token="short")
    assert TOKEN not in repr(Settings("book.db", token=TOKEN))


def test_long_bodies_are_refused_whether_they_say_so_or_not(tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", kn.TeamElo.classic(k=24))
    with serve(book, most_bytes=300) as client:
        long = json.dumps([row(k) for k in range(20)]).encode()
        headers = {"Content-Type": "application/json"}
        assert "300 bytes" in refused(client.post("/matches", content=long, headers=headers), 413)
        assert added(client.post("/matches", json=row(0))) == (1, 0, 0)
        for part, status in ((200, 413), (3000, 413), (100, 413)):
            pieces = [long[k : k + part] for k in range(0, len(long), part)]
            assert answered(client.app, "POST", "/matches", *pieces) == status
    assert len(book) == 1


def answered(app, method: str, path: str, *pieces: bytes, headers=((b"host", b"localhost"),)) -> int:
    """The status of an answer to a request that comes in pieces, of which the first do not say how many there are."""
    sent: list[dict] = []
    parts = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    coming = iter([*parts, {"type": "http.request"}, {"type": "http.disconnect"}])

    async def receive():
        return next(coming)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path, "query_string": b"",
             "headers": [(b"content-type", b"application/json"), *headers]}  # fmt: skip
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"]


def test_a_request_has_one_host(tmp_path):
    """Else a server before this one may have gone by another."""
    book = kn.RatingBook(tmp_path / "book.db", kn.TeamElo.classic(k=24))
    bearer = (b"authorization", f"Bearer {TOKEN}".encode())
    for settings in ({}, {"token": TOKEN}):
        app = create_app(Settings(str(book.path), **settings))
        for hosts in ((b"localhost", b"evil.example"), (b"evil.example", b"localhost"), (b"localhost", b"localhost")):
            assert answered(app, "GET", "/metrics", headers=[*((b"host", one) for one in hosts), bearer]) == 400


def test_who_brings_the_token_has_a_limit_of_its_own():
    """Those who ask after the health of the service without it leave room."""
    going, asked = asyncio.Event(), []

    async def slow(scope, receive, send):
        asked.append(scope["path"])
        await going.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def ask(app, path: str, *headers) -> int:
        sent: list[dict] = []

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": path, "headers": [*headers]}
        await app(scope, None, send)
        return sent[0]["status"]

    async def story() -> None:
        app = Guard(slow, Settings("book.db", token=TOKEN), Metrics())
        bearer = (b"authorization", f"Bearer {TOKEN}".encode())
        strangers = [asyncio.create_task(ask(app, "/health")) for _ in range(MOST_STRANGERS + 7)]
        friends = [asyncio.create_task(ask(app, "/ratings", bearer)) for _ in range(MOST_AT_ONCE + 3)]
        while sum(one.done() for one in [*strangers, *friends]) < 10:
            await asyncio.sleep(0.001)
        going.set()
        assert sorted(await asyncio.gather(*strangers)) == [200] * MOST_STRANGERS + [503] * 7
        assert sorted(await asyncio.gather(*friends)) == [200] * MOST_AT_ONCE + [503] * 3
        assert len(asked) == MOST_STRANGERS + MOST_AT_ONCE
        assert await ask(app, "/health") == await ask(app, "/ratings", bearer) == 200

    asyncio.run(story())


def test_a_request_that_breaks_off_is_no_fault_of_the_service(tmp_path):
    """Nobody hears the answer; without one, its log would tell of an error."""
    sent: list[dict] = []
    parts = iter([{"type": "http.request", "body": b"[", "more_body": True}, {"type": "http.disconnect"}])

    async def receive():
        return next(parts)

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/matches", "headers": headers, "query_string": b""}
    asyncio.run(create_app(Settings(str(tmp_path / "book.db")))(scope, receive, send))
    assert [sent[0]["status"], len(sent)] == [400, 2]


def test_metrics_count_every_request(tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", kn.TeamElo.classic(k=24))
    with serve(book) as client:
        begin = time.perf_counter()
        client.post("/matches", json=row(0))
        client.post("/matches", json=row(0, result=7))
        client.get("/ratings/Ajax")
        answer = client.get("/metrics")
        spent = time.perf_counter() - begin
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.text.splitlines()
    counts = {line.rsplit(" ", 1)[0].split(",worker")[0]: line.rsplit(" ", 1)[1] for line in lines if line[0] != "#"}
    assert counts['kinelo_requests_total{method="POST",route="/matches",status="200"'] == "1"
    assert counts['kinelo_requests_total{method="POST",route="/matches",status="422"'] == "1"
    assert any('route="/ratings/{name' in line for line in counts)
    took = [float(count) for line, count in counts.items() if line.startswith("kinelo_request_seconds_sum{")]
    assert len(took) == 2 and min(took) > 0 and sum(took) < spent


def test_metrics_are_sorted_and_add_up():
    metrics = Metrics()
    for method, route, status, seconds in (
        ("POST", "/matches", 200, 0.004), ("GET", "/health", 200, 0.001), ("POST", "/matches", 422, 0.3),
        ("POST", "/matches", 200, 99.0), ("POST", "/matches", 200, 0.005),
    ):  # fmt: skip
        metrics.note(method, route, status, seconds)
    own = f'worker="{os.getpid()}"'
    lines = [line for line in metrics.text().splitlines() if line[0] != "#"]
    assert lines[:3] == [
        f'kinelo_requests_total{{method="GET",route="/health",status="200",{own}}} 1',
        f'kinelo_requests_total{{method="POST",route="/matches",status="200",{own}}} 3',
        f'kinelo_requests_total{{method="POST",route="/matches",status="422",{own}}} 1',
    ]
    assert [line.partition("{")[2].partition(",worker")[0] for line in lines[3:]] == (
        ['method="GET",route="/health"'] * 16 + ['method="POST",route="/matches"'] * 16
    )
    posted, said = lines[-16:], f'method="POST",route="/matches",{own}'
    bounds = ["0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1.0", "2.5", "5.0", "10.0"]
    counts = [0, 0, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4]
    assert posted[:14] == [
        f'kinelo_request_seconds_bucket{{{said},le="{bound}"}} {count}'
        for bound, count in zip([*bounds, "+Inf"], counts, strict=True)
    ]
    assert posted[14:] == [
        f"kinelo_request_seconds_sum{{{said}}} 99.309000", f"kinelo_request_seconds_count{{{said}}} 4"
    ]  # fmt: skip


def test_a_database_that_is_gone_is_no_fault_of_who_asks(server):
    book = kn.RatingBook(server.address(), kn.TeamElo.classic(k=24))
    with serve(str(book.path)) as client:
        doors = [lambda path=path: client.get(path) for path in ("/health", "/ratings", "/ratings/Ajax?history=3")]
        doors.append(lambda: client.post("/forecast", json={"home": row(0)["home"], "away": row(0)["away"]}))
        assert added(client.post("/matches", json=row(0))) == (1, 0, 0)
        assert {door().status_code for door in doors} == {200}
        server.stop("immediate")
        try:
            for _ in range(3 * READERS):  # each thread loses its connection, and gets no other
                assert "reached" in refused(client.post("/matches", json=row(1)), 503)
                for door in doors:
                    assert "reached" in refused(door(), 503)
        finally:
            server.start()
        assert sum(added(client.post("/matches", json=row(1)))) == 1
        assert {door().status_code for door in doors} == {200}
    assert len(kn.RatingBook(str(book.path))) == 2


def test_handicaps_and_times_played_over_http(tmp_path):
    """Numbers of covariates count as in Python, and so does how long somebody played."""
    book, twin = kn.RatingBook(tmp_path / "b.db", kn.Glicko(covariates=["stones"])), kn.Glicko(covariates=["stones"])
    with serve(book) as client:
        for k, stones in enumerate((2, -1.5, 0, 3)):
            said = row(k, conditions={"stones": stones})
            assert added(client.post("/matches", json=said)) == (1, 0, 0)
            twin.update_one(said["home"], said["away"], said["result"], date=said["date"], neutral=said["neutral"],
                            weight=said["weight"], conditions={"stones": stones})  # fmt: skip
        sides = {"home": row(0)["home"], "away": row(0)["away"], "date": row(3)["date"]}
        found = client.post("/fair", json=sides | {"covariate": "stones"}).json()
        assert found["fair"] == kn.fair_value(twin, sides["home"], sides["away"], "stones", date=sides["date"])
        assert found["effect"] == twin.effects_["effect"][0]
        assert "no covariate of this rater" in refused(client.post("/fair", json=sides | {"covariate": "rest"}))
    players, alone = kn.RatingBook(tmp_path / "p.db", kn.PlayerElo()), kn.PlayerElo()
    lineups = {"home_lineup": {"Ann": 30.0, "Bob": 4.0}, "away_lineup": ["Cid"]}
    with serve(players) as client:
        assert added(client.post("/matches", json=row(0, **lineups))) == (1, 0, 0)
    said = {name: row(0)[name] for name in ("date", "neutral", "weight")}
    alone.update_one(row(0)["home"], row(0)["away"], row(0)["result"], **said, **lineups)
    assert kn.RatingBook(tmp_path / "p.db").rater.ratings_.equals(alone.ratings_)
    loads = {"walk": 0.3, "prior_spread": 0.8, "newcomer": 0.0, "regression": 0.05, "covariates": ["size"]}
    teams, minutes = [["Ann", "Bob"], ["Cid", "Dee", "Eve"]], {"Ann": 30.0, "Bob": 4.0}
    lobby = kn.RatingBook(tmp_path / "r.db", kn.RankElo(**loads))
    with serve(lobby) as client:
        said = {"contest_id": "1", "order": teams, "minutes": minutes, "date": "2024-05-01"}
        assert added(client.post("/contests", json=said)) == (1, 0, 0)
        assert "not in this contest" in refused(client.post("/contests", json=said | {"minutes": {"Zoe": 1.0}}))
        assert "could make fair" in refused(client.post("/fair", json={"entrants": teams, "covariate": "size"}))
    alone = kn.RankElo(**loads).update_one(teams, minutes=minutes, date="2024-05-01")
    assert kn.RatingBook(tmp_path / "r.db").rater.ratings_.equals(alone.ratings_)


def races(count: int) -> list[dict]:
    """Free-for-alls of players who differ much more than a rater of defaults supposes."""
    rng = np.random.default_rng(4)
    strength, rows = rng.normal(0.0, 2.5, 8), []
    for k in range(count):
        met = rng.permutation(8)[:4]
        order = met[np.argsort(-(strength[met] + rng.logistic(size=4)))]
        rows.append({"contest_id": f"g{k}", "order": [f"p{n}" for n in order], "date": f"2024-03-{1 + k // 3:02}"})
    return rows


def test_parameters_are_learnt_when_asked_and_by_schedule(address):
    book = kn.RatingBook(address, kn.RankElo())
    with serve(book, refit_every=40) as client:
        assert "holds no contests to learn from" in refused(client.post("/refit", json={}))
        for row in races(36):
            assert added(client.post("/contests", json=row)) == (1, 0, 0)
        assert client.post("/refit", json={"after": 37}).json()["due"] is False
        said = client.post("/refit", json={"after": 36}).json()
        assert said["due"] and (said["number"], said["matches"], said["date"]) == (1, 36, "2024-03-12")
        assert said["loss_after"] < said["loss_before"] and said["after"] != said["before"]
        assert said["after"] == dict(kn.RatingBook(address).rater.parameters_)
        assert added(client.post("/contests", json=races(75))) == (39, 36, 0)
        assert "after" in refused(client.post("/refit", json={"after": 0}))
    assert len(milestones(book)) == 1
    with serve(book, refit_every=40) as client:
        assert added(client.post("/contests", json=races(78)[75:])) == (3, 0, 0)
    assert [one["matches"] for one in milestones(book)] == [36, 78] and book.check() == []
    plain = kn.RankElo().fit(book.matches())
    assert dict(book.rater.parameters_) == dict(plain.parameters_)


def test_places_and_neighbours_are_those_of_the_list(address):
    """Of everyone, and of who is active; those who are not have no place, and neighbours all the same."""
    book = kn.RatingBook(address, kn.Glicko())
    for k in range(12):
        pair = ("ABCDEF" if k < 6 else "DFGHIJ")[k % 6], ("DCFEAB" if k < 6 else "GHDFJI")[k % 6]
        book.update_one(*pair, "win", match_id=f"m{k}", date=f"2024-0{1 + k // 6}-1{k % 6}")
    table = book.ratings_
    last = table["last_played"].max()
    active = table.filter((last - table["last_played"]).dt.total_days() <= 20)
    assert 3 < active.height < table.height
    names = [table["name"].to_list(), active["name"].to_list()]
    with serve(book) as client:
        for days, board in zip(({}, {"active_days": 20}), names):
            page = client.get("/ratings", params=days | {"limit": 3, "offset": 2}).json()
            assert page["total"] == len(board) and [one["name"] for one in page["ratings"]] == board[2:5]
            for k, name in enumerate(board):
                said = client.get(f"/ratings/{name}", params=days | {"neighbours": 2}).json()
                assert said["place"] == k + 1
                near = board[max(0, k - 2) : max(0, k - 2) + 5]
                assert [(one["place"], one["name"]) for one in said["neighbours"]] == [
                    (1 + board.index(one), one) for one in near
                ]
        gone = next(name for name in names[0] if name not in names[1])
        said = client.get(f"/ratings/{gone}", params={"active_days": 20, "neighbours": 1}).json()
        above = [name for name in names[1] if names[0].index(name) < names[0].index(gone)]
        assert said["place"] is None and said["neighbours"][0]["place"] == max(len(above), 1)
        assert client.get(f"/ratings/{gone}").json()["neighbours"] == []


@pytest.mark.parametrize("noun", ["matches", "contests"])
def test_what_is_taken_out_leaves_the_ratings_as_if_it_had_never_been(noun, address, tmp_path):
    rater = kn.Glicko() if noun == "matches" else kn.RankElo(start={"p1": 1600})
    rows = [row(k) for k in range(9)] if noun == "matches" else races(9)
    book, twin = kn.RatingBook(address, rater), kn.RatingBook(tmp_path / "twin.db", rater)
    with serve(book) as client, serve(twin) as other:
        client.post(f"/{noun}", json=rows)
        other.post(f"/{noun}", json=rows[:4] + rows[5:])
        before = dict(book.ratings_.select("name", "rating").rows())
        said = client.delete(f"/{noun}/{'m4' if noun == 'matches' else 'g4'}")
        assert said.status_code == 200, said.text
        said, now = said.json(), dict(book.ratings_.select("name", "rating").rows())
        assert book.ratings_.equals(twin.ratings_) and len(book) == 8 and book.check() == []
        assert said["date"] == rows[4]["date"]
        assert said["rated_again"] == sum(one["date"] >= rows[4]["date"] for one in rows) - 1 > 0
        took = {rows[4]["home"], rows[4]["away"]} if noun == "matches" else set(rows[4]["order"])
        assert {one["name"] for one in said["people"]} == took
        assert all(
            (one["before"], one["after"]) == (before[one["name"]], now.get(one["name"])) for one in said["people"]
        )
        assert "never added" in refused(client.delete(f"/{noun}/m4"), 404)
        assert client.post("/erase", json={"name": min(took)}).json() == {"pseudonym": "erased 1"}
        assert "knows no" in refused(client.post("/erase", json={"name": min(took)}))
        assert "erased 1" in book.ratings_["name"] and min(took) not in book.ratings_["name"]


def test_milestones_are_read_by_pages(tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", kn.RankElo())
    with serve(book) as client:
        assert client.get("/milestones").json() == {"milestones": []}
        client.post("/contests", json=races(30))
        before = book.ratings_["rating"].to_list()
        client.post("/refit", json={})
        (one,) = client.get("/milestones").json()["milestones"]
        assert (one["number"], one["what"], one["matches"]) == (1, "refit", 30)
        pages = [client.get("/milestones/1", params={"offset": k, "limit": 3}).json() for k in (0, 3, 6)]
        assert [one["rating"] for page in pages for one in page["ratings"]] == before
        assert {page["total"] for page in pages} == {8} and pages[1]["ratings"][0]["place"] == 4
        assert "no milestone 2" in refused(client.get("/milestones/2"))
        refused(client.get("/milestones/0"))


def test_seasons_are_closed_once_and_read_by_pages(address):
    book = kn.RatingBook(address, kn.RankElo())
    wish = {"name": "Spring/1", "reset": 0.3, "date": "2024-03-08", "rewards": {"gold": 1, "silver": 0.5}}
    with serve(book) as client:
        assert "holds no contests yet" in refused(client.post("/seasons", json=wish))
        assert client.get("/seasons").json() == {"seasons": []}
        client.post("/contests", json=races(24))
        before = dict(book.ratings_.select("name", "rating").rows())
        said = client.post("/seasons", json=wish).json()
        assert said == {"number": 1, "name": "Spring/1", "first_day": None, "last_day": "2024-03-08", "players": 8,
                        "reset": 0.3, "moves": 0.0}  # fmt: skip
        now = book.ratings_
        assert client.post("/seasons", json=wish).json() == said and book.ratings_.equals(now) and book.check() == []
        assert "was closed with" in refused(client.post("/seasons", json=wish | {"reset": 0.4}))
        assert client.get("/seasons").json() == {"seasons": [said]}
        pages = [client.get("/seasons/Spring/1", params={"offset": k, "limit": 3}).json() for k in (0, 3, 6)]
        rows = [row for page in pages for row in page["ratings"]]
        assert {row["name"]: row["rating"] for row in rows} == before
        assert {row["name"]: row["rating_after"] for row in rows} == dict(now.select("name", "rating").rows())
        assert [row["reward"] for row in rows] == ["gold", *["silver"] * 3, *[None] * 4]
        assert "No season 'Autumn' was closed" in refused(client.get("/seasons/Autumn"), 404)
        assert "reset" in refused(client.post("/seasons", json=wish | {"reset": 2}))


def test_tiers_are_kept_and_read_by_pages(address):
    book = kn.RatingBook(address, kn.RankElo())
    rule = {"bounds": {"Low": 0.5, "High": 0.5}, "by": "share", "divisions": 2, "placement": 4, "every": 2}
    with serve(book) as client:
        assert client.get("/tiers").json()["rule"] is None
        assert "keeps no rule of tiers" in refused(client.get("/leaderboard"))
        assert "add up to 1" in refused(client.post("/tiers", json=rule | {"bounds": {"Low": 0.5, "High": 0.6}}))
        client.post("/contests", json=[*races(30), {"contest_id": "new", "order": ["newcomer", "p1"]}])
        assert client.post("/tiers", json=rule).status_code == 200
        board = tier_board(book)
        said = client.get("/tiers", params={"luck": True}).json()
        assert {name: said["rule"][name] for name in rule} == rule
        luck = moved_by_luck(book)
        assert (said["moved"], said["by_luck"], said["players"]) == (luck.moved, luck.by_luck, luck.players)
        pages = [client.get("/leaderboard", params={"offset": k, "limit": 4}).json() for k in (0, 4, 8)]
        assert {(page["total"], page["date"]) for page in pages} == {(len(board.rows), board.date)}
        rows = [{name: row[name] for name in row if name != "idle"} for row in board.rows]
        assert [row for page in pages for row in page["players"]] == rows
        high = client.get("/leaderboard", params={"tier": "High"}).json()
        assert [row["name"] for row in high["players"]] == [row["name"] for row in rows if row["tier"] == "High"]
        one = next(row for row in rows if row["name"] == "newcomer")
        assert client.get("/ratings/newcomer", params={"tier": True}).json()["tier"] == one and one["to_place"] == 3
        assert client.get("/ratings/newcomer").json()["tier"] is None
        page = client.get("/leaderboard.html")
        assert page.headers["content-type"].startswith("text/html") and "placed after 3 more" in page.text


def test_a_queue_becomes_lobbies_and_who_is_in_none_waits_on(tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", kn.RankElo(start={f"p{k}": 1400.0 + 23.0 * k for k in range(9)}))
    rows = [{"players": ["p0", "p5"], "waited": 50.0, "regions": ["eu"]}, {"players": ["p4"], "waited": 9.5},
            {"players": ["p8"], "regions": ["us"]}, {"players": ["p3"], "roles": {"p3": ["tank"]}},
            {"players": ["stranger"], "regions": ["eu", "us"]}]  # fmt: skip
    with serve(book) as client:
        said = client.post("/queue", json={"waiting": rows, "size": 2, "patience": 45}).json()
        tickets = [Ticket(tuple(r["players"]), r.get("waited", 0.0), tuple(r.get("regions", ())), r.get("roles"))
                   for r in rows]  # fmt: skip
        (lobby,) = form_lobbies(book, tickets, Lobbies(size=2, patience=45.0))
        assert said["lobbies"] == [{"sides": [list(side) for side in lobby.sides], "quality": lobby.quality,
                                    "region": "eu", "waited": 50.0}]  # fmt: skip
        gone = {name for side in lobby.sides for name in side}
        assert said["waiting"] == [r["players"] for r in rows if not gone & set(r["players"])]
        assert len(said["waiting"]) == 2 and {"p0", "p5"} <= gone and "p8" not in gone
        assert client.post("/queue", json={"waiting": []}).json() == {"lobbies": [], "waiting": []}
        assert "waits twice" in refused(client.post("/queue", json={"waiting": [rows[1], rows[1]]}))
        assert "as many as play on it" in refused(client.post("/queue", json={"waiting": rows, "roles": {"tank": 2}}))


def test_the_description_shows_an_example_of_every_question_that_is_understood(tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", kn.RankElo(covariates=["stones"], start={"Ann": 1600, "Bob": 1500}))
    with serve(book) as client:
        said = client.get("/openapi.json").json()
        shapes = said["components"]["schemas"]
        for path, ways in said["paths"].items():
            if "post" not in ways:
                assert ways[next(iter(ways))]["summary"]
                continue
            schema = json.dumps(ways["post"]["requestBody"]["content"]["application/json"]["schema"])
            names = [name for name in shapes if f'"#/components/schemas/{name}"' in schema]
            assert names and all("examples" in shapes[name] for name in names), path
            for name in names:
                (example,) = shapes[name]["examples"]
                assert getattr(say, name).model_validate(example)
                assert client.post(path, json=example).status_code in (200, 422)


def test_entrants_said_by_kind_and_by_name_stand_beside_each_other():
    book = SimpleNamespace(kinds=("driver", "car"))
    said = [{"car": "x", "driver": "Ann"}, "Bob", {"driver": "Cid"}, ["Dee"]]
    assert doors._entrants(book, said) == [("Ann", "x"), "Bob", ("Cid",), ["Dee"]]
    assert doors._entrants(book, ["Bob", "Cid"]) == ["Bob", "Cid"]
    with pytest.raises(kn.InputError) as refused:
        doors._entrants(book, ["Bob", {"horse": "Fury"}])
    assert str(refused.value) == "'horse' is no kind of this book; it rates driver, car."


SENT = {"match_id": "a", "home": "A", "away": "B", "result": 1.0}
UNREAD = [
    ("/matches", SENT | {"result": "won"}, "result: input should be a valid number or 'win', 'draw' or 'loss'."),
    ("/matches", [SENT, SENT | {"result": None}],
     "[1].result: input should be a valid number or 'win', 'draw' or 'loss'."),
    ("/matches", SENT | {"result": 1.5},
     "result: input should be less than or equal to 1 or 'win', 'draw' or 'loss'."),
    ("/matches", SENT | {"weight": -1}, "weight: input should be greater than or equal to 0."),
    ("/matches", SENT | {"date": "today"}, f"date: string should match pattern '{say.DAY}'."),
    ("/matches", SENT | {"odd": 1}, "odd: extra inputs are not permitted."),
    ("/matches", [{**SENT, "conditions": {"turf": []}}],
     "[0].conditions.turf: input should be a valid string or a valid number."),
    ("/erase", {"name": ""}, "name: string should have at least 1 character."),
]  # fmt: skip


@pytest.mark.parametrize(("path", "body", "sentence"), UNREAD)
def test_what_cannot_be_read_is_said_with_all_that_is_accepted(path, body, sentence, tmp_path):
    with serve(kn.RatingBook(tmp_path / "book.db", kn.TeamElo.classic(k=24))) as client:
        assert refused(client.post(path, json=body)) == sentence


def test_a_name_of_two_kinds_is_asked_for_by_kind(tmp_path):
    book = kn.RatingBook(tmp_path / "book.db", kn.RankElo(walk=0.3, prior_spread=0.8, newcomer=0.0, regression=0.1))
    book.add(kn.read_contests({"race": [1, 1], "driver": ["Lotus", "Ann"], "car": ["Ford", "Lotus"], "place": [1, 2]},
                              slots=["driver", "car"]))  # fmt: skip
    with serve(book) as client:
        asked = refused(client.get("/ratings/Lotus"))
        assert asked == "'Lotus' is the name of several: say of which kind, 'driver' and 'car'."
        ratings = [client.get("/ratings/Lotus", params={"kind": kind}).json()["rating"] for kind in ("driver", "car")]
        assert ratings[0] > 1500 > ratings[1] and client.get("/ratings/Ford").status_code == 200
