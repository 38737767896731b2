"""Every route times every kind of caller. The routes come from the application itself: a new one is in it at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from ovillo.interfaces.http.access import PUBLIC
from ovillo.interfaces.http.mounts import ServerContext
from ovillo.security.keys import mint
from ovillo.security.principals import ROLES, SCOPES
from tests.interfaces.http.guarded import MOUNTS, Guarded, guarded
from tests.interfaces.http.operations import Operation, filled, operations_of

#: Stands in the title and in the message of the session that others must not see.
MARK = "Xanadu"
#: Routes beside the endpoints, with what is sent there.
_SOCKETS = {"/ws", "/mcp/ws"}
_POSTED = {"/mcp", "/mcp/v1/execute"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module")
def operations(app: Guarded) -> list[Operation]:
    return operations_of(app.site)


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
                answer = app.ask(key, method, filled(path), body)
                expected = {401} if scope is not None else {200}
                assert answer.status in expected, (method, path, key, answer.body)


@pytest.mark.requirement("ACCESS-18")
@pytest.mark.parametrize("role", sorted(ROLES))
def test_every_operation_lets_in_whose_role_has_its_scope_and_nobody_else(
    app: Guarded, operations: list[Operation], role: str
) -> None:
    for method, path, scope, body in operations:
        _there(app)
        answer = app.ask(getattr(app, role), method, filled(path), body)
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
        answer = app.ask(app.foreign, method, filled(path, task), body)
        assert answer.status < 500, (method, path, answer.body)
        assert MARK not in answer.body.decode(), (method, path)
        assert _all_of_theirs(app, task) == before, (method, path)
        if method == "GET" and MARK in app.ask(app.admin, method, filled(path, task)).body.decode():
            shown_to_us.append(path)
    # The marks are there for those who may see them.
    assert len(shown_to_us) >= 10


def _all_of_theirs(app: Guarded, task: str) -> list[Any]:
    paths = ("/api/sessions/theirs", "/api/sessions/theirs/messages", "/api/sessions/theirs/snapshots")
    paths = (*paths, "/api/contexts/theirs", f"/api/time/tasks/{task}", "/api/sessions/linked")
    return [app.ask(app.admin, "GET", path).json for path in paths]


@pytest.mark.requirement("ACCESS-18")
def test_every_other_route_asks_for_a_credential(app: Guarded) -> None:
    context = app.site.context
    assert isinstance(context, ServerContext)
    routes = {getattr(route, "path", "") for mount in MOUNTS for route in mount(context).routes}
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
