"""Connections that keep the server waiting, over real sockets and with settings a thousandth of what is usual; and answers
as they leave."""

from __future__ import annotations

import base64
import os
import re
import select
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from ovillo.interfaces.http.endpoints import Exchange, Reply
from ovillo.interfaces.websocket.mount import open_mount as websocket_mount
from tests.interfaces.http.serving import Site, endpoint, serving
from tests.interfaces.opened import settings_for

_HEAD = "POST /api/things/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
#: A server that does not mind would keep the test waiting so long (seconds).
_LONG = 20.0


def _echo(call: Exchange[Any, dict[str, Any]]) -> Reply:
    return Reply(call.body)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    hasty = settings_for(tmp_path, head_timeout_s=0.3, body_timeout_s=0.3, keep_alive_s=0.3, ping_interval_s=0.3)
    endpoints = [endpoint(_echo, method="POST", body=dict[str, Any])]
    with serving(hasty, websocket_mount, endpoints=endpoints) as running:
        yield running


@pytest.fixture
def raw(site: Site) -> Iterator[socket.socket]:
    host, _, port = site.host.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=_LONG) as connection:
        yield connection


@pytest.fixture
def patient(tmp_path: Path) -> Iterator[socket.socket]:
    """A connection to a server that waits as long as usual."""
    endpoints = [endpoint(_echo, method="POST", body=dict[str, Any])]
    with serving(settings_for(tmp_path), endpoints=endpoints) as running:
        host, _, port = running.host.rpartition(":")
        with socket.create_connection((host, int(port)), timeout=_LONG) as connection:
            yield connection


def _rest(raw: socket.socket) -> bytes:
    """All that comes until the server ends the connection; an error when it does not."""
    came = b""
    try:
        while data := raw.recv(65_536):
            came += data
    except ConnectionResetError:
        pass
    return came


def _drip(raw: socket.socket, text: bytes) -> bytes:
    """Sends a byte now and then, always before any time-out, until the server has had enough; what it said."""
    came = b""
    for byte in text * (int(_LONG / 0.05) // len(text) + 1):
        readable, _, _ = select.select([raw], [], [], 0.05)
        try:
            if readable:
                data = raw.recv(65_536)
                if not data:
                    return came
                came += data
                continue
            raw.send(bytes([byte]))
        except (BrokenPipeError, ConnectionResetError):
            return came
    raise AssertionError("the server waits for ever")


@pytest.mark.requirement("HTTP-32")
def test_a_connection_that_never_says_anything_is_ended(raw: socket.socket) -> None:
    assert _rest(raw) == b""


@pytest.mark.requirement("HTTP-32")
@pytest.mark.parametrize("begun", ["", "G", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_head_that_drips_is_ended(raw: socket.socket, begun: str) -> None:
    raw.sendall(begun.encode())
    said = _drip(
        raw, b"X-Pad: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n" if begun.endswith("\n") else b"\r\n" if not begun else b"G"
    )
    assert not said or said.startswith((b"HTTP/1.1 408", b"HTTP/1.1 400"))


@pytest.mark.requirement("HTTP-33")
@pytest.mark.parametrize(
    ("begun", "more", "status"),
    [
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Pad: ", b"a" * 65_536, b"HTTP/1.1 431"),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\n", b"X-Pad: a\r\n" * 6_000, b"HTTP/1.1 431"),
        # What comes behind the end of a chunked body; this one was answered long before.
        (
            "POST /nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Pad: ",
            b"a" * 65_536,
            b"HTTP/1.1 404",
        ),
    ],
)
def test_a_head_without_an_end_is_refused_while_it_is_small(
    patient: socket.socket, begun: str, more: bytes, status: bytes
) -> None:
    patient.sendall(begun.encode())
    sent, said = 0, b""
    try:
        while sent < 64 << 20:
            sent += patient.send(more)
            if select.select([patient], [], [], 0)[0]:
                said += (data := patient.recv(65_536))
                if not data:
                    break
    except (BrokenPipeError, ConnectionResetError):
        pass
    # The connection's own buffers hold some megabytes on the way.
    assert sent < 32 << 20, "the server takes a head of any size"
    assert not said or said.startswith(status)


@pytest.mark.requirement("HTTP-33")
def test_a_large_body_is_no_head(patient: socket.socket) -> None:
    text = b'{"text": "' + b"a" * 1_000_000 + b'"}'
    patient.sendall(f"{_HEAD}Connection: close\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text)
    assert _rest(patient).startswith(b"HTTP/1.1 200")


@pytest.mark.requirement("HTTP-32")
@pytest.mark.parametrize(
    "declared", ["Content-Length: 100000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"]
)
def test_a_body_that_drips_or_stops_gets_408_and_an_end(site: Site, raw: socket.socket, declared: str) -> None:
    raw.sendall(f"{_HEAD}{declared}".encode())
    said = _drip(raw, b" " if "Length" in declared else b"1\r\n \r\n")
    assert said.startswith(b"HTTP/1.1 408")
    assert b"body_timeout_s" in said
    host, _, port = site.host.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=_LONG) as silent:
        silent.sendall(f"{_HEAD}{declared}".encode())
        assert _rest(silent).startswith(b"HTTP/1.1 408")


@pytest.mark.requirement("HTTP-32")
def test_the_rest_of_a_body_that_was_answered_already_may_not_drip_either(raw: socket.socket) -> None:
    raw.sendall(b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n{")
    assert _drip(raw, b" ").startswith(b"HTTP/1.1 404")


@pytest.mark.requirement("HTTP-32")
def test_a_body_that_keeps_coming_may_take_longer_than_the_time_for_nothing(raw: socket.socket) -> None:
    text = b'{"a": "' + b"x" * 4_000 + b'"}'
    raw.sendall(f"{_HEAD}Content-Length: {len(text)}\r\n\r\n".encode())
    for at in range(0, len(text), 400):
        # A tenth of a second each, a second in all: more than thrice the time for a body that does not come.
        assert select.select([raw], [], [], 0.1)[0] == []
        raw.sendall(text[at : at + 400])
    assert raw.recv(65_536).startswith(b"HTTP/1.1 200")


@pytest.mark.requirement("HTTP-32")
def test_an_idle_connection_is_ended_and_line_breaks_keep_none_open(site: Site, raw: socket.socket) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    raw.sendall(request)
    assert raw.recv(65_536).startswith(b"HTTP/1.1 200")
    raw.sendall(request)
    assert raw.recv(65_536).startswith(b"HTTP/1.1 200")
    assert _rest(raw) == b""
    host, _, port = site.host.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=_LONG) as other:
        other.sendall(request)
        assert _drip(other, b"\r\n").startswith(b"HTTP/1.1 200")


@pytest.mark.requirement("HTTP-32")
def test_a_long_answer_and_a_stream_are_not_cut_short(tmp_path: Path) -> None:
    let_go = threading.Event()

    def slow(call: Exchange[Any, Any]) -> Reply:
        assert let_go.wait(_LONG)
        return Reply({"done": True})

    hasty = settings_for(tmp_path, head_timeout_s=0.1, body_timeout_s=0.1, keep_alive_s=0.1)
    with serving(hasty, endpoints=[endpoint(slow, method="POST", body=dict[str, Any])]) as site:
        connection = site.connect()
        connection.request("POST", "/api/things/a", b"{}", {"Content-Type": "application/json"})
        assert select.select([connection.sock], [], [], 1.0)[0] == []
        let_go.set()
        assert connection.getresponse().status == 200
        connection.close()


@pytest.mark.requirement("HTTP-32")
def test_the_head_of_a_stream_does_not_wait_for_its_first_event(tmp_path: Path) -> None:
    begins = threading.Event()

    async def events() -> AsyncIterator[bytes]:
        assert await anyio.to_thread.run_sync(begins.wait, _LONG)
        yield b"data: 1\n\n"

    def stream(call: Exchange[Any, Any]) -> Reply[Any]:
        return Reply(events(), content_type="text/event-stream")

    with serving(settings_for(tmp_path), endpoints=[endpoint(stream)]) as site:
        connection = site.connect()
        connection.request("GET", "/api/things/a", headers={**site.credential})
        answer = connection.getresponse()
        assert answer.getheader("content-type") == "text/event-stream"
        begins.set()
        assert answer.read() == b"data: 1\n\n"
        connection.close()


@pytest.mark.requirement("HTTP-34")
def test_answers_of_every_size_come_whole_and_in_order_on_one_connection(tmp_path: Path) -> None:
    sizes = (0, 1, 65_535, 65_536, 65_537, 3_000_000, 2)

    def sized(call: Exchange[Any, Any]) -> Reply[Any]:
        return Reply(b"a" * int(call.path["id"]), content_type="text/plain")

    with serving(settings_for(tmp_path), endpoints=[endpoint(sized)]) as site:
        host, _, port = site.host.rpartition(":")
        credential = "".join(f"{name}: {value}\r\n" for name, value in site.credential.items())
        asked = [
            f"{method} /api/things/{size} HTTP/1.1\r\nHost: localhost\r\n{credential}Connection: {connection}\r\n\r\n"
            for method, size, connection in (
                *(("GET", size, "keep-alive") for size in sizes),
                ("HEAD", 100, "keep-alive"),
                ("GET", 100, "close"),
            )
        ]
        with socket.create_connection((host, int(port)), timeout=_LONG) as raw:
            raw.sendall("".join(asked).encode())
            said = _rest(raw)
    heads = [part for part in said.split(b"\r\n\r\n") if b"HTTP/1.1" in part]
    assert [len(part) for part in re.findall(rb"\r\n\r\n(a*)", said)] == [*sizes, 0, 100]
    assert [int(re.search(rb"content-length: (\d+)", head)[1]) for head in heads] == [*sizes, 100, 100]  # type: ignore[index]


@pytest.mark.requirement("HTTP-32")
def test_a_socket_that_answers_no_ping_is_ended(raw: socket.socket) -> None:
    key = base64.b64encode(os.urandom(16)).decode()
    raw.sendall(
        "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
    )
    said = _rest(raw)
    assert said.startswith(b"HTTP/1.1 101")
    # A ping was sent (RFC 6455: opcode 9), and in the end the connection closed (opcode 8).
    assert b"\x89\x04" in said
    assert b"\x88" in said
