"""How the lab is served: where, to whom, and how much it takes on."""

from __future__ import annotations

import errno
import ipaddress
import re
import secrets
import socket
from dataclasses import dataclass, field
from pathlib import Path

from kinelo.errors import InputError

HOST_HEADER = re.compile(r"(\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^\s:/@\[\]\\]+))(:\d*)?")
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


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

    On a loopback address no token is asked for, because nobody else can reach it; on any other, a token is made up
    and every visitor must bring it.

    >>> Settings().token is None, Settings(host="0.0.0.0").token is None
    (True, False)
    """

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = field(default=None, repr=False)
    paper: Path = Path("reproduction")
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            object.__setattr__(self, "token", secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        """What to type into a browser on this machine."""
        shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(self.host, self.host)
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
        return name in (self.host.lower(), socket.gethostname().lower()) or _is_address(name)


def host_name(header: str) -> str:
    """The name in a Host header, without the port; empty where the header is none.

    >>> host_name("[::1]:8000"), host_name("LocalHost:8000"), host_name("[::1].evil.example")
    ('::1', 'localhost', '')
    """
    found = HOST_HEADER.fullmatch(header.strip().lower())
    return "" if found is None else found["address"] or found["name"]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host.lower() in LOOPBACK_NAMES:
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def open_socket(settings: Settings) -> socket.socket:
    """Bind to the address, before anything is loaded that takes time, or say in one sentence why that fails."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            reason = f"port {settings.port} is already in use; choose another with --port."
        elif error.errno in (errno.EACCES, errno.EPERM):
            reason = f"port {settings.port} needs special rights; choose one from 1024 to 65535 with --port."
        else:
            reason = f"{settings.host} is not an address of this machine; choose another with --host."
        raise InputError(f"The lab cannot start: {reason}") from None
    return listener
