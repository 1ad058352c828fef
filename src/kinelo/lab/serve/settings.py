"""How the lab is served: where, to whom (its address also as a QR code), and how much it takes on."""

from __future__ import annotations

import io
import secrets
import socket
from dataclasses import dataclass, field
from pathlib import Path

from kinelo.runtime.listening import host_name, is_address, is_loopback, listen_at, network_address

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Of a code: none that is taken for another when it is read from a wall."""
CODE = 10
"""Letters of a code: 8e14 codes, of which a thousand guesses a second find one in a day in 1e-7 of all cases."""


@dataclass(frozen=True)
class Limits:
    """The most that visitors together, or one of them, may ask for."""

    pages: int = 40
    upload_bytes: int = 100 * 2**20
    rows: int = 3_000_000
    columns: int = 200
    request_bytes: int = 64 * 2**10
    message_bytes: int = 16 * 2**10
    rating_workers: int = 6
    paper_jobs: int = 1
    figure_workers: int = 4
    job_seconds: float = 300.0
    paper_seconds: float = 3600.0
    worker_memory: int = 4 * 2**30


@dataclass(frozen=True)
class Settings:
    """Address, token and limits of one server.

    On a loopback address no token is asked for, because nobody else can reach it; on any other, a short code is made
    up and every visitor must bring it. ``shared`` shows all visitors the way in.

    >>> Settings().token is None, Settings(host="0.0.0.0").token is None
    (True, False)
    """

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = field(default=None, repr=False)
    paper: Path = Path("reproduction")
    limits: Limits = Limits()
    shared: bool = False

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            object.__setattr__(self, "token", "".join(secrets.choice(LETTERS) for _ in range(CODE)))

    @property
    def address(self) -> str:
        """What to type into a browser: on this machine, or on its network where the lab is shared."""
        everywhere = self.host in ("0.0.0.0", "::")
        own = network_address if self.shared else socket.gethostname
        shown = own() if everywhere else self.host
        host = f"[{shown}]" if ":" in shown else shown
        return f"http://{host}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    @property
    def cookie(self) -> str:
        """Name of the cookie that carries the token; browsers share cookies between the ports of a machine."""
        return f"kinelo_token_{self.port}"

    def accepts_host(self, header: str) -> bool:
        """Whether a Host header names this server.

        Names that an attacker could point at this machine are refused; an address or one of the machine's own names
        cannot be misused that way.

        >>> own = Settings()
        >>> own.accepts_host("127.0.0.1:8000"), own.accepts_host("localhost"), own.accepts_host("evil.example:8000")
        (True, True, False)
        """
        name = host_name(header)
        if is_loopback(name):
            return True
        if is_loopback(self.host):
            return False
        return name in (self.host.lower(), socket.gethostname().lower()) or is_address(name)


def open_socket(settings: Settings) -> socket.socket:
    """Bind to the address of the lab."""
    return listen_at(settings.host, settings.port, "The lab")


def code_as_text(address: str) -> str:
    """The code in the characters of a terminal."""
    import segno

    out = io.StringIO()
    segno.make_qr(address).terminal(out, border=2, compact=True)
    return out.getvalue()


def code_as_svg(address: str) -> bytes:
    """The code as a picture, dark on light whatever the colours of the page."""
    import segno

    out = io.BytesIO()
    segno.make_qr(address).save(out, kind="svg", scale=8, dark="#000", light="#fff", omitsize=True)
    return out.getvalue()
