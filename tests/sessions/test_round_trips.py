"""Any text and any JSON that goes in through a door comes out as it was.

Exact but for one thing: half of a surrogate pair, which JSON can write and no encoding carries, comes out as U+FFFD, and two
halves that belong together as the character they are. Numbers no float can hold (1e400) and nesting beyond the limits are
refused by name, never changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ovillo.app import open_services
from ovillo.interfaces.rest.mount import open_mount
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.registry import Registry
from ovillo.security.principals import LOCAL
from tests.anything import JSON, TEXTS, same
from tests.interfaces.http.serving import Site, serving
from tests.interfaces.opened import settings_for

TOOLS = Registry.choose(("all",))
NUMBERS = count()
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=4)
HARD: dict[str, Any] = {
    "": {"": [-0.0, 0, 0.0, 1, 1.0, True, None, {}, [], ""]},
    "big": [2**53 + 1, 2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**300, 5e-324, 1.7976931348623157e308],
    "text": '\0\x01\x1b[31m\x7f\x85\u2028\ufeff\ufffe😀e\u0301\r\n\t"\\/</script>',
    "halves": ["\ud800", "a\udc00b", "\udc00\ud800", "\ud83d\ude00"],
    "\ud800key": 1,
    "long": "año " * 50_000,
}
CHECKED = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    wanted = replace(settings_for(tmp_path_factory.mktemp("home")), redaction="off")
    opened = open_services(wanted)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def site(services: Services) -> Iterator[Site]:
    with serving(services.settings, open_mount, services=services) as running:
        yield running


def tool(services: Services, tool_name: str, /, **arguments: Any) -> Any:
    """As over the wire: arguments and answer are JSON."""
    result = TOOLS.dispatch(services, LOCAL, tool_name, json.loads(json.dumps(arguments)))
    assert not result.is_error, result.text
    return json.loads(json.dumps(result.structured, allow_nan=False))


def sent(site: Site, method: str, path: str, body: Any, **headers: str) -> Any:
    """JSON as JavaScript writes it: half pairs as escapes."""
    answer = site.ask(method, path, json.dumps(body).encode(), Content_Type="application/json", **headers)
    assert answer.status in (200, 201), answer.body[:500]
    return answer.json


@pytest.mark.requirement("STORE-20")
@CHECKED
@given(text=TEXTS, data=OBJECTS)
@example(text=HARD["text"] + "\ud800", data=HARD)
@example(text="x" * 1_000_000, data={})
def test_a_message_over_http(site: Site, text: str, data: dict[str, Any]) -> None:
    path = f"/api/sessions/{_session(site)}/messages"
    call = {"name": "tool", "input": data, "output": text, "callId": "c1"}
    body = {"role": "user", "content": text or ".", "metadata": data, "toolCalls": [call], "id": "m"}
    sent(site, "POST", path, body, Idempotency_Key="k")
    for found in (site.ask("GET", path).json["messages"][0], site.ask("GET", f"{path}/m").json):
        assert same(found["content"], text or ".")
        assert same(found.get("metadata", {}), data)
        assert same(found["toolCalls"][0]["input"], data)
        assert same(found["toolCalls"][0]["output"], text)


@pytest.mark.requirement("STORE-20")
@CHECKED
@given(text=TEXTS, data=OBJECTS)
@example(text=HARD["text"] + "\ud800", data=HARD)
def test_a_session_exported_and_imported(site: Site, text: str, data: dict[str, Any]) -> None:
    session_id = _session(site)
    call = {"name": "tool", "input": data, "output": text, "callId": "c1"}
    body = {"role": "user", "content": text or ".", "metadata": data, "toolCalls": [call]}
    sent(site, "POST", f"/api/sessions/{session_id}/messages", body, Idempotency_Key="k")
    exported = sent(site, "POST", f"/api/sessions/{session_id}/export", {"format": "json"})
    imported = sent(site, "POST", "/api/sessions/import", {"data": exported["data"]})
    found = site.ask("GET", f"/api/sessions/{imported['session']['id']}/messages").json["messages"][0]
    assert same(found["content"], text or ".")
    # An import says where a message came from.
    kept = {name: value for name, value in found["metadata"].items() if name != "ovillo:imported"}
    assert same(kept, data)
    assert same(found["toolCalls"][0]["input"], data)


@pytest.mark.requirement("STORE-20")
@CHECKED
@given(content=OBJECTS)
@example(content={name: HARD[name] for name in HARD if name != "long"})
def test_a_state_saved_and_restored(services: Services, content: dict[str, Any]) -> None:
    session_id = tool(services, "session_create", name="state")["session_id"]
    for level in (0, 2):
        tool(services, "session_save", session_id=session_id, content=content, compression_level=level)
        assert same(tool(services, "session_restore", session_id=session_id)["content"], content)


@pytest.mark.requirement("STORE-20")
@CHECKED
@given(value=OBJECTS)
@example(value={name: HARD[name] for name in HARD if name != "long"})
def test_a_value_of_a_context(services: Services, value: dict[str, Any]) -> None:
    key = f"key-{next(NUMBERS)}"
    tool(services, "context_store", key=key, value=value)
    assert same(tool(services, "context_retrieve", key=key)["value"], value)


@pytest.mark.requirement("STORE-20")
def test_deep_json_survives_to_the_limit_and_is_refused_beyond(services: Services, site: Site) -> None:
    for depth in (20, 60):
        value: Any = 1
        for _ in range(depth):
            value = {"": [value]}
        session_id = _session(site)
        sent(
            site,
            "POST",
            f"/api/sessions/{session_id}/messages",
            {"role": "user", "content": ".", "metadata": value},
            Idempotency_Key="k",
        )
        assert same(site.ask("GET", f"/api/sessions/{session_id}/messages").json["messages"][0]["metadata"], value)
    raw = b'{"role": "user", "content": ".", "metadata": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"}"
    refused = site.ask(
        "POST", f"/api/sessions/{session_id}/messages", raw, Content_Type="application/json", Idempotency_Key="d"
    )
    assert refused.status in (400, 422)
    assert "deep" in refused.json["detail"]


@pytest.mark.requirement("STORE-20")
def test_a_number_that_no_float_holds_is_refused_and_said(site: Site) -> None:
    raw = b'{"role": "user", "content": ".", "metadata": {"n": 1e400}}'
    path = f"/api/sessions/{_session(site)}/messages"
    refused = site.ask("POST", path, raw, Content_Type="application/json", Idempotency_Key="n")
    assert refused.status in (400, 422)
    assert "range" in refused.json["detail"]


def _session(site: Site) -> str:
    session_id = f"round-{next(NUMBERS)}"
    sent(site, "POST", "/api/sessions", {"id": session_id, "name": session_id})
    return session_id
