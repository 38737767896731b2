"""Host and Origin, before requests and WebSockets alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from ovillo.interfaces.http.doors import Door, Surroundings
from ovillo.settings import Settings
from tests.interfaces.http.serving import Site, serving, settings

__all__ = ["settings"]

EVERYWHERE = ("/healthz", "/api/sessions", "/metrics", "/nothing", "/openapi.json")


def _socket_door(around: Surroundings) -> Door:
    async def greet(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text("hello")
        await socket.close()

    return Door(routes=[WebSocketRoute("/ws", greet)])


@pytest.fixture
def site(settings: Settings) -> Iterator[Site]:
    allowed = replace(
        settings,
        allowed_hosts=("memory.example", "[fd00::1]"),
        allowed_origins=("https://app.example", "pages.example", "http://odd.example:81"),
    )
    with serving(allowed, _socket_door) as running:
        yield running


@pytest.mark.requirement("HTTP-7")
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "",
        "memory.example.evil",
        "a, localhost",
        "localhost@evil.example",
        "[::1",
    ],
)
def test_a_foreign_host_is_refused_on_every_path(site: Site, host: str) -> None:
    for path in EVERYWHERE:
        refused = site.ask("GET", path, Host=host)
        assert (refused.status, refused.json["code"]) == (421, "unknown_host"), path
        assert "allowed_hosts" in refused.json["hint"]


@pytest.mark.requirement("HTTP-7")
@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:9", "127.0.0.1:1", "127.9.9.9", "[::1]:8", "memory.example", "Memory.Example:443"]
)
def test_loopback_and_allowed_hosts_are_answered(site: Site, host: str) -> None:
    assert site.ask("GET", "/healthz", Host=host).status == 200


@pytest.mark.requirement("HTTP-7")
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost:3000", 200),
        ("https://app.example", 200),
        ("https://app.example:443", 200),
        ("http://pages.example:8080", 200),
        ("http://odd.example:81", 200),
        ("http://app.example", 403),
        ("https://app.example:444", 403),
        ("http://odd.example", 403),
        ("https://app.example.evil", 403),
        ("null", 403),
        ("", 403),
        ("file://localhost", 403),
        ("https://[", 403),
        ("chrome-extension://localhost", 403),
    ],
)
def test_pages_of_other_origins_are_refused(site: Site, origin: str, status: int) -> None:
    for path in ("/healthz", "/openapi.json"):
        assert site.ask("GET", path, Origin=origin).status == status


@pytest.mark.requirement("HTTP-7")
def test_sockets_pass_the_same_guard(site: Site) -> None:
    url = f"ws://{site.host}/ws"
    with connect(url, origin="http://localhost:5") as good:  # type: ignore[arg-type]
        assert good.recv() == "hello"
    with pytest.raises(InvalidStatus) as refused:
        connect(url, origin="https://evil.example")  # type: ignore[arg-type]
    assert refused.value.response.status_code == 403
    assert b"foreign_origin" in refused.value.response.body
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://{site.host}/nothing")
    assert refused.value.response.status_code in {403, 404}


@pytest.mark.requirement("HTTP-7")
def test_two_host_headers_are_no_way_round_the_guard(site: Site) -> None:
    connection = site.connect()
    connection.putrequest("GET", "/healthz", skip_host=True)
    connection.putheader("Host", "localhost")
    connection.putheader("Host", "evil.example")
    connection.endheaders()
    assert connection.getresponse().status in {400, 421}
    connection.close()
