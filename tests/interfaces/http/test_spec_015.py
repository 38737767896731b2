"""The scenarios of SPEC-015, section 6, by name: through HTTP, against a server process, across restarts of it."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.interfaces.http.serving import Site, process


@contextmanager
def running(home: Path) -> Iterator[Site]:
    """A server that ends as it does in life: by SIGTERM, with exit code 0."""
    with process(home) as (server, site):
        yield site
        server.send_signal(signal.SIGTERM)
        assert server.wait(15) == 0


def create(site: Site, **facts: Any) -> dict[str, Any]:
    answer = site.ask("POST", "/api/sessions", facts)
    assert answer.status == 201, answer.body
    session: dict[str, Any] = answer.json["session"]
    return session


def say(site: Site, session_id: str, content: str, role: str = "user") -> dict[str, Any]:
    answer = site.ask(
        "POST", f"/api/sessions/{session_id}/messages", {"role": role, "content": content}, Idempotency_Key=uuid4().hex
    )
    assert answer.status == 201, answer.body
    stored: dict[str, Any] = answer.json
    return stored


def fill(site: Site, session_id: str, first: int, last: int) -> None:
    """Messages ``first`` to ``last`` (1-based), person and model in turn, each with a word of its own."""
    for number in range(first, last + 1):
        asked = number % 2
        text = f"Step {number}: please check the validator, marker-{number}." if asked else f"Checked, result-{number}."
        say(site, session_id, text, "user" if asked else "assistant")


def get(site: Site, session_id: str) -> dict[str, Any]:
    answer = site.ask("GET", f"/api/sessions/{session_id}")
    assert answer.status == 200, answer.body
    session: dict[str, Any] = answer.json["session"]
    return session


def messages_with_summary(site: Site, session_id: str) -> list[dict[str, Any]]:
    """All messages, once the summary that every reader sees is stored too; that happens in the background."""
    for _ in range(200):
        messages: list[dict[str, Any]] = site.ask("GET", f"/api/sessions/{session_id}/messages?limit=100").json[
            "messages"
        ]
        if any("summarizedBy" in message for message in messages):
            return messages
        time.sleep(0.1)
    raise AssertionError("no summary was stored")


@pytest.mark.requirement("BDD-1")
def test_crear_nueva_sesion(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        assert site.ask("GET", "/api/sessions").json == {"sessions": [], "total": 0}
        first, second = create(site, name="Pago"), create(site)
        assert first["id"] != second["id"]
        assert first["name"] == "Pago"
        assert first["shortTermMemory"] == []
        assert first["longTermSummary"] == ""
        assert first["modes"] == {"orchestrate": False, "plan": False, "bypassPermissions": False}
    with running(tmp_path) as site:
        assert {x["id"] for x in site.ask("GET", "/api/sessions").json["sessions"]} == {first["id"], second["id"]}


@pytest.mark.requirement("BDD-2")
def test_persistir_entre_reinicios(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        session_id = create(site)["id"]
        fill(site, session_id, 1, 10)
        before = site.ask("GET", f"/api/sessions/{session_id}/messages").json["messages"]
    with running(tmp_path) as site:
        session = get(site, session_id)
        assert [m["content"] for m in session["shortTermMemory"]] == [m["content"] for m in before]
        assert len(before) == 10
        assert site.ask("GET", f"/api/sessions/{session_id}/messages").json["messages"] == before


@pytest.mark.requirement("BDD-3")
def test_auto_summarization(tmp_path: Path) -> None:
    """The specification leaves message 36 in neither place; here it is summarised with the 35 before it."""
    with running(tmp_path) as site:
        session_id = create(site, name="Validator")["id"]
        fill(site, session_id, 1, 50)
        assert get(site, session_id)["longTermSummary"] == ""
        fill(site, session_id, 51, 55)
        fill(site, session_id, 56, 56)
        session = get(site, session_id)
        kept = [m["seq"] for m in session["shortTermMemory"]]
        assert session["longTermSummary"]
        assert kept[-1] == 56
        assert kept == list(range(37, 57))
        everything = messages_with_summary(site, session_id)
        assert [m["seq"] for m in everything] == list(range(1, 57))
        summarised = [m["seq"] for m in everything if "summarizedBy" in m]
        assert summarised == list(range(1, summarised[-1] + 1))
        assert summarised[-1] <= 36
        listed = site.ask("GET", "/api/sessions").json["sessions"][0]
        assert 0 < len(listed["summary"]) <= 100


@pytest.mark.requirement("BDD-3")
def test_auto_summarization_of_56_messages_at_once_keeps_the_last_20(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        session_id = create(site)["id"]
        batch = [
            {"role": "assistant" if n % 2 else "user", "content": f"said {n}", "idempotencyKey": f"k{n}"}
            for n in range(1, 57)
        ]
        assert site.ask("POST", f"/api/sessions/{session_id}/messages/batch", {"messages": batch}).status == 201
        session = get(site, session_id)
        assert [m["seq"] for m in session["shortTermMemory"]] == list(range(37, 57))
        assert session["longTermSummary"]


@pytest.mark.requirement("BDD-4")
def test_export_sesion(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        session_id = create(site, name="Pago: ¿qué falla?", provider="openai")["id"]
        fill(site, session_id, 1, 4)
        answer = site.ask("POST", f"/api/sessions/{session_id}/export", {})
        assert answer.status == 200, answer.body
        assert re.fullmatch(r"session-[\w.-]+-\d{4}-\d\d-\d\d\.json", answer.json["filename"])
        exported = json.loads(answer.json["data"])
        assert exported["version"] == "1.0"
        assert isinstance(exported["exportedAt"], int)
        assert exported["session"]["provider"] == "openai"
        assert exported["session"]["messages"][0]["content"].startswith("Step 1")


@pytest.mark.requirement("BDD-5")
def test_import_sesion(tmp_path: Path) -> None:
    with running(tmp_path) as site:
        session_id = create(site, name="Pago", provider="openai")["id"]
        fill(site, session_id, 1, 4)
        data = site.ask("POST", f"/api/sessions/{session_id}/export", {}).json["data"]
        imported = site.ask("POST", "/api/sessions/import", {"data": data})
        assert imported.status == 201, imported.body
        new = imported.json["session"]["id"]
        assert new != session_id
        session = get(site, new)
        assert (session["name"], session["provider"]) == ("Pago", "openai")
        assert [m["content"] for m in session["shortTermMemory"]] == [
            m["content"] for m in get(site, session_id)["shortTermMemory"]
        ]
        say(site, new, "and on we go")
    with running(tmp_path) as site:
        assert get(site, new)["shortTermMemory"][-1]["content"] == "and on we go"
