"""Files that are none and addresses at which nobody can listen: a sentence each, with the name that is wrong."""

import errno
import os
import socket
import sys

import pytest

from kinelo.errors import InputError
from kinelo.runtime import listening
from kinelo.runtime.reading import check_tree, read_file, read_json, read_text


def test_what_is_no_file_is_named(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, kind in (("folder", "a folder"), ("pipe", "a pipe"), ("/dev/null", "a device")):
        with pytest.raises(InputError) as refused:
            read_file(tmp_path / name, "study")
        assert str(refused.value) == f"The study {tmp_path / name} cannot be read: it is {kind}."
    with pytest.raises(InputError) as refused:
        read_file(tmp_path / "none", "study")
    assert str(refused.value) == f"There is no study {tmp_path / 'none'}."
    (tmp_path / "folder" / "there").write_bytes(b"\0x")
    assert read_file(tmp_path / "folder" / "there") == b"\0x"
    check_tree(tmp_path / "folder")
    with pytest.raises(InputError, match=r"The file .*pipe cannot be read: it is a pipe\."):
        check_tree(tmp_path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{1: 2}", "it is not JSON (Expecting property name enclosed in double quotes: line 1 column 2 (char 1))."),
        (b"[" * 100_000, "it is nested too deeply."),
        (b'{"a": "\xff"}', "it is not text in UTF-8 (invalid start byte)."),
    ],
)
def test_what_is_no_json_is_named(tmp_path, content, reason):
    path = tmp_path / "kept.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_json(path, "manifest")
    assert str(refused.value) == f"The manifest {path} cannot be read: {reason}"
    path.write_bytes('{"a": [1, "é"]}'.encode())
    assert read_json(path) == {"a": [1, "é"]} and read_text(path) == '{"a": [1, "é"]}'


@pytest.mark.parametrize(
    ("name", "address", "here"),
    [
        ("localhost", False, True),
        ("LocalHost", False, True),
        ("127.0.0.1", True, True),
        ("127.8.8.8", True, True),
        ("::1", True, True),
        ("0.0.0.0", True, False),
        ("192.168.1.5", True, False),
        ("::", True, False),
        ("127.0.0.1.example.org", False, False),
        ("", False, False),
    ],
)
def test_who_can_reach_an_address(name, address, here):
    assert (listening.is_address(name), listening.is_loopback(name)) == (address, here)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("example.org", "example.org"),
        (" Example.org:80 ", "example.org"),
        ("[::1]:8000", "::1"),
        ("[::1]", "::1"),
        ("[::1].example.org", ""),
        ("a b", ""),
        ("a:80:80", ""),
        ("a@b", ""),
        ("", ""),
    ],
)
def test_the_name_in_a_host_header(header, name):
    assert listening.host_name(header) == name


def test_a_port_in_use_is_named_and_one_that_was_left_is_free_at_once():
    first = listening.listen_at("127.0.0.1", 0, "The lab")
    first.listen()
    port = first.getsockname()[1]
    with pytest.raises(InputError) as refused:
        listening.listen_at("127.0.0.1", port, "The lab")
    assert str(refused.value) == f"The lab cannot start: port {port} is already in use; choose another with --port."
    # Whoever closes a connection leaves it to fade for a minute, which keeps nobody from listening there again.
    with socket.create_connection(first.getsockname()), first.accept()[0]:
        pass
    first.close()
    listening.listen_at("127.0.0.1", port, "The lab").close()


@pytest.mark.skipif(not hasattr(socket, "SO_REUSEPORT"), reason="ports are not shared here")
@pytest.mark.parametrize("shared", [False, True])
def test_small_parts_of_a_body_are_sent_at_once_and_ports_shared_where_asked(shared):
    with listening.listen_at("127.0.0.1", 0, "A server", shared=shared) as listener:
        assert listener.family == socket.AF_INET
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
        assert bool(listener.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT)) == shared


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux deals connections out")
def test_an_address_is_shared_by_processes_of_one_server_and_nobody_else():
    first = listening.listen_at("127.0.0.1", 0, "The lab")
    address = first.getsockname()
    held = listening.share(first, "The lab")
    own = [listening.listen_at(*address, "The lab", shared=True) for _ in range(2)]
    for one in own:
        one.listen()
    with pytest.raises(InputError) as refused:
        listening.share(first, "The service")
    said = f"The service cannot start: port {address[1]} is already in use; choose another with --port."
    assert str(refused.value) == said
    for one in (first, held, *own):
        one.close()
    listening.share(listening.listen_at(*address, "The lab"), "The lab").close()


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.EACCES, "port 80 needs special rights; choose one from 1024 to 65535 with --port."),
        (errno.EPERM, "port 80 needs special rights; choose one from 1024 to 65535 with --port."),
        (errno.EADDRNOTAVAIL, "192.0.2.7 is not an address of this machine; choose another with --host."),
    ],
)
def test_why_nobody_can_listen(monkeypatch, number, reason):
    class Refusing(socket.socket):
        def bind(self, address):
            raise OSError(number, "no")

    monkeypatch.setattr(listening.socket, "socket", Refusing)
    with pytest.raises(InputError) as refused:
        listening.listen_at("192.0.2.7", 80, "The service")
    assert str(refused.value) == f"The service cannot start: {reason}"


@pytest.mark.parametrize("found", ["127.0.0.1", None])
def test_a_machine_on_no_network_shares_nothing(monkeypatch, found):
    class Probe(socket.socket):
        def connect(self, address):
            if found is None:
                raise OSError(errno.ENETUNREACH, "no")

        def getsockname(self):
            return found, 9

    monkeypatch.setattr(listening.socket, "socket", Probe)
    with pytest.raises(InputError) as refused:
        listening.network_address()
    assert str(refused.value) == "This machine is on no network, so nobody else can be let in: leave out --share."
    found = "10.1.2.3"
    assert listening.network_address() == "10.1.2.3"
