"""The OpenCode reader against real histories of 1.1.65 (JSON) and 1.18.33 (SQLite) and their ground truth."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
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
    SessionStatus,
    ToolStatus,
)
from ovillo.readers.opencode.running import running_call
from tests.builders import folder_state
from tests.readers.opencode_homes import READER, Thread, copied, raw_wal, read, sources, write_v0


def truth(fixtures: Path, kind: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((fixtures / f"opencode-{kind}" / "ground-truth.json").read_text())
    return loaded


def check_against(expected: dict[str, Any], found: dict[str, Thread]) -> None:
    assert set(found) == {session["id"] for session in expected["sessions"]}
    for wanted in expected["sessions"]:
        session, messages = found[wanted["id"]]
        parts = [part for message in messages for part in message.parts]
        assert [message.id for message in messages] == wanted["message_ids"]
        assert Counter(message.role.value for message in messages) == wanted["roles"]
        assert Counter(part.metadata["source_type"] for part in parts) == wanted["parts_by_type"]
        tools = Counter(f"{part.tool.name}:{part.tool.status.value}" for part in parts if part.tool)
        assert tools == wanted["tool_calls"]
        raw: Counter[str] = Counter()
        for message in messages:
            raw.update(message.metadata.get("raw_usage", {}))
        assert {key: raw[key] for key in wanted["tokens"]} == wanted["tokens"]
        assert sum(message.cost or 0 for message in messages) == pytest.approx(wanted["cost"])
        assert (session.parent_id, session.title, session.directory) == (
            wanted["parent"],
            wanted["title"],
            wanted["directory"],
        )
        assert (session.created_at, session.updated_at, session.version) == (
            wanted["created"],
            wanted["updated"],
            wanted["version"],
        )
        assert (session.status is SessionStatus.ARCHIVED) == (wanted["archived"] is not None)
        todos = [
            {key: todo[key] for key in ("content", "status", "priority")} for todo in session.metadata.get("todos", [])
        ]
        assert todos == wanted["todos"]
        changes = {"additions": session.additions, "deletions": session.deletions, "files": session.files_changed}
        assert changes == (wanted["summary"] or dict.fromkeys(changes))
        if wanted["session_diff"] is not None:
            assert session.metadata["diff"] == wanted["session_diff"]
        assert session.metadata.get("revert") == wanted["revert"]
        assert session.project_id == wanted["project"]
        assert [message.id for message in messages if message.is_summary] == wanted["summary_messages"]
        errors = [
            {"message": m.id, "name": m.error.split(":")[0], "text": m.error.split(": ", 1)[1]}
            for m in messages
            if m.error
        ]
        assert errors == wanted["errors"]
        texts = [
            {
                "message": m.id,
                "role": m.role.value,
                "type": p.type.value,
                "synthetic": p.synthetic,
                "text": p.text[:160],
            }
            for m in messages
            for p in m.parts
            if p.type in (PartType.TEXT, PartType.REASONING)
        ]
        assert texts == wanted["texts"]


@pytest.fixture(params=["json", "sqlite", "wal"])
def home(request: pytest.FixtureRequest, fixtures: Path, tmp_path: Path) -> Path:
    kind: str = request.param
    return raw_wal(fixtures, tmp_path) if kind == "wal" else copied(fixtures, kind, tmp_path)


@pytest.mark.requirement("READ-1")
def test_every_generation_gives_the_ground_truth(home: Path, fixtures: Path, request: pytest.FixtureRequest) -> None:
    kind = "json" if "json" in request.node.name else "sqlite"
    place = sources(home)[-1]
    found, skipped, _ = read(place)
    assert skipped == []
    check_against(truth(fixtures, kind), found)


@pytest.mark.requirement("READ-2")
def test_reading_changes_no_byte_and_leaves_no_file(home: Path) -> None:
    before = folder_state(home)
    for place in sources(home):
        read(place)
        read(place)
    # A shared-memory file that the client itself has open is its own business; all else is as it was.
    after = {name: data for name, data in folder_state(home).items() if not name.endswith("-shm")}
    assert after == {name: data for name, data in before.items() if not name.endswith("-shm")}
    assert set(folder_state(home)) == set(before)


@pytest.mark.requirement("READ-3")
def test_both_generations_are_places_of_their_own_and_the_database_is_the_newer(fixtures: Path, tmp_path: Path) -> None:
    home = copied(fixtures, "json", tmp_path)
    shutil.copy(
        fixtures / "opencode-sqlite/home/.local/share/opencode/opencode.db", home / ".local/share/opencode/opencode.db"
    )
    found = sources(home)
    assert [place.layout for place in found] == ["json", "sqlite"]
    assert found[0].precedence < found[1].precedence


@pytest.mark.requirement("READ-4")
def test_output_never_holds_reasoning_whatever_the_version_counts(home: Path) -> None:
    found, _, _ = read(sources(home)[-1])
    usages = [message.usage for _, messages in found.values() for message in messages if message.usage]
    assert sum(usage.output for usage in usages) == 1916
    assert sum(usage.reasoning for usage in usages) == 88
    assert sum(usage.cache_read for usage in usages) == 109056


@pytest.mark.requirement("READ-5")
def test_a_fork_names_its_origin_and_marks_what_it_copied(home: Path) -> None:
    found, _, _ = read(sources(home)[-1])
    fork, messages = next(thread for thread in found.values() if "fork #1" in (thread[0].title or ""))
    origin, original = next(
        thread for thread in found.values() if thread[0].title == "Corregir descuentos en calcular_total"
    )
    assert (fork.kind, fork.forked_from) == (SessionKind.FORK, origin.id)
    copied_messages = [message for message in messages if message.inherited_from]
    assert [m.created_at for m in copied_messages] == [m.created_at for m in original[: len(copied_messages)]]
    assert len(copied_messages) == len(original)
    assert fork.fork_point == copied_messages[-1].id


@pytest.mark.requirement("READ-6")
def test_a_sub_agent_hangs_on_the_call_that_started_it(home: Path) -> None:
    found, _, _ = read(sources(home)[-1])
    child = next(session for session, _ in found.values() if session.parent_id)
    assert child.kind is SessionKind.SUBAGENT
    calls = [p.tool for m in found[child.parent_id or ""][1] for p in m.parts if p.tool and p.tool.child_session_id]
    assert [(call.name, call.child_session_id) for call in calls] == [("task", child.id)]


@pytest.mark.requirement("READ-7")
def test_a_compaction_is_told_apart_from_what_people_said(home: Path) -> None:
    found, _, _ = read(sources(home)[-1])
    _, messages = next(thread for thread in found.values() if thread[0].title == "Rename SessionStore to TokenStore")
    asked = next(m for m in messages if any(p.type is PartType.COMPACTION for p in m.parts))
    summary = next(m for m in messages if m.is_summary)
    assert asked.author is Author.SYNTHETIC
    assert summary.parent_id == asked.id
    deltas = [
        r
        for r in READER.scan(sources(home)[-1], {})
        if isinstance(r, SessionDelta) and r.session.title == "Rename SessionStore to TokenStore"
    ]
    assert deltas[0].superseded == tuple(m.id for m in messages[: messages.index(asked)])
    assert all(
        m.author is Author.SYNTHETIC
        for m in messages
        if m.role is Role.USER and all(p.synthetic for p in m.parts) and m.parts
    )


@pytest.mark.requirement("READ-8")
def test_a_revert_marks_what_was_taken_back(home: Path) -> None:
    deltas = [
        r
        for r in READER.scan(sources(home)[-1], {})
        if isinstance(r, SessionDelta) and r.session.metadata.get("revert")
    ]
    (only,) = deltas
    assert only.session.title == "README extra line"
    assert only.reverted_is_complete
    assert only.reverted == tuple(message.id for message in only.messages)


@pytest.mark.requirement("READ-9")
def test_quotes_of_opencode_run_are_kept_and_not_shown(home: Path) -> None:
    found, _, _ = read(sources(home)[-1])
    said = [
        p
        for _, ms in found.values()
        for m in ms
        if m.author is Author.HUMAN
        for p in m.parts
        if p.type is PartType.TEXT and not p.synthetic
    ]
    quoted = [part for part in said if part.text.startswith('"')]
    assert quoted
    assert all(not str(part.metadata["display_text"]).startswith('"') for part in quoted)


@pytest.mark.requirement("READ-10")
def test_errors_keep_name_and_message_and_no_header_or_body(home: Path) -> None:
    found, _, _ = read(sources(home)[-1])
    failed = [message for _, messages in found.values() for message in messages if message.error]
    assert [message.error for message in failed] == ["APIError: Incorrect API key provided: scripted failure"]
    assert "invalid_request_error" not in repr(failed)


@pytest.mark.requirement("READ-11")
def test_an_unchanged_place_is_not_read_again(home: Path) -> None:
    place = sources(home)[-1]
    _, _, cursor = read(place)
    again = [record for record in READER.scan(place, cursor) if isinstance(record, SessionDelta)]
    # A database's newest sessions may still be written: they are looked at, and hold nothing new.
    assert all(place.layout == "sqlite" for _ in again)
    if place.layout == "json":
        assert again == []


@pytest.mark.requirement("READ-12")
def test_all_sessions_present_are_told_so_that_deletions_show(home: Path, fixtures: Path) -> None:
    place = sources(home)[-1]
    (inventory,) = [record for record in READER.scan(place, {}) if isinstance(record, Inventory)]
    assert len(inventory.session_ids) == 8


def _tree(home: Path) -> Path:
    return home / ".local/share/opencode/storage"


@pytest.mark.requirement("READ-13")
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\x00\xff\xfe binary \x01", b"[1,2]", b'{"a":' + b"[" * 5000, b"null", b'{"type": 7, "text": {}}'],
)
def test_one_bad_part_file_costs_that_part(fixtures: Path, tmp_path: Path, content: bytes) -> None:
    home = copied(fixtures, "json", tmp_path)
    sound, _, _ = read(sources(home)[-1])
    bad = next(_tree(home).glob("part/*/*.json"))
    bad.write_bytes(content)
    found, skipped, _ = read(sources(home)[-1])
    lost = sum(len(m.parts) for _, ms in sound.values() for m in ms) - sum(
        len(m.parts) for _, ms in found.values() for m in ms
    )
    assert (lost, [item.file for item in skipped]) in [(1, [str(bad)]), (0, [])]
    assert set(found) == set(sound)


@pytest.mark.requirement("READ-14")
def test_odd_values_in_a_session_file_cost_only_themselves(fixtures: Path, tmp_path: Path) -> None:
    home = copied(fixtures, "json", tmp_path)
    file = next(_tree(home).glob("session/*/*.json"))
    data = json.loads(file.read_text())
    data |= {
        "time": {"created": -5, "updated": 10**30},
        "title": ["x"],
        "parentID": data["id"],
        "summary": "none",
        "version": 3,
    }
    file.write_text(json.dumps(data))
    found, skipped, _ = read(sources(home)[-1])
    session, messages = found[file.stem]
    assert (session.created_at, session.title, skipped) == (None, None, [])
    assert messages


@pytest.mark.requirement("READ-15")
def test_a_loop_of_links_and_a_file_for_a_folder_do_not_stop_the_scan(fixtures: Path, tmp_path: Path) -> None:
    home = copied(fixtures, "json", tmp_path)
    tree = _tree(home)
    (tree / "session" / "loop").symlink_to(tree / "session")
    (tree / "message" / "ses_file").write_text("not a folder")
    (tree / "session" / "global").write_text("not a folder either")
    found, _, _ = read(sources(home)[-1])
    assert len(found) >= 8


@pytest.mark.requirement("READ-16")
def test_a_damaged_page_of_the_database_costs_what_was_on_it(fixtures: Path, tmp_path: Path) -> None:
    home = copied(fixtures, "sqlite", tmp_path)
    place = sources(home)[-1]
    sound, _, _ = read(place)
    data = bytearray(place.path.read_bytes())
    for page in range(20, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 200] = b"\xa5" * 200
    place.path.write_bytes(data)
    found, skipped, _ = read(place)
    assert skipped
    assert set(found) <= set(sound)


@pytest.mark.requirement("READ-17")
def test_something_that_is_no_database_is_listed_whole(fixtures: Path, tmp_path: Path) -> None:
    data = tmp_path / ".local/share/opencode"
    data.mkdir(parents=True)
    (data / "opencode.db").write_bytes(b"hello" * 1000)
    (place,) = sources(tmp_path)
    found, skipped, _ = read(place)
    assert (found, [item.position for item in skipped]) == ({}, [""])


@pytest.mark.requirement("READ-18")
def test_a_message_added_to_the_database_is_read_without_the_rest(fixtures: Path, tmp_path: Path) -> None:
    home = copied(fixtures, "sqlite", tmp_path)
    place = sources(home)[-1]
    found, _, cursor = read(place)
    session, messages = found["ses_e039eb5beffezkVWBKzYmMBVNq"]
    writer = sqlite3.connect(place.path)
    at = (session.updated_at or 0) + 10_000_000
    said = {"role": "user", "time": {"created": at}}
    writer.execute("INSERT INTO message VALUES ('msg_new', ?, ?, ?, ?)", (session.id, at, at, json.dumps(said)))
    part = {"type": "text", "text": "one more thing"}
    writer.execute("INSERT INTO part VALUES ('prt_new', 'msg_new', ?, ?, ?, ?)", (session.id, at, at, json.dumps(part)))
    writer.execute("UPDATE session SET time_updated = ? WHERE id = ?", (at, session.id))
    writer.commit()
    writer.close()
    again, _, _ = read(place, cursor)
    assert again[session.id][1][-1].id == "msg_new"
    assert messages[0].id not in {message.id for message in again[session.id][1]}
    assert again[session.id][1][-1].seq > messages[-1].seq


@pytest.mark.requirement("READ-19")
def test_order_is_time_not_id_across_the_wrap_of_ids(fixtures: Path, tmp_path: Path) -> None:
    home = copied(fixtures, "json", tmp_path)
    folder = _tree(home) / "message" / "ses_e039f3bc6ffeBPwx5L3ZJQCtJo"
    for name, at in (
        ("msg_ffff00000001aaaaaaaaaaaaaa", 1_786_706_390_000),
        ("msg_000000000001aaaaaaaaaaaaaa", 1_786_706_400_000),
    ):
        (folder / f"{name}.json").write_text(json.dumps({"id": name, "role": "user", "time": {"created": at}}))
    found, _, _ = read(sources(home)[-1])
    assert [m.id[:8] for m in found["ses_e039f3bc6ffeBPwx5L3ZJQCtJo"][1][:2]] == ["msg_ffff", "msg_0000"]


@pytest.mark.requirement("READ-20")
def test_the_oldest_generation_is_read_from_each_project(tmp_path: Path) -> None:
    write_v0(tmp_path)
    (place,) = sources(tmp_path)
    found, skipped, _ = read(place)
    session, messages = found["ses_1"]
    assert (place.layout, skipped, session.directory, session.title) == ("json-v0", [], "/home/dev/shop", "Old")
    assert [part.text for part in messages[0].parts] == ["hola"]
    assert messages[1].usage is not None
    assert (messages[1].usage.output, messages[1].usage.reasoning) == (5, 2)


@pytest.mark.requirement("READ-21")
def test_data_folder_and_database_follow_the_environment(fixtures: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / "opencode"
    moved.mkdir(parents=True)
    source = fixtures / "opencode-sqlite/home/.local/share/opencode/opencode.db"
    shutil.copy(source, moved / "opencode-dev.db")
    shutil.copy(source, tmp_path / "mine.db")
    assert [p.path.name for p in sources(tmp_path, XDG_DATA_HOME=str(tmp_path / "elsewhere"))] == ["opencode-dev.db"]
    assert [p.path for p in sources(tmp_path, OPENCODE_DB=str(tmp_path / "mine.db"))] == [tmp_path / "mine.db"]
    assert sources(tmp_path, OPENCODE_DB=":memory:") == []


@pytest.mark.requirement("READ-22")
def test_unknown_part_types_and_running_calls_are_kept(fixtures: Path, tmp_path: Path) -> None:
    home = copied(fixtures, "json", tmp_path)
    folder = next((_tree(home) / "part").iterdir())
    (folder / "prt_zzz1.json").write_text(json.dumps({"id": "prt_zzz1", "type": "hologram", "depth": 3}))
    (folder / "prt_zzz2.json").write_text(
        json.dumps(
            {
                "id": "prt_zzz2",
                "type": "tool",
                "tool": "bash",
                "callID": "c",
                "state": {"status": "running", "input": {"command": "sleep"}, "time": {"start": 1_795_235_562_554}},
            }
        )
    )
    found, _, _ = read(sources(home)[-1])
    parts = {p.id: p for _, ms in found.values() for m in ms for p in m.parts}
    assert (parts["prt_zzz1"].type, parts["prt_zzz1"].text) == (PartType.UNKNOWN, '{"type":"hologram","depth":3}')  # type: ignore[index]
    tool = parts["prt_zzz2"].tool  # type: ignore[index]
    assert tool is not None
    assert (tool.status, tool.ended_at) == (ToolStatus.RUNNING, None)


@pytest.mark.requirement("READ-23")
@pytest.mark.parametrize("kind", ["json", "sqlite"])
def test_the_calling_session_is_the_one_with_the_running_call(fixtures: Path, tmp_path: Path, kind: str) -> None:
    import time

    home = copied(fixtures, kind, tmp_path)
    place = sources(home)[-1]
    now = int(time.time() * 1000)
    state = {"status": "running", "input": {"sessionID": "current"}, "time": {"start": now}}
    part = {"type": "tool", "tool": "memory_recover_context", "callID": "c1", "state": state}
    found, _, _ = read(place)
    session, messages = max(found.values(), key=lambda thread: thread[0].updated_at or 0)
    if kind == "json":
        import os

        folder = _tree(home) / "part" / messages[-1].id
        folder.mkdir(exist_ok=True)
        (folder / "prt_live.json").write_text(json.dumps({"id": "prt_live", **part}))
        os.utime(next(_tree(home).glob(f"session/*/{session.id}.json")))
        os.utime(_tree(home) / "message" / session.id / f"{messages[-1].id}.json")
    else:
        writer = sqlite3.connect(place.path)
        writer.execute(
            "INSERT INTO part VALUES ('prt_live', ?, ?, ?, ?, ?)",
            (messages[-1].id, session.id, now, now, json.dumps(part)),
        )
        writer.commit()
        writer.close()
    assert running_call(place, "recover_context", {"sessionID": "current"}) == session.id
    assert running_call(place, "recover_context", {"sessionID": "other"}) is None
    assert running_call(place, "list_sessions", {"sessionID": "current"}) is None


@pytest.mark.requirement("READ-24")
def test_tables_with_credentials_are_never_asked(fixtures: Path, tmp_path: Path) -> None:
    source = "".join(file.read_text() for file in Path("src/ovillo/readers/opencode").glob("*.py"))
    code = "\n".join(line for line in source.splitlines() if "FROM" in line)
    assert not [name for name in ("account", "credential", "session_share", "auth.json") if name in code]


def test_only_one_session_is_read_when_one_is_asked_for(home: Path) -> None:
    place = sources(home)[-1]
    first = sorted(read(place)[0])[0]
    records: Iterator[object] = READER.scan(place, {}, only=SessionId(first))
    assert {record.session.id for record in records if isinstance(record, SessionDelta)} == {first}
