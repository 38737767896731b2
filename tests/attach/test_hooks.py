"""Hooks as clients call them: the program that ``install`` writes, with the client's JSON on standard input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from tests.builders import delta, message
from tests.builders import session as built
from tests.interfaces.cli_runs import CommandLine
from tests.interfaces.opened import record, settings_for
from tests.interfaces.served import serving

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the program is a shell script here")

COMPACTED = {"session_id": "ses-1", "hook_event_name": "SessionStart", "source": "compact", "cwd": "/"}


@pytest.fixture
def line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """A machine on which ovillo is attached to Claude Code and knows one session."""
    line = CommandLine(capsys, tmp_path / "home", tmp_path / "home" / "data")
    (line.home / ".claude").mkdir(parents=True)
    assert line.run("install", "claude", "--yes").code == 0
    services = open_services(settings_for(line.home, data_dir=line.data_dir))
    about = built("ses-1", source="claude_code", directory="/work", title="Round fees", created_at=1, updated_at=2)
    record(services, delta(message("m1", 1, "Please round the fees half up", of="ses-1"), about=about))
    services.close()
    return line


def called(
    line: CommandLine, event: str, client: str, payload: Mapping[str, Any] | bytes, **environment: str
) -> subprocess.CompletedProcess[str]:
    given = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return subprocess.run(
        [str(line.data_dir / "bin/ovillo-hook"), event, "--client", client],
        input=given.decode("latin-1"),
        encoding="latin-1",
        env={"HOME": str(line.home), "PATH": os.defpath, "OVILLO_EMBEDDER": "none", **environment},
        cwd=line.home,
        capture_output=True,
        timeout=60,
        check=False,
    )


def told(done: subprocess.CompletedProcess[str]) -> str:
    """What the model is told, whatever the client's form is."""
    assert (done.returncode, done.stderr) == (0, "")
    if not done.stdout:
        return ""
    said = json.loads(done.stdout)
    return str(said.get("additionalContext") or said["hookSpecificOutput"]["additionalContext"])


@pytest.mark.requirement("CLI-71")
@pytest.mark.parametrize("client", ["claude_code", "codex", "opencode", "copilot_cli"])
def test_after_a_compaction_the_model_is_told_once_what_was_before(client: str, line: CommandLine) -> None:
    called(line, "pre-compact", client, {"session_id": "ses-1"})
    assert "round the fees half up" in told(called(line, "session-start", client, COMPACTED))
    assert told(called(line, "session-start", client, COMPACTED)) == "", "two events of one compaction are one"
    called(line, "pre-compact", client, {"session_id": "ses-1"})
    assert "round the fees" in told(called(line, "session-start", client, COMPACTED)), "the next one is another"


@pytest.mark.parametrize("source", ["startup", "resume", "fork", None])
def test_a_start_that_is_no_compaction_says_nothing(source: str | None, line: CommandLine) -> None:
    assert told(called(line, "session-start", "claude_code", {**COMPACTED, "source": source})) == ""


@pytest.mark.requirement("CLI-71")
def test_each_client_gets_the_form_that_it_knows(line: CommandLine) -> None:
    shown = json.loads(called(line, "session-start", "claude_code", COMPACTED).stdout)
    assert shown.keys() == {"hookSpecificOutput"}
    assert shown["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
    assert json.loads(called(line, "session-start", "copilot_cli", COMPACTED).stdout).keys() == {"additionalContext"}
    # What is said there joins the instructions of a summary, or is a mistake.
    assert called(line, "pre-compact", "claude_code", {"session_id": "ses-1"}).stdout == ""


@pytest.mark.requirement("CLI-71")
def test_gemini_is_told_at_the_next_prompt_when_its_transcript_holds_another_summary(
    line: CommandLine, tmp_path: Path
) -> None:
    path = tmp_path / "session.jsonl"
    prompt = {"session_id": "ses-1", "transcript_path": str(path), "prompt": "go on"}
    path.write_text("{}\n")
    assert told(called(line, "prompt", "gemini_cli", prompt)) == ""
    path.write_text('{"text": "<state_snapshot>..."}\n')
    assert "round the fees" in told(called(line, "prompt", "gemini_cli", prompt))
    assert told(called(line, "prompt", "gemini_cli", prompt)) == ""


@pytest.mark.requirement("CLI-71")
def test_copilot_is_told_at_the_next_prompt_after_a_compaction_that_it_announced(line: CommandLine) -> None:
    prompt = {"sessionId": "ses-1", "prompt": "go on"}
    assert told(called(line, "prompt", "copilot_cli", prompt)) == ""
    called(line, "pre-compact", "copilot_cli", {"sessionId": "ses-1", "trigger": "auto"})
    assert "round the fees" in told(called(line, "prompt", "copilot_cli", prompt))
    assert told(called(line, "prompt", "copilot_cli", prompt)) == ""


@pytest.mark.requirement("CLI-72")
def test_before_a_compaction_a_state_is_saved(line: CommandLine) -> None:
    called(line, "pre-compact", "claude_code", {"session_id": "ses-1", "trigger": "auto"})
    assert len(line.run("session", "snapshots", "ses-1", "--json").json()["snapshots"]) == 1


@pytest.mark.requirement("CLI-72")
def test_at_a_stop_the_tail_is_read(line: CommandLine) -> None:
    folder = line.home / ".claude/projects/-work"
    folder.mkdir(parents=True)
    transcript = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "11111111-2222-4333-8444-555555555555",
        "timestamp": "2026-11-22T10:00:00.000Z",
        "cwd": "/work",
        "version": "2.1.330",
        "message": {"role": "user", "content": "The tail that was just written"},
    }
    (folder / f"{transcript['sessionId']}.jsonl").write_text(json.dumps(transcript) + "\n")
    assert told(called(line, "stop", "claude_code", {"session_id": transcript["sessionId"]})) == ""
    assert "tail that was just written" in line.run("session", "show", str(transcript["sessionId"])).out


@pytest.mark.requirement("CLI-70")
@pytest.mark.parametrize("event", ["session-start", "prompt", "pre-tool", "pre-compact", "stop", "no-such-event", ""])
@pytest.mark.parametrize(
    "payload", [b"", b"not json", b"[1]", b'{"session_id": 7}', b"\xff\xfe", b'{"source":"compact"}']
)
def test_a_hook_ends_with_0_and_silent_whatever_it_is_given(event: str, payload: bytes, line: CommandLine) -> None:
    assert told(called(line, event, "claude_code", payload)) == ""


@pytest.mark.requirement("CLI-70")
@pytest.mark.parametrize("damage", ["no database", "no database at all", "a folder in its place", "no python"])
def test_a_dead_store_or_installation_costs_the_agent_nothing(damage: str, line: CommandLine) -> None:
    database = line.data_dir / "ovillo.db"
    if damage == "no database":
        database.write_bytes(b"no database at all")
    elif damage == "a folder in its place":
        database.unlink()
        database.mkdir()
    elif damage == "no python":
        hook = line.data_dir / "bin/ovillo-hook"
        hook.write_text(hook.read_text().replace(sys.executable, "/nowhere/python"))
    else:
        database.unlink()
    assert told(called(line, "session-start", "claude_code", COMPACTED)) == ""


@pytest.mark.requirement("CLI-70")
def test_a_hook_whose_store_hangs_ends_by_itself(line: CommandLine) -> None:
    database = line.data_dir / "ovillo.db"
    database.unlink()
    os.mkfifo(database)
    done = called(line, "session-start", "claude_code", COMPACTED)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.requirement("CLI-70")
def test_two_hundred_prompts_leave_no_process(line: CommandLine) -> None:
    def ask(number: int) -> int:
        return called(line, "prompt", "claude_code", {"session_id": "ses-1", "prompt": f"prompt {number}"}).returncode

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, range(200))) == {0}
    running = [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(line.data_dir).encode() in _read(path)]
    assert running == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.requirement("CLI-71")
def test_beside_a_server_the_server_answers(line: CommandLine) -> None:
    with serving(line.home):
        # Without the server, a wrong setting would leave it silent.
        assert "round the fees" in told(
            called(line, "session-start", "claude_code", COMPACTED, OVILLO_REDACTION="wrong")
        )


def test_what_is_remembered_reaches_a_prompt_only_where_recall_is_turned_on(line: CommandLine) -> None:
    kept = "The staging password lives in the vault of the operations team"
    assert line.run("memory", "remember", kept).code == 0
    prompt = {"session_id": "ses-1", "prompt": "where does the staging password live, in which vault?"}
    assert told(called(line, "prompt", "claude_code", prompt)) == ""
    assert "vault of the operations team" in told(
        called(line, "prompt", "claude_code", prompt, ENABLE_ORCH_CONTEXT="true", CONTEXT_TIMEOUT_MS="5000")
    )


@pytest.mark.requirement("CLI-70")
def test_the_command_for_hooks_of_ones_own_ends_with_0_too(line: CommandLine) -> None:
    for arguments in (["nosuchevent"], [], ["prompt", "--wrong", "x"], ["session-start", "--client", "nobody"]):
        assert line.run("hook", *arguments).code == 0
