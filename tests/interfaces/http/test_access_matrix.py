"""Every route times every kind of caller. The routes come from the application itself: a new one is in it at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from ovillo.interfaces.http.access import PUBLIC
from ovillo.interfaces.http.doors import Surroundings
from ovillo.security.keys import mint
from ovillo.security.principals import ROLES, SCOPES
from tests.interfaces.http.guarded import DOORS, Guarded, guarded

#: Stands in the title and in the message of the session that others must not see.
MARK = "Xanadu"
_VALUES = {
    "name": "entity_of_theirs",
    "id": "theirs",
    "message": "msg_theirs",
    "version": "1",
    "other": "1",
    "key": "theirs",
}
#: Routes beside the endpoints, with what is sent there.
_SOCKETS = {"/ws", "/mcp/ws"}
_POSTED = {"/mcp", "/mcp/v1/execute"}


class Operation(NamedTuple):
    method: str
    path: str
    #: ``None`` is public.
    scope: str | None
    #: The least that its schema asks for.
    body: Any


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module")
def operations(app: Guarded) -> list[Operation]:
    document = app.ask(None, "GET", "/openapi.json").json
    found = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method == "parameters":
                continue
            scope = re.search(r"Needs the scope `([^`]+)`", operation.get("description", ""))
            taken = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            body = None if taken is None else _least(document, taken)
            found.append(Operation(method.upper(), path, scope[1] if scope else None, body))
    return found


def _least(document: dict[str, Any], schema: dict[str, Any]) -> Any:
    """A small value that the schema takes. Nothing of it is what others have."""
    if "$ref" in schema:
        place: Any = document
        for name in schema["$ref"].removeprefix("#/").split("/"):
            place = place[name]
        return _least(document, place)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return _least(document, schema[choice][0])
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            known = schema.get("properties", {})
            wanted = schema.get("required") or [name for name in known if name == "name"]
            return {name: _least(document, known[name]) for name in wanted}
        case "array":
            return [_least(document, schema["items"])] if schema.get("minItems") else []
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case _:
            return "trespass"


def _there(app: Guarded) -> None:
    """Made again before each operation: some of them remove it."""
    for method, path, body in (
        ("POST", "/api/sessions", {"id": "theirs", "name": MARK}),
        (
            "POST",
            "/api/sessions/theirs/messages",
            {"role": "user", "content": f"telling of {MARK}", "id": "msg_theirs"},
        ),
        ("PUT", "/api/contexts/theirs", {"value": {"a": MARK}}),
    ):
        answer = app.ask(app.writer, method, path, body, Idempotency_Key="k")
        # A role that may has renamed it.
        assert answer.status in {200, 201, 409}, answer.body


@pytest.fixture
def untouched(tmp_path: Path) -> Iterator[Guarded]:
    with guarded(tmp_path) as running:
        yield running


def _task(app: Guarded) -> str:
    """What grows with each time it is made is made once: a task, a snapshot, a link."""
    _there(app)
    app.ask(app.writer, "POST", "/api/sessions", {"id": "linked", "name": f"{MARK} too"})
    begun = app.ask(app.writer, "POST", "/api/time/tasks", {"llm_name": MARK, "task_description": MARK})
    link = {"to": "linked", "relationship": "continues"}
    assert app.ask(app.writer, "POST", "/api/sessions/theirs/links", link).status in {200, 201, 422}
    assert app.ask(app.writer, "POST", "/api/sessions/theirs/snapshots", {"content": {"a": MARK}}).status == 201
    return str(begun.json["task_id"])


def _filled(path: str, task: str = "theirs") -> str:
    values = {**_VALUES, "id": task} if "/tasks/" in path else _VALUES
    filled = re.sub(r"\{(\w+)\}", lambda name: values[name[1]], path)
    return f"{filled}?query=telling" if path.endswith("/search") else filled


@pytest.mark.requirement("ACCESS-18")
def test_only_what_is_promised_is_public(operations: list[Operation]) -> None:
    public = {each.path for each in operations if each.scope is None}
    assert public == {path for path in PUBLIC if not path.endswith("/")}
    assert {each.scope for each in operations if each.scope} <= set(SCOPES)
    assert len(operations) > 40


@pytest.mark.requirement("ACCESS-18")
def test_every_operation_refuses_no_and_wrong_credentials_first(app: Guarded, operations: list[Operation]) -> None:
    stranger = mint()[1]
    for method, path, scope, _ in operations:
        for key in (None, "wrong", stranger):
            for body in (None, b"{not json"):
                answer = app.ask(key, method, _filled(path), body)
                expected = {401} if scope is not None else {200}
                assert answer.status in expected, (method, path, key, answer.body)


@pytest.mark.requirement("ACCESS-18")
@pytest.mark.parametrize("role", sorted(ROLES))
def test_every_operation_lets_in_whose_role_has_its_scope_and_nobody_else(
    app: Guarded, operations: list[Operation], role: str
) -> None:
    for method, path, scope, body in operations:
        _there(app)
        answer = app.ask(getattr(app, role), method, _filled(path), body)
        if scope is None or scope in ROLES[role]:
            # A refusal may come from what the operation itself guards (this machine's files), never for a scope.
            assert answer.status != 401, (method, path)
            assert "www-authenticate" not in answer.headers, (method, path)
        else:
            assert answer.status == 403, (method, path)
            assert f'scope="{scope}"' in answer.headers["www-authenticate"]
        assert answer.status < 500, (method, path, answer.body)


@pytest.mark.requirement("ACCESS-15", "ACCESS-18")
def test_no_operation_shows_or_changes_anything_of_another_namespace(
    untouched: Guarded, operations: list[Operation]
) -> None:
    app = untouched
    task = _task(app)
    shown_to_us = []
    for method, path, scope, body in operations:
        if scope is None:
            continue
        _there(app)
        before = _all_of_theirs(app, task)
        answer = app.ask(app.foreign, method, _filled(path, task), body)
        assert answer.status < 500, (method, path, answer.body)
        assert MARK not in answer.body.decode(), (method, path)
        assert _all_of_theirs(app, task) == before, (method, path)
        if method == "GET" and MARK in app.ask(app.admin, method, _filled(path, task)).body.decode():
            shown_to_us.append(path)
    # The marks are there for those who may see them.
    assert len(shown_to_us) >= 10


def _all_of_theirs(app: Guarded, task: str) -> list[Any]:
    paths = ("/api/sessions/theirs", "/api/sessions/theirs/messages", "/api/sessions/theirs/snapshots")
    paths = (*paths, "/api/contexts/theirs", f"/api/time/tasks/{task}", "/api/sessions/linked")
    return [app.ask(app.admin, "GET", path).json for path in paths]


@pytest.mark.requirement("ACCESS-18")
def test_every_other_route_asks_for_a_credential(app: Guarded) -> None:
    surroundings = app.site.surroundings
    assert isinstance(surroundings, Surroundings)
    routes = {getattr(route, "path", "") for door in DOORS for route in door(surroundings).routes}
    assert routes == _SOCKETS | _POSTED
    for path in _POSTED:
        for method in ("GET", "POST", "DELETE", "PUT"):
            assert app.ask(None, method, path, b"{}").status == 401
            assert app.ask("wrong", method, path, b"{}").status == 401
        assert app.ask(app.reader, "POST", path, b"{}").status not in {401, 403}
    for path in _SOCKETS:
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            with pytest.raises(InvalidStatus) as refused:
                connect(f"ws://{app.site.host}{path}", additional_headers=headers)
            assert refused.value.response.status_code == 401
        with connect(f"ws://{app.site.host}{path}", additional_headers={"X-API-Key": app.reader}):
            pass
