"""Who gets in, and how much they may ask for: the server's rules, without a browser."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import math
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from kinelo.lab.serve.app import create_app
from kinelo.lab.serve.settings import LETTERS, Limits, Settings
from patience import PATIENCE

HERE = "http://127.0.0.1:8000"
OWN = {"origin": HERE}
LIVE = "ws://127.0.0.1:8000/live"


def client(settings: Settings | None = None, **options) -> TestClient:
    return TestClient(create_app(settings or Settings()), base_url=HERE, **options)


@pytest.fixture(scope="module")
def visitor():
    with client() as opened:
        yield opened


def welcome(socket) -> str:
    return socket.receive_json()["page"]


def message(socket, kind: str) -> dict:
    """The next message of a kind, frames and others left aside."""
    while True:
        received = socket.receive()
        if received.get("text") is not None and (content := json.loads(received["text"]))["type"] == kind:
            return content


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "LOCALHOST"])
def test_own_names_are_answered(visitor, host):
    assert visitor.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "192.168.0.7",
        "",
        "[::1].evil.example",
        "[::1]evil.example:8000",
        "[::1%evil.example]",
        "127.0.0.1:8000.evil.example",
        "x@127.0.0.1",
    ],
)
def test_foreign_names_get_nothing(visitor, host):
    answer = visitor.get("/api/about", headers={"host": host})
    assert answer.status_code == 421
    assert "controls" not in answer.text


@pytest.mark.parametrize(
    "origin", [None, "http://evil.example", "http://127.0.0.1:9999", "null", "https://127.0.0.1", "http://[::1"]
)
def test_sockets_of_other_pages_are_refused(visitor, origin):
    headers = {} if origin is None else {"origin": origin}
    with pytest.raises(WebSocketDisconnect), visitor.websocket_connect(LIVE, headers=headers):
        pass


@pytest.mark.parametrize("origin", [None, "http://evil.example", "http://[::1"])
def test_requests_that_change_something_must_come_from_the_own_page(visitor, origin):
    with visitor.websocket_connect(LIVE, headers=OWN) as socket:
        page = welcome(socket)
        headers = {} if origin is None else {"origin": origin}
        assert visitor.post(f"/api/pages/{page}/league/sample", headers=headers).status_code == 403


def test_protective_headers_on_everything(visitor):
    for path in ("/", "/static/main.js", "/api/about", "/nowhere"):
        headers = visitor.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe-eval" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


def test_plotly_comes_from_the_installed_package(visitor):
    import plotly

    package = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    for accepted in ("gzip", "identity"):
        assert visitor.get("/plotly.js", headers={"accept-encoding": accepted}).content == package.read_bytes()


@pytest.mark.parametrize("path", ["/plotly.js", "/", "/static/guide.js", "/static/layout.css", "/api/about"])
def test_text_is_sent_compressed_to_those_who_take_it(visitor, path):
    plain = visitor.get(path, headers={"accept-encoding": "identity"})
    with visitor.stream("GET", path, headers={"accept-encoding": "gzip, br"}) as packed:
        sent = b"".join(packed.iter_raw())
    assert "content-encoding" not in plain.headers and packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(sent) == plain.content and len(sent) < 0.5 * len(plain.content)
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    "path", ["/", "/static/main.js", "/static/icon.svg", "/plotly.js", "/api/guide", "/api/guide/2"]
)
def test_what_is_the_same_for_all_is_made_once_and_not_sent_again(visitor, path, monkeypatch):
    first = visitor.get(path)
    monkeypatch.setattr(gzip, "compress", lambda *_, **__: pytest.fail("made again"))
    again = visitor.get(path, headers={"if-none-match": first.headers["etag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert visitor.get(path, headers={"if-none-match": '"another"'}).content == first.content
    assert first.headers["cache-control"] == ("private, max-age=86400" if path == "/plotly.js" else "no-cache")


def test_scenes_are_kept_by_number_and_units_and_faults_are_not(visitor):
    elo, paper = (visitor.get(f"/api/guide/3?units={units}") for units in ("elo", "paper"))
    assert elo.json() != paper.json() != visitor.get("/api/guide/4?units=paper").json()
    assert visitor.get("/api/guide/3").json() == elo.json()
    for _ in range(2):
        assert visitor.get("/api/guide/3?units=miles").status_code == 400
        assert visitor.get("/api/guide/99").status_code == 400


def test_a_token_is_demanded_beyond_loopback():
    settings = Settings(host="0.0.0.0")
    assert settings.token and len(settings.token) * math.log2(len(set(LETTERS))) > 49  # bits
    assert set(settings.token) <= set(LETTERS) and not set("01ilo") & set(LETTERS)
    assert len({Settings(host="0.0.0.0").token for _ in range(50)}) == 50
    with client(settings) as stranger:
        for path in ("/", "/api/about", "/plotly.js", "/static/main.js", "/?token=wrong", "/?token="):
            assert stranger.get(path).status_code == 401
        with pytest.raises(WebSocketDisconnect), stranger.websocket_connect(LIVE, headers=OWN):
            pass
        assert stranger.get("/", headers={"host": "evil.example"}).status_code == 421
        first = stranger.get(f"/?token={settings.token}&sigma=2", follow_redirects=False)
        assert first.status_code == 303 and first.headers["location"] == "/?sigma=2"
        cookie = first.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=lax" in cookie
        assert stranger.get("/api/about").status_code == 200
        with stranger.websocket_connect(
            LIVE, headers={**OWN, "cookie": f"{settings.cookie}={settings.token}"}
        ) as socket:
            assert welcome(socket)


@pytest.mark.parametrize(
    "foreign",
    ["a:b/c=1", 'state={"open": [1, 2]}', "x", "=", 'q="', "kinelo_token_8000=old", "ä=ü", "a=1,b=2", "$Version=1"],
)
def test_cookies_of_other_programs_do_no_harm(foreign):
    settings = Settings(host="0.0.0.0")
    with client(settings) as stranger:
        own = f"{settings.cookie}={settings.token}"
        for cookies in (f"{foreign}; {own}", f"{own}; {foreign}"):
            assert stranger.get("/api/about", headers={"cookie": cookies.encode()}).status_code == 200
        assert stranger.get("/api/about", headers={"cookie": foreign.encode()}).status_code == 401


def test_two_labs_of_one_machine_keep_their_tokens_apart():
    assert Settings(host="0.0.0.0", port=8000).cookie != Settings(host="0.0.0.0", port=8001).cookie


@pytest.mark.parametrize(
    "path", ["//evil.example/", "/%2fevil.example/", "/\\evil.example/", "///evil.example", "/static/"]
)
def test_a_token_leads_to_the_page_and_nowhere_else(path):
    settings = Settings(host="0.0.0.0")
    with client(settings) as stranger:
        answer = stranger.get(f"http://127.0.0.1:8000{path}?token={settings.token}", follow_redirects=False)
        assert answer.status_code == 401 and "location" not in answer.headers and "set-cookie" not in answer.headers


def test_a_body_must_keep_coming(monkeypatch):
    monkeypatch.setattr("kinelo.runtime.serving.BODY_SECONDS", 0.05)
    app = create_app(Settings())
    answers = []

    async def receive() -> dict:
        if not answers_begun:
            answers_begun.append(True)
            return {"type": "http.request", "body": b"{", "more_body": True}
        return await asyncio.Event().wait()  # type: ignore[return-value]

    async def send(message: dict) -> None:
        answers.append(message)

    async def story() -> None:
        page = type("Left", (), {})()
        app.state.pages._open["key"] = page
        await app(scope, receive, send)

    answers_begun: list[bool] = []
    headers = [(b"host", b"127.0.0.1:8000"), (b"origin", HERE.encode())]
    path = "/api/pages/key/league/rate"
    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "root_path": "", "scheme": "http",
        "query_string": b"", "headers": headers, "http_version": "1.1", "server": ("127.0.0.1", 8000),
        "client": ("127.0.0.1", 1), "asgi": {"version": "3.0"},
    }  # fmt: skip
    asyncio.run(story())
    assert answers[0]["status"] == 408


def test_the_way_into_a_shared_lab_is_shown_to_those_who_are_in():
    pytest.importorskip("segno")
    settings = Settings(host="192.168.0.7", shared=True)
    assert settings.address == f"http://192.168.0.7:8000/?token={settings.token}"
    headers = {"authorization": f"Bearer {settings.token}"}
    with client(settings) as visitor:
        assert visitor.get("/join.svg").status_code == 401
        picture = visitor.get("/join.svg", headers=headers)
        assert picture.headers["content-type"] == "image/svg+xml" and b"<svg" in picture.content
        assert visitor.get("/api/about", headers=headers).json()["join"] == settings.address
    alone = Settings(host="192.168.0.7")
    with client(alone) as visitor:
        headers = {"authorization": f"Bearer {alone.token}"}
        assert visitor.get("/join.svg", headers=headers).status_code == 404
        assert visitor.get("/api/about", headers=headers).json()["join"] is None


def test_a_bearer_token_works_too():
    settings = Settings(host="192.168.0.7")
    with client(settings) as stranger:
        headers = {"authorization": f"Bearer {settings.token}", "host": "192.168.0.7:8000"}
        assert stranger.get("/api/about", headers=headers).status_code == 200
        assert stranger.get("/api/about", headers={**headers, "authorization": "Bearer x"}).status_code == 401


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/paper/..%2f..%2fetc%2fpasswd", "/paper/report.html"]
)
def test_no_path_leads_out(visitor, path):
    assert visitor.get(path).status_code == 404


def test_only_so_many_pages():
    with client(Settings(limits=Limits(pages=1))) as visitor, visitor.websocket_connect(LIVE, headers=OWN) as first:
        welcome(first)
        with visitor.websocket_connect(LIVE, headers=OWN) as second, pytest.raises(WebSocketDisconnect) as refused:
            second.receive_json()
        assert refused.value.code == 4429


def test_uploads_end_at_the_limit():
    small = Settings(limits=Limits(upload_bytes=1000))
    with client(small) as visitor, visitor.websocket_connect(LIVE, headers=OWN) as socket:
        page = welcome(socket)
        answer = visitor.post(f"/api/pages/{page}/league/tables/results?name=x.csv", content=b"a" * 1001, headers=OWN)
        assert answer.status_code == 413 and answer.json()["error"].startswith("x.csv is larger")


def test_long_requests_are_refused(visitor):
    with visitor.websocket_connect(LIVE, headers=OWN) as socket:
        page = welcome(socket)
        answer = visitor.post(f"/api/pages/{page}/league/rate", content=b"{" + b" " * 70_000 + b"}", headers=OWN)
        assert answer.status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b"[" * 60_000,
        b"\xff{}",
        b'{"columns": {"home": "\\ud800"}, "rater": "team"}',
        b'{"columns": 3, "rater": "team"}',
        b'{"columns": {}, "rater": 3}',
    ],
)
def test_nonsense_is_answered_with_a_sentence(visitor, body):
    with visitor.websocket_connect(LIVE, headers=OWN) as socket:
        page = welcome(socket)
        answer = visitor.post(f"/api/pages/{page}/league/rate", content=body, headers=OWN)
        assert answer.status_code == 400 and answer.json()["error"].endswith(".")


def test_a_page_that_left_is_forgotten(visitor):
    with visitor.websocket_connect(LIVE, headers=OWN) as socket:
        page = welcome(socket)
    answer = visitor.post(f"/api/pages/{page}/league/sample", headers=OWN)
    assert answer.status_code == 400 and "no longer connected" in answer.json()["error"]


def test_a_job_ends_and_uploads_vanish_when_the_page_leaves():
    app = create_app(Settings())
    with TestClient(app, base_url=HERE) as visitor:
        with visitor.websocket_connect(LIVE, headers=OWN) as socket:
            key = welcome(socket)
            page = app.state.pages.find(key)
            folder = page.folder
            assert visitor.post(f"/api/pages/{key}/league/prepare", headers=OWN).status_code == 200
            worker = app.state.jobs._workers[(key, "rating")]
            table = b"home,away,result\nA,B,1\nB,A,0\n"
            answer = visitor.post(
                f"/api/pages/{key}/league/tables/results?name=../../x.csv", content=table, headers=OWN
            )
            assert answer.status_code == 200 and answer.json()["tables"]["results"]["name"] == "x.csv"
            assert len(list(folder.iterdir())) == 1  # the table itself, until the page leaves
        end = time.monotonic() + PATIENCE
        while (folder.exists() or not worker.ended) and time.monotonic() < end:
            time.sleep(0.02)
        assert worker.ended and not folder.exists() and app.state.jobs.running("rating") == 0


def test_a_league_from_upload_to_download():
    app = create_app(Settings())
    pairs = ("AB", "BC", "AC", "CA") * 20
    table = "home,away,result,floor\n" + "\n".join(f"{a},{b},1,{'hall' if a < b else 'grass'}" for a, b in pairs)
    with TestClient(app, base_url=HERE) as visitor, visitor.websocket_connect(LIVE, headers=OWN) as socket:
        base = f"/api/pages/{(key := welcome(socket))}/league"
        assert visitor.post(f"{base}/tables/results", content=table.encode(), headers=OWN).status_code == 200
        chosen = {"columns": {"home": "home", "away": "away", "result": "result"}, "rater": "glicko"}
        rated = visitor.post(f"{base}/rate", json=chosen, headers=OWN).json()
        assert rated["leaderboard"]["rows"][0]["name"] == "A"
        assert message(socket, "progress")["subject"] == "rating"
        said = visitor.post(f"{base}/predict", json={"home": "A", "away": "B"}, headers=OWN).json()
        assert said["win"] > said["loss"]
        csv = visitor.get(f"{base}/ratings.csv")
        assert csv.text.startswith("name,rating") and "kinelo-ratings.csv" in csv.headers["content-disposition"]
        assert visitor.get(f"{base}/passwords.csv").status_code == 404
        asked = {"k": 20, "rater": "", "by": "", "reference": ""}
        for path, body, complaint in (
            ("audit", {**asked, "by": "nowhere"}, "There is no column 'nowhere'"),
            ("audit", {**asked, "by": 3}, "must be names"),
            ("audit", {**asked, "by": "floor", "reference": "nobody"}, "There is no group 'nobody' to refer to"),
            ("audit", {**asked, "rater": "os:system"}, "There is no rater 'os:system'"),
            ("audit", {**asked, "reference": "A"}, "A reference is one of the groups"),
            ("next", {"target": "leader", "count": 0, "size": 2}, "must lie between 1 and 50"),
            ("rate", {**chosen, "stated": True}, "The starting list has no column 'name'"),
        ):
            answer = visitor.post(f"{base}/{path}", json=body, headers=OWN)
            assert answer.status_code == 400 and complaint in answer.json()["error"], (path, answer.json())
        assert visitor.post(f"{base}/rate", json=chosen, headers=OWN).status_code == 200
        assert len(list(app.state.pages.find(key).folder.iterdir())) == 1
        assert visitor.delete(f"{base}/tables/results", headers=OWN).json() == {"tables": {}, "warnings": []}


def test_only_so_many_jobs():
    closed = Settings(limits=Limits(rating_workers=0))
    with client(closed) as visitor, visitor.websocket_connect(LIVE, headers=OWN) as socket:
        page = welcome(socket)
        answer = visitor.post(f"/api/pages/{page}/league/sample", headers=OWN)
        assert answer.status_code == 400 and "places" in answer.json()["error"]


@pytest.mark.parametrize(
    ("sent", "complaint"),
    [
        ("nonsense", "JSON object"),
        ('{"type": "start", "controls": {"sigma": -1}}', "sigma must lie between 0 and 3"),
        ('{"type": "start", "controls": {"teams": 100000}}', "teams must lie between"),
        ('{"type": "start", "controls": {"teams": NaN}}', "teams must be a number"),
        ('{"type": "start", "controls": {"law": "magic"}}', "law must be one of"),
        ('{"type": "start", "controls": {"law": {}}}', "law must be one of"),
        ('{"type": "start", "controls": {"law": ["normal"]}}', "law must be one of"),
        ('{"type": "start", "controls": {"sigma": 1' + 400 * "0" + "}}", "sigma must lie between"),
        ('{"type": "start", "controls": {"sigma": 1e999}}', "sigma must lie between"),
        ('{"type": "start", "seed": {}}', "seed must be"),
        (8000 * "[", "JSON object"),
        (2000 * '{"a":' + "1" + 2000 * "}", "JSON object"),
        ('{"type": "\\ud800"}', "JSON object"),
        ('{"type": "start", "controls": {"magic": 1}}', "There is no control"),
        ('{"type": "start", "controls": [], "seed": 1}', "names with values"),
        ('{"type": "start", "seed": -1}', "seed must be"),
        (
            '{"type": "start", "controls": {"law": "lottery", "players": 5, "lineup": 6}}',
            "at most 5, where “Squad” stands",
        ),
    ],
)
def test_bad_messages_are_answered_and_the_page_goes_on(visitor, sent, complaint):
    with visitor.websocket_connect(LIVE, headers=OWN) as socket:
        welcome(socket)
        socket.send_text(sent)
        kind = "complaint" if complaint == "JSON object" else "refused"
        assert complaint in message(socket, kind)["text"]
        socket.send_json({"type": "start", "controls": {"teams": 10}})
        assert message(socket, "started")["controls"]["teams"] == 10


def test_binary_messages_are_answered_and_the_page_goes_on(visitor):
    with visitor.websocket_connect(LIVE, headers=OWN) as socket:
        welcome(socket)
        socket.send_bytes(b"\x00\x01")
        assert "as text" in message(socket, "complaint")["text"]
        socket.send_json({"type": "speed", "speed": int("1" + 400 * "0")})
        socket.send_json({"type": "start", "controls": {"teams": 10}})
        assert message(socket, "started")["controls"]["teams"] == 10


TABLE = b"date,home,away,result\n" + b"\n".join(
    f"2024-01-{1 + k:02d},{'ABC'[k % 3]},{'ABC'[(k + 1 + k % 2) % 3]},{k % 2}".encode() for k in range(24)
)
CHOSEN = {"columns": {"date": "date", "home": "home", "away": "away", "result": "result"}, "rater": "team"}
DAMAGED = [
    b"PAR1" + bytes(range(256)) * 8 + b"PAR1",
    b"PAR1\xff\xff\xff\x7fPAR1",
    b"\x00" * 4096,
    b",".join(b"c%d" % k for k in range(5000)) + b"\n" + b",".join(b"1" for _ in range(5000)) + b"\n",
]


def test_no_file_costs_a_page_its_tables():
    import polars as pl

    whole = io.BytesIO()
    pl.DataFrame({"home": ["A"] * 500, "away": ["B"] * 500, "result": [1] * 500}).write_parquet(whole)
    torn = bytearray(whole.getvalue())
    torn[len(torn) // 2 : len(torn) // 2 + 40] = b"\xff" * 40
    with client() as visitor, visitor.websocket_connect(LIVE, headers=OWN) as socket:
        base = f"/api/pages/{welcome(socket)}/league"
        assert visitor.post(f"{base}/tables/results?name=good.csv", content=TABLE, headers=OWN).status_code == 200
        rated = visitor.post(f"{base}/rate", json=CHOSEN, headers=OWN).json()
        before = visitor.app.state.jobs._workers  # type: ignore[attr-defined]
        process = next(iter(before.values()))._process.pid
        for bad in [*DAMAGED, bytes(torn), bytes(torn[:-30])]:
            answer = visitor.post(f"{base}/tables/results?name=bad.bin", content=bad, headers=OWN)
            assert answer.status_code == 400 and answer.json()["error"].count("bad.bin") == 1, bad[:20]
            assert next(iter(before.values()))._process.pid == process, bad[:20]
        said = visitor.post(f"{base}/predict", json={"home": "A", "away": "B"}, headers=OWN).json()
        assert said["win"] != said["loss"]
        assert visitor.post(f"{base}/rate", json=CHOSEN, headers=OWN).json()["leaderboard"] == rated["leaderboard"]


def test_a_worker_that_dies_outright_is_replaced_by_one_that_knows_the_tables_and_ratings():
    app = create_app(Settings())
    with TestClient(app, base_url=HERE) as visitor, visitor.websocket_connect(LIVE, headers=OWN) as socket:
        key = welcome(socket)
        base = f"/api/pages/{key}/league"
        assert visitor.post(f"{base}/tables/results?name=good.csv", content=TABLE, headers=OWN).status_code == 200
        assert visitor.post(f"{base}/rate", json=CHOSEN, headers=OWN).status_code == 200
        said = visitor.post(f"{base}/predict", json={"home": "A", "away": "B"}, headers=OWN).json()

        def die() -> None:
            while not worker._busy.locked():  # until the file has been handed to it
                time.sleep(0.01)
            os.kill(process, signal.SIGKILL)

        for _ in range(2):
            worker = app.state.jobs._workers[(key, "rating")]
            process = worker._process.pid
            os.kill(process, signal.SIGSTOP)  # it dies while it reads, as a file that takes all memory has it
            death = threading.Thread(target=die)
            death.start()
            answer = visitor.post(f"{base}/tables/lineups?name=bad.csv", content=b"a,b\n1,2\n", headers=OWN)
            assert answer.status_code == 400 and answer.json()["error"].startswith("bad.csv could not be read")
            death.join()
            # At once, while the dead process may not have been waited for: what was there is there.
            assert visitor.post(f"{base}/predict", json={"home": "A", "away": "B"}, headers=OWN).json() == said
        seen = visitor.post(f"{base}/tables/lineups?name=l.csv", content=b"match_id,player\n1,X\n", headers=OWN).json()
        assert {kind: table["name"] for kind, table in seen["tables"].items()} == {
            "results": "good.csv",
            "lineups": "l.csv",
        }
        assert len(list(app.state.pages.find(key).folder.iterdir())) == 2  # the two tables, and nothing of the bad file
        assert visitor.delete(f"{base}/tables/results", headers=OWN).json()["tables"].keys() == {"lineups"}
        assert len(list(app.state.pages.find(key).folder.iterdir())) == 1


def test_a_pinned_setting_is_answered_by_theory(visitor):
    from kinelo.lab.explore.controls import Controls
    from kinelo.lab.explore.theory import predicted_map

    found = visitor.post("/api/theory", json={"gamma": 0.3}, headers=OWN).json()
    assert found["map"]["slope"] == predicted_map(Controls(gamma=0.3)).slope
    assert visitor.post("/api/theory", json={"gamma": 7}, headers=OWN).status_code == 400
    assert visitor.get("/api/guide/9").status_code == visitor.get("/api/guide/1?units=miles").status_code == 400
    rows = visitor.post("/api/diagnosis", json={"units": "elo"}, headers=OWN).json()
    assert "K = 213.1" in dict(rows)["Unbiased step size"]
    assert visitor.post("/api/diagnosis", json={"units": "miles"}, headers=OWN).status_code == 400
