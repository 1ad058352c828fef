"""`kinelo serve` as a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from patience import PATIENCE


class Service:
    """A service that can be killed and started again."""

    def __init__(self, folder: Path, book: str, *options: str, **environment: str) -> None:
        self.folder, self.book, self.options, self.environment = folder, book, options, environment
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "kinelo.cli", "serve", self.book, "--port", "0", *self.options]
        self.process = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "OPENBLAS_NUM_THREADS": "1", **self.environment},
        )  # fmt: skip
        assert self.process.stdout is not None
        said = ""
        while not (found := re.search(r"http://\S+", said)):
            line = self.process.stdout.readline()
            assert line, f"the service ended before it was open: {said}"
            said += line
        self.address = found.group()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    def terminate(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Status and answer."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)
