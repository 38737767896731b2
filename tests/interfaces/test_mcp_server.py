"""ovillo as an MCP server, driven by the official client in one process, in both protocol eras."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from ovillo.ingest.reports import ScanReport
from ovillo.interfaces.backend import Backend
from ovillo.interfaces.mcp.server import OvilloServer
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.registry import Registry
from ovillo.model.errors import StoreUnavailable
from tests.builders import delta, message, session
from tests.interfaces.opened import made, record
from tests.sessions.test_projects import repository

__all__ = ["made"]

ERAS = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


def server_of(services: Services) -> OvilloServer:
    return OvilloServer(Backend(lambda: services), Registry.choose(), state_key=b"k" * 32, own_process=True)


def with_client(services: Services, mode: str, work: Callable[[Client], Awaitable[None]]) -> None:
    async def run() -> None:
        async with Client(server_of(services).mcp, mode=mode) as client:
            await work(client)

    anyio.run(run)


def said(result: Any) -> str:
    return str(result.content[0].text)


@ERAS
@pytest.mark.requirement("TOOL-13")
def test_tools_answer_the_same_over_mcp_as_in_the_registry(made: Services, mode: str) -> None:
    record(made, delta(message("m1", 1, "hello there"), about=session("ses_a", title="Greeting")))

    async def work(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == sorted(tool.name for tool in tools)
        result = await client.call_tool("get_session_history", {"sessionID": "ses_a"})
        assert not result.is_error
        assert result.structured_content["session"]["title"] == "Greeting"
        assert "> hello there" in said(result)
        json.dumps(result.structured_content)

    with_client(made, mode, work)


@ERAS
@pytest.mark.requirement("TOOL-7")
def test_a_wrong_call_is_a_result_and_not_a_protocol_error(made: Services, mode: str) -> None:
    async def work(client: Client) -> None:
        wrong = await client.call_tool("get_session_stats", {"sessionID": "nobody"})
        assert wrong.is_error
        assert "list_sessions" in said(wrong)
        unknown = await client.call_tool("list_session", {})
        assert unknown.is_error
        assert "list_sessions" in said(unknown)

    with_client(made, mode, work)


@ERAS
@pytest.mark.requirement("TOOL-16")
def test_sessions_and_messages_are_resources(made: Services, mode: str) -> None:
    record(
        made, delta(message("m1", 1, "hello there"), message("m2", 2, "and more"), about=session("ses_a", title="Hi"))
    )

    async def work(client: Client) -> None:
        listed = (await client.list_resources()).resources
        assert [(each.uri, each.title) for each in listed] == [("ovillo://session/ses_a", "Hi")]
        templates = (await client.list_resource_templates()).resource_templates
        assert {each.uri_template for each in templates} == {
            "ovillo://session/{id}{?cursor}",
            "ovillo://session/{id}/message/{messageID}",
        }
        whole = (await client.read_resource("ovillo://session/ses_a")).contents[0]
        assert whole.mime_type == "text/markdown"
        assert "> hello there" in whole.text
        one = (await client.read_resource("ovillo://session/ses_a/message/m2")).contents[0]
        assert "> and more" in one.text
        assert "hello there" not in one.text

    with_client(made, mode, work)


@pytest.mark.requirement("TOOL-16")
def test_a_long_session_goes_on_at_the_next_page_of_its_resource(made: Services) -> None:
    record(made, delta(*(message(f"m{n}", n, f"word{n} " * 300) for n in range(60))))

    async def work(client: Client) -> None:
        uri, texts = "ovillo://session/ses_a", []
        while uri:
            text = (await client.read_resource(uri)).contents[0].text
            assert len(text.encode()) < 49_152
            texts.append(text)
            uri = text.rpartition("Next page: ")[2].strip() if "Next page: " in text else ""
        assert len(texts) > 1
        assert all(f"word{n} " in "".join(texts) for n in range(60))

    with_client(made, "legacy", work)


@ERAS
@pytest.mark.requirement("TOOL-16")
@pytest.mark.parametrize("uri", ["ovillo://session/nobody", "ovillo://else", "file:///etc/passwd", "ovillo://session/"])
def test_a_missing_resource_is_told_with_the_code_of_the_era(made: Services, mode: str, uri: str) -> None:
    async def work(client: Client) -> None:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        assert caught.value.code == (-32602 if mode == "2026-07-28" else -32002)
        assert caught.value.data == {"uri": uri}

    with_client(made, mode, work)


@ERAS
@pytest.mark.requirement("TOOL-16")
def test_prompts_embed_what_was_recorded_as_quoted_data(made: Services, mode: str) -> None:
    record(
        made, delta(message("m1", 1, "We decided to use zstd for snapshots"), about=session("ses_a", title="Snapshots"))
    )

    async def work(client: Client) -> None:
        prompts = (await client.list_prompts()).prompts
        assert {prompt.name for prompt in prompts} == {"continue_where_we_left_off", "what_did_we_decide_about"}
        assert all(prompt.description for prompt in prompts)
        going_on = await client.get_prompt("continue_where_we_left_off", {"sessionID": "ses_a"})
        assert "> We decided to use zstd" in going_on.messages[0].content.text
        decided = await client.get_prompt("what_did_we_decide_about", {"topic": "zstd"})
        assert "ses_a" in decided.messages[0].content.text
        assert "not instructions" in decided.messages[0].content.text
        for name, arguments in (("what_did_we_decide_about", {}), ("continue", {})):
            with pytest.raises(MCPError):
                await client.get_prompt(name, arguments)

    with_client(made, mode, work)


@pytest.mark.requirement("TOOL-9")
def test_the_clients_own_ids_reach_the_rules_for_the_calling_session(made: Services) -> None:
    record(made, delta(message("m1", 1, "hello"), about=session("thread-1", source="codex")))

    async def work(client: Client) -> None:
        result = await client.call_tool("get_session_history", {"sessionID": "current"}, meta={"threadId": "thread-1"})
        assert not result.is_error, said(result)
        assert result.structured_content["calling"] == {
            "sessionID": "thread-1",
            "rule": "_meta threadId",
            "confidence": 1.0,
        }
        assert "Current session: thread-1 (found by _meta threadId" in said(result)

    with_client(made, "legacy", work)
    with_client(made, "2026-07-28", work)


@pytest.mark.requirement("TOOL-7")
def test_a_store_that_cannot_be_opened_is_an_answer() -> None:
    def refuse() -> Services:
        raise StoreUnavailable("The database is locked away.", hint="Look at the data folder.")

    server = OvilloServer(Backend(refuse), Registry.choose(), state_key=b"k" * 32)

    async def run() -> None:
        async with Client(server.mcp) as client:
            assert (await client.list_tools()).tools
            result = await client.call_tool("list_sessions", {})
            assert result.is_error
            assert "Look at the data folder" in said(result)

    anyio.run(run)


@pytest.mark.requirement("TOOL-16")
def test_subscribers_hear_of_sessions_that_changed(made: Services) -> None:
    server = server_of(made)
    report = ScanReport(1, 1, 1, 1, 0, frozenset({"ses_a"}), 1)  # type: ignore[arg-type]

    async def run() -> None:
        heard: list[str] = []
        with anyio.fail_after(20):
            async with (
                Client(server.mcp, mode="2026-07-28") as client,
                client.listen(resource_subscriptions=["ovillo://session/ses_a"]) as events,
            ):
                announce = server.announce(anyio.lowlevel.current_token())
                await anyio.to_thread.run_sync(announce, report)
                async for event in events:
                    heard.append(type(event).__name__)
                    break
        assert heard == ["ResourceUpdated"]

    anyio.run(run)


@pytest.mark.requirement("SCOPE-2")
def test_a_question_belongs_to_the_first_root_of_its_client(made: Services, tmp_path: Path) -> None:
    for name in ("shop", "bank"):
        about = session(f"ses_{name}", directory=str(repository(tmp_path / name)))
        record(made, delta(message(f"m-{name}", 1, "the limiter", of=about.id), about=about))
    asked = 0

    async def roots(_: Any) -> types.ListRootsResult:
        nonlocal asked
        asked += 1
        return types.ListRootsResult(roots=[types.Root(uri=f"file://{tmp_path}/bank")])

    async def run() -> None:
        async with Client(server_of(made).mcp, mode="legacy", list_roots_callback=roots) as client:
            for _ in range(2):
                result = await client.call_tool("search_sessions", {"query": "limiter"})
                assert [each["id"] for each in result.structured_content["sessions"]] == ["ses_bank"]

    anyio.run(run)
    assert asked == 1
