"""Values that are nested deeply and names that are endless, through every door that takes them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from ovillo.model.limits import MAX_ANSWER_BYTES, MAX_JSON_DEPTH
from tests.interfaces.http.guarded import Guarded, guarded


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("home")) as running:
        running.ask(running.writer, "POST", "/api/sessions", {"id": "ses_plain", "name": "plain"})
        yield running


def _nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def _execute(app: Guarded, tool: str, **parameters: Any) -> dict[str, Any]:
    request = {"jsonrpc": "2.0", "id": 1, "method": "execute", "params": {"tool": tool, "parameters": parameters}}
    answer = app.ask(app.writer, "POST", "/mcp/v1/execute", request)
    assert answer.status == 200, answer.body[:500]
    said: dict[str, Any] = answer.json
    return said


@pytest.mark.requirement("LOAD-10")
@pytest.mark.parametrize("levels", [MAX_JSON_DEPTH + 2, 600, 900])
def test_nothing_is_stored_that_is_nested_so_deeply_that_lists_could_not_be_told_any_more(
    app: Guarded, levels: int
) -> None:
    deep = _nested(levels)
    messages = "/api/sessions/ses_plain/messages"
    call = {"name": "Bash", "input": deep}
    for method, path, body in (
        ("POST", "/api/sessions", {"name": "deep", "metadata": deep}),
        ("PATCH", "/api/sessions/ses_plain", {"metadata": deep}),
        ("POST", messages, {"role": "user", "content": "deep", "metadata": deep}),
        ("POST", messages, {"role": "assistant", "content": "deep", "toolCalls": [call]}),
        ("POST", "/api/sessions/ses_plain/snapshots", {"content": deep}),
        ("PUT", "/api/contexts/deep", {"value": deep}),
    ):
        answer = app.ask(app.writer, method, path, body, Idempotency_Key=f"{path}{levels}{len(body)}")
        assert answer.status in {413, 422}, (path, answer.body[:300])
    for tool, given in (
        ("session_create", {"name": "deep", "metadata": deep}),
        ("session_append", {"session_id": "ses_plain", "role": "user", "content": "deep", "metadata": deep}),
        ("session_save", {"session_id": "ses_plain", "content": deep}),
        ("context_store", {"key": "deep", "value": deep}),
    ):
        said = json.dumps(_execute(app, tool, **given))
        assert "deeper than" in said
        assert "bug" not in said
    for path in ("/api/sessions", messages, "/api/sessions/ses_plain/export", "/api/sessions/ses_plain/snapshots"):
        assert app.ask(app.reader, "GET", path).status == 200


@pytest.mark.requirement("LOAD-10")
def test_what_is_nested_as_deeply_as_allowed_comes_back(app: Guarded) -> None:
    deep = _nested(MAX_JSON_DEPTH)
    app.ask(app.writer, "POST", "/api/sessions", {"id": "ses_deep", "name": "deep", "metadata": deep})
    body = {"role": "user", "content": "deep", "metadata": deep}
    assert app.ask(app.writer, "POST", "/api/sessions/ses_deep/messages", body, Idempotency_Key="k").status == 201
    told = app.ask(app.reader, "GET", "/api/sessions/ses_deep/messages").json["messages"]
    assert told[0]["metadata"] == deep
    assert app.ask(app.reader, "GET", "/api/sessions/ses_deep").status == 200
    for form in ("json", "markdown", "html"):
        assert app.ask(app.reader, "GET", f"/api/sessions/ses_deep/export?format={form}").status == 200


@pytest.mark.requirement("LOAD-10")
@pytest.mark.parametrize("letter", ["a", '"', "é", "/", " ", "\n", "/a"])
def test_a_refusal_never_repeats_an_endless_argument(app: Guarded, letter: str) -> None:
    endless = (letter * 400_000)[:400_000]
    for tool, name in (
        ("get_session_history", "sessionID"),
        ("get_session_history", "messageID"),
        ("search_sessions", "agent"),
        ("search_sessions", "project"),
        ("search_sessions", "startDate"),
        ("list_sessions", "sessionName"),
        ("list_sessions", "projectID"),
        ("find_symbol", "root"),
        ("where_discussed", "entity"),
        ("where_discussed", "type"),
        ("index_code", "path"),
        (endless[:100_000], "a"),
        ("list_sessions", endless[:100_000]),
    ):
        needed = {"find_symbol": {"query": "x"}, "where_discussed": {"entity": "x"}, "search_sessions": {"query": "x"}}
        given = {"sessionID": "ses_plain", **needed.get(tool, {}), name: endless}
        if tool in needed or tool in {"list_sessions", "index_code"}:
            given.pop("sessionID", None)
        answer = _execute(app, tool, **given)
        assert len(json.dumps(answer)) < MAX_ANSWER_BYTES, (tool, name)


@pytest.mark.requirement("LOAD-10")
@pytest.mark.parametrize("levels", [500, 30_000])
def test_a_cursor_that_is_nested_deeply_is_none_of_ours(app: Guarded, levels: int) -> None:
    cursor = base64.urlsafe_b64encode(b"[" * levels).decode()
    answer = app.ask(app.writer, "GET", f"/api/sessions?cursor={cursor}")
    assert (answer.status, answer.json["code"]) == (422, "invalid_input")
    answer = app.ask(app.writer, "GET", f"/api/sessions/ses_plain/messages?cursor={cursor}")
    assert (answer.status, answer.json["code"]) == (422, "invalid_input")
    for tool, given in (("list_sessions", {}), ("get_session_history", {"sessionID": "ses_plain"})):
        said = _execute(app, tool, cursor=cursor, **given)
        assert "cursor" in json.dumps(said).lower()
        assert "bug" not in json.dumps(said).lower()


@pytest.mark.requirement("LAYER-46")
@pytest.mark.parametrize(
    "about",
    [
        {"tags": [1, 2]}, {"tags": "abc"}, {"tags": {"a": 1}}, {"participants": [{"a": 1}]}, {"kind": 5}, {"kind": None},
        {"key": {"a": 1}}, {"project": {"a": 1}}, {"project": 5}, {"reason": {"x": 1}}, {"id": 5}, {"id": "a\x1b]52;c;x\x07"},
        {"created_at": 10**30}, {"importance": "high"}, {"superseded_by": 5}, {"digest": 5}, {"unknown": 1}, {"layer": "none"},
        {"provenance": 5}, {"provenance": {"origin": "human", "session_id": {"a": 1}}},
        {"provenance": {"origin": "human", "evidence": 5}}, {"provenance": {"origin": "none"}},
    ],
    ids=str,
)  # fmt: skip
def test_a_document_of_memories_that_was_made_up_is_refused_by_its_line(app: Guarded, about: dict[str, Any]) -> None:
    said = {"id": "mem_1", "layer": "semantic", "key": "k", "kind": "fact", "provenance": {"origin": "human"}, **about}
    data = f"<!-- memory {json.dumps(said)} -->\n\nthe heron was seen\n\n<!-- /memory -->\n"
    answer = app.ask(app.writer, "POST", "/api/memory/import", {"data": data})
    assert (answer.status, answer.json["code"]) == (422, "invalid_input"), answer.body
    assert "\x1b" not in answer.body.decode()
