"""Which session is calling: each rule on what real clients leave behind, and their order."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.registry import Registry
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import SessionId, SessionKind
from ovillo.readers import all_readers
from ovillo.security.principals import LOCAL
from ovillo.sessions.caller import CallContext, CallerResolver
from ovillo.sessions.results import CallerSession
from ovillo.settings import Settings
from tests.builders import NOON, delta, message, session
from tests.interfaces.opened import copy_homes

CLAUDE = "0672048c-85a4-44d2-bf35-35d7c84c207d"
SUBAGENT = "a5bba131d9f318758"


@pytest.fixture
def services(tmp_path: Path, fixtures: Path) -> Iterator[Services]:
    """The homes of all clients, nothing scanned."""
    home = copy_homes(fixtures, tmp_path / "home")
    opened = open_services(Settings(data_dir=tmp_path / "data", home=home, embedder="none", watch=False))
    yield opened
    opened.close()


def find(
    services: Services,
    meta: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
    client: str | None = None,
    cwd: Path | None = None,
    own_process: bool = True,
    tool: str = "recover_context",
    arguments: Mapping[str, Any] | None = None,
    now: int = NOON + 120_000,
) -> CallerSession:
    calling = CallerResolver(
        services.store.sessions,
        services.ingest.discovered,
        all_readers,
        environment or {},
        lambda: now,
        cwd,
        pause=lambda _: None,
    )
    return calling.find(NS, CallContext(tool, arguments or {}, meta or {}, client, own_process=own_process))


def tool_use_of(path: Path) -> str:
    """The first tool use in a transcript."""
    for line in path.read_text("utf-8").splitlines():
        content = json.loads(line).get("message", {}).get("content")
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_use":
                return str(block["id"])
    raise AssertionError(f"no tool use in {path}")


def unanswer(path: Path, use: str) -> None:
    """Cut a transcript off where the answer to a tool use would come, as it stands while the call runs."""
    lines = path.read_text("utf-8").splitlines(keepends=True)
    answered = next(number for number, line in enumerate(lines) if f'"tool_use_id":"{use}"' in line)
    path.write_text("".join(lines[:answered]), "utf-8")


def transcripts(services: Services) -> Path:
    return services.settings.home / ".claude" / "projects" / "-tmp-cc-work-claude-app"


@pytest.mark.requirement("TOOL-11")
@pytest.mark.parametrize(
    "meta",
    [
        {"threadId": "t-1", "sessionId": "root-1", "callId": "c"},
        {"x-codex-turn-metadata": {"session_id": "root-1", "thread_id": "t-1"}},
    ],
)
def test_codex_names_its_thread_in_every_call(services: Services, meta: dict[str, Any]) -> None:
    found = find(services, meta, {"OVILLO_SESSION_ID": "other"}, client="codex-mcp-client")
    assert (found.session_id, found.confidence) == ("t-1", 1.0)
    assert found.rule.startswith("_meta thread")


@pytest.mark.requirement("TOOL-11")
@pytest.mark.parametrize("scanned", [False, True])
def test_claude_s_tool_use_leads_to_the_session_it_stands_in(services: Services, scanned: bool) -> None:
    if scanned:
        services.ingest.scan()
    path = transcripts(services) / f"{CLAUDE}.jsonl"
    use = tool_use_of(path)
    unanswer(path, use)
    found = find(services, {"claudecode/toolUseId": use}, {"CLAUDE_CODE_SESSION_ID": "other"}, "claude-code")
    assert found.session_id == CLAUDE
    assert found.rule == "_meta claudecode/toolUseId"


@pytest.mark.requirement("TOOL-11")
@pytest.mark.parametrize("scanned", [False, True])
@pytest.mark.parametrize("own_process", [False, True])
def test_a_tool_use_whose_id_comes_again_is_the_one_without_an_answer(
    services: Services, scanned: bool, own_process: bool
) -> None:
    """A model behind a gateway may count its calls from one in every session."""
    earlier = transcripts(services) / f"{CLAUDE}.jsonl"
    use = tool_use_of(earlier)
    now = earlier.with_name("6dea0f4e-7628-4ddf-b910-6cab4d3d67d6.jsonl")
    now.write_text(earlier.read_text("utf-8").replace(CLAUDE, now.stem), "utf-8")
    unanswer(now, use)
    os.utime(now, (1_000_000_000, 1_000_000_000))  # the time of writing does not decide
    if scanned:
        services.ingest.scan()
    environment = {"CLAUDE_CODE_SESSION_ID": now.stem}
    found = find(services, {"claudecode/toolUseId": use}, environment, "claude-code", own_process=own_process)
    assert found.session_id == now.stem


@pytest.mark.requirement("TOOL-11")
def test_an_answered_tool_use_says_less_than_the_environment_and_more_than_a_guess(services: Services) -> None:
    use = tool_use_of(transcripts(services) / f"{CLAUDE}.jsonl")
    meta, environment = {"claudecode/toolUseId": use}, {"CLAUDE_CODE_SESSION_ID": "written-in-a-moment"}
    assert find(services, meta, environment, "claude-code").session_id == "written-in-a-moment"
    assert find(services, meta, client="claude-code").session_id == CLAUDE


@pytest.mark.requirement("TOOL-11")
@pytest.mark.parametrize("scanned", [False, True])
def test_a_sub_agent_of_claude_is_its_own_session(services: Services, scanned: bool) -> None:
    if scanned:
        services.ingest.scan()
    path = next(transcripts(services).glob(f"*/subagents/agent-{SUBAGENT}.jsonl"))
    found = find(services, {"claudecode/toolUseId": tool_use_of(path)}, client="claude-code", own_process=False)
    assert found.session_id == SUBAGENT


@pytest.mark.requirement("TOOL-11")
def test_a_tool_use_not_yet_written_falls_back_to_the_environment(services: Services) -> None:
    found = find(services, {"claudecode/toolUseId": "toolu_later"}, {"CLAUDE_CODE_SESSION_ID": CLAUDE}, "claude-code")
    assert (found.session_id, found.rule) == (CLAUDE, "environment CLAUDE_CODE_SESSION_ID")


def still_running(services: Services, tool: str, arguments: Mapping[str, Any]) -> str:
    """Put a running call into OpenCode's database as OpenCode does, and give back its session."""
    path = services.settings.home / ".local" / "share" / "opencode" / "opencode.db"
    with closing(sqlite3.connect(path)) as database, database:
        row = database.execute(
            'SELECT rowid, session_id, data FROM part WHERE data LIKE \'%"type":"tool"%\''
        ).fetchone()
        part = json.loads(row[2])
        part["tool"] = f"memory_{tool}"
        part["state"] = {"status": "running", "input": arguments, "time": {"start": int(time.time() * 1000)}}
        database.execute("UPDATE part SET data = ? WHERE rowid = ?", (json.dumps(part), row[0]))
    return str(row[1])


@pytest.mark.requirement("TOOL-11")
@pytest.mark.parametrize("own_process", [True, False])
def test_opencode_is_found_by_the_call_it_is_running(services: Services, own_process: bool) -> None:
    expected = still_running(services, "recover_context", {"sessionID": "current"})
    found = find(services, client="opencode", arguments={"sessionID": "current"}, own_process=own_process)
    assert found.session_id == expected
    assert "OpenCode" in found.rule
    assert find(services, client="opencode", arguments={"sessionID": "other"}).confidence == 0
    assert find(services, client="claude-code", arguments={"sessionID": "current"}).confidence == 0


@pytest.mark.requirement("TOOL-11")
def test_the_environment_speaks_only_for_the_client_that_made_it(services: Services) -> None:
    inherited = {"CLAUDE_CODE_SESSION_ID": CLAUDE}
    assert find(services, environment=inherited, client="claude-code").session_id == CLAUDE
    assert find(services, environment=inherited, client="gemini-cli-mcp-client").confidence == 0
    assert find(services, environment=inherited, client="claude-code", own_process=False).confidence == 0
    ours = inherited | {"OVILLO_SESSION_ID": "mine"}
    assert find(services, environment=ours, client="opencode").session_id == "mine"


@pytest.mark.requirement("TOOL-11")
def test_the_newest_session_of_the_client_in_the_folder_is_a_guess_that_says_so(
    services: Services, tmp_path: Path
) -> None:
    here = str(tmp_path)
    for name, at, kind in (
        ("old", 0, SessionKind.ROOT),
        ("new", 50_000, SessionKind.ROOT),
        ("sub", 55_000, SessionKind.SUBAGENT),
    ):
        about = session(f"ses_{name}", source="gemini_cli", directory=here, updated_at=NOON + at, kind=kind)
        services.store.ingest.apply(NS, [delta(message(f"m-{name}", 1, "x", of=f"ses_{name}"), about=about)])
    found = find(services, client="gemini-cli-mcp-client", cwd=tmp_path)
    assert found.session_id == "ses_new"
    assert found.confidence < 0.7
    assert here in found.reason
    assert find(services, client="gemini-cli-mcp-client", cwd=tmp_path, now=NOON + 3_600_000).confidence == 0
    assert find(services, client="gemini-cli-mcp-client", cwd=tmp_path / "elsewhere").confidence == 0


@pytest.mark.requirement("TOOL-11")
def test_an_unknown_caller_gets_the_id_made_at_start_and_no_confidence(services: Services) -> None:
    calling = CallerResolver(
        services.store.sessions, services.ingest.discovered, all_readers, {}, lambda: NOON, pause=lambda _: None
    )
    first, second = (calling.find(NS, CallContext("t", {}, {}, "somebody")) for _ in range(2))
    assert first == second
    assert first.session_id is not None
    assert first.session_id.startswith("ses_")
    assert (first.rule, first.confidence) == ("generated id", 0.0)
    assert "somebody" in first.reason


@pytest.mark.requirement("TOOL-11")
@pytest.mark.parametrize(
    "meta",
    [
        {"threadId": 7, "x-codex-turn-metadata": "no", "claudecode/toolUseId": ["x"]},
        {"claudecode/toolUseId": "\x00\n" * 50},
        {"x-codex-turn-metadata": {"thread_id": None}},
    ],
)
def test_odd_metadata_never_raises(services: Services, meta: dict[str, Any]) -> None:
    assert find(services, meta, client="claude-code").confidence == 0


@pytest.mark.requirement("TOOL-9")
def test_current_is_caught_up_before_it_is_answered_about(services: Services) -> None:
    """Nothing was scanned: only the session that calls is read, on the spot."""
    use = tool_use_of(transcripts(services) / f"{CLAUDE}.jsonl")
    context = CallContext("get_session_history", {}, {"claudecode/toolUseId": use}, "claude-code")
    result = Registry.choose().dispatch(services, LOCAL, "get_session_history", {"sessionID": "current"}, context)
    assert not result.is_error, result.text
    assert result.structured is not None
    assert result.structured["session"]["id"] == CLAUDE
    assert result.structured["calling"]["rule"] == "_meta claudecode/toolUseId"
    assert f"Current session: {CLAUDE}" in result.text
    assert services.store.sessions.get(NS, SessionId("c94d990e-f798-4658-8e14-badad6a88a03")) is None
