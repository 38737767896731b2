"""The HTTP server: both eras at /mcp, and what never gets that far."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest
import uvicorn
from mcp import Client

from ovillo.interfaces.mcp.guard import MAX_BODY_BYTES, is_loopback
from ovillo.interfaces.mcp.http import bind, build_http_app, run_http, url_of
from ovillo.interfaces.services import Services
from ovillo.model.errors import Conflict, InvalidInput, PermissionDenied
from ovillo.settings import Settings
from tests.builders import delta, message
from tests.interfaces.opened import made, record

__all__ = ["made"]


@contextmanager
def serving(services: Services) -> Iterator[str]:
    """The URL of a server that runs in a thread until the block ends."""
    with bind("127.0.0.1", 0) as listener:
        config = uvicorn.Config(
            build_http_app(services, services.settings), log_level="error", ws="none", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield url_of(listener)
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()


def ask(url: str, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, str, Any]:
    host = url.removeprefix("http://").removesuffix("/mcp")
    connection = http.client.HTTPConnection(host, timeout=20)
    try:
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        text = answer.read().decode()
        kind = answer.headers.get("content-type", "")
        return answer.status, kind, json.loads(text) if "json" in kind else text
    finally:
        connection.close()


@pytest.mark.requirement("TOOL-14")
def test_both_eras_are_served_at_one_address(made: Services) -> None:
    record(made, delta(message("m1", 1, "hello")))

    async def work(url: str, mode: str) -> None:
        with anyio.fail_after(60):
            async with Client(url, mode=mode) as client:
                assert len((await client.list_tools()).tools) >= 6
                result = await client.call_tool("get_session_history", {"sessionID": "ses_a"})
                assert not result.is_error
                assert "> hello" in result.content[0].text

    with serving(made) as url:
        for mode in ("legacy", "2026-07-28"):
            anyio.run(work, url, mode)


@pytest.mark.requirement("TOOL-14")
def test_the_guard_stands_before_every_route(made: Services) -> None:
    with serving(made) as url:
        assert ask(url, "GET", "/healthz")[2]["status"] == "ok"
        assert ask(url, "GET", "/readyz")[2]["status"] == "ready"
        for path in ("/healthz", "/mcp", "/nothing"):
            status, kind, said = ask(url, "GET", path, Host="evil.example")
            assert (status, kind) == (421, "application/problem+json")
            status, _, said = ask(url, "GET", path, Origin="http://evil.example")
            assert (status, said["title"]) == (403, "Foreign origin")
        assert ask(url, "GET", "/healthz", Origin="http://localhost:3000")[0] == 200
        status, kind, said = ask(url, "GET", "/nothing")
        assert (status, kind) == (404, "application/problem+json")
        assert "/mcp" in said["detail"]


@pytest.mark.requirement("TOOL-14")
def test_a_body_over_the_limit_is_refused_with_and_without_a_declared_length(made: Services) -> None:
    with serving(made) as url:
        status, kind, _ = ask(url, "POST", "/mcp", b" " * (MAX_BODY_BYTES + 1), Content_Type="application/json")
        assert (status, kind) == (413, "application/problem+json")
        host = url.removeprefix("http://").removesuffix("/mcp")
        with socket.create_connection(host.split(":")) as raw:  # type: ignore[arg-type]
            raw.sendall(f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
            chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
            for _ in range(5):
                raw.sendall(chunk)
            assert raw.recv(100).startswith(b"HTTP/1.1 413")


@pytest.mark.requirement("TOOL-15")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", ""])
def test_an_address_beyond_loopback_is_refused_before_anything_opens(made: Services, host: str) -> None:
    def never(settings: Settings) -> Services:
        raise AssertionError("opened the store for an address that must be refused")

    with pytest.raises(PermissionDenied, match="authentication"):
        run_http(never, replace(made.settings, host=host, port=0))


@pytest.mark.requirement("TOOL-15")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "::1", "[::1]", "LOCALHOST."])
def test_loopback_has_many_names(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.requirement("TOOL-15")
def test_a_port_in_use_is_said_so() -> None:
    with bind("127.0.0.1", 0) as taken, pytest.raises(Conflict, match="--port"):
        bind("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(InvalidInput, match="65535"):
        bind("127.0.0.1", 70_000)
