"""Pi: one file is a tree; the path to its last entry is the session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ovillo.model.records import Author, PartType, Role, SessionKind, ToolStatus, Usage
from ovillo.readers.pi import PiReader
from tests.readers.conftest import Golden
from tests.readers.harvest import harvest_home

READER = PiReader()
ROOT = "aaaaaaaa-0000-4000-8000-000000000001"
FORK = "aaaaaaaa-0000-4000-8000-000000000002"
OLD = "aaaaaaaa-0000-4000-8000-000000000003"


@pytest.mark.requirement("READ-111")
def test_branches_beside_the_path_to_the_last_entry_are_kept_and_marked(golden: Golden) -> None:
    found, _ = golden(READER, "pi/branches")
    session = found.sessions[ROOT]
    branched = {m.id.rpartition(":")[2]: m.metadata.get("branch") for m in session.messages}
    assert {entry for entry, branch in branched.items() if branch == "e5"} == {"e5", "e6"}
    assert [branch for entry, branch in branched.items() if entry not in ("e5", "e6")] == [None] * (len(branched) - 2)
    assert all(m.superseded for m in session.messages if m.metadata.get("branch"))
    assert session.session.title == "Cap the delay"


@pytest.mark.requirement("READ-112")
def test_a_compaction_supersedes_what_stands_before_the_first_entry_it_keeps(golden: Golden) -> None:
    found, _ = golden(READER, "pi/branches")
    session = found.sessions[ROOT]
    live = [m.id.rpartition(":")[2] for m in session.messages if not m.superseded]
    assert live == ["e8", "e9", "f0", "f1", "f3", "f4"]
    (summary,) = [m for m in session.messages if m.is_summary]
    assert (summary.author, summary.parts[0].type) == (Author.SYNTHETIC, PartType.COMPACTION)


@pytest.mark.requirement("READ-113")
def test_answers_have_usage_cost_thinking_and_their_tools_with_results(golden: Golden) -> None:
    found, _ = golden(READER, "pi/branches")
    session = found.sessions[ROOT]
    first = session.answers[0]
    assert (first.usage, first.cost, first.finish) == (Usage(100, 20, 0, 300, 40), 0.3, "toolUse")
    assert [part.type for part in first.parts] == [PartType.REASONING, PartType.TEXT, PartType.TOOL_CALL]
    assert [(t.name, t.status, t.output) for t in session.tools] == [
        ("read", ToolStatus.COMPLETED, "def retry_delay"),
        ("bash", ToolStatus.ERROR, "1 failed"),
    ]
    assert [m.error for m in session.answers] == [None, None, "overloaded", None]


@pytest.mark.requirement("READ-114")
def test_a_fork_names_its_parent_and_what_it_copied(golden: Golden) -> None:
    found, _ = golden(READER, "pi/branches")
    session = found.sessions[FORK]
    fork = session.session
    assert (fork.kind, fork.forked_from, fork.fork_point) == (SessionKind.FORK, ROOT, f"{ROOT}:e4")
    assert [m.inherited_from for m in session.messages] == [ROOT, ROOT, None]


@pytest.mark.requirement("READ-115")
def test_a_version_1_file_is_a_line_and_unknown_entries_are_kept(golden: Golden) -> None:
    found, _ = golden(READER, "pi/branches")
    assert found.sessions[OLD].prompts == ["a line without ids"]
    assert not any(m.superseded for m in found.sessions[OLD].messages)
    unknown = [p for p in found.sessions[ROOT].parts if p.type is PartType.UNKNOWN]
    assert [p.metadata["source_type"] for p in unknown] == ["hologram"]
    injected = [m for m in found.sessions[ROOT].messages if m.role is Role.USER and m.author is Author.SYNTHETIC]
    assert [m.parts[0].text for m in injected] == ["injected"]


@pytest.mark.requirement("READ-115")
def test_cycles_and_missing_parents_end_a_path_and_no_more(tmp_path: Path) -> None:
    folder = tmp_path / ".pi" / "agent" / "sessions" / "--x--"
    folder.mkdir(parents=True)
    said = {"role": "user", "content": "hi"}
    entries = [
        {"type": "session", "id": "s", "timestamp": "2026-11-20T10:00:00Z"},
        {"type": "message", "id": "a", "parentId": "b", "message": said},
        {"type": "message", "id": "b", "parentId": "a", "message": said},
        {"type": "message", "id": "c", "parentId": "nobody", "message": said},
    ]
    (folder / "t_s.jsonl").write_text("\n".join(map(json.dumps, entries)) + "\n", encoding="utf-8")
    found = harvest_home(READER, tmp_path).sessions["s"]
    assert {m.id: m.superseded for m in found.messages} == {"s:a": True, "s:b": True, "s:c": False}
