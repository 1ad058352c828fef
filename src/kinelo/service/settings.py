"""How a book is served: which, where, to whom, and how much it takes on."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field

from kinelo.errors import InputError
from kinelo.runtime.listening import is_loopback

TOKEN = "KINELO_TOKEN"
LEAST_TOKEN = 16
"""Letters of the shortest token that is taken."""
HANDED_OVER = "KINELO_SERVED"
"""The variable by which the processes of a service learn what they serve."""


@dataclass(frozen=True)
class Settings:
    """Book, address and limits of one service.

    Where ``KINELO_TOKEN`` is set every request but ``/health`` must bring it; on any address but loopback it must be.

    >>> Settings("ratings.db").address
    'http://127.0.0.1:8000'
    """

    book: str
    rater: str | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    most_bytes: int = 1 << 20
    refit_every: int | None = None
    beside: str = ""
    """Where the process listens that rates large books again; without one each worker does so itself."""
    token: str = field(default_factory=lambda: os.environ.get(TOKEN, ""), repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InputError(f"--port must lie between 0 and 65535, not at {self.port}.")
        if not 1 <= self.workers <= 64:
            raise InputError(f"--workers must lie between 1 and 64, not at {self.workers}.")
        if self.refit_every is not None and self.refit_every < 1:
            raise InputError(f"--refit-every must be at least 1, not {self.refit_every}.")
        if self.token and len(self.token) < LEAST_TOKEN:
            raise InputError(f"{TOKEN} is shorter than {LEAST_TOKEN} letters, which can be guessed.")
        if not self.token and not is_loopback(self.host):
            raise InputError(
                f"{self.host} can be reached from elsewhere: set {TOKEN} to a secret that every request must bring "
                "(Authorization: Bearer …), or leave out --host."
            )

    @property
    def address(self) -> str:
        """Where the service answers."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def hand_over(self) -> None:
        """Let processes that are started from now on find these settings; the token has a variable of its own."""
        said = asdict(self)
        del said["token"]
        os.environ[HANDED_OVER] = json.dumps(said)

    @classmethod
    def handed_over(cls) -> Settings:
        """The settings of the process that started this one."""
        return cls(**json.loads(os.environ[HANDED_OVER]))
