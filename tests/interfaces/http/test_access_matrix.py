"""Every route times every kind of caller. The routes come from the application itself: a new one is in it at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

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
_VALUES = {"id": "theirs", "message": "msg_theirs", "version": "1", "other": "1", "key": "theirs"}
#: Routes beside the endpoints, with what is sent there.
_SOCKETS = {"/ws", "/mcp/ws"}
_POSTED = {"/mcp", "/mcp/v1/execute"}


class Operation(NamedTuple):
    method: str
    path: str
    #: ``None`` is public.
    scope: str | None


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module")
def operations(app: Guarded) -> list[Operation]:
    described = app.ask(None, "GET", "/openapi.json").json["paths"]
    found = []
    for path, methods in described.items():
        for method, operation in methods.items():
            if method == "parameters":
                continue
            scope = re.search(r"Needs the scope `([^`]+)`", operation.get("description", ""))
            found.append(Operation(method.upper(), path, scope[1] if scope else None))
    return found


def _there(app: Guarded) -> None:
    """Made again before each operation: some of them remove it."""
    app.ask(app.writer, "POST", "/api/sessions", {"id": "theirs", "name": MARK})
    said = {"role": "user", "content": f"telling of {MARK}", "id": "msg_theirs"}
    app.ask(app.writer, "POST", "/api/sessions/theirs/messages", said, Idempotency_Key="k")
    app.ask(app.writer, "PUT", "/api/contexts/theirs", {"value": MARK})


def _filled(path: str) -> str:
    filled = re.sub(r"\{(\w+)\}", lambda name: _VALUES[name[1]], path)
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
    for method, path, scope in operations:
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
    for method, path, scope in operations:
        _there(app)
        answer = app.ask(getattr(app, role), method, _filled(path), None if method in {"GET", "DELETE"} else {})
        if scope is None or scope in ROLES[role]:
            assert answer.status not in {401, 403} or "histories of this machine" in answer.body.decode(), (
                method,
                path,
            )
        else:
            assert answer.status == 403, (method, path)
            assert f'scope="{scope}"' in answer.headers["www-authenticate"]
        assert answer.status < 500, (method, path, answer.body)


@pytest.mark.requirement("ACCESS-15", "ACCESS-18")
def test_no_operation_shows_or_changes_anything_of_another_namespace(app: Guarded, operations: list[Operation]) -> None:
    for method, path, _ in operations:
        _there(app)
        before = app.ask(app.reader, "GET", "/api/sessions/theirs").json["session"]
        body = None if method in {"GET", "DELETE"} else {}
        answer = app.ask(app.foreign, method, _filled(path), body)
        assert answer.status < 500, (method, path, answer.body)
        assert MARK not in answer.body.decode(), (method, path)
        after = app.ask(app.reader, "GET", "/api/sessions/theirs").json["session"]
        assert after == before, (method, path)


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
