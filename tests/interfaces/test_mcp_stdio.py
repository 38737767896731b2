"""The stdio server as clients start it: a process, its pipes, its end."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from ovillo.interfaces.mcp.loop import state_key
from tests.faults.test_exhausted import until

#: What ``ovillo mcp`` runs, without the command line around it.
SERVE = """
import sys
from pathlib import Path
from ovillo.app import open_services
from ovillo.interfaces.mcp.stdio import run_stdio
from ovillo.settings import Settings
home = Path(sys.argv[1])
def noisy(settings):
    print("a stray word on standard output")
    return open_services(settings)
run_stdio(noisy, Settings(data_dir=home / "ovillo-data", home=home, embedder="none"))
"""
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@pytest.mark.requirement("TOOL-13")
@pytest.mark.parametrize("mode", ["auto", "legacy", "2026-07-28"])
def test_the_official_client_is_served_in_every_mode(tmp_path: Path, mode: str) -> None:
    async def run() -> None:
        parameters = StdioServerParameters(command=sys.executable, args=["-c", SERVE, str(tmp_path)])
        with anyio.fail_after(60), (tmp_path / "stderr").open("w") as errors:
            async with Client(stdio_client(parameters, errlog=errors), mode=mode) as client:
                assert len((await client.list_tools()).tools) >= 6
                result = await client.call_tool("list_sessions", {})
                assert not result.is_error
                assert "0 sessions" in result.content[0].text

    anyio.run(run)


@pytest.mark.requirement("TOOL-45")
def test_a_client_that_leaves_no_trace_keeps_things_in_the_session_made_at_start(tmp_path: Path) -> None:
    """Nothing on disk or in the environment tells which session calls: it is the one of this process, from first to last."""
    serve = SERVE.replace('embedder="none"', 'embedder="none", toolsets=("all",)')

    async def run() -> None:
        parameters = StdioServerParameters(command=sys.executable, args=["-c", serve, str(tmp_path)])
        with anyio.fail_after(60), (tmp_path / "stderr").open("w") as errors:
            async with Client(stdio_client(parameters, errlog=errors)) as client:
                said = {"session_id": "current", "role": "user", "content": "we take token buckets"}
                before = await client.call_tool("get_session_history", {"sessionID": "current"})
                assert before.is_error, "nothing was kept yet: there is no such session"
                for key in ("k1", "k2"):
                    stored = await client.call_tool("session_append", {**said, "idempotency_key": key})
                    assert not stored.is_error, stored.content[0].text
                saved = await client.call_tool("session_save", {"session_id": "current", "content": {"step": 1}})
                assert not saved.is_error
                read = await client.call_tool("get_session_history", {"sessionID": "current"})
                assert read.structured_content is not None
                assert saved.structured_content is not None
                assert len(read.structured_content["messages"]) == 2
                assert read.structured_content["calling"]["rule"] == "generated id"
                assert saved.structured_content["session_id"] == read.structured_content["calling"]["sessionID"]

    anyio.run(run)


@pytest.mark.requirement("TOOL-13")
def test_the_first_call_on_a_new_machine_already_sees_its_sessions(tmp_path: Path, fixtures: Path) -> None:
    shutil.copytree(fixtures / "claude-code" / "home", tmp_path, dirs_exist_ok=True)
    with _started(SERVE, tmp_path) as process:
        assert process.stdin
        assert process.stdout
        _exchange(process.stdin, process.stdout, 1, "initialize", OPENING)
        _send(process.stdin, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        said = _exchange(process.stdin, process.stdout, 2, "tools/call", {"name": "list_sessions", "arguments": {}})
        assert said["result"]["structuredContent"]["total"] >= 4
        process.stdin.close()
        assert process.wait(timeout=20) == 0


@pytest.mark.requirement("TOOL-13")
def test_standard_output_is_protocol_only_and_the_process_ends_with_its_input(tmp_path: Path) -> None:
    with _started(SERVE, tmp_path) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        said = _exchange(process.stdin, process.stdout, 1, "initialize", OPENING)
        assert said["result"]["serverInfo"]["name"] == "ovillo"
        assert len(said["result"]["instructions"]) < 1_000
        _send(process.stdin, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        said = _exchange(process.stdin, process.stdout, 2, "tools/call", {"name": "list_sessions", "arguments": {}})
        assert said["result"]["structuredContent"]["sessions"] == []
        process.stdin.close()
        assert process.wait(timeout=20) == 0
        rest = process.stdout.read()
        assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
        assert "a stray word" in process.stderr.read()


@pytest.mark.requirement("TOOL-13")
def test_a_call_that_hangs_does_not_keep_the_process_when_its_client_is_gone(tmp_path: Path) -> None:
    hanging = SERVE.replace("    return open_services(settings)", "    __import__('threading').Event().wait(600)")
    with _started(hanging, tmp_path) as process:
        assert process.stdin
        assert process.stdout
        _exchange(process.stdin, process.stdout, 1, "initialize", OPENING)
        _send(process.stdin, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        _send(process.stdin, {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_sessions"}})
        _exchange(process.stdin, process.stdout, 3, "ping", {})
        process.stdin.close()
        assert process.wait(timeout=20) == 0


@pytest.mark.requirement("TOOL-13")
def test_the_sdk_imported_late_is_whole_when_somebody_asks_for_more() -> None:
    script = """
from ovillo.interfaces.mcp.lean_import import delay_package_inits
delay_package_inits()
import mcp.server.lowlevel.server, sys
assert "mcp.client" not in sys.modules
from mcp import Client
from mcp.server import MCPServer
import mcp
assert not hasattr(mcp, "nonsense")
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, timeout=60)


@pytest.mark.requirement("TOOL-13")
def test_the_sealing_key_is_kept_private_and_survives_a_restart(tmp_path: Path) -> None:
    first = state_key(tmp_path / "data")
    assert state_key(tmp_path / "data") == first
    assert (tmp_path / "data" / "request-state.key").stat().st_mode & 0o077 == 0
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    assert len(state_key(blocked)) == 32


@pytest.mark.requirement("FAULT-9")
@pytest.mark.parametrize("asks_again", [True, False], ids=["asked again", "left alone"])
def test_a_server_whose_first_opening_failed_watches_once_the_store_can_be_opened(
    tmp_path: Path, fixtures: Path, asks_again: bool
) -> None:
    shutil.copytree(fixtures / "claude-code" / "home", tmp_path, dirs_exist_ok=True)
    (tmp_path / "ovillo-data").write_text("in the way of the data folder")
    with _started(SERVE, tmp_path) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        listed = {"name": "list_sessions", "arguments": {}}
        _exchange(process.stdin, process.stdout, 1, "initialize", OPENING)
        _send(process.stdin, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert _exchange(process.stdin, process.stdout, 2, "tools/call", listed)["result"]["isError"]
        while "not watching" not in process.stderr.readline():
            pass
        (tmp_path / "ovillo-data").unlink()
        if asks_again:
            said = _exchange(process.stdin, process.stdout, 3, "tools/call", listed)
            assert said["result"]["structuredContent"]["total"] >= 4
        transcript = next((tmp_path / ".claude" / "projects").glob("*/*.jsonl"))
        later = transcript.with_name("0a0a0a0a-0000-4000-8000-000000000000.jsonl")
        later.write_text(transcript.read_text(encoding="utf-8").replace(transcript.stem, later.stem), encoding="utf-8")
        until(lambda: _sessions(tmp_path), lambda found: later.stem in found)
        process.stdin.close()
        assert process.wait(timeout=20) == 0


def _sessions(home: Path) -> list[str]:
    """What is stored, read past the server; asking it would make it look."""
    database = home / "ovillo-data" / "ovillo.db"
    if not database.exists():
        return []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db, suppress(sqlite3.OperationalError):
        return [row[0] for row in db.execute("SELECT id FROM sessions")]
    return []


def _started(script: str, home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def _send(pipe: IO[str], message: dict[str, Any]) -> None:
    pipe.write(json.dumps(message) + "\n")
    pipe.flush()


def _exchange(to: IO[str], back: IO[str], number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    _send(to, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    while True:
        answer: dict[str, Any] = json.loads(back.readline())
        if answer.get("id") == number:
            return answer
