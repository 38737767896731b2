"""Programs written for MCP-HUB v5 and v6 find their tools, with their old arguments, where the toolset ``compat`` is on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ovillo.interfaces.rest import ENDPOINTS
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.contract import ToolResult
from ovillo.interfaces.tools.registry import Registry
from ovillo.security.principals import LOCAL
from tests.builders import delta, message, session
from tests.code.projects import shop
from tests.interfaces.http.serving import serving
from tests.interfaces.opened import made, record

__all__ = ["made"]

OLD = Registry.choose(("history", "context", "compat"))


def ask(services: Services, name: str, **given: object) -> ToolResult:
    result = OLD.dispatch(services, LOCAL, name, given)
    assert not result.is_error, result.text
    return result


@pytest.mark.requirement("COMPAT-1")
def test_the_default_catalogue_knows_nothing_of_old_names() -> None:
    names = {tool.name for tool in Registry.choose().visible(LOCAL)}
    assert not names & {"manage_session", "index_codebase"}
    (tool,) = (tool for tool in Registry.choose().visible(LOCAL) if tool.name == "get_context")
    assert "top_k" not in tool.input.__struct_fields__


@pytest.mark.requirement("COMPAT-1")
def test_old_tools_say_in_description_and_answer_what_to_call_instead(made: Services, tmp_path: Path) -> None:
    old = {tool.name: tool.description for tool in OLD.visible(LOCAL)}
    assert "eprecated" in old["manage_session"]
    assert "eprecated" in old["index_codebase"]
    assert "deprecated" in old["get_context"]
    created = ask(made, "manage_session", action="create")
    assert "session_create" in created.text


@pytest.mark.requirement("COMPAT-2")
def test_a_session_is_made_filled_and_read_by_the_old_tool(made: Services) -> None:
    created = ask(made, "manage_session", action="create")
    assert created.structured is not None
    session_id = created.structured["session_id"]
    assert created.text.splitlines()[0] == session_id, "v6 gave the id as text"
    ask(made, "manage_session", action="add_turn", session_id=session_id, content="Hay un bug en el pago")
    ask(made, "manage_session", action="add_turn", session_id=session_id, content="¿Dónde?", role="assistant")
    read = ask(made, "manage_session", action="get_history", session_id=session_id)
    assert read.structured is not None
    turns = [(turn["role"], turn["content"]) for turn in read.structured["history"]]
    assert turns == [("user", "Hay un bug en el pago"), ("assistant", "¿Dónde?")]
    assert "> Hay un bug en el pago" in read.text


@pytest.mark.requirement("COMPAT-2")
def test_what_an_action_lacks_is_named(made: Services) -> None:
    result = OLD.dispatch(made, LOCAL, "manage_session", {"action": "add_turn", "content": "hi"})
    assert (result.is_error, result.error_code) == (True, "invalid_input")
    assert "session_id" in result.text
    unknown = OLD.dispatch(made, LOCAL, "manage_session", {"action": "close"})
    assert unknown.is_error


@pytest.mark.requirement("COMPAT-2")
def test_a_long_history_keeps_to_the_size_of_an_answer(made: Services) -> None:
    session_id = ask(made, "manage_session", action="create").structured["session_id"]  # type: ignore[index]
    for number in range(20):
        ask(made, "manage_session", action="add_turn", session_id=session_id, content=f"{number} " + "word " * 20_000)
    read = ask(made, "manage_session", action="get_history", session_id=session_id)
    assert len(read.text.encode()) < 48 * 1024
    assert read.structured is not None
    assert read.structured["history"][-1]["content"].startswith("19 ")
    assert read.structured["left_out"] > 0


@pytest.mark.requirement("COMPAT-3")
def test_code_is_indexed_under_the_old_name(made: Services, fixtures: Path, tmp_path: Path) -> None:
    project = shop(fixtures, tmp_path)
    result = ask(made, "index_codebase", path=str(project))
    assert result.structured is not None
    assert result.structured["symbols"] > 0
    assert "index_code" in result.text


@pytest.mark.requirement("COMPAT-4")
def test_get_context_takes_top_k_min_score_and_use_toon(made: Services) -> None:
    said = [
        message(f"m{n}", n, f"The rate limiter drops bursts, finding {n}: token bucket in Redis.", of="s")
        for n in (1, 3)
    ]
    record(made, delta(*said, about=session("s")))
    query = "why does the rate limiter drop bursts?"
    few = ask(made, "get_context", query=query, top_k=1, min_score=0.0)
    assert few.structured is not None
    assert len(few.structured["provenance"]) <= 1
    assert "deprecated" in few.structured["deprecated"]
    strict = ask(made, "get_context", query=query, min_score=1.0)
    assert strict.structured is not None
    assert strict.structured["abstained"]
    as_json = ask(made, "get_context", query=query, min_score=0.0, use_toon=False)
    body = next(json.loads(line) for line in as_json.text.splitlines() if line.startswith("{"))
    assert {"query", "code", "vectors", "history"} <= set(body)
    plain = ask(made, "get_context", query=query)
    assert plain.structured is not None
    assert not plain.structured.get("deprecated")


@pytest.mark.requirement("COMPAT-4")
def test_the_old_path_takes_the_old_arguments(made: Services) -> None:
    with serving(made.settings, endpoints=ENDPOINTS, services=made) as site:
        old = {"query": "anything", "top_k": 3, "min_score": 0.2, "use_toon": True}
        assert site.ask("POST", "/get_context", old).status == 200
        assert site.ask("POST", "/get_context", {**old, "top_k": 0}).status == 422
