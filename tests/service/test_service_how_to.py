"""The pages service.md and deploy.md of docs/how-to: requests run as they stand, settings are such as programs take."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import kinelo as kn

pytest.importorskip("fastapi", reason="FastAPI is not installed (kinelo[serve])")
from running_service import Service

from patience import PATIENCE

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
PAGE = "".join((HOW_TO / name).read_text(encoding="utf-8") for name in ("service.md", "deploy.md"))
TOOLS = "/usr/local/sbin:/usr/sbin:/sbin"


def blocks(language: str, word: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
    return [block for block in found if word in block]


def program(name: str) -> str:
    found = shutil.which(name, path=os.environ["PATH"] + os.pathsep + TOOLS)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def said(command: list[str], **more: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, **more}, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_requests_of_the_page_are_answered(tmp_path):
    """With curl, from Python and from JavaScript, one after the other, of one service that has the page's book."""
    curl, node, shell = program("curl"), program("node"), program("sh")
    kn.RatingBook(tmp_path / "ratings.db", kn.Glicko()).close()
    service = Service(tmp_path, "ratings.db")
    (first,), (python,), (script,) = blocks("sh", "matches -H"), blocks("py", "urlopen"), blocks("js", "fetch")
    here = {"localhost:8000": service.address.removeprefix("http://"), "curl ": f"{curl} -sSf "}

    def of_here(block: str) -> str:
        for word, own in here.items():
            block = block.replace(word, own)
        return block

    try:
        answers = said([shell, "-ec", of_here(first)])
        assert answers.startswith('{"new":1,"known":0,"changed":0}') and answers.count('"quality"') == 2
        found = said([sys.executable, "-c", of_here(python)])
        assert re.fullmatch(r"{'new': 1, 'known': 0, 'changed': 0}\n0\.\d+ 1\n", found)
        best = said([node, "--input-type=module", "-e", of_here(script)], KINELO_TOKEN="none is asked for")
        assert re.fullmatch(r"(Bob|Cid) 0\.\d+\nAnn\n", best)
        refused = of_here(python).replace('"Bob", "Cid", 0.5', '"Bob", "Bob", 0.5')
        done = subprocess.run([sys.executable, "-c", refused], capture_output=True, text=True, timeout=PATIENCE)
        assert "ValueError: 'Bob' cannot play against itself" in done.stderr
    finally:
        service.terminate()
    book = kn.RatingBook(tmp_path / "ratings.db")
    assert book.matches().match_id.tolist() == ["m1", "m2", "m3"]


def test_the_clients_of_the_page_send_again_until_they_are_answered(tmp_path):
    """Whoever answers 503, or hangs up, twice: the third time is answered, and nothing is said of the others."""
    node = program("node")
    (python,), (script,) = blocks("py", "urlopen"), blocks("js", "fetch")
    asked, answers = [], {"/matches": {"new": 1}, "/forecast": {"win": 0.7}, "/quality": {"ranked": [
        {"candidate": "Bob", "quality": 0.9}]}, "/ratings": {"place": 3, "ratings": [{"name": "Ann"}]}}  # fmt: skip

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self):
            path = "/" + self.path.split("?")[0].split("/")[1]
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked.append(path)
            if asked.count(path) == 1:
                self.close_connection = True
                return
            body = json.dumps(answers[path] if asked.count(path) > 2 else {"error": "later"}).encode()
            self.send_response(200 if asked.count(path) > 2 else 503)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST

        def log_message(self, *_):
            """Nothing."""

    for command, expected in (
        ([sys.executable, "-c", python], "{'new': 1}\n0.7 3\n"),
        ([node, "--input-type=module", "-e", script], "Bob 0.9\nAnn\n"),
    ):
        asked.clear()
        with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            command[-1] = command[-1].replace("localhost:8000", f"127.0.0.1:{server.server_port}")
            assert said(command) == expected
            server.shutdown()
        assert [asked.count(path) for path in dict.fromkeys(asked)] == [3, 3, 3]


def test_contests_of_the_page_are_answered(tmp_path):
    from starlette.testclient import TestClient

    from kinelo.service.app import create_app
    from kinelo.service.settings import Settings

    kn.RatingBook(tmp_path / "arena.db", kn.RankElo()).close()
    (block,) = blocks("sh", "/contests")
    requests = re.findall(r"localhost:8000(\S+) .*?-d '(.*?)'", block, flags=re.DOTALL)
    with TestClient(create_app(Settings(str(tmp_path / "arena.db"))), base_url="http://127.0.0.1:8000") as client:
        for path, body in requests:
            assert client.post(path, content=body, headers={"Content-Type": "application/json"}).status_code == 200
    assert len(requests) == 3 and len(kn.RatingBook(tmp_path / "arena.db")) == 2


def test_nginx_takes_the_settings_of_the_page(tmp_path):
    nginx, openssl = program("nginx"), program("openssl")
    said([openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=ratings.example",
          "-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "own.pem")])  # fmt: skip
    (server,) = blocks("nginx", "proxy_pass")
    own = f"ssl_certificate {tmp_path}/own.pem; ssl_certificate_key {tmp_path}/key.pem;"
    settings = tmp_path / "nginx.conf"
    settings.write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}}\nhttp {{ access_log off;\n"
        f"{server.replace('# ssl_certificate …', own)} }}\n"
    )
    said([nginx, "-t", "-q", "-p", str(tmp_path), "-c", str(settings)])


def test_systemd_takes_the_settings_of_the_page(tmp_path):
    analyze = program("systemd-analyze")
    (unit,) = blocks("ini", "ExecStart")
    command = tmp_path / "kinelo"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    settings = tmp_path / "ratings.service"
    settings.write_text(unit.replace("/opt/ratings/bin/kinelo", str(command)))
    done = subprocess.run(
        [analyze, "verify", str(settings)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    ours = [line for line in done.stderr.splitlines() if "ratings.service" in line]
    assert not ours, ours
