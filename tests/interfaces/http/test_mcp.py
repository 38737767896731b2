"""MCP over streamable HTTP: both eras at one address, behind the guard of all routes."""

from __future__ import annotations

import socket
from dataclasses import replace

import anyio
import pytest
from mcp import Client

from ovillo.interfaces.http.binding import bind
from ovillo.interfaces.http.guard import MAX_BODY_BYTES, is_loopback
from ovillo.interfaces.http.server import serve
from ovillo.interfaces.mcp.http import mount
from ovillo.interfaces.services import Services
from ovillo.model.errors import Conflict, InvalidInput, PermissionDenied
from ovillo.settings import Settings
from tests.builders import delta, message
from tests.interfaces.http.serving import serving
from tests.interfaces.opened import made, record

__all__ = ["made"]


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

    with serving(made.settings, mount, services=made) as site:
        for mode in ("legacy", "2026-07-28"):
            anyio.run(work, f"{site.url}/mcp", mode)


@pytest.mark.requirement("TOOL-14")
def test_the_guard_stands_before_mcp_too(made: Services) -> None:
    with serving(made.settings, mount, services=made) as site:
        for path in ("/healthz", "/mcp", "/nothing"):
            refused = site.ask("GET", path, Host="evil.example")
            assert (refused.status, refused.kind) == (421, "application/problem+json")
            refused = site.ask("GET", path, Origin="http://evil.example")
            assert (refused.status, refused.json["title"]) == (403, "Foreign origin")
        assert site.ask("GET", "/healthz", Origin="http://localhost:3000").status == 200
        missing = site.ask("GET", "/nothing")
        assert (missing.status, missing.kind) == (404, "application/problem+json")
        assert "/mcp" in missing.json["hint"]


@pytest.mark.requirement("TOOL-14")
def test_a_body_over_the_limit_is_refused_with_and_without_a_declared_length(made: Services) -> None:
    with serving(made.settings, mount, services=made) as site:
        refused = site.ask("POST", "/mcp", b" " * (MAX_BODY_BYTES + 1), Content_Type="application/json")
        assert (refused.status, refused.kind) == (413, "application/problem+json")
        with socket.create_connection(site.host.split(":")) as raw:  # type: ignore[arg-type]
            raw.sendall(
                f"POST /mcp HTTP/1.1\r\nHost: {site.host}\r\nAccept: application/json, text/event-stream\r\n"
                "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
            )
            chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
            for _ in range(5):
                raw.sendall(chunk)
            assert raw.recv(100).startswith(b"HTTP/1.1 413")


@pytest.mark.requirement("TOOL-14")
def test_an_open_stream_does_not_hold_up_the_end(made: Services) -> None:
    with serving(made.settings, mount, services=made) as site:
        opening = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        }
        answer = site.ask("POST", "/mcp", opening, Accept="application/json, text/event-stream")
        stream = site.connect()
        stream.request(
            "GET", "/mcp", headers={"Accept": "text/event-stream", "Mcp-Session-Id": answer.headers["mcp-session-id"]}
        )
        events = stream.getresponse()
        assert events.status == 200
        assert site.server is not None
        site.server.should_exit = True
        assert b"data" not in events.read()
        stream.close()


@pytest.mark.requirement("TOOL-15")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", ""])
def test_an_address_beyond_loopback_is_refused_before_anything_opens(made: Services, host: str) -> None:
    def never(settings: Settings) -> Services:
        raise AssertionError("opened the store for an address that must be refused")

    with pytest.raises(PermissionDenied, match="authentication"):
        serve(never, replace(made.settings, host=host, port=0), [mount])


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
