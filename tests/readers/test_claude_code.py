"""Claude Code: the ground truth of a real home, in one scan and in any two, and what a cursor spares."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ovillo.model.records import (
    Author,
    Inventory,
    PartType,
    Role,
    SessionDelta,
    SessionId,
    SessionKind,
    ToolStatus,
    Usage,
)
from ovillo.readers.claude_code import ClaudeCodeReader, session_of_tool_use
from ovillo.readers.jsonl import UNFINISHED
from ovillo.readers.protocol import Checkpoint, Progress, Source
from tests.readers.harvest import Found, Harvest, digest, harvest, harvest_home

READER = ClaudeCodeReader()
A = "0672048c-85a4-44d2-bf35-35d7c84c207d"
B = "49fbd529-b2c0-4d49-bf8f-c1d07d00b045"
B_SUB = "a5bba131d9f318758"
C = "27aa436b-4dc3-4dcb-8797-114cb3b15763"
D = "c94d990e-f798-4658-8e14-badad6a88a03"


@pytest.fixture(scope="module")
def truth(fixtures: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((fixtures / "claude-code/ground-truth.json").read_text("utf-8"))[
        "sessions"
    ]
    return found


@pytest.fixture(scope="module")
def found(fixtures: Path) -> Harvest:
    return harvest_home(READER, fixtures / "claude-code/home")


@pytest.fixture
def home(fixtures: Path, tmp_path: Path) -> Path:
    shutil.copytree(fixtures / "claude-code/home", tmp_path / "home")
    return tmp_path / "home"


def place_of(home: Path) -> Source:
    return READER.discover({}, home)[0]


def own(found: Harvest, session: dict[str, Any]) -> Found:
    """A session without what it shares with the one it was forked from: the store leaves that out by id."""
    one = found.sessions[session["id"]]
    shared = found.sessions[session["parent"]].by_id if session["relation"] == "fork" else {}
    return Found(one.session, {key: message for key, message in one.by_id.items() if key not in shared})


@pytest.mark.requirement("READ-45")
def test_sessions_prompts_and_answers_are_those_that_were_served(truth: list[dict[str, Any]], found: Harvest) -> None:
    assert set(found.sessions) == {session["id"] for session in truth} == found.inventory
    assert found.skipped == []
    for expected in truth:
        session = own(found, expected)
        assert session.prompts == expected["prompts"]
        assert [answer.id for answer in session.answers] == [call["id"] for call in expected["calls"]]
        for answer, call in zip(session.answers, expected["calls"], strict=True):
            assert [p.text for p in answer.parts if p.type is PartType.TEXT] == [call["text"]] * bool(call["text"])
            assert [p.text for p in answer.parts if p.type is PartType.REASONING] == (
                [call["thinking"]] * bool(call["thinking"])
            )
            assert [p.tool.name for p in answer.parts if p.tool] == call["tools"]
            assert answer.model == call["model"]


@pytest.mark.requirement("READ-46")
def test_tokens_of_every_answer_are_those_that_were_served(truth: list[dict[str, Any]], found: Harvest) -> None:
    for expected in truth:
        session = own(found, expected)
        for answer, call in zip(session.answers, expected["calls"], strict=True):
            assert answer.usage == Usage(
                call["in_uncached"], call["output"], 0, call["cache_read"], call["cache_write"]
            )
            assert answer.usage_source == "message.usage"
        tokens = expected["tokens"]
        assert session.usage == Usage(
            tokens["in_uncached"], tokens["output"], 0, tokens["cache_read"], tokens["cache_write"]
        )


@pytest.mark.requirement("READ-47")
def test_every_tool_call_holds_its_result(truth: list[dict[str, Any]], found: Harvest) -> None:
    for expected in truth:
        tools = own(found, expected).tools
        assert Counter(tool.name for tool in tools) == expected["tool_calls"]
        assert all(tool.status is ToolStatus.COMPLETED and tool.output for tool in tools)
    assert not any(part.type is PartType.TOOL_RESULT for one in found.sessions.values() for part in one.parts)
    read = next(tool for tool in found.sessions[A].tools if tool.call_id == "toolu_fake000001_1")
    assert (read.input, (read.output or "")[:6]) == ({"file_path": "/tmp/cc/work-claude/app/net.py"}, '1\t"""N')


@pytest.mark.requirement("READ-48")
def test_a_session_knows_its_directory_branch_version_and_times(truth: list[dict[str, Any]], found: Harvest) -> None:
    for expected in truth:
        session = found.sessions[expected["id"]].session
        assert (session.directory, session.git_branch) == (expected["project"], expected["git_branch"])
        assert session.created_at is not None
        assert session.updated_at is not None
        assert session.created_at < session.updated_at
    assert found.sessions[A].session.version == "2.1.329"
    assert found.sessions[D].session.version == "2.1.197"


@pytest.mark.requirement("READ-49")
def test_a_sub_agent_is_linked_to_the_call_that_started_it(found: Harvest) -> None:
    child, parent = found.sessions[B_SUB].session, found.sessions[B]
    assert (child.kind, child.parent_id, child.agent) == (SessionKind.SUBAGENT, B, "Explore")
    assert child.metadata["spawned_by"] == {"call_id": "toolu_fake000009_0"}
    (call,) = parent.tools
    assert (call.call_id, call.child_session_id) == ("toolu_fake000009_0", B_SUB)
    assert found.sessions[B].usage.output == 115


@pytest.mark.requirement("READ-50")
def test_a_fork_copies_messages_and_parts_under_their_own_ids(found: Harvest) -> None:
    origin, fork = found.sessions[A].by_id, found.sessions[C].by_id
    shared = set(origin) & set(fork)
    assert "msg_fake0000089f0415b07f71" in shared
    for key in shared:
        assert [part.id for part in origin[key].parts] == [part.id for part in fork[key].parts]


@pytest.mark.requirement("READ-51")
def test_a_compaction_supersedes_what_went_before_but_not_what_it_kept(found: Harvest) -> None:
    messages = found.sessions[A].messages
    (summary,) = [message for message in messages if message.is_summary]
    (part,) = summary.parts
    assert (summary.author, part.type) == (Author.SYNTHETIC, PartType.COMPACTION)
    assert "The delay of retry_delay was capped at 30 s" in part.text
    assert part.metadata["trigger"] == "manual"
    assert (part.metadata["tokens_before"], part.metadata["tokens_after"]) == (9410, 2820)
    before = [message for message in messages if message.seq < summary.seq]
    assert [message.id for message in before if not message.superseded] == ["msg_fake00000635b2d734a7fd"]
    assert not any(message.superseded for message in messages if message.seq > summary.seq)
    assert not any(message.is_summary for message in found.sessions[B].messages)


@pytest.mark.requirement("READ-52")
def test_file_edits_are_patches_beside_their_call(found: Harvest) -> None:
    patches = {part.id: part.patch for part in found.sessions[A].parts if part.type is PartType.PATCH}
    edit, create = patches["toolu_fake000004_0:patch"], patches["toolu_fake000004_1:patch"]
    assert edit is not None
    assert create is not None
    assert (edit.files, edit.additions, edit.deletions) == (("/tmp/cc/work-claude/app/net.py",), 1, 1)
    assert "+    return min(30, base * 2 ** attempt)" in (edit.diff or "")
    assert (create.additions, create.deletions) == (1, 0)
    assert (create.diff or "").startswith(
        "--- /dev/null\n+++ /tmp/cc/work-claude/app/notes.md\n@@ -0,0 +1,1 @@\n+Delay"
    )


@pytest.mark.requirement("READ-53")
def test_text_the_client_wrote_is_never_a_prompt(found: Harvest) -> None:
    synthetic = [m for m in found.sessions[A].messages if m.role is Role.USER and m.author is Author.SYNTHETIC]
    texts = [part.text.split(">")[0] for message in synthetic for part in message.parts if part.text]
    assert texts[1:] == ["<local-command-caveat", "<command-name", "<local-command-stdout"]
    assert all(part.synthetic for message in synthetic for part in message.parts)
    files = [part.file.path for message in synthetic for part in message.parts if part.file]
    assert files == ["/tmp/cc/work-claude/app/notes.md", "/tmp/cc/work-claude/app/net.py"]


@pytest.mark.requirement("READ-54")
def test_order_is_file_position_and_parents_are_messages(found: Harvest) -> None:
    messages = found.sessions[A].messages
    known = {message.id for message in messages}
    assert [message.seq for message in messages] == sorted({message.seq for message in messages})
    assert all(message.parent_id in known for message in messages if message.parent_id)
    assert messages[1].parent_id == messages[0].id
    assert all(message.parent_id != message.id for message in messages)


@pytest.mark.requirement("READ-55")
def test_reading_changes_no_byte_of_the_source(home: Path) -> None:
    before = digest(home)
    harvest(READER, place_of(home))
    assert digest(home) == before


@pytest.mark.requirement("READ-56")
@pytest.mark.parametrize("inside", [False, True], ids=["between lines", "inside a line"])
@pytest.mark.parametrize("session", [A, B, C, D])
def test_two_scans_find_what_one_finds_wherever_the_file_was_cut(
    home: Path, found: Harvest, session: str, inside: bool
) -> None:
    (path,) = home.glob(f".claude/projects/*/{session}.jsonl")
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]
    place = place_of(home)
    for end in ends:
        path.write_bytes(whole[: end - 37 if inside else end])
        first = harvest(READER, place, only=SessionId(session))
        path.write_bytes(whole)
        for record in READER.scan(place, json.loads(json.dumps(first.cursor)), SessionId(session)):
            first.take(record)
        assert first.sessions[session] == found.sessions[session], f"cut at {end}"
        assert {item.reason for item in first.skipped} <= ({UNFINISHED} if inside else set())


@pytest.mark.requirement("READ-57")
def test_an_unchanged_home_is_not_read_again(home: Path) -> None:
    first = harvest(READER, place_of(home))
    again = list(READER.scan(place_of(home), first.cursor))
    assert again == [Progress(0), Inventory(first.inventory or frozenset())]


@pytest.mark.requirement("READ-57")
def test_only_what_was_appended_is_read(home: Path) -> None:
    first = harvest(READER, place_of(home))
    (path,) = home.glob(f".claude/projects/*/{D}.jsonl")
    line = {
        "type": "user", "uuid": "u-new", "parentUuid": "1662e557-ca99-4840-8979-3f890ae6ebb8", "sessionId": D,
        "message": {"role": "user", "content": "E agora?"}, "timestamp": "2026-11-21T05:00:00.000Z", "isSidechain": False,
    }  # fmt: skip
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    records = list(READER.scan(place_of(home), first.cursor))
    (delta,) = [record for record in records if isinstance(record, SessionDelta)]
    assert [message.id for message in delta.messages] == ["u-new"]
    assert delta.messages[0].parent_id == "msg_fake00001818bfaba3f7aa"
    assert delta.session.directory == "/tmp/cc/work-claude/app"
    assert sum(record.bytes_read for record in records if isinstance(record, Checkpoint)) == len(json.dumps(line)) + 1


@pytest.mark.requirement("READ-57")
def test_a_rewritten_file_is_read_from_the_beginning(home: Path, found: Harvest) -> None:
    first = harvest(READER, place_of(home))
    (path,) = home.glob(f".claude/projects/*/{D}.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[2:]) + b"\n" * len(lines[0] + lines[1]))
    for record in READER.scan(place_of(home), first.cursor):
        first.take(record)
    assert set(first.sessions[D].by_id) == set(found.sessions[D].by_id)


@pytest.mark.requirement("READ-58")
def test_oldest_sessions_come_first_and_one_can_be_read_alone(home: Path, found: Harvest) -> None:
    for age, session in enumerate((B, D, A, C)):
        (path,) = home.glob(f".claude/projects/*/{session}.jsonl")
        os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    order = [r.session.id for r in READER.scan(place_of(home), {}) if isinstance(r, SessionDelta)]
    assert [x for x in order if x != B_SUB] == [C, A, D, B]
    for session in (A, B_SUB):
        assert harvest(READER, place_of(home), only=SessionId(session)).sessions == {session: found.sessions[session]}
    assert list(READER.scan(place_of(home), {}, SessionId("nobody"))) == []
    assert list(READER.scan(place_of(home), {}, SessionId("../" + A))) == []


@pytest.mark.requirement("READ-58")
def test_shares_of_a_place_make_up_the_whole(home: Path, found: Harvest) -> None:
    source = place_of(home)
    shares = [harvest(READER, Source(source.reader, source.path, shard=(n, 3))) for n in range(3)]
    assert sorted(x for share in shares for x in share.sessions) == sorted(found.sessions)
    assert frozenset().union(*(share.inventory or frozenset() for share in shares)) == found.inventory


@pytest.mark.requirement("READ-59")
def test_a_vanished_file_leaves_the_inventory_and_the_cursor(home: Path) -> None:
    first = harvest(READER, place_of(home))
    (path,) = home.glob(f".claude/projects/*/{D}.jsonl")
    path.unlink()
    second = harvest(READER, place_of(home), first.cursor)
    assert second.inventory == (first.inventory or frozenset()) - {D}
    assert not any(D in key for key in second.cursor)


@pytest.mark.requirement("READ-59")
@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may look anywhere")
def test_a_folder_that_cannot_be_looked_into_deletes_nothing(home: Path) -> None:
    (folder,) = home.glob(".claude/projects/*")
    folder.chmod(0)
    try:
        found = harvest(READER, place_of(home))
    finally:
        folder.chmod(0o755)
    assert found.inventory is None
    assert found.skipped[0].file == str(folder)


@pytest.mark.requirement("READ-60")
def test_the_configured_folder_replaces_the_usual_ones(home: Path, tmp_path: Path) -> None:
    assert [x.path for x in READER.discover({"CLAUDE_CONFIG_DIR": str(home / ".claude")}, tmp_path)] == [
        home / ".claude"
    ]
    assert READER.discover({}, tmp_path / "nobody") == []
    assert READER.discover({"CLAUDE_CONFIG_DIR": str(tmp_path / "none")}, home) == []


@pytest.mark.requirement("READ-61")
def test_a_tool_use_is_found_in_the_session_or_sub_agent_that_made_it(home: Path) -> None:
    place = place_of(home)
    assert session_of_tool_use(place, "toolu_fake000017_0") == (D, None)
    assert session_of_tool_use(place, "toolu_fake000010_0") == (B, B_SUB)
    assert session_of_tool_use(place, "toolu_fake0000") is None
    assert session_of_tool_use(place, "") is None
    (path,) = home.glob(f".claude/projects/*/{D}.jsonl")
    os.utime(path, (1, 1))
    assert session_of_tool_use(place, "toolu_fake000017_0", recent=3) is None
