"""`kinelo lab` as a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

from patience import PATIENCE

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


class Lab:
    """`kinelo lab` as a process; it can be killed and started again on the same port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options, self.port = folder, options, 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "kinelo.cli", "lab", "--no-browser", "--port", str(self.port), *self.options]
        self.process = subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        assert self.process.stdout is not None
        self.said = ""
        while not (found := re.search(r"http://\S+", self.said)):
            line = self.process.stdout.readline()
            assert line, f"the lab ended before it was open: {self.said}"
            self.said += line
        self.address = found.group()
        self.port = int(re.search(r":(\d+)/", self.address).group(1))  # type: ignore[union-attr]
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)
