"""The server that the MCP conformance suite tests: what it has, and that it is not the real one.

The suite itself is run by ``make conformance``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from ovillo.interfaces.http.mounts import OpenMount
from ovillo.interfaces.mcp.http import mount as real_mount
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.registry import all_tools
from tests.conformance.mount import open_mount
from tests.conformance.server import ConformanceServer
from tests.interfaces.http.serving import Site, serving, settings
from tests.interfaces.opened import made

__all__ = ["made", "settings"]

ROOT = Path(__file__).parent.parent.parent
ERAS = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


@contextmanager
def fixture_server(home: Path) -> Iterator[str]:
    """Its URL; killed when the block ends."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    command = [sys.executable, "-m", "tests.conformance"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stderr is not None
            yield next(line for line in running.stderr if "/mcp" in line).split(":  ")[1].partition("/mcp")[0]
        finally:
            running.kill()


@pytest.mark.requirement("CONF-1", "CONF-2")
def test_the_fixture_has_nothing_of_ours_and_leaves_nothing_at_home(tmp_path: Path) -> None:
    with fixture_server(tmp_path) as url:

        async def work() -> None:
            async with Client(f"{url}/mcp") as client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                assert "test_simple_text" in names
                assert not set(names) & {tool.name for tool in all_tools()}

        anyio.run(work)
        site = Site(url.partition("://")[2])
        assert site.url.startswith("http://127.0.0.1:")
        assert site.ask("GET", "/healthz").status == 200
        for path in ("/api/sessions", "/mcp/v1/execute"):
            assert site.ask("GET", path).status == 404
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requirement("CONF-1")
def test_the_fixture_is_no_part_of_what_is_installed() -> None:
    assert not [path for path in (ROOT / "src").rglob("*.py") if "conformance" in path.name + path.parent.name]


@ERAS
@pytest.mark.requirement("CONF-2")
def test_the_fixture_lists_the_suites_names_only(mode: str) -> None:
    async def work(client: Client) -> None:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools == sorted(tools)
        assert [name for name in tools if not name.startswith("test_")] == ["json_schema_2020_12_tool"]
        uris = [str(each.uri) for each in (await client.list_resources()).resources]
        assert uris == ["test://static-text", "test://static-binary", "test://watched-resource"]
        for uri in (*uris, "test://template/7/data"):
            assert (await client.read_resource(uri)).contents
        with pytest.raises(MCPError):
            await client.read_resource("test://nothing")
        prompts = (await client.list_prompts()).prompts
        assert prompts
        assert all(each.name.startswith("test_") and each.description for each in prompts)

    _with_client(work, mode)


@pytest.mark.requirement("CONF-2")
def test_the_real_server_has_nothing_of_the_fixture_and_does_not_import_it() -> None:
    assert not [tool.name for tool in all_tools() if tool.name.startswith("test_")]
    program = (
        "import sys, ovillo.app, ovillo.interfaces.mcp.http, ovillo.interfaces.mcp.loop, ovillo.interfaces.http.server\n"
        "sys.exit(any('conformance' in name for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0


@pytest.mark.requirement("CONF-3")
def test_before_2026_the_fixture_asks_by_requests_of_its_own() -> None:
    async def work(client: Client) -> None:
        assert _said(await client.call_tool("test_sampling", {"prompt": "2 + 2?"})) == "LLM response: Paris"
        asked = await client.call_tool("test_elicitation", {"message": "Who?"})
        assert "accept" in _said(asked)
        refused = await client.call_tool("test_missing_capability", {})
        assert not refused.is_error

    _with_client(work, "legacy", **_ANSWERS)


@pytest.mark.requirement("CONF-3")
def test_since_2026_the_fixture_asks_within_its_answer() -> None:
    async def work(client: Client) -> None:
        name = "test_input_required_result"
        assert _said(await client.call_tool(f"{name}_elicitation", {})) == "Hello, Ada!"
        assert "Paris" in _said(await client.call_tool(f"{name}_sampling", {}))
        assert "Ada likes blue" in _said(await client.call_tool(f"{name}_multi_round", {}))
        assert "Paris (Ada" in _said(await client.call_tool(f"{name}_multiple_inputs", {}))
        assert "state-ok" in _said(await client.call_tool(f"{name}_request_state", {}))
        assert (await client.get_prompt(f"{name}_prompt")).messages

    _with_client(work, "2026-07-28", **_ANSWERS)


@pytest.mark.requirement("CONF-4")
@pytest.mark.parametrize(("mount", "tool"), [(open_mount, "test_simple_text"), (real_mount, "list_sessions")])
def test_white_space_around_a_header_is_no_part_of_it(made: Services, mount: OpenMount, tool: str) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": {}, "_meta": meta},
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
    }
    with serving(made.settings, mount, services=made) as site:
        assert site.ask("POST", "/mcp", call, **headers, Mcp_Name=f"  {tool} \t").status == 200
        assert site.ask("POST", "/mcp", call, **headers, Mcp_Name="another").status == 400


async def _sample(context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(type="text", text="Paris"), model="none", stop_reason="endTurn"
    )


async def _elicit(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    filled: dict[str, Any] = {"name": "Ada", "color": "blue", "ok": True, "context": "a test", "username": "ada"}
    return types.ElicitResult(action="accept", content=filled | {"email": "ada@example.org"})


async def _roots(context: Any) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[])


_ANSWERS: dict[str, Any] = {
    "sampling_callback": _sample,
    "elicitation_callback": _elicit,
    "list_roots_callback": _roots,
}


def _with_client(work: Callable[[Client], Awaitable[None]], mode: str, **options: Any) -> None:
    async def run() -> None:
        with anyio.fail_after(60):
            async with Client(ConformanceServer(b"k" * 32).mcp, mode=mode, **options) as client:
                await work(client)

    anyio.run(run)


def _said(result: types.CallToolResult) -> str:
    assert isinstance(result.content[0], types.TextContent)
    return result.content[0].text
