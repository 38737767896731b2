"""Transcripts of the Claude Agent SDK as people meet them: the real ones, handed over as the SDK hands them over."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import string
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ovillo.adapters import opened
from ovillo.app import open_services
from ovillo.model.errors import NotFound
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import SessionId
from ovillo.settings import Settings
from tests.adapters.conftest import STAND_INS
from tests.adapters.environment import ROOT
from tests.interfaces.cli_runs import CommandLine

PROJECT = "-tmp-cc-work-claude-app"
WITH_AGENT, AGENT = "49fbd529-b2c0-4d49-bf8f-c1d07d00b045", "a5bba131d9f318758"


@pytest.fixture
def transcripts(fixtures: Path) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """``(session, subpath)`` -> lines, of real sessions with tools, a compaction, a fork and a sub-agent."""
    found = {}
    folder = fixtures / "claude-code/home/.claude/projects" / PROJECT
    for path in sorted(folder.rglob("*.jsonl")):
        session, _, subpath = path.relative_to(folder).with_suffix("").as_posix().partition("/")
        found[session, subpath] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    meta = folder / WITH_AGENT / "subagents" / f"agent-{AGENT}.meta.json"
    found[WITH_AGENT, f"subagents/agent-{AGENT}"].insert(
        0, {"type": "agent_metadata", **json.loads(meta.read_text("utf-8"))}
    )
    return found


def hand_over(data: Path, transcripts: dict[tuple[str, str], list[dict[str, Any]]], at_once: int) -> None:
    from ovillo.adapters.claude_agent_sdk import OvilloSessionStore

    async def run() -> None:
        store = OvilloSessionStore(data_dir=data)
        for (session, subpath), lines in transcripts.items():
            key = {"project_key": PROJECT, "session_id": session} | ({"subpath": subpath} if subpath else {})
            for start in range(0, len(lines), at_once):
                await store.append(key, lines[start : start + at_once])
            assert await store.load(key) == lines

    asyncio.run(run())
    opened.close()


def told(data: Path, home: Path) -> dict[str, Any]:
    """All that people see of all sessions, but for what depends on the file that it stood in."""
    services = open_services(Settings(data_dir=data, home=home, embedder="none", watch=False))
    try:
        sessions = {}
        for session_id, *_ in services.store.sessions.names(NS):
            row = services.store.sessions.get(NS, session_id)
            assert row is not None
            messages = services.store.sessions.messages(NS, session_id, limit=9_999)
            one = row.session
            sessions[session_id] = (
                (one.source, one.title, one.kind, one.parent_id, one.forked_from, one.directory, one.agent, one.model),
                [
                    (
                        *(each.id, each.role, each.author, each.parent_id, each.usage, each.superseded),
                        *(each.inherited_from, each.is_summary, each.created_at),
                        [(part.id, part.type, part.text, part.tool, part.patch) for part in each.parts],
                    )
                    for each in messages
                ],
            )
        return sessions
    finally:
        services.close()


@pytest.mark.requirement("ADAPT-7")
@pytest.mark.parametrize("at_once", [1, 7, 500])
def test_lines_that_are_handed_over_say_what_their_file_says(
    at_once: int, data: Path, tmp_path: Path, fixtures: Path, transcripts: dict[tuple[str, str], list[dict[str, Any]]]
) -> None:
    home = tmp_path / "with-files"
    shutil.copytree(fixtures / "claude-code/home", home)
    services = open_services(Settings(data_dir=home / "data", home=home, embedder="none", watch=False))
    services.ingest.scan()
    services.close()
    hand_over(data, transcripts, at_once)
    from_files, from_lines = told(home / "data", home), told(data, tmp_path)
    assert from_lines.keys() == from_files.keys()
    for session_id, expected in from_files.items():
        assert from_lines[session_id] == expected, session_id


@pytest.mark.requirement("ADAPT-7")
@pytest.mark.parametrize("files_first", [True, False])
def test_a_transcript_that_stands_in_a_file_and_is_handed_over_is_one_session(
    files_first: bool,
    data: Path,
    tmp_path: Path,
    fixtures: Path,
    transcripts: dict[tuple[str, str], list[dict[str, Any]]],
    ovillo: CommandLine,
) -> None:
    shutil.copytree(fixtures / "claude-code/home", tmp_path, dirs_exist_ok=True)
    if files_first:
        assert ovillo.run("scan").code == 0
    hand_over(data, transcripts, 50)
    assert ovillo.run("scan").code == 0
    seen = told(data, tmp_path)
    assert set(seen) == {subpath.rpartition("-")[2] if subpath else session for session, subpath in transcripts}
    alone = tmp_path / "alone"
    shutil.copytree(fixtures / "claude-code/home", alone)
    services = open_services(Settings(data_dir=alone / "data", home=alone, embedder="none", watch=False))
    services.ingest.scan()
    services.close()
    for session_id, (_, expected) in told(alone / "data", alone).items():
        assert [each[0] for each in seen[session_id][1]] == [each[0] for each in expected], session_id


@pytest.mark.requirement("ADAPT-4")
def test_what_the_sdk_deletes_is_gone_for_it_and_stays_for_people(
    data: Path, transcripts: dict[tuple[str, str], list[dict[str, Any]]], ovillo: CommandLine
) -> None:
    from ovillo.adapters.claude_agent_sdk import OvilloSessionStore

    hand_over(data, transcripts, 500)
    store = OvilloSessionStore(data_dir=data)
    key = {"project_key": PROJECT, "session_id": WITH_AGENT}

    async def delete() -> None:
        assert await store.list_subkeys(key) == [f"subagents/agent-{AGENT}"]
        before = len(await store.list_sessions(PROJECT))
        await store.delete(key)
        assert (await store.load(key), await store.list_subkeys(key)) == (None, [])
        assert len(await store.list_sessions(PROJECT)) == before - 1

    asyncio.run(delete())
    shown = ovillo.run("session", "show", WITH_AGENT, "--json").json()
    assert shown["messages"]
    assert ovillo.run("forget", "session", WITH_AGENT, "--yes").code == 0
    with pytest.raises(NotFound, match="forgotten"):
        asyncio.run(store.append(key, [{"type": "user", "uuid": "new"}]))


@pytest.mark.requirement("ADAPT-6")
def test_a_secret_in_a_transcript_is_nowhere_in_the_data_folder(data: Path) -> None:
    from ovillo.adapters.claude_agent_sdk import OvilloSessionStore

    secret = "gh" + "p_" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=36))
    line = {"type": "user", "uuid": "u", "message": {"role": "user", "content": f"My token is {secret}"}}
    store, key = OvilloSessionStore(data_dir=data), {"project_key": "p", "session_id": "s"}

    async def run() -> Any:
        await store.append(key, [line])
        return await store.load(key)

    [kept] = asyncio.run(run())
    assert kept["message"]["content"].startswith("My token is [redacted:github_token:")
    opened.close()
    assert secret.encode() not in b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())


APPENDING = """
import asyncio, sys
from ovillo.adapters.claude_agent_sdk import OvilloSessionStore
async def append():
    store = OvilloSessionStore(data_dir=sys.argv[1])
    for n in range(30):
        shared = {"type": "user", "uuid": f"same-{n}", "message": {"role": "user", "content": f"same {n}"}}
        own = {"type": "custom-title", "customTitle": f"{sys.argv[2]}-{n}"}
        await store.append({"project_key": "p", "session_id": "s"}, [shared, own])
asyncio.run(append())
"""


@pytest.mark.requirement("ADAPT-3")
def test_processes_at_once_keep_each_line_once_and_fold_every_batch(data: Path) -> None:
    from ovillo.adapters.claude_agent_sdk import OvilloSessionStore

    environment = {**os.environ, "PYTHONPATH": f"{STAND_INS}{os.pathsep}{ROOT / 'src'}"}
    started = [subprocess.Popen([sys.executable, "-c", APPENDING, str(data), name], env=environment) for name in "abc"]
    assert [process.wait(timeout=100) for process in started] == [0, 0, 0]
    store = OvilloSessionStore(data_dir=data)

    async def run() -> tuple[Any, Any]:
        return await store.load({"project_key": "p", "session_id": "s"}), await store.list_session_summaries("p")

    lines, [summary] = asyncio.run(run())
    assert sorted(each["uuid"] for each in lines if "uuid" in each) == sorted(f"same-{n}" for n in range(30))
    for name in "abc":
        own = [each["customTitle"] for each in lines if each.get("customTitle", "").startswith(name)]
        assert own == [f"{name}-{n}" for n in range(30)]
    assert summary["data"] == {"lines": len(lines)}
    services = open_services(Settings(data_dir=data, home=data, embedder="none", watch=False))
    assert len(services.store.sessions.messages(NS, SessionId("s"), limit=999)) == 30
    services.close()
