"""From a request to an endpoint's handler and back, over real sockets."""

from __future__ import annotations

import socket
import threading
from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import Meta, Struct

from ovillo.interfaces.http.endpoints import Exchange, Reply
from ovillo.interfaces.http.guard import MAX_BODY_BYTES
from ovillo.model.errors import Conflict, StoreUnavailable
from ovillo.settings import Settings
from tests.interfaces.http.serving import Site, endpoint, serving, settings

__all__ = ["settings"]


class Query(Struct, rename="camel", forbid_unknown_fields=True):
    limit: Annotated[int, Meta(ge=1, le=10)] = 5
    sort_by: str | None = None
    tag: list[str] = []
    deep: bool = False


class Inner(Struct):
    count: int


class Body(Struct, forbid_unknown_fields=True):
    name: str
    inner: list[Inner] = []


class Empty(Struct):
    note: str = "none"


def _show(call: Exchange[Any, Any]) -> Reply:
    return Reply({"path": dict(call.path), "query": call.query, "body": call.body, "id": call.request_id})


async def _show_at_once(call: Exchange[Any, Any]) -> Reply:
    return _show(call)


@pytest.mark.requirement("HTTP-1")
def test_parameters_of_the_address_have_the_declared_types(settings: Settings) -> None:
    with serving(settings, endpoints=[endpoint(_show, query=Query)]) as site:
        assert site.ask("GET", "/api/things/a").json["query"]["limit"] == 5
        asked = site.ask("GET", "/api/things/a?limit=7&sortBy=5&tag=x&tag=y%20z&deep=true").json["query"]
        assert asked == {"limit": 7, "sortBy": "5", "tag": ["x", "y z"], "deep": True}


@pytest.mark.requirement("HTTP-2")
@pytest.mark.parametrize(
    ("query", "path", "says"),
    [
        ("limt=3", "$.limt", "Did you mean limit?"),
        ("limit=11", "$.limit", "<= 10"),
        ("limit=many", "$.limit", "int"),
        ("limit=1&limit=2", "$.limit", "twice"),
        ("deep=perhaps", "$.deep", "bool"),
        ("sortBy=%FF", "$", "UTF-8"),
    ],
)
def test_a_wrong_parameter_is_named_with_what_would_be_right(
    settings: Settings, query: str, path: str, says: str
) -> None:
    with serving(settings, endpoints=[endpoint(_show, query=Query)]) as site:
        refused = site.ask("GET", f"/api/things/a?{query}")
        assert (refused.status, refused.kind, refused.json["code"]) == (
            422,
            "application/problem+json",
            "invalid_input",
        )
        assert refused.json["errors"][0]["path"] == path
        assert says in refused.json["detail"] + refused.json.get("hint", "")


@pytest.mark.requirement("HTTP-2")
@pytest.mark.parametrize(
    ("body", "status", "path"),
    [
        (b'{"name": 3}', 422, "$.name"),
        (b'{"name": "x", "inner": [{"count": 1}, {"count": "q"}]}', 422, "$.inner[1].count"),
        (b"{}", 422, "$"),
        (b'{"name": "x", "nam": 1}', 422, "$.nam"),
        (b"[]", 422, "$"),
        (b'{"name"', 400, None),
        (b"", 400, None),
        (b'{"name": "\xff"}', 400, None),
        (b'{"name": "x"} tail', 400, None),
        (b"[" * 100_000, 422, "$"),
    ],
)
def test_a_wrong_body_is_told_by_the_path_of_the_field(
    settings: Settings, body: bytes, status: int, path: str | None
) -> None:
    with serving(settings, endpoints=[endpoint(_show, method="POST", body=Body)]) as site:
        refused = site.ask("POST", "/api/things/a", body, Content_Type="application/json; charset=utf-8")
        assert (refused.status, refused.kind) == (status, "application/problem+json")
        assert [each["path"] for each in refused.json.get("errors", [])] == ([path] if path else [])


@pytest.mark.requirement("HTTP-2")
def test_depth_without_end_in_free_json_is_malformed_and_not_a_failure(settings: Settings) -> None:
    with serving(settings, endpoints=[endpoint(_show, method="POST", body=dict[str, Any])]) as site:
        refused = site.ask("POST", "/api/things/a", b'{"a":' * 50_000, Content_Type="application/json")
        assert (refused.status, refused.json["code"]) == (400, "malformed")


@pytest.mark.requirement("HTTP-2")
def test_bodies_are_json_by_name_and_empty_where_nothing_is_needed(settings: Settings) -> None:
    endpoints = [
        endpoint(_show, method="POST", body=Body),
        endpoint(_show, "/api/notes", "POST", body=Empty, name="note"),
    ]
    with serving(settings, endpoints=endpoints) as site:
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            assert site.ask("POST", "/api/things/a", b'{"name": "x"}', Content_Type=kind).status == 415
        for kind in ("application/json", "application/merge-patch+json", "Application/JSON;charset=utf-8"):
            assert site.ask("POST", "/api/things/a", b'{"name": "x"}', Content_Type=kind).status == 200
        assert site.ask("POST", "/api/notes").json["body"] == {"note": "none"}


@pytest.mark.requirement("HTTP-3")
def test_ours_errors_become_problems_with_code_hint_and_request_id(settings: Settings) -> None:
    def clash(call: Exchange[Any, Any]) -> Reply:
        raise Conflict("It is taken.", hint="Use another.")

    async def busy(call: Exchange[Any, Any]) -> Reply:
        raise StoreUnavailable("The disk is full.")

    with serving(settings, endpoints=[endpoint(clash), endpoint(busy, "/api/busy", name="busy")]) as site:
        told = site.ask("GET", "/api/things/a", X_Request_ID="trace-1")
        assert (told.status, told.headers["x-request-id"]) == (409, "trace-1")
        expected = {
            "type": "about:blank",
            "title": "Conflict",
            "status": 409,
            "code": "conflict",
            "hint": "Use another.",
        }
        assert told.json == {**expected, "detail": "It is taken.", "requestId": "trace-1"}
        told = site.ask("GET", "/api/busy")
        assert (told.status, told.headers["retry-after"], told.json["code"]) == (503, "1", "store_unavailable")


@pytest.mark.requirement("HTTP-3")
def test_a_failure_nobody_expected_is_told_without_its_message(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(call: Exchange[Any, Any]) -> Reply:
        raise ValueError("what somebody remembered")

    with serving(settings, endpoints=[endpoint(fail)]) as site:
        told = site.ask("GET", "/api/things/a")
        assert (told.status, told.kind, told.json["code"]) == (500, "application/problem+json", "internal")
        assert b"remembered" not in told.body
        assert site.ask("GET", "/healthz").status == 200
    (record,) = [each for each in caplog.records if each.message == "request failed"]
    assert record.request_id == told.json["requestId"]  # type: ignore[attr-defined]


@pytest.mark.requirement("HTTP-4")
def test_unknown_paths_and_methods_are_problems_that_say_what_there_is(settings: Settings) -> None:
    with serving(settings, endpoints=[endpoint(_show), endpoint(_show, method="DELETE")]) as site:
        missing = site.ask("GET", "/api/thing/a")
        assert (missing.status, missing.kind, missing.json["code"]) == (404, "application/problem+json", "not_found")
        assert "/api/things/{id}" in missing.json["hint"]
        long = "ses_01a1fdb41be17032a8d8560f709692da"
        assert site.ask("GET", f"/api/thins/{long}").json["hint"] == "Nearest: /api/things/{id}."
        wrong = site.ask("POST", "/api/things/a", {})
        assert (wrong.status, wrong.headers["allow"]) == (405, "DELETE, GET, HEAD")
        assert wrong.kind == "application/problem+json"
        for path in ("/api/things/", "/api/things", "/api/things/a/", "//", "/api//things/a"):
            assert site.ask("GET", path).status == 404


@pytest.mark.requirement("HTTP-4")
def test_ids_come_as_they_were_meant_and_literals_before_parameters(settings: Settings) -> None:
    endpoints = [
        endpoint(_show),
        endpoint(lambda call: Reply("import"), "/api/things/import", "POST", name="import"),
        endpoint(_show, "/api/things/{id}/parts/{part}", name="part"),
    ]
    with serving(settings, endpoints=endpoints) as site:
        assert site.ask("GET", "/api/things/a%2Fb%20%C3%A9").json["path"] == {"id": "a/b é"}
        assert site.ask("GET", "/api/things/x/parts/y").json["path"] == {"id": "x", "part": "y"}
        assert site.ask("POST", "/api/things/import").json == "import"
        assert site.ask("GET", "/api/things/import").json["path"] == {"id": "import"}


@pytest.mark.requirement("HTTP-5")
def test_blocking_handlers_leave_the_loop_free_and_async_ones_run_on_it(settings: Settings) -> None:
    entered, leave = threading.Event(), threading.Event()
    threads: dict[str, str] = {}

    def block(call: Exchange[Any, Any]) -> Reply:
        threads["block"] = threading.current_thread().name
        entered.set()
        assert leave.wait(20)
        return Reply({})

    async def quick(call: Exchange[Any, Any]) -> Reply:
        threads["quick"] = threading.current_thread().name
        return Reply({})

    with serving(settings, endpoints=[endpoint(block), endpoint(quick, "/api/quick", name="quick")]) as site:
        waiting = threading.Thread(target=site.ask, args=("GET", "/api/things/a"))
        waiting.start()
        assert entered.wait(20)
        assert site.ask("GET", "/api/quick").status == 200
        leave.set()
        waiting.join(20)
    assert threads["block"] != threads["quick"]


@pytest.mark.requirement("HTTP-5")
def test_replies_are_json_bytes_nothing_or_a_stream(settings: Settings) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"one "
        yield b"two"

    async def stream(call: Exchange[Any, Any]) -> Reply:
        return Reply(pieces(), content_type="text/plain")

    headers = {"ETag": '"1"', "Content-Disposition": 'attachment; filename="a\r\nb: é.json"'}
    endpoints = [
        endpoint(lambda call: Reply(b"raw", headers=headers, content_type="text/x")),
        endpoint(lambda call: Reply(None, 204), method="DELETE"),
        endpoint(lambda call: Reply(Inner(3)), method="PUT", status=201),
        endpoint(stream, "/api/stream", name="stream"),
    ]
    with serving(settings, endpoints=endpoints) as site:
        raw = site.ask("GET", "/api/things/a")
        assert (raw.body, raw.kind, raw.headers["etag"]) == (b"raw", "text/x", '"1"')
        assert raw.headers["content-disposition"] == 'attachment; filename="ab: é.json"'
        assert site.ask("HEAD", "/api/things/a").headers["content-length"] == "3"
        gone = site.ask("DELETE", "/api/things/a")
        assert (gone.status, gone.body) == (204, b"")
        made = site.ask("PUT", "/api/things/a")
        assert (made.status, made.json, made.kind) == (201, {"count": 3}, "application/json")
        assert site.ask("GET", "/api/stream").body == b"one two"


@pytest.mark.requirement("HTTP-6")
def test_every_endpoint_has_its_own_limit_of_a_body(settings: Settings) -> None:
    endpoints = [
        endpoint(_length, method="POST", body=Empty),
        endpoint(_length, "/api/import", "POST", body=Empty, name="import", max_body=6 * 1024 * 1024),
    ]
    body = msgspec.json.encode(Empty("x" * MAX_BODY_BYTES))
    with serving(settings, endpoints=endpoints) as site:
        assert site.ask("POST", "/api/import", body, Content_Type="application/json").json == MAX_BODY_BYTES
        refused = site.ask("POST", "/api/things/a", body, Content_Type="application/json")
        assert (refused.status, refused.json["code"]) == (413, "limit_exceeded")
        assert _chunked(site, "/api/import", body).startswith(b"HTTP/1.1 200")
        assert _chunked(site, "/api/things/a", body).startswith(b"HTTP/1.1 413")


def _length(call: Exchange[Any, Any]) -> Reply:
    return Reply(len(call.body.note))


def _chunked(site: Site, path: str, body: bytes) -> bytes:
    host, _, port = site.host.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=20) as raw:
        head = f"POST {path} HTTP/1.1\r\nHost: {site.host}\r\nContent-Type: application/json\r\n"
        raw.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        for at in range(0, len(body), 0x80000):
            piece = body[at : at + 0x80000]
            raw.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        raw.sendall(b"0\r\n\r\n")
        return raw.recv(100)
