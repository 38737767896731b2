"""``GET /api/changes`` through a real server: as JSON, waited for, and as server-sent events."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.interfaces.served import Served, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("home")) as server:
        yield server


@contextmanager
def stream(served: Served, query: str = "", **headers: str) -> Iterator[Iterator[dict[str, Any]]]:
    """The events of an open stream: ``id``, ``event``, ``data``."""
    connection = http.client.HTTPConnection(served.host, timeout=30)
    connection.request(
        "GET", f"/api/changes{query}", headers={"Accept": "text/event-stream", **served.credential, **headers}
    )
    answer = connection.getresponse()
    assert (answer.status, answer.headers["content-type"].split(";")[0]) == (200, "text/event-stream")
    try:
        yield _events(answer)
    finally:
        # Closing the response would read on; the socket says at once that nobody listens any more.
        connection.close()
        answer.close()


def _events(answer: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    fields: dict[str, Any] = {}
    while line := answer.readline():
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            fields[name] = json.loads(value) if name == "data" else value
        elif fields:
            yield fields
            fields = {}


def _of(events: Iterator[dict[str, Any]], session: str, kind: str = "message") -> dict[str, Any]:
    return next(e for e in events if e.get("event") == kind and e["data"]["sessionId"] == session)


@pytest.mark.requirement("SYNC-7")
def test_changes_are_paged_as_json_and_the_cursor_goes_on_where_it_ended(served: Served) -> None:
    served.session("paged")
    ids = [served.append("paged", f"m{number}", f"k{number}")["id"] for number in range(7)]
    found: list[dict[str, Any]] = []
    cursor, more = 0, True
    while more:
        status, page = served.ask("GET", f"/api/changes?since={cursor}&limit=3&session=paged&messages=true")
        assert status == 200
        assert len(page["changes"]) <= 3
        found += page["changes"]
        cursor, more = page["cursor"], page["more"]
    messages = [change for change in found if change["kind"] == "message"]
    assert [change["messageId"] for change in messages] == ids
    assert [change["message"]["content"] for change in messages] == [f"m{number}" for number in range(7)]
    assert found[0] == {**found[0], "kind": "session", "ref": "paged", "sessionId": "paged"}
    assert [change["seq"] for change in found] == sorted({change["seq"] for change in found})


@pytest.mark.requirement("SYNC-7")
def test_a_request_waits_for_what_comes_next(served: Served) -> None:
    served.session("awaited")
    _, page = served.ask("GET", "/api/changes?session=awaited&limit=1000")
    said: list[Any] = []

    def wait() -> None:
        said.append(served.ask("GET", f"/api/changes?since={page['cursor']}&session=awaited&wait=30"))

    waiting = threading.Thread(target=wait)
    waiting.start()
    with stream(served) as events:
        next(events)
        new = served.append("awaited", "at last", "k")
        _of(events, "awaited")
    waiting.join(30)
    assert not waiting.is_alive()
    assert said[0][1]["changes"][0]["messageId"] == new["id"]
    status, empty = served.ask("GET", "/api/changes?since=0&session=awaited&limit=1")
    assert (status, empty["more"]) == (200, True)


@pytest.mark.requirement("SYNC-7")
def test_a_stream_goes_on_from_the_last_event_it_brought(served: Served) -> None:
    served.session("streamed")
    with stream(served, "?messages=true&session=streamed") as events:
        assert int(next(events)["id"]) > 0
        served.append("streamed", "one", "k1")
        first = _of(events, "streamed")
        assert first["data"]["message"]["content"] == "one"
        assert int(first["id"]) == first["data"]["seq"]
    for number in range(2, 5):
        served.append("streamed", f"away {number}", f"k{number}")
    with stream(served, "?messages=true", **{"Last-Event-ID": first["id"]}) as events:
        seqs = [_of(events, "streamed")["data"]["message"]["seq"] for _ in range(3)]
        assert seqs == [2, 3, 4]
        served.append("streamed", "live", "k5")
        assert _of(events, "streamed")["data"]["message"]["content"] == "live"


@pytest.mark.requirement("SYNC-7")
@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?since=-1", 422),
        ("?since=x", 422),
        ("?since=99999999", 422),
        ("?since=99999999999999999999999", 422),
        ("?limit=0", 422),
        ("?wait=3600", 422),
        ("?session=no-such", 404),
        ("?unknown=1", 422),
    ],
)
@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_bad_question_is_a_problem_in_both_forms(served: Served, query: str, status: int, accept: str) -> None:
    found, said = served.ask("GET", f"/api/changes{query}", headers={"Accept": accept})
    assert (found, said["status"]) == (status, status)
