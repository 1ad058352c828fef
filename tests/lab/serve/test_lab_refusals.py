"""What the lab's league answers where a request cannot be understood, word by word."""

import pytest
from starlette.testclient import TestClient

from kinelo.lab.paper.small import PaperController
from kinelo.lab.rate.tables import FIELDS
from kinelo.lab.serve.app import create_app
from kinelo.lab.serve.settings import Settings
from refusals import check_refusal

HERE = "http://127.0.0.1:8000"
OWN = {"origin": HERE}
LIVE = "ws://127.0.0.1:8000/live"
PAIRS = ("AB", "BC", "AC", "CA") * 5
TABLE = "home,away,result\n" + "\n".join(f"{a},{b},1" for a, b in PAIRS)
CHOSEN = {"columns": {"home": "home", "away": "away", "result": "result"}, "rater": "glicko"}
RULES = {"win": 3, "draw": 1, "relegated": 1}
ODDS = {"kind": "season", "points": {}, "rules": RULES, "best": 2, "fixtures": False}
RANK = {"active_days": None, "least_matches": 0, "caution": 2}

BEFORE = {
    "nothing to rate": ("check", {"columns": {}}, "There are no results yet; drop a file first."),
    "a rater of a number": ("rate", {**CHOSEN, "rater": 7}, "The rater must be a name."),
    "columns of a list": ("rate", {**CHOSEN, "columns": ["home"]}, "Columns must be an object of names."),
    "columns of numbers": ("rate", {**CHOSEN, "columns": {"home": 1}}, "Columns must be an object of names."),
    "too many conditions": (
        "rate", {**CHOSEN, "conditions": list("ABCDEFGHI")}, "conditions must be a list of at most 8 columns.",
    ),
    "conditions of a word": (
        "rate", {**CHOSEN, "conditions": "home"}, "conditions must be a list of at most 8 columns.",
    ),
    "conditions of numbers": ("rate", {**CHOSEN, "conditions": [7]}, "conditions must be a list of at most 8 columns."),
    "an audit of nothing": ("audit.html", None, "Audit a league first; then its page can be saved."),
    "a session of nothing": ("session.json", None, "Rate a league first; then the session can be saved."),
}  # fmt: skip

AFTER = {
    "the best three": ("odds", {**ODDS, "best": 3}, "The best are 2, 4, 8, 16 or 32."),
    "the best four of three": ("odds", {**ODDS, "best": 4}, "Only 3 sides are ranked; 4 were asked for."),
    "odds of a number": ("odds", {**ODDS, "kind": 7}, "The kind must be text."),
    "odds of something else": (
        "odds", {**ODDS, "kind": "lottery"}, "Odds are those of a season or of a knockout, not of 'lottery'.",
    ),
    "odds of no fixtures": (
        "odds", {**ODDS, "fixtures": True}, "There are no fixtures; drop a file of them, or take the best sides.",
    ),
    "a target of a number": ("next", {"target": 7, "count": 3, "size": 2}, "The target must be text."),
    "a name of a number": ("why", {"name": 7}, "The name must be text."),
    "a period of nothing": ("rank", {**RANK, "period": 0.5}, "A period is a number of days, from 1 on."),
    "a period of a century": ("rank", {**RANK, "period": 36_526}, "A period is a number of days, from 1 on."),
    "a period of a word": ("rank", {**RANK, "period": "30"}, "A period is a number of days, from 1 on."),
    "a period without dates": ("rank", {**RANK, "period": 30}, "Without dates nothing moves."),
    "caution of a word": (
        "rank", {**RANK, "caution": "much"}, "A ranking takes numbers: active_days (or null) and caution.",
    ),
    "activity of a word": (
        "rank", {**RANK, "active_days": "many"}, "A ranking takes numbers: active_days (or null) and caution.",
    ),
    "an audit of numbers": (
        "audit", {"k": 20, "rater": 7, "by": "", "reference": ""}, "Rater, groups and reference must be names.",
    ),
    "a match of numbers": ("predict", {"home": 7, "away": "B"}, "home and away must be names."),
    "a match of one": ("predict", {"home": "A"}, "home and away must be names."),
    "a side against itself": (
        "predict", {"home": "A", "away": "A"}, "A side cannot play against itself; choose two.",
    ),
    "conditions of a match": (
        "predict", {"home": "A", "away": "B", "conditions": ["wet"]}, "Conditions must be an object of names.",
    ),
    "levels of a match": (
        "predict", {"home": "A", "away": "B", "conditions": {"pitch": 7}}, "Conditions must be an object of names.",
    ),
    "a field of a word": (
        "field", {"entrants": "AB"}, "Entrants must be a list; each is a list of names for every kind.",
    ),
    "a field of names": (
        "field", {"entrants": ["A", "B"]}, "Entrants must be a list; each is a list of names for every kind.",
    ),
    "a field of matches": (
        "field", {"entrants": [[["A"]], [["B"]]]},
        "A field is forecast from contests of many, not from matches of two sides.",
    ),
    "somebody who is not there": ("team", {"name": "Zoe"}, "'Zoe' is not rated in this league."),
    "a request that is a list": ("team", ["A"], "The request must hold a JSON object."),
}  # fmt: skip


@pytest.fixture(scope="module")
def visit():
    app = create_app(Settings())
    with (
        TestClient(app, base_url=HERE) as visitor,
        visitor.websocket_connect("ws://127.0.0.1:8000/live", headers=OWN) as socket,
    ):
        yield visitor, f"/api/pages/{socket.receive_json()['page']}/league"


@pytest.fixture(scope="module")
def rated(visit):
    visitor, base = visit
    assert visitor.post(f"{base}/tables/results", content=TABLE.encode(), headers=OWN).status_code == 200
    assert visitor.post(f"{base}/rate", json=CHOSEN, headers=OWN).status_code == 200
    return visit


def check_answer(visit, path, body, sentence):
    visitor, base = visit
    asked = visitor.get(f"{base}/{path}") if body is None else visitor.post(f"{base}/{path}", json=body, headers=OWN)
    assert (asked.status_code, asked.json()) == (400, {"error": sentence})


@pytest.mark.parametrize("case", BEFORE)
def test_a_request_before_all_says_what_is_wrong(case, visit):
    check_answer(visit, *BEFORE[case])


def test_a_table_says_what_is_wrong(visit):
    visitor, base = visit
    for kind, content, sentence in (
        ("prices", b"a,b\n1,2\n", f"A table holds {', '.join(FIELDS)}, not 'prices'."),
        ("results", b"", "none.csv is empty."),
        ("results", b"home,away,result\n", "none.csv holds no rows below its header."),
        ("results", b"home\nA\nB\n", "none.csv could not be read as a table: only one column was found."),
    ):
        answer = visitor.post(f"{base}/tables/{kind}?name=none.csv", content=content, headers=OWN)
        assert (answer.status_code, answer.json()) == (400, {"error": sentence})


@pytest.mark.parametrize("case", AFTER)
def test_a_request_to_a_rated_league_says_what_is_wrong(case, rated):
    check_answer(rated, *AFTER[case])


def test_what_is_not_there_is_not_found(rated):
    visitor, base = rated
    page = base.removesuffix("/league")
    for path, said in (
        (f"{base}/diary.html", "There is no page 'diary'; there are ratings and audit."),
        (f"{page}/paper/figures/3.png", "This figure has not been run again."),
        ("/static/nothing.html", "Not Found"),
    ):
        answer = visitor.get(path)
        assert answer.status_code == 404 and said in answer.text, (path, answer.text)
    check_refusal((lambda: PaperController(print).make("x", "huge"), "scale must be quick or full, not 'huge'."))
