"""Gemini CLI: the ground truth of three real homes, and each trap of the format by name."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ovillo.model.clock import from_iso
from ovillo.model.records import Author, PartType, Role, SessionId, SessionKind, ToolStatus, Usage
from ovillo.readers.gemini_cli import GeminiCliReader
from tests.readers.harvest import Found, Harvest, digest, harvest, harvest_home

READER = GeminiCliReader()
SID = "11111111-2222-4333-8444-555555555555"
HOMES = ("", "older-version", "resumed-tool-loop")
A = "8087008b-4e70-41ba-822a-8ce5f52082a1"
B = "e4d30abe-c820-4e34-9da7-56b6ce505c8d"
B_SUB = "a62955ec-985d-49e3-8f7a-49eed85724f9"
K = "4a7bf35e-ec2f-4932-8a47-5938da02ce6e"
L1 = "c284a87b-5456-4123-b7fb-1e088cfe3ce6"


@pytest.fixture(scope="module", params=HOMES, ids=lambda name: name or "current")
def case(request: pytest.FixtureRequest, fixtures: Path) -> tuple[dict[str, Any], Harvest]:
    folder = fixtures / "gemini-cli" / request.param
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    return truth, harvest_home(READER, folder / "home")


@pytest.fixture(scope="module")
def current(fixtures: Path) -> Harvest:
    return harvest_home(READER, fixtures / "gemini-cli" / "home")


# --- the real homes


@pytest.mark.requirement("READ-80")
def test_sessions_prompts_answers_and_thinking_are_those_that_were_served(case: tuple[dict[str, Any], Harvest]) -> None:
    truth, found = case
    assert set(found.sessions) == {session["id"] for session in truth["sessions"]} == found.inventory
    assert found.skipped == []
    for expected in truth["sessions"]:
        session = found.sessions[expected["id"]]
        assert len(session.prompts) == expected["n_user_prompts"], expected["key"]
        for said, asked in zip(session.prompts, expected["prompts"], strict=True):
            # A sub-agent's task is wrapped by the client in a preamble of its own.
            assert asked in said if expected["relation"] == "subagent" else asked == said
        assert len(session.answers) == expected["n_model_responses"]
        for answer, call in zip(session.answers, expected["calls"], strict=True):
            assert "".join(p.text for p in answer.parts if p.type is PartType.TEXT) == (call["text"] or "")
            assert [p.type is PartType.REASONING for p in answer.parts].count(True) == (call["thinking"] is not None)
            assert answer.model == call["model"]


@pytest.mark.requirement("READ-81")
def test_tokens_of_every_answer_are_those_that_were_served(case: tuple[dict[str, Any], Harvest]) -> None:
    truth, found = case
    for expected in truth["sessions"]:
        session = found.sessions[expected["id"]]
        for answer, call in zip(session.answers, expected["calls"], strict=True):
            assert answer.usage == Usage(call["in_uncached"], call["output"], call["reasoning"], call["cache_read"])
        total = expected["tokens"]
        assert session.usage == Usage(total["in_uncached"], total["output"], total["reasoning"], total["cache_read"])


@pytest.mark.requirement("READ-82")
def test_tool_calls_are_those_that_were_asked_for(case: tuple[dict[str, Any], Harvest]) -> None:
    truth, found = case
    for expected in truth["sessions"]:
        used = Counter(tool.name for tool in found.sessions[expected["id"]].tools)
        wanted = Counter(expected["tool_calls"])
        optional = Counter(expected["optional_tools"])
        assert used - wanted == Counter(), expected["key"]
        assert (wanted - used) - optional == Counter(), expected["key"]


@pytest.mark.requirement("READ-83")
def test_lineage_and_directory_are_known(case: tuple[dict[str, Any], Harvest]) -> None:
    truth, found = case
    for expected in truth["sessions"]:
        session = found.sessions[expected["id"]].session
        assert session.parent_id == expected["parent"]
        assert (session.kind is SessionKind.SUBAGENT) == (expected["relation"] == "subagent")
        if truth["client"] == "gemini":
            assert session.directory == expected["project"]


@pytest.mark.requirement("READ-84")
@pytest.mark.parametrize("name", HOMES)
def test_reading_changes_no_byte_of_the_source(name: str, fixtures: Path) -> None:
    home = fixtures / "gemini-cli" / name / "home"
    before = digest(home)
    harvest_home(READER, home)
    assert digest(home) == before


# --- traps in the real homes


@pytest.mark.requirement("READ-85")
def test_a_line_written_again_with_the_same_id_counts_once(current: Harvest) -> None:
    assert current.sessions[A].usage.output == 904


@pytest.mark.requirement("READ-86")
def test_a_resume_that_rewrites_history_loses_nothing_and_moves_no_time(fixtures: Path) -> None:
    session = harvest_home(READER, fixtures / "gemini-cli" / "resumed-tool-loop" / "home").sessions[K]
    first = next(m for m in session.messages if m.id == "7d2589d2-a50d-4e0a-90c1-3bb48d072ec0")
    assert first.created_at == from_iso("2026-11-21T04:23:31.557Z")
    assert first.model == "gemini-3.1-pro-preview"
    assert first.usage
    assert [part.type for part in first.parts] == [PartType.TEXT, PartType.TOOL_CALL]
    times = [m.created_at for m in session.messages if m.author is not Author.SYNTHETIC]
    assert times == sorted(times)
    numbers = [m.seq for m in session.messages]
    assert numbers == sorted(set(numbers))


@pytest.mark.requirement("READ-86")
def test_thoughts_are_not_doubled_when_a_rewrite_moves_them_into_the_content(current: Harvest) -> None:
    assert current.sessions[A].text(PartType.REASONING) == ["Plan\nI read the file before answering."]


@pytest.mark.requirement("READ-87")
def test_function_responses_that_come_twice_become_the_output_of_their_call_once(current: Harvest) -> None:
    session = current.sessions[A]
    assert all(not m.id.endswith("_response") for m in session.messages)
    outputs = [tool.output for tool in session.tools]
    assert len(outputs) == 6
    assert outputs[0] == (
        "<untrusted_context>\nOutput: README.md\nnet.py\nProcess Group PGID: 20691\n</untrusted_context>"
    )
    assert all(tool.status is ToolStatus.COMPLETED and tool.ended_at for tool in session.tools)


@pytest.mark.requirement("READ-88")
def test_two_files_with_one_session_id_are_one_session(current: Harvest, fixtures: Path) -> None:
    chats = fixtures / "gemini-cli" / "home" / ".gemini" / "tmp" / "app" / "chats"
    assert len(list(chats.glob("*8087008b.jsonl"))) == 2
    session = current.sessions[A].session
    assert session.created_at == from_iso("2026-11-21T04:18:55.940Z")
    assert session.updated_at == from_iso("2026-11-21T04:19:04.678Z")


@pytest.mark.requirement("READ-89")
def test_the_injected_context_is_synthetic_and_names_no_two_sessions_alike(current: Harvest) -> None:
    contexts = [
        message
        for session in current.sessions.values()
        for message in session.messages
        if message.author is Author.SYNTHETIC and message.role is Role.USER
    ]
    assert len(contexts) == 4
    assert all(part.synthetic for message in contexts for part in message.parts)
    # The client gives it one and the same id in every session, which would make each a fork of the others.
    assert len({message.id for message in contexts}) == 4
    ids = [message.id for session in current.sessions.values() for message in session.messages]
    assert len(ids) == len(set(ids))


@pytest.mark.requirement("READ-90")
def test_a_sub_agent_is_linked_to_the_call_that_started_it(current: Harvest) -> None:
    call = next(tool for tool in current.sessions[B].tools if tool.name == "invoke_agent")
    assert call.child_session_id == B_SUB
    child = current.sessions[B_SUB].session
    assert (child.parent_id, child.agent, child.kind) == (B, "codebase_investigator", SessionKind.SUBAGENT)
    assert child.summary is not None
    assert child.title is None


@pytest.mark.requirement("READ-90")
def test_a_call_known_only_by_its_result_is_kept_with_its_failure(current: Harvest) -> None:
    call = next(tool for tool in current.sessions[B_SUB].tools if tool.name == "run_shell_command")
    assert call.status is ToolStatus.ERROR
    assert call.output == "Unauthorized tool call: 'run_shell_command' is not available to this agent."


@pytest.mark.requirement("READ-91")
def test_a_file_edit_is_a_patch_with_its_lines_counted(current: Harvest) -> None:
    patches = [part.patch for part in current.sessions[A].parts if part.patch]
    assert [(p.files, p.additions, p.deletions) for p in patches] == [
        (("/tmp/cc/work-gemini/app/net.py",), 1, 1),
        (("/tmp/cc/work-gemini/app/notes.md",), 1, 0),
    ]
    assert patches[0].diff is not None
    assert "+    return min(30, base * 2 ** attempt)" in patches[0].diff


@pytest.mark.requirement("READ-92")
def test_old_documents_find_their_directory_by_its_hash(fixtures: Path, tmp_path: Path) -> None:
    home = fixtures / "gemini-cli" / "older-version" / "home"
    assert harvest_home(READER, home).sessions[L1].session.directory is None
    shutil.copytree(home, tmp_path / "home")
    projects = tmp_path / "home" / ".gemini" / "projects.json"
    projects.write_text(json.dumps({"projects": {"/tmp/cc/work-gemini/app": "app"}}), encoding="utf-8")
    assert harvest_home(READER, tmp_path / "home").sessions[L1].session.directory == "/tmp/cc/work-gemini/app"


# --- traps written by hand


class Chat:
    """A home with one project, written line by line."""

    def __init__(self, home: Path, project: str = "app") -> None:
        self.home = home
        self.chats = home / ".gemini" / "tmp" / project / "chats"
        self.chats.mkdir(parents=True)

    def write(self, *lines: dict[str, Any], name: str = "session-2026-11-21T04-18-11111111.jsonl") -> Path:
        path = self.chats / name
        path.parent.mkdir(exist_ok=True)
        text = "".join(json.dumps(line) + "\n" for line in lines)
        path.write_text(text, encoding="utf-8")
        return path

    def read(self) -> Found:
        return harvest_home(READER, self.home).sessions[SID]


@pytest.fixture
def chat(tmp_path: Path) -> Chat:
    return Chat(tmp_path)


def header(second: int = 0, session_id: str = SID, **more: Any) -> dict[str, Any]:
    when = at(second)
    return {"sessionId": session_id, "projectHash": "p", "startTime": when, "lastUpdated": when, "kind": "main", **more}


def at(second: int) -> str:
    return f"2026-11-21T04:{second // 60:02}:{second % 60:02}.000Z"


def user(second: int, key: str, text: str) -> dict[str, Any]:
    return {"id": key, "timestamp": at(second), "type": "user", "content": [{"text": text}]}


def gemini(second: int, key: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": at(second), "type": "gemini", "content": text, "model": "gemini-3", **more}


@pytest.mark.requirement("READ-93")
def test_one_id_for_a_gemini_and_a_user_message_gives_two_messages(chat: Chat) -> None:
    chat.write(
        header(), gemini(1, "x", "said by the model"), {"$set": {"messages": [user(2, "x", "said by a person")]}}
    )
    found = {m.id: m.role for m in chat.read().messages}
    assert found == {"x": Role.ASSISTANT, "x:user": Role.USER}


@pytest.mark.requirement("READ-86")
def test_a_field_is_never_overwritten_by_its_absence(chat: Chat) -> None:
    tokens = {"input": 10, "output": 5, "cached": 4, "thoughts": 2, "tool": 0, "total": 17}
    call = {"id": "c", "name": "read_file", "args": {"file_path": "a.py"}, "status": "success", "timestamp": at(2)}
    full = gemini(1, "g", "reading", tokens=tokens, toolCalls=[call], thoughts=[{"subject": "s", "description": "d"}])
    thin = {
        "id": "g",
        "timestamp": at(9),
        "type": "gemini",
        "content": [{"functionCall": {"id": "c"}}],
        "toolCalls": [],
    }
    chat.write(header(), full, {"$set": {"messages": [thin]}}, {**thin, "content": "", "tokens": None, "thoughts": []})
    (answer,) = chat.read().messages
    assert answer.usage == Usage(6, 5, 2, 4)
    assert answer.model == "gemini-3"
    assert answer.created_at == from_iso(at(1))
    assert [(p.type, p.text) for p in answer.parts if not p.tool] == [
        (PartType.REASONING, "s\nd"),
        (PartType.TEXT, "reading"),
    ]
    (tool,) = [p.tool for p in answer.parts if p.tool]
    assert (tool.name, tool.input, tool.status) == ("read_file", {"file_path": "a.py"}, ToolStatus.COMPLETED)


@pytest.mark.requirement("READ-94")
def test_a_state_snapshot_is_a_compaction_that_supersedes_what_went_before(chat: Chat) -> None:
    context = user(0, "ctx", "<session_context>\nToday\n</session_context>")
    snapshot = user(5, "snap", "<state_snapshot><overall_goal>g</overall_goal></state_snapshot>")
    acknowledged = {"id": "ack", "timestamp": at(5), "type": "gemini", "content": "Got it. Thanks!"}
    chat.write(
        header(),
        {"$set": {"messages": [context]}},
        user(1, "u1", "first"),
        gemini(2, "g1", "answer", tokens={"input": 1, "output": 1, "cached": 0}),
        {"$set": {"messages": [context, snapshot, acknowledged]}},
        user(6, "u2", "second"),
    )
    found = chat.read()
    assert {m.id: m.superseded for m in found.messages} == {
        f"ctx:{SID}": False, "u1": True, "g1": True, "snap": False, "ack": False, "u2": False,
    }  # fmt: skip
    assert found.prompts == ["first", "second"]
    (summary,) = [m for m in found.messages if m.is_summary]
    assert [p.type for p in summary.parts] == [PartType.COMPACTION]
    assert [m.id for m in found.answers] == ["g1"]


@pytest.mark.requirement("READ-95")
def test_rewound_messages_are_kept_and_marked_until_they_are_said_again(chat: Chat) -> None:
    lines = [header(), user(1, "u1", "one"), gemini(2, "g1", "a"), user(3, "u2", "two"), {"$rewindTo": "u2"}]
    chat.write(*lines)
    assert [(m.id, m.reverted) for m in chat.read().messages] == [("u1", False), ("g1", False), ("u2", True)]
    chat.write(*lines, {"$set": {"messages": [user(3, "u2", "two")]}})
    assert not any(m.reverted for m in chat.read().messages)


@pytest.mark.requirement("READ-96")
def test_notices_of_the_client_are_system_messages(chat: Chat) -> None:
    chat.write(
        header(),
        user(1, "u", "hi"),
        {"id": "i", "timestamp": at(2), "type": "info", "content": "Update available"},
        {"id": "e", "timestamp": at(3), "type": "error", "content": "Quota exceeded"},
        {"id": "n", "timestamp": at(4), "type": "hologram", "content": "something new"},
    )
    found = chat.read()
    assert [m.role for m in found.messages] == [Role.USER, Role.SYSTEM, Role.SYSTEM, Role.SYSTEM]
    assert [m.error for m in found.messages] == [None, None, "Quota exceeded", None]
    assert found.text(PartType.UNKNOWN) == ["something new"]
    assert found.prompts == ["hi"]


@pytest.mark.requirement("READ-97")
def test_files_named_in_a_prompt_are_synthetic_and_binary_ones_become_file_parts(chat: Chat) -> None:
    prompt = user(1, "u", "explain @net.py")
    prompt["content"] += [
        {"text": "\n--- Content from referenced files ---"},
        {"text": "import time"},
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
    ]
    chat.write(header(), prompt)
    found = chat.read()
    assert found.prompts == ["explain @net.py"]
    (image,) = [p for p in found.parts if p.type is PartType.FILE]
    assert image.file is not None
    assert (image.file.mime, image.metadata["base64_chars"]) == ("image/png", 4)


@pytest.mark.requirement("READ-98")
def test_a_vanished_file_takes_nothing_back_and_leaves_the_inventory(chat: Chat) -> None:
    other = "99999999-2222-4333-8444-555555555555"
    chat.write(header(), user(1, "u", "stays"))
    gone = chat.write(header(5, other), user(6, "v", "goes"), name="session-2026-11-21T04-19-99999999.jsonl")
    (place,) = READER.discover({}, chat.home)
    first = harvest(READER, place)
    assert first.inventory == {SID, other}
    gone.unlink()
    second = harvest(READER, place, first.cursor)
    assert second.sessions == {}
    assert second.inventory == {SID}
    assert str(gone) not in second.cursor


@pytest.mark.requirement("READ-99")
def test_only_sessions_with_a_changed_file_are_read_again_and_then_whole(chat: Chat) -> None:
    other = "99999999-2222-4333-8444-555555555555"
    chat.write(header(), user(1, "u", "first file"))
    chat.write(header(5, other), user(6, "v", "other"), name="session-2026-11-21T04-19-99999999.jsonl")
    (place,) = READER.discover({}, chat.home)
    first = harvest(READER, place)
    assert harvest(READER, place, first.cursor).sessions == {}
    chat.write(header(60), user(61, "w", "second file"), name="session-2026-11-21T04-19-11111111.jsonl")
    again = harvest(READER, place, first.cursor)
    assert set(again.sessions) == {SID}
    assert again.sessions[SID].prompts == ["first file", "second file"]
    assert set(harvest(READER, place, only=SessionId(other)).sessions) == {other}
    assert harvest(READER, place, only=SessionId("nobody")).records == []


@pytest.mark.requirement("READ-100")
def test_another_home_is_read_from_the_environment(chat: Chat, tmp_path: Path) -> None:
    chat.write(header(), user(1, "u", "hi"))
    (place,) = READER.discover({"GEMINI_CLI_HOME": str(chat.home)}, tmp_path / "elsewhere")
    assert place.path == chat.home / ".gemini" / "tmp"
    assert READER.discover({}, tmp_path / "elsewhere") == []


@pytest.mark.requirement("READ-92")
def test_a_path_the_session_names_proves_the_hashed_directory(tmp_path: Path) -> None:
    chat = Chat(tmp_path, project=sha256(b"/srv/app").hexdigest())
    call = {"id": "c", "name": "read_file", "args": {"absolute_path": "/srv/app/src/net.py"}, "status": "success"}
    document = {**header(), "messages": [user(1, "u", "hi"), gemini(2, "g", "", toolCalls=[call])]}
    (chat.chats / "session-x.json").write_text(json.dumps(document), encoding="utf-8")
    assert chat.read().session.directory == "/srv/app"


@pytest.mark.requirement("READ-101")
def test_damage_costs_the_damaged_line_only_and_is_listed_with_its_place(chat: Chat) -> None:
    path = chat.write(header(), user(1, "u", "before"))
    offset = path.stat().st_size
    with path.open("ab") as file:
        file.write(b'{"id": broken\n[1, 2]\n' + json.dumps(user(3, "v", "after")).encode() + b"\n")
        file.write(b'{"id": "half')
    (chat.chats / "empty.jsonl").write_bytes(b"")
    (chat.chats / "cut.json").write_bytes(b'{"sessionId": "s", "mess')
    found = harvest_home(READER, chat.home)
    assert found.sessions[SID].prompts == ["before", "after"]
    assert set(found.sessions) == {SID}
    positions = {(Path(item.file).name, item.position) for item in found.skipped}
    half = path.stat().st_size - len(b'{"id": "half')
    lines = {(path.name, str(at)) for at in (offset, offset + 14, half)}
    assert positions == {*lines, ("cut.json", ""), ("empty.jsonl", "")}


@pytest.mark.requirement("READ-101")
def test_a_session_whose_header_is_lost_is_kept_under_the_id_it_names_elsewhere(chat: Chat) -> None:
    path = chat.write(header(), {"$set": {"sessionId": SID}}, user(1, "u", "still here"))
    data = path.read_bytes()
    path.write_bytes(b"##" + data[2:])
    assert chat.read().prompts == ["still here"]


@pytest.mark.requirement("READ-92")
def test_the_hash_in_the_header_decides_between_two_names_of_a_project(chat: Chat) -> None:
    (chat.chats.parent / ".project_root").write_text("/srv/wrong", encoding="utf-8")
    index = chat.home / ".gemini" / "projects.json"
    index.write_text(json.dumps({"projects": {"/srv/right": "app"}}), encoding="utf-8")
    chat.write(header(projectHash=sha256(b"/srv/right").hexdigest()), user(1, "u", "hi"))
    assert chat.read().session.directory == "/srv/right"
    chat.write(header(), user(1, "u", "hi"))
    assert chat.read().session.directory == "/srv/wrong"


@pytest.mark.requirement("READ-98")
@pytest.mark.parametrize("damage", [b"\x00\x01\x02" * 50, b"", b"{}\n"])
def test_a_damaged_file_is_not_taken_for_a_deleted_one(damage: bytes, chat: Chat) -> None:
    document = {**header(), "messages": [user(1, "u", "hi")]}
    lines = chat.write(header(5, "99999999-2222-4333-8444-555555555555"), user(6, "v", "there"))
    path = chat.chats / "session-old.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    (place,) = READER.discover({}, chat.home)
    first = harvest(READER, place)
    path.write_bytes(damage)
    assert harvest(READER, place, first.cursor).inventory == first.inventory
    lines.write_bytes(b"\x00\x01\x02" * 50)
    assert harvest(READER, place, first.cursor).inventory == first.inventory


@pytest.mark.requirement("READ-155")
def test_what_a_person_types_as_a_custom_command_is_theirs_and_the_expansion_is_not(chat: Chat) -> None:
    expansion = "You review code with care.\n\nReview: net.py and its tests"
    typed = "/review net.py and its tests"
    prompt = {"type": "user", "timestamp": at(1)}
    chat.write(
        header(),
        {"id": "u1", **prompt, "content": [{"text": expansion}], "displayContent": [{"text": typed}]},
        {"id": "u2", **prompt, "content": [{"text": "/and now?"}], "displayContent": "/and now?"},
    )
    session = chat.read()
    assert session.prompts == [typed, "/and now?"]
    assert [(p.text, p.synthetic) for p in session.messages[0].parts] == [(expansion, True), (typed, False)]


@pytest.mark.requirement("READ-157")
@pytest.mark.parametrize("project", ["app", "other"], ids=["one project", "two projects"])
def test_files_that_share_an_id_and_no_message_are_different_sessions(tmp_path: Path, project: str) -> None:
    def prompt(message_id: str, second: int) -> dict[str, Any]:
        return {"id": message_id, "type": "user", "timestamp": at(second), "content": message_id}

    context = {**prompt("context", 0), "content": "<session_context>the same in all</session_context>"}
    # In one project, what begins when the other has ended goes on with it.
    Chat(tmp_path).write(header(), context, prompt("u1", 1), prompt("u5", 15))
    chat = Chat(tmp_path, project) if project != "app" else None
    chats = chat.chats if chat else tmp_path / ".gemini/tmp/app/chats"
    other = chats / "session-2026-11-21T05-00-11111111.jsonl"
    other.write_text("".join(json.dumps(x) + "\n" for x in (header(9), context, prompt("u2", 9))), encoding="utf-8")
    resumed = chats / "session-2026-11-21T06-00-11111111.jsonl"
    lines = (header(20), {"$set": {"messages": [prompt("u2", 20), prompt("u3", 21)]}})
    resumed.write_text("".join(json.dumps(x) + "\n" for x in lines), encoding="utf-8")
    found = harvest_home(READER, tmp_path)
    assert {name: one.prompts for name, one in found.sessions.items()} == {SID: ["u1", "u5"], f"{SID}~2": ["u2", "u3"]}
    assert found.inventory == {SID, f"{SID}~2"}
    # Names stay when a file changes, and when another of the id comes.
    place = READER.discover({}, tmp_path)[0]
    with other.open("a", encoding="utf-8") as file:
        file.write(json.dumps(prompt("u4", 30)) + "\n")
    again = harvest(READER, place, found.cursor)
    assert {name: one.prompts for name, one in again.sessions.items()} == {f"{SID}~2": ["u2", "u3", "u4"]}
