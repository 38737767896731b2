"""What one caller may hold of the server at once, and that the others never notice."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from ovillo.app import open_services
from ovillo.interfaces.mcp.http import mount as mcp_mount
from ovillo.model.errors import InvalidInput
from ovillo.security.redaction import Redactor
from tests.interfaces.http.guarded import Guarded, guarded
from tests.interfaces.http.serving import Answer, Site, answer_of, serving
from tests.interfaces.opened import settings_for

_BOTH = "application/json, text/event-stream"


def rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


_HELLO = rpc("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})


def hello(site: Site, key: str | None = None) -> Answer:
    """Opens a session of the handshake era."""
    sent = {"Authorization": f"Bearer {key}"} if key else {}
    return site.ask("POST", "/mcp", _HELLO, Accept=_BOTH, **sent)


def still_there(site: Site, session_id: str, key: str | None = None) -> bool:
    sent = {"Authorization": f"Bearer {key}"} if key else {}
    headers = {"Mcp_Session_Id": session_id, **sent}
    return site.ask("POST", "/mcp", rpc("ping"), Accept=_BOTH, **headers).status == 200


def listen(site: Site, key: str | None = None) -> http.client.HTTPConnection:
    """An MCP subscription of the era without sessions: a POST that is answered by a stream."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = rpc("subscriptions/listen", notifications={"resourcesListChanged": True}, _meta=meta)
    connection = site.connect()
    headers = {
        "Accept": _BOTH,
        "Content-Type": "application/json",
        "Mcp-Protocol-Version": "2026-07-28",
        "Mcp-Method": "subscriptions/listen",
        **({"Authorization": f"Bearer {key}"} if key else {}),
    }
    connection.request("POST", "/mcp", json.dumps(body), headers)
    return connection


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Guarded]:
    """Eight of everything, of which one caller may hold four."""
    with guarded(tmp_path, max_mcp_sessions=8, max_streams=8, max_sockets=8, max_pending=8, caller_share=50) as site:
        yield site


@pytest.mark.requirement("LOAD-2")
def test_a_key_with_its_share_of_mcp_sessions_is_told_and_the_others_still_come_in(small: Guarded) -> None:
    site = small.site
    mine = [hello(site, small.reader) for _ in range(4)]
    assert {answer.status for answer in mine} == {200}
    for _ in range(20):
        refused = hello(site, small.reader)
        assert (refused.status, refused.json["code"]) == (429, "too_many_open")
        assert int(refused.headers["retry-after"]) > 0
        assert "MCP sessions" in refused.json["detail"]
    for key in (small.writer, small.foreign):
        assert hello(site, key).status == 200
    assert all(still_there(site, answer.headers["mcp-session-id"], small.reader) for answer in mine)


@pytest.mark.requirement("LOAD-2")
def test_when_all_sessions_are_taken_the_one_with_most_makes_room_with_its_longest_idle_one(small: Guarded) -> None:
    site = small.site
    reader = [hello(site, small.reader).headers["mcp-session-id"] for _ in range(4)]
    writer = [hello(site, small.writer).headers["mcp-session-id"] for _ in range(3)]
    admin = hello(site, small.admin).headers["mcp-session-id"]
    # The first is used: the second is the one that was idle for longest.
    assert still_there(site, reader[0], small.reader)
    newcomer = hello(site, small.foreign)
    assert newcomer.status == 200
    assert not still_there(site, reader[1], small.reader)
    assert all(still_there(site, each, small.reader) for each in (reader[0], reader[2], reader[3]))
    assert all(still_there(site, each, small.writer) for each in writer)
    assert still_there(site, admin, small.admin)


@pytest.mark.requirement("LOAD-2")
def test_an_idle_session_of_the_same_caller_goes_first_and_a_used_one_stays(tmp_path: Path) -> None:
    wanted = settings_for(tmp_path, max_mcp_sessions=4, caller_share=50)
    services = open_services(wanted)
    with serving(wanted, partial(mcp_mount, grace_s=0.0), services=services) as site:
        held = hello(site).headers["mcp-session-id"]
        stream = site.connect()
        stream.request("GET", "/mcp", headers={"Accept": "text/event-stream", "Mcp-Session-Id": held})
        opened = stream.getresponse()
        assert opened.status == 200
        idle = hello(site).headers["mcp-session-id"]
        for _ in range(30):
            latest = hello(site)
            assert latest.status == 200
            assert not still_there(site, idle)
            idle = latest.headers["mcp-session-id"]
        assert still_there(site, held)
        opened.close()
        stream.close()
    services.close()


@pytest.mark.requirement("LOAD-2")
def test_ended_and_refused_sessions_take_no_room(small: Guarded) -> None:
    site = small.site
    for _ in range(12):
        session_id = hello(site, small.reader).headers["mcp-session-id"]
        headers = {"Authorization": f"Bearer {small.reader}", "Mcp_Session_Id": session_id}
        assert site.ask("DELETE", "/mcp", **headers).status == 200
        # Not an opening: the SDK refuses it.
        assert small.ask(small.reader, "POST", "/mcp", rpc("tools/list"), Accept=_BOTH).status == 400
    # Another one's session cannot be ended, nor counted away, by naming it.
    mine = hello(site, small.reader).headers["mcp-session-id"]
    foreign = {"Authorization": f"Bearer {small.writer}", "Mcp_Session_Id": mine}
    assert site.ask("DELETE", "/mcp", **foreign).status == 404
    assert still_there(site, mine, small.reader)


@contextmanager
def open_streams(guard: Guarded, key: str, kind: str, number: int) -> Iterator[list[Answer | int]]:
    """Statuses of so many streams that stay open, or the answer of those that were refused."""
    with ExitStack() as stack:
        found: list[Answer | int] = []
        for _ in range(number):
            if kind == "listen":
                connection = listen(guard.site, key)
            else:
                connection = guard.site.connect()
                headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {key}"}
                connection.request("GET", "/api/changes", headers=headers)
            stack.callback(connection.close)
            answer = connection.getresponse()
            stack.callback(answer.close)
            found.append(answer.status if answer.status == 200 else answer_of(answer))
        yield found


@pytest.mark.requirement("LOAD-3")
@pytest.mark.parametrize("kind", ["changes", "listen"])
def test_streams_past_a_callers_share_are_refused_and_room_comes_back_when_they_end(small: Guarded, kind: str) -> None:
    with open_streams(small, small.reader, kind, 6) as found:
        assert found[:4] == [200] * 4
        for refused in found[4:]:
            assert isinstance(refused, Answer)
            assert (refused.status, refused.json["code"]) == (429, "too_many_open")
            assert int(refused.headers["retry-after"]) > 0
        with open_streams(small, small.writer, kind, 4) as others:
            assert others == [200] * 4
            with open_streams(small, small.admin, kind, 1) as (nobody,):
                assert isinstance(nobody, Answer)
                assert (nobody.status, nobody.headers["retry-after"]) == (503, "10")
        # Requests that end are answered all the while.
        assert small.ask(small.reader, "GET", "/api/sessions").status == 200
    for _ in range(200):
        with open_streams(small, small.reader, kind, 1) as (again,):
            if again == 200:
                break
    assert again == 200


@pytest.mark.requirement("LOAD-3")
@pytest.mark.parametrize("path", ["/ws", "/mcp/ws"])
def test_sockets_past_a_callers_share_are_refused_before_they_are_accepted(small: Guarded, path: str) -> None:
    def socket(key: str) -> Any:
        return connect(f"ws://{small.site.host}{path}", additional_headers={"Authorization": f"Bearer {key}"})

    with ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(socket(small.reader))
        with pytest.raises(InvalidStatus) as refused:
            socket(small.reader)
        answer = refused.value.response
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "10")
        for _ in range(4):
            stack.enter_context(socket(small.writer))
        with pytest.raises(InvalidStatus) as full:
            socket(small.admin)
        assert full.value.response.status_code == 503
    for _ in range(200):
        with suppress(InvalidStatus), socket(small.reader):
            break
    else:
        raise AssertionError("no room came back")


@pytest.mark.requirement("LOAD-3")
def test_requests_that_wait_are_bounded_and_health_is_told_all_the_same(small: Guarded) -> None:
    with ExitStack() as stack:
        newest = small.ask(small.reader, "GET", "/api/changes?since=0").json["cursor"]
        for _ in range(4):
            waiting = small.site.connect()
            stack.callback(waiting.close)
            waiting.request(
                "GET", f"/api/changes?since={newest}&wait=60", headers={"Authorization": f"Bearer {small.reader}"}
            )
        for _ in range(200):
            refused = small.ask(small.reader, "GET", "/api/sessions")
            if refused.status == 429:
                break
        assert (refused.status, refused.headers["retry-after"]) == (429, "1")
        assert refused.json["code"] == "too_many_open"
        assert small.ask(small.foreign, "GET", "/api/sessions").status == 200
        assert small.ask(None, "GET", "/healthz").status == 200


@pytest.mark.requirement("LOAD-11")
@pytest.mark.parametrize(
    ("door", "share"), [("rest", 12), ("mcp sockets", 8), ("live sockets", 8), ("both sockets", 8)]
)
def test_a_caller_who_asks_for_everything_at_once_leaves_threads_to_the_others(
    tmp_path: Path, door: str, share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 60
    running, most, ended = 0, 0, threading.Event()
    lock = threading.Lock()

    def slow(call: Any, *rest: Any) -> Any:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        ended.wait(20)
        with lock:
            running -= 1
        raise InvalidInput("slow")

    with guarded(tmp_path) as guard, ExitStack() as stack:
        site = guard.site
        monkeypatch.setattr(type(guard.services.search), "search", slow)
        monkeypatch.setattr(type(guard.services.reading), "last_change", slow)
        mine = {"Authorization": f"Bearer {guard.reader}"}
        if door == "rest":
            for _ in range(asked):
                connection = site.connect()
                stack.callback(connection.close)
                connection.request("GET", "/api/search?query=everything", headers=mine)
        if door in ("live sockets", "both sockets"):
            # Frames of one socket are carried out in order: each holds a thread of its own.
            for _ in range(asked):
                live = stack.enter_context(connect(f"ws://{site.host}/ws", additional_headers=mine))
                live.send(json.dumps({"type": "sync", "since": 0}))
        if door in ("mcp sockets", "both sockets"):
            sockets = [connect(f"ws://{site.host}/mcp/ws", additional_headers=mine) for _ in range(6)]
            for socket in sockets:
                stack.enter_context(socket)
            for number in range(asked):
                params = {"tool": "search_sessions", "parameters": {"query": "everything"}}
                request = {"jsonrpc": "2.0", "id": number, "method": "execute", "params": params}
                sockets[number % len(sockets)].send(json.dumps(request))
        stack.callback(ended.set)
        for _ in range(5):
            assert guard.ask(guard.writer, "GET", "/api/sessions").status == 200
            assert hello(site, guard.writer).status == 200
            listing = {**rpc("execute"), "params": {"tool": "list_sessions", "parameters": {}}}
            assert guard.ask(guard.writer, "POST", "/mcp/v1/execute", listing).status == 200
        ended.set()
    assert 0 < most <= share


@pytest.mark.requirement("SEC-61")
@pytest.mark.parametrize("door", ["message", "batch", "socket"])
def test_others_are_answered_while_a_long_message_is_looked_through_for_secrets(
    tmp_path: Path, door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, others_answered = threading.Event(), threading.Event()
    redact = Redactor.redact_message

    def long(redactor: Redactor, message: Any) -> Any:
        begun.set()
        others_answered.wait(20)
        return redact(redactor, message)

    with guarded(tmp_path) as guard, ExitStack() as stack:
        guard.ask(guard.writer, "POST", "/api/sessions", {"id": "long", "name": "long"})
        monkeypatch.setattr(Redactor, "redact_message", long)
        stack.callback(others_answered.set)
        said = {"role": "user", "content": "a line of a long message\n" * 4_000, "idempotencyKey": "k"}
        answers: list[Any] = []

        def send() -> None:
            if door == "socket":
                mine = {"Authorization": f"Bearer {guard.writer}"}
                with connect(f"ws://{guard.site.host}/ws", additional_headers=mine) as socket:
                    socket.send(json.dumps({"type": "message", "session_id": "long", **said}))
                    answers.append(json.loads(socket.recv(30))["type"] == "ack")
                return
            path = "/api/sessions/long/messages"
            if door == "batch":
                answer = guard.ask(guard.writer, "POST", f"{path}/batch", {"messages": [said]})
            else:
                answer = guard.ask(guard.writer, "POST", path, said)
            answers.append(answer.status == 201)

        sending = threading.Thread(target=send)
        sending.start()
        assert begun.wait(20)
        assert guard.ask(guard.foreign, "GET", "/api/sessions").status == 200
        assert not answers
        others_answered.set()
        sending.join()
    assert answers == [True]
