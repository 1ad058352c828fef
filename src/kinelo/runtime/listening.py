"""Where a server listens: addresses that only this machine can reach, names in Host headers, and its socket."""

from __future__ import annotations

import errno
import ipaddress
import re
import socket

from kinelo.errors import InputError

HOST_HEADER = re.compile(r"(\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[^\s:/@\[\]\\]+))(:\d*)?")
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


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
    return is_address(host) and ipaddress.ip_address(host).is_loopback


def is_address(name: str) -> bool:
    """Whether a name is an address in numbers."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def network_address() -> str:
    """The address by which others on its network reach this machine; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # reserved for documentation: it only chooses a way out
            address = probe.getsockname()[0]
        except OSError:
            address = "127.0.0.1"
    if is_loopback(address):
        raise InputError("This machine is on no network, so nobody else can be let in: leave out --share.")
    return address


def listen_at(host: str, port: int, who: str, *, shared: bool = False) -> socket.socket:
    """Bind to an address, before anything is loaded that takes time, or say in one sentence why that fails; one that is
    ``shared`` by processes that listen there, too, each with a queue of its own."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # else a body waits 40 ms for its head to arrive
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise _in_use(who, port) from None
        if error.errno in (errno.EACCES, errno.EPERM):
            reason = f"port {port} needs special rights; choose one from 1024 to 65535 with --port."
        else:
            reason = f"{host} is not an address of this machine; choose another with --host."
        raise InputError(f"{who} cannot start: {reason}") from None
    return listener


def share(listener: socket.socket, who: str) -> socket.socket:
    """Let other processes of the same user listen at the address of a listener, too (on Linux), but not those that
    share it for something else, as long as what is returned is kept."""
    address = listener.getsockname()
    ours = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        ours.bind(f"\0kinelo {address}")  # a name that ends with this process
    except OSError:
        ours.close()
        raise _in_use(who, address[1]) from None
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    return ours


def _in_use(who: str, port: int) -> InputError:
    return InputError(f"{who} cannot start: port {port} is already in use; choose another with --port.")
