"""Numbers that nobody could have meant, at every numeric place of every route, frame and tool: refused by name, never a
failure. The places come from the application's own descriptions: a new one is in it at once."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from websockets.sync.client import connect

from ovillo.interfaces.tools import schema
from ovillo.interfaces.tools.cursors import encode
from ovillo.interfaces.tools.registry import Registry
from ovillo.model.sessions import SessionFilter
from ovillo.security.principals import LOCAL
from ovillo.sessions.cursors import encode_cursor
from tests.builders import delta, message
from tests.interfaces.http.guarded import Guarded, guarded
from tests.interfaces.http.operations import filled, operations_of
from tests.interfaces.opened import record

#: As JSON writes them; JSON has no other numbers, but programs write the last three all the same.
NUMBERS = [
    "-1", "0", "-9223372036854775808", "-9223372036854775809", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "18446744073709551616", "1" + "0" * 40, "-1" + "0" * 400, "1.5", "1e30", "1e400", '"7"', '"seven"',
    '"NaN"', "true", "null", "[]", "{}", "NaN", "Infinity", "-Infinity",
]  # fmt: skip
WRITTEN = [*(number.strip('"') for number in NUMBERS), "", "0x10", "１２", "+5", " 5", "5_000", "1,000", "٣"]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("home"), rate_limit=0) as running:
        _there(running)
        yield running


def _there(app: Guarded) -> None:
    app.ask(app.admin, "POST", "/api/sessions", {"id": "theirs", "name": "theirs"})
    said = {"role": "user", "content": "telling", "id": "msg_theirs"}
    app.ask(app.admin, "POST", "/api/sessions/theirs/messages", said, Idempotency_Key="k")
    app.ask(app.admin, "POST", "/api/sessions/theirs/snapshots", {"content": {"a": 1}})


def _document(app: Guarded) -> Any:
    return app.ask(None, "GET", "/openapi.json").json


def _resolved(document: Any, node: Any) -> Any:
    while "$ref" in node:
        place = document
        for name in node["$ref"].removeprefix("#/").split("/"):
            place = place[name]
        node = place
    return node


def _is_number(document: Any, node: Any) -> bool:
    node = _resolved(document, node)
    kinds = node.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return bool({"integer", "number"} & set(kinds)) or any(
        _is_number(document, each) for name in ("anyOf", "oneOf") for each in node.get(name, ())
    )


def _places(document: Any, node: Any, at: tuple[str, ...] = (), depth: int = 4) -> Iterator[tuple[str, ...]]:
    """Paths to the numbers of a body; an array's item is ``0``."""
    node = _resolved(document, node)
    if at and _is_number(document, node):
        yield at
    for choice in (each for name in ("anyOf", "oneOf") for each in node.get(name, ())):
        yield from _places(document, choice, at, depth)
    if depth:
        for name, each in node.get("properties", {}).items():
            yield from _places(document, each, (*at, name), depth - 1)
        if isinstance(node.get("items"), dict):
            yield from _places(document, node["items"], (*at, "0"), depth - 1)


def _with(body: Any, place: tuple[str, ...], marker: str) -> Any:
    name, rest = place[0], place[1:]
    if name == "0":
        inner = body[0] if isinstance(body, list) and body else {}
        return [_with(inner, rest, marker) if rest else marker]
    body = dict(body) if isinstance(body, dict) else {}
    body[name] = _with(body.get(name), rest, marker) if rest else marker
    return body


def _fine(status: int, body: Any, what: str) -> None:
    assert status < 500, (what, status, body)
    assert not (isinstance(body, dict) and body.get("code") == "internal"), (what, body)


@pytest.mark.requirement("LOAD-6")
def test_no_number_in_an_address_makes_a_route_fail(app: Guarded) -> None:
    document = _document(app)
    asked = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method == "parameters":
                continue
            for parameter in operation.get("parameters", []):
                numeric = _is_number(document, parameter["schema"])
                counts = parameter["in"] == "path" and parameter["name"] in {"version", "other"}
                forged = parameter["name"] in {"cursor", "since", "last-event-id"}
                if not (numeric or counts or forged) or path.endswith("/stream"):
                    continue
                for value in WRITTEN:
                    where, headers = filled(path), {}
                    if parameter["in"] == "path":
                        template = path.replace("{" + parameter["name"] + "}", quote(value, safe="") or "%20")
                        where = filled(template)
                    elif parameter["in"] == "query":
                        if parameter["name"] == "wait" and value not in {"1e400", "NaN", "Infinity", "-1", "seven"}:
                            continue
                        where += ("&" if "?" in where else "?") + f"{parameter['name']}={quote(value, safe='')}"
                    else:
                        headers = {parameter["name"]: value.encode("ascii", "replace").decode()}
                    answer = app.ask(app.admin, method.upper(), where, **headers)
                    asked += 1
                    _fine(answer.status, answer.json if "json" in answer.kind else None, f"{method} {where} {headers}")
    assert asked > 200


@pytest.mark.requirement("LOAD-6")
def test_no_number_in_a_body_makes_a_route_fail(app: Guarded) -> None:
    document = _document(app)
    least = {(each.method, each.path): each.body for each in operations_of(app.site)}
    asked = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method == "parameters":
                continue
            taken = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            for place in set(_places(document, taken)) if taken else ():
                for number in NUMBERS:
                    body = json.dumps(_with(least[method.upper(), path], place, "@")).replace('"@"', number)
                    sent = {"Content_Type": "application/json", "Idempotency_Key": "n"}
                    answer = app.ask(app.admin, method.upper(), filled(path), body.encode(), **sent)
                    asked += 1
                    _fine(answer.status, answer.json if "json" in answer.kind else None, f"{method} {path} {body}")
    assert asked > 100


@pytest.mark.requirement("LOAD-6")
def test_no_number_in_a_frame_fails_and_the_socket_stays(app: Guarded) -> None:
    frames = [
        '{"type": "sync", "since": @}',
        '{"type": "sync", "session_id": "theirs", "since": @}',
        '{"type": "sync", "session_id": "theirs", "last_message_id": @}',
        '{"type": "subscribe", "cursor": @}',
        '{"type": "message", "session_id": "theirs", "content": "x", "timestamp": @}',
        '{"type": "message", "session_id": "theirs", "content": "x", "metadata": {"n": @}}',
        '{"type": "message", "session_id": "theirs", "content": "x", "tool_calls": [{"name": "t", "input": @}]}',
        '{"type": "ping", "ref": @}',
    ]
    with connect(f"ws://{app.site.host}/ws", additional_headers={"Authorization": f"Bearer {app.admin}"}) as socket:
        for number, frame in ((number, frame) for number in NUMBERS for frame in frames):
            socket.send(frame.replace("@", number))
            socket.send('{"type": "ping", "ref": "behind"}')
            while True:
                heard = json.loads(socket.recv(20))
                assert heard.get("code") != "internal", (frame, number, heard)
                if heard["type"] == "pong" and heard.get("ref") == "behind":
                    break


@pytest.mark.requirement("LOAD-6")
def test_no_number_given_to_a_tool_makes_it_fail(app: Guarded) -> None:
    record(app.services, delta(message("m1", 1, "telling")))
    registry = Registry.choose(("all",))
    asked = 0
    for tool in registry.visible(LOCAL):
        described = schema.input_schema(tool.input)
        properties = described.get("properties", {})
        least = {name: _least(properties[name]) for name in described.get("required", ())}
        numeric = [name for name, each in properties.items() if _is_number(described, each)]
        for name in numeric:
            for number in NUMBERS:
                if number in {"1e400", "-1" + "0" * 400}:
                    continue
                result = registry.dispatch(app.services, LOCAL, tool.name, {**least, name: json.loads(number)}, None)
                asked += 1
                assert result.error_code != "internal", (tool.name, name, number, result.text)
        if "cursor" in properties:
            for forged in _forged():
                result = registry.dispatch(app.services, LOCAL, tool.name, {**least, "cursor": forged}, None)
                assert result.error_code != "internal", (tool.name, forged, result.text)
    assert asked > 200


def _least(node: Any) -> Any:
    if node.get("enum"):
        return node["enum"][0]
    kind = node.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    return {"integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}.get(kind, "ses_a")


def _forged() -> Iterator[str]:
    for number in (-1, 2**63, 2**70, 10**40, 1.5, True):
        for kind in ("history:ses_a", "list_sessions", "search_sessions"):
            yield encode(kind, **{name: number if abs(number) < 2**63 else str(number) for name in "cmpnbea"})
        raw = json.dumps({"k": "x", "m": number}).encode()
        yield "c1." + base64.urlsafe_b64encode(raw).decode()
        yield encode_cursor("history", number, "ses_a")
        yield encode_cursor("sessions", number, "ses_a")


@pytest.mark.requirement("LOAD-6")
def test_a_cursor_with_numbers_past_what_is_stored_is_refused_by_the_list_it_was_forged_for(app: Guarded) -> None:
    found = app.services.catalog.list(LOCAL.namespace, SessionFilter(), limit=1)
    assert found.sessions
    for number in (2**63, -(2**63) - 1, 10**40):
        for values in ((number, "ses_a"), ("ses_a", number), (number, number)):
            answer = app.ask(app.admin, "GET", f"/api/sessions?cursor={encode_cursor('sessions', *values)}")
            assert (answer.status, answer.json["code"]) == (422, "invalid_input"), answer.body
