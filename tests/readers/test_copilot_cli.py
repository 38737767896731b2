"""Copilot CLI: events of both layouts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ovillo.model.records import PartType, ToolStatus, Usage
from ovillo.readers.copilot_cli import CopilotCliReader
from tests.readers.conftest import Golden, unpack
from tests.readers.harvest import harvest_home

READER = CopilotCliReader()
NEW = "0a1b2c3d-0000-4000-8000-000000000001"
OLD = "0a1b2c3d-0000-4000-8000-000000000002"


@pytest.mark.requirement("READ-117")
def test_sessions_of_both_layouts_are_read_with_their_folder_branch_and_title(golden: Golden) -> None:
    found, _ = golden(READER, "copilot_cli/both-layouts")
    assert set(found.sessions) == {NEW, OLD}
    session = found.sessions[NEW].session
    assert (session.directory, session.git_branch, session.title) == ("/srv/app", "main", "Find callers of retry_delay")
    assert (session.version, session.additions, session.deletions, session.files_changed) == ("0.0.407", 3, 1, 1)
    assert found.sessions[OLD].prompts == ["¿Dónde está definida?"]


@pytest.mark.requirement("READ-118")
def test_tools_asked_for_in_an_answer_get_their_result(golden: Golden) -> None:
    found, _ = golden(READER, "copilot_cli/both-layouts")
    assert [(t.name, t.input, t.status, t.output) for t in found.sessions[NEW].tools] == [
        ("grep", {"pattern": "retry_delay"}, ToolStatus.COMPLETED, "net.py:12"),
        ("bash", {"command": "rm net.py"}, ToolStatus.ERROR, "The user rejected this tool call."),
    ]
    assert [p.file.path for p in found.sessions[NEW].parts if p.file] == ["/srv/app/net.py"]


@pytest.mark.requirement("READ-119")
def test_usage_is_exact_where_written_and_output_only_where_not(golden: Golden) -> None:
    found, _ = golden(READER, "copilot_cli/both-layouts")
    assert [m.usage for m in found.sessions[NEW].answers] == [
        Usage(output=42),
        Usage(200, 30, 0, 700, 100),
        Usage(output=9),
    ]
    assert found.sessions[NEW].session.metadata["totals"]["modelMetrics"]


@pytest.mark.requirement("READ-120")
def test_compactions_supersede_and_rewinds_revert(golden: Golden) -> None:
    found, _ = golden(READER, "copilot_cli/both-layouts")
    session = found.sessions[NEW]
    assert [m.id for m in session.messages if m.superseded] == ["ev-002", "m-1", "m-2"]
    assert [m.id for m in session.messages if m.reverted] == ["ev-010", "m-3"]
    assert session.text(PartType.COMPACTION) == ["The user asked who calls retry_delay."]
    assert [m.error for m in session.messages if m.error] == ["Quota exceeded"]


@pytest.mark.requirement("READ-117")
def test_a_session_present_in_both_layouts_is_read_once(tmp_path: Path) -> None:
    home = unpack("copilot_cli/both-layouts", tmp_path / "case") / "home"
    state = home / ".copilot" / "session-state"
    alone = harvest_home(READER, home).sessions[NEW]
    shutil.copy(state / NEW / "events.jsonl", state / f"{NEW}.jsonl")
    both = harvest_home(READER, home).sessions[NEW]
    assert [m.id for m in both.messages] == [m.id for m in alone.messages]
    assert both.usage == alone.usage


@pytest.mark.requirement("READ-119")
def test_of_a_message_written_again_with_more_tokens_the_last_count(tmp_path: Path) -> None:
    folder = unpack("copilot_cli/both-layouts", tmp_path / "case")
    (events,) = (folder / "home").rglob(f"{NEW}/events.jsonl")
    with events.open("a", encoding="utf-8") as file:
        file.write('{"id": "ev-99", "type": "assistant.message", "data": {"messageId": "m-3", "outputTokens": 14}}\n')
    assert harvest_home(READER, folder / "home").sessions[NEW].answers[-1].usage == Usage(output=14)
