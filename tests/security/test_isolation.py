"""Two namespaces in one store: whatever one asks, the answer is the one it would get if the other did not exist."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.registry import Registry, all_tools
from ovillo.model.errors import NotFound
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace, Role, SessionId
from ovillo.model.sessions import SessionFilter
from ovillo.security.principals import ROLES, Principal
from ovillo.sessions.caller import CallContext
from ovillo.sessions.drafts import MessageDraft, SessionDraft
from tests.interfaces.opened import copy_homes, settings_for

OURS, THEIRS = Namespace("ours"), Namespace("theirs")
ME = Principal("me", OURS, ROLES["admin"], "key")
REGISTRY = Registry.choose(("all",))
#: What only the others have: in titles, prompts, paths.
SECRETS = ("Quetzalcoatl", "quetzalito", "tzompantli", "Huitzilopochtli", "xochimilco.py")

#: Words of ours, of theirs, of both, nearly theirs, parts of theirs, as words, phrases, beginnings, expressions.
QUERIES = (
    "ledger",
    "quetzalcoatl",
    "quetzalcoatk",
    "quetza*",
    "zalcoa",
    "tzompantlo",
    '"tzompantli wall"',
    "/quetz.*tl/",
    "/led.er/",
    "xochimilco",
    "payment -quetzalcoatl",
    "payment quetzalcoatl",
    "session:same payment",
    "Huitzilopochtli plan",
    "付款",
    "付清",
)


def _fill(services: Services, namespace: Namespace, *texts: str, title: str) -> None:
    """The same ids in every namespace."""
    services.recorder.create(namespace, SessionDraft(id="same", name=title))
    for number, text in enumerate(texts):
        draft = MessageDraft(Role.USER, text, id=f"msg_{number}", created_at=1_795_262_400_000 + number)
        services.recorder.append(namespace, SessionId("same"), [(draft, f"key-{number}")]).result()


def _ours(services: Services) -> None:
    _fill(services, OURS, "the ledger of each payment", "payment 付款 is late", title="Ledger work")


def _theirs(services: Services) -> None:
    said = "payment to Quetzalcoatl over the tzompantli wall, ask quetzalito", "see xochimilco.py 付清 付款"
    _fill(services, THEIRS, *said, title="Huitzilopochtli plan")
    services.recorder.create(THEIRS, SessionDraft(id="samey", name="Quetzalcoatl again"))


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Services]:
    services = open_services(settings_for(tmp_path / "alone"))
    _ours(services)
    yield services
    services.close()


@pytest.fixture
def together(tmp_path: Path) -> Iterator[Services]:
    services = open_services(settings_for(tmp_path / "together"))
    _theirs(services)
    _ours(services)
    # More than a batch's worth of words of both are in the index of parts of words.
    services.store.text.catch_up()
    yield services
    services.close()


def _search(services: Services, query: str) -> tuple[Any, ...]:
    """Everything of the answer but times, and scores with the order they make: all documents weigh words together."""
    result = REGISTRY.dispatch(services, ME, "search_sessions", {"query": query})
    data = json.loads(json.dumps(result.structured))

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            dropped = {"score", "elapsed", "updated", "created", "scoring"}
            return {name: bare(item) for name, item in value.items() if name not in dropped}
        return sorted(map(bare, value), key=repr) if isinstance(value, list) else value

    return result.is_error, bare(data), result.error_code


@pytest.mark.requirement("ACCESS-15")
@pytest.mark.parametrize("query", QUERIES)
def test_a_search_finds_offers_and_notes_what_it_would_without_the_others(
    alone: Services, together: Services, query: str
) -> None:
    assert _search(together, query) == _search(alone, query)


@pytest.mark.requirement("ACCESS-15")
def test_equal_ids_are_different_sessions(together: Services) -> None:
    store, same = together.store, SessionId("same")
    assert [row.session.title for row in (store.sessions.get(n, same) for n in (OURS, THEIRS)) if row] == [
        "Ledger work",
        "Huitzilopochtli plan",
    ]
    assert together.catalog.resolve(OURS, "same").title == "Ledger work"
    assert together.catalog.list(OURS, SessionFilter()).total == 1
    assert [change.ref for change in store.changes.since(OURS, 0, 100)] == ["same", "same/msg_0", "same/msg_1"]
    together.recorder.delete(THEIRS, same)
    assert [message.id for message in store.sessions.messages(OURS, same)] == ["msg_0", "msg_1"]
    assert store.changes.last(OURS) == 3


@pytest.mark.requirement("ACCESS-15")
@pytest.mark.parametrize("ref", ["samey", "Huitzilopochtli plan", "Huitzilopochtl", "Quetzalcoatl again", "msg_9"])
def test_names_of_others_are_neither_resolved_nor_offered(together: Services, ref: str) -> None:
    with pytest.raises(NotFound) as missing:
        together.catalog.resolve(OURS, ref)
    said = str(missing.value).replace(repr(ref), "")
    assert not [secret for secret in SECRETS if secret in said]
    assert "samey" not in said


@pytest.mark.requirement("ACCESS-15", "ACCESS-16")
def test_no_tool_shows_anything_of_another_namespace(together: Services) -> None:
    values = {"limit": 50, "cursor": None, "value": {"a": 1}, "content": {"a": 1}}
    named = {"sessionID": "same", "session_id": "same", "query": "payment", "key": "k", "name": "n"}
    tried = 0
    for tool in all_tools():
        fields = {*tool.input.__struct_fields__, *tool.input.__struct_encode_fields__}
        given = {name: value for name, value in {**values, **named}.items() if name in fields and value is not None}
        for ref in ("same", "samey", "current"):
            arguments = {name: ref if value == "same" else value for name, value in given.items()}
            result = REGISTRY.dispatch(together, ME, tool.name, arguments)
            said = f"{result.text}{json.dumps(result.structured)}"
            assert not [secret for secret in SECRETS if secret in said], tool.name
            tried += not result.is_error
    assert tried > 10


@pytest.mark.requirement("ACCESS-15", "ACCESS-16")
def test_a_caller_of_another_namespace_learns_nothing_of_this_machines_sessions(fixtures: Path, tmp_path: Path) -> None:
    services = open_services(settings_for(copy_homes(fixtures, tmp_path)))
    try:
        services.ingest.scan()
        mine = [row.session.id for row in services.store.sessions.find(DEFAULT_NAMESPACE, SessionFilter(), 5)]
        row = services.store.sessions.get(DEFAULT_NAMESPACE, mine[0])
        assert row is not None
        for client in ("opencode", "claude-code", "codex-mcp-client", "gemini-cli-mcp-client"):
            context = CallContext("recover_context", {}, client_name=client, roots=(row.session.directory or "/",))
            calling = services.caller.find(OURS, context)
            assert calling.confidence == 0
            result = REGISTRY.dispatch(services, ME, "recover_context", {}, context)
            assert result.is_error
            assert not [session_id for session_id in mine if session_id in result.text]
        listed = REGISTRY.dispatch(services, ME, "list_sessions", {})
        assert listed.structured is not None
        assert listed.structured["sessions"] == []
    finally:
        services.close()
