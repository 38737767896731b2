"""The two forms of an answer over MCP: its text, and the data that some clients hand their model instead."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client

from ovillo.app import open_services
from ovillo.interfaces.backend import Backend
from ovillo.interfaces.mcp.server import OvilloServer
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.model_forms import for_models
from ovillo.interfaces.tools.registry import Registry
from ovillo.model.quoting import NOTICE
from ovillo.security.principals import LOCAL
from tests.interfaces.opened import copy_homes, settings_for

#: What the data may take of what the text takes.
MOST = 1.2
#: Three messages of a few words weigh more in names of fields than in words.
MOST_OF_SMALL = 1.25
WITH_SMALL_ONES = ("get_session_history",)


@pytest.fixture(scope="module")
def services(fixtures: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    opened = open_services(settings_for(copy_homes(fixtures, tmp_path_factory.mktemp("home"))))
    opened.ingest.scan()
    opened.code.index(LOCAL.namespace, fixtures / "code")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def answers(services: Services) -> Mapping[str, list[tuple[str, dict[str, Any]]]]:
    """Tool -> text and data of many calls, as a client receives them."""
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}

    async def run() -> None:
        server = OvilloServer(Backend(lambda: services), Registry.choose(), state_key=b"k" * 32, own_process=True)
        async with Client(server.mcp) as client:
            listed = await client.call_tool("list_sessions", {"limit": 200})
            ids = [each["id"] for each in (listed.structured_content or {})["sessions"]]
            for tool, given in _calls(ids):
                result = await client.call_tool(tool, given)
                if not result.is_error:
                    assert result.structured_content is not None
                    found.setdefault(tool, []).append((result.content[0].text, result.structured_content))  # type: ignore[union-attr]

    anyio.run(run)
    return found


def _calls(ids: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for form in ("concise", "detailed"):
        yield "list_sessions", {"response_format": form}
        for query in ("retry_delay", "calcular_total", "validateToken", "delay", "nothing says this"):
            yield "search_sessions", {"query": query, "response_format": form}
    for session_id in ids:
        for tool in ("get_session_history", "get_session_lineage", "get_session_stats", "recover_context"):
            yield tool, {"sessionID": session_id}
        yield "get_context", {"query": "What did we change in that function?", "session_id": session_id}
    for name in ("retry_delay", "calcular_total", "validateToken"):
        yield "where_discussed", {"entity": name}
        yield "find_symbol", {"query": name}
        yield "get_context", {"query": f"What did we decide about {name}?"}
    yield "find_symbol", {"query": "payment"}
    yield "index_code", {}


def _size(data: Mapping[str, Any]) -> int:
    return len(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


@pytest.mark.requirement("TOOL-60")
def test_the_data_takes_hardly_more_of_a_conversation_than_the_text(
    answers: Mapping[str, list[tuple[str, dict[str, Any]]]],
) -> None:
    assert {tool.name for tool in Registry.choose().visible(LOCAL)} - set(answers) <= {
        "remember",
        "recall",
        "index_code",
    }
    for tool, both in answers.items():
        assert sum(_size(data) for _, data in both) <= MOST * sum(len(text) for text, _ in both), tool
        most = MOST_OF_SMALL if tool in WITH_SMALL_ONES else MOST
        assert [text for text, data in both if _size(data) > most * len(text)] == [], tool


@pytest.mark.requirement("TOOL-60")
def test_both_forms_mark_what_they_quote(answers: Mapping[str, list[tuple[str, dict[str, Any]]]]) -> None:
    for both in answers.values():
        for text, data in both:
            assert text.startswith(NOTICE) == (data.get("notice") == NOTICE)


@pytest.mark.requirement("TOOL-60")
def test_the_data_keeps_the_promised_names_and_the_schema(
    services: Services, answers: Mapping[str, list[tuple[str, dict[str, Any]]]]
) -> None:
    from ovillo.interfaces.mcp.server import tool_definition

    schemas = {tool.name: tool_definition(tool).output_schema for tool in Registry.choose().visible(LOCAL)}
    for tool, both in answers.items():
        for _, data in both:
            jsonschema.validate(data, schemas[tool] or {})
    for _, data in answers["search_sessions"]:
        for found in data["sessions"]:
            assert {"sessionID", "title", "snippet", "messageID", "partID", "score"} <= set(found["hits"][0])
            assert all(place["messageID"] or place["snippet"] for place in found.get("more", []))
    for _, data in answers["get_session_history"]:
        for message in data["messages"]:
            assert {"id", "role", "created", "parts"} <= set(message)
            for part in message["parts"]:
                assert part.get("type") != "tool_call" or {"name", "callID", "input", "status"} <= set(part["tool"])
    for _, data in answers["get_session_stats"]:
        assert {"duration", "tokens", "changes", "messageCount", "partCount"} <= set(data)
    for _, data in answers["list_sessions"]:
        assert all({"id", "title", "created", "updated"} <= set(each) for each in data["sessions"])


@pytest.mark.requirement("TOOL-60")
def test_a_session_s_id_and_title_stand_once_beside_its_first_hit(
    answers: Mapping[str, list[tuple[str, dict[str, Any]]]],
) -> None:
    for _, data in answers["search_sessions"]:
        for found in data["sessions"]:
            assert len(found["hits"]) == 1
            assert all("sessionID" not in place and "title" not in place for place in found.get("more", []))


@pytest.mark.requirement("TOOL-60")
def test_a_page_tells_its_day_and_what_is_true_of_all_its_messages_once() -> None:
    said = [{"type": "text", "id": "p", "text": "Done."}]
    days = ("2026-11-21T04:07:41.493Z", "2026-11-21T04:07:59.001Z", "2026-11-22T00:00:01.000Z")
    messages = [
        {"id": f"m{n}", "role": "user", "created": day, "parts": said, "reverted": True} for n, day in enumerate(days)
    ]
    page = for_models("get_session_history", {"session": {"id": "s"}, "offset": 0, "total": 3, "messages": messages})
    assert [each["created"] for each in page["messages"]] == [
        "2026-11-21T04:07:41Z",
        "04:07:59",
        "2026-11-22T00:00:01Z",
    ]
    assert page["session"]["reverted"]
    assert not any("reverted" in each for each in page["messages"])
    assert page["messages"][0]["parts"] == [{"text": "Done."}]


@pytest.mark.requirement("TOOL-60")
def test_what_a_tool_was_given_and_what_was_saved_is_not_shortened() -> None:
    given = {"old_string": "", "at": "2026-11-21T04:07:41.493Z", "none": None}
    call = {
        "id": "p1",
        "type": "tool_call",
        "tool": {"name": "edit", "callID": "c1", "input": given, "status": "completed"},
    }
    page = {"session": {"id": "s"}, "offset": 0, "messages": [{"id": "m", "role": "assistant", "parts": [call]}]}
    assert for_models("get_session_history", page)["messages"][0]["parts"][0]["tool"]["input"] == given
    assert for_models("session_restore", {"content": given, "warnings": []}) == {"content": given, "warnings": []}


@pytest.mark.requirement("TOOL-60")
def test_programs_get_every_field(services: Services) -> None:
    """REST, the command line and ``execute`` keep the shapes that are promised to programs."""
    result = Registry.choose().dispatch(services, LOCAL, "search_sessions", {"query": "retry_delay"})
    assert result.structured is not None
    for found in result.structured["sessions"]:
        assert {"id", "title", "created", "updated", "agent", "parentID", "summary"} <= set(found)
        for hit in found["hits"]:
            assert {"sessionID", "title", "snippet", "messageID", "partID", "score"} <= set(hit)
